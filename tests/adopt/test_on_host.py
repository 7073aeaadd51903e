"""What a host says becomes processes, whatever it says: secrets as variables, hidden characters visible."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.read.on_host import OnHost, SenselessAnswerError, observed
from fleetc.adopt.report.report import screen
from fleetc.adopt.report.takeover import Takeover, as_text, take_over
from fleetc.disk.files import read_playbooks, read_templates
from fleetc.messages.forms import Format, written
from fleetc.pipeline import compile_spec
from fleetc.toml.document import Source

ACCOUNT = "0x" + "1" * 40
CHAIN = ["-network", "arbitrum-one-mainnet", "-ethUrl", "***1***", "-ethAcctAddr", ACCOUNT]
ORCHESTRATOR: dict[str, Any] = {
    "pid": 71, "program": "/usr/local/bin/livepeer",
    "arguments": ["-orchestrator", "-transcoder", *CHAIN, "-ethPassword=***2***", "-serviceAddr=a.example.net:8935",
                  "-pricePerUnit=900", "-reward=false"],
    "more_arguments": 0, "environment": {"HOME": "/home/lp", "LP_MAXSESSIONS": "12", "AWS_SECRET": "***2***"},
    "other_variables": ["PATH"], "directory": "/", "user": "lp", "container": None,
    "unit": {"name": "lp.service", "paths": [], "enabled": "enabled", "stale": False, "settings": []},
}  # fmt: skip
CONTAINER = {
    "id": "ab" * 32, "name": "lp", "image": "livepeer/go-livepeer:v0.9.1", "network": "bridge", "restart": "always",
    "user": "", "project": "", "mounts": [{"inside": "/root/.lpData", "outside": "/srv/lp"}],
    "ports": [{"inside": "8935/tcp", "address": "0.0.0.0", "port": "9935"}],
}  # fmt: skip


def answer(*processes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"format": 1, "processes": [*processes], "files": [], "more": 0, "managed": [], **more}


def adopted(*processes: dict[str, Any], **more: Any) -> Adopted:
    return adopt([], on_hosts={"gpu-1": OnHost(answer(*processes, **more), {"address": "192.0.2.5"})})


def codes(found: Adopted) -> set[str]:
    return {one.code for one in found.diagnostics}


def test_secrets_are_variables_and_equal_ones_the_same() -> None:
    found = adopted(ORCHESTRATOR)
    assert 'rpc = { env = "GPU_1_RPC_URL" }' in found.text
    assert 'password = { env = "GPU_1_PASSWORD" }' in found.text
    assert 'secret_environment = { AWS_SECRET = { env = "GPU_1_PASSWORD" } }' in found.text
    assert "max_sessions = 12" in found.text
    assert "adopt-secret-on-host" in codes(found)
    assert not any(one.withheld for one in located(found))
    (kept,) = (line for line in screen(found, located(found), "") if line.startswith("secrets that stay"))
    assert kept.endswith(": GPU_1_RPC_URL, GPU_1_PASSWORD")
    assert {(one.variable, one.keeper) for one in found.in_clear} == {
        ("GPU_1_RPC_URL", "gpu-1"), ("GPU_1_PASSWORD", "gpu-1"),
    }  # fmt: skip
    assert "[orchestrators.lp]" in found.text
    assert "***" not in found.text


def test_files_belong_to_the_process_that_names_them() -> None:
    """Two containers have different files under one path."""
    pages = []
    processes = []
    for number in (1, 2):
        own = copy.deepcopy(ORCHESTRATOR)
        own["pid"], own["unit"] = number, {**own["unit"], "name": f"lp{number}.service"}
        own["arguments"] += ["-aiWorker", "-aiModels", "/etc/models.json"]
        processes.append(own)
        text = f'[{{"pipeline": "llm", "model_id": "a/model-{number}", "price_per_unit": 1}}]'
        pages.append({"pid": number, "path": "/etc/models.json", "text": text, "why": ""})
    found = adopted(*processes, files=pages)
    assert found.text.count("[models.") == 2
    assert "adopt-file-missing" not in codes(found)


def test_container_keeps_its_paths_ports_and_image() -> None:
    found = adopted({**ORCHESTRATOR, "unit": None, "container": CONTAINER, "environment": {}, "user": "root"})
    assert 'data_dir = "/srv/lp/arbitrum-one-mainnet"' in found.text
    assert 'runtime = "docker"' in found.text
    assert 'node_release = "v0.9.1"' in found.text


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"managed": ["orch"]}, "adopt-host-managed"),
        ({"more": 3}, "adopt-host-cut"),
        ({"files": [{"pid": 71, "path": "/etc/m", "text": "", "why": "too large"}]}, "adopt-file-missing"),
    ],
)
def test_what_people_must_know(more: dict[str, Any], code: str) -> None:
    unit = {**ORCHESTRATOR["unit"], "name": "livepeer-orch.service"}
    assert code in codes(adopted({**ORCHESTRATOR, "unit": unit}, **more))
    assert code not in codes(adopted({**ORCHESTRATOR, "unit": unit}))


@pytest.mark.parametrize(("last", "warned"), [("-reward=false", False), ("-reward=true", True)])
def test_unit_that_would_start_it_otherwise(last: str, warned: bool) -> None:
    words = [f"'{word}'" for word in ORCHESTRATOR["arguments"][:-1]]
    line = " ".join(["/usr/local/bin/livepeer", *words, last])
    unit = {**ORCHESTRATOR["unit"], "settings": [["User", "lp"], ["ExecStart", line]]}
    assert ("adopt-unit-changed" in codes(adopted({**ORCHESTRATOR, "unit": unit}))) is warned


def test_of_the_unit_of_a_process_nothing_is_repeated() -> None:
    settings = [["MemoryMax", "96G"], ["ExecStartPre", "/bin/mount Vk7pQm2TzX"], ["SetCredential", "a:Vk7pQm2TzX"]]
    found = adopted({**ORCHESTRATOR, "unit": {**ORCHESTRATOR["unit"], "settings": settings}})
    assert "Vk7pQm2TzX" not in repr((found.text, found.entries, found.diagnostics, found.sources))


def test_text_of_a_host_reaches_no_terminal_as_it_is() -> None:
    evil = "\x1b]0;owned\x07\u202e"
    own = {**ORCHESTRATOR, "program": f"/bin/{evil}/livepeer", "other_variables": [evil], "directory": f"/{evil}",
           "arguments": [*ORCHESTRATOR["arguments"], f"-ethOrchAddr={evil}"]}  # fmt: skip
    found = adopted(own)
    said = written(Format.text, located(found)) + found.text + "".join(source.text for source in found.sources)
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
    assert "# TODO orchestrator_address" in found.text


def changed(value: Any, pick: Any) -> Any:
    """An answer with one thing in it replaced."""
    if isinstance(value, dict) and value:
        key = pick(st.sampled_from(sorted(value)))
        return {**value, key: changed(value[key], pick)}
    if isinstance(value, list) and value and pick(st.booleans()):
        return [changed(value[0], pick), *value[1:]]
    return pick(st.sampled_from([None, "", "x" * 200_000, -1, [], {}, [None], {"a": 1}, True, "\0", ["a", "b", "c"]]))


@given(st.data())
def test_answer_that_makes_no_sense_is_refused(data: st.DataObject) -> None:
    own = {**ORCHESTRATOR, "container": CONTAINER} if data.draw(st.booleans()) else ORCHESTRATOR
    files = [{"pid": 71, "path": "/etc/m", "text": "[]", "why": ""}]
    said = changed(answer(copy.deepcopy(own), files=files), data.draw)
    try:
        found = observed("gpu-1", said, Ledger())
    except SenselessAnswerError:
        return
    assert all(isinstance(word.text, str) for process in found.processes for word in process.words)


SPEC = f"""\
spec = 1
[fleet]
name = "f"
network = "arbitrum-one-mainnet"
node_release = "v0.9.1"
rpc = {{ env = "RPC" }}
[hosts.gpu-1]
address = "192.0.2.5"
public = "a.example.net"
runtime = "systemd"
node_user = "lp"
[wallets.w]
address = "{ACCOUNT}"
keystore = "/home/lp/.lpData/arbitrum-one-mainnet/keystore"
password = {{ env = "PW" }}
reward_by = "none"
[orchestrators.orch]
host = "gpu-1"
mode = "video"
wallet = "w"
price = "900 wei / pixel"
service = "a.example.net:8935"
data_dir = "/home/lp/.lpData/arbitrum-one-mainnet"
max_sessions = 12
secret_environment = {{ AWS_SECRET = {{ env = "AWS" }} }}
"""


def plan(spec: str, *processes: dict[str, Any], **more: Any) -> Takeover:
    compiled = compile_spec([Source("fleet.toml", spec)], read_templates(), read_playbooks())
    assert compiled.blueprint is not None, compiled.checked.diagnostics
    return take_over("gpu-1", answer(*processes, **more), compiled.blueprint)


def test_plan_of_a_node_that_stays_as_it_is() -> None:
    (node,) = plan(SPEC, ORCHESTRATOR).nodes
    assert (node.changes, node.other, node.match, node.goes_on) == ((), (), "the same data directory", False)
    assert node.secrets == ("AWS_SECRET", "LP_ETHPASSWORD", "LP_ETHURL")
    assert "systemd moves no process from lp.service to livepeer-orch.service" in as_text(plan(SPEC, ORCHESTRATOR))


OWN = {**ORCHESTRATOR, "unit": {**ORCHESTRATOR["unit"], "name": "livepeer-orch.service"}, "process": "boot 71 5"}


@pytest.mark.parametrize(
    ("process", "words"),
    [
        ({"unit": None}, "it is in no unit of its own"),
        ({"unit": None, "container": CONTAINER}, "Docker cannot rename the container lp"),
        ({"process": ""}, "the process is not as the spec wants it"),
        ({"user": "root"}, "its user becomes lp"),
        ({"program": "/opt/lp/livepeer"}, "its program is /opt/lp/livepeer, and becomes /usr/local/bin/livepeer"),
        ({"environment": {"HOME": "/home/lp", "CUDA_X": "1"}}, "it loses the variables CUDA_X"),
        ({"environment": {"HOME": "/home/lp", "LP_MAXSESSIONS": "9"}}, "-maxSessions: 9 -> 12"),
        ({"arguments": [*ORCHESTRATOR["arguments"], "-dataDir=/srv"]}, "by the same account"),
        ({"arguments": ["-gateway"]}, "process 71 (livepeer-orch) is no node of the spec"),
        ({"environment": {}, "environment_read": False}, "/proc/71/environ was not read"),
    ],
)  # fmt: skip
def test_plan_says_what_differs_and_why_it_restarts(process: dict[str, Any], words: str) -> None:
    assert words not in as_text(plan(SPEC, OWN))
    found = plan(SPEC, {**OWN, **process})
    assert words in as_text(found) and not any(node.goes_on for node in found.nodes)


def test_process_that_can_go_on_does_so_where_its_host_is_told() -> None:
    found = plan(SPEC, OWN)
    assert found.going_on == {"orch": "boot 71 5"}
    assert "--keep-running keeps it running" in as_text(found)
    assert "keeps it running, unless AWS_SECRET or LP_ETHPASSWORD or LP_ETHURL turns out" in as_text(found, keep=True)
    assert not plan(SPEC.replace("= 12", "= 13"), OWN).going_on


def test_node_that_fleetc_started_is_left_to_its_own_plan() -> None:
    assert as_text(plan(SPEC, OWN, managed=["orch"])) == ""
