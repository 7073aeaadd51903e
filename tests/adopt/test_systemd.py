"""systemd: units with drop-ins, environment files, and the instances of templates that the sources name."""

from __future__ import annotations

import tomllib

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.library import Said
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

UNIT = """\
[Unit]
Description=my node
After=vpn.service
[Service]
User=lp
Environment="LP_V=6" HOME=/home/lp
EnvironmentFile=-/etc/livepeer/node.env
LimitNOFILE=7
ExecStartPre=/usr/bin/nvidia-smi -pm 1
ExecStart=/opt/livepeer/livepeer -transcoder \\
  # a comment between
  -orchAddr=${ORCH} -nvidia "0,1" \\
  -orchSecret /etc/livepeer/secret
[Install]
WantedBy=multi-user.target
"""


def adopted(texts: dict[str, str]) -> Adopted:
    return adopt([Source(name, text) for name, text in texts.items()])


def test_unit_with_drop_in_and_environment_file() -> None:
    texts = {
        "etc/livepeer.service": UNIT,
        "etc/livepeer.service.d/more.conf": "[Service]\nEnvironment=ORCH=old.example.net:8935\n",
        "etc/livepeer/node.env": "ORCH=orch.example.net:8935\n",
    }
    found = adopt([Source(*one) for one in texts.items()], Said(addresses={"gpu-1": "192.0.2.7"}))
    assert [difference.flag for difference in found.differences] == ["CUDA_DEVICE_ORDER"]
    spec = tomllib.loads(found.text)
    (worker,) = spec["transcoders"].values()
    assert (worker["orchestrator"], worker["verbosity"], worker["gpus"]) == ("orch.example.net:8935", 6, [0, 1])
    host = spec["hosts"]["gpu-1"]
    assert (host["node_user"], host["binary"], host["address"]) == ("lp", "/opt/livepeer/livepeer", "192.0.2.7")
    assert found.nodes[0].process.home == "/home/lp"


def test_of_what_a_unit_orders_bounds_and_prepares_only_the_names_are_told() -> None:
    more = "SetCredential=pw:Vk7pQm2TzX\nStandardInputText=Vk7pQm2TzX\nMountImages=/a:/b:password=Vk7pQm2TzX\n"
    found = adopted({"w.service": UNIT.replace("User=lp\n", f"User=lp\n{more}")})
    left = {entry.shown for entry in found.entries if entry.words == "fleetc writes its own unit"}
    assert left == {
        "After",
        "WantedBy",
        "LimitNOFILE",
        "ExecStartPre",
        "SetCredential",
        "StandardInputText",
        "MountImages",
    }
    assert "Vk7pQm2TzX" not in repr((found.text, found.entries, found.diagnostics))


NODE = "/bin/livepeer -gateway -orchAddr a.example.net:1"


def test_what_a_drop_in_takes_away_is_replaced_by_its_line() -> None:
    found = adopted({
        "g.service": f"[Service]\nUser=one\nEnvironment=A=1 B=1\nExecStart={NODE} -v 1\n",
        "g.service.d/b.conf": f"[Service]\nUser=two\nEnvironment=A=2\nExecStart=\nExecStart={NODE} -v 2\n",
    })  # fmt: skip
    replaced = [(entry.shown, entry.words) for entry in found.entries if entry.fate is Fate.REPLACED]
    assert sorted(replaced) == [
        ("A", "g.service.d/b.conf:3"), ("ExecStart", "g.service.d/b.conf:4"), ("User", "g.service.d/b.conf:2"),
    ]  # fmt: skip
    (node,) = found.nodes
    assert (node.process.user, node.text("v")) == ("two", "2")
    assert {name: word.text for name, word in node.process.variables.items()} == {"A": "2", "B": "1"}


def test_value_of_a_unit_loses_to_its_environment_file() -> None:
    found = adopted({
        "g.service": f"[Service]\nEnvironmentFile=/etc/g.env\nExecStart={NODE}\n",
        "g.service.d/more.conf": "[Service]\nEnvironment=LP_V=7 LP_MAXSESSIONS=3\n",
        "g.env": "LP_V=5\nLP_MAXSESSIONS=3\n",
    })  # fmt: skip
    (lost,) = [entry for entry in found.entries if entry.fate is Fate.REPLACED]
    assert (lost.span, lost.shown, lost.words) == (Span("g.service.d/more.conf", 22, 28), "LP_V", "g.env:1")
    assert "verbosity = 5" in found.text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("-gateway -region 'a b' -v \"6\"", ["-gateway", "-region", "a b", "-v", "6"]),
        ("-gateway $MORE -region ${MORE}", ["-gateway", "-v", "6", "-region", "-v 6"]),
        ("-gateway -region a\\x20b\\101 -v $$X%%", ["-gateway", "-region", "a bA", "-v", "$X%"]),
        ("-gateway -region %H -v {{ level }}", ["-gateway", "-region", "%H", "-v", "{{ level }}"]),
    ],
)
def test_words_of_a_unit_are_those_of_systemd(line: str, words: list[str]) -> None:
    unit = f'[Service]\nEnvironment="MORE=-v 6"\nExecStart=@-/bin/livepeer {line}\n'
    (process,) = adopted({"g.service": unit}).processes
    assert [word.text for word in process.words] == words


