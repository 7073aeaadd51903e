"""Fills what gateways and remote signers have: listeners, how they find orchestrators, caps, renditions, a signer.

In: a `Filling`. Out: its fields.
"""

from __future__ import annotations

from fleetc.adopt.found.questions import Ask, Why
from fleetc.adopt.node import documents
from fleetc.adopt.node.documents import ModelEntry, PriceEntry
from fleetc.adopt.node.flags import number
from fleetc.adopt.node.listeners import LOOPBACK, RTMP, completed, http_listener, is_loopback, orchestrator_url, split
from fleetc.adopt.node.paths import names_document
from fleetc.adopt.node.values import flag_price, price_text, rows_of, spec_value, why_refused
from fleetc.adopt.tables.filling import Filling
from fleetc.adopt.tables.session import PIXEL_PRICE
from fleetc.language.effective import GATEWAY_HTTP, GATEWAY_RTMP
from fleetc.upstream import PIPELINES, RENDITIONS

_AI_SIGNS = ("maxPricePerCapability", "aiMinRunnerVersion", "aiProcessingRetryTimeout", "liveAIAuthWebhookUrl",
             "liveAIHeartbeatURL", "mediaMTXApiPassword", "livePaymentInterval", "liveAICapReportInterval",
             "remoteSignerUrl", "aiModels")  # fmt: skip
_VIDEO_SIGNS = ("transcodingOptions", "rtmpAddr", "maxSessions", "verifierUrl", "objectStore", "recordStore")


def fill(work: Filling, behind_signer: bool) -> None:
    """Fill the table of a gateway or a signer."""
    running = work.running
    if running.role == "gateway":
        _listeners(work)
        _renditions(work)
        work.read("aiMinRunnerVersion", "min_runner_versions", lambda text: {
            _model(work, pipeline, model): version for pipeline, model, version in documents.runner_versions(text)
        }, Why.IGNORED)  # fmt: skip
    if running.role == "gateway" or running.on("remoteDiscovery"):
        _discovery(work, behind_signer)
    if behind_signer:
        helper(work, "remoteSignerUrl", "remote-signer", "remote_signer.url", "remote_signer.signer")
    elif running.on_chain or work.process.ours:
        _caps(work)


def _listeners(work: Filling) -> None:
    """The listeners of a gateway, and whether it takes streams and requests over HTTP."""
    running = work.running
    listener = http_listener("gateway", running.text("httpAddr"), "")[1]
    ingest, webhook = running.on("httpIngest"), running.text("authWebhookUrl")
    if "httpIngest" not in running.settings:
        ingest = listener is None or is_loopback(listener[0]) or bool(webhook)
    mode = _mode(work)
    work.table.say("mode", mode if ingest else "video")
    work.listens("httpAddr", "http", listener, str(GATEWAY_HTTP))
    work.listens("rtmpAddr", "rtmp", split(completed(running.text("rtmpAddr"), LOOPBACK, RTMP)), str(GATEWAY_RTMP))
    if "httpIngest" in running.settings or webhook:
        return
    if not ingest:
        wanted = "with the AI endpoints " if mode != "video" else ""
        work.session.ledger.warn(
            "adopt-ingest-off", running.word("httpAddr").span,
            f"HTTP ingest {wanted}is off: no webhook admits streams, and the listener is not on loopback",
            'to serve them, name the webhook that admits them as auth_webhook, for AI also mode = "ai" or "dual"',
        )  # fmt: skip
    compiled = split(str(work.table.values.get("http", GATEWAY_HTTP)))
    if compiled is not None and is_loopback(compiled[0]) is not ingest:
        work.table.say("http_ingest", ingest)
        work.because("httpIngest", Why.INGEST)


def _mode(work: Filling) -> str:
    """What a gateway serves, as far as its settings show."""
    running = work.running
    variables = any(name.startswith("LIVE_AI_") for name in work.process.variables)
    ai = running.on("aiServiceRegistry") or variables or any(flag in running.settings for flag in _AI_SIGNS)
    return ("dual" if any(map(running.text, _VIDEO_SIGNS)) else "ai") if ai else "video"


def _discovery(work: Filling, behind_signer: bool) -> None:
    """How a node finds orchestrators: by its webhook, else by a fixed list, else by a registry of the chain."""
    running, registry = work.running, "aiServiceRegistry"
    if running.text("orchWebhookUrl"):
        webhook = work.in_clear("orchWebhookUrl") or work.secret("orchWebhookUrl", "discovery_webhook")
        if webhook is not None:
            work.because("orchWebhookUrl", Why.REFERENCE)
            work.give("orchWebhookUrl", "discovery", {"webhook": webhook})
        work.mistake("adopt-setting-unread", "orchAddr", Why.WEBHOOK_SAYS, "remove it")
        work.drop(registry, Why.WEBHOOK_SAYS)
    elif running.text("orchAddr"):
        if not work.unknown("orchAddr", "orchestrators"):
            urls = filter(None, (part.strip() for part in running.text("orchAddr").split(",")))
            work.give("orchAddr", "orchestrators", [reached(work, url) for url in urls])
        work.drop(registry, Why.LIST_SAYS)
    elif not running.on_chain or behind_signer:
        work.drop(registry, Why.NO_REGISTRY)
        if not behind_signer and running.role == "gateway":
            work.asks(Ask.ORCHESTRATORS, "orchestrators", "orchAddr")
    else:
        asked, ai_only = running.on(registry), work.table.values.get("mode") == "ai"
        if ai_only and not asked:
            work.table.say("mode", "dual")  # without the flag, a node that serves AI asks the registry of video
        work.give(registry, "discovery", "ai-registry" if asked and not ai_only else "registry")


