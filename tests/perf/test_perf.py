#!/usr/bin/env python3
# What make bench-map and make bench-module say about their figures, with figures made here.
# SPDX-License-Identifier: LGPL-2.1-or-later
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench_map  # noqa: E402
import bench_module  # noqa: E402
import plot  # noqa: E402
import targets  # noqa: E402
from ratios import Medians, ratios  # noqa: E402
from series import Series, Unusable, fill_counts  # noqa: E402

STOCK = {"map": 3000, "unmap": 6000, "loop": 9000}
OURS = {"map": 2000, "unmap": 1000, "replace": 3000, "loop": 3000}
FRAME = {"map": 20000, "unmap": 9000, "loop": 29000}
FLOOR = {"map": 1900, "unmap": 800, "replace": 2500, "flush": 100}
CALLS = {"map": (3, 0, 0), "unmap": (3, 1, 0), "replace": (3, 1, 0), "loop": (None, None, None)}
STOCK_CALLS = {"map": (64, 2, 0), "unmap": (0, 3, 1024), "loop": (None, None, None)}


class Made:
    """A folder of logs as a scenario leaves it."""

    def __init__(self, top, name="driver-bench-map-pv-ticks", dom0="pv", mode="deterministic", n=1024, guest=None):
        self.dom0, self.mode, self.n = dom0, mode, n
        self.folder = os.path.join(top, name)
        os.makedirs(self.folder)
        self.put("env", f"xen=4.17.7\nkernel=6.1\ndom0={dom0}\nmode={mode}\ndom0_vcpus=1\nsamples=9\n"
                 + (f"guest={guest}\n" if guest else ""))
        for label, ticks in (("stock", STOCK), ("ours", OURS), ("per_frame", FRAME)):
            self.put_rows(label, ticks)
        self.put("floor.json", json.dumps({"rows": [
            {"dom0": dom0, "kernel": "6.1", "mode": mode, "n": n, "impl": "floor", "op": "floor", "of": of,
             "median": ticks, "min": ticks, "max": ticks, "samples": 9} for of, ticks in FLOOR.items()]}))

    def put(self, name, text):
        with open(os.path.join(self.folder, name + ".log"), "w", encoding="utf-8") as file:
            file.write(text)

    def row(self, label, op, ticks):
        calls = CALLS if label != "stock" else {op: (None, None, None) for op in CALLS}
        made = {"dom0": self.dom0, "kernel": "6.1", "mode": self.mode, "n": self.n,
                "impl": "stock" if label == "stock" else "ours", "op": op, "median": ticks, "min": ticks, "max": ticks,
                "samples": 9, "hypercalls": calls[op][0], "flushes": calls[op][1]}
        return dict(made, rounds=10) if op == "loop" else made

    def put_rows(self, label, ticks, impl=None):
        rows = [self.row(label, op, t) for op, t in ticks.items()]
        if impl:
            rows = [dict(row, impl=impl) for row in rows]
        env = {"kernel": "6.1", "module": label, "date": "2026-11-30", "ticks_per_ns": 1.0}
        single = [r for r in rows if r["op"] != "loop"]
        self.put(label + ".json", json.dumps({"env": env, "rows": single}))
        self.put(label + ".loop.json", json.dumps({"env": env, "rows": [r for r in rows if r["op"] == "loop"]}))
        if self.mode == "deterministic":
            self.put(label + ".traced.json", json.dumps({"env": env, "rows": single}))
            self.put_counts(label, {op: STOCK_CALLS[op] if label == "stock" else CALLS[op] for op in ticks})

    def put_counts(self, label, counts):
        self.put(label + ".counts", "".join(
            f"{op} {self.n} samples=5 calls={c[0]} entries=0 flushes={c[1]} traps={c[2]}\n"
            for op, c in counts.items() if op != "loop"))


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name


