# What one scenario of make bench-map measured and counted: a series of rows.
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import os

# How the scenario calls what it measures, and what its rows are called.
LABELS = ("stock", "ours", "per_frame")


class Unusable(Exception):
    """A figure is missing, or not what it must be: nothing can be said."""


def read(folder, name, optional=False):
    path = os.path.join(folder, name + ".log")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        if optional:
            return None
        raise Unusable(f"{path} can't be read ({error.strerror}): did the scenario pass?") from error


def read_json(folder, name):
    text = read(folder, name)
    try:
        return json.loads(text)
    except ValueError as error:
        raise Unusable(f"{folder}/{name}.log is no JSON ({error}): did the scenario pass?") from error


def read_counts(folder, label):
    """(op, n) -> {name: number}, from trace-count's lines; None where nothing was counted."""
    text = read(folder, label + ".counts", optional=True)
    if text is None:
        return None
    counts = {}
    for line in text.splitlines():
        op, n, *pairs = line.split()
        counts[op, int(n)] = {key: int(value) for key, value in (pair.split("=") for pair in pairs)}
    return counts


def contradictions(row, count):
    """Our driver counts for itself, too: what it said in the traced run and what Xen saw must agree."""
    what, calls, flushes = f"{row['op']} of {row['n']} ({row['dom0']})", row["hypercalls"], row["flushes"]
    # Of a PVH Dom0's calls the trace doesn't tell which are goings-on of interrupted ones: there may be more.
    if calls != count["calls"] and not (row["dom0"] == "pvh" and calls < count["calls"]):
        yield f"{what}: the driver counted {calls:g} hypercalls, Xen saw {count['calls']}"
    # The kernel flushes, too, when it releases page-table pages. A PVH Dom0 flushes without asking Xen.
    if row["dom0"] == "pv" and flushes > count["flushes"]:
        yield f"{what}: the driver counted {flushes:g} flushes, Xen saw {count['flushes']}"


class Series:
    """Rows of one Dom0 and one kind of guest in one mode, with where and when they were measured."""

    def __init__(self, folder):
        self.folder = folder
        self.env = dict(pair.split("=", 1) for pair in read(folder, "env").splitlines())
        self.env.setdefault("guest", "pvh")
        self.key = (self.env["dom0"], self.env["mode"], self.env["kernel"], self.env["guest"])
        self.problems = []
        self.rows = []
        for label in LABELS:
            if label != "per_frame" or os.path.exists(os.path.join(folder, "per_frame.json.log")):
                self.rows += self._label(label)
        self.rows += read_json(folder, "floor.json")["rows"]
        for row in self.rows:
            row["guest"] = self.env["guest"]

    def _label(self, label):
        measured = read_json(self.folder, label + ".json")
        counts = read_counts(self.folder, label)
        rows = measured["rows"] + read_json(self.folder, label + ".loop.json")["rows"]
        impl = "stock" if label == "stock" else "ours"
        for row in rows:
            if row["impl"] != impl:
                raise Unusable(f"a row says impl {row['impl']}, expected {impl}: was the module changed?")
            if counts is not None and row["op"] != "loop":
                self._count(row, counts, label)
        if counts is not None and impl == "ours":
            for row in read_json(self.folder, label + ".traced.json")["rows"]:
                self.problems += contradictions(row, counts[row["op"], row["n"]])
        self.env.setdefault("date", measured["env"].get("date", ""))
        self.env["ticks_per_ns"] = measured["env"]["ticks_per_ns"]
        if label == "ours":
            self.env["module"] = measured["env"]["module"]
        return [renamed(row, label) for row in rows]

    @staticmethod
    def _count(row, counts, label):
        count = counts.get((row["op"], row["n"]))
        if not count:
            raise Unusable(f"{row['op']} of {row['n']} frames was measured, but not counted ({label})")
        if row["hypercalls"] is not None:
            row["driver_hypercalls"], row["driver_flushes"] = row["hypercalls"], row["flushes"]
        row["hypercalls"], row["flushes"], row["traps"] = count["calls"], count["flushes"], count["traps"]


def renamed(row, label):
    """Mapping frame by frame is an operation of its own; replacing is not asked of it."""
    return dict(row, op="per_frame_" + row["op"]) if label == "per_frame" else row


def same_operation(row):
    return tuple(row[key] for key in ("dom0", "kernel", "guest", "impl", "op", "n"))


def fill_counts(series):
    """Where time is measured nothing is counted by trace: the same operation takes the same calls."""
    counted = {}
    for one in series:
        for row in one.rows:
            if "traps" in row:
                counted[same_operation(row)] = row
    for one in series:
        for row in one.rows:
            same = counted.get(same_operation(row))
            if same and "traps" not in row:
                row.update({key: same[key] for key in ("hypercalls", "flushes", "traps")})


def add_per_frame(row):
    frames = row["n"] * row.get("rounds", 1)
    row["ticks_a_frame"] = round(row["median"] / frames, 2)
    if row.get("hypercalls") is not None:
        row["hypercalls_a_frame"] = round(row["hypercalls"] / frames, 5)
    return row
