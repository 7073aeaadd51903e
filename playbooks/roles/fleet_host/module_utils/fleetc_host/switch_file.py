"""The intention of a switch, on the disk before it is carried out.

In: nothing, or a switch and its phase. Out: the switch that has not ended, or None.

Whoever finds one whose switch died finishes it: the timer, the next boot, or the next request.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

from .places import RECORD, ROOT, SECRETS, STATE, SWITCH, Json
from .system import boot_id, note, read_state, remove, write, write_json

ARMED, SWITCHING, WATCHING, HEALTHY, REVERTING, REVERTED, QUARANTINED = (
    "armed",
    "switching",
    "watching",
    "healthy",
    "reverting",
    "reverted",
    "quarantined",
)
STUCK = "stuck"
"""What a host answers that has tried to go back several times and cannot do so now. It goes on trying."""

ASKED_TRIES = 4
"""After how many such tries a rollout waits no longer."""

ENDED = (HEALTHY, REVERTED, QUARANTINED)
"""Phases in which nobody waits for the host."""

OPEN = (ARMED, SWITCHING, WATCHING, HEALTHY, REVERTING)
"""Phases that somebody has to end. A switch that is confirmed has no file any more."""

WAITS_LIMIT, WORDS_LIMIT = 5, 200
"""How many things that a switch waits for are told, and how many characters of each."""

ROOM = "/.room"
ROOM_BYTES = 256 * 1024
"""Some copies of the switch, of the record and of links, and a few hundred lines of the journal."""


def open_switch() -> Json | None:
    """The switch that has not ended, if there is one."""
    switch = read_state(SWITCH)
    return switch if switch is not None and switch.get("phase") in OPEN and not is_confirmed(switch) else None


def is_leaving(switch: Json) -> bool:
    """Whether a switch only keeps nodes away that move to another host, and has not begun to bring them back."""
    return "lease_here" in switch and switch["phase"] != REVERTING


def nodes_leaving() -> list[str]:
    """The nodes that are stopped here because they move, and that start here again unless somebody says otherwise."""
    switch, away = open_switch(), (read_state(RECORD) or {}).get("left", [])
    return [node for node in away if node not in switch["left"]] if switch and is_leaving(switch) else []


def is_confirmed(switch: Json) -> bool:
    """Whether a switch was confirmed, also where its file is still there: its process died before it was removed."""
    return bool((read_state(RECORD) or {}).get("confirmed_switch") == switch["id"])


def switch_for_people() -> Json | None:
    """What is said of the switch that has not ended."""
    switch = open_switch()
    if switch is None:
        return None
    return {key: switch.get(key) for key in ("id", "phase", "from", "to", "owner", "begun")}


def times_of(switch: Json) -> Json:
    """What a switch of this boot waits for, and after how many seconds the host goes back without a confirmation."""
    if switch.get("boot") != boot_id():
        return {}
    now, waits = time.monotonic(), switch.get("waits")
    told: Json = {"returns": round(switch["until"] - now)} if "until" in switch else {}
    if waits:
        going = "going back: " if switch["phase"] == REVERTING else ""
        told["waits"] = [going + words[:WORDS_LIMIT] for words in waits["words"][:WAITS_LIMIT]]
        told |= {"waited": round(now - waits["since"]), "limit": waits["limit"]}
    return told


def phase_for_people(switch: Json) -> str:
    """The phase of a switch, as whoever waits for its end sees it."""
    stuck = switch["phase"] == REVERTING and switch.get("tries", 0) >= ASKED_TRIES
    return STUCK if stuck else str(switch["phase"])


def enter(switch: Json, phase: str, **facts: Any) -> None:
    """Write down which phase begins, before it begins."""
    switch.update(facts, phase=phase, entered=time.monotonic(), waits=None)
    write_json(SWITCH, switch)
    note(phase, switch=switch["id"], source=switch["from"], target=switch["to"])


def note_wait(switch: Json, words: list[str], since: float, limit: float) -> None:
    """Write down what a switch waits for, since when, and for how many seconds at most; 0 where nothing says so.

    It is for people alone, so a disk that is full ends no switch here.
    """
    if switch.get("waits") is None or switch["waits"]["words"] != words:
        switch["waits"] = {"words": words, "since": since, "limit": limit}
        with contextlib.suppress(OSError):
            write_json(SWITCH, switch)


def keep_room() -> None:
    """Take the space that going back needs, so that a disk that fills up meanwhile does not end a switch halfway."""
    for place in (STATE, ROOT, SECRETS):
        write(place + ROOM, bytes(ROOM_BYTES))


def give_room() -> None:
    """Free that space again, wherever a disk takes that."""
    for place in (STATE, ROOT, SECRETS):
        with contextlib.suppress(OSError):
            remove(place + ROOM)
