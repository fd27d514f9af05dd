"""Plans side by side: one question put to several protocols, and what must be known of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ldpkit.core.results import TOP, Result
from ldpkit.core.tables import Table
from ldpkit.planning.plan import Plan
from ldpkit.planning.verification import Verification

__all__ = ["Plans", "left_out_note"]


@dataclass(frozen=True, eq=False, repr=False)
class Plans(Result):
    """The plans of one question.

    Parameters
    ----------
    plans : tuple of Plan
        The answers, one for each protocol and method.
    checks : tuple of Verification or None
        What independent simulations say of them; None if they were not asked.
    warnings : tuple of str
        What a user must know of the answers before collecting.
    left_out : tuple of str
        What could not be asked, and why, where all were asked for.
    """

    plans: tuple[Plan, ...]
    checks: tuple[Verification, ...] | None = field(default=None)
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What stands above the table."""
        return self.plans[0].title

    @property
    def feasible(self) -> bool:
        """Whether any protocol can do what is wanted."""
        return any(plan.feasible for plan in self.plans)

    @property
    def best(self) -> Plan:
        """The plan with the smallest epsilon; the first one if none is feasible."""
        found = [plan for plan in self.plans if plan.epsilon is not None]
        return min(found, key=lambda plan: plan.epsilon or 0.0, default=self.plans[0])

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each plan."""
        return [row for plan in self.plans for row in plan.rows()][:top]

    def facts(self) -> dict[str, Any]:
        """Return what the kinds of plans have in common beside their question."""
        checks = None if self.checks is None else self.check_rows()
        return {
            "left_out": list(self.left_out),
            "verified": checks,
            "trace": [row for plan in self.plans for row in plan.tried()],
        }

    def check_rows(self) -> list[dict[str, Any]]:
        """Return one record for each check."""
        return [asdict(check) for check in self.checks or ()]

    def notes(self) -> list[str]:
        """Return what was left out, and which plans have no answer."""
        return [*left_out_note(self.left_out), *(note for plan in self.plans for note in plan.notes())]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the plans, and below them what verified them."""
        rows = self.rows(top)
        for row in rows:
            row["epsilon"] = "infeasible" if row["epsilon"] is None else f"{row['epsilon']:.4f}"
            row.pop("feasible", None)
        tables = [Table.of(rows, title=self.title, caption=self.caption)]
        if self.checks:
            edge = (
                "epsilon stands on the edge, so its probability is near the wanted one, and holds is often "
                "'open': the interval has room for both; at 0.9 times it, it must not hold"
            )
            title = "Independent simulation at epsilon and at 0.9 times it"
            tables.append(Table.of(self.check_rows(), title=title, caption=edge))
        return tables


def left_out_note(reasons: Sequence[str]) -> list[str]:
    """Return the note that tells what "all" left out, if anything.

    Examples
    --------
    >>> left_out_note(["lgrr needs epsilon_inf and epsilon_1"]), left_out_note([])
    (["left out of 'all': lgrr needs epsilon_inf and epsilon_1"], [])
    """
    return [f"left out of 'all': {'; '.join(reasons)}"] if reasons else []
