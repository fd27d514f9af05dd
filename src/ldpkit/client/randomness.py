"""Random bytes for single reports: from the system, from a key, or given.

A sampler asks for its bytes with a function `take(count)`. A stream hands out the bytes of AES-256
in counter mode; coins and permanent reports are made from streams, each with the key of its label.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

from ldpkit.core.errors import InvalidInputError, InvalidParameterError

__all__ = ["Take", "fixed_bytes", "key_stream", "secure_bytes"]

Take: TypeAlias = Callable[[int], bytes]
"""What gives the next so many random bytes."""

_KEY_BYTES = 32


def secure_bytes(count: int) -> bytes:
    """Return new random bytes of the operating system.

    Examples
    --------
    >>> len(secure_bytes(3))
    3
    """
    return os.urandom(count)


def key_stream(key: bytes) -> Take:
    """Return what hands out the bytes of a key: AES-256 in counter mode from a counter of zero.

    Examples
    --------
    >>> take = key_stream(bytes(32))
    >>> take(2).hex(), take(6).hex()
    ('dc95', 'c078a2408989')
    """
    if len(key) != _KEY_BYTES:
        raise InvalidParameterError(f"a stream needs a key of 32 bytes, got {len(key)}")
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return lambda count: cipher.update(bytes(count))


class fixed_bytes:  # noqa: N801 - a function that remembers how far it is
    """Hand out given bytes, for tests and golden vectors: who knows them can undo the report.

    Examples
    --------
    >>> take = fixed_bytes(b"abc")
    >>> take(2), take.used, take(2)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidInputError: 2 more random bytes are needed where 1 are left of 3
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.used = data, 0

    def __call__(self, count: int) -> bytes:
        """Return the next so many bytes."""
        left = len(self.data) - self.used
        if count > left:
            raise InvalidInputError(
                f"{count} more random bytes are needed where {left} are left of {len(self.data)}"
            )
        self.used += count
        return self.data[self.used - count : self.used]
