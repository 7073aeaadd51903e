"""Settings that nodes take while they run: every one of them, by what the node does with it.

The program is real, and so are its files, the compiled releases and the processes, which are the stand-in node;
systemd is a stand-in that starts what a unit says. After each test the node has the values of its release, and has
them still when it is started again.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fleetc.emit.tree import is_released
from fleetc.planner.states import release_in
from tests.farm.image import compile_standin
from tests.host_program.program import loaded
from tests.standin import can_build
from tests.support import compile_text, exploring

pytestmark = [
    pytest.mark.usefixtures("processes"),
    pytest.mark.skipif(not can_build(), reason="there is nothing to build the stand-in node with"),
]

PAYER, OTHER = "0x" + "1" * 40, "0x" + "2" * 40
SPEC = """
spec = 1

[fleet]
name = "aurora"
network = "arbitrum-one-mainnet"
rpc = {{ env = "RPC" }}
node_release = "v0.9.1"

[hosts.edge]
address = "203.0.113.10"
public = "edge.example.net"
runtime = "{runtime}"

[wallets.payer]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = {{ host_file = "/etc/livepeer/password" }}
reward_by = "none"
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"

[wallets.earner]
address = "0x2222222222222222222222222222222222222222"
keystore = "/var/lib/livepeer/keystore"
password = {{ host_file = "/etc/livepeer/password" }}
reward_by = "orch"
minimum_balance = "0.05 ETH"

[orchestrators.orch]
host = "edge"
mode = "video"
wallet = "earner"
http = "127.0.0.1:{orch_http}"
cli = "127.0.0.1:{orch_cli}"
service = "edge.example.net:{orch_http}"
data_dir = "{data}/orch"
monitor = true
price = "1200 wei / pixel"
gateway_prices = {{ gate = "1100 wei / pixel" }}
max_sessions = 4
max_gas_price = "2 gwei"
min_gas_price = "0.1 gwei"
max_face_value = "0.01 ETH"

[gateways.gate]
host = "edge"
mode = "video"
wallet = "payer"
http = "127.0.0.1:{gate_http}"
rtmp = "127.0.0.1:{gate_rtmp}"
cli = "127.0.0.1:{gate_cli}"
data_dir = "{data}/gate"
orchestrators = ["orch"]
monitor = true
max_price = "1500 wei / pixel"
max_model_prices = {{ text-to-image = "5000 wei / pixel" }}
max_sessions = 20

