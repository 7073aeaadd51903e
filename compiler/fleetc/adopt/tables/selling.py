"""Fills what orchestrators and remote workers have: service address, who works, prices, models, GPUs, secrets.

In: a `Filling`. Out: its fields.
"""

from __future__ import annotations

import re

from fleetc.adopt.found.words import Brief, Same
from fleetc.adopt.node import documents
from fleetc.adopt.node.documents import DocumentError
from fleetc.adopt.node.listeners import http_listener, orchestrator_url, service_port, split, written
from fleetc.adopt.node.own_files import own_file
from fleetc.adopt.node.reading import Running, in_file, missing, names_document, secret_file, shown
from fleetc.adopt.report.compare import QUESTION
from fleetc.adopt.tables.buying import account_for_pixels, note_service_address, pixels_of
from fleetc.adopt.tables.filling import Filling
from fleetc.adopt.tables.links import LISTENS
from fleetc.adopt.tables.listening import open_listener, say_listener
from fleetc.adopt.tables.models import fill_models
from fleetc.adopt.tables.runners import fill_callback, fill_listed
from fleetc.adopt.tables.session import PIXEL_PRICE, flag_price, price_text
from fleetc.language.quantities import QuantityError, is_public_address, parse_host
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.upstream import FLAGS, NETWORKS

_LABEL = Brief(
    "a label of its own keeps workers from removing each other's containers",
    "keeps workers off each other's containers",
)
"""Why a worker gets a name that the node would take from its host."""
_PRICES = ("pricePerUnit", "pixelsPerUnit", "pricePerGateway", "pricePerBroadcaster", "ticketEV", "maxFaceValue",
           "autoAdjustPrice", "priceFeedAddr", "redeemerAddr", "ethOrchAddr", "blockPollingInterval")  # fmt: skip


def fill(work: Filling) -> None:
    """Fill the table of an orchestrator or a worker."""
    running = work.running
    if running.table == "orchestrators":
        _work(work)
        _service(work)
        _listener(work)
        _registry(work)
        _redeemer(work)
        _price(work)
        fill_listed(work)
        fill_callback(work)
    else:
        _orchestrator(work)
        if running.table == "ai_workers" and running.text("serviceAddr"):
            if not work.unknown("serviceAddr", "runner_label"):
                if running.text("serviceAddr") != running.name:
                    work.say("runner_label", running.text("serviceAddr"))
                work.take("serviceAddr", "runner_label")
        elif running.table == "ai_workers":
            running.reasons["serviceAddr"] = _LABEL
    _gpus(work)
    if running.table != "transcoders":
        fill_models(work)


def _work(work: Filling) -> None:
    """What an orchestrator sells, and where it is done."""
    running = work.running
    transcodes, runs_models = running.on("transcoder"), running.on("aiWorker")
    lists, runners = bool(running.text("aiModels")), _has_runners(work)
    workers = work.facts.workers.get(running.name, frozenset())
    ai = runs_models or lists or runners or "ai-worker" in workers
    video = transcodes or "transcoder" in workers
    if not video and not ai:
        video = True  # it waits for workers, and those of video are the usual ones
    elif ai and not video and not runs_models and lists and running.text("pricePerUnit").strip("0."):
        video = True  # it would sell what remote transcoders do; for nothing, it is there for its models
    work.say("mode", "dual" if ai and video else "ai" if ai else "video")
    if video and transcodes is ("transcoder" in workers):
        work.say("transcoding", "local" if transcodes else "remote")
    if ai and not (runners and not lists) and runs_models is ("ai-worker" in workers):
        work.say("ai_work", "local" if runs_models else "remote")
    elif ai and runners and not lists and runs_models and "ai-worker" not in workers:
        work.say("ai_work", "local")
    remote = (video and not transcodes) or (ai and not runs_models and not (runners and not lists))
    if (remote or (runners and not transcodes)) and not running.text("orchSecret"):
        work.ask("secret", "what remote workers present; without one, anybody may work for it, or it does not start",
                 example='{ host_file = "/etc/livepeer/orchestrator-secret" }')  # fmt: skip
        running.reasons["orchSecret"] = "a question is left: the secret of remote workers"


