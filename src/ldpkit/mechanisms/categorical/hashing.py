"""Local hashing: hash the value into a few buckets, then randomise the bucket.

The hash is multiply-shift, h(v) = (a c(v) + b mod 2^w) div 2^(w/2), with a and b drawn
for every report. Over a and b it is uniform and pairwise independent, exactly
(Dietzfelbinger 1996), because the constants c(v) differ in their low w/2 + 1 bits. So p
and q below are exact, not the usual approximation by an ideal hash. Their high bits are
scrambled, which makes almost all triples of values independent as well. A word of 32
bits serves up to 2^17 values and 256 buckets; beyond, a word of 64 bits is used.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import RandomisedResponse, exp_bounds
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue, check_epsilon, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Bytes, Counts, DomainLike, Flags, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle, index_dtype
from ldpkit.mechanisms.channel import Channel, check_enumerable
from ldpkit.mechanisms.forms import response_words

__all__ = ["BLH", "BUCKETS", "OLH", "LocalHashing", "OptimisedHashing", "best_buckets", "nearest_buckets"]

BUCKETS = Parameter("buckets", int, "leave it out; it is there for reports of earlier versions", default=None)

_SMALL_DOMAIN, _SMALL_BUCKETS = 1 << 17, 256


class LocalHashing(FrequencyOracle):
    """Randomised response on the bucket of a hash that the report names.

    A report holds the multiplier a, the shift b and the randomised bucket; it supports
    every value that the hash puts into that bucket.
    """

    capabilities: ClassVar[frozenset[str]] = FrequencyOracle.capabilities | {"likelihood", "hashed", "client"}

    @property
    @abc.abstractmethod
    def buckets(self) -> int:
        """The number of buckets, g: one integer, used by device and collector alike."""

    def details(self) -> dict[str, float]:
        return {"g": self.buckets}

    @cached_property
    def response(self) -> RandomisedResponse:
        """The sampler's integers on the buckets."""
        return RandomisedResponse(self.buckets, self.epsilon)

    @cached_property
    def word(self) -> np.dtype[Any]:
        """The unsigned integers in which the hash is computed."""
        small = self.size <= _SMALL_DOMAIN and self.buckets <= _SMALL_BUCKETS
        return np.dtype("<u4" if small else "<u8")

    @property
    def _half(self) -> int:
        return 4 * self.word.itemsize

    @cached_property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        # Bucket y holds the hashes with y <= h g / 2^half < y + 1: as equal as integers
        # allow. Two values meet in a bucket with probability `meet`, about 1/g.
        cells = 1 << self._half
        width, wider = divmod(cells, self.buckets)
        meet = Fraction(wider * (width + 1) ** 2 + (self.buckets - wider) * width**2, cells**2)
        p, other = self.response.p, self.response.q
        return p, other + (p - other) * meet

    @property
    def support_ratio(self) -> Fraction:
        # The hash is known, so a value is either in the bucket or in one of the g - 1 others.
        p, _ = self.support_probabilities
        return p * (self.buckets - 1) / (1 - p)

    @property
    def chance_support(self) -> float:
        return 1 / self.buckets

    @property
    def joins_values(self) -> bool:
        return True

    def exact_epsilon(self) -> float:
        return self.response.epsilon()

    @property
    def _family(self) -> dict[str, int]:
        """The integers of the hash functions, as a form has them."""
        return {"size": self.size, "buckets": self.buckets, "word": 8 * self.word.itemsize}

    def _form(self) -> dict[str, Any]:
        return {"form": "hashing", **self._family, **response_words(self.response)}

    def constants(self, indices: Indices) -> np.ndarray[Any, Any]:
        """Return c(v): the value in the low bits, scrambled bits above."""
        low = self.word.type((1 << (self._half + 1)) - 1)
        values = indices.astype(self.word)
        return np.asarray((_scramble(values) & ~low) | values)

    def hash(self, multiplier: Any, shift: Any, indices: Indices) -> np.ndarray[Any, Any]:
        """Return the bucket of each value under the hash function (multiplier, shift)."""
        mixed = (multiplier * self.constants(indices) + shift).astype(self.word)
        cell = (mixed >> self.word.type(self._half)).astype(np.uint64)
        return np.asarray((cell * np.uint64(self.buckets)) >> np.uint64(self._half))

    def bucket_start(self, buckets: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the smallest hash word of each bucket; the word behind the last wraps to 0."""
        cells = (buckets.astype(np.uint64) << np.uint64(self._half)) + np.uint64(self.buckets - 1)
        return ((cells // np.uint64(self.buckets)) << np.uint64(self._half)).astype(self.word)

    def channel(self, rng: RandomSource | None = None) -> Channel:
        check_enumerable(self.buckets, repr(self))
        coins = self._hash_functions(1, resolve(rng))
        bucket = self.hash(coins["a"], coins["b"], np.arange(self.size, dtype=np.uint32))
        reports = np.repeat(coins, self.buckets)
        reports["y"] = np.arange(self.buckets)
        return Channel(reports, [self.response.row(int(true)) for true in bucket])

    @cached_property
    def report_dtype(self) -> np.dtype[Any]:
        return np.dtype([("a", self.word), ("b", self.word), ("y", index_dtype(self.buckets))])

    @property
    def random_bytes_per_report(self) -> int:
        return 8 + 2 * self.word.itemsize

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.asarray(reports["y"] < self.buckets)

    def _hash_functions(self, count: int, source: RandomSource) -> Reports:
        coins = source.bytes(2 * count * self.word.itemsize).view(self.word)
        reports = np.empty(count, self.report_dtype)
        reports["a"], reports["b"] = coins[:count], coins[count:]
        return reports

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.hashing import hash_and_respond

        reports = self._hash_functions(len(indices), source)
        constants, slots = self._table, indices
        if constants is None:
            constants, slots = self.constants(indices), np.arange(len(indices), dtype=np.uint32)
        response = (self.response.keep, self.response.width, self.buckets - 2)
        hash_and_respond(
            *(source.words(len(indices)), reports["a"], reports["b"], constants, slots),
            *(np.uint64(number) for number in (self._half, self.buckets, *response)),
            reports["y"],
        )
        return reports

    def _supports(self, reports: Reports) -> Counts:
        from ldpkit.mechanisms.kernels.hashing import count_supports

        counts: Counts = count_supports(*self._membership(reports))
        return counts

    def _pack(self, reports: Reports) -> Bytes:
        from ldpkit.mechanisms.kernels.hashing import pack_supports

        packed: Bytes = pack_supports(*self._membership(reports))
        return packed

    def _supported(self, reports: Reports, values: Counts) -> Flags:
        indices = values.astype(np.uint32)
        buckets = self.hash(reports["a"][:, None], reports["b"][:, None], indices)
        return np.asarray(buckets == reports["y"][:, None])

    def _membership(self, reports: Reports) -> tuple[np.ndarray[Any, Any], ...]:
        """Return what tells which values a report supports: a, b, the edges of its bucket, and c."""
        edges, slots = self._edges, reports["y"]
        if edges is None:
            first = slots.astype(np.uint64)
            edges = self.bucket_start(np.stack([first, first + np.uint64(1)], axis=1)).ravel()
            slots = np.arange(0, len(edges), 2)
        constants = self._table
        if constants is None:
            constants = self.constants(np.arange(self.size, dtype=np.uint32))
        return reports["a"], reports["b"], edges, slots, constants

    @cached_property
    def _table(self) -> np.ndarray[Any, Any] | None:
        """The constants of all values, unless they are too many to be kept."""
        return self.constants(np.arange(self.size, dtype=np.uint32)) if self.size <= _SMALL_DOMAIN else None

    @cached_property
    def _edges(self) -> np.ndarray[Any, Any] | None:
        """Where the buckets begin, and 0 where the last ends, unless they are too many to be kept."""
        if self.buckets > _SMALL_DOMAIN:
            return None
        return self.bucket_start(np.arange(self.buckets + 1, dtype=np.uint64))


def _scramble(words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a fixed bijection of 32-bit or 64-bit words that leaves no linear trace."""
    kind = words.dtype.type
    if words.dtype.itemsize == 4:  # the finaliser of MurmurHash3
        rounds = ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1))
    else:  # the finaliser of SplitMix64
        rounds = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
    words = words + kind(1)
    for shift, factor in rounds:
        words = (words ^ (words >> kind(shift))) * kind(factor)
    return words