@pytest.mark.parametrize(
    ("start", "texts"),
    [
        ("/bin/bash -c 'exec livepeer -gateway -orchAddr $${A} -v ${V}'", {}),
        ("/usr/bin/docker run --net=host -e LP_V=6 livepeer/go-livepeer:v0.9.1 -gateway -orchAddr a:1", {}),
        ("/opt/start.sh", {"start.sh": "#!/bin/sh\nexec /bin/livepeer -gateway -orchAddr a:1 -v 6\n"}),
        ("/bin/sh /opt/start.sh", {"start.sh": "#!/bin/sh\nexec /bin/livepeer -gateway -orchAddr a:1 -v $V\n"}),
    ],
)
def test_a_node_behind_a_shell_a_script_or_docker_is_found(start: str, texts: dict[str, str]) -> None:
    (node,) = adopted({"g.service": f"[Service]\nUser=lp\nEnvironment=V=6\nExecStart={start}\n", **texts}).nodes
    assert (node.name, node.text("v")) == ("g", "6")


@pytest.mark.parametrize(
    ("sources", "unused"),
    [
        ({"x.service.d/a.conf": "[Service]\nEnvironment=LP_V=6\n"}, {"x.service.d/a.conf"}),
        ({"other.service": "[Service]\nExecStart=/bin/prometheus\n"}, {"other.service"}),
        ({"w.service.d/b.conf": "[Service]\nUser=lp\n"}, set()),
    ],
)
def test_parts_without_a_unit_and_other_programs_are_not_used(sources: dict[str, str], unused: set[str]) -> None:
    found = adopted({"w.service": f"[Service]\nExecStart={NODE}\n", **sources})
    assert len(found.nodes) == 1 and set(found.unused) == unused


TEMPLATE = """[Service]
User=lp
EnvironmentFile=/etc/livepeer/%i.env
ExecStart=/usr/local/bin/livepeer -gateway -network offchain -dataDir /var/lib/livepeer/%i \\
  -orchAddr ${ORCH} -cliAddr 127.0.0.1:$CLI -httpAddr 127.0.0.1:$HTTP -rtmpAddr 127.0.0.1:$RTMP
"""
ENV = {
    f"etc/{name}.env": f"ORCH=https://{name}.example.net:8935\nCLI=593{at}\nHTTP=993{at}\nRTMP=193{at}\n"
    for at, name in enumerate(("eu", "us"))
}


def test_each_copy_of_a_template_is_a_node_with_its_drop_in() -> None:
    copies = {f"units/livepeer@{name}.service": TEMPLATE for name in ("eu", "us")}
    drop_in = {"units/livepeer@us.service.d/20.conf": "[Service]\nEnvironment=C_DIR=us\n"}
    tables = tomllib.loads(adopted({**copies, **drop_in, **ENV}).text)["gateways"]
    assert {name: table["orchestrators"] for name, table in tables.items()} == {
        name: [f"https://{name}.example.net:8935"] for name in ("eu", "us")
    }
    assert tables["us"]["rtmp"] == "127.0.0.1:1931" and tables["us"]["environment"] == {"C_DIR": "us"}


@pytest.mark.parametrize("texts", [{}, {"up.sh": "#!/bin/sh\nsystemctl enable --now livepeer@eu\n"}])
def test_a_template_without_an_instance_is_told_what_to_name(texts: dict[str, str]) -> None:
    found = adopted({"units/livepeer@.service": TEMPLATE, **texts, **ENV})
    (told,) = (d for d in found.diagnostics if d.code == "adopt-instances-unknown")
    assert "systemctl list-units 'livepeer@*'" in told.help and "--from" in told.help
    assert not found.processes


def test_specifiers_of_the_name_and_no_others_are_filled_in() -> None:
    text = "[Service]\nExecStart=livepeer -gateway -orchAddr a.example.net -dataDir /d/%p/%i/%I/%N -region %H%%\n"
    (node,) = adopted({"x/gate@a-b\\x2dc.service": text}).nodes
    assert node.text("dataDir") == "/d/gate/a-b\\x2dc/a/b-c/gate@a-b\\x2dc"
    assert node.word("region").holes == ("%H",)
