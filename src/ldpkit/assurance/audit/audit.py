"""What is checked of a mechanism, and of a file of its reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ldpkit.assurance.adversary import attack_on, epsilon_warnings
from ldpkit.assurance.adversary.meaning import meaning
from ldpkit.assurance.adversary.words import suspicion_in_words
from ldpkit.assurance.audit.attack import MEMORY, REPORTS, Attack, attack, least_memory
from ldpkit.assurance.audit.enumeration import Enumeration, enumerate_channel
from ldpkit.assurance.audit.of_file import check_provenance, check_reports, file_hash
from ldpkit.assurance.audit.record import AT_MOST, PERMANENT, Audit, Check
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.limits import allowed_memory, check_memory
from ldpkit.core.parameters import check_epsilon, check_whole
from ldpkit.core.provenance import Provenance
from ldpkit.core.random import RandomSource, resolve
from ldpkit.files.reportfile import ReportFile
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_memoized, is_paired, is_whole_trajectory
from ldpkit.mechanisms.tally import Tally
from ldpkit.protocols.ledger import Ledger, Report, Rounds

__all__ = ["audit"]

_FOR_A_VALUE = 96  # bytes of memory for each value of a domain


def audit(
    target: Mechanism | ReportFile | Tally,
    *,
    provenance: Provenance | None = None,
    path: Path | None = None,
    at_most: float | None = None,
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
    path : Path, optional
        The file that the reports are from, if they do not say it themselves.
    at_most : float, optional
        A limit, such as the epsilon of a privacy notice: the audit fails if the exact one is above it. Of a
        mechanism with memory, that of all reports of a device counts, about a value that never changes.
    reports : int
        How many reports of each value the attack counts.
    rng : RandomSource, optional
        The randomness of the attacked reports; secure by default, as on a device.
    watch : callable, optional
        Called with a description of each step.

    Examples
    --------
    >>> import ldpkit
    >>> audit(ldpkit.OUE(4, epsilon=1.0), reports=200_000).passed
    True
    """
    count = check_whole(reports, "reports", least=1000)
    largest = None if at_most is None else check_epsilon(at_most, "at_most")
    found: Any = target
    mechanism: Mechanism = getattr(found, "mechanism", found)
    provenance = provenance or getattr(found, "provenance", None)
    path = path or getattr(found, "path", None)
    collected = found if isinstance(found, (ReportFile, Tally)) else None
    tell = watch or (lambda _: None)
    if is_whole_trajectory(mechanism):
        raise InvalidParameterError(
            f"an audit lists one report for each value, and the reports of {mechanism.name} depend on one "
            "another: exact_epsilon() goes through all of its tables"
        )
    memory = MEMORY
    if path is not None:
        length = path.stat().st_size
        needed = max(_FOR_A_VALUE * (mechanism.domain.size or 0), least_memory(mechanism))
        check_memory(needed, length, f"an audit of {str(path)!r}")
        memory = allowed_memory(length)
    tell("computing epsilon from the integers")
    exact = mechanism.exact_epsilon()
    counted: list[Check] = []
    if collected is not None:
        tell("counting the reports")
        counted = check_reports(collected)
    tell("listing every report")
    listed = enumerate_channel(mechanism, resolve(rng))
    tell("attacking the sampler")
    attacked = attack(mechanism, reports=count, rng=rng, memory=memory)
    remembered = None
    if is_memoized(mechanism):
        tell("attacking devices that keep their permanent reports")
        remembered = attack(mechanism, reports=count, rng=rng, kept=True, memory=memory)
    by_partner = None
    if is_paired(mechanism) and mechanism.adversary is None:
        tell("attacking pairs as the partner")
        by_partner = attack(mechanism, reports=count, rng=rng, partner=True, memory=memory)
    in_all = mechanism.exact_permanent_epsilon() if is_memoized(mechanism) else None
    limit = min(mechanism.epsilon, exact)
    alone = mechanism.exact_epsilon_alone() if is_paired(mechanism) else limit
    checks = (
        _check_integers(mechanism, exact),
        *_check_permanent(mechanism, in_all),
        _check_channel(listed),
        _check_attack(attacked, min(limit, alone)),
        *([] if remembered is None else [_check_attack(remembered, limit, "attack on memory")]),
        *([] if by_partner is None else [_check_attack(by_partner, limit, "attack by the partner")]),
        *_check_size(mechanism, exact, in_all),
        *_check_at_most(exact, in_all, largest),
        *counted,
        *check_provenance(provenance),
    )
    tell("asking what it means for a person")
    return Audit(
        mechanism=mechanism,
        stated=mechanism.epsilon,
        exact=exact,
        checks=checks,
        attack=attacked,
        words=tuple(_words(mechanism, exact, in_all)),
        lifetime=tuple(_lifetime(mechanism, exact)),
        provenance=provenance,
        n=None if collected is None else collected.n,
        sha256=None if path is None else file_hash(path),
        limit=largest,
    )


