"""What adopting says about remote workers and their orchestrators: prices that nobody reads, and secrets."""

from __future__ import annotations

import json
import tomllib

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.said import Said
from fleetc.adopt.report.report import reported
from fleetc.messages.forms import AdoptionFormat
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

ORCHESTRATOR = (
    "livepeer -orchestrator -network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethPassword /etc/lp/pw "
    "-ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr orch.example.net:8935 -pricePerUnit 900 "
    "-dataDir /d/o"
)
WORKER = "livepeer -aiWorker -nvidia 0 -orchAddr orch.example.net:8935 -dataDir /d/w -cliAddr :7936 -aiModelsDir /m"


def of(orchestrator: str, worker: str, **files: str) -> Adopted:
    """An orchestrator and a worker, with these words more, and other files."""
    named = [Source(name.replace("__", "."), text) for name, text in files.items()]
    orch = Source("orch.sh", f"{ORCHESTRATOR} {orchestrator}\n")
    return adopt([orch, Source("worker.sh", f"{WORKER} {worker}\n"), *named])


def model(name: str, price: int | None, gateway: str = "") -> dict[str, object]:
    """An entry of a list of models."""
    found: dict[str, object] = {"pipeline": "text-to-image", "model_id": f"maker/{name}"}
    return found | ({"Price_Per_Unit": price} if price is not None else {}) | ({"gateway": gateway} if gateway else {})


def test_price_in_the_list_of_a_worker_is_said_to_be_ignored_and_offered_where_it_counts() -> None:
    text = json.dumps([model("sold", 999), model("open", 77), model("free", 0), model("silent", None)])
    found = of(
        "-orchSecret /s -aiModels orch.json", "-orchSecret /s -aiModels worker.json",
        worker__json=text, orch__json=json.dumps([model("sold", 4768371), model("silent", None)]),
    )  # fmt: skip
    ignored = [one for one in found.diagnostics if one.code == "adopt-setting-unread"]
    places = [one.primary.place for one in ignored]
    assert [text[p.start : p.end] for p in places if isinstance(p, Span)] == ['"Price_Per_Unit"'] * 2
    assert {p.source for p in places if isinstance(p, Span)} == {"worker.json"}
    tables = tomllib.loads(found.text)["models"]
    assert tables["sold"]["price"] == "4768371 wei / pixel"
    assert "price" not in tables["open"]
    assert [line for line in found.text.split("\n") if line.startswith("# TODO price")] == [
        '# TODO price = "77 wei / pixel"  # the list of worker says so, where the node does not read it; without a '
        "price it is sold at the base price of its orchestrator"
    ]
    assert "ignores prices" in reported(found, AdoptionFormat.text, located(found))


def test_no_price_is_offered_where_nobody_pays_or_for_one_gateway_alone() -> None:
    worker = Source("worker.sh", f"{WORKER} -orchSecret /s -aiModels worker.json\n")
    alone = adopt([worker, Source("worker.json", json.dumps([model("open", 77)]))])
    assert "TODO price" not in alone.text
    assert "adopt-setting-unread" in {one.code for one in alone.diagnostics}
    lists = json.dumps([model("open", 77, "0x2222222222222222222222222222222222222222")])
    found = of("-orchSecret /s", "-orchSecret /s -aiModels worker.json", worker__json=lists)
    assert "TODO price" not in found.text


def test_models_of_its_workers_are_offered_to_an_orchestrator_without_a_list() -> None:
    listed = json.dumps([{**model("hot", None), "warm": True}, model("cold", None)])
    found = of("-orchSecret /s", "-orchSecret /s -aiModels worker.json", worker__json=listed)
    (question,) = (line for line in found.text.split("\n") if line.startswith("# TODO models"))
    assert '[{ use = "hot", warm = true }, { use = "cold" }]' in question
    assert ("orch", "aiModels") in found.waiting


