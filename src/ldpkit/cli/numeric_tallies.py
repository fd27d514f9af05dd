"""What the commands about numbers share: tallies of numbers, and mean and variance as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.cli.likelihood import describe
from ldpkit.cli.tallies import count_files, refuse_twins
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.estimation.numeric import NumericEstimate
    from ldpkit.mechanisms.tally import Tally
    from ldpkit.protocols.adaptive_mean import AdaptiveEstimate

__all__ = [
    "count_numbers",
    "is_about_numbers",
    "number_table",
    "too_biased",
    "what_it_covers",
    "without_nan",
]


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
    from ldpkit.mechanisms.kinds import is_numeric

    return is_numeric(tally.mechanism)


def number_table(
    tally: Tally, method: str | None, level: float, *, population: bool = False
) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    """Return the rows of mean and variance, what holds for both, and a caption."""
    from ldpkit.estimation.numeric import NumericEstimate

    if method == "density":
        raise InvalidParameterError("for the distribution of numbers use 'ldpkit density' with these files")
    made = tally.estimate(method, population=True) if population else tally.estimate(method)
    if not isinstance(made, NumericEstimate):
        raise InvalidParameterError(f"{method} is for frequencies, not for numbers: leave out --estimator")
    facts = describe(tally.mechanism)
    about = {
        "n": made.n,
        "mechanisms": [facts],
        "interval": tally.mechanism.domain.to_json(),
        "method": method or tally.mechanism.default_estimator,
        "level": level,
        "population": population,
        "about": made.about,
        "bias": made.bias,
    }
    caption = (
        f"n={made.n}, {tally.mechanism!r}, exact epsilon {facts['exact_epsilon']!r}\n"
        f"{what_it_covers(made, level)}"
    )
    if (warning := too_biased(made)) is not None:
        caption += f"\n{warning}"
    return [without_nan(row) for row in made.rows(level)], about, caption


def what_it_covers(made: NumericEstimate | AdaptiveEstimate, level: float) -> str:
    """Return what an interval is about, in a sentence for a caption."""
    bias = f", up to {made.bias:.3g} of bias included" if made.bias else ""
    return f"{100 * level:g}% interval for the mean of {made.about}{bias}"


def too_biased(made: NumericEstimate | AdaptiveEstimate) -> str | None:
    """Return a warning where bias, which more people do not help against, is a good part of the error."""
    if made.bias < made.stderr / 2:
        return None
    return (
        "note: no weights of these reports estimate the mean without bias; it is in the interval and "
        "does not vanish with more people: pm and hm have none"
    )


def without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with nothing where reports tell nothing: JSON has no NaN."""
    return {name: None if value != value else value for name, value in row.items()}
