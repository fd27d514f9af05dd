"""The recipe of docs/guide/web-page.md for one's own machine, carried out with Chromium."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clients.node import prepare, run_node
from clients.test_typescript import CHROMIUM
from collector.serving import free_port

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "web-page.md"
COLLECTOR, PAGE = "18921", "18922"


def commands(text: str) -> list[str]:
    """Return the commands of the recipe up to where the page is opened, with lines that go on joined."""
    recipe = text.partition("\n## Try it on your own machine\n")[2].partition("\nOpen <")[0]
    blocks = re.findall(r"^```console\n(.*?)^```", recipe, re.MULTILINE | re.DOTALL)
    return [
        line.removeprefix("$ ")
        for block in blocks
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("$ ")
    ]


def test_the_recipe_for_your_own_machine(tmp_path: Path) -> None:
    """A real service, a page of another origin and a browser: what the guide says of each address is so."""
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}: run script/browser as root, or set LDPKIT_CHROMIUM")
    prepare()
    text = GUIDE.read_text()
    (tmp_path / "snippet.html").write_text(re.findall(r"```html\n(.*?)```", text, re.DOTALL)[0])
    ports = {COLLECTOR: str(free_port()), PAGE: str(free_port())}
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    try:
        told = re.sub(f"{COLLECTOR}|{PAGE}", lambda port: ports[port[0]], text)
        # A reader's collection has a name of its own.
        for command in commands(re.sub(r"\btown\.(?=toml|pem|pub|json)", "city.", told)):
            subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, check=True, timeout=60)
        there = (tmp_path / "page" / "index.html").read_text()
        collector, page = ports[COLLECTOR], ports[PAGE]
        assert f"http://127.0.0.1:{collector}/client.js" in there
        # plain.test stands for an address in the network: the browser finds it here, and does not trust it.
        away = there.replace(f"127.0.0.1:{collector}", f"plain.test:{collector}")
        (tmp_path / "page" / "away.html").write_text(away)
        opened = [
            f"http://127.0.0.1:{page}/",
            f"http://localhost:{page}/",
            (tmp_path / "page" / "index.html").as_uri(),
            f"http://plain.test:{page}/away.html",
            f"http://127.0.0.1:{page}/away.html",
        ]
        said = json.loads(run_node("test/guide.mjs", *opened))
    finally:
        for name in ("serve.pid", "page.pid"):
            if (tmp_path / name).exists():
                os.kill(int((tmp_path / name).read_text()), signal.SIGTERM)
    assert said[:3] == ["Thank you."] * 3
    for words, refusal in zip(said[3:], ("no secure context", "an https address"), strict=True):
        assert refusal in words
        assert refusal in text, "the guide tells the message as it is"
