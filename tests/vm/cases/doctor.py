# SPDX-License-Identifier: GPL-2.0-only
"""doctor --try finds what hist attaches."""


def judge(case):
    rows(case, "root", "as root")
    same(case, "root-lists", "pending", "lists reads")
    same(case, "root-why", "holdup", "why attaches")
    case.equal("as root something can be measured", case.status("root-doctor--try"), 0)


def states(case, name):
    return {row: entry["state"] for row, entry in case.document(name).rows().items()}


def same(case, name, measure, what):
    """Lists are read, and waits explained, by commands of their own."""
    tried = {row: state for row, state in states(case, "root-doctor--try").items()
             if row[1] == measure}
    found = {row: state for row, state in states(case, name).items() if row[1] == measure}
    case.equal(f"doctor --try is what {what}, row by row", tried, found)
    case.say("some of these can be had", "on" in found.values(), str(found))


def rows(case, name, who):
    """expected: by all signs. try, hist: really."""
    elsewhere = ("pending", "holdup")
    expected, tried, found = (states(case, f"{name}{what}")
                              for what in ("-doctor", "-doctor--try", ""))
    case.equal(f"doctor --try is what hist attaches, row by row, {who}",
               {row: state for row, state in tried.items() if row[1] not in elsewhere}, found)
    # Lists are read, and waits explained, by other commands: see same().
    found.update((row, state) for row, state in tried.items() if row[1] in elsewhere)
    differ = [f"{row}: {expected[row]}, then {found.get(row)}" for row in expected
              if (expected[row] == "off") != (found.get(row) == "off")]
    case.say(f"what doctor expects is so, {who}", expected and not differ, "; ".join(differ))
