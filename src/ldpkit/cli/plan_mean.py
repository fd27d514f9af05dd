"""`ldpkit plan budget` for numbers: the smallest epsilon for a mean that is exact enough."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.cli.inputs import read_numbers
from ldpkit.cli.options import Missing, PeopleOptions
from ldpkit.cli.parsing import parse_interval
from ldpkit.cli.printing import note, progress_bar
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.typing import Floats
    from ldpkit.planning.mean.plans import MeanPlans

__all__ = ["plan_mean"]


def plan_mean(
    mechanisms: list[str],
    low: float | None,
    high: float | None,
    within: float | None,
    people: int | None,
    who: PeopleOptions,
    *,
    clip: bool,
    **settings: Any,
) -> MeanPlans:
    """Return the answer to what the user asked about numbers; None stands where nothing was said."""
    from ldpkit.planning.mean.plans import mean

    interval = parse_interval(low, high)
    if interval is None:
        raise InvalidParameterError("numbers need their interval: give it with --low and --high")
    if within is None:
        raise InvalidParameterError("how far off may the mean be? give --within, in the unit of the numbers")
    if who.data is not None:
        values = _values(who.data, who.column, interval, clip=clip, missing=who.missing)
        n = people or len(values)
        with progress_bar() as watch:
            return mean(interval, within, mechanisms, n=n, values=values, watch=watch, **settings)
    if people is None:
        raise InvalidParameterError("say how many will be asked: give --n, or numbers with -d FILE")
    if who.column is not None or clip:
        raise InvalidParameterError("--column and --clip are for a file of numbers: give one with -d FILE")
    with progress_bar() as watch:
        return mean(interval, within, mechanisms, n=people, watch=watch, **settings)


def _values(
    data: str, column: str | None, interval: IntervalDomain, *, clip: bool, missing: Missing
) -> Floats:
    numbers = read_numbers([Path(data)], column, interval.low, interval.high, clip=clip, missing=missing)
    if numbers is None:
        raise InvalidParameterError(
            f"{data} has reports, not numbers: give a file with a number for each person"
        )
    if numbers.moved:
        about = f"{len(numbers.values)} numbers with mean {float(numbers.values.mean()):.6g}"
        note(f"the plan is about {about}{numbers.what_moved()}")
    return numbers.values
