"""`ldpkit plan budget` for numbers: the smallest epsilon for a mean that is exact enough."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ldpkit.cli.arguments import parse_interval
from ldpkit.cli.output import Format, note, show
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Floats
    from ldpkit.planning.mean.question import MeanQuestion
    from ldpkit.planning.plan import Plan

__all__ = ["MeanOptions", "plan_mean_budget", "refuse"]


@dataclass(frozen=True)
class MeanOptions:
    """What the user asked about numbers; None where nothing was said."""

    low: float | None
    high: float | None
    within: float | None
    people: int | None
    clip: bool

    @property
    def given(self) -> bool:
        """Whether the question is about numbers at all."""
        return self.clip or any(each is not None for each in (self.low, self.high, self.within, self.people))


def refuse(**options: object) -> None:
    """Refuse options that are about categories, where something was given."""
    for name, given in options.items():
        if given is not None and given != []:
            raise InvalidParameterError(
                f"--{name.replace('_', '-')} is for categories: for the mean of numbers leave it out, "
                "and say with --within how far off it may be"
            )


def plan_mean_budget(
    asked: MeanOptions,
    data: str | None,
    column: str | None,
    mechanisms: list[str],
    probability: float,
    range_: tuple[float, float],
    *,
    verify: bool,
    figure: Path | None,
    seed: int,
    output: Format,
) -> None:
    """Answer the question, show the answer, and leave with 1 if there is none."""
    from ldpkit.core.random import seeded
    from ldpkit.planning.mean.question import MeanQuestion

    interval, within, values, n = _read(asked, data, column)
    questions = [
        MeanQuestion(name, interval, within, n, values, probability, *range_) for name in _names(mechanisms)
    ]
    plans = _plan(questions)
    told = _warnings(questions[0], plans)
    about: dict[str, Any] = {
        "data": data,
        "people": n,
        "interval": interval.to_json(),
        "goal": questions[0].goal,
        "warnings": told,
    }
    checks = _verify(questions, plans, seeded(seed)) if verify else []
    if verify:
        about["verified"] = checks
    _show(plans, questions[0], output, about)
    if checks and output is Format.table:
        show(
            checks,
            output,
            title="Independent simulation at epsilon and at 0.9 times it",
            caption="epsilon stands on the edge, so its probability is near the wanted one, and holds mostly "
            "'open'; at 0.9 times it, it must not hold",
        )
    for plan in plans:
        if not plan.feasible:
            note(str(plan))
    found = {plan.protocol: plan.epsilon for plan in plans if plan.epsilon is not None}
    if len(plans) > 1 and found:
        note(_best_in_words(found))
    for warning in told:
        note(f"warning: {warning}")
    if figure is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.planning.mean.plans import MeanPlans

        save_figure(MeanPlans(plans=tuple(plans), questions=tuple(questions)).figure(), figure)
        note(f"wrote {figure}")
    if not any(plan.feasible for plan in plans):
        raise typer.Exit(1)


def _warnings(question: MeanQuestion, plans: list[Plan]) -> list[str]:
    """Return what a user must know of the answers before collecting."""
    from ldpkit.assurance.adversary import epsilon_warnings
    from ldpkit.planning.mean.mechanisms import mean_warnings

    told = mean_warnings(question.domain, question.within)
    for plan in plans:
        told += epsilon_warnings(plan.epsilon, subject=plan.protocol)
    return told


def _best_in_words(found: dict[str, float]) -> str:
    from ldpkit.planning.mean.mechanisms import TOLERANCE

    least = min(found.values())
    best = [name for name, epsilon in found.items() if epsilon <= least * (1 + 2 * TOLERANCE)]
    if len(best) == 1:
        return f"{best[0]} needs the smallest epsilon: {least:.4g}"
    return f"these {len(best)} tie, {', '.join(best)}: they need the smallest epsilon: {least:.4g}"


def _read(
    asked: MeanOptions, data: str | None, column: str | None
) -> tuple[IntervalDomain, float, Floats | None, int]:
    """Return the interval, the bound, the values if there are any, and the number of people."""
    interval = parse_interval(asked.low, asked.high)
    if interval is None:
        raise InvalidParameterError("numbers need their interval: give it with --low and --high")
    if asked.within is None:
        raise InvalidParameterError("how far off may the mean be? give --within, in the unit of the numbers")
    if data is None:
        if asked.people is None:
            raise InvalidParameterError("say how many will be asked: give --n, or numbers with -d FILE")
        if column is not None or asked.clip:
            raise InvalidParameterError(
                "--column and --clip are for a file of numbers: give one with -d FILE"
            )
        return interval, asked.within, None, asked.people
    from ldpkit.cli.numeric_input import read_numbers

    numbers = read_numbers([Path(data)], column, asked.low, asked.high, clip=asked.clip)
    if numbers is None:
        raise InvalidParameterError(
            f"{data} has reports, not numbers: give a file with a number for each person"
        )
    if numbers.moved:
        truth = float(numbers.values.mean())
        note(f"the plan is about {len(numbers.values)} numbers with mean {truth:.6g}{numbers.what_moved()}")
    return interval, asked.within, numbers.values, asked.people or len(numbers.values)


def _names(given: list[str]) -> list[str]:
    """Return the mechanisms by their names, each once, those without a mean refused."""
    from ldpkit.cli.arguments import is_numeric
    from ldpkit.mechanisms.base import MECHANISMS
    from ldpkit.planning.mean.variance import unbiased_mechanisms

    if given == ["all"]:
        return unbiased_mechanisms()
    for name in given:
        if not is_numeric(name):
            raise InvalidParameterError(
                f"{name} is for categories, not for numbers: take some of {', '.join(unbiased_mechanisms())}"
            )
        if MECHANISMS.get(name).name == "aaa":
            raise InvalidParameterError(
                "aaa is fitted to what the first people report, so its error is not known before: take hm"
            )
    return list(dict.fromkeys(MECHANISMS.get(name).name for name in given))


def _plan(questions: list[MeanQuestion]) -> list[Plan]:
    from ldpkit.cli.progress import track
    from ldpkit.planning.mean.question import plan_mean

    with closing(track(map(plan_mean, questions), len(questions), "planning")) as plans:
        return list(plans)


def _verify(questions: list[MeanQuestion], plans: list[Plan], source: RandomSource) -> list[dict[str, Any]]:
    from ldpkit.cli.progress import track
    from ldpkit.planning.mean.question import verify_mean

    checks = (
        asdict(check)
        for question, plan in zip(questions, plans, strict=True)
        for check in verify_mean(question, plan, rng=source.derive(f"verify {question.mechanism}"))
    )
    with closing(track(checks, 2 * len(plans), "verifying")) as rows:
        return list(rows)


def _show(plans: list[Plan], question: MeanQuestion, output: Format, about: dict[str, Any]) -> None:
    rows = [row for plan in plans for row in plan.rows()]
    if output is not Format.table:
        trace = [row for plan in plans for row in plan.tried()]
        show(rows, output, about=about | {"scope": question.scope, "trace": trace})
        return
    shown = [
        {
            "mechanism": plan.protocol,
            "epsilon": "infeasible" if plan.epsilon is None else f"{plan.epsilon:.4f}",
            "holds": plan.holds,
            "probability": plan.probability,
            "seconds": plan.seconds,
            "note": plan.note,
        }
        for plan in plans
    ]
    show(
        shown,
        output,
        title=f"The smallest epsilon for {question.goal}",
        caption=f"{question.n:,} people, numbers in {question.domain}; computed from exact variances, "
        "the mean taken as normal",
    )
