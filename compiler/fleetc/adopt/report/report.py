"""What an adoption tells people: the report with each word of the sources, and the first screen with the gravest.

In: `Adopted` and its located diagnostics. Out: text or JSON; lines for a terminal, at most so many of each part. Values
that may be secrets are not in them.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fleetc.adopt.adoption import Adopted
from fleetc.adopt.found.ledger import Entry, Fate
from fleetc.adopt.found.questions import Difference
from fleetc.adopt.node.settings import PRICED_FLAGS
from fleetc.messages.forms import ReportFormat
from fleetc.messages.locate import Located
from fleetc.text.counting import counted, first_of
from fleetc.text.encoders import plain_output, visible
from fleetc.toml.document import LineMap

UNEXPLAINED = "no reason is known: look at it before you deploy"
_MOST = {"changes": 6, "messages": 4, "questions": 6, "secrets": 3, "nodes": 3}
"""Lines of each part."""
_MONEY = frozenset({*PRICED_FLAGS, "reward", "ethAcctAddr", "aiModels"})
_SAFETY = frozenset({"cliAddr", "httpAddr", "rtmpAddr", "serviceAddr", "orchSecret", "authWebhookUrl", "httpIngest"})
"""Settings that say who reaches a node, and who may use it."""
_SECRETS = ("adopt-secret-inline", "adopt-secret-on-host")
"""Messages that repeat the list of secrets."""
_LONGEST = 130
"""Characters of a question or a message; a longer one is cut at the end of its first clause."""
_REFERENCE = re.compile(r'\{ env = "([A-Za-z_][A-Za-z0-9_]*)" \}')


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


# ------------------------------------------------------------------------------------------ the first screen


def screen(adopted: Adopted, messages: Sequence[Located], output: str) -> Iterator[str]:
    """The lines; `output` is the file of the spec, "" where it went to standard output."""
    yield _headline(adopted, output)
    yield from _capped(_hosts(adopted), "nodes")
    yield from _secrets(adopted)
    yield from _changes(adopted)
    yield from _messages([one for one in messages if one.diagnostic.code not in _SECRETS])
    yield from _questions(adopted, output)
    if adopted.unused:
        yield f"not used: {first_of(list(map(visible, adopted.unused)), 3)}"
    yield from _next(adopted, output)


def _headline(adopted: Adopted, output: str) -> str:
    parts = [counted(len(adopted.nodes), "node")]
    parts += [counted(adopted.stacks, "avatar stack")] if adopted.stacks else []
    parts += [counted(len(adopted.questions), "question")]
    settings = f"; {compared(adopted)}" if adopted.compared else "; nothing could be compared yet"
    waiting = f", {len(adopted.waiting)} wait for answers" if adopted.waiting else ""
    return (f"wrote {visible(output)}: " if output else "") + ", ".join(parts) + settings + waiting


def _alike(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Each text once, with the first names that it is about."""
    names: dict[str, dict[str, None]] = {}
    for text, name in pairs:
        names.setdefault(text, {})[name] = None
    return ((text, first_of([*some], 3)) for text, some in names.items())


def _hosts(adopted: Adopted) -> list[str]:
    nodes = _alike((node.host, f"{node.name} ({node.role})") for node in adopted.nodes)
    return [f"  {host}: {names}" for host, names in nodes]


def _secrets(adopted: Adopted) -> Iterator[str]:
    """Each secret of the sources, by its variable, with its places."""
    kept = [one for one in adopted.in_clear if one.keeper]
    clear = [one for one in adopted.in_clear if not one.keeper]
    places = (visible(adopted.library.place(one.span)) for one in clear)
    listed = [f"  {name}: {where}" for name, where in _alike(zip((one.variable for one in clear), places, strict=True))]
    if listed:
        yield "secrets in clear; set these variables where you deploy, then change the secrets:"
        yield from _capped(listed, "secrets")
    for host, some in _alike((one.keeper, one.variable) for one in kept):
        yield f"secrets that stay on {host}; set where you deploy, or write {{ host_file = ... }}: {some}"
    known = {one.variable for one in (*kept, *clear)}
    named = _REFERENCE.findall(re.sub("(?m)^#.*", "", adopted.text))
    others = [name for name in dict.fromkeys(named) if name not in known]
    if others:
        yield f"set where you deploy, because no source has the value: {first_of(others, 3)}"


def _changes(adopted: Adopted) -> Iterator[str]:
    """What the spec sets otherwise; the same change of several nodes is one line."""
    changed = [one for one in sorted(adopted.differences, key=_gravity) if not one.same]
    texts = (
        f"{visible(one.setting)}: {_cut(visible(one.today), 40)} -> {_cut(visible(one.compiled), 40)} "
        f"({_cut(visible(str(one.reason or UNEXPLAINED)))})"
        for one in changed
    )
    if changed:
        yield "changes for what runs today:"
        pairs = _alike(zip(texts, (one.node for one in changed), strict=True))
        yield from _capped([f"  {names} {text}" for text, names in pairs], "changes")


def _gravity(one: Difference) -> int:
    """What has no reason comes first, then money, then who reaches a node."""
    flag = one.flag.partition(" ")[0]
    return 0 if one.reason is None else 1 if flag in _MONEY else 2 if flag in _SAFETY else 3


def _messages(messages: Sequence[Located]) -> Iterator[str]:
    ordered = [(one.diagnostic, one.primary) for one in sorted(messages, key=lambda one: one.diagnostic.severity)]
    pairs = _alike(
        (f"{_cut(visible(one.message))} [{one.code}]", visible(f"{at.file}:{at.line}" if at.line else at.file))
        for one, at in ordered
    )
    yield from _capped([f"{where}: {text}" for text, where in pairs], "messages")


def _questions(adopted: Adopted, output: str) -> Iterator[str]:
    """What the spec asks; the same question at several places is one line."""
    if adopted.questions:
        yield f"asked, as TODO lines of {visible(output) if output else 'the spec'}:"
        pairs = _alike((_cut(one.text), ".".join(one.place)) for one in adopted.questions)
        yield from _capped([f"  {places}: {text}" for text, places in pairs], "questions")


def _next(adopted: Adopted, output: str) -> Iterator[str]:
    spec = shlex.quote(output) if output else "SPEC"
    answer = "answer the TODO lines (--set does it too), then " if adopted.questions else ""
    yield f"next: {answer}fleetc check {spec}"
    if adopted.nodes:
        yield "before the first rollout: fleetc deploy --check says what happens to each process that runs"


def _capped(lines: list[str], what: str) -> Iterator[str]:
    most = _MOST[what]
    yield from lines if len(lines) <= most + 1 else lines[:most]
    if len(lines) > most + 1:
        yield f"  {len(lines) - most} more {what}: --report text has all"


def _cut(text: str, longest: int = _LONGEST) -> str:
    if len(text) <= longest:
        return text
    for end in ("; ", ": "):
        text = text.partition(end)[0]
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
