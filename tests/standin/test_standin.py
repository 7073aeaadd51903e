"""The stand-in for the node starts, refuses, answers and can be set as the real node, and is as ill as it is told.

The stand-in is built with gcc from the table of flags. It and the independent model of the node read the same words and
variables: those of every process of the example fleets, and hundreds of damaged ones. Other tests start it on loopback
ports of its own and ask it over HTTP.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from fleetc import lower
from fleetc.blueprint.blueprint import RUNNERS
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source
from tests.node import StartupError, broken_rules, read
from tests.node.parsing import node_flags, variable_of
from tests.standin import can_build, gcc_words
from tests.support import INVENTORIES, for_each

pytestmark = pytest.mark.usefixtures("processes")

needs_gcc = pytest.mark.skipif(not can_build(), reason="gcc or the libraries of OpenSSL are not installed")

STATUS = {
    **{"P1": 2, "P2": 2, "P3": 1, "exit-0": 0},
    **{"R01": 1, "R02": 1, "R03": 1, "R09": 2, "R11": 2, "R23": 1, "R41": 2, "R76": 1, "R92": 1},
    **{"R40": 2, "R42": 2, "R43": 2, "R44": 2},
}
"""The rules of the model that the stand-in knows, and how the node ends by them; a panic ends with 2."""
MUTATIONS = 100


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("standin")
    done = subprocess.run(gcc_words(place, place / "livepeer"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place / "livepeer"


def ends(program: Path, words: Sequence[str], env: Mapping[str, str]) -> tuple[int, str]:
    """Exit status and the first line, of a run that ends where it would listen."""
    env = {"HOME": "/root", **env, "STANDIN_CHECK_ONLY": "1"}
    done = subprocess.run([program, *words], env=env, capture_output=True, text=True, timeout=20, check=False)
    return done.returncode, (done.stdout or done.stderr).partition("\n")[0]


def expected(words: Sequence[str], env: Mapping[str, str]) -> set[int]:
    """The exit statuses that the model allows; 0 for a process that starts."""
    try:
        broken = broken_rules(read(words, {"HOME": "/root", **env}))
    except StartupError as refused:
        return {STATUS[rule] for rule in refused.rules}
    return {STATUS[rule] for rule in broken if rule in STATUS} or {0}


def processes() -> list[tuple[str, list[str], dict[str, str]]]:
    """Every process of the example fleets: its name, words and variables; secrets are a word."""
    found = []
    for spec in sorted(INVENTORIES.glob("*/fleet.toml")):
        fleet = check_spec([Source(str(spec), spec.read_text(encoding="utf-8"))]).fleet
        assert fleet is not None
        for host in lower.lower(fleet).hosts:
            for service in (one for one in host.services if one.table != RUNNERS):
                env = {v.name: v.value for v in service.variables} | {s.name: "secret" for s in service.secrets}
                words = [argument.text for argument in service.arguments]
                found.append((f"{spec.parent.name}/{service.name}", words, env))
    return found


PROCESSES = processes()


@needs_gcc
def test_every_process_of_the_example_fleets_starts(standin: Path) -> None:
    for name, words, env in PROCESSES:
        assert ends(standin, words, env) == (0, ""), name


@needs_gcc
@for_each(
    ("words", "env", "status", "line"),
    [
        (["-nope=1"], {}, 2, "flag provided but not defined: -nope"),
        (["-maxsessions=1"], {}, 2, "flag provided but not defined: -maxsessions"),
        (["---gateway"], {}, 2, "bad flag syntax: ---gateway"),
        (["-gateway=yes"], {}, 2, 'invalid value "yes" for flag -gateway: parse error'),
        (["-gateway", "-maxAttempts=3.0"], {}, 2, 'invalid value "3.0" for flag -maxAttempts: parse error'),
        (["-gateway", "-selectRandFreq=much"], {}, 2, 'invalid value "much" for flag -selectRandFreq: parse error'),
        (["-gateway", "-discoveryTimeout=500"], {}, 2, 'invalid value "500" for flag -discoveryTimeout: parse error'),
        (["-gateway", "-network"], {}, 2, "flag needs an argument: -network"),
        (["-gateway"], {"LP_MONITOR": "yes"}, 1, 'Error parsing config: error setting flag "monitor"'),
        (["-network=arbitrum-one-mainnet", "-gateway"], {}, 1, "Need to specify an Ethereum node JSON-RPC URL"),
        ([], {}, 2, "No services enabled"),
        (["-orchestrator"], {}, 1, "Running an orchestrator requires an -orchSecret"),
        (["-remoteSigner"], {}, 2, "Remote signer mode requires on-chain network"),
        (["-gateway", "-maxSessions=auto"], {}, 1, "-maxSessions must be a positive number or auto"),
        (["-gateway", "stop", "-nope"], {}, 0, ""),
        (["-reward", "false", "-nope"], {}, 0, ""),
        (["-gateway=false", "--gateway=true"], {}, 0, ""),
        (["-orchestrator"], {"LP_ORCHSECRET": "secret"}, 0, ""),
        (["-help"], {}, 0, ""),
    ],
)
def test_what_the_node_refuses_ends_as_there(
    words: list[str], env: dict[str, str], status: int, line: str, standin: Path
) -> None:
    found, said = ends(standin, words, env)
    assert found == status
    assert said.startswith(line) and (line or not said)
    assert expected(words, env) == {status}


def damaged(words: Sequence[str], env: dict[str, str], chance: random.Random) -> tuple[list[str], dict[str, str]]:
    """The same process with one to three faults, or none that counts."""
    broken, variables = list(words), dict(env)
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(broken)) if broken else 0
        flag = chance.choice(sorted(set(node_flags()) - {"config", "datadir"}))
        literal = chance.choice(
            ["", "x", "1", "-1", "0x10", "010", "09", "1e3", "3.0", "true", "T", "5s", "1m30s", "5", "auto"]
        )
        match chance.randrange(7):
            case 0 if broken:
                del broken[place]
            case 1:
                broken.insert(place, chance.choice(["stop", "-", "--", "-nope", "--nope=1", "-=1"]))
            case 2 if broken:
                broken[place] = broken[place].swapcase()
            case 3 if broken:
                name, _, value = broken[place].partition("=")
                broken[place : place + 1] = [name, value]
            case 4:
                broken.insert(place, f"-{flag}={literal}")
            case 5:
                variables[variable_of(flag)] = literal
            case _ if variables:
                variables.pop(chance.choice(sorted(variables)))
    return broken, variables


@needs_gcc
def test_damaged_processes_end_as_the_model_says(standin: Path) -> None:
    chance, outcomes = random.Random(9), set[int]()
    for _ in range(MUTATIONS):
        name, words, env = chance.choice(PROCESSES)
        broken, variables = damaged(words, env, chance)
        status, line = ends(standin, broken, variables)
        assert status in expected(broken, variables), (name, broken, variables, line)
        outcomes.add(status)
    assert outcomes == {0, 1, 2}


CHAIN = ["-network=arbitrum-one-mainnet", "-ethUrl=http://127.0.0.1:1"]
GATEWAY = ["-gateway", *CHAIN, "-maxPricePerUnit=1500"]
ORCHESTRATOR = ["-orchestrator", "-transcoder", *CHAIN, "-pricePerUnit=1200"]
SIGNER = ["-remoteSigner", *CHAIN]
GATEWAY_ADDRESS = "0x" + "aB" * 20


def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Ask again and again, until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.01)


def free_ports() -> tuple[int, int]:
    """Two ports that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def unverified() -> ssl.SSLContext:
    """TLS for a certificate that nobody has signed."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Node:
    """A running stand-in. `cli` and `http` are ports; its data directory is `place`."""

    def __init__(self, program: Path, place: Path, words: Sequence[str], ill: str, scheme: str) -> None:
        self.place, (self.cli, self.http) = place, free_ports()
        self.tls = "-orchestrator" in words and scheme != "http://"
        own = [f"-httpAddr={scheme}127.0.0.1:{self.http}", f"-cliAddr=127.0.0.1:{self.cli}", f"-dataDir={place}"]
        command = [str(program), *words, *own]
        self.log = place / "log"
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, env={"STANDIN_ILL": ill}, stderr=log, stdout=log)

    def answers(self, port: int) -> bool:
        """Whether somebody listens."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    def ask(self, path: str, form: Mapping[str, str] | None = None, method: str = "GET") -> tuple[int, str]:
        """Status and body of an answer on -cliAddr."""
        query, body = urlencode(form or {}), None
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if form and method == "GET":
            path = f"{path}?{query}"
        elif form:
            body = query
        return exchange(http.client.HTTPConnection("127.0.0.1", self.cli, timeout=5), method, path, body, headers)

    def health(self) -> tuple[int, str]:
        """Status and body of /healthz on -httpAddr."""
        if self.tls:
            connection = http.client.HTTPSConnection("127.0.0.1", self.http, timeout=5, context=unverified())
            return exchange(connection, "GET", "/healthz")
        return exchange(http.client.HTTPConnection("127.0.0.1", self.http, timeout=5), "GET", "/healthz")

    def status(self) -> dict[str, object]:
        """What /status says."""
        return json_object(self.ask("/status"))

    def prices(self) -> object:
        """The prices of an orchestrator."""
        return self.status()["BroadcasterPrices"]

    def config(self) -> tuple[object, object]:
        """The cap and the renditions of a gateway."""
        found = json_object(self.ask("/getBroadcastConfig"))
        return found["MaxPrice"], found["TranscodingOptions"]

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(10)


def exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: str | None = None,
    headers: Mapping[str, str] = {},
) -> tuple[int, str]:
    try:
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def json_object(answer: tuple[int, str]) -> dict[str, object]:
    status, body = answer
    assert status == 200, body
    found = json.loads(body)
    assert isinstance(found, dict)
    return found


class Starter:
    """Starts stand-ins, and ends those that are left."""

    def __init__(self, program: Path, place: Path) -> None:
        self.program, self.place, self.nodes = program, place, list[Node]()

    def __call__(self, words: Sequence[str], ill: str = "", scheme: str = "") -> Node:
        """A node that listens."""
        node = self.launch(words, ill, scheme)
        until(lambda: node.answers(node.cli) and node.answers(node.http))
        return node

    def launch(self, words: Sequence[str], ill: str = "", scheme: str = "") -> Node:
        """A node that may never listen."""
        node = Node(self.program, self.place, words, ill, scheme)
        self.nodes.append(node)
        return node


@pytest.fixture
def start(standin: Path, tmp_path: Path) -> Iterator[Starter]:
    starter = Starter(standin, tmp_path)
    yield starter
    for node in starter.nodes:
        node.process.kill()
        node.process.wait()


@needs_gcc
@pytest.mark.parametrize(
    ("words", "scheme", "expected_health"),
    [
        (GATEWAY, "", 200),
        (ORCHESTRATOR, "", 200),
        (ORCHESTRATOR, "https://", 200),
        (ORCHESTRATOR, "http://", 200),
        (SIGNER, "", 200),
        (["-transcoder"], "", 404),
    ],
)
def test_health_is_told_over_tls_by_orchestrators(
    words: list[str], scheme: str, expected_health: int, start: Starter
) -> None:
    node = start(words, scheme=scheme)
    assert node.health()[0] == expected_health
    assert node.ask("/healthz")[0] == 404
    assert node.stop() == 0


