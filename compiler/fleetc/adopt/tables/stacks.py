"""Makes the table of an avatar stack: `upstream/avatar_settings.toml` read backwards.

In: `StackFiles` and the session. Out: a table of `avatars`; and, once it is compiled, how that differs from the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from pydantic import ValidationError

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.process import SET, Word
from fleetc.adopt.found.questions import Ask, Difference, Reason, Why
from fleetc.adopt.read.stack_files import PREFIXES, StackFiles, known
from fleetc.adopt.tables.runners import arguments, is_harmless
from fleetc.adopt.tables.session import Session, Table
from fleetc.blueprint.blueprint import (
    FIREWALL_ALLOWLIST,
    GAME_SERVICE,
    POWER_ALLOWLIST,
    SIGNALING_SERVICE,
    TURN_SERVICE,
    Blueprint,
    StackBlueprint,
)
from fleetc.language import effective_avatar as effective
from fleetc.language.avatar import Avatars, Slot
from fleetc.language.avatar_fields import PAYMENTS
from fleetc.text import leaks
from fleetc.upstream.avatar import Setting, read_release, settings

_TRUE = frozenset({"1", "true", "yes", "y", "on"})
_BY_HAND = frozenset({"allow", "image_tag", "cli_auto_update", "turn.relay_ports", "slot_networks", "signaling_args"})
"""Fields that take more than the text of one variable."""
_NEEDED = {"turn.user": "turn", "turn.password": "turn", "ops.secret": "ops", "edge.token": "edge.url"}
"""Secrets without which a spec cannot have another field."""
_OWN_ARGUMENTS = {"--use_matchmaker": 0, "--matchmaker_address": 1, "--matchmaker_port": 1, "--public_port": 1,
                  "--matchmaker_streamer_id": 1}  # fmt: skip
"""Arguments of signaling servers that fleetc gives each slot, with how many words follow."""
_CALLERS = ("POWER_ALLOWED_IPS", "EDGE_FIREWALL_EXTRA_CIDRS", "EDGE_POWER_EXTRA_CIDRS", "EDGE_LOCAL_ALLOWLIST")
_IMAGES = {SIGNALING_SERVICE: "signaling", GAME_SERVICE: "game", TURN_SERVICE: "turn"}
_UNITS = {"slot_memory": "{:f} MiB", "registration.min_service_uptime": "{:f}%"}
_ITSELF = {ip_network(address) for address in (*effective.LOOPBACK_ADDRESSES, *effective.DEFAULT_DOCKER_GATEWAYS)}
_MOST_REFUSED = 100
_ADDRESS = re.compile(r"[a-z]+://(?:[A-Za-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~/-]*)?")
"""An address without anything that may be a secret."""
_Net = IPv4Network | IPv6Network


def stack_table(files: StackFiles, session: Session, name: str, host: str) -> Table:
    """The table of one stack."""
    table = Table({"host": host}, origin=f"from {leaks.shown(files.span.source)}", path=("avatars", name))
    work = _Stack(files, session, table, next(iter(files.of_slots.values()), {}) | files.variables)
    for fill in (_release, _slots, _plain, _access, _programs, _secrets, _payments, _refused, _account):
        fill(work)
    return table


@dataclass
class _Stack:
    """One stack on its way; `given` are its variables and those that slots share."""

    files: StackFiles
    session: Session
    table: Table
    given: dict[str, Word]

    def text(self, name: str) -> str:
        """The text of a variable, "" where it is blank or absent: Compose takes both for its default."""
        names = (settings()[name].variable(prefix) for prefix in PREFIXES)
        word = next((self.given[one] for one in names if one in self.given), None)
        return word.text.strip() if word is not None and not word.holes else ""

    def get(self, key: str) -> Any:
        """The value of a field; None where it has none."""
        value: Any = self.table.values
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return value


def _release(work: _Stack) -> None:
    """Brand, release and tag of the images; a rolling tag says nothing of the release of the checkout."""
    tag, ref = work.text("SERVICE_IMAGE_TAG") or "latest", work.files.ref
    rolling = not tag.startswith("sha-") and read_release(tag) is None
    release = "latest" if work.files.ours and not rolling else tag
    if ref:
        release = ref if read_release(ref) is not None else f"sha-{ref}"
    brand = "embody" if any(name.startswith("EMBODY_") for name in work.files.variables) else "avatar"
    work.table.values |= {"brand": brand, "avatar_release": release} | ({"image_tag": tag} if tag != release else {})


def _slots(work: _Stack) -> None:
    """The slots of the list; a slot that no spec has is asked for, and the others stay."""
    slots: list[dict[str, Any]] = []
    for listed in sorted(work.files.slots, key=lambda slot: slot.number):
        slot: dict[str, Any] = {"avatar": listed.avatar, "slot": listed.number}
        if gpu := listed.gpu or work.text("NVIDIA_VISIBLE_DEVICES"):
            slot["gpu"] = int(gpu) if re.fullmatch("[0-9]{1,2}", gpu) else gpu
        if "VTUBER_GAME_TCP_PORT" in work.files.of_slots.get(listed.number, {}):
            slot["game_command"] = True
        try:
            Slot.model_validate(slot)
            slots.append(slot)
        except ValidationError as problem:
            work.table.put(Ask.AVATAR_REFUSED, "slots", slot=listed.number, avatar=listed.avatar, why=_wrong(problem))
    if slots:
        work.table.say("slots", slots)
    elif not work.files.slots:
        work.table.put(Ask.NO_SOURCE, "slots")


def _plain(work: _Stack) -> None:
    """The fields that one variable decides; without defaults, which would make tables within of nothing else."""
    ours = work.files.ours
    for name, word in work.given.items():
        setting, text = known(name), word.text.strip()
        if setting is None or not setting.field or setting.field.startswith("slots.") or setting.field in _BY_HAND:
            continue
        if setting.type == "secret" or word.holes or text == "auto" or (not text and not ours):
            continue
        if setting.type == "url" and not (ours or _ADDRESS.fullmatch(text)):
            work.table.put(Ask.REFUSED, setting.field, why="it is no plain address")
        elif setting.field == "game_args" and not _harmless(work, word):
            work.table.put(Ask.NOT_REPEATED, setting.field)
        elif (text or setting.type == "list") and (ours or "." not in setting.field or text != setting.default):
            work.table.say(setting.field, _value(setting, text))


def _harmless(work: _Stack, word: Word) -> bool:
    """Whether arguments are no secrets, by their names or their closed forms."""
    words = tuple(Word(text, word.span) for text in word.text.split())
    return work.files.ours or all(is_harmless(one.name, one.value.text) for one in arguments(words))


def _value(setting: Setting, text: str) -> Any:
    """What a field has for the text of its variable."""
    if setting.type == "switch":
        asleep = setting.name == "CLI_AUTO_UPGRADE_WHEN_SLEEPING"  # on, unless it is switched off
        return text.lower() not in ("0", "false") if asleep else text.lower() in _TRUE
    if setting.field.startswith("game_files."):
        return text.rpartition("/")[2]
    if setting.field == "game_args":
        return text.split()
    if setting.type == "list":
        return [item.strip() for item in text.split(",") if item.strip()]
    if setting.type not in ("port", "number", "seconds") or not re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,9})?", text):
        return text
    number = Decimal(text)
    whole = number == number.to_integral_value()
    if setting.field in _UNITS:
        return _UNITS[setting.field].format(number)
    if setting.type == "seconds":
        return f"{number:f} s" if whole else f"{(number * 1000).normalize():f} ms"
    return int(number) if whole else text


def _networks(items: Iterable[str]) -> Iterator[_Net]:
    for item in items:
        with suppress(ValueError):
            yield ip_network(item.strip(), strict=False)


def _nets(work: _Stack, *names: str) -> list[_Net]:
    """The networks in some variables, without the host itself and the gateways of its slots."""
    nets = dict.fromkeys(_networks(",".join(map(work.text, names)).split(",")))
    slots = effective.DEFAULT_SLOT_NETWORKS
    return [net for net in nets if net not in _ITSELF and not (net.num_addresses == 1 and _within(net, slots))]


def _access(work: _Stack) -> None:
    """Who may call. In fleetc's own lists, whoever has power is a caller, and the rest are edges."""
    if work.files.ours:
        lists = (FIREWALL_ALLOWLIST, POWER_ALLOWLIST)
        firewall, power = (list(_networks(work.files.lists.get(name, ()))) for name in lists)
        allow = [net for net in firewall if net in power]
        edges = [str(net.network_address) for net in firewall if net not in power]
        own = [net for net in power if not net.is_loopback and (net not in allow or net in _ITSELF)]
        work.table.say("docker_gateways", [str(net.network_address) for net in own])
        if edges:
            work.table.say("edge.addresses", edges)
    else:
        allow, runners = _nets(work, *_CALLERS), _nets(work, "VTUBER_ALLOWED_ADDRESSES")
        more = [net for net in runners if not any(_within(net, caller) for caller in allow)]
        if allow and more:
            work.table.put(Ask.RUNNERS_ONLY, "allow", addresses=", ".join(map(_short, more)))
        allow = allow or more
    if allow:
        work.table.say("allow", list(map(_short, allow)))


