# How many boots this machine can have at once.
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import os

MOST = 4            # of itself: beyond that, boots and the wait for the longest scenario leave little to gain
MEMORY = 5 << 30    # a boot: QEMU's 4 GiB, itself, its initramfs in the page cache


def read(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


def cpus(quota):
    """Those we may run on; quota is a control group's cpu.max, "MICROSECONDS PERIOD" or "max PERIOD"."""
    count = len(os.sched_getaffinity(0))
    limit, _, period = quota.partition(" ")
    if limit.isdigit() and period.strip().isdigit():
        count = min(count, int(limit) // int(period))
    return count


def memory(meminfo, limit):
    """Bytes that can still be had; limit is a control group's memory.max, a number or "max"."""
    free = 0
    for line in meminfo.splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) << 10
    return min(free, int(limit)) if limit.strip().isdigit() else free


def affordable(processors, free):
    return max(1, min(processors, free // MEMORY, MOST))


def argument(text):
    """For argparse: a number, or "auto"."""
    if text == "auto":
        return affordable(cpus(read("/sys/fs/cgroup/cpu.max")),
                          memory(read("/proc/meminfo"), read("/sys/fs/cgroup/memory.max")))
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is neither 'auto' nor a number from 1 on")
    return int(text)
