"""What a user may write about an orchestrator: the node that gateways find and pay, and that does or passes on work.

In: raw `orchestrators` tables. Out: frozen `Orchestrator` values.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field, StrictStr
from pydantic.json_schema import WithJsonSchema

from fleetc.language.fields import (
    AbsolutePath,
    Address,
    Duration,
    Flag,
    HttpUrl,
    Listener,
    Name,
    Parsed,
    Price,
    Text,
    Wei,
    refuse,
    sets,
)
from fleetc.language.node import AiSettings, ChainSettings, GpuSettings, Mode
from fleetc.language.quantities import QuantityError, Url, parse_host, parse_url
from fleetc.language.runner import Capability
from fleetc.language.secret_fields import HttpUrlOrSecret, Secret, StoreUrlOrSecret

_COUNT = re.compile("[1-9][0-9]{0,5}")


class ServiceAddress(NamedTuple):
    """A public service address: scheme http or https, host, and the port if one is written."""

    scheme: str
    host: str
    port: int | None

    @property
    def authority(self) -> str:
        """Host and port as in a URL; only the host if no port is written."""
        return self.host if self.port is None else f"{self.host}:{self.port}"


def _service(value: Any) -> ServiceAddress:
    form = 'write "orch.example.net:8935"'
    if not isinstance(value, str):
        raise refuse("a service address must be text", form)
    scheme, _, rest = value.partition("://") if "://" in value else ("https", "", value)
    if value == "none":
        others = f"{form}; or leave this node out, and list the addresses in its instances as orchestrators of gateways"
        raise refuse("fleetc makes no orchestrator without an address, because it sells nothing of its own", others)
    if scheme not in ("http", "https"):
        raise refuse(f'the node would read "{value}" as https://{value}', form)
    host, colon, port = rest.rpartition(":") if not rest.endswith("]") else (rest, "", "")
    if not colon:
        host, port = rest, ""
    try:
        parse_host(host.removeprefix("[").removesuffix("]"))
    except QuantityError as problem:
        raise refuse(problem.message, form) from None
    if colon and not (port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= 65535 and port == str(int(port[:6]))):
        raise refuse("the port of the service address is not a number from 1 to 65535", form)
    return ServiceAddress(scheme, host, int(port) if colon else None)


ServiceField = Annotated[
    ServiceAddress,
    Parsed(_service),
    WithJsonSchema({"type": "string", "examples": ["orch.example.net:8935"]}),
]


def _instance(value: Any) -> Url:
    try:
        url = parse_url(value, ("https",))
    except QuantityError as problem:
        raise refuse(problem.message, 'write "https://orch-2.example.net:8935"') from None
    if url.port is None:
        raise refuse(
            "the address of an instance needs a port: without one, gateways use 443",
            f'write the port too, such as "https://{url.host}:8935"',
        )
    return url


InstanceUrl = Annotated[
    Url,
    Parsed(_instance),
    WithJsonSchema({"type": "string", "examples": ["https://orch-2.example.net:8935"]}),
]


_PROXY = "proxy-placeholder"


def _proxy(text: str) -> str:
    form = 'write "https://{proxy}.example.net" or "https://example.net/run/{proxy}"'
    if text.count("{proxy}") != 1:
        raise refuse("the live runner template must contain {proxy} exactly once", form)
    try:
        url = parse_url(text.replace("{proxy}", _PROXY), ("http", "https"))
    except QuantityError as problem:
        raise refuse(problem.message, form) from None
    path = re.split(r"[?#]", url.path)[0]
    if _PROXY not in url.host and not path.removesuffix("/").endswith(f"/{_PROXY}"):
        raise refuse("the node takes {proxy} in the host, or as the whole last part of the path", form)
    return text


ProxyTemplate = Annotated[StrictStr, AfterValidator(_proxy)]


def _sessions(value: Any) -> int | str:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1_000_000):
        return value  # type: ignore[no-any-return]  # narrowed above
    form = 'write a whole number from 1 to 1000000, or "auto" if remote transcoders do the work'
    meant: int | str | None = None
    if isinstance(value, str):
        meant = int(value) if _COUNT.fullmatch(value) else "auto" if value.strip().lower() == "auto" else None
    raise refuse("max_sessions must be a whole number of streams", form, repair=meant)


Sessions = Annotated[
    int | str, Parsed(_sessions), WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": "auto"}]})
]


class Orchestrator(ChainSettings, GpuSettings, AiSettings):
    """An orchestrator sells transcoding and AI work to gateways."""

    mode: Mode = Field(description="What it sells: video, ai, or dual for both from one process.")
    service: ServiceField | None = Field(
        None,
        description="Public address with its port, as registered; by default the host's public address and port 8935.",
    )
    http: Listener | None = Field(
        None, description="Listener for gateways; by default all interfaces on the service port."
    )
    http_tls: Flag = Field(
        True, description="Whether the listener uses TLS; turn it off only behind a proxy that does."
    )
    instances: tuple[InstanceUrl, ...] = sets("nodes", (), "Extra instances that this orchestrator advertises.")
    availability_check: Flag | None = sets(
        "startupAvailabilityCheck", None, "Whether it tests its own public address at startup."
    )
    orchestrator_address: Address | None = sets(
        "ethOrchAddr", None, "Registered account that receives the tickets if it differs from the wallet's."
    )
    price_feed: Address | None = sets(
        "priceFeedAddr", None, "Price feed contract for prices in a currency other than ETH."
    )
    price: Price | None = Field(None, description="Price of video, and of models without their own price.")
    gateway_prices: dict[Text, Price] = Field(
        default_factory=dict, description="Prices for single gateways: by name, or by account address."
    )
    auto_adjust_price: Flag | None = sets(
        "autoAdjustPrice", None, "Whether the cost of redeeming tickets is added to the price."
    )
    ticket_ev: Wei | None = sets("ticketEV", None, "Expected value of one ticket.")
    max_face_value: Wei | None = sets("maxFaceValue", None, "Highest face value of one ticket.")
    redeemer: Text | None = Field(
        None, description="Ticket redemption service to use: a redeemer of this fleet, or host:port outside it."
    )
    max_sessions: Sessions | None = sets(
        "maxSessions", None, 'How many streams it handles at once; "auto" if remote transcoders do the work.'
    )
    transcoding: Literal["local", "remote"] | None = Field(
        None,
        description="Where video is transcoded; by default remote exactly when a transcoder names this orchestrator.",
    )
    ai_work: Literal["local", "remote"] | None = Field(
        None, description="Where AI models run; by default remote exactly when an AI worker names this orchestrator."
    )
    secret: Secret | None = sets("orchSecret", None, "Secret that remote transcoders and AI workers present.")
    auth_webhook: HttpUrlOrSecret | None = sets(
        "authWebhookUrl", None, "Webhook that admits gateways and sets their prices."
    )
    ai_registry: Flag | None = Field(
        None, description="Whether the AI registry is used; by default only for mode ai on a chain."
    )
    object_store: StoreUrlOrSecret | None = sets("objectStore", None, "Where segments are stored.")
    live_payment_interval: Duration | None = sets(
        "livePaymentInterval", None, "Time between payments of live AI streams; the same on both sides."
    )
    trickle_host: Listener | None = sets(
        "liveAITrickleHostForRunner",
        None,
        "Address that runners use for live data instead of the public one.",
        examples=["10.0.0.5:8935"],
    )
    runners: tuple[Name, ...] = Field(
        (), description="Live runners that it offers, by their names here.", examples=[["vllm", "echo"]]
    )
    capabilities: dict[Name, Capability] = Field(
        default_factory=dict,
        description="Containers that you register with it (BYOC), by name: fleetc writes the document of each, to post "
        "after each start. The node is about to remove them in favour of runners.",
        examples=[{"comfy": {"url": "http://127.0.0.1:9000", "price": "0.36 USD / hour"}}],
    )
    live_runners: Flag | None = sets("useLiveRunners", None, "Whether live runners may register.")
    live_runner_address: HttpUrl | None = sets("liveRunnerAddr", None, "Base address that live runners call back.")
    live_runner_config: AbsolutePath | None = sets(
        "liveRunnerConfig",
        None,
        "File on the host with static live runners, if you write it yourself; else list them in runners.",
        examples=["/etc/livepeer/live-runners.json"],
    )
    live_runner_proxy: ProxyTemplate | None = sets(
        "liveRunnerProxyUrl",
        None,
        "Template for public addresses of live runners, with one {proxy}.",
        examples=["https://{proxy}.example.net"],
    )
