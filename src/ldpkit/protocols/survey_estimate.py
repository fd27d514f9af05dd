"""What a survey tells: an estimate for each question, in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.core.results import Result

__all__ = ["SurveyEstimate"]


@dataclass(frozen=True, eq=False, repr=False)
class SurveyEstimate(Result):
    """An estimate for each question of a survey.

    Parameters
    ----------
    estimates : mapping of str to Result
        The estimate of each question: frequencies, a mean, a direction or a map.
    ask : int
        How many questions a person answered.
    people : int
        How many people took part.
    epsilon : float
        What a person paid at most, exactly.
    population : bool
        Whether the intervals are about the population that all people were drawn from.

    Examples
    --------
    >>> import ldpkit
    >>> survey = ldpkit.Survey.split({"way": ("grr", ["walk", "bike"]), "age": ("hm", (0, 120))}, epsilon=2.0)
    >>> answers = {"way": ["walk", "bike"] * 50, "age": [30.0] * 100}
    >>> found = survey.estimate(survey.tally(survey.privatize(answers, rng=ldpkit.random.seeded(1))))
    >>> list(found), found["way"].n
    (['way', 'age'], 100)
    """

    estimates: Mapping[str, Any]
    ask: int
    people: int
    epsilon: float
    population: bool = False

    kind: ClassVar[str] = "survey"

    def __getitem__(self, name: str) -> Any:
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Survey of {self.people:,} people, {self.ask} of {len(self)} questions each"

    @property
    def caption(self) -> str:
        """Whom the intervals are about, and what a person paid."""
        about = "all people who took part"
        if self.population:
            about = "the population that they were drawn from"
        elif self.ask < len(self):
            about += ", allowing for who was drawn to answer which question"
        return f"95% intervals for {about}; a person spent at most epsilon {self.epsilon:.6g}"

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each value, statistic or cell of each question."""
        rows = [
            {
                "question": name,
                "what": _what(row),
                "estimate": row.get("frequency", row.get("value", row.get("share"))),
                "stderr": row.get("stderr"),
                "low": row.get("low"),
                "high": row.get("high"),
                "answers": estimate.n,
            }
            for name, estimate in self.estimates.items()
            for row in estimate.rows()
        ]
        return rows[:top]

    def about(self) -> dict[str, Any]:
        """Return who took part, and what made the reports of each question."""
        return {
            "people": self.people,
            "ask": self.ask,
            "epsilon": self.epsilon,
            "population": self.population,
            "questions": {name: estimate.about() for name, estimate in self.estimates.items()},
        }

    def notes(self) -> list[str]:
        """Return what there is to know of each question."""
        return [f"{name}: {note}" for name, estimate in self.estimates.items() for note in estimate.notes()]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be known of each question before its numbers are trusted."""
        return tuple(f"{name}: {each}" for name, found in self.estimates.items() for each in found.warnings)


def _what(row: Mapping[str, Any]) -> Any:
    """Return what a record of an estimate is about: a value, a statistic or a cell of a map."""
    if "frequency" in row:
        return row["value"]
    return row["statistic"] if "statistic" in row else f"cell {row['column']}, {row['row']}"
