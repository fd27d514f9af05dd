"""The coin protocol for real: three processes that talk over sockets, with MPyC.

Two are the partners, the third is a helper that holds shares and learns nothing. Secrets
are shared so that any two of the three could open them, and one alone holds noise. With
two parties that threshold is zero, a share is the secret itself, and so they are refused.
All are taken to follow the protocol (semi-honest).

Each partner contributes 64 random bits to a pair, and the pair's word is their exclusive
or: it is uniform if either of them draws fairly, whatever the helper does. The bits are
shared one by one in a small field, so that no sum has to be compared with a secret: a
comparison with a public threshold is a tree of products, six rounds deep. All pairs go
through these rounds together, which is what makes a pair cheap.

`run_locally` runs the three on one machine. On machines of their own, start each with the
addresses of all three, its own index, and MPyC's certificates (`--ssl`): without them
nobody knows who is at the other end, and the network sees the shares.

    python -m ldpkit.protocols.pairs.mpc PAIRS T1 T2 T3 --ssl -P a:9000 -P b:9000 -P c:9000 -I 0
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError, LdpkitError, MissingDependencyError
from ldpkit.core.exact import WORD
from ldpkit.core.parameters import check_whole
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.protocols.pairs.samplers import Coins

__all__ = ["PARTIES", "less_than", "run_locally"]

PARTIES = 3
_BITS = 64
_FIELD = 251  # a prime of one byte; any above the number of parties would do
_AT_ONCE = 2000  # pairs that go through the rounds together; a party then takes less than 100 MB
_PATIENCE = 60.0  # seconds to start, and some for each pair


def run_locally(table: PairTable, pairs: int, *, parties: int = PARTIES) -> tuple[Coins, float]:
    """Draw coins with three processes on this machine.

    Parameters
    ----------
    table : PairTable
        The law of a pair, over 2**64.
    pairs : int
        How many pairs.
    parties : int
        Three: two partners and a helper. Two are refused.

    Returns
    -------
    coins : array of bool, shape (pairs, 2)
        Who reports truthfully: the first column as the first process learned it, the
        second as the second did.
    seconds : float
        How long the parties talked, without starting them.
    """
    if parties < PARTIES:
        raise InvalidParameterError(
            f"{parties} parties cannot share a secret here: the threshold of MPyC is then zero and one share "
            f"is the secret itself; take {PARTIES}, of whom one is a helper"
        )
    if parties > PARTIES:
        raise InvalidParameterError(f"a pair and a helper are {PARTIES} parties, got {parties}")
    count = check_whole(pairs, "pairs")
    thresholds = table.thresholds
    if importlib.util.find_spec("mpyc") is None:
        raise MissingDependencyError("mpyc", "drawing coins with three parties", "mpc")
    addresses = [f"-P127.0.0.1:{port}" for port in _free_ports(parties)]
    command = [sys.executable, "-m", __name__, str(count), *map(str, thresholds), *addresses, "--no-log"]
    with ExitStack() as stack:
        running = []
        for index in range(parties):
            party = subprocess.Popen(
                [*command, f"-I{index}"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=os.environ,
                text=True,
            )
            running.append(stack.enter_context(party))
            stack.callback(party.kill)  # before it is waited for: after a failure the others would wait on
        told = _wait(running, _PATIENCE + 0.1 * count)
    if told[2]["coins"]:
        raise LdpkitError("the helper learned coins: it must not")
    coins = np.array([told[0]["coins"], told[1]["coins"]], np.bool_).T
    return coins, float(max(each["seconds"] for each in told))


def _wait(running: list[subprocess.Popen[str]], patience: float) -> list[dict[str, Any]]:
    """Return what each party says in the end; a party that fails or hangs ends the run for all."""
    until, told = time.monotonic() + patience, []
    for each in running:
        try:
            out, error = each.communicate(timeout=max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise LdpkitError(
                f"the parties did not finish within {patience:g} seconds: try fewer pairs at a time"
            ) from None
        if each.returncode:
            raise LdpkitError(f"a party ended with {each.returncode}: {error.strip()[-300:]}")
        told.append(json.loads(out.strip().splitlines()[-1]))
    return told


def _free_ports(count: int) -> list[int]:
    """Return so many different ports that nobody listens on."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


async def _party(count: int, thresholds: list[int]) -> None:
    """Be one party: share random bits with the partner, compare together, open only the own coin."""
    from mpyc.runtime import mpc

    if len(mpc.parties) != PARTIES or mpc.threshold != 1:
        raise InvalidParameterError(f"this protocol has {PARTIES} parties, got {len(mpc.parties)}")
    await mpc.start()
    began, coins = time.perf_counter(), []
    for start in range(0, count, _AT_ONCE):
        coins += await _coins(mpc, min(_AT_ONCE, count - start), thresholds)
    seconds = time.perf_counter() - began
    await mpc.shutdown()
    print(json.dumps({"coins": coins, "seconds": seconds}))


async def _coins(mpc: Any, count: int, thresholds: list[int]) -> list[int]:
    """Return the own coins of some pairs; none for the helper."""
    kind = mpc.SecFld(_FIELD)
    shape = (count, _BITS)
    if mpc.pid < 2:
        drawn = np.unpackbits(np.frombuffer(secrets.token_bytes(count * _BITS // 8), np.uint8))
        own = kind.array(kind.field.array(drawn.reshape(shape).astype(object)))
    else:
        own = kind.array(None, shape)
    first, second = mpc.input(own, senders=[0, 1])
    word = first + second - 2 * (first * second)  # exclusive or
    below_1, below_2, below_3 = (
        # All words lie below 2**64, whose bits would be those of zero.
        less_than(word, kind.field.array(_bits(threshold))) if threshold < WORD else first[:, 0] * 0 + 1
        for threshold in thresholds
    )
    opened = [
        await mpc.output(below_2, receivers=[0]),
        await mpc.output(below_1 + below_3 - below_2, receivers=[1]),
    ]
    return [int(each) for each in opened[mpc.pid]] if mpc.pid < 2 else []


def _bits(number: int) -> Any:
    return np.array([number >> place & 1 for place in reversed(range(_BITS))], object)


def less_than(word: Any, bits: Any) -> Any:
    """Return for each row of bits, shared or plain, whether it is a smaller number than a public one.

    Examples
    --------
    >>> less_than(np.array([[0, 1, 0, 1], [0, 1, 1, 0]]), np.array([0, 1, 1, 0])).tolist()
    [1, 0]
    """
    less, equal = bits - bits * word, 1 - bits - word + 2 * (bits * word)
    while less.shape[1] > 1:  # neighbours together: the higher bits decide, unless they are equal
        high, low = equal[:, ::2], less[:, 1::2]
        less, equal = less[:, ::2] + high * low, high * equal[:, 1::2]
    return less[:, 0]


if __name__ == "__main__":
    from mpyc.runtime import mpc as _mpc

    _mpc.run(_party(int(sys.argv[1]), [int(each) for each in sys.argv[2:5]]))
