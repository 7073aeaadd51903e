"""What a change does to live runners: what they earn, who buys them, what they take of GPUs, how many sessions.

In: two fleets. Out: `Fact`s, and the sessions and cold starts of processes. Called by `effects.py`. Amounts of USD are
exact. A spec has no rate of requests, so only runners sold by time have a bound of income.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from fleetc.analysis import runner_prices
from fleetc.analysis.acceptance import BUYS
from fleetc.analysis.capacity import capacity, size_text
from fleetc.analysis.runner_offers import decisions
from fleetc.language.effective_runners import Offer, offers
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import RunnerPrice
from fleetc.lower.runner import RUNNERS_FILE
from fleetc.review.impact.facts import Fact, placed_runner
from fleetc.review.impact.money import UNBOUNDED, percent_amount
from fleetc.review.items.item import Item

_BY_TIME = ("hour", "720p")
_WHERE = ("runner_url", "health_url", "healthy_status_code")
"""What of an entry decides whether its runner is well."""


def selling(old: Fleet | None, new: Fleet | None) -> Iterator[Fact]:
    """What live runners are sold for, who buys them, how many sessions they have, and what they take of GPUs."""
    yield from _prices(old, new)
    yield from _buyers(old, new)
    yield from _sessions(old, new)
    yield from _gpus(old, new)


# --- money ----------------------------------------------------------------------------------------


def _prices(old: Fleet | None, new: Fleet | None) -> Iterator[Fact]:
    """Offers that come, go or change price or app; none off-chain."""
    before, after = _offers(old), _offers(new)
    on_chain = any(fleet is not None and fleet.on_chain for fleet in (old, new))
    for key in sorted({*before, *after}) if on_chain else ():
        there, here = before.get(key), after.get(key)
        was, will = _asks(there, old), _asks(here, new)
        node, name = key
        if there and here and there.runner.app != here.runner.app:
            text, amount = f"{name} sells {here.runner.app} instead of {there.runner.app}", UNBOUNDED
            yield Fact("price", node, text, amount, _hints(name), weight="worse", headline=f"{node}: {text}")
        if was == will:
            continue
        amount = _percent(there, here) if there and here else UNBOUNDED
        verb, price = ("asks", will) if here else ("is no longer sold; it asked", was)
        text = f"{name} {verb} {price}" + (f"; before: {was}" if there and here else "")
        yield Fact("price", node, text, amount, _hints(name), headline=f"{node}: {text}")


def _offers(fleet: Fleet | None) -> dict[tuple[str, str], Offer]:
    """The offers of a fleet by orchestrator and runner."""
    return {} if fleet is None else {(offer.orchestrator.name, offer.name): offer for offer in offers(fleet)}


def _hints(name: str) -> tuple[str, ...]:
    return (f"runner {name}", f"{RUNNERS_FILE}: {name}")


def _asks(offer: Offer | None, fleet: Fleet | None) -> str:
    """What an offer asks, and what all of its sessions earn in an hour at most."""
    price = offer.runner.price if offer is not None else None
    if offer is None or fleet is None or price is None:
        return "nothing"
    if price.sold_by.node not in _BY_TIME:
        return f"{price}, which earns by the number of requests"
    hour = runner_prices.usd(price, fleet.rates)
    if hour is None:
        return f"{price}, and there is no rate to tell what that earns"
    count = offer.runner.capacity or 1
    earns = runner_prices.times(hour, Decimal(count))
    return f"{price}, which earns at most {earns:f} USD an hour with {count} session{'s' * (count != 1)}"


def _percent(before: Offer, after: Offer) -> Decimal:
    """How much another price is, in percent; unbounded where they do not compare."""
    old, new = before.runner.price, after.runner.price
    if old is None or new is None or _unit(old) != _unit(new):
        return UNBOUNDED
    was, will = (Fraction(price.amount) * Fraction(price.sold_by.times) for price in (old, new))
    return percent_amount(abs(will - was) * 100 / was)


def _unit(price: RunnerPrice) -> tuple[str, str]:
    return price.currency, price.sold_by.node


def _buyers(old: Fleet | None, new: Fleet | None) -> Iterator[Fact]:
    """The signers whose clients can no longer buy a runner, and those whose clients newly can."""
    before, after = _bought(old), _bought(new)
    for gone, pairs in ((True, before - after), (False, after - before)):
        verb = "can no longer be bought" if gone else "can newly be bought"
        for node, name, signer in sorted(pairs):
            text, weight = f"{name} {verb} through {signer}", "worse" if gone else ""
            yield Fact("price", node, text, Decimal(0), _hints(name), (signer,), weight, f"{text} from {node}")


def _bought(fleet: Fleet | None) -> set[tuple[str, str, str]]:
    """Orchestrator, runner and signer of every offer that clients buy for certain."""
    sales = decisions(fleet) if fleet is not None else ()
    return {(d.sold.offer.orchestrator.name, d.sold.offer.name, d.signer.name) for d in sales if d.outcome == BUYS}


# --- sessions and GPUs ----------------------------------------------------------------------------


def _sessions(old: Fleet | None, new: Fleet | None) -> Iterator[Fact]:
    before, after = _offers(old), _offers(new)
    for key in sorted({*before, *after}):
        was, will = (offered[key].runner.capacity or 1 if key in offered else 0 for offered in (before, after))
        if was != will:
            text = f"{key[1]} takes {will or 'no'} session{'s' * (will != 1)} at once instead of {was or 'none'}"
            weight = "worse" if will < was else ""
            hints = (f"{RUNNERS_FILE}: {key[1]} capacity", f"{RUNNERS_FILE}: {key[1]}")
            yield Fact("capacity", key[0], text, Decimal(max(0, was - will)), hints, weight=weight)


def _gpus(old: Fleet | None, new: Fleet | None) -> Iterator[Fact]:
    """What runners take of each of their GPUs, and how full those are then."""
    before, after = _takes(old), _takes(new)
    for key in sorted({*before, *after}):
        (was, _), (will, full) = before.get(key, ("", "")), after.get(key, ("", ""))
        if was == will:
            continue
        name, host, gpu = key
        text = f"it takes {will} of GPU {gpu} of {host}{f' instead of {was}' if was else ''}{full}"
        text = text if will else f"it no longer takes {was} of GPU {gpu} of {host}"
        yield Fact("capacity", name, text, Decimal(0), ("GPUs", "gpus", "live-runner"))


def _takes(fleet: Fleet | None) -> dict[tuple[str, str, int], tuple[str, str]]:
    """What each runner takes of each GPU that its host lists, and how full that is, as the end of a sentence."""
    taken: dict[tuple[str, str, int], tuple[str, str]] = {}
    if fleet is None or not fleet.runners:
        return taken
    for load in capacity(fleet):
        for placed in fleet.runners_by_host.get(load.host, ()):
            mine = [demand for demand in load.demands if demand.origin[:2] == placed.path]
            if not mine:
                continue
            memory = [demand.amount for demand in mine if demand.kind == "memory"]
            parts = ["an unknown amount of the memory" if None in memory else size_text(sum(a or 0 for a in memory))]
            sessions = sum(demand.amount or 0 for demand in mine if demand.kind == "sessions")
            parts += [f"{sessions} encode session{'s' * (sessions != 1)}"] * bool(sessions)
            full = ""
            if load.memory_total is not None and None not in memory:
                full = f", of which {size_text(load.memory_used)} of {size_text(load.memory_total)} are taken then"
            taken[placed.name, load.host, load.gpu] = " and ".join(parts), full
    return taken


# --- what ends and what loads ---------------------------------------------------------------------


def loading(fleet: Fleet | None, names: Iterable[str]) -> str:
    """How long runners load until they serve again, as a sentence; "" where none of these starts."""
    started = [placed for name in names if (placed := placed_runner(fleet, name)) is not None]
    if not started:
        return ""
    times = {
        placed.name: str(placed.runner.ready_within) for placed in started if placed.runner.ready_within is not None
    }
    sentences = [f"{name} serves nothing for up to {time}" for name, time in times.items()]
    silent = [placed.name for placed in started if placed.name not in times]
    if silent:
        verb = "serves" if len(silent) == 1 else "serve"
        sentences.append(f"nobody states how long {' and '.join(silent)} {verb} nothing (ready_within)")
    return f"a cold start: {'; '.join(sentences)}"


def taken_live(old: Fleet | None, items: Sequence[Item], names: str, count: int) -> str:
    """How processes take a change over while they run. Of a list of live runners, sessions may drop all the same."""
    if any(item.kind == "sale" or item.what.startswith(RUNNERS_FILE) for item in items):
        return f"no restart: sent to the running node{'s' * (count > 1)} {names}{_may_drop(old, items)}"
    return f"live, no session drops: {names} take{'s' * (count == 1)} it over at once"


def _may_drop(old: Fleet | None, items: Iterable[Item]) -> str:
    """What drops if runners are not well where the orchestrator asks them from now on, as the end of a sentence."""
    capacities = {offer.name: offer.runner.capacity or 1 for offer in offers(old)} if old is not None else {}
    sessions: dict[str, int] = {}
    for item in items:
        if item.what.startswith(f"{RUNNERS_FILE}: "):
            name, _, key = item.what.removeprefix(f"{RUNNERS_FILE}: ").partition(" ")
            if key in _WHERE and name in capacities:
                sessions[name] = capacities[name]
    if not sessions:
        return ""
    count = sum(sessions.values())
    drop = f"up to {count} session{'s' * (count != 1)} of {' and '.join(sessions)} drop{'s' * (count == 1)}"
    return f"; {drop} if the first check of its health there fails"
