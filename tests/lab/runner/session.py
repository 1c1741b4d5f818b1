# One boot and the scenarios in it, watched from the host.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import shutil
import time

from boot import Boot, command, guest_cpus
from channel import Channel
from crew import Stopped
from cputime import vcpu_seconds
from faults import fault_lines, triple_faults
from paths import OUT
from scenario import PATIENCE

# Until Dom0 is ready; what a scenario may take on top of its limit (clean-up, comparison, logs); how long Dom0, which
# sends a beat every 5 s, may say nothing at all. Where instructions are counted, Dom0's seconds are longer than ours.
READY_SECONDS = {("pv", "wall"): 240, ("pv", "deterministic"): 400, ("pvh", "wall"): 400,
                 ("pvh", "deterministic"): 900}
SLACK_SECONDS = int(os.environ.get("LAB_SLACK", "120"))
SILENCE_SECONDS = int(os.environ.get("LAB_SILENCE", "120"))
STRETCH = {"wall": 1, "deterministic": 4}


class Session:
    def __init__(self, image, results, number, progress, stop):
        """stop: an event that ends the boot wherever it is."""
        self.results = {r.scenario.name: r for r in results}
        self.order = results
        self.settings = results[0].scenario.settings
        self.number = number
        self.progress = progress
        self.stop = stop
        self.folder = os.path.join(OUT, "boots", f"{number:02d}")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        verify = any("verify" in r.scenario.needs for r in results)
        initrd = image.initrd(self.folder, job_settings(self.settings),
                              [(r.scenario.name, r.scenario.timeout, r.scenario.settings["module"]) for r in results], verify,
                              self.settings["kernel"])
        self.line = command(self.settings, image.xen(), image.kernels[self.settings["kernel"]].vmlinuz, initrd,
                            self.folder, False)
        self.initrd = initrd
        self.boot = None
        self.running = None
        self.ready = False
        self.finished = False
        self.silent = False
        self.failure = ""

    def run(self):
        """Returns the results that have a verdict or at least were begun; the others must be run in another boot."""
        channel = Channel(os.path.join(self.folder, "channel"))
        boot = self.boot = Boot(self.line, self.folder)
        try:
            self._watch(boot, channel)
        finally:
            self.progress.over(self.number)
            boot.stop()
            os.unlink(self.initrd)
        self._take(channel)
        self._judge(boot.console(), channel.damaged)

    def _watch(self, boot, channel):
        begun = None
        while not boot.ended():
            if self.stop.wait(0.3):
                raise Stopped
            if not boot.started():
                continue
            if begun is None:
                begun = self.since = time.monotonic()
                self.silence = READY_SECONDS[self.settings["dom0"], self.settings["mode"]] * PATIENCE
            self._take(channel)
            if self.finished:
                boot.process.poll() or self._let_power_off(boot)
                return
            self.progress.beat(self.number, self.running, self.ready)
            overdue = self._overdue(time.monotonic())
            if overdue:
                self.failure, self.silent = overdue, True
                boot.ask_xen(self.stop.wait)
                return
        if not self.ready:
            self.failure = "Xen or Dom0 ended before it was ready"

    def _overdue(self, now):
        """Dom0 says nothing any more, or its scenario doesn't end: what to say of it."""
        stretch = STRETCH[self.settings["mode"]]
        if now - self.since > self.silence:
            what = self.running.scenario.name if self.running else "Dom0"
            return f"no word from {what} for {self.silence} s"
        if self.running and now - self.running.begun > (self.running.scenario.timeout + SLACK_SECONDS) * stretch:
            return f"{self.running.scenario.name} did not end within its {self.running.scenario.timeout} s"
        return None

    def _let_power_off(self, boot):
        for _ in range(30):
            if boot.ended() or self.stop.wait(0.3):
                return

    def _take(self, channel):
        for kind, name, payload in channel.frames():
            self.since = time.monotonic()
            result = self.results.get(name.split("/")[0])
            if kind == "boot" and name == "ready":
                self.ready = True
                self.silence = SILENCE_SECONDS * STRETCH[self.settings["mode"]]
            elif kind == "boot":
                self.failure = f"Dom0's start, {name}: " + payload.strip().replace("\n", "; ")
            elif kind == "end":
                self.finished = True
            elif kind == "log" and name.startswith("boot/"):
                for line in fault_lines(payload)[:3]:
                    self.failure = self.failure or f"the {name} log says: {line}"
            elif kind == "begin":
                self.running = result
                result.tries += 1
                result.begun = time.monotonic()
                self.progress.begin(result)
            elif result:
                result.take(kind, name, payload)
                if kind == "step":
                    result.note_step(payload, vcpu_seconds(self.boot.process.pid) if self.boot else [])
                    self.progress.beat(self.number, result, True, force=True)
                if kind == "verdict":
                    result.seconds = time.monotonic() - result.begun
                    result.judge_logs()
                    result.judge_expectation()
                    self.running = None
                    self.progress.end(result)

    def _judge(self, console, damaged):
        """What the console says, and what is true of the boot as a whole."""
        last = self.running
        if last:
            last.seconds = time.monotonic() - last.begun
            last.logs["console"] = console[-60000:]
            last.triple_faults = triple_faults(console)
            last.silent = self.silent
            last.fail(self.failure or "QEMU ended while the scenario ran")
            last.judge_expectation()
            self.progress.end(last)
        for part, result in by_scenario(console, self.results):
            for line in fault_lines(part)[:3]:
                if result and result.verdict == "pass" and not result.scenario.settings["expect"]:
                    result.fail(f"the console says: {line}", "read the console")
                elif not result:
                    self.failure = self.failure or f"the console says: {line}"
        if damaged and not any(r.scenario.settings["expect"] for r in self.order):
            self.failure = self.failure or f"{damaged} damaged frames came over the channel"


def by_scenario(console, results):
    """The console's text cut at the marks that Dom0's kernel log carries there: (text, result or None)."""
    part, current = [], None
    for line in console.splitlines():
        if "lab: scenario " in line:
            yield "\n".join(part), current
            words = line.split("lab: scenario ", 1)[1].split()
            part, current = [], results.get(words[0]) if words[-1] == "begins" else None
        part.append(line)
    yield "\n".join(part), current


def job_settings(settings, shell=False):
    return {"LAB_MODULE": settings["module"], "LAB_GUEST_CPUS": guest_cpus(settings), "LAB_MODE": settings["mode"],
            "LAB_DOM0": settings["dom0"], "LAB_SETTLE": os.environ.get("LAB_SETTLE", "15"),
            "LAB_PATIENCE": str(PATIENCE), "LAB_FAULT": os.environ.get("LAB_FAULT", ""),
            "LAB_LONG": os.environ.get("LONG", ""),
            "LAB_SHELL": "yes" if shell else "no"}
