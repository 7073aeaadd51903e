"""Whether a gateway buys from an orchestrator, written down a second time, straight from what the node does.

In: a spec as plain TOML values, the names of a gateway and an orchestrator, and "video" or a (pipeline, model id). Out:
one word and, when too expensive, by how many percent. It shares nothing with the compiler: it reads its own prices,
walks every list from one end to the other, and computes with fractions only. `test_economics.py` compares the two.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

Spec = dict[str, Any]
Work = str | tuple[str, str]
Asked = tuple[str, Fraction]
"""A unit, "wei" or a currency that nobody knows the worth of, and the amount for one pixel."""

PIXELS = {"pixel": 1, "megapixel": 10**6, "gigapixel": 10**9, "terapixel": 10**12}
BIGGEST = 9223372036854775807


def ether(text: str) -> Fraction:
    """An amount of ether in wei."""
    number, unit = text.split(" ")
    return Fraction(number) * {"wei": 1, "gwei": 10**9, "ETH": 10**18}[unit]


def price(spec: Spec, text: str) -> Asked:
    """The amount for one pixel; in wei when the currency is ether or has a rate."""
    found = re.fullmatch(r"([0-9.]+) (\w+) / (?:(\d+) )?(\w+?)s?", text)
    assert found is not None, text
    amount, unit = Fraction(found[1]), found[2]
    amount /= int(found[3] or 1) * PIXELS[found[4]]
    if unit in ("wei", "gwei", "ETH"):
        return "wei", ether(f"1 {unit}") * amount
    if unit in spec.get("rates", {}):
        return "wei", ether(spec["rates"][unit]) * amount
    return unit, amount


def account(spec: Spec, gateway: str) -> str | None:
    """Who pays for a gateway."""
    wallet = spec["gateways"][gateway].get("wallet")
    return str(spec["wallets"][wallet]["address"]).lower() if wallet else None


def cap(spec: Spec, gateway: str, work: Work) -> Asked | None:
    """The highest price that the gateway accepts; None when it accepts any."""
    settings = spec["gateways"][gateway]
    if settings.get("ignore_max_price_if_needed"):
        return None
    caps = settings.get("max_model_prices", {})
    if work != "video":
        named = [key for key in sorted(caps) if key in spec["models"]]
        exact = [key for key in named if (spec["models"][key]["pipeline"], spec["models"][key]["id"]) == work]
        if exact:
            return price(spec, caps[exact[-1]])  # the file is read from top to bottom, and the last entry stays
        if work[0] in caps and work[0] not in spec["models"]:
            return price(spec, caps[work[0]])
    base = settings.get("max_price", "any")
    return None if base == "any" else price(spec, base)


def special(spec: Spec, prices: dict[str, str], gateway: str) -> str | None:
    """The entry for a gateway's account in a list of prices, if there is one."""
    mine = account(spec, gateway)
    found = None
    for key in sorted(prices):
        theirs = key.lower() if key.startswith("0x") else account(spec, key)
        if mine is not None and theirs == mine:
            found = prices[key]
    return found


def asked(spec: Spec, orchestrator: str, gateway: str, work: Work) -> str | None:
    """The price that the orchestrator's settings give, as written; None when it does not sell the work."""
    settings = spec["orchestrators"][orchestrator]
    base = settings.get("price")
    if work == "video":
        if settings["mode"] not in ("video", "dual") or base is None:
            return None
        return special(spec, settings.get("gateway_prices", {}), gateway) or base
    if settings["mode"] not in ("ai", "dual"):
        return None
    answer = None
    for worker in spec.get("ai_workers", {}).values():
        if worker["orchestrator"] == orchestrator:
            for use in worker["models"]:
                if (spec["models"][use["use"]]["pipeline"], spec["models"][use["use"]]["id"]) == work:
                    answer = base  # no price of its own
    theirs = None
    for use in settings.get("models", []):
        model = spec["models"][use["use"]]
        if (model["pipeline"], model["id"]) == work:  # of two entries for the same, the node keeps the last
            answer = use.get("price") or model.get("price") or base
            theirs = special(spec, use.get("gateway_prices", {}), gateway) or theirs
    answer = theirs if answer is not None and theirs is not None else answer
    if answer is not None and price(spec, answer)[1] == 0 and base is not None:
        return str(base)
    return answer


