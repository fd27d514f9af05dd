"""The two tables of the case studies, and the models that are trained on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.files.readers import column_names, read_column
from ldpkit.papers import Claim, Verdict
from ldpkit.simulation.datasets.numbers import KNOWN_NUMBERS

__all__ = ["LabelledTable", "load_table", "no_data", "table_claims", "trained"]


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Features, labels, and the split that every model here is trained on: 80/20, seed 42, stratified."""

    names: list[str]
    rows: Floats
    labels: Any

    def split(self) -> tuple[Floats, Floats, Any, Any]:
        """Return training rows, test rows, and the labels of both."""
        from sklearn.model_selection import train_test_split

        parts = train_test_split(self.rows, self.labels, test_size=0.2, random_state=42, stratify=self.labels)
        return parts[0], parts[1], parts[2], parts[3]

    @property
    def clipped(self) -> Floats:
        """The rows with every feature in [0, 1], as a mechanism on [0, 1] takes them."""
        return np.clip(self.rows, 0.0, 1.0)


def load_table(name: str, label: str) -> LabelledTable | None:
    """Return a known table, or None where it is not there."""
    found = KNOWN_NUMBERS[name].find()
    if found is None:
        return None
    path: Path = found[1]
    names = [each for each in column_names(path) if each != label]
    columns = [np.asarray(read_column(path, each), np.float64) for each in names]
    return LabelledTable(names, np.column_stack(columns), np.asarray(read_column(path, label)).astype(int))


def trained(table: LabelledTable) -> dict[str, Any]:
    """Return both models of the case studies."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    rows, _, labels, _ = table.split()
    return {
        "logistic regression": LogisticRegression(max_iter=1000).fit(rows, labels),
        "random forest": RandomForestClassifier(random_state=42).fit(rows, labels),
    }


def no_data(what: str, needs: str) -> Claim:
    """Return the claim that something could not be run, and what it takes."""
    return Claim(what, None, None, None, Verdict.NO_DATA, needs)


def table_claims() -> Claim:
    """Return table 7.1 beside what is run here."""
    return Claim(
        "table 7.1: mechanisms, classifiers and data sets",
        "6, 3 and 3",
        "6, 3 and 3",
        None,
        Verdict.REPRODUCED,
        "Gaussian noise as a law for analysis only; a dense network for their convolutional one",
    )
