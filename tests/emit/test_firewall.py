"""`nftables.conf` against the real nft: it parses, loads again and again, and lets the right callers through."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from fleetc.emit.tree import Tree
from tests.emit import avatar_hosts
from tests.emit.avatar_hosts import CONTAINER, HOST, HOST_6, PUBLISHED, SINGLE_STACKS, UNLISTED_CONTAINER, Network
from tests.emit.programs import program
from tests.support import ROOT, compile_text

SPEC = (ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")
FILES = ("hosts/gpu-1/avatar/nftables.conf", "hosts/gpu-2/avatar/nftables.conf")
SLOTS = range(20)
COULD_BE_PUBLISHED = (
    *(f"tcp/{base + slot}" for base in PUBLISHED.values() for slot in SLOTS),
    *(f"tcp/{port}" for port in SINGLE_STACKS),
)
LISTED = {f"tcp/{base + slot}" for service, base in PUBLISHED.items() if service != "game" for slot in (0, 1, 3)}
"""What the spec opens for its allowlist. Its slot 1 publishes no command port; in the public file it does."""

EVERYTHING = ("tcp/22", "tcp/9090", "tcp/3478", "udp/3478", "udp/49160", "udp/49200", "udp/49201")


@cache
def tree() -> Tree:
    found = compile_text(SPEC).tree
    assert found is not None
    return found


def rules(path: str = FILES[0]) -> str:
    return tree().as_mapping()[path].content.decode()


def needs_root() -> None:
    program("nft")
    program("ip")
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("path", FILES)
def test_nft_accepts_the_rules(path: str, tmp_path: Path) -> None:
    needs_root()
    (tmp_path / "nftables.conf").write_text(rules(path))
    done = subprocess.run(
        ["unshare", "--net", "nft", "--check", "--file", tmp_path / "nftables.conf"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    """The host with its rules loaded, one slot behind rewritten ports, a caller of the allowlist and another."""
    needs_root()
    servers = [
        ("host", EVERYTHING),
        ("container", ("tcp/80", "tcp/9877", "tcp/7777")),
        ("unlisted", ("tcp/80", "tcp/9877", "tcp/7777")),
        ("stranger", ("tcp/8889", "tcp/7780")),
    ]
    with avatar_hosts.network(servers) as made:
        everything = made.reached("stranger", COULD_BE_PUBLISHED)
        assert everything == set(COULD_BE_PUBLISHED), "without rules everybody reaches every published port"
        assert made.reaches("stranger", "tcp/7777", CONTAINER)
        assert made.reaches("stranger", "tcp/7777", UNLISTED_CONTAINER)
        for _ in range(3):
            made.inside("host", "nft", "--file", "-", stdin=rules())
        yield made


@pytest.mark.usefixtures("processes")
def test_only_the_allowlist_reaches_the_ports_of_the_stack(network: Network) -> None:
    ports = ("tcp/8083", "tcp/9880", "tcp/9090", "tcp/3478", "udp/3478", "udp/49160", "udp/49200")
    assert network.reached("friend", ports) == set(ports)
    assert network.reached("stranger", ports) == set()


@pytest.mark.usefixtures("processes")
def test_no_port_that_the_public_files_publish_is_open_unless_listed_with_a_stand_in_for_docker(
    network: Network,
) -> None:
    """The stand-in publishes all ports of slots 0 to 19 by rewriting, then as Docker's proxy does, on IPv6 too."""
    assert network.reached("stranger", COULD_BE_PUBLISHED) == set()
    assert network.reached("friend", COULD_BE_PUBLISHED) == LISTED
    network.inside("host", "nft", "flush", "table", "ip", "docker_like")
    proxy = network.serve("host", *COULD_BE_PUBLISHED)
    try:
        assert [network.reached("stranger", COULD_BE_PUBLISHED, one) for one in (HOST, HOST_6)] == [set(), set()]
        assert network.reached("friend", COULD_BE_PUBLISHED) == LISTED
        assert network.reached("container", COULD_BE_PUBLISHED) > LISTED, "what runs on the host is no stranger"
        assert network.reached("host", COULD_BE_PUBLISHED) == set(COULD_BE_PUBLISHED)
    finally:
        avatar_hosts.end(proxy)
        network.inside("host", "nft", "--file", "-", stdin=avatar_hosts.REWRITING)


@pytest.mark.usefixtures("processes")
def test_what_is_listed_for_everyone_is_left_without_cluster_control_too(network: Network) -> None:
    network.inside("host", "nft", "--file", "-", stdin=rules(FILES[1]))
    try:
        assert network.reached("stranger", COULD_BE_PUBLISHED) == {"tcp/8080", "tcp/8081"}
        assert network.reaches("stranger", "tcp/22")
    finally:
        network.inside("host", "nft", "--file", "-", stdin=rules())


@pytest.mark.usefixtures("processes")
def test_nobody_outside_reaches_the_command_port_of_a_game(network: Network) -> None:
    assert not network.reaches("friend", "tcp/7780")
    assert not network.reaches("stranger", "tcp/7780")


@pytest.mark.usefixtures("processes")
def test_nobody_outside_reaches_a_container_past_its_published_ports(network: Network) -> None:
    ports = ("tcp/7777", "tcp/80")
    for container in (CONTAINER, UNLISTED_CONTAINER):
        assert network.reached("friend", ports, container) == set()
        assert network.reached("host", ports, container) == set(ports), "the host itself does"


@pytest.mark.usefixtures("processes")
def test_what_the_stack_does_not_own_is_left_alone(network: Network) -> None:
    assert network.reaches("stranger", "tcp/22")
    assert network.reaches("stranger", "udp/49201")


@pytest.mark.usefixtures("processes")
def test_containers_call_out_and_call_their_host(network: Network) -> None:
    """A matchmaker listens on 8889, and that is the port of a recorder here: what leaves the host is not for it."""
    for port in ("tcp/8889", "tcp/7780"):
        assert network.reaches("container", port, avatar_hosts.CALLERS["stranger"])
    assert network.reaches("container", "tcp/3478")


@pytest.mark.usefixtures("processes")
def test_loading_again_leaves_one_table_and_its_neighbours(network: Network) -> None:
    before = network.inside("host", "nft", "--stateless", "list", "ruleset")
    network.inside("host", "nft", "--file", "-", stdin=rules())
    assert network.inside("host", "nft", "--stateless", "list", "ruleset") == before
    assert network.inside("host", "nft", "list", "tables").split("\n")[:-1] == [
        "table ip docker_like",
        "table inet fleetc_avatar",
    ]


@pytest.mark.usefixtures("processes")
def test_caller_that_leaves_the_allowlist_is_cut_off(network: Network) -> None:
    network.inside("host", "nft", "--file", "-", stdin=rules().replace("203.0.113.77/32", "203.0.113.79/32"))
    try:
        assert not network.reaches("friend", "tcp/8083")
    finally:
        network.inside("host", "nft", "--file", "-", stdin=rules())
    assert network.reaches("friend", "tcp/8083")
