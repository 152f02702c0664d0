# SPDX-License-Identifier: GPL-2.0-only
"""A gate in CI is green for an equal run, red for a slowed one, and says what it cannot tell."""

import json
import os
import subprocess

RULE = "rcu_gp.duration[rcu].mean > +5%"
# What the job is to end with: exit code, verdict, that of the rule.
ENDS = {
    "equal": (0, "same", "pass"),
    "slow": (3, "regress", "fail"),
    "cpus": (6, "not_comparable", "not_comparable"),
    "noisy": (4, "inconclusive", "inconclusive"),
}
# Without readers two polls of the kernel's, 8 ms. Of 100 ms a reader takes 20. A grace period that
# begins in it, before its last 8 ms, lasts what is left of it and up to a poll more; so does one that
# began less than a poll (4 ms) before it. At random that is one in six or seven, by 6 ms more on
# average: a tenth of the mean. Where load and readers fall into step, each reader may hold up one of
# the four in its 100 ms from beginning to end, by 20 ms: 20 / 4 / 8, three fifths.
BASE_MEAN_NS = range(6_000_000, 10_000_000)
SLOWER = (0.05, 0.62)


def status_file(text):
    return dict(line.split("=") for line in text.splitlines())


def judge_gate(case, name, code, document, verdicts):
    want_code, want, want_rule = ENDS[name]
    seen = code, document.get("verdict"), document.get("exit"), document["rules"][0]["verdict"]
    case.say(f"{name}: ends with {want_code}, {want}",
             seen == (want_code, want, want_code, want_rule),
             f"seen {seen}: {document['rules'][0]['why']}; {document.get('warnings')}")
    case.equal(f"{name}: the status file says the same", verdicts,
               {"verdict": want, "exit": str(want_code)})


def through_make(case, name):
    """The same job as a target of make, whose own status tells green from red and no more."""
    folder = os.path.abspath(case.folder)
    kdefer = os.path.join(folder, "..", "..", "kdefer")
    makefile = os.path.join(folder, f"{name}.mk")
    with open(makefile, "w", encoding="ascii") as file:
        file.write(f"gate:\n\t@{kdefer} diff base.kdefer {name}.kdefer --fail-on '{RULE}' "
                   f"--json --status {name}.made > {name}.made.json\n")
    run = subprocess.run(["make", "-s", "-C", folder, "-f", makefile, "gate"], check=False,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(os.path.join(folder, f"{name}.made.json"), encoding="utf-8") as file:
        document = json.load(file)
    want_code, want, _ = ENDS[name]
    case.equal(f"{name}: through make: red or green", run.returncode, 2 if want_code else 0)
    case.equal(f"{name}: through make: the verdict", document["verdict"], want)
    case.equal(f"{name}: through make: the status file",
               status_file(case.text(f"{name}.made")), {"verdict": want, "exit": str(want_code)})


def row(document, stat):
    rows = [r for r in document["rows"] if r["source"] == "rcu_gp" and r["stat"] == stat
            and r["key"] == {"flavour": "rcu"}]
    return rows[0] if rows else {}


def judge(case):
    for name in ["base", *ENDS]:
        case.equal(f"{name}: recorded", case.status(name), 0)
    for name in ENDS:
        document = json.loads(case.text(f"{name}.json"))
        judge_gate(case, name, int(case.text(f"{name}.gate")), document,
                   status_file(case.text(f"{name}.verdict")))
        through_make(case, name)
    slow = json.loads(case.text("slow.json"))
    mean = row(slow, "mean")
    case.within("base: the size is that of two polls", int(mean.get("base") or 0), BASE_MEAN_NS)
    change = mean.get("change") or 0
    case.say("slow: the size is that of the reader", SLOWER[0] < change < SLOWER[1],
             f"seen {change:+.1%}, {mean.get('ci')}")
    syncs = [r for r in slow["rows"] if r["measure"] == "syncs"]
    case.say("slow: what the load said of itself is worse, too",
             len(syncs) == 1 and syncs[0]["new"] > syncs[0]["base"], f"seen {syncs}")
    equal = json.loads(case.text("equal.json"))
    case.equal("equal: no row is worse",
               [r["measure"] for r in equal["rows"] if r["verdict"] == "regress" and r["gates"]], [])
