"""The load of GPUs: against a slow model of the node that hands out slots and streams one by one, on random hosts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from fleetc import rules, upstream
from fleetc.analysis import capacity
from fleetc.analysis.demand import MEMORY, SESSIONS, Demand
from fleetc.language.fleet import Fleet
from fleetc.language.spec import NODE_LIMIT
from fleetc.places.diagnostic import Diagnostic, Severity
from fleetc.upstream import gpu_model

CASES = 2000
GIB = 2**30
SIZES = {"tiny": 2, "small": 5, "middle": 9, "large": 14, "huge": 21}
MODELS = {
    name: {"pipeline": "text-to-image", "id": f"test/{name}", "memory": f"{size} GiB"} for name, size in SIZES.items()
} | {"unmeasured": {"pipeline": "text-to-image", "id": "test/unmeasured"}}
Raw = dict[str, Any]


def spec(host: Raw, **nodes: Raw) -> Raw:
    """A spec with the host "box" and the given node tables; workers may name the orchestrator "orch" on host "edge"."""
    offered = [{"use": name} for name in MODELS]
    front = {"host": "edge", "mode": "dual", "transcoding": "remote", "ai_work": "remote", "models": offered}
    return {
        "spec": 1,
        "fleet": {"name": "test", "network": "offchain", "node_release": "v0.9.1"},
        "hosts": {
            "edge": {"address": "203.0.113.1", "public": "edge.example.net", "runtime": "docker"},
            "box": {"address": "203.0.113.2", "public": "box.example.net", "runtime": "docker", **host},
        },
        "models": MODELS,
        "transcoders": nodes.get("transcoders", {}),
        "ai_workers": nodes.get("ai_workers", {}),
        "orchestrators": {"orch": front, **nodes.get("orchestrators", {})},
        "runners": nodes.get("runners", {}),
    }


def read(raw: Raw) -> Fleet:
    assert NODE_LIMIT  # the package completes the types
    return Fleet.model_validate(raw)


def a_gpu(draw: Random) -> Raw:
    gpu: Raw = {"model": draw.choice(["RTX 4090", "RTX 4090", "RTX A4000", "A100", "Unheard 1"])}
    if draw.random() < 0.85:
        gpu["memory"] = f"{draw.choice([8, 12, 16, 20, 24])} GiB"
    if draw.random() < 0.85:
        gpu["encode_sessions"] = draw.randint(1, 8)
    return gpu


def a_host(seed: int) -> Raw:
    """A small host with up to three nodes and two live runners on up to four GPUs."""
    draw = Random(seed)
    count = draw.randint(1, 4)
    tables: dict[str, Raw] = {"transcoders": {}, "ai_workers": {}, "orchestrators": {}}
    for index in range(draw.randint(1, 3)):
        kind = draw.choice(list(tables))
        node: Raw = {"host": "box"}
        listed = draw.sample(range(count), draw.randint(1, count))
        node["gpus"] = "all" if draw.random() < 0.2 else listed
        if kind != "ai_workers" and draw.random() < 0.85:
            node["max_sessions"] = draw.randint(1, 20)
        if kind != "transcoders":
            names = draw.choices(list(MODELS), k=draw.randint(1, 4))
            node["models"] = [entry(draw, name) for name in names]
            if draw.random() < 0.5:
                node["containers_per_gpu"] = draw.randint(1, 4)
        if kind == "orchestrators":
            node["mode"] = draw.choice(["video", "ai", "dual"])
            if node["mode"] == "video":
                node["models"] = []
        else:
            node["orchestrator"] = "orch"
        tables[kind][f"n-{index}"] = node
    tables["runners"] = {f"r-{index}": a_runner(draw, count, index) for index in range(draw.choice((0, 0, 1, 2)))}
    return spec({"gpus": [a_gpu(draw) for _ in range(count)]}, **tables)


def a_runner(draw: Random, count: int, index: int) -> Raw:
    """A live runner on some of the GPUs, which seldom says nothing of what it takes of each."""
    runner: Raw = {"host": "box", "app": "a", "image": "a:1.0.0", "port": 9000 + index, "health": "/health"}
    runner["gpus"] = "all" if draw.random() < 0.2 else draw.sample(range(count), draw.randint(1, count))
    if draw.random() < 0.9:
        runner["memory"] = f"{draw.choice([2, 6, 10, 14])} GiB"
    if draw.random() < 0.4:
        runner["encode_sessions"] = draw.randint(1, 6)
    return runner


def entry(draw: Random, name: str) -> Raw:
    found: Raw = {"use": name, "warm": draw.random() < 0.8}
    if draw.random() < 0.4:
        found["capacity"] = draw.randint(1, 5)
    if draw.random() < 0.1:
        found["url"] = "http://127.0.0.1:9000"
    return found


class Slow(NamedTuple):
    """The slow model's view of one GPU: sizes in GiB of its containers (None: unknown) and how many streams it has."""

    sizes: list[int | None]
    streams: int


