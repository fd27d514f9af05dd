"""What every frequency oracle for pairs is: the reports of a one-time oracle, correlated within pairs.

A report on its own, its wire form and the estimator are those of the oracle it is made
from. What is different is the variance, and who can learn what.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Self, overload

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.categorical import as_domain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.numbertext import epsilon_text
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue, check_epsilon, check_people
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, DomainLike, Floats, Indices, Reports, Values
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.joint.adversary import Adversary
from ldpkit.mechanisms.joint.counts import check_shares
from ldpkit.mechanisms.joint.matchings import hidden_epsilon
from ldpkit.mechanisms.joint.pairing import check_pairs, random_order
from ldpkit.mechanisms.joint.table import NEGATIVE, POSITIVE, PairTable

__all__ = ["EPSILON_ALONE", "EPSILON_TOWARDS_ANYONE", "PairedOracle"]

_EVERYBODY = 1 << 62  # people in a chunk: all of them are paired at once

EPSILON_ALONE = replace(
    EPSILON, name="epsilon_alone", help="what one report on its own may cost, less than epsilon"
)
EPSILON_TOWARDS_ANYONE = replace(
    EPSILON, help="what it may cost towards anyone, including a partner who knows all but the value"
)
CORRELATION = Parameter(
    "correlation",
    str,
    "the sign of the correlation within a pair; positive is for shares of one half",
    default=NEGATIVE,
    choices=(NEGATIVE, POSITIVE),
)


class PairedOracle(FrequencyOracle):
    """A frequency oracle whose people report in pairs that share a random word.

    Parameters
    ----------
    domain : int or sequence of labels
        The values.
    epsilon_alone : float
        The epsilon of one report on its own.
    epsilon : float, optional
        The epsilon towards anyone, including whoever knows the pairing and the partner's value.
        It must exceed `epsilon_alone`; their distance is what the correlation costs.
    correlation : {"negative", "positive"}
        Negative lowers the variance unless a share is one half.
    adversary : Adversary, optional
        Only where there is no epsilon towards anyone: whom it should protect
        against instead. It stays with every file, tally and estimate.
    """

    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON_ALONE, EPSILON_TOWARDS_ANYONE, CORRELATION)
    capabilities: ClassVar[frozenset[str]] = frozenset({"pure", "linear", "tallied", "joint"})
    not_for_devices = "two people make their reports together"
    epsilon_alone: float
    correlation: str
    adversary: Adversary | None

    def __init__(
        self,
        domain: DomainLike,
        epsilon_alone: float,
        epsilon: float | None = None,
        *,
        correlation: str = NEGATIVE,
        adversary: Adversary | None = None,
    ) -> None:
        alone = check_epsilon(epsilon_alone, "epsilon_alone")
        stated = epsilon is not None and not (isinstance(epsilon, float) and math.isinf(epsilon))
        if adversary is None and not stated:
            raise InvalidParameterError(
                f"{self.name} without an epsilon towards anyone promises nothing against whoever knows a "
                "partner: give epsilon=, or say with adversary=Adversary(...) whom it should "
                "protect against"
            )
        if adversary is not None and (stated or not isinstance(adversary, Adversary)):
            raise InvalidParameterError(
                "an adversary is stated where there is no epsilon towards anyone, as Adversary(known=...): "
                f"leave out epsilon or adversary, got {epsilon!r} and {adversary!r}"
            )
        self._freeze(
            domain=as_domain(domain),
            epsilon_alone=alone,
            epsilon=check_epsilon(epsilon) if stated and epsilon is not None else math.inf,
            correlation=CORRELATION.check(correlation),
            adversary=adversary,
        )
        _ = self.table  # refuses epsilons that do not go together

    @property
    @abc.abstractmethod
    def table(self) -> PairTable:
        """The exact law of who of two partners answers truthfully, a bit or a value at a time."""

    @property
    @abc.abstractmethod
    def stray_support(self) -> tuple[Fraction, Fraction]:
        """How likely a truthful and an untruthful report support a value that the person does not hold."""

    def parameters(self) -> dict[str, ParameterValue]:
        shown: dict[str, ParameterValue] = {"epsilon_alone": self.epsilon_alone}
        shown |= {"epsilon": self.epsilon} if self.adversary is None else {"adversary": self.adversary.text}
        return shown if self.correlation == NEGATIVE else shown | {"correlation": self.correlation}

    @classmethod
    def make(cls, domain: Any, /, **arguments: Any) -> Self:
        """Return the mechanism of some parameters, which cannot state an adversary.

        So a guarantee that holds only against somebody is never made by name.
        """
        if "adversary" in arguments:
            raise InvalidParameterError(
                f"{cls.name} by name needs an epsilon towards anyone: make one that promises less "
                f"with {cls.__name__}(..., adversary=Adversary(...))"
            )
        return super().make(domain, **arguments)

    @classmethod
    def from_parameters(cls, domain: Any, parameters: Mapping[str, Any]) -> Self:
        if "adversary" not in parameters:
            return super().from_parameters(domain, parameters)
        rest = {name: value for name, value in parameters.items() if name != "adversary"}
        made: Any = cls
        checked = cls.check_parameters(rest)
        if "epsilon_alone" not in checked or "epsilon" in checked:
            raise InvalidParameterError(
                f"{cls.name} with a stated adversary takes epsilon_alone, and no epsilon"
            )
        found: Self = made(domain, **checked, adversary=Adversary.parse(parameters["adversary"]))
        return found

    def sibling(self, size: int) -> Self:
        kind: Any = type(self)
        made: Self = kind(
            size,
            self.epsilon_alone,
            None if self.adversary is not None else self.epsilon,
            correlation=self.correlation,
            adversary=self.adversary,
        )
        return made

    def details(self) -> dict[str, float]:
        return {**super().details(), "rho": float(self.table.rho)}

    def exact_epsilon(self) -> float:
        """Return the realised epsilon towards anyone, including the partner, rounded up; perhaps infinite."""
        return self.table.epsilon()

    def exact_epsilon_alone(self) -> float:
        """Return the realised epsilon of one report on its own, rounded up."""
        return self.table.epsilon_alone()

    def epsilons(self) -> dict[str, float]:
        return {"exact_epsilon": self.exact_epsilon(), "exact_epsilon_alone": self.exact_epsilon_alone()}

    def promise(self) -> str:
        alone = f"{epsilon_text(self.exact_epsilon_alone())} for one report on its own"
        if self.adversary is None:
            return (
                f"exact epsilon {epsilon_text(self.exact_epsilon())} towards anyone, including the partner, "
                f"and {alone}"
            )
        return (
            f"NO epsilon towards whoever knows a partner (exact epsilon inf); {alone}, "
            f"and stated only against {self.adversary.words}"
        )

    def towards(self, adversary: Adversary, n: int) -> tuple[float, bool]:
        """Return the epsilon towards a stated adversary among n people, and whether it is exact.

        Where it is not, it is an upper bound. `ldpkit.assurance.joint.guarantee` says it in words.
        """
        people = check_people(n, least=2)
        if adversary.known >= people:
            raise InvalidParameterError(
                f"of {people} people the values of at most {people - 1} others are known, "
                f"got known={adversary.known}"
            )
        return self._towards(adversary, people)

    def _towards(self, adversary: Adversary, n: int) -> tuple[float, bool]:
        if adversary.knows_grouping:
            if adversary.known == 0 and adversary.share is not None:
                return self._known_share(adversary.share)
            return self.exact_epsilon(), True
        if adversary.share is not None and adversary.share in (0.0, 1.0):
            return self.exact_epsilon(), False  # everybody's value is known
        if adversary.share is None:
            found = hidden_epsilon(self.table, n, adversary.known)
            if found is not None:
                return found, True
        return self.exact_epsilon(), False

    def _known_share(self, share: float) -> tuple[float, bool]:
        """Return the epsilon towards whoever knows the partner's report and how common its value is."""
        return self.exact_epsilon(), False

    # --- reports ---------------------------------------------------------------------------

    @property
    def chunk_size(self) -> int:
        """How many are paired at a time: everybody, so that no chunk decides who meets whom."""
        return _EVERYBODY

    def privatize(
        self, values: Values, *, rng: RandomSource | None = None, pairs: Values | None = None
    ) -> Reports:
        """Return one report for each value, of people who are paired at random.

        Parameters
        ----------
        values : array, sequence or column
            Labels or indices of the domain, of the whole population: it is shuffled
            uniformly and cut into pairs, and an odd one answers alone.
        rng : RandomSource, optional
            Secure randomness by default.
        pairs : array of int, shape (m, 2), optional
            Fixed pairs of positions; whoever is in none answers alone. Then the variance
            is that of these pairs, and everybody who knows them knows the grouping.
        """
        if pairs is None:
            return super().privatize(values, rng=rng)
        indices, source = self.domain.encode(values), resolve(rng)
        order = check_pairs(pairs, len(indices))
        if self.adversary is not None:
            raise InvalidParameterError(
                "fixed pairs are known to whoever made them: give an epsilon towards anyone"
            )
        alone = np.setdiff1d(np.arange(len(indices), dtype=np.uint32), order)
        base, shape = self._layout
        reports = np.empty((len(indices), *shape), base)
        reports[order] = self._respond(indices[order], source)
        # Whoever has no partner is paired with a copy of theirs that nobody hears of.
        reports[alone] = self._respond(np.repeat(indices[alone], 2), source)[::2]
        return reports

    def _check_people(self, n: int) -> None:
        """Refuse a population in which the stated adversary could learn a value for certain."""
        if self.adversary is None:
            return
        if n < 2:
            raise InvalidInputError("one person has no partner: a stated adversary is about pairs")
        found, _ = self.towards(self.adversary, n)
        if math.isinf(found):
            raise InvalidInputError(
                f"among {n} people {self.adversary.words} can learn a value for certain: "
                "give an epsilon towards anyone instead"
            )

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        self._check_people(len(indices))
        order = random_order(len(indices), source)
        base, shape = self._layout
        reports = np.empty((len(indices), *shape), base)
        reports[order] = self._respond(indices[order], source)
        return reports

    @abc.abstractmethod
    def _respond(self, indices: Indices, source: RandomSource) -> Reports:
        """Return the reports of people of whom neighbours (0 and 1, 2 and 3, ...) are partners."""

    # --- what reports are worth ------------------------------------------------------------

    @cached_property
    def _slope(self) -> float:
        """How a stray support depends on truthfulness; the person's own support has slope 1."""
        truthful, untruthful = self.stray_support
        return float(truthful - untruthful)

    @overload
    def variance(self, frequency: float, n: int, *, population: bool = False) -> float: ...
    @overload
    def variance(self, frequency: Floats, n: int, *, population: bool = False) -> Floats: ...
    def variance(self, frequency: float | Floats, n: int, *, population: bool = False) -> float | Floats:
        """Return the variance of the estimated frequency of one value, partners being drawn uniformly.

        Theorem 4 of the thesis, for any number of values: reports of partners have the
        covariance of their truthfulness, times 1 for who holds the value and times the
        slope of a stray support for who does not.
        """
        f = check_shares(frequency, n)
        slope, meet = self._slope, 1 / (n - 1 + n % 2) if n > 1 else 0.0  # the chance of two to be partners
        line = f + (1 - f) * slope
        together = n * (n - 1) * line**2 if population else n**2 * line**2 - n * (f + (1 - f) * slope**2)
        single = np.asarray(super().variance(f, n, population=population))
        extra = float(self.table.covariance) * meet * together / (n * (self.p - self.q)) ** 2
        result = single + extra
        return result if result.ndim else float(result)

    def _untruthful(self, n: int, repeats: int, generator: np.random.Generator) -> Counts:
        """Draw how many of n people are untruthful, over all pairs and whoever is left."""
        law = [float(part) for part in (self.table.both, 2 * self.table.one)]
        pairs = generator.multinomial(n // 2, [*law, max(0.0, 1 - sum(law))], repeats)
        alone = generator.binomial(n % 2, float(self.table.untruthful), repeats)
        return np.asarray(2 * pairs[:, 0] + pairs[:, 1] + alone)
