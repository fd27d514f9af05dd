"""Surveys: several questions of any kind, and one promise for all that a person answers.

A person answers every question, each with a part of the budget, or a few drawn at random with
more of it. Which is better depends on the questions: `ldpkit.plan.survey` compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError, LdpkitError
from ldpkit.core.parameters import check_epsilon, check_people, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Reports, Values
from ldpkit.mechanisms.base import MECHANISMS, Mechanism
from ldpkit.mechanisms.kinds import is_numeric, is_spatial
from ldpkit.mechanisms.tally import Tally
from ldpkit.protocols.ledger import MICRO, Cost, Ledger, Questions, Report, floor_epsilon
from ldpkit.protocols.sampling import draw_questions
from ldpkit.protocols.survey_estimate import SurveyEstimate

__all__ = ["Survey", "split_budget"]


def split_budget(epsilon: float, weights: Sequence[float]) -> list[float]:
    """Return parts of a budget in some proportions, of which all fit into it, each rounded up to a millionth.

    Examples
    --------
    >>> split_budget(2.0, [1, 1, 2])
    [0.5, 0.5, 1.0]
    >>> from ldpkit.protocols.ledger import micro_epsilon
    >>> parts = split_budget(2.0, [1] * 6)
    >>> parts[0], sum(map(micro_epsilon, parts)) <= micro_epsilon(2.0)
    (0.333333, True)
    """
    whole = int(check_epsilon(epsilon) * MICRO)
    total = sum(weights)
    return [floor_epsilon(int(whole * (weight / total))) for weight in weights]


class Survey:
    """Several questions to the same people.

    Parameters
    ----------
    questions : mapping of str to Mechanism
        What is asked, and with what.
    ask : int, optional
        How many of the questions a person answers, drawn at random; all by default.

    Examples
    --------
    >>> import ldpkit
    >>> survey = Survey.split(
    ...     {"commute": ("grr", ["walk", "bike"]), "age": ("hm", (0, 120)), "bed": ("circular_sw", 24)},
    ...     epsilon=3.0)
    >>> print(survey.cost())
    epsilon exactly 3
    >>> people = {"commute": ["walk", "bike"] * 2000, "age": [30.0, 50.0] * 2000, "bed": [23.0, 0.5] * 2000}
    >>> estimate = survey.estimate(survey.tally(survey.privatize(people, rng=ldpkit.random.seeded(1))))
    >>> abs(estimate["age"].mean - 40) < 6 * estimate["age"].stderr < 20
    True
    """

    def __init__(self, questions: Mapping[str, Mechanism], ask: int | None = None) -> None:
        if not questions:
            raise InvalidParameterError("a survey has no questions: give at least one")
        for name, mechanism in questions.items():
            if not mechanism.can("tallied") or mechanism.can("joint"):
                raise InvalidParameterError(
                    f"question {name!r} cannot be asked with {mechanism.name}: a survey takes mechanisms "
                    "whose "
                    "people report alone and whose reports add up"
                )
        self.questions = dict(questions)
        self.ask = len(questions) if ask is None else check_whole(ask, "ask")
        if self.ask > len(questions):
            raise InvalidParameterError(f"ask={ask} is more than the {len(questions)} questions there are")

    @classmethod
    def split(
        cls,
        questions: Mapping[str, tuple[str, Any]],
        epsilon: float,
        *,
        weights: Sequence[float] | None = None,
        ask: int | None = None,
    ) -> Survey:
        """Return the survey that keeps a budget.

        Parameters
        ----------
        questions : mapping of str to (str, domain)
            The name of a mechanism that takes an epsilon, and its domain.
        epsilon : float
            What a person pays at most.
        weights : sequence of float, optional
            In which proportions the budget is split; equally by default.
        ask : int, optional
            How many questions a person answers; each then has the `ask`-th part.
        """
        count = len(questions) if ask is None else check_whole(ask, "ask")
        if weights is None:
            parts = split_budget(epsilon, [1] * max(count, 1))[:1] * len(questions)
        elif len(weights) != len(questions) or count != len(questions):
            raise InvalidParameterError(
                f"{len(weights)} weights do not fit {count} answers to {len(questions)} questions: give one "
                "for "
                "each question, and let people answer all of them"
            )
        elif not all(weight > 0 for weight in weights):
            raise InvalidParameterError(
                f"a question with no weight has no budget: got weights {list(weights)}"
            )
        else:
            parts = split_budget(epsilon, weights)
        made = {
            name: MECHANISMS.get(mechanism).make(domain, epsilon=part)
            for (name, (mechanism, domain)), part in zip(questions.items(), parts, strict=True)
        }
        return cls(made, ask)

    @property
    def is_sampled(self) -> bool:
        """Whether chance decides who answers which question."""
        return self.ask < len(self.questions)

    def record(self) -> Questions:
        """Return what a person reports, for a ledger."""
        return Questions(tuple(map(Report, self.questions.values())), self.ask)

    def cost(self) -> Cost:
        """Return what the person pays who answers the most expensive questions."""
        cost = Ledger((self.record(),)).cost()
        assert cost is not None
        return cost

    def exact_epsilon(self) -> float:
        """Return the epsilon of all that a person reports, rounded up."""
        return self.cost().epsilon

    def charge(self, ledger: Ledger) -> Ledger:
        """Return a person's ledger with this survey in it; refuse one that it does not fit into.

        Examples
        --------
        >>> import ldpkit
        >>> survey = Survey({"commute": ldpkit.GRR(4, epsilon=1.5)})
        >>> once = survey.charge(Ledger(cap=2_000_000))
        >>> survey.charge(once)
        Traceback (most recent call last):
        ...
        ldpkit.core.errors.InvalidParameterError: this survey costs 1500000 millionths of an epsilon and \
