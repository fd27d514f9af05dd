"""The mechanisms of two rounds for their tests, and the exact product of the rounds."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

import ldpkit
from ldpkit.core.exact import WORD
from ldpkit.mechanisms.longitudinal.lunary import LongitudinalUnary

__all__ = ["NAMES", "PAIRS", "every_name", "make", "multiply", "products"]

NAMES = ["lgrr", "lsue", "loue", "lsoue", "losue", "lblh", "lolh"]
PAIRS = [(2, 1), (4, 2), (8, 4), (1, 0.5)]
every_name = pytest.mark.parametrize("name", NAMES)


def make(name, size=5, epsilon_inf=2.0, epsilon_1=1.0):
    return ldpkit.get(name, size, epsilon_inf=epsilon_inf, epsilon_1=epsilon_1)


def products(mechanism):
    """The exact product of the two rounds, as matrices of Fractions."""
    if isinstance(mechanism, LongitudinalUnary):
        first, second = mechanism._chain.first, mechanism._chain.second
        reports = list(itertools.product((0, 1), repeat=mechanism.size))
        permanent = [
            [
                math.prod(
                    _bit_chance(first[0 if place == value else 1], bit) for place, bit in enumerate(report)
                )
                for report in reports
            ]
            for value in range(mechanism.size)
        ]
        instant = [
            [
                math.prod(
                    _bit_chance(second[0 if kept else 1], bit) for kept, bit in zip(held, report, strict=True)
                )
                for report in reports
            ]
            for held in reports
        ]
    else:
        chain = mechanism.response
        permanent = [chain.first.row(value) for value in range(chain.size)]
        instant = [chain.second.row(value) for value in range(chain.size)]
    return permanent, instant


def _bit_chance(threshold, bit):
    return Fraction(threshold if bit else WORD - threshold, WORD)


def multiply(left, right):
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*right, strict=True)]
        for row in left
    ]
