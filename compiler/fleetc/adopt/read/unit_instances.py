"""Finds the instances of template units: which NAME of `livepeer@NAME.service` the sources say there are.

In: units, drop-ins and links by name, and scripts. Out: the instances of each template, and what specifiers stand for.
A link in a folder `*.wants` counts by its name alone: its text is the template's.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

from fleetc.toml.document import Source

_UNIT = re.compile(r"(?P<prefix>[A-Za-z0-9:_.\\-]+)@(?P<instance>[A-Za-z0-9:_.\\-]*)\.service")
_NAMED = re.compile(r"(?<![A-Za-z0-9:_.\\@-])([A-Za-z0-9:_.\\-]+)@(?:\{([^{}\s]*)\}|([A-Za-z0-9:_.\\-]+))")
_STARTS = re.compile(r"(?:^|\s)(?:systemctl\s|(?:Wants|Requires|BindsTo|Also|Upholds)[ \t]*=)")
_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")
_MOST = 1000


def is_link(name: str) -> bool:
    """Whether a source is a link by which a unit is started."""
    return posixpath.dirname(name).endswith((".wants", ".requires")) and name.endswith(".service")


def is_drop_in(name: str) -> bool:
    """Whether a source is a drop-in of a unit."""
    return posixpath.basename(posixpath.dirname(name)).endswith(".service.d")


def unit_of(name: str) -> str:
    """The source that is the unit of a drop-in; other sources as they are."""
    return posixpath.dirname(name).removesuffix(".d") if is_drop_in(name) else name


def _unit(name: str) -> re.Match[str] | None:
    folder = posixpath.basename(posixpath.dirname(name))
    return _UNIT.fullmatch(folder.removesuffix(".d") if is_drop_in(name) else posixpath.basename(name))


def family_of(name: str) -> tuple[str, str] | None:
    """The folder of units and the prefix of a template, an instance, or a drop-in of one; None for a plain unit."""
    found = _unit(name)
    if found is None:
        return None
    folder = posixpath.dirname(name)
    return posixpath.dirname(folder) if is_drop_in(name) or is_link(name) else folder, found["prefix"]


def instance_of(name: str) -> str:
    """The instance that a source is about, "" for all of a template."""
    found = _unit(name)
    return found["instance"] if found is not None else ""


def instances_said(sources: Iterable[Source]) -> dict[str, frozenset[str]]:
    """The instances of each prefix that units and scripts start."""
    found: dict[str, set[str]] = {}
    for source in sources:
        for line in source.text.split("\n") if "@" in source.text else ():
            if line.lstrip().startswith(("#", ";")) or not _STARTS.search(line):
                continue
            for prefix, several, one in _NAMED.findall(line):
                for name in several.split(",") if several else [one]:
                    instance = name.removesuffix(".service")
                    if instance and _UNIT.fullmatch(f"{prefix}@{instance}.service") and len(found) < _MOST:
                        found.setdefault(prefix, set()).add(instance)
    return {prefix: frozenset(names) for prefix, names in found.items()}


def specifiers(prefix: str, instance: str) -> Mapping[str, str]:
    """What the specifiers of an instance stand for that follow from its name."""
    unit = f"{prefix}@{instance}"
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), instance.replace("-", "/"))
    return {"%i": instance, "%I": plain, "%n": f"{unit}.service", "%N": unit, "%p": prefix}
