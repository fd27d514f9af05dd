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

import contextlib
import hashlib
import hmac
import os
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.forks import importing, process

if TYPE_CHECKING:
    from ldpkit.core.typing import Bytes, Words

__all__ = ["RandomSource", "resolve", "secure", "seeded", "streams"]

Array: TypeAlias = np.ndarray[Any, Any]

_KEY_BYTES = 32
_BLOCK = 1 << 21  # encrypted at a time; untouched zeros are one page, so they cost no memory
_OVERHANG = 15  # the cipher asks for one block less a byte of room behind its output
_ZEROS = bytes(_BLOCK)

_is_loaded = False  # whether a cipher was made: the first one imports much as it is made
_RENEWAL = threading.Lock()  # so that the threads of a child agree on its streams


def _enter_child() -> None:
    global _RENEWAL
    _is_loaded = False  # whether a cipher was made: the first one imports much as it is made


_RENEWAL = threading.Lock()  # nobody is left to release the old one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_enter_child)


class _Stream:
    """The bytes of one key from some position on, within one process: AES-256 in counter mode."""

    def __init__(self, key: bytes, position: int = 0) -> None:
        self.key, self.position, self.process = key, position, process()
        self._lock = threading.Lock()
        self._cipher: Any = None  # made by the thread that draws first

    def take(self, count: int) -> Bytes:
        buffer = np.empty(count + _OVERHANG, np.uint8)
        view: memoryview = buffer.data
        with self._lock:
            if self._cipher is None:
                self._cipher = _cipher_at(self.key, self.position)
            # First, so that a child forked now goes on behind these bytes. The cipher itself
            # works without the interpreter's lock, so a fork can find it half done.
            self.position += count
            for start in range(0, count, _BLOCK):
                size = min(_BLOCK, count - start)
                self._cipher.update_into(memoryview(_ZEROS)[:size], view[start:])
        return buffer[:count]


def _cipher_at(key: bytes, position: int) -> Any:
    """Return the cipher that gives the bytes of a key from a position on."""
    global _is_loaded
    # Only for the first: a signal handler that waits for a lock while this one is held could wait for ever.
    with contextlib.nullcontext() if _is_loaded else importing:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        counter, rest = divmod(position, 16)
        cipher = Cipher(algorithms.AES(key), modes.CTR(counter.to_bytes(16, "big"))).encryptor()
        _is_loaded = True
    cipher.update(bytes(rest))
    return cipher


class RandomSource:
    """A stream of random words: AES-256 in counter mode.

    Make one with `secure` or `seeded`. It is safe to share between threads; children
    made by `spawn` are independent streams, one for each thread or chunk of work. A
    secure source that finds itself in a forked process takes a new key, so that parent
    and child never share a stream; a seeded one goes on where it was. Neither waits for
    a thread that the child does not have.
    """

    def __init__(self, key: bytes, *, is_secure: bool) -> None:
        if len(key) != _KEY_BYTES:
            raise InvalidParameterError(f"a random source needs a key of 32 bytes, got {len(key)}")
        self._is_secure = is_secure
        self._stream = _Stream(key)

    def _own(self) -> _Stream:
        """Return the stream of this process: after a fork, a new one with a lock of its own."""
        if self._stream.process != process():
            with _RENEWAL:
                old = self._stream
                if old.process != process():  # another thread of the child may have been faster
                    self._stream = (
                        _Stream(os.urandom(_KEY_BYTES)) if self.is_secure else _Stream(old.key, old.position)
                    )
        return self._stream

    @property
    def is_secure(self) -> bool:
        """Whether the operating system chose the key; it stays what it is."""
        return self._is_secure

    def bytes(self, count: int) -> Bytes:
        """Return `count` random bytes as an array of uint8."""
        if count < 0:
            raise InvalidParameterError(f"a number of random bytes must not be negative, got {count}")
        return self._own().take(count)

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
        key = hmac.digest(self._own().key, label.encode(), "sha256")
        return RandomSource(key, is_secure=self.is_secure)

    def generator(self) -> np.random.Generator:
        """Return a NumPy generator keyed from this source, for simulating aggregates.

        It serves statistical simulation only; a report is never made with it. It is NumPy's
        and knows nothing of forks: make it in the process that uses it.
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


def streams(pieces: Iterable[Array], size: int, source: RandomSource) -> Iterator[tuple[Array, RandomSource]]:
    """Yield the items of some arrays in arrays of one size, each with a random stream of its own.

    The last may be shorter. Chunks and streams are the same however the items come in pieces.

    Examples
    --------
    >>> [chunk.tolist() for chunk, _ in streams([np.arange(3), np.arange(4)], 5, seeded(1))]
    [[0, 1, 2, 0, 1], [2, 3]]
    """
    waiting, length = list[Array](), 0
    for array in pieces:
        waiting.append(array)
        length += len(array)
        if length >= size:
            joined = np.concatenate(waiting)
            whole = length - length % size
            for start in range(0, whole, size):
                yield joined[start : start + size], source.spawn(1)[0]
            waiting, length = [joined[whole:]], length - whole
    if length:
        yield np.concatenate(waiting), source.spawn(1)[0]
