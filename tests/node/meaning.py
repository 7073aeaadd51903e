"""What a set of settings means to the node: one comparable value for each flag, with the node's own defaults filled in.

In: words, variables and files (`meaning`), or `Settings` (`understand`). Out: `Meaning`. Two ways to write the same
thing give equal values: listeners and addresses completed, files read, durations in nanoseconds, prices as exact
rationals for one pixel. A value that the node cannot interpret keeps its text; `broken_rules` says what follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TypeVar

from tests.node import addresses, documents, prices, reading, rules, values
from tests.node.addresses import LOOPBACK, SERVICE_PORT
from tests.node.parsing import Settings, StartupError, read

T = TypeVar("T")

_CONTROLLERS = {"arbitrum-one-mainnet": "0xd8e8328501e9645d16cf49539efc04f734606ee4"}
_BUILT_IN = ("mainnet", "rinkeby", "arbitrum-one-rinkeby")
_ACCOUNTS = ("ethAcctAddr", "ethOrchAddr", "priceFeedAddr")
_SECRET_OR_PATH = ("orchSecret", "ethPassword", "FVfailGskey")
_HEADERS = ("remoteSignerHeaders", "remoteSignerWebhookHeaders", "liveAIHeartbeatHeaders")
_RATIONALS = ("maxTicketEV", "maxTotalEV")
_INTEGERS = ("ticketEV", "maxFaceValue")
_FOLDED = {"broadcaster", "datadir", "pricePerBroadcaster", "pixelsPerUnit", "config", "version", "j"}
"""Flags that show in the value of another one."""
_NOT_SETTINGS = re.compile("LP_.*|HOME|PATH|LANG|LC_.*|USER")


@dataclass(frozen=True)
class Meaning:
    """`values` by flag, and by "env NAME" for other variables; `role` decides; `notes` as `rules.notes` gives them."""

    role: str
    notes: tuple[str, ...]
    values: Mapping[str, object] = field(default_factory=dict)

    def differences(self, other: Meaning) -> dict[str, tuple[object, object]]:
        """The flags that mean something else in the other one, with both values."""
        names = sorted({*self.values, *other.values})
        pairs = {name: (self.values.get(name), other.values.get(name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def meaning(
    words: Sequence[str], env: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
) -> Meaning:
    """What the node makes of a command line, its environment and files. Raises StartupError when it would not run."""
    settings = read(words, env, files)
    broken = rules.broken_rules(settings)
    if broken:
        raise StartupError(*broken)
    return understand(settings)


def understand(settings: Settings) -> Meaning:
    """The meaning of settings, also of those that break rules."""
    found: dict[str, object] = {name: value for name, value in settings.values.items() if name not in _FOLDED}
    found |= {f"env {name}": text for name, text in settings.env.items() if not _NOT_SETTINGS.fullmatch(name)}
    for part in (_roles, _texts, _listeners, _places, _defaults, _prices, _models):
        found |= part(settings)
    return Meaning(reading.role(settings), rules.notes(settings), found)


def _or_text(interpret: Callable[[], T], text: str) -> T | str:
    """The interpreted value, or the text where the node cannot interpret it."""
    try:
        return interpret()
    except ValueError:
        return text


def _roles(settings: Settings) -> dict[str, object]:
    return {
        "gateway": settings.on("gateway") or settings.on("broadcaster"),
        "metricsPerStream": settings.on("metricsPerStream") or settings.on("metricsClientIP"),
    }


def _texts(settings: Settings) -> dict[str, object]:
    text = settings.text
    found: dict[str, object] = {flag: text(flag).lower() for flag in _ACCOUNTS}
    found |= {flag: settings.secret_text(flag) for flag in _SECRET_OR_PATH}
    found |= {flag: _headers(text(flag)) for flag in _HEADERS}
    found |= {flag: _or_text(partial(values.rational, text(flag)), text(flag)) for flag in _RATIONALS}
    found |= {flag: _or_text(partial(values.big_integer, text(flag)), text(flag)) for flag in _INTEGERS}
    found |= {flag: addresses.split_exact(text(flag)) for flag in ("nvidia", "netint")}
    found["orchBlocklist"] = tuple(item.lower() for item in addresses.split_exact(text("orchBlocklist")))
    found["maxSessions"] = _or_text(lambda: values.decimal_integer(text("maxSessions")), text("maxSessions"))
    found["v"] = _verbosity(text("v"))
    found["region"] = text("region").upper()
    return found


def _verbosity(text: str) -> int:
    try:
        return values.decimal_integer(text)
    except ValueError:
        return 0


def _headers(text: str) -> dict[str, str]:
    pairs = (item.split(":", 1) for item in text.split(",") if ":" in item)
    return {name.strip(): value.strip() for name, value in pairs}


def _listeners(settings: Settings) -> dict[str, object]:
    name, text = reading.role(settings), settings.text
    found: dict[str, object] = {
        "cliAddr": _or_text(lambda: reading.cli_listener(settings), text("cliAddr")),
        "httpAddr": _or_text(lambda: reading.http_listener(settings), text("httpAddr")),
    }
    if name == "gateway":
        rtmp = addresses.completed(text("rtmpAddr"), LOOPBACK, 1935)
        found["rtmpAddr"] = _or_text(lambda: addresses.listener(rtmp), text("rtmpAddr"))
    return found


def _places(settings: Settings) -> dict[str, object]:
    """Where others are: orchestrators, the public address, further instances."""
    name, text = reading.role(settings), settings.text

    def orchestrators() -> tuple[str, ...]:
        return tuple(map(addresses.orchestrator_url, addresses.split_list(text("orchAddr"))))

    found: dict[str, object] = {"orchAddr": _or_text(orchestrators, text("orchAddr"))}
    if name == "gateway" and text("orchWebhookUrl"):
        found["orchAddr"] = ()
    elif name in ("transcoder", "ai-worker"):
        found["orchAddr"] = tuple(found["orchAddr"])[:1] if isinstance(found["orchAddr"], tuple) else found["orchAddr"]
    service = text("serviceAddr")
    if name == "orchestrator" and service not in ("", "none"):
        found["serviceAddr"] = _or_text(lambda: addresses.service_url(service), service)
    instances = addresses.split_list(text("nodes"))
    found["nodes"] = _or_text(lambda: tuple(map(addresses.service_url, instances)), text("nodes"))
    redeemer = text("redeemerAddr")
    found["redeemerAddr"] = addresses.completed(redeemer, LOOPBACK, SERVICE_PORT) if redeemer else ""
    return found


def _defaults(settings: Settings) -> dict[str, object]:
    """Settings whose default depends on other settings."""
    name, chain = reading.role(settings), reading.on_chain(settings)
    directory = _or_text(lambda: reading.home(settings), "")
    found: dict[str, object] = {"dataDir": directory}
    if chain and not settings.text("ethKeystorePath"):
        found["ethKeystorePath"] = f"{directory}/keystore"
    if reading.runs_models(settings) and not settings.text("aiModelsDir"):
        found["aiModelsDir"] = f"{directory}/models"
    network = settings.text("network")
    built_in = _CONTROLLERS.get(network, "built in" if network in _BUILT_IN else "")
    found["ethController"] = settings.text("ethController").lower() or built_in
    if name == "gateway" and "httpIngest" not in settings.given:
        found["httpIngest"] = _ingest(settings)
    if name == "gateway" and "localVerify" not in settings.given:
        found["localVerify"] = chain
    if "reward" not in settings.given:
        found["reward"] = "when the wallet is a registered orchestrator" if chain else False
    if "minGasPrice" not in settings.given:
        found["minGasPrice"] = 10**9 if network == "mainnet" else 0
    if "hevcDecoding" not in settings.given:
        found["hevcDecoding"] = "detected" if settings.text("nvidia") or settings.text("netint") else False
    options = settings.text("transcodingOptions")
    found["transcodingOptions"] = _or_text(lambda: documents.renditions(options, settings.files), options)
    return found


def _ingest(settings: Settings) -> bool:
    listener = _or_text(lambda: reading.http_listener(settings), "")
    host = listener[1] if isinstance(listener, tuple) else ""
    local = host in ("localhost", "::1") or host.startswith("127.")
    return local or bool(settings.text("authWebhookUrl"))


def _prices(settings: Settings) -> dict[str, object]:
    """Prices for one pixel. A cap of 0 is any price; a price that was never set is None."""

    def cap() -> object:
        price = reading.base_price(settings, "maxPricePerUnit")
        return price if price.per_pixel else "any"

    def caps() -> object:
        entries = reading.capability_prices(settings)
        return {(e.name, e.model_id): reading.ceiling(settings, e) or "any" for e in entries}

    def by_gateway() -> object:
        text = reading.gateway_prices_text(settings)
        entries = documents.gateway_prices(text) if text else ()
        return {
            e.name: prices.over(prices.in_currency(e.price or Fraction(0), e.currency), e.pixels or Fraction(1))
            for e in entries
        }

    text = settings.text
    found: dict[str, object] = {
        "maxPricePerUnit": _or_text(cap, text("maxPricePerUnit")),
        "maxPricePerCapability": _or_text(caps, text("maxPricePerCapability")),
        "pricePerGateway": _or_text(by_gateway, text("pricePerGateway")),
        "pricePerUnit": None,
    }
    if "pricePerUnit" in settings.given:
        found["pricePerUnit"] = _or_text(lambda: reading.base_price(settings, "pricePerUnit"), text("pricePerUnit"))
    return found


def _models(settings: Settings) -> dict[str, object]:
    def entries() -> object:
        return tuple(
            entry._replace(
                price=None,
                pixels=None,
                currency="",
                optimization=entry.optimization if entry.warm else (),
            )
            for entry in reading.models(settings)
        )

    def model_prices() -> object:
        return tuple(
            (entry.pipeline, entry.model_id, entry.gateway, reading.model_price(settings, entry))
            for entry in reading.models(settings)
        )

    text = settings.text("aiModels")
    images = settings.text("aiRunnerImageOverrides")
    return {
        "aiModels": _or_text(entries, text),
        "aiModels prices": _or_text(model_prices, text),
        "aiRunnerImageOverrides": _or_text(lambda: documents.image_overrides(images), images),
    }
