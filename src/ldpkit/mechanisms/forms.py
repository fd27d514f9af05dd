"""What a mechanism says to a device: the form of its sampler and the integers, ready for JSON.

Integers of 64 bits are decimal strings, because JavaScript rounds large numbers; sizes and counts
are numbers. `ldpkit.client.samplers` reads these forms, and so does every other client.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ldpkit.client.samplers import LARGEST_TABLE
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.exact import RandomisedResponse

__all__ = ["check_table", "response_words", "word_rows", "words"]


def words(integers: Iterable[Any]) -> list[str]:
    """Return integers of 64 bits as a form has them.

    Examples
    --------
    >>> words([1, 2**63])
    ['1', '9223372036854775808']
    """
    return [str(int(integer)) for integer in integers]


def response_words(response: RandomisedResponse) -> dict[str, str]:
    """Return the integers of one round of randomised response."""
    return {"keep": str(response.keep), "width": str(response.width)}


def word_rows(rows: Sequence[Sequence[Any]], who: object) -> list[list[str]]:
    """Return a table of weights, or refuse one that is too large for a collection file."""
    check_table(len(rows) * len(rows[0]), who)
    return [words(row) for row in rows]


def check_table(integers: int, who: object) -> None:
    """Refuse a table that is too large to be sent to every device."""
    if integers > LARGEST_TABLE:
        raise InvalidParameterError(
            f"{who!r} is a table of {integers:,} integers, and a collection file has at most "
            f"{LARGEST_TABLE:,} for a question: use fewer intervals, cells or places, another epsilon, or a "
            "mechanism without a table"
        )
