"""The adaptive mean: some people describe the data, the others report through noise fitted to it.

Everybody reports once, with the whole epsilon. A random share of the people report their
rounded value through a frequency oracle; its estimate, made consistent, is the descriptor.
The others report through AAA's table for that descriptor, or through the mechanism that the
first phase speaks for. It decides only how good the second phase is: the mean is unbiased
whatever the first phase found.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import IntervalDomain, IntervalLike, as_interval
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, MismatchError
from ldpkit.core.parameters import check_epsilon, check_fraction, check_people, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.results import Result
from ldpkit.core.typing import Floats, Reports, Values
from ldpkit.estimation.consistency import CONSISTENCY
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.numeric import NumericEstimate, interval_caption
from ldpkit.mechanisms.adaptive.compare import FITTED, choose, grid_variances
from ldpkit.mechanisms.adaptive.rounding import round_at_random
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import frequency_oracle, is_fitted, is_frequency, numeric_class
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import NumericTally, Tally
from ldpkit.protocols.describers import MOST, describing_share
from ldpkit.protocols.ledger import Ledger, Promise, Report, Shares

__all__ = ["AdaptiveEstimate", "AdaptiveMean"]


@dataclass(frozen=True, eq=False)
class AdaptiveEstimate(Result):
    """An estimated mean, and how it was come by.

    Parameters
    ----------
    second : NumericEstimate
        The estimate of the second phase, about the people of both.
    n : int
        How many people took part in both phases together.
    descriptor : array
        The distribution that the second phase was fitted to.
    mechanism : NumericMechanism
        What the second phase used.
    oracle : FrequencyOracle
        What the first phase used.
    exact_epsilon : float
        What taking part costs: each person reports in one phase.
    """

    second: NumericEstimate
    n: int
    descriptor: Floats = field(repr=False)
    mechanism: NumericMechanism
    oracle: FrequencyOracle
    exact_epsilon: float

    kind: ClassVar[str] = "adaptive mean"

    @property
    def mean(self) -> float:
        """The estimated mean of all people: they were divided at random."""
        return self.second.mean

    @property
    def stderr(self) -> float:
        """Its standard error about the mean of all n: the noise, and the chance of who was in which phase."""
        return self.second.stderr

    @property
    def whose(self) -> str:
        """Whose mean the error and the interval are about."""
        return self.second.whose

    @property
    def bias(self) -> float:
        """The most that the mean estimate can differ from the truth."""
        return self.second.bias

    @property
    def level(self) -> float:
        """The coverage of the interval in the rows."""
        return self.second.level

    def with_level(self, level: float) -> AdaptiveEstimate:
        """Return the same estimate, whose rows have an interval of another coverage."""
        return replace(self, second=self.second.with_level(level))

    def interval(self, level: float | None = None) -> tuple[float, float]:
        """Return the ends of a confidence interval for the mean of all n."""
        return self.second.interval(level)

    @property
    def described(self) -> int:
        """How many people described the data."""
        return self.n - self.second.n

    def answer(self, unit: str = "") -> str:
        """Return the mean with its interval, as a sentence."""
        return self.second.answer(unit)

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Mean of numbers in {self.second.domain} from n={self.n} reports"

    @property
    def caption(self) -> str:
        """What the interval covers, and who did what."""
        covered = interval_caption(self.whose, self.bias, self.level)
        return (
            f"{covered}; {self.described} people described the data through {self.oracle!r}, "
            f"{self.second.n} reported through {self.mechanism!r}"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each statistic: statistic, value, stderr, low, high."""
        return self.second.rows(top)

    def about(self) -> dict[str, Any]:
        """Return what holds for mean and variance, and what the first phase found."""
        return {
            **self.second.about(),
            "n": self.n,
            "described": self.described,
            "exact_epsilon": self.exact_epsilon,
            "descriptor": self.descriptor.tolist(),
        }

    def notes(self) -> list[str]:
        """Return what a reader should know of the bias, where it matters."""
        return self.second.notes()


