"""The contract of every numeric mechanism: exact on its grid, unbiased where it says so, additive."""

from __future__ import annotations

import inspect
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import ldpkit
from contract.checks import FALSE_ALARM, fits
from ldpkit.core.domains.interval import ClippedWarning
from ldpkit.core.errors import (
    FileFormatError,
    FrozenError,
    InvalidInputError,
    InvalidParameterError,
    MismatchError,
    OutOfDomainError,
)
from ldpkit.core.exact import log_up
from ldpkit.mechanisms.base import MECHANISMS, from_spec
from ldpkit.mechanisms.cells.law import Law
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.numeric.piecewise import PM

seeded = ldpkit.random.seeded

EPSILONS = [0.1, 0.5, 1.0, 2.0, 4.0, 8.0]
NAMES = [
    name
    for name in ldpkit.list_mechanisms()
    if issubclass(MECHANISMS.get(name), NumericMechanism)
    and "adaptive" not in MECHANISMS.get(name).__module__
]
UNBIASED = {"laplace", "duchi", "pm", "hm", "staircase"}
BOUNDED = {
    "truncated_laplace",
    "truncated_pm",
    "truncated_sw",
    "bounded_laplace",
    "compressed_pm",
    "compressed_sw",
}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def mechanism(name):
    return ldpkit.get(name, (-2, 6), epsilon=1.0)


def small(name, epsilon, grid=8):
    return ldpkit.get(name, (-1, 1), epsilon=epsilon, grid=grid)


def test_all_twelve_are_here():
    assert set(NAMES) >= UNBIASED | BOUNDED | {"sw"}


# --- exact -----------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_epsilon_is_kept_and_not_wasted(name, epsilon):
    exact = ldpkit.get(name, (-1, 1), epsilon=epsilon).exact_epsilon()
    assert epsilon - 1e-6 <= exact <= epsilon


@pytest.mark.parametrize("epsilon", [0.001, 0.6, 0.62, 3.3, 20.0])
def test_epsilon_is_kept_at_the_ends_of_the_range(name, epsilon):
    assert epsilon - 1e-5 <= ldpkit.get(name, (-1, 1), epsilon=epsilon).exact_epsilon() <= epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("grid", [2, 4, 8])
def test_the_listed_channel_has_the_stated_epsilon(name, epsilon, grid):
    mechanism = small(name, epsilon, grid)
    channel = mechanism.channel()
    assert len(channel.probabilities) == grid + 1
    for row in channel.probabilities:
        assert min(row) >= 0
        assert sum(row) == 1
    assert channel.epsilon() == mechanism.exact_epsilon() <= epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_mean_report_is_on_its_line_exactly(name, epsilon):
    mechanism = small(name, epsilon)
    if mechanism.line is None:
        assert name in BOUNDED
        return
    intercept, slope = mechanism.line
    assert (name in UNBIASED) == ((intercept, slope) == (0, 1))
    origin, step = mechanism.placement
    points = [origin + step * (cell + Fraction(1, 2)) for cell in range(mechanism.cells)]
    points += mechanism.atom_points
    for place, row in enumerate(mechanism.channel().probabilities):
        mean = sum(chance * point for chance, point in zip(row, points, strict=True))
        gap = mean - intercept - slope * Fraction(place, 8)
        tail = Fraction(1, 10**12) if name in ("laplace", "staircase") else 0  # the clamp, 44 scales away
        assert abs(gap) <= tail


def test_a_channel_that_breaks_epsilon_is_seen():
    """Negative control: one weight too many inside the window."""

    class Broken(PM):
        def law(self, place):
            law = super().law(place)
            weights = law.weights.copy()
            weights[1] += weights[1] // 1000
            return Law(law.edges, weights, law.total)

    mechanism = Broken((-1, 1), 1.0, grid=8)
    assert mechanism.channel().epsilon() > 1.0
    assert sum(mechanism.channel().probabilities[0]) != 1


