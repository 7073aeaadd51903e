"""The law of adopting: what fleetc emitted adopts into a spec that compiles to the same files.

Everything below hosts/ of a tree is compared, byte by byte but for the order of prices by gateway. What no file of a
host has is answered: the funds of wallets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import tomli_w
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fleetc.adopt.adoption import adopt
from fleetc.adopt.found.library import Said
from fleetc.emit.tree import Tree, is_released
from fleetc.language.fleet import NODE_TABLES
from fleetc.pipeline import compile_spec
from fleetc.toml.document import Source
from tests.adopt.support import answered
from tests.mutating import Mutation
from tests.support import ROOT, shipped
from tests.test_mutations import CASES, EVERY_FLEET, Case

GIVEN = ("hosts/", "ansible/inventory", "ansible/host_vars")
STACK = (ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")
STACKS = [
    ("slot = 3", "slot = 3"),
    ("slots = 2", 'slots = [{ avatar = "Mira-0", slot = 300 }, { avatar = "b", slot = 255, gpu = "all" }]'),
    ('release = "latest"', 'release = "sha-0123456789"'),
    ('release = "latest"', 'release = "v1.3.6-beta.1"\nimage_tag = "canary"'),
    ('release = "latest"', 'release = "nightly"\nimage_tag = "v1.3.6"'),
    ("gpu = 0\nallow", 'slot_networks = "10.9.0.0/16"\ndocker_gateways = ["172.20.0.1"]\nallow'),
    (
        "gpu = 0\nallow",
        'docker_gateways = ["10.1.2.1", "172.17.0.1"]\nslot_memory = "6 GiB"\nhealth_port = 9191\nallow',
    ),
    ("gpu = 0\nallow", "cli_auto_update = false\nauto_upgrade_when_sleeping = false\nremote_ops = false\nallow"),
    ("gpu = 0\nallow", 'public = "198.51.100.99"\nkeep_running = []\nproject_dir = "/srv/stack"\nallow'),
    ("gpu = 0\nallow", 'monitored_services = ["a", "b"]\nsession_dir = "/s"\nrecordings_dir = "/r"\nallow'),
    ('allow = ["203.0.113.90", "2001:db8:5::7"]', 'allow = ["203.0.113.0/24", "203.0.113.7", "203.0.113.79"]'),
    ('allow = ["203.0.113.90", "2001:db8:5::7"]', 'allow = ["203.0.113.90", "10.0.0.0/8", "172.17.0.1"]'),
    ('allow = ["203.0.113.90", "2001:db8:5::7"]', "remote_ops = false"),
    ("exclusive = false", "update_turn = true\nmatchmaker_port = 9999"),
    ('addresses = ["203.0.113.79"]\n', ""),
    ('addresses = ["198.51.100.90"]', 'addresses = ["198.51.100.91", "198.51.100.92"]'),
    ('url = "http://198.51.100.90:8081"', 'url = "https://payments.example.net"'),
    ('user = { vault = "turn_user" }', 'user = { command = "turn" }\naddress = "198.51.100.7"\nport = 3479'),
    ('user = { vault = "turn_user" }', 'user = { env = "U" }\nrelay_ports = "50000-50100"\nrealm = "stage"'),
    ('ttl = "2 min"', "required = true"),
    ('url = "http://198.51.100.90:8081"\n', ""),
    ('addresses = ["198.51.100.90"]', 'addresses = ["127.0.0.1"]'),
    ('id = "stage-gpu-1"', 'id = "stage-gpu-1"\nmonitored_services = ["vtuber-a"]\nhost_name = "gpu-1.eu"'),
]
"""What is changed in the stacks of that spec."""

RUNNER_FLEET = Case("runners", (("fleet.toml", (ROOT / "tests/data/runner_fleet.toml").read_text(encoding="utf-8")),))
CHANGES = [(case, name, change) for case in CASES for name, found in case.changes().items() for change in found]
RUNNER_CHANGES = [
    one for one in RUNNER_FLEET.changes()["fleet.toml"] if "runners" in one.path or one.path[0] == "hosts"
]


def files_of_hosts(tree: Tree) -> dict[str, bytes]:
    """The files of the hosts of a tree."""
    return {a.path: _in_order(a.path, a.content) for a in tree.artifacts if is_released(a.path)}


_WATCHED = re.compile(
    rb"      \d+ : goto \w+, # (?:[a-z ]*exporter[A-Za-z ]*|Prometheus)\n"
    rb"|\n  # Other hosts of the fleet\.\n(?:  .*\n)*?  \}\n"
)
"""Ports of what watches the fleet, which is no part of what runs."""
_SAID_BESIDE = (b"# the account of ", b"# its port: ")


def _in_order(path: str, content: bytes) -> bytes:
    """Prices in one order: the node looks an account or a model up, and a spec sorts them by the names in it.

    What runs names a signer by its address, and a comment about the account of one in the fleet says nothing to nodes.
    Nor does one about the port of a runner that registers itself, which no other line has.
    """
    if path.endswith("/node.env"):
        return b"".join(line for line in content.splitlines(keepends=True) if not line.startswith(_SAID_BESIDE))
    if path.endswith("/nftables.conf"):
        return _WATCHED.sub(b"", content)
    if not path.endswith("/prices.json"):
        return content
    table = json.loads(content)
    table.get("gateways", []).sort(key=lambda entry: entry["ethaddress"])
    table.get("capabilities_prices", []).sort(key=lambda entry: (entry["pipeline"], entry["model_id"]))
    return json.dumps(table, indent=1).encode()


def difference(sources: Sequence[Source]) -> dict[str, tuple[bytes | None, bytes | None]] | None:
    """What is not the same after adopting what a spec compiles to; None for a spec that does not compile."""
    compiled = compile_spec(sources, *shipped())
    if compiled.tree is None or compiled.checked.fleet is None:
        return None
    images = (d.primary.place for d in compiled.checked.diagnostics if d.code == "image-differs-from-release")
    if any(isinstance(place, tuple) and place[:1] != ("avatars",) for place in images):
        return None  # the file of a container names the image, which is another release than the spec says
    given = [Source(a.path, a.content.decode()) for a in compiled.tree.artifacts if a.path.startswith(GIVEN)]
    wanted = files_of_hosts(compiled.tree)
    if not wanted:
        return None
    found = adopt(given, Said(answers=[f"fleet.name={compiled.checked.fleet.fleet.name}"]))
    assert found.text, found.diagnostics
    again = compile_spec([Source("fleet.toml", answered(found.text))], *shipped())
    assert again.tree is not None, (again.checked.diagnostics, found.text)
    after = files_of_hosts(again.tree)
    return {
        path: (wanted.get(path), after.get(path))
        for path in sorted({*wanted, *after})
        if wanted.get(path) != after.get(path)
    }


@EVERY_FLEET
def test_example_fleet_adopts_into_itself(case: Case) -> None:
    assert difference([Source(name, text) for name, text in case.texts]) == {}


def _nodes(raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for table in NODE_TABLES:
        yield from (node for node in raw.get(table, {}).values() if isinstance(node, dict))


def _twice(node: dict[str, Any]) -> bool:
    """Whether a variable has a plain and a secret value: only the secret one reaches the process."""
    return not {*node.get("environment", {})}.isdisjoint(node.get("secret_environment", {}))


@pytest.mark.parametrize("change", STACKS)
def test_stack_of_avatars_adopts_into_itself(change: tuple[str, str]) -> None:
    assert STACK.count(change[0]) >= 1
    assert difference([Source("fleet.toml", STACK.replace(*change))]) == {}


def test_stack_that_only_its_host_may_call_adopts_into_itself() -> None:
    text = STACK.replace('"198.51.100.90"', '"127.0.0.1"').replace('["payments", "203.0.113.0/29"]', '["payments"]')
    assert difference([Source("fleet.toml", text)]) == {}


def test_fleet_with_runners_of_every_kind_adopts_into_itself() -> None:
    assert difference([Source(name, text) for name, text in RUNNER_FLEET.texts]) == {}


GPUS = {
    "a runner that is not listed has more": (
        'host = "farm"\nimage = "registry.example.net/echo:1.0"',
        'host = "box"\ngpus = [0, 1]\nimage = "registry.example.net/echo:1.0"',
    ),
    "a unit has the second": (
        'gpus = [{ model = "A100", memory = "80 GiB" }]\n',
        'gpus = [{ model = "T4" }, { model = "A100", memory = "80 GiB" }]\n',
    ),
    "a unit has all of several": ("gpus = [0]\n", 'gpus = "all"\n'),
    "orchestrators reach it at its address": ('public = "farm.example.net"\n', ""),
}


@pytest.mark.parametrize("case", GPUS)
def test_hosts_of_runners_are_read_back(case: str) -> None:
    text = RUNNER_FLEET.texts[0][1]
    assert text.count(GPUS[case][0]) == 1
    text = text.replace(*GPUS[case])
    if case.startswith("a unit has all"):
        text = text.replace('[{ model = "A100", memory = "80 GiB" }]', '[{ model = "A100" }, { model = "A100" }]')
    assert difference([Source("fleet.toml", text)]) == {}


@settings(max_examples=100, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.sampled_from(RUNNER_CHANGES))
def test_every_changed_fleet_of_runners_adopts_into_itself(change: Mutation) -> None:
    raw = change.apply(RUNNER_FLEET.raw["fleet.toml"])
    assume(not any(_twice(runner) for runner in raw.get("runners", {}).values() if isinstance(runner, dict)))
    result = difference([Source("fleet.toml", tomli_w.dumps(raw))])
    assume(result is not None)
    assert result == {}


FOUND = {
    "live-runners": ("orchestrators", "apps-1", "price", "0 wei / pixel"),
    "rich": ("models", "image", "pipeline", "live-video-to-video"),
}
"""Changes that once adopted into something else, by fleet."""


@pytest.mark.parametrize("name", FOUND)
def test_change_that_was_not_kept_adopts_into_itself(name: str) -> None:
    table, member, key, value = FOUND[name]
    raw = next(case for case in CASES if case.name == name).raw["fleet.toml"]
    raw[table][member][key] = value
    assert difference([Source("fleet.toml", tomli_w.dumps(raw))]) == {}


def test_flag_that_a_newer_release_may_read_is_kept() -> None:
    raw = next(case for case in CASES if case.name == "ai-split").raw["fleet.toml"]
    raw["gateways"]["gate"] |= {"node_release": "v1.0.0", "extra_flags": {"liveRunnerAddr": "20s"}}
    assert difference([Source("fleet.toml", tomli_w.dumps(raw))]) == {}


def test_service_address_that_the_node_takes_for_none_is_refused() -> None:
    raw = next(case for case in CASES if case.name == "live-runners").raw["fleet.toml"]
    raw["orchestrators"]["apps-2"]["service"] = "none"
    found = compile_spec([Source("fleet.toml", tomli_w.dumps(raw))], *shipped()).checked.diagnostics
    assert ["sells nothing of its own" in d.message for d in found] == [True]


RUNNERS = ROOT / "tests" / "data" / "runners"
APPS = sorted(path.stem for path in RUNNERS.glob("*.toml") if path.stem != "chain")


@pytest.mark.parametrize("chain", [False, True], ids=["off-chain", "on a chain"])
@pytest.mark.parametrize("name", APPS)
def test_app_of_a_live_runner_adopts_into_itself(name: str, chain: bool) -> None:
    files = [name, *(["chain"] if chain else [])]
    assert difference([Source(one, (RUNNERS / f"{one}.toml").read_text()) for one in files]) == {}


@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.sampled_from(CHANGES))
def test_every_changed_fleet_adopts_into_itself(found: tuple[Case, str, Mutation]) -> None:
    case, name, change = found
    raw = case.raw
    raw = {**raw, name: change.apply(raw[name])}
    assume(not any(_twice(node) for table in raw.values() for node in _nodes(table)))
    result = difference([Source(file, tomli_w.dumps(table)) for file, table in raw.items()])
    assume(result is not None)
    assert result == {}
