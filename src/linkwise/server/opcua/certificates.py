"""The server's certificate: an existing one from a folder, or a new self-signed one."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import ipaddress
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from linkwise.errors import FileError
from linkwise.files.text import read_bytes, refused
from linkwise.server.authentication import require_private

if TYPE_CHECKING:
    from cryptography import x509

KEY = "key.pem"
CERTIFICATES = ("certificate.der", "certificate.pem")

#: Validity of a certificate made here, days.
DAYS = 5 * 365


def application_uri() -> str:
    """Application URI of the server, which its certificate must contain."""
    return f"urn:{socket.gethostname()}:linkwise"


def found_or_made(folder: Path, host: str) -> tuple[str, str, str]:
    """Return the files of certificate and key of a folder, and the certificate's SHA-256; create missing ones.

    Raises
    ------
    FileError
        Where only one of them is there, one cannot be read or written, or others may read the key.
    """
    key = folder / KEY
    certificate = next((folder / name for name in CERTIFICATES if (folder / name).exists()), folder / CERTIFICATES[0])
    try:
        if key.exists() != certificate.exists():
            there, lacking = (key, certificate) if key.exists() else (certificate, key)
            raise refused(folder, f"has {there.name}, but no {lacking.name}; expected both or none")
        if not key.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _make(certificate, key, host)
        require_private(key, key.stat())
        digest = fingerprint(certificate)
        _see_fit(certificate, key)
        return str(certificate), str(key), digest
    except OSError as error:
        raise refused(folder, f"cannot be used: {error.strerror or error}") from error


def fingerprint(path: Path) -> str:
    """SHA-256 of a certificate, as clients show it.

    Raises
    ------
    FileError
        Where it is not a certificate.
    """
    from cryptography.hazmat.primitives.serialization import Encoding

    digest = hashlib.sha256(_read(path).public_bytes(Encoding.DER)).hexdigest()
    return ":".join(digest[k : k + 2] for k in range(0, len(digest), 2)).upper()


def _read(path: Path) -> x509.Certificate:
    from cryptography import x509

    read = x509.load_pem_x509_certificate if path.suffix == ".pem" else x509.load_der_x509_certificate
    try:
        return read(read_bytes(path))
    except FileError:
        raise
    except ValueError as error:
        raise refused(path, f"is not a certificate: {error}") from error


def _see_fit(certificate: Path, key: Path) -> None:
    """Check that the key matches the certificate, and that this is valid: otherwise all clients fail without a reason."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    loaded = _read(certificate)
    try:
        private = load_pem_private_key(read_bytes(key), None)
    except (ValueError, TypeError) as error:
        raise refused(key, f"is not a key without a password: {error}") from error
    if private.public_key() != loaded.public_key():
        raise refused(key, f"is not the key of {certificate.name}")
    if loaded.not_valid_after_utc < datetime.datetime.now(datetime.UTC):
        message = f"was good until {loaded.not_valid_after_utc:%Y-%m-%d}; remove it and {key.name} to have new ones made"
        raise refused(certificate, message)


def _make(certificate: Path, key: Path, host: str) -> None:
    from asyncua.crypto import cert_gen
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509.oid import ExtendedKeyUsageOID

    private = cert_gen.generate_private_key()
    signed = cert_gen.generate_self_signed_app_certificate(
        private,
        f"linkwise at {socket.gethostname()}",
        {"organizationName": "linkwise"},
        _names(host),
        [ExtendedKeyUsageOID.SERVER_AUTH],
        DAYS,
    )
    handle = os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(cert_gen.dump_private_key_as_pem(private))
    try:
        certificate.write_bytes(signed.public_bytes(Encoding.DER))
    except OSError:
        key.unlink()
        raise


def _names(host: str) -> list[x509.GeneralName]:
    from cryptography import x509

    names: list[x509.GeneralName] = [x509.UniformResourceIdentifier(application_uri()), x509.DNSName(socket.gethostname())]
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        if not address.is_unspecified:
            names.append(x509.IPAddress(address))
    return names
