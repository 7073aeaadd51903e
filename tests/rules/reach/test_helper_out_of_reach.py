"""Signers and redeemers on the loopback of another host."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import checked, flagged, gateway, onchain, orchestrator, redeemer, signer, silent

CODE = "helper-out-of-reach"
GATE = gateway(
    wallet=None,
    max_price=None,
    mode='"ai"',
    http='"127.0.0.1:9935"',
    orchestrators='["orch.example.net:8935"]',
    remote_signer='{ signer = "signer" }',
)
HOOK = '"https://auth.example.net/signer"'


def test_signer_on_another_host(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(GATE, signer(host='"gpu"')), CODE) == snapshot


def test_redeemer_on_another_host(snapshot: SnapshotAssertion) -> None:
    orch = orchestrator(redeemer='"redeemer"')
    assert flagged(onchain(orch, redeemer(wallet='"payer"')), CODE) == snapshot


def test_one_host_is_fine() -> None:
    silent(onchain(GATE, signer()))


def test_listener_that_others_reach_is_fine() -> None:
    for http in ('"0.0.0.0:8935"', '"203.0.113.20:8935"'):
        text = onchain(GATE, signer(host='"gpu"', http=http, auth_webhook=HOOK))
        assert CODE not in {one.code for one in checked(text).diagnostics}
    silent(onchain(orchestrator(redeemer='"redeemer"'), redeemer(wallet='"payer"', http='"0.0.0.0:8935"')))
