"""The house rules that no linter knows: declarations decide, and strings do not dodge the layers.

A mechanism declares its kind, parameters and capabilities. Whoever asks for a class,
inspects a constructor or compares a name treats a plugin worse than the house's own.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ldpkit
from ldpkit.core.domains.base import Domain
from ldpkit.core.hooks import HOOKS
from ldpkit.mechanisms.base import MECHANISMS, Mechanism

ROOT = Path(ldpkit.__file__).parent
LAYERS = [
    layer.removeprefix("ldpkit.")
    for layer in tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ][0]["layers"]
]

# TO BE EMPTIED: rooms that still ask for classes, signatures and names. Remove a room once it
# reads declarations; a room that needs no exception fails the test below.
NOT_YET_CONVERTED = ("figures",)


def _subclasses(base: type) -> Iterator[type]:
    for each in base.__subclasses__():
        yield each
        yield from _subclasses(each)


def _of_the_house(base: type) -> dict[str, set[str]]:
    """Return the classes of a tree with the modules that define them."""
    list(MECHANISMS)
    found: dict[str, set[str]] = {}
    for each in (base, *_subclasses(base)):
        if each.__module__.startswith("ldpkit."):
            found.setdefault(each.__name__, set()).add(each.__module__)
    return found


CLASSES = _of_the_house(Mechanism) | _of_the_house(Domain)
NAMES = {each for name in MECHANISMS for each in (name, *MECHANISMS.aliases(name))}
ABILITIES = {
    name
    for base in (Mechanism, *_subclasses(Mechanism))
    if base.__module__.startswith("ldpkit.")
    for name in vars(base)
    if not name.startswith("__")
}


def _called(node: ast.AST) -> str | None:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


def _words(node: ast.AST) -> set[str]:
    """Return the names at the end of dotted names, and those in tuples and unions of them."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Attribute):
        return {node.attr}
    return {word for child in ast.iter_child_nodes(node) for word in _words(child)}


