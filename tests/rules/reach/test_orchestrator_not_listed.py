"""An off-chain orchestrator on no list."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, host, offchain, onchain, orchestrator, printed

CODE = "orchestrator-not-listed"
BOX = host("box", address='"203.0.113.40"', public='"orch-2.example.net"')
SECOND = free_orchestrator("orch-2", host='"box"')


def test_nobody_lists_it(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(BOX, free_gateway(), free_orchestrator(), SECOND), CODE, Severity.WARNING) == snapshot


def test_it_is_listed_by_name_or_address_or_by_another_orchestrator() -> None:
    address = '["https://orch-2.example.net:8935"]'
    for lists, instances in (('["orch", "orch-2"]', None), (f'["orch", {address[1:]}', None), ('["orch"]', address)):
        text = offchain(BOX, free_gateway(orchestrators=lists), free_orchestrator(instances=instances), SECOND)
        assert printed(text, CODE) == "no problems\n"


def test_others_may_list_it() -> None:
    """There is no gateway here, or a webhook tells one whom to use."""
    assert printed(offchain(BOX, free_orchestrator(), SECOND), CODE) == "no problems\n"
    webhook = free_gateway(orchestrators=None, discovery='{ webhook = { env = "LIST" } }')
    assert printed(offchain(BOX, webhook, free_orchestrator(), SECOND), CODE) == "no problems\n"


def test_a_chain_has_a_registry() -> None:
    assert printed(onchain(orchestrator()), CODE) == "no problems\n"