def _service(work: Filling) -> None:
    flag = "serviceAddr"
    if not work.has(flag):
        work.ask("service", "the public address; without it the node asks a service on the internet for its own",
                 example='"orch.example.net:8935"')  # fmt: skip
        work.running.reasons[flag] = "a question is left: the public address"
        return
    if work.unknown(flag, "service"):
        return
    text = work.running.text(flag)
    if text == "none":
        work.ask("service", "the node advertises no address of its own, and a spec always has one", flag)
        return
    text = text.removeprefix("https://").rstrip("/")
    why = _unreachable(work, text.removeprefix("http://"))
    if why:
        word = work.running.word(flag)
        port = service_port(text)
        work.session.ledger.mistake(
            "adopt-address-unreachable", word.span, shown(flag, text), f"no gateway reaches the node there: {why}",
            f'write the public name of the host in the spec, such as service = "orch.example.net:{port}"',
        )  # fmt: skip
        work.ask("service", f"the public address; the source only has one that {why.partition(' ')[2]}", flag,
                 f'"orch.example.net:{port}"', warn=False)  # fmt: skip
        return
    work.say("service", text)
    work.take(flag, "service")


def _unreachable(work: Filling, text: str) -> str:
    """Why gateways cannot reach a service address; "" where they may."""
    host = (split(text) or (text, 0))[0]
    if host == "*":
        return "it stands for all addresses of a machine"
    try:
        known = parse_host(host.strip("[]"))
    except QuantityError:
        return ""
    if work.running.on_chain and work.facts.network in NETWORKS and "." in host and not is_public_address(known):
        return "it means nothing outside its own network"
    return ""


def _listener(work: Filling) -> None:
    running = work.running
    flag = "httpAddr"
    service = running.text("serviceAddr")
    if work.has(flag) and work.unknown(flag, "http"):
        return
    scheme, listener = http_listener("orchestrator", running.text(flag), service)
    listener = open_listener(work, flag, listener, "listener")
    if listener is None:
        work.ask("http", "the node cannot listen where the source says", flag, '"0.0.0.0:8935"')
        return
    if scheme == "http":
        work.say("http_tls", False)
    usual = written(("*", service_port(service) if "service" in work.table.values else 8935))
    say_listener(work, flag, "http", listener, usual)


def _registry(work: Filling) -> None:
    flag = "aiServiceRegistry"
    running = work.running
    on = running.on(flag)
    if not running.on_chain:
        if work.has(flag) and work.process.ours:
            work.say("ai_registry", on)
            work.take(flag, "ai_registry")
        elif work.has(flag):
            work.drop(flag, "there is no registry off-chain")
        return
    mode = work.table.values["mode"]
    if on != (mode == "ai") or (work.process.ours and work.has(flag) and not on):
        work.say("ai_registry", on)
    work.take(flag, "ai_registry")


def _redeemer(work: Filling) -> None:
    flag = "redeemerAddr"
    if not work.running.text(flag) or work.unknown(flag, "redeemer"):
        return
    text = work.running.text(flag)
    text = text if ":" in text else f"{text}:8935"
    name = work.facts.helper_at(work.running, work.facts.redeemers, text, "redeemer")
    work.say("redeemer", name or text)
    if name:
        work.running.reasons[flag] = LISTENS.format(name)
    work.take(flag, "redeemer")


