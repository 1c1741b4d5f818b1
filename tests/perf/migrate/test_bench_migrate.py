#!/usr/bin/env python3
# What bench_migrate.py makes of a scenario's records, good ones and bad ones.
# SPDX-License-Identifier: LGPL-2.1-or-later
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench_migrate


def record(case, sender, receiver, run=1, seconds=30.0, pause_ms=1000, **more):
    stats = [{"event": "start", "side": "save", "engine": sender, "t": 1.0},
             {"event": "suspended", "side": "save", "engine": sender, "t": 100.0, "suspend_ms": 100.0},
             {"event": "end", "side": "save", "engine": sender, "t": 100.2, "memory_s": seconds, "bytes": 1 << 29,
              "rounds": 5, "cpu_s": 9.0},
             {"event": "end", "side": "restore", "engine": receiver, "t": 100.0 + pause_ms / 1000, "cpu_s": 8.0}]
    return dict({"case": case, "sender": sender, "receiver": receiver, "run": run, "migrate_s": seconds + 5,
                 "guest_pause_ms": pause_ms + 500, "guest_errors": 0, "stats": stats}, **more)


def pairs(ours_seconds, ours_pause=300):
    for run, seconds in ((1, 30), (2, 31), (3, 60)):
        yield record("idle-zero", "stock", "stock", run, seconds)
        yield record("idle-zero", "ours", "ours", run, ours_seconds, ours_pause)


class BenchMigrate(unittest.TestCase):
    def run_it(self, records, text=None):
        """Exit status, output, errors, and what was written."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "rows.log"), "w", encoding="utf-8") as file:
                file.write(text if text is not None else "\n".join(json.dumps(r) for r in records))
            with open(os.path.join(folder, "env.log"), "w", encoding="utf-8") as file:
                file.write("xen=4.17.7\ncpu=an emulated one\n")
            out = os.path.join(folder, "bench/migrate.json")
            said, complained = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
                status = bench_migrate.main(folder, out)
            with open(out, encoding="utf-8") as file:
                return status, said.getvalue(), complained.getvalue(), json.load(file)

    def test_good(self):
        status, said, complained, written = self.run_it(pairs(3.0))
        self.assertEqual((status, complained), (0, ""))
        self.assertEqual(written["env"], {"xen": "4.17.7", "cpu": "an emulated one"})
        self.assertEqual(len(written["rows"]), 6)
        self.assertEqual(set(written["rows"][0]), {
            "case", "sender", "receiver", "run", "total_s", "memory_s", "engine_pause_ms", "suspend_ms",
            "guest_pause_ms", "bytes",
            "rounds", "sender_cpu_s", "receiver_cpu_s", "guest_errors"})
        self.assertEqual(written["rows"][1]["engine_pause_ms"], 300)
        # The median of 30, 31, 60 is 31.
        self.assertEqual(written["ratios"][0]["memory_s"], 10.33)
        self.assertIn("31 (30-60)", said)

    def test_too_slow(self):
        status, _, complained, _ = self.run_it(pairs(5.5))
        self.assertEqual(status, 1)
        self.assertIn("memory_s is 5.64 times less than stock's, demanded are 6", complained)

    def test_longer_pause(self):
        status, _, complained, _ = self.run_it(pairs(3.0, 1200))
        self.assertEqual(status, 1)
        self.assertIn("engine_pause_ms is 0.83", complained)
        self.assertIn("guest_pause_ms is 0.88", complained)

    def test_bad_pages(self):
        status, _, complained, _ = self.run_it([record("heavy", "ours", "ours", guest_errors=3)])
        self.assertEqual(status, 1)
        self.assertIn("heavy, ours to ours, run 1: 3 bad pages", complained)

    def test_refused(self):
        """Stock refuses a PV guest's live migration: ours is held against its save and restore."""
        refused = {"case": "pv-idle", "sender": "stock", "receiver": "stock", "run": 1,
                   "refused": "Failed to enable logdirty: 95,22,0"}
        status, said, complained, written = self.run_it([
            refused, record("pv-idle-save", "stock", "stock", seconds=20.0, pause_ms=25000),
            record("pv-idle", "ours", "ours", seconds=10.0, pause_ms=500),
            record("pv-idle-save", "ours", "ours", seconds=5.0, pause_ms=12500)])
        self.assertEqual((status, complained), (0, ""))
        self.assertEqual(written["refused"], [refused])
        self.assertIn("| pv-idle | stock, stock | refused | Failed to enable logdirty: 95,22,0 |", said)
        found = {(r["case"], r["sender"]): r for r in written["ratios"]}
        self.assertEqual(set(found), {("pv-idle", "ours"), ("pv-idle-save", "ours")})
        self.assertEqual(found["pv-idle", "ours"]["engine_pause_ms"], 50)
        self.assertEqual(found["pv-idle-save", "ours"]["memory_s"], 4)

    def test_unusable(self):
        for records, text, why in (
                ([], "", "nothing was measured"),
                ([], '{"case": "idle', "make no sense"),
                ([dict(record("heavy", "ours", "ours"), sender="stock")], None, "the sender was ours, expected stock"),
                ([dict(record("heavy", "ours", "ours"), stats=[])], None, "0 lines 'end' of the save side")):
            with self.assertRaises(bench_migrate.Unusable) as caught:
                self.run_it(records, text)
            self.assertIn(why, str(caught.exception))
        with self.assertRaises(bench_migrate.Unusable):
            bench_migrate.main("/nowhere/at/all", "/nowhere/out")


if __name__ == "__main__":
    unittest.main()
