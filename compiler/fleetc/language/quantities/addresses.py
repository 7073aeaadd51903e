"""Quantities that name places: hosts, ports, listeners, URLs and Ethereum addresses.

In: values as written in a spec. Out: canonical text or frozen values whose `str` parses to the same value.
Called through the package, by the model, rules and lowering. Only strict forms pass, because a C library
reads `010.0.0.1` as 8.0.0.1 and `1` as 0.0.0.1.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import NewType

from fleetc.language.quantities.text import QuantityError, need_text, shown
from fleetc.text import leaks
from fleetc.text.keccak import keccak256

HostName = NewType("HostName", str)
"""An IPv4 or IPv6 address or a DNS name, in lower case, IPv6 compressed and without brackets."""
Port = NewType("Port", int)
"""A TCP or UDP port, 1 to 65535."""
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_PORT = r"[1-9][0-9]{0,4}"
_MAX_PORT = 65535

# ------------------------------------------------------------------------------------------------------ hosts

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")  # C libraries read a name that ends like this as an IPv4 address
_MISTYPED_IPV4 = re.compile(r"(?:[0-9]{1,3}\.){3}(?:(?=[0-9]*[a-z])[0-9a-z]{0,3}[0-9][0-9a-z]{0,3}|[a-z])")
"""Such as "203.0.113.1o" or "203.0.113.10a": no top-level domain has a digit, or only one letter."""
_MAX_NAME = 253
_BROADCAST = ipaddress.IPv4Address("255.255.255.255")
_HOST_EXAMPLE = "edge-1.example.net"

# The registries of special addresses (IANA: RFC 6890 and its updates), written out because the ipaddress module changes
# with the Python version. Documentation ranges are left out: examples use them as public.
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "224.0.0.0/3",
        "::/128",
        "::1/128",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:2::/48",
        "fc00::/7",
        "fe80::/10",
        "ff00::/8",
    )
)
_PRIVATE_SUFFIXES = (".local", ".internal", ".lan", ".localhost", ".home.arpa")


def parse_host(value: object) -> HostName:
    """Read an IPv4 address of four plain numbers, an IPv6 address without zone, or a DNS name."""
    text = need_text(value, "a host", _HOST_EXAMPLE)
    advice = f'write a name such as "{_HOST_EXAMPLE}" or an address such as "203.0.113.10"'
    if address := _ip(text):
        mapped = getattr(address, "ipv4_mapped", None)
        if mapped is not None:
            raise QuantityError(f"{shown(text)} is an IPv4 address in disguise", f'write "{mapped}"')
        return HostName(address.compressed)
    name = text.lower()
    if text.startswith("[") and text.endswith("]") and _ip(text[1:-1]):
        raise QuantityError(f"{shown(text)} has brackets around the address", f'write "{text[1:-1]}"')
    if ":" in text and not re.search(r"[^0-9A-Za-z.:-]", text) and text.count(":") == 1:
        raise QuantityError(f"{shown(text)} contains a port", f'write only the host, "{text.partition(":")[0]}"')
    if not name.isascii():
        raise QuantityError(f"{shown(text)} is not an ASCII host name", "write an international name in its xn-- form")
    labels = name.split(".")
    if len(name) > _MAX_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise QuantityError(f"{shown(text)} is not a host", advice)
    if _MISTYPED_IPV4.fullmatch(name):
        raise QuantityError(f"{shown(text)} looks like an IPv4 address with a letter in it", advice)
    if _NUMERIC_LABEL.fullmatch(labels[-1]):
        raise QuantityError(f"{shown(text)} is not a complete IPv4 address or a name", advice)
    return HostName(name)


def parse_machine(value: object) -> HostName:
    """Read a host as `parse_host` does, which is one machine wherever the address is used."""
    host = parse_host(value)
    address = _ip(host)
    if address and (address.is_unspecified or address.is_link_local or address.is_multicast or address == _BROADCAST):
        raise QuantityError(f"{shown(host)} is no address of one machine", 'write an address such as "203.0.113.10"')
    return host


def is_public_address(host: HostName) -> bool:
    """Whether the host has a meaning on the internet: no private or special address, no local name."""
    address = _ip(host)
    if address is not None:
        return not any(address in network for network in _NOT_PUBLIC)
    return "." in host and not host.endswith(_PRIVATE_SUFFIXES)


def _ip(text: str) -> IpAddress | None:
    """The address in a text, without zone."""
    if "%" in text or not (":" in text or text[-1:].isdecimal()):  # most texts are names, and an exception is slow
        return None
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def reach_of(address: str) -> str:
    """Who reaches a listener on an address as flags spell it, IPv6 with or without brackets.

    "loopback" is only the machine itself, "everywhere" all who reach it, "address" all who reach that address.
    """
    plain = address.removeprefix("[").removesuffix("]")
    found = _ip(plain)
    if found is not None:
        return "loopback" if found.is_loopback else "everywhere" if found.is_unspecified else "address"
    if not plain:
        return "everywhere"
    return "loopback" if plain == "localhost" or plain.endswith(".localhost") else "address"


def parse_ip(value: object) -> IpAddress:
    """Read one IPv4 or IPv6 address: no name, no zone, no port, no IPv4 address in IPv6 spelling."""
    text = need_text(value, "an address", "203.0.113.10")
    address = _ip(text)
    if address is None:
        meant = text.partition("/")[0]
        advice = f'write only the address, "{meant}"' if "/" in text and _ip(meant) else 'write it like "203.0.113.10"'
        raise QuantityError(f"{shown(text)} is not an IP address", advice)
    return _undisguised(address, text)


def parse_ipv4(value: object) -> ipaddress.IPv4Address:
    """Read one IPv4 address, for readers that accept nothing else."""
    address = parse_ip(value)
    if isinstance(address, ipaddress.IPv6Address):
        raise QuantityError("this must be an IPv4 address", 'write it like "203.0.113.10"')
    return address


def parse_network(value: object) -> IpNetwork:
    """Read a network such as "203.0.113.0/29", or a single address. No host bits."""
    text = need_text(value, "a network", "203.0.113.0/29")
    base, slash, prefix = text.partition("/")
    address = _ip(base)
    if address is None:
        raise QuantityError(
            f"{shown(text)} is not an IP address or a network",
            'write it like "203.0.113.10" or "203.0.113.0/29"; addresses are compared here, so names do not work',
        )
    _undisguised(address, base)
    if not slash:
        return ipaddress.ip_network(address)
    if not re.fullmatch(r"0|[1-9][0-9]{0,2}", prefix) or int(prefix) > address.max_prefixlen:
        limit = address.max_prefixlen
        raise QuantityError(f"{shown(prefix)} is not a prefix length", f"write a number from 0 to {limit}")
    network = ipaddress.ip_network((address, int(prefix)), strict=False)
    if network.network_address != address:
        raise QuantityError(
            f"{shown(text)} has bits set beyond its prefix",
            f'write "{network}" for the network, or "{address}" for the single address',
        )
    return network


def _undisguised(address: IpAddress, text: str) -> IpAddress:
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is not None:
        raise QuantityError(f"{shown(text)} is an IPv4 address in disguise", f'write "{mapped}"')
    return address


# ------------------------------------------------------------------------------------------- ports, listeners


def parse_port(value: object) -> Port:
    """Read a port, which is an integer in TOML. Port 0, a text and a boolean are refused."""
    if type(value) is str and re.fullmatch(_PORT, value):
        raise QuantityError(f"the port {shown(value)} is text", f"write the number {value} without quotes")
    if type(value) is not int or not 1 <= value <= _MAX_PORT:
        raise QuantityError(f"a port is a whole number from 1 to {_MAX_PORT}", "write it like 8935")
    return Port(value)


@dataclass(frozen=True, slots=True)
class PortRange:
    """Ports from `first` to `last`, both included. `str` gives "49160-49200"."""

    first: int
    last: int

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.last <= _MAX_PORT:
            raise QuantityError(
                f"a port range goes upwards, from 1 to {_MAX_PORT} at most", 'write it like "49160-49200"'
            )

    def __contains__(self, port: int) -> bool:
        return self.first <= port <= self.last

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"


def parse_port_range(value: object) -> PortRange:
    """Read "49160-49200"."""
    text = need_text(value, "a port range", "49160-49200")
    found = re.fullmatch(rf"({_PORT})-({_PORT})", text)
    if found is None:
        raise QuantityError(f"{shown(text)} is not a port range", 'write it like "49160-49200"')
    return PortRange(int(found[1]), int(found[2]))


@dataclass(frozen=True, slots=True)
class Listener:
    """A host and a port to listen on. `str` gives "127.0.0.1:8935", with brackets around an IPv6 address."""

    host: HostName
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only the same machine can reach it."""
        return reach_of(self.host) == "loopback"

    @property
    def is_any(self) -> bool:
        """Whether it listens on all addresses."""
        return self.host in ("0.0.0.0", "::")  # noqa: S104 (compared, not bound)

    @property
    def host_is_one_label(self) -> bool:
        """Whether the host is a name without a domain, which each network resolves in its own way."""
        return "." not in self.host and ":" not in self.host and not self.is_loopback

    def __str__(self) -> str:
        return host_port(self.host, self.port)


