"""What a recommendation is: options in order, what ties, what nobody needs to collect, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.numbertext import number_text, percent_text
from ldpkit.core.results import Result
from ldpkit.core.tables import Table
from ldpkit.mechanisms.kinds import frequency_oracle
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.frequencies.enough import Enough
from ldpkit.planning.frequencies.study import BUDGETS, NO_METHOD
from ldpkit.planning.plan import left_out_note
from ldpkit.planning.ties import is_equal
from ldpkit.simulation.metrics import Metric

__all__ = ["NOTHING", "Option", "Recommendation", "option_name"]

NOTHING = "nothing"
"""The protocol of the option that asks nobody."""

_FEW = 4  # methods that a sentence can name
_LEGEND = (
    "low, high: of a single collection, 95 of 100 times",
    "device_bytes: randomness drawn for a report",
    "server_steps: values touched for a report",
    "attack: how often the best guess from one report is right (blank: not computed for that mechanism)",
    "nothing: the best answer without asking anybody",
)


@dataclass(frozen=True)
class Option:
    """One combination, with what it gives and what it costs.

    Parameters
    ----------
    protocol, estimator, method : str
        The mechanism, "mi" or "ibu_limit", and the post-processing or "none".
    epsilon : float
        The budget: the given one, or the smallest that gives the wanted accuracy.
    epsilon_stderr : float
        How far chance moves an epsilon that was looked for.
    error, stderr : float
        The expected metric and the standard error of the simulation.
    low, high : float
        Between these the metric of a single collection lies in 95 of 100 cases.
    report_bytes : int
        What a device sends.
    device_bytes : int
        The random bytes that a device draws: its work grows with them.
    server_steps : int
        How many values the collector touches for each report.
    attack : float or None
        How often the best guess from one report is right, on these people.
    tied : bool
        Whether it cannot be told from the best.
    """

    protocol: str
    estimator: str
    method: str
    epsilon: float
    epsilon_stderr: float
    error: float
    stderr: float
    low: float
    high: float
    report_bytes: int
    device_bytes: int
    server_steps: int
    attack: float | None
    tied: bool = False

    @property
    def follower(self) -> str:
        """What follows the protocol, as it is spoken of."""
        return _follower(self.estimator, self.method)

    @property
    def name(self) -> str:
        """Protocol and what follows it, as it is spoken of."""
        return option_name(self.protocol, self.estimator, self.method)


@dataclass(frozen=True, repr=False)
class Recommendation(Result):
    """Options, best first, and why the first is first.

    Parameters
    ----------
    metric : Metric
        What they are good at.
    options : tuple of Option
        The best first; those that cannot be told from it are `tied`.
    nothing : Option
        What an answer gives that asks nobody, as an option with epsilon 0.
    wanted : Constraint or None
        The accuracy that was asked for.
    infeasible : tuple of str
        What does not reach it.
    enough : Enough or None
        What would make the collection worth its while, if it is not.
    warnings : tuple of str
        What the best one's epsilon gives away, if that is much.
    left_out : tuple of str
        Protocols that cannot be simulated here, and why, where all were asked for.
    data : str
        Who stood in for the people.
    people, values : int
        How many people there are, and how many values they may hold.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.recommend([600, 300, 100], epsilon=1, protocols=["grr", "oue"], repeats=20)
    >>> isinstance(found, Recommendation), len(found.rows()) > 2
    (True, True)
    """

    metric: Metric
    options: tuple[Option, ...]
    nothing: Option
    wanted: Constraint | None
    infeasible: tuple[str, ...]
    enough: Enough | None = None
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    data: str = "counts"
    people: int = 0
    values: int = 0

    kind: ClassVar[str] = "recommendation"

    def answer(self, unit: str = "") -> str:
        """Return which combination is best, or which tie, as a sentence."""
        return next(self.reasons())

    @property
    def title(self) -> str:
        """The title above the table."""
        told = str(self.wanted) if self.wanted else f"{self.metric.title} at epsilon {self.best.epsilon:g}"
        return f"{self.data}: {told}"

    @property
    def caption(self) -> str:
        """What the star and the columns mean."""
        star = "* best" if self.teaches else "* best of the collections"
        if len(self.ties) > 1:
            star = f"* these {len(self.ties)} are tied: not significantly different at the 5% level"
        return "; ".join([star, *_LEGEND])

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each option; learning nothing is among them wherever it stands."""
        return [asdict(option) for option in self._shown(top)]

    def _shown(self, top: int | None) -> tuple[Option, ...]:
        shown = self.ranked()[:top]
        return shown if self.nothing in shown else (*shown, self.nothing)

    def about(self) -> dict[str, Any]:
        """Return what was asked, on whom, and which options are best."""
        return {
            "data": self.data,
            "people": self.people,
            "values": self.values,
            "metric": self.metric.name,
            "wanted": None if self.wanted is None else str(self.wanted),
            "teaches": self.teaches,
            "best": [option.name for option in self.ties],
            "left_out": list(self.left_out),
        }

    def notes(self) -> list[str]:
        """Return why the best is the best."""
        return list(self.reasons())

    def leaders(self) -> tuple[Option, ...]:
        """Return the best option of every mechanism, best first, with learning nothing in its place."""
        first: dict[str, Option] = {}
        for option in self.ranked():
            first.setdefault(option.protocol, option)
        return tuple(first.values())

    def tables(self, top: int | None = 0) -> list[Table]:
        """Return the best option of every mechanism, then so many more, those that tie marked."""
        hidden = {"tied", "estimator"} | (set() if self.wanted else {"epsilon", "epsilon_stderr"})
        leaders = self.leaders()
        shown = (*leaders, *[option for option in self.ranked() if option not in leaders][:top])
        rows = [
            {
                name: option.follower if name == "method" else value
                for name, value in asdict(option).items()
                if name not in hidden
            }
            for option in shown
        ]
        column = "error" if self.wanted is None else "epsilon"
        best = {place: column for place, option in enumerate(shown) if option.tied}
        return [Table.of(rows, title=self.title, caption=self.caption, best=best)]

    @property
    def best(self) -> Option:
        """The first option."""
        return self.options[0]

    @property
    def ties(self) -> tuple[Option, ...]:
        """The options that cannot be told from the best, itself included."""
        return tuple(each for each in self.options if each.tied)

    @property
    def teaches(self) -> bool:
        """Whether the best is better than an answer without any reports."""
        if self.wanted is not None:
            return not self.wanted.holds(np.array([self.nothing.error]))[0]
        return self.enough is None

    def ranked(self) -> tuple[Option, ...]:
        """Return the options with learning nothing in its place among them."""
        if self.wanted is not None:
            return (*self.options, self.nothing) if self.teaches else (self.nothing, *self.options)
        sign = -1.0 if self.metric.larger_is_better else 1.0
        return tuple(sorted((*self.options, self.nothing), key=lambda each: sign * each.error))

    def reasons(self) -> Iterator[str]:
        """Yield in plain words why the best is the best, and what else to look at."""
        best, name = self.best, self.metric.title
        if not self.teaches:
            yield from self._useless()
        lead = "" if self.teaches else "Of the collections, "
        if self.wanted is None:
            side = "largest" if self.metric.larger_is_better else "smallest"
            value = f"{number_text(best.error)} ± {number_text(best.stderr, 2)}"
            yield f"{lead}{self._first('has', f'the {side} expected {name}', value)}."
        else:
            value = f"{number_text(best.epsilon, 3)} ± {number_text(best.epsilon_stderr, 2)}"
            yield f"{lead}{self._first('needs', f'the smallest epsilon for {self.wanted}', value)}."
        yield from self._rule()
        leading = {each.protocol for each in self.ties}
        other = next((each for each in self.options if each.protocol not in leading), None)
        if other is not None:
            yield f"The best of another protocol is {other.name}: {self._compared(other)}."
        plain = next(
            (each for each in self.options if _is_plain(each) and each.protocol == best.protocol), None
        )
        if plain is not None and not plain.tied:
            yield f"Without post-processing {best.protocol} has {self._compared(plain)}."
        fewest = min(each.report_bytes for each in self.ties)
        short = min(self.options, key=lambda each: (each.report_bytes, self.options.index(each)))
        if short.report_bytes < fewest:
            yield (
                f"If report size matters, {short.name} sends {short.report_bytes} instead of "
                f"{fewest} bytes: {self._compared(short)}."
            )
        yield from left_out_note(self.left_out)
        for each in self.infeasible:
            yield f"{each} does not reach the wanted accuracy at any epsilon up to {BUDGETS[-1]:g}."

    def _rule(self) -> Iterator[str]:
        """Yield the rules that the leading mechanisms know of themselves, where they explain the order."""
        for name in dict.fromkeys(each.protocol for each in self.ties):
            made = frequency_oracle(name, self.values, epsilon=self.best.epsilon)
            if made.why_first():
                yield made.why_first()

    def _useless(self) -> Iterator[str]:
        """Yield that this collection is for nothing, and what would not be."""
        answer = "zeros" if self.nothing.estimator == "zeros" else "the same frequency for every value"
        error = f"{self.metric.title} {number_text(self.nothing.error)}"
        if self.wanted is not None:
            yield (
                f"Ask nobody: publishing {answer} has {error}, which is as accurate as you asked for. "
                "A collection is worth it only for a tighter bound."
            )
            return
        yield (
            f"This collection cannot teach anything: publishing {answer} without asking anybody has {error}, "
            f"and the best collection {number_text(self.best.error)}."
        )
        if self.enough is not None:
            yield self.enough.words

    def _first(self, verb: str, what: str, value: str) -> str:
        """Return what the best has or needs, or which combinations tie for it."""
        if len(self.ties) == 1:
            return f"{self.best.name} {verb} {what}: {value}"
        following: dict[str, list[str]] = {}
        for each in self.ties:
            following.setdefault(each.protocol, []).append(each.follower)
        named = "; ".join(f"{protocol} + {_either(names)}" for protocol, names in following.items())
        return f"{len(self.ties)} combinations tie for {what}, {value}: {named}"

    def _compared(self, other: Option) -> str:
        """Return how another option compares with the best."""
        by_epsilon = self.wanted is not None
        mine, theirs = (each.epsilon if by_epsilon else each.error for each in (self.best, other))
        text = f"epsilon {number_text(theirs, 3)}" if by_epsilon else number_text(theirs)
        if is_equal(mine, theirs):
            return f"{text}, equal"
        if other.tied:
            return f"{text}, a tie"
        if not (mine > 0 and theirs > 0):
            return text
        if max(mine, theirs) >= 3 * min(mine, theirs):
            times = number_text(theirs / mine if theirs > mine else mine / theirs, 2)
            return f"{text}, {times} times as {'much' if theirs > mine else 'little'}"
        return f"{text}, {percent_text(abs(theirs / mine - 1))} {'more' if by_epsilon else 'worse'}"


def _either(names: list[str]) -> str:
    """Return the names if they are few, else the first and how many others."""
    return ", ".join(names) if len(names) <= _FEW else f"{names[0]} or {len(names) - 1} others"


def _follower(estimator: str, method: str) -> str:
    return method if method != NO_METHOD or estimator == "mi" else estimator


def _is_plain(option: Option) -> bool:
    return option.estimator == "mi" and option.method == NO_METHOD


def option_name(protocol: str, estimator: str, method: str) -> str:
    """Return a combination as it is spoken of.

    Examples
    --------
    >>> option_name("oue", "mi", "norm_sub"), option_name("oue", "ibu_limit", "none")
    ('oue + norm_sub', 'oue + ibu_limit')
    >>> option_name("oue", "mi", "none")
    'oue + none'
    """
    return f"{protocol} + {_follower(estimator, method)}"
