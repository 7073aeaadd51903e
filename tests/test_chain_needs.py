"""What a host asks the chain, by what the spec says."""

from __future__ import annotations

import pytest

from fleetc.blueprint.rollout import Need
from fleetc.upstream import NETWORKS
from tests.support import EXAMPLES, compile_text, compiled_example

SPEC = """
spec = 1

[fleet]
name = "aurora"
network = "arbitrum-one-mainnet"
rpc = { env = "RPC" }
node_release = "v0.9.1"

[hosts.edge]
address = "203.0.113.5"
public = "edge.example.net"
runtime = "systemd"

[wallets.payer]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = { host_file = "/etc/livepeer/password" }
minimum_balance = "0.05 ETH"
deposit = "2 ETH"
reserve = "1 ETH"

[wallets.earner]
address = "0x2222222222222222222222222222222222222222"
keystore = "/var/lib/livepeer/keystore"
password = { host_file = "/etc/livepeer/password" }
reward_by = "orch"

[gateways.gw]
host = "edge"
mode = "video"
wallet = "payer"
max_price = "2000 wei / pixel"
orchestrators = ["orch"]
http = "127.0.0.1:8937"

[orchestrators.orch]
host = "edge"
mode = "video"
wallet = "earner"
price = "1000 wei / pixel"
max_sessions = 4
"""


SECOND = """
[orchestrators.orch-2]
host = "edge"
mode = "video"
wallet = "earner"
price = "1000 wei / pixel"
max_sessions = 4
service = "edge.example.net:9035"
cli = "127.0.0.1:7936"
"""


def needs(text: str) -> dict[str, list[Need]]:
    plan = compile_text(text).blueprint
    assert plan is not None
    found: dict[str, list[Need]] = {}
    for host in plan.hosts:
        for need in host.needs:
            found.setdefault(need.kind, []).append(need)
    return found


def facts(need: Need) -> dict[str, str]:
    return dict(need.facts)


def test_address_is_asked_once_for_all_nodes() -> None:
    (need,) = needs(SPEC)["rpc"]
    assert need.nodes == ("gw", "orch") and need.subject == ""
    assert facts(need) == {
        "chain_id": "42161",
        "kind": "env",
        "rpc": "RPC",
        "variable": "LP_ETHURL",
        "controller": NETWORKS["arbitrum-one-mainnet"].controller,
    }


def test_address_without_a_secret_and_a_controller_of_its_own() -> None:
    own = "0x" + "33" * 20
    plain = f'rpc = "https://arb.example.net"\ncontroller = "{own}"'
    (need,) = needs(SPEC.replace('rpc = { env = "RPC" }', plain))["rpc"]
    assert need.subject == "https://arb.example.net"
    found = facts(need)
    assert (found["kind"], found["rpc"], found["controller"]) == ("", "https://arb.example.net", own)


def test_host_with_an_address_of_its_own_asks_there() -> None:
    host = '[hosts.far]\naddress = "203.0.113.6"\nruntime = "systemd"\nrpc = "http://127.0.0.1:8547"\n\n[wallets.payer]'
    gate = '[gateways.far-gw]\nhost = "far"\nmode = "video"\nwallet = "payer"\nmax_price = "2 USD / megapixel"\n'
    text = SPEC.replace("[wallets.payer]", host, 1).replace(
        'reserve = "1 ETH"', 'reserve = "1 ETH"\nreward_by = "none"'
    )
    text += gate
    here, there = sorted(needs(text)["rpc"], key=lambda need: need.nodes, reverse=True)
    assert (here.nodes, here.origin.paths, there.nodes, there.origin.paths) == (
        ("gw", "orch"), (("fleet", "rpc"),), ("far-gw",), (("hosts", "far", "rpc"),),
    )  # fmt: skip
    assert there.subject == "http://127.0.0.1:8547"
    assert (facts(there)["kind"], facts(there)["rpc"], facts(there)["variable"]) == ("", "http://127.0.0.1:8547", "")
    (feed,) = needs(text)["price-feed"]
    assert feed.origin.paths == (("hosts", "far", "rpc"),) and facts(feed)["rpc"] == "http://127.0.0.1:8547"
    wallets = {need.nodes: facts(need)["rpc"] for need in needs(text)["wallet"]}
    assert wallets["far-gw",] == "http://127.0.0.1:8547" and wallets["gw",] == "RPC"
    plan = compile_text(text).blueprint
    assert plan is not None
    given = {service.name: service for host in plan.hosts for service in host.services}
    urls = {one.name: (one.value, one.origin.paths) for one in given["far-gw"].variables}
    assert urls["LP_ETHURL"] == ("http://127.0.0.1:8547", (("hosts", "far", "rpc"),))
    assert "LP_ETHURL" not in {one.name for one in given["far-gw"].secrets}
    assert "LP_ETHURL" in {one.name for one in given["gw"].secrets}


