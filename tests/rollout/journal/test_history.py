"""What a journal says about where nodes may be, after every way in which a rollout can end."""

from __future__ import annotations

from typing import Any

import pytest

from fleetc.rollout.journal.history import Given, History, Place, facts_of, history_of
from fleetc.rollout.journal.lines import Entry

HERE, THERE = Place("192.0.2.1", 22, "root", True), Place("192.0.2.2", 22, "root", True)
OLD = Given(HERE, "a" * 64, {"gate": ()})
NEW = Given(HERE, "b" * 64, {"orch": ("calls reward for 0x1",)})


def run(name: str, given: dict[str, Given], results: dict[str, str], end: int | None = 0) -> list[Entry]:
    """The lines of one rollout of one batch."""

    def line(what: str, **facts: Any) -> Entry:
        return Entry("2026-01-31T09:00:00Z", name, what, facts)

    found = [line("begin", kind="deploy", who="ci", manifest="m" + name, hosts=[], shard="")]
    found.append(line("batch", hosts={host: facts_of(one) for host, one in given.items()}))
    for host, result in results.items():
        found.append(line("host", host=host, result=result, before="", after=given[host].release))
    return found + ([line("end", exit_code=end)] if end is not None else [])


def after(*runs: list[Entry]) -> History:
    return history_of(entry for lines in runs for entry in lines)


FIRST = run("1", {"one": OLD}, {"one": "new"})


@pytest.mark.parametrize(
    ("result", "nodes"),
    [
        ("new", {"orch"}),
        ("unchanged", {"orch"}),
        ("old", {"gate"}),
        ("reverted", {"gate"}),
        ("unknown", {"gate", "orch"}),
        ("quarantined", {"gate", "orch"}),
        (None, {"gate", "orch"}),  # the rollout died in this batch
    ],
)
def test_nodes_that_a_host_may_run(result: str | None, nodes: set[str]) -> None:
    second = run("2", {"one": NEW}, {"one": result} if result else {}, None if result is None else 0)
    history = after(FIRST, second)
    assert set(history.hosts["one"].nodes) == nodes
    assert (history.broken_off is not None) == (result is None)


@pytest.mark.parametrize("result", ["retired", "dead"])
def test_host_that_is_gone_is_forgotten(result: str) -> None:
    assert after(FIRST, run("2", {"one": NEW}, {"one": result})).hosts == {}


def test_host_that_went_back_to_nothing_is_unknown_to_the_journal() -> None:
    assert after(run("1", {"one": NEW}, {"one": "reverted"})).hosts == {}
    assert after(run("1", {"one": NEW}, {"one": "unknown"})).hosts["one"].nodes == NEW.nodes


def test_machine_with_another_name_is_one_host() -> None:
    history = after(FIRST, run("2", {"uno": NEW, "two": OLD._replace(place=THERE)}, {"uno": "new", "two": "new"}))
    assert sorted(history.hosts) == ["two", "uno"]


def test_hosts_that_had_nothing_to_do_are_known_too() -> None:
    seen = Entry("2026-01-31T09:00:00Z", "1", "seen", {"hosts": {"two": facts_of(OLD._replace(place=THERE))}})
    assert sorted(after([*FIRST[:-1], seen, FIRST[-1]]).hosts) == ["one", "two"]


def test_releases_at_the_end_of_each_run() -> None:
    history = after(FIRST, run("2", {"one": NEW}, {"one": "new"}), run("3", {}, {}))
    assert [run.releases for run in history.runs] == [{"one": "a" * 64}, {"one": "b" * 64}, {"one": "b" * 64}]