def test_worker_without_a_secret_gets_that_of_its_orchestrator() -> None:
    found = of("-orchSecret /s", "")
    assert "# TODO secret" not in found.text
    (change,) = (one for one in found.differences if one.flag == "orchSecret")
    assert change.reason == "it gets the secret of orch, without which it does not start"
    assert "# TODO secret" in of("", "").text


@pytest.mark.parametrize(
    ("orchestrator", "worker", "files", "warned"),
    [
        ("-orchSecret one-secret-a", "-orchSecret one-secret-b", {}, True),
        ("-orchSecret one-secret-a", "-orchSecret one-secret-a", {}, False),
        ("-aiWorker", "-orchSecret one-secret-b", {}, True),
        ("-orchSecret one-secret-a", '-orchSecret "$S"', {}, False),
        ("-orchSecret one-secret-a", '-orchSecret "$(cat /etc/lp/s)"', {}, False),
        ("-orchSecret /etc/lp/s", "-orchSecret one-secret-b", {}, False),
        ("-orchSecret /etc/lp/s.txt", "-orchSecret one-secret-b", {"s__txt": "one-secret-a\n"}, True),
        ("-orchSecret /etc/lp/s.txt", "-orchSecret one-secret-a", {"s__txt": "one-secret-a\n"}, False),
    ],
)
def test_worker_with_another_secret_than_its_orchestrator_is_said_without_values(
    orchestrator: str, worker: str, files: dict[str, str], warned: bool
) -> None:
    found = of(orchestrator, worker, **files)
    differ = [one for one in located(found) if one.diagnostic.code == "adopt-secrets-differ"]
    assert len(differ) == warned
    assert all(one.primary.hidden and one.primary.file == "worker.sh" for one in differ)
    said = [one.diagnostic.message + one.diagnostic.help for one in differ]
    assert "one-secret" not in "".join([found.text, *said])


@pytest.mark.parametrize(
    ("network", "ports", "url"),
    [
        ("", '    ports: ["127.0.0.1:18000:8000"]\n', "http://127.0.0.1:18000/v1"),
        ("", '    ports: ["203.0.113.5:18000:8000"]\n', ""),
        ("", '    expose: ["8000"]\n', ""),
        ("    network_mode: host\n", "", "http://llm:8000/v1"),
    ],
)
def test_service_that_a_list_of_models_names_is_reached_from_the_network_of_the_host(
    network: str, ports: str, url: str
) -> None:
    command = ORCHESTRATOR.removeprefix("livepeer ").replace("/d/o", "/srv/lp")
    compose = (
        f"services:\n  llm:\n    image: example/llm:1\n{ports}  orch:\n    image: livepeer/go-livepeer:v0.9.1\n"
        f"{network}    volumes: ['/srv/lp:/srv/lp']\n    command: {command} -aiWorker -aiModels /srv/lp/m.json\n"
    )
    listed = json.dumps([model("m", 5) | {"url": "http://llm:8000/v1"}])
    found = adopt([Source("compose.yaml", compose), Source("m.json", listed)])
    (use,) = tomllib.loads(found.text)["orchestrators"]["orch"]["models"]
    assert use["url"] == (url or "http://llm:8000/v1")
    assert ("adopt-name-unreached" in {one.code for one in found.diagnostics}) is (not url)
    assert ("# TODO models: the url of llm" in found.text) is (not url)


def test_a_list_that_an_orchestrator_reads_too_has_prices_that_count_and_one_lost_token() -> None:
    text = json.dumps([model("sold", 999) | {"url": "http://192.0.2.9:8000", "token": "word-of-the-runner"}])
    found = of("-orchSecret /s -aiModels all.json", "-orchSecret /s -aiModels all.json", all__json=text)
    assert [one.code for one in found.diagnostics] == ["adopt-cannot-say"]
    assert "the list of models has the credential of a runner" in located(found)[0].diagnostic.message
    assert "word-of-the-runner" not in found.text + reported(found, AdoptionFormat.text, located(found))
    assert tomllib.loads(found.text)["models"]["sold"]["price"] == "999 wei / pixel"


