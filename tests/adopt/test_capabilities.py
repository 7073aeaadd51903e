"""Documents of capabilities (BYOC) become capabilities of the orchestrator that they are registered with."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.words import Fate
from fleetc.toml.document import Source

COMMAND = "livepeer -orchestrator -network=offchain -serviceAddr=orch.example.net:{port} -orchSecret=/etc/secret\n"
DOCUMENT: dict[str, Any] = {
    "name": "comfy", "url": "http://127.0.0.1:9000", "capacity": 1, "price_per_unit": 1, "price_scaling": 10_000,
    "currency": "USD",
}  # fmt: skip


def adopted(document: object, orchestrators: int = 1) -> Adopted:
    commands = [Source(f"orch-{at}.sh", COMMAND.format(port=8935 + at)) for at in range(orchestrators)]
    return adopt([*commands, Source("comfy.json", json.dumps(document))])


def capabilities(found: Adopted) -> Any:
    (table,) = tomllib.loads(found.text)["orchestrators"].values()
    return table.get("capabilities")


@pytest.mark.parametrize(
    ("said", "price"),
    [
        ({}, "0.36 USD / hour"),
        ({"price_scaling": None, "currency": ""}, "0.0000000000000036 ETH / hour"),
        ({"price_scaling": 0, "currency": "usd"}, "3600 USD / hour"),
        ({"price_per_unit": 1, "price_scaling": 4096}, "0.87890625 USD / hour"),
    ],
)
def test_price_of_a_second_becomes_one_of_an_hour(said: dict[str, Any], price: str) -> None:
    found = capabilities(adopted(DOCUMENT | said))
    assert found == {"comfy": {"url": "http://127.0.0.1:9000", "price": price}}


@pytest.mark.parametrize(
    "said",
    [
        {"price_per_unit": 0},
        {"price_per_unit": -1},
        {"price_per_unit": 1, "price_scaling": 7 * 3601},
        {"currency": "EUR"},
        {"url": "comfy:9000"},
        {"name": "Comfy UI"},
    ],
)
def test_what_a_spec_cannot_have_is_asked_for(said: dict[str, Any]) -> None:
    found = adopted(DOCUMENT | said)
    assert capabilities(found) is None
    assert "# TODO capabilities.comfy" in found.text


@pytest.mark.parametrize("said", [{"capacity": "1"}, {"name": 3}, {"price_per_unit": 0.5}])
def test_what_the_node_does_not_register_is_a_mistake(said: dict[str, Any]) -> None:
    found = adopted(DOCUMENT | said)
    assert capabilities(found) is None
    assert [one.fate for one in found.entries if one.span.source == "comfy.json"] == [Fate.MISTAKE]


def test_one_that_may_be_of_several_orchestrators_is_of_none() -> None:
    found = adopted(DOCUMENT, orchestrators=2)
    assert "capabilities" not in found.text
    (entry,) = (one for one in found.entries if one.span.source == "comfy.json")
    assert (entry.fate, entry.words) == (Fate.DROPPED, "no source says which orchestrator it is registered with")


def test_token_is_written_nowhere() -> None:
    found = adopted(DOCUMENT | {"token": "hunter2-is-long", "description": "pictures"})
    assert capabilities(found) is not None
    assert "hunter2" not in found.text
    said = {one.shown: (one.fate, one.words) for one in found.entries if one.span.source == "comfy.json"}
    assert said["token"] == (Fate.DROPPED, "fleetc writes none")
    assert said["description"] == (Fate.DROPPED, "it says nothing to the node")
    assert not any("hunter2" in f"{one.shown} {one.words}" for one in found.entries)
