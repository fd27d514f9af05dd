"""A process that fuzzes one target for a while; driven by atheris if it is there, else by chance alone."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fuzz.mutate import change_bytes

os.environ.setdefault("MALLOC_ARENA_MAX", "1")  # else every thread reserves 64 MB of address space
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["main", "replay", "run_inputs"]

_KEPT = 400  # accepted inputs that others are made of
_LONGEST = 1 << 14
_FEW = 10


def run_inputs(name: str, seed: int, *, inputs: int, until: float, harness: Any) -> Any:
    """Make and run inputs of a target until there were so many, or until a moment; return the result."""
    from fuzz.harness import Result
    from fuzz.targets import TARGETS

    target, rng, result = TARGETS[name], random.Random(f"{name} {seed}"), Result(name)
    pool = list(target.seeds())
    harness.warm_up(target, _some(pool))
    fixed = len(pool)
    for data in _some(pool):
        harness.run(target, data, result)
    while result.inputs < inputs and time.monotonic() < until:
        data = rng.choice(pool)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            data = _changed(target, rng, data)
        accepted = result.accepted
        harness.run(target, data[: 1 << 17], result)
        if result.accepted > accepted and len(data) <= _LONGEST:  # what is taken leads on to more
            if len(pool) < fixed + _KEPT:
                pool.append(data)
            else:
                pool[rng.randrange(fixed, len(pool))] = data
    return result


def _some(inputs: Sequence[bytes]) -> list[bytes]:
    """Return a few inputs from all over a list."""
    return list(inputs[:: 1 + len(inputs) // _FEW])


def _changed(target: Any, rng: random.Random, data: bytes) -> bytes:
    """Return another input; where the mutator finds no structure to keep, any bytes are as good."""
    try:
        made: bytes = target.mutate(rng, data)
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        struct.error,
    ):
        made = change_bytes(rng, data)
    return made


def replay(harness: Any) -> list[Any]:
    """Run all past findings; a result has the name of its finding, and counts what must be refused."""
    from fuzz.corpus import findings
    from fuzz.harness import Result
    from fuzz.targets import TARGETS

    results, warm = [], set[str]()
    for finding in findings():
        result, target = Result(f"{finding.target}: {finding.name}"), TARGETS[finding.target]
        if target.name not in warm:
            harness.warm_up(target, target.seeds()[:1])
            warm.add(target.name)
        harness.run(target, finding.data, result)
        if not finding.is_refused:  # such a one may be taken: it must only do no harm
            result.accepted = 0
        results.append(result)
    return results


def _compiled() -> list[str]:
    """Return the modules that Numba compiles, which atheris must leave as they are."""
    package = importlib.util.find_spec("ldpkit")
    assert package is not None
    assert package.origin is not None
    kernels = Path(package.origin).parent / "mechanisms" / "kernels"
    loops = [f"ldpkit.mechanisms.kernels.{file.stem}" for file in kernels.glob("*.py")]
    return [*loops, "ldpkit.estimation.bayes.kernels"]


def _guided(name: str, seed: int, until: float, folder: Path, kept: Path, summary: Path) -> None:
    """Let atheris choose the inputs by the code that they reach; this does not return."""
    import atheris

    with atheris.instrument_imports(include=["ldpkit"], exclude=_compiled()):
        from fuzz.harness import Harness, Result
        from fuzz.targets import TARGETS

        target = TARGETS[name]
        harness, result = Harness(folder, kept), Result(name)
        pool = list(target.seeds())
        harness.warm_up(target, _some(pool))  # imports what is imported late, to be watched as well
    corpus = folder / "corpus"
    corpus.mkdir()
    for index, data in enumerate(pool):
        (corpus / str(index)).write_bytes(data)

    def one(data: bytes) -> None:
        harness.run(target, data, result)
        if time.monotonic() > until:
            summary.write_text(json.dumps([result.to_dict()]))
            os._exit(0)

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        return _changed(target, random.Random(seed), data)[:most]

    settings = (
        f"-seed={seed + 1}",
        f"-max_len={_LONGEST}",
        "-rss_limit_mb=0",
        "-timeout=600",
        "-verbosity=0",
    )
    more = ("-print_final_stats=0", "-len_control=0", f"-artifact_prefix={folder}/")
    atheris.Setup(["fuzz", *settings, *more, str(corpus)], one, custom_mutator=mutated)
    atheris.Fuzz()


def main(words: Sequence[str]) -> int:
    """Run some targets, as `python -m fuzz.worker JSON`, and write a summary to a file."""
    asked = json.loads(words[0])
    folder, kept, summary = (Path(asked[name]) for name in ("folder", "kept", "summary"))
    if asked["guided"]:
        _guided(asked["target"], asked["seed"], asked["until"], folder, kept, summary)
    from fuzz.harness import Harness

    harness, results = Harness(folder, kept), list[Any]()
    for name in asked["target"].split(","):
        if name == "findings":
            results += replay(harness)
        else:
            limits = {"inputs": asked["inputs"], "until": asked["until"]}
            results.append(run_inputs(name, asked["seed"], harness=harness, **limits))
    summary.write_text(json.dumps([result.to_dict() for result in results]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
