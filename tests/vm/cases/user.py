# SPDX-License-Identifier: GPL-2.0-only
"""Who may not measure is told so, and doctor promises what hist then does."""

NOTHING = 5  # nothing that was asked for can be measured here
CAPABILITIES = ("CAP_BPF", "CAP_PERFMON")


def judge(case):
    refused(case)
    agrees(case, "user", "as an ordinary user")
    agrees(case, "as_root", "as root")
    agrees(case, "untraced", "with function tracing switched off")
    case.equal("as root something can be measured", case.status("as_root-doctor"), 0)


def refused(case):
    complaint = case.text("text.err").strip()
    case.equal("an ordinary user's exit status", case.status("text"), NOTHING)
    case.say("one line names the capabilities",
             len(complaint.splitlines()) == 1 and all(c in complaint for c in CAPABILITIES),
             repr(complaint))
    case.equal("the same with --json", case.status("user"), NOTHING)
    error = case.document("user").data.get("error", "")
    case.say("the document's error names the capabilities",
             all(c in error for c in CAPABILITIES), repr(error))


def agrees(case, name, who):
    """doctor: can be had, by all signs. hist: is had."""
    promised, found = (
        # Lists are read, and waits are reported, not by hist.
        {row: entry for row, entry in case.document(which).rows().items()
         if row[1] not in ("pending", "holdup")}
        for which in (f"{name}-doctor", name))
    case.equal(f"doctor and hist know the same measures, {who}", sorted(map(str, promised)),
               sorted(map(str, found)))
    differ = [f"{row}: doctor {promised[row]['state']}, hist {found[row]['state']}"
              for row in promised if row in found
              and (promised[row]["state"] == "expected") != (found[row]["state"] == "on")]
    case.say(f"what doctor expects, hist measures, {who}", not differ, "; ".join(differ))
