"""The origin of a line of a tree: the chain to places in the spec, defaults and derivations.

In: a blueprint, its document, and a line of one of its artifacts (or a node and a flag). Out: `Explained`, and its text
or JSON. Called by `cli/` for `fleetc why`; a compile runs none of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleetc.blueprint.blueprint import LAUNCH_FLAGS, Blueprint
from fleetc.emit import env, formats
from fleetc.emit.traced import TracedLine
from fleetc.emit.tree import Shipped
from fleetc.language.fleet import Fleet
from fleetc.messages.json import json_place
from fleetc.messages.locate import Place, members_label, places
from fleetc.messages.text import frames
from fleetc.places.diagnostic import Label, Path
from fleetc.places.origin import Origin
from fleetc.text import leaks
from fleetc.text.encoders import plain_output
from fleetc.text.suggestions import did_you_mean
from fleetc.toml.document import Document, Source, value_at
from fleetc.upstream import FLAGS

_SHOWN = 12
"""How many reasons of one kind are printed for people; JSON has all of them."""


class UnknownPlaceError(ValueError):
    """There is no such artifact, line, node, flag or place of the spec; `help` lists the valid ones."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


class Reason(NamedTuple):
    """One link of the chain: `kind` is given, default, derived or constant; `places` are the spec places that count."""

    kind: str
    text: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A line with its reasons: those of its values, and those of the line being there at all."""

    artifact: str
    line: int
    text: str
    reasons: tuple[Reason, ...]
    presence: tuple[Reason, ...]


class Derivation(NamedTuple):
    """What the answer is derived from."""

    fleet: Fleet
    blueprint: Blueprint
    document: Document
    sources: Sequence[Source]
    shipped: Shipped

    def trace(self, artifact: str) -> list[TracedLine]:
        """The lines of an artifact. Raises UnknownPlaceError."""
        drafts = formats.Drafts(self.blueprint, *self.shipped, self.sources)
        draft = drafts.find(artifact)
        if draft is None:
            paths = [draft.path for draft in drafts.all()]
            advice = did_you_mean(artifact, paths, "manifest.json of a compiled tree lists its files")
            raise UnknownPlaceError(f'the tree has no file "{artifact}"', advice)
        return draft.lines()


def explain_line(question: Derivation, artifact: str, line: int) -> Explained:
    """Explain one line, counted from 1. Raises UnknownPlaceError."""
    lines = question.trace(artifact)
    if not 1 <= line <= len(lines):
        raise UnknownPlaceError(
            f"{artifact} has no line {line}", f"it has lines 1 to {len(lines)}" if lines else "it is empty"
        )
    traced = lines[line - 1]
    reasons = tuple(_reasons(question, traced.origins))
    presence = tuple(_reasons(question, (o for o in traced.presence if o not in traced.origins)))
    if traced.template:
        constant = f"the text is always the same: {_template(traced)}, line {traced.template_line}"
        if not reasons:
            reasons = (Reason("constant", constant, ()),)
    return Explained(artifact, line, traced.text, reasons, presence)


def find_flag(question: Derivation, node: str, flag: str) -> tuple[str, int]:
    """The artifact and line of a node's flag, or of the variable that replaces it. Raises UnknownPlaceError."""
    services = {service.name: (host, service) for host in question.blueprint.hosts for service in host.services}
    if node not in services:
        raise UnknownPlaceError(f'there is no node "{node}"', did_you_mean(node, services) or "the spec names no node")
    host, service = services[node]
    name = flag.lstrip("-").partition("=")[0]
    directory = f"hosts/{host.name}/{service.name}"
    names = [name, FLAGS[name].env] if name in FLAGS else [name]  # sensitive flags are passed as variables
    variables = tuple(f"{start}{variable}{end}" for variable in names for start, end in (("", "="), ("# ", ":")))
    for file, starts in ((LAUNCH_FLAGS, (f"-{name}=",)), (env.FILE, variables)):
        for number, line in enumerate(question.trace(f"{directory}/{file}"), 1):
            if line.text.startswith(starts):
                return f"{directory}/{file}", number
    known = [argument.flag for argument in service.arguments]
    known += [variable.name for variable in service.variables] + [secret.name for secret in service.secrets]
    raise UnknownPlaceError(f'{node} gets no flag or variable "{name}"', did_you_mean(name, known) or "it has none")