class SeriesTest(WithFolder):
    def test_rows(self):
        series = Series(Made(self.top).folder)
        self.assertEqual(series.problems, [])
        ops = [(r["impl"], r["op"]) for r in series.rows]
        self.assertEqual(len(ops), 14)
        self.assertIn(("ours", "per_frame_map"), ops)
        self.assertIn(("floor", "floor"), ops)
        stock_unmap = next(r for r in series.rows if (r["impl"], r["op"]) == ("stock", "unmap"))
        self.assertEqual([stock_unmap[k] for k in ("hypercalls", "flushes", "traps")], [0, 3, 1024])

    def test_contradictions(self):
        made = Made(self.top)
        made.put_counts("ours", {"map": (4, 0, 0), "unmap": (3, 0, 0), "replace": (3, 5, 0)})
        said = Series(made.folder).problems
        self.assertEqual(len(said), 2)
        self.assertIn("map of 1024 (pv): the driver counted 3 hypercalls, Xen saw 4", said)
        self.assertIn("unmap of 1024 (pv): the driver counted 1 flushes, Xen saw 0", said)

    def test_pvh_calls_may_be_resumed(self):
        made = Made(self.top, dom0="pvh")
        made.put_counts("ours", {"map": (4, 0, 0), "unmap": (2, 0, 0), "replace": (3, 0, 0)})
        self.assertEqual(Series(made.folder).problems,
                         ["unmap of 1024 (pvh): the driver counted 3 hypercalls, Xen saw 2"])

    def test_unusable(self):
        made = Made(self.top)
        made.put_counts("stock", {"map": (64, 2, 0)})
        with self.assertRaisesRegex(Unusable, r"unmap of 1024 frames was measured, but not counted \(stock\)"):
            Series(made.folder)
        made.put_rows("ours", OURS, impl="stock")
        made.put_rows("stock", STOCK)
        with self.assertRaisesRegex(Unusable, "a row says impl stock, expected ours"):
            Series(made.folder)
        made.put("ours.json", "{")
        with self.assertRaisesRegex(Unusable, "is no JSON"):
            Series(made.folder)
        os.unlink(os.path.join(made.folder, "env.log"))
        with self.assertRaisesRegex(Unusable, "did the scenario pass"):
            Series(made.folder)

    def test_counts_of_the_other_mode(self):
        ticks = Series(Made(self.top).folder)
        wall = Series(Made(self.top, "driver-bench-map-pv-wall", mode="wall").folder)
        row = next(r for r in wall.rows if (r["impl"], r["op"]) == ("stock", "unmap"))
        self.assertIsNone(row["hypercalls"])
        fill_counts([ticks, wall])
        self.assertEqual([row[k] for k in ("hypercalls", "flushes", "traps")], [0, 3, 1024])


    def test_without_frame_by_frame(self):
        made = Made(self.top)
        os.unlink(os.path.join(made.folder, "per_frame.json.log"))
        ops = {r["op"] for r in Series(made.folder).rows}
        self.assertEqual(ops, {"map", "unmap", "replace", "loop", "floor"})


class RatiosTest(WithFolder):
    def test_ratios(self):
        found = list(ratios([Series(Made(self.top).folder)]))
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0], {
            "dom0": "pv", "mode": "deterministic", "kernel": "6.1", "guest": "pvh", "n": 1024, "map": 1.5, "unmap": 6.0, "replace": 3.0,
            "loop": 3.0, "map_and_unmap": 3.0, "floor_map": 1.053, "floor_unmap": 1.111, "floor_replace": 1.154,
            "per_frame_map": 10.0, "per_frame_unmap": 9.0})

    def test_the_cheaper_removal_is_the_floor(self):
        row = {"impl": "floor", "op": "floor", "n": 4}
        medians = Medians([dict(row, of="unmap", median=40), dict(row, of="unmap_multicall", median=30)])
        self.assertEqual(medians.floor("unmap", 4), 30)
        self.assertIsNone(medians.floor("map", 4))
        self.assertIsNone(medians.stock("replace", 4))


class TargetsTest(WithFolder):
    def seen(self):
        series = Series(Made(self.top).folder)
        return {(t["dom0"], t["what"]): t for t in targets.targets(list(ratios([series])), series.rows)
                if t["mode"] == "deterministic"}

    def test_verdicts(self):
        found = self.seen()
        self.assertEqual(found["pv", "munmap, times cheaper than stock"]["verdict"], "reached")
        self.assertEqual(found["pv", "munmap, of the floor with its flush"]["verdict"], "BELOW")
        self.assertEqual(found["pvh", "map, of the floor"]["verdict"], "not measured")
        self.assertEqual(found["pv", "hypercalls of the driver to unmap, flushes included"]["seen"], 4)
        self.assertEqual(found["pv", "hypercalls of the driver to unmap, flushes included"]["verdict"], "reached")

    def test_judge(self):
        self.assertEqual(targets.judge(4.0, "least", 4.0), "reached")
        self.assertEqual(targets.judge(3.999, "least", 4.0), "BELOW")
        self.assertEqual(targets.judge(1.11, "most", 1.1), "BELOW")
        self.assertEqual(targets.judge(None, "most", 1.1), "not measured")


