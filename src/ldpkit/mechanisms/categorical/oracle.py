"""What every frequency oracle is: a mechanism whose reports support values.

In a pure protocol a report supports the person's own value with probability p and any
other value with probability q. Support counts add up, and the frequency of a value is
estimated without bias by (count/n - q) / (p - q). All the rest follows from p and q.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, ClassVar, Self, overload

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.categorical import CategoricalDomain, as_domain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_counts, check_epsilon, check_whole, exact_sum
from ldpkit.core.random import RandomSource, resolve, streams
from ldpkit.core.typing import Bytes, Counts, DomainLike, Flags, Floats, Indices, Reports, Values
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.report_law import JointLaw, ReportLaw
from ldpkit.mechanisms.tally import FrequencyTally

__all__ = ["FrequencyOracle", "index_dtype", "pack_indices"]

# Randomness for one chunk: little enough for the cache of a core, and so much that threads
# seldom wait for the interpreter.
_CHUNK_BYTES = 1 << 21
_MOST_DRAWN = 1 << 31  # counts in one array of simulated collections
_STREAMS = 256  # made at a time: few calls, and no more memory for more people
_TALLY_CHUNK = 1 << 16  # reports counted at a time, so that their working arrays stay small
_PACKED_BITS = 1 << 30  # supports that are packed at a time, to look at a few of them


class FrequencyOracle(Mechanism):
    """A mechanism that estimates how many people hold each value.

    A new one is a file with a subclass that gives `support_probabilities`,
    `exact_epsilon`, `channel`, `report_dtype`, `random_bytes_per_report`, `_randomise`,
    `_supports` and `_is_valid`; `_sample_supports` too if its supports are not
    independent across values, and `support_size` if every report supports equally many.
    `support_ratio` and `_pack` open it to maximum likelihood, with the capability
    "likelihood"; `_supported` makes audits of large domains quicker. One whose reports do not
    support values does not declare the capability "pure", and gives `unbiased`, `_report_variance`,
    `report_law`, `count_range` and `_sample_supports` instead of `support_probabilities`.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.OUE(["walk", "bus", "car"], epsilon=1.0)
    >>> isinstance(oracle, FrequencyOracle)
    True
    >>> reports = oracle.privatize(["bus", "car", "bus"], rng=ldpkit.random.seeded(1))
    >>> oracle.tally(reports).n
    3
    """

    kind = "frequency"
    capabilities: ClassVar[frozenset[str]] = frozenset({"pure", "linear", "tallied"})
    domain_type = CategoricalDomain
    smallest_domain: ClassVar[int] = 2
    """The fewest values that it can have."""
    largest_domain: ClassVar[int | None] = None
    """The most values that it can have, where that is fewer than a domain can."""
    domain: CategoricalDomain

    def __init__(self, domain: DomainLike, epsilon: float) -> None:
        self._freeze(domain=as_domain(domain), epsilon=check_epsilon(epsilon))
        if self.largest_domain is not None and self.size > self.largest_domain:
            raise InvalidParameterError(
                f"{self.name} is for at most {self.largest_domain} values, got {self.size}: group values, "
                "or use a mechanism for large domains, such as olh"
            )
        if self.size < self.smallest_domain:
            raise InvalidParameterError(
                f"{self.name} is for at least {self.smallest_domain} values, got {self.size}: use a "
                "mechanism for any number of values, such as grr"
            )

    @property
    def size(self) -> int:
        """The number of values in the domain."""
        return len(self.domain)

    def sibling(self, size: int) -> Self:
        kind: Any = type(self)
        made: Self = kind(size, **self.parameters())
        return made

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities p and q that a report supports its own and any other value."""
        raise InvalidInputError(
            f'{self!r} is not a pure protocol, so it has no p and q: use the estimator "mi", which needs none'
        )

    @property
    def support_size(self) -> int | None:
        """How many values every report supports; None where reports differ and values are independent."""
        return None

    @property
    def support_ratio(self) -> Fraction:
        """How much likelier a report is under a value it supports than under one it does not, exactly.

        The likelihood of a report as a function of the value takes only these two levels
        in every pure protocol, which is all that maximum likelihood needs to know.
        """
        raise self._no_likelihood()

    def _pack(self, reports: Reports) -> Bytes:
        """Return the supports of some valid reports as `packed_supports` does."""
        raise self._no_likelihood()

    def _supported(self, reports: Reports, values: Counts) -> Flags:
        """Return what `supported` does, for valid reports.

        To be overridden where a value is looked up without listing all that a report supports.
        """
        rows, packed = np.arange(len(reports))[:, None], self._pack(reports)
        return np.asarray(packed[rows, values >> 3] >> (values & 7).astype(np.uint8) & 1, np.bool_)

    def _no_likelihood(self) -> InvalidInputError:
        return InvalidInputError(
            f"mle does not know how likely a report of {self!r} is (support_ratio and _pack): "
            'use the estimator "mi"'
        )

    @cached_property
    def report_law(self) -> ReportLaw:
        """What one report adds to the count of a value, for a holder and for anybody else.

        Intervals are made from it. In a pure protocol p and q say it.
        """
        if not self.can("pure"):
            raise InvalidInputError(
                f"{self!r} does not say what a report adds to a count, so its intervals have no law: "
                "its class must give report_law"
            )
        return ReportLaw.supporting(self.p, self.q)

    @property
    def joint_law(self) -> JointLaw:
        """What one report adds to all counts at once, exactly; laws of totals are made from it."""
        if not self.can("pure"):
            raise InvalidParameterError(
                f"the distribution of a total is not known for {self!r}, which is not a pure protocol: "
                "plan by simulation, with the method capri"
            )
        own, other = self.support_probabilities
        return JointLaw(own, other, self.support_size)

    @property
    def chance_support(self) -> float:
        """The probability that a report supports a given other value, whether or not it supports its own.

        This is q, unless what the report makes public, such as a hash function, joins values.
        """
        return self.q

    @property
    def joins_values(self) -> bool:
        """Whether what a report makes public, such as a hash function, lets it support values together."""
        return False

    def log_ratios(self, reports: Reports) -> Floats:
        """Return how likely each value makes each report, in logarithms, up to a term common to all values.

        Returns
        -------
        array, shape (n, k)
            What an adversary adds to the logarithm of a prior.
        """
        if not self.can("likelihood"):
            raise InvalidInputError(f"{self!r} does not say how likely a report is, so it cannot be attacked")
        supports = np.unpackbits(self.packed_supports(reports), axis=1, count=self.size, bitorder="little")
        return np.asarray(supports * math.log(self.support_ratio))

    @property
    @abc.abstractmethod
    def random_bytes_per_report(self) -> int:
        """How much randomness one report takes; it sets the size of a chunk."""

    @abc.abstractmethod
    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        """Return a report for each index."""

    @abc.abstractmethod
    def _supports(self, reports: Reports) -> Counts:
        """Return how many of some valid reports support each value."""

    def _add_supports(self, reports: Reports, supports: Counts) -> None:
        """Add the supports of some valid reports; to be overridden where that takes no array of its own."""
        supports += self._supports(reports)

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        """Draw the support counts of whole collections; the default has independent values."""
        own = generator.binomial(counts, self.p, (repeats, self.size))
        return own + generator.binomial(counts.sum() - counts, self.q, (repeats, self.size))

    @cached_property
    def p(self) -> float:
        """The probability that a report supports the value it was made from."""
        return float(self.support_probabilities[0])

    @cached_property
    def q(self) -> float:
        """The probability that a report supports any one other value."""
        return float(self.support_probabilities[1])

    def privatize(self, values: Values, *, rng: RandomSource | None = None) -> Reports:
        """Return one report for each value.

        Parameters
        ----------
        values : array, sequence or column
            Labels or indices of the domain. Anything else is refused before any
            randomness is drawn.
        rng : RandomSource, optional
            Secure randomness by default; `ldpkit.random.seeded` for a repeatable run.

        Returns
        -------
        array
            Reports, along the first axis in the order of the values.
        """
        indices, source = self.domain.encode(values), resolve(rng)
        base, shape = self._layout
        reports = np.empty((len(indices), *shape), base)
        start = 0
        for chunk, stream in self.chunks(indices, source):
            reports[start : start + len(chunk)] = self._randomise(chunk, stream)
            start += len(chunk)
        return reports

    def privatize_chunks(self, values: Values, *, rng: RandomSource | None = None) -> Iterator[Reports]:
        """Yield the reports of `privatize` in chunks, so that they never fill the memory."""
        indices, source = self.domain.encode(values), resolve(rng)
        return (self._randomise(chunk, stream) for chunk, stream in self.chunks(indices, source))

    def privatize_stream(
        self, pieces: Iterable[Values], *, rng: RandomSource | None = None
    ) -> Iterator[Reports]:
        """Yield the reports of `privatize` for values that come piece by piece, in any number.

        Each piece is checked before randomness is drawn for it. The reports are those of
        `privatize` for all pieces together, and memory is that of a chunk.
        """
        source, indices = resolve(rng), (self.domain.encode(piece) for piece in pieces)
        for chunk, stream in streams(indices, self.chunk_size, source):
            yield self._randomise(chunk, stream)

    @cached_property
    def chunk_size(self) -> int:
        """How many reports are made at a time; each chunk has a random stream of its own."""
        return max(1, _CHUNK_BYTES // self.random_bytes_per_report)

    def chunks(self, indices: Indices, source: RandomSource) -> Iterator[tuple[Indices, RandomSource]]:
        """Yield the chunks in which reports are made, each with a random stream of its own."""
        starts = range(0, len(indices), self.chunk_size)
        for first in range(0, len(starts), _STREAMS):
            some = starts[first : first + _STREAMS]
            for start, stream in zip(some, source.spawn(len(some)), strict=True):
                yield indices[start : start + self.chunk_size], stream

    def collect(self, indices: Indices, source: RandomSource) -> Counts:
        """Make the reports of one chunk and return their support counts; for simulation."""
        return self._supports(self._randomise(indices, source))

    def tally(self, reports: Reports) -> FrequencyTally:
        """Return the support counts of some reports."""
        supports, n = np.zeros(self.size, np.int64), 0
        for some in self.report_chunks(reports, _TALLY_CHUNK):
            self._add_supports(some, supports)
            n += len(some)
        return FrequencyTally(self, n, supports)

    @property
    def tally_size(self) -> int:
        return self.size

    def check_counts(self, n: int, counts: Counts) -> None:
        super().check_counts(n, counts)
        each = self.support_size
        if each is not None and exact_sum(counts) != n * each:
            raise InvalidInputError(
                f"{n} reports of {self!r} support {each} value{'s' * (each > 1)} each, {n * each} in all, "
                f"got {exact_sum(counts)}: the tally is damaged or of another mechanism"
            )

    def packed_supports(self, reports: Reports) -> Bytes:
        """Return which values each report supports, a bit for each value.

        Returns
        -------
        array of uint8, shape (n, ceil(k / 8))
            Value v is bit v%8 of byte v//8; unused bits are zero.

        Examples
        --------
        >>> import ldpkit
        >>> ldpkit.GRR(10, epsilon=1).packed_supports([0, 9]).tolist()
        [[1, 0], [0, 2]]
        """
        array, start = self._report_array(reports), 0
        packed = np.empty((len(array), (self.size + 7) // 8), np.uint8)
        for some in self.report_chunks(array, _TALLY_CHUNK):
            packed[start : start + len(some)] = self._pack(some)
            start += len(some)
        return packed

    def supported(self, reports: Reports, values: object) -> Flags:
        """Return whether each report supports some values, without listing all the others.

        Parameters
        ----------
        reports : array
            Reports of this mechanism.
        values : array of int, shape (m,) or (n, m)
            Indices of values: the same for all reports, or a row for each report.

        Returns
        -------
        array of bool, shape (n, m)
            These columns of `packed_supports`, a bit each.

        Examples
        --------
        >>> import ldpkit
        >>> ldpkit.GRR(10, epsilon=1).supported([0, 9, 3], [0, 9]).tolist()
        [[True, False], [False, True], [False, False]]
        """
        array, wanted, start = self._report_array(reports), np.asarray(values, np.int64), 0
        found = np.empty((len(array), wanted.shape[-1]), np.bool_)
        for some in self.report_chunks(array, max(1, min(_TALLY_CHUNK, _PACKED_BITS // self.size))):
            rows = slice(start, start + len(some))
            found[rows] = self._supported(some, wanted[rows] if wanted.ndim == 2 else wanted)
            start += len(some)
        return found

    def count_packed(self, supports: Bytes) -> Counts:
        """Return how many rows of `packed_supports` support each value."""
        from ldpkit.mechanisms.kernels.columns import count_columns

        counts: Counts = count_columns(supports)[: self.size]
        return counts

    def simulate(self, counts: object, *, rng: RandomSource | None = None, repeats: int = 1) -> Counts:
        """Draw the support counts of whole collections without simulating a single user.

        Parameters
        ----------
        counts : array of int
            How many people hold each value.
        rng : RandomSource, optional
            Secure by default.
        repeats : int
            How many collections to draw.

        Returns
        -------
        array of int, shape (repeats, k)
            Support counts with the law that `tally(privatize(values))` has.

        Examples
        --------
        >>> import ldpkit
        >>> ldpkit.OUE(3, epsilon=1).simulate([50, 30, 20], repeats=2).shape
        (2, 3)
        """
        people, runs = check_counts(counts, self.size), check_whole(repeats, "repeats")
        if runs * self.size > _MOST_DRAWN:
            raise InvalidParameterError(
                f"{str(runs)[:30]} collections of {self.size} values are more than a memory holds: draw "
                f"{_MOST_DRAWN // self.size} at a time"
            )
        return self._sample_supports(people, runs, resolve(rng).generator())

    @overload
    def variance(self, frequency: float, n: int, *, population: bool = False) -> float: ...
    @overload
    def variance(self, frequency: Floats, n: int, *, population: bool = False) -> Floats: ...
    def variance(self, frequency: float | Floats, n: int, *, population: bool = False) -> float | Floats:
        """Return the variance of the estimated frequency of one value.

        Parameters
        ----------
        frequency : float or array
            The true frequency.
        n : int
            The number of reports.
        population : bool
            False, the default: the people are fixed, only the reports are random, and
            the estimate is compared with the frequency among these n people. True: the
            people too are a random sample, and the estimate is compared with the
            frequency in the population; this adds f(1-f)/n.
        """
        f = np.asarray(frequency, float)
        result = (self._report_variance(f) + (f * (1 - f) if population else 0.0)) / n
        return result if result.ndim else float(result)

    def _report_variance(self, f: Floats) -> Floats:
        """Return the variance of one report's part in `unbiased`, averaged over people with frequency f."""
        p, q = self.p, self.q
        return (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (p - q) ** 2

    def unbiased(self, supports: Counts, n: int) -> Floats:
        """Return unbiased frequencies from the counts of n reports, for one collection or a batch."""
        return (supports / n - self.q) / (self.p - self.q)


def index_dtype(count: int) -> np.dtype[Any]:
    """Return the smallest little-endian unsigned type for indices below `count`."""
    for code in ("<u1", "<u2", "<u4"):
        if count <= 1 << (8 * np.dtype(code).itemsize):
            return np.dtype(code)
    raise OverflowError(f"{count} values do not fit an index of 32 bits")


def pack_indices(indices: Reports, size: int) -> Bytes:
    """Return rows of value indices, shape (n, values per row), as packed bits."""
    packed = np.zeros((len(indices), (size + 7) // 8), np.uint8)
    rows = np.arange(len(indices))
    for column in indices.T:
        packed[rows, column >> 3] |= np.uint8(1) << (column & 7).astype(np.uint8)
    return packed
