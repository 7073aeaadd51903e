"""Diagnostics as workflow commands, which a GitHub runner turns into annotations of the spec's lines.

In: located diagnostics. Out: lines for stdout, one command for each diagnostic and a count at the end. Called by
`forms.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fleetc.messages.locate import NAMES, Located, Place
from fleetc.messages.text import count
from fleetc.places.diagnostic import Severity
from fleetc.text.encoders import github_data, github_property, plain_output, visible

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_ANNOTATIONS = 10
"""How many annotations of one kind a step gets; further ones are only in the log."""

_MESSAGE_LIMIT = 4_000
_PRINTED_LIMIT = 200


def as_github(located: Sequence[Located]) -> str:
    """One command for each diagnostic, errors first, since the runner keeps the first ones of each kind."""
    ordered = sorted(located, key=lambda item: item.diagnostic.severity)  # stable: the order of places stays
    lines = [_command(item) for item in ordered[:_PRINTED_LIMIT]]
    kinds = Counter(item.diagnostic.severity for item in located)
    if any(number > _ANNOTATIONS for number in kinds.values()):
        notice = f"{count(located)}; only {_ANNOTATIONS} of each kind become annotations, fleetc check shows all"
        lines.append(f"::notice title=fleetc::{github_data(notice)}")
    return "\n".join([*lines, plain_output(count(located))]) + "\n"


def _command(item: Located) -> str:
    diagnostic = item.diagnostic
    words = [diagnostic.message]
    words += [f"help: {diagnostic.help}"] if diagnostic.help else []
    words += [
        f"{place.file}:{place.line}:{place.column}: {place.note}" for place in item.related if place.line and place.note
    ]
    message = "\n".join(map(visible, words))
    if len(message) > _MESSAGE_LIMIT:
        message = message[:_MESSAGE_LIMIT] + " ..."
    properties = ",".join(f"{name}={github_property(text)}" for name, text in _properties(item))
    return f"::{_COMMANDS[diagnostic.severity]} {properties}::{github_data(message)}"


def _properties(item: Located) -> list[tuple[str, str]]:
    file = [("file", visible(item.primary.file))] if item.primary.file else []
    return [*file, *_numbers(item.primary), ("title", f"{NAMES[item.diagnostic.severity]}[{item.diagnostic.code}]")]


def _numbers(place: Place) -> list[tuple[str, str]]:
    """Lines, and columns if the place is in one line: the service refuses columns across lines."""
    if not place.line:
        return []
    lines = [("line", str(place.line)), ("endLine", str(place.end_line))]
    columns = [("col", str(place.column)), ("endColumn", str(place.end_column))]
    return [*lines, *columns] if place.line == place.end_line else lines
