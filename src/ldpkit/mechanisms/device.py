"""A device that answers again and again, and keeps its permanent reports.

Memoization is what makes repeated collections private, so it must not fail: a permanent
report that is drawn anew gives another piece of the value away. A device therefore does
not store permanent reports, it derives them from a secret: the same value gives the same
permanent report for ever. Where a secret cannot be kept but a file can, `FileMemo` draws
permanent reports once and stores them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from ldpkit.core.errors import FileFormatError, InvalidParameterError
from ldpkit.core.random import RandomSource, resolve, secure
from ldpkit.core.typing import Label, Reports, Values
from ldpkit.mechanisms.categorical.longitudinal.memoized import MemoizedOracle
from ldpkit.mechanisms.history import PrivacyLoss, device_loss

__all__ = ["Device", "FileMemo"]

_LEAST_SECRET = 16
_REMEDY = "make one with secrets.token_bytes(32) and keep it on the device"


class _SecretMemo:
    """Randomness that a label always finds again: HMAC-SHA256 of the label is its key."""

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, (bytes, bytearray)):
            raise InvalidParameterError(f"a device secret is bytes, got {type(secret).__name__}: {_REMEDY}")
        if len(secret) < _LEAST_SECRET:
            raise InvalidParameterError(
                f"a device secret needs at least {_LEAST_SECRET} bytes, got {len(secret)}: {_REMEDY}"
            )
        self._secret = bytes(secret)

    def recall(self, label: str, draw: Callable[[RandomSource], bytes]) -> bytes:
        """Return what `draw` makes of the randomness that belongs to the label."""
        key = hmac.digest(self._secret, b"ldpkit device " + label.encode(), "sha256")
        return draw(RandomSource(key, is_secure=False))


class FileMemo:
    """Permanent reports in a small file: drawn securely once, then read again.

    The file is made readable by its owner only, and replaced as a whole, so that a crash
    leaves the old or the new one. One device uses it at a time.

    Parameters
    ----------
    path : path
        Where the file is or will be.

    Examples
    --------
    >>> import ldpkit, tempfile
    >>> from pathlib import Path
    >>> oracle = ldpkit.get("lgrr", 4, epsilon_inf=2, epsilon_1=1)
    >>> folder = tempfile.TemporaryDirectory()
    >>> memo = FileMemo(Path(folder.name) / "memo.json")
    >>> first, again = Device(oracle, memo), Device(oracle, memo)
    >>> bool(first.permanent(2) == again.permanent(2))
    True
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def recall(self, label: str, draw: Callable[[RandomSource], bytes]) -> bytes:
        """Return what is stored under the label; draw and store it the first time."""
        known = self._read()
        if label not in known:
            known[label] = draw(secure()).hex()
            self._write(known)
        return bytes.fromhex(known[label])

    def _read(self) -> dict[str, str]:
        try:
            known = json.loads(self.path.read_bytes())
            valid = isinstance(known, dict) and all(bytes.fromhex(each) for each in known.values())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InvalidParameterError(
                f"the memo {str(self.path)!r} cannot be read ({error.strerror}): check its permissions"
            ) from None
        except (ValueError, TypeError):
            valid = False
        if not valid:
            raise FileFormatError(
                f"{str(self.path)!r} is not a memo of permanent reports: restore it, or accept "
                "that a new file gives more of the value away",
                offset=0,
            )
        return dict(known)

    def _write(self, known: Mapping[str, str]) -> None:
        try:  # mkstemp makes the file with mode 0600
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        except OSError as error:
            raise InvalidParameterError(
                f"the memo {str(self.path)!r} cannot be written ({error.strerror}): check its folder"
            ) from None
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                json.dump(known, file)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def __repr__(self) -> str:
        return f"FileMemo({str(self.path)!r})"


class Device:
    """One device with a longitudinal mechanism: it reports its value, whatever it is by now.

    Parameters
    ----------
    mechanism : MemoizedOracle
        A longitudinal mechanism such as LGRR, LSUE or LOLH, or dBitFlipPM.
    memo : bytes or FileMemo
        The device secret, at least 16 bytes, from which permanent reports are derived; or
        a file in which they are kept.

    Examples
    --------
    >>> import ldpkit, secrets
    >>> oracle = ldpkit.get("lolh", 100, epsilon_inf=2, epsilon_1=1)
    >>> device = Device(oracle, secrets.token_bytes(32))
    >>> reports = [device.report(value) for value in (17, 17, 17, 42)]
    >>> device.privacy_loss().reports
    4
    """

    def __init__(self, mechanism: MemoizedOracle, memo: bytes | FileMemo) -> None:
        if not isinstance(mechanism, MemoizedOracle):
            raise InvalidParameterError(
                f"{mechanism!r} has no permanent report to keep: use a longitudinal mechanism such as lgrr"
            )
        self.mechanism = mechanism
        self._memo = memo if isinstance(memo, FileMemo) else _SecretMemo(memo)
        spec = json.dumps(mechanism.spec(), sort_keys=True)
        self._label = hashlib.sha256(spec.encode()).hexdigest()
        self._coins = self._recall("coins", lambda source: mechanism.public_coins(1, source))
        self._used: Counter[int] = Counter()

    @classmethod
    def new(cls, mechanism: MemoizedOracle) -> Device:
        """Return a device with a new secret, which nobody else knows and which is lost with it."""
        return cls(mechanism, secrets.token_bytes(32))

    def report(self, value: Label, *, rng: RandomSource | None = None) -> Reports:
        """Return one report about the present value, as an array of length one.

        Parameters
        ----------
        value : label or index
            What the device holds now.
        rng : RandomSource, optional
            Randomness for what is not kept; secure by default.
        """
        source = resolve(rng)
        state, permanent = self._permanent([value])
        self._used[state] += 1
        return self.mechanism.instant(permanent, source)

    def permanent(self, value: Label) -> Reports:
        """Return the permanent report for a value. It must not leave the device."""
        return self._permanent([value])[1]

    def privacy_loss(self) -> PrivacyLoss:
        """Return what the reports of this object have cost so far."""
        return device_loss(self.mechanism, self._used, coins=self._coins)

    def _permanent(self, values: Values) -> tuple[int, Reports]:
        states = self.mechanism.states(self._coins, self.mechanism.domain.encode(values))
        state = int(states[0])
        return state, self._recall(
            f"state {state}", lambda source: self.mechanism.memorise(self._coins, states, source)
        )

    def _recall(self, label: str, draw: Callable[[RandomSource], Reports]) -> Reports:
        stored = self._memo.recall(
            f"{self._label} {label}", lambda source: self.mechanism.encode(draw(source))
        )
        return self.mechanism.decode(stored).copy()

    def __repr__(self) -> str:
        return f"<Device {self.mechanism!r}, {self._used.total()} reports>"
