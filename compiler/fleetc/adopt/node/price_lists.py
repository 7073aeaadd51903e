"""What prices, and the lists of models, prices and renditions that a node reads, mean to it.

In: the texts of settings and what files say. Out: settings by flag, as `compare.py` compares them: a list is LIST, and
each of its entries a setting of its own, such as `aiModels image-to-video stabilityai/svd`. Prices are those in force:
where an entry leaves something out, the node takes it from its base price.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from fleetc.adopt.found.words import SET
from fleetc.adopt.node import documents
from fleetc.adopt.node.documents import DocumentError, ModelEntry, PriceEntry
from fleetc.adopt.node.flags import value_of
from fleetc.adopt.tables.session import flag_amount, flag_price, price_text

Files = Callable[[str], str | None]

MODELS, CAPS, OF_GATEWAYS = "aiModels", "maxPricePerCapability", "pricePerGateway"
RENDITIONS = "transcodingOptions"
TOKENS = f"{MODELS} token"
"""Stands for the credentials of runners in a list of models: those that have one."""
LIST = ("a list",)
"""Stands for a list whose entries are settings of their own."""
_ORDER = "order"
"""Stands for the order of a list behind its flag: GPUs are given to models in that order."""
_NODES_OWN = {"fpsDen": 1, "quality": 0, "encoder": "H.264", "fps": 0}
"""What a rendition has that does not say it."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A price for one pixel, or unit of work; `text` is how people write it."""

    worth: Fraction
    currency: str
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text


def list_of(flag: str) -> str:
    """The flag whose list an entry is in; other settings as they are."""
    name = flag.partition(" ")[0]
    return name if name in (MODELS, CAPS, OF_GATEWAYS, RENDITIONS) and flag != TOKENS else flag


