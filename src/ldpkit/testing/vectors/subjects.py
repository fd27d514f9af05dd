"""Which mechanisms the vectors are about: every one that a device can run, at the edges of its form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.mechanisms.lookup import get

__all__ = ["subjects"]

_PLACES = ((-1.0, 1.5), (0.5, 4.0), (2.0, 2.0), (3.5, 4.5), (5.0, 1.25))
_CATEGORIES: dict[str, tuple[tuple[int, float], ...]] = {
    "grr": ((2, 1.0), (3, 0.1), (8, 0.5), (13, 2.0), (256, 4.0), (257, 1.0), (65537, 8.0), (1 << 26, 20.0)),
    "blh": ((2, 1.0), (13, 2.0), (1000, 0.5), (131072, 1.0), (131073, 1.0), (1 << 26, 1.0)),
    "olh": ((2, 0.1), (13, 1.0), (1000, 4.0), (100, 6.0), (200_000, 1.0), (1000, 12.0), (1000, 20.0)),
    "sue": ((2, 1.0), (8, 0.5), (9, 4.0), (13, 2.0), (100, 1.0), (257, 1.0)),
    "oue": ((2, 1.0), (8, 0.5), (9, 4.0), (13, 2.0), (100, 1.0), (257, 1.0)),
    "the": ((2, 1.0), (8, 0.5), (13, 2.0), (100, 1.0)),
    "ss": ((2, 1.0), (3, 0.1), (9, 0.5), (16, 2.0), (100, 1.0), (300, 2.0), (1000, 4.0), (70_000, 8.0)),
}
_LABELLED = ["walk", "bike", "bus", "car", "däumling"]
_REPEATED: dict[str, tuple[tuple[Any, float, float], ...]] = {
    "lgrr": ((2, 2.0, 1.0), (_LABELLED, 1.0, 0.5), (300, 4.0, 2.0)),
    "lblh": ((2, 2.0, 1.0), (_LABELLED, 1.0, 0.5), (200_000, 2.0, 1.0)),
    "lolh": ((13, 2.0, 1.0), (_LABELLED, 1.0, 0.5), (1000, 12.0, 6.0)),
    "lsue": ((2, 2.0, 1.0), (_LABELLED, 1.0, 0.5), (20, 4.0, 2.0)),
    "loue": ((9, 2.0, 1.0), (_LABELLED, 1.0, 0.5)),
    "lsoue": ((9, 2.0, 1.0), (_LABELLED, 2.0, 0.5)),
    "losue": ((9, 2.0, 1.0), (_LABELLED, 1.0, 0.5)),
}
_BUCKETS = ((2, 1, 1.0), (2, 2, 1.0), (8, 8, 0.5), (13, 4, 2.0), (300, 9, 1.0), (70_000, 3, 1.0))
_LINES = (
    *("pm", "sw", "ogpm", "ogpm_unbiased", "compressed_pm", "compressed_sw", "truncated_pm", "truncated_sw"),
    *("duchi", "compressed_duchi", "hm", "staircase"),
)
_ROUND = ("circular_ogpm", "circular_sw")


Make = Callable[[], Any]


def subjects() -> Iterator[tuple[str, Make]]:
    """Yield a name for each mechanism, which a file keeps its integers under, and what makes it."""
    for name, cases in _CATEGORIES.items():
        for size, epsilon in cases:
            yield f"{name}-{size}-{epsilon:g}", partial(get, name, size, epsilon=epsilon)
    for name, several in _REPEATED.items():
        for domain, largest, epsilon in several:
            shown = domain if isinstance(domain, int) else "labels"
            made = partial(get, name, domain, epsilon_inf=largest, epsilon_1=epsilon)
            yield f"{name}-{shown}-{largest:g}-{epsilon:g}", made
    for size, d, epsilon in _BUCKETS:
        yield f"dbitflip-{size}-{d}-{epsilon:g}", partial(get, "dbitflip", size, epsilon=epsilon, d=d)
    yield from _numbers()
    yield from _locations()


def _numbers() -> Iterator[tuple[str, Make]]:
    for name in _LINES:
        for grid, epsilon in ((8, 1.0), (256, 4.0), (1 << 20, 1.0), (1 << 20, 0.5)):
            yield f"{name}-{grid}-{epsilon:g}", partial(get, name, (-2, 6), epsilon=epsilon, grid=grid)
    for name, parameters in (("ogpm_at", {"x0": 1.0}), ("ogpm_prior", {"width": 0.3})):
        for grid in (16, 1 << 20):
            yield f"{name}-{grid}", partial(get, name, (-2, 6), epsilon=1.0, grid=grid, **parameters)
    for name in ("laplace", "truncated_laplace"):
        for grid, epsilon in ((8, 1.0), (64, 0.25), (256, 4.0)):
            yield f"{name}-{grid}-{epsilon:g}", partial(get, name, (-2, 6), epsilon=epsilon, grid=grid)
    yield "laplace-fine", partial(get, "laplace", (-2, 6), epsilon=0.1)  # reports of four bytes, 447 blocks
    for name, intervals in (("aaa", 3), ("aaa", 4), ("optimal", 4), ("optimal", 5)):
        yield f"{name}-{intervals}", partial(get, name, (-2, 6), epsilon=1.0, intervals=intervals)
    day = CircleDomain(24, -6)
    for name in _ROUND:
        for grid, epsilon in ((8, 1.0), (256, 4.0), (1 << 20, 1.0)):
            yield f"{name}-{grid}-{epsilon:g}", partial(get, name, day, epsilon=epsilon, grid=grid)
    for name in ("purkayastha", "von_mises"):
        for grid, epsilon in ((2, 1.0), (8, 1.0), (256, 4.0)):
            yield f"{name}-{grid}-{epsilon:g}", partial(get, name, day, epsilon=epsilon, grid=grid)


def _locations() -> Iterator[tuple[str, Make]]:
    plane = PlaneDomain.rectangle((-2, 1), (6, 5), places=_PLACES)
    for columns, rows in ((1, 2), (3, 3), (20, 300)):
        cells = partial(get, "grid_response", plane, epsilon=4, columns=columns, rows=rows)
        yield f"grid_response-{columns}-{rows}", cells
    yield "place_response", partial(get, "place_response", plane, epsilon=2)
    for name in ("place_exponential", "srr"):
        yield name, partial(get, name, plane, epsilon=2)
    for name in ("grid_exponential", "planar_laplace"):
        yield f"{name}-3", partial(get, name, plane, epsilon=4, cells=3)
    for window, grid, epsilon in (("square", 8, 2.0), ("square", 4096, 4.0), ("disc", 32, 4.0)):
        made = partial(get, "planar_window", plane, epsilon=epsilon, window=window, grid=grid)
        yield f"planar_window-{window}-{grid}", made
    for axes, grid in (("ogpm", 8), ("sw", 1 << 20)):
        line = partial(get, "tracs_c", plane, epsilon=4, axes=axes, grid=grid, share=0.5)
        yield f"tracs_c-{axes}-{grid}", line
    yield "tracs_c-globe", partial(get, "tracs_c", PlaneDomain.globe(), epsilon=4, grid=64, share=0.5)
    for direction, grid in (("ogpm", 1 << 20), ("sw", 16), ("purkayastha", 16), ("sectors", 64)):
        seen = partial(get, "tracs_d", plane, epsilon=4, direction=direction, grid=grid, share=0.5)
        yield f"tracs_d-{direction}-{grid}", seen
