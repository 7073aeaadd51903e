"""What a user may write about live runners: programs that serve an app, which orchestrators offer and sell by time.

In: raw `runners` tables. Out: frozen `Runner` values. What the node accepts is its release v0.9.1's check of an entry.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictStr, model_validator
from pydantic.json_schema import WithJsonSchema

from fleetc.language.fields import (
    AbsolutePath,
    Base,
    Bytes,
    Flag,
    HttpUrl,
    Image,
    Integer,
    Name,
    Parsed,
    RunnerPrice,
    Text,
    VariableName,
    WholeSeconds,
    refuse,
)
from fleetc.language.node import GpuIds
from fleetc.language.quantities import QuantityError, Url, parse_url
from fleetc.language.secret_fields import Secret

_INT64 = 2**63 - 1
MOST_METADATA = 1024
"""Bytes of metadata that the node takes."""

_URL_PATH = re.compile(r"/[A-Za-z0-9._~!$&'()*+,;=:@%/-]{0,500}")
_OF_A_PROCESS = (
    *("arguments", "directories", "environment", "secret_environment", "gpus", "memory", "encode_sessions"),
    *("host_ipc", "path", "port", "image", "program", "ready_within"),
)
"""Fields of a runner that fleetc starts."""


def _trimmed(text: str) -> str:
    if text != text.strip() or not text:
        raise refuse("the node refuses text with spaces around it", "remove them", repair=text.strip() or None)
    return text


def _metadata(text: str) -> str:
    if len(text.encode()) > MOST_METADATA or "\ufffd" in text:
        raise refuse(f"the node takes at most {MOST_METADATA} bytes of metadata", "shorten it")
    return text


def _path(text: str) -> str:
    if not _URL_PATH.fullmatch(text):
        raise refuse("this is not the path of a URL", 'write it like "/v1"')
    return text


def _health(value: Any) -> str | Url:
    if isinstance(value, str) and value.startswith("/"):
        return _path(value)
    try:
        return parse_url(value, ("http", "https"))
    except QuantityError as problem:
        raise refuse(problem.message, 'write a path such as "/health", or a whole URL') from None


Trimmed = Annotated[Text, AfterValidator(_trimmed)]
UrlPath = Annotated[StrictStr, AfterValidator(_path)]
Health = Annotated[
    str | Url, Parsed(_health), WithJsonSchema({"type": "string", "examples": ["/health", "http://192.0.2.7:8000/up"]})
]


class Runner(Base):
    """A live runner serves one app. Orchestrators that list it offer it, and clients with a remote signer buy it.

    Either fleetc starts it on a `host`, or it exists at a `url`. Its name is its label on the node.
    """

    app: Trimmed = Field(
        description="What it serves, as clients ask for it: a model id, or a name.",
        examples=["vllm/qwen2.5-0.5b-instruct"],
    )
    mode: Literal["persistent", "single-shot"] = Field(
        "persistent",
        description="Whether a session stays with the runner (persistent), or each request is one (single-shot).",
        examples=["single-shot"],
    )
    price: RunnerPrice | None = Field(
        None, description="What it costs. The node counts in USD and converts at its own price feed."
    )
    capacity: Integer | None = Field(
        None, ge=1, le=1_000_000, description="How many sessions it takes at once; 1 by default.", examples=[4]
    )
    url: HttpUrl | None = Field(
        None,
        description="Where a runner is that fleetc does not start, as its orchestrators reach it.",
        examples=["https://proxy.example.net/sd3"],
    )
    host: Name | None = Field(None, description="Host on which fleetc starts it.")
    image: Image | None = Field(
        None,
        description="Its container image on a docker host, with a tag or better a digest.",
        examples=["vllm/vllm-openai:v0.11.0"],
    )
    program: AbsolutePath | None = Field(
        None, description="Its program on a systemd host, which you install.", examples=["/opt/echo/bin/echo-runner"]
    )
    arguments: tuple[Text, ...] = Field(
        (), description="Arguments of the program or the image, in order.", examples=[["--model", "qwen2.5"]]
    )
    port: Integer | None = Field(
        None,
        ge=1,
        le=65535,
        description="Port on which it listens; containers use the host's network.",
        examples=[8000],
    )
    path: UrlPath | None = Field(
        None, description="Where its app begins below that port; by default at the root.", examples=["/v1"]
    )
    health: Health | None = Field(
        None,
        description="What the orchestrator asks to know that it is well: a path below its address, or a whole URL. "
        "A runner that registers itself needs none.",
    )
    health_status: Integer | None = Field(
        None, ge=100, le=599, description="The one status that means well; 200 by default.", examples=[204]
    )
    ready_within: WholeSeconds | None = Field(
        None,
        description="The longest time from its start until it is healthy, such as for the load of a model. Reviews "
        "show it, and rollout.deadline must allow it.",
        examples=["10m"],
    )
    register_by: Literal["orchestrator", "runner"] = Field(
        "orchestrator",
        description="Who registers it: the orchestrator's own file (orchestrator), or the program itself with the "
        "orchestrator's secret (runner).",
        examples=["runner"],
    )
    routing: Literal["label", "runner-id"] | None = Field(
        None,
        description="Whether its public URL has its name (label), which survives restarts of the node, or a new id "
        "each time (runner-id). Default: its name, unless it registers itself.",
        examples=["runner-id"],
    )
    proxy: Flag | None = Field(
        None, description="Whether clients reach it at the orchestrator's template for public addresses."
    )
    version: Text | None = Field(None, description="Version that clients see.", examples=["1.4.0"])
    metadata: Annotated[Text, AfterValidator(_metadata)] | None = Field(
        None, description="Text that clients see, at most 1024 bytes.", examples=["region=eu"]
    )
    gpus: GpuIds | None = Field(
        None,
        description='GPUs that it gets, or "all"; by default none. Units have them in CUDA_VISIBLE_DEVICES.',
        examples=[[0], "all"],
    )
    memory: Bytes | None = Field(None, description="GPU memory that it takes on each of its GPUs.")
    encode_sessions: Integer | None = Field(
        None,
        ge=0,
        le=1000,
        description="Hardware encode sessions that it takes at once on each of its GPUs; none by default.",
        examples=[4],
    )
    directories: tuple[AbsolutePath, ...] = Field(
        (),
        description="Directories of the host that it reads and writes, under the same names, besides its own.",
        examples=[["/srv/models"]],
    )
    host_ipc: Flag | None = Field(
        None, description="Whether its container shares the memory segments of the host; by default not."
    )
    environment: dict[VariableName, Text] = Field(
        default_factory=dict,
        description="Environment variables of its process; never secrets.",
        examples=[{"HF_HOME": "/srv/models"}],
    )
    secret_environment: dict[VariableName, Secret] = Field(
        default_factory=dict,
        description="Environment variables with secret values, as references.",
        examples=[{"HF_TOKEN": {"vault": "hf_token"}}],
    )

    @model_validator(mode="after")
    def _is_somewhere(self) -> Runner:
        if (self.url is None) == (self.host is None):
            raise refuse(
                "a runner is either started by fleetc on a host, or exists at a url",
                'write host, image and port, or url = "http://192.0.2.7:8000"',
            )
        if self.url is not None:
            useless = sorted(self.model_fields_set.intersection(_OF_A_PROCESS))
            if useless:
                raise refuse(
                    f"fleetc does not start a runner with a url, so it cannot use {' and '.join(useless)}",
                    f"remove {' and '.join(useless)}, or write host instead of url",
                )
        elif self.port is None or (self.image is None) == (self.program is None):
            raise refuse(
                "a runner that fleetc starts needs a port, and either an image or a program",
                'write port = 8000 and image = "registry/name:tag"',
            )
        return self

    @model_validator(mode="after")
    def _can_be_known_to_be_well(self) -> Runner:
        if self.register_by == "runner":
            if self.routing == "label":
                raise refuse("the node never routes a runner by name that registers itself", "remove routing")
        elif self.health is None:
            raise refuse("the orchestrator needs to ask the runner whether it is well", 'write health = "/health"')
        return self


class Capability(Base):
    """A container that you register with an orchestrator (BYOC). The node is about to remove these."""

    url: HttpUrl = Field(
        description="Where the container is, as the orchestrator reaches it.", examples=["http://127.0.0.1:9000"]
    )
    capacity: Integer = Field(1, ge=1, le=1_000_000, description="How many requests it takes at once.")
    price: RunnerPrice = Field(description="What an hour or a minute of computing costs.")

    @model_validator(mode="after")
    def _is_sold_by_time(self) -> Capability:
        if self.price.sold_by.node != "hour":
            raise refuse("the node sells capabilities by the second of computing", 'write it like "0.36 USD / hour"')
        if max(self.price.second.as_integer_ratio()) > _INT64:
            raise refuse("the node cannot count what a second of this costs", "round the price")
        return self
