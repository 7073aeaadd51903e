"""Fills the table of an avatar stack from its variables: `upstream/avatar_settings.toml`, read backwards.

In: `StackFiles` and the session. Out: `StackFilling`, whose table has each value that the files say, defaults too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from ipaddress import IPv4Network, ip_address, ip_network
from itertools import takewhile
from typing import Any

from fleetc.adopt.found.words import Word
from fleetc.adopt.read.stack_files import PREFIXES, SlotFiles, StackFiles, known
from fleetc.adopt.tables.session import Session, Table
from fleetc.blueprint.blueprint import GAME_SERVICE, SIGNALING_SERVICE, TURN_SERVICE
from fleetc.language import effective_avatar as effective
from fleetc.language.avatar_fields import PAYMENTS
from fleetc.language.quantities import QuantityError, parse_url
from fleetc.text import leaks
from fleetc.upstream.avatar import NEWEST_RELEASE, SLOT_PORTS, Setting, read_release, settings

TRUE = frozenset({"1", "true", "yes", "y", "on"})
_BY_HAND = frozenset({"allow", "image_tag", "cli_auto_update", "turn.relay_ports", "slot_networks", "signaling_args"})
"""Fields that take more than the text of one variable; those of slots are among them too."""
_TABLES_WITH_SECRETS = {
    "turn": (("user", "TURN_USER"), ("password", "TURN_PASS")),
    "ops": (("secret", "OPS_HMAC_SECRET"),),
    "edge": (("token", "EDGE_CONFIG_TOKEN"),),
}
_MATCHMAKER = ("--use_matchmaker", "--matchmaker_address", "--matchmaker_port")
_MORE = re.compile(r"\$\{[A-Z_]+:-\}")


@dataclass
class StackFilling:
    """One stack on its way."""

    files: StackFiles
    session: Session
    name: str
    host: str
    table: Table
    public: str = ""
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Any]:
        return self.table.values

    def text(self, name: str) -> str:
        """The text of a variable, "" where it is blank or absent: Compose takes both for its default."""
        word = self.word(name)
        return word.text.strip() if word is not None and not word.holes else ""

    def word(self, name: str) -> Word | None:
        rows = settings()
        names = [rows[name].variable(prefix) for prefix in PREFIXES] if name in rows else [name]
        return next((self.files.variables[one] for one in names if one in self.files.variables), None)

    def items(self, name: str) -> list[str]:
        """The items of a list."""
        return [item.strip() for item in self.text(name).split(",") if item.strip()]

    def say(self, key: str, value: Any) -> None:
        """Give a field a value; a dotted key is one of a table within."""
        *above, last = key.split(".")
        place = self.values
        for part in above:
            place = place.setdefault(part, {})
        place[last] = value

    def secret(self, variable: str, key: str) -> dict[str, str]:
        """A reference for a secret: where fleetc had it, else a variable of whoever deploys."""
        if variable in self.files.secrets:
            return self.files.secrets[variable]
        name = f"{self.name}_{variable}".upper().replace("-", "_")
        word = self.word(variable)
        if word is None or not word.text or word.holes:
            self.table.ask(f"TODO {key}: put it into the variable {name} of whoever deploys; no source says it")
            return {"env": name}
        return self.session.secret(word, name, f"the value of {variable}")


def fill(work: StackFilling) -> None:
    """Fill the whole table."""
    work.say("host", work.host)
    _release(work)
    _slots(work)
    _plain(work)
    _allow(work)
    _arguments(work)
    _images(work)
    _turn(work)
    _secrets(work)
    _payments(work)


def _release(work: StackFilling) -> None:
    tag = work.text("SERVICE_IMAGE_TAG")
    slot = next(iter(work.files.slots.values()), None)
    if not tag and slot is not None:
        tag = next((slot.variables[f"{p}_SERVICE_IMAGE_TAG"].text for p in PREFIXES
                    if f"{p}_SERVICE_IMAGE_TAG" in slot.variables), "")  # fmt: skip
    prefixes = [p for p in PREFIXES if any(name.startswith(f"{p}_") for name in work.files.variables)]
    work.say("brand", (prefixes[0] if prefixes else PREFIXES[1]).lower())
    ref = work.files.ref
    tag = tag or "latest"
    if ref is None:
        release = tag
        if not tag.startswith("sha-") and read_release(tag) is None:
            work.table.ask(
                f'TODO avatar_release = "{NEWEST_RELEASE}": the images are a rolling tag; name a release to stay'
            )
    elif ref:
        release = ref if read_release(ref) is not None else f"sha-{ref}"
    else:
        release = tag if not tag.startswith("sha-") and read_release(tag) is None else "latest"
    work.say("avatar_release", release)
    work.say("image_tag", tag)


def _slots(work: StackFilling) -> None:
    files = work.files
    found = list(files.listed)
    for one in files.slots.values():
        told = {name: word.text for name, word in one.variables.items()}
        port = told.get("VTUBER_SIGNALING_PUBLIC_PORT", "")
        if port.isascii() and port.isdigit() and len(port) < 6:
            one.number = int(port) - SLOT_PORTS["signaling"]
        one.avatar = told.get("VTUBER_AVATAR_ID", "")
        one.gpu = told.get("NVIDIA_VISIBLE_DEVICES", "")
        found = [listed for listed in found if listed.number != one.number] + [one]
    found.sort(key=lambda one: -1 if one.number is None else one.number)
    gpu = work.text("NVIDIA_VISIBLE_DEVICES")
    slots = [_slot(work, one, gpu) for one in found if one.avatar]
    if not slots:
        work.table.ask('TODO slots = [{ avatar = "mira", gpu = 0 }]: which avatars run here; no source lists them')
        return
    if [slot.get("slot") for slot in slots] == list(range(len(slots))):
        for slot in slots:
            del slot["slot"]
    if len(slots) > 1 and all("gpu" in slot and slot["gpu"] == slots[0]["gpu"] for slot in slots):
        work.say("gpu", slots[0]["gpu"])
        for slot in slots:
            del slot["gpu"]
    hidden = [bool(one.variables) and "VTUBER_GAME_TCP_PORT" not in one.variables for one in found if one.avatar]
    if not all(hidden):
        work.say("game_command", True)
        for slot, without in zip(slots, hidden, strict=True):
            if without:
                slot["game_command"] = False
    numbered = [f"{work.name}-{number}" for number in range(len(slots))]
    plain = all(list(slot) == ["avatar"] for slot in slots) and [slot["avatar"] for slot in slots] == numbered
    work.say("slots", len(slots) if plain else slots)


def _slot(work: StackFilling, one: SlotFiles, otherwise: str) -> dict[str, Any]:
    slot: dict[str, Any] = {"avatar": one.avatar} | ({} if one.number is None else {"slot": one.number})
    gpu = one.gpu or otherwise
    if gpu.isascii() and gpu.isdigit() and len(gpu) < 3:
        slot["gpu"] = int(gpu)
    elif gpu:
        slot["gpu"] = gpu
    for name, word in one.variables.items():
        if known(name) is None:
            unread(work, name, word)
    subnet = one.variables.get("VTUBER_DOCKER_SUBNET")
    if subnet is not None and one.number is not None and subnet.text:
        try:
            network = IPv4Network(subnet.text)
            whole = IPv4Network((int(network.network_address) - 256 * one.number, 16))
        except ValueError:
            whole = effective.DEFAULT_SLOT_NETWORKS
        work.say("slot_networks", str(whole))
    return slot


def _plain(work: StackFilling) -> None:
    """The fields that one variable decides alone; those of slots are of all slots, so the first one says them."""
    first = next(iter(work.files.slots.values()), None)
    found = {**(first.variables if first is not None else {}), **work.files.variables}
    for variable, word in found.items():
        setting = known(variable)
        if setting is None or not setting.field or setting.field.startswith("slots.") or setting.field in _BY_HAND:
            continue
        if setting.type == "secret" or setting.name == "PUBLIC_IP" or word.holes:
            continue
        if not word.text.strip():
            if work.files.ours and setting.type == "list":
                work.say(setting.field, [])
            continue
        if leaks.find(word.text) is not None:
            work.reasons[setting.field] = "a secret stands in it, and no spec has one"
            work.table.ask(f"TODO {setting.field}: the source has a secret in it, which no spec may have")
            work.session.ledger.warn(
                "adopt-secret-inline", word.span, f"the value of {variable} stands in this file in clear",
                f"write {setting.field} without it, and then change the secret",
            )  # fmt: skip
            continue
        value = _value(setting, word.text.strip())
        if value is not None:
            work.say(setting.field, value)
    public = work.text("PUBLIC_IP")
    if public and public != "auto":
        work.say("public", public)
    no_update = work.text("CLI_NO_AUTO_UPDATE")
    if no_update:
        work.say("cli_auto_update", no_update.lower() not in ("1", "true"))


def _value(setting: Setting, text: str) -> Any:
    """What a field has for the text of its variable; None for a text that no field has."""
    if setting.type == "switch":
        if setting.name == "CLI_AUTO_UPGRADE_WHEN_SLEEPING":
            return text.lower() not in ("0", "false")
        return text.lower() in TRUE
    if setting.field.startswith("game_files."):
        return text.rpartition("/")[2]
    if setting.name == "EXTRA_ARGS":
        return text.split()
    if setting.type == "list":
        return [item.strip() for item in text.split(",") if item.strip()]
    if setting.type in ("port", "number", "seconds"):
        try:
            number = Decimal(text)
        except InvalidOperation:
            return text
        written = format(number, "f")
        units = {"slot_memory": f"{written} MiB", "registration.min_service_uptime": f"{written}%"}
        if setting.field in units:
            return units[setting.field]
        if setting.type == "seconds":
            return f"{written} s" if number == number.to_integral_value() else f"{(number * 1000).normalize():f} ms"
        return int(number) if number == number.to_integral_value() else text
    return text


def networks(items: Sequence[str]) -> Iterator[Any]:
    for item in items:
        try:
            yield ip_network(item, strict=False)
        except ValueError:
            continue


def _allow(work: StackFilling) -> None:
    """Who may call, without the host itself, its bridges, its slots and its edges."""
    power = list(networks(work.items("POWER_ALLOWED_IPS")))
    outside = list(networks(work.items("EDGE_FIREWALL_EXTRA_CIDRS") + work.items("EDGE_POWER_EXTRA_CIDRS")))
    local = list(networks(work.items("EDGE_LOCAL_ALLOWLIST")))
    runner = list(networks(work.items("VTUBER_ALLOWED_ADDRESSES")))
    itself = {ip_network(address) for address in effective.LOOPBACK_ADDRESSES}
    bridges = {ip_network(address) for address in effective.DEFAULT_DOCKER_GATEWAYS}
    if work.files.ours:  # its lists have an order: the host itself, its bridges, callers, and edges for runners alone
        behind = [one for one in power if one not in itself]
        gateways = list(takewhile(lambda one: one.version == 4 and (one not in outside or one in bridges), behind))
        work.say("docker_gateways", [str(one.network_address) for one in gateways])
        named = [one for one in outside if one in itself]  # a caller on the host itself
        allowed = [
            *named,
            *(one for one in behind if one not in gateways),
            *(one for one in gateways if one in outside),
        ]
        edges = [one for one in runner if one not in local]
    else:
        callers = [one for one in [*power, *outside, *local] if one not in itself | bridges and not _of_slot(one)]
        others = [one for one in runner if one not in itself | bridges and not _of_slot(one) and one not in callers]
        edges = [one for one in others if one.version == 4 and callers] if "edge" in work.values else []
        allowed = []
        for one in [*callers, *others]:
            known_already = any(one.version == other.version and one.subnet_of(other) for other in allowed)
            if one in edges or known_already:
                continue
            if one in others and callers:
                work.table.ask(
                    f"TODO allow: {_shortest(one)} may only call runners today; here it may call all services"
                )
            allowed.append(one)
    if edges:
        work.say("edge.addresses", [str(one.network_address) for one in edges])
    if allowed:
        work.say("allow", [_shortest(one) for one in allowed])


def _of_slot(network: Any) -> bool:
    """Whether this is the gateway of a slot's network in the public design."""
    whole = effective.DEFAULT_SLOT_NETWORKS
    return isinstance(network, IPv4Network) and network.prefixlen == 32 and network.subnet_of(whole)


