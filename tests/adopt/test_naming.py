"""How an adopted fleet names nodes and hosts: as its sources do, and so that its own check takes the names."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.said import Said
from fleetc.adopt.report import glance
from fleetc.toml.document import Source
from tests.support import fleetc

TRANSCODER = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -nvidia 0"
UNIT = f"[Service]\nExecStart=/usr/local/bin/{TRANSCODER}\n"
INVENTORY = "[transcoders]\nber-1 ansible_host=192.0.2.1\nber-2 ansible_host=192.0.2.2\n"
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


def test_files_named_after_their_hosts_are_read_by_the_units_named_alike() -> None:
    unit = UNIT.replace("[Service]", "[Service]\nEnvironmentFile=/etc/livepeer/livepeer.env").replace(" -nvidia 0", "")
    sources = [Source("inventory.ini", INVENTORY)]
    for number in (1, 2):
        sources.append(Source(f"got/ber-{number}.livepeer.service", unit))
        sources.append(Source(f"got/ber-{number}.livepeer.env", f"LP_NVIDIA={number}\n"))
    found = adopt(sources)
    tables = tomllib.loads(found.text)["transcoders"]
    assert [(one["host"], one["gpus"]) for one in tables.values()] == [("ber-1", [1]), ("ber-2", [2])]
    said = {(entry.span.source, entry.words) for entry in found.entries}
    assert ("got/ber-1.livepeer.service", "it is of ber-1") in said
    assert ("got/ber-2.livepeer.service", "got/ber-2.livepeer.env is taken for it, by its name") in said
    assert "adopt-file-missing" not in {one.code for one in found.diagnostics}


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


NOTES = """# Notes

```sh
docker run -d --name gw --network host livepeer/go-livepeer:v0.8.5 -gateway -network offchain \\
  -orchAddr https://203.0.113.31:8935 -httpAddr 127.0.0.1:8937
```

On the GPU box:

