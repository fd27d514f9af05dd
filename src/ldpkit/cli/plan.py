"""`ldpkit plan`: choose the budget before collecting. `plan budget`: for a wanted accuracy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli import plan_capacity
from ldpkit.cli.arguments import (
    ClipOption,
    FigureOption,
    ForceOption,
    ParameterOption,
    check_figure,
    parse_parameters,
)
from ldpkit.cli.output import Format, FormatOption, note, show
from ldpkit.cli.plan_mean import MeanOptions, plan_mean_budget, refuse
from ldpkit.cli.quick import make_group
from ldpkit.cli.repeatable import ManyValuesCommand, split
from ldpkit.core.errors import InvalidParameterError, LdpkitError

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.planning.constraint import Constraint
    from ldpkit.planning.frequencies.question import Question
    from ldpkit.planning.plan import Plan

__all__ = ["add_to"]

DEFAULT_DATA = "zipf:k=128,n=100000"

_EXAMPLES = """
\b
Examples:
  ldpkit plan budget -d counts.csv -p oue -u mae --at-most 0.005
  ldpkit plan budget -d msnbc -p grr sue oue blh olh -u kendall_tau --at-least 0.5 --probability 0.95
  ldpkit plan budget -d counts.csv -p olh -u max_error --at-most 0.01 --consistency norm_sub --verify
  ldpkit plan budget -d counts.csv -p all -u mae --at-most 0.01 -m analytic --figure budget.png
  ldpkit plan budget -d counts.csv -p grr -u mae --at-most 0.01 -m rbs --parameter g=6 --format json
  ldpkit plan budget --low 0 --high 100 --within 0.5 --n 100000 -p all --verify
  ldpkit plan budget -d ages.csv --column age --low 0 --high 120 --within 1 -p hm pm --figure budget.png

