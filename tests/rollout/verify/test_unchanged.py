"""What must not matter: 200 fleets that run as reviewed and say so in other words are found to be as reviewed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from fleetc.analysis.discovery import is_named, registrations
from fleetc.rollout.verify.data import AVATARS
from tests.rollout.verify.healthy import ETH, World
from tests.support import EXAMPLES, compiled_example, for_each

Variation = Callable[[World, random.Random], None]
STATES = 200


def every(world: World, path: str) -> list[str]:
    """The answers of 200 to a path."""
    return [name for name, (status, _) in world.answers.items() if name.endswith(path) and status == 200]


def changed(world: World, path: str, change: Callable[[Any], Any]) -> None:
    for name in every(world, path):
        world.answers[name] = (200, change(world.answers[name][1]))


def other_order(world: World, chance: random.Random) -> None:
    def shuffled(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        items = list(value.items())
        chance.shuffle(items)
        return {key: shuffled(one) for key, one in items}

    for name, (status, body) in world.answers.items():
        world.answers[name] = (status, shuffled(body))
    for host in world.hosts.values():
        chance.shuffle(host["steps"])
        chance.shuffle(host["state"]["processes"])


def extra_fields(world: World, chance: random.Random) -> None:
    for name, (status, body) in world.answers.items():
        if isinstance(body, dict):
            extra: dict[str, Any] = {
                f"x{chance.randrange(99)}": chance.choice([None, [], {"a": 1}, 1e400, "\x1b[31m", 10**50])
            }
            world.answers[name] = (status, {**extra, **body})
    for host in world.hosts.values():
        host["unheard-of"] = host["state"]["unheard-of"] = {"x": 1}


def case_of_addresses(world: World, chance: random.Random) -> None:
    def cased(text: str) -> str:
        return "0x" + "".join(chance.choice([sign.upper(), sign.lower()]) for sign in text[2:])

    changed(world, "/ethAddr", cased)
    for name in every(world, "/status"):
        body = world.answers[name][1]
        if "BroadcasterPrices" not in body:
            continue
        prices = {key if key == "default" else cased(key): price for key, price in body["BroadcasterPrices"].items()}
        body["BroadcasterPrices"] = prices
        body["OrchestratorPool"] = [url.replace("example.net", "Example.NET") for url in body["OrchestratorPool"]]


def numbers_as_text(world: World, chance: random.Random) -> None:
    def texts(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: texts(one) for key, one in value.items()}
        return str(value) if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.7 else value

    for name, (status, body) in world.answers.items():
        world.answers[name] = (status, texts(body))


def release_with_commit(world: World, chance: random.Random) -> None:
    commit = f"{chance.randrange(16**8):08x}{chance.choice(['', '-dirty'])}"
    for name in every(world, "/status"):
        if "Version" in world.answers[name][1]:
            world.answers[name][1]["Version"] += f"-{commit}"


def prices_as_fractions(world: World, chance: random.Random) -> None:
    def fraction(text: str) -> str:
        by = chance.choice([2, 3, 1000])
        return chance.choice([f"{int(text) * by}/{by}", f"{text}.0", f"{text}.000"])

    for name in every(world, "/status"):
        prices = world.answers[name][1].get("BroadcasterPrices", {})
        prices.update({who: fraction(price) for who, price in prices.items()})
    changed(
        world, "/getBroadcastConfig",
        lambda body: body | {"MaxPrice": fraction(body["MaxPrice"]) if body["MaxPrice"] else None},
    )  # fmt: skip


def metrics_as_prometheus_may(world: World, chance: random.Random) -> None:
    def written(text: str) -> str:
        lines = [f"{line}.0" if line[-1:].isdigit() and not line.startswith("#") else line for line in text.split("\n")]
        lines += ['livepeer_payment_create_errors{x="a} 9"} 0', "livepeer_other 1 1700000000000", "nonsense {"]
        return "\r\n".join(lines) if chance.random() < 0.2 else "\n".join(lines)

    changed(world, "/metrics", written)


def sleeping_slots(world: World, chance: random.Random) -> None:
    for name in [one for one in world.answers if f" {AVATARS} " in one and "/power/" in one]:
        if chance.random() < 0.6:
            world.answers[name] = (200, {"state": "sleeping", "reason": "asked", "awake_until": None})


def cold_models(world: World, chance: random.Random) -> None:
    """Of two GPUs, one has the container of a warm model, and which one is the node's choice."""
    for node in {name.split()[1] for name in world.answers if name.endswith("/health") and ":8" in name}:
        ports = sorted({name for name in world.answers if name.split()[1] == node and name.endswith("/health")})
        by_pipeline: dict[str, list[str]] = {}
        for name in ports:
            by_pipeline.setdefault(name.rpartition(":")[2][:2], []).append(name)
        for names in by_pipeline.values():
            for name in chance.sample(names, len(names) - 1):
                world.answers[name] = (0, "Connection refused")
                world.answers[name.replace("/health", "/hardware/stats")] = (0, "Connection refused")


