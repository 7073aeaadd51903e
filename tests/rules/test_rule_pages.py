"""Every rule's page shows a spec that the rule reports, and the same spec repaired, of which it says nothing.

The examples are fragments. What they leave out is filled in: required fields, and the hosts, wallets, models and nodes
that they name. A fragment speaks of a fleet on a chain or of one without, so each page is tried in both. A snapshot has
what is printed of each example.
"""

from __future__ import annotations

import copy
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import tomli_w
from syrupy.assertion import SnapshotAssertion

from fleetc.language.spec import read_fleet
from fleetc.messages.locate import locate
from fleetc.messages.text import as_text
from fleetc.pipeline import check_spec
from fleetc.rules import asked, rules
from fleetc.toml.document import Source

Table = dict[str, Any]

FREE: Table = {"fleet": {"name": "test", "network": "offchain", "node_release": "v0.9.1", "avatar_release": "v1.3.6"}}
PAID: Table = {"fleet": {**FREE["fleet"], "network": "arbitrum-one-mainnet", "rpc": {"env": "RPC_URL"}}}
WALLET: Table = {
    "keystore": "/var/lib/livepeer/keystore",
    "password": {"env": "PASSWORD"},
    "minimum_balance": "0.05 ETH",
    "deposit": "0.5 ETH",
    "reserve": "0.3 ETH",
}
GPUS = [{"model": "RTX A6000", "memory": "48 GiB"}] * 2
RENDITION: Table = {"name": "720p", "width": 1280, "height": 720, "bitrate": 3000000, "fps": 30}
CONTEXT: dict[str, str] = {
    "gpu-memory-exceeded": """
        models.upscaler.memory = "12 GiB"
        models.video.memory = "20 GiB"
    """,
    "gpu-memory-tight": """
        models.realvis.memory = "9 GiB"
        models.upscaler.memory = "12 GiB"
    """,
    "live-payment-interval-too-long": """
        [gateways.gate]
        mode = "ai"
    """,
    "low-latency-without-profile": """
        [gateways.gate]
        ladder = "live"
        [streams.main]
        gateway = "gate"
    """,
    "model-gateway-price-on-worker": "[gateways.gate]",
    "model-nobody-sells": """
        [gateways.gate]
        mode = "ai"
    """,
    "payment-holds-too-little": """
        gateways.gate = { mode = "ai", orchestrators = ["orch"] }
        orchestrators.orch.models = [{ use = "realvis" }]
    """,
    "runner-image-conflict": """
        [orchestrators.orch]
        mode = "ai"
        models = [{ use = "realvis" }, { use = "flux" }]
    """,
    **dict.fromkeys(
        ("runner-not-offered", "runner-nobody-sells"),
        """
        [orchestrators.orch]
        ticket_ev = "20 gwei"
    """,
    ),
    "serverless-worker-entry": """
        [models.scope]
        pipeline = "live-video-to-video"
        id = "scope"
    """,
    "stream-ladder-needs-webhook": """
        [[ladders.large.profiles]]
        name = "1080p"
        width = 1920
        height = 1080
        bitrate = 6000000
        fps = 30
    """,
    "ticket-value-above-limit": "[gateways.gate]",
}
"""By code: tables that an example needs around it and does not show."""
LEFT_OUT: dict[str, tuple[str, ...]] = {
    "gateway-without-orchestrators": ("gateways.orchestrators", "gateways.discovery"),
    "models-unlike-mode": ("ai_workers.models",),
    "gateway-funds-missing": ("wallets.deposit", "wallets.reserve"),
    "gateway-price-unset": ("gateways.max_price",),
    "model-price-unset": ("models.price",),
    "orchestrator-price-unset": ("orchestrators.price", "runners.price"),
    "remote-control-without-allowlist": ("avatars.allow",),
    "slot-gpu-unsaid": ("avatars.gpu",),
}
"""By code: keys whose absence the example shows, so that nothing is filled in for them."""
ABRIDGED = {"stream-request-too-large"}
"""Pages on which three dots stand for 60,000 characters, or for two such texts."""


def _parts(page: str) -> tuple[str, str]:
    """The example of a page and what to write instead."""
    found = re.search(r"^Example:\n\n(.*?)^Instead:\n\n(.*)", page, re.MULTILINE | re.DOTALL)
    assert found, "the page has no example"
    return textwrap.dedent(found[1]), textwrap.dedent(found[2])


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> Table:
    found = copy.deepcopy(dict(under))
    for key, value in over.items():
        found[key] = (
            _merged(found[key], value) if isinstance(value, dict) and isinstance(found.get(key), dict) else value
        )
    return found


def _filled(spec: Table, left_out: tuple[str, ...]) -> Table:
    """The spec with what its tables need and do not say."""
    paid = spec["fleet"]["network"] != "offchain"
    for _ in range(5):  # what is added names more
        for table, name, need in _needed(spec, paid):
            known = spec.setdefault(table, {}).setdefault(name, {})
            spec[table][name] = _merged(
                {key: value for key, value in need.items() if f"{table}.{key}" not in left_out}, known
            )
    return {"spec": 1, **spec}


NODES: dict[str, Table] = {
    "gateways": {"host": "edge", "mode": "video", "http": "127.0.0.1:9935"},
    "orchestrators": {"host": "gpu", "mode": "video", "max_sessions": 2},
    "transcoders": {"host": "gpu", "orchestrator": "orch"},
    "ai_workers": {"host": "gpu", "orchestrator": "orch", "models": [{"use": "realvis"}]},
    "remote_signers": {"host": "edge", "wallet": "payer"},
    "redeemers": {"host": "edge", "wallet": "earner"},
    "reward_callers": {"host": "edge", "wallet": "earner"},
    "runners": {"app": "example/echo", "price": "0.10 USD / hour"},
    "avatars": {"host": "gpu", "gpu": 0, "slots": [{"avatar": "mira"}], "allow": ["203.0.113.99"]},
}


