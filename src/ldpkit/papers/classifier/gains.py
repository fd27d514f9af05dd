"""How to lose less, which the thesis does not ask: the split of epsilon, and the corrected model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import Withheld
from ldpkit.assurance.classifier.corrected import Corrected, label_response, privatized
from ldpkit.assurance.classifier.utility import utility
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.papers import Claim
from ldpkit.papers.classifier.claims import ours
from ldpkit.papers.classifier.study import MECHANISMS

__all__ = ["corrected_claims", "four_in_all"]


def four_in_all(model: Any, rows: Floats, names: list[str]) -> Iterator[Claim]:
    """Yield three ways to spend a total epsilon of 4 on age and BMI; the thesis has only the first."""
    pm = MECHANISMS["PM"]
    middle = float(rows[:, names.index("bmi")].mean())
    ways = {
        "evenly": utility(model, rows, {"age": pm(2.0), "bmi": pm(2.0)}, columns=names).average.value,
        "all on age, BMI withheld": utility(
            model, rows, {"age": pm(4.0), "bmi": Withheld(middle)}, columns=names
        ).average.value,
        "label response": label_response(2, 4.0),
    }
    for name, value in ways.items():
        yield ours(f"stroke, total epsilon 4, {name}", value, "share of predictions kept on average, exact")


def corrected_claims(
    title: str,
    model: Any,
    names: list[str],
    prior: Floats,
    test: tuple[Floats, Any],
    chosen: dict[str, Any],
    runs: int,
    source: RandomSource,
    points: int = 256,
) -> Iterator[Claim]:
    """Yield what averaging over the posterior gains, beside what a constant answer has already."""
    from sklearn.metrics import roc_auc_score

    rows, labels = test
    better = Corrected(model, chosen, prior, columns=names, points=points)
    found = []
    for own in source.spawn(runs):
        reports = privatized(model, rows, chosen, columns=names, rng=own)
        raw, mended = model.predict_proba(reports)[:, 1], better.predict_proba(reports)[:, 1]
        found.append(
            [roc_auc_score(labels, raw), roc_auc_score(labels, mended)]
            + [float(((chance > 0.5) == labels).mean()) for chance in (raw, mended)]
        )
    means, errors = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / math.sqrt(runs)
    constant = max(float(labels.mean()), 1 - float(labels.mean()))
    for name, before, after in (("AUC", 0, 1), ("accuracy", 2, 3)):
        same = f"a constant answer has {constant:.3f}" if name == "accuracy" else "a constant answer has 0.5"
        if name == "accuracy":
            same += f", so the gain over it is {means[after] - constant:+.3f}"
        for what, place in (("on reports", before), ("corrected", after)):
            yield ours(
                f"{title}, eps=1 a feature, {name} {what}",
                float(means[place]),
                f"{runs} runs of {len(rows)} records; {same}",
                round(float(errors[place]), 4),
            )
