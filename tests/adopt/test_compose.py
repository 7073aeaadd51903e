"""Compose: which files docker compose takes, what lies over what, which services start, in which containers."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from pathlib import Path

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.library import Said
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.support import fleetc

GATE = "services:\n  g:\n    image: livepeer/go-livepeer:v0.9.1\n    command: -gateway -orchAddr a.example.net:1 {}\n"
LEVEL = "services:\n  g:\n    environment: {{LP_V: '{}'}}\n"


def adopted(texts: dict[str, str], listed: bool = True, named: Collection[str] = ()) -> Adopted:
    """Adopt texts of a folder, of which people named some files, or only the folder."""
    names = texts.keys() - {*named} if listed else ()
    return adopt([Source(name, text) for name, text in texts.items()], Said(listed=names))


def codes(found: Adopted) -> list[str]:
    return [d.code for d in found.diagnostics]


def levels(found: Adopted) -> list[str]:
    """The verbosity of each node, which every file of these tests sets otherwise."""
    return [node.text("v") for node in found.nodes]


def of_level(level: int) -> str:
    return GATE.format(f"-v {level}")


TAKEN = {
    "compose.yaml is the first": ({"compose.yaml": of_level(1), "compose.yml": of_level(2)}, ["1"]),
    "compose.yml comes before the old names": (
        {"docker-compose.yaml": of_level(3), "compose.yml": of_level(2)}, ["2"]
    ),
    "of the old names .yml is the first": (
        {"docker-compose.yaml": of_level(3), "docker-compose.yml": of_level(4)}, ["4"]
    ),
    "one override file": ({"compose.yaml": GATE.format(""), "compose.override.yaml": LEVEL.format(5)}, ["5"]),
    "an override file of another name": (
        {"docker-compose.yml": GATE.format(""), "compose.override.yml": LEVEL.format(6)}, ["6"]
    ),
    "the first of two override files": (
        {"compose.yaml": GATE.format(""), "compose.override.yml": LEVEL.format(5),
         "compose.override.yaml": LEVEL.format(6)}, ["5"],
    ),
    "COMPOSE_FILE": (
        {"compose.yml": of_level(1), "a.yml": GATE.format(""), "b.yml": LEVEL.format(7),
         ".env": "COMPOSE_FILE=a.yml:b.yml\n"}, ["7"],
    ),
    "COMPOSE_FILE with its separator": (
        {"a.yml": GATE.format(""), "b.yml": LEVEL.format(7),
         ".env": "COMPOSE_PATH_SEPARATOR=,\nCOMPOSE_FILE=a.yml,b.yml\n"}, ["7"],
    ),
    "COMPOSE_FILE in a folder below": (
        {"below/a.yml": of_level(8), ".env": "COMPOSE_FILE=./below/a.yml\n"}, ["8"]
    ),
    "each folder has its own": ({"x/compose.yml": of_level(1), "y/compose.yml": of_level(2)}, ["1", "2"]),
    "no file that Compose takes": ({"compose.gpu.yml": of_level(1), "stack.yml": of_level(2)}, []),
}  # fmt: skip


@pytest.mark.parametrize("case", TAKEN)
def test_a_folder_starts_what_docker_compose_takes_there(case: str) -> None:
    texts, wanted = TAKEN[case]
    found = adopted(texts)
    assert levels(found) == wanted
    used = {process.span.source for process in found.processes}
    left = {name for name in texts if not name.endswith(".env")} - used
    assert all(any(entry.span.source == name for entry in found.entries) for name in left)
    if not wanted:
        assert set(codes(found)) == {"adopt-compose-unused", "adopt-nothing-found"}


ORCHESTRATOR = "services:\n  orch:\n    image: livepeer/go-livepeer:v0.9.1\n    command: [-orchestrator, {}]\n"
FOLDER = {
    "compose.yml": ORCHESTRATOR.format("-transcoder, -serviceAddr=o.example.net:8935, -network=offchain"),
    "compose.gpu.yml": ORCHESTRATOR.format("-nvidia=0, -transcoder, -serviceAddr=o.a.net:8935, -network=offchain"),
    "compose.onchain.yml": ORCHESTRATOR.format(
        "-transcoder, -serviceAddr=o.example.net:8935, -network=arbitrum-one-mainnet, -pricePerUnit=900"
    ),
}  # fmt: skip


def test_files_beside_the_one_that_runs_are_named_and_never_laid_over() -> None:
    found = adopted(FOLDER)
    spec = tomllib.loads(found.text)
    assert spec["fleet"]["network"] == "offchain" and "wallets" not in spec
    assert "gpus" not in spec["orchestrators"]["orch"]
    (told,) = [d for d in found.diagnostics if d.code == "adopt-compose-unused"]
    assert told.message == "docker compose does not take compose.gpu.yml, compose.onchain.yml by itself"
    assert set(found.unused) == {"compose.gpu.yml", "compose.onchain.yml"}


def test_named_files_are_laid_over_in_their_order() -> None:
    texts = {"b.yml": of_level(1), "a.yml": LEVEL.format(2), "compose.yml": of_level(3)}
    found = adopted(texts, named=["b.yml", "a.yml"])
    assert levels(found) == ["1"]  # the flag wins over the variable of another file
    assert found.unused == ("compose.yml",)
    assert levels(adopted({"a.yml": GATE.format(""), "b.yml": LEVEL.format(2), "c.yml": LEVEL.format(3)}, False)) == [
        "3"
    ]


def test_files_of_two_hosts_are_two_projects() -> None:
    texts = [Source("one.yml", of_level(1)), Source("two.yml", of_level(2))]
    found = adopt(texts, Said(hosts={"one.yml": "a", "two.yml": "b"}))
    assert [(node.host, node.text("v")) for node in found.nodes] == [("a", "1"), ("b", "2")]


def test_compose_file_that_names_no_source_is_refused_at_its_line() -> None:
    found = adopted({"compose.yml": of_level(1), ".env": "A=1\nCOMPOSE_FILE=compose.yml:gone.yml\n"})
    (told,) = [d for d in found.diagnostics if d.severity is Severity.ERROR]
    assert (told.code, told.primary.place.source) == ("adopt-file-missing", ".env")  # type: ignore[union-attr]
    assert "gone.yml" in told.message and not found.text


def test_a_word_that_loses_is_replaced_by_the_file_and_line_that_wins() -> None:
    over = (
        "services:\n  g:\n    command: -gateway -orchAddr b.example.net:1\n    environment:\n      - A=2\n"
        "    volumes: [/new:/root/.lpData]\n"
    )
    below = (
        GATE.format("")
        + "    environment: {A: 1, B: 1}\n    volumes: [/old:/root/.lpData, /b:/b]\n    env_file: e.env\n"
    )
    found = adopted({"compose.yml": below, "compose.override.yml": over, "e.env": "A=0\nC=0\n"})
    replaced = [(e.span.source, e.shown, e.words) for e in found.entries if e.fate is Fate.REPLACED]
    assert sorted(replaced) == [
        ("compose.yml", "/root/.lpData", "compose.override.yml:6"), ("compose.yml", "A", "compose.override.yml:5"),
        ("compose.yml", "command", "compose.override.yml:3"), ("e.env", "A", "compose.override.yml:5"),
    ]  # fmt: skip
    (node,) = found.nodes
    assert node.text("orchAddr") == "b.example.net:1"
    assert {name: word.text for name, word in node.process.variables.items()} == {"A": "2", "B": "1", "C": "0"}
    assert [mount.outside for mount in node.process.mounts] == ["/new", "/b"]


def test_tags_of_an_override_file_take_away_and_replace() -> None:
    below = GATE.format("") + "    environment: {LP_V: '1', A: b}\n    ports: ['1:1']\n"
    over = "services:\n  g:\n    environment: !override {A: c}\n    ports: !reset null\n"
    (node,) = adopted({"compose.yml": below, "compose.override.yml": over}).nodes
    assert set(node.process.variables) == {"A"} and node.process.published == ()


@pytest.mark.parametrize(
    ("env", "profiles", "nodes"),
    [
        ("", "[edge]", 0), ("COMPOSE_PROFILES=other\n", "[edge]", 0), ("COMPOSE_PROFILES=a, edge\n", "[edge]", 1),
        ("COMPOSE_PROFILES=*\n", "edge", 1), ("", "[]", 1),
    ],
)  # fmt: skip
def test_a_service_starts_when_one_of_its_profiles_is_active(env: str, profiles: str, nodes: int) -> None:
    found = adopted({"compose.yml": GATE.format("") + f"    profiles: {profiles}\n", ".env": env})
    assert len(found.nodes) == nodes
    assert ("adopt-profile-inactive" in codes(found)) is not bool(nodes)


@pytest.mark.parametrize(
    ("more", "nodes", "said"),
    [
        ("scale: 3", 1, True),
        ("deploy: {replicas: 2}", 1, True),
        ("deploy: {replicas: 1}", 1, False),
        ("scale: 0", 0, False),
    ],
)
def test_how_often_a_service_runs_is_said(more: str, nodes: int, said: bool) -> None:
    found = adopted({"compose.yml": GATE.format("") + f"    {more}\n"})
    assert len(found.nodes) == nodes and ("adopt-cannot-say" in codes(found)) is said


COMMON = "services:\n  base:\n    image: livepeer/go-livepeer:v0.9.1\n    volumes: ['./data:/root/.lpData']\n"
EXTENDS = "services:\n  g:\n    extends: {{file: {}, service: base}}\n    command: -gateway -orchAddr a.example.net:1\n"


def test_a_service_of_another_file_is_extended_and_starts_only_as_that() -> None:
    texts = {"x/compose.yml": EXTENDS.format("../common/compose.yml"), "common/compose.yml": COMMON}
    found = adopted(texts)
    (node,) = found.nodes
    assert node.process.image is not None and node.process.image.text == "livepeer/go-livepeer:v0.9.1"
    assert node.process.mounts[0].outside == "../common/data"  # its paths begin beside it
    assert found.unused == ()
    without = adopted({"x/compose.yml": texts["x/compose.yml"]})
    assert "adopt-file-missing" in codes(without)


def test_files_that_a_file_includes_are_named_as_not_read() -> None:
    found = adopted({"compose.yml": "include: [more/a.yml]\n" + of_level(1), "more/a.yml": of_level(2)})
    assert levels(found) == ["1"] and "adopt-branch-not-followed" in codes(found)


def test_a_named_file_brings_along_the_files_that_it_extends_below_its_folder(tmp_path: Path) -> None:
    for name, text in {
        "p/compose.yml": EXTENDS.format("./common/base.yml"), "p/common/base.yml": COMMON.replace("9.1", "8.5"),
        "secret.yml": COMMON,
        "p/away.yml": EXTENDS.format("../secret.yml"), "p/link.yml": EXTENDS.format("linked.yml"),
        "p/gone.yml": EXTENDS.format("none.yml"),
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "p/linked.yml").symlink_to(tmp_path / "secret.yml")
    done = fleetc("adopt", "p/compose.yml", cwd=tmp_path)
    assert 'node_release = "v0.8.5"' in done.stdout and "not used" not in done.stderr
    for name in ("away", "link", "gone"):
        assert "adopt-file-missing" in fleetc("adopt", f"p/{name}.yml", cwd=tmp_path).stderr


COMPOSE = """\
x-common: &common
  image: livepeer/go-livepeer:v0.9.1
  volumes: ["/srv/lp:/root/.lpData"]
