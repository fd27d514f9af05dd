"""Risks side by side: what an adversary achieves against several mechanisms and budgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.assurance.adversary.measure import DEVICES
from ldpkit.assurance.adversary.measure import risk as measure
from ldpkit.assurance.adversary.numeric import BINS, cell_middles
from ldpkit.assurance.adversary.risk_record import Risk
from ldpkit.core.domains.base import Domain
from ldpkit.core.domains.categorical import as_domain
from ldpkit.core.domains.circle import CircleDomain, CircleLike, as_circle
from ldpkit.core.domains.interval import IntervalDomain, IntervalLike, as_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.results import Result
from ldpkit.core.tables import Table
from ldpkit.core.text import and_text
from ldpkit.core.typing import DomainLike, Floats, Values
from ldpkit.core.watching import Watch, collect, unwatched
from ldpkit.mechanisms.base import MECHANISMS, Mechanism
from ldpkit.mechanisms.kinds import (
    ALL,
    CIRCULAR,
    FREQUENCY,
    NUMERIC,
    is_circular,
    is_numeric,
    is_on_grid,
    select,
)
from ldpkit.simulation.datasets import load_amounts

__all__ = ["DEFAULT_CIRCULAR", "DEFAULT_MECHANISMS", "DEFAULT_NUMERIC", "Risks", "risk"]

DEFAULT_MECHANISMS = ("grr", "sue", "oue", "olh", "ss")
"""Whose reports are attacked where none are named."""

DEFAULT_NUMERIC = ("pm", "hm", "sw")
DEFAULT_CIRCULAR = ("circular_ogpm", "circular_sw")
"""The same for numbers."""

UNIFORM = "uniform"
"""The prior of an adversary who believes nothing."""


@dataclass(frozen=True, repr=False)
class Risks(Result):
    """What an adversary achieves against some mechanisms.

    Parameters
    ----------
    risks : tuple of Risk
        One for each mechanism and budget.
    values : int
        How many values there are to guess among.
    interval : IntervalDomain or None
        Of numbers, the interval whose cells are the values.
    circle : CircleDomain or None
        Of values on a circle, the circle whose cells are the values.
    left_out : tuple of str
        What could not be attacked, and why, where all were asked for.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.risk(["grr", "oue"], epsilon=[1, 2], domain=10)
    >>> [round(each.success, 3) for each in found]
    [0.232, 0.451, 0.181, 0.318]
    """

    risks: tuple[Risk, ...]
    values: int
    interval: IntervalDomain | None = None
    left_out: tuple[str, ...] = ()
    circle: CircleDomain | None = None

    kind: ClassVar[str] = "risks"

    def by_mechanism(self) -> dict[str, list[Risk]]:
        """Return the risks of each mechanism."""
        found: dict[str, list[Risk]] = {}
        for each in self.risks:
            found.setdefault(each.name, []).append(each)
        return found

    def answer(self, unit: str = "") -> str:
        """Return how often a guess is right where most is given away, as a sentence."""
        worst = max(self.risks, key=lambda each: each.success)
        told = worst.answer()
        if len(self.risks) == 1:
            return told
        ties: dict[str, list[str]] = {}
        for each in self.risks:
            if _are_tied(each, worst):
                ties.setdefault(f"{each.epsilon:.4g}", []).append(each.name)
        names = and_text([f"{and_text(names)} at epsilon {epsilon}" for epsilon, names in ties.items()])
        verb = "gives" if sum(map(len, ties.values())) == 1 else "give"
        case = f"Of {len(self.risks)} cases, {names} {verb} away the most"
        return f"{case}: {told[0].lower()}{told[1:]}"

    @property
    def title(self) -> str:
        """The title above the table."""
        if self.interval is None and self.circle is None:
            return f"An adversary who guesses one of {self.values} values"
        cells = f"{self.values} cells of {self.interval or self.circle}"
        return f"An adversary who guesses one of {cells}, each value taken as the middle of its cell"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        is_hashed = any(MECHANISMS.get(each.name).can("hashed") for each in self.risks)
        in_pairs = any(each.knows_partner for each in self.risks)
        return (
            self.risks[0].caption
            + ("; hashing counts as ideal" if is_hashed else "")
            + ("; in pairs the adversary knows the partner's value and report" if in_pairs else "")
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each mechanism and budget, with what it means in words."""
        rows = (row | {"words": " ".join(each.notes())} for each in self.risks for row in each.rows())
        return list(rows)[:top]

    def about(self) -> dict[str, Any]:
        """Return what is guessed."""
        return {
            "values": self.values,
            "interval": None if self.interval is None else self.interval.to_json(),
            "circle": None if self.circle is None else self.circle.to_json(),
            "eta": self.risks[0].eta,
            "reports": self.risks[0].reports,
            "left_out": list(self.left_out),
        }

    def notes(self) -> list[str]:
        """Return what was left out, and what the numbers mean, where there is one mechanism."""
        told = [f"left out of 'all': {'; '.join(self.left_out)}"] if self.left_out else []
        return [*told, *(self.risks[0].notes() if len(self.risks) == 1 else [])]

    def tables(self, top: int | None = None) -> list[Table]:
        """Return the numbers; the words of each are in the rows."""
        rows = [row for each in self.risks for row in each.rows()][:top]
        return [Table.of(rows, title=self.title, caption=self.caption)]

    def __len__(self) -> int:
        return len(self.risks)

    def __getitem__(self, place: int) -> Risk:
        return self.risks[place]