def _shortest(network: Any) -> str:
    """One address without its prefix."""
    return str(network.network_address) if network.num_addresses == 1 else str(network)


def _arguments(work: StackFilling) -> None:
    """The arguments of signaling servers and games, without those that fleetc gives each slot."""
    slot = next(iter(work.files.slots.values()), None)
    text = slot.signaling.text if slot is not None and slot.signaling is not None else work.text("SIGNALING_EXTRA_ARGS")
    words = _MORE.sub("", text).split()
    if slot is None:
        words += work.text("SIGNALING_MATCHMAKER_ARGS").split()
    rest: list[str] = []
    edge = ""
    at = 0
    while at < len(words):
        word = words[at]
        after = words[at + 1] if at + 1 < len(words) else ""
        at += 1
        if word in ("--use_matchmaker",):
            continue
        if word in ("--public_port", "--matchmaker_streamer_id", *_MATCHMAKER[1:]):
            at += 1
            if word == "--matchmaker_address":
                edge = after
            elif word == "--matchmaker_port" and after.isascii() and after.isdigit() and len(after) < 6:
                work.say("edge.matchmaker_port", int(after))
            continue
        rest.append(word)
    if rest:
        work.say("signaling_args", rest)
    if edge:
        others = [one for one in work.values.get("edge", {}).get("addresses", []) if one != edge]
        work.say("edge.addresses", [edge, *others])
    if slot is not None and slot.game is not None:
        work.say("game_args", slot.game.text.split())


