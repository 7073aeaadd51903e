"""A text of another form that stands where a spec does.

In: a source that is no TOML, and why. Out: the same diagnostics, or one instead of them, which names the command that
takes such a text.
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
_JSON = re.compile(r"\s*[{\[]\s*[{\"\]}]")
_YAML = re.compile(r"(?:---|#[^\n]*|\s)*(?:-[ \t]+)?[A-Za-z_][\w.-]*:(?:\s|$)")
_LONGEST = 256 * 1024
"""Characters of a longer text are not looked at: people paste commands, units and Compose files."""
_KINDS = {
    "compose": "a Compose file", "config": "a list of flags", "environment": "a list of variables",
    "shell": "a command", "unit": "a systemd unit",
}  # fmt: skip


def instead_of_toml(source: Source, diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """The diagnostics, or one for all of a source that has a syntax error and no line of a spec."""
    text, others = source.text, [one for one in diagnostics if not _is_about(source, one)]
    wrong = any(one.code == "toml-syntax" and _is_about(source, one) for one in diagnostics)
    if not wrong or len(text) > _LONGEST or _OF_SPEC.search(text) is not None:
        return diagnostics
    kind, ledger = kind_of(source), Ledger()
    read = read_sources([source], {}, Library({source.name: source}), ledger)
    if read.processes or read.others or read.stacks or (kind != "shell" and ledger.findings):
        flags = text.lstrip().startswith("-")
        what = "a list of flags" if flags else _KINDS.get(kind, kind if " " in kind else "another file")
        name = "-" if source.name == "stdin" else readable_word(source.name)
        advice = f"run fleetc adopt {name}: it prints the spec of what this starts"
    elif (json := _JSON.match(text)) or _YAML.match(text):
        what = "JSON" if json else "YAML"
        advice = "name a TOML file; fleetc init writes one, and fleetc adopt makes one of what starts your nodes"
    else:
        return diagnostics
    start = len(text) - len(text.lstrip())
    span = Span(source.name, start, (text + "\n").index("\n", start))
    return [error("spec-in-other-form", f"this is {what}, and a spec is TOML", Label(span), help=advice), *others]


def _is_about(source: Source, diagnostic: Diagnostic) -> bool:
    place = diagnostic.primary.place
    return isinstance(place, Span) and place.source == source.name
