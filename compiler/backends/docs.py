"""Emits `FLEET.md`: the fleet for people, with its picture, ports, prices and the secrets that it needs.

In: the plan. Out: `FLEET.md`. All text of the spec passes the encoders of Markdown and Mermaid; nothing in it is
markup, a mention or a link.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from compiler.artifacts import argument_of, plain_decimal
from compiler.encoding import markdown_cell
from compiler.plan import HostPlan, Plan, Service
from compiler.templating import Encoded, Templates, Word
from compiler.tree import Artifact
from compiler.upstream import format_release

FILE = "FLEET.md"

PICTURE_LIMIT = 60
"""The most nodes that are drawn one by one; a bigger fleet is drawn as regions."""

_LOOPBACK = re.compile(r"127\.[0-9.]+|localhost|\[?::1\]?")
_EVERYWHERE = frozenset({"", "0.0.0.0", "::", "[::]"})  # noqa: S104  # compared with, not bound
_AMOUNT = re.compile(r"([0-9.]+)(.*)", re.DOTALL)

_PLAIN = re.compile(r"[A-Za-z0-9._/:-]+(?: [A-Za-z0-9._/:-]+)*")


@lru_cache(maxsize=65536)
def _cell(text: str) -> Encoded:
    """Text of the spec as code in a cell. Plain text needs no character codes and stays readable in the source."""
    return Encoded(f"`{text}`" if _PLAIN.fullmatch(text) else markdown_cell(text))


@lru_cache(maxsize=65536)
def _word(text: str) -> Word:
    """A bare word; the same few stand in thousands of rows."""
    return Word(text)


class _Host(NamedTuple):
    """One row of the table of hosts; an empty text is a value that the spec does not give."""

    name: Encoded
    address: Encoded
    public: str
    region: str
    runtime: Word
    nodes: int


class _Node(NamedTuple):
    """One row of the table of nodes; `program` is the image, or the path of the program on a systemd host."""

    name: Encoded
    host: Encoded
    role: Word
    mode: str
    release: Word
    program: Encoded


class _Port(NamedTuple):
    """One listener; `reach` is rollout, loopback, everywhere or address; the host's own ones have no node."""

    host: Encoded
    port: int
    protocol: Word
    address: str
    reach: str
    purpose: Encoded
    node: str


class _Price(NamedTuple):
    """One price; `way` is pays or asks."""

    node: Encoded
    way: Word
    work: Encoded
    price: Encoded


class _Secret(NamedTuple):
    """One secret variable of one node."""

    kind: Word
    reference: Encoded
    variable: Encoded
    node: Encoded
    host: Encoded


def emit(plan: Plan, templates: Templates) -> Iterator[Artifact]:
    """The one document."""
    yield Artifact(FILE, templates.render("docs/fleet.md.j2", _view(plan, templates)).encode(), origins=("fleet",))


def _view(plan: Plan, templates: Templates) -> dict[str, object]:
    pairs = [(host, service) for host in plan.hosts for service in host.services]
    drawn_whole = len(pairs) <= PICTURE_LIMIT
    picture = _picture(plan) if drawn_whole else _summary(plan)
    template = "diagram/fleet.mmd.j2" if drawn_whole else "diagram/regions.mmd.j2"
    return {
        "fleet": _cell(plan.fleet),
        "network": _cell(plan.network),
        "release": Word(format_release(plan.release)),
        "host_count": len(plan.hosts),
        "node_count": len(pairs),
        "drawn_whole": drawn_whole,
        "picture_limit": PICTURE_LIMIT,
        "picture": Encoded(templates.render(template, picture)),
        "hosts": [_host(host) for host in plan.hosts],
        "nodes": [_node(host, service) for host, service in pairs],
        "ports": [row for host in plan.hosts for row in _ports(host)],
        "prices": [row for _, service in pairs for row in _prices(service)],
        **_market(plan),
        "secrets": [
            _Secret(_word(s.kind), _cell(s.reference), _cell(s.name), _cell(service.name), _cell(host.name))
            for host, service in pairs
            for s in sorted(service.secrets)
        ],
        "silenced": [
            {"code": _cell(c), "at": _cell(at) if at else "", "reason": _cell(r)} for c, at, r in plan.silenced
        ],
    }


def _host(host: HostPlan) -> _Host:
    public, region = (_cell(text) if text else "" for text in (host.public, host.region))
    return _Host(_cell(host.name), _cell(host.address), public, region, _word(host.runtime), len(host.services))


def _node(host: HostPlan, service: Service) -> _Node:
    return _Node(
        name=_cell(service.name),
        host=_cell(host.name),
        role=_word(service.role),
        mode=_word(service.mode) if service.mode else "",
        release=_word(format_release(service.release)),
        program=_cell(service.image if host.runtime == "docker" else host.binary),
    )


# --- ports ----------------------------------------------------------------------------------------


def _ports(host: HostPlan) -> Iterator[_Port]:
    """Every listener of a host, in the order of ports; the SSH server that a rollout needs comes first."""
    name = _cell(host.name)
    yield _Port(name, host.ssh_port, _word("tcp"), _cell(host.address), "rollout", _cell("SSH"), "")
    listeners = [
        (port.port, port.protocol, port.address, service.name, port.purpose)
        for service in host.services
        for port in service.ports
    ]
    for number, protocol, address, node, purpose in sorted(listeners):
        where = _cell(address) if address else ""
        yield _Port(name, number, _word(protocol), where, _reach(address), _cell(purpose), _cell(node))


@lru_cache(maxsize=4096)
def _reach(address: str) -> str:
    if _LOOPBACK.fullmatch(address):
        return "loopback"
    return "everywhere" if address in _EVERYWHERE else "address"


