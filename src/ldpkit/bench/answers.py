"""What a benchmark found, in sentences that hold for every epsilon and all data that were run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ldpkit.bench.numeric_summary import NumericSummary
from ldpkit.bench.numeric_table import SHORT_TITLES, scale
from ldpkit.bench.summary import Summary
from ldpkit.core.numbertext import number_text, percent_text
from ldpkit.core.tables import cell_text
from ldpkit.core.text import and_text
from ldpkit.simulation.metrics import metric_for

__all__ = ["coverage_answer", "frequencies_answer", "numbers_answer"]

_LEVEL = "Tied: not significantly different at the 5% level."


def frequencies_answer(data: str, summaries: Sequence[Summary]) -> str:
    """Return which pair is best under one metric, or which tie, at each epsilon.

    Parameters
    ----------
    data : str
        What the people are called.
    summaries : sequence of Summary
        One for each epsilon, all under the same metric. Epsilons with the same winners share a sentence.

    Examples
    --------
    >>> from ldpkit.bench.experiment import Row
    >>> rows = [Row(epsilon, protocol, "none", "mae", run, error + run / 100) for run in range(8)
    ...         for epsilon, protocol, error in ((1, "grr", 3), (1, "oue", 2), (2, "grr", 1), (2, "oue", 1))]
    >>> print(frequencies_answer("trips", [Summary(rows, 1, "mae"), Summary(rows, 2, "mae")]))
    On trips, oue with none has the smallest mean absolute error at epsilon 1: 2.035 ± 0.0087. \
2 combinations tie for the smallest mean absolute error at epsilon 2: grr with none; oue with none \
(smallest: 1.035 ± 0.0087). Tied: not significantly different at the 5% level.
    """
    groups: dict[frozenset[tuple[str, str]], list[Summary]] = defaultdict(list)
    for summary in summaries:
        groups[frozenset(summary.tied_pairs())].append(summary)
    sentences = [
        _frequencies_sentence(group, _among(len(group), len(summaries))) for group in groups.values()
    ]
    tied = any(len(pairs) > 1 for pairs in groups) and not summaries[0].has_few_repeats
    return " ".join([f"On {data}, {sentences[0]}", *sentences[1:], *([_LEVEL] if tied else [])])


def _frequencies_sentence(group: Sequence[Summary], every: bool) -> str:
    """Return what holds at the epsilons of some summaries, whose best pairs are the same."""
    first, count = group[0], len(group[0].tied_pairs())
    side = "largest" if first.larger_is_better else "smallest"
    title = metric_for(first.metric).title
    where = _at([each.epsilon for each in group], every)
    told = []
    for each in group:
        mean = each.mean(*each.best_pair())
        at = f" at {each.epsilon:g}" if len(group) > 1 else ""
        told.append(f"{number_text(mean.value)} ± {number_text(mean.stderr, 2)}{at}")
    values = ", ".join(told)
    if count == 1:
        return f"{first.best_names()} has the {side} {title} {where}: {values}."
    if first.has_few_repeats:
        return (
            f"{first.few_in_words()} these {count} apart by {title} {where}: {first.best_names()} ({values})."
        )
    tie = f"{count} combinations tie for the {side} {title} {where}"
    return f"{tie}: {first.best_names()} ({side}: {values})."


def numbers_answer(summary: NumericSummary, people: Mapping[str, int]) -> str:
    """Return which mechanism is best under a metric, or which tie, on all data and at each epsilon.

    Parameters
    ----------
    summary : NumericSummary
        The means under an error.
    people : mapping
        How many people each data set has.

    Examples
    --------
    >>> from ldpkit.bench.numeric_experiment import NumericRow
    >>> rows = [NumericRow(data, epsilon, name, "wasserstein", run, value / epsilon + run / 1e4)
    ...         for run in range(8) for epsilon in (1, 2) for data in ("ages", "hours")
    ...         for name, value in (("pm", 0.02), ("hm", 0.04 if data == "ages" else 0.02))]
    >>> print(numbers_answer(NumericSummary(rows, "wasserstein"), {"ages": 500, "hours": 500}))
    pm is best on ages at every epsilon (1000 times the Wasserstein distance: 10.35 to 20.35). \
On hours at every epsilon, pm and hm tie (at best, 1000 times the Wasserstein distance \
is 10.35 to 20.35). \
Tied: not significantly different at the 5% level.
    """
    groups: dict[tuple[str, ...], list[tuple[str, float]]] = defaultdict(list)
    for line in summary.lines():
        groups[tuple(sorted(summary.tied(*line), key=summary.mechanisms().index))].append(line)
    sentences = []
    for names, lines in groups.items():
        where = _on(lines, summary.lines())
        values = [
            scale(summary.metric, people[data])
            * summary.mean(data, epsilon, summary.best(data, epsilon)).value
            for data, epsilon in lines
        ]
        ends = list(dict.fromkeys(number_text(value) for value in (min(values), max(values))))
        title, told = SHORT_TITLES[summary.metric], " to ".join(ends)
        if len(names) == 1:
            sentences.append(f"{names[0]} is best {where} ({title}: {told}).")
        else:
            best = f"at best, {title} is {told}"
            sentences.append(f"{where[0].upper()}{where[1:]}, {and_text(names)} tie ({best}).")
    return " ".join([*sentences, *([_LEVEL] if any(len(names) > 1 for names in groups) else [])])


def coverage_answer(summary: NumericSummary) -> str:
    """Return in which cell the 95% interval held the mean least often: no mechanism is best for covering."""
    cell, mean = min(summary.means.items(), key=lambda item: item[1].value)
    least = f"{cell.mechanism} on {cell_text(cell.data)} at epsilon {cell.epsilon:g}"
    return (
        f"The 95% interval contained the mean in at least {percent_text(mean.value)} of the collections; "
        f"least often with {least}."
    )


def _on(lines: Sequence[tuple[str, float]], everywhere: Sequence[tuple[str, float]]) -> str:
    """Return on which data and at which epsilons: 'on ages and hours at every epsilon, on trips at 1'."""
    asked: dict[str, list[float]] = defaultdict(list)
    for data, epsilon in lines:
        asked[data].append(epsilon)
    budgets = {data: sum(name == data for name, _ in everywhere) for data in asked}
    together: dict[str, list[str]] = defaultdict(list)
    for data, epsilons in asked.items():
        at = _at(epsilons, _among(len(epsilons), budgets[data]))
        together[at].append(cell_text(data))
    if len(lines) == len(everywhere) and len(together) == 1 and len(asked) > 1:
        return f"on all data {next(iter(together))}"
    return ", ".join(f"on {and_text(names)} {at}" for at, names in together.items())


def _at(epsilons: Sequence[float], every: bool) -> str:
    return "at every epsilon" if every else f"at epsilon {and_text([f'{each:g}' for each in epsilons])}"


def _among(some: int, there: int) -> bool:
    """Whether these are all of several."""
    return some == there > 1
