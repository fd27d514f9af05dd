"""The one source of randomness: 64-bit words from a stream cipher.

`secure()` keys the cipher from the operating system and is what every mechanism uses
unless told otherwise. `seeded(seed)` keys it from a seed, for tests and experiments.
Both run the same code at the same speed, and the words are the same on every platform.

Examples
--------
>>> from ldpkit.core import random
>>> random.seeded(7).words(2).tolist() == random.seeded(7).words(2).tolist()
True
>>> random.secure().is_secure, random.seeded(7).is_secure
(True, False)
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.typing import Bytes, Words

__all__ = ["RandomSource", "resolve", "secure", "seeded"]

_KEY_BYTES = 32
_BLOCK = 1 << 21  # encrypted at a time; untouched zeros are one page, so they cost no memory
_OVERHANG = 15  # the cipher asks for one block less a byte of room behind its output
_ZEROS = bytes(_BLOCK)


class RandomSource:
    """A stream of random words: AES-256 in counter mode.

    Make one with `secure` or `seeded`. It is safe to share between threads; children
    made by `spawn` are independent streams, one for each thread or chunk of work. A
    secure source that finds itself in a forked process takes a new key, so that parent
    and child never share a stream.
    """

    def __init__(self, key: bytes, *, is_secure: bool) -> None:
        if len(key) != _KEY_BYTES:
            raise InvalidParameterError(f"a random source needs a key of 32 bytes, got {len(key)}")
        self.is_secure = is_secure
        self._lock = threading.Lock()
        self._start(key)

    def _start(self, key: bytes) -> None:
        self._key, self._process = key, os.getpid()
        self._cipher: Any = None  # made by the thread that draws first

    def _encrypt(self, zeros: memoryview, out: memoryview) -> None:
        if self._cipher is None:
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

            self._cipher = Cipher(algorithms.AES(self._key), modes.CTR(bytes(16))).encryptor()
        self._cipher.update_into(zeros, out)

    def _leave_parent(self) -> None:
        """Take a new key in a forked process, where the old one is the parent's too."""
        if self.is_secure and self._process != os.getpid():
            self._start(os.urandom(_KEY_BYTES))

    def bytes(self, count: int) -> Bytes:
        """Return `count` random bytes as an array of uint8."""
        if count < 0:
            raise InvalidParameterError(f"a number of random bytes must not be negative, got {count}")
        buffer = np.empty(count + _OVERHANG, np.uint8)
        view: memoryview = buffer.data
        with self._lock:
            self._leave_parent()
            for start in range(0, count, _BLOCK):
                size = min(_BLOCK, count - start)
                self._encrypt(memoryview(_ZEROS)[:size], view[start:])
        return buffer[:count]

    def words(self, count: int) -> Words:
        """Return `count` random 64-bit words.

        Examples
        --------
        >>> [hex(word) for word in seeded(0).words(2)]
        ['0x9a700edb636a5004', '0xf6b883b2a4022406']
        """
        return self.bytes(8 * count).view("<u8").astype(np.uint64, copy=False)

    def spawn(self, count: int) -> list[RandomSource]:
        """Return `count` independent sources, keyed from this one."""
        keys = self.bytes(_KEY_BYTES * count).tobytes()
        return [
            RandomSource(keys[start : start + _KEY_BYTES], is_secure=self.is_secure)
            for start in range(0, len(keys), _KEY_BYTES)
        ]

    def derive(self, label: str) -> RandomSource:
        """Return the independent source that belongs to a label, whatever was drawn before.

        An experiment gives each of its cells a label, so that a cell has the same
        numbers whichever other cells are run, in whatever order.

        Examples
        --------
        >>> seeded(1).derive("a").words(1) == seeded(1).derive("a").words(1)
        array([ True])
        """
        with self._lock:
            self._leave_parent()
        key = hmac.digest(self._key, label.encode(), "sha256")
        return RandomSource(key, is_secure=self.is_secure)

    def generator(self) -> np.random.Generator:
        """Return a NumPy generator keyed from this source, for simulating aggregates.

        It serves statistical simulation only; a report is never made with it.
        """
        entropy = int.from_bytes(self.bytes(_KEY_BYTES).tobytes(), "little")
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy)))

    def __repr__(self) -> str:
        return f"<RandomSource {'secure' if self.is_secure else 'seeded'}>"

    def __reduce__(self) -> Any:
        raise TypeError("a random source cannot be pickled: two copies would give the same words")


def secure() -> RandomSource:
    """Return a new source keyed from the operating system; nothing can repeat it."""
    return RandomSource(os.urandom(_KEY_BYTES), is_secure=True)


def seeded(seed: int) -> RandomSource:
    """Return the source that a seed stands for; equal seeds give equal words everywhere.

    Use it for tests and experiments. Reports made from a known seed protect nobody.

    Parameters
    ----------
    seed : int
        Any non-negative integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InvalidParameterError(f"a seed must be a non-negative integer, got {seed!r}")
    digest = hashlib.sha256(b"ldpkit seed " + str(int(seed)).encode()).digest()
    return RandomSource(digest, is_secure=False)


def resolve(rng: RandomSource | None) -> RandomSource:
    """Return the given source, or a new secure one for None."""
    if rng is None:
        return secure()
    if isinstance(rng, RandomSource):
        return rng
    raise InvalidParameterError(
        f"rng must be ldpkit.random.secure() or ldpkit.random.seeded(seed), got {type(rng).__name__}"
    )
