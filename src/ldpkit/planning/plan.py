"""Plans: the chosen epsilon, how surely it does what was wanted, and how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.numbertext import ends_text
from ldpkit.core.parameters import check_epsilon
from ldpkit.core.results import TOP, Result
from ldpkit.core.tables import Table

if TYPE_CHECKING:
    from ldpkit.planning.verification import Verification

__all__ = [
    "EPSILON_MAX",
    "EPSILON_MIN",
    "Plan",
    "Plans",
    "Trial",
    "check_range",
    "left_out_note",
]

EPSILON_MIN, EPSILON_MAX = 0.001, 20.0
"""The budgets that are allowed unless somebody says otherwise: those of the thesis on Optimus."""

Verdict = Literal["yes", "no", "open"]


@dataclass(frozen=True)
class Trial:
    """One epsilon that was tried.

    Parameters
    ----------
    epsilon : float
        The budget.
    probability : float
        The probability that the constraint holds there: an estimate if there were runs,
        a computed one otherwise.
    runs : int
        How many collections were simulated.
    passed : bool or None
        What the method concluded; None if it could not decide.
    mean : float or None
        The mean of what was measured, where collections were simulated.
    """

    epsilon: float
    probability: float
    runs: int
    passed: bool | None
    mean: float | None = None


@dataclass(frozen=True)
class Plan(Result):
    """The answer of a method to a planning question.

    Parameters
    ----------
    method, protocol, goal : str
        How it was found, for which protocol, and what was wanted in words.
    wanted : float
        The probability with which the constraint must hold.
    epsilon : float or None
        The chosen budget; None if no budget that was allowed satisfies the constraint.
    probability : float
        With which probability the constraint holds at epsilon; of an infeasible plan,
        at the largest epsilon that was allowed.
    interval : tuple of float or None
        An interval for that probability; None if it was computed, not estimated.
    confidence : float or None
        How surely the constraint holds at epsilon: one minus the chance to see such
        evidence if it does not. None if the probability was computed.
    trace : tuple of Trial
        What was tried, in order.
    simulations : int
        How many collections were simulated in all.
    seconds : float
        How long it took.
    consistency : str or None
        The post-processing method that is part of the collection.
    note : str
        What else is to be known, such as how accurate an approximation is.
    rough : bool
        Whether the probability was computed by a law that is not good here, so that it
        decides nothing.

    Examples
    --------
    >>> plan = Plan("analytic", "oue", "mae at most 0.01", 0.9, 1.25, 0.9, None, None, (), 0, 0.01)
    >>> plan.feasible, plan.satisfied, plan.holds
    (True, True, 'yes')
    >>> print(plan)
    oue: epsilon 1.25 (mae at most 0.01: probability 0.9)
    """

    method: str
    protocol: str
    goal: str
    wanted: float
    epsilon: float | None
    probability: float
    interval: tuple[float, float] | None
    confidence: float | None
    trace: tuple[Trial, ...] = field(repr=False)
    simulations: int
    seconds: float
    consistency: str | None = None
    note: str = ""
    rough: bool = False

    kind: ClassVar[str] = "plan"

    @property
    def feasible(self) -> bool:
        """Whether there is an answer."""
        return self.epsilon is not None

    @property
    def satisfied(self) -> bool:
        """Whether the constraint holds at epsilon, by the best estimate of its probability."""
        return self.feasible and self.probability >= self.wanted

    @property
    def holds(self) -> Verdict:
        """What the evidence says: "yes", "no", or "open" if it has room for both, or is rough."""
        if not self.feasible:
            return "no"
        if self.rough:
            return "open"
        low, high = self.interval or (self.probability, self.probability)
        if low >= self.wanted:
            return "yes"
        return "no" if high < self.wanted else "open"

    def answer(self, unit: str = "") -> str:
        """Return the epsilon that was chosen, or why there is none, as a sentence."""
        if self.epsilon is None:
            return f"{self}."
        told = f"The smallest epsilon for {self.goal} is {self.epsilon:.4g}, with {self.protocol}"
        return f"{told}{self.doubt()}."

    def doubt(self) -> str:
        """Return how surely the constraint holds at epsilon, where that is not computed and as wanted."""
        if self.interval is None and self.holds == "yes":
            return ""
        seen = f"{self.probability:.4g}"
        if self.interval is not None:
            seen += f" (95% interval {ends_text(*self.interval)})"
        return f"; it holds there with probability {seen}"

    @property
    def title(self) -> str:
        """The title above the table."""
        after = "" if self.consistency is None else f" after {self.consistency}"
        return f"The smallest epsilon for {self.goal}{after}"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        return (
            "holds: whether the constraint holds at epsilon; 'open' if the interval allows both, "
            "or the approximation is rough"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return the one record of the answer."""
        low, high = self.interval or (None, None)
        row = {
            "protocol": self.protocol,
            "method": self.method,
            "epsilon": self.epsilon,
            "feasible": self.feasible,
            "holds": self.holds,
            "probability": self.probability,
            "low": low,
            "high": high,
            "confidence": self.confidence,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "note": self.note,
        }
        return [row]

    def about(self) -> dict[str, Any]:
        """Return what was wanted, and every epsilon that was tried."""
        return {
            "goal": self.goal,
            "wanted": self.wanted,
            "consistency": self.consistency,
            "trace": self.tried(),
        }

    def notes(self) -> list[str]:
        """Return the answer in words, if there is none."""
        return [] if self.feasible else [str(self)]

    def tried(self) -> list[dict[str, Any]]:
        """Return one record for each epsilon that was tried."""
        return [{"protocol": self.protocol, "method": self.method, **asdict(trial)} for trial in self.trace]

    def __str__(self) -> str:
        if self.epsilon is None:
            largest = max((trial.epsilon for trial in self.trace), default=float("nan"))
            return (
                f"{self.protocol}: infeasible: {self.goal} is not reached up to epsilon {largest:g}, "
                f"where the probability is {self.probability:.4g}"
            )
        between = "" if self.interval is None else f", {ends_text(*self.interval)}"
        probability = f"probability {self.probability:.4g}{between}"
        return f"{self.protocol}: epsilon {self.epsilon:.4g} ({self.goal}: {probability})"


