# Where things are on the host, and where they go in Dom0.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.dirname(os.path.dirname(LAB))
BUILD = os.environ.get("LAB_BUILD") or os.path.join(TOP, "build")
OUT = os.path.join(BUILD, "lab")
MULTIARCH_LIB = "usr/lib/x86_64-linux-gnu"


def modules(release):
    """The builds of our module: the part of outputs() that depends on the kernel."""
    return {
        "module": {f"module/{release}/xen-privcmd.ko": f"usr/lib/modules/{release}/updates/xen-privcmd.ko"},
        "module-inject": {f"module-inject/{release}/xen-privcmd.ko":
                          f"usr/lib/modules/{release}/inject/xen-privcmd.ko"},
    }


def outputs(release):
    """What a scenario can need: name -> {file below build/: path in Dom0}."""
    lib, migrate = "release/libxc-batch/", "release/tools/migrate/"
    return {
        **modules(release),
        "library": {lib + "libxcbatch.so.0": MULTIARCH_LIB + "/libxcbatch.so.0"},
        "engine": {migrate + "libxenferry-guest.so": "usr/lib/xenferry/libxenferry-guest.so",
                   migrate + "xenferry-save-helper": "usr/lib/xenferry/xenferry-save-helper"},
        "command": {migrate + "xenferry": "usr/bin/xenferry"},
    }


def programs():
    """Test programs for Dom0 (make's LAB_PROGRAMS): name -> file."""
    return {os.path.basename(f): f for f in os.environ.get("LAB_PROGRAMS", "").split()}
