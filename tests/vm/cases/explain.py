# SPDX-License-Identifier: GPL-2.0-only
"""The commands by which a person can check a number work."""


def judge(case):
    for measure in case.text("measures").split():
        pasted(case, measure)


# Over what several tasks do, or over the parts of one flush: no histogram of tracefs adds these up.
SUMS = ("rstat.blame", "rstat.held", "rstat.irqs", "rstat.off_cpu", "rstat.hold_by_8",
        "rstat.flush_by_8")


def pasted(case, measure):
    case.equal(f"--explain {measure} ends with", int(case.text(f"{measure}.explain.status")), 0)
    complaint = case.text(f"{measure}.pasted.err").strip()
    case.say(f"its commands run without a complaint ({measure})", not complaint, complaint)
    shown = "hitcount:" in case.text(f"{measure}.pasted")
    if measure == "rstat.wait":  # two readers may never meet at the lock
        shown = "event histogram" in case.text(f"{measure}.pasted")
    if "there is no way to check" in " ".join(case.text(f"{measure}.explain").split()):
        case.say(f"what tracefs cannot show ({measure})", measure in SUMS, measure)
    else:
        case.say(f"and show times ({measure})", shown, case.text(f"{measure}.pasted")[-500:])
    case.equal(f"and leave nothing behind ({measure})", case.text(f"{measure}.left").strip(), "")