@needs_gcc
def test_status_has_the_fields_of_the_node(start: Starter) -> None:
    found = start(GATEWAY, "pool=none").status()
    texts = {name: value for name, value in found.items() if isinstance(value, str)}
    assert texts == {"Version": "0.9.1-standin", "GolangRuntimeVersion": "none", "GOArch": "none", "GOOS": "linux"}
    assert {name: value for name, value in found.items() if name not in texts} == {
        **{"Manifests": {}, "InternalManifests": {}, "StreamInfo": {}, "OrchestratorPool": []},
        **{"OrchestratorPoolInfos": None, "RegisteredTranscodersNumber": 0, "RegisteredTranscoders": []},
        **{"LocalTranscoding": True, "BroadcasterPrices": {}},
    }


def metric(node: Node, name: str) -> int:
    """The number that a metric has."""
    lines = [line for line in node.ask("/metrics")[1].splitlines() if line.startswith(f"livepeer_{name}{{")]
    assert len(lines) == 1
    return int(lines[0].rpartition(" ")[2])


CAP = {"maxPricePerUnit": "1000", "pixelsPerUnit": "1"}
MODEL_CAP = {**CAP, "currency": "wei", "pipeline": "text-to-image", "modelID": "default"}
OFFER = {"pricePerUnit": "1000", "pixelsPerUnit": "1", "broadcasterEthAddr": "default"}