# --- density and moments ---------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_moments_are_those_of_the_density(name, epsilon):
    mechanism = ldpkit.get(name, (-1, 1), epsilon=epsilon)
    nodes, weights = np.polynomial.legendre.leggauss(3)
    for x in (-1.0, 0.34375, 1.0):
        points, chances = mechanism.atoms(x)
        law = mechanism.law(int(mechanism.domain.encode([x], steps=mechanism.grid)[0]))
        origin, step = mechanism.placement
        edges = mechanism.domain.low + mechanism.domain.width * (float(origin) + float(step) * law.edges)
        half = np.diff(edges) / 2
        y = ((edges[1:] + edges[:-1]) / 2 + nodes[:, None] * half).ravel()
        mass = mechanism.pdf(y, x) * (weights[:, None] * half).ravel()
        y, mass = np.append(y, points), np.append(mass, chances)
        assert mass.sum() == pytest.approx(1, abs=1e-9)
        mean = mass @ y
        scale = max(1.0, mechanism.variance(x))
        assert mechanism.bias(x) == pytest.approx(mean - x, abs=1e-9)
        assert mechanism.variance(x) == pytest.approx(mass @ (y - mean) ** 2, abs=1e-9 * scale)
        assert mechanism.error(x, 2) == pytest.approx(mass @ (y - x) ** 2, abs=1e-9 * scale)
        assert mechanism.error(x, 4) == pytest.approx(mass @ (y - x) ** 4, rel=1e-8)
        if name in UNBIASED:
            assert abs(mechanism.bias(x)) < 1e-12


def test_the_distribution_function_is_the_integral_of_the_density(mechanism):
    for x in (-2.0, 0.5, 6.0):
        low, high = mechanism.output_range
        y = np.linspace(low - 1, high + 1, 2001)
        below = mechanism.cdf(y, x)
        assert (np.diff(below) >= -1e-15).all()
        assert below[0] == 0
        assert below[-1] == pytest.approx(1, abs=1e-12)
        points, chances = mechanism.atoms(x)
        assert mechanism.cdf(points, x) - mechanism.cdf(points - 1e-9, x) == pytest.approx(chances, abs=1e-7)
        near = np.array([x - 0.01, x + 0.01]) if name_has_density(mechanism) else np.array([])
        for point in near[(near > low) & (near < high)]:
            slope = (mechanism.cdf(point + 1e-6, x) - mechanism.cdf(point - 1e-6, x)) / 2e-6
            assert slope == pytest.approx(mechanism.pdf(point, x), rel=1e-3)


def name_has_density(mechanism):
    return mechanism.cells > 0


def test_bins_of_a_tally_have_the_chances_of_the_distribution_function(mechanism):
    values = np.array([-2.0, 1.0, 6.0])
    masses = mechanism.bin_masses(values)
    assert masses.shape == (3, mechanism.tally_size - 1)
    assert masses.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-12)
    assert (masses >= 0).all()


# --- the sampler -----------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_reports_follow_the_channel(name, epsilon):
    mechanism = small(name, epsilon)
    channel, draws = mechanism.channel(), 40_000
    for place, source in enumerate(seeded(21).spawn(9)):
        value = -1 + place / 4
        reports = mechanism.privatize(np.full(draws, value), rng=source)
        observed = np.bincount(reports.astype(np.int64), minlength=len(channel.reports))
        expected = [float(chance) for chance in channel.probabilities[place]]
        surprise = fits(observed, expected)
        assert surprise > FALSE_ALARM / 9, f"p-value {surprise:.2g} (false-alarm rate {FALSE_ALARM:g})"


def test_reports_of_another_value_do_not_follow_the_channel(name):
    """Negative control of the test before."""
    mechanism = small(name, 1.0)
    reports = mechanism.privatize(np.full(40_000, -1.0), rng=seeded(21))
    channel = mechanism.channel()
    observed = np.bincount(reports.astype(np.int64), minlength=len(channel.reports))
    assert fits(observed, [float(chance) for chance in channel.probabilities[8]]) < FALSE_ALARM


