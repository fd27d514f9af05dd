"""What `ldpkit privatize` asks about mechanisms with memory: whether devices are new, or who they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.reading import STANDARD
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    import numpy as np

    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Reports, Values
    from ldpkit.mechanisms.base import Mechanism
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["IdsOption", "Memory", "NewDevicesOption", "QuestionOption", "SecretFileOption"]

NewDevicesOption = Annotated[
    bool,
    typer.Option(
        "--new-devices",
        help="For longitudinal mechanisms: none of these devices has answered before.",
    ),
]
IdsOption = Annotated[
    str | None,
    typer.Option(
        "--ids",
        metavar="COLUMN",
        help="For longitudinal mechanisms: the column with each person's id, the same at every run.",
        show_default=False,
    ),
]
SecretFileOption = Annotated[
    Path | None,
    typer.Option(
        "--secret-file",
        metavar="FILE",
        help="With --ids: the file with the secret, at least 16 random bytes, that permanent reports "
        "are derived from. Keep it: a new one draws them again.",
        show_default=False,
    ),
]
QuestionOption = Annotated[
    str | None,
    typer.Option(
        "--question",
        metavar="NAME",
        help="With --ids: what is asked. Each question has permanent reports of its own.",
        show_default=False,
    ),
]

_MOST_SECRET = 4096


@dataclass(frozen=True)
class Memory:
    """What the user said about the memory of the devices."""

    new_devices: bool = False
    ids: str | None = None
    secret_file: Path | None = None
    question: str | None = None

    def check(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism with memory without a word about it, and the other way round."""
        name = mechanism.name
        given = [option for option, value in self._options() if value not in (None, False)]
        if not mechanism.can("memoized"):
            if given:
                raise InvalidParameterError(f"{name} keeps nothing on the device: leave out {given[0]}")
            return
        if self.new_devices:
            if len(given) > 1:
                raise InvalidParameterError(f"new devices have no memory: leave out {given[1]} or {given[0]}")
            return
        missing = [option for option, value in self._options()[1:] if value is None]
        if len(missing) == 3:
            raise InvalidParameterError(
                f"{name} makes a permanent report that a device must keep, or each further run gives more "
                "away: give --ids, --secret-file and --question, or --new-devices if none of these devices "
                "has answered before"
            )
        if missing:
            raise InvalidParameterError(
                f"{missing[0]} is missing: memory takes --ids, --secret-file and --question"
            )

    def _options(self) -> list[tuple[str, object]]:
        return [
            ("--new-devices", self.new_devices),
            ("--ids", self.ids),
            ("--secret-file", self.secret_file),
            ("--question", self.question),
        ]

    @property
    def devices(self) -> str | None:
        """What is recorded about the devices: "new", "kept", or nothing for mechanisms without memory."""
        return "new" if self.new_devices else "kept" if self.ids is not None else None

    def stream(
        self, oracle: FrequencyOracle, pieces: Iterable[Values], rng: RandomSource
    ) -> Iterator[Reports]:
        """Return the reports of people without memory, or with new devices, a chunk at a time."""
        from ldpkit.mechanisms.kinds import is_memoized

        self.check(oracle)
        if is_memoized(oracle):
            return oracle.privatize_stream(pieces, rng=rng, new_devices=self.new_devices)
        return oracle.privatize_stream(pieces, rng=rng)

    def chunks(
        self, oracle: FrequencyOracle, values: Values, rng: RandomSource, table: Path, column: str | None
    ) -> Iterator[Reports]:
        """Return the reports in chunks, refusing everything that can be refused first."""
        from ldpkit.mechanisms.kinds import is_memoized

        self.check(oracle)
        if not is_memoized(oracle):
            return oracle.privatize_chunks(values, rng=rng)
        if self.ids is None or self.secret_file is None:
            return oracle.privatize_chunks(values, rng=rng, new_devices=self.new_devices)
        if self.ids == column:
            raise InvalidParameterError(
                f"the column {column!r} holds the values: the ids must be in another one"
            )
        return oracle.privatize_chunks(
            values,
            rng=rng,
            people=_read_ids(table, self.ids),
            secret=_read_secret(self.secret_file),
            question=self.question,
        )


def _read_ids(table: Path, column: str) -> np.ndarray[Any, Any]:
    from ldpkit.files.readers import STANDARD_INPUT, column_names, read_column

    if str(table) == STANDARD_INPUT:
        raise InvalidInputError("--ids needs a table that can be read twice: save standard input to a file")
    if not column_names(table):
        raise InvalidInputError(
            f"{str(table)!r} is a list without columns, so it has no ids: give a CSV, TSV or Parquet table"
        )
    found = read_column(table, column)
    if found.dtype.kind == "f":
        raise InvalidInputError(f"the ids in column {column!r} are decimals: ids are text or whole numbers")
    return found


def _read_secret(path: Path) -> bytes:
    """Return the secret in a file; a line end behind it is not part of it."""
    if str(path) == STANDARD:
        raise InvalidParameterError("--secret-file is a file, not standard input: give it a name")
    if path.exists() and not path.is_file():
        raise InvalidParameterError(f"the secret {str(path)!r} is not a file: save it once and keep it")
    try:
        with path.open("rb") as stream:
            secret = stream.read(_MOST_SECRET + 1)
    except OSError as error:
        raise InvalidParameterError(
            f"the secret {str(path)!r} cannot be read ({error.strerror}): "
            f"make one, once, with: head -c 32 /dev/urandom > {path.name}"
        ) from None
    if len(secret) > _MOST_SECRET:
        raise InvalidParameterError(
            f"the secret {str(path)!r} has more than {_MOST_SECRET} bytes: give the right file, 32 bytes do"
        )
    return secret.rstrip(b"\r\n")
