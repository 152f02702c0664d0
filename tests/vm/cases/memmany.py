# SPDX-License-Identifier: GPL-2.0-only
"""A thousand maps on many CPUs: none is left out, nothing is inexact."""

import json
import re

MAPS = 1000     # as in memmany.sh
PREFILLED = 4   # objects that an allocator of small ones has on each CPU from the start


def judge(case):
    case.equal("kdefer lists", case.status("lists"), 0)
    document = json.loads(case.text("lists.json"))
    maps = {int(m[1]) for m in re.finditer(r"^map (\d+) many_", case.text("maps"), re.M)}
    case.equal("maps made", len(maps), MAPS)
    least = PREFILLED * int(case.text("cpus")) - 1  # one is in use
    found = {e["key"]["map_id"]: e for e in document["pending"]
             if e["source"] == "memalloc" and e["list"] == "free_llist" and "map_id" in e["key"]}
    short = {key: found.get(key, {}).get("length") for key in maps
             if found.get(key, {}).get("length", 0) < least}
    case.say("each has its objects on every CPU", not short, f"at least {least}: {short}")
    case.say("all are exact", all(found[key]["exact"] for key in maps & set(found)), "")
    lost = document.get("lost", {}).get("memalloc", {})
    case.equal("nothing was left out", {k: v for k, v in lost.items() if v}, {})
    own = document["self"]
    case.say("lists were held against the kernel's own count", own.get("lists_checked", 0) > 0, str(own))
    case.say(f"three looks: {own['cpu_ns'] // 1000000} ms of CPU with all that comes before, "
             f"{own['kernel_bytes']} bytes of kernel memory", own["kernel_bytes"] < 16 << 20,
             str(own))
