# SPDX-License-Identifier: GPL-2.0-only
"""However kdefer is ended, what it has is out in time, and nothing of it stays behind."""

import json
import re

import account
import results

# What the program promises after a signal. Elsewhere than in a guest that counts instructions, time
# passes while the host does other things: there it is only looked for one that hangs.
OUTPUT_MS = 500
HANGS_MS = 15000  # how long the kernel takes to detach is its own business
NUMBERS = {"INT": 2, "TERM": 15, "HUP": 1}
LINE = re.compile(r"signal (\w+) bytes (\d+) output_ms (-?[\d.]+) exit_ms ([\d.]+) status (\d+)")


def judge(case):
    planned = case.text("plan").splitlines()
    seen = LINE.findall(case.text("endings"))
    if len(seen) != len(planned):
        raise results.Missing(f"{len(seen)} endings of {len(planned)}: {case.text('log')[-300:]}")
    for number, (line, end) in enumerate(zip(planned, seen), 1):
        one(case.part(" ".join(line.split()[:3])), number, end)
    left(case)
    document, seen = account.window(case, "again")
    account.keys(case.part("afterwards"), document, seen)


def one(case, number, end):
    """A signal, or the loss of its reader, is a clean end; SIGKILL leaves no choice."""
    signal, size = end[0], int(end[1])
    output_ms, exit_ms, status = float(end[2]), float(end[3]), int(end[4])
    if signal == "KILL":
        case.say("ended", exit_ms <= HANGS_MS, f"after {exit_ms} ms")
        return
    if not size:
        before_the_window(case, NUMBERS.get(signal), exit_ms, status)
        return
    expected = 0
    if signal in NUMBERS:
        documents, why = whole(case.text(f"{number}.json"))
        case.say("its output is whole", documents, why)
        case.say("and was out in time", output_ms <= limit(case), f"{output_ms} ms")
        if documents and "error" in documents[-1]:
            expected = 128 + NUMBERS[signal]  # it was about to begin, and says that it did not
    case.say("ended well", exit_ms <= HANGS_MS and status == expected,
             f"status {status}, expected {expected}; {exit_ms} ms; {case.complaint(str(number))}")


def limit(case):
    return OUTPUT_MS if case.exact_clock else HANGS_MS


def before_the_window(case, number, exit_ms, status):
    """Nothing was measured yet, and there is nothing to show: it ends by the signal itself."""
    case.say("ended by the signal in time, no output begun",
             number and status == 128 + number and exit_ms <= limit(case),
             f"status {status}, {exit_ms} ms")


def whole(text):
    """The documents, one in all or one a line, and what is wrong when there are none."""
    try:
        documents = [json.loads(text)] if text.startswith("{\n") else list(
            map(json.loads, text.splitlines()))
    except ValueError as error:
        return [], f"{error}: ...{text[-100:]!r}"
    return documents if text.endswith("\n") else [], f"...{text[-100:]!r}"


def left(case):
    """A line for each ending: its number, how long until all of ours was gone, how many were not."""
    lines = [tuple(map(int, line.split())) for line in case.text("gone").splitlines()]
    stayed = [f"{n}: {things} programs, maps or links after {ms} ms"
              for n, ms, things in lines if things]
    case.say("nothing of ours stayed in the kernel", lines and not stayed,
             "; ".join(stayed) or "no result")
