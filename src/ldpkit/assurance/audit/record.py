"""The record of an audit: what was checked, what was found, and whether it passes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from ldpkit.assurance.audit.attack import Attack
from ldpkit.core.provenance import Provenance
from ldpkit.core.results import Result
from ldpkit.mechanisms.base import Mechanism

__all__ = ["AT_MOST", "NOT_PROMISED", "PERMANENT", "Audit", "Check", "Outcome"]

Outcome = Literal["pass", "fail", "warn", "info", "not checked"]

NOT_PROMISED = (
    (
        "Epsilon covers one report. Several reports of a person cost the sum of their epsilons, unless the "
        "device keeps its answer and its value never changes."
    ),
    "A report does not hide that somebody took part, when, or from which network address.",
    "The mechanism, its epsilon and the list of values or the range of numbers are public.",
    "An invented device can send whatever it likes: reports are valid, not necessarily honest.",
    "What other people's reports teach about everybody, they teach about you too: that is statistics.",
)
"""What no epsilon covers."""
AT_MOST = "at most"
"""The check against a limit that the reviewer gives."""
PERMANENT = "permanent"
"""The check of what all reports of a device cost, of mechanisms with memory."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Parameters
    ----------
    name : str
        What was checked.
    outcome : {"pass", "fail", "warn", "info", "not checked"}
        Only "fail" fails the audit.
    finding : str
        What was found, in a sentence.
    epsilon : float or None
        The epsilon that this check found, if it found one.
    headline : str
        What a verdict says of it, if it failed or warns.
    """

    name: str
    outcome: Outcome
    finding: str
    epsilon: float | None = None
    headline: str = ""


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What an audit has found about a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        What was audited.
    stated : float
        The epsilon that the mechanism states for one report.
    exact : float
        The epsilon that its integers realise.
    checks : tuple of Check
        Everything that was looked at.
    attack : Attack
        The attack on the sampler.
    words : tuple of str
        What epsilon means for a person.
    lifetime : tuple of str
        What more than one report costs.
    provenance : Provenance or None
        What the audited file records of how it was made.
    n : int or None
        How many reports the audited file holds.
    sha256 : str or None
        The hash of the audited file.
    limit : float or None
        The limit that the reviewer gave: what epsilon may be at most.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.audit(ldpkit.GRR(4, epsilon=1), reports=2000, rng=ldpkit.random.seeded(1))
    >>> isinstance(found, Audit), found.passed
    (True, True)
    """

    mechanism: Mechanism
    stated: float
    exact: float
    checks: tuple[Check, ...]
    attack: Attack
    words: tuple[str, ...]
    lifetime: tuple[str, ...]
    provenance: Provenance | None = None
    n: int | None = None
    sha256: str | None = None
    limit: float | None = None

    kind: ClassVar[str] = "audit"

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(check.outcome != "fail" for check in self.checks)

    @property
    def verdict(self) -> str:
        """Whether it passed, and what failed or is to be weighed."""
        if not self.passed:
            return f"FAILED: {'; '.join(self._headlines('fail'))}"
        passed = f"PASSED{self._condition}"
        warned = self._headlines("warn")
        if not warned:
            return passed
        return f"{passed}, with {'a warning' if len(warned) == 1 else 'warnings'}: {'; '.join(warned)}"

    @property
    def _condition(self) -> str:
        """On what a limit is kept: that for all reports of a device holds for one value only."""
        memory = any(check.name == PERMANENT for check in self.checks)
        return ", if no device's value ever changes" if memory and self.limit is not None else ""

    def _headlines(self, outcome: Outcome) -> list[str]:
        """Return what the checks of an outcome say in a verdict, each once."""
        found = [check for check in self.checks if check.outcome == outcome]
        return list(dict.fromkeys(check.headline or check.name for check in found))

    @property
    def tested(self) -> str:
        """What was tested and what was not: an attack draws reports of its own."""
        if self.provenance is None:
            return (
                "Tested: the mechanism, as it is in this copy of ldpkit. Not tested: reports that were made "
                "elsewhere."
            )
        counted = any(check.name == "reports" and check.outcome != "not checked" for check in self.checks)
        counts = ", and the counts in the file" if counted else ""
        rest = "the individual reports" if counted else "the reports in the file"
        says = {
            "secure": "the file itself says that they were made with secure randomness",
            "seeded": "the file itself says that they were made with a seed",
            "unknown": "the file does not say what randomness they were made with",
        }
        return (
            f"Tested: the mechanism that the file names, as it is in this copy of ldpkit{counts}. "
            f"Not tested: {rest}; {says[self.provenance.randomness]}."
        )

    def answer(self, unit: str = "") -> str:
        """Return the verdict and what was tested, as sentences."""
        word = "PASSED" if self.passed else "FAILED"
        verdict = self.verdict.replace(word, f"{word} the audit", 1)
        exact = "infinite" if math.isinf(self.exact) else f"{self.exact:.6g}"
        return (
            f"{self.mechanism!r} {verdict}. The integers of its sampler realise epsilon {exact}, "
            f"{self.bounds}, and an attack on fresh reports shows at least {self.attack.epsilon:.4g}. "
            f"{' '.join([self.tested, *self._unlimited])}"
        )

    @property
    def bounds(self) -> str:
        """What epsilon is compared with: what the mechanism states, and the limit if one was given."""
        stated = f"the mechanism states {self.stated:.6g}"
        return stated if self.limit is None else f"{stated}, the limit is {self.limit:.6g}"

    @property
    def title(self) -> str:
        """The title above the table: the verdict."""
        return f"{self.mechanism!r}: {self.verdict}"

    @property
    def caption(self) -> str:
        """What was tested and what was not, and that no limit was, if the reports were held to none."""
        return "\n".join([self.tested, *self._unlimited])

    @property
    def _unlimited(self) -> list[str]:
        """What a file that passes does not show where no limit was given."""
        if self.n is None or self.limit is not None or not self.passed:
            return []
        return ["No limit was given (--at-most): this says only that the stated epsilon is kept."]

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each check: check, outcome, epsilon, finding."""
        rows = [
            {
                "check": check.name,
                "outcome": check.outcome,
                "epsilon": check.epsilon,
                "finding": check.finding,
            }
            for check in self.checks
        ]
        return rows[:top]

    def about(self) -> dict[str, Any]:
        """Return the mechanism, its epsilons, the attack, and what holds for a person."""
        return {
            "mechanism": repr(self.mechanism),
            "spec": self.mechanism.spec(),
            "passed": self.passed,
            "verdict": self.verdict,
            "tested": self.tested,
            "reports": self.n,
            "sha256": self.sha256,
            "stated_epsilon": self.stated,
            "exact_epsilon": self.exact,
            "limit": self.limit,
            "attack": asdict(self.attack),
            **{name: list(sentences) for name, (_, sentences) in self.sections().items()},
            "provenance": None if self.provenance is None else self.provenance.to_json(),
        }

    def sections(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Return what is to be read beside the checks: for each name a heading and sentences."""
        return {
            "words": ("What it means for a person", self._what_holds()),
            "lifetime": ("What more than one report costs", self.lifetime),
            "not_promised": ("What is not promised", NOT_PROMISED),
        }

    def _what_holds(self) -> tuple[str, ...]:
        """Return what epsilon means for a person; of a broken promise, that it means nothing."""
        failed = {check.name: check.headline for check in self.checks if check.outcome == "fail"}
        failed.pop(AT_MOST, None)  # a promise that is kept, and larger than the reviewer allows
        if not failed:
            return self.words
        what = "file" if self.provenance is not None else "mechanism"
        if "randomness" in failed:
            why = "it was made with a seed, and whoever knows the seed can undo its noise"
        else:
            why = "; ".join(dict.fromkeys(failed.values()))
        return (f"The promise of epsilon {self.stated:.6g} does not hold for this {what}: {why}.",)

    def notes(self) -> list[str]:
        """Return what epsilon means for a person, and what it does not cover."""
        return [sentence for _, sentences in self.sections().values() for sentence in sentences]

    def __repr__(self) -> str:
        lines = [f"Audit of {self.mechanism!r}: {self.verdict}"]
        lines += [f"  {check.outcome:<11} {check.name}: {check.finding}" for check in self.checks]
        return "\n".join(lines)
