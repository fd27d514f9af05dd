"""What is checked, what was found, and whether it passes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from ldpkit.assurance.adversary import attack_on, epsilon_warnings
from ldpkit.assurance.adversary.meaning import meaning
from ldpkit.assurance.audit.attack import REPORTS, Attack, attack
from ldpkit.assurance.audit.enumeration import Enumeration, enumerate_channel
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.core.provenance import Provenance
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.results import Result
from ldpkit.files.reportfile import ReportFile
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_memoized, is_paired, is_whole_trajectory
from ldpkit.mechanisms.tally import Tally
from ldpkit.protocols.ledger import Ledger, Report, Rounds

__all__ = ["NOT_PROMISED", "Audit", "Check", "audit"]

Outcome = Literal["pass", "fail", "warn", "not checked"]

NOT_PROMISED = (
    "Epsilon is about one report. Answering twice spends it twice, unless the device keeps its answer.",
    "The fact of taking part, the time of a report and the network address are not hidden by it.",
    "The mechanism, its epsilon and the list of values or the range of numbers are public.",
    "An invented device can send whatever it likes: reports are valid, not necessarily honest.",
    "What other people's reports teach about everybody, they teach about you too: that is statistics.",
)
"""What no epsilon covers."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Parameters
    ----------
    name : str
        What was checked.
    outcome : {"pass", "fail", "warn", "not checked"}
        Only "fail" fails the audit.
    finding : str
        What was found, in a sentence.
    epsilon : float or None
        The epsilon that this check found, if it found one.
    """

    name: str
    outcome: Outcome
    finding: str
    epsilon: float | None = None


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What an audit has found about a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        What was audited.
    stated : float
        The epsilon that one report promises.
    exact : float
        The epsilon that its integers realise.
    checks : tuple of Check
        Everything that was looked at.
    attack : Attack
        The attack on the sampler.
    words : tuple of str
        What epsilon means to a person.
    lifetime : tuple of str
        What more than one report costs.
    provenance : Provenance or None
        What the audited file records of how it was made.

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

    kind: ClassVar[str] = "audit"

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(check.outcome != "fail" for check in self.checks)

    def answer(self, unit: str = "") -> str:
        """Return the verdict, as a sentence."""
        if not self.passed:
            return f"{self.mechanism!r} FAILED the audit: {self.caption.removeprefix('failed: ')}."
        exact = "infinite" if math.isinf(self.exact) else f"{self.exact:.6g}"
        return (
            f"{self.mechanism!r} PASSED the audit: its integers realise epsilon {exact}, stated is "
            f"{self.stated:.6g}, and an attack on its reports shows at least {self.attack.epsilon:.4g}."
        )

    @property
    def title(self) -> str:
        """What stands above the table: the verdict."""
        return f"{self.mechanism!r}: {'PASSED' if self.passed else 'FAILED'}"

    @property
    def caption(self) -> str:
        """What the verdict says."""
        if self.passed:
            return "nothing that was checked breaks the promise"
        return "failed: " + ", ".join(check.name for check in self.checks if check.outcome == "fail")

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
            "stated_epsilon": self.stated,
            "exact_epsilon": self.exact,
            "attack": asdict(self.attack),
            **{name: list(sentences) for name, (_, sentences) in self.sections().items()},
            "provenance": None if self.provenance is None else self.provenance.to_json(),
        }

    def sections(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Return what is to be read beside the checks: for each name a heading and sentences."""
        return {
            "words": ("What it means to a person", self.words),
            "lifetime": ("What more than one report costs", self.lifetime),
            "not_promised": ("What is not promised", NOT_PROMISED),
        }

    def notes(self) -> list[str]:
        """Return what epsilon means to a person, and what it does not cover."""
        return [sentence for _, sentences in self.sections().values() for sentence in sentences]

    def __repr__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        lines = [f"Audit of {self.mechanism!r}: {verdict}"]
        lines += [f"  {check.outcome:<11} {check.name}: {check.finding}" for check in self.checks]
        return "\n".join(lines)


def audit(
    target: Mechanism | ReportFile | Tally,
    *,
    provenance: Provenance | None = None,
    reports: int = REPORTS,
    rng: RandomSource | None = None,
    watch: Callable[[str], None] | None = None,
) -> Audit:
    """Check a mechanism: its integers, its channel, its sampler, and what it costs a person.

    Parameters
    ----------
    target : Mechanism, ReportFile or Tally
        Any registered mechanism, or one of a plugin; or reports, which say what made them and how.
    provenance : Provenance, optional
        How the reports at hand were made, if there are any and they do not say it themselves.
    reports : int
        How many reports of each value the attack counts.
    rng : RandomSource, optional
        The randomness of the attacked reports; secure by default, as on a device.
    watch : callable, optional
        Is told what is done next.

    Examples
    --------
    >>> import ldpkit
    >>> audit(ldpkit.OUE(4, epsilon=1.0), reports=200_000).passed
    True
    """
    count = check_whole(reports, "reports", least=1000)
    found: Any = target
    mechanism: Mechanism = getattr(found, "mechanism", found)
    provenance = provenance or getattr(found, "provenance", None)
    tell = watch or (lambda _: None)
    if is_whole_trajectory(mechanism):
        raise InvalidParameterError(
            f"an audit lists one report for each value, and the reports of {mechanism.name} depend on one "
            "another: exact_epsilon() goes through all of its tables"
        )
    tell("computing epsilon from the integers")
    exact = mechanism.exact_epsilon()
    tell("listing every report")
    listed = enumerate_channel(mechanism, resolve(rng))
    tell("attacking the sampler")
    attacked = attack(mechanism, reports=count, rng=rng)
    remembered = None
    if is_memoized(mechanism):
        tell("attacking devices that keep their permanent reports")
        remembered = attack(mechanism, reports=count, rng=rng, kept=True)
    by_partner = None
    if is_paired(mechanism) and mechanism.adversary is None:
        tell("attacking pairs as the partner")
        by_partner = attack(mechanism, reports=count, rng=rng, partner=True)
    limit = min(mechanism.epsilon, exact)
    alone = mechanism.exact_epsilon_alone() if is_paired(mechanism) else limit
    checks = (
        _check_integers(mechanism, exact),
        _check_channel(listed),
        _check_attack(attacked, min(limit, alone)),
        *([] if remembered is None else [_check_attack(remembered, limit, "attack on memory")]),
        *([] if by_partner is None else [_check_attack(by_partner, limit, "attack by the partner")]),
        *_check_size(mechanism, exact),
        *_check_provenance(provenance),
    )
    tell("asking what it means to a person")
    return Audit(
        mechanism=mechanism,
        stated=mechanism.epsilon,
        exact=exact,
        checks=checks,
        attack=attacked,
        words=tuple(meaning(mechanism, exact)),
        lifetime=tuple(_lifetime(mechanism, exact)),
        provenance=provenance,
    )


