"""Fills what gateways and remote signers have: listeners, how they find orchestrators, caps, renditions, a signer.

In: a `Filling`. Out: its fields. Off-chain nobody pays, so caps are left out there, with the reason.
"""

from __future__ import annotations

from typing import Any

from fleetc.adopt.found.words import Brief, Same
from fleetc.adopt.node import documents
from fleetc.adopt.node.documents import DocumentError, ModelEntry
from fleetc.adopt.node.flags import number
from fleetc.adopt.node.listeners import (
    LOOPBACK,
    RTMP,
    completed,
    http_listener,
    is_loopback,
    orchestrator_url,
    split,
)  # fmt: skip
from fleetc.adopt.node.reading import in_file, missing, names_document
from fleetc.adopt.node.values import rows_of, takes_text
from fleetc.adopt.report.compare import QUESTION
from fleetc.adopt.tables.filling import Filling
from fleetc.adopt.tables.links import LISTENS, loopback_port
from fleetc.adopt.tables.listening import helper_http, open_listener, say_listener
from fleetc.adopt.tables.session import PIXEL_PRICE, flag_price, price_text
from fleetc.language.effective import GATEWAY_HTTP, GATEWAY_RTMP
from fleetc.text import leaks
from fleetc.upstream import PIPELINES, RENDITIONS

_AI_SIGNS = ("maxPricePerCapability", "aiMinRunnerVersion", "aiProcessingRetryTimeout", "liveAIAuthWebhookUrl",
             "liveAIHeartbeatURL", "mediaMTXApiPassword", "livePaymentInterval", "liveAICapReportInterval",
             "remoteSignerUrl", "aiModels")  # fmt: skip
_VIDEO_SIGNS = ("transcodingOptions", "rtmpAddr", "maxSessions", "verifierUrl", "objectStore", "recordStore")
_SELECTION = ("selectRandFreq", "selectStakeWeight", "selectPriceWeight", "selectPriceExpFactor", "minPerfScore",
              "orchPerfStatsUrl", "region", "ignoreMaxPriceIfNeeded", "maxTicketEV", "maxTotalEV", "depositMultiplier",
              "priceFeedAddr", "blockPollingInterval")  # fmt: skip


def fill(work: Filling, behind_signer: bool) -> None:
    """Fill the table of a gateway or a signer."""
    running = work.running
    gateway = running.role == "gateway"
    if gateway:
        ingest = _ingests(work)
        work.say("mode", _mode(work) if ingest else "video")
        _listeners(work)
        _ingest(work, ingest)
        _renditions(work)
        _runner_versions(work)
    else:
        helper_http(work)
    if gateway or running.on("remoteDiscovery"):
        _discovery(work, behind_signer)
    else:
        for flag in ("orchAddr", "orchWebhookUrl", "aiServiceRegistry", "orchBlocklist", "extraNodes",
                     "discoveryTimeout", "liveAICapReportInterval"):  # fmt: skip
            if work.has(flag):
                _unread(work, flag, "a signer finds orchestrators only with -remoteDiscovery")
    if gateway and behind_signer:
        _signer(work)
    _caps(work, behind_signer)
    if behind_signer:
        for flag in _SELECTION:
            if work.has(flag):
                work.drop(flag, Same("behind a signer a gateway runs off-chain, where this does nothing"))
    elif not running.on_chain and not work.process.ours:
        for flag in ("maxTicketEV", "maxTotalEV", "depositMultiplier", "blockPollingInterval", "priceFeedAddr"):
            if work.has(flag):
                _unread(work, flag, "off-chain nobody pays")


def _unread(work: Filling, flag: str, why: str) -> None:
    work.mistake("adopt-setting-unread", flag, f"-{flag} does nothing: {why}", "remove it")


def _ingests(work: Filling) -> bool:
    """Whether the node takes streams and requests over HTTP today."""
    running = work.running
    if "httpIngest" in running.settings:
        return running.on("httpIngest")
    _, listener = http_listener("gateway", running.text("httpAddr"), "")
    return listener is None or is_loopback(listener[0]) or bool(running.text("authWebhookUrl"))


