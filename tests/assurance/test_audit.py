"""The audit passes what keeps its promise, and fails what does not."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

import ldpkit
from contract.subjects import ORACLE_NAMES, oracle
from ldpkit.assurance.audit import attack
from ldpkit.assurance.audit.attack import least_memory, lower_bound
from ldpkit.assurance.audit.enumeration import enumerate_channel
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import WORD, RandomisedResponse
from ldpkit.core.provenance import Provenance, Span
from ldpkit.mechanisms.longitudinal.chain import ChainedResponse

FEW = 8_000  # reports show that an oracle of epsilon 1.5 (SHE, THE: 2) exceeds 1, with each of eight seeds


def outcomes(found):
    return {check.name: check.outcome for check in found.checks}


WHOLE = ldpkit.list_mechanisms(kind="trajectory")


@pytest.mark.parametrize("name", [each for each in ldpkit.list_mechanisms() if each not in WHOLE])
def test_every_registered_mechanism_passes(name):
    mechanism = oracle(name, 6, 1.0) if name in ORACLE_NAMES else ldpkit.testing.example(name)
    reports = FEW if name in ORACLE_NAMES else 20_000
    found = ldpkit.audit(mechanism, reports=reports, rng=ldpkit.random.seeded(5))
    assert found.passed, f"false-alarm rate 1e-6 for the attack: {found!r}"
    assert outcomes(found)["channel"] == ("not checked" if name == "she" else "pass")
    assert found.attack.epsilon > 0.05, "the attack sees next to nothing: it would not see a breach either"


@pytest.mark.parametrize("name", WHOLE)
def test_mechanisms_of_whole_trajectories_are_refused_with_the_reason(name):
    """Their tables are enumerated in tests/mechanisms/spatial."""
    with pytest.raises(ldpkit.LdpkitError, match="depend on one another"):
        ldpkit.audit(ldpkit.testing.example(name))


@pytest.mark.parametrize(("name", "epsilon"), [("grr", 1.5), ("oue", 1.5), ("olh", 1.5), ("she", 2.0)])
def test_the_same_few_reports_show_half_as_much_epsilon_again(name, epsilon):
    found = attack(oracle(name, 6, epsilon), reports=FEW, rng=ldpkit.random.seeded(5))
    assert found.epsilon > 1, "the negative control passes: so few reports would not show a breach of 1"


class Careless(ldpkit.GRR):
    """Says 1, in every integer it shows; its sampler uses 1.02."""

    def _randomise(self, indices, source):
        return ldpkit.GRR(self.domain, 1.02 * self.epsilon)._randomise(indices, source)


def test_a_sampler_that_realises_two_percent_more_is_caught_by_the_attack_alone():
    found = ldpkit.audit(Careless(4, 1.0), rng=ldpkit.random.seeded(1))
    assert outcomes(found) == {"integers": "pass", "channel": "pass", "attack": "fail"}
    assert 1.0 < found.attack.epsilon < 1.02
    assert "more than the 1 promised" in repr(found)


class Whispering(ldpkit.JRR):
    """Says in every integer that a partner learns little; its sampler never lets both lie."""

    @property
    def both(self):
        return 0


def test_partners_who_learn_too_much_are_caught_by_the_attack_of_the_partner_alone():
    honest = ldpkit.audit(ldpkit.JRR(2, 1, 2), reports=50_000, rng=ldpkit.random.seeded(1))
    assert outcomes(honest)["attack by the partner"] == "pass"
    found = ldpkit.audit(Whispering(2, 1, 2), reports=50_000, rng=ldpkit.random.seeded(1))
    assert outcomes(found)["attack"] == "pass", "a report on its own is that of GRR"
    assert outcomes(found)["attack by the partner"] == "fail"


def test_a_report_that_keeps_the_epsilon_of_pairs_and_not_its_own_is_caught():
    class Loud(ldpkit.JRR):
        def _randomise(self, indices, source):
            return ldpkit.GRR(self.domain, 1.2)._randomise(indices, source)

    found = ldpkit.audit(Loud(2, 1, 2), reports=100_000, rng=ldpkit.random.seeded(1))
    assert outcomes(found)["attack"] == "fail", "1.2 is less than the 2 towards anyone, and more than 1 alone"


def test_pairs_without_an_epsilon_towards_anyone_do_not_pass_unseen():
    stated = ldpkit.JRR(2, 1, adversary=ldpkit.Adversary(known=0))
    found = ldpkit.audit(stated, reports=1000, rng=ldpkit.random.seeded(1))
    assert outcomes(found)["integers"] == "warn"
    assert stated.promise() in repr(found)


class Boastful(ldpkit.GroupCount):
    """Says 1; the group computes with the noise of 1.02."""

    def respond(self, totals, source):
        return ldpkit.GroupCount(self.size, 1.02 * self.epsilon).respond(totals, source)


def test_a_group_that_realises_two_percent_more_is_caught_by_the_attack_alone():
    found = ldpkit.audit(Boastful(2, 1.0), rng=ldpkit.random.seeded(1))
    assert outcomes(found) == {"integers": "pass", "channel": "pass", "attack": "fail"}


class Overspent(ldpkit.GRR):
    """Says 1; its integers are those of 1.02."""

    @cached_property
    def response(self):
        return RandomisedResponse(self.size, 1.02 * self.epsilon)


def test_integers_that_realise_two_percent_more_are_caught_by_arithmetic():
    found = ldpkit.audit(Overspent(4, 1.0), reports=1000, rng=ldpkit.random.seeded(1))
    assert outcomes(found)["integers"] == "fail"
    assert not found.passed


class _PublishedChain(ChainedResponse):
    """The second round as printed for L-LH, without the term + e^eps_1 (errata 3)."""

    @cached_property
    def second(self):
        a, b, g = math.exp(self.permanent_target), math.exp(self.target), self.size
        p2 = (a * b - 1) / (a * b - (g - 1) * b + (g - 1) * a - 1 - b)
        made = RandomisedResponse(g, self.target)
        made.__dict__["width"] = int(Fraction(1 - p2) / (g - 1) * WORD)
        made.__dict__["keep"] = WORD - (g - 1) * made.__dict__["width"]
        return made


class Published(ldpkit.LBLH):
    """L-LH as published: it claims epsilon_1 because the formula says so."""

    name = "published_lblh"

    @cached_property
    def response(self):
        return _PublishedChain(self.state_count, self.epsilon, self.epsilon_inf)

    def exact_epsilon(self):
        return self.epsilon


def test_the_published_local_hashing_fails():
    found = ldpkit.audit(Published(16, 2.0, 1.0), reports=200_000, rng=ldpkit.random.seeded(2))
    assert outcomes(found)["attack"] == "fail"
    assert outcomes(found)["channel"] == "fail"
    assert 1.35 < found.attack.epsilon < 1.450760  # which it is by enumeration


class Leak(ldpkit.OUE):
    """Keeps its promise for all values but one, which it sends as it is."""

    def _randomise(self, indices, source):
        reports = super()._randomise(indices, source)
        reports[indices == 7] = 0
        reports[indices == 7, 0] = 1 << 7
        return reports


def test_a_single_value_that_leaks_is_found():
    found = attack(Leak(16, 1.0), reports=20_000, rng=ldpkit.random.seeded(3))
    assert found.epsilon > 2
    assert 7 in (found.first, found.second)


def test_the_lower_bound_is_too_high_no_more_often_than_it_says():
    """Exact, by summing over all counts of 40 reports with p = 0.7 and q = 0.3."""
    from scipy.stats import binom

    n, alarm, p, q = 40, 0.01, 0.7, 0.3
    own, other = (binom.pmf(np.arange(n + 1), n, share) for share in (p, q))
    wrong = sum(
        own[i] * other[j]
        for i in range(n + 1)
        for j in range(n + 1)
        if lower_bound((i, j), n, alarm) > math.log(p / q)
    )
    assert wrong <= alarm
    naive = sum(
        own[i] * other[j]
        for i in range(1, n + 1)
        for j in range(1, n + 1)
        if math.log(i / j) > math.log(p / q)
    )
    assert naive > alarm, "the control: the plain ratio exceeds the truth about half the time"


def test_what_a_file_records_is_judged():
    said = Provenance("seeded", "data", spans=(Span("0" * 32, 0, 5),))
    found = ldpkit.audit(ldpkit.GRR(2, 1.0), provenance=said, reports=1000, rng=ldpkit.random.seeded(1))
    judged = outcomes(found)
    assert (judged["randomness"], judged["domain"], judged["batch"]) == ("fail", "warn", "info")
    assert not found.passed
    sound = Provenance("secure", "stated", spans=(Span("0" * 32, 0, 5),))
    assert ldpkit.audit(ldpkit.GRR(2, 1.0), provenance=sound, reports=1000).passed


class Padded(ldpkit.OUE):
    """Sends the value in clear in bits that no value has: nothing that counts supports sees it."""

    def _randomise(self, indices, source):
        reports = super()._randomise(indices, source)
        reports[:, -1] |= (indices & 7).astype(np.uint8) << 5
        return reports

    def _is_valid(self, reports):
        return np.ones(len(reports), bool)


class Rare(ldpkit.GRR):
    """Sends one value of a thousand as it is."""

    def _randomise(self, indices, source):
        reports = super()._randomise(indices, source)
        reports[indices == 617] = 617
        return reports


def test_bits_that_mean_nothing_are_looked_at_too():
    assert attack(Padded(5, 1.0), reports=20_000, rng=ldpkit.random.seeded(3)).epsilon > 3


def test_one_leaking_value_of_a_thousand_is_found():
    found = attack(Rare(1000, 1.0), reports=20_000, rng=ldpkit.random.seeded(3))
    assert found.epsilon > 2
    assert found.first == 617


class LeaksFromMemory(ldpkit.LGRR):
    """Honest with new devices, but what one device derives from its secret is the value itself."""

    name = "leaks_from_memory"

    def memorise(self, coins, states, source):
        return (
            states.astype(self.report_dtype) if len(states) == 1 else super().memorise(coins, states, source)
        )


def test_a_permanent_report_that_leaks_only_on_devices_with_a_secret_is_found():
    control = LeaksFromMemory(3, 2.0, 1.0)
    found = ldpkit.audit(control, reports=100_000, rng=ldpkit.random.seeded(5))
    assert (outcomes(found)["attack"], outcomes(found)["attack on memory"]) == ("pass", "fail")
    assert not found.passed
    honest = ldpkit.audit(ldpkit.LGRR(3, 2.0, 1.0), reports=100_000, rng=ldpkit.random.seeded(5))
    assert outcomes(honest)["attack on memory"] == "pass"


@pytest.mark.parametrize(("at_most", "outcome"), [(1.5, "fail"), (2.0, "pass")])
def test_a_limit_is_for_all_reports_of_a_device(at_most, outcome):
    found = ldpkit.audit(ldpkit.LGRR(3, 2.0, 1.0), at_most=at_most, reports=2000)
    assert outcomes(found)["at most"] == outcome
    assert found.passed is (outcome == "pass")
    told = "its epsilon for all reports of a device, 2, is above the limit of 1.5"
    assert (told in found.verdict) is (outcome == "fail")
    if found.passed:
        assert found.verdict == "PASSED, if no device's value ever changes"
        assert "if its value never changes" in next(
            each.finding for each in found.checks if each.name == "permanent"
        )


class ForgetsTheFirstRound(ldpkit.LGRR):
    """States less for all reports of a device than its permanent report gives away."""

    name = "forgets_the_first_round"

    def exact_permanent_epsilon(self):
        return 3.0


def test_what_all_reports_of_a_device_cost_is_compared_with_what_is_stated():
    honest = ldpkit.audit(ldpkit.LGRR(3, 2.0, 1.0), reports=2000)
    (check,) = (each for each in honest.checks if each.name == "permanent")
    assert (check.outcome, check.epsilon) == ("pass", pytest.approx(2.0, abs=1e-6))
    broken = ldpkit.audit(ForgetsTheFirstRound(3, 2.0, 1.0), reports=2000)
    assert "all reports of a device give away more than it states" in broken.verdict
    assert "permanent" not in outcomes(ldpkit.audit(ldpkit.GRR(3, 1.0), reports=2000))


def test_what_one_report_means_and_what_all_of_them_mean_stand_apart():
    *one, every = ldpkit.audit(ldpkit.LGRR(3, 2.0, 1.0), reports=2000).words
    assert all(each.startswith("One report") for each in one)
    assert "a suspicion of 50% grows to at most 73.2%" in one[-1]
    assert every.startswith("All reports, if the value never changes: whatever they are, a suspicion of 50%")
    assert "grows to at most 88.1%" in every


def test_reports_of_a_value_that_changes_add_up_all_the_same():
    found = ldpkit.audit(ldpkit.LGRR(3, 2.0, 1.0), reports=2000)
    _, (said, *_) = found.sections()["not_promised"]
    assert said.endswith("unless the device keeps its answer and its value never changes.")


def test_a_large_epsilon_of_all_reports_is_called_large():
    found = ldpkit.audit(ldpkit.LGRR(3, 6.0, 1.0), reports=2000)
    (said,) = (each.finding for each in found.checks if each.name == "size")
    assert said.startswith("all reports of a device: epsilon 6 is large. Whatever they are,")
    assert "its epsilon for all reports is large" in found.verdict


@pytest.mark.parametrize("oracle", [ldpkit.get("dbitflip", 1 << 25, epsilon=1.0), ldpkit.OUE(1 << 26, 1.0)])
def test_what_does_not_fit_into_memory_is_refused_before_a_report_is_drawn(oracle):
    with pytest.raises(
        InvalidParameterError, match="more than 1024 MiB: audit the mechanism on fewer values"
    ):
        ldpkit.audit(oracle)


def test_a_channel_of_too_many_cells_is_listed_for_a_smaller_sibling(monkeypatch):
    """All of GRR with 10,000 values are 100 million fractions: ten gigabytes."""
    source = ldpkit.random.seeded(1)
    assert enumerate_channel(ldpkit.GRR(40, epsilon=1.0), source).text == "all 40 reports under all 40 values"
    large = enumerate_channel(ldpkit.GRR(100_000, epsilon=1.0), source)
    assert "of the smaller GRR(8, epsilon=1)" in large.text
    assert large.epsilon is not None
    monkeypatch.setattr("ldpkit.assurance.audit.enumeration._MOST_CELLS", 1599)
    assert "of the smaller" in enumerate_channel(ldpkit.GRR(40, epsilon=1.0), source).text
    olh = enumerate_channel(ldpkit.OLH(300, epsilon=1.0), source).text
    assert "under all 300 values" in olh, "the reports of one hash are as few for many values"


@pytest.mark.parametrize("kind", [ldpkit.GRR, ldpkit.OLH])
def test_an_attack_looks_up_two_values_and_does_not_list_a_million(kind, monkeypatch):
    """Listing took 33 times as long for ten times as many values, with the same finding."""

    def listed(self, reports):
        raise AssertionError("supports of all values were listed")

    found = []
    for at_once in (True, False):
        looked_up = kind._supported if at_once else ldpkit.FrequencyOracle._supported
        with monkeypatch.context() as patched:
            patched.setattr(kind, "_supported", looked_up)
            if at_once:
                patched.setattr(kind, "_pack", listed)
            found.append(attack(kind(70_000, 1.0), reports=1000, rng=ldpkit.random.seeded(3)))
    assert found[0] == found[1]


def test_an_audit_of_a_small_file_takes_no_more_memory_than_it_may(tmp_path, monkeypatch):
    oracle = ldpkit.GRR(70_000, epsilon=1.0)
    path = tmp_path / "reports.ldp"
    with ldpkit.ReportWriter(path, oracle) as writer:
        writer.write(oracle.privatize([0], rng=ldpkit.random.seeded(1)))
    file = ldpkit.ReportFile.open(path)
    monkeypatch.setenv("LDPKIT_MEMORY", "100K")
    with pytest.raises(InvalidInputError, match=r"an audit of .* takes 7 MiB of memory"):
        ldpkit.audit(file, reports=1000)
    monkeypatch.delenv("LDPKIT_MEMORY")
    assert ldpkit.audit(file, reports=1000).passed


def test_an_attack_with_little_memory_looks_at_fewer_values(monkeypatch):
    oracle, most = ldpkit.GRR(70_000, epsilon=1.0), []

    def counted(self, values, made=ldpkit.GRR.privatize, **options):
        most.append(max(len(values), most.pop() if most else 0))
        return made(self, values, **options)

    monkeypatch.setattr(ldpkit.GRR, "privatize", counted)
    source, little = ldpkit.random.seeded(1), least_memory(oracle)
    attack(oracle, reports=1000, rng=source)
    assert most.pop() > 5_000
    attack(oracle, reports=1000, rng=source, memory=little)
    assert most.pop() == 200
    with pytest.raises(InvalidParameterError, match="audit the mechanism on fewer values"):
        attack(oracle, reports=1000, rng=source, memory=little // 2)
