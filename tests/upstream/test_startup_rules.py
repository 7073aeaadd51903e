"""Every start-up condition of the node is impossible, refused by a rule, or left to a named check on the host."""

from __future__ import annotations

import re
from typing import Any

from fleetc.messages.explain import pages
from fleetc.upstream import load
from tests.messages.test_explain import HOST_PROGRAM
from tests.support import ROOT, for_each

ROWS: dict[str, dict[str, Any]] = load("startup_rules.toml")["rules"]
GAPS = {18, 19, 32, 33, 34, 35, 36, 37, 38, 39, 55, 56, 57, 58, 59, 89}
"""Numbers between 1 and 99 that no condition has."""

IDS = [
    *(f"P{number}" for number in range(1, 7)),
    *(f"R{number:02}" for number in range(1, 100) if number not in GAPS),
    *(f"N{number:02}" for number in range(1, 11)),
    *(f"D{number:02}" for number in range(1, 13)),
]


def test_every_condition_has_its_row_in_order_and_there_are_no_others() -> None:
    assert list(ROWS) == IDS


@for_each("name", IDS)
def test_row_says_who_sees_to_it(name: str) -> None:
    row = ROWS[name]
    assert set(row) <= {"verdict", "codes", "preflight", "reason"}
    verdict, reason = row["verdict"], row.get("reason", "")
    assert ("codes" in row) == (verdict == "rule")
    if verdict == "rule":
        assert row["codes"]
        assert set(row["codes"]) <= set(pages())
    else:
        assert len(reason) > 20
    if verdict == "impossible":
        assert "preflight" not in row
    else:
        assert verdict == "rule" or "preflight" in row
    if "preflight" in row:
        assert reason, "say what the host knows and the spec does not"
        assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)+", row["preflight"])


LEFT = {
    "gpus-encode": "only a trial encode shows it, and a node may be using the GPU",
    "orchestrator-release": "an orchestrator outside the fleet says it in a call that has to be signed",
    "secrets-agree": "the two values are on two hosts, and nothing that a host answers may help to guess one",
}
"""Checks of a host that the program there does not make, and why."""


def test_preflight_of_the_host_makes_every_check_that_it_can() -> None:
    named = {row["preflight"] for row in ROWS.values() if "preflight" in row}
    sources = (*HOST_PROGRAM, ROOT / "compiler/fleetc/lower/needs.py")
    made = set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', "".join(path.read_text("utf-8") for path in sources)))
    assert named - made == set(LEFT)


def test_most_conditions_never_reach_a_host() -> None:
    on_the_host = [name for name, row in ROWS.items() if row["verdict"] == "preflight"]
    assert len(on_the_host) < len(ROWS) / 3
