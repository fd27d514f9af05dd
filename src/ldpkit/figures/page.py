"""The shell of every HTML page: one self-contained file that works offline, in light and dark."""

from __future__ import annotations

import html
import io
from string import Template
from typing import TYPE_CHECKING

from ldpkit import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["inline_svg", "write_page"]

_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>$title</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; overflow-wrap: anywhere } h2 { font-size: 1.2rem; margin-top: 2rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .4rem .6rem; border-bottom: 1px solid #8886; text-align: left; vertical-align: top }
pre { background: #8882; padding: .8rem; overflow-x: auto }
svg { max-width: 100%; height: auto } .scroll { overflow-x: auto }
dt { font-weight: 600 } dd { margin: 0 0 .4rem 1rem }
$style
</style></head><body>
<h1>$title</h1>
$body
<h2>How this page was made</h2>
<pre>$command</pre>
<p>$made</p>
</body></html>
""")


def write_page(title: str, body: str, *, command: str, style: str = "", made: str = "") -> str:
    """Return a page.

    Parameters
    ----------
    title : str
        What stands above, as text.
    body : str
        What stands below, as HTML.
    command : str
        What made the page, as text.
    style : str
        Rules of CSS beyond those of every page.
    made : str
        What else is to be known of how it was made, as text.

    Examples
    --------
    >>> page = write_page("<Rome>", "<p>All is well.</p>", command="ldpkit audit -p grr")
    >>> "<h1>&lt;Rome&gt;</h1>" in page, "http" in page
    (True, False)
    """
    facts = f"ldpkit {__version__}" + (f", {made}." if made else ".")
    return _PAGE.substitute(
        title=html.escape(title),
        body=body,
        command=html.escape(command),
        style=style,
        made=html.escape(facts),
    )


def inline_svg(figure: Figure) -> str:
    """Return a figure as inline SVG, so that a page needs no other file."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
