"""The contract of every frequency oracle: exact epsilon, a sampler to match, honest error bars."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpkit
from contract import checks, golden
from contract.subjects import ORACLE_NAMES, PURE_NAMES, epsilon_parameter, is_of_the_house, oracle
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.mechanisms.base import from_spec
from ldpkit.mechanisms.categorical.hashing import LocalHashing
from ldpkit.mechanisms.channel import Channel

seeded = ldpkit.random.seeded
every_oracle = pytest.mark.parametrize("name", ORACLE_NAMES)
every_pure_oracle = pytest.mark.parametrize("name", PURE_NAMES)

# Whose reports cannot be listed even for two values, with the reason. Keep this short: for
# all others epsilon is proved by looking at every report.
UNLISTED = {"she": "a report is a vector of thousands of levels; its tests enumerate one coordinate"}


def listed(name, size, epsilon=1.0):
    """Return an oracle whose channel can be enumerated."""
    mechanism = oracle(name, size, epsilon)
    if name in UNLISTED:
        pytest.skip(UNLISTED[name])
    return mechanism


# --- epsilon ---------------------------------------------------------------------------


@every_oracle
@pytest.mark.parametrize("size", [2, 16, 128, 1024])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_epsilon_is_exact(name, size, epsilon):
    checks.check_epsilon(oracle(name, size, epsilon))


@every_oracle
@pytest.mark.parametrize("size", [2, 3, 1000])
@pytest.mark.parametrize("epsilon", [0.001, 0.3, np.log(2), np.log(3), np.pi, 19.99, 20.0])
def test_epsilon_is_exact_at_its_extremes(name, size, epsilon):
    checks.check_epsilon(oracle(name, size, float(epsilon)))


@every_oracle
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
def test_epsilon_holds_for_a_million_values(name, epsilon):
    mechanism = oracle(name, 10**6, epsilon)
    assert 0 < mechanism.exact_epsilon() <= epsilon


@every_oracle
@given(size=st.integers(2, 5000), epsilon=st.floats(0.001, 20.0))
def test_epsilon_is_exact_anywhere(name, size, epsilon):
    checks.check_epsilon(oracle(name, size, epsilon))


@every_oracle
@pytest.mark.parametrize("size", [2, 3, 4, 6])
@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 2.0, 5.0])
def test_epsilon_is_that_of_the_enumerated_channel(name, size, epsilon):
    checks.check_channel(listed(name, size, epsilon))


@every_oracle
def test_a_channel_too_large_to_list_is_refused(name):
    mechanism = oracle(name, 1 << 17, 0.5)
    if name in UNLISTED or not checks.has_public_coins(oracle(name)):
        with pytest.raises(InvalidParameterError, match="smaller domain"):
            mechanism.channel()


@every_oracle
@pytest.mark.parametrize(
    "epsilon", [0, -1, -0.0, 0.0009, 20.1, np.inf, -np.inf, np.nan, None, "one", True, 1j, []]
)
def test_senseless_epsilon_is_refused(name, epsilon):
    wanted = epsilon_parameter(name)
    good = oracle(name, 4).parameters()
    with pytest.raises(InvalidParameterError, match=wanted):
        ldpkit.get(name, 4, **{**good, wanted: epsilon})


@every_oracle
@pytest.mark.parametrize(
    "domain",
    [0, 1, -3, True, False, 2.0, np.nan, None, "abc", b"ab", [], ["one"], [1, "a"], ["a", "a"], [None, 1]],
)
def test_senseless_domains_are_refused(name, domain):
    with pytest.raises(InvalidParameterError):
        ldpkit.get(name, domain, **oracle(name, 4).parameters())


# --- p and q ---------------------------------------------------------------------------


@every_pure_oracle
@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_p_and_q_are_those_of_the_channel(name, size, epsilon):
    mechanism = oracle(name, size, epsilon)
    p, q = mechanism.support_probabilities
    assert isinstance(p, Fraction)
    assert isinstance(q, Fraction)
    assert 0 < q < p < 1
    assert mechanism.p == float(p)
    assert mechanism.q == float(q)
    if checks.has_public_coins(mechanism):
        return  # the coins cannot be listed; test_hashing proves q from pairwise independence
    channel = mechanism.channel()
    for value, row in enumerate(channel.probabilities):
        supported = [Fraction(0)] * size
        for position, probability in enumerate(row):
            for other in np.flatnonzero(mechanism.tally(channel.reports[position : position + 1]).counts):
                supported[other] += probability
        assert supported == [p if other == value else q for other in range(size)]


# --- the sampler -----------------------------------------------------------------------


@every_oracle
@pytest.mark.parametrize(("size", "epsilon"), [(2, 0.1), (5, 1.0), (9, 3.0), (4, 8.0)])
def test_reports_follow_the_channel(name, size, epsilon):
    checks.check_sampler(oracle(name, size, epsilon), draws=30_000)


@every_oracle
def test_reports_follow_the_channel_closely(name):
    checks.check_sampler(oracle(name, 3, 1.0), draws=400_000, seed=21)


@every_pure_oracle
def test_neighbours_in_a_batch_are_independent(name):
    """The noise of one report says nothing about that of the next: supports of pairs multiply."""
    mechanism = oracle(name, 4, 1.0)
    reports = mechanism.privatize(np.zeros(6000, int), rng=seeded(22))
    held = np.array([mechanism.tally(reports[i : i + 1]).counts[0] for i in range(len(reports))])
    table = np.bincount(2 * held[:-1:2] + held[1::2], minlength=4)
    p = mechanism.p
    surprise = checks.fits(table, [(1 - p) ** 2, (1 - p) * p, p * (1 - p), p * p])
    assert surprise > 1e-9, f"neighbouring reports depend, p-value {surprise:.2g} (false-alarm rate 1e-9)"


@every_oracle
def test_chunks_are_the_whole(name):
    mechanism = oracle(name, 40, 1.0)
    values = np.arange(2 * mechanism.chunk_size + 17) % 40
    whole = mechanism.privatize(values, rng=seeded(31))
    chunks = list(mechanism.privatize_chunks(values, rng=seeded(31)))
    assert [len(chunk) for chunk in chunks] == [mechanism.chunk_size] * 2 + [17]
    assert mechanism.encode(np.concatenate(chunks)) == mechanism.encode(whole)
    assert sum(mechanism.tally(chunk) for chunk in chunks) == mechanism.tally(whole)
    assert mechanism.encode(chunks[0][:17]) != mechanism.encode(chunks[2]), "chunks share randomness"


@every_oracle
def test_chunks_are_checked_at_once(name, untouched):
    with pytest.raises(OutOfDomainError):
        oracle(name).privatize_chunks([0, 1, 99], rng=untouched)


@every_oracle
@pytest.mark.parametrize("size", [2, 7, 8, 9, 255, 256, 257, 4097])
def test_every_size_works_from_report_to_tally(name, size):
    mechanism = oracle(name, size, 2.0)
    values = np.array([0, size - 1, size // 2, size - 1, 0])
    reports = mechanism.privatize(values, rng=seeded(size))
    data = mechanism.encode(reports)
    assert mechanism.encode(mechanism.decode(data)) == data
    tally = mechanism.tally(reports)
    assert tally.n == 5
    assert len(tally.estimate()) == size


@every_oracle
def test_the_own_value_shows_at_high_epsilon(name):
    """A mix-up of positions (bit order, last value, padding) cannot hide at epsilon 9."""
    for size in (2, 9, 64, 65):
        mechanism = oracle(name, size, 9.0)
        for value in {0, 1, 7 % size, size - 2, size - 1}:
            counts = mechanism.tally(mechanism.privatize([value] * 150, rng=seeded(value))).counts
            assert counts.argmax() == value, f"{mechanism!r} lost value {value} (false-alarm rate below 1e-9)"


# --- unbiased, with the stated variance ------------------------------------------------


@every_oracle
@pytest.mark.parametrize(("size", "epsilon"), [(2, 1.0), (9, 0.5)])
def test_simulated_estimates_are_unbiased_with_the_stated_variance(name, size, epsilon):
    mechanism = oracle(name, size, epsilon)
    checks.check_unbiased_simulation(mechanism, repeats=4000 if mechanism.pure else 800)


@every_pure_oracle
def test_simulated_estimates_of_many_values(name):
    checks.check_unbiased_simulation(oracle(name, 40, 4.0), repeats=2500, seed=23)


@every_oracle
@pytest.mark.parametrize(("size", "epsilon"), [(12, 2.0)])
def test_real_estimates_are_unbiased_with_the_stated_variance(name, size, epsilon):
    checks.check_unbiased_users(oracle(name, size, epsilon))


@every_oracle
@pytest.mark.parametrize(("size", "epsilon"), [(5, 1.0), (4, 0.3)])
def test_simulation_has_the_law_of_real_reports(name, size, epsilon):
    checks.check_simulation_law(oracle(name, size, epsilon))


@every_oracle
def test_simulation_repeats_with_its_seed(name):
    mechanism, counts = oracle(name, 6), [5, 0, 3, 100, 1, 0]
    first = mechanism.simulate(counts, rng=seeded(8), repeats=3)
    assert first.shape == (3, 6)
    assert first.dtype == np.int64
    assert (first == mechanism.simulate(np.array(counts), rng=seeded(8), repeats=3)).all()
    assert (first != mechanism.simulate(counts, rng=seeded(9), repeats=3)).any()
    assert (mechanism.simulate(counts, repeats=20) != mechanism.simulate(counts, repeats=20)).any()
    least, greatest = mechanism.count_range(109)
    assert (first >= least).all()
    assert (first <= greatest).all()
    assert ldpkit.Tally(mechanism, 109, first[0]).estimate().n == 109


@every_oracle
@pytest.mark.parametrize(
    "counts",
    [
        [1, 2],
        [[1, 2, 3]],
        [1, 2, -1],
        [1, 2, 0.5],
        [1, 2, np.nan],
        [1, 2, np.inf],
        [0, 0, 0],
        ["1", "2", "3"],
        None,
        3,
    ],
)
def test_senseless_counts_are_refused(name, counts, untouched):
    with pytest.raises(InvalidInputError, match="counts"):
        oracle(name, 3).simulate(counts, rng=untouched)


@every_oracle
@pytest.mark.parametrize("repeats", [0, -1, 1.5, None, True, "2"])
def test_senseless_repeats_are_refused(name, repeats, untouched):
    with pytest.raises(InvalidParameterError, match="repeats"):
        oracle(name, 3).simulate([1, 2, 3], rng=untouched, repeats=repeats)


@every_pure_oracle
def test_variance_follows_p_and_q(name):
    mechanism = oracle(name, 7, 1.5)
    p, q = (float(x) for x in mechanism.support_probabilities)
    frequencies = np.array([0.0, 0.25, 1.0])
    fixed = mechanism.variance(frequencies, 500)
    sampled = mechanism.variance(frequencies, 500, population=True)
    exact = (frequencies * p * (1 - p) + (1 - frequencies) * q * (1 - q)) / (500 * (p - q) ** 2)
    assert np.allclose(fixed, exact, rtol=1e-12)
    assert np.allclose(sampled - fixed, frequencies * (1 - frequencies) / 500, rtol=1e-9, atol=1e-15)
    single = mechanism.variance(0.25, 500)
    assert isinstance(single, float)
    assert single == fixed[1]


# --- wire ------------------------------------------------------------------------------


def _patterns(size):
    for pattern in (b"\xff", b"\xff\x7f", b"\x7f", b"\x00"):
        yield (pattern * size)[:size]


def _decodes(mechanism, record):
    try:
        mechanism.decode(record)
    except FileFormatError:
        return False
    return True


@every_oracle
def test_what_the_mechanism_cannot_have_made_is_refused_with_its_offset(name):
    mechanism = oracle(name, 5)
    size = mechanism.report_bytes
    good = mechanism.encode(mechanism.privatize([0, 1, 2, 3, 4], rng=seeded(1)))
    bad = next(record for record in _patterns(size) if not _decodes(mechanism, record))
    with pytest.raises(FileFormatError, match="report 5 is none") as caught:
        mechanism.decode(good + bad + good)
    assert caught.value.offset == 5 * size
    base, shape = mechanism.report_dtype.subdtype or (mechanism.report_dtype, ())
    with pytest.raises(InvalidInputError, match="report 5 is none"):
        mechanism.tally(np.frombuffer(good + bad, base).reshape(-1, *shape))


@every_oracle
@given(data=st.binary(max_size=40))
def test_any_bytes_are_reports_or_refused(name, data):
    mechanism = oracle(name, 5, 2.0)
    if not _decodes(mechanism, data):
        with pytest.raises(FileFormatError) as caught:
            mechanism.decode(data)
        assert caught.value.offset in range(len(data) + 1)
        return
    reports = mechanism.decode(data)
    assert mechanism.encode(reports) == data
    assert mechanism.tally(reports).n == len(data) // mechanism.report_bytes


@every_oracle
def test_the_channel_lists_all_valid_reports(name):
    """Where a report is one byte, try all 256: valid is what the channel holds, and no more."""
    mechanism = oracle(name, 5, 1.0)
    if mechanism.report_bytes > 1 or name in UNLISTED:
        pytest.skip("reports are too many to try")
    listed = mechanism.encode(mechanism.channel().reports)
    for number in range(256):
        if number in listed:
            mechanism.decode(bytes([number]))
        else:
            with pytest.raises(FileFormatError):
                mechanism.decode(bytes([number]))


# --- input -----------------------------------------------------------------------------


@every_oracle
def test_labels_and_indices_make_the_same_reports(name):
    labels = ["walk", "bike", "bus", "car"]
    mechanism = oracle(name, labels)
    indices = np.array([3, 0, 2, 2, 1] * 20)
    texts = [labels[index] for index in indices]
    expected = mechanism.encode(mechanism.privatize(indices, rng=seeded(3)))
    for values in (texts, np.array(texts), np.array(texts, object), tuple(texts), iter(texts)):
        assert mechanism.encode(mechanism.privatize(values, rng=seeded(3))) == expected
    unlabelled = oracle(name, 4)
    for dtype in (np.uint8, np.int16, np.int64, np.uint64, np.float32, float, object, ">i4"):
        assert unlabelled.encode(unlabelled.privatize(indices.astype(dtype), rng=seeded(3))) == expected


@every_oracle
def test_label_domains_refuse_what_is_no_label(name, untouched):
    mechanism = oracle(name, ["no", "yes"])
    for bad in (["maybe"], ["NO"], ["no "], [""], [True], [0.0], [2], [-1], ["no", None], ["no", 1], [b"no"]):
        with pytest.raises(InvalidInputError):
            mechanism.privatize(bad, rng=untouched)
    numbers = oracle(name, [10, 20, 30])
    for bad in ([0], [11], ["10"], [10.5], [np.nan], [10, None]):
        with pytest.raises(InvalidInputError):
            numbers.privatize(bad, rng=untouched)


@every_oracle
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_frames_are_values(name, library, untouched):
    module = pytest.importorskip(library)
    column = module.array if library == "pyarrow" else module.Series
    mechanism = oracle(name, 4)
    labelled = oracle(name, ["a", "b", "c"])
    for each, values in ((mechanism, [3, 0, 2]), (labelled, ["b", "c", "a"]), (mechanism, [True, False])):
        from_column = each.privatize(column(values), rng=seeded(2))
        assert each.encode(from_column) == each.encode(each.privatize(values, rng=seeded(2)))
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
            each.privatize(column(values), rng=untouched)


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
        reports = mechanism.privatize(values, rng=seeded(1))
    except InvalidInputError:
        good = isinstance(values, list) and values and all(type(v) is int and 0 <= v < 5 for v in values)
        assert not good, "good values were refused"
        return
    assert len(reports) == len(values)
    assert all(value in range(5) for value in values), "a value outside the domain was accepted"


# --- golden ----------------------------------------------------------------------------


def _golden(name):
    if not is_of_the_house(name):
        pytest.skip("a plugin keeps its own golden vectors")
    known = golden.load()
    assert name in known, f"{name} has no golden vectors: run python tests/contract/golden.py to add them"
    return known[name]


@every_oracle
def test_golden_vectors(name):
    assert golden.observe(name) == _golden(name)


@every_oracle
def test_golden_reports_are_read_as_ever(name):
    known = _golden(name)
    mechanism = from_spec(known["spec"])
    reports = mechanism.decode(bytes.fromhex(known["reports"]))
    assert mechanism.tally(reports).counts.tolist() == known["counts"]
    assert ldpkit.Tally.from_bytes(bytes.fromhex(known["tally"])) == mechanism.tally(reports)


# --- the helper of the suite itself ----------------------------------------------------


def test_the_goodness_of_fit_test_has_its_level():
    """p-values of true laws are uniform: checked by their mean and their smallest."""
    generator = np.random.default_rng(5)
    law = np.array([0.5, 0.3, 0.15, 0.05])
    surprises = [checks.fits(row, law) for row in generator.multinomial(5000, law, 2000)]
    assert abs(np.mean(surprises) - 0.5) < 6 * np.sqrt(1 / 12 / 2000), "false-alarm rate 2e-9"
    assert min(surprises) > 1e-9 / 2000, "false-alarm rate 1e-9"
    assert checks.fits([10, 0, 1], [0.5, 0.5, 0.0]) == 0.0, "what is impossible must not be pooled away"


def test_an_impossible_report_is_infinite_epsilon():
    half = Fraction(1, 2)
    assert Channel(np.arange(2), [[half, half], [Fraction(1), Fraction(0)]]).epsilon() == float("inf")
    assert Channel(np.arange(2), [[half, half], [half, half]]).epsilon() == 0.0


def test_hashing_is_covered():
    assert any(isinstance(oracle(name), LocalHashing) for name in ORACLE_NAMES)
