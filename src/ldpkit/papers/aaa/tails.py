"""The paper's program with geometric tails, corrected; and as printed, which is not private.

Noise of j steps has probability q[j] for |j| < M and q[+-M] r^(|j|-M) beyond. Corrected
means: unbiased for every input, and private on every output -M..N+M, where an input may
already be in its tail while another is not. Beyond, all are in their tails, and ratios
stay the same. Where M is large enough, the optimum puts no mass on the tails: the
mechanism of this package has none.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_epsilon, check_fraction, check_whole
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.adaptive.descriptor import check_descriptor

__all__ = ["TailedNoise", "solve_with_tails"]


class TailedNoise(NamedTuple):
    """Noise with geometric tails for each input.

    Parameters
    ----------
    q : array, shape (N + 1, 2M + 1)
        The probability of j steps of noise, j = -M..M, for each input.
    ratio : float
        r, by which probabilities fall from one step to the next beyond M.
    value : float
        The expected squared noise on the scale of [-1, 1].
    """

    q: Floats
    ratio: float
    value: float

    def rows(self) -> list[list[Fraction]]:
        """Return the exact probability of every output -M-1..N+M+1, a row for each input.

        Farther out, every probability is r times that of the output before it, so these
        outputs show every ratio there is.
        """
        inputs, width = self.q.shape
        reach, ratio = width // 2, Fraction(self.ratio)
        rows = []
        for own, probabilities in enumerate(self.q):
            exact = [Fraction(float(value)) for value in probabilities]
            row = []
            for output in range(-reach - 1, inputs + reach + 1):
                steps = output - own
                inside = max(-reach, min(reach, steps))
                row.append(exact[inside + reach] * ratio ** (abs(steps) - abs(inside)))
            rows.append(row)
        return rows


def solve_with_tails(
    descriptor: object, epsilon: float, noise_range: int, ratio: float = 0.5, *, printed: bool = False
) -> TailedNoise:
    """Return the noise of least expected variance, with HiGHS.

    Parameters
    ----------
    descriptor : array
        The shares of the inputs.
    epsilon : float
        The privacy parameter.
    noise_range : int
        M, where the tails begin.
    ratio : float
        r of the tails.
    printed : bool
        True drops the constraints on outputs that are in the tail of an input, as the
        paper prints them. The result is **not private**; it is there to be caught.

    Examples
    --------
    >>> solve_with_tails([0.25, 0.5, 0.25], 1.0, 4).q.shape
    (3, 9)
    """
    from scipy.optimize import linprog

    shares, epsilon = check_descriptor(descriptor), check_epsilon(epsilon)
    reach, ratio = check_whole(noise_range, "noise_range"), check_fraction(ratio, "ratio")
    steps = np.arange(-reach, reach + 1)
    mass, moment, square = _sums(steps, reach, ratio)
    inputs, width = len(shares), len(steps)
    unit = 2 / (inputs - 1)
    floors = np.arange(-reach, inputs + reach)
    unknowns = inputs * width + len(floors)  # q row by row, then a floor for each output
    equal = np.zeros((2 * inputs, unknowns))
    for own in range(inputs):
        equal[2 * own, own * width : (own + 1) * width] = mass
        equal[2 * own + 1, own * width : (own + 1) * width] = moment
    between = _between(inputs, reach, ratio, math.exp(epsilon), printed=printed)
    found = linprog(
        np.concatenate([np.outer(shares, square).ravel() * unit**2, np.zeros(len(floors))]),
        A_ub=between,
        b_ub=np.zeros(between.shape[0]),
        A_eq=equal,
        b_eq=np.tile([1.0, 0.0], inputs),
        method="highs",
    )
    if found.status != 0:
        raise InvalidParameterError(
            f"noise_range={noise_range} is infeasible for {inputs - 1} bins and epsilon={epsilon:g}, "
            f"or HiGHS does not get there ({found.message.strip()}): give a larger noise_range"
        )
    return TailedNoise(found.x[: inputs * width].reshape(inputs, width), ratio, float(found.fun))


def _sums(steps: Any, reach: int, ratio: float) -> tuple[Floats, Floats, Floats]:
    """Return what each q counts for in the total mass, the mean and the mean square, tails included."""
    mass, moment, square = np.ones(len(steps)), steps.astype(float), steps.astype(float) ** 2
    rest = 1 - ratio
    mass[[0, -1]] = 1 / rest
    moment[-1] = reach / rest + ratio / rest**2
    moment[0] = -moment[-1]
    square[[0, -1]] = reach**2 / rest + (2 * reach - 1) * ratio / rest**2 + 2 * ratio / rest**3
    return mass, moment, square


def _between(inputs: int, reach: int, ratio: float, factor: float, *, printed: bool) -> Any:
    """Return the inequalities floor <= probability <= e^eps floor for every output and input."""
    from scipy.sparse import csr_array

    width = 2 * reach + 1
    output, own = (axis.ravel() for axis in np.indices((inputs + 2 * reach, inputs)))
    steps = output - reach - own
    inside = np.clip(steps, -reach, reach)
    if printed:
        kept = steps == inside
        output, own, steps, inside = output[kept], own[kept], steps[kept], inside[kept]
    weight = ratio ** (np.abs(steps) - np.abs(inside)).astype(float)
    entry, floor = own * width + inside + reach, inputs * width + output
    row, ones = np.arange(len(entry)), np.ones(len(entry))
    values = np.concatenate([ones, -weight, weight, -factor * ones])
    rows = np.concatenate([row, row, row + len(row), row + len(row)])
    columns = np.concatenate([floor, entry, entry, floor])
    return csr_array((values, (rows, columns)), shape=(2 * len(row), inputs * width + inputs + 2 * reach))