def test_reports_on_the_full_grid_have_the_stated_moments(name):
    mechanism = ldpkit.get(name, (-1, 1), epsilon=2.0)
    n = 200_000
    for x, source in zip((-1.0, 0.25, 1.0), seeded(22).spawn(3), strict=True):
        y = mechanism.values_of(mechanism.privatize(np.full(n, x), rng=source))
        variance, fourth = mechanism.variance(x), np.mean((y - y.mean()) ** 4)
        z_mean = (y.mean() - x - mechanism.bias(x)) / math.sqrt(variance / n)
        z_variance = (y.var() - variance) / math.sqrt(max(fourth - variance**2, 1e-9) / n)
        assert max(abs(z_mean), abs(z_variance)) < 6.3, f"{z_mean}, {z_variance} (false-alarm rate 2e-9)"
        low, high = mechanism.output_range
        assert low <= y.min() <= y.max() <= high
        below = mechanism.cdf(0.5, x)
        z = ((y <= 0.5).mean() - below) / math.sqrt(max(below * (1 - below), 1e-9) / n)
        assert abs(z) < 6.3, f"{z} (false-alarm rate 3e-10)"


def test_a_seed_gives_the_same_reports_and_chunks_do_too(mechanism):
    values = np.linspace(-2, 6, 2 * mechanism.chunk_size + 17)
    whole = mechanism.privatize(values, rng=seeded(5))
    assert (whole == mechanism.privatize(values, rng=seeded(5))).all()
    assert (whole == np.concatenate(list(mechanism.privatize_chunks(values, rng=seeded(5))))).all()
    assert (whole != mechanism.privatize(values, rng=seeded(6))).any()
    assert whole.dtype == mechanism.report_dtype


GOLDEN = {
    "bounded_laplace": "4d01ff01da018704dd02",
    "compressed_pm": "40b60300089c08002d210b00d5ba140052e91300",
    "compressed_sw": "3a5a0300c129080096d30a00130a140059881300",
    "duchi": "0101010101",
    "hm": "5ab419005ab419005bb419005ab419005bb41900",
    "laplace": "6d4fe302788ade02412fee02f937e302e7990c03",
    "pm": "40b60300089c08002d210b00d5ba140052e91300",
    "staircase": "85dee202de8fdf02feebec021d0fe402d45d0c03",
    "sw": "3a5a0300c129080096d30a00130a140059881300",
    "truncated_laplace": "6d4f030000001000412f0e00f937030001001000",
    "truncated_pm": "a64b0600a64b0600d36c0100a74b0600a74b0600",
    "truncated_sw": "00001000d6100400abba060028f10f006e6f0f00",
}


@pytest.mark.parametrize("golden", GOLDEN)
def test_golden_reports_never_change(golden):
    mechanism = ldpkit.get(golden, (-1, 1), epsilon=1.0)
    reports = mechanism.privatize([-1, -0.5, 0.0, 0.7, 1.0], rng=seeded(2026))
    assert mechanism.encode(reports).hex() == GOLDEN[golden]


# --- identity, wire and tally ----------------------------------------------------------


def test_it_is_frozen_hashable_printable_and_portable(name, mechanism):
    assert repr(mechanism) == f"{type(mechanism).__name__}((-2, 6), epsilon=1)"
    again = from_spec(mechanism.spec())
    assert again == mechanism == pickle.loads(pickle.dumps(mechanism))
    assert hash(again) == hash(mechanism)
    relatives = [ldpkit.get(name, (-2, 7), epsilon=1.0), ldpkit.get(name, (-2, 6), epsilon=1.5)]
    relatives.append(ldpkit.get(name, (-2, 6), epsilon=1.0, grid=8))
    assert all(relative != mechanism for relative in relatives)
    assert from_spec(relatives[2].spec()) == relatives[2]
    with pytest.raises(FrozenError):
        mechanism.epsilon = 3
    assert "epsilon" in inspect.signature(type(mechanism)).parameters


