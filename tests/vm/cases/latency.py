# SPDX-License-Identifier: GPL-2.0-only
"""Two histograms of the same waits: how far apart are they?"""

import math
from collections import Counter

# A sample may be in the neighbouring power of two: kdefer's and the oracle's time stamps are some
# microseconds apart, and bucket bounds in ns do not fall on powers of two of us.
REACH = 1
STRAY = 0.01  # mass that may be further off: an emulator may stop between the two time stamps

# kdefer promises quantiles within 1/16; the slack is for the distance between the two time stamps.
QUANTILE_ERROR = 1 / 16
SLACK_US = 1000


def power(us):
    return max(int(us), 1).bit_length() - 1


def of_waits(waits_us):
    return Counter(map(power, waits_us))


def of_buckets(buckets):
    """kdefer's buckets, each at its middle."""
    folded = Counter()
    for low, high, count in buckets:
        folded[power((low + high) / 2000)] += count
    return folded


def stray_mass(ours, theirs):
    """The share that no matching within REACH bins brings together. Going up through the bins and
    taking what is furthest down first is optimal, as all intervals have the same length."""
    left, matched = dict(theirs), 0
    for at in sorted(ours):
        need = ours[at]
        for other in range(at - REACH, at + REACH + 1):
            take = min(need, left.get(other, 0))
            if take:
                left[other] -= take
                need -= take
                matched += take
    total = max(sum(ours.values()), sum(theirs.values()))
    return 1 - matched / total if total else 0


def quantile(sorted_waits, q):
    return sorted_waits[max(math.ceil(q * len(sorted_waits)) - 1, 0)]


def wrong_quantiles(metric, waits_us):
    """Quantiles that kdefer gives and that are off, in words."""
    waits, wrong = sorted(waits_us), []
    for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        if metric[name] is None:
            continue
        ours, theirs = metric[name] / 1000, quantile(waits, q)
        if abs(ours - theirs) > theirs * QUANTILE_ERROR + SLACK_US:
            wrong.append(f"{name} {ours:.0f} us, the kernel's {theirs} us")
    return wrong
