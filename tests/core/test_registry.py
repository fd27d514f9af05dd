"""Registries and plugins: names, near matches, duplicates, and files that do not load."""

from __future__ import annotations

import sys
import textwrap

import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError, PluginError, UnknownNameError
from ldpkit.core.registry import Registry, load_plugin
from ldpkit.mechanisms.base import MECHANISMS


@pytest.fixture
def shapes():
    registry: Registry[type] = Registry("shape")

    @registry.register("square", "box", "quad_4")
    class Square: ...

    @registry.register("circle")
    class Circle: ...

    registry.square, registry.circle = Square, Circle
    return registry


def test_members_are_found_by_name_and_alias_in_any_spelling(shapes):
    for name in ("square", "SQUARE", "Box", "quad-4", "QUAD_4"):
        assert shapes.get(name) is shapes.square
    assert list(shapes) == ["circle", "square"]
    assert shapes.items() == [("circle", shapes.circle), ("square", shapes.square)]
    assert shapes.aliases("square") == ["box", "quad_4"]
    assert shapes.aliases("circle") == []
    assert "square" in shapes
    assert "box" in shapes
    assert "triangle" not in shapes
    assert 3 not in shapes


def test_unknown_names_get_near_ones(shapes):
    with pytest.raises(UnknownNameError, match="unknown shape 'sqare': did you mean square"):
        shapes.get("sqare")
    with pytest.raises(UnknownNameError, match="unknown shape 'bx': did you mean box"):
        shapes.get("bx")
    with pytest.raises(UnknownNameError, match="choose from box, circle, quad_4, square"):
        shapes.get("zzz")
    with pytest.raises(LookupError):
        shapes.get("")


@pytest.mark.parametrize("name", [None, 3, b"square", ["square"], object()])
def test_a_name_is_text(shapes, name):
    with pytest.raises(InvalidParameterError, match="a shape name is text"):
        shapes.get(name)


@pytest.mark.parametrize("name", ["Square", "a b", "a-b", "", "a.b", "../a", "a/b", "_"])
def test_senseless_names_are_not_registered(shapes, name):
    for names in ((name,), ("fine", name)):
        with pytest.raises(InvalidParameterError, match="lower-case"):
            shapes.register(*names)(object())
    assert "fine" not in shapes


@pytest.mark.parametrize(
    "names", [("square",), ("box",), ("new", "square"), ("new", "box"), ("new", "other", "circle")]
)
def test_names_and_aliases_are_taken_once(shapes, names):
    with pytest.raises(PluginError, match="is taken: choose another name"):
        shapes.register(*names)(type("Other", (), {}))
    assert list(shapes) == ["circle", "square"], "a refused registration leaves nothing behind"
    assert shapes.get("square") is shapes.square
    assert shapes.get("box") is shapes.square


def test_the_same_definition_may_come_again(shapes):
    again = type(
        "Square", (), {"__qualname__": shapes.square.__qualname__, "__module__": shapes.square.__module__}
    )
    shapes.register("square", "box")(again)
    assert shapes.get("box") is again


def test_the_house_registers_itself():
    names = ldpkit.list_mechanisms()
    assert {"grr", "sue", "oue", "blh", "olh", "ss"} <= set(names)
    assert names == sorted(names)
    assert ldpkit.get("krr", 4, epsilon=1.0) == ldpkit.GRR(4, 1.0)
    assert ldpkit.get("RAPPOR", 4, epsilon=1.0) == ldpkit.SUE(4, 1.0)
    with pytest.raises(UnknownNameError, match="did you mean"):
        ldpkit.get("ohl", 4, epsilon=1.0)
    with pytest.raises(InvalidParameterError, match="grr needs epsilon: it takes epsilon"):
        ldpkit.get("grr", 4)
    with pytest.raises(InvalidParameterError, match="grr has no parameter 'delta': it takes epsilon"):
        ldpkit.get("grr", 4, epsilon=1.0, delta=0.1)


def test_mechanisms_is_a_function_whatever_was_imported_before():
    """The package ldpkit.mechanisms must not hide the function of that name."""
    import subprocess

    for first in (
        "pass",
        "import ldpkit.mechanisms.base",
        "ldpkit.GRR",
        "from ldpkit.mechanisms import tally",
    ):
        code = f"import ldpkit\n{first}\nassert 'grr' in ldpkit.list_mechanisms()\nldpkit.mechanisms.base"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"after {first!r}: {done.stderr}"


