"""What somebody pastes into a web page, so that its visitors answer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ldpkit.client.collection import Collection
from ldpkit.client.questions import Question

__all__ = ["answered_by_snippet", "snippet_for"]

_LARGER_FORMS = {"noise", "turned", "table", "rows", "sites", "planar", "pair"}


def snippet_for(collection: Collection, base: str) -> str:
    """Return a script that answers the first question of a collection with the first answer there is.

    Parameters
    ----------
    collection : Collection
        What is asked.
    base : str
        How the service is reached.
    """
    question = collection.questions[0]
    key = "" if collection.key is None else f", {{publicKey: {_script(str(collection.key))}}}"
    return (
        '<script type="module">\n'
        "  try {\n"
        f"    const {{ Collection }} = await import({_script(f'{base}/{_client(collection.questions)}')});\n"
        f"    const c = await Collection.fetch({_script(f'{base}/v1/collections/{collection.id}')}{key});\n"
        f"    await c.answer({_script(question.id)}, {_script(_example(question))});\n"
        "    await c.flush();\n"
        "  } catch (error) {\n"
        "    document.body.append(`Sorry, this did not work: ${error.message}`);\n"
        "  }\n"
        "</script>"
    )


def answered_by_snippet(collection: Collection) -> str:
    """Return which question the snippet answers, and of how many: "'age' (the first of 2 questions)"."""
    count = len(collection.questions)
    name = repr(collection.questions[0].id)
    if count == 1:
        return f"{name} (the only question)"
    drawn = f", of which each visitor is asked {collection.ask}" if collection.ask < count else ""
    return f"{name} (the first of {count} questions{drawn})"


def _client(questions: Iterable[Question]) -> str:
    """Return the smallest client that knows the forms of all questions."""
    samplers = [question.sampler for question in questions]
    is_larger = any(each["form"] in _LARGER_FORMS or each.get("stand") == "sector" for each in samplers)
    return "client-all.js" if is_larger else "client.js"


def _script(value: Any) -> str:
    """Return a value as a script on a page writes it; nothing in it ends the script."""
    return json.dumps(value).replace("<", "\\u003c")


def _example(question: Question) -> Any:
    """Return something that can be answered."""
    domain: Any = question.domain
    match question.kind:
        case "frequency" if isinstance(domain, dict):
            return [each[0] if isinstance(each, list) else 0 for each in domain["product"]]
        case "frequency":
            return domain[0] if isinstance(domain, list) else 0
        case "numeric":
            return domain[0]
        case "circular":
            return domain["low"]
    return domain["low"]
