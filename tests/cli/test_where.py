"""Where commands find the spec: here, above within the checkout, or on standard input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import INVENTORIES, fleetc

VALID = (INVENTORIES / "demo" / "fleet.toml").read_text(encoding="utf-8")
BROKEN = VALID.replace("max_sessions", "max_session")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a broken spec below its top, and a directory further below."""
    (tmp_path / "top" / ".git").mkdir(parents=True)
    (tmp_path / "top" / "fleets" / "demo" / "notes" / "old").mkdir(parents=True)
    (tmp_path / "top" / "fleets" / "demo" / "fleet.toml").write_text(BROKEN, encoding="utf-8")
    return tmp_path / "top"


@pytest.mark.parametrize(
    ("below", "shown"), [("", "fleet.toml"), ("notes", "../fleet.toml"), ("notes/old", "../../fleet.toml")]
)
def test_spec_is_found_upwards_and_named_as_it_is_reached(checkout: Path, below: str, shown: str) -> None:
    done = fleetc("check", cwd=checkout / "fleets" / "demo" / below)
    assert done.returncode == 1 and f"--> {shown}:" in done.stdout and "max_session" in done.stdout


def test_other_commands_find_it_too(checkout: Path) -> None:
    spec = checkout / "fleets" / "demo" / "fleet.toml"
    spec.write_text(VALID, encoding="utf-8")
    below = spec.parent / "notes"
    assert fleetc("why", "fleet.name", cwd=below).stdout == fleetc("why", "fleet.name", "--spec", spec).stdout
    assert fleetc("compile", cwd=below).returncode == 0
    assert (spec.parent / "rendered" / "manifest.json").is_file() and list(below.iterdir()) == [below / "old"]
    why = fleetc("why", "gate", "-httpAddr", cwd=below)
    assert why.returncode == 0 and "../fleet.toml:" in why.stdout


def test_the_search_ends_at_the_top_of_the_checkout(checkout: Path) -> None:
    (checkout.parent / "fleet.toml").write_text(VALID, encoding="utf-8")
    done = fleetc("check", cwd=checkout)
    assert done.returncode == 1 and "error[spec-missing]" in done.stderr


def test_outside_a_checkout_nothing_above_is_read(tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text(VALID, encoding="utf-8")
    (tmp_path / "below").mkdir()
    done = fleetc("check", cwd=tmp_path / "below")
    assert done.returncode == 1 and "error[spec-missing]" in done.stderr


def test_settings_of_the_directory_above_are_not_left_out_unseen(checkout: Path) -> None:
    demo = checkout / "fleets" / "demo"
    (demo / "fleetc.toml").write_text('output = "out"\n', encoding="utf-8")
    done = fleetc("check", cwd=demo / "notes")
    assert done.returncode == 2
    assert (
        done.stderr == "error: the spec is in .., whose fleetc.toml has settings: run fleetc there, or name the spec\n"
    )
    assert "max_session" in fleetc("check", "..", cwd=demo / "notes").stdout


def checked_on_stdin(data: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-m", "fleetc", "check", "-", *words]
    return subprocess.run(command, input=data, capture_output=True, check=False, timeout=60)


@pytest.mark.usefixtures("processes")
def test_a_spec_on_standard_input() -> None:
    done = checked_on_stdin(VALID.encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"no problems\n", b"")
    done = checked_on_stdin(BROKEN.encode())
    assert done.returncode == 1 and b"--> stdin:" in done.stdout
    done = checked_on_stdin(b"spec = 1\n\xff")
    assert done.returncode == 1 and b"error[spec-not-utf8]" in done.stderr and b"stdin" in done.stderr


def test_standard_input_cannot_be_fixed() -> None:
    done = fleetc("check", "-", "--fix")
    assert done.returncode == 2 and "name the spec" in done.stderr
