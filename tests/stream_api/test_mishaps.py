"""All single faults and all pairs of faults while three streams are made as declared, until nothing moves any more.

A person then does what the reports ask for. Never are there two streams of one name or two targets of one address, no
id is lost, and no report calls a stream in sync, missing or different that is not.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from fleetc.stream_api.outcome import exit_code
from tests.rules.support import rung, small, stream
from tests.stream_api.mishaps import KINDS, LIKE_THEM, URL, Memory, Run, State, World, world

FAULTS = 2
FOREIGN = {"id": "foreign", "name": "b", "isActive": False, "suspended": False, "record": False, "profiles": []}
EMPTY = State(json.dumps([{"foreign": FOREIGN}, {}, []]), '{"version": 1, "streams": {}}')
PUSHED = '{ targets = [{ profile = "720p", spec = { url = { env = "TARGET_URL" } } }] }'
LADDER = f"[{rung('720p')}]"
NEW = (
    stream("a", profiles=LADDER, multistream=PUSHED, suspended="true"),
    stream("b", userTags="{ seats = 1 }"),
    stream("c"),
)
OLD = (stream("a", profiles=LADDER), stream("b", record="true"), stream("c"))
CHANGED = (
    stream("a", profiles=f"[{small('360p')}, {rung('720p')}]", multistream=PUSHED),
    stream("b", suspended="true"),
    stream("c", name='"d"'),
)


def _entries(state: State) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(state.ids)["streams"].get(URL, {})
    return found


def _own(state: State) -> dict[str, Any]:
    return {key: held for key, held in json.loads(state.streams)[0].items() if key != "foreign"}


def _like(held: dict[str, Any]) -> dict[str, Any]:
    """A stream without the ids that the service chose."""
    rows = [{**row, "id": ""} for row in held.get("multistream", {}).get("targets", [])]
    return {"suspended": False, **held, "id": "", "multistream": {"targets": rows}}


class Explorer:
    """Tries all faults from a state on; what was tried from a state is not tried again."""

    def __init__(self, place: World, start: State, wholly: bool) -> None:
        self.place = place
        self.wholly = wholly
        self.ends: dict[str, dict[str, Any]] = {}
        self.left: dict[State, int] = {}
        done = self.run(start, {})
        assert done.talk is not None
        assert {report.kind for report in done.talk.reports} == {"in_sync"}, done.talk
        self.ends = {name: _like(held) for name, held in self._by_entry(done.after).items()}

    def _by_entry(self, state: State) -> dict[str, dict[str, Any]]:
        """The streams of the service that are this spec's, by their names there."""
        entries, own = _entries(state), _own(state)
        return {name: own[row["id"]] for name, row in entries.items() if row["id"] is not None}

    def run(self, state: State, faults: dict[int, str]) -> Run:
        """One run, and what must hold after each."""
        done = self.place.apply(state, faults)
        before = [kind for place, kind in faults.items() if not {"POST", "PATCH"} & set(done.methods[:place])]
        self.hold(done, f"{faults} at {state.ids}", "late copy" in before)
        return done

    def hold(self, done: Run, where: str, late: bool) -> None:
        """No double, no lost id, no false word."""
        entries, own = _entries(done.after), _own(done.after)
        names = [held["name"] for held in own.values()]
        assert len(set(names)) == len(names), f"two streams of one name: {where}"
        targets = json.loads(done.after.streams)[2]
        assert len(set(targets)) == len(targets), f"two targets of one address: {where}"
        ids = {row["id"] for row in entries.values()}
        for key, held in own.items():
            assert key in ids or entries.get(held["name"], {"id": ""})["id"] is None, f"{key} is lost: {where}"
        if done.talk is None or not self.ends:
            return
        for report in done.talk.reports:
            row = entries.get(report.stream)
            as_declared = bool(row and row["id"] and _like(own[row["id"]]) == self.ends[report.stream])
            assert report.kind != "in_sync" or as_declared, f"{report.stream} is not in sync: {where}"
            assert report.kind != "missing" or row is None or late, f"{report.stream} is not missing: {where}"
            assert report.kind != "unknown" or (row and row["id"] is None), f"{report.stream} is known: {where}"
            assert row is None or row["id"] or report.kind == "unknown", f"{report.stream} is unknown: {where}"
        code = exit_code(done.talk.reports, done.talk.applied or ())
        assert code or {report.kind for report in done.talk.reports} == {"in_sync"}

    def explore(self, state: State, faults: int) -> None:
        """All runs from a state with up to so many faults, in it and in the runs after it."""
        if self.left.get(state, -1) >= faults:
            return
        self.left[state] = faults
        self._runs(state, {}, faults)

    def _runs(self, state: State, faults: dict[int, str], more: int) -> None:
        done = self.run(state, faults)
        if done.after != state or faults:
            self.explore(done.after, more)
        else:
            self.settle(done)
        if more:
            for place in range(max(faults, default=-1) + 1, len(done.methods)):
                method = done.methods[place]
                like_them = LIKE_THEM[method] if self.wholly or more == FAULTS else ()
                for kind in (*KINDS[method], *like_them):
                    self._runs(state, {**faults, place: kind}, more - 1)

    def settle(self, quiet: Run) -> None:
        """Nothing moves any more: a person does what the reports ask for, and then all is as declared."""
        state = quiet.after
        for _ in range(4):
            assert quiet.talk is not None
            if {report.kind for report in quiet.talk.reports} == {"in_sync"}:
                return
            state = self.person(quiet)
            quiet = self.run(state, {})
        raise AssertionError(f"no end: {quiet.talk} {state.ids}")

    def person(self, quiet: Run) -> State:
        """Look for streams whose answer was lost, and for targets, and write the ids file."""
        assert quiet.talk is not None
        file, own = json.loads(quiet.after.ids), _own(quiet.after)
        entries = file["streams"][URL]
        for report in quiet.talk.reports:
            row = entries.get(report.stream)
            if report.kind == "unknown":
                found = [key for key, held in own.items() if held["name"] == report.stream]
                if found:
                    row["id"] = found[0]
                else:
                    del entries[report.stream]
            elif any(drift.action == "manual" for drift in report.drifts):
                assert not own[row["id"]].get("multistream", {}).get("targets"), "fleetc finds what is there"
                row["targets"] = [target for target in row["targets"] if target["id"]]
        return quiet.after._replace(ids=json.dumps(file))


