"""A fleet that runs as it was reviewed, in the form in which hosts say so.

In: a compiled fleet, and whether nodes answer as they do or as their documentation has it. Out: a `World`, whose
answers a test changes before they are judged. What is answered comes from the spec and from the references of the node,
not from what is checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint, Service
from fleetc.emit.ansible import _setters
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.signing import talks_to_chain
from fleetc.online.public import UrlAnswer
from fleetc.pipeline import Compiled
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.verify import TASK, _answer
from fleetc.rollout.verify.data import AVATARS, Back, Finding, Inquiry
from fleetc.rollout.verify.judge import Verdict, judge
from fleetc.rollout.verify.public import findings, places_of
from fleetc.rollout.verify.questions import questions_of
from fleetc.upstream import PIPELINES
from fleetc.upstream.live_settings import LIVE_SETTINGS
from tests.host_program.program import loaded

Json = dict[str, Any]
BODY_LIMIT = 4 * 1024 * 1024
PROGRAM = loaded(Path("/nowhere"))
"""The program on a host, which judges the nodes there."""
ETH = 10**18
OTHERS = "https://elsewhere.example.net:8935"
ELSEWHERE = "404 page not found\n"
_SOLD = {"hour": (3600, "seconds"), "720p": (3600 * 1280 * 720 * 30, "720p-pixel-seconds"), "fixed": (1, "fixed")}
"""Of the node's units of a price: how many of those that clients find it has, and what they are called."""


ACCOUNT = "0x" + "ab" * 20


def seller(
    uri: str, price: Fraction | int, account: str = ACCOUNT, models: Mapping[tuple[int, str], int | None] | None = None
) -> Json:
    """An orchestrator as a gateway lists it, with its price and those of its models; None is no price of its own."""
    wei = Fraction(price)
    offered: Json = {}
    for number, model in models or {}:
        offered.setdefault(str(number), {"models": {}})["models"][model] = {"warm": True, "capacity": 1}
    return {
        "address": account, "local_address": account, "orch_uri": uri,
        "capabilities": {
            "bitstring": [sum(1 << bit for bit in (*range(13), 14, 26, *map(int, offered)))], "capacities": {"0": 1},
            "version": "0.9.1", "constraints": {"PerCapability": offered},
        },
        "price_info": {"pricePerUnit": wei.numerator, "pixelsPerUnit": wei.denominator},
        "capabilities_prices": [
            {"pricePerUnit": own, "pixelsPerUnit": 1, "capability": number, "constraint": model}
            for (number, model), own in (models or {}).items()
            if own is not None
        ],
        "hardware": None,
    }  # fmt: skip


