"""The ratio of every form is true: the whole law of small samplers is listed and compared.

Weights here are multiples of a large power of two, so that only the first bits of a word and its last one
decide, and all words can be tried. Forms that no mechanism of ours would make are among them: whatever
`read_sampler` accepts must keep the ratio that it states.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction

import pytest

from ldpkit.client.epsilon import Ratio
from ldpkit.client.samplers import MemorySampler, read_sampler
from ldpkit.client.samplers.base import ends_of
from ldpkit.client.samplers.noise import NoiseSampler
from ldpkit.core.errors import InvalidParameterError

W = 1 << 64


def units(bits):
    """Return a function that writes so many parts of 2**bits as a word."""
    return lambda count: str(count << (64 - bits))


def words(bits):
    """Return one word for each value of the first bits, with either last bit."""
    return [
        (first << (64 - bits) | 2 | last).to_bytes(8, "little")
        for first in range(1 << bits)
        for last in (0, 1)
    ]


def law(draw, *choices):
    """Return the exact chance of every report, all combinations of pieces being equally likely."""
    found = Counter()
    for pieces in itertools.product(*choices):
        data = iter(pieces)
        found[draw(lambda count, data=data: next(data))] += 1
    return found


def worst(laws):
    """Return the largest ratio of two laws for one report; None if one makes what another never does."""
    found = Fraction(1)
    for report in set().union(*laws):
        chances = [each[report] for each in laws]
        if min(chances) == 0:
            return None
        found = max(found, Fraction(max(chances), min(chances)))
    return found


def true_ratio(sampler, *choices):
    places = itertools.product(*map(range, sampler.places))
    return worst([law(lambda take, place=place: sampler.draw(place, take), *choices) for place in places])


def stated(ratio):
    return Fraction(ratio.num, ratio.den) ** ratio.times


def partition(rng, total, parts, *, falling=False):
    cuts = sorted(rng.sample(range(1, total), parts - 1))
    found = [high - low for low, high in itertools.pairwise([0, *cuts, total])]
    return sorted(found, reverse=True) if falling else found


def windows():
    unit = units(6)
    for stand, grid, margin in (
        ("slide", 2, 0),
        ("slide", 4, 1),
        ("clamp", 4, 0),
        ("wrap", 4, 0),
        ("sector", 3, 0),
    ):
        for width in range(1, 8):
            cells = {"slide": grid + width + 2 * margin, "sector": grid * width}.get(stand, 2 * grid)
            for outside in range(1, 8):
                inside, rest = divmod(64 - (cells - width) * outside, width)
                if rest == 0 and inside >= outside and width < cells:
                    form = {"form": "window", "stand": stand, "grid": grid, "width": width}
                    form |= {"inside": unit(inside), "outside": unit(outside)}
                    form |= {"margin": margin} if stand == "slide" else {}
                    yield form
                    if stand == "slide":
                        yield {**form, "kept": [1, cells - 2]}


def others(rng):
    unit = units(6)
    for grid, slope in ((2, 5), (4, 7), (4, 0), (8, 7)):
        yield {"form": "coin", "grid": grid, "base": unit((64 - grid * slope) // 2), "slope": unit(slope)}
    for width, base, slope in ((2, 4, 2), (1, 8, 1), (3, 6, 4)):
        for outside in range(1, 9):
            inside, rest = divmod(64 - 2 * base - 4 * slope - 4 * outside, width)
            if rest == 0 and inside >= outside:
                told = {
                    "base": unit(base),
                    "slope": unit(slope),
                    "inside": unit(inside),
                    "outside": unit(outside),
                }
                yield {"form": "hybrid", "grid": 4, "width": width, **told}
    for _ in range(6):
        yield {"form": "turned", "grid": 4, "weights": [str(each << 57) for each in partition(rng, 64, 4)]}
        rows = [[unit(each) for each in partition(rng, 64, 3)] for _ in range(4)]
        yield {"form": "rows", "shape": [4], "rows": rows}
    for size, width in ((2, 20), (4, 9), (3, 13)):
        told = {"keep": unit(64 - (size - 1) * width), "width": unit(width)}
        yield {"form": "response", "size": size, **told}
        yield {"form": "sites", "shape": [1, size], **told}
    for area, extra in (
        ({"widths": [2, 2]}, {}),
        ({"widths": [2, 4]}, {}),
        ({"widths": [4, 2]}, {"reaches": [1, 1, 0, 1]}),
    ):
        size = 2 * sum(extra["reaches"]) if extra else area["widths"][0] * area["widths"][1]
        for outside in (1, 2, 3):
            more, rest = divmod(64 - 16 * outside, size)
            if rest == 0 and more >= 1:
                told = {"inside": unit(more + outside), "outside": unit(outside)}
                yield {"form": "planar", "grid": 2, **area, **told, **extra}


def test_the_ratio_of_one_word_is_true():
    seen = Counter()
    for form in (*windows(), *others(random.Random(3))):
        if form.get("stand") in ("clamp", "wrap") and form["width"] % 2:
            with pytest.raises(InvalidParameterError, match="even"):
                read_sampler(form)
            continue
        sampler = read_sampler(form)
        found, told = true_ratio(sampler, words(6)), stated(sampler.ratio())
        assert found is not None, form
        assert found <= told, form
        seen[form["form"]] += 1
        moves = form["form"] != "window" or form["stand"] != "clamp" or form["width"] <= form["grid"]
        if moves and "kept" not in form:
            assert found == told, form
    assert (
        min(
            seen[name]
            for name in ("window", "coin", "hybrid", "turned", "rows", "response", "sites", "planar")
        )
        >= 3
    )


def noises(rng, count):
    unit = units(4)
    for _ in range(count):
        reach, grid = rng.choice([0, 1, 1, 2]), rng.choice([2, 4])
        near = partition(rng, 16 - rng.randrange(1, 6), reach + 1, falling=True)
        blocks = [*near, 16 - sum(near)]  # the last may weigh more than the one before
        lengths = rng.choice([[1], [grid // 2, grid - grid // 2]])
        runs = grid if lengths == [1] else 2
        weights = partition(rng, 16 * runs // grid, runs, falling=True)
        told = {"blocks": [unit(each) for each in blocks], "weights": [unit(each) for each in weights]}
        yield {"form": "noise", "grid": grid, "reach": reach, "lengths": lengths, **told}


def test_the_ratio_of_noise_is_true():
    for form in noises(random.Random(5), 14):
        sampler = read_sampler(form)
        second = [each for each in words(4) if each[0] == 2]
        assert true_ratio(sampler, words(4), second) == stated(sampler.ratio()), form


def loose(grid, reach, blocks, lengths, weights):
    """Return noise with integers that `read_sampler` refuses."""
    runs = [length * weight for length, weight in zip(lengths, weights, strict=True)]
    ends = ends_of(blocks), ends_of(runs), [0, *ends_of(lengths)]
    return NoiseSampler(grid, reach, tuple(blocks), tuple(lengths), tuple(weights), *ends)


@pytest.mark.parametrize(
    ("why", "blocks", "weights"),
    [
        ("weights must not increase", [12, 2, 2], [2, 14]),
        ("blocks must not increase", [2, 5, 9], [8, 8]),
    ],
)
def test_conditions_on_noise_are_needed(why, blocks, weights):
    form = {"form": "noise", "grid": 2, "reach": 1, "lengths": [1]}
    form |= {"blocks": [units(4)(each) for each in blocks], "weights": [units(4)(each) for each in weights]}
    with pytest.raises(InvalidParameterError, match=why):
        read_sampler(form)
    free = loose(2, 1, [each << 60 for each in blocks], [1, 1], [each << 60 for each in weights])
    second = [each for each in words(4) if each[0] == 2]
    found = true_ratio(free, words(4), second)
    assert found is None or found > stated(free.ratio())  # what it states would not be true


def test_the_ratio_of_a_table_is_true_between_its_rows():
    rng, unit = random.Random(7), units(4)
    coins = [coin.to_bytes(4, "little") for coin in range(8)]
    for bins in (1, 2, 3, 5):
        rows = [[unit(each) for each in partition(rng, 16, 3)] for _ in range(bins + 1)]
        sampler = read_sampler({"form": "table", "grid": 8, "rows": rows})
        assert true_ratio(sampler, [each for each in words(4) if each[0] == 2], coins) == stated(
            sampler.ratio()
        )


def test_the_ratio_of_bits_is_true():
    for own, other in ((3, 1), (2, 1), (3, 2), (2, 2)):
        form = {"form": "unary", "size": 3, "own": units(2)(own), "other": units(2)(other)}
        noise = [bytes(each) for each in itertools.product((1, 65, 129, 193), repeat=3)]
        sampler = read_sampler(form)
        assert true_ratio(sampler, noise) == stated(sampler.ratio())


def stages(sampler, state, permanent, instant):
    """Return the laws of the permanent report, and of the first report made from it."""
    coins = sampler.coins(bytes)
    kept = law(lambda take: sampler.permanent(coins, state, take), permanent)
    sent = Counter()
    for report, count in kept.items():
        for made, times in law(lambda take, report=report: sampler.instant(report, take), instant).items():
            sent[made] += count * times
    return kept, sent


@pytest.mark.parametrize(
    ("form", "permanent", "instant"),
    [
        (
            {
                "form": "chained_response",
                "size": 3,
                "first": {"keep": units(4)(10), "width": units(4)(3)},
                "second": {"keep": units(4)(8), "width": units(4)(4)},
            },
            words(4),
            words(4),
        ),
        (
            {
                "form": "chained_unary",
                "size": 2,
                "first": {"own": units(2)(3), "other": units(2)(1)},
                "second": {"one": units(2)(2), "zero": units(2)(1)},
            },
            [bytes(each) for each in itertools.product((1, 65, 129, 193), repeat=2)],
            [bytes(each) for each in itertools.product((1, 65, 129, 193), repeat=2)],
        ),
    ],
)
def test_the_ratios_of_two_rounds_are_true(form, permanent, instant):
    sampler = read_sampler(form)
    assert isinstance(sampler, MemorySampler)
    kept, sent = zip(
        *(stages(sampler, state, permanent, instant) for state in range(sampler.states)), strict=True
    )
    first, every, second = sampler.ratios()
    assert worst(sent) == stated(first)
    assert worst(kept) == stated(every)
    reports = set().union(*kept)
    again = [law(lambda take, report=report: sampler.instant(report, take), instant) for report in reports]
    assert second is not None
    assert worst(again) == stated(second)


@pytest.mark.parametrize(("size", "d"), [(2, 1), (3, 2), (2, 2)])
def test_the_ratio_of_kept_bits_is_true_whatever_the_buckets(size, d):
    form = {"form": "bitflip", "size": size, "d": d, "own": units(2)(3), "other": units(2)(1)}
    sampler = read_sampler(form)
    noise = [bytes(each) for each in itertools.product((1, 65, 129, 193), repeat=d + 1)]
    rng = random.Random(9)
    for _ in range(4):
        coins = sampler.coins(rng.randbytes)
        states = {sampler.state(coins, value) for value in range(size)}
        laws = [
            law(lambda take, state=state, coins=coins: sampler.permanent(coins, state, take), noise)
            for state in states
        ]
        assert worst(laws) == stated(sampler.ratio())


def test_the_ratio_of_two_windows_is_their_product():
    part = {
        "form": "window",
        "stand": "clamp",
        "grid": 2,
        "width": 2,
        "inside": units(4)(6),
        "outside": units(4)(2),
    }
    sampler = read_sampler({"form": "pair", "first": part, "second": {**part, "stand": "wrap"}})
    half = [each for each in words(4) if each[0] == 2]
    assert true_ratio(sampler, half, half) == stated(sampler.ratio()) == 9
    assert sampler.ratio() == Ratio(36 << 120, 4 << 120)