def test_network_that_the_node_does_not_know_has_no_id() -> None:
    own = 'network = "devnet"\ncontroller = "0x' + "33" * 20 + '"'
    (need,) = needs(SPEC.replace('network = "arbitrum-one-mainnet"', own))["rpc"]
    assert facts(need)["chain_id"] == ""


def test_wallets_with_what_they_are_for() -> None:
    payer, earner = sorted(needs(SPEC)["wallet"], key=lambda need: need.subject)
    assert payer.words == "account with at least 0.05 ETH, a deposit of 2 ETH, a reserve of 1 ETH"
    found = facts(payer)
    assert (found["minimum"], found["pays"], found["sends"]) == (str(5 * 10**16), "yes", "")
    assert (found["deposit"], found["deposit_low"]) == (str(2 * 10**18), str(5 * 10**17))
    assert (found["reserve"], found["reserve_low"]) == (str(10**18), str(5 * 10**17))
    assert earner.words == ""
    found = facts(earner)
    assert (found["minimum"], found["pays"], found["sends"], found["deposit"]) == ("", "", "yes", "")
    low = needs(SPEC + '\n[monitoring]\ndeposit_low = "10%"\n')["wallet"]
    assert {facts(need)["deposit_low"] for need in low} == {"", str(2 * 10**17)}


def test_prices_in_another_currency_need_their_feed() -> None:
    assert "price-feed" not in needs(SPEC)
    dollars = SPEC.replace('"1000 wei / pixel"', '"0.41 USD / terapixel"')
    (need,) = needs(dollars)["price-feed"]
    assert need.subject == "0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612"
    assert facts(need)["currencies"] == "USD" and need.nodes == ("orch",)
    own = "0x" + "44" * 20
    (need,) = needs(dollars.replace("max_sessions = 4", f'max_sessions = 4\nprice_feed = "{own}"'))["price-feed"]
    assert need.subject == own


RUNNER = """
[rates]
USD = "0.0004 ETH"

[runners.echo]
app = "echo"
url = "http://192.0.2.7:8000"
health = "/health"
price = "0.10 USD / hour"
"""


def test_live_runner_needs_the_feed_because_the_node_has_its_price_in_dollars_alone() -> None:
    selling = SPEC.replace("max_sessions = 4", 'max_sessions = 4\nrunners = ["echo"]\nsecret = { env = "WORD" }')
    for price in ("0.10 USD / hour", "0.0001 ETH / hour"):
        (need,) = needs(selling + RUNNER.replace("0.10 USD / hour", price))["price-feed"]
        assert need.nodes == ("orch",)
        assert dict(need.facts)["currencies"] == "USD"


def test_registration_is_asked_of_the_account_that_counts() -> None:
    (need,) = needs(SPEC)["registration"]
    assert (need.subject, need.nodes) == ("0x" + "2" * 40, ("orch",))
    assert need.words.endswith("https://edge.example.net:8935 registered as its service address")
    found = facts(need)
    assert (found["controller"], found["registry"]) == (NETWORKS["arbitrum-one-mainnet"].controller, "")
    assert (found["chain_id"], found["rpc"]) == ("42161", "RPC")
    other = "0x" + "55" * 20
    named = SPEC.replace("max_sessions = 4", f'max_sessions = 4\norchestrator_address = "{other}"')
    (need,) = needs(named)["registration"]
    assert need.subject == other
    (need,) = needs(SPEC.replace("max_sessions = 4", "max_sessions = 4\nai_registry = true"))["registration"]
    assert facts(need)["registry"] == "0x04C0b249740175999E5BF5c9ac1dA92431EF34C5"


def test_registration_of_one_account_is_asked_once_a_host_and_registry() -> None:
    (need,) = needs(SPEC + SECOND)["registration"]
    assert need.nodes == ("orch", "orch-2")
    assert len(needs(SPEC + SECOND + "ai_registry = true\n")["registration"]) == 2


def test_orchestrator_asks_itself_unless_it_is_told_not_to() -> None:
    (need,) = needs(SPEC)["service-address"]
    assert (need.subject, facts(need)["port"]) == ("edge.example.net:8935", "8935")
    assert "service-address" not in needs(
        SPEC.replace("max_sessions = 4", "max_sessions = 4\navailability_check = false")
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_nodes_that_never_talk_to_a_chain_ask_nothing_of_it(name: str) -> None:
    plan = compiled_example(name).blueprint
    assert plan is not None
    for host in plan.hosts:
        kinds = ("rpc", "wallet", "price-feed", "registration")
        asked = {node for need in host.needs if need.kind in kinds for node in need.nodes}
        on_chain = {
            one.name
            for one in host.services
            if any(a.value != "offchain" for a in one.arguments if a.flag == "network")
        }
        assert asked == on_chain
