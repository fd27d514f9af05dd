"""Every kind of result: one envelope, text that stays text, frames and pictures; and what a notebook asks."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import ldpkit
from ldpkit.assurance.classifier.relaxations import relaxations
from ldpkit.core.results import ENVELOPE, Result, finite
from ldpkit.core.tables import Table
from ldpkit.engines.tallies import Tallies
from ldpkit.estimation.evidence import Evidence
from ldpkit.estimation.quantile import quantiles
from ldpkit.figures.drawing import DRAWN, WHOLE
from ldpkit.planning.cluster import cluster
from ldpkit.planning.optimal.errors import compare_errors
from ldpkit.planning.optimal.gpm import OptimalPieces
from ldpkit.planning.optimal.minimax import minimax
from ldpkit.planning.optimal.pieces import DensityPiece

HOSTILE = "<script>alert('x')</script> & $\x1b[2J"
PEOPLE = {"bus": 60, HOSTILE: 30, "walk": 10}


def _numeric_tally(name):
    mechanism = ldpkit.get(name, (0, 10), epsilon=4.0)
    return mechanism.tally(mechanism.privatize([2.0, 4.0] * 200, rng=ldpkit.random.seeded(1)))


def _circular_tally():
    mechanism = ldpkit.get("circular_ogpm", 360, epsilon=4.0)
    return mechanism.tally(mechanism.privatize([350.0, 20.0] * 200, rng=ldpkit.random.seeded(1)))


def _spatial_kinds():
    square, rng = ((0, 0), (1, 1)), ldpkit.random.seeded(1)
    walks = ldpkit.Trajectories.from_list([[(0.2, 0.3), (0.4, 0.4)] * 20, [(0.8, 0.9)] * 20])
    private = ldpkit.privatize_trajectories(walks, square, "grid_response", epsilon=4, rng=rng)
    found = private.tally().estimate(columns=3, rows=3)
    yield "private trajectories", private
    yield "heat map", found
    yield "hotspots", ldpkit.hotspots(found, 2, draws=2, rng=rng)
    ends = private.reports[:20], private.reports[20:40]
    yield (
        "origins and destinations",
        ldpkit.origin_destination(private.mechanism, *ends, columns=3, rows=3),
    )
    yield (
        "trajectory evaluation",
        ldpkit.evaluate_trajectories(walks, square, ["grid_response"], epsilon=4, rng=rng),
    )
    yield "location recommendation", ldpkit.recommend_locations(square, 2)


def _above(rows):
    return (rows[:, 0] > 0.5).astype(int)


def _kinds():
    """Yield a small result of every kind, as a notebook would make it."""
    oracle = ldpkit.GRR(list(PEOPLE), epsilon=2.0)
    reports = oracle.privatize(["bus"] * 60 + [HOSTILE] * 30, rng=ldpkit.random.seeded(1))
    yield "frequencies", oracle.tally(reports).estimate()
    yield "likelihood", Evidence.of(oracle, reports).estimate("mle")
    mean = _numeric_tally("duchi").estimate()
    yield "mean", mean
    adaptive = ldpkit.AdaptiveMean((0, 10), epsilon=4.0, bins=4)
    yield "adaptive mean", adaptive.run(np.full(400, 3.0), rng=ldpkit.random.seeded(1))
    tally = _numeric_tally("sw")
    (median,) = quantiles(tally, [0.5])
    yield "quantile", median
    yield "density", tally.estimate("density", bins=4).with_quantiles([median])
    compass = _circular_tally()
    yield "direction", compass.estimate()
    yield "circular density", compass.estimate("circular_density", bins=4)
    yield from _spatial_kinds()
    budget = ldpkit.plan.budget(PEOPLE, ["grr", "oue"], at_most=0.1, search="analytic")
    yield "plan budget", budget
    yield "plan", budget.best
    yield "plan mean", ldpkit.plan.mean((0, 10), 0.5, ["hm", "pm"], n=5000)
    yield "plan capacity", ldpkit.plan.capacity({0: 40, 1: 60}, 50, "fn", at_most=0.1)
    day = oracle.tally(reports)
    yield "groups", Tallies(("day",), {("1",): day, ("2",): day}, {}).estimate()
    yield "plan survey", ldpkit.plan.survey({"way": 3, "age": ldpkit.IntervalDomain(0, 9)}, 1.0, 500)
    yield "cluster plan", cluster(ldpkit.OLH(16, epsilon=1), 1000)
    yield "plan pairs", ldpkit.plan.pairs(100, 1.0, 2.0, ones=(0, 5), gain=False)
    yield (
        "classifier utility",
        ldpkit.utility(_above, [[0.2], [0.7]], {0: ldpkit.OGPM((0, 1), 2.0)}, draws=50),
    )
    yield "plan classifier", ldpkit.plan.classifier(_above, [[0.2], [0.9]], {0: (0, 1)}, mechanisms=["ogpm"])
    yield "relaxations", relaxations(1.0, 0.1, columns=2)
    yield "recommendation", ldpkit.recommend(PEOPLE, epsilon=1.0, protocols=["grr"], repeats=4)
    yield "mean recommendation", ldpkit.recommend_mean((0, 10), 100, epsilon=0.01)
    risks = ldpkit.risk(["grr", "oue"], domain=3, epsilon=[1, 2])
    yield "risks", risks
    yield "risk", risks[0]
    repeated = ldpkit.get("lgrr", list(PEOPLE), epsilon_inf=2, epsilon_1=1)
    yield "longitudinal", ldpkit.expose(repeated, 9, devices=9)
    yield "errors", compare_errors(["ogpm", "sw"], [1.0, 2.0], points=5)
    yield "minimax", minimax((0, 1), 1.0, power=2, intervals=8)
    densities = (DensityPiece(0.0, 0.4, 1.5), DensityPiece(0.4, 1.0, 2 / 3))
    yield (
        "optimal pieces",
        OptimalPieces(
            1.0, 1.0, 0.0, (0, 1), (0, 1), 2, densities, densities, 0.4, 0.4, 0.39, 0.03, 0.39, False, 0.0
        ),
    )
    yield "audit", ldpkit.audit(ldpkit.GRR(3, epsilon=1.0), reports=1000, rng=ldpkit.random.seeded(1))
    yield (
        "benchmark",
        ldpkit.bench.frequencies(
            PEOPLE, ["grr", "oue"], methods=["none", "norm_sub"], epsilon=[1, 2], repeats=2
        ),
    )
    yield "numeric benchmark", ldpkit.bench.mean("uniform:n=50", ["pm", "duchi"], repeats=2)


@pytest.fixture(scope="module")
def results():
    return dict(_kinds())


NAMES = [*DRAWN, "likelihood"]


def check_envelope(told):
    """Fail unless this is the envelope of a result: the one schema of all kinds."""
    assert tuple(told) == ENVELOPE
    assert told["ldpkit"] == ldpkit.__version__
    assert all(isinstance(told[name], str) and told[name] for name in ("kind", "title", "caption"))
    assert isinstance(told["about"], dict)
    assert told["about"]
    assert told["rows"]
    assert {tuple(row) for row in told["rows"]} == {tuple(told["rows"][0])}
    for name in ("notes", "warnings"):
        assert all(isinstance(each, str) for each in told[name])
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_every_kind_that_can_be_drawn_is_here(results):
    assert {result.kind for result in results.values()} == set(DRAWN)
    assert set(WHOLE) <= set(DRAWN)


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_has_the_one_envelope(results, name):
    result = results[name]
    assert isinstance(result, Result)
    check_envelope(result.to_dict())
    assert json.loads(result.to_json()) == result.to_dict()
    assert result.kind == ("frequencies" if name == "likelihood" else name)
    assert len(result.to_dict(top=1)["rows"]) <= 2, "a recommendation adds learning nothing"


def test_the_check_of_the_envelope_finds_what_is_wrong(results):
    right = results["mean"].to_dict()
    for wrong in ({**right, "rows": [{"a": float("nan")}]}, {**right, "about": {}}, {"rows": right["rows"]}):
        with pytest.raises((AssertionError, ValueError)):
            check_envelope(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_results_are_frozen(results, name):
    with pytest.raises(AttributeError):
        results[name].kind_of_thing = 1
    fields = results[name].__dataclass_fields__
    with pytest.raises(AttributeError):
        setattr(results[name], next(iter(fields)), None)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", NAMES)
def test_html_is_a_small_table_of_text(results, name):
    parsed = _Tags()
    parsed.feed(results[name]._repr_html_())
    assert "table" in parsed.tags
    assert parsed.tags <= {
        "div",
        "p",
        "strong",
        "small",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
    }


def test_a_hostile_label_is_shown_and_not_obeyed(results):
    page = results["frequencies"]._repr_html_()
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in page
    assert "\x1b" not in page
    assert "\x1b" not in str(results["frequencies"].tables()[0])
    assert results["frequencies"].rows()[1]["value"] == HOSTILE, (
        "what the next tool reads is the label itself"
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_repr_can_be_read(results, name):
    text = repr(results[name])
    assert not re.search(r"array\(|<[\w.]+ object at", text)


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"])
def test_every_kind_has_a_frame(results, backend):
    pytest.importorskip(backend)
    for result in results.values():
        frame = result.to_frame(backend)
        assert len(frame) == len(result.rows())
        assert list(getattr(frame, "column_names", None) or frame.columns) == list(result.rows()[0])


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"])
def test_half_a_character_is_an_escape_in_a_frame(backend):
    """UTF-8 cannot hold a lone surrogate: every library ended in its own error."""
    pytest.importorskip(backend)
    oracle = ldpkit.GRR(["é", "a\ud800"], epsilon=1.0)
    frame = oracle.tally(oracle.privatize(["é"])).estimate().to_frame(backend)
    column = frame["value"].to_pylist() if backend == "pyarrow" else list(frame["value"])
    assert column == ["é", r"a\ud800"]


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_can_be_drawn(results, name):
    figure_module = pytest.importorskip("matplotlib.figure")
    axes = figure_module.Figure().subplots()
    assert results[name].plot(axes) is axes
    assert axes.has_data()


@pytest.mark.parametrize("name", WHOLE)
def test_kinds_with_a_figure_of_their_own_have_a_narrow_one(results, name):
    wide, narrow = results[name].figure(), results[name].figure(narrow=True)
    assert wide.axes
    assert narrow.get_size_inches()[0] <= wide.get_size_inches()[0]


def test_plot_without_axes_makes_a_figure_that_a_notebook_shows(results):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    axes = results["mean"].plot()
    assert pyplot.fignum_exists(axes.figure.number)
    pyplot.close(axes.figure)


def test_infinity_is_a_word_and_nan_is_nothing():
    told = finite({"epsilon": np.inf, "row": (np.float64("nan"), -np.inf, np.int64(3), np.array([1.5]))})
    assert told == {"epsilon": "infinite", "row": [None, "-infinite", 3, [1.5]]}


def test_a_long_table_says_how_much_it_shows():
    estimate = ldpkit.Tally(ldpkit.GRR(50, epsilon=1), 100, [2] * 50).estimate()
    (table,) = estimate.tables()
    assert len(table.rows) == 20
    assert "the 20 most frequent of 50 values" in table.caption
    assert len(estimate.tables(None)[0].rows) == 50
    frequent = estimate.rows(3, sort="frequency")
    assert [row["value"] for row in frequent] == [0, 1, 2]


def test_columns_without_content_are_left_out():
    table = Table.of([{"a": 1, "b": None, "c": ""}, {"a": 2, "b": None, "c": "x"}], best={1: "a"})
    assert (table.header, table.rows) == (("a", "c"), (("1", ""), ("2*", "x")))


# --- what the estimates promise ----------------------------------------------------------


def test_unbiased_is_what_inversion_gives_whatever_the_estimator_is():
    oracle = ldpkit.OUE(4, epsilon=1.0)
    tally = ldpkit.Tally(oracle, 100, [55, 30, 20, 10])
    plain = tally.estimate("mi")
    for method in ("ibu", "ibu_limit"):
        made = tally.estimate(method)
        assert (made.unbiased == plain.values).all()
        assert (made.raw == made.values).all()
        assert (made.values >= 0).all()
        assert (made.consistent("norm_sub").raw == made.values).all()
    assert (plain.values < 0).any(), "else inversion and likelihood could not be told apart here"


def test_unbiased_of_pooled_reports_is_the_average_that_is_best_for_rare_values():
    one, other = ldpkit.GRR(3, epsilon=1.0), ldpkit.GRR(3, epsilon=3.0)
    few, many = ldpkit.Tally(one, 60, [30, 20, 10]), ldpkit.Tally(other, 60, [40, 15, 5])
    pooled = (Evidence.from_tally(few) + Evidence.from_tally(many)).estimate("mle")
    weights = np.array([1 / one.variance(0.0, 60), 1 / other.variance(0.0, 60)])
    expected = weights @ [few.estimate().values, many.estimate().values] / weights.sum()
    assert pooled.unbiased == pytest.approx(expected, abs=1e-12)
    assert [each["mechanism"] for each in pooled.about()["mechanisms"]] == ["grr", "grr"]
    assert "one population answered all mechanisms" in pooled.caption


def test_a_level_is_told_wherever_the_interval_is(results):
    estimate = results["frequencies"].with_level(0.8, simultaneous=True)
    assert "80% simultaneous intervals" in estimate.caption
    assert (estimate.about()["level"], estimate.about()["simultaneous"]) == (0.8, True)
    low, high = results["frequencies"].interval(0.8, simultaneous=True)
    assert [(row["low"], row["high"]) for row in estimate.rows()] == list(zip(low, high, strict=True))
    arc = results["direction"].interval(0.5)
    told = results["direction"].with_level(0.5)
    assert (told.rows()[0]["low"], told.rows()[0]["high"]) == (arc.start, arc.end)
    assert "50% interval" in told.caption
    mean = results["mean"].with_level(0.5)
    assert (mean.rows()[0]["low"], mean.rows()[0]["high"]) == results["mean"].interval(0.5)


def test_a_seed_is_told_for_ever(tmp_path):
    oracle = ldpkit.GRR(3, epsilon=1.0)
    made = ldpkit.Provenance("seeded", "data")
    tally = ldpkit.Tally(oracle, 3, [1, 1, 1], made)
    estimate = tally.estimate()
    assert estimate.provenance == made
    assert any("seed" in each for each in estimate.warnings)
    assert "randomness seeded, domain from the data" in estimate.caption
    assert estimate.about()["provenance"]["randomness"] == "seeded"
    audited = ldpkit.audit(tally, reports=1000)
    assert not audited.passed
    assert "seed" in audited.caption


# --- what a notebook asks as a terminal does ---------------------------------------------


def test_a_plan_says_what_was_left_out_and_what_cannot_be():
    found = ldpkit.plan.budget(PEOPLE, "all", at_most=1e-9, search="analytic", epsilon_max=1.0)
    assert not found.feasible
    assert any(note.startswith("left out of 'all': ") for note in found.notes())
    assert any("infeasible" in note for note in found.notes())
    assert "infeasible" in found.tables()[0].rows[0]
    assert all(row["epsilon"] is None for row in found.rows())
    with pytest.raises(ldpkit.LdpkitError, match="give at_least"):
        ldpkit.plan.budget(PEOPLE, metric="kendall_tau")


def test_plans_are_verified_on_demand():
    found = ldpkit.plan.capacity({0: 400, 1: 600}, 500, "fn", at_most=0.05, verified=True)
    assert [row["what"] for row in found.about()["verified"]] == ["selected", "0.9 times it"]
    assert len(found.tables()) == 2
    assert ldpkit.plan.mean((0, 1), 0.1, n=1000).about()["verified"] is None


def test_answers_are_the_same_every_time_unless_a_source_is_given():
    first, again = (
        ldpkit.recommend(PEOPLE, epsilon=1.0, protocols="grr", repeats=4).rows() for _ in range(2)
    )
    other = ldpkit.recommend(
        PEOPLE, epsilon=1.0, protocols="grr", repeats=4, rng=ldpkit.random.seeded(1)
    ).rows()
    assert first == again != other


def test_risk_takes_mechanisms_names_and_priors():
    made = ldpkit.risk(ldpkit.GRR(3, epsilon=1.0))
    named = ldpkit.risk("grr", domain=3)
    assert made.rows() == named.rows()
    assert len(made.notes()) == 3
    informed = ldpkit.risk("grr", data=[8, 1, 1])
    misled = ldpkit.risk("grr", data=[8, 1, 1], prior={0: 0, 1: 1, 2: 9})
    ignorant = ldpkit.risk("grr", data=[8, 1, 1], prior="uniform")
    assert informed[0].success > ignorant[0].success > misled[0].success
    for wrong in ({"domain": 3, "data": [1, 2, 3]}, {}, {"domain": 3, "prior": "flat"}):
        with pytest.raises(ldpkit.LdpkitError):
            ldpkit.risk("grr", **wrong)


def test_long_work_can_be_watched():
    seen = []

    def watch(items, total, label):
        seen.append((total, label))
        yield from items

    ldpkit.bench.frequencies(PEOPLE, "grr", methods="none", repeats=2, watch=watch)
    ldpkit.recommend(PEOPLE, epsilon=1.0, protocols="grr", repeats=2, watch=watch)
    ldpkit.risk("grr", domain=3, watch=watch)
    assert seen == [(1, "simulating"), (1, "simulating"), (1, "attacking")]
