"""MNIST 7x7: figures 7.7 and E.7 and the Monte Carlo of E.2.7, with a dense network that is trained here.

All 49 pixels are privatized, so nothing is exact: utilities are shares of draws with their
standard errors. The published search asks the model about uniform points of its boxes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.random import seeded
from ldpkit.core.typing import Floats
from ldpkit.papers import Claim, Settings
from ldpkit.papers.classifier.claims import holds, ours
from ldpkit.papers.classifier.curves import EVEN
from ldpkit.papers.classifier.drawing import Curve, curve_figure
from ldpkit.papers.classifier.montecarlo import drawn_share, image_claims
from ldpkit.papers.classifier.published import Boxes, published_bound, samples
from ldpkit.papers.classifier.study import MECHANISMS
from ldpkit.papers.classifier.tables import no_data
from ldpkit.simulation.datasets.catalogue import KnownFile, find_file

__all__ = ["mnist_claims", "sampled_boxes"]

_TEST = KnownFile(
    "mnist_test_7x7_uint8.npz", "ee5b9241c8cba12554e9ad3419d317cd1f97c4bf528d43b322f7dc4c3a3356f5"
)
_TEN = KnownFile(
    "mnist_7x7_ten_images.npz", "0d087b2c88e964c1bb64b77a8eb8957efd7cb6f18879188ee3085616370f0a27"
)
_SHOWN = ("PM", "SW", "Exponential", "k-RR")
_TAU, _OMEGA = 0.02, 0.05
_DELTA = 0.1  # of the privacy indicator in figure 7.7


@dataclass(frozen=True, eq=False)
class Digits:
    """The network, the ten images of the thesis, and what the network is worth."""

    model: Any
    images: Floats
    accuracy: float


def _load() -> Digits | None:
    places = []
    for file in (_TEST, _TEN):
        found = find_file((file,))
        if found is None:
            return None
        file.verify(found[1])
        places.append(found[1])
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    with np.load(places[0]) as test, np.load(places[1]) as ten:
        rows, labels = test["images"].reshape(-1, 49) / 255.0, test["labels"]
        images = np.clip(ten["images"].reshape(-1, 49).astype(np.float64), 0.0, 1.0)
    model = MLPClassifier((64,), max_iter=60, random_state=42)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows[:8000], labels[:8000])
    return Digits(model, images, float(model.score(rows[8000:], labels[8000:])))


def sampled_boxes(model: Any, image: Floats, tau: float, generator: np.random.Generator) -> Boxes:
    """Return the box of the published search around one record, all of whose features are sensitive.

    As in the published code, n(omega, tau) uniform points are asked about, a share tau may fail,
    and the radius that is taken failed. Then each side is moved outwards in turn.
    """
    label, count = model.predict(image[None, :])[0], int(samples(_OMEGA, tau))

    def passes(low: Floats, high: Floats) -> bool:
        points = low + generator.random((count, len(low))) * (high - low)
        return bool((model.predict(points) != label).mean() <= tau)

    lower, upper = 0.0, 0.5
    while upper - lower > 0.01:
        middle = (lower + upper) / 2
        cube = np.clip(image - middle, 0, 1), np.clip(image + middle, 0, 1)
        lower, upper = (middle, upper) if passes(*cube) else (lower, middle)
    low, high = np.clip(image - upper, 0, 1), np.clip(image + upper, 0, 1)
    for step in (0.4, 0.2, 0.1):
        for axis in generator.permutation(2 * len(image)).tolist():
            first, last = low.copy(), high.copy()
            if axis < len(image):
                first[axis] = max(first[axis] - step, 0.0)
            else:
                last[axis - len(image)] = min(last[axis - len(image)] + step, 1.0)
            if ((last - first) > (high - low)).any() and passes(first, last):
                low, high = first, last
    return low[None, :], high[None, :]


def mnist_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the claims about the images, or what is missing."""
    digits = _load()
    if digits is None:
        needs = f"needs {_TEST.name} and {_TEN.name} in the folder that LDPKIT_DATA names"
        yield no_data("7.6: MNIST 7x7", needs)
        return
    yield ours(
        "MNIST 7x7: accuracy of the dense network, 49-64-10",
        digits.accuracy,
        "2,000 images that it was not trained on; the thesis has a convolutional network",
        round(math.sqrt(digits.accuracy * (1 - digits.accuracy) / 2000), 4),
    )
    source = seeded(settings.seed).derive("classifier mnist")
    epsilons = (1.0, 4.0, 8.0) if settings.quick else EVEN
    count, draws = (2, 500) if settings.quick else (len(digits.images), 2000)
    images = digits.images[:count]
    truth = {
        name: np.array(
            [drawn_share(digits.model, images, name, epsilon, draws, source) for epsilon in epsilons]
        )
        for name in _SHOWN
    }
    generator = source.derive("boxes").generator()
    boxes = [sampled_boxes(digits.model, image, _TAU, generator) for image in images]
    bounds = {name: np.array([_bounds(images, boxes, name, e) for e in epsilons]) for name in _SHOWN}
    yield from _figure_claims(epsilons, truth, bounds, draws)
    yield from image_claims(settings, digits.model, digits.images[0], source)
    if settings.folder is not None:
        errors = {name: np.sqrt(values * (1 - values) / draws) for name, values in truth.items()}
        panels = {f"Image {image + 1}": _curves(epsilons, truth, errors, bounds, image) for image in (0, 1)}
        ylabel = "probability of the same prediction"
        curve_figure(settings.folder / "figure-7.7.png", panels, "epsilon a pixel", ylabel)
        folded = {}
        for title, fold in (("Average", np.mean), ("Worst image", np.min)):
            curves = []
            for name in _SHOWN:
                value = fold(truth[name], axis=1)
                bar = np.sqrt(value * (1 - value) / draws / (count if title == "Average" else 1))
                curves += [
                    Curve(name, epsilons, value, "drawn", bar),
                    Curve(name, epsilons, fold(bounds[name], axis=1), "published"),
                ]
            folded[title] = curves
        curve_figure(settings.folder / "figure-E.7.png", folded, "epsilon a pixel", ylabel)


