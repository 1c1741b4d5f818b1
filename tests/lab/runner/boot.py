# One boot of Xen in QEMU. Every setting is there for a reason; tests/lab/README.md gives it.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import shlex
import signal
import socket
import subprocess
import threading
import time


CONSOLE_FD = "CONSOLE_FD"     # stands in the command until there is one

# Xen's console takes keys after three Ctrl-A: Dom0's registers, those of the CPUs, timers, domains, run queues.
XEN_KEYS = "0daqr"


def guest_cpus(settings):
    """Guests run on CPUs of their own where there are any: elsewhere the emulator triple-faults them."""
    first, cpus = int(settings["dom0_vcpus"]), int(settings["cpus"])
    if first >= cpus:
        return ""
    return str(first) if first == cpus - 1 else f"{first}-{cpus - 1}"


def command(settings, xen_elf, vmlinuz, initrd, folder, interactive):
    xen = (f"console=com1 com1=115200 dom0_mem={settings['dom0_mb']}M,max:{settings['dom0_mb']}M loglvl=all "
           f"guest_loglvl=all conring_size=1M xsave=0 dom0_max_vcpus={settings['dom0_vcpus']} dom0_vcpus_pin "
           f"{settings['xen_args']}")
    line = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max,-smap,-rdtscp,-erms", "-m", "4096",
            "-smp", settings["cpus"], "-display", "none", "-no-reboot", "-net", "none", "-name", "lab,debug-threads=on",
            "-monitor", "none"]
    if settings["dom0"] == "pvh":
        line += ["-machine", "q35", "-device", "amd-iommu"]
        xen += " dom0=pvh"
    if settings["mode"] == "deterministic":
        line += ["-icount", "shift=1,sleep=off"]
    if interactive:
        line += ["-serial", "mon:stdio"]
    else:
        line += ["-chardev", f"socket,id=console,fd={CONSOLE_FD},logfile={folder}/console",
                 "-serial", "chardev:console"]
    line += ["-serial", f"file:{folder}/channel",
             "-kernel", xen_elf, "-append", xen,
             "-initrd", f"{vmlinuz} console=hvc0,{initrd}"]
    # A site with rules of its own for heavy programs (nice, a lock, a CPU set) sets this.
    return shlex.split(os.environ.get("LAB_QEMU_WRAPPER", "")) + line


class Boot:
    """A running QEMU. Its clock starts when Xen's first line comes."""

    def __init__(self, line, folder):
        self.folder = folder
        self.console_input, end = socket.socketpair()
        line = [word.replace(CONSOLE_FD, str(end.fileno())) for word in line]
        with end, open(os.path.join(folder, "qemu.log"), "wb") as log:
            log.write((shlex.join(line) + "\n").encode())
            log.flush()
            self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, pass_fds=[end.fileno()])
        # QEMU writes the console's file itself; what comes here as well must only not pile up.
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self):
        while self.console_input.recv(65536):
            pass

    def ask_xen(self, wait):
        """Has a hypervisor whose Dom0 says nothing print its state to the console: what it stopped at. wait(SECONDS) gives
        it the time."""
        try:
            self.console_input.sendall(b"\x01\x01\x01")
            for key in XEN_KEYS:
                wait(2)
                self.console_input.sendall(key.encode())
            wait(3)
        except OSError:
            pass    # QEMU has ended

    def started(self):
        try:
            return os.path.getsize(os.path.join(self.folder, "console")) > 0
        except OSError:
            return False

    def ended(self):
        return self.process.poll() is not None

    def stop(self):
        if not self.ended():
            os.killpg(self.process.pid, signal.SIGTERM)
            until = time.monotonic() + 10
            while not self._left() and time.monotonic() < until:
                time.sleep(0.05)
            # What was put in front of QEMU may end before it.
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.console_input.close()

    def _left(self):
        """Has it ended? It isn't waited for yet, so that nobody else can have the number of its group."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def console(self):
        try:
            with open(os.path.join(self.folder, "console"), "rb") as file:
                return file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