@register
class BLH(LocalHashing):
    """Binary local hashing: two buckets.

    Utility: variance about (e^eps + 1)^2 / (n (e^eps - 1)^2); good for small epsilon.
    Runtime: O(1) a user, O(k) a report; memory O(k).
    Citation: Bassily, Smith (STOC 2015), as in Wang et al. (USENIX Security 2017).

    Examples
    --------
    >>> import ldpkit
    >>> ldpkit.BLH(1000, epsilon=0.5).report_bytes
    9
    """

    name = "blh"
    title = "Binary local hashing"
    citation = "Bassily, Smith: Local, private, efficient protocols for succinct histograms. STOC 2015"

    @property
    def buckets(self) -> int:
        return 2


@lru_cache(maxsize=1024)
def best_buckets(epsilon: float) -> int:
    """Return the number of buckets with which local hashing has the least variance.

    With g = x + 1 buckets the variance for a rare value is proportional to (e^eps + x)^2 / x,
    which is least at the first integer x whose x (x + 1) is at least e^(2 eps).

    Examples
    --------
    >>> [best_buckets(epsilon) for epsilon in (0.1, 0.4, 1.0, 1.5)]
    [2, 3, 4, 6]
    """
    _, square = exp_bounds(2 * Fraction(epsilon))
    x = math.isqrt(math.floor(square))
    return 1 + (x if x * (x + 1) >= square else x + 1)


