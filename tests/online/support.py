"""The stand-in for the stream API as a process, certificates, and a spec of streams at its address.

In: a directory. Out: `Api`, which is asked and told over HTTP; the text of a spec.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.online.asking import Values, ask_all
from fleetc.online.http import Limits, Service, connected
from fleetc.stream_api.data import Report
from fleetc.stream_api.ids import Known
from tests.rules.support import broadcast
from tests.support import ROOT

TOKEN = "tok/en+0123456789-abcdef.ghijk"
Json = dict[str, Any]
Private = ec.EllipticCurvePrivateKey


class Api:
    """A stand-in that runs: its address, and what it was asked."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def log(self) -> list[Json]:
        """Every request so far: method, path, body, token and time."""
        found: list[Json] = json.loads(self._at("log"))
        return found

    def streams(self) -> dict[str, Json]:
        """What is stored, by id."""
        found: dict[str, Json] = json.loads(self._at("streams"))
        return found

    def put(self, *streams: Json) -> None:
        """Store streams exactly as given."""
        self._at("streams", json.dumps(streams).encode())

    def _at(self, name: str, body: bytes | None = None) -> bytes:
        address = f"{self.base_url.removesuffix('/api')}/standin/{name}"
        with urllib.request.urlopen(urllib.request.Request(address, data=body), timeout=20) as answer:
            content: bytes = answer.read()
            return content


@contextmanager
def running(*options: str) -> Iterator[Api]:
    """A stand-in in a process of its own."""
    words = [sys.executable, "-m", "tests.standin.stream_api", "--token", TOKEN, *options]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Api(json.loads(process.stdout.readline())["base_url"])
    finally:
        process.terminate()
        process.wait(timeout=20)


def spec_text(api: Api, *streams: str) -> str:
    """A spec with streams at the stand-in."""
    return broadcast(*streams) + f'\n[stream_api]\nbase_url = "{api.base_url}"\ntoken = {{ env = "STREAM_TOKEN" }}\n'


async def asked(
    base_url: str,
    plans: list[StreamBlueprint],
    known: dict[str, Known],
    limits: Limits,
    values: Values | None = None,
    token: str = TOKEN,
) -> list[Report]:
    """Ask about streams, as the command does."""
    async with connected(Service(base_url, token), limits) as client:
        return await ask_all(client, plans, known, values or {}, lambda _report: None)


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
