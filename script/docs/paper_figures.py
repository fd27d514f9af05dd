"""One figure for each paper's page, drawn from a table on that page: it cannot say anything else."""

from __future__ import annotations

from collections.abc import Callable

from drawing import Picture, curves, dots
from tables import number, numbers, table_with

Figure = Callable[[str], Picture]


def _ldp3(page: str) -> Picture:
    _, *rows = table_with(page, "PowerNS published", "PowerNS ours", "Norm-Sub ours")
    return dots(
        [(row[0], [number(cell) for cell in row[1:]]) for row in rows],
        ["PowerNS as published", "PowerNS with the right variance", "Norm-Sub, ours"],
        title="PowerNS is a quarter better than Norm-Sub once its variance is right",
        axis="mean absolute error, in thousandths",
    )


def _ibu(page: str) -> Picture:
    head, *rows = table_with(page, "table 2", "grr")
    flat = next(row for row in rows if row[0] == "uniform")
    parsed = [(name, numbers(cell)) for name, cell in zip(head[1:], flat[1:], strict=True)]
    return dots(
        [(name, [found[1], found[0], found[2]]) for name, found in parsed],
        ["printed", "ours, stopped as published", "run to its limit"],
        title="On uniform data most of the published gain comes from stopping early",
        axis="gain in mean squared error over matrix inversion, per cent",
    )


def _optimus(page: str) -> Picture:
    head, *rows = table_with(page, "tau", "grr", "oue")
    emoji = [row for row in rows if row[0] in ("emoji", "")][-4:]
    return dots(
        [(f"tau {row[1]}", [number(cell) for cell in row[2:]]) for row in emoji],
        head[2:],
        title="Smallest epsilon for a ranking of 764 emoji: a missing mark means that no epsilon is enough",
        axis="smallest epsilon, logarithmic",
        logarithmic=True,
    )


def _capri(page: str) -> Picture:
    _, *rows = table_with(page, "cap", "TTC", "exact P(FN)")
    return dots(
        [
            (
                f"cap {row[0]}, total {row[1]}, epsilon {row[2]}",
                [number(row[3]), number(row[4]), number(row[7])],
            )
            for row in rows
        ],
        ["Chebyshev as printed", "by its formula", "exact"],
        title="Probability of missing an overload: the printed bounds and the exact probability",
        axis="probability of a false negative",
    )


def _aaa(page: str) -> Picture:
    head, *rows = table_with(page, "eps 0.1", "0.5", "1", "2", "4")
    epsilons = [numbers(cell)[0] for cell in head[1:]]
    return curves(
        epsilons,
        [(row[0], [numbers(cell)[0] for cell in row[1:]]) for row in rows],
        title="AAA compared with the best of four rivals, when the distribution is known",
        x_axis="epsilon, logarithmic",
        y_axis="variance, best rival = 1",
        reference=(1.0, "the best of Laplace, Duchi, PM and HM"),
    )


def _jrr(page: str) -> Picture:
    _, *rows = table_with(page, "n", "ones", "MSE ratio")
    return dots(
        [(row[0], [number(row[3])]) for row in rows],
        ["JRR (no finite epsilon towards the partner)"],
        title="JRR has less error than randomised response, and pays for it with privacy",
        axis="mean squared error, randomised response = 1",
        reference=(1.0, "randomised response"),
    )


def _ogpm(page: str) -> Picture:
    _, *rows = table_with(page, "printed", "as published", "arcs for both")
    circular = [row for row in rows if numbers(row[3])]
    return dots(
        [(row[0], [numbers(row[1])[0], numbers(row[3])[0]]) for row in circular],
        ["printed", "arcs for both"],
        title="On the circle OGPM's lead over PM-C is smaller when both are measured in arcs",
        axis="error of OGPM, in per cent of PM-C's",
        reference=(100.0, "equal"),
    )


def _tracs(page: str) -> Picture:
    head, *rows = table_with(page, "epsilon 2", "epsilon 4", "epsilon 8")
    centre = next(row for row in rows if row[0] == "always the centre")
    return dots(
        [(row[0].replace("`", ""), [number(cell) for cell in row[1:]]) for row in rows if row is not centre],
        head[1:],
        title="Mean error in the unit square: one mechanism for the plane beats two for its coordinates",
        axis="mean distance between report and location",
        reference=(numbers(centre[1])[0], "always the centre"),
    )


def _classifier(page: str) -> Picture:
    _, *rows = table_with(page, "40,000 cases each", "as coded", "as in the text")
    return dots(
        [(row[0].removesuffix(", every tenth record"), [number(row[2]), number(row[4])]) for row in rows],
        ["the published code", "the published text"],
        title="The published lower bound exceeds the exact utility by up to this much",
        axis="bound minus exact utility; a true lower bound is never above 0",
    )


FIGURES: dict[str, Figure] = {
    "ldp3": _ldp3,
    "ibu": _ibu,
    "optimus": _optimus,
    "capri": _capri,
    "aaa": _aaa,
    "jrr": _jrr,
    "ogpm": _ogpm,
    "tracs": _tracs,
    "classifier": _classifier,
}
