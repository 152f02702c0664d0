# SPDX-License-Identifier: GPL-2.0-only
"""What rows of `kdefer bench` have to be, by arithmetic: for the case bench and the native tests.

Each check takes the entries of the JSON section and raises AssertionError with what is wrong.
"""

ELEMENT = 48      # bytes of struct htab_elem before key and value, the same on all kernels looked at
OPERATIONS = 3    # of a round of map-update


def value(row, name):
    return row["values"][name]["value"]


def only(rows):
    assert len(rows) == 1, rows
    return rows[0]


def htab_all(rows, may_fail=False):
    """
    All use cases. No operation can fail, except (may_fail) where the free list of a CPU is filled by a
    thread that the load keeps off the CPU, as on RT kernels.
    """
    assert [r["case"] for r in rows] == ["no_op", "overwrite", "batch_add_batch_del",
                                         "add_del_on_diff_cpu"], rows
    for row in rows:
        if not value(row, "loops"):
            assert row["case"] == "add_del_on_diff_cpu", row  # one CPU: said with its reason
            assert "two CPUs" in row["values"]["loops"]["reason"], row
            continue
        assert value(row, "missed") == 0, row
        assert value(row, "failed") == 0 or may_fail, row
        htab_failures(row)
        htab_speed(row)
        htab_left(row)


def htab_failures(row):
    """What could not be added cannot be deleted either; nothing fails for another reason."""
    failed = {n: v["value"] for n, v in row["values"].items() if n.startswith("failed_")}
    assert set(failed) <= {"failed_no_memory", "failed_absent"}, row
    assert value(row, "failed") == sum(failed.values()), row
    if row["case"] == "overwrite":
        assert "failed_absent" not in failed, row
    else:
        difference = failed.get("failed_no_memory", 0) - failed.get("failed_absent", 0)
        assert abs(difference) <= slack(row), row


def slack(row):
    """A run in progress at either end of the window counts for one and not yet for the other."""
    return 2 * 2 * row["params"]["producers"] * row["params"]["batch"]


def htab_speed(row):
    """Loops are batches: times batch and producers that is the operations, done and failed."""
    params, seconds = row["params"], row["params"]["duration_ns"] / 1e9
    if row["case"] == "no_op":
        assert value(row, "map_ops") is None and row["values"]["map_ops"]["reason"], row
        return
    loops = value(row, "loops") * params["producers"] * params["batch"] * seconds
    done = value(row, "map_ops") * seconds
    assert abs(loops - done - value(row, "failed")) <= slack(row) + 1, (loops, done, row)
    assert done > 0, row


def htab_left(row):
    """What is in the map at the end."""
    params, left = row["params"], value(row, "elements")
    if row["case"] in ("no_op", "batch_add_batch_del"):
        assert left == 0, row
    elif row["case"] == "overwrite":
        share = params["keys"] // params["producers"]
        # All of it, once each producer has gone through its share: the check knows of the sum only.
        assert params["batch"] <= left <= share * params["producers"], row
        if value(row, "map_ops") * params["duration_ns"] / 1e9 > 50 * params["keys"] \
                and not value(row, "failed"):
            assert left == share * params["producers"], row
    else:
        pairs = params["producers"] // 2
        assert left in {i * params["batch"] for i in range(pairs + 1)} \
            or (value(row, "failed") and left <= pairs * params["batch"]), row


def htab_too_small(rows):
    """More keys than there is room for: the map is full, and all else failed for that reason."""
    row = only(rows)
    assert value(row, "elements") == row["params"]["max_entries"], row
    assert value(row, "failed") == value(row, "failed_map_full") > 0, row
    assert value(row, "map_ops") > 0, row