def a_little_spent(world: World, chance: random.Random) -> None:
    changed(
        world, "/senderInfo",
        lambda body: body | {
            "Deposit": ETH - chance.randrange(10**17),
            "Reserve": chance.choice([{"FundsRemaining": ETH, "ClaimedInCurrentRound": 7}, str(ETH), ETH]),
        },
    )  # fmt: skip


def same_account_registered_elsewhere(world: World, chance: random.Random) -> None:
    """An account has one address, and several orchestrators use it: others are found if somebody names them."""
    shared = [found for found in registrations(world.fleet).values() if len(found) > 1]
    lost = {one.node.name for found in shared for one in found if not is_named(world.fleet, one.node, one.address)}
    wallets = {name: one.wallet for name, one in world.fleet.orchestrators.items() if name not in lost}
    for name, wallet in wallets.items():
        if wallet is not None:
            other = chance.choice([one for one, theirs in wallets.items() if theirs == wallet])
            ids = [one for one in world.answers if one.split()[1] == name and one.endswith("/orchestratorInfo")]
            for one in ids:
                world.answers[one][1]["Transcoder"]["ServiceURI"] = f"https://{world.place(other)}/"


def others_besides(world: World, chance: random.Random) -> None:
    """More orchestrators, transcoders and GPUs than the spec knows, on connections of others."""
    for name in every(world, "/status"):
        body = world.answers[name][1]
        if body.get("OrchestratorPool"):
            body["OrchestratorPool"] += ["https://other.example.net", "", "nonsense"]
        body["RegisteredTranscodersNumber"] = 7
    changed(world, "/meta/gpu", lambda body: body | {"gpus": [*body["gpus"], {"index": 9}]})


def overridden_variable(world: World, chance: random.Random) -> None:
    for host in world.hosts.values():
        nodes = [one["node"] for one in host["state"]["processes"] if "/" not in one["node"]]
        if nodes:
            entry = {"node": chance.choice(nodes), "variable": "LP_MAXSESSIONS", "overridden": True}
            host["settings"].append(entry)
        for step in host["steps"]:
            if chance.random() < 0.3:
                step.update(do="ensure", reason="its secrets are read elsewhere")


def before_its_name_was_known(world: World, chance: random.Random) -> None:
    for host in world.hosts.values():
        if chance.random() < 0.5:
            host["state"].update(fleet="", host="")


def form_of_json(world: World, chance: random.Random) -> None:
    world.write = chance.choice(
        [
            lambda body: json.dumps(body, indent=1),
            lambda body: json.dumps(body, separators=(",", ":")) + "\n",
            lambda body: "\n\n " + json.dumps(body, ensure_ascii=False),
        ]
    )


VARIATIONS: list[Variation] = [
    other_order, extra_fields, case_of_addresses, release_with_commit, prices_as_fractions, metrics_as_prometheus_may,
    sleeping_slots, cold_models, a_little_spent, same_account_registered_elsewhere, others_besides, overridden_variable,
    before_its_name_was_known, form_of_json, numbers_as_text,
]  # fmt: skip


@for_each("seed", range(STATES))
def test_nothing_is_found_where_nothing_differs(seed: int) -> None:
    chance = random.Random(seed)
    world = World(compiled_example(EXAMPLES[seed % len(EXAMPLES)]), documented=chance.random() < 0.4)
    for variation in VARIATIONS:
        if chance.random() < 0.5:
            variation(world, chance)
    assert world.found() == []
