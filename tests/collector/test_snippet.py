"""What is pasted into a page: a value of the right kind, and a word about which question it answers."""

from __future__ import annotations

import json
import re

import pytest

from ldpkit.client.places import place_of
from ldpkit.collector.snippet import answered_by_snippet, snippet_for
from ldpkit.protocols.collection.building import compile_toml

ASKED = """
id = "town"
version = 1
purpose = "How people travel."
rounds = {{every = "once", start = 2026-11-01}}
spend = {{ask = {ask}}}
questions = [{questions}]
"""
MINUTES = '{id = "minutes", text = "How long?", low = 5, high = 180, mechanism = "pm", epsilon = 1}'
WAY = '{id = "way", text = "How?", domain = ["walk", "bike"], mechanism = "grr", epsilon = 1}'


@pytest.mark.parametrize(("question", "value"), [(MINUTES, 5), (WAY, "walk")])
def test_the_snippet_answers_with_a_value_of_the_question(question: str, value: object) -> None:
    asked = compile_toml(ASKED.format(ask=1, questions=question).encode())
    found = re.search(r"c\.answer\((.*)\);", snippet_for(asked, "https://collect.example.org"))
    assert found is not None
    (first,) = asked.questions
    assert json.loads(f"[{found[1]}]") == [first.id, value]
    place_of(first.kind, first.domain, first.sampler, value)  # refuses what cannot be answered


def test_it_says_which_question_is_answered_and_how_many_there_are() -> None:
    two = f"{MINUTES}, {WAY}"
    for questions, ask, said in (
        (WAY, 1, "'way' (the only question)"),
        (two, 2, "'minutes' (the first of 2 questions)"),
        (two, 1, "'minutes' (the first of 2 questions, of which each visitor is asked 1)"),
    ):
        assert answered_by_snippet(compile_toml(ASKED.format(ask=ask, questions=questions).encode())) == said
