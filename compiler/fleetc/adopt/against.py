"""What the sources start today against an existing spec, which people have answered and maybe changed.

In: an adoption of the sources and the blueprint of that spec. Out: `Compared`: which process is which node, every
setting that differs and why, and what could not be compared. A difference has a reason only if the adoption itself
makes it, or asks for the setting: whatever else differs, somebody has changed on one side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fleetc.adopt.adoption import Adopted
from fleetc.adopt.beside import Beside, as_started, beside_process, started
from fleetc.adopt.compare import (
    QUESTION,
    SPEC_ANSWERS,
    Difference,
    difference,
    flags_of,
    left_open,
    of_process,
    of_service,
    open_flags,
    put_own,
    reason_of,
    services_of,
    waits,
    ways_of,
)
from fleetc.adopt.host_paths import fits_example
from fleetc.adopt.library import Library
from fleetc.adopt.links import LISTENS, listener_of
from fleetc.adopt.pairing import Mark, paired
from fleetc.adopt.price_lists import fill_caps, list_of
from fleetc.adopt.reading import PATH_OR_TEXT, Running, secret_file
from fleetc.adopt.releases import uncompared
from fleetc.adopt.rpc import compare_addresses, no_answer
from fleetc.adopt.takeover import account, directory
from fleetc.adopt.unread import Doubt, doubts, open_settings, said_by_script, unsure
from fleetc.adopt.words import SET, Aside
from fleetc.blueprint.blueprint import Blueprint, HostBlueprint, Service
from fleetc.language.fleet import NODE_TABLES
from fleetc.text.encoders import visible

_LEFT = f"{QUESTION}: adopting asks, and the spec does not answer"
OTHERWISE = "it is given in another way, and nobody has compared the values"
"""The reason of a secret that the spec takes from elsewhere than adopting does."""
_MADE = "adopting changes it too"


class Placed(NamedTuple):
    """A service of the spec with its host."""

    place: HostBlueprint
    service: Service


@dataclass(frozen=True)
class Pair:
    """A process of the sources and the node of the spec that it is; `same` says by what."""

    today: Running
    node: Placed
    same: str


@dataclass(frozen=True)
class Compared:
    """The comparison. `unstarted` are nodes of the spec that no source starts, `unknown` the other way round.

    `uncompared` says in words what was left out, and `doubts` which files of nodes are none of the sources.
    """

    pairs: tuple[Pair, ...]
    differences: tuple[Difference, ...]
    compared: int
    beside: tuple[Beside, ...]
    unstarted: tuple[Placed, ...]
    unknown: tuple[Running, ...]
    uncompared: tuple[str, ...]
    doubts: tuple[Doubt, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether all nodes were compared as a whole, and each difference has a reason."""
        whole = not (self.unstarted or self.unknown or self.doubts)
        return whole and not self.unexplained

    @property
    def unexplained(self) -> int:
        """How many differences have no reason; a question that is left is none."""
        reasons = [*(one.reason for one in self.differences), *(one.reason for one in self.beside)]
        return reasons.count("") + reasons.count(_LEFT)


def against(found: Adopted, blueprint: Blueprint) -> Compared:
    """Compare what an adoption found with a spec."""
    nodes = [Placed(place, one) for place in blueprint.hosts for one in place.services if one.table in NODE_TABLES]
    order = {one.name: index for index, one in enumerate(found.nodes)}
    pairs = [Pair(one, node, same) for node, one, same in paired(nodes, found.nodes, _MARKS)]
    pairs += _copies(nodes, found.nodes, pairs)
    pairs.sort(key=lambda pair: order[pair.today.name])
    first = services_of(found.blueprint) if found.blueprint is not None else {}
    hosts = {place.name: place for place in found.blueprint.hosts} if found.blueprint is not None else {}
    before = as_started(found.processes)
    names = {pair.today.name: pair.node.service.name for pair in pairs}
    differences: list[Difference] = []
    beside: list[Beside] = []
    count = 0
    for pair in pairs:
        fresh = first.get(pair.today.name)
        found_there, compared = _settings(pair, fresh, found.library, found.asked, names)
        differences += found_there
        count += compared
        process = started(pair.today, before)
        expected = set(beside_process(pair.today, fresh, process, hosts[pair.today.host])) if fresh else set()
        moved = _moved(pair, hosts.get(pair.today.host), found.asked)
        beside += [Beside(pair.node.service.name, Aside(moved))] if moved else []
        for what in beside_process(pair.today, pair.node.service, process, pair.node.place):
            beside.append(Beside(pair.node.service.name, what, _MADE if what in expected else ""))
    known = {pair.node.service.name for pair in pairs}
    there = {pair.today.name for pair in pairs}
    return Compared(
        tuple(pairs), tuple(differences), count, tuple(beside),
        tuple(node for node in nodes if node.service.name not in known),
        tuple(one for one in found.nodes if one.name not in there),
        tuple(_uncompared(found, blueprint, pairs)),
        tuple(doubts((pair.today for pair in pairs), names)),
    )  # fmt: skip


