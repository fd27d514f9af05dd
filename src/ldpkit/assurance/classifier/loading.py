"""Models from files: skops by default, pickle and joblib only on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidParameterError,
    MissingDependencyError,
)

__all__ = ["load_model"]

_PICKLES = (".pkl", ".pickle", ".joblib")


def load_model(path: str | Path, *, unsafe_pickle: bool = False, trusted: list[str] | None = None) -> Any:
    """Return the model of a file.

    Parameters
    ----------
    path : path
        A .skops file; with `unsafe_pickle` also .pkl, .pickle or .joblib.
    unsafe_pickle : bool
        Whether to load a pickle. Loading one runs whatever code its author put into it, so this is
        for files that you made yourself.
    trusted : list of str, optional
        Types beyond those of scikit-learn that a .skops file may contain.
    """
    place = Path(path)
    if not place.is_file():
        raise InvalidInputError(f"there is no model file {str(path)!r}")
    suffix = place.suffix.lower()
    if suffix in _PICKLES:
        if not unsafe_pickle:
            raise InvalidParameterError(
                f"{str(path)!r} is a pickle, and loading one runs whatever code its author put into it: save "
                "the model with skops, or give --unsafe-pickle if you made the file yourself"
            )
        return _unpickled(place)
    if suffix != ".skops":
        raise InvalidParameterError(
            f"a model is read from a .skops file, got {str(path)!r}: save it with skops"
        )
    try:
        import skops.io
    except ImportError:
        raise MissingDependencyError("skops", "reading a model", "models") from None
    try:
        unknown = [each for each in skops.io.get_untrusted_types(file=place) if each not in (trusted or [])]
    except Exception as error:  # skops passes on what zip, JSON and NumPy raise
        raise FileFormatError(f"{str(path)!r} is no skops file: {error}") from None
    if unknown:
        raise InvalidInputError(
            f"{str(path)!r} contains {', '.join(unknown)}, which skops does not know: load it in Python with "
            f"load_model(path, trusted={unknown!r}) if you trust its author"
        )
    return skops.io.load(place, trusted=trusted or [])


def _unpickled(place: Path) -> Any:
    try:
        import joblib
    except ImportError:
        raise MissingDependencyError("joblib", "reading a pickled model", "models") from None
    try:
        return joblib.load(place)
    except Exception as error:  # a pickle can raise anything
        raise FileFormatError(f"{str(place)!r} cannot be unpickled: {error}") from None
