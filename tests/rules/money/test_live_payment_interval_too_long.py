"""Live AI video that is paid less often than it was paid in advance."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, flagged, gateway, model, onchain, orchestrator, printed, silent

CODE = "live-payment-interval-too-long"


def _fleet(gate: str | None, orch: str | None = None, **settings: str | None) -> str:
    models = '[{ use = "realvis", warm = true }]'
    buyer = {"mode": '"ai"', "orchestrators": '["orch"]', "live_payment_interval": gate, **settings}
    seller = orchestrator(mode='"ai"', models=models, gpus="[0]", secret=SECRET, live_payment_interval=orch)
    return onchain(model(), gateway(**buyer), seller)


def test_a_gateway_whose_credit_ends_before_it_pays_again(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet('"90s"'), CODE, Severity.WARNING) == snapshot
    assert flagged(_fleet('"1m"'), CODE, Severity.WARNING)
    assert printed(_fleet('"90s"').replace('"90s"', '"5s"'), CODE) == "no problems\n"  # as the help says


@pytest.mark.parametrize(("gate", "orch"), [(None, '"10s"'), ('"30s"', None), ('"59s"', '"5s"'), ('"30s"', '"90s"')])
def test_intervals_may_differ_while_the_credit_lasts(gate: str | None, orch: str | None) -> None:
    silent(_fleet(gate, orch))


def test_orchestrators_elsewhere_have_the_same_credit() -> None:
    assert flagged(
        onchain(gateway(mode='"ai"', discovery='"registry"', live_payment_interval='"2m"')), CODE, Severity.WARNING
    )


def test_video_is_not_paid_that_way() -> None:
    silent(onchain(gateway(live_payment_interval='"90s"', orchestrators='["orch"]'), orchestrator()))
