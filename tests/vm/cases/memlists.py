# SPDX-License-Identifier: GPL-2.0-only
"""Lists of freed BPF memory account for every object of a known number, by map, size, CPU and list."""

import collections
import json
import re

import results

N = 20000          # as in memlists.sh
CPU = 0            # where they are freed
UNIT = 128         # memload says so too
FREE_LLIST_MOST = 96 + 33  # high watermark of small objects, and what is freed before it is acted on
FREE = ("free_llist", "free_llist_extra")
WAITING = ("waiting_for_gp", "waiting_for_gp_ttrace")

Entry = collections.namedtuple("Entry", "list cpu key unit length bytes exact truncated")
TEXT = re.compile(r"memalloc - (\S+) cpu (-?\d+) key (\w+) unit (\d+): (\d+) entries, (-?\d+) bytes, "
                  r"age \S+ ns( not exact)?( truncated)?$", re.M)


class Look:
    """What one run of `kdefer lists` showed."""

    def __init__(self, case, name):
        self.name = name
        if case.status(name):
            raise results.Missing(f"{name}: status {case.status(name)}; {case.complaint(name)}")
        text = case.text(f"{name}.json")
        self.entries = self.of_json(text) if text.startswith("{") else self.of_text(text)

    @staticmethod
    def of_text(text):
        return [Entry(m[1], int(m[2]), int(m[3], 16), int(m[4]), int(m[5]), int(m[6]), not m[7],
                      bool(m[8])) for m in TEXT.finditer(text)]

    @staticmethod
    def of_json(text):
        return [Entry(e["list"], e["key"]["cpu"], e["key"]["map_id"], e["key"]["unit_size"],
                      e["length"], e.get("bytes"), e["exact"], e.get("truncated", False))
                for e in json.loads(text)["pending"]
                if e["source"] == "memalloc" and "map_id" in e["key"]]

    def of(self, key):
        return [e for e in self.entries if e.key == key]


def total(entries):
    return sum(e.length for e in entries)


def maps(case, name):
    """Ids and names of what memload had."""
    return {int(m[1]): m[2] for m in re.finditer(r"^map (\d+) (\S+)", case.text(name), re.M)}


def deferred(entries):
    return [e for e in entries if e.list not in FREE]


def accounts(case, name):
    """Every one of N, and nothing but them. Returns the entries of the map, all deleted."""
    key = next(iter(maps(case, name)))
    added, deleted = Look(case, f"{name}-added").of(key), Look(case, f"{name}-deleted").of(key)
    case.equal(f"{name}: the lists hold the {N} objects deleted, and what they held before",
               total(deleted) - total(added), N)
    case.equal(f"{name}: of one size", {e.unit for e in deleted}, {UNIT})
    case.equal(f"{name}: bytes are objects times size", sum(e.bytes for e in deleted),
               total(deleted) * UNIT)
    case.say(f"{name}: nothing is cut or inexact",
             all(e.exact and not e.truncated for e in deleted), str(deleted))
    case.equal(f"{name}: what waits does so on the CPU that freed it",
               {e.cpu for e in deferred(deleted)}, {CPU})
    case.say(f"{name}: all wait but what the CPU keeps for itself",
             total(deferred(deleted)) >= N - FREE_LLIST_MOST, str(deleted))
    return key, deleted


def judge(case):
    key, held = accounts(case, "rcu")
    released = Look(case, "rcu-released").of(key)
    waited = total(e for e in held if e.list in WAITING)
    case.say("a callback was queued for some of them", waited > 0, str(held))
    case.equal("none waits for a grace period that is over",
               total(e for e in released if e.list in WAITING), 0)
    case.say("those that waited are gone, or in use again",
             total(released) <= total(held) - waited, f"{held}; then {released}")
    trace(case)
    kinds(case)
    under_load(case)


def trace(case):
    _, held = accounts(case, "trace")
    stage = ("free_by_rcu_ttrace", "waiting_for_gp_ttrace")
    if not any(e.list in stage for e in Look(case, "kinds").entries + held):
        stage = ("free_by_rcu", "waiting_for_gp")  # kernels with one stage
    case.equal("objects held up by Tasks Trace are in its stage",
               {e.list for e in deferred(held)} - set(stage), set())
    case.say("and its callback is queued", total(e for e in held if e.list == stage[1]) > 0,
             str(held))


def kinds(case):
    """Of each kind of map that frees through the allocator 1,000 elements were deleted."""
    look = Look(case, "kinds")
    for key, name in maps(case, "kinds").items():
        entries = look.of(key)
        if name in ("k_prealloc", "k_lru"):
            case.equal(f"{name} has no allocator", entries, [])
        elif name != "k_trie" or entries:  # a trie has had one since 6.14
            least = 1000 * (2 if name == "k_pcpu" else 1)  # and as many per-CPU parts
            case.say(f"{name}: all that was deleted is there", total(entries) >= least or
                     settled(entries), f"{total(entries)}: {entries}")


def settled(entries):
    """Its grace period may be over by now: then only what is kept is left."""
    return all(e.list in FREE or e.length < 1000 for e in entries)


def under_load(case):
    busy, churn = maps(case, "busy"), 0
    for i in range(1, 6):
        look = Look(case, f"busy-{i}")
        case.equal(f"busy, look {i}: all maps are there", set(busy) - {e.key for e in look.entries},
                   set())
        case.say(f"busy, look {i}: nothing is cut", not any(e.truncated for e in look.entries),
                 str([e for e in look.entries if e.truncated]))
        churn += len(Look(case, f"churn-{i}").entries)
    case.say("maps that come and go are seen", churn > 0, "none")
