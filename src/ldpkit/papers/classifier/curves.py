"""Claims and figures that both tables share: curves over epsilon, averages, worst records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import PrivateColumn, as_private_column
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.numeric.laplace import Laplace
from ldpkit.papers import Claim, Verdict
from ldpkit.papers.classifier.claims import drawn, holds, ours
from ldpkit.papers.classifier.drawing import Curve, curve_figure
from ldpkit.papers.classifier.study import MECHANISMS, TAU, Make, Study
from ldpkit.papers.classifier.thesis import BOUNDS, DRAWN, DRAWS, EPSILONS

__all__ = [
    "EVEN",
    "above_claims",
    "average_claims",
    "draw_averages",
    "draw_record",
    "record_claims",
    "unclipped",
]

EVEN = tuple(float(epsilon) for epsilon in range(1, 9))
"""The epsilons of the figures, each for one feature."""

_ORDER = ("PM", "Exponential", "Laplace")


def unclipped(epsilon: float) -> PrivateColumn:
    """Return Laplace as the thesis has it: what leaves [0, 1] counts as a changed prediction."""
    return as_private_column(Laplace((0, 1), epsilon=epsilon))


def record_claims(figure: str, table: str, studies: Mapping[str, Study], record: int) -> Iterator[Claim]:
    """Yield the curves of one record: the published bound against the truth, published draws against it."""
    for name, study in studies.items():
        key = table, name
        for place, epsilon in enumerate(EPSILONS):
            truth = {each: float(study.exact(make, epsilon)[record]) for each, make in MECHANISMS.items()}
            bound = BOUNDS[key]["PM"][place]
            yield Claim(
                f"{figure}: {table}, {name}, PM, eps={epsilon:g}, the published lower bound",
                bound,
                round(truth["PM"], 4),
                0.0,
                Verdict.REPRODUCED if bound <= truth["PM"] else Verdict.CORRECTED,
                f"exact; it is {'below' if bound <= truth['PM'] else 'ABOVE'} the truth by "
                f"{abs(bound - truth['PM']):.4f}",
            )
            for mechanism in _ORDER:
                exact, note, coded = truth[mechanism], "", None
                if mechanism == "Laplace":
                    exact = float(study.counted_as_failed(unclipped, epsilon)[record])
                    coded = float(study.as_coded(unclipped, epsilon)[record])
                    note = (
                        f"outside [0, 1] counts as changed (clipped it keeps {truth['Laplace']:.4f}); the "
                        f"published code counts values for records there, which gives {coded:.4f}"
                    )
                title = f"{figure}: {table}, {name}, {mechanism}, eps={epsilon:g}, published draws"
                yield drawn(title, DRAWN[key][mechanism][place], DRAWS, exact, note, coded=coded)
        for mechanism in ("Laplace", "k-RR", "SW"):
            values = [float(study.exact(MECHANISMS[mechanism], epsilon)[record]) for epsilon in EPSILONS]
            yield ours(
                f"{figure}: {table}, {name}, {_shown(mechanism)}",
                ", ".join(f"{value:.4f}" for value in values),
                "exact, at epsilon 1, 4 and 8 a feature",
            )


def above_claims(figure: str, title: str, study: Study, records: slice) -> Iterator[Claim]:
    """Yield how often the published bound is above the truth, over records, mechanisms and epsilons.

    The code tests a share tau and takes a radius that failed; the text tests tau/2 and takes one
    that passed. Both charge nothing for the share that fails.
    """
    versions = {
        "as coded, tau=0.01": study.found,
        "as in the text, tau/2 and a radius that passed": study.boxes(TAU / 2, careful=True),
    }
    for version, boxes in versions.items():
        excess = {
            (name, epsilon): (study.bound(make, epsilon, boxes) - study.exact(make, epsilon))[records]
            for name, make in MECHANISMS.items()
            for epsilon in EVEN
        }
        count = sum(int((each > 1e-6).sum()) for each in excess.values())
        total = sum(len(each) for each in excess.values())
        worst = max(excess, key=lambda key: float(excess[key].max()))
        yield holds(
            f"{figure}: {title}, the bound of the search {version}, is a lower bound",
            "always",
            f"above the truth in {count:,} of {total:,} cases",
            so=count == 0,
            note=f"most for {worst[0]} at eps={worst[1]:g}: by {float(excess[worst].max()):.3f}",
            wrong=True,
        )
        if boxes is study.found:
            yield from _above_rows(f"{figure}: {title}", excess)


def _above_rows(title: str, excess: Mapping[tuple[str, float], Floats]) -> Iterator[Claim]:
    for name in MECHANISMS:
        found = [excess[name, epsilon] for epsilon in EVEN]
        most = ", ".join(f"{max(float(each.max()), 0.0):.3f}" for each in found)
        yield ours(
            f"{title}, {name}: records of {len(found[0]):,} whose bound is above the truth",
            ", ".join(str(int((each > 1e-6).sum())) for each in found),
            f"at epsilon 1 to 8; by at most {most}",
        )


def average_claims(figure: str, title: str, study: Study, records: slice) -> Iterator[Claim]:
    """Yield averages and worst records, and the order of mechanisms that the thesis sees."""
    for what, fold in (("average", np.mean), ("worst", np.min)):
        for name in _ORDER:
            values = [float(fold(study.exact(MECHANISMS[name], epsilon)[records])) for epsilon in EPSILONS]
            yield ours(
                f"{figure}: {title}, {what}, {_shown(name)}",
                ", ".join(f"{value:.4f}" for value in values),
                "exact, at epsilon 1, 4 and 8 a feature",
            )
        broken, clipped = list[float](), list[float]()
        for epsilon in EVEN:
            pm, exponential = (
                float(fold(study.exact(MECHANISMS[name], epsilon)[records])) for name in _ORDER[:2]
            )
            laplace = float(fold(study.counted_as_failed(unclipped, epsilon)[records]))
            if not pm >= exponential >= laplace:
                broken.append(epsilon)
            if not pm >= exponential >= float(fold(study.exact(MECHANISMS["Laplace"], epsilon)[records])):
                clipped.append(epsilon)
        yield holds(
            f"{figure}: {title}, {what}: PM keeps most, then Exponential, then Laplace",
            "at every epsilon",
            "at every epsilon" if not broken else f"not at {_list(broken)}",
            so=not broken,
            note="with Laplace outside [0, 1] counted as changed; clipped, the order "
            + (f"does not hold at {_list(clipped)}" if clipped else "holds as well"),
        )


def _list(epsilons: Sequence[float]) -> str:
    return "eps " + ", ".join(f"{epsilon:g}" for epsilon in epsilons)


def draw_record(
    path: Path,
    studies: Mapping[str, Study],
    record: int,
    makes: Mapping[str, Make],
    *,
    boxes: Mapping[str, Any],
    share: float = 0.0,
    extra: Mapping[str, Mapping[str, Floats]] | None = None,
) -> None:
    """Draw one record over epsilon, exact and as published, with a share of raw records sent if asked."""
    panels: dict[str, list[Curve]] = {}
    for title, study in studies.items():
        curves = []
        for name, make in makes.items():
            exact = np.array([study.exact(make, epsilon)[record] for epsilon in EVEN])
            bound = np.array([study.bound(make, epsilon, boxes.get(title))[record] for epsilon in EVEN])
            curves.append(Curve(_shown(name), EVEN, share + (1 - share) * exact))
            curves.append(Curve(_shown(name), EVEN, share + (1 - share) * bound, "published"))
        for name, values in ((extra or {}).get(title) or {}).items():
            curves.append(Curve(name, EVEN, values))
        panels[title.capitalize()] = curves
    curve_figure(path, panels, "epsilon a feature", _ylabel(share))


def draw_averages(
    path: Path,
    study: Study,
    records: slice,
    makes: Mapping[str, Make],
    *,
    share: float = 0.0,
    extra: Mapping[str, Make] | None = None,
) -> None:
    """Draw the average and the worst record over epsilon, exact and as published; `extra` exact alone."""
    panels: dict[str, list[Curve]] = {"Average": [], "Worst record": []}
    for name, make in makes.items():
        exact = np.array([study.exact(make, epsilon)[records] for epsilon in EVEN])
        bound = np.array([study.bound(make, epsilon)[records] for epsilon in EVEN])
        for title, fold in (("Average", np.mean), ("Worst record", np.min)):
            for values, style in ((exact, "exact"), (bound, "published")):
                kept = share + (1 - share) * fold(values, axis=1)
                panels[title].append(Curve(_shown(name), EVEN, kept, style))
    for name, make in (extra or {}).items():
        exact = np.array([study.exact(make, epsilon)[records] for epsilon in EVEN])
        panels["Average"].append(Curve(name, EVEN, exact.mean(axis=1)))
        panels["Worst record"].append(Curve(name, EVEN, exact.min(axis=1)))
    curve_figure(path, panels, "epsilon a feature", _ylabel(share))


def _shown(name: str) -> str:
    return "Laplace, clipped" if name == "Laplace" else name


def _ylabel(share: float) -> str:
    same = "probability of the same prediction"
    return f"{same},\n{share:g} of records sent raw (not with Gaussian noise)" if share else same