def _ingest(work: Filling, ingest: bool) -> None:
    """What nobody says about HTTP ingest, where the listener in the spec would decide it in another way."""
    running = work.running
    if "httpIngest" in running.settings or running.text("authWebhookUrl"):
        return
    if not ingest:
        word = running.word("httpAddr")
        wanted = "with the AI endpoints " if _mode(work) != "video" else ""
        work.session.ledger.warn(
            "adopt-ingest-off", word.span,
            f"HTTP ingest {wanted}is off: no webhook admits streams, and the listener is not on loopback",
            'to serve them, write http_ingest = true, for AI also mode = "ai" or "dual"',
        )  # fmt: skip
    said = split(str(work.table.values.get("http", GATEWAY_HTTP)))
    if said is not None and is_loopback(said[0]) is not ingest:
        work.say("http_ingest", ingest)
        running.reasons.setdefault("httpIngest", "it stays as it is today, at another listener")


def _mode(work: Filling) -> str:
    """What a gateway serves, as far as its settings show."""
    running = work.running
    variables = any(name.startswith("LIVE_AI_") for name in work.process.variables)
    ai = running.on("aiServiceRegistry") or variables or any(flag in running.settings for flag in _AI_SIGNS)
    video = any(running.text(flag) for flag in _VIDEO_SIGNS)
    if ai:
        return "dual" if video else "ai"
    return "video"


def _listeners(work: Filling) -> None:
    running = work.running
    if not (work.has("httpAddr") and work.unknown("httpAddr", "http")):
        _, listener = http_listener("gateway", running.text("httpAddr"), "")
        listener = open_listener(work, "httpAddr", listener, "HTTP listener")
        if listener is None:
            work.ask("http", "the node cannot listen where the source says", "httpAddr", '"127.0.0.1:9935"')
        else:
            say_listener(work, "httpAddr", "http", listener, str(GATEWAY_HTTP))
    if not (work.has("rtmpAddr") and work.unknown("rtmpAddr", "rtmp")):
        listener = split(completed(running.text("rtmpAddr"), LOOPBACK, RTMP))
        listener = open_listener(work, "rtmpAddr", listener, "RTMP listener")
        if listener is None:
            work.ask("rtmp", "the node cannot listen where the source says", "rtmpAddr", '"127.0.0.1:1935"')
            return
        say_listener(work, "rtmpAddr", "rtmp", listener, str(GATEWAY_RTMP))


def _discovery(work: Filling, behind_signer: bool) -> None:
    running = work.running
    if running.text("orchWebhookUrl"):
        word = running.word("orchWebhookUrl")
        plain = leaks.find(word.text, "orchWebhookUrl") is None and not word.holes
        row = rows_of("gateways")["authWebhookUrl"]  # the same kind of address
        ours = work.process.secrets.get("LP_ORCHWEBHOOKURL")
        value: Any = (
            word.text
            if plain and not ours and takes_text(row, word.text)
            else work.hidden("orchWebhookUrl", "discovery")
        )
        work.say("discovery", {"webhook": value})
        running.reasons.setdefault("orchWebhookUrl", Same("a reference in the spec has the same value"))
        work.take("orchWebhookUrl", "discovery")
        if work.has("orchAddr"):
            _unread(work, "orchAddr", "the node asks its webhook instead")
        if work.has("aiServiceRegistry"):
            work.drop("aiServiceRegistry", "a webhook says which orchestrators there are")
        return
    work.take("orchWebhookUrl", "")
    if running.text("orchAddr"):
        if work.unknown("orchAddr", "orchestrators"):
            return
        _orchestrators(work)
        if work.has("aiServiceRegistry"):
            work.drop("aiServiceRegistry", "a fixed list of orchestrators is given, so no registry is asked")
        return
    work.take("orchAddr", "")
    registry = running.on("aiServiceRegistry")
    if not running.on_chain or behind_signer:
        if "aiServiceRegistry" in running.settings:
            work.drop("aiServiceRegistry", "there is no registry off-chain")
        if not behind_signer and running.role == "gateway":
            work.ask("orchestrators", "off-chain a gateway finds nobody without a list",
                     example='["https://orch.example.net:8935"]')  # fmt: skip
            running.reasons["orchAddr"] = "a question is left: which orchestrators it uses"
        return
    ai_only = work.table.values.get("mode") == "ai"
    if registry and not ai_only:
        work.say("discovery", "ai-registry")
    elif registry or not ai_only:
        work.say("discovery", "registry")
    else:  # without the flag, a node that serves AI only still asks the registry for video
        work.say("mode", "dual")
        work.say("discovery", "registry")
    work.take("aiServiceRegistry", "discovery")


