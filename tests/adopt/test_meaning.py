"""What settings, lists and prices mean to the node: which part of which entry differs from a compiled one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from fleetc import lower
from fleetc.adopt import Said, adopt
from fleetc.adopt.compare import compare
from fleetc.adopt.found.process import SET, Process, Word
from fleetc.adopt.found.questions import Reason, Why
from fleetc.adopt.node.flags import Setting
from fleetc.adopt.node.listeners import site_of
from fleetc.adopt.node.meaning import compare_addresses, of_service
from fleetc.adopt.node.settings import Running
from fleetc.language.spec import read_fleet, read_spec
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

CHAIN = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /srv/p"
START = f"""\
livepeer -orchestrator {CHAIN} -ethAcctAddr 0x{"1" * 40} -dataDir /srv/lp -serviceAddr orch.example.net:8935 \\
  -orchSecret /srv/lp/secret -pricePerUnit 900000 -pixelsPerUnit 1e6 -aiModels /srv/lp/aiModels.json -v 6
livepeer -gateway {CHAIN} -ethAcctAddr 0x{"2" * 40} -dataDir /srv/gw -httpAddr=127.0.0.1:8936 -cliAddr=127.0.0.1:5936 \\
  -orchAddr=https://orch.example.net:8935 -maxPricePerUnit=1200 -maxPricePerCapability /srv/gw/caps.json
