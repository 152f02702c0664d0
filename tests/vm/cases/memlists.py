# SPDX-License-Identifier: GPL-2.0-only
"""Lists of freed BPF memory account for every object of a known number, by map, size, CPU and list."""

import collections
import json
import re

import results

N = 10000          # as in memlists.sh
CPU = 0            # where they are freed
UNIT = 128         # memload says so too
FREE_LLIST_MOST = 96 + 33  # high watermark of small objects, and what is freed before it is acted on
OTHERS_MOST = 200  # objects of maps that are not ours: the guest has none but kdefer's, which free nothing
AGE_NS = 1000000000        # kinds stay for four seconds; looks may be late by half of that
FREE = ("free_llist", "free_llist_extra")
STORAGES = ("o_task", "o_cgroup", "o_inode", "o_sock")
WAITING = ("waiting_for_gp", "waiting_for_gp_ttrace")

# Kernels whose callback does not queue itself again: what gathered meanwhile stays where it is.
STRANDS = ("6.1", "6.12", "6.18")

Entry = collections.namedtuple("Entry", "list cpu key name unit length bytes age exact truncated "
                                        "stranded")


class Look:
    """What one look showed. It was made after `after`, and was over before `before`."""

    def __init__(self, document, before):
        self.after = document["clock"]["monotonic_ns"]
        self.before = before
        self.lost = document["lost"].get("memalloc", {})
        self.checked = document["self"].get("lists_checked", 0)
        self.seconds = document["duration_ns"] / 1e9
        self.flow = next((b for b in document["debt"]["by"] if b["source"] == "memalloc"), None)
        self.debt = document["debt"]
        waits = self.debt.get("memalloc", {})  # there may be no object at all
        self.waiting = sum(w["length"] for stage, w in waits.items() if stage != "idle")
        self.sure = all(e["exact"] and not e["truncated"] for e in document["pending"]
                        if e["source"] == "memalloc")
        self.callbacks = collections.Counter()
        for e in document["pending"]:
            if e["source"] == "call_rcu":
                self.callbacks[e["key"]["flavour"]] += e["length"]
        self.entries = [Entry(e["list"], e["key"]["cpu"], e["key"]["map_id"], e["key"].get("map_name"),
                              e["key"]["unit_size"], e["length"], e["bytes"], e["age_ns"], e["exact"],
                              e["truncated"], e.get("stranded"))
                        for e in document["pending"]
                        if e["source"] == "memalloc" and "map_id" in e["key"]]

    def of(self, key):
        return [e for e in self.entries if e.key == key]


def looks(case):
    if case.status("looks"):
        raise results.Missing(f"looks: status {case.status('looks')}; {case.complaint('looks')}")
    documents = [json.loads(line) for line in case.text("looks.json").splitlines()]
    # The interval after the next begins when this one's look is long over.
    ends = [d["clock"]["monotonic_ns"] + d["duration_ns"] for d in documents[1:]]
    return [Look(document, end) for document, end in zip(documents, ends)]


def total(entries):
    return sum(e.length for e in entries)


def maps(case, name):
    """Ids and names of what memload had."""
    return {int(m[1]): m[2] for m in re.finditer(r"^map (\d+) (\S+)", case.text(name), re.M)}


def stamps(case, name):
    return {m[1]: int(m[2]) for m in re.finditer(r"(\w+)_ns (\d+)", case.text(name))}


def between(seen, begin, end):
    """A look that saw nothing but that time."""
    found = [look for look in seen if look.after >= begin and look.before <= end]
    if not found:
        raise results.Missing(f"no look between {begin} and {end}")
    # Where the emulator lets kdefer wait, a walk may run out of time: that is said, and not judged here.
    return next((look for look in found if all(e.exact for e in look.entries)), found[-1])


def deferred(entries):
    return [e for e in entries if e.list not in FREE]


def accounts(case, seen, name, released):
    """Every one of N, and nothing but them. Returns the entries of the map, all deleted."""
    key, when = next(iter(maps(case, name))), stamps(case, name)
    added = between(seen, when["added"], when["deleting"]).of(key)
    deleted = between(seen, when["deleted"], released).of(key)
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
    seen = looks(case)
    rcu(case, seen)
    trace(case, seen)
    flow(case, seen)
    owners(case, seen)
    kinds(case, seen)
    under_load(case, seen)


