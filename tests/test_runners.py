"""Live runners of a spec: the file that the node reads, the processes that fleetc starts, what the language refuses."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fleetc.lower import lower
from fleetc.pipeline import check_spec
from tests import node
from tests.lower.test_lowering import content, flags, plan, service, settings
from tests.node import live_runners
from tests.rules.support import (
    SECRET,
    flagged,
    free_orchestrator,
    gateway,
    host,
    offchain,
    printed,
    renting,
    runner,
    signer,
    silent,
    wallet,
)
from tests.support import ROOT, compile_text, files_of, fleetc, sources_of

VECTORS = json.loads((ROOT / "tests" / "data" / "live_runners.json").read_text())
APPS = ROOT / "tests" / "data" / "runners"
NAMES = sorted(path.stem for path in APPS.glob("*.toml") if path.stem != "chain")
FILE = "liveRunners.json"


# --- the account of the node -------------------------------------------------------------------------


def document_of(vector: dict[str, Any]) -> Any:
    if "doc" in vector:
        return vector["doc"]
    entry = copy.deepcopy(VECTORS["base"]) | vector.get("set", {})
    for key in vector.get("drop", ()):
        del entry[key]
    return {"runners": [entry, entry] if vector.get("twice") else [entry]}


@pytest.mark.parametrize("vector", VECTORS["documents"], ids=lambda vector: vector["id"])
def test_account_of_the_node_takes_and_refuses_what_the_node_does(vector: dict[str, Any]) -> None:
    said = live_runners.refusal(json.dumps(document_of(vector)), on_chain=not vector.get("offchain"))
    assert said == vector["want"] if vector["want"] in (None, "json") else vector["want"] in str(said)


# --- the apps of the node's own examples -------------------------------------------------------------


@pytest.mark.parametrize("chain", [False, True], ids=["off-chain", "on a chain"])
@pytest.mark.parametrize("name", NAMES)
def test_app_is_a_short_spec_whose_list_the_node_takes(name: str, chain: bool) -> None:
    files = [APPS / f"{name}.toml", *([APPS / "chain.toml"] if chain else [])]
    assert len(files[0].read_text().splitlines()) <= 15
    checked = check_spec(sources_of(*files))
    assert checked.fleet is not None, checked.diagnostics
    assert {d.code for d in checked.diagnostics} <= {"runner-server-shared"}
    services = {found.name: found for one in lower(checked.fleet).hosts for found in one.services}
    orchestrator = services["orch"]
    words = flags(orchestrator)
    assert not set(words) & {"aiWorker", "transcoder", "nvidia", "aiModels"}
    for file in orchestrator.files:
        assert file.name == FILE
        assert live_runners.refusal(json.dumps(file.content, default=str), chain) is None
    assert ("liveRunnerConfig" in words) == bool(orchestrator.files)
    assert "liveRunnerConfig" in words or words["useLiveRunners"] == "true"
    assert words.get("pricePerUnit") == ("0" if chain else None)
    assert node.broken_rules(settings(orchestrator)) == ()
    assert set(services) - {"orch"} == {one.name for one in checked.fleet.placed_runners}


# --- the file ----------------------------------------------------------------------------------------


def list_of(text: str) -> list[str]:
    """The files from which nodes read their live runners."""
    return [file for path, file in files_of(text).items() if path.endswith(FILE)]


def entry(text: str) -> dict[str, Any]:
    found: dict[str, Any] = content(service(text, "orch"), FILE)["runners"][0]
    return found


def test_file_has_what_the_spec_says_and_stable_addresses() -> None:
    assert entry(renting()) == {
        "label": "echo",
        "runner_url": "http://edge.example.net:8989",
        "health_url": "/health",
        "app": "example/echo",
        "mode": "persistent",
        "routing": "label",
        "price_info": {"price": Decimal("0.1"), "currency": "usd", "unit": "hour"},
    }
    given = runner(
        mode='"single-shot"',
        capacity="4",
        path='"/v1"',
        health='"/up"',
        health_status="204",
        routing='"runner-id"',
        proxy="true",
        version='"1.4"',
        metadata='"region=eu"',
        price='"0.01 USD / 720p minute"',
    )
    found = entry(renting(given))
    assert found.pop("price_info") == {"price": Decimal("0.6"), "currency": "usd", "unit": "720p"}
    assert found == {
        "label": "echo",
        "runner_url": "http://edge.example.net:8989/v1",
        "health_url": "/up",
        "app": "example/echo",
        "mode": "single-shot",
        "routing": "runner-id",
        "metadata": "region=eu",
        "version": "1.4",
        "proxy": True,
        "capacity": 4,
        "healthy_status_code": 204,
    }


def test_runner_beside_its_orchestrator_is_reached_on_loopback_and_one_elsewhere_at_its_host() -> None:
    beside = host("box", public='"box.example.net"') + runner(host='"box"')
    assert entry(renting(beside, host='"box"'))["runner_url"] == "http://127.0.0.1:8989"
    private = host("box", address='"2001:db8::7"') + runner(host='"box"')
    assert entry(renting(private))["runner_url"] == "http://[2001:db8::7]:8989"
    outside = runner(host=None, image=None, port=None, url='"https://p.example.net/sd3"')
    assert entry(renting(outside))["runner_url"] == "https://p.example.net/sd3"


def test_one_gpu_of_a_host_is_told_to_clients() -> None:
    text = renting(host("box", gpus='[{ model = "A100", memory = "40 GiB" }]') + runner(host='"box"', gpus="[0]"))
    assert entry(text)["gpu"] == {"id": "0", "name": "A100", "vram_mb": 40960}
    assert service(text, "echo").gpus == (0,)


def test_numbers_of_prices_stand_with_every_digit_and_no_exponent() -> None:
    (file,) = list_of(renting(runner(price='"0.00000001 USD / request"')))
    assert '"price": 0.00000001,' in file


def test_price_in_ether_is_told_in_usd_at_the_rate_of_the_spec() -> None:
    found = entry(renting(runner(price='"0.0001 ETH / hour"')))
    assert found["price_info"] == {"price": Decimal("0.25"), "currency": "usd", "unit": "hour"}
    assert "no rate" in flagged(renting(runner(price='"0.0001 ETH / hour"'), rates=False), "runner-price-without-rate")


def test_runner_that_registers_itself_is_in_no_file_and_may_do_so() -> None:
    found = service(renting(runner(health=None, register_by='"runner"')), "orch")
    assert found.files == ()
    assert flags(found)["useLiveRunners"] == "true"
    assert "liveRunnerConfig" not in flags(found)
    both = renting(runner(health=None, register_by='"runner"'), live_runners="true")
    assert flags(service(both, "orch"))["useLiveRunners"] == "true"


def test_file_that_something_else_writes_stays_a_path() -> None:
    text = offchain(free_orchestrator(mode='"ai"', secret=SECRET, live_runner_config='"/etc/livepeer/r.json"'))
    assert flags(service(text, "orch"))["liveRunnerConfig"] == "/etc/livepeer/r.json"
    assert "keep one" in flagged(renting(live_runner_config='"/etc/livepeer/r.json"'), "two-lists-of-runners")


# --- its process -------------------------------------------------------------------------------------


def test_runner_on_a_docker_host_is_a_container_with_its_words_in_order() -> None:
    text = renting(
        runner(
            arguments='["--serve", "b", "--all", "a"]',
            environment='{ HF_HOME = "/srv/models" }',
            secret_environment='{ HF_TOKEN = { vault = "hf_token" } }',
            directories='["/srv/models"]',
            host_ipc="true",
        )
    )
    found = service(text, "echo")
    assert [argument.text for argument in found.arguments] == ["--serve", "b", "--all", "a"]
    assert [(mount.path, mount.read_only) for mount in found.mounts] == [
        ("/srv/models", False),
        ("/var/lib/livepeer/echo", False),
    ]
    assert [(secret.name, secret.reference) for secret in found.secrets] == [("HF_TOKEN", "hf_token")]
    files = files_of(text)
    compose = files["hosts/edge/echo/compose.yaml"]
    assert "ipc: host" in compose
    assert compose.index('"--serve"') < compose.index('"b"') < compose.index('"--all"') < compose.index('"a"')
    assert files["hosts/edge/echo/launch.flags"] == "--serve\nb\n--all\na\n"
    assert "hf_token" in files["hosts/edge/echo/node.env"]
    variables = json.loads(files["ansible/host_vars/edge.json"])
    (told,) = (one for one in variables["fleet_host_services"] if one["name"] == {"__ansible_unsafe": "echo"})
    assert told["health"]["answers"]["status"] == 200
    assert told["arguments"] == ""


def test_image_without_arguments_keeps_its_own_command() -> None:
    compose = files_of(renting())["hosts/edge/echo/compose.yaml"]
    assert "command:" not in compose
    assert "ipc:" not in compose


def test_runner_on_a_systemd_host_is_a_unit_of_its_program() -> None:
    text = renting(runner(host='"gpu"', image=None, program='"/opt/echo/bin/echo"', arguments='["--port", "8989"]'))
    unit = files_of(text)["hosts/gpu/echo/livepeer-echo.service"]
    assert 'ExecStart="/opt/echo/bin/echo" \\\n  "--port" \\\n  "8989"' in unit
    assert "runner-unfit-for-host" in printed(renting(runner(host='"gpu"')))
    assert "runner-unfit-for-host" in printed(renting(runner(image=None, program='"/opt/echo"')))


def test_words_of_a_runner_are_data_wherever_they_are_written() -> None:
    words = '["$HOME", "{{ x }}", "%n", "a b", "-", "`id`"]'
    on_systemd = runner(host='"gpu"', image=None, program='"/opt/echo"', arguments=words)
    for text in (renting(runner(arguments=words)), renting(on_systemd)):
        assert [a.text for a in service(text, "echo").arguments] == ["$HOME", "{{ x }}", "%n", "a b", "-", "`id`"]
        files = files_of(text)
        unit = next((files[path] for path in files if path.endswith("livepeer-echo.service")), "")
        assert not unit or ('"$$HOME"' in unit and '"%%n"' in unit)
        compose = files.get("hosts/edge/echo/compose.yaml", "")
        assert not compose or '"$$HOME"' in compose


def test_runner_starts_before_the_orchestrator_that_asks_for_it() -> None:
    text = renting(host("box") + runner(host='"box"'))
    found = plan(text)
    assert [edge.kind for edge in found.edges if edge.target == "echo"] == ["offers"]
    order = [name for batch in found.batches for name in batch]
    assert order.index("box") < order.index("gpu")
    beside = plan(renting(host("box") + runner(host='"box"'), host='"box"'))
    box = next(one for one in beside.hosts if one.name == "box")
    assert [one.name for one in box.services] == ["echo", "orch"]


# --- what the language refuses -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"host": None}, "either started by fleetc on a host, or exists at a url"),
        ({"url": '"http://192.0.2.7:80"'}, "either started by fleetc on a host, or exists at a url"),
        ({"image": None}, "either an image or a program"),
        ({"port": None}, "needs a port"),
        ({"health": None}, "whether it is well"),
        ({"health": '"health"'}, "path such as"),
        ({"health_status": "99"}, "100"),
        ({"app": '" a"'}, "spaces around it"),
        ({"mode": '"Persistent"'}, 'did you mean "persistent"'),
        ({"capacity": "0"}, "1"),
        ({"price": '"1 EUR / hour"'}, "USD alone"),
        ({"price": '"0 USD / hour"'}, "price of zero"),
        ({"metadata": f'"{"x" * 1025}"'}, "1024 bytes"),
        ({"register_by": '"runner"', "routing": '"label"'}, "never routes"),
        ({"routing": '"Label"'}, 'did you mean "label"'),
        ({"environment": '{ LP_CONFIG = "x" }'}, "LP_"),
        ({"secret_environment": '{ TOKEN = "hf_abc" }'}, "secrets do not belong"),
        ({"image": '"Echo:1"'}, "not a container image"),
        ({"host": '"nowhere"'}, 'no host "nowhere"'),
        ({"gpus": '["GPU-5a1bf3f1-7d4c-4f5e-9c02-0f3b2a8c6e11"]'}, "UUID"),
    ],
)
def test_runner_that_the_node_or_its_host_would_refuse_is_refused_here(given: dict[str, str], words: str) -> None:
    assert words in printed(renting(runner(**given)))


def test_names_of_runners_are_references_and_share_the_names_of_nodes() -> None:
    assert 'no runner "ecco"' in printed(renting(runners='["ecco"]'))
    assert 'did you mean "echo"' in printed(renting(runners='["ecco"]'))
    assert "name-used-twice" in printed(renting(runner("orch"), runners='["orch"]'))


def test_who_gives_a_gateway_what_only_others_have_is_told_whose_it_is() -> None:
    """Clients buy runners through a signer; a gateway has no way to."""
    buying = renting(tables=(gateway(orchestrators='["orch"]', buys_runners='["echo"]', runners='["echo"]'),))
    found = printed(buying, "unknown-key")
    assert "buys_runners is a key of remote_signers" in found
    assert "runners is a key of orchestrators" in found


def test_runner_with_a_url_has_nothing_that_only_a_process_has() -> None:
    text = renting(runner(host=None, image=None, port=None, url='"http://192.0.2.7:80"', gpus="[0]", memory='"1 GiB"'))
    assert "cannot use gpus and memory" in printed(text)


COUNTED = """
[classes.served.runners]
health = "/health"
capacity = 2

