"""Figures 5.5 and 5.6 of Optimus: what the probability and the parameters of the methods change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ldpkit.core.typing import Counts
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.papers.optimus.grid import (
    CLOSE,
    EMOJI_PEOPLE,
    OptimusTask,
    available,
    counts_of,
    epsilon_of,
    run_all,
    shown,
)
from ldpkit.planning.plan import Plan

__all__ = ["hyperparameters", "probabilities"]

OUE_PEOPLE = 45_000


STEEP = ("olh",)
"""Protocols whose epsilon the thesis shows to grow several times from pi = 0.5 to 0.9."""


def probabilities(emoji: Counts, settings: Settings) -> Iterator[Claim]:
    """Yield the claims of figure 5.5: the probability pi and binary search."""
    chances = (0.5, 0.6, 0.9) if settings.quick else (0.5, 0.6, 0.7, 0.8, 0.9)
    protocols = ("grr", "oue") if settings.quick else ("grr", "sue", "oue", "olh")
    tasks = [
        OptimusTask(emoji, protocol, 0.3, method, chance)
        for protocol in protocols
        for chance in chances
        for method in ("bs", "analytic")
    ]
    chosen = {
        (task.protocol, task.method, task.probability): epsilon_of(plan)
        for task, plan in run_all(tasks, settings.seed)
    }
    if settings.folder is not None:
        from ldpkit.papers.optimus.figures import probability_figure

        probability_figure(chosen, chances, settings.folder)
    for protocol in protocols:
        simulated = [chosen[protocol, "bs", chance] for chance in chances]
        exact = [chosen[protocol, "analytic", chance] for chance in chances]
        several = protocol in STEEP
        published = "several times as large" if several else "rises, by less than 1"
        rise = simulated[-1] - simulated[0]
        agrees = simulated[-1] > 2 * simulated[0] if several else exact == sorted(exact) and 0 < rise < 1
        yield Claim(
            f"figure 5.5 emoji: {protocol}, tau 0.3, from pi = 0.5 to 0.9",
            published,
            f"{simulated[0]:.3f} to {simulated[-1]:.3f}",
            None,
            Verdict.REPRODUCED if agrees else Verdict.NOT_REPRODUCED,
            "bs; analytic: "
            + ", ".join(f"{value:.3f}" for value in exact)
            + ("; olh has the variance of oue, so it cannot behave otherwise" if several else ""),
        )
    small = counts_of("emoji", OUE_PEOPLE)
    published_oue = {0.5: 3.6, 0.6: 3.7, 0.9: 4.0}
    tasks = [OptimusTask(small, "oue", 0.3, "analytic", chance) for chance in published_oue]
    for task, plan in run_all(tasks, settings.seed):
        value, ours = published_oue[task.probability], chosen["oue", "analytic", task.probability]
        yield Claim(
            f"figure 5.5 emoji: epsilon for oue, tau 0.3, pi = {task.probability:g}",
            value,
            round(ours, 3),
            0.0,
            Verdict.REPRODUCED if abs(ours - value) <= CLOSE else Verdict.NOT_REPRODUCED,
            f"with the {EMOJI_PEOPLE:,} people fitted to grr; with {OUE_PEOPLE:,}, fitted to the first of "
            f"these three, it is {epsilon_of(plan):.3f}",
        )


def hyperparameters(emoji: Counts, settings: Settings) -> Iterator[Claim]:
    """Yield the claims of figure 5.6: emoji, GRR, tau at least 0.7."""
    quick = settings.quick
    sweeps: dict[tuple[str, str], Sequence[float]] = {
        ("rbs", "g"): (3, 6, 10) if quick else (3, 4, 5, 6, 7, 8, 9, 10),
        ("dbs", "c"): (1e-6, 1.0, 1e6) if quick else tuple(10.0**power for power in range(-6, 7)),
        ("bayes", "iter_num"): (1, 15) if quick else (1, 5, 10, 15, 20, 30),
        ("bayes", "init_points"): (1, 20) if quick else (1, 5, 10, 15, 20, 30, 50),
    }
    wanted = {key: values for key, values in sweeps.items() if available([key[0]])}
    tasks = [
        OptimusTask(emoji, "grr", 0.7, method, parameters={name: value})
        for (method, name), values in wanted.items()
        for value in values
    ]
    centre = next(plan for _, plan in run_all([OptimusTask(emoji, "grr", 0.7, "analytic")], settings.seed))
    plans: dict[tuple[str, str], list[Plan]] = defaultdict(list)
    for task, plan in run_all(tasks, settings.seed):
        plans[task.method, next(iter(task.parameters))].append(plan)
    effects = {
        ("rbs", "g"): "less time with larger g",
        ("dbs", "c"): "more time with larger C",
        ("bayes", "iter_num"): "more time with more iterations",
        ("bayes", "init_points"): "more time with more points",
    }
    for (method, name), each in plans.items():
        values = wanted[method, name]
        runs = [plan.simulations for plan in each]
        agrees = runs[0] > runs[-1] if method == "rbs" else runs[0] < runs[-1]
        yield Claim(
            f"figure 5.6 emoji: {method}, {name} from {values[0]:g} to {values[-1]:g}, time",
            effects[method, name],
            f"{runs[0]:,} to {runs[-1]:,} simulations",
            None,
            Verdict.REPRODUCED if agrees else Verdict.NOT_REPRODUCED,
        )
        off = [abs(epsilon_of(plan) - epsilon_of(centre)) for plan in each]
        steady = max(off) <= CLOSE
        listed = ", ".join(f"{value:g}: {shown(plan)}" for value, plan in zip(values, each, strict=True))
        is_bayes = method == "bayes"
        yield Claim(
            f"figure 5.6 emoji: {method}, {name} from {values[0]:g} to {values[-1]:g}, epsilon",
            "far from 4 for small values" if is_bayes else "close to 4 throughout",
            f"within {max(off):.3f} of {shown(centre)}",
            None,
            Verdict.REPRODUCED if steady != is_bayes else Verdict.NOT_REPRODUCED,
            listed + ("; our last step halves the gap below the answer" if is_bayes else ""),
        )
    if settings.folder is not None:
        from ldpkit.papers.optimus.figures import sweep_figure

        sweep_figure({key: (wanted[key], each) for key, each in plans.items()}, settings.folder)
