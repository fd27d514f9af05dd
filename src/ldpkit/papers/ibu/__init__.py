"""IBU for fourteen mechanisms (Arcolezi, Cerna, Palamidessi 2023): tables 2 and 3, figures 1 to 4.

Everything is run twice from the same data. As published: matrix inversion scaled to sum
to one, the update stopped after 10,000 iterations, gains clipped at zero run by run, and
the authors' chains and channels for L-GRR and L-LH. Right: chains solved exactly and the
update run to its limit. Then the exact likelihood is put against both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.papers import Claim, Settings, Verdict, compare, reproduction
from ldpkit.papers.ibu.chain import is_as_published, published, right
from ldpkit.papers.ibu.contest import RIVALS, Contest, Duel, contest
from ldpkit.papers.ibu.paper import (
    AVERAGE,
    GENERATED,
    METRICS,
    REAL,
    SIZES,
    TABLE_2,
    TABLE_3,
    IbuTable,
)
from ldpkit.papers.ibu.study import IbuStudy, StudyGrid

__all__ = ["run"]

PAPER_RUNS = 20
ROUNDING = 0.5  # the tables have whole percents
AS_PUBLISHED = ("published_ibu", "published_mi")
RIGHT = ("ibu_limit", "mi")
_MSE = METRICS.index("mse")


@reproduction("ibu", "IBU for fourteen mechanisms (tables 2-3, figures 1-4)")
def run(settings: Settings) -> Iterator[Claim]:
    """Yield the claims of both tables and all figures, the corrections, and the likelihood's contest."""
    runs = 2 if settings.quick else PAPER_RUNS
    for table in (TABLE_2, TABLE_3):
        study = StudyGrid(table.mechanisms, runs, settings.seed).run()
        if settings.folder is not None:
            _write(study, table, settings.folder)
        yield from table_claims(study, table)
        yield from text_claims(study, table)
        yield from correction_claims(study, table)
    yield from chain_claims()
    held = contest(2, settings.seed, (50,)) if settings.quick else contest(10, settings.seed, SIZES)
    if settings.folder is not None:
        from ldpkit.papers import write_csv

        write_csv(held.rows(), settings.folder / "mle.csv")
    yield from contest_claims(held)


def _write(study: IbuStudy, table: IbuTable, folder: Path) -> None:
    from ldpkit.papers.ibu.figures import draw
    from ldpkit.papers.ibu.files import write_table

    draw(study, table, folder)
    write_table(study, table, folder)


def table_claims(study: IbuStudy, table: IbuTable) -> Iterator[Claim]:
    """Yield a claim for every number of a table, as published."""
    for metric in METRICS:
        for row in (*study.grid.distributions, GENERATED):
            for column in (*table.mechanisms, AVERAGE):
                yield _cell_claim(study, table, row, column, metric)


def _cell_claim(study: IbuStudy, table: IbuTable, row: str, column: str, metric: str) -> Claim:
    gain, value = study.table(row, column, metric, *AS_PUBLISHED), table.gain(row, column, metric)
    difference = gain.stderr * math.sqrt(1 + study.grid.runs / PAPER_RUNS)
    notes = [f"right: {study.table(row, column, metric, *RIGHT).value:.0f}"]
    if row == REAL:
        verdict = Verdict.NO_DATA
        notes.append("ours on the generated substitute")
    else:
        same = compare(value, gain.value, difference, rounding=ROUNDING)
        verdict = Verdict.REPRODUCED if same else Verdict.NOT_REPRODUCED
        notes += [] if same else [f"{gain.value - value:+.1f} points"]
    name = f"table {table.number}: gain in {metric.upper()} (%), {row}, {column}"
    return Claim(name, value, round(gain.value, 1), round(gain.stderr, 2), verdict, "; ".join(notes))


def text_claims(study: IbuStudy, table: IbuTable) -> Iterator[Claim]:
    """Yield what the text says about a table and its two figures."""
    where = f"table {table.number}"
    columns, rows = list(table.mechanisms), list(study.grid.distributions)
    best, worst = (["the", "sue"], "grr") if table.number == 2 else (["lsue"], "lgrr")
    order = sorted(columns, key=lambda each: -study.table(AVERAGE, each, "mse", *AS_PUBLISHED).value)
    leaders = order[: len(best)]
    yield _said(f"{where}: largest average gain", best, leaders, set(best) == set(leaders))
    yield _said(f"{where}: smallest average gain", worst, order[-1], worst == order[-1])
    order = sorted(rows, key=lambda each: -study.table(each, AVERAGE, "mse", *AS_PUBLISHED).value)
    highest, lowest = ["poisson", REAL], ["triangular", "gaussian"]
    yield _said(f"{where}: largest gain by distribution", highest, order[:2], set(highest) == set(order[:2]))
    yield _said(f"{where}: smallest gain by distribution", lowest, order[-2:], set(lowest) == set(order[-2:]))
    yield from _figure_claims(study, table.number + 1)
    yield from _income_claims(study, table.number - 1)


