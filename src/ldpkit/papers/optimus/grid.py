"""The grid of Optimus: every method for every protocol and constraint, on as many cores as there are."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from ldpkit.core.random import seeded
from ldpkit.core.typing import Counts
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.frequencies.plans import plan_budget
from ldpkit.planning.frequencies.question import FrequencyQuestion
from ldpkit.planning.plan import Plan
from ldpkit.simulation.datasets import load
from ldpkit.simulation.populations import Population

__all__ = [
    "CLOSE",
    "EMOJI_PEOPLE",
    "METHODS",
    "THESIS_METHODS",
    "OptimusStudy",
    "OptimusTask",
    "available",
    "counts_of",
    "epsilon_of",
    "largest_difference",
    "run_all",
    "shown",
]

EMOJI_PEOPLE = 15_000_000
"""How many people use emoji: fitted to what the thesis says of GRR, since it does not say how many."""

CLOSE = 0.2
"""How far a number may be from one that the thesis calls 'close to' or 'approximately'."""

THESIS_METHODS = ("bs", "rbs", "dbs", "mpass", "bayes")
METHODS = (*THESIS_METHODS, "analytic", "sequential")


@dataclass(frozen=True)
class OptimusStudy:
    """One of the two data sets with the protocols and constraints of its figure."""

    dataset: str
    figure: str
    time_figure: str
    protocols: Sequence[str]
    published: Sequence[str]
    """The protocols that the thesis' own figure has."""
    taus: Sequence[float]
    people: int | None = None
    """How many people to scale the counts to; None leaves them."""

    def counts(self) -> Counts:
        """Return how many people hold each value."""
        return counts_of(self.dataset, self.people)


@dataclass(frozen=True)
class OptimusTask:
    """One question for one method."""

    counts: Counts = field(repr=False)
    protocol: str
    tau: float
    method: str
    probability: float = 0.9
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What the randomness of the task is derived from."""
        given = " ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.protocol} {self.tau} {self.method} {self.probability} {given} n={self.counts.sum()}"


def counts_of(dataset: str, people: int | None) -> Counts:
    """Return the counts of a data set, scaled to a number of people."""
    counts = load(dataset).counts
    if people is None:
        return counts
    return Population(dataset, lambda k: counts.astype(float))(len(counts), people)


def available(methods: Sequence[str]) -> list[str]:
    """Return the methods that can run here: bayes needs an optional library."""
    has_library = importlib.util.find_spec("bayes_opt") is not None
    return [method for method in methods if method != "bayes" or has_library]


def run_all(tasks: Sequence[OptimusTask], seed: int) -> Iterator[tuple[OptimusTask, Plan]]:
    """Yield each task with its plan; the plans do not depend on the number of cores."""

    def run(task: OptimusTask) -> Plan:
        constraint = Constraint("kendall_tau", "at least", task.tau, task.probability)
        question = FrequencyQuestion(task.counts, task.protocol, constraint)
        return plan_budget(question, task.method, rng=seeded(seed).derive(task.label), **task.parameters)

    with ThreadPoolExecutor(max(1, min(len(tasks), os.cpu_count() or 1))) as pool:
        yield from zip(tasks, pool.map(run, tasks), strict=True)


def largest_difference(plans: Sequence[Plan]) -> float:
    """Return how far the chosen epsilons of some plans lie apart; infinite if only some are feasible."""
    chosen = [plan.epsilon for plan in plans if plan.epsilon is not None]
    if len(chosen) < len(plans):
        return np.inf if chosen else 0.0
    return max(chosen) - min(chosen)


def epsilon_of(plan: Plan) -> float:
    """Return the chosen epsilon, infinite if there is none."""
    return np.inf if plan.epsilon is None else plan.epsilon


def shown(plan: Plan) -> str:
    """Return the chosen epsilon as text."""
    return "infeasible" if plan.epsilon is None else f"{plan.epsilon:.3f}"
