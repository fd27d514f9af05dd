"""The error tree: every refusal of ldpkit is one of these, with the bad value and the remedy.

```
LdpkitError
|-- InvalidParameterError      a parameter that no mechanism can be built from (also ValueError)
|-- InvalidInputError          values or reports that cannot be used (also ValueError)
|   `-- OutOfDomainError       a value that is not in the domain
|-- MismatchError              things of different mechanisms put together (also ValueError)
|-- FileFormatError            a file that is truncated, corrupted or foreign; has the offset
|-- UnknownNameError           a name that is not registered (also LookupError)
|-- PluginError                a plugin that cannot be loaded
|-- ContractError              a mechanism that breaks its contract (also AssertionError)
|-- WriteError                 a file that cannot be written, as on a full disk (also OSError)
|-- MissingDependencyError     an optional library that is needed here (also ImportError)
`-- FrozenError                an attempt to change something immutable (also AttributeError)
```

Examples
--------
>>> import ldpkit
>>> ldpkit.GRR(["no", "yes"], epsilon=1).privatize(["perhaps"])
Traceback (most recent call last):
...
ldpkit.core.errors.OutOfDomainError: value 'perhaps' at position 0 is not in the domain {no, yes}: ...
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ldpkit.core.installing import install_command

__all__ = [
    "ContractError",
    "FileFormatError",
    "FrozenError",
    "InvalidInputError",
    "InvalidParameterError",
    "LdpkitError",
    "MismatchError",
    "MissingDependencyError",
    "OutOfDomainError",
    "PluginError",
    "UnknownNameError",
    "WriteError",
]


class LdpkitError(Exception):
    """Base of every error that ldpkit raises on purpose.

    Examples
    --------
    >>> import ldpkit
    >>> try:
    ...     ldpkit.GRR(["no", "yes"], epsilon=-1)
    ... except ldpkit.LdpkitError as error:
    ...     print(error)
    epsilon must be positive and finite, got -1
    """


class InvalidParameterError(LdpkitError, ValueError):
    """A parameter has no meaning, such as a negative epsilon."""


class InvalidInputError(LdpkitError, ValueError):
    """Values or reports have a shape, type or content that cannot be used."""


class OutOfDomainError(InvalidInputError):
    """A value does not belong to the domain of the mechanism.

    Parameters
    ----------
    message : str
        What is wrong.
    position : int, optional
        Where the value stands among those given.
    without_position : str, optional
        The message for who knows a better word for the place, such as the line of a file.
    """

    def __init__(
        self, message: str, position: int | None = None, without_position: str | None = None
    ) -> None:
        super().__init__(message)
        self.position, self.without_position = position, without_position or message


class MismatchError(LdpkitError, ValueError):
    """Things that belong to different mechanisms were put together."""


class FileFormatError(LdpkitError):
    """A file is truncated, corrupted or of another kind.

    Parameters
    ----------
    message : str
        What is wrong and what to do about it.
    offset : int or None
        The byte at which reading had to stop.
    """

    def __init__(self, message: str, *, offset: int | None = None) -> None:
        super().__init__(message if offset is None else f"{message} (at byte {offset})")
        self.offset = offset


class WriteError(LdpkitError, OSError):
    """A file cannot be written to its end, as on a full disk.

    Parameters
    ----------
    path : str
        The file.
    reason : str
        What the system said.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"cannot write {path!r}: {reason}: make room, or choose another folder")
        self._made_of = (path, reason)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self._made_of


_MOST_LISTED = 30  # names that a message can list
_REMEDIES = {"mechanism": "'ldpkit mechanisms' lists all; one of your own needs --plugin FILE"}


class UnknownNameError(LdpkitError, LookupError):
    """A name is not registered; the message lists near matches."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
        listed = f"choose from {', '.join(names)}"
        if not near and len(names) > _MOST_LISTED:
            nearest = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.0)
            listed = f"the nearest of {len(names)} names are {', '.join(nearest)}"
        hint = f"did you mean {' or '.join(near)}?" if near else listed
        if kind in _REMEDIES:
            hint = f"{hint.removesuffix('?')}{'?' if near else ';'} {_REMEDIES[kind]}"
        super().__init__(f"unknown {kind} {name!r}: {hint}")
        self._made_of = (kind, name, names)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self._made_of


class PluginError(LdpkitError):
    """A plugin file or entry point cannot be loaded."""


class ContractError(LdpkitError, AssertionError):
    """A mechanism does not keep its contract; the message says what was expected and what was found."""


class MissingDependencyError(LdpkitError, ImportError):
    """An optional library is needed for what was asked."""

    def __init__(self, library: str, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {library}: {install_command(extra)}")
        self._made_of = (library, purpose, extra)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self._made_of


class FrozenError(LdpkitError, AttributeError):
    """Mechanisms, tallies and estimates never change after they are made."""