def flow(case, seen):
    """What came and left is at least what is told, and both differ by what there is more of."""
    told = [look for look in seen if look.flow and look.flow.get("bound") == "lower"]
    # Lists that were cut short need not tell, and where there is no allocator there is nothing to tell of.
    silent = [look for look in seen if look not in told and look.flow and not look.debt["truncated"]]
    case.say("every look but the first tells what came and left", told and len(silent) <= 1,
             f"{len(silent)} of {len(seen)} do not")
    wrong = []
    for before, look in zip(seen, seen[1:]):
        if not (before.sure and look.sure and look in told):
            continue  # what is not exact is told as such
        come, left = (look.flow[f"{way}_entries_per_s"] * look.seconds for way in ("in", "out"))
        if abs(come - left - (look.waiting - before.waiting)) > 1:  # rates are rounded
            wrong.append((come, left, before.waiting, look.waiting))
    case.equal("in - out = what waits more", wrong[:3], [])
    begin, end = stamps(case, "rcu")["added"], stamps(case, "trace")["added"]
    within = [look for look in told if look.after >= begin and look.before <= end]
    come, left = (sum(look.flow[f"{way}_entries_per_s"] * look.seconds for look in within)
                  for way in ("in", "out"))
    # Where the emulator lets kdefer wait a look may see a list in part: then the bound is lower.
    least = N - FREE_LLIST_MOST - 1 if all(look.sure for look in within) else 0
    case.say(f"of {N} objects all that do not stay at hand were seen to come, and no more",
             least <= come <= N + OTHERS_MOST, f"{come}")
    # Kernels that strand some never take them on; the others gather once and leave.
    stay = within[-1].waiting
    case.say("and all that do not stay were seen to leave",
             least - stay <= left <= N + OTHERS_MOST, f"{left}, {stay} stay")
    debts = [look.debt for look in within if look.debt["in_per_s"] is not None]
    case.say("in bytes, too", debts and all(d["bound"] == "lower" for d in debts)
             and any(d["in_per_s"] for d in debts) and any(d["out_per_s"] for d in debts),
             str([(d["in_per_s"], d["out_per_s"]) for d in debts]))


def rcu(case, seen):
    released = stamps(case, "reader")["ended"]
    key, held = accounts(case, seen, "rcu", released)
    after = [look.of(key) for look in seen if look.after > released and look.of(key)][-1]
    waited = total(e for e in held if e.list in WAITING)
    case.say("a callback was queued for some of them", waited > 0, str(held))
    case.equal("none waits for a grace period that is over",
               total(e for e in after if e.list in WAITING), 0)
    case.say("those that waited are gone", total(after) <= total(held) - waited,
             f"{held}; then {after}")


def trace(case, seen):
    _, held = accounts(case, seen, "trace", stamps(case, "tthold")["ended"])
    lists = {e.list for look in seen for e in look.entries}
    stage = (("free_by_rcu_ttrace", "waiting_for_gp_ttrace") if "free_by_rcu_ttrace" in lists
             else ("free_by_rcu", "waiting_for_gp"))  # kernels with one stage
    case.equal("objects held up by Tasks Trace are in its stage",
               {e.list for e in deferred(held)} - set(stage), set())
    case.say("and its callback is queued", total(e for e in held if e.list == stage[1]) > 0,
             str(held))


def by_size(entries):
    sums = collections.Counter()
    for e in entries:
        sums[e.unit] += e.length
    return sums