@needs_gcc
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_gateway_can_be_set_while_it_runs(method: str, start: Starter) -> None:
    node = start(GATEWAY)

    def sets(path: str, form: dict[str, str]) -> tuple[int, str]:
        return node.ask(path, form, method)

    def cap(**fields: str) -> tuple[int, str]:
        return sets("/setBroadcastConfig", {**CAP, **fields})

    presets = "P240p30fps16x9,P360p30fps16x9"
    assert cap(maxPricePerUnit="1/2", pixelsPerUnit="1e3") == (200, "")
    assert node.config() == ("1/2000", presets)
    assert cap(currency="eth")[0] == 200
    assert node.config()[0] == f"{10**21}"
    assert cap(maxPricePerUnit="x") == (400, "Error parsing pricePerUnit value: x\n")
    assert cap(maxPricePerUnit="0.5USD")[0] == cap(pixelsPerUnit="0")[0] == 400
    assert cap(currency="EUR")[1].startswith("error converting price: price feed does not have EUR")
    assert sets("/setBroadcastConfig", {"maxPricePerUnit": "5"})[1].startswith("missing form params")
    assert node.config()[0] == f"{10**21}"
    assert cap(maxPricePerUnit="0", currency="EUR")[0] == 200  # any price, and nobody looks at the currency
    assert node.config()[0] is None

    # The price stays although the presets are refused; presets are not trimmed; half a price is passed over.
    assert cap(transcodingOptions="P999") == (400, "invalid transcoding options: P999\n")
    assert node.config() == ("1000", presets)
    half = {"maxPricePerUnit": "5", "transcodingOptions": "P144p30fps16x9,x, P720p60fps16x9"}
    assert sets("/setBroadcastConfig", half)[0] == 200
    assert node.config() == ("1000", "P144p30fps16x9")

    assert sets("/setMaxPriceForCapability", MODEL_CAP) == (200, "")
    assert "text-to-image default: 1000 wei" in node.log.read_text()
    said = [
        sets("/setMaxPriceForCapability", {**MODEL_CAP, name: value})[1].partition(":")[0].strip()
        for name, value in (("pipeline", "nope"), ("maxPricePerUnit", "0"), ("currency", ""), ("pixelsPerUnit", "x"))
    ]
    assert said[:3] == ["pipeline not supported", "pricePerPixel needs to be > 0", "missing form param"]
    assert said[3] == "Error parsing pixelsPerUnit value"
    assert sets("/setPriceForBroadcaster", OFFER)[0] == sets("/setMaxFaceValue", {"maxfacevalue": "1"})[0] == 400


@needs_gcc
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_orchestrator_can_be_set_while_it_runs(method: str, start: Starter) -> None:
    node = start(ORCHESTRATOR)

    def sets(path: str, form: dict[str, str]) -> tuple[int, str]:
        return node.ask(path, form, method)

    said = "Price per pixel set to 3 wei for 2 pixels for broadcaster "
    price = {"pricePerUnit": "3", "pixelsPerUnit": "2"}
    assert sets("/setPriceForBroadcaster", {**OFFER, **price}) == (200, f"{said}default\n")
    assert sets("/setPriceForBroadcaster", {**OFFER, "broadcasterEthAddr": GATEWAY_ADDRESS})[0] == 200
    assert node.prices() == {"default": "3/2", GATEWAY_ADDRESS.lower(): "1000"}
    dead = f"{GATEWAY_ADDRESS} "
    assert sets("/setPriceForBroadcaster", {**OFFER, "broadcasterEthAddr": dead})[0] == 200
    assert node.prices() == {"default": "3/2", GATEWAY_ADDRESS.lower(): "1000", dead.lower(): "1000"}
    refused = {
        name: sets("/setPriceForBroadcaster", {**OFFER, name: value})[1]
        for name, value in (("broadcasterEthAddr", "0x12"), ("pricePerUnit", "-1"), ("pixelsPerUnit", "1,5"))
    }
    assert "not a valid eth address" in refused["broadcasterEthAddr"]
    assert "greater than or equal to 0" in refused["pricePerUnit"]
    assert refused["pixelsPerUnit"] == "error parsing pixelsPerUnit value: 1,5\n"

    assert sets("/setOrchestratorConfig", {"pricePerUnit": "8", "pixelsPerUnit": "1"}) == (200, "")
    moves = {"pricePerUnit": "9", "pixelsPerUnit": "1", "serviceURI": "https://203.0.113.1:8935"}
    assert sets("/setOrchestratorConfig", moves)[0] == 500
    prices = node.prices()
    assert isinstance(prices, dict)
    assert prices["default"] == "9", "the price stays although the rest is refused"
    assert sets("/setOrchestratorConfig", {"blockRewardCut": "1", "feeShare": "2"})[0] == 500
    assert sets("/bond", {"amount": "1", "toAddr": "0x"})[0] == sets("/reward", {})[0] == 500
    assert node.log.read_text().count("would send a transaction") == 4

    assert sets("/setMaxFaceValue", {"maxfacevalue": "-5"}) == (200, "ticket max face value set")
    assert sets("/setMaxFaceValue", {"maxfacevalue": "1.5"}) == (400, "maxfacevalue not set to number\n")
    assert sets("/setMaxPriceForCapability", MODEL_CAP)[0] == 400

    for path, trap in (("/setMaxSessions", {"maxSessions": "auto"}), ("/setMaxGasPrice", {"amount": "0"})):
        fallen = start([*ORCHESTRATOR, "-monitor", "-maxGasPrice=9"])
        with pytest.raises(http.client.RemoteDisconnected):
            fallen.ask(path, trap)
        assert (metric(fallen, "max_sessions_total"), fallen.ask("/maxGasPrice")[0]) == (10, 200)
    node.stop()
    assert start(ORCHESTRATOR).prices() == {"default": "1200"}, "nothing outlives the process"


