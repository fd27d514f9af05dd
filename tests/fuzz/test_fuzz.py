"""A bounded number of inputs at every test run, and all past findings; `script/fuzz` runs more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.harness import Harness, Result
from fuzz.target import Broken, Target
from fuzz.targets import TARGETS

_TESTS = Path(__file__).resolve().parent.parent


_INPUTS = 15  # of each target; script/fuzz makes as many as there is time for


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    """Fuzz and replay the findings."""
    folder = tmp_path_factory.mktemp("fuzz")
    asked = {"target": ",".join([*TARGETS, "findings"]), "seed": 20, "inputs": _INPUTS, "until": float("inf")}
    paths = {"folder": f"{folder}/work", "kept": f"{folder}/kept", "summary": f"{folder}/summary"}
    _python("-m", "fuzz.worker", json.dumps({**asked, **paths, "guided": False}))
    return [Result.from_dict(each) for each in json.loads((folder / "summary").read_text())]


def _python(*words: str) -> str:
    """Run Python in a process of its own, which may have limits, and return what it printed."""
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_TESTS), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"the process died with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def _failures(results: list[Result]) -> str:
    return "\n".join(f"{each.target}: {failure.what}" for each in results for failure in each.failures)


def test_no_input_of_a_fixed_seed_fails(results: list[Result]) -> None:
    fuzzed = results[: len(TARGETS)]
    assert [each.target for each in fuzzed] == list(TARGETS)
    assert not _failures(fuzzed)
    for each in fuzzed:
        assert each.inputs == _INPUTS
        assert each.refused > 0, f"{each.target} refuses nothing: its mutator changes nothing"
        assert each.accepted > 0, f"{each.target} accepts nothing: its seeds are no good"


def test_past_findings_stay_mended(results: list[Result]) -> None:
    replayed = results[len(TARGETS) :]
    assert len(replayed) >= 50
    assert not _failures(replayed)
    assert not [each.target for each in replayed if each.accepted], "these must be refused"


def _taken(data: bytes, folder: Path) -> None:
    if data == b"crash":
        raise ZeroDivisionError
    if data == b"wrong":
        raise Broken("wrong")
    if data == b"write":
        (folder.parent / "elsewhere" / "x").write_text("x")
    if data == b"print(7)":
        eval(data.decode())


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"fine", None),
        (b"crash", "ZeroDivisionError"),
        (b"wrong", "Broken"),
        (b"write", "outside the folder"),
        (b"print(7)", "code of the input"),
    ],
)
def test_the_harness_sees_what_it_must(tmp_path: Path, data: bytes, what: str | None) -> None:
    harness = Harness(tmp_path / "work", tmp_path / "kept", limited=False)
    target = Target("control", lambda: [b"fine"], lambda rng, data: data, _taken)
    result = Result("control")
    harness.run(target, data, result)
    assert [what in failure.what for failure in result.failures if what] == [True] * (what is not None)
    assert result.accepted == (what is None) or what in ("outside the folder", "code of the input")
    for failure in result.failures:
        assert Path(failure.path).read_bytes() == data


_LIMITS = """
import sys
import time
from pathlib import Path

from fuzz.harness import SECONDS, Harness, Result
from fuzz.target import Target
from numba.core import event

harness = Harness(Path(sys.argv[1], "work"), Path(sys.argv[1], "kept"))

def check(data, folder):
    if data == b"compile":
        with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):
            bytes(400 << 20)
            start = time.process_time()
            while time.process_time() < start + 1.1:  # longer than an input may take
                pass
    if data == b"compile, then much":
        with event.trigger_event("numba:compile"):
            pass
    if data.endswith(b"much"):
        bytes(400 << 20)
    if data == b"large":
        b"x" * (310 << 20)

target = Target("control", lambda: [b"fine"], lambda rng, data: data, check)
harness.warm_up(target, [b"fine"])
for data in (b"fine", b"compile", b"much", b"compile, then much", b"large"):
    result = Result("control")
    harness.run(target, data, result)
    bytes(400 << 20)  # as what makes the next input may take
    cheap = result.slowest < SECONDS and result.memory < 50 << 20
    print(data.decode(), [each.what.split()[0] for each in result.failures], cheap, sep="; ")
"""


def test_an_input_pays_for_what_it_takes_and_not_for_compiling_or_for_the_next(tmp_path: Path) -> None:
    assert _python("-c", _LIMITS, str(tmp_path)).splitlines() == [
        "fine; []; True",
        "compile; []; True",
        "much; ['MemoryError']; True",
        "compile, then much; ['MemoryError']; True",
        "large; ['too']; False",
    ]
