"""Negative controls on the circle and in the plane, as `test_controls` has them for categories."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.errors import ContractError
from ldpkit.core.exact import RandomisedResponse
from ldpkit.mechanisms.cells.window import Window
from ldpkit.testing.circular import check_arcs, check_full_circle, check_one_point, check_turning
from ldpkit.testing.epsilon import check_channel, check_epsilon
from ldpkit.testing.spatial import (
    check_far_and_near,
    check_map_errors,
    check_place_ratios,
    check_spatial_bins,
    check_spatial_samplers,
)


class NotWrapped(ldpkit.CircularOGPM):
    """Its window stops at the end of the turn, as on a line."""

    @cached_property
    def window(self):
        return Window(self.grid, self.width_ratio, self.epsilon, stand="clamp")


def test_a_window_that_does_not_wrap_is_caught():
    circle, line = (kind(CircleDomain(24, -6), 1.0) for kind in (ldpkit.CircularOGPM, NotWrapped))
    for check, match in ((check_turning, "turned"), (check_arcs, "expected"), (check_full_circle, "another")):
        check(circle)
        with pytest.raises(ContractError, match=match):
            check(line)


def test_a_circle_whose_ends_differ_is_caught():
    class Cut(ldpkit.CircularSW):
        def privatize(self, values, *, rng=None, wrap=False):
            inside = np.asarray(values, float) < self.domain.high
            return super().privatize(np.where(inside, values, self.domain.high / 2), rng=rng, wrap=wrap)

    check_one_point(ldpkit.CircularSW(24, 1.0))
    with pytest.raises(ContractError, match="both ends"):
        check_one_point(Cut(24, 1.0))


class PublishedReference(ldpkit.TracsD):
    """A location at the reference always reports direction 0, as the published code does."""

    def _randomise(self, places, source):
        reports = super()._randomise(places, source)
        reports[places[:, 1] == 0, 0] = 0
        return reports


class PublishedResponse(ldpkit.GridResponse):
    """Randomised response that flips with probability 1 / (k - 1 + e^eps), as the published code does."""

    @cached_property
    def response(self):
        class Flipped(RandomisedResponse):
            @cached_property
            def width(self):
                return RandomisedResponse(self.size, self.target).width // (self.size - 1)

        return Flipped(self.columns * self.rows, self.epsilon)


def test_a_location_at_the_reference_that_tells_on_itself_is_caught():
    good, bad = (kind(((0, 0), (1, 1)), 2.0, share=0.7) for kind in (ldpkit.TracsD, PublishedReference))
    check_spatial_samplers(good)
    with pytest.raises(ContractError, match="do not follow"):
        check_spatial_samplers(bad)


def test_the_published_randomised_response_is_caught():
    good, bad = (
        kind(((0, 0), (1, 1)), 2.0, columns=3, rows=2) for kind in (ldpkit.GridResponse, PublishedResponse)
    )
    assert bad.exact_epsilon() > 4
    for check in (check_epsilon, check_channel):
        check(good)
        with pytest.raises(ContractError, match="above what it states"):
            check(bad)


def test_a_window_that_knows_its_location_better_than_it_says_is_caught():
    class Sharp(ldpkit.PlanarWindow):
        def _randomise(self, places, source):
            sharper = ldpkit.PlanarWindow(self.domain, 1.2 * self.epsilon, side=self.side, grid=self.grid)
            return sharper._randomise(places, source)

    class Boastful(ldpkit.PlanarWindow):
        def _errors(self, points, power):
            return 0.95 * super()._errors(points, power)

    class Leaky(ldpkit.PlanarWindow):
        def row(self, place):
            chances = super().row(place)
            if place == (0, 0):
                chances[-1], chances[0] = Fraction(0), chances[0] + chances[-1]
            return chances

    kinds = (ldpkit.PlanarWindow, Sharp, Boastful, Leaky)
    good, sharp, boastful, leaky = (kind(((0, 0), (1, 1)), 2.0) for kind in kinds)
    for check, bad, match in (
        (check_spatial_samplers, sharp, "do not follow"),
        (check_spatial_bins, sharp, "do not follow"),
        (check_far_and_near, boastful, "not as far away as stated"),
        (check_map_errors, boastful, "expected error"),
        (check_place_ratios, leaky, "is impossible for another"),
    ):
        check(good)
        with pytest.raises(ContractError, match=match):
            check(bad)
