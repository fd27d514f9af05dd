"""What counts say of a probability: the exact limits of Clopper and Pearson."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_fraction

__all__ = ["binomial_interval", "highest_chance", "lowest_chance"]


def lowest_chance(successes: Any, runs: Any, error: float) -> Any:
    """Return the least probability that counts leave open; the true one is below it with `error` at most.

    Parameters
    ----------
    successes, runs : number or array
        How many of the runs succeeded; fractions are taken as they are.
    error : float
        How likely the limit may be wrong.

    Examples
    --------
    >>> lowest_chance(0, 10, 0.025), round(lowest_chance(9, 10, 0.025), 4)
    (0.0, 0.555)
    >>> lowest_chance(np.array([0, 5, 10]), 10, 0.025).round(3).tolist()
    [0.0, 0.187, 0.692]
    """
    from scipy.special import betaincinv

    good, bad = np.asarray(successes, float), np.asarray(runs, float) - successes
    limit = np.where(good > 0, betaincinv(np.where(good > 0, good, 1.0), bad + 1, error), 0.0)
    return limit if limit.ndim else float(limit)


def highest_chance(successes: Any, runs: Any, error: float) -> Any:
    """Return the largest probability that counts leave open; the true one is above it with `error` at most.

    Parameters
    ----------
    successes, runs, error
        As `lowest_chance` takes them.

    Examples
    --------
    >>> highest_chance(10, 10, 0.025), round(highest_chance(1, 10, 0.025), 4)
    (1.0, 0.445)
    """
    from scipy.special import betaincinv

    # Not 1 - lowest_chance of the failures: a small probability would lose its digits.
    good, bad = np.asarray(successes, float), np.asarray(runs, float) - successes
    limit = np.where(bad > 0, betaincinv(good + 1, np.where(bad > 0, bad, 1.0), 1 - error), 1.0)
    return limit if limit.ndim else float(limit)


def binomial_interval(successes: Any, runs: int, level: float = 0.95) -> tuple[Any, Any]:
    """Return the interval of a probability; it covers with at least `level`, always.

    Parameters
    ----------
    successes : int or array of int
        How many of the runs succeeded.
    runs : int
        How many there were.
    level : float
        The coverage.

    Examples
    --------
    >>> tuple(round(end, 4) for end in binomial_interval(90, 100))
    (0.8238, 0.951)
    >>> binomial_interval(0, 10)[0], binomial_interval(10, 10)[1]
    (0.0, 1.0)
    """
    error = (1 - check_fraction(level, "level")) / 2
    if runs < 1 or np.any(np.less(successes, 0)) or np.any(np.greater(successes, runs)):
        raise InvalidParameterError(f"{successes} of {runs} runs cannot succeed")
    return lowest_chance(successes, runs, error), highest_chance(successes, runs, error)
