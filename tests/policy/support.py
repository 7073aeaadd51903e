"""What tests of rules share: a fleet, and what rules find in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fleetc.language.spec import read_fleet
from fleetc.messages.locate import locate
from fleetc.messages.text import as_text
from fleetc.pipeline import check_spec
from fleetc.policy.judging import Judged, Policies
from fleetc.toml.document import Source, read_document
from tests.support import INVENTORIES

FLEET = (INVENTORIES / "dual-onchain" / "fleet.toml").read_text(encoding="utf-8")
TODAY = "2026-11-25"


def policies(rules: Mapping[str, str], today: str = TODAY) -> Policies:
    """Rules by name."""
    return Policies(tuple(Source(f"policy/{name}.star", text) for name, text in sorted(rules.items())), today)


def judged(text: str) -> Judged:
    """A fleet that can be read."""
    document, _ = read_document([Source("fleet.toml", text)])
    assert document is not None
    fleet, wrong = read_fleet(document)
    assert fleet is not None, wrong
    return Judged(fleet, document)


def shown(rules: Mapping[str, str], text: str = FLEET) -> str:
    """What a check with rules prints."""
    checked = check_spec([Source("fleet.toml", text)], policies(rules))
    return as_text(locate(checked.diagnostics, checked.texts, checked.document))


def write(folder: Path, rules: Mapping[str, str], text: str = FLEET) -> Path:
    """A directory with a spec and rules."""
    (folder / "policy").mkdir(parents=True, exist_ok=True)
    (folder / "fleet.toml").write_text(text, encoding="utf-8")
    for name, rule in rules.items():
        (folder / "policy" / f"{name}.star").write_text(rule, encoding="utf-8")
    return folder
