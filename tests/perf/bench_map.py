#!/usr/bin/env python3
# Merges what the scenarios of make bench-map measured and counted into map.json, prints it as tables, and draws it.
#   bench_map.py LOGS OUT [SVG]     LOGS: the scenarios' logs; OUT: folder for map.json; SVG: the picture's file
# A scenario that did not run this time stands for what it said the last time, which is kept in OUT/map/.
# Exit status: 0, whatever the figures are; 1 if one is missing or the counts contradict each other.
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import json
import os
import shutil
import subprocess
import sys

from markdown import HEAD, map_row, table, targets_table
from plot import draw
from ratios import KEY, Medians, ratios
from series import Series, Unusable, add_per_frame, fill_counts
from targets import print_targets, targets

PREFIX = "driver-bench-map"
KEYS = ("hypercalls", "flushes", "traps")


def collect(logs, kept, prefix=PREFIX):
    """The logs of this run take the place of the last one's, scenario by scenario."""
    for folder in sorted(glob.glob(os.path.join(logs, prefix + "*"))):
        target = os.path.join(kept, os.path.basename(folder))
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
    found = sorted(glob.glob(os.path.join(kept, prefix + "*")))
    if not found:
        raise Unusable(f"{logs} has no logs of {prefix}*: did a scenario run?")
    return found


def host():
    """The machine below the lab."""
    found = {"qemu": "", "host_cpu": ""}
    try:
        line = subprocess.run(["qemu-system-x86_64", "--version"], text=True, capture_output=True, check=True).stdout
        found["qemu"] = line.splitlines()[0].replace("QEMU emulator version ", "")
    except (OSError, subprocess.CalledProcessError, IndexError):
        pass
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        found["host_cpu"] = f"{len(names)} x {names[0]}" if names else ""
    except OSError:
        pass
    return found


def cell(value):
    return "-" if value is None else f"{value:.2f}" if isinstance(value, float) and value % 1 else str(int(value))


def calls_of(find, op, n):
    """hypercalls, flushes, traps: stock>ours. Stock's replace is unmap and map."""
    parts = [find.get(("stock", o, n), {}) for o in ((op,) if op != "replace" else ("unmap", "map"))]
    for key in KEYS:
        before = [part.get(key) for part in parts]
        yield f"{'-' if None in before else sum(before)}>{cell(find['ours', op, n].get(key))}"


def lines_of(rows, found):
    """(op, n, ratios, counts, our samples), a line of a table each."""
    find = {(r["impl"], r.get("of", r["op"]), r["n"]): r for r in rows}
    for one in found:
        for op in ("map", "unmap", "replace"):
            if ("ours", op, one["n"]) in find:
                yield op, one["n"], one, list(calls_of(find, op, one["n"])), find["ours", op, one["n"]]["samples"]


def print_series(one, found):
    dom0, mode, kernel, guest = one.key
    medians = Medians(one.rows)
    unit = "ticks (2 an instruction)" if mode == "deterministic" else f"ticks ({float(one.env['ticks_per_ns']):.2f} a ns)"
    print(f"\n{dom0.upper()} Dom0, {guest.upper()} guest, {mode}, Linux {kernel}, Xen {one.env['xen']}, "
          f"{one.env['dom0_vcpus']} CPU, measured {one.env['date']}; medians in {unit}")
    print(f"{'frames':>7} {'op':<8} {'per frame':>12} {'stock':>12} {'ours':>12} {'floor':>12} {'gain':>7} {'/floor':>7}  "
          f"{'hypercalls':>12} {'flushes':>8} {'traps':>8}  samples of ours")
    for op, n, ratio, calls, samples in lines_of(one.rows, found):
        print(f"{n:>7} {op:<8} {cell(medians.get('ours', 'per_frame_' + op, n)):>12} {cell(medians.stock(op, n)):>12} "
              f"{cell(medians.get('ours', op, n)):>12} {cell(medians.floor(op, n)):>12} "
              f"{cell(ratio.get(op)):>7} {cell(ratio.get('floor_' + op)):>7}  {calls[0]:>12} {calls[1]:>8} {calls[2]:>8}"
              f"  {samples:>3}")
    for line in loops(one):
        print("   loop: " + line)


def loops(one):
    for row in one.rows:
        if row["op"] in ("loop", "per_frame_loop"):
            name = "a hypercall a frame" if row["op"] != "loop" else row["impl"]
            yield (f"{row['rounds']} times map and unmap of {row['n']} frames, {name}: "
                   f"{row['median'] / float(one.env['ticks_per_ns']) / 1e9:.3f} s")


def of_series(times, one):
    return [r for r in times if tuple(r[key] for key in KEY) == one.key]


def markdown(every, times, wanted):
    """What docs/benchmarks.md quotes."""
    parts = []
    for one in every:
        dom0, mode, kernel, guest = one.key
        medians, found = Medians(one.rows), of_series(times, one)
        of = "" if guest == "pvh" else f", {guest.upper()} guest"
        parts.append(f"### {dom0.upper()} Dom0{of}, {mode}, Linux {kernel}, {one.env['dom0_vcpus']} CPU\n")
        parts.append(table(HEAD, [map_row(medians, ratio, [c.replace(">", " > ") for c in calls], op, n)
                                  for op, n, ratio, calls, _ in lines_of(one.rows, found)]))
        parts += ["- " + line for line in loops(one)] + [""]
    return "\n".join(parts + [targets_table(wanted)])


def main(logs, out, svg=None):
    every = [Series(folder) for folder in collect(logs, os.path.join(out, "map"))]
    fill_counts(every)
    rows = [add_per_frame(row) for one in every for row in one.rows]
    times = list(ratios(every))
    wanted = targets(times, rows)
    env = dict(host(), counted_by="xentrace (events of the hypervisor, a run of its own)",
               series=[dict(one.env) for one in every])
    path = os.path.join(out, "map.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"env": env, "rows": rows, "ratios": times, "targets": wanted}, file, indent=1)
        file.write("\n")
    with open(os.path.join(out, "map.md"), "w", encoding="utf-8") as file:
        file.write(markdown(every, times, wanted))
    for one in every:
        print_series(one, of_series(times, one))
    print("\nper frame: a hypercall and a flush a frame; gain: stock / ours (replace: stock's unmap and map); /floor: ours /\n"
          "the floor, with one flush for unmap and replace in a PV Dom0; hypercalls, flushes, traps: stock>ours, an operation")
    print_targets(wanted)
    if svg and picture(every, svg):
        print(f"drawn to {svg}")
    problems = [problem for one in every for problem in one.problems]
    for problem in problems:
        print(f"bench-map: {problem}", file=sys.stderr)
    print(f"written to {path}")
    return 1 if problems else 0


def picture(every, svg):
    """The first kernel of each Dom0 with a PVH guest, in instructions."""
    chosen = {}
    for one in every:
        if one.env["mode"] == "deterministic" and one.env["guest"] == "pvh" and one.key[0] not in chosen:
            chosen[one.key[0]] = one
    if not chosen:
        return False
    one = next(iter(chosen.values()))
    title = f"What mapping scattered frames of a guest costs: Xen {one.env['xen']}, Linux {one.env['kernel']}; 2 ticks an instruction"
    with open(svg, "w", encoding="utf-8") as file:
        file.write(draw({dom0: Medians(one.rows) for dom0, one in chosen.items()}, title))
    return True


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except Unusable as error:
        print(f"bench-map: {error}", file=sys.stderr)
        sys.exit(1)