class AdaptiveMean:
    """The two-phase protocol of AAA.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The interval of values.
    epsilon : float
        The budget of every person; each reports once, in one of the phases.
    share : float, optional
        The share of people who describe. It is paid for: their reports do not enter the
        mean. A tenth is the paper's; by default see `describing_share`.
    bins : int
        The number of cells of the grid.
    oracle : str
        The frequency oracle of the first phase; "ss" is better than the paper's "grr".
    consistency : str
        The method that turns its estimate into a distribution: "norm_sub", "power_ns", "norm_mul".
    smoothing : float
        The part of the descriptor that is uniform, so that nobody's value counts as
        impossible because the noise of the first phase hid it.
    choice : {"aaa", "auto"}
        "auto" lets the first phase choose the second phase's mechanism by expected
        variance: AAA if its lead over the best of PM, HM, Duchi's and Laplace is more than
        chance, else that one.
    noise_range : int, optional
        As in `AAA`.

    Examples
    --------
    >>> import ldpkit
    >>> protocol = AdaptiveMean((0, 100), epsilon=2.0, bins=8)
    >>> ages = np.full(5000, 40.0)
    >>> estimate = protocol.run(ages, rng=ldpkit.random.seeded(1))
    >>> abs(estimate.mean - 40) < 4 * estimate.stderr
    True
    """

    def __init__(
        self,
        domain: IntervalLike,
        epsilon: float,
        *,
        share: float | None = None,
        bins: int = 16,
        oracle: str = "grr",
        consistency: str = "norm_sub",
        smoothing: float = 0.05,
        choice: Literal["aaa", "auto"] = "aaa",
        noise_range: int | None = None,
    ) -> None:
        self.domain: IntervalDomain = as_interval(domain)
        self.epsilon = check_epsilon(epsilon)
        self.share = None if share is None else check_fraction(share, "share")
        self.bins = check_whole(bins, "bins")
        if not 0 <= smoothing <= 1:
            raise InvalidParameterError(f"smoothing must lie between 0 and 1, got {smoothing}")
        if choice not in (FITTED, "auto"):
            raise InvalidParameterError(f"choice must be 'aaa' or 'auto', got {choice!r}")
        CONSISTENCY.get(consistency)
        self.consistency, self.smoothing, self.choice = consistency, float(smoothing), choice
        self.noise_range = noise_range
        self.oracle = frequency_oracle(oracle, self.bins + 1, epsilon=self.epsilon)

    @cached_property
    def least_people(self) -> int:
        """The fewest people for two phases: one describer for each grid point."""
        share = MOST if self.share is None else self.share
        return max(int(np.ceil((self.bins + 1) / share)), int(np.ceil(2 / (1 - share))))

    def exact_epsilon(self, mechanism: NumericMechanism | None = None) -> float:
        """Return the epsilon of whoever pays most; everybody reports once, in one of the phases.

        Parameters
        ----------
        mechanism : NumericMechanism, optional
            What the second phase uses, such as `AdaptiveEstimate.mechanism`: then the result
            is the larger of both phases' realised epsilons. Without it the second phase is
            not known, and the result is the budget, which neither phase exceeds.

        Examples
        --------
        >>> protocol = AdaptiveMean((0, 1), epsilon=2.0, oracle="the")
        >>> round(protocol.oracle.exact_epsilon(), 3), protocol.exact_epsilon()
        (1.636, 2.0)
        """
        cost = Ledger((self.record(mechanism),)).cost()
        assert cost is not None
        return cost.epsilon

    def record(self, mechanism: NumericMechanism | None = None) -> Shares:
        """Return what a person reports, for a ledger: in the first phase or in the second, never in both."""
        second = Promise(self.epsilon) if mechanism is None else Report(mechanism)
        return Shares((Report(self.oracle), second))

    def split(self, n: int, *, rng: RandomSource | None = None) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each of n people whether they describe; a random set of `share` of them."""
        people = check_people(n)
        share = describing_share(people, self.bins) if self.share is None else self.share
        if people < self.least_people:
            raise InvalidInputError(
                f"{n} people are too few for two phases: a share of {share:g} and {self.bins} bins need "
                f"{self.least_people}; take fewer bins, or a mechanism such as 'hm' that needs no description"
            )
        describes = np.zeros(n, bool)
        describes[np.argsort(resolve(rng).words(n))[: round(share * n)]] = True
        return describes

    # --- the first phase ---------------------------------------------------------------

    def describe(self, values: Values, *, rng: RandomSource | None = None, clip: bool = False) -> Reports:
        """Return the reports of describers: their values, rounded at random, through the oracle."""
        source = resolve(rng)
        rounded = round_at_random(self.domain, values, self.bins, source, clip=clip)
        return self.oracle.first_reports(rounded, rng=source)

    def descriptor(self, tally: Tally) -> Floats:
        """Return what AAA's table is fitted to: the shares that the first phase found, smoothed."""
        return self._smoothed(_distribution(self._estimate(tally)))

    def _estimate(self, tally: Tally) -> Estimate:
        """Return the consistent shares of the grid points, with errors about the whole population."""
        first = tally.mechanism
        if not is_frequency(first) or first.domain != self.oracle.domain:
            raise MismatchError(
                f"a tally of {first!r} does not belong to the first phase, which uses a frequency oracle "
                f"on the {self.bins + 1} grid points, such as {self.oracle!r}"
            )
        return tally.estimate("mi", consistency=self.consistency, population=True)

    def _smoothed(self, shares: Floats) -> Floats:
        return np.asarray((1 - self.smoothing) * shares + self.smoothing / len(shares))

    # --- the second phase --------------------------------------------------------------

    def mechanism(self, tally: Tally) -> NumericMechanism:
        """Return the mechanism of the second phase from the tally of the first.

        The describers may have reported through another oracle or epsilon than this
        protocol's, as long as it was on its grid.
        """
        estimate = self._estimate(tally)
        shares = _distribution(estimate)
        descriptor, name = self._smoothed(shares), FITTED
        if self.choice == "auto":
            variances = grid_variances(descriptor, self.epsilon, noise_range=self.noise_range)
            name = choose(variances, shares, estimate.stderr)
        kind = numeric_class(name)
        told = {"descriptor": descriptor, "noise_range": self.noise_range} if kind.can("fitted") else {}
        return kind.make(self.domain, epsilon=self.epsilon, **told)

    # --- both --------------------------------------------------------------------------

    def run(
        self,
        values: Values,
        *,
        rng: RandomSource | None = None,
        clip: bool = False,
        population: bool = False,
    ) -> AdaptiveEstimate:
        """Return the estimated mean of some values, everybody reporting in one of the phases.

        Parameters
        ----------
        values : array, sequence or column
            Numbers of the interval.
        rng : RandomSource, optional
            Secure by default.
        clip : bool
            True moves values outside to the nearest end; a warning says how many.
        population : bool
            False: the error is about all these people. True: about the population that they
            were drawn from.
        """
        numbers, source = self.domain.take(values, clip=clip), resolve(rng)
        describes = self.split(len(numbers), rng=source)
        first = self.oracle.tally(self.describe(numbers[describes], rng=source))
        mechanism = self.mechanism(first)
        second = mechanism.tally(mechanism.privatize(numbers[~describes], rng=source))
        return AdaptiveEstimate(
            second.estimate(people=len(numbers), population=population),
            len(numbers),
            self.descriptor(first),
            mechanism,
            self.oracle,
            self.exact_epsilon(mechanism),
        )

    def simulate(self, values: Values, *, rng: RandomSource | None = None, repeats: int = 1) -> Floats:
        """Draw the estimated means of whole collections, only their aggregates being drawn.

        Given who describes and what everybody rounds to, the oracle's supports and AAA's
        reports are drawn as counts, with the law that those of `run` have. Every
        collection has a descriptor of its own, and with it a table to solve for.

        Parameters
        ----------
        values : array
            Numbers of the interval.
        rng : RandomSource, optional
            Secure by default.
        repeats : int
            How many collections to draw.

        Returns
        -------
        array, shape (repeats,)
            The estimates. Their spread about the mean of the values is the error.

        Examples
        --------
        >>> AdaptiveMean((-1, 1), epsilon=4.0, bins=4).simulate([0.1] * 1000, repeats=3).shape
        (3,)
        """
        numbers, source = self.domain.check(values), resolve(rng)
        return np.array([self._simulate(numbers, source) for _ in range(check_whole(repeats, "repeats"))])

    def _simulate(self, numbers: Floats, source: RandomSource) -> float:
        describes = self.split(len(numbers), rng=source)
        points = self.bins + 1
        rounded = round_at_random(self.domain, numbers, self.bins, source)
        supports = self.oracle.simulate(np.bincount(rounded[describes], minlength=points), rng=source)[0]
        mechanism = self.mechanism(Tally(self.oracle, int(describes.sum()), supports))
        if is_fitted(mechanism):
            people = np.bincount(rounded[~describes], minlength=points)
            tally = NumericTally(mechanism, int(people.sum()), mechanism.simulate(people, rng=source)[0])
        else:
            tally = mechanism.tally(mechanism.privatize(numbers[~describes], rng=source))
        return float(tally.estimate().mean)


def _distribution(estimate: Estimate) -> Floats:
    """Return shares that are not negative and sum to one, as not every consistency makes them."""
    shares = np.clip(estimate.values, 0, None)
    total = shares.sum()
    return np.asarray(shares / total) if total > 0 else np.full(len(shares), 1 / len(shares))
