"""What the settings of a process mean to the node, as the node reads them, with its own defaults filled in.

In: a process, or the service of a compiled node. Out: values by flag; of a list, each entry is a setting of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fleetc.adopt.found.library import Library
from fleetc.adopt.found.words import SET
from fleetc.adopt.node import documents, price_lists
from fleetc.adopt.node.documents import DocumentError
from fleetc.adopt.node.flags import boolean, value_of
from fleetc.adopt.node.host_paths import default_data_dir, home_of
from fleetc.adopt.node.listeners import (
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
from fleetc.adopt.node.own_files import own_file
from fleetc.adopt.node.price_lists import Files
from fleetc.adopt.node.reading import OFFCHAIN, Running
from fleetc.adopt.node.rpc import ADDRESSES
from fleetc.adopt.node.runner_list import FLAG as RUNNERS_FLAG
from fleetc.adopt.node.runner_list import meaning as entry_meaning
from fleetc.adopt.node.runner_list import read_list
from fleetc.blueprint.blueprint import Service
from fleetc.emit.artifacts import json_document
from fleetc.upstream import FLAGS, NETWORKS

_SKIPPED = frozenset({"config", "version", "j", "broadcaster", "datadir", "pixelsPerUnit", "pricePerBroadcaster"})
PRICED_FLAGS = frozenset({"maxPricePerUnit", "maxPricePerCapability", "pricePerUnit", "pricePerGateway", "ticketEV",
                           "maxFaceValue", "maxTicketEV", "maxTotalEV", "depositMultiplier", "autoAdjustPrice",
                           "priceFeedAddr", "selectRandFreq", "selectStakeWeight", "selectPriceWeight"})  # fmt: skip


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