def _programs(work: _Stack) -> None:
    """What takes more than one variable: arguments of signaling servers, images, ports of TURN, networks of slots."""
    rest, own = list[str](), dict[str, str]()
    left = iter(re.sub(r"\$\{[A-Z_]+:-\}", "", work.text("SIGNALING_EXTRA_ARGS")).split())
    for argument in left:
        if argument not in _OWN_ARGUMENTS:
            rest.append(argument)
        elif _OWN_ARGUMENTS[argument]:
            own[argument] = next(left, "")
    if rest and _harmless(work, Word(" ".join(rest), work.files.span)):
        work.table.say("signaling_args", rest)
    elif rest:
        work.table.put(Ask.NOT_REPEATED, "signaling_args")
    if edge := own.get("--matchmaker_address"):
        work.table.say("edge.addresses", [edge, *(one for one in work.get("edge.addresses") or [] if one != edge)])
    for service, image in work.files.images.items():
        work.table.say(f"images.{_IMAGES[service]}", image)
    if update := work.text("CLI_NO_AUTO_UPDATE"):
        work.table.say("cli_auto_update", update.lower() not in ("1", "true"))
    low, high = work.text("TURN_MIN_PORT"), work.text("TURN_MAX_PORT")
    if low and high and (work.files.ours or work.get("turn")):
        work.table.say("turn.relay_ports", f"{low}-{high}")
    for number, variables in work.files.of_slots.items():
        if subnet := variables.get("VTUBER_DOCKER_SUBNET"):
            with suppress(ValueError):
                first = IPv4Network(subnet.text).network_address - 256 * number
                work.table.say("slot_networks", f"{first}/16")


