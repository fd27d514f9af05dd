"""How far off the answer to a question will be, before anybody is asked.

Everything is a standard error in closed form: of the share of a value, of a mean, of a mean
direction. Where chance decides who answers a question, that is part of it.
"""

from __future__ import annotations

import math

from ldpkit.core.errors import InvalidParameterError
from ldpkit.estimation.margins import normal_deviations
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.kinds import is_circular, is_frequency, is_numeric
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.planning.mean.variance import report_variance

__all__ = ["RESULTANT", "expected_error"]

RESULTANT = 0.5
"""How strongly values on a circle are taken to prevail in one direction, from 0 to 1."""

_LEVEL = 0.95


def expected_error(mechanism: Mechanism, reports: float, people: float) -> float:
    """Return the half of a 95% interval for the answer, in the unit of the answer.

    For categories it is about the share of a value that is as frequent as the others; for a
    mean it holds for any numbers; for a direction the values have a resultant length of 0.5.

    Parameters
    ----------
    mechanism : Mechanism
        What makes the reports.
    reports : float
        How many of the people answer the question.
    people : float
        How many there are.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(4, epsilon=1.0)
    >>> round(expected_error(oracle, 10_000, 10_000), 4), round(expected_error(oracle, 10_000, 60_000), 4)
    (0.0269, 0.028)
    """
    if is_frequency(mechanism):
        variance = _share_variance(mechanism, reports, people)
    elif is_numeric(mechanism):
        variance = _mean_variance(mechanism, reports, people)
    elif is_circular(mechanism):
        variance = _direction_variance(mechanism, reports, people)
    else:
        raise InvalidParameterError(
            f"{mechanism.name} is for locations, whose map has no single error: plan it with "
            "'ldpkit trajectory recommend', and the other questions without it"
        )
    return normal_deviations(_LEVEL) * math.sqrt(variance)


def _drawn(reports: float, people: float) -> float:
    """Return the part of a value's variance that is due to who was drawn to answer."""
    return 1 / reports - 1 / people


def _share_variance(mechanism: FrequencyOracle, reports: float, people: float) -> float:
    share = 1 / mechanism.size
    return mechanism.variance(share, 1) / reports + share * (1 - share) * _drawn(reports, people)


def _mean_variance(mechanism: NumericMechanism, reports: float, people: float) -> float:
    """Return the largest variance of a mean: if all hold the worst number, or half of them each end."""
    domain = mechanism.domain
    line = mechanism.line
    slope = 1.0 if line is None else float(line[1])
    ends = (mechanism.variance(domain.low) + mechanism.variance(domain.high)) / 2 / slope**2
    apart = ends / reports + domain.width**2 / 4 * _drawn(reports, people)
    return max(report_variance(mechanism) / reports, float(apart))


def _direction_variance(mechanism: CircularMechanism, reports: float, people: float) -> float:
    """Return the variance of a mean direction of values that are spread like a wrapped normal law."""
    second = RESULTANT**4  # the resultant length of twice the angle
    noise = (1 - mechanism.resultant(2) * second) / 2 - mechanism.resultant(1) ** 2 * (1 - second) / 2
    drawn = mechanism.resultant(1) ** 2 * (1 - second) / 2
    across = noise / reports + drawn * _drawn(reports, people)
    turn = across / (RESULTANT * mechanism.resultant(1)) ** 2
    return turn * (mechanism.domain.period / (2 * math.pi)) ** 2
