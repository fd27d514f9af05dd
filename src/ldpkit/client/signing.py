"""Signatures of collection files: ECDSA on P-256 with SHA-256, which every browser has.

A public key is its point, uncompressed: 65 bytes, written as base64url without padding.
A signature is r and s, 32 bytes each. A private key is a PEM file that stays with whoever
is responsible for the collection.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldpkit.core.errors import FileFormatError, InvalidParameterError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = ["ALGORITHM", "PublicKey", "SigningKey", "from_base64url", "to_base64url"]

ALGORITHM = "ES256"
"""The name of the algorithm in a file."""

_POINT, _SIDE = 65, 32
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def to_base64url(data: bytes) -> str:
    r"""Return bytes as base64url without padding.

    Examples
    --------
    >>> to_base64url(b"\xfb\xef"), from_base64url("--8", 2, "a value")
    ('--8', b'\xfb\xef')
    """
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: object, length: int, what: str) -> bytes:
    """Return so many bytes from base64url without padding, or refuse anything else."""
    if isinstance(text, str) and len(text) == -(-length * 4 // 3):
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            data = b""
        if len(data) == length and to_base64url(data) == text:  # one spelling: no stray bits at the end
            return data
    raise FileFormatError(f"{what} is {length} bytes as base64url, got {str(text)[:100]!r}")


@dataclass(frozen=True)
class PublicKey:
    """A key that says whose signature is good.

    Parameters
    ----------
    point : bytes
        The uncompressed point, 65 bytes.

    Examples
    --------
    >>> signing = SigningKey.new()
    >>> key = PublicKey.from_text(str(signing.public))
    >>> signature = signing.sign(b"six questions")
    >>> key.verifies(signature, b"six questions"), key.verifies(signature, b"seven questions")
    (True, False)
    """

    point: bytes

    def __post_init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey

        try:
            EllipticCurvePublicKey.from_encoded_point(SECP256R1(), self.point)
        except ValueError:
            is_point = False
        else:
            is_point = len(self.point) == _POINT
        if not is_point:
            raise InvalidParameterError(
                f"{to_base64url(self.point)[:100]!r} is not a P-256 public key: give the one that "
                "'ldpkit collection keygen' printed"
            )

    @classmethod
    def from_text(cls, text: str) -> PublicKey:
        """Return the key that base64url stands for."""
        try:
            return cls(from_base64url(text.strip(), _POINT, "a public key"))
        except FileFormatError as error:
            raise InvalidParameterError(str(error)) from None

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether a signature of 64 bytes is this key's under a message."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256

        r, s = (int.from_bytes(part, "big") for part in (signature[:_SIDE], signature[_SIDE:]))
        if len(signature) != 2 * _SIDE or not (0 < r < _ORDER and 0 < s < _ORDER):
            return False
        key = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), self.point)
        try:
            key.verify(encode_dss_signature(r, s), message, ECDSA(SHA256()))
        except InvalidSignature:
            return False
        return True

    def __str__(self) -> str:
        return to_base64url(self.point)


class SigningKey:
    """The private half, which signs.

    Parameters
    ----------
    key : EllipticCurvePrivateKey
        A key of the curve P-256.
    """

    def __init__(self, key: EllipticCurvePrivateKey) -> None:
        if key.curve.name != "secp256r1":
            raise InvalidParameterError(
                f"a key on {key.curve.name} cannot sign collections: make one on P-256"
            )
        self._key = key

    @classmethod
    def new(cls) -> SigningKey:
        """Return a new key, from the randomness of the operating system."""
        from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

        return cls(generate_private_key(SECP256R1()))

    @classmethod
    def from_pem(cls, data: bytes) -> SigningKey:
        """Return the key of a PEM file without password."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(data, None)
        except TypeError:
            raise FileFormatError(
                "the private key has a password: give one without, kept where only you read"
            ) from None
        except (ValueError, UnsupportedAlgorithm):
            raise FileFormatError(
                "this is not a private key: give the file that 'ldpkit collection keygen' wrote"
            ) from None
        if not isinstance(key, EllipticCurvePrivateKey):
            raise FileFormatError(f"{type(key).__name__} cannot sign collections: make a key on P-256")
        return cls(key)

    def to_pem(self) -> bytes:
        """Return the key as a PEM file without password."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def public(self) -> PublicKey:
        """The half that everybody may know."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return PublicKey(self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message: r and s, 64 bytes."""
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256

        r, s = decode_dss_signature(self._key.sign(message, ECDSA(SHA256())))
        return r.to_bytes(_SIDE, "big") + s.to_bytes(_SIDE, "big")

    def __repr__(self) -> str:
        return f"<signing key of {self.public}>"
