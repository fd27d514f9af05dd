"""Bad input is refused before any randomness is drawn; good input is left as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core import random
from ldpkit.core.domains.interval import ClippedWarning
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.random import seeded
from ldpkit.testing.examples import allowed_size, bad_values, epsilon_parameter, good_values, small, variant
from ldpkit.testing.expect import UntouchedSource, refuses, require

__all__ = ["CHECKS", "FREQUENCY", "NUMERIC"]

_SENSELESS_EPSILONS: tuple[Any, ...] = (
    0,
    -1,
    -0.0,
    0.0009,
    20.1,
    np.inf,
    -np.inf,
    np.nan,
    None,
    "one",
    True,
    1j,
    [],
)
_NO_CATEGORIES: tuple[Any, ...] = (
    0,
    1,
    -3,
    True,
    False,
    2.0,
    np.nan,
    None,
    "abc",
    b"ab",
    [],
    ["one"],
    [1, "a"],
    ["a", "a"],
)
_NO_INTERVALS = ((1, 1), (2, 1), 5, ["a", "b"], (0, np.nan), None, (0, 1, 2))


def check_bad_values(mechanism: Any) -> None:
    """Values outside the domain are refused, alone or among good ones, before a byte is drawn."""
    subject = small(mechanism)
    for bad in bad_values(subject):
        refuses(InvalidInputError, subject.first_reports, bad, rng=UntouchedSource())
    good = good_values(subject).tolist()
    for one in (None, float("nan"), -(2.0**70), 2**70, "text", b"bytes", [0], object()):
        refuses(InvalidInputError, subject.first_reports, [*good, one], rng=UntouchedSource())


def check_foreign_sources(mechanism: Any) -> None:
    """Randomness comes from ldpkit's own sources, and from no others."""
    subject = small(mechanism)
    for rng in (7, "secure", np.random.default_rng(1), bytes(32), random):
        refuses(
            InvalidParameterError,
            subject.first_reports,
            good_values(subject),
            rng=rng,
            says="ldpkit.random.s",
        )


def check_input_unchanged(mechanism: Any) -> None:
    """Read-only values and reports are good enough, and stay as they are."""
    subject = small(mechanism)
    values = good_values(subject)
    values.setflags(write=False)
    reports = subject.first_reports(values, rng=seeded(3))
    reports.setflags(write=False)
    subject.tally(reports)
    subject.encode(reports)
    require((values == good_values(subject)).all(), "expected the values as they were, found them changed")


def check_senseless_epsilons(mechanism: Any) -> None:
    """What is no epsilon from 0.001 to 20 is refused by name."""
    wanted = epsilon_parameter(mechanism)
    subject = small(mechanism)
    for epsilon in _SENSELESS_EPSILONS:
        refuses(
            InvalidParameterError,
            type(subject),
            subject.domain,
            **{**subject.parameters(), wanted: epsilon},
            says=wanted,
        )


def check_senseless_categories(mechanism: Any) -> None:
    """What is no set of at least two categories is refused."""
    for domain in _NO_CATEGORIES:
        refuses(InvalidParameterError, type(mechanism), domain, **mechanism.parameters())


def check_senseless_intervals(mechanism: Any) -> None:
    """What is no interval is refused."""
    for domain in _NO_INTERVALS:
        refuses(InvalidParameterError, type(mechanism), domain, **mechanism.parameters())


def check_labels(mechanism: Any) -> None:
    """Labels and indices make the same reports, and what is no label is refused."""
    indices = np.array([1, 0, 0, 1, 1] * 20)
    size = allowed_size(mechanism, 2)
    plain = mechanism.sibling(size)
    labelled = variant(plain, ["no", "yes", *(f"option {index}" for index in range(2, size))])
    expected = plain.encode(plain.first_reports(indices, rng=seeded(3)))
    texts = [("no", "yes")[index] for index in indices]
    for values in (texts, np.array(texts), np.array(texts, object), iter(texts), indices):
        found = labelled.encode(labelled.first_reports(values, rng=seeded(3)))
        require(found == expected, f"expected labels as {type(values).__name__} to report as indices do")
    for dtype in (np.uint8, np.int64, np.uint64, np.float32, object, ">i4"):
        found = plain.encode(plain.first_reports(indices.astype(dtype), rng=seeded(3)))
        require(found == expected, f"expected indices of type {np.dtype(dtype)} to report as others do")
    for bad in (
        ["maybe"],
        ["NO"],
        ["no "],
        [""],
        [True],
        [0.0],
        [size],
        [-1],
        ["no", None],
        ["no", 1],
        [b"no"],
    ):
        refuses(InvalidInputError, labelled.first_reports, bad, rng=UntouchedSource())
    numbers = variant(plain, [10 * (index + 1) for index in range(size)])
    for foreign in ([0], [11], ["10"], [10.5], [np.nan], [10, None]):
        refuses(InvalidInputError, numbers.first_reports, foreign, rng=UntouchedSource())


def check_clipping(mechanism: Any) -> None:
    """Values outside are moved to the nearest end only where the user says so, with a warning."""
    import warnings

    high = mechanism.domain.high
    outside = [mechanism.domain.low, high + 99 * mechanism.domain.width]
    refuses(OutOfDomainError, mechanism.privatize, outside, rng=UntouchedSource(), says="clip=True")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clipped = mechanism.privatize(outside, rng=seeded(3), clip=True)
    found = [str(each.message) for each in caught if issubclass(each.category, ClippedWarning)]
    require(found, "expected a ClippedWarning that counts the values, found none")
    same = mechanism.privatize([mechanism.domain.low, high], rng=seeded(3))
    require((clipped == same).all(), "expected a clipped value to report as the end does")


CHECKS = (check_bad_values, check_foreign_sources, check_input_unchanged, check_senseless_epsilons)
FREQUENCY = (check_senseless_categories, check_labels)
NUMERIC = (check_senseless_intervals, check_clipping)
