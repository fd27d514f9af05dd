"""What a plan for a classifier answers: the choices, and what predictions are worth at the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.core.results import TOP, Result
from ldpkit.core.tables import Table
from ldpkit.core.text import and_text
from ldpkit.planning.classifier.drawn import Worth

__all__ = ["LABEL", "ClassifierPlan", "ClassifierPlans"]

LABEL = "label response"


@dataclass(frozen=True)
class ClassifierPlan:
    """The least total epsilon of one mechanism and split, and what is kept there."""

    mechanism: str
    split: str
    epsilon: float | None
    """None where even the largest epsilon does not keep enough."""
    average: float | None
    worst: float | None
    shares: tuple[float, ...] = ()
    curve: tuple[tuple[float, float, float], ...] = ()
    """Total epsilon, average and worst utility."""
    how: str = "exact"
    """"exact", "drawn", or "corrected" for the corrected model, which is drawn too."""
    drawn: tuple[tuple[float, float, float, float], ...] = ()
    """Total epsilon, average utility from draws, and its 95% interval: a check of the curve."""


@dataclass(frozen=True, repr=False)
class ClassifierPlans(Result):
    """All choices with the epsilon that each needs, the least first."""

    kind: ClassVar[str] = "plan classifier"

    plans: tuple[ClassifierPlan, ...]
    sensitive: tuple[str, ...]
    keep: float
    criterion: str
    records: int
    classes: int
    method: str
    largest: float
    reason: str = ""
    constant: float = 0.0
    """The share of records with the most common prediction, which a constant answer keeps without reports."""
    worth: tuple[Worth, ...] = ()
    """What predictions are worth against true labels, at the best choice; empty without true labels."""

    @property
    def feasible(self) -> bool:
        """Whether some mechanism keeps enough; the label response is not counted."""
        return self.best is not None

    @property
    def best(self) -> ClassifierPlan | None:
        """The choice with the least epsilon among those that privatize features."""
        found = [
            each
            for each in self.plans
            if each.epsilon is not None and each.mechanism != LABEL and each.how != "corrected"
        ]
        return found[0] if found else None

    def answer(self, unit: str = "") -> str:
        """Return the mechanism with the least epsilon, as a sentence."""
        best = self.best
        whose = (
            f"on average over {self.records:,} records" if self.criterion == "average" else "for every record"
        )
        if best is None:
            return (
                f"No mechanism keeps {self.keep:.0%} of predictions {whose} up to epsilon {self.largest:g}."
            )
        return (
            f"{best.mechanism} ({best.split}) keeps {self.keep:.0%} of predictions {whose} from epsilon "
            f"{best.epsilon:.4g} on, in total for {and_text(self.sensitive)}."
        )

    @property
    def title(self) -> str:
        """The title above the table."""
        whose = "on average" if self.criterion == "average" else "for the worst record"
        return f"The smallest epsilon that keeps {self.keep:.0%} of predictions {whose}"

    @property
    def caption(self) -> str:
        """The caption below the table."""
        drawn = ", simulated" if self.method == "drawn" else f", computed exactly ({self.method})"
        return (
            f"epsilon: the total for {and_text(self.sensitive)}; split: which part of it each column gets; "
            f"average, worst: the probability that a prediction stays the same, over {self.records:,} "
            f"records{drawn}; for a column that gets nothing, the model sees the middle of its range; the "
            "corrected model is simulated; other splits are in JSON and CSV"
        )

    def notes(self) -> list[str]:
        """Return the answer in words."""
        best = self.best
        told = [
            f"no mechanism keeps as much up to epsilon {self.largest:g}"
            if best is None
            else f"best with the model as it is: {best.mechanism}, {best.split}, at epsilon "
            f"{best.epsilon:.4g}"
        ]
        label = next(each for each in self.plans if each.mechanism == LABEL)
        told.append(
            f"if the model may run on the device, its label through randomised response needs epsilon "
            f"{label.epsilon:.4g} and no feature is sent"
        )
        told.append(f"a constant answer keeps {self.constant:.1%} without any report")
        better = next((each for each in self.plans if each.how == "corrected"), None)
        if better is not None and better.epsilon is not None:
            told.append(
                f"the corrected model keeps as much from epsilon {better.epsilon:.3g} on ({better.split})"
            )
        return [*told, *([self.reason] if self.reason else [])]

    def about(self) -> dict[str, Any]:
        """Return the question, and how it was answered."""
        return {
            "constant": self.constant,
            "worth": [each.__dict__ for each in self.worth],
            "sensitive": list(self.sensitive),
            "keep": self.keep,
            "criterion": self.criterion,
            "records": self.records,
            "classes": self.classes,
            "method": self.method,
        }

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each choice, with its curve."""
        return [
            {
                **each.__dict__,
                "curve": [list(point) for point in each.curve],
                "drawn": [list(point) for point in each.drawn],
            }
            for each in self.plans[:top]
        ]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return each mechanism with its best and its even split, and what predictions are worth."""
        seen = set[str]()
        shown = []
        for each in self.plans:
            if each.mechanism in seen and each.split != "even":
                continue
            seen.add(each.mechanism)
            told = {"mechanism": each.mechanism, "split": each.split, "epsilon": each.epsilon}
            told |= {"average": each.average, "worst": each.worst}
            told = {name: "not reached" if value is None else value for name, value in told.items()}
            if each.how == "corrected":
                told["worst"] = "not computed"
            shown.append(told)
        tables = [Table.of(shown[:top], title=self.title, caption=self.caption)]
        best = self.best
        if self.worth and best is not None:
            rows = [
                {
                    "way": each.way,
                    "same prediction": each.kept,
                    "accuracy": each.accuracy,
                    "stderr": each.stderr,
                }
                for each in self.worth
            ]
            where = f"{best.mechanism}, {best.split}, at epsilon {best.epsilon:.4g}"
            title = f"How good predictions are with {where}"
            caption = (
                "accuracy: the share of true labels, over one report of each record; trained on reports: "
                "on one half of them, asked about the other"
            )
            tables.append(Table.of(rows, title=title, caption=caption))
        return tables
