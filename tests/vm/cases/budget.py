# SPDX-License-Identifier: GPL-2.0-only
"""A flood that passes the budget: fewer callbacks are followed, counts are scaled, and all are followed
again when it is over. The truth: hits of the kernel's probes, and the rounds that the load says it did."""

import json
import math
import re
from collections import Counter

import results

# Of hand-overs: the probes' figures are read in the window, a moment behind its start and before its
# end, and while each of both is read the host goes on.
OUTSIDE = 300
SIGMAS = 4
BESIDE = 200 + 30  # rounds before and after the flood
LEAST_THIN = 4  # 1/4: less is no flood


def judge(case):
    lines = intervals(case)
    flood(case.part("flood"), lines)
    calm(case.part("afterwards"), lines)
    recorded(case.part("record"))


def intervals(case):
    text = case.text("budget.ndjson")
    if case.status("budget") or not text:
        raise results.Missing(f"status {case.status('budget')}; {case.complaint('budget')}")
    return [json.loads(line) for line in text.splitlines()]


def hits(case, name):
    """Calls of call_rcu() and call_rcu_hurry(), with those that its probe missed."""
    return sum(int(n) for line in case.text(name).splitlines() for n in line.split()[1:])


def rounds(case, name):
    return int(re.match(r"rounds (\d+)", case.text(name))[1])


def total(lines, of):
    return sum(of(line) for line in lines)


def share(line):
    return int(line["self"]["sampling"].partition("/")[2])


def by_func(lines):
    counted = Counter()
    for line in lines:
        for metric in line["metrics"]:
            if "func" in metric["key"]:
                counted[metric["key"]["func"]] += metric["count"]
    return counted


def whole(lines):
    """The totals of all intervals."""
    return total(lines, lambda line: next(m["count"] for m in line["metrics"]
                                          if set(m["key"]) == {"flavour"}))


def lost(lines, what):
    return total(lines, lambda line: line["lost"]["call_rcu"][what])


def counts(lines, what):
    return total(lines, lambda line: line["counts"]["call_rcu"][what])


def spread(left_out, thinnest):
    """Of an estimate: each callback that was followed stands for as many as `thinnest`. Those of n that
    are followed are n/thinnest give or take its root. (They are chosen in turn, which is better.)"""
    return SIGMAS * math.sqrt(left_out * thinnest)


def flood(case, lines):
    thinnest, left_out = max(map(share, lines)), lost(lines, "sampled_out")
    case.say("fewer were followed", thinnest >= LEAST_THIN and left_out > 1000,
             f"1/{thinnest}, {left_out} left out; {events(lines)}")
    made = hits(case, "after") - hits(case, "before")
    begun = counts(lines, "begun") + left_out
    rest = BESIDE * 5  # the rounds before and after it, five callbacks each at most
    case.say("hand-overs counted + left out = the kernel's",
             made <= begun <= made + rest + OUTSIDE, f"{begun}, the kernel {made}")
    followed = (counts(lines, "done") + lines[-1]["counts"]["call_rcu"]["open"]
                + lost(lines, "unmatched_begin") + lost(lines, "table_full"))
    case.equal("measured + waiting + declared = hand-overs counted", followed,
               counts(lines, "begun"))
    case.equal("no end without its hand-over, by the kernel's count of those that ran",
               lost(lines, "unmatched_end"), 0)
    case.equal("no hand-over without its end", lost(lines, "unmatched_begin"), 0)
    near = spread(left_out, thinnest)
    case.say("the count, scaled, is that of the kernel", abs(whole(lines) - begun) <= near,
             f"{whole(lines)}, the kernel {begun}, tolerance {near:.0f}")
    by_function(case, lines, thinnest)
    thin = [line for line in lines if share(line) > 1]
    case.say("what was sampled is not exact",
             all(not m["exact"] for line in thin for m in line["metrics"]), "exact: true")
    case.say("and says what the budget is", all(line["self"].get("sampling_by_budget") == "0.5%"
                                                for line in lines), str(lines[0]["self"]))


def by_function(case, lines, thinnest):
    """Functions that the load drove, once each round."""
    done = rounds(case, "flood") + BESIDE
    near = spread(done, thinnest) + OUTSIDE
    counted = by_func(lines)
    driven = {func: n for func, n in counted.items() if n > done / 2}
    far = [f"{func}: {n}" for func, n in driven.items() if abs(n - done) > near]
    case.say("counts by function, scaled, are the rounds of the load", len(driven) >= 3 and not far,
             f"{done} rounds, tolerance {near:.0f}: {far or driven}")


def events(lines):
    return [f"{e['what']}: {e['detail']}" for line in lines for e in line["events"]
            if e["what"] in ("sampling", "budget")]


def calm(case, lines):
    said = [text for text in events(lines) if text.startswith("sampling")]
    case.say("each change of sampling is an event",
             len(said) >= 2 and "followed from here on" in said[0] and "again" in said[-1], str(said))
    full = [line for line in lines[-2:] if share(line) == 1]
    case.equal("all are followed again", [share(line) for line in lines[-2:]], [1, 1])
    case.equal("nothing is left out any more", lost(full, "sampled_out"), 0)
    tail = rounds(case, "tail")
    counted = [n for n in by_func(lines_since(lines)).values() if tail <= n <= 2 * tail]
    case.say("and counted one by one", len(counted) >= 3, f"{by_func(lines_since(lines))}")


def lines_since(lines):
    """Those behind the last that was sampled."""
    last = max((i for i, line in enumerate(lines) if share(line) > 1), default=-1)
    return lines[last + 1:]


def recorded(case):
    case.equal("it went well", case.status("record"), 0)
    document = json.loads(case.text("record.json"))
    case.say("a passed budget is a warning", "the budget is 0.01%" in case.text("record.err")
             and "--sample" in case.text("record.err"), case.text("record.err")[:300])
    case.equal("all are followed", document["self"]["sampling"], "1/1")
    case.equal("none is left out", document["lost"]["call_rcu"]["sampled_out"], 0)
    case.say("it is an event too", any(e["what"] == "budget" for e in document["events"]),
             str(document["events"])[:300])
