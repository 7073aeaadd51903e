"""Reads what an avatar stack starts from: its `.env` files, the file that lists its slots, and what fleetc wrote.

In: sources. Out: `StackFiles`, one for each host. Which variables there are says `upstream/avatar_settings.toml`.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.words import Word
from fleetc.adopt.found.yaml_nodes import Node, YamlError, documents
from fleetc.adopt.read.env_files import environment
from fleetc.language.quantities import QuantityError, parse_host
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.toml.document import Source
from fleetc.upstream.avatar import Setting, settings

PREFIXES = ("AVATAR", "EMBODY")
ELSEWHERE = frozenset({"PUBLIC_IP", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "DOCKER_API_VERSION"})
"""Settings whose names other programs have too: a file with nothing else is none of a stack."""

_SLOT = re.compile(r"slots/(slot-[0-9]+)\.(env|compose\.yaml)$")
_OURS = re.compile(r"(?:^|/)hosts/([^/]+)/avatar/(.+)$")
_LISTED = ("instances", "avatars", "vtubers")
_COUNTED = ("slot_count", "slots", "slotCount")
_DEFAULT_GPU = ("default_gpu", "defaultGpu", "gpu")
_AVATAR = ("avatar_id", "avatar", "streamer_id", "streamerId", "id")
_GPU = ("gpu", "gpu_id", "gpuId", "nvidia_visible_devices")


@dataclass
class SlotFiles:
    """What a slot starts from: its variables, and the words of its Compose file."""

    span: Span
    avatar: str = ""
    number: int | None = None
    gpu: str = ""
    variables: dict[str, Word] = field(default_factory=dict)
    signaling: Word | None = None
    game: Word | None = None
    images: dict[str, Word] = field(default_factory=dict)


@dataclass
class StackFiles:
    """The files of one stack. `ours` says that fleetc wrote them; `ref` is what its checkout is brought to then."""

    host: str
    span: Span
    variables: dict[str, Word] = field(default_factory=dict)
    slots: dict[str, SlotFiles] = field(default_factory=dict)
    listed: list[SlotFiles] = field(default_factory=list)
    images: dict[str, Word] = field(default_factory=dict)
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    ref: str | None = None
    ours: bool = False

    @property
    def named(self) -> str:
        """The file that says the most about the stack: where its variables are, if there are any."""
        return next((word.span.source for word in self.variables.values()), self.span.source)

    @property
    def counted(self) -> str:
        """What avatars are called that are only counted, such as "stage" for stage-0 and stage-1; else ""."""
        names = [one.avatar for one in self.listed]
        stem = names[0].removesuffix("-0") if names else ""
        return stem if stem and names == [f"{stem}-{number}" for number in range(len(names))] else ""

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
    rows = settings()
    prefix, _, name = variable.partition("_")
    if prefix in PREFIXES:
        return rows.get(name)
    found = rows.get(variable)
    return None if found is None or found.branded else found


def is_stack_file(name: str, text: str) -> bool:
    """Whether a text is of an avatar stack."""
    if _OURS.search(name):
        return True
    if name.endswith(".json"):
        return re.match(r"\s*\{", text) is not None and _is_cluster(_json(text))
    if not re.search("VTUBER_|EDGE_|TURN_|AVATAR_|EMBODY_|ORCHESTRATOR_", text):
        return False
    read = environment(name, text)
    told = [one for one in read.variables if known(one) is not None and one not in ELSEWHERE]
    own = [one for one in told if not one.startswith("ORCHESTRATOR_")]  # Compose files of nodes have such variables too
    return len(told) >= 2 and bool(own) and len(told) * 2 > len(read.variables) + len(read.odd)


def read_stacks(
    sources: Iterable[Source], hosts: Mapping[str, str], variables: Mapping[str, Source], ledger: Ledger
) -> list[StackFiles]:
    """The stacks of some sources: `hosts` says which host a source is about, `variables` those of compiled hosts."""
    found: dict[str, StackFiles] = {}
    for source in sources:
        ours = _OURS.search(source.name)
        folder = posixpath.dirname(source.name)
        said = hosts.get(source.name, "") or (ours[1] if ours else "")
        stack = found.setdefault(said or f"/{folder}", StackFiles(said, Span(source.name, 0, 1)))
        _read(source, ours[2] if ours else posixpath.basename(source.name), stack, ledger)
    for stack in found.values():
        if stack.ours and stack.host in variables:
            _host_variables(variables[stack.host], stack)
    return list(found.values())


def _read(source: Source, name: str, stack: StackFiles, ledger: Ledger) -> None:
    slot = _SLOT.search(name)
    whole = Span(source.name, 0, 1)
    if name.endswith(".json"):
        _cluster(source, stack, ledger)
    elif slot is not None and slot[2] == "env":
        _slot(stack, slot[1], whole).variables = environment(source.name, source.text).variables
    elif name.endswith((".yaml", ".yml")):
        _compose(source, _slot(stack, slot[1], whole) if slot is not None else None, stack)
        ledger.note(whole, "the file", Fate.UNDERSTOOD, "what lies over the files of the checkout")
    elif name.startswith("allow/") or name in ("nftables.conf", "profile.sh"):
        ledger.note(whole, "the file", Fate.DROPPED, "fleetc writes it from the rest of the stack")
    else:
        _environment(source, stack, ledger)


def _environment(source: Source, stack: StackFiles, ledger: Ledger) -> None:
    read = environment(source.name, source.text)
    for variable, word in read.variables.items():
        before = stack.variables.get(variable)
        if before is not None and before.text != word.text:
            ledger.warn(
                "adopt-setting-overridden", before.span, f"the value of {variable} differs in another file",
                f"the spec has that of {leaks.shown(source.name)}; remove the other one",
            )  # fmt: skip
        setting = known(variable)
        if (setting is not None and setting.type == "secret") or leaks.find(word.text) is not None:
            ledger.secrets.append(word.span)
        stack.variables[variable] = word
    for span in read.odd:
        ledger.note(span, "a line", Fate.DROPPED, "it is no KEY=VALUE")
    cluster = next(
        (read.variables[f"{p}_CLUSTER_FILE"].text for p in PREFIXES if f"{p}_CLUSTER_FILE" in read.variables), ""
    )
    stack.ours = stack.ours or (cluster.startswith("/opt/fleetc/current/") and _OURS.search(source.name) is not None)


def _slot(stack: StackFiles, name: str, span: Span) -> SlotFiles:
    return stack.slots.setdefault(name, SlotFiles(span))


# --- the file that lists the slots ------------------------------------------------------------------


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_cluster(value: Any) -> bool:
    if not isinstance(value, dict) or not (any(key in value for key in _LISTED) or "slot_count" in value):
        return False
    items = _first(value, _LISTED)
    return items is None or (isinstance(items, list) and all(isinstance(item, str | dict) for item in items))


def _first(table: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((table[key] for key in keys if table.get(key) is not None), None)


def _cluster(source: Source, stack: StackFiles, ledger: Ledger) -> None:
    """The slots that the stack's command line lists; those without a number get the lowest that is free so far."""
    value = _json(source.text)
    whole = Span(source.name, 0, max(1, len(source.text)))
    if not _is_cluster(value):
        ledger.refuse(
            "adopt-slots-unread", whole, "the stack does not read this list of slots",
            'write it like {"slot_count": 1, "instances": [{"avatar_id": "mira", "slot": 0, "gpu": "0"}]}',
        )  # fmt: skip
        return
    default = _first(value, _DEFAULT_GPU)
    taken: set[int] = set()
    place = 0
    for item in _first(value, _LISTED) or []:
        table = {"avatar_id": item} if isinstance(item, str) else item
        avatar, number, gpu = _first(table, _AVATAR), table.get("slot"), _first(table, _GPU)
        at = source.text.find(json.dumps(avatar), place) if isinstance(avatar, str) else -1
        place = max(at, place)
        span = Span(source.name, at, at + len(json.dumps(avatar))) if at >= 0 else whole
        if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 6:
            number = int(number)
        if not isinstance(avatar, str) or (number is not None and type(number) is not int) or number in taken:
            ledger.refuse(
                "adopt-slots-unread", span, "the stack refuses this slot: each has an avatar_id and its own number",
                'write it like {"avatar_id": "mira", "slot": 0, "gpu": "0"}',
            )  # fmt: skip
            return
        if number is None:
            number = next(free for free in range(len(taken) + 1) if free not in taken)
        taken.add(number)
        chosen = gpu if gpu is not None and gpu != 0 else default  # the number 0 is read as none
        stack.listed.append(SlotFiles(span, avatar, number, "" if chosen is None else str(chosen)))
        ledger.note(span, leaks.shown(avatar), Fate.UNDERSTOOD, f"slot {number}")
    for key in value:
        if key in _COUNTED:
            ledger.note(whole, key, Fate.UNDERSTOOD, "fleetc writes it: one more than the highest slot")
        elif key in _DEFAULT_GPU:
            ledger.note(whole, key, Fate.UNDERSTOOD, "that of slots which name none")
        elif key not in _LISTED:
            ledger.note(whole, leaks.shown(key), Fate.DROPPED, "the stack reads no such key")


