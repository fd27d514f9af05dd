"""A survey of six questions, both ways to spend its budget: errors, coverage, and whether the plan was right.

    python benchmarks/bench_survey.py [--quick] [--people 200000] [--epsilon 2] [-o survey.csv]

Three questions have categories, two numbers and one angles. Every way is carried out with real reports on
the same people; a cap of one survey refuses the second. The exit code is 1 if the planner's choice is not the
better way, if the 99.9% upper limit of a coverage lies below 95% (the intervals of one survey counted as
independent), or if the ledger's total is not the sum of its charges.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np

import ldpkit
from coverage_cells import LEVEL, upper_limit
from ldpkit.core.errors import LdpkitError
from ldpkit.planning.survey.plans import SurveyPlan
from ldpkit.planning.survey.question import PlannedQuestion
from ldpkit.protocols.ledger import Ledger, micro_epsilon
from ldpkit.protocols.survey import Survey
from ldpkit.simulation.survey import SurveyTrials, try_survey
from timing import print_table

__all__ = ["DOMAINS", "main", "people_of", "spent", "worst_ratio"]

DOMAINS: dict[str, Any] = {
    "commute": ldpkit.CategoricalDomain(["walk", "bike", "bus", "car"]),
    "job": ldpkit.CategoricalDomain(12),
    "district": ldpkit.CategoricalDomain(40),
    "age": ldpkit.IntervalDomain(0, 120),
    "hours": ldpkit.IntervalDomain(0, 80),
    "bedtime": ldpkit.CircleDomain(24),
}
"""Three questions with categories, two with numbers, one with an angle."""


def people_of(count: int, seed: int = 1) -> dict[str, Any]:
    """Return the answers of some people: unequal categories, a hump of numbers, bedtimes around eleven."""
    draw = np.random.default_rng(seed)
    return {
        "commute": draw.choice(4, count, p=[0.45, 0.3, 0.2, 0.05]),
        "job": draw.choice(12, count, p=np.arange(12, 0, -1) / 78),
        "district": np.minimum(draw.geometric(0.1, count) - 1, 39),
        "age": np.clip(draw.normal(44, 18, count), 0, 120),
        "hours": 80 * draw.beta(3, 4, count),
        "bedtime": np.mod(draw.normal(23, 2, count), 24),
    }


def worst_ratio(trials: SurveyTrials, plan: SurveyPlan) -> float:
    """Return the largest error of a question, measured by what was wanted: 1.96 rms errors over it."""
    wanted = {choice.question.name: choice.question.wanted for choice in plan.best.choices}
    return max(1.96 * each.rmse / wanted[each.question] for each in trials.questions)


def spent(survey: Survey, cap: float) -> tuple[int, int, str]:
    """Return the ledger's total and the sum of its charges for one survey, and what refuses a second one."""
    charges = sorted(
        (micro_epsilon(each.exact_epsilon()) or 0 for each in survey.questions.values()), reverse=True
    )
    once = survey.charge(Ledger(cap=micro_epsilon(cap)))
    cost = once.cost()
    assert cost is not None
    assert cost.micro is not None
    try:
        survey.charge(once)
    except LdpkitError as refusal:
        return cost.micro, sum(charges[: survey.ask]), str(refusal)
    return cost.micro, sum(charges[: survey.ask]), ""


def main() -> int:
    """Plan, carry out both ways at small and large n, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the repeats")
    parser.add_argument("--people", type=int, default=200_000)
    parser.add_argument("--epsilon", type=float, default=2.0)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("-o", "--output", type=Path, help="a .csv file for all rows")
    asked = parser.parse_args()
    repeats = max(10, asked.repeats // 10) if asked.quick else asked.repeats
    rows: list[dict[str, Any]] = []
    wrong: list[str] = []
    for people, count in ((500, 2 * repeats), (asked.people, repeats)):
        rows += _measure(people, asked.epsilon, count, wrong)
    if asked.output is not None:
        with asked.output.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    for each in wrong:
        print(f"FAILED: {each}")
    return 1 if wrong else 0


def _measure(people: int, epsilon: float, repeats: int, wrong: list[str]) -> list[dict[str, Any]]:
    """Print how both ways come out for so many people, and return the rows; say what is wrong."""
    plan = ldpkit.plan.survey(
        [PlannedQuestion(name, each) for name, each in DOMAINS.items()], epsilon, people
    )
    print(plan, end="\n\n")
    answers, rows, ratios = people_of(people), [], {}
    count = len(DOMAINS)
    ways = [
        "split equally",
        "split by error",
        plan.best.name if plan.best.ask < count else f"1 of {count} questions",
    ]
    for way in ways:
        survey = plan.survey(way)
        trials = try_survey(survey, answers, repeats=repeats, rng=ldpkit.random.seeded(people + survey.ask))
        found = [{"people": people, "way": way, **row} for row in trials.rows()]
        for row in found:
            row["upper"] = upper_limit(round(row["coverage"] * row["intervals"]), row["intervals"])
            if row["upper"] < LEVEL:
                wrong.append(f"{way}, {people} people: {row['question']} covers {row['coverage']:.4f}")
        print_table(f"{people:,} people, {way}, {repeats} surveys", found)
        total, charges, refusal = spent(survey, epsilon)
        print(f"ledger: {total} millionths, charges add up to {charges}, cap {micro_epsilon(epsilon)}")
        print(f"a second survey: {refusal or 'is taken'}\n")
        if total != charges or total > (micro_epsilon(epsilon) or 0):
            wrong.append(f"{way}: the ledger says {total}, the charges {charges}")
        if not refusal:
            wrong.append(f"{way}: a second survey is not refused")
        ratios[way] = worst_ratio(trials, plan)
        rows += found
    best = min(ratios, key=ratios.__getitem__)
    told = ", ".join(f"{way} {ratio:.3f}" for way, ratio in ratios.items())
    print(f"worst error over the wanted one: {told}; planned: {plan.best.name}, measured best: {best}\n")
    if best != plan.best.name:
        wrong.append(f"{people} people: planned {plan.best.name}, and {best} is better")
    return rows


if __name__ == "__main__":
    sys.exit(main())
