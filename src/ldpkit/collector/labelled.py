"""Estimates of a cross-tabulation with the names of its cells: mechanisms know only how many there are."""

from __future__ import annotations

import dataclasses
from typing import Any

from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.protocols.collection.domains import labels_of

__all__ = ["labelled"]


def labelled(estimate: Any, domain: Any) -> Any:
    """Return an estimate with the labels of a question's domain, which is in the form of a collection file.

    Examples
    --------
    >>> import ldpkit
    >>> made = ldpkit.GRR(4, epsilon=2.0).tally([0, 1, 2, 3, 3]).estimate()
    >>> labelled(made, {"product": [["walk", "car"], ["young", "old"]]}).labels
    ['walk, young', 'walk, old', 'car, young', 'car, old']
    """
    if estimate.kind != "frequencies" or not (isinstance(domain, dict) and "product" in domain):
        return estimate
    labels = labels_of(domain)
    if len(set(labels)) < len(labels):  # "a, b" and "c" beside "a" and "b, c"
        return estimate
    return dataclasses.replace(estimate, domain=CategoricalDomain(labels))
