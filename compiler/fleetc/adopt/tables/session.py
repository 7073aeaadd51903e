"""What the nodes of one adopted fleet share: secrets, wallets, models, ladders, names; and all tables as a spec.

In: what readers and builders meet. Out: tables of the spec; the same wallet, model or ladder met twice is one table.
`written` makes their text, in the form of `fleetc fmt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import tomli_w

from fleetc.adopt.found.ledger import InClear, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Word
from fleetc.adopt.found.questions import Ask, Question, facts_of
from fleetc.adopt.node.documents import ModelEntry
from fleetc.adopt.node.settings import Running
from fleetc.adopt.read.stack_files import StackFiles
from fleetc.formatting import in_one_form
from fleetc.language.fields import NAME_LIMIT, RESERVED_NAMES
from fleetc.language.fleet import NEWEST, Fleet
from fleetc.text.encoders import visible
from fleetc.toml.edits import toml_key

PIXEL_PRICE = '"... wei / pixel"'
"""The example of a question about a price: no amount is offered that no source says."""


@dataclass
class Table:
    """A table of the spec: its path, values by key, questions, a line that says where it comes from, notes at keys."""

    values: dict[str, Any] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    origin: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()

    def say(self, key: str, value: Any) -> None:
        """Give a field a value; a dotted key is a field of a table within."""
        place = self.values
        *above, last = key.split(".")
        for part in above:
            place = place.setdefault(part, {})
        place[last] = value

    def put(self, kind: Ask, key: str, example: str = "", **facts: object) -> Question:
        """Leave a question about a key of this table; `example` is a value as TOML."""
        question = Question(kind, (*self.path, *key.split(".")), facts_of(facts), example)
        if question not in self.questions:
            self.questions.append(question)
        return question

    def asks(self, key: str) -> bool:
        """Whether a question about a key is left."""
        return any(question.key == key for question in self.questions)


@dataclass
class Session:
    """One adoption."""

    library: Library
    ledger: Ledger
    hosts: dict[str, Table] = field(default_factory=dict)
    wallets: dict[str, Table] = field(default_factory=dict)
    models: dict[str, Table] = field(default_factory=dict)
    ladders: dict[str, Table] = field(default_factory=dict)
    runners: dict[str, Table] = field(default_factory=dict)
    runner_names: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The table of each runner by what lists say of it."""
    runner_of: dict[int, str] = field(default_factory=dict)
    """The label of the runner that a process is, by its id."""
    _secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _variables: set[str] = field(default_factory=set)
    _models: dict[tuple[str, str, tuple[tuple[str, bool | str], ...], str | None], str] = field(default_factory=dict)
    _wallets: dict[str, str] = field(default_factory=dict)

    def secret(self, word: Word, variable: str, what: str, otherwise: str = "") -> dict[str, str]:
        """A reference for a secret that stands in a source; the same one gets the same reference.

        `otherwise` says what to do if it is none.
        """
        if word.text in self._secrets:
            return self._secrets[word.text]
        name, number = variable, 2
        while name in self._variables:
            name, number = f"{variable}_{number}", number + 1
        self._variables.add(name)
        reference = {"env": name}
        self._secrets[word.text] = reference
        place = word.said or word.span
        whole = "; put the whole value there" if word.said is not None and not word.alone else ""
        self.ledger.warn(
            "adopt-secret-inline", place, f"{what} stands in this file in clear; the spec names the variable {name}",
            f'set it where you deploy{whole}, or write {{ host_file = "/path" }} for a file on the host; then change '
            f"the secret{otherwise}",
        )  # fmt: skip
        self.ledger.in_clear.append(InClear(name, place))
        return reference

    def model(self, entry: ModelEntry, image: str | None = None) -> str:
        """The table of a model; without `image`, whoever names it does not run it, and says nothing of its image."""
        flags, model = entry.optimization if entry.warm else (), (entry.pipeline, entry.model_id)
        for known in self._models:
            same = known[:2] == model and (not flags or known[2] in ((), flags))
            if same and (None in (image, known[3]) or known[3] == image):
                name = self._models.pop(known)
                break
        else:
            known = (*model, (), None)
            name = self.name_for(entry.model_id.rpartition("/")[2] or "model", "model", set(self.models))
            self.models[name] = Table({"pipeline": entry.pipeline, "id": entry.model_id}, path=("models", name))
        self._models[*model, flags or known[2], known[3] if image is None else image] = name
        if flags:
            self.models[name].values["optimization"] = dict(flags)
        if image:
            self.models[name].values["image"] = image
        return name

    def ladder(self, profiles: list[dict[str, Any]], hint: str) -> str:
        """The table of a list of renditions."""
        for name, table in self.ladders.items():
            if table.values["profiles"] == profiles:
                return name
        name = self.name_for(hint, "ladder", set(self.ladders))
        self.ladders[name] = Table({"profiles": profiles}, path=("ladders", name))
        return name

    def wallet(self, key: str, hint: str) -> tuple[str, Table]:
        """The table of an account; `key` is its address, or the keystore where no source names it."""
        if key not in self._wallets:
            name = self.name_for(hint, "wallet", set(self.wallets))
            self._wallets[key], self.wallets[name] = name, Table(path=("wallets", name))
        name = self._wallets[key]
        return name, self.wallets[name]

    def name_for(self, text: str, other: str, taken: set[str]) -> str:
        """A name for a table from a text of a source; `other` where nothing of the text can be one."""
        name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
        name = re.sub(r"^[0-9-]+", "", name)[: NAME_LIMIT - 4].rstrip("-") or other
        if name in RESERVED_NAMES:
            name = f"{name}-{other}"
        free, number = name, self._numbers.get(name, 2)
        while free in taken:
            free, number = f"{name}-{number}", number + 1
            self._numbers[name] = number
        return free


