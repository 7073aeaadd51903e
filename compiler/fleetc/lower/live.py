"""Lowers what a node takes while it runs, so that a change of it alone restarts nothing.

In: a fleet, a node, its service. Out: `LiveValue`s. Other settings need a restart, as do values that the node does not
report. `upstream/` has how to set a value, and the host gets that. Containers take nothing live, though their nodes
could: Docker starts one again with its old arguments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from fleetc.analysis.prices import NodePrice, prices_of
from fleetc.blueprint.blueprint import Service
from fleetc.blueprint.rollout import LiveValue
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.node import ChainSettings
from fleetc.language.quantities import Price
from fleetc.language.signing import talks_to_chain
from fleetc.lower import common
from fleetc.lower.prices import PRICES_FILE
from fleetc.lower.runner import RUNNERS_FILE
from fleetc.upstream import FLAGS
from fleetc.upstream.live_settings import LIVE_SETTINGS, LiveSetting

_AUTO = "auto"


def live_values(fleet: Fleet, node: Node, service: Service) -> tuple[LiveValue, ...]:
    """The settings that the process takes while it runs, by name."""
    on_chain = talks_to_chain(fleet, node)
    given = {argument.flag: argument.value for argument in service.arguments}
    found: list[LiveValue] = []
    for flag in ("v", "maxSessions", "maxFaceValue", "maxGasPrice", "minGasPrice"):
        setting = _taken(service, flag, on_chain)
        if setting is not None and given.get(flag) != _AUTO:
            found.append(_plain(service, flag, _plain_value(fleet, node, flag, given.get(flag)), setting))
    for price in prices_of(fleet, node):
        flag = _flag_of(price)
        setting = _taken(service, flag, on_chain)
        if price.at < 0 and setting is not None:
            found.append(_price(fleet, price, flag, setting))
    if _taken(service, "liveRunnerConfig", on_chain) is not None:
        found += _runners(service)
    return tuple(sorted(found))


def _taken(service: Service, flag: str, on_chain: bool) -> LiveSetting | None:
    """How the process takes a flag while it runs, if it does so with an effect."""
    setting = LIVE_SETTINGS[flag]
    works = setting.taken_by(service.role, service.release) and (on_chain or not setting.chain)
    return setting if works else None


def _plain_value(fleet: Fleet, node: Node, flag: str, given: str | None) -> str:
    """The value of a flag, or what the node uses without it; "" is no limit."""
    if flag == "minGasPrice" and isinstance(node.settings, ChainSettings):
        return str(effective.min_gas_price(fleet, node.settings))
    value = str(FLAGS[flag].default) if given is None else given
    return "" if flag == "maxGasPrice" and value == "0" else value


def _plain(service: Service, flag: str, value: str, setting: LiveSetting) -> LiveValue:
    """The value of a plain flag. What panics when it is taken away is only set."""
    said = bool(setting.read) and (service.monitored or not setting.metrics)
    settable = value != "" or not (setting.panics and service.monitored)
    return LiveValue(flag, value, said and settable, (flag,))


def _flag_of(price: NodePrice) -> str:
    if price.pays:
        return "maxPricePerUnit" if price.is_base else "maxPricePerCapability"
    return "pricePerUnit" if price.is_base else "pricePerGateway"


def _price(fleet: Fleet, price: NodePrice, flag: str, setting: LiveSetting) -> LiveValue:
    """A price. Another currency depends on a rate, so the node reports another number."""
    in_wei = price.price is None or price.price.currency == "wei"
    known_back = bool(setting.read) and in_wei
    if price.is_base:
        return LiveValue(flag, _worth(price.price), known_back, (flag, "pixelsPerUnit"))
    account = (common.account(fleet, price.to).lower(),) if price.to else ()
    name = " ".join((flag, *account, *(common.goods(fleet, price) if price.work else ())))
    return LiveValue(name, _worth(price.price), known_back, (flag,), PRICES_FILE)


def _worth(price: Price | None) -> str:
    """Wei per pixel in lowest terms, "" for any price; a price in another currency as people write it."""
    if price is None:
        return ""
    return str(Fraction(price.amount) / price.pixels) if price.currency == "wei" else str(price)


def _runners(service: Service) -> Iterator[LiveValue]:
    """The live runners that the orchestrator lists, one setting for each.

    How clients reach a runner is in the name: the node takes that live too, but sessions would lose their way. So an
    entry that goes, or changes there, is a setting that cannot be taken back.
    """
    entries = [entry for file in service.files if file.name == RUNNERS_FILE for entry in file.content["runners"]]
    for entry in entries:
        name = [
            "liveRunnerConfig",
            entry["label"],
            entry["routing"],
            entry["mode"],
            *["proxy"] * bool(entry.get("proxy")),
        ]
        yield LiveValue(" ".join(name), _entry_in_words(entry), True, (), RUNNERS_FILE)


def _entry_in_words(entry: Mapping[str, Any]) -> str:
    """What people look for in an entry, and a digest of all of it."""
    price = entry.get("price_info")
    asks = f"{Decimal(price['price']):f} {price['currency']} / {price['unit']}, " if price else ""
    digest = hashlib.sha256(json.dumps(entry, sort_keys=True, default=str).encode()).hexdigest()
    return f"{asks}capacity {entry.get('capacity', 1)}, entry {digest[:12]}"
