"""The report of an adoption: what became of every word of the sources, and what the spec changes.

In: `Adopted` and its located diagnostics. Out: text, Markdown or JSON. Values that may be secrets are not in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fleetc.adopt.adoption import Adopted
from fleetc.adopt.beside import Beside
from fleetc.adopt.compare import Difference
from fleetc.adopt.unread import Doubt, doubts
from fleetc.adopt.words import Entry, Fate, Same
from fleetc.messages.forms import AdoptionFormat
from fleetc.messages.locate import Located
from fleetc.text.encoders import plain_output, visible
from fleetc.toml.document import LineMap

_UNCOMPARED = "unknown, because answers are missing: no node was compared"
_MOST_NAMES = 5
NOT_KNOWN = "Not known, because no source has it:"
UNEXPLAINED = "no reason is known: look at it before you deploy"


def reported(found: Adopted, form: AdoptionFormat, located: Sequence[Located]) -> str:
    """The report in a form."""
    if form is AdoptionFormat.json:
        return json.dumps(_values(found, located), indent=2, ensure_ascii=False) + "\n"
    return _markdown(found) if form is AdoptionFormat.markdown else "\n".join(map(plain_output, _text(found))) + "\n"


def _rows(found: Adopted) -> list[tuple[str, int, Entry]]:
    """The account in the order of the sources, with lines."""
    lines = {source.name: LineMap(source.text) for source in found.sources}
    order = {source.name: index for index, source in enumerate(found.sources)}
    rows = []
    for entry in found.entries:
        known = lines.get(entry.span.source)
        line = known.position(entry.span.start)[0] if known is not None else 0
        rows.append((entry.span.source, line, entry))
    unique = list(dict.fromkeys(rows))
    return sorted(unique, key=lambda row: (order.get(row[0], len(order)), row[2].span.start, row[1]))


def _text(found: Adopted) -> Iterator[str]:
    counts = Counter(entry.fate for _, _, entry in _rows(found))
    yield "What became of each word:"
    for name, line, entry in _rows(found):
        code = f" [{entry.code}]" if entry.code else ""
        yield f"  {name}:{line}: {visible(entry.shown)}: {entry.fate}: {visible(entry.words)}{code}"
    yield "In sum: " + ", ".join(f"{counts[fate]} {fate}" for fate in Fate)
    yield ""
    sums = f", of {found.compared} settings:" if found.compared else ":"
    yield f"What the spec changes{sums}"
    if not found.comparable:
        yield f"  {_UNCOMPARED}"
    yield from difference_lines(found.differences)
    if found.comparable and not found.differences:
        yield "  nothing"
    if found.beside:
        yield "Beside the settings:"
        yield from beside_lines(found.beside)
    if found.waiting:
        yield f"Not compared: {_waiting(found)}"
    if files := [*doubts(found.nodes)]:
        yield NOT_KNOWN
        yield from (f"  {line}" for line in doubt_lines(files))


def doubt_lines(found: Iterable[Doubt]) -> Iterator[str]:
    """A line for each file or variable that no source has, with the nodes that read it."""
    for one in found:
        more = f" and {len(one.nodes) - _MOST_NAMES} more" if len(one.nodes) > _MOST_NAMES else ""
        yield f"{', '.join(one.nodes[:_MOST_NAMES])}{more}: {visible(one.words)}"


def doubt_values(found: Iterable[Doubt]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {"file": one.file, "nodes": list(one.nodes), "may_set": list(one.settings), "optional": one.optional}
        for one in found
    ]


def beside_lines(found: Iterable[Beside]) -> Iterator[str]:
    """A line for each thing that changes beside the settings, with all nodes that it is true of."""
    nodes: dict[str, list[str]] = {}
    for one in found:
        nodes.setdefault(one.words, []).append(one.node)
    for words, names in nodes.items():
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        yield f"  {', '.join(names[:_MOST_NAMES])}{more}: {visible(words)}"


def _waiting(found: Adopted) -> str:
    """Which settings could not be compared, because the spec still asks."""
    of_node: dict[str, list[str]] = {}
    for node, flag in found.waiting:
        of_node.setdefault(node, []).append(f"-{flag}")
    said = "; ".join(f"{node} {', '.join(flags)}" for node, flags in of_node.items())
    return f"{said}, until the TODO lines have answers"


def counted(differences: Sequence[Difference]) -> str:
    """How many settings differ; those that are written otherwise and mean the same are told apart."""
    same = sum(isinstance(one.reason, Same) for one in differences)
    changes = len(differences) - same
    alike = f", {same} the same in other words" if same else ""
    return f"{'1 differs' if changes == 1 else f'{changes} differ'}{alike}"


def compared(found: Adopted) -> str:
    """How many settings were compared, and how many differ."""
    settings = f"{found.compared - found.variables} settings"
    variables = f" and {found.variables} variables of avatar stacks" if found.variables else ""
    return f"{settings}{variables} compared, {counted(found.differences)}"


def difference_lines(differences: Iterable[Difference], unexplained: str = UNEXPLAINED) -> Iterator[str]:
    """A line for each difference."""
    for one in differences:
        values = f"{visible(one.today)} -> {visible(one.compiled)}"
        yield f"  {one.node} {visible(one.setting)}: {values}: {one.reason or unexplained}"


def difference_table(differences: Iterable[Difference], unexplained: str = UNEXPLAINED) -> Iterator[str]:
    """A table of Markdown with the differences."""
    yield "| Node | Setting | Today | Compiled | Why |"
    yield "|---|---|---|---|---|"
    for one in differences:
        cells = (one.node, one.setting, one.today, one.compiled, one.reason or unexplained)
        yield "| " + " | ".join(map(cell, cells)) + " |"


def difference_values(differences: Iterable[Difference]) -> list[dict[str, str]]:
    """The differences for programs."""
    return [
        {"node": d.node, "flag": d.flag, "today": d.today, "compiled": d.compiled, "reason": d.reason}
        for d in differences
    ]


def _markdown(found: Adopted) -> str:
    lines = ["# Adopted", ""]
    nodes = ", ".join(f"{node.name} ({node.role})" for node in found.nodes)
    sums = f" {compared(found)}." if found.compared else ""
    unknown = "" if found.comparable else f" What the spec changes: {_UNCOMPARED}."
    lines += [f"Nodes: {cell(nodes or 'none')}.{sums}{unknown}", ""]
    if found.differences:
        lines += ["## What the spec changes", "", *difference_table(found.differences), ""]
    if found.beside:
        lines += ["## Beside the settings", "", "| Node | What |", "|---|---|"]
        lines += [*(f"| {cell(one.node)} | {cell(one.words)} |" for one in found.beside), ""]
    if found.waiting:
        lines += [f"Not compared: {cell(_waiting(found))}.", ""]
    if files := [*doubts(found.nodes)]:
        lines += ["## Not known", "", NOT_KNOWN, "", *(f"- {cell(line)}" for line in doubt_lines(files)), ""]
    lines += ["## What became of each word", "", "| Place | Word | Fate | Where or why |", "|---|---|---|---|"]
    for name, line, entry in _rows(found):
        words = entry.words + (f" ({entry.code})" if entry.code else "")
        lines.append("| " + " | ".join(map(cell, (f"{name}:{line}", entry.shown, entry.fate, words))) + " |")
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """Text in a cell of a table: nothing of it is Markdown or HTML."""
    plain = visible(text).replace("\n", " ")
    for char in "\\`*_[]<>|#":
        plain = plain.replace(char, f"\\{char}")
    return plain.replace("&", "&amp;")


def _values(found: Adopted, located: Sequence[Located]) -> dict[str, Any]:
    return {
        "spec": found.text,
        "nodes": [
            {"name": n.name, "table": n.table, "host": n.host, "source": n.process.span.source} for n in found.nodes
        ],
        "compared": found.compared if found.comparable or found.compared else None,
        "differences": difference_values(found.differences),
        "beside": [{"node": one.node, "what": one.words} for one in found.beside],
        "waiting": [{"node": node, "flag": flag} for node, flag in found.waiting],
        "unknown": doubt_values(doubts(found.nodes)),
        "words": [
            {"file": name, "line": line, "word": entry.shown, "fate": str(entry.fate), "why": entry.words,
             **({"code": entry.code} if entry.code else {})}
            for name, line, entry in _rows(found)
        ],
        "diagnostics": [
            {"code": item.diagnostic.code, "severity": item.diagnostic.severity.name.lower(), "file": item.primary.file,
             "line": item.primary.line, "message": item.diagnostic.message, "help": item.diagnostic.help}
            for item in located
        ],
    }  # fmt: skip