def _secrets(work: _Stack) -> None:
    """References for secrets: where fleetc had them, else variables of whoever deploys."""
    for setting in settings().values():
        needed = setting.field in _NEEDED and work.get(_NEEDED[setting.field]) is not None
        if setting.type != "secret" or (setting.field == "edge.token" and not needed):
            continue
        name = f"{work.table.path[1]}_{setting.name}".upper().replace("-", "_")
        word = work.files.variables.get(setting.name, Word("", work.files.span))
        if setting.name in work.files.secrets:
            work.table.say(setting.field, work.files.secrets[setting.name])
        elif word.text and not word.holes:
            work.table.say(setting.field, work.session.secret(word, name, f"the value of {setting.name}"))
        elif needed or word.holes:
            work.table.say(setting.field, {"env": name})
            work.table.put(Ask.PART_OF_SECRET, setting.field)


def _payments(work: _Stack) -> None:
    """Whose calls "payments" stands for: the first single address that may call."""
    payments, allow = work.get("payments"), work.get("allow") or []
    address = next((net for net in allow if "/" not in net), "")
    if address and (payments is not None or work.get("registration") is not None):
        work.table.values["payments"] = {"addresses": [address], **(payments or {})}
        allow[allow.index(address)] = PAYMENTS
        if not work.files.ours:
            work.table.put(Ask.PAYMENTS, "payments.addresses")


