"""Who answers what: each person a random few of several questions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.random import RandomSource

__all__ = ["draw_questions"]


def draw_questions(
    people: int, questions: int, ask: int, source: RandomSource
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return for each person which questions to answer: any set of `ask` is as likely as any other.

    Examples
    --------
    >>> import ldpkit
    >>> drawn = draw_questions(5, 3, 2, ldpkit.random.seeded(1))
    >>> drawn.sum(axis=1).tolist()
    [2, 2, 2, 2, 2]
    """
    drawn = np.ones((people, questions), bool)
    if ask < questions:
        order = np.argsort(source.words(people * questions).reshape(people, questions), axis=1)
        np.put_along_axis(drawn, order[:, ask:], False, axis=1)
    return drawn
