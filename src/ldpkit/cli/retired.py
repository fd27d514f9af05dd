"""Spellings of earlier versions: they are refused, and the refusal says what to write now."""

from __future__ import annotations

from collections.abc import Sequence

from ldpkit.core.errors import InvalidParameterError

__all__ = ["RETIRED", "refuse_retired"]

_PROTOCOLS = {"--protocol": "--mechanism", "--dataset": "--data"}
_OUTPUT = {"--out": "--output"}
_MECHANISM = {"-m": "-p"}
_ESTIMATOR = {"--method": "--estimator"}
_SEARCH = {"--method": "--search", "-m": "--search"}
_REPORTS = {"-n": "--reports"}

RETIRED: dict[str, dict[str, str]] = {
    "audit": _REPORTS,
    "bench": {**_PROTOCOLS, **_OUTPUT, "--method": "--consistency"},
    "datasets": _OUTPUT,
    "density": {**_MECHANISM, **_ESTIMATOR},
    "estimate": _ESTIMATOR,
    "longitudinal": {**_MECHANISM, **_REPORTS, "--repeats": "--devices"},
    "mean": _MECHANISM,
    "plan": {**_PROTOCOLS, **_SEARCH, "--step": "--tolerance"},
    "privatize": _MECHANISM,
    "recommend": {**_PROTOCOLS, "--k": "--domain"},
    "reproduce": _OUTPUT,
    "risk": {**_PROTOCOLS, **_MECHANISM, **_REPORTS},
}
"""For each command, what an option was called, and what it is called now."""


def refuse_retired(command: str, words: Sequence[str]) -> None:
    """Refuse the first word that is an old spelling of an option.

    Examples
    --------
    >>> refuse_retired("risk", ["-p", "grr", "--dataset=water.csv"])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: --dataset is now called --data: write 'ldpkit risk --data ...'
    """
    names = RETIRED.get(command, {})
    for word in words:
        if word == "--":
            return
        old = word.partition("=")[0] if word.startswith("--") else word[:2]
        if old in names:
            raise InvalidParameterError(
                f"{old} is now called {names[old]}: write 'ldpkit {command} {names[old]} ...'"
            )
