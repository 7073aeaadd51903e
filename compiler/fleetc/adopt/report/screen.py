"""The first screen of an adoption: at most so many lines, gravest first; the report has the rest.

In: `Adopted` and its located diagnostics. Out: lines for a terminal. Values that may be secrets are not in them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from fleetc.adopt.adoption import Adopted
from fleetc.adopt.found.questions import Difference, Question
from fleetc.adopt.node.settings import PRICED_FLAGS
from fleetc.adopt.report.report import UNEXPLAINED, compared
from fleetc.messages.locate import Located
from fleetc.text.counting import counted, first_of
from fleetc.text.encoders import visible
from fleetc.toml.document import LineMap

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


def _hosts(adopted: Adopted) -> list[str]:
    of_host: dict[str, list[str]] = {}
    for node in adopted.nodes:
        of_host.setdefault(node.host, []).append(f"{node.name} ({node.role})")
    return [f"  {host}: {first_of(names, 3)}" for host, names in of_host.items()]


def _secrets(adopted: Adopted) -> Iterator[str]:
    """Each secret of the sources, by its variable, with its places."""
    lines = {source.name: LineMap(source.text) for source in adopted.sources}
    places: dict[str, list[str]] = {}
    kept: dict[str, dict[str, str]] = {}
    for one in adopted.in_clear:
        if one.keeper:
            kept.setdefault(one.keeper, {})[one.variable] = one.variable
        elif one.span.source in lines:
            line = lines[one.span.source].position(one.span.start)[0]
            places.setdefault(one.variable, []).append(f"{visible(one.span.source)}:{line}")
    listed = [f"  {name}: {first_of(list(dict.fromkeys(where)), 3)}" for name, where in places.items()]
    if listed:
        yield "secrets in clear; set these variables where you deploy, then change the secrets:"
        yield from _capped(listed, "secrets")
    for host, names in kept.items():
        some = first_of([*names], 3)
        yield f"secrets that stay on {host}; set where you deploy, or write {{ host_file = ... }}: {some}"
    known = {*places, *(name for names in kept.values() for name in names)}
    named = _REFERENCE.findall(re.sub("(?m)^#.*", "", adopted.text))
    others = [name for name in dict.fromkeys(named) if name not in known]
    if others:
        yield f"set where you deploy, because no source has the value: {first_of(others, 3)}"


_REFERENCE = re.compile(r'\{ env = "([A-Za-z_][A-Za-z0-9_]*)" \}')


def _changes(adopted: Adopted) -> Iterator[str]:
    """What the spec sets otherwise; the same change of several nodes is one line."""
    nodes: dict[tuple[str, str, str, str], list[str]] = {}
    for one in sorted(adopted.differences, key=_gravity):
        if not one.same:
            key = (visible(one.setting), visible(one.today), visible(one.compiled), str(one.reason or UNEXPLAINED))
            nodes.setdefault(key, []).append(one.node)
    if nodes:
        yield "changes for what runs today:"
        yield from _capped(
            [
                f"  {first_of(names, 3)} {setting}: {_cut(today, 40)} -> {_cut(then, 40)} ({_cut(visible(why))})"
                for (setting, today, then, why), names in nodes.items()
            ],
            "changes",
        )


def _gravity(one: Difference) -> int:
    """What has no reason comes first, then money, then who reaches a node."""
    flag = one.flag.partition(" ")[0]
    return 0 if one.reason is None else 1 if flag in _MONEY else 2 if flag in _SAFETY else 3


def _messages(messages: Sequence[Located]) -> Iterator[str]:
    ordered = sorted(messages, key=lambda one: one.diagnostic.severity)
    alike: dict[tuple[str, str], list[str]] = {}
    for one in ordered:
        where = f"{visible(one.primary.file)}:{one.primary.line}" if one.primary.line else visible(one.primary.file)
        alike.setdefault((one.diagnostic.code, _cut(visible(one.diagnostic.message))), []).append(where)
    lines = [f"{first_of(where, 3)}: {message} [{code}]" for (code, message), where in alike.items()]
    yield from _capped(lines, "messages")


def _questions(adopted: Adopted, output: str) -> Iterator[str]:
    """What the spec asks; the same question at several places is one line."""
    places: dict[str, list[Question]] = {}
    for one in adopted.questions:
        places.setdefault(one.text, []).append(one)
    if places:
        yield f"asked, as TODO lines of {visible(output) if output else 'the spec'}:"
        yield from _capped(
            [
                f"  {first_of(['.'.join(one.place) for one in asked], 3)}: {_cut(text)}"
                for text, asked in places.items()
            ],
            "questions",
        )


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
