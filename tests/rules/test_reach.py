"""Borders of the rules about addresses, ports and who finds whom: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    SECRET,
    OneRule,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    host,
    model,
    offchain,
    onchain,
    orchestrator,
    redeemer,
    reward_caller,
    signer,
    silent,
    transcoder,
    wallet,
)


def test_chain_settings_missing(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # All there is fine.
    silent(onchain(gateway(), orchestrator()))
    # Orchestrator without a wallet.
    assert rule.errs(onchain(orchestrator(wallet=None))) == snapshot
    # Only wallet is proposed.
    chain = {"network": '"arbitrum-one-mainnet"', "rpc": '{ env = "RPC" }'}
    rule.errs(offchain(wallet("w"), gateway(wallet=None), **chain), 'write wallet = "w"\n')
    # Remote signer holds the wallet.
    signed = '{ url = "https://signer.example.net" }'
    silent(onchain(gateway(wallet=None, max_price=None, mode='"ai"', remote_signer=signed)))
    # Addresses of hosts are enough where all have one.
    far = host("far", rpc='"http://127.0.0.1:8547"')
    silent(onchain(far, gateway(host='"far"'), rpc=None))
    rule.errs(
        onchain(far, gateway(host='"far"'), gateway("other"), rpc=None),
        "runs on arbitrum-one-mainnet but has no RPC address for host edge",
    )
    # Fleet of workers needs no RPC.
    worker = '[transcoders.t]\nhost = "gpu"\norchestrator = "orch.example.net:8935"\nsecret = { env = "S" }\n'
    silent(onchain(worker, rpc=None))
    # Helpers need both too.
    found = rule.errs(onchain(signer(wallet=None), redeemer(wallet=None), reward_caller(wallet=None), rpc=None))
    assert all(f"{name} runs on" in found for name in ("signer", "redeemer", "caller"))
    assert "no RPC address" in found


def test_cli_exposed(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    rule.errs(onchain(orchestrator(cli='"0.0.0.0:7935"')), "transfer its funds and change its prices")
    # Loopback is fine.
    for listener in ["127.0.0.1:7000", "127.8.8.8:7000", "[::1]:7000", "localhost:7000"]:
        silent(onchain(orchestrator(cli=f'"{listener}"')))
    # Said aloud it is a warning.
    text = onchain(gateway(cli='"10.0.0.1:5935"', cli_exposed="true"))
    assert rule.warns(text) == snapshot
    # Worker holds no funds.
    worker = transcoder(orchestrator='"x.example.net:8935"', secret='{ env = "S" }', cli='"[::]:6935"')
    rule.errs(offchain(worker), "read its state")


AI = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "secret": SECRET}
EARNER = '"0x2222222222222222222222222222222222222222"'


def _blocking(**settings: str | None) -> str:
    gate = {"orchestrators": '["orch"]', "selection": f"{{ blocked = [{EARNER}] }}", **settings}
    return onchain(gateway(**gate), orchestrator())


def test_gateway_finds_no_service(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # One that serves it is enough.
    silent(offchain(model(), free_orchestrator(**AI), free_gateway(mode='"ai"')))
    # Video gateway with AI orchestrators.
    rule.errs(offchain(model(), free_orchestrator(**AI), free_gateway()), "serves video")
    # Dual gateway needs both.
    rule.errs(offchain(free_orchestrator(), free_gateway(mode='"dual"')), "serves AI")
    pair = [free_orchestrator(), free_orchestrator("ai", **AI, service='"orch.example.net:9000"', cli='"127.0.0.1:1"')]
    silent(offchain(model(), *pair, free_gateway(mode='"dual"', orchestrators='["orch", "ai"]')))
    # Orchestrators outside may serve it.
    listed = '["orch", "other.example.net:8935"]'
    silent(offchain(free_orchestrator(), free_gateway(mode='"ai"', orchestrators=listed)))
    # A gateway that blocks all whom it lists.
    assert rule.errs(_blocking()) == snapshot
    silent(_blocking(selection=None))  # as the help says
    # One that is blocked and one that is too old.
    old = orchestrator("old", node_release='"v0.9.0"', wallet='"third"', service='"orch.example.net:9000"',
                       cli='"127.0.0.1:1"', max_sessions="1")  # fmt: skip
    gate = gateway(orchestrators='["orch", "old"]', selection=f'{{ blocked = [{EARNER}], min_release = "v0.9.1" }}')
    rule.errs(
        onchain(wallet(), gate, orchestrator(max_sessions="1"), old),
        "orch: the gateway blocks its account",
        "old: it runs an older release than the gateway accepts",
    )
    # Lists of a signer count for its gateways.
    signed = gateway(mode='"ai"', wallet=None, max_price=None, remote_signer='{ signer = "signer" }')
    signer = f"""
