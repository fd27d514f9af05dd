"""What the reports of one device give away together, over its whole history.

A history is the value that a device has at each of its reports. Values change, come back
and stay, and any of this may be what a person wants to hide. So what counts is how well
the reports tell the history from *any* other of the same length, whenever that one
changes. Memoization keeps this small only where the value cannot change: a device that is
fixed to its first value never pays more than epsilon_inf. Where it may change, reports
from one permanent report look alike and those from two do not, and the loss grows with
every report.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import total_up
from ldpkit.core.typing import Reports, Values
from ldpkit.mechanisms.kinds import is_memoized
from ldpkit.mechanisms.longitudinal.histories import LONGEST, sequences
from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle

__all__ = ["PrivacyLoss", "device_loss", "sequence_epsilon"]


@dataclass(frozen=True)
class PrivacyLoss:
    """What a sequence of reports of one device tells about its values, at worst.

    Parameters
    ----------
    reports : int
        How many were sent.
    permanent_reports : int
        How many permanent reports they were made from; at most, if the coins are not known.
    fixed : bool
        Whether the device reports its first value for ever, so that no history changes.
    epsilon : float
        The epsilon of all reports together against every history of the same length,
        rounded up. The values of a history may change at any time, come back, or share a
        state; they are all the same if `fixed`.
    is_exact : bool
        Whether some history and some reports reach `epsilon` (for some public coins, if
        these are not known); else it is a bound.
    same_pattern : float
        The epsilon against fewer histories only: those that change, and come back, when
        this one does. It says how well the values are hidden from somebody who knows the
        pattern, and nothing about how well the pattern is hidden.
    same_pattern_is_exact : bool
        The same for `same_pattern`.
    fixed_ceiling : float
        What a device that is fixed to its first value never exceeds, however much it reports.
    without_memo : float
        What as many reports cost if each had a permanent report of its own, against every
        history of the same length.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    >>> loss = sequence_epsilon(oracle, [3, 5, 3])
    >>> round(loss.epsilon, 3), loss.is_exact, round(loss.same_pattern, 3), loss.permanent_reports
    (3.81, True, 2.8, 2)
    """

    reports: int
    permanent_reports: int
    fixed: bool
    epsilon: float
    is_exact: bool
    same_pattern: float
    same_pattern_is_exact: bool
    fixed_ceiling: float
    without_memo: float

    @property
    def comparison(self) -> str:
        """What `epsilon` compares with, in words."""
        return "any other fixed value" if self.fixed else "every history of the same length"

    def __str__(self) -> str:
        if not self.reports:
            return "no reports, no loss"
        made = f"{_count(self.reports, 'report')} from {_count(self.permanent_reports, 'permanent report')}"
        lines = [f"{made}: epsilon {_amount(self.epsilon, self.is_exact)} against {self.comparison}"]
        if not self.fixed and self.reports > 1:
            same = _amount(self.same_pattern, self.same_pattern_is_exact)
            lines.append(f"{same} against histories with the same pattern of states")
        ceiling = f"{self.fixed_ceiling:.6g}"
        lines.append(f"never above {ceiling}" if self.fixed else f"never above {ceiling} for a fixed value")
        return "; ".join([*lines, f"it would be {self.without_memo:.6g} without memoization"])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _amount(epsilon: float, is_exact: bool) -> str:
    if math.isinf(epsilon):
        return "infinite"
    return f"{'exactly' if is_exact else 'at most'} {epsilon:.6g}"


def device_loss(
    mechanism: MemoizedOracle,
    times: Mapping[int, int],
    *,
    fixed: bool = False,
    order: Sequence[int] | None = None,
    coins: Reports | None = None,
) -> PrivacyLoss:
    """Return what the reports of a device have cost.

    Parameters
    ----------
    mechanism : MemoizedOracle
        What made the reports.
    times : mapping
        How many reports were made from each state.
    fixed : bool
        Whether the device reports its first value for ever, so that no history changes.
    order : sequence of int, optional
        The states in the order of the reports, where it is known. The loss does not
        depend on it: every history of the same length is compared, in any order.
    coins : array of length one, optional
        The public coins of the device: they decide which states its values have. Without
        them, the loss of a mechanism with coins is a bound from the second report on.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    >>> print(device_loss(oracle, {3: 1000}, fixed=True))
    1000 reports from 1 permanent report: epsilon exactly 2 against any other fixed value; \