"""
MODELS = [
    {"pipeline": "text-to-image", "model_id": "stabilityai/sd-turbo", "price_per_unit": 7, "pixels_per_unit": 1},
    {"pipeline": "image-to-video", "model_id": "stabilityai/svd", "price_per_unit": 3390842},
    {"pipeline": "upscale", "model_id": "stabilityai/x4"},
]
CAPS = [
    {"pipeline": "text-to-image", "model_id": "default", "price_per_unit": 5000, "pixels_per_unit": 1},
    {"pipeline": "image-to-video", "model_id": "stabilityai/svd", "price_per_unit": 4000000, "pixels_per_unit": 1},
]
ANSWERS = {"deposit": "0.5 ETH", "reserve": "0.36 ETH", "node_release": "v0.9.1", "address": "192.0.2.1"}


def differences(sources: Mapping[str, str], *changes: tuple[str, str]) -> list[tuple[str, str, str]]:
    """What the nodes of sources are to a spec that somebody has changed: flags with both values."""
    texts = [Source(name, text) for name, text in sources.items()]
    places = [one.place for one in adopt(texts).questions if one.key in ANSWERS]
    found = adopt(texts, Said(answers=[f"{'.'.join(place)}={ANSWERS[place[-1]]}" for place in places]))
    text = found.text
    for before, after in changes:
        assert before in text, text
        text = text.replace(before, after)
    document, problems = read_spec([Source("fleet.toml", text)])
    assert document is not None, problems
    fleet, problems = read_fleet(document)
    assert fleet is not None, (problems, text)
    compared = compare(list(found.nodes), lower.lower(fleet), found.library).differences
    return [(one.flag, one.today, one.compiled) for one in compared if not one.same]


FILES = {
    "start.sh": START, "aiModels.json": json.dumps(MODELS), "caps.json": json.dumps({"capabilities_prices": CAPS}),
}  # fmt: skip
SVD, TURBO, CAP = "image-to-video stabilityai/svd", "text-to-image stabilityai/sd-turbo", "maxPricePerCapability"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], []),
        ([('"3390842 wei / megapixel"', '"3390842 wei / pixel"')],
         [("aiModels", f"{SVD}: price: 3390842 wei / megapixel, warm: false",
           f"{SVD}: price: 3390842 wei / pixel, warm: false")]),
        ([('id = "stabilityai/x4"', 'id = "stabilityai/x4"\nprice = "0.9 wei / pixel"')], []),
        ([('{ use = "svd" }', '{ use = "svd", capacity = 2 }'),
          ('text-to-image = "5000 wei / pixel"', 'text-to-image = "6000 wei / pixel"')],
         [("aiModels", f"{SVD}: price: 3390842 wei / megapixel, warm: false",
           f"{SVD}: price: 3390842 wei / megapixel, warm: false, capacity: 2"),
          (CAP, "text-to-image default: 5000 wei / pixel", "text-to-image default: 6000 wei / pixel")]),
        ([('text-to-image = "5000', 'upscale = "1200 wei / pixel", text-to-image = "5000')], []),
        ([('text-to-image = "5000', 'upscale = "1201 wei / pixel", text-to-image = "5000')],
         [(CAP, "upscale default: 1200 wei / pixel", "upscale default: 1201 wei / pixel")]),
        ([('text-to-image = "5000', 'sd-turbo = "1200 wei / pixel", text-to-image = "5000')],
         [(CAP, f"{TURBO}: 5000 wei / pixel", f"{TURBO}: 1200 wei / pixel")]),
        ([('{ use = "sd-turbo" }, ', "")], [("aiModels", f"{TURBO}: price: 7 wei / pixel, warm: false", "(unset)")]),
    ],
)  # fmt: skip
def test_only_the_entry_that_differs_is_told(
    changes: list[tuple[str, str]], expected: list[tuple[str, str, str]]
) -> None:
    """Without a price, a model has the base price; without a cap, that of `default` in its pipeline, else the base."""
    assert [one for one in differences(FILES, *changes) if one[0] in ("aiModels", CAP)] == expected


def test_the_order_of_a_list_of_models_counts() -> None:
    """GPUs are given to models in that order."""
    changes = ('"sd-turbo"', '"@"'), ('use = "svd"', 'use = "sd-turbo"'), ('use = "@"', 'use = "svd"')
    assert [one[0] for one in differences(FILES, *changes)] == ["aiModels"]


def meaning(**texts: str) -> dict[str, object]:
    """What a compiled orchestrator with these settings means to the node."""
    arguments = [SimpleNamespace(flag=flag, value=value) for flag, value in texts.items()]
    service: Any = SimpleNamespace(
        arguments=arguments, variables=(), secrets=(), files=(), directory="/", data_dir="/d"
    )
    return of_service("orchestrator", service)


@pytest.mark.parametrize(
    ("entry", "price", "without"),
    [
        ({}, "1200 wei / megapixel", "any"),
        ({"price_per_unit": 0, "currency": "usd"}, "1200 USD / megapixel", "any"),
        ({"price_per_unit": 5}, "5 wei / megapixel", "5 wei / megapixel"),
        ({"price_per_unit": 5, "pixels_per_unit": 2}, "5 wei / 2 pixels", "5 wei / 2 pixels"),
    ],
)
def test_cap_takes_what_it_leaves_out_from_the_base_price(entry: dict[str, object], price: str, without: str) -> None:
    """The number of -maxPricePerUnit comes without its currency; `without` one, the node pays any price."""
    caps = json.dumps({"capabilities_prices": [{"pipeline": "llm", **entry}]})
    for base, cap in (("1200", price), ("0", without)):
        found = meaning(network="x", pixelsPerUnit="1e6", maxPricePerUnit=base, maxPricePerCapability=caps)
        caps_found = found[CAP]
        assert isinstance(caps_found, dict) and str(caps_found["llm default"]) == cap


@pytest.mark.parametrize(
    ("price", "base", "expected"),
    [(None, "5", "5 wei / megapixel"), (0, "5", "5 wei / megapixel"), (0, "0", "0 wei / megapixel"),
     (7, "5", "7 wei / megapixel"), (7, "", "7 wei / megapixel")],
)  # fmt: skip
def test_model_that_costs_nothing_is_sold_at_the_base_price(price: int | None, base: str, expected: str) -> None:
    text = json.dumps([{"pipeline": "llm", "model_id": "a/b", **({} if price is None else {"price_per_unit": price})}])
    listed = meaning(network="x", pricePerUnit=base, pixelsPerUnit="1e6", aiModels=text)["aiModels"]
    assert isinstance(listed, tuple) and str(listed[0]["llm a/b"]["price"]) == expected
    assert meaning(pricePerUnit=base, aiModels=text)["aiModels"] == ({"llm a/b": {"warm": False}},)


PUBLIC, HOOK = "https://arb1.arbitrum.io/rpc", "http://127.0.0.1:3004/auth"
ASKED = Reason(Why.ASKED, (("question", "x"),))


@pytest.mark.parametrize(
    ("text", "compiled", "reason", "told"),
    [
        (PUBLIC, PUBLIC, None, (SET, SET)),
        (PUBLIC, "https://elsewhere.example/rpc", None, ("arb1.arbitrum.io", "elsewhere.example")),
        (HOOK, f"{HOOK}2", None, ("127.0.0.1:3004", "another address there")),
        ("http://a.example/x", "https://a.example/x", None, ("a.example", "another address there")),
        ("http://u:1/2@a.example/x", "http://u:1/3@a.example/x", None, ("an address", "another address there")),
        (PUBLIC, SET, None, (SET, SET)),
        (PUBLIC, SET, ASKED, ("arb1.arbitrum.io", "the address in its reference")),
        (PUBLIC, "", None, (SET, "")),
        ("", PUBLIC, None, (None, SET)),
    ],
)
def test_of_an_address_only_where_it_leads_is_told(text: str, compiled: str, reason: Any, told: Any) -> None:
    """Its path may be a key, and is never shown. A reference has the address of today, unless the spec asks."""
    settings = {"ethUrl": Setting("ethUrl", Word(text, Span("g.sh", 0, 1)), "flag")} if text else {}
    process = Process("g", Span("g.sh", 0, 1), ())
    one = Running(process, "gateway", settings, {"ethUrl": reason} if reason else {})
    before: dict[str, object] = {"ethUrl": text or None}
    after: dict[str, object] = {"ethUrl": compiled}
    compare_addresses(one, before, after)
    assert (before["ethUrl"], after["ethUrl"]) == told


@pytest.mark.parametrize(("address", "site"), [
    ("https://user:word@host.example:8545/v2/key", "host.example:8545"), ("http://host?key=abc", "host"),
    ("http://user:1/abc@host.example/x", "an address"), ("http://wo rd/x", "an address"),
    ("http://[::1]:1/x", "[::1]:1"),
])  # fmt: skip
def test_only_the_host_of_an_address_is_told(address: str, site: str) -> None:
    assert site_of(address) == site