@lru_cache(maxsize=1024)
def nearest_buckets(epsilon: float) -> int:
    """Return round(e^eps) + 1: the number of buckets of a description that states none.

    Earlier versions took so many, which is not always the best, and did not write it down.
    """
    low, high = exp_bounds(epsilon)
    return round((low + high) / 2) + 1


class OptimisedHashing(LocalHashing):
    """Local hashing into the number of buckets that makes the variance least.

    That number is part of a description only where it is not `nearest_buckets`, so a
    description without it means the same as ever.
    """

    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, BUCKETS)
    budget: ClassVar[str] = "epsilon"
    """The parameter that the number of buckets goes by."""

    @cached_property
    def buckets(self) -> int:
        return best_buckets(self.epsilon)

    def _take_buckets(self, buckets: int, epsilon: float) -> None:
        allowed = (best_buckets(epsilon), nearest_buckets(epsilon))
        if check_whole(buckets, "buckets") not in allowed:
            earlier = f", nor the one in earlier versions ({allowed[1]})" if allowed[1] != allowed[0] else ""
            raise InvalidParameterError(
                f"buckets={buckets!r} is not the best number for {self.budget}={epsilon:g} "
                f"({allowed[0]}){earlier}: leave it out"
            )
        self._freeze(buckets=int(buckets))

    def parameters(self) -> dict[str, ParameterValue]:
        return self._unless(best_buckets(self.epsilon))

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "parameters": self._unless(nearest_buckets(self.epsilon))}

    def _unless(self, understood: int) -> dict[str, ParameterValue]:
        """Return the parameters, with the buckets if these are not what goes without saying."""
        shown = super().parameters()
        if self.buckets == understood:
            del shown["buckets"]
        return shown

    @classmethod
    def read_parameters(cls, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        if "buckets" in parameters or cls.budget not in parameters:
            return parameters
        return {**parameters, "buckets": nearest_buckets(check_epsilon(parameters[cls.budget], cls.budget))}


@register
class OLH(OptimisedHashing):
    """Optimised local hashing: about e^eps + 1 buckets, exactly so many that the variance is least.

    Utility: variance about 4 e^eps / (n (e^eps - 1)^2), as OUE, with short reports.
    Runtime: O(1) a user, O(k) a report; memory O(k).
    Citation: Wang, Blocki, Li, Jha (USENIX Security 2017).

    Parameters
    ----------
    domain : int or sequence of labels
        The values.
    epsilon : float
        The privacy budget.
    buckets : int, optional
        Leave it out. It is there for reports of earlier versions, which took round(e^eps) + 1.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.OLH(1000, epsilon=1.0)
    >>> oracle.buckets, oracle.report_bytes
    (4, 9)
    """

    name = "olh"
    title = "Optimised local hashing"
    citation = "Wang, Blocki, Li, Jha: Locally differentially private protocols. USENIX Security 2017"

    def __init__(self, domain: DomainLike, epsilon: float, *, buckets: int | None = None) -> None:
        super().__init__(domain, epsilon)
        if buckets is not None:
            self._take_buckets(buckets, self.epsilon)
