"""Template units adopted: each instance that the sources name is a node, and others are asked for."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.said import Said
from fleetc.adopt.read.unit_instances import specifiers
from fleetc.disk.adopting import read_source_files
from fleetc.toml.document import Source
from tests.support import fleetc

TEMPLATE = """[Unit]
Description=Gateway %i
[Service]
User=lp
EnvironmentFile=/etc/livepeer/%i.env
ExecStart=/usr/local/bin/livepeer -gateway -network offchain -dataDir /var/lib/livepeer/%i \\
  -orchAddr ${ORCH} -cliAddr 127.0.0.1:$CLI -httpAddr 127.0.0.1:$HTTP -rtmpAddr 127.0.0.1:$RTMP
"""
ENV = [
    Source(f"etc/{name}.env", f"ORCH=https://{name}.example.net:8935\nCLI=593{at}\nHTTP=993{at}\nRTMP=193{at}\n")
    for at, name in enumerate(("eu", "us"))
]
UNIT = Source("units/livepeer@.service", TEMPLATE)


def gateways(found: Adopted) -> dict[str, Any]:
    assert found.text, found.diagnostics
    tables: dict[str, Any] = tomllib.loads(found.text)["gateways"]
    return tables


LINKS = [Source(f"units/multi-user.target.wants/livepeer@{name}.service", "") for name in ("eu", "us")]
SAID = {
    "links": LINKS,
    "links that were read": [Source(one.name, TEMPLATE) for one in LINKS],
    "a script": [Source("up.sh", "#!/bin/sh\nsystemctl enable --now livepeer@eu.service livepeer@us\n")],
    "braces": [Source("up.sh", "#!/bin/sh\nsudo systemctl start livepeer@{eu,us}\n")],
    "a target": [Source("units/all.target", "[Unit]\nWants=livepeer@eu.service livepeer@us.service\n")],
    "drop-ins": [
        Source(f"units/livepeer@{name}.service.d/o.conf", "[Service]\nNice=1\n") for name in ("eu", "us")
    ],
}  # fmt: skip


@pytest.mark.parametrize("said", SAID)
def test_each_instance_that_a_source_names_is_a_node(said: str) -> None:
    found = gateways(adopt([UNIT, *SAID[said], *ENV]))
    assert {name: (table["orchestrators"], table.get("data_dir")) for name, table in found.items()} == {
        name: ([f"https://{name}.example.net:8935"], None) for name in ("eu", "us")
    }
    assert found["us"]["rtmp"] == "127.0.0.1:1931"


def test_template_without_an_instance_is_told_what_to_name() -> None:
    found = adopt([UNIT, Source("start.sh", "livepeer -gateway -orchAddr a:1\n")])
    (one,) = (d for d in found.diagnostics if d.code == "adopt-instances-unknown")
    assert "systemctl enable livepeer@NAME" in one.help
    assert len(gateways(found)) == 1


@pytest.mark.parametrize(
    "text",
    ["# systemctl enable livepeer@eu\n", "echo livepeer@eu\n", "systemctl enable other@eu\n", "ssh livepeer@eu\n"],
)
def test_what_starts_no_instance_names_none(text: str) -> None:
    found = adopt([UNIT, Source("up.sh", "#!/bin/sh\n" + text), *ENV])
    assert "adopt-instances-unknown" in {d.code for d in found.diagnostics}
    assert not found.processes


def test_drop_in_of_an_instance_counts_for_it_alone_and_replaces_one_of_the_template() -> None:
    more = [
        Source("units/livepeer@.service.d/10.conf", "[Service]\nEnvironment=A_MODE=all\n"),
        Source("units/livepeer@.service.d/20.conf", "[Service]\nEnvironment=B_MODE=all\n"),
        Source("units/livepeer@us.service.d/20.conf", "[Service]\nEnvironment=C_MODE=us\n"),
    ]
    found = gateways(adopt([UNIT, *LINKS, *more, *ENV]))
    assert found["eu"]["environment"] == {"A_MODE": "all", "B_MODE": "all"}
    assert found["us"]["environment"] == {"A_MODE": "all", "C_MODE": "us"}


def test_unit_of_an_instance_replaces_the_template() -> None:
    own = Source("units/livepeer@us.service", "[Service]\nExecStart=livepeer -gateway -orchAddr own.example.net:8935\n")
    found = gateways(adopt([UNIT, *LINKS, own, *ENV]))
    assert found["us"]["orchestrators"] == ["own.example.net:8935"]
    assert found["eu"]["orchestrators"] == ["https://eu.example.net:8935"]


def test_specifiers_of_the_name_and_no_others_are_filled_in() -> None:
    text = "[Service]\nExecStart=livepeer -gateway -orchAddr a.example.net -dataDir /d/%p/%i/%I/%N -region %H%%\n"
    found = gateways(adopt([Source("x/gate@.service", text), Source("x/a.wants/gate@a-b.service", "")]))
    ((_, table),) = found.items()
    assert table["data_dir"] == "/d/gate/a-b/a/b/gate@a-b"
    assert "region" not in table
    assert specifiers("gate", "a-b\\x2dc")["%I"] == "a/b-c"


def test_link_of_a_folder_counts_by_its_name_and_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("livepeer -orchestrator -orchSecret word\n")
    folder = tmp_path / "units"
    (folder / "multi-user.target.wants").mkdir(parents=True)
    (folder / "livepeer@.service").write_text(TEMPLATE)
    (folder / "multi-user.target.wants" / "livepeer@eu.service").symlink_to(secret)
    (folder / "other.service").symlink_to(secret)
    sources = read_source_files(str(folder)).texts
    assert sorted(source.text for source in sources) == ["", TEMPLATE]
    assert list(gateways(adopt([*sources, *ENV]))) == ["eu"]


def test_people_can_name_the_instances_that_run() -> None:
    found = adopt([UNIT, *ENV], Said(instances=["livepeer@eu", "livepeer@us.service"]))
    assert list(gateways(found)) == ["eu", "us"]
    assert "adopt-instances-unknown" not in {d.code for d in found.diagnostics}
    assert not adopt([UNIT, *ENV], Said(instances=["other@eu"])).processes


def test_command_takes_instances_and_repeats_them_in_what_comes_next(tmp_path: Path) -> None:
    (tmp_path / "livepeer@.service").write_text(TEMPLATE)
    done = fleetc("adopt", "livepeer@.service", "--instance", "livepeer@eu", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "--instance livepeer@eu" in done.stderr
    wrong = fleetc("adopt", "livepeer@.service", "--instance", "eu", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "--instance takes a unit with its name, such as livepeer@eu" in wrong.stderr
