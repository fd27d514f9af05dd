"""What an adversary believes and asks, and what it achieves: the prior, the limit, and one record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ldpkit.assurance.adversary.words import guess_in_words, in_words
from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.results import Result
from ldpkit.core.typing import Floats

__all__ = ["Risk", "are_numbers", "blind_guess", "check_amounts", "check_eta", "check_prior"]


@dataclass(frozen=True)
class Risk(Result):
    """What the adversary achieves.

    Parameters
    ----------
    mechanism, name : str
        The mechanism: its printed form and its name.
    epsilon : float
        What all reports together cost, exactly.
    reports : int
        How many reports the adversary sees.
    success : float
        The attack success rate (ASR): how often the guess is right.
    success_stderr : float
        Its standard error; 0 if it is exact.
    blind : float
        How often the guess is right without any report.
    squared_error, blind_squared_error : float or None
        The mean squared distance of the guess from the value, with and without a report;
        None where values are no numbers.
    eta : float or None
        Where the question is whether the value is at most eta:
    precision, recall, f_score : float or None
        of the guess, as an answer to that. Precision is None if it never says yes.
    how : {"exact", "simulated"}
        Where the numbers come from.
    truthful, otherwise : float or None
        How often a report supports the person's own value, and any other one.
    knows_partner : bool
        Whether people report in pairs, and the adversary knows the partner's value and report.
    uniform : bool
        Whether all values are equally likely beforehand.
    hashed : bool
        Whether a report names a set of values by a hash function, so that it shows no single one.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.risk("grr", epsilon=1, domain=10)[0]
    >>> isinstance(found, Risk), round(found.success, 3)
    (True, 0.232)
    """

    mechanism: str
    name: str
    epsilon: float
    reports: int
    success: float
    success_stderr: float
    blind: float
    squared_error: float | None
    blind_squared_error: float | None
    eta: float | None
    precision: float | None
    recall: float | None
    f_score: float | None
    how: Literal["exact", "simulated"]
    truthful: float | None
    otherwise: float | None
    knows_partner: bool = False
    uniform: bool = False
    hashed: bool = False

    kind: ClassVar[str] = "risk"

    @property
    def gain(self) -> float:
        """How many times as often the guess is right as without a report."""
        return self.success / self.blind if self.blind else math.inf

    def answer(self, unit: str = "") -> str:
        """Return how often a guess is right, as a sentence."""
        return guess_in_words(self)

    @property
    def title(self) -> str:
        """The title above the table."""
        what = "a report" if self.reports == 1 else f"{self.reports} reports"
        return f"An adversary who guesses the value behind {what} of {self.mechanism}"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        about = (
            ""
            if self.eta is None
            else f"; precision, recall, f_score: of 'the value is at most {self.eta:g}'"
        )
        return (
            "success: how often the guess is right; blind: without a report; "
            f"epsilon: of all reports together{about}"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return the one record."""
        row: dict[str, Any] = {
            "mechanism": self.name,
            "epsilon": self.epsilon,
            "success": self.success,
            "stderr": self.success_stderr,
            "blind": self.blind,
            "gain": self.gain,
            "squared_error": self.squared_error,
            "blind_squared_error": self.blind_squared_error,
        }
        if self.eta is not None:
            row |= {"precision": self.precision, "recall": self.recall, "f_score": self.f_score}
        return [row | {"reports": self.reports, "how": self.how}]

    def about(self) -> dict[str, Any]:
        """Return the mechanism, and how often its reports tell the truth."""
        return {
            "mechanism": self.mechanism,
            "eta": self.eta,
            "truthful": self.truthful,
            "otherwise": self.otherwise,
            "knows_partner": self.knows_partner,
            "uniform": self.uniform,
        }

    def notes(self) -> list[str]:
        """Return what the numbers mean, sentence by sentence."""
        return in_words(self)


def blind_guess(prior: Floats, people: Floats, amounts: Floats) -> tuple[float, float]:
    """Return how often the likeliest value is right, and its mean squared error, without any report."""
    best = prior == prior.max()
    centred = amounts - amounts[best].mean()
    return float(people[best].mean()), float(people @ centred**2) + float((centred[best] ** 2).mean())


def check_prior(prior: object, size: int, name: str = "prior") -> Floats:
    """Return frequencies that sum to one, from frequencies, counts or None for uniform."""
    if prior is None:
        return np.full(size, 1 / size)
    try:
        array = np.asarray(prior, float)
    except (TypeError, ValueError):
        raise InvalidInputError(f"the {name} must be numbers, one for each of {size} values") from None
    if array.shape != (size,):
        raise InvalidInputError(
            f"the {name} must have a number for each of {size} values, got shape {array.shape}"
        )
    if not np.isfinite(array).all() or (array < 0).any() or array.sum() <= 0:
        raise InvalidInputError(f"the {name} must be finite, not negative, and not all zero")
    return np.asarray(array / array.sum())


def are_numbers(domain: CategoricalDomain) -> bool:
    """Whether the values of a domain are numbers, or places without labels."""
    return not domain.has_labels or all(
        isinstance(label, (int, float)) and not isinstance(label, bool) for label in domain.labels
    )


def check_amounts(amounts: object, domain: CategoricalDomain) -> Floats:
    """Return the number that each value stands for: by default its label, or else its place."""
    labels = list(domain.labels)
    if amounts is None:
        return np.asarray(labels if are_numbers(domain) else range(len(labels)), float)
    array = np.asarray(amounts, float)
    if array.shape != (len(labels),) or not np.isfinite(array).all():
        raise InvalidInputError(f"amounts must be {len(labels)} finite numbers, one for each value")
    return array


def check_eta(eta: float | None) -> float:
    """Return the limit that is asked about; below all numbers where there is none."""
    if eta is None:
        return -math.inf
    if isinstance(eta, bool) or not isinstance(eta, (int, float, np.number)) or not math.isfinite(eta):
        raise InvalidParameterError(f"eta must be a finite number, got {eta!r}")
    return float(eta)
