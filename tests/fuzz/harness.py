"""One input at a time, under limits: what it does, what it takes, and whether that is a failure."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import resource
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from numba.core import event

from fuzz.guard import Guard
from fuzz.target import Target
from ldpkit.core.errors import LdpkitError

__all__ = ["SMALL", "Failure", "Harness", "Result"]

SMALL = 1024  # bytes: an input of this length takes at most so much of both:
SECONDS = 1.0
_AT_MOST = 8 * SECONDS  # for a longer input; on a crowded machine the same work takes twice the CPU time
MEMORY = 300 << 20
_MORE_MEMORY = 64  # bytes for each byte of a longer input, as `ldpkit.core.limits` has it
_SLACK = 40 << 20  # address space that is asked for and not used
_STUCK = 20  # CPU seconds after which a process ends itself
_HIGH_WATER = re.compile(rb"VmHWM:\s*(\d+) kB")
_KINDS = 40  # failures of one kind are one failure; of so many kinds inputs are kept


class _TooSlow(BaseException):
    """An input is still at work."""


@dataclass
class Failure:
    """What went wrong with an input, and where the input is kept."""

    target: str
    what: str
    path: str

    @property
    def kind(self) -> str:
        """What failures have in common that are the same but for the input."""
        return self.kind_of(self.what)

    @staticmethod
    def kind_of(what: str) -> str:
        """Return the part of a message that is the same for all inputs that do the same."""
        return what.split(": ", 1)[0]


@dataclass
class Result:
    """What came of the inputs of one target; `seconds` is the CPU time of its processes.

    `slowest` and `memory` are the most that one input of at most `SMALL` bytes took.
    """

    target: str
    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    memory: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Result) -> None:
        """Take in what another process found."""
        self.inputs += other.inputs
        self.accepted += other.accepted
        self.refused += other.refused
        self.slowest = max(self.slowest, other.slowest)
        self.memory = max(self.memory, other.memory)
        self.seconds += other.seconds
        known = {each.kind for each in self.failures}
        self.failures += [each for each in other.failures if each.kind not in known]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Result:
        """Return the result of a JSON form."""
        return cls(**{**record, "failures": [Failure(**each) for each in record["failures"]]})


class Harness:
    """Runs inputs in a folder of its own, with limits on memory and time.

    Parameters
    ----------
    folder : Path
        A folder for this process alone.
    kept : Path
        Where inputs that fail are kept.
    limited : bool
        Whether to set limits, which only a process for this purpose should.
    """

    def __init__(self, folder: Path, kept: Path, *, limited: bool = True) -> None:
        self.inside, self._elsewhere = folder / "inside", folder / "elsewhere"
        for each in (self.inside, self._elsewhere):
            each.mkdir(parents=True)
        self.kept, self._limited = kept, limited
        tempfile.gettempdir()  # tries once whether it may write there, which is not the input's doing
        self.guard = Guard(self.inside)
        self._current = os.open(folder / "current", os.O_RDWR | os.O_CREAT) if limited else -1
        self._base, self._since, self._space, self._aside = 0, 0, 0, 0.0
        self._length: int | None = None  # of the input at work
        if limited:
            os.chdir(self._elsewhere)  # where anything that appears is a failure
            os.environ["HOME"] = str(self._elsewhere)
            signal.signal(signal.SIGVTALRM, _stop)
            event.register("numba:compile", _Compiling(self))

    def warm_up(self, target: Target, inputs: list[bytes]) -> None:
        """Run some inputs first: what is loaded and compiled once is not what an input takes."""
        for data in inputs:
            self._clear()
            self._patiently(target, data)

    def run(self, target: Target, data: bytes, result: Result) -> None:
        """Run one input, and count what it did."""
        self._note(target, data)
        self._clear()
        seconds, memory, problem, is_refused = self._attempt(target, data)
        is_small, told = len(data) <= SMALL, problem or ""
        is_dear = seconds > SECONDS or memory > MEMORY or "MemoryError" in told
        if (is_small and is_dear) or told.startswith("too slow"):
            # Once more: the first time something may have been compiled or loaded.
            self._clear()
            self._patiently(target, data)
            self._clear()
            seconds, memory, problem, is_refused = self._attempt(target, data)
            if problem is None and is_small and seconds > SECONDS:
                problem = f"too slow: an input of {len(data)} bytes takes {seconds:.1f} CPU seconds"
            if problem is None and is_small and memory > MEMORY:
                problem = f"too large: an input of {len(data)} bytes takes {memory >> 20} MB"
        result.inputs += 1
        result.seconds = time.process_time()
        result.refused += is_refused
        result.accepted += not is_refused and problem is None
        if is_small:
            result.slowest = max(result.slowest, seconds)
            result.memory = max(result.memory, memory)
        if problem is None:
            problem = self._trespass()
        if problem is not None:
            self._keep(target, data, problem, result)

    def _attempt(self, target: Target, data: bytes) -> tuple[float, int, str | None, bool]:
        """Return CPU seconds, bytes of memory, what went wrong, and whether the input was refused."""
        problem, is_refused = None, False
        self._length, self._aside = len(data), 0.0
        self._measure()
        self._limit(self._length)
        self.guard.watch(data)
        start = time.process_time()
        try:
            with self._timer():
                target.check(data, self.inside)
        except LdpkitError:
            is_refused = True
        except KeyboardInterrupt:
            raise
        except _TooSlow:
            problem = f"too slow: an input of {len(data)} bytes takes more than {_AT_MOST:g} CPU seconds"
        except BaseException as error:
            problem = _told(error)
        finally:
            self.guard.leave()
            self._length = None
            self._lift()  # what makes the next input is not this one's doing
        return time.process_time() - start - self._aside, _peak() - self._base, problem, is_refused

    def _patiently(self, target: Target, data: bytes) -> None:
        """Run an input without limits on memory and time, but for a process that is stuck."""
        with contextlib.suppress(Exception):
            target.check(data, self.inside)
        self._since = 0

    @contextlib.contextmanager
    def _timer(self) -> Iterator[None]:
        if not self._limited:
            yield
            return
        signal.setitimer(signal.ITIMER_VIRTUAL, _AT_MOST)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _limit(self, length: int) -> None:
        """Let no more be taken than an input of this length may, and end a process that is stuck."""
        if not self._limited:
            return
        if self._since % 64 == 0:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            self._space = pages * resource.getpagesize()
        self._since += 1
        most = self._space + MEMORY + _SLACK + _MORE_MEMORY * max(0, length - SMALL)
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + _STUCK, resource.RLIM_INFINITY))

    def _lift(self) -> None:
        """Let the process take what it wants; only one that is stuck still ends."""
        if self._limited:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def _measure(self) -> None:
        """Take the memory of now for what the process has without an input."""
        with contextlib.suppress(OSError):  # where there is no such file, the peak until now is not forgotten
            Path("/proc/self/clear_refs").write_text("5")
        self._base = _peak()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Do what an input happens to need first, such as compiling, at nobody's expense."""
        start = time.process_time()
        left, _ = signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self._lift()
        try:
            with self.guard.aside():
                yield
                self._measure()
                self._since = 0
        finally:
            self._aside += time.process_time() - start
            if self._length is not None:
                self._limit(self._length)
                signal.setitimer(signal.ITIMER_VIRTUAL, left)

    def _note(self, target: Target, data: bytes) -> None:
        """Write down what is about to run, for who finds this process dead."""
        if self._limited:
            os.pwrite(self._current, len(data).to_bytes(8, "little") + data, 0)

    def _clear(self) -> None:
        for entry in os.scandir(self.inside):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)  # noqa: PTH108 - entries are no Paths

    def _trespass(self) -> str | None:
        if self.guard.seen:
            return self.guard.seen[0]
        if self._limited and self._since % 64 == 1:
            for entry in os.scandir(self._elsewhere):
                if entry.is_file():
                    os.unlink(entry.path)  # noqa: PTH108 - as above
                return f"{entry.name!r} appeared outside the folder"
        return None

    def _keep(self, target: Target, data: bytes, problem: str, result: Result) -> None:
        if len(result.failures) >= _KINDS or any(
            each.kind == Failure.kind_of(problem) for each in result.failures
        ):
            return
        path = keep(self.kept, target.name, data)
        result.failures.append(Failure(target.name, problem, str(path)))