def host_port(host: HostName, port: int) -> str:
    """Host and port as one text, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_listener(value: object) -> Listener:
    """Read "127.0.0.1:8935", "[::1]:8935" or "edge-1.example.net:8935". Both parts are needed.

    ":8935" is refused because the node fills in 127.0.0.1 in some roles and all addresses in others.
    """
    text = need_text(value, "a listener", "127.0.0.1:8935")
    if "://" in text:
        raise QuantityError(
            f"{shown(text)} is a URL, but this takes only a host and a port",
            'remove the scheme and the path, as in "127.0.0.1:8935"',
        )
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]") or (":" in host and not host.startswith("[")):
        raise QuantityError(
            f"{shown(text)} has no port",
            'write it like "127.0.0.1:8935", and "[::1]:8935" for an IPv6 address',
        )
    if not re.fullmatch(_PORT, port) or int(port) > _MAX_PORT:
        raise QuantityError(
            f"{shown(port)} is not a port from 1 to {_MAX_PORT}",
            'write it like "127.0.0.1:8935", without a scheme',
        )
    if not host:
        raise QuantityError(
            f"{shown(text)} does not set who can connect",
            f'write "0.0.0.0:{port}" for everybody or "127.0.0.1:{port}" for this machine only',
        )
    return Listener(_bracketed(host), int(port))


def _bracketed(host: str) -> HostName:
    """Read a host before a port. IPv6 addresses, and only they, are in brackets."""
    if host.startswith("[") and host.endswith("]") and ":" in host:
        return parse_host(host[1:-1])
    return parse_host(host)


# -------------------------------------------------------------------------------------------------- addresses

_ETH = re.compile(r"0x(?:[0-9a-fA-F]{40})")
_ETH_EXAMPLE = "0x52908400098527886E0F7030069857D2E4169EE7"
_ETH_KEY = re.compile(r"\s*(?:0[xX])?[0-9a-fA-F]{64}\s*")


@dataclass(frozen=True, slots=True)
class EthAddress:
    """An Ethereum address in EIP-55 spelling, never zero. Build it with `parse_eth_address`."""

    text: str

    def __str__(self) -> str:
        return self.text


def _refuse_key(text: str) -> None:
    """Refuse the key of an account, or its recovery phrase, where the address belongs."""
    found = leaks.find(text)
    kind = "a private key" if _ETH_KEY.fullmatch(text) else found.kind if found is not None and found.certain else ""
    if kind:
        raise QuantityError(
            f"this is {kind}, but an address belongs here",
            "write the address of the account, 0x and 40 hexadecimal digits. Anyone who has read this spec can empty "
            "the account: move its funds to a new one",
            secret=True,
        )


def parse_eth_address(value: object) -> EthAddress:
    """Read 0x and 40 hexadecimal digits, all in one case or in mixed case with the right checksum."""
    text = need_text(value, "an Ethereum address", _ETH_EXAMPLE)
    if not _ETH.fullmatch(text):
        _refuse_key(text)
        raise QuantityError(f"{shown(text)} is not an Ethereum address", "write 0x and 40 hexadecimal digits")
    digits = text[2:]
    if not digits.strip("0"):
        raise QuantityError("the zero address has no owner", "write the address of the wallet")
    right = checksummed(digits.lower())
    if digits not in (digits.lower(), digits.upper()) and text != right:
        raise QuantityError(
            f"the checksum of {text} is wrong: a digit or the case of a letter is wrong",
            "copy it again from the wallet: one digit is wrong",
        )
    return EthAddress(right)


@lru_cache(maxsize=16384)
def checksummed(digits: str) -> str:
    """The EIP-55 spelling of 40 lower-case hexadecimal digits, with 0x."""
    digest = keccak256(digits.encode()).hex()
    return "0x" + "".join(
        digit.upper() if int(nibble, 16) >= 8 else digit for digit, nibble in zip(digits, digest, strict=False)
    )


# ------------------------------------------------------------------------------------------------------- URLs

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)(.*)")
_URL_CHARACTERS = re.compile(r"[!#-;=?-\[\]_a-z{}~]+")  # printable ASCII without space " < > \ ^ ` |


@dataclass(frozen=True, slots=True)
class Url:
    """An absolute URL. `str` gives `text`, as written; `path` is all after the authority, including the query."""

    text: str
    scheme: str
    host: HostName
    port: int | None
    path: str

    def __str__(self) -> str:
        return self.text


def parse_url(value: object, schemes: Collection[str]) -> Url:
    """Read an absolute URL with one of the schemes (in lower case), without user name or password.

    Only a file URL may lack the host, which is then "".
    """
    example = f"{min(schemes)}://{_HOST_EXAMPLE}"
    text = need_text(value, "a URL", example)
    if not _URL_CHARACTERS.fullmatch(text):
        raise QuantityError(
            "this URL has a character that URLs cannot have", f'percent-encode it; write it like "{example}"'
        )
    found = _URL.fullmatch(text)
    if found is None or found[1] not in schemes:
        raise QuantityError(
            f"this is not a URL with {' or '.join(sorted(schemes))}", f'write the whole URL, like "{example}"'
        )
    scheme, authority, path = found.groups()
    if "@" in authority:  # the text may hold a password, so the message does not show it
        raise QuantityError(
            "this URL contains a user name or password", "keep credentials out of the spec: use a reference"
        )
    with_port = re.fullmatch(r"(\[[^\]]*\]|[^:\[]*):(.*)", authority)
    host, port = (with_port[1], with_port[2]) if with_port else (authority, None)
    if port is not None and (not re.fullmatch(_PORT, port) or int(port) > _MAX_PORT):
        raise QuantityError(f"{shown(port)} is not a port from 1 to {_MAX_PORT}", f'write it like "{example}:8935"')
    if scheme == "file" and not authority:
        return Url(text, scheme, HostName(""), None, path)
    return Url(text, scheme, _bracketed(host), None if port is None else int(port), path)
