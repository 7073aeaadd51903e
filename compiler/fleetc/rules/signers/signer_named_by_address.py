"""A gateway has the address of a signer of this fleet instead of its name.

Why: fleetc then takes it for a signer elsewhere. It cannot count the gateway's load for the signer's deposit, nor start
the signer first. A gateway exits if its signer does not answer. With https the gateway never starts: a signer speaks
plain HTTP.

Example:

    [remote_signers.signer]
    http = "10.20.0.1:8935"

    [gateways.live]
    remote_signer = { url = "http://10.20.0.1:8935" }

Instead:

    [remote_signers.signer]
    http = "10.20.0.1:8935"

    [gateways.live]
    remote_signer = { signer = "signer" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import Url
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning

_USUAL = {"http": 80, "https": 443}


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the addresses that gateways name with those at which signers of the fleet listen."""
    listening = dict(_listening(fleet))
    for name, gateway in sorted(fleet.gateways.items()):
        url = gateway.remote_signer.url if gateway.remote_signer is not None else None
        signer = _signer(url, gateway.host, listening) if url is not None else None
        if url is None or signer is None:
            continue
        secure = url.scheme == "https"
        path: Path = ("gateways", name, "remote_signer", "url")
        yield (error if secure else warning)(
            "signer-named-by-address",
            f"{url} is where signer {signer} of this fleet listens"
            + (f", which speaks plain HTTP: {name} gets no answer and exits" if secure else ""),
            Label(path),
            [Label(("remote_signers", signer), "the signer")],
            f'write signer = "{signer}" instead of url',
        )


_Listening = tuple[str, str, int]
"""The host that reaches an address, or "" for all; the address; the port."""


def _listening(fleet: Fleet) -> Iterator[tuple[_Listening, str]]:
    """Where each signer is reached, with its name. On loopback it is so from its own host alone."""
    for name, signer in sorted(fleet.remote_signers.items()):
        listener = effective.helper_http(Node("remote_signers", name, signer), signer).value
        host = fleet.hosts[signer.host]
        if listener.is_loopback or listener.is_any:
            for own in ("127.0.0.1", "localhost"):
                yield (signer.host, own, listener.port), name
        if listener.is_any:
            for address in filter(None, (host.public, host.address)):
                yield ("", str(address), listener.port), name
        elif not listener.is_loopback:
            yield ("", listener.host, listener.port), name


def _signer(url: Url, host: str, listening: dict[_Listening, str]) -> str | None:
    port = url.port or _USUAL[url.scheme]
    return listening.get((host, url.host, port)) or listening.get(("", url.host, port))
