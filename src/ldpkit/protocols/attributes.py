"""Several numbers a person: report a few of them well instead of all of them badly.

With d attributes and k of them reported, each report has epsilon / k and the mean of an
attribute comes from k/d of the people. Splitting epsilon over all d attributes is k = d.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ldpkit.core.domains.interval import IntervalLike
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_epsilon, check_people, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Floats, Reports
from ldpkit.estimation.numeric import NumericEstimate
from ldpkit.mechanisms.kinds import numeric_class
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import NumericTally
from ldpkit.protocols.ledger import Ledger, Questions, Report, allot
from ldpkit.protocols.sampling import draw_questions

__all__ = ["SampledAttributes", "best_sample_size"]


def best_sample_size(attributes: int, epsilon: float) -> int:
    """Return how many attributes a person should report: epsilon / 2.5, at least one and at most all.

    Citation: Wang et al. (ICDE 2019), for PM and HM.

    Examples
    --------
    >>> [best_sample_size(10, epsilon) for epsilon in (1, 5, 100 / 6)]
    [1, 2, 6]
    """
    return max(1, min(attributes, math.floor(epsilon / 2.5)))


class SampledAttributes:
    """Means of several attributes, each person reporting a random few.

    Parameters
    ----------
    mechanism : str
        The name of a numeric mechanism.
    domains : sequence of intervals
        The interval of each attribute.
    epsilon : float
        The budget of a person over all that she reports.
    sample : int, optional
        How many attributes a person reports. Left out, `best_sample_size`; the number of
        all attributes is the equal split.
    parameters
        What the mechanism takes beyond interval and epsilon.

    Examples
    --------
    >>> import ldpkit
    >>> survey = SampledAttributes("pm", [(0, 1), (0, 100), (-1, 1)], epsilon=2.0)
    >>> survey.sample, survey.exact_epsilon() <= 2
    (1, True)
    >>> data = np.tile([0.5, 30.0, 0.0], (3000, 1))
    >>> reports = survey.privatize(data, rng=ldpkit.random.seeded(1))
    >>> sum(len(each) for each in reports)
    3000
    """

    def __init__(
        self,
        mechanism: str,
        domains: Sequence[IntervalLike],
        epsilon: float,
        *,
        sample: int | None = None,
        **parameters: Any,
    ) -> None:
        self.epsilon = check_epsilon(epsilon)
        if len(domains) == 0:
            raise InvalidParameterError("there are no attributes: give an interval for each")
        best = best_sample_size(len(domains), self.epsilon)
        self.sample = best if sample is None else check_whole(sample, "sample")
        if self.sample > len(domains):
            raise InvalidParameterError(
                f"sample={sample} is more than the {len(domains)} attributes there are"
            )
        kind = numeric_class(mechanism)
        self.mechanisms: tuple[NumericMechanism, ...] = tuple(
            kind.make(domain, epsilon=self.part, **parameters) for domain in domains
        )

    @property
    def part(self) -> float:
        """The epsilon of one report: so large that `sample` of them do not exceed epsilon."""
        return allot(self.epsilon, self.sample)

    def exact_epsilon(self) -> float:
        """Return the realised epsilon of a person: the sum over the costliest attributes, rounded up."""
        cost = Ledger((self.record(),)).cost()
        assert cost is not None
        return cost.epsilon

    def record(self) -> Questions:
        """Return what a person reports, for a ledger."""
        return Questions(tuple(map(Report, self.mechanisms)), self.sample)

    def privatize(self, values: object, *, rng: RandomSource | None = None) -> list[Reports]:
        """Return the reports on each attribute, of the people who were drawn for it.

        Parameters
        ----------
        values : array, shape (n, attributes)
            A row for each person.
        rng : RandomSource, optional
            Secure by default.
        """
        table = np.array(values, float)
        if table.ndim != 2 or table.shape[1] != len(self.mechanisms) or len(table) == 0:
            raise InvalidInputError(
                f"values have a row a person and {len(self.mechanisms)} columns, got shape {table.shape}"
            )
        for column, mechanism in zip(table.T, self.mechanisms, strict=True):
            mechanism.domain.check(column)  # before any randomness is drawn
        source = resolve(rng)
        drawn = draw_questions(len(table), len(self.mechanisms), self.sample, source)
        streams = source.spawn(len(self.mechanisms))
        return [
            mechanism.privatize(column[chosen], rng=stream)
            if chosen.any()
            else np.empty(0, mechanism.report_dtype)
            for mechanism, column, chosen, stream in zip(
                self.mechanisms, table.T, drawn.T, streams, strict=True
            )
        ]

    def tally(self, reports: Sequence[Reports]) -> list[NumericTally]:
        """Return a tally for each attribute. Tallies of an attribute add; `estimate` takes them."""
        if len(reports) != len(self.mechanisms):
            raise InvalidInputError(
                f"there are {len(self.mechanisms)} attributes, got reports on {len(reports)}"
            )
        return [mechanism.tally(each) for mechanism, each in zip(self.mechanisms, reports, strict=True)]

    def estimate(self, tallies: Sequence[NumericTally], *, population: bool = False) -> list[NumericEstimate]:
        """Return the mean of each attribute, with errors about all people.

        Only `sample` of the attributes of a person were reported, drawn at random: the errors
        and intervals include that an attribute's mean comes from some of the people. (A
        tally's own `estimate` is about those who reported the attribute.)

        Parameters
        ----------
        tallies : sequence of Tally
            One for each attribute, of all people together.
        population : bool
            True: about the population that all people were drawn from.

        Examples
        --------
        >>> import ldpkit
        >>> survey = SampledAttributes("pm", [(0, 1), (0, 100)], epsilon=2.0)
        >>> data = np.tile([0.5, 30.0], (3000, 1))
        >>> tallies = survey.tally(survey.privatize(data, rng=ldpkit.random.seeded(1)))
        >>> [each.whose for each in survey.estimate(tallies)]
        ['all 3000 people', 'all 3000 people']
        """
        if [tally.mechanism for tally in tallies] != list(self.mechanisms):
            raise InvalidInputError(f"the tallies do not match {self!r}: give one for each attribute")
        people, rest = divmod(sum(tally.n for tally in tallies), self.sample)
        if rest or max(tally.n for tally in tallies) > people:
            raise InvalidInputError(
                f"everybody reports {self.sample} of the attributes, so the numbers of reports, "
                f"{', '.join(str(tally.n) for tally in tallies)}, are incomplete: add all tallies first"
            )
        for index, tally in enumerate(tallies):
            if tally.n == 0:
                raise InvalidInputError(
                    f"none of the {people} people reported attribute {index}: collect from more people"
                )
        return [tally.estimate(population=population, people=people) for tally in tallies]

    def variance(self, values: Sequence[float] | Floats, n: int) -> Floats:
        """Return the variance of each estimated mean if all n people hold the same given values.

        Sampling people adds nothing then: what is left is the noise of k n / d reports.
        """
        reports = check_people(n) * self.sample / len(self.mechanisms)
        each = [mechanism.variance(value) for mechanism, value in zip(self.mechanisms, values, strict=True)]
        return np.array(each) / reports

    def __repr__(self) -> str:
        count, inner = len(self.mechanisms), self.mechanisms[0].name
        return f"SampledAttributes({inner!r}, {self.sample} of {count} attributes, epsilon={self.epsilon:g})"
