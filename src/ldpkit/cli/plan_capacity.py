"""`ldpkit plan capacity`: the epsilon with which a noisy total still tells whether a capacity suffices."""

from __future__ import annotations

import enum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.choices import AllOf, chosen, is_all, note_left_out
from ldpkit.cli.inputs import load_people
from ldpkit.cli.options import (
    ColumnOption,
    DataOption,
    EpsilonMaxOption,
    EpsilonMinOption,
    FigureOption,
    ForceOption,
    Format,
    FormatOption,
    MechanismsOption,
    Missing,
    MissingOption,
    RepeatableSeedOption,
)
from ldpkit.cli.outputs import check_extra, check_figure
from ldpkit.cli.plan_options import AtLeastOption, AtMostOption, VerifyOption, conclude
from ldpkit.cli.printing import show
from ldpkit.cli.progress import watched
from ldpkit.cli.repeatable import ManyValuesCommand, split
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, LdpkitError
from ldpkit.core.numbertext import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Counts, Floats
    from ldpkit.planning.capacity.outliers import Capped
    from ldpkit.planning.capacity.question import CapacityQuestion
    from ldpkit.planning.plan import Plan, Trial

__all__ = ["add_to"]


class OutcomeName(enum.StrEnum):
    """What is bounded."""

    tp = "tp"
    fp = "fp"
    tn = "tn"
    fn = "fn"


class SearchName(enum.StrEnum):
    """How to look for epsilon."""

    exact = "exact"
    capri = "capri"
    capri_r = "capri_r"
    bayes = "bayes"


_EXAMPLES = """
\b
Examples:
  ldpkit plan capacity -d water.csv --capacity 1400000 --constraint fn \\
    --at-most 0.05
  ldpkit plan capacity -d water.csv --capacity 1800000 --constraint tn \\
    --at-least 0.99 -p grr oue ss --verify
  ldpkit plan capacity -d water.csv --capacity 1400000 --constraint fn \\
    --at-most 0.05 --search capri --runs 50000
  ldpkit plan capacity -d poisson:k=41,n=98511,mean=16 --capacity 1500000 \\
    --constraint fn --at-most 0.1 --figure plan.png

The file is a table with a column 'amount' or 'value' and a column 'count'. The exit code is 1 if no
mechanism can do what is wanted.
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("capacity", cls=ManyValuesCommand, epilog=_EXAMPLES)(capacity)


def capacity(
    limit: Annotated[float, typer.Option("--capacity", help="What there is for all people together.")],
    constraint: Annotated[
        OutcomeName,
        typer.Option(
            help="The outcome to bound: true or false positive (capacity exceeded), true or false negative."
        ),
    ],
    data: DataOption = None,
    column: ColumnOption = None,
    missing: MissingOption = Missing.refuse,
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    mechanism: MechanismsOption = None,
    search: Annotated[SearchName, typer.Option("--search", help="How to look.")] = SearchName.exact,
    runs: Annotated[int, typer.Option(help="Collections at every epsilon; not for exact.")] = 50_000,
    eps_min: EpsilonMinOption = 0.001,
    eps_max: EpsilonMaxOption = 10.0,
    precision: Annotated[float, typer.Option(help="Of epsilon; not for exact.")] = 0.01,
    delta: Annotated[float, typer.Option(help="How far capri_r goes back each time.")] = 0.05,
    outliers: Annotated[
        float | None,
        typer.Option(help="Count amounts above this quantile of the people as it.", show_default=False),
    ] = None,
    compensate: Annotated[
        bool, typer.Option(help="Add what --outliers loses back to the estimated total.")
    ] = True,
    verify: VerifyOption = False,
    seed: RepeatableSeedOption = 0,
    figure: FigureOption = None,
    force: ForceOption = False,
    output: FormatOption = Format.table,
    old_place: Annotated[str | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Find the smallest epsilon with which a total decides rightly.

    The collector adds up the estimated amounts of all people and says that the capacity is
    exceeded if that total lies above it; that must be right often enough.
    """
    from ldpkit.core.random import seeded
    from ldpkit.planning.capacity.outliers import cap_at_quantile
    from ldpkit.planning.capacity.question import CapacityQuestion, Outcome

    if data is None:
        raise InvalidParameterError(f"whose amounts? give them with -d {old_place or 'FILE'}")
    check_figure(figure, force=force, inputs=[data])
    if search is SearchName.bayes:
        check_extra("bayes_opt")
    names, left_out = _names(split(mechanism or ["grr"]))
    amounts, counts = _read(data, column, missing)
    question = CapacityQuestion(
        amounts, counts, limit, Outcome(constraint.value), at_most=at_most, at_least=at_least
    )
    capped = None if outliers is None else cap_at_quantile(question, outliers, compensate=compensate)
    asked = question if capped is None else capped.question
    options: dict[str, Any] = {"epsilon_min": eps_min, "epsilon_max": eps_max}
    if search is not SearchName.exact:
        options |= {"runs": runs, "precision": precision}
    if search is SearchName.capri_r:
        options["delta"] = delta
    source = seeded(seed)
    plans = []
    for name in names:
        try:
            plans.append(_plan(asked, name, search, source.derive(f"plan {name}"), options))
        except LdpkitError as refusal:
            if not is_all(mechanism):
                raise
            left_out.append(f"{name}: {refusal}")
    note_left_out(left_out)
    if not plans:
        raise InvalidParameterError(f"nothing is left to plan with: {'; '.join(left_out)}")
    rows = [_row(asked, plan) for plan in plans]
    warnings = _warnings(asked, plans)
    checks = [row for plan in plans for row in _verify(asked, plan, source)] if verify else []
    about = _about(question, capped) | {"left_out": left_out, "warnings": warnings}
    if verify:
        about["verified"] = checks
    if output is not Format.table:
        about["trace"] = [row for plan in plans for row in plan.rows()]
    else:
        rows = _told(rows)
    show(rows, output, title=str(asked), caption=_caption(question, capped), about=about)

    def draw() -> Any:
        from ldpkit.figures.capacity import capacity_figure

        return capacity_figure(asked, plans)

    conclude(plans, output, checks=checks, warnings=warnings, figure=figure, draw=draw)


