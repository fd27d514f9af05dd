"""Figures and pages of results: what every command that has a result can write, checked before any work."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.cli.moment import moment
from ldpkit.cli.outputs import (
    check_extra,
    check_figure,
    check_outputs,
    check_page,
    check_result,
    write_text,
)
from ldpkit.cli.printing import note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ldpkit.cli.options import ResultOptions
    from ldpkit.core.results import Result

__all__ = ["Pictures", "command_line"]


def command_line() -> str:
    """Return the command that is running, as a shell takes it."""
    return shlex.join(["ldpkit", *sys.argv[1:]])


@dataclass(frozen=True)
class Pictures:
    """The figure and the page that a user wants of a result; neither, one or both.

    Parameters
    ----------
    figure, report : Path or None
        Where they go.
    title, unit : str or None
        What stands above the page, and what the user's numbers are measured in.
    inputs : sequence
        What is read, by the names that the page gives.
    seed : int or None
        What makes the result repeatable.
    """

    figure: Path | None
    report: Path | None
    title: str | None = None
    unit: str | None = None
    inputs: Sequence[str | Path | None] = ()
    seed: int | None = None

    @classmethod
    def wanted(
        cls,
        figure: Path | None,
        report: Path | None,
        title: str | None = None,
        unit: str | None = None,
        *,
        force: bool = False,
        shown: ResultOptions | None = None,
        inputs: Sequence[str | Path | None] = (),
        outputs: Mapping[str, Path | None] | None = None,
        seed: int | None = None,
    ) -> Pictures:
        """Return what is wanted, or refuse what could not be written, before any work is done.

        Parameters
        ----------
        figure, report, title, unit, inputs, seed
            As the class has them.
        force : bool
            Whether files may be overwritten; if there is a `shown`, it decides.
        shown : ResultOptions, optional
            Where the result itself goes.
        outputs : mapping, optional
            Other files that the command writes, by their options: no two may be one.
        """
        outputs = dict(outputs or {})
        if shown is not None:
            check_result(shown)
            force, outputs["--output"] = shown.force, shown.output
        check_figure(figure, force=force)
        check_page(report, force=force)
        if report is not None:
            check_extra("matplotlib")
        check_outputs({"--figure": figure, "--report": report, **outputs}, force=force)
        return cls(figure, report, title, unit, inputs, seed)

    def save(self, result: Result, draw: Callable[..., Figure] | None = None) -> None:
        """Write what is wanted of a result.

        Parameters
        ----------
        result : Result
            What was found.
        draw : callable, optional
            What makes its figure, where that knows more than the result: it takes `unit` and `narrow`.
        """
        unit = self.unit or ""
        if self.figure is not None:
            from ldpkit.figures.canvas import save_figure
            from ldpkit.figures.drawing import alt_text

            options: dict[str, Any] = {"unit": unit} if unit else {}
            made = result.figure(**options) if draw is None else draw(**options)
            save_figure(made, self.figure, alt=alt_text(result, unit))
            note(f"wrote {self.figure}")
        if self.report is not None:
            page = result.page(
                command=command_line(),
                title=self.title or "",
                unit=unit,
                inputs=[Path(each).name for each in self.inputs if each is not None],
                seed=self.seed,
                made=moment(),
                draw=draw,
            )
            write_text(self.report, page)
            note(f"wrote {self.report}")