def _begun(place: World, changed: bool) -> State:
    """A service with a stream of somebody else, and the spec that is to be applied."""
    place.declare(*(OLD if changed else NEW))
    if not changed:
        return EMPTY
    start = place.apply(EMPTY, {}).after
    place.declare(*CHANGED)
    return start


@pytest.mark.parametrize("wholly", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["fast", "wholly"])
@pytest.mark.parametrize("changed", [False, True], ids=["new", "changed"])
def test_all_pairs_of_faults(tmp_path: Path, changed: bool, wholly: bool) -> None:
    with world(tmp_path) as place:
        start = _begun(place, changed)
        Explorer(place, start, wholly).explore(start, FAULTS)
    assert place.runs > (1500 if changed else 500), "all was tried"


@pytest.mark.parametrize("changed", [False, True], ids=["new", "changed"])
def test_too_many_requests_are_waited_for(tmp_path: Path, changed: bool) -> None:
    with world(tmp_path) as place:
        start = _begun(place, changed)
        for number, _ in enumerate(place.apply(start, {}).methods):
            began = place.loop.time()
            done = place.apply(start, dict.fromkeys(range(number, number + 7), "status 429"))
            assert done.talk is not None
            assert {report.kind for report in done.talk.reports} == {"in_sync"}, number
            assert place.loop.time() - began > 7 * (3 if changed and number < 3 else 7), "as long as the service says"


@pytest.mark.parametrize("seed", range(3))
def test_twenty_streams_among_random_faults(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    kinds = [*KINDS["GET"], *LIKE_THEM["GET"], *KINDS["POST"], *LIKE_THEM["POST"]]
    with world(tmp_path) as place:
        place.declare(*NEW, *(stream(f"s{number}", suspended="true") for number in range(17)))
        explorer = Explorer(place, EMPTY, wholly=True)
        state = EMPTY
        for _ in range(20):
            faults = {number: chance.choice(kinds) for number in range(100) if chance.random() < 0.1}
            state = explorer.run(state, faults).after
        explorer.settle(explorer.run(state, {}))


def test_edit_of_the_file_while_it_runs_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out, other = Memory.carried_out, {"z": {"id": "z-1"}}
    with world(tmp_path) as place:

        def edit(memory: Memory, *request: Any) -> tuple[int, Any]:
            file = json.loads(place.ids_file.read_text())
            file["streams"]["https://other.example.net/api"] = other
            place.ids_file.write_text(json.dumps(file))
            return carry_out(memory, *request)

        monkeypatch.setattr(Memory, "carried_out", edit)
        after = place.apply(_begun(place, changed=False), {}).after
    assert json.loads(after.ids)["streams"]["https://other.example.net/api"] == other
    assert len(_entries(after)) == 3
