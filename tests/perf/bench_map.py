#!/usr/bin/env python3
# Merges what the scenario driver-bench-map measured and counted into one JSON file, and prints it as a table.
#   bench_map.py FOLDER OUT     FOLDER: the scenario's logs
# Exit status: 0; 1 if a figure is missing, the counts contradict each other, or a ratio is below what is demanded.
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import os
import sys

# At n = 1024: how many times cheaper than stock.
DEMANDED = {"unmap": 3.0, "replace": 2.5}


class Unusable(Exception):
    pass


def read(folder, name):
    path = os.path.join(folder, name + ".log")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Unusable(f"{path} can't be read ({error.strerror}): did the scenario pass?") from error


def read_counts(folder, impl):
    """(op, n) -> {name: number}, from trace-count's lines."""
    counts = {}
    for line in read(folder, impl + ".counts").splitlines():
        op, n, *pairs = line.split()
        counts[op, int(n)] = {key: int(value) for key, value in (pair.split("=") for pair in pairs)}
    return counts


def contradictions(row, count):
    """Our driver counts for itself, too: what it said in the traced run and what Xen saw must be the same."""
    if row["hypercalls"] != count["calls"]:
        yield f"{row['op']} of {row['n']}: the driver counted {row['hypercalls']:g} hypercalls, Xen saw {count['calls']}"
    # The kernel flushes, too, when it releases page-table pages.
    if row["flushes"] > count["flushes"]:
        yield f"{row['op']} of {row['n']}: the driver counted {row['flushes']:g} flushes, Xen saw {count['flushes']}"


def load(folder, impl):
    measured = json.loads(read(folder, impl + ".json"))
    counts = read_counts(folder, impl)
    problems = []
    for row in json.loads(read(folder, impl + ".traced.json"))["rows"]:
        if impl == "ours":
            problems += contradictions(row, counts[row["op"], row["n"]])
    for row in measured["rows"]:
        if row["impl"] != impl:
            raise Unusable(f"a row says impl {row['impl']}, expected {impl}: was the module changed?")
        count = counts.get((row["op"], row["n"]))
        if not count:
            raise Unusable(f"{row['op']} of {row['n']} frames was measured, but not counted ({impl})")
        row["hypercalls"], row["flushes"], row["traps"] = count["calls"], count["flushes"], count["traps"]
    return measured["env"], measured["rows"], problems


def ratios(rows):
    median = {(r["impl"], r["op"], r["n"]): r["median"] for r in rows}
    for n in sorted({r["n"] for r in rows}):
        stock_map, stock_unmap = median["stock", "map", n], median["stock", "unmap", n]
        yield {"n": n,
               "map": round(stock_map / median["ours", "map", n], 3),
               "unmap": round(stock_unmap / median["ours", "unmap", n], 3),
               "map_and_unmap": round((stock_map + stock_unmap) /
                                      (median["ours", "map", n] + median["ours", "unmap", n]), 3),
               "replace": round((stock_map + stock_unmap) / median["ours", "replace", n], 3)}


def print_table(rows, times):
    print(f"{'frames':>7} {'op':<8} {'stock':>12} {'ours':>12} {'ratio':>7}   "
          f"{'hypercalls':>13} {'flushes':>11} {'traps':>11}")
    find = {(r["impl"], r["op"], r["n"]): r for r in rows}
    for ratio in times:
        n = ratio["n"]
        for op in ("map", "unmap", "replace"):
            stock, ours = find.get(("stock", op, n)), find["ours", op, n]
            # Stock can't replace: it unmaps and maps.
            parts = [stock] if stock else [find["stock", "map", n], find["stock", "unmap", n]]
            both = [f"{sum(p[key] for p in parts)} > {ours[key]}" for key in ("hypercalls", "flushes", "traps")]
            print(f"{n:>7} {op:<8} {sum(p['median'] for p in parts):>12} {ours['median']:>12} {ratio[op]:>7.2f}   "
                  f"{both[0]:>13} {both[1]:>11} {both[2]:>11}")
    print("\nticks of rdtsc, medians; stock's figure for replace is its map and unmap; hypercalls, flushes and trapped\n"
          "page-table writes an operation, stock > ours, as Xen's trace has them")


def below(times):
    for ratio in times:
        if ratio["n"] != 1024:
            continue
        for op, least in DEMANDED.items():
            if ratio[op] < least:
                yield f"{op} of 1024 frames is {ratio[op]} times cheaper than stock, demanded are {least}"


def main(folder, out):
    stock_env, stock_rows, _ = load(folder, "stock")
    ours_env, ours_rows, problems = load(folder, "ours")
    env = dict(pair.split("=", 1) for pair in read(folder, "env").splitlines())
    env.update(stock_env, module=ours_env["module"],
               counted_by="xentrace (events of the hypervisor, a run of its own)")
    rows = stock_rows + ours_rows
    times = list(ratios(rows))
    os.makedirs(os.path.dirname(out), exist_ok=True)
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"env": env, "rows": rows, "ratios": times}, file, indent=1)
        file.write("\n")
    print_table(rows, times)
    problems += below(times)
    for problem in problems:
        print(f"bench-map: {problem}", file=sys.stderr)
    print(f"written to {out}")
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2]))
    except Unusable as error:
        print(f"bench-map: {error}", file=sys.stderr)
        sys.exit(1)
