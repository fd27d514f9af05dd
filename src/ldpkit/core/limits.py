"""How much memory a file may ask for, so that a small file cannot fill a machine.

What a file needs can be far larger than the file: a header of a hundred bytes names a
domain of 2**26 values, and packed text unpacks to a thousand times its length. The need
is compared with a limit before memory is taken: 256 MiB, or 64 times the length of the
file where that is more; text in a .gz file may be 64 times as long as the file, and takes up to 16
bytes of memory for each of its own. A part of a Parquet file unpacks to no more than the limit, and whole
columns of it take no more. `LDPKIT_MEMORY` in the environment raises it, for files one trusts.
The same limit holds for what a few characters ask for, such as "gaussian:n=100000000".
"""

from __future__ import annotations

import os

from ldpkit.core.errors import InvalidInputError, InvalidParameterError

__all__ = ["MOST_REPEATS", "VARIABLE", "allowed_memory", "check_memory", "check_request"]

VARIABLE = "LDPKIT_MEMORY"
"""The variable of the environment that raises the limit, such as 4G or 500M."""

MOST_REPEATS = 1_000_000
"""So many collections are simulated at most: their mean is then as exact as anybody needs."""

_DEFAULT = 1 << 28
_TIMES = 64  # so many times its own length, a file may take: text and reports of real collections take less
_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def allowed_memory(length: int) -> int:
    """Return how many bytes of memory a file of some length may take.

    Examples
    --------
    >>> allowed_memory(100) == 1 << 28, allowed_memory(1 << 30) == 1 << 36
    (True, True)
    """
    return max(_limit(), _TIMES * length)


def check_memory(needed: int, length: int, what: str) -> None:
    """Refuse work on a file that takes far more memory than the file's length gives reason for.

    Parameters
    ----------
    needed : int
        The bytes that the work takes.
    length : int
        The length of the file.
    what : str
        The work, for the message.

    Examples
    --------
    >>> check_memory(3 << 30, 183, "counting 'a.ldp'")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidInputError: counting 'a.ldp' takes 3072 MiB of memory, a file of 183 bytes \
may take 256: if you trust the file, set LDPKIT_MEMORY=3072M
    """
    allowed = allowed_memory(length)
    if needed > allowed:
        megabytes = -(-needed >> 20)
        raise InvalidInputError(
            f"{what} takes {megabytes} MiB of memory, a file of {length} bytes may take {allowed >> 20}: "
            f"if you trust the file, set {VARIABLE}={megabytes}M"
        )


def check_request(needed: int, what: str) -> None:
    """Refuse work that takes more memory than is allowed for, before any of it is taken.

    Parameters
    ----------
    needed : int
        The bytes that the work takes.
    what : str
        The work, for the message.

    Examples
    --------
    >>> check_request(6 << 30, "a simulation of 100000000 people")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: a simulation of 100000000 people takes 6144 MiB of memory, \
the limit is 256: ask for fewer, or set LDPKIT_MEMORY=6144M
    """
    allowed = _limit()
    if needed > allowed:
        megabytes = -(-needed >> 20)
        raise InvalidParameterError(
            f"{what} takes {megabytes} MiB of memory, the limit is {allowed >> 20}: "
            f"ask for fewer, or set {VARIABLE}={megabytes}M"
        )


def _limit() -> int:
    text = os.environ.get(VARIABLE, "").strip().upper()
    if not text:
        return _DEFAULT
    number, unit = (text[:-1], text[-1]) if text[-1] in _UNITS else (text, "")
    if not (number.isascii() and number.isdecimal() and len(number) <= 18):
        raise InvalidParameterError(f"{VARIABLE} is a number of bytes such as 500M or 4G, got {text[:50]!r}")
    return int(number) << _UNITS.get(unit, 0)