[remote_signers.signer]
host = "edge"
wallet = "payer"
http = "127.0.0.1:8936"
max_price = "any"
remote_discovery = true
orchestrators = ["orch"]
selection = {{ blocked = [{EARNER}] }}
"""
    live = {"pipeline": '"live-video-to-video"', "id": '"streamdiffusion"'}
    seller = orchestrator(mode='"ai"', models='[{ use = "realvis" }]', gpus="[0]", secret=SECRET)
    rule.errs(onchain(model(**live), signed, signer, seller), f"remove {EARNER} from blocked in selection of signer")
    # The node compares the account of the process, not the one that it acts for.
    other = '"0x4444444444444444444444444444444444444444"'
    silent(onchain(gateway(orchestrators='["orch"]', selection=f"{{ blocked = [{other}] }}"),
                   orchestrator(orchestrator_address=other)))  # fmt: skip


AI_GATE = {"mode": '"ai"', "discovery": '"ai-registry"'}
OPEN = {"http": '"0.0.0.0:1937"', "http_ingest": "true"}
HOOK = '"https://hook.example.net/auth"'


def test_gateway_pays_for_strangers(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Open gateway names each port and its help removes the message.
    found = rule.warns(onchain(gateway(rtmp='"0.0.0.0:1936"', **OPEN)))
    assert found == snapshot
    advice = 'write http = "127.0.0.1:1937" and rtmp = "127.0.0.1:1936" and put a proxy in front'
    assert advice in found
    silent(onchain(gateway(http='"127.0.0.1:1937"', http_ingest="true", rtmp='"127.0.0.1:1936"')))
    # Siblings of the open gateway.
    for settings, ports in [
        ({"rtmp": '"[::]:1936"'}, ":::1936 (RTMP)"),  # nothing admits streams
        (
            AI_GATE | OPEN | {"auth_webhook": HOOK},
            "0.0.0.0:1937 (HTTP)",
        ),  # a webhook admits streams, not requests
        (AI_GATE | OPEN | {"live": f"{{ auth_webhook = {HOOK} }}"}, "0.0.0.0:1937 (HTTP)"),
        (AI_GATE | {"environment": '{ LIVE_AI_WHIP_ADDR = ":7280" }'}, "0.0.0.0:7280 (WHIP)"),
    ]:
        rule.warns(onchain(gateway(**settings)), ports)
    # Nothing to say.
    for text in [
        onchain(gateway(**OPEN, rtmp='"0.0.0.0:1936"', auth_webhook=HOOK)),
        onchain(gateway(**OPEN | {"http": '"10.0.0.7:1937"'})),
        offchain(free_gateway(**OPEN), free_orchestrator()),
    ]:
        silent(text)


def _fleet(discovery: str, gate: str, orch: str, **settings: str | None) -> str:
    models = None if orch == "video" else '[{ use = "realvis", warm = true }]'
    gpus = None if orch == "video" else "[0]"
    seller = orchestrator(mode=f'"{orch}"', models=models, gpus=gpus, secret=SECRET, max_sessions="4", **settings)
    buyer = gateway(mode=f'"{gate}"', discovery=f'"{discovery}"', max_price='"any"')
    return onchain(*([] if orch == "video" else [model()]), buyer, seller)


def test_gateway_searches_other_registry(rule: OneRule) -> None:
    # An AI gateway and a dual orchestrator.
    rule.warns(_fleet("ai-registry", "ai", "dual"))
    silent(_fleet("ai-registry", "ai", "dual", ai_registry="true"))
    silent(_fleet("ai-registry", "ai", "ai"))
    # The other way round.
    rule.warns(
        _fleet("registry", "dual", "ai"),
        "searches the main registry",
        'write ai_registry = false for the orchestrators, discovery = "ai-registry" for the gateway',
    )
    silent(_fleet("registry", "dual", "dual"))
    # An AI gateway searches the AI registry whatever it says.
    found = rule.warns(_fleet("registry", "ai", "dual"))
    assert "for the gateway" not in found
    # One kind of work that is found is enough.
    silent(_fleet("registry", "dual", "video"))


def test_gateway_without_orchestrators(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # List is fine.
    silent(offchain(free_orchestrator(), free_gateway()))
    # Registry does not exist.
    text = offchain(free_gateway(orchestrators=None, discovery='"registry"'))
    assert rule.errs(text) == snapshot
    # Every mode needs somebody.
    for mode in ["video", "ai", "dual"]:
        rule.errs(offchain(free_gateway(orchestrators=None, mode=f'"{mode}"')))
    # Webhook is fine.
    silent(offchain(free_gateway(orchestrators=None, discovery='{ webhook = { env = "HOOK" } }')))
    # AI gateway.
    assert rule.errs(onchain(gateway(mode='"ai"'))) == snapshot
    # Dual gateway is a warning.
    rule.warns(onchain(gateway(mode='"dual"')))
    # Gateway on a chain that finds some.
    for settings in [
        {},
        {"mode": '"ai"', "discovery": '"ai-registry"'},
        {"mode": '"ai"', "orchestrators": '["orch.example.net:8935"]'},
    ]:
        silent(onchain(gateway(**settings)))


GATE = gateway(
    wallet=None,
    max_price=None,
    mode='"ai"',
    http='"127.0.0.1:9935"',
    orchestrators='["orch.example.net:8935"]',
    remote_signer='{ signer = "signer" }',
)
SIGNER_HOOK = '"https://auth.example.net/signer"'


def test_helper_out_of_reach(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    rule.errs(onchain(GATE, signer(host='"gpu"')), "gate on host edge cannot reach signer")
    # Redeemer on another host.
    orch = orchestrator(redeemer='"redeemer"')
    assert rule.errs(onchain(orch, redeemer(wallet='"payer"'))) == snapshot
    # One host is fine.
    silent(onchain(GATE, signer()))
    # Listener that others reach is fine.
    for http in ('"0.0.0.0:8935"', '"203.0.113.20:8935"'):
        text = onchain(GATE, signer(host='"gpu"', http=http, auth_webhook=SIGNER_HOOK))
        rule.quiet(text)
    silent(onchain(orchestrator(redeemer='"redeemer"'), redeemer(wallet='"payer"', http='"0.0.0.0:8935"')))


def test_host_address_shared(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Two machines are fine.
    silent(offchain(host("other")))
    # Machines behind one address differ by SSH port.
    silent(offchain(host("other", address='"203.0.113.10"', ssh_port="2222")))
    # Spelling of an IPv6 address does not hide it.
    one = host("a", address='"2001:db8::1"')
    rule.errs(offchain(one, host("b", address='"2001:DB8:0:0::1"')))
    # Two machines with one name.
    text = offchain(free_orchestrator(), host("gpu-2", public='"orch.example.net"'))
    assert rule.warns(text) == snapshot
    silent(offchain(free_orchestrator(), host("gpu-2", public='"orch-2.example.net"')))


PUBLIC = '"0.0.0.0:8935"'


def rest(text: str) -> None:
    """AI endpoints are there, and another rule warns that nothing admits their requests."""
    assert "http-ingest-switched-off" not in flagged(text, "gateway-pays-for-strangers", Severity.WARNING)


def test_http_ingest_switched_off(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Said aloud it is fine.
    rest(onchain(gateway(http=PUBLIC, http_ingest="true", **AI_GATE)))
    # Webhook that admits streams is fine.
    rest(onchain(gateway(http=PUBLIC, auth_webhook='"https://hook.example.net/auth"', **AI_GATE)))
    # Loopback is fine.
    silent(onchain(gateway(**AI_GATE)))
    # Video still comes over RTMP.
    rule.warns(onchain(gateway(http=PUBLIC)), "RTMP stays")
    silent(onchain(gateway(http=PUBLIC, http_ingest="false")))
    # Ingest that the spec switches off.
    assert rule.errs(onchain(gateway(http_ingest="false", **AI_GATE))) == snapshot


def test_network_on_layer_1(rule: OneRule) -> None:
    # Layer 2.
    for network in ["arbitrum-one-mainnet", "arbitrum-one-rinkeby"]:
        silent(onchain(gateway(orchestrators='["orch"]'), orchestrator(), network=f'"{network}"'))
    # A test chain that is gone.
    rule.warns(onchain(gateway(), network='"rinkeby"'))
    # A controller of its own.
    silent(onchain(gateway(), network='"mainnet"', controller='"0x4444444444444444444444444444444444444444"'))


def test_node_needs_a_chain(rule: OneRule) -> None:
    # Other helpers off chain.
    for node in [redeemer(wallet=None), reward_caller(wallet=None)]:
        rule.errs(offchain(node))
    # Helpers on a chain are fine.
    for node in [signer(), redeemer(), reward_caller()]:
        silent(onchain(node))


BOX = host("box", address='"203.0.113.40"', public='"orch-2.example.net"')
SECOND = free_orchestrator("orch-2", host='"box"')


def test_orchestrator_not_listed(rule: OneRule) -> None:
    # It is listed by name or address or by another orchestrator.
    address = '["https://orch-2.example.net:8935"]'
    for lists, instances in (('["orch", "orch-2"]', None), (f'["orch", {address[1:]}', None), ('["orch"]', address)):
        text = offchain(BOX, free_gateway(orchestrators=lists), free_orchestrator(instances=instances), SECOND)
        rule.quiet(text)
    # There is no gateway here, or a webhook tells one whom to use.
    rule.quiet(offchain(BOX, free_orchestrator(), SECOND))
    webhook = free_gateway(orchestrators=None, discovery='{ webhook = { env = "LIST" } }')
    rule.quiet(offchain(BOX, webhook, free_orchestrator(), SECOND))
    # A chain has a registry.
    rule.quiet(onchain(orchestrator()))


def test_rpc_not_https(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Open connection to another machine.
    for address in ["ws://rpc.example.org", "http://198.18.0.5:8545", "ws://[2001:db8::1]:8546"]:
        rule.errs(onchain(gateway(), rpc=f'"{address}"'), "write the https:// address")
    # Own node in a private network is warned of.
    for address in ["http://10.0.0.5:8547", "http://192.168.1.9", "ws://[fc00::1]:8546"]:
        rule.warns(onchain(gateway(), rpc=f'"{address}"'), "all in that network can read and change it")
    # Encrypted connection is fine.
    silent(onchain(gateway(), rpc='"https://arb1.example.org/rpc"'))
    # A websocket is not the documented way.
    assert rule.warns(onchain(gateway(), rpc='"wss://arb1.example.org/rpc"')) == snapshot
    rule.warns(onchain(gateway(), rpc='"ws://localhost:8546"'), "write the http:// address")
    # Own node on the same machine is fine.
    for address in ["http://127.0.0.1:8545", "http://[::1]", "http://127.8.0.1"]:
        silent(onchain(gateway(), rpc=f'"{address}"'))
    # Address of a host is looked at too.
    far = host("far", rpc='"http://rpc.example.org"')
    rule.errs(onchain(far, gateway(host='"far"')), "write the https:// address")
    # Reference is fine.
    silent(onchain(gateway(), rpc='{ vault = "rpc" }'))
    # Off chain nobody calls it.
    silent(offchain(rpc='"http://rpc.example.org"'))


def test_rpc_not_layer_2(rule: OneRule) -> None:
    # Layer 2 and unknown addresses are fine.
    for url in [
        "https://arb-mainnet.provider.example/v2",
        "https://arb1.arbitrum.io/rpc",
        "https://rpc.example.org",
    ]:
        silent(onchain(gateway(), rpc=f'"{url}"'))
    # Layer 1 network takes layer 1.
    text = onchain(gateway(), network='"mainnet"', rpc='"https://eth-mainnet.provider.example/v2"')
    rule.quiet(text)
    # Key in the address is not printed.
    key = "AAAAAAAAAAAAb1C2d3E4f5G6h7I8j9K0"
    assert key not in rule.errs(onchain(gateway(), rpc=f'"https://eth-mainnet.provider.example/v2/{key}"'))


def _with_rtmp(**gate: str | None) -> str:
    orch = free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]', gpus="[0]", max_sessions="4")
    return offchain(model(), orch, free_gateway(http='"127.0.0.1:8935"', **gate))


def test_rtmp_on_ai_gateway() -> None:
    # A port on loopback is fine.
    silent(_with_rtmp(mode='"ai"', rtmp='"127.0.0.1:2935"'))
    silent(_with_rtmp(mode='"dual"', rtmp='"0.0.0.0:1935"'))


def test_service_address_missing(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Neither node nor host has one.
    assert rule.errs(offchain(host("bare"), free_orchestrator(host='"bare"'))) == snapshot
    # Address of the host is enough.
    silent(offchain(free_orchestrator()))
    # Address without a port.
    assert rule.errs(offchain(free_orchestrator(service='"orch.example.net"'))) == snapshot
    # Address with a port is fine.
    silent(offchain(host("bare"), free_orchestrator(host='"bare"', service='"bare.example.net:8935"')))
    # The node starts without a port where its listener is stated.
    orch = free_orchestrator(service='"https://orch.example.net"', http='"0.0.0.0:8935"')
    text = offchain(orch, free_gateway())
    assert rule.warns(text) == snapshot
    # Plain HTTP keeps its scheme in the advice.
    orch = free_orchestrator(service='"http://orch.example.net"')
    rule.errs(offchain(orch), 'write service = "http://orch.example.net:8935"')


def _two(*tables: str, first: str | None = None, **second: str | None) -> str:
    return onchain(BOX, orchestrator(instances=first), orchestrator("orch-2", host='"box"', **second), *tables)


LISTED = gateway(orchestrators='["orch"]')


def test_service_address_not_registered(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # An advertised instance is fine.
    rule.quiet(_two(first='["https://orch-2.example.net:8935"]'))
    # One that a gateway lists is fine.
    rule.quiet(_two(gateway(orchestrators='["orch", "orch-2"]')))
    rule.quiet(_two(gateway(orchestrators='["orch", "https://orch-2.example.net:8935"]')))
    # An account for each is fine.
    rule.quiet(_two(wallet(), wallet='"third"'))
    # The registered account counts.
    account = '"0x4444444444444444444444444444444444444444"'
    rule.warns(onchain(BOX, wallet(), orchestrator(orchestrator_address=account),
                orchestrator("orch-2", host='"box"', wallet='"third"', orchestrator_address=account)))  # fmt: skip
    # The others are listed, so one address would do: if it is its own.
    assert rule.warns(_two(LISTED)) == snapshot
    # The one that advertises the others is the registered one.
    third = orchestrator("orch-3", host='"box"', service='"orch-3.example.net:9035"', cli='"127.0.0.1:7936"')
    rule.quiet(_two(LISTED, third, instances='["https://orch-3.example.net:9035"]'))
    # An orchestrator does not name itself.
    rule.warns(_two(LISTED, instances='["https://orch-2.example.net:8935"]'))
    # A webhook may name it.
    webhook = gateway("other", discovery='{ webhook = { env = "LIST" } }', cli='"127.0.0.1:5936"')
    rule.quiet(_two(LISTED, webhook))


OTHER_BOX = host("box", address='"203.0.113.40"', public='"box.example.net"')


def test_service_address_of_another_host(rule: OneRule) -> None:
    # Address of another host.
    rule.warns(onchain(OTHER_BOX, orchestrator(service='"203.0.113.40:8935"')), "host box")
    # Own name and names of no host are fine.
    for name in ["orch.example.net", "elsewhere.example.net", "203.0.113.77"]:
        rule.quiet(onchain(OTHER_BOX, orchestrator(service=f'"{name}:8935"')))
    # A name that two hosts share is its own too.
    twin = host("twin", address='"203.0.113.41"', public='"orch.example.net"')
    rule.quiet(onchain(twin, orchestrator(service='"orch.example.net:8935"')))


CONTROLLER = '"0x4444444444444444444444444444444444444444"'


def test_service_address_unreachable(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Public name is fine.
    silent(onchain(orchestrator(service='"orch.example.net:8935"')))
    # Private addresses mean nothing on a chain.
    for where in ["127.0.0.1", "10.1.2.3", "[::1]", "[fc00::1]", "orch.internal", "localhost"]:
        rule.errs(onchain(orchestrator(service=f'"{where}:8935"')), "a public network")
    # A name of one label may be known to those who need it.
    text = onchain(orchestrator(service='"orch:8935"', http='"0.0.0.0:8935"'))
    assert rule.warns(text) == snapshot
    silent(offchain(free_orchestrator(service='"orch:8935"')))
    # Private address of the host is one too.
    text = onchain(host("lan", public='"192.168.1.5"'), orchestrator(host='"lan"'))
    rule.errs(text, 'public = "192.168.1.5"')
    # Private address off chain is fine.
    silent(offchain(free_orchestrator(service='"10.1.2.3:8935"'), free_gateway()))
    # Loopback with a gateway elsewhere.
    text = offchain(free_orchestrator(service='"127.0.0.1:8935"'), free_gateway())
    assert rule.errs(text) == snapshot
    # Loopback with all on one host is fine.
    near = free_gateway(host='"gpu"', http='"127.0.0.1:9935"')
    silent(offchain(free_orchestrator(service='"localhost:8935"'), near))
    # Worker elsewhere needs a real address too.
    far = transcoder(host='"edge"')
    rule.errs(offchain(free_orchestrator(service='"127.0.0.1:8935"', secret=SECRET), far), "worker runs on host edge")
    # Wildcard is wrong whatever the spelling.
    rule.errs(offchain(free_orchestrator(service='"http://[::]:8935"')))
    # Private address on a network of one's own is fine.
    for where in ["10.1.2.3", "orch.internal", "127.0.0.1"]:
        silent(onchain(orchestrator(service=f'"{where}:8935"'), network='"devnet"', controller=CONTROLLER))
    # Wildcard and far loopback are wrong on a network of one's own.
    devnet = {"network": '"devnet"', "controller": CONTROLLER}
    rule.errs(onchain(orchestrator(service='"0.0.0.0:8935"'), **devnet), "all addresses")
    far = transcoder(host='"edge"', secret=SECRET)
    text = onchain(orchestrator(service='"127.0.0.1:8935"', secret=SECRET), far, **devnet)
    rule.errs(text, "worker runs on host edge")


def _named(name: str) -> str:
    return onchain(orchestrator(service=f'"{name}:8935"'))


def test_service_name_mistyped(rule: OneRule) -> None:
    # Each kind of slip.
    for name in ["orhc.example.net", "orch.exmple.net", "oorch.example.net", "orch.example.nett"]:
        rule.warns(_named(name))
    # Another name is fine.
    for name in [
        "orch.example.net",
        "ORCH.example.net",
        "node.example.net",
        "orch-2.example.net",
        "orch1.example.net",
        "203.0.113.20",
        "orchxy.example.net",
    ]:
        rule.quiet(_named(name))
    # The name of another host is fine.
    box = host("box", address='"203.0.113.40"', public='"orcs.example.net"')
    rule.quiet(onchain(box, orchestrator(service='"orcs.example.net:8935"')))
