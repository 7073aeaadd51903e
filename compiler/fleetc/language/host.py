"""What a user may write about the fleet as a whole, its hosts, wallets and models.

In: raw tables `fleet`, `hosts`, `wallets`, `models`, `rollout`, `silence`. Out: frozen typed values.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, model_validator
from pydantic.json_schema import WithJsonSchema

from fleetc.language.avatar_fields import AvatarTagField
from fleetc.language.fields import (
    AbsolutePath,
    Address,
    Base,
    Bytes,
    Flag,
    GasPrice,
    GpuUuid,
    HostAddress,
    Image,
    Integer,
    Name,
    NeededTool,
    Parsed,
    Price,
    ReleaseField,
    Text,
    UserName,
    Wei,
    WholeSeconds,
    refuse,
)
from fleetc.language.monitoring import GpuExporter
from fleetc.language.quantities import parse_duration
from fleetc.language.secret_fields import RpcUrlOrSecret, Secret, SecretRef

_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _day(value: Any) -> date:
    if type(value) is date:
        return value
    try:
        repair = date.fromisoformat(value) if isinstance(value, str) and _DAY.fullmatch(value) else None
    except ValueError:
        repair = None
    raise refuse("until must be a day", "write it without quotes, like until = 2027-01-31", repair=repair)


Day = Annotated[date, Parsed(_day), WithJsonSchema({"type": "string", "format": "date", "examples": ["2027-01-31"]})]


class Out(NamedTuple):
    """Until when and why something is out of service, and who answers for it."""

    until: date
    reason: str
    owner: str | None = None

    @property
    def words(self) -> str:
        """Until when and why, for people."""
        return f"until {self.until}: {self.reason}"


def _out(value: Any) -> Out:
    texts = [value.get(key, "x") for key in ("reason", "owner")] if isinstance(value, dict) else []
    sound = isinstance(value, dict) and {"until", "reason"} <= value.keys() <= set(Out._fields)
    if not sound or type(value["until"]) is not date or not all(isinstance(text, str) and text for text in texts):
        form = 'write out = { until = 2027-01-31, reason = "new power supply" }; owner = "..." may follow'
        raise refuse("what is out of service has a last day, without quotes, and a reason", form)
    return Out(**value)


_PARTS = {"until": {"type": "string", "format": "date"}} | {key: {"type": "string"} for key in ("reason", "owner")}
_FORM = {"type": "object", "additionalProperties": False, "required": ["until", "reason"], "properties": _PARTS}
OutOfService = Annotated[Out, Parsed(_out), WithJsonSchema(_FORM)]


class FleetSettings(Base):
    """The fleet as a whole: its name, its network and the releases it runs."""

    name: Name = Field(description="Name of the fleet; it appears in file headings and in the Ansible inventory.")
    network: Name = Field(description='"offchain", or the chain that payments run on, such as "arbitrum-one-mainnet".')
    rpc: RpcUrlOrSecret | None = Field(
        None,
        description="JSON-RPC address of the chain, for all hosts that have none of their own; a secret reference when "
        "the address holds a key.",
    )
    controller: Address | None = Field(
        None,
        description="Protocol controller contract; required if the node has no built-in value for the network.",
    )
    gas_price: GasPrice | None = Field(
        None,
        description="Gas price to calculate payments with: orchestrators add the cost of redeeming tickets to their "
        "prices. Only `check` and the reports use it; nodes ask the chain. 0.05 gwei by default.",
    )
    fleetc: NeededTool | None = Field(
        None,
        description='Version of fleetc that this spec needs, such as ">=0.1" or "==0.1.0"; others refuse the spec.',
    )
    node_release: ReleaseField = Field(description="Release of the node that the fleet runs, such as v0.9.1.")
    image: Image | None = Field(
        None,
        description="Container image of the node without a tag; the node release becomes the tag.",
        examples=["livepeer/go-livepeer"],
    )
    avatar_release: AvatarTagField | None = Field(
        None,
        description="Avatar stack release that the fleet runs, such as v1.3.6; required if the fleet has avatars. "
        "A rollout brings the checkouts on hosts to it.",
    )


class Gpu(Base):
    """One GPU of a host. Its position in the list is the id that the node sees."""

    model: Text = Field(description="Name of the GPU model, such as RTX 4090.")
    uuid: GpuUuid | None = Field(
        None,
        description="UUID of the GPU as nvidia-smi -L prints it; nodes and slots may then refer to it.",
        examples=["GPU-5a1bf3f1-7d4c-4f5e-9c02-0f3b2a8c6e11"],
    )
    memory: Bytes | None = Field(None, description="Memory of the GPU.")
    encode_sessions: Integer | None = Field(
        None,
        ge=1,
        le=1000,
        description="How many hardware encode sessions the driver allows at once; 3 to 8 on consumer GPUs.",
    )


class Host(Base):
    """One machine: where Ansible and the network reach it, and how processes run on it."""

    address: HostAddress = Field(description="Address that Ansible connects to.")
    public: HostAddress | None = Field(None, description="Name or address under which the network reaches this host.")
    runtime: Literal["docker", "systemd"] = Field(description="How nodes run here: in containers or as systemd units.")
    region: Name | None = Field(None, description="Region label, used for grouping and monitoring.")
    gpus: tuple[Gpu, ...] = Field((), description="The GPUs of this host, in the order of their ids.")
    gpu_exporter: GpuExporter | None = Field(
        None, description="Program on this host that serves GPU metrics; the node serves none about GPU memory."
    )
    blackbox_port: Integer | None = Field(
        None,
        ge=1,
        le=65535,
        description="Port of a blackbox exporter on this host, such as 9115. It probes avatar slots and the live "
        "runners of its orchestrators. Only `monitoring.project` starts it; else you install it.",
    )
    ssh_user: UserName = Field("root", description="User that Ansible logs in as.", examples=["deploy"])
    ssh_port: Integer = Field(22, ge=1, le=65535, description="Port of the SSH server.", examples=[2222])
    become: Flag = Field(False, description="Whether Ansible must become root with sudo after logging in.")
    node_user: UserName = Field(
        "livepeer", description="User that nodes run as on a systemd host; created if missing.", examples=["livepeer"]
    )
    binary: AbsolutePath | None = Field(
        None,
        description="Path of a node program that you install on this systemd host yourself. Default: that of "
        "`programs`, else /usr/local/bin/livepeer.",
        examples=["/opt/livepeer/livepeer"],
    )
    build: Name | None = Field(
        None, description="Build of the programs that this systemd host runs, such as gpu; by default the table's own."
    )
    rpc: RpcUrlOrSecret | None = Field(
        None,
        description="JSON-RPC address of the chain for this host's nodes, such as a local chain node; by default that "
        "of the fleet.",
    )
    state_dir: AbsolutePath = Field(
        "/var/lib/livepeer",
        description="Directory with the data directories of this host's nodes.",
        examples=["/srv/livepeer"],
    )

    out: OutOfService | None = Field(
        None,
        description="Takes all that runs on this host out of service, with a last day and a reason. It stops, its data "
        "stays, and every name of it stays valid. Nothing comes back by date: remove the line.",
    )

    @model_validator(mode="after")
    def _runs_one_program(self) -> Host:
        if self.binary is not None and self.build is not None:
            raise refuse("a host with its own program runs no build of programs", "remove binary or build")
        return self


def _reward_by(value: Any) -> str:
    if not isinstance(value, str):
        raise refuse("reward_by must be the name of a node", 'write the name of one node, or "none"')
    return value


class Wallet(Base):
    """One chain account, shared by the nodes that use it."""

    address: Address = Field(description="Account address.")
    keystore: AbsolutePath = Field(description="Directory on the hosts that holds the encrypted key file.")
    password: Secret = Field(description="Where to find the password of the key file.")
    minimum_balance: Wei | None = Field(
        None,
        description="Balance below which you must top up the account. The node has no metric for it, so no alert "
        "watches it.",
    )
    deposit: Wei | None = Field(None, description="Deposit that a gateway with this account pays tickets from.")
    reserve: Wei | None = Field(None, description="Reserve that backs the tickets of a gateway with this account.")
    reward_by: (
        Annotated[str, Parsed(_reward_by), WithJsonSchema({"anyOf": [{"const": "none"}, {"type": "string"}]})] | None
    ) = Field(None, description='The one node that calls reward for this account; "none" when no node does.')


class Model(Base):
    """One AI model that orchestrators offer."""

    pipeline: Text = Field(description="AI pipeline that the model serves, such as text-to-image.")
    id: Text = Field(description="Model id, case-sensitive and with its organisation prefix.")
    memory: Bytes | None = Field(None, description="GPU memory that one warm copy needs.")
    price: Price | None = Field(None, description="Price that orchestrators ask unless they set their own.")
    image: Image | None = Field(
        None,
        description="Runner image for this model instead of the node's own choice.",
        examples=["livepeer/ai-runner:0.14.1"],
    )
    optimization: dict[Text, Flag | Text] = Field(
        default_factory=dict, description="Optimization switches passed to warm runner containers."
    )


def _hosts(what: str, least: int, form: str) -> Parsed:
    """A number of hosts, `least` or more, or a percentage of them."""

    def read(value: Any) -> int | str:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= 10_000:
            return value
        if isinstance(value, str) and value.endswith("%") and value[:-1].isascii() and value[:-1].isdigit():
            percent = int(value[:-1][:4])
            if 1 <= percent <= 100 and value == f"{percent}%":
                return value
        number = isinstance(value, str) and re.fullmatch("[1-9][0-9]{0,3}", value)
        message = f"{what} is a number of hosts or a percentage of them"
        raise refuse(message, form, repair=int(value) if number else None)

    return Parsed(read)


def _schema(least: int) -> WithJsonSchema:
    number, share = {"type": "integer", "minimum": least}, {"type": "string", "pattern": "^[0-9]{1,3}%$"}
    return WithJsonSchema({"anyOf": [number, share]})


_Batch = Annotated[int | str, _hosts("a batch", 1, 'write 2 or "25%"'), _schema(1)]
_Missable = Annotated[int | str, _hosts("may_miss", 0, 'write 0, 2 or "5%"'), _schema(0)]


class Rollout(Base):
    """How a new release reaches the hosts, step by step.

    The order, also within each host: remote signers, redeemers and reward callers, then orchestrators, workers and
    avatar stacks, gateways last. A host follows the hosts that its nodes use; hosts that run nothing come last. The
    hosts of one batch change together.
    """

    canary: Integer = Field(1, ge=0, le=100, description="How many hosts go first, alone, in rollout order.")
    batch: _Batch = Field("25%", description="How many hosts follow at a time, as a number or a percentage.")
    may_miss: _Missable = Field(
        0,
        description="How many hosts that do not answer, or are in quarantine, a rollout leaves behind, as a number or "
        "a percentage rounded down. It ends with 1 and names them. It stops if a node moves from or to one, if one "
        "calls reward, or if it has the last seller of a gateway.",
        examples=[1, "5%"],
    )
    by: Literal["region"] | None = Field(
        None, description="Finish one region before the next one begins; no batch has hosts of two regions."
    )
    stable: WholeSeconds = Field(
        parse_duration("30s"),
        json_schema_extra={"default": "30s"},
        description="How long all nodes of a host must stay healthy, without a restart, before the host is healthy.",
    )
    deadline: WholeSeconds = Field(
        parse_duration("3m"),
        json_schema_extra={"default": "3m"},
        description="How long a host waits for its nodes to become well; then it goes back to the release before.",
    )
    confirm: WholeSeconds = Field(
        parse_duration("5m"),
        json_schema_extra={"default": "5m"},
        description="How long a healthy host waits for the rollout to confirm its release. Then it rolls back by "
        "itself, even without a connection.",
    )
    drain: WholeSeconds | None = Field(
        None,
        description="How long an orchestrator may take to finish its sessions before it restarts; it takes no new ones "
        "meanwhile. Avatar slots are put to sleep before they change, and wake after it. Without it nothing waits.",
        examples=["20m"],
    )
    keep: Integer = Field(
        3, ge=1, le=100, description="How many releases stay on each host to go back to; those in use always stay."
    )
    live: Literal["try", "only", "never"] = Field(
        "try",
        description="Whether to set prices, limits and log level on running nodes, if nothing else changes. If a node "
        "refuses: try restarts it, only rolls back. never always restarts. Nodes in containers always restart, because "
        "Docker would start them again with old values.",
    )

    def batch_size(self, hosts: int) -> int:
        """The most hosts of a batch after the canary: a share is rounded down, and is at least one host."""
        return _part(self.batch, hosts) or 1

    def missable(self, hosts: int) -> int:
        """How many of the hosts may be left behind."""
        return _part(self.may_miss, hosts)


def _part(of: int | str, hosts: int) -> int:
    """A number, or a share of the hosts, rounded down."""
    return of if isinstance(of, int) else hosts * int(of.rstrip("%")) // 100


class Silence(Base):
    """One warning that you accept, or one false alarm of `inline-secret`."""

    code: Text = Field(description="Code of the warning.")
    reason: Text = Field(description="Why it is acceptable here; shown to reviewers.")
    at: Text | None = Field(
        None,
        description='Silence it only below this place of the spec, such as "gateways.gw-eu"; for inline-secret, '
        "exactly its place.",
    )
    until: Day | None = Field(
        None,
        description="Its last day; from the next day on it is an error, and the warning is back.",
    )
    owner: Text | None = Field(
        None,
        description="Who answers for it, as people call them; needed with `until`.",
        examples=["edge team"],
    )

    @model_validator(mode="after")
    def _someone_is_asked_when_it_ends(self) -> Silence:
        if self.until is not None and self.owner is None:
            raise refuse("a silence that ends needs an owner", 'add owner = "...": who decides what comes after it')
        return self


__all__ = ["FleetSettings", "Gpu", "Host", "Model", "Out", "Rollout", "SecretRef", "Silence", "Wallet"]
