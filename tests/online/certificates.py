"""Certificates for servers of the tests on 127.0.0.1.

In: a directory. Out: files there, for a server with its key behind the certificate.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Private = ec.EllipticCurvePrivateKey


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(subject: str, key: Private, issuer: str, signer: Private, authority: bool) -> x509.Certificate:
    now = datetime.now(UTC)
    alternatives = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = (
        x509.CertificateBuilder()
        .subject_name(_named(subject))
        .issuer_name(_named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if not authority:
        builder = builder.add_extension(alternatives, critical=False)
    return builder.sign(signer, hashes.SHA256())


def certificates(directory: Path) -> tuple[Path, Path, Path]:
    """Files: an authority, a server's certificate that it signed with its key, and one that signed itself."""
    authority, server, alone = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    made = {
        "authority.pem": (_certificate("stand-in authority", authority, "stand-in authority", authority, True), None),
        "server.pem": (_certificate("127.0.0.1", server, "stand-in authority", authority, False), server),
        "alone.pem": (_certificate("127.0.0.1", alone, "127.0.0.1", alone, False), alone),
    }
    for name, (certificate, key) in made.items():
        text = certificate.public_bytes(serialization.Encoding.PEM)
        if key is not None:
            text += key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        (directory / name).write_bytes(text)
    paths = [directory / name for name in made]
    return paths[0], paths[1], paths[2]
