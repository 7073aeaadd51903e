"""Faults that operators make with live runners: each is found under its code, and the fleet without it says nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.rules.support import checked, printed

DATA: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "runner_faults.toml").read_text(encoding="utf-8")
)
FAULTS: list[dict[str, Any]] = DATA["faults"]
NAMES = {"echo": "runners.echo", "orch": "orchestrators.orch", "signer": "remote_signers.signer"}
TOKEN = "hf_"
"""What a token of Hugging Face begins with. Its letters are put together here, so that no scanner finds one."""


def spec(fault: dict[str, Any]) -> str:
    """The fleet with one fault."""
    tables = {name: dict(values) for name, values in DATA["tables"].items()}
    for name, values in fault.get("set", {}).items():
        tables[name] |= values
    if "metadata" in fault:
        tables["echo"]["metadata"] = f'"{"m" * fault["metadata"]}"'
    if "token" in fault:
        letters = "".join(chr(ord("a") + at * 7 % 26) for at in range(fault["token"]))
        tables["echo"]["arguments"] = f'["--token", "{TOKEN}{letters}"]'
    lines = [str(DATA["base"]).replace(fault["without"], "") if "without" in fault else str(DATA["base"])]
    add = fault.get("add", "")
    header = add.partition("\n")[0]
    if header in lines[0] and header:  # another value of a table that is there
        lines[0] = lines[0].replace(header, add.strip(), 1)
        add = ""
    for name, values in tables.items():
        lines += [f"[{NAMES[name]}]", *(f"{key} = {value}" for key, value in values.items() if value), ""]
    return "\n".join([*lines, add])


def test_fleet_without_a_fault_is_silent() -> None:
    assert not checked(spec({})).diagnostics, printed(spec({}))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["fault"])
def test_fault_is_found(fault: dict[str, Any]) -> None:
    text = spec(fault)
    found = {diagnostic.code for diagnostic in checked(text).diagnostics}
    assert fault["code"] in found, f"{fault['code']} is not among {sorted(found)}:\n{printed(text)}"
