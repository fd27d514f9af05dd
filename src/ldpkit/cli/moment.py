"""The moment that an output states: now, or the one that SOURCE_DATE_EPOCH fixes.

The variable is the convention of reproducible builds: with it, the same command writes the same
bytes whenever it runs.
"""

from __future__ import annotations

import datetime
import os

from ldpkit.core.errors import InvalidParameterError

__all__ = ["VARIABLE", "moment"]

VARIABLE = "SOURCE_DATE_EPOCH"
"""The variable of the environment: whole seconds since the beginning of 1970."""

_LAST = int(datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC).timestamp())


def moment() -> datetime.datetime:
    """Return the moment to state, or refuse a variable that names none.

    Examples
    --------
    >>> os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    >>> print(moment())
    2023-11-14 22:13:20+00:00
    >>> os.environ["SOURCE_DATE_EPOCH"] = "yesterday"
    >>> moment()
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: SOURCE_DATE_EPOCH is a number of whole seconds since 1970 \
until the year 9999, such as 1700000000, got 'yesterday': mend or unset it
    >>> del os.environ["SOURCE_DATE_EPOCH"]
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return datetime.datetime.now(datetime.UTC)
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(_LAST))
    if not is_number or int(text) > _LAST:
        raise InvalidParameterError(
            f"{VARIABLE} is a number of whole seconds since 1970 until the year 9999, such as 1700000000, "
            f"got {text[:50]!r}: mend or unset it"
        )
    return datetime.datetime.fromtimestamp(int(text), datetime.UTC)
