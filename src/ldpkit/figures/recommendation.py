"""Pictures of recommendations: each option with its interval, or with its epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.figures.canvas import three_digits, with_unit
from ldpkit.figures.theme import BAD, FAINT, MAIN, MUTED
from ldpkit.planning.frequencies.recommendation import NOTHING, Recommendation
from ldpkit.planning.mean.recommendation import MeanRecommendation

__all__ = ["draw_mean_recommendation", "draw_recommendation"]

_SHOWN = 12  # options that can be read
_FEW = 3  # mechanisms beside which there is room for more methods than the best


def draw_recommendation(axes: Any, found: Recommendation) -> None:
    """Draw the best options on top, those that tie with the best alike, and learning nothing as a line."""
    leaders = tuple(each for each in found.leaders() if each.protocol != NOTHING)
    options = leaders if len(leaders) > _FEW else found.options[:_SHOWN]
    places = np.arange(len(options))[::-1]
    several = len(found.ties) > 1
    for tied, colour, mark in ((True, MAIN, "o"), (False, MUTED, "D")):
        chosen = [place for place, each in enumerate(options) if each.tied is tied]
        if not chosen:
            continue
        some = [options[place] for place in chosen]
        if found.wanted is not None:
            middle = np.array([each.epsilon for each in some])
            reach: Any = np.array([2 * each.epsilon_stderr for each in some])
        else:
            middle = np.array([each.error for each in some])
            reach = np.abs(np.array([[each.low for each in some], [each.high for each in some]]) - middle)
        label = ("tied with the best" if several else "best") if tied else "others"
        axes.errorbar(middle, places[chosen], xerr=reach, fmt=mark, color=colour, capsize=3, label=label)
    if found.wanted is not None:
        axes.set_xlabel("epsilon that gives the wanted accuracy, ±2 standard errors (smaller is better)")
    else:
        axes.axvline(found.nothing.error, color=BAD, linestyle=(0, (4, 2)), label="asking nobody")
        side = "larger" if found.metric.larger_is_better else "smaller"
        told = f"{found.metric.title} ({side} is better)"
        axes.set_xlabel(f"{told}: mean and middle 95% of the simulated collections")
    axes.set_yticks(places, [each.name for each in options])
    if several:
        hidden = len(found.ties) - sum(each.tied for each in options)
        more = f"; {hidden} of them are not shown" if hidden else ""
        axes.set_title(
            f"{len(found.ties)} are tied: not significantly different at the 5% level{more}",
            loc="left",
            wrap=True,
        )
    axes.grid(axis="x")
    axes.legend()


def draw_mean_recommendation(axes: Any, found: MeanRecommendation, *, unit: str = "") -> None:
    """Draw the epsilon that each mechanism needs, or how far off its mean may be, the best on top."""
    places = np.arange(len(found.options))[::-1]
    told = [each.epsilon if found.by_epsilon else each.within for each in found.options]
    best = {each.mechanism for each in found.ties}
    colours = [MAIN if each.mechanism in best else FAINT for each in found.options]
    bars = axes.barh(places, told, height=0.6, color=colours)
    axes.bar_label(bars, [three_digits(each) for each in told], padding=4, fontsize=8.5)
    axes.set_yticks(places, [each.mechanism for each in found.options])
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.12)
    if found.by_epsilon:
        wanted = with_unit(f"epsilon that keeps the mean within {found.best.within:.3g}", unit)
        axes.set_xlabel(f"{wanted} (smaller is better)")
    else:
        axes.axvline(found.nothing.within, color=BAD, linestyle=(0, (4, 2)), label="asking nobody")
        axes.set_xlabel(with_unit(f"how far off the mean may be at epsilon {found.best.epsilon:g}", unit))
        axes.legend()
    axes.set_title(found.title, loc="left", wrap=True)
    axes.grid(axis="x")
