"""The two-phase mean, and means of several attributes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

import ldpkit
from ldpkit.bench.numeric_data import draw
from ldpkit.core.errors import (
    InvalidInputError,
    InvalidParameterError,
    MismatchError,
    OutOfDomainError,
    UnknownNameError,
)
from ldpkit.mechanisms.adaptive.compare import grid_variances
from ldpkit.mechanisms.adaptive.descriptor import descriptor_of_values
from ldpkit.mechanisms.adaptive.mechanism import AAA
from ldpkit.mechanisms.tally import Tally
from ldpkit.protocols.adaptive_mean import AdaptiveMean
from ldpkit.protocols.attributes import SampledAttributes, best_sample_size
from ldpkit.protocols.sampling import draw_questions
from slow import slow

VALUES = np.clip(np.random.default_rng(1).normal(30, 10, 4000), 0, 100)


def test_the_epsilon_of_the_protocol_is_that_of_its_worst_participant():
    protocol = AdaptiveMean((0, 1), 2.0, bins=4, oracle="the")  # THE does not use all of its budget
    first = protocol.oracle.exact_epsilon()
    second = protocol.run(np.full(500, 0.3), rng=ldpkit.random.seeded(1)).mechanism
    assert first < 1.7 < second.exact_epsilon() <= protocol.exact_epsilon() == 2
    assert protocol.exact_epsilon(second) == second.exact_epsilon()
    weak = ldpkit.get("pm", (0, 1), epsilon=1.0)
    assert protocol.exact_epsilon(weak) == first, "the describers pay more"


@pytest.mark.parametrize("oracle", ["grr", "ss", "oue"])
@pytest.mark.parametrize("consistency", ["norm_sub", "norm_mul", "base_pos"])
def test_both_phases_give_the_mean_with_its_error(oracle, consistency):
    protocol = AdaptiveMean((0, 100), 2.0, share=0.1, bins=8, oracle=oracle, consistency=consistency)
    estimate = protocol.run(VALUES, rng=ldpkit.random.seeded(3))
    assert estimate.n == 4000
    assert estimate.second.n == 3600
    assert isinstance(estimate.mechanism, AAA)
    assert estimate.mechanism.exact_epsilon() <= 2
    assert estimate.mechanism.exact_epsilon() <= protocol.exact_epsilon(estimate.mechanism) <= 2
    assert abs(estimate.mean - VALUES.mean()) < 5 * estimate.stderr
    low, high = estimate.interval()
    assert low < estimate.mean < high
    assert estimate.descriptor.sum() == pytest.approx(1)
    assert estimate.descriptor.min() >= 0.05 / 9 * (1 - 1e-9), "smoothing left a grid point without a share"


def test_intervals_cover_and_simulation_has_the_law_of_real_runs():
    """The squares of errors, in units of the stated ones, show more than a count of intervals does."""
    protocol = AdaptiveMean((0, 100), 4.0, bins=4, oracle="ss")
    people = VALUES[:1000]
    source = ldpkit.random.seeded(9)
    runs = [protocol.run(people, rng=stream) for stream in source.spawn(50)]
    means = np.array([run.mean for run in runs])
    errors = np.array([run.stderr for run in runs])
    truth = people.mean()
    covered = sum(low <= truth <= high for low, high in (run.interval(0.95) for run in runs))
    assert covered >= 39, f"{covered} of 50 cover (fewer than 39: false-alarm rate 5e-6, seed fixed)"
    squares, most = (((means - truth) / errors) ** 2).sum(), chi2.isf(1e-6, 50)
    assert squares < most, f"errors are larger than stated: {squares:.0f} (false-alarm rate 1e-6, seed fixed)"
    assert 4 * squares > most, "the negative control passes: errors stated at half their size are not seen"
    assert chi2.sf(most / 4, 50) > 0.99, "the power against these"
    z = (means.mean() - truth) / (errors.mean() / np.sqrt(50))
    assert abs(z) < 6, f"the mean is biased, z-score {z:.1f} (false-alarm rate 2e-9, seed fixed)"
    simulated = protocol.simulate(people, rng=ldpkit.random.seeded(10), repeats=50)
    ratio = simulated.std() / means.std()
    assert 0.5 < ratio < 2, f"spreads differ by {ratio:.2f} (false-alarm rate 4e-6, seed fixed)"
    z = (simulated.mean() - truth) / (errors.mean() / np.sqrt(50))
    assert abs(z) < 6, f"simulated means are biased, z-score {z:.1f} (false-alarm rate 2e-9, seed fixed)"
    other = protocol.simulate(people + 2, rng=ldpkit.random.seeded(11), repeats=50)
    z = (other.mean() - truth) / (errors.mean() / np.sqrt(50))
    assert abs(z) > 6, "the negative control passes: values that are off by 2 of 100 would not be seen"


def test_the_descriptor_follows_the_data():
    protocol = AdaptiveMean((0, 1), 8.0, bins=4, smoothing=0.0)
    tally = protocol.oracle.tally(
        protocol.describe([0.25] * 3000 + [0.875] * 1000, rng=ldpkit.random.seeded(2))
    )
    assert protocol.descriptor(tally) == pytest.approx([0, 0.75, 0, 0.125, 0.125], abs=0.03)
    for other in (ldpkit.GRR(4, epsilon=8).tally([0, 1]), ldpkit.PM((0, 1), epsilon=8).tally([0])):
        with pytest.raises(
            MismatchError, match=r"does not belong to the first phase, .* on the 5 grid points"
        ):
            protocol.mechanism(other)
    assert protocol.mechanism(ldpkit.OUE(5, epsilon=1).tally(np.zeros((9, 1), np.uint8))).epsilon == 8


def first_phases(protocol, law, describers, count):
    """Return the tallies of some first phases on people of a distribution of [-1, 1]."""
    shares = descriptor_of_values(draw(law).values, protocol.bins)
    generator = np.random.default_rng(6)
    for stream in ldpkit.random.seeded(6).spawn(count):
        people = generator.multinomial(describers, shares)
        yield Tally(protocol.oracle, describers, protocol.oracle.simulate(people, rng=stream)[0])


def judged_by_its_own_descriptor(protocol, tally):
    """Return what looks best by the very descriptor that AAA's table is fitted to: the negative control."""
    descriptor = protocol.descriptor(tally)
    variances = grid_variances(descriptor, protocol.epsilon)
    return min(variances, key=lambda name: descriptor @ variances[name])


