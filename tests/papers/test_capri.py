"""The reproduction of CAPRI: its claims, and that verdicts are computed."""

from __future__ import annotations

import pytest

from ldpkit.papers import REPRODUCTIONS, Settings, Verdict
from ldpkit.papers.capri import bound
from ldpkit.papers.capri.adversary import adversary_claims
from ldpkit.papers.capri.bound import ROWS, bound_claims, formula
from ldpkit.papers.capri.methods import RUN_COUNTS, spread_claims, spread_of
from ldpkit.papers.capri.selection import protocol_claims, selection_claims
from ldpkit.papers.capri.water import water
from ldpkit.planning.capacity.question import CapacityQuestion

QUICK = Settings(quick=True)


def test_it_is_registered():
    assert "capri" in REPRODUCTIONS


def test_figure_4_1_bounds_follow_their_formula():
    bounds = [formula(capacity, total, epsilon) for capacity, total, epsilon, _, _ in ROWS]
    assert bounds == pytest.approx([0.038546, 0.148177, 0.616733, 0.624479, 1.0], abs=5e-7)


def test_figure_4_1_claims(tmp_path):
    claims = list(bound_claims(Settings(quick=True, folder=tmp_path)))
    printed = [claim for claim in claims if claim.claim.endswith("Chebyshev bound")]
    verdicts = [claim.verdict for claim in printed]
    right, wrong = Verdict.REPRODUCED, Verdict.CORRECTED
    assert verdicts == [wrong, right, wrong, wrong, right]
    exact = {claim.ours for claim in claims if claim.claim.endswith("P(FN)")}
    assert exact == {0.0, 0.00523595, 0.10417455}
    simulated = [claim for claim in claims if "simulated" in claim.claim]
    assert [claim.verdict for claim in simulated] == [right, right], "false alarm: 5e-3, with a fixed seed"
    assert (tmp_path / "figure-4.1.png").stat().st_size > 1000


def test_a_wrong_exact_probability_would_be_noticed(monkeypatch):
    """Negative control: the simulation disagrees with an epsilon that is not its own."""
    real = bound.right_decisions
    monkeypatch.setattr(
        bound,
        "right_decisions",
        lambda oracle, question, runs, rng: real(
            type(oracle)(2, epsilon=1.1 * oracle.epsilon), question, runs, rng
        ),
    )
    claims = [claim for claim in bound_claims(QUICK) if "simulated" in claim.claim]
    assert all(claim.verdict is Verdict.NOT_REPRODUCED for claim in claims)


def test_selection_and_protocols():
    verdicts = {claim.claim: claim.verdict for claim in (*selection_claims(QUICK), *protocol_claims(QUICK))}
    assert len(verdicts) == 12
    # Two of the three numbers that the text reads off figure 5.7b follow from no data of this size.
    assert sum(verdict is Verdict.NOT_REPRODUCED for verdict in verdicts.values()) == 2


def test_the_adversary_behaves_as_in_the_figures():
    claims = list(adversary_claims(QUICK))
    assert [claim.verdict for claim in claims[:-1]] == [Verdict.REPRODUCED] * (len(claims) - 1)
    assert claims[-1].verdict is Verdict.CORRECTED


@pytest.mark.slow
def test_stability(tmp_path):
    claims = list(spread_claims(Settings(quick=True, folder=tmp_path)))
    assert len(claims) == len(RUN_COUNTS) + 2
    assert claims[-2].verdict is Verdict.REPRODUCED
    assert claims[-1].ours == 1
    assert (tmp_path / "figure-5.8.png").stat().st_size > 1000


def test_repetitions_differ_and_are_repeatable():
    question = CapacityQuestion(range(41), water(2000, 32_000), 28_000, "tp", at_least=0.9)
    first, second = (spread_of(question, 300, 6, seed=4) for _ in range(2))
    assert first == second
    assert len(set(first)) > 1
