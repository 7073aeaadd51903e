"""The value that would do, proved by the calculations that check a spec.

In: a fleet, the nodes and places of a finding, and the parts of its log lines. Out: the end of a help line for each
code with a proof, or "". `PROOFS` is the table; `NUMBERS` is that of what the numbers of lines say without a fleet.

It shows what others ask for but never proposes it: a ticket limit protects a gateway from greedy orchestrators. Texts
of a log are only repeated where they are what they should be: a number, a port, an address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import islice
from math import ceil
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from fleetc.analysis import capacity, listeners
from fleetc.analysis.acceptance import VIDEO, terms_of
from fleetc.analysis.economics import market_of
from fleetc.analysis.funds import funds
from fleetc.analysis.prices import prices_of
from fleetc.analysis.tickets import SIGNED_NONCES, STRANGER, Terms
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator, ServiceAddress, ServiceField
from fleetc.language.quantities import Wei
from fleetc.language.signing import payer
from fleetc.language.worker import Transcoder
from fleetc.observe.amounts import Range
from fleetc.observe.tally import Seen
from fleetc.upstream import FLAGS

_GWEI = 10**9
_MOST_SESSIONS = 4096
_SHOWN = 3
_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) (bytes|KiB|MiB|GiB)")
_BYTES = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SERVICE: TypeAdapter[ServiceAddress] = TypeAdapter(ServiceField)


class Case(NamedTuple):
    """The subject of a proof; `parts` has the texts of each {} for some lines, `ranges` the lowest and highest number
    there of all lines.
    """

    fleet: Fleet
    nodes: list[Node]
    writer: Node | None
    parts: tuple[tuple[str, ...], ...]
    ranges: Mapping[int, Range]


Proof = Callable[[Case], str]
Logged = Case | Seen
"""What has the numbers of lines."""


def more_sessions(case: Case) -> str:
    """The most sessions that each orchestrator's GPUs certainly allow."""
    return _each(case, _more)


def fewer_sessions(case: Case) -> str:
    """The sessions that fit where more are allowed than the GPUs have."""
    return _each(case, _fewer)


def _each(case: Case, say: Callable[[Fleet, Node], str]) -> str:
    nodes = (node for node in case.nodes if isinstance(node.settings, Orchestrator | Transcoder))
    return "; ".join(islice(filter(None, (say(case.fleet, node) for node in nodes)), _SHOWN))


def _more(fleet: Fleet, node: Node) -> str:
    most, now = _sessions_that_fit(fleet, node), _sessions(node)
    if most is None or now is None:
        return f"the spec has too little to prove a number for {node.name}"
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
    """The highest limit that fits the node's GPUs; None where that is not known."""
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
    """The needs of a host's models by the spec, if they fit: then a number of the spec is too low."""
    words = []
    hosts = dict.fromkeys(node.settings.host for node in case.nodes if effective.runs_models(case.fleet, node).value)
    for load in capacity.capacity(case.fleet):
        if load.host in hosts and load.memory_used and isinstance(load.memory_total, int):
            share = 100 * load.memory_used // load.memory_total
            words.append(f"GPU {load.gpu} of host {load.host} is {share} % full by the spec")
    full = f"{', '.join(words[:_SHOWN])}: measure the memory of each model, and write it in [models]" if words else ""
    return "; ".join(filter(None, (memory_asked(case), full)))


def memory_asked(log: Logged) -> str:
    """How much memory a model asked for, and how much less has to be in use for it."""
    for asked, gpu, _, total, free in filter(None, log.parts):
        sizes = [_SIZE.fullmatch(text) for text in (asked, free, total)]
        if gpu.isdecimal() and all(sizes):
            need, left, _ = (Decimal(size[1]) * _BYTES[size[2]] for size in sizes if size)
            less = f", so {_gib(need - left)} too little" if need > left else ", but in pieces that are too small"
            return f"a model asked for {asked}, and GPU {gpu} had {free} of {total} left{less}"
    return ""


def _gib(size: Decimal) -> str:
    return f"{size / _BYTES['GiB']:.2f} GiB"


def deposit(case: Case) -> str:
    """How long the deposit lasts, where the load is stated."""
    words = []
    for row in funds(case.fleet):
        if (case.writer is None or row.node in _payers(case)) and row.runway is not None and row.deposit is not None:
            words.append(
                f"the spec plans {row.deposit}, which last {row.node} {int(row.runway)} hours at its expected load"
            )
    return "; ".join(words[:_SHOWN])


def _payers(case: Case) -> set[str]:
    names = {node.name for node in case.nodes}
    return names | ({case.writer.name} if case.writer is not None else set())


