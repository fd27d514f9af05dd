"""AAA, figure 6: the share of describers, the size of bins and the range of noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ldpkit.bench.numeric_experiment import measure_phases
from ldpkit.bench.summary import Mean
from ldpkit.core import random
from ldpkit.core.errors import InvalidParameterError
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.papers.aaa.error import people
from ldpkit.protocols.adaptive_mean import AdaptiveMean

__all__ = ["setting_claims"]

SHARES = (0.05, 0.1, 0.2, 0.3, 0.4)
BIN_SIZES = (0.125, 0.25, 0.5, 1.0, 2.0)
RANGES = (2, 4, 8, 16)
CELLS = {"gaussian": 16, "bernoulli": 2}  # bin sizes 0.125 and 1


def setting_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the best choice of each setting, and how much it matters."""
    curves: dict[str, dict[str, dict[float, Mean]]] = {}
    yield from _shares(settings, curves)
    yield from _bins(settings, curves)
    yield from _ranges(settings, curves)
    if settings.folder is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.figures.numeric import curves_figure

        names = {"split ratio": "share of describers", "bin size": "size of bins", "noise range": "range q"}
        along = {panel: names[panel.partition(",")[0]] for panel in curves}
        figure = curves_figure(curves, along=along, across="squared error", title="Figure 6, private")
        save_figure(figure, settings.folder / "figure-6-settings.png")


def _error(
    name: str,
    n: int,
    epsilon: float,
    settings: Settings,
    *,
    share: float = 0.05,
    bins: int | None = None,
    noise_range: int | None = None,
) -> Mean:
    """Return AAA's expected squared error with some settings."""
    numbers, cells = people(name, n), CELLS[name] if bins is None else bins
    protocol = AdaptiveMean(numbers.domain, epsilon, share=share, bins=cells, noise_range=noise_range)
    source = random.seeded(settings.seed).derive(f"{name} {n} {epsilon} {share} {cells} {noise_range}")
    repeats = 8 if settings.quick else 100
    return Mean.of(np.array([measure_phases(protocol, numbers, source)["expected"] for _ in range(repeats)]))


def _shares(settings: Settings, curves: dict[str, dict[str, dict[float, Mean]]]) -> Iterator[Claim]:
    growth = {}
    for name in CELLS:
        lines = {
            f"eps {epsilon:g}": {
                share: _error(name, 10_000, epsilon, settings, share=share) for share in SHARES
            }
            for epsilon in (1.0, 4.0)
        }
        curves[f"split ratio, {name}"] = lines
        for label, means in lines.items():
            best = _least(means)
            yield Claim(
                f"figure 6a {name} {label}: the best share of describers",
                "about 0.1",
                best,
                None,
                Verdict.REPRODUCED if best <= 0.1 else Verdict.NOT_REPRODUCED,
                f"{means[best].value:.3g}; at 0.1 {means[0.1].value / means[best].value:.3f} times that, "
                f"at 0.4 {means[0.4].value / means[best].value:.2f} times",
            )
        growth[name] = lines["eps 4"][0.4].value / lines["eps 4"][0.05].value
    yield Claim(
        "figure 6a: Bernoulli data are more sensitive to the share (error at 0.4 over 0.05, eps=4)",
        "yes",
        f"{growth['bernoulli']:.2f} against {growth['gaussian']:.2f}",
        None,
        Verdict.REPRODUCED if growth["bernoulli"] > growth["gaussian"] else Verdict.NOT_REPRODUCED,
        "who is left out matters more where people differ more",
    )


def _bins(settings: Settings, curves: dict[str, dict[str, dict[float, Mean]]]) -> Iterator[Claim]:
    published: dict[tuple[int, float], float | str] = {
        (1000, 0.5): "larger",
        (1000, 1.0): 0.5,
        (10_000, 1.0): 0.125,
        (10_000, 4.0): "small",
    }
    for n in (1000, 10_000):
        lines = {
            epsilon: {
                size: _error("gaussian", n, epsilon, settings, bins=round(2 / size)) for size in BIN_SIZES
            }
            for epsilon in (0.5, 1.0, 4.0)
        }
        curves[f"bin size, gaussian, n = {n:,}"] = {f"eps {key:g}": means for key, means in lines.items()}
        for epsilon, means in lines.items():
            if (n, epsilon) in published:
                said, best = published[n, epsilon], _least(means)
                wanted = {"larger": best >= 0.5, "small": best <= 0.25}
                agrees = wanted[said] if isinstance(said, str) else _close(means[said], means[best])
                yield Claim(
                    f"figure 6b gaussian n={n} eps={epsilon:g}: the best size of bins",
                    said,
                    best,
                    None,
                    Verdict.REPRODUCED if agrees else Verdict.NOT_REPRODUCED,
                    ", ".join(f"{size:g}: {mean.value:.3g}" for size, mean in means.items())
                    + (
                        "; the same within chance or 2%"
                        if isinstance(said, float) and agrees and said != best
                        else ""
                    ),
                )


def _ranges(settings: Settings, curves: dict[str, dict[str, dict[float, Mean]]]) -> Iterator[Claim]:
    """Yield what the range of noise does; q = 2M/N, so M = qN/2."""
    lines = curves["noise range, gaussian, n = 10,000"] = {}
    for epsilon in (0.5, 1.0, 4.0):
        means: dict[float, Mean] = {}
        infeasible = []
        for ratio in RANGES:
            try:
                means[ratio] = _error("gaussian", 10_000, epsilon, settings, noise_range=ratio * 8)
            except InvalidParameterError:
                infeasible.append(ratio)
        lines[f"eps {epsilon:g}"] = means
        spread = max(mean.value for mean in means.values()) / min(mean.value for mean in means.values()) - 1
        yield Claim(
            f"figure 6c gaussian eps={epsilon:g}: the range q of the noise matters",
            "yes" if epsilon < 1 else "hardly",
            f"by {spread:.1%}, where feasible",
            None,
            Verdict.CORRECTED,
            f"q = {', '.join(map(str, infeasible))} cannot be both private and unbiased",
        )


def _least(means: Mapping[float, Mean]) -> float:
    return min(means, key=lambda place: means[place].value)


def _close(one: Mean, best: Mean) -> bool:
    """Whether a mean is within three standard errors of the best, or 2% of it."""
    return one.value - best.value <= max(3 * float(np.hypot(one.stderr, best.stderr)), 0.02 * best.value)