def in_wei(text: str | None, otherwise: int) -> int:
    """An amount of ether as a whole number of wei."""
    return otherwise if text is None else int(ether(text))


def gas_cost(spec: Spec, orchestrator: str) -> int:
    """What the orchestrator thinks that redeeming one ticket costs it, in wei."""
    floor = in_wei(spec["orchestrators"][orchestrator].get("min_gas_price"), 0)
    return 1_200_000 * max(in_wei(spec["fleet"].get("gas_price"), 50_000_000), floor)


def face_value(spec: Spec, orchestrator: str, reserve: int | None) -> int | None:
    """The face value of the tickets that it asks for; None where it answers that the reserve is insufficient."""
    settings = spec["orchestrators"][orchestrator]
    cost, value = gas_cost(spec, orchestrator), in_wei(settings.get("ticket_ev"), 8_000_000_000)
    face = 100 * cost
    if face < value:
        face = 100 * value
    if reserve is not None and face > reserve // 100:
        face = reserve // 100
    ceiling = in_wei(settings.get("max_face_value"), 0)
    if ceiling > 0 and face > ceiling:
        face = ceiling
    return None if face < value or face < min(cost, 1_200_000 * 3_000_000_000) else face


def funds(spec: Spec, gateway: str) -> tuple[int | None, int | None]:
    """Reserve and deposit of whoever pays for the gateway; None is not stated."""
    wallet = spec["wallets"].get(spec["gateways"][gateway].get("wallet"), {})
    return tuple(in_wei(wallet[key], 0) if key in wallet else None for key in ("reserve", "deposit"))  # type: ignore[return-value]


