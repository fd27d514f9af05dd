"""What every mechanism for repeated collections is: two stages, of which the first is kept.

A device that answers the same question again and again would give its value away if it
randomised afresh each time. It makes one permanent report, keeps it (memoization), and
sends randomised copies of that.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, TypedDict, Unpack

import numpy as np

from ldpkit.core.domains.categorical import as_domain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import exp_bounds, log_up, total_up
from ldpkit.core.hooks import call_up
from ldpkit.core.numbertext import epsilon_text
from ldpkit.core.parameters import EPSILON_1, EPSILON_INF, Parameter, check_epsilon
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import DomainLike, Floats, Indices, Reports, Values
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.longitudinal.chain import ChainedBits, ChainedResponse

if TYPE_CHECKING:
    from ldpkit.client.store import DeviceStore

__all__ = ["LongitudinalOracle", "MemoizedOracle", "DeviceMemory"]


class DeviceMemory(TypedDict, total=False):
    """Who answers, and what remembers their permanent reports; `privatize` says what each means."""

    new_devices: bool
    people: Values | None
    question: str | None
    secret: bytes | None
    store: DeviceStore | None
    collection: str


class MemoizedOracle(FrequencyOracle):
    """A frequency oracle whose device keeps a permanent report for each state it was in.

    The public coins of a device (a hash function, a choice of buckets) are drawn once.
    Given them, the permanent report depends on the value only through its `states`: the
    value itself, its bucket, or its place among the chosen buckets.
    """

    capabilities: ClassVar[frozenset[str]] = FrequencyOracle.capabilities | {"memoized"}

    @property
    def state_count(self) -> int:
        """How many states a device can be in: at most so many permanent reports are ever made."""
        return self.size

    @property
    def states_are_values(self) -> bool:
        """Whether different values are different states, whatever the coins."""
        return True

    def is_worst(self, state: int) -> bool:
        """Whether one report can tell this state from another as well as it ever tells two apart."""
        return True

    @property
    def has_public_coins(self) -> bool:
        """Whether a device draws public coins at all."""
        return False

    @abc.abstractmethod
    def sampler_integers(self) -> tuple[int, ...]:
        """Return the integers of both rounds: with the domain they decide every report.

        They are part of the label of a permanent report, so they must be the same in
        every version of ldpkit.
        """

    def public_coins(self, count: int, source: RandomSource) -> Reports:
        """Return report templates of new devices, with their public coins; the default has none."""
        return np.zeros(count, self.report_dtype)

    def states(self, coins: Reports, indices: Indices) -> Indices:
        """Return the state of each device, given its coins and the index of its value."""
        return indices

    @abc.abstractmethod
    def memorise(self, coins: Reports, states: Indices, source: RandomSource) -> Reports:
        """Return the permanent report of each device in its state, in the layout of a report."""

    @abc.abstractmethod
    def instant(self, permanent: Reports, source: RandomSource) -> Reports:
        """Return one report to send for each permanent report."""

    def permanent(self, indices: Indices, source: RandomSource) -> Reports:
        """Return permanent reports of new devices."""
        coins = self.public_coins(len(indices), source)
        return self.memorise(coins, self.states(coins, indices), source)

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        return self.instant(self.permanent(indices, source), source)

    def first_reports(self, values: Values, *, rng: RandomSource | None = None) -> Reports:
        return super().privatize(values, rng=rng)

    def privatize(
        self, values: Values, *, rng: RandomSource | None = None, **memory: Unpack[DeviceMemory]
    ) -> Reports:
        """Return one report for each value, of devices that are new or that remember.

        A device that answers again must find its permanent report again. So either say
        that none of these has answered before, with `new_devices`; or say who they are,
        with `people`, and give a memory: a secret, a store, or both.

        Parameters
        ----------
        values : array, sequence or column
            Labels or indices of the domain. Anything else is refused before any
            randomness is drawn.
        rng : RandomSource, optional
            Randomness for what is not kept; secure by default.
        new_devices : bool
            Whether each value comes from a device that has never answered before and keeps nothing.
        people : array, sequence or column, optional
            An id for each person, text or a whole number, that stays the same for ever.
        question : str, optional
            What is asked; needed with `people`. Two questions have independent permanent reports.
        secret : bytes, optional
            What permanent reports are derived from, together with the id.
        store : DeviceStore, optional
            Where permanent reports and charges are kept.
        collection : str, optional
            The collection that the question belongs to.

        Examples
        --------
        >>> import ldpkit, secrets
        >>> oracle = ldpkit.get("lgrr", ["yes", "no"], epsilon_inf=2, epsilon_1=1)
        >>> secret = secrets.token_bytes(32)                  # once, and kept
        >>> monday = oracle.privatize(["yes", "no"], people=["ann", "bob"], secret=secret, question="tea")
        >>> tuesday = oracle.privatize(["yes", "no"], people=["ann", "bob"], secret=secret, question="tea")
        >>> oracle.privatize(["yes", "no"])
        Traceback (most recent call last):
        ...
        ldpkit.core.errors.InvalidParameterError: LGRR(2, epsilon_inf=2, epsilon_1=1) makes a permanent \
        report that a device must keep, or each further call gives more away: give people=, question= and \
        secret= or store=, or new_devices=True if none of these devices has answered before
        """
        if self._is_first(memory):
            return super().privatize(values, rng=rng)
        return np.concatenate(list(self.privatize_chunks(values, rng=rng, **memory)))

    def privatize_chunks(
        self, values: Values, *, rng: RandomSource | None = None, **memory: Unpack[DeviceMemory]
    ) -> Iterator[Reports]:
        """Yield the reports of `privatize` in chunks; with a store all are charged at once, before."""
        if self._is_first(memory):
            return super().privatize_chunks(values, rng=rng)
        kept = call_up("permanent_reports")(
            self,
            memory.get("question") or "",
            memory.get("collection", ""),
            memory.get("secret"),
            memory.get("store"),
        )
        indices, source = self.domain.encode(values), resolve(rng)
        permanent = kept.of_people(indices, memory["people"])
        return (
            self.instant(np.concatenate([next(permanent) for _ in range(len(chunk))]), stream)
            for chunk, stream in self.chunks(indices, source)
        )

    def privatize_stream(
        self, pieces: Iterable[Values], *, rng: RandomSource | None = None, new_devices: bool = False
    ) -> Iterator[Reports]:
        """Yield the reports of new devices whose values come piece by piece."""
        self._is_first({"new_devices": new_devices})
        return super().privatize_stream(pieces, rng=rng)

    def _is_first(self, memory: DeviceMemory) -> bool:
        """Whether these are new devices; refuse what says neither that nor who they are."""
        new_devices, people = memory.get("new_devices", False), memory.get("people")
        told = (memory.get("question"), memory.get("secret"), memory.get("store"), memory.get("collection"))
        if new_devices and (people is not None or any(told)):
            raise InvalidParameterError(
                "new devices have no memory: leave out people, question, secret and store, or new_devices"
            )
        if not new_devices and people is None:
            raise InvalidParameterError(
                f"{self!r} makes a permanent report that a device must keep, or each further call gives "
                "more away: give people=, question= and secret= or store=, or new_devices=True if none of "
                "these devices has answered before"
            )
        return new_devices

    def epsilons(self) -> dict[str, float]:
        return {**super().epsilons(), "exact_permanent_epsilon": self.exact_permanent_epsilon()}

    def promise(self) -> str:
        return (
            f"exact epsilon {epsilon_text(self.exact_epsilon())} for the first report of a device and "
            f"{epsilon_text(self.exact_permanent_epsilon())} for all its reports while its value stays "
            "the same"
        )

    @abc.abstractmethod
    def exact_permanent_epsilon(self) -> float:
        """Return the realised epsilon of the permanent report, rounded up.

        However many reports a device sends about a value that never changes, they say no more.
        """

    @abc.abstractmethod
    def exact_instant_epsilon(self) -> float:
        """Return the realised epsilon of the second stage alone: permanent report in, sent report out."""

    @abc.abstractmethod
    def repeated_epsilon(self, times: int) -> float:
        """Return the exact epsilon of `times` reports of one device about one value, rounded up."""

    def history_epsilon(self, times: Sequence[int], states: int) -> float | None:
        """Return the exact epsilon of a history against every other of its length, rounded up.

        Parameters
        ----------
        times : sequence of int
            How many reports, in all at least two, were made from each state of the history.
        states : int
            How many states the device can be in, at least two.

        Returns
        -------
        float or None
            None if only `history_bound` is known, as by default.
        """
        return None

    def history_bound(self, reports: int) -> float:
        """Return a bound on the epsilon of any history of so many reports against any other, at least one.

        By default the epsilon of the first report, and that of the second stage for each that follows:
        whatever came before, the next report is made from some permanent report.
        """
        return total_up([(self.exact_epsilon(), 1), (self.exact_instant_epsilon(), reports - 1)])

    def log_likelihood(self, reports: Reports, *, memoized: bool = True) -> Floats:
        """Return what the first 1, 2, ... of some reports about one value say of that value.

        Parameters
        ----------
        reports : array
            What one device sent, in order.
        memoized : bool
            Whether it kept its permanent report, or drew a new one each time.

        Returns
        -------
        array, shape (reports, k)
            The logarithm of the probability of the reports so far under each value, up
            to a term that is the same for all values.
        """
        checked = self.check_reports(reports)
        if len(checked) == 0:
            raise InvalidInputError("there are no reports: give at least one")
        return self._evidence(checked, memoized)

    @abc.abstractmethod
    def _evidence(self, reports: Reports, memoized: bool) -> Floats:
        """Return the log-likelihood of some valid reports, at least one."""


class LongitudinalOracle(MemoizedOracle):
    """Two rounds of one-time randomisation: epsilon_inf for ever, epsilon_1 for the first report.

    Parameters
    ----------
    domain : int or sequence of labels
        The values.
    epsilon_inf : float
        What all reports together may cost, of a device whose value never changes.
    epsilon_1 : float
        What the first report may cost, less than epsilon_inf.
    """

    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON_INF, EPSILON_1)
    epsilon_inf: float

    def __init__(self, domain: DomainLike, epsilon_inf: float, epsilon_1: float) -> None:
        self._freeze(
            domain=as_domain(domain),
            epsilon_inf=check_epsilon(epsilon_inf, "epsilon_inf"),
            epsilon=check_epsilon(epsilon_1, "epsilon_1"),
        )
        largest = self._chain.largest_ratio()
        if self.epsilon >= self.epsilon_inf or exp_bounds(self.epsilon)[0] > largest:
            # Rounded down to six digits, so that what the message names can be used.
            limit = min(math.floor(1e6 * log_up(largest)), math.ceil(1e6 * self.epsilon_inf) - 1)
            raise InvalidParameterError(
                f"epsilon_1={epsilon_1:g} is too large for {self.name} with epsilon_inf={epsilon_inf:g}: "
                f"the largest feasible epsilon_1 is {limit / 1e6:.6f}"
            )

    @property
    @abc.abstractmethod
    def _chain(self) -> ChainedResponse | ChainedBits:
        """The integers of both rounds."""

    @property
    def epsilon_1(self) -> float:
        """The epsilon of the first report, also called `epsilon`."""
        return self.epsilon

    def repeated_epsilon(self, times: int) -> float:
        return self._chain.repeated_epsilon(times)