def _curves(epsilons: Sequence[float], truth: Any, errors: Any, bounds: Any, image: int) -> list[Curve]:
    found = []
    for name in _SHOWN:
        found.append(
            Curve(
                name,
                epsilons,
                _DELTA + (1 - _DELTA) * truth[name][:, image],
                "drawn",
                (1 - _DELTA) * errors[name][:, image],
            )
        )
        found.append(Curve(name, epsilons, _DELTA + (1 - _DELTA) * bounds[name][:, image], "published"))
    return found


def _bounds(images: Floats, boxes: Sequence[Boxes], name: str, epsilon: float) -> Floats:
    columns = [MECHANISMS[name](epsilon)] * images.shape[1]
    found = [
        published_bound(columns, image[None, :], box)[0] for image, box in zip(images, boxes, strict=True)
    ]
    return np.array(found)


def _figure_claims(
    epsilons: Sequence[float], truth: dict[str, Floats], bounds: dict[str, Floats], draws: int
) -> Iterator[Claim]:
    images = truth["PM"].shape[1]
    for what, fold in (("average", np.mean), ("worst", np.min)):
        for name in _SHOWN:
            values = [float(fold(row)) for row in truth[name]]
            stderr = max(
                math.sqrt(v * (1 - v) / draws / (images if what == "average" else 1)) for v in values
            )
            yield ours(
                f"figure E.7: MNIST 7x7, {name}, {what} of {images} images",
                ", ".join(f"{value:.3f}" for value in values),
                f"shares of {draws:,} draws an image at epsilon {', '.join(f'{e:g}' for e in epsilons)} a "
                "pixel; the largest standard error is given",
                round(stderr, 4),
            )
    means = {name: values.mean(axis=1) for name, values in truth.items()}
    best = [max(means, key=lambda name: float(means[name][row])) for row in range(len(epsilons))]
    clear = [
        e
        for e, name, row in zip(epsilons, best, range(len(epsilons)), strict=True)
        if name != "PM" and float(means[name][row] - means["PM"][row]) > 3 * math.sqrt(0.5 / draws / images)
    ]
    yield holds(
        "figure E.7: PM keeps most at every epsilon",
        "at every epsilon",
        "at every epsilon" if not clear else f"not at {', '.join(f'{e:g}' for e in clear)}",
        so=not clear,
        note="on average, by more than three standard errors; the best: " + ", ".join(best),
    )
    small = float(bounds["PM"][epsilons.index(4.0)].mean())
    last = float(bounds["PM"][-1].mean())
    yield holds(
        "figure 7.7: the bound of PM only starts to grow above epsilon 4",
        "small up to 4",
        f"{small:.4f} at 4, {last:.4f} at 8",
        so=small < 0.1 < last,
        note=f"average of the images; the truth there is {float(means['PM'][epsilons.index(4.0)]):.3f}",
    )
    spread = {
        name: np.sqrt(np.maximum(values * (1 - values), 1 / draws) / draws) for name, values in truth.items()
    }
    above = [
        (float(bounds[name][row, image] - truth[name][row, image]), name, epsilon, image)
        for name in _SHOWN
        for row, epsilon in enumerate(epsilons)
        for image in range(images)
        if bounds[name][row, image] - truth[name][row, image] > 3 * spread[name][row, image]
    ]
    total = len(_SHOWN) * len(epsilons) * images
    worst = max(above) if above else (0.0, "", 0.0, 0)
    yield holds(
        "figure 7.7: the published bound is below the truth",
        "always",
        f"above by more than three standard errors in {len(above)} of {total} cases",
        so=not above,
        note=f"most for {worst[1]} at eps={worst[2]:g}, image {worst[3] + 1}: by {worst[0]:.3f}"
        if above
        else "",
        wrong=True,
    )
