"""The error tree: what a caller may catch, and what a message must hold."""

from __future__ import annotations

import inspect
import pickle

import pytest

import ldpkit
from ldpkit.core import errors
from ldpkit.core.installing import install_command

TREE = {
    "InvalidParameterError": ("LdpkitError", ValueError),
    "InvalidInputError": ("LdpkitError", ValueError),
    "OutOfDomainError": ("InvalidInputError", ValueError),
    "MismatchError": ("LdpkitError", ValueError),
    "FileFormatError": ("LdpkitError", Exception),
    "UnknownNameError": ("LdpkitError", LookupError),
    "WriteError": ("LdpkitError", OSError),
    "PluginError": ("LdpkitError", Exception),
    "ContractError": ("LdpkitError", AssertionError),
    "MissingDependencyError": ("LdpkitError", ImportError),
    "FrozenError": ("LdpkitError", AttributeError),
}


@pytest.mark.parametrize("name", TREE)
def test_every_error_has_its_place_in_the_tree(name):
    parent, builtin = TREE[name]
    assert issubclass(getattr(errors, name), getattr(errors, parent))
    assert issubclass(getattr(errors, name), builtin)


def test_the_tree_in_the_docstring_is_complete():
    defined = {
        name
        for name, thing in vars(errors).items()
        if inspect.isclass(thing) and issubclass(thing, Exception)
    }
    assert defined == {"LdpkitError", *TREE} == set(errors.__all__)
    for name in defined:
        assert name in errors.__doc__
    assert ldpkit.errors is errors
    assert ldpkit.LdpkitError is errors.LdpkitError


def test_a_file_error_knows_its_offset():
    error = errors.FileFormatError("the file is cut", offset=12)
    assert (str(error), error.offset) == ("the file is cut (at byte 12)", 12)
    error = errors.FileFormatError("the file is cut")
    assert (str(error), error.offset) == ("the file is cut", None)


def test_an_unknown_name_lists_near_ones_or_all():
    known = ["grr", "oue", "sue", "norm_sub"]
    assert str(errors.UnknownNameError("thing", "nomr_sub", known)).endswith("did you mean norm_sub?")
    assert "sue or oue" in str(errors.UnknownNameError("thing", "UE", known))
    far = str(errors.UnknownNameError("thing", "xyz", known))
    assert far == "unknown thing 'xyz': choose from grr, norm_sub, oue, sue"
    assert "choose from" in str(errors.UnknownNameError("thing", "", known))


def test_a_missing_dependency_says_how_to_get_it():
    told = str(errors.MissingDependencyError("matplotlib", "a plot", "plots"))
    assert told == f"a plot needs matplotlib: {install_command('plots')}"


@pytest.mark.parametrize(
    "name", ["InvalidParameterError", "OutOfDomainError", "MismatchError", "FrozenError"]
)
def test_errors_travel_between_processes(name):
    error = getattr(errors, name)("epsilon must be positive, got -1")
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)


@pytest.mark.parametrize(
    "error",
    [
        errors.FileFormatError("cut", offset=3),
        errors.UnknownNameError("mechanism", "grrr", ["grr"]),
        errors.MissingDependencyError("polars", "to_frame()", "frames"),
        errors.WriteError("a.ldp", "No space left on device"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_with_fields_travel_between_processes(error):
    """A worker process that refuses something must not bring the pool down with an unpicklable error."""
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)
