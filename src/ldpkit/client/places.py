"""From a person's value to the place that a sampler starts from.

The arithmetic is that of IEEE doubles in a stated order, so every language finds the same place for a
number or an angle. Only directions need an arc tangent, which may differ in the last bit: that
moves a location to the next of a million places and changes no chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ldpkit.client.samplers.base import Place
from ldpkit.core.errors import InvalidParameterError, OutOfDomainError

__all__ = ["place_of"]

_TURN = 2 * math.pi
_TOUCHING = 1e-12  # of the region: a reference on an edge has no way to go there


def place_of(kind: str, domain: Any, sampler: Mapping[str, Any], value: Any) -> Place:
    """Return the place of a value.

    Parameters
    ----------
    kind : {"frequency", "numeric", "circular", "spatial"}
        What the question is about.
    domain : JSON
        The domain of the question.
    sampler : mapping
        Its sampler, which `read_sampler` has checked.
    value : label, number or pair of numbers
        What the person says.

    Examples
    --------
    >>> place_of("frequency", ["walk", "bike"], {"form": "response"}, "bike")
    1
    >>> place_of("numeric", [0, 10], {"form": "coin", "grid": 4}, 3.75)   # halfway: to the even one
    2
    >>> place_of("circular", {"period": 360, "low": 0}, {"form": "window", "grid": 4}, 350)
    0
    >>> place_of("numeric", [0, 10], {"form": "coin", "grid": 4}, 11)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.OutOfDomainError: 11 is not in [0, 10]: give a number from 0 to 10
    """
    try:
        if kind == "frequency":
            return _category(domain, value)
        if kind == "numeric":
            return _on_line(domain, sampler["grid"], value)
        if kind == "circular":
            return _on_circle(domain, sampler["grid"], value)
        if kind == "spatial":
            return _on_map(domain, sampler, value)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, (InvalidParameterError, OutOfDomainError)):
            raise
        raise InvalidParameterError(
            f"the domain {str(domain)[:50]!r} of a question of kind {kind!r} cannot be used: {error}"
        ) from None
    raise InvalidParameterError(f"there are no questions of kind {str(kind)[:50]!r} here: use a newer client")


def _category(domain: Any, value: Any) -> int:
    if isinstance(domain, Mapping):
        return _product(domain["product"], value)
    if isinstance(domain, int):
        if type(value) is int and 0 <= value < domain:
            return value
        raise OutOfDomainError(f"{_shown(value)} is not in the domain: give a whole number below {domain}")
    for index, label in enumerate(domain):
        if isinstance(label, bool) == isinstance(value, bool) and label == value:
            return index
    told = ", ".join(str(label)[:20] for label in domain[:5]) + (", ..." if len(domain) > 5 else "")
    raise OutOfDomainError(f"{_shown(value)} is not in the domain: give one of {told}")


def _product(factors: Sequence[Any], value: Any) -> int:
    if not isinstance(value, (list, tuple)) or len(value) != len(factors):
        raise OutOfDomainError(
            f"{_shown(value)} is not an answer: give {len(factors)} values, one for each part"
        )
    index = 0
    for factor, part in zip(factors, value, strict=True):
        size = factor if isinstance(factor, int) else len(factor)
        index = index * size + _category(factor, part)
    return index


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise OutOfDomainError(f"{_shown(value)} is not a finite number: give a number")
    return float(value)


def _on_line(domain: Any, grid: int, value: Any) -> int:
    number, (low, high) = _number(value), domain
    if not low <= number <= high:
        raise OutOfDomainError(
            f"{_shown(value)} is not in [{low:g}, {high:g}]: give a number from {low:g} to {high:g}"
        )
    return int(min(round((number - low) * (grid / (high - low))), grid))


def _on_circle(domain: Any, grid: int, value: Any) -> int:
    number, low, period = _number(value), domain["low"], domain["period"]
    if not low <= number <= low + period:
        raise OutOfDomainError(
            f"{_shown(value)} is not in the circle from {low:g} to {low + period:g}: give a number of it"
        )
    return int(round((number - low) * (grid / period)) % grid)


def _on_map(domain: Any, sampler: Mapping[str, Any], value: Any) -> Place:
    if domain["shape"] != "rectangle" or "projection" in domain:
        raise InvalidParameterError(
            "a device places locations in a rectangle without a projection: give the question such a domain"
        )
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise OutOfDomainError(f"{_shown(value)} is not a location: give two numbers")
    point, low, high = tuple(map(_number, value)), domain["low"], domain["high"]
    if not all(least <= each <= most for each, least, most in zip(point, low, high, strict=True)):
        told = f"[{low[0]:g}, {high[0]:g}] x [{low[1]:g}, {high[1]:g}]"
        raise OutOfDomainError(f"({point[0]:g}, {point[1]:g}) is not in {told}: give a location inside")
    shares = [(each - least) / (most - least) for each, least, most in zip(point, low, high, strict=True)]
    if "shape" in sampler:
        return _site(domain, sampler["shape"], point, shares)
    if "reference" in sampler:
        return _seen(domain, sampler, point)
    parts = [sampler] * 2 if "grid" in sampler else [sampler["first"], sampler["second"]]
    return tuple(_step(part, share) for part, share in zip(parts, shares, strict=True))


def _site(domain: Any, shape: Sequence[int], point: Sequence[float], shares: Sequence[float]) -> Place:
    if len(shape) == 2:
        return tuple(
            min(math.floor(share * size), size - 1) for share, size in zip(shares, shape, strict=True)
        )
    far = [(x - point[0]) ** 2 + (y - point[1]) ** 2 for x, y in domain["places"]]
    return far.index(min(far))


def _step(part: Mapping[str, Any], share: float) -> int:
    """Return the place of a share of a line or a turn."""
    grid, is_round = part["grid"], part["form"] == "turned" or part.get("stand") == "wrap"
    if part.get("stand") == "sector":
        return int(min(math.floor(share % 1.0 * grid), grid - 1))
    return int(round(share * grid) % grid if is_round else min(round(share * grid), grid))


def _seen(domain: Any, sampler: Mapping[str, Any], point: Sequence[float]) -> Place:
    """Return the places of a direction and of the distance as a part of the way to the edge."""
    away = [each - start for each, start in zip(point, sampler["reference"], strict=True)]
    size = max(high - low for low, high in zip(domain["low"], domain["high"], strict=True))
    distance = 0.0
    for step, start, low, high in zip(away, sampler["reference"], domain["low"], domain["high"], strict=True):
        for ahead, room in ((step, high - start), (-step, start - low)):
            distance = max(distance, ahead / room) if room > _TOUCHING * size else distance
    turns = math.atan2(away[1], away[0]) / _TURN
    return _step(sampler["first"], turns), _step(sampler["second"], min(distance, 1.0))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 50 else text[:47] + "..."
