"""The sentence of a page says what the record says; its sums carry what their intervals need."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess

import numpy as np
import pytest

import ldpkit
from ldpkit.core.numbertext import interval_texts
from ldpkit.core.provenance import Provenance
from ldpkit.core.random import seeded
from ldpkit.figures.drawing import DRAWN, SHOWN, WHOLE, alt_text
from ldpkit.figures.frequency_page import SCRIPT, sums_data
from ldpkit.figures.theme import COLOURS, INK, PAPER, dark_rules


def numbers_of(value):
    """Yield every number in a record, and it as a percentage."""
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers_of(each)
    elif isinstance(value, list):
        yield len(value)
        for each in value:
            yield from numbers_of(each)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)
        yield 100 * float(value)
    elif isinstance(value, str):
        for found in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", value):
            yield float(found.replace(",", "").rstrip("."))


def unheard(sentence, record):
    """Return the numbers of a sentence that no number of the record rounds to."""
    known = sorted(set(numbers_of(record)))
    missing = []
    for found in re.findall(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", sentence):
        text = found.replace(",", "")
        said = float(text)
        decimals = len(text.partition(".")[2]) if "e" not in text else 12
        digits = max(len(text.strip("-0.").replace(".", "")), 1)
        near = 10**-decimals * (1 - 1e-9)  # the ends of intervals are rounded outwards
        if not any(abs(each - said) < near or float(f"{each:.{digits}g}") == said for each in known):
            missing.append(said)
    return missing


def results():
    oracle = ldpkit.OUE(["bus", "car", "tram", "none"], epsilon=2)
    yield ldpkit.Tally(oracle, 5000, [1800, 900, 800, 640]).estimate()
    numbers = ldpkit.get("pm", (0, 120), epsilon=2)
    yield numbers.tally(numbers.privatize([20.0, 60.0] * 500, rng=seeded(1))).estimate()
    yield ldpkit.audit(ldpkit.GRR(3, epsilon=1), reports=1000, rng=seeded(1))
    yield ldpkit.plan.pairs(2000, 1.0, 2.0, ones=(0, 600), gain=False)
    yield ldpkit.plan.survey({"commute": 4, "age": ldpkit.IntervalDomain(0, 120)}, epsilon=1.0, people=5000)


@pytest.mark.parametrize("found", list(results()), ids=lambda each: each.kind)
def test_the_numbers_of_the_sentence_are_those_of_the_record(found):
    record, sentence = found.to_dict(), found.answer()
    assert unheard(sentence, record) == []
    wrong = re.sub(r"\d+\.\d+", lambda number: f"{7.77 * float(number[0]) + 3.1:.2f}", sentence)
    assert wrong == sentence or unheard(wrong, record)  # the control: other numbers are heard of


def test_a_winner_that_may_be_chance_is_told_as_such():
    oracle = ldpkit.GRR(["a", "b", "c"], epsilon=1)
    assert "1 other may be as frequent" in ldpkit.Tally(oracle, 300, [122, 118, 60]).estimate().answer()
    clear = ldpkit.Tally(oracle, 3000, [1800, 700, 500]).estimate().answer()
    assert clear.startswith("The most frequent of 3 values is a: ")
    assert clear.endswith(" of these 3,000 people.")


def test_every_whole_figure_has_a_main_picture_and_pictures_have_words():
    assert set(WHOLE) <= set(DRAWN)
    assert set(SHOWN) == set(DRAWN)


def test_a_title_of_all_panels_is_as_wide_as_the_figure():
    found = ldpkit.plan.budget([600, 300, 100], ["grr", "oue", "olh"], at_most=0.05, search="analytic")
    made = found.figure(narrow=True)
    made.canvas.draw()
    ends = made._suptitle.get_window_extent()
    assert ends.x0 >= 0
    assert ends.x1 <= made.bbox.width


def test_panels_of_groups_have_the_values_in_one_order():
    from ldpkit.engines.tallies import Tallies

    oracle = ldpkit.GRR(["bus", "car", "tram"], epsilon=2)
    counts = {("north",): [500, 300, 200], ("south",): [200, 300, 700]}
    groups = {key: ldpkit.Tally(oracle, sum(each), each) for key, each in counts.items()}
    first, second = Tallies(("region",), groups).estimate().figure().axes
    names = [label.get_text() for label in first.get_yticklabels()]
    longest = [max(axes.patches, key=lambda bar: bar.get_width()).get_y() for axes in (first, second)]
    places = [list(first.get_yticks()).index(round(y + 0.33)) for y in longest]
    assert [names[place] for place in places] == ["bus", "tram"]


def test_error_bars_on_a_logarithmic_axis_have_both_ends_and_stand_apart():
    from ldpkit.figures.canvas import log_reach, side_by_side

    down, up = log_reach([1.0, 0.1], [0.9, 0.001])
    assert (down < [1.0, 0.1]).all()
    assert up[1] == pytest.approx(0.002, rel=0.02)
    assert len({round(float(side_by_side([1.0], index, 3)[0]), 6) for index in range(3)}) == 3


def test_legends_have_the_theme_whoever_makes_them():
    from ldpkit.figures.canvas import new_figure

    axes = new_figure(4, 3).subplots()
    axes.plot([0, 1], label="line")
    assert not axes.legend().get_frame_on()


def test_the_ground_of_a_hatched_bar_is_dark_in_the_dark():
    assert '[fill="#c9ced6"]{fill:#454d58}' in dark_rules()


def test_marks_change_their_colours_on_a_page_where_no_selector_sees_what_holds_them():
    assert "figure [style" not in dark_rules("figure ")
    assert "figure svg{" in dark_rules("figure ")


def test_a_page_names_columns_and_units_in_words():
    found = ldpkit.plan.survey({"commute": 4, "age": ldpkit.IntervalDomain(0, 120)}, epsilon=1.0, people=5000)
    page = found.page(command="ldpkit plan survey --with-hyphens")
    assert "of wanted</th>" in page
    assert "of_wanted" not in re.sub(r"base64,[^\"]*", "", page)
    assert "<span>--with-hyphens</span>" in page  # a browser breaks lines behind hyphens
    measured = ldpkit.bench.frequencies([600, 300, 100], ["grr", "oue"], methods="none", repeats=5)
    assert "in units of 1e-3" in measured.page()


def test_mechanisms_keep_their_names_at_the_beginning_of_a_sentence():
    found = ldpkit.plan.errors(["sw", "pm"], [1.0, 2.0], (0, 120))
    assert found.answer("years").startswith(
        "At epsilon 2, sw has the smallest expected |y - x| of one report"
    )
    risks = ldpkit.risk(["grr", "oue", "ss"], epsilon=[1, 2], domain=4).page()
    assert risks.count("At epsilon 1, whatever") == risks.count("At epsilon 2, whatever") == 1


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_ink_can_be_read_in_light_and_dark():
    dark = dict(re.findall(r'fill: (#\w+)"\]\{fill:(#\w+)', dark_rules()))
    assert contrast(INK, PAPER) > 12 < contrast(dark[INK], dark[PAPER])
    for colour in COLOURS[:3]:
        assert contrast(colour, PAPER) >= 3
        assert contrast(dark.get(colour, colour), dark[PAPER]) >= 3


def test_the_table_of_sums_is_on_the_page_rounded_outwards():
    found = ldpkit.Tally(ldpkit.GRR(5, epsilon=1), 800, [240, 190, 150, 120, 100]).estimate()
    data = sums_data(found)
    assert len(data["knots"]) == 4
    for chosen in ([0, 1], [1, 2, 4], [0, 1, 2, 3]):
        exact = found.share_of(chosen)
        size, unbiased = len(chosen) - 1, sum(data["unbiased"][each] for each in chosen)
        low, high = (
            np.interp(unbiased, data["knots"][size], data[end][size]) + sign * data["slack"]
            for end, sign in (("low", -1), ("high", 1))
        )
        assert max(low, 0) <= exact.low + 1e-9
        assert min(high, 1) >= min(exact.high, 1) - 1e-9
        assert math.isclose(exact.share, sum(data["values"][each] for each in chosen), abs_tol=1e-7)


def test_a_page_says_that_its_epsilon_is_that_of_one_report():
    """A collection may ask more, and a file of reports does not know of it."""
    page = ldpkit.Tally(ldpkit.GRR(3, epsilon=1), 100, [50, 30, 20]).estimate().page()
    assert "from one report alone: a person who answers more questions or rounds spends more" in page
    assert "from one report alone" not in ldpkit.audit(ldpkit.GRR(3, epsilon=1), reports=1000).page()


def test_a_page_tells_what_is_recorded_and_an_epsilon_that_can_be_read():
    numbers = ldpkit.get("pm", (0, 120), epsilon=1)
    exact = numbers.exact_epsilon()
    assert 0.9999 < exact < 1
    found = numbers.tally(numbers.privatize([20.0] * 90, rng=seeded(1))).estimate()
    for known in (Provenance("seeded"), Provenance(devices="unknown")):
        signed = known.sign(found)
        assert "unknown" not in signed.page()
        assert "exact epsilon 1.0<" in signed.page()
        assert signed.to_dict()["about"]["provenance"]["batches"] == "unknown"
        assert signed.to_dict()["about"]["mechanisms"][0]["exact_epsilon"] == exact
    assert "randomness seeded" in Provenance("seeded").sign(found).page()


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the script of the page")
def test_the_script_of_a_page_rounds_outwards_as_python_does():
    """One process of node, for the script that a reader's browser runs."""
    function = re.search(r"const percent = .*?\n  }\n", SCRIPT, re.DOTALL)
    cases = [
        (0.015, 0.345),
        (0.0, 0.44999999999999996),
        (0.29, 0.57),
        (0.281, 0.285),
        (1 / 3, 2 / 3),
        (0.3, 1.0),
    ]
    calls = f"""console.log(JSON.stringify({json.dumps(cases)}.map(([low, high]) => [
      percent(low, (high - low) / 2, Math.floor), percent(high, (high - low) / 2, Math.ceil)])))"""
    run = subprocess.run(["node", "-e", function[0] + calls], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [
        list(interval_texts(low, low, high, share=True)[1:]) for low, high in cases
    ]


@pytest.mark.parametrize(
    ("at_most", "lines", "passes"),
    [
        (None, {"stated by the mechanism: 2": 2.0}, True),
        (1.0, {"stated by the mechanism: 2": 2.0, "limit: 1": 1.0}, False),
        (3.0, {"stated by the mechanism: 2": 2.0, "limit: 3": 3.0}, True),
    ],
)
def test_an_audit_draws_and_names_every_bound(at_most, lines, passes):
    """The line said 'stated' where the limit was what failed."""
    found = ldpkit.audit(ldpkit.GRR(3, epsilon=2), reports=1000, at_most=at_most, rng=seeded(1))
    axes = found.figure().axes[0]
    drawn = {line.get_label(): float(line.get_segments()[0][0][0]) for line in axes.collections}
    assert drawn == lines
    named = {text.get_text() for text in axes.get_legend().get_texts()}
    assert named == set(lines)
    assert axes.get_title(loc="left") == found.title
    assert found.passed == passes
    hatched = [bar.get_hatch() is not None for bar in axes.patches]
    assert any(hatched) != passes
    said = alt_text(found)
    assert "the mechanism states 2" in said
    assert ("the limit is" in said) == (at_most is not None)
    assert at_most is None or f"the limit is {at_most:g}" in said
    assert found.to_dict()["about"]["limit"] == at_most
