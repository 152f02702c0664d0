# SPDX-License-Identifier: GPL-2.0-only
"""kdefer top live: what each key has to show was seen, and the terminal and the kernel are as before."""

import os
import re

import results

KEYS_C = os.path.join(os.path.dirname(__file__), "..", "..", "..", "src", "top_keys.c")
# How the script of top.sh types what src/top_keys.c calls so; others stand for themselves.
TYPED = {"F1": r"\eOP", "F4": r"\eOS", "F6": r"\e[17~", "F10": None, "Up": r"\eOA", "Down": r"\eOB",
         "PgUp": r"\e[5~", "PgDn": r"\e[6~", "Home": r"\eOH", "End": r"\eOF", "Enter": r"\r",
         "Esc": r"\e", "Tab": r"\t", "Shift-Tab": r"\e[Z", "Right": r"\eOC", "Left": r"\eOD",
         "Space": r"\x20", "Ctrl-L": r"\x0c", "\\": r"\\", "0 .. 9": "1"}
GONE_CS = 1500


def named_keys():
    with open(KEYS_C, encoding="ascii") as file:
        names = re.findall(r'\{ ACT_\w+,\s*\{[^}]*\},\s*"((?:[^"\\]|\\.)*)"', file.read())
    for name in names:
        name = name.replace("\\\\", "\\")
        yield from [name] if name in TYPED else name.split(" ")


def judge(case):
    seen = case.text("seen").splitlines()
    missing = [line for line in seen if line.startswith(("missing ", "failed "))]
    case.say("every key shows what it has to", not missing, f"{missing}")
    wanted = [line[4:] for line in case.text("script").splitlines() if line.startswith("see ")]
    case.equal("as often as it should be seen", len([line for line in seen if line.startswith("seen ")]),
               len(wanted))
    typed = [line[5:] for line in case.text("script").splitlines() if line.startswith("keys ")]
    forgotten = [name for name in named_keys()
                 if TYPED.get(name, name) is not None
                 and not any(TYPED.get(name, name) in keys for keys in typed)]
    case.say("no key of the help is left out", not forgotten, f"{forgotten}")
    left_as_it_was(case, seen)
    recorded(case)


def left_as_it_was(case, seen):
    case.say("q ends it", "ended 0" in seen, f"{seen[-3:]}")
    settings = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in seen
                if line.startswith(("before ", "after "))}
    case.equal("settings of the terminal", settings.get("after"), settings.get("before"))
    raw = case.text("raw")
    case.say("the cursor is back, and the screen of before",
             raw.rfind("\033[?1049l") > raw.rfind("\033[?1049h") >= 0
             and max(raw.rfind("\033[?25h"), raw.rfind("\033[?12l\033[?25h")) > raw.rfind("\033[?25l"),
             f"{raw[-200:]!r}")
    case.say("it was attached meanwhile", int(case.text("progs_live")) > 5, case.text("progs_live"))
    _, took_ms, left = case.text("gone").split()
    case.say("nothing is attached afterwards", int(left) == 0, f"after {took_ms} ms: {case.text('left')}")


def recorded(case):
    """r began a recording, and r ended it: the file is whole."""
    document = case.document("recorded")
    if case.status("recorded"):
        raise results.Missing(f"the recording: {case.complaint('recorded')}; {case.text('files')}")
    case.say("r made a capture of what was seen", document.total()["count"] > 0,
             f"{document.total()['count']} callbacks")