def slow(raw: Raw) -> list[Slow]:
    """Hand out every slot and every stream one by one, as the node does."""
    gpus = raw["hosts"]["box"]["gpus"]
    found = [Slow([], 0) for _ in gpus]
    for table in ("orchestrators", "transcoders", "ai_workers"):
        for node in raw[table].values():
            if node["host"] != "box":
                continue
            ids = list(range(len(gpus))) if node["gpus"] == "all" else node["gpus"]
            if table == "ai_workers" or node.get("mode") in ("ai", "dual"):
                slots = [gpu for _ in range(node.get("containers_per_gpu", 1)) for gpu in ids]
                for use in node["models"]:
                    for _ in range(use.get("capacity", 1) if use["warm"] and "url" not in use else 0):
                        if slots:
                            found[slots.pop(0)].sizes.append(SIZES.get(use["use"]))
            if table == "transcoders" or node.get("mode") in ("video", "dual"):
                load = dict.fromkeys(ids, 0)
                for stream in range(node.get("max_sessions", 10)):
                    turn = stream % len(ids)
                    least = min(ids[turn:] + ids[:turn], key=lambda gpu: load[gpu])
                    load[least] += 1
                    found[least] = found[least]._replace(streams=found[least].streams + 1)
    for runner in raw["runners"].values():
        for gpu in range(len(gpus)) if runner["gpus"] == "all" else runner["gpus"]:
            found[gpu].sizes.append(int(runner["memory"].split()[0]) if "memory" in runner else None)
            found[gpu] = found[gpu]._replace(streams=found[gpu].streams + runner.get("encode_sessions", 0))
    return found


def memory_gib(gpu: Raw) -> int | None:
    known = {"RTX 4090": 24, "RTX A4000": 16}
    return int(gpu["memory"].split()[0]) if "memory" in gpu else known.get(gpu["model"])


def sessions(gpu: Raw) -> int | None:
    return gpu.get("encode_sessions", 0 if gpu["model"] == "A100" else None)


def verdict(raw: Raw) -> set[tuple[str, int]]:
    """Each code about a sum, with the GPUs that it is about."""
    found = set()
    for index, (gpu, load) in enumerate(zip(raw["hosts"]["box"]["gpus"], slow(raw), strict=True)):
        used, total, most = sum(size or 0 for size in load.sizes), memory_gib(gpu), sessions(gpu)
        if total is not None and used > total:
            found.add(("gpu-memory-exceeded", index))
        elif total is not None and used / total > 0.85:
            found.add(("gpu-memory-tight", index))
        if most is not None and load.streams > most:
            found.add(("encode-sessions-exceeded", index))
    return found


def about(problem: Diagnostic) -> list[int]:
    """The GPUs that a message names."""
    named = re.match(r"GPU (\d+) of host box(?: \(and GPU ([\d, ]+) too\))?", problem.message)
    assert named, problem.message
    return [int(named[1]), *(int(i) for i in (named[2] or "").split(", ") if i)]


SUMS = ("gpu-memory-exceeded", "gpu-memory-tight", "encode-sessions-exceeded")


def sums(fleet: Fleet) -> list[Diagnostic]:
    return [problem for problem in capacity.problems(fleet) if problem.code in SUMS]


def codes(fleet: Fleet) -> set[tuple[str, int]]:
    return {(problem.code, gpu) for problem in sums(fleet) for gpu in about(problem)}


class Case(NamedTuple):
    """A random host, and its fleet."""

    seed: int
    raw: Raw
    fleet: Fleet


@cache
def cases() -> tuple[Case, ...]:
    return tuple(Case(seed, raw, read(raw)) for seed, raw in ((seed, a_host(seed)) for seed in range(CASES)))


def test_loads_are_those_of_slots_and_streams_handed_out_one_by_one() -> None:
    for seed, raw, fleet in cases():
        expected = [(sum(s or 0 for s in load.sizes) * GIB, load.streams) for load in slow(raw)]
        assert [(load.memory_used, load.sessions_used) for load in capacity.capacity(fleet)] == expected, seed


def test_verdict_on_each_gpu_is_that_of_brute_force() -> None:
    seen = set()
    for seed, raw, fleet in cases():
        expected = verdict(raw)
        assert codes(fleet) == expected, seed
        seen |= {code for code, _ in expected}
    assert seen == set(SUMS)


