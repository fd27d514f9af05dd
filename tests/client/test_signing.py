"""Signatures: what is good, and every way in which one is not."""

from __future__ import annotations

import pytest

from ldpkit.client.signing import PublicKey, SigningKey, from_base64url, to_base64url
from ldpkit.core.errors import FileFormatError, InvalidParameterError

# A.2.5 of RFC 6979: the public key of the example on P-256, and a signature of "sample" with SHA-256.
POINT = (
    "0460FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
    "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"
)
SIGNATURE = (
    "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
    "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
)
ORDER = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"


def test_the_example_of_rfc_6979():
    key, signature = PublicKey(bytes.fromhex(POINT)), bytes.fromhex(SIGNATURE)
    assert key.verifies(signature, b"sample")
    assert not key.verifies(signature, b"samples")


@pytest.mark.parametrize(
    "signature",
    [
        b"",
        bytes(64),
        bytes.fromhex(SIGNATURE)[:-1],
        bytes.fromhex(SIGNATURE) + b"\0",
        bytes.fromhex(SIGNATURE)[32:] + bytes.fromhex(SIGNATURE)[:32],
        bytes.fromhex(ORDER) * 2,
        b"\xff" * 64,
        bytes(32) + bytes.fromhex(SIGNATURE)[32:],
    ],
)
def test_other_signatures_are_not_good(signature):
    assert not PublicKey(bytes.fromhex(POINT)).verifies(signature, b"sample")


def test_keys_come_back_from_their_files():
    key = SigningKey.new()
    again = SigningKey.from_pem(key.to_pem())
    assert again.public == key.public == PublicKey.from_text(f" {key.public}\n")
    assert len(str(key.public)) == 87
    assert "PRIVATE" not in repr(key)
    assert key.public.verifies(again.sign(b"x"), b"x")
    assert not SigningKey.new().public.verifies(again.sign(b"x"), b"x")


def test_what_is_no_key_is_refused():
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    for text in (
        "",
        "a" * 87,
        "!" * 87,
        str(SigningKey.new().public)[:-1],
        "C" + str(SigningKey.new().public)[1:],
    ):
        with pytest.raises(InvalidParameterError):
            PublicKey.from_text(text)
    with pytest.raises(FileFormatError, match="not a private key"):
        SigningKey.from_pem(b"hello")
    other = ed25519.Ed25519PrivateKey.generate()
    pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(FileFormatError, match="Ed25519"):
        SigningKey.from_pem(pem)
    with pytest.raises(InvalidParameterError, match="secp384r1"):
        SigningKey(ec.generate_private_key(ec.SECP384R1()))
    locked = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x"))
    with pytest.raises(FileFormatError, match="password"):
        SigningKey.from_pem(locked)


def test_base64url_has_one_spelling():
    assert from_base64url(to_base64url(b"\xff\xfe"), 2, "x") == b"\xff\xfe"
    for text in ("__4=", "//4", "__5", "__4 ", "__", None, 7, "__4A"):
        with pytest.raises(FileFormatError):
            from_base64url(text, 2, "x")
