# Threads that work off a list, in its order; the main thread waits, and gets the signals.
# SPDX-License-Identifier: LGPL-2.1-or-later
import threading


class Stopped(Exception):
    """The work is to end at once."""


class Crew:
    """work(part, stop) does one part; stop is an event: as soon as it is set, it raises Stopped.
    What else it raises goes to failed(part, error), and the other parts go on."""

    def __init__(self, work, failed):
        self.work, self.failed = work, failed
        self.stop = threading.Event()
        self.lock = threading.Lock()

    def run(self, parts, jobs):
        """Ends when all is done; by an exception (Ctrl-C, a signal) when all who work have put down what they hold."""
        self.left, ended, threads = list(parts), threading.Semaphore(0), []
        try:
            for _ in range(min(jobs, len(parts))):
                thread = threading.Thread(target=self._member, args=(ended,))
                thread.start()
                threads.append(thread)
            # By a semaphore: a join() that an exception interrupts takes the thread for ended ever after (Python 3.11).
            # Not for ever in one go: a signal that another thread gets is seen only between two calls.
            for _ in threads:
                while not ended.acquire(timeout=0.5):
                    pass
        finally:
            self.stop.set()
            for thread in threads:
                thread.join()

    def _member(self, ended):
        try:
            self._work_off()
        finally:
            ended.release()

    def _next(self):
        with self.lock:
            return self.left.pop(0) if self.left and not self.stop.is_set() else None

    def _work_off(self):
        while part := self._next():
            try:
                self.work(part, self.stop)
            except Stopped:
                return
            except Exception as error:  # whatever it is, it must not take the others' verdicts along
                self.failed(part, error)