def test_no_smaller_set_of_demands_is_too_much() -> None:
    compared = 0
    for seed, _, fleet in cases():
        for load in capacity.capacity(fleet):
            for kind in (MEMORY, SESSIONS):
                total = load.total(kind)
                if not isinstance(total, int) or load.used(kind) <= total:
                    continue
                conflict = capacity.smallest_conflict(load.demands, kind, total)
                assert sum(d.amount or 0 for d in conflict) > total, seed
                parts = [d.amount or 0 for d in load.demands if d.kind == kind]
                smaller = combinations(parts, len(conflict) - 1)
                assert all(sum(chosen) <= total for chosen in smaller), seed
                compared += len(conflict) > 1
    assert compared > 100


def offers(problem: Diagnostic) -> Iterator[tuple[list[str], str, Any]]:
    """The changes in a help line: the table, the key, the value."""
    if not problem.help.startswith("write "):
        return
    for part in problem.help.removeprefix("write ").split(" (the search stopped")[0].split(", or "):
        written = re.fullmatch(r"(\w+) = (.+) in ([\w.-]+)(?: \([\w-]+\))?", part)
        assert written, part
        yield written[3].split("."), written[1], tomllib.loads(f"x = {written[2]}")["x"]


def changed(raw: Raw, table: list[str], key: str, value: Any) -> Raw:
    """A copy of a spec with one key set."""
    if not table:
        return {**raw, key: value}
    first, *rest = table
    inner = raw[first]
    if isinstance(inner, list):
        raise TypeError(first)
    if rest and isinstance(inner.get(rest[0]), list):
        entries = list(inner[rest[0]])
        entries[int(rest[1])] = {**entries[int(rest[1])], key: value}
        return {**raw, first: {**inner, rest[0]: entries}}
    return {**raw, first: changed(inner, rest, key, value)}


def other_errors(fleet: Fleet) -> set[str]:
    wanted = ("too-many-warm-containers", "gpu-used-twice", "gpu-not-on-host", "gpu-id-too-high")
    return {d.code for rule in rules.rules() if rule.code in wanted for d in rule.check(fleet)}


def test_every_offered_change_makes_the_gpus_fit_and_harms_nothing() -> None:
    kinds = set()
    for seed, raw, fleet in cases():
        before = codes(fleet)
        for problem in sums(fleet):
            offered = list(offers(problem))
            assert len(offered) <= 3, seed
            for table, key, value in offered:
                after = read(changed(raw, table, key, value))
                now = codes(after)
                assert not now & {(problem.code, gpu) for gpu in about(problem)}, (seed, table, key, value)
                new = {code for code, _ in now - before if code != "gpu-memory-tight"}
                assert not new, (seed, table, key, value)
                assert other_errors(after) <= other_errors(fleet), (seed, table, key, value)
                kinds.add("gpus of a runner" if table[0] == "runners" else key)
    assert kinds == {"gpus", "gpus of a runner", "capacity", "warm", "max_sessions"}


def memory(raw: Raw) -> list[int]:
    return [sum(size or 0 for size in load.sizes) for load in slow(raw)]


def test_whenever_one_cold_entry_of_the_conflict_would_help_something_is_offered() -> None:
    weighed = 0
    for seed, raw, fleet in cases():
        for problem in sums(fleet):
            if problem.code != "gpu-memory-exceeded" or problem.help.startswith("write "):
                continue
            table, name, *_ = (str(part) for part in problem.primary.place)  # type: ignore[union-attr]  # a path
            for place in range(len(raw[table][name].get("models", ()))):
                tried = changed(raw, [table, name, "models", str(place)], "warm", False)
                full = {gpu for code, gpu in verdict(tried) if code == "gpu-memory-exceeded"}
                worse = {gpu for gpu in full if memory(tried)[gpu] > memory(raw)[gpu]}
                assert full & set(about(problem)) or worse, (seed, place)
                weighed += 1
    assert weighed > 100


def test_the_most_streams_that_fit_are_offered() -> None:
    for seed, raw, fleet in cases():
        for problem in sums(fleet):
            for table, key, value in offers(problem):
                if key == "max_sessions":
                    more = verdict(changed(raw, table, key, value + 1))
                    assert "encode-sessions-exceeded" in {code for code, _ in more}, seed


def test_hosts_without_a_list_of_gpus_say_nothing() -> None:
    worker = {"host": "box", "orchestrator": "orch", "gpus": [0], "models": [{"use": "huge", "warm": True}]}
    fleet = read(spec({}, ai_workers={"w": worker}))
    assert capacity.capacity(fleet) == []
    assert list(capacity.problems(fleet)) == []