def _price(work: Filling) -> None:
    running = work.running
    if not running.on_chain and not work.process.ours:
        for flag in _PRICES:
            if work.has(flag):
                if flag == "autoAdjustPrice":
                    work.drop(flag, "off-chain nobody pays")
                else:
                    work.mistake(
                        "adopt-setting-unread", flag, f"-{flag} does nothing: off-chain nobody pays", "remove it"
                    )
        return
    pixels = pixels_of(work)
    if "pricePerUnit" in running.settings:
        text = running.text("pricePerUnit")
        if running.word("pricePerUnit").holes or pixels is None:
            if not work.unknown("pricePerUnit", "price"):
                work.ask("price", "the source leaves its pixels open", "pricePerUnit", PIXEL_PRICE)
        else:
            price = flag_price(text, pixels)
            said = price_text(price) if price else None
            if said is None:
                work.ask_price("price", "pricePerUnit", refused=price is None)
            elif price and price.amount == 0 and _runners_alone(work) and not _wrote_price(work):
                work.take("pricePerUnit", "what fleetc writes for live runners without a word")
            else:
                work.say("price", said)
                work.take("pricePerUnit", "price")
    elif not running.on_chain:
        pass
    elif work.table.values["mode"] != "ai":
        work.ask("price", "on a chain the node does not start without one", example=PIXEL_PRICE)
        running.reasons["pricePerUnit"] = "a question is left: the price"
    elif _runners_alone(work):
        running.reasons["pricePerUnit"] = (
            "live runners have prices of their own, and the node does not start without one"
        )
    account_for_pixels(work, "pricePerUnit", "price")
    _gateway_prices(work)


def _wrote_price(work: Filling) -> bool:
    """Whether fleetc wrote the price because a spec has it: then it wrote its pixels too."""
    return work.process.ours and "pixelsPerUnit" in work.running.settings


def _runners_alone(work: Filling) -> bool:
    running, others = work.running, ("aiWorker", "transcoder")
    return _has_runners(work) and not running.text("aiModels") and not any(map(running.on, others))


def _has_runners(work: Filling) -> bool:
    """Whether programs elsewhere work for it: live runners, or what somebody registers as a capability."""
    running = work.running
    listed = running.on("useLiveRunners") or bool(running.text("liveRunnerConfig"))
    return listed


def _gateway_prices(work: Filling) -> None:
    flag = "pricePerGateway" if work.has("pricePerGateway") else "pricePerBroadcaster"
    if not work.has(flag) or not work.running.text(flag) or work.unknown(flag, "gateway_prices"):
        return
    word = work.running.word(flag)
    source = work.document(flag)
    if source is None and names_document(word.text):
        missing(word, "the file with prices by gateway", work.session.ledger)
        work.ask("gateway_prices", in_file(word.text), flag, '{ "0x..." = "..." }', warn=False)
        return
    try:
        entries = documents.gateway_prices(source.text if source else word.text)
    except DocumentError as problem:
        work.damaged(flag, source, problem, Same("the node ignores the list"), "repair the JSON")
        return
    said = {account: text for account, price in entries.items() if (text := price_text(price)) is not None}
    if said:
        work.say("gateway_prices", said)
    work.take(flag, "gateway_prices")
    for account in entries:
        if account not in said:
            name = leaks.shown(visible(account))[:60]
            work.table.ask(f"TODO gateway_prices: the price for {name}, which is none that a spec has")
            work.running.reasons[flag] = f"{QUESTION}: the price for {name}"
            work.session.ledger.mistake(
                "adopt-value-invalid", word.span, f"the price for {name}", f"no spec has this price for {name}",
                "look which price is right, and write it in gateway_prices", "not adopted",
            )  # fmt: skip


def _orchestrator(work: Filling) -> None:
    """Whom a worker serves, and the secret it presents."""
    running = work.running
    flag = "orchAddr"
    name = ""
    if not running.text(flag):
        work.ask("orchestrator", "a worker does not start without the address of its orchestrator", flag)
    elif not work.unknown(flag, "orchestrator"):
        first = next((item.strip() for item in running.text(flag).split(",") if item.strip()), "")
        name = work.facts.orchestrator_at(running, orchestrator_url(first))
        if name:
            note_service_address(work, name, orchestrator_url(first))
        work.say("orchestrator", name or first.rstrip("/"))
        work.take(flag, "orchestrator")
    theirs = work.facts.processes.get(name)
    if (
        theirs is not None
        and "orchSecret" in running.settings
        and theirs.text("orchSecret") == running.text("orchSecret")
    ):
        work.take("orchSecret", f"secret of {name}, which it serves")
        running.reasons.setdefault("orchSecret", Same("a reference in the spec has the same value"))
    elif theirs is not None and theirs.text("orchSecret") and not running.text("orchSecret"):
        running.reasons["orchSecret"] = f"it gets the secret of {name}, without which it does not start"
    elif not running.text("orchSecret"):
        work.ask("secret", "a worker does not start without the secret of its orchestrator",
                 example='{ host_file = "/etc/livepeer/orchestrator-secret" }')  # fmt: skip
    elif theirs is not None:
        _same_secret(work, theirs)


