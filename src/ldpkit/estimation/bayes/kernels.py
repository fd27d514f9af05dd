"""The loops of maximum likelihood and of the iterative Bayesian update.

The supports of n reports over k values are a matrix of n k bits. Its products with a
vector, from both sides, are all that an EM step needs, and both go a byte at a time: a
table has the partial sum of every byte, and a histogram gathers the weights of the rows
that share a byte. That is n k / 8 additions each way, an order of magnitude less than
masked sums over single bits take.
"""

from __future__ import annotations

import math

import numpy as np

from ldpkit.core.compiled import compiled
from ldpkit.core.typing import Bytes, Counts, Floats

__all__ = ["byte_sums", "expectation", "iterate", "pair_sums"]

_FAST = {"reassoc", "nnan", "nsz", "contract"}  # sums in any order: the loops run on whole vectors
_TINY = 1e-290  # frequencies on their way to zero stop here, before arithmetic gets slow
_CACHED = 1 << 17  # sums that a processor keeps near at hand
_LARGE = 1e150  # densities are multiplied up to here before a logarithm is taken of them


@compiled()
def _add_terms(terms, sums):
    for v in range(terms.shape[0]):
        column, low = sums[v >> 3], 1 << (v & 7)
        for rest in range(low):
            column[low + rest] = column[rest] + terms[v]


def byte_sums(terms: Floats) -> Floats:
    """Return for every byte column and every byte the sum of the terms whose bits are set."""
    sums = np.zeros(((len(terms) + 7) // 8, 256))
    _add_terms(terms, sums)
    return sums


@compiled()
def expectation(supports, weights, sums, shares, squares):
    """Return the sums of w_i/d_i, w_i/d_i^2 and w_i log d_i; d_i is 1 plus the sums of row i's bytes.

    `shares[j, byte]` gains w_i/d_i for each row with that byte in column j, and
    `squares`, unless it is empty, w_i/d_i^2. No weights (an empty array) means 1 for
    every row; then logarithms are taken of products.
    """
    n, width = supports.shape
    weighted, squared = weights.shape[0] > 0, squares.shape[0] > 0
    whole = width // 4 * 4
    total, total_squares, logs, product = 0.0, 0.0, 0.0, 1.0
    for i in range(n):
        row = supports[i]
        d0, d1, d2, d3 = 1.0, 0.0, 0.0, 0.0  # four chains of additions run side by side
        for j in range(0, whole, 4):
            d0 += sums[j, row[j]]
            d1 += sums[j + 1, row[j + 1]]
            d2 += sums[j + 2, row[j + 2]]
            d3 += sums[j + 3, row[j + 3]]
        for j in range(whole, width):
            d0 += sums[j, row[j]]
        density = (d0 + d1) + (d2 + d3)
        share = 1.0 / density
        if weighted:
            share *= weights[i]
            logs += weights[i] * math.log(density)
        else:
            product *= density
            if product > _LARGE:
                logs += math.log(product)
                product = 1.0
        total += share
        for j in range(width):
            shares[j, row[j]] += share
        if squared:
            square = share / density
            total_squares += square
            for j in range(width):
                squares[j, row[j]] += square
    return total, total_squares, logs + math.log(product)


@compiled()
def _add_pairs(supports, shares, first, last, held, pairs):
    for i in range(supports.shape[0]):
        found = before = 0
        for j in range((last + 7) // 8):
            byte = supports[i, j]
            for bit in range(8):
                if byte >> bit & 1:
                    held[found] = 8 * j + bit
                    found += 1
                    before += 8 * j + bit < first
        for one in range(before, found):
            row = pairs[held[one]]
            for other in range(one + 1):
                row[held[other]] += shares[i]


def pair_sums(supports: Bytes, shares: Floats, size: int) -> Floats:
    """Return for every two values the sum of the shares of the rows that support both.

    This is a product of matrices, but one whose additions have an order of their own: BLAS rounds
    otherwise with another number of threads, and workers must come to the same bits as one process.
    """
    pairs, held = np.zeros((size, size)), np.empty(8 * supports.shape[1], np.int64)
    step = max(8, _CACHED // size // 8 * 8)
    for first in range(0, size, step):
        _add_pairs(supports, shares, first, min(first + step, size), held, pairs)
    return pairs + np.tril(pairs, -1).T


@compiled(error_model="numpy", fastmath=_FAST)
def _share(h, f, times, base, lift, shares):
    """Write h / (base + lift f) and return its sum, each as often as it is there."""
    total = 0.0
    for v in range(h.shape[0]):
        share = h[v] / (base + lift * f[v])
        shares[v] = share
        total += times[v] * share
    return total


@compiled(error_model="numpy", fastmath=_FAST)
def _grow(f, times, shares, weight, lift):
    """Multiply f by weight + lift shares in place; return the new sum and the largest change."""
    total, change = 0.0, 0.0
    for v in range(f.shape[0]):
        new = f[v] * (weight + lift * shares[v])
        new = new if new > _TINY else 0.0
        moved = abs(new - f[v])
        change = moved if moved > change else change
        total += times[v] * new
        f[v] = new
    return total, change


@compiled()
def _iterate(work, floor, lift, most, tolerance):
    h, f, times, shares = work[0], work[1], work[2], work[3]
    total, step, change = 0.0, 0, np.inf
    for v in range(f.shape[0]):
        total += times[v] * f[v]
    while step < most and change > tolerance:
        step += 1
        weight = floor * _share(h, f, times, floor * total, lift, shares)
        total, change = _grow(f, times, shares, weight, lift)
    return step, change


def iterate(
    histograms: Floats, start: Floats, floor: float, lift: float, most: int, tolerance: float
) -> tuple[Floats, Counts, Floats]:
    """Run the iterative Bayesian update on every row, under the channel floor + lift [v = y].

    A row stops after `most` iterations or as soon as no frequency changes by more than
    `tolerance`. Returned are the frequencies, the iterations and the last largest change of each row.

    An update changes values alike that were observed equally often and begin alike, so
    such values go through it as one: of a million values that n people report on, only a
    few thousand are different.
    """
    frequencies = np.array(start, float)
    iterations, changes = np.empty(len(frequencies), np.int64), np.empty(len(frequencies))
    for run, histogram in enumerate(histograms):
        # Pairs of real numbers are compared as complex ones: first the histogram, then the start.
        pairs, alike, times = np.unique(
            histogram + 1j * frequencies[run], return_inverse=True, return_counts=True
        )
        # In one piece: whether a loop runs in vectors, and so how it rounds, hangs on how arrays lie.
        work = np.array([pairs.real, pairs.imag, times, times], float)
        iterations[run], changes[run] = _iterate(work, floor, lift, most, tolerance)
        frequencies[run] = work[1][alike]
    return frequencies, iterations, changes
