"""Surveys: one promise for all answers, and intervals with room for who answers what."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.protocols.ledger import Ledger, Questions, Series, floor_epsilon, micro_epsilon
from ldpkit.protocols.sampling import draw_questions
from ldpkit.protocols.survey import Survey, split_budget
from ldpkit.simulation.invented import invent_values
from ldpkit.simulation.survey import try_survey

ASKED = {
    "commute": ("grr", ["walk", "bike", "bus", "car"]),
    "job": ("oue", 12),
    "district": ("olh", 40),
    "age": ("hm", (0, 120)),
    "hours": ("pm", (0, 80)),
    "bedtime": ("circular_ogpm", 24),
}


def people(survey, count, seed=1):
    source = ldpkit.random.seeded(seed)
    return {name: invent_values(each, count, source.derive(name)) for name, each in survey.questions.items()}


@pytest.mark.parametrize(("ask", "weights"), [(None, None), (None, [3, 2, 2, 1, 1, 1]), (1, None), (4, None)])
def test_the_total_is_the_sum_of_the_charges_and_within_the_cap(ask, weights):
    survey = Survey.split(ASKED, 2.0, ask=ask, weights=weights)
    charges = [micro_epsilon(each.exact_epsilon()) for each in survey.questions.values()]
    dearest = sum(sorted(charges, reverse=True)[: survey.ask])
    assert survey.cost().micro == dearest <= 2_000_000
    assert survey.cost().micro >= 2_000_000 - 6
    spent = survey.charge(Ledger(cap=2_000_000))
    assert spent.cost().micro == dearest
    with pytest.raises(InvalidParameterError, match="together more than the cap of 2000000"):
        survey.charge(spent)
    survey.charge(survey.charge(Ledger(cap=4_000_000)))


def test_a_series_of_reports_is_added_up():
    ledger = Ledger((Series(1.0, 0.25, 5),))
    assert ledger.cost().micro == 2_000_000
    assert Ledger((Series(1.0, float("inf"), 1),)).cost().micro == 1_000_000
    assert Ledger((Series(1.0, float("inf"), 2),)).cost().micro is None
    assert Ledger((Questions((Series(1, 0, 9), Series(0.5, 0.5, 3)), 1),)).cost().micro == 1_500_000
    for bad in (-1.0, float("nan")):
        with pytest.raises(InvalidParameterError, match="not negative"):
            Series(bad, 0.0)


def test_parts_of_a_budget_fit_into_it():
    for parts, epsilon in itertools.product((1, 2, 3, 6, 7, 10), (0.1, 1.0, 2.2)):
        made = split_budget(epsilon, [1] * parts)
        assert sum(map(micro_epsilon, made)) <= epsilon * 1e6 + 1e-6
    for micro in (1, 100_000, 333_333, 1_100_000):
        assert micro_epsilon(floor_epsilon(micro)) == micro
        assert micro_epsilon(np.nextafter(floor_epsilon(micro), 9)) == micro + 1


def test_every_set_of_questions_is_as_likely():
    """Chi-square over the 15 sets; false alarm in 1 of 10,000."""
    drawn = draw_questions(30_000, 6, 2, ldpkit.random.seeded(5))
    sets = np.bincount(drawn @ (1 << np.arange(6)), minlength=64)
    counts = sets[sets > 0]
    assert len(counts) == 15
    square = float(((counts - 2000) ** 2 / 2000).sum())
    assert square < 42.6, "false alarm in 1 of 10,000"
    skewed = drawn.copy()
    skewed[:2000] = drawn[0]
    sets = np.bincount(skewed @ (1 << np.arange(6)), minlength=64)
    assert float(((sets[sets > 0] - 2000) ** 2 / 2000).sum()) > 42.6


@pytest.mark.parametrize("ask", [None, 2])
def test_reports_say_how_things_are(ask):
    survey = Survey.split(ASKED, 12.0, ask=ask)
    answers = people(survey, 6_000)
    found = survey.estimate(survey.tally(survey.privatize(answers, rng=ldpkit.random.seeded(2))))
    assert found.people == 6_000
    truth = np.bincount(answers["district"], minlength=40) / 6_000
    assert np.abs(found["district"].values - truth).max() < 6 * found["district"].stderr.max(), "1 of 10^7"
    assert abs(found["age"].mean - answers["age"].mean()) < 6 * found["age"].stderr
    assert 8.0 in found["bedtime"].interval(0.999999)
    rows = found.rows()
    assert len(rows) == 4 + 12 + 40 + 2 + 2 + 2
    assert {row["question"] for row in rows} == set(ASKED)
    assert ("allowing for who was drawn" in found.caption) == (ask == 2)
    assert found.to_dict()["kind"] == "survey"


def test_locations_and_permanent_reports_can_be_asked_too():
    plane = ldpkit.get("grid_response", ((0, 0), (10, 10)), epsilon=2.0)
    survey = Survey({"where": plane, "page": ldpkit.get("lgrr", 4, epsilon_inf=3, epsilon_1=2)}, ask=1)
    answers = people(survey, 3000)
    found = survey.estimate(survey.tally(survey.privatize(answers, rng=ldpkit.random.seeded(2))))
    assert any(str(row["what"]).startswith("cell ") for row in found.rows())
    trials = try_survey(survey, answers, repeats=1)
    assert trials.questions[0].intervals == 256


def test_intervals_cover_for_both_ways_and_those_without_sampling_do_not():
    """At least 0.95 less four standard deviations of 25 surveys; the negative control leaves sampling out."""
    asked = {"yes": ("grr", 2), "age": ("duchi", (0, 1)), "job": ("oue", 3)}
    for ask in (None, 1):
        survey = Survey.split(asked, 18.0, ask=ask)
        answers = people(survey, 400)
        trials = try_survey(survey, answers, repeats=25)
        least = 0.95 - 4 * (0.95 * 0.05 / 25) ** 0.5
        assert all(each.coverage >= least for each in trials.questions), trials.rows()
    # At so large an epsilon only who was drawn is left: intervals about those who answered miss the others.
    missed = 0
    for seed in range(30):
        tallies = survey.tally(survey.privatize(answers, rng=ldpkit.random.seeded(seed)))
        low, high = tallies["yes"].estimate().interval()
        missed += not low[1] <= answers["yes"].mean() <= high[1]
    assert missed > 15


def test_what_is_refused(untouched):
    survey = Survey.split(ASKED, 2.0)
    answers = people(survey, 50)
    for change, kind, said in (
        ({"age": [1.0] * 49}, InvalidInputError, "columns of 49, 50"),
        ({"age": np.full(50, 121.0)}, OutOfDomainError, "question 'age': value 121.0"),
        ({"commute": ["fly"] * 50}, OutOfDomainError, "question 'commute': value 'fly'"),
        ({"more": [1] * 50}, InvalidInputError, "the questions are commute"),
    ):
        with pytest.raises(kind, match=said):
            survey.privatize({**answers, **change}, rng=untouched)
    with pytest.raises(InvalidParameterError, match="no questions"):
        Survey({})
    with pytest.raises(InvalidParameterError, match="ask=7 is more"):
        Survey.split(ASKED, 2.0, ask=7)
    with pytest.raises(InvalidParameterError, match="2 weights do not fit"):
        Survey.split(ASKED, 2.0, weights=[1, 2])
    with pytest.raises(InvalidParameterError, match="no budget"):
        Survey.split(ASKED, 2.0, weights=[1, 2, 3, 4, 5, 0])
    with pytest.raises(InvalidParameterError, match="people report alone"):
        Survey({"pair": ldpkit.get("jrr", 2, epsilon=2, epsilon_alone=1)})
    tallies = survey.tally(survey.privatize(answers, rng=ldpkit.random.seeded(1)))
    with pytest.raises(InvalidInputError, match="no tally of question 'job'"):
        survey.estimate({**tallies, "job": tallies["district"]})
    with pytest.raises(InvalidInputError, match="40 people who answer 6 questions"):
        survey.estimate(tallies, people=40)
    age = survey.questions["age"]
    with pytest.raises(InvalidInputError, match="nobody answered question 'age'"):
        survey.estimate({**tallies, "age": age.tally(np.empty(0, age.report_dtype))})
