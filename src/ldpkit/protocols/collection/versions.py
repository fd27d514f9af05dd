"""Two versions of a collection: what changes for devices, and whether the promise grows weaker.

A collection is frozen by its first report. Any change is a new version, and during a roll-out
devices answer both. A question that keeps its id and its sampler keeps its permanent reports;
one with another sampler starts anew and costs its first answer again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.client.collection import Collection
from ldpkit.client.promises import exceeds
from ldpkit.client.questions import FIXED, Question
from ldpkit.client.spending import Micro, micro_text
from ldpkit.core.errors import MismatchError
from ldpkit.core.results import Result

__all__ = ["CollectionDiff", "compare_versions"]

_TEXTS = ("purpose", "least_reports", "randomness")
_MADE_BY = ("mechanism", "domain", "sampler")


@dataclass(frozen=True, repr=False)
class CollectionDiff(Result):
    """What changes from one version to the next.

    Parameters
    ----------
    old, new : Collection
        Both versions.
    changes : tuple of dict
        One record for each change: where, old, new and effect.
    """

    old: Collection
    new: Collection
    changes: tuple[dict[str, Any], ...]

    kind: ClassVar[str] = "collection diff"

    @property
    def weakens(self) -> bool:
        """Whether a person can pay more than was promised before."""
        return any(exceeds(self.new.promise[name], each) for name, each in vars(self.old.promise).items())

    @property
    def needs_version(self) -> bool:
        """Whether the new one must have a higher version than it has."""
        return self.old.digest != self.new.digest and self.new.version <= self.old.version

    @property
    def redrawn(self) -> tuple[str, ...]:
        """The ids of questions that devices answer anew, and pay for once more."""
        return tuple(each.id for each in self.new.questions if _is_redrawn(self.old, each))

    @property
    def both(self) -> Micro:
        """What a person pays at most who answers both versions."""
        lifetimes = (self.old.promise.lifetime, self.new.promise.lifetime)
        return None if None in lifetimes else sum(each or 0 for each in lifetimes)

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Collection {self.old.id}: version {self.old.version} to version {self.new.version}"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        return (
            "effect: what the change does to devices and to the promise"
            if self.changes
            else "nothing changes"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each change."""
        return list(self.changes[:top])

    def about(self) -> dict[str, Any]:
        """Return both digests, and what follows from the changes."""
        return {
            "id": self.old.id,
            "versions": [self.old.version, self.new.version],
            "digests": [self.old.digest, self.new.digest],
            "weakens": self.weakens,
            "needs_version": self.needs_version,
            "redrawn": list(self.redrawn),
        }

    def notes(self) -> list[str]:
        """Return whether the promise weakens, and what devices pay that answer both versions."""
        verdict = "weaker" if self.weakens else "no weaker"
        told = [f"the promise is {verdict}: {self.old.promise} before, {self.new.promise} now"]
        if self.redrawn:
            told.append(
                f"answered again: {', '.join(self.redrawn)}; a person who answers both versions pays up to "
                "epsilon "
                f"{micro_text(self.both)}"
            )
        return told

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be mended before the new version is signed."""
        if not self.needs_version:
            return ()
        told = (
            f"the content has changed, and version {self.new.version} is not above {self.old.version}: "
            "devices "
            "that saw the old one refuse it"
        )
        return (told,)


def compare_versions(old: Collection, new: Collection) -> CollectionDiff:
    """Return what changes between two versions of one collection."""
    if old.id != new.id:
        raise MismatchError(f"{old.id!r} and {new.id!r} are two collections, not two versions of one")
    return CollectionDiff(old, new, tuple(_changes(old, new)))


def _is_redrawn(old: Collection, question: Question) -> bool:
    before = [each for each in old.questions if each.id == question.id]
    return bool(before) and any(getattr(before[0], name) != getattr(question, name) for name in _MADE_BY)


def _changes(old: Collection, new: Collection) -> Iterator[dict[str, Any]]:
    for name in _TEXTS:
        yield from _change(name, getattr(old, name), getattr(new, name), "devices answer as before")
    yield from _change(
        "rounds", old.form["rounds"], new.form["rounds"], "when, and how often, devices answer"
    )
    yield from _change("spend.ask", old.ask, new.ask, "how many questions a device answers")
    before = {each.id: each for each in old.questions}
    after = {each.id: each for each in new.questions}
    for gone in before.keys() - after.keys():
        yield {"where": gone, "old": before[gone].text, "new": None, "effect": "is no longer asked"}
    for question in new.questions:
        if question.id not in before:
            yield {"where": question.id, "old": None, "new": question.text, "effect": "is new"}
        else:
            yield from _question_changes(before[question.id], question)
    for name, cost in vars(old.promise).items():
        now = new.promise[name]
        effect = "the promise is weaker" if exceeds(now, cost) else "the promise is stronger"
        yield from _change(f"promise.{name}", micro_text(cost), micro_text(now), effect)


def _question_changes(old: Question, new: Question) -> Iterator[dict[str, Any]]:
    yield from _change(f"{new.id}.text", old.text, new.text, "reports stay the same")
    redraws = "devices answer anew, and pay for it"
    yield from _change(f"{new.id}.mechanism", _made(old), _made(new), redraws)
    yield from _change(f"{new.id}.domain", old.domain, new.domain, redraws)
    if _made(old) == _made(new) and old.domain == new.domain:
        yield from _change(f"{new.id}.sampler", dict(old.sampler), dict(new.sampler), redraws)
    stays = "devices that answered before refuse: give the question another id"
    follows = "devices report every change of their value, and pay for each report"
    yield from _change(f"{new.id}.value", old.value, new.value, stays if new.value == FIXED else follows)
    for name in ("first", "next"):
        cost, now = (getattr(each, name) for each in (old, new))
        effect = "an answer costs more" if exceeds(now, cost) else "an answer costs less"
        yield from _change(f"{new.id}.charge.{name}", micro_text(cost), micro_text(now), effect)


def _made(question: Question) -> str:
    values = ", ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
                       for name, value in question.parameters.items())  # fmt: skip
    return f"{question.mechanism}({values})"


def _change(where: str, old: Any, new: Any, effect: str) -> Iterator[dict[str, Any]]:
    if old != new:
        yield {"where": where, "old": old, "new": new, "effect": effect}
