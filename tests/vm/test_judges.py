#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the verdicts rest on: the trace is read right, and histograms are held together right."""

import os
import sys
import unittest
from collections import Counter

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases"))
import latency
import why
from oracle import Range, Trace, Window

TEXT = """# tracer: nop
          cbload-166     [001] .....     5.000100: enq: (call_rcu+0x4/0x20) head=0xff01 func=i_callback+0x0/0x20
              sh-175     [000] .....     6.000000: tracing_mark_write: begin
 kworker/0:1-ev-12      [000] d..2.     6.000010: enqh: (call_rcu_hurry+0x4/0x10) head=0xff02 func=foo+0x0/0x20 [nf]
          <idle>-0       [001] ..s1.     6.000100: deq: (rcu_cblist_dequeue+0x4/0x30) head=0xff01 func=i_callback+0x0/0x20
          <idle>-0       [001] ..s1.     6.000101: enq: (call_rcu+0x4/0x20) head=0xff01 func=i_callback+0x0/0x20
          <idle>-0       [001] ..s1.     6.000102: deq: (rcu_cblist_dequeue+0x4/0x30) head=0xff99 func=rcu_barrier_callback+0x0/0x10
           a b-c-9       [001] .....     6.000150: deq: (rcu_cblist_dequeue+0x4/0x30) head=0xff77 func=of_srcu+0x0/0x10
          <idle>-0       [001] ..s1.     6.000190: deq: (rcu_cblist_dequeue+0x4/0x30) head=0x0 func=0x0
          <idle>-0       [000] ..s1.     6.000200: deq: (rcu_cblist_dequeue+0x4/0x30) head=0xff02 func=foo+0x0/0x20 [nf]
              sh-175     [000] .....     7.000000: tracing_mark_write: end
          cbload-166     [001] .....     7.000010: enq: (call_rcu+0x4/0x20) head=0xff03 func=i_callback+0x0/0x20
"""


class Document:
    @staticmethod
    def window_us():
        return 5999000, 7000020


class Traces(unittest.TestCase):
    def setUp(self):
        self.trace = Trace(TEXT)
        self.window = Window(self.trace, Document)

    def test_pairs(self):
        first, second, again, late = self.trace.callbacks
        self.assertEqual((first.func, first.waited(), first.again), ("i_callback", 1000000, False))
        self.assertEqual((second.func, second.cpu, second.lazy, second.waited()),
                         ("foo", 0, False, 190))
        self.assertEqual((again.again, again.done), (True, None))
        self.assertIsNone(late.done)

    def test_window(self):
        window = self.window
        for seen, low, high in ((window.begun(), 2, 3), (window.pre_start(), 1, 1),
                                (window.barriers(), 1, 1), (window.ended(), 3, 3),
                                (window.open(), 1, 2), (window.by("func")["foo"], 1, 1)):
            self.assertEqual((seen.low, seen.high), (low, high))

    def test_who_may_interrupt(self):
        self.assertEqual(self.trace.interruptible[True], 0)
        self.assertEqual(self.trace.interruptible[False], 1)

    def test_own_losses(self):
        trace = Trace("", "overrun: 3\ncommit overrun: 1\ndropped events: 0\n",
                      "  enq    6540     0\n  deq    6542     7\n")
        self.assertEqual((trace.lost, trace.missed, trace.blind()), (4, 7, 11))

    def test_most_waiting(self):
        self.assertEqual(self.trace.most_waiting(1), 2)


class Histograms(unittest.TestCase):
    def stray(self, ours, theirs):
        return latency.stray_mass(Counter(ours), Counter(theirs))

    def test_same_or_next(self):
        self.assertEqual(self.stray({5: 100}, {5: 100}), 0)
        self.assertEqual(self.stray({5: 50, 6: 50}, {6: 50, 7: 50}), 0)

    def test_further(self):
        self.assertEqual(self.stray({5: 100}, {7: 100}), 1)
        self.assertAlmostEqual(self.stray({5: 98, 9: 2}, {5: 100}), 0.02)

    def test_what_is_missing_strays(self):
        self.assertAlmostEqual(self.stray({5: 90}, {5: 100}), 0.1)

    def test_a_shift_is_no_excuse_twice(self):
        """A bin can lend its mass to one side only."""
        self.assertAlmostEqual(self.stray({4: 100}, {5: 50, 6: 50}), 0.5)

    def test_quantiles(self):
        waits = list(range(1000, 101000, 1000))
        self.assertEqual(latency.quantile(waits, 0.5), 50000)
        metric = {"p50": 50e6, "p90": 90e6, "p99": None}
        self.assertEqual(latency.wrong_quantiles(metric, waits), [])
        metric["p90"] = 100e6
        self.assertEqual(len(latency.wrong_quantiles(metric, waits)), 1)


