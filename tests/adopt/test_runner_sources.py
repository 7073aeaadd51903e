"""Adopted live runners: lists of orchestrators, the processes behind them, and those that register themselves."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc import lower
from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.said import Said
from fleetc.adopt.found.words import Fate
from fleetc.adopt.read.library import Library
from fleetc.adopt.report.compare import compare
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.adopt.support import answered, meanings
from tests.node import live_runners
from tests.support import ROOT
from tests.test_runners import VECTORS, document_of

APPS: dict[str, dict[str, str]] = tomllib.loads((ROOT / "tests/data/runner_apps.toml").read_text())["apps"]
FLAGS = ["-orchestrator", "-useLiveRunners", "-serviceAddr=orch.example.net:8935", "-httpAddr=0.0.0.0:8935",
         "-liveRunnerAddr=https://orchestrator:8935", "-orchSecret=abcdef", "-monitor=false"]  # fmt: skip
CHAIN = ["-network=arbitrum-one-mainnet", "-ethUrl=https://rpc.example.net", "-ethKeystorePath=/keystore",
         "-ethAcctAddr=0x1111111111111111111111111111111111111111", "-ethPassword=/keystore/password",
         "-pricePerUnit=0", "-ticketEV=10000000000", "-maxFaceValue=4000000000000000"]  # fmt: skip
LIST = "-liveRunnerConfig=/config/runners.json"


def orchestrator(*more: str) -> str:
    """The service of an orchestrator, as the example apps start theirs."""
    command = "".join(f"      - {json.dumps(word)}\n" for word in (*FLAGS, *more))
    return (
        "services:\n  orchestrator:\n    image: livepeer/go-livepeer:v0.9.1\n    container_name: apps_orchestrator\n"
        f'    command:\n{command}    ports: ["8935:8935"]\n'
        "    volumes: [./runners.json:/config/runners.json:ro, /srv/keystore:/keystore:ro, /srv/lp:/root/.lpData]\n"
    )


def app(name: str, chain: bool) -> list[Source]:
    """The sources of an example app."""
    found = APPS[name]
    more = [*(CHAIN if chain else ["-network=offchain"]), *([LIST] if "list" in found else [])]
    sources = [Source(f"{name}/compose.yml", orchestrator(*more) + found["services"])]
    return sources + ([Source(f"{name}/runners.json", found["list"])] if "list" in found else [])


def rows(found: Adopted) -> Iterator[str]:
    """Each difference between what runs and what the answered spec compiles to, with its reason."""
    text = answered(found.text)
    checked = check_spec([Source("fleet.toml", text)])
    assert checked.fleet is not None, (checked.diagnostics, text)
    errors = [d.message for d in checked.diagnostics if d.severity is Severity.ERROR]
    assert errors == [], text
    library = Library({source.name: source for source in found.sources})
    for one in compare(list(found.nodes), lower.lower(checked.fleet), library).differences:
        yield f"{one.setting}: {one.reason or f'NOT EXPLAINED: {one.today}, compiled {one.compiled}'}"
    files = {"/config/runners.json": '{"runners": []}', "/keystore/password": "word"}
    for today, after in meanings(found, text, files).values():
        reasons = found.nodes[0].reasons
        for flag, pair in today.differences(after).items():
            if flag.split(" ")[0] not in reasons and flag != "liveRunnerConfig":
                yield f"-{flag}: NOT EXPLAINED: {pair}"


@pytest.fixture(scope="module")
def table() -> dict[str, list[str]]:
    """What became of every app, off-chain and on a chain: questions that are left, then differences."""
    shown = {}
    for name in APPS:
        for chain in (False, True):
            found = adopt(app(name, chain))
            assert found.text, found.diagnostics
            questions = [line for line in found.text.split("\n") if line.startswith("# TODO")]
            shown[f"{name}{' on a chain' if chain else ''}"] = [*questions, *sorted(set(rows(found)))]
    return shown


def test_table_of_example_apps(table: dict[str, list[str]], snapshot: SnapshotAssertion) -> None:
    assert "\n".join(f"{name}\n  " + "\n  ".join(lines) for name, lines in table.items()) == snapshot


def test_each_difference_of_an_example_app_is_explained(table: dict[str, list[str]]) -> None:
    assert len(table) == 44
    assert [line for lines in table.values() for line in lines if "NOT EXPLAINED" in line] == []


@pytest.mark.parametrize("name", APPS)
def test_lists_of_answered_apps_are_ones_that_the_node_takes(name: str) -> None:
    checked = check_spec([Source("fleet.toml", answered(adopt(app(name, True)).text))])
    assert checked.fleet is not None
    services = [one for host in lower.lower(checked.fleet).hosts for one in host.services]
    lists = [file for one in services for file in one.files if file.name == "liveRunners.json"]
    assert [live_runners.refusal(json.dumps(file.content, default=str), True) for file in lists] == [None] * len(lists)
    assert bool(lists) == ("list" in APPS[name])


# ------------------------------------------------------------------------------------------------ faults


def listed(document: Any, *, chain: bool = True) -> Adopted:
    """An orchestrator with a list, of which no process is among the sources."""
    text = orchestrator(*(CHAIN if chain else ["-network=offchain"]), LIST)
    return adopt([Source("compose.yml", text), Source("runners.json", json.dumps(document, indent=1))])


@pytest.mark.parametrize("vector", VECTORS["documents"], ids=lambda vector: vector["id"])
def test_faults_are_those_of_the_node_and_no_others(vector: dict[str, Any]) -> None:
    found = listed(document_of(vector), chain=not vector.get("offchain"))
    codes = {"adopt-runner-refused", "adopt-document-unread"}
    faults = [d for d in found.diagnostics if d.code in codes]
    assert bool(faults) == (vector["want"] is not None), found.diagnostics
    assert found.text


def test_fault_has_the_line_of_its_entry_and_the_rest_is_adopted(snapshot: SnapshotAssertion) -> None:
    text = (
        '{\n "runners": [\n'
        '  {"label": "a", "app": "p/a", "runner_url": "http://a.example.net", "health_url": "/h",\n'
        '   "price_info": {"price": 0.1, "unit": "day"}},\n'
        '  {"label": "a", "app": " p/b", "runner_url": "b.example.net:80", "Health_URL": "up", "capacity": "4",\n'
        '   "colour": "red", "price_info": {"price": "0.25", "unit": "720P"}}\n'
        " ]\n}\n"
    )
    sources = [Source("compose.yml", orchestrator(*CHAIN, LIST)), Source("runners.json", text)]
    found = adopt(sources)
    said = [
        f"{one.primary.file}:{one.primary.line}: {one.diagnostic.message}; {one.diagnostic.help}"
        for one in located(found)
        if one.diagnostic.code == "adopt-runner-refused"
    ]
    assert "\n".join([*said, found.text[found.text.index("[runners.") :]]) == snapshot
    dropped = [
        entry.shown for entry in found.entries if entry.span.source == "runners.json" and entry.fate == Fate.DROPPED
    ]
    assert dropped == ["colour"]


def test_list_that_is_no_source_is_asked_for_and_stays_a_path() -> None:
    found = adopt([Source("start.sh", f"livepeer {' '.join(FLAGS)} -network=offchain -liveRunnerConfig /etc/r.json\n")])
    assert 'live_runner_config = "/etc/r.json"' in found.text
    assert "adopt-file-missing" in {d.code for d in found.diagnostics}


def test_list_that_is_no_json_is_a_mistake() -> None:
    sources = [Source("compose.yml", orchestrator(*CHAIN, LIST)), Source("runners.json", '{"runners": [{]}')]
    assert "adopt-document-unread" in {d.code for d in adopt(sources).diagnostics}


# ----------------------------------------------------------------------------------- processes behind it


ENTRY = {"label": "llm", "app": "p/llm", "runner_url": "http://127.0.0.1:8000/v1", "health_url": "/health",
         "routing": "label", "price_info": {"price": 0.1}}  # fmt: skip


def runners_of(*sources: Source) -> dict[str, Any]:
    """The tables of runners that sources become."""
    found = adopt(list(sources), Said(hosts={"unit/llm.service": "h", "unit/orch.service": "h"}))
    assert found.text, found.diagnostics
    tables: dict[str, Any] = tomllib.loads(found.text).get("runners", {})
    return tables


def unit(command: str, more: str = "") -> str:
    return f"[Service]\nExecStart={command}\n{more}"


def bare(entry: dict[str, Any]) -> list[Source]:
    command = f"/usr/local/bin/livepeer {' '.join(FLAGS)} -network=offchain -liveRunnerConfig=/etc/runners.json"
    document = json.dumps({"runners": [entry]})
    return [Source("unit/orch.service", unit(command)), Source("runners.json", document)]


def test_unit_that_listens_at_the_address_is_the_runner() -> None:
    started = unit("/opt/llm/serve --port 8000 --model x", "Environment=MODE=fast\nUser=llm\n")
    found = runners_of(*bare(ENTRY), Source("unit/llm.service", started))["llm"]
    assert found == {
        "app": "p/llm", "price": "0.1 USD / hour", "host": "h", "program": "/opt/llm/serve",
        "arguments": ["--port", "8000", "--model", "x"], "port": 8000, "path": "/v1", "health": "/health",
        "environment": {"MODE": "fast"},
    }  # fmt: skip


@pytest.mark.parametrize("command", ["/opt/llm/serve --port 18000", "/opt/llm/serve --port 80001", "/opt/llm/serve 8"])
def test_unit_that_listens_elsewhere_is_none(command: str) -> None:
    found = runners_of(*bare(ENTRY), Source("unit/llm.service", unit(command)))
    assert found["llm"]["url"] == "http://127.0.0.1:8000/v1"


def test_two_processes_at_one_address_are_not_guessed_between() -> None:
    others = [Source(f"unit/{name}.service", unit(f"/opt/{name} --port=8000")) for name in ("llm", "other")]
    assert "url" in runners_of(*bare(ENTRY), *others)["llm"]


def test_container_of_a_script_is_the_runner_at_its_published_port() -> None:
    script = (
        f"livepeer {' '.join(FLAGS)} -network=offchain -liveRunnerConfig=/etc/runners.json &\n"
        "docker run -d --name llm --gpus '\"device=0,1\"' -p 8000:80 -e HF_TOKEN=$HF_TOKEN "
        "-v /srv/models:/srv/models example/llm:1.0 serve --fast\n"
    )
    listed_ = Source("runners.json", json.dumps({"runners": [ENTRY]}))
    found = adopt([Source("start.sh", script), listed_])
    assert tomllib.loads(found.text)["runners"]["llm"]["url"] == "http://127.0.0.1:8000/v1"  # its host runs none
    assert "adopt-runtimes-differ" in {d.code for d in found.diagnostics}
    contained = script.replace("livepeer -orch", "docker run --network host livepeer/go-livepeer:v0.9.1 -orch")
    found = adopt([Source("start.sh", contained), listed_])
    table = tomllib.loads(found.text)["runners"]["llm"]
    assert table == {
        "app": "p/llm", "price": "0.1 USD / hour", "host": "host-1", "image": "example/llm:1.0",
        "arguments": ["serve", "--fast"], "port": 80, "path": "/v1", "health": "/health", "gpus": [0, 1],
        "directories": ["/srv/models"], "secret_environment": {"HF_TOKEN": {"env": "HF_TOKEN"}},
    }  # fmt: skip


def test_every_word_of_a_runner_is_accounted_for() -> None:
    found = adopt(app("audio-diarized-transcription", True))
    text = next(source.text for source in found.sources if source.name.endswith("compose.yml"))
    begun = text.index("diarized_runner")
    places = {text[entry.span.start : entry.span.end] for entry in found.entries
              if entry.span.source.endswith("compose.yml") and entry.span.start >= begun}  # fmt: skip
    for word in ("diarized_runner", "runtime", "ipc", "ulimits", "ports", "volumes", "RUNNER_PORT=8080"):
        assert any(word in place for place in places), word


def test_service_that_a_runner_calls_is_told_to_stay() -> None:
    found = adopt(app("ollama", False))
    said = [d.message for d in found.diagnostics if d.code == "adopt-cannot-say"]
    assert said == ["registrar calls it, and a spec starts runners and nothing beside them"]


@pytest.mark.parametrize("name", ["echo", "hello-world"])
def test_secret_among_the_arguments_is_written_nowhere(name: str) -> None:
    found = adopt(app(name, False))
    assert "abcdef" not in found.text
    assert "secret_environment: the program got a secret" in found.text
    assert not [entry for entry in found.entries if "abcdef" in entry.shown + entry.words]
    lines = [one.primary.text for one in located(found) if not one.primary.hidden]
    assert not [line for line in lines if "abcdef" in line]


def test_file_of_an_app_that_says_more_is_laid_over_the_plain_one() -> None:
    base = app("tiles", False)[0]
    over = (
        "services:\n  orchestrator:\n    command: "
        + json.dumps([*FLAGS, *CHAIN])
        + '\n  app:\n    command: ["--orchestrator=https://orchestrator:8935", "--orchSecret=abcdef", '
        '"--runner-url=http://app:9999"]\n'
    )
    found = adopt([base, Source("tiles/compose.onchain.yml", over)])
    spec = tomllib.loads(found.text)
    assert spec["fleet"]["network"] == "arbitrum-one-mainnet"
    assert spec["runners"]["runner-tiles"]["port"] == 9999
    assert spec["runners"]["runner-tiles"]["image"] == "ghcr.io/example/runner-tiles:latest"


def test_files_of_different_services_in_one_folder_stay_apart() -> None:
    other = "services:\n  gate:\n    image: livepeer/go-livepeer:v0.9.1\n    command: -gateway -orchAddr a:1\n"
    found = adopt([app("tiles", False)[0], Source("tiles/compose.gate.yml", other)])
    assert {"gateways", "orchestrators", "runners"} <= set(tomllib.loads(found.text))


def test_service_that_others_extend_runs_as_these_alone() -> None:
    """The shared file of the example apps, in the folder above theirs and under the name of one of theirs."""
    shared = Source("compose.onchain.yml", orchestrator(*CHAIN))
    above = (
        "services:\n  orchestrator:\n    extends: {file: ../compose.onchain.yml, service: orchestrator}\n"
        '  app:\n    environment: ["A=over"]\n'
    )
    found = adopt([shared, app("tiles", False)[0], Source("tiles/compose.onchain.yml", above)])
    spec = tomllib.loads(found.text)
    assert list(spec["orchestrators"]) == ["apps-orchestrator"]
    assert spec["fleet"]["network"] == "arbitrum-one-mainnet"
    assert spec["runners"]["runner-tiles"]["environment"] == {"A": "over"}


def test_file_that_extends_a_path_which_is_no_source_is_not_its_own_base() -> None:
    text = "services:\n  orchestrator:\n    extends: {file: ../compose.yml, service: orchestrator}\n"
    found = adopt([Source("x/compose.yml", text + "    command: -gateway -orchAddr a:1\n")])
    codes = {d.code for d in found.diagnostics}
    assert "adopt-file-missing" in codes and "adopt-source-unreadable" not in codes


def test_runner_of_an_orchestrator_elsewhere_is_a_spec_that_asks_for_it() -> None:
    service = APPS["comfystream"]["services"].replace("127.0.0.1:8935", "orch.example.net:8935")
    found = adopt([Source("compose.existing.yml", "services:\n" + service)])
    spec = tomllib.loads(found.text)
    assert "orchestrators" not in spec
    assert spec["runners"]["runner"]["port"] == 8991
    assert spec["hosts"]["host-1"]["runtime"] == "docker"
    assert "# TODO: write it into runners = [...] of the orchestrator" in found.text
    checked = check_spec([Source("fleet.toml", answered(found.text))])
    assert [d.code for d in checked.diagnostics if d.severity is Severity.ERROR] == []


def test_service_that_only_knows_an_orchestrator_is_no_runner() -> None:
    text = "services:\n  web:\n    image: example/web:1\n    command: [--orchestrator=https://orch.example.net:8935]\n"
    assert {d.code for d in adopt([Source("compose.yml", text)]).diagnostics} == {"adopt-nothing-found"}
