"""`ldpkit plan cluster`."""

from __future__ import annotations

import json

import ldpkit
from ldpkit.planning.cluster import cluster


def test_the_command_shows_the_plan(run):
    words = ("plan", "cluster", "--people", 10**9, "-p", "olh", "--domain", 1024, "-e", 1)
    found = json.loads(run(*words, "--questions", 3, "--engine", "spark-rows", "--format", "json").out)
    assert (
        found["rows"] == cluster(ldpkit.OLH(1024, epsilon=1), 10**9, questions=3, engine="spark rows").rows()
    )
    assert "core-hours" in run(*words).out


def test_what_is_missing_is_asked_for(run):
    assert "give it with -p" in run("plan", "cluster", "--people", 5, code=2).error_line
    assert "--domain" in run("plan", "cluster", "--people", 5, "-p", "olh", "-e", 1, code=2).error_line
