# SPDX-License-Identifier: GPL-2.0-only
"""Each refusal names its true cause, and what is no obstacle is none."""

import doctor

NOTHING = 5  # nothing that was asked for can be measured here

NO = {
    "user": ("an ordinary user", "CAP_BPF and CAP_PERFMON missing: not root"),
    "bpf": ("CAP_BPF alone", "CAP_PERFMON missing: not root"),
    "no_btf": ("no BTF", "this kernel shows no BTF"),
    "untraced": ("ftrace_enabled=0", "kernel.ftrace_enabled=0"),
    "crowded": ("38 programs on a function", "too many programs are attached to it already"),
}
# A crowd shows only when one more is attached.
NOT_FORESEEN = ("crowded",)
YES = {
    "kptr_1": "kptr_restrict=1",
    "kptr_2": "kptr_restrict=2",
    "kptr_1_caps": "kptr_restrict=1, CAP_BPF and CAP_PERFMON",
    "kptr_2_caps": "kptr_restrict=2, CAP_BPF and CAP_PERFMON",
    "caps": "CAP_BPF and CAP_PERFMON",
    "no_tracefs": "no tracefs",
}


def judge(case):
    for name, (who, reason) in NO.items():
        refused(case, name, who, reason)
    for name, who in YES.items():
        doctor.rows(case, name, who)
        off = [row for row, state in doctor.states(case, name).items() if state != "on"]
        case.say(f"all is measured: {who}", not off and not case.status(name),
                 f"status {case.status(name)}; off: {off}; {case.complaint(name)}")
        if name.startswith("kptr") and name.endswith("caps"):
            named(case, name, who)


def named(case, name, who):
    """The kernel hides addresses, not names: a callback that every process hands over has its own."""
    counts = {m["key"]["func"]: m["count"] for m in case.document(f"{name}-names").metrics
              if set(m["key"]) == {"flavour", "func"} and m["key"]["flavour"] == "rcu"}
    case.say(f"callbacks have their names: {who}", counts.get("delayed_put_task_struct", 0) >= 5,
             str(counts))
    bare = [func for func in counts if func.startswith("0x")]
    case.equal(f"and none is an address: {who}", bare, [])


def refused(case, name, who, reason):
    for what in ("-doctor", "-doctor--try", ""):
        if what == "-doctor" and name in NOT_FORESEEN:
            continue
        document = case.document(f"{name}{what}")
        rcu = document.rows()[("call_rcu", "latency", "rcu")]
        case.say(f"{who}: {'hist' if not what else what[1:]} says why",
                 rcu["state"] == "off" and reason in (rcu["reason"] or ""),
                 f"{rcu['state']}: {rcu['reason']}")
    # What needs none of the crowded hooks is measured all the same.
    on = "on" in doctor.states(case, name).values()
    case.equal(f"{who}: exit status", case.status(name), 0 if on else NOTHING)