@pytest.mark.parametrize(
    ("law", "epsilon", "winner"),
    [
        ("gaussian", 4.0, "aaa"),
        ("bernoulli", 0.5, "duchi"),
        *slow(("exponential", 4.0, "aaa"), ("bernoulli", 4.0, "duchi")),
    ],
)
def test_auto_takes_the_winner(law, epsilon, winner):
    protocol = AdaptiveMean((-1, 1), epsilon, oracle="ss", choice="auto")
    tallies = list(first_phases(protocol, law, 224, 20))  # the describers of 10,000 people
    taken = [protocol.mechanism(tally).name for tally in tallies]
    assert taken.count(winner) >= 18, f"{taken} (fewer than 18: false-alarm rate below 1e-3, seed fixed)"
    fooled = [judged_by_its_own_descriptor(protocol, tally) for tally in tallies]
    assert fooled.count("aaa") >= 15, "the negative control passes: AAA looks no better by its own data"


def test_auto_leaves_aaa_where_rounding_costs_more_than_noise_saves():
    coarse = AdaptiveMean((0, 1), 6.0, bins=2, choice="auto")
    values = VALUES[:300] / 100
    estimate = coarse.run(values, rng=ldpkit.random.seeded(4))
    assert estimate.mechanism.name != "aaa"
    assert abs(estimate.mean - values.mean()) < 0.2
    assert np.abs(coarse.simulate(values, repeats=2) - values.mean()).max() < 0.2


