"""The node's start-up rules that settings and files alone decide: no device, no network and no chain is asked.

In: `Settings`. Out: ids of the rules that are broken (`broken_rules`), which stop the node, and of those that leave it
running but not as asked (`notes`). Rules on JSON files and prices are in `document_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from urllib.parse import urlsplit

from tests.node import addresses, document_rules, documents, live_runners, reading, values
from tests.node.parsing import Settings

_PAYS = ("gateway", "remote-signer")
_STORE_SCHEMES = ("s3", "s3+http", "s3+https", "gs", "ipfs", "file", "w3s")
Check = Callable[[Settings], Iterator[str]]


def broken_rules(settings: Settings) -> tuple[str, ...]:
    """The ids of all rules that stop the node, in ascending order."""
    found = {rule for check in (*_CHECKS, *document_rules.CHECKS) for rule in check(settings)}
    return tuple(sorted(found))


def notes(settings: Settings) -> tuple[str, ...]:
    """What the node passes over in silence, or only logs: P6, R46, R47, R88, and "role" for a role flag it ignores."""
    return tuple(sorted({*_silences(settings), *document_rules.ignored(settings)}))


def _silences(settings: Settings) -> Iterator[str]:
    if settings.rest:
        yield "P6"
    name = reading.role(settings)
    asked = {role for flag, role in reading.ROLES if settings.on(flag)}
    together = {"orchestrator", "transcoder", "ai-worker"} if name == "orchestrator" else {name}
    if asked - together:
        yield "role"
    if name == "gateway" and not reading.on_chain(settings):
        texts = (settings.text(flag) for flag in ("orchAddr", "orchWebhookUrl", "remoteSignerUrl"))
        if not any(texts):
            yield "R88"


def _fails(read: Callable[[], object]) -> bool:
    """Whether reading a value raises ValueError."""
    try:
        read()
    except ValueError:
        return True
    return False


def _process(settings: Settings) -> Iterator[str]:
    name = reading.role(settings)
    sessions = settings.text("maxSessions")
    if sessions == "auto" and name == "orchestrator":
        if settings.on("transcoder"):
            yield "R01"
    elif _fails(lambda: _positive(sessions)):
        yield "R02"
    if settings.text("nvidia") and settings.text("netint"):
        yield "R03"
    if _fails(lambda: reading.home(settings)):
        yield "R04"
    if settings.text("nodes") and _fails(lambda: _instances(settings.text("nodes"))):
        yield "R06"
    if name == "none":
        yield "R11"
    if _fails(lambda: reading.cli_listener(settings)):
        yield "R17"


def _positive(text: str) -> None:
    if values.decimal_integer(text) <= 0:
        raise ValueError("not positive")


def _instances(text: str) -> None:
    items = addresses.split_list(text)
    if not items:
        raise ValueError("no instance")
    for item in items:
        addresses.service_url(item)


def _urls(settings: Settings) -> Iterator[str]:
    queue = settings.text("metadataQueueUri")
    if queue and not re.match("amqps?://[^/]", queue):
        yield "R12"
    for flag in ("authWebhookUrl", "liveAIAuthWebhookUrl", "remoteSignerWebhookUrl"):
        if settings.text(flag) and not addresses.is_http(settings.text(flag)):
            yield "R14"
    for flag in ("objectStore", "recordStore"):
        text = settings.text(flag)
        if text and (text.partition("://")[0] not in _STORE_SCHEMES or "://" not in text):
            yield "R15"
    runner = settings.text("liveRunnerAddr")
    if runner and not addresses.is_http(runner):
        yield "R16"


def _chain(settings: Settings) -> Iterator[str]:
    name = reading.role(settings)
    if not reading.on_chain(settings):
        if name == "remote-signer":
            yield "R09"
        return
    weights = [settings.amount(f"select{part}") for part in ("RandFreq", "StakeWeight", "PriceWeight")]
    if not abs(sum(weights) - 1) <= 0.0001:
        yield "R20"
    if not settings.text("ethUrl"):
        yield "R23"
    if settings.number("blockPollingInterval") <= 0:
        yield "R25"
    if name == "orchestrator":
        if _fails(lambda: values.big_integer(settings.text("ticketEV"))) or settings.text("ticketEV").startswith("-"):
            yield "R49"
        if _fails(lambda: values.big_integer(settings.text("maxFaceValue"))):
            yield "R50"
    if name in _PAYS:
        for flag in ("maxTicketEV", "maxTotalEV"):
            if _fails(partial(_not_negative, settings.text(flag))):
                yield "R51"
        if settings.number("depositMultiplier") <= 0:
            yield "R52"
        signer = name == "remote-signer"
        if settings.number("liveAICapReportInterval") <= 0 and (not signer or settings.on("remoteDiscovery")):
            yield "R87"


def _not_negative(text: str) -> Fraction:
    value = values.rational(text)
    if value < 0:
        raise ValueError("negative")
    return value


def _gateway(settings: Settings) -> Iterator[str]:
    name = reading.role(settings)
    webhook = settings.text("orchWebhookUrl")
    if name in _PAYS and webhook and not addresses.is_http(webhook):
        yield "R82"
    if name != "gateway":
        return
    if _fails(lambda: documents.renditions(settings.text("transcodingOptions"), settings.files)):
        yield "R80"
    signer = settings.text("remoteSignerUrl")
    if signer and _fails(lambda: addresses.url(signer if "://" in signer else f"https://{signer}")):
        yield "R81"
    verifier = settings.text("verifierUrl")
    if verifier and (
        not addresses.is_http(verifier) or not (settings.text("verifierPath") or settings.text("objectStore"))
    ):
        yield "R83"
    rtmp = addresses.completed(settings.text("rtmpAddr"), addresses.LOOPBACK, 1935)
    if _fails(lambda: reading.http_listener(settings)) or _fails(lambda: addresses.listener(rtmp)):
        yield "R85"
    if _fails(lambda: _media(settings)):
        yield "R86"


def _media(settings: Settings) -> None:
    for part in ("WHIP", "WHEP"):
        text = settings.env.get(f"LIVE_AI_{part}_ADDR", "")
        if text:
            addresses.listener(text)
    limit = settings.env.get("LIVE_AI_WHEP_MAX_SESSIONS", "")
    if limit not in ("", "unlimited"):
        _positive(limit)


def _orchestrator(settings: Settings) -> Iterator[str]:
    if reading.role(settings) != "orchestrator":
        return
    secret, service = settings.text("orchSecret"), settings.text("serviceAddr")
    live = settings.on("useLiveRunners") or bool(settings.text("liveRunnerConfig"))
    if settings.on("useLiveRunners") and not secret and not settings.text("liveRunnerConfig"):
        yield "R76"
    proxy = settings.text("liveRunnerProxyUrl")
    if live and proxy and not _template(proxy):
        yield "R77"
    if settings.text("liveRunnerConfig") and _fails(lambda: _runners(settings)):
        yield "R78"
    if live and service == "none" and not proxy:
        yield "R79"
    if service not in ("", "none") and _fails(lambda: addresses.service_url(service)):
        yield "R90"
    if service == "none" and not settings.text("nodes"):
        yield "R91"
    if not (settings.on("transcoder") or settings.on("aiWorker") or settings.text("aiModels") or secret):
        yield "R92"
    if _fails(lambda: reading.http_listener(settings)):
        yield "R93"


def _template(text: str) -> bool:
    """Whether the node takes a template for addresses of live runners: {proxy} in the host, or as the last segment."""
    if text.strip().count("{proxy}") != 1:
        return False
    parts = urlsplit(text.strip().replace("{proxy}", "p-r-o-x-y"))
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return False
    segments = parts.path.split("/")
    last = segments[-1] or segments[-2:][0]
    return ("p-r-o-x-y" in parts.netloc) != (last == "p-r-o-x-y")


def _runners(settings: Settings) -> None:
    text = settings.files.get(settings.text("liveRunnerConfig"), "")
    if live_runners.refusal(text, settings.text("network") != "offchain") is not None:
        raise ValueError("a document that the node refuses")


def _workers(settings: Settings) -> Iterator[str]:
    if reading.role(settings) in ("transcoder", "ai-worker") and not (
        settings.text("orchSecret") and addresses.split_list(settings.text("orchAddr"))
    ):
        yield "R95"


def _signer(settings: Settings) -> Iterator[str]:
    if reading.role(settings) != "remote-signer":
        return
    host = addresses.completed(settings.text("httpAddr"), addresses.LOOPBACK, 8935).rpartition(":")[0]
    local = host in ("localhost", "::1", "[::1]") or host.startswith("127.")
    if not (local or settings.text("remoteSignerWebhookUrl") or settings.on("remoteSignerAllowNoAuth")):
        yield "R98"


_CHECKS: tuple[Check, ...] = (_process, _urls, _chain, _gateway, _orchestrator, _workers, _signer)
