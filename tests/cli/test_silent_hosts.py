"""A dry run of hosts that do not answer: each is named once, in the form that is asked for; nothing skips them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import ROOT, fleetc

pytestmark = pytest.mark.usefixtures("processes")

FAST = {"FLEETC_CONNECT_TIMEOUT": "2"}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo at a port where nobody listens."""
    place = tmp_path_factory.mktemp("silent")
    text = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8").replace("192.0.2.10", "127.0.0.9")
    (place / "fleet.toml").write_text(text.replace('runtime = "docker"', 'runtime = "docker"\nssh_port = 1'))
    assert fleetc("compile", cwd=place).returncode == 0
    return place


def test_silent_host_is_named_once(fleet: Path) -> None:
    done = fleetc("deploy", "--check", cwd=fleet, **FAST)
    assert done.returncode == 1
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("studio")]
    assert "could not be reached: " in row
    assert done.stderr.splitlines()[-1].startswith("note: studio: try it from here: ssh -p 1 ")
    assert done.stderr.count("studio") == 1


@pytest.mark.parametrize("form", ["sarif", "github", "json", "junit", "markdown"])
def test_silent_host_is_in_every_form(form: str, fleet: Path) -> None:
    done = fleetc("deploy", "--check", "--format", form, cwd=fleet, **FAST)
    assert done.returncode == 1 and "could not be reached" in done.stdout
    if form == "sarif":
        (result,) = json.loads(done.stdout)["runs"][0]["results"]
        assert result["ruleId"] == "host-unreachable"
    if form == "github":
        assert done.stdout.startswith("::error ") and "fleet.toml" in done.stdout


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("deploy", "--format", "sarif"), "--check"),
        (("rollback", "--format", "github"), "--check"),
        (("deploy", "--check", "--skip", "host-unreachable=x"), "--without HOST"),
        (("deploy", "--skip", "price-above-cap-now=x"), "no finding of a host"),
        (("deploy", "--skip", "ports-free"), "why this is fine here"),
    ],
)
def test_option_without_an_effect_is_refused(words: tuple[str, ...], advice: str, fleet: Path) -> None:
    done = fleetc(*words, cwd=fleet)
    assert (done.returncode, done.stdout) == (2, "")
    assert advice in done.stderr
