# SPDX-License-Identifier: GPL-2.0-only
"""However kdefer is ended, what it has is out in time, and nothing of it stays behind."""

import json
import re

import account
import results

OUTPUT_MS = 500    # what the program promises, after a signal
EXIT_MS = 15000    # only to find one that hangs: how long the kernel takes to detach is its business
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
    signal, size, output_ms, exit_ms, status = end[0], *map(float, end[1:])
    if signal == "KILL":
        case.say("ended", exit_ms <= EXIT_MS, f"after {exit_ms} ms")
    elif not size:
        before_the_window(case, NUMBERS.get(signal), exit_ms, status)
    else:
        case.say("ended well", exit_ms <= EXIT_MS and status == 0,
                 f"status {status}, {exit_ms} ms; {case.complaint(str(number))}")
    if size and signal in NUMBERS:
        case.say("its output is whole", *whole(case.text(f"{number}.json")))
        case.say("and was out within half a second", output_ms <= OUTPUT_MS, f"{output_ms} ms")


def before_the_window(case, number, exit_ms, status):
    """Nothing was measured yet, and there is nothing to show: it ends by the signal itself."""
    case.say("ended by the signal within half a second, no output begun",
             number and status == 128 + number and exit_ms <= OUTPUT_MS,
             f"status {status}, {exit_ms} ms")


def whole(text):
    """One document, or one a line."""
    try:
        documents = [json.loads(text)] if text.startswith("{\n") else list(
            map(json.loads, text.splitlines()))
    except ValueError as error:
        return False, f"{error}: ...{text[-100:]!r}"
    return bool(documents) and text.endswith("\n"), f"...{text[-100:]!r}"


def left(case):
    """A line for each ending: its number, how long until all of ours was gone, how many were not."""
    lines = [tuple(map(int, line.split())) for line in case.text("gone").splitlines()]
    stayed = [f"{n}: {things} programs, maps or links after {ms} ms"
              for n, ms, things in lines if things]
    case.say("nothing of ours stayed in the kernel", lines and not stayed,
             "; ".join(stayed) or "no result")
