"""Templates of other tools, such as those of an Ansible role: fleetc does not render them, and says what to name.

In: sources. Out: those that are templates with a command of a node, and what is said about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fleetc.adopt.words import Fate, Ledger
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

NAMES = (".j2", ".jinja", ".jinja2")
"""How names of templates end."""
_ROLE = re.compile(r"(?<!\S)--?(?:gateway|broadcaster|orchestrator|transcoder|aiWorker|remoteSigner|redeemer)(?![\w-])")
_STARTED_BY = re.compile(r"(?m)^[ \t]*(?:ExecStart[ \t]*=[-@:+!]*)?[ \t]*\{\{")
"""A command whose program is a variable of a template, as no shell and no unit has it."""
_MOST_NAMED = 6


def split_templates(sources: Sequence[Source]) -> tuple[list[Source], list[Source]]:
    """Sources that can be read, and templates."""
    templates = [one for one in sources if is_template(one)]
    return [one for one in sources if one not in templates], templates


def is_template(source: Source) -> bool:
    """Whether a source is a template, by its name or by the program that it starts."""
    if source.name.lower().endswith(NAMES):
        return True
    lines = source.text.replace("\\\n", "").split("\n")
    return any(_STARTED_BY.match(line) and _ROLE.search(line) for line in lines)


def account_for(templates: Iterable[Source], alone: bool, ledger: Ledger) -> None:
    """Say once which templates have commands of nodes; `alone` if nothing else starts one, so that no spec is made."""
    starting = []
    for source in templates:
        ledger.note(Span(source.name, 0, 1), "the file", Fate.DROPPED, "a template, which fleetc does not render")
        if _ROLE.search(source.text):
            starting.append(source)
    if not starting:
        return
    names = [leaks.shown(visible(one.name)) for one in starting]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    listed = ", ".join(names[:_MOST_NAMED]) + more
    is_ = "is a template" if len(names) == 1 else "are templates"
    first = starting[0]
    role = _ROLE.search(first.text)
    assert role is not None  # noqa: S101  # it is how they were chosen
    span = Span(first.name, role.start(), role.end())
    ledger.secrets.append(span)  # a template may have a secret beside its variables
    message = f"{listed} {is_} with commands of nodes, and fleetc does not render templates"
    if not alone:
        ledger.remark("adopt-template-unread", span, message, HELP)
        return
    ledger.refuse("adopt-template-unread", span, message, HELP)


HELP = (
    "name the units as they are on the hosts, each as HOST=FILE: ssh HOST systemctl cat UNIT prints one; or read them "
    "from the hosts with --from (see fleetc adopt --help)"
)
