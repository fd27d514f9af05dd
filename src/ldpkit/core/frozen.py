"""What does not change: values that others rely on refuse to have attributes set or removed."""

from __future__ import annotations

from typing import ClassVar

from ldpkit.core.errors import FrozenError

__all__ = ["Frozen"]


class Frozen:
    """An object whose attributes are set once, by its constructor with `object.__setattr__`.

    Examples
    --------
    >>> class Coin(Frozen):
    ...     frozen = "a coin does not change: toss a new one"
    >>> Coin().side = 1
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.FrozenError: a coin does not change: toss a new one instead of setting side
    """

    __slots__ = ()
    frozen: ClassVar[str]
    """What does not change, and what to do instead."""

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenError(f"{self.frozen} instead of setting {name}")

    def __delattr__(self, name: str) -> None:
        raise FrozenError(f"{self.frozen} instead of removing {name}")