class BenchMapTest(WithFolder):
    def run_it(self, logs):
        out, err = io.StringIO(), io.StringIO()
        os.makedirs(os.path.join(self.top, "out"), exist_ok=True)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = bench_map.main(logs, os.path.join(self.top, "out"), os.path.join(self.top, "map.svg"))
        return status, out.getvalue(), err.getvalue()

    def test_merge(self):
        logs = os.path.join(self.top, "logs")
        Made(logs)
        Made(logs, "driver-bench-map-pvh-ticks", dom0="pvh")
        status, out, err = self.run_it(logs)
        self.assertEqual((status, err), (0, ""))
        # What is below is shown, and decides nothing.
        self.assertIn("BELOW", out)
        self.assertRegex(out, r"1024 unmap +9000 +6000 +1000 +900 +6 +1\.11 +0>3 +3>1 +1024>0")
        with open(os.path.join(self.top, "out/map.json"), encoding="utf-8") as file:
            made = json.load(file)
        self.assertEqual(len(made["rows"]), 28)
        for row in made["rows"]:
            self.assertEqual(row["kernel"], "6.1")
            self.assertIn("ticks_a_frame", row)
        self.assertEqual(made["rows"][0]["hypercalls_a_frame"], 0.0625)
        self.assertEqual([s["dom0"] for s in made["env"]["series"]], ["pv", "pvh"])
        with open(os.path.join(self.top, "out/map.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("| 1024 | munmap | 9.0 k | 6.0 k | 1.0 k | 0.9 k | 6.00 | 1.11 | 0 > 3 | 3 > 1 | 1024 > 0 |", text)
        self.assertIn("| PV | deterministic | 1024 | munmap, times cheaper than stock | ≥ 4 | 6.00 | yes |", text)

    def test_a_pv_guest_is_a_series_of_its_own(self):
        logs = os.path.join(self.top, "logs")
        Made(logs)
        Made(logs, "driver-bench-map-pv-pvguest-ticks", guest="pv").put_counts(
            "stock", {"map": (65, 2, 0), "unmap": (0, 3, 1025)})
        status, out, err = self.run_it(logs)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("PV Dom0, PV guest, deterministic", out)
        self.assertIn("PV Dom0, PVH guest, deterministic", out)
        with open(os.path.join(self.top, "out/map.json"), encoding="utf-8") as file:
            made = json.load(file)
        self.assertEqual(sorted(r["guest"] for r in made["ratios"]), ["pv", "pvh"])
        self.assertEqual(sorted({(r["guest"], r["hypercalls"]) for r in made["rows"]
                                 if (r["impl"], r["op"]) == ("stock", "map")}), [("pv", 65), ("pvh", 64)])
        self.assertIn("drawn to", out)
        # What is wanted is wanted of a PVH guest's, and asked once.
        what = [t["what"] for t in made["targets"] if (t["dom0"], t["mode"]) == ("pv", "deterministic")]
        self.assertEqual(len(what), len(set(what)))
        with open(os.path.join(self.top, "out/map.md"), encoding="utf-8") as file:
            self.assertIn("### PV Dom0, PV guest, deterministic", file.read())

    def test_nothing_to_draw(self):
        logs = os.path.join(self.top, "logs")
        Made(logs, guest="pv")
        _, out, _ = self.run_it(logs)
        self.assertNotIn("drawn", out)
        self.assertFalse(os.path.exists(os.path.join(self.top, "map.svg")))

    def test_a_part_keeps_the_rest(self):
        logs, later = os.path.join(self.top, "logs"), os.path.join(self.top, "later")
        Made(logs)
        self.run_it(logs)
        Made(later, "driver-bench-map-pvh-ticks", dom0="pvh")
        status, out, _ = self.run_it(later)
        self.assertEqual(status, 0)
        self.assertIn("PV Dom0", out)
        self.assertIn("PVH Dom0", out)

    def test_contradiction_fails(self):
        logs = os.path.join(self.top, "logs")
        Made(logs).put_counts("ours", {"map": (4, 0, 0), "unmap": (3, 1, 0), "replace": (3, 1, 0)})
        status, _, err = self.run_it(logs)
        self.assertEqual(status, 1)
        self.assertIn("bench-map: map of 1024 (pv): the driver counted 3 hypercalls, Xen saw 4", err)

    def test_no_logs(self):
        with self.assertRaisesRegex(Unusable, "did a scenario run"):
            self.run_it(self.top)


class BenchModuleTest(WithFolder):
    def made(self, runs, mapped=(131072, 131072)):
        folder = os.path.join(self.top, "logs", "driver-bench-module-idle")
        os.makedirs(folder)
        lines = []
        for i, (module, seconds) in enumerate(runs):
            counted = f"mapped={i} unmapped=0 hypercalls=0 flushes=0" if module == "ours" else ""
            after = f"mapped={i + mapped[0]} unmapped={mapped[1]} hypercalls=7 flushes=1" if module == "ours" else ""
            lines += [f"pair={i // 2 + 1} module={module} seconds={seconds}", "before cpu  100 0 200 300 0 0 0 50",
                      "after cpu  300 0 700 400 0 0 0 60", f"counted_before {counted}", f"counted_after {after}"]
        self.put(folder, "runs", "\n".join(lines))
        self.put(folder, "env", "xen=4.17.7\nkernel=6.1\ndate=today\ndom0=pv\ncpu=x")
        for module, ticks in (("stock", 10240000), ("ours", 5120000)):
            rows = [{"op": op, "n": 1024, "median": ticks} for op in ("map", "unmap")]
            self.put(folder, f"map.{module}.json", json.dumps({"env": {"ticks_per_ns": 1.0}, "rows": rows}))
        return os.path.join(self.top, "logs")

    @staticmethod
    def put(folder, name, text):
        with open(os.path.join(folder, name + ".log"), "w", encoding="utf-8") as file:
            file.write(text)

    def run_it(self, logs):
        out = io.StringIO()
        os.makedirs(os.path.join(self.top, "out"), exist_ok=True)
        with contextlib.redirect_stdout(out):
            self.assertEqual(bench_module.main(logs, os.path.join(self.top, "out")), 0)
        with open(os.path.join(self.top, "out/module.json"), encoding="utf-8") as file:
            return json.load(file)["cases"][0], out.getvalue()

    def test_pairs(self):
        runs = [("stock", 30), ("ours", 25), ("stock", 33), ("ours", 30), ("stock", 36), ("ours", 24)]
        case, out = self.run_it(self.made(runs))
        self.assertEqual(case["seconds"]["stock"], {"median": 33, "min": 30, "max": 36})
        self.assertEqual(case["ratio"], 1.32)
        self.assertEqual(case["pair_ratio"], {"median": 1.2, "min": 1.1, "max": 1.5})
        self.assertEqual(case["frames_mapped"], 131072)
        # 131072 frames at 20 and at 10 us
        self.assertEqual(case["mapping_s"], {"stock": 2.62, "ours": 1.31})
        self.assertEqual(case["ratio_if_mapping_were_free"], 1.086)
        self.assertEqual(case["dom0_cpu_s"]["ours"]["system"], 5)
        self.assertIsNone(case["dom0_vcpu_s"])
        self.assertIn("1.32 times as fast (pairs: 1.10 to 1.50), wanted 1.15: reached", out)

    def test_time_of_a_processor(self):
        logs = self.made([("stock", 30), ("ours", 25)])
        self.put(os.path.join(logs, "driver-bench-module-idle"), "steps", "".join(
            f"{i}.5 {ran},9.00 {what}\n" for i, (ran, what) in enumerate([
                ("1.00", "begin"), ("10.00", "pair 1, module stock: migrate"), ("30.50", "pair 1, module stock: check"),
                ("40.00", "pair 1, module ours: migrate"), ("50.25", "pair 1, module ours: check")])))
        case, out = self.run_it(logs)
        self.assertEqual(case["dom0_vcpu_s"]["stock"]["median"], 20.5)
        self.assertEqual(case["runs"][1]["vcpu_s"], [10.25, 0])
        self.assertIn("2.00 times less", out)

    def test_below_is_shown(self):
        _, out = self.run_it(self.made([("stock", 30), ("ours", 29)]))
        self.assertIn("1.03 times as fast (pairs: 1.03 to 1.03), wanted 1.15: BELOW", out)

    def test_unusable(self):
        with self.assertRaisesRegex(Unusable, "2 migrations with the stock module and 1 with ours"):
            self.run_it(self.made([("stock", 30), ("ours", 29), ("stock", 30)]))

    def test_no_time(self):
        with self.assertRaisesRegex(Unusable, "has no time"):
            self.run_it(self.made([("stock", 30), ("ours", "")]))


class PlotTest(WithFolder):
    def test_every_line_is_there(self):
        medians = Medians(Series(Made(self.top).folder).rows)
        svg = plot.draw({"pv": medians}, "a < b")
        xml.dom.minidom.parseString(svg)
        self.assertIn("a &lt; b", svg)
        # map and unmap: four lines each; replace: three, as it is not made frame by frame.
        self.assertEqual(len(re.findall("<polyline", svg)), 11)
        self.assertNotIn("PVH", svg)

    def test_axis(self):
        axis = plot.Axis(1, 100, 10, 50)
        self.assertEqual([axis.at(n) for n in (1, 10, 100)], [10, 35, 60])
        self.assertEqual(plot.bounds([150, 4000]), (100, 5000))
        self.assertEqual([plot.amount(n) for n in (5, 2000, 5000000)], ["5", "2 k", "5 M"])


if __name__ == "__main__":
    unittest.main()
