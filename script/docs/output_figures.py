"""Figures of guide pages, drawn from the output that a page shows: they cannot say anything else."""

from __future__ import annotations

from collections.abc import Callable

from drawing import WIDTH, Picture, Scale, curves, line, text

_ROW, _LEFT = 38.0, 74.0


def printed_table(page: str, *columns: str) -> list[dict[str, str]]:
    """Return the rows of the first printed table that has these columns, by the names of its columns."""
    lines = page.splitlines()
    for place, written in enumerate(lines[1:], start=1):
        head = lines[place - 1].split()
        if written.startswith("──") and set(columns) <= set(head):
            rows: list[dict[str, str]] = []
            for row in map(str.split, lines[place + 1 :]):
                if len(row) != len(head):
                    return rows
                rows.append(dict(zip(head, row, strict=True)))
    raise LookupError(f"no output has the columns {', '.join(columns)}")


def _attack(page: str) -> Picture:
    rows = printed_table(page, "reports", "found", "found_without_memo", "bound")
    names = {"memoized": "found", "without memoization": "found_without_memo"}
    return curves(
        [float(row["reports"]) for row in rows],
        [(name, [float(row[column]) for row in rows]) for name, column in names.items()],
        title="Without memoization the attack finds nearly every value; with it, hardly more than the bound",
        x_axis="reports about one value, logarithmic",
        y_axis="share of devices whose value is found",
        reference=(float(rows[0]["bound"]), "bound, with memoization"),
        below=True,
    )


def _commute(page: str) -> Picture:
    rows = printed_table(page, "value", "frequency", "low", "high")
    across = Scale(0.0, 1.05 * max(float(row["high"]) for row in rows), _LEFT, WIDTH - 16)
    top, bottom = 10.0, 10.0 + _ROW * len(rows)
    marks = ""
    for tick in across.ticks():
        x = across(tick)
        marks += line(x, top, x, bottom)
        marks += text(x, bottom + 18, f"{tick:.0%}", colour="soft", size=12, anchor="middle")
    told = []
    for place, row in enumerate(rows):
        share, low, high = (float(row[name]) for name in ("frequency", "low", "high"))
        y = top + _ROW * (place + 0.5)
        marks += text(_LEFT - 8, y + 4, row["value"], anchor="end")
        wide = across(share) - _LEFT
        marks += (
            f'<rect x="{_LEFT:g}" y="{y - 11:.1f}" width="{wide:.1f}" height="22" class="f1" opacity="0.55"/>'
        )
        marks += line(across(low), y, across(high), y, "ink", 2)
        marks += "".join(line(across(end), y - 5, across(end), y + 5, "ink", 2) for end in (low, high))
        told.append(f"{row['value']} {row['frequency']}, from {row['low']} to {row['high']}")
    axis = "share of people, with 95% intervals"
    marks += text((_LEFT + WIDTH) / 2, bottom + 40, axis, colour="soft", anchor="middle")
    words = f"Bars with error bars for the share of people. {'; '.join(told)}."
    return Picture(WIDTH, bottom + 50, marks, "How 4,000 people come to work", words)


OUTPUTS: dict[str, Callable[[str], Picture]] = {"attack": _attack, "commute": _commute}
