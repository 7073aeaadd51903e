"""What lowering decides for helpers, ladders, lists in flags and extra flags, read by the second model of the node."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fleetc import lower
from fleetc.blueprint.blueprint import Blueprint, Service
from fleetc.blueprint.listeners import Listening
from fleetc.emit.artifacts import json_document
from fleetc.language.fleet import Fleet
from fleetc.language.spec import read_fleet
from fleetc.toml.document import Source, read_document
from tests import node
from tests.rules.support import (
    SECRET,
    ai_worker,
    avatars,
    free_gateway,
    free_orchestrator,
    gateway,
    host,
    offchain,
    onchain,
    orchestrator,
    printed,
    redeemer,
    reward_caller,
    signer,
    wallet,
)
from tests.rules.support import model as model_table
from tests.support import files_of

LADDER = """
[ladders.small]
profiles = [
  { name = "720p", width = 1280, height = 720, bitrate = 3000000, gop = "2.0", profile = "H264High", quality = 0 },
  { name = "360p", width = 640, height = 360, bitrate = 700000, fps = 30000, fpsDen = 1001, encoder = "VP9" },
]
"""


def fleet(text: str) -> Fleet:
    document, found = read_document([Source("fleet.toml", text)])
    assert document is not None, found
    parsed, found = read_fleet(document)
    assert parsed is not None, found
    return parsed


def plan(text: str) -> Blueprint:
    return lower.lower(fleet(text))


def service(text: str, name: str) -> Service:
    return next(s for h in plan(text).hosts for s in h.services if s.name == name)


def ports_of(text: str, name: str) -> tuple[Listening, ...]:
    return next(h.ports_of(s) for h in plan(text).hosts for s in h.services if s.name == name)


def flags(found: Service) -> dict[str, str]:
    return {argument.flag: argument.value for argument in found.arguments}


def content(found: Service, name: str) -> Any:
    return next(file.content for file in found.files if file.name == name)


def settings(found: Service) -> node.Settings:
    """What the node would read, with a word for each secret."""
    env = {"HOME": "/root"} | {v.name: v.value for v in found.variables} | {s.name: "word" for s in found.secrets}
    files = {f"{found.directory}/{file.name}": json_document(file.content) for file in found.files}
    return node.read([argument.text for argument in found.arguments], env, files)


def refused(text: str) -> str:
    document, _ = read_document([Source("fleet.toml", text)])
    assert document is not None
    parsed, found = read_fleet(document)
    assert parsed is None
    return "\n".join(f"{d.code}: {d.message} {d.help}" for d in found)


@pytest.mark.parametrize(
    ("text", "name", "role"),
    [
        (onchain(signer()), "signer", "remote-signer"),
        (onchain(redeemer(orchestrator_address='"0x' + "2" * 40 + '"')), "redeemer", "redeemer"),
        (onchain(reward_caller()), "caller", "reward"),
    ],
)
def test_helpers_start_as_what_they_are_and_listen_on_loopback(text: str, name: str, role: str) -> None:
    found = service(text, name)
    meant = node.understand(settings(found))
    assert node.broken_rules(settings(found)) == ()
    assert node.notes(settings(found)) == ()
    assert meant.role == role
    ports = ports_of(text, name)
    assert all(port.address == "127.0.0.1" for port in ports)
    assert flags(found)["cliAddr"].startswith("127.0.0.1:")
    assert len({port.port for port in ports}) == len(ports)


def test_ports_of_administration_differ_by_role() -> None:
    parts = [signer(), redeemer(http='"127.0.0.1:9000"'), reward_caller(), gateway(http='"127.0.0.1:9935"')]
    (found,) = [h for h in plan(onchain(*parts)).hosts if h.name == "edge"]
    taken = [(one.address, one.port) for one in found.listeners]
    assert len(set(taken)) == len(taken)


def test_reward_caller_calls_when_nobody_else_is_named_and_only_then() -> None:
    assert flags(service(onchain(reward_caller()), "caller"))["reward"] == "true"
    named = wallet(reward_by='"caller"'), orchestrator(wallet='"third"'), reward_caller(wallet='"third"')
    assert flags(service(onchain(*named), "caller"))["reward"] == "true"
    assert flags(service(onchain(*named), "orch"))["reward"] == "false"
    other = wallet(reward_by='"orch"'), orchestrator(wallet='"third"'), reward_caller(wallet='"third"')
    assert flags(service(onchain(*other), "caller"))["reward"] == "false"


@pytest.mark.parametrize(
    ("where", "address"),
    [
        ({}, "http://127.0.0.1:8935"),
        ({"http": '"0.0.0.0:8000"'}, "http://127.0.0.1:8000"),
        ({"http": '"0.0.0.0:8000"', "host": '"gpu"'}, "http://orch.example.net:8000"),
        ({"http": '"10.0.0.7:8000"', "host": '"gpu"'}, "http://10.0.0.7:8000"),
        ({"http": '"0.0.0.0:8000"', "host": '"bare"'}, "http://203.0.113.30:8000"),
    ],
)
def test_gateway_calls_a_signer_where_it_listens(where: dict[str, str], address: str) -> None:
    gate = gateway(
        wallet=None, max_price=None, remote_signer='{ signer = "signer" }', orchestrators='["a.example.net:8935"]'
    )
    found = service(onchain(host("bare"), gate, signer(**where)), "gate")
    assert flags(found)["remoteSignerUrl"] == address


def test_orchestrator_uses_a_redeemer_of_the_fleet_or_an_address() -> None:
    parts = orchestrator(redeemer='"redeemer"'), redeemer(host='"gpu"', http='"127.0.0.1:9000"')
    assert flags(service(onchain(*parts), "orch"))["redeemerAddr"] == "127.0.0.1:9000"
    outside = onchain(orchestrator(redeemer='"redeem.example.net:8935"'))
    assert flags(service(outside, "orch"))["redeemerAddr"] == "redeem.example.net:8935"
    assert "unknown-reference: there is no redeemer" in refused(onchain(orchestrator(redeemer='"redemer"')))


def test_connections_to_helpers_are_edges() -> None:
    gate = gateway(wallet=None, max_price=None, remote_signer='{ signer = "signer" }', orchestrators='["orch"]')
    found = plan(onchain(gate, signer(), orchestrator(redeemer='"redeemer"'), redeemer(host='"gpu"'))).edges
    assert {("gate", "signer", "signs"), ("orch", "redeemer", "redeems")} <= set(found)


def test_signer_passes_on_its_caps_and_where_it_looks() -> None:
    text = onchain(
        model_table(),
        signer(
            remote_discovery="true",
            orchestrators='["a.example.net:8935"]',
            max_price='"0.41 USD / terapixel"',
            max_model_prices='{ realvis = "9000 wei / pixel" }',
            selection='{ extra_nodes = 2, timeout = "700 ms" }',
            tickets='{ max_ev = "3000 gwei" }',
            auth_webhook='{ env = "HOOK" }',
            auth_webhook_headers='{ env = "HEADERS" }',
        ),
    )
    found = service(text, "signer")
    assert flags(found)["maxPricePerUnit"] == "0.41USD"
    assert flags(found)["pixelsPerUnit"] == "1000000000000"
    assert flags(found)["extraNodes"] == "2"
    assert {s.name for s in found.secrets} >= {"LP_REMOTESIGNERWEBHOOKURL", "LP_REMOTESIGNERWEBHOOKHEADERS"}
    assert content(found, "prices.json")["capabilities_prices"][0]["price_per_unit"] == 9000


def test_signer_that_finds_nobody_has_no_use_for_a_list() -> None:
    assert "remote_discovery = true" in refused(onchain(signer(orchestrators='["a.example.net:8935"]')))


def test_gateway_names_one_signer() -> None:
    both = '{ signer = "signer", url = "https://s.example.net" }'
    assert "exactly one of signer and url" in refused(onchain(gateway(remote_signer=both), signer()))
    assert "unknown-reference" in refused(onchain(gateway(remote_signer='{ signer = "sgner" }'), signer()))


def test_ladder_becomes_the_file_that_the_node_reads() -> None:
    found = service(offchain(LADDER, free_gateway(ladder='"small"'), free_orchestrator()), "gate")
    assert flags(found)["transcodingOptions"] == f"{found.directory}/transcoding.json"
    assert content(found, "transcoding.json") == [
        {
            "name": "720p",
            "width": 1280,
            "height": 720,
            "bitrate": 3000000,
            "fps": 0,
            "gop": "2",
            "profile": "H264High",
        },
        {
            "name": "360p",
            "width": 640,
            "height": 360,
            "bitrate": 700000,
            "fps": 30000,
            "fpsDen": 1001,
            "encoder": "VP9",
        },
    ]
    assert node.broken_rules(settings(found)) == ()
    assert len(str(node.understand(settings(found)).values["transcodingOptions"])) > 100
    assert any(mount.path.endswith("/transcoding.json") and mount.read_only for mount in found.mounts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"720p"', '"source"'), "which means the stream itself"),
        (('"360p"', '"720p"'), "two renditions are named"),
        (('"2.0"', '"2s"'), "seconds as text"),
        (("1280", "12"), "write width from 146 to 4096"),
        (("3000000", "3000000000"), "does not fit 32 bits"),
        (('"H264High"', '"High"'), "H264High"),
        (('"VP9"', '"AV1"'), "VP9"),
        (("720,", "true,"), "whole number"),
    ],
)
def test_renditions_are_what_the_node_can_make(change: tuple[str, str], message: str) -> None:
    assert message in printed(offchain(LADDER.replace(*change, 1), free_gateway(ladder='"small"'), free_orchestrator()))


def test_gateway_has_a_ladder_or_a_list_of_renditions() -> None:
    both = free_gateway(ladder='"small"', renditions='["P360p30fps16x9"]')
    assert "two-lists-of-renditions" in refused(offchain(LADDER, both, free_orchestrator()))
    assert "unknown-reference" in refused(offchain(LADDER, free_gateway(ladder='"big"'), free_orchestrator()))


def test_lowest_runner_versions_are_inline_json() -> None:
    gate = free_gateway(min_runner_versions='{ realvis = "0.14.1" }')
    found = service(offchain(model_table(), gate, free_orchestrator()), "gate")
    assert json.loads(flags(found)["aiMinRunnerVersion"]) == [
        {"model_id": "SG161222/RealVisXL_V4.0_Lightning", "pipeline": "text-to-image", "minVersion": "0.14.1"}
    ]
    assert "not a runner version" in refused(
        offchain(model_table(), free_gateway(min_runner_versions='{ realvis = "latest" }'))
    )


def test_price_of_a_model_for_one_gateway_is_an_entry_of_its_own() -> None:
    models = (
        '[{ use = "realvis", gateway_prices = { gate = "0.5 wei / pixel", "0x' + "5" * 40 + '" = "7 wei / pixel" } }]'
    )
    orch = orchestrator(mode='"ai"', models=models, secret=SECRET)
    found = service(onchain(gateway(mode='"ai"'), orch, ai_worker(), model_table()), "orch")
    entries = content(found, "aiModels.json")
    assert [entry.get("gateway") for entry in entries] == [None, "0x" + "5" * 40, "0x" + "1" * 40]
    assert "warm" not in entries[1]
    assert '"price_per_unit": 0.5,' in json_document(entries)
    assert node.broken_rules(settings(found)) == ()


def test_extra_flags_stand_on_the_command_line_as_go_reads_them() -> None:
    gate = free_gateway(extra_flags='{ liveAICapRefreshModels = "noop" }')
    found = service(offchain(gate, free_orchestrator(), node_release='"v0.8.9"'), "gate")
    assert flags(found)["liveAICapRefreshModels"] == "noop"
    assert [
        lower.common.extra_text(kind, value)
        for kind, value in (("bool", True), ("int", 5), ("duration", "90 s"), ("float", "0.5"), ("string", "x y"))
    ] == ["true", "5", "1m30s", "0.5", "x y"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (free_gateway(kafka='{ broker = "a:9092,b:9092", topic = "t" }'), "one broker"),
        (free_gateway(live='{ report_interval = "0 s" }'), "interval of zero"),
        (free_orchestrator(netint='["0,1"]'), "single device"),
        (free_orchestrator(instances='["http://b.example.net:8935"]'), "https"),
        (free_orchestrator(instances='["https://b.example.net"]'), "use 443"),
        (free_orchestrator(live_runner_proxy='"https://runner.example.net"'), "exactly once"),
        (free_orchestrator(live_runner_proxy='"{proxy}"'), "https://{proxy}.example.net"),
        (free_orchestrator(live_runner_proxy='"https://r.example.net/run-{proxy}"'), "last part of the path"),
        (free_orchestrator(live_runner_proxy='"https://r.example.net/{proxy}/app"'), "last part of the path"),
        (free_orchestrator(live_runner_proxy='"https://r.example.net/run?to={proxy}"'), "last part of the path"),
        (free_gateway(extra_flags="{ v = 1.5 }"), '"0.5"'),
    ],
)
def test_values_that_the_node_misreads_are_refused(text: str, message: str) -> None:
    assert message in refused(offchain(text))


@pytest.mark.parametrize(
    "template",
    ["https://{proxy}.example.net:8443", "http://a-{proxy}.example.net/app", "https://r.example.net/r/{proxy}/"],
)
def test_template_for_live_runners_is_one_that_the_node_takes(template: str) -> None:
    text = offchain(free_orchestrator(live_runner_proxy=f'"{template}"', live_runners="true", secret=SECRET))
    found = service(text, "orch")
    assert flags(found)["liveRunnerProxyUrl"] == template
    assert node.broken_rules(settings(found)) == ()


def test_helpers_are_in_the_whole_tree_on_both_runtimes() -> None:
    gate = gateway(
        wallet=None,
        max_price=None,
        http='"127.0.0.1:9935"',
        remote_signer='{ signer = "signer" }',
        orchestrators='["orch"]',
        ladder='"small"',
    )
    orch = orchestrator(redeemer='"redeemer"', cli='"127.0.0.1:7936"', wallet='"third"')
    helpers = redeemer(host='"gpu"', http='"127.0.0.1:9000"', wallet='"third"'), reward_caller(wallet='"third"')
    text = onchain(LADDER, wallet(reward_by='"caller"', minimum_balance='"0.05 ETH"'), gate, signer(), orch, *helpers)
    files = files_of(text)
    assert "remoteSigner=true" in files["hosts/edge/signer/compose.yaml"]
    assert "-redeemer=true" in files["hosts/gpu/redeemer/livepeer-redeemer.service"]
    assert "-reward=true" in files["hosts/edge/caller/launch.flags"]
    assert json.loads(files["hosts/edge/gate/transcoding.json"])[0]["bitrate"] == 3000000
    for words in ("remote-signer", "reward-caller", "has tickets signed by", "redeemed by"):
        assert words in files["FLEET.md"]
    assert "| ticket redemption |" in files["hosts/gpu/README.md"].replace("`", "")


def test_a_service_address_without_a_port_stays_without_one() -> None:
    orch = free_orchestrator(service='"https://orch.example.net"', http='"0.0.0.0:8935"')
    text = offchain(orch, free_gateway())
    assert flags(service(text, "orch"))["serviceAddr"] == "orch.example.net"
    assert flags(service(text, "gate"))["orchAddr"] == "https://orch.example.net"


UUIDS = "GPU-8a56a4bc-e184-4b6e-bb5e-c4d1b6b1b5f4", "GPU-1f0c7d52-93a8-4c1e-8a4e-2f6f0b7d9c31"


def _with_uuids(*tables: str, **fleet: str) -> str:
    gpus = ", ".join(f'{{ model = "RTX A4000", memory = "16 GiB", uuid = "{uuid}" }}' for uuid in UUIDS)
    return offchain(host("box", gpus=f"[{gpus}]", public='"box.example.net"'), *tables, **fleet)


def test_a_gpu_may_be_named_by_its_uuid_and_the_node_gets_its_id() -> None:
    orch = free_orchestrator(host='"box"', gpus=f'["{UUIDS[1]}"]', max_sessions="2")
    assert flags(service(_with_uuids(orch), "orch"))["nvidia"] == "1"
    stack = avatars(
        host='"box"', gpu=f'"{UUIDS[1]}"', slots=f'[{{ avatar = "mira" }}, {{ avatar = "noor", gpu = "{UUIDS[0]}" }}]'
    )
    text = _with_uuids(stack, avatar_release='"v1.3.6"')
    (avatar,) = (h.avatar for h in plan(text).hosts if h.avatar is not None)
    assert [slot.gpu for slot in avatar.slots] == ["1", "0"]


def test_the_preflight_gets_the_uuid_of_each_gpu_in_the_order_of_the_node() -> None:
    text = _with_uuids(free_orchestrator(host='"box"', gpus="[1, 0]", max_sessions="2"))
    facts = next(dict(need.facts) for one in plan(text).hosts for need in one.needs if need.kind == "gpus")
    assert (facts["gpus"], facts["uuids"]) == ("1 0", f"{UUIDS[1]} {UUIDS[0]}")


def test_a_uuid_that_the_host_does_not_list_is_refused() -> None:
    unknown = UUIDS[0].replace("8a", "8b")
    found = printed(_with_uuids(free_orchestrator(host='"box"', gpus=f'[0, "{unknown}"]')))
    assert f'there is no GPU of host box with the UUID "{unknown}"' in found and "unknown-reference" in found
    assert "this is not a list of GPUs" in printed(_with_uuids(free_orchestrator(host='"box"', gpus='["GPU-1"]')))


def test_a_node_is_hardened_unless_it_has_gpus_or_says_otherwise() -> None:
    assert service(offchain(free_orchestrator()), "orch").hardened
    assert not service(offchain(free_orchestrator(hardened="false")), "orch").hardened
    orch = free_orchestrator(host='"box"', gpus=f'["{UUIDS[1]}"]', max_sessions="2")
    assert not service(_with_uuids(orch), "orch").hardened


def test_prices_are_told_with_their_unit_and_whom_they_are_for() -> None:
    caps = '{ realvis = "0.5 USD / pixel", llm = "0.41 USD / terapixel" }'
    special = '{ gate = "7 wei / 10 pixels" }'
    text = onchain(
        model_table(),
        gateway(mode='"dual"', max_price='"any"', max_model_prices=caps),
        orchestrator(
            mode='"dual"',
            price='"0.5 wei / pixel"',
            gateway_prices=special,
            models='[{ use = "realvis", price = "4768371 wei / pixel", gateway_prices = { gate = "1 wei / pixel" } }]',
        ),
    )
    account = "0x1111111111111111111111111111111111111111"
    realvis = "text-to-image SG161222/RealVisXL_V4.0_Lightning"
    assert [line[:3] for line in service(text, "gate").prices] == [
        (True, "base price", "any price"),
        (True, "llm default", "0.41 USD / 1000000000000 pixels"),
        (True, realvis, "0.5 USD / pixel"),
    ]
    assert [line[:3] for line in service(text, "orch").prices] == [
        (False, "base price", "0.5 wei / pixel"),
        (False, realvis, "4768371 wei / pixel"),
        (False, f"{realvis} gateway {account}", "1 wei / pixel"),
        (False, f"gateway {account}", "7 wei / 10 pixels"),
    ]
