"""Two sides become one review: every difference once, where it comes from, what it means, and the lines that show it.

In: two `Side`s. Out: a `Review`. Called by `cli/`. It reports every difference in bytes: as a change of an item if the
blueprints explain it, else as a change of text. Digests are bookkeeping and no change of their own.

It only takes hosts apart with different files or edits in the spec, so a small change in a large fleet is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, Blueprint
from fleetc.emit import data_files, env, flags
from fleetc.emit.source_copy import copies
from fleetc.emit.tree import FLEET_PAGE, HOST_VARIABLES, SPEC_FOLDER, is_page, is_released
from fleetc.language.fleet import NODE_TABLES, Fleet, Node
from fleetc.language.signing import payer
from fleetc.planner.fates import Journal, no_journal
from fleetc.review.boxes import picture_of
from fleetc.review.data import Cause, Change, NodeRef, Review
from fleetc.review.gravity import gravity
from fleetc.review.impact.effects import Impact
from fleetc.review.impact.restarts import moved
from fleetc.review.items.deltas import Delta, deltas_of
from fleetc.review.items.edits import Atlas, Edits, edits_of
from fleetc.review.items.item import Item
from fleetc.review.items.of_blueprint import items_of
from fleetc.review.items.of_stacks import HOST_UNIT, TURN_UNIT
from fleetc.review.releases import release_notes
from fleetc.review.shown_lines import Evidence
from fleetc.review.sides import Side
from fleetc.review.unexplained import texts_of
from fleetc.text import leaks
from fleetc.text.counting import first_of
from fleetc.version import __version__


def compare(old: Side, new: Side, journal: Journal = no_journal) -> Review:
    """Everything that would change from one side to the other; `journal` knows which hosts a rollout retires."""
    paths = sorted(path for path in {*old.files, *new.files} if old.files.get(path) != new.files.get(path))
    edits = Edits(edits_of(old.document, new.document) if paths and old.document and new.document else ())
    hosts = _hosts(old, new, paths, edits) if paths else set()
    old, blueprints = _blueprints(old, new, hosts) if paths else (old, None)
    before, after = ({}, {}) if blueprints is None else map(items_of, blueprints)
    deltas = deltas_of(before, after, edits)
    belied = tuple(_belied(old, blueprints[0], deltas, paths)) if blueprints is not None else ()
    if belied:
        note = f"the files in {old.name} were not compiled from the spec there, so only files are compared"
        old = replace(old, document=None, fleet=None, whole=None, notes=(*old.notes, note))
        return replace(compare(old, new, journal), foreign=belied)
    atlas = Atlas(old.document, new.document)
    evidence = Evidence(old, new, paths)
    evidence.attribute(deltas)
    deltas += texts_of(old, new, evidence, deltas, _read(old, new, paths, edits, atlas))
    processes = moved(old, new, journal)
    # Against a fleet that is not known, everything of the new one would look as if it came with this change.
    fleets = (None, None) if blueprints is None else (old.fleet, new.fleet)
    impact = Impact(*fleets, processes, before, after)
    impact.find(deltas)
    pairs = [(_change(group, old, new, evidence, impact, atlas), group) for group in _groups(deltas)]
    pairs.sort(key=lambda pair: _rank(pair[0]))
    changes = [change for change, _ in pairs]
    ends = processes.all
    boxes, edges = picture_of(old, new, blueprints, hosts, changes, ends)
    return Review(
        fleet=new.fleet.fleet.name if new.fleet else "",
        baseline=old.name,
        tool=__version__,
        changes=tuple(changes),
        files=tuple(evidence.files([group for _, group in pairs])),
        restarts=impact.restarts(),
        picture=boxes,
        edges=edges,
        notes=(*old.notes, *new.notes, *_release_notes(old, new, blueprints)),
        foreign=tuple(path for path in paths if evidence.edited(path)),
        files_only=bool(paths) and blueprints is None,
        stops=tuple(sorted(processes.stopped)),
        cold_starts=impact.cold_starts(),
        live=tuple(sorted(processes.live)),
    )


def _release_notes(old: Side, new: Side, blueprints: tuple[Blueprint, Blueprint] | None) -> tuple[str, ...]:
    if blueprints is None or old.fleet is None or new.fleet is None:
        return ()
    return release_notes(old.fleet, new.fleet, *blueprints)


def _belied(old: Side, blueprint: Blueprint, deltas: Iterable[Delta], paths: Iterable[str]) -> Iterator[str]:
    """The files of a recorded tree that differ from the copy of its spec: somebody edited them, or the copy.

    The manifest has no digest of that copy, because any two changes of a spec would meet in it.
    """
    if old.whole is not None or old.tool != __version__:
        return
    for host in blueprint.hosts:
        for draft in (*flags.emit(host), *data_files.emit(host), *env.emit(host)):
            there = old.files.get(draft.path)
            if there is not None and there != draft.artifact().content and not old.edited(draft.path):
                yield draft.path
    if not any(map(is_page, paths)) and any(delta.item.kind == "funds" for delta in deltas):
        yield FLEET_PAGE


def _hosts(old: Side, new: Side, paths: Iterable[str], edits: Edits) -> set[str]:
    """The hosts to take apart: with different files or edits in the spec."""
    hosts = {path.split("/", 2)[1] for path in paths if is_released(path)}
    hosts |= {path.rpartition("/")[2].removesuffix(".json") for path in paths if path.startswith(HOST_VARIABLES)}
    for edit in edits.all:
        for fleet, path in ((old.fleet, edit.old), (new.fleet, edit.new)):
            if fleet is None or path is None or len(path) < 2:
                continue
            name = str(path[1])
            if path[0] == "hosts":
                hosts.add(name)
            elif path[0] in (*NODE_TABLES, "avatars") and name in getattr(fleet, str(path[0])):
                hosts.add(getattr(fleet, str(path[0]))[name].host)
    fleets = [fleet for fleet in (old.fleet, new.fleet) if fleet is not None]
    return hosts.union(*(_of_funds(fleet, edits) for fleet in fleets))


def _of_funds(fleet: Fleet, edits: Edits) -> Iterator[str]:
    """Hosts of nodes with an edited wallet or signed gateway: their funds appear in no file."""
    edited = {edit.path[:2] for edit in edits.all}
    for name in fleet.wallets:
        if ("wallets", name) in edited:
            yield from (node.settings.host for node in fleet.nodes_by_wallet.get(name, ()))
    for name, gateway in fleet.gateways.items():
        if ("gateways",) in edited or ("gateways", name) in edited:
            paying = payer(fleet, Node("gateways", name, gateway))
            if paying is not None:
                yield paying.settings.host


def _blueprints(old: Side, new: Side, hosts: set[str]) -> tuple[Side, tuple[Blueprint, Blueprint] | None]:
    """The blueprints of both sides with some hosts; none where one of the sides has no blueprint."""
    try:
        before = old.blueprint(hosts)
    except ValueError as failure:  # lowering relies on rules, and a recorded spec may break today's
        problem = f"this version of fleetc cannot lower the spec in {old.name}, so only files are compared: {failure}"
        return replace(old, document=None, fleet=None, notes=(*old.notes, problem)), None
    after = new.blueprint(hosts)
    return old, None if before is None or after is None else (before, after)


def _read(old: Side, new: Side, paths: Iterable[str], edits: Edits, atlas: Atlas) -> set[str]:
    """The copies of sources in the tree that differ in values, and not in comments or order alone."""
    different = [path for path in paths if path.startswith(SPEC_FOLDER)]
    if not edits.all or len(different) < 2:
        return set(different) if edits.all else set()
    copied = set()
    for spot in (spot for edit in edits.all for spot in atlas.spots((edit,), None)):
        document = old.document if spot.side == "old" else new.document
        sources = document.sources if document is not None else ()
        copied.add(copies(sources)[[source.name for source in sources].index(spot.file)])
    return copied


def _groups(deltas: Sequence[Delta]) -> Iterator[list[Delta]]:
    """Equal deltas of several hosts, nodes and streams together.

    What follows on a host tells them apart; what follows on nodes, in slots or in the fleet as a whole does not.
    """
    groups: dict[tuple[object, ...], list[Delta]] = {}
    for delta in deltas:
        of_host = (part.item for part in delta.follows if part.item.host and not part.item.node)
        followers = tuple(sorted((item.kind, item.what) for item in of_host if not _is_of_slot(item)))
        key = (delta.item.kind, _without_stream(delta.item), delta.before, delta.after, followers)
        groups.setdefault(key, []).append(delta)
    yield from groups.values()


def _is_of_slot(item: Item) -> bool:
    """Whether an item says something of one slot, of which a stack has more or less."""
    return item.key[2:3] == (AVATAR_DIRECTORY,) and item.key[3:4] not in ((), (HOST_UNIT,), (TURN_UNIT,))


def _without_stream(item: Item) -> str:
    """What an item is; of an item of a stream without the name of the stream."""
    return item.what.removeprefix(f"{item.key[2]}: ") if item.kind == "stream" else item.what


_STREAM = ("fleet", "stream", "name")
"""The shape of the key of a stream as a whole."""


def _what(group: Sequence[Delta]) -> str:
    """What changes, with the names of the streams where it is the same of several."""
    first, *rest = (delta.item for delta in group)
    if first.kind != "stream" or len(first.key) == len(_STREAM) or not rest:
        return first.what
    streams = sorted({first.key[2], *(item.key[2] for item in rest)})
    return f"{first_of(streams, 3)}: {_without_stream(first)}"


def _change(group: Sequence[Delta], old: Side, new: Side, evidence: Evidence, impact: Impact, atlas: Atlas) -> Change:
    first = group[0]
    targets = dict.fromkeys(NodeRef(delta.item.host, delta.item.node) for delta in group)
    spots = dict.fromkeys(
        spot for delta in group if delta.item.kind != "text" for spot in atlas.spots(delta.edits, delta.item.origin)
    )
    return Change(
        kind=first.item.kind,
        what=_what(group),
        old=None if first.before is None else leaks.shown(first.before),
        new=None if first.after is None else leaks.shown(first.after),
        targets=tuple(sorted(targets)),
        causes=tuple(spots) or tuple(_comments(first, old, new, evidence)),
        effects=impact.effects(group),
        lines=evidence.lines_of(first),
        parts=impact.parts(group),
    )


def _comments(delta: Delta, old: Side, new: Side, evidence: Evidence) -> Iterator[Cause]:
    """The lines of the spec itself that differ in nothing but comments, spaces, order or spelling."""
    path = delta.item.key[-1]
    if not path.startswith(SPEC_FOLDER):
        return
    for pair in evidence.pairs(path):
        side, line, text = ("old", pair.old_line, pair.old) if pair.new is None else ("new", pair.new_line, pair.new)
        document = old.document if side == "old" else new.document
        sources = document.sources if document is not None else ()
        source = dict(zip(copies(sources), sources, strict=True)).get(path)
        if source is not None:
            why = "a comment, the order of keys, or how they are written"
            yield Cause(side, "given", source.name, line, 1, "", leaks.shown(text or ""), why)


def _rank(change: Change) -> tuple[object, ...]:
    """The gravest first; what concerns most first; the rest by name."""
    order = [gravity(effect) for effect in change.effects]
    values = (change.old or "", change.new or "", repr(change.targets))
    return (order, -len(change.targets), change.kind, change.what, *values)
