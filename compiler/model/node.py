"""What every node has in common, whatever its role.

In: raw tables of nodes. Out: frozen typed values that `gateway.py`, `orchestrator.py` and `worker.py` extend.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.json_schema import WithJsonSchema

from compiler.model.fields import (
    AbsolutePath,
    Address,
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
    Secret,
    Text,
    VariableName,
    WholeSeconds,
    refuse,
)

Mode = Literal["video", "ai", "dual"]


def _gpu_ids(value: Any) -> tuple[int, ...] | str:
    if value == "all":
        return "all"
    if isinstance(value, list) and value and all(isinstance(i, int) and not isinstance(i, bool) for i in value):
        if all(0 <= i <= 63 for i in value):
            return tuple(value)
        raise refuse("a GPU id is out of range", "write the places of the GPUs in the host's list, from 0")
    raise refuse("this is no list of GPU ids", 'write [0, 1], or "all"; leave the key out to work on the CPU')


GpuIds = Annotated[
    tuple[int, ...] | str,
    Parsed(_gpu_ids),
    WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "integer", "minimum": 0}}, {"const": "all"}]}),
]


class NodeSettings(Base):
    """Fields that each gateway, orchestrator, transcoder and AI worker may have."""

    host: Name = Field(description="Host that the node runs on.")
    node_release: ReleaseField | None = Field(
        None, description="Release of this node, when it differs from the fleet's."
    )
    image: Image | None = Field(
        None, description="Container image of this node; with a tag or digest it is taken as it is."
    )
    cli: Listener | None = Field(
        None,
        description="Administration listener. It can move funds without a password, so it belongs on loopback.",
    )
    cli_exposed: Flag = Field(
        False,
        description="Says aloud that the administration listener may stand beyond loopback, behind a firewall.",
    )
    data_dir: AbsolutePath | None = Field(
        None, description="Data directory; by default one of its own under the host's state_dir."
    )
    verbosity: Integer | None = Field(None, ge=0, le=99, description="Log verbosity; 6 is verbose.")
    monitor: Flag | None = Field(
        None, description="Whether the node serves Prometheus metrics on its administration listener."
    )
    metrics_per_stream: Flag | None = Field(None, description="Whether metrics carry a label for each stream.")
    metrics_client_ip: Flag | None = Field(
        None, description="Whether metrics carry the client's address; this implies a label for each stream."
    )
    environment: dict[VariableName, Text] = Field(
        default_factory=dict, description="Further environment variables of the process; never secrets."
    )
    secret_environment: dict[VariableName, Secret] = Field(
        default_factory=dict,
        description="Further environment variables whose values are secrets, as references.",
    )


class ChainSettings(NodeSettings):
    """Fields of the nodes that hold a wallet: gateways and orchestrators."""

    wallet: Name | None = Field(None, description="Wallet of the node; needed on a chain.")
    block_polling_interval: WholeSeconds | None = Field(
        None, description="How often the chain is polled, in whole seconds."
    )
    transaction_timeout: Duration | None = Field(None, description="How long to wait before a transaction is replaced.")
    max_transaction_replacements: Integer | None = Field(
        None, ge=0, le=100, description="How often a transaction is replaced at most."
    )
    gas_limit: Integer | None = Field(None, ge=1, description="Gas limit of transactions; estimated when left out.")
    min_gas_price: GasPrice | None = Field(None, description="Lowest gas price that is offered.")
    max_gas_price: GasPrice | None = Field(None, description="Highest gas price that is paid; no limit when left out.")
    initialize_round: Flag | None = Field(None, description="Whether the node initializes protocol rounds.")
    initialize_round_max_delay: Duration | None = Field(
        None, description="Upper bound of the random wait before a round is initialized."
    )
    price_feed: Address | None = Field(None, description="Price feed contract for prices in another currency than ETH.")


class GpuSettings(Base):
    """Fields of the nodes that use GPUs."""

    gpus: GpuIds | None = Field(
        None, description='GPU ids of the host that the node uses, or "all"; left out, it works on the CPU.'
    )
    netint: tuple[Text, ...] = Field((), description="NetInt devices for transcoding, by id; instead of GPUs.")
    test_gpu: Flag | None = Field(None, description="Whether GPUs are tested by encoding and decoding at the start.")
    hevc_decoding: Flag | None = Field(
        None, description="Whether HEVC input is decoded; left out, the node finds out by itself."
    )


class ModelUse(Base):
    """One model that a node offers or runs."""

    use: Name = Field(description="Name of the model in the models table.")
    warm: Flag = Field(
        False,
        description="Whether a container with the model is kept loaded; a cold start takes 30 to 120 s.",
    )
    capacity: Integer | None = Field(
        None, ge=1, le=1000, description="How many requests at once; each warm one is a container."
    )
    price: Price | None = Field(None, description="Price of this node for the model instead of the model's own.")
    url: Text | None = Field(None, description="Address of a runner container that is managed elsewhere.")


class AiSettings(Base):
    """Fields of the nodes that run AI models in containers."""

    models: tuple[ModelUse, ...] = Field((), description="Models that the node offers.")
    models_dir: AbsolutePath | None = Field(
        None,
        description="Directory on the host that holds model weights; by default beside the data directory.",
    )
    containers_per_gpu: Integer | None = Field(
        None, ge=1, le=10, description="Runner containers that may share one GPU."
    )
    runner_image: Image | None = Field(None, description="Runner image for pipelines that have no image of their own.")
    runner_logs: Flag | None = Field(None, description="Whether runner containers log verbosely.")
