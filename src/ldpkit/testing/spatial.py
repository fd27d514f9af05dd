"""A spatial mechanism is private on the whole region, and its reports are as far away as it says."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.exact import log_up
from ldpkit.core.random import seeded
from ldpkit.mechanisms.spatial.mechanism import list_cells
from ldpkit.mechanisms.tally import Tally
from ldpkit.testing.epsilon import check_channel, check_epsilon, floats
from ldpkit.testing.examples import spread_points
from ldpkit.testing.expect import NotApplicableError, UntouchedSource, refuses, require
from ldpkit.testing.false_alarms import FALSE_ALARM, SAID, fits

__all__ = [
    "SPATIAL",
    "check_far_and_near",
    "check_map_errors",
    "check_place_ratios",
    "check_spatial_bins",
    "check_spatial_channels",
    "check_spatial_samplers",
]

_NO_PLANES = (
    0,
    1.0,
    None,
    "a city",
    True,
    (0, 1),
    [1, 2],
    ((0, 0), (0, 1)),
    ((0, 0), (1, np.nan)),
    ((0,), (1,)),
)
_SMALL_GRID = 4


def _afresh(mechanism: Any, epsilon: float) -> Any:
    """Return the mechanism for the same region and another epsilon, with what it chooses chosen again."""
    kind = type(mechanism)
    others = {each.name: each.example for each in kind.declared if each.example is not None}
    return kind.make(mechanism.domain, epsilon=epsilon, **others)


def _listed(mechanism: Any, epsilon: float, size: int = _SMALL_GRID) -> Any:
    each = _afresh(mechanism, epsilon)
    try:
        return each.sibling(size)
    except InvalidParameterError:
        return each


def check_spatial_epsilons(mechanism: Any) -> None:
    """Epsilon is exact on the full grid and at both ends of its range."""
    check_epsilon(mechanism)
    for epsilon in (0.01, 0.5, 4.0, 20.0):
        check_epsilon(_afresh(mechanism, epsilon), slack=1e-5 if epsilon == 20 else 1e-6)


def check_spatial_channels(mechanism: Any) -> None:
    """Epsilon is the greatest ratio among all reports on small grids, listed place by place."""
    for size, epsilon in ((2, 0.5), (_SMALL_GRID, 0.5), (_SMALL_GRID, 4.0)):
        check_channel(_listed(mechanism, epsilon, size))


def check_place_ratios(mechanism: Any) -> None:
    """Whatever the device does with a location, the law of its place keeps epsilon with that of any other.

    The places are those that the device itself computes, on edges, in corners and at random.
    """
    each = _listed(mechanism, 2.0)
    bound = each.exact_epsilon()
    points = each.domain.locations(spread_points(each.domain.region, 60))
    places = {tuple(np.atleast_1d(place).tolist()) for place in each.place_of(points)}
    rows = [each.row(place) for place in places]
    worst = Fraction(1)
    for column in zip(*rows, strict=True):
        require(min(column) > 0, f"{each!r}: a report that one location makes is impossible for another")
        worst = max(worst, max(column) / min(column))
    require(
        log_up(worst) <= bound,
        f"{each!r}: expected no ratio above e^{bound!r} between places, found e^{log_up(worst)!r}",
    )


def check_spatial_samplers(mechanism: Any) -> None:
    """Reports of locations follow the channel's row of their place, also at the centre and in corners."""
    for epsilon in (0.5, 4.0):
        each = _listed(mechanism, epsilon)
        draws, points = 20_000, spread_points(each.domain.region, 7)
        values = each.domain.locations(points)
        for value, source in zip(values, seeded(21).spawn(len(values)), strict=True):
            place = tuple(np.atleast_1d(each.place_of([value])[0]).tolist())
            expected = floats(each.row(place))
            reports = each.privatize(np.tile(value, (draws, 1)), rng=source).reshape(draws, -1)
            cells = np.ravel_multi_index(tuple(reports.T.astype(np.int64)), each.shape)
            surprise = fits(np.bincount(cells, minlength=len(expected)), expected)
            require(
                surprise > FALSE_ALARM / len(values),
                f"{each!r}: reports of {value} do not follow the channel, p-value {surprise:.2g} ({SAID})",
            )


def check_map_errors(mechanism: Any) -> None:
    """The stated error is the mean distance over all cells of a small grid, listed one by one."""
    each = _listed(mechanism, 2.0, 8)
    if math.prod(each.shape) > 1 << 12:
        raise NotApplicableError("its cells are too many to list")
    fine = 8  # points in a cell, along each coordinate: a cell is spread evenly
    dims = len(each.shape)
    is_point = dims == 1 or max(each.shape) == max(each.place_shape)  # a cell that stands for one point
    offsets = np.array([0.5]) if is_point else (np.arange(fine) + 0.5) / fine
    inner = offsets[list_cells((len(offsets),) * dims)]
    cells = list_cells(each.shape)[:, None, :] + inner
    answers = each._answers(cells.reshape(-1, dims) if dims > 1 else cells.ravel())
    for point in spread_points(each.domain.region, 6):
        location = each.domain.locations(point[None])[0]
        place = tuple(np.atleast_1d(each.place_of([location])[0]).tolist())
        chances = np.repeat(floats(each.row(place)), len(inner)) / len(inner)
        far = np.hypot(*(answers - point).T)
        for power in (1, 2):
            expected = float(chances @ far**power)
            found = each.error([location], power)[0]
            require(
                abs(found - expected) <= 0.01 * expected,
                f"{each!r}: expected error {expected} of {location} at power {power}, found {found}",
            )


