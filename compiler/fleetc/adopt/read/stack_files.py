"""Reads what an avatar stack starts from: its `.env` files, the file that lists its slots, and what fleetc wrote.

In: sources. Out: `StackFiles`, one for each host. Which variables there are says `upstream/avatar_settings.toml`.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.process import Word
from fleetc.adopt.found.yaml_nodes import NOTHING, first_document
from fleetc.adopt.read.env_files import environment
from fleetc.language.quantities import QuantityError, parse_host
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.toml.document import Source
from fleetc.upstream.avatar import Setting, settings

PREFIXES = ("AVATAR", "EMBODY")
_ELSEWHERE = frozenset({"PUBLIC_IP", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "DOCKER_API_VERSION"})
"""Settings whose names other programs have too: a file with nothing else is none of a stack."""
_SLOT = re.compile(r"slots/slot-([0-9]+)\..*")
_OURS = re.compile(r"(?:^|/)hosts/([^/]+)/avatar/(.+)$")
_DERIVED = ("nftables.conf", "profile.sh")
"""What fleetc writes from the rest."""
_MOST_SLOTS = 1000
_INSTANCES, _GPUS = ("instances", "avatars", "vtubers"), ("default_gpu", "defaultGpu", "gpu")
_MARKS = frozenset((*_INSTANCES, "slot_count"))
_READ = _MARKS | {*_GPUS, "slots", "slotCount"}
_AVATAR = ("avatar_id", "avatar", "streamer_id", "streamerId", "id")
_GPU = ("gpu", "gpu_id", "gpuId", "nvidia_visible_devices")
"""By which keys the command line of the stack reads the list of slots: the first one that there is."""


class Slot(NamedTuple):
    """A slot of the list; `gpu` is "" for that of the host."""

    span: Span
    avatar: str
    number: int
    gpu: str


@dataclass
class StackFiles:
    """The files of one stack. `ours` says that fleetc wrote them; of those, `of_slots` has the variables of each slot,
    `images` are by service, `lists` who may call, and `ref` is what the checkout is brought to.
    """

    host: str
    span: Span
    variables: dict[str, Word] = field(default_factory=dict)
    slots: list[Slot] = field(default_factory=list)
    of_slots: dict[int, dict[str, Word]] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    ref: str = ""
    ours: bool = False

    @property
    def public(self) -> str:
        """The public address or name of the host; "" where the files leave it to the stack to find out."""
        word = self.variables.get("PUBLIC_IP")
        try:
            return str(parse_host(word.text)) if word is not None and word.text not in ("", "auto") else ""
        except QuantityError:
            return ""


def known(variable: str) -> Setting | None:
    """The setting that a variable is; None for one that no service of the stack reads."""
    prefix, _, name = variable.partition("_")
    setting = settings().get(name if prefix in PREFIXES else variable)
    return setting if setting is not None and setting.branded == (prefix in PREFIXES) else None


def is_stack_file(name: str, text: str) -> bool:
    """Whether a text is of an avatar stack."""
    if name.endswith(".json") or _OURS.search(name):
        return _OURS.search(name) is not None or (text.lstrip()[:1] == "{" and _items(plain_json(text)) is not None)
    if not re.search("VTUBER_|EDGE_|TURN_|AVATAR_|EMBODY_|ORCHESTRATOR_", text):
        return False
    read = environment(name, text)
    those = [variable for variable in read.variables if known(variable) is not None and variable not in _ELSEWHERE]
    own = any(not variable.startswith("ORCHESTRATOR_") for variable in those)  # files of nodes have such ones too
    return own and len(those) >= 2 and len(those) * 2 > len(read.variables) + len(read.odd)


def read_stacks(
    sources: Iterable[Source], hosts: Mapping[str, str], variables: Mapping[str, Source], ledger: Ledger
) -> list[StackFiles]:
    """The stacks of some sources: `hosts` says which host a source is about, `variables` those of compiled hosts."""
    stacks: dict[str, StackFiles] = {}
    for source in sources:
        ours = _OURS.search(source.name)
        host = hosts.get(source.name, "") or (ours[1] if ours else "")
        key = host or f"/{posixpath.dirname(source.name)}"
        stack = stacks.setdefault(key, StackFiles(host, Span(source.name, 0, 1)))
        stack.ours = stack.ours or (ours is not None and "_CLUSTER_FILE=/opt/fleetc/current/" in source.text)
        _read(source, ours[2] if ours else posixpath.basename(source.name), stack, ledger)
    for stack in stacks.values():
        if stack.ours and stack.host in variables:
            value = plain_json(variables[stack.host].text)
            with suppress(AttributeError, KeyError, TypeError):  # somebody changed what fleetc wrote
                stack.ref = value["fleet_host_stack_ref"]
                for secret in value["fleet_host_stack_secrets"]:
                    stack.secrets[secret["variable"]] = {secret["kind"]: secret["reference"]}
    return list(stacks.values())


def _read(source: Source, name: str, stack: StackFiles, ledger: Ledger) -> None:
    slot = _SLOT.fullmatch(name)
    ledger.note(Span(source.name, 0, 1), "the file", Fate.UNDERSTOOD, "a file of the avatar stack")
    if name.endswith(".json"):
        _list(source, stack, ledger)
    elif name.endswith(".yaml"):
        _compose(source, stack, stack.of_slots.setdefault(int(slot[1]), {}) if slot else {})
    elif slot is not None:
        stack.of_slots.setdefault(int(slot[1]), {}).update(environment(source.name, source.text).variables)
    elif name.startswith("allow/"):
        stack.lists[posixpath.basename(name)] = source.text.split()
    elif name not in _DERIVED:
        _environment(source, stack, ledger)


def _environment(source: Source, stack: StackFiles, ledger: Ledger) -> None:
    read = environment(source.name, source.text)
    for variable, word in read.variables.items():
        before = stack.variables.get(variable)
        if before is not None and before.text != word.text:
            why = f"{leaks.shown(source.name)} has another value, which the spec has"
            ledger.mistake("adopt-setting-overridden", before.span, leaks.shown(variable), why, "remove one of the two")
        stack.variables[variable] = word
    for span in read.odd:
        ledger.note(span, "a line", Fate.DROPPED, "it is no KEY=VALUE")


def _first(table: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((table[key] for key in keys if table.get(key) is not None), None)


def _items(value: Any) -> list[dict[str, Any]] | None:
    """The entries of a list of slots; None for another document."""
    items = (_first(value, _INSTANCES) or []) if isinstance(value, dict) and _MARKS & value.keys() else None
    if not isinstance(items, list) or not all(isinstance(item, str | dict) for item in items):
        return None
    return [{"avatar_id": item} if isinstance(item, str) else item for item in items]


def _list(source: Source, stack: StackFiles, ledger: Ledger) -> None:
    """The slots that the stack's command line lists; those without a number get the lowest that is free so far."""
    value, free, place, taken = plain_json(source.text), 0, 0, set[int]()
    table, odd = value if isinstance(value, dict) else {}, set[str]()
    for item in _items(table) or ():
        avatar, gpu, number = _first(item, _AVATAR), _first(item, _GPU), _first(item, ["slot"])
        while free in taken:
            free += 1
        number = free if number is None else number
        number = int(number) if isinstance(number, str) and re.fullmatch("[0-9]{1,5}", number) else number
        text = json.dumps(avatar)
        place = source.text.find(text, place) if place >= 0 else -1  # one that is not there ends the search
        span = Span(source.name, max(place, 0), max(place, 0) + len(text))
        if not isinstance(avatar, str) or type(number) is not int or number in taken or len(taken) >= _MOST_SLOTS:
            ledger.refuse(
                "adopt-slots-unread", span,
                f"the stack refuses a slot: each has an avatar_id and its own number, and a host at most {_MOST_SLOTS}",
                'write it like {"avatar_id": "mira", "slot": 0, "gpu": "0"}',
            )  # fmt: skip
            return
        taken.add(number)
        odd |= item.keys() - {*_AVATAR, *_GPU, "slot"}
        gpu = _first(table, _GPUS) if gpu in (None, 0) else gpu  # the number 0 is read as none
        stack.slots.append(Slot(span, avatar, number, "" if gpu is None else str(gpu)))
        ledger.note(span, leaks.shown(avatar), Fate.UNDERSTOOD, f"slot {number}")
    for key in (table.keys() - _READ) | odd:
        ledger.note(Span(source.name, 0, 1), leaks.shown(key), Fate.DROPPED, "the stack reads no such key")


def _compose(source: Source, stack: StackFiles, variables: dict[str, Word]) -> None:
    """Images and variables in a Compose file that fleetc wrote."""
    for service, body in (first_document(source.text).get("services") or NOTHING).fields().items():
        image, given = body.get("image"), body.get("environment")
        if image is not None:
            stack.images[service] = image.text.replace("$$", "$")
        for name, node in given.fields().items() if given is not None else ():
            variables[name] = Word(node.text.replace("$$", "$"), node.span(source.name))


def plain_json(text: str) -> Any:
    """JSON, in which fleetc marks texts that are no templates of Ansible; None for another text."""
    try:
        return json.loads(text, object_hook=lambda table: table.get("__ansible_unsafe", table))
    except (ValueError, RecursionError):
        return None
