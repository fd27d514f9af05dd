"""The solver's part: examples 4 and 5, figure 5.2, and the best of all mechanisms beside Theorem 7."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ldpkit.core.errors import MissingDependencyError
from ldpkit.core.random import seeded
from ldpkit.mechanisms.cells.widths import end_error
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.planning.optimal.gpm import OptimalPieces, fit_height, gpm
from ldpkit.planning.optimal.minimax import minimax
from ldpkit.planning.optimal.scip import check_solver

__all__ = ["best_claims", "solver_claims"]

_NODES = 50  # at which SCIP stops: it has the best pieces long before it has proved that they are


def solver_claims(settings: Settings) -> Iterator[Claim]:
    """Yield what SCIP finds for four and five pieces, and the regression of its heights."""
    try:
        check_solver()
    except MissingDependencyError as missing:
        yield Claim(
            "examples 4 and 5, figure 5.2: the solver's pieces",
            None,
            None,
            None,
            Verdict.NO_DATA,
            str(missing),
        )
        return
    found = {count: gpm(1.0, 0.3, pieces=count, node_limit=_NODES) for count in (3, 4, 5)}
    for count in (4, 5):
        made = found[count]
        same = len(made.incumbent) == 3 and np.allclose(made.incumbent, found[3].incumbent, atol=1e-3)
        excess = made.incumbent_loss - made.closed_form
        yield Claim(
            f"example 4: {count} pieces at eps=1, x=0.3 merge to those of three",
            3,
            len(made.incumbent),
            0.0,
            Verdict.REPRODUCED if same and abs(excess) < 1e-6 else Verdict.NOT_REPRODUCED,
            f"error {made.incumbent_loss:.9f}, of the closed form {made.closed_form:.9f}; "
            + ("proven" if made.closed else f"SCIP's own gap after {_NODES} nodes is {made.gap:.2g}")
            + "; that two levels suffice has a proof, see the docs",
        )
    yield from _regression(settings)
    _draw_pieces(settings, found)


def best_claims(settings: Settings) -> Iterator[Claim]:
    """Yield what the best of all epsilon-LDP mechanisms on [0, 1] reaches, beside Theorem 7."""
    for epsilon in (1.0,) if settings.quick else (1.0, 2.0, 4.0):
        theorem, found = end_error(epsilon, 1), minimax((0, 1), epsilon)
        yield Claim(
            f"Theorem 7: OGPM is optimal; the least worst |y-x| of all eps-LDP mechanisms, eps={epsilon:g}",
            round(theorem, 6),
            round(found.upper, 6),
            0.0,
            Verdict.CORRECTED if found.upper < theorem - 1e-6 else Verdict.REPRODUCED,
            f"no mechanism is below {found.lower:.6f}; Theorem 7 is about densities with a uniform floor",
        )


def _regression(settings: Settings) -> Iterator[Claim]:
    count = 6 if settings.quick else 50
    generator = seeded(settings.seed).derive("ogpm example 5").generator()
    epsilons = np.sort(generator.uniform(0.2, 6.0, count))
    heights = [
        max(piece.density for piece in gpm(float(each), 0.0, at=0.0, node_limit=_NODES).incumbent)
        for each in epsilons
    ]
    slope, shift, error = fit_height(epsilons, np.array(heights))
    what = f"example 5: regression of the solver's p on {count} random eps, e^(b1 eps) + b2"
    yield Claim(
        f"{what}: b1",
        0.5,
        round(slope, 6),
        0.0,
        Verdict.REPRODUCED if abs(slope - 0.5) < 0.005 else Verdict.NOT_REPRODUCED,
        f"largest error {error:.2g}",
    )
    yield Claim(
        f"{what}: b2",
        -0.07,
        round(shift, 6),
        0.0,
        Verdict.REPRODUCED if abs(shift + 0.07) < 0.005 else Verdict.CORRECTED,
        "p is e^(eps/2): -0.07 would be an error of 0.07, not of at most 0.01",
    )


def _draw_pieces(settings: Settings, found: dict[int, OptimalPieces]) -> None:
    if settings.folder is None:
        return
    from ldpkit.figures.canvas import new_figure, save_figure

    figure = new_figure(9, 3.5)
    for axes, count in zip(figure.subplots(1, 2, sharey=True), (4, 5), strict=True):
        pieces = found[count].incumbent
        edges = [piece.low for piece in pieces] + [pieces[-1].high]
        axes.stairs([piece.density for piece in pieces], edges, color="C0", linewidth=1.8)
        axes.axvline(0.3, color="C3", linestyle=":", label="x = 0.3")
        axes.set_ylim(0, 1.9)
        axes.set_xlabel("report")
        axes.set_title(f"{count} pieces allowed, {len(pieces)} after merging", fontsize=10)
        axes.legend(fontsize=8)
    figure.suptitle("Figure 5.2: the best density of m pieces at eps = 1")
    save_figure(figure, settings.folder / "figure-5.2.png")
