"""A service address with one wrong letter."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, host, onchain, orchestrator, printed

CODE = "service-name-mistyped"


def _named(name: str) -> str:
    return onchain(orchestrator(service=f'"{name}:8935"'))


def test_one_letter(snapshot: SnapshotAssertion) -> None:
    assert flagged(_named("irch.example.net"), CODE, Severity.WARNING) == snapshot


@pytest.mark.parametrize("name", ["orhc.example.net", "orch.exmple.net", "oorch.example.net", "orch.example.nett"])
def test_each_kind_of_slip(name: str) -> None:
    assert flagged(_named(name), CODE, Severity.WARNING)


@pytest.mark.parametrize("name", ["orch.example.net", "ORCH.example.net", "node.example.net", "orch-2.example.net",
                                  "orch1.example.net", "203.0.113.20", "orchxy.example.net"])  # fmt: skip
def test_another_name_is_fine(name: str) -> None:
    assert printed(_named(name), CODE) == "no problems\n"


def test_the_name_of_another_host_is_fine() -> None:
    box = host("box", address='"203.0.113.40"', public='"orcs.example.net"')
    assert printed(onchain(box, orchestrator(service='"orcs.example.net:8935"')), CODE) == "no problems\n"
