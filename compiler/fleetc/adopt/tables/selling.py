"""Fills what orchestrators and remote workers have: service address, who works, prices, models, GPUs, secrets.

In: a `Filling`. Out: its fields.
"""

from __future__ import annotations

from fleetc.adopt.found.questions import Ask, Why
from fleetc.adopt.node import documents, gpus
from fleetc.adopt.node.listeners import SERVICE_PORT, http_listener, service_port, split, written
from fleetc.adopt.node.settings import Running
from fleetc.adopt.node.values import price_text
from fleetc.adopt.tables.buying import base_price, helper, reached
from fleetc.adopt.tables.filling import SECRET_ON_HOST, Filling
from fleetc.adopt.tables.models import fill_models
from fleetc.adopt.tables.runners import fill_callback, fill_listed
from fleetc.adopt.tables.session import PIXEL_PRICE
from fleetc.lower.common import GPU_ORDER


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
            _price(work)
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
        fill_models(work)


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


def _price(work: Filling) -> None:
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
    numbers = gpus.of_host(seen, text) if not isinstance(seen, str) else None
    if numbers is not None:
        work.give(flag, "gpus", numbers)
    else:
        numbering = seen if isinstance(seen, str) else f"its container sees {len(seen) or 'all'}, counted from 0"
        work.asks(Ask.GPUS, "gpus", flag, text=work.shown(flag), seen=numbering)
    work.because(flag, Why.GPUS)
    work.because(GPU_ORDER, Why.GPU_ORDER)
