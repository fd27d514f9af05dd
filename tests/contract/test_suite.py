"""The suite itself: what it says, what it refuses, and one file of a third party that passes it."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpkit
from contract.subjects import MECHANISM_NAMES, ORACLE_NAMES, is_of_the_house, oracle
from ldpkit.core.errors import ContractError, FileFormatError, InvalidInputError, InvalidParameterError
from ldpkit.core.exact import log_up
from ldpkit.mechanisms.base import MECHANISMS, from_spec
from ldpkit.mechanisms.channel import Channel
from ldpkit.testing import check_mechanism, checks_for
from ldpkit.testing.false_alarms import fits

ROOT = Path(__file__).parents[2]
PLUGIN = Path(__file__).with_name("example_plugin.py")
seeded = ldpkit.random.seeded


# --- what it says ----------------------------------------------------------------------


def test_a_broken_mechanism_is_told_which_checks_fail_and_what_was_found():
    class Broken(ldpkit.GRR):
        def exact_epsilon(self):
            return 2.0

        def decode(self, data):
            raise TypeError("no such thing")

    with pytest.raises(ContractError) as caught:
        check_mechanism(Broken(4, 1.0), only=("description", "epsilons", "wire_form", "seeds"))
    said = str(caught.value)
    assert said.startswith("Broken(4, epsilon=1) fails 3 of 4 checks:")
    assert "- description (" in said
    assert "found <class 'ldpkit.mechanisms.categorical.grr.GRR'>" in said
    assert "- epsilons (" in said
    assert "expected at most 1.0, found 2.0" in said
    assert "- wire_form (" in said
    assert "found TypeError: no such thing" in said


def test_it_says_what_passed_and_what_does_not_apply():
    report = check_mechanism("she", only=("channels", "frozen"))
    assert report.passed == ("frozen",)
    assert [name for name, _ in report.skipped] == ["channels"]
    assert "skipped channels: its reports cannot be listed" in repr(report)


def test_an_unknown_check_or_mechanism_is_refused():
    with pytest.raises(InvalidParameterError, match="no check 'smell': choose from"):
        check_mechanism("grr", only=("smell",))
    with pytest.raises(ldpkit.errors.UnknownNameError):
        check_mechanism("no_such_mechanism")


def test_every_check_has_a_name_of_its_own_and_a_clause():
    for name in ("grr", "she", "pm"):
        checks = checks_for(name)
        assert len({check.name for check in checks}) == len(checks) >= 30
        assert all(check.clause.endswith(".") for check in checks)


def test_labels_many_values_and_other_parameters_are_checked_too():
    check_mechanism(ldpkit.OUE(["a", "b", "c"], 2.0), only=("labels", "equality", "wire_form"))
    check_mechanism(ldpkit.DBitFlip(10**5, 1.0, d=3), only=("equality", "seeds", "tally_addition", "sizes"))


# --- a mechanism that is not for every number of values --------------------------------


class Six(ldpkit.MatrixMechanism):
    """Randomised response with a matrix for six values and no others."""

    name, title, citation = "six", "For six values", "none"

    def matrix(self):
        return np.where(np.eye(6), np.exp(self.epsilon), 1.0)


class Pair(ldpkit.MatrixMechanism):
    """Subset selection with two values in each report: two values have one such report, 100 have 4950."""

    name, title, citation = "pair", "Always two", "none"

    def matrix(self):
        pairs = np.array([(a, b) for a in range(self.size) for b in range(a)])
        held = (pairs[None] == np.arange(self.size)[:, None, None]).any(axis=2)
        return np.where(held, np.exp(self.epsilon), 1.0)


def test_one_size_only_is_declared_and_checked_at_that_size():
    class Declared(Six):
        smallest_domain = largest_domain = 6

    labels = [f"label {index}" for index in range(6)]
    names = ("wire_form", "labels", "simulation_seeds", "sizes")
    report = check_mechanism(Declared(labels, epsilon=1), only=("epsilons", *names))
    assert set(report.passed) == set(names)
    ((name, reason),) = report.skipped
    assert (name, reason[:48]) == ("epsilons", "only the last part, since Declared cannot be mad")
    assert reason.endswith("with 1,000,000 values at epsilon 1; the rest of it passes")
    with pytest.raises(InvalidParameterError, match="six is for at least 6 values, got 5"):
        Declared(5, epsilon=1)


@pytest.mark.parametrize("size", [6, 13])
def test_a_mechanism_that_cannot_be_made_gets_one_line(size):
    with pytest.raises(ContractError, match="nothing is checked") as caught:
        check_mechanism(Six(size, epsilon=1))
    assert str(caught.value).endswith("values only, say smallest_domain = largest_domain = 6")
    assert "\n" not in str(caught.value)


def test_sizes_that_fail_are_told_with_the_declaration_that_excludes_them():
    with pytest.raises(
        ContractError, match="if 2 values are too few for it, say smallest_domain = 3"
    ) as told:
        check_mechanism(Pair(5, epsilon=1), only=("epsilons",))
    assert "tight" not in str(told.value)
    with pytest.raises(InvalidParameterError, match="say with largest_domain how many values"):
        Pair(100, epsilon=1).exact_epsilon()


# --- a plugin --------------------------------------------------------------------------


@pytest.fixture
def plugin():
    ldpkit.load_plugin(PLUGIN)
    yield "example_hadamard"
    del MECHANISMS._members["example_hadamard"]


def test_one_file_is_enough_for_the_whole_contract(plugin, request):
    report = check_mechanism(plugin)
    assert len(report.passed) > 30
    assert [name for name, _ in report.skipped] == ["valid_records"]


def test_without_the_option_there_is_no_plugin(request):
    assert ("example_hadamard" in MECHANISM_NAMES) == bool(request.config.getoption("plugin"))


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_the_option_loads_a_plugin_here_and_in_workers(options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--plugin", str(PLUGIN)]
    command += ["tests/contract/test_contract.py", "-k", "test_contract and example_hadamard", *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


# --- what belongs to no single mechanism -----------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        {},
        None,
        [],
        "grr",
        {"mechanism": "grr"},
        {"mechanism": "nothing like it", "parameters": {}, "domain": 3},
    ],
)
def test_a_description_of_nothing_is_refused(spec):
    with pytest.raises(ldpkit.LdpkitError):
        from_spec(spec)


def test_other_files_are_no_tallies():
    for data in (b"", b"L", b"LDPT", b"PK\x03\x04" * 20, bytes(100), b"LDPT" + bytes(200)):
        with pytest.raises(FileFormatError):
            ldpkit.Tally.from_bytes(data)


@pytest.mark.parametrize("name", [name for name in ORACLE_NAMES if is_of_the_house(name)])
def test_a_channel_too_large_to_list_is_refused(name):
    mechanism = oracle(name, 1 << 17, 0.5)
    if not mechanism.can("hashed"):
        with pytest.raises(InvalidParameterError, match="smaller domain"):
            mechanism.channel()


def test_an_impossible_report_is_infinite_epsilon():
    half = Fraction(1, 2)
    assert Channel(np.arange(2), [[half, half], [Fraction(1), Fraction(0)]]).epsilon() == float("inf")
    assert Channel(np.arange(2), [[half, half], [half, half]]).epsilon() == 0.0


def test_the_realised_epsilon_is_that_of_two_real_rows():
    """The definition itself, on the full grid: PM's two extreme values over all cells."""
    mechanism = ldpkit.get("pm", (-1, 1), epsilon=1.0)
    weights = [Fraction(weight) for weight in mechanism.law(0).weights]
    assert log_up(max(weights) / min(weights)) == mechanism.exact_epsilon()


