"""How an adopted fleet names nodes and hosts: as its sources do, and so that its own check takes the names."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.said import Said
from fleetc.toml.document import Source
from tests.support import fleetc

TRANSCODER = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -nvidia 0"
UNIT = f"[Service]\nExecStart=/usr/local/bin/{TRANSCODER}\n"
COMPOSE = f"services:\n  gpu-1:\n    image: livepeer/go-livepeer:v0.9.1\n    command: {TRANSCODER.partition(' ')[2]}\n"


def placed(found: Adopted) -> dict[str, str]:
    """The host of each node."""
    return {node.name: node.host for node in found.nodes}


@pytest.mark.parametrize(
    ("sources", "hosts", "nodes"),
    [
        (
            {"inventory.ini": INVENTORY, "scripts/ber-1.sh": TRANSCODER, "scripts/ber-2.sh": TRANSCODER},
            {},
            {"transcoder-ber-1": "ber-1", "transcoder-ber-2": "ber-2"},
        ),
        (
            {"inventory.ini": INVENTORY, "ber-2/start.sh": TRANSCODER},
            {},
            {"transcoder": "ber-2"},
        ),
        ({"gpu-1.yml": COMPOSE}, {"gpu-1.yml": "gpu-1"}, {"transcoder": "gpu-1"}),
        ({"gpu-1.sh": TRANSCODER}, {"gpu-1.sh": "gpu-1"}, {"transcoder": "gpu-1"}),
        ({"inventory.ini": INVENTORY, "ber-1.yml": COMPOSE.replace("gpu-1", "ber-2")}, {}, {"transcoder": "ber-1"}),
        (
            {f"{host}/etc/systemd/system/livepeer-t.service": UNIT for host in ("fra-1", "fra-2")},
            {},
            {"t-fra-1": "fra-1", "t-fra-2": "fra-2"},
        ),
        ({"backup/etc/systemd/system/livepeer-t.service": UNIT}, {}, {"t": "host-1"}),
        (
            {"inventory.ini": INVENTORY, **{f"got/ber-{n}.livepeer.service": UNIT for n in (1, 2)}},
            {},
            {"transcoder-ber-1": "ber-1", "transcoder-ber-2": "ber-2"},
        ),
        ({"inventory.ini": INVENTORY, "lp_ber-2_gpu.service": UNIT}, {}, {"lp-ber-2-gpu": "ber-2"}),
        ({"inventory.ini": INVENTORY, "ber-20.livepeer.service": UNIT}, {}, {"ber-20-livepeer": "host-1"}),
        ({"inventory.ini": INVENTORY, "ber-1-and-ber-2.service": UNIT}, {}, {"ber-1-and-ber-2": "host-1"}),
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




def test_several_folders_are_several_hosts(tmp_path: Path) -> None:
    for host in ("fra-1", "fra-2"):
        unit = tmp_path / host / "etc/systemd/system/livepeer.service"
        unit.parent.mkdir(parents=True)
        unit.write_text(UNIT)
    done = fleetc("adopt", "fra-1", "fra-2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [one["host"] for one in tomllib.loads(done.stdout)["transcoders"].values()] == ["fra-1", "fra-2"]


@pytest.mark.parametrize(
    ("second", "asked"),
    [(TRANSCODER, True), (f"{TRANSCODER} -cliAddr 127.0.0.1:6936", False), ("livepeer -gateway -orchAddr a:1", False)],
)
def test_folders_that_cannot_be_one_host_are_asked_about(second: str, asked: bool) -> None:
    sources = [Source("ber-1/start.sh", TRANSCODER), Source("x/ber-2/start.sh", second)]
    text = adopt(sources).text
    assert ("port; if their folders are hosts, adopt again with ber-1=ber-1 ber-2=x/ber-2\n" in text) is asked
    known = adopt(sources, Said(hosts={"ber-1/start.sh": "ber-1", "x/ber-2/start.sh": "ber-2"}))
    assert "TODO host:" not in known.text






def test_a_node_that_no_source_starts_is_on_no_host(tmp_path: Path) -> None:
    (tmp_path / "NOTES.md").write_text(NOTES)
    done = fleetc("adopt", "NOTES.md", "--host", "gpu-1=orhc", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no source starts orhc; nodes are gw, orch" in done.stderr
    for wrong in ("gpu-1=", "=orch", "gpu-1@=orch", "gpu-1=orch,"):
        said = fleetc("adopt", "NOTES.md", "--host", wrong, cwd=tmp_path).stderr
        assert "--host takes a host and nodes of it" in said
    for twice, words in (
        (("a=orch", "b=gw,orch"), "--host names a node twice"), (("a", "b"), "several hosts without nodes"),
    ):  # fmt: skip
        options = (word for one in twice for word in ("--host", one))
        assert words in fleetc("adopt", "NOTES.md", *options, cwd=tmp_path).stderr


def test_one_option_puts_several_nodes_on_a_host_and_one_without_nodes_the_rest(tmp_path: Path) -> None:
    (tmp_path / "NOTES.md").write_text(NOTES)
    for options, hosts in (
        (("edge@192.0.2.7=gw,orch",), {"gw": "edge", "orch": "edge"}),
        (("edge@192.0.2.7",), {"gw": "edge", "orch": "edge"}),
        (("gpu-1@192.0.2.8=orch", "edge@192.0.2.7"), {"gw": "edge", "orch": "gpu-1"}),
    ):  # fmt: skip
        words = [word for one in options for word in ("--host", one)]
        spec = tomllib.loads(fleetc("adopt", "NOTES.md", *words, cwd=tmp_path).stdout)
        nodes = {**spec["gateways"], **spec["orchestrators"]}
        assert {name: table["host"] for name, table in nodes.items()} == hosts
        assert spec["hosts"]["edge"]["address"] == "192.0.2.7"


@pytest.mark.parametrize(
    ("worker", "sign"),
    [
        ("-orchAddr 203.0.113.31:8935", "worker reaches orch at 203.0.113.31"),
        ("-orchAddr 127.0.0.1:8935", ""),
    ],
)
def test_commands_that_speak_for_two_hosts_are_asked_about(worker: str, sign: str) -> None:
    orch = (
        "docker run --name orch --network host livepeer/go-livepeer:v0.8.5 -orchestrator -network offchain "
        "-serviceAddr 203.0.113.31:8935"
    )
    text = adopt([Source("orch.sh", orch), Source("worker.sh", f"livepeer -transcoder -nvidia 0 {worker}")]).text
    assert ("TODO host: no source says that it is one host, and" in text) is bool(sign)
    assert sign in text




@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["start-rig.sh"], {"rig"}),
        (["livepeer-start-rig.sh", "run_edge.sh"], {"rig", "edge"}),
        (["start-rig.sh", "run-rig.sh"], {"start-rig", "run-rig"}),
        (["start-node.sh", "start.sh"], {"start-node", "transcoder"}),
        (["rig-start.sh"], {"rig"}),
    ],
)
def test_nodes_are_called_like_their_scripts_without_what_starts_them(files: list[str], names: set[str]) -> None:
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


@pytest.mark.parametrize(
    ("programs", "release", "where"),
    [
        (["/opt/livepeer/0.8.9/livepeer"], "v0.8.9", "in the path of its program"),
        (["/opt/lp/v0.8.9/livepeer", "/srv/0.8.9/livepeer"], "v0.8.9", "in paths of programs"),
        (["/opt/livepeer-v0.8.9-linux/livepeer"], "v0.8.9", "in the path of its program"),
        (["/opt/lp/v0.8.99/livepeer"], "v0.9.1", "the newest that fleetc knows"),
    ],
)
def test_a_folder_of_a_program_that_is_called_as_a_release_is_offered(
    programs: list[str], release: str, where: str
) -> None:
    lines = "\n".join(
        f"{program} {TRANSCODER.partition(' ')[2]} -cliAddr 127.0.0.1:{7935 + number} &"
        for number, program in enumerate(programs)
    )
    text = adopt([Source("start.sh", lines)], Said()).text
    assert tomllib.loads(text)["fleet"]["node_release"] == release
    assert f"which release runs? livepeer -version says it ({release} is {where})" in text


def test_program_in_the_folder_of_another_release_than_the_others_has_that_one() -> None:
    lines = [
        f"/opt/{release}/livepeer {TRANSCODER.partition(' ')[2]} -cliAddr 127.0.0.1:{7935 + number} &"
        for number, release in enumerate(("v0.8.8", "v0.8.9", "v0.8.9"))
    ]
    found = adopt([Source("start.sh", "\n".join(lines))], Said())
    spec = tomllib.loads(found.text)
    assert spec["fleet"]["node_release"] == "v0.8.9"
    (other,) = [name for name, one in spec["transcoders"].items() if "node_release" in one]
    assert spec["transcoders"][other]["node_release"] == "v0.8.8" and "TODO node_release = " not in found.text
    assert f"{other} (v0.8.8)" in "\n".join(glance.nodes(found))












def test_nodes_of_two_networks_are_named_with_the_options_that_choose_them() -> None:
    node = "livepeer -orchestrator -serviceAddr o.example.net:{} -dataDir /d/{} -pricePerUnit 5"
    on_chain = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /p -cliAddr 127.0.0.1:1"
    text = f"{node.format(8935, 'a')} {on_chain} &\n{node.format(8936, 'b')} &\n"
    (found,) = [one for one in adopt([Source("start.sh", text)]).diagnostics if one.code == "adopt-networks-differ"]
    assert found.help == (
        "adopt the nodes of each network into a spec of their own: for arbitrum-one-mainnet a file with start.sh:1; "
        "for offchain a file with start.sh:2"
    )
    run = "docker run --name {} livepeer/go-livepeer:v0.9.1 {}"
    named = "\n".join(run.format(f"n{n}", line.partition(" ")[2]) for n, line in enumerate(text.splitlines()))
    (found,) = [one for one in adopt([Source("start.sh", named)]).diagnostics if one.code == "adopt-networks-differ"]
    assert found.help is not None and found.help.endswith("for arbitrum-one-mainnet --only n0; for offchain --only n1")