@needs_gcc
@pytest.mark.parametrize("by_file", [False, True], ids=["release", "host"])
def test_illness_shows_in_answers(by_file: bool, start: Starter, tmp_path: Path) -> None:
    def ill(words: list[str], what: str) -> Node:
        (tmp_path / "standin-ill").write_text(f" {what} \n" if by_file else "")
        return start(words, "" if by_file else what)

    told = ill(ORCHESTRATOR, "version=0.9.2, price=7/3")
    assert (told.status()["Version"], told.prices()) == ("0.9.2", {"default": "7/3"})
    assert ill(GATEWAY, "maxprice=12").config()[0] == "12"
    assert ill(GATEWAY, "price=7").prices() == {}
    assert ill(ORCHESTRATOR, "unwell").health()[0] == 503

    deaf = ill(ORCHESTRATOR, "noread")
    assert deaf.ask("/setPriceForBroadcaster", OFFER)[0] == deaf.ask("/setMaxGasPrice", {"amount": "5"})[0] == 200
    assert deaf.ask("/setPriceForBroadcaster", {**OFFER, "pixelsPerUnit": "0"})[0] == 400
    assert (deaf.prices(), deaf.ask("/maxGasPrice")) == ({"default": "1200"}, (200, ""))
    stubborn = ill(GATEWAY, "refuse")
    assert stubborn.ask("/setBroadcastConfig", CAP)[0] == stubborn.ask("/setLogLevel", {"loglevel": "1"})[0] == 500
    assert stubborn.config()[0] == "1500"


ACCOUNT = "0x" + "Ab" * 20


@needs_gcc
def test_what_the_chain_has_of_an_orchestrator(start: Starter) -> None:
    words = [*ORCHESTRATOR, f"-ethAcctAddr={ACCOUNT}", "-serviceAddr=orch.example.net:8935"]
    told = start(words)
    assert (told.ask("/ethAddr"), told.ask("/EthChainID")) == ((200, ACCOUNT), (200, "42161"))
    found = json_object(told.ask("/orchestratorInfo"))["Transcoder"]
    assert isinstance(found, dict)
    assert (found["ServiceURI"], found["Active"]) == ("https://orch.example.net:8935", True)
    ill = start(words, "account=0x9,chain=5,uri=http://a:1,inactive,transcoders=2")
    assert (ill.ask("/ethAddr"), ill.ask("/EthChainID")) == ((200, "0x9"), (200, "5"))
    found = json_object(ill.ask("/orchestratorInfo"))["Transcoder"]
    assert isinstance(found, dict)
    assert (found["ServiceURI"], found["Active"]) == ("http://a:1", False)
    assert ill.status()["RegisteredTranscodersNumber"] == 2
    off_chain = start(["-gateway"])
    assert off_chain.ask("/senderInfo") == off_chain.ask("/ethAddr") == (500, "missing ETH client\n")


@needs_gcc
def test_what_a_gateway_can_pay_and_whom_it_knows(start: Starter) -> None:
    assert start(GATEWAY).status()["OrchestratorPool"] == ["https://orchestrator.example.net:8935"]
    assert start([*GATEWAY, "-orchAddr=a:1, https://b:2"]).status()["OrchestratorPool"] == [
        "https://a:1",
        "https://b:2",
    ]
    assert start(["-gateway"]).status()["OrchestratorPool"] == []
    reserve = {"FundsRemaining": 10**19, "ClaimedInCurrentRound": 0}
    paying = {"Deposit": 10**19, "WithdrawRound": 0, "Reserve": reserve}
    assert json_object(start(GATEWAY).ask("/senderInfo")) == paying
    poor = start([*GATEWAY, "-monitor"], "deposit=1,reserve=2,withdraw=3,unpaid=4,pool=c:3")
    said = json_object(poor.ask("/senderInfo"))
    assert said == {"Deposit": 1, "WithdrawRound": 3, "Reserve": {**reserve, "FundsRemaining": 2}}
    assert poor.status()["OrchestratorPool"] == ["https://c:3"]
    assert metric(poor, "payment_create_errors") == 4


