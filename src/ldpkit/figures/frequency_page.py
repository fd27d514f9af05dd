"""What the page of estimated frequencies has of its own: percentages, and sums of chosen values."""

from __future__ import annotations

import json
from typing import Any

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.numbertext import interval_text
from ldpkit.core.tables import Table, cell_text
from ldpkit.core.text import as_html
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.sums import sum_table
from ldpkit.figures.page import section

__all__ = ["SCRIPT", "percent_tables", "sums_data", "sums_part"]

_MOST_ROWS = 200
_MOST_ADDED = 60  # values in a list of boxes
SCRIPT = """
const told = document.getElementById("sums-data")
if (told) {
  const data = JSON.parse(told.textContent), boxes = [...document.querySelectorAll("#sums input")]
  const at = (knots, ends, x) => {
    if (x <= knots[0]) return ends[0]
    for (let i = 1; i < knots.length; i++) if (x <= knots[i]) {
      const part = (x - knots[i - 1]) / (knots[i] - knots[i - 1])
      return ends[i - 1] + part * (ends[i] - ends[i - 1])
    }
    return ends[ends.length - 1]
  }
  const percent = (share, width, round) => {
    const digits = width > 0 ? Math.min(Math.max(1 - Math.floor(Math.log10(100 * width)), 1), 9) : 1
    const scale = 10 ** digits  // products are not exact: 10000 * 0.565 is 5649.999999999999
    const text = (round(Number((100 * scale * share).toPrecision(14))) / scale).toFixed(digits)
    return (Number(text) === 0 ? text.replace("-", "") : text) + "%"
  }
  const show = () => {
    const chosen = boxes.flatMap((box, i) => box.checked ? [i] : [])
    const out = document.getElementById("sum")
    if (!chosen.length) { out.textContent = "Choose at least one."; return }
    const names = chosen.map(i => data.labels[i]).join(" or ")
    const share = chosen.reduce((all, i) => all + data.values[i], 0)
    const unbiased = chosen.reduce((all, i) => all + data.unbiased[i], 0), size = chosen.length - 1
    if (chosen.length === boxes.length) { out.textContent = "Everybody holds one of all values."; return }
    let low = Math.max(at(data.knots[size], data.low[size], unbiased) - data.slack, 0)
    let high = Math.min(at(data.knots[size], data.high[size], unbiased) + data.slack, 1)
    low = Math.min(low, share); high = Math.max(high, share)
    const width = (high - low) / 2
    out.textContent = `${names}: ${percent(share, width, Math.round)} ` +
      `(${data.level}% interval ${percent(low, width, Math.floor)} to ${percent(high, width, Math.ceil)})`
  }
  for (const box of boxes) box.addEventListener("change", show)
  show()
}"""


def percent_tables(found: Estimate) -> list[Table]:
    """Return the most frequent values with shares in percent and people who are whole."""
    rows = [
        {
            "value": row["value"],
            f"share, {100 * found.level:g}% interval": interval_text(
                row["frequency"], row["low"], row["high"], share=True
            ),
            "standard error": f"{100 * row['stderr']:.2g}%",
            "people": f"{round(row['count']):,}",
        }
        for row in found.rows(_MOST_ROWS, sort="frequency")
    ]
    made = Table.of(rows, title=found.title, caption=found.tables(_MOST_ROWS)[0].caption)
    right = tuple(name in ("standard error", "people") for name in made.header)
    return [Table(made.title, made.header, made.rows, right, made.caption)]


def sums_data(found: Estimate) -> dict[str, Any]:
    """Return what a page needs for the interval of every sum: see `ldpkit.estimation.sums`."""
    return {
        "labels": [cell_text(label) for label in found.labels],
        "values": found.values.round(9).tolist(),
        "unbiased": found.unbiased.round(9).tolist(),
        "level": f"{100 * found.level:g}",
        **sum_table(found).to_json(),
    }


def sums_part(found: Estimate) -> str:
    """Return a list of boxes, and the share of people who have one of the values that are ticked."""
    if len(found) < 3:
        return ""
    if len(found) > _MOST_ADDED:
        told = (
            f"There are {len(found):,} values: add some of them up with estimate.share_of([...]) in Python."
        )
        return section("adding", "Several values together", f"<p>{told}</p>")
    try:
        data = sums_data(found)
    except InvalidInputError as error:
        told = str(error)
        return section("adding", "Several values together", f"<p>{as_html(told[0].upper() + told[1:])}.</p>")
    first = set(found.order(2, sort="frequency").tolist())
    boxes = "".join(
        f'<label><input type="checkbox"{" checked" if place in first else ""}> {as_html(label)}</label>'
        for place, label in enumerate(data["labels"])
    )
    each = " Each such interval holds on its own, not all of them at once." if not found.simultaneous else ""
    body = (
        "<p>Tick values to see how many people have one of them. Intervals of single values do not add up, "
        f"because their errors depend on each other; this one is computed for the sum itself.{each}</p>"
        f'<fieldset id="sums" class="screen"><legend>Add up</legend>{boxes}</fieldset>'
        '<output id="sum" for="sums" aria-live="polite"></output>'
        f'<script type="application/json" id="sums-data">{_inert(json.dumps(data))}</script>'
    )
    return section("adding", "Several values together", body)


def _inert(text: str) -> str:
    """Return JSON that cannot end the script it stands in."""
    return text.replace("<", "\\u003c")
