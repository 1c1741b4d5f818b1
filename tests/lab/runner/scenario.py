# A scenario's file: shell for Dom0, with declarations for the host in its head.
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import os
import re

DEFAULTS = {"dom0": "pv", "cpus": "2", "dom0_vcpus": "1", "mode": "wall", "module": "stock", "needs": "",
            "timeout": "300", "xen_args": "", "dom0_mb": "1536", "kernel": "6.1", "alone": "no", "expect": ""}
CHOICES = {"dom0": ("pv", "pvh"), "mode": ("wall", "deterministic"), "module": ("stock", "ours", "inject"),
           "kernel": ("6.1", "6.12"), "alone": ("no", "yes")}
# Limits are for an idle machine of this kind; so many times as much is given. They cost nothing unless something hangs.
PATIENCE = int(os.environ.get("LAB_PATIENCE", "3"))
PREFIXES = ("pvh-", "pv-", "driver-", "stream-", "fault-", "selftest-", "demo-")


class ScenarioError(Exception):
    pass


class Scenario:
    """Head of a file: '# WHAT IT CHECKS' lines, then '#: key=value key=value' lines."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)[:-len(".sh")]
        self.settings = dict(DEFAULTS)
        if not self.name.startswith(PREFIXES):
            raise ScenarioError(f"{path}: a scenario's name begins with one of {', '.join(PREFIXES)}")
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("#:"):
                    self._declare(line[2:])
        self.needs = [n for n in self.settings["needs"].split(",") if n]
        built = {"ours": "module", "inject": "module-inject"}.get(self.settings["module"])
        if built and built not in self.needs:
            self.needs.append(built)
        self.timeout = int(self.settings["timeout"]) * PATIENCE
        if self.settings["mode"] == "deterministic":
            self.settings["cpus"] = "1"

    def _declare(self, text):
        for key, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|(\S*))', text):
            value = quoted or plain
            if key not in DEFAULTS:
                raise ScenarioError(f"{self.path}: unknown declaration '{key}'; known are {', '.join(DEFAULTS)}")
            if value not in CHOICES.get(key, (value,)):
                raise ScenarioError(f"{self.path}: {key}={value}, but {key} is one of {', '.join(CHOICES[key])}")
            self.settings[key] = value

    def boot_key(self):
        """Scenarios with equal keys can share a boot: the module is changed between them."""
        same = ("dom0", "cpus", "dom0_vcpus", "mode", "xen_args", "dom0_mb", "kernel", "alone")
        return tuple(self.settings[k] for k in same)


def load(folder, pattern=""):
    paths = sorted(glob.glob(os.path.join(folder, "*.sh")))
    every = [Scenario(p) for p in paths]
    if not pattern:
        return every
    patterns = [p for p in re.split(r"[,\s]+", pattern) if p]
    return [s for s in every if any(selects(p, s.name, every) for p in patterns)]


def selects(pattern, name, every):
    """A pattern that is a scenario's whole name means that one; any other means "contains", wildcards allowed."""
    if any(s.name == pattern for s in every):
        return name == pattern
    return re.search(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), name) is not None
