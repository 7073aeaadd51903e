"""Checks of programs that nodes need: their own, systemd, Docker, drivers, the avatar stack.

In: a need, and what is asked. Out: findings.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import urllib.parse
from collections.abc import Iterator

from ..places import DOCKER_SOCKET, Json
from ..programs import need_program
from ..stack.needs import need_brand, need_checkout, need_nftables
from ..stack.parts import HOST_FILE, SLOT_FILE
from ..system import run
from .asked import MEGABYTE, Asked, Finding

DOCKER_SECONDS = 20


def check_program(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a program that people install is there, and of the release, if it is a node's."""
    need_program({"path": need["subject"], "version": need.get("version")}, asked.reader)
    yield from ()


def check_systemd(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether systemd reads the units."""
    done = run("systemctl", "--version")
    found = re.match("systemd ([0-9]+)", done.out)
    if done.status or found is None:
        yield "systemd-missing", "systemd does not answer, and nodes run as its units here: %s" % done.words
    elif int(found[1]) < int(need["version"]):
        yield "systemd-old", "systemd %s is too old: %s or newer reads the units" % (found[1], need["version"])


def check_docker(_need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether Docker answers."""
    done = run("docker", "version", "--format", "{{ .Server.Version }}", seconds=30)
    if done.status:
        yield "docker-answers", "Docker does not answer: install Docker Engine and start it. It said: %s" % done.words


def check_compose(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether Compose reads the files."""
    done = run("docker", "compose", "version", "--short", seconds=30)
    found = re.search("[0-9]+([.][0-9]+)*", done.out)
    if done.status:
        yield "compose-missing", "Docker has no Compose plugin: install the package docker-compose-plugin"
    elif found is not None and numbers_in(found[0]) < numbers_in(need["version"]):
        message = "Docker Compose %s is too old: update docker-compose-plugin to %s or newer"
        yield "compose-old", message % (found[0], need["version"])


def numbers_in(version: str) -> tuple[int, ...]:
    """A version such as 2.24.4 as numbers that compare."""
    return tuple(int(part) for part in version.split("."))


def check_gpus(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether the driver shows the GPUs that nodes use, at the numbers that the spec has; models by their digits."""
    done = run("nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader", seconds=60)
    if done.status:
        yield "gpus-visible", "the driver does not answer, and GPUs are used here: %s" % done.words
        return
    rows = [[part.strip() for part in line.split(",", 2)] for line in done.out.splitlines()]
    shown = {row[0]: row[1:] for row in rows if len(row) == 3}
    missing = [number for number in need["gpus"].split() if number not in shown]
    if missing:
        has = ", ".join(sorted(shown)) or "none"
        yield "gpus-visible", "nvidia-smi does not show GPU %s; it shows %s" % (", ".join(missing), has)
    declared = [need[fact].split() for fact in ("gpus", "uuids", "models")]
    for number, wanted, model in zip(*declared):  # noqa: B905  # Python 3.9 has no strict
        uuid, name = shown.get(number, (wanted, model))
        if wanted not in ("-", uuid) or (model != "-" and model not in re.findall("[0-9]+", name)):
            message = "GPU %s is %s with the uuid %s: write the GPUs of this host in the order of nvidia-smi -L"
            yield "gpus-visible", message % (number, name, uuid)


def check_toolkit(_need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether containers get GPUs."""
    programs = ("nvidia-ctk", "nvidia-container-runtime-hook", "nvidia-container-cli")
    done = run("docker", "info", "--format", "{{ json .Runtimes }}", seconds=30)
    if '"nvidia"' not in done.out and not any(shutil.which(name) for name in programs):
        yield "toolkit-missing", "containers get no GPU here: install the NVIDIA Container Toolkit"


def check_image(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether an image that the node starts is here, or Docker can pull it, as the node would have it do."""
    image = need["subject"]
    if run("docker", "image", "inspect", image).status == 0:
        return
    status, said = docker_says("/distribution/%s/json" % urllib.parse.quote(image, safe="/:@"))
    if status not in (0, http.client.OK):  # that Docker does not answer at all is found by its own check
        yield "images-present", "%s is not here, and Docker cannot pull it: %s" % (image, said)


def check_own_image(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether an image of a node is here, or a rollout can pull it, with what root has logged in to."""
    for finding in check_image(need, asked):
        if run("docker", "manifest", "inspect", "--insecure", need["subject"], seconds=60).status:
            yield finding


class DockerConnection(http.client.HTTPConnection):
    """A connection to the Docker engine of this host."""

    def connect(self) -> None:
        """Open it."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(DOCKER_SOCKET)


def docker_says(path: str) -> tuple[int, str]:
    """Status and message of what the Docker engine answers; 0 without an answer."""
    connection = DockerConnection("docker", timeout=DOCKER_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        found = json.loads(answer.read(MEGABYTE))
        return answer.status, str(found.get("message", "HTTP %d" % answer.status))[:200]
    except socket.timeout:
        return http.client.GATEWAY_TIMEOUT, "its registry does not answer within %d seconds" % DOCKER_SECONDS
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        return 0, ""
    finally:
        connection.close()


def check_stack(_need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the avatar stack has what it needs; its files are not here yet."""
    stack, host = asked.wanted.get("stack"), asked.wanted["host"]
    if stack:
        need_checkout(stack, host)
        need_nftables(host)
        for name in (HOST_FILE, SLOT_FILE):
            need_brand(stack, host, name)
    yield from ()
