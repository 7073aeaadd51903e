"""Checks that ask the chain: its RPC address, what wallets hold, the price feed. Nothing here sends a transaction.

In: a need, and what is asked. Out: findings; how orchestrators are registered is handed on as it is.

Amounts are in wei. Of an RPC address that is bad, one finding speaks: what depends on it is silent then. What else the
chain does not say is a finding too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from ..keccak import keccak256
from ..places import Json, RefusedError
from ..rpc import Rpc, UnansweredError, number_in
from ..secret_files import masked, secret_value
from .asked import Asked, Finding, has_scheme

BEHIND_SECONDS = 3600
WORD = 32
"""Bytes of one value that a contract returns."""

ADDRESS_LIMIT = 500
"""Characters of a service address that are handed on; a name of a host has 253 at most."""


def check_rpc(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the RPC address answers, for the right chain, of now, and the contracts of the protocol are there."""
    rpc = rpc_of(need, asked)
    if rpc is None:
        return
    try:
        chain = rpc.chain_id()
        if need["chain_id"] and str(chain) != need["chain_id"]:
            message = "%s serves chain %d, and network of the spec is chain %s: the node would end at once"
            yield "rpc-of-this-chain", message % (rpc.name, chain, need["chain_id"])
            return
        rpc.number("eth_gasPrice")
        block = rpc.ask("eth_getBlockByNumber", "latest", False)
        age = time.time() - number_in(block.get("timestamp") if isinstance(block, dict) else None, "the last block")
        if age > BEHIND_SECONDS:
            yield "rpc-behind", "the last block that %s knows is %.1f hours old" % (rpc.name, age / 3600)
        if need["controller"] and not contract_of(rpc, need["controller"], "TicketBroker"):
            message = "the controller %s has no TicketBroker on chain %d, as %s says: correct controller or network"
            yield "rpc-of-this-chain", message % (need["controller"], chain, rpc.name)
    except UnansweredError as failure:
        yield "rpc-answers", "%s does not answer: %s" % (rpc.name, failure)