def _figure_claims(study: IbuStudy, number: int) -> Iterator[Claim]:
    """Yield what figures 3 and 4 are said to show, from the means over all other axes."""
    gains = study.gains(*AS_PUBLISHED)[_MSE].mean(axis=-1)
    limits = study.gains(*RIGHT)[_MSE].mean(axis=-1)
    for name, axis, says in (("epsilon", 3, "falls"), ("n", 1, "grows"), ("k", 2, "grows")):
        others = tuple(each for each in range(gains.ndim) if each != axis)
        means, right_means = gains.mean(axis=others), limits.mean(axis=others)
        steps = np.diff(means)
        holds = bool((steps < 0).all() if says == "falls" else (steps > 0).all())
        note = f"right: {_listed(right_means)}"
        yield _said(f"figure {number}: gain {says} with {name}", says, _listed(means), holds, note)
    largest = gains.max(axis=(1, 2, 3, 4))
    order = [study.grid.distributions[each] for each in np.argsort(-largest)]
    note = f"largest gains {_listed(largest[np.argsort(-largest)])}"
    yield _said(f"figure {number}: largest single gain", "uniform", order[0], order[0] == "uniform", note)


def _income_claims(study: IbuStudy, number: int) -> Iterator[Claim]:
    """Yield what figures 1 and 2 are said to show, on the substitute for incomes."""
    grid = study.grid
    place = grid.distributions.index(REAL), grid.people.index(20_000), grid.sizes.index(100)
    means = {name: study.errors[name][_MSE][place].mean(axis=-1) for name in AS_PUBLISHED}
    gains = 100 * (1 - means["published_ibu"] / means["published_mi"])
    names = np.array(grid.mechanisms)
    note = "on the generated substitute"
    losers = list(names[gains[0] <= 0])
    said = ["blh"] if number == 1 else ["lsue", "lblh"]
    title = f"figure {number}: no gain at epsilon = 1"
    yield _said(title, said, losers or "none", set(said) <= set(losers), note)
    if number == 1:
        everywhere = bool((gains[1:] > 0).all())
        title = "figure 1: gain for every mechanism at epsilon = 2 and 4"
        yield _said(title, "all", "all" if everywhere else "not all", everywhere, note)
    averages = np.maximum(gains, 0).mean(axis=1)
    order = [f"{grid.epsilons[each]:g}" for each in np.argsort(-averages)]
    title = f"figure {number}: epsilons by average gain, largest first"
    yield _said(title, ["2", "4", "1"], order, order == ["2", "4", "1"], f"{note}: {_listed(averages)}")


def correction_claims(study: IbuStudy, table: IbuTable) -> Iterator[Claim]:
    """Yield what right chains, the limit, honest averages and Norm-Sub change."""
    where = f"table {table.number}"
    for column in (*table.mechanisms, AVERAGE):
        gain = study.table(AVERAGE, column, "mse", *RIGHT)
        over_scaled = study.typical_ratio(AVERAGE, column, "mse", *RIGHT)
        over_projected = study.typical_ratio(AVERAGE, column, "mse", "ibu_limit", "norm_sub")
        note = (
            f"typical MSE, nothing clipped: {over_scaled:.2f} of scaled MI, {over_projected:.2f} of Norm-Sub"
        )
        name = f"{where}: average gain in MSE (%), {column}, right chain and limit"
        value = table.gain(AVERAGE, column, "mse")
        yield Claim(name, value, round(gain.value, 1), round(gain.stderr, 2), Verdict.CORRECTED, note)
    for column in table.mechanisms:
        if is_as_published(column):
            continue
        ratio = study.typical_ratio(AVERAGE, column, "mse", *AS_PUBLISHED)
        better = study.typical_ratio(AVERAGE, column, "mse", "ibu_limit", "published_ibu")
        name = f"{where}: {column}, typical MSE of the published update over that of MI"
        note = f"the right chain and limit bring the update's MSE down to {better:.2f} of the published one"
        yield Claim(name, "below 1", round(ratio, 2), None, Verdict.CORRECTED, note)
    flat = study.table("uniform", AVERAGE, "mse", *RIGHT)
    name = f"{where}: average gain in MSE (%), uniform, when the update is not stopped early"
    value = table.gain("uniform", AVERAGE, "mse")
    note = f"{study.capped.mean():.0%} of all published updates end at 10,000 iterations, not converged"
    yield Claim(name, value, round(flat.value, 1), round(flat.stderr, 2), Verdict.CORRECTED, note)
    clipped, honest = _two_values(study)
    name = f"{where}: gain in MSE (%) with two values, from mean errors"
    note = f"{clipped:.1f} when the gain of each run is clipped at zero before the mean, as published"
    yield Claim(name, None, round(honest, 1), None, Verdict.CORRECTED, note)
    ratio = study.typical_ratio(AVERAGE, AVERAGE, "mse", *AS_PUBLISHED)
    name = f"{where}: average gain in MSE (%), all, without clipping losses to zero"
    value = table.gain(AVERAGE, AVERAGE, "mse")
    note = "from the geometric mean of the error ratios"
    yield Claim(name, value, round(100 * (1 - ratio), 1), None, Verdict.CORRECTED, note)


