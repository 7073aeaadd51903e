"""What a host says becomes processes, whatever it says: secrets as variables, hidden characters visible."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.words import Ledger
from fleetc.adopt.read.on_host import OnHost, SenselessAnswerError, observed
from fleetc.adopt.report import glance
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
    names = "GPU_1_RPC_URL, GPU_1_PASSWORD: set these variables where you deploy"
    (said,) = glance.secrets(found)
    assert said.startswith(f"secrets that gpu-1 keeps to itself: {names}")
    assert "adopt-secret-on-host" not in {one.diagnostic.code for one in glance.unsaid(found, located(found))}
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


@pytest.mark.parametrize(("last", "warned"), [("-reward=false", False), ("-reward=true", True), ("$REWARD", False)])
def test_unit_that_would_start_it_otherwise(last: str, warned: bool) -> None:
    words = [f"'{word}'" for word in ORCHESTRATOR["arguments"][:-1]]
    line = " ".join(["/usr/local/bin/livepeer", *words, last])
    unit = {**ORCHESTRATOR["unit"], "settings": [["User", "lp"], ["ExecStart", line]]}
    assert ("adopt-unit-changed" in codes(adopted({**ORCHESTRATOR, "unit": unit}))) is warned


def test_limits_and_commands_of_a_unit_are_said() -> None:
    settings = [["MemoryMax", "96G"], ["ExecStartPre", "/bin/mount ..."], ["ExecStopPost", ""]]
    found = adopted({**ORCHESTRATOR, "unit": {**ORCHESTRATOR["unit"], "settings": settings}})
    said = {one.words for one in found.beside}
    assert said >= {
        "gone from its unit: MemoryMax=96G",
        "its unit also runs `/bin/mount ...` (ExecStartPre), and fleetc does not",
        "its unit also runs a command (ExecStopPost), and fleetc does not",
    }


def test_text_of_a_host_reaches_no_terminal_as_it_is() -> None:
    evil = "\x1b]0;owned\x07\u202e"
    own = {**ORCHESTRATOR, "program": f"/bin/{evil}/livepeer", "other_variables": [evil], "directory": f"/{evil}",
           "arguments": [*ORCHESTRATOR["arguments"], f"-region={evil}"]}  # fmt: skip
    found = adopted(own)
    said = written(Format.text, located(found)) + found.text + "".join(source.text for source in found.sources)
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
    assert "adopt-value-invalid" in codes(found)


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
spec = 2
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
    assert (node.changes, node.other, node.same) == ((), (), "the same data directory")
    assert as_text(plan(SPEC, ORCHESTRATOR)) == (
        f"orch: process 71 (lp), by the same data directory\n"
        f"  settings: {node.compared} compared, 0 differ\n"
        "  not compared: the values of AWS_SECRET, LP_ETHPASSWORD, LP_ETHURL, which stay where they are\n"
        "  nothing that fleetc compares would change for the process\n"
        "  the first rollout restarts it once: systemd moves no process from lp.service to livepeer-orch.service, "
        "which fleetc writes\n"
        "  before that rollout, on gpu-1: systemctl disable --now lp.service\n"
        "      until then its ports are taken, and the rollout changes nothing (ports-free)\n"
    )


@pytest.mark.parametrize(
    ("process", "words"),
    [
        ({"unit": {"name": "livepeer-orch.service"}, "user": "root"}, "but the process is not as the spec wants it"),
        ({"unit": None}, "it is in no unit of its own"),
        ({"unit": None, "container": CONTAINER}, "Docker cannot take the container lp over"),
        ({"user": "root"}, "its user is root, and will be lp"),
        ({"program": "/opt/lp/livepeer"}, "its program is /opt/lp/livepeer, and will be /usr/local/bin/livepeer"),
        ({"environment": {"HOME": "/home/lp", "CUDA_X": "1"}}, "it has CUDA_X in its environment, and will not"),
        ({"environment": {"HOME": "/home/lp", "LP_MAXSESSIONS": "9"}}, "-maxSessions: 9 today, 12 then"),
        ({"arguments": [*ORCHESTRATOR["arguments"], "-dataDir=/srv"]}, "by the same account"),
        ({"arguments": [*ORCHESTRATOR["arguments"], "-cliAddr=:9"]}, "nothing else keeps two processes"),
        ({"arguments": ["-gateway"]}, "the first rollout starts it new"),
        ({"arguments": ["-gateway"]}, "process 71 (lp) is no node of the spec"),
    ],
)  # fmt: skip
def test_plan_says_what_differs_and_why_it_restarts(process: dict[str, Any], words: str) -> None:
    assert words not in as_text(plan(SPEC, ORCHESTRATOR))
    assert words in as_text(plan(SPEC, {**ORCHESTRATOR, **process}))


def test_variables_that_nobody_may_read_are_unknown() -> None:
    """Their settings are not those of a process without variables, and its home is no usual one."""
    hidden = {**ORCHESTRATOR, "environment": {}, "other_variables": [], "environment_read": False}
    unit = {**ORCHESTRATOR["unit"], "name": "livepeer-orch.service"}
    (node,) = plan(SPEC, {**hidden, "unit": unit, "process": "boot 71 5"}).nodes
    text = as_text(plan(SPEC, {**hidden, "unit": unit}))
    assert node.same == "the same account" and not node.goes_on
    assert "  not known: /proc/71/environ may set prices, the account, -orchSecret, listeners, " in text
    assert " compared, 0 differ, 3 may differ\n" in text and "nobody knows whether its settings stay" in text
    assert "-maxSessions: (unknown) today, 12 then" in text
    assert "nothing that fleetc compares would change" not in text
    found = adopted(hidden)
    assert "adopt-host-cut" in codes(found) and "adopt-host-cut" not in codes(adopted(ORCHESTRATOR))
    assert any("lp: /proc/71/environ may set " in line for line in glance.unknown(found))


def test_process_that_can_go_on_does_so_once_its_host_knows() -> None:
    own = {**ORCHESTRATOR, "unit": {**ORCHESTRATOR["unit"], "name": "livepeer-orch.service"}, "process": "boot 71 5"}
    found = plan(SPEC, own)
    assert [node.goes_on for node in found.nodes] == [True]
    before, after = as_text(found), as_text(found, kept=True)
    assert (
        "restarts it, unless gpu-1 knows before that it is to go on: run this command again with --keep-run" in before
    )
    assert "keeps it running, unless AWS_SECRET or LP_ETHPASSWORD or LP_ETHURL turns out to be another one" in after
    assert "systemctl" not in before + after
    others = ({"user": "root"}, {"container": CONTAINER}, {"unit": None}, {"process": ""}, {"program": "/opt/livepeer"})
    assert not any(node.goes_on for other in others for node in plan(SPEC, {**own, **other}).nodes)
    assert not any(node.goes_on for node in plan(SPEC.replace("= 12", "= 13"), own).nodes)


def test_node_that_fleetc_started_is_left_to_its_own_plan() -> None:
    unit = {"unit": {**ORCHESTRATOR["unit"], "name": "livepeer-orch.service"}}
    text = as_text(plan(SPEC, {**ORCHESTRATOR, **unit}, managed=["orch"]))
    assert "fleetc has started it" in text
    assert "restarts" not in text
