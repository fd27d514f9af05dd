"""The six oracles elsewhere: a plain Python loop over users, multi-freq-ldpy, ldp-toolbox and pure-ldp.

Each function takes the name of an oracle and returns its device, which makes the list of
reports of some values, and its collector, which makes estimates of such a list. What a
package does not have is a KeyError.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["EPSILON", "PEERS", "K", "Peer", "loop"]

EPSILON = 1.0
K = 128

Peer = tuple[Callable[[list[int]], list[Any]], Callable[[list[Any]], Any]]

_EXP = math.exp(EPSILON)
_BUCKETS = {"blh": 2, "olh": round(_EXP) + 1}
_OMEGA = round(K / (_EXP + 1))
_BITS = {
    "sue": (math.exp(EPSILON / 2) / (math.exp(EPSILON / 2) + 1), 1 / (math.exp(EPSILON / 2) + 1)),
    "oue": (0.5, 1 / (_EXP + 1)),
}


def loop(name: str) -> Peer:
    """Return the oracle as a textbook writes it, user by user, with Python's own hash."""
    if name == "grr":
        return lambda values: [_respond(value, K) for value in values], lambda reports: _count(zip(reports))
    if name in _BUCKETS:
        return _loop_hashing(_BUCKETS[name])
    if name == "ss":
        return lambda values: [_subset(value) for value in values], _count
    own, other = _BITS[name]

    def flip(value: int) -> list[bool]:
        return [random.random() < (own if bit == value else other) for bit in range(K)]

    return lambda values: [flip(value) for value in values], _add_bits


def _respond(value: int, size: int) -> int:
    if random.random() < _EXP / (_EXP + size - 1):
        return value
    other = random.randrange(size - 1)
    return other + (other >= value)


def _count(supports: Iterable[Iterable[int]]) -> list[int]:
    counts = [0] * K
    for values in supports:
        for value in values:
            counts[value] += 1
    return counts


def _add_bits(reports: list[list[bool]]) -> list[int]:
    counts = [0] * K
    for report in reports:
        for value, bit in enumerate(report):
            counts[value] += bit
    return counts


def _loop_hashing(buckets: int) -> Peer:
    def send(value: int) -> tuple[int, int]:
        seed = random.getrandbits(32)
        return seed, _respond(hash((seed, value)) % buckets, buckets)

    def supported(report: tuple[int, int]) -> list[int]:
        seed, bucket = report
        return [value for value in range(K) if hash((seed, value)) % buckets == bucket]

    return lambda values: [send(value) for value in values], lambda reports: _count(map(supported, reports))


def _subset(value: int) -> list[int]:
    others = [other for other in range(K) if other != value]
    if random.random() < _OMEGA * _EXP / (_OMEGA * _EXP + K - _OMEGA):
        return [value, *random.sample(others, _OMEGA - 1)]
    return random.sample(others, _OMEGA)


def _multi_freq(name: str) -> Peer:
    from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

    device, collector = {
        "grr": (GRR.GRR_Client, GRR.GRR_Aggregator_MI),
        "ss": (SS.SS_Client, SS.SS_Aggregator_MI),
        "sue": (lambda *user: UE.UE_Client(*user, False), lambda x, _, e: UE.UE_Aggregator_MI(x, e, False)),
        "oue": (lambda *user: UE.UE_Client(*user, True), lambda x, _, e: UE.UE_Aggregator_MI(x, e, True)),
        "blh": (lambda *user: LH.LH_Client(*user, False), lambda *all_: LH.LH_Aggregator_MI(*all_, False)),
        "olh": (lambda *user: LH.LH_Client(*user, True), lambda *all_: LH.LH_Aggregator_MI(*all_, True)),
    }[name]
    return (
        lambda values: [device(value, K, EPSILON) for value in values],
        lambda reports: collector(reports, K, EPSILON),
    )


def _pure(name: str) -> Peer:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    known: dict[str, tuple[tuple[Any, Any], dict[str, Any]]] = {
        "grr": ((DEClient, DEServer), {}),
        "sue": ((UEClient, UEServer), {"use_oue": False}),
        "oue": ((UEClient, UEServer), {"use_oue": True}),
        "blh": ((LHClient, LHServer), {"g": 2}),
        "olh": ((LHClient, LHServer), {"use_olh": True}),
    }
    kinds, options = known[name]
    client, server = (kind(EPSILON, K, index_mapper=lambda value: value, **options) for kind in kinds)
    return (
        lambda values: [client.privatise(value) for value in values],
        lambda reports: [server.aggregate(report) for report in reports],
    )


def _toolbox(name: str) -> Peer:
    from ldp_toolbox.protocols.frequency.grr import GeneralizedRandomizedResponse
    from ldp_toolbox.protocols.frequency.lh import LocalHashing
    from ldp_toolbox.protocols.frequency.ss import SubsetSelection
    from ldp_toolbox.protocols.frequency.ue import UnaryEncoding

    known: dict[str, tuple[Any, dict[str, Any]]] = {
        "grr": (GeneralizedRandomizedResponse, {}),
        "sue": (UnaryEncoding, {"optimal": False}),
        "oue": (UnaryEncoding, {"optimal": True}),
        "blh": (LocalHashing, {"optimal": False}),
        "olh": (LocalHashing, {"optimal": True}),
        "ss": (SubsetSelection, {}),
    }
    kind, options = known[name]
    protocol = kind(K, EPSILON, **options)
    return lambda values: [protocol.obfuscate(value) for value in values], protocol.estimate


PEERS: dict[str, Callable[[str], Peer]] = {
    "Python loop": loop,
    "multi-freq-ldpy": _multi_freq,
    "ldp-toolbox": _toolbox,
    "pure-ldp": _pure,
}
"""By name, the slowest to install last."""
