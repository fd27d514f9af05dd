"""What repeated reports of one device give away: their epsilon, and what an adversary finds.

Two devices are followed. One reports the same value again and again; the other's value
changes at even intervals, each time to one that it did not have before, as long as the
domain has one left. Against each stands the device that memoizes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.assurance.longitudinal import longitudinal_attack, success_bound
from ldpkit.core.binomial import binomial_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.numbertext import interval_text, percent_text
from ldpkit.core.parameters import check_whole
from ldpkit.core.random import RandomSource, resolve, seeded
from ldpkit.core.results import Result
from ldpkit.core.tables import Table
from ldpkit.core.typing import Floats, Indices
from ldpkit.core.watching import Watch, unwatched
from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle
from ldpkit.protocols.history import PrivacyLoss, sequence_epsilon

__all__ = ["AttackCurve", "Exposure", "RepeatedDevice", "expose"]

DEVICES = 4000
"""How many devices are attacked."""

_BATCHES = 20  # of an attack, so that there is progress to show
_MOST_DEVICES = 10_000_000
_MOST_ENTRIES = 50_000_000  # of a table reports x values, which the attack keeps for each device


@dataclass(frozen=True, eq=False)
class AttackCurve:
    """How often an adversary finds the value after 1, 2, ... reports.

    Parameters
    ----------
    kept, fresh : array
        The share of devices found, with memoization and without.
    repeats : int
        How many devices were attacked each way.
    bound : float
        What no adversary exceeds against memoization, however many reports there are.
    """

    kept: Floats
    fresh: Floats
    repeats: int
    bound: float

    def stderr(self, shares: Floats) -> Floats:
        """Return the standard error of shares."""
        return np.sqrt(shares * (1 - shares) / self.repeats)

    def ends(self, shares: Any, level: float = 0.95) -> tuple[Any, Any]:
        """Return intervals of shares; a guess among equals counts as a fraction, which varies less."""
        return binomial_interval(shares * self.repeats, self.repeats, level)


@dataclass(frozen=True)
class RepeatedDevice:
    """A device that sends so many reports.

    Parameters
    ----------
    mechanism : MemoizedOracle
        A longitudinal mechanism or dBitFlipPM.
    reports : int
        How many reports it sends in the end.

    Examples
    --------
    >>> import ldpkit
    >>> device = RepeatedDevice(ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1), 1000)
    >>> device.checkpoints()
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    >>> [round(loss.epsilon, 1) for loss in device.losses(changes=1)]
    [1.0, 2.7, 9.9, 21.0, 43.2, 107.6, 211.8, 420.2, 1045.5, 2087.6]
    >>> [round(loss.same_pattern, 3) for loss in device.losses(changes=1)]
    [1.0, 1.8, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 4.0]
    """

    mechanism: MemoizedOracle
    reports: int

    def __post_init__(self) -> None:
        check_whole(self.reports, "reports")
        entries = self.reports * self.mechanism.size
        if entries > _MOST_ENTRIES:
            raise InvalidParameterError(
                f"{self.reports} reports on {self.mechanism.size} values are too much to attack "
                f"({entries:,} likelihoods a device, at most {_MOST_ENTRIES:,}): use fewer --reports"
            )

    def checkpoints(self) -> list[int]:
        """Return the numbers of reports to look at: 1, 2, 5, 10, ... and the last."""
        steps = (digit * 10**power for power in range(len(str(self.reports))) for digit in (1, 2, 5))
        return [*(step for step in steps if step < self.reports), self.reports]

    def values(self, changes: int) -> Indices:
        """Return the index of the value at each report, with so many changes evenly spread."""
        if check_whole(changes, "changes", least=0) >= self.reports:
            raise InvalidParameterError(
                f"a value cannot change {changes} times between {self.reports} reports: "
                f"at most {self.reports - 1} changes, or more --reports"
            )
        period = np.arange(self.reports) * (changes + 1) // self.reports
        return np.asarray(period % self.mechanism.size, np.uint32)

    def losses(
        self, changes: int, at: Iterable[int] | None = None, *, fixed: bool = False
    ) -> Iterator[PrivacyLoss]:
        """Yield the privacy loss after some numbers of reports, by default the checkpoints.

        Parameters
        ----------
        changes : int
            How often the value changes over all reports.
        at : iterable of int, optional
            The numbers of reports.
        fixed : bool
            Whether the device reports its first value for ever, whatever it has later.
        """
        held = self.values(changes)
        labels = list(self.mechanism.domain.labels)
        for count in self.checkpoints() if at is None else at:
            yield sequence_epsilon(self.mechanism, [labels[index] for index in held[:count]], fixed=fixed)

    def attack(self, devices: int, rng: RandomSource, watch: Watch = unwatched) -> AttackCurve:
        """Attack at least so many devices whose value does not change, with memoization and without.

        Parameters
        ----------
        devices : int
            How many; they are attacked in batches, and the last batch is a full one.
        rng : RandomSource
            What the randomness is derived from.
        watch : Watch
            Shows progress.
        """
        if check_whole(devices, "devices") > _MOST_DEVICES:
            raise InvalidParameterError(f"at most {_MOST_DEVICES:,} devices are attacked, got {devices}")
        batches = min(_BATCHES, devices)
        each = -(-devices // batches)
        found = {True: np.zeros(self.reports), False: np.zeros(self.reports)}
        for batch in watch(range(batches), batches, "attacking"):
            for memoize, sums in found.items():
                source = rng.derive(f"attack {batch} {memoize}")
                sums += longitudinal_attack(
                    self.mechanism, None, self.reports, each, memoize=memoize, rng=source
                )
        bound = success_bound(self.mechanism.exact_permanent_epsilon(), self.mechanism.size)
        return AttackCurve(found[True] / batches, found[False] / batches, batches * each, bound)


@dataclass(frozen=True, repr=False)
class Exposure(Result):
    """What the reports of a device give away, report after report.

    Parameters
    ----------
    device : RepeatedDevice
        Who reports, and how often.
    changes : tuple of int
        How often the value changes meanwhile, in each of the cases that are told.
    attack : AttackCurve
        What an adversary finds if the value does not change.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    >>> found = expose(oracle, 200, devices=400, rng=ldpkit.random.seeded(0))
    >>> print(found.answer())
    After 200 reports about a value that does not change, the attack names the value of 36.8% (95% interval \
32.0% to 41.7%) of 400 devices; without memoization, of 99.1% (95% interval 97.6% to 99.8%). With \
memoization, no attack names more than 33.1% on average.
    """

    device: RepeatedDevice
    changes: tuple[int, ...]
    attack: AttackCurve

    kind: ClassVar[str] = "longitudinal"

    @property
    def mechanism(self) -> MemoizedOracle:
        """What makes the reports."""
        return self.device.mechanism

    @property
    def title(self) -> str:
        """The title above the table."""
        attacked = f"the attack on {self.attack.repeats:,} devices"
        return f"{self.mechanism!r}: epsilon of a device's reports, and {attacked}"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        return (
            "every_history: epsilon of all reports together against every history of the same length, "
            "whenever its values change; at most, unless exact. same_pattern: at most, against only those "
            "that change and change back at the same reports as this one, so it says nothing about whether "
            "and when the value changed. fixed: exact, for a device that reports its first value for ever. "
            "without_memo: against every history, with a new permanent report each time. found: share of "
            "devices whose unchanging value the attack names, memoized and not; bound: the largest chance "
            "that any attack has, memoized; a share measured on few devices may exceed it by chance."
        )

    def answer(self, unit: str = "") -> str:
        """Return what the attack finds in the end, as a sentence or two."""
        count = f"{self.device.reports:,} report{'s' * (self.device.reports > 1)}"
        attack = self.attack
        kept, fresh = (
            interval_text(share, *attack.ends(share), share=True, level=0.95)
            for share in (float(attack.kept[-1]), float(attack.fresh[-1]))
        )
        return (
            f"After {count} about a value that does not change, the attack names the value of {kept} of "
            f"{attack.repeats:,} devices; without memoization, of {fresh}. "
            f"With memoization, no attack names more than {percent_text(attack.bound, up=True)} on average."
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return a record for each case and number of reports; the attack is on a value that stays."""
        return [row for count in self.changes for row in self._rows(count)][:top]

    def _rows(self, changes: int) -> Iterator[dict[str, Any]]:
        attack = self.attack
        together = zip(self.device.losses(changes), self.device.losses(0, fixed=True), strict=True)
        for loss, fixed in together:
            kept, fresh = attack.kept[loss.reports - 1], attack.fresh[loss.reports - 1]
            yield {
                "changes": changes,
                "reports": loss.reports,
                "permanent_reports": loss.permanent_reports,
                # JSON has no number for infinity
                "every_history": "infinite" if math.isinf(loss.epsilon) else loss.epsilon,
                "exact": loss.is_exact,
                "same_pattern": loss.same_pattern,
                "fixed": fixed.epsilon,
                "without_memo": loss.without_memo,
                "found": float(kept) if changes == 0 else None,
                "found_stderr": float(attack.stderr(kept)) if changes == 0 else None,
                "found_without_memo": float(fresh) if changes == 0 else None,
                "bound": attack.bound if changes == 0 else None,
            }

    def tables(self, top: int | None = None) -> list[Table]:
        """Return the rows, by default all of them."""
        return super().tables(top)

    def about(self) -> dict[str, Any]:
        """Return the mechanism and its budgets."""
        return {
            "mechanism": repr(self.mechanism),
            "first_report_epsilon": self.mechanism.exact_epsilon(),
            "permanent_epsilon": self.mechanism.exact_permanent_epsilon(),
            "devices_attacked": self.attack.repeats,
        }


