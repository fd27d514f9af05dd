"""`ldpkit plan budget` for numbers: the smallest epsilon for a mean that is exact enough."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ldpkit.cli.inputs import read_numbers
from ldpkit.cli.options import Missing
from ldpkit.cli.parsing import parse_interval
from ldpkit.cli.printing import note, watched
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.planning.mean.plans import MeanPlans

__all__ = ["MeanOptions"]


@dataclass(frozen=True)
class MeanOptions:
    """What the user asked about numbers; None where nothing was said."""

    low: float | None
    high: float | None
    within: float | None
    people: int | None
    clip: bool
    data: str | None
    column: str | None
    missing: Missing
    mechanisms: list[str]
    probability: float
    range_: tuple[float, float]

    def plan(self, *, verified: bool, seed: int) -> MeanPlans:
        """Return the answer."""
        from ldpkit.core.random import seeded
        from ldpkit.planning.mean.plans import mean

        interval = parse_interval(self.low, self.high)
        if interval is None:
            raise InvalidParameterError("numbers need their interval: give it with --low and --high")
        if self.within is None:
            raise InvalidParameterError(
                "how far off may the mean be? give --within, in the unit of the numbers"
            )
        values, n = self._values()
        return mean(
            interval,
            self.within,
            self.mechanisms,
            n=n,
            values=values,
            probability=self.probability,
            epsilon_min=self.range_[0],
            epsilon_max=self.range_[1],
            verified=verified,
            rng=seeded(seed),
            watch=watched,
        )

    def _values(self) -> tuple[Floats | None, int]:
        """Return the values, if there are any, and the number of people."""
        if self.data is None:
            if self.people is None:
                raise InvalidParameterError("say how many will be asked: give --n, or numbers with -d FILE")
            if self.column is not None or self.clip:
                raise InvalidParameterError(
                    "--column and --clip are for a file of numbers: give one with -d FILE"
                )
            return None, self.people
        numbers = read_numbers(
            [Path(self.data)], self.column, self.low, self.high, clip=self.clip, missing=self.missing
        )
        if numbers is None:
            raise InvalidParameterError(
                f"{self.data} has reports, not numbers: give a file with a number for each person"
            )
        if numbers.moved:
            about = f"{len(numbers.values)} numbers with mean {float(numbers.values.mean()):.6g}"
            note(f"the plan is about {about}{numbers.what_moved()}")
        return numbers.values, self.people or len(numbers.values)
