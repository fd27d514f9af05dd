"""`ldpkit risk`: what an epsilon means, as the success of an adversary who guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.choices import chosen, note_left_out
from ldpkit.cli.inputs import load_people, moved_in_words, read_numbers
from ldpkit.cli.making import is_for_numbers, make_mechanism, space_of
from ldpkit.cli.options import (
    ClipOption,
    ColumnOption,
    DataOption,
    DomainOption,
    EpsilonsOption,
    FigureOption,
    ForceOption,
    Format,
    FormatOption,
    HighOption,
    LowOption,
    MechanismsOption,
    Missing,
    MissingOption,
    ParameterOption,
    RepeatableSeedOption,
)
from ldpkit.cli.outputs import check_figure
from ldpkit.cli.parsing import parse_budgets, parse_interval, parse_parameters, refuse_options
from ldpkit.cli.plan_options import save_drawn
from ldpkit.cli.printing import note, say, show
from ldpkit.cli.progress import watched
from ldpkit.cli.repeatable import ManyValuesCommand, split
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ldpkit.assurance.adversary import Risk
    from ldpkit.core.domains.base import Domain
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.typing import Floats

__all__ = ["add_to"]

_UNIFORM = "uniform"
_EXAMPLES = """
\b
Examples:
  ldpkit risk -p grr -e 1 --domain 10
  ldpkit risk -d water.csv -e 0.5 1 2 4 --eta 5 --figure risk.png
  ldpkit risk -d water.csv --prior uniform -p grr oue ss -e 1
  ldpkit risk -p oue -e 0.5 --domain 10 --reports 20
  ldpkit risk -p lgrr --parameter epsilon_inf=2 --parameter epsilon_1=1 \\
    --domain 10 --reports 20
  ldpkit risk -p pm sw -e 1 --low 0 --high 100 --bins 20
  ldpkit risk -d ages.csv --column age --low 0 --high 120 -p all
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("risk", cls=ManyValuesCommand, epilog=_EXAMPLES)(risk)


def risk(
    mechanism: MechanismsOption = None,
    epsilon: EpsilonsOption = None,
    domain: DomainOption = None,
    low: LowOption = None,
    high: HighOption = None,
    bins: Annotated[
        int | None,
        typer.Option(
            "--bins",
            min=2,
            max=256,
            help="For numbers: the cells of the interval that the adversary tells apart.",
            show_default="16",
        ),
    ] = None,
    data: DataOption = None,
    column: ColumnOption = None,
    clip: ClipOption = False,
    missing: MissingOption = Missing.refuse,
    prior: Annotated[
        str | None,
        typer.Option(
            help="What the adversary believes before: 'uniform', or a table of counts; "
            "by default the frequencies of --data.",
            show_default=False,
        ),
    ] = None,
    eta: Annotated[
        float | None,
        typer.Option(help="Also ask whether the value is at most this.", show_default=False),
    ] = None,
    reports: Annotated[int, typer.Option("--reports", help="Reports of one person that are seen.")] = 1,
    devices: Annotated[
        int, typer.Option("--devices", help="People to attack, where it takes a simulation.")
    ] = 10_000,
    parameter: ParameterOption = None,
    seed: RepeatableSeedOption = 0,
    figure: FigureOption = None,
    force: ForceOption = False,
    output: FormatOption = Format.table,
) -> None:
    """Show how often an adversary guesses a value from its report.

    The adversary knows the mechanism and has a prior, and no guess is right more often.
    Of numbers, which have a --low and a --high, the adversary guesses the cell.
    """
    check_figure(figure, force=force, inputs=[data])
    from ldpkit.assurance.adversary import in_words

    names, left_out = _names(split(mechanism or []), numbers=low is not None or high is not None)
    if is_for_numbers(names[0]):
        secret = _numbers(names[0], domain, low, high, bins, data, column, clip=clip, missing=missing)
    else:
        refuse_options(f"{names[0]} is for categories", low=low, high=high, bins=bins, clip=clip)
        secret = _categories(names[0], domain, data, column, missing)
    if prior is not None:
        secret = secret.believed(prior)
    texts = parse_parameters(parameter)
    budgets: list[float | None] = [*sorted(parse_budgets(epsilon or []))] or [None if texts else 1.0]
    note_left_out(left_out)
    options = {"eta": eta, "reports": reports, "devices": devices}
    found = _all_risks(names, budgets, texts, secret, options, seed)
    rows = [_row(name, each) for name, risks in found.items() for each in risks]
    every = [each for risks in found.values() for each in risks]
    if output is not Format.table:
        rows = [row | {"words": " ".join(in_words(each))} for row, each in zip(rows, every, strict=True)]
    show(rows, output, title=f"An adversary who guesses one of {secret.what}", caption=_caption(found))
    if output is Format.table and len(rows) == 1:
        say("\n".join(in_words(every[0])))

    def draw() -> Any:
        from ldpkit.figures.risk import risk_figure

        return risk_figure(found)

    save_drawn(figure, draw)


