"""The longitudinal attack: a collector who remembers every report of a device.

The adversary knows the mechanism, sees report after report about one value, and guesses
the value that makes them most likely. There is no better guess without other knowledge.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import exp_bounds
from ldpkit.core.parameters import check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Floats, Label, Reports
from ldpkit.mechanisms.kinds import is_memoized
from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle

__all__ = ["longitudinal_attack", "posterior", "success_bound"]

MOST_SCORES = 1 << 26
"""How many scores an attack on one device may hold: half a gigabyte."""


def posterior(mechanism: MemoizedOracle, reports: Reports, *, memoized: bool = True) -> Floats:
    """Return the exact probability of each value after the first 1, 2, ... reports, all values alike before.

    Parameters
    ----------
    mechanism : MemoizedOracle
        What made the reports.
    reports : array
        What one device sent about one value, in order.
    memoized : bool
        Whether the device kept its permanent report.

    Returns
    -------
    array, shape (reports, k)
        Rows sum to one.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lgrr", 3, epsilon_inf=2, epsilon_1=1)
    >>> posterior(oracle, [1] * 50)[[0, -1]].round(3).tolist()
    [[0.212, 0.576, 0.212], [0.107, 0.787, 0.107]]
    >>> posterior(oracle, [1] * 50, memoized=False)[-1].round(3).tolist()
    [0.0, 1.0, 0.0]
    """
    evidence = mechanism.log_likelihood(reports, memoized=memoized)
    weight = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def success_bound(epsilon: float, size: int) -> float:
    """Return the best chance to guess one of `size` equally likely values from an epsilon-LDP report.

    Examples
    --------
    >>> round(success_bound(2.0, 16), 4)
    0.33
    """
    _, high = exp_bounds(epsilon)
    return float(high / (high + size - 1))


def longitudinal_attack(
    mechanism: MemoizedOracle,
    value: Label | None,
    reports: int,
    repeats: int,
    *,
    memoize: bool = True,
    rng: RandomSource | None = None,
) -> Floats:
    """Return how often the adversary guesses right after 1, 2, ... reports.

    Parameters
    ----------
    mechanism : MemoizedOracle
        A longitudinal mechanism or dBitFlipPM.
    value : label or None
        What every attacked device holds; None gives each a value of its own, all alike.
    reports : int
        How many reports each device sends about it.
    repeats : int
        How many devices are attacked.
    memoize : bool
        True: a device keeps its permanent report. False: it draws a new one for every
        report, which is what memoization is there to prevent.
    rng : RandomSource, optional
        Secure by default.

    Returns
    -------
    array, shape (reports,)
        The share of devices whose value is found. With memoization and value=None its
        expectation is at most `success_bound(epsilon_inf, k)`, without it tends to one.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    >>> kept = longitudinal_attack(oracle, None, reports=300, repeats=200, rng=ldpkit.random.seeded(1))
    >>> fresh = longitudinal_attack(
    ...     oracle, None, reports=300, repeats=200, memoize=False, rng=ldpkit.random.seeded(1)
    ... )
    >>> bool(kept[-1] < 0.5), bool(fresh[-1] > 0.95)
    (True, True)
    """
    if not is_memoized(mechanism):
        raise InvalidParameterError(
            f"the attack needs a longitudinal mechanism such as lgrr, got {mechanism!r}"
        )
    count, source = check_whole(reports, "reports"), resolve(rng)
    if (scores := count * mechanism.size) > MOST_SCORES:
        few = max(1, MOST_SCORES // mechanism.size)
        raise InvalidParameterError(
            f"{count:,} reports about {mechanism.size:,} values take {scores:,} scores for a device, and the "
            f"limit is {MOST_SCORES:,}: attack {few:,} reports or fewer, or group values"
        )
    generator = source.generator()
    found = np.zeros(count)
    devices = check_whole(repeats, "repeats")
    held = generator.integers(mechanism.size, size=devices).astype(np.uint32)
    if value is not None:
        held[:] = mechanism.domain.encode([value])
    for truth in held:
        sent = _send(mechanism, truth, count, memoize, source)
        evidence = mechanism.log_likelihood(sent, memoized=memoize)
        # Values that explain the reports equally well are guessed among at random.
        best = evidence >= evidence.max(axis=1, keepdims=True) - 1e-9
        found += best[:, truth] / best.sum(axis=1)
    return found / devices


def _send(mechanism: MemoizedOracle, truth: int, count: int, memoize: bool, source: RandomSource) -> Reports:
    if not memoize:
        return mechanism.instant(mechanism.permanent(np.full(count, truth, np.uint32), source), source)
    permanent = mechanism.permanent(np.full(1, truth, np.uint32), source)
    return mechanism.instant(np.repeat(permanent, count, axis=0), source)
