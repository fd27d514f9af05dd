"""What a device makes from the integers of a collection file is what the mechanism makes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ldpkit.client.epsilon import MICRO, Ratio, covers
from ldpkit.client.randomness import Take
from ldpkit.client.samplers import MemorySampler, Sampler, read_sampler
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import log_product_up
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.typing import Bytes
from ldpkit.mechanisms.kinds import is_memoized
from ldpkit.testing.examples import allowed_size
from ldpkit.testing.expect import NotApplicableError, require

__all__ = ["CHECKS", "GivenBytes", "kernel_stage", "special_words"]

_DRAWS = 40
_SMALL = 8  # values, steps of a grid or cells along an edge
_MOST_SPECIAL = 24


class GivenBytes(RandomSource):
    """A source that hands out given bytes, then others that always are the same."""

    def __init__(self, data: bytes) -> None:
        super().__init__(bytes(32), is_secure=False)
        self._data, self._beyond = data, seeded(len(data))

    def bytes(self, count: int) -> Bytes:
        """Return the next so many bytes."""
        given, self._data = self._data[:count], self._data[count:]
        rest = self._beyond.bytes(count - len(given)).tobytes()
        return np.frombuffer(given + rest, np.uint8).copy()

    @property
    def take(self) -> Take:
        """The same bytes for a reference sampler."""
        return lambda count: self.bytes(count).tobytes()


def kernel_stage(mechanism: Any, stage: str, place: Any, kept: bytes, source: RandomSource) -> bytes:
    """Return what the compiled kernels make of a place, or of what a device has kept, for one person.

    Parameters
    ----------
    mechanism : Mechanism
        What makes reports.
    stage : {"draw", "coins", "permanent", "instant"}
        What is made; all but "draw" are for mechanisms with a memory.
    place : int or tuple
        The place of the value, or the state for "permanent".
    kept : bytes
        The coins for "permanent", the permanent report for "instant".
    source : RandomSource
        The random bytes.
    """
    if stage == "coins":
        return bytes(mechanism.public_coins(1, source).tobytes())
    if stage == "permanent":
        states = np.array([place], np.uint32)
        return bytes(mechanism.memorise(mechanism.decode(kept), states, source).tobytes())
    if stage == "instant":
        return bytes(mechanism.instant(mechanism.decode(kept), source).tobytes())
    return bytes(mechanism._randomise(np.array([place], np.uint32), source).tobytes())


def special_words(form: Any) -> list[int]:
    """Return words at which a sampler may turn: both ends, and both sides of its first integers."""
    found = [0, 1, (1 << 64) - 1]
    for word in _words(form):
        found += [word - 1, word]
        if len(found) > _MOST_SPECIAL:
            break
    return sorted({word % (1 << 64) for word in found})


def _words(form: Any) -> Iterator[int]:
    if isinstance(form, str):
        yield from [int(form)] if form.isdigit() else []
    elif isinstance(form, (list, dict)):
        for each in form if isinstance(form, list) else form.values():
            yield from _words(each)


def check_device_reports(mechanism: Any) -> None:
    """A device that has its integers alone makes the same reports from the same random bytes."""
    mechanism, form, sampler = _read(mechanism)
    require(
        sampler.report_bytes == mechanism.report_bytes,
        f"{mechanism!r}: expected reports of {mechanism.report_bytes} bytes from a device, found "
        f"{sampler.report_bytes}",
    )
    require(
        sampler.has_memory == is_memoized(mechanism),
        f"{mechanism!r}: expected a form {'with' if is_memoized(mechanism) else 'without'} a memory, found "
        f"{sampler.form!r}",
    )
    rng, specials = seeded(18), special_words(form)
    for number in range(_DRAWS + len(specials)):
        word = specials[number - _DRAWS].to_bytes(8, "little") if number >= _DRAWS else b""
        data = word + rng.bytes(64).tobytes()
        place = tuple(int(rng.words(1)[0]) % size for size in sampler.places)
        if number % 5 == 0:  # the last place is where a mix-up shows
            place = tuple(size - 1 for size in sampler.places)
        _compare(mechanism, sampler, place, data)


def _compare(mechanism: Any, sampler: Sampler, place: tuple[int, ...], data: bytes) -> None:
    def made(stage: str, at: Any, kept: bytes = b"") -> bytes:
        ours = kernel_stage(mechanism, stage, at, kept, GivenBytes(data))
        take = GivenBytes(data).take
        if stage == "draw":
            theirs = sampler.draw(at, take)
        else:
            assert isinstance(sampler, MemorySampler)
            maker = {
                "coins": lambda: sampler.coins(take),
                "permanent": lambda: sampler.permanent(kept, at, take),
                "instant": lambda: sampler.instant(kept, take),
            }
            theirs = maker[stage]()
        require(
            ours == theirs,
            f"{mechanism!r}: expected {ours[:40].hex()} from a device for place {at} and the bytes "
            f"{data[:40].hex()}... ({stage}), found {theirs[:40].hex()}",
        )
        return ours

    if not isinstance(sampler, MemorySampler):
        made("draw", place if len(place) > 1 else place[0])
        return
    coins = made("coins", None)
    state = sampler.state(coins, place)
    expected = int(mechanism.states(mechanism.decode(coins), np.array(place, np.uint32))[0])
    require(state == expected, f"{mechanism!r}: expected state {expected} on a device, found {state}")
    made("instant", None, made("permanent", state, coins))


def check_device_epsilon(mechanism: Any) -> None:
    """A device that computes epsilon from the integers finds the same, and accepts just that charge."""
    mechanism, _, sampler = _read(mechanism)
    pairs: list[tuple[Ratio | None, float]] = [(sampler.ratio(), mechanism.exact_epsilon())]
    if isinstance(sampler, MemorySampler):
        _, permanent, second = sampler.ratios()
        pairs += [
            (permanent, mechanism.exact_permanent_epsilon()),
            (second, mechanism.exact_instant_epsilon()),
        ]
        require(
            sampler.integers() == mechanism.sampler_integers(),
            f"{mechanism!r}: expected the integers {mechanism.sampler_integers()} in labels, found "
            f"{sampler.integers()}",
        )
    for ratio, exact in pairs:
        if ratio is None:
            require(math.isinf(exact), f"{mechanism!r}: expected epsilon {exact}, found infinite on a device")
            continue
        found = log_product_up({Fraction(ratio.num, ratio.den): ratio.times})
        require(found == exact, f"{mechanism!r}: expected epsilon {exact} on a device, found {found}")
        micro = math.ceil(Fraction(exact) * MICRO)
        require(covers(micro, *ratio), f"{mechanism!r}: its own charge {micro} is refused on a device")
        require(
            micro < 2 or not covers(micro - 2, *ratio),
            f"{mechanism!r}: a charge of {micro - 2} is accepted on a device, and {exact} is spent",
        )


def _read(mechanism: Any) -> tuple[Any, dict[str, Any], Sampler]:
    """Return the mechanism, or a small one where its table is too large for a file, and its sampler."""
    if not mechanism.can("client"):
        raise NotApplicableError(f"no device runs it: {mechanism.not_for_devices}")
    try:
        form: dict[str, Any] = mechanism.sampler()
    except InvalidParameterError:
        mechanism = mechanism.sibling(allowed_size(mechanism, _SMALL))
        form = mechanism.sampler()
    again = json.loads(json.dumps(form))
    require(again == form, f"{mechanism!r}: its sampler is not JSON: {str(form)[:100]}")
    return mechanism, form, read_sampler(again)


CHECKS = (check_device_reports, check_device_epsilon)
