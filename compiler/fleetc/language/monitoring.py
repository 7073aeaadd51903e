"""What a user may write about watching the fleet: where Prometheus runs, whom it tells, and when it raises an alert.

In: the raw `monitoring` table, and `gpu_exporter` of hosts. Out: frozen typed values. promtool takes almost anything
for the address of a target, so addresses are checked here.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictStr
from pydantic.json_schema import WithJsonSchema

from fleetc.language.fields import AbsolutePath, Base, HttpUrl, Integer, Name, Parsed, Text, WholeSeconds, refuse
from fleetc.language.quantities import Duration, Listener, QuantityError, parse_duration, parse_listener

OWN_LABELS = (
    *("fleet", "host", "node", "role", "mode", "region", "wallet", "reward"),
    *("avatar", "slot", "service", "exporter", "severity"),
    *("gpu", "uuid", "error_code", "pipeline", "model_name"),
)
"""Labels that fleetc sets on targets and alerts, or that its expressions read from what nodes and exporters serve."""

_TAKEN_LABELS = frozenset({*OWN_LABELS, "job", "instance", "le", "quantile", "alertname", "alertstate"})
_LABEL = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")
_SHARE = "([1-9][0-9]?|100)%"


def _target(value: Any) -> Listener:
    if isinstance(value, str) and "@" in value:
        raise refuse("the address of a target holds no user name or password", "write host:port alone", secret=True)
    try:
        listener = parse_listener(value)
    except QuantityError as problem:
        raise refuse(problem.message, problem.help) from None
    if listener.is_any:
        raise refuse(
            "this is where a program listens, not where others reach it",
            f'write the address of the machine, such as "203.0.113.10:{listener.port}"',
        )
    return listener


def _label_name(text: str) -> str:
    if not _LABEL.fullmatch(text) or len(text) > 100:
        raise refuse("this is not the name of a label", "write letters, digits and _, no digit first")
    if text.startswith("__") or text in _TAKEN_LABELS:
        raise refuse("Prometheus or fleetc sets this label", "choose another name")
    return text


def _share(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(_SHARE, value):
        repair = f"{value}%" if type(value) is int and 1 < value <= 100 else None  # 1 may mean all
        raise refuse("this is not a share", 'write whole percent from 1 to 100, such as "85%"', repair=repair)
    return value


def _interval(value: Duration) -> Duration:
    if value.whole_seconds > 120:
        raise refuse("alerts look back 5 minutes and need two scrapes there", 'write at most "120s"')
    return value


def _round(value: Any) -> Duration:
    try:
        length = parse_duration(value)
    except QuantityError as problem:
        raise refuse(problem.message, problem.help) from None
    seconds = length.microseconds // 1_000_000
    if length.microseconds % 60_000_000 or not 3600 <= seconds <= 14 * 24 * 3600:
        raise refuse("a round takes whole minutes, from an hour to two weeks", 'write it like "22h"')
    return length


Share = Annotated[str, Parsed(_share), WithJsonSchema({"type": "string", "pattern": f"^{_SHARE}$"})]
TargetAddress = Annotated[
    Listener, Parsed(_target), WithJsonSchema({"type": "string", "examples": ["203.0.113.10:9093"]})
]
LabelName = Annotated[StrictStr, AfterValidator(_label_name)]


class GpuExporter(Base):
    """The program on a host that serves metrics of its GPUs. fleetc does not install it."""

    kind: Literal["dcgm", "nvidia-smi"] = Field(
        description="Which one: dcgm is NVIDIA's dcgm-exporter, nvidia-smi is nvidia_gpu_exporter."
    )
    port: Integer | None = Field(
        None, ge=1, le=65535, description="Port that it listens on; by default 9400 for dcgm and 9835 for nvidia-smi."
    )


class Monitoring(Base):
    """How the fleet is watched: where Prometheus runs, and which values raise an alert."""

    host: Name | None = Field(
        None,
        description="Host of the fleet that Prometheus runs on; the only host of a fleet with one. Metrics are served "
        "on loopback, so Prometheus reads those of its own host, and an agent on each other host sends it the rest.",
    )
    receiver: HttpUrl | None = Field(
        None,
        description="Where agents write the metrics they read; by default port 9090 of `host`, path /api/v1/write.",
    )
    receiver_token_file: AbsolutePath | None = Field(
        None, description="File on the hosts with the bearer token that the receiver wants; none by default."
    )
    scrape_interval: Annotated[WholeSeconds, AfterValidator(_interval)] | None = Field(
        None, description='How often metrics are read; "30s" by default.'
    )
    labels: dict[LabelName, Text] = Field(
        default_factory=dict,
        description="Further labels of everything that is read, beside fleet, host, node, role, mode and region.",
    )
    alertmanagers: tuple[TargetAddress, ...] = Field(
        (), description="Alertmanagers that Prometheus tells of alerts, as host:port."
    )
    rule_files: tuple[AbsolutePath, ...] = Field(
        (), description="Rule files of your own that Prometheus reads beside alerts.yml, as paths on its machine."
    )
    runbook: HttpUrl | None = Field(None, description="Page that every alert points to as its runbook_url.")
    deposit_low: Share = Field(
        "25%", description="Share of the wallet's deposit below which what is left of it is low."
    )
    reserve_low: Share = Field(
        "50%", description="Share of the wallet's reserve below which what is left of it is low."
    )
    sessions_high: Share = Field("90%", description="Share of the session limit from which a node is near it.")
    gpu_memory_high: Share = Field("85%", description="Share of a GPU's memory above which it is nearly full.")
    restarts_high: Integer = Field(
        3, ge=1, le=1000, description="Restarts of a node within an hour from which something is wrong."
    )
    reward_round: (
        Annotated[Duration, Parsed(_round), WithJsonSchema({"type": "string", "examples": ["22h"]})] | None
    ) = Field(None, description='Length of a round, in which reward is called once; "22h" by default.')