```sh
docker run -d --name orch --network host --gpus all livepeer/go-livepeer:v0.8.5 -orchestrator -transcoder \\
  -network offchain -nvidia all -serviceAddr 203.0.113.31:8935
```
"""


def test_a_page_with_nodes_of_two_hosts_asks_which_run_where(tmp_path: Path) -> None:
    (tmp_path / "NOTES.md").write_text(NOTES)
    done = fleetc("adopt", "NOTES.md", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (question,) = [line for line in (tmp_path / "fleet.toml").read_text().split("\n") if "TODO host:" in line]
    assert question.endswith("adopt again with --answers FILE -o FILE (this file) --host HOST@ADDRESS=orch")
    answer = ("--answers", "fleet.toml", "-o", "fleet.toml", "--host", "gpu-1@203.0.113.31=orch", "--host", "edge=gw")
    done = fleetc("adopt", "NOTES.md", *answer, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "--host gpu-1@203.0.113.31=orch --host edge=gw --compare fleet.toml" in done.stderr
    text = (tmp_path / "fleet.toml").read_text()
    spec = tomllib.loads(text)
    assert "TODO host:" not in text
    assert {name: host.get("address") for name, host in spec["hosts"].items()} == {
        "gpu-1": "203.0.113.31", "edge": None,
    }  # fmt: skip
    assert [node["host"] for kind in ("gateways", "orchestrators") for node in spec[kind].values()] == ["edge", "gpu-1"]


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


def test_a_node_that_a_host_is_called_like_says_what_its_source_calls_it(tmp_path: Path) -> None:
    (tmp_path / "NOTES.md").write_text(NOTES)
    words = ("NOTES.md", "--host", "gw@203.0.113.1=gw", "--host", "gpu-1@203.0.113.31=orch", "-o", "fleet.toml")
    assert fleetc("adopt", *words, cwd=tmp_path).returncode == 0
    text = (tmp_path / "fleet.toml").read_text()
    assert "# from NOTES.md; there it is called gw, as a host is here\n[gateways.gateway]\n" in text
    assert "from the command line" not in text and "# from NOTES.md\n[orchestrators.orch]\n" in text
    assert fleetc("adopt", *words, "--answers", "fleet.toml", cwd=tmp_path).returncode == 0
    assert (tmp_path / "fleet.toml").read_text() == text


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


def test_release_of_a_bare_node_beside_an_image_is_asked() -> None:
    image = "docker run livepeer/go-livepeer:v0.8.9 -transcoder -orchAddr o.example.net:1 -orchSecret /s -dataDir /d"
    text = adopt([Source("start.sh", f"{image} &\n{TRANSCODER} -cliAddr 127.0.0.1:7936 &\n")], Said()).text
    assert text.count('# TODO node_release = "v0.8.9"  # which release runs here?') == 1
    path = f"/opt/v0.8.9/{TRANSCODER}"
    text = adopt([Source("start.sh", f"{image} &\n{path} -cliAddr 127.0.0.1:7936 &\n")], Said()).text
    assert "TODO node_release" not in text


@pytest.mark.parametrize(
    ("name", "text", "release", "where"),
    [
        ("a.md", "```\nwget https://github.com/livepeer/go-livepeer/releases/download/v0.8.5/l.tar.gz\n```", "v0.8.5",
         "downloaded at a.md:2"),
        ("group_vars/all.yml", "# x\nlp_version: v0.8.6\n", "v0.8.6", "lp_version at group_vars/all.yml:2"),
        ("vars.sh", "export LIVEPEER_VERSION='0.8.6'\n", "v0.8.6", "LIVEPEER_VERSION at vars.sh:1"),
        ("vars.sh", "LP_VERSION=0.8.6\nLP_TAG=0.8.5\n", "v0.9.1", "the newest that fleetc knows"),
        ("vars.sh", "LP_VERSION=1.2.3\n", "v0.9.1", "the newest that fleetc knows"),
    ],
)  # fmt: skip
def test_release_of_a_download_or_a_variable_is_offered(name: str, text: str, release: str, where: str) -> None:
    found = adopt([Source("start.sh", f"{TRANSCODER}\n"), Source(name, text)], Said()).text
    assert f"which release runs? livepeer -version says it ({release} is {where})" in found


INVENTORY = "[gpus]\nber-1 ansible_host=203.0.113.1\nber-2 ansible_host=203.0.113.2\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ber-1.sh", "; the name of the file says the host"),
        ("start-ber-1-ai.sh", "; the name of the file says the host"),
        ("ber-1/x/start.sh", "; the name of the folder says the host"),
    ],
)
def test_comment_says_why_a_node_is_on_its_host(name: str, why: str, tmp_path: Path) -> None:
    """What somebody says of the host needs no reason."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(TRANSCODER)
    (tmp_path / "hosts.ini").write_text(INVENTORY)
    words = ("adopt", "hosts.ini", name, "-o", "fleet.toml")
    assert fleetc(*words, cwd=tmp_path).returncode == 0
    text = (tmp_path / "fleet.toml").read_text()
    (node,) = tomllib.loads(text)["transcoders"]
    assert f"\n# from {name}{why}\n[transcoders.{node}]\n" in text
    assert fleetc(*words, "--answers", "fleet.toml", cwd=tmp_path).returncode == 0
    assert (tmp_path / "fleet.toml").read_text() == text
    assert fleetc(*words, "--answers", "fleet.toml", "--host", f"ber-2={node}", cwd=tmp_path).returncode == 0
    moved = (tmp_path / "fleet.toml").read_text()
    assert 'host = "ber-2"' in moved and f"\n# from {name}\n" in moved and "says the host" not in moved
    known = adopt([Source("hosts.ini", INVENTORY), Source(name, TRANSCODER)], Said(hosts={name: "ber-2"}))
    assert f"\n# from {name}\n" in known.text


def test_comment_of_many_nodes_says_it_once() -> None:
    inventory = "[gpus]\n" + "".join(f"g-{i} ansible_host=203.0.113.{i}\n" for i in range(1, 9))
    sources = [Source("hosts.ini", inventory), *(Source(f"g-{i}.sh", TRANSCODER) for i in range(1, 9))]
    assert "# from g-1.sh and 7 more; the name of the file says the host\n" in adopt(sources).text


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
