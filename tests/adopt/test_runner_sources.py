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
from fleetc.adopt.compare import compare
from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.library import Library, Said
from fleetc.adopt.found.questions import Ask
from fleetc.adopt.report.report import reported
from fleetc.messages.forms import ReportFormat
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


def rows(adopted: Adopted) -> Iterator[str]:
    """Each setting that the answered spec compiles to something else; with both values where nothing explains it."""
    text = answered(adopted.text)
    checked = check_spec([Source("fleet.toml", text)])
    assert checked.fleet is not None, (checked.diagnostics, text)
    errors = [d.message for d in checked.diagnostics if d.severity is Severity.ERROR]
    assert errors == [], text
    library = Library({source.name: source for source in adopted.sources})
    for one in compare(list(adopted.nodes), lower.lower(checked.fleet), library).differences:
        yield one.setting + ("" if one.reason else f": NOT EXPLAINED: {one.today}, compiled {one.compiled}")
    files = {"/config/runners.json": '{"runners": []}', "/keystore/password": "word"}
    for today, after in meanings(adopted, text, files).values():
        reasons = adopted.nodes[0].reasons
        for flag, pair in today.differences(after).items():
            if flag.split(" ")[0] not in reasons and flag != "liveRunnerConfig":
                yield f"-{flag}: NOT EXPLAINED: {pair}"


@pytest.fixture(scope="module")
def table() -> dict[str, list[str]]:
    """What became of every app, off-chain and on a chain: places that are asked about, then settings that differ."""
    shown = {}
    for name in APPS:
        for chain in (False, True):
            adopted = adopt(app(name, chain))
            assert adopted.text, adopted.diagnostics
            questions = [f"{'.'.join(one.place)}: {one.kind.name}" for one in adopted.questions]
            shown[f"{name}{' on a chain' if chain else ''}"] = [*questions, *sorted(set(rows(adopted)))]
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


def test_fault_has_the_line_of_its_entry_and_the_rest_is_adopted() -> None:
    text = (
        '{\n "runners": [\n'
        '  {"label": "a", "app": "p/a", "runner_url": "http://a.example.net", "health_url": "/h",\n'
        '   "price_info": {"price": 0.1, "unit": "day"}},\n'
        '  {"label": "a", "app": " p/b", "runner_url": "b.example.net:80", "Health_URL": "up", "capacity": "4",\n'
        '   "colour": "red", "price_info": {"price": "0.25", "unit": "720P"}}\n'
        " ]\n}\n"
    )
    adopted = adopt([Source("compose.yml", orchestrator(*CHAIN, LIST)), Source("runners.json", text)])
    lines = [one.primary.line for one in located(adopted) if one.diagnostic.code == "adopt-runner-refused"]
    assert lines == [4, 5, 5, 5, 5, 5]
    runners = tomllib.loads(adopted.text)["runners"]
    assert runners == {
        "a": {"app": "p/a", "routing": "runner-id", "url": "http://a.example.net", "health": "/h"},
        "a-2": {"routing": "runner-id", "price": "0.25 USD / 720p hour"},
    }
    asked = {".".join(one.place) for one in adopted.questions if one.place[0] == "runners"}
    assert asked == {"runners.a.price", "runners.a-2.app", "runners.a-2.url", "runners.a-2.health"}
    assert {one.example for one in adopted.questions if one.place[0] == "runners"} == {""}
    dropped = [
        entry.shown for entry in adopted.entries if entry.span.source == "runners.json" and entry.fate == Fate.DROPPED
    ]
    assert dropped == ["colour"]


def test_list_that_is_no_source_is_asked_for_and_stays_a_path() -> None:
    found = adopt([Source("start.sh", f"livepeer {' '.join(FLAGS)} -network=offchain -liveRunnerConfig /etc/r.json\n")])
    assert 'live_runner_config = "/etc/r.json"' in found.text
    assert "adopt-file-missing" in {d.code for d in found.diagnostics}


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


@pytest.mark.parametrize("commands", [["--port 18000"], ["--port 80001"], ["8"], ["--port=8000", "--port=8000"]])
def test_units_that_listen_elsewhere_or_are_two_are_not_guessed_between(commands: list[str]) -> None:
    names = ("llm", "other")
    units = [Source(f"unit/{n}.service", unit(f"/opt/{n} {c}")) for n, c in zip(names, commands, strict=False)]
    assert runners_of(*bare(ENTRY), *units)["llm"]["url"] == "http://127.0.0.1:8000/v1"


