"""The report of an adoption: what became of every word of the sources, and what the spec changes.

In: `Adopted` and its located diagnostics. Out: text or JSON. Values that may be secrets are not in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from fleetc.adopt.adoption import Adopted
from fleetc.adopt.found.ledger import Entry, Fate
from fleetc.messages.forms import ReportFormat
from fleetc.messages.locate import Located
from fleetc.text.encoders import plain_output, visible
from fleetc.toml.document import LineMap

UNEXPLAINED = "no reason is known: look at it before you deploy"


def reported(adopted: Adopted, form: ReportFormat, located: Sequence[Located]) -> str:
    """The report in a form."""
    if form is ReportFormat.json:
        return json.dumps(_values(adopted, located), indent=2, ensure_ascii=False) + "\n"
    return "\n".join(map(plain_output, _text(adopted))) + "\n"


def compared(adopted: Adopted) -> str:
    """How many settings were compared, and how many of them differ."""
    settings = f"{adopted.compared - adopted.variables} settings"
    variables = f" and {adopted.variables} variables of avatar stacks" if adopted.variables else ""
    same = sum(one.same for one in adopted.differences)
    changes = len(adopted.differences) - same
    alike = f", {same} the same in other words" if same else ""
    return f"{settings}{variables} compared, {changes} {'differs' if changes == 1 else 'differ'}{alike}"


def _rows(adopted: Adopted) -> list[tuple[str, int, Entry]]:
    """The account in the order of the sources, with lines."""
    lines = {source.name: LineMap(source.text) for source in adopted.sources}
    order = {source.name: index for index, source in enumerate(adopted.sources)}
    rows = {}
    for entry in adopted.entries:
        known = lines.get(entry.span.source)
        line = known.position(entry.span.start)[0] if known is not None else 0
        rows[entry.span.source, line, entry] = (order.get(entry.span.source, len(order)), entry.span.start, line)
    return sorted(rows, key=lambda row: rows[row])


def _waiting(adopted: Adopted) -> str:
    """Which settings could not be compared, because the spec still asks."""
    of_node: dict[str, list[str]] = {}
    for node, flag in adopted.waiting:
        of_node.setdefault(node, []).append(f"-{flag}")
    return "; ".join(f"{node} {', '.join(flags)}" for node, flags in of_node.items())


def _text(adopted: Adopted) -> Iterator[str]:
    rows = _rows(adopted)
    yield "What became of each word:"
    for name, line, entry in rows:
        code = f" [{entry.code}]" if entry.code else ""
        yield f"  {name}:{line}: {visible(entry.shown)}: {entry.fate}: {visible(entry.words)}{code}"
    counts = Counter(entry.fate for _, _, entry in rows)
    yield "In sum: " + ", ".join(f"{counts[fate]} {fate}" for fate in Fate)
    yield ""
    yield f"What the spec changes: {compared(adopted)}"
    for one in adopted.differences:
        values = f"{visible(one.today)} -> {visible(one.compiled)}"
        yield f"  {one.node} {visible(one.setting)}: {values}: {one.reason or UNEXPLAINED}"
    if adopted.blueprint is None:
        yield "  unknown, because answers are missing: no node was compared"
    if adopted.waiting:
        yield f"Not compared until the TODO lines have answers: {_waiting(adopted)}"


def _values(adopted: Adopted, located: Sequence[Located]) -> dict[str, Any]:
    return {
        "spec": adopted.text,
        "nodes": [
            {"name": one.name, "table": one.table, "host": one.host, "source": one.process.span.source}
            for one in adopted.nodes
        ],
        "questions": [
            {"kind": one.kind.name.lower(), "place": list(one.place), "facts": dict(one.facts), "example": one.example,
             "text": one.text}
            for one in adopted.questions
        ],
        "compared": adopted.compared if adopted.blueprint is not None or adopted.compared else None,
        "differences": [
            {"node": one.node, "flag": one.flag, "today": one.today, "compiled": one.compiled,
             "reason": str(one.reason or ""), "same": one.same}
            for one in adopted.differences
        ],
        "waiting": [{"node": node, "flag": flag} for node, flag in adopted.waiting],
        "words": [
            {"file": name, "line": line, "word": entry.shown, "fate": str(entry.fate), "why": entry.words,
             **({"code": entry.code} if entry.code else {})}
            for name, line, entry in _rows(adopted)
        ],
        "diagnostics": [
            {"code": item.diagnostic.code, "severity": item.diagnostic.severity.name.lower(), "file": item.primary.file,
             "line": item.primary.line, "message": item.diagnostic.message, "help": item.diagnostic.help}
            for item in located
        ],
    }  # fmt: skip
