"""The faults: signals at random moments and in the middle of a write, no room, no right, no stream, races."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ldpkit
from faults.found import PATIENCE, SIGNALS, Found
from faults.scenarios import Scenario, make_inputs

LDPKIT = (sys.executable, "-m", "ldpkit")
# Pages state the same moment in every run, and reproductions find no data, which would take minutes.
SETTINGS = {
    **{name: value for name, value in os.environ.items() if name != "LDPKIT_DATA"},
    "SOURCE_DATE_EPOCH": "1700000000",
}
PACKAGE = str(Path(ldpkit.__file__).parent)
OLD = b"what stood there before\n"
RACERS = 3
_HEAD = struct.Struct("<4sHI")


class Bench:
    """A place with inputs, where scenarios are tried one after the other."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.inputs = folder / "in"
        self.folder = folder
        self.random = random.Random(seed)
        for words in make_inputs(self.inputs):
            subprocess.run([*LDPKIT, *words], cwd=folder, check=True, capture_output=True, env=SETTINGS)

    def run(self, scenario: Scenario, kills: int) -> Found:
        """Try all faults on one scenario."""
        found = Found()
        place = self.folder / "place"
        place.mkdir()
        (place / "in").symlink_to(self.inputs)
        self.place, self.scenario = place, scenario
        self._start()[1].communicate(timeout=PATIENCE)  # compiles and caches what is to be cached
        self._clear()
        start = time.monotonic()
        code, text = self._finish(self._start()[1])
        found.seconds = time.monotonic() - start
        assert code == 0, f"{scenario.name} does not work at all: {text}"
        self.reference = {name: _read(place / name) for name in scenario.outputs}
        for number in range(kills):
            name = list(SIGNALS)[number % len(SIGNALS)]
            self._kill(found, name, number, is_in_write=number // len(SIGNALS) % 2 == 1)
        self._leftovers(found)
        self._full_disk(found)
        self._streams(found)
        self._read_only(found)
        self._race(found)
        shutil.rmtree(place)
        return found

    # One command

    def _start(self, *more: str, **settings: Any) -> tuple[float, subprocess.Popen[bytes]]:
        defaults: dict[str, Any] = {
            "cwd": self.place,
            "env": SETTINGS,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.PIPE,
        }
        command = [*settings.pop("before", ()), *LDPKIT, *self.scenario.words, *more]
        return time.monotonic(), subprocess.Popen(command, **{**defaults, **settings})

    def _finish(self, process: subprocess.Popen[bytes]) -> tuple[int, str]:
        try:
            _, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return process.returncode, errors.decode(errors="replace")

    def _clear(self) -> None:
        for path in self.place.iterdir():
            if path.name == "in":
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def _files(self) -> list[str]:
        """Return all files that are not inputs, those in folders too."""
        found = [Path(folder, name) for folder, _, names in os.walk(self.place) for name in names]
        return [str(path.relative_to(self.place)) for path in found]

    def _parts(self) -> list[str]:
        return [name for name in self._files() if name.endswith(".part")]

    def _put_old(self, name: str) -> None:
        (self.place / name).parent.mkdir(exist_ok=True)
        (self.place / name).write_bytes(OLD)

    def _check_outputs(self, *, may_be_old: bool = False, must_be: bool = False) -> None:
        for name, whole in self.reference.items():
            path = self.place / name
            if not path.exists():
                assert not must_be, f"{name} is missing"
                continue
            if name in self.scenario.keeps:
                continue  # the next run finds out whether it is sound
            data = _read(path)
            is_begun = name in self.scenario.grows and not must_be and _are_first_rows(data, whole)
            sound = data == whole or (may_be_old and data == OLD) or is_begun
            assert sound, f"{name} is broken: {len(data)} bytes"

    def _check_refusal(self, code: int, text: str, *, before: dict[str, bytes]) -> None:
        assert code == 2, f"exit code {code}: {text}"
        assert "Traceback" not in text, text
        lines = text.strip().splitlines()
        assert [line.startswith("error: ") for line in lines[-1:]] == [True], text
        assert sum(line.startswith("error: ") for line in lines) == 1, text
        assert not self._parts(), f"left {self._parts()}"
        now = {name: _read(self.place / name) for name in self._files()}
        for name, data in now.items():
            sound = data in (before.get(name), self.reference.get(name)) or name in self.scenario.keeps
            is_begun = name in self.scenario.grows and _are_first_rows(data, self.reference[name])
            assert sound or is_begun, f"{name} is new or broken"

    # The faults

    def _kill(self, found: Found, name: str, number: int, *, is_in_write: bool) -> None:
        scenario = self.scenario
        has_old = bool(scenario.overwrite) and number % 3 == 0
        if not scenario.resumes:
            for output in scenario.outputs:
                (self.place / output).unlink(missing_ok=True)
                if has_old:
                    self._put_old(output)
        elif all((self.place / output).exists() for output in scenario.outputs):
            finished = [_read(self.place / name) == self.reference[name] for name in scenario.grows]
            if all(finished):
                self._clear()  # begin another
        before = set(self._parts())
        start, process = self._start(*(scenario.overwrite if has_old or scenario.overwrite else ()))
        if is_in_write:
            wait = PATIENCE
            while process.poll() is None and time.monotonic() < start + wait:
                if set(self._parts()) - before:
                    found.count("mid-write")
                    break
                time.sleep(0.0005)
            time.sleep(self.random.uniform(0, 0.004))
        else:
            time.sleep(self.random.uniform(0, 1.1 * found.seconds))
        process.send_signal(SIGNALS[name])
        found.count(name)
        what = f"SIG{name} after {time.monotonic() - start:.3f} s"
        with found.trial(what):
            code, text = self._finish(process)
            number = int(SIGNALS[name])
            self._check_outputs(may_be_old=has_old)
            if name == "INT" and "KeyboardInterrupt" in text and PACKAGE not in text:
                found.count("early")  # no line of ldpkit had run: Python answers Ctrl-C as it likes
                return
            assert code in (0, -number, 128 + number), f"exit code {code}: {text}"
            assert "Traceback" not in text, text
            if code == 128 + number:
                assert not set(self._parts()) - before, f"left {self._parts()}"

    def _leftovers(self, found: Found) -> None:
        """The next run removes what the killed ones left, and gives the whole output."""
        with found.trial("the run after the kills"):
            found.counts["left"] = len(self._parts())
            code, text = self._finish(self._start(*self.scenario.overwrite)[1])
            assert code == 0, text
            for name in set(self.reference) - set(self.scenario.keeps):
                assert _read(self.place / name) == self.reference[name], f"{name} differs"
            here = set(self._files())
            assert here == set(self.scenario.outputs), f"left {sorted(here)}"

    def _full_disk(self, found: Found) -> None:
        largest = max(map(len, self.reference.values()))
        for limit in (0, largest // 2, largest - 1):
            self._clear()
            is_there = limit > 0 and bool(self.scenario.overwrite)
            before = dict.fromkeys(self.scenario.outputs, OLD) if is_there else {}
            for name in before:
                self._put_old(name)

            def starve(limit: int = limit) -> None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

            with found.trial(f"files of at most {limit} bytes"):
                found.count("full disk")
                more = self.scenario.overwrite if is_there else ()
                process = self._start(*more, preexec_fn=starve)[1]
                self._check_refusal(*self._finish(process), before=before)
        self._clear()

    def _streams(self, found: Found) -> None:
        def close(number: int) -> Callable[[], None]:
            return lambda: os.close(number)

        cases: tuple[tuple[str, dict[str, Any]], ...] = (
            ("closed standard output", {"stdout": None, "preexec_fn": close(1)}),
            ("closed standard input", {"stdin": None, "preexec_fn": close(0)}),
            ("a full standard output", {}),
        )
        for what, settings in cases:
            self._clear()
            with found.trial(what), Path("/dev/full").open("wb") as full:
                found.count("streams")
                stdout = {"stdout": full} if "full" in what else {}
                code, text = self._finish(self._start(**{**stdout, **settings})[1])
                fails = self.scenario.prints and "output" in what
                assert code == (2 if fails else 0), f"exit code {code}: {text}"
                assert "Traceback" not in text, text
                assert "Exception" not in text, text
                assert not self._parts(), f"left {self._parts()}"
                self._check_outputs(must_be=not fails)
        self._clear()

    def _read_only(self, found: Found) -> None:
        before: tuple[str, ...] = ()
        if os.geteuid() == 0:  # root may write everywhere unless it gives that right away
            setpriv = shutil.which("setpriv")
            if setpriv is None:
                return
            before = (setpriv, "--bounding-set=-dac_override,-dac_read_search,-fowner")
        self.place.chmod(0o555)
        try:
            with found.trial("a read-only folder"):
                found.count("read-only")
                self._check_refusal(*self._finish(self._start(before=before)[1]), before={})
        finally:
            self.place.chmod(0o755)
        words = self.scenario.words
        moved = tuple(f"no/{word}" if word in self.reference else word for word in words)
        if moved == words:  # it makes a folder for its outputs
            return
        with found.trial("a folder that is not there"):
            found.count("read-only")
            process = subprocess.Popen(
                [*LDPKIT, *moved],
                cwd=self.place,
                env=SETTINGS,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            self._check_refusal(*self._finish(process), before={})

    def _race(self, found: Found) -> None:
        with found.trial(f"{RACERS} at once"):
            found.count("races")
            ends = [self._finish(process) for _, process in [self._start() for _ in range(RACERS)]]
            assert {code for code, _ in ends} <= {0, 2}, ends
            assert any(code == 0 for code, _ in ends), ends
            for code, text in ends:
                assert "Traceback" not in text, text
                assert code == 0 or text.strip().splitlines()[-1].startswith("error: "), text
            self._check_outputs(must_be=True)
            assert not self._parts(), f"left {self._parts()}"
        self._clear()


def _are_first_rows(data: bytes, whole: bytes) -> bool:
    """Whether an output has the first rows it would have: lines of CSV, or a JSON."""
    if whole.startswith(data):
        return data.endswith(b"\n") or not data
    try:
        rows, all_rows = (json.loads(each)["rows"] for each in (data, whole))
    except (ValueError, KeyError, TypeError):
        return False
    return bool(rows == all_rows[: len(rows)])


def _read(path: Path) -> bytes:
    """Return what stands in an output, without what differs from run to run.

    A page names the command that made it, with or without --force; a plan says how many seconds it took;
    a report file has a name of its own, which its checksum covers.
    """
    data = re.sub(rb" (?:<span>)?--force(?:</span>)?", b"", path.read_bytes())
    data = re.sub(rb'"seconds": [\d.e+-]+', b"", data)
    if data[:4] != b"LDPR" or len(data) < _HEAD.size:
        return data
    stop = _HEAD.size + _HEAD.unpack_from(data)[2]
    if data[stop : stop + 4] != struct.pack("<I", zlib.crc32(data[:stop])):
        return data
    return re.sub(rb'"batch":"[0-9a-f]{32}"', b"", data[:stop]) + data[stop + 4 :]