def class_checks(tree: ast.AST, module: str) -> Iterator[ast.AST]:
    """Find `isinstance` and `issubclass` against mechanisms or domains, but of a class's own module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in ("isinstance", "issubclass"):
            asked = {name for name in _words(node.args[1]) & CLASSES.keys() if module not in CLASSES[name]}
            if asked:
                yield node


def signatures(tree: ast.AST, module: str) -> Iterator[ast.AST]:
    """Find inspected signatures."""
    for node in ast.walk(tree):
        inspected = isinstance(node, ast.Attribute) and node.attr in ("signature", "getfullargspec")
        imported = isinstance(node, ast.ImportFrom) and node.module == "inspect"
        if inspected or imported:
            yield node


def abilities(tree: ast.AST, module: str) -> Iterator[ast.AST]:
    """Find `hasattr(mechanism, "something that mechanisms have")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == "hasattr":
            asked = node.args[1]
            if isinstance(asked, ast.Constant) and asked.value in ABILITIES:
                yield node


def names(tree: ast.AST, module: str) -> Iterator[ast.AST]:
    """Find comparisons with the literal name of a mechanism, alone or in a tuple."""
    for node in ast.walk(tree):
        compared: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            compared = [node.left]
            for part in node.comparators:
                compared += part.elts if isinstance(part, (ast.Tuple, ast.List, ast.Set)) else [part]
        elif isinstance(node, ast.MatchValue):
            compared = [node.value]
        if any(isinstance(each, ast.Constant) and each.value in NAMES for each in compared):
            yield node


def _layer(module: str) -> int | None:
    """Return how high a module is, 0 for core; None for what is in no layer."""
    room = module.removeprefix("ldpkit.").partition(".")[0]
    return len(LAYERS) - 1 - LAYERS.index(room) if room in LAYERS else None


def upward_strings(tree: ast.AST, module: str) -> Iterator[ast.AST]:
    """Find strings that name a module of a higher layer, as registries and lazy imports take them."""
    own = _layer(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and own is not None:
            named = re.fullmatch(r"(ldpkit(?:\.\w+)+)(?::\w+)?", node.value)
            above = _layer(named.group(1)) if named else None
            if above is not None and above > own:
                yield node


def roots(tree: ast.AST, module: str) -> Iterator[ast.AST]:
    """Find `import ldpkit`, through which every layer can be reached."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(each.name == "ldpkit" for each in node.names):
            yield node
        taken = node.names if isinstance(node, ast.ImportFrom) and node.module == "ldpkit" else []
        if any(each.name != "__version__" for each in taken):
            yield node


DECLARATION_RULES = (class_checks, signatures, abilities, names)
Rule = Callable[[ast.AST, str], Iterator[ast.AST]]


def _files() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


@functools.cache
def _trees() -> list[tuple[str, Path, ast.Module]]:
    return [(module, path, ast.parse(path.read_text())) for module, path in _files()]


def _found(rule: Rule, *, within: tuple[str, ...] = (), but: tuple[str, ...] = ()) -> list[str]:
    rooms = (module.removeprefix("ldpkit.").partition(".")[0] for module, _, _ in _trees())
    return [
        f"{path}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)}"
        for room, (module, path, tree) in zip(rooms, _trees(), strict=True)
        if room not in but and (not within or room in within)
        for node in rule(tree, module)
    ]


@pytest.mark.parametrize("rule", DECLARATION_RULES)
def test_declarations_decide(rule: Rule) -> None:
    assert not _found(rule, but=NOT_YET_CONVERTED), "ask ldpkit.mechanisms.kinds, or let the mechanism say it"


@pytest.mark.parametrize("room", NOT_YET_CONVERTED)
def test_an_exception_that_is_not_needed_is_removed(room: str) -> None:
    assert any(_found(rule, within=(room,)) for rule in DECLARATION_RULES), f"remove {room!r} from the list"


def test_strings_respect_the_layers() -> None:
    hooks = "ldpkit.core.hooks"
    upward = [
        f"{path}: {ast.unparse(node)}"
        for module, path, tree in _trees()
        if module != hooks
        for node in upward_strings(tree, module)
    ]
    assert not upward, "a call upward has a name in core/hooks.py"
    assert not [
        f"{path}: {ast.unparse(node)}" for module, path, tree in _trees() for node in roots(tree, module)
    ]


def test_hooks_are_there_and_are_called_from_below() -> None:
    used: dict[str, set[str]] = {name: set() for name in HOOKS}
    for module, _, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node) in ("call_up", "MethodAbove"):
                named = node.args[0]
            elif isinstance(node, ast.Subscript) and _words(node.value) == {"HOOKS"}:
                named = node.slice
            else:
                continue
            if isinstance(named, ast.Constant):
                used[named.value].add(module)
    for name, target in HOOKS.items():
        home, _, attribute = target.partition(":")
        found = importlib.import_module(home)
        assert not attribute or hasattr(found, attribute)
        height = _layer(home)
        assert used[name], f"nobody calls the hook {name}"
        assert height is not None
        assert all((_layer(module) or 0) <= height for module in used[name])  # or round a circle


def test_public_names_are_where_they_are_said_to_be() -> None:
    for home, members in ldpkit._HOMES.items():
        module = importlib.import_module(f"ldpkit.{home}".rstrip("."))
        for name in members:
            found = getattr(ldpkit, name)
            assert found is getattr(module, name, None) or found.__name__ == f"ldpkit.{home}.{name}"
    named = [name for members in ldpkit._HOMES.values() for name in members]
    assert sorted([*named, *ldpkit._NAMESPACES]) == sorted(ldpkit.__all__)


@pytest.mark.parametrize(
    ("rule", "bad", "good"),
    [
        (class_checks, "isinstance(m, oracle.GRR)", "isinstance(m, int)"),
        (class_checks, "issubclass(kind, (int, NumericMechanism))", "is_numeric(kind)"),
        (class_checks, "isinstance(m.domain, CategoricalDomain)", "m.domain.size is None"),
        (signatures, "inspect.signature(kind).parameters", "kind.declared"),
        (signatures, "from inspect import signature", "import inspect"),
        (abilities, "hasattr(kind, 'variance')", "hasattr(values, 'to_numpy')"),
        (names, "name == 'aaa'", "name == 'auto'"),
        (names, "kind.name not in ('olh', other)", "name not in _PUBLISHED"),
        (names, "match name:\n    case 'l_grr': pass", "match name:\n    case 'mean': pass"),
        (upward_strings, "Registry('method', 'ldpkit.estimation.consistency')", "call('ldpkit.core.random')"),
        (upward_strings, "load('ldpkit.cli.main:app')", "'see ldpkit.cli.main'"),
        (roots, "import ldpkit", "from ldpkit.core import random"),
        (roots, "from ldpkit import GRR", "from ldpkit import __version__"),
    ],
)
def test_each_rule_finds_what_it_is_for(rule: Rule, bad: str, good: str) -> None:
    assert list(rule(ast.parse(bad), "ldpkit.mechanisms.other"))
    assert not list(rule(ast.parse(good), "ldpkit.mechanisms.other"))


def test_a_class_may_know_itself() -> None:
    check = ast.parse("isinstance(other, CategoricalDomain)")
    assert not list(class_checks(check, "ldpkit.core.domains.categorical"))
    assert list(class_checks(check, "ldpkit.core.domains.interval"))