[rollout]
live = "{live}"
"""


class Edit(NamedTuple):
    """One setting of a node: what stands in the spec, what instead, and what the node says before and after."""

    node: str
    old: str
    new: str
    ask: tuple[str, ...]
    before: str
    after: str


EDITS = {
    "pricePerUnit": Edit(
        "orch", '"1200 wei', '"1300 wei', ("/status", "BroadcasterPrices", "default"), "1200", "1300"
    ),
    "pricePerUnit in pixels": Edit(
        "orch", '"1200 wei / pixel', '"2401 wei / 2 pixels', ("/status", "BroadcasterPrices", "default"),
        "1200", "2401/2",
    ),
    "pricePerGateway": Edit(
        "orch", '"1100 wei', '"1000 wei', ("/status", "BroadcasterPrices", PAYER), "1100", "1000"
    ),
    "pricePerGateway, another one": Edit(
        "orch", '"1100 wei / pixel"', f'"1100 wei / pixel", {OTHER} = "900 wei / pixel"',
        ("/status", "BroadcasterPrices", OTHER), "", "900",
    ),
    "maxPricePerUnit": Edit("gate", '"1500 wei', '"1600 wei', ("/getBroadcastConfig", "MaxPrice"), "1500", "1600"),
    "maxPricePerUnit, any": Edit(
        "gate", '"1500 wei / pixel"', '"any"', ("/getBroadcastConfig", "MaxPrice"), "1500", ""
    ),
    "maxSessions of an orchestrator": Edit(
        "orch", "max_sessions = 4", "max_sessions = 8", ("/metrics", "livepeer_max_sessions_total"), "4", "8"
    ),
    "maxSessions of a gateway": Edit(
        "gate", "max_sessions = 20", "", ("/metrics", "livepeer_max_sessions_total"), "20", "10"
    ),
    "maxGasPrice": Edit("orch", '"2 gwei"', '"3 gwei"', ("/maxGasPrice",), "2000000000", "3000000000"),
    "minGasPrice": Edit("orch", '"0.1 gwei"', '"0.2 gwei"', ("/minGasPrice",), "100000000", "200000000"),
    "v": Edit("orch", "monitor = true\nprice", "monitor = true\nverbosity = 6\nprice", ("/getLogLevel",), "3", "6"),
}  # fmt: skip

WAITS = {
    "maxPricePerCapability": ("gate", '"5000 wei', '"6000 wei', "it does not say which maxPricePerCapability"),
    "maxFaceValue": ("orch", '"0.01 ETH"', '"0.02 ETH"', "it does not say which maxFaceValue it has"),
    "maxGasPrice, none, with metrics": ("orch", 'max_gas_price = "2 gwei"', "", "it does not say which maxGasPrice"),
    "a price in dollars": ("orch", '"1200 wei / pixel', '"0.5 USD / terapixel', "it does not say which pricePerUnit"),
}
"""Changes of settings that no node can be asked for: the node, what stands in the spec, what instead, and why."""


compiled_once = cache(compile_text)
"""Tests ask for the same texts again and again."""

_held: list[socket.socket] = []


@cache
def ports() -> dict[str, int]:
    """Ports of the nodes of every host, so that equal specs are equal texts; nobody gets one while no node has it."""
    for _ in range(5):
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        _held.append(held)
    names = ("orch_http", "orch_cli", "gate_http", "gate_rtmp", "gate_cli")
    return {name: held.getsockname()[1] for name, held in zip(names, _held, strict=True)}


class Node(NamedTuple):
    """A process that the stand-in for systemd started."""

    process: subprocess.Popen[bytes]
    began: int


class Machine:
    """A host with a stand-in for systemd, and a fleet of two nodes on it."""

    def __init__(self, root: Path, binary: Path, live: str, runtime: str = "systemd") -> None:
        self.root, self.binary = root, binary
        self.nodes: dict[str, Node] = {}
        self.starts: dict[str, int] = {}
        self.rpc = "https://rpc.example.net"
        self.ports = ports()
        self.spec = SPEC.format(data=root / "data", live=live, runtime=runtime, **self.ports)
        for node in ("orch", "gate"):
            (root / "data" / node).mkdir(parents=True)
        self.program = loaded(root)
        self.program |= {"run": self.systemd, "start_apart": lambda *_: None, "make_places": lambda _: None, "ASKED": 1}
        self.program |= {"last_words": lambda *_: [], "need_programs": lambda _: None}

    def systemd(self, *words: str, **_: Any) -> Any:
        """What systemctl does with units of nodes; other programs succeed and do nothing."""
        done = self.program["Done"]
        names = [word.removesuffix(".service").removeprefix("livepeer-") for word in words[2:] if "--" not in word]
        if words[:2] == ("systemctl", "show"):
            return done(0, "\n".join(map(self.facts, names)), "")
        for name in names:
            if words[:2] == ("systemctl", "stop"):
                self.stop(name)
            elif words[:2] == ("systemctl", "start"):
                self.start(name)
        return done(0, "", "")

    def facts(self, name: str) -> str:
        node = self.nodes.get(name)
        active, pid = ("active", node.process.pid) if node and node.process.poll() is None else ("inactive", 0)
        return f"Id=livepeer-{name}.service\nActiveState={active}\nMainPID={pid}\nNRestarts=0\n"

    def start(self, name: str) -> None:
        """Start what the unit says that systemd reads, and wait until it listens."""
        unit = Path(self.program["UNITS"], f"livepeer-{name}.service").read_text()
        arguments = [self.below(word) for word in re.findall(r'^  "(-.*?)"(?: \\)?$', unit, re.M)]
        settings = Path(self.program["CURRENT"], name, "node.env")
        content = settings.read_bytes() if settings.exists() else b""
        environment = {"LP_ETHURL": self.rpc, **self.program["variables_in"](content, "systemd")}
        process = subprocess.Popen(
            [str(self.binary), *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.starts[name] = self.starts.get(name, 0) + 1
        self.nodes[name] = Node(process, self.starts[name])
        ports = [port for key, port in self.ports.items() if key.startswith(name)]
        ill = self.root / "data" / name / "standin-ill"
        if ill.exists():  # it may have no administration
            ports = [port for port in ports if port != self.ports[f"{name}_cli"]]
        for port in ports:
            self.wait_for(port)

    @staticmethod
    def wait_for(port: int) -> None:
        for _ in range(1000):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError(f"nothing listens on {port}")

    def stop(self, name: str) -> None:
        node = self.nodes.pop(name, None)
        if node is not None:
            node.process.kill()
            node.process.wait()

    def restart(self, name: str) -> None:
        """What systemd does when a process ends, or somebody by hand."""
        self.stop(name)
        self.start(name)

    def below(self, word: str) -> str:
        """A word of a command line whose paths lead to this machine."""
        return word.replace("/opt/fleetc", f"{self.root}/opt/fleetc")

    def request(self, text: str) -> dict[str, Any]:
        """What Ansible asks of the host for a spec."""
        compiled = compiled_once(text)
        assert compiled.tree is not None, compiled.checked.diagnostics
        files = compiled.tree.as_mapping()
        variables = plain(json.loads(files["ansible/host_vars/edge.json"].content))
        inventory = json.loads(files["ansible/inventory.json"].content)["all"]["vars"]
        names = ("fleet", "owner", "runtime", "seconds", "keep", "live", "services")
        wanted = {name: variables[f"fleet_host_{name}"] for name in names}
        wanted["digest"] = release_in(compiled.tree, "edge")
        wanted["seconds"] |= {"stable": 0, "deadline": 3, "confirm": 60}
        wanted |= {"host": "edge", "stack": None, "setters": plain(inventory["fleet_host_setters"])}
        assert compiled.blueprint is not None
        for service, lowered in zip(wanted["services"], compiled.blueprint.hosts[0].services, strict=True):
            words = "".join(f"{self.below(argument.text)}\0" for argument in lowered.arguments)
            if "program" in service:
                service["program"]["path"] = str(self.binary)
            service["arguments"] = hashlib.sha256(words.encode()).hexdigest()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for path, artifact in files.items():
                if path.startswith("hosts/edge/") and is_released(path):
                    member = tarfile.TarInfo(path.removeprefix("hosts/edge/"))
                    member.size = len(artifact.content)
                    tar.addfile(member, io.BytesIO(artifact.content))
        values = {"env": {"RPC": self.rpc, "JOIN": "a word"}}
        return {"wanted": wanted, "values": values, "archive": base64.b64encode(packed.getvalue()).decode()}

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.program["answer"]({"format": 1, "do": do, **more})
        return answer

    def roll_out(self, text: str) -> dict[str, Any]:
        """Bring the host to what a spec says, with health and confirmation; the switch as it ended."""
        staged = self.ask("stage", **self.request(text))
        assert staged["ok"], staged
        switch: dict[str, Any] = self.program["begin_switch"](staged["release"], {"id": staged["switch"]})
        self.program["carry_out"](switch)
        if switch["phase"] == "healthy":
            assert self.ask("confirm", id=switch["id"])["ok"]
        return switch

    def says(self, node: str, path: str, *keys: str) -> str:
        """What a node answers."""
        where = f"http://127.0.0.1:{self.ports[f'{node}_cli']}"
        _, body = self.program["ask"](where, path)
        found: str = self.program["said_in"](body.decode(), path, list(keys))
        return found

    def steps(self, text: str) -> dict[str, str]:
        """What a rollout of a spec would do with each node, and why."""
        answer = self.ask("observe", **self.request(text))
        return {one["node"]: f"{one['do']}: {one['reason']}" for one in answer["steps"] if one["node"]}

    def is_whole(self, text: str) -> None:
        """The host has nothing to do for a spec, and nothing on it differs from its records."""
        answer = self.ask("observe", **self.request(text))
        assert {one["do"] for one in answer["steps"]} == {"keep"}, answer["steps"]
        assert [process["drift"] for process in answer["state"]["processes"]] == [[], []]
        assert self.program["open_switch"]() is None

    def ill(self, node: str, words: str) -> None:
        (self.root / "data" / node / "standin-ill").write_text(words)

    def well(self, node: str) -> None:
        (self.root / "data" / node / "standin-ill").unlink()


def plain(value: Any) -> Any:
    """Variables as a module gets them from Ansible."""
    if isinstance(value, dict):
        return value["__ansible_unsafe"] if "__ansible_unsafe" in value else {k: plain(v) for k, v in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in node."""
    return compile_standin(tmp_path_factory.mktemp("standin"))


