"""The forms that diagnostics can be printed in.

In: the form, located diagnostics and what they were found in. Out: text. Called by `cli/`, which puts the text for
people on stderr, and every other form, which is the answer, on stdout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fleetc.messages.locate import Located
    from fleetc.toml.document import Document, Source


class Format(StrEnum):
    """How diagnostics are printed."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    junit = "junit"


class ReportFormat(StrEnum):
    """How a report that is not a list of diagnostics is printed."""

    text = "text"
    json = "json"


class RolloutFormat(StrEnum):
    """How the report of a rollout is printed; json is events, one a line, as they happen.

    sarif and github are forms of what hosts lack: of a dry run.
    """

    text = "text"
    markdown = "markdown"
    junit = "junit"
    json = "json"
    sarif = "sarif"
    github = "github"


def written(
    form: Format,
    located: Sequence[Located],
    sources: Sequence[Source] = (),
    document: Document | None = None,
    colour: bool = False,
    more: Mapping[str, Any] | None = None,
    pages: Mapping[str, str] | None = None,
) -> str:
    """The diagnostics in a form. `colour` matters to text alone, and `more`, what else was done, to JSON alone.

    `pages` are those of the rules beside the spec, by code; SARIF has the pages of all codes.
    """
    if form is Format.json:
        from fleetc.messages.json import as_json

        return as_json(located, sources, document, more)
    if form is Format.sarif:
        from fleetc.messages.sarif import as_sarif

        return as_sarif(located, sources, document, pages or {})
    if form is Format.github:
        from fleetc.messages.github import as_github

        return as_github(located)
    if form is Format.junit:
        from fleetc.messages.junit import as_junit

        return as_junit(located, sources)
    from fleetc.messages.text import as_text

    return as_text(located, colour)
