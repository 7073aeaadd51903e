"""The market as tables: who buys from whom, wallets, and what live runners earn.

In: the blueprint. Out: a part of the view of `FLEET.md`, and rows for pages of hosts.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.market import RunnerRow
from fleetc.emit.pages.cells import cell, named, text, word
from fleetc.emit.templates import View
from fleetc.emit.traced import Mark, together
from fleetc.places.origin import Origin, derived, given


def market_view(blueprint: Blueprint, mark: Mark) -> View:
    """Buyers, sellers and wallets, in groups; an empty text is an unknown value."""
    market = blueprint.market
    names = [*(row.gateway for row in market.rows), *(row.gateway for row in market.summaries)]
    buyers = together(given("gateways", name) for name in names)
    return {
        "whole_market": mark(market.whole, *buyers),
        "purchases": [*_purchases(blueprint, mark)],
        "rates": [mark((word(name), cell(worth)), given("rates", name)) for name, worth in market.rates],
        "wallets": [*_wallets(blueprint, mark)],
    }


def _purchases(blueprint: Blueprint, mark: Mark) -> Iterator[object]:
    """Gateways that meet the same orchestrators with the same outcome, together."""
    sellers: dict[tuple[str, str, str], list[str]] = {}
    for row in blueprint.market.rows:
        sellers.setdefault((row.work, row.verdict, row.gateway), []).append(row.orchestrator)
    groups: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (work, verdict, gateway), names in sellers.items():
        groups.setdefault((work, verdict, tuple(names)), []).append(gateway)
    for (work, verdict, orchestrators), gateways in groups.items():
        origin = derived(
            "what the gateways pay against what the orchestrators ask",
            *(("gateways", name) for name in gateways),
            *(("orchestrators", name) for name in orchestrators),
            *([("models", work.removeprefix("model "))] if work.startswith("model ") else []),
        )
        yield mark((named(gateways), cell(work), text(verdict), named(orchestrators)), origin)


def _wallets(blueprint: Blueprint, mark: Mark) -> Iterator[object]:
    """Each wallet with its account, its nodes and, if it pays tickets, its funds."""
    accounts: dict[str, tuple[str, list[str], list[Origin]]] = {}
    for host in blueprint.hosts:
        for service in host.services:
            for one in service.arguments:
                if one.flag == "ethAcctAddr" and one.origin.paths:
                    wallet = str(one.origin.paths[0][1])
                    _, nodes, origins = accounts.setdefault(wallet, (one.value, [], []))
                    nodes.append(service.name)
                    origins += [one.origin, given(service.table, service.name)]
    funds = {row.wallet: row for row in blueprint.market.funds if row.wallet}
    for wallet, (account, nodes, origins) in sorted(accounts.items()):
        row = funds.get(wallet)
        held = (row.deposit, row.reserve, row.runway) if row is not None else ("", "", "")
        cells = (cell(wallet), cell(account), named(nodes), *(cell(text) if text else "" for text in held))
        yield mark(cells, *dict.fromkeys(origins), given("wallets", wallet))


def sale_row(found: RunnerRow, mark: Mark) -> object:
    """A live runner that an orchestrator sells."""
    origin = derived(
        "the price of the runner, the tickets of its orchestrator and the cap of the signer",
        ("runners", found.runner, "price"),
        ("orchestrators", found.orchestrator, "ticket_ev"),
        ("rates", "USD"),
        *([("remote_signers", found.signer, "max_price")] if found.signer else []),
    )
    return mark(tuple(cell(text) if text else "" for text in found.shown), origin)
