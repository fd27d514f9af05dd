"""Models from files: skops by default, pickle and joblib only on demand."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from ldpkit.assurance.classifier.soundness import CHECKED, check_trees
from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidParameterError,
    MissingDependencyError,
)
from ldpkit.core.limits import check_memory

__all__ = ["load_model"]

_TAKES = 4  # so many bytes of memory a byte of the file takes, at the most: JSON and its objects
_PICKLES = (".pkl", ".pickle", ".joblib")


def load_model(path: str | Path, *, unsafe_pickle: bool = False, trusted: list[str] | None = None) -> Any:
    """Return the model of a file.

    A .skops file holds no code, and is read within the limit on memory of every other file. What
    its numbers say is the author's: trees are checked before they are asked; of models with other
    compiled parts, such as support vectors or neighbours, a forged one can end the process.

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
    _check_size(place)
    known = [*CHECKED, *(trusted or [])]
    try:
        unknown = [each for each in skops.io.get_untrusted_types(file=place) if each not in known]
    except Exception as error:  # skops passes on what zip, JSON and NumPy raise
        raise _no_model(place, error) from None
    if unknown:
        raise InvalidInputError(
            f"{str(path)!r} contains {', '.join(unknown)}, which skops does not know: load it in Python with "
            f"load_model(path, trusted={unknown!r}) if you trust its author"
        )
    try:
        model = skops.io.load(place, trusted=known)
        check_trees(model)
    except InvalidInputError as error:
        raise FileFormatError(f"{str(path)!r} cannot be asked: {error}") from None
    except Exception as error:
        raise _no_model(place, error) from None
    return model


def _check_size(place: Path) -> None:
    """Refuse a file that unpacks to far more than its length gives reason for."""
    try:
        with zipfile.ZipFile(place) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
    except Exception as error:  # zipfile lets some errors of its parts through
        raise _no_model(place, error) from None
    check_memory(_TAKES * unpacked, place.stat().st_size, f"reading {str(place)!r}")


def _no_model(place: Path, error: Exception) -> FileFormatError:
    told = f"{type(error).__name__}: {error}"
    return FileFormatError(f"{str(place)!r} is no skops file: {' '.join(told.split())[:200]}")


def _unpickled(place: Path) -> Any:
    try:
        import joblib
    except ImportError:
        raise MissingDependencyError("joblib", "reading a pickled model", "models") from None
    try:
        return joblib.load(place)
    except Exception as error:  # a pickle can raise anything
        raise FileFormatError(f"{str(place)!r} cannot be unpickled: {error}") from None