def _images(work: StackFilling) -> None:
    slot = next(iter(work.files.slots.values()), None)
    pinned = dict(work.files.images) | (slot.images if slot is not None else {})
    for key, service in (("signaling", SIGNALING_SERVICE), ("game", GAME_SERVICE), ("turn", TURN_SERVICE)):
        if service in pinned:
            work.say(f"images.{key}", pinned[service].text)


def _turn(work: StackFilling) -> None:
    low, high = work.text("TURN_MIN_PORT"), work.text("TURN_MAX_PORT")
    if low and high:
        work.say("turn.relay_ports", f"{low}-{high}")


def _secrets(work: StackFilling) -> None:
    """References for secrets, and no table that only has the stack's own defaults where its secret is missing."""
    for variable, word in {**work.files.variables, **dict.fromkeys(work.files.secrets)}.items():
        setting = known(variable)
        if setting is None or setting.type != "secret" or (word is not None and not word.text):
            continue
        work.say(setting.field, work.secret(variable, setting.field))
    for table, fields in _TABLES_WITH_SECRETS.items():
        inner = work.values.get(table)
        if inner is None or (table == "edge" and "url" not in inner):
            continue
        if table == "ops" and "secret" not in inner and not inner.get("required"):
            del work.values[table]
            continue
        for key, variable in fields:
            if key not in inner:
                inner[key] = work.secret(variable, f"{table}.{key}")
    edge = work.values.get("edge", {})
    if "token" in edge and "url" not in edge:
        del edge["token"]
    registration = work.values.get("registration")
    if registration is not None and not {"id", "address"} <= {*registration}:
        missing = "address" if "id" in registration else "id"
        work.table.ask(
            f'TODO registration.{missing} = "...": the host is not registered without it, and no source says it'
        )
        del work.values["registration"]
        work.reasons["registration"] = f"a question is left: registration.{missing}"


