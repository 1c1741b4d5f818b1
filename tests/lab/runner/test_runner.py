#!/usr/bin/env python3
# What decides over pass and fail, tested without a boot. Run by make check-unit.
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import contextlib
import io
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import demo
import jobs
import lab
from boot import CONSOLE_FD, XEN_KEYS, Boot
from channel import Channel
from crew import Crew, Stopped
from cputime import fields, of_group, vcpu_seconds
from faults import fault_lines, triple_faults
from parts import MOST, groups, parts, seconds
from paths import LAB
from progress import Progress
from result import Result
from scenario import PATIENCE, Scenario, ScenarioError, load
from session import SLACK_SECONDS, Session, by_scenario


def frame(kind, name, payload):
    data = payload.encode()
    return b"\x01%s %s %d %08x\n%s\n" % (kind.encode(), name.encode(), len(data), zlib.crc32(data), data)


# A process whose threads are called as QEMU's are; the second one works.
THREADS = """
import threading, sys
def run(name, work):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as file:
        file.write(name)
    for _ in range(work):
        pass
    ready.wait()
    sys.stdin.read()
ready = threading.Barrier(3)
for name, work in (("CPU 0/TCG", 0), ("CPU 1/TCG", 10000000)):
    threading.Thread(target=run, args=(name, work), daemon=True).start()
ready.wait()
print("ready", flush=True)
sys.stdin.read()
"""


