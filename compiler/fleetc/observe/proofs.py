"""The value that would do, proved by the calculations that check a spec.

In: a fleet, the nodes and places that a finding means, and what the log itself says (the parts of its lines). Out: the
end of a help line for each code that has a proof, or None where nothing can be proved. `PROOFS` is the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from math import ceil
from typing import NamedTuple

from fleetc.analysis import capacity
from fleetc.analysis.acceptance import VIDEO
from fleetc.analysis.economics import market_of
from fleetc.analysis.funds import funds
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Wei
from fleetc.language.worker import Transcoder
from fleetc.upstream import FLAGS

_MOST_SESSIONS = 4096
_SHOWN = 3


class Case(NamedTuple):
    """What a proof is asked about; `parts` has, for each kind of line, what stood for each {} of its pattern."""

    fleet: Fleet
    nodes: list[Node]
    writer: Node | None
    parts: tuple[tuple[str, ...], ...]


Proof = Callable[[Case], str]


def more_sessions(case: Case) -> str:
    """The most sessions that each orchestrator's GPUs certainly allow."""
    return _each(case, _more)


def fewer_sessions(case: Case) -> str:
    """The sessions that fit where more are allowed than the GPUs have."""
    return _each(case, _fewer)


def _each(case: Case, say: Callable[[Fleet, Node], str]) -> str:
    words = [say(case.fleet, node) for node in case.nodes if isinstance(node.settings, Orchestrator | Transcoder)]
    return "; ".join(word for word in words[:_SHOWN] if word)


def _more(fleet: Fleet, node: Node) -> str:
    most, now = _sessions_that_fit(fleet, node), _sessions(node)
    if most is None or now is None:
        return f"the spec does not say enough to prove a number for {node.name}"
    if most == _MOST_SESSIONS:
        return f"by the spec the GPUs of {node.name} allow any number of sessions, and it has {now}: write more"
    if most > now:
        return f"write max_sessions = {most} for {node.name}: its GPUs certainly have room for that, and not for more"
    return f"the GPUs of {node.name} certainly have room for {most} sessions, and it has {now}: add GPUs or nodes"


def _fewer(fleet: Fleet, node: Node) -> str:
    most, now = _sessions_that_fit(fleet, node), _sessions(node)
    if most is None or now is None:
        return ""
    if most < now:
        return f"write max_sessions = {most} for {node.name}, which is what its GPUs certainly have room for"
    return (
        f"the {now} sessions of {node.name} fit by the spec: see what else encodes there, or write encode_sessions "
        "of its GPUs as the driver allows"
    )


def _sessions(node: Node) -> int | None:
    """The limit in force; None where it is "auto"."""
    limit = getattr(node.settings, "max_sessions", None)
    return int(FLAGS["maxSessions"].default) if limit is None else limit if isinstance(limit, int) else None


def _sessions_that_fit(fleet: Fleet, node: Node) -> int | None:
    """The highest limit of a node with which its GPUs hold all their work; None where that is not known."""
    if not effective.transcodes(fleet, node).value or not effective.gpu_ids(fleet, node):
        return None
    if not fleet.hosts[node.settings.host].gpus or not _fits(fleet, node, 1):
        return None
    if _fits(fleet, node, _MOST_SESSIONS):
        return _MOST_SESSIONS
    low, high = 1, _MOST_SESSIONS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(fleet, node, middle) else (low, middle)
    return low


def _fits(fleet: Fleet, node: Node, sessions: int) -> bool:
    """Whether the host of a node certainly holds its work, were this its limit."""
    host = node.settings.host
    changed = node.settings.model_copy(update={"max_sessions": sessions})
    tables = {name: getattr(fleet, name) for name in Fleet.model_fields}
    tables |= {"hosts": {host: fleet.hosts[host]}, node.table: {**tables[node.table], node.name: changed}}
    supposed = Fleet.model_construct(**tables)
    return not any(problem.code in _FULL for problem in capacity.problems(supposed))


_FULL = ("encode-sessions-exceeded", "gpu-memory-exceeded", "capacity-unknown")


def memory(case: Case) -> str:
    """What the models of a host need by the spec, where that fits: then a number of the spec is too low."""
    words = []
    hosts = dict.fromkeys(node.settings.host for node in case.nodes if effective.runs_models(case.fleet, node).value)
    for load in capacity.capacity(case.fleet):
        if load.host in hosts and load.memory_used and isinstance(load.memory_total, int):
            share = 100 * load.memory_used // load.memory_total
            words.append(f"GPU {load.gpu} of host {load.host} is {share} % full by the spec")
    if not words:
        return ""
    return f"{', '.join(words[:_SHOWN])}: measure the memory of each model, and write it in [models]"


def deposit(case: Case) -> str:
    """How long the deposit lasts, where the load is stated."""
    words = []
    for one in funds(case.fleet):
        if (case.writer is None or one.node in _payers(case)) and one.runway is not None and one.deposit is not None:
            words.append(
                f"the spec plans {one.deposit}, which last {one.node} {int(one.runway)} hours at its expected load"
            )
    return "; ".join(words[:_SHOWN])


def _payers(case: Case) -> set[str]:
    names = {node.name for node in case.nodes}
    return names | ({case.writer.name} if case.writer is not None else set())


