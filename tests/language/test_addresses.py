"""Hosts, ports, listeners, URLs and Ethereum addresses: strict forms, one spelling each."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.language.quantities import (
    EthAddress,
    HostName,
    Listener,
    PortRange,
    host_port,
    is_public_address,
    parse_eth_address,
    parse_host,
    parse_listener,
    parse_machine,
    parse_network,
    parse_port,
    parse_port_range,
    parse_url,
    reach_of,
)
from fleetc.text.keccak import _permute, keccak256
from tests.language.test_quantities import refused
from tests.toml.toml_texts import VECTORS

MIXED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

# ---- hosts, ports, listeners, URLs


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["area"] == "host.address"], ids=lambda v: str(v["id"]))
def test_known_addresses(vector: dict[str, Any]) -> None:
    address = vector["input"]["address"]
    if vector["expect"]["accept"]:
        assert parse_host(address) == address
    else:
        refused(parse_host, address)


@pytest.mark.parametrize("text", ["203.0.113.1O", "203.0.113.10a", "203.0.113.l0", "203.0.113.l", "203.0.113.0x1"])
def test_an_address_with_a_letter_in_it_is_no_name(text: str) -> None:
    refused(parse_host, text)


@pytest.mark.parametrize("text", ["1.2.3.com", "10.0.0.example.net", "rack2.gpu4", "203.0.113.xn--p1ai", "1.2.3.lan"])
def test_a_name_with_numbers_in_it_is_one(text: str) -> None:
    assert parse_host(text) == text


@pytest.mark.parametrize(
    ("text", "host"),
    [("EDGE-1.Example.net", "edge-1.example.net"), ("2001:DB8:0::7", "2001:db8::7"), ("localhost", "localhost")],
)
def test_hosts_have_one_spelling(text: str, host: str) -> None:
    assert parse_host(text) == host


@pytest.mark.parametrize("text", ["0.0.0.0", "::", "255.255.255.255", "169.254.1.1", "fe80::1", "224.0.0.1"])
def test_address_of_no_one_machine(text: str) -> None:
    assert parse_host(text)
    assert "203.0.113.10" in refused(parse_machine, text).help


def test_names_with_underscores_are_hosts() -> None:
    assert parse_machine("gpu_1.example.net") == "gpu_1.example.net", "the node's own parser takes them too"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("[::1]", '"::1"'),
        ("host:22", '"host"'),
        ("::ffff:10.0.0.1", '"10.0.0.1"'),
        ("é.net", "xn--"),
        ("0x7f", "edge-1"),
        ("a.0x1", "edge-1"),
        ("1.2.3.4.5", "edge-1"),
        ("256.1.1.1", "edge-1"),
        ("a$b", "edge-1"),
        ("-a.net", "edge-1"),
        (".".join(["a" * 60] * 5), "edge-1"),
    ],
)
def test_a_bad_host_is_answered_with_a_good_one(text: str, advice: str) -> None:
    assert advice in refused(parse_host, text).help


@pytest.mark.parametrize(
    ("host", "public"),
    [
        ("8.8.8.8", True),
        ("203.0.113.10", True),
        ("198.51.100.1", True),
        ("192.0.2.1", True),
        ("2001:db8::1", True),
        ("2606:4700::1", True),
        ("edge-1.example.net", True),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("127.0.0.1", False),
        ("169.254.169.254", False),
        ("172.31.255.255", False),
        ("192.168.0.1", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("localhost", False),
        ("edge-1", False),
        ("edge-1.local", False),
        ("edge-1.internal", False),
        ("edge-1.lan", False),
        ("a.localhost", False),
    ],
)
def test_public_addresses_are_told_from_private_ones(host: str, public: bool) -> None:
    assert is_public_address(parse_host(host)) is public


def test_ports() -> None:
    assert [parse_port(port) for port in (1, 8935, 65535)] == [1, 8935, 65535]
    for value in (0, -1, 65536, True, "8935", Decimal("8935.0"), None):
        refused(parse_port, value)
    assert "8935 without quotes" in refused(parse_port, "8935").help


def test_port_ranges() -> None:
    ports = parse_port_range("49160-49200")
    assert ports == PortRange(49160, 49200)
    assert (str(ports), len(ports), 49200 in ports, 49201 in ports) == ("49160-49200", 41, True, False)
    for text in ("9-8", "0-5", "1-65536", "1 - 5", "5"):
        refused(parse_port_range, text)


@pytest.mark.parametrize(
    ("text", "host", "port", "loopback", "everybody"),
    [
        ("127.0.0.1:8935", "127.0.0.1", 8935, True, False),
        ("127.9.9.9:1", "127.9.9.9", 1, True, False),
        ("[::1]:8935", "::1", 8935, True, False),
        ("localhost:80", "localhost", 80, True, False),
        ("0.0.0.0:8935", "0.0.0.0", 8935, False, True),
        ("[::]:8935", "::", 8935, False, True),
        ("edge-1.example.net:443", "edge-1.example.net", 443, False, False),
    ],
)
def test_listeners(text: str, host: str, port: int, loopback: bool, everybody: bool) -> None:
    listener = parse_listener(text)
    assert listener == Listener(HostName(host), port)
    assert (listener.is_loopback, listener.is_any, str(listener)) == (loopback, everybody, text)
    assert host_port(listener.host, listener.port) == text


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (":8935", '"0.0.0.0:8935"'),
        ("8935", '"127.0.0.1:8935"'),
        ("::1:8935", '"[::1]:8935"'),
        ("[::1]", '"[::1]:8935"'),
        ("[edge]:80", "edge-1"),
        ("x:0", "8935"),
        ("x:65536", "8935"),
        ("http://x:80", "8935"),
    ],
)
def test_a_bad_listener_is_answered_with_a_good_one(text: str, advice: str) -> None:
    assert advice in refused(parse_listener, text).help


def test_urls_keep_their_text() -> None:
    url = parse_url("https://Edge-1.example.net:8935/a?b=c#d", ("http", "https"))
    assert (url.scheme, url.host, url.port, url.path) == ("https", "edge-1.example.net", 8935, "/a?b=c#d")
    assert str(url) == url.text == "https://Edge-1.example.net:8935/a?b=c#d"
    assert parse_url("https://[::1]", ("https",)).host == "::1"
    assert parse_url("file:///var/lib", ("file",)).path == "/var/lib"


@pytest.mark.parametrize(
    "text",
    [
        "https://",
        "https:///x",
        "//host/x",
        "host/x",
        "ftp://host",
        "HTTPS://host",
        "https://host:0",
        "https://host:",
        "https://host:99999",
        "https://u@host",
        "https://u:p@host",
        "https://::1/",
        "https://127.1/",
        "https://host/a b",
        "https://host/\x7f",
        "https://host/é",
        'https://host/"',
        "https://host\n",
        "https://host\\@evil",
    ],
)
def test_unclear_urls_are_refused(text: str) -> None:
    refused(lambda value: parse_url(value, ("https",)), text)


def test_a_refused_url_with_a_password_is_not_shown() -> None:
    problem = refused(lambda value: parse_url(value, ("https",)), "https://user:" + "hunter2" + "@host/")
    assert "hunter2" not in problem.message + problem.help


# ---- Ethereum addresses


@pytest.mark.parametrize(
    "text",
    [  # the examples of EIP-55
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
        "0xde709f2102306220921060314715629080e2fb77",
        "0x27b1fdb04752bbc536007a920d24acb045561c26",
        MIXED,
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ],
)
def test_checksums_of_addresses(text: str) -> None:
    address = parse_eth_address(text)
    assert str(address) == text
    assert parse_eth_address(text.lower()) == parse_eth_address("0x" + text[2:].upper()) == address


def test_a_wrong_checksum_is_not_answered_with_an_address() -> None:
    """With a digit wrong, the spelling that would pass belongs to nobody."""
    assert "0x" not in refused(parse_eth_address, MIXED.replace("aA", "AA")).help


@pytest.mark.parametrize(
    "text", ["0x" + "0" * 40, "0X" + "1" * 40, "1" * 40, "0x" + "1" * 39, "0x" + "1" * 41, "0x" + "g" * 40]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    refused(parse_eth_address, text)


@given(st.binary(min_size=20, max_size=20).filter(any))
def test_law_an_address_has_one_spelling(data: bytes) -> None:
    address = parse_eth_address("0x" + data.hex())
    assert isinstance(address, EthAddress)
    assert parse_eth_address(str(address)) == address
    assert str(address).lower() == "0x" + data.hex()


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
        (b"abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
        (b"testing", "5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"),
    ],
)
def test_keccak_vectors(data: bytes, digest: str) -> None:
    assert keccak256(data).hex() == digest


@given(st.binary(max_size=135))
def test_the_permutation_is_the_one_of_sha3(data: bytes) -> None:
    padded = bytearray(data + bytes(136 - len(data)))
    padded[len(data)] ^= 0x06  # SHA-3 differs from Keccak in this byte alone
    padded[-1] ^= 0x80
    lanes = [int.from_bytes(padded[i : i + 8], "little") for i in range(0, 136, 8)] + [0] * 8
    digest = b"".join(lane.to_bytes(8, "little") for lane in _permute(lanes)[:4])
    assert digest == hashlib.sha3_256(data).digest()


@given(st.integers(130, 280))
def test_keccak_takes_texts_longer_than_a_block(length: int) -> None:
    assert keccak256(b"a" * length) != keccak256(b"a" * (length + 1))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("203.0.113.7", "203.0.113.7/32"), ("203.0.113.0/29", "203.0.113.0/29"), ("2001:DB8:0::/32", "2001:db8::/32")],
)
def test_networks_are_read_and_read_again(text: str, canonical: str) -> None:
    network = parse_network(text)
    assert str(network) == canonical
    assert parse_network(canonical) == network


@pytest.mark.parametrize(
    "text",
    [
        "203.0.113.5/29",
        "203.0.113.0/33",
        "203.0.113.0/08",
        "203.0.113.0/",
        "203.0.113.0/255.255.255.0",
        "::ffff:1.2.3.4",
        "fe80::1%eth0",
        "010.0.0.1",
        "1",
        "example.net",
        "",
        " 203.0.113.7",
        "203.0.113.7\n",
        "203.0.113.0/-1",
    ],
)
def test_what_is_no_network_is_refused(text: str) -> None:
    assert refused(parse_network, text).help


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        *((address, "loopback") for address in ("127.0.0.1", "127.8.0.1", "::1", "[::1]", "localhost", "a.localhost")),
        *((address, "everywhere") for address in ("", "0.0.0.0", "::", "[::]")),  # compared, not bound
        *((address, "address") for address in ("10.0.0.1", "203.0.113.9", "[2001:db8::1]", "edge.example.net")),
    ],
)
def test_who_reaches_an_address(address: str, reach: str) -> None:
    assert reach_of(address) == reach


def test_a_text_without_end_is_refused_before_it_is_searched_for_secrets() -> None:
    """Counters can make thousands of such texts, and a search of each takes a while."""
    found = refused(parse_host, "0123456789abcdef" * 5000)
    assert (found.message, found.secret) == ("the text is too long for a host", False)