def deposit_for_face_value(case: Case) -> str:
    """The largest face value that an orchestrator asked for, and the deposit that it takes."""
    face = case.ranges.get(0)
    if face is None:
        return ""
    factors = {_deposit_multiplier(node) for node in (payer(case.fleet, node) for node in case.nodes) if node}
    takes = "deposit_multiplier times that"
    if len(factors) == 1:
        (factor,) = factors
        takes = f"{_ether(face.high * factor)}, as deposit_multiplier is {factor}"
    return f"the largest face value in the log is {_ether(face.high)}, which takes a deposit of {takes}"


def _deposit_multiplier(node: Node) -> int:
    """The multiplier in force of the ticket signer."""
    tickets = getattr(node.settings, "tickets", None)
    given = tickets.deposit_multiplier if tickets is not None else None
    return int(FLAGS["depositMultiplier"].default) if given is None else int(given)


def ticket_limit(log: Logged) -> str:
    """How far the dearest ticket is above the limit."""
    return _above_limit(log, "ticket", 1)


def payment_limit(log: Logged) -> str:
    """How far the dearest payment is above the limit."""
    return _above_limit(log, "payment", 2)


def _above_limit(log: Logged, what: str, place: int) -> str:
    worth, limit = log.ranges.get(0), log.ranges.get(place)
    if worth is None or limit is None:
        return ""
    return f"the dearest such {what} in the log was worth {_ether(worth.high)}, and the limit was {_ether(limit.high)}"


def batch_limit(case: Case) -> str:
    """The ticket value with which a signer would have signed the largest batch."""
    count = case.ranges.get(0)
    sellers = [(node, node.settings) for node in case.nodes if isinstance(node.settings, Orchestrator)]
    if count is None or not sellers:
        return ""
    words = []
    for node, settings in sellers[:_SHOWN]:
        enough = Wei(ceil(terms_of(case.fleet, settings).ticket_ev * count.high / SIGNED_NONCES / _GWEI) * _GWEI)
        if enough.wei * SIGNED_NONCES < (STRANGER.max_total_ev or 0):
            words.append(f'ticket_ev = "{enough}" if it was for {node.name}')
    takes = ", or ".join(words) or "a lower price, or one in another unit: by default no payer allows so much"
    return f"the largest batch in the log was {_plain(count.high)} tickets, which takes {takes}"


def batch(log: Logged) -> str:
    """How far the largest batch is above what a signer signs, and how much more a ticket has to be worth."""
    count = log.ranges.get(0)
    if count is None:
        return ""
    said = f"the largest batch in the log was {_plain(count.high)} tickets, and a signer signs {SIGNED_NONCES}"
    worth, most = count.high * Terms().ticket_ev, STRANGER.max_total_ev or 0
    if worth > most:
        return (
            f"{said}. At the default ticket_ev that payment is worth {_ether(worth)}, and a payer allows {Wei(most)}: "
            "another ticket_ev is no cure. The price is far too high, or taken for one in another unit, as that of a "
            "request for that of a pixel"
        )
    times = ceil(count.high * 10 / SIGNED_NONCES) / 10
    return f"{said}: a ticket_ev {times:g} times as high would do"


def prices_and_cap(log: Logged) -> str:
    """What the offers above a cap ask."""
    caps, prices = log.ranges.get(0), log.ranges.get(1)
    if caps is None or prices is None:
        return ""
    return f"the offers in the log ask {_span(prices)} wei / pixel, and the cap was {_span(caps)}"


def gas_limit(log: Logged) -> str:
    """The limit that would have let the transactions of the log through."""
    gwei = log.ranges.get(1)
    if gwei is None:
        return ""
    return f'with max_gas_price = "{Wei(ceil(gwei.high * 10**9))}", all transactions of the log could have been sent'


def cap(case: Case) -> str:
    """The market of the spec, and the cap that admits the cheapest offer in the log."""
    prices, caps = case.ranges.get(1), case.ranges.get(0)
    words = [market(case)]
    if prices is not None and not other_cap(case):
        then = f", which was {_span(caps)} then" if caps is not None else ""
        words.append(f'the cheapest offer in the log needs max_price = "{_plain(prices.low)} wei / pixel"{then}')
    return "; ".join(filter(None, words))


def other_cap(case: Case) -> str:
    """Why a higher cap in the spec would not help: the node ran with another one, and the spec's is high enough."""
    prices, caps = case.ranges.get(1), case.ranges.get(0)
    if case.writer is None or prices is None or caps is None or not case.fleet.on_chain:
        return ""
    stated = [price.price for price in prices_of(case.fleet, case.writer)]
    own = [price.per_pixel for price in stated if price is not None and price.currency == "wei"]
    if len(own) != len(stated) or not own:
        return ""  # a cap without a bound, or in a currency with an unknown past rate, may be that of the log
    if any(caps.low <= price <= caps.high for price in own) or prices.low > min(own):
        return ""
    spec = " and ".join(map(str, stated[:_SHOWN]))
    return (
        f"the node dropped offers above {_span(caps)} wei / pixel, which is not its cap in the spec ({spec}): it ran "
        "with another one, because somebody set it while it ran, or because it had another release then; fleetc "
        f"verify tells which. The cheapest offer in the log, {_plain(prices.low)} wei / pixel, is within the spec's"
    )


