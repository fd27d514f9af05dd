"""E.2.7: utilities from points that do not depend on epsilon, in two columns and in 49."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.mixture import mixture_utility
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.utility import utility
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.papers import Claim, Settings, Verdict, compare
from ldpkit.papers.classifier.claims import holds
from ldpkit.papers.classifier.study import MECHANISMS, Study

__all__ = ["drawn_share", "image_claims", "table_estimate", "uniform_estimate"]

_EPSILONS = (2.0, 4.0, 8.0)


def uniform_estimate(kept: Any, laws: Sequence[Outputs], points: Floats) -> tuple[float, float]:
    """Return the estimate of E.2.7 from uniform points of the unit cube, and its standard error.

    Parameters
    ----------
    kept : array of bool
        Which points keep the label.
    laws : sequence of Outputs
        For each column the law of its report, of one record.
    points : array, points x columns
        The points; the estimate is the mean density of the report at those that keep the label.
    """
    logs = np.zeros(len(points))
    for axis, law in enumerate(laws):
        place = np.searchsorted(law.edges[0], points[:, axis], "right") - 1
        with np.errstate(divide="ignore"):
            logs += np.log(law.densities[0, np.clip(place, 0, law.masses.shape[1] - 1)])
    values = np.where(kept, np.exp(logs), 0.0)
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def table_estimate(study: Study, record: int, source: RandomSource, count: int = 100_000) -> Claim:
    """Return the estimate for two columns against the exact utility: there it works."""
    points = source.generator().random((count, len(study.positions)))
    rows = np.repeat(study.rows[record : record + 1], count, axis=0)
    rows[:, study.positions] = points
    kept = study.model.predict(rows) == study.labels[record]
    laws = [law.take(np.array([record])) for law in study.laws(MECHANISMS["PM"](4.0))]
    value, stderr = uniform_estimate(kept, laws, points)
    exact = float(study.exact(MECHANISMS["PM"], 4.0)[record])
    return Claim(
        "E.2.7: stroke, logistic regression, PM, eps=4, from uniform points of two columns",
        round(exact, 4),
        round(value, 4),
        round(stderr, 4),
        Verdict.REPRODUCED if compare(exact, value, stderr) else Verdict.NOT_REPRODUCED,
        f"{count:,} points; 'theoretically sound': beside the exact utility",
    )


def drawn_share(
    model: Any, images: Floats, name: str, epsilon: float, draws: int, source: RandomSource
) -> Floats:
    """Return the share of draws that keep the label of each image, all pixels privatized."""
    chosen = {pixel: MECHANISMS[name](epsilon) for pixel in range(images.shape[1])}
    return utility(model, images, chosen, draws=draws, rng=source.derive(f"{name} {epsilon}")).values


def image_claims(settings: Settings, model: Any, image: Floats, source: RandomSource) -> Iterator[Claim]:
    """Yield the estimate for 49 columns, where it does not work, and one that serves all epsilons."""
    count, draws = (50_000, 6_000) if settings.quick else (200_000, 30_000)
    points = source.derive("uniform").generator().random((count, len(image)))
    kept = model.predict(points) == model.predict(image[None, :])[0]
    uniform = []
    for epsilon in _EPSILONS:
        law = MECHANISMS["PM"](epsilon).outputs(image)
        laws = [law.take(np.array([pixel])) for pixel in range(len(image))]
        uniform.append(uniform_estimate(kept, laws, points)[0])
    choices = [{pixel: MECHANISMS["PM"](e) for pixel in range(len(image))} for e in _EPSILONS]
    shared = mixture_utility(model, image[None, :], choices, draws=draws, rng=source.derive("mixture"))
    own = [float(drawn_share(model, image[None, :], "PM", e, draws, source)[0]) for e in _EPSILONS]
    yield holds(
        "E.2.7: MNIST 7x7, uniform points drive the estimate to an unrealistically small value",
        "close to zero",
        ", ".join(f"{value:.1e}" for value in uniform),
        so=max(uniform[1:]) < 1e-3 < min(own[1:]),
        note=f"{count:,} points, PM at epsilon 2, 4 and 8; the truth is {', '.join(f'{v:.3f}' for v in own)}",
    )
    apart = max(abs(each.value - value) for each, value in zip(shared, own, strict=True))
    # a weight is at most the number of choices, so its variance is at most that times 1/4
    noise = 3 * math.sqrt((len(_EPSILONS) + 1) * 0.25 / draws)
    yield holds(
        "E.2.7: points for all epsilons at once are not possible by importance sampling",
        "it would be empirical estimation again",
        ", ".join(f"{each.value:.3f}" for each in shared),
        so=apart > noise,
        note=f"{draws:,} calls in all, from a mixture of the three laws; {draws:,} draws for each give "
        f"{', '.join(f'{v:.3f}' for v in own)}",
        wrong=True,
    )
