"""What nodes are planned to say: which of them share a value, and how expressions name them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from fleetc.language.fleet import Fleet, Node
from fleetc.lower import planned
from fleetc.lower.planned import Wanted, alike
from tests.monitoring.support import SPEC, watched, whole
from tests.support import compile_text


def nodes(fleet: Fleet, *tables: str) -> list[Node]:
    return [node for node in fleet.nodes if node.table in tables]


def found(wanted: Wanted, *tables: str, text: str = SPEC) -> dict[str, tuple[str, dict[str, Decimal]]]:
    """The matcher and the amounts of each planned value."""
    fleet = (whole() if text == SPEC else compile_text(text)).checked.fleet
    assert fleet is not None
    return {one.want.text: (one.nodes, dict(one.want.amounts)) for one in alike(fleet, nodes(fleet, *tables), wanted)}


def matchers(text: str) -> list[str]:
    fleet = compile_text(text).checked.fleet
    assert fleet is not None
    return [one.nodes for one in alike(fleet, nodes(fleet, "gateways", "orchestrators"), planned.session_limit)]


def test_the_shorter_matcher_names_nodes_or_all_others() -> None:
    assert found(planned.release, "gateways", "orchestrators", "transcoders") == {
        "v0.9.0": ("node=~'remote'", {}),
        "v0.9.1": ("node!~'remote'", {}),
    }
    assert found(planned.release, "gateways") == {"v0.9.1": ("node!~''", {})}
    assert found(planned.session_limit, "gateways") == {"10": ("node!~''", {"planned": Decimal(10)})}


def test_another_node_of_the_usual_kind_changes_no_matcher_of_most_nodes() -> None:
    extra = """
[gateways.{name}]
host = "front"
mode = "ai"
wallet = "payer"
discovery = "ai-registry"
max_price = "any"
http = "127.0.0.1:{port}1"
rtmp = "127.0.0.1:{port}3"
cli = "127.0.0.1:{port}2"
monitor = true
"""
    one = SPEC + extra.format(name="one", port=701) + extra.format(name="two", port=702)
    two = one + extra.format(name="three", port=703)
    assert matchers(one) == matchers(two) == ["node!~'orch|remote'", "node=~'orch'"]


def test_nothing_is_planned_where_it_follows_from_something_else() -> None:
    assert set(found(planned.session_limit, "orchestrators")) == {"8"}, "auto follows from the transcoders"
    assert set(found(planned.transcoders, "orchestrators")) == {"1"}
    text = SPEC.replace('price = "1200 wei / pixel"', 'price = "0.0000000000005 USD / pixel"')
    text = text.replace('max_price = "2500 wei / pixel"', 'max_price = "0.000000000005 USD / pixel"')
    assert set(found(planned.asked, "orchestrators", text=text)) == {"1300 wei / pixel without adjustment"}
    assert set(found(planned.cap, "gateways", text=text)) == {"any price"}


def test_a_price_lies_between_what_is_cut_and_twice_the_highest() -> None:
    text = SPEC.replace(
        'price = "1200 wei / pixel"', 'price = "10 wei / 3 pixels"\ngateway_prices = { gate = "7 wei / pixel" }'
    )
    assert found(planned.asked, "orchestrators", text=text)["10 wei / 3 pixels to 7 wei / pixel"] == (
        "node=~'orch'",
        {"low": Decimal("3.333"), "high": Decimal(14)},
    )


def test_gas_prices_are_in_gwei() -> None:
    assert found(planned.lowest_gas_price, "orchestrators") == {
        "0 gwei": ("node=~'orch'", {"planned": Decimal(0)}),
        "0.02 gwei": ("node=~'remote'", {"planned": Decimal("0.02")}),
    }
    assert found(planned.highest_gas_price, "gateways")["5 gwei"] == ("node=~'buyer'", {"planned": Decimal(5)})


def names(text: str) -> set[str]:
    return {alert.name for alert in watched(text).alerts}


def test_a_price_is_compared_with_a_cap_only_where_all_that_is_listed_is_known() -> None:
    changes: list[tuple[str, Any]] = [
        ('"orch", "remote"]', '"orch", "https://elsewhere.example.net:8935"]'),
        ('price = "1200 wei / pixel"', 'price = "1200 wei / pixel"\ngateway_prices = { gate = "1100 wei / pixel" }'),
        ('node_release = "v0.9.0"\nmonitor = true', 'node_release = "v0.9.0"'),
    ]
    assert "PriceAboveCap" in names(SPEC)
    for old, new in changes:
        assert old in SPEC
        assert "PriceAboveCap" not in names(SPEC.replace(old, new)), new


def test_without_fleetc_verify_no_alert_waits_for_it() -> None:
    without = SPEC.replace('verify_every = "15m"\n', "")
    assert {"VerifyDrift", "VerifyUnknown", "VerifyStale"} == names(SPEC) - names(without)
