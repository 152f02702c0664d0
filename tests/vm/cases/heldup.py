# SPDX-License-Identifier: GPL-2.0-only
"""Behind a Tasks grace period that never ends kdefer says so, gives up in time, and can be ended."""

import endings

NOTHING = 5
REASON = "a Tasks RCU grace period has been held up for"
LIMIT_MS = 40000  # 2 s for the grace period, the rest for an emulated kernel that shares its CPU


def judge(case):
    took = {name: int(ms) for name, ms in map(str.split, case.text("took").splitlines())}
    for name in ("doctor", "try", "hist"):
        case.equal(f"{name}: exit status", case.status(name), NOTHING)
        case.say(f"{name}: ends in time", took[name] <= LIMIT_MS, f"after {took[name]} ms")
        rows = case.document(name).rows()
        wrong = [f"{row}: {entry['reason']}" for row, entry in rows.items()
                 if REASON not in (entry["reason"] or "")]
        case.say(f"{name}: says why", rows and not wrong, "; ".join(wrong))
    seen = endings.LINE.findall(case.text("endings"))
    case.say("a killed one, and one that is told to end, end at once",
             len(seen) == 2 and all(float(end[3]) <= 1000 for end in seen), str(seen))
    endings.left(case)
    case.equal("afterwards it measures again", case.status("after"), 0)