@pytest.mark.parametrize(("law", "blind"), [("gaussian", "duchi"), ("bernoulli", "pm")])
def test_the_choice_costs_little(law, blind):
    protocol = AdaptiveMean((-1, 1), 2.0, oracle="ss", choice="auto")
    shares = descriptor_of_values(draw(law).values, protocol.bins)
    points = np.linspace(-1, 1, protocol.bins + 1)
    made = [
        shares @ protocol.mechanism(tally).variance(points) for tally in first_phases(protocol, law, 224, 20)
    ]
    known = {name: shares @ variances for name, variances in grid_variances(shares, 2.0).items()}
    best = min(known.values())
    assert np.mean(made) < 1.04 * best, "seed fixed; the mean of twenty choices has a standard error of 0.3%"
    assert known[blind] > 1.2 * best, "the negative control passes: it would not matter what is chosen"


def test_unknown_variance_is_taken_at_its_worst():
    estimate = AdaptiveMean((0, 1), 0.1, bins=1, choice="auto").run(VALUES / 100, rng=ldpkit.random.seeded(5))
    assert np.isfinite(estimate.stderr)
    assert estimate.stderr >= estimate.second.stderr


def test_too_few_people_for_two_phases():
    protocol = AdaptiveMean((0, 1), 1.0)
    assert protocol.least_people == AdaptiveMean((0, 1), 1.0, share=0.1).least_people == 170
    with pytest.raises(InvalidInputError, match=r"169 people are too few for two phases.*need 170"):
        protocol.run([0.5] * 169)
    assert protocol.split(170, rng=ldpkit.random.seeded(1)).sum() == 17
    assert protocol.split(10_000).sum() == 224, "sqrt(5 n) describe unless a share is given"


def test_who_describes_is_random():
    protocol = AdaptiveMean((0, 1), 1.0, share=0.25, bins=2)
    times = np.sum([protocol.split(40, rng=ldpkit.random.seeded(seed)) for seed in range(400)], axis=0)
    assert times.sum() == 4000
    assert np.abs(times - 100).max() < 60, "false-alarm rate below 1e-9 by Hoeffding's bound, seeds fixed"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"share": 0.0}, InvalidParameterError, "share must lie strictly between"),
        ({"share": 1.0}, InvalidParameterError, "share must lie strictly between"),
        ({"bins": 0}, InvalidParameterError, "bins must be at least 1"),
        ({"oracle": "pm"}, InvalidParameterError, "pm|interval"),
        ({"oracle": "grrr"}, UnknownNameError, "did you mean"),
        ({"consistency": "norm_sup"}, UnknownNameError, "did you mean norm_sub"),
        ({"smoothing": 1.5}, InvalidParameterError, "smoothing must lie between 0 and 1"),
        ({"choice": "best"}, InvalidParameterError, "choice must be 'aaa' or 'auto'"),
    ],
)
def test_bad_protocols(options, error, message):
    with pytest.raises(error, match=message):
        AdaptiveMean((0, 1), 1.0, **options)


def test_values_outside_are_refused_before_anything_is_drawn():
    with pytest.raises(OutOfDomainError, match="101"):
        AdaptiveMean((0, 100), 1.0, bins=2).run([50.0] * 100 + [101.0])


# --- several attributes ----------------------------------------------------------------


def test_attributes_are_sampled_and_estimated():
    survey = SampledAttributes("hm", [(0, 1), (-10, 10), (0, 100), (5, 6)], 6.0)
    assert survey.sample == 2
    assert survey.exact_epsilon() <= 6
    people = np.random.default_rng(3).uniform([0, -10, 0, 5], [1, 10, 100, 6], (20_000, 4))
    tallies = survey.tally(survey.privatize(people, rng=ldpkit.random.seeded(8)))
    assert sum(tally.n for tally in tallies) == 40_000
    for tally, column in zip(tallies, people.T, strict=True):
        estimate = tally.estimate(population=True)
        assert abs(tally.n - 10_000) < 500, "false-alarm rate below 1e-9, seed fixed"
        assert abs(estimate.mean - column.mean()) < 6 * estimate.stderr


