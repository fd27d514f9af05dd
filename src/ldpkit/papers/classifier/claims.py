"""The forms that a claim of this chapter takes, and the verdict that follows from the numbers."""

from __future__ import annotations

from ldpkit.papers import Claim, Verdict, compare

__all__ = ["drawn", "holds", "number", "ours"]


def number(
    claim: str, printed: float, found: float, rounding: float, note: str = "", *, wrong: bool = False
) -> Claim:
    """Return the claim that a number is what is printed, but for its last digit.

    `wrong` says that, if it is not, the reason is known and stands in the note.
    """
    agrees = compare(printed, found, 0.0, rounding=rounding)
    otherwise = Verdict.CORRECTED if wrong else Verdict.NOT_REPRODUCED
    verdict = Verdict.REPRODUCED if agrees else otherwise
    return Claim(claim, round(printed, 6), round(found, 6), 0.0, verdict, note)


def drawn(
    claim: str, published: float, draws: int, exact: float, note: str = "", *, coded: float | None = None
) -> Claim:
    """Return the claim that a share of so many draws is near the exact probability: 3 standard errors.

    `coded` is what the published code estimates, if that is something else: then the claim is corrected.
    """
    stderr = (exact * (1 - exact) / draws) ** 0.5
    verdict = Verdict.NOT_REPRODUCED
    if compare(published, exact, stderr, rounding=0.0005):
        verdict = Verdict.REPRODUCED
    elif coded is not None and compare(published, coded, stderr, rounding=0.0005):
        verdict = Verdict.CORRECTED
    text = f"exact; the standard error is that of {draws:,} draws"
    return Claim(
        claim, published, round(exact, 4), round(stderr, 4), verdict, f"{text}; {note}" if note else text
    )


def ours(claim: str, found: float | str, note: str, stderr: float | None = 0.0) -> Claim:
    """Return a number of ours with nothing in the thesis to compare it with."""
    rounded = found if isinstance(found, str) else round(found, 4)
    return Claim(claim, None, rounded, stderr, Verdict.NOT_IN_PAPER, note)


def holds(
    claim: str, said: str, found: str, *, so: bool, note: str = "", wrong: bool = False, stderr: float = 0.0
) -> Claim:
    """Return a claim in words: whether what was said is so."""
    otherwise = Verdict.CORRECTED if wrong else Verdict.NOT_REPRODUCED
    return Claim(claim, said, found, stderr, Verdict.REPRODUCED if so else otherwise, note)
