# SPDX-License-Identifier: GPL-2.0-only
"""BPF memory: batches by stage, and refills, are those of the kernel's own tracing; a reader shows."""

import re
from collections import Counter

import oracle
import results

STAYED_US = 200000  # as in memalloc.sh
N = 3000
FIELD = re.compile(r"(\w+)=(\S+)")
CALLBACKS = ("__free_by_rcu", "__free_rcu_tasks_trace", "__free_rcu")


class Batch:
    def __init__(self, stage, queued):
        self.stage, self.queued, self.done = stage, queued, None


class Seen:
    """What the trace says. With one stage the callback of Tasks Trace hands its head on to RCU."""

    def __init__(self, case):
        self.batches, self.refills, self.marks, self._waiting = [], [], {}, {}
        self.blind = results.between_marks(case, "memalloc", self._take)

    def _take(self, event, when):
        name = event["name"]
        if name == "tracing_mark_write":
            self.marks[event["rest"].strip()] = when
            return
        fields = dict(FIELD.findall(event["rest"]))
        if name == "refill":
            self.refills.append(when)
        elif name.startswith("end_"):
            batch = self._waiting.pop(fields["head"], None)
            if batch:
                batch.done = when
        elif oracle.function(fields["func"]) in CALLBACKS:
            batch = Batch("rcu" if name == "rcu_in" else "tasks_trace", when)
            self.batches.append(batch)
            self._waiting[fields["head"]] = batch


def total(document, measure, **key):
    found = [m for m in document.metrics if m["source"] == "memalloc" and m["measure"] == measure
             and m["key"] == key]
    return found[0] if found else None


def judge(case):
    document = case.measured("memalloc")
    seen = Seen(case)
    inner, outer = (seen.marks["begin"], seen.marks["end"]), document.window_us()
    rows = {row["measure"]: row for row in document.data["plan"]}
    for measure in ("latency", "refill", "drain", "refill_failed"):
        case.equal(f"{measure} is on", rows[measure]["state"], "on")
    stages(case, document, seen, inner, outer)
    refills(case, document, seen, inner, outer)
    accounts(case, document)
    held(case, document)
    objects(case)
    maps(case, document)


def stages(case, document, seen, inner, outer):
    sure, most = Counter(), Counter()
    for b in seen.batches:
        done = b.done or float("inf")
        sure[b.stage] += inner[0] <= b.queued and done <= inner[1]
        most[b.stage] += outer[0] <= b.queued and done <= outer[1]
    case.say("the load had batches wait for Tasks Trace", most["tasks_trace"] >= 4, str(most))
    for stage in most:
        ours = total(document, "latency", stage=stage)
        case.within(f"as many batches waited for {stage} as the kernel's tracing says",
                    ours["count"] if ours else 0,
                    oracle.Range(sure[stage], most[stage]).widened(seen.blind))
        waits = sorted(b.done - b.queued for b in seen.batches
                       if b.stage == stage and b.done and outer[0] <= b.queued)
        # Buckets are an eighth wide; a stop of the emulator between two time stamps is on top.
        case.say(f"and as long at most ({stage})", ours and
                 abs(ours["max"] / 1000 - waits[-1]) <= waits[-1] / 8 + 1000,
                 f"{ours and ours['max']} ns, {waits[-1:]} us")


def refills(case, document, seen, inner, outer):
    """Each run of the interrupt fills, drains, or does neither."""
    ours = sum(total(document, m)["count"] for m in ("refill", "drain"))
    most = sum(outer[0] <= when <= outer[1] for when in seen.refills) + seen.blind
    least = sum(inner[0] <= when <= inner[1] for when in seen.refills)
    case.say("refills and drains are runs of bpf_mem_refill()", least / 2 <= ours <= most,
             f"{ours}, the kernel's {least}..{most}")
    # 32 to 96 objects stay on a list: N deletions bring at least so many drains of a half.
    case.say("each deletion beyond what a list holds is drained",
             total(document, "drain")["count"] >= 2 * (N - 96) // 33,
             str(total(document, "drain")["count"]))


def accounts(case, document):
    lost, counts = document.data["lost"]["memalloc"], document.data["counts"]["memalloc"]
    case.equal("begun = measured + open + lost", counts["begun"],
               total(document, "latency")["count"] + counts["open"] + lost["unmatched_begin"]
               + lost["table_full"] + lost["clock"])
    case.equal("nothing is lost", {k: v for k, v in lost.items() if v and k != "pre_start"}, {})


def objects(case):
    """Added twice, and deleted: what refills brought and drains took is known to a list's length or two."""
    document = case.measured("refills")
    counts = document.data["counts"]["memalloc"]
    slab, freed, either = (counts[f"objects_{name}"] for name in ("from_slab", "recycled", "from_either"))
    # 4 are there from the start, up to 96 may stay, and a refill brings up to 48 at once. The guest has other
    # maps, of which kdefer's own take nothing; on two CPUs.
    slack = 4 + 96 + 48
    case.within("the first time all come from slab", slab, oracle.Range(N - slack, N + slack))
    case.within("and each time all that are needed come", slab + freed + either,
                oracle.Range(2 * (N - slack), 2 * (N + slack)))
    if case.guest.split()[0].startswith("6.1-") or case.guest.split()[0] == "6.1":
        case.equal("with one stage nothing says that any had been freed", freed, 0)
    else:
        # All but those at hand, and but one refill that takes the last of them.
        case.say("the second time they are those that had been freed", freed >= N - 2 * slack, str(counts))
    case.within("those that were deleted are drained", counts["objects_drained"],
                oracle.Range(2 * (N - slack), 2 * N + slack))


def held(case, document):
    case.say("a reader of 200 ms shows in the longest wait",
             total(document, "latency")["max"] >= STAYED_US * 1000,
             str(total(document, "latency")["max"]))


def maps(case, document):
    """Those that were there when an interval ended are named, by the number that the kernel gave."""
    expected = {int(m[1]): m[2] for m in
                re.finditer(r"^map (\d+) (\S+)", case.text("kinds"), re.M)}
    named = {m["key"]["map_id"]: m["key"].get("map_name") for m in document.metrics
             if m["measure"] == "drain" and m["key"].get("map_id")}
    for key, name in expected.items():
        if name in ("k_hash", "k_pcpu"):
            case.say(f"map {name} is named", key in named, str(named))
    wrong = {k: v for k, v in named.items() if k in expected and v not in (None, expected[k])}
    case.equal("no map has another's name", wrong, {})
