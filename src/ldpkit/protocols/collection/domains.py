"""How the values of a question are written in TOML, and what they are in the canonical file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from ldpkit.client.questions import category_count
from ldpkit.core.domains.base import Domain
from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.text import and_text

__all__ = ["DOMAIN_KEYS", "labels_of", "read_domain", "written_domain"]

DOMAIN_KEYS = ("domain", "product", "low", "high", "period", "corners", "places")
"""The keys of a question that say which values it takes."""

_WAYS = (
    "domain = [...] for categories, product = [[...], [...]] for a cross-tabulation, low and high for "
    "numbers, "
    "period for angles, or corners for locations"
)


def written_domain(question: Mapping[str, Any]) -> tuple[Domain, Any]:
    """Return the domain that a question of a TOML file has, and its JSON form.

    Examples
    --------
    >>> written_domain({"low": 0, "high": 120})
    (IntervalDomain(0, 120), [0.0, 120.0])
    >>> written_domain({"product": [["walk", "car"], ["young", "old"]]})
    (CategoricalDomain(4), {'product': [['walk', 'car'], ['young', 'old']]})
    """
    given = [key for key in DOMAIN_KEYS if key in question]
    match given:
        case ["domain"]:
            domain: Domain = CategoricalDomain.from_json(question["domain"])
        case ["product"]:
            form = {"product": question["product"]}
            return read_domain(CategoricalDomain, form), form
        case ["low", "high"]:
            domain = IntervalDomain(question["low"], question["high"])
        case ["period"] | ["low", "period"]:
            domain = CircleDomain(question["period"], question.get("low", 0.0))
        case ["corners"] | ["corners", "places"]:
            domain = _plane(question["corners"], question.get("places"))
        case _:
            what = f" {and_text(given)} cannot say so:" if given else ""
            raise InvalidParameterError(f"what are the possible answers?{what} give {_WAYS}")
    return domain, domain.to_json()


def _plane(corners: Any, places: Any) -> PlaneDomain:
    if not isinstance(corners, list) or len(corners) != 2:
        raise InvalidParameterError(f"corners are two, [[x, y], [x, y]], got {str(corners)[:50]!r}")
    form = {"shape": "rectangle", "low": corners[0], "high": corners[1]}
    return PlaneDomain.from_json(form if places is None else {**form, "places": places})


def read_domain(kind: type[Domain], form: Any) -> Domain:
    """Return the domain of a mechanism from the JSON form in a collection; a product is its size."""
    if not (isinstance(form, Mapping) and "product" in form):
        return kind.from_json(form)
    factors = form["product"]
    if not isinstance(factors, Sequence) or isinstance(factors, str) or not 2 <= len(factors) <= 8:
        raise InvalidParameterError(f"a product has 2 to 8 factors, got {str(factors)[:50]!r}")
    for factor in factors:
        CategoricalDomain.from_json(factor)
    return CategoricalDomain(category_count(form))


def labels_of(form: Any) -> list[str]:
    """Return what the values of categories are called, in the order of their indices.

    Examples
    --------
    >>> labels_of({"product": [["walk", "car"], ["young", "old"]]})
    ['walk, young', 'walk, old', 'car, young', 'car, old']
    """
    if isinstance(form, Mapping):
        return [", ".join(parts) for parts in product(*map(labels_of, form["product"]))]
    return [str(label) for label in (form if isinstance(form, list) else range(form))]
