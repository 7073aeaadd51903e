"""Amounts and outcomes of a market in words, for tables and reviews.

In: exact numbers, prices and decisions. Out: text. Numbers without a short decimal form are rounded, with "about".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

from fleetc.analysis.acceptance import BUYS, VIDEO, Decision, Goods, PriceEntry, gas_below
from fleetc.analysis.seen_market import Reach, Recorded, SeenMarket, reaches
from fleetc.analysis.tickets import Amount
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import ANY_PRICE, Price
from fleetc.text.counting import counted
from fleetc.text.encoders import visible


def outcome_text(decision: Decision, until: int | None) -> str:
    """The outcome for two nodes, with the gas price in wei below which they trade."""
    text = decision.outcome
    if decision.over is not None:
        text += f" by {percent_text(decision.over)} percent"
    if decision.why:
        text += f": {decision.why}"
    if until is None:
        return text
    return f"{text}{'' if decision.outcome == BUYS else '; buys'} while gas is below {gas_below(until)}"


def price_text(entry: PriceEntry) -> str:
    """A price as written; in parentheses what it is for each pixel, or what an offer is when it is sent."""
    if entry.price is None:
        return ANY_PRICE if entry.unbounded else "what its signer elsewhere pays"
    return _price_text(entry.price, entry.unit, entry.worth if entry.sent is None else entry.sent, entry.sent is None)


@lru_cache(maxsize=4096)
def _price_text(price: Price, unit: str, worth: Amount, plain: bool) -> str:
    if unit == price.currency and worth == price.per_pixel:
        return str(price)
    costs = "" if plain else " with redemption costs"
    if unit == price.currency and price.pixels > 1:
        return f"{price} ({number_text(Fraction(worth * price.pixels), 9)} {unit}{costs})"
    return f"{price} ({number_text(Fraction(worth), 9)} {unit} / pixel{costs})"


def number_text(number: Fraction, places: int) -> str:
    """A non-negative number in decimal digits: exact if it has few enough, else "about" and rounded down."""
    scaled = number * 10**places
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    digits = str(whole).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return f"about {text}" if rest else text


def percent_text(percent: Fraction) -> str:
    """A non-negative percentage, rounded half up to a tenth, below one to two digits: never 0 for a change."""
    places = 1
    while 0 < percent < 1 and percent * 10**places < 10:
        places += 1
    if places > _FINEST:
        return f"less than {number_text(Fraction(1, 10**_FINEST), _FINEST)}"
    return number_text(Fraction(math.floor(percent * 10**places + Fraction(1, 2)), 10**places), places)


_FINEST = 6
"""The most digits after the decimal point of a percentage."""


def hours_text(hours: Fraction) -> str:
    """A time span in days, hours and whole minutes: at least this much is left."""
    minutes, rest = divmod(hours.numerator * 60, hours.denominator)
    days, minutes = divmod(minutes, 24 * 60)
    parts = ((days, "d"), (minutes // 60, "h"), (minutes % 60, "min"))
    text = " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 min"
    return f"at least {text}" if rest else text


_SHOWN = 8
"""How many kinds of goods are shown of one market."""


def seen_text(seen: SeenMarket, reached: Iterable[Reach], when: str = "") -> Iterator[str]:
    """What a gateway reaches in the market that it saw, in lines: video, then the models that most offer."""
    rows = sorted(reached, key=lambda reach: (reach.goods != VIDEO, -reach.offers))
    odd = f", and {seen.unreadable:,} in a form that nobody can read" if seen.unreadable else ""
    yield f"{seen.gateway} saw{when} {counted(len(seen.orchestrators), 'orchestrator')}{odd}:"
    yield from (f"    {goods_text(reach.goods)}: {reach_text(reach)}" for reach in rows[:_SHOWN])
    if len(rows) > _SHOWN:
        yield f"    and {len(rows) - _SHOWN} more models"


def recorded_text(fleet: Fleet, recorded: Recorded) -> str:
    """What each gateway of the fleet reaches in the market that it saw."""
    markets, lines = {market.gateway: market for market in recorded.market}, [""]
    for name in fleet.gateways if fleet.on_chain else ():
        if name in markets:
            lines += seen_text(markets[name], reaches(fleet, markets[name]), f", at {recorded.time},")
        else:
            lines.append(f"nobody recorded at {recorded.time} what {name} saw")
    return "\n".join(lines) + "\n"


def goods_text(goods: Goods) -> str:
    """What is sold, in words; strangers choose the ids of models."""
    return "video" if goods == VIDEO else visible(" ".join(goods))[:100]


def reach_text(reach: Reach) -> str:
    """Who sells at a cap, and the nearest price above it. Prices of models are those before redemption costs."""
    if not reach.offers:
        return "nobody offers it"
    if not reach.known or reach.cap is None:
        return (
            f"{reach.offers} offer it, and {'the cap takes any price' if reach.known else 'its cap in wei is unknown'}"
        )
    text = f"{reach.sell} of {reach.offers} sell at its cap of {number_text(reach.cap, 9)} wei a pixel"
    text += "" if reach.nearest is None else f"; the nearest above it asks {number_text(reach.nearest, 9)}"
    return text if reach.goods == VIDEO else f"{text}, before redemption costs"
