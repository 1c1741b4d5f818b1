#!/usr/bin/env python3
# Runs scenarios in Xen under QEMU and says how many passed. See tests/lab/README.md.
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import fcntl
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import traceback

import jobs
from boot import command
from crew import Crew
from image import BASE_KERNEL, Image
from parts import parts
from paths import LAB, OUT
from progress import Progress
from result import Result
from scenario import CHOICES, DEFAULTS, ScenarioError, load
from session import Session, job_settings

TRIES = 3       # a triple fault is the emulator's: once, and twice again at most
BOOT_TRIES = 2


def run_part(image, part, progress, numbers, stop):
    """Boots until each has its verdict. After a fault the rest goes on in a fresh boot."""
    waiting, empty_boots = list(part), 0
    while waiting:
        session = Session(image, waiting, next(numbers), progress, stop)
        progress.boot(session.settings, [r.scenario for r in waiting])
        session.run()
        if session.failure:
            progress.say(f"             boot: {session.failure} (see {os.path.relpath(session.folder)})")
        if not any(r.verdict or r.triple_faults for r in waiting):
            empty_boots += 1
        elif session.failure and waiting[-1].verdict == "pass":
            waiting[-1].fail(session.failure, "boot")
        if empty_boots == BOOT_TRIES:
            for result in waiting:
                result.fail(session.failure or "the boot ended before the scenario's turn", "boot")
        waiting = [r for r in waiting if goes_on(r, progress)]


def by_itself(part, at_once):
    """Asked for; or it has more CPUs than there are boots for the machine's, and a guest on half of one stands still."""
    settings = part[0].scenario.settings
    return settings["alone"] == "yes" or int(settings["cpus"]) > at_once


def run_parts(image, results, progress, at_once):
    """Returns how many parts the lab itself could not run to their end."""
    broken, numbers = [], itertools.count(1)

    def failed(part, error):
        broken.append(part)
        progress.say("".join(traceback.format_exception(error)).rstrip())
        for result in part:
            if result.verdict is None:
                result.fail(f"the lab could not run it: {type(error).__name__}: {error}")

    todo = parts(results, at_once)
    last = [part for part in todo if by_itself(part, at_once)]
    for share, jobs_of_it in (([part for part in todo if part not in last], at_once), (last, 1)):
        Crew(lambda part, stop: run_part(image, part, progress, numbers, stop), failed).run(share, jobs_of_it)
    return len(broken)


def goes_on(result, progress):
    """Must it be run (again)?"""
    if not result.triple_faults:
        return result.verdict is None
    if result.tries < TRIES:
        progress.again()
        fresh(result)
        return True
    result.verdict = None
    result.fail(f"no verdict in {TRIES} tries: the emulator triple-faulted a guest each time")
    return False


def fresh(result):
    """For another try: nothing of the last one must be taken for its outcome."""
    result.earlier_triple_faults += result.triple_faults
    result.verdict = None
    result.figures, result.stats, result.logs, result.details = {}, [], {}, []
    result.triple_faults, result.step, result.message = 0, "", ""