[defaults.runners]
price = "0.10 USD / hour"

[runners."echo-{1..3}"]
like = "served"
app = "example/echo"
url = "http://192.0.2.{}:8000"
"""


def test_classes_defaults_and_counters_work_for_runners() -> None:
    text = renting(COUNTED, runners='["echo-1", "echo-2", "echo-3"]')
    silent(text)
    (file,) = list_of(text)
    entries = json.loads(file)["runners"]
    assert [(one["label"], one["capacity"], one["runner_url"]) for one in entries] == [
        (f"echo-{number}", 2, f"http://192.0.2.{number}:8000") for number in (1, 2, 3)
    ]


# --- what other checks say of them -------------------------------------------------------------------


def test_port_of_a_runner_is_one_of_its_host() -> None:
    text = renting(runner(), runner("tiles"), runners='["echo", "tiles"]')
    found = flagged(text, "port-used-twice")
    assert "tiles (live runner API) and echo (live runner API) both use port 8989" in found
    assert "write port = 8990 in runners.tiles" in found
    administration = renting(host("box") + runner(host='"box"', port="7935"), host='"box"')
    assert "port-used-twice" in printed(administration)
    assert "port-used-twice" in printed(renting(runner(port="22")))


def test_gpu_that_its_host_does_not_have_is_refused() -> None:
    box = host("box", gpus='[{ model = "A100", memory = "40 GiB" }]')
    text = renting(box + runner(host='"box"', gpus="[1]", memory='"4 GiB"'))
    assert "runner echo uses GPU 1, but host box has only GPU 0" in flagged(text, "gpu-not-on-host")
    silent(renting(box + runner(host='"box"', gpus="[0]", memory='"4 GiB"')))


def test_image_by_a_moving_tag_is_a_warning() -> None:
    for image in ("registry.example.net/echo:latest", "registry.example.net/echo"):
        assert "image-not-pinned" in printed(renting(runner(image=f'"{image}"')))


def test_token_in_plain_text_is_refused_wherever_a_runner_has_it() -> None:
    token = "hf_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"
    for given in ({"arguments": f'["--token", "{token}"]'}, {"environment": f'{{ HF_TOKEN = "{token}" }}'}):
        found = flagged(renting(runner(**given)), "inline-secret")
        assert token not in found


def test_rate_is_needed_to_say_anything_about_money() -> None:
    assert "whether a signer can pay" in printed(renting(rates=False), "rate-missing")
    silent(renting())
    silent(offchain(free_orchestrator(mode='"ai"', secret=SECRET, runners='["echo"]'), runner()))


# --- who buys them -----------------------------------------------------------------------------------


def rows(text: str) -> list[tuple[str, ...]]:
    return [row.shown for row in plan(text).market.runners]


def test_table_says_what_a_runner_comes_to_and_who_buys_it() -> None:
    buyer = signer(max_price='"12000000000 wei / pixel"', remote_discovery="true", discovery='"registry"')
    poor = signer(
        "poor",
        wallet='"third"',
        max_price='"1000 wei / pixel"',
        remote_discovery="true",
        discovery='"registry"',
        http='"127.0.0.1:8946"',
        cli='"127.0.0.1:3936"',
    )
    text = renting(runner(capacity="4"), tables=(wallet(), buyer, poor))
    row = ("echo", "orch", "0.1 USD / hour", "11111111111 wei / second", "6 of 100 tickets", "0.4 USD")
    assert rows(text) == [(*row, "poor", "too expensive"), (*row, "signer", "buys while gas is below about 2.5 gwei")]
    page = "".join(file for path, file in files_of(text).items() if path.endswith("/README.md"))
    assert "| `echo` | `0.1 USD / hour` | `11111111111 wei / second` | `6 of 100 tickets` |" in page


def test_price_without_a_rate_is_never_called_fine() -> None:
    buyer = signer(remote_discovery="true", discovery='"registry"')
    ((*_, advance, earns, name, outcome),) = rows(renting(rates=False, tables=(buyer,)))
    assert (advance, earns, name) == ("", "0.1 USD", "signer")
    assert outcome.startswith("unknown")


def test_nobody_pays_in_advance_what_needs_too_many_tickets() -> None:
    buyer = signer(remote_discovery="true", discovery='"registry"')
    text = renting(runner(price='"3.50 USD / hour"'), ticket_ev=None, tables=(buyer,))
    assert "runner-price-unpayable" in printed(text)
    ((*_, advance, _earns, _name, outcome),) = rows(text)
    assert advance == "487 of 100 tickets"
    assert outcome.startswith("refused")


@pytest.mark.parametrize(
    ("funds", "told", "code"),
    [
        ('deposit = "0 ETH"\nreserve = "0.3 ETH"', "refused: the payer has no deposit", "gateway-funds-missing"),
        (
            'deposit = "0.5 ETH"\nreserve = "0.005 ETH"',
            "refused: the payer's reserve is too small for a ticket; buys while gas is below",
            "reserve-backs-no-ticket",
        ),
        (
            'deposit = "0.002 ETH"\nreserve = "0.3 ETH"',
            "refused: the payer's deposit is below one face value; buys while gas is below",
            "deposit-below-face-value",
        ),
    ],
)
def test_funds_of_the_signer_decide_as_those_of_a_gateway_do(funds: str, told: str, code: str) -> None:
    """A client's payment is a ticket like any other: with a face value, a deposit and a reserve behind it."""
    buyer = signer(buys_runners='["echo"]')
    text = renting(tables=(buyer,)).replace('deposit = "0.5 ETH"\nreserve = "0.3 ETH"', funds)
    assert funds in text
    ((*_, outcome),) = rows(text)
    assert outcome.startswith(told)
    assert code in printed(text)


