"""The round trip: what each process does today against what the compiled spec makes of it.

In: the adopted processes and the fleet of their spec. Out: rows: a setting, what it is today, what it is compiled, and
why they differ. Values are compared as the node reads them, with its own defaults filled in. Where examples stand for
answers, what follows from them is left out, and listed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from fleetc.adopt import documents, price_lists
from fleetc.adopt.documents import DocumentError
from fleetc.adopt.flags import boolean, value_of
from fleetc.adopt.host_paths import default_data_dir, home_of
from fleetc.adopt.library import Library
from fleetc.adopt.listeners import (
    LOOPBACK,
    RTMP,
    Listener,
    cli_listener,
    completed,
    http_listener,
    is_loopback,
    orchestrator_url,
    service_url,
    split,
    written,
)  # fmt: skip
from fleetc.adopt.own_files import own_file
from fleetc.adopt.price_lists import TOKENS, Files, comparable, list_of
from fleetc.adopt.reading import OFFCHAIN, PATH_OR_TEXT, Running
from fleetc.adopt.rpc import ADDRESSES, compare_addresses, no_answer
from fleetc.adopt.runner_list import FLAG as RUNNERS_FLAG
from fleetc.adopt.runner_list import meaning as entry_meaning
from fleetc.adopt.runner_list import read_list
from fleetc.adopt.unread import open_settings, said_by_script, unsure
from fleetc.adopt.words import SET, Same, Unknown
from fleetc.blueprint.blueprint import Blueprint, Service
from fleetc.emit.artifacts import json_document
from fleetc.language.rows import READERS
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin
from fleetc.text import leaks
from fleetc.upstream import FLAGS, NETWORKS

_SKIPPED = frozenset({"config", "version", "j", "broadcaster", "datadir", "pixelsPerUnit", "pricePerBroadcaster"})
PRICED_FLAGS = frozenset({"maxPricePerUnit", "maxPricePerCapability", "pricePerUnit", "pricePerGateway", "ticketEV",
                           "maxFaceValue", "maxTicketEV", "maxTotalEV", "depositMultiplier", "autoAdjustPrice",
                           "priceFeedAddr", "selectRandFreq", "selectStakeWeight", "selectPriceWeight"})  # fmt: skip
_MOST = 120
"""Characters of a value."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that a compiled node has differently. `reason` is "" where nothing explains it.

    `flag` is a variable where `node` is a stack of avatars.
    """

    node: str
    flag: str
    today: str
    compiled: str
    reason: str

    @property
    def setting(self) -> str:
        """The setting as a source writes it."""
        return self.flag if self.flag.isupper() else f"-{self.flag}"


@dataclass(frozen=True)
class Comparison:
    """All differences, how many settings were compared, and those that wait for an answer, by node. Of settings that a
    file may have which is none of the sources, those that would differ are among the differences, and `unknown` counts
    the rest.
    """

    differences: tuple[Difference, ...] = ()
    compared: int = 0
    waiting: tuple[tuple[str, str], ...] = ()
    unknown: int = 0


def compare(
    nodes: list[Running], blueprint: Blueprint, library: Library, said: Collection[tuple[str, ...]] = (),
    answered: Collection[tuple[str, ...]] = (), asked: Collection[tuple[str, ...]] = (),
) -> Comparison:  # fmt: skip
    """Compare nodes with those of the same name; at the places `said`, an example stands for an answer, and at those
    `answered` stands what an earlier spec says, which is the answer to a question that `asked` has or a reason names.
    """
    services = services_of(blueprint)
    found: list[Difference] = []
    waiting: list[tuple[str, str]] = []
    count = unknown = 0
    open_places, told = frozenset(said), frozenset(answered)
    of_questions = told & frozenset(asked)
    for node in nodes:
        service = services.get(node.name)
        if service is None:
            continue
        before, after = of_process(node, library), of_service(node.role, service)
        compare_addresses(node, before, after)
        put_own(node, service, before, after)
        if node.role == "gateway":
            price_lists.fill_caps(before, after)
        unanswered = open_flags(node, service, open_places) if said else frozenset()
        nowhere = open_settings(node)
        followed = _follow(node, service, of_questions)
        known = {flag for flag in followed if not no_answer(node, flag, before.get(flag), after.get(flag))}
        known |= {flag for flag in _follow(node, service, told) if node.reasons.get(flag, "").startswith(QUESTION)}
        for flag in flags_of(node, before, after):
            if waits(flag, unanswered) and list_of(flag) not in known:
                waiting.append((node.name, flag))
                continue
            open_ = flag.partition(" ")[0] in nowhere
            if open_ and before.get(flag) == after.get(flag):
                unknown += 1
                continue
            count += 1
            if before.get(flag) != after.get(flag):
                answer = said_by_script(node.process, before.get(flag), after.get(flag)) or ANSWERED
                reason = answer if list_of(flag) in known else reason_of(node, flag)
                reason = "" if flag in ADDRESSES and isinstance(reason, Same) else reason  # two addresses in clear
                reason = unsure(reason, node) if open_ and reason != answer else reason
                found.append(difference(node.name, flag, before, after, reason))
    return Comparison(tuple(found), count, tuple(waiting), unknown)


def put_own(node: Running, service: Service, today: dict[str, object], compiled: dict[str, object]) -> None:
    """Where a wallet has from another node what this one has elsewhere, compare both places."""
    for flag, own in node.own.items():
        place = ways_of(service).get(flag, compiled.get(flag))
        today[flag], compiled[flag] = own, place


def ways_of(service: Service) -> dict[str, str]:
    """How a node gets its secrets that may be in files, by flag: the path of the file on its host, or a reference."""
    flags = {FLAGS[flag].env: flag for flag in PATH_OR_TEXT}
    ways = {one.name: one.value for one in service.variables}
    for one in service.secrets:
        ways[one.name] = one.reference if one.kind == "host_file" else f"{one.kind} {one.reference}"
    return {flag: ways[name] for name, flag in flags.items() if name in ways}


def services_of(blueprint: Blueprint) -> dict[str, Service]:
    """All services by name."""
    return {service.name: service for host in blueprint.hosts for service in host.services}


def flags_of(node: Running, before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """What of the settings of both sides a node reads, in order."""
    readers = READERS[node.table]
    flags = [flag for flag in sorted({*before, *after}) if comparable(flag, before, after)]
    return [flag for flag in flags if list_of(flag) not in FLAGS or readers & FLAGS[list_of(flag)].roles]


def reason_of(node: Running, flag: str) -> str:
    """Why a setting changes, as adopting has noted it; entries of a list have the reason of the list."""
    return node.reasons.get(flag) or node.reasons.get(list_of(flag), "")


def difference(
    node: str, flag: str, before: Mapping[str, object], after: Mapping[str, object], reason: str
) -> Difference:
    """A setting that differs, with both of its values as people may see them: of an entry only what differs of it. No
    source says the value of today where the reason is Unknown.
    """
    today, compiled = before.get(flag), after.get(flag)
    if isinstance(today, Mapping) and isinstance(compiled, Mapping):
        keys = [key for key in dict.fromkeys((*today, *compiled)) if today.get(key) != compiled.get(key)]
        today, compiled = ({key: one.get(key) for key in keys} for one in (today, compiled))
    entry = list_of(flag) != flag
    values = [
        "not in the list" if entry and value is None else shown(value, None if entry else _MOST)
        for value in (today, compiled)
    ]
    shown_today = "(unknown)" if isinstance(reason, Unknown) else values[0]
    return Difference(node, leaks.shown(flag), shown_today, values[1], reason)


QUESTION = "a question is left"
"""With what the reason begins of a setting that the spec asks for."""
ANSWERED = "as you answered"
SPEC_ANSWERS = "the spec answers what adopting asks"
"""The reason of such a setting once it has an answer."""

_FOLLOWS = {
    "ethKeystorePath": ("dataDir",), "aiModelsDir": ("dataDir", "aiModels"), "httpAddr": ("serviceAddr",),
    "httpIngest": ("httpAddr", "authWebhookUrl"),
}  # fmt: skip
"""Settings whose default the node makes of others."""


def open_flags(node: Running, service: Service, said: frozenset[tuple[str, ...]]) -> frozenset[str]:
    """The settings that wait for an answer: those that are asked for, or that follow from the places `said`."""
    origins = _origins(service)
    found = {flag for flag, origin in origins if any(_within(path, said) for path in origin.paths)}
    found |= {flag for flag, reason in node.reasons.items() if reason.startswith(QUESTION)}
    given = {flag for flag, _ in origins}
    for flag, others in _FOLLOWS.items():
        if flag not in given and not found.isdisjoint(others):
            found.add(flag)
    return frozenset(found)


def _follow(node: Running, service: Service, answered: frozenset[tuple[str, ...]]) -> frozenset[str]:
    """The settings that follow from what people answered."""
    found = {flag for flag, origin in _origins(service) if any(_within(path, answered) for path in origin.paths)}
    if any((node.table, node.name, key) in answered for key in ("mode", "transcoding")):
        found |= _ROLES
    return frozenset(found)


def waits(flag: str, unanswered: Collection[str]) -> bool:
    """Whether a setting waits for an answer. No answer brings credentials of runners back."""
    return flag != TOKENS and flag.partition(" ")[0] in unanswered


def left_open(flag: str, service: Service) -> bool:
    """Whether a node has a setting only by default, so that nobody can have answered a question about it."""
    given = {name for name, origin in _origins(service) if origin.kind != "default"}
    return given.isdisjoint((flag, *_FOLLOWS.get(flag, ()))) and flag not in _ROLES


_ROLES = frozenset({"transcoder", "aiWorker"})
"""Settings that a mode, which is the answer, leaves out."""


def _origins(service: Service) -> list[tuple[str, Origin]]:
    """The settings that a node is given, each with where it comes from; a file has several origins."""
    variables = {flag.env: name for name, flag in FLAGS.items() if name != "datadir"}
    origins = [(argument.flag, argument.origin) for argument in service.arguments]
    origins += [(variables.get(one.name, ""), one.origin) for one in service.variables]
    origins += [(variables.get(one.name, ""), one.origin) for one in service.secrets]
    flag_of = {argument.value: argument.flag for argument in service.arguments}
    for file in service.files:
        flag = flag_of.get(f"{service.directory}/{file.name}", "")
        origins += [(flag, origin) for origin in (file.origin, *file.places.values())]
    return origins


def _within(path: Path, said: frozenset[tuple[str, ...]]) -> bool:
    words = tuple(map(str, path))
    return any(words[:length] in said for length in range(1, len(words) + 1))


def shown(value: object, most: int | None = _MOST) -> str:
    """A value for people, in so many characters."""
    if value is None or value in ("", (), {}):
        return "(unset)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        text = ", ".join(shown(item, most) for item in value)
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key}: {shown(item, most)}" for key, item in value.items())
    else:
        text = str(value)
    return leaks.shown(text if most is None or len(text) <= most else f"{text[: most - 3]}...")


def of_process(node: Running, library: Library) -> dict[str, object]:
    """What the settings of a process mean to the node, by flag."""
    texts = {flag: setting.text for flag, setting in node.settings.items()}
    home = home_of(node.process)

    def read(path: str) -> str | None:
        source = own_file(library, node.process, path).source
        return source.text if source else None

    return meaning(node.role, texts, read, home or "~", frozenset()) | _runners(texts, read, node.runners)


def of_service(role: str, service: Service) -> dict[str, object]:
    """What the settings of a compiled node mean to it, by flag."""
    texts = {argument.flag: argument.value for argument in service.arguments}
    names = {flag.env: name for name, flag in FLAGS.items() if name != "datadir"}
    for variable in service.variables:
        if variable.name in names:
            texts[names[variable.name]] = variable.value
    secrets = frozenset(names[secret.name] for secret in service.secrets if secret.name in names)
    files = {f"{service.directory}/{file.name}": json_document(file.content) for file in service.files}
    return meaning(role, texts, files.get, service.data_dir, secrets) | _runners(texts, files.get, {})


def meaning(role: str, texts: Mapping[str, str], read: Files, home: str, secrets: frozenset[str]) -> dict[str, object]:
    """What settings mean to the node, by flag."""
    found: dict[str, object] = {}
    texts = {**texts, **dict.fromkeys(secrets, SET)}
    chain = (texts.get("network") or OFFCHAIN) != OFFCHAIN
    for name, flag in FLAGS.items():
        if name in _SKIPPED:
            continue
        text = texts.get(name)
        if name in secrets or (flag.secret and text and name not in ADDRESSES):
            found[name] = SET
        elif text is None or (not text and flag.type != "string"):
            found[name] = _typed(flag.type, _default(flag.default))
        else:
            found[name] = _typed(flag.type, text)
    for name in ("ethAcctAddr", "ethOrchAddr", "priceFeedAddr", "ethController", "region"):
        found[name] = str(found[name]).lower()
    found["gateway"] = role == "gateway"
    found |= _listeners(role, texts)
    found |= _places(role, texts)
    found |= _depending(role, texts, chain, home)
    if chain:
        found |= price_lists.prices(texts, read)
    else:
        found |= dict.fromkeys(PRICED_FLAGS, "off-chain")
    found |= price_lists.models(texts, read, chain and role == "orchestrator") | _documents(texts, read)
    return found


def _default(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _typed(kind: str, text: str) -> object:
    try:
        return value_of(kind, text)
    except ValueError:
        return text


def _listeners(role: str, texts: Mapping[str, str]) -> dict[str, object]:
    scheme, http = http_listener(role, texts.get("httpAddr", ""), texts.get("serviceAddr", ""))
    found: dict[str, object] = {
        "cliAddr": _address(cli_listener(role, texts.get("cliAddr", ""))),
        "httpAddr": ("http://" if scheme == "http" else "") + _address(http),
    }
    if role == "gateway":
        found["rtmpAddr"] = _address(split(completed(texts.get("rtmpAddr", ""), LOOPBACK, RTMP)))
    return found


def _address(listener: Listener | None) -> str:
    return written(listener) if listener is not None else ""


def _places(role: str, texts: Mapping[str, str]) -> dict[str, object]:
    urls = [orchestrator_url(item) for item in texts.get("orchAddr", "").split(",") if item.strip()]
    if role in ("transcoder", "ai-worker"):
        urls = urls[:1]
    elif texts.get("orchWebhookUrl"):
        urls = []
    service = texts.get("serviceAddr", "")
    redeemer = texts.get("redeemerAddr", "")
    return {
        "orchAddr": tuple(urls),
        "serviceAddr": service_url(service) if service not in ("", "none") and role == "orchestrator" else service,
        "redeemerAddr": completed(redeemer, LOOPBACK, 8935) if redeemer else "",
        "nodes": tuple(item.strip() for item in texts.get("nodes", "").split(",") if item.strip()),
        "transcodingOptions": texts.get("transcodingOptions", str(FLAGS["transcodingOptions"].default)),
    }


def _depending(role: str, texts: Mapping[str, str], chain: bool, home: str) -> dict[str, object]:
    """Settings whose default depends on others."""
    network = texts.get("network") or OFFCHAIN
    directory = texts.get("dataDir") or default_data_dir(home, network)
    known = NETWORKS.get(network)
    found: dict[str, object] = {
        "dataDir": directory,
        "ethKeystorePath": (texts.get("ethKeystorePath") or f"{directory}/keystore") if chain else "off-chain",
        "aiModelsDir": texts.get("aiModelsDir") or f"{directory}/models",
        "ethController": (texts.get("ethController") or (known.controller if known else "")).lower(),
        "reward": boolean(texts["reward"]) if texts.get("reward") else ("if registered" if chain else False),
        "localVerify": _flag(texts, "localVerify", chain),
        "minGasPrice": _typed("int64", texts.get("minGasPrice") or str(known.min_gas_price if known else 0)),
        "hevcDecoding": _flag(texts, "hevcDecoding", None),
    }
    if "aiWorker" not in texts or texts["aiWorker"] == "false":
        found["aiModelsDir"] = "unused"
    if role == "gateway":
        http = http_listener(role, texts.get("httpAddr", ""), "")[1]
        local = http is not None and is_loopback(http[0])
        found["httpIngest"] = _flag(texts, "httpIngest", local or bool(texts.get("authWebhookUrl")))
    return found


def _flag(texts: Mapping[str, str], name: str, default: object) -> object:
    return _typed("bool", texts[name]) if texts.get(name) else default


def _documents(texts: Mapping[str, str], read: Files) -> dict[str, object]:
    found: dict[str, object] = {}
    options = texts.get("transcodingOptions", "")
    if options and read(options) is not None:
        found |= price_lists.renditions(options, read)
    images = texts.get("aiRunnerImageOverrides", "")
    found["aiRunnerImageOverrides"] = _read(images, read, documents.image_overrides)
    versions = texts.get("aiMinRunnerVersion", "")
    found["aiMinRunnerVersion"] = _read(versions, read, lambda text: sorted(documents.runner_versions(text)) or "")
    return found


def _runners(texts: Mapping[str, str], read: Files, names: Mapping[str, str]) -> dict[str, object]:
    """What each entry of a list of live runners means, by its name in the spec; the path where the list is unread."""
    path = texts.get(RUNNERS_FLAG, "")
    content = read(path) if path else None
    if content is None:
        return {}
    chain = (texts.get("network") or OFFCHAIN) != OFFCHAIN
    try:
        entries = read_list(path, content, chain).entries
    except DocumentError:
        return {}
    found: dict[str, object] = {RUNNERS_FLAG: "a list" if entries else ""}
    for entry in entries:
        name = names.get(entry.text("label"), entry.text("label"))
        found |= {f"{RUNNERS_FLAG} {name} {key}": value for key, value in entry_meaning(entry, chain).items()}
    return found


def _read(text: str, read: Files, parse: Callable[[str], Any]) -> object:
    """What a file or a text says; the text itself where the node cannot read it."""
    if not text:
        return ""
    content = read(text)
    try:
        return parse(text if content is None else content)
    except DocumentError:
        return text
