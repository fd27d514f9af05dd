"""A device that answers again and again, and keeps its permanent reports.

Memoization is what makes repeated collections private, so it must not fail: a permanent
report that is drawn anew gives another piece of the value away. A device derives its
permanent reports from a secret, or draws them once and keeps them in a `DeviceStore`; in
both cases the same value gives the same permanent report for ever. The store also keeps
what was spent, so that a restart forgets nothing.
"""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Label, Reports, Values
from ldpkit.mechanisms.categorical.longitudinal.memoized import MemoizedOracle
from ldpkit.mechanisms.labels import check_secret, person_keys
from ldpkit.mechanisms.permanent import PermanentReports
from ldpkit.mechanisms.store import DeviceStore

__all__ = ["Device", "PrivacyLoss", "sequence_epsilon"]


class Device:
    """One device with a longitudinal mechanism: it reports its value, whatever it is by now.

    Parameters
    ----------
    mechanism : MemoizedOracle
        A longitudinal mechanism such as LGRR, LSUE or LOLH, or dBitFlipPM.
    memo : bytes or DeviceStore
        The device secret, at least 16 bytes, from which permanent reports are derived; or
        a store in which they are kept.
    question : str
        What is asked. One memo serves many questions, and each has permanent reports of
        its own; the same question has the same ones for ever.
    collection : str, optional
        The collection that the question belongs to.
    store : DeviceStore, optional
        Where the charges are kept beside a secret. Without any store, `privacy_loss`
        counts the reports of this object only.
    fixed : bool
        Whether the device goes on reporting its first value, whatever it is told later, so
        that epsilon_inf holds for life. This needs a store.
    person : str or int, optional
        Whose answers these are, where one memo serves many people.

    Examples
    --------
    >>> import ldpkit, secrets
    >>> oracle = ldpkit.get("lolh", 100, epsilon_inf=2, epsilon_1=1)
    >>> device = Device(oracle, secrets.token_bytes(32), question="page")
    >>> reports = [device.report(value) for value in (17, 17, 17, 42)]
    >>> device.privacy_loss().reports
    4
    """

    def __init__(
        self,
        mechanism: MemoizedOracle,
        memo: bytes | DeviceStore,
        *,
        question: str,
        collection: str = "",
        store: DeviceStore | None = None,
        fixed: bool = False,
        person: str | int | None = None,
    ) -> None:
        if not isinstance(mechanism, MemoizedOracle):
            raise InvalidParameterError(
                f"{mechanism!r} has no permanent report to keep: use a longitudinal mechanism such as lgrr"
            )
        if isinstance(memo, DeviceStore):
            if store is not None:
                raise InvalidParameterError("the memo is a store already: leave out store, or give a secret")
            self._kept = PermanentReports(mechanism, question, collection, None, memo)
        else:
            secret = check_secret(memo)
            self._kept = PermanentReports(mechanism, question, collection, secret, store)
        if fixed and self._kept.store is None:
            raise InvalidParameterError(
                "a device that goes on reporting its first value must remember it: "
                "give store=DeviceStore(path)"
            )
        self.mechanism, self.question, self.fixed = mechanism, question, fixed
        self._person = b"" if person is None else person_keys([person])[0]

    @classmethod
    def new(cls, mechanism: MemoizedOracle, *, question: str) -> Device:
        """Return a device with a new secret, which nobody else knows and which is lost with it."""
        return cls(mechanism, secrets.token_bytes(32), question=question)

    def report(self, value: Label, *, rng: RandomSource | None = None) -> Reports:
        """Return one report about the present value, as an array of length one.

        With a store, the report is charged and its permanent report is kept before
        this returns, safe from a power cut.

        Parameters
        ----------
        value : label or index
            What the device holds now.
        rng : RandomSource, optional
            Randomness for what is not kept; secure by default.
        """
        source = resolve(rng)
        return self.mechanism.instant(self._recall(value, times=1), source)

    def permanent(self, value: Label) -> Reports:
        """Return the permanent report for a value. It must not leave the device."""
        return self._recall(value, times=0)

    def _recall(self, value: Label, *, times: int) -> Reports:
        kept, present = self._kept, int(self.mechanism.domain.encode([value])[0])
        with kept.records.transaction() as records:
            index = kept.first(records, present, person=self._person, fixed=self.fixed)
            return kept.recall(records, index, person=self._person, times=times)[1]

    def privacy_loss(self) -> PrivacyLoss:
        """Return what the reports about this question have cost so far.

        With a store it counts every report that was ever charged to it, also before a
        restart; without one, the reports of this object only.
        """
        return self._loss(self._kept.charges(self._person))

    def _loss(self, times: Mapping[int, int]) -> PrivacyLoss:
        return _loss(self.mechanism, list(times.values()))

    def __repr__(self) -> str:
        memo = "a secret" if self._kept.store is None else repr(self._kept.store)
        mode = ", fixed" if self.fixed else ""
        return f"<Device {self.mechanism!r}, question {self.question!r}, {memo}{mode}>"


