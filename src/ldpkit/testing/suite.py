"""Which checks a mechanism must pass, and the function that runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ldpkit.core.errors import ContractError, InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS, Mechanism
from ldpkit.mechanisms.kinds import (
    is_circular,
    is_frequency,
    is_group,
    is_numeric,
    is_spatial,
    is_whole_trajectory,
)
from ldpkit.testing import (
    circular,
    device,
    epsilon,
    identity,
    inputs,
    moments,
    numeric,
    randomness,
    sampler,
    spatial,
    tallies,
    wire,
)
from ldpkit.testing.examples import allowed_size, example, variant
from ldpkit.testing.expect import NotApplicableError

__all__ = ["ContractCheck", "ContractReport", "check_mechanism", "checks_for"]

Run = Callable[[Any], None]

_EVERY = (*identity.CHECKS, *inputs.CHECKS, *randomness.CHECKS, *wire.CHECKS, *tallies.CHECKS)
_FREQUENCY = (*inputs.FREQUENCY, *epsilon.FREQUENCY, *sampler.FREQUENCY, *moments.FREQUENCY)
_PURE = (*epsilon.PURE, *sampler.PURE, *moments.PURE)
_CIRCULAR = (*epsilon.NUMERIC, *sampler.NUMERIC, *circular.CIRCULAR)
_NUMERIC = (*inputs.NUMERIC, *epsilon.NUMERIC, *sampler.NUMERIC, *numeric.NUMERIC)


@dataclass(frozen=True)
class ContractCheck:
    """One clause of the contract.

    Parameters
    ----------
    name : str
        What `check_mechanism` calls it.
    run : callable
        Takes a mechanism; raises ContractError with what was expected and what was found.

    Examples
    --------
    >>> import ldpkit
    >>> [check.name for check in ldpkit.testing.checks_for(ldpkit.GRR(4, epsilon=1))][:2]
    ['description', 'declaration']
    """

    name: str
    run: Run

    @property
    def clause(self) -> str:
        """The clause in words."""
        return (self.run.__doc__ or "").split("\n")[0]

    def __call__(self, mechanism: Mechanism) -> str | None:
        """Run the check; return None, or why it does not apply."""
        try:
            self.run(mechanism)
        except NotApplicableError as reason:
            return str(reason)
        except ContractError:
            raise
        except Exception as error:
            raise ContractError(f"expected no exception, found {type(error).__name__}: {error}") from error
        return None


@dataclass(frozen=True)
class ContractReport:
    """What `check_mechanism` did.

    Parameters
    ----------
    mechanism : Mechanism
        What was checked.
    passed : tuple of str
        The checks that it passed.
    skipped : tuple of (str, str)
        The checks that do not apply, with the reason.

    Examples
    --------
    >>> import ldpkit
    >>> report = ldpkit.testing.check_mechanism("grr", only=("epsilons", "channels"))
    >>> report
    GRR(13, epsilon=1) passes 2 checks
    """

    mechanism: Mechanism
    passed: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        skipped = "".join(f"\n  skipped {name}: {reason}" for name, reason in self.skipped)
        count = len(self.passed)
        return f"{self.mechanism!r} passes {count} {'check' if count == 1 else 'checks'}{skipped}"


def checks_for(mechanism: Mechanism | str) -> tuple[ContractCheck, ...]:
    """Return the checks that apply to a mechanism by its kind and capabilities.

    Examples
    --------
    >>> [check.name for check in checks_for("grr")][:3]
    ['description', 'declaration', 'frozen']
    >>> checks_for("grr")[2].clause
    'No attribute can be set or removed.'
    """
    kind: type[Mechanism] = MECHANISMS.get(mechanism) if isinstance(mechanism, str) else type(mechanism)
    if is_group(kind):
        raise InvalidParameterError(
            f"the contract is about one report for each person, and {kind.name} makes one for a group of "
            "people: use ldpkit.audit, which lists its reports and attacks its sampler"
        )
    if is_whole_trajectory(kind):
        raise InvalidParameterError(
            f"the contract is about one report for each person, and the reports of {kind.name} depend on one "
            "another: list its tables, as exact_epsilon does"
        )
    runs: tuple[Run, ...] = _EVERY
    if is_frequency(kind):
        runs += _FREQUENCY + (_PURE if kind.can("pure") else ())
    elif is_numeric(kind):
        runs += _NUMERIC
    elif is_circular(kind):
        runs += _CIRCULAR
    elif is_spatial(kind):
        runs += spatial.SPATIAL
    if kind.can("client"):
        runs += device.CHECKS
    return tuple(ContractCheck(run.__name__.removeprefix("check_"), run) for run in runs)


def check_mechanism(mechanism: Mechanism | str, *, only: tuple[str, ...] = ()) -> ContractReport:
    """Run every check of the contract that applies to a mechanism.

    Parameters
    ----------
    mechanism : Mechanism or str
        A mechanism, or a registered name.
    only : tuple of str
        The names of some checks, to run these alone.

    Returns
    -------
    ContractReport
        What was checked, and what does not apply.

    Raises
    ------
    ContractError
        With every check that failed, what it expected and what it found.
    InvalidParameterError
        If the contract does not cover mechanisms of that kind, such as one report for a group.

    Examples
    --------
    >>> import ldpkit
    >>> ldpkit.testing.check_mechanism("grr", only=("frozen", "wire_form"))
    GRR(13, epsilon=1) passes 2 checks
    """
    subject, checks = _subject(mechanism), checks_for(mechanism)
    unknown = set(only) - {check.name for check in checks}
    if unknown:
        raise InvalidParameterError(
            f"{subject!r} has no check {sorted(unknown)[0]!r}: choose from "
            f"{', '.join(check.name for check in checks)}"
        )
    _require_makeable(subject)
    chosen = [check for check in checks if not only or check.name in only]
    passed, skipped, failed = [], [], []
    for check in chosen:
        try:
            reason = check(subject)
        except ContractError as error:
            failed.append(f"\n- {check.name} ({check.clause}) {error}")
        else:
            if reason is None:
                passed.append(check.name)
            else:
                skipped.append((check.name, reason))
    if failed:
        raise ContractError(f"{subject!r} fails {len(failed)} of {len(chosen)} checks:{''.join(failed)}")
    return ContractReport(subject, tuple(passed), tuple(skipped))


def _require_makeable(subject: Any) -> None:
    """Refuse a mechanism without integers, or whose siblings have none: every check would say the same."""
    sizes = {allowed_size(subject, size) for size in (2, 13)} if is_frequency(subject) else set[int]()
    for each in (subject, *(variant(subject, size) for size in sorted(sizes))):
        try:
            _ = each is None or each.exact_epsilon()
        except InvalidParameterError as error:
            raise ContractError(f"{each!r} cannot be made, so nothing is checked: {error}") from error


def _subject(mechanism: Mechanism | str) -> Any:
    return example(mechanism) if isinstance(mechanism, str) else mechanism
