"""How the node completes the addresses that it listens on and calls; and addresses of HTTP in lists and services.

In: a role and the text of a flag. Out: host and port, "*" for all interfaces; or None for what no node listens on.
Source: the node's source code at release v0.9.1, cmd/livepeer/starter/starter.go.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fleetc.text import leaks

LOOPBACK = "127.0.0.1"
HTTP = {"gateway": 9935, "orchestrator": 8935, "remote-signer": 8935, "redeemer": 8935}
CLI = {"gateway": 5935, "orchestrator": 7935, "transcoder": 6935, "ai-worker": 4935, "remote-signer": 3935}
RTMP = 1935
SERVICE_PORT = 8935
_ANY = ("", "0.0.0.0", "*")  # noqa: S104  # what people write for all interfaces

Listener = tuple[str, int]


def completed(text: str, host: str, port: int) -> str:
    """host:port from what is given: nothing, a port behind a colon, a host, or both."""
    if not text:
        return f"{host}:{port}"
    if text.startswith(":"):
        return host + text
    return text if ":" in text else f"{text}:{port}"


def split(text: str) -> Listener | None:
    """Host and port of a completed address."""
    host, colon, port = text.rpartition(":")
    if not colon or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535 or "/" in host:
        return None
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        return None
    return ("*" if host in _ANY else host), int(port)


def written(listener: Listener) -> str:
    """A listener as a spec has it."""
    host, port = listener
    return f"{'0.0.0.0' if host == '*' else host}:{port}"  # noqa: S104  # an address that a source has


def is_loopback(host: str) -> bool:
    """Whether only the machine itself reaches a host."""
    return host in ("localhost", "[::1]", "::1") or host.startswith("127.")


def http_listener(role: str, text: str, service: str) -> tuple[str, Listener | None]:
    """Scheme and listener of -httpAddr; an orchestrator without one listens at the port of its service address."""
    scheme, text = ("", text) if "://" not in text else (text.partition("://")[0], text.partition("://")[2])
    if role == "orchestrator":
        return scheme, split(completed(text.rstrip("/"), "", service_port(service)))
    return scheme, split(completed(text, LOOPBACK, HTTP.get(role, SERVICE_PORT)))


def cli_listener(role: str, text: str) -> Listener | None:
    """The administration listener; a redeemer and a reward caller have no default, and take port 80 everywhere."""
    if role not in CLI and not text:
        return "*", 80
    return split(completed(text, LOOPBACK, CLI.get(role, 80)))


def service_port(service: str) -> int:
    """The port of a service address, or the usual one."""
    parts = split(service.partition("://")[2] if "://" in service else service)
    return parts[1] if parts else SERVICE_PORT


def orchestrator_url(text: str) -> str:
    """One item of -orchAddr with the port that the node calls, and without a final slash."""
    text = text.strip().rstrip("/")
    if "://" in text:
        return _NO_PORT.sub(lambda site: f"{site[0]}:{_PORTS[site[1]]}", text)
    return f"https://{text if ':' in text else f'{text}:{SERVICE_PORT}'}"


def service_url(text: str) -> str:
    """-serviceAddr as the node completes it."""
    return (text if text.startswith(("http://", "https://")) else f"https://{text}").rstrip("/")


_ADDRESS = re.compile(r"(?i)(https?)://(?:[^/?#@\s]*@)?(\[[0-9a-f:.]+\]|[^/?#:@\s]+)(?::([0-9]{0,5}))?([/?#]\S*)?")
_PORTS = {"http": 80, "https": 443}
_NO_PORT = re.compile(r"(https?)://[^/?#@:\s]+\Z")


class Address(NamedTuple):
    """Scheme, host without brackets, port, and what follows: a path, or nothing."""

    scheme: str
    host: str
    port: int
    rest: str

    def at(self, host: str) -> str:
        """The same address on another host."""
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{f'[{host}]' if ':' in host else host}{port}{self.rest}"


def address(text: str) -> Address | None:
    """The address that a text is, where names of containers may have any letters; None for any other text."""
    parts = _ADDRESS.fullmatch(text)
    if parts is None:
        return None
    scheme = parts[1].lower()
    port = int(parts[3]) if parts[3] else _PORTS[scheme]
    return Address(scheme, parts[2].strip("[]").lower(), port, parts[4] or "") if 0 < port < 65536 else None


_SITE = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
HIDDEN_SITE = "an address"


def site_of(text: str) -> str:
    """Where an address leads: its path and what stands before the host may be a key."""
    if "://" not in text:
        return "its own reference"
    rest = text.partition("://")[2]
    before_path = re.split("[/?#]", rest, maxsplit=1)[0]
    site = before_path.rpartition("@")[2]
    password = "@" in rest[len(before_path) :]  # it may have a slash in it
    return leaks.shown(site) if _SITE.fullmatch(site) and not password else HIDDEN_SITE
