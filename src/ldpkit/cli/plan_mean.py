"""`ldpkit plan budget` for numbers: the smallest epsilon for a mean that is exact enough."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.cli.choices import AllOf, chosen, note_left_out
from ldpkit.cli.inputs import moved_in_words, read_numbers
from ldpkit.cli.options import Format, Missing
from ldpkit.cli.parsing import parse_interval
from ldpkit.cli.plan_options import conclude
from ldpkit.cli.printing import note, show
from ldpkit.cli.progress import watched
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Floats
    from ldpkit.planning.mean.question import MeanQuestion
    from ldpkit.planning.plan import Plan

__all__ = ["MeanOptions", "plan_mean_budget"]


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

    @property
    def given(self) -> bool:
        """Whether the question is about numbers at all."""
        return self.clip or any(each is not None for each in (self.low, self.high, self.within, self.people))

    def questions(self) -> tuple[list[MeanQuestion], list[str]]:
        """Return a question for each mechanism, and what 'all' leaves out and why."""
        from ldpkit.planning.mean.question import MeanQuestion

        interval = parse_interval(self.low, self.high)
        if interval is None:
            raise InvalidParameterError("numbers need their interval: give it with --low and --high")
        if self.within is None:
            raise InvalidParameterError(
                "how far off may the mean be? give --within, in the unit of the numbers"
            )
        names, left_out = _names(self.mechanisms)
        values, n = self._values()
        made = [
            MeanQuestion(name, interval, self.within, n, values, self.probability, *self.range_)
            for name in names
        ]
        return made, left_out

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
            note(moved_in_words(numbers.moved, len(numbers.values)))
        return numbers.values, self.people or len(numbers.values)


def plan_mean_budget(
    asked: MeanOptions, *, verify: bool, figure: Path | None, seed: int, output: Format
) -> None:
    """Answer the question, show the answer, and leave with 1 if there is none."""
    from ldpkit.core.random import seeded
    from ldpkit.planning.mean.question import plan_mean

    questions, left_out = asked.questions()
    note_left_out(left_out)
    plans = list(watched(map(plan_mean, questions), len(questions), "planning"))
    warnings = _warnings(questions[0], plans)
    checks = _verify(questions, plans, seeded(seed)) if verify else []
    about = {
        "data": asked.data,
        "people": questions[0].n,
        "interval": questions[0].domain.to_json(),
        "goal": questions[0].goal,
        "left_out": left_out,
        "warnings": warnings,
        **({"verified": checks} if verify else {}),
    }
    _show(plans, questions[0], output, about)

    def draw() -> Any:
        from ldpkit.figures.plan import mean_figure

        return mean_figure(questions, plans)

    found = {plan.protocol: plan.epsilon for plan in plans if plan.epsilon is not None}
    if len(plans) > 1 and found:
        note(_best_in_words(found))
    conclude(plans, output, checks=checks, warnings=warnings, figure=figure, draw=draw)


def _names(given: list[str]) -> AllOf:
    """Return the mechanisms by their names, each once; those without a mean are refused."""
    from ldpkit.mechanisms.kinds import NUMERIC, numeric_class, select

    able = select(NUMERIC, "unbiased", single_epsilon=True, without=("fitted",))
    names, left_out = chosen(given, able, NUMERIC)
    kinds = [numeric_class(name) for name in names]
    for name, kind in zip(names, kinds, strict=True):
        if kind.can("fitted"):
            raise InvalidParameterError(
                f"{name} is fitted to what the first people report, so its error is not known before: take hm"
            )
    return list(dict.fromkeys(kind.name for kind in kinds)), left_out


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


def _verify(questions: list[MeanQuestion], plans: list[Plan], source: RandomSource) -> list[dict[str, Any]]:
    from ldpkit.planning.mean.question import verify_mean

    checks = (
        check.row()
        for question, plan in zip(questions, plans, strict=True)
        for check in verify_mean(question, plan, rng=source.derive(f"verify {question.mechanism}"))
    )
    return list(watched(checks, 2 * len(plans), "verifying"))


def _show(plans: list[Plan], question: MeanQuestion, output: Format, about: dict[str, Any]) -> None:
    rows = [plan.row() for plan in plans]
    if output is not Format.table:
        trace = [row for plan in plans for row in plan.rows()]
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
