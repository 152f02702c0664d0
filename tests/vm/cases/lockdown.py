# SPDX-License-Identifier: GPL-2.0-only
"""Lockdown for integrity is no obstacle; for confidentiality nothing can be read."""

import doctor


def judge(case):
    state = case.text("lockdown")
    if "[none]" in state:
        case.say("the kernel is locked down", False, state)
        return
    doctor.rows(case, "root", "under lockdown")
    if "[integrity]" in state:
        case.equal("something can be measured", case.status("root"), 0)
        return
    for what in ("root-doctor", "root-doctor--try", "root"):
        wrong = [f"{row}: {entry['reason']}" for row, entry in case.document(what).rows().items()
                 if "kernel lockdown (confidentiality)" not in (entry["reason"] or "")]
        case.say(f"every row of {what} names lockdown", not wrong, "; ".join(wrong))
