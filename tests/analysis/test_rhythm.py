"""The rhythm of tickets: against the node's own accounts of a session, written down a second time, second by second."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import NamedTuple

from fleetc.analysis.rhythm import sales
from fleetc.language.fleet import Fleet
from fleetc.language.spec import read_fleet
from fleetc.toml.document import Source, read_document
from tests.rules.support import SECRET, checked, model, onchain, orchestrator, renting, runner

PIXELS = 1280 * 720 * 30
REFUSING = {"runner-price-unpayable", "runner-payment-above-total", "payment-holds-too-little"}


class Session(NamedTuple):
    """What became of a session: the tickets of its first payment, the longest time between two later ones, in seconds,
    and how long the orchestrator's credit would have lasted when a payment came: the least of it.
    """

    first: int
    gap: int
    left: Fraction


def session(a_second: Fraction, ahead: int, ticket_ev: int, every: int = 5, lasts: int = 3600) -> Session:
    """A client asks its signer for a payment every few seconds, and the orchestrator debits what passed by.

    The signer knows the credit of the last payment that it made and when that was. It asks for the fee of the time
    since then, at least for one ticket's value, and makes as many tickets as the credit lacks for that. It answers 482
    and forgets what it computed if the credit is enough. Fees are debited in advance of the work.
    """
    credit, paid, last, gap, first = Fraction(0), 0, 0, 0, 0
    left = Fraction(ahead)
    for now in range(0, lasts, every):
        fee = a_second * (now - last or ahead)
        lacks = max(fee, Fraction(ticket_ev)) - credit
        if lacks <= 0:
            continue
        count = -(-lacks // ticket_ev)
        first = first or count
        if now:
            gap = max(gap, now - last)
            left = min(left, Fraction(paid * ticket_ev) / a_second - now)
        credit += count * ticket_ev - fee
        paid, last = paid + count, now
    return Session(first, gap, left)


def _fleet(text: str) -> Fleet:
    document, problems = read_document([Source("fleet.toml", text)])
    assert document is not None, problems
    fleet, problems = read_fleet(document)
    assert fleet is not None, problems
    return fleet


def _random(chance: random.Random) -> tuple[str, int]:
    """A spec with one session on sale, and its ticket_ev."""
    ticket_ev = int(10 ** chance.uniform(9, 12.4))
    wei = int(ticket_ev * 10 ** chance.uniform(-3, 1.7))
    written = f'"{ticket_ev} wei"'
    if chance.random() < 0.5:
        price = f'"{wei * 3600 / 4e14:.12f} USD / hour"'
        return renting(runner(price=price), ticket_ev=written), ticket_ev
    live = model(price=f'"{max(1, wei // PIXELS)} wei / pixel"', pipeline='"live-video-to-video"', id='"noop"')
    selling = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "gpus": "[0]", "secret": SECRET}
    return onchain(live, orchestrator(ticket_ev=written, auto_adjust_price="false", **selling)), ticket_ev


def test_200_sessions_are_paid_as_the_node_pays_them() -> None:
    seen: dict[str, int] = {}
    for seed in range(200):
        text, ticket_ev = _random(random.Random(seed))
        (sale,) = sales(_fleet(text), "orch")
        ahead = 10 if "[runners.echo]" in text else 60
        node = session(Fraction(sale.fee, ahead), ahead, ticket_ev)
        codes = {one.code for one in checked(text).diagnostics}
        refused = bool(codes & REFUSING)
        assert refused == (node.first > 100 or node.first * ticket_ev >= 2 * 10**13), (seed, node, codes)
        far = "ticket-pays-far-ahead" in codes
        if far:
            assert node.gap >= 60 and node.left <= ahead + 5, (seed, node)
        else:
            assert node.gap <= 2 * 60 + 5, (seed, node)  # what is left of a ticket pays as well
        for code, found in (("refused", refused), ("far", far), ("well", not refused and not far)):
            seen[code] = seen.get(code, 0) + found
    assert min(seen.values()) > 25, seen