Make = Callable[..., Machine]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where one host after the other lies."""
    return tmp_path_factory.mktemp("hosts") / "host"


@pytest.fixture
def make(binary: Path, place: Path) -> Iterator[Make]:
    """Makes a host that runs the release of the spec, in the place of the last one."""
    made: list[Machine] = []

    def end() -> None:
        for machine in made:
            for name in list(machine.nodes):
                machine.stop(name)
        shutil.rmtree(place, ignore_errors=True)

    def new(live: str = "try") -> Machine:
        end()
        machine = Machine(place, binary, live)
        made.append(machine)
        switch = machine.roll_out(machine.spec)
        assert switch["phase"] == "healthy", switch["reasons"]
        return machine

    yield new
    end()


def edited(machine: Machine, old: str, new: str) -> str:
    assert machine.spec.count(old) == 1, old
    return machine.spec.replace(old, new)


@pytest.mark.parametrize("name", EDITS)
def test_a_setting_is_taken_without_a_restart_and_stays_after_one(make: Make, name: str) -> None:
    edit, machine = EDITS[name], make()
    text = edited(machine, edit.old, edit.new)
    assert machine.says(edit.node, *edit.ask) == edit.before
    assert machine.steps(text)[edit.node].startswith("live: it takes ")
    switch = machine.roll_out(text)
    assert (switch["phase"], switch["restarted"], switch["live"]) == ("healthy", [], [edit.node])
    assert machine.starts == {"orch": 1, "gate": 1}
    assert machine.says(edit.node, *edit.ask) == edit.after
    machine.is_whole(text)
    machine.restart(edit.node)
    assert machine.says(edit.node, *edit.ask) == edit.after
    machine.is_whole(text)


def restarted_meanwhile(machine: Machine, node: str) -> None:
    """The node ends when it is asked what it has, and systemd starts it again."""
    ask = machine.program["ask"]

    def asked(where: str, path: str, form: dict[str, str] | None = None) -> Any:
        answer = ask(where, path, form)
        if form is not None:
            machine.program["ask"] = ask
            machine.restart(node)
        return answer

    machine.program["ask"] = asked


def without_an_answer(machine: Machine, _node: str) -> None:
    """The node takes the setting, but does not answer what it has then, as if it had no such question."""
    ask, given, hidden = machine.program["ask"], list[str](), list[str]()

    def asked(where: str, path: str, form: dict[str, str] | None = None) -> Any:
        if form is not None:
            given.append(path)
        elif given and len(hidden) <= machine.program["ASKED"]:
            hidden.append(path)
            return 404, b""
        return ask(where, path, form)

    machine.program["ask"] = asked


def not_listening(machine: Machine, node: str) -> None:
    """The node was started again by hand, and its administration failed to listen."""
    machine.ill(node, "nolisten")
    machine.restart(node)
    machine.well(node)


OUTCOMES: dict[str, tuple[Callable[[Machine, str], None], str]] = {
    "refused": (lambda machine, node: machine.ill(node, "refuse"), "it answers 500 to /set"),
    "other value": (lambda machine, node: machine.ill(node, "noread"), "it says that "),
    "no answer": (without_an_answer, "it answers 404 to /"),
    "not listening": (not_listening, "it answers nothing to /set"),
    "restarted meanwhile": (restarted_meanwhile, "it says that "),
}


def pairs(third: int) -> list[tuple[str, str]]:
    """Settings with outcomes: a third of all, with each setting and each outcome; all where laws are explored."""
    numbered = [(n + m, name, outcome) for n, name in enumerate(EDITS) for m, outcome in enumerate(OUTCOMES)]
    return [(name, outcome) for number, name, outcome in numbered if exploring() or number % 3 == third]


@pytest.mark.parametrize(("name", "outcome"), pairs(0))
def test_a_node_that_does_not_take_a_setting_is_restarted(make: Make, name: str, outcome: str) -> None:
    edit, machine = EDITS[name], make("try")
    text = edited(machine, edit.old, edit.new)
    spoil, why = OUTCOMES[outcome]
    spoil(machine, edit.node)
    before = dict(machine.starts)
    switch = machine.roll_out(text)
    assert switch["phase"] == "healthy", switch["reasons"]
    assert (switch["restarted"], switch["live"]) == ([edit.node], [])
    by_itself = 1 if outcome == "restarted meanwhile" else 0
    assert machine.starts == {**before, edit.node: before[edit.node] + 1 + by_itself}
    lines = [json.loads(line) for line in Path(machine.program["JOURNAL"]).read_text().splitlines()]
    assert [line["why"].startswith(why) for line in lines if line["what"] == "not-live"] == [True], lines
    assert machine.says(edit.node, *edit.ask) == edit.after
    machine.is_whole(text)


@pytest.mark.parametrize(("name", "outcome"), pairs(1))
def test_a_switch_that_may_restart_nothing_goes_back(make: Make, name: str, outcome: str) -> None:
    edit, machine = EDITS[name], make("only")
    text = edited(machine, edit.old, edit.new)
    spoil, why = OUTCOMES[outcome]
    spoil(machine, edit.node)
    before = dict(machine.starts)
    switch = machine.roll_out(text)
    assert switch["phase"] == "reverted", switch["reasons"]
    assert switch["reasons"][0].startswith(f"{edit.node}: {why}")
    with suppress(FileNotFoundError):
        machine.well(edit.node)
    assert machine.says(edit.node, *edit.ask) == edit.before
    if outcome in ("refused", "other value", "no answer") and edit.before != "":
        assert machine.starts == before
    machine.is_whole(machine.spec)


@pytest.mark.parametrize("name", WAITS)
def test_a_setting_that_nobody_can_ask_for_waits_for_a_restart(make: Make, name: str) -> None:
    node, old, new, why = WAITS[name]
    machine = make()
    text = edited(machine, old, new)
    step = machine.steps(text)[node]
    assert step.startswith("restart: its files change (") and f"), and {why}" in step
    only = text.replace('live = "try"', 'live = "only"')
    assert machine.steps(only)[node].startswith(f"halt: {why}")
    plan = {"created": "2026-03-01T12:00:00Z", "seal": "-"}
    refused = machine.ask("begin", plan=plan, **machine.request(only))
    assert (refused["ok"], refused["code"]) == (False, "live-impossible")
    assert refused["message"].startswith(f"{node}: {why}")
    never = text.replace('live = "try"', 'live = "never"')
    assert machine.steps(never)[node] == "restart: its files change"
    switch = machine.roll_out(text)
    assert (switch["phase"], switch["restarted"]) == ("healthy", [node])
    machine.is_whole(text)


def test_an_ill_release_takes_its_settings_back_without_a_restart(make: Make) -> None:
    machine = make()
    text = edited(machine, '"1200 wei', '"1300 wei')
    healthy = machine.program["healthy"]
    once = iter([["gate is ill"]])
    machine.program["healthy"] = lambda *words: next(once, None) or healthy(*words)
    assert machine.roll_out(text)["phase"] == "reverted"
    assert machine.says("orch", "/status", "BroadcasterPrices", "default") == "1200"
    assert machine.starts == {"orch": 1, "gate": 1}
    machine.is_whole(machine.spec)


def test_a_node_that_crashes_just_before_its_link_moves_is_started_anew(make: Make) -> None:
    machine = make()
    text = edited(machine, '"1200 wei', '"1300 wei')
    link = machine.program["link"]
    done: list[str] = []

    def crashing(target: str, path: str) -> Any:
        if path.endswith("/current/orch") and not done:
            done.append(path)
            machine.restart("orch")
        return link(target, path)

    machine.program["link"] = crashing
    switch = machine.roll_out(text)
    assert (switch["phase"], switch["restarted"], switch["live"]) == ("healthy", ["orch"], [])
    assert machine.says("orch", "/status", "BroadcasterPrices", "default") == "1300"
    machine.is_whole(text)


def test_a_process_of_another_boot_or_pid_is_judged_by_its_own_arguments(make: Make) -> None:
    machine = make()
    text = edited(machine, '"1200 wei', '"1300 wei')
    assert machine.roll_out(text)["phase"] == "healthy"
    machine.program["boot_id"] = lambda: "another boot"
    answer = machine.ask("observe", **machine.request(text))
    drift = {process["node"]: process["drift"] for process in answer["state"]["processes"]}
    other = "its process has other arguments: -pricePerGateway differs, -pricePerUnit is 1200 instead of 1300"
    assert drift == {"orch": [other], "gate": []}


def test_of_several_nodes_those_before_the_one_that_refuses_give_back_what_they_took(make: Make) -> None:
    machine = make("only")
    text = edited(machine, '"1200 wei', '"1300 wei').replace('"1500 wei', '"1600 wei')
    machine.ill("gate", "refuse")
    switch = machine.roll_out(text)
    assert (switch["phase"], switch["restarted"]) == ("reverted", [])
    assert machine.starts == {"orch": 1, "gate": 1}
    assert machine.says("orch", "/status", "BroadcasterPrices", "default") == "1200"
    assert machine.says("gate", "/getBroadcastConfig", "MaxPrice") == "1500"
    machine.is_whole(machine.spec)


def test_a_host_learns_from_a_newer_fleetc_what_its_nodes_take(make: Make) -> None:
    machine = make()
    (record,) = Path(machine.program["RELEASES"]).glob("*/.wanted.json")
    staged = json.loads(record.read_text())
    for service in staged["services"]:
        service |= {"rest": service["digest"], "live": [], "silent": []}
    record.write_text(json.dumps(staged))
    text = edited(machine, '"1200 wei', '"1300 wei')
    assert machine.steps(text)["orch"] == "restart: its files change"
    plan = {"created": "2026-03-01T12:00:00Z", "seal": "-"}
    assert machine.ask("begin", plan=plan, check=True, **machine.request(machine.spec))["needed"] is False
    assert machine.steps(text)["orch"] == "restart: its files change"
    assert machine.ask("begin", plan=plan, **machine.request(machine.spec))["needed"] is False
    assert machine.steps(text)["orch"] == "live: it takes pricePerUnit=1300 while it runs"
    assert machine.roll_out(text)["restarted"] == []
    machine.is_whole(text)
