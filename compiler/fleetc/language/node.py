"""The common parts of all nodes.

In: raw tables of nodes. Out: frozen typed values that the files of the roles extend.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, StrictStr
from pydantic.json_schema import WithJsonSchema

from fleetc.language.fields import (
    GPU_UUID_PATTERN,
    AbsolutePath,
    Base,
    Duration,
    Flag,
    GasPrice,
    Image,
    Integer,
    Listener,
    Name,
    Parsed,
    Price,
    ReleaseField,
    Text,
    VariableName,
    WholeSeconds,
    is_gpu_uuid,
    refuse,
    sets,
)
from fleetc.language.host import OutOfService
from fleetc.language.quantities import QuantityError, Url, parse_url
from fleetc.language.secret_fields import Secret

Mode = Literal["video", "ai", "dual"]


def _gpu_ids(value: Any) -> tuple[int | str, ...] | str:
    if value == "all":
        return "all"
    if isinstance(value, list) and value and all(type(i) is int or is_gpu_uuid(i) for i in value):
        if all(isinstance(i, str) or 0 <= i <= 63 for i in value):
            return tuple(value)
        raise refuse("a GPU id is out of range", "write the positions of the GPUs in the host's list, counted from 0")
    raise refuse(
        "this is not a list of GPUs", 'write [0, 1], UUIDs from nvidia-smi -L, or "all"; remove the key to use the CPU'
    )


GpuIds = Annotated[
    tuple[int | str, ...] | str,
    Parsed(_gpu_ids),
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "array",
                    "items": {
                        "anyOf": [
                            {"type": "integer", "minimum": 0},
                            {"type": "string", "pattern": f"^{GPU_UUID_PATTERN}$"},
                        ]
                    },
                },
                {"const": "all"},
            ]
        }
    ),
]


def _extra_value(value: Any) -> bool | int | str:
    if isinstance(value, bool) or (isinstance(value, int) and -(2**63) <= value < 2**63):
        return value
    if isinstance(value, str) and 0 < len(value) <= 100_000:
        return value
    raise refuse("a flag takes true or false, a whole number or text", 'write decimal numbers as text: "0.5"')


ExtraValue = Annotated[
    bool | int | str,
    Parsed(_extra_value),
    WithJsonSchema({"type": ["boolean", "integer", "string"]}),
]


def _device(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_./:-]{1,100}", text):
        raise refuse("this is not a single device id", 'write each id as a separate item: netint = ["0", "1"]')
    return text


def _runner_url(value: Any) -> Url:
    try:
        return parse_url(value, ("http", "https", "ws", "wss"))
    except QuantityError as problem:
        raise refuse(problem.message, problem.help) from None


class NodeSettings(Base):
    """Fields of every node."""

    host: Name = Field(description="Host that the node runs on.")
    out: OutOfService | None = Field(
        None, description="Takes this node out of service, with a last day and a reason, as for a host."
    )
    node_release: ReleaseField | None = Field(None, description="Release of this node if it differs from the fleet's.")
    image: Image | None = Field(
        None,
        description="Container image of this node; with a tag or digest it is used as is.",
        examples=["livepeer/go-livepeer:v0.9.1"],
    )
    cli: Listener | None = Field(
        None, description="Administration listener. It can move funds without a password, so keep it on loopback."
    )
    cli_exposed: Flag = Field(
        False,
        description="Confirms that the administration listener may be reachable beyond loopback, behind a firewall.",
    )
    data_dir: AbsolutePath | None = Field(
        None,
        description="Data directory; by default its own under the host's state_dir.",
        examples=["/srv/livepeer/gw-eu"],
    )
    hardened: Flag = Field(
        True,
        description="Whether the process runs with two Linux capabilities only, for files and ports, and cannot gain "
        "more. This does not change nodes with GPUs, and nodes that start containers.",
    )
    verbosity: Integer | None = sets("v", None, "Log verbosity; 6 is verbose.", ge=0, le=99, examples=[6])
    monitor: Flag | None = sets(
        "monitor", None, "Whether the node serves Prometheus metrics on its administration listener."
    )
    metrics_per_stream: Flag | None = sets("metricsPerStream", None, "Whether metrics have a label for each stream.")
    metrics_client_ip: Flag | None = sets(
        "metricsClientIP", None, "Whether metrics have the client's address; this implies a label for each stream."
    )
    environment: dict[VariableName, Text] = Field(
        default_factory=dict,
        description="Extra environment variables of the process, such as LD_LIBRARY_PATH if a program with GPU support "
        "has its libraries elsewhere; never secrets.",
        examples=[{"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"}],
    )
    secret_environment: dict[VariableName, Secret] = Field(
        default_factory=dict,
        description="Extra environment variables with secret values, as references.",
        examples=[{"HF_TOKEN": {"vault": "hf_token"}}],
    )
    extra_flags: dict[Text, ExtraValue] = Field(
        default_factory=dict,
        description="Flags of the node's release that no field sets, by name: true or false, a number, or text. Every "
        "flag known to this version of fleetc has a field, is replaced or is for testing. Flags of a newer release are "
        "passed as written.",
        examples=[{"someNewFlag": True}],
    )


class ChainSettings(NodeSettings):
    """Fields of the nodes that talk to the chain and hold a wallet: all except remote workers."""

    wallet: Name | None = Field(None, description="Wallet of the node; required on a chain.")
    cli_transactions: Flag | None = sets(
        "enableCliTxRoutes",
        None,
        "Whether the administration listener accepts transactions and changes of registration and gas prices. Off by "
        "default from v0.9.2 on; always on before.",
    )
    block_polling_interval: WholeSeconds | None = sets(
        "blockPollingInterval", None, "How often the chain is polled, in whole seconds."
    )
    transaction_timeout: Duration | None = sets(
        "transactionTimeout", None, "How long to wait before a transaction is replaced.", examples=["5m"]
    )
    max_transaction_replacements: Integer | None = sets(
        "maxTransactionReplacements",
        None,
        "How many times a transaction is replaced at most.",
        ge=0,
        le=100,
        examples=[3],
    )
    gas_limit: Integer | None = sets(
        "gasLimit", None, "Gas limit of transactions; estimated by default.", ge=1, examples=[500000]
    )
    min_gas_price: GasPrice | None = sets("minGasPrice", None, "Lowest gas price that is offered.")
    max_gas_price: GasPrice | None = sets(
        "maxGasPrice", None, "Highest gas price that is paid; no limit by default.", examples=["40 gwei"]
    )
    initialize_round: Flag | None = sets("initializeRound", None, "Whether the node initializes protocol rounds.")
    initialize_round_max_delay: Duration | None = sets(
        "initializeRoundMaxDelay", None, "Upper bound of the random wait before a round is initialized."
    )


class GpuSettings(Base):
    """Fields of the nodes that use GPUs."""

    gpus: GpuIds | None = Field(
        None,
        description='GPU ids of the host that the node uses, or "all"; by default it uses the CPU.',
        examples=[[0, 1], "all"],
    )
    netint: tuple[Annotated[StrictStr, AfterValidator(_device)], ...] = sets(
        "netint", (), "NetInt devices for transcoding, by id; instead of GPUs.", examples=[["0", "1"]]
    )
    test_gpu: Flag | None = sets("testTranscoder", None, "Whether GPUs are tested by encoding and decoding at startup.")
    hevc_decoding: Flag | None = sets(
        "hevcDecoding", None, "Whether HEVC input is decoded; by default the node finds out itself."
    )


class ModelUse(Base):
    """One model that a node offers or runs."""

    instead: ClassVar[dict[str, str]] = {
        "token": "fleetc puts no secret into the list of models: let the runner answer its node without a token, or "
        'run a proxy beside the node that adds it, and write url = "http://127.0.0.1:8100"'
    }
    """Keys that the node has and the spec does not, and what to do about one; `problems.py` asks here."""

    use: Name = Field(description="Name of the model in the models table.")
    warm: Flag = Field(
        False, description="Whether a container with the model is kept loaded; a cold start takes 30 to 120 s."
    )
    capacity: Integer | None = Field(
        None,
        ge=1,
        le=1000,
        description="How many requests it handles at once; each warm one is a container.",
        examples=[1],
    )
    price: Price | None = Field(None, description="Price of this node for the model, instead of the model's own price.")
    gateway_prices: dict[Text, Price] = Field(
        default_factory=dict,
        description="Prices of the model for single gateways, by name or account; only if remote workers run it.",
    )
    url: (
        Annotated[
            Url,
            Parsed(_runner_url),
            WithJsonSchema({"type": "string", "examples": ["http://203.0.113.50:8000"]}),
        ]
        | None
    ) = Field(None, description="Address of a runner container that is managed elsewhere; the node sends it no token.")


class AiSettings(Base):
    """Fields of the nodes that run AI models in containers."""

    models: tuple[ModelUse, ...] = Field((), description="Models that the node offers.")
    models_dir: AbsolutePath | None = Field(
        None,
        description="Directory on the host that holds model weights; by default beside the data directory.",
        examples=["/srv/models"],
    )
    containers_per_gpu: Integer | None = sets(
        "aiRunnerContainersPerGPU", None, "How many runner containers may share one GPU.", ge=1, le=10, examples=[2]
    )
    runner_image: Image | None = Field(
        None, description="Runner image for pipelines without their own image.", examples=["livepeer/ai-runner:0.14.1"]
    )
    runner_logs: Flag | None = sets("aiVerboseLogs", None, "Whether runner containers log verbosely.")
