"""Start-up rules on prices and on the JSON files: R40 to R48, R60 to R75.

In: `Settings`. Out: ids of broken rules (`CHECKS`) and of those that are only logged (`ignored`), for `rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.node import documents, prices, reading
from tests.node.documents import LIVE, LIVE_MODELS, PIPELINES, ModelEntry
from tests.node.parsing import Settings


def ignored(settings: Settings) -> Iterator[str]:
    """R46 and R47: price lists that the node cannot read and then does without."""
    if not reading.on_chain(settings):
        return
    name = reading.role(settings)
    text = reading.gateway_prices_text(settings)
    if name == "orchestrator" and text:
        try:
            documents.gateway_prices(text)
        except ValueError:
            yield "R46"
    if name in ("gateway", "remote-signer"):
        try:
            reading.capability_prices(settings)
        except ValueError:
            yield "R47"


def _base_prices(settings: Settings) -> Iterator[str]:
    name = reading.role(settings)
    if not reading.on_chain(settings) or name not in ("orchestrator", "gateway", "remote-signer"):
        return
    try:
        prices.pixels(settings.text("pixelsPerUnit"))
    except ValueError:
        yield "R40"
    if name == "orchestrator" and "pricePerUnit" not in settings.given and not settings.on("aiWorker"):
        yield "R41"
    flag, rule = ("pricePerUnit", "R42") if name == "orchestrator" else ("maxPricePerUnit", "R43")
    try:
        currency = prices.amount(settings.text(flag)).currency
    except ValueError:
        yield rule
    else:
        yield from _currency(settings, currency)


def _currency(settings: Settings, currency: str) -> Iterator[str]:
    if prices.has_no_feed(currency, settings.text("network"), settings.text("priceFeedAddr")):
        yield "R44"


def _listed_prices(settings: Settings) -> Iterator[str]:
    name = reading.role(settings)
    if not reading.on_chain(settings):
        return
    unread = set(ignored(settings))
    if name == "orchestrator" and "R46" not in unread:
        text = reading.gateway_prices_text(settings)
        for entry in documents.gateway_prices(text) if text else ():
            if entry.price is None or not entry.pixels:
                yield "R45"
            else:
                yield from _currency(settings, prices.in_currency(entry.price, entry.currency).currency)
    if name in ("gateway", "remote-signer") and "R47" not in unread:
        for entry in reading.capability_prices(settings):
            if entry.price is not None and entry.price > 0:
                if entry.name not in PIPELINES:
                    yield "R48"
                yield from _currency(settings, prices.in_currency(entry.price, entry.currency).currency)


def _models(settings: Settings) -> Iterator[str]:
    """Rules on -aiModels, for the roles that read it."""
    if reading.role(settings) not in ("orchestrator", "ai-worker", "transcoder"):
        return
    try:
        entries = reading.models(settings)
    except ValueError:
        yield "R60"
        return
    works = reading.runs_models(settings)
    if any(_with_small_first_letter(entry.pipeline) not in PIPELINES for entry in entries):
        yield "R61"
    if works:
        yield from _work(settings, entries)
    if reading.role(settings) == "ai-worker" and not entries:
        yield "R75"
    if reading.on_chain(settings):
        for entry in entries:
            yield from _model_price(settings, entry)


def _with_small_first_letter(text: str) -> str:
    return text[:1].lower() + text[1:]


def _work(settings: Settings, entries: tuple[ModelEntry, ...]) -> Iterator[str]:
    managed = [entry for entry in entries if not entry.url]
    try:
        overrides = documents.image_overrides(settings.text("aiRunnerImageOverrides"))
    except ValueError:
        yield "R64"
        overrides = {}
    slots = _slots(settings)
    if slots is not None and sum(max(entry.capacity, 1) for entry in managed if entry.warm) > slots:
        yield "R66"
    live = overrides.get("live")
    known = LIVE_MODELS | (set(live) if isinstance(live, dict) else set())
    if any(entry.warm and entry.pipeline == LIVE and entry.model_id not in known for entry in managed):
        yield "R68"
    warm = {(entry.pipeline, entry.model_id) for entry in entries if entry.warm}
    if any((entry.pipeline, entry.model_id) in warm for entry in entries if not entry.warm):
        yield "R69"
    if any(
        entry.pipeline not in PIPELINES and _with_small_first_letter(entry.pipeline) in PIPELINES for entry in managed
    ):
        yield "R70"
    if settings.on("aiServerless"):
        one = entries[0] if len(entries) == 1 else ModelEntry("", "")
        if (one.pipeline, one.model_id) != (LIVE, "scope") or not one.url or one.capacity <= 0:
            yield "R74"


def _slots(settings: Settings) -> int | None:
    """Runner slots: one for each GPU and container, one on the CPU; None when the node would count its devices."""
    text = settings.text("nvidia")
    if text == "all":
        return None
    return (len(text.split(",")) * settings.number("aiRunnerContainersPerGPU")) if text else 1


def _model_price(settings: Settings, entry: ModelEntry) -> Iterator[str]:
    if entry.pixels is not None and (entry.pixels <= 0 or entry.pixels.denominator != 1):
        yield "R71"
    if entry.price is not None:
        if entry.price < 0:
            yield "R73"
        yield from _currency(settings, prices.in_currency(entry.price, entry.currency).currency)
    elif "pricePerUnit" not in settings.given or not _base_is_positive(settings):
        yield "R72"


def _base_is_positive(settings: Settings) -> bool:
    try:
        return prices.amount(settings.text("pricePerUnit")).per_pixel > 0
    except ValueError:
        return False


CHECKS: tuple[Callable[[Settings], Iterator[str]], ...] = (_base_prices, _listed_prices, _models)
