"""Figures 5.8, 6.6 and 6.7: how stable, consistent and fast the searches are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from ldpkit.core.errors import MissingDependencyError
from ldpkit.core.random import seeded
from ldpkit.core.typing import Counts
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.papers.capri.selection import AMOUNTS
from ldpkit.papers.capri.water import water
from ldpkit.planning.capacity.exact import exact
from ldpkit.planning.capacity.question import CapacityQuestion, Outcome
from ldpkit.planning.capacity.search import RUNS, bayesian, capri, capri_r
from ldpkit.planning.plan import Plan

__all__ = ["RUN_COUNTS", "method_claims", "speed_claims", "spread_claims", "spread_of"]

RUN_COUNTS = (500, 1_000, 5_000, 15_000, 30_000, 50_000)
REPETITIONS = 100
STABLE_CAPACITY = 1_372_500.0
"""With this capacity the exact epsilon, 0.631, lies amid two neighbours that CAPRI can return."""

ENLARGED = 100_000
AGREEMENT = 0.05
"""How near to the exact epsilon counts as similar; the thesis shows bars without numbers."""
NEAR = 0.005


def spread_claims(settings: Settings) -> Iterator[Claim]:
    """Yield how many different epsilons CAPRI chooses, for each number of runs."""
    question = _question(water(), STABLE_CAPACITY, 0.9)
    repetitions = 20 if settings.quick else REPETITIONS
    answer = exact(question, "grr").epsilon or 0.0
    chosen = {runs: spread_of(question, runs, repetitions, settings.seed) for runs in RUN_COUNTS}
    shares = {}
    for runs, epsilons in chosen.items():
        counted = Counter(np.round(epsilons, 6).tolist())
        _, often = counted.most_common(1)[0]
        shares[runs] = often / repetitions
        published = {500: "13 different, 0.587 to 0.714", 30_000: "92% alike", 50_000: "99% alike"}.get(runs)
        yield Claim(
            f"figure 5.8: {runs:,} runs, {repetitions} repetitions: spread of epsilon",
            published,
            f"{len(counted)} different, {min(epsilons):.3f} to {max(epsilons):.3f}, {shares[runs]:.0%} alike",
            None,
            Verdict.NO_DATA,
            "the thesis does not name the figure's constraint, so its numbers cannot be compared",
        )
    ranges = [max(epsilons) - min(epsilons) for epsilons in chosen.values()]
    steadier = shares[RUN_COUNTS[-1]] > shares[RUN_COUNTS[0]] and ranges[-1] < ranges[0]
    yield Claim(
        "figure 5.8: more runs, a steadier answer",
        "yes",
        "yes" if steadier else "no",
        None,
        Verdict.REPRODUCED if steadier else Verdict.NOT_REPRODUCED,
        "the numbers of right decisions are drawn from their exact law",
    )
    answers = {exact(question, "grr").epsilon for _ in range(repetitions)}
    yield Claim(
        f"the exact method, {repetitions} repetitions: different answers",
        None,
        len(answers),
        None,
        Verdict.REPRODUCED if len(answers) == 1 else Verdict.NOT_REPRODUCED,
        f"epsilon {answer:.6f}",
    )
    if settings.folder is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.figures.capacity import spread_figure

        save_figure(spread_figure(chosen, answer), settings.folder / "figure-5.8.png")


def spread_of(question: CapacityQuestion, runs: int, repetitions: int, seed: int) -> list[float]:
    """Return the epsilon that CAPRI chooses, over and over."""
    source = seeded(seed).derive(f"figure 5.8, {runs} runs")
    plans = (capri(question, "grr", runs=runs, engine="law", rng=each) for each in source.spawn(repetitions))
    return [plan.epsilon or float("nan") for plan in plans]


def method_claims(settings: Settings) -> Iterator[Claim]:
    """Yield whether the three searches agree with each other and the exact method, and their times."""
    runs = 5_000 if settings.quick else RUNS
    counts = water(ENLARGED, 1_600_000)
    thresholds = (0.8,) if settings.quick else (0.6, 0.8, 0.9, 0.95)
    methods: dict[str, Callable[..., Plan]] = {"CAPRI": capri, "CAPRI-R": capri_r, "Bayesian": bayesian}
    found: dict[str, dict[str, dict[float, Plan]]] = {}
    for protocol in ("grr", "sue"):
        seconds = dict.fromkeys(methods, 0.0)
        lines = found[protocol] = {name: {} for name in ("exact", *methods)}
        for threshold in thresholds:
            question = _question(counts, 1_400_000.0, threshold)
            lines["exact"][threshold] = exact(question, protocol)
            reference = lines["exact"][threshold].epsilon or 0.0
            for name, method in methods.items():
                source = seeded(settings.seed).derive(f"{name} {protocol} {threshold}")
                claim = f"figure 6.6: {protocol}, TP threshold {threshold:g}: {name}"
                try:
                    plan = method(question, protocol, runs=runs, rng=source)
                except MissingDependencyError as error:
                    yield Claim(claim, None, None, None, Verdict.NO_DATA, str(error))
                    continue
                lines[name][threshold] = plan
                ours = plan.epsilon or 0.0
                seconds[name] += plan.seconds
                agrees = abs(ours - reference) <= AGREEMENT
                yield Claim(
                    claim, "similar in all three", round(ours, 4), None,
                    Verdict.REPRODUCED if agrees else Verdict.NOT_REPRODUCED,
                    f"exact {reference:.4f}, limit {AGREEMENT:g}; {plan.simulations:,} collections, "
                    f"{plan.seconds:.2f} s",
                )  # fmt: skip
        fastest = min((name for name in seconds if seconds[name]), key=lambda name: seconds[name])
        yield Claim(
            f"figure 6.7: {protocol}, the fastest of the three",
            "CAPRI",
            fastest,
            None,
            Verdict.REPRODUCED if fastest == "CAPRI" else Verdict.NOT_REPRODUCED,
            ", ".join(f"{name} {time:.2f} s" for name, time in seconds.items() if time),
        )
    if settings.folder is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.figures.capacity import methods_figure

        save_figure(methods_figure(found), settings.folder / "figures-6.6-and-6.7.png")


def speed_claims(settings: Settings) -> Iterator[Claim]:
    """Yield what CAPRI and the exact method take on the whole water data, and how far they are apart.

    The thesis prints no times for this; the limits are ldpkit's own. Times are the best of
    a few, since other work on the machine only adds to them.
    """
    question = _question(water(), 1_400_000.0, 0.9)
    source = seeded(settings.seed).derive("speed")
    searches = [capri(question, "grr", rng=each) for each in source.spawn(2)]
    yield _within(f"CAPRI with {RUNS:,} runs, N = {question.n:,}, 41 values: seconds", searches, 2.0)
    known = [exact(question, "grr") for _ in range(10)]
    yield _within("the exact method on the same question: seconds", known, 0.05)
    answer, repetitions = known[0].epsilon or 0.0, 20 if settings.quick else REPETITIONS
    chosen = np.array(
        [
            capri(question, "grr", precision=0.001, engine="law", rng=each).epsilon or np.nan
            for each in source.spawn(repetitions)
        ]
    )
    apart, stderr = float(chosen.mean() - answer), float(chosen.std(ddof=1) / np.sqrt(repetitions))
    near = float((np.abs(chosen - answer) <= NEAR).mean())
    yield Claim(
        f"CAPRI, precision 0.001, less the exact epsilon: mean of {repetitions} repetitions",
        None,
        round(apart, 5),
        round(stderr, 5),
        Verdict.REPRODUCED if abs(apart) <= NEAR else Verdict.NOT_REPRODUCED,
        f"limit {NEAR:g}; a single CAPRI answer is noisy: {near:.0%} of them lie within the limit",
    )


def _within(claim: str, plans: list[Plan], limit: float) -> Claim:
    seconds = min(plan.seconds for plan in plans)
    verdict = Verdict.REPRODUCED if seconds <= limit else Verdict.NOT_REPRODUCED
    note = f"limit {limit:g} s; epsilon {plans[0].epsilon:.6f} from {plans[0].simulations:,} collections"
    return Claim(claim, None, round(seconds, 4), None, verdict, note)


def _question(counts: Counts, capacity: float, threshold: float) -> CapacityQuestion:
    return CapacityQuestion(AMOUNTS, counts, capacity, Outcome.TP, at_least=threshold)