def test_errors_include_that_only_some_reported_an_attribute():
    survey = SampledAttributes("pm", [(0, 1)] * 8, 4.0)
    assert survey.sample == 1
    people = np.tile(np.arange(400)[:, None] % 2, (1, 8)).astype(float)
    covered, alone, runs = 0, 0, 20
    for source in ldpkit.random.seeded(12).spawn(runs):
        tallies = survey.tally(survey.privatize(people, rng=source))
        for tally, estimate in zip(tallies, survey.estimate(tallies), strict=True):
            covered += estimate.interval()[0] <= 0.5 <= estimate.interval()[1]
            low, high = tally.estimate().interval()
            alone += low <= 0.5 <= high
    assert covered >= 0.88 * 8 * runs, f"{covered} of {8 * runs} cover (false-alarm rate 1e-4, seed fixed)"
    assert alone < 0.8 * 8 * runs, "the negative control passes: errors about those who reported are enough"


def test_attributes_are_estimated_from_complete_tallies():
    survey = SampledAttributes("duchi", [(0, 1)] * 3, 1.0)
    tallies = survey.tally(survey.privatize(np.full((90, 3), 0.5), rng=ldpkit.random.seeded(1)))
    assert [each.whose for each in survey.estimate(tallies)] == ["all 90 people"] * 3
    assert "population" in survey.estimate(tallies, population=True)[0].whose
    with pytest.raises(InvalidInputError, match="do not match SampledAttributes"):
        survey.estimate(tallies[:2])
    empty = survey.mechanisms[0].tally(np.empty(0, np.uint8))
    with pytest.raises(InvalidInputError, match=r"none of the \d+ people reported attribute 1"):
        survey.estimate([tallies[0], empty, tallies[2]])
    both = SampledAttributes("duchi", [(0, 1)] * 2, 1.0, sample=2)
    halves = [both.mechanisms[0].tally(np.zeros(count, np.uint8)) for count in (3, 4)]
    with pytest.raises(InvalidInputError, match="3, 4, are incomplete"):
        both.estimate(halves)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.3, 7.0, 10.0])
@pytest.mark.parametrize("sample", [1, 3, 7])
def test_parts_never_exceed_the_whole(epsilon, sample):
    survey = SampledAttributes("duchi", [(0, 1)] * 7, epsilon, sample=sample)
    assert epsilon - 1e-6 < survey.exact_epsilon() <= epsilon


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_sampling_beats_the_equal_split(epsilon):
    domains = [(-1, 1)] * 10
    sampled = SampledAttributes("pm", domains, epsilon).variance(np.zeros(10), 1000)
    split = SampledAttributes("pm", domains, epsilon, sample=10).variance(np.zeros(10), 1000)
    assert (sampled < split / 3).all()


def test_everybody_draws_every_attribute_equally_often():
    survey = SampledAttributes("pm", [(0, 1)] * 5, 5.0)
    drawn = draw_questions(20_000, 5, survey.sample, ldpkit.random.seeded(1))
    assert (drawn.sum(axis=1) == survey.sample).all()
    assert np.abs(drawn.mean(axis=0) - survey.sample / 5).max() < 0.03, "false-alarm rate 1e-9, seed fixed"


def test_attributes_nobody_drew_are_empty():
    survey = SampledAttributes("pm", [(0, 1)] * 8, 1.0)
    reports = survey.privatize(np.full((1, 8), 0.5), rng=ldpkit.random.seeded(1))
    assert sorted(len(each) for each in reports) == [0] * 7 + [1]
    assert [tally.n for tally in survey.tally(reports)] == [len(each) for each in reports]


def test_bad_surveys():
    assert best_sample_size(3, 100.0) == 3
    with pytest.raises(InvalidParameterError, match="no attributes"):
        SampledAttributes("pm", [], 1.0)
    with pytest.raises(InvalidParameterError, match="more than the 2 attributes"):
        SampledAttributes("pm", [(0, 1)] * 2, 1.0, sample=3)
    survey = SampledAttributes("pm", [(0, 1)] * 2, 1.0)
    assert "1 of 2 attributes" in repr(survey)
    with pytest.raises(InvalidInputError, match="a row a person and 2 columns"):
        survey.privatize([[0.5] * 3])
    with pytest.raises(OutOfDomainError, match=r"2\.0 at position 0"):
        survey.privatize([[0.5, 2.0]])
    with pytest.raises(InvalidInputError, match="reports on 1"):
        survey.tally([np.zeros(1)])
