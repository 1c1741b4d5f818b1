#!/usr/bin/env python3
# What the network transport carries, on loopback and on a link shaped to 1 Gbit/s, without Xen: see docs/transport.md.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: bench_transport.py XENFERRY MAKEKEY OUTPUT.json

Each row is a transfer of the same bytes, which look like a guest's memory (a quarter zero pages, half text-like, a
quarter random), from a process through a pipe to `xenferry connect`, `xenferry listen` and a process that reads them.
The xl that the listener runs is a script. Rows of a round come one after the other, so that what else the machine does
hits all of them; the figures are medians over the rounds, and best ones."""
import json
import os
import random
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
SIZE = int(os.environ.get("BENCH_MIB", "384")) * MIB
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
SHAPED_SIZE = int(os.environ.get("BENCH_SHAPED_MIB", "192")) * MIB
GIGABIT = 1000 * 1000 * 1000

LOOPBACK = [
    ("plain", ["--plain", "--compress", "none"]),
    ("tls", ["--compress", "none"]),
    ("tls, 2 connections", ["--compress", "none", "--connections", "2"]),
    ("tls, lz4", ["--compress", "lz4"]),
    ("tls, zstd", ["--compress", "zstd"]),
    ("tls, auto", ["--compress", "auto"]),
    ("ssh", None),
]
SHAPED = [("tls", ["--compress", "none"]), ("tls, auto", ["--compress", "auto"])]


def memory(path, size, random_only=False):
    """Bytes that look like a guest's memory."""
    rnd = random.Random(1)
    words = [rnd.randbytes(rnd.randint(2, 5)).hex().encode() for _ in range(400)]
    with open(path, "wb") as out:
        for number in range(size // MIB):
            kind = 3 if random_only else number % 4
            if kind == 0:
                out.write(bytes(MIB))
            elif kind == 3:
                out.write(os.urandom(MIB))
            else:
                page = b"".join(b" ".join(rnd.choices(words, k=600))[:4096].ljust(4096, b"\0") for _ in range(16))
                out.write(page * 16)


class Hosts:
    """Keys and configurations of a sender and a receiver."""

    def __init__(self, folder, xenferry, makekey, address="127.0.0.1"):
        self.folder, self.xenferry, self.address = folder, xenferry, address
        self.port, self.plain_port = free_port(), free_port()
        for host in ("here", "there"):
            subprocess.run([makekey, self.file(host + ".key"), self.file(host + ".pem")], check=True)
            self.configure(host, "")
        self.configure("here", f"peer = there {self.pin('there')} {address}:{self.port}\n"
                               f"peer = there-plain plain {address}:{self.plain_port}\n")
        self.configure("there", f"peer = here {self.pin('here')}\npeer = here-plain plain {address}\n")
        os.makedirs(self.file("bin"), exist_ok=True)
        with open(self.file("bin/xl"), "w", encoding="ascii") as script:
            script.write("#!/bin/sh\nexec cat >/dev/null\n")
        os.chmod(self.file("bin/xl"), 0o755)

    def file(self, name):
        return os.path.join(self.folder, name)

    def configure(self, host, peers):
        with open(self.file(host + ".conf"), "w", encoding="ascii") as conf:
            conf.write(f"tls-key = {self.file(host)}.key\ntls-certificate = {self.file(host)}.pem\n{peers}")

    def pin(self, host):
        return subprocess.run([self.xenferry, "listen", "--pin", "--config", self.file(host + ".conf")], check=True,
                              text=True, stdout=subprocess.PIPE).stdout.strip()

    def listener(self, plain, prefix=()):
        command = [*prefix, self.xenferry, "listen", "--config", self.file("there.conf"), "--listen",
                   f"{self.address}:{self.plain_port if plain else self.port}"] + (["--plain"] if plain else [])
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "PATH": self.file("bin") + ":" + os.environ["PATH"]})
        line = process.stderr.readline()
        assert "listening on" in line, line
        return process

    def connect(self, options, prefix=()):
        host = "there-plain" if "--plain" in options else "there"
        return [*prefix, self.xenferry, "connect", "-v", "--config", self.file("here.conf"), *options, host, "xl",
                "migrate-receive"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def transfer(command, source, size):
    """Seconds, CPU seconds of our side of it, and what the command said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    feed = subprocess.Popen(["cat", source], stdout=subprocess.PIPE)
    run = subprocess.run(command, stdin=feed.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         check=False)
    feed.stdout.close()
    feed.wait()
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed with status {run.returncode}: {run.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(seconds, 3), "mib_s": round(size / MIB / seconds, 1), "sender_cpu_s": round(cpu, 3),
            "said": run.stderr.strip()[-300:]}


class Ssh:
    """A throw-away sshd on a port of its own, or None where there is none."""

    def __init__(self, folder):
        self.folder, self.process, self.why = folder, None, None
        sshd = shutil.which("sshd", path="/usr/sbin:" + os.environ["PATH"])
        if not sshd or not shutil.which("ssh"):
            self.why = "openssh-server or openssh-client is not installed"
            return
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{key}"], check=True)
        shutil.copyfile(f"{folder}/user.pub", f"{folder}/authorized")
        os.makedirs("/run/sshd", exist_ok=True)
        self.port = free_port()
        self.process = subprocess.Popen(
            [sshd, "-D", "-e", "-f", "/dev/null", "-h", f"{folder}/host", "-p", str(self.port), "-o",
             "ListenAddress=127.0.0.1", "-o", f"AuthorizedKeysFile={folder}/authorized", "-o", "StrictModes=no", "-o",
             "UsePAM=no", "-o", "PermitRootLogin=yes", "-o", "PidFile=none"], stderr=subprocess.DEVNULL)
        probe = self.command("true")
        for _ in range(50):
            if subprocess.run(probe, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                return
            time.sleep(0.1)
        self.why = "its sshd doesn't let us in"
        self.stop()

    def command(self, what):
        return ["ssh", "-F", "/dev/null", "-i", f"{self.folder}/user", "-p", str(self.port), "-o",
                "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "-o",
                "LogLevel=ERROR", "127.0.0.1", what]

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None


def loopback(folder, xenferry, makekey, rows):
    hosts, ssh = Hosts(folder, xenferry, makekey), Ssh(folder)
    source = os.path.join(folder, "memory")
    memory(source, SIZE)
    listeners = [hosts.listener(plain) for plain in (True, False)]
    try:
        for number in range(1, ROUNDS + 1):
            for name, options in LOOPBACK:
                if options is None and not ssh.process:
                    continue
                command = ssh.command("cat >/dev/null") if options is None else hosts.connect(options)
                rows.append({"link": "loopback", "case": name, "run": number, **transfer(command, source, SIZE)})
                print(f"  loopback {number}/{ROUNDS} {name:20} {rows[-1]['mib_s']:8.1f} MiB/s", flush=True)
    finally:
        ssh.stop()
        for process in listeners:
            process.send_signal(signal.SIGTERM)
            process.wait()
    return ssh.why


class Shaped:
    """Two network namespaces with a link of 1 Gbit/s between them."""

    names = ("xfbench-a", "xfbench-b")

    def __init__(self):
        self.why = None
        try:
            for name in self.names:
                self.run("netns", "add", name)
            self.run("link", "add", "xfb-a", "netns", self.names[0], "type", "veth", "peer", "name", "xfb-b", "netns",
                     self.names[1])
            for name, device, address in zip(self.names, ("xfb-a", "xfb-b"), ("10.213.77.1", "10.213.77.2")):
                self.run("-n", name, "addr", "add", address + "/24", "dev", device)
                self.run("-n", name, "link", "set", device, "up")
                self.run("-n", name, "link", "set", "lo", "up")
                subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", device, "root", "tbf", "rate", "1gbit",
                                "burst", "256k", "latency", "20ms"], check=True, capture_output=True, text=True)
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            self.why = (getattr(error, "stderr", None) or str(error)).strip()
            self.stop()

    @staticmethod
    def run(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def prefix(self, side):
        return ["ip", "netns", "exec", self.names[side]]

    def stop(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


class Proxy:
    """Where namespaces can't be had: a relay that passes 1 Gbit/s on, in 64 KiB pieces, from one port to another."""

    def __init__(self, target):
        self.port = free_port()
        self.process = subprocess.Popen([sys.executable, "-B", os.path.join(os.path.dirname(__file__), "slow_link.py"),
                                         str(self.port), str(target), str(GIGABIT // 8)], stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def stop(self):
        self.process.terminate()
        self.process.wait()


def shaped(folder, xenferry, makekey, rows):
    link = Shaped()
    address = "127.0.0.1" if link.why else "10.213.77.2"
    os.makedirs(folder + "/shaped")
    hosts = Hosts(folder + "/shaped", xenferry, makekey, address)
    listener = hosts.listener(False, () if link.why else link.prefix(1))
    proxy = None
    if link.why:
        proxy = Proxy(hosts.port)
        hosts.configure("here", f"peer = there {hosts.pin('there')} 127.0.0.1:{proxy.port}\n")
    try:
        for contents in ("memory", "random"):
            source = os.path.join(folder, "shaped-" + contents)
            memory(source, SHAPED_SIZE, contents == "random")
            for number in range(1, ROUNDS + 1):
                for name, options in SHAPED:
                    command = hosts.connect(options, () if link.why else link.prefix(0))
                    rows.append({"link": "1 Gbit/s, " + contents, "case": name, "run": number,
                                 **transfer(command, source, SHAPED_SIZE)})
                    print(f"  1 Gbit/s, {contents} {number}/{ROUNDS} {name:12} {rows[-1]['mib_s']:8.1f} MiB/s", flush=True)
    finally:
        listener.send_signal(signal.SIGTERM)
        listener.wait()
        if proxy:
            proxy.stop()
        link.stop()
    return f"a relay of ours, as a namespace with tc tbf can't be had ({link.why})" if link.why else "netns, tc tbf"


def summary(rows):
    table = {}
    for row in rows:
        table.setdefault((row["link"], row["case"]), []).append(row)
    return [{"link": link, "case": case, "median_mib_s": statistics.median(r["mib_s"] for r in some),
             "best_mib_s": max(r["mib_s"] for r in some),
             "sender_cpu_s": statistics.median(r["sender_cpu_s"] for r in some)} for (link, case), some in table.items()]


def verdicts(table):
    """(what, found, wanted, ok) by medians."""
    rate = {(t["link"], t["case"]): t["median_mib_s"] for t in table}
    found = [("TLS / plain", rate["loopback", "tls"] / rate["loopback", "plain"], 0.5)]
    if ("loopback", "ssh") in rate:
        found.append(("TLS / ssh", rate["loopback", "tls"] / rate["loopback", "ssh"], 2.0))
    for link in ("1 Gbit/s, memory", "1 Gbit/s, random"):
        # 3 % is what two runs of the same differ by.
        found.append((f"auto / without compression, {link}", rate[link, "tls, auto"] / rate[link, "tls"], 0.97))
    return [{"what": what, "found": round(value, 3), "wanted": wanted, "ok": value >= wanted}
            for what, value, wanted in found]


def main():
    xenferry, makekey, output = (os.path.abspath(a) for a in sys.argv[1:4])
    rows = []
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        os.chmod(folder, 0o755)
        no_ssh = loopback(folder, xenferry, makekey, rows)
        how = shaped(folder, xenferry, makekey, rows)
    table = summary(rows)
    judged = verdicts(table)
    env = {"cpus": os.cpu_count(), "load": os.getloadavg()[0], "mib": SIZE // MIB, "rounds": ROUNDS, "shaped_by": how,
           "ssh": no_ssh or "measured"}
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"env": env, "rows": rows, "summary": table, "verdicts": judged}, file, indent=1)
    print(f"\n{'link':18} {'case':20} {'median MiB/s':>12} {'best':>8} {'sender CPU s':>13}")
    for t in table:
        print(f"{t['link']:18} {t['case']:20} {t['median_mib_s']:12.1f} {t['best_mib_s']:8.1f} {t['sender_cpu_s']:13.2f}")
    print(f"\nThe shaped link: {how}. ssh: {env['ssh']}. Load when it ended: {env['load']:.1f} on {env['cpus']} CPUs.")
    for v in judged:
        print(f"{'ok  ' if v['ok'] else 'LESS'} {v['what']}: {v['found']:.2f}, wanted {v['wanted']}")
    return 0 if all(v["ok"] for v in judged) else 1


if __name__ == "__main__":
    sys.exit(main())
