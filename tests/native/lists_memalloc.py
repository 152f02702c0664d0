#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What looking at lists of BPF memory costs, whom it interrupts, and what it makes of maps that come and go.

    lists_memalloc.py KDEFER MEMLOAD cost|ipi|churn

Exits with 0, 1 and what is wrong, or 5 where this machine does not allow the test.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

MAPS = 1000
CPUS = 8        # that the bound on the cost is for
LOOKS = 40
QUICK = 100     # looks, 10 ms apart: more than a machine interrupts a CPU in that time for other reasons
SHARE = 0.01    # of one CPU, at a look a second
RUN_NS = 1000000  # what no run of a program may take
TRIES = 3       # of what a busy machine can only make longer
TEST_RUN = 10   # command of bpf(2)

EVENT = re.compile(r"-(\d+) +\[\d+\] \S+ +(\d+)\.(\d+): (sys_bpf.*)")


def say(*words):
    print(*words, file=sys.stderr)


def need(ok, *words):
    if not ok:
        say("wrong:", *words)
        sys.exit(1)


def lists(kdefer, *options):
    """The document, and the CPU time that the whole process took."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([kdefer, "lists", "-s", "memalloc", "--json", *options], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        need(status == 0, f"kdefer lists ends with {status}")
        out.seek(0)
        return json.load(out), usage.ru_utime + usage.ru_stime


class Trace:
    """Of the kernel's own: when bpf(2) was called to run a program, and when that was over."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        if subprocess.run(["mount", "-t", "tracefs", "none", self.folder], capture_output=True).returncode:
            os.rmdir(self.folder)
            sys.exit(5)
        self.instance = f"{self.folder}/instances/kdefer-test-{os.getpid()}"

    def __enter__(self):
        try:
            os.mkdir(self.instance)
            self.put("events/syscalls/sys_enter_bpf/filter", f'cmd == {TEST_RUN} && COMM == "kdefer"')
            self.put("events/syscalls/sys_exit_bpf/filter", 'COMM == "kdefer"')
            self.put("buffer_size_kb", "4096")
            for event in ("enter", "exit"):
                self.put(f"events/syscalls/sys_{event}_bpf/enable", "1")
        except OSError as error:
            say(error)
            self.__exit__()
            sys.exit(5)
        return self

    def put(self, name, text):
        with open(f"{self.instance}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    def __exit__(self, *unused):
        if os.path.isdir(self.instance):
            os.rmdir(self.instance)
        subprocess.run(["umount", self.folder], check=True)
        os.rmdir(self.folder)

    def runs_us(self):
        """How long each took, the way there and back included."""
        took, since = [], {}
        with open(f"{self.instance}/trace", encoding="utf-8", errors="replace") as file:
            for line in file:
                event = EVENT.search(line)
                if not event:
                    continue
                pid, now = event[1], int(event[2]) * 1000000 + int(event[3])
                if event[4].startswith("sys_bpf("):
                    since[pid] = now
                elif pid in since:
                    took.append(now - since.pop(pid))
        self.put("trace", "")
        return took


def cost(kdefer):
    """With MAPS maps there. Others want the CPU too: what is least of several tries is ours."""
    shares, longest, told = [], [], []
    with Trace() as trace:
        for _ in range(TRIES):
            few, some = lists(kdefer, "-i", "20ms", "-n", "2")
            trace.runs_us()
            many, more = lists(kdefer, "-i", "20ms", "-n", str(2 + LOOKS))
            took = trace.runs_us()
            own, first = many["self"], few["self"]
            shares.append((more - some) / LOOKS * CPUS / os.cpu_count())
            longest.append(max(took) * 1000)
            told.append(own["lists_longest_run_ns"])
            say(f"{len(took)} runs as traced, {own['lists_runs']} told, {sum(took)} us and "
                f"{own['lists_run_ns'] // 1000} us; longest {max(took)} us and {told[-1] // 1000} us; "
                f"{shares[-1] * 1000:.2f} ms a look on {CPUS} CPUs; read {own['lists_read_bytes']} bytes")
            # Of what the kernel was asked to run some is no reading of lists, and the way there takes time.
            need(0 < own["lists_runs"] <= len(took), "more runs are told than the kernel was asked for")
            need(0 < own["lists_run_ns"] <= sum(took) * 1000, "runs took less time than is told")
            need(own["lists_longest_run_ns"] <= (max(took) + 1) * 1000, "no run took as long as is told")
            # A structure of each CPU and map, whose size only the kernel's types say, but it is no smaller.
            read = (own["lists_read_bytes"] - first["lists_read_bytes"]) / LOOKS / MAPS / os.cpu_count()
            need(64 <= read <= 1024, f"{read} bytes were read of each")
            if longest[-1] < RUN_NS and shares[-1] < SHARE:
                return
    need(min(longest) < RUN_NS, f"some run takes {min(longest)} ns")
    # All is taken to grow with the CPUs, though the list of the maps does not: an upper bound.
    need(min(shares) < SHARE, f"a look takes {min(shares) * 100:.2f}% of a second")


def names(document):
    found = {e["key"].get("map_name") for e in document["pending"]
             if e["source"] == "memalloc" and "map_id" in e["key"]}
    return found - {None}  # no map is that is not seen any more when names are told


def interrupts(cpu):
    """Function calls that other CPUs asked it for; all of them, of which few are ours."""
    with open("/proc/interrupts", encoding="ascii") as file:
        for line in file:
            if line.split()[:1] == ["CAL:"]:
                return int(line.split()[1 + cpu])
    sys.exit(5)


def asked(kdefer, cpu, *options):
    """How often that CPU was interrupted during QUICK looks; the last document."""
    child = subprocess.Popen(["taskset", "-c", "0", kdefer, "lists", "-s", "memalloc", "--ndjson", "--per-cpu",
                              "-i", "10ms", "-n", str(2 + QUICK), *options], stdout=subprocess.PIPE)
    lines = [child.stdout.readline() for _ in range(2)]  # what loading asks for is over
    before = interrupts(cpu)
    lines += [child.stdout.readline() for _ in range(QUICK - 1)]
    after = interrupts(cpu)
    child.communicate()
    return after - before, json.loads(lines[-1])


def ipi(kdefer):
    cpu = os.cpu_count() - 1
    if not cpu:
        sys.exit(5)
    with_it, seen = asked(kdefer, cpu)
    counts = []
    for _ in range(TRIES):
        without, from_afar = asked(kdefer, cpu, "--no-ipi")
        counts.append(without)
        if without < (QUICK - 1) / 2:
            break
    say(f"{QUICK - 1} looks interrupted CPU {cpu} {with_it} times; with --no-ipi, of all causes, {counts}")
    need(with_it >= QUICK - 1, "looks that interrupt do not show")
    # One a look at least would be ours. What is left is the machine's own.
    need(min(counts) < (QUICK - 1) / 2, "it is interrupted all the same")
    mine = [e for e in from_afar["pending"] if e["key"].get("cpu") == cpu and e["length"]]
    need(mine, "nothing is seen of that CPU")
    need(not any(e["exact"] for e in mine), "what was read from afar is not marked")
    need(any(e["exact"] for e in seen["pending"] if e["key"].get("cpu") == cpu), "nothing was exact before")


def churn(kdefer):
    """memload makes, uses and closes maps all the time, each called churn. One look finds out who else is there."""
    others = {name for name in names(lists(kdefer, "--full", "-n", "1")[0]) if name != "churn"}
    for _ in range(TRIES):
        document, _ = lists(kdefer, "--full", "-i", "10ms", "-n", "1000")
        lost = document["lost"].get("memalloc", {})
        say(f"names {names(document)}, of others {others}; lost {lost}")
        need(names(document) <= others | {"churn"}, "a map has a name that no map has")
        # The lists of a map that goes while they are read are emptied under the reader: hardly more than those that
        # had gone by then, for which there is more time.
        need(lost.get("torn", 0) <= lost.get("vanished", 0) + 1,
             "lists were longer or shorter than the kernel counts them")
        if lost.get("vanished", 0):
            return
    need(False, "none went while it was read, which was to be tested")


if __name__ == "__main__":
    KDEFER, MEMLOAD, WHAT = sys.argv[1:4]
    if len(sys.argv) > 4:
        {"cost": cost, "ipi": ipi, "churn": churn}[WHAT](KDEFER)
    else:
        load = {"cost": ["many", str(MAPS)], "ipi": ["many", "50"], "churn": ["churn"]}[WHAT]
        run = subprocess.run([MEMLOAD, *load, sys.executable, *sys.argv, "inside"], stdout=subprocess.PIPE)
        made = re.search(rb"^maps (\d+)", run.stdout, re.M)
        need(WHAT != "churn" or int(made[1]) > 5000, f"too few maps came and went: {run.stdout}")  # in 10 s
        sys.exit(run.returncode)