@pytest.mark.parametrize(
    ("address", "orchestrators", "linked"),
    [
        ("127.0.0.1:8935", {"orch": "-p 8935:8935"}, "orch"),
        ("localhost", {"orch": "-p 127.0.0.1:8935:8935"}, "orch"),
        ("https://[::1]:8935", {"orch": "--network host"}, "orch"),
        ("127.0.0.1:9000", {"orch": "-p 9000:8935"}, "orch"),
        ("127.0.0.1:8935", {"orch": "-p 192.0.2.7:8935:8935"}, "127.0.0.1:8935"),
        ("127.0.0.1:8936", {"orch": "-p 8935:8935"}, "127.0.0.1:8936"),
        ("127.0.0.1:8935", {"one": "--network host", "two": "--network host"}, "127.0.0.1:8935"),
    ],
)
def test_a_worker_that_calls_the_loopback_serves_the_one_orchestrator_that_answers_there(
    address: str, orchestrators: dict[str, str], linked: str
) -> None:
    words = ORCHESTRATOR.removeprefix("livepeer ")
    lines = [
        f"docker run --name {name} {ports} -v /d:/d livepeer/go-livepeer:v0.9.1 "
        f"{words.replace('orch.example', f'{name}.example')} -orchSecret /s"
        for name, ports in orchestrators.items()
    ]
    lines.append(f"livepeer -transcoder -nvidia 0 -orchAddr {address} -orchSecret /s -dataDir /d/w")
    found = adopt([Source("start.sh", "\n".join(lines) + "\n")])
    (worker,) = tomllib.loads(found.text)["transcoders"].values()
    assert worker["orchestrator"] == linked
    changes = [one.reason for one in found.differences if one.flag == "orchAddr"]
    told = "the same orchestrator; make sure that the host reaches it there (curl -k)"
    assert changes == ([told] if linked == "orch" else [])
    warned = [one.message for one in found.diagnostics if one.code == "adopt-name-unreached"]
    assert len(warned) == (linked == "orch")


def test_a_redeemer_on_another_host_is_found_by_its_address() -> None:
    redeemer = (
        "livepeer -redeemer -network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethPassword /etc/lp/pw "
        "-ethAcctAddr 0x2222222222222222222222222222222222222222 -ethOrchAddr "
        "0x1111111111111111111111111111111111111111 -dataDir /d/r -httpAddr 10.8.0.2:8935\n"
    )
    orch = Source("orch.sh", f"{ORCHESTRATOR} -redeemerAddr 10.8.0.2:8935\n")
    found = adopt([orch, Source("helper.sh", redeemer)], Said(hosts={"orch.sh": "nova1", "helper.sh": "nova2"}))
    spec = tomllib.loads(found.text)
    assert spec["orchestrators"]["orch"]["redeemer"] == next(iter(spec["redeemers"]))
    assert not [one for one in found.differences if one.flag == "redeemerAddr"]


@pytest.mark.parametrize(("price", "mode"), [("0", "ai"), ("0.0", "ai"), ("7", "dual")])
def test_orchestrator_of_models_alone_that_asks_nothing_for_pixels_sells_no_video(price: str, mode: str) -> None:
    chain = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /etc/lp/pw"
    script = (
        f"livepeer -orchestrator {chain} -ethAcctAddr 0x1111111111111111111111111111111111111111 -dataDir /srv/o "
        f"-serviceAddr o.example.net:8935 -pricePerUnit {price} -aiModels m.json -orchSecret /s\n"
        "livepeer -aiWorker -orchAddr o.example.net:8935 -orchSecret /s -nvidia 0 -aiModels m.json -aiModelsDir /m\n"
    )
    models = '[{"pipeline": "llm", "model_id": "a/b", "price_per_unit": 5}]'
    found = adopt([Source("start.sh", script), Source("m.json", models)])
    assert tomllib.loads(found.text)["orchestrators"]["orchestrator"]["mode"] == mode
    assert not [one for one in found.differences if one.flag == "pricePerUnit"]
