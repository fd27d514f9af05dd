"""Randomised response among sites: what the cells of a grid and public places have in common."""

from __future__ import annotations

import abc
import math
from fractions import Fraction
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import RandomisedResponse
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats, Indices, Reports
from ldpkit.mechanisms.forms import response_words
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["SiteResponse"]

_NODES = 40
_BLOCK = 1 << 22  # distances at a time


class SiteResponse(SpatialMechanism):
    """A spatial mechanism that answers with the site of a location, or with any other."""

    capabilities = SpatialMechanism.capabilities | {"client"}

    @property
    @abc.abstractmethod
    def sites(self) -> Floats:
        """The points of the map that reports stand for, the first coordinate changing slowest."""

    @abc.abstractmethod
    def _site(self, points: Floats) -> Indices:
        """Return the index of the own site of each point of the map."""

    @property
    def place_shape(self) -> tuple[int, ...]:
        return self.shape

    @cached_property
    def response(self) -> RandomisedResponse:
        """The sampler's integers."""
        return RandomisedResponse(math.prod(self.shape), self.epsilon)

    def exact_epsilon(self) -> float:
        return self.response.epsilon()

    def details(self) -> dict[str, float]:
        return {"p": float(self.response.p), "sites": math.prod(self.shape)}

    def _place(self, points: Floats) -> Indices:
        places: Indices = self._folded(self._site(points))
        return places

    def _folded(self, sites: Any) -> Any:
        """Return indices of sites as coordinates of cells."""
        return sites

    def _flat(self, places: Any) -> Any:
        """Return coordinates of cells as indices of sites."""
        return places

    def _place_points(self, places: Indices) -> Floats:
        return np.asarray(self.sites[self._flat(places)])

    def row(self, place: tuple[int, ...]) -> list[Fraction]:
        return self.response.row(int(np.ravel_multi_index(place, self.shape)))

    def _chance(self, place: tuple[int, ...], cell: tuple[int, ...]) -> Fraction:
        return self.response.p if place == cell else self.response.q

    def _form(self) -> dict[str, Any]:
        return {"form": "sites", "shape": list(self.shape), **response_words(self.response)}

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.response import respond

        own = np.ascontiguousarray(self._flat(places))
        sites = np.empty(len(own), np.uint32)
        keep, width = np.uint64(self.response.keep), np.uint64(self.response.width)
        respond(source.words(len(own)), own, keep, width, np.uint64(self.response.size - 2), sites)
        base, _ = self._layout
        made: Reports = self._folded(sites).astype(base, copy=False)
        return made

    def _errors(self, points: Floats, power: int) -> Floats:
        p, q = float(self.response.p), float(self.response.q)
        answers = self._answers_of_sites
        own = answers[self._site(points)]
        errors = (p - q) * np.hypot(*(points - own).T) ** power
        for start in range(0, len(points), max(1, _BLOCK // len(answers))):
            some = points[start : start + max(1, _BLOCK // len(answers))]
            far = np.hypot(*(some[:, None, :] - answers).transpose(2, 0, 1)) ** power
            errors[start : start + len(some)] += q * far.sum(axis=1)
        return np.asarray(errors)

    def _mean_error(self, power: int) -> float:
        points, weights = self.domain.region.nodes(_NODES)  # many: where sites meet, errors have kinks
        return float(weights @ self._errors(points, power))

    @cached_property
    def _answers_of_sites(self) -> Floats:
        region = self.domain.region
        return self.sites if region.fills_frame else region.project(self.sites)

    def _bin_masses(self, places: Indices) -> Floats:
        p, q = float(self.response.p), float(self.response.q)
        sizes = [np.diff(edges) for edges in self.bin_edges]
        even = sizes[0] if len(sizes) == 1 else np.outer(*sizes).ravel()
        found = np.repeat(q * even[None].astype(float), len(places), axis=0)
        columns = places[:, None] if places.ndim == 1 else places
        own = tuple(column >> shift for column, shift in zip(columns.T, self.bin_shifts, strict=True))
        found[np.arange(len(places)), np.ravel_multi_index(own, self.bin_shape)] += p - q
        return found