def test_worth_of_one_ticket_is_compared_with_the_limit_of_the_signer() -> None:
    """The node rounds the chance of winning up, so as much as the limit is refused."""
    buyer = signer(buys_runners='["echo"]')
    refused = renting(ticket_ev='"3000 gwei"', tables=(buyer,))
    ((*_, outcome),) = rows(refused)
    assert outcome == "refused: ticket_ev is above what the payer allows for a ticket"
    assert "signer allows for a ticket" in flagged(refused, "ticket-value-above-limit")
    ((*_, outcome),) = rows(renting(ticket_ev='"2900 gwei"', tables=(buyer,)))
    assert outcome.startswith("buys while gas is below")


def test_signer_with_a_list_only_finds_what_is_on_it() -> None:
    buyer = signer(remote_discovery="true", orchestrators='["https://o.example.net:8935"]')
    assert [row[6] for row in rows(renting(tables=(buyer,)))] == [""]
    assert rows(offchain(free_orchestrator(mode='"ai"', secret=SECRET, runners='["echo"]'), runner())) == []


def test_spec_with_every_default_written_out_compiles_to_the_same_files(tmp_path: Path) -> None:
    itself = runner("itself", port="8990", register_by='"runner"', health=None)
    (tmp_path / "fleet.toml").write_text(renting(runner(), itself, runners='["echo", "itself"]'))
    shown = fleetc("check", "--resolved", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    before, after = (compile_text(text).tree for text in ((tmp_path / "fleet.toml").read_text(), shown.stdout))
    assert before is not None and after is not None
    files = [{a.path: a.content for a in tree.artifacts if a.path.startswith("hosts/")} for tree in (before, after)]
    assert files[0] == files[1]