@pytest.mark.parametrize("name", ["grr", "lolh"])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_frames_are_values(name, library, untouched):
    module = pytest.importorskip(library)
    column = module.array if library == "pyarrow" else module.Series
    mechanism = oracle(name, 4)
    labelled = oracle(name, ["a", "b", "c"])
    for each, values in ((mechanism, [3, 0, 2]), (labelled, ["b", "c", "a"]), (mechanism, [True, False])):
        from_column = each.first_reports(column(values), rng=seeded(2))
        assert each.encode(from_column) == each.encode(each.first_reports(values, rng=seeded(2)))
    for each, values in (
        (mechanism, [3, None]),
        (mechanism, [0.0, float("nan")]),
        (mechanism, [0, 4]),
        (mechanism, ["a"]),
        (labelled, ["a", None]),
        (labelled, ["d"]),
        (labelled, [3]),
    ):
        with pytest.raises(InvalidInputError):
            each.first_reports(column(values), rng=untouched)


items = st.one_of(
    st.integers(),
    st.integers(-2, 7),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.lists(st.integers(), max_size=2),
    st.dates(),
)


@given(values=st.lists(items, max_size=6) | items)
def test_any_input_is_used_as_meant_or_refused(values):
    """Whatever comes in: the indices meant by it, or an InvalidInputError; never another exception."""
    mechanism = ldpkit.GRR(5, 1.0)
    try:
        reports = mechanism.first_reports(values, rng=seeded(1))
    except InvalidInputError:
        good = isinstance(values, list) and values and all(type(v) is int and 0 <= v < 5 for v in values)
        assert not good, "good values were refused"
        return
    assert len(reports) == len(values)
    assert all(value in range(5) for value in values), "a value outside the domain was accepted"


def test_the_goodness_of_fit_test_has_its_level():
    """p-values of true laws are uniform: checked by their mean and their smallest."""
    generator = np.random.default_rng(5)
    law = np.array([0.5, 0.3, 0.15, 0.05])
    surprises = [fits(row, law) for row in generator.multinomial(5000, law, 2000)]
    assert abs(np.mean(surprises) - 0.5) < 6 * np.sqrt(1 / 12 / 2000), "false-alarm rate 2e-9"
    assert min(surprises) > 1e-9 / 2000, "false-alarm rate 1e-9"
    assert fits([10, 0, 1], [0.5, 0.5, 0.0]) == 0.0, "what is impossible must not be pooled away"


@pytest.mark.parametrize(
    "subject", ["group_count", ldpkit.GroupCount(2, epsilon=1)], ids=["name", "mechanism"]
)
def test_a_kind_outside_the_contract_is_refused_with_the_reason_and_what_to_use(subject):
    with pytest.raises(
        InvalidParameterError, match=r"group_count makes one for a group .* use ldpkit\.audit"
    ):
        check_mechanism(subject)
    assert ldpkit.audit(ldpkit.GroupCount(2, epsilon=1), reports=1000).passed
