"""AAA's claims: what private noise gives."""

import os

import pytest

from ldpkit.papers import REPRODUCTIONS, Settings, Verdict
from ldpkit.papers.aaa import error, noise, settings, variance

needs_data = pytest.mark.skipif("LDPKIT_DATA" not in os.environ, reason="LDPKIT_DATA names no data folder")
QUICK = Settings(quick=True, seed=1)


def by_name(claims):
    return {claim.claim: claim for claim in claims}


@pytest.fixture(scope="module")
def variances():
    return by_name(variance.variance_claims(QUICK))


def test_it_is_registered():
    assert "figures 1-6" in REPRODUCTIONS.get("aaa").title


def test_half_of_the_best_rival_becomes_nine_tenths(variances):
    claim = variances["figure 3a N(0, 0.1^2), eps=1: AAA's variance over the best rival's"]
    assert claim.published == 0.5
    assert claim.ours == pytest.approx(0.9066, abs=2e-4)
    assert claim.verdict is Verdict.CORRECTED


def test_known_data_are_never_worse_off_with_aaa(variances):
    ratios = [claim.ours for name, claim in variances.items() if "over the best rival's" in name]
    assert len(ratios) == 12
    assert max(ratios) < 1
    assert min(ratios) == pytest.approx(0.4132, abs=2e-4)


def test_the_gap_vanishes_with_epsilon(variances):
    for name in ("3a N(0, 0.1^2)", "3b Exp(6) - 1", "3c 2 Beta(.5, .5) - 1"):
        claim = variances[f"figure {name}: the gap grows rapidly as epsilon goes to 0"]
        assert claim.verdict is Verdict.CORRECTED


def test_the_range_of_the_paper_is_too_short(variances):
    claim = variances["section 7.1: M = 3N serves all epsilon in (0, 4]"]
    assert claim.ours == "from 0.405 on; infeasible at 0.4"


def test_the_printed_program_is_caught_and_the_noise_has_the_shape_of_figure_2(tmp_path):
    claims = by_name(noise.noise_claims(Settings(quick=True, seed=1, folder=tmp_path)))
    printed = claims["equation 15 as printed: epsilon at N=4, M=8"]
    assert (printed.ours, printed.verdict) == ("infinite", Verdict.CORRECTED)
    assert claims["equation 15 with tails constrained: epsilon at N=4, M=8"].ours == pytest.approx(
        1, abs=1e-5
    )
    assert all(claim.verdict is Verdict.REPRODUCED for name, claim in claims.items() if "figure 2" in name)
    assert (tmp_path / "figures-1-2-noise.png").read_bytes().startswith(b"\x89PNG")


def test_people_are_those_of_section_7_2():
    gaussian, exponential = error.people("gaussian", 1000), error.people("exponential", 1000)
    assert gaussian.values.std() == pytest.approx(0.2, rel=0.01)
    assert (exponential.values.min(), exponential.values.max()) == (pytest.approx(-1, abs=1e-3), 1)
    assert set(error.people("bernoulli", 10).values) == {-1, 1}


@pytest.mark.slow
@needs_data
def test_on_real_data_aaa_wins_with_a_large_budget_only():
    claims = by_name(error.real_claims(QUICK))
    verdicts = [
        claims[
            f"figure 5 retirement, sample of 10000, eps={epsilon}: AAA's error over the best unbiased rival's"
        ].verdict
        for epsilon in ("0.5", "2", "4")
    ]
    assert verdicts == [Verdict.CORRECTED, Verdict.REPRODUCED, Verdict.REPRODUCED], "the seed is fixed"
    assert claims["figure 5 taxi"].verdict is Verdict.NO_DATA


def test_without_the_data_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("LDPKIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    claims = by_name(error.real_claims(QUICK))
    assert claims["figure 5 retirement"].verdict is Verdict.NO_DATA
    assert "sf_retirement_sample.csv" in claims["figure 5 retirement"].note


@pytest.mark.slow
def test_a_range_of_two_is_infeasible():
    curves = {}
    claims = list(settings._ranges(QUICK, curves))
    assert [claim.note.split(" cannot")[0] for claim in claims] == ["q = 2, 4", "q = 2", "q = 2"]
    (drawn,) = curves.values()
    assert [sorted(means) for means in drawn.values()] == [[8, 16], [4, 8, 16], [4, 8, 16]]
