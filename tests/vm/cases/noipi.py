# SPDX-License-Identifier: GPL-2.0-only
"""With --no-ipi no look interrupts an isolated CPU; what is read from afar instead is marked."""

import json

LOOKS = 20  # as in noipi.sh
CPU = 1
# The guest runs nothing on it, but a wake-up or a change of code, which all CPUs are told of, may fall in
# (seen: 2). Looks that interrupted it would do so at least once each.
OTHERS = LOOKS // 2


def of_cpu(case, name):
    last = json.loads(case.text(f"{name}.json").splitlines()[-1])
    return [e for e in last["pending"] if e["source"] == "memalloc" and e["length"]
            and e["key"].get("cpu") == CPU]


def judge(case):
    for name in ("asked", "spared"):
        case.equal(f"kdefer lists, {name}", case.status(name), 0)
    counts = {words[0]: int(words[1]) for words in (line.split() for line in case.text("calls").splitlines())}
    case.say("each look interrupts the CPU", counts["asked"] >= LOOKS, str(counts))
    case.say("and none with --no-ipi", counts["spared"] <= OTHERS, str(counts))
    case.say("its lists are exact", of_cpu(case, "asked") and all(e["exact"] for e in of_cpu(case, "asked")),
             str(of_cpu(case, "asked")))
    case.say("and are not, from afar", of_cpu(case, "spared") and
             not any(e["exact"] for e in of_cpu(case, "spared")), str(of_cpu(case, "spared")))
    case.say("which the text says", "not exact: ~" in " ".join(case.text("text").split())
             and "~" in case.text("text"), case.text("text")[:600])
