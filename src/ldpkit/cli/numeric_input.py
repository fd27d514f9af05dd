"""What the commands about numbers share: their input, and mean and variance as a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.cli.arguments import as_numbers, parse_interval
from ldpkit.cli.likelihood import describe
from ldpkit.cli.tallies import count_files, is_collected, refuse_twins
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.typing import Floats
    from ldpkit.estimation.numeric import NumericEstimate
    from ldpkit.mechanisms.tally import Tally
    from ldpkit.protocols.adaptive_mean import AdaptiveEstimate

__all__ = [
    "NumericInput",
    "count_numbers",
    "is_about_numbers",
    "number_table",
    "out_of_reach",
    "read_numbers",
    "too_biased",
    "what_it_covers",
    "without_nan",
]


@dataclass(frozen=True)
class NumericInput:
    """A column of numbers in an interval.

    Parameters
    ----------
    values : array
        The numbers, all within the interval.
    interval : IntervalDomain
        The interval.
    moved : int
        How many were outside and moved to the nearest end, as the user asked.
    before : float
        The mean before any was moved.
    """

    values: Floats
    interval: IntervalDomain
    moved: int
    before: float

    def near(self, mean: float, stderr: float) -> str:
        """Return how far an estimate came from the truth, which only a simulation knows."""
        truth = float(self.values.mean())
        distance = abs(mean - truth) / stderr if stderr else 0.0
        return (
            f"note: simulated here; the mean of the file's {len(self.values)} numbers is {truth:.6g}, "
            f"{distance:.1f} standard errors from the estimate{self.what_moved()}"
        )

    def what_moved(self) -> str:
        """Return what moving numbers to the ends did to the mean, as the rest of a sentence."""
        if not self.moved:
            return ""
        return (
            f"; {self.moved} of them were moved to the nearest end of {self.interval}, "
            f"before that their mean was {self.before:.6g}"
        )


def read_numbers(
    files: list[Path], column: str | None, low: float | None, high: float | None, *, clip: bool
) -> NumericInput | None:
    """Return the numbers of a file of values, or None where the files are reports or tallies."""
    interval = parse_interval(low, high)
    if any(is_collected(path) for path in files):
        if interval is not None or clip or column is not None:
            raise InvalidParameterError(
                "report files know their interval: leave out --low, --high, --clip and --column"
            )
        return None
    if len(files) > 1:
        raise InvalidInputError(f"give one file of values, or report files only, got {len(files)} files")
    if interval is None:
        raise InvalidParameterError("numbers need their interval: give it with --low and --high")
    from ldpkit.files.readers import read_cells

    cells = read_cells(files[0], column)
    found = cells.typed()
    values, moved = as_numbers(found, interval, clip=clip, place=cells)
    return NumericInput(values, interval, moved, float(found.mean()) if moved else float(values.mean()))


def count_numbers(files: list[Path], **options: object) -> Tally:
    """Return the tally of report files about numbers; options that they answer themselves are refused."""
    for name, given in options.items():
        if given is not None:
            raise InvalidParameterError(f"report files know their {name}: leave out --{name}")
    refuse_twins(files)
    tally = count_files(files)
    if not is_about_numbers(tally):
        raise InvalidInputError(
            f"{str(files[0])!r} is of {tally.mechanism!r}, which is about categories: use 'ldpkit estimate'"
        )
    return tally


def is_about_numbers(tally: Tally) -> bool:
    """Whether the reports of a tally were made from numbers."""
    from ldpkit.core.domains.interval import IntervalDomain

    return isinstance(tally.mechanism.domain, IntervalDomain)


def number_table(
    tally: Tally, method: str | None, level: float, *, population: bool = False
) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    """Return the rows of mean and variance, what holds for both, and a caption."""
    from ldpkit.estimation.numeric import NumericEstimate

    if method == "density":
        raise InvalidParameterError("for the distribution of numbers use 'ldpkit density' with these files")
    made = tally.estimate(method, population=True) if population else tally.estimate(method)
    if not isinstance(made, NumericEstimate):
        raise InvalidParameterError(f"{method} is for frequencies, not for numbers: leave out --method")
    facts = describe(tally.mechanism)
    about = {
        "n": made.n,
        "mechanisms": [facts],
        "interval": tally.mechanism.domain.to_json(),
        "method": method or tally.mechanism.default_estimator,
        "level": level,
        "population": population,
        "about": made.whose,
        "bias": made.bias,
    }
    caption = (
        f"n={made.n}, {tally.mechanism!r}, exact epsilon {facts['exact_epsilon']!r}\n"
        f"{what_it_covers(made, level)}"
    )
    for warning in (too_biased(made), out_of_reach(made.mean, made.domain)):
        caption += "" if warning is None else f"\n{warning}"
    return [without_nan(row) for row in made.with_level(level).rows()], about, caption


def what_it_covers(made: NumericEstimate | AdaptiveEstimate, level: float) -> str:
    """Return what an interval is about, in a sentence for a caption."""
    bias = f", up to {made.bias:.3g} of bias included" if made.bias else ""
    return f"{100 * level:g}% interval for the mean of {made.whose}{bias}"


def too_biased(made: NumericEstimate | AdaptiveEstimate) -> str | None:
    """Return a warning where bias, which more people do not help against, is a good part of the error."""
    if made.bias < made.stderr / 2:
        return None
    return (
        "note: no weights of these reports estimate the mean without bias; it is in the interval and "
        "does not vanish with more people: pm and hm have none"
    )


def out_of_reach(mean: float, interval: IntervalDomain) -> str | None:
    """Return a warning where an estimate lies where no mean can be."""
    if interval.low <= mean <= interval.high:
        return None
    return (
        f"note: the estimate lies outside the interval {interval}, where no mean can be: this is noise, "
        "so take more people or a larger epsilon, or the nearest end"
    )


def without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with nothing where reports tell nothing: JSON has no NaN."""
    return {name: None if value != value else value for name, value in row.items()}
