"""Makes the spec of a large, realistic fleet; equal sizes give equal text.

In: a number of nodes. Out: TOML text that checks without an error. Shared accounts and a price in dollars give two
warnings. Called by `measure.py` and the tests.

Ten nodes make a site of eight hosts: an edge host with a video gateway and an AI gateway, three video orchestrators
with a GPU, one without that two remote transcoders work for, and two AI orchestrators with two models each. Thirty
sites share three wallets, so there is one for every hundred nodes.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import tomllib
from typing import Any

import tomli_w

from fleetc.language.quantities import parse_eth_address

SITE_NODES = 10
SITES_PER_ACCOUNT = 30
REGIONS = ("eu-west", "eu-north", "us-east", "us-west", "ap-south")
MODELS = {
    "realvis": ("text-to-image", "SG161222/RealVisXL_V4.0_Lightning", "9 GiB", "4400000 wei / pixel"),
    "pix2pix": ("image-to-image", "timbrooks/instruct-pix2pix", "7 GiB", "4400000 wei / pixel"),
    "whisper": ("audio-to-text", "openai/whisper-large-v3", "4 GiB", "0.02 USD / 1000000 pixels"),
    "upscaler": ("upscale", "stabilityai/stable-diffusion-x4-upscaler", "12 GiB", "4500000 wei / pixel"),
}
RENDITIONS = ["P240p30fps16x9", "P360p30fps16x9", "P720p30fps16x9"]
SECRET = {"vault": "orchestrator_secret"}
GPU = {"model": "RTX 4090", "memory": "24 GiB", "encode_sessions": 8}

Table = dict[str, Any]


def spec_text(nodes: int) -> str:
    """The spec of a fleet with this many nodes, a positive multiple of SITE_NODES. Raises ValueError otherwise."""
    if nodes < SITE_NODES or nodes % SITE_NODES:
        raise ValueError(f"the number of nodes is a positive multiple of {SITE_NODES}")
    spec: Table = {
        "spec": 1,
        "fleet": {
            "name": "bench",
            "network": "arbitrum-one-mainnet",
            "rpc": {"env": "ARBITRUM_RPC_URL"},
            "node_release": "v0.9.1",
        },
        "hosts": {},
        "wallets": {},
        "models": {
            name: {"pipeline": pipeline, "id": model, "memory": memory, "price": price}
            for name, (pipeline, model, memory, price) in MODELS.items()
        },
        "gateways": {},
        "orchestrators": {},
        "transcoders": {},
        "rollout": {"canary": 1, "batch": "10%"},
    }
    for site in range(nodes // SITE_NODES):
        if site % SITES_PER_ACCOUNT == 0:
            _add_wallets(spec["wallets"], site)
        _add_hosts(spec["hosts"], site)
        _add_gateways(spec["gateways"], site)
        _add_video(spec, site)
        _add_ai(spec["orchestrators"], site)
    return tomli_w.dumps(spec)


def _wallet(kind: str, site: int) -> str:
    return f"{kind}-{site // SITES_PER_ACCOUNT:03}"


def _add_wallets(wallets: Table, site: int) -> None:
    # Every account names who calls reward: one video orchestrator for the earner, nobody for the other two.
    callers = (("payer", "none"), ("earner", f"video-a-{site:05}"), ("ai-earner", "none"))
    for kind, caller in callers:
        name = _wallet(kind, site)
        wallets[name] = {
            "address": str(parse_eth_address("0x" + hashlib.sha256(name.encode()).hexdigest()[:40])),
            "keystore": "/var/lib/livepeer/keystore",
            "password": {"host_file": f"/etc/livepeer/{name}-password"},
            "minimum_balance": "0.05 ETH",
            "reward_by": caller,
        }
        if kind == "payer":
            wallets[name] |= {"deposit": "1 ETH", "reserve": "0.5 ETH"}


def _add_hosts(hosts: Table, site: int) -> None:
    kinds = (
        ("edge", "docker", 0),
        ("gpu-a", "systemd", 1),
        ("gpu-b", "systemd", 1),
        ("gpu-c", "docker", 1),
        ("front", "systemd", 0),
        ("encode", "systemd" if site % 2 else "docker", 2),
        ("ai-a", "docker", 2),
        ("ai-b", "systemd", 2),
    )
    for place, (kind, runtime, gpus) in enumerate(kinds):
        number = site * len(kinds) + place + 1
        host: Table = {
            "address": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
            "public": f"{kind}-{site:05}.example.net",
            "runtime": runtime,
            "region": REGIONS[site % len(REGIONS)],
        }
        if gpus:
            host["gpus"] = [GPU] * gpus
        hosts[f"{kind}-{site:05}"] = host


def _add_gateways(gateways: Table, site: int) -> None:
    common = {"wallet": _wallet("payer", site), "block_polling_interval": "20s", "http_ingest": True}
    gateways[f"live-{site:05}"] = {
        "host": f"edge-{site:05}",
        "mode": "video",
        **common,
        "http": "127.0.0.1:8935",
        "rtmp": "127.0.0.1:1935",
        "orchestrators": [f"{kind}-{site:05}" for kind in ("video-a", "video-b", "video-c", "split")],
        "max_price": "1500 wei / pixel",
        "renditions": RENDITIONS,
        "max_sessions": 200,
        "environment": {"GOMEMLIMIT": "6GiB", "OTEL_RESOURCE_ATTRIBUTES": f"site=s{site:05},tier=edge"},
    }
    gateways[f"images-{site:05}"] = {
        "host": f"edge-{site:05}",
        "mode": "ai",
        **common,
        "http": "127.0.0.1:8936",
        "rtmp": "127.0.0.1:1936",
        "cli": "127.0.0.1:5936",
        "discovery": "registry",
        "max_price": "any",
        "max_model_prices": {"realvis": "5000000 wei / pixel", "pix2pix": "5000000 wei / pixel"},
    }


def _add_video(spec: Table, site: int) -> None:
    orchestrators = spec["orchestrators"]
    for letter, price in (("a", 1200), ("b", 1300), ("c", 1250)):
        node: Table = {
            "host": f"gpu-{letter}-{site:05}",
            "mode": "video",
            "wallet": _wallet("earner", site),
            "price": f"{price} wei / pixel",
            "max_sessions": 8,
            "gpus": [0],
        }
        if letter == "a":
            node["gateway_prices"] = {f"live-{site:05}": "1100 wei / pixel"}
            node["verbosity"] = 4
        orchestrators[f"video-{letter}-{site:05}"] = node
    orchestrators[f"split-{site:05}"] = {
        "host": f"front-{site:05}",
        "mode": "video",
        "wallet": _wallet("earner", site),
        "price": "1350 wei / pixel",
        "max_sessions": "auto",
        "secret": SECRET,
    }
    for gpu in range(2):
        spec["transcoders"][f"encode-{gpu}-{site:05}"] = {
            "host": f"encode-{site:05}",
            "orchestrator": f"split-{site:05}",
            "cli": f"127.0.0.1:{6935 + gpu}",
            "gpus": [gpu],
            "max_sessions": 8,
        }


def _add_ai(orchestrators: Table, site: int) -> None:
    for letter, models in (("a", ("realvis", "pix2pix")), ("b", ("whisper", "upscaler"))):
        orchestrators[f"images-{letter}-{site:05}"] = {
            "host": f"ai-{letter}-{site:05}",
            "mode": "ai",
            "wallet": _wallet("ai-earner", site),
            "secret": SECRET,
            "gpus": [0, 1],
            "models": [{"use": name, "warm": True, "capacity": 1} for name in models],
            "environment": {"GOMEMLIMIT": "12GiB"},
        }


# ------------------------------------------------------------------------------------------ the same, said once


def shared_text(nodes: int) -> str:
    """The spec of the same fleet in classes and counters: one table for all nodes or hosts of a kind.

    Raises ValueError as `spec_text` does.
    """
    written = tomllib.loads(spec_text(nodes))
    spec: Table = {key: written[key] for key in ("spec", "fleet", "models", "rollout")}
    for table in ("hosts", "wallets", "gateways", "orchestrators", "transcoders"):
        kinds: dict[str, list[str]] = {}
        for name in written[table]:
            kind, _, number = name.rpartition("-")
            kinds.setdefault(kind, []).append(number)
        spec[table] = {
            f"{kind}-{{{numbers[0]}..{numbers[-1]}}}": _joined(
                [written[table][f"{kind}-{n}"] for n in numbers], numbers
            )
            for kind, numbers in kinds.items()
        }
    return tomli_w.dumps(spec)


def _joined(tables: list[Table], numbers: list[str]) -> Table:
    """Tables as one: the number of a member becomes {}, and values that still differ a list by position."""
    members = [_counted(table, number) for table, number in zip(tables, numbers, strict=True)]
    return {key: _listed([member[key] for member in members]) for key in members[0]}


def _listed(values: list[Any]) -> Any:
    if all(value == values[0] for value in values):
        return values[0]
    return f"{{{','.join(f'{value}*{len([*same])}' for value, same in itertools.groupby(values))}}}"


def _counted(value: Any, number: str) -> Any:
    """A value with its number as {}."""
    if isinstance(value, str):
        return re.sub(rf"(?<![0-9]){number}(?![0-9])", "{}", value)
    if isinstance(value, dict):
        return {_counted(key, number): _counted(inner, number) for key, inner in value.items()}
    return [_counted(inner, number) for inner in value] if isinstance(value, list) else value
