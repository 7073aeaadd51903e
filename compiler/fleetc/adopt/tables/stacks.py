"""Makes the table of an avatar stack, and holds it against the files that it came from.

In: `StackFiles` and the session. Out: a table of `avatars`. What the table compiles to is compared with the files:
values that make no difference are left out, and what differs is in the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.questions import Difference
from fleetc.adopt.found.words import SET
from fleetc.adopt.node.reading import OFFCHAIN
from fleetc.adopt.read.stack_files import StackFiles, known
from fleetc.adopt.tables.session import Session, Table
from fleetc.adopt.tables.stack_filling import TRUE, StackFilling, fill, networks, unread
from fleetc.blueprint.blueprint import StackBlueprint
from fleetc.language.avatar import Avatars
from fleetc.language.fleet import NEWEST, Fleet, Stack
from fleetc.language.references import check_references
from fleetc.lower.avatar import lower_avatar
from fleetc.places.diagnostic import has_errors
from fleetc.text import leaks
from fleetc.upstream import NEWEST_RELEASE, format_release
from fleetc.upstream.avatar import Setting

_PUBLIC_ADDRESS = "192.0.2.1"
"""Stands for the address of a host that no source says; nothing of a stack is made of it."""


def stack_table(
    files: StackFiles, session: Session, name: str, host: str, public: str
) -> tuple[Table, list[Difference], int]:
    """The table of one stack, the differences that it makes, and how many variables were compared."""
    work = StackFilling(files, session, name, host, Table(origin=f"from {leaks.shown(files.named)}"), public)
    fill(work)
    _refused(work)
    made = _lowered(work, work.values)
    if made is not None:
        _without_defaults(work, made)
    differences = list(_differences(work, made)) if made is not None else []
    _account(work, differences)
    return work.table, differences, len(made.host_variables) if made is not None else 0


def _refused(work: StackFilling) -> None:
    """Leave out what no spec can have, with its reason."""
    for _ in range(100):
        raw = {"slots": 1} | work.values
        try:
            Avatars.model_validate(raw)
        except ValidationError as problem:
            first = problem.errors(include_url=False)[0]
            words = str(first["msg"]).partition(";")[0]
            lost = _lost_slot(work, first["loc"])
            path = "slots" if lost else _removed(work.values, first["loc"])
            if not path:
                return
            work.reasons[path] = f"the spec does not take it: {words}"
            variable = next((name for name in work.files.variables if (s := known(name)) and s.field == path), "")
            span = work.files.variables[variable].span if variable else work.files.span
            if lost:
                words = f'the avatar "{lost["avatar"]}" in slot {lost["slot"]}: {words}'
                span = next((one.span for one in work.files.listed if one.avatar == lost["avatar"]), span)
            work.table.ask(f"TODO {path}: {leaks.shown(words)}")
            work.session.ledger.warn(
                "adopt-value-invalid", span, f"{path} of this stack has a value that no spec has: {leaks.shown(words)}",
                f"write {path} where the spec has its TODO line",
            )  # fmt: skip
            continue
        return


def _lost_slot(work: StackFilling, place: Sequence[Any]) -> dict[str, Any] | None:
    """The slot that an error is about, taken out; the others keep their numbers."""
    slots = work.values.get("slots")
    if len(place) < 2 or place[0] != "slots" or not isinstance(slots, list):
        return None
    number = next((part for part in place[1:] if type(part) is int), len(slots))
    if number >= len(slots):
        return None
    numbered: list[dict[str, Any]] = [{"avatar": slot["avatar"], "slot": at} | slot for at, slot in enumerate(slots)]
    work.values["slots"] = numbered[:number] + numbered[number + 1 :]
    if not work.values["slots"]:
        del work.values["slots"]
    return numbered[number]


def _removed(values: dict[str, Any], place: Sequence[Any]) -> str:
    """Take out the value that an error is about, or the nearest around it; its dotted name."""
    key = str(place[0])
    inner = values.get(key)
    if len(place) > 1 and isinstance(inner, dict) and place[1] in inner:
        del inner[place[1]]
        return f"{key}.{place[1]}"
    return key if values.pop(key, None) is not None else ""


def _lowered(work: StackFilling, values: Mapping[str, Any]) -> StackBlueprint | None:
    """What a table compiles to, alone on its host; None where the language refuses it."""
    host = {"address": _PUBLIC_ADDRESS, "runtime": "docker"} | ({"public": work.public} if work.public else {})
    raw = {
        "spec": NEWEST,
        "fleet": {"name": "adopted", "network": OFFCHAIN, "node_release": format_release(NEWEST_RELEASE)},
        "hosts": {work.host: host},
        "avatars": {work.name: {"slots": 1} | dict(values)},
    }
    try:
        fleet = Fleet.model_validate(raw)
    except ValidationError:
        return None
    if has_errors(check_references(fleet)):
        return None
    return lower_avatar(fleet, Stack(work.name, fleet.avatars[work.name]))


def _content(made: StackBlueprint | None) -> Any:
    """All that a stack compiles to, without where it came from."""
    if made is None:
        return None
    return (
        made.prefix, made.checkout, made.ref, made.checkout_files, made.steered, made.game_arguments, made.relay,
        [(v.name, v.value) for v in (*made.host_variables, *made.turn_variables)],
        [(s.name, s.kind, s.reference) for s in made.secrets],
        [(image.service, image.image) for image in made.images],
        [(s.number, s.avatar, s.gpu, s.network, s.ports, s.arguments, s.directories,
          [(v.name, v.value) for v in s.variables]) for s in made.slots],
        [(a.file, [entry.text for entry in a.entries]) for a in made.allowlists],
        [(row[:5]) for row in made.firewall],
    )  # fmt: skip


def _without_defaults(work: StackFilling, made: StackBlueprint) -> None:
    """Leave out each value without which the same is compiled."""
    whole = _content(made)
    for table, key in list(_leaves(work.values)):
        place = work.values if table is None else work.values[table]
        value = place.pop(key)
        empty = table is not None and not place
        if empty:
            del work.values[str(table)]
        if _content(_lowered(work, work.values)) != whole:
            if empty:
                work.values[str(table)] = place
            place[key] = value


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str | None, str]]:
    for key, value in values.items():
        if isinstance(value, dict) and not (len(value) == 1 and key in ("runner_token", "recordings_token")):
            yield from ((key, inner) for inner in value)
        elif key not in ("host", "slots", "avatar_release"):
            yield None, key


def _differences(work: StackFilling, made: StackBlueprint) -> Iterator[Difference]:
    """The variables of the host that are compiled to something else than they are today."""
    compiled = {v.name: v.value for v in (*made.turn_variables, *made.host_variables)}
    compiled |= {secret.name: SET for secret in made.secrets}
    for name in sorted({*work.files.variables, *compiled}):
        setting = known(name)
        word = work.files.variables.get(name)
        if setting is None or (word is None and (setting.default is None or work.files.ours)):
            continue
        today = word.text.strip() if word is not None else ""
        today = SET if today and setting.type == "secret" else today
        after = compiled.get(name, "")
        if _meant(setting, today) != _meant(setting, after):
            why = work.reasons.get(setting.field) or work.reasons.get(setting.field.partition(".")[0]) or ""
            yield Difference(work.name, name, leaks.shown(today), after, why or _why(setting, made))


def _meant(setting: Setting, text: str) -> Any:
    """What the stack makes of a text."""
    text = text or setting.default or ""
    if setting.type == "switch":
        return text.lower() in TRUE
    if setting.type == "list":
        return sorted({str(one) for one in networks(text.split(","))} or {*text.replace(" ", "").split(",")})
    if setting.type == "path":
        return text.rstrip("/")
    return text.lower() if setting.type == "account" else text


def _why(setting: Setting, made: StackBlueprint) -> str:
    if setting.decided:
        return f"fleetc writes it: {setting.decided}"
    if setting.field == "allow":
        return "each list has all who may call, and the host itself"
    if setting.field == "monitored_services":
        return "TURN, and signaling and game of each slot"
    if setting.default is not None:
        return f"{setting.field} in the spec decides it; {made.release} is the release"
    return f"{setting.field} in the spec decides it"


def _account(work: StackFilling, differences: Sequence[Difference]) -> None:
    """What became of each variable of the host."""
    differ = {one.flag: one for one in differences}
    ledger = work.session.ledger
    for name, word in work.files.variables.items():
        setting = known(name)
        if setting is None:
            unread(work, name, word)
            continue
        shown = f"{name} (a secret)" if setting.type == "secret" else leaks.shown(f"{name}={word.text}")
        where = f"avatars.{work.name}.{setting.field}" if setting.field else f"fleetc writes it: {setting.decided}"
        if name in differ:
            ledger.note(word.span, shown, Fate.DROPPED, differ[name].reason)
        else:
            ledger.note(word.span, shown, Fate.UNDERSTOOD, where)
    for one in work.files.slots.values():
        ledger.note(one.span, "the file", Fate.UNDERSTOOD, f"avatars.{work.name}.slots: {leaks.shown(one.avatar)}")
