"""Where inputs and outputs lie: integers that stand for places on the scale of [-1, 1].

Input i of 0..N lies at -1 + 2i/N, and so does output t, which may be any integer. The
outputs N-M..M are the ones that every input reaches with noise of at most M steps. They
are symmetric about the centre, and the largest lies at Y = 2M/N - 1. An unbiased
mechanism needs Y >= coth(eps/2), and with that Duchi's mechanism is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.core.typing import Floats

__all__ = ["Lattice", "smallest_noise_range"]

_ROOM = 1.6  # outputs reach this many times as far as they must, before the program asks for more
_MOST_OUTPUTS = 2048
_MOST_ENTRIES = 1 << 22


def smallest_noise_range(bins: int, epsilon: float) -> int:
    """Return the least M for which an unbiased mechanism exists: N (1 + coth(eps/2)) / 2, rounded up.

    Examples
    --------
    >>> [smallest_noise_range(16, epsilon) for epsilon in (0.5, 1, 2)]
    [41, 26, 19]
    """
    return math.ceil(bins * (1 + 1 / math.tanh(epsilon / 2)) / 2)


@dataclass(frozen=True)
class Lattice:
    """The grid of inputs and the outputs of a program.

    Parameters
    ----------
    bins : int
        N, the number of cells of the input interval.
    noise_range : int
        M, the most steps of noise that every input can get.
    stride : int
        The distance of neighbouring outputs in steps, a power of two.

    Examples
    --------
    >>> grid = Lattice(4, 8)
    >>> grid.outputs.tolist()
    [-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    >>> grid.reach
    3.0
    """

    bins: int
    noise_range: int
    stride: int = 1

    @classmethod
    def choose(cls, bins: int, epsilon: float, noise_range: int | None = None) -> Lattice:
        """Return a lattice on which the program is feasible; refuse a noise range that is too small."""
        check_whole(bins, "bins")
        least = smallest_noise_range(bins, epsilon)
        if noise_range is None:
            room = math.ceil(bins * (1 + _ROOM / math.tanh(epsilon / 2)) / 2)
            return cls._thinned(bins, max(least + 2, room))
        if check_whole(noise_range, "noise_range") < least:
            raise InvalidParameterError(
                f"noise_range={noise_range} is infeasible for {bins} bins and epsilon={epsilon:g}: "
                "no unbiased mechanism has outputs that near; "
                f"give at least {least}, better {math.ceil(1.25 * least)}"
            )
        return cls._thinned(bins, noise_range)

    @classmethod
    def _thinned(cls, bins: int, noise_range: int) -> Lattice:
        """Return the lattice with so many outputs that they fit; at a tiny epsilon they lie far apart."""
        stride = 1
        while (2 * noise_range - bins) // stride >= _MOST_OUTPUTS:
            stride *= 2
        if bins % 2:  # then the width is odd too, and only steps of one lead from end to end
            stride = 1
        while (2 * noise_range - bins) % stride:
            noise_range += 1
        if (2 * noise_range - bins) // stride * (bins + 1) > _MOST_ENTRIES:
            raise InvalidParameterError(
                f"{bins} bins are too many for outputs that reach {noise_range} steps: "
                "give fewer, and an even number of them"
            )
        return cls(bins, noise_range, stride)

    def wider(self, factor: float) -> Lattice:
        """Return the lattice with outputs that reach farther."""
        return self._thinned(self.bins, math.ceil(factor * self.noise_range))

    @cached_property
    def inputs(self) -> Floats:
        """The places of the inputs."""
        return 2 * np.arange(self.bins + 1) / self.bins - 1

    @cached_property
    def outputs(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The indices of the outputs."""
        return np.arange(self.bins - self.noise_range, self.noise_range + 1, self.stride)

    @cached_property
    def places(self) -> Floats:
        """The places of the outputs."""
        return 2 * self.outputs / self.bins - 1

    @property
    def reach(self) -> float:
        """The place of the largest output."""
        return 2 * self.noise_range / self.bins - 1

    def costs(self, descriptor: Floats) -> Floats:
        """Return what a probability of one costs: share times squared noise, shape (outputs, inputs)."""
        return descriptor * (self.places[:, None] - self.inputs) ** 2
