"""Orchestrators that only sell capabilities (BYOC), which the node is about to remove."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from tests import node
from tests.lower.test_lowering import flags, service, settings
from tests.rules.support import SECRET, checked, flagged, gateway, onchain, orchestrator, printed
from tests.support import files_of


def selling(price: str = "0.36 USD / hour", *more: str) -> str:
    inline = f'{{ comfy = {{ url = "http://127.0.0.1:9000", capacity = 2, price = "{price}" }} }}'
    return onchain(orchestrator(mode='"ai"', price=None, secret=SECRET, capabilities=inline), *more)


def document(text: str) -> dict[str, Any]:
    (content,) = [file for path, file in files_of(text).items() if path.endswith("/orch/capability-comfy.json")]
    found: dict[str, Any] = json.loads(content)
    return found


@pytest.mark.parametrize(
    ("price", "second", "currency"),
    [
        ("0.36 USD / hour", Fraction(1, 10_000), "USD"),
        ("0.05 USD / minute", Fraction(1, 1200), "USD"),
        ("0.000144 ETH / hour", Fraction(40 * 10**9), "wei"),
    ],
)
def test_document_is_what_the_node_registers_with_an_exact_price_for_a_second(
    price: str, second: Fraction, currency: str
) -> None:
    found = document(selling(price))
    assert Fraction(found.pop("price_per_unit"), found.pop("price_scaling")) == second
    assert found == {"name": "comfy", "url": "http://127.0.0.1:9000", "capacity": 2, "currency": currency}


def test_orchestrator_starts_no_worker_and_a_warning_says_what_replaces_it() -> None:
    text = selling()
    found = service(text, "orch")
    assert not set(flags(found)) & {"aiWorker", "aiModels", "transcoder", "useLiveRunners", "liveRunnerConfig"}
    assert flags(found)["pricePerUnit"] == "0"
    assert node.broken_rules(settings(found)) == ()
    assert [d.code for d in checked(text).diagnostics] == ["capability-leaves-the-node"]
    assert "a table under [runners] replaces each" in printed(text)


def test_gateway_may_list_an_orchestrator_that_only_sells_that() -> None:
    text = selling("0.36 USD / hour", gateway(mode='"ai"', orchestrators='["orch"]', http_ingest="true"))
    assert not [d for d in checked(text).diagnostics if d.severity.name == "ERROR"], printed(text)


def test_price_for_a_request_is_refused() -> None:
    assert "by the second of computing" in flagged(selling("0.01 USD / request"), "invalid-value")