def _are_tied(one: Risk, other: Risk) -> bool:
    """Whether two succeed equally often, or differ by no more than the noise of a simulation."""
    noise = 2 * math.hypot(one.success_stderr, other.success_stderr)
    return abs(one.success - other.success) <= max(noise, 1e-4 * other.success)


def risk(
    mechanisms: Mechanism | str | Sequence[Mechanism | str] | None = None,
    *,
    epsilon: float | Sequence[float] | None = None,
    domain: DomainLike | None = None,
    interval: IntervalLike | None = None,
    circle: CircleLike | None = None,
    bins: int = BINS,
    data: Any = None,
    numbers: Values | None = None,
    prior: Any = None,
    eta: float | None = None,
    reports: int = 1,
    devices: int = DEVICES,
    parameters: Mapping[str, Any] | None = None,
    column: str | None = None,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> Risks:
    """Return how often an adversary guesses a value from its report.

    The adversary knows the mechanism and has a prior, and no guess is right more often. Of
    numbers the adversary guesses the cell of the interval, on a circle the cell of the circle.

    Parameters
    ----------
    mechanisms : Mechanism, str, or a sequence of these, optional
        Whose reports are attacked, all for categories or all for numbers; "all" is all that
        can be attacked and need only an epsilon. A name is made with every epsilon.
    epsilon : float or sequence of float, optional
        The budgets of mechanisms given by name: 1 unless `parameters` says otherwise.
    domain : size or labels, optional
        The values to guess among, for mechanisms given by name.
    interval : IntervalDomain or pair of float, optional
        The interval of numbers, for numeric mechanisms given by name.
    circle : CircleDomain or float, optional
        The circle of values, or its period, for circular mechanisms given by name.
    bins : int
        How many equally wide cells of the interval or the circle the adversary tells apart.
    data : str, path, Dataset, mapping or sequence of int, optional
        The people; their values are the domain.
    numbers : array, optional
        People's numbers in the interval, or values on the circle.
    prior : "uniform", mapping or array, optional
        What the adversary believes before; by default the frequencies of the people.
    eta : float, optional
        Also say how well the adversary knows whether the value is at most this.
    reports : int
        Reports of one person that are seen.
    devices : int
        People to attack, where it takes a simulation.
    parameters : mapping, optional
        What mechanisms given by name take beside the domain and epsilon.
    column : str, optional
        The column of a table to read.
    rng : RandomSource, optional
        Of simulations, by default `seeded(0)`.
    watch : Watch
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.risk(["grr", "oue"], domain=10, epsilon=[1, 4])
    >>> [(row["mechanism"], row["epsilon"], round(row["success"], 3)) for row in found.rows()]
    [('grr', 1.0, 0.232), ('grr', 4.0, 0.858), ('oue', 1.0, 0.181), ('oue', 4.0, 0.504)]
    >>> print(ldpkit.risk(ldpkit.GRR(4, epsilon=1.0)).notes()[1])
    Guessing from the report succeeds in 47.5% of all cases; without it, in 25%: 1.9 times as often, \
if all values are equally likely.
    >>> round(ldpkit.risk("pm", interval=(0, 100), epsilon=2).rows()[0]["success"], 3)
    0.163
    """
    if domain is not None and data is not None:
        raise InvalidParameterError("give domain or data, not both: the data has its own values")
    asked, left_out = _asked(mechanisms, numeric=interval is not None, around=circle is not None)
    people: Floats | None = None
    space: Domain | None = None if domain is None else as_domain(domain)
    if interval is not None:
        space = as_interval(interval)
    elif circle is not None:
        space = as_circle(circle)
    elif data is not None:
        known = load_amounts(data, column=column)
        people, space = known.counts.astype(float), known.domain
    made = [one for each in asked for one in _made(each, space, epsilon, dict(parameters or {}))]
    if not made:
        raise InvalidParameterError("there is no mechanism to attack: name at least one")
    first = made[0]
    for each in made:
        if each.domain != first.domain:
            raise InvalidParameterError(f"{first!r} is on {first.domain}, {each!r} on {each.domain}")
    amounts: Floats | None = None
    if is_on_grid(first):
        amounts = cell_middles(first, bins)
        if numbers is not None:
            people = _in_cells(first.domain, numbers, bins)
    belief = (
        people
        if prior is None
        else _belief(prior, lambda values, counts: _spread(first, values, counts, bins))
    )
    source = seeded(0) if rng is None else rng

    def attack() -> Iterator[Risk]:
        for each in made:
            yield measure(
                each,
                belief,
                people=people,
                amounts=amounts,
                eta=eta,
                reports=reports,
                devices=devices,
                rng=source.derive(repr(each)),
            )

    found = tuple(collect(attack(), len(made), "attacking", watch))
    if is_circular(first):
        return Risks(found, bins, None, left_out, first.domain)
    if is_numeric(first):
        return Risks(found, bins, first.domain, left_out)
    return Risks(found, first.domain.size or 0, None, left_out)


def _asked(
    mechanisms: Mechanism | str | Sequence[Mechanism | str] | None, *, numeric: bool, around: bool
) -> tuple[Sequence[Mechanism | str], tuple[str, ...]]:
    """Return whose reports are attacked, and what "all" leaves out and why."""
    if mechanisms is None:
        return (DEFAULT_CIRCULAR if around else DEFAULT_NUMERIC if numeric else DEFAULT_MECHANISMS), ()
    is_one = isinstance(mechanisms, str) or not isinstance(mechanisms, Sequence)
    several: Any = [mechanisms] if is_one else mechanisms
    asked: list[Any] = list(several)
    if asked != [ALL]:
        return asked, ()
    if around:
        able = select(CIRCULAR, single_epsilon=True)
        return able.names, able.reasons(CIRCULAR)
    if numeric:
        able = select(NUMERIC, single_epsilon=True, without=("fitted",))
        return able.names, able.reasons(NUMERIC)
    able = select(FREQUENCY, "likelihood", single_epsilon=True)
    return able.names, able.reasons(FREQUENCY)


def _made(
    mechanism: Mechanism | str,
    space: Domain | None,
    epsilon: float | Sequence[float] | None,
    parameters: dict[str, Any],
) -> Iterator[Mechanism]:
    """Yield a mechanism for every budget, ascending; one that is made already has its own."""
    if not isinstance(mechanism, str):
        if space is not None and space != mechanism.domain:
            raise InvalidParameterError(f"{mechanism!r} is on {mechanism.domain}, the people on {space}")
        yield mechanism
        return
    kind = MECHANISMS.get(mechanism)
    if space is None or not isinstance(space, kind.domain_type):
        what = "interval, which has the numbers" if is_numeric(kind) else "domain, or data"
        what = "circle, or its period" if is_circular(kind) else what
        raise InvalidParameterError(f"the adversary of {mechanism} needs values to guess: give {what}")
    given = [] if epsilon is None else sorted([epsilon] if isinstance(epsilon, (int, float)) else epsilon)
    if not given and parameters:
        yield kind.make(space, **parameters)
    for budget in given or ([] if parameters else [1.0]):
        yield kind.make(space, epsilon=budget, **parameters)


def _belief(prior: Any, spread: Callable[[list[Any], list[float]], Floats]) -> Floats | None:
    """Return a prior as numbers, one for each value; `spread` puts values and counts in their places."""
    if isinstance(prior, str):
        if prior == UNIFORM:
            return None
        raise InvalidParameterError(f"the prior is 'uniform', a mapping or numbers, got {prior!r}")
    if isinstance(prior, Mapping):
        return spread(list(prior), list(prior.values()))
    return np.asarray(prior, float)


def _spread(mechanism: Mechanism, values: list[Any], counts: list[float], bins: int) -> Floats:
    """Return how many people hold each value, or each cell of numbers."""
    if is_on_grid(mechanism):
        return _in_cells(mechanism.domain, values, bins, counts)
    belief = np.zeros(mechanism.domain.size or 0)
    belief[np.asarray(mechanism.domain.encode(values))] = counts
    return belief


def _in_cells(space: IntervalDomain | CircleDomain, values: Values, bins: int, weights: Any = None) -> Floats:
    """Return how many numbers fall into each of some equally wide cells."""
    cells = ((space.check(values) - space.low) / space.width * bins).astype(int)
    return np.bincount(np.minimum(cells, bins - 1), weights, minlength=bins).astype(float)
