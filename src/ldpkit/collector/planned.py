"""`POST /v1/plan`: how to ask some questions of some people, before anything is collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldpkit.client.canonical import read_json
from ldpkit.collector.problems import HttpProblem
from ldpkit.protocols.collection.domains import DOMAIN_KEYS, written_domain

if TYPE_CHECKING:
    from ldpkit.planning.survey.plans import SurveyPlan

__all__ = ["plan_survey"]

_MOST_QUESTIONS, _MOST_CATEGORIES = 50, 1 << 16
_FIELDS = {"questions", "epsilon", "people"}


def plan_survey(body: bytes) -> SurveyPlan:
    """Return the plan that a JSON body asks for.

    It has `questions`, each with an `id`, what can be answered as in a collection file (`domain`,
    `low` and `high`, `period` or `corners`) and, if wanted, `within`; `epsilon` and `people`.

    Examples
    --------
    >>> body = b'{"questions": [{"id": "commute", "domain": 4}], "epsilon": 1, "people": 50000}'
    >>> plan_survey(body).best.choices[0].question.name
    'commute'
    """
    from ldpkit.planning.survey.plans import survey
    from ldpkit.planning.survey.question import PlannedQuestion

    form = read_json(body)
    if not isinstance(form, dict) or form.keys() != _FIELDS:
        raise HttpProblem("malformed-request", "a plan is asked for with questions, epsilon and people")
    questions, epsilon, people = form["questions"], form["epsilon"], form["people"]
    if not isinstance(questions, list) or not 1 <= len(questions) <= _MOST_QUESTIONS:
        raise HttpProblem("malformed-request", f"questions are a list of 1 to {_MOST_QUESTIONS}")
    if type(people) is not int or not 1 <= people <= 10**10:
        raise HttpProblem("malformed-request", "people is a whole number from 1 to 10,000,000,000")
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)):
        raise HttpProblem("malformed-request", "epsilon is a number")
    asked = [PlannedQuestion(*_question(each)) for each in questions]
    return survey(asked, float(epsilon), people)


def _question(form: Any) -> tuple[str, Any, float | None]:
    if not isinstance(form, dict) or not form.keys() <= {"id", "within", *DOMAIN_KEYS}:
        raise HttpProblem(
            "malformed-request", f"a question has an id, one of {', '.join(DOMAIN_KEYS)}, and may have within"
        )
    name, within = form.get("id"), form.get("within")
    if not isinstance(name, str) or not 1 <= len(name) <= 64:
        raise HttpProblem("malformed-request", "the id of a question has 1 to 64 characters")
    if within is not None and (isinstance(within, bool) or not isinstance(within, (int, float))):
        raise HttpProblem("malformed-request", f"within of {name!r} is a number")
    domain, _ = written_domain(form)
    size = getattr(domain, "size", None) or 0  # of categories only
    if size > _MOST_CATEGORIES:
        raise HttpProblem(
            "malformed-request", f"{name!r} has {size} categories: plan at most {_MOST_CATEGORIES}"
        )
    return name, domain, within
