# What the rows say together: ratios to stock and to the floor.
# SPDX-License-Identifier: LGPL-2.1-or-later

KEY = ("dom0", "mode", "kernel", "guest")


class Medians:
    """Medians of one series by implementation, operation and number of frames; None where there is none."""

    def __init__(self, rows):
        self.of = {}
        for row in rows:
            self.of[row["impl"], row.get("of", row["op"]), row["n"]] = row["median"]

    def sizes(self):
        return sorted({n for _, _, n in self.of})

    def get(self, impl, op, n):
        return self.of.get((impl, op, n))

    def stock(self, op, n):
        """Stock can't replace: it unmaps and maps."""
        return self.get("stock", op, n) if op != "replace" else self.both("stock", n)

    def both(self, impl, n):
        return add(self.get(impl, "map", n), self.get(impl, "unmap", n))

    def floor(self, op, n):
        """Bare hypercalls, and the one flush that unmap and replace can't do without in a PV Dom0."""
        bare = self.get("floor", op, n)
        if op == "unmap":
            bare = least(bare, self.get("floor", "unmap_multicall", n))
        return bare if op == "map" or bare is None else bare + (self.get("floor", "flush", n) or 0)


def add(one, other):
    return None if one is None or other is None else one + other


def least(one, other):
    return min((x for x in (one, other) if x is not None), default=None)


def divided(one, other):
    return round(one / other, 3) if one is not None and other else None


def of_size(medians, n):
    ours = {op: medians.get("ours", op, n) for op in ("map", "unmap", "replace", "loop")}
    found = {op: divided(medians.stock(op, n), ours[op]) for op in ours}
    found["map_and_unmap"] = divided(medians.both("stock", n), medians.both("ours", n))
    for op in ("map", "unmap", "replace"):
        found["floor_" + op] = divided(ours[op], medians.floor(op, n))
    for op in ("map", "unmap"):
        found["per_frame_" + op] = divided(medians.get("ours", "per_frame_" + op, n), ours[op])
    return {key: value for key, value in found.items() if value is not None}


def ratios(series):
    """For each series and size: stock or frame by frame divided by ours; floor_*: ours divided by the floor."""
    for one in series:
        medians = Medians(one.rows)
        for n in medians.sizes():
            yield {**dict(zip(KEY, one.key)), "n": n, **of_size(medians, n)}
