"""Checks of programs that nodes need: their own, systemd, Docker, drivers, the avatar stack."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

from ..places import Json
from ..programs import need_program
from ..stack.needs import need_brand, need_checkout, need_nftables
from ..stack.parts import HOST_FILE, SLOT_FILE
from ..system import run
from .asked import Asked, Finding


def check_program(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a program that people install is there, and of the release."""
    need_program({"path": need["subject"], "version": need["version"]}, asked.reader)
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
    """Whether the driver shows the GPUs that nodes use."""
    done = run("nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader", seconds=60)
    if done.status:
        yield "gpus-visible", "the driver does not answer, and GPUs are used here: %s" % done.words
        return
    shown = dict(line.replace(" ", "").split(",", 1) for line in done.out.splitlines() if "," in line)
    missing = [number for number in need["gpus"].split() if number not in shown]
    if missing:
        has = ", ".join(sorted(shown)) or "none"
        yield "gpus-visible", "nvidia-smi does not show GPU %s; it shows %s" % (", ".join(missing), has)
    for uuid in need["uuids"].split():
        if uuid not in shown.values():
            yield "gpus-visible", "nvidia-smi shows no GPU %s: correct the uuid in the spec" % uuid


def check_toolkit(_need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether containers get GPUs."""
    programs = ("nvidia-ctk", "nvidia-container-runtime-hook", "nvidia-container-cli")
    done = run("docker", "info", "--format", "{{ json .Runtimes }}", seconds=30)
    if '"nvidia"' not in done.out and not any(shutil.which(name) for name in programs):
        yield "toolkit-missing", "containers get no GPU here: install the NVIDIA Container Toolkit"


def check_stack(_need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the avatar stack has what it needs; its files are not here yet."""
    stack, host = asked.wanted.get("stack"), asked.wanted["host"]
    if stack:
        need_checkout(stack, host)
        need_nftables(host)
        for name in (HOST_FILE, SLOT_FILE):
            need_brand(stack, host, name)
    yield from ()
