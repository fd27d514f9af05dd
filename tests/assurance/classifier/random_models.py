"""Random models, records, mechanisms and epsilons, each with the lower bounds that are stated for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ldpkit
from ldpkit.assurance.classifier.columns import as_private_column
from ldpkit.core.binomial import binomial_interval

FAMILIES = ("linear", "several", "curved", "forest", "boosted", "network", "wide network", "black box")
MECHANISMS: dict[str, Callable[[float], Any]] = {
    "ogpm": lambda epsilon: ldpkit.get("ogpm", (0, 1), epsilon=epsilon),
    "sw": lambda epsilon: ldpkit.get("sw", (0, 1), epsilon=epsilon),
    "laplace": lambda epsilon: ldpkit.get("laplace", (0, 1), epsilon=epsilon),
    "clipped laplace": lambda epsilon: ldpkit.Clipped(ldpkit.get("laplace", (0, 1), epsilon=epsilon)),
    "truncated laplace": lambda epsilon: ldpkit.get("truncated_laplace", (0, 1), epsilon=epsilon),
    "hm": lambda epsilon: ldpkit.get("hm", (0, 1), epsilon=epsilon),
    "duchi": lambda epsilon: ldpkit.get("duchi", (0, 1), epsilon=epsilon),
    "k-RR": lambda epsilon: ldpkit.NearestPoint(ldpkit.GRR(np.linspace(0, 1, 21), epsilon=epsilon)),
    "exponential": lambda epsilon: ldpkit.NearestPoint(ldpkit.Exponential(np.linspace(0, 1, 11), epsilon)),
}
TAU = 0.05


@dataclass(frozen=True)
class Stated:
    """A lower bound, and how often it may be wrong."""

    family: str
    low: float
    wrong: float


class Ripples:
    """A model that can only be asked: a label that changes along waves."""

    def __init__(self, rng: np.random.Generator, columns: int) -> None:
        self.direction = rng.normal(size=columns)
        self.phase, self.pitch = rng.uniform(0, 6), rng.uniform(1.5, 5)

    def predict(self, rows: Any) -> Any:
        return (np.sin(self.pitch * (rows @ self.direction) + self.phase) > 0).astype(int)


class Stripe:
    """A label that holds around a record, but for a thin stripe close to it, where reports are dense."""

    def __init__(self, rng: np.random.Generator, record: Any) -> None:
        self.record, self.reach = record, rng.uniform(0.15, 0.4)
        self.start, self.width = rng.uniform(0.0, 0.05), rng.uniform(0.005, 0.03)

    def predict(self, rows: Any) -> Any:
        away = rows - self.record
        near = (np.abs(away) < self.reach).all(axis=1)
        beyond = away.max(axis=1)
        return (near & ~((beyond > self.start) & (beyond < self.start + self.width))).astype(int)


@dataclass(frozen=True)
class Case:
    """One random question."""

    family: str
    model: Any
    record: Any
    mechanisms: dict[int, Any]
    seed: int

    @classmethod
    def random(cls, seed: int) -> Case:
        rng = np.random.default_rng(seed)
        family = FAMILIES[seed % len(FAMILIES)]
        columns = int(rng.integers(2, 5))
        rows = rng.random((120, columns)).round(3)
        score = np.sin(rng.uniform(2, 7) * rows[:, 0]) + rows @ rng.normal(size=columns)
        classes = 3 if family == "several" or (family != "linear" and rng.random() < 0.3) else 2
        labels = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
        most = {"linear": 3, "black box": 2, "wide network": min(columns, 3)}.get(family, 2)
        wanted = most if family == "wide network" else int(rng.integers(1, min(most, columns) + 1))
        chosen = sorted(rng.choice(columns, wanted, replace=False).tolist())
        epsilon = float(np.exp(rng.uniform(np.log(0.3), np.log(8))))
        names = rng.choice(list(MECHANISMS), wanted)
        if family == "black box":  # points with a chance have no volume, so a box says nothing about them
            names = rng.choice(["ogpm", "sw", "laplace"], wanted)
        mechanisms = {column: MECHANISMS[name](epsilon) for column, name in zip(chosen, names, strict=True)}
        record = rng.random((1, columns)).round(3)
        model = _model(family, rng, seed, record)
        if family != "black box":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = model.fit(rows, labels)
        return cls(family, model, record, mechanisms, seed)

    def stated(self) -> list[Stated]:
        """Return the lower bounds that are stated for this question."""
        rng = ldpkit.random.seeded(self.seed)
        found = ldpkit.utility(self.model, self.record, self.mechanisms, draws=2000, confidence=0.95, rng=rng)
        told = [Stated(found.method, float(found.lows[0]), 0.0 if found.exact else 0.025)]
        if self.family == "wide network":
            box = ldpkit.certified_box(self.model, self.record, self.mechanisms, seconds=2)
            told.append(Stated("certified box", box.bound(self.mechanisms), 0.0))
        if self.family == "black box":
            asked = ldpkit.robust_box(self.model, self.record, self.mechanisms, tau=TAU, rng=rng)
            told.append(Stated("robust box", asked.bound(self.mechanisms), 0.05))
            mixed = ldpkit.mixture_utility(self.model, self.record, [self.mechanisms], draws=3000, rng=rng)
            told.append(Stated("mixture", mixed[0].low, 0.025))
        return told

    def upper_limit(self, draws: int, confidence: float) -> float:
        """Return the upper limit of the true probability from draws."""
        rows = np.repeat(self.record, draws, axis=0)
        sources = ldpkit.random.seeded(10_000 + self.seed).spawn(len(self.mechanisms))
        for (column, mechanism), source in zip(self.mechanisms.items(), sources, strict=True):
            rows[:, column] = as_private_column(mechanism).draw(rows[:, column], source)
        same = self.model.predict(rows) == self.model.predict(self.record)[0]
        return float(binomial_interval(int(same.sum()), draws, confidence)[1])

    def published(self) -> float:
        """Return the published bound: (1 - tau) P(B) for the radius that its binary search returns."""
        rng = np.random.default_rng(self.seed)
        chosen, low, high = list(self.mechanisms), 0.0, 1.0
        label = self.model.predict(self.record)[0]
        for _ in range(8):
            radius = (low + high) / 2
            rows = np.repeat(self.record, 1000, axis=0)
            for column in chosen:
                value = self.record[0, column]
                rows[:, column] = rng.uniform(max(value - radius, 0), min(value + radius, 1), 1000)
            if (self.model.predict(rows) != label).mean() <= TAU:
                low = radius
            else:
                high = radius
        bound = 1 - TAU
        for column, mechanism in self.mechanisms.items():
            law = as_private_column(mechanism).outputs(self.record[:, column])
            ends = self.record[:, column] - high, self.record[:, column] + high  # a radius that failed
            bound *= float(law.between(*ends)[0])
        return bound


def _model(family: str, rng: np.random.Generator, seed: int, record: Any) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.svm import LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    sizes = [(int(rng.integers(2, 12)),), (int(rng.integers(2, 8)), int(rng.integers(2, 6)))]
    network = MLPClassifier(sizes[seed // 8 % 2], max_iter=40, solver="lbfgs", random_state=seed)
    choices: dict[str, list[Any]] = {
        "linear": [LogisticRegression(C=30), LinearSVC(), RidgeClassifier()],
        "several": [LogisticRegression(C=30)],
        "curved": [QuadraticDiscriminantAnalysis(), GaussianNB()],
        "forest": [
            RandomForestClassifier(9, random_state=seed),
            ExtraTreesClassifier(9, random_state=seed),
            DecisionTreeClassifier(random_state=seed),
        ],
        "boosted": [
            GradientBoostingClassifier(n_estimators=9, random_state=seed),
            HistGradientBoostingClassifier(max_iter=9, min_samples_leaf=5),
            *_boosters(),
        ],
        "network": [network],
        "wide network": [network],
        "black box": [Stripe(rng, record), Ripples(rng, record.shape[1])],
    }
    model = choices[family][seed // len(FAMILIES) % len(choices[family])]
    if family == "black box" or rng.random() < 0.6:
        return model
    return make_pipeline([StandardScaler(), MinMaxScaler()][int(rng.integers(2))], model)


def _boosters() -> list[Any]:
    found = list[Any]()
    try:
        from xgboost import XGBClassifier

        found.append(XGBClassifier(n_estimators=9, max_depth=4, n_jobs=1))
    except ImportError:
        pass
    try:
        from lightgbm import LGBMClassifier

        found.append(LGBMClassifier(n_estimators=9, min_child_samples=5, verbose=-1, n_jobs=1))
    except ImportError:
        pass
    return found