def reached(work: Filling, text: str) -> str:
    """An orchestrator as the spec names it: by its name in the fleet, else by the address that the source has."""
    running, url = work.running, orchestrator_url(text)
    name = work.facts.node_at(running, "orchestrator", url)
    service = work.facts.processes[name].text("serviceAddr") if name else ""
    if name and url.rpartition("://")[2] != orchestrator_url(service).rpartition("://")[2]:
        work.because("orchAddr", Why.SERVICE_ADDRESS, service=service or "its service address")
    return name or (url if "://" in text else url.removeprefix("https://"))


def helper(work: Filling, flag: str, role: str, key: str, by_name: str = "") -> None:
    """A signer or a redeemer that a node calls: by its name in the fleet, else by its address."""
    text = work.running.text(flag)
    if not text or work.unknown(flag, key):
        return
    if role == "remote-signer":
        text = (text if "://" in text else f"https://{text}").rstrip("/")
    elif ":" not in text:
        text = f"{text}:8935"
    name, row = work.facts.node_at(work.running, role, text), rows_of(work.running.table).get(flag)
    if name:
        work.because(flag, Why.LISTENS, node=name)
        work.give(flag, by_name or key, name)
    elif row is not None and spec_value(row, text) is None:
        work.asks(Ask.NOT_IN_SPEC, key, flag, text=work.shown(flag), why=why_refused(row, text))
    else:
        work.give(flag, key, text)


def base_price(work: Filling, flag: str, key: str) -> PriceEntry | None:
    """The price of a flag for the pixels that go with it; None where a question stands in its place."""
    pixels = pixels_of(work)
    price = flag_price(work.running.text(flag) or "0", pixels or 1)
    if work.unknown(flag, key, PIXEL_PRICE):
        pass
    elif price is None or price_text(price) is None:
        work.asks(Ask.PRICE_REFUSED, key, flag, PIXEL_PRICE, text=work.shown(flag))
    elif pixels is None and price.amount:
        work.asks(Ask.PIXELS, key, flag, PIXEL_PRICE)
    else:
        work.take("pixelsPerUnit", key)
        return price
    work.drop("pixelsPerUnit", Why.PIXELS)
    return None


def pixels_of(work: Filling) -> int | None:
    """The pixels of the base price; None where no source has them, or the node takes no such number."""
    try:
        value = number(work.running.text("pixelsPerUnit") or "1")
    except ValueError:
        return None
    return int(value) if value.denominator == 1 and value > 0 else None


def _caps(work: Filling) -> None:
    """The caps of a buyer: the one of the base price, and those of models."""
    if work.running.on_chain or work.has("maxPricePerUnit"):
        cap = base_price(work, "maxPricePerUnit", "max_price")
        if cap is not None:
            work.give("maxPricePerUnit", "max_price", price_text(cap) if cap.amount else "any")
        if not work.running.text("maxPricePerUnit"):
            work.asks(Ask.ANY_PRICE, "max_price")
    work.read("maxPricePerCapability", "max_model_prices", lambda text: _model_caps(work, text), Why.IGNORED)


def _model_caps(work: Filling, text: str) -> dict[str, str]:
    """The caps of models, and of pipelines."""
    caps: dict[str, str] = {}
    for entry in documents.caps(text, pixels_of(work) or 1):
        price = price_text(entry.price) if entry.price else None
        if entry.pipeline not in PIPELINES or price is None:
            advice, flag = "write pipeline, price_per_unit and currency together", "maxPricePerCapability"
            work.mistake("adopt-document-unread", flag, Why.CAP_UNREAD, advice, pipeline=entry.pipeline)
        else:
            default = entry.model_id == "default"
            caps[entry.pipeline if default else _model(work, entry.pipeline, entry.model_id)] = price
    return caps


def _model(work: Filling, pipeline: str, model_id: str) -> str:
    """The table of a model that somebody only names."""
    return work.session.model(ModelEntry(pipeline, model_id, False, None, "", False, (), None, ""))


def _renditions(work: Filling) -> None:
    """The renditions of a file; names of built-in ones are a plain setting."""
    flag, text = "transcodingOptions", work.running.text("transcodingOptions")
    if names_document(text):
        name = work.running.name
        work.read(flag, "ladder", lambda text: work.session.ladder(documents.renditions(text), name), Why.STOPS)
    elif text and not work.running.word(flag).holes and not {*RENDITIONS}.intersection(map(str.strip, text.split(","))):
        work.mistake("adopt-value-invalid", flag, Why.NO_RENDITIONS, f'write names such as "{RENDITIONS[0]}"')
