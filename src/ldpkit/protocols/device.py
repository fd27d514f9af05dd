"""A device that answers again and again, and keeps its permanent reports.

Memoization is what makes repeated collections private, so it must not fail: a permanent
report that is drawn anew gives another piece of the value away. A device derives its
permanent reports from a secret, or draws them once and keeps them in a `DeviceStore`; in
both cases the same value gives the same permanent report for ever. The store also keeps
what was spent, so that a restart forgets nothing.
"""

from __future__ import annotations

import secrets
from typing import NoReturn

from ldpkit.client.labels import check_secret
from ldpkit.client.store import DeviceStore
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Label, Reports
from ldpkit.mechanisms.kinds import is_memoized
from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle
from ldpkit.protocols.history import PrivacyLoss, device_loss
from ldpkit.protocols.ledger import History
from ldpkit.protocols.people import person_keys
from ldpkit.protocols.permanent import PermanentReports

__all__ = ["Device"]


class Device:
    """One device with a longitudinal mechanism: it reports its current value.

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
        if not is_memoized(mechanism):
            raise InvalidParameterError(
                f"{mechanism!r} has no permanent report to keep: use a longitudinal mechanism such as lgrr"
            )
        if isinstance(memo, DeviceStore):
            if store is not None:
                raise InvalidParameterError("the memo is a store already: leave out store, or give a secret")
            self._kept = PermanentReports(mechanism, question, collection, None, memo)
        else:
            self._kept = PermanentReports(mechanism, question, collection, check_secret(memo), store)
        if fixed and self._kept.store is None:
            raise InvalidParameterError(
                "a device that keeps reporting its first value must remember it: give store=DeviceStore(path)"
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
        return self.mechanism.instant(self._recall(value, times=1), resolve(rng))

    def permanent(self, value: Label) -> Reports:
        """Return the permanent report for a value. It must not leave the device."""
        return self._recall(value, times=0)

    def _recall(self, value: Label, *, times: int) -> Reports:
        kept, present = self._kept, int(self.mechanism.domain.encode([value])[0])
        kept.load()
        with kept.records.transaction() as records:
            index = kept.first(records, present, person=self._person, fixed=self.fixed)
            return kept.recall(records, index, person=self._person, times=times)[1]

    def privacy_loss(self) -> PrivacyLoss:
        """Return what the reports about this question have cost so far.

        With a store it counts every report that was ever charged to it, also before a
        restart; without one, the reports of this object only.
        """
        charged = self._kept.charges(self._person)
        return device_loss(self.mechanism, charged, fixed=self.fixed, coins=self._kept.coins(self._person))

    def record(self) -> History:
        """Return what the device has reported about this question, for a ledger over several."""
        charged = tuple(sorted(self._kept.charges(self._person).items()))
        return History(self.mechanism, charged, self.fixed, self._kept.coins(self._person))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a device cannot be pickled: its secret must not leave it")

    def __repr__(self) -> str:
        memo = "a secret" if self._kept.store is None else repr(self._kept.store)
        mode = ", fixed" if self.fixed else ""
        return f"<Device {self.mechanism!r}, question {self.question!r}, {memo}{mode}>"
