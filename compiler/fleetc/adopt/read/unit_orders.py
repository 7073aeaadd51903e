"""What a unit waits for, needs or checks beside its own process, and what the new one has of it.

In: the settings of a unit. Out: those that order it, bind it or keep it from starting, and in words what is lost of
them. None of it matters to a process that runs: it counts when the unit starts or stops, and when another one does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fleetc.adopt.found.words import Aside, Process
from fleetc.blueprint.blueprint import HostBlueprint, Service
from fleetc.text import leaks
from fleetc.text.encoders import visible

Orders = tuple[tuple[str, str], ...]

_MOUNTS = frozenset({"RequiresMountsFor", "WantsMountsFor"})
_WAITS = _MOUNTS | {"After"}
_KEYS = _WAITS | {
    "Before", "Wants", "Requires", "Requisite", "BindsTo", "PartOf", "Upholds", "Conflicts", "OnFailure", "OnSuccess",
    "PropagatesReloadTo", "ReloadPropagatedFrom", "PropagatesStopTo", "StopPropagatedFrom", "JoinsNamespaceOf",
    "WantedBy", "RequiredBy", "UpheldBy", "Alias", "Also",
}  # fmt: skip
_BY_ITSELF = frozenset({
    "network-online.target", "network.target", "network-pre.target", "local-fs.target", "local-fs-pre.target",
    "sysinit.target", "basic.target", "sockets.target", "paths.target", "slices.target", "system.slice", "-.slice",
    "syslog.target", "syslog.socket", "systemd-journald.socket", "systemd-tmpfiles-setup.service",
})  # fmt: skip
"""What the new unit waits for, itself or by what every unit waits for; the syslog target is none any more."""
_STARTED_BY = frozenset({"multi-user.target", "default.target", "graphical.target"})
"""What starts the new unit at boot: it is wanted by the first, and the others need that."""
_OF_DOCKER = frozenset({"docker.service", "docker.socket", "containerd.service"})
_MOST = 6


def orders(key: str) -> bool:
    """Whether a setting of a unit orders it, binds it, or keeps it from starting."""
    return key in _KEYS or key.startswith(("Condition", "Assert"))


def orders_of(settings: Iterable[tuple[str, str]]) -> Orders:
    """Those settings among all of a unit, each name of a list by itself; "" where only the key may be told."""
    found: list[tuple[str, str]] = []
    for key, value in settings:
        if key in _KEYS:
            found += [(key, name) for name in value.split() or [""]]
        elif orders(key):
            found.append((key, value))
    return tuple(dict.fromkeys(found))


def lost_orders(process: Process, service: Service, place: HostBlueprint) -> Iterator[Aside]:
    """What the new unit or container does not wait for any more, is not bound to, or does not check."""
    keys: dict[str, list[str]] = {}
    checks: list[str] = []
    for key, name in process.orders:
        if key not in _KEYS:
            checks.append(f"{key}={_shown(name)}" if name else key)
        elif not _has(key, name, service, place):
            keys.setdefault(name, []).append(key)
    waits = [name for name, found in keys.items() if not _WAITS.isdisjoint(found)]
    others = [name for name, found in keys.items() if _WAITS.isdisjoint(found)]
    parts = [
        (topic, _some([_tied(name, keys[name]) for name in names]), _some([_shown(name) or "a unit" for name in names]))
        for topic, names in (("no longer waits for", waits), ("is no longer tied to", others))
        if names
    ]
    parts += [("no longer checks", _some(checks), _some(checks))] if checks else []
    if parts:
        words = "; ".join(f"{topic} {whole}" for topic, whole, _ in parts)
        topic, _, detail = parts[0]
        more = "".join(f"; {other} {names}" for other, _, names in parts[1:])
        yield Aside(f"its unit {words}", topic, f"{detail}{more}")


def _some(found: list[str]) -> str:
    return ", ".join(found[:_MOST]) + (f" and {len(found) - _MOST} more" if len(found) > _MOST else "")


def _tied(name: str, keys: list[str]) -> str:
    shown = _shown(name) if name else "a unit"
    return shown if keys == ["After"] else f"{shown} ({', '.join(keys)})"


def _shown(name: str) -> str:
    return leaks.shown(visible(name))[:100]


def _has(key: str, name: str, service: Service, place: HostBlueprint) -> bool:
    """Whether the new unit has an order, or something that does the same."""
    if key == "WantedBy":
        return name in _STARTED_BY
    docker = place.runtime == "docker"
    if key in ("Before", "Conflicts"):
        return name == "shutdown.target" or (key == "Before" and name in _STARTED_BY)
    if docker and name in _OF_DOCKER:
        return True
    if key == "After" and service.manages_containers and name == "docker.service":
        return True
    if key not in ("After", "Wants", "Requires", *_MOUNTS):
        return False
    path = name if key in _MOUNTS else _path_of(name)
    if path and not docker and f"{service.data_dir}/".startswith(f"{path.rstrip('/')}/"):
        return True  # a unit waits for the mounts of its working directory
    return name in _BY_ITSELF


def _path_of(name: str) -> str:
    """The path of a unit of a mount; "" for any other unit."""
    stem = name.removesuffix(".mount")
    if stem == name:
        return ""
    path = stem.strip("-").replace("-", "/")
    return "/" + re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), path)
