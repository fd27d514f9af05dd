"""What an adversary believes and asks: the prior, the amounts, the limit, and the best blind guess."""

from __future__ import annotations

import math

import numpy as np

from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.typing import Floats

__all__ = ["are_numbers", "blind_guess", "check_amounts", "check_eta", "check_prior"]


def blind_guess(prior: Floats, people: Floats, amounts: Floats) -> tuple[float, float]:
    """Return how often the likeliest value is right, and its mean squared error, without any report."""
    best = prior == prior.max()
    centred = amounts - amounts[best].mean()
    return float(people[best].mean()), float(people @ centred**2) + float((centred[best] ** 2).mean())


def check_prior(prior: object, size: int, name: str = "prior") -> Floats:
    """Return frequencies that sum to one, from frequencies, counts or None for uniform."""
    if prior is None:
        return np.full(size, 1 / size)
    try:
        array = np.asarray(prior, float)
    except (TypeError, ValueError):
        raise InvalidInputError(f"the {name} must be numbers, one for each of {size} values") from None
    if array.shape != (size,):
        raise InvalidInputError(
            f"the {name} must have a number for each of {size} values, got shape {array.shape}"
        )
    if not np.isfinite(array).all() or (array < 0).any() or array.sum() <= 0:
        raise InvalidInputError(f"the {name} must be finite, not negative, and not all zero")
    return np.asarray(array / array.sum())


def are_numbers(domain: CategoricalDomain) -> bool:
    """Whether the values of a domain are numbers, or places without labels."""
    return not domain.has_labels or all(
        isinstance(label, (int, float)) and not isinstance(label, bool) for label in domain.labels
    )


def check_amounts(amounts: object, domain: CategoricalDomain) -> Floats:
    """Return the number that each value stands for: by default its label, or else its place."""
    labels = list(domain.labels)
    if amounts is None:
        return np.asarray(labels if are_numbers(domain) else range(len(labels)), float)
    array = np.asarray(amounts, float)
    if array.shape != (len(labels),) or not np.isfinite(array).all():
        raise InvalidInputError(f"amounts must be {len(labels)} finite numbers, one for each value")
    return array


def check_eta(eta: float | None) -> float:
    """Return the limit that is asked about; below all numbers where there is none."""
    if eta is None:
        return -math.inf
    if isinstance(eta, bool) or not isinstance(eta, (int, float, np.number)) or not math.isfinite(eta):
        raise InvalidParameterError(f"eta must be a finite number, got {eta!r}")
    return float(eta)
