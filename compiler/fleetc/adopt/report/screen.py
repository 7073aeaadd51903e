"""The first screen of an adoption: at most so many lines, gravest first; the report has the rest.

In: `Adopted` and its located diagnostics. Out: lines for a terminal. Values that may be secrets are not in them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from fleetc.adopt.adoption import Adopted
from fleetc.adopt.found.questions import Difference
from fleetc.adopt.node.settings import PRICED_FLAGS
from fleetc.adopt.report.report import UNEXPLAINED, compared
from fleetc.messages.locate import Located
from fleetc.text.counting import counted, first_of
from fleetc.text.encoders import visible

_MOST = {"changes": 6, "messages": 4, "questions": 6, "secrets": 3, "nodes": 3}
"""Lines of each part."""
_MONEY = frozenset({*PRICED_FLAGS, "reward", "ethAcctAddr", "aiModels"})
_SAFETY = frozenset({"cliAddr", "httpAddr", "rtmpAddr", "serviceAddr", "orchSecret", "authWebhookUrl", "httpIngest"})
"""Settings that say who reaches a node, and who may use it."""
_SECRETS = ("adopt-secret-inline", "adopt-secret-on-host")
"""Messages about what the list of secrets has too."""
_LONGEST = 130
"""Characters of a question or a message; a longer one is cut at the end of its first clause."""


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
    """Texts that are alike once, each with the first names of what it is about."""
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


_REFERENCE = re.compile(r'\{ env = "([A-Za-z_][A-Za-z0-9_]*)" \}')


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
