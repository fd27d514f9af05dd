"""The gallery: runs the scripts of examples/ and makes the pages of the docs from what they did.

    python script/docs/gallery.py            # run what has changed since it was last run
    python script/docs/gallery.py --all      # run everything

Each script runs in a folder of its own, all of them in one process, with warnings as errors. What it
printed and drew is kept in `.gallery/`, under a key made from the script and the package: MkDocs, which
loads this file as a hook, runs only what is not there, so a page never shows what today's code would not
do, and no picture is committed. The tests run everything and leave their pictures to the docs.

A script saves a picture as users do, for paper. Its page shows the same figure as SVG, in the colours that
the reader prefers, and redrawn for a phone: a picture of eight inches has letters of six pixels there.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import html
import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".gallery"

GROUPS = {
    "Collect and estimate": [
        "first_estimate",
        "household_survey",
        "collector_service",
        "report_files",
        "subgroups_and_trends",
        "daily_question",
        "tally_with_dask",
    ],
    "Plan before you collect": ["choose_epsilon", "compare_methods", "water_capacity", "likelihood"],
    "Numbers, times and places": [
        "screen_time",
        "income_distribution",
        "closest_report",
        "bedtimes",
        "where_people_are",
        "trajectories",
    ],
    "Review and go further": [
        "review_a_promise",
        "what_a_report_reveals",
        "pairs",
        "loan_classifier",
        "own_mechanism",
    ],
}
"""What stands where in the gallery."""

_FRAME = 8 / 5  # of a thumbnail, as in the style
_PHONE = 4.4  # inches, in which letters have their size on a phone
_STYLE = """<style>
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); gap: 1rem; }
.gallery a { display: block; border: 1px solid var(--md-default-fg-color--lightest); border-radius: .3rem; }
.gallery a { padding: .5rem; color: var(--md-typeset-a-color); }
.gallery a:hover, .gallery a:focus { border-color: currentcolor; }
.gallery img { display: block; width: 100%; aspect-ratio: 8 / 5; object-fit: contain; }
.gallery span { display: block; margin-top: .4rem; line-height: 1.3; }
</style>
"""


@dataclass(frozen=True)
class Example:
    """A script, and what its docstring says."""

    name: str
    source: str

    @property
    def path(self) -> Path:
        """Where the script is."""
        return ROOT / "examples" / f"{self.name}.py"

    @property
    def docstring(self) -> str:
        """What the script says about itself."""
        found = re.match(r'"""(.*?)"""\n\n', self.source, re.S)
        if found is None:
            raise ValueError(f"examples/{self.name}.py has no docstring at its top")
        return found.group(1)

    @property
    def title(self) -> str:
        """The first line, without its full stop."""
        return self.docstring.partition("\n")[0].removesuffix(".")

    @property
    def task(self) -> str:
        """The question in the user's words."""
        return self.docstring.partition("\n")[2].partition("\nFigure:")[0].strip()

    @property
    def code(self) -> str:
        """What comes after the docstring."""
        return self.source.partition('"""\n\n')[2]

    def line(self, key: str) -> str:
        """Return what the docstring says after `key: `."""
        found = re.search(rf"^{key}: (.+)$", self.docstring, re.M)
        if found is None:
            raise ValueError(f"the docstring of examples/{self.name}.py has no line '{key}: ...'")
        return found.group(1)

    @property
    def folder(self) -> Path:
        """Where its output and its picture are kept; another for another script or package."""
        key = hashlib.sha256(f"{_package_digest()}\n{self.source}".encode()).hexdigest()[:16]
        return KEPT / f"{self.name}-{key}"


