"""Risks side by side: what an adversary achieves against several mechanisms and budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.assurance.adversary.measure import DEVICES, Risk
from ldpkit.assurance.adversary.measure import risk as measure
from ldpkit.core.domains.categorical import CategoricalDomain, as_domain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.results import Result
from ldpkit.core.tables import Table
from ldpkit.core.typing import DomainLike, Floats
from ldpkit.core.watching import Watch, collect, unwatched
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import frequency_class
from ldpkit.simulation.datasets import load_amounts

__all__ = ["DEFAULT_MECHANISMS", "Risks", "risk"]

DEFAULT_MECHANISMS = ("grr", "sue", "oue", "olh", "ss")
"""Whose reports are attacked where none are named."""

UNIFORM = "uniform"
"""The prior of an adversary who believes nothing."""

_HASHING = ("olh", "blh")  # their closed form is that of ideal hashing


@dataclass(frozen=True, repr=False)
class Risks(Result):
    """What an adversary achieves against some mechanisms.

    Parameters
    ----------
    risks : tuple of Risk
        One for each mechanism and budget.
    values : int
        How many values there are to guess among.
    """

    risks: tuple[Risk, ...]
    values: int

    kind: ClassVar[str] = "risks"

    def by_mechanism(self) -> dict[str, list[Risk]]:
        """Return the risks of each mechanism."""
        found: dict[str, list[Risk]] = {}
        for each in self.risks:
            found.setdefault(each.name, []).append(each)
        return found

    @property
    def title(self) -> str:
        """What stands above the table."""
        return f"An adversary who guesses one of {self.values} values"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        hashing = "; hashing counts as ideal" if any(each.name in _HASHING for each in self.risks) else ""
        return self.risks[0].caption + hashing

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each mechanism and budget, with what it means in words."""
        rows = (row | {"words": " ".join(each.notes())} for each in self.risks for row in each.rows())
        return list(rows)[:top]

    def about(self) -> dict[str, Any]:
        """Return what is guessed."""
        return {"values": self.values, "eta": self.risks[0].eta, "reports": self.risks[0].reports}

    def notes(self) -> list[str]:
        """Return what the numbers mean, where there is one mechanism."""
        return self.risks[0].notes() if len(self.risks) == 1 else []

    def tables(self, top: int | None = None) -> list[Table]:
        """Return the numbers; the words of each are in the rows."""
        rows = [row for each in self.risks for row in each.rows()][:top]
        return [Table.of(rows, title=self.title, caption=self.caption)]

    def __len__(self) -> int:
        return len(self.risks)

    def __getitem__(self, place: int) -> Risk:
        return self.risks[place]


def risk(
    mechanisms: FrequencyOracle | str | Sequence[FrequencyOracle | str] = DEFAULT_MECHANISMS,
    *,
    epsilon: float | Sequence[float] | None = None,
    domain: DomainLike | None = None,
    data: Any = None,
    prior: Any = None,
    eta: float | None = None,
    reports: int = 1,
    devices: int = DEVICES,
    parameters: Mapping[str, float] | None = None,
    column: str | None = None,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> Risks:
    """Return how often an adversary guesses a value from its report.

    The adversary knows the mechanism and has a prior, and no guess is right more often.

    Parameters
    ----------
    mechanisms : FrequencyOracle, str, or a sequence of these
        Whose reports are attacked. A name is made for the domain with every epsilon.
    epsilon : float or sequence of float, optional
        The budgets of mechanisms given by name: 1 unless `parameters` says otherwise.
    domain : size or labels, optional
        The values to guess among, for mechanisms given by name.
    data : str, path, Dataset, mapping or sequence of int, optional
        The people; their values are the domain.
    prior : "uniform", mapping or array, optional
        What the adversary believes before; by default the frequencies of `data`.
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
        Sees how far it is.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.risk(["grr", "oue"], domain=10, epsilon=[1, 4])
    >>> [(row["mechanism"], row["epsilon"], round(row["success"], 3)) for row in found.rows()]
    [('grr', 1.0, 0.232), ('grr', 4.0, 0.858), ('oue', 1.0, 0.181), ('oue', 4.0, 0.504)]
    >>> print(ldpkit.risk(ldpkit.GRR(4, epsilon=1.0)).notes()[1])
    Who guesses from the report is right in 47.5% of all cases; without it, in 25%: 1.9 times as often.
    """
    single = isinstance(mechanisms, (str, FrequencyOracle))
    asked: list[FrequencyOracle | str] = [mechanisms] if single else list(mechanisms)  # type: ignore[list-item,arg-type]
    people: Floats | None = None
    values: CategoricalDomain | None = None if domain is None else as_domain(domain)
    if data is not None:
        if domain is not None:
            raise InvalidParameterError("domain and data are both given, and the data has its own values")
        known = load_amounts(data, column=column)
        people, values = known.counts.astype(float), known.domain
    oracles = [oracle for each in asked for oracle in _made(each, values, epsilon, dict(parameters or {}))]
    if not oracles:
        raise InvalidParameterError("there is no mechanism to attack: name at least one")
    belief = people if prior is None else _belief(prior, oracles[0].domain)
    source = seeded(0) if rng is None else rng

    def attack() -> Iterator[Risk]:
        for oracle in oracles:
            yield measure(
                oracle,
                belief,
                people=people,
                eta=eta,
                reports=reports,
                devices=devices,
                rng=source.derive(repr(oracle)),
            )

    return Risks(tuple(collect(attack(), len(oracles), "attacking", watch)), oracles[0].size)


def _made(
    mechanism: FrequencyOracle | str,
    domain: CategoricalDomain | None,
    epsilon: float | Sequence[float] | None,
    parameters: dict[str, float],
) -> Iterator[FrequencyOracle]:
    """Yield a mechanism for every budget, ascending; one that is made already has its own."""
    if not isinstance(mechanism, str):
        if domain is not None and domain != mechanism.domain:
            raise InvalidParameterError(f"{mechanism!r} is on {mechanism.domain}, the people on {domain}")
        yield mechanism
        return
    if domain is None:
        raise InvalidParameterError("the adversary needs values to guess: give domain, or data")
    given = [] if epsilon is None else sorted([epsilon] if isinstance(epsilon, (int, float)) else epsilon)
    if not given and parameters:
        yield frequency_class(mechanism).make(domain, **parameters)
    for budget in given or ([] if parameters else [1.0]):
        yield frequency_class(mechanism).make(domain, epsilon=budget, **parameters)


def _belief(prior: Any, domain: CategoricalDomain) -> Floats | None:
    if isinstance(prior, str):
        if prior == UNIFORM:
            return None
        raise InvalidParameterError(f"the prior is 'uniform', a mapping or numbers, got {prior!r}")
    if isinstance(prior, Mapping):
        belief = np.zeros(len(domain))
        belief[domain.encode(list(prior))] = list(prior.values())
        return belief
    return np.asarray(prior, float)
