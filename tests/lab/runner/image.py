# The initramfs of one boot: base layers, our build outputs, the job.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import re
import shutil
import subprocess

from paths import BUILD, LAB, OUT, modules, outputs, programs

BASE_KERNEL = "6.1"


class Kernel:
    """A kernel for Dom0: its files, and the layer of the initramfs that its modules are in."""

    def __init__(self, folder, layers):
        self.vmlinuz = os.path.join(folder, "vmlinuz")
        self.layers = layers
        with open(os.path.join(folder, "release"), encoding="ascii") as file:
            self.release = file.read().strip()


class Image:
    def __init__(self, kernels=()):
        """kernels: those that scenarios ask for, by series (6.12); the base's own is always there."""
        self.base = built("image/build-base.sh")
        self.kernels = {BASE_KERNEL: Kernel(self.base, [])}
        self.outputs = outputs(self.kernels[BASE_KERNEL].release)
        for series in set(kernels) - {BASE_KERNEL}:
            folder = built("image/build-kernel.sh", series)
            self.kernels[series] = Kernel(folder, [os.path.join(folder, "modules.cpio")])

    def xen(self):
        return os.path.join(self.base, "xen.elf")

    def missing(self, need, kernel=BASE_KERNEL):
        """What of a need has not been built: a sentence, or None."""
        if need == "verify":
            return None
        needs = {**self.outputs, **modules(self.kernels[kernel].release)}
        if need in needs:
            files = [os.path.join(BUILD, f) for f in needs[need]]
        elif need in programs():
            files = [programs()[need]]
        else:
            return f"nothing builds '{need}'"
        gone = [os.path.relpath(f, BUILD) for f in files if not os.path.exists(f)]
        return f"build/{gone[0]} has not been built" if gone else None

    def overlay(self, scenarios=None):
        """Our own files, packed anew each time: it takes a moment. scenarios: a folder besides the lab's own."""
        root = os.path.join(OUT, "overlay")
        shutil.rmtree(root, ignore_errors=True)
        for folder in ("lib",):
            shutil.copytree(os.path.join(LAB, "dom0", folder), os.path.join(root, "lab", folder))
        put(os.path.join(LAB, "dom0/init"), root, "init", 0o755)
        put(os.path.join(LAB, "dom0/motd"), root, "lab/motd")
        put(os.path.join(LAB, "dom0/profile"), root, "etc/profile")
        folders = [os.path.join(LAB, folder) for folder in ("scenarios", "selftest", "demo")]
        for folder in folders + ([scenarios] if scenarios else []):
            shutil.copytree(folder, os.path.join(root, "lab/scenarios"), dirs_exist_ok=True)
        put(os.path.join(LAB, "dom0/within"), root, "lab/bin/within", 0o755)
        for tool in ("lab-report", "lab-probe"):
            put(os.path.join(OUT, "bin", tool), root, "lab/bin/" + tool, 0o755)
        for name, path in programs().items():
            if os.path.exists(path):
                put(path, root, "lab/bin/" + name, 0o755)
                add_libraries(path, root)
        wanted = list(self.outputs.values())
        for kernel in self.kernels.values():
            wanted += modules(kernel.release).values()
        for files in wanted:
            for source, target in files.items():
                path = os.path.join(BUILD, source)
                if os.path.exists(path):
                    put(path, root, target, 0o755)
                    add_libraries(path, root)
        guest = os.path.join(OUT, "guest")
        shutil.rmtree(guest, ignore_errors=True)
        put(os.path.join(OUT, "bin/workload"), guest, "init", 0o755)
        pack(guest, os.path.join(OUT, "workload.cpio"))
        put(os.path.join(OUT, "workload.cpio"), root, "boot/workload.cpio")
        pack(root, os.path.join(OUT, "overlay.cpio"))
        return os.path.join(OUT, "overlay.cpio")

    def initrd(self, folder, settings, jobs, verify, kernel=BASE_KERNEL):
        """Writes the initramfs of a boot into its folder: layers one after the other."""
        root = os.path.join(folder, "job")
        os.makedirs(os.path.join(root, "lab"))
        with open(os.path.join(root, "lab/job.conf"), "w", encoding="utf-8") as file:
            for key, value in settings.items():
                file.write(f"{key}='{value}'\n")
        with open(os.path.join(root, "lab/job"), "w", encoding="utf-8") as file:
            file.writelines(f"{name} {seconds} {module}\n" for name, seconds, module in jobs)
        pack(root, os.path.join(folder, "job.cpio"))
        layers = [os.path.join(self.base, "dom0.cpio")] + self.kernels[kernel].layers
        if verify:
            layers.append(os.path.join(self.base, "verify.cpio"))
        layers += [os.path.join(OUT, "overlay.cpio"), os.path.join(folder, "job.cpio")]
        path = os.path.join(folder, "dom0.img")
        with open(path, "wb") as out:
            for layer in layers:
                with open(layer, "rb") as file:
                    shutil.copyfileobj(file, out)
        shutil.rmtree(root)
        return path


def built(script, *arguments):
    """Runs a script that builds something and prints where it is."""
    return subprocess.run([os.path.join(LAB, script), *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def put(source, root, target, mode=0o644):
    # The base has lib as a link to usr/lib; a folder of that name in a later layer would take its place.
    assert not target.startswith("lib/"), target
    path = os.path.join(root, target)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copyfile(source, path)
    os.chmod(path, mode)


def add_libraries(path, root):
    """Libraries of the host that the base may lack (libasan is none of them: Dom0 runs the release build)."""
    ldd = subprocess.run(["ldd", path], text=True, capture_output=True, check=False).stdout
    for library in re.findall(r"=> (/\S+)", ldd):
        real = os.path.realpath(library)
        if library.startswith(("/usr/", "/lib")) and not os.path.exists(os.path.join(root, library.lstrip("/"))):
            put(real, root, library.replace("/lib/", "usr/lib/", 1) if library.startswith("/lib/")
                else library.lstrip("/"), 0o755)


def pack(root, target):
    names = subprocess.run(["find", ".", "-print0"], cwd=root, check=True, stdout=subprocess.PIPE).stdout
    names = b"\0".join(sorted(names.split(b"\0"))).lstrip(b"\0")
    with open(target, "wb") as out:
        subprocess.run(["cpio", "--null", "-o", "-H", "newc", "--owner", "0:0", "--quiet"], cwd=root, check=True,
                       input=names, stdout=out)
