# Lines of Xen's and the kernels' logs that make a scenario fail whatever it thinks of itself.
# SPDX-License-Identifier: LGPL-2.1-or-later
import re

FAULT = re.compile(r"\bBUG\b|WARNING|\bOops\b|soft lockup|scheduling while atomic|Bad FPU state|Xen call trace|"
                   r"Call Trace|general protection|page allocation failure|rcu: INFO|hung task|blocked for more than|"
                   r"Assertion .* failed|FATAL|panic|KASAN|UBSAN|kmemleak|refcount_t")
TRIPLE_FAULT = re.compile(r"Triple fault")

# What is known to be harmless, each with its reason.
HARMLESS = [
    r"WARNING: PVH is an experimental mode with limited functionality",  # Xen says so of every dom0=pvh
]


def harmless(line):
    return any(re.search(pattern, line) for pattern in HARMLESS)


def fault_lines(text):
    return [line.strip() for line in text.splitlines() if FAULT.search(line) and not harmless(line)]


def triple_faults(text):
    return len(TRIPLE_FAULT.findall(text))
