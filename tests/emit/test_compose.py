"""`compose.yaml`, read back by Compose itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleetc import lower
from fleetc.blueprint.blueprint import Service
from fleetc.language.spec import read_fleet
from fleetc.toml.document import Source, read_document
from tests.emit import support
from tests.emit.programs import program, run
from tests.rules.support import SECRET, ai_worker, free_orchestrator, gateway, offchain, onchain
from tests.rules.support import model as model_table

AI_WORKER = ai_worker(host='"edge"', gpus=None, data_dir='"/srv/models"', models_dir='"/srv/models"')


def project(directory: Path, service: Service, env_files: bool = False) -> dict[str, Any]:
    """What Compose makes of a service's project; with `env_files`, the environment files lie beside it."""
    compose = program("docker-compose")
    tree = support.emitted(support.plan(support.host("edge-1", service)))
    folder = support.written(tree, directory) / f"hosts/edge-1/{service.name}"
    file = folder / "compose.yaml"
    options = ["--no-env-resolution"]
    if env_files:
        file.write_text(file.read_text().replace(service.directory, str(folder)))
        options = []
    done = run(compose, "--file", file, "config", "--format", "json", *options, cwd=directory, home=directory)
    assert (done.returncode, done.stderr) == (0, "")
    parsed = json.loads(done.stdout)
    assert isinstance(parsed, dict)
    return parsed


@pytest.mark.usefixtures("processes")
def test_compose_gives_every_odd_argument_and_variable_back(tmp_path: Path) -> None:
    service = support.odd_service("gw-eu")
    parsed = project(tmp_path, replace(service, secrets=()), env_files=True)["services"]["gw-eu"]
    # `config` prints a file for Compose to read again, in which each `$` is doubled.
    assert [word.replace("$$", "$") for word in parsed["command"]] == [a.text for a in service.arguments]
    found = {name: value.replace("$$", "$") for name, value in parsed["environment"].items()}
    assert found == {variable.name: variable.value for variable in service.variables}


@pytest.mark.usefixtures("processes")
def test_project_runs_one_container_that_always_comes_back(tmp_path: Path) -> None:
    parsed = project(tmp_path, support.service("gw-eu"))
    (service,) = parsed["services"].values()
    assert parsed["name"] == service["container_name"] == "livepeer-gw-eu"
    assert (service["network_mode"], service["restart"]) == ("host", "always")
    assert service["image"] == "livepeer/go-livepeer:v0.9.1"
    assert [file["path"] for file in service["env_file"]] == [
        "/opt/fleetc/current/gw-eu/node.env",
        "/etc/fleetc/gw-eu/secrets.env",
    ]
    assert "deploy" not in service


@pytest.mark.usefixtures("processes")
def test_only_the_data_directory_is_made_when_it_is_missing(tmp_path: Path) -> None:
    volumes = project(tmp_path, support.service("gw-eu"))["services"]["gw-eu"]["volumes"]
    found = {v["source"]: (v["target"], v.get("read_only", False)) for v in volumes}
    assert found == {
        "/etc/livepeer/password": ("/etc/livepeer/password", True),
        "/opt/fleetc/current/gw-eu/prices.json": ("/opt/fleetc/current/gw-eu/prices.json", True),
        "/var/lib/livepeer/gw-eu": ("/var/lib/livepeer/gw-eu", False),
    }
    made = {v["source"]: v["bind"].get("create_host_path", True) for v in volumes}
    assert [source for source, create in made.items() if create] == ["/var/lib/livepeer/gw-eu"]


@pytest.mark.usefixtures("processes")
def test_file_of_secrets_is_named_only_when_there_are_some(tmp_path: Path) -> None:
    files = project(tmp_path, support.service("gw-eu", secrets=()))["services"]["gw-eu"]["env_file"]
    assert [file["path"] for file in files] == ["/opt/fleetc/current/gw-eu/node.env"]


@pytest.mark.usefixtures("processes")
def test_node_sees_all_gpus_because_its_flag_has_ids_of_the_host_and_a_runner_its_own(tmp_path: Path) -> None:
    """A container counts the GPUs that it gets from 0: with GPU 2 alone, -nvidia=2 would name none."""

    def devices(gpus: tuple[int, ...] | str, **more: Any) -> dict[str, Any]:
        service = project(tmp_path, support.service("gw-eu", gpus=gpus, **more))["services"]["gw-eu"]
        (device,) = service["deploy"]["resources"]["reservations"]["devices"]
        assert isinstance(device, dict)
        return device

    every = {"driver": "nvidia", "capabilities": ["gpu"], "count": -1}
    assert devices((2,)) == devices((0, 3)) == devices("all") == every
    assert devices((2,), table="runners") == {"driver": "nvidia", "capabilities": ["gpu"], "device_ids": ["2"]}
    assert devices("all", table="runners") == every
    service = project(tmp_path, support.service("gw-eu"))["services"]["gw-eu"]
    assert "deploy" not in service


@pytest.mark.usefixtures("processes")
def test_name_that_yaml_takes_for_something_else_stays_a_name(tmp_path: Path) -> None:
    for name in ("no", "true", "on"):
        assert list(project(tmp_path, support.service(name))["services"]) == [name]


def lowered(text: str, name: str) -> Service:
    """A service as lowering plans it, whatever the rules say about the spec."""
    document, found = read_document([Source("fleet.toml", text)])
    assert document is not None, found
    fleet, found = read_fleet(document)
    assert fleet is not None, found
    return next(s for h in lower.lower(fleet).hosts for s in h.services if s.name == name)


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        (onchain(gateway(data_dir='"/var/lib/livepeer/keystore"')), "gate"),
        (onchain(gateway("keystore")), "keystore"),
        (offchain(model_table(), free_orchestrator(secret=SECRET), AI_WORKER), "worker"),
    ],
    ids=["keystore is the data directory", "gateway named keystore", "models in the data directory"],
)
def test_compose_takes_a_service_whose_directories_are_one(text: str, name: str, tmp_path: Path) -> None:
    service = lowered(text, name)
    volumes = project(tmp_path, service)["services"][name]["volumes"]
    # Compose may drop all but the last of equal targets without a word, so the plan must hold none.
    assert [volume["target"] for volume in volumes] == sorted({mount.path for mount in service.mounts})
    assert len(volumes) == len(service.mounts)
    (own,) = (volume for volume in volumes if volume["target"] == service.data_dir)
    assert not own.get("read_only", False)


def test_path_below_a_writable_mount_is_no_mount_of_its_own() -> None:
    found = lowered(onchain(gateway(data_dir='"/var/lib/livepeer"')), "gate").mounts
    assert [m.path for m in found if not m.read_only] == ["/var/lib/livepeer"]
    assert "/var/lib/livepeer/keystore" not in [m.path for m in found]
    beside = lowered(onchain(gateway(data_dir='"/var/lib/livepeer/key"')), "gate").mounts
    assert ("/var/lib/livepeer/keystore", True) in [(m.path, m.read_only) for m in beside]
