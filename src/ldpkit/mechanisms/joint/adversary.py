"""Who a guarantee is stated against: what is known of other people and of the pairing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_whole

__all__ = ["Adversary"]


@dataclass(frozen=True)
class Adversary:
    """A collector who sees every report, and what is known besides.

    Parameters
    ----------
    known : int
        How many other people's values are known. Colluders count, and so does everybody
        whose value is known from elsewhere: with the report it tells whether that report
        is true.
    knows_grouping : bool
        Whether it is known who is paired with whom, as to a collector that made the pairs.
    share : float, optional
        The share of ones, if known. The estimate itself tells it.

    Examples
    --------
    >>> Adversary(known=5)
    Adversary(known=5, knows_grouping=False, share=None)
    >>> Adversary(known=5).text, Adversary.parse("known=5, pairing hidden") == Adversary(known=5)
    ('known=5, pairing hidden', True)
    """

    known: int = 0
    knows_grouping: bool = False
    share: float | None = None

    def __post_init__(self) -> None:
        check_whole(self.known, "known", least=0)
        if not isinstance(self.knows_grouping, bool):
            raise InvalidParameterError(f"knows_grouping is True or False, got {self.knows_grouping!r}")
        share = self.share
        if share is not None and (
            isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1
        ):
            raise InvalidParameterError(f"the share of ones lies between 0 and 1, got {share!r}")

    @property
    def text(self) -> str:
        """The adversary as files and parameters write it."""
        pairing = "known" if self.knows_grouping else "hidden"
        share = "" if self.share is None else f", share={self.share!r}"
        return f"known={self.known}, pairing {pairing}{share}"

    @property
    def words(self) -> str:
        """The adversary in a phrase."""
        known = {0: "nobody's value", 1: "one other person's value"}.get(
            self.known, f"the values of {self.known:,} other people"
        )
        pairing = "and who is paired with whom" if self.knows_grouping else "and not who is paired with whom"
        share = "" if self.share is None else f", and that a share of {self.share:g} are ones"
        return f"a collector who knows {known}, {pairing}{share}"

    @classmethod
    def parse(cls, text: str) -> Adversary:
        """Return the adversary that `text` wrote, or refuse anything else."""
        try:
            known, pairing, *share = text.split(", ")
            name, _, number = known.partition("=")
            fraction = float(share[0].removeprefix("share=")) if share else None
            made = cls(int(number), {"pairing known": True, "pairing hidden": False}[pairing], fraction)
            if name == "known" and made.text == text and (fraction is None or math.isfinite(fraction)):
                return made
        except (ValueError, KeyError, AttributeError):
            pass
        raise InvalidParameterError(
            f"not a stated adversary: {str(text)[:80]!r}; it reads like {cls(5).text!r}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return {"known": self.known, "knows_grouping": self.knows_grouping, "share": self.share}
