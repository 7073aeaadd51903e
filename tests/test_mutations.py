"""What passes check starts: example fleets with one field changed are refused, or every process of theirs would start.

Each change is compiled. An accepted fleet goes, process by process, to the independent model of the node's parsing and
start-up rules, which must find nothing that stops the node and nothing that it passes over in silence. The changes
(mutating.py) follow from the model's fields, so a new field is tried here without a word. A seed fixes them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import NamedTuple, get_args

import pytest
import tomli_w

from fleetc import rules
from fleetc.blueprint.blueprint import RUNNERS, Blueprint, HostBlueprint, Service
from fleetc.emit.artifacts import json_document
from fleetc.language.fleet import Fleet
from fleetc.pipeline import compile_spec
from fleetc.places.diagnostic import has_errors
from fleetc.toml.document import Source
from fleetc.upstream import ABILITIES, FLAGS
from tests.mutating import Mutation, Raw, mutations, spread
from tests.node import Settings, StartupError, addresses, broken_rules, notes, read, reading
from tests.support import EXAMPLES, INVENTORIES, example_text, shipped
from tests.upstream.test_releases import RICH

FEW = 32
COUNT = 50
WHOLE = 200
"""Changes of each fleet: those without the rules, those that always run, and those that run with them under `slow`."""

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
    texts = ((file, (INVENTORIES / name / file).read_text(encoding="utf-8")) for file in overlays)
    own_name = "-".join((name, *(file.removesuffix(".toml") for file in overlays)))
    return Case(own_name, (("fleet.toml", example_text(name)), *texts))


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
    if compiled.blueprint is None:
        refused = has_errors(list(compiled.checked.diagnostics))
        return Outcome(False, () if refused else ("refused without an error",))
    return Outcome(True, tuple(_faults(compiled.blueprint)))


def _faults(plan: Blueprint) -> Iterator[str]:
    for host in plan.hosts:
        running = []
        for service in (one for one in host.services if one.table != RUNNERS):
            try:
                settings = node_settings(service)
            except StartupError as problem:
                yield f"{service.name}: {problem}"
                continue
            stopped = (*broken_rules(settings), *_too_new(service, settings))
            yield from (f"{service.name}: {rule}" for rule in (*stopped, *notes(settings)))
            if not stopped:
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


def _too_new(service: Service, settings: Settings) -> Iterator[str]:
    """What came after the release of the service, for the model of the node knows only the newest one."""
    given = {variable.name for variable in service.variables} | {secret.name for secret in service.secrets}
    flags = {argument.flag for argument in service.arguments} | {f for f, row in FLAGS.items() if row.env in given}
    yield from (f"P1 -{flag}" for flag in sorted(flags) if FLAGS[flag].since > service.release)
    if service.release < ABILITIES["plain-http-listener"] and settings.text("httpAddr").startswith("http://"):
        yield "a listener without TLS"
    sells = reading.on_chain(settings) and reading.role(settings) == "orchestrator"
    if sells and service.release < ABILITIES["model-price-zero"]:
        yield from (f"{entry.model_id} for nothing" for entry in reading.models(settings) if entry.price == 0)


def _collisions(host: HostBlueprint, running: list[tuple[Service, Settings]]) -> Iterator[str]:
    """Listeners and data directories that two processes of a host share: R05, R17, R54, R85, R93."""
    # Another ssh_port than 22 may be one that a router forwards to the host: a warning says so.
    taken = [("the SSH server", ("", "*", str(host.ssh_port)))] if host.ssh_port == 22 else []
    for service, settings in running:
        try:
            listeners = [reading.cli_listener(settings), reading.http_listener(settings)]
        except ValueError as problem:
            yield f"{service.name}: {problem}"
            continue
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
def chosen(case: Case) -> list[tuple[str, Mutation]]:
    """The changes of a fleet that are tried, as (file, change). The files take turns."""
    changes = case.changes()
    each = WHOLE // len(changes)
    lists = [[(name, change) for change in spread(found, each, case.name)] for name, found in changes.items()]
    return [pair for turn in zip(*lists, strict=True) for pair in turn]


def outcomes(case: Case, part: slice) -> dict[str, Outcome]:
    """What becomes of the changes in one part of the list, by name."""
    raw = case.raw
    return {
        f"{case.name}: {mutation.name}": outcome({**raw, name: mutation.apply(raw[name])})
        for name, mutation in chosen(case)[part]
    }


@EVERY_FLEET
@pytest.mark.parametrize(
    "part", [slice(COUNT), pytest.param(slice(COUNT, WHOLE), marks=pytest.mark.slow)], ids=["some", "rest"]
)
def test_changed_fleet_is_refused_or_every_process_starts(case: Case, part: slice) -> None:
    found = outcomes(case, part)
    assert {name: result.faults for name, result in found.items() if result.faults} == {}
    accepted = [result.accepted for result in found.values()]
    assert len(found) / 5 < sum(accepted) < len(found), "nearly all refused, or all accepted, shows little"


def test_without_the_rules_the_same_changes_break_conditions_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: what it finds without the rules is what the rules keep away."""
    monkeypatch.setattr(rules, "check", lambda *_: [])
    found = {fault for case in CASES for result in outcomes(case, slice(FEW)).values() for fault in result.faults}
    broken = {word for fault in found for word in re.findall(r"\b[PR][0-9]{1,2}\b", fault)}
    assert len(broken) >= 8, sorted(broken)
    assert any(": port " in fault for fault in found)


def test_every_field_of_the_language_is_changed_or_added() -> None:
    changes = [change for case in CASES for found in case.changes().values() for change in found]
    touched = {(change.path[0], key) for change in changes for key in _keys(change)}
    for table, field in Fleet.model_fields.items():
        for inner in get_args(field.annotation)[1:] or (field.annotation,):
            for name in getattr(inner, "model_fields", ()):
                assert (table, name) in touched, f"nothing changes {table}.*.{name}"


def _keys(mutation: Mutation) -> Iterator[object]:
    """Every key on the way to a change and within its new value."""
    yield from mutation.path
    values = [mutation.value]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            yield from value
            values += value.values()
        elif isinstance(value, list):
            values += value
