"""Values that both the rules and the meaning need: the role, prices, models, listeners.

In: `Settings`. Out: interpreted values, or ValueError where the node cannot interpret them.
"""

from __future__ import annotations

from tests.node import addresses, documents, prices
from tests.node.documents import ModelEntry, PriceEntry
from tests.node.parsing import Settings
from tests.node.prices import Price

ROLES = (
    ("redeemer", "redeemer"),
    ("remoteSigner", "remote-signer"),
    ("orchestrator", "orchestrator"),
    ("transcoder", "transcoder"),
    ("aiWorker", "ai-worker"),
    ("broadcaster", "gateway"),
    ("gateway", "gateway"),
)
"""Role flags, the winner first."""


def role(settings: Settings) -> str:
    """The one node type of the process; "reward" or "none" without a role flag."""
    for flag, name in ROLES:
        if settings.on(flag):
            return name
    return "reward" if settings.on("reward") or settings.on("initializeRound") else "none"


def on_chain(settings: Settings) -> bool:
    """Any network but exactly "offchain"."""
    return settings.text("network") != "offchain"


def runs_models(settings: Settings) -> bool:
    """Whether this process starts runner containers."""
    return settings.on("aiWorker") and role(settings) in ("orchestrator", "transcoder", "ai-worker")


def home(settings: Settings) -> str:
    """The data directory. Raises ValueError when nothing says where it is."""
    given = settings.text("dataDir")
    if given:
        return given
    if not settings.env.get("HOME"):
        raise ValueError("no home directory")
    return f"{settings.env['HOME']}/.lpData/{settings.text('network')}"


def cli_listener(settings: Settings) -> addresses.Listener:
    """The administration listener; port 80 on all interfaces where the role has no default."""
    port = addresses.CLI_DEFAULT.get(role(settings))
    text = settings.text("cliAddr")
    if port is None:
        return addresses.listener(text) if text else ("", "*", "80")
    return addresses.listener(addresses.completed(text, addresses.LOOPBACK, port))


def http_listener(settings: Settings) -> addresses.Listener | None:
    """The RPC listener, or None for a role without one. Raises ValueError for what cannot be listened on."""
    name, text = role(settings), settings.text("httpAddr")
    if name not in addresses.HTTP_DEFAULT:
        return None
    if name != "orchestrator":
        found = addresses.listener(addresses.completed(text, addresses.LOOPBACK, addresses.HTTP_DEFAULT[name]))
        if found[0]:
            raise ValueError("a scheme in a listener")
        return found
    if "://" in text:
        found = addresses.listener(text)
        if found[0] not in ("http", "https"):
            raise ValueError("a scheme that is not served")
        return found
    port = _service_port(settings)
    if port is None and (not text or ":" not in text):
        return "https", "*" if text in ("", "0.0.0.0") else text, "random"
    scheme, host, found_port = addresses.listener(addresses.completed(text, "", port or 0))
    return scheme or "https", host, found_port


def _service_port(settings: Settings) -> int | None:
    """The port of the service address, which an orchestrator's listener takes over; None when it has none."""
    text = settings.text("serviceAddr")
    if text in ("", "none"):
        return addresses.SERVICE_PORT
    return addresses.url(text if text.startswith(("http://", "https://")) else f"https://{text}").port


def base_price(settings: Settings, flag: str) -> Price:
    """-pricePerUnit or -maxPricePerUnit for one pixel. Raises ValueError."""
    return prices.over(prices.amount(settings.text(flag)), prices.pixels(settings.text("pixelsPerUnit")))


def models(settings: Settings) -> tuple[ModelEntry, ...]:
    """The entries of -aiModels, from a file when there is one. Raises ValueError."""
    text = settings.text("aiModels")
    if not text:
        return ()
    return documents.ai_models(settings.files[text]) if text in settings.files else documents.inline_models(text)


def model_price(settings: Settings, entry: ModelEntry) -> Price | None:
    """The price of an entry for one unit; None when it falls back to the base price, or has none."""
    if entry.price is None:
        return None
    count = entry.pixels if entry.pixels is not None else prices.pixels(settings.text("pixelsPerUnit"))
    if count <= 0:
        raise ValueError("no units")
    own = prices.over(prices.in_currency(entry.price, entry.currency), count)
    if own.per_pixel == 0 and "pricePerUnit" in settings.given and base_price(settings, "pricePerUnit").per_pixel:
        return None
    return own


def capability_prices(settings: Settings) -> tuple[PriceEntry, ...]:
    """The entries of -maxPricePerCapability: a file when there is one, else the text. Raises ValueError."""
    text = settings.text("maxPricePerCapability")
    return documents.capability_prices(settings.files.get(text) or text) if text else ()


def gateway_prices_text(settings: Settings) -> str:
    """-pricePerGateway, or its old name, which replaces it when set."""
    text = settings.text("pricePerBroadcaster") or settings.text("pricePerGateway")
    return settings.files.get(text) or text


def ceiling(settings: Settings, entry: PriceEntry) -> Price | None:
    """A gateway's cap for one unit of a model; None for any price. A missing number comes from the general cap."""
    general, _ = prices.parts(settings.text("maxPricePerUnit"))
    number = entry.price if entry.price is not None and entry.price > 0 else general
    count = entry.pixels if entry.pixels is not None and entry.pixels > 0 else None
    if number == 0:
        return None
    return prices.over(
        prices.in_currency(number, entry.currency), count or prices.pixels(settings.text("pixelsPerUnit"))
    )
