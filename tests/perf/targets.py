# What the figures are wanted to be, and what was seen.
# SPDX-License-Identifier: LGPL-2.1-or-later

# Of a PVH guest's frames: Dom0, mode, n, ratio, at least or at most, wanted, in words
WANTED = [
    ("pv", "deterministic", 1024, "unmap", "least", 4.0, "munmap, times cheaper than stock"),
    ("pv", "deterministic", 1024, "map", "least", 1.0, "map, times cheaper than stock"),
    ("pv", "deterministic", 1024, "floor_map", "most", 1.10, "map, of the floor"),
    ("pv", "deterministic", 1024, "floor_unmap", "most", 1.10, "munmap, of the floor with its flush"),
    ("pv", "deterministic", 1024, "floor_replace", "most", 1.10, "replace, of the floor with its flush"),
    ("pv", "deterministic", 1024, "replace", "least", 2.8, "replace, against stock's munmap and map"),
    ("pv", "wall", 1024, "map_and_unmap", "least", 3.0, "map and munmap"),
    ("pv", "wall", 1024, "replace", "least", 4.0, "replace, against stock's munmap and map"),
    ("pv", "wall", 1024, "loop", "least", 4.3, "loop of map and munmap as a whole"),
    ("pv", "deterministic", 1, "map_and_unmap", "least", 1.0, "map and munmap of one frame"),
    ("pv", "wall", 1024, "per_frame_map", "least", 7.0, "map, against a hypercall and a flush a frame"),
    ("pv", "wall", 1024, "per_frame_unmap", "least", 7.0, "munmap, against a hypercall and a flush a frame"),
    ("pvh", "deterministic", 1024, "floor_map", "most", 1.15, "map, of the floor"),
    ("pvh", "deterministic", 1024, "floor_unmap", "most", 1.15, "munmap, of the floor"),
    ("pvh", "deterministic", 1024, "map", "least", 1.6, "map, times cheaper than stock"),
    ("pvh", "deterministic", 1024, "unmap", "least", 1.0, "munmap, times cheaper than stock"),
]
# op, most hypercalls with flushes that our driver makes in a PV Dom0 for 1024 frames (the kernel makes a flush of its
# own for each page-table page it releases, whatever the driver)
WANTED_CALLS = [("map", 3), ("unmap", 4)]


def judge(seen, sense, wanted):
    if seen is None:
        return "not measured"
    return "reached" if (seen >= wanted if sense == "least" else seen <= wanted) else "BELOW"


def ratio_targets(ratios):
    find = {(r["dom0"], r["mode"], r["n"], r["kernel"]): r for r in ratios if r["guest"] == "pvh"}
    for dom0, mode, n, key, sense, wanted, words in WANTED:
        for kernel in sorted({k for d, m, size, k in find if (d, m, size) == (dom0, mode, n)}) or [None]:
            seen = find.get((dom0, mode, n, kernel), {}).get(key)
            yield {"dom0": dom0, "mode": mode, "n": n, "kernel": kernel, "what": words, "sense": sense,
                   "wanted": wanted, "seen": seen, "verdict": judge(seen, sense, wanted)}


def call_targets(rows):
    for op, most in WANTED_CALLS:
        for row in rows:
            if tuple(row[key] for key in ("dom0", "mode", "guest", "impl", "op", "n")) != (
                    "pv", "deterministic", "pvh", "ours", op, 1024):
                continue
            seen = row["driver_hypercalls"] + row["driver_flushes"]
            yield {"dom0": "pv", "mode": "deterministic", "n": 1024, "kernel": row["kernel"], "sense": "most",
                   "what": f"hypercalls of the driver to {op}, flushes included", "wanted": most, "seen": seen,
                   "verdict": judge(seen, "most", most)}


def targets(ratios, rows):
    return list(ratio_targets(ratios)) + list(call_targets(rows))


def print_targets(found):
    print(f"\n{'Dom0':<5} {'mode':<14} {'frames':>6}  {'figure':<50} {'wanted':>8} {'seen':>8}")
    for t in found:
        wanted = f"{'>=' if t['sense'] == 'least' else '<='} {t['wanted']:g}"
        seen = "-" if t["seen"] is None else f"{t['seen']:.3f}" if isinstance(t["seen"], float) else str(t["seen"])
        print(f"{t['dom0']:<5} {t['mode']:<14} {t['n']:>6}  {t['what']:<50} {wanted:>8} {seen:>8}  {t['verdict']}")