def _check_integers(mechanism: Mechanism, exact: float) -> Check:
    stated = mechanism.epsilon
    finding = f"the sampler's integers realise epsilon {exact!r}, stated is {stated!r}"
    if math.isinf(stated) and math.isinf(exact):
        return Check("integers", "warn", f"there is no bound: {mechanism.promise()}", exact)
    if not exact <= stated:
        return Check("integers", "fail", f"{finding}: it promises more than it keeps", exact)
    if mechanism.tight and exact < stated - 1e-6:
        return Check("integers", "warn", f"{finding}: some of the budget is wasted", exact)
    return Check("integers", "pass", finding, exact)


def _check_channel(listed: Enumeration) -> Check:
    if listed.epsilon is None:
        return Check("channel", "not checked", listed.text)
    if not listed.sums_to_one:
        finding = f"{listed.text}: the probabilities do not sum to one"
        return Check("channel", "fail", finding, listed.epsilon)
    keeps = listed.epsilon <= listed.exact
    word = "as the integers say" if keeps else f"above the {listed.exact!r} that it claims"
    finding = f"{listed.text}: the largest ratio is e^{listed.epsilon!r}, {word}"
    return Check("channel", "pass" if keeps else "fail", finding, listed.epsilon)


def _check_attack(attacked: Attack, limit: float, name: str = "attack") -> Check:
    if attacked.epsilon > limit:
        finding = f"{attacked.sentence()} That is more than the {limit:.6g} promised."
        return Check(name, "fail", finding, attacked.epsilon)
    return Check(name, "pass", attacked.sentence(), attacked.epsilon)


def _check_size(mechanism: Mechanism, exact: float) -> list[Check]:
    """Warn of an epsilon that is kept, and promises little."""
    said = epsilon_warnings(exact, attack=lambda: attack_on(mechanism))
    return [Check("size", "warn", " ".join(said))] if said else []


def _check_provenance(provenance: Provenance | None) -> list[Check]:
    """Judge what is recorded: a seed undoes the reports, so it fails; the rest is for the reader to weigh."""
    if provenance is None:
        return []
    judged: dict[str, Outcome] = {"secure": "pass", "seeded": "fail", "unknown": "warn"}
    public: Outcome = "pass" if provenance.domain == "stated" else "warn"
    said = {
        "secure": "recorded as secure",
        "seeded": "made with a seed: who knows it can undo the reports, so they protect nobody",
        "stated": "stated in advance",
        "data": "taken from the values: that these values exist is not protected",
        "unknown": "not recorded",
    }
    checks = [
        Check("randomness", judged[provenance.randomness], said[provenance.randomness]),
        Check("domain", public, said[provenance.domain]),
    ]
    if provenance.devices is not None:
        kept: Outcome = "pass" if provenance.devices == "kept" else "warn"
        words = {
            "kept": "they keep their permanent reports",
            "new": "stated to be new: asked again, they spend again",
            "unknown": "whether they keep their permanent reports is not recorded",
        }
        checks.append(Check("devices", kept, words[provenance.devices]))
    batches = provenance.batches
    finding = ", ".join(batches) if batches else "not recorded: copies cannot be recognised"
    return [*checks, Check("batch", "pass" if batches else "warn", finding)]


def _lifetime(mechanism: Mechanism, exact: float) -> list[str]:
    """Return what it costs a person to answer more than once."""
    if not is_memoized(mechanism):
        costs = [Ledger((Rounds(Report(mechanism), answers),)).cost() for answers in (10, 100)]
        ten, hundred = (f"{cost.epsilon:.4g}" for cost in costs if cost is not None)
        return [f"Answering t times spends t times epsilon: {ten} for 10 answers, {hundred} for 100."]
    for_ever, instant = mechanism.exact_permanent_epsilon(), mechanism.exact_instant_epsilon()
    changing = "infinity from the second report on" if instant == math.inf else f"up to {instant:.4g} each"
    kept = f"at most {for_ever:.4g} together, if the device keeps its permanent report"
    return [
        f"The first report of a device costs {exact:.4g}.",
        f"All reports about a value that never changes cost {kept}.",
        f"If the value may change at any time, the reports of a history cost {changing}.",
    ]
