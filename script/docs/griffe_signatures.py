"""What the pages about Python say of a name, taken from its own signature.

mkdocstrings loads this file as an extension of griffe, which misreads two things here: it takes our
`cached_property` for a method, and where a docstring describes several parameters in one line it gives
all of them the default and the type of the first.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SEVERAL = re.compile(r"^ *\**\w+(?:, \**\w+)+ *(?::|$)", re.M)
_CACHED = "ldpkit.core.cached.cached_property"


class Signatures(griffe.Extension):
    """Shows cached properties as properties, and every parameter with its own default and type."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Mend a class and its properties."""
        for name, member in tuple(cls.members.items()):
            if isinstance(member, griffe.Function) and any(
                each.callable_path == _CACHED for each in member.decorators
            ):
                cls.set_member(name, _property(member))
        _mend(cls)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Mend a function."""
        _mend(func)


def _property(function: griffe.Function) -> griffe.Attribute:
    made = griffe.Attribute(
        function.name,
        lineno=function.lineno,
        endlineno=function.endlineno,
        annotation=function.returns,
        docstring=function.docstring,
        runtime=function.runtime,
    )
    made.labels.add("property")
    if made.docstring is not None:
        made.docstring.parent = made
    return made


def _mend(owner: griffe.Class | griffe.Function) -> None:
    docstring = owner.docstring
    if docstring is None or not _SEVERAL.search(docstring.value):
        return
    own = {each.name: each for each in owner.parameters}
    sections = docstring.parse(docstring.parser, **{**docstring.parser_options, "warnings": False})
    for section in sections:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for shown in section.value:
                if shown.name in own:
                    shown.value = _own(shown.value, own, shown.name, "default")
                    shown.annotation = _own(shown.annotation, own, shown.name, "annotation")
    docstring.__dict__["parsed"] = sections  # what the page reads


def _own(said: Any, own: dict[str, griffe.Parameter], name: str, what: str) -> Any:
    """Return what a parameter's own signature says, if what was said is taken from a signature."""
    taken = any(said is getattr(each, what) for each in own.values())
    return getattr(own[name], what) if taken else said