def alone():
    """Two runs in one build directory would take each other's files: the second waits."""
    lock = open(os.path.join(OUT, ".lock"), "w", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"another run of the lab uses {os.path.relpath(OUT)}; waiting for its end", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def chosen(options):
    scenarios = load(options.scenarios, options.only)
    if not scenarios:
        raise ScenarioError(f"no scenario's name matches '{options.only}'; they are in {options.scenarios}")
    return scenarios


def run(options):
    scenarios = chosen(options)
    image = Image(s.settings["kernel"] for s in scenarios)
    image.overlay(options.scenarios)
    results = [Result(s) for s in scenarios]
    for result in results:
        kernel = result.scenario.settings["kernel"]
        reasons = [m for m in (image.missing(need, kernel) for need in result.scenario.needs) if m]
        if reasons:
            result.verdict, result.message = "skip", "; ".join(reasons)
    wanted = [r for r in results if r.verdict != "skip"]
    progress = Progress(len(wanted))
    shutil.rmtree(os.path.join(OUT, "boots"), ignore_errors=True)
    shutil.rmtree(os.path.join(OUT, "logs"), ignore_errors=True)
    broken = run_parts(image, wanted, progress, options.jobs)
    status = finish(results, progress, options)
    return 2 if broken else status


def finish(results, progress, options):
    for result in results:
        result.write_logs(os.path.join(OUT, "logs"))
    for result in results:
        if result.verdict == "skip":
            progress.say(f"        skip  {result.scenario.name}: {result.message}")
    failed = [r for r in results if r.verdict == "fail"]
    for result in failed:
        progress.say(f"\nFAIL  {result.scenario.name}, step '{result.step}': {result.message}")
        for line in result.details:
            progress.say(f"      {line}")
        progress.tail(result)
    counts = {v: sum(r.verdict == v for r in results) for v in ("pass", "fail", "skip")}
    triple = sum(r.earlier_triple_faults + r.triple_faults for r in results)
    with open(os.path.join(OUT, options.result), "w", encoding="utf-8") as file:
        json.dump({"passed": counts["pass"], "failed": counts["fail"], "skipped": counts["skip"],
                   "triple_faults": triple, "scenarios": [r.as_json() for r in results]}, file, indent=1)
    if triple:
        progress.say(f"the emulator triple-faulted guests {triple} times; those tries count as no verdict")
    skipped = f", {counts['skip']} skipped" if counts["skip"] else ""
    print(f"{counts['pass']} passed, {counts['fail']} failed{skipped}", flush=True)
    return 1 if counts["fail"] or not counts["pass"] + counts["skip"] else 0


def shell_settings(options):
    settings = dict(DEFAULTS)
    for pair in options.settings:
        key, _, value = pair.partition("=")
        if key not in settings:
            raise ScenarioError(f"unknown setting '{key}'; known are {', '.join(DEFAULTS)}")
        if value not in CHOICES.get(key, (value,)):
            raise ScenarioError(f"{key}={value}, but {key} is one of {', '.join(CHOICES[key])}")
        settings[key] = value
    return settings


def shell(options):
    """An interactive Dom0 on this terminal."""
    settings = shell_settings(options)
    image = Image([settings["kernel"]])
    image.overlay()
    folder = os.path.join(OUT, "shell")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    initrd = image.initrd(folder, job_settings(settings, True), [], True, settings["kernel"])
    print("the lab's Dom0 comes up in a quarter of a minute; 'exit' ends it, and so does Ctrl-A X", flush=True)
    return subprocess.call(command(settings, image.xen(), image.kernels[settings["kernel"]].vmlinuz, initrd, folder,
                                   True))


def print_kernels(options):
    """Of the kernels besides the base's, those that what was chosen asks for: make builds the module for them."""
    if options.shell:
        kernels = {shell_settings(options)["kernel"]}
    else:
        kernels = {s.settings["kernel"] for s in chosen(options)}
    print(" ".join(sorted(kernels - {BASE_KERNEL})))
    return 0


def end(number, _frame):
    """QEMU must not be left behind: as an exception the signal passes the places that stop it. A second one must not
    keep them from it."""
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    parser = argparse.ArgumentParser(description="Runs the lab's scenarios: Xen in QEMU.")
    parser.add_argument("--only", default="", help="names to run: parts of them, or patterns with * and ?")
    parser.add_argument("--scenarios", default=os.path.join(LAB, "scenarios"), help="folder of scenario files")
    parser.add_argument("--result", default="result.json", help="name of the JSON result below build/lab/")
    parser.add_argument("--jobs", type=jobs.argument, default=1, metavar="N", help="boots at a time (1); auto: as many as "
                        f"there are CPUs and {jobs.MEMORY >> 30} GiB of free memory for each, at most {jobs.MOST}")
    parser.add_argument("--shell", action="store_true", help="an interactive Dom0 instead")
    parser.add_argument("--kernels", action="store_true", help="only say which kernels would be needed")
    parser.add_argument("settings", nargs="*", help="for --shell: dom0=pvh, module=ours, cpus=N, ...")
    options = parser.parse_args()
    os.makedirs(OUT, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, end)
    lock = None
    try:
        if options.kernels:
            return print_kernels(options)
        lock = alone()  # held until the program ends
        return shell(options) if options.shell else run(options)
    except ScenarioError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"lab: '{error.cmd[0]}' ended with exit status {error.returncode}", file=sys.stderr)
        return 2
    finally:
        if lock:
            lock.close()


if __name__ == "__main__":
    sys.exit(main())
