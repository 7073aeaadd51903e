"""Which releases a rollback leads to, as the journal says."""

from __future__ import annotations

import pytest

from fleetc.rollout.hosts.kept import releases_before, releases_of, rolled_back
from fleetc.rollout.hosts.secrets import DeployError
from fleetc.rollout.journal.history import History, HostChange, Run
from fleetc.rollout.verify.data import Back

A, B, C = "a" * 64, "b" * 64, "c" * 64
NAMES = ("studio",)


def history(*changes: dict[str, HostChange], releases: str = A) -> History:
    runs = [Run(str(n), "ci", "", "deploy", f"{n}" * 64, (), {}, made, 0) for n, made in enumerate(changes, 1)]
    for run in runs:
        run.releases = {"studio": releases}
    return History(runs)


def test_hosts_that_the_last_rollout_changed_go_back() -> None:
    changed = history({"studio": HostChange("new", A, B)}, {"studio": HostChange("unchanged", B, B)})
    assert releases_before(changed, NAMES, "") == {"studio": A}


@pytest.mark.parametrize("to", ["1" * 12, "a" * 8])
def test_manifest_or_release_that_is_named(to: str) -> None:
    assert releases_before(history({"studio": HostChange("new", "", A)}), NAMES, to) == {"studio": A}


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("", "no rollout in the journal changed a host that had a release before"),
        ("f" * 12, "no rollout in the journal had ffffffffffff"),
        ("abc", "at least 8 characters"),
        ("../../etc", "at least 8 characters"),
    ],
)
def test_nothing_to_go_back_to(to: str, words: str) -> None:
    with pytest.raises(DeployError, match=words):
        releases_before(history({"studio": HostChange("new", "", A)}), NAMES, to)


def test_a_rollback_is_not_undone_by_the_next_one() -> None:
    """The release that was taken away comes back only where somebody names it."""
    known = history({"studio": HostChange("new", A, B)}, {"studio": HostChange("new", B, A)})
    known.runs[1].kind = "rollback"
    with pytest.raises(
        DeployError, match=r"was the rollback at .*, such as bbbbbbbbbbbb .studio.; fleetc rollback --list shows"
    ):
        releases_before(known, NAMES, "")
    assert releases_before(known, NAMES, "1" * 12) == {"studio": A}


def test_manifest_of_a_rollback_is_not_where_it_led() -> None:
    """It is that of the spec, which still had the release that was taken away."""
    known = history({"studio": HostChange("new", A, B)}, {"studio": HostChange("new", B, A)})
    known.runs[0].releases = {"studio": B}
    known.runs[1].kind, known.runs[1].manifest = "rollback", known.runs[0].manifest
    assert releases_before(known, NAMES, "1" * 12) == {"studio": B}


def test_releases_that_a_host_had_are_known_by_the_rollout_that_brought_them() -> None:
    known = history(*({"studio": HostChange("new", *both)} for both in ((C, A), (A, B), (B, A))))
    known.runs[2].kind = "rollback"
    first, second, _ = known.runs
    assert releases_of(known, "studio") == [(A, first), (B, second), (C, None)]
    assert releases_of(known, "elsewhere") == []
    reverted = history({"studio": HostChange("new", "", A)}, {"studio": HostChange("reverted", A, A)})
    assert releases_of(reverted, "studio") == [(A, reverted.runs[0])]


def test_hosts_that_were_rolled_back_last() -> None:
    known = history({"studio": HostChange("new", A, B)}, {"studio": HostChange("new", B, A)})
    known.runs[1].kind = "rollback"
    assert rolled_back(known) == {"studio": Back("", "ci", A)}
    later = history({"studio": HostChange("new", B, A)}, {"studio": HostChange("new", A, B)})
    later.runs[0].kind = "rollback"
    assert rolled_back(later) == {}
