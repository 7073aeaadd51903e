"""Adds its origin behind each setting of a spec, for `fleetc check --resolved`.

In: the TOML of a resolved spec or of a part of it, its document and its fleet. Out: the same TOML with a comment behind
the first line of each setting. The comment names the line of the spec, and its class or defaults. Any other setting is
a default, with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Path
from fleetc.text.encoders import plain_output
from fleetc.toml.document import Document
from fleetc.toml.scan import Scan


def with_origins(text: str, document: Document, fleet: Fleet) -> str:
    """The text with its comments."""
    reasons = _reasons(fleet)
    ends: dict[int, str] = {}
    for path, mark in Scan(text).marks.items():
        if text[mark.start : mark.start + 1] == "[" and text[mark.key_start - 1 : mark.key_start] in ("[", "."):
            continue  # a header
        if any(isinstance(part, int) for part in path) or text.rfind("\n", 0, mark.key_start) + 1 != mark.key_start:
            continue  # inside of a value
        end = text.find("\n", mark.key_start)
        ends[len(text) if end < 0 else end] = _origin(path, document, reasons)
    pieces, start = [], 0
    for end, comment in sorted(ends.items()):
        pieces += [text[start:end], f"  # {comment}"]
        start = end
    return "".join([*pieces, text[start:]])


def _origin(path: Path, document: Document, reasons: Mapping[Path, str]) -> str:
    at, span = document.said_at(path), document.span(path)
    if span is None:
        reason = reasons.get(path, "")
        return f"default: {reason}" if reason else "default"
    line, _ = document.position(span.source, span.start)
    shared = "" if at[:2] == path[:2] else f", {'.'.join(map(str, at[: -len(path[2:]) or None]))}"
    return plain_output(f"{span.source}:{line}{shared}")


def _reasons(fleet: Fleet) -> dict[Path, str]:
    """The reason of a node's default, if it has one."""
    reasons = {}
    for node in fleet.nodes:
        for key, chosen in effective.in_force(fleet, node).items():
            reasons[(*node.path, key)] = chosen.origin.reason
    return reasons