class CpuTimeTest(unittest.TestCase):
    def test_each_vcpu_by_itself(self):
        with subprocess.Popen([sys.executable, "-c", THREADS], start_new_session=True, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            idle, busy = vcpu_seconds(process.pid)
            process.kill()
        self.assertGreater(busy, idle)
        self.assertEqual(vcpu_seconds(process.pid), [])

    def test_a_name_may_hold_anything(self):
        self.assertEqual(fields("7 (CPU 0/) x) S 1 2"), ("CPU 0/) x", ["S", "1", "2"]))

    def test_steps_are_noted(self):
        result = Result(Scenario(os.path.join(LAB, "selftest/selftest-passes.sh")))
        result.note_step("one BUG", [1.5, 2])
        result.note_step("two", [])
        self.assertRegex(result.logs["steps"], r"^[0-9.]+ 1\.50,2\.00 one BUG\n[0-9.]+  two\n$")
        result.judge_logs()
        self.assertIsNone(result.verdict)


class ChannelTest(unittest.TestCase):
    def setUp(self):
        self.file = tempfile.NamedTemporaryFile()
        self.addCleanup(self.file.close)
        self.channel = Channel(self.file.name)

    def feed(self, data):
        self.file.write(data)
        self.file.flush()
        return list(self.channel.frames())

    def test_frames_come_whole_whatever_the_pieces(self):
        data = frame("step", "pv-a", "go") + frame("verdict", "pv-a", "pass")
        seen = []
        for byte in data:
            seen += self.feed(bytes([byte]))
        self.assertEqual(seen, [("step", "pv-a", "go"), ("verdict", "pv-a", "pass")])

    def test_noise_is_no_frame(self):
        noise = b"verdict pv-a 4 00000000\npass\n\x01\x01half \x01verdict pv-a 4 00000000\npass\n"
        seen = self.feed(noise + frame("verdict", "pv-a", "fail"))
        self.assertEqual(seen, [("verdict", "pv-a", "fail")])
        self.assertEqual(self.channel.damaged, 1)

    def test_a_frame_inside_a_payload_is_payload(self):
        inner = frame("verdict", "pv-a", "pass").decode()
        self.assertEqual(self.feed(frame("log", "pv-a/output", inner)), [("log", "pv-a/output", inner)])

    def test_a_missing_file_has_no_frames(self):
        self.assertEqual(list(Channel("/nonexistent").frames()), [])


# Stands for QEMU: what comes in at the console's socket ends up in the console's file.
FAKE_QEMU = """
import os, sys
with open(sys.argv[2], "wb", 0) as file:
    while data := os.read(int(sys.argv[1]), 100):
        file.write(data)
"""


class BootTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.boot = Boot([sys.executable, "-c", FAKE_QEMU, CONSOLE_FD, f"{folder.name}/console"], folder.name)
        self.addCleanup(self.boot.stop)

    def test_xen_is_asked_through_its_console(self):
        self.boot.ask_xen(lambda _: None)
        wanted = "\x01" * 3 + XEN_KEYS
        until = time.monotonic() + 20
        while self.boot.console() != wanted and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(self.boot.console(), wanted)

    def test_an_ended_emulator_is_asked_in_vain(self):
        self.boot.stop()
        self.boot.ask_xen(lambda _: None)


class OverdueTest(unittest.TestCase):
    """When a boot is given up, whatever it may still do."""
    def setUp(self):
        self.session = Session.__new__(Session)
        self.session.settings = {"mode": "wall"}
        self.session.since, self.session.silence = 1000, 120
        self.session.running = unittest.mock.Mock(begun=900)
        self.session.running.scenario.name, self.session.running.scenario.timeout = "pv-a", 60

    def test_talking_and_in_time(self):
        self.assertIsNone(self.session._overdue(900 + 60 + SLACK_SECONDS))

    def test_silent(self):
        self.session.running.begun = 1120
        self.assertEqual(self.session._overdue(1121), "no word from pv-a for 120 s")

    def test_talking_for_ever(self):
        self.assertEqual(self.session._overdue(901 + 60 + SLACK_SECONDS), "pv-a did not end within its 60 s")

    def test_counted_instructions_take_longer(self):
        self.session.settings["mode"] = "deterministic"
        self.session.silence = 9999
        self.assertIsNone(self.session._overdue(900 + 4 * (60 + SLACK_SECONDS)))


class FaultTest(unittest.TestCase):
    def test_each_fault_is_seen(self):
        for line in ("BUG: unable to handle page fault", "WARNING: CPU: 0 PID: 1 at mm/x.c", "Oops: 0002 [#1]",
                     "watchdog: BUG: soft lockup - CPU#0 stuck", "BUG: scheduling while atomic: x",
                     "(XEN) Xen call trace:", "(XEN) Bad FPU state", "xl: page allocation failure: order:4"):
            self.assertEqual(fault_lines("fine\n" + line + "\nfine"), [line])

    def test_ordinary_lines_are_none(self):
        self.assertEqual(fault_lines("(XEN) HVM d1v0 save: CPU\nDEBUG: ok\nPCI: Fatal: No config space"), [])

    def test_triple_faults_are_counted(self):
        self.assertEqual(triple_faults("(XEN) d1v0 Triple fault - invoking HVM shutdown\nx\nd2v0 Triple fault"), 2)

    def test_console_is_cut_at_the_marks(self):
        results = {"pv-a": "A", "pv-b": "B"}
        text = "boot\n[1] lab: scenario pv-a begins\none\nlab: scenario pv-a ends\ngap\nlab: scenario pv-b begins\ntwo"
        found = {r: part for part, r in by_scenario(text, results) if r}
        self.assertIn("one", found["A"])
        self.assertNotIn("gap", found["A"])
        self.assertIn("two", found["B"])


class WithScenario(unittest.TestCase):
    def scenario(self, text, name="pvh-x"):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, name + ".sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return Scenario(path)


class ScenarioTest(WithScenario):
    def test_declarations(self):
        s = self.scenario('#: dom0=pvh module=ours needs=engine timeout=7 xen_args="a b"\n')
        self.assertEqual((s.settings["dom0"], s.timeout, s.settings["xen_args"]), ("pvh", 7 * PATIENCE, "a b"))
        self.assertEqual(s.needs, ["engine", "module"])

    def test_deterministic_runs_on_one_cpu(self):
        self.assertEqual(self.scenario("#: mode=deterministic cpus=4\n").settings["cpus"], "1")

    def test_what_is_wrong_is_named(self):
        for text, said in (("#: dom=pv\n", "unknown declaration 'dom'"), ("#: dom0=hvm\n", "dom0=hvm")):
            with self.assertRaisesRegex(ScenarioError, said):
                self.scenario(text)
        with self.assertRaisesRegex(ScenarioError, "begins with one of"):
            self.scenario("", "other")

    def test_equal_boots_are_shared(self):
        a, b = self.scenario("#: timeout=1\n"), self.scenario("#: timeout=2\n")
        c = self.scenario("#: dom0=pvh\n")
        self.assertEqual([len(g) for g in groups([Result(s) for s in (a, c, b)])], [2, 1])

    def test_in_one_boot_the_module_changes_once(self):
        texts = ("#: module=ours timeout=1\n", "#: timeout=2\n", "#: module=ours timeout=3\n")
        found = groups([Result(self.scenario(t)) for t in texts])
        self.assertEqual([[r.scenario.timeout // PATIENCE for r in g] for g in found], [[1, 3, 2]])

    def test_a_kernel_of_its_own_is_a_boot_of_its_own(self):
        a, b = self.scenario("#:\n"), self.scenario("#: kernel=6.12\n")
        self.assertEqual(len(groups([Result(s) for s in (a, b)])), 2)

    def test_a_whole_name_selects_that_scenario_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("pv-a", "pv-a-b", "pvh-a"):
                with open(os.path.join(folder, name + ".sh"), "w", encoding="utf-8"):
                    pass
            for pattern, names in (("pv-a", ["pv-a"]), ("pv-a*", ["pv-a", "pv-a-b"]), ("-a", ["pv-a", "pv-a-b", "pvh-a"]),
                                   ("pv-a,pvh", ["pv-a", "pvh-a"])):
                self.assertEqual(sorted(s.name for s in load(folder, pattern)), names)

    def test_every_scenario_of_ours_is_read(self):
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        for folder in ("scenarios", "selftest", "demo"):
            self.assertTrue(load(os.path.join(here, folder)))

    def test_patterns(self):
        folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scenarios")
        names = {s.name for s in load(folder, "pv-save*stock,migrate-stock-to-stock")}
        self.assertEqual(names, {"pv-save-restore-stock", "pvh-migrate-stock-to-stock"})


class PartsTest(WithScenario):
    def results(self, *texts):
        return [Result(self.scenario(text)) for text in texts]

    def cut(self, at_once, *texts):
        """The limits of the scenarios of each part."""
        return [[r.scenario.timeout // PATIENCE for r in part] for part in parts(self.results(*texts), at_once)]

    def test_one_boot_at_a_time_is_not_cut(self):
        self.assertEqual(self.cut(1, *["#: timeout=1\n"] * 30 + ["#: cpus=3 timeout=9\n"]), [[1] * 30, [9]])

    def test_the_longest_part_comes_first(self):
        self.assertEqual(self.cut(2, "#: timeout=5\n", "#: cpus=3 timeout=40\n", "#: cpus=4 timeout=30\n"),
                         [[40], [30], [5]])

    def test_a_large_group_is_cut_evenly(self):
        cut = self.cut(2, *[f"#: timeout={n}\n" for n in range(100, 130)])
        self.assertEqual(sorted(limit for part in cut for limit in part), list(range(100, 130)))
        self.assertEqual(sorted(len(part) for part in cut), [7, 7, 8, 8])
        self.assertLess(max(map(sum, cut)) - min(map(sum, cut)), 130)
        self.assertLessEqual(max(map(len, cut)), MOST)

    def test_no_part_is_all_the_work_there_is(self):
        self.assertEqual(self.cut(2, "#: timeout=8\n", "#: timeout=5\n", "#: timeout=4\n"), [[5, 4], [8]])
        self.assertEqual(self.cut(2, "#: timeout=8\n"), [[8]])
        self.assertEqual(self.cut(2), [])

    def test_in_a_part_the_module_changes_once(self):
        texts = [f"#: module={m} timeout=9\n" for m in ("ours", "stock") * 10]
        for part in parts(self.results(*texts), 2):
            modules = [r.scenario.settings["module"] for r in part]
            self.assertEqual(modules, sorted(modules))

    def test_seconds_are_those_of_the_limits(self):
        self.assertEqual(seconds(self.results("#: timeout=2\n", "#: timeout=3\n")), 5 * PATIENCE)


class JobsTest(unittest.TestCase):
    def test_as_many_as_there_is_room_for(self):
        for processors, gib, wanted in ((1, 64, 1), (2, 24, 2), (2, 9, 1), (2, 1, 1), (16, 17, 3), (64, 500, jobs.MOST)):
            self.assertEqual(jobs.affordable(processors, gib << 30), wanted)

    def test_a_control_group_has_its_own_limits(self):
        with unittest.mock.patch("jobs.os.sched_getaffinity", return_value=range(8)):
            for quota, wanted in (("", 8), ("max 100000\n", 8), ("250000 100000\n", 2), ("9900000 100000\n", 8)):
                self.assertEqual(jobs.cpus(quota), wanted)
        for limit, wanted in (("", 2 << 20), ("max\n", 2 << 20), ("4096\n", 4096), (str(1 << 40), 2 << 20)):
            self.assertEqual(jobs.memory("MemFree: 1 kB\nMemAvailable: 2048 kB\n", limit), wanted)
        self.assertEqual(jobs.memory("", ""), 0)

    def test_what_can_be_asked_for(self):
        self.assertEqual(jobs.argument("3"), 3)
        self.assertIn(jobs.argument("auto"), range(1, jobs.MOST + 1))
        for text in ("0", "-1", "many", ""):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "neither 'auto' nor a number"):
                jobs.argument(text)


class CrewTest(unittest.TestCase):
    def setUp(self):
        self.seen, self.errors = [], []

    def crew(self, work):
        return Crew(work, lambda part, error: self.errors.append((part, str(error))))

    def test_as_many_at_a_time_as_asked_for(self):
        together = threading.Barrier(2)

        def work(part, _stop):
            together.wait(20)
            self.seen.append(part)
        self.crew(work).run("abcd", 2)
        self.assertEqual(sorted(self.seen), list("abcd"))

    def test_one_takes_them_in_turn(self):
        self.crew(lambda part, _stop: self.seen.append(part)).run("abc", 1)
        self.assertEqual(self.seen, list("abc"))

    def test_an_error_is_told_and_the_rest_goes_on(self):
        def work(part, _stop):
            if part == "b":
                raise OSError("no room")
            self.seen.append(part)
        self.crew(work).run("abc", 2)
        self.assertEqual((sorted(self.seen), self.errors), (["a", "c"], [("b", "no room")]))

    def test_when_the_main_thread_is_stopped_all_are(self):
        begun = threading.Barrier(2)

        def work(part, stop):
            if begun.wait(20) == 0:
                signal.raise_signal(signal.SIGINT)
            if stop.wait(20):
                self.seen.append(part)
                raise Stopped
        with self.assertRaises(KeyboardInterrupt):
            self.crew(work).run("abcd", 2)
        self.assertEqual((sorted(self.seen), self.errors), (["a", "b"], []))


class ProgressTest(unittest.TestCase):
    def setUp(self):
        self.progress = Progress(9)
        self.progress.clock = lambda: " 0:07"

    def at(self, boot, name, step):
        result = unittest.mock.Mock(step=step)
        result.scenario.name = name
        self.progress.beat(boot, result, True)

    def test_the_line_shows_every_boot(self):
        self.at(1, "pv-a", "migrate")
        self.progress.beat(2, None, False)
        self.assertEqual(self.progress.line(200), "[ 0:07] 0/9  pv-a: migrate | booting")
        self.progress.over(1)
        self.progress.beat(2, None, True)
        self.assertEqual(self.progress.line(200), "[ 0:07] 0/9  between scenarios")

    def test_a_long_text_leaves_room_for_the_others(self):
        self.at(1, "pv-a", "x" * 100)
        self.at(2, "pv-b", "check")
        self.assertEqual(self.progress.line(43), "[ 0:07] 0/9  pv-a: xxxxxxx | pv-b: check")
        self.assertEqual(len(self.progress.line(20)), 20)


class ResultTest(WithScenario):
    def test_a_fault_in_a_log_fails_a_pass(self):
        result = Result(self.scenario(""))
        result.take("log", "pvh-x/dom0-kernel", "BUG: bad page\n")
        result.take("verdict", "pvh-x", "pass")
        result.judge_logs()
        self.assertEqual(result.verdict, "fail")
        self.assertIn("BUG: bad page", result.message)

    def test_what_the_scenario_prints_is_no_fault(self):
        result = Result(self.scenario(""))
        result.take("log", "pvh-x/output", "WARNING: said xl\n")
        result.take("verdict", "pvh-x", "pass")
        result.judge_logs()
        self.assertEqual(result.verdict, "pass")

    def test_a_failure_carries_step_and_reason(self):
        result = Result(self.scenario(""))
        result.take("step", "pvh-x", "later")
        result.take("verdict", "pvh-x", "fail\nmigrate\nno luck\nXen has 3 pages free, had 5")
        self.assertEqual((result.verdict, result.step, result.message, result.details),
                         ("fail", "migrate", "no luck", ["Xen has 3 pages free, had 5"]))

    def test_an_expected_failure_must_be_the_expected_one(self):
        for payload, verdict in (("fail\ns\nno luck at all", "pass"), ("fail\ns\nrain", "fail"), ("pass", "fail")):
            result = Result(self.scenario('#: expect="no luck"\n'))
            result.take("verdict", "pvh-x", payload)
            result.judge_expectation()
            self.assertEqual(result.verdict, verdict)

    def test_figures_and_statistics(self):
        result = Result(self.scenario(""))
        result.take("figure", "pvh-x", "a 3 ms")
        result.take("figure", "pvh-x", "b 1.5 ")
        result.take("figure", "pvh-x", "c 4.17.7")
        result.take("stats", "pvh-x", '{"event": "end"}\nnonsense\n')
        self.assertEqual(result.figures, {"a": 3, "b": 1.5, "c": "4.17.7"})
        self.assertEqual(result.stats, [{"event": "end"}, {"unreadable": "nonsense"}])


class FakeSession:
    """Stands for boots: each takes the next script, {name: (verdict, triple faults)}."""
    scripts = []

    def __init__(self, _image, results, _number, _progress, _stop):
        self.results, self.script = results, self.take_script(results)
        self.settings = results[0].scenario.settings
        self.folder, self.failure = ".", self.script.get("failure", "")
        self.ready = self.script.get("ready", True)

    @staticmethod
    def take_script(_results):
        return FakeSession.scripts.pop(0)

    def run(self):
        for result in self.results:
            if result.scenario.name in self.script:
                result.tries += 1
                result.verdict, result.triple_faults = self.script[result.scenario.name]


class PassingSession(FakeSession):
    """Boots in which all goes well, in several threads."""
    @staticmethod
    def take_script(results):
        return {r.scenario.name: ("pass", 0) for r in results}


class PartTest(WithScenario):
    def run_scripts(self, names, scripts):
        FakeSession.scripts = list(scripts)
        results = [Result(self.scenario("", n)) for n in names]
        real, lab.Session = lab.Session, FakeSession
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                lab.run_part(None, results, Progress(len(results)), itertools.count(1), None)
        finally:
            lab.Session = real
        self.assertEqual(FakeSession.scripts, [])
        return results

    def test_a_triple_fault_is_tried_again_and_counted(self):
        result, = self.run_scripts(["pv-a"], [{"pv-a": ("fail", 1)}, {"pv-a": ("pass", 0)}])
        self.assertEqual((result.verdict, result.tries, result.earlier_triple_faults), ("pass", 2, 1))

    def test_a_pass_with_a_triple_fault_is_no_pass(self):
        result, = self.run_scripts(["pv-a"], [{"pv-a": ("pass", 1)}] * 3)
        self.assertEqual((result.verdict, result.tries), ("fail", 3))
        self.assertIn("no verdict", result.message)

    def test_the_rest_goes_on_in_another_boot(self):
        a, b = self.run_scripts(["pv-a", "pv-b"], [{"pv-a": ("fail", 0)}, {"pv-b": ("pass", 0)}])
        self.assertEqual((a.verdict, b.verdict), ("fail", "pass"))

    def test_boots_that_come_to_nothing_end(self):
        result, = self.run_scripts(["pv-a"], [{"ready": False, "failure": "no Xen"}] * 2)
        self.assertEqual((result.verdict, result.message), ("fail", "no Xen"))

    def test_a_fault_outside_scenarios_fails_the_last(self):
        result, = self.run_scripts(["pv-a"], [{"pv-a": ("pass", 0), "failure": "the console says: BUG"}])
        self.assertEqual(result.verdict, "fail")


class RunTest(WithScenario):
    """Several boots at once, as far as a run without QEMU goes."""
    def test_an_error_of_the_runner_costs_only_its_own_part(self):
        a, b, c = (Result(self.scenario(f"#: cpus={n}\n", name)) for n, name in ((2, "pv-a"), (3, "pv-b"), (4, "pv-c")))

        class Broken(PassingSession):
            def __init__(self, image, results, *others):
                if results == [b]:
                    raise OSError("no space left")
                super().__init__(image, results, *others)

        said = io.StringIO()
        with unittest.mock.patch("lab.Session", Broken), contextlib.redirect_stdout(said):
            broken = lab.run_parts(None, [a, b, c], Progress(3), 2)
        self.assertEqual([broken, a.verdict, b.verdict, c.verdict], [1, "pass", "fail", "pass"])
        self.assertIn("OSError: no space left", b.message)
        self.assertIn("in run_part", said.getvalue())


    def test_who_must_be_alone_comes_last_and_is(self):
        running, seen, lock = set(), [], threading.Lock()

        class Watched(PassingSession):
            def run(self):
                with lock:
                    running.add(self)
                time.sleep(0.05)
                with lock:
                    seen.append((self.results[0].scenario.name, len(running)))
                    running.remove(self)
                super().run()

        texts = (("#: alone=yes timeout=900\n", "pv-a"), ("#: alone=yes cpus=3\n", "pv-b"), ("", "pv-c"), ("#: cpus=4\n", "pv-d"))
        results = [Result(self.scenario(*text)) for text in texts]
        with unittest.mock.patch("lab.Session", Watched), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(lab.run_parts(None, results, Progress(4), 2), 0)
        self.assertEqual(seen[1:], [("pv-a", 1), ("pv-b", 1), ("pv-d", 1)])
        self.assertEqual([r.verdict for r in results], ["pass"] * 4)


# A run of the lab with two boots under way; QEMU is a sleep that ignores being terminated, behind a wrapper that doesn't.
RUN = """
import os, sys
sys.path.insert(0, sys.argv[1])
import lab, session

class Image:
    kernels = {"6.1": type("Kernel", (), {"vmlinuz": "x"})}
    def __init__(self, _): pass
    def overlay(self, _): pass
    def xen(self): return "x"
    def missing(self, *_): return None
    def initrd(self, folder, *_):
        open(folder + "/dom0.img", "w").close()
        return folder + "/dom0.img"

lab.Image = Image
session.command = lambda *_: ["sh", "-c", "(trap '' TERM; exec sleep 300) & echo $$ > %s/pid; wait" % _[4]]
sys.argv = ["lab.py", "--jobs", "2", "--scenarios", sys.argv[2]]
sys.exit(lab.main())
"""


class SignalTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build, scenarios = folder.name, os.path.join(folder.name, "scenarios")
        os.mkdir(scenarios)
        for name in ("pv-a", "pv-b", "pv-c"):
            with open(f"{scenarios}/{name}.sh", "w", encoding="utf-8"):
                pass
        self.run = subprocess.Popen([sys.executable, "-B", "-c", RUN, os.path.join(LAB, "runner"), scenarios],
                                    env={**os.environ, "LAB_BUILD": self.build}, stdout=subprocess.DEVNULL)
        self.addCleanup(self.run.wait)
        self.addCleanup(self.run.kill)

    def groups(self):
        """Process groups of the two boots, once both are there."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            found = [text for n in ("01", "02") if (text := jobs.read(f"{self.build}/lab/boots/{n}/pid")).endswith("\n")]
            if len(found) == 2:
                return [int(text) for text in found]
            time.sleep(0.05)
        self.fail("the boots did not begin")

    @staticmethod
    def alive(group):
        """Its processes; nobody may have asked yet what became of one that has ended."""
        return [path for path in of_group(group) if fields(jobs.read(path + "/stat"))[1][:1] not in (["Z"], ["X"], [])]

    def ended_by(self, number, status):
        groups = self.groups()
        self.assertTrue(all(self.alive(group) for group in groups))
        self.run.send_signal(number)
        self.assertEqual(self.run.wait(40), status)
        until = time.monotonic() + 10
        while any(self.alive(group) for group in groups) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual([path for group in groups for path in self.alive(group)], [])
        self.assertEqual(sorted(os.listdir(f"{self.build}/lab/boots")), ["01", "02"])

    def test_ctrl_c(self):
        self.ended_by(signal.SIGINT, 130)

    def test_terminated(self):
        self.ended_by(signal.SIGTERM, 143)

    def test_the_terminal_is_closed(self):
        self.ended_by(signal.SIGHUP, 129)


class DemoTest(unittest.TestCase):
    STATS = [{"event": "suspended", "side": "save", "engine": "ours", "t": 10.0, "suspend_ms": 5.0},
             {"event": "end", "side": "save", "engine": "ours", "result": 0, "total_s": 9.5, "memory_s": 9.0,
              "bytes": 7, "rounds": 3},
             {"event": "end", "side": "restore", "engine": "ours", "result": 0, "t": 10.25}]
    FIGURES = {"ours.guest_pause_ms": 300, "ours.xl_migrate_s": 12.0, "ours.guest_checked": 5, "ours.guest_errors": 0}

    def test_the_pause_is_from_one_clock(self):
        out = demo.engine_figures("ours", self.FIGURES, self.STATS)
        self.assertEqual((out["engine_pause_ms"], out["rounds"], out["guest_pause_ms"]), (255.0, 3, 300))

    def test_missing_lines_are_named(self):
        with self.assertRaisesRegex(ValueError, "event=suspended"):
            demo.engine_figures("ours", self.FIGURES, self.STATS[1:])

    def test_a_failed_run_names_its_step(self):
        out = demo.report({"figures": {}, "verdict": "fail", "step": "check", "message": "bad page", "tries": 1})
        self.assertEqual((out["migrated"], out["failed_step"], out["message"]), (False, "check", "bad page"))


if __name__ == "__main__":
    unittest.main()
