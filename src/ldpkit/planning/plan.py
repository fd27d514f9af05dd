"""Plans: the chosen epsilon, how surely it does what was wanted, and how it was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

from ldpkit.core.checks import check_fraction, check_whole
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.results import Result

__all__ = ["EPSILON_MAX", "EPSILON_MIN", "Plan", "Trial", "binomial_interval"]

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
        """What the evidence says: "yes", "no", or "open" if the interval has room for both."""
        if not self.feasible:
            return "no"
        low, high = self.interval or (self.probability, self.probability)
        if low >= self.wanted:
            return "yes"
        return "no" if high < self.wanted else "open"

    @property
    def title(self) -> str:
        """What stands above the table."""
        after = "" if self.consistency is None else f" after {self.consistency}"
        return f"The smallest epsilon for {self.goal}{after}"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        return "holds: whether the constraint holds at epsilon; 'open' if the interval has room for both"

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
        between = "" if self.interval is None else f", {self.interval[0]:.4g} to {self.interval[1]:.4g}"
        probability = f"probability {self.probability:.4g}{between}"
        return f"{self.protocol}: epsilon {self.epsilon:.4g} ({self.goal}: {probability})"


def binomial_interval(successes: int, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a probability; it covers with at least `level`, always.

    Examples
    --------
    >>> tuple(round(end, 4) for end in binomial_interval(90, 100))
    (0.8238, 0.951)
    >>> binomial_interval(0, 10)[0], binomial_interval(10, 10)[1]
    (0.0, 1.0)
    """
    from scipy.special import betaincinv

    check_fraction(level, "level")
    if not 0 <= check_whole(successes, "successes", least=0) <= check_whole(runs, "runs"):
        raise InvalidParameterError(f"{successes} of {runs} runs cannot succeed")
    tail = (1 - level) / 2
    low = float(betaincinv(successes, runs - successes + 1, tail)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, runs - successes, 1 - tail)) if successes < runs else 1.0
    return low, high
