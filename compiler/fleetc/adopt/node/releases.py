"""Finds which release of the node runs: what sources say of each process, else what their words make likely.

In: processes with their nodes, and the sources. Out: the releases that are said, and `Likely` ones, which people are
asked to confirm.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.words import Brief
from fleetc.adopt.node.reading import Running
from fleetc.language.images import release_of_tag, split_image
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source
from fleetc.upstream import NEWEST_RELEASE, OLDEST_RELEASE, RELEASES, format_release

_NUMBERS = r"(v?[0-9]+\.[0-9]+\.[0-9]+)(?![0-9.])"
_IN_PATH = re.compile(rf"(?<![0-9.])(?:(?<=v)|(?<![A-Za-z])){_NUMBERS}")
_IN_URL = re.compile(rf"/go-livepeer/releases/download/{_NUMBERS}/")
_VARIABLE = re.compile(
    rf"(?im)^[ \t]*(?:-[ \t]+)?(?:export[ \t]+)?((?:go_?)?(?:lp|livepeer)_?(?:node_?)?(?:version|release|tag))\b"
    rf"[\"']?[ \t]*[:=][ \t]*[\"']?{_NUMBERS}"
)
"""A line that gives a variable which is called after the release of the node its value."""


NEWEST = "the newest that fleetc knows"
"""Why a release is offered of which no source says anything."""
OFFERED = "offered as node_release"
"""What the account says of a line that says the release."""


class Likely(NamedTuple):
    """A release that no source says of a process, and where it stands."""

    release: str
    where: str


def release_said(one: Running) -> str:
    """The release that a source says of a process, by the tag of its image or in words of its own; "" for none."""
    image = one.process.image
    tag = split_image(image.text)[0] if image else ""
    release = release_of_tag(tag) if tag else None
    tagged = release is not None and release >= OLDEST_RELEASE
    return format_release(release) if release is not None and tagged else one.process.release


def release_of_path(one: Running) -> str:
    """The release in the path of the program of a process; "" where there is none, or several, or it has an image."""
    found = {} if one.process.image else _known(_IN_PATH.findall(one.process.program))
    return next(iter(found)) if len(found) == 1 else ""


def likely_release(found: Sequence[Running], sources: Mapping[str, Source]) -> Likely:
    """The release to ask about where no source says one: that of most paths of programs, else that of a download or a
    variable, where all of these agree, else the newest.
    """
    paths = Counter(filter(None, map(release_of_path, found))).most_common(1)
    if paths:
        return Likely(paths[0][0], _likely_path(found))
    for form in (_IN_URL, _VARIABLE):
        stand = list(_in_texts(form, sources.values()))
        if stand and len({one.release for one in stand}) == 1:
            return stand[0]
    return Likely(format_release(NEWEST_RELEASE), NEWEST)


def uncompared(found: Sequence[Running], sources: Mapping[str, Source], compiled: Mapping[str, str]) -> Iterator[Brief]:
    """The releases that no source says for certain, in words, with what makes one likely and what the spec has instead.
    `compiled` has the releases of nodes in the spec, by their names today.
    """
    said = {one.name: release_said(one) for one in found}
    offered = likely_release(found, sources) if not any(said.values()) else None
    groups: dict[tuple[str, str], list[Running]] = {}
    for one in found:
        if said[one.name]:
            continue
        in_path = release_of_path(one)
        release, where = (in_path, "") if in_path else offered if offered and " at " in offered.where else ("", "")
        groups.setdefault((release, where), []).append(one)
    for (release, where), nodes in groups.items():
        names = sorted({one.name for one in nodes})
        every = "the releases" if len(names) == len(said) > 1 else f"the release of {', '.join(names)}"
        if not release:
            words = f"the release of {', '.join(names)}, which no image and no unit among the sources says"
            yield Brief(words, f"{every}, which no source says")
            continue
        others = sorted({compiled[name] for name in names if compiled.get(name, release) != release})
        but = f", and the spec has {', '.join(others)}" if others else ""
        likely = f" ({release} is {where or _likely_path(nodes)}{but})"
        yield Brief(f"the release of {', '.join(names)}{likely}", f"{every}{likely}")


def _likely_path(found: Sequence[Running]) -> str:
    return "in the path of its program" if len(found) == 1 else "in paths of programs"


def note_release(release: str, sources: Mapping[str, Source], ledger: Ledger) -> None:
    """Account for lines that say a release which is offered, in sources of which nothing else is accounted for."""
    known = {entry.span.source for entry in ledger.entries if True}
    for source in sources.values():
        for found in _VARIABLE.finditer(source.text) if source.name not in known else ():
            if release in _known([found[2]]):
                ledger.note(Span(source.name, found.start(1), found.end()), found[1], Fate.UNDERSTOOD, OFFERED)


def _in_texts(form: re.Pattern[str], sources: Iterable[Source]) -> Iterator[Likely]:
    """The releases in texts, each with its line."""
    for source in sources:
        for found in form.finditer(source.text):
            name, numbers = (found[1], found[2]) if form is _VARIABLE else ("downloaded", found[1])
            line = source.text.count("\n", 0, found.start()) + 1
            for release in _known([numbers]):
                yield Likely(release, f"{name} at {leaks.shown(visible(source.name))}:{line}")


def _known(texts: Iterable[str]) -> dict[str, None]:
    """Those texts that are releases of the node, in their order; numbers that it never had are another program's."""
    releases = ((text, release_of_tag(text)) for text in texts)
    return dict.fromkeys(
        format_release(one)
        for text, one in releases
        if one is not None and (one in RELEASES or (text.startswith("v") and one > NEWEST_RELEASE))
    )
