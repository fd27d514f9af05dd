"""AAA, figures 4 and 5: the error of the mean, on synthetic and on real numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ldpkit.bench.numeric_data import NumericData, draw
from ldpkit.bench.numeric_experiment import NumericExperiment, NumericRow
from ldpkit.bench.numeric_summary import NumericSummary
from ldpkit.bench.summary import Mean
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Floats
from ldpkit.figures.numeric import Curves
from ldpkit.files.readers import read_column
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.simulation.datasets.catalogue import search_places

__all__ = ["people", "real_claims", "synthetic_claims"]

EPSILONS = (0.5, 1.0, 2.0, 4.0)
UNBIASED = ("laplace", "duchi", "pm", "hm")
SMOOTH = "sw+ems"
RETIREMENT = (-30_621.43, 121_952.52)
RETIREMENT_FILE = "sf_retirement_sample.csv"


def people(name: str, n: int) -> NumericData:
    """Return the synthetic people of section 7.2, at the quantiles of their distribution."""
    from scipy.special import ndtri

    shares = (np.arange(n) + 0.5) / n
    values: dict[str, Floats] = {
        "gaussian": np.clip(ndtri(shares), -5, 5) / 5,
        "exponential": np.clip(-np.log1p(-shares), 0, 5) * 0.4 - 1,
        "bernoulli": draw("bernoulli", n).values,
    }
    return NumericData(name, values[name], IntervalDomain(-1, 1))


def grid_bins(name: str, n: int) -> int:
    """Return how many cells the paper takes: bin sizes 0.125, 0.25 for few people, 1 for two values."""
    return 2 if name == "bernoulli" else 8 if n <= 1000 else 16


def synthetic_claims(settings: Settings) -> Iterator[Claim]:
    """Yield whether AAA is the best, for each distribution, number of people and epsilon."""
    curves: dict[str, dict[str, dict[float, Mean]]] = {}
    for name in ("gaussian", "exponential", "bernoulli"):
        for n in (1000, 10_000, 100_000):
            experiment = NumericExperiment(
                [people(name, n)],
                EPSILONS,
                [*UNBIASED, "aaa"],
                repeats=8 if settings.quick else 100,
                seed=settings.seed,
                bins=grid_bins(name, n),
            )
            summary = _summary(experiment, "expected")
            for epsilon in EPSILONS:
                yield best_claim("figure 4", f"{name} n={n}", summary, name, epsilon)
            curves[f"{name}, n = {n:,}"] = _curves(summary, name)
    smooth = {name: _smooth(name, settings) for name in ("gaussian", "exponential", "bernoulli")}
    yield from _statements(curves, smooth, _smooth_repeats(settings))
    for name, means in smooth.items():
        curves[f"{name}, n = 10,000"][SMOOTH] = means
    _draw(curves, settings, "figure-4-synthetic.png", "Figure 4, private: expected squared error of the mean")


def real_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the same for the San Francisco sample; the other data are not to be had."""
    try:
        numbers = _retirement()
    except InvalidInputError as error:
        yield Claim("figure 5 retirement", "AAA best", None, None, Verdict.NO_DATA, str(error))
    else:
        experiment = NumericExperiment(
            [numbers], EPSILONS, [*UNBIASED, "aaa"], repeats=8 if settings.quick else 100, seed=settings.seed
        )
        summary = _summary(experiment, "expected")
        for epsilon in EPSILONS:
            yield best_claim("figure 5", f"retirement, sample of {numbers.n}", summary, numbers.name, epsilon)
        curves = {f"retirement, n = {numbers.n:,}": _curves(summary, numbers.name)}
        _draw(curves, settings, "figure-5-retirement.png", "Figure 5, private, on a sample")
    for name in ("taxi", "income"):
        yield Claim(f"figure 5 {name}", "AAA best", None, None, Verdict.NO_DATA, "no public copy was found")


def best_claim(figure: str, title: str, summary: NumericSummary, data: str, epsilon: float) -> Claim:
    """Return whether AAA has the smallest error, as the ratio to the best rival."""
    rival = min(UNBIASED, key=lambda name: summary.mean(data, epsilon, name).value)
    best, ours = summary.mean(data, epsilon, rival), summary.mean(data, epsilon, "aaa")
    ratio, stderr = ours.value / best.value, float(np.nan_to_num(ours.stderr)) / best.value
    return Claim(
        f"{figure} {title}, eps={epsilon:g}: AAA's error over the best unbiased rival's",
        "below 1",
        round(ratio, 3),
        round(stderr, 3),
        Verdict.REPRODUCED if ratio + 2 * stderr < 1 else Verdict.CORRECTED,
        f"best rival {rival}: {best.value:.3g}" + ("" if ratio < 1 else ", which needs no first phase"),
    )


def _summary(experiment: NumericExperiment, metric: str) -> NumericSummary:
    rows: list[NumericRow] = [row for made in experiment.run() for row in made.rows]
    return NumericSummary(rows, metric)


def _curves(summary: NumericSummary, data: str) -> dict[str, dict[float, Mean]]:
    return {
        name: {epsilon: summary.mean(data, epsilon, name) for epsilon in EPSILONS}
        for name in summary.mechanisms()
    }


