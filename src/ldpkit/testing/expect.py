"""How a check says what it expected and what it found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ldpkit.core.errors import ContractError, InvalidInputError
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Bytes
from ldpkit.mechanisms.tally import Tally

__all__ = [
    "NotApplicableError",
    "UntouchedSource",
    "likely",
    "near",
    "refuses",
    "refuses_bins",
    "require",
    "shown",
]


class NotApplicableError(Exception):
    """A check does not apply to a mechanism, with the reason; it counts as skipped, not as passed."""


class UntouchedSource(RandomSource):
    """A source that breaks the contract of whoever draws from it: bad input is refused before that."""

    def __init__(self) -> None:
        super().__init__(bytes(32), is_secure=False)

    def bytes(self, count: int) -> Bytes:
        """Refuse to be drawn from."""
        raise ContractError(f"expected bad input to be refused first, found {count} random bytes drawn")


def require(condition: object, message: str) -> None:
    """Raise a ContractError with that message unless the condition holds."""
    if not condition:
        raise ContractError(message)


def refuses(
    error: type[Exception], call: Callable[..., Any], *arguments: Any, says: str = "", **options: Any
) -> Exception:
    """Return the error that a call must raise; its message must hold some words."""
    given = ", ".join(shown(argument) for argument in arguments)
    what = f"{getattr(call, '__qualname__', call)}({given})"
    try:
        found = call(*arguments, **options)
    except ContractError:
        raise
    except error as caught:
        require(
            says in str(caught),
            f"expected {says!r} in the refusal of {what}, found {shown(str(caught), 200)}",
        )
        return caught
    except Exception as other:
        raise ContractError(
            f"expected {error.__name__} from {what}, found {type(other).__name__}: {other}"
        ) from other
    raise ContractError(f"expected {error.__name__} from {what}, found {shown(found)}")


def shown(thing: object, most: int = 60) -> str:
    """Return a short picture of an argument."""
    text = repr(thing.tolist() if isinstance(thing, np.ndarray) else thing)
    return text if len(text) <= most else text[: most - 3] + "..."


def near(mechanism: Any, what: str, found: float, expected: float, within: float) -> None:
    """Require a number of a mechanism to be near what is expected."""
    require(
        abs(found - expected) <= within, f"{mechanism!r}: expected {what} to be {expected}, found {found}"
    )


def likely(mechanism: Any, what: str, x: float, z: float) -> None:
    """Require the z-score of some reports of a value to be one that chance explains."""
    require(
        abs(z) < 6.3,
        f"{mechanism!r}: reports of {x} have another {what} than stated, z-score {z:.1f} "
        "(false-alarm rate 3e-10)",
    )


def refuses_bins(mechanism: Any) -> None:
    """Require tallies whose bins two reports cannot fill to be refused."""
    counts = np.zeros(mechanism.tally_size, np.int64)
    counts[0] = 2
    Tally(mechanism, 2, counts)
    for place, count in ((0, -1), (1, 1), (mechanism.tally_size - 1, 2 << 50)):
        wrong = counts.copy()
        wrong[place] = count
        refuses(InvalidInputError, Tally, mechanism, 2, wrong)