@needs_gcc
def test_the_file_of_a_host_wins_and_is_read_at_each_request(start: Starter, tmp_path: Path) -> None:
    node, file = start(ORCHESTRATOR, "version=0.9.2,unwell"), tmp_path / "standin-ill"
    file.write_text("version=0.9.3")
    assert (node.status()["Version"], node.health()[0]) == ("0.9.3", 503)
    file.unlink()
    assert node.status()["Version"] == "0.9.2"
    file.write_text("versoin=0.9.3")
    with pytest.raises(http.client.RemoteDisconnected):
        node.status()
    assert node.process.wait(10) == 3


@needs_gcc
@pytest.mark.parametrize(
    ("ill", "status", "line"),
    [
        ("exit=0", 0, "exit=0"),
        ("exit=9", 9, "exit=9"),
        ("die=0.05", 1, "die"),
        ("unwel", 3, 'nothing known about "unwel"'),
        ("exit=x", 3, 'nothing known about "exit=x"'),
        ("hang,die=-1", 3, 'nothing known about "die=-1"'),
        ("hang=1", 3, 'nothing known about "hang=1"'),
        ("price=", 3, 'nothing known about "price="'),
    ],
)
def test_illness_ends_it(ill: str, status: int, line: str, start: Starter, tmp_path: Path) -> None:
    node = start.launch(GATEWAY, ill)
    assert node.process.wait(10) == status
    (tmp_path / "standin-ill").write_text(ill)
    assert start.launch(GATEWAY).process.wait(10) == status
    assert node.log.read_text().count(line) == 2


BEATS = [*ORCHESTRATOR, "-useLiveRunners", "-orchSecret=a word", "-serviceAddr=orch.example.net:8935"]
BEAT = {"runner_url": "http://127.0.0.1:8001", "app": "studio/echo", "price_info": {"price": 0.1, "unit": "720p"}}


def beat(node: Node, secret: str, path: str = "/runners/heartbeat", **more: object) -> tuple[int, str]:
    """What is answered to a runner that presents a secret."""
    connection = http.client.HTTPConnection("127.0.0.1", node.http, timeout=5)
    return exchange(connection, "POST", path, json.dumps({**BEAT, **more}), {"Authorization": secret})


def offers(node: Node) -> list[dict[str, Any]]:
    """What clients find."""
    connection = http.client.HTTPConnection("127.0.0.1", node.http, timeout=5)
    status, body = exchange(connection, "GET", "/discovery")
    assert status == 200, body
    (told,) = json.loads(body)
    found = told.get("runners", [])
    assert isinstance(found, list)
    return found


@needs_gcc
def test_a_runner_registers_itself_with_the_secret_and_is_gone_without_heartbeats(
    start: Starter, tmp_path: Path
) -> None:
    node = start(BEATS, scheme="http://")
    assert beat(node, "another word") == (401, "invalid registration authorization\n")
    assert beat(node, "")[0] == 401 and offers(node) == []
    given = json_object(beat(node, "a word"))
    (found,) = offers(node)
    assert found["price_info"] == {"price": 502, "currency": "wei", "unit": "720p-pixel-seconds"}
    assert (found["app"], found["capacity"]) == ("studio/echo", 1)
    assert found["url"].endswith(f"/apps/{given['runner_id']}")
    name, own = str(given["runner_id"]), str(given["heartbeat_secret"])
    assert beat(node, "a word", runner_id=name) == (401, "invalid heartbeat authorization\n")
    assert "heartbeat_secret" not in json_object(beat(node, own, runner_id=name, capacity=3))
    assert [one["capacity"] for one in offers(node)] == [3]
    (tmp_path / "standin-ill").write_text("forgets=0.2,usd=1000")
    assert [one["price_info"]["price"] for one in offers(node)] == [1004]
    until(lambda: offers(node) == [])
    assert beat(node, own, runner_id=name)[0] == 401
    assert 'reason="heartbeat timeout"' in node.log.read_text()
