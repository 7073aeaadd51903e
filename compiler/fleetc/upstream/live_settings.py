"""The live settings of a node, and how to read them back, as data.

In: `live_settings.toml` beside this file, read when this module is first imported. Out: `LIVE_SETTINGS` by flag. Asked
by `lower/live.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleetc.upstream import Release, load, parse_release


@dataclass(frozen=True, slots=True)
class LiveSetting:
    """How one flag is set on a node that runs.

    `path` takes the value under the name `parameter`, with `fixed` beside it; `read` is the path that reports it and
    the keys there, or (). One with a `document` takes that file of the node whole instead, and its answer names each
    entry. `until` is the first release that no longer takes it. `chain`, `metrics` and `panics` are traps: it has no
    effect off-chain; only -monitor reports it; with -monitor it cannot be removed.
    """

    path: str
    parameter: str
    read: tuple[str, ...]
    document: str
    roles: frozenset[str]
    since: Release
    until: Release | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    chain: bool = False
    metrics: bool = False
    panics: bool = False

    def taken_by(self, role: str, release: Release) -> bool:
        """Whether a node in this role takes it while it runs."""
        return role in self.roles and self.since <= release and (self.until is None or release < self.until)


LIVE_SETTINGS: dict[str, LiveSetting] = {
    flag: LiveSetting(
        path=row["set"],
        parameter=row.get("parameter", ""),
        read=tuple(row.get("read", ())),
        document=row.get("document", ""),
        roles=frozenset(row["roles"]),
        since=parse_release(row["since"]),
        until=parse_release(row["until"]) if "until" in row else None,
        fixed=row.get("fixed", {}),
        chain=row.get("chain", False),
        metrics=row.get("metrics", False),
        panics=row.get("panics", False),
    )
    for flag, row in load("live_settings.toml")["settings"].items()
}