def expose(
    mechanism: MemoizedOracle,
    reports: int = 1000,
    *,
    changes: Sequence[int] = (0, 3),
    devices: int = DEVICES,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> Exposure:
    """Return what a device gives away that reports again and again.

    Parameters
    ----------
    mechanism : MemoizedOracle
        A longitudinal mechanism or dBitFlipPM.
    reports : int
        How many reports a device sends.
    changes : sequence of int
        How often its value changes meanwhile, one case for each.
    devices : int
        How many devices to attack; their values do not change.
    rng : RandomSource, optional
        By default `seeded(0)`: this is a simulation.
    watch : Watch
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> found = expose(ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1), 10, changes=[0], devices=20)
    >>> [(row["reports"], round(row["fixed"], 2)) for row in found.rows()]
    [(1, 1.0), (2, 1.8), (5, 2.0), (10, 2.0)]
    """
    device = RepeatedDevice(mechanism, reports)
    if not isinstance(changes, Iterable) or not (cases := tuple(dict.fromkeys(changes))):
        raise InvalidParameterError(f"changes are whole numbers, such as [0, 3], got {changes!r}")
    for count in cases:
        device.values(count)  # refuses what cannot be before the attack begins
    attack = device.attack(devices, seeded(0) if rng is None else resolve(rng), watch)
    return Exposure(device, cases, attack)