@pytest.mark.parametrize("missing", ["name", "title", "citation"])
def test_a_mechanism_must_say_what_it_is(missing):
    attributes = {"name": "nameless", "title": "T", "citation": "C"}
    attributes.pop(missing)
    with pytest.raises(InvalidParameterError, match=f"needs a class attribute '{missing}'"):
        ldpkit.register(type("Nameless", (ldpkit.Mechanism,), attributes))
    assert "nameless" not in MECHANISMS


# --- plugin files ----------------------------------------------------------------------


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a plugin file; forget afterwards what it registered."""
    for field in ("_members", "_aliases"):
        monkeypatch.setattr(MECHANISMS, field, dict(getattr(MECHANISMS, field)))
    before = set(sys.modules)

    def make(text, name="plug.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    yield make
    for name in set(sys.modules) - before:
        if name.startswith("ldpkit_plugin_"):
            del sys.modules[name]


MECHANISM = """
    import ldpkit

    @ldpkit.register
    class Mine(ldpkit.GRR):
        name = "{name}"
        aliases = ()
        title = "Mine"
        citation = "none"
"""


def test_a_plugin_registers_its_mechanism(write):
    path = write(MECHANISM.format(name="plugged"))
    load_plugin(path)
    assert "plugged" in ldpkit.list_mechanisms()
    made = ldpkit.get("plugged", 3, epsilon=1.0)
    assert made.tally(made.privatize([0, 1, 2])).n == 3
    load_plugin(str(path))  # again: the same definition
    assert ldpkit.list_mechanisms().count("plugged") == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("import no_such_module_at_all\n", "ModuleNotFoundError"),
        ("raise ValueError('my reason')\n", "my reason"),
        (
            "import ldpkit\n@ldpkit.register\nclass Nameless(ldpkit.GRR):\n    title = 3\n",
            "needs a class attribute",
        ),
    ],
)
def test_a_plugin_that_does_not_load_says_why(write, text, reason):
    path = write(text)
    with pytest.raises(PluginError, match=reason) as caught:
        load_plugin(path)
    assert "plug.py" in str(caught.value)
    assert "ldpkit_plugin_plug" not in sys.modules


def test_a_plugin_cannot_take_a_name_of_the_house(write):
    ldpkit.list_mechanisms()
    for name in ("grr", "krr", "olh"):
        with pytest.raises(PluginError, match=f"'{name}' is taken"):
            load_plugin(write(MECHANISM.format(name=name), f"taker_{name}.py"))
    assert ldpkit.get("grr", 3, epsilon=1.0) == ldpkit.GRR(3, 1.0)


EARLY = """
import sys
import ldpkit
from ldpkit.core.errors import PluginError
refused = 0
try:
    ldpkit.load_plugin(sys.argv[1])
except PluginError:
    refused += 1
for _ in range(2):
    try:
        names = ldpkit.list_mechanisms()
    except PluginError:
        refused += 1
        continue
    assert {"grr", "olh", "ss", "sue"} <= set(names), names
    assert type(ldpkit.get("olh", 3, epsilon=1.0)).__module__.startswith("ldpkit."), "the name was taken"
assert refused
"""


def test_a_plugin_loaded_first_cannot_take_a_name_of_the_house_either(write):
    import subprocess

    path = write(
        """
        import ldpkit
        from ldpkit.mechanisms.categorical.grr import GRR

        @ldpkit.register
        class Mine(GRR):
            name = "olh"
            aliases = ()
            title = "Not what it says"
            citation = "none"
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", EARLY, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PluginError, match=r"no_such\.py.*does not exist: check the path"):
        load_plugin(tmp_path / "no_such.py")
    with pytest.raises(PluginError, match="is a directory: give a Python file"):
        load_plugin(tmp_path)


def test_a_file_that_is_no_python_is_refused(write):
    for name in ("plug.txt", "plug", "plug.json"):
        with pytest.raises(PluginError, match=r"must end in \.py"):
            load_plugin(write("import ldpkit", name))
