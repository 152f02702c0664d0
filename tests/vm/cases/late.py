# SPDX-License-Identifier: GPL-2.0-only
"""What is told of callbacks and flushes that took long is what the kernel's own tracing saw of them, and
what was made."""

import json
import re

import oracle as trace

PAIR = re.compile(r"(\w+)=(\S*)")
# Two time stamps of one moment, one the oracle's and one kdefer's: in a guest whose host is busy.
SAME_NS = 3000000
LIMIT_NS = 100000000  # of callbacks, in late.sh
# Callbacks whose hand-over the oracle has no event for: those of rcu_barrier(), and of callers inside RCU.
UNSEEN = 4
BARRIER = "rcu_barrier_callback"


def end_of(report):
    return report["monotonic_ns"] + report["duration_ns"]


def made(case):
    """What `inject` says it made: cause, and when it began and ended."""
    for line in case.text("injected").splitlines():
        fields = dict(PAIR.findall(line))
        if "cause" in fields:
            yield fields["cause"], int(fields["begin_ns"]), int(fields["end_ns"])


def reports_of(case):
    for line in case.text("why.ndjson").splitlines():
        yield from json.loads(line).get("holdups") or []


def margin_of(report):
    return report["evidence"]["margin_ns"]


def within_margin(report, begin, end):
    """At least what is told, and by no more than the margin longer."""
    least = report["duration_ns"]
    return least - SAME_NS <= end - begin <= least + margin_of(report) + SAME_NS


def is_of(report, callback):
    begin, end = callback.queued * 1000, callback.done * 1000
    return (callback.func == report["func"]
            and begin - SAME_NS <= report["monotonic_ns"] <= begin + margin_of(report) + SAME_NS
            and within_margin(report, begin, end))


def ahead_of(report, callback, callbacks):
    """How many of its list had their turn between the look that found it and its own."""
    return sum(c.cpu == callback.cpu and c is not callback
               and report["monotonic_ns"] < c.done * 1000 and c.done <= callback.done
               and c.queued <= callback.queued for c in callbacks)


def is_barrier(report, barriers):
    """One of rcu_barrier(): of these the oracle sees but the end, and kdefer on no CPU's list."""
    return report["func"] == BARRIER and any(
        abs(when * 1000 - end_of(report)) <= margin_of(report) + SAME_NS for when in barriers)


def judge_waits(case, reports, callbacks, barriers):
    done = [c for c in callbacks if c.done is not None]
    wrong, lists = [], []
    for report in reports:
        if is_barrier(report, barriers):
            lists.append((report["cpu"], end_of(report)))
            continue
        mine = [c for c in done if is_of(report, c)]
        ahead = [ahead_of(report, c, done) for c in mine]
        told = report["evidence"]["ahead"]
        lists += [(c.cpu, end_of(report)) for c in mine]
        if not mine:
            wrong.append(f"no {report['func']} that waited {report['duration_ns']} ns")
        elif min(abs(told - n) for n in ahead) > UNSEEN + told / 100:
            wrong.append(f"{told} callbacks before {report['func']}, not {ahead}")
    case.say("each waited as long, behind as many, as the trace says", not wrong, "; ".join(wrong))
    # Late by more than a look's margin, and no report of its list within a second.
    missing = [f"{c.func} on CPU {c.cpu}, {c.waited()} us" for c in done
               if c.waited() * 1000 > 2 * LIMIT_NS
               and not any(cpu in (None, c.cpu) and abs(end - c.done * 1000) < 1e9 for cpu, end in lists)]
    case.equal("and none that waited for twice the limit is missing", missing[:5], [])


def visits(text, report):
    begin, end = report["monotonic_ns"] // 1000, end_of(report) // 1000 + 1
    count = 0
    for line in text.splitlines():
        event = trace.EVENT.match(line)
        if event and event["name"] == "visit" and event["comm"].strip() == waiter_of(report):
            count += begin <= int(event["s"]) * 1000000 + int(event["us"]) <= end
    return count


def judge_callbacks(case, told, text):
    seen = trace.Trace("\n".join(line for line in text.splitlines() if ": visit:" not in line))
    first = min((c.queued * 1000 for c in seen.callbacks), default=0)
    waits = [r for r in told if r["wait"] == "callback" and r["monotonic_ns"] - margin_of(r) > first]
    case.say("callbacks that waited are told of", len(waits) >= 2, f"{len(waits)}")
    judge_waits(case, waits, seen.callbacks, seen.barriers)


def judge_runs(case, told):
    runs = [r for r in told if r["wait"] == "callback run"]
    for cause, begin, end in made(case):
        if cause != "slow_callback":
            continue
        mine = [r for r in runs if begin - SAME_NS <= r["monotonic_ns"] <= end]
        case.equal("the callback that was made to stay is told of, by its function",
                   [r["func"] for r in mine], ["__d_free"])
        case.say("it ran for as long as it was made to",
                 mine and within_margin(mine[0], begin, end),
                 f"{end - begin} ns, told {[(r['duration_ns'], margin_of(r)) for r in mine]}")


def waiter_of(report):
    return (report.get("waiter") or {}).get("comm")


def judge_many(case, told, took, text):
    """Some kernels have its function inlined: then each hold of the lock is told of."""
    told = [r for r in told if waiter_of(r) == "inj-flusher"]
    mine = ([r for r in told if r["wait"] == "flush"]
            or [r for r in told if r["wait"] == "hold"])
    long = sum(r["duration_ns"] for r in mine)
    case.say("the flush that was made is told of, and how long it took", took / 2 < long <= took,
             f"{took} ns, told {[(r['wait'], r['duration_ns']) for r in told]}")
    case.equal("it visited as many cgroups as the trace says",
               [r["evidence"].get("cgroups") for r in mine], [visits(text, r) for r in mine])


def judge_lock(case, told, took, hooks):
    if "cgroup_rstat_flush_locked" in hooks:
        case.skip("who waited for the lock", "that shows neither by a function nor by a tracepoint")
        return
    mine = [r for r in told if waiter_of(r) == "inj-behind"]
    case.say("who waited for the lock is told of, and for how long",
             any(abs(r["duration_ns"] - took) < 2 * SAME_NS for r in mine),
             f"{took} ns, told {[(r['wait'], r['duration_ns']) for r in mine]}")


def judge_flushes(case, told, text, hooks):
    for cause, begin, end in made(case):
        mine = [r for r in told if begin < end_of(r) and r["monotonic_ns"] < end]
        if cause == "many_cgroups":
            judge_many(case, mine, end - begin, text)
        if cause == "lock_contention":
            judge_lock(case, mine, end - begin, hooks)


def hooks_of(case, source):
    plan = json.loads(case.text("why.ndjson").splitlines()[-1])["plan"]
    return [hook for row in plan if row["source"] == source for hook in row["hooks"]]


def judge(case):
    try:
        told = [r for r in reports_of(case) if not r["ongoing"]]
    except (ValueError, KeyError) as error:
        case.say("reports", False, f"{error}; {case.text('why.err')}")
        return
    text = case.text("late.trace")
    case.equal("exit status", case.status("why"), 0)
    judge_callbacks(case, [r for r in told if r["source"] == "call_rcu"], text)
    judge_runs(case, told)
    judge_flushes(case, [r for r in told if r["source"] == "rstat"], text,
                  hooks_of(case, "rstat"))
