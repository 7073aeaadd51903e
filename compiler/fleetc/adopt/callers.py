"""What among the sources calls a node where it does not listen any more: by the name of its container, or from outside.

In: nodes with their tables, and the sources. Out: warnings at each such address, such as a target of Prometheus or an
upstream of a proxy, and a note about containers that stay in the network which the nodes leave.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fleetc.adopt.compare import QUESTION
from fleetc.adopt.free_ports import FLAGS, Listens, listeners_of
from fleetc.adopt.listeners import RTMP, Listener, cli_listener, completed, http_listener, is_loopback, split, written
from fleetc.adopt.reading import Running
from fleetc.adopt.runner_host import same_project
from fleetc.adopt.session import Session, Table
from fleetc.adopt.words import Brief, Other, Same
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import LineMap, Source

_ADDRESS = re.compile(r"(?<![A-Za-z0-9_.@-])([A-Za-z0-9][A-Za-z0-9_.-]{0,80}):([0-9]{2,5})(?![0-9])")
_SCRAPES = re.compile(r"(?m)^[ \t]*-?[ \t]*(?:scrape_configs|targets)[ \t]*:")
_LONGEST = 1_000_000
_MOST_NAMED = 5


def note_callers(
    found: Sequence[Running], tables: Mapping[str, Mapping[str, Table]], others: Iterable[Other], session: Session
) -> None:
    """Say who calls a node by a name or at an address that leads nowhere from now on."""
    by_name: dict[tuple[str, int], list[Listens]] = {}
    by_address: dict[tuple[str, int], list[Listens]] = {}
    for one in found:
        for then in listeners_of(one, tables[one.table][one.name]):
            today = _today(one, then.key)
            if today is None:
                continue
            if one.process.network != "host" and not is_loopback(today[0]):
                for name in one.process.peers:
                    by_name.setdefault((name, today[1]), []).append(then)
            port = _open_port(one, today)
            if port is not None and is_loopback(then.host):
                for address in _addresses(session.hosts[one.host]):
                    by_address.setdefault((address, port), []).append(then)
    processes = {one.process.span.source for one in found}
    for source in session.library.sources.values() if by_name or by_address else ():
        if source.name in processes or source.name in session.library.used or len(source.text) > _LONGEST:
            continue
        scrapes = bool(_SCRAPES.search(source.text))
        for span, name, port in _named(source):
            known = by_name.get((name, port), []) or (by_address.get((name, port), []) if scrapes else [])
            _tell(span, f"{name}:{port}", _nearest(source.name, known), session)
    left = [one for one in others if id(one) not in session.runner_of]
    for other in left:
        for word in (*other.words, *other.variables.values()):
            for match in _ADDRESS.finditer(word.text[:_LONGEST]):
                known = [
                    one for one in by_name.get((match[1], int(match[2])), []) if same_project(one.node.process, other)
                ]
                _tell(word.span, match[0], known[:1], session)
    _note_left(found, [one for one in left if id(one) not in session.called], session)


def _today(one: Running, key: str) -> Listener | None:
    """Where a node listens today, in its container if it has one."""
    text = one.text(FLAGS[key])
    if key == "cli":
        return cli_listener(one.role, text)
    if key == "rtmp":
        return split(completed(text, "127.0.0.1", RTMP))
    return http_listener(one.role, text, one.text("serviceAddr"))[1]


def _open_port(one: Running, today: Listener) -> int | None:
    """The port of the host at which others reach a listener today; None where nobody else does."""
    if is_loopback(today[0]):
        return None
    if one.process.network == "host":
        return today[1]
    ports = (port for port in one.process.published if port.inside == today[1] and not is_loopback(port.address))
    return next((port.port for port in ports), None)


def _addresses(host: Table) -> Iterator[str]:
    yield from dict.fromkeys(str(host.values[key]) for key in ("address", "public") if key in host.values)


def _named(source: Source) -> Iterator[tuple[Span, str, int]]:
    for found in _ADDRESS.finditer(source.text):
        yield Span(source.name, found.start(), found.end()), found[1], int(found[2])


def _nearest(name: str, known: Sequence[Listens]) -> list[Listens]:
    """Of several nodes with a name, the one whose source is beside; else the only one."""
    beside = [one for one in known if posixpath.dirname(one.node.process.span.source) == posixpath.dirname(name)]
    return (beside or list(known))[:1] if len(beside or known) == 1 else []


def _tell(span: Span, said: str, moved: Sequence[Listens], session: Session) -> None:
    for then in moved:
        name, where = then.node.name, written((then.host, then.port))
        why = then.node.reasons.get(FLAGS[then.key], "")
        told = bool(why) and not why.startswith(QUESTION)
        if told:
            line = LineMap(session.library.sources[span.source].text).position(span.start)[0]
            place = leaks.shown(visible(f"{span.source}:{line} ({said})"))
            nowhere = f"{place} leads nowhere then"
            of_network = "" if isinstance(why, Same) else why.brief if isinstance(why, Brief) else why
            then.node.reasons[FLAGS[then.key]] = Brief(
                f"{why}; {nowhere}", "; ".join(filter(None, (of_network, nowhere)))
            )
        advice = f"write the address of its host, with port {then.port}"
        if is_loopback(then.host):
            advice = f"a program in the network of the host reaches it at {where}: give it network_mode: host"
        if then.key == "cli":
            advice += "; a table [monitoring.project] has fleetc run Prometheus there"
        session.ledger.warn(
            "adopt-name-unreached", span,
            f"{leaks.shown(visible(said))} leads to {name} today, and to nothing after the first rollout: {name} then "
            f"listens on {where}", advice, "moves", told,
        )  # fmt: skip


def _note_left(found: Sequence[Running], left: Sequence[Other], session: Session) -> None:
    """Name the containers whose network the nodes leave."""
    for source in dict.fromkeys(one.process.span.source for one in found):
        nodes = [one for one in found if one.process.span.source == source and one.process.network == "bridge"]
        stay = [one for one in left if one.span.source == source and one.network == "bridge" and one.name]
        if not nodes or not stay or nodes[0].process.runtime != "docker":
            continue
        names, theirs = _listed([one.name for one in stay]), _listed([one.name for one in nodes])
        keeps, leaves = "keeps" if len(stay) == 1 else "keep", "leaves" if len(nodes) == 1 else "leave"
        session.ledger.remark(
            "adopt-name-unreached", stay[0].span,
            f"{names} {keeps} the network that {theirs} {leaves} for that of the host: no name of a service leads from "
            "one to the other any more",
            "look whether they call each other: ports that the host publishes, and its address, still work",
            elsewhere=True,
        )  # fmt: skip
        for one in nodes:
            one.reasons["network"] = f"{names} {keeps} its own, and no name of one leads to the other then"


def _listed(names: Sequence[str]) -> str:
    shown = [leaks.shown(visible(name))[:60] for name in names[:_MOST_NAMED]]
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    *first, last = [*shown, *more]
    return f"{', '.join(first)} and {last}" if first else last
