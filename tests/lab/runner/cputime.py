# How long the processors of the emulated machine have run so far, by the host's clock for each: what else the host does
# shows in the time that passes, but not in this.
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import os
import re

THREAD = re.compile(r"CPU (\d+)/")      # as QEMU names them with debug-threads=on
ONE = re.compile(r"CPU \d+/|ALL CPUs/")  # one thread for all of them where instructions are counted


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:     # it has just ended
        return ""


def fields(stat):
    """Name, and what comes behind it, of a line of /proc/.../stat: the name may contain anything."""
    name, _, rest = stat.partition("(")[2].rpartition(")")
    return name, rest.split()


def of_group(group):
    """Processes of a process group."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        name, rest = fields(read(path))
        if len(rest) > 2 and int(rest[2]) == group:
            yield os.path.dirname(path)


def vcpu_seconds(group):
    """Seconds each vCPU thread of the QEMU in that process group has run, in the order of the vCPUs."""
    found = {}
    for process in of_group(group):
        for path in glob.glob(process + "/task/[0-9]*/stat"):
            name, rest = fields(read(path))
            if ONE.match(name) and len(rest) > 12:
                number = THREAD.match(name)
                found[int(number[1]) if number else 0] = (int(rest[11]) + int(rest[12])) / os.sysconf("SC_CLK_TCK")
    return [found[cpu] for cpu in sorted(found)]
