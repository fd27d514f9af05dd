"""Makes the page and the figure of every case, for `script/pages`: python -m cli.make_pages FOLDER."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from cli import page_cases
from ldpkit.cli.app import run
from ldpkit.core.numbertext import interval_text
from ldpkit.estimation.sums import SumTable
from ldpkit.figures.frequency_page import sums_data
from ldpkit.files.reportfile import tally_file


def called(*words: object) -> None:
    """Run a command, and go on unless it is refused."""
    sys.argv = ["ldpkit", *map(str, words)]
    try:
        run(sys.argv[1:])
    except SystemExit as end:
        if end.code not in (0, 1, None):
            raise


def expected_sum(reports: Path) -> str:
    """Return what the page of an estimate shows at first: the sum of the two most frequent values."""
    found = tally_file(reports).estimate()
    first = sorted(found.order(2, sort="frequency").tolist())
    names = " or ".join(str(found.labels[each]) for each in first)
    data = sums_data(found)  # rounded outwards, as the page has it
    table = SumTable(data["knots"], data["low"], data["high"], data["slack"])
    low, high = table.ends(2, float(found.unbiased[first].sum()))
    share = float(found.values[first].sum())
    return f"{names}: {interval_text(share, low, high, share=True, level=0.95)}"


def main() -> None:
    """Write everything into the folder that is named."""
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page_cases.make_inputs(folder, called)
        page_cases.make_model(folder)
        every = {**page_cases.cases(folder), "plan-classifier": page_cases.model_case(folder)}
        for case, words in every.items():
            page, figure = target / f"{case}.html", target / f"{case}.png"
            called(*words, "--report", page, "--figure", figure, "--force")
        town = folder / "town.toml"
        asked = ("--purpose", "How people travel.", "--question", "commute", "--text", "How do you travel?")
        ways = ",".join(page_cases.WAYS)
        called("collection", "new", town, *asked, "--domain", ways, "--n", 5000, "-e", 1)
        rehearsal = ("--n", 5000, "-r", 2, "--report", target / "collection-simulate.html", "--force")
        called("collection", "simulate", town, *rehearsal)
        (target / "estimate.sum").write_text(expected_sum(folder / "ways.ldp"))


if __name__ == "__main__":
    main()
