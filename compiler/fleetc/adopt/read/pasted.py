"""A text of another form that stands where a spec does, or that somebody pasted into one.

In: a source that is no TOML, and why. Out: the same diagnostics, with one instead of the syntax errors of that text: it
names the command that takes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.read.sources import kind_of, read_sources
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Span, error
from fleetc.text.encoders import readable_word
from fleetc.toml.document import Source

_OF_SPEC = re.compile(rf"^(?:\[\[?(?:{'|'.join(Fleet.model_fields)})[\].]|spec[ \t]*=)", re.MULTILINE)
_FLAG = re.compile(r"[ \t]*-{1,2}([A-Za-z][A-Za-z0-9_.]*)")
_JSON = re.compile(r"\s*[{\[]\s*[{\"\]}]")
_YAML = re.compile(r"(?:---|#[^\n]*|\s)*(?:-[ \t]+)?[A-Za-z_][\w.-]*:(?:\s|$)")
_LONGEST = 256 * 1024
"""Characters of a longer text are not looked at: people paste commands, units and Compose files."""
_KINDS = {
    "compose": "a Compose file",
    "config": "a list of flags",
    "environment": "a list of variables",
    "shell": "a command",
    "unit": "a systemd unit",
}


def instead_of_toml(source: Source, diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """The diagnostics of the source; those about syntax become one where `adopt` can read what is there."""
    for found in diagnostics:
        place = found.primary.place
        if found.code == "toml-syntax" and isinstance(place, Span) and place.source == source.name:
            begin, end = _passage(source.text, place.start)
            better = _named(source, begin, end)
            if better is None:
                return diagnostics
            return [better, *(one for one in diagnostics if not _within(one, source.name, begin, end))]
    return diagnostics


def _passage(text: str, at: int) -> tuple[int, int]:
    """The whole text if no line of it is one of a spec; else the lines from an error up to the next table."""
    if _OF_SPEC.search(text) is None:
        return 0, len(text)
    begin = text.rfind("\n", 0, at) + 1
    table = _OF_SPEC.search(text, begin)
    return begin, table.start() if table is not None else len(text)


def _within(found: Diagnostic, name: str, begin: int, end: int) -> bool:
    place = found.primary.place
    return isinstance(place, Span) and place.source == name and begin <= place.start <= end


def _named(source: Source, begin: int, end: int) -> Diagnostic | None:
    """What this part of a source is; None if no other form that fleetc knows."""
    whole, text = begin == 0 and end == len(source.text), source.text[begin:end]
    if len(text) > _LONGEST:
        return None
    passage = Source(source.name if whole else "start", text)
    kind, ledger, flag = kind_of(passage), Ledger(), _FLAG.match(text)
    found = read_sources([passage], {}, Library({passage.name: passage}), ledger)
    what = "a list of flags" if flag is not None else _KINDS.get(kind, kind if " " in kind else "another file")
    if found.processes or found.others or found.stacks or (whole and kind != "shell" and ledger.findings):
        name = "-" if source.name == "stdin" else readable_word(source.name)
        advice = f"run fleetc adopt {name}: it prints the spec of what this starts"
        if not whole:
            advice = "move it to a file, such as start.sh, and run fleetc adopt start.sh: it prints a spec of it"
        if flag is not None:
            advice += f"; fleetc explain -{flag[1]} names the key of this flag"
    elif whole and (_JSON.match(text) or _YAML.match(text)):
        what = "JSON" if _JSON.match(text) else "YAML"
        advice = "name a TOML file; fleetc init writes one, and fleetc adopt makes one of what starts your nodes"
    else:
        return None
    start = begin + len(text) - len(text.lstrip())
    line_end = source.text.find("\n", start)
    span = Span(source.name, start, line_end if line_end >= 0 else len(source.text))
    return error("spec-in-other-form", f"this is {what}, and a spec is TOML", Label(span), help=advice)