@dataclass(frozen=True)
class PrivacyLoss:
    """What a sequence of reports of one device tells about its values, at worst.

    Memoization hides which values a device had. It does not hide whether and when the
    value changed: `epsilon` compares sequences that change at the same times.

    Parameters
    ----------
    reports : int
        How many were sent.
    states : int
        How many permanent reports they were made from.
    epsilon : float
        The epsilon of the whole sequence, rounded up.
    is_exact : bool
        Whether `epsilon` is reached by some sequence of reports; else it is a bound.
    permanent_bound : float
        What `epsilon` cannot exceed, however many reports follow from the same states.
    ceiling : float
        What `epsilon` cannot exceed, whatever values follow.
    with_changes : float
        A bound that also covers whether and when the value changed.
    without_memo : float
        What as many reports cost if each had a permanent report of its own.
    """

    reports: int
    states: int
    epsilon: float
    is_exact: bool
    permanent_bound: float
    ceiling: float
    with_changes: float
    without_memo: float

    def __str__(self) -> str:
        kind = "exactly" if self.is_exact else "at most"
        return (
            f"{self.reports} sent, {self.states} permanent: epsilon {kind} {self.epsilon:.6g}, "
            f"never above {self.permanent_bound:.6g}; without memoization {self.without_memo:.6g}"
        )


def sequence_epsilon(mechanism: MemoizedOracle, values: Values) -> PrivacyLoss:
    """Return what it costs a device to report a sequence of values, before it does.

    It is exact for mechanisms without public coins and for a value that never changes.
    Otherwise which values share a permanent report depends on the device's coins, and the
    epsilon is a bound; `Device.privacy_loss` knows the coins and is exact.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    >>> print(sequence_epsilon(oracle, [3] * 1000))
    1000 sent, 1 permanent: epsilon exactly 2, never above 2; without memoization 1000
    >>> print(sequence_epsilon(oracle, [3, 3, 5]))
    3 sent, 2 permanent: epsilon exactly 2.7998, never above 4; without memoization 3
    """
    times = list(Counter(mechanism.domain.encode(values).tolist()).values())
    if len(times) == 1 or mechanism.states_are_values:
        return _loss(mechanism, times)
    states = min(len(times), mechanism.state_count)
    return _loss(mechanism, times, bound=_times(states, mechanism.exact_permanent_epsilon()))


def _loss(mechanism: MemoizedOracle, times: list[int], bound: float | None = None) -> PrivacyLoss:
    """Return the loss when state after state was reported so many times.

    Different states have independent permanent reports, so the worst ratio is a product.
    It is reached by exchanging all states at once, if any two are as hard to tell apart or
    one that is easier to hide can stay out of it.
    """
    reports, permanent = sum(times), mechanism.exact_permanent_epsilon()
    states = len(times) if bound is None else min(len(times), mechanism.state_count)
    instant, first = mechanism.exact_instant_epsilon(), mechanism.exact_epsilon()
    parts = [mechanism.repeated_epsilon(count) for count in times]
    exact = parts[0] if len(parts) == 1 else _up(math.fsum(parts))
    return PrivacyLoss(
        reports=reports,
        states=states,
        epsilon=exact if bound is None else bound,
        is_exact=bound is None and (mechanism.states_are_alike or states < mechanism.state_count),
        permanent_bound=_times(states, permanent),
        ceiling=_times(mechanism.state_count, permanent),
        with_changes=first if reports == 1 else _times(reports, instant) if reports else 0.0,
        without_memo=_times(reports, first),
    )


def _up(epsilon: float) -> float:
    """Return the next float above a sum or product that was rounded to the nearest."""
    return math.nextafter(epsilon, math.inf) if epsilon else 0.0


def _times(count: int, epsilon: float) -> float:
    """Return a multiple of an epsilon, rounded up; one times it is itself."""
    return epsilon if count == 1 else _up(count * epsilon)