def deposit_for_face_value(case: Case) -> str:
    """The deposit that the face value in the log demands."""
    face = _highest(case.parts, 0)
    if face is None:
        return ""
    multiplier = int(FLAGS["depositMultiplier"].default)
    if case.writer is not None and (tickets := getattr(case.writer.settings, "tickets", None)) is not None:
        multiplier = tickets.deposit_multiplier or multiplier
    return f'write deposit = "{Wei(_up(face) * multiplier)}" or more, and fund it: the log says what a ticket is worth'


def ticket_limit(case: Case) -> str:
    """The limit of one ticket that admits those of the log."""
    worth = _highest(case.parts, 0)
    return f'write tickets.max_ev = "{Wei(_rounded(worth))}" or more' if worth is not None else ""


def payment_limit(case: Case) -> str:
    """The limit of one payment that admits those of the log."""
    worth = _highest(case.parts, 0)
    return f'write tickets.max_total_ev = "{Wei(_rounded(worth))}" or more' if worth is not None else ""


def gas_limit(case: Case) -> str:
    """The limit that would have let the transactions of the log through."""
    gwei = _highest(case.parts, 1)
    return f'write max_gas_price = "{Wei(_up(gwei * 10**9))}" or more' if gwei is not None else ""


def cap(case: Case) -> str:
    """What the market of the spec says, and the cap that admits the cheapest offer in the log."""
    prices = [price for parts in case.parts if len(parts) > 1 and (price := _number(parts[1])) is not None]
    caps = {price for parts in case.parts if parts and (price := _number(parts[0])) is not None}
    words = [market(case)]
    if prices:
        then = f", which was {_plain(max(caps))} then" if caps else ""
        words.append(f'the cheapest offer in the log needs max_price = "{_plain(min(prices))} wei / pixel"{then}')
    return "; ".join(filter(None, words))


def market(case: Case) -> str:
    """From how many of the offers in the spec each gateway buys video."""
    if not case.fleet.on_chain:
        return ""
    words = []
    found = market_of(case.fleet)
    for node in case.nodes:
        verdict = found.judge(node.name, VIDEO) if node.name in found.caps and found.wants(node.name, VIDEO) else None
        if verdict is not None and verdict.offers:
            offers = f"{verdict.offers} offer{'' if verdict.offers == 1 else 's'}"
            words.append(f"by the spec, {node.name} buys video from {verdict.within} of {offers} of this fleet")
    return "; ".join(words[:_SHOWN])


def ceiling(case: Case) -> str:
    """The cap of a signer that admits the dearest offer in the log."""
    price = _highest(case.parts, 0)
    return f'the dearest offer in the log needs max_price = "{_plain(price)} wei / pixel"' if price is not None else ""


def service(case: Case) -> str:
    """The address that the node discovered, unless the spec has it."""
    found = {parts[1].removeprefix("https://") for parts in case.parts if len(parts) > 1}
    written = {str(getattr(node.settings, "service", None)) for node in case.nodes}
    if len(found) != 1:
        return ""
    (address,) = found
    if address in written:
        return f"the spec already has {address}: register it on the chain"
    return f'write service = "{address}" if that address is to stay, and register it'


def port(case: Case) -> str:
    """Who else has the port on the host, by the spec."""
    numbers = {parts[0].rpartition(":")[2] for parts in case.parts if parts}
    nodes = case.fleet.nodes_by_host.get(case.writer.settings.host, ()) if case.writer else case.fleet.nodes
    users = [
        f"{node.name} ({bound.purpose})"
        for node in nodes
        for bound in effective.bound_ports(case.fleet, node)
        if str(bound.port) in numbers
    ]
    which = f"port {', '.join(sorted(numbers))}" if numbers else "the port"
    if not users:
        return f"by the spec no node has {which}: another program on the host does" if numbers else ""
    return f"by the spec {which} belongs to {', '.join(users[:_SHOWN])}; ss -ltnp on the host shows who has it"


def balance(case: Case) -> str:
    """What the wallet should keep."""
    low = [name for name, wallet in sorted(case.fleet.wallets.items()) if wallet.minimum_balance is None]
    return f'write minimum_balance = "0.05 ETH" for wallet {low[0]}' if low else ""


def _number(text: str) -> Decimal | None:
    """A number of a log, if it is one that can be money."""
    try:
        number = Decimal(text.strip()) if len(text) <= 80 else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and 0 < number < 2**200 else None


def _plain(number: Decimal) -> str:
    """A number without an exponent and without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _highest(parts: tuple[tuple[str, ...], ...], index: int) -> Decimal | None:
    numbers = [number for part in parts if len(part) > index and (number := _number(part[index])) is not None]
    return max(numbers, default=None)


def _up(number: Decimal) -> int:
    return ceil(number)


def _rounded(number: Decimal) -> int:
    """An amount with two digits, rounded up."""
    whole = ceil(number)
    unit = 10 ** max(0, len(str(whole)) - 2)
    return int(-(-whole // unit) * unit)


PROOFS: Mapping[str, Proof] = {
    "orchestrator-capped": more_sessions,
    "encoder-out-of-sessions": fewer_sessions,
    "cuda-out-of-memory": memory,
    "deposit-missing": deposit,
    "gateway-has-no-funds": deposit,
    "face-value-above-deposit": deposit_for_face_value,
    "ticket-value-high": ticket_limit,
    "payment-value-high": payment_limit,
    "gas-price-above-limit": gas_limit,
    "gas-funds-missing": balance,
    "sessions-not-available": market,
    "price-above-cap": cap,
    "gateway-cap-below-every-price": cap,
    "price-above-ceiling": ceiling,
    "service-address-differs": service,
    "port-in-use": port,
}
"""The proof of each code that has one."""
