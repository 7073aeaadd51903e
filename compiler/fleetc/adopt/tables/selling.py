"""Fills what orchestrators and workers have: service address, who works, prices, models, GPUs, capabilities (BYOC).

In: a `Filling`, and documents among the sources. Out: its fields, the tables of models in the session, and
capabilities. Prices in the list of a worker are none.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from fleetc.adopt.found.ledger import Fate, InClear, Ledger
from fleetc.adopt.found.questions import Ask, Why
from fleetc.adopt.node import documents
from fleetc.adopt.node.documents import DocumentError, ModelEntry, currency, parsed_json
from fleetc.adopt.node.listeners import SERVICE_PORT, address, http_listener, service_port, split, written
from fleetc.adopt.node.meaning import TOKENS
from fleetc.adopt.node.paths import callers_place, names_document, own_file, whereabouts
from fleetc.adopt.node.secrets import keyless
from fleetc.adopt.node.settings import Running
from fleetc.adopt.node.values import price_text
from fleetc.adopt.read.docker_run import ALL, gpu_numbers
from fleetc.adopt.tables.buying import base_price, helper, pixels_of, reached
from fleetc.adopt.tables.filling import SECRET_ON_HOST, Filling
from fleetc.adopt.tables.runners import fill_callback, fill_listed
from fleetc.adopt.tables.session import PIXEL_PRICE, Table
from fleetc.language.quantities import RUNNER_UNITS, WEI_IN_ETHER, QuantityError, RunnerPrice, canonical_number
from fleetc.lower.common import GPU_ORDER
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

LIST, PRICES = "aiModels", "aiModels prices"
_IMAGE, _IMAGES = "aiRunnerImage", "aiRunnerImageOverrides"


def fill(work: Filling) -> None:
    """Fill the table of an orchestrator or a worker."""
    running = work.running
    if running.table == "orchestrators":
        _work(work)
        _service(work)
        scheme, listener = http_listener("orchestrator", running.text("httpAddr"), running.text("serviceAddr"))
        if scheme == "http":
            work.table.say("http_tls", False)
        port = service_port(running.text("serviceAddr")) if "service" in work.table.values else SERVICE_PORT
        work.listens("httpAddr", "http", listener, written(("*", port)))
        registry, on = "aiServiceRegistry", running.on("aiServiceRegistry")
        if not running.on_chain and not work.process.ours:
            work.drop(registry, Why.NO_REGISTRY)
        elif work.has(registry) or (running.on_chain and on != (work.table.values["mode"] == "ai")):
            work.give(registry, "ai_registry", on)
        helper(work, "redeemerAddr", "redeemer", "redeemer")
        if running.on_chain or work.process.ours:
            _base_price(work)
            _gateway_prices(work)
        fill_listed(work)
        fill_callback(work)
    else:
        _orchestrator(work)
    if running.table == "ai_workers" and not running.text("serviceAddr"):
        work.because("serviceAddr", Why.LABEL)
    elif running.table == "ai_workers" and not work.unknown("serviceAddr", "runner_label"):
        work.give("serviceAddr", "runner_label", running.text("serviceAddr"))
    _gpus(work)
    if running.table != "transcoders":
        _models(work)


def _work(work: Filling) -> None:
    """What an orchestrator sells, and where it is done."""
    running = work.running
    transcodes, runs_models = running.on("transcoder"), running.on("aiWorker")
    lists, runners = bool(running.text("aiModels")), _has_runners(running)
    workers = work.facts.workers.get(running.name, set())
    ai = runs_models or lists or runners or "ai-worker" in workers
    video = transcodes or "transcoder" in workers or not ai  # who waits for any workers waits for those of video
    if lists and not runs_models and running.text("pricePerUnit").strip("0."):
        video = True  # it would sell what remote transcoders do; for nothing, it is there for its models
    only_runners = runners and not lists and not runs_models
    work.table.say("mode", "dual" if ai and video else "ai" if ai else "video")
    if video and transcodes is ("transcoder" in workers):
        work.table.say("transcoding", "local" if transcodes else "remote")
    if ai and not only_runners and (runs_models is ("ai-worker" in workers)) is (lists or not runners):
        work.table.say("ai_work", "local" if runs_models else "remote")
    remote = (video and not transcodes) or (ai and not runs_models and not only_runners)
    if (remote or (runners and not transcodes)) and not running.text("orchSecret"):
        work.asks(Ask.SECRET_OF_WORKERS, "secret", "orchSecret", SECRET_ON_HOST)


def _has_runners(running: Running) -> bool:
    """Whether live runners work for an orchestrator."""
    return running.on("useLiveRunners") or bool(running.text("liveRunnerConfig"))


def _service(work: Filling) -> None:
    """The public address."""
    flag, key = "serviceAddr", "service"
    text = work.running.text(flag).removeprefix("https://").rstrip("/")
    if not text:
        work.asks(Ask.SERVICE, key, flag)
    elif work.unknown(flag, key):
        pass
    elif text == "none" or (split(text.removeprefix("http://")) or ("",))[0] == "*":
        work.asks(Ask.NO_SERVICE, key, flag, text=text)
    else:
        work.give(flag, key, text)


def _base_price(work: Filling) -> None:
    """The base price; an orchestrator of live runners alone needs none in a spec."""
    running, flag = work.running, "pricePerUnit"
    alone = _has_runners(running) and not running.text("aiModels")
    alone = alone and not running.on("aiWorker") and not running.on("transcoder")
    if flag in running.settings:
        price = base_price(work, flag, "price")
        wrote = work.process.ours and "pixelsPerUnit" in running.settings  # where a spec has a price, so has its node
        if price is not None and price.amount == 0 and alone and not wrote:
            work.take(flag, "what fleetc writes for live runners without a word")
        elif price is not None:
            work.give(flag, "price", price_text(price))
    elif running.on_chain and work.table.values["mode"] != "ai":
        work.asks(Ask.PRICE, "price", flag, PIXEL_PRICE)
    elif running.on_chain and alone:
        work.because(flag, Why.RUNNERS_PRICED)


def _gateway_prices(work: Filling) -> None:
    """Prices by the account of a gateway."""
    flag, key = "pricePerGateway" if work.has("pricePerGateway") else "pricePerBroadcaster", "gateway_prices"

    def prices(text: str) -> dict[str, str]:
        texts = {account: price_text(price) for account, price in documents.gateway_prices(text).items()}
        for account in (account for account, price in texts.items() if price is None):
            work.asks(Ask.NO_PRICE_FOR, key, flag, name=account[:60])
        return {account: price for account, price in texts.items() if price is not None}

    work.read(flag, key, prices, Why.IGNORED)


def _orchestrator(work: Filling) -> None:
    """Whom a worker serves, and the secret it presents."""
    running, flag = work.running, "orchAddr"
    name = ""
    first = next((item.strip() for item in running.text(flag).split(",") if item.strip()), "")
    if not first:
        work.asks(Ask.ORCHESTRATOR, "orchestrator", flag)
    elif not work.unknown(flag, "orchestrator"):
        name = reached(work, first)
        work.give(flag, "orchestrator", name)
    theirs, flag = work.facts.processes.get(name), "orchSecret"
    secret, of_theirs = running.text(flag), theirs.text(flag) if theirs is not None else ""
    if secret and secret == of_theirs:
        work.take(flag, f"secret of {name}, which it serves")
        work.because(flag, Why.REFERENCE)
    elif of_theirs and not secret:
        work.because(flag, Why.ITS_SECRET, node=name)
    elif not secret:
        work.asks(Ask.SECRET_OF_ORCHESTRATOR, "secret", flag, SECRET_ON_HOST)


def _gpus(work: Filling) -> None:
    """GPUs by their number on the host: a container that sees some of them counts those from 0."""
    running, flag = work.running, "nvidia"
    text, seen = running.text(flag), work.process.sees
    if not text or work.unknown(flag, "gpus"):
        return
    if running.on("aiWorker") and running.role != "transcoder" and not running.on("transcoder"):
        seen = ()  # it gives GPUs to Docker alone, which counts those of the host, whatever its container sees
    numbers = _of_host(seen, text) if not isinstance(seen, str) else None
    if numbers is not None:
        work.give(flag, "gpus", numbers)
    else:
        numbering = seen if isinstance(seen, str) else f"its container sees {len(seen) or 'all'}, counted from 0"
        work.asks(Ask.GPUS, "gpus", flag, text=work.shown(flag), seen=numbering)
    work.because(flag, Why.GPUS)
    work.because(GPU_ORDER, Why.GPU_ORDER)


def _of_host(sees: tuple[int, ...], text: str) -> list[int] | str | None:
    """The GPUs of -nvidia by their number on the host: a container that `sees` some counts those from 0, and () is all.

    None for other texts, and for numbers that the container has not.
    """
    if text == ALL:
        return list(sees) or ALL
    ids = gpu_numbers(text)
    if ids is None or (sees and max(ids) >= len(sees)):
        return None
    return [sees[one] for one in ids] if sees else list(ids)


# -------------------------------------------------------------------------------------------------------- models


def _models(work: Filling) -> None:
    """Fill the models of an orchestrator or an AI worker, their directory and their images."""
    running = work.running
    images = _images(work)
    if running.text(LIST):
        _list(work, images)
    elif running.table == "ai_workers":
        work.asks(Ask.NO_MODELS, "models", LIST)
    path = running.text("aiModelsDir")
    if path and running.on("aiWorker") and not work.unknown("aiModelsDir", "models_dir"):
        place = callers_place(work.process, path)  # it is on the host, also for a container
        if place is None:
            work.asks(Ask.PATH, "models_dir", "aiModelsDir", where=whereabouts(work.process, path, True))
        else:
            work.give("aiModelsDir", "models_dir", place)
            work.because("aiModelsDir", Why.SAME_PATH)


def _list(work: Filling, images: dict[str, Any]) -> None:
    word, pixels = work.running.word(LIST), pixels_of(work) or 1
    entries = work.parsed(LIST, "models", lambda text: documents.models(text, pixels), Why.STOPS)
    if entries is None:
        if not work.table.asks("models"):
            work.asks(Ask.REFUSED, "models", why="the node does not read this list")
        work.because(PRICES, Why.NO_LIST)
        return
    source = own_file(work.session.library, work.process, word.text).source if names_document(word.text) else None
    uses: list[dict[str, Any]] = []
    latest: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in entries:
        place = _place(source, entry, word.span)
        price = _price(work, entry, place, source)
        _account(work, entry, place)
        for_one = price is not None and entry.gateway not in ("", "default")
        use = latest.get((entry.pipeline, entry.model_id))
        if use is None or not (for_one or use.keys() == {"use", "gateway_prices"}):
            use = latest[entry.pipeline, entry.model_id] = {}
            uses.append(use)
        if for_one:
            use.setdefault("use", work.session.model(entry))
            use.setdefault("gateway_prices", {})[entry.gateway] = price
        else:
            use |= _use(work, entry, price, images)
    if any("gateway_prices" in use and "price" not in use for use in uses):
        work.because(LIST, Why.SOLD_TO_ALL)
    work.give(LIST, "models", uses)


def _place(source: Source | None, entry: ModelEntry, otherwise: Span) -> Span:
    """Where the id of a model stands in its list; where the list is named if that is no file."""
    text = f'"{entry.model_id}"'
    at = source.text.find(text) if source is not None else -1
    return Span(source.name, at, at + len(text)) if source is not None and at >= 0 else otherwise


def _price(work: Filling, entry: ModelEntry, place: Span, source: Source | None) -> str | None:
    """What an entry is sold for; None where nobody pays for it here, or where no spec has its price."""
    if entry.price is None:
        return None
    price, ledger, model = price_text(entry.price), work.session.ledger, leaks.shown(visible(entry.model_id))
    shown = f"price_per_unit of {model}"
    if work.running.table == "orchestrators" and work.running.on_chain:
        if price is None:
            question = work.table.put(Ask.NO_PRICE_FOR, "models", name=model)
            work.because(LIST, Why.ASKED, question=question.text)
            ledger.note(place, shown, Fate.DROPPED, "no spec has this price; asked with a TODO", "adopt-value-invalid")
        return price
    work.because(PRICES, Why.NOBODY_PAYS)
    lists = [node for node in work.facts.processes.values() if node.table == "orchestrators" and node.text(LIST)]
    sold = any(own_file(work.session.library, node.process, node.text(LIST)).source is source for node in lists)
    if work.running.table == "ai_workers" and entry.price.amount and not (source and sold):
        ledger.mistake(
            "adopt-setting-unread", place, shown,
            "an AI worker ignores prices in its list of models: its orchestrator sells the model",
            "write it as price of the model in the spec, or in the list of its orchestrator",
        )  # fmt: skip
    return None


def _account(work: Filling, entry: ModelEntry, place: Span) -> None:
    """Account for what no spec says: flags of runners that are not kept warm, and credentials of runners."""
    ledger, model = work.session.ledger, leaks.shown(visible(entry.model_id))
    if entry.optimization and not entry.warm:
        why = "only models that are kept warm have flags of their runner"
        ledger.note(place, f"optimization_flags of {model}", Fate.DROPPED, why)
    if entry.token:
        ledger.in_clear.append(InClear(f"token of {model}", place))
        ledger.note(place, f"token of {model}", Fate.DROPPED, Why.NO_CREDENTIAL.text, "adopt-cannot-say")
        ledger.warn(
            "adopt-cannot-say", place, "the list of models has the credential of a runner, and a spec has none",
            "it is not adopted, so a runner that asks for it refuses every job; the spec has a TODO line",
        )  # fmt: skip
        work.asks(Ask.CREDENTIAL, "models", model=model)
        work.because(TOKENS, Why.NO_CREDENTIAL)


def _use(work: Filling, entry: ModelEntry, price: str | None, images: dict[str, Any]) -> dict[str, Any]:
    kind, key = ("batch", entry.pipeline) if entry.pipeline != "live-video-to-video" else ("live", entry.model_id)
    image = str((images.get(kind) or {}).get(key, ""))
    use: dict[str, Any] = {"use": work.session.model(entry, "" if entry.url else image)}
    plain = keyless("url", entry.url)
    fields = {"warm": entry.warm, "capacity": entry.capacity, "price": price, "url": entry.url if plain else ""}
    url = address(entry.url)
    if not plain:
        work.asks(Ask.NOT_REPEATED, "models")
    if url is not None and work.facts.machines.beside(work.process).get(url.host) is not None:
        work.asks(Ask.CALLS, "models", name=url.host)
    return use | {key: value for key, value in fields.items() if value}


def _images(work: Filling) -> dict[str, Any]:
    """Set the image of all runners. Returns the images of single models."""
    images = work.parsed(_IMAGES, "runner_image", documents.image_overrides, Why.STOPS) or {}
    old = work.running.text(_IMAGE)
    work.because(_IMAGES, Why.OTHER_IMAGE_FLAG if old and not images.get("default") else Why.UNUSED_IMAGE)
    if images:
        work.take(_IMAGES, "images of models, and runner_image")
    if images.get("default"):
        work.table.say("runner_image", str(images["default"]))
    elif old and old != "livepeer/ai-runner:latest" and not work.unknown(_IMAGE, "runner_image"):
        work.table.say("runner_image", old)
        work.because(_IMAGE, Why.OTHER_IMAGE_FLAG)
    if old:
        work.take(_IMAGE, "runner_image, or the node's own")
    return images


# --------------------------------------------------------------------------------------------------------- capabilities


_EXACT = Context(prec=60, traps=[Inexact])


def fill_capabilities(
    documents: Iterable[Source], nodes: Iterable[Running], tables: Mapping[str, Mapping[str, Table]], ledger: Ledger
) -> None:
    """Give each orchestrator the documents in the folder of its own source; others belong to nobody who is known."""
    homes = {posixpath.dirname(node.process.span.source): node for node in nodes if node.table == "orchestrators"}
    for source in documents:
        span = Span(source.name, 0, 1)
        node = homes.get(posixpath.dirname(source.name))
        if node is None:
            ledger.note(span, "a capability", Fate.DROPPED, "no source says with which orchestrator it is registered")
            continue
        table = tables[node.table][node.name]
        try:
            name, values = _capability(source.text)
        except DocumentError as problem:
            ledger.mistake("adopt-document-unread", span, "a capability", f"no spec has it: {problem}", "repair it")
            continue
        ledger.note(span, "a capability", Fate.UNDERSTOOD, f"capabilities.{name}")
        table.values.setdefault("capabilities", {})[name] = values
        if "price" not in values:
            table.put(Ask.RUNNER_PRICE, f"capabilities.{name}.price")


def _capability(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the fields of a capability. Raises DocumentError for a document that the node does not take."""
    document = {str(key).lower(): item for key, item in parsed_json(text).items() if item is not None}
    for key in ("name", "url"):
        if not isinstance(document.get(key), str):
            raise DocumentError(f"{key} is not text")
    for key in ("capacity", "price_per_unit", "price_scaling"):
        if type(document.get(key, 0)) is not int:
            raise DocumentError(f"{key} is not a whole number")
    values: dict[str, Any] = {"url": document["url"]}
    price = _price_of_time(document)
    if price is not None:
        values["price"] = str(price)
    if document.get("capacity", 0) > 1:
        values["capacity"] = document["capacity"]
    return document["name"], values


def _price_of_time(document: Mapping[str, Any]) -> RunnerPrice | None:
    """The price as a spec has it, by the hour or by the minute; None for one that it cannot have."""
    kind = {"wei": "ETH", "USD": "USD"}.get(currency(str(document.get("currency", ""))))
    if kind is None:
        return None
    second = Fraction(document.get("price_per_unit", 0), document.get("price_scaling", 0) or 1)
    for unit in ("hour", "minute"):
        amount = second * 3600 / RUNNER_UNITS[unit].times / (1 if kind == "USD" else WEI_IN_ETHER)
        try:
            exact = _EXACT.divide(Decimal(amount.numerator), Decimal(amount.denominator))
            return RunnerPrice(canonical_number(exact), kind, unit)
        except (Inexact, QuantityError):
            continue
    return None