def _names(given: list[str]) -> AllOf:
    """Return the mechanisms that are meant; 'all' leaves out those that need more than an epsilon."""
    from ldpkit.mechanisms.kinds import select

    return chosen(given, select(single_epsilon=True, without=("fitted",)), None)


def _read(file: str, column: str | None, missing: Missing) -> tuple[Floats, Counts]:
    """Return amounts and counts."""
    import numpy as np

    dataset = load_people(file, column, missing)
    labels = list(dataset.domain.labels)
    for label in labels:
        if isinstance(label, (str, bool)):
            raise InvalidInputError(
                f"{file!r}: the value {label!r} is no amount: name the column of numbers with --column"
            )
    return np.array(labels, float), dataset.counts


def _plan(
    question: CapacityQuestion,
    protocol: str,
    search: SearchName,
    source: RandomSource,
    options: dict[str, Any],
) -> Plan:
    from ldpkit.planning.capacity.exact import exact
    from ldpkit.planning.capacity.search import bayesian, capri, capri_r

    if search is SearchName.exact:
        return exact(question, protocol, **options)
    searches: dict[SearchName, Callable[..., Plan]] = {
        SearchName.capri: capri,
        SearchName.capri_r: capri_r,
        SearchName.bayes: bayesian,
    }

    def watch(trials: Iterator[Trial], total: int) -> Iterable[Trial]:
        return watched(trials, total, f"simulating {protocol}")

    return searches[search](question, protocol, rng=source, watch=watch, **options)


def _row(question: CapacityQuestion, plan: Plan) -> dict[str, Any]:
    from ldpkit.planning.capacity.bounds import cantelli, chebyshev
    from ldpkit.planning.laws.totals import law_at

    low, high = plan.interval or (None, None)
    ends = [question.of_outcome(end) for end in (low, high) if end is not None]
    row: dict[str, Any] = {
        "protocol": plan.protocol,
        "method": plan.method,
        "epsilon": plan.epsilon,
        f"P({question.outcome.value})": question.of_outcome(plan.probability),
        "low": min(ends, default=None),
        "high": max(ends, default=None),
        "holds": plan.holds,
    }
    at = plan.epsilon or max(trial.epsilon for trial in plan.trace)
    try:
        law = law_at(plan.protocol, question)(at)
        exact: dict[str, Any] = {
            "exact": question.of_outcome(question.right(law.at_most(question.capacity))),
            "stderr_of_total": law.variance**0.5,
            "chebyshev": chebyshev(law, question),
            "cantelli": cantelli(law, question),
        }
    except InvalidParameterError:  # a mechanism whose law is not known
        exact = dict.fromkeys(("exact", "stderr_of_total", "chebyshev", "cantelli"))
    return row | exact | {"simulations": plan.simulations, "seconds": plan.seconds, "note": plan.note}


def _warnings(question: CapacityQuestion, plans: list[Plan]) -> list[str]:
    """Return what the epsilons give away, where that is much."""
    from ldpkit.assurance.adversary import attack_on, epsilon_warnings
    from ldpkit.planning.laws.totals import mechanism_at

    told = []
    for plan in plans:
        if plan.epsilon is not None:
            made = mechanism_at(plan.protocol, question)(plan.epsilon)
            attack = partial(attack_on, made, question.counts)
            told += epsilon_warnings(plan.epsilon, subject=plan.protocol, attack=attack)
    return told


def _told(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows without columns that tell nothing."""
    told = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)]
    if all(row["method"] == "exact" for row in rows):
        told.remove("exact")
    return [{name: row[name] for name in told} for row in rows]


def _verify(question: CapacityQuestion, plan: Plan, source: RandomSource) -> Iterator[dict[str, Any]]:
    from ldpkit.planning.capacity.verify import verify

    if plan.epsilon is not None:
        rng = source.derive(f"verify {plan.protocol}")
        for check in verify(question, plan.protocol, plan.epsilon, rng=rng):
            yield {"outcome": question.outcome.value, **check.row()}


def _about(question: CapacityQuestion, capped: Capped | None) -> dict[str, Any]:
    about: dict[str, Any] = {
        "people": question.n,
        "values": len(question.amounts),
        "total": question.total,
        "capacity": question.capacity,
        "outcome": question.outcome.value,
        "bound": question.bound,
    }
    if capped is not None:
        about["outliers"] = {"limit": capped.limit, "people": capped.people, "lost": capped.lost}
    return about


def _caption(question: CapacityQuestion, capped: Capped | None) -> str:
    people = f"{question.n:,} people, {len(question.amounts):,} values"
    text = f"{people}; chebyshev and cantelli bound any mistake"
    if capped is None:
        return text
    return (
        f"{text}; {capped.people:,} people above {number_text(capped.limit)} count as "
        f"{number_text(capped.limit)}, which loses {number_text(capped.lost, 6)} of the total"
    )
