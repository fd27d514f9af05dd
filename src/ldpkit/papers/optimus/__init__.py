"""Optimus (the budget selection thesis): figures 5.1 to 5.6.

The thesis prints no tables; its text names some numbers and many tendencies, and these
are the claims. It says neither how many people its emoji population has, nor how many
collections it simulates, nor the probability it asks for by default. We take 200
collections and 0.9, and fit the number of people: of those tried from 10,000 to 20
million, with 15 million GRR selects what the text says for emoji. That is one number
fitted to three. No population fits both GRR and OUE: what the text says for OUE takes
some 45,000 people, which is fitted too.

What we run are the methods made total (see `ldpkit.planning.searches`), not the thesis'
code: multi-pass and Bayesian search choose by all trials together, and the latter halves
the gap below its answer. Their agreement is that of the corrected methods.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ldpkit.core.errors import LdpkitError
from ldpkit.core.typing import Counts
from ldpkit.papers import Claim, Settings, Verdict, reproduction
from ldpkit.papers.optimus.grid import (
    CLOSE,
    EMOJI_PEOPLE,
    METHODS,
    THESIS_METHODS,
    OptimusStudy,
    OptimusTask,
    available,
    counts_of,
    epsilon_of,
    largest_difference,
    run_all,
    shown,
)
from ldpkit.papers.optimus.sweeps import STEEP, hyperparameters, probabilities
from ldpkit.planning.plan import Plan

__all__ = ["run"]

PROTOCOLS = ("grr", "sue", "oue", "blh", "olh")
AGREEMENT = 0.1
"""What the thesis calls agreement of two methods."""

Plans = dict[tuple[str, float], list[Plan]]


@reproduction("optimus", "Optimus: the smallest epsilon for a wanted accuracy (figures 5.1-5.6)")
def run(settings: Settings) -> Iterator[Claim]:
    """Yield a claim for every protocol and constraint of the figures, and for what the text says of them."""
    for study in _studies(settings):
        try:
            counts = study.counts()
        except LdpkitError as error:
            yield Claim(
                f"figure {study.figure}: {study.dataset}", None, None, None, Verdict.NO_DATA, str(error)
            )
            continue
        yield from _grid(study, counts, settings)
    try:
        emoji = counts_of("emoji", EMOJI_PEOPLE)
    except LdpkitError as error:
        yield Claim("figures 5.5 and 5.6: emoji", None, None, None, Verdict.NO_DATA, str(error))
        return
    yield from probabilities(emoji, settings)
    yield from hyperparameters(emoji, settings)


def _studies(settings: Settings) -> list[OptimusStudy]:
    if settings.quick:
        return [
            OptimusStudy("msnbc", "5.1", "5.3", PROTOCOLS, ("grr", "sue", "oue", "blh"), (0.1, 0.5)),
            OptimusStudy(
                "emoji", "5.2", "5.4", ("grr", "oue"), ("grr", "sue", "oue", "olh"), (0.3, 0.9), EMOJI_PEOPLE
            ),
        ]
    return [
        OptimusStudy(
            "msnbc", "5.1", "5.3", PROTOCOLS, ("grr", "sue", "oue", "blh"), (0.1, 0.2, 0.3, 0.4, 0.5)
        ),
        OptimusStudy(
            "emoji", "5.2", "5.4", PROTOCOLS, ("grr", "sue", "oue", "olh"), (0.3, 0.5, 0.7, 0.9), EMOJI_PEOPLE
        ),
    ]


def _grid(study: OptimusStudy, counts: Counts, settings: Settings) -> Iterator[Claim]:
    """Yield the claims of figures 5.1 to 5.4 for one data set."""
    tasks = [
        OptimusTask(counts, protocol, tau, method)
        for protocol in study.protocols
        for tau in study.taus
        for method in available(METHODS)
    ]
    start = time.perf_counter()
    plans: Plans = defaultdict(list)
    for task, plan in run_all(tasks, settings.seed):
        plans[task.protocol, task.tau].append(plan)
    seconds = time.perf_counter() - start
    yield from (_agreement(study, protocol, tau, each) for (protocol, tau), each in plans.items())
    yield _rising(study, plans)
    yield from _published_epsilons(study, plans)
    yield from _times(study, plans, seconds)
    if settings.folder is not None:
        from ldpkit.papers.optimus.figures import grid_figures

        grid_figures(study, plans, settings.folder)


def _agreement(study: OptimusStudy, protocol: str, tau: float, plans: Sequence[Plan]) -> Claim:
    difference = largest_difference(plans)
    ours = f"within {difference:.3f}"
    if not any(plan.feasible for plan in plans):
        ours = "infeasible by all"
    elif all(plan.feasible for plan in plans):
        ours += f" ({difference / max(epsilon_of(plan) for plan in plans):.0%})"
    agree = difference <= AGREEMENT
    notes = [", ".join(f"{plan.method} {shown(plan)}" for plan in plans)]
    notes += [] if agree else [_why(plans)]
    notes += [] if protocol in study.published else ["the thesis' figure does not have this protocol"]
    return Claim(
        f"figure {study.figure} {study.dataset}: {protocol}, tau at least {tau:g}, the methods agree",
        f"within {AGREEMENT:g}",
        ours,
        None,
        Verdict.REPRODUCED if agree else Verdict.NOT_REPRODUCED,
        "; ".join(notes),
    )


def _why(plans: Sequence[Plan]) -> str:
    """Say which method is off, as seen from the analytic one, and what its own check says."""
    chosen = {plan.method: plan for plan in plans}
    centre = chosen["analytic"].epsilon
    if centre is None:
        return "some methods find no epsilon"
    off = [plan for plan in plans if plan.epsilon is None or abs(plan.epsilon - centre) > AGREEMENT / 2]
    return "off: " + ", ".join(f"{plan.method} (probability {plan.probability:.3f} there)" for plan in off)


def _of(plans: Sequence[Plan], method: str) -> Plan:
    return next(plan for plan in plans if plan.method == method)


def _rising(study: OptimusStudy, plans: Plans) -> Claim:
    lines = rises = 0
    for protocol in study.protocols:
        for method in available(METHODS):
            chosen = [epsilon_of(_of(plans[protocol, tau], method)) for tau in sorted(study.taus)]
            lines += 1
            rises += chosen == sorted(chosen)
    return Claim(
        f"figure {study.figure} {study.dataset}: a stricter constraint takes a larger epsilon",
        "always",
        f"{rises} of {lines} lines",
        None,
        Verdict.REPRODUCED if rises == lines else Verdict.NOT_REPRODUCED,
        "one line for each protocol and method",
    )


def _published_epsilons(study: OptimusStudy, plans: Plans) -> Iterator[Claim]:
    if study.dataset == "msnbc":
        largest = max(epsilon_of(plan) for each in plans.values() for plan in each)
        name = "figure 5.1 msnbc: epsilon is typically"
        verdict = Verdict.REPRODUCED if largest < 0.4 else Verdict.NOT_REPRODUCED
        yield Claim(name, "below 0.4", f"below {largest:.3f}", None, verdict, "the largest of all")
        return
    note = f"n = {EMOJI_PEOPLE:,}, which the thesis does not say and we fitted to these numbers"
    for tau, published, least, most in (
        (0.3, "below 2", 0.0, 2.0),
        (0.7, "close to 4", 4 - CLOSE, 4 + CLOSE),
        (0.9, "close to 6", 6 - CLOSE, 6 + CLOSE),
    ):
        if ("grr", tau) in plans:
            ours = epsilon_of(_of(plans["grr", tau], "analytic"))
            yield Claim(
                f"figure 5.2 emoji: epsilon for grr, tau {tau:g}",
                published,
                round(ours, 3),
                0.0,
                Verdict.REPRODUCED if least <= ours <= most else Verdict.NOT_REPRODUCED,
                note,
            )


def _times(study: OptimusStudy, plans: Plans, seconds: float) -> Iterator[Claim]:
    spent: dict[str, float] = defaultdict(float)
    drawn: dict[str, int] = defaultdict(int)
    longest: dict[str, float] = defaultdict(float)
    for plan in (plan for each in plans.values() for plan in each):
        spent[plan.method] += plan.seconds
        drawn[plan.method] += plan.simulations
        longest[plan.method] = max(longest[plan.method], plan.seconds)
    ranked = [method for _, method in sorted((spent[method], method) for method in spent)]
    thesis = [method for method in ranked if method in THESIS_METHODS]
    each = ", ".join(f"{method} {spent[method] / len(plans):.2f} s" for method in ranked)
    quickest = ", ".join(f"{name} at most {longest[name]:.2f} s" for name in ("analytic", "sequential"))
    asked = sum(len(each) for each in plans.values())
    where = f"figure {study.time_figure} {study.dataset}"
    yield Claim(
        f"{where}: the fastest of the five",
        "dbs",
        thesis[0],
        None,
        Verdict.REPRODUCED if thesis[0] == "dbs" else Verdict.NOT_REPRODUCED,
        f"mean of a question: {each}; {quickest}; all {asked} plans of the grid in {seconds:.0f} s",
    )
    slow = {"mpass", "bayes"} & set(thesis)
    yield Claim(
        f"{where}: the slowest of the five",
        "mpass and bayes",
        " and ".join(thesis[-2:]),
        None,
        Verdict.REPRODUCED if slow <= set(thesis[-2:]) else Verdict.NOT_REPRODUCED,
        "simulations of a question: " + ", ".join(f"{name} {drawn[name] // len(plans):,}" for name in ranked),
    )
    waited = sum(
        plan.seconds for (protocol, _), each in plans.items() for plan in each
        if protocol in STEEP and plan.method in slow
    )  # fmt: skip
    if study.dataset == "emoji" and waited > 0:
        yield Claim(
            "figure 5.2d emoji: mpass and bayes with olh take in all",
            "more than 2 days",
            f"{waited:.0f} s",
            None,
            Verdict.NOT_REPRODUCED,
            "far less: the aggregate of a collection is drawn from its law, without users",
        )
