# What became of one scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import os
import time

from faults import fault_lines, triple_faults


class Result:
    def __init__(self, scenario):
        self.scenario = scenario
        self.verdict = None     # pass, fail, skip, or None: none came
        self.step = ""
        self.message = ""
        self.details = []
        self.figures = {}
        self.units = {}
        self.stats = []
        self.logs = {}
        self.triple_faults = 0              # in the last try
        self.earlier_triple_faults = 0      # in those before
        self.tries = 0
        self.silent = False                 # Dom0 stopped talking while it ran
        self.seconds = 0.0

    def fail(self, message, step=None):
        if self.verdict != "fail":
            self.verdict, self.message = "fail", message
            self.step = step or self.step
        else:
            self.details.append(message)

    def take(self, kind, name, payload):
        """One frame of this scenario."""
        if kind == "step":
            self.step = payload
        elif kind == "figure":
            key, value, *unit = payload.split()
            self.figures[key] = number(value)
            self.units[key] = unit[0] if unit else ""
        elif kind == "stats":
            self.stats += [parsed(line) for line in payload.splitlines() if line.strip()]
        elif kind == "log":
            self.logs[name.split("/", 1)[1]] = payload
        elif kind == "verdict":
            lines = payload.splitlines()
            if lines[0] == "pass":
                self.verdict = "pass"
            else:
                self.verdict = None
                self.fail(lines[2] if len(lines) > 2 else "no reason given", lines[1] if len(lines) > 1 else "")
                self.details += lines[3:]

    def note_step(self, what, vcpus):
        """A log of when each step began, and how long each vCPU had run until then."""
        ran = ",".join(f"{seconds:.2f}" for seconds in vcpus)
        self.logs["steps"] = self.logs.get("steps", "") + f"{time.monotonic():.1f} {ran} {what}\n"

    def judge_logs(self):
        """A fault in any log fails the scenario; a triple fault means there is no verdict."""
        for name, text in self.logs.items():
            if name in ("output", "steps"):
                continue
            for line in fault_lines(text)[:3]:
                self.fail(f"the {name} log says: {line}", "read the logs")
        self.triple_faults = triple_faults(self.logs.get("xen", ""))

    def judge_expectation(self):
        """A scenario of the self-test must fail, and for the reason it gives."""
        expected = self.scenario.settings["expect"]
        if not expected:
            return
        said = [self.message] + self.details
        if self.verdict == "fail" and any(expected in text for text in said):
            self.verdict, self.message = "pass", f"failed as it must: {expected}"
        else:
            self.message = f"had to fail with '{expected}', but: {self.verdict} {'; '.join(said)}"
            self.verdict = "fail"

    def as_json(self):
        return {"name": self.scenario.name, "verdict": self.verdict, "step": self.step, "message": self.message,
                "details": self.details, "figures": self.figures, "units": self.units, "stats": self.stats,
                "tries": self.tries, "triple_faults": self.earlier_triple_faults + self.triple_faults,
                "seconds": round(self.seconds, 1),
                "settings": self.scenario.settings}

    def write_logs(self, folder):
        folder = os.path.join(folder, self.scenario.name)
        os.makedirs(folder, exist_ok=True)
        for name, text in self.logs.items():
            with open(os.path.join(folder, name + ".log"), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(folder, "result.json"), "w", encoding="utf-8") as file:
            json.dump(self.as_json(), file, indent=1)


def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return {"unreadable": line}
