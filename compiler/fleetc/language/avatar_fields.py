"""The types that only avatar tables use: releases of the stack, addresses, networks and port ranges.

In: raw TOML values. Out: frozen typed values, or the error of `fields.refuse`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any

from pydantic import AfterValidator
from pydantic.json_schema import WithJsonSchema

from fleetc.language import quantities as q
from fleetc.language import units
from fleetc.language.fields import HttpUrl, Parsed, WebSocketUrl, refuse, refuse_quantity
from fleetc.text.encoders import SHARED_CHARACTERS, is_shared
from fleetc.upstream.avatar import LIMITS, RELEASES, AvatarRelease, read_release

PAYMENTS = "payments"
"""The word in an allowlist for the addresses of the payments service."""

_TAG = re.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_COMMIT = re.compile("sha-[0-9a-f]{7,64}")
_LOOKS_LIKE_A_RELEASE = re.compile(r"[vV]?[0-9]+(\..*)?")
_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
"""Networks that are never on the internet: RFC 1918, and the shared address space of RFC 6598."""

_LEADING_ZERO = re.compile(r"(?<![0-9])0+(?=[0-9])")


@dataclass(frozen=True, slots=True)
class AvatarTag:
    """A tag of the stack: `release` is None for a rolling tag, such as latest, and for the tag of a commit.

    What those can do is not known here. The tag of a commit, sha- and its digest, at least never changes.
    """

    text: str
    release: AvatarRelease | None

    @property
    def fixed(self) -> bool:
        """Whether it always means the same thing: a release, or a commit."""
        return self.release is not None or _COMMIT.fullmatch(self.text) is not None

    @property
    def kind(self) -> str:
        """Its name for people."""
        if self.release is not None:
            return "release"
        return "tag of a commit" if self.fixed else "rolling tag"

    def __str__(self) -> str:
        return self.text


def _tag(value: Any) -> AvatarTag:
    newest = str(RELEASES[-1])
    form = f'write a release such as "v1.3.6" or "{newest}", or a rolling tag such as "latest"'
    if not isinstance(value, str):
        raise refuse("an avatar stack release must be text", form)
    release = read_release(value)
    if release is not None:
        return AvatarTag(value, release)
    if _LOOKS_LIKE_A_RELEASE.fullmatch(value):
        meant = "v" + _LEADING_ZERO.sub("", value.lower().removeprefix("v"))
        repair = meant if read_release(meant) in RELEASES else None
        dated = re.fullmatch(r"v[0-9]{4}\.[0-9]{1,2}\.[0-9]{1,2}", meant)
        advice = f'a date release ends with -alpha and a number: "{meant}-alpha.1"' if dated else form
        raise refuse("this is not an avatar stack release", f'write "{repair}"' if repair else advice, repair=repair)
    if not _TAG.fullmatch(value):
        raise refuse(
            "this is not an avatar stack release or a tag of its images",
            f"{form}: letters, digits and _ . - only, at most 128",
        )
    return AvatarTag(value, None)


_WHITE = {" ": "a space", "\n": "a line end", "\t": "a tab"}


def shared_text(text: str) -> str:
    """Text for an environment file of the stack, refused when its readers would disagree about it."""
    odd = dict.fromkeys(character for character in text if not is_shared(character))
    if odd:
        named = " and ".join(_WHITE.get(character, f'"{character}"') for character in odd)
        raise refuse(
            f"the programs that read this from environment files disagree about {named}",
            f"use only {SHARED_CHARACTERS}",
        )
    return text


def _shared_url(url: q.Url) -> q.Url:
    shared_text(url.text)
    return url


def _quantity(parse: Any) -> Any:
    def validate(value: Any) -> Any:
        try:
            return parse(value)
        except q.QuantityError as problem:
            raise refuse_quantity(problem, parse, value) from None

    return validate


def _allow_entry(value: Any) -> str | q.IpNetwork:
    if isinstance(value, str) and value == PAYMENTS:
        return PAYMENTS
    if isinstance(value, str) and value.strip().lower() == PAYMENTS:
        raise refuse("the word for the payments service is spelled differently", 'write "payments"', repair=PAYMENTS)
    return q.parse_network(value)


def _caller_address(value: Any) -> q.IpAddress:
    try:
        return q.parse_ip(value)
    except q.QuantityError as problem:
        try:
            name = q.parse_host(value)
        except q.QuantityError:
            raise problem from None
        raise q.QuantityError(
            f"{name} is a name, but allowlists compare addresses",
            "write the addresses that its calls come from; they may differ from the address of its API",
        ) from None


def _slot_memory(value: Any) -> q.Bytes:
    size = q.parse_bytes(value)
    least = LIMITS["smallest_slot_memory_mib"]
    if size.count % 2**20:
        raise q.QuantityError("the stack counts the memory of a slot in whole MiB", 'write it like "8192 MiB"')
    if size.count < least * 2**20:
        default = LIMITS["upstream_slot_memory_mib"]
        raise q.QuantityError(
            f"the stack treats less than {least} MiB as a mistake and assumes {default}",
            'write what a slot takes, such as "8192 MiB"',
        )
    return size


def _slot_networks(value: Any) -> IPv4Network:
    network = q.parse_network(value)
    if not isinstance(network, IPv4Network) or network.prefixlen != 16:
        raise q.QuantityError(
            "the slot network is an IPv4 network of 256 times 256 addresses, a /16", 'write it like "172.30.0.0/16"'
        )
    if not any(network.subnet_of(private) for private in _PRIVATE):
        raise q.QuantityError(
            f"{network} is not a private network: the host could no longer reach the owners of these addresses",
            'write one inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, such as "172.30.0.0/16"',
        )
    return network


AvatarTagField = Annotated[
    AvatarTag, Parsed(_tag), WithJsonSchema({"type": "string", "examples": ["v1.3.6", "v2026.3.1-alpha.1", "latest"]})
]
SharedUrl = Annotated[HttpUrl, AfterValidator(_shared_url)]
SharedWebSocketUrl = Annotated[WebSocketUrl, AfterValidator(_shared_url)]
AllowEntry = Annotated[
    str | q.IpNetwork,
    Parsed(_quantity(_allow_entry)),
    WithJsonSchema({"type": "string", "examples": ["payments", "203.0.113.0/29"]}),
]
CallerAddress = Annotated[
    q.IpAddress,
    Parsed(_quantity(_caller_address)),
    WithJsonSchema({"type": "string", "examples": ["203.0.113.10"]}),
]
Ipv4AddressField = Annotated[
    IPv4Address,
    Parsed(_quantity(q.parse_ipv4)),
    WithJsonSchema({"type": "string", "examples": ["203.0.113.10"]}),
]
PortRangeField = Annotated[
    q.PortRange,
    Parsed(_quantity(q.parse_port_range)),
    WithJsonSchema({"type": "string", "examples": ["49160-49200"]}),
]
SlotMemory = Annotated[
    q.Bytes,
    Parsed(_quantity(_slot_memory)),
    WithJsonSchema({"type": "string", "examples": ["8192 MiB"], units.UNIT: units.SIZE}),
]
SlotNetworks = Annotated[
    IPv4Network,
    Parsed(_quantity(_slot_networks)),
    WithJsonSchema({"type": "string", "examples": ["172.30.0.0/16"]}),
]