def check_far_and_near(mechanism: Any) -> None:
    """Reports on the full grid are within the region, and as far from their location as is stated."""
    n, region = 50_000, mechanism.domain.region
    points = spread_points(region, 7)[[0, 1, 6]]
    for point, source in zip(points, seeded(22).spawn(len(points)), strict=True):
        location = mechanism.domain.locations(point[None])[0]
        found = mechanism.points_of(mechanism.privatize(np.tile(location, (n, 1)), rng=source))
        on_map = mechanism.domain.take(found)
        far = np.hypot(*(on_map - point).T)
        for power in (1, 2):
            expected = mechanism.error([location], power)[0]
            z = (np.mean(far**power) - expected) / max(np.std(far**power) / math.sqrt(n), 1e-12)
            require(
                abs(z) < 6.3,
                f"{mechanism!r}: reports of {location} are not as far away as stated, power {power}, z-score "
                f"{z:.1f} (false-alarm rate 3e-10)",
            )


def check_spatial_bins(mechanism: Any) -> None:
    """The joint bins of a tally have the chances of the law, at most 4,096; impossible ones are refused."""
    size = mechanism.tally_size
    require(size <= 4096, f"expected at most 4096 joint bins, found {size}")
    points = spread_points(mechanism.domain.region, 5)
    locations = mechanism.domain.locations(points)
    masses = mechanism.bin_masses(locations)
    require(masses.shape == (5, size), f"expected the chances of {size} bins, found {masses.shape}")
    require((masses >= 0).all() and np.allclose(masses.sum(axis=1), 1, atol=1e-9), "chances do not sum to 1")
    n = 40_000
    for location, chances, source in zip(locations, masses, seeded(23).spawn(5), strict=True):
        counts = mechanism.tally(mechanism.privatize(np.tile(location, (n, 1)), rng=source)).counts
        surprise = fits(counts, chances)
        require(
            surprise > FALSE_ALARM,
            f"{mechanism!r}: tallies of {location} do not follow its bins, p-value {surprise:.2g} ({SAID})",
        )
    counts = np.zeros(size, np.int64)
    counts[0] = 2
    Tally(mechanism, 2, counts)
    for place, count in ((0, -1), (1, 1), (size - 1, 2 << 50)):
        wrong = counts.copy()
        wrong[place] = count
        refuses(InvalidInputError, Tally, mechanism, 2, wrong)


def check_outside(mechanism: Any) -> None:
    """Locations outside are moved into the region only where the user says so, with a warning."""
    import warnings

    from ldpkit.core.domains.interval import ClippedWarning

    region = mechanism.domain.region
    corner = region.corners[2]
    far = mechanism.domain.locations(np.array([corner + region.size]))
    inside = mechanism.domain.locations(corner[None])
    refuses(OutOfDomainError, mechanism.privatize, far, rng=UntouchedSource(), says="clip=True")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clipped = mechanism.privatize(far, rng=seeded(3), clip=True)
    found = [str(each.message) for each in caught if issubclass(each.category, ClippedWarning)]
    require(found and "1 of 1 locations" in found[0], f"expected a warning of 1 location, found {found}")
    same = mechanism.privatize(inside, rng=seeded(3))
    require((clipped == same).all(), "expected a clipped location to report as the nearest point does")


def check_same_locations(mechanism: Any) -> None:
    """Rows, two columns and objects with x and y are one and the same."""

    class Pin:
        def __init__(self, x: float, y: float) -> None:
            self.x, self.y = x, y

    values = mechanism.domain.locations(spread_points(mechanism.domain.region, 9))
    expected = mechanism.privatize(values, rng=seeded(4))
    forms: list[Any] = [values.tolist(), (values[:, 0], values[:, 1]), [Pin(*row) for row in values]]
    forms += [iter(values.tolist()), np.asfortranarray(values), [tuple(row) for row in values]]
    for form in forms:
        found = mechanism.privatize(form, rng=seeded(4))
        require((found == expected).all(), f"expected one report for locations as {type(form).__name__}")


def check_senseless_planes(mechanism: Any) -> None:
    """What is no region is refused."""
    for domain in _NO_PLANES:
        refuses(InvalidParameterError, type(mechanism), domain, **mechanism.parameters())


SPATIAL = (
    check_spatial_epsilons,
    check_spatial_channels,
    check_place_ratios,
    check_spatial_samplers,
    check_map_errors,
    check_far_and_near,
    check_spatial_bins,
    check_outside,
    check_same_locations,
    check_senseless_planes,
)