def owners(case, seen):
    """Of maps that free through an allocator every deleted element is on its lists, by size; what the kernel
    frees in another way is among the callbacks that it takes for that, or was given to kfree_rcu()."""
    case.equal("maps of each kind were made", case.status("owners"), 0)
    when = stamps(case, "owners")
    added = between(seen, when["added"], when["deleting"])
    deleted = between(seen, when["deleted"], when["end"])
    made = re.findall(r"^map (\d+) (\S+) (\d+) (\d+)", case.text("owners"), re.M)
    stored = 0
    for key, name, n, size in ((int(m[0]), m[1], int(m[2]), int(m[3])) for m in made):
        more = by_size(deleted.of(key))
        more.subtract(by_size(added.of(key)))
        if name in STORAGES:
            case.equal(f"{name}: elements are not freed through an allocator", +more, collections.Counter())
            stored += 2 * n  # an element, and what its owner keeps of this map
            continue
        if name == "o_trie" and not deleted.of(key):
            continue  # kfree_rcu(), which may have handed all of it on
        # A trie of N leaves has N - 1 nodes besides; a per-CPU element is two objects.
        counts = {"o_pcpu": [n, n], "o_trie": [2 * n - 1]}.get(name, [n])
        case.equal(f"{name}: every one of {n} that were deleted is on the lists", sorted(more.values()), counts)
        least = 8 if name == "o_pcpu" else size  # of which one is the value alone
        case.say(f"{name}: of a size that they fit in", all(unit > least for unit in more), str(more))
        case.say(f"{name}: where they wait for a grace period",
                 total(deferred(deleted.of(key))) >= sum(counts) - len(counts) * FREE_LLIST_MOST,
                 str(deleted.of(key)))
    more = deleted.callbacks["tasks_trace"] - added.callbacks["tasks_trace"]
    # Programs that the guest's others have freed hand over one each.
    case.say(f"those of storages are {stored} callbacks of Tasks Trace", stored <= more <= stored + 20, str(more))
    names = {m[1] for m in made}
    case.say("hashes, maps of maps and storages are among them",
             {"o_hash", "o_pcpu", "o_inmaps", "o_task", "o_inode", "o_sock"} <= names, str(names))


def holding(seen, key):
    """What looks showed of a map while it held anything: then come looks that say that it is gone."""
    return [look.of(key) for look in seen if total(look.of(key))]


def kinds(case, seen):
    """Of each kind of map that frees through the allocator 1,000 elements were deleted."""
    for key, name in maps(case, "kinds").items():
        of = holding(seen, key)
        if name in ("k_prealloc", "k_lru"):
            case.equal(f"{name} has no allocator", of, [])
        elif name != "k_trie" or of:  # a trie has had one since 6.14
            case.say(f"{name} is seen, with its name", of and {e.name for e in of[-1]} == {name},
                     str(of[-1:]))
            # The grace periods of some may be over; what is left that nobody asks for stands still.
            old = [e for e in (of or [[]])[-1]
                   if e.list.startswith("free_by_rcu") and e.length > 100]
            case.say(f"{name}: lists that stand still get older",
                     not old or any((e.age or 0) >= AGE_NS for e in old), str(old))


            stranded(case, key, name, seen)


def stranded(case, key, name, seen):
    """Nobody touches the map any more; what no callback comes for is said, with amount and age."""
    last = holding(seen, key)[-1:]
    found = [e for e in sum(last, []) if e.stranded]
    wrong = [e for e in found if e.list not in ("free_by_rcu", "free_by_rcu_ttrace")
             or (e.stranded["length"], e.stranded["bytes"]) != (e.length, e.bytes)
             or not AGE_NS * 0.9 <= e.stranded["age_ns"] <= e.age]
    case.say(f"{name}: what is stranded is a whole list that gathers, and unchanged for a second",
             not wrong, str(wrong))
    if name == "k_hash" and case.guest.split()[0] in STRANDS:
        case.say(f"{name}: some of it is stranded", sum(e.stranded["length"] for e in found) > 100,
                 str(last))


def under_load(case, seen):
    busy = set(maps(case, "busy"))
    during = [look for look in seen if busy & {e.key for e in look.entries}]
    wrong = [(busy - {e.key for e in look.entries}, [e for e in look.entries if e.truncated])
             for look in during[1:-1]]
    case.say("busy: in every look all maps are there, and nothing is cut",
             during and not any(missing or cut for missing, cut in wrong), str(wrong))
    case.equal("busy: nothing is stranded that is in use",
               [e for look in during for e in look.entries if e.stranded and e.key in busy], [])
    # Of one cache in 16 the list is walked in each look, and held against the kernel's own counter.
    case.equal("lists are as long as the kernel counts them", seen[-1].lost.get("torn", 0), 0)
    case.say("and that was looked at", seen[-1].checked > 0, str(seen[-1].checked))
    known = set().union(*(maps(case, name) for name in ("rcu", "trace", "owners", "kinds", "busy")))
    named = {e.name for look in seen for e in look.entries if e.key not in known and e.unit == UNIT
             and e.key}
    case.say("maps that come and go have their own name", named <= {"churn", None}, str(named))
    case.say("and are seen, or seen to have gone while they were read",
             "churn" in named or seen[-1].lost.get("vanished", 0) > 0, str(seen[-1].lost))
