"""Questions that several collections of the tests ask, as they stand in a collection file."""

from __future__ import annotations

__all__ = ["age", "commute"]


def commute(mechanism: str, epsilon: float) -> str:
    """Return a question about categories."""
    answers = 'domain = ["walk", "bike", "bus", "car"]'
    return _question("commute", "How do you travel to work?", answers, mechanism, epsilon)


def age(mechanism: str, epsilon: float) -> str:
    """Return a question about a number."""
    return _question("age", "How old are you?", "low = 0\nhigh = 120", mechanism, epsilon)


def _question(name: str, text: str, answers: str, mechanism: str, epsilon: float) -> str:
    return f"""\
[[questions]]
id = "{name}"
text = "{text}"
{answers}
mechanism = "{mechanism}"
epsilon = {epsilon}
"""