def _check_integers(mechanism: Mechanism, exact: float) -> Check:
    stated = mechanism.epsilon
    finding = f"the sampler's integers realise epsilon {exact!r}, the mechanism states {stated!r}"
    if math.isinf(stated) and math.isinf(exact):
        return Check(
            "integers", "warn", f"there is no bound: {mechanism.promise()}", exact, "it has no bound"
        )
    if not exact <= stated:
        headline = "its integers realise more than the stated epsilon"
        return Check("integers", "fail", f"{finding}: it promises more than it keeps", exact, headline)
    if mechanism.tight and exact < stated - 1e-6:
        headline = "it wastes some of its budget"
        return Check("integers", "warn", f"{finding}: some of the budget is wasted", exact, headline)
    return Check("integers", "pass", finding, exact)


def _check_permanent(mechanism: Mechanism, in_all: float | None) -> list[Check]:
    """Compare what all reports of a device cost with what the mechanism states for them."""
    if in_all is None:
        return []
    stated = float(getattr(mechanism, "epsilon_inf", mechanism.epsilon))
    finding = (
        "all reports of a device, if its value never changes: the integers of its permanent report realise "
        f"epsilon {in_all!r}, the mechanism states {stated!r}"
    )
    if in_all <= stated:
        return [Check(PERMANENT, "pass", finding, in_all)]
    headline = "all reports of a device give away more than it states for them"
    return [Check(PERMANENT, "fail", finding, in_all, headline)]


def _check_channel(listed: Enumeration) -> Check:
    if listed.epsilon is None:
        return Check("channel", "not checked", listed.text)
    if not listed.sums_to_one:
        finding = f"{listed.text}: the probabilities do not sum to one"
        return Check("channel", "fail", finding, listed.epsilon, "its probabilities do not sum to one")
    keeps = listed.epsilon <= listed.exact
    word = "as the integers say" if keeps else f"above the {listed.exact!r} that it claims"
    finding = f"{listed.text}: the largest ratio is e^{listed.epsilon!r}, {word}"
    headline = "" if keeps else "some of its reports give away more than the stated epsilon"
    return Check("channel", "pass" if keeps else "fail", finding, listed.epsilon, headline)


def _check_attack(attacked: Attack, limit: float, name: str = "attack") -> Check:
    if attacked.epsilon > limit:
        finding = f"{attacked.sentence()} That is more than the {limit:.6g} promised."
        return Check(name, "fail", finding, attacked.epsilon, "an attack shows more than the stated epsilon")
    return Check(name, "pass", attacked.sentence(), attacked.epsilon)


def _check_size(mechanism: Mechanism, exact: float, in_all: float | None) -> list[Check]:
    """Warn of an epsilon that is kept, and promises little: for one report, or for all of a device."""
    said = epsilon_warnings(exact, attack=lambda: attack_on(mechanism))
    if said:
        return [Check("size", "warn", " ".join(said), headline="its epsilon is large")]
    said = epsilon_warnings(in_all, subject="all reports of a device")
    told = " ".join(said).replace("Whatever the report is", "Whatever they are")
    return [Check("size", "warn", told, headline="its epsilon for all reports is large")] if said else []


def _check_at_most(exact: float, in_all: float | None, largest: float | None) -> list[Check]:
    """Compare epsilon with the limit that the reviewer gave; with memory, that of all reports of a device."""
    if largest is None:
        return []
    if in_all is None:
        what, found, whose = f"epsilon {exact!r}", exact, ""
    else:
        whose = " for all reports of a device"
        what = f"epsilon {in_all!r}{whose}, if its value never changes, and {exact!r} for the first report,"
        found = max(exact, in_all)
    if found <= largest:
        return [Check(AT_MOST, "pass", f"{what} is within the limit of {largest!r}")]
    headline = f"its epsilon{whose}, {found:.6g}, is above the limit of {largest:.6g}"
    return [Check(AT_MOST, "fail", f"{what} is above the limit of {largest!r}", headline=headline)]


def _words(mechanism: Mechanism, exact: float, in_all: float | None) -> list[str]:
    """Return what epsilon means for a person; with memory, of one report and of all of them apart."""
    found = meaning(mechanism, exact)
    if in_all is None:
        return found
    one = [
        each.replace("A report", "One report", 1)
        if each.startswith("A report ")
        else f"One report: {each[:1].lower()}{each[1:]}"
        for each in found
    ]
    said = suspicion_in_words(in_all).removeprefix("Whatever the report is")
    return [*one, f"All reports, if the value never changes: whatever they are{said}"]


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
