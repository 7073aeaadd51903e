"""Planted drifts: each change of what a healthy fleet answers is found, at its place, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from fleetc.blueprint.out import out_of, running
from fleetc.messages.explain import pages
from fleetc.online.public import UrlAnswer
from fleetc.rollout.hosts.events import Event
from fleetc.rollout.verify import judge
from fleetc.rollout.verify.data import Back
from tests.rollout.verify.healthy import ETH, Json, World
from tests.support import compile_text, compiled_example, example_text, for_each

Change = Callable[[World], object]
Expected = tuple[str, str, str]


class Planted(NamedTuple):
    """A change of what a fleet answers, and the kind, code and place of each finding."""

    fleet: str
    change: Change
    expected: tuple[Expected, ...]


def dual(change: Change, *expected: Expected) -> Planted:
    return Planted("dual-onchain", change, expected)


def regions(change: Change, *expected: Expected) -> Planted:
    return Planted("two-regions", change, expected)


def split(change: Change, *expected: Expected) -> Planted:
    return Planted("ai-split", change, expected)


def stage(change: Change, *expected: Expected) -> Planted:
    return Planted("avatar-stage", change, expected)


def drift(code: str, place: str) -> Expected:
    return "drift", code, place


def warning(code: str, place: str) -> Expected:
    return "warning", code, place


def unknown(code: str, place: str) -> Expected:
    return "unknown", code, place


def both(*changes: Change) -> Change:
    return lambda world: [change(world) for change in changes]


def metrics(*series: str) -> str:
    return "".join(f'livepeer_{name}{{node_id="x"}} {value}\n' for name, value in (one.split("=") for one in series))


def finding(world: World, host: str, code: str, message: str, severity: str = "error", node: str = "") -> None:
    world.hosts[host]["findings"].append({"code": code, "message": message, "node": node, "severity": severity})


def unreachable(world: World, host: str) -> None:
    world.hosts[host] = {}
    words = "Failed to connect to the host via ssh: connect to host 203.0.113.20 port 22: No route to host"
    world.failures.append(Event("unreachable", host, "Ask", words))


def down(world: World, node: str) -> None:
    world.process(node)["running"] = False
    world.step(node, "start", "it does not run")


def drifted(world: World, node: str, words: str) -> None:
    world.process(node)["drift"].append(words)
    world.step(node, "restart", words)


def of_before(world: World, node: str, **said: object) -> None:
    """Have a node and its host say that it runs an older release with another price; the node may say one more."""
    (service,) = (one for own in world.services.values() for one in own if one["name"] == node)
    service["live"] = [one.replace("pricePerUnit=1200", "pricePerUnit=1100") for one in service["live"]]
    world.step(node, "restart", "its files change (pricePerUnit=1200), and a container keeps its values")
    world.change(node, "/status", **(said or {"BroadcasterPrices": {"default": "1100"}}))


def registered(world: World, node: str, uri: str) -> None:
    world.change(node, "/orchestratorInfo", Transcoder={"ServiceURI": uri, "Active": True})


def on_chain(world: World, node: str, **said: object) -> None:
    """Have the chain say something else of an orchestrator; without anything, its host says nothing of it."""
    for host in world.hosts.values():
        for one in [one for one in host["registrations"] if one["nodes"] == [node]]:
            host["registrations"].remove(one)
            host["registrations"] += [{"nodes": [node], **said}] if said else []


def seen(world: World) -> list[Json]:
    """What the gateway gate sees: somebody cheap with a model, and the orchestrator orch."""
    (name,) = world.ids("gate", "/getNetworkCapabilities")
    entries: list[Json] = world.answers[name][1]["orchestrators"]
    return entries


DEAR = {
    "pricePerUnit": 5_000_001,
    "pixelsPerUnit": 1,
    "capability": 27,
    "constraint": "SG161222/RealVisXL_V4.0_Lightning",
}
"""A price of a model, one wei above the cap of gate."""


def market(world: World, *entries: object) -> None:
    world.change("gate", "/getNetworkCapabilities", orchestrators=list(entries))


def silent(world: World, *urls: str, status: int = 0) -> None:
    for name in (one for one in world.answers if one.endswith(urls)):
        world.answers[name] = (status, "" if status else "Connection refused")


def reserve(world: World, amount: object) -> None:
    world.change("gate", "/senderInfo", Reserve={"FundsRemaining": amount})


def public(world: World, url: str, answer: UrlAnswer) -> None:
    assert url in world.public
    world.public[url] = answer


ORCH, GATE, PAYER = "orchestrators.orch", "gateways.gate", "wallets.payer"
EARNER = "0x2222222222222222222222222222222222222222"

PLANTED = {
    # What a node says of itself.
    "a release that is no text": dual(
        lambda w: w.change("gate", "/status", Version=["0.9.1"]), drift("node-unhealthy", GATE)
    ),
    "unwell": dual(lambda w: w.say("orch", "/healthz", "", 503), drift("node-unhealthy", ORCH)),
    "status is a list": dual(lambda w: w.say("orch", "/status", []), unknown("not-answered", ORCH)),
    # What was set while it runs.
    "sessions": dual(
        lambda w: w.say("orch", "/metrics", metrics("max_sessions_total=11")),
        drift("set-at-run-time", f"{ORCH}.max_sessions"),
    ),
    "no metrics": dual(lambda w: w.say("orch", "/metrics", "404 page not found", 404), unknown("not-answered", ORCH)),
    "price by a hair": dual(
        lambda w: w.change("orch", "/status", BroadcasterPrices={"default": "2399/2"}),
        drift("set-at-run-time", f"{ORCH}.price"),
    ),
    "no cap": dual(
        lambda w: w.change("gate", "/getBroadcastConfig", MaxPrice=None), drift("set-at-run-time", f"{GATE}.max_price")
    ),
    "cap where any price is right": regions(
        lambda w: w.change("eu-images", "/getBroadcastConfig", MaxPrice="1"),
        drift("set-at-run-time", "gateways.eu-images.max_price"),
    ),
    "log level": dual(lambda w: w.say("gate", "/getLogLevel", "3"), drift("set-at-run-time", f"{GATE}.verbosity")),
    "log level of a default": dual(lambda w: w.say("orch", "/getLogLevel", "6"), drift("set-at-run-time", ORCH)),
    "log level of a worker": split(
        lambda w: w.say("w-1", "/getLogLevel", "6"), drift("set-at-run-time", "ai_workers.w-1")
    ),
    "lowest gas price": dual(lambda w: w.say("gate", "/minGasPrice", "5"), drift("set-at-run-time", GATE)),
    "price for one gateway": regions(
        lambda w: w.change(
            "eu-video-1", "/status",
            BroadcasterPrices={"default": "1200", "0x1111111111111111111111111111111111111111": "1150"},
        ),
        drift("set-at-run-time", "orchestrators.eu-video-1.gateway_prices.eu-live"),
    ),
    # Its account and the chain.
    "another account": dual(
        lambda w: w.say("gate", "/ethAddr", "0x" + "9" * 40), drift("other-account", f"{GATE}.wallet")
    ),
    "no account": dual(lambda w: w.say("orch", "/ethAddr", ""), drift("other-account", f"{ORCH}.wallet")),
    "account is not told": dual(
        lambda w: w.say("orch", "/ethAddr", "missing ETH client", 500), unknown("not-answered", ORCH)
    ),
    "another chain": dual(lambda w: w.say("orch", "/EthChainID", "1"), drift("other-chain", "fleet.network")),
    "little deposit": dual(
        lambda w: w.change("gate", "/senderInfo", Deposit=ETH // 100), warning("deposit-low", PAYER)
    ),
    "no reserve": dual(lambda w: reserve(w, 0), warning("reserve-low", PAYER)),
    "a deposit that is no number": dual(
        lambda w: w.change("gate", "/senderInfo", Deposit=True), unknown("not-answered", GATE)
    ),
    "a deposit that is withdrawn": dual(
        lambda w: w.change("gate", "/senderInfo", WithdrawRound=4321), warning("deposit-unlocking", PAYER)
    ),
    "a registered address that another account has": regions(
        lambda w: registered(w, "eu-video-1", "https://eu-ai.example.net:8935"),
        drift("other-service-address", "hosts.eu-gpu-1.public"),
    ),
    "another registered address, as chain and node say": dual(
        both(
            lambda w: on_chain(w, "orch", active=True, address="https://203.0.113.99:8935"),
            lambda w: registered(w, "orch", "https://203.0.113.98:8935"),
        ),
        drift("other-service-address", "hosts.gpu.public"),
    ),
    "another address and not active": dual(
        lambda w: on_chain(w, "orch", active=False, address="https://orch.example.net"),
        drift("other-service-address", "hosts.gpu.public"), warning("orchestrator-inactive", ORCH),
    ),
    "active without an address, as the node says": dual(
        lambda w: registered(w, "orch", ""), drift("other-service-address", "hosts.gpu.public")
    ),
    "not active, and its node does not run": dual(
        both(
            lambda w: on_chain(w, "orch", active=False, address=""), lambda w: down(w, "orch"),
        ),
        drift("node-not-running", ORCH), warning("orchestrator-inactive", ORCH),
    ),
    "a registration in other words": dual(
        lambda w: on_chain(w, "orch", active="yes", address=None), unknown("rpc-answers", ORCH)
    ),
    "a host that says nothing of a registration": dual(
        lambda w: on_chain(w, "orch"), unknown("rpc-answers", ORCH)
    ),
    "an RPC address that says nothing": dual(
        both(
            lambda w: on_chain(w, "orch"),
            lambda w: finding(w, "gpu", "rpc-answers", "the RPC address does not answer", node="orch"),
        ),
        unknown("rpc-answers", ORCH),
    ),
    "not told how it is registered": dual(
        lambda w: w.change("orch", "/orchestratorInfo", Transcoder=None), unknown("not-answered", ORCH)
    ),
    # Those it works with.
    "finds nobody": dual(
        lambda w: w.change("gate", "/status", OrchestratorPool=[]), drift("gateway-finds-nobody", GATE)
    ),
    "does not say whom it knows": dual(
        lambda w: w.change("gate", "/status", OrchestratorPool=None), unknown("not-answered", GATE)
    ),
    "does not know an orchestrator": regions(
        lambda w: w.change("eu-live", "/status", OrchestratorPool=["https://eu-gpu-1.example.net:8935", 7]),
        drift("orchestrator-not-known", "gateways.eu-live.orchestrators"),
        drift("orchestrator-not-known", "gateways.eu-live.orchestrators"),
    ),
    "pays less than is asked": regions(
        lambda w: w.change("eu-live", "/getBroadcastConfig", MaxPrice="1250"),
        drift("price-above-cap-now", "gateways.eu-live"),
        drift("set-at-run-time", "gateways.eu-live.max_price"),
    ),
    "asks more than is paid": regions(
        lambda w: w.change("us-video-2", "/status", BroadcasterPrices={"default": "1400.5"}, PricePerUnit="2801/2"),
        drift("price-above-cap-now", "gateways.us-live"),
        drift("set-at-run-time", "orchestrators.us-video-2.price"),
    ),
    # The market that gateways see.
    "nobody sells video at the cap": dual(
        lambda w: market(w, *({**one, "price_info": {"pricePerUnit": 2401, "pixelsPerUnit": 1}} for one in seen(w))),
        warning("nobody-sells-at-cap", "gateways.gate.max_price"),
        warning("orchestrator-seen-otherwise", ORCH),
    ),
    "nobody offers a model with a cap": dual(
        lambda w: market(w, *({**one, "capabilities_prices": [DEAR]} for one in seen(w))),
        warning("nobody-sells-at-cap", "gateways.gate.max_model_prices.realvis"),
    ),
    "a transcoder is not connected": split(
        lambda w: w.change("orch", "/status", RegisteredTranscodersNumber=1), drift("worker-not-connected", ORCH)
    ),
    "nobody says how many transcoders are": split(
        lambda w: w.change("orch", "/status", RegisteredTranscodersNumber=None), unknown("not-answered", ORCH)
    ),
    "payments fail": dual(
        lambda w: w.say("gate", "/metrics", metrics("max_sessions_total=10", "payment_create_errors=3")),
        warning("payments-failing", GATE),
    ),
    "a warm runner is silent": dual(
        lambda w: silent(w, ":8000/health", ":8001/health"), drift("runner-silent", f"{ORCH}.models")
    ),
    "a warm runner is unwell": split(
        lambda w: silent(w, ":8600/health", status=500), drift("runner-silent", "ai_workers.w-2.models")
    ),
    "a runner without a GPU": dual(
        lambda w: w.say("orch", "/hardware/stats", {"gpu_stats": {}}), drift("runner-without-gpu", f"{ORCH}.gpus")
    ),
    # What its host says.
    "nobody knows whether it runs": dual(
        lambda w: w.process("gate").update(running=None), unknown("runtime-silent", GATE)
    ),
    "two changes by hand": dual(
        both(
            lambda w: drifted(w, "orch", "its unit was changed"),
            lambda w: drifted(w, "orch", "its process has other arguments"),
        ),
        drift("changed-on-host", ORCH), drift("changed-on-host", ORCH),
    ),
    "two other variables, and one that an argument overrides": dual(
        lambda w: w.hosts["gpu"]["settings"].extend(
            {"node": "orch", "variable": name, "overridden": name == "LP_REWARD"}
            for name in ("LP_REWARD", "HTTPS_PROXY", "no_proxy")
        ),
        drift("other-setting", ORCH),
    ),
    "a second node with an account of the fleet, and one of somebody else": dual(
        lambda w: w.hosts["gpu"].update(strangers=[
            {"what": "the process livepeer 7", "account": account, "reward": True}
            for account in (EARNER, "0x" + "9" * 40)
        ]),
        drift("second-node", "wallets.earner"),
    ),
    "a price that neither release has": dual(
        lambda w: of_before(w, "orch", BroadcasterPrices={"default": "999"}),
        drift("other-release", ORCH), drift("set-at-run-time", f"{ORCH}.price"),
    ),
    "another release of the host": dual(
        lambda w: w.hosts["gpu"]["steps"].append({"do": "copy", "node": "", "reason": ""}),
        drift("other-release", "hosts.gpu"),
    ),
    "a node that the spec does not have": dual(
        lambda w: w.hosts["gpu"]["steps"].append(
            {"do": "retire", "node": "old", "reason": "it has no place here any more"}
        ),
        drift("node-not-in-spec", "hosts.gpu"),
    ),
    "a host that says nothing of a node": dual(lambda w: w.hosts["gpu"]["steps"].clear(), unknown("host-silent", ORCH)),
    "a host of another fleet": dual(
        lambda w: w.hosts["gpu"]["state"].update(fleet="theirs"), drift("other-host", "hosts.gpu")
    ),
    "a quarantine": dual(
        lambda w: w.hosts["gpu"]["state"].update(quarantine="orch ended"), drift("host-quarantined", "hosts.gpu")
    ),
    "an open switch": dual(
        lambda w: w.hosts["gpu"]["state"].update(switch={"phase": "starting"}), drift("switch-open", "hosts.gpu")
    ),
    "a host out of reach": dual(lambda w: unreachable(w, "gpu"), unknown("host-unreachable", "hosts.gpu")),
    # What the chain says to the host.
    "too little in a wallet": dual(
        lambda w: finding(w, "gpu", "wallet-balance-low", f"{EARNER} has 0.01 ETH", "warning", "orch"),
        warning("wallet-balance-low", "wallets.earner"),
    ),
    "nothing in a wallet": dual(
        lambda w: finding(w, "gpu", "wallet-empty", f"{EARNER} has no ether"), drift("wallet-empty", "wallets.earner")
    ),
    "a deposit that host and node see": dual(
        both(
            lambda w: finding(
                w, "edge", "deposit-low", "0x1111111111111111111111111111111111111111 has no deposit", "warning"
            ),
            lambda w: w.change("gate", "/senderInfo", Deposit=0),
        ),
        warning("deposit-low", PAYER),
    ),
    "a silent chain": dual(
        lambda w: finding(w, "edge", "rpc-answers", "the RPC address does not answer", node="gate"),
        unknown("rpc-answers", GATE),
    ),
    "an RPC address of another chain": dual(
        lambda w: finding(w, "edge", "rpc-of-this-chain", "it serves chain 1", node="gate"),
        drift("rpc-of-this-chain", GATE),
    ),
    "a price feed that does not answer": dual(
        lambda w: finding(w, "edge", "price-feed-answers", "no price feed answers"),
        unknown("price-feed-answers", "hosts.edge"),
    ),
    # An avatar stack.
    "a container that ended": stage(
        lambda w: w.process("avatar/slot-03").update(ill=["game of vtuber-vega is exited"]),
        drift("node-unhealthy", "avatars.back"),
    ),
    "a GPU less": stage(
        lambda w: w.say("avatars", "/meta/gpu", {"ok": True, "gpus": [{}]}), drift("gpus-missing", "hosts.stage-1.gpus")
    ),
    "an image that was not verified": stage(
        lambda w: w.say("avatars", "/meta", {"verify_last": {"ok": False, "ran_at": "2026-11-28T10:00:00Z"}}),
        drift("image-not-verified", "avatars.front"),
    ),
    "a verification without a result": stage(
        lambda w: w.say("avatars", "/meta", {"verify_last": {"ok": None}}), unknown("not-answered", "avatars.front")
    ),
    "a full GPU": stage(
        lambda w: w.say(
            "avatars", "/meta/gpu/stats", {"gpus": [{"memory": {"used_mib": 86, "total_mib": 100}}, {"memory": "?"}]}
        ),
        warning("gpu-memory-full", "avatars.front"),
    ),
    "a slot that is not there": stage(
        lambda w: w.say("avatars", "/power/projects/vtuber-mira", {"detail": "unknown"}, 404),
        drift("slot-missing", "avatars.front"),
    ),
    "a slot that answers HTML": stage(
        lambda w: w.say("avatars", "/power/projects/vtuber-vega", "<html>", 200),
        unknown("not-answered", "avatars.back"),
    ),
    "a slot that was made again in another way": stage(
        lambda w: w.process("avatar/slot-03").update(drift=["unreal-game of vtuber-vega publishes 7780"]),
        drift("changed-on-host", "avatars.back"),
    ),
    "a slot that the spec does not have": stage(
        lambda w: finding(w, "stage-1", "slot-not-in-spec", "vtuber-new is a slot", "warning", "avatar/host"),
        warning("slot-not-in-spec", "avatars.front"),
    ),
    "a service of a stack that does not run": stage(
        lambda w: w.step("avatar/slot-03", "start", "it does not run"), drift("node-not-running", "avatars.back")
    ),
    "a checkout that is elsewhere": stage(
        lambda w: w.hosts["stage-1"]["state"]["processes"][2]["drift"].append("its checkout is not at v1.3.6"),
        drift("changed-on-host", "avatars.front"),
    ),
    # What public addresses say.
    "a service address that is refused": dual(
        lambda w: public(w, "https://orch.example.net:8935/healthz", UrlAnswer(0, reason="it refuses", refused=True)),
        drift("service-address-silent", "hosts.gpu.public"),
    ),
    "a service address of somebody else": dual(
        lambda w: public(w, "https://orch.example.net:8935/healthz", UrlAnswer(404)),
        drift("service-address-silent", "hosts.gpu.public"),
    ),
    "a service address that is not reached from here": dual(
        lambda w: public(w, "https://orch.example.net:8935/healthz", UrlAnswer(0, reason="no way there")),
        unknown("not-answered", "hosts.gpu.public"),
    ),
    "an administration that anybody reaches": dual(
        lambda w: public(w, "http://gateway.example.net:5935/status", UrlAnswer(200)),
        drift("port-exposed", GATE),
    ),
    "something at the place of an administration": dual(
        lambda w: public(w, "http://gateway.example.net:5935/status", UrlAnswer(0, "silent", connected=True)),
        unknown("port-exposed", GATE),
    ),
}  # fmt: skip

CASES = [(name, planted, documented) for name, planted in PLANTED.items() for documented in (False, True)]


@for_each(("name", "planted", "documented"), CASES)
def test_planted_drift_is_found_and_nothing_else(name: str, planted: Planted, documented: bool) -> None:
    world = World(compiled_example(planted.fleet), documented)
    planted.change(world)
    assert world.found() == sorted(planted.expected)


def test_slot_that_is_awake_against_the_spec_is_named_as_nothing_watches_it() -> None:
    text = example_text("avatar-stage").replace("game_command = false }", "game_command = false, asleep = true }")
    world = World(compile_text(text))
    assert world.found() == [warning("slot-awake", "avatars.back.slots.3.asleep")]
    world.say("avatars", "/power/projects/vtuber-vega", {"state": "sleeping"})
    assert world.found() == []


def test_checks_ask_what_hosts_ask_and_their_codes_have_pages() -> None:
    texts = {path.name: path.read_text("utf-8") for path in Path(judge.__file__).parent.rglob("*.py")}
    paths = {path for text in texts.values() for path in re.findall(r'"/[A-Za-z][A-Za-z/]*"', text)}
    unasked = sorted(path for path in paths if path not in texts["questions.py"])
    assert unasked == [], "no host asks these: add them to compiler/fleetc/rollout/verify/questions.py"
    kinds = re.compile(r'(?:drift|warning|unknown)",\s*"(\w+-[\w-]+)"')
    codes = {code for text in texts.values() for code in kinds.findall(text)}
    assert codes - set(pages()) == set(), "give these codes pages in compiler/fleetc/messages/pages/running.py"


@pytest.mark.parametrize("release", ["a" * 64, "c" * 64], ids=["of the rollback", "of somebody else since"])
def test_rollback_of_the_journal_is_named_while_its_release_runs(release: str) -> None:
    """Nobody is blamed for what a rollback did; but a host that runs a third release was changed by somebody."""
    world = World(compiled_example("dual-onchain"))
    of_before(world, "orch")
    found = world.judged(gpu=Back("2026-01-31T09:06:00Z", "ci on runner", release)).findings
    told = [(one.message, one.help) for one in found]
    assert [one.code for one in found] == ["other-release"]
    if release == "a" * 64:
        words = (
            "gpu: rolled back to aaaaaaaaaaaa at 2026-01-31T09:06:00Z by ci on runner, so orch runs with other files"
        )
        assert told[0][0].startswith(words)
        assert {advice for _, advice in told} == {
            "revert the spec to what was rolled back to, or deploy the tree to bring its release back"
        }
    else:
        assert not any("rolled back" in message for message, _ in told)
    assert "somebody set it" not in str(told)


OUT = "until 2027-01-31: new power supply"


def out_of_service() -> World:
    """Two regions, of which a host with an orchestrator is out of service and does not answer."""
    whole = compiled_example("two-regions")
    text = example_text("two-regions").replace(
        "[hosts.us-gpu-1]\n", '[hosts.us-gpu-1]\nout = { until = 2027-01-31, reason = "new power supply" }\n'
    )
    assert text != example_text("two-regions") and whole.tree is not None
    compiled = compile_text(text)
    assert compiled.blueprint is not None, compiled.checked.diagnostics
    assert out_of(compiled.blueprint) == {"us-gpu-1": OUT}
    return World(replace(compiled, blueprint=running(compiled.blueprint)))


def test_nothing_is_missed_of_what_is_out_of_service() -> None:
    world = out_of_service()
    assert world.found() == []
    world.failures.append(Event("unreachable", "us-gpu-1", "Ask", "no route"))
    world.hosts["us-gpu-1"] = None
    assert world.found() == [], "it may be switched off"