def test_reports_survive_the_wire(mechanism):
    reports = mechanism.privatize(np.linspace(-2, 6, 1000), rng=seeded(1))
    data = mechanism.encode(reports)
    assert len(data) == 1000 * mechanism.report_bytes
    assert (mechanism.decode(data) == reports).all()
    with pytest.raises(FileFormatError):
        mechanism.decode(b"\xff" * mechanism.report_bytes)
    with pytest.raises(InvalidInputError):
        mechanism.tally(np.array([mechanism.cells + len(mechanism.atom_points)]))
    with pytest.raises(InvalidInputError):
        mechanism.tally(reports.astype(float) + 0.5)


def test_tallies_add_and_serialise(mechanism):
    reports = mechanism.privatize(np.linspace(-2, 6, 3001), rng=seeded(2))
    whole = mechanism.tally(reports)
    parts = [mechanism.tally(part) for part in np.array_split(reports, 7)]
    assert sum(parts) == ldpkit.Tally.merge(parts[::-1]) == whole
    assert ldpkit.Tally.from_bytes(whole.to_bytes()) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole
    share = float(mechanism.total(whole.counts)) / 3001
    assert -2 + 8 * share == pytest.approx(mechanism.values_of(reports).mean(), rel=1e-9, abs=1e-9)
    other = ldpkit.get(mechanism.name, (-2, 6), epsilon=1.25)
    with pytest.raises(MismatchError):
        whole + other.tally(other.privatize([0.0]))


def test_impossible_tallies_are_refused(mechanism):
    size = mechanism.tally_size
    counts = np.zeros(size, np.int64)
    counts[0] = 2
    ldpkit.Tally(mechanism, 2, counts)
    for bad, n in (((0, -1), 2), ((1, 1), 2), ((size - 1, 2 * (1 << 50)), 2)):
        wrong = counts.copy()
        wrong[bad[0]] = bad[1]
        with pytest.raises(InvalidInputError):
            ldpkit.Tally(mechanism, n, wrong)
    with pytest.raises(InvalidInputError, match="counts, got shape"):
        ldpkit.Tally(mechanism, 2, counts[:-1])


@pytest.mark.parametrize(
    "values", [[-2.1], [0, 6.0000001], [math.nan], [math.inf], [None], ["a"], [], [[1]], 3, np.array([1j])]
)
def test_foreign_values_are_refused_before_any_randomness(mechanism, untouched, values):
    with pytest.raises(InvalidInputError):
        mechanism.privatize(values, rng=untouched)


def test_clipping_is_an_act_of_the_user(mechanism, untouched):
    with pytest.raises(OutOfDomainError, match="clip=True"):
        mechanism.privatize([0, 99], rng=untouched)
    with pytest.warns(ClippedWarning, match="1 of 2 values"):
        clipped = mechanism.privatize([0, 99], rng=seeded(3), clip=True)
    assert (clipped == mechanism.privatize([0, 6], rng=seeded(3))).all()


@pytest.mark.parametrize("domain", [(1, 1), (2, 1), 5, ["a", "b"], (0, math.nan), None, (0, 1, 2)])
def test_bad_intervals_are_refused(name, domain):
    with pytest.raises(InvalidParameterError):
        ldpkit.get(name, domain, epsilon=1.0)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 50, "x"])
def test_bad_epsilons_are_refused(name, epsilon):
    with pytest.raises(InvalidParameterError):
        ldpkit.get(name, (0, 1), epsilon=epsilon)


def test_the_realised_epsilon_is_that_of_two_real_rows():
    """The definition itself, on the full grid: PM's two extreme values over all cells."""
    mechanism = ldpkit.get("pm", (-1, 1), epsilon=1.0)
    worst = max(Fraction(weight) for weight in mechanism.law(0).weights)
    least = min(Fraction(weight) for weight in mechanism.law(0).weights)
    assert log_up(worst / least) == mechanism.exact_epsilon()