@cache
def _package_digest() -> str:
    import matplotlib
    import numpy

    digest = hashlib.sha256(f"{matplotlib.__version__} {numpy.__version__}".encode())
    for path in (Path(__file__), *sorted((ROOT / "src" / "ldpkit").rglob("*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def examples() -> list[Example]:
    """Return the examples in the order of the gallery."""
    names = [name for group in GROUPS.values() for name in group]
    return [Example(name, (ROOT / "examples" / f"{name}.py").read_text()) for name in names]


def run(example: Example) -> float:
    """Run a script in an empty folder, keep its output and its picture, and return its CPU seconds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    printed = io.StringIO()
    saved: list[Figure] = []
    before, back = _cpu(), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="ldpkit-example-") as folder:
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(printed), warnings.catch_warnings(), _watched(saved) as narrow:
                warnings.simplefilter("error")
                runpy.run_path(str(example.path), run_name="__main__")
        finally:
            os.chdir(back)
            pyplot.close("all")
        picture = Path(folder, f"{example.name}.png")
        if not printed.getvalue().strip() or not picture.exists():
            raise ValueError(f"examples/{example.name}.py must print a result and write {picture.name}")
        for old in KEPT.glob(f"{example.name}-*"):
            shutil.rmtree(old)
        example.folder.mkdir(parents=True)
        _keep(example, saved[-1], narrow)
    seconds = _cpu() - before
    told = {"output": printed.getvalue(), "seconds": round(seconds, 2)}
    (example.folder / "told.json").write_text(json.dumps(told))
    return seconds


@contextlib.contextmanager
def _watched(saved: list[Figure]) -> Iterator[dict[int, Callable[[], Figure]]]:
    """Note the figures that are saved, and how those of results are drawn for a phone."""
    from matplotlib.figure import Figure

    from ldpkit.core.results import Result

    save, draw = Figure.savefig, Result.figure
    narrow: dict[int, Callable[[], Figure]] = {}

    def noting_save(self: Figure, *args: Any, **options: Any) -> None:
        saved.append(self)
        save(self, *args, **options)

    def noting_draw(self: Result, **options: Any) -> Figure:
        made = draw(self, **options)
        narrow[id(made)] = lambda: draw(self, **{**options, "narrow": True})
        return made

    Figure.savefig, Result.figure = noting_save, noting_draw  # type: ignore[method-assign]  # noted
    try:
        yield narrow
    finally:
        Figure.savefig, Result.figure = save, draw  # type: ignore[method-assign]  # as before


def _keep(example: Example, figure: Figure, narrow: dict[int, Callable[[], Figure]]) -> None:
    """Write the figure of an example for its page, and as narrow as a phone."""
    from ldpkit.figures.canvas import svg_text

    alt = example.line("Figure")
    (example.folder / "figure.svg").write_text(svg_text(figure, alt, dark=True))
    if id(figure) in narrow:
        figure = narrow[id(figure)]()
    else:  # drawn by the script itself: as it is, on less room
        figure.set_size_inches(_PHONE, figure.get_size_inches()[1])
    (example.folder / "figure-narrow.svg").write_text(svg_text(figure, alt, dark=True))


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> int:
    """Run the examples that are asked for; return 1 if one of them fails."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("names", nargs="*", help="examples; by default all that have changed")
    options.add_argument("--all", action="store_true", help="run what has not changed as well")
    asked = options.parse_args()
    failed = []
    for example in examples():
        if example.name not in (asked.names or [example.name]):
            continue
        if (example.folder / "told.json").exists() and not asked.all and not asked.names:
            continue
        try:
            print(f"{run(example):6.2f} CPU s  {example.name}", flush=True)
        except BaseException:
            failed.append(example.name)
            traceback.print_exc()
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def page(example: Example, folder: str = "../") -> str:
    """Return the page of an example that has been run; `folder` is where the pictures are."""
    output = json.loads((example.folder / "told.json").read_text())["output"]
    guide, name = example.line("Guide"), example.name
    more = f"Read more: [{_title_of(guide)}](../{guide}). Run it with `python examples/{name}.py`;"
    more += f" it writes `{name}.png`."
    return "\n".join(
        [
            f"# {example.title}",
            "",
            example.task,
            "",
            f'<picture><source media="(max-width: 600px)" srcset="{folder}{name}-narrow.svg">',
            f'<img src="{folder}{name}.svg" alt="{html.escape(example.line("Figure"))}"></picture>',
            "",
            more,
            "",
            "```python",
            example.code.strip(),
            "```",
            "",
            "It prints:",
            "",
            "```text",
            output.strip("\n"),
            "```",
            "",
        ]
    )


def _title_of(document: str) -> str:
    return (ROOT / "docs" / document).read_text().partition("\n")[0].removeprefix("# ")


def index(ending: str = "/") -> str:
    """Return the page with all the pictures; addresses of pages end with a slash, or with .html."""
    known = {example.name: example for example in examples()}
    parts = [
        "# Gallery",
        "",
        "One short script for each task. Every picture and every output comes from running",
    ]
    parts += ["the script as it is shown, on invented people: you need no data to try it.", "", _STYLE]
    for group, names in GROUPS.items():
        parts += [f"## {group}", "", '<div class="gallery">']
        for example in map(known.__getitem__, names):
            alt, title = (html.escape(text) for text in (example.line("Figure"), example.title))
            picture = f'<img src="{_thumbnail(example)}" alt="{alt}" loading="lazy">'
            parts.append(f'<a href="{example.name}{ending}">{picture}<span>{title}</span></a>')
        parts += ["</div>", ""]
    return "\n".join(parts)


def _thumbnail(example: Example) -> str:
    """Return the picture that fills the frame best: the narrow one, whose letters are larger, or the wide."""

    def filled(kind: str) -> float:
        drawn = (example.folder / f"figure{kind}.svg").read_text()
        width, height = (float(each) for each in re.findall(r' (?:width|height)="([\d.]+)pt"', drawn)[:2])
        return min(width / height / _FRAME, _FRAME * height / width)

    return f"{example.name}{max(('-narrow', ''), key=filled)}.svg"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the gallery to the files of the site, running what has changed in a process of its own."""
    from mkdocs.exceptions import PluginError
    from mkdocs.structure.files import File

    environment = {**os.environ, "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PluginError(f"the gallery does not run:\n{done.stderr}")
    ending, folder = ("/", "../") if config.use_directory_urls else (".html", "")
    files.append(File.generated(config, "gallery/index.md", content=index(ending)))
    for example in examples():
        files.append(File.generated(config, f"gallery/{example.name}.md", content=page(example, folder)))
        for kind in ("", "-narrow"):
            picture = str(example.folder / f"figure{kind}.svg")
            files.append(File.generated(config, f"gallery/{example.name}{kind}.svg", abs_src_path=picture))
    return files


if __name__ == "__main__":
    sys.exit(main())