def _copies(nodes: Sequence[Placed], today: Sequence[Running], pairs: Sequence[Pair]) -> Iterator[Pair]:
    """The nodes that are left, where one process of their kind, and no other, runs several times."""
    known = {pair.node.service.name for pair in pairs}
    several: dict[str, list[Running]] = {}
    for one in today:
        if one.process.several:
            several.setdefault(one.table, []).append(one)
    for node in nodes:
        same = several.get(node.service.table, [])
        if node.service.name not in known and len(same) == 1:
            yield Pair(same[0], node, "one of several that run of it")


_MARKS = (
    Mark[Placed, Running](
        "the same name and host", lambda node: (node.service.table, node.place.name, node.service.name),
        lambda one: (one.table, one.host, one.name),
    ),
    Mark[Placed, Running](
        "the same name", lambda node: (node.service.table, node.service.name), lambda one: (one.table, one.name)
    ),
    Mark[Placed, Running](
        "the same account",
        lambda node: (node.service.table, account(node.service)) if account(node.service) else None,
        lambda one: (one.table, one.text("ethAcctAddr").lower()) if one.text("ethAcctAddr") else None,
    ),
    Mark[Placed, Running](
        "the same data directory and host",
        lambda node: (node.service.table, node.place.name, node.service.data_dir),
        lambda one: (one.table, one.host, directory(one)) if one.text("dataDir") else None,
    ),
    Mark[Placed, Running](
        "the only one of its kind that is left on this host", lambda node: (node.service.table, node.place.name),
        lambda one: (one.table, one.host),
    ),
    Mark[Placed, Running](
        "the only one of its kind that is left", lambda node: node.service.table, lambda one: one.table
    ),
)  # fmt: skip


def _moved(pair: Pair, today: HostBlueprint | None, asked: frozenset[tuple[str, ...]]) -> str:
    """How the host of a node is another one, in words; "" where it is not, or the sources do not say its address."""
    place = pair.node.place
    if (
        pair.today.process.placed
        or today is None
        or today.address == place.address
        or ("hosts", today.name, "address") in asked
    ):
        return ""
    return f"it runs on {today.name} ({today.address}), and will on {place.name} ({place.address})"


