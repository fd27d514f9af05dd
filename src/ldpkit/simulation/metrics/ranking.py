"""Agreement of rankings: which values are the frequent ones, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldpkit.simulation.metrics import metric
from ldpkit.simulation.metrics.concordance import TrueOrder

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["kendall_tau", "topk_precision", "topk_recall"]


@metric(
    "kendall_tau",
    "kendall",
    "tau",
    title="Kendall's tau-b",
    larger_is_better=True,
    unit="-1 (reversed) to 1 (same order)",
    citation="Kendall, 1945",
)
def kendall_tau(truth: Floats, estimates: Floats) -> Floats:
    """Return Kendall's tau-b between the order of the estimates and the true order.

    (concordant - discordant) / sqrt(pairs untied in truth * pairs untied in the estimate),
    so ties do not depend on the order of the items. Where all values of one side are equal
    there is no order to agree with, and tau is 0.

    Examples
    --------
    >>> kendall_tau([0, 0, 0, 0, 9], [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [1, 1, 1, 1, 1]]).round(6).tolist()
    [0.632456, -0.632456, 0.0]
    """
    return TrueOrder(truth).tau_b(estimates)


@metric(
    "topk_precision",
    "precision_at_k",
    title="top-k precision",
    larger_is_better=True,
    unit="share of the values listed",
    at=10,
)
def topk_precision(truth: Floats, estimates: Floats, *, at: int) -> Floats:
    """Return how much of the estimated top k belongs to the true top k.

    The true top k are the values with a positive frequency that is at least the k-th
    largest: all of those tied for the last place belong. The estimated top k are the at
    most k values with the largest estimates, positive ones only; those tied for the last
    places share them equally, which gives the expected precision of drawing lots. If
    nothing is positive, nothing is listed and the precision is 0.

    Examples
    --------
    >>> from ldpkit.simulation.metrics import metric_for
    >>> metric_for("topk_precision@2")([0.4, 0.3, 0.2, 0.1], [[0.5, 0.1, 0.4, 0.0]]).tolist()
    [0.5]
    """
    listed = _listed(estimates, at)
    hits, shown = listed @ _relevant(truth, at), listed.sum(1)
    precision: Floats = np.zeros_like(hits)
    np.divide(hits, shown, out=precision, where=shown > 0)
    return precision


@metric(
    "topk_recall",
    "recall_at_k",
    title="top-k recall",
    larger_is_better=True,
    unit="share of the true top k",
    at=10,
)
def topk_recall(truth: Floats, estimates: Floats, *, at: int) -> Floats:
    """Return how much of the true top k is in the estimated top k.

    Both are as in `topk_precision`. Ties in the truth may make its top larger than k, and
    zeros smaller; a truth with nothing positive is recalled whole.

    Examples
    --------
    >>> from ldpkit.simulation.metrics import metric_for
    >>> metric_for("topk_recall@2")([0.4, 0.3, 0.3, 0.0], [[0.5, 0.1, 0.4, 0.0]]).round(6).tolist()
    [0.666667]
    """
    relevant = _relevant(truth, at)
    if not relevant.any():
        return np.ones(len(estimates))
    recall: Floats = _listed(estimates, at) @ relevant / relevant.sum()
    return recall


def _relevant(truth: Floats, at: int) -> Floats:
    """Return 1 for the values of the true top, 0 for the others."""
    last = np.partition(truth, -at)[-at]
    relevant: Floats = ((truth >= last) & (truth > 0)).astype(float)
    return relevant


def _listed(estimates: Floats, at: int) -> Floats:
    """Return the probability of each value to be among the estimated top."""
    last = np.partition(estimates, -at, axis=1)[:, -at, None]
    above, tied = estimates > last, estimates == last
    places = at - above.sum(1, keepdims=True)
    share = places / tied.sum(1, keepdims=True)
    return np.where(above, 1.0, np.where(tied, share, 0.0)) * (estimates > 0)
