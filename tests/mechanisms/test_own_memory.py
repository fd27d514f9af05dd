"""What was checked is what is used: an array that changes meanwhile changes nothing, or is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import OutOfDomainError

NUMERIC = [ldpkit.get(name, (0, 1), epsilon=1.0) for name in ("pm", "bounded_laplace")]
FREQUENCY = [ldpkit.GRR(4, epsilon=1.0), ldpkit.OLH(4, epsilon=1.0), ldpkit.OUE(4, epsilon=1.0)]
every = pytest.mark.parametrize("mechanism", NUMERIC + FREQUENCY, ids=lambda each: each.name)


def sample(mechanism: Any, n: int) -> np.ndarray:
    spread = np.arange(n) % 4
    return spread / 4 if mechanism in NUMERIC else spread


@every
def test_chunks_do_not_see_what_the_array_becomes(mechanism: Any) -> None:
    values = sample(mechanism, 2 * mechanism.chunk_size + 5)
    expected = mechanism.privatize(values, rng=ldpkit.random.seeded(1))
    made = []
    for chunk in mechanism.privatize_chunks(values, rng=ldpkit.random.seeded(1)):
        made.append(chunk)
        values[:] = 1
    assert (np.concatenate(made) == expected).all()


@pytest.mark.parametrize("changed", [2.0, -1.0, 1e300, np.nan])
def test_numbers_that_change_after_the_check_are_refused(
    changed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = ldpkit.IntervalDomain.take

    def take_and_change(domain: Any, values: Any, **options: Any) -> Any:
        numbers = take(domain, values, **options)
        numbers[7] = changed
        return numbers

    monkeypatch.setattr(ldpkit.IntervalDomain, "take", take_and_change)
    source = ldpkit.random.seeded(1)
    for mechanism in NUMERIC:
        for privatize in (mechanism.privatize, mechanism.privatize_chunks):
            with pytest.raises(OutOfDomainError, match="changed while they were read"):
                privatize(np.zeros(10), rng=source)
    assert (source.words(1) == ldpkit.random.seeded(1).words(1)).all(), "no randomness was drawn"


class _Changing(np.ndarray):
    """An array that changes between two looks at it, as one that another thread writes to."""

    def astype(self, *args: Any, **options: Any) -> Any:
        self[3] = 99
        return super().astype(*args, **options)


def test_indices_that_change_after_the_check_are_refused() -> None:
    for dtype in (np.uint32, np.int64, np.uint8):
        values = np.zeros(10, dtype).view(_Changing)
        with pytest.raises(OutOfDomainError, match="changed while they were read"):
            FREQUENCY[0].privatize(values)


@every
def test_reports_are_counted_as_they_were_checked(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = mechanism.privatize(sample(mechanism, 1000), rng=ldpkit.random.seeded(2))
    expected, wire = mechanism.tally(reports), mechanism.encode(reports)
    valid = type(mechanism)._is_valid

    def check_and_change(self: Any, some: Any) -> Any:
        answer = valid(self, some)
        given[...] = np.zeros(1, given.dtype)[0]
        return answer

    monkeypatch.setattr(type(mechanism), "_is_valid", check_and_change)
    given = reports.copy()
    assert mechanism.tally(given) == expected
    given = reports.copy()
    assert mechanism.encode(given) == wire
    assert mechanism.tally(given) != expected, "negative control: the array did change"


def test_positions_of_bad_reports_count_from_the_first() -> None:
    reports = np.zeros(70_000, np.uint8)
    reports[69_999] = 9
    for mechanism in (FREQUENCY[0], ldpkit.get("aaa", (0, 1), epsilon=1.0, intervals=2)):
        with pytest.raises(ldpkit.LdpkitError, match="report 69999 cannot come from"):
            mechanism.tally(reports)
