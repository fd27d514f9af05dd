"""CPU seconds and memory of a tree of processes, for work that others do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import psutil

__all__ = ["Meter", "Used", "metered"]


class Used(NamedTuple):
    """What a piece of work took."""

    cpu: float
    """CPU seconds of this process and its children."""
    root: float
    """CPU seconds of this process."""
    megabytes: float
    """The most memory of all of them together; what they share counts in each."""
    worker: float
    """The most memory of one child that is no Java process, in megabytes; 0 without children."""


class Meter:
    """CPU seconds and the most memory of this process and all its children, those included that end."""

    def __init__(self) -> None:
        self.root = psutil.Process()
        self.peak, self.worker = 0.0, 0.0
        self._seen: dict[int, float] = {}
        self._own = 0.0  # looking takes time too, and is not part of the work
        self._stop = threading.Event()

    def look(self) -> None:
        """Add what there is to see now."""
        total = 0.0
        for process in [self.root, *self.root.children(recursive=True)]:
            with suppress(psutil.Error):
                used = process.cpu_times()
                self._seen[process.pid] = used.user + used.system
                held = process.memory_info().rss / 1e6
                total += held
                if process.pid != self.root.pid and process.name() != "java":
                    self.worker = max(self.worker, held)
        self.peak = max(self.peak, total)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look twice a second while something runs."""

        def watch() -> None:
            while not self._stop.wait(0.5):
                self.look()
            self._own = time.thread_time()

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()
            self.look()

    @property
    def cpu(self) -> float:
        """CPU seconds of all processes that were seen, without those of looking."""
        return sum(self._seen.values()) - self._own

    @property
    def root_cpu(self) -> float:
        """CPU seconds of this process, without those of looking."""
        return self._seen[self.root.pid] - self._own


def metered(work: Callable[[], Any]) -> tuple[Any, Used]:
    """Return what the work gives and what it took."""
    before = Meter()
    before.look()
    meter = Meter()
    with meter.running():
        found = work()
    return found, Used(meter.cpu - before.cpu, meter.root_cpu - before.root_cpu, meter.peak, meter.worker)