class _Compiling(event.Listener):  # type: ignore[misc]  # Numba has no types
    """Sets aside what compiling takes: in a new installation an input may be the first to need a kernel."""

    def __init__(self, harness: Harness) -> None:
        self._harness, self._depth, self._open = harness, 0, contextlib.ExitStack()

    def on_start(self, event_: event.Event) -> None:
        if self._depth == 0:
            self._open.enter_context(self._harness.aside())
        self._depth += 1

    def on_end(self, event_: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._open.close()


def keep(folder: Path, target: str, data: bytes) -> Path:
    """Write a failing input to its place, and return it."""
    place = folder / target.replace(" ", "-")
    place.mkdir(parents=True, exist_ok=True)
    path = place / hashlib.sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path


def _peak() -> int:
    """Return the most memory since `_measure`; that of `getrusage` begins with what the parent had."""
    with open("/proc/self/status", "rb") as file:  # noqa: PTH123 - twice for each input
        return int(_HIGH_WATER.search(file.read())[1]) << 10  # type: ignore[index]  # Linux has it always


def _stop(number: int, frame: FrameType | None) -> None:
    raise _TooSlow


def _told(error: BaseException) -> str:
    """Return what was raised and where, in a line that is the same for all inputs that do the same."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if "ldpkit" in each.filename] or frames
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
    return f"{type(error).__name__} at {place}: {str(error)[:120]}"
