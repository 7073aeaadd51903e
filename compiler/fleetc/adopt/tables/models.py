"""Fills the models of orchestrators and AI workers from their lists: warm ones, capacity, prices, images.

In: a `Filling`. Out: its models, and the tables of models in the session. Prices in the list of a worker are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fleetc.adopt.found.questions import Ask
from fleetc.adopt.found.words import Brief, Fate, InClear, Process, Same
from fleetc.adopt.node import documents
from fleetc.adopt.node.documents import DocumentError, ModelEntry
from fleetc.adopt.node.host_paths import callers_place
from fleetc.adopt.node.own_files import own_file
from fleetc.adopt.node.price_lists import TOKENS
from fleetc.adopt.node.reading import missing, names_document
from fleetc.adopt.node.web import address
from fleetc.adopt.read import showing, yaml_nodes
from fleetc.adopt.read.yaml_nodes import YamlError
from fleetc.adopt.report.compare import QUESTION
from fleetc.adopt.tables.buying import pixels_of
from fleetc.adopt.tables.filling import Filling
from fleetc.adopt.tables.runner_host import same_project
from fleetc.adopt.tables.session import price_text
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

_UNSAID = Brief(
    "a spec has no credential of a runner, so the node reaches it without one", "a spec has no credential of a runner"
)


def fill_models(work: Filling) -> None:
    """Fill the models of an orchestrator or an AI worker, and their images."""
    _models(work)
    _images(work)


def _models(work: Filling) -> None:
    running = work.running
    flag = "aiModels"
    text = running.text(flag)
    if text and running.word(flag).holes and names_document(text):
        work.asks(Ask.NO_FILE, "models", flag, file=showing.file_name(text))
        running.reasons["aiModels prices"] = "the list of models is none of the sources"
    elif text and not work.unknown(flag, "models"):
        word = running.word(flag)
        source = work.own_file(flag)
        if source is None and names_document(text):
            missing(word, "the list of models", work.session.ledger)
            work.asks(Ask.NO_FILE, "models", flag, file=showing.file_name(text))
            running.reasons["aiModels prices"] = "the list of models is none of the sources"
        else:
            _list_of_models(work, source, text)
    elif running.table == "ai_workers" and not text:
        work.asks(Ask.NO_MODELS, "models", flag)
    if running.text("aiModelsDir") and running.on("aiWorker"):
        if work.unknown("aiModelsDir", "models_dir"):
            return
        place = callers_place(work.process, running.text("aiModelsDir"))  # it is on the host, also for a container
        if place is None:
            work.asks_path("models_dir", "aiModelsDir", running.text("aiModelsDir"))
        else:
            path = work.placed(place)
            work.say("models_dir", path)
            work.take("aiModelsDir", "models_dir")
            if path != running.text("aiModelsDir"):
                running.reasons.setdefault("aiModelsDir", Same("it is the same directory, by its whole path"))


def _list_of_models(work: Filling, source: Source | None, text: str) -> None:
    flag = "aiModels"
    try:
        entries = documents.models(source.text if source else text, pixels_of(work) or 1)
    except DocumentError as problem:
        work.damaged(flag, source, problem, "the node stops at its start", "repair the list of models, and adopt again")
        work.table.ask("TODO models: repair the list of models, and adopt again")
        work.running.reasons[flag] = f"{QUESTION}: the node reads none of the list"
        work.running.reasons["aiModels prices"] = "the node does not read its list of models"
        return
    overrides = _overrides(work)
    uses: list[dict[str, Any]] = []
    sells = work.running.table == "orchestrators" and work.running.on_chain
    by_key: dict[tuple[str, str], dict[str, Any]] = {}
    places = _places(work, source, "price_per_unit")
    _note_unread_flags(work, entries, _places(work, source, "optimization_flags"))
    sold_from = _sold_from(work, source)
    word = [work.running.word(flag).span] * len(entries)
    tokens, whole = _places(work, source, "token") or word, _places(work, source, "") or word
    for entry, place, token, lines in zip(entries, places or word, tokens, whole, strict=True):
        if entry.token:
            work.session.ledger.secrets.append(lines)
            _lose_token(work, entry, token)
        price = price_text(entry.price) if entry.price is not None and sells else None
        if entry.price is not None and sells and price is None:
            _no_price(work, entry, place)
        if entry.price is not None and not sells:
            work.running.reasons["aiModels prices"] = Same("nobody pays here, so the list of models has no prices")
            if work.running.table == "ai_workers" and entry.price.amount and not sold_from:
                _unread_price(work, entry, place)
        _sell(work, entry, price, overrides, uses, by_key)
    if any("gateway_prices" in use and "price" not in use for use in uses):
        work.running.reasons.setdefault("aiModels", "a spec sells a model to all gateways; others pay the base price")
    work.say("models", uses)
    work.take(flag, "models")


def _sell(
    work: Filling, entry: ModelEntry, price: str | None, overrides: dict[str, Any], uses: list[dict[str, Any]],
    by_key: dict[tuple[str, str], dict[str, Any]],
) -> None:  # fmt: skip
    """Add an entry to the models in use: what it costs one gateway stands beside what it costs all."""
    key = (entry.pipeline, entry.model_id)
    for_one = price is not None and entry.gateway not in ("", "default")
    use = by_key.get(key)
    if use is None or not (for_one or use.keys() == {"use", "gateway_prices"}):
        by_key[key] = use = {}
        uses.append(use)
    if for_one:
        use.setdefault("use", work.session.model(entry))
        use.setdefault("gateway_prices", {})[entry.gateway] = price
    else:
        use |= _use(work, entry, price, overrides)


def _no_price(work: Filling, entry: ModelEntry, place: Span) -> None:
    """A price that no spec has: without it, the model would be sold at the base price."""
    name = leaks.shown(visible(entry.model_id))
    work.session.ledger.mistake(
        "adopt-value-invalid", place, f"price_per_unit of {name}", f"no spec has this price of {name}",
        "look which price is right, and write it in the table of the model in the spec", "not adopted", elsewhere=True,
    )  # fmt: skip
    work.table.ask(f"TODO models: the price of {name}, none that a spec has; without one it has the base price")
    work.running.reasons["aiModels"] = f"{QUESTION}: the price of {name}"


def _note_unread_flags(work: Filling, entries: Sequence[ModelEntry], places: Sequence[Span]) -> None:
    """Account for flags of models that are not warm, which no runner ever gets."""
    span = work.running.word("aiModels").span
    for entry, place in zip(entries, places or [span] * len(entries), strict=True):
        if entry.optimization and not entry.warm:
            shown = f"optimization_flags of {leaks.shown(visible(entry.model_id))}"
            work.session.ledger.note(
                place, shown, Fate.DROPPED, "only models that are kept warm have flags of their runner"
            )


def _places(work: Filling, source: Source | None, wanted: str) -> list[Span]:
    """Where a key of each entry of a file of models stands; the entry itself where it has none."""
    if source is None:
        return []
    try:
        entries = yaml_nodes.documents(source.text, source.name)[0].items
    except (YamlError, IndexError):
        return []
    if len(entries) != len(documents.models(source.text, pixels_of(work) or 1)):
        return []
    return [
        next((key.span(source.name) for key, _ in entry.pairs if key.text.lower() == wanted),
             entry.span(source.name))
        for entry in entries
    ]  # fmt: skip


def _unread_price(work: Filling, entry: ModelEntry, place: Span) -> None:
    """A price in the list of a worker: its orchestrator asks for the money, so the node passes over it."""
    price = price_text(entry.price) if entry.price is not None else None
    work.session.ledger.mistake(
        "adopt-setting-unread", place, f"price_per_unit of {leaks.shown(visible(entry.model_id))}",
        "an AI worker ignores prices in its list of models: its orchestrator sells the model",
        "write it as price of the model in the spec, or in the list of its orchestrator; the spec has a TODO line "
        "where nothing else says a price",
        "ignored",
    )  # fmt: skip
    if price is not None and entry.gateway in ("", "default"):
        name = work.session.model(entry)
        work.session.unread_prices.setdefault(name, []).append((price, work.running.name, place))


def _use(work: Filling, entry: ModelEntry, price: str | None, overrides: dict[str, Any]) -> dict[str, Any]:
    live = entry.pipeline == "live-video-to-video"
    images = overrides.get("live" if live else "batch") or {}
    image = str(images.get(entry.model_id if live else entry.pipeline, "")) if not entry.url else ""
    use: dict[str, Any] = {"use": work.session.model(entry, image)}
    if entry.warm:
        use["warm"] = True
    if entry.capacity is not None:
        use["capacity"] = entry.capacity
    if price is not None:
        use["price"] = price
    if entry.url:
        use["url"] = _reached(work, entry)
    return use


def _lose_token(work: Filling, entry: ModelEntry, place: Span) -> None:
    model = leaks.shown(visible(entry.model_id))
    shown = f"token of {model}"
    work.session.ledger.note(place, shown, Fate.DROPPED, _UNSAID, "adopt-cannot-say")
    work.running.reasons[TOKENS] = _UNSAID
    work.session.ledger.in_clear.append(InClear(shown, place))
    work.session.ledger.warn(
        "adopt-cannot-say", place, "the list of models has the credential of a runner, and a spec has none",
        "it is not adopted, so a runner that asks for it refuses every job; the spec has a TODO line", elsewhere=True,
    )  # fmt: skip
    work.table.ask(
        f"TODO models: the runner of {model} gets no token any more, as a spec has none: let it "
        "answer this host without one, or take the model out"
    )


def _sold_from(work: Filling, source: Source | None) -> bool:
    """Whether an orchestrator reads the same list, and the prices in it."""
    library = work.session.library
    sellers = [one for one in work.facts.processes.values() if one.table == "orchestrators" and one.text("aiModels")]
    return any(own_file(library, one.process, one.text("aiModels")).source is source for one in sellers if source)


def _reached(work: Filling, entry: ModelEntry) -> str:
    """The address of a runner as the node reaches it from the network of its host, where fleetc starts it."""
    url = address(entry.url)
    near = [one for one in work.facts.machines.others if same_project(work.process, one)]
    other = next((one for one in near if url is not None and url.host in one.peers), None)
    if url is None or other is None or work.process.network == "host":
        return entry.url
    work.session.called.add(id(other))
    port = url.port if other.network == "host" else _published(other, url.port)
    if port is not None:
        work.running.reasons["aiModels"] = (
            "fleetc gives the node the network of its host, where the runner has this port"
        )
        return url._replace(port=port).at("127.0.0.1")
    name = leaks.shown(visible(url.host))
    work.session.ledger.warn(
        "adopt-name-unreached", work.running.word("aiModels").span,
        f"the list of models has the address of {name}, a service beside the node; fleetc gives the node the network "
        "of its host, where nothing has that name",
        f"publish the port in the Compose file, as in ports: ['127.0.0.1:{url.port}:{url.port}'], and write the url "
        f"http://127.0.0.1:{url.port} in the spec",
    )  # fmt: skip
    work.table.ask(f"TODO models: the url of {name}, which the node does not reach by this name from now on")
    return entry.url


def _published(other: Process, inside: int) -> int | None:
    """The port of the host that leads to one of a container, on loopback too; None where none does."""
    here = [one for one in other.published if not one.address or one.address.startswith(("127.0.0.1", "0."))]
    return next((one.port for one in here if one.inside == inside), None)


def _overrides(work: Filling) -> dict[str, Any]:
    text = work.running.text("aiRunnerImageOverrides")
    if not text or work.running.word("aiRunnerImageOverrides").holes:
        return {}
    try:
        return documents.image_overrides(text)
    except DocumentError:
        return {}


def _images(work: Filling) -> None:
    running = work.running
    flag = "aiRunnerImageOverrides"
    default = ""
    if running.text(flag) and not work.unknown(flag, "runner_image"):
        try:
            default = str(documents.image_overrides(running.text(flag)).get("default") or "")
        except DocumentError as problem:
            work.mistake("adopt-document-unread", flag, f"the node stops at its start: {problem}", "repair the JSON")
            return
        work.take(flag, "images of models, and runner_image")
    old = running.text("aiRunnerImage")
    if default:
        work.say("runner_image", default)
    elif old and old != "livepeer/ai-runner:latest" and not work.unknown("aiRunnerImage", "runner_image"):
        work.say("runner_image", old)
        running.reasons["aiRunnerImage"] = Same("-aiRunnerImageOverrides says the same image")
        running.reasons["aiRunnerImageOverrides"] = Same("the image of -aiRunnerImage")
    if old:
        work.take("aiRunnerImage", "runner_image, or the node's own")