1500000 are spent: together more than the cap of 2000000; ask less, or ask other people
        """
        if not ledger.fits(self.record()):
            spent = ledger.cost()
            raise InvalidParameterError(
                f"this survey costs {self.cost().text} millionths of an epsilon and "
                f"{'an unknown amount' if spent is None else spent.text} are spent: together more than the "
                "cap of "
                f"{ledger.cap}; ask less, or ask other people"
            )
        return ledger.add(self.record())

    def privatize(
        self, answers: Mapping[str, Values], *, rng: RandomSource | None = None
    ) -> dict[str, Reports]:
        """Return the reports on each question, of the people who were drawn for it.

        Parameters
        ----------
        answers : mapping of str to values
            A column for each question, with the value of every person.
        rng : RandomSource, optional
            Secure by default.
        """
        if set(answers) != set(self.questions):
            raise InvalidInputError(
                f"answers are to {', '.join(answers) or 'nothing'}, and the questions are "
                f"{', '.join(self.questions)}: give a column for each"
            )
        people = {len(column) for column in answers.values()}  # type: ignore[arg-type]  # columns have lengths
        if len(people) != 1:
            raise InvalidInputError(
                "every person answers every question here, got columns of "
                f"{', '.join(map(str, sorted(people)))} "
                "values"
            )
        for name, mechanism in self.questions.items():  # before any randomness is drawn
            try:
                mechanism.domain.encode(answers[name])
            except LdpkitError as error:
                raise type(error)(f"question {name!r}: {error}") from None
        source = resolve(rng)
        drawn = draw_questions(people.pop(), len(self.questions), self.ask, source)
        streams = source.spawn(len(self.questions))
        return {
            name: mechanism.first_reports(np.asarray(answers[name])[chosen], rng=stream)
            if chosen.any()
            else np.empty(0, mechanism.report_dtype)
            for (name, mechanism), chosen, stream in zip(
                self.questions.items(), drawn.T, streams, strict=True
            )
        }

    def tally(self, reports: Mapping[str, Reports]) -> dict[str, Tally]:
        """Return a tally for each question. Tallies of a question add; `estimate` takes them."""
        if set(reports) != set(self.questions):
            raise InvalidInputError(
                f"reports are on {', '.join(reports) or 'nothing'}, and the questions are "
                f"{', '.join(self.questions)}"
            )
        return {name: mechanism.tally(reports[name]) for name, mechanism in self.questions.items()}

    def estimate(
        self, tallies: Mapping[str, Tally], *, population: bool = False, people: int | None = None
    ) -> SurveyEstimate:
        """Return an estimate for each question.

        Where chance decided who answers what, the intervals have room for that as well.

        Parameters
        ----------
        tallies : mapping of str to Tally
            One for each question, of all people together.
        population : bool
            True: about the population that all people were drawn from.
        people : int, optional
            How many people took part; by default as many as the numbers of answers say.
        """
        for name, mechanism in self.questions.items():
            if name not in tallies or tallies[name].mechanism != mechanism:
                raise InvalidInputError(
                    f"there is no tally of question {name!r} by {mechanism!r}: give one for each"
                )
            if tallies[name].n == 0:
                raise InvalidInputError(f"nobody answered question {name!r}: collect from more people")
        answers = [tallies[name].n for name in self.questions]
        everyone = (
            max(-(-sum(answers) // self.ask), *answers) if people is None else check_people(people, "people")
        )
        if everyone < max(answers) or everyone * self.ask < sum(answers):
            raise InvalidInputError(
                f"{everyone} people who answer {self.ask} questions each cannot have given "
                f"{', '.join(map(str, answers))} answers: give the number of all people"
            )
        found = {
            name: tallies[name].estimate(**self._options(mechanism, population, everyone))
            for name, mechanism in self.questions.items()
        }
        return SurveyEstimate(found, self.ask, everyone, self.exact_epsilon(), population)

    def _options(self, mechanism: Mechanism, population: bool, everyone: int) -> dict[str, Any]:
        """Return whose truth an estimate is about; an interval for a population covers all people too."""
        if is_numeric(mechanism):
            return {"population": population, "people": everyone if self.is_sampled else None}
        if is_spatial(mechanism):  # the intervals of a map hold for a population in any case
            return {}
        return {"population": population or self.is_sampled}

    def __repr__(self) -> str:
        return f"<Survey, {self.ask} of {len(self.questions)} questions, {self.cost()}>"