def _same_secret(work: Filling, orchestrator: Running) -> None:
    """Warn where a worker presents another secret than its orchestrator has, and sources have both."""
    ours, theirs = _secret_text(work, work.running), _secret_text(work, orchestrator)
    if ours is None or theirs is None or ours == theirs:
        return
    word = work.running.word("orchSecret")
    has = "has another one" if theirs else "has none"
    work.session.ledger.warn(
        "adopt-secrets-differ", word.said or word.span,
        f"{work.running.name} presents a secret to {orchestrator.name} that it refuses: it {has}, and the worker idles",
        "give both the same one: the same reference as secret of both tables in the spec",
    )  # fmt: skip


def _secret_text(work: Filling, one: Running) -> str | None:
    """The secret of remote workers as a node reads it; None where no source has it."""
    if one.process.ours or one.process.secrets.get(FLAGS["orchSecret"].env) is not None:
        return None
    if "orchSecret" not in one.settings:
        return ""
    word = one.word("orchSecret")
    if word.holes:
        return None
    if secret_file(word, work.session.library, one.process.span.source):
        source = own_file(work.session.library, one.process, word.text).source
        return source.text.strip() if source is not None and source.text.strip() else None
    return word.text


def _gpus(work: Filling) -> None:
    flag = "nvidia"
    text = work.running.text(flag)
    if not text:
        return
    if work.unknown(flag, "gpus", "[0]"):
        return
    ids, seen = text.split(","), work.process.sees
    if isinstance(seen, str):
        work.ask("gpus", f"the source says {leaks.shown(text)[:60]}, and {seen}", flag, "[0]")
        return
    if text == "all" and seen and not _only_models(work.running):
        _numbered_gpus(work, list(range(len(seen))))
    elif text == "all":
        work.say("gpus", "all")
    elif all(re.fullmatch("[0-9]{1,2}", item) and int(item) <= 63 for item in ids):
        _numbered_gpus(work, [int(item) for item in ids])
    else:
        work.ask("gpus", f"the source says {leaks.shown(text)[:60]}; a spec counts GPUs from 0", flag, "[0]")
        return
    work.take(flag, "gpus")


def _numbered_gpus(work: Filling, ids: list[int]) -> None:
    """GPUs by their number on the host: a container that sees some of them counts those from 0."""
    seen = work.process.sees
    if isinstance(seen, tuple) and seen and not _only_models(work.running):
        unseen = [one for one in ids if one >= len(seen)]
        if not unseen:
            ids = [seen[one] for one in ids]
        else:
            word = work.running.word("nvidia")
            work.session.ledger.warn(
                "adopt-value-invalid", word.span,
                f"its container sees {len(seen)} of the GPUs and counts them from 0: it has no number {unseen[0]}",
                f"the spec has gpus = {ids}, as numbers of the host: look whether those are meant",
            )  # fmt: skip
    work.running.reasons["nvidia"] = "containers of fleetc see all GPUs of their host; these are those of today"
    work.say("gpus", ids)


def _only_models(running: Running) -> bool:
    """Whether a node gives its GPUs to Docker alone, which counts those of the host, whatever the container of the node
    sees. Of all, it counts the PCI devices of the host.
    """
    return running.on("aiWorker") and running.role != "transcoder" and not running.on("transcoder")