def _payments(work: StackFilling) -> None:
    """Whose calls "payments" stands for: the address of its API, else the first single address that may call."""
    payments = work.values.get("payments", {})
    if not payments and "registration" not in work.values:
        return
    allow: list[str] = work.values.get("allow", [])
    host = _host_of(payments.get("url", ""))
    if not allow and work.items("POWER_ALLOWED_IPS"):
        work.table.ask("TODO payments.addresses: today nobody but the host itself may call, the service neither")
        work.values["payments"] = {"addresses": [str(effective.LOOPBACK_ADDRESSES[0])], **payments}
        work.values["allow"] = [PAYMENTS]
        return
    known_address = _is_address(host) and (host in allow or not allow)
    address = host if known_address else next((one for one in allow if "/" not in one), "")
    if not address:
        also = f', url = "{payments["url"]}"' if payments else ""
        work.table.ask(f'TODO payments = {{ addresses = ["203.0.113.90"]{also} }}: where its calls come from')
        work.values.pop("payments", None)
        work.reasons["payments"] = "a question is left: where calls of the payments service come from"
        return
    if not known_address:
        work.table.ask("TODO payments.addresses: do calls of the payments service come from this address?")
    work.values["payments"] = {"addresses": [address], **payments}
    if address in allow:
        allow[allow.index(address)] = PAYMENTS


def _host_of(url: str) -> str:
    try:
        return str(parse_url(url, ("http", "https")).host)
    except QuantityError:
        return ""


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def unread(work: StackFilling, name: str, word: Word) -> None:
    if name in ("COMPOSE_FILE", "COMPOSE_PROJECT_NAME") and work.files.ours:
        return
    work.session.ledger.secrets.append(word.span)  # nobody knows what it holds
    work.session.ledger.mistake(
        "adopt-variable-unread", word.span, leaks.shown(name),
        f"no service of the avatar stack is known to read {leaks.shown(name)}",
        "the spec leaves it out; look whether you need it",
    )  # fmt: skip
