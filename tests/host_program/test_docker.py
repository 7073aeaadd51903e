"""Hosts whose nodes run in containers, with a stand-in for Docker that says what it is told to say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import Program, loaded

PLAN = {"created": "2026-03-01T12:00:00Z", "seal": "-"}
NODES = ("gate", "orch")


class DockerHost:
    """A host that runs a release of two nodes, each in a container that was made from an image."""

    def __init__(self, root: Path) -> None:
        self.program: Program = loaded(root)
        self.images = dict.fromkeys(NODES, "sha256:old")
        self.tag = "sha256:old"
        self.silent = False
        self.program |= {"run": self.docker, "drift_of_process": lambda *_: [], "make_places": lambda _: None}
        self.release = self.make_release("1", {"gate": "one", "orch": "one"}, "sha256:old")
        for place in ("CURRENT", "MARKERS"):
            Path(self.program[place]).mkdir(parents=True)
        for service in self.program["wanted_of"](self.release)["services"]:
            name = service["name"]
            Path(self.program["CURRENT"], name).symlink_to(f"../releases/{self.release}/{name}")
            Path(self.program["MARKERS"], name).write_text(service["digest"] + " -")
        Path(self.program["RECORD"]).write_text(json.dumps({"release": self.release}))

    def make_release(self, letter: str, contents: dict[str, str], image: str) -> str:
        """A release on the disk, made from the files of its nodes."""
        release = letter * 64 + ".1"
        services = []
        for name, content in contents.items():
            directory = Path(self.program["RELEASES"], release, name)
            directory.mkdir(parents=True)
            (directory / "compose.yaml").write_text(content)
            digest = self.program["digest_of_files"](str(directory))
            services.append({"name": name, "digest": digest, "image": "node:latest", "image_id": image, "secrets": []})
        wanted = {"services": services, "runtime": "docker", "digest": letter * 64, "stack": None, "owner": "root"}
        Path(self.program["RELEASES"], release, ".wanted.json").write_text(
            json.dumps({**wanted, "fleet": "aurora", "host": "edge"})
        )
        return release

    def docker(self, *words: str, **_: Any) -> Any:
        done = self.program["Done"]
        if self.silent:
            return done(1, "", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.")
        if words[:3] == ("docker", "container", "ls"):
            return done(0, "".join(f"livepeer-{node}\n" for node in self.images), "")
        if words[:3] == ("docker", "container", "inspect"):
            state = {"State": {"Status": "running", "Pid": 1}, "RestartCount": 0}
            found = [{"Name": f"/livepeer-{node}", "Image": image, **state} for node, image in self.images.items()]
            return done(0, json.dumps(found), "")
        if words[:3] == ("docker", "image", "inspect"):
            return done(0, self.tag + "\n", "")
        if words[:3] == ("docker", "image", "tag"):
            self.tag = words[3]
        if words[:2] == ("docker", "compose"):
            self.images[words[3].removeprefix("livepeer-")] = self.tag
        return done(0, "", "")


@pytest.fixture
def host(tmp_path: Path) -> DockerHost:
    return DockerHost(tmp_path)


def test_docker_that_does_not_answer_is_no_host_that_stays_as_it_is(host: DockerHost) -> None:
    host.silent = True
    wanted = host.program["wanted_of"](host.release)
    request = {"format": 1, "wanted": wanted, "plan": PLAN, "owner": {}}
    refused = host.program["answer"]({**request, "do": "begin"})
    assert (refused["ok"], refused["code"]) == (False, "runtime-silent")
    assert refused["message"] == (
        "Docker does not say whether gate, orch runs; see on the host what systemctl status docker says, "
        "and deploy again once it answers"
    )
    observed = host.program["answer"]({"format": 1, "do": "observe"})
    assert [one["running"] for one in observed["state"]["processes"]] == [None, None]


def test_tag_that_moved_changes_only_the_node_that_restarts(host: DockerHost) -> None:
    """The other one goes on with its image, and no later rollout restarts it for that."""
    host.tag = "sha256:new"
    target = host.make_release("2", {"gate": "one", "orch": "two"}, "sha256:new")
    wanted = host.program["wanted_of"](target)
    host.program["need_programs"](wanted)
    host.program["keep_images"](wanted, {})
    assert [one["image_id"] for one in wanted["services"]] == ["sha256:old", "sha256:new"]
    Path(host.program["RELEASES"], target, ".wanted.json").write_text(json.dumps(wanted))
    told: list[tuple[str, str]] = []
    host.program["bring"](target, wanted, lambda do, node: told.append((do, node)))
    assert ("start", "orch") in told and ("start", "gate") not in told
    assert host.images == {"gate": "sha256:old", "orch": "sha256:new"}
    again = host.program["steps"](host.program["look_with_secrets"](target), host.program["wanted_state"](wanted))
    assert {one["do"] for one in again} == {"keep"}
