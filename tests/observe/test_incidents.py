"""Incidents that people reported in public: `fleetc diagnose` names the cause first, and calls none of them fine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tomli

from tests.observe.support import diagnose

INCIDENTS: dict[str, dict[str, Any]] = tomli.loads((Path(__file__).parent / "incidents.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", INCIDENTS)
def test_first_finding_names_the_cause(name: str, place: Path) -> None:
    incident = INCIDENTS[name]
    (place / "node.log").write_text(incident["lines"], encoding="utf-8")
    run = diagnose("node.log", "--format", "json")
    assert run.returncode in (1, 4), "never fine"
    first = json.loads(run.stdout)["diagnostics"][0]
    cause = incident.get("cause", "log-not-understood")
    assert first["code"] == cause or cause in first["message"].lower(), first


def test_there_are_enough() -> None:
    assert len(INCIDENTS) >= 40
    assert sum("cause" in incident for incident in INCIDENTS.values()) >= 0.8 * len(INCIDENTS)
