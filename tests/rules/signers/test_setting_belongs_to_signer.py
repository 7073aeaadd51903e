"""Settings of a gateway behind a signer that count on a chain alone."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, gateway, onchain, signer

CODE = "setting-belongs-to-signer"
GATE = {"mode": '"ai"', "wallet": None, "max_price": None, "remote_signer": '{ signer = "signer" }'}
FINDING = signer(remote_discovery="true", http='"127.0.0.1:9000"')


def test_cap_and_wallet_of_a_gateway_behind_a_signer(snapshot: SnapshotAssertion) -> None:
    gate = gateway(**{**GATE, "wallet": '"payer"', "max_price": '"1500 wei / pixel"'})
    assert flagged(onchain(gate, FINDING), CODE) == snapshot


def test_weights_mean_nothing_there_and_the_signer_has_none(snapshot: SnapshotAssertion) -> None:
    gate = gateway(**GATE, selection='{ min_performance = "0.5" }', live='{ report_interval = "10 min" }')
    assert flagged(onchain(gate, FINDING), CODE) == snapshot


def test_signer_elsewhere_has_an_operator_of_its_own(snapshot: SnapshotAssertion) -> None:
    url = '{ url = "http://signer.example.net:8935" }'
    gate = gateway(**{**GATE, "remote_signer": url, "tickets": '{ max_ev = "3000 gwei" }'})
    assert flagged(onchain(gate), CODE) == snapshot
