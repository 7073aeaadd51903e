"""Payments and debits of live AI video in different intervals."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, flagged, gateway, model, onchain, orchestrator, silent

CODE = "live-payment-intervals-differ"


def _fleet(gate: str | None, orch: str | None, **settings: str | None) -> str:
    models = '[{ use = "realvis", warm = true }]'
    buyer = {"mode": '"ai"', "orchestrators": '["orch"]', "live_payment_interval": gate, **settings}
    seller = orchestrator(mode='"ai"', models=models, gpus="[0]", secret=SECRET, live_payment_interval=orch)
    return onchain(model(), gateway(**buyer), seller)


def test_a_gateway_that_pays_too_seldom(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet('"30s"', '"10s"'), CODE, Severity.WARNING) == snapshot


def test_the_default_counts_too() -> None:
    assert "debits it every 5s" in flagged(_fleet('"30s"', None), CODE, Severity.WARNING)
    assert "pays for live AI every 5s" in flagged(_fleet(None, '"10s"'), CODE, Severity.WARNING)
    silent(_fleet('"5s"', None))
    silent(_fleet('"30s"', '"30s"'))


def test_video_is_not_paid_that_way() -> None:
    silent(onchain(gateway(live_payment_interval='"30s"', orchestrators='["orch"]'), orchestrator()))
