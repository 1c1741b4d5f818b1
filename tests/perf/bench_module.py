#!/usr/bin/env python3
# What the module alone does for whole migrations by stock xl: merges the runs of make bench-module into module.json and
# prints them as a table.
#   bench_module.py LOGS OUT     LOGS: the scenarios' logs; OUT: folder for module.json
# A case that did not run this time stands for what it said the last time, which is kept in OUT/module/.
# Exit status: 0, whatever the figures are; 1 if one is missing.
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import os
import re
import statistics
import sys

import bench_map
from series import Unusable, read, read_json

PREFIX = "driver-bench-module-"
WANTED = {"idle": 1.15, "busy": 1.2}
WORDS = {"idle": "idle, random memory", "busy": "80 % rewritten without pause"}
CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def numbers(line):
    return {key: int(value) for key, value in (pair.split("=") for pair in line.split())}


def cpu_seconds(before, after):
    """Two first lines of /proc/stat: seconds between them by kind, at 100 ticks a second."""
    took = [(int(b) - int(a)) / 100 for a, b in zip(before.split()[1:], after.split()[1:])]
    return dict(zip(CPU, took))


def read_runs(folder):
    """One dictionary a migration."""
    runs, rest = [], {}
    for line in read(folder, "runs").splitlines():
        kind, _, text = line.partition(" ")
        if kind.startswith("pair="):
            runs.append(dict(pair.split("=", 1) for pair in line.split()))
        elif kind in ("before", "counted_before"):
            rest[kind] = text
        elif kind == "after":
            runs[-1]["cpu"] = cpu_seconds(rest["before"], text)
        elif kind == "counted_after" and text.strip():
            was = numbers(rest["counted_before"])
            runs[-1]["counted"] = {key: value - was[key] for key, value in numbers(text).items()}
    for run in runs:
        if not run["seconds"]:
            raise Unusable(f"a migration of {folder} has no time: did the scenario pass?")
        run["pair"], run["seconds"] = int(run["pair"]), float(run["seconds"])
    return runs


def read_steps(folder):
    """(pair, module) -> seconds each vCPU ran during the migration, by the host; nothing of what else the host did."""
    found, began = {}, None
    for line in (read(folder, "steps", optional=True) or "").splitlines():
        _, ran, what = line.split(" ", 2)
        now = [float(x) for x in ran.split(",") if x]
        if began and len(now) == len(began[1]):
            found[began[0]] = [round(b - a, 2) for a, b in zip(began[1], now)]
        migration = re.match(r"pair (\d+), module (\w+): migrate$", what)
        began = ((int(migration[1]), migration[2]), now) if migration and now else None
    return found


def spread(values):
    return {"median": round(statistics.median(values), 3), "min": round(min(values), 3), "max": round(max(values), 3)}


def frame_us(folder, module):
    """Microseconds to map and unmap a frame, measured in the same boot at n = 1024."""
    made = read_json(folder, f"map.{module}.json")
    ticks = sum(r["median"] for r in made["rows"] if r["op"] in ("map", "unmap") and r["n"] == 1024)
    return ticks / made["env"]["ticks_per_ns"] / 1000 / 1024


