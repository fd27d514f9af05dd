"""Where reports do not tell values apart, and nobody who estimates from them can."""

from __future__ import annotations

import warnings
from typing import Literal

from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["UnidentifiedWarning", "warn_unidentified"]

_BETTER = {"pm": "for a mean use pm or hm", "sw": "for a distribution use sw"}


class UnidentifiedWarning(UserWarning):
    """Reports have the same distribution for values that differ, so no number of them tells these apart.

    Examples
    --------
    >>> import warnings, ldpkit
    >>> ogpm = ldpkit.OGPM((0, 100), epsilon=1)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = ogpm.tally(ogpm.privatize([1.0] * 100)).estimate()
    >>> told[0].category is UnidentifiedWarning
    True
    """


def warn_unidentified(mechanism: NumericMechanism, better: Literal["pm", "sw"]) -> None:
    """Warn, with the numbers, if a mechanism has the same distribution of reports for values that differ.

    Examples
    --------
    >>> import ldpkit
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn_unidentified(ldpkit.OGPM((0, 100), epsilon=1), "pm")
    >>> print(told[0].message)
    reports of OGPM((0, 100), epsilon=1, power=1) have the same distribution for all values from 0 to 18.877 \
and for all from 81.123 to 100: neither their mean nor their distribution within can be estimated, however \
many people report; for a mean use pm or hm
    """
    stretches = mechanism.indistinct
    if not stretches:
        return
    named = " and for all ".join(f"from {low:.5g} to {high:.5g}" for low, high in stretches)
    warnings.warn(
        f"reports of {mechanism!r} have the same distribution for all values {named}: neither their mean nor "
        f"their distribution within can be estimated, however many people report; {_BETTER[better]}",
        UnidentifiedWarning,
        stacklevel=5,
    )
