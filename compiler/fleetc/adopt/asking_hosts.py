"""Asks whether nodes of which no source says the host run on one: adopting takes them for those of one.

In: such nodes. Out: the question, if something speaks for several hosts, with the words that answer it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

from pydantic_core import PydanticCustomError

from fleetc.adopt import asking_words
from fleetc.adopt.host_paths import ANSWERS
from fleetc.adopt.listeners import is_loopback, orchestrator_url, service_url, split
from fleetc.adopt.markdown import NAMES, heading_of
from fleetc.adopt.reading import Running
from fleetc.language.fields import check_name
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

_MOST_NAMED = 20
"""Folders or nodes that a question names."""
_OF_A_FOLDER = (".service", ".conf", ".yml", ".yaml")
"""How sources end that belong to one host with others of their folder: units, and files of a Compose project."""


def several_hosts(here: list[Running]) -> str:
    """The question; "" where nothing speaks for several hosts."""
    placed = [one for one in here if one.process.placed and not one.process.several]
    if len(placed) > 1:
        names = " and ".join(leaks.shown(one.name) for one in placed[:_MOST_NAMED])
        why = f"the cluster chooses where {names} run, and kubectl get pods -o wide shows it"
        return f"TODO host: {asking_words.several(why, 'that is more than one host', _options(placed[1:]))}"
    folders = _folders(here)
    if folders:
        why = f"{asking_words.ONE_HOST}two of these nodes would listen at the same port"
        return f"TODO host: {asking_words.several(why, 'their folders are hosts', f'adopt again with {folders}')}"
    groups: dict[tuple[str, int], list[Running]] = {}
    for one in here:
        groups.setdefault(group_of(one), []).append(one)
    sign = next(_signs(list(groups.values())), "")
    if not sign:
        return ""
    _, *others = groups.values()
    options = _options(one for group in others for one in group)
    why = f"{asking_words.ONE_HOST}{sign}"
    return f"TODO host: {asking_words.several(why, 'it is more than one', options)}"


def _options(nodes: Iterable[Running]) -> str:
    """How to say where nodes run, in the words of a command."""
    named = [f"--host HOST@ADDRESS={leaks.shown(one.name)}" for one in nodes][:_MOST_NAMED]
    return f"adopt again with {ANSWERS} {' '.join(named)}"


def _folders(here: list[Running]) -> str:
    """The folders of sources as hosts, where nodes of two of them listen at the same port."""
    ports: dict[str, set[tuple[str, str]]] = {}
    for one in here:
        known = ports.setdefault(posixpath.dirname(one.process.span.source), set())
        if one.process.network == "host":
            known.add((one.role, one.text("cliAddr")))
    alike = any(left & right for left, right in combinations(ports.values(), 2))
    if len(ports) < 2 or not alike or not all(ports):
        return ""
    named = " ".join(f"{posixpath.basename(folder)}={folder}" for folder in sorted(ports)[:_MOST_NAMED])
    return leaks.shown(visible(named))


def group_of(one: Running) -> tuple[str, int]:
    """What of the sources is of one host for sure: a project, the units of a folder, a single command."""
    span = one.process.span
    return (posixpath.dirname(span.source), 0) if span.source.endswith(_OF_A_FOLDER) else (span.source, span.start)


def likely_host(here: Sequence[Running]) -> tuple[str, str]:
    """The name of a host with some nodes, by the folder of their sources, and the address at which others reach an
    orchestrator there; "" for each that no source says.
    """
    name = posixpath.basename(posixpath.dirname(here[0].process.span.source))
    services = (split(service.partition("://")[2]) for one in here if (service := _service(one)))
    address = next((at[0] for at in services if at is not None), "")
    try:
        return check_name(name), address
    except PydanticCustomError:
        return "", address


def host_by_heading(one: Running, sources: Iterable[Source]) -> tuple[str, str]:
    """The name and the address of the host that a heading of notes gives a node; "" for each that none gives."""
    span = one.process.span
    page = next((source.text for source in sources if source.name == span.source), "") if _is_page(span.source) else ""
    return heading_of(page, span.start)


def _signs(groups: list[list[Running]]) -> Iterator[str]:
    """What speaks for several hosts, in words."""
    numbered = [(number, one) for number, group in enumerate(groups) for one in group]
    pages = [name for name in {number: one.process.span.source for number, one in numbered}.values() if _is_page(name)]
    if len(set(pages)) < len(pages):
        yield "they stand in pieces of a page of notes"
    for one, other in _sharing(numbered, _ports):
        yield f"{_named(one)} and {_named(other)} would listen at the same port"
    for one, other in _sharing(numbered, _gpus):
        yield f"{_named(one)} and {_named(other)} use the same GPUs"
    services = [(number, one, _service(one)) for number, one in numbered]
    called = {service: (number, one) for number, one, service in reversed(services) if service}
    for number, caller in numbered:
        for part in caller.text("orchAddr").split(","):
            asked = orchestrator_url(part) if part.strip() else ""
            if asked in called and called[asked][0] != number:
                host = (split(asked.partition("://")[2]) or ("", 0))[0]
                yield f"{_named(caller)} reaches {_named(called[asked][1])} at {leaks.shown(host)}"


def _sharing(
    numbered: Iterable[tuple[int, Running]], uses: Callable[[Running], Iterable[tuple[str, str]]]
) -> Iterator[tuple[Running, Running]]:
    """Nodes of two groups that use something which one host has once."""
    first: dict[tuple[str, str], tuple[int, Running]] = {}
    for number, one in numbered:
        for used in uses(one):
            owner, before = first.setdefault(used, (number, one))
            if owner != number:
                yield before, one


def _is_page(name: str) -> bool:
    return name.lower().endswith(NAMES)


def _named(one: Running) -> str:
    return leaks.shown(one.name)


def _ports(one: Running) -> Iterable[tuple[str, str]]:
    return [(one.role, one.text("cliAddr"))] if one.process.network == "host" else []


_MOST_GPUS = 64


def _gpus(one: Running) -> Iterable[tuple[str, str]]:
    """The numbers of the GPUs that a node is told to use, with its role: a GPU can serve video and AI."""
    text = one.text("nvidia")
    numbers = map(str, range(_MOST_GPUS)) if text == "all" else (part.strip() for part in text.split(","))
    return [(one.role, number) for number in numbers if number]


def _service(one: Running) -> str:
    """The address of an orchestrator for others, if that is no loopback; "" for other nodes."""
    if one.role != "orchestrator" or one.text("serviceAddr") in ("", "none"):
        return ""
    service = orchestrator_url(service_url(one.text("serviceAddr")))
    host = (split(service.partition("://")[2]) or ("", 0))[0]
    return "" if is_loopback(host) else service
