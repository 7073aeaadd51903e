"""What a user may write about monitoring: where Prometheus runs, whom it notifies, and when it raises an alert.

In: the raw `monitoring` table, and `gpu_exporter` of hosts. Out: frozen typed values. promtool accepts almost anything
as the address of a target, so addresses are checked here.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictStr
from pydantic.json_schema import WithJsonSchema

from fleetc.language.fields import (
    AbsolutePath,
    Base,
    HttpUrl,
    Integer,
    Listener,
    Name,
    Parsed,
    Share,
    Text,
    WholeSeconds,
    refuse,
)
from fleetc.language.quantities import Duration, QuantityError, parse_duration, parse_listener
from fleetc.language.quantities import Listener as Address
from fleetc.language.secret_fields import SecretRef, parse_secret

OWN_LABELS = (
    *("fleet", "host", "node", "role", "mode", "region", "wallet", "reward"),
    *("avatar", "slot", "service", "exporter", "severity", "mountpoint"),
    *("gpu", "uuid", "error_code", "pipeline", "model_name", "livepeerversion", "kind", "planned", "listed"),
)
"""Labels that fleetc sets on targets and alerts, or that its expressions read from what nodes and exporters serve."""

_TAKEN_LABELS = frozenset({*OWN_LABELS, "job", "instance", "le", "quantile", "alertname", "alertstate"})
_LABEL = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")


def _target(value: Any) -> Address:
    if isinstance(value, str) and "@" in value:
        raise refuse(
            "the address of a target cannot contain a user name or password", "write only host:port", secret=True
        )
    try:
        listener = parse_listener(value)
    except QuantityError as problem:
        raise refuse(problem.message, problem.help) from None
    if listener.is_any:
        raise refuse(
            "this is an address to listen on, not one that others can reach",
            f'write the address of the machine, such as "203.0.113.10:{listener.port}"',
        )
    return listener


def _label_name(text: str) -> str:
    if not _LABEL.fullmatch(text) or len(text) > 100:
        raise refuse("this is not a label name", "use letters, digits and _, not starting with a digit")
    if text.startswith("__") or text in _TAKEN_LABELS:
        raise refuse("Prometheus or fleetc sets this label", "choose another name")
    return text


def _interval(value: Duration) -> Duration:
    if value.whole_seconds > 120:
        raise refuse("alerts look back 5 minutes and need two scrapes in that time", 'write at most "120s"')
    return value


def _look(value: Duration) -> Duration:
    if not 60 <= value.whole_seconds <= 7 * 24 * 3600:
        raise refuse("hosts are looked at once a minute at most, and once a week at least", 'write it like "15m"')
    return value


def _round(value: Any) -> Duration:
    try:
        length = parse_duration(value)
    except QuantityError as problem:
        raise refuse(problem.message, problem.help) from None
    seconds = length.microseconds // 1_000_000
    if length.microseconds % 60_000_000 or not 3600 <= seconds <= 14 * 24 * 3600:
        raise refuse("a round lasts whole minutes, from an hour to two weeks", 'write it like "22h"')
    return length


def _host_file(value: Any) -> SecretRef:
    form = 'write { host_file = "/etc/fleetc-monitoring/name" } and put the file there'
    if isinstance(value, str):
        raise refuse("secrets do not belong in the spec", form, secret=True)
    found = parse_secret(value)
    if found.kind != "host_file":
        message = "the program that needs this secret reads it itself, from a file of its host"
        raise refuse(message, form)
    return found


TargetAddress = Annotated[
    Address, Parsed(_target), WithJsonSchema({"type": "string", "examples": ["203.0.113.10:9093"]})
]
_HOST_FILE_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["host_file"],
    "properties": {"host_file": {"type": "string", "description": "File on the host that holds only the secret."}},
}
HostFile = Annotated[SecretRef, Parsed(_host_file), WithJsonSchema(_HOST_FILE_SCHEMA)]
Port = Annotated[Integer, Field(ge=1, le=65535)]
LabelName = Annotated[StrictStr, AfterValidator(_label_name)]


class GpuExporter(Base):
    """The program on a host that serves GPU metrics. fleetc does not install it."""

    kind: Literal["dcgm", "nvidia-smi"] = Field(
        description="Which program: dcgm is NVIDIA's dcgm-exporter, nvidia-smi is nvidia_gpu_exporter."
    )
    port: Integer | None = Field(
        None, ge=1, le=65535, description="Port that it listens on; by default 9400 for dcgm and 9835 for nvidia-smi."
    )


class MonitoringProject(Base):
    """The Compose projects that watch the fleet: one on `host`, and one with an agent on each other host."""

    prometheus: Listener | None = Field(
        None,
        description='Where Prometheus listens; "127.0.0.1:9090" by default. It has no password, so open it only for '
        "agents on other hosts, and behind a firewall. Agents listen on the same port of their loopback.",
    )
    grafana: Listener | None = Field(
        None,
        description='Where Grafana listens; "127.0.0.1:3000" by default, for a tunnel: '
        "ssh -L 3000:127.0.0.1:3000 HOST.",
    )
    grafana_password: HostFile | None = Field(
        None,
        description="File with the password that Grafana's user `admin` gets at its first start, readable by user 472. "
        "Without one there is no login, and anybody who reaches Grafana may read.",
        examples=[{"host_file": "/etc/fleetc-monitoring/grafana-password"}],
    )
    alertmanager_port: Port | None = Field(
        None,
        description="Port of Alertmanager on loopback; 9093 by default. Prometheus sends it alerts.",
        examples=[9094],
    )
    node_exporter_port: Port | None = Field(
        None, description="Port of node_exporter on the loopback of each host; 9100 by default.", examples=[9101]
    )
    webhook: HostFile | None = Field(
        None,
        description="File with the URL that Alertmanager sends alerts to as its own JSON, readable by user 65534.",
    )
    slack: HostFile | None = Field(
        None,
        description="File with the URL of an incoming webhook of Slack, or of a service that takes the same, readable "
        "by user 65534.",
        examples=[{"host_file": "/etc/fleetc-monitoring/slack"}],
    )
    heartbeat: HostFile | None = Field(
        None,
        description="File with the URL that Alertmanager calls every minute while all is well, readable by user 65534. "
        "A service elsewhere listens there, and calls you when that stops: a host that is down sends no alert.",
        examples=[{"host_file": "/etc/fleetc-monitoring/heartbeat"}],
    )


class Monitoring(Base):
    """How the fleet is monitored: where Prometheus runs, and which values raise an alert."""

    host: Name | None = Field(
        None,
        description="Host of the fleet that Prometheus runs on; by default the only host. Metrics are on loopback: "
        "Prometheus reads those of its own host, and agents on other hosts send the rest.",
    )
    receiver: HttpUrl | None = Field(
        None,
        description="Where agents send the metrics they read; by default port 9090 of `host`, path /api/v1/write.",
    )
    receiver_token: HostFile | None = Field(
        None,
        description="Bearer token for the receiver, in a file of the hosts; none by default.",
        examples=[{"host_file": "/etc/prometheus/receiver-token"}],
    )
    scrape_interval: Annotated[WholeSeconds, AfterValidator(_interval)] | None = Field(
        None, description='How often metrics are read; "30s" by default.', examples=["30s"]
    )
    labels: dict[LabelName, Text] = Field(
        default_factory=dict,
        description="Extra labels of all metrics, besides fleet, host, node, role, mode and region.",
        examples=[{"team": "video"}],
    )
    alertmanagers: tuple[TargetAddress, ...] = Field(
        (), description="Alertmanagers that Prometheus sends alerts to, as host:port."
    )
    project: MonitoringProject | None = Field(
        None,
        description="Programs that watch the fleet, as a Compose project in `monitoring/`; without this table you run "
        "Prometheus, Grafana and the exporters yourself.",
    )
    rule_files: tuple[AbsolutePath, ...] = Field(
        (),
        description="Your own rule files that Prometheus reads in addition to alerts.yml, as paths on its machine.",
        examples=[["/etc/prometheus/rules/own.yml"]],
    )
    runbook: HttpUrl | None = Field(
        None,
        description="Page that every alert links to as its runbook_url.",
        examples=["https://wiki.example.net/livepeer"],
    )
    deposit_low: Share = Field(
        "25%", description="The remaining deposit is low below this percentage of the wallet's deposit."
    )
    reserve_low: Share = Field(
        "50%", description="The remaining reserve is low below this percentage of the wallet's reserve."
    )
    runway_low: WholeSeconds | None = Field(
        None,
        description="The deposit runs out soon if it lasts less than this at the rate of the last hour, or of the last "
        'day where that is higher; "24h" by default.',
        examples=["24h"],
    )
    declined_high: Share = Field(
        "10%",
        description="Alert if an orchestrator declines this percentage of its tickets.",
    )
    sessions_high: Share = Field("90%", description="Alert at this percentage of the session limit.")
    gpu_memory_high: Share = Field("85%", description="Alert above this percentage of a GPU's memory.")
    disk_high: Share = Field("90%", description="Alert above this percentage of a file system; `project` measures it.")
    restarts_high: Integer = Field(
        3, ge=1, le=1000, description="Number of restarts of a node within an hour that raises an alert."
    )
    reward_round: (
        Annotated[Duration, Parsed(_round), WithJsonSchema({"type": "string", "examples": ["22h"]})] | None
    ) = Field(None, description='Length of a round; reward is called once per round. "22h" by default.')
    verify_every: Annotated[WholeSeconds, AfterValidator(_look)] | None = Field(
        None,
        description="How often you run `fleetc verify` with a textfile. Alerts then report its findings, and a last "
        "run of three times this age. Without it there are no such alerts.",
        examples=["15m"],
    )
    verify_exporter: TargetAddress | None = Field(
        None,
        description="node_exporter that serves this textfile, as host:port, for Prometheus to read; only needed if "
        "nothing else of yours reads it.",
    )
