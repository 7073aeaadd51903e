"""What a unit waits for, is bound to or checks, and what of it the new unit has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetc.adopt.adoption import adopt
from fleetc.adopt.report import glance
from fleetc.adopt.report.takeover import as_text
from fleetc.toml.document import Source
from tests.adopt.test_on_host import ORCHESTRATOR, SPEC, adopted, plan
from tests.support import fleetc

COMMAND = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /srv/s -dataDir /srv/lp/w"
UNIT = "[Unit]\n{}\n[Service]\nUser=lp\nExecStart=/bin/" + COMMAND + "\n[Install]\n{}\n"


def lost(above: str, below: str = "WantedBy=multi-user.target", command: str = "") -> list[str]:
    text = UNIT.format(above, below)
    found = adopt([Source("w.service", text.replace(f"/bin/{COMMAND}", command) if command else text)])
    assert found.nodes
    return [one.words for one in found.beside if one.words.startswith("its unit ") and not one.ours]


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("After=wg-quick@wg0.service", "no longer waits for wg-quick@wg0.service"),
        ("After=network-online.target\nAfter=a.service b.service", "no longer waits for a.service, b.service"),
        (
            "After=wg-quick@wg0.service\nRequires=wg-quick@wg0.service",
            "no longer waits for wg-quick@wg0.service (After, Requires)",
        ),
        ("BindsTo=vpn.service\nOnFailure=mail@%n.service",
         "is no longer tied to vpn.service (BindsTo), mail@%n.service (OnFailure)"),
        ("After=a.service\nPartOf=lp.target", "no longer waits for a.service; is no longer tied to lp.target (PartOf)"),
        ("RequiresMountsFor=/mnt/models /srv", "no longer waits for /mnt/models (RequiresMountsFor)"),
        ("After=mnt-my\\x2dmodels.mount srv-lp.mount", "no longer waits for mnt-my\\x2dmodels.mount"),
        ("ConditionPathExists=/mnt/models", "no longer checks ConditionPathExists=/mnt/models"),
        ("After=" + " ".join(f"u{i}.service" for i in range(8)),
         "no longer waits for " + ", ".join(f"u{i}.service" for i in range(6)) + " and 2 more"),
        ("After=a.service\nAfter=", "no longer waits for a.service"),  # systemd cannot take one away
    ],
)  # fmt: skip
def test_what_the_new_unit_does_not_wait_for_is_said(above: str, said: str) -> None:
    assert lost(above) == [f"its unit {said}"]


@pytest.mark.parametrize(
    "above",
    [
        "After=network-online.target network.target local-fs.target srv-lp.mount\nWants=network-online.target",
        "RequiresMountsFor=/srv/lp\nBefore=shutdown.target\nConflicts=shutdown.target",
        "Documentation=https://docs.example.net\nStartLimitIntervalSec=0",
    ],
)
def test_what_the_new_unit_has_is_not_said(above: str) -> None:
    assert lost(above) == []


def test_who_starts_it_is_said_where_that_is_another_target() -> None:
    assert lost("", "WantedBy=lp.target") == ["its unit is no longer tied to lp.target (WantedBy)"]


def test_other_settings_of_the_section_are_said_as_those_of_the_service() -> None:
    found = adopt([Source("w.service", UNIT.format("FailureAction=reboot", ""))])
    assert "gone from its unit: FailureAction=reboot" in {one.words for one in found.beside}


def test_unit_of_a_container_loses_what_it_waits_for_but_docker() -> None:
    command = f"/usr/bin/docker run --net host livepeer/go-livepeer:v0.9.1 {COMMAND.partition(' ')[2]}"
    assert lost("After=docker.service wg.service\nRequires=docker.service", command=command) == [
        "its unit no longer waits for wg.service"
    ]


def test_instance_has_its_own_name_in_them() -> None:
    found = adopt([Source("w@.service", UNIT.format("After=wg-quick@%i.service", "")),
                   Source("w@eu.service.d/a.conf", "[Service]\nNice=1\n")])  # fmt: skip
    assert "its unit no longer waits for wg-quick@eu.service" in {one.words for one in found.beside}


def test_first_lines_and_comparison_say_it_once(tmp_path: Path) -> None:
    (tmp_path / "w.service").write_text(UNIT.format("After=wg.service", ""))
    done = fleetc("adopt", "h@203.0.113.9=w.service", "-o", "fleet.toml", cwd=tmp_path)
    assert done.stderr.count("  w: no longer waits for wg.service\n") == 1
    spec = (tmp_path / "fleet.toml").read_text()
    (tmp_path / "fleet.toml").write_text("".join(one for one in spec.splitlines(True) if "# TODO" not in one))
    done = fleetc("adopt", "h@203.0.113.9=w.service", "--compare", "fleet.toml", "--report", "text", cwd=tmp_path)
    assert (
        done.returncode == 0
        and "  w: its unit no longer waits for wg.service: adopting changes it too\n" in done.stdout
    )


def test_order_of_a_unit_is_no_reason_to_restart_its_process() -> None:
    settings = [["After", "network-online.target wg.service"], ["RequiresMountsFor", "/mnt"], ["ConditionHost", ""]]
    unit = {"name": "livepeer-orch.service", "enabled": "enabled", "settings": settings}
    own = {**ORCHESTRATOR, "unit": unit, "process": "boot 71 5"}
    found = plan(SPEC, own)
    assert [node.goes_on for node in found.nodes] == [True]
    said = "no longer waits for wg.service, /mnt (RequiresMountsFor); no longer checks ConditionHost"
    for kept in (False, True):
        assert f"  from its next start, its unit {said}\n" in as_text(found, kept)
    brief = said.replace(" (RequiresMountsFor)", "")
    assert any(f": {brief}" in line for line in glance.changes(adopted(own)))
