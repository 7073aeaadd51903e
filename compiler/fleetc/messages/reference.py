"""The reference of the spec language: every table and field, the flags they set, and every diagnostic code.

In: the values of `tables.py`, and the pages of `explain.py`. Out: Markdown for `compiler/REFERENCE.md`. Called by
`cli/`. The pages of `entries.py` are written from the same values, for a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleetc.language.secret_fields import SecretRef
from fleetc.messages.explain import pages
from fleetc.messages.pages import PAGES
from fleetc.messages.setters import setter_of
from fleetc.messages.sharing import sharing_section
from fleetc.messages.tables import NAME, Field, Table, plain_name, tables, whole_example
from fleetc.messages.topics import code_topics
from fleetc.upstream import FLAGS
from fleetc.upstream.signatures import signatures


def markdown() -> str:
    """The whole reference as a Markdown page: fields by table, flags, then codes with their pages."""
    parts = [
        "# Reference of the spec language",
        "`fleetc explain --all` generates this page from the model and the rules; `fleetc explain gateways.max_price`\n"
        "and `fleetc explain unknown-key` print a single entry, and `fleetc explain --search TEXT` finds one.",
        "## Tables",
        f"`{NAME}` stands for a name that you choose. `none` is the default of an optional field: its\n"
        "sentence, or the node, says what then applies.",
    ]
    for table in tables():
        parts += _section(table)
    parts += ["### Defaults, classes and counters", sharing_section()]
    secret = [f"- `{name}`: {field.description}" for name, field in SecretRef.model_fields.items()]
    parts += ["### Secret references", " ".join((SecretRef.__doc__ or "").split()), "\n".join(secret)]
    parts += ["## Flags of the node", _flags(), "## Codes"]
    known = pages()
    for name, topic in code_topics().items():
        parts.append(f"**{name}**: {topic.sentence}")
        parts.append("\n".join(f"- [{code}](#{code}): {_cell(known[code].splitlines()[0])}" for code in topic.codes))
    for code, page in known.items():
        parts += [f"### {code}", _dedented(page) if code in PAGES or code in signatures() else page.strip()]
    return "\n\n".join(parts) + "\n"


def _section(table: Table) -> list[str]:
    parts = [f"### {_code(table.header) if table.header else 'The spec'}", table.sentence]
    for title, fields in table.groups:
        parts += [f"**{title}**", _rows(fields)] if len(table.groups) > 1 else [_rows(fields)]
    part = whole_example(table)
    return [*parts, f"Example:\n\n```toml\n{part}\n```"] if part else parts


def _flags() -> str:
    setters = {flag: setter_of(f"-{flag}") for flag in sorted(FLAGS, key=str.lower)}
    rows = [
        f"| `-{flag}` `LP_{flag.upper()}` | {_set_by(flag, setter.sentence)} |"
        for flag, setter in setters.items()
        if setter is not None
    ]
    return "\n".join(["| Flag and variable | Set by |", "|---|---|", *rows])


def _set_by(flag: str, sentence: str) -> str:
    """What sets a flag, with links to the tables of fields."""
    word = f"-{flag} of the node (LP_{flag.upper()})"
    setter = sentence.removeprefix(f"{word} is set by ").removeprefix(f"{word} is ").replace(f" sets {word}", "")
    anchors = {plain_name(table.name): _anchor(table.header) for table in tables() if table.name}

    def linked(match: re.Match[str]) -> str:
        anchor = anchors.get(match[0].rpartition(".")[0])
        return f"[{match[0]}](#{anchor})" if anchor else match[0]

    ended = setter if ". " in setter else setter.rstrip(".")
    return re.sub(r"\b[a-z_]+(?:\.[a-z_]+)+\b", linked, _cell(ended))


def _anchor(title: str) -> str:
    """The anchor of a heading, as forges make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _dedented(page: str) -> str:
    """A page whose indented parts are sentences, and no examples."""
    return "\n".join(line.strip() for line in page.strip().splitlines())


def _rows(fields: Sequence[Field]) -> str:
    rows = [" | ".join(("", *_cells(field), "")).strip() for field in fields]
    return "\n".join(["| Key | Type | Default | Example | Meaning |", "|---|---|---|---|---|", *rows])


def _cells(field: Field) -> tuple[str, ...]:
    example = _code(field.example.replace("|", "\\|")) if field.example else ""
    return _code(field.name), _cell(_type(field)), _cell(field.default_words), example, _cell(field.sentence)


def _type(field: Field) -> str:
    return f"{field.kind}; in {field.unit}" if field.unit else field.kind


def _code(text: str) -> str:
    return f"`{text}`"


def _cell(text: str) -> str:
    """Text for a table cell or a list: no column ends early, and `<` begins no HTML outside of code."""
    pieces = text.replace("|", "\\|").split("`")
    return "`".join(piece if place % 2 else piece.replace("<", "&lt;") for place, piece in enumerate(pieces))