never above 2; it would be 1000 without memoization
    """
    _check_memoized(mechanism)
    used = {state: count for state, count in times.items() if count}
    if fixed and len(used) > 1:
        raise InvalidParameterError(
            f"reports from {len(used)} states cannot come from a fixed device, which has one: leave fixed out"
        )
    if order is not None and Counter(order) != used:
        raise InvalidParameterError(
            f"order has {len(order)} reports that do not match the {sum(used.values())} in times: "
            "give the state of each report"
        )
    states: Collection[int] = range(mechanism.state_count)
    if coins is not None:
        every = np.arange(mechanism.size, dtype=np.uint32)
        states = set(mechanism.states(np.repeat(coins, mechanism.size, axis=0), every).tolist())
    for state, count in used.items():
        if state not in states or count < 0:
            raise InvalidParameterError(
                f"{count} reports from state {state} are impossible: the device has no such state, "
                "or times is damaged"
            )
    are_known = coins is not None or mechanism.states_are_values
    return _loss(mechanism, used, len(states), fixed=fixed, are_known=are_known)


def sequence_epsilon(mechanism: MemoizedOracle, values: Values, *, fixed: bool = False) -> PrivacyLoss:
    """Return what it costs a device to report a sequence of values, before it does.

    It holds whatever public coins the device will draw.

    Parameters
    ----------
    mechanism : MemoizedOracle
        What will make the reports.
    values : sequence of labels
        The value at each report.
    fixed : bool
        Whether the device reports the first of them for ever.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    >>> print(sequence_epsilon(oracle, [3, 3, 5]))
    3 reports from 2 permanent reports: epsilon exactly 3.80982 against every history of the same length; \
exactly 2.7998 against histories with the same pattern of states; \
never above 2 for a fixed value; it would be 3 without memoization
    >>> print(sequence_epsilon(oracle, [3, 3, 5], fixed=True))
    3 reports from 1 permanent report: epsilon exactly 1.97579 against any other fixed value; \
never above 2; it would be 3 without memoization
    """
    _check_memoized(mechanism)
    held = mechanism.domain.encode(values).tolist()
    counts = list(Counter(held[:1] * len(held) if fixed else held).values())
    # Where coins make the states, they may put these values into the first ones, which are worst.
    used, known = dict(enumerate(counts)), mechanism.states_are_values
    loss = _loss(mechanism, used, mechanism.state_count, fixed=fixed, are_known=known)
    if known or len(counts) <= 1:
        return loss
    # The coins decide which values share a state, so the loss is the largest of all possibilities.
    states = min(len(counts), mechanism.state_count)
    epsilon = mechanism.history_bound(len(held))
    if len(held) <= LONGEST:
        shared = (_merge(counts, labels) for labels in sequences(len(counts), range(mechanism.state_count)))
        epsilon = max(_every_history(mechanism, each, mechanism.state_count)[0] for each in shared)
    return replace(
        loss,
        permanent_reports=states,
        epsilon=epsilon,
        is_exact=math.isinf(epsilon),
        same_pattern=min(epsilon, total_up([(mechanism.exact_permanent_epsilon(), states)])),
        same_pattern_is_exact=False,
    )


def _loss(
    mechanism: MemoizedOracle, used: Mapping[int, int], states: int, *, fixed: bool, are_known: bool
) -> PrivacyLoss:
    """Return the loss when the reports from each used state and the number of states are known.

    Against histories with the same pattern the worst ratio is a product over the used
    states, because their permanent reports are independent. It is reached by exchanging
    all of them at once, if each has another that is as easy to tell from it as can be.
    """
    counts = list(used.values())
    reports, is_worst = sum(counts), all(map(mechanism.is_worst, used))
    same = total_up((mechanism.repeated_epsilon(count), each) for count, each in Counter(counts).items())
    if reports == 0 or states == 1:  # there is nothing to tell apart
        epsilon, is_exact, same, is_worst = 0.0, True, 0.0, True
    elif fixed:
        epsilon, is_exact = same, is_worst
    elif reports == 1:
        epsilon, is_exact = mechanism.exact_epsilon(), is_worst
    else:
        epsilon, is_exact = _every_history(mechanism, counts, states)
    return PrivacyLoss(
        reports=reports,
        permanent_reports=len(used),
        fixed=fixed,
        epsilon=epsilon,
        is_exact=is_exact and (are_known or fixed or reports <= 1 or math.isinf(epsilon)),
        same_pattern=same,
        same_pattern_is_exact=is_worst,
        fixed_ceiling=mechanism.exact_permanent_epsilon(),
        without_memo=total_up([(mechanism.exact_epsilon(), reports)]),
    )


def _every_history(mechanism: MemoizedOracle, counts: Sequence[int], states: int) -> tuple[float, bool]:
    """Return the epsilon against every history, and whether it is exact."""
    exact = mechanism.history_epsilon(counts, states)
    return (mechanism.history_bound(sum(counts)), False) if exact is None else (exact, True)


def _merge(counts: Sequence[int], labels: Sequence[int]) -> list[int]:
    """Return the sums of the counts that have the same label."""
    sums: Counter[int] = Counter()
    for count, label in zip(counts, labels, strict=True):
        sums[label] += count
    return list(sums.values())


def _check_memoized(mechanism: object) -> None:
    if not is_memoized(mechanism):
        raise InvalidParameterError(
            f"{mechanism!r} keeps no permanent report, so every report costs its epsilon again: "
            "use a longitudinal mechanism such as lgrr"
        )
