# SPDX-License-Identifier: GPL-2.0-only
"""Where nothing was held up nothing is told, by the limits that are there without --over."""

import re

import why

GAP = re.compile(r"gap begin_ns=(\d+) end_ns=(\d+) cpu=(\d+)")


def excused(report, gaps):
    """An emulated CPU that the host did not run for half of the time and more: then a wait is true."""
    begin, end = why.span(report)
    missed = max((sum(max(0, min(e, end) - max(b, begin)) for b, e, c in gaps if c == cpu)
                  for cpu in {c for _, _, c in gaps}), default=0)
    return missed > (end - begin) / 2


def judge(case):
    reports = why.reports_of(case)
    gaps = [tuple(map(int, found)) for found in GAP.findall(case.text("gaps"))]
    case.equal("exit status", case.status("why"), 0)
    false = [r for r in reports if case.exact_clock or not excused(r, gaps)]
    case.say(f"no report in {case.text('seconds').strip()} s of idleness and as much of work", not false,
             "\n".join(why.brief(r) for r in false[:5]) + f"\ngaps {gaps[:10]}")
    if not case.exact_clock and len(false) < len(reports):
        case.skip(f"{len(reports) - len(false)} reports of moments in which the host did not run a CPU",
                  f"gaps of {max((e - b for b, e, _ in gaps), default=0) / 1e6:.0f} ms and less")
