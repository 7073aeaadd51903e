"""The unit, read by systemd's own checker and by an independent reader of the grammar."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from fleetc.blueprint.blueprint import DOCKER_SOCKET, Argument, HostBlueprint, Mount, Service
from fleetc.emit.formats import UnfitError
from tests.emit import support
from tests.emit.programs import program, run
from tests.support_values import unescape_c

LIBRARY = Path("/usr/lib/systemd/system")


def host_with(*services: Service) -> HostBlueprint:
    return support.host("gpu-1", *services, runtime="systemd")


def unit_of(service: Service) -> str:
    tree = support.emitted(support.plan(host_with(service)))
    return support.text(tree, f"hosts/gpu-1/{service.name}/{service.unit}.service")


def checked(directory: Path, name: str, text: str) -> str:
    """What systemd's checker says about a unit, in a root that has the program."""
    analyze = program("systemd-analyze")
    if not LIBRARY.is_dir():
        pytest.skip(f"no units of the distribution in {LIBRARY}")
    root = directory / "root"
    for folder in ("usr/local/bin", "etc/systemd/system", "usr/lib/systemd/system"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "lib").symlink_to("usr/lib")
    for pattern in ("*.target", "*.slice"):
        for file in LIBRARY.glob(pattern):
            if file.is_file():
                shutil.copy(file, root / "usr/lib/systemd/system" / file.name)
    (root / "usr/local/bin/livepeer").write_text("#!/bin/sh\n")
    (root / "usr/local/bin/livepeer").chmod(0o755)
    (root / "etc/systemd/system" / name).write_text(text, newline="")
    done = run(analyze, "verify", f"--root={root}", "--man=no", name, cwd=directory, home=directory)
    return done.stderr + f"status {done.returncode}"


def command_line(unit: str) -> list[str]:
    """The words of ExecStart: continuation lines joined, quotes and escapes undone, `$$` and `%%` made single."""
    line = re.sub(r"\\\n *", "", unit).split("\nExecStart=")[1].split("\n")[0]
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    assert line == " ".join(f'"{word}"' for word in words)
    return [unescape_c(word).replace("$$", "$").replace("%%", "%") for word in words]


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    "service",
    [
        support.service("gw-eu"),
        support.service("gw-eu", gpus=(0,), manages_containers=True),
        support.odd_service("odd"),
    ],
    ids=["plain", "gpus", "odd"],
)
def test_systemd_has_nothing_to_say_about_a_unit(service: Service, tmp_path: Path) -> None:
    assert checked(tmp_path, f"{service.unit}.service", unit_of(service)) == "status 0"


@pytest.mark.usefixtures("processes")
def test_systemd_would_notice_a_misspelt_setting(tmp_path: Path) -> None:
    text = unit_of(support.service("gw-eu")).replace("Restart=always", "Restart=alwys")
    assert "alwys" in checked(tmp_path, "livepeer-gw-eu.service", text)


def test_every_odd_argument_is_one_word_of_the_command_line() -> None:
    service = support.odd_service("odd")
    assert command_line(unit_of(service)) == ["/usr/local/bin/livepeer", *(a.text for a in service.arguments)]


def test_unit_restarts_always_and_reads_both_environments() -> None:
    lines = unit_of(support.service("gw-eu")).splitlines()
    for line in (
        "Restart=always",
        "StartLimitIntervalSec=0",
        "User=livepeer",
        "WorkingDirectory=/var/lib/livepeer/gw-eu",
        'Environment="HOME=/var/lib/livepeer/gw-eu"',
        "EnvironmentFile=/opt/fleetc/current/gw-eu/node.env",
        "EnvironmentFile=/etc/fleetc/gw-eu/secrets.env",
    ):
        assert line in lines
    assert not any("secrets.env" in line for line in unit_of(support.service("gw-eu", secrets=())).splitlines())


def test_hardening_is_what_the_blueprint_says() -> None:
    given = ("NoNewPrivileges", "CapabilityBoundingSet", "ProtectKernel", "Restrict", "LockPersonality")
    for hardened in (True, False):
        lines = unit_of(support.service("gw-eu", manages_containers=True, hardened=hardened)).splitlines()
        assert "SupplementaryGroups=docker" in lines
        assert {word for word in given for line in lines if line.startswith(word)} == ({*given} if hardened else set())


def test_release_of_the_program_is_in_the_unit_so_that_a_new_one_restarts_it() -> None:
    assert "release v0.9.0" in unit_of(support.service("gw-eu", release=(0, 9, 0)))


def test_command_line_that_systemd_cannot_load_is_refused() -> None:
    arguments = tuple(Argument(f"a{i}", "x" * 120_000, support.HERE) for i in range(9))
    with pytest.raises(UnfitError, match="longer than the target accepts"):
        unit_of(support.service("gw-eu", arguments=arguments))


def test_path_that_would_end_its_line_is_refused() -> None:
    with pytest.raises(UnfitError):
        unit_of(support.service("gw-eu", data_dir="/a\nExecStartPre=/bin/x"))


@pytest.mark.usefixtures("processes")
def test_every_directory_that_the_node_writes_to_is_writable(tmp_path: Path) -> None:
    models, socket = Mount("/home/ai/models", False, support.HERE), Mount(DOCKER_SOCKET, False, support.HERE)
    base = support.service("gw-eu", manages_containers=True)
    service = support.service("gw-eu", manages_containers=True, mounts=(*base.mounts, models, socket))
    unit = unit_of(service)
    assert "ReadWritePaths=/var/lib/livepeer/gw-eu -/home/ai/models" in unit.splitlines()
    assert checked(tmp_path, f"{service.unit}.service", unit) == "status 0"
    assert "ReadWritePaths=/var/lib/livepeer/gw-eu" in unit_of(base).splitlines()