def _smooth(name: str, settings: Settings) -> dict[float, Mean]:
    """Return the error of the mean of SW's smooth density, which is biased: it can only be simulated."""
    experiment = NumericExperiment(
        [people(name, 10_000)], EPSILONS, [SMOOTH], repeats=_smooth_repeats(settings), seed=settings.seed
    )
    return _curves(_summary(experiment, "mse"), name)[SMOOTH]


def _smooth_repeats(settings: Settings) -> int:
    return 20 if settings.quick else 100


def _statements(curves: Curves, smooth: dict[str, dict[float, Mean]], repeats: int) -> Iterator[Claim]:
    """Yield what the text says beside 'AAA is the best', at n = 10,000."""
    at = {name: curves[f"{name}, n = 10,000"] for name in smooth}
    lowest = min(at, key=lambda name: at[name]["aaa"][4.0].value)
    yield Claim(
        "figure 4 text: AAA's error is the smallest on Gaussian data (eps=4)",
        "gaussian",
        lowest,
        None,
        Verdict.REPRODUCED if lowest == "gaussian" else Verdict.NOT_REPRODUCED,
    )
    ratios = [_over_best(at["gaussian"], epsilon) for epsilon in EPSILONS]
    yield Claim(
        "figure 4 text: on Gaussian data AAA's gain grows with epsilon",
        "yes",
        ", ".join(f"{ratio:.3f}" for ratio in ratios),
        None,
        Verdict.REPRODUCED if (np.diff(ratios) < 0).all() else Verdict.NOT_REPRODUCED,
        "AAA's error over the best unbiased rival's at eps 0.5, 1, 2, 4",
    )
    for name, means in smooth.items():
        below = [each for each in EPSILONS if _bounds(means[each], repeats)[1] < at[name]["aaa"][each].value]
        yield Claim(
            f"figure 4 text: AAA's error is below that of SW's smooth density on {name} data",
            "always",
            f"clearly not at eps {_listed(below)}" if below else "always, or unclear",
            None,
            Verdict.CORRECTED if below else Verdict.REPRODUCED,
            "SW's bias does not shrink with n, so with more people this turns, except where the truth is "
            "symmetric and the bias cancels",
        )
    yield _rivals("bernoulli", ("duchi",), at, smooth, repeats)
    yield _rivals("gaussian", (SMOOTH,), at, smooth, repeats)
    yield _rivals("exponential", ("hm", "pm"), at, smooth, repeats)


def _over_best(lines: Mapping[str, Mapping[float, Mean]], epsilon: float) -> float:
    return lines["aaa"][epsilon].value / min(lines[rival][epsilon].value for rival in UNBIASED)


def _rivals(
    name: str,
    published: tuple[str, ...],
    at: Curves,
    smooth: dict[str, dict[float, Mean]],
    repeats: int,
) -> Claim:
    """Return which of the others is the best for a distribution."""
    won: dict[str, list[float]] = {}
    for epsilon in EPSILONS:
        exact = {rival: at[name][rival][epsilon].value for rival in UNBIASED}
        least = min(exact.values())
        low, high = _bounds(smooth[name][epsilon], repeats)
        best = [rival for rival in UNBIASED if exact[rival] < 1.001 * least and high >= least]
        best += [SMOOTH] if low <= least else []
        won.setdefault(" or ".join(best), []).append(epsilon)
    agrees = all(set(best.split(" or ")) & set(published) for best in won)
    return Claim(
        f"figure 4 text: the best rival on {name} data",
        " and ".join(published),
        "; ".join(f"{rival} at {_listed(epsilons)}" for rival, epsilons in won.items()),
        None,
        Verdict.REPRODUCED if agrees else Verdict.NOT_REPRODUCED,
        "n = 10,000; sw+ems is simulated and judged by its scatter, the others are exact",
    )


def _bounds(mean: Mean, repeats: int) -> tuple[float, float]:
    """Return between which limits a mean squared error lies: the mean of squares scatters by sqrt(2 / r)."""
    scatter = 2 * math.sqrt(2 / repeats)
    return mean.value / (1 + scatter), mean.value / (1 - scatter)


def _listed(epsilons: Sequence[float]) -> str:
    return ", ".join(f"{epsilon:g}" for epsilon in epsilons)


def _retirement() -> NumericData:
    """Return the sample of the San Francisco data, scaled by the paper's range; refuse if it is not here."""
    places = list(search_places().values())
    for place in places:
        if (place / RETIREMENT_FILE).is_file():
            values = read_column(place / RETIREMENT_FILE, "retirement_usd")
            low, high = RETIREMENT
            return NumericData("retirement", 2 * (values - low) / (high - low) - 1, IntervalDomain(-1, 1))
    raise InvalidInputError(f"{RETIREMENT_FILE} is not in {', '.join(map(str, places))}")


def _draw(curves: Curves, settings: Settings, file: str, title: str) -> None:
    if settings.folder is None:
        return
    from ldpkit.figures.canvas import save_figure
    from ldpkit.figures.numeric import curves_figure

    save_figure(
        curves_figure(curves, along="epsilon", across="squared error", title=title), settings.folder / file
    )
