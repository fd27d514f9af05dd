"""The equations of one interior-point step: small, dense, and solved on one core.

A few hundred unknowns are too few to share between threads: linear-algebra libraries
try, and on a busy machine wait for each other a hundred times longer than they compute.
Sums run in a fixed order, so a step gives the same numbers on every machine.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled
from ldpkit.core.typing import Floats

__all__ = ["factorise", "normal_matrix", "solve_factored"]


@compiled()
def _add_outputs(vectors, weights, diagonals, places, mass, mean, square, matrix):
    outputs, inputs = vectors.shape
    for i in range(inputs):
        for t in range(outputs):
            y = places[t]
            first = weights[t] * vectors[t, i]
            second = y * first
            third = y * second
            for j in range(inputs):
                mass[j] += first * vectors[t, j]
                mean[j] += second * vectors[t, j]
                square[j] += third * vectors[t, j]
            mass[i] += diagonals[t, i]
            mean[i] += y * diagonals[t, i]
            square[i] += y * y * diagonals[t, i]
        for j in range(inputs):
            matrix[i, j], matrix[i, inputs + j], matrix[inputs + i, inputs + j] = mass[j], mean[j], square[j]
            mass[j] = mean[j] = square[j] = 0.0


def normal_matrix(vectors: Floats, weights: Floats, diagonals: Floats, places: Floats) -> Floats:
    """Return the sum over outputs t of [1, y; y, y^2] (x) (diag(a_t) + w_t v_t v_t'), upper half only."""
    inputs = vectors.shape[1]
    matrix = np.zeros((2 * inputs, 2 * inputs))
    _add_outputs(vectors, weights, diagonals, places, *np.zeros((3, inputs)), matrix)
    return matrix


@compiled()
def factorise(matrix, ridge):
    """Turn the upper half of a matrix into its Cholesky factor; return False if it has none."""
    size = matrix.shape[0]
    for k in range(size):
        pivot = matrix[k, k] + ridge
        if not pivot > 0:
            return False
        matrix[k, k] = np.sqrt(pivot)
        scale = 1 / matrix[k, k]
        for j in range(k + 1, size):
            matrix[k, j] *= scale
        for i in range(k + 1, size):
            share = matrix[k, i]
            if share != 0:
                for j in range(i, size):
                    matrix[i, j] -= share * matrix[k, j]
    return True


@compiled()
def _solve_in_place(factor, answer):
    size = factor.shape[0]
    for k in range(size):
        answer[k] /= factor[k, k]
        for j in range(k + 1, size):
            answer[j] -= factor[k, j] * answer[k]
    for k in range(size - 1, -1, -1):
        total = answer[k]
        for j in range(k + 1, size):
            total -= factor[k, j] * answer[j]
        answer[k] = total / factor[k, k]


def solve_factored(factor: Floats, right: Floats) -> Floats:
    """Return the solution for a right-hand side, given the factor."""
    answer = right.copy()
    _solve_in_place(factor, answer)
    return answer
