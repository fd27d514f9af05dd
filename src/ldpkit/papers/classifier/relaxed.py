"""Theorems 16 to 19: the relaxations of section 7.4, and what a report tells at most."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ldpkit.assurance.classifier.information import (
    channel_information,
    information,
    information_bound,
    sharper_bound,
)
from ldpkit.assurance.classifier.relaxations import (
    pac_combined,
    pac_delta,
    printed_sigma,
    proof_sigma,
    relaxations,
)
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.kinds import is_frequency, is_numeric
from ldpkit.mechanisms.lookup import get, list_mechanisms
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.papers.classifier.claims import holds, number, ours
from ldpkit.papers.classifier.drawing import Curve, curve_figure
from ldpkit.papers.classifier.study import MECHANISMS

__all__ = ["indicator", "relaxation_claims"]

DELTA = 0.1
_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
_PLACES = np.linspace(0, 1, 11)


def indicator(rows: Floats, delta: float) -> Floats:
    """Return the channel of the privacy indicator on a mechanism that reports values of its domain.

    With probability delta it sends the value itself, so it is no mechanism of the house.

    Examples
    --------
    >>> indicator(np.array([[0.75, 0.25], [0.25, 0.75]]), 0.5).tolist()
    [[0.875, 0.125], [0.125, 0.875]]
    """
    return np.asarray(delta * np.eye(len(rows)) + (1 - delta) * rows)


def relaxation_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the theorems, laws for analysis only, which privatize nothing here."""
    yield from _theorem_16()
    yield from _theorem_17()
    yield from _theorem_18()
    yield from _theorem_19(settings)


def _theorem_16() -> Iterator[Claim]:
    epsilon, columns = 2.0, 2
    sigma = printed_sigma(epsilon, DELTA)
    total, together = pac_combined(epsilon, DELTA, columns)
    yield number(
        "E.2.6: the delta of Gaussian noise on two features, delta=0.1 each",
        0.1,
        together,
        1e-9,
        "by Theorem 16 of the same chapter; the printed sigma fails with probability "
        f"{pac_delta(sigma, total, columns):.1e}",
        wrong=True,
    )
    generator = np.random.default_rng(16)
    worst = -1.0
    for _ in range(400):
        its_epsilon, delta = generator.uniform(0.1, 6), math.exp(generator.uniform(-12, -0.5))
        many = int(generator.integers(1, 50))
        noise = relaxations(its_epsilon, delta, many)
        for row in noise.rows():
            worst = max(worst, row["pac together"] - row["theorem 16"])
    yield holds(
        "theorem 16: the delta of 400 random combinations of Gaussian columns, four sigmas each",
        "at most 1 - (1 - delta)^d",
        "never above" if worst <= 1e-12 else f"above by {worst:.2g}",
        so=worst <= 1e-12,
        note="against the exact probability; enumerated for finite channels in the tests",
    )


def _theorem_17() -> Iterator[Claim]:
    k, epsilon = 10, 2.0
    rows = np.array(
        [[float(chance) for chance in row] for row in GRR(k, epsilon=epsilon).channel().probabilities]
    )
    sent = indicator(rows, DELTA)
    loss = math.log(sent[0, 0] / sent[1, 0])
    failing = sum(
        chance for chance, other in zip(sent[0], sent[1], strict=True) if math.log(chance / other) > epsilon
    )
    yield number(
        "theorem 17: how often k-RR with the indicator loses more than epsilon (k=10, eps=2, delta=0.1)",
        DELTA,
        float(failing),
        1e-6,
        f"the loss is {loss:.4f}; with probability delta the raw record is sent, so it is not offered here",
        wrong=True,
    )
    small = 0.01
    rows = np.array(
        [[float(chance) for chance in row] for row in GRR(k, epsilon=small).channel().probabilities]
    )
    told = channel_information(indicator(rows, DELTA))
    yield ours(
        "theorem 17: nats that k-RR with the indicator tells (k=10, eps=0.01, delta=0.1)",
        told,
        f"epsilon allows {information_bound(small, k)} by theorem 19, and k-RR alone tells "
        f"{channel_information(rows):.1e}; for continuous values the raw record can be told from a report",
    )