def _orchestrators(work: Filling) -> None:
    """The fixed list: names of this fleet where an address is that of an adopted orchestrator."""
    word = work.running.word("orchAddr")
    found: list[str] = []
    for item in filter(None, (part.strip() for part in word.text.split(","))):
        url = orchestrator_url(item)
        name = work.facts.orchestrator_at(work.running, url)
        if name:
            found.append(name)
            note_service_address(work, name, url)
        else:
            found.append(item.rstrip("/"))
    work.say("orchestrators", found)
    work.take("orchAddr", "orchestrators")


_LOOK = Brief(
    "the same orchestrator; make sure that the host reaches it there (curl -k)",
    "the same orchestrator; try curl -k from the host",
)
"""Why to look at the address of an orchestrator that was called by a name, or at loopback."""


def note_service_address(work: Filling, name: str, url: str) -> None:
    """Say that a node reaches an orchestrator of its fleet by another address from now on."""
    if work.facts.services.get(url) == name:
        return
    work.running.reasons["orchAddr"] = Same("it has the service address of that orchestrator")
    host = (split(url.partition("://")[2]) or ("", 0))[0]
    service = leaks.shown(work.facts.processes[name].text("serviceAddr")) or "its service address"
    if loopback_port(work.running, url) is not None:
        work.session.ledger.remark(
            "adopt-name-unreached", work.running.word("orchAddr").span,
            f"{work.running.name} reaches {name} on the same host at {service} from now on, and no longer at loopback",
            f"make sure that this host reaches {service} itself; curl -k shows it", elsewhere=True,
        )  # fmt: skip
        work.running.reasons["orchAddr"] = _LOOK
        return
    if (work.process.span.source, host) not in work.facts.peers or work.process.runtime != "docker":
        return
    work.session.ledger.remark(
        "adopt-name-unreached", work.running.word("orchAddr").span,
        f"in the network of the host no other is called {leaks.shown(host)}: "
        f"{work.running.name} reaches {name} at {service}",
        f"make sure that this host reaches {service} itself; curl -k shows it", elsewhere=True,
    )  # fmt: skip
    work.running.reasons["orchAddr"] = _LOOK


def _signer(work: Filling) -> None:
    flag = "remoteSignerUrl"
    if work.unknown(flag, "remote_signer.url"):
        return
    url = work.running.text(flag)
    url = (url if "://" in url else f"https://{url}").rstrip("/")
    name = work.facts.helper_at(work.running, work.facts.signers, url, "remote-signer")
    if name:
        work.running.reasons[flag] = LISTENS.format(name)
        work.say("remote_signer.signer", name)
    elif takes_text(rows_of("gateways")[flag], url):
        work.say("remote_signer.url", url)
    else:
        work.mistake("adopt-value-invalid", flag, "this is no address of a signer, and the node stops at its start",
                     'write remote_signer = { url = "http://signer.example.net:8935" }')  # fmt: skip
        if "orchestrators" not in work.table.values and "discovery" not in work.table.values:
            work.ask("orchestrators", "off-chain a gateway finds nobody without a list",
                     example='["https://orch.example.net:8935"]')  # fmt: skip
            work.running.reasons["orchAddr"] = "a question is left: which orchestrators it uses"
        return
    work.take(flag, "remote_signer")


def _caps(work: Filling, behind_signer: bool) -> None:
    running = work.running
    flags = ("maxPricePerUnit", "pixelsPerUnit", "maxPricePerCapability")
    if behind_signer or (not running.on_chain and not work.process.ours):
        why = "the signer compares prices" if behind_signer else "off-chain nobody pays"
        for flag in flags:
            if work.has(flag):
                work.drop(flag, why)
        return
    pixels = pixels_of(work)
    if not running.on_chain and not work.has("maxPricePerUnit"):
        work.take("pixelsPerUnit", "")
    elif work.has("maxPricePerUnit") and (running.word("maxPricePerUnit").holes or pixels is None):
        if not work.unknown("maxPricePerUnit", "max_price", PIXEL_PRICE):
            work.ask("max_price", "the source leaves its pixels open", "maxPricePerUnit", PIXEL_PRICE)
        account_for_pixels(work, "maxPricePerUnit", "max_price")
    else:
        text = running.text("maxPricePerUnit") or "0"
        price = flag_price(text, pixels or 1)
        shown = price_text(price) if price is not None else None
        if price is not None and price.amount == 0:
            work.say("max_price", "any")
            if not running.text("maxPricePerUnit"):
                work.table.ask("TODO max_price: today it pays any price, because nothing sets a cap")
        elif shown is None:
            work.ask_price("max_price", "maxPricePerUnit", refused=price is None)
        else:
            work.say("max_price", shown)
        if work.has("maxPricePerUnit"):
            work.take("maxPricePerUnit", "max_price")
        account_for_pixels(work, "maxPricePerUnit", "max_price")
    if running.text("maxPricePerCapability"):
        _model_caps(work, pixels or 1)


