#!/usr/bin/env python3
# make demo: one boot, one guest, two migrations; a report for a person and build/demo/report.json.
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import os
import subprocess
import sys

from paths import BUILD, LAB, OUT, TOP

RESULT = "demo-result.json"
ENGINES = ("ours", "stock")


def last(stats, **wanted):
    """The last line of the statistics that has these values."""
    lines = [s for s in stats if all(s.get(k) == v for k, v in wanted.items())]
    if not lines:
        raise ValueError("the statistics have no line with " + ", ".join(f"{k}={v}" for k, v in wanted.items()))
    return lines[-1]


def engine_figures(engine, figures, stats):
    """From the same observer for both engines (docs/statistics.md)."""
    end = last(stats, event="end", side="save", engine=engine)
    suspended = last(stats, event="suspended", side="save", engine=engine)
    arrived = last(stats, event="end", side="restore", engine=engine)
    if end["result"] or arrived["result"]:
        raise ValueError(f"the {engine} engine reports result {end['result']} and {arrived['result']}")
    return {"total_s": end["total_s"], "memory_s": end["memory_s"],
            "engine_pause_ms": round((arrived["t"] - suspended["t"]) * 1000 + suspended["suspend_ms"], 1),
            "guest_pause_ms": figures[engine + ".guest_pause_ms"], "bytes": end["bytes"], "rounds": end["rounds"],
            "xl_migrate_s": figures[engine + ".xl_migrate_s"], "pause": end.get("pause"),
            "guest_checked": figures[engine + ".guest_checked"], "guest_errors": figures[engine + ".guest_errors"]}


def report(scenario):
    figures = scenario["figures"]
    with open(os.path.join(TOP, "VERSION"), encoding="ascii") as file:
        version = file.read().strip()
    out = {"xen": figures.get("xen"), "dom0_kernel": figures.get("dom0_kernel"),
           "module": {"name": "xen-privcmd", "ours": str(figures.get("module_version")) == version,
                      "version": figures.get("module_version")},
           "guest": {"type": "pvh", "memory_mib": figures.get("guest_mib"), "dirty_mib": figures.get("dirty_mib"),
                     "dirty_mib_s": figures.get("dirty_rate")},
           "migrated": scenario["verdict"] == "pass", "triple_fault_retries": scenario["tries"] - 1}
    if scenario["verdict"] != "pass":
        out["failed_step"], out["message"] = scenario["step"], scenario["message"]
        return out
    if not out["module"]["ours"]:
        raise ValueError(f"the module loaded is version {figures.get('module_version')}, expected {version}")
    for engine in ENGINES:
        out[engine if engine == "stock" else "engine"] = engine_figures(engine, figures, scenario["stats"])
    out["guest_checked"] = {"pages": out["engine"]["guest_checked"], "errors": out["engine"]["guest_errors"]}
    return out


def show(out):
    guest, module = out["guest"], out["module"]
    print(f"""
A {guest['memory_mib']} MiB PVH guest, rewriting {guest['dirty_mib']} MiB at {guest['dirty_mib_s']} MiB/s, was moved \
twice with xl migrate
(Xen {out['xen']}, Dom0 Linux {out['dom0_kernel']}, module xen-privcmd {module['version']} of xenferry, emulated CPUs).
After each arrival it checked its {out['guest_checked']['pages']} pages: {out['guest_checked']['errors']} bad.
""")
    rows = (("xl migrate, s", "xl_migrate_s"), ("engine, s", "total_s"), ("  memory, s", "memory_s"),
            ("pause as the engine sees it, ms", "engine_pause_ms"), ("pause as the guest sees it, ms", "guest_pause_ms"),
            ("MiB sent", "bytes"), ("rounds", "rounds"))
    print(f"{'':34}{'xenferry':>12}{'stock':>12}")
    for title, key in rows:
        values = [out[e][key] / 1048576 if key == "bytes" else out[e][key] for e in ("engine", "stock")]
        print(f"{title:34}" + "".join(f"{v:12.1f}" if isinstance(v, float) else f"{v:12}" for v in values))


def main():
    folder = os.path.join(BUILD, "demo")
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, "report.json")
    for stale in (target, os.path.join(OUT, RESULT)):
        if os.path.exists(stale):
            os.unlink(stale)
    status = subprocess.call([sys.executable, "-B", os.path.join(LAB, "runner/lab.py"), "--result", RESULT,
                              "--scenarios", os.path.join(LAB, "demo")])
    if status not in (0, 1):
        return status
    with open(os.path.join(OUT, RESULT), encoding="utf-8") as file:
        scenario = json.load(file)["scenarios"][0]
    try:
        out = report(scenario)
    except (ValueError, KeyError, TypeError) as error:
        print(f"demo: the figures are incomplete: {error}", file=sys.stderr)
        return 1
    with open(target, "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
        file.write("\n")
    if not out["migrated"]:
        print(f"\ndemo: failed at step '{out['failed_step'] or 'start'}': {out['message']}", file=sys.stderr)
        return 1
    show(out)
    print(f"\nreport: {os.path.relpath(target)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
