"""How an adopted fleet names nodes and hosts: as its sources do, and so that its own check takes the names."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.library import Said
from fleetc.toml.document import Source
from tests.support import fleetc

TRANSCODER = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -nvidia 0"
UNIT = f"[Service]\nExecStart=/usr/local/bin/{TRANSCODER}\n"
COMPOSE = f"services:\n  gpu-1:\n    image: livepeer/go-livepeer:v0.9.1\n    command: {TRANSCODER.partition(' ')[2]}\n"

SCRIPT = """docker run -d --name gw --network host livepeer/go-livepeer:v0.8.5 -gateway -network offchain \\
  -orchAddr https://203.0.113.31:8935 -httpAddr 127.0.0.1:8937
docker run -d --name orch --network host --gpus all livepeer/go-livepeer:v0.8.5 -orchestrator -transcoder \\
  -network offchain -nvidia all -serviceAddr 203.0.113.31:8935
"""


def placed(found: Adopted) -> dict[str, str]:
    """The host of each node."""
    return {node.name: node.host for node in found.nodes}


@pytest.mark.parametrize(
    ("sources", "hosts", "nodes"),
    [
        ({"gpu-1.yml": COMPOSE}, {"gpu-1.yml": "gpu-1"}, {"transcoder": "gpu-1"}),
        ({"gpu-1.sh": TRANSCODER}, {"gpu-1.sh": "gpu-1"}, {"transcoder": "gpu-1"}),
        (
            {f"{host}/etc/systemd/system/livepeer-t.service": UNIT for host in ("fra-1", "fra-2")},
            {},
            {"t-fra-1": "fra-1", "t-fra-2": "fra-2"},
        ),
        ({"backup/etc/systemd/system/livepeer-t.service": UNIT}, {}, {"t": "host-1"}),
    ],
)
def test_nodes_are_on_the_hosts_that_paths_name_and_are_called_otherwise(
    sources: dict[str, str], hosts: dict[str, str], nodes: dict[str, str]
) -> None:
    found = adopt([Source(name, text) for name, text in sources.items()], Said(hosts=hosts))
    assert placed(found) == nodes
    assert found.checked is not None
    assert "name-used-twice" not in {one.code for one in found.checked.diagnostics}
    assert set(nodes.values()) <= set(tomllib.loads(found.text)["hosts"])


def test_a_node_that_no_source_starts_is_on_no_host(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(SCRIPT)
    done = fleetc("adopt", "start.sh", "--host", "gpu-1=orhc", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no source starts orhc; nodes are gw, orch" in done.stderr
    for wrong in ("gpu-1=", "=orch", "gpu-1@=orch", "gpu-1=orch,"):
        said = fleetc("adopt", "start.sh", "--host", wrong, cwd=tmp_path).stderr
        assert "--host takes a host and nodes of it" in said
    for twice, words in (
        (("a=orch", "b=gw,orch"), "--host names a node twice"), (("a", "b"), "several hosts without nodes"),
    ):  # fmt: skip
        options = (word for one in twice for word in ("--host", one))
        assert words in fleetc("adopt", "start.sh", *options, cwd=tmp_path).stderr


def test_one_option_puts_several_nodes_on_a_host_and_one_without_nodes_the_rest(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(SCRIPT)
    for options, hosts in (
        (("edge@192.0.2.7=gw,orch",), {"gw": "edge", "orch": "edge"}),
        (("edge@192.0.2.7",), {"gw": "edge", "orch": "edge"}),
        (("gpu-1@192.0.2.8=orch", "edge@192.0.2.7"), {"gw": "edge", "orch": "gpu-1"}),
    ):  # fmt: skip
        words = [word for one in options for word in ("--host", one)]
        spec = tomllib.loads(fleetc("adopt", "start.sh", *words, cwd=tmp_path).stdout)
        nodes = {**spec["gateways"], **spec["orchestrators"]}
        assert {name: table["host"] for name, table in nodes.items()} == hosts
        assert spec["hosts"]["edge"]["address"] == "192.0.2.7"


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["livepeer-start-rig.sh", "run_edge.sh"], {"start-rig", "run-edge"}),
        (["start-rig.sh", "run-rig.sh"], {"start-rig", "run-rig"}),
        (["start-node.sh", "start.sh"], {"start-node", "transcoder"}),
    ],
)
def test_nodes_are_called_like_their_scripts(files: list[str], names: set[str]) -> None:
    sources = [Source(name, f"{TRANSCODER} -cliAddr 127.0.0.1:79{at}0") for at, name in enumerate(files, 1)]
    assert placed(adopt(sources)).keys() == names


@pytest.mark.parametrize(("account", "wallets"), [("2", {"earner", "redeemer"}), ("1", {"earner"})])
def test_a_redeemer_has_a_wallet_called_after_it_unless_an_orchestrator_shares_it(
    account: str, wallets: set[str]
) -> None:
    chain = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /etc/pw -ethAcctAddr 0x"
    orch = f"livepeer -orchestrator -serviceAddr o.example.net:8935 -pricePerUnit 1 -dataDir /o {chain}{'1' * 40}"
    redeemer = f"livepeer -redeemer -httpAddr 127.0.0.1:8936 -dataDir /r {chain}{account * 40}"
    assert tomllib.loads(adopt([Source("all.sh", f"{redeemer} &\n{orch}\n")]).text)["wallets"].keys() == wallets


def test_nodes_of_two_networks_are_named_with_the_options_that_choose_them() -> None:
    node = "livepeer -orchestrator -serviceAddr o.example.net:{} -dataDir /d/{} -pricePerUnit 5"
    on_chain = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /p -cliAddr 127.0.0.1:1"
    text = f"{node.format(8935, 'a')} {on_chain} &\n{node.format(8936, 'b')} &\n"
    run = "docker run --name {} livepeer/go-livepeer:v0.9.1 {}"
    named = "\n".join(run.format(f"n{n}", line.partition(" ")[2]) for n, line in enumerate(text.splitlines()))
    (found,) = [one for one in adopt([Source("start.sh", named)]).diagnostics if one.code == "adopt-networks-differ"]
    assert found.help is not None and found.help.endswith("for arbitrum-one-mainnet --only n0; for offchain --only n1")