services:
  orch:
    <<: *common
    command: >
      -orchestrator -transcoder -network ${NETWORK:-offchain}
      -serviceAddr ${PUBLIC}:8935 -nvidia 0
    env_file: node.env
    ports: ["8935:8935", "127.0.0.1:7000:7935"]
  gate:
    <<: *common
    command: ["-gateway", "-orchAddr=https://orch:8935", "-httpAddr=0.0.0.0:8935", "-cliAddr", "gate:5935"]
    ports: ["9935:8935"]
  redis:
    image: redis
"""


def test_services_become_nodes_on_the_network_of_their_host() -> None:
    found = adopted({"compose.yaml": COMPOSE, "node.env": "LP_MAXSESSIONS=7\n", ".env": "PUBLIC=orch.example.net\n"})
    assert [(node.name, node.role) for node in found.nodes] == [("orch", "orchestrator"), ("gate", "gateway")]
    spec = tomllib.loads(found.text)
    orch, gate = spec["orchestrators"]["orch"], spec["gateways"]["gate"]
    assert (orch["service"], orch["max_sessions"]) == ("orch.example.net:8935", 7)
    assert (gate["orchestrators"], gate["http"]) == (["orch"], "0.0.0.0:9935")  # by its name, where it is published
    assert orch["data_dir"] == "/srv/lp/offchain"
    place = found.nodes[0].word("serviceAddr").span
    assert COMPOSE[place.start : place.end] == "${PUBLIC}:8935"


def test_a_variable_without_a_value_is_asked_for_and_not_guessed() -> None:
    found = adopted({"compose.yaml": COMPOSE, "node.env": ""})
    assert "TODO service" in found.text and "${PUBLIC}" in found.text
    assert "adopt-value-unknown" in codes(found)


@pytest.mark.parametrize(
    ("command", "env", "words"),
    [
        ("-gateway -region 'a b' -v ${V:-6}", "", ["-gateway", "-region", "a b", "-v", "6"]),
        ("-gateway ${MORE}", "MORE=-v 6\n", ["-gateway", "-v", "6"]),
        ('"-gateway -region \\"a b\\" # x"', "", ["-gateway", "-region", "a b", "#", "x"]),
        ("-gateway -ethUrl <YOUR RPC> -region $$R", "", ["-gateway", "-ethUrl", "<YOUR RPC>", "-region", "$R"]),
        ("|\n      -gateway\n      -v ${V:?needed}", "V=7\n", ["-gateway", "-v", "7"]),
        ("livepeer -gateway -v ${A:+1}${B-2}", "A=x\n", ["-gateway", "-v", "12"]),
        ("sh -c 'cd /x && exec livepeer -gateway -v $${V:-6}'", "", ["-gateway", "-v", "6"]),
    ],
)
def test_words_of_a_command_are_those_of_a_shell(command: str, env: str, words: list[str]) -> None:
    text = f"services:\n  g:\n    image: livepeer/go-livepeer\n    command: {command}\n"
    (process,) = adopted({"compose.yaml": text, ".env": env}).processes
    assert [word.text for word in process.words] == words


def test_a_script_of_the_image_is_not_followed() -> None:
    found = adopted({"compose.yaml": GATE.replace("-gateway", "sh /start.sh -gateway").format("")})
    assert "adopt-branch-not-followed" in codes(found) and not found.text


def test_files_of_a_secret_are_on_the_host() -> None:
    text = (
        "services:\n  t:\n    image: livepeer/go-livepeer:v0.9.1\n    command: -transcoder -orchAddr a.example.net:1 "
        "-orchSecret /run/secrets/word\n    secrets: [word]\nsecrets:\n  word: {file: /srv/word}\n"
    )
    assert 'secret = { host_file = "/srv/word" }' in adopted({"compose.yaml": text}).text


SECRET = "Vk7pQm2TzX"


def test_of_keys_that_are_not_read_only_the_name_is_told() -> None:
    more = (
        f"    logging: {{driver: splunk, options: {{splunk-token: {SECRET}}}}}\n    labels: {{a: {SECRET}}}\n"
        f"    x-mine: {SECRET}\n    healthcheck: {{test: curl {SECRET}}}\nx-top: {SECRET}\n"
    )
    found = adopted({"compose.yaml": GATE.format("") + more})
    assert SECRET not in repr((found.text, found.entries, found.diagnostics))
    assert {"logging", "labels", "x-mine", "healthcheck", "x-top"} <= {entry.shown for entry in found.entries}