@dataclass
class Assembled:
    """The tables of a spec, by table and name, and the processes with their nodes.

    `stacks` are the files of avatar stacks, by their tables.
    """

    fleet: Table
    tables: dict[str, dict[str, Table]]
    nodes: list[Running] = field(default_factory=list)
    stacks: dict[str, StackFiles] = field(default_factory=dict)

    def each(self) -> Iterator[Table]:
        """All tables."""
        yield self.fleet
        for members in self.tables.values():
            yield from members.values()

    @property
    def questions(self) -> tuple[Question, ...]:
        """What the spec asks."""
        return tuple(one for table in self.each() for one in table.questions)


# ----------------------------------------------------------------------------------------------------------------- text


_WIDE = 100


def written(assembled: Assembled) -> str:
    """The text of the spec."""
    lines = [f"spec = {NEWEST}", "", *_table("fleet", assembled.fleet)]
    for kind in Fleet.model_fields:
        for name, table in assembled.tables.get(kind, {}).items():
            lines += ["", *_table(f"{kind}.{toml_key(name)}", table)]
    return in_one_form("\n".join(lines) + "\n")


def _table(header: str, table: Table) -> Iterator[str]:
    """A table: questions without an example stand above it, the others below its keys."""
    if table.origin:
        yield f"# {_comment(table.origin)}"
    below = [one for one in table.questions if one.example and one.key not in table.values]
    yield from (f"# {_comment(one.line)}" for one in table.questions if one not in below)
    yield f"[{header}]"
    wide = [key for key, value in table.values.items() if isinstance(value, Mapping) and len(toml(value)) > _WIDE]
    for key, value in table.values.items():
        note = f"  # {_comment(table.notes[key])}" if key in table.notes else ""
        if key not in wide:
            yield f"{toml_key(key)} = {toml(value)}{note}"
    yield from (f"# {_comment(one.line)}" for one in below)
    for key in wide:
        yield ""
        yield from _table(f"{header}.{toml_key(key)}", Table(table.values[key]))


def _comment(text: str) -> str:
    return visible(text).replace("\n", " ")


def toml(value: Any) -> str:
    """A value in one piece; lists of tables have one on a line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(k)} = {toml(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        items = [toml(item) for item in value]
        one = f"[{', '.join(items)}]"
        if len(one) > _WIDE and items:
            return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
        return one
    if isinstance(value, Decimal):
        return format(value, "f")
    return tomli_w.dumps({"k": value}).partition(" = ")[2].rstrip("\n")
