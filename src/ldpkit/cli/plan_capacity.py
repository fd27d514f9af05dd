"""`ldpkit plan capacity`: the epsilon with which a noisy total still tells whether a capacity suffices."""

from __future__ import annotations

import enum
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.arguments import FigureOption, ForceOption, check_figure
from ldpkit.cli.output import Format, FormatOption, note, show
from ldpkit.cli.repeatable import split
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.numbertext import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Counts, Floats
    from ldpkit.planning.capacity.outliers import Capped
    from ldpkit.planning.capacity.question import CapacityQuestion
    from ldpkit.planning.plan import Plan, Trial
    from ldpkit.simulation.datasets import Dataset

__all__ = ["add_to", "load_people"]


class OutcomeName(enum.StrEnum):
    """What is bounded."""

    tp = "tp"
    fp = "fp"
    tn = "tn"
    fn = "fn"


class MethodName(enum.StrEnum):
    """How to look for epsilon."""

    exact = "exact"
    capri = "capri"
    capri_r = "capri_r"
    bayes = "bayes"


_EXAMPLES = """
\b
Examples:
  ldpkit plan capacity water.csv --capacity 1400000 --constraint fn --at-most 0.05
  ldpkit plan capacity water.csv --capacity 1800000 --constraint tn --at-least 0.99 -p grr,oue,ss --verify
  ldpkit plan capacity water.csv --capacity 1400000 --constraint fn --at-most 0.05 -m capri --runs 50000
  ldpkit plan capacity poisson:k=41,n=98511,mean=16 --capacity 1500000 --constraint fn --at-most 0.1 \
--figure plan.png

The file is a table with a column 'amount' or 'value' and a column 'count'. The exit code is 1 if no
protocol can do what is wanted.
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("capacity", epilog=_EXAMPLES)(capacity)


def capacity(
    file: Annotated[
        str,
        typer.Argument(help="Amounts with counts, a file of amounts, or a population such as poisson:..."),
    ],
    limit: Annotated[float, typer.Option("--capacity", help="What there is for all people together.")],
    constraint: Annotated[
        OutcomeName,
        typer.Option(
            help="The outcome to bound: true or false positive (capacity exceeded), true or false negative."
        ),
    ],
    at_most: Annotated[
        float | None,
        typer.Option("--at-most", help="The largest probability of fp or fn.", show_default=False),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option("--at-least", help="The least probability of tp or tn.", show_default=False),
    ] = None,
    protocol: Annotated[
        list[str],
        typer.Option("--protocol", "-p", metavar="NAME...", help="Mechanisms, with commas between."),
    ] = ["grr"],
    method: Annotated[MethodName, typer.Option("--method", "-m", help="How to look.")] = MethodName.exact,
    runs: Annotated[int, typer.Option(help="Collections at every epsilon; not for exact.")] = 50_000,
    eps_min: Annotated[float, typer.Option("--eps-min", help="The smallest epsilon allowed.")] = 0.001,
    eps_max: Annotated[float, typer.Option("--eps-max", help="The largest epsilon allowed.")] = 10.0,
    precision: Annotated[float, typer.Option(help="Of epsilon; not for exact.")] = 0.01,
    delta: Annotated[float, typer.Option(help="How far capri_r goes back each time.")] = 0.05,
    outliers: Annotated[
        float | None,
        typer.Option(help="Count amounts above this quantile of the people as it.", show_default=False),
    ] = None,
    compensate: Annotated[
        bool, typer.Option(help="Add what --outliers loses back to the estimated total.")
    ] = True,
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate 20,000 collections at epsilon and at 0.9 times it.")
    ] = False,
    column: Annotated[str | None, typer.Option(help="The column of amounts.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(help="Makes simulations repeatable.")] = 0,
    figure: FigureOption = None,
    force: ForceOption = False,
    output: FormatOption = Format.table,
) -> None:
    """Find the smallest epsilon with which a total decides rightly.

    The collector adds up the estimated amounts of all people and says that the capacity is
    exceeded if that total lies above it; that must be right often enough.
    """
    from ldpkit.core.random import seeded
    from ldpkit.planning.capacity.outliers import cap_at_quantile
    from ldpkit.planning.capacity.question import CapacityQuestion, Outcome

    check_figure(figure, force=force, inputs=[file])
    amounts, counts = _read(file, column)
    question = CapacityQuestion(
        amounts, counts, limit, Outcome(constraint.value), at_most=at_most, at_least=at_least
    )
    capped = None if outliers is None else cap_at_quantile(question, outliers, compensate=compensate)
    asked = question if capped is None else capped.question
    options: dict[str, Any] = {"epsilon_min": eps_min, "epsilon_max": eps_max}
    if method is not MethodName.exact:
        options |= {"runs": runs, "precision": precision}
    if method is MethodName.capri_r:
        options["delta"] = delta
    source = seeded(seed)
    plans = [_plan(asked, name, method, source.derive(f"plan {name}"), options) for name in split(protocol)]
    rows = [_row(asked, plan) for plan in plans]
    about = _about(question, capped)
    told = _warnings(asked, plans)
    about["warnings"] = told
    checks = []
    if verify:
        checks = [row for plan in plans for row in _verify(asked, plan, source)]
        about["verified"] = checks
    if output is not Format.table:
        about["trace"] = [row for plan in plans for row in plan.tried()]
    else:
        rows = _told(rows)
    show(rows, output, title=str(asked), caption=_caption(question, capped), about=about)
    if checks and output is Format.table:
        show(
            checks,
            output,
            title="Independent simulation, at epsilon and at 0.9 times it",
            caption="epsilon stands on the edge, so holds is often 'open': the interval has room for both",
        )
    for plan in plans:
        if not plan.feasible:
            note(str(plan))
    for warning in told:
        note(f"warning: {warning}")
    if figure is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.planning.capacity.plans import CapacityPlans

        drawn = CapacityPlans(plans=tuple(plans), question=question, capped=capped).figure()
        save_figure(drawn, figure)
        note(f"wrote {figure}")
    if not any(plan.feasible for plan in plans):
        raise typer.Exit(1)


def load_people(file: str, column: str | None) -> Dataset:
    """Return the people of a table with `amount` or `value` and `count`, or of what else can be loaded."""
    from ldpkit.files.readers import column_names
    from ldpkit.simulation.datasets import load

    names = column_names(file) if Path(file).is_file() else []
    chosen = column or ("amount" if "amount" in names else None)
    return load(file, column=chosen, count="count" if "count" in names else None)


def _read(file: str, column: str | None) -> tuple[Floats, Counts]:
    """Return amounts and counts."""
    import numpy as np

    dataset = load_people(file, column)
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
    method: MethodName,
    source: RandomSource,
    options: dict[str, Any],
) -> Plan:
    from contextlib import closing

    from ldpkit.cli.progress import track
    from ldpkit.planning.capacity.exact import exact
    from ldpkit.planning.capacity.search import bayesian, capri, capri_r

    if method is MethodName.exact:
        return exact(question, protocol, **options)
    searches: dict[MethodName, Callable[..., Plan]] = {
        MethodName.capri: capri,
        MethodName.capri_r: capri_r,
        MethodName.bayes: bayesian,
    }

    def watch(trials: Iterator[Trial], total: int) -> Iterable[Trial]:
        with closing(track(trials, total, f"simulating {protocol}")) as tracked:
            yield from tracked

    return searches[method](question, protocol, rng=source, watch=watch, **options)


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
            yield {"outcome": question.outcome.value, **asdict(check)}


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
