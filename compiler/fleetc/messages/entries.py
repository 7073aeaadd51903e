"""The pages of `fleetc explain` for a terminal: the map, a table, a field, a topic of codes, a code.

In: the values of `tables.py` and `topics.py`, the pages of codes, and how wide the terminal is. Out: lines. Called by
`finding.py` and `cli/`; the reference has the same in Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.sharing import CLASSES, DEFAULTS
from fleetc.messages.explain import pages
from fleetc.messages.pages import PAGES
from fleetc.messages.related import codes_by_field
from fleetc.messages.setters import flags_of_field
from fleetc.messages.sheet import WIDTH, Sheet
from fleetc.messages.tables import Field, Table, definition, plain_name, tables, whole_example
from fleetc.messages.topics import Codes, code_topics
from fleetc.text.encoders import plain_output
from fleetc.upstream.signatures import signatures

_COLUMN = 18
_FACTS = 48
"""The column in which the type of a field begins, if its example is short."""

CODES = "codes"


def map_page(sheet: Sheet) -> Iterator[str]:
    """An overview: the tables of a spec with a sentence each, then the topics of codes."""
    yield from sheet.filled(
        "fleetc explain NAME explains a table, a field, a code or a flag: gateways, gateways.max_price, "
        "unknown-key, -pricePerUnit, LP_ETHURL, aiModels.json:warm."
    )
    yield ""
    yield sheet.head("Tables of a spec")
    for field in tables()[0].fields:
        sentence = definition(field.target)["description"] if field.target else field.sentence
        yield from sheet.row(field.name, _in_short(sentence, sheet), _COLUMN)
    yield from sheet.row(DEFAULTS, "Values for all tables of one kind.", _COLUMN)
    yield from sheet.row(CLASSES, "Values for the tables that are like a class; also like, on, and counters.", _COLUMN)
    yield ""
    yield sheet.head(f"Codes by topic (fleetc explain {CODES}.money lists those of money)")
    topics = ", ".join(f"{name}~({len(topic.codes)})" for name, topic in code_topics().items())
    yield from (line.replace("~", " ") for line in sheet.filled(topics, "  "))  # no line ends before a number
    yield ""
    yield from sheet.row("--search TEXT", "finds fields, codes and topics by their words", _COLUMN)
    yield from sheet.row("--example", "prints a spec that has every table and checks clean", _COLUMN)
    yield from sheet.row("--all", "prints the whole reference as Markdown", _COLUMN)


def _in_short(text: str, sheet: Sheet) -> str:
    """The first sentence of a text, without what follows a colon if it would not fit beside its name."""
    sentence = " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
    if len(sentence) >= min(sheet.width, WIDTH) - _COLUMN:
        sentence = sentence.partition(": ")[0]
    return f"{sentence}."


# --------------------------------------------------------------------------------------------------------- tables


def table_page(table: Table, sheet: Sheet) -> Iterator[str]:
    """A table: its fields (required first, then by topic) and an example."""
    yield sheet.head(table.header or "the spec")
    yield ""
    for paragraph in table.sentence.split("\n\n"):
        yield from sheet.filled(" ".join(paragraph.split()))
        yield ""
    for title, fields in table.groups:
        yield sheet.head(title)
        for field in fields:
            yield from _entry(table, field, sheet)
        yield ""
    yield from _example_of(table, sheet)
    name = plain_name(table.name)
    codes = code_topics().get(name)
    if codes is not None:
        yield from sheet.filled(f"fleetc explain {CODES}.{name} has {len(codes.codes)} codes: {codes.sentence}")


def _entry(table: Table, field: Field, sheet: Sheet) -> Iterator[str]:
    """A field of a table: its example, its type, unit and default, and its sentence."""
    facts = _facts(field)
    if field.target:
        facts += f"; see {plain_name(f'{table.name}.{field.name}'.lstrip('.'))}"
    shown = field.example
    if len(shown) + 4 <= _FACTS and _FACTS + len(facts) <= min(sheet.width, WIDTH):
        yield f"  {shown:<{_FACTS - 2}}" + "".join(sheet.quiet([facts]))
    else:
        yield f"  {shown}"
        yield from sheet.quiet(sheet.filled(facts, "      "))
    yield from sheet.filled(" ".join(field.sentence.split()), "      ")


def _facts(field: Field) -> str:
    parts = [field.kind.replace("`", "")]
    if field.unit:
        parts.append(f"in {field.unit}")
    if not field.required:
        parts.append("optional" if field.default in ("none", "empty") else f"default {field.default.strip('`')}")
    return "; ".join(parts)


def _example_of(table: Table, sheet: Sheet) -> Iterator[str]:
    part = whole_example(table)
    if part:
        yield sheet.head("Example")
        yield ""
        yield from (f"    {line}".rstrip() for line in part.splitlines())
        yield ""
        yield from sheet.filled("It is part of a spec that checks clean: fleetc explain --example prints all of it.")


# --------------------------------------------------------------------------------------------------------- fields


def field_page(title: str, field: Field, sheet: Sheet) -> Iterator[str]:
    """A field: its sentence, type, unit, default and an example, what it sets, and the codes about it."""
    name = plain_name(title)
    yield sheet.head(title)
    yield ""
    yield from sheet.filled(" ".join(field.sentence.split()))
    yield ""
    yield from _facts_in_rows(field, sheet)
    above, _, _ = title.rpartition(".")
    if field.example:
        yield from sheet.row("Example:", field.example, 13)
    if above:
        yield from sheet.row("In table:", f"[{above}] (fleetc explain {plain_name(above)})", 13)
    flags = flags_of_field(name)
    if flags:
        yield from sheet.row("Sets:", f"{', '.join(f'-{flag}' for flag in flags)} of the node", 13)
    codes = codes_by_field().get(name, ())
    if codes:
        yield from sheet.row("Codes:", ", ".join(codes), 13)


def _facts_in_rows(field: Field, sheet: Sheet) -> Iterator[str]:
    yield from sheet.row("Type:", field.kind.replace("`", ""), 13)
    if field.unit:
        yield from sheet.row("Unit:", field.unit, 13)
    if field.default:
        yield from sheet.row("Default:", field.default_words.replace("`", ""), 13)


# ---------------------------------------------------------------------------------------------------------- codes


def codes_page(sheet: Sheet) -> Iterator[str]:
    """Every code with its sentence, by topic."""
    for name, topic in code_topics().items():
        yield from topic_page(name, topic, sheet)
        yield ""


def topic_page(name: str, topic: Codes, sheet: Sheet) -> Iterator[str]:
    """The codes of a topic, each with its sentence."""
    known = pages()
    yield sheet.head(f"{CODES}.{name}")
    yield from sheet.filled(topic.sentence, "  ")
    yield ""
    for code in topic.codes:
        yield from sheet.filled(f"{code}: {known[code].splitlines()[0]}", "  ", "      ")


def code_page(code: str, sheet: Sheet) -> Iterator[str]:
    """The page of a code, then its topic and the fields that it is about. Examples of specs keep their lines."""
    yield sheet.head(code)
    yield ""
    has_examples = code not in PAGES and code not in signatures()
    for part in pages()[code].strip("\n").split("\n\n"):
        if part.startswith("    ") and has_examples:
            yield from part.splitlines()
        else:
            yield from sheet.filled(" ".join(part.split()), "    " if part.startswith("    ") else "")
        yield ""
    yield from sheet.row(
        "Topic:", next(f"{CODES}.{name}" for name, topic in code_topics().items() if code in topic.codes), 13
    )
    fields = [name for name, codes in codes_by_field().items() if code in codes]
    if fields:
        yield from sheet.row("Fields:", ", ".join(fields), 13)


def rule_page(code: str, page: str, is_here: bool, sheet: Sheet) -> Iterator[str]:
    """The page of a rule beside a spec, in its author's lines; `is_here` tells it from a ready one to copy."""
    yield sheet.head(code)
    yield ""
    yield from (plain_output(line) for line in page.rstrip("\n").split("\n"))
    yield ""
    name = code.partition("/")[2]
    text = f"policy/{name}.star beside the spec" if is_here else f"a ready rule; fleetc policy add {name} copies it"
    yield from sheet.row("Rule:", text, 13)
