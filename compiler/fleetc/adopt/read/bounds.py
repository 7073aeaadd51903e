"""What a unit or a container bounds, grants or does beside the command of its node, and what the new one has of it.

In: keys with values of a unit, of a service of Compose, of `docker run` or of a pod. Out: those that count, and what
becomes of them in words. A value is "" where only the key is known, or may be told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from fleetc.adopt.found.words import Aside, Process
from fleetc.adopt.read.unit_orders import orders
from fleetc.adopt.read.yaml_nodes import Node
from fleetc.blueprint.blueprint import HostBlueprint, Service
from fleetc.text import leaks
from fleetc.text.encoders import visible

Bounds = tuple[tuple[str, str], ...]

OF_UNITS = {
    "Restart": "always", "RestartSec": "5s", "StartLimitIntervalSec": "0", "TimeoutStopSec": "60s",
    "LimitNOFILE": "65536", "UMask": "0077", "PrivateTmp": "true", "ProtectSystem": "full",
    "ProtectHome": "read-only", "ProtectControlGroups": "true",
}  # fmt: skip
"""What every unit of fleetc has."""
WITHOUT_GPUS = {
    "NoNewPrivileges": "true", "ProtectKernelModules": "true", "ProtectKernelTunables": "true",
    "RestrictSUIDSGID": "true", "LockPersonality": "true",
}  # fmt: skip
"""What units of fleetc have whose nodes use no GPUs."""
OF_CONTAINERS = {
    "restart": "always", "stop_grace_period": "60s", "logging.max-size": "50m", "logging.max-file": "3",
}  # fmt: skip
"""What every container of fleetc has, as Compose files call it."""
_OF_OPTIONS = {"stop-timeout": "stop_grace_period", "log-driver": "logging.driver"}
"""What `docker run` calls otherwise than a Compose file."""
_ELSEWHERE_IN_CONTAINERS = frozenset({"WorkingDirectory"})
"""What a container has another way: relative paths are whole ones in a spec."""
WITH_GPUS = {"runtime": "nvidia"}
"""What gives a container GPUs in one way; fleetc does it in another."""

_OF_NO_ACCOUNT = frozenset({
    "Type", "PIDFile", "BusName", "RestartSteps", "RestartMaxDelaySec", "RemainAfterExit",
    "GuessMainPID", "NotifyAccess", "TimeoutStartSec", "SyslogIdentifier", "SyslogFacility", "SyslogLevel",
    "SyslogLevelPrefix", "StandardInput", "SuccessExitStatus", "RestartPreventExitStatus", "ReadWritePaths",
    "ReadWriteDirectories",
    "EnvironmentFile", "Environment", "ExecStart", "User", "LoadCredential", "Description",
    # of other sections
    "Documentation", "SourcePath", "DefaultInstance", "DefaultDependencies",
})  # fmt: skip
"""Settings of a unit that other places account for, or with which the process is the same."""
_LOGS = ("StandardOutput", "StandardError")
_TO_THE_JOURNAL = ("", "journal", "inherit", "syslog", "kmsg", "journal+console", "syslog+console")

OF_SERVICES = frozenset({
    "mem_limit", "memswap_limit", "mem_reservation", "mem_swappiness", "cpus", "cpu_count", "cpu_percent",
    "cpu_period", "cpu_quota", "cpu_shares", "cpuset", "pids_limit", "ulimits", "oom_kill_disable", "oom_score_adj",
    "blkio_config", "cap_add", "cap_drop", "security_opt", "privileged", "read_only", "devices", "device_cgroup_rules",
    "group_add", "userns_mode", "ipc", "pid", "uts", "cgroup", "cgroup_parent", "sysctls", "tmpfs", "shm_size",
    "init", "stop_signal", "stop_grace_period", "restart", "dns", "dns_search", "dns_opt", "extra_hosts", "healthcheck",
    "labels", "mac_address", "runtime",
})  # fmt: skip
"""Keys of a service of Compose that bound its container, or give it something."""
OF_RUNS = frozenset(
    {name.replace("_", "-") for name in OF_SERVICES if name not in ("mem_limit", "stop_grace_period", "extra_hosts")}
    | {"memory", "memory-swap", "memory-reservation", "memory-swappiness", "cpuset-cpus", "cpuset-mems", "ulimit",
       "cap-add", "cap-drop", "device", "add-host", "sysctl", "stop-timeout", "label", "userns", "health-cmd",
       "oom-score-adj", "log-driver", "log-opt"}
)  # fmt: skip
"""Options of `docker run` that do so."""
_ALONE = frozenset({"labels", "label", "healthcheck", "health-cmd"})
"""Keys whose values are long, and may be anything."""
_LONGEST = 60


def counts(key: str) -> bool:
    """Whether a setting of a unit is compared with that of the new unit."""
    return key not in _OF_NO_ACCOUNT and not orders(key)


def of_unit(settings: Iterable[tuple[str, str]]) -> Bounds:
    """What counts of the settings of a unit; of one that stands there twice, the last value, or all of a list."""
    found: dict[str, str] = {}
    for key, value in settings:
        if not counts(key) or key.startswith("Exec"):
            continue
        key = "StartLimitIntervalSec" if key == "StartLimitInterval" else key
        if key in _LOGS and value in _TO_THE_JOURNAL:
            continue
        several = key in found and key in ("SupplementaryGroups", "DeviceAllow", "AmbientCapabilities")
        found[key] = f"{found[key]} {value}" if several else value
    return tuple(sorted(found.items()))


def of_fields(fields: Iterable[tuple[str, Node]], counted: Collection[str], above: str = "") -> Bounds:
    """What counts of a map in YAML, with the keys of maps within as dotted ones."""
    found: list[tuple[str, str]] = []
    for key, node in fields:
        name = f"{above}{key}"
        if counted and key not in counted:
            continue
        if key in _ALONE:
            found.append((name, ""))
        elif node.kind == "map":
            found += of_fields(node.fields().items(), (), f"{name}.")
        else:
            found.append((name, ", ".join(one.text for one in node.texts())))
    return tuple(sorted(found))


def of_service(fields: dict[str, Node]) -> Bounds:
    """What the container of a service of Compose is bounded by, or given."""
    deploy = fields.get("deploy")
    resources = deploy.get("resources") if deploy is not None else None
    limits = resources.get("limits") if resources is not None else None
    logging = fields.get("logging")
    found = of_fields(fields.items(), OF_SERVICES)
    if limits is not None:
        found += of_fields(limits.fields().items(), (), "deploy.resources.limits.")
    return found + _logging(logging)


def _logging(logging: Node | None) -> Bounds:
    """Where the log of a container goes, and how much of it stays."""
    driver = logging.get("driver") if logging is not None else None
    options = logging.get("options") if logging is not None else None
    found = of_fields(options.fields().items(), (), "logging.") if options is not None else ()
    return found if driver is None or driver.text == "json-file" else (*found, ("logging.driver", driver.text))


def of_options(options: Iterable[tuple[str, str]]) -> Bounds:
    """What counts of the options of `docker run`."""
    found: dict[str, list[str]] = {}
    for key, value in options:
        if key == "log-opt":
            name, _, text = value.partition("=")
            found.setdefault(f"logging.{name}", []).append(text)
        elif key in OF_RUNS and (key, value) != ("log-driver", "json-file"):
            found.setdefault(_OF_OPTIONS.get(key, key), []).append("" if key in _ALONE else value)
    return tuple(sorted((key, ", ".join(filter(None, values))) for key, values in found.items()))


def changed(process: Process, service: Service, place: HostBlueprint) -> Iterator[Aside]:
    """What the new unit or container has otherwise, or not at all."""
    called = "container" if process.runtime == "docker" else "unit"
    has = _new(service, place) if process.runtime == place.runtime else {}
    same = process.runtime == place.runtime
    lost = [(key, value) for key, value in process.bounds if key not in has]
    gone = [_said(key, value) for key, value in lost if same or key not in _ELSEWHERE_IN_CONTAINERS]
    others = [
        (key, value) for key, value in process.bounds if value and key in has and _plain(value) != _plain(has[key])
    ]
    if gone:
        yield Aside(f"gone from its {called}: {', '.join(gone)}", "loses", ", ".join(gone))
    if others:
        words = ", ".join(f"{_said(key, value)} becomes {has[key]}" for key, value in others)
        values = tuple((key, _shown(value), has[key]) for key, value in others)
        yield Aside(f"in its {called}, {words}", values=values)


def added(process: Process, service: Service, place: HostBlueprint) -> Iterator[str]:
    """What the new unit or container has and that of today does not set, in one line: any spec has it so."""
    docker = place.runtime == "docker"
    today = dict(process.bounds) if process.runtime == place.runtime else {}
    new = OF_CONTAINERS if docker else _of_new_unit(service)
    more = [key if value == "true" else f"{key}={value}" for key, value in new.items() if key not in today]
    if not docker and process.home != service.data_dir:
        more.append("its data directory as HOME")
    if more:
        yield f"its new {'container' if docker else 'unit'} {'also ' if today else ''}has {', '.join(more)}"


def _new(service: Service, place: HostBlueprint) -> dict[str, str]:
    """What the unit or container of a service has; keys that come with GPUs only among it where it has some."""
    if place.runtime == "docker":
        return OF_CONTAINERS if service.gpus is None else OF_CONTAINERS | WITH_GPUS
    return _of_new_unit(service) | {"WorkingDirectory": service.data_dir}


def _of_new_unit(service: Service) -> dict[str, str]:
    groups = {"SupplementaryGroups": "docker"} if service.manages_containers else {}
    return OF_UNITS | groups | ({} if service.gpus is not None else WITHOUT_GPUS)


def _said(key: str, value: str) -> str:
    return f"{visible(key)}={_shown(value)}" if value else visible(key)


def _shown(value: str) -> str:
    text = leaks.shown(visible(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_TIME = re.compile(r"([0-9]{1,9}) ?(s|sec|second|seconds|m|min|minute|minutes|h|hr|hour|hours)?")
_SECONDS = {"m": 60, "h": 3600}


def _plain(value: str) -> str:
    """A value without the differences that mean nothing: words for true, units of time, two equal limits, zeros."""
    text = value.strip().lower()
    if text in ("yes", "on", "true", "1"):
        return "true"
    soft, colon, hard = text.partition(":")
    text = soft if colon and soft == hard else text
    parts = text.split()
    times = [found for part in parts if (found := _TIME.fullmatch(part))]
    if parts and len(times) == len(parts) and (len(parts) > 1 or times[0][2] or not text.startswith("0")):
        return str(sum(int(one[1]) * _SECONDS.get((one[2] or "s")[0], 1) for one in times))
    return text.lstrip("0") or "0"
