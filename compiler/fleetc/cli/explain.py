"""`fleetc explain`: the page of a table, a field, a code or a flag; for programs, a JSON Schema.

In: a name, or words to search for. Out: text, as wide as the terminal.
"""

from __future__ import annotations

import json
import shutil
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.commands import COMMANDS
from fleetc.cli.shared import completing
from fleetc.cli.shared.output import PROBLEMS, coloured, message, plain, wrong_usage
from fleetc.cli.shared.paging import put

if TYPE_CHECKING:
    from fleetc.messages.sheet import Sheet


class SchemaOf(StrEnum):
    """What a JSON Schema describes: a spec, a stream or an error as the stream API has it, or a review."""

    spec = "spec"
    stream = "stream"
    stream_error = "stream-error"
    review = "review"


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=completing.explained,
            help="A table or field (gateways.max_price), a code, a topic of codes, a flag or variable of the node "
            "(-pricePerUnit, LP_ETHURL), or FILE:KEY (aiModels.json:warm).",
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--search", metavar="TEXT", help="Find fields, codes, topics and commands that have these words."),
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Print a spec that has every table and checks clean.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Print the whole reference, fields and codes, as Markdown.")
    ] = False,
    schema: Annotated[
        SchemaOf | None, typer.Option("--schema", help="Print a JSON Schema, for editors and other programs.")
    ] = None,
) -> None:
    """Explain a table, a field, a diagnostic code or a flag.

    Without an argument, print the map: the tables of a spec, and the topics of codes.
    """
    from fleetc.language.example import text as whole_example
    from fleetc.messages import reference
    from fleetc.messages.entries import map_page
    from fleetc.messages.finding import NotFoundError, answer
    from fleetc.messages.search import Hit, search_page
    from fleetc.policy.source import PREFIX

    if sum((name is not None, text is not None, example, everything, schema is not None)) > 1:
        wrong_usage("write only one of NAME, --search, --example, --all and --schema")
    if schema is not None:
        put(json.dumps(_schema(schema), indent=2) + "\n")
        return
    if everything:
        put(reference.markdown())
        return
    if example:
        put(whole_example())
        return
    sheet = _sheet()
    if text is not None:
        hits = list(search_page(text, sheet, [Hit(f"fleetc {command.name}", command.summary) for command in COMMANDS]))
        if not hits:
            message(f'nothing has a word of "{text}"; fleetc explain lists all tables and topics')
            raise typer.Exit(PROBLEMS)
        _print(hits)
        return
    if name is None:
        _print(list(map_page(sheet)))
        return
    if name.startswith(PREFIX):
        _print_rule(name, sheet)
        return
    try:
        _print(answer(name, sheet))
    except NotFoundError as problem:
        wrong_usage(str(problem))


def _schema(of: SchemaOf) -> object:
    """The schema of a document."""
    if of is SchemaOf.stream:
        from fleetc.stream_api.resource import json_schema as found
    elif of is SchemaOf.stream_error:
        from fleetc.stream_api.resource import error_schema as found
    elif of is SchemaOf.review:
        from fleetc.review.reports.json import schema as found
    else:
        from fleetc.language.editor import editor_schema as found
    return found()


def _print_rule(code: str, sheet: Sheet) -> None:
    """The page of a rule beside the spec here, or of a ready one."""
    from fleetc.cli.shared.options import HERE, upwards
    from fleetc.cli.shared.ready_rules import ready_pages
    from fleetc.cli.shared.working import read_policies
    from fleetc.messages.entries import rule_page
    from fleetc.messages.forms import Format
    from fleetc.text.suggestions import did_you_mean

    policies = read_policies(upwards(HERE) or HERE, None, Format.text, ())
    here = policies.pages if policies is not None else {}
    pages = {**ready_pages(), **here}
    if code not in pages:
        wrong_usage(f'there is no rule "{plain(code)}" here; {did_you_mean(code, list(pages))}')
    _print(list(rule_page(code, pages[code], code in here, sheet)))


def _sheet() -> Sheet:
    """As wide as the terminal, with styles if it takes them; a pipe gets plain text of the usual width."""
    from fleetc.messages.sheet import WIDTH, Sheet

    width = shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
    return Sheet(width, coloured(None, sys.stdout))


def _print(lines: list[str]) -> None:
    put("\n".join(lines).rstrip("\n") + "\n")
