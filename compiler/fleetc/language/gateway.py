"""What a user may write about a gateway: the node that accepts streams and AI requests and pays for the work.

In: raw `gateways` tables. Out: frozen `Gateway` values. `Buyer` has the fields that a remote signer shares.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field, StrictStr, model_validator
from pydantic.json_schema import WithJsonSchema

from fleetc.language import quantities as q
from fleetc.language import units
from fleetc.language.fields import (
    AbsolutePath,
    Address,
    Base,
    CapPrice,
    Duration,
    Flag,
    HttpUrl,
    Integer,
    Listener,
    Name,
    Parsed,
    PositiveDuration,
    Text,
    Throughput,
    Wei,
    Weight,
    matching,
    refuse,
    refuse_quantity,
    sets,
)
from fleetc.language.node import ChainSettings, Mode
from fleetc.language.secret_fields import HttpUrlOrSecret, QueueUrlOrSecret, Secret, StoreUrlOrSecret

_CAP_FOR_RUNNERS = (
    "write the number of the highest price (fleetc check --explain-prices) as wei / pixel: a signer compares only the "
    "number"
)


def _is_of_a_runner(value: Any) -> bool:
    try:
        q.parse_runner_price(value)
    except q.QuantityError:
        return False
    return True


def _cap(value: Any) -> q.Price | str:
    if value == "any":
        return "any"
    if isinstance(value, str) and value.strip().lower() == "any":
        raise refuse("this is not a price", 'write "any"', repair="any")
    try:
        price = q.parse_price(value)
    except q.QuantityError as problem:
        if _is_of_a_runner(value):
            raise refuse("a cap is for a pixel, and this is the price of a live runner", _CAP_FOR_RUNNERS) from None
        raise refuse_quantity(problem, q.parse_price, value) from None
    if price.amount == 0:
        raise refuse("the node reads a cap of zero as no cap at all", 'write "any" if every price is fine')
    return price


def _broker(value: Any) -> q.Listener:
    form = 'write "kafka.example.net:9092"'
    if isinstance(value, str) and "," in value:
        raise refuse("the node takes only one broker, not a list", form)
    try:
        return q.parse_listener(value)
    except q.QuantityError as problem:
        raise refuse(problem.message, form) from None


RunnerVersion = Annotated[
    StrictStr,
    matching(
        re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){2}(-[0-9A-Za-z.-]{1,64})?"),
        "this is not a runner version",
        'write three numbers, such as "0.14.1"',
    ),
]


def _discovery(value: Any) -> str | Webhook:
    if value in ("registry", "ai-registry"):
        return str(value)
    if isinstance(value, dict) and set(value) == {"webhook"}:
        return Webhook.model_validate(value)
    raise refuse(
        "this is not a way to find orchestrators",
        'write "registry", "ai-registry" or { webhook = { env = "NAME" } }, or list them: orchestrators = ["orch-a"]',
    )


class Webhook(Base):
    """A service that answers with the list of orchestrators."""

    webhook: HttpUrlOrSecret = Field(description="Address that returns the list of orchestrators.")


class Reach(Base):
    """How orchestrators are queried and which of them are excluded."""

    blocked: tuple[Address, ...] = sets("orchBlocklist", (), "Accounts of orchestrators that are never used.")
    extra_nodes: Integer | None = sets(
        "extraNodes", None, "Extra instances of each orchestrator to ask during discovery.", ge=0, le=1000, examples=[2]
    )
    timeout: Duration | None = sets(
        "discoveryTimeout", None, "How long to wait for the first answers of orchestrators."
    )


class Selection(Reach):
    """How a gateway chooses among the orchestrators that it can pay."""

    random: Weight | None = sets("selectRandFreq", None, "Weight of random choice; the three weights add up to 1.")
    stake: Weight | None = sets("selectStakeWeight", None, "Weight of stake; the three weights add up to 1.")
    price: Weight | None = sets("selectPriceWeight", None, "Weight of a low price; the three weights add up to 1.")
    price_exponent: Weight | None = sets(
        "selectPriceExpFactor",
        None,
        "How sharply a higher price lowers the chance of being chosen; above 0.",
        examples=["100"],
    )
    min_performance: Weight | None = sets(
        "minPerfScore", None, "Lowest performance score, from 0 to 1.", examples=["0.8"]
    )
    performance_url: HttpUrl | None = sets("orchPerfStatsUrl", None, "Feed of performance scores.")
    performance_region: Text | None = sets(
        "region", None, "Region to look up in the feed of performance scores.", examples=["FRA"]
    )
    min_release: Text | None = sets(
        "orchMinLivepeerVersion", None, "Oldest node release accepted from an orchestrator.", examples=["0.9.0"]
    )


class Tickets(Base):
    """Limits of the probabilistic payments that a gateway makes."""

    max_ev: Wei | None = sets("maxTicketEV", None, "Highest expected value of one ticket.")
    max_total_ev: Wei | None = sets("maxTotalEV", None, "Highest expected value of one payment.")
    deposit_multiplier: Integer | None = sets(
        "depositMultiplier",
        None,
        "How many times a ticket's face value the deposit must cover.",
        ge=1,
        le=1_000_000,
        examples=[1],
    )


class LiveAi(Base):
    """Live AI video: authentication, heartbeats and payments."""

    auth_webhook: HttpUrlOrSecret | None = sets("liveAIAuthWebhookUrl", None, "Webhook that admits live AI streams.")
    auth_key: Secret | None = sets("liveAIAuthApiKey", None, "API key sent to that webhook.")
    heartbeat_url: HttpUrl | None = sets("liveAIHeartbeatURL", None, "Address that receives heartbeats.")
    heartbeat_headers: Secret | None = sets(
        "liveAIHeartbeatHeaders", None, "Headers sent with heartbeats, as name:value,name:value."
    )
    heartbeat_interval: PositiveDuration | None = sets("liveAIHeartbeatInterval", None, "Time between heartbeats.")
    mediamtx_password: Secret | None = sets("mediaMTXApiPassword", None, "Password for the MediaMTX API.")
    out_segment_timeout: Duration | None = sets(
        "liveOutSegmentTimeout", None, "How long output may stall before the stream ends.", examples=["60s"]
    )
    save_segments: Integer | None = sets(
        "liveAISaveNSegments", None, "How many segments to keep on disk for debugging.", ge=0, le=10_000, examples=[20]
    )
    report_interval: PositiveDuration | None = sets(
        "liveAICapReportInterval", None, "How often to ask orchestrators for their capabilities."
    )


class Kafka(Base):
    """Where events of a gateway or the signed tickets of a signer are published; only with monitor = true."""

    broker: Annotated[
        q.Listener, Parsed(_broker), WithJsonSchema({"type": "string", "examples": ["kafka.example.net:9092"]})
    ] = sets("kafkaBootstrapServers", ..., "A single broker as host:port; the node takes no list.")
    topic: Text = sets("kafkaGatewayTopic", ..., "Topic of the events.")
    user: Text | None = sets(
        "kafkaUser", None, "User name; needs a password, and also turns TLS on.", examples=["gw-eu"]
    )
    password: Secret | None = sets("kafkaPassword", None, "Password of the user.")


class MetadataQueue(Base):
    """Message broker for stream metadata."""

    uri: QueueUrlOrSecret = sets("metadataQueueUri", ..., "AMQP address of the broker.")
    exchange: Text | None = sets("metadataAmqpExchange", None, "Exchange that receives the metadata.")
    timeout: Duration | None = sets("metadataPublishTimeout", None, "How long publishing may take.")


class RemoteSigner(Base):
    """A signing service that holds the wallet instead of the gateway: one of this fleet, or one elsewhere."""

    signer: Name | None = Field(None, description="Name of a remote signer of this fleet.")
    url: HttpUrl | None = sets(
        "remoteSignerUrl",
        None,
        "Address of a signer outside this fleet, without a path. A signer speaks plain HTTP: use https "
        "only if a proxy in front of it does.",
    )
    headers: Secret | None = sets("remoteSignerHeaders", None, "Headers sent to the signer, as name:value,name:value.")

    @model_validator(mode="after")
    def _one_signer(self) -> RemoteSigner:
        if (self.signer is None) == (self.url is None):
            raise refuse(
                "a remote signer needs exactly one of signer and url",
                'write { signer = "name" } or { url = "http://signer.example.net:8935" }',
            )
        if self.url is not None and self.url.path not in ("", "/"):
            raise refuse(
                "the node drops the path of a signer's address and requests its own paths at the root",
                f'write {{ url = "{str(self.url).removesuffix(self.url.path)}" }}',
            )
        return self


class Buyer(ChainSettings):
    """Fields of the nodes that decide what is paid: gateways, or remote signers instead of them."""

    max_price: (
        Annotated[
            q.Price | str,
            Parsed(_cap),
            WithJsonSchema({"type": "string", "examples": ["1500 wei / pixel", "any"], units.UNIT: units.PRICE}),
        ]
        | None
    ) = Field(None, description='Highest price it pays for video and for models without their own cap; or "any".')
    max_model_prices: dict[Text, CapPrice] = Field(
        default_factory=dict, description="Highest price by model, or by pipeline for all other models of the pipeline."
    )
    price_feed: Address | None = sets(
        "priceFeedAddr", None, "Price feed contract for prices in a currency other than ETH."
    )
    orchestrators: tuple[Text, ...] = Field(
        (),
        description="Fixed list of orchestrators: their names here, or addresses outside this fleet.",
        examples=[["orch-a", "https://orch.example.net:8935"]],
    )
    discovery: (
        Annotated[
            str | Webhook,
            Parsed(_discovery),
            WithJsonSchema(
                {
                    "anyOf": [
                        {"enum": ["registry", "ai-registry"]},
                        {
                            "type": "object",
                            "required": ["webhook"],
                            "additionalProperties": False,
                            "properties": {"webhook": {}},
                        },
                    ]
                }
            ),
        ]
        | None
    ) = Field(
        None, description="How to find orchestrators without a fixed list: a registry on the chain, or a webhook."
    )
    tickets: Tickets = Field(default_factory=Tickets, description="Limits of its payments.")
    kafka: Kafka | None = Field(None, description="Where events are published.")


class Gateway(Buyer):
    """A gateway (broadcaster) takes streams and AI requests and pays orchestrators."""

    mode: Mode = Field(description="What it serves: video, ai, or dual for both on one port.")
    http: Listener | None = Field(None, description="HTTP listener for streams and AI requests; loopback by default.")
    rtmp: Listener | None = Field(None, description="RTMP listener for streams; loopback by default.")
    http_ingest: Flag | None = sets(
        "httpIngest", None, "Whether streams and AI requests are accepted over HTTP; by default the listener decides."
    )
    public: Text | None = sets(
        "gatewayHost",
        None,
        "Public host:port of the gateway, used in callbacks and events.",
        examples=["gw-eu.example.net:8935"],
    )
    auth_webhook: HttpUrlOrSecret | None = sets(
        "authWebhookUrl", None, "Webhook that admits streams.", examples=["https://control.example.net/ingest"]
    )
    ignore_max_price_if_needed: Flag | None = sets(
        "ignoreMaxPriceIfNeeded", None, "Whether to use a more expensive orchestrator when none is within the caps."
    )
    expected_load: Throughput | None = Field(
        None,
        description="What it expects to buy at max_price, such as 2000000000 pixels / s; its host's page then shows "
        "the cost per hour, and FLEET.md how long the deposit lasts.",
    )
    selection: Selection = Field(default_factory=Selection, description="How it chooses among orchestrators.")
    max_sessions: Integer | None = sets("maxSessions", None, "How many streams it handles at once.", ge=1, le=1_000_000)
    max_attempts: Integer | None = sets(
        "maxAttempts", None, "How many times a segment is tried.", ge=1, le=100, examples=[5]
    )
    renditions: tuple[Text, ...] = sets(
        "transcodingOptions",
        (),
        "Names of the node's built-in renditions for streams.",
        examples=[["P240p30fps16x9", "P360p30fps16x9"]],
    )
    ladder: Name | None = Field(None, description="Ladder of renditions for streams, instead of built-in ones.")
    local_verify: Flag | None = sets("localVerify", None, "Whether results are verified; by default only on a chain.")
    verifier_url: HttpUrl | None = sets("verifierUrl", None, "External verifier of results.")
    verifier_path: AbsolutePath | None = sets(
        "verifierPath", None, "Volume shared with the verifier.", examples=["/srv/verifier"]
    )
    current_manifest: Flag | None = sets(
        "currentManifest", None, "Whether the newest stream is served under a fixed name."
    )
    object_store: StoreUrlOrSecret | None = sets("objectStore", None, "Where segments are stored.")
    record_store: StoreUrlOrSecret | None = sets("recordStore", None, "Where recordings are stored.")
    failed_verification_bucket: Text | None = sets(
        "FVfailGsbucket", None, "Bucket for segments that failed verification.", examples=["failed-segments"]
    )
    failed_verification_key: Secret | None = sets("FVfailGskey", None, "Key of that bucket.")
    live: LiveAi = Field(default_factory=LiveAi, description="Settings of live AI video.")
    live_payment_interval: Duration | None = sets(
        "livePaymentInterval", None, "Time between payments of live AI streams; the same on both sides."
    )
    min_runner_versions: dict[Name, RunnerVersion] = Field(
        default_factory=dict,
        description="Lowest runner version by model; orchestrators with older ones are excluded.",
        examples=[{"realvis": "0.14.1"}],
    )
    ai_retry_timeout: Duration | None = sets(
        "aiProcessingRetryTimeout", None, "How long to retry starting an AI request."
    )
    metadata_queue: MetadataQueue | None = Field(None, description="Message broker for stream metadata.")
    remote_signer: RemoteSigner | None = Field(
        None,
        description="Signing service that holds the wallet instead: the gateway then runs off-chain, and wallet, caps "
        "and tickets are the signer's. Without its own orchestrators or webhook, it asks the signer for them.",
    )


__all__ = [
    "Buyer",
    "Gateway",
    "Kafka",
    "LiveAi",
    "MetadataQueue",
    "Reach",
    "RemoteSigner",
    "Selection",
    "Tickets",
    "Webhook",
]
