"""Facts of the node's Go source besides its flags, and where this package uses them.

In: Go texts by their path in the source of one release, and optionally of the release before. Out: `Notice`s: table
entries that the source lost, and facts new since the release before, each with the file to edit. Pure; `__main__.py`
reads the files. Only texts in quotes are looked at, so what a program puts together while it runs is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fleetc.upstream import load
from fleetc.upstream.go_text import without_comments

_TEXT = r"\"((?:\\.|[^\"\\\n])*)\""


class Subject(NamedTuple):
    """One kind of fact: its place in the source, its pattern, and the file to edit."""

    what: str
    folders: tuple[str, ...]
    pattern: re.Pattern[str]
    decided_in: str


SUBJECTS = (
    Subject(
        "a stop at the start",
        ("cmd/livepeer/",),
        re.compile(rf"\bglog\.(?:Exit|Fatal)(?:f|ln)?\(\s*{_TEXT}"),
        "startup_rules.toml",
    ),
    Subject(
        "a variable",
        ("",),
        re.compile(rf"\bos\.(?:Getenv|LookupEnv)\(\s*{_TEXT}"),
        "language/node.py, or nowhere if people write it in environment",
    ),
    Subject(
        "a path of a listener",
        ("server/", "byoc/", "ai/"),
        re.compile(rf"\bHandle(?:Func)?\(\s*{_TEXT}"),
        "live_settings.toml, if it sets or reads a value",
    ),
    Subject("a metric", ("monitor/",), re.compile(rf"\bName:\s*{_TEXT}"), "metrics.toml"),
    Subject(
        "a refusal of live runners",
        ("ai/runner/",),
        re.compile(rf"\b(?:fmt\.Errorf|errors\.New)\(\s*{_TEXT}"),
        "language/runner.py",
    ),
    Subject(
        "a key of a document or an answer",
        ("ai/runner/", "core/", "server/", "discovery/", "byoc/"),
        re.compile(r"\bjson:\"([A-Za-z_][A-Za-z0-9_]*)"),
        "lower/ if fleetc writes it, rollout/verify/ if it is read",
    ),
    Subject("a capability", ("core/capabilities.go",), re.compile(rf"\bCapability_\w+:\s*{_TEXT}"), "pipelines.toml"),
    Subject("an image of runners", ("ai/worker/",), re.compile(r"\"(livepeer/[\w./-]+:[\w.-]+)\""), "pipelines.toml"),
)
_METRICS, _PATHS = "a metric", "a path of a listener"


class Notice(NamedTuple):
    """A fact that needs a decision: its kind, its text, and the file to edit."""

    what: str
    text: str
    decided_in: str


def facts(texts: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The facts of a source, by subject."""
    plain = {path: without_comments(text) for path, text in texts.items()}
    return {
        subject.what: frozenset(
            found[1]
            for path, text in plain.items()
            if path.startswith(subject.folders)
            for found in subject.pattern.finditer(text)
        )
        for subject in SUBJECTS
    }


def gone(texts: Mapping[str, str]) -> Iterator[Notice]:
    """What the tables have and a source no longer has."""
    known = facts(texts)
    for name in load("metrics.toml")["metrics"]:
        if name.startswith("livepeer_") and name.removeprefix("livepeer_") not in known[_METRICS]:
            yield Notice(_METRICS, name, "metrics.toml")
    for path in sorted(_live_paths()):
        if path not in known[_PATHS]:
            yield Notice(_PATHS, path, "live_settings.toml")


def new(texts: Mapping[str, str], before: Mapping[str, str]) -> Iterator[Notice]:
    """The new facts of a source against the one before."""
    now, then = facts(texts), facts(before)
    for subject in SUBJECTS:
        for text in sorted(now[subject.what] - then[subject.what]):
            yield Notice(subject.what, text, subject.decided_in)


def _live_paths() -> set[str]:
    """The paths of live settings and their values; paths of metrics are another program's."""
    rows = load("live_settings.toml")["settings"].values()
    return {path for row in rows for path in (row["set"], *row.get("read", ())[:1]) if path != "/metrics"}


def report(missing: list[Notice], fresh: list[Notice]) -> str:
    """The notices in lines; "" if there are none."""
    lines: list[str] = []
    for title, notices in (
        ("The tables have what this source has not:", missing),
        ("New since the source before, for a person to decide:", fresh),
    ):
        if notices:
            lines += ["", title, *(f"  {one.what}: {one.text}  ({one.decided_in})" for one in notices)]
    return "".join(f"{line}\n" for line in lines)
