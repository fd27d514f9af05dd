"""The command that installs an extra, for every way in which ldpkit can have come."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from ldpkit.core import installing
from ldpkit.core.installing import install_command


def _noted(monkeypatch, text):
    class Distribution:
        def read_text(self, name):
            assert name == "direct_url.json"
            return text

    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Distribution())


def test_a_checkout_is_installed_from_its_folder():
    checkout = Path(__file__).resolve().parents[2]
    assert install_command("serve").endswith(f' -m pip install -e "{checkout}[serve]"')


@pytest.mark.parametrize("text", [None, "no JSON", "{}", "[]", '{"url": "https://example.org/ldpkit.zip"}'])
def test_what_came_from_an_index_is_installed_by_name(monkeypatch, tmp_path, text):
    monkeypatch.setattr(installing, "_PACKAGE", tmp_path / "site-packages" / "ldpkit")
    _noted(monkeypatch, text)
    assert install_command("serve").endswith(' -m pip install "ldpkit[serve]"')


def test_what_came_from_a_folder_is_installed_from_it_while_it_is_there(monkeypatch, tmp_path):
    monkeypatch.setattr(installing, "_PACKAGE", tmp_path / "site-packages" / "ldpkit")
    source = tmp_path / "a folder"
    _noted(monkeypatch, json.dumps({"url": source.as_uri(), "dir_info": {}}))
    assert install_command("serve").endswith(' install "ldpkit[serve]"')
    source.mkdir()
    (source / "pyproject.toml").touch()
    assert install_command("serve").endswith(f' install "{source}[serve]"')


def test_without_metadata_the_name_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(installing, "_PACKAGE", tmp_path / "site-packages" / "ldpkit")

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert install_command("serve").endswith(' install "ldpkit[serve]"')