def market(case: Case) -> str:
    """From how many of the offers in the spec each gateway buys video."""
    if not case.fleet.on_chain:
        return ""
    words = []
    trades = market_of(case.fleet)
    for node in case.nodes:
        verdict = (
            trades.judge(node.name, VIDEO) if node.name in trades.caps and trades.wants(node.name, VIDEO) else None
        )
        if verdict is not None and verdict.offers:
            offers = f"{verdict.offers} offer{'' if verdict.offers == 1 else 's'}"
            words.append(f"by the spec, {node.name} buys video from {verdict.within} of {offers} of this fleet")
    return "; ".join(words[:_SHOWN])


def ceiling(log: Logged) -> str:
    """What the refused offers ask, and the ceiling of the signer."""
    prices, ceilings = log.ranges.get(0), log.ranges.get(2)
    if prices is None or ceilings is None:
        return ""
    return f"the refused offers in the log ask {_span(prices)} wei / pixel, and the ceiling was {_span(ceilings)}"


def service(case: Case) -> str:
    """The address that the node discovered, unless the spec has it."""
    addresses = {_address(parts[1]) for parts in case.parts if len(parts) > 1}
    address = addresses.pop() if len(addresses) == 1 else None
    if address is None:
        return ""
    text = address.authority if address.scheme == "https" else f"{address.scheme}://{address.authority}"
    if address in [getattr(node.settings, "service", None) for node in case.nodes]:
        return f"the spec already has {text}: register it on the chain"
    return f'write service = "{text}" if that address is to stay, and register it'


def _address(text: str) -> ServiceAddress | None:
    """An address as a spec can have it; None where a log has anything else there."""
    try:
        return _SERVICE.validate_python(text)
    except ValidationError:
        return None


def port(case: Case) -> str:
    """Who else has the port on the host, by the spec."""
    ends = {parts[0].rpartition(":")[2] for parts in case.parts if parts}
    numbers = {end for end in ends if end.isascii() and end.isdecimal() and len(end) <= len("65535")}
    if not numbers:
        return ""
    nodes = case.fleet.nodes_by_host.get(case.writer.settings.host, ()) if case.writer else case.fleet.nodes
    users = [
        f"{node.name} ({bound.purpose})"
        for node in nodes
        for bound in listeners.of_node(case.fleet, node)
        if str(bound.port) in numbers
    ]
    which = f"port {', '.join(sorted(numbers))}"
    if not users:
        return f"by the spec no node has {which}: another program on the host does"
    return f"by the spec {which} belongs to {', '.join(users[:_SHOWN])}; ss -ltnp on the host shows who has it"


def _plain(number: Decimal) -> str:
    """A number without an exponent and without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _span(numbers: Range) -> str:
    """One number, or from where to where they are."""
    return _plain(numbers.low) + (f" to {_plain(numbers.high)}" if numbers.high > numbers.low else "")


def _ether(wei: Decimal) -> str:
    """An amount with three digits, marked if it has more."""
    whole = ceil(wei)
    unit = 10 ** max(0, len(str(whole)) - 3)
    rounded = (whole + unit // 2) // unit * unit
    return f"{'' if rounded == wei else 'about '}{Wei(rounded)}"


INSTEAD: Mapping[str, Proof] = {"price-above-cap": other_cap, "gateway-cap-below-every-price": other_cap}
"""What to do instead of the page's advice, if the cause is not in the spec."""

NUMBERS: Mapping[str, Callable[[Logged], str]] = {
    "cuda-out-of-memory": memory_asked,
    "ticket-value-high": ticket_limit,
    "payment-value-high": payment_limit,
    "gas-price-above-limit": gas_limit,
    "signer-batch-large": batch,
    "price-above-cap": prices_and_cap,
    "gateway-cap-below-every-price": prices_and_cap,
    "price-above-ceiling": ceiling,
}
"""What the numbers in lines of a code say, where there is no proof."""

PROOFS: Mapping[str, Proof] = {
    "orchestrator-capped": more_sessions,
    "encoder-out-of-sessions": fewer_sessions,
    "cuda-out-of-memory": memory,
    "deposit-missing": deposit,
    "gateway-has-no-funds": deposit,
    "face-value-above-deposit": deposit_for_face_value,
    "signer-batch-large": batch_limit,
    "sessions-not-available": market,
    "price-above-cap": cap,
    "gateway-cap-below-every-price": cap,
    "service-address-differs": service,
    "port-in-use": port,
}
"""The proof of each code that has one."""
