# The same tables for docs/benchmarks.md: what is quoted there is pasted, not typed.
# SPDX-License-Identifier: LGPL-2.1-or-later

HEAD = ("frames", "operation", "a hypercall a frame", "stock", "ours", "floor", "stock / ours", "ours / floor", "hypercalls",
        "flushes", "traps")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def ticks(value):
    """Six digits at most: more says nothing."""
    if value is None:
        return ""
    for size, unit in ((10 ** 9, " G"), (10 ** 6, " M")):
        if value >= size:
            return f"{value / size:.3f}{unit}"
    return f"{value / 1000:.1f} k"


def ratio(value):
    return "" if value is None else f"{value:.2f}"


def map_row(medians, found, calls, op, n):
    return (str(n), {"unmap": "munmap"}.get(op, op), ticks(medians.get("ours", "per_frame_" + op, n)),
            ticks(medians.stock(op, n)), ticks(medians.get("ours", op, n)), ticks(medians.floor(op, n)),
            ratio(found.get(op)), ratio(found.get("floor_" + op)), *calls)


def targets_table(wanted):
    rows = []
    for t in wanted:
        sign = "≥" if t["sense"] == "least" else "≤"
        seen = "not measured" if t["seen"] is None else f"{t['seen']:.2f}" if isinstance(t["seen"], float) else str(t["seen"])
        rows.append((t["dom0"].upper(), t["mode"], str(t["n"]), t["what"], f"{sign} {t['wanted']:g}", seen,
                     {"reached": "yes", "BELOW": "**no**"}.get(t["verdict"], "")))
    return table(("Dom0", "mode", "frames", "figure", "wanted", "seen", "reached"), rows)