def _template(line: TracedLine) -> str:
    return line.template if line.template.startswith("playbooks/") else f"templates/{line.template}"


def _reasons(question: Derivation, origins: Iterable[Origin]) -> list[Reason]:
    """Origins in words, each with its places."""
    reasons = [_told(question, origin) for origin in dict.fromkeys(origins)]
    labels = [[label for path in paths for label in _labels(question.document, path)] for _, _, paths in reasons]
    located = places(labels, question.sources, question.document)
    return [Reason(kind, text, at) for (kind, text, _), at in zip(reasons, located, strict=True)]


def _told(question: Derivation, origin: Origin) -> tuple[str, str, Sequence[Path]]:
    """The kind of an origin, its words, its places: if several may decide, only those that the spec sets."""
    written = tuple(path for path in origin.paths if value_at(question.document.raw, path) is not None)
    silent = [path for path in origin.paths if path not in written]
    if origin.kind == "given" and silent:
        dotted = ".".join(map(str, silent[0]))
        text = f"{dotted} is not written, so its default is in force"
        default = _in_force(question.fleet, silent[0])
        return "default", text + (f": {default}" if default else ""), silent
    dotted = ", ".join(".".join(map(str, path)) for path in written)
    return origin.kind, origin.reason or (dotted or "the spec as a whole"), written or silent[:1]


def _labels(document: Document, path: Path) -> list[Label]:
    """A place; of a value that a table takes from elsewhere, that table too."""
    at = document.said_at(path)
    if at[:2] == path[:2] or path[:2] not in document.layers:
        return [Label(path)]
    if at[:2] == document.layers[path[:2]][0][:2]:
        return [Label(path, f"for {path[1]}")]
    return [Label(path, f"in {'.'.join(map(str, at[:-1]))}"), members_label([path[:2]], document)]


def _in_force(value: Any, path: Path) -> str:
    """The default of a field as text; empty if it has none that a line could show."""
    for part in path:
        value = value.get(part) if isinstance(value, dict) else getattr(value, str(part), None)
        if value is None:
            return ""
    return "" if isinstance(value, dict | tuple) or hasattr(value, "model_fields") else str(value)


# --- text and JSON ------------------------------------------------------------------------------------


def as_text(explained: Explained, colour: bool = False) -> str:
    """The chain for a terminal: the line, each reason, and under it its places with their source lines.

    Only constant text gets the reason why the line is there at all: otherwise the values of the line explain it better.
    """
    head = f"{explained.artifact}:{explained.line}: {leaks.shown(explained.text)}"
    lines = [f"\x1b[1m{plain_output(head)}\x1b[0m" if colour else plain_output(head)]
    constant = all(reason.kind == "constant" for reason in explained.reasons)
    for title, reasons in (("", explained.reasons), ("it is there because of", explained.presence if constant else ())):
        if title and reasons:
            lines += ["", f"{title}:"]
        for reason in reasons[:_SHOWN]:
            lines += ["", f"{reason.kind}: {plain_output(leaks.shown(reason.text))}"]
            lines += frames(reason.places, colour)
        if len(reasons) > _SHOWN:
            lines += ["", f"... and {len(reasons) - _SHOWN} more; --format json has all"]
    return "\n".join(lines) + "\n"


def as_json(explained: Explained) -> str:
    """The chain for programs."""
    return json.dumps(as_data(explained), indent=2) + "\n"


def as_data(explained: Explained) -> dict[str, Any]:
    """Plain values for JSON; lines and columns are counted from 1."""
    parts = {
        name: [
            {
                "kind": reason.kind,
                "text": leaks.shown(reason.text),
                "places": [json_place(place) for place in reason.places],
            }
            for reason in reasons
        ]
        for name, reasons in (("reasons", explained.reasons), ("presence", explained.presence))
    }
    return {"artifact": explained.artifact, "line": explained.line, "text": leaks.shown(explained.text), **parts}
