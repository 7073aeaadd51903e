"""A flag in extra_flags cannot be set there.

Why: extra_flags is for flags that no field of the spec sets. A flag that has a field would bypass the checks and appear
twice. A flag unknown to the release or role stops the node or does nothing. For a release newer than this version of
fleetc, any other name is passed as written.

Example:

    [gateways.gate]
    extra_flags = { maxAttempts = 5 }

Instead:

    [gateways.gate]
    max_attempts = 5
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import QuantityError, parse_duration
from fleetc.language.rows import DECIDED, READERS, field_of, flag_called
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.text.suggestions import asked
from fleetc.upstream import FLAGS, NEWEST_RELEASE, Flag, format_release

_NAME = re.compile("[A-Za-z][A-Za-z0-9]{0,63}")
"""The node's own names look like this."""

_ENDING = ("config", "j", "version")
"""Flags that read settings from outside the spec, or that print and exit."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every extra flag of every node."""
    for node in fleet.nodes:
        for name, value in node.settings.extra_flags.items():
            message, help_line = _refused(fleet, node, name, value)
            if message:
                path = (*node.path, "extra_flags", name)
                yield error("extra-flag-refused", message, Label(path, on_key=True), help=help_line)


def _refused(fleet: Fleet, node: Node, name: str, value: bool | int | str) -> tuple[str, str]:
    """What is wrong with a flag and what to do instead, or two empty texts."""
    flag = FLAGS.get(name)
    release = effective.release_of(fleet, node).value
    newer_release = release > NEWEST_RELEASE
    if flag is None:
        if called := flag_called(name):
            return f"the node has no flag {name}", asked([called])
        if newer_release and _NAME.fullmatch(name):
            return "", ""
        return f"the node has no flag {name}", fleet.suggestions.did_you_mean(
            name, FLAGS, "use the node's own names, with their capitals"
        )
    if not flag.known_to(release):
        return f"the node of {format_release(release)} has no flag {name}", "remove it, or run another release"
    field = field_of(name, node.table)
    if newer_release and not _read_here(node, flag) and name not in DECIDED and name not in _ENDING and not flag.secret:
        return _of_type(flag, value)
    if field:
        return f"{name} has its own field", f"write {field} instead"
    if name in _ENDING:
        return f"{name} bypasses the checks, or ends the node", "remove it"
    if flag.secret:
        return f"{name} is a secret of the node", "secrets do not belong in the spec: remove it"
    newer = FLAGS.get(flag.replaced_by)
    if newer is not None and newer.known_to(release):
        return (
            f"{name} is an old name of {newer.name}",
            f"write {field_of(newer.name, node.table) or newer.name} instead",
        )
    if not _read_here(node, flag):
        return f"{name} only has an effect on {' and '.join(sorted(flag.roles))}", "remove it"
    return _of_type(flag, value)


def _read_here(node: Node, flag: Flag) -> bool:
    """Whether some role of the node reads the flag in the releases that fleetc fully knows."""
    return bool(flag.roles & READERS[node.table])


def _of_type(flag: Flag, value: bool | int | str) -> tuple[str, str]:
    if flag.type == "bool":
        return (
            ("", "") if isinstance(value, bool) else (f"{flag.name} takes true or false", f"write {flag.name} = true")
        )
    if flag.type in ("int", "int64"):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return ("", "") if whole else (f"{flag.name} takes a whole number", f"write {flag.name} = 10")
    if not isinstance(value, str):
        return f"{flag.name} takes text", f'write {flag.name} = "{str(value).lower()}"'
    if flag.type == "duration":
        try:
            parse_duration(value)
        except QuantityError as problem:
            return f"{flag.name} takes a duration: {problem.message}", problem.help
    elif flag.type == "float" and not value.replace(".", "", 1).isdecimal():
        return f"{flag.name} takes a number as text", f'write {flag.name} = "0.5"'
    return "", ""
