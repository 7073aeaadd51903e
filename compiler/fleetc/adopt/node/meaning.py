"""What the settings of a process mean to the node, as the node reads them, with its own defaults filled in.

In: a process, or the service of a compiled node. Out: values by flag. Lists have the prices in force: where an entry
leaves something out, the node takes it from its base price. Each key of a live runner is a setting of its own. Of an
address in clear, only where it leads is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import SET
from fleetc.adopt.node import documents, listeners, runner_list
from fleetc.adopt.node.documents import DocumentError, ModelEntry, PriceEntry
from fleetc.adopt.node.flags import BY_VARIABLE, value_of
from fleetc.adopt.node.paths import default_data_dir, home_of, own_file
from fleetc.adopt.node.settings import ADDRESSES, NO_SETTINGS, OFFCHAIN, PRICED_FLAGS, Running, is_known
from fleetc.adopt.node.values import flag_amount, flag_price, price_text
from fleetc.blueprint.blueprint import Service
from fleetc.emit.artifacts import json_document
from fleetc.upstream import FLAGS, NETWORKS

Files = Callable[[str], str | None]
_Value = TypeVar("_Value")

_MODELS, _CAPS, _OF_GATEWAYS, _RENDITIONS = "aiModels", "maxPricePerCapability", "pricePerGateway", "transcodingOptions"
TOKENS = f"{_MODELS} token"
"""Stands for the credentials of runners in a list of models: those that have one."""
_NODES_OWN = {"fpsDen": 1, "quality": 0, "encoder": "H.264", "fps": 0}
"""What a rendition has that does not say it."""


def of_process(node: Running, library: Library) -> dict[str, object]:
    """What the settings of a process mean to the node, by flag."""
    texts = {flag: setting.text for flag, setting in node.settings.items()}

    def read(path: str) -> str | None:
        source = own_file(library, node.process, path).source
        return source.text if source else None

    return _meaning(node.role, texts, read, home_of(node.process) or "~", frozenset(), node.runners)


def of_service(role: str, service: Service) -> dict[str, object]:
    """What the settings of a compiled node mean to it, by flag."""
    texts = {argument.flag: argument.value for argument in service.arguments}
    texts |= {BY_VARIABLE[one.name]: one.value for one in service.variables if one.name in BY_VARIABLE}
    secrets = frozenset(BY_VARIABLE[one.name] for one in service.secrets if one.name in BY_VARIABLE)
    files = {f"{service.directory}/{file.name}": json_document(file.content) for file in service.files}
    return _meaning(role, texts, files.get, service.data_dir, secrets, {})


def _meaning(
    role: str, texts: Mapping[str, str], read: Files, home: str, secrets: frozenset[str], runners: Mapping[str, str]
) -> dict[str, object]:
    values: dict[str, object] = {}
    texts = {**texts, **dict.fromkeys(secrets, SET)}
    chain = (texts.get("network") or OFFCHAIN) != OFFCHAIN
    for name, flag in FLAGS.items():
        text = texts.get(name)
        if name in secrets or (flag.secret and text and name not in ADDRESSES):
            values[name] = SET
        elif name not in NO_SETTINGS:
            values[name] = _typed(flag.type, text if flag.type == "string" else text or None, name)
    for name in ("ethAcctAddr", "ethOrchAddr", "priceFeedAddr", "ethController", "region"):
        values[name] = str(values[name]).lower()
    values |= {"gateway": role == "gateway", "maxSessions": str(values["maxSessions"]).lstrip("0")}
    values |= _addresses(role, texts) | _depending(role, texts, chain, home)
    values |= _prices(texts, read) if chain else dict.fromkeys(PRICED_FLAGS, "off-chain")
    values |= _models(texts, read, chain and role == "orchestrator")
    if read(texts.get(_RENDITIONS, "")) is not None:
        values[_RENDITIONS] = _parsed(texts[_RENDITIONS], read, _renditions)
    values["aiRunnerImageOverrides"] = _parsed(texts.get("aiRunnerImageOverrides", ""), read, documents.image_overrides)
    versions = _parsed(texts.get("aiMinRunnerVersion", ""), read, lambda text: sorted(documents.runner_versions(text)))
    listed = _parsed(texts.get(runner_list.FLAG, ""), read, _runners(runners, chain))
    values |= {"aiMinRunnerVersion": versions or "", runner_list.FLAG: listed}
    return values | (listed | {runner_list.FLAG: bool(listed)} if isinstance(listed, dict) else {})


def _typed(kind: str, text: str | None, name: str = "") -> object:
    """A text as the node reads it; the default of a flag for none."""
    if text is None:
        default = FLAGS[name].default
        text = str(default).lower() if isinstance(default, bool) else str(default)
    try:
        return value_of(kind, text)
    except ValueError:
        return text


def _addresses(role: str, texts: Mapping[str, str]) -> dict[str, object]:
    def at(listener: listeners.Listener | None) -> str:
        return listeners.written(listener) if listener is not None else ""

    scheme, http = listeners.http_listener(role, texts.get("httpAddr", ""), texts.get("serviceAddr", ""))
    urls = [listeners.orchestrator_url(item) for item in _items(texts, "orchAddr")]
    if role in ("transcoder", "ai-worker"):
        urls = urls[:1]
    service, redeemer = texts.get("serviceAddr", ""), texts.get("redeemerAddr", "")
    advertised = service not in ("", "none") and role == "orchestrator"
    rtmp = listeners.split(listeners.completed(texts.get("rtmpAddr", ""), listeners.LOOPBACK, listeners.RTMP))
    return {
        "cliAddr": at(listeners.cli_listener(role, texts.get("cliAddr", ""))),
        "httpAddr": ("http://" if scheme == "http" else "") + at(http),
        **({"rtmpAddr": at(rtmp)} if role == "gateway" else {}),
        "orchAddr": () if texts.get("orchWebhookUrl") and role not in ("transcoder", "ai-worker") else tuple(urls),
        "serviceAddr": listeners.service_url(service) if advertised else service,
        "redeemerAddr": listeners.completed(redeemer, listeners.LOOPBACK, 8935) if redeemer else "",
        "nodes": tuple(_items(texts, "nodes")),
        _RENDITIONS: texts.get(_RENDITIONS, str(FLAGS[_RENDITIONS].default)),
    }


def _items(texts: Mapping[str, str], flag: str) -> list[str]:
    return [item.strip() for item in texts.get(flag, "").split(",") if item.strip()]


def _depending(role: str, texts: Mapping[str, str], chain: bool, home: str) -> dict[str, object]:
    """Settings whose default depends on others."""

    def flag(name: str, default: object) -> object:
        return _typed("bool", texts[name]) if texts.get(name) else default

    network = texts.get("network") or OFFCHAIN
    directory = texts.get("dataDir") or default_data_dir(home, network)
    known = NETWORKS.get(network)
    works = texts.get("aiWorker", "false") != "false"
    values: dict[str, object] = {
        "dataDir": directory,
        "ethKeystorePath": (texts.get("ethKeystorePath") or f"{directory}/keystore") if chain else "off-chain",
        "aiModelsDir": (texts.get("aiModelsDir") or f"{directory}/models") if works else "unused",
        "ethController": (texts.get("ethController") or (known.controller if known else "")).lower(),
        "reward": flag("reward", "if registered" if chain else False),
        "localVerify": flag("localVerify", chain),
        "minGasPrice": _typed("int64", texts.get("minGasPrice") or str(known.min_gas_price if known else 0)),
        "hevcDecoding": flag("hevcDecoding", None),
    }
    if role == "gateway":
        http = listeners.http_listener(role, texts.get("httpAddr", ""), "")[1]
        local = http is not None and listeners.is_loopback(http[0])
        values["httpIngest"] = flag("httpIngest", local or bool(texts.get("authWebhookUrl")))
    return values


def _parsed(text: str, read: Files, parse: Callable[[str], _Value]) -> _Value | str:
    """What a text says, or the file that it names; the text itself where the node cannot read it, and "" for none."""
    content = read(text) if text else None
    try:
        return parse(text if content is None else content) if text else ""
    except DocumentError:
        return text


def _runners(names: Mapping[str, str], chain: bool) -> Callable[[str], dict[str, object]]:
    """What each key of a list of live runners means, by the name that its entry has in the spec."""

    def parse(text: str) -> dict[str, object]:
        entries, _ = runner_list.read_list("", text, chain)
        labels = [names.get(entry.text("label"), entry.text("label")) for entry in entries]
        meanings = [runner_list.meaning(entry, chain) for entry in entries]
        pairs = zip(labels, meanings, strict=True)
        return {f"{runner_list.FLAG} {label} {key}": value for label, keys in pairs for key, value in keys.items()}

    return parse


# ------------------------------------------------------------------------------------------ prices and lists


@dataclass(frozen=True, slots=True)
class Rate:
    """A price for one pixel, or unit of work; `text` is how people write it."""

    worth: Fraction
    currency: str
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text


def _rate(price: PriceEntry) -> Rate:
    plain = f"{price.amount} {price.currency} / {price.pixels} pixels"
    return Rate(Fraction(price.amount) / price.pixels, price.currency, price_text(price) or plain)


def _pixels(texts: Mapping[str, str]) -> int:
    """The pixels of the base price, and of all prices that say none of their own."""
    pixels = _typed("float", texts.get("pixelsPerUnit") or "1")
    return int(pixels) if isinstance(pixels, Fraction) and pixels > 0 else 1


def _base(texts: Mapping[str, str], flag: str) -> PriceEntry | None:
    """The price that a flag says; None where it says none that the node takes."""
    return flag_price(texts.get(flag, ""), _pixels(texts))


def _prices(texts: Mapping[str, str], read: Files) -> dict[str, object]:
    """The prices of flags, and of the lists of prices."""

    def caps(text: str) -> dict[str, object]:
        amount = flag_amount(texts.get("maxPricePerUnit") or "0") or Decimal(0)
        entries = documents.caps(text, _pixels(texts), amount)
        return {f"{one.pipeline} {one.model_id}": _rate(one.price) if one.price else "any" for one in entries}

    def of_gateways(text: str) -> dict[str, object]:
        return {account.lower(): _rate(one) for account, one in documents.gateway_prices(text).items()}

    highest, price = _base(texts, "maxPricePerUnit"), _base(texts, "pricePerUnit")
    values: dict[str, object] = {
        "maxPricePerUnit": texts.get("maxPricePerUnit") or "any", "pricePerUnit": texts.get("pricePerUnit"),
    }  # fmt: skip
    values |= {"maxPricePerUnit": _rate(highest) if highest.amount else "any"} if highest else {}
    values |= {"pricePerUnit": _rate(price)} if price else {}
    listed = texts.get(_OF_GATEWAYS) or texts.get("pricePerBroadcaster", "")
    return values | {
        _CAPS: _parsed(texts.get(_CAPS, ""), read, caps) or "", _OF_GATEWAYS: _parsed(listed, read, of_gateways) or "",
    }  # fmt: skip


def _models(texts: Mapping[str, str], read: Files, sells: bool) -> dict[str, object]:
    """The models of a list, with their prices where the node `sells` them: only an orchestrator on a chain does."""
    base = _base(texts, "pricePerUnit")
    tokens: list[str] = []

    def sold(entry: ModelEntry) -> Rate | None:
        own = entry.price if entry.price is not None and entry.price.amount else None
        price = own or (base if base is not None and base.amount else entry.price)
        return _rate(price) if price is not None and sells else None

    def parse(text: str) -> tuple[dict[str, object], ...]:
        entries: list[dict[str, object]] = []
        for one in documents.models(text, _pixels(texts)):
            gateway = f" for {one.gateway}" if one.gateway not in ("", "default") else ""
            values = {
                "price": sold(one), "warm": one.warm, "capacity": one.capacity, "url": one.url,
                "optimization_flags": one.optimization if one.warm else (),
            }  # fmt: skip
            given = {key: value for key, value in values.items() if value not in (None, "", ())}
            entries.append({f"{one.pipeline} {one.model_id}{gateway}": given})
            tokens.extend([f"{one.model_id}: {SET}"] if one.token else [])
        return tuple(entries)

    values: dict[str, object] = {_MODELS: _parsed(texts.get(_MODELS, ""), read, parse) or ""}
    return values | ({TOKENS: tuple(tokens)} if tokens else {})


def _renditions(text: str) -> tuple[dict[str, object], ...]:
    """The renditions of a file, without what the node takes for one that does not say it."""
    return tuple(
        {str(one["name"]): {k: v for k, v in one.items() if k != "name" and _NODES_OWN.get(k, ...) != v}}
        for one in documents.renditions(text)
    )


# ------------------------------------------------------------------------------------------------ comparing


def fill_caps(before: dict[str, object], after: dict[str, object]) -> None:
    """Give each side of a gateway the caps that only the other lists, as it looks them up: for a model without a cap it
    takes that of the `default` model of its pipeline, and else its base cap. A request is for one model.
    """
    listed = [side.get(_CAPS) or {} for side in (before, after)]
    for side, own in zip((before, after), listed, strict=True):
        caps: dict[str, object] = {}
        for name in (name for caps_of in listed if isinstance(caps_of, Mapping) for name in caps_of):
            if not isinstance(own, Mapping):
                return
            usual = own.get(f"{name.partition(' ')[0]} default", "any")
            caps[name] = own.get(name, side.get("maxPricePerUnit") if usual == "any" else usual)
        side[_CAPS] = caps or side.get(_CAPS)


def compare_addresses(one: Running, today: MutableMapping[str, object], compiled: MutableMapping[str, object]) -> None:
    """Put where they lead, or SET, in place of the addresses that a node has today and those of a compiled node.

    A reference has the address of today, unless the spec asks which one it has.
    """
    for flag in ADDRESSES:
        made, text = compiled.get(flag), one.text(flag)
        asked = flag in one.reasons and one.reasons[flag].asked
        if not is_known(one, flag) or not made or made == text or (made == SET and not asked):
            today[flag], compiled[flag] = (SET if value else value for value in (today.get(flag), made))
        else:
            ours, theirs = listeners.site_of(text), listeners.site_of(str(made))
            there = theirs if ours != theirs else "another address there"
            today[flag], compiled[flag] = ours, "the address in its reference" if made == SET else there