def comparable(flag: str, before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    """Whether a setting says something that none of the others says: entries do where both sides have a list, and
    an order does where what both sides have is in another one.
    """
    name = list_of(flag)
    if name == flag:
        return True
    if before.get(name) != after.get(name):
        return False
    ours, theirs = before.get(f"{name} {_ORDER}"), after.get(f"{name} {_ORDER}")
    if flag != f"{name} {_ORDER}" or not isinstance(ours, tuple) or not isinstance(theirs, tuple):
        return True
    return ours == theirs or [one for one in ours if one in theirs] != [one for one in theirs if one in ours]


def prices(texts: Mapping[str, str], read: Files) -> dict[str, object]:
    """The prices of flags, and of the lists of prices."""
    found: dict[str, object] = {}
    for flag in ("maxPricePerUnit", "pricePerUnit"):
        price, text = _base(texts, flag), texts.get(flag)
        found[flag] = text or ("any" if flag == "maxPricePerUnit" else None)
        if price is not None:
            found[flag] = "any" if flag == "maxPricePerUnit" and price.amount == 0 else _rate(price)

    def caps(text: str) -> dict[str, object]:
        amount = flag_amount(texts.get("maxPricePerUnit") or "0") or Decimal(0)
        entries = documents.caps(text, _pixels(texts), amount)
        return {f"{one.pipeline} {one.model_id}": _rate(one.price) if one.price else "any" for one in entries}

    def of_gateways(text: str) -> dict[str, object]:
        return {account.lower(): _rate(one) for account, one in documents.gateway_prices(text).items()}

    listed = texts.get(OF_GATEWAYS) or texts.get("pricePerBroadcaster", "")
    return found | _list(CAPS, texts.get(CAPS, ""), read, caps) | _list(OF_GATEWAYS, listed, read, of_gateways)


def fill_caps(before: dict[str, object], after: dict[str, object]) -> None:
    """Give each side of a gateway the caps that only the other lists, as it looks them up: for a model without a cap it
    takes that of the `default` model of its pipeline, and else its base cap. A request is for one model.
    """
    sides = (before, after)
    if any(side.get(CAPS) not in (LIST, "") for side in sides):
        return
    listed = [{name: value for name, value in side.items() if name.startswith(f"{CAPS} ")} for side in sides]
    for side, own in zip(sides, listed, strict=True):
        for name in (*listed[0], *listed[1]):
            usual = own.get(f"{' '.join(name.split(' ')[:2])} default", "any")
            side[name] = own.get(name, side.get("maxPricePerUnit") if usual == "any" else usual)
        if listed[0] or listed[1]:
            side[CAPS] = LIST


def models(texts: Mapping[str, str], read: Files, sells: bool) -> dict[str, object]:
    """The models of a list, with their prices where the node `sells` them: only an orchestrator on a chain does."""
    base = _base(texts, "pricePerUnit")

    def sold(entry: ModelEntry) -> Rate | None:
        own = entry.price if entry.price is not None and entry.price.amount else None
        price = own or (base if base is not None and base.amount else entry.price)
        return _rate(price) if price is not None and sells else None

    def parse(text: str) -> dict[str, object]:
        found: list[tuple[str, object]] = []
        for one in documents.models(text, _pixels(texts)):
            gateway = f" for {one.gateway}" if one.gateway not in ("", "default") else ""
            meaning = {
                "price": sold(one), "warm": one.warm, "capacity": one.capacity, "url": one.url,
                "optimization_flags": one.optimization if one.warm else (),
            }  # fmt: skip
            said = {key: value for key, value in meaning.items() if value not in (None, "", ())}
            found.append((f"{one.pipeline} {one.model_id}{gateway}", said))
        return _ordered(found)

    found = _list(MODELS, texts.get(MODELS, ""), read, parse)
    if found[MODELS] != LIST:
        return found
    text = texts[MODELS]
    content = read(text)
    tokens = [one.model_id for one in documents.models(text if content is None else content) if one.token]
    return found | ({TOKENS: tuple(f"{one}: {SET}" for one in tokens)} if tokens else {})


def renditions(text: str, read: Files) -> dict[str, object]:
    """The renditions of a file."""

    def parse(text: str) -> dict[str, object]:
        return _ordered(
            (str(one["name"]), {key: value for key, value in one.items() if key != "name" and not _is_own(key, value)})
            for one in documents.renditions(text)
        )

    return _list(RENDITIONS, text, read, parse)


def _is_own(key: str, value: object) -> bool:
    return key in _NODES_OWN and _NODES_OWN[key] == value


def _ordered(entries: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The entries of a list by name, also of those of one name, and their order."""
    met: Counter[str] = Counter()
    found: dict[str, object] = {}
    for name, meaning in entries:
        met[name] += 1
        found[name if met[name] == 1 else f"{name} ({met[name]})"] = meaning
    return found | ({_ORDER: tuple(found)} if found else {})


def _list(flag: str, text: str, read: Files, parse: Callable[[str], dict[str, object]]) -> dict[str, object]:
    """What a list says, by entry; the text itself where the node cannot read it."""
    if not text:
        return {flag: ""}
    content = read(text)
    try:
        entries = parse(text if content is None else content)
    except DocumentError:
        return {flag: text}
    return {flag: LIST if entries else ""} | {f"{flag} {name}": value for name, value in entries.items()}


def _base(texts: Mapping[str, str], flag: str) -> PriceEntry | None:
    """The price that a flag says; None where it says none that the node takes."""
    text = texts.get(flag)
    return flag_price(text, _pixels(texts)) if text else None


def _pixels(texts: Mapping[str, str]) -> int:
    """The pixels of the base price, and of all prices that say none of their own."""
    try:
        pixels = value_of("float", texts.get("pixelsPerUnit") or "1")
    except ValueError:
        return 1
    return int(pixels) if isinstance(pixels, Fraction) and pixels > 0 else 1


def _rate(price: PriceEntry) -> Rate:
    plain = f"{price.amount} {price.currency} / {price.pixels} pixels"
    return Rate(Fraction(price.amount) / price.pixels, price.currency, price_text(price) or plain)