# --- prices ---------------------------------------------------------------------------------------


def _prices(service: Service) -> Iterator[_Price]:
    """What a gateway pays at most and what an orchestrator asks, from the arguments and files of the process."""
    name = _cell(service.name)
    pixels = argument_of(service, "pixelsPerUnit") or "1"
    for flag, way in (("maxPricePerUnit", _word("pays")), ("pricePerUnit", _word("asks"))):
        value = argument_of(service, flag)
        if value is not None:
            price = "any price" if way == "pays" and value == "0" else _price_of_flag(value, pixels)
            yield _Price(name, way, _cell("base price"), _cell(price))
    for file in service.files:
        content: Any = file.content
        buying = "capabilities_prices" in content
        entries = content
        if isinstance(content, dict):
            entries = content.get("capabilities_prices", content.get("gateways", ()))
        for entry in entries:
            row = _price_of_entry(entry)
            if row is not None:
                yield _Price(name, _word("pays" if buying else "asks"), _cell(row[0]), _cell(row[1]))


def _price_of_flag(value: str, pixels: str) -> str:
    found = _AMOUNT.fullmatch(value)
    return _price_text(found[1], found[2], pixels) if found else value


def _price_of_entry(entry: dict[str, Any]) -> tuple[str, str] | None:
    """What is paid for, and the price; None for an entry without one."""
    if "ethaddress" in entry:
        amount, pixels, work = entry["priceperunit"], entry["pixelsperunit"], f"gateway {entry['ethaddress']}"
    elif "price_per_unit" in entry:
        amount, pixels = entry["price_per_unit"], entry.get("pixels_per_unit", 1)
        work = f"{entry['pipeline']} {entry['model_id']}" + (
            f" gateway {entry['gateway']}" if "gateway" in entry else ""
        )
    else:
        return None
    shown = plain_decimal(amount) if isinstance(amount, int | Decimal) else str(amount)
    return work, _price_text(shown, entry.get("currency", ""), str(pixels))


def _price_text(amount: str, currency: str, pixels: str) -> str:
    unit = "pixel" if pixels == "1" else f"{pixels} pixels"
    return f"{amount} {currency or 'wei'} / {unit}"


# --- market -----------------------------------------------------------------------------------------


def _market(plan: Plan) -> dict[str, object]:
    """Who buys what from whom, and from which funds; an empty text is a value that is not known or not stated."""
    market = plan.market
    return {
        "whole_market": market.whole,
        "market_limits": (market.gateways, market.offers),
        "rates": [(_word(currency), _cell(worth)) for currency, worth in market.rates],
        "purchases": [
            (_cell(r.gateway), _cell(r.work), _cell(r.orchestrator), _cell(r.asks), _cell(r.pays), _cell(r.outcome))
            for r in market.rows
        ],
        "summaries": [
            (_cell(s.gateway), _word(s.work), *s[2:6], *[_cell(text) if text else "" for text in s[6:]])
            for s in market.summaries
        ],
        "funds": [tuple(_cell(text) if text else "" for text in row) for row in market.funds],
    }


# --- picture --------------------------------------------------------------------------------------


def _picture(plan: Plan) -> dict[str, object]:
    """Hosts as boxes, nodes inside them, edges between; what an edge names outside the fleet stands alone."""
    known = {service.name for host in plan.hosts for service in host.services}
    ends = {end for edge in plan.edges for end in (edge.source, edge.target)}
    return {
        "hosts": [
            {
                "id": Word(f"host_{_underscored(host.name)}"),
                "label": " ".join(filter(None, (host.name, host.runtime, host.region))),
                "nodes": [
                    {"id": _node_id(s.name, known), "label": " ".join(filter(None, (s.name, s.role, s.mode)))}
                    for s in host.services
                ],
            }
            for host in plan.hosts
        ],
        "outside": [{"id": _node_id(name, known), "label": name} for name in sorted(ends - known)],
        "edges": [
            {
                "source": _node_id(e.source, known),
                "target": _node_id(e.target, known),
                # An outside end that is a source is the orchestrator of a worker of this fleet.
                "kind": "serves" if e.kind == "outside" and e.source not in known else e.kind,
            }
            for e in plan.edges
        ],
    }


def _node_id(name: str, known: Iterable[str]) -> Word:
    """A Mermaid id. The prefix keeps names such as `end` from being words of its language."""
    if name in known:
        return Word(f"node_{_underscored(name)}")
    return Word(f"outside_{hashlib.sha256(name.encode()).hexdigest()[:12]}")


def _underscored(name: str) -> str:
    return name.replace("-", "_")


def _summary(plan: Plan) -> dict[str, object]:
    """Regions with their hosts and nodes counted, and how many connections lead from one to another."""
    region_of = {service.name: host.region for host in plan.hosts for service in host.services}
    hosts = Counter(host.region for host in plan.hosts)
    roles = Counter((host.region, service.role) for host in plan.hosts for service in host.services)
    links = Counter((region_of.get(e.source, ""), region_of.get(e.target, "")) for e in plan.edges)
    regions = sorted(hosts)
    ids = {region: Word(f"region_{_underscored(region)}" if region else "region") for region in (*regions, "")}
    labels = {
        region: " and ".join(
            [f"{region or 'no region'} with {hosts[region]} hosts"]
            + [f"{count} {role}" for (place, role), count in sorted(roles.items()) if place == region]
        )
        for region in regions
    }
    return {
        "regions": [{"id": ids[region], "label": labels[region]} for region in regions],
        "links": [
            {"source": ids[source], "target": ids[target], "label": f"{count} connections"}
            for (source, target), count in sorted(links.items())
            if source in hosts and target in hosts
        ],
    }
