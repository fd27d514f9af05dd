"""The study of larger groups and of shuffling: claims, two tables and a figure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ldpkit.papers import Claim, Settings, Verdict, write_csv
from ldpkit.papers.jrr import groups, shuffling

__all__ = ["study_claims"]


def study_claims(settings: Settings) -> Iterator[Claim]:
    """Yield what larger groups reach at epsilon 1 alone, and shuffled RR."""
    found = list(groups.rows((2, 3, 4, 12) if settings.quick else groups.SIZES))
    pair = found[0]["variance"]
    for row in found:
        if row["size"] not in (2, 3, 4, 6, 16):
            continue
        third = "" if row["third_order"] is None else f", third order {row['third_order']:.6f}"
        yield Claim(
            f"4.5, groups of {row['size']}, epsilon 1 alone: variance over RR if all hold the same",
            "further improves",
            round(row["variance"], 6),
            0.0,
            Verdict.REPRODUCED if row["variance"] <= pair else Verdict.NOT_REPRODUCED,
            f"least correlation {row['correlation']:.6f}{third}; epsilon towards one other member "
            f"{_said(row['one_member'])}, towards all together {_said(row['all_members'])}",
        )
    gains = next(row for row in found if row["variance_equal_epsilon"] < 0.99)
    yield Claim(
        "4.5, not in the thesis: size from which groups beat RR at equal epsilon towards all other members",
        None,
        gains["size"],
        None,
        Verdict.NOT_IN_PAPER,
        f"of the sizes {', '.join(str(row['size']) for row in found)}, if all hold the same: "
        f"{gains['variance_equal_epsilon']:.4f} of RR's variance at epsilon 1, where a joint count has "
        f"{gains['group_count']:.4f}",
    )
    shuffled = list(shuffling.rows())
    for row in shuffled:
        yield Claim(
            f"4.5, shuffled RR, n={row['n']:,}, epsilon 1 before the shuffler: epsilon at delta 1e-6",
            "not compared",
            round(row["epsilon_after"], 4),
            0.0,
            Verdict.NOT_IN_PAPER,
            f"all others known to hold a zero; epsilon 1 after the shuffler allows "
            f"{row['epsilon_before_for_1']:.3f} before it, and {row['variance']:.4f} of RR's variance; it "
            "needs a trusted shuffler and a delta",
        )
    if settings.folder is not None:
        write_csv(found, settings.folder / "study-groups.csv")
        write_csv(shuffled, settings.folder / "study-shuffled.csv")
        _draw(settings.folder, found)


def _said(epsilon: float) -> str:
    return "infinite" if math.isinf(epsilon) else f"{epsilon:.4f}"


def _draw(folder: Path, found: list[dict[str, Any]]) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    from ldpkit.figures.canvas import new_figure, save_figure

    figure = new_figure(9, 6)
    axes: Any = figure.subplots()
    sizes = [row["size"] for row in found]
    for key, style, label in (
        ("variance", "o:", "strongest correlation: epsilon infinite within the group"),
        ("variance_at_2", "s--", "strongest with epsilon 2 towards all other members"),
        ("variance_equal_epsilon", "^-", "best with epsilon 1 towards all other members"),
        ("group_count", "D-", "one joint count (GroupCount), epsilon 1 towards everybody"),
    ):
        axes.plot(sizes, [row[key] for row in found], style, label=label, markersize=5)
    axes.axhline(1, color="black", linewidth=0.8, label="RR at epsilon 1")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([str(size) for size in sizes])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("people in a group")
    axes.set_ylabel("variance of a count, over that of RR at epsilon 1")
    axes.set_title("Larger groups: what correlation gains if all hold the same value")
    axes.legend(fontsize=8)
    figure.supxlabel(
        "In the first three, everybody reports, and a report on its own has epsilon 1 or less. 'Towards all "
        "other members' means\nwhat they know put together; with unequal values correlation gains less.",
        fontsize=8,
    )
    save_figure(figure, folder / "study-groups.png")