def _settings(
    pair: Pair, fresh: Service | None, library: Library, asked: frozenset[tuple[str, ...]], names: Mapping[str, str]
) -> tuple[list[Difference], int]:
    """The differences of a pair, and how many settings were compared. `fresh` is what adopting makes of the process,
    and `names` are those of nodes in the spec, by what they are called today.
    """
    one, service = pair.today, pair.node.service
    today, then = of_process(one, library), of_service(one.role, service)
    expected = of_service(one.role, fresh) if fresh is not None else {}
    compare_addresses(one, {**today}, expected)
    compare_addresses(one, today, then)
    if one.role == "gateway":
        fill_caps({**today}, expected)
        fill_caps(today, then)
    unanswered = open_flags(one, fresh, asked) if fresh is not None else frozenset()
    for flag, path in _asked_files(one, library).items():
        if flag in unanswered and flag in ways_of(service):
            today[flag], then[flag] = path, ways_of(service)[flag]
    put_own(one, service, today, then)
    if fresh is not None:
        put_own(one, fresh, {}, expected)
    otherwise = _given_otherwise(one, fresh, service) if fresh is not None else {}
    for flag in otherwise.keys() - unanswered - one.own.keys():
        if today.get(flag) == then.get(flag):
            today[flag], expected[flag], then[flag] = otherwise[flag]
    found = []
    nowhere, same = open_settings(one), 0
    flags = flags_of(one, today, then)
    for flag in flags:
        reason, name = reason_of(one, flag), flag.partition(" ")[0]
        if today.get(flag) == then.get(flag):
            same += name not in nowhere
            continue
        script = said_by_script(one.process, today.get(flag), then.get(flag))
        if reason.startswith(QUESTION) or (
            waits(flag, unanswered) and not no_answer(one, flag, today.get(flag), then.get(flag))
        ):
            made = _renamed(expected.get(flag), fresh.name, service.name) if fresh is not None else None
            fits = fits_example(made, then.get(flag)) and not _known(one, list_of(flag), today)
            answer = script or (SPEC_ANSWERS if fits else "")
            reason = _LEFT if left_open(name, service) else answer
        elif fresh is None or _renamed(expected.get(flag), fresh.name, service.name) != then.get(flag):
            helper = listener_of(flag, service)
            reason = LISTENS.format(helper) if helper and names.get(listener_of(flag, fresh)) == helper else ""
            if flag in otherwise and not all(path.startswith("/") for path in otherwise[flag][1:]):
                reason = OTHERWISE
        if name in nowhere and reason not in (script or SPEC_ANSWERS, SPEC_ANSWERS, _LEFT):
            reason = unsure(reason, one)
        found.append(difference(service.name, flag, today, then, reason))
    return found, same + len(found)


def _asked_files(one: Running, library: Library) -> dict[str, str]:
    """The files of secrets of a process, as it names them, by flag."""
    files = {
        flag: secret_file(one.word(flag), library, one.process.span.source)
        for flag in PATH_OR_TEXT
        if flag in one.settings
    }
    return {flag: path for flag, path in files.items() if path}


def _given_otherwise(one: Running, fresh: Service, service: Service) -> dict[str, tuple[str, str, str]]:
    """The secrets that the spec takes from elsewhere than adopting does, by flag: how they are given today, by
    adopting, and by the spec.
    """
    found, there = {}, ways_of(service)
    for flag, way in ways_of(fresh).items():
        made = there.get(flag, way)
        example = not fits_example(way, "")  # its path begins with one, for what no source says of it
        if way != made and not (example and fits_example(way, made)):
            in_clear = not way.startswith("/") and flag in one.settings and not one.word(flag).holes
            found[flag] = (SET if in_clear else way), way, made
    return found


def _known(one: Running, flag: str, today: Mapping[str, object]) -> bool:
    """Whether a source has the file that a path with holes means, so that its content of today is known."""
    setting = one.settings.get(flag)
    return setting is not None and bool(setting.word.holes) and not isinstance(today.get(flag), str)


def _renamed(value: object, before: str, name: str) -> object:
    """A value that has the name of its node, such as the usual data directory, as it is for a node of another name."""
    return "/".join(name if part == before else part for part in value.split("/")) if isinstance(value, str) else value


def _uncompared(found: Adopted, blueprint: Blueprint, pairs: Sequence[Pair]) -> Iterator[str]:
    yield "the values of secrets"
    services = [one for place in blueprint.hosts for one in place.services]
    others = sorted(one.name for one in services if one.table not in NODE_TABLES)
    if others:
        yield f"what runs beside nodes: {', '.join(others)}"
    if found.stacks or any(place.avatar for place in blueprint.hosts):
        yield "avatar stacks"
    compiled = {pair.today.name: pair.node.service.node_release for pair in pairs}
    yield from uncompared(found.nodes, found.library.sources, compiled)
    doubted = {file.span for one in found.nodes for file in one.unread}
    missing = (one.shown for one in found.entries if one.code == "adopt-file-missing" and one.span not in doubted)
    for name in dict.fromkeys(missing):
        yield f"what {visible(name)} says, which is none of the sources"
    yield "deposits, reserves, firewalls, monitoring"
