"""Registries: how a file that is dropped into a room becomes part of the house.

A registry finds its members in three places, on first use: the modules of ldpkit's own
rooms, the entry points of installed packages, and files given with `load_plugin`. A
member registers itself with a decorator, so adding one means adding one file.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from ldpkit.core.errors import InvalidParameterError, PluginError, UnknownNameError
from ldpkit.core.stopping import Stopped

__all__ = ["Registry", "load_plugin"]

Member = TypeVar("Member")

ENTRY_POINTS = "ldpkit.plugins"
"""The entry-point group: each entry names a module whose import registers its members."""

_loaded_entry_points = False
_DISCOVERY = threading.RLock()


def _enter_child() -> None:
    global _DISCOVERY
    _DISCOVERY = threading.RLock()  # in a forked process, nobody is left to release the old one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_enter_child)


class Registry(Generic[Member]):
    """Members of one kind, by name.

    Parameters
    ----------
    kind : str
        What a member is, in the words of an error message.
    rooms : str
        The packages or modules that register members when imported.

    Examples
    --------
    >>> shapes: Registry[type] = Registry("shape")
    >>> @shapes.register("square", "box")
    ... class Square: ...
    >>> shapes.get("box") is Square, list(shapes)
    (True, ['square'])
    >>> shapes.get("sqare")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.UnknownNameError: unknown shape 'sqare': did you mean square?
    """

    def __init__(self, kind: str, *rooms: str) -> None:
        self.kind = kind
        self._rooms = rooms
        self._members: dict[str, Member] = {}
        self._aliases: dict[str, str] = {}
        self._discovered = not rooms
        self._under: object = None  # the lock under which members are being discovered

    def register(self, name: str, *aliases: str) -> Callable[[Member], Member]:
        """Return a decorator that adds a member under a name and its aliases."""

        def add(member: Member) -> Member:
            if not self._is_of_the_house(member):
                self._discover()  # so that a plugin never takes a name of the house
            for each in (name, *aliases):
                if each != each.lower() or not each.replace("_", "").isalnum():
                    raise InvalidParameterError(
                        f"a {self.kind} name is lower-case letters, digits and underscores, got {each!r}"
                    )
                taken = self._members.get(self._aliases.get(each, each))
                if taken is not None and not _is_reload(taken, member):
                    raise PluginError(f"the {self.kind} name {each!r} is taken: choose another name")
            self._members[name] = member
            self._aliases.update(dict.fromkeys(aliases, name))
            return member

        return add

    def forget(self, name: str) -> None:
        """Take a member and its aliases out again, as a notebook that replaces its own mechanism may want."""
        self._discover()
        del self._members[name]
        self._aliases = {alias: target for alias, target in self._aliases.items() if target != name}

    def get(self, name: str) -> Member:
        """Return the member of that name or alias, in any case, with - as good as _."""
        if not isinstance(name, str):
            raise InvalidParameterError(f"a {self.kind} name is text, got {name!r}")
        self._discover()
        wanted = name.lower().replace("-", "_")
        wanted = self._aliases.get(wanted, wanted)
        if wanted not in self._members:
            raise UnknownNameError(self.kind, name, [*self._members, *self._aliases])
        return self._members[wanted]

    def items(self) -> list[tuple[str, Member]]:
        """Return the names and members in alphabetical order, aliases left out."""
        self._discover()
        return sorted(self._members.items())

    def aliases(self, name: str) -> list[str]:
        """Return the other names of a member."""
        self._discover()
        return sorted(alias for alias, target in self._aliases.items() if target == name)

    def __iter__(self) -> Iterator[str]:
        return iter(name for name, _ in self.items())

    def __contains__(self, name: object) -> bool:
        self._discover()
        return name in self._members or name in self._aliases

    def _discover(self) -> None:
        if self._discovered:
            return
        with _DISCOVERY:  # another thread must not see a half-filled registry
            if self._discovered or self._under is _DISCOVERY:
                return
            self._under = _DISCOVERY
            try:
                for room in self._rooms:
                    _load_room(room)
                _load_entry_points()
                self._discovered = True
            finally:
                self._under = None

    def _is_of_the_house(self, member: Member) -> bool:
        home = getattr(member, "__module__", "")
        return any(home == room or home.startswith(room + ".") for room in self._rooms)


def _load_room(name: str) -> None:
    """Import a module, and all modules of a package or those that it names in `MEMBERS`."""
    room = importlib.import_module(name)
    if hasattr(room, "__path__"):
        found = [module.name for module in pkgutil.iter_modules(room.__path__)]
        for member in getattr(room, "MEMBERS", found):
            _load_room(f"{name}.{member}")


def _is_reload(old: object, new: object) -> bool:
    """Whether a member is the same definition again, as when a module is reloaded."""
    return getattr(old, "__qualname__", None) == getattr(new, "__qualname__", "") and (
        getattr(old, "__module__", None) == getattr(new, "__module__", "")
    )


def _load_entry_points() -> None:
    global _loaded_entry_points
    if _loaded_entry_points:
        return
    _loaded_entry_points = True
    if not _may_have_plugins():
        return
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS):
        try:
            entry.load()
        except (KeyboardInterrupt, Stopped):
            raise
        except BaseException as error:  # a plugin may raise any of its own
            told = _told(error)
            raise PluginError(f"the installed plugin {entry.value!r} does not load: {told}") from error


def _may_have_plugins() -> bool:
    """Whether an installed package names plugins; loading Python's own machinery to ask takes longer."""
    group = f"[{ENTRY_POINTS}]".encode()
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as found:
                packages = [each.path for each in found if each.name.endswith((".dist-info", ".egg-info"))]
        except NotADirectoryError:  # a zip archive: let the machinery look
            return True
        except OSError:
            continue
        files = (Path(package, "entry_points.txt") for package in packages)
        if any(file.is_file() and group in file.read_bytes() for file in files):
            return True
    return False


def load_plugin(path: str | Path) -> None:
    """Import a Python file, so that what it registers is there.

    Parameters
    ----------
    path : path
        A file such as `my_mechanism.py`.

    Examples
    --------
    >>> import ldpkit, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plugin = pathlib.Path(folder, "halve_metric.py")
    ...     _ = plugin.write_text("answer = 42")   # a real one has a class with @ldpkit.register
    ...     load_plugin(plugin)
    """
    file = Path(path)
    if not os.path.isfile(file):  # noqa: PTH113  # a Path raises an error where a name is too long
        where = f"the plugin file {str(path)!r}"
        if os.path.isdir(file):  # noqa: PTH112  # as above
            raise PluginError(f"{where} is a directory: give a Python file")
        if os.path.exists(file):  # noqa: PTH110  # as above
            raise PluginError(f"{where} is not a file on a disk: save it first")
        raise PluginError(f"{where} does not exist: check the path")
    name = f"ldpkit_plugin_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"the plugin file {str(path)!r} is not a Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (PluginError, KeyboardInterrupt, Stopped):
        raise
    except BaseException as error:  # a plugin may raise any of its own
        del sys.modules[name]
        raise PluginError(f"the plugin file {str(path)!r} does not load: {_told(error)}") from error


def _told(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it calls sys.exit({error.code!r}), which would end ldpkit: let it raise an exception instead"
    return f"{type(error).__name__}: {error}".removesuffix(": ")
