"""How an adopted fleet names nodes and hosts: as its sources do, and so that its own check takes the names."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fleetc.adopt.adoption import Adopted, adopt
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
    ],
)
def test_nodes_are_on_the_hosts_that_paths_name_and_are_called_otherwise(
    sources: dict[str, str], hosts: dict[str, str], nodes: dict[str, str]
) -> None:
    found = adopt([Source(name, text) for name, text in sources.items()], hosts)
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
    known = adopt(sources, {"ber-1/start.sh": "ber-1", "x/ber-2/start.sh": "ber-2"})
    assert "TODO host:" not in known.text
