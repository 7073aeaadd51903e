"""How the node completes addresses: listeners by role, service addresses, lists of orchestrators.

In: text as a flag holds it. Out: comparable forms. Go's net.Listen takes "", 0.0.0.0 and :: alike for all interfaces
of both families, which is written "*" here.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from tests.node.values import trim

LOOPBACK = "127.0.0.1"
HTTP_DEFAULT = {"gateway": 9935, "orchestrator": 8935, "remote-signer": 8935, "redeemer": 8935}
CLI_DEFAULT = {"gateway": 5935, "orchestrator": 7935, "transcoder": 6935, "ai-worker": 4935, "remote-signer": 3935}
SERVICE_PORT = 8935
_DEFAULT_PORT = {"https": 443, "http": 80}

Listener = tuple[str, str, str]
"""Scheme ("", "http" or "https"), host ("*" for all), port."""


def completed(text: str, host: str, port: int) -> str:
    """host:port from what is given: nothing, a port behind a colon, a host, or both."""
    if not text:
        return f"{host}:{port}"
    if text.startswith(":"):
        return host + text
    return text if ":" in text else f"{text}:{port}"


def listener(text: str) -> Listener:
    """A completed listener in comparable form. Raises ValueError when it is none."""
    scheme = ""
    if "://" in text:
        scheme, _, text = text.partition("://")
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError("an IPv6 address without brackets and port")
    if not colon or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535 or "/" in host:
        raise ValueError("no port")
    return scheme, "*" if host in ("", "0.0.0.0", "::") else host.lower(), port


def split_list(text: str) -> tuple[str, ...]:
    """A comma list whose items are trimmed; empty items are nothing."""
    return tuple(item for item in map(trim, text.split(",")) if item)


def split_exact(text: str) -> tuple[str, ...]:
    """A comma list whose items are taken as they stand."""
    return tuple(text.split(",")) if text else ()


def url(text: str) -> SplitResult:
    """An address as url.Parse takes it: no spaces or control characters, and a port of digits. Raises ValueError."""
    if re.search(r"[\x00-\x20\x7f]", text):
        raise ValueError("a character that no URL has")
    parts = urlsplit(text)
    if not re.fullmatch(r"(?:[^@]*@)?(?:\[[0-9A-Fa-f:.%]+\]|[^:\[\]\\<>\"^`{}|]*)(?::[0-9]*)?", parts.netloc):
        raise ValueError("a bad host or port")
    return parts


def is_http(text: str) -> bool:
    """Whether it is an absolute http or https URL."""
    try:
        parts = url(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def comparable_url(text: str) -> str:
    """The same place in one spelling: scheme://host:port/path without a final slash."""
    parts = url(text)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = parts.port or _DEFAULT_PORT.get(parts.scheme, 0)
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def orchestrator_url(text: str) -> str:
    """One item of -orchAddr: https and port 8935 are added when there is neither scheme nor colon."""
    if "://" in text:
        return comparable_url(text)
    return comparable_url(f"https://{text if ':' in text else f'{text}:{SERVICE_PORT}'}")


def service_url(text: str) -> str:
    """-serviceAddr of an orchestrator: anything but http:// and https:// gets https:// in front."""
    return comparable_url(text if text.startswith(("http://", "https://")) else f"https://{text}")
