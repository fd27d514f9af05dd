"""AAA, figure 3: the expected variance of a report if the distribution is known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from ldpkit.bench.numeric_data import NumericData
from ldpkit.bench.numeric_experiment import mean_variance
from ldpkit.bench.summary import Mean
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Floats
from ldpkit.figures.numeric import Curves
from ldpkit.mechanisms.adaptive.compare import rounding_variance
from ldpkit.mechanisms.adaptive.descriptor import descriptor_of_law
from ldpkit.mechanisms.adaptive.solve import solve
from ldpkit.mechanisms.kinds import numeric_class
from ldpkit.papers import Claim, Settings, Verdict

__all__ = ["descriptors", "variance_claims"]

RIVALS = ("laplace", "duchi", "pm", "hm")
CLEAR = 0.95  # a margin that one can call clear

_LAWS = {
    "N(0, 0.1^2)": NormalDist(0, 0.1).cdf,
    "Exp(6) - 1": lambda x: -math.expm1(-6 * (x + 1)),
    "2 Beta(.5, .5) - 1": lambda x: math.acos(max(-1.0, min(1.0, -x))) / math.pi,
}


def descriptors(bins: int) -> dict[str, Floats]:
    """Return the three distributions of the figure on a grid."""
    return {name: descriptor_of_law(cdf, bins) for name, cdf in _LAWS.items()}


def variance_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the ratio of AAA's variance to that of the best rival, and what is said of it."""
    bins = 40 if settings.quick else 100
    epsilons = (0.5, 1.0, 2.0, 4.0) if settings.quick else (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
    curves: dict[str, dict[str, dict[float, Mean]]] = {}
    for letter, (name, shares) in zip("abc", descriptors(bins).items(), strict=True):
        lines = {rival: _rival_variances(rival, shares, epsilons) for rival in RIVALS}
        lines["aaa"] = {epsilon: _variance(shares, epsilon, 3 * bins) for epsilon in epsilons}
        curves[name] = lines
        for epsilon in epsilons:
            yield _margin(letter, name, epsilon, {line: means[epsilon] for line, means in lines.items()})
        yield _near_zero(letter, name, lines, epsilons)
    yield _hybrid(curves)
    yield _range()
    if settings.folder is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.figures.numeric import curves_figure

        figure = curves_figure(
            curves, along="epsilon", across="variance of a report", title=f"Figure 3, private (N = {bins})"
        )
        save_figure(figure, settings.folder / "figure-3-variance.png")


def _variance(shares: Floats, epsilon: float, noise_range: int | None) -> Mean:
    """Return AAA's expected variance: the program's, and that of rounding to the grid."""
    value = solve(shares, epsilon, noise_range=noise_range).value + rounding_variance(len(shares) - 1)
    return Mean(value, 0.0)


def _rival_variances(name: str, shares: Floats, epsilons: tuple[float, ...]) -> dict[float, Mean]:
    places = np.linspace(-1, 1, len(shares))
    people = NumericData(name, np.repeat(places, np.rint(shares * 1e6).astype(int)), IntervalDomain(-1, 1))
    kind = numeric_class(name)
    return {
        epsilon: Mean(mean_variance(kind.make((-1, 1), epsilon=epsilon), people), 0.0) for epsilon in epsilons
    }


def _margin(letter: str, name: str, epsilon: float, means: dict[str, Mean]) -> Claim:
    best = min(RIVALS, key=lambda rival: means[rival].value)
    ratio = means["aaa"].value / means[best].value
    halved = letter == "a" and epsilon == 1.0
    return Claim(
        f"figure 3{letter} {name}, eps={epsilon:g}: AAA's variance over the best rival's",
        0.5 if halved else "significantly below 1",
        round(ratio, 4),
        0.0,
        Verdict.REPRODUCED if not halved and ratio < CLEAR else Verdict.CORRECTED,
        f"AAA {means['aaa'].value:.4g}, {best} {means[best].value:.4g}"
        + ("; the published noise is a quarter of what is private" if halved else ""),
    )


def _near_zero(
    letter: str, name: str, lines: dict[str, dict[float, Mean]], epsilons: tuple[float, ...]
) -> Claim:
    """Return the claim that the gap grows as epsilon falls; at 0.1 a coarse grid is enough."""
    shares = descriptors(16)[name]
    least = min(_rival_variances(rival, shares, (0.1,))[0.1].value for rival in RIVALS)
    tiny = _variance(shares, 0.1, None).value / least
    large = lines["aaa"][epsilons[-1]].value / min(lines[rival][epsilons[-1]].value for rival in RIVALS)
    return Claim(
        f"figure 3{letter} {name}: the gap grows rapidly as epsilon goes to 0",
        "yes",
        f"ratio {tiny:.3f} at 0.1, {large:.3f} at {epsilons[-1]:g}",
        0.0,
        Verdict.CORRECTED if tiny > large else Verdict.REPRODUCED,
        "it vanishes: with little budget Duchi's mechanism is as good as any",
    )


def _hybrid(curves: Curves) -> Claim:
    lines = curves["N(0, 0.1^2)"]
    worse = [epsilon for epsilon, mean in lines["hm"].items() if mean.value > lines["pm"][epsilon].value]
    return Claim(
        "figure 3a: HM is sometimes worse than PM on average",
        "yes",
        f"at eps {', '.join(f'{epsilon:g}' for epsilon in worse)}",
        0.0,
        Verdict.REPRODUCED if worse else Verdict.NOT_REPRODUCED,
        "HM is the best in the worst case, not on average",
    )


def _range() -> Claim:
    """Return whether the range that the paper takes is enough for all its epsilons."""
    least = 2 * math.atanh(1 / 5)  # outputs reach 5 = 2 * 3 - 1, and must reach coth(eps/2)
    try:
        solve(np.full(17, 1 / 17), 0.4, noise_range=48)
        feasible = "feasible"
    except InvalidParameterError:
        feasible = "infeasible"
    return Claim(
        "section 7.1: M = 3N serves all epsilon in (0, 4]",
        "yes",
        f"from {least:.3f} on; {feasible} at 0.4",
        0.0,
        Verdict.CORRECTED,
        "an unbiased output must reach coth(eps/2); 'between [-3, 3]' is half of M sigma = 6",
    )