def account_for_pixels(work: Filling, flag: str, key: str) -> None:
    """Account for the pixels of a price: they are understood or asked for with it."""
    if work.running.reasons.get(flag, "").startswith(QUESTION):
        work.leave_open("pixelsPerUnit", key, "the pixels of the price")
    else:
        work.take("pixelsPerUnit", key)


def pixels_of(work: Filling) -> int | None:
    """The pixels of the base price; None where they are unknown or none that the node takes."""
    text = work.running.text("pixelsPerUnit") or "1"
    if "pixelsPerUnit" in work.running.settings and work.running.word("pixelsPerUnit").holes:
        return None
    try:
        value = number(text)
    except ValueError:
        return None
    return int(value) if value.denominator == 1 and value > 0 else None


def _model_caps(work: Filling, pixels: int) -> None:
    flag = "maxPricePerCapability"
    word = work.running.word(flag)
    text, source = word.text, None
    if names_document(text):
        source = work.document(flag)
        if source is None:
            missing(word, "the file with caps by model", work.session.ledger)
            work.ask("max_model_prices", in_file(text), flag, '{ model = "..." }', warn=False)
            return
        text = source.text
    try:
        entries = documents.caps(text, pixels)
    except DocumentError as problem:
        work.damaged(flag, source, problem, Same("the node ignores all caps by model"), "repair the JSON")
        return
    said: dict[str, Any] = {}
    for cap in entries:
        shown = price_text(cap.price) if cap.price else None
        if cap.pipeline not in PIPELINES or shown is None:
            work.mistake("adopt-document-unread", flag,
                         f"the cap for {leaks.shown(cap.pipeline)} has no price, or no pipeline of the node",
                         "write pipeline, price_per_unit and currency together")  # fmt: skip
            continue
        key = (
            cap.pipeline
            if cap.model_id == "default"
            else work.session.model(ModelEntry(cap.pipeline, cap.model_id, False, None, "", False, (), None, ""))
        )
        said[key] = shown
    if said:
        work.say("max_model_prices", said)
    work.take(flag, "max_model_prices")


def _renditions(work: Filling) -> None:
    flag = "transcodingOptions"
    if not work.has(flag) or work.unknown(flag, "ladder"):
        return
    word = work.running.word(flag)
    source = work.document(flag)
    if source is None and not names_document(word.text):
        names = [item.strip() for item in word.text.split(",")]
        if not any(name in RENDITIONS for name in names):
            work.mistake("adopt-value-invalid", flag, "the node knows none of these renditions, and stops at its start",
                         f'write names such as "{RENDITIONS[0]}", or a ladder')  # fmt: skip
        return  # names of built-in renditions are a plain setting
    if source is None:
        missing(word, "the file with renditions", work.session.ledger)
        work.ask("ladder", in_file(word.text), flag, warn=False)
        return
    try:
        profiles = documents.renditions(source.text)
    except DocumentError as problem:
        work.damaged(flag, source, problem, "the node stops at its start", "repair the JSON")
        return
    work.say("ladder", work.session.ladder(profiles, f"{work.running.name}"))
    work.take(flag, "ladder")


def _runner_versions(work: Filling) -> None:
    flag = "aiMinRunnerVersion"
    if not work.has(flag) or work.running.text(flag) in ("", "[]"):
        work.take(flag, "the node's own default")
        return
    if work.unknown(flag, "min_runner_versions"):
        return
    try:
        entries = documents.runner_versions(work.running.text(flag))
    except DocumentError as problem:
        work.mistake("adopt-document-unread", flag, f"the node ignores all of it: {problem}", "repair the JSON")
        return
    said = {
        work.session.model(ModelEntry(pipeline, model, False, None, "", False, (), None, "")): version
        for pipeline, model, version in entries
    }
    work.say("min_runner_versions", said)
    work.take(flag, "min_runner_versions")
