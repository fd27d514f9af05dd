"""Plans of surveys: expected errors are those that happen, and the better way is found."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.survey import question
from ldpkit.planning.survey.errors import expected_error
from ldpkit.planning.survey.new_question import choose_question
from ldpkit.planning.survey.question import PlannedQuestion, choose, least_epsilon
from ldpkit.protocols.survey import Survey
from ldpkit.simulation.invented import invent_values
from ldpkit.simulation.survey import try_survey

SIX = {
    "commute": ["walk", "bike", "bus", "car"],
    "job": 12,
    "district": 40,
    "age": ldpkit.IntervalDomain(0, 120),
    "hours": ldpkit.IntervalDomain(0, 80),
    "bedtime": ldpkit.CircleDomain(24),
}


@pytest.fixture(scope="module")
def plan():
    return ldpkit.plan.survey(SIX, epsilon=2.0, people=20_000)


def test_every_way_keeps_the_budget(plan):
    assert len(plan.ways) == 7
    for way in plan.ways:
        assert way.survey().cost().micro <= 2_000_000
        assert way.survey().cost().micro > 1_999_000
    ratios = [way.worst.ratio for way in plan.ways]
    assert ratios == sorted(ratios)
    split = plan["split by error"]
    assert split.worst.ratio < plan["split equally"].worst.ratio
    spread = [choice.ratio for choice in split.choices]
    assert max(spread) / min(spread) < 1.05, "no question is better than it must be"
    assert plan.best.name == "1 of 6 questions"
    assert "best: 1 of 6 questions; split by error has" in plan.notes()[0]
    assert plan.to_dict()["about"]["best"] == plan.best.name


def test_the_planned_way_is_the_better_one(plan):
    """Real reports of 20,000 people; the ways differ by a factor of two, the errors by a tenth at most."""
    measured = {}
    for name in ("split by error", "1 of 6 questions"):
        survey = plan.survey(name)
        source = ldpkit.random.seeded(3)
        answers = {
            key: invent_values(each, 20_000, source.derive(key)) for key, each in survey.questions.items()
        }
        trials = try_survey(survey, answers, repeats=8)
        wanted = {choice.question.name: choice.question.wanted for choice in plan.best.choices}
        measured[name] = max(1.96 * each.rmse / wanted[each.question] for each in trials.questions)
    assert measured["1 of 6 questions"] < 0.75 * measured["split by error"]


def test_a_large_budget_is_spent_on_more_questions_each():
    few, many = (ldpkit.plan.survey({"a": 4, "b": 4, "c": 4}, epsilon, 20_000) for epsilon in (1.0, 15.0))
    assert few.best.ask == 1
    assert many.best.ask > 1


@pytest.mark.parametrize(
    "mechanism",
    [
        ldpkit.GRR(2, epsilon=1.5),
        ldpkit.OUE(2, epsilon=1.5),
        ldpkit.PM((0, 1), epsilon=1.5),
        ldpkit.Duchi((0, 1), epsilon=1.5),
        ldpkit.CircularOGPM(1, epsilon=1.5),
    ],
)
def test_expected_errors_are_those_that_happen(mechanism):
    """Within a quarter for 150 collections of a third of 3,000 people: four standard deviations."""
    n, generator = 3000, np.random.default_rng(11)
    if mechanism.kind == "frequency":
        values = np.arange(n) % 2
    elif mechanism.kind == "numeric":
        values = (np.arange(n) % 2).astype(float)  # half at each end
    else:
        values = invent_values(mechanism, n, ldpkit.random.seeded(1))
    rng = ldpkit.random.seeded(4)
    found = []
    for _ in range(150):
        drawn = generator.permutation(n)[: n // 3]
        tally = mechanism.tally(mechanism.privatize(values[drawn], rng=rng))
        if mechanism.kind == "circular":
            vector = np.exp(2j * np.pi * values).mean()
            away = tally.estimate().direction - (np.angle(vector) / (2 * np.pi)) % 1
            found.append((away + 0.5) % 1 - 0.5)
        else:
            estimate = tally.estimate()
            found.append((estimate.values[1] if mechanism.kind == "frequency" else estimate.mean) - 0.5)
    seen = 1.96 * math.sqrt(np.mean(np.square(found)))
    assert seen / expected_error(mechanism, n / 3, n) == pytest.approx(1, abs=0.25)


def test_the_least_epsilon_is_exact_enough_and_no_more():
    for domain in (ldpkit.CategoricalDomain(8), ldpkit.IntervalDomain(0, 10)):
        question = PlannedQuestion("q", domain, within=0.02 * getattr(domain, "width", 1.0))
        found = least_epsilon(question, 50_000)
        assert found.ratio <= 1
        assert choose(question, 0.97 * found.mechanism.epsilon, 50_000).ratio > 1


def test_reasons_are_told():
    question = PlannedQuestion("q", ldpkit.CategoricalDomain(4), within=0.001)
    chosen = choose_question(question, 1000, epsilon=1.0)
    assert "You asked for 0.001: ask about" in chosen.reasons[1]
    with pytest.raises(InvalidParameterError, match="how exact must the answer"):
        choose_question(PlannedQuestion("q", ldpkit.CategoricalDomain(4)), 1000)
    with pytest.raises(InvalidParameterError, match="cannot answer 'q' within 1e-05 at any epsilon"):
        least_epsilon(PlannedQuestion("q", ldpkit.IntervalDomain(0, 1), within=0.00001), 1000, share=0.5)


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(InvalidParameterError, match="locations with 'ldpkit trajectory recommend'"):
        ldpkit.plan.survey({"where": ldpkit.PlaneDomain.rectangle((0, 0), (1, 1))}, 1.0, 100)
    with pytest.raises(InvalidParameterError, match="no question 'b'"):
        ldpkit.plan.survey({"a": 4}, 1.0, 100, within={"b": 1.0})
    with pytest.raises(InvalidParameterError, match="positive number"):
        ldpkit.plan.survey({"a": 4}, 1.0, 100, within={"a": -1.0})
    with pytest.raises(InvalidParameterError, match="no questions"):
        ldpkit.plan.survey({}, 1.0, 100)
    alone = ldpkit.plan.survey({"a": 4}, 1.0, 100)
    assert "one question and one way" in alone.notes()[0]
    assert isinstance(alone.survey(), Survey)


def test_two_questions_of_one_name_are_refused():
    """One of them would have been lost in the survey that follows."""
    same = [
        PlannedQuestion("q", ldpkit.CategoricalDomain(4)),
        PlannedQuestion("q", ldpkit.IntervalDomain(0, 9)),
    ]
    with pytest.raises(InvalidParameterError, match="2 questions are called 'q'"):
        ldpkit.plan.survey(same, epsilon=1.0, people=1000)


def test_the_same_question_of_many_things_is_looked_into_once(monkeypatch):
    """Twenty of them took a collector four seconds."""
    looked_into, whole = [], question.shortlisted

    def shortlisted(asked, people, tries):
        looked_into.append(asked.name)
        return whole(asked, people, tries)

    monkeypatch.setattr("ldpkit.planning.survey.ways.shortlisted", shortlisted)
    plan = ldpkit.plan.survey({f"shop {number}": 4 for number in range(6)}, epsilon=1.0, people=1000)
    assert looked_into == ["shop 0"]
    assert len(plan.best.choices) == 6
