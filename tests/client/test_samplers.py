"""The reference samplers equal the compiled kernels, at every turn of every form."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import ldpkit
from contract.subjects import MECHANISM_NAMES
from ldpkit.client.samplers import FORMS, read_sampler
from ldpkit.core.errors import ContractError, InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.testing import example
from ldpkit.testing.device import check_device_epsilon, check_device_reports

FREQUENCY = ("grr", "blh", "olh", "sue", "oue", "the", "ss")
CHAINED = ("lgrr", "lblh", "lolh", "lsue", "loue", "lsoue", "losue")
SQUARE = ((0, 0), (1, 1))


def _variants():
    """Yield mechanisms at the edges of their forms."""
    for name in FREQUENCY:
        for size, epsilon in ((2, 0.1), (8, 1.0), (9, 5.0), (257, 1.0)):
            yield ldpkit.get(name, size, epsilon=epsilon)
    for name in CHAINED:
        for size, epsilon in ((2, 0.2), (9, 1.0), (300, 1.0)):
            yield ldpkit.get(name, size, epsilon_inf=2 * epsilon, epsilon_1=epsilon)
    yield ldpkit.get("blh", 1 << 18, epsilon=1.0)  # words of 64 bits
    yield from (ldpkit.get("olh", 1000, epsilon=epsilon) for epsilon in (5.6, 9.0, 20.0))
    yield ldpkit.get("lblh", 1 << 18, epsilon_inf=2.0, epsilon_1=1.0)
    for size, d in ((2, 1), (2, 2), (9, 9), (300, 8), (300, 7), (70_000, 3)):
        yield ldpkit.get("dbitflip", size, epsilon=1, d=d)
    for direction in ("sw", "purkayastha", "sectors"):
        yield ldpkit.get("tracs_d", SQUARE, epsilon=4, direction=direction, share=0.5)
    yield ldpkit.get("tracs_c", ldpkit.PlaneDomain.globe(), epsilon=4, share=0.5)
    yield ldpkit.get("planar_window", SQUARE, epsilon=4, window="disc")
    yield from (ldpkit.get("hm", (0, 1), epsilon=epsilon) for epsilon in (0.5, 9.0))
    yield from (ldpkit.get("laplace", (0, 1), epsilon=epsilon) for epsilon in (0.02, 1.9))
    yield ldpkit.get("aaa", (0, 1), epsilon=2, intervals=3)  # rows that are no places
    yield ldpkit.get("truncated_sw", (0, 1), epsilon=2, grid=16)


@pytest.mark.parametrize("check", [check_device_reports, check_device_epsilon])
def test_variants_of_mechanisms_are_the_same_on_a_device(check):
    for mechanism in _variants():
        check(mechanism)


def test_every_form_is_used_and_every_other_mechanism_says_why_it_has_none():
    used = set()
    for name in MECHANISM_NAMES:
        mechanism = example(name)
        if mechanism.can("client"):
            small = mechanism if name not in ("grid_exponential", "planar_laplace") else mechanism.sibling(4)
            used.add(small.sampler()["form"])
        else:
            with pytest.raises(InvalidParameterError, match=mechanism.not_for_devices):
                mechanism.sampler()
    used.add(example("hm", epsilon=2.0).sampler()["form"])
    assert used == FORMS.keys()
    without = {name for name in MECHANISMS if not MECHANISMS.get(name).can("client")}
    ours = {name for name in without if MECHANISMS.get(name).__module__.startswith("ldpkit.")}
    assert ours == {"atp", "bounded_laplace", "group_count", "joint_olh", "joint_sue", "jrr", "ngram", "she"}


@pytest.mark.parametrize(
    ("mechanism", "integers"),
    [
        (lambda: ldpkit.get("laplace", (0, 1), epsilon=4), "8,2"),
        (lambda: ldpkit.get("planar_laplace", SQUARE, epsilon=4), "10,000"),
    ],
)
def test_a_table_that_is_too_large_for_a_file_is_refused(mechanism, integers):
    with pytest.raises(InvalidParameterError, match=f"table of {integers}.*at most 4,096"):
        mechanism().sampler()


class Shifted(ldpkit.GRR):
    """Its kernel keeps one word more than its form says."""

    def _form(self):
        form = super()._form()
        keep, width = int(form["keep"]) - (self.size - 1), int(form["width"]) + 1
        return {**form, "keep": str(keep), "width": str(width)}


class Boastful(ldpkit.OUE):
    """It states less than its integers cost."""

    def exact_epsilon(self):
        return super().exact_epsilon() - 1e-9


class Other(ldpkit.SUE):
    """Its device draws bits the other way round."""

    def _randomise(self, indices, source):
        return ~super()._randomise(indices, source) & 0xFF


def test_a_device_that_differs_is_caught():
    check_device_reports(ldpkit.GRR(5, 1.0))
    with pytest.raises(ContractError, match="from a device for place"):
        check_device_reports(Shifted(5, 1.0))
    with pytest.raises(ContractError, match="from a device for place"):
        check_device_reports(Other(8, 1.0))
    with pytest.raises(ContractError, match=r"expected epsilon 0\.99999999.* on a device"):
        check_device_epsilon(Boastful(5, 1.0))


def test_a_plugin_with_a_matrix_runs_on_a_device_without_a_line_of_code():
    class Thirds(ldpkit.MatrixMechanism):
        name = "thirds"

        def matrix(self):
            return [[2, 1, 1, 2], [1, 2, 1, 2], [1, 1, 2, 2], [3, 3, 2, 1]]

    check_device_reports(Thirds(4, 2.0))
    check_device_epsilon(Thirds(4, 2.0))


@pytest.mark.parametrize("name", ["lgrr", "ss", "pm", "tracs_c", "noise"])
def test_a_single_report_loads_no_numerical_library(name):
    mechanism = example("staircase" if name == "noise" else name)
    program = f"""
import json, sys
from ldpkit.client.samplers import read_sampler
from ldpkit.client.epsilon import covers
from ldpkit.client.randomness import secure_bytes, key_stream
sampler = read_sampler(json.loads({json.dumps(json.dumps(mechanism.sampler()))}))
report = sampler.draw(tuple(0 for _ in sampler.places), secure_bytes)
assert len(report) == sampler.report_bytes and covers(1_000_001, *sampler.ratio())
heavy = {{"numpy", "numba", "scipy", "cryptography"}} & set(sys.modules)
print(sorted(heavy))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_forms_are_read_again_from_their_json():
    for mechanism in (example("grr"), example("tracs_d"), example("lolh")):
        form = mechanism.sampler()
        assert read_sampler(json.loads(json.dumps(form))) == read_sampler(form)