class Ranges(unittest.TestCase):
    def test_contains(self):
        self.assertIn(3, Range(1, 2).widened(1))
        self.assertNotIn(4, Range(1, 2).widened(1))
        self.assertNotIn(None, Range(0, 2))


LINE = ("injected cause=long_reader source=rcu_gp flavour=rcu begin_ns=1000000000 asked_ns=1010000000 "
        "end_ns=1300000000 waited_ns=300000000 cpu=1 pid=7 tgid=6 rival=0 comm=inj-reader func=inject_reader")


def report(**changes):
    return {"source": "rcu_gp", "flavour": "rcu", "wait": "grace period", "monotonic_ns": 1010000000,
            "duration_ns": 295000000, "cause": "long_reader", "share": 0.97, "certain": True, "cpu": 1,
            "pid": 7, "comm": "inj-reader", "stack": ["bpf_prog_0_inject_reader+0x1f"], **changes}


class Explanations(unittest.TestCase):
    def told(self, line=LINE, **changes):
        return why.verdict(why.Wait(line), report(**changes))[0]

    def test_right(self):
        self.assertEqual(self.told(), "right")
        self.assertEqual(self.told(pid=0), "right")  # by its CPU

    def test_wrong(self):
        for changes in ({"cause": "irqs_off"}, {"pid": 8}, {"comm": "other"}, {"pid": 0, "cpu": 0},
                        {"duration_ns": 200000000}, {"duration_ns": 400000000}, {"stack": ["schedule+0x1"]}):
            self.assertEqual(self.told(**changes), "wrong", changes)

    def test_miss(self):
        self.assertEqual(self.told(cause="unknown"), "miss")
        self.assertEqual(self.told(cause="irqs_off", certain=False), "miss")
        self.assertEqual(self.told(pid=8, certain=False), "miss")
        self.assertEqual(why.verdict(why.Wait(LINE), None)[0], "miss")

    def test_candidates(self):
        some = [{"pid": 5}, {"pid": 7}]
        self.assertEqual(self.told(pid=5, certain=False, candidates=some), "right")
        self.assertEqual(self.told(pid=5, candidates=some), "wrong")

    def test_two_causes(self):
        line = LINE + " whole_begin_ns=1000000000 whole_end_ns=1600000000"
        both = {"monotonic_ns": 1010000000, "duration_ns": 595000000, "cause": "gp_kthread_starved",
                "share": 0.5, "also": [{"cause": "long_reader", "share": 0.5, "pid": 7, "cpu": 1,
                                        "comm": "inj-reader"}]}
        self.assertEqual(self.told(line, **both), "right")
        both["also"][0]["share"] = 0.2
        self.assertEqual(self.told(line, **both), "wrong")

    def test_which_report(self):
        wait = why.Wait(LINE)
        other = report(flavour="tasks"), report(monotonic_ns=1600000000), report(wait="caller")
        self.assertEqual(wait.reports([*other, report()]), [report()])

    def test_still(self):
        """Nobody is to be accused for a moment in which a CPU was not run."""
        still = why.Wait(LINE + " still_ns=60000000")
        self.assertFalse(why.forgiven(why.Wait(LINE), None))
        self.assertTrue(why.forgiven(still, None))
        for changes in ({"cause": "unknown"}, {"certain": False, "pid": 8}, {"duration_ns": 400000000},
                        {"cause": "irqs_off"}):
            self.assertTrue(why.forgiven(still, report(**changes)), changes)
        for changes in ({"pid": 8}, {"cause": "kernel_loop"}):
            self.assertFalse(why.forgiven(still, report(**changes)), changes)
            self.assertTrue(why.forgiven(why.Wait(LINE + " still_ns=200000000"), report(**changes)), changes)

    def test_margin(self):
        """At least so long, and by so much longer at most."""
        for most, what in ((100000000, "right"), (20000000, "wrong")):
            self.assertEqual(self.told(duration_ns=200000000, evidence={"margin_ns": most}), what)

    def test_flood(self):
        line = LINE.replace("long_reader", "callback_flood").replace("rcu_gp", "call_rcu") + " many=1000"
        flood = {"source": "call_rcu", "wait": "callback", "cause": "callback_flood", "func": "inject_reader"}
        self.assertEqual(self.told(line, **flood, evidence={"queue": 990, "ahead": 900}), "right")
        self.assertEqual(self.told(line, **flood, evidence={"queue": 890, "ahead": 500}), "wrong")
        self.assertEqual(self.told(line, **flood, evidence={"queue": 990, "ahead": 200}), "wrong")
        self.assertEqual(self.told(line, **flood), "wrong")


if __name__ == "__main__":
    unittest.main()
