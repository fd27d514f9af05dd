"""A collection before it is launched: the whole of it, on invented people."""

from __future__ import annotations

import math
from dataclasses import replace

from ldpkit.client.collection import Collection
from ldpkit.client.spending import Micro
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.watching import Watch, unwatched
from ldpkit.protocols.collection.building import mechanism_of
from ldpkit.protocols.ledger import MICRO
from ldpkit.protocols.survey import Survey
from ldpkit.simulation.invented import invent_values
from ldpkit.simulation.survey import SurveyTrials, try_survey

__all__ = ["rehearse", "survey_of"]


def survey_of(collection: Collection) -> Survey:
    """Return one round of a collection as a survey."""
    return Survey({each.id: mechanism_of(each) for each in collection.questions}, collection.ask)


def rehearse(
    collection: Collection,
    people: int,
    *,
    repeats: int = 20,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> SurveyTrials:
    """Carry out the first round of a collection several times on invented people.

    Parameters
    ----------
    collection : Collection
        What is asked.
    people : int
        How many are invented.
    repeats : int
        How often they are asked.
    rng : RandomSource, optional
        By default `seeded(0)`.
    watch : Watch
        Shows progress.
    """
    source = seeded(0) if rng is None else rng
    survey = survey_of(collection)
    answers = {
        name: invent_values(mechanism, people, source.derive(name))
        for name, mechanism in survey.questions.items()
    }
    trials = try_survey(survey, answers, repeats=repeats, rng=source, watch=watch)
    # a fixed value pays for all its reports with the first
    each, in_all = map(_epsilon, (collection.promise.round, collection.promise.lifetime))
    return replace(
        trials,
        epsilon=each,
        least_reports=collection.least_reports,
        in_all=in_all if collection.rounds.count > 1 else None,
    )


def _epsilon(micro: Micro) -> float:
    return math.inf if micro is None else micro / MICRO