def _needed(spec: Table, paid: bool) -> Iterator[tuple[str, str, Table]]:
    """Table, name and settings of what has to be there."""
    for table in NODES:
        for name, settings in list(spec.get(table, {}).items()):
            yield table, name, _node(table, settings, paid)
            yield from _named_by(table, settings)
    yield from _things(spec)
    if not set(spec) & set(NODES):
        yield "gateways", "gate", {}
        yield "orchestrators", "orch", {}


def _node(table: str, settings: Table, paid: bool) -> Table:
    need = dict(NODES[table])
    if table == "gateways" and not {"orchestrators", "discovery", "remote_signer"} & set(settings):
        need |= {"discovery": "registry"} if paid else {"orchestrators": ["orch"]}
    if paid and table == "gateways" and "remote_signer" not in settings:
        need |= {"wallet": "payer", "max_price": "any"}
    if paid and table == "orchestrators":
        need |= {"wallet": "earner", "price": "1200 wei / pixel"}
    if table == "runners":
        need |= _runner(settings)
    if settings.get("mode") in ("ai", "dual") and table == "orchestrators":
        need |= {"models": [{"use": "realvis"}], "gpus": [0]}
    return need


def _runner(settings: Table) -> Table:
    need: Table = {} if settings.get("register_by") == "runner" else {"health": "/health"}
    if "url" not in settings:
        need |= {"host": "edge", "image": "registry.example.net/echo:1.0", "port": 8989}
    if settings.get("url"):
        need["health"] = settings["url"]
    return need


def _named_by(table: str, settings: Table) -> Iterator[tuple[str, str, Table]]:
    """The things that a node names."""
    for key, kind in (("host", "hosts"), ("wallet", "wallets"), ("ladder", "ladders")):
        if key in settings:
            yield kind, settings[key], {}
    listed = (*settings.get("orchestrators", ()), *[settings[key] for key in ("orchestrator",) if key in settings])
    for name in listed:
        if ":" not in name:
            yield "orchestrators", name, {"mode": "dual"} if table == "ai_workers" else {}
    if "signer" in settings.get("remote_signer", {}):
        yield "remote_signers", settings["remote_signer"]["signer"], {"remote_discovery": True}
    for use in settings.get("models", ()):
        yield "models", use["use"], {}
    for name in (*settings.get("runners", ()), *settings.get("buys_runners", ())):
        yield "runners", name, {}


def _things(spec: Table) -> Iterator[tuple[str, str, Table]]:
    """Hosts and all else that is no node."""
    if "host" in spec.get("monitoring", {}):
        yield "hosts", spec["monitoring"]["host"], {}
    for count, name in enumerate(list(spec.get("hosts", {}))):
        need = {"address": f"203.0.113.{count + 1}", "public": f"{name}.example.net", "runtime": "docker"}
        yield "hosts", name, need if name == "edge" else {**need, "gpus": GPUS}
    for count, name in enumerate(list(spec.get("wallets", {}))):
        yield "wallets", name, {"address": f"0x{count + 1:040d}", **WALLET}
    for name in list(spec.get("models", {})):
        need = {"pipeline": "text-to-image", "id": f"Test/{name}", "memory": "4 GiB", "price": "9 wei / pixel"}
        yield "models", name, need
    for name in list(spec.get("ladders", {})):
        yield "ladders", name, {"profiles": [RENDITION]}
    for settings in list(spec.get("streams", {}).values()):
        for key, kind in (("gateway", "gateways"), ("ladder", "ladders")):
            if key in settings:
                yield kind, settings[key], {}


def _reported(base: Table, code: str, fragment: str) -> tuple[str, str]:
    """What is printed of a fragment under the code, and the whole spec with all that is printed of it."""
    context = tomllib.loads(textwrap.dedent(CONTEXT.get(code, "")))
    shown = fragment
    if code in ABRIDGED:
        long = "x" * 60_000
        shown = fragment.replace('"..."', f'"{long}", "{long}"').replace("...", long)
    spec = _filled(_merged(_merged(base, context), tomllib.loads(shown)), LEFT_OUT.get(code, ()))
    text = tomli_w.dumps(spec)
    checked = check_spec([Source("fleet.toml", text)])
    fleet = checked.fleet or (read_fleet(checked.document)[0] if checked.document is not None else None)
    if fleet is not None:
        unasked = set(rules()) - set(asked(fleet))
        assert not [finding for rule in unasked for finding in rule.check(fleet)], "rules that nobody asks find nothing"
    own = [diagnostic for diagnostic in checked.diagnostics if diagnostic.code == code]
    printed = as_text(locate(own, checked.sources, checked.document)) if own else ""
    return printed, text + as_text(locate(checked.diagnostics, checked.sources, checked.document))


@pytest.mark.parametrize("code", [rule.code for rule in rules()])
def test_the_example_is_reported_and_the_repaired_one_is_not(code: str, snapshot: SnapshotAssertion) -> None:
    page = next(rule.page for rule in rules() if rule.code == code)
    example, instead = _parts(page)
    tried = []
    for base in (FREE, PAID):
        before, whole = _reported(base, code, example)
        after, repaired = _reported(base, code, instead)
        if before and not after:
            assert before == snapshot
            return
        tried.append(repaired if before else whole)
    what = f"of the page of {code}, the example is not reported, or what to write instead is reported too:\n"
    pytest.fail(what + "\n\n".join(text[:4000] for text in tried))
