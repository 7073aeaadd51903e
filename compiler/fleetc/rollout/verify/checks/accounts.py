"""Whether a node uses the account and the chain of the spec, and its reported funds.

In: a node and its answers. Out: findings. Amounts are in wei.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from fleetc.language.monitoring import Monitoring
from fleetc.language.node import ChainSettings
from fleetc.language.quantities import QuantityError, Wei
from fleetc.language.signing import talks_to_chain
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import Fact, Finding, NodeSeen, UnknownError
from fleetc.upstream import NETWORKS

_SHOWN_HOURS = 24 * 366


def account(seen: NodeSeen) -> Iterator[Finding]:
    """Its account, and the chain that it talks to."""
    node = seen.node
    if not talks_to_chain(seen.fleet, node) or not isinstance(node.settings, ChainSettings):
        return
    where = seen.service.health.status
    if node.settings.wallet is not None:
        wanted = str(seen.fleet.wallets[node.settings.wallet].address)
        address = replies.words(seen.reply(where, "/ethAddr"), "/ethAddr")
        if address.lower() != wanted.lower():
            message = f"it uses the account {replies.shown(address)} instead of {wanted}"
            yield seen.found("drift", "other-account", message, "wallet")
    network = NETWORKS.get(seen.fleet.fleet.network)
    chain = replies.words(seen.reply(where, "/EthChainID"), "/EthChainID")
    if network is not None and chain != str(network.chain_id):
        message = f"it talks to chain {replies.shown(chain)} instead of {network.chain_id}"
        yield seen.found("drift", "other-chain", message)._replace(place=("fleet", "network"))


def deposit(seen: NodeSeen) -> Iterator[Finding]:
    """The reported deposit and reserve of a paying node."""
    own = seen.funds
    if own is None or seen.service.role not in ("gateway", "remote-signer"):
        return
    answer, held = _sender(seen)
    shares = seen.fleet.monitoring or Monitoring()
    planned: dict[str, tuple[Wei | None, str]] = {
        "deposit": (own.deposit, shares.deposit_low),
        "reserve": (own.reserve, shares.reserve_low),
    }
    for what, amount in held.items():
        if amount is None:
            raise UnknownError(f"/senderInfo has no {what}")
        wish, share = planned[what]
        low = 0 if wish is None else wish.wei * int(share.removesuffix("%")) // 100
        if not amount.wei or amount.wei < low:
            hours = lasting(own.cost, amount) if what == "deposit" else ""
            message = f"its {what} is {amount}{f' of the {wish} that the spec plans' if wish else ''}{hours}"
            finding = seen.found("warning", f"{what}-low", message)
            yield finding._replace(place=("wallets", own.wallet))
    withdrawn = replies.number(answer.get("WithdrawRound"))
    if withdrawn:
        message = f"its deposit can be withdrawn from round {withdrawn} on, so orchestrators refuse its tickets"
        yield seen.found("warning", "deposit-unlocking", message)._replace(place=("wallets", own.wallet))


def _sender(seen: NodeSeen) -> tuple[Mapping[str, Any], dict[str, Wei | None]]:
    """The answer of /senderInfo, and its deposit and reserve; None for a missing one."""
    answer = replies.mapping(seen.reply(seen.service.health.status, "/senderInfo"), "/senderInfo")
    reserve = answer.get("Reserve")
    return answer, {
        "deposit": _wei(answer.get("Deposit")),
        "reserve": _wei(reserve.get("FundsRemaining") if isinstance(reserve, dict) else reserve),
    }


def _wei(value: object) -> Wei | None:
    """A reported amount of whole wei; None for what no chain can have."""
    amount = replies.number(value)
    try:
        return None if amount is None else Wei(int(amount))
    except QuantityError:
        return None


def lasting(cost: Fraction | None, amount: Wei) -> str:
    """How long a deposit lasts at a cost in wei an hour, as the end of a sentence."""
    if not cost or not amount.wei:
        return ""
    hours = amount.wei / cost
    return "" if hours > _SHOWN_HOURS else f", which lasts {float(hours):.1f} h at the stated load"


def amounts(seen: NodeSeen) -> Iterator[Fact]:
    """The reported deposit and reserve of a paying node, and the runway; none if it is silent."""
    own = seen.funds
    if own is None:
        return
    try:
        _, held = _sender(seen)
    except UnknownError:
        return
    for what, amount in held.items():
        if amount is not None:
            yield Fact(seen.host.name, seen.service.name, what, str(amount))
    if held["deposit"] is not None and own.cost:
        lasts = f"{float(held['deposit'].wei / own.cost):,.1f} h"
        yield Fact(seen.host.name, seen.service.name, "deposit lasts", lasts)