def check_wallet(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether an account has what the spec says: its balance, and the deposit and reserve of one that pays."""
    rpc = rpc_of(need, asked)
    if rpc is None or not serves(rpc, need["chain_id"]):
        return
    account = need["subject"]
    try:
        if need["minimum"]:
            yield from of_balance(rpc.number("eth_getBalance", account, "latest"), need)
        if need["pays"]:
            yield from of_sender(rpc, need)
    except UnansweredError as failure:
        yield "rpc-answers", "nobody knows what %s has: %s of %s" % (account, failure, rpc.name)


def of_balance(balance: int, need: Json) -> Iterator[Finding]:
    """An account that is empty, although it has to pay for transactions, or has too little."""
    account, minimum = need["subject"], int(need["minimum"])
    if balance >= minimum:
        return
    if need["sends"] and not balance:
        message = "%s has no ether, so it cannot pay for any transaction; minimum_balance of the spec is %s"
        yield "wallet-empty", message % (account, ether(minimum))
    else:
        message = "%s has %s, less than its minimum_balance of %s"
        yield "wallet-balance-low", message % (account, ether(balance), ether(minimum))


def of_sender(rpc: Rpc, need: Json) -> Iterator[Finding]:
    """What an account can pay tickets from."""
    account, broker = need["subject"], contract_of(rpc, need["controller"], "TicketBroker")
    if not broker:
        return  # said once, of the controller itself
    deposit, withdrawn, reserve, _ = words(
        rpc.call(broker, "getSenderInfo(address)", bytes.fromhex(account[2:])), 4, "getSenderInfo"
    )
    for what, amount in (("deposit", deposit), ("reserve", reserve)):
        planned = int(need[what] or 0)
        if not amount:
            message = "%s has no %s, so no orchestrator takes its tickets until it is funded"
            yield "%s-low" % what, message % (account, what)
        elif amount < int(need[what + "_low"] or 0):
            message = "%s has %s of the %s of %s that the spec plans"
            yield "%s-low" % what, message % (account, ether(amount), what, ether(planned))
    if withdrawn:
        message = (
            "%s unlocks its deposit and reserve, to be withdrawn from round %d on: orchestrators refuse its tickets"
        )
        yield "deposit-unlocking", message % (account, withdrawn)


def check_price_feed(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a price feed converts the currencies of prices, as the node reads it."""
    rpc = rpc_of(need, asked)
    if rpc is None or not serves(rpc, need["chain_id"]):
        return
    feed, code = need["subject"], "price-feed-answers"
    try:
        pair = [part.strip() for part in text_in(rpc.call(feed, "description()"), "description").upper().split("/")]
        price = words(rpc.call(feed, "latestRoundData()"), 5, "latestRoundData")[1]
        words(rpc.call(feed, "decimals()"), 1, "decimals")
        if len(pair) != 2 or "ETH" not in pair:
            yield code, "the feed at %s does not convert ETH" % feed
        elif not 0 < price < 2**255:
            yield code, "the feed at %s has no price above zero" % feed
        else:
            missing = [one for one in need["currencies"].split() if one.upper() not in pair]
            if missing:
                message = "the feed at %s converts %s, and not %s"
                yield code, message % (feed, printable(" / ".join(pair)), ", ".join(missing))
    except UnansweredError as failure:
        yield code, "no price feed answers at %s: %s" % (feed, failure)


def registration(need: Json, asked: Asked) -> Json | None:
    """How the chain has the account of orchestrators: whether it is active, and its service address.

    Out: nodes, and active and address, or a reason where the chain does not say it; None where the RPC address is bad.
    It is asked as the node does it: setContracts, GetTranscoder and GetServiceURI in eth/client.go of go-livepeer
    v0.9.1. The registry of a need is "" where the controller knows it.
    """
    rpc = rpc_of(need, asked)
    if rpc is None or not serves(rpc, need["chain_id"]):
        return None
    controller, account = need["controller"], bytes.fromhex(need["subject"][2:])
    try:
        manager = contract_of(rpc, controller, "BondingManager")
        registry = need["registry"] or contract_of(rpc, controller, "ServiceRegistry")
        for name, contract in (("BondingManager", manager), ("ServiceRegistry", registry)):
            if not contract:
                raise UnansweredError("the controller %s has no %s" % (controller, name))
        (active,) = words(rpc.call(manager, "isActiveTranscoder(address)", account), 1, "isActiveTranscoder")
        if active > 1:
            raise UnansweredError("its answer to isActiveTranscoder is neither yes nor no")
        address = text_in(rpc.call(registry, "getServiceURI(address)", account), "getServiceURI")
    except UnansweredError as failure:
        message = "%s does not say how %s is registered: %s"
        return {"nodes": need["nodes"], "reason": message % (rpc.name, need["subject"], failure)}
    return {"nodes": need["nodes"], "active": bool(active), "address": address[:ADDRESS_LIMIT]}


def rpc_of(need: Json, asked: Asked) -> Rpc | None:
    """The RPC address of a need; None where it is a secret that nobody has given, or none that can be asked.

    Missing and malformed secrets are found by their own check.
    """
    kind, reference = need["kind"], need["rpc"]
    if not kind:
        address, name = reference, "the RPC address %s" % masked(reference, ())
    else:
        secret = {"kind": kind, "reference": reference, "variable": need["variable"]}
        try:
            address = secret_value(secret, asked.values, "the host")
        except RefusedError:
            return None
        name = "the RPC address in %s, from %s %s," % (need["variable"], kind, reference)
    return asked.rpcs.at(address, name) if has_scheme(address, "http https ws wss") else None


def serves(rpc: Rpc, chain_id: str) -> bool:
    """Whether an RPC address answers for a chain; where it does not, its own check says so."""
    try:
        return str(rpc.chain_id()) == chain_id or not chain_id
    except UnansweredError:
        return False


def contract_of(rpc: Rpc, controller: str, name: str) -> str:
    """A contract of the protocol, as its controller has it; "" where that knows none, or is itself unknown."""
    found = rpc.call(controller, "getContract(bytes32)", keccak256(name.encode())) if controller else b""
    number = words(found, 1, "getContract")[0] if found else 0
    return "0x%040x" % number if 0 < number < 2**160 else ""


def words(data: bytes, count: int, what: str) -> list[int]:
    """The first values that a contract returned, as numbers."""
    if len(data) < WORD * count:
        raise UnansweredError("no contract there answers %s" % what)
    return [int.from_bytes(data[WORD * at : WORD * (at + 1)], "big") for at in range(count)]


def text_in(data: bytes, what: str) -> str:
    """A text that a contract returned."""
    start, length = words(data, 2, what)
    if start != WORD or length > len(data) - 2 * WORD:
        raise UnansweredError("its answer to %s is not text" % what)
    return data[2 * WORD : 2 * WORD + length].decode(errors="replace")


def ether(amount: int) -> str:
    """An amount for people, exact."""
    unit, size = ("ETH", 18) if amount >= 10**15 else ("gwei", 9) if amount >= 10**6 else ("wei", 0)
    whole, part = divmod(amount, 10**size)
    shown = "%d.%0*d" % (whole, size, part) if size else str(whole)
    return "%s %s" % (shown.rstrip("0").rstrip(".") if size else shown, unit)


def printable(text: str) -> str:
    """Text of others, for a message."""
    return "".join(one if " " <= one <= "~" else "?" for one in text)[:40]