class World:
    """A stand-in for the hosts of a fleet and all that runs there.

    What everybody answers: `hosts` by name, `answers` by host and question, `public` by URL.
    An answer of a node is a status and a body, which is text or anything else that JSON can write.
    """

    def __init__(self, compiled: Compiled, documented: bool = False) -> None:
        assert compiled.checked.fleet is not None and compiled.blueprint is not None
        self.fleet: Fleet = compiled.checked.fleet
        self.blueprint: Blueprint = compiled.blueprint
        self.documented = documented
        self.asked = questions_of(self.fleet, self.blueprint)
        self.hosts: dict[str, Any] = {}
        self.failures: list[Event] = []
        self.answers: dict[str, tuple[int, Any]] = {}
        self.write: Callable[[Any], str] = json.dumps
        assert compiled.tree is not None
        files = compiled.tree.as_mapping()
        self.services = {
            host.name: _plain(json.loads(files[f"ansible/host_vars/{host.name}.json"].content))["fleet_host_services"]
            for host in self.blueprint.hosts
        }
        self.known = {
            host.name: (*self.asked[host.name], *(one for service in host.services for one in _judged(service)))
            for host in self.blueprint.hosts
        }
        """All that the program on a host asks, for itself too."""
        for host in self.blueprint.hosts:
            self.hosts[host.name] = self._host(host)
            services = {service.name: service for service in host.services}
            for question in dict.fromkeys(self.known[host.name]):
                said = (
                    _stack(self, host, question.path)
                    if question.node == AVATARS
                    else self._node(services[question.node], question.where, question.path)
                )
                self.answers[f"{host.name} {question.id}"] = said
        names = tuple(self.hosts)
        self.places = places_of(self.fleet, self.blueprint, names)
        closed = UrlAnswer(0, reason="it refuses the connection", refused=True)
        self.public = {place.url: UrlAnswer(200) if not place.purpose else closed for place in self.places}

    def service(self, name: str) -> Service:
        return next(one for host in self.blueprint.hosts for one in host.services if one.name == name)

    def ids(self, node: str, path: str) -> list[str]:
        """The questions to a node for a path, at whatever listener."""
        found = [
            f"{host} {one.id}"
            for host, asked in self.known.items()
            for one in asked
            if (one.node, one.path) == (node, path)
        ]
        assert found, f"nobody asks {node} for {path}"
        return list(dict.fromkeys(found))

    def say(self, node: str, path: str, body: Any, status: int = 200, at: int = 0) -> None:
        """Have a node answer something else."""
        name = self.ids(node, path)[at]
        assert self.answers[name] != (status, body), "a change that is one"
        self.answers[name] = (status, body)

    def change(self, node: str, path: str, **fields: Any) -> None:
        """Have a node answer other fields."""
        name = self.ids(node, path)[0]
        status, body = self.answers[name]
        assert isinstance(body, dict) and body != {**body, **fields}, "a change that is one"
        self.answers[name] = (status, {**body, **fields})

    def process(self, node: str) -> Json:
        """What the host of a node says of its process."""
        found = [one for host in self.hosts.values() for one in host["state"]["processes"] if one["node"] == node]
        (one,) = found
        assert isinstance(one, dict)
        return one

    def step(self, node: str, do: str, reason: str) -> None:
        """Have the host of a node say that a rollout would do something."""
        for host in self.hosts.values():
            for one in host["steps"]:
                if one["node"] == node:
                    one.update(do=do, reason=reason)

    def judged(self, **backs: Back) -> Verdict:
        """What is found, from the answers as Ansible hands them on; `backs` are rollbacks by host."""
        answers = {}
        for name, host in self.hosts.items():
            asked = [one.id for one in self.asked[name]]
            replies = {one: _reply(*self.answers[f"{name} {one}"], self.write) for one in asked}
            with suppress(AttributeError, KeyError, TypeError):  # a host that makes no sense has no program to ask
                host = {**host, "state": {**host["state"], "processes": self._processes(name)}}
            run = RunResult(
                "successful",
                0,
                {},
                tuple(self.failures),
                answers={name: {TASK: {"answers": json.dumps(replies), **host} if isinstance(host, dict) else host}},
            )
            answers[name] = _answer(name, run, asked)
        return judge(self.fleet, self.blueprint, answers, findings(self.places, self.public), backs)

    def _processes(self, host: str) -> list[Json]:
        """The processes of a host, with what its program says against them after it asked them."""
        services = {service["name"]: service for service in self.services[host]}

        def ask(where: str, path: str) -> tuple[int, bytes]:
            status, body = self.answers[f"{host} {node} {where}{path}"]
            text = body if isinstance(body, str) else self.write(body)
            return (status, text.encode(errors="surrogatepass")[:BODY_LIMIT]) if status else (0, b"")

        processes = []
        for process in self.hosts[host]["state"]["processes"]:
            node = process["node"]
            if process["running"] and node in services:
                ports = services[node]["health"].get("ports", [])
                PROGRAM["ask"] = ask
                PROGRAM["listening_ports"] = lambda _, own=ports: own
                verdict = PROGRAM["judged"](services[node], process["runtime"], 0, "/nowhere", _setters())
                process = {**process, **verdict, "drift": process["drift"]}
            processes.append(process)
        return processes

    def found(self) -> list[tuple[str, str, str]]:
        """Kind, code and place of each finding."""
        return sorted(map(told, self.judged().findings))

    def _host(self, host: HostBlueprint) -> Json:
        nodes = [service.name for service in host.services]
        if host.avatar is not None:
            nodes += ["avatar/firewall", "avatar/host", "avatar/turn", *(f"avatar/{s.name}" for s in host.avatar.slots)]
        state = {
            "fleet": self.blueprint.fleet, "host": host.name, "release": "a" * 64, "switch": None, "quarantine": "",
            "processes": [
                {"node": node, "digest": "b" * 64, "runtime": host.runtime, "running": True, "drift": []}
                for node in nodes
            ],
            "newest": "",
        }  # fmt: skip
        steps = [{"do": "keep", "node": node, "digest": "b" * 64, "reason": ""} for node in nodes]
        registrations = [
            {"nodes": [one.name], "active": True, "address": f"https://{self.place(one.name)}"}
            for one in host.services
            if one.role == "orchestrator" and self.fleet.on_chain
        ]
        return {
            "format": 1, "ok": True, "changed": False, "state": state, "steps": steps, "settings": [], "findings": [],
            "registrations": registrations,
            "clock": 1.0, "received": 1.0,
        }  # fmt: skip

    def _node(self, service: Service, where: str, path: str) -> tuple[int, Any]:
        if service.table == "runners":
            assert service.health.answers is not None and service.health.answers[:2] == (where, path)
            return service.health.answers[2], ""
        node = next(one for one in self.fleet.nodes if one.name == service.name and one.table == service.table)
        live = {one.name: one.value for one in service.live}
        if path == "/discovery":
            return 200, [{"address": f"https://{self.place(service.name)}", "runners": self._runners(service.name)}]
        if where == service.health.healthz != service.health.status:
            return self._for_work(service, path)
        if path == "/status":
            return 200, self._status(service, live)
        if path == "/metrics":
            labels = f'{{node_id="x",node_type="{service.role}"}}'
            lines = ["# HELP livepeer_max_sessions_total Max Sessions", "# TYPE livepeer_max_sessions_total gauge"]
            lines += [f"livepeer_max_sessions_total{labels} {live.get('maxSessions', '10')}"]
            return 200, "\n".join([*lines, f"livepeer_versions{labels} 1", ""])
        if path == "/getLogLevel":
            return 200, live["v"]
        if path in ("/maxGasPrice", "/minGasPrice"):
            return 200, live.get(path[1:], "")
        if path == "/getBroadcastConfig":
            return 200, {"MaxPrice": live.get("maxPricePerUnit") or None, "TranscodingOptions": "P360p30fps16x9"}
        if path == "/getNetworkCapabilities":
            if not talks_to_chain(self.fleet, node):
                return 500, "network capabilities not available\n"
            return 200, {"capabilities_names": {"27": "Text to image"}, "orchestrators": self._seen()}
        if path == "/ethAddr":
            wallet = getattr(node.settings, "wallet", None)
            return 200, str(self.fleet.wallets[wallet].address) if wallet else ""
        if path == "/EthChainID":
            return 200, "42161"
        if path == "/senderInfo":
            reserve = {"FundsRemaining": 50 * ETH, "ClaimedInCurrentRound": 0}
            return 200, {"Deposit": 50 * ETH, "WithdrawRound": 0, "Reserve": reserve}
        if path == "/orchestratorInfo":
            registered = {"ServiceURI": f"https://{self.place(service.name)}", "Active": True, "Status": "Registered"}
            return 200, {"Transcoder": registered, "PriceInfo": "1200"}
        if path == "/api/version":
            return 0, "Connection refused"
        if path == "/health":
            return 200, {"status": "OK"}
        if path == "/hardware/stats":
            return 200, {"id": "x", "gpu_stats": _gpus()}
        raise AssertionError(f"no healthy answer to {path} is known")

    def _for_work(self, service: Service, path: str) -> tuple[int, Any]:
        """What is answered where work is taken; the node itself has /healthz there and nothing else."""
        if path == "/healthz":
            return 200, ""
        if not self.documented:
            return 404, ELSEWHERE
        if path == "/status":
            return 200, {"SessionLimit": 8, "PricePerUnit": 1200}
        return 200, {"capabilities": ["Text to image"]} if path == "/getOrchestratorInfo" else {"gpu_stats": _gpus()}

    def _status(self, service: Service, live: dict[str, str]) -> Json:
        edges = [edge for edge in self.blueprint.edges if edge.source == service.name]
        pool = [f"https://{self.place(edge.target)}" for edge in edges if edge.kind == "pays"]
        prices = {
            name.removeprefix("pricePerGateway "): value
            for name, value in live.items()
            if name.startswith("pricePerGateway ")
        }
        prices |= {"default": live["pricePerUnit"]} if "pricePerUnit" in live else {}
        found = {
            "Manifests": {}, "InternalManifests": {}, "StreamInfo": {}, "OrchestratorPoolInfos": None,
            "OrchestratorPool": pool or ([OTHERS] if service.role == "gateway" else []),
            "Version": service.health.version, "GolangRuntimeVersion": "go1.25", "GOArch": "amd64", "GOOS": "linux",
            "RegisteredTranscodersNumber": sum(
                edge.kind == "serves" and edge.target in self.fleet.transcoders for edge in edges
            ),
            "RegisteredTranscoders": [], "LocalTranscoding": True, "BroadcasterPrices": prices,
        }  # fmt: skip
        if self.documented:
            for name, flag in (("SessionLimit", "maxSessions"), ("PricePerUnit", "pricePerUnit")):
                found |= {name: int(live[flag])} if live.get(flag, "").isdigit() else {}
        return found

    def _seen(self) -> list[Json]:
        """What gateways see: the orchestrators of the fleet as the spec has them, and a cheap one of others."""
        found = [seller(OTHERS, 1, models={(27, "SG161222/RealVisXL_V4.0_Lightning"): 1})]
        for name, settings in self.fleet.orchestrators.items():
            price = settings.price if settings.price and settings.price.currency == "wei" else None
            models = [*settings.models, *(use for one in self._workers(name) for use in one.settings.models)]
            sold = ((PIPELINES[m.pipeline].capability, m.id) for use in models for m in [self.fleet.models[use.use]])
            wei = Fraction(price.amount) / price.pixels if price else Fraction(1)
            account = str(self.fleet.wallets[settings.wallet].address) if settings.wallet else ACCOUNT
            found.append(seller(f"https://{self.place(name)}", wei, account, dict.fromkeys(sold)))
        return found

    def _workers(self, orchestrator: str) -> list[Any]:
        workers = self.fleet.workers_by_orchestrator.get(orchestrator, ())
        return [one for one in workers if hasattr(one.settings, "models")]

    def _runners(self, orchestrator: str) -> list[Json]:
        """What clients find there; one that registers itself has a number in its URL."""
        found: list[Json] = []
        for name in self.fleet.orchestrators[orchestrator].runners:
            runner = self.fleet.runners[name]
            route = "runner_k3jd8" if runner.register_by == "runner" else name
            found.append({
                "url": f"https://{self.place(orchestrator)}/apps/{route}", "app": runner.app, "mode": runner.mode,
                "capacity": runner.capacity or 1, "capacity_used": 0, "capacity_available": runner.capacity or 1,
            })  # fmt: skip
            if runner.price is not None and self.fleet.on_chain:
                seconds, unit = _SOLD[runner.price.sold_by.node]
                usd = Fraction(runner.price.amount) * Fraction(runner.price.sold_by.times) / seconds
                wei = int(usd * self.fleet.rates["USD"].wei)
                found[-1]["price_info"] = {"price": wei, "currency": "wei", "unit": unit}
        return found

    def place(self, orchestrator: str) -> str:
        """Host and port of an orchestrator."""
        settings = self.fleet.orchestrators[orchestrator]
        found = effective.service_address(self.fleet, Node("orchestrators", orchestrator, settings))
        assert found is not None
        return f"{found.value.host}:{found.value.port}"


