"""`script/fuzz`: run all targets for some minutes on all cores; print a table; fail on any failure."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from fuzz.harness import Failure, Harness, Result, keep
from fuzz.targets import TARGETS
from fuzz.worker import replay

_SLICE = 240.0  # seconds that a process should have, or its start takes most of them on a busy machine
_PATIENCE = 180.0  # seconds beyond its time after which a process hangs
_COLUMNS = ("target", "inputs", "refused", "accepted", "CPU s", "slowest s", "memory MB", "failures")


def main(words: Sequence[str] | None = None) -> int:
    """Run what the options ask for and return the exit code."""
    parser = argparse.ArgumentParser(prog="script/fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long in all (default: 1)")
    parser.add_argument("--target", default="", help=f"one of {', '.join(TARGETS)}")
    parser.add_argument("--seed", type=int, default=0, help="of the chances (default: 0)")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--plain", action="store_true", help="without atheris, even if it is installed")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="where failing inputs go")
    parser.add_argument("--replay", nargs="*", metavar="FILE", help="run these inputs, or all past findings")
    options = parser.parse_args(words)
    if options.target and options.target not in TARGETS:
        parser.error(f"no target {options.target!r}: choose from {', '.join(TARGETS)}")
    if options.replay is not None:
        return _replay(options.replay, options.target, options.keep.resolve())
    names = [options.target] if options.target else list(TARGETS)
    guided = not options.plain and importlib.util.find_spec("atheris") is not None
    seconds = options.minutes * 60 * options.cores / len(names)
    parts = max(1, min(options.cores, int(seconds / _SLICE))) if len(names) > 1 else options.cores
    jobs = [(name, parts * options.seed + part) for part in range(parts) for name in names]
    with tempfile.TemporaryDirectory(prefix="ldpkit-fuzz-", dir=_fast_folder()) as folder:
        run = _Run(Path(folder), options.keep.resolve(), seconds / parts, guided)
        run.start(jobs, options.cores)
    return _show([run.results[name] for name in names], "guided by atheris" if guided else "plain")


def _fast_folder() -> str | None:
    """Return a folder in memory, where there is one: millions of small files pass through it."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class _Run:
    """The processes, some at a time; a process that dies is a failure, and another one goes on."""

    def __init__(self, folder: Path, kept: Path, seconds: float, guided: bool) -> None:
        self.results: dict[str, Result] = {}
        self._folder, self._kept, self._seconds, self._guided = folder, kept, seconds, guided
        self._lock, self._started = threading.Lock(), 0
        self._is_over = False
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, jobs: list[tuple[str, int]], cores: int) -> None:
        """Run all jobs."""
        waiting = iter(jobs)

        def work() -> None:
            while True:
                with self._lock:
                    job = next(waiting, None)
                if job is None:
                    return
                self._job(*job)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(cores)]
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder goes, as after Ctrl-C
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            with self._lock:
                self._is_over = True
                for process in self._processes:
                    process.kill()

    def _job(self, name: str, seed: int) -> None:
        deadline, deaths = time.monotonic() + self._seconds, 0
        while deaths == 0 or (time.monotonic() < deadline and deaths < 20):
            result = self._process(name, seed + 1000 * deaths, max(1.0, deadline - time.monotonic()))
            with self._lock:
                self.results.setdefault(name, Result(name)).add(result)
            if not any(each.what.startswith("the process died") for each in result.failures):
                return
            deaths += 1

    def _process(self, name: str, seed: int, seconds: float) -> Result:
        with self._lock:
            self._started += 1
            folder = self._folder / str(self._started)
        summary = Path(f"{folder}.json")
        asked = {
            "target": name,
            "seed": seed,
            "until": time.monotonic() + seconds,
            "inputs": 1 << 60,
            "guided": self._guided,
            "folder": str(folder),
            "kept": str(self._kept),
            "summary": str(summary),
        }
        command = [sys.executable, "-m", "fuzz.worker", json.dumps(asked)]
        with self._lock:
            if self._is_over:
                sys.exit()  # this thread
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            self._processes.append(process)
        try:
            _, errors = process.communicate(timeout=seconds + _PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
        if summary.exists():
            return Result.from_dict(json.loads(summary.read_text())[0])
        return Result(name, failures=[self._death(name, folder, process.returncode, errors)])

    def _death(self, name: str, folder: Path, code: int, errors: bytes) -> Failure:
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        told = errors.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        path, current = "", folder / "current"
        if current.exists():
            noted = current.read_bytes()
            path = str(keep(self._kept, name, noted[8 : 8 + int.from_bytes(noted[:8], "little")]))
            Path(f"{path}.stderr").write_bytes(errors)  # its last line is often not enough
        return Failure(name, f"the process died of {how}: {told}", path)


def _replay(files: Sequence[str], target: str, kept: Path) -> int:
    """Run given inputs, or those of the corpus, each as if it had just been made."""
    inputs = [(target or Path(file).parent.name.replace("-", " "), Path(file).read_bytes()) for file in files]
    with tempfile.TemporaryDirectory(prefix="ldpkit-fuzz-", dir=_fast_folder()) as folder:
        harness = Harness(Path(folder), kept)
        if not inputs:
            return _show(replay(harness), "past findings")
        results = {name: Result(name) for name in TARGETS}
        for name in TARGETS:
            harness.warm_up(TARGETS[name], list(TARGETS[name].seeds())[:3])
        for name, data in inputs:
            harness.run(TARGETS[name], data, results[name])
    return _show([each for each in results.values() if each.inputs], "replayed")


def _show(results: Sequence[Result], how: str) -> int:
    total = Result("all")
    for each in results:
        total.add(each)
    failures = [failure for each in results for failure in each.failures]
    lines = [
        (
            *(
                each.target,
                f"{each.inputs:,}",
                f"{each.refused:,}",
                f"{each.accepted:,}",
                f"{each.seconds:.0f}",
            ),
            *(f"{each.slowest:.3f}", f"{each.memory / (1 << 20):.0f}", str(len(each.failures))),
        )
        for each in (*results, total)
    ]
    print(f"{_COLUMNS[0]:12}" + "".join(f"{name:>12}" for name in _COLUMNS[1:]) + f"   {how}")
    for line in lines:
        print(f"{line[0]:12}" + "".join(f"{cell:>12}" for cell in line[1:]))
    for failure in failures:
        print(f"FAILED {failure.target}: {failure.what}\n       {failure.path}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
