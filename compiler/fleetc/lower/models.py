"""The AI part of a node: its list of models, their directory and their runner images.

In: a fleet and a node with AI settings. Out: arguments and `aiModels.json`, in exactly the form that the node parses.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from fleetc.analysis.prices import prices_of
from fleetc.blueprint.blueprint import Argument, BlueprintFile
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.node import AiSettings
from fleetc.lower.common import account, own_file
from fleetc.lower.mapping import Planned
from fleetc.lower.prices import PRICE_KEYS, price_entry, price_origin
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, derived, given

MODELS_FILE = "aiModels.json"

_OF_MODEL = {"pipeline": "pipeline", "model_id": "id", "optimization_flags": "optimization"}
"""The field of a model that each of these keys comes from."""

_OF_USE = ("warm", "capacity", "url")
"""Keys that have the name of a field in the list of models of a node."""

KEYS: dict[str, tuple[str, ...]] = {
    **{key: (f"models.{field}",) for key, field in _OF_MODEL.items()},
    **{key: (f"orchestrators.models.{key}", f"ai_workers.models.{key}") for key in _OF_USE},
    **dict.fromkeys(PRICE_KEYS, ("orchestrators.models.price", "models.price", "orchestrators.price")),
    "gateway": ("orchestrators.models.gateway_prices",),
}
"""What of a spec each key of the file comes from, as dotted names of fields."""


def model_arguments(fleet: Fleet, node: Node, settings: AiSettings, works: bool) -> Iterator[Planned]:
    """Flags of a node that offers models; `works`: it also runs them."""
    if not settings.models:
        return
    path = (*node.path, "models")
    yield Argument("aiModels", own_file(node, MODELS_FILE), derived("the models offered", path))
    if not works:
        return
    directory = effective.models_dir(fleet, node, settings)
    yield Argument("aiModelsDir", directory.value, directory.origin)
    yield from _images(fleet, node, settings)


def models_file(fleet: Fleet, node: Node, settings: AiSettings, priced: bool) -> tuple[BlueprintFile, ...]:
    """The list of models; with prices only if the node sells."""
    if not settings.models:
        return ()
    entries: list[dict[str, Any]] = []
    places: dict[Path, Origin] = {}
    prices = {(price.at, price.to): price for price in prices_of(fleet, node) if price.work and priced}
    for index, use in enumerate(settings.models):
        model, own = fleet.models[use.use], (*node.path, "models", index)
        entry: dict[str, Any] = {"pipeline": model.pipeline, "model_id": model.id}
        asked = prices.get((index, ""))
        if asked is not None and asked.price is not None:
            places |= {(len(entries), key): price_origin(fleet, asked) for key in PRICE_KEYS}
            entry |= price_entry(asked.price)
        if use.warm:
            entry["warm"] = True
        if use.capacity is not None:
            entry["capacity"] = use.capacity
        if use.url is not None:
            entry["url"] = str(use.url)
        if use.warm and model.optimization:
            entry["optimization_flags"] = dict(sorted(model.optimization.items()))
        places |= _places(len(entries), entry, own, use.use)
        entries.append(entry)
        for at, to in sorted(prices):
            special = prices[at, to]
            if at != index or not to or special.price is None:
                continue
            only_price = {"pipeline": model.pipeline, "model_id": model.id, **price_entry(special.price)}
            places[(len(entries),)] = price_origin(fleet, special)
            entries.append({**only_price, "gateway": account(fleet, to)})
    paths = [("models", use.use) for use in settings.models]
    origin = derived("the models offered", (*node.path, "models"), *paths)
    return (BlueprintFile(MODELS_FILE, entries, origin, places),)


def _places(index: int, entry: Iterable[str], own: Path, model: str) -> dict[Path, Origin]:
    """The origins of an entry's keys: keys of the model come from its table, the others from the node's list."""
    places: dict[Path, Origin] = {(index,): derived("the models offered", own, ("models", model))}
    for key in entry:
        if key in _OF_MODEL:
            places[index, key] = derived("the model offered", (*own, "use"), ("models", model, _OF_MODEL[key]))
        elif key in _OF_USE:
            places[index, key] = given(*own, key)
    return places


def _images(fleet: Fleet, node: Node, settings: AiSettings) -> Iterator[Planned]:
    """The runner images. Releases before -aiRunnerImageOverrides have one for all; a rule refuses more."""
    if not effective.knows(fleet, node, "aiRunnerImageOverrides"):
        if settings.runner_image is not None:
            yield Argument("aiRunnerImage", settings.runner_image, given(*node.path, "runner_image"))
        return
    overrides = _image_overrides(fleet, settings)
    if overrides:
        text = json.dumps(overrides, sort_keys=True, separators=(",", ":"))
        yield Argument("aiRunnerImageOverrides", text, derived("runner images of the node and its models", node.path))


def _image_overrides(fleet: Fleet, settings: AiSettings) -> dict[str, Any]:
    overrides: dict[str, Any] = {}
    if settings.runner_image is not None:
        overrides["default"] = settings.runner_image
    for use in settings.models:
        model = fleet.models[use.use]
        if model.image is None or not effective.managed(use):
            continue
        if model.pipeline == "live-video-to-video":
            overrides.setdefault("live", {})[model.id] = model.image
        else:
            overrides.setdefault("batch", {})[model.pipeline] = model.image
    return overrides