class Case:
    def __init__(self, folder):
        self.name = os.path.basename(folder)[len(PREFIX):]
        self.env = dict(pair.split("=", 1) for pair in read(folder, "env").splitlines())
        self.runs = read_runs(folder)
        steps = read_steps(folder)
        for run in self.runs:
            run["vcpu_s"] = steps.get((run["pair"], run["module"]))
        self.by = {m: [r for r in self.runs if r["module"] == m] for m in ("stock", "ours")}
        pairs = list(zip(self.by["stock"], self.by["ours"]))
        if not pairs or len(self.by["stock"]) != len(self.by["ours"]):
            raise Unusable(f"{folder} has {len(self.by['stock'])} migrations with the stock module and "
                           f"{len(self.by['ours'])} with ours, expected as many of each: did the scenario pass?")
        self.pair_ratio = spread([s["seconds"] / o["seconds"] for s, o in pairs])
        self.seconds = {m: spread([r["seconds"] for r in runs]) for m, runs in self.by.items()}
        self.ratio = round(self.seconds["stock"]["median"] / self.seconds["ours"]["median"], 3)
        self.vcpu_s = self.vcpus()
        self.frame_us = {m: round(frame_us(folder, m), 3) for m in self.by}

    def vcpus(self):
        """Of Dom0's processor alone, the first: what a migration took of it, whatever else the host did."""
        if not all(r["vcpu_s"] for r in self.runs):
            return None
        return {m: spread([r["vcpu_s"][0] for r in runs]) for m, runs in self.by.items()}

    def explained(self):
        """How much of a migration the module can change at all."""
        frames = statistics.median(r["counted"]["mapped"] for r in self.by["ours"])
        mapping = {m: round(frames * us / 1e6, 2) for m, us in self.frame_us.items()}
        most = self.seconds["stock"]["median"] / (self.seconds["stock"]["median"] - mapping["stock"])
        return {"frames_mapped": frames, "mapping_s": mapping, "expected_ratio": round(
            self.seconds["stock"]["median"] / (self.seconds["stock"]["median"] - mapping["stock"] + mapping["ours"]), 3),
            "ratio_if_mapping_were_free": round(most, 3)}

    def cpu(self, module):
        runs = self.by[module]
        return {kind: round(statistics.median(r["cpu"][kind] for r in runs), 2) for kind in CPU}

    def as_json(self):
        return {"case": self.name, "env": self.env, "pairs": len(self.by["stock"]), "wanted": WANTED[self.name],
                "ratio": self.ratio, "pair_ratio": self.pair_ratio, "seconds": self.seconds, "frame_us": self.frame_us,
                "dom0_vcpu_s": self.vcpu_s, "dom0_cpu_s": {m: self.cpu(m) for m in self.by}, **self.explained(), "runs": self.runs}


def print_case(case):
    made = case.as_json()
    print(f"\n{WORDS[case.name]}; {made['pairs']} pairs in one boot, {case.env['date']}, Xen {case.env['xen']}, Linux "
          f"{case.env['kernel']}")
    print(f"{'module':<8} {'median s':>9} {'min':>8} {'max':>8}   Dom0's CPU, s: {'user':>6} {'system':>7} {'steal':>6} "
          f"{'idle':>6}   {'map+unmap, us a frame':>22} {'in all, s':>10}")
    for module, s in case.seconds.items():
        cpu = made["dom0_cpu_s"][module]
        print(f"{module:<8} {s['median']:>9.2f} {s['min']:>8.2f} {s['max']:>8.2f}   {'':>14} {cpu['user']:>6.2f} "
              f"{cpu['system']:>7.2f} {cpu['steal']:>6.2f} {cpu['idle']:>6.2f}   {case.frame_us[module]:>22.2f} "
              f"{made['mapping_s'][module]:>10.2f}")
    verdict = "reached" if case.ratio >= made["wanted"] else "BELOW"
    print(f"medians: {case.ratio:.2f} times as fast (pairs: {case.pair_ratio['min']:.2f} to {case.pair_ratio['max']:.2f}), "
          f"wanted {made['wanted']}: {verdict}")
    if case.vcpu_s:
        stock, ours = case.vcpu_s["stock"], case.vcpu_s["ours"]
        print(f"Dom0's processor ran {stock['median']:.1f} s ({stock['min']:.1f} to {stock['max']:.1f}) of it with stock, "
              f"{ours['median']:.1f} s ({ours['min']:.1f} to {ours['max']:.1f}) with ours, by the host's clock for it: "
              f"{stock['median'] / ours['median']:.2f} times less")
    print(f"{made['frames_mapped']:.0f} frames were mapped and unmapped: by their cost alone {made['expected_ratio']:.2f} "
          f"times is expected, and {made['ratio_if_mapping_were_free']:.2f} if they cost nothing")


def main(logs, out):
    cases = [Case(folder) for folder in bench_map.collect(logs, os.path.join(out, "module"), PREFIX)]
    path = os.path.join(out, "module.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"env": bench_map.host(), "cases": [case.as_json() for case in cases]}, file, indent=1)
        file.write("\n")
    for case in cases:
        print_case(case)
    print(f"written to {path}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except Unusable as error:
        print(f"bench-module: {error}", file=sys.stderr)
        sys.exit(1)
