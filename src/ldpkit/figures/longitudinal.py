"""What repeated reports of one device give away: in numbers, and in a figure.

Two devices are followed. One reports the same value again and again; the other's value
changes at even intervals, each time to one that it did not have before, as long as the
domain has one left. Against each stands the device that memoizes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.assurance.longitudinal import longitudinal_attack, success_bound
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.core.random import seeded
from ldpkit.core.typing import Floats, Indices
from ldpkit.figures.canvas import label_logs, label_percents, new_figure
from ldpkit.figures.theme import BAD, INK, MAIN, MUTED, style_of
from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle
from ldpkit.protocols.history import PrivacyLoss, sequence_epsilon

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AttackCurve", "Exposure"]

_MOST_ENTRIES = 50_000_000  # of a table reports x values, which the attack keeps for each device
_POINTS = 150  # of a curve
# Below the axes: curves that grow for ever and curves that do not leave no corner free.
_LEGEND: dict[str, Any] = {"fontsize": 8, "loc": "upper left", "bbox_to_anchor": (0, -0.13)}


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


@dataclass(frozen=True)
class Exposure:
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
    >>> exposure = Exposure(ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1), 1000)
    >>> exposure.checkpoints()
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    >>> [round(loss.epsilon, 1) for loss in exposure.losses(changes=1)]
    [1.0, 2.7, 9.9, 21.0, 43.2, 107.6, 211.8, 420.2, 1045.5, 2087.6]
    >>> [round(loss.same_pattern, 3) for loss in exposure.losses(changes=1)]
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

    def attack(self, repeats: int, seed: int, batches: Sequence[int] = (0,)) -> Iterator[AttackCurve]:
        """AttackCurve devices whose value does not change, a batch at a time; yield the result so far.

        Parameters
        ----------
        repeats : int
            How many devices to attack in every batch, with memoization and without.
        seed : int
            What the randomness is derived from.
        batches : sequence of int
            The numbers of the batches.
        """
        bound = success_bound(self.mechanism.exact_permanent_epsilon(), self.mechanism.size)
        found = {True: np.zeros(self.reports), False: np.zeros(self.reports)}
        for done, batch in enumerate(batches, start=1):
            for memoize, sums in found.items():
                source = seeded(seed).derive(f"attack {batch} {memoize}")
                sums += longitudinal_attack(
                    self.mechanism, None, self.reports, repeats, memoize=memoize, rng=source
                )
            yield AttackCurve(found[True] / done, found[False] / done, done * repeats, bound)

    def figure(self, changes: Sequence[int], attack: AttackCurve) -> Figure:
        """Draw the privacy loss and the attack's success over the number of reports."""
        figure = new_figure(12, 5.8)
        loss, success = figure.subplots(1, 2)
        self._draw_loss(loss, changes)
        self._draw_success(success, attack)
        figure.suptitle(f"{self.mechanism!r}: what {self.reports:,} reports of one device give away")
        return figure

    def _draw_loss(self, axes: Any, changes: Sequence[int]) -> None:
        steps = np.unique(np.geomspace(1, self.reports, _POINTS).round().astype(int)).tolist()
        without = [loss.without_memo for loss in self.losses(0, steps)]
        axes.plot(steps, without, "--", color=INK, label="without memoization, against every history")
        self._draw_headline(axes, changes, steps)
        for colour, count in enumerate((count for count in changes if count), start=1):
            epsilons = [loss.same_pattern for loss in self.losses(count, steps)]
            label = f"memoized, against histories with the same pattern of states, {_plural(count, 'change')}"
            axes.plot(steps, epsilons, **_line(colour), linewidth=2, label=label)
        fixed = [loss.epsilon for loss in self.losses(0, steps, fixed=True)]
        axes.plot(steps, fixed, color=MAIN, linewidth=2, label="memoized, fixed to the first value for ever")
        permanent = self.mechanism.exact_permanent_epsilon()
        axes.axhline(
            permanent, color=MUTED, linewidth=1, linestyle=":", label=f"epsilon_inf = {permanent:.4g}"
        )
        axes.set(xscale="log", yscale="log", xlabel="reports", ylabel="epsilon of all reports together")
        label_logs(axes.xaxis)
        label_logs(axes.yaxis)
        axes.set_title("privacy loss (against every history: at most)", loc="left")
        axes.legend(**_LEGEND)

    def _draw_headline(self, axes: Any, changes: Sequence[int], steps: Sequence[int]) -> None:
        """Draw the loss against every history; it hardly depends on how often the own value changes."""
        curves: dict[tuple[float, ...], list[int]] = {}
        for count in changes:
            curves.setdefault(tuple(loss.epsilon for loss in self.losses(count, steps)), []).append(count)
        for style, (epsilons, counts) in zip(("-", "-.", ":"), curves.items(), strict=False):
            label = f"memoized, against every history, {' or '.join(map(str, counts))} changes"
            finite = sum(math.isfinite(epsilon) for epsilon in epsilons)
            if finite < len(steps):
                label += f": infinite from report {steps[finite]}"
                axes.axvline(steps[finite], color=BAD, linestyle=style, linewidth=2)
            axes.plot(steps[:finite], epsilons[:finite], linestyle=style, color=BAD, linewidth=2, label=label)

    def _draw_success(self, axes: Any, attack: AttackCurve) -> None:
        steps = np.arange(1, self.reports + 1)
        shown = ((attack.fresh, INK, "without memoization"), (attack.kept, MAIN, "memoized"))
        for shares, colour, label in shown:
            reach = 1.96 * attack.stderr(shares)
            axes.plot(steps, shares, color=colour, label=label)
            axes.fill_between(steps, shares - reach, shares + reach, color=colour, alpha=0.2, linewidth=0)
        axes.axhline(attack.bound, color=BAD, linestyle="--", label=f"bound {attack.bound:.3f}, memoized")
        guess = 1 / self.mechanism.size
        axes.axhline(guess, color=MUTED, linestyle=":", label=f"a blind guess, {guess:.3g}")
        axes.set(xscale="log", xlabel="reports", ylabel="share of devices whose value is found")
        label_logs(axes.xaxis)
        axes.set_ylim(0, 1.03)
        label_percents(axes.yaxis)
        axes.set_title(f"attack on {attack.repeats} devices; bands: 95% intervals", loc="left")
        axes.legend(**_LEGEND)


def _line(index: int) -> dict[str, Any]:
    look = style_of(index + 1)
    return {"color": look["color"], "linestyle": look["linestyle"]}


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