@dataclass(frozen=True)
class _Secret:
    """What the adversary guesses.

    `people` and `prior` have a number for each value or cell: how many hold it, and what is
    believed; None is the same for all. Numbers lie in an interval of some cells.
    """

    space: Domain
    what: str
    people: Floats | None
    prior: Floats | None
    interval: IntervalDomain | None = None
    cells: int = 0

    @property
    def amounts(self) -> Floats | None:
        """The middles of the cells of numbers."""
        import numpy as np

        if self.interval is None:
            return None
        return self.interval.low + self.interval.width * (np.arange(self.cells) + 0.5) / self.cells

    def believed(self, text: str) -> _Secret:
        """Return the same with another prior: uniform, or a table of counts."""
        prior = None if text == _UNIFORM else self._counts(text)
        return replace(self, prior=prior)

    def _counts(self, table: str) -> Floats:
        import numpy as np

        from ldpkit.files.readers import read_counts

        labels, counts = read_counts(table)
        if self.interval is None:
            belief = np.zeros(self.space.size or 0)
            belief[np.asarray(self.space.encode(labels))] = counts
            return belief
        return _in_cells(self.interval, np.asarray(labels, float), self.cells, counts)


def _names(given: list[str], *, numbers: bool) -> tuple[list[str], list[str]]:
    """Return the mechanisms to attack, all for the same kind of data, and what 'all' leaves out."""
    from ldpkit.mechanisms.kinds import FREQUENCY, NUMERIC, select

    if numbers:
        able = select(NUMERIC, single_epsilon=True, without=("fitted",))
        names, left_out = chosen(given or ["pm", "hm", "sw"], able, NUMERIC)
    else:
        able = select(FREQUENCY, "likelihood", single_epsilon=True)
        names, left_out = chosen(given or ["grr", "sue", "oue", "olh", "ss"], able, FREQUENCY)
    for name in names:
        if is_for_numbers(name) != is_for_numbers(names[0]):
            raise InvalidParameterError(
                f"{names[0]} and {name} are for different data, categories and numbers: attack them apart"
            )
    return names, left_out


def _categories(
    name: str, domain: str | None, data: str | None, column: str | None, missing: Missing
) -> _Secret:
    if data is None:
        if domain is None:
            raise InvalidParameterError("the adversary needs values to guess: give --domain, or --data")
        space = space_of(name, domain, None, None)
        return _Secret(space, f"{space.size} values", None, None)
    refuse_options("the data have their own values", domain=domain)
    found = load_people(data, column, missing)
    counts = found.counts.astype(float)
    return _Secret(found.domain, f"{found.k} values", counts, counts)


def _numbers(
    name: str,
    domain: str | None,
    low: float | None,
    high: float | None,
    bins: int | None,
    data: str | None,
    column: str | None,
    *,
    clip: bool,
    missing: Missing,
) -> _Secret:
    from ldpkit.assurance.adversary.numeric import BINS

    space_of(name, domain, low, high)  # refuses what does not belong to numbers
    interval = parse_interval(low, high)
    assert interval is not None
    count = bins or BINS
    what = f"{count} cells of {interval}, each value taken as the middle of its cell"
    if data is None:
        refuse_options("there is no file of numbers", column=column, clip=clip)
        return _Secret(interval, what, None, None, interval, count)
    found = read_numbers([Path(data)], column, low, high, clip=clip, missing=missing)
    if found is None:
        raise InvalidParameterError(f"{data} has reports, not numbers: give a number for each person")
    if found.moved:
        note(moved_in_words(found.moved, len(found.values)))
    people = _in_cells(interval, found.values, count)
    return _Secret(interval, what, people, people, interval, count)


def _in_cells(interval: IntervalDomain, values: Floats, bins: int, weights: Any = None) -> Floats:
    """Return how many values fall into each of some equally wide cells."""
    import numpy as np

    cells = ((interval.check(values) - interval.low) / interval.width * bins).astype(int)
    return np.bincount(np.minimum(cells, bins - 1), weights, minlength=bins).astype(float)


def _all_risks(
    names: Sequence[str],
    budgets: Sequence[float | None],
    parameters: Mapping[str, str],
    secret: _Secret,
    options: Mapping[str, Any],
    seed: int,
) -> dict[str, list[Risk]]:
    from ldpkit.assurance.adversary import risk as measure
    from ldpkit.core.random import seeded

    cells = [(name, budget) for name in names for budget in budgets]
    made = [(name, make_mechanism(name, secret.space, budget, parameters)) for name, budget in cells]
    found: dict[str, list[Risk]] = {}

    def attack() -> Iterator[tuple[str, Risk]]:
        for name, mechanism in made:
            rng = seeded(seed).derive(repr(mechanism))
            yield (
                name,
                measure(
                    mechanism,
                    secret.prior,
                    people=secret.people,
                    amounts=secret.amounts,
                    rng=rng,
                    **options,
                ),
            )

    for name, each in watched(attack(), len(cells), "attacking"):
        found.setdefault(name, []).append(each)
    return found


def _row(name: str, each: Risk) -> dict[str, Any]:
    row: dict[str, Any] = {
        "mechanism": name,
        "epsilon": each.epsilon,
        "success": each.success,
        "stderr": each.success_stderr,
        "blind": each.blind,
        "gain": each.gain,
        "squared_error": each.squared_error,
        "blind_squared_error": each.blind_squared_error,
    }
    if each.eta is not None:
        row |= {"precision": each.precision, "recall": each.recall, "f_score": each.f_score}
    return row | {"reports": each.reports, "how": each.how}


def _caption(found: Mapping[str, Sequence[Risk]]) -> str:
    from ldpkit.mechanisms.base import MECHANISMS

    first = next(iter(found.values()))[0]
    text = "success: how often the guess is right; blind: without a report; epsilon: of all reports together"
    about = (
        "" if first.eta is None else f"; precision, recall, f_score: of 'the value is at most {first.eta:g}'"
    )
    is_hashed = any(MECHANISMS.get(name).can("hashed") for name in found)
    return text + about + ("; hashing counts as ideal" if is_hashed else "")