def _judged(service: Service) -> Iterator[Inquiry]:
    """What the program on a host asks a node to judge it."""
    health = service.health
    if health.answers is not None:
        yield Inquiry(service.name, *health.answers[:2])
    if health.healthz:
        yield Inquiry(service.name, health.healthz, "/healthz")
    reads = [LIVE_SETTINGS[live.name.partition(" ")[0]].read for live in service.live if live.known_back]
    for path in ("/status", *(read[0] for read in reads if read)) if health.status else ():
        yield Inquiry(service.name, health.status, path)


def _plain(value: Any) -> Any:
    """What Ansible makes of variables: texts that are marked for it are texts."""
    if isinstance(value, dict):
        return value.get("__ansible_unsafe", {key: _plain(one) for key, one in value.items()})
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _stack(world: World, host: HostBlueprint, path: str) -> tuple[int, Any]:
    """What the service of an avatar stack says."""
    assert host.avatar is not None
    gpus = range(len(world.fleet.hosts[host.name].gpus))
    if path == "/meta":
        return 200, {"env": {}, "git": None, "verify_last": {"ran_at": "2026-11-28T10:00:00Z", "ok": True}}
    if path == "/meta/gpu":
        return 200, {"ok": True, "gpus": [{"index": one, "memory_total_mib": 24564} for one in gpus]}
    if path == "/meta/gpu/stats":
        return 200, {"cached": True, "gpus": [{"memory": {"used_mib": 1000, "total_mib": 24564}} for _ in gpus]}
    if path.startswith("/power/projects/"):
        return 200, {"state": "awake", "reason": "", "project": path.rpartition("/")[2]}
    return {"/health": (200, {"status": "ok"}), "/cluster": (404, {"detail": "Not Found"})}[path]


def _gpus() -> Json:
    return {"0": {"name": "GPU", "memory_total": 24, "memory_free": 20}}


def _reply(status: int, body: Any, write: Callable[[Any], str]) -> Json:
    if not status:
        return {"status": 0, "reason": body}
    return {"status": status, "body": body if isinstance(body, str) else write(body)}


def told(found: Finding) -> tuple[str, str, str]:
    """Kind, code and place of a finding."""
    return found.kind, found.code, ".".join(map(str, found.place))
