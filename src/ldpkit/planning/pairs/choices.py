"""The choices that a plan of pairs puts beside each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.core.results import TOP, Result, finite
from ldpkit.core.tables import Table
from ldpkit.planning.pairs.question import PairQuestion

__all__ = ["PairChoice", "PairPlan"]


@dataclass(frozen=True)
class PairChoice:
    """One way to ask, with its privacy towards all and its worst variance in the assumed range."""

    name: str
    how: str
    epsilon_stated: float
    """Towards the stated adversary, exactly."""
    epsilon_partner: float
    """Towards anyone, also the partner."""
    p: float | None
    rho: float | None
    variance: float
    ratio: float
    """The variance over that of randomised response at `epsilon_alone`."""
    allowed: bool
    """Whether it keeps both limits of the question."""
    statement: str


@dataclass(frozen=True, repr=False)
class PairPlan(Result):
    """All choices beside each other, and how many known people it takes to undo the gain."""

    kind: ClassVar[str] = "plan pairs"

    question: PairQuestion
    choices: tuple[PairChoice, ...]
    gain_ends: int | None
    """The number of known people from which the best pairs no longer beat randomised response."""

    @property
    def best(self) -> PairChoice:
        """The choice of the least variance among those that keep both limits."""
        return min((each for each in self.choices if each.allowed), key=lambda each: each.variance)

    def __getitem__(self, name: str) -> PairChoice:
        return next(each for each in self.choices if each.name == name)

    @property
    def title(self) -> str:
        """What stands above the table."""
        return f"Pairs for {self.question.n:,} people"

    @property
    def caption(self) -> str:
        """What stands below the table."""
        low, high = self.question.range
        limit = "no limit" if self.question.epsilon is None else f"at most {self.question.epsilon:g}"
        return (
            f"epsilon stated: against {self.question.adversary.words}, at most "
            f"{self.question.epsilon_alone:g}; towards anyone, also the partner: {limit}; "
            f"variance: the worst for {low:,} to {high:,} ones, over that of randomised response"
        )

    def notes(self) -> list[str]:
        """Return what a reader should know of the answer."""
        told = [f"best within the limits: {self.best.name} ({self.best.how})"]
        if self.gain_ends == 0:
            told.append("JRR gains nothing over randomised response within these limits")
        elif self.gain_ends is not None:
            told.append(
                f"JRR gains nothing over randomised response once the values of {self.gain_ends:,} people "
                f"({self.gain_ends / self.question.n:.1%}) are known"
            )
        return told

    @property
    def warnings(self) -> tuple[str, ...]:
        """What choices without an epsilon towards a partner give away."""
        return tuple(each.statement for each in self.choices if math.isinf(each.epsilon_partner))

    def about(self) -> dict[str, Any]:
        """Return the question, and where the gain ends."""
        asked = self.question
        return {
            "n": asked.n,
            "epsilon_alone": asked.epsilon_alone,
            "epsilon": asked.epsilon,
            "known": asked.known,
            "ones": list(asked.range),
            "gain_ends": self.gain_ends,
        }

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each choice."""
        return [dict(each.__dict__) for each in self.choices[:top]]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the choices without their statements, which are the notes and warnings."""
        kept = ("name", "how", "epsilon_stated", "epsilon_partner", "ratio", "allowed")
        shown = [{name: finite(row[name]) for name in kept} for row in self.rows(top)]
        return [Table.of(shown, title=self.title, caption=self.caption)]