def _refused(work: _Stack) -> None:
    """Leave out what no spec can have, and ask for it."""
    values = work.table.values
    for _ in range(_MOST_REFUSED):
        try:
            Avatars.model_validate({"slots": 1} | values)
            return
        except ValidationError as problem:
            first, *more = map(str, problem.errors(include_url=False)[0]["loc"])
            key = ".".join([first, *more[:1]]) if isinstance(values.get(first), dict) else first
            work.table.put(Ask.REFUSED, key, why=_wrong(problem))
            if values.pop(first, None) is None:
                return


def _wrong(problem: ValidationError) -> str:
    """What is wrong, without what to write instead."""
    return str(problem.errors(include_url=False)[0]["msg"]).partition(";")[0]


def _account(work: _Stack) -> None:
    """Account for each variable of the host, by its name alone."""
    ledger = work.session.ledger
    for variable, word in work.files.variables.items():
        setting, shown = known(variable), leaks.shown(variable)
        if setting is None:
            ledger.mistake(
                "adopt-variable-unread", word.span, shown, f"no service of the avatar stack is known to read {shown}",
                "the spec leaves it out; look whether you need it",
            )  # fmt: skip
        elif work.table.asks(setting.field):
            ledger.note(word.span, shown, Fate.DROPPED, f"asked with a TODO at {setting.field}", "adopt-value-unknown")
        else:
            where = f"{'.'.join(work.table.path)}.{setting.field}" if setting.field else f"fleetc: {setting.decided}"
            ledger.note(word.span, shown, Fate.UNDERSTOOD, where)


def stack_differences(
    stacks: Mapping[str, StackFiles], tables: Mapping[str, Table], blueprint: Blueprint | None
) -> list[Difference | None]:
    """For each variable of hosts that is compared, None or how it is compiled to something else than today."""
    compiled = [host.avatar for host in blueprint.hosts if host.avatar is not None] if blueprint is not None else []
    return [one for stack in compiled for one in _compared(stacks[stack.name], tables[stack.name], stack)]


def _compared(files: StackFiles, table: Table, compiled: StackBlueprint) -> Iterator[Difference | None]:
    after = {one.name: one.value for one in (*compiled.turn_variables, *compiled.host_variables)}
    after |= {secret.name: SET for secret in compiled.secrets}
    for variable in sorted({*files.variables, *after}):
        setting, word = known(variable), files.variables.get(variable)
        if setting is None or (word is None and (setting.default is None or files.ours)):
            continue
        today, then = word.text.strip() if word is not None else "", after.get(variable, "")
        today = SET if today and setting.type == "secret" else today
        same = _meant(setting, today) == _meant(setting, then)
        plain = _ADDRESS.fullmatch(today) if setting.type == "url" else not setting.field.endswith("_args")
        today = today if plain or not today else SET
        yield None if same else Difference(table.path[1], variable, today, then, _why(table, setting))


def _why(table: Table, setting: Setting) -> Reason:
    if setting.field == "allow":
        return Reason(Why.FLEETC_WRITES, (("what", "each list with all who may call, and the host itself"),))
    for question in table.questions:
        if f"{setting.field}.".startswith(f"{question.key}."):
            return question.reason
    return Reason(Why.FLEETC_WRITES, (("what", setting.decided or f"{setting.field} of the spec"),))


def _meant(setting: Setting, text: str) -> Any:
    """What the stack makes of a text."""
    text = text or setting.default or ""
    if setting.type == "switch":
        return text.lower() in _TRUE
    if setting.type == "list":
        return {item.strip().removesuffix("/32").removesuffix("/128") for item in text.split(",")}
    return text.rstrip("/") if setting.type == "path" else text.lower() if setting.type == "account" else text


def _within(net: _Net, other: _Net) -> bool:
    return net.version == other.version and net.subnet_of(other)  # type: ignore[arg-type]  # of one version


def _short(net: _Net) -> str:
    """One address without its prefix."""
    return str(net.network_address) if net.num_addresses == 1 else str(net)
