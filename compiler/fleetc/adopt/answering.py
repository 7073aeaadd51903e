"""Takes what people answer into the text of a spec, one place after another.

In: a text with its questions, a place of it, and what somebody typed. Out: the text that says that, without the `TODO`
lines about the place; or `WrongAnswerError` with why. It is then adopted again like any other earlier spec.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import tomli
from pydantic import BaseModel

from fleetc.adopt.questions import Kind, Question, path_of, questions_in
from fleetc.adopt.values import model_of
from fleetc.adopt.warned import ALERTS, METRICS
from fleetc.adopt.writing import toml
from fleetc.language.counters import counted
from fleetc.language.example import first_at
from fleetc.language.fleet import NEWEST
from fleetc.language.host import FleetSettings
from fleetc.language.monitoring import Monitoring
from fleetc.language.secret_fields import SecretRef
from fleetc.language.sharing import CLASSES, DEFAULTS, tables
from fleetc.language.spec import read_fleet, read_spec
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Diagnostic, Edit, EditKind, Severity, has_errors
from fleetc.text import leaks
from fleetc.text.suggestions import did_you_mean
from fleetc.toml.document import Source, value_at
from fleetc.toml.edits import Sheet, TextEdit, locate, toml_value, written
from fleetc.toml.scan import Layout

Place = tuple[str, ...]

_REFERENCE = re.compile(r"(env|host_file|vault|command)\s+(\S+)")
_ADDRESS_OR_DAY = re.compile("0[xob]|[0-9]{4}-")
"""What TOML has numbers and days for, and no field of a spec."""
_RELEASE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
"""A release as livepeer -version shows it."""
_WHOLE: dict[str, type[BaseModel]] = {"fleet": FleetSettings, "monitoring": Monitoring}
"""The tables that have no names, of those that adopting asks about."""
_SILENCES = {
    Kind.METRICS: ("metrics", METRICS, "nobody reads the metrics"),
    Kind.ALERTS: ("alerts", ALERTS, "nobody is told of alerts"),
}
"""The silence that says that something is for nobody: its name, its code and its reason."""
_LONGEST = 2000
_STANDS_FOR_VALUE = 918273645546372819
"""What is written where the value goes, as a value that every edit can write."""


class WrongAnswerError(ValueError):
    """An answer that the spec cannot have, with why and what to write instead. It repeats no secret."""


def place_of(question: Question) -> Place:
    """The place of the key that a question is about."""
    return (*path_of(question.table), *question.key.split("."))


def is_field(place: Place) -> bool:
    """Whether a place is one that the language has a field for; homes, folders and hosts of nodes are none."""
    if place[0] in _WHOLE:
        return len(place) > 1 and place[1] in _WHOLE[place[0]].model_fields
    if place[:1] in ((CLASSES,), (DEFAULTS,)):
        place = place[2:] if place[0] == CLASSES else place[1:]
        place = (place[0], "", *place[1:]) if place else place
    return len(place) > 2 and place[0] in tables() and place[2] in model_of(place[0]).model_fields


def description_at(place: Place) -> str:
    """What the field of a place is, in the first sentence that the language has for it."""
    if place[0] in (CLASSES, DEFAULTS):
        place = place[2:] if place[0] == CLASSES else place[1:]
        place = (place[0], "", *place[1:])
    whole = _WHOLE.get(place[0])
    field = whole.model_fields[place[1]] if whole is not None else model_of(place[0]).model_fields[place[2]]
    return re.split(r"(?<=[.;])\s", field.description or "", maxsplit=1)[0]


def example_at(place: Place, example: str) -> str:
    """What an answer looks like, as people type it: the example of a question, else that of the language, or ""."""
    text = example.strip('"')
    if text and "..." not in text and not text.startswith("{"):
        return text
    dotted = ".".join(place if place[0] in _WHOLE else (place[0], "<name>", *place[2:]))
    value = tomli.loads(f"x = {text}")["x"] if text.startswith("{") and "..." not in text else first_at(dotted)
    if isinstance(value, dict) and len(value) == 1 and {*value} <= {*SecretRef.model_fields}:
        return " ".join(map(str, *value.items()))
    return value if isinstance(value, str) else toml(value) if value is not None else ""


def answered(text: str, given: Mapping[Place, str]) -> str:
    """The text with what somebody typed for some places. What is no value of TOML is a text. Raises WrongAnswerError.

    All places have the same meaning of what was typed: the first one that the language takes.
    """
    for typed in given.values():
        refuse_unfit(typed)
    meanings = {place: list(_meanings(typed)) for place, typed in given.items()}
    problems = []
    for number in range(max(map(len, meanings.values()))):
        values = {place: known[min(number, len(known) - 1)] for place, known in meanings.items()}
        after = _with_values(text, values)
        found = _misread(after, given)
        if found is None:
            return kept(after, given)
        problems += [found] if isinstance(next(iter(values.values())), str | dict | list) else []
    raise WrongAnswerError(words_of(problems[0]))


def kept(text: str, places: Collection[Place]) -> str:
    """The text without the questions about places: the values there are the answers."""
    gone = {one.line for one in questions_in(text) if one.key and _is_within(place_of(one), places)}
    return "\n".join(line for number, line in enumerate(text.split("\n"), 1) if number not in gone)


def silenced(text: str, question: Question) -> str:
    """The text of a spec with a silence that answers a question about metrics or alerts: they are for nobody."""
    name, code, reason = _SILENCES[question.kind]
    name = code if name in tomli.loads(text).get("silences", {}) else name
    return with_silence(kept(text, [place_of(question)]), name, code, reason)


def with_silence(text: str, name: str, code: str, reason: str, at: str = "") -> str:
    """The text of a spec with one more silence of that name; where one has it already, of the name with a number."""
    taken = tomli.loads(text).get("silences", {})
    free, number = name, 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    lines = [f"code = {toml(code)}", *([f"at = {toml(at)}"] if at else []), f"reason = {toml(reason)}"]
    return with_table(text, f"silences.{free}", lines)


def with_table(text: str, header: str, lines: Sequence[str]) -> str:
    """The text of a spec with one more table at its end."""
    return "\n".join([text.rstrip("\n"), "", f"[{header}]", *lines, ""])


def _is_within(place: Place, places: Collection[Place]) -> bool:
    return any(place[:length] in places for length in range(1, len(place) + 1))


def problem_at(text: str, places: Collection[Place]) -> Diagnostic | None:
    """What a spec is refused for at some places, as far as it can be judged already."""
    return _first_at(check_spec([Source("fleet.toml", text)]).diagnostics, places)


def words_of(problem: Diagnostic) -> str:
    """A problem in one line."""
    return leaks.shown(f"{problem.message}; {problem.help}" if problem.help else problem.message)


def addresses_in(raw: Mapping[str, Any]) -> dict[str, str]:
    """The addresses of the hosts of a spec, by name; a table for several hosts has those of each."""
    found = {}
    for name, host in raw.get("hosts", {}).items():
        address, names = str(host.get("address", "")), counted(name)
        of = counted(address)
        members = enumerate(names.counters[0]) if names is not None and names.counters else [(0, name)]
        for position, counter in members:
            member = names.at(position, counter) if names is not None else name
            found[member] = of.at(position, counter) if of is not None else address
    return {name: address for name, address in found.items() if address}


def host_problem(name: str, address: str) -> str:
    """Why a spec has no host with this name at this address; "" where it has."""
    text = (
        f'spec = {NEWEST}\nfleet = {{ name = "asked", network = "offchain", node_release = "v0.9.1" }}\n'
        f'hosts = {{ {toml_value(name)} = {{ address = {toml_value(address)}, runtime = "systemd" }} }}\n'
    )
    problem = _first_at(check_spec([Source("fleet.toml", text)]).diagnostics, [("hosts",)])
    return words_of(problem) if problem is not None else ""


def _first_at(found: Iterable[Diagnostic], places: Collection[Place]) -> Diagnostic | None:
    """The first error at some places; where one is of many tables, at its key in any of them."""
    many = {place[-1] for place in places if place[0] in (CLASSES, DEFAULTS) or any("{" in part for part in place)}
    for one in found:
        at = one.primary.place
        words = tuple(map(str, at)) if one.severity is Severity.ERROR and isinstance(at, tuple) else ()
        if _is_within(words, places) or many.intersection(words[2:]):
            return one
    return None


def _misread(text: str, places: Collection[Place]) -> Diagnostic | None:
    """What the types of the language refuse at some places."""
    document, found = read_spec([Source("fleet.toml", text)])
    if document is None or has_errors(found):
        return next((one for one in found if one.severity is Severity.ERROR), None)
    return _first_at(read_fleet(document)[1], places)


def refuse_unfit(typed: str) -> None:
    """Raise WrongAnswerError for what no answer may have: a secret, and what cannot be seen."""
    if not typed or len(typed) > _LONGEST:
        raise WrongAnswerError(f"an answer has 1 to {_LONGEST} characters")
    if any(unicodedata.category(character).startswith("C") for character in typed):
        raise WrongAnswerError("it has a control character or another that cannot be seen")
    if leaks.find(typed) is not None:
        raise WrongAnswerError("it seems to be a secret; write env NAME, or host_file /path, for where it is")


def _meanings(typed: str) -> Iterator[Any]:
    """What somebody may mean: a reference to a secret by its kind and its name, a value of TOML, or a text."""
    reference = _REFERENCE.fullmatch(typed)
    if reference is not None:
        yield {reference[1]: reference[2]}
    if not _ADDRESS_OR_DAY.match(typed):
        with suppress(tomli.TOMLDecodeError):
            yield tomli.loads(f"x = {typed}", parse_float=Decimal)["x"]
    yield typed
    if _RELEASE.fullmatch(typed):
        yield f"v{typed}"


def _with_values(text: str, values: Mapping[Place, Any]) -> str:
    """The text with values at places."""
    sheet, raw = Sheet(0, text, Layout(text)), tomli.loads(text)
    return written(text, 0, [piece for place, value in values.items() for piece in _pieces(sheet, raw, place, value)])


def _pieces(sheet: Sheet, raw: dict[str, Any], place: Place, value: Any) -> list[TextEdit]:
    """The edits that give a place a value, in a table within its table where there is none yet."""
    while len(place) > 1:
        action = EditKind.SET if value_at(raw, place) is not None else EditKind.INSERT
        pieces = locate([sheet], Edit(place, action, _STANDS_FOR_VALUE))
        if pieces:
            stands = toml_value(_STANDS_FOR_VALUE)
            return [one._replace(text=one.text.replace(stands, toml(value))) for one in pieces]
        if action is EditKind.SET:
            break
        place, value = place[:-1], {place[-1]: value}
    raise WrongAnswerError("this has a table of its own in the spec; write it there")


def set_all(text: str, given: Sequence[str]) -> str:
    """The text with answers of the form TABLE.KEY=VALUE. Raises WrongAnswerError, which says which is wrong."""
    places: dict[Place, str] = {}
    for one in given:
        name, equals, typed = one.partition("=")
        if not equals:
            raise WrongAnswerError("takes TABLE.KEY=VALUE, such as fleet.node_release=v0.9.1")
        place = _known_place(text, name.strip())
        if place in places:
            raise WrongAnswerError(f"names {name} twice")
        places[place] = name.strip()
        try:
            text = answered(text, {place: typed.strip()})
        except WrongAnswerError as problem:
            raise WrongAnswerError(f"{name.strip()}: {problem}") from None
    for place, name in places.items():
        found = problem_at(text, [place])
        if found is not None:
            raise WrongAnswerError(f"{name}: {words_of(found)}")
    return text


def _known_place(text: str, name: str) -> Place:
    """The place of a name; one that the spec has no table for, or the language no field, is none."""
    asked = [f"{one.table}.{one.key}" for one in questions_in(text) if one.key]
    refuse_unfit(name)
    option = next((one for one in questions_in(text) if f"{one.table}.{one.key}" == name and one.options), None)
    if option is not None:
        raise WrongAnswerError(f"{name} is answered by {' '.join(option.options)}, with your values")
    place = path_of(name)
    if len(place) < 2:
        raise WrongAnswerError("takes TABLE.KEY=VALUE, such as fleet.node_release=v0.9.1")
    table = place[:1] if place[0] in _WHOLE else place[:2]
    if place[0] in (CLASSES, DEFAULTS):
        table = place[:3] if place[0] == CLASSES else place[:2]
    if not is_field(place) or not isinstance(value_at(tomli.loads(text), table), dict):
        near = did_you_mean(name, asked, f"the spec asks {', '.join(asked[:20])}" if asked else "the spec asks nothing")
        raise WrongAnswerError(f"the spec has no {leaks.shown(name)} to set; {near}")
    return place