def test_container_of_a_script_is_the_runner_at_its_published_port() -> None:
    script = (
        f"livepeer {' '.join(FLAGS)} -network=offchain -liveRunnerConfig=/etc/runners.json &\n"
        "docker run -d --name llm --gpus '\"device=0,1\"' -p 8000:80 -e HF_TOKEN=$HF_TOKEN "
        "-v /srv/models:/srv/models example/llm:1.0 serve --fast\n"
    )
    listed_ = Source("runners.json", json.dumps({"runners": [ENTRY]}))
    found = adopt([Source("start.sh", script), listed_])
    assert tomllib.loads(found.text)["runners"]["llm"]["url"] == "http://127.0.0.1:8000/v1"  # its host runs none
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


def test_service_that_a_runner_calls_is_asked_about() -> None:
    adopted = adopt(app("ollama", False))
    assert [dict(one.facts) for one in adopted.questions if one.kind is Ask.CALLS] == [{"name": "ollama"}]


SECRETS = ["--hf-token hunter2", "--x=hunter2", "-k hunter2", "hunter2", "--hook=https://a.example.net/?t=hunter2",
           "--model-url=https://u:hunter2@a.example.net", "--name=abcdef"]  # fmt: skip


@pytest.mark.parametrize("argument", SECRETS)
def test_argument_that_may_be_a_secret_is_written_nowhere(argument: str) -> None:
    start = ["serve", "--orchestrator=https://orchestrator:8935"]
    command = json.dumps([*start, "--secret", "abcdef", *argument.split()])
    service = f"  llm:\n    image: example/llm:1\n    command: {command}\n    environment: [API_KEY=hunter2]\n"
    adopted = adopt([Source("compose.yml", orchestrator("-network=offchain") + service)])
    given = tomllib.loads(adopted.text)["runners"]["llm"]["arguments"]
    assert given == [start[0], "--orchestrator=https://127.0.0.1:8935"]
    made = [adopted.text, *(reported(adopted, form, located(adopted)) for form in ReportFormat)]
    assert [text for text in made if "hunter2" in text or "abcdef" in text] == []
    assert len([one for one in adopted.questions if one.kind is Ask.ARGUMENT]) == 2


def test_price_is_offered_only_from_the_arguments_of_the_runner() -> None:
    (known,) = [one for one in adopt(app("tiles", True)).questions if one.kind is Ask.OWN_PRICE]
    (unknown,) = [one for one in adopt(app("echo", True)).questions if one.kind is Ask.OWN_PRICE]
    assert (known.example, unknown.example) == ('"0.0001 USD / hour"', "")


def test_address_with_a_query_is_asked_for_without_its_value() -> None:
    entry = {**ENTRY, "runner_url": "http://a.example.net/?t=abcdef", "health_url": "http://u:abcdef@a.example.net/up"}
    adopted = listed({"runners": [entry]}, chain=False)
    assert "abcdef" not in adopted.text
    assert {one.kind for one in adopted.questions} >= {Ask.URL, Ask.HEALTH}


def test_service_that_others_extend_runs_as_these_alone() -> None:
    """The shared file of the example apps, in the folder above theirs and under the name of one of theirs."""
    shared = Source("compose.onchain.yml", orchestrator(*CHAIN))
    above = (
        "services:\n  orchestrator:\n    extends: {file: ../compose.onchain.yml, service: orchestrator}\n"
        '  app:\n    environment: ["MODE=over"]\n'
    )
    found = adopt([shared, app("tiles", False)[0], Source("tiles/compose.onchain.yml", above)])
    spec = tomllib.loads(found.text)
    assert list(spec["orchestrators"]) == ["apps-orchestrator"]
    assert spec["fleet"]["network"] == "arbitrum-one-mainnet"
    assert spec["runners"]["app"]["environment"] == {"MODE": "over"}


def test_service_that_only_knows_an_orchestrator_is_no_runner() -> None:
    text = "services:\n  web:\n    image: example/web:1\n    command: [--orchestrator=https://orch.example.net:8935]\n"
    assert {d.code for d in adopt([Source("compose.yml", text)]).diagnostics} == {"adopt-nothing-found"}