def test_capacity_did_not_count_before_release_0_8_6() -> None:
    worker = {"host": "box", "orchestrator": "orch", "gpus": [0], "containers_per_gpu": 4}
    worker["models"] = [{"use": "small", "warm": True, "capacity": 4}]
    host = {"gpus": [{"model": "RTX 4090"}]}
    new = read(spec(host, ai_workers={"w": {**worker, "node_release": "v0.8.6"}}))
    old = read(spec(host, ai_workers={"w": {**worker, "node_release": "v0.8.5"}}))
    assert [load.memory_used // GIB for load in (*capacity.capacity(new), *capacity.capacity(old))] == [20, 5]


@pytest.mark.parametrize(
    "node",
    [
        {"mode": "video", "transcoding": "remote"},
        {"mode": "ai", "models": [{"use": "small"}]},
        {"mode": "dual", "transcoding": "remote", "ai_work": "remote", "models": [{"use": "huge", "warm": True}]},
    ],
    ids=["remote transcoding", "cold models", "all remote"],
)
def test_work_that_is_done_elsewhere_or_not_yet_weighs_nothing(node: Raw) -> None:
    host = {"gpus": [{"model": "RTX 4090", "encode_sessions": 1}]}
    fleet = read(spec(host, orchestrators={"o": {"host": "box", "gpus": [0], **node}}))
    assert capacity.capacity(fleet)[0].demands == ()


def test_demands_that_do_not_exceed_the_limit_are_all_named() -> None:
    parts = tuple(Demand(MEMORY, size, ("x", str(size)), str(size)) for size in (1, 3, 2))
    assert [d.amount for d in capacity.smallest_conflict(parts, MEMORY, 10)] == [3, 2, 1]
    assert capacity.smallest_conflict(parts, SESSIONS, 0) == ()


def test_a_search_that_was_cut_short_says_so() -> None:
    nodes = {f"t-{i}": {"host": "box", "orchestrator": "orch", "gpus": list(range(16))} for i in range(2)}
    gpus = [{"model": "RTX 4090", "encode_sessions": 1}] * 16
    (problem,) = sums(read(spec({"gpus": gpus}, transcoders=nodes)))
    assert problem.severity is Severity.WARNING
    assert "the search stopped after 40 changes" in problem.help


def test_each_host_with_something_unknown_warns_once() -> None:
    worker = {"host": "box", "orchestrator": "orch", "gpus": "all", "containers_per_gpu": 2}
    worker["models"] = [{"use": "unmeasured", "warm": True, "capacity": 2}, {"use": "small", "warm": True}]
    fleet = read(spec({"gpus": [{"model": "Unheard 1"}, {"model": "A100"}]}, ai_workers={"w": worker}))
    (found,) = capacity.problems(fleet)
    assert found.code == "capacity-unknown"
    assert "40 GiB or 80 GiB" in str(found)
    assert ("models", "unmeasured") in {label.place for label in found.related}


@pytest.mark.parametrize(
    ("streams", "warned"), [(3, False), (4, True)], ids=["certain with every driver", "not certain"]
)
def test_encode_sessions_of_consumer_gpus_are_asked_for_only_where_it_matters(streams: int, warned: bool) -> None:
    node = {"host": "box", "orchestrator": "orch", "gpus": [0], "max_sessions": streams}
    found = list(capacity.problems(read(spec({"gpus": [{"model": "RTX 4090"}]}, transcoders={"t": node}))))
    assert [d.code for d in found] == ["capacity-unknown"] * warned


def test_the_numbers_of_the_spec_win_over_the_table() -> None:
    gpus = [{"model": "A100", "memory": "6 GiB", "encode_sessions": 2}, {"model": "RTX 4090"}, {"model": "L4"}]
    loads = capacity.capacity(read(spec({"gpus": gpus})))
    assert [(load.memory_total, load.sessions_total) for load in loads] == [
        (6 * GIB, 2),
        (24 * GIB, None),
        (24 * GIB, "unlimited"),
    ]


@pytest.mark.parametrize("name", ["RTX 4090", "NVIDIA GeForce RTX 4090", "geforce rtx-4090"])
def test_gpu_names_are_known_as_programs_and_people_write_them(name: str) -> None:
    found = gpu_model(name)
    assert found is not None
    assert found.name == "RTX 4090"
    assert gpu_model(f"{name} Something") is None


def test_every_row_about_gpus_names_its_sources() -> None:
    path = Path(upstream.__file__).with_name("gpus.toml")
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    for row in (*data["models"], *data["session_limits"]):
        assert row["sources"], row
        assert set(row["sources"]) <= set(data["sources"]), row
    used = {source for row in (*data["models"], *data["session_limits"]) for source in row["sources"]}
    assert used == set(data["sources"])
    names = [name for row in data["models"] for name in row["names"]]
    assert len({gpu_model(name) for name in names}) == len(names)
