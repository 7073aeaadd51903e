"""Adopted lists of models: what is sold, what a worker has in vain, and what no spec has."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.questions import Ask, Why
from fleetc.adopt.report.report import reported
from fleetc.messages.forms import ReportFormat
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

ORCHESTRATOR = (
    "livepeer -orchestrator -network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethPassword /etc/lp/pw "
    "-ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr orch.example.net:8935 -pricePerUnit 900 "
    "-dataDir /d/o -orchSecret /s"
)
WORKER = (
    "livepeer -aiWorker -nvidia 0 -orchAddr orch.example.net:8935 -dataDir /d/w -cliAddr :7936 -aiModelsDir /m "
    "-orchSecret /s"
)


def of(orchestrator: str = "", worker: str | None = None, **files: str) -> Adopted:
    """An orchestrator, and a worker if one is given, with these words more, and other files."""
    sources = [Source("orch.sh", f"{ORCHESTRATOR} {orchestrator}\n")]
    sources += [Source("worker.sh", f"{WORKER} {worker}\n")] if worker is not None else []
    return adopt([*sources, *(Source(name.replace("__", "."), text) for name, text in files.items())])


def model(name: str, price: object = None, **more: object) -> dict[str, object]:
    """An entry of a list of models."""
    entry = {"pipeline": "text-to-image", "model_id": f"maker/{name}"} | more
    return entry | ({"Price_Per_Unit": price} if price is not None else {})


def listed(adopted: Adopted) -> list[dict[str, Any]]:
    models: list[dict[str, Any]] = tomllib.loads(adopted.text)["orchestrators"]["orch"]["models"]
    return models


def asked(adopted: Adopted) -> set[tuple[str, str]]:
    return {
        (".".join(one.place), one.kind.name) for one in adopted.questions if one.place[0] in ("orchestrators", "models")
    }


def test_entries_become_models_with_what_they_say() -> None:
    document = [
        model("hot", 5, warm=True, capacity=2, optimization_flags={"SFAST": True}),
        model("cold", 6, url="http://192.0.2.9:8000", optimization_flags={"SFAST": True}),
        model("hot", 7, gateway="0x2222222222222222222222222222222222222222"),
    ]
    adopted = of("-aiModels m.json", m__json=json.dumps(document))
    assert listed(adopted) == [
        {"use": "hot", "warm": True, "capacity": 2,
         "gateway_prices": {"0x2222222222222222222222222222222222222222": "7 wei / pixel"}},
        {"use": "cold", "url": "http://192.0.2.9:8000"},
    ]  # fmt: skip
    tables = tomllib.loads(adopted.text)["models"]
    assert (tables["hot"]["price"], tables["hot"]["optimization"]) == ("5 wei / pixel", {"SFAST": True})
    assert "optimization" not in tables["cold"]
    assert "optimization_flags of maker/cold" in {entry.shown for entry in adopted.entries}


def test_price_in_the_list_of_a_worker_is_told() -> None:
    text = json.dumps([model("sold", 999), model("open", 77), model("free", 0), model("silent")])
    other = json.dumps([model("sold", 4768371), model("silent")])
    adopted = of("-aiModels orch.json", "-aiModels worker.json", worker__json=text, orch__json=other)
    places = [one.primary.place for one in adopted.diagnostics if one.code == "adopt-setting-unread"]
    assert [text[p.start : p.end] for p in places if isinstance(p, Span)] == ['"maker/sold"', '"maker/open"']
    assert {p.source for p in places if isinstance(p, Span)} == {"worker.json"}
    tables = tomllib.loads(adopted.text)["models"]
    assert tables["sold"]["price"] == "4768371 wei / pixel"
    assert "price" not in tables["open"]


def test_a_list_that_an_orchestrator_reads_too_has_prices_that_count_and_one_lost_token() -> None:
    text = json.dumps([model("sold", 999, url="http://192.0.2.9:8000", token="word-of-the-runner")])
    adopted = of("-aiModels all.json", "-aiModels all.json", all__json=text)
    assert [one.code for one in adopted.diagnostics] == ["adopt-cannot-say"]
    assert ("orchestrators.orch.models", "CREDENTIAL") in asked(adopted)
    made = [adopted.text, *(reported(adopted, form, located(adopted)) for form in ReportFormat)]
    assert [text for text in made if "word-of-the-runner" in text] == []
    assert tomllib.loads(adopted.text)["models"]["sold"]["price"] == "999 wei / pixel"


@pytest.mark.parametrize(
    ("words", "files", "kind"),
    [
        ("-aiModels /etc/lp/m.json", {}, "NO_FILE"),
        ("-aiModels m.json", {"m__json": '[{"pipeline": "llm", "model_id": "a/b", "warm": "yes"}]'}, "REFUSED"),
        ("-aiModels m.json", {"m__json": json.dumps([model("x", 10**85)])}, "NO_PRICE_FOR"),
    ],
)
def test_list_that_no_spec_can_have_is_asked_for(words: str, files: dict[str, str], kind: str) -> None:
    assert ("orchestrators.orch.models", kind) in asked(of(words, **files))


def test_worker_without_a_list_is_asked_for_one() -> None:
    adopted = of("", "")
    assert [one.kind for one in adopted.questions if one.place[:1] == ("ai_workers",)] == [Ask.NO_MODELS]


@pytest.mark.parametrize(("network", "left"), [("", True), ("    network_mode: host\n", False)])
def test_service_that_a_list_names_is_asked_about_where_its_name_is_lost(network: str, left: bool) -> None:
    command = ORCHESTRATOR.removeprefix("livepeer ").replace("/d/o", "/srv/lp")
    compose = (
        "services:\n  llm:\n    image: example/llm:1\n  orch:\n    image: livepeer/go-livepeer:v0.9.1\n"
        f"{network}    volumes: ['/srv/lp:/srv/lp']\n    command: {command} -aiWorker -aiModels /srv/lp/m.json\n"
    )
    document = json.dumps([model("m", 5, url="http://llm:8000/v1")])
    adopted = adopt([Source("compose.yaml", compose), Source("m.json", document)])
    assert listed(adopted)[0]["url"] == "http://llm:8000/v1"
    assert (("orchestrators.orch.models", "CALLS") in asked(adopted)) is left


def test_images_of_runners_are_those_of_the_node() -> None:
    document = json.dumps([{"pipeline": "llm", "model_id": "a/b"}, model("m")])
    images = {"llm": "example/llm:1", "upscale": "example/up:1"}
    overrides = json.dumps({"default": "example/all:1", "batch": images})
    adopted = of("", f"-aiModels m.json -aiRunnerImage old:1 -aiRunnerImageOverrides '{overrides}'", m__json=document)
    spec = tomllib.loads(adopted.text)
    assert spec["ai_workers"]["worker"]["runner_image"] == "example/all:1"
    (unused,) = (one.reason for one in adopted.differences if one.flag == "aiRunnerImageOverrides")
    assert unused is not None and unused.why is Why.UNUSED_IMAGE
    assert [table.get("image") for table in spec["models"].values()] == ["example/llm:1", None]
