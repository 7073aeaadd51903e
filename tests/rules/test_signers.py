"""Borders of the rules about remote signers: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import OneRule, gateway, model, onchain, signer, silent

GATE = {"mode": '"ai"', "wallet": None, "max_price": None, "remote_signer": '{ signer = "signer" }'}
FINDING = signer(remote_discovery="true", http='"127.0.0.1:9000"')


def test_setting_belongs_to_signer(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Weights mean nothing there and the signer has none.
    gate = gateway(**GATE, selection='{ min_performance = "0.5" }', live='{ report_interval = "10 min" }')
    assert rule.errs(onchain(gate, FINDING)) == snapshot
    # Signer elsewhere has an operator of its own.
    url = '{ url = "http://signer.example.net:8935" }'
    gate = gateway(**{**GATE, "remote_signer": url, "tickets": '{ max_ev = "3000 gwei" }'})
    assert rule.errs(onchain(gate)) == snapshot


def fleet(url: str, host: str = "gpu", **settings: str) -> str:
    """A signer on host edge, and a gateway that names this address, with a list of its own."""
    own = {"mode": '"ai"', "wallet": None, "max_price": None, "orchestrators": '["orch.example.net:8935"]'}
    behind = gateway(host=f'"{host}"', http='"127.0.0.1:9000"', remote_signer=f'{{ url = "{url}" }}', **own)
    return onchain(behind, signer(**{"auth_webhook": '"https://auth.example.net/signer"', **settings}))


def test_signer_named_by_address(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # With https the gateway never starts.
    assert rule.errs(fleet("https://edge.example.net:8935", http='"0.0.0.0:8935"')) == snapshot
    # All addresses of a host are those of a signer that listens on all.
    for url in ["http://203.0.113.10:8935", "http://edge.example.net:8935"]:
        rule.warns(fleet(url, http='"0.0.0.0:8935"'))
    # Loopback is that of the own host.
    rule.warns(fleet("http://localhost:8935", host="edge"))
    rule.quiet(fleet("http://localhost:8935", host="gpu"))
    # A proxy in front of it and a signer elsewhere are fine.
    for url in ("https://edge.example.net", "http://10.20.0.1:8936", "http://signer.example.org:8935"):
        rule.quiet(fleet(url, http='"10.20.0.1:8935"'))


BEHIND = {"wallet": None, "max_price": None, "remote_signer": '{ signer = "signer" }'}
LIST = '["orch.example.net:8935"]'
SIGNER = signer(http='"127.0.0.1:9000"')


def test_signer_pays_live_ai_only() -> None:
    # Gateway for AI is what signers are for.
    silent(onchain(gateway(**BEHIND, mode='"ai"', orchestrators=LIST), SIGNER))
    silent(onchain(gateway()))


WITH_HEADERS = '{ signer = "signer", headers = { env = "HEADERS" } }'


def reached_at(http: str, remote: str = WITH_HEADERS, host: str = "gpu") -> str:
    """A signer on host edge, and a gateway behind it."""
    behind = gateway(mode='"ai"', wallet=None, max_price=None, host=f'"{host}"', http='"127.0.0.1:9000"')
    behind = behind.replace("[gateways.gate]", f"[gateways.gate]\nremote_signer = {remote}")
    found = signer(http=f'"{http}"', auth_webhook='"https://auth.example.net/signer"', remote_discovery="true")
    return onchain(behind, found)


def test_signer_secrets_readable(rule: OneRule) -> None:
    # Address that the internet reaches.
    for http in ["203.0.113.10:8935", "[2001:db8::1]:8935", "172.32.0.1:8935"]:
        rule.warns(reached_at(http))
    # Private network is fine.
    for http in ["10.20.0.1:8935", "100.64.1.1:8935", "192.168.1.1:8935", "172.31.0.1:8935", "[fd00::1]:8935"]:
        rule.quiet(reached_at(http))
    # The same host and a gateway without headers are fine.
    rule.quiet(reached_at("0.0.0.0:8935", host="edge"))
    rule.quiet(reached_at("0.0.0.0:8935", '{ signer = "signer" }'))


HEADERS = '{ env = "HEADERS" }'


def test_signer_setting_unused(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Cap for what no signer pays.
    cap = '{ text-to-image = "5000 wei / pixel" }'
    assert rule.warns(onchain(signer(max_model_prices=cap))) == snapshot
    by_model = onchain(model(), signer(max_model_prices='{ realvis = "5000 wei / pixel" }'))
    rule.warns(by_model, "a cap for text-to-image")
    # Webhook with headers and a cap for live video are fine.
    silent(onchain(signer(auth_webhook='"https://auth.example.net/signer"', auth_webhook_headers=HEADERS)))
    live = '{ live-video-to-video = "900 wei / pixel" }'
    rule.quiet(onchain(signer(max_model_prices=live)))


WEBHOOK = '"https://auth.example.net/signer"'


def asking(remote: str, release: str = "v0.9.1", **settings: str) -> str:
    """A signer that finds orchestrators, and a gateway behind it."""
    behind = gateway(mode='"ai"', wallet=None, max_price=None, remote_signer=remote)
    found = signer(**{"http": '"127.0.0.1:9000"', "remote_discovery": "true", **settings})
    return onchain(behind, found, node_release=f'"{release}"')


def test_signer_webhook_knows_nobody(rule: OneRule) -> None:
    silent(asking('{ signer = "signer", headers = { env = "HEADERS" } }', auth_webhook=WEBHOOK))
    silent(asking('{ signer = "signer" }'))
    # Release without such headers is not asked for them.
    rule.quiet(asking('{ signer = "signer" }', "v0.8.10", auth_webhook=WEBHOOK))


def test_signer_without_authentication(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Loopback or a webhook is fine.
    silent(onchain(signer()))
    silent(onchain(signer(http='"0.0.0.0:8935"', auth_webhook='"https://auth.example.net/signer"')))
    # Said aloud it is a warning.
    assert rule.warns(onchain(signer(http='"0.0.0.0:8935"', allow_no_auth="true"))) == snapshot
    # Older release starts all the same and is offered only what it has.
    open_signer = signer(http='"0.0.0.0:8935"')
    found = rule.warns(onchain(open_signer, node_release='"v0.8.11"'))
    assert "auth_webhook = " in found
    assert "allow_no_auth" not in found
    found = rule.warns(onchain(open_signer, node_release='"v0.8.10"'))
    assert "webhook" not in found
    assert 'http = "127.0.0.1:8935"' in found
