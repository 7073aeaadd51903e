"""What passes check starts: example fleets with one field changed are refused, or every process of theirs would start.

Each change is compiled. An accepted fleet goes, process by process, to the independent model of the node's parsing and
start-up rules, which must find nothing that stops the node and nothing that it passes over in silence. The changes
(mutating.py) follow from the model's fields, so a new field is tried here without a word. A seed fixes them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import pytest
import tomli_w

from compiler.artifacts import json_document
from compiler.diagnostics import has_errors
from compiler.pipeline import compile_spec
from compiler.plan import HostPlan, Plan, Service
from compiler.source import Source
from compiler.upstream import FLAGS
from tests.mutating import Mutation, Raw, mutations, spread
from tests.node import Settings, StartupError, broken_rules, notes, read
from tests.node import addresses, reading
from tests.support import EXAMPLES, ROOT, shipped
from tests.test_releases import RICH

COUNT = 50
WHOLE = 200
"""Changes of each fleet: those that always run, and those that run with them under `slow`."""

KNOWN: dict[tuple[str, str], str] = {}
"""Changes that are accepted although the node would refuse them, by fleet and name, with the reason."""

STAND_INS = {
    "ethUrl": "https://rpc.example.net/key",
    "authWebhookUrl": "https://hook.example.net",
    "liveAIAuthWebhookUrl": "https://hook.example.net",
    "remoteSignerWebhookUrl": "https://hook.example.net",
    "orchWebhookUrl": "https://hook.example.net",
    "objectStore": "s3+https://user:word@storage.example.net/bucket",
    "recordStore": "s3+https://user:word@storage.example.net/bucket",
    "metadataQueueUri": "amqps://user:word@queue.example.net/live",
}
"""Stand-ins for what secret references hold, by flag; any other secret is a word."""


class Case(NamedTuple):
    """A fleet under test: its spec and overlay by file name, as tomllib reads them."""

    name: str
    texts: tuple[tuple[str, str], ...]

    @property
    def raw(self) -> dict[str, Raw]:
        """The parsed texts, by file name."""
        return {name: tomllib.loads(text) for name, text in self.texts}

    def changes(self) -> dict[str, list[Mutation]]:
        """Every change, by the file that it is made in."""
        raw = self.raw
        return {name: mutations(table, raw["fleet.toml"]) for name, table in raw.items()}


def _case(name: str, *overlays: str) -> Case:
    files = ("fleet.toml", *overlays)
    return Case(
        "-".join((name, *(file.removesuffix(".toml") for file in overlays))),
        tuple((file, (ROOT / "inventories" / name / file).read_text(encoding="utf-8")) for file in files),
    )


CASES = (*map(_case, EXAMPLES), _case("two-regions", "staging.toml"), Case("rich", (("fleet.toml", RICH),)))
EVERY_FLEET = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


class Outcome(NamedTuple):
    """What became of a fleet: accepted or not, and everything that is wrong with that."""

    accepted: bool
    faults: tuple[str, ...]


def outcome(raw: dict[str, Raw]) -> Outcome:
    """Compile, and give every process of an accepted fleet to the model of the node."""
    sources = [Source(name, tomli_w.dumps(table)) for name, table in raw.items()]
    try:
        compiled = compile_spec(sources, *shipped())
    except Exception as problem:
        return Outcome(False, (f"{type(problem).__name__}: {problem}",))
    if compiled.plan is None:
        refused = has_errors(list(compiled.checked.diagnostics))
        return Outcome(False, () if refused else ("refused without an error",))
    return Outcome(True, tuple(_faults(compiled.plan)))


def _faults(plan: Plan) -> Iterator[str]:
    for host in plan.hosts:
        running = []
        for service in host.services:
            yield from (f"{service.name}: P1 -{flag}" for flag in _unknown_flags(service))
            try:
                settings = node_settings(service)
            except StartupError as problem:
                yield f"{service.name}: {problem}"
                continue
            yield from (f"{service.name}: {rule}" for rule in (*broken_rules(settings), *notes(settings)))
            running.append((service, settings))
        yield from _collisions(host, running)


def node_settings(service: Service) -> Settings:
    """The settings that the process of a service reads, after a rollout has put stand-ins for secrets in place."""
    env = {"HOME": "/root", **{variable.name: variable.value for variable in service.variables}}
    env |= {secret.name: _stand_in(secret.name) for secret in service.secrets}
    files = {f"{service.directory}/{file.name}": json_document(file.content) for file in service.files}
    arguments = {argument.flag: argument.value for argument in service.arguments}
    if "liveRunnerConfig" in arguments:
        files[arguments["liveRunnerConfig"]] = '{"runners": []}'  # the user's own file
    return read([argument.text for argument in service.arguments], env, files)


def _stand_in(variable: str) -> str:
    flags = {f"LP_{flag.upper()}": text for flag, text in STAND_INS.items()}
    return flags.get(variable) or (":7290" if variable.endswith("_ADDR") else "word")


def _unknown_flags(service: Service) -> Iterator[str]:
    """Flags that came after the release of the service; the model of the node knows the newest only."""
    names = {argument.flag for argument in service.arguments}
    given = {variable.name for variable in (*service.variables, *service.secrets)}
    names |= {flag for flag, row in FLAGS.items() if row.env in given}
    return (flag for flag in sorted(names) if flag not in FLAGS or FLAGS[flag].since > service.release)


def _collisions(host: HostPlan, running: list[tuple[Service, Settings]]) -> Iterator[str]:
    """Listeners and data directories that two processes of a host share: R05, R17, R54, R85, R93."""
    taken = [("the SSH server", ("", "*", str(host.ssh_port)))]
    for service, settings in running:
        listeners = [reading.cli_listener(settings), reading.http_listener(settings)]
        if reading.role(settings) == "gateway":
            rtmp = addresses.completed(settings.text("rtmpAddr"), addresses.LOOPBACK, 1935)
            listeners.append(addresses.listener(rtmp))
        taken += [(service.name, listener) for listener in listeners if listener]
    for (one, (_, here, port)), (other, (_, there, its_port)) in combinations(taken, 2):
        if port == its_port and ("*" in (here, there) or here == there):
            yield f"{one} and {other} on {host.name}: port {port}"
    for (service, first), (another, second) in combinations(running, 2):
        if reading.home(first) == reading.home(second):
            yield f"{service.name} and {another.name} on {host.name}: one data directory"


@cache
def chosen(case: Case) -> tuple[tuple[str, Mutation], ...]:
    """The changes of a fleet that are tried: (file, change), the first ones in any run."""
    changes = case.changes()
    each = WHOLE // len(changes)
    return tuple((name, mutation) for name, found in changes.items() for mutation in spread(found, each, case.name))


def failures(case: Case, wanted: tuple[tuple[str, Mutation], ...]) -> tuple[dict[tuple[str, str], Any], int]:
    """The changes with faults, and how many were accepted."""
    found, accepted = {}, 0
    raw = case.raw
    for name, mutation in wanted:
        result = outcome({**raw, name: mutation.apply(raw[name])})
        accepted += result.accepted
        if result.faults:
            found[case.name, mutation.name] = result.faults
    return found, accepted
