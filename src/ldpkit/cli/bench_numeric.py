"""`ldpkit bench --task mean|density`: the benchmark of numbers that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.cli.inputs import read_numbers
from ldpkit.cli.options import PeopleOptions
from ldpkit.cli.parsing import split
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.bench.numeric_benchmark import NumericBenchmark
    from ldpkit.bench.numeric_data import NumericData
    from ldpkit.bench.numeric_experiment import Task

__all__ = ["NumberOptions", "SharedOptions", "numbers_benchmark"]


@dataclass(frozen=True)
class SharedOptions:
    """What is asked of every benchmark; empty where nothing was said."""

    epsilons: list[float]
    mechanisms: list[str]
    metrics: list[str]
    repeats: int | None
    seed: int


@dataclass(frozen=True)
class NumberOptions:
    """Which numbers, and how a density is read off them; None and empty where nothing was said."""

    who: PeopleOptions
    low: float | None
    high: float | None
    clip: bool
    algorithms: list[str]

    def load(self, spec: str) -> NumericData:
        """Return the numbers of a file, or of a distribution."""
        from ldpkit.bench.numeric_data import NumericData, is_file, load_numbers

        if not is_file(spec):
            if self.clip:
                raise InvalidParameterError(f"--clip is for files: {spec!r} is a distribution")
            return load_numbers(spec, column=self.who.column, low=self.low, high=self.high)
        column, missing = self.who.column, self.who.missing
        found = read_numbers([Path(spec)], column, self.low, self.high, clip=self.clip, missing=missing)
        if found is None:
            raise InvalidParameterError(f"{spec} has reports, not numbers: give a number for each person")
        found.note_moved()
        return NumericData(Path(spec).stem, found.values, found.interval)


def numbers_benchmark(task: Task, shared: SharedOptions, numbers: NumberOptions) -> NumericBenchmark:
    """Return the benchmark of numeric mechanisms that is asked for, not yet run."""
    from ldpkit.bench.numeric_benchmark import DENSITY_DATA, MEAN_DATA, density, mean
    from ldpkit.bench.numeric_experiment import DENSITY_MECHANISMS, MEAN_MECHANISMS

    if task == "mean" and numbers.algorithms:
        raise InvalidParameterError("--estimator is for densities; for a mean write -p sw+ems")
    named = split([numbers.who.data or ""])
    data = [numbers.load(spec) for spec in named or (MEAN_DATA if task == "mean" else DENSITY_DATA)]
    settings: dict[str, Any] = {
        "epsilon": shared.epsilons,
        "seed": shared.seed,
        "run": False,
        **({} if shared.repeats is None else {"repeats": shared.repeats}),
        **({"metrics": shared.metrics} if shared.metrics else {}),
    }
    if task == "mean":
        return mean(data, shared.mechanisms or MEAN_MECHANISMS, **settings)
    methods = numbers.algorithms or "ems"
    return density(data, shared.mechanisms or DENSITY_MECHANISMS, methods=methods, **settings)
