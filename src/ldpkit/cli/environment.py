"""Variables of the environment that libraries read as they are imported: put right before that."""

from __future__ import annotations

import os

from ldpkit.cli.moment import VARIABLE, moment

__all__ = ["settle_environment"]


def settle_environment() -> None:
    """Refuse a moment that is none before a library fails at it, and let figures need no window.

    Examples
    --------
    >>> os.environ["SOURCE_DATE_EPOCH"] = ""
    >>> settle_environment()
    >>> "SOURCE_DATE_EPOCH" in os.environ, os.environ["MPLBACKEND"]
    (False, 'agg')
    """
    if not os.environ.get(VARIABLE, "").strip():
        os.environ.pop(VARIABLE, None)  # empty means unset, but NumPy takes it for a number
    moment()
    os.environ["MPLBACKEND"] = "agg"  # matplotlib cannot even be imported with one that it does not know
