"""What only local hashing promises: uniform coins, randomised response in buckets, independent values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import ldpkit
from ldpkit.mechanisms.categorical.hashing import LocalHashing
from ldpkit.testing.expect import require
from ldpkit.testing.false_alarms import FALSE_ALARM, SAID, fits

__all__ = ["check_hash_pairs", "check_hash_sampler"]


def check_hash_sampler(mechanism: LocalHashing, *, draws: int = 100_000, seed: int = 11) -> None:
    """Given its hash function, a report is the own bucket with p and any other with q; coins are uniform."""
    buckets, size = mechanism.buckets, len(mechanism.domain)
    p = float(mechanism.support_probabilities[0])
    law = np.array([p] + [(1 - p) / (buckets - 1)] * (buckets - 1))
    tests = 3 * size
    for value, source in enumerate(ldpkit.random.seeded(seed).spawn(size)):
        reports = mechanism.first_reports(np.full(draws, value), rng=source)
        own = mechanism.hash(reports["a"], reports["b"], np.array([value], np.uint32)).astype(np.int64)
        turn = (reports["y"].astype(np.int64) - own) % buckets
        surprise = fits(np.bincount(turn, minlength=buckets), law)
        require(
            surprise > FALSE_ALARM / tests,
            f"{mechanism!r}: buckets of value {value} do not follow randomised response, "
            f"p-value {surprise:.2g} ({SAID}); frequencies {np.bincount(turn) / draws}",
        )
        for coin in ("a", "b"):
            top = reports[coin] >> (8 * mechanism.word.itemsize - 8)
            surprise = fits(np.bincount(top.astype(np.int64), minlength=256), np.full(256, 1 / 256))
            require(
                surprise > FALSE_ALARM / tests,
                f"{mechanism!r}: coin {coin} is not uniform for {value}, p-value {surprise:.2g} ({SAID})",
            )


def check_hash_pairs(
    mechanism: LocalHashing, pairs: Sequence[tuple[int, int]], *, draws: int = 200_000, seed: int = 12
) -> None:
    """Over the coins, two values fall into any two buckets as independently as exact widths say."""
    coins = mechanism._hash_functions(draws, ldpkit.random.seeded(seed))
    buckets = mechanism.buckets
    cells = 1 << (4 * mechanism.word.itemsize)
    edges = [-(-bucket * cells // buckets) for bucket in range(buckets + 1)]
    width = np.diff(edges) / cells
    for first, second in pairs:
        left, right = (
            mechanism.hash(coins["a"], coins["b"], np.array([value], np.uint32)).astype(np.int64)
            for value in (first, second)
        )
        observed = np.bincount(left * buckets + right, minlength=buckets**2)
        surprise = fits(observed, np.outer(width, width).ravel())
        require(
            surprise > FALSE_ALARM / len(pairs),
            f"{mechanism!r}: values {first} and {second} are not hashed independently, "
            f"p-value {surprise:.2g} ({SAID})",
        )
