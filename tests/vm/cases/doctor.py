# SPDX-License-Identifier: GPL-2.0-only
"""doctor --try finds what hist attaches, and its commands for a person work."""


def judge(case):
    rows(case, "root", "as root")
    case.equal("as root something can be measured", case.status("root-doctor--try"), 0)
    for measure in case.text("measures").split():
        pasted(case, measure)


def states(case, name):
    return {row: entry["state"] for row, entry in case.document(name).rows().items()}


def rows(case, name, who):
    """expected: by all signs. try, hist: really."""
    expected, tried, found = (states(case, f"{name}{what}")
                              for what in ("-doctor", "-doctor--try", ""))
    case.equal(f"doctor --try is what hist attaches, row by row, {who}",
               {row: state for row, state in tried.items() if row[1] != "pending"}, found)
    # Lists are read, and not by hist.
    found.update((row, state) for row, state in tried.items() if row[1] == "pending")
    differ = [f"{row}: {expected[row]}, then {found.get(row)}" for row in expected
              if (expected[row] == "off") != (found.get(row) == "off")]
    case.say(f"what doctor expects is so, {who}", expected and not differ, "; ".join(differ))


def pasted(case, measure):
    case.equal(f"--explain {measure} ends with", int(case.text(f"{measure}.explain.status")), 0)
    complaint = case.text(f"{measure}.pasted.err").strip()
    case.say(f"its commands run without a complaint ({measure})", not complaint, complaint)
    case.say(f"and show times ({measure})", "hitcount:" in case.text(f"{measure}.pasted"),
             case.text(f"{measure}.pasted")[-500:])
    case.equal(f"and leave nothing behind ({measure})", case.text(f"{measure}.left").strip(), "")
