"""Gateways that want newer releases than their fleet runs."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    offchain,
    onchain,
    orchestrator,
    silent,
)

CODE = "orchestrators-below-min-release"


def _fleet(wanted: str, *releases: str, **settings: str | None) -> str:
    sellers = [
        free_orchestrator(
            f"o-{place}",
            node_release=f'"{release}"',
            cli=f'"127.0.0.1:{7935 + place}"',
            service=f'"orch.example.net:{8935 + place}"',
            max_sessions="1",
        )
        for place, release in enumerate(releases)
    ]
    listed = ", ".join(f'"o-{place}"' for place in range(len(releases)))
    gate = {"orchestrators": f"[{listed}]", "selection": f'{{ min_release = "{wanted}" }}', **settings}
    return offchain(free_gateway(**gate), *sellers)


def test_none_is_new_enough(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet("v0.9.1", "v0.8.5", "v0.9.0"), CODE) == snapshot
    silent(_fleet("v0.8.5", "v0.8.5", "v0.9.0"))


def test_some_are_left_out() -> None:
    found = flagged(_fleet("0.9.0", "v0.8.5", "v0.9.0"), CODE, Severity.WARNING)
    assert "1 of the 2 orchestrators that it finds in this fleet run older releases" in found


def test_unsound_specs_are_flagged() -> None:
    # Who lists others too may find somebody.
    assert flagged(
        _fleet("v0.9.1", "v0.9.0", orchestrators='["o-0", "https://203.0.113.9:8935"]'), CODE, Severity.WARNING
    )
    # Who searches may find somebody.
    gate = gateway(discovery='"registry"', selection='{ min_release = "v0.9.1" }')
    assert flagged(onchain(gate, orchestrator(node_release='"v0.9.0"')), CODE, Severity.WARNING)
    # What is no version admits everybody.
    assert "accepts every release" in flagged(_fleet("newest", "v0.9.1"), CODE, Severity.WARNING)
