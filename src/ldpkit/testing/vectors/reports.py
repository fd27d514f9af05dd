"""Vectors of reports: the integers of a sampler, a place and random bytes, and the report they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ldpkit.client.epsilon import covers
from ldpkit.client.labels import COINS, PERMANENT, derive, pack, question_label
from ldpkit.client.randomness import key_stream
from ldpkit.client.samplers import MemorySampler, Sampler, read_sampler
from ldpkit.core.random import RandomSource, seeded
from ldpkit.testing.device import GivenBytes
from ldpkit.testing.vectors.edges import special_bytes, turns

__all__ = ["group_of", "made_again"]

Vector = list[Any]
"""Stage, place or state, what is kept in hex, random bytes in hex, and what they make in hex."""

_AT_RANDOM = 5
_LONGEST = 2500  # bytes of a vector: longer ones say nothing more


def group_of(name: str, mechanism: str, kind: str, domain: Any, form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the vectors of one sampler, with what a device must find out about it.

    Parameters
    ----------
    name : str
        The name of the group.
    mechanism, kind : str
        What it belongs to.
    domain : JSON
        The domain of the mechanism.
    form : mapping
        The sampler.
    """
    sampler, source = read_sampler(form), seeded(2026).derive(name)
    vectors: list[Vector] = []
    for vector in _vectors(sampler, form, source):
        if vector not in vectors and len(vector[3]) <= 2 * _LONGEST:
            vectors.append(vector)
    group = {
        "name": name,
        "mechanism": mechanism,
        "kind": kind,
        "domain": domain,
        "sampler": dict(form),
        "report_bytes": sampler.report_bytes,
        "charges": _charges(sampler),
        "vectors": vectors,
    }
    if isinstance(sampler, MemorySampler):
        group["devices"] = [_device(sampler, mechanism, domain, number) for number in range(3)]
    return group


def made_again(sampler: Sampler, vector: Vector) -> str:
    """Return in hex what a sampler makes for a vector, which must be its last entry."""
    stage, place, kept, data, _ = vector
    made, used = _made(sampler, stage, place, bytes.fromhex(kept), bytes.fromhex(data))
    return made.hex() if used == len(data) // 2 else f"{made.hex()} with {used} of {len(data) // 2} bytes"


def _made(sampler: Sampler, stage: str, place: Any, kept: bytes, data: bytes) -> tuple[bytes, int]:
    """Return what a stage makes, and how many bytes it took; the given ones come first."""
    source, used = GivenBytes(data), 0

    def take(count: int) -> bytes:
        nonlocal used
        used += count
        return source.bytes(count).tobytes()

    at: Any = tuple(place) if isinstance(place, list) else place
    if stage == "draw":
        return sampler.draw(at, take), used
    assert isinstance(sampler, MemorySampler)
    stages: dict[str, Callable[[], bytes]] = {
        "coins": lambda: sampler.coins(take),
        "permanent": lambda: sampler.permanent(kept, at, take),
        "instant": lambda: sampler.instant(kept, take),
    }
    return stages[stage](), used


def _vectors(sampler: Sampler, form: Mapping[str, Any], source: RandomSource) -> Iterator[Vector]:
    if not isinstance(sampler, MemorySampler):
        sizes = sampler.places
        places = [tuple(0 for _ in sizes), tuple(size - 1 for size in sizes)]
        places += [tuple(int(source.words(1)[0]) % size for size in sizes) for _ in range(1)]
        for place in places:
            yield from _stage(
                sampler, form, "draw", place[0] if len(place) == 1 else list(place), b"", source
            )
        return
    for number in range(3):
        coins = b""
        for vector in _stage(sampler, form, "coins", None, b"", source, edges=number == 0):
            coins = bytes.fromhex(vector[4])
            if vector[3]:  # else nothing is drawn
                yield vector
        state = (0, sampler.states - 1, int(source.words(1)[0]) % sampler.states)[number]
        permanent = b""
        for vector in _stage(sampler, form, "permanent", state, coins, source):
            permanent = bytes.fromhex(vector[4])
            yield vector
        yield from _stage(sampler, form, "instant", None, permanent, source)


def _stage(
    sampler: Sampler,
    form: Mapping[str, Any],
    stage: str,
    place: Any,
    kept: bytes,
    source: RandomSource,
    *,
    edges: bool = True,
) -> Iterator[Vector]:
    """Yield the vectors of one stage at one place."""

    def draw(data: bytes) -> bytes:
        return _made(sampler, stage, place, kept, data)[0]

    tried = [source.bytes(16).tobytes() for _ in range(_AT_RANDOM)]
    if edges and sampler.report_bytes <= _LONGEST:
        turning = "response" if stage != "draw" and sampler.form != "bitflip" else sampler.form
        by_words = sampler.form not in ("chained_unary", "bitflip") and stage != "coins"
        tried = [
            *special_bytes(form, stage, source),
            *(turns(draw, turning, source) if by_words else ()),
            *tried,
        ]
    for data in tried:
        made, used = _made(sampler, stage, place, kept, data)
        beyond = GivenBytes(data)
        yield [stage, place, kept.hex(), beyond.bytes(used).tobytes().hex(), made.hex()]


def _charges(sampler: Sampler) -> list[dict[str, Any]]:
    """Return for each ratio of a sampler the least charge that covers it."""
    ratios = (
        dict(zip(("first", "all", "second"), sampler.ratios(), strict=True))
        if isinstance(sampler, MemorySampler)
        else {"first": sampler.ratio()}
    )
    found: list[dict[str, Any]] = []
    for name, ratio in ratios.items():
        if ratio is None:
            found.append({"of": name, "least": "infinite"})
            continue
        low, high = -1, 1
        while not covers(high, *ratio):
            high *= 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if covers(middle, *ratio) else (middle, high)
        told = {"num": str(ratio.num), "den": str(ratio.den), "times": ratio.times}
        found.append({"of": name, **told, "least": high})
    return found


def _device(sampler: MemorySampler, mechanism: str, domain: Any, number: int) -> dict[str, Any]:
    """Return what a device with a secret keeps: its coins, its state and its permanent report."""
    secret = seeded(number).bytes((16, 32, 64)[number]).tobytes()
    collection, question = ("", "commute", "Straße-2026")[number], ("q", "how-often", "ü")[number]
    label = question_label(collection, question, mechanism, domain, sampler.integers())
    coins_key = derive(secret, pack(COINS) + label)
    coins = sampler.coins(key_stream(coins_key))
    place = (0, sampler.places[0] - 1, sampler.places[0] // 2)[number]
    state = sampler.state(coins, place)
    key = derive(secret, pack(PERMANENT) + label + pack(b"%d" % state))
    return {
        "secret": secret.hex(),
        "collection": collection,
        "question": question,
        "integers": [str(each) for each in sampler.integers()],
        "label": label.hex(),
        "coins_key": coins_key.hex(),
        "coins": coins.hex(),
        "place": place,
        "state": state,
        "permanent_key": key.hex(),
        "permanent": sampler.permanent(coins, state, key_stream(key)).hex(),
    }