@dataclass(frozen=True, eq=False, repr=False)
class Plans(Result):
    """The plans of one question.

    Parameters
    ----------
    plans : tuple of Plan
        The answers, one for each protocol and method.
    checks : tuple of Verification or None
        What independent simulations say of them; None if they were not asked.
    warnings : tuple of str
        What a user must know of the answers before collecting.
    left_out : tuple of str
        What could not be asked, and why, where all were asked for.

    Examples
    --------
    >>> import ldpkit
    >>> plans = ldpkit.plan.mean((0, 100), 0.5, n=100_000)
    >>> isinstance(plans, Plans), plans.best.protocol
    (True, 'hm')
    """

    plans: tuple[Plan, ...]
    checks: tuple[Verification, ...] | None = field(default=None)
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def answer(self, unit: str = "") -> str:
        """Return the smallest epsilon, as a sentence."""
        best, others = self.best, sum(plan.feasible for plan in self.plans) - 1
        if best.epsilon is None or not others:
            return best.answer(unit)
        needs = f"{best.protocol} needs the smallest epsilon for {best.goal}: {best.epsilon:.4g}"
        return f"Of {others + 1} plans, {needs}{best.doubt()}."

    @property
    def title(self) -> str:
        """The title above the table."""
        return self.plans[0].title

    @property
    def feasible(self) -> bool:
        """Whether any protocol can do what is wanted."""
        return any(plan.feasible for plan in self.plans)

    @property
    def best(self) -> Plan:
        """The plan with the smallest epsilon; the first one if none is feasible."""
        found = [plan for plan in self.plans if plan.epsilon is not None]
        return min(found, key=lambda plan: plan.epsilon or 0.0, default=self.plans[0])

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each plan."""
        return [row for plan in self.plans for row in plan.rows()][:top]

    def facts(self) -> dict[str, Any]:
        """Return what the kinds of plans have in common beside their question."""
        checks = None if self.checks is None else self.check_rows()
        return {
            "left_out": list(self.left_out),
            "verified": checks,
            "trace": [row for plan in self.plans for row in plan.tried()],
        }

    def check_rows(self) -> list[dict[str, Any]]:
        """Return one record for each check."""
        return [asdict(check) for check in self.checks or ()]

    def notes(self) -> list[str]:
        """Return what was left out, and which plans have no answer."""
        return [*left_out_note(self.left_out), *(note for plan in self.plans for note in plan.notes())]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the plans, and below them what verified them."""
        rows = self.rows(top)
        for row in rows:
            row["epsilon"] = "infeasible" if row["epsilon"] is None else f"{row['epsilon']:.4f}"
            row.pop("feasible", None)
        tables = [Table.of(rows, title=self.title, caption=self.caption)]
        if self.checks:
            edge = (
                "epsilon is close to the smallest that holds, so the probability is close to the one you "
                "asked for and 'holds' is often 'open' (the interval allows either); at 0.9 times epsilon it "
                "should say 'no'"
            )
            title = "Independent simulation at epsilon and at 0.9 times epsilon"
            tables.append(Table.of(self.check_rows(), title=title, caption=edge))
        return tables


def left_out_note(reasons: Sequence[str]) -> list[str]:
    """Return the note that tells what "all" left out, if anything.

    Examples
    --------
    >>> left_out_note(["lgrr needs epsilon_inf and epsilon_1"]), left_out_note([])
    (["left out of 'all': lgrr needs epsilon_inf and epsilon_1"], [])
    """
    return [f"left out of 'all': {'; '.join(reasons)}"] if reasons else []


def check_range(epsilon_min: float, epsilon_max: float) -> tuple[float, float]:
    """Return the ends of a range of epsilons, or refuse it."""
    low, high = check_epsilon(epsilon_min, "epsilon_min"), check_epsilon(epsilon_max, "epsilon_max")
    if low >= high:
        raise InvalidParameterError(f"epsilon_min must be below epsilon_max, got {low:g} and {high:g}")
    return low, high