def htab_memory(small, large):
    """
    Two preallocated maps that differ in the size of values only: the memory differs by just that, and
    the smaller one holds no less than its elements.
    """
    small, large = only(small), only(large)
    if value(small, "memory_start") is None:
        return small["values"]["memory_start"]["reason"]
    n = small["params"]["max_entries"]
    sizes = [r["params"]["value_size_bytes"] for r in (small, large)]
    apart = small["params"]["memory_resolution_bytes"]
    # Each CPU has an element of its own besides, and pages are whole.
    expected, seen = n * (sizes[1] - sizes[0]), value(large, "memory_start") - value(small, "memory_start")
    assert abs(seen - expected) <= apart + expected / 100, (seen, expected)
    least = n * (ELEMENT + 8 + sizes[0])
    # Buckets are 16 bytes for each element at most, and there may be twice as many for a power of two.
    assert least <= value(small, "memory_start") <= least * 1.05 + 32 * n + apart, (least, small)
    for row in (small, large):
        assert value(row, "memory_start") - apart <= value(row, "memory_average") \
            <= value(row, "memory_peak") + 1, row
        assert value(row, "elements") == n, row
    return None


def htab_lists(row, least_looks):
    """Lists were read, or it is said why not."""
    if value(row, "waiting_peak") is None:
        assert row["values"]["waiting_peak"]["reason"], row
        return
    assert value(row, "looks") >= least_looks, row
    peaks = {n[5:]: v["value"] for n, v in row["values"].items() if n.startswith("peak_")}
    means = {n[5:]: v["value"] for n, v in row["values"].items() if n.startswith("mean_")}
    assert peaks.get("free_llist", 0) > 0, row  # of which every update takes one
    assert all(means[name] <= peaks[name] for name in peaks), row
    waiting = [v for name, v in peaks.items() if name != "free_llist"]
    assert max(waiting, default=0) <= value(row, "waiting_peak") <= sum(waiting), row


def update(rows, kinds):
    assert [r["case"] for r in rows] == kinds, rows
    for row in rows:
        params, seconds = row["params"], row["params"]["duration_ns"] / 1e9
        assert value(row, "missed") == value(row, "failed") == 0, row
        # One may have no turn at all in a short window, on a host with much else to do.
        assert 0 <= value(row, "events_least") <= value(row, "events_per_cpu") \
            <= value(row, "events_most") > 0, row
        assert abs(value(row, "events_per_cpu") * params["processes"] / value(row, "events") - 1) < 1e-6, row
        made = value(row, "events") * seconds * params["rounds"] * OPERATIONS
        done = value(row, "map_ops") * seconds
        assert abs(made - done) <= 2 * params["processes"] * params["rounds"] * OPERATIONS + 1, (made, done)


def update_calls(rows, calls):
    row = only(rows)
    assert value(row, "events_least") * row["params"]["duration_ns"] / 1e9 >= calls - 1, row


WAYS = ["next_key+lookup", "lookup_batch", "lookup_and_delete_batch"]


def dump(rows, elements, capacities):
    """elements: by capacity. Every way is there, and makes the calls that it has to."""
    expected = [(e(c), c, way) for e in elements for c in capacities for way in WAYS]
    assert [(r["params"]["elements"], r["params"]["capacity"], r["case"]) for r in rows] == expected, rows
    for row in rows:
        n = row["params"]["elements"]
        calls = value(row, "calls")
        assert calls == 2 * n + 1 if row["case"] == WAYS[0] else 1 <= calls <= n + 1, row
        assert value(row, "iterations") > 0 and value(row, "cpu") > 0, row
        # The clocks are read one after the other, and tick apart.
        assert value(row, "wall") > 0.5 * value(row, "cpu"), row
    # More elements take longer, whichever way: a hundred times as many are a difference on any machine.
    for way in WAYS:
        took = {(r["params"]["elements"], r["params"]["capacity"]): value(r, "cpu")
                for r in rows if r["case"] == way}
        for (n, capacity), cpu in took.items():
            if n >= 100 and (1, capacity) in took:
                assert cpu > took[1, capacity], (way, took)
