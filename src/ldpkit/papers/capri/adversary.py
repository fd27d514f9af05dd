"""Figures 6.1 to 6.5: what the Bayesian adversary learns from one report about water."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from ldpkit.assurance.adversary import Risk, risk
from ldpkit.assurance.adversary.compare import Risks
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import frequency_oracle
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.papers.capri.water import LARGEST, water

__all__ = ["adversary_claims"]

EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
ETAS = (0, 5, 10, 20)
FIGURES = {0: "6.2", 5: "6.3", 10: "6.4", 20: "6.5"}
PAPER_NAMES = {"grr": "GRR", "oue": "OUE", "sue": "RAPPOR"}
NOTE = "exact, with a uniform prior, on the stand-in data"


def adversary_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the trends of each figure, and the order of the protocols."""
    found = {eta: _risks(eta) for eta in ETAS}
    first = found[ETAS[0]]
    success = {name: [each.success for each in risks] for name, risks in first.items()}
    error = {
        name: [each.squared_error for each in risks if each.squared_error is not None]
        for name, risks in first.items()
    }
    yield _claim("figure 6.1: ASR grows with epsilon", all(map(_grows, success.values())), _ends(success))
    falls = all(_grows([-value for value in line]) for line in error.values())
    yield _claim("figure 6.1: MSE falls with epsilon", falls, _ends(error))
    order = _in_order(success)
    yield _claim("figure 6.1: ASR of GRR is the highest, of RAPPOR the lowest", order, _ends(success))
    for eta in ETAS:
        scores = {name: [each.f_score or 0.0 for each in risks] for name, risks in found[eta].items()}
        title = f"figure {FIGURES[eta]} (eta = {eta}): F-score"
        yield _claim(f"{title} grows with epsilon", all(map(_grows, scores.values())), _ends(scores))
        yield _claim(
            f"{title} of GRR is the highest, then OUE, then RAPPOR", _in_order(scores), _ends(scores)
        )
    by_eta = [found[eta]["grr"][0].f_score or 0.0 for eta in ETAS]
    yield _claim(
        "figures 6.2-6.5: the F-score grows with eta", _grows(by_eta), f"GRR, epsilon 0.5: {_list(by_eta)}"
    )
    yield _informed()
    if settings.folder is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.figures.risk import risks_figure

        for eta in ETAS:
            named = (
                replace(each, name=PAPER_NAMES[name]) for name, risks in found[eta].items() for each in risks
            )
            drawn = risks_figure(Risks(tuple(named), LARGEST + 1))
            save_figure(drawn, settings.folder / f"figures-6.1-and-{FIGURES[eta]}.png")


def _risks(eta: float) -> dict[str, list[Risk]]:
    people = water()
    return {
        name: [risk(_oracle(name, each), people=people, eta=eta) for each in EPSILONS] for name in PAPER_NAMES
    }


def _oracle(name: str, epsilon: float) -> FrequencyOracle:
    return frequency_oracle(name, LARGEST + 1, epsilon=epsilon)


def _informed() -> Claim:
    """Return what changes if the adversary knows how common each value is."""
    people = water()
    at = {name: risk(_oracle(name, 1.0), people).success for name in PAPER_NAMES}
    published, best = "GRR", PAPER_NAMES[max(at, key=lambda name: at[name])]
    return Claim(
        "an adversary who knows the frequencies: protocol with the highest ASR at epsilon 1",
        published,
        best,
        0.0,
        Verdict.REPRODUCED if best == published else Verdict.CORRECTED,
        ", ".join(f"{PAPER_NAMES[name]} {value:.4f}" for name, value in at.items())
        + "; the thesis does not say which prior it takes, and its order needs a uniform one",
    )


def _claim(claim: str, holds: bool, note: str) -> Claim:
    verdict = Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED
    return Claim(claim, "yes", "yes" if holds else "no", 0.0, verdict, f"{note}; {NOTE}")


def _grows(values: list[float]) -> bool:
    return all(low < high for low, high in pairwise(values))


def _in_order(lines: dict[str, list[float]]) -> bool:
    rows = zip(lines["grr"], lines["oue"], lines["sue"], strict=True)
    return all(first > second > third for first, second, third in rows)


def _ends(lines: dict[str, list[float]]) -> str:
    return ", ".join(f"{PAPER_NAMES[name]} {line[0]:.3g} to {line[-1]:.3g}" for name, line in lines.items())


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)
