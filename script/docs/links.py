"""No broken link: after a build, every link and picture of the site leads somewhere, anchors included.

MkDocs loads this file as a hook: a build with a broken link fails. `python script/docs/links.py FOLDER`
checks a site that is built already. Addresses elsewhere are checked for their form alone: nothing is sent.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

__all__ = ["Page", "broken_links"]

_LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "iframe": "src"}
_ELSEWHERE = ("http", "https", "mailto", "data")


class Page(HTMLParser):
    """What a page of HTML links to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the links and anchors of a tag."""
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif name == _LINKS.get(tag) and value is not None:
                self.links.append(value)


def broken_links(site: Path) -> list[str]:
    """Return a line for each link of a site that leads nowhere."""
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    broken = []
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            problem = _problem(link, path, site.resolve(), pages)
            if problem:
                broken.append(f"{path.relative_to(site.resolve())}: {link!r}: {problem}")
    return broken


def _problem(link: str, page: Path, site: Path, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        if parts.scheme not in _ELSEWHERE:
            return "no address that a page may have"
        is_web = parts.scheme in ("http", "https")
        return "an address without a host" if is_web and "." not in parts.netloc else None
    target = page
    if parts.path:
        start = site if parts.path.startswith("/") else page.parent
        target = (start / unquote(parts.path).lstrip("/")).resolve()
        target = target / "index.html" if target.is_dir() else target
    if not target.is_relative_to(site) or not target.is_file():
        return "there is no such file"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "the page has no such anchor"
    return None


def on_post_build(config: MkDocsConfig) -> None:
    """Stop a build whose site has a broken link."""
    from mkdocs.exceptions import PluginError

    broken = broken_links(Path(config.site_dir))
    if broken:
        raise PluginError("\n".join([f"{len(broken)} broken links:", *broken]))


if __name__ == "__main__":
    found = broken_links(Path(sys.argv[1]))
    print(*found, f"{len(found)} broken links", sep="\n")
    sys.exit(bool(found))