def can_pay(spec: Spec, gateway: str, orchestrator: str) -> bool:
    """Whether the orchestrator gives the gateway tickets, and the gateway makes payments with them."""
    reserve, deposit = funds(spec, gateway)
    face = face_value(spec, orchestrator, reserve)
    value = in_wei(spec["orchestrators"][orchestrator].get("ticket_ev"), 8_000_000_000)
    if face is None or value == 0 or reserve == 0 or deposit == 0:
        return False
    bounds = spec["gateways"][gateway].get("tickets", {})
    chances = 2**256 - 1
    win = value * (chances // face + (1 if chances % face else 0))
    worth = Fraction(face * win, chances)
    return (
        value < face
        and worth <= in_wei(bounds.get("max_ev"), 3_000_000_000_000)
        and worth <= in_wei(bounds.get("max_total_ev"), 20_000_000_000_000)
        and (deposit is None or face <= deposit // bounds.get("deposit_multiplier", 1))
    )


def sent(spec: Spec, orchestrator: str, gateway: str, text: str) -> Asked | None:
    """The price as it reaches the gateway; None when the orchestrator cannot put it into two numbers."""
    unit, amount = price(spec, text)
    if spec["orchestrators"][orchestrator].get("auto_adjust_price", True):
        face = face_value(spec, orchestrator, funds(spec, gateway)[0])
        if face is not None and amount:
            amount *= 1 + Fraction(gas_cost(spec, orchestrator), face)
        if unit != "wei":
            return unit, amount
        return unit, Fraction(min(amount.numerator * 1000 // amount.denominator, BIGGEST), 1000)
    if unit == "wei" and (amount.numerator > BIGGEST or amount.denominator > BIGGEST):
        return None
    return unit, amount


def serves_at(spec: Spec, orchestrator: str) -> str:
    """The address that the orchestrator advertises."""
    settings = spec["orchestrators"][orchestrator]
    return str(settings.get("service") or f"{spec['hosts'][settings['host']]['public']}:8935")


def entry(spec: Spec, orchestrator: str) -> tuple[str, bool]:
    """Which account has a registration for it, and whether that is in the registry for AI."""
    settings = spec["orchestrators"][orchestrator]
    who = settings.get("orchestrator_address") or spec["wallets"][settings["wallet"]]["address"]
    return who.lower(), settings.get("ai_registry", settings["mode"] == "ai")


def tells(spec: Spec, orchestrator: str, extra: int) -> set[str]:
    """The addresses that a gateway hears of from the orchestrator: the node looks at the first few only."""
    return {url.removeprefix("https://") for url in spec["orchestrators"][orchestrator].get("instances", [])[:extra]}


def registered(spec: Spec, orchestrator: str) -> set[str]:
    """Those of the orchestrators with the same registration whose address people may have registered."""
    same = [name for name in spec["orchestrators"] if entry(spec, name) == entry(spec, orchestrator)]
    at = {name: serves_at(spec, name) for name in same}
    named = {listed for buyer in spec["gateways"].values() for listed in buyer.get("orchestrators", [])}
    told = {
        name: {address for other in spec["orchestrators"] if other != name for address in tells(spec, other, 99)}
        for name in same
    }
    telling = [name for name in same if (tells(spec, name, 99) - {at[name]}) & set(at.values())]
    unnamed = [name for name in same if name not in named and at[name] not in told[name]]
    for few in (telling, unnamed):
        if len({at[name] for name in few}) == 1:
            return set(few)
    return set(same)


def is_sure_to_be_found(spec: Spec, gateway: str, orchestrator: str) -> bool:
    """Whether a gateway that searches finds it, whichever of the addresses that will do is registered."""
    chosen = registered(spec, orchestrator)
    addresses = {serves_at(spec, name) for name in chosen}
    if len(addresses) > 1:
        return False
    extra = spec["gateways"][gateway].get("selection", {}).get("extra_nodes", 0)
    return serves_at(spec, orchestrator) in addresses | tells(spec, min(chosen), extra)


def is_asked(spec: Spec, gateway: str, orchestrator: str, work: Work) -> bool:
    """Whether the gateway would turn to the orchestrator for this work."""
    buyer, seller = spec["gateways"][gateway], spec["orchestrators"][orchestrator]
    if buyer["mode"] not in (("video", "dual") if work == "video" else ("ai", "dual")):
        return False
    selection = buyer.get("selection", {})
    oldest = selection.get("min_release", "v0.0.0")
    if [int(n) for n in seller.get("node_release", "v0.9.1")[1:].split(".")] < [int(n) for n in oldest[1:].split(".")]:
        return False
    listed, searched = buyer.get("orchestrators"), buyer.get("discovery")
    if listed:
        told = set().union(*(tells(spec, name, selection.get("extra_nodes", 0)) for name in listed))
        if orchestrator not in listed and serves_at(spec, orchestrator) not in told:
            return False
    elif searched in ("registry", "ai-registry"):
        if (searched == "ai-registry" or buyer["mode"] == "ai") != entry(spec, orchestrator)[1]:
            return False
    elif searched is not None:
        return True  # others name the orchestrators, and the node does not look at its list of blocked ones
    blocked = [address.lower() for address in selection.get("blocked", [])]
    return str(spec["wallets"][seller["wallet"]]["address"]).lower() not in blocked


def outcome(spec: Spec, gateway: str, orchestrator: str, work: Work) -> tuple[str, Fraction | None]:
    """What comes of it: not asked, not offered, refused, buys, unknown, or too expensive with the percentage."""
    if not is_asked(spec, gateway, orchestrator, work):
        return "not asked", None
    text = asked(spec, orchestrator, gateway, work)
    offer = None if text is None else sent(spec, orchestrator, gateway, text)
    if text is None or offer is None:
        return "not offered", None
    searches = not spec["gateways"][gateway].get("orchestrators") and "discovery" in spec["gateways"][gateway]
    searches = searches and isinstance(spec["gateways"][gateway]["discovery"], str)
    found = not searches or is_sure_to_be_found(spec, gateway, orchestrator)
    if price(spec, text)[1] == 0:
        return "buys" if found else "unknown", None
    if not can_pay(spec, gateway, orchestrator):
        return "refused", None
    most = cap(spec, gateway, work)
    if most is not None and offer[1] != 0 and most[0] != offer[0]:
        return "unknown", None
    if most is not None and offer[1] > most[1]:
        return "too expensive", (offer[1] / most[1] - 1) * 100
    return ("unknown" if None in funds(spec, gateway) or not found else "buys"), None