def _theorem_18() -> Iterator[Claim]:
    epsilon = 2.0
    table = {row["rule"]: row for row in relaxations(epsilon, DELTA, columns=2).rows()}
    exact = table["least for PAC"]["sigma"]
    for rule, text in (
        ("Theorem 18 as printed", "as printed"),
        ("Theorem 18 as proven", "with the radicand of its proof"),
    ):
        sigma = table[rule]["sigma"]
        yield Claim(
            f"theorem 18: sigma at eps=2, delta=0.1, {text}",
            round(sigma, 6),
            round(exact, 6),
            0.0,
            Verdict.CORRECTED,
            f"valid: it fails with probability {table[rule]['pac']:.4f}; the least sigma with that promise "
            f"is {sigma / exact:.3f} times smaller",
        )
    yield holds(
        "theorem 18: sigma as printed falls with epsilon",
        "for any epsilon",
        f"{printed_sigma(19.0, DELTA):.4f} at epsilon 19, never below 0.7071",
        so=printed_sigma(19.0, DELTA) <= proof_sigma(19.0, DELTA) + 1e-9,
        note=f"epsilon stands outside the root; the proof has {proof_sigma(19.0, DELTA):.4f}",
        wrong=True,
    )
    for rule, row in table.items():
        yield ours(
            f"eps=2, delta=0.1: sigma, {rule}",
            row["sigma"],
            f"PAC delta {row['pac']:.4f}, (eps, delta) {row['dp']:.4f}; two columns at 2 eps: PAC "
            f"{row['pac together']:.4f}, (eps, delta) {row['dp together']:.4f}, by theorem 16 "
            f"{row['theorem 16']:.4f}",
        )


def _told(epsilon: float) -> dict[str, float]:
    """Return the nats that every registered mechanism tells which takes an epsilon alone."""
    found = {}
    for kind in ("numeric", "frequency"):
        for name in list_mechanisms(kind=kind):
            try:
                mechanism = get(name, (0, 1) if kind == "numeric" else len(_PLACES), epsilon=epsilon)
                found[name] = (
                    information(mechanism, _PLACES)
                    if is_numeric(mechanism)
                    else channel_information(mechanism.channel().probabilities)
                    if is_frequency(mechanism)
                    else math.nan
                )
            except InvalidParameterError:  # it takes more than an epsilon, or has too many reports
                continue
    return found


def _theorem_19(settings: Settings) -> Iterator[Claim]:
    epsilons = (1.0, 4.0) if settings.quick else _EPSILONS
    told: dict[str, list[float]] = {}
    for epsilon in epsilons:
        for name, value in _told(epsilon).items():
            told.setdefault(name, []).append(value)
    shares = {
        (name, epsilon): value / sharper_bound(epsilon, len(_PLACES))
        for name, values in told.items()
        for epsilon, value in zip(epsilons, values, strict=True)
    }
    nearest = max(shares, key=lambda key: shares[key])
    above = [
        key
        for key in shares
        if told[key[0]][epsilons.index(key[1])] > information_bound(key[1], len(_PLACES))
    ]
    yield holds(
        f"theorem 19: nats told by {len(told)} mechanisms, eps {epsilons[0]:g} to {epsilons[-1]:g}, k=11",
        "at most min(log k, eps)",
        f"{len(above)} of {len(shares)} above",
        so=not above,
        note=f"nearest to the sharper min(log k, eps tanh(eps/2)): {nearest[0]} at eps="
        f"{nearest[1]:g} with {shares[nearest]:.2f} of it",
    )
    for name in ("ogpm", "compressed_sw", "laplace", "grr"):
        yield ours(
            f"theorem 19: nats that {name} tells of 11 even values",
            ", ".join(f"{value:.4f}" for value in told[name]),
            f"at epsilon {', '.join(f'{e:g}' for e in epsilons)}; the bound is "
            + ", ".join(f"{information_bound(e, len(_PLACES)):.4f}" for e in epsilons),
        )
    if settings.folder is not None:
        _draw(settings.folder / "theorem-19.png")


def _draw(path: Path) -> None:
    """Draw both bounds and what the mechanisms of the chapter tell."""
    epsilons = np.linspace(0.25, 8, 16)
    curves = [
        Curve(name, epsilons, [information(make(float(e)), _PLACES) for e in epsilons])
        for name, make in MECHANISMS.items()
    ]
    curves += [
        Curve("min(log k, eps tanh(eps/2))", epsilons, [sharper_bound(float(e), 11) for e in epsilons]),
        Curve("theorem 19", epsilons, [information_bound(float(e), 11) for e in epsilons]),
    ]
    curve_figure(path, {"11 even values": curves}, "epsilon", "nats", top=None, width=7.0)
