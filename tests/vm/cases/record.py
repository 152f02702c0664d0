# SPDX-License-Identifier: GPL-2.0-only
"""Captures: runs hold what was done in them, a replay is what was live, and nothing is lost in
silence, whatever becomes of the file."""

import json

LIMIT = 64 << 10
ROUNDS = {"a": 100, "b": 300}  # of cbload, see record.sh


def judge(case):
    runs(case.part("runs"))
    replay(case.part("replay"))
    followed(case.part("follow"))
    killed(case.part("killed"))
    full(case.part("full disk"))
    limited(case.part("--max-size"))
    statuses(case.part("statuses"))


def lines(case, name):
    return [json.loads(line) for line in case.text(f"{name}.json").splitlines()]


def counts(documents):
    """Callbacks by function, over some intervals."""
    total = {}
    for document in documents:
        for metric in document["metrics"]:
            if "func" in metric["key"]:
                func = metric["key"]["func"]
                total[func] = total.get(func, 0) + metric["count"]
    return total


def runs(case):
    case.equal("exit status: that of the first run that failed", case.status("ab"), 3)
    case.say("which is said", "2 of 4 runs did not end with status 0" in case.text("ab.err"),
             case.complaint("ab"))
    case.equal("what the commands print is passed on", case.text("ab.json"),
               "".join(f"kdefer-metric rounds {ROUNDS[side]} count none\n" for side in "abba"))
    document = json.loads(case.text("ab-whole.json"))
    seen = document["runs"]
    case.equal("A B B A", [run["side"] for run in seen], list("abba"))
    case.equal("each with its status", [run["status"] for run in seen], [0, 3, 3, 0])
    case.equal("each complete", [run["complete"] for run in seen], [True] * 4)
    case.equal("each with its own figure", [[v["value"] for v in run["values"]] for run in seen],
               [[ROUNDS[side]] for side in "abba"])
    case.equal("labels", document.get("labels"), {"case": "record"})
    case.equal("mode of the file", case.text("mode").strip(), "600")
    case.equal("the report is made", case.status("ab-report"), 0)
    belongings(case, seen, lines(case, "ab-intervals"))


def belongings(case, seen, intervals):
    """Every round of the load hands over the same callbacks: a run has them times its rounds. Between two
    runs there is one interval, which belongs to none."""
    driven, per_run, number = set(), [], -1
    for run in seen:
        number += 1
        per_run.append(counts(intervals[number:number + run["intervals"]]))
        number += run["intervals"]
    case.equal("every interval is of a run or of the gap behind it", number, len(intervals))
    for func, n in per_run[0].items():
        if n >= ROUNDS["a"]:
            driven.add(func)
    case.say("the load drove some function", driven, f"{per_run[0]}")
    # A stray file or two that the shell and the kernel open besides.
    for func in sorted(driven):
        each = [run.get(func, 0) / ROUNDS[side] for run, side in zip(per_run, "abba")]
        whole = round(each[1])
        case.say(f"{func}: each run has the callbacks of its own rounds",
                 whole >= 1 and all(whole <= one <= whole + 0.6 for one in each), f"{each} a round")


def replay(case):
    live, again = case.document("live").data, case.document("replay").data
    case.equal("is what was shown live", again, live)


def followed(case):
    case.equal("ends by itself", case.status("follow"), 0)
    case.equal("shows every interval", case.text("follow.json"), case.text("ab-intervals.json"))
    case.say("of which there are some", len(lines(case, "follow")) >= 6, case.text("follow.err"))


def killed(case):
    case.equal("what is left", case.text("killed.files").split(), ["k.kd.part"])
    case.equal("can be shown", case.status("killed"), 0)
    shown = json.loads(case.text("killed.json"))
    case.say("with the intervals until then", shown["intervals"] >= 5 and not shown["complete"],
             f"{shown['intervals']}")
    case.equal("and a run that was cut off", [run["complete"] for run in shown["runs"]], [False])
    case.say("and it is said that its end is missing", "its end is missing" in case.text("killed.err"),
             case.complaint("killed"))
    case.equal("is not overwritten", case.status("again"), 1)
    case.say("for a reason", "left by a recording that did not end" in case.text("again.err"),
             case.complaint("again"))
    case.equal("but with --force", case.status("forced"), 0)


def full(case):
    case.equal("the measuring failed", case.status("full"), 125)
    case.say("for its true cause", "No space left on device" in case.text("full.err"),
             case.complaint("full"))
    case.equal("what is left", case.text("full.files").split(), ["filler", "x.kd.part"])
    case.equal("can be shown", case.status("full-shown"), 0)
    case.equal("a read-only file system", case.status("readonly"), 1)
    case.say("for its true cause", "Read-only file system" in case.text("readonly.err"),
             case.complaint("readonly"))
    case.equal("nothing is left there", case.text("readonly.files"), "")


def limited(case):
    size = int(case.text("limited.size"))
    case.equal("ends well", case.status("limited"), 0)
    case.say("keeps to it, and uses it", LIMIT // 4 <= size <= LIMIT, f"{size} bytes")
    case.say("says so", "--max-size is reached" in case.text("limited.err"), case.complaint("limited"))
    shown = json.loads(case.text("limited-shown.json"))
    case.say("the capture too", any(e["what"] == "size_limit" for e in shown["events"]),
             f"{shown['events']}")
    case.say("and is whole", "end is missing" not in case.text("limited-shown.err"),
             case.complaint("limited-shown"))


def statuses(case):
    case.equal("that is not there", case.status("status-127"), 127)
    case.equal("said once, not for each run", case.text("status-127.err").count("cannot run"), 1)
    case.equal("that a signal ended", case.status("status-137"), 137)
    case.equal("its output", case.text("status-137.json"), "out\n")
    case.say("its messages", "err\n" in case.text("status-137.err"), case.complaint("status-137"))
