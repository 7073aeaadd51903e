"""Published launch configurations against what an equivalent spec compiles to: the node has to understand both alike.

Each example of data/launch_examples.json is read by the independent model of the node, and so is what the compiler
makes of data/launch_specs/<id>.toml. They may differ only where launch_differences.py says why.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc import lower, rules
from fleetc.blueprint.blueprint import RUNNERS, Service
from fleetc.emit.artifacts import json_document
from fleetc.language.fleet import Fleet
from fleetc.language.spec import read_fleet, read_spec
from fleetc.toml.document import Source
from tests.launch_differences import BROKEN, DIFFERENCES
from tests.node import Meaning, broken_rules, notes, read, understand

DATA = Path(__file__).parent / "data"
EXAMPLES: dict[str, dict[str, Any]] = {
    example["id"]: example for example in json.loads((DATA / "launch_examples.json").read_text())
}
CASES = [(name, service) for name, example in EXAMPLES.items() for service in example["services"]]
EVERY_PROCESS = pytest.mark.parametrize(("name", "service"), CASES, ids=map("-".join, CASES))
INVENTORIES = Path(__file__).parent.parent / "inventories"
HOME = {"HOME": "/root"}
SAID_ANYWAY = {"cliAddr", "httpAddr", "rtmpAddr", "ethKeystorePath", "pixelsPerUnit", "aiModelsDir"}
"""Compiled in any case, also where the value is the node's own default for the role."""


class Process(NamedTuple):
    """What a process gets: words, variables, files by path."""

    words: list[str]
    env: dict[str, str]
    files: dict[str, str]

    @property
    def meaning(self) -> Meaning:
        return understand(read(self.words, self.env, self.files))

    @property
    def faults(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Rules that stop the node, and what it passes over in silence."""
        settings = read(self.words, self.env, self.files)
        return broken_rules(settings), notes(settings)


def filled(example: dict[str, Any], text: str) -> str:
    """A published text with its placeholders replaced."""
    for placeholder, value in example["placeholders"].items():
        text = text.replace(placeholder, value)
    return text


def published(example: dict[str, Any], name: str, as_meant: bool = False) -> Process:
    """A published configuration as a process: of a shell command, a list, a Compose command or a config file."""
    found = example["services"][name]
    env, files = HOME | found.get("env", {}), dict(example["files"])
    if "conf" in found:
        files["/livepeer.conf"] = filled(example, found["conf"])
        return Process(["-config=/livepeer.conf"], env, files)
    if "words" in found:
        return Process([filled(example, word) for word in found["words"]], env, files)
    if "compose" in found:  # Compose splits like a shell, but knows no comments
        text = found["meant"] if as_meant and "meant" in found else found["compose"]
        return Process(shlex.split(filled(example, text)), env, files)
    text = filled(example, found["command"]).replace("\\\n", "\n")
    return Process(shlex.split(text, comments=True), env, files)


def parsed(text: str) -> Fleet:
    """The fleet of a spec."""
    document, problems = read_spec([Source("fleet.toml", text)])
    assert document is not None, problems
    found, problems = read_fleet(document)
    assert found is not None, problems
    return found


@cache
def fleet(name: str) -> Fleet:
    """The spec that says the same as an example."""
    return parsed((DATA / "launch_specs" / f"{name}.toml").read_text())


def services(text: str) -> list[Service]:
    """Every compiled node of a spec."""
    return [one for host in lower.lower(parsed(text)).hosts for one in host.services if one.table != RUNNERS]


def compiled(example: dict[str, Any], name: str) -> Process:
    """The compiled process of an example."""
    plan = lower.lower(fleet(example["id"]))
    service = next(s for host in plan.hosts for s in host.services if s.name == name)
    return process(service, example["secrets"])


def process(service: Service, secrets: Mapping[str, str]) -> Process:
    """A compiled service as a process, after a rollout has put the secrets in place."""
    env, files = stand_in_rollout(service, secrets)
    env |= {variable.name: variable.value for variable in service.variables}
    files |= {f"{service.directory}/{file.name}": json_document(file.content) for file in service.files}
    return Process([argument.text for argument in service.arguments], HOME | env, files)


def stand_in_rollout(service: Service, secrets: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Stand-in for what a rollout does with secret references: variables filled in, host files where they are."""
    env = {s.name: secrets[f"{s.kind} {s.reference}"].strip() for s in service.secrets}
    files = {name.partition(" ")[2]: text for name, text in secrets.items() if name.startswith("host_file ")}
    return env, files


@EVERY_PROCESS
def test_compiled_process_means_what_the_published_one_means(name: str, service: str) -> None:
    example = EXAMPLES[name]
    before = published(example, service, as_meant=True).meaning
    after = compiled(example, service).meaning
    found = before.differences(after)
    found.pop("env CUDA_DEVICE_ORDER", None)  # fleetc counts GPUs as nvidia-smi does, wherever a node has some
    reasons = DIFFERENCES.get((name, service), {})
    assert after.role == before.role
    assert {flag: pair for flag, pair in found.items() if flag not in reasons} == {}, "a difference without a reason"
    assert [flag for flag in reasons if flag not in found] == [], "a reason without a difference"
    assert all(len(reason) > 20 for reason in reasons.values())


@EVERY_PROCESS
def test_faults_of_the_published_process_are_the_known_ones(name: str, service: str) -> None:
    fatal, silent = published(EXAMPLES[name], service).faults
    assert (*fatal, *silent) == BROKEN.get((name, service), ("",))[1:]


@EVERY_PROCESS
def test_compiled_process_breaks_no_rule_of_the_node(name: str, service: str) -> None:
    assert compiled(EXAMPLES[name], service).faults == ((), ())


@pytest.mark.parametrize("name", EXAMPLES)
def test_findings_about_published_configurations(name: str, snapshot: SnapshotAssertion) -> None:
    found = {f"{d.severity.name.lower()} {d.code}" for d in rules.check(fleet(name))}
    assert sorted(found) == snapshot


def test_every_row_of_the_tables_is_about_an_example() -> None:
    assert set(DIFFERENCES) | set(BROKEN) <= set(CASES)


def test_there_are_examples_of_many_kinds() -> None:
    assert len(EXAMPLES) == 22
    assert {example["kind"] for example in EXAMPLES.values()} == {"command", "compose", "conf", "systemd"}
    roles = {compiled(EXAMPLES[name], service).meaning.role for name, service in CASES}
    assert roles == {"gateway", "orchestrator", "transcoder", "remote-signer"}


@pytest.mark.parametrize("path", sorted(INVENTORIES.glob("*/fleet.toml")), ids=lambda path: path.parent.name)
def test_every_process_of_an_example_fleet_would_start(path: Path) -> None:
    for service in services(path.read_text()):
        secrets = {f"{s.kind} {s.reference}": "word" for s in service.secrets}
        assert process(service, secrets).faults == ((), ()), service.name


@EVERY_PROCESS
def test_a_lost_argument_is_a_difference_unless_it_says_what_the_node_does_anyway(name: str, service: str) -> None:
    whole = compiled(EXAMPLES[name], service)
    settings = read(whole.words, whole.env, whole.files)
    defaults = read([]).values
    for word in whole.words:
        flag = word.removeprefix("-").partition("=")[0]
        less = whole._replace(words=[other for other in whole.words if other != word])
        if not whole.meaning.differences(less.meaning):
            assert flag in SAID_ANYWAY or settings.values[flag] == defaults[flag], word
