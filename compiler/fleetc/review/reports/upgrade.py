"""Prints what `upgrade.py` found, for people and for programs.

In: an `Upgrade`. Out: text, or JSON. Called by `cli/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from fleetc.messages.json import as_data
from fleetc.messages.locate import locate
from fleetc.messages.text import as_text as diagnostics_text
from fleetc.review.upgrade import ReleaseFinding, Upgrade
from fleetc.text.counting import first_of
from fleetc.text.encoders import plain_output
from fleetc.upstream import format_release

_SHOWN = 4

_SECTIONS = (
    ("lost", "Lost"),
    ("renamed", "Renamed"),
    ("defaults", "Takes effect without being set"),
    ("changes", "The node behaves differently"),
    ("kept", "Nodes that keep their own release"),
)


def as_text(upgrade: Upgrade, colour: bool = False) -> str:
    """For a terminal or a log."""
    old, new = format_release(upgrade.source), format_release(upgrade.target)
    back = upgrade.target < upgrade.source
    way = f"back to {new}, an older release" if back else f"to {new}"
    lines = [f"Fleet {upgrade.fleet}: from {old} {way}", "", *_spec(upgrade, colour)]
    for name, title in _SECTIONS:
        lines += _section(title, getattr(upgrade, name))
    lines += _launch_lines(upgrade)
    return "\n".join(lines) + "\n"


def _spec(upgrade: Upgrade, colour: bool) -> Iterator[str]:
    if not upgrade.appeared:
        yield "In the spec: nothing must change"
    else:
        yield "In the spec: this must change" if upgrade.must_change else "In the spec: worth a look"
        located = locate(upgrade.appeared, upgrade.sources, upgrade.checked.document)
        yield from (f"  {line}".rstrip() for line in diagnostics_text(located, colour).splitlines())
    for diagnostic in upgrade.gone:
        yield f"  no longer reported: {diagnostic.code}: {plain_output(diagnostic.message)}"
    yield ""


def _section(title: str, findings: Sequence[ReleaseFinding]) -> Iterator[str]:
    if not findings:
        yield f"{title}: nothing"
    else:
        yield f"{title}:"
        for finding in findings:
            yield f"  {finding.text}" + (f" ({_nodes(finding.nodes)})" if finding.nodes else "")
    yield ""


def _launch_lines(upgrade: Upgrade) -> Iterator[str]:
    if upgrade.lines is None:
        yield "Launch lines: not compared, because the spec does not compile for that release yet"
    elif not upgrade.lines:
        yield "Launch lines: nothing"
    else:
        yield "Launch lines:"
        for change in upgrade.lines:
            alone = len(change.nodes) == 1
            yield f"  {'' if alone else 'same on '}{_nodes(change.nodes)}"
            yield from (f"    - {plain_output(word)}" for word in change.removed)
            yield from (f"    + {plain_output(word)}" for word in change.added)


def _nodes(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} nodes: {first_of(names, _SHOWN)}"


def as_json(upgrade: Upgrade) -> str:
    """For programs: one object; `launch_lines` is null when the spec does not compile for the release yet."""
    located = locate(upgrade.appeared, upgrade.sources, upgrade.checked.document)
    lines = upgrade.lines
    document = {
        "fleet": upgrade.fleet,
        "from": format_release(upgrade.source),
        "to": format_release(upgrade.target),
        "must_change": upgrade.must_change,
        "diagnostics": as_data(located),
        **{name: [finding._asdict() for finding in getattr(upgrade, name)] for name, _ in _SECTIONS},
        "launch_lines": None if lines is None else [change._asdict() for change in lines],
    }
    return json.dumps(document, indent=2) + "\n"
