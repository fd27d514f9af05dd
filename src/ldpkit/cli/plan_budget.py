"""`ldpkit plan budget`: the smallest epsilon for a wanted accuracy of frequencies, or of a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.choices import chosen, is_all
from ldpkit.cli.inputs import load_people
from ldpkit.cli.options import (
    ClipOption,
    ColumnOption,
    ConsistencyOption,
    DataOption,
    EpsilonMaxOption,
    EpsilonMinOption,
    FigureOption,
    ForceOption,
    Format,
    FormatOption,
    HighOption,
    LowOption,
    MechanismsOption,
    Missing,
    MissingOption,
    PeopleOption,
    RepeatableSeedOption,
)
from ldpkit.cli.outputs import check_extra, check_figure
from ldpkit.cli.parsing import parse_numbers, refuse_options
from ldpkit.cli.plan_mean import MeanOptions, plan_mean_budget
from ldpkit.cli.plan_options import (
    AtLeastOption,
    AtMostOption,
    MetricOption,
    ProbabilityOption,
    VerifyOption,
    WithinOption,
    conclude,
)
from ldpkit.cli.printing import note, show
from ldpkit.cli.progress import watched
from ldpkit.cli.repeatable import ManyValuesCommand, split
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.planning.constraint import Constraint
    from ldpkit.planning.plan import Plan

__all__ = ["add_to", "constraint_of"]

DEFAULT_DATA = "zipf:k=128,n=100000"

_EXAMPLES = """
\b
Examples:
  ldpkit plan budget -d counts.csv -p oue -u mae --at-most 0.005
  ldpkit plan budget -d msnbc -p grr sue oue blh olh -u kendall_tau \\
    --at-least 0.5 --probability 0.95
  ldpkit plan budget -d counts.csv -p olh -u max_error --at-most 0.01 \\
    --consistency norm_sub --verify
  ldpkit plan budget -d counts.csv -p all --at-most 0.01 --search analytic
  ldpkit plan budget -d counts.csv -p grr --at-most 0.01 --search rbs \\
    --parameter g=6 --format json
  ldpkit plan budget --low 0 --high 100 --within 0.5 --n 100000 -p all
  ldpkit plan budget -d ages.csv --column age --low 0 --high 120 \\
    --within 1 -p hm pm --figure budget.png

Several values may follow -p and --search, be separated by commas, or the option be repeated. The exit
code is 1 if no mechanism can do what is wanted.
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("budget", cls=ManyValuesCommand, epilog=_EXAMPLES)(budget)


