#!/usr/bin/env python3
# Makes a JSON file and a table of what the scenario pvh-bench-migrate measured (PVH and PV guests).
#   bench_migrate.py FOLDER OUT     FOLDER: the scenario's logs
# Exit status: 0; 1 if figures are missing, a guest found bad pages, or a ratio is below what is demanded.
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import os
import statistics
import sys

KEYS = ("total_s", "memory_s", "engine_pause_ms", "suspend_ms", "guest_pause_ms", "bytes", "rounds", "sender_cpu_s",
        "receiver_cpu_s")

# Stock's median divided by ours, at least: (case, sender, receiver) -> {key: times}.
DEMANDED = {
    ("idle-zero", "ours", "ours"): {"memory_s": 6, "engine_pause_ms": 2, "guest_pause_ms": 1},
    ("idle-random", "ours", "ours"): {"memory_s": 3, "engine_pause_ms": 2, "guest_pause_ms": 1},
    ("working-set", "ours", "ours"): {"memory_s": 3, "engine_pause_ms": 2, "guest_pause_ms": 1},
    ("heavy", "ours", "ours"): {"total_s": 2, "guest_pause_ms": 3},
    ("idle-random", "ours", "stock"): {"memory_s": 1.8, "guest_pause_ms": 1},
    ("idle-random", "stock", "ours"): {"memory_s": 1.3, "guest_pause_ms": 1},
}


class Unusable(Exception):
    pass


def read(folder, name):
    path = os.path.join(folder, name + ".log")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Unusable(f"{path} can't be read ({error.strerror}): did the scenario pass?") from error


def records(text):
    decoder, text = json.JSONDecoder(), text.strip()
    while text:
        try:
            record, end = decoder.raw_decode(text)
        except ValueError as error:
            raise Unusable(f"the scenario's records make no sense ({error})") from error
        yield record
        text = text[end:].lstrip()


def only(stats, event, side):
    found = [s for s in stats if s.get("event") == event and s.get("side") == side]
    if len(found) != 1:
        raise Unusable(f"{len(found)} lines '{event}' of the {side} side, expected 1")
    return found[0]


def row(record):
    stats = record["stats"]
    save, restore = only(stats, "end", "save"), only(stats, "end", "restore")
    suspended = only(stats, "suspended", "save")
    for side, end in (("sender", save), ("receiver", restore)):
        if end["engine"] != record[side]:
            raise Unusable(f"the {side} was {end['engine']}, expected {record[side]}")
    pause = (max(save["t"], restore["t"]) - suspended["t"]) * 1000
    return {"case": record["case"], "sender": record["sender"], "receiver": record["receiver"], "run": record["run"],
            "total_s": record["migrate_s"], "memory_s": save["memory_s"], "engine_pause_ms": round(pause, 3),
            "suspend_ms": suspended["suspend_ms"],
            "guest_pause_ms": record["guest_pause_ms"], "bytes": save["bytes"], "rounds": save["rounds"],
            "sender_cpu_s": save["cpu_s"], "receiver_cpu_s": restore["cpu_s"],
            "guest_errors": record["guest_errors"]}


def grouped(rows):
    groups = {}
    for r in rows:
        groups.setdefault((r["case"], r["sender"], r["receiver"]), []).append(r)
    return groups


def ratios(groups):
    for name, rows in groups.items():
        # Where stock has no live migration its save and restore takes that place.
        stock = groups.get((name[0], "stock", "stock")) or groups.get((name[0] + "-save", "stock", "stock"))
        if name[1:] == ("stock", "stock") or not stock:
            continue
        both = {key: (statistics.median(r[key] for r in stock), statistics.median(r[key] for r in rows))
                for key in KEYS}
        yield name, {key: round(s / o, 2) if o else None for key, (s, o) in both.items()}


def cell(rows, key):
    values = [r[key] / 1048576 if key == "bytes" else r[key] for r in rows]
    middle = statistics.median(values)
    return f"{middle:.4g} ({min(values):.4g}-{max(values):.4g})" if len(values) > 1 else f"{middle:.4g}"


def print_table(groups, refused, times):
    heads = ("total s", "memory s", "engine pause ms", "suspend ms", "guest pause ms", "MiB", "rounds", "sender CPU s",
             "receiver CPU s")
    print("| case | sender, receiver | runs | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 3) + "|")
    for name in sorted(groups, key=lambda n: (n[0], n[1:] != ("stock", "stock"), n)):
        rows = groups[name]
        print(f"| {name[0]} | {name[1]}, {name[2]} | {len(rows)} | " +
              " | ".join(cell(rows, key) for key in KEYS) + " |")
    for r in refused:
        print(f"| {r['case']} | {r['sender']}, {r['receiver']} | refused | {r['refused']} |" + " |" * (len(heads) - 1))
    print("\nstock / ours, medians; of a PV guest's live migration: stock's save and restore / ours:")
    for name, ratio in times.items():
        print(f"  {name[0]:<12} {name[1]} to {name[2]}: " + ", ".join(f"{key} {ratio[key]}" for key in KEYS))


def problems(rows, times):
    for r in rows:
        if r["guest_errors"]:
            yield f"{r['case']}, {r['sender']} to {r['receiver']}, run {r['run']}: {r['guest_errors']} bad pages"
    for name, ratio in times.items():
        for key, least in DEMANDED.get(name, {}).items():
            if ratio[key] is not None and ratio[key] < least:
                yield (f"{name[0]}, {name[1]} to {name[2]}: {key} is {ratio[key]} times less than stock's, demanded "
                       f"are {least}")


def main(folder, out):
    every = list(records(read(folder, "rows")))
    refused = [r for r in every if "refused" in r]
    rows = [row(r) for r in every if "refused" not in r]
    if not rows:
        raise Unusable("nothing was measured")
    groups = grouped(rows)
    times = dict(ratios(groups))
    env = dict(pair.split("=", 1) for pair in read(folder, "env").splitlines())
    os.makedirs(os.path.dirname(out), exist_ok=True)
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"env": env, "rows": rows, "refused": refused,
                   "ratios": [dict(zip(("case", "sender", "receiver"), name), **r) for name, r in times.items()]},
                  file, indent=1)
        file.write("\n")
    print_table(groups, refused, times)
    found = list(problems(rows, times))
    for problem in found:
        print(f"bench-migrate: {problem}", file=sys.stderr)
    print(f"written to {out}")
    return 1 if found else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2]))
    except Unusable as error:
        print(f"bench-migrate: {error}", file=sys.stderr)
        sys.exit(1)
