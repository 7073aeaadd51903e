"""Lists of models and prices in comparisons: what an entry means to the node, and which part of which one differs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleetc.adopt.node import price_lists
from tests.adopt.test_against import compare
from tests.support import fleetc

SVD = "image-to-video stabilityai/svd"
START = """\
livepeer -orchestrator -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc \\
  -ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword /srv/lp/password -dataDir /srv/lp/main \\
  -serviceAddr orch.example.net:8935 -orchSecret /srv/lp/secret -pricePerUnit 900000 -pixelsPerUnit 1e6 \\
  -aiModels /srv/lp/aiModels.json
livepeer -gateway -network=arbitrum-one-mainnet -ethUrl=https://arb1.arbitrum.io/rpc -ethPassword=/srv/gw/password \\
  -ethAcctAddr=0x2222222222222222222222222222222222222222 -dataDir /srv/gw -httpAddr=127.0.0.1:8936 \\
  -cliAddr=127.0.0.1:5936 -orchAddr=https://orch.example.net:8935 -maxPricePerUnit=1200 \\
  -maxPricePerCapability /srv/gw/caps.json
"""
MODELS = [
    {"pipeline": "text-to-image", "model_id": "stabilityai/sd-turbo", "price_per_unit": 7, "pixels_per_unit": 1},
    {"pipeline": "image-to-video", "model_id": "stabilityai/svd", "price_per_unit": 3390842},
    {"pipeline": "upscale", "model_id": "stabilityai/x4"},
]
CAPS = {
    "capabilities_prices": [
        {"pipeline": "text-to-image", "model_id": "default", "price_per_unit": 5000, "pixels_per_unit": 1},
        {"pipeline": "image-to-video", "model_id": "stabilityai/svd", "price_per_unit": 4000000, "pixels_per_unit": 1},
    ]
}
SOURCES = ("main@203.0.113.8=start.sh", "aiModels.json", "caps.json")


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    (tmp_path / "start.sh").write_text(START)
    (tmp_path / "aiModels.json").write_text(json.dumps(MODELS))
    (tmp_path / "caps.json").write_text(json.dumps(CAPS))
    done = fleetc("adopt", *SOURCES, "--no-input", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in (tmp_path / "fleet.toml").read_text().split("\n") if "# TODO" not in line]
    funds = 'deposit = "0.5 ETH"\nreserve = "0.36 ETH"'
    (tmp_path / "fleet.toml").write_text("\n".join(lines).replace("[wallets.payer]", f"[wallets.payer]\n{funds}"))
    return tmp_path


def change(folder: Path, before: str, after: str) -> None:
    text = (folder / "fleet.toml").read_text()
    assert before in text, text
    (folder / "fleet.toml").write_text(text.replace(before, after))


def lists(folder: Path, code: int = 0) -> list[tuple[str, str, str]]:
    """The differences of entries of lists."""
    found = compare(folder, code=code, sources=SOURCES)
    return [
        (one["flag"], one["today"], one["compiled"])
        for one in found["differences"]
        if one["flag"].startswith(("aiModels ", "maxPricePerCapability "))
    ]


def test_price_without_pixels_has_those_of_the_base_price(fleet: Path) -> None:
    """The pixels of -pixelsPerUnit; a price for one pixel is a million times as much."""
    assert lists(fleet) == []
    change(fleet, '"3390842 wei / megapixel"', '"3390842 wei / pixel"')
    assert lists(fleet, code=1) == [(f"aiModels {SVD}", "price: 3390842 wei / megapixel", "price: 3390842 wei / pixel")]


def test_model_without_a_price_has_the_base_price(fleet: Path) -> None:
    """Who writes it out changes nothing; whoever writes another one does."""
    change(fleet, 'id = "stabilityai/x4"', 'id = "stabilityai/x4"\nprice = "0.9 wei / pixel"')
    assert lists(fleet) == []
    change(fleet, '"0.9 wei / pixel"', '"0.8 wei / pixel"')
    ((_, today, compiled),) = lists(fleet, code=1)
    assert today.startswith("price: 900000 wei / ") and compiled == "price: 0.8 wei / pixel"


def test_only_the_entry_and_the_field_that_differ_are_shown(fleet: Path) -> None:
    change(fleet, '{ use = "svd" }', '{ use = "svd", capacity = 2 }')
    change(fleet, 'text-to-image = "5000 wei / pixel"', 'text-to-image = "6000 wei / pixel"')
    lines = (
        "-maxPricePerCapability text-to-image default: 5000 wei / pixel -> 6000 wei / pixel: ",
        f"-aiModels {SVD}: capacity: (unset) -> capacity: 2: ",
    )
    for more in ((), ("--report", "text")):
        done = fleetc("adopt", *SOURCES, "--compare", "fleet.toml", *more, cwd=fleet)
        assert done.returncode == 1
        for line in lines:
            assert [one for one in done.stdout.splitlines() if line in one], done.stdout
        assert "sd-turbo" not in done.stdout and "..." not in done.stdout


def test_cap_that_says_what_the_node_takes_without_it_is_no_difference(fleet: Path) -> None:
    """For a model without a cap it takes that of `default` in its pipeline, else the base cap, which is 1200 wei."""
    key, upscale = "maxPricePerCapability", "upscale default"
    change(
        fleet, 'text-to-image = "5000 wei / pixel"', 'text-to-image = "5000 wei / pixel", upscale = "1200 wei / pixel"'
    )
    assert lists(fleet) == []
    change(fleet, 'upscale = "1200', 'upscale = "1201')
    assert lists(fleet, code=1) == [(f"{key} {upscale}", "1200 wei / pixel", "1201 wei / pixel")]
    change(fleet, 'upscale = "1201 wei / pixel"', 'sd-turbo = "1200 wei / pixel"')
    turbo = f"{key} text-to-image stabilityai/sd-turbo"
    assert lists(fleet, code=1) == [(turbo, "5000 wei / pixel", "1200 wei / pixel")]
    change(fleet, 'sd-turbo = "1200 wei', 'sd-turbo = "5000 wei')
    assert lists(fleet) == []


def test_caps_of_the_source_may_go_where_the_base_cap_is_the_same(fleet: Path) -> None:
    caps = {"capabilities_prices": [{"pipeline": "upscale", "model_id": "default", "price_per_unit": 1200}]}
    (fleet / "caps.json").write_text(json.dumps(caps))
    text = (fleet / "fleet.toml").read_text()
    (line,) = (line for line in text.split("\n") if line.startswith("max_model_prices"))
    change(fleet, f"{line}\n", "")
    assert lists(fleet) == []


def test_model_that_only_one_side_has_is_shown_whole(fleet: Path) -> None:
    change(fleet, '{ use = "sd-turbo" }, ', "")
    assert lists(fleet, code=1) == [
        ("aiModels text-to-image stabilityai/sd-turbo", "price: 7 wei / pixel, warm: false", "not in the list")
    ]


def test_order_of_models_counts_where_the_models_are_the_same(fleet: Path) -> None:
    text = (fleet / "fleet.toml").read_text()
    first, second = '{ use = "sd-turbo" }', '{ use = "svd" }'
    assert first in text and second in text
    swapped = text.replace(first, "@").replace(second, first).replace("@", second)
    (fleet / "fleet.toml").write_text(swapped)
    ((flag, today, compiled),) = lists(fleet, code=1)
    assert flag == "aiModels order" and today.index("sd-turbo") < today.index("svd")
    assert compiled.index("svd") < compiled.index("sd-turbo")


@pytest.mark.parametrize(
    ("entry", "said", "without"),
    [
        ({}, "1200 wei / megapixel", "any"),
        ({"price_per_unit": 0, "currency": "usd"}, "1200 USD / megapixel", "any"),
        ({"price_per_unit": 5}, "5 wei / megapixel", "5 wei / megapixel"),
        ({"price_per_unit": 5, "pixels_per_unit": 2}, "5 wei / 2 pixels", "5 wei / 2 pixels"),
    ],
)
def test_cap_takes_what_it_leaves_out_from_the_base_price(entry: dict[str, object], said: str, without: str) -> None:
    """The number of -maxPricePerUnit comes without its currency; `without` one, the node pays any price."""
    text = json.dumps({"capabilities_prices": [{"pipeline": "llm", **entry}]})
    texts = {"pixelsPerUnit": "1e6", "maxPricePerCapability": text}
    for base, cap in (("1200", said), ("0", without)):
        found = price_lists.prices({**texts, "maxPricePerUnit": base}, lambda path: None)
        assert str(found["maxPricePerCapability llm default"]) == cap


@pytest.mark.parametrize(
    ("price", "base", "said"),
    [(None, "5", "5 wei / megapixel"), (0, "5", "5 wei / megapixel"), (0, "0", "0 wei / megapixel"),
     (7, "5", "7 wei / megapixel"), (7, "", "7 wei / megapixel")],
)  # fmt: skip
def test_model_that_costs_nothing_is_sold_at_the_base_price(price: int | None, base: str, said: str) -> None:
    text = json.dumps([{"pipeline": "llm", "model_id": "a/b", **({} if price is None else {"price_per_unit": price})}])
    texts = {"pricePerUnit": base, "pixelsPerUnit": "1e6", "aiModels": text}
    entry = price_lists.models(texts, lambda path: None, sells=True)["aiModels llm a/b"]
    assert isinstance(entry, dict) and str(entry["price"]) == said
    assert price_lists.models(texts, lambda path: None, sells=False)["aiModels llm a/b"] == {"warm": False}