Several values may follow -p and -m, be separated by commas, or the option be repeated. The exit code
is 1 if no protocol can do what is wanted.
"""


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    plan = make_group(help="Choose the budget before collecting.", no_args_is_help=True)
    plan.command("budget", cls=ManyValuesCommand, epilog=_EXAMPLES)(budget)
    plan_capacity.add_to(plan)
    app.add_typer(plan, name="plan")


def budget(
    data: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            "-d",
            help="A stand-in for the people: a file of values or counts, the name of a known set "
            "(see 'ldpkit datasets'), or a population; for a mean, a file of numbers.",
            show_default=f"{DEFAULT_DATA}; for a mean: any numbers",
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol",
            "-p",
            metavar="NAME...",
            help="Protocols, or 'all'.",
            show_default="oue; for a mean: hm",
        ),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", "-u", help="What must be accurate.", show_default="mae")
    ] = None,
    at_most: Annotated[
        float | None,
        typer.Option("--at-most", metavar="OMEGA", help="The bound of an error.", show_default=False),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(
            "--at-least",
            metavar="OMEGA",
            help="The bound of an agreement, such as kendall_tau.",
            show_default=False,
        ),
    ] = None,
    low: Annotated[
        float | None, typer.Option("--low", help="For a mean: the least number possible.", show_default=False)
    ] = None,
    high: Annotated[
        float | None, typer.Option("--high", help="For a mean: the greatest one.", show_default=False)
    ] = None,
    within: Annotated[
        float | None,
        typer.Option("--within", help="For a mean: how far off it may be.", show_default=False),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(
            "--n",
            min=1,
            help="For a mean: how many are asked; by default as in the file.",
            show_default=False,
        ),
    ] = None,
    clip: ClipOption = False,
    probability: Annotated[
        float | None,
        typer.Option(
            "--probability",
            metavar="PI",
            help="How often the bound must hold.",
            show_default="0.9; for a mean: 0.95",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME...",
            help="Search methods, or 'all': sequential, analytic, bs, rbs, dbs, mpass, bayes.",
            show_default="sequential",
        ),
    ] = None,
    consistency: Annotated[
        str | None,
        typer.Option("--consistency", help="A post-processing method that the collector will use."),
    ] = None,
    eps_min: Annotated[float, typer.Option("--eps-min", help="The smallest epsilon allowed.")] = 0.001,
    eps_max: Annotated[float, typer.Option("--eps-max", help="The largest epsilon allowed.")] = 20.0,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", "--step", help="How exactly to find epsilon.", show_default=False),
    ] = None,
    parameter: ParameterOption = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of a table to read.")] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Simulate 20,000 new collections at epsilon and at 0.9 times it."),
    ] = False,
    figure: FigureOption = None,
    force: ForceOption = False,
    seed: Annotated[int, typer.Option(help="Makes the answer repeatable.")] = 0,
    output: FormatOption = Format.table,
) -> None:
    """Find the smallest epsilon that gives a wanted accuracy.

    It gives it as often as --probability says. Collections are simulated on a stand-in for
    the people, whole ones at a time; nobody is asked. For the mean of numbers give --low,
    --high and --within. CSV has the plans, JSON also every epsilon that was tried.
    """
    check_figure(figure, force=force, inputs=[data])
    numbers = MeanOptions(low, high, within, people, clip)
    if numbers.given:
        refuse(
            metric=metric,
            at_most=at_most,
            at_least=at_least,
            method=method,
            consistency=consistency,
            tolerance=tolerance,
            parameter=parameter,
        )
        plan_mean_budget(
            numbers,
            data,
            column,
            split(protocol or ["hm"]),
            0.95 if probability is None else probability,
            (eps_min, eps_max),
            verify=verify,
            figure=figure,
            seed=seed,
            output=output,
        )
        return
    from ldpkit.core.random import seeded
    from ldpkit.mechanisms.kinds import FREQUENCY, select
    from ldpkit.planning.frequencies.question import Question
    from ldpkit.planning.searches import SEARCHES
    from ldpkit.simulation.datasets import load

    constraint = _constraint(metric or "mae", at_most, at_least, 0.9 if probability is None else probability)
    options = parse_parameters(parameter)
    if tolerance is not None:
        options["tolerance"] = tolerance
    protocols, methods = split(protocol or ["oue"]), split(method or ["sequential"])
    dataset = load(data or DEFAULT_DATA, column=column)
    questions = [
        Question(dataset.counts, name, constraint, consistency, eps_min, eps_max)
        for name in (select(FREQUENCY, single_epsilon=True).names if protocols == ["all"] else protocols)
    ]
    names = list(SEARCHES) if methods == ["all"] else methods
    asked, left_out = _answerable(
        [(question, name) for question in questions for name in names],
        options,
        some_will_do=["all"] in (protocols, methods),
    )
    for reason in left_out:
        note(f"left out: {reason}")
    source = seeded(seed)
    plans = _search(asked, options, source)
    told = _warnings(asked, plans)
    about: dict[str, Any] = {
        "data": dataset.name,
        "people": dataset.n,
        "values": dataset.k,
        "goal": str(constraint),
        "left_out": left_out,
        "warnings": told,
    }
    checks = _verify(asked, plans, source) if verify else []
    if verify:
        about["verified"] = checks
    _show(plans, output, about, consistency)
    if checks and output is Format.table:
        show(checks, output, title="Independent simulation at epsilon and at 0.9 times it")
    for plan in plans:
        if not plan.feasible:
            note(str(plan))
    for warning in told:
        note(f"warning: {warning}")
    if figure is not None:
        from ldpkit.figures.experiment import save_figure
        from ldpkit.figures.plan import budget_figure

        drawn = budget_figure([question for question, _ in asked], plans, source.derive("figure"))
        save_figure(drawn, figure)
        note(f"wrote {figure}")
    if not any(plan.feasible for plan in plans):
        raise typer.Exit(1)


def _constraint(metric: str, at_most: float | None, at_least: float | None, probability: float) -> Constraint:
    from ldpkit.planning.constraint import Constraint
    from ldpkit.simulation.metrics import metric_for

    if at_most is not None and at_least is not None:
        raise InvalidParameterError("--at-most and --at-least cannot be given together: choose one")
    if at_most is not None:
        return Constraint(metric, "at most", at_most, probability)
    if at_least is not None:
        return Constraint(metric, "at least", at_least, probability)
    option = "--at-least" if metric_for(metric).larger_is_better else "--at-most"
    raise InvalidParameterError(f"how good must {metric} be? give {option} OMEGA")


def _answerable(
    asked: list[tuple[Question, str]], options: dict[str, float], *, some_will_do: bool
) -> tuple[list[tuple[Question, str]], list[str]]:
    """Return what can be answered and why the rest cannot; what was asked for by name is refused."""
    from ldpkit.planning.frequencies.budget import make_search

    answerable, left_out = [], []
    for question, name in asked:
        search = make_search(name, **options)  # refuses an unknown method or parameter in any case
        try:
            search.check(question)
        except LdpkitError as refusal:
            if not some_will_do:
                raise
            left_out.append(f"{question.protocol} with {name}: {refusal}")
        else:
            answerable.append((question, name))
    if not answerable:
        raise InvalidParameterError(f"nothing is left to plan with: {'; '.join(left_out)}")
    return answerable, left_out


def _warnings(asked: list[tuple[Question, str]], plans: list[Plan]) -> list[str]:
    """Return what a user must know of the answers before collecting."""
    from ldpkit.assurance.adversary import attack_on, epsilon_warnings
    from ldpkit.planning.frequencies.nothing import nothing_warnings

    told = nothing_warnings(asked[0][0].constraint, asked[0][0].counts)
    for (question, _), plan in zip(asked, plans, strict=True):
        if plan.epsilon is not None:
            oracle = question.oracle(plan.epsilon)
            told += epsilon_warnings(
                plan.epsilon, subject=plan.protocol, attack=partial(attack_on, oracle, question.counts)
            )
    return list(dict.fromkeys(told))


def _search(asked: list[tuple[Question, str]], options: dict[str, float], source: RandomSource) -> list[Plan]:
    from contextlib import closing

    from ldpkit.cli.progress import track
    from ldpkit.planning.frequencies.budget import plan_budget

    found = (
        plan_budget(question, name, rng=source.derive(f"plan {question.protocol} {name}"), **options)
        for question, name in asked
    )
    with closing(track(found, len(asked), "planning")) as plans:
        return list(plans)


def _verify(
    asked: list[tuple[Question, str]], plans: list[Plan], source: RandomSource
) -> list[dict[str, Any]]:
    from contextlib import closing

    from ldpkit.cli.progress import track
    from ldpkit.planning.frequencies.budget import verify

    checks = (
        {"protocol": plan.protocol, "method": plan.method, **check.row()}
        for (question, name), plan in zip(asked, plans, strict=True)
        for check in verify(question, plan, rng=source.derive(f"verify {question.protocol} {name}"))
    )
    with closing(track(checks, 2 * len(plans), "verifying")) as rows:
        return list(rows)


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