def budget(
    data: DataOption = None,
    column: ColumnOption = None,
    missing: MissingOption = Missing.refuse,
    mechanism: MechanismsOption = None,
    metric: MetricOption = None,
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    low: LowOption = None,
    high: HighOption = None,
    within: WithinOption = None,
    people: PeopleOption = None,
    clip: ClipOption = False,
    probability: ProbabilityOption = None,
    search: Annotated[
        list[str] | None,
        typer.Option(
            "--search",
            metavar="NAME...",
            help="How to look, or 'all': sequential, analytic, bs, rbs, dbs, mpass, bayes.",
            show_default="sequential",
        ),
    ] = None,
    consistency: ConsistencyOption = None,
    eps_min: EpsilonMinOption = 0.001,
    eps_max: EpsilonMaxOption = 20.0,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", help="How exactly to find epsilon.", show_default=False)
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", metavar="NAME=VALUE", help="A parameter of the search. Repeatable."),
    ] = None,
    verify: VerifyOption = False,
    figure: FigureOption = None,
    force: ForceOption = False,
    seed: RepeatableSeedOption = 0,
    output: FormatOption = Format.table,
) -> None:
    """Find the smallest epsilon that gives a wanted accuracy.

    It gives it as often as --probability says. Collections are simulated on a stand-in for
    the people, whole ones at a time; nobody is asked. For the mean of numbers give --low,
    --high and --within. CSV has the plans, JSON also every epsilon that was tried.
    """
    check_figure(figure, force=force, inputs=[data])
    about_mean = MeanOptions(
        low,
        high,
        within,
        people,
        clip,
        data,
        column,
        missing,
        split(mechanism or ["hm"]),
        0.95 if probability is None else probability,
        (eps_min, eps_max),
    )
    if about_mean.given:
        refuse_options(
            "the mean of numbers has --within for how far off it may be",
            metric=metric,
            at_most=at_most,
            at_least=at_least,
            search=search,
            consistency=consistency,
            tolerance=tolerance,
            parameter=parameter,
        )
        plan_mean_budget(about_mean, verify=verify, figure=figure, seed=seed, output=output)
        return
    from ldpkit.core.random import seeded
    from ldpkit.mechanisms.kinds import FREQUENCY, select
    from ldpkit.planning.frequencies.budgets import ask
    from ldpkit.planning.frequencies.question import Question

    searches = split(search or ["sequential"])
    if "bayes" in searches:
        check_extra("bayes_opt")
    constraint = constraint_of(
        metric or "mae", at_most, at_least, 0.9 if probability is None else probability
    )
    if constraint is None:
        raise _no_bound(metric or "mae")
    parameters = parse_numbers(parameter) | ({} if tolerance is None else {"tolerance": tolerance})
    able = select(FREQUENCY, single_epsilon=True)
    names, left_out = chosen(split(mechanism or ["oue"]), able, FREQUENCY)
    dataset = load_people(data or DEFAULT_DATA, column, missing)
    asked = ask(
        [Question(dataset.counts, name, constraint, consistency, eps_min, eps_max) for name in names],
        searches,
        parameters,
        left_out=left_out,
        some_will_do=is_all(mechanism) or is_all(search),
    )
    for reason in asked.left_out:
        note(f"left out: {reason}")
    source = seeded(seed)
    plans = asked.plans(source, watched)
    warnings = asked.warnings(plans)
    checks = asked.verified(plans, source, watched) if verify else []
    about = {
        "data": dataset.name,
        "people": dataset.n,
        "values": dataset.k,
        "goal": str(constraint),
        "left_out": list(asked.left_out),
        "warnings": warnings,
        **({"verified": checks} if verify else {}),
    }
    _show(plans, output, about, consistency)

    def draw() -> Any:
        from ldpkit.figures.plan import budget_figure

        return budget_figure([question for question, _ in asked.pairs], plans, source.derive("figure"))

    conclude(plans, output, checks=checks, warnings=warnings, figure=figure, draw=draw)


def constraint_of(
    metric: str, at_most: float | None, at_least: float | None, probability: float
) -> Constraint | None:
    """Return the accuracy that the user wants, or None if no bound was given."""
    from ldpkit.planning.constraint import Constraint

    if at_most is not None and at_least is not None:
        raise InvalidParameterError("--at-most and --at-least cannot be given together: choose one")
    if at_most is not None:
        return Constraint(metric, "at most", at_most, probability)
    return None if at_least is None else Constraint(metric, "at least", at_least, probability)


def _no_bound(metric: str) -> InvalidParameterError:
    from ldpkit.simulation.metrics import metric_for

    option = "--at-least" if metric_for(metric).larger_is_better else "--at-most"
    return InvalidParameterError(f"how good must {metric} be? give {option} OMEGA")


def _show(plans: list[Plan], output: Format, about: dict[str, Any], consistency: str | None) -> None:
    rows = [plan.row() for plan in plans]
    if output is not Format.table:
        everything = about | {
            "consistency": consistency,
            "trace": [row for plan in plans for row in plan.rows()],
        }
        show(rows, output, about=everything)
        return
    for row in rows:
        row["epsilon"] = "infeasible" if row["epsilon"] is None else f"{row['epsilon']:.4f}"
        del row["feasible"]
    told = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)]
    after = "" if consistency is None else f" after {consistency}"
    show(
        [{name: row[name] for name in told} for row in rows],
        output,
        title=f"The smallest epsilon for {about['goal']}{after}",
        caption=f"{about['data']}: {about['people']:,} people, {about['values']:,} values. "
        "holds: whether the constraint holds at epsilon; 'open' if the interval has room for both",
    )
