"""What each test costs in CPU seconds, with its child processes; the most expensive are printed at the end.

Wall times say nothing on a shared machine. A shared fixture counts for the test that needs it first.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

__all__ = ["Costs"]

_SHOWN = 20


def spent() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


class Costs:
    """A pytest plugin that adds up what each test costs; workers of pytest-xdist report to it."""

    def __init__(self) -> None:
        self._before = spent()
        self._cases: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._before = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = spent()
        report.cpu_seconds, self._before = now - self._before, now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._cases[report.nodeid] += getattr(report, "cpu_seconds", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        functions: Counter[str] = Counter()
        for case, seconds in self._cases.items():
            functions[case.partition("[")[0]] += seconds
        terminalreporter.section(
            f"CPU seconds of the tests: {functions.total():.1f}, the {_SHOWN} most expensive"
        )
        for name, seconds in functions.most_common(_SHOWN):
            terminalreporter.write_line(f"{seconds:6.2f}  {name}")
        if file := os.environ.get("LDPKIT_TEST_COSTS"):
            lines = (f"{seconds:.4f}\t{case}\n" for case, seconds in self._cases.most_common())
            Path(file).write_text("".join(lines))
