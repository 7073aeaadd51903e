"""What a process does today: mistakes that the node makes with its settings, files that nobody has read, GPUs."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from fleetc.adopt import Adopted, adopt, located
from fleetc.adopt.node.settings import open_settings
from fleetc.toml.document import Source


def adopted(*sources: tuple[str, str]) -> Adopted:
    """Adopt sources, of which the first starts a node."""
    return adopt([Source(name, text) for name, text in sources])


WORKER = "-transcoder -orchAddr o.example.net:8935 -orchSecret /srv/s"
GATEWAY = "livepeer -gateway -orchAddr o.example.net:8935"


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (
            f"{GATEWAY} -reward false -v 6",
            "adopt-words-ignored",
            "-reward takes no word behind it, so it is on, and the node reads nothing behind false, 1 flag among it",
        ),
        (f"{GATEWAY} x -v 6", "adopt-words-ignored", "the node stops reading here"),
        (f"LP_V=5 {GATEWAY} -v 6", "adopt-setting-overridden", "the node does not use this value of -v"),
        (f"{GATEWAY} -v 5 -v 6", "adopt-setting-overridden", "the node does not use this value of -v"),
        (f"{GATEWAY} -transcoder", "adopt-role-ignored", "this node has the role transcoder and ignores -gateway"),
        (f"{GATEWAY} -monitor=x", "adopt-value-invalid", "-monitor takes true or false"),
        (f"{GATEWAY} -v", "adopt-value-invalid", "-v has no value, and the node stops at its start"),
        (f"{GATEWAY} -pixelsPerUnit 1 -ethUrl https://a.example", "adopt-network-missing", "-ethUrl does nothing"),
        (f"{GATEWAY} $MORE", "adopt-value-unknown", "no source says which flags ${MORE} stands for"),
        ("livepeer -v 6 -monitor", "adopt-role-missing", "no flag says what this node is"),
        (f"{GATEWAY} -config /etc/x.conf", "adopt-file-missing", "the config file is none of the sources"),
    ],
)
def test_mistake_of_today_is_told(command: str, code: str, words: str) -> None:
    messages = [one.message for one in adopted(("g.sh", command)).diagnostics if one.code == code]
    assert any(words in message for message in messages), messages


@pytest.mark.parametrize(
    ("name", "meant"),
    [("dataDirectory", "-dataDir"), ("orchAdr", "-orchAddr"), ("maxsessions", "-maxSessions"), ("gpu", "")],
)
def test_unknown_flag_names_the_one_that_may_be_meant(name: str, meant: str) -> None:
    found = adopted(("g.sh", f"{GATEWAY} -{name} 1"))
    (advice,) = [one.help for one in found.diagnostics if one.code == "adopt-flag-unknown"]
    assert advice == (f"did you mean {meant}?" if meant else "remove it, or look for its new name with livepeer -h")


@pytest.mark.parametrize(("tag", "release"), [("v0.9.1", "v0.9.1"), ("v0.9.9", "v0.9.9"), ("master", None)])
def test_tag_of_an_image_is_the_release_also_of_one_that_fleetc_does_not_know(tag: str, release: str | None) -> None:
    found = adopted(("g.sh", f"docker run livepeer/go-livepeer:{tag} {GATEWAY.partition(' ')[2]}"))
    assert tomllib.loads(found.text)["fleet"].get("node_release") == release
    assert ("# TODO node_release" in found.text) is (release is None)


# ------------------------------------------------------------------------------------------ files that nobody read

IMAGE = "livepeer/go-livepeer:v0.9.1"
UNIT = "[Service]\nUser=lp\nEnvironmentFile={}/etc/lp/w.env\nExecStart=/bin/livepeer " + WORKER + "\n"
COMPOSE = f"services:\n  w:\n    image: {IMAGE}\n    network_mode: host\n    command: {WORKER}\n    env_file:"
UNREAD = {
    "unit": ("w.service", UNIT.format("")),
    "optional": ("w.service", UNIT.format("-")),
    "docker": ("w.sh", f"docker run --net host --env-file /etc/lp/w.env {IMAGE} {WORKER}\n"),
    "script": ("w.sh", f"set -a\n. /etc/lp/w.env\nlivepeer {WORKER}\n"),
    "compose": ("compose.yaml", f"{COMPOSE} ./w.env\n"),
    "config file": ("w.sh", f"livepeer {WORKER} -config /etc/lp/w.env\n"),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_what_a_missing_file_may_set_is_unknown(kind: str) -> None:
    name, text = UNREAD[kind]
    found = adopted((name, text))
    (node,) = found.nodes
    (file,) = node.unread
    assert file.shown in ("/etc/lp/w.env", "./w.env") and file.optional is (kind == "optional")
    settings = open_settings(node)
    assert {"v", "maxSessions", "cliAddr"} <= settings and not {"orchAddr", "config"} & settings
    assert "adopt-file-missing" in {one.code for one in found.diagnostics}
    (whole,) = adopted((name, text), ("w.env", "")).nodes
    assert open_settings(whole) == frozenset()


@pytest.mark.parametrize(
    ("source", "known", "unknown"),
    [
        (f"docker run --env-file /etc/w.env -e LP_V=5 {IMAGE} {WORKER}", {"v"}, {"maxSessions", "ethUrl"}),
        (f"livepeer -v 5 $OPTS {WORKER}", {"config"}, {"v", "maxSessions"}),
        (f"docker run --env-file a.env {IMAGE} -gateway -network offchain -orchAddr o:1", {"ethUrl", "reward"}, {"v"}),
        (f"docker run --env-file a.env {IMAGE} -gateway -orchAddr o:1", {"orchAddr"}, {"v", "ethUrl", "network"}),
    ],
)
def test_what_nothing_else_can_set_is_known(source: str, known: set[str], unknown: set[str]) -> None:
    """Flags in a variable may set any again; a file none that the command has."""
    (node,) = adopted(("w.sh", source)).nodes
    assert known.isdisjoint(open_settings(node)) and unknown - {"ethUrl"} <= open_settings(node)


# ------------------------------------------------------------------------------------------------------------ GPUs

RUN = f"docker run {{}} {IMAGE} {WORKER} -nvidia {{}}"
SERVICE = f"services:\n  t:\n    image: {IMAGE}\n    command: {WORKER}"
DEVICES = "deploy: {resources: {reservations: {devices: [{driver: nvidia, device_ids: ['2'], capabilities: [gpu]}]}}}"


@pytest.mark.parametrize(
    ("name", "text", "gpus"),
    [
        ("a.sh", RUN.format("--gpus device=3", "0"), [3]),
        ("a.sh", RUN.format("--gpus '\"device=1,3\"'", "1,0"), [3, 1]),
        ("a.sh", RUN.format("--gpus all", "2"), [2]),
        ("a.sh", RUN.format("--gpus all", "all"), "all"),
        ("a.sh", RUN.format("--gpus '\"device=2,3\"'", "all"), [2, 3]),
        ("a.sh", RUN.format("--gpus 'device=2,capabilities=utility'", "all"), [2]),
        ("a.sh", RUN.format("--gpus 1", "all"), [0]),
        ("a.sh", RUN.format("--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=2,3", "all"), [2, 3]),
        ("compose.yaml", f"{SERVICE} -nvidia 0\n    {DEVICES}\n", [2]),
        ("compose.yaml", f"{SERVICE} -nvidia all\n    gpus: [{{count: 2}}]\n", [0, 1]),
        ("compose.yaml", f"{SERVICE} -nvidia all\n    runtime: nvidia\n", "all"),
        ("compose.yaml", f"{SERVICE} -nvidia all\n    environment: [NVIDIA_VISIBLE_DEVICES]\n", None),
        ("a.sh", RUN.format("--gpus device=GPU-3a23c669", "all"), None),
        ("a.sh", RUN.format("-e NVIDIA_VISIBLE_DEVICES=GPU-3a23c669", "0"), None),
        ("a.sh", RUN.format("--gpus all", "$GPU"), None),
        ("a.sh", RUN.format("--gpus device=1", "1"), None),  # it sees one, and has no number 1
    ],
)
def test_gpus_of_a_container_are_those_of_its_host(name: str, text: str, gpus: Any) -> None:
    found = adopted((name, text))
    (worker,) = tomllib.loads(found.text)["transcoders"].values()
    assert worker.get("gpus") == gpus
    assert ("# TODO gpus" in found.text) is (gpus is None)


@pytest.mark.parametrize(("given", "gpus"), [("2", [2]), ("0", [0]), ("all", "all")])
def test_worker_that_only_runs_models_names_gpus_of_its_host(given: str, gpus: Any) -> None:
    """It gives the numbers to Docker, whatever its container sees."""
    words = f"-aiWorker -orchAddr a.example.net:1 -orchSecret /s -aiModels /m.json -aiModelsDir /models -nvidia {given}"
    found = adopted(("a.sh", f"docker run --gpus device=2 {IMAGE} {words}\n"))
    assert tomllib.loads(found.text)["ai_workers"].popitem()[1]["gpus"] == gpus


@pytest.mark.parametrize(
    ("flag", "text", "line"),
    [
        ("aiModels", '[{"pipeline": "llm", "model_id": "a"},\n{"pipeline": "llm", "price_per_unit": "5"}]', 2),
        ("aiModels", '[{"pipeline": "llm",\n\n}]', 3),
        ("pricePerGateway", '{"gateways": [{"ethaddress": "0x1", "priceperunit": 1, "pixelsperunit": 1},\n\n{}]}', 3),
    ],
)
def test_file_that_the_node_refuses_is_told_at_its_own_line(flag: str, text: str, line: int) -> None:
    command = (
        "livepeer -orchestrator -aiWorker -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        f"-serviceAddr o.example.net:8935 -pricePerUnit 1 -{flag} /etc/lp/list.json"
    )
    found = adopted(("start.sh", command), ("list.json", text))
    (place,) = [one.primary for one in located(found) if one.diagnostic.code == "adopt-document-unread"]
    assert (place.file, place.line) == ("list.json", line)
