# SPDX-License-Identifier: GPL-2.0-only
"""A known wait comes out as long as it was, and of the right callback."""

import re
import statistics

import account

STAYED_US = 200000  # as in wait.sh
# Two time stamps of one moment, one the oracle's and one kdefer's. A stop of the emulator between
# the two is nobody's fault, but it can befall one of several callbacks at most: so by their median.
SAME_US = 1000


def judge(case):
    document, seen = account.window(case, "wait")
    started, ended = reader(case)
    held = [c for c in seen.trace.callbacks
            if c.comm == "reader" and c.cpu == 0 and started <= c.queued <= ended and c.done]
    case.say("a reader held up callbacks of CPU 0", len(held) >= 3, f"{len(held)} of them")
    if not held:
        return
    last = max(c.queued for c in held)
    case.say("the reader stayed as long as asked after the last of them",
             ended - last >= STAYED_US, f"{ended - last} us")
    account.keys(case, document, seen)
    account.keys(case, document, seen, "cpu")
    at_least_as_long(case, document, held)
    same_as_trace(case, document, held)


def reader(case):
    found = re.search(r"started_ns (\d+) ended_ns (\d+)", case.text("reader"))
    return int(found[1]) // 1000, int(found[2]) // 1000


def at_least_as_long(case, document, held):
    """No slack: a callback cannot run before a reader has ended that was there when it came."""
    functions = document.by("func")
    short = [f"{func}: {functions.get(func, {}).get('max')} ns"
             for func in {c.func for c in held}
             if (functions.get(func, {}).get("max") or 0) < STAYED_US * 1000]
    case.say("max of each function held up is at least 200 ms", not short, "; ".join(short))
    case.say("max of all is at least 200 ms", document.total()["max"] >= STAYED_US * 1000,
             f"{document.total()['max']} ns")


def same_as_trace(case, document, held):
    """The ten worst hold the callbacks held up, as they were the only ones that waited so long."""
    worst = document.total()["worst"]
    waits, moments = [], []
    for callback in held:
        same = [w for w in worst if w["func"] == callback.func and w["cpu"] == callback.cpu]
        near = min(same, default=None,
                   key=lambda w, done=callback.done: abs(w["monotonic_ns"] / 1000 - done))
        if near is None:
            case.say("all held up are among the ten worst", False, f"no {callback.func} in {worst}")
            return
        waits.append(abs(near["value"] / 1000 - callback.waited()))
        moments.append(abs(near["monotonic_ns"] / 1000 - callback.done))
    case.say("their waits are the trace's, within 1 ms", statistics.median(waits) <= SAME_US,
             f"off by {waits} us")
    case.say("their ends are the trace's, within 1 ms", statistics.median(moments) <= SAME_US,
             f"off by {moments} us")
