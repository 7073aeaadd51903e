"""Finds the meaning of a word of `fleetc explain`.

In: a word: the name of a table, a field, a code, a topic, a flag, a variable, or a key of a file. Out: the lines of its
page (`answer`); NotFoundError names what is near, and nothing unknown ever leads to the page of what is above it.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.editor import WORDS
from fleetc.language.sharing import CLASSES, DEFAULTS, in_the_language
from fleetc.messages.entries import CODES, code_page, codes_page, field_page, table_page, topic_page
from fleetc.messages.explain import pages
from fleetc.messages.setters import Setter, UnknownSetterError, setter_of
from fleetc.messages.sharing import sharing_page
from fleetc.messages.sheet import Sheet
from fleetc.messages.tables import NAME, Field, field_of_node, find, is_entry, names, plain_name, table_called
from fleetc.messages.topics import code_topics
from fleetc.stream_api import resource
from fleetc.text.suggestions import Suggestions, asked, did_you_mean
from fleetc.toml.scan import parse_key
from fleetc.upstream import FLAGS
from fleetc.upstream.stream_api import SERVER_OWNED


class NotFoundError(ValueError):
    """Nothing has this name; the text names similar ones."""


def answer(word: str, sheet: Sheet) -> list[str]:
    """The lines of the page that a word leads to. Raises NotFoundError."""
    page = _page(word, sheet)
    if page is None:
        raise NotFoundError(_unknown(word))
    return list(page)


def _page(word: str, sheet: Sheet) -> Iterator[str] | None:
    """The first page that there is: a code, a field, a topic, a field by its last name, what sets a flag."""
    if word in WORDS:
        return sharing_page(sheet)
    parts = parse_key(word) or ()
    if parts[:1] in ((CLASSES,), (DEFAULTS,)):
        word = ".".join(map(str, filter(None, in_the_language(parts)))) or word
    topics = code_topics()
    if word in pages():
        return code_page(word, sheet)
    field = find(word)
    if field is not None:
        return _entry(*field, sheet)
    assigned = _assigned(word, sheet)
    if assigned is not None:
        return assigned
    if word == CODES:
        return codes_page(sheet)
    topic = word.removeprefix(f"{CODES}.")
    if topic in topics:
        return topic_page(topic, topics[topic], sheet)
    same = tuple(name for name in names() if name.rpartition(".")[2] == word)
    if same:
        plural = f" The table is {word}s." if find(f"{word}s") else ""
        return _setter(Setter(f"{word} is a field of {_tables_of(same)}.{plural}", same), sheet)
    try:
        setter = setter_of(word)
    except UnknownSetterError as problem:
        raise NotFoundError(str(problem)) from None
    return None if setter is None else _setter(setter, sheet)


def _entry(title: str, field: Field, sheet: Sheet) -> Iterator[str]:
    table = table_called(title) if field.target else None
    return field_page(title, field, sheet) if table is None else table_page(table, sheet)


def _tables_of(fields: tuple[str, ...]) -> str:
    above = [field.rpartition(".")[0] or "the spec" for field in fields]
    return above[0] if len(above) == 1 else f"{', '.join(above[:-1])} and {above[-1]}"


def _setter(setter: Setter, sheet: Sheet) -> Iterator[str]:
    """The fields that set it, then the page of the first; tables are only named."""
    yield from sheet.filled(setter.sentence)
    first = next(iter(setter.fields), "")
    field = find(first) if first else None
    if field is None:
        return
    yield ""
    if field[1].target:
        yield from sheet.filled(f"fleetc explain {first} shows that table.")
    else:
        yield from field_page(*field, sheet)
    others = setter.fields[1:]
    if others:
        yield ""
        yield from sheet.filled(f"Also: {', '.join(others)}")


def _assigned(word: str, sheet: Sheet) -> Iterator[str] | None:
    """The page of a field of a stream that the service alone sets."""
    parts = [str(part) for part in parse_key(word) or ()]
    if parts[:1] != ["streams"] or len(parts) not in (2, 3) or parts[-1] not in SERVER_OWNED:
        return None
    key, table = parts[-1], f"streams.{NAME}"
    field = field_of_node(key, resource.json_schema()["properties"][key], required=False, table=table)
    return _of_service(f"{table}.{key}", field._replace(default="", example=""), SERVER_OWNED[key], sheet)


def _of_service(title: str, field: Field, advice: str, sheet: Sheet) -> Iterator[str]:
    yield from field_page(title, field, sheet)
    yield from sheet.filled(f"Set by the service; where a spec has it, {advice}.", "  ")


# -------------------------------------------------------------------------------------------------------- unknown


def words() -> list[str]:
    """Each word that has a page, once: nodes is a topic and a table."""
    topics = (f"{CODES}.{topic}" for topic in code_topics())
    return list(dict.fromkeys([*pages(), *names(), *code_topics(), *topics, *FLAGS]))


def _unknown(word: str) -> str:
    """The message about a word that nothing has: near names come from the deepest table that it names."""
    parts = [str(part) for part in parse_key(word) or ()]
    for end in range(len(parts) - 1, 0, -1):
        deepest = find(".".join(f'"{part}"' for part in parts[:end]))
        if deepest is not None:
            return _not_below(*deepest, parts[end:])
    lost = "fleetc explain lists the tables and topics, and --search TEXT finds words"
    known = words()
    advice = did_you_mean(word, known, did_you_mean(word.lower(), known, lost))
    return f'there is no table, field, code or flag "{word}"; {advice}'


def _not_below(title: str, field: Field, rest: list[str]) -> str:
    """The message about what is not below a field; a table may first have the name of an entry, or its place."""
    name, table = plain_name(title), table_called(title) if field.target else None
    if table is None:
        return f'{name} is no table, so it has no "{rest[0]}"; fleetc explain {name} shows what it is'
    wrong = rest[1] if len(rest) > 1 and is_entry(field, rest[0]) else rest[0]
    near = Suggestions(1).near(wrong, [own.name for own in table.fields])
    lists = f"fleetc explain {name} lists them; leave out names of your own"
    return f'{name} has no field "{wrong}"; {asked(f"{name}.{similar}" for similar in near) or lists}'
