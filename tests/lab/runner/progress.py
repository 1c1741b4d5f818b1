# What a person sees while the lab works. Several boots may be under way at once: what one says comes in one piece.
# SPDX-License-Identifier: LGPL-2.1-or-later
import shutil
import sys
import threading
import time


class Progress:
    def __init__(self, total):
        self.total = total
        self.done = 0
        self.began = time.monotonic()
        self.terminal = sys.stdout.isatty()
        self.last_beat = 0.0
        self.doing = {}     # number of a boot: what it is at
        self.lock = threading.RLock()

    def say(self, text):
        with self.lock:
            if self.terminal:
                sys.stdout.write("\r\033[K")
            print(text, flush=True)

    def clock(self):
        seconds = int(time.monotonic() - self.began)
        return f"{seconds // 60:2d}:{seconds % 60:02d}"

    def boot(self, settings, scenarios):
        modules = sorted({s.settings["module"] for s in scenarios})
        about = f"{settings['dom0'].upper()} Dom0, {settings['cpus']} CPUs, module {' and '.join(modules)}"
        if settings["mode"] == "deterministic":
            about += ", deterministic"
        self.say(f"[{self.clock()}] booting Xen ({about}) for {len(scenarios)} scenario{'s' * (len(scenarios) != 1)}")

    def begin(self, result):
        self.say(f"[{self.clock()}] {result.scenario.name} ...")

    def beat(self, boot, result, ready, force=False):
        """The terminal's last line: what each boot is at."""
        with self.lock:
            self.doing[boot] = (f"{result.scenario.name}: {result.step}" if result else
                                ("between scenarios" if ready else "booting"))
            if not self.terminal or (not force and time.monotonic() - self.last_beat < 1):
                return
            self.last_beat = time.monotonic()
            sys.stdout.write("\r\033[K" + self.line(shutil.get_terminal_size().columns - 1))
            sys.stdout.flush()

    def line(self, width):
        """Each boot gets as much of it as the others; what one leaves over the next ones have."""
        text, left = f"[{self.clock()}] {self.done}/{self.total}  ", len(self.doing)
        for number in sorted(self.doing):
            room = (width - len(text) - 3 * (left - 1)) // left
            left -= 1
            text += self.doing[number][:max(room, 0)] + (" | " if left else "")
        return text[:width]

    def over(self, boot):
        with self.lock:
            self.doing.pop(boot, None)

    def again(self):
        """One that has ended is not done after all."""
        with self.lock:
            self.done -= 1

    def end(self, result):
        with self.lock:
            self.done += 1
            if result.verdict == "pass" and not result.triple_faults:
                self.say(f"[{self.clock()}] ok    {result.scenario.name} ({result.seconds:.0f} s)")
            elif result.triple_faults:
                self.say(f"[{self.clock()}] none  {result.scenario.name}: the emulator triple-faulted a guest, no verdict")
            else:
                self.say(f"[{self.clock()}] FAIL  {result.scenario.name} at '{result.step}': {result.message}")
                for line in result.details:
                    self.say(f"             {line}")

    def tail(self, result):
        """The end of the log that most likely explains a failure."""
        count = 150 if result.silent else 25    # what Xen said of itself is longer
        for name in ("output", "console"):
            text = result.logs.get(name)
            if text:
                self.say(f"      last lines of build/lab/logs/{result.scenario.name}/{name}.log:")
                for line in text.splitlines()[-count:]:
                    self.say("      | " + line)
                return