# --- what fleetc wrote ------------------------------------------------------------------------------


def _compose(source: Source, slot: SlotFiles | None, stack: StackFiles) -> None:
    """The Compose file of a slot, or of the host's own project."""
    try:
        roots = documents(source.text)
    except YamlError:
        return
    services = roots[0].get("services") if roots else None
    for service, body in services.fields().items() if services is not None else ():
        image = body.get("image")
        if image is not None:
            (slot.images if slot is not None else stack.images)[service] = _word(image, source)
        given = body.get("environment")
        for key, value in given.fields().items() if given is not None and slot is not None else ():
            if slot is not None and key == "SIGNALING_EXTRA_ARGS":
                slot.signaling = _word(value, source)
            elif slot is not None and key.endswith("_EXTRA_ARGS"):
                slot.game = _word(value, source)


def _word(node: Node, source: Source) -> Word:
    return Word(node.text.replace("$$", "$"), node.span(source.name))


def _host_variables(source: Source, stack: StackFiles) -> None:
    """What only the variables of a compiled host say: where secrets are, and the release."""
    value = _json(source.text)
    if not isinstance(value, dict):
        return
    ref = _plain(value.get("fleet_host_stack_ref"))
    stack.ref = ref if isinstance(ref, str) else None
    listed = value.get("fleet_host_stack_secrets")
    for secret in listed if isinstance(listed, list) else ():
        if isinstance(secret, dict):
            kind, variable, reference = (_plain(secret.get(key)) for key in ("kind", "variable", "reference"))
            stack.secrets[str(variable)] = {str(kind): str(reference)}


def _plain(value: Any) -> Any:
    return value.get("__ansible_unsafe") if isinstance(value, dict) else value
