"""AAA as a mechanism: exact in its integers, from the solver's floats to the sampler's words."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldpkit
from ldpkit.core.errors import FileFormatError, InvalidParameterError
from ldpkit.core.exact import WORD
from ldpkit.mechanisms.adaptive import solve as solving
from ldpkit.mechanisms.adaptive.compare import choose, grid_variances, rounding_variance
from ldpkit.mechanisms.adaptive.mechanism import AAA
from ldpkit.mechanisms.adaptive.solve import fitted_table, solve
from ldpkit.mechanisms.adaptive.table import NoiseTable
from ldpkit.mechanisms.base import from_spec
from ldpkit.mechanisms.tally import Tally

SKEWED = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
FALSE_ALARM = 1e-9
SAID = f"false-alarm rate {FALSE_ALARM:g}, seed fixed"


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("grid", [None, 8, 64])
def test_epsilon_is_exact_on_the_grid(epsilon, grid):
    mechanism = AAA((0, 10), epsilon, descriptor=SKEWED, grid=grid)
    assert epsilon - 1e-6 < mechanism.exact_epsilon() <= epsilon
    if grid is not None:
        assert mechanism.channel().epsilon() == mechanism.exact_epsilon()


def test_epsilon_is_that_of_the_channel_where_the_grid_misses_the_rows():
    for intervals in (3, 7, 16):
        mechanism = AAA((0, 1), 1.0, intervals=intervals, grid=16)
        assert mechanism.channel().epsilon() == mechanism.exact_epsilon() <= 1


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=9).filter(lambda shares: sum(shares) > 0.1),
    st.floats(0.05, 10),
)
def test_every_table_is_exactly_private_unbiased_and_nearly_optimal(shares, epsilon):
    descriptor = np.array(shares) / sum(shares)
    table = fitted_table(descriptor, epsilon)
    table.check(epsilon)
    for own, row in enumerate(table.rows):
        assert sum(row) == WORD
        assert sum(weight * output for weight, output in zip(row, table.outputs, strict=True)) == own * WORD
    assert descriptor @ table.variances <= solve(descriptor, epsilon).value * (1 + 1e-3) + 1e-5


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_repair_costs_less_than_a_millionth(epsilon):
    descriptor = np.array([1, 2, 4, 8, 12, 8, 4, 2, 1]) / 42
    value = solve(descriptor, epsilon).value
    assert descriptor @ fitted_table(descriptor, epsilon).variances == pytest.approx(value, rel=1e-6)


def test_a_symmetric_descriptor_has_a_symmetric_mechanism():
    mechanism = AAA((-1, 1), 1.0, intervals=8)
    assert mechanism.variance(-0.3) == pytest.approx(mechanism.variance(0.3), rel=1e-12)


def test_a_table_that_breaks_its_promise_is_refused():
    table = fitted_table(SKEWED, 1.0)
    table.check(1.0)
    with pytest.raises(InvalidParameterError, match=r"not 0\.99-LDP but has epsilon 0\.99999"):
        table.check(0.99)

    def tampered(own, *changes):
        rows = [list(row) for row in table.rows]
        for place, change in changes:
            rows[own][place] += change
        return dataclasses.replace(table, rows=tuple(map(tuple, rows)))

    with pytest.raises(InvalidParameterError, match="input 2 are not positive integers that sum"):
        tampered(2, (0, 1)).check(1.0)
    with pytest.raises(InvalidParameterError, match="biased for input 1"):
        tampered(1, (0, 1), (1, -1)).check(1.0)
    steps = [right - left for left, right in zip(table.outputs, table.outputs[1:], strict=False)]
    place = next(at for at in range(len(steps) - 1) if steps[at] == steps[at + 1])
    mass = table.rows[0][place + 1] // 2 - 1
    with pytest.raises(InvalidParameterError, match="not 1-LDP"):  # mean and mass kept, privacy not
        tampered(0, (place, mass // 2), (place + 1, -2 * (mass // 2)), (place + 2, mass // 2)).check(1.0)


def test_a_device_checks_the_table_it_is_given():
    spec = AAA((0, 1), 1.0, descriptor=SKEWED).spec()
    spec["parameters"]["epsilon"] = 0.5
    with pytest.raises(InvalidParameterError, match=r"not 0\.5-LDP"):
        from_spec(json.loads(json.dumps(spec)))
    spec = AAA((0, 1), 1.0, descriptor=SKEWED).spec()
    for weights in ("", "xyz", spec["parameters"]["weights"][:-1], "g" + spec["parameters"]["weights"][1:]):
        with pytest.raises(InvalidParameterError, match=r"hexadecimal|at least two"):
            AAA((0, 1), 1.0, outputs=spec["parameters"]["outputs"], weights=weights)
    with pytest.raises(InvalidParameterError, match="give both or none"):
        AAA((0, 1), 1.0, outputs=[0, 1])


def test_the_description_holds_the_table():
    mechanism = AAA((0, 1), 1.0, descriptor=SKEWED)
    twin = from_spec(json.loads(json.dumps(mechanism.spec())))
    assert twin == mechanism
    assert hash(twin) == hash(mechanism)
    other = AAA((0, 1), 1.0, descriptor=SKEWED[::-1])
    assert other.parameters() == mechanism.parameters()
    assert other != mechanism
    tally = mechanism.tally(mechanism.privatize([0.5] * 10, rng=ldpkit.random.seeded(1)))
    assert Tally.from_bytes(tally.to_bytes()) == tally


def test_text_form():
    table = NoiseTable((-1, 0, 2), ((1, 2, WORD - 3), (5, WORD - 6, 1)))
    assert NoiseTable.from_text(table.outputs, table.to_text()) == table


@pytest.mark.parametrize("intervals", [1, 2, 7, 16])
def test_moments_are_those_of_the_law(intervals):
    mechanism = AAA((-3, 5), 1.5, intervals=intervals)
    points = np.array([float(point) for point in mechanism.atom_points])
    for x in (-3.0, -2.9, 0.0, 1.0, 4.321, 5.0):
        place = int(mechanism.domain.encode([x], steps=mechanism.grid)[0])
        law, share = mechanism.law(place), Fraction(place, mechanism.grid)
        mean = sum(
            Fraction(weight, law.total) * point
            for weight, point in zip(law.atoms, mechanism.atom_points, strict=True)
        )
        assert mean == share, "the mean report is not the value, exactly"
        exact = float(law.atom_masses @ (points - float(share)) ** 2) * 64
        assert mechanism.variance(x) == pytest.approx(exact, rel=1e-9)
        assert mechanism.variance(x) == pytest.approx(mechanism.error(x, 2), rel=1e-5)
        assert mechanism.bias(x) == 0
    assert mechanism.variance(np.array([[0.0, 1.0]])).shape == (1, 2)
    low, high = mechanism.output_range
    assert mechanism.cdf(high, 1.0) == pytest.approx(1)
    assert mechanism.cdf(low - 1e-9, 1.0) == 0


def test_rounding_adds_its_variance():
    mechanism = AAA((-1, 1), 2.0, intervals=4)
    middle, ends = mechanism.variance(0.25), mechanism.variance(np.array([0.0, 0.5]))
    assert middle - ends.mean() == pytest.approx(0.25**2, rel=1e-9)
    x = np.linspace(0, 0.5, 100_001)
    line = np.interp(x, [0, 0.5], ends)
    assert (mechanism.variance(x[::1000]) - line[::1000]).mean() == pytest.approx(
        rounding_variance(4), rel=0.02
    )


def p_value(mechanism, place, reports):
    from scipy.stats import chisquare

    expected = mechanism.law(place).atom_masses * len(reports)
    observed = np.bincount(reports, minlength=len(expected)).astype(float)
    rare = expected < 20
    expected = np.append(expected[~rare], expected[rare].sum())
    observed = np.append(observed[~rare], observed[rare].sum())
    if expected[-1] < 1e-3:
        assert observed[-1] == 0, "an output that is all but impossible occurred"
        expected, observed = expected[:-1], observed[:-1]
    return chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


@pytest.mark.parametrize("x", [0.0, 0.11, 0.5, 0.77, 1.0])
def test_reports_follow_the_law(x):
    mechanism = AAA((0, 1), 2.0, descriptor=SKEWED)
    place = int(mechanism.domain.encode([x], steps=mechanism.grid)[0])
    reports = mechanism.privatize(np.full(200_000, x), rng=ldpkit.random.seeded(5))
    found = p_value(mechanism, place, reports)
    assert found > FALSE_ALARM, f"reports of {x} do not follow the law, p-value {found:.2g} ({SAID})"
    other = p_value(mechanism, abs(place - mechanism.grid // 25), reports)
    assert other < FALSE_ALARM, "the negative control passes: a law for another value fits as well"


def test_simulated_tallies_have_the_law_of_reports():
    mechanism = AAA((0, 1), 1.0, descriptor=SKEWED)
    people = np.array([400, 0, 100, 300, 200])
    drawn = mechanism.simulate(people, rng=ldpkit.random.seeded(2), repeats=4000)
    assert drawn.shape == (4000, mechanism.tally_size)
    assert (drawn.sum(axis=1) == 1000).all()
    means = np.array([float(mechanism.total(counts)) for counts in drawn]) / 1000
    truth = people @ np.linspace(0, 1, 5) / 1000
    error = np.sqrt(people @ mechanism.variance(np.linspace(0, 1, 5))) / 1000
    z = (means.mean() - truth) / (error / np.sqrt(4000))
    assert abs(z) < 6, f"simulated means are biased, z-score {z:.1f} (false-alarm rate 2e-9, seed fixed)"
    assert means.std() == pytest.approx(error, rel=0.07)
    real = mechanism.tally(
        mechanism.privatize(np.repeat(np.linspace(0, 1, 5), people), rng=ldpkit.random.seeded(3))
    )
    assert real.counts.shape == drawn[0].shape


def test_the_standard_error_knows_where_people_are():
    shares = np.array([0.02, 0.03, 0.1, 0.7, 0.1, 0.03, 0.02])
    mechanism = AAA((0, 1), 2.0, descriptor=shares)
    for value in (0.0, 0.5):
        estimate = mechanism.tally(
            mechanism.privatize(np.full(50_000, value), rng=ldpkit.random.seeded(6))
        ).estimate()
        exact = np.sqrt(mechanism.variance(value) / 50_000)
        assert exact * 0.97 < estimate.stderr < exact * 1.1
        assert abs(estimate.mean - value) < 6 * exact
        assert estimate.variance == pytest.approx(0, abs=0.02)
        few = mechanism.privatize(np.full(100, value), rng=ldpkit.random.seeded(7))
        assert mechanism.tally(few).estimate(population=True).stderr > 0


def test_tables_are_kept(monkeypatch, tmp_path):
    descriptor = np.array([0.123, 0.345, 0.532])
    first = fitted_table(descriptor, 1.25, cache=tmp_path)
    (file,) = tmp_path.iterdir()

    def forbidden(*arguments, **options):
        raise AssertionError("solved again")

    monkeypatch.setattr(solving, "solve", forbidden)
    assert fitted_table(descriptor, 1.25) is first
    monkeypatch.setattr(solving, "_kept", {})
    assert fitted_table(descriptor, 1.25, cache=tmp_path) == first
    monkeypatch.setattr(solving, "_kept", {})
    record = json.loads(file.read_bytes())
    last = record["weights"][-1]
    record["weights"] = record["weights"][:-1] + ("0" if last != "0" else "1")
    file.write_text(json.dumps(record))
    with pytest.raises(FileFormatError, match=r"cannot be used: .*: remove it"):
        fitted_table(descriptor, 1.25, cache=tmp_path)
    with pytest.raises(AssertionError, match="solved again"):
        fitted_table(descriptor, 1.2500001, cache=tmp_path)


def test_it_beats_the_others_where_data_are_concentrated():
    centre = np.zeros(17)
    centre[8] = 1
    found = {name: variances[8] for name, variances in grid_variances(centre, 4.0).items()}
    assert min(found, key=found.get) == "aaa"
    assert found["laplace"] == pytest.approx(8 / 16, rel=1e-3)
    assert found["duchi"] == pytest.approx(1 / np.tanh(2) ** 2, rel=1e-6)
    s = np.exp(2)
    assert found["pm"] == pytest.approx((s + 3) / (3 * (s - 1) ** 2), rel=1e-3)
    with pytest.raises(InvalidParameterError, match="not an unbiased numeric mechanism"):
        grid_variances(centre, 1.0, rivals=["sw"])


def test_a_lead_that_may_be_chance_does_not_count():
    shares = np.array([0.25, 0.5, 0.25])
    variances = {"duchi": np.array([1.0, 3.0, 1.0]), "hm": np.full(3, 1.9), "aaa": np.array([1.8, 1.4, 1.8])}
    # AAA leads HM by 0.3 on average. The lead is 0.1, 0.5, 0.1, so its standard error is 0.33 of a share's.
    assert choose(variances, shares, np.full(3, 0.9)) == "aaa"
    assert choose(variances, shares, np.full(3, 0.95)) == "hm"
    assert choose(variances, np.array([0.5, 0, 0.5]), np.zeros(3)) == "duchi"
    even = {"duchi": np.full(3, 2.0), "aaa": np.full(3, 1.9)}
    assert choose(even, shares, np.full(3, 100.0)) == "aaa", "a lead at all points alike has no error"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"intervals": 0}, "intervals must be at least 1"),
        ({"intervals": 3, "descriptor": [0.5, 0.5]}, "intervals=3 need 4 inputs"),
        ({"noise_range": 2}, "infeasible"),
        ({"descriptor": [0.5, 0.1]}, "sum to 1"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        AAA((0, 1), 1.0, **options)
