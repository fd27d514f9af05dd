"""AAA, section 4 and figures 1 and 2: whether the noise is private, and what it looks like."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from ldpkit.core.exact import WORD, log_up
from ldpkit.mechanisms.adaptive.descriptor import descriptor_of_law
from ldpkit.mechanisms.adaptive.solve import fitted_table
from ldpkit.mechanisms.adaptive.table import NoiseTable
from ldpkit.mechanisms.tables.table import worst_ratio
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.papers.aaa.tails import solve_with_tails
from ldpkit.papers.aaa.variance import descriptors

__all__ = ["noise_claims"]

EPSILON = 2.0  # of both figures


def noise_claims(settings: Settings) -> Iterator[Claim]:
    """Yield what section 4 says of the noise."""
    yield from _privacy()
    bins = 40 if settings.quick else 100
    laws = {"N(0, 0.2^2)": descriptor_of_law(NormalDist(0, 0.2).cdf, bins), **descriptors(bins)}
    tables = {name: (shares, fitted_table(shares, EPSILON)) for name, shares in laws.items()}
    yield from _shape(tables["N(0, 0.2^2)"][1])
    if settings.folder is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.figures.numeric import noise_figure

        save_figure(noise_figure(tables, EPSILON), settings.folder / "figures-1-2-noise.png")


def _privacy() -> Iterator[Claim]:
    shares = descriptor_of_law(NormalDist(0, 0.2).cdf, 4)
    for printed in (True, False):
        worst = worst_ratio(solve_with_tails(shares, 1.0, 8, printed=printed).rows())
        found = "infinite" if worst is None else round(log_up(worst), 6)
        yield Claim(
            f"equation 15 {'as printed' if printed else 'with tails constrained'}: epsilon at N=4, M=8",
            1.0,
            found,
            None,
            Verdict.CORRECTED if printed else Verdict.REPRODUCED,
            "outputs in the tail of one input and not of another are left out; unbiasedness was added"
            if printed
            else "every output index; to the solver's accuracy (tables in use are repaired in integers)",
        )
    values = [solve_with_tails(shares, 1.0, 16, ratio).value for ratio in (0.1, 0.5)]
    yield Claim(
        "section 7.1: the tail's r matters little below 0.6 (variance at r = 0.1 over r = 0.5)",
        "about 1",
        round(values[0] / values[1], 6),
        None,
        Verdict.REPRODUCED if abs(values[0] / values[1] - 1) < 0.01 else Verdict.NOT_REPRODUCED,
        "where M is large enough, the optimum has no tails at all",
    )


def _shape(table: NoiseTable) -> Iterator[Claim]:
    chances = np.array(table.rows, float) / WORD
    uneven = float(np.abs(chances - chances[::-1, ::-1]).max())
    yield Claim(
        "figure 2: symmetric data have symmetric noise",
        "yes",
        f"probabilities differ by at most {uneven:.0e}",
        None,
        Verdict.REPRODUCED if uneven < 1e-6 else Verdict.NOT_REPRODUCED,
        "what is left is the rounding to integers",
    )
    own = round(0.75 * table.bins)  # x = 0.5
    row, steps = np.array(table.rows[own], float), np.array(table.outputs) - own
    below, above = row[steps < 0].sum() / row.sum(), row[steps > 0].sum() / row.sum()
    yield Claim(
        "figure 2: the noise of a positive value is mostly negative (x = 0.5, Gaussian)",
        "yes",
        f"{below:.0%} below zero, {above:.0%} above",
        None,
        Verdict.REPRODUCED if below > above else Verdict.NOT_REPRODUCED,
        "the mean is zero all the same",
    )
    visible = row > 1e-4 * row.sum()
    runs = int((np.diff(np.concatenate([[0], visible.astype(int)])) == 1).sum())
    yield Claim(
        "figure 2: the noise has several peaks, some at the ends",
        "yes",
        f"{runs} separate stretches of outputs with probability over 1e-4",
        None,
        Verdict.REPRODUCED if runs > 1 else Verdict.NOT_REPRODUCED,
        "the far ones make it unbiased",
    )