def _two_values(study: IbuStudy) -> tuple[float, float]:
    """Return the average gain with two values as published, and from mean errors without clipping."""
    at = study.grid.sizes.index(2)
    clipped = study.gains(*AS_PUBLISHED)[_MSE].take(at, axis=2)
    ibu, mi = (study.errors[name][_MSE].take(at, axis=2).mean(axis=-1) for name in AS_PUBLISHED)
    return float(clipped.mean()), 100 * (1 - float(np.exp(np.log(ibu / mi).mean())))


def chain_claims() -> Iterator[Claim]:
    """Yield what the published chains do to epsilon and to the update's channel, exactly."""
    for k in (16, 100):
        actual = published("lgrr", k, 1.0).oracle.exact_epsilon()
        exact = right("lgrr", k, 1.0).oracle.exact_epsilon()
        note = f"the second round is solved for two values; solved for {k} it is {exact:.6f}"
        name = f"L-GRR, k={k}, epsilon_inf=2: epsilon of the first report"
        yield Claim(name, 1.0, round(actual, 6), None, Verdict.CORRECTED, note)
    for name, title in (("lgrr", "L-GRR, k=100"), ("lblh", "L-BLH, k=100"), ("lolh", "L-OLH, k=100")):
        subject = published(name, 100, 1.0)
        yield Claim(
            f"{title}, (2, 1): chance of a support by another value",
            round(subject.q, 6),
            round(subject.oracle.q, 6),
            None,
            Verdict.CORRECTED,
            "the update's channel does not belong to the mechanism, so it converges to something else",
        )


def contest_claims(held: Contest) -> Iterator[Claim]:
    """Yield in how many cells the exact likelihood does as well as its rivals, and where not."""
    for metric in METRICS:
        for rival, title in RIVALS.items():
            duels = list(held.duels(rival, metric))
            no_worse = sum(duel.is_no_worse for duel in duels)
            better = sum(duel.is_clearly_better for duel in duels)
            worse = [duel for duel in duels if duel.is_clearly_worse]
            name = f"mle has no larger {metric.upper()} than {title} in most cells"
            typical = math.exp(np.mean([math.log1p(duel.difference) for duel in duels]))
            counts = f"clearly smaller in {better}, clearly larger in {len(worse)}{_where(worse)}"
            note = f"typically {typical:.2f} of it; {counts}"
            yield _said(name, "most", f"{no_worse} of {len(duels)}", 2 * no_worse > len(duels), note)


def _where(worse: list[Duel]) -> str:
    if not worse:
        return ""
    parts = []
    for field in ("distribution", "mechanism", "k", "epsilon"):
        counts = Counter(getattr(duel, field) for duel in worse)
        parts.append(", ".join(f"{_short(value)} {count}" for value, count in counts.most_common()))
    return ": " + "; by mechanism ".join(parts[:2]) + f"; by k {parts[2]}; by epsilon {parts[3]}"


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _said(name: str, says: object, found: object, holds: bool, note: str = "") -> Claim:
    texts = [", ".join(each) if isinstance(each, list) else str(each) for each in (says, found)]
    verdict = Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED
    return Claim(name, texts[0], texts[1], None, verdict, note)


def _listed(values: Floats) -> str:
    return ", ".join(f"{value:.1f}" for value in values)
