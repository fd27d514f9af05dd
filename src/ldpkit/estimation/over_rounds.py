"""Several rounds together, and the change from one to another, of people who may be the same.

Rounds of a collection ask the same people, and reports made from one permanent report go
together, but nobody can link them: how far the errors of two rounds go together is unknown. So
standard errors add, sd(A) + sd(B), as if they went together in the worst way, and so do the
halves of intervals. Where every device answers once, rounds are of different people, and tallies
simply add.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.results import Result

__all__ = ["OverRounds", "change", "together"]


class OverRounds(Result):
    """What several rounds tell together; made by `together` and `change`.

    Parameters
    ----------
    rounds : sequence of int
        The rounds.
    n : int
        How many answers they have together.
    level : float
        The confidence of the intervals.
    found : sequence of dict
        A row for each value or statistic: its name, estimate, standard error and interval.
    is_change : bool
        Whether it is the second round less the first, or all together.
    """

    kind: ClassVar[str] = "rounds"

    def __init__(
        self, rounds: Sequence[int], n: int, level: float, found: Sequence[dict[str, Any]], *, is_change: bool
    ) -> None:
        self.rounds, self.n, self.level, self.is_change = tuple(rounds), n, level, is_change
        self._found = [dict(row) for row in found]

    @property
    def title(self) -> str:
        """The title above the table."""
        if self.is_change:
            return f"Change from round {self.rounds[0]} to round {self.rounds[1]}"
        return f"Rounds {', '.join(map(str, self.rounds))} together, {self.n} answers"

    @property
    def caption(self) -> str:
        """What the intervals hold for."""
        return (
            f"{self.level:.0%} intervals; the same people may have answered in each round, so their "
            "standard errors add"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return value, estimate, stderr, low and high of each."""
        return [dict(row) for row in self._found[:top]]

    def about(self) -> dict[str, Any]:
        """Return which rounds these are."""
        return {"rounds": list(self.rounds), "answers": self.n, "level": self.level, "change": self.is_change}


def together(estimates: Sequence[Any], rounds: Sequence[int], *, level: float = 0.95) -> OverRounds:
    """Return what some rounds tell together: each answer counts the same.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=2.0)
    >>> weeks = [oracle.tally([1] * ones + [0] * (1000 - ones)).estimate() for ones in (700, 650)]
    >>> for row in together(weeks, [0, 1]).rows():
    ...     print(row["value"], round(row["estimate"], 3), round(row["low"], 3), round(row["high"], 3))
    no 0.27 0.243 0.296
    yes 0.73 0.704 0.756
    """
    n = sum(each.n for each in estimates)
    if not estimates or n == 0:
        raise InvalidInputError("there are no answers in these rounds")
    tables = [_rows(each, level) for each in estimates]
    shares = [each.n / n for each in estimates]
    found = []
    for parts in zip(*tables, strict=True):
        row = {"value": parts[0]["value"]}
        for name in ("estimate", "stderr", "low", "high"):
            row[name] = sum(share * part[name] for share, part in zip(shares, parts, strict=True))
        found.append(row)
    return OverRounds(rounds, n, level, found, is_change=False)


def change(first: Any, second: Any, rounds: Sequence[int], *, level: float = 0.95) -> OverRounds:
    """Return the second round less the first, with intervals that hold for the same people.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=2.0)
    >>> before, after = (oracle.tally([1] * ones + [0] * (10_000 - ones)).estimate() for ones in (6000, 7000))
    >>> row = change(before, after, [0, 1]).rows()[1]
    >>> round(row["estimate"], 3), round(row["low"], 3), round(row["high"], 3)
    (0.131, 0.115, 0.148)
    """
    found = []
    for old, new in zip(_rows(first, level), _rows(second, level), strict=True):
        moved = new["estimate"] - old["estimate"]
        found.append(
            {
                "value": old["value"],
                "estimate": moved,
                "stderr": old["stderr"] + new["stderr"],
                "low": moved - (new["estimate"] - new["low"]) - (old["high"] - old["estimate"]),
                "high": moved + (new["high"] - new["estimate"]) + (old["estimate"] - old["low"]),
            }
        )
    return OverRounds(rounds, first.n + second.n, level, found, is_change=True)


def _rows(estimate: Any, level: float) -> list[dict[str, Any]]:
    """Return value, estimate, standard error and interval of each row of an estimate."""
    low, high = estimate.interval(level)
    if estimate.kind == "mean":
        columns: list[Any] = [["mean"], [estimate.mean], [estimate.stderr], [low], [high]]
    elif estimate.kind == "frequencies":
        names = [row["value"] for row in estimate.rows()]
        columns = [names, *(each.tolist() for each in (estimate.values, estimate.stderr, low, high))]
    else:
        raise InvalidParameterError(
            f"rounds of {estimate.kind} can only be estimated one by one: only frequencies and means can "
            "be combined"
        )
    return [
        dict(zip(("value", "estimate", "stderr", "low", "high"), row, strict=True))
        for row in zip(*columns, strict=True)
    ]
