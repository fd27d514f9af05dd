"""Pictures of recommendations: each option with its interval, or with its epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.planning.frequencies.recommendation import Recommendation
from ldpkit.planning.mean.recommendation import MeanRecommendation

__all__ = ["draw_mean_recommendation", "draw_recommendation"]

_SHOWN = 12  # options that can be read


def draw_recommendation(axes: Any, found: Recommendation) -> None:
    """Draw the best options on top, those that tie marked, and learning nothing as a line."""
    options = found.options[:_SHOWN]
    places = np.arange(len(options))[::-1]
    if found.wanted is not None:
        axes.barh(
            places,
            [each.epsilon for each in options],
            xerr=[2 * each.epsilon_stderr for each in options],
            height=0.6,
        )
        axes.set_xlabel("epsilon that gives the wanted accuracy, ±2 standard errors (smaller is better)")
    else:
        middle = np.array([each.error for each in options])
        reach = np.abs(np.array([[each.low for each in options], [each.high for each in options]]) - middle)
        axes.errorbar(middle, places, xerr=reach, fmt="o", capsize=3)
        axes.axvline(found.nothing.error, color="grey", linestyle="--", label="learning nothing")
        axes.legend(fontsize=8)
        axes.set_xlabel(f"{found.metric.title}: mean, and where 95 of 100 collections lie")
    tie = " *" if len(found.ties) > 1 else ""
    axes.set_yticks(places, [each.name + (tie if each.tied else "") for each in options])
    if tie:
        axes.set_title("* tie: their differences are within the noise", fontsize=9)
    axes.grid(axis="x", alpha=0.3)


def draw_mean_recommendation(axes: Any, found: MeanRecommendation) -> None:
    """Draw the epsilon that each mechanism needs, or how far off its mean may be, the best on top."""
    places = np.arange(len(found.options))[::-1]
    told = [each.epsilon if found.by_epsilon else each.within for each in found.options]
    axes.barh(places, told, height=0.6)
    axes.set_yticks(places, [each.mechanism for each in found.options])
    if found.by_epsilon:
        axes.set_xlabel(f"epsilon that keeps the mean within {found.best.within:.3g} (smaller is better)")
    else:
        axes.axvline(found.nothing.within, color="grey", linestyle="--", label="learning nothing")
        axes.set_xlabel(f"how far off the mean may be at epsilon {found.best.epsilon:g}")
        axes.legend(fontsize=8)
    axes.set_title(found.title, fontsize=10)
    axes.grid(axis="x", alpha=0.3)
