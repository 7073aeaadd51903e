"""The rollouts that are explored: what runs before, what it leads to, and what the next one leads to."""

from __future__ import annotations

from datetime import UTC, datetime

from fleetc.rollout.hosts.rolling import Goal
from fleetc.rollout.plan.data import NewestPlan
from tests.explore.explorer import Scenario
from tests.explore.machine import EPOCH, World

HEAD = """
spec = 1

[fleet]
name = "aurora"
network = "arbitrum-one-mainnet"
rpc = { env = "RPC_URL" }
node_release = "v0.9.1"

[wallets.payer]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = { host_file = "/etc/livepeer/password" }
reward_by = "orch-one"
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"

[rollout]
stable = "1s"
deadline = "20s"
confirm = "60s"
"""

HOST = """
[hosts.NAME]
address = "203.0.113.1NUMBER"
public = "NAME.example.net"
runtime = "systemd"
"""

ORCHESTRATOR = """
[orchestrators.orch-NAME]
host = "NAME"
mode = "video"
wallet = "payer"
price = "1200 wei / pixel"
service = "NAME.example.net:893NUMBER"
cli = "127.0.0.1:793NUMBER"
"""

GATEWAY = """
[gateways.gate-NAME]
host = "NAME"
mode = "video"
wallet = "payer"
cli = "127.0.0.1:794NUMBER"
http = "127.0.0.1:894NUMBER"
rtmp = "127.0.0.1:194NUMBER"
http_ingest = false
discovery = "registry"
max_price = "1500 wei / pixel"
"""


def spec(hosts: int, nodes: int, *changes: tuple[str, str]) -> str:
    """A fleet with so many hosts and nodes on each; `changes` replace text."""
    text = HEAD
    for number, name in enumerate(("one", "two")[:hosts], 1):
        for part in (HOST, ORCHESTRATOR, GATEWAY)[: nodes + 1]:
            text += part.replace("NAME", name).replace("NUMBER", str(number))
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def back_to_first(world: World) -> Goal:
    """A rollback of all hosts to what they run, as people do before a release that they know to be ill."""
    found = {}
    for name, machine in world.machines.items():
        found[name] = machine.program["kept_releases"]()[0].partition(".")[0]
    return Goal(kind="rollback", back_to=found)


def planned(world: World) -> Goal:
    """A deploy by a plan that was sealed now."""
    now = datetime.fromtimestamp(EPOCH + world.now, UTC)
    return Goal(sealed=NewestPlan(f"{now:%Y-%m-%dT%H:%M:%SZ}", "sealed"))


def restart(world: World) -> Goal:
    return Goal(kind="restart", restart={"one": ("orch-one",)})


PRICE = ("1200 wei", "1300 wei")
SESSIONS = ('price = "1200', 'max_sessions = 12\nprice = "1200')
ILL = ('price = "1200', 'max_sessions = 13\nprice = "1200')
ILL_ON_ONE = ("[orchestrators.orch-one]\n", "[orchestrators.orch-one]\nmax_sessions = 13\n")
OTHER_ON_TWO = ("[orchestrators.orch-two]\n", "[orchestrators.orch-two]\nmax_sessions = 12\n")
ILL_ON_TWO = ('host = "two"\nmode = "video"', 'host = "two"\nmax_sessions = 13\nmode = "video"')
TOGETHER = ("[rollout]\n", "[rollout]\nbatch = 2\ncanary = 0\n")
MOVE = ('[gateways.gate-one]\nhost = "one"', '[gateways.gate-one]\nhost = "two"')
MOVE_TO_ILL = (MOVE[0], MOVE[1] + "\nmax_sessions = 13")
MOVE_REWARD = ('[orchestrators.orch-one]\nhost = "one"', '[orchestrators.orch-one]\nhost = "two"')
REWARD = ('reward_by = "orch-one"', 'reward_by = "orch-two"')
OUT = (
    '[gateways.gate-one]\nhost = "one"',
    '[gateways.gate-one]\nhost = "one"\nout = { until = 2099-01-31, reason = "no power" }',
)
ONLY = ("[rollout]\n", '[rollout]\nlive = "only"\n')
DRAIN = ("[rollout]\n", '[rollout]\ndrain = "10s"\n')
MISS = ("[rollout]\n", "[rollout]\nmay_miss = 1\n")

ONE, PAIR, TWO = spec(1, 1), spec(2, 1), spec(2, 2)
WITHOUT_GATE = TWO.replace(GATEWAY.replace("NAME", "one").replace("NUMBER", "1"), "")
WITHOUT_TWO = spec(1, 2)

SMALL = (
    Scenario("restarts, small", ONE, spec(1, 1, SESSIONS), hosts=("one",)),
    Scenario("is ill, small", ONE, spec(1, 1, ILL), next=ONE, expected=4, hosts=("one",)),
    Scenario("is set live, small", ONE, spec(1, 1, PRICE), hosts=("one",)),
    Scenario("first rollout, small", "", ONE, hosts=("one",)),
    Scenario("drains, small", spec(1, 1, DRAIN), spec(1, 1, DRAIN, SESSIONS), hosts=("one",)),
)
"""One host with one node."""

LARGE = (
    Scenario("restarts", TWO, spec(2, 2, SESSIONS)),
    Scenario("both hosts at once", PAIR, spec(2, 1, SESSIONS, TOGETHER)),
    Scenario("both at once, one is ill", PAIR, spec(2, 1, ILL_ON_TWO, TOGETHER), next=PAIR, expected=4),
    Scenario("is ill", TWO, spec(2, 2, ILL_ON_ONE, OTHER_ON_TWO), next=TWO, expected=4),
    Scenario("is set live", TWO, spec(2, 2, PRICE)),
    Scenario("is set live, else not", TWO, spec(2, 2, PRICE, ONLY)),
    Scenario("first rollout", "", TWO),
    Scenario("moves", TWO, spec(2, 2, MOVE), moves=True),
    Scenario("moves, and is ill there", TWO, spec(2, 2, MOVE_TO_ILL), next=TWO, moves=True, expected=4),
    Scenario("another calls reward", TWO, spec(2, 2, REWARD)),
    Scenario("the first one calls reward", spec(2, 2, REWARD), TWO),
    Scenario("is out of service", TWO, spec(2, 2, OUT)),
    Scenario("is retired", TWO, WITHOUT_GATE),
    Scenario("leaves the fleet", TWO, WITHOUT_TWO),
    Scenario("is restarted", TWO, TWO, goal=restart, is_deploy=False),
    Scenario("may be left behind", TWO, spec(2, 2, SESSIONS, MISS)),
    Scenario("may be left behind, together", PAIR, spec(2, 1, SESSIONS, MISS, TOGETHER)),
    Scenario("drains and moves", spec(2, 2, DRAIN), spec(2, 2, DRAIN, MOVE_REWARD), moves=True),
    Scenario("by a sealed plan", TWO, spec(2, 2, SESSIONS), goal=planned),
    Scenario("goes back", spec(2, 2, SESSIONS), TWO, goal=back_to_first, earlier=TWO),
    Scenario("a move goes back", spec(2, 2, MOVE), TWO, goal=back_to_first, earlier=TWO, moves=True),
)
"""Two hosts with two nodes each."""
