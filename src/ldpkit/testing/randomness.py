"""Reports are secure by default, repeatable from a seed, and the same in chunks."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

from ldpkit.core import random
from ldpkit.core.errors import OutOfDomainError
from ldpkit.core.random import seeded
from ldpkit.mechanisms.kinds import is_on_grid, is_spatial
from ldpkit.testing.examples import good_values, small, spread_points
from ldpkit.testing.expect import NotApplicableError, UntouchedSource, refuses, require

__all__ = ["CHECKS"]


def check_seeds(mechanism: Any) -> None:
    """One seed makes the same reports, two seeds do not, and a source that is used again goes on."""
    subject = small(mechanism)

    def run(rng: random.RandomSource | None) -> bytes:
        data: bytes = subject.encode(subject.first_reports(good_values(subject), rng=rng))
        return data

    first = run(seeded(5))
    require(first == run(seeded(5)), "expected the same 200 reports from one seed, found others")
    require(first != run(seeded(6)), "expected other reports from another seed, found the same 200")
    source = seeded(5)
    require(run(source) != run(source), "expected a source to go on, found it begin again")
    require(
        len({run(None) for _ in range(8)}) == 8,
        "expected eight secure runs to differ, found two alike (false-alarm rate far below 1e-9)",
    )


def check_secure_default(mechanism: Any) -> None:
    """Without a source, one secure source is made and used."""
    subject = small(mechanism)
    with patch.object(random, "secure", wraps=random.secure) as made:
        subject.first_reports(good_values(subject))
    require(
        made.call_count == 1,
        f"expected the default source to be ldpkit.random.secure(), made once, found {made.call_count} calls "
        "(use ldpkit.core.random.resolve)",
    )


def check_chunks(mechanism: Any) -> None:
    """The reports of `privatize_chunks` are those of `privatize`, from a stream of their own each."""
    if mechanism.can("joint"):
        raise NotApplicableError("everybody is one batch, so that no chunk decides who meets whom")
    subject = small(mechanism)
    options: dict[str, Any] = {"new_devices": True} if subject.can("memoized") else {}
    each = subject.chunk_size
    if is_on_grid(subject):
        values: Any = np.linspace(subject.domain.low, subject.domain.high, each + 17)
        far: Any = [subject.domain.low, subject.domain.high + subject.domain.width]
    elif is_spatial(subject):
        values, far = spread_points(subject.domain.region, each + 17), [subject.domain.region.box[1] + 1]
    else:
        values, far = np.arange(each + 17) % len(subject.domain), [0, len(subject.domain)]
    whole = subject.first_reports(values, rng=seeded(31))
    chunks = list(subject.privatize_chunks(values, rng=seeded(31), **options))
    sizes = [len(chunk) for chunk in chunks]
    require(sizes == [each, 17], f"expected chunks of {each} and 17 reports, found {sizes}")
    require(
        (np.concatenate(chunks) == whole).all(), "expected the reports of privatize in chunks, found others"
    )
    require(
        subject.tally(chunks[0]) + subject.tally(chunks[1]) == subject.tally(whole), "chunks do not add up"
    )
    again = subject.first_reports(values[-17:], rng=seeded(31))
    require((again != chunks[1]).any(), "expected chunks with randomness of their own, found it shared")
    refuses(OutOfDomainError, subject.privatize_chunks, far, rng=UntouchedSource(), **options)


CHECKS = (check_seeds, check_secure_default, check_chunks)
