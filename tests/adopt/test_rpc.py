"""The RPC address of a fleet: it is asked for where nodes of a host name several."""

from __future__ import annotations

import tomllib

import pytest

from fleetc.adopt import Said, adopt
from fleetc.toml.document import Source

LOCAL, PUBLIC = "http://127.0.0.1:8547", "https://arb1.arbitrum.io/rpc"
KEYED = "https://arb-mainnet.g.alchemy.com/v2/abcdefghijklmnopqrstuvwxyz012345"
CHAIN = "-network arbitrum-one-mainnet -ethPassword /srv/p -cliAddr 127.0.0.1"
ORCH = (
    f"livepeer -orchestrator -transcoder -serviceAddr o.example.net:8935 -pricePerUnit 1000 "
    f"-ethAcctAddr 0x{'1' * 40} {CHAIN}:7935 -dataDir /srv/o -ethUrl"
)
GATE = f"livepeer -gateway -maxPricePerUnit 2000 -ethAcctAddr 0x{'2' * 40} {CHAIN}:5935 -dataDir /srv/g -ethUrl"


def spec(one: str, other: str, *hosts: str) -> str:
    """The spec of two nodes that name these addresses, on one host or on two."""
    files = dict(zip(("o.sh", "g.sh"), hosts, strict=False))
    return adopt([Source("o.sh", f"{ORCH} {one}\n"), Source("g.sh", f"{GATE} {other}\n")], Said(hosts=files)).text


def test_one_address_is_that_of_the_fleet() -> None:
    assert f'\nrpc = "{LOCAL}"\n' in spec(LOCAL, LOCAL)


@pytest.mark.parametrize(("one", "other", "offered"), [
    (LOCAL, PUBLIC, f'"{PUBLIC}"'), (PUBLIC, LOCAL, f'"{PUBLIC}"'), (LOCAL, KEYED, '{ env = "RPC_URL" }'),
    (KEYED, f"{KEYED}6", '{ env = "RPC_URL" }'),
])  # fmt: skip
def test_several_addresses_of_a_host_are_asked_about(one: str, other: str, offered: str) -> None:
    """Two keyed ones get the same reference and are two all the same; the one of each host itself is not offered."""
    (line,) = (line for line in spec(one, other).splitlines() if line.startswith("# TODO rpc"))
    assert line.startswith(f"# TODO rpc = {offered}  # a host has one RPC address, but o asks ")
    assert ", g asks " in line and "abcdefghijklmnop" not in line


@pytest.mark.parametrize(("one", "other", "fleet", "hosts"), [
    (LOCAL, PUBLIC, PUBLIC, [LOCAL, None]), (KEYED, f"{KEYED}6", {"env": "RPC_URL"}, [None, {"env": "RPC_URL_2"}]),
])  # fmt: skip
def test_each_host_keeps_its_own_address(one: str, other: str, fleet: object, hosts: list[object]) -> None:
    """The fleet has the one that more hosts use, and of two the one that is not of the host itself."""
    found = tomllib.loads(spec(one, other, "a", "b"))
    assert found["fleet"]["rpc"] == fleet
    assert [found["hosts"][host].get("rpc") for host in ("a", "b")] == hosts
