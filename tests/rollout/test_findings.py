"""Findings of hosts: each at its line of the spec, and a clock that differs is no reason to stop."""

from __future__ import annotations

import pytest

from fleetc.places.diagnostic import Severity
from fleetc.rollout.findings import HostFinding, clock_finding, diagnostics_of
from fleetc.rollout.hosts.begun import findings_in
from tests.disk.test_foreign import DEMO
from tests.support import compile_text, compiled_example


def test_finding_is_at_its_node_or_else_at_its_host() -> None:
    blueprint = compile_text(DEMO).blueprint
    assert blueprint is not None
    node = blueprint.hosts[0].services[0]
    rows = (("ports-free", "taken", node.name), ("disk-full", "full", "unheard-of"))
    found = diagnostics_of([HostFinding("studio", *row) for row in rows], blueprint)
    assert [one.primary.place for one in found] == [(node.table, node.name), ("hosts", "studio")]
    assert {one.severity for one in found} == {Severity.ERROR}
    assert found[0].message == "studio: taken"


def test_host_out_of_reach_comes_with_a_command_to_try() -> None:
    blueprint = compile_text(DEMO.replace('runtime = "docker"', 'runtime = "docker"\nssh_port = 2222')).blueprint
    assert blueprint is not None
    (found,) = diagnostics_of([HostFinding("studio", "host-unreachable", "could not be reached")], blueprint)
    assert f"try it from here: ssh -p 2222 root@{blueprint.hosts[0].address}; FLEETC_SSH_KEY names" in found.help


PASSWORD, KEYSTORE = "/etc/livepeer/earner-password", "/var/lib/livepeer/keystore"


@pytest.mark.parametrize(
    ("code", "need", "subject", "key", "command"),
    [
        ("file-unreadable", "password-file", PASSWORD, "password", f"sudo chown -R livepeer {PASSWORD}"),
        ("file-open-to-all", "password-file", PASSWORD, "password", f"sudo chmod -R o= {PASSWORD}"),
        ("file-open-to-all", "keystore", KEYSTORE, "keystore", f"sudo chmod -R o= {KEYSTORE}"),
        (
            "keystore-holds-account",
            "keystore",
            KEYSTORE,
            "keystore",
            f"-o livepeer -m 600 UTC--*--{'2' * 40} {KEYSTORE}",
        ),
        ("password-file-not-empty", "password-file", PASSWORD, "password", f"-m 600 /dev/stdin {PASSWORD}"),
    ],
)
def test_finding_about_a_file_is_at_the_line_that_names_it(
    code: str, need: str, subject: str, key: str, command: str
) -> None:
    blueprint = compiled_example("dual-onchain").blueprint
    assert blueprint is not None
    (found,) = diagnostics_of([HostFinding("gpu", code, "no", "orch", need=need, subject=subject)], blueprint)
    place = found.primary.place
    assert isinstance(place, tuple) and place[:3] == ("wallets", "earner", key)
    assert found.help.endswith(command)


def test_user_that_is_missing_is_made_with_one_command() -> None:
    blueprint = compiled_example("dual-onchain").blueprint
    assert blueprint is not None
    (found,) = diagnostics_of([HostFinding("gpu", "node-user-missing", "no user")], blueprint)
    assert found.primary.place == ("hosts", "gpu")
    assert found.help.endswith(": getent passwd livepeer || sudo useradd --system --no-create-home livepeer")


@pytest.mark.parametrize(
    ("clock", "words"), [(600.0, "10 min ahead of"), (-600.0, "10 min behind"), (30.0, ""), ("soon", ""), (None, "")]
)
def test_clock(clock: object, words: str) -> None:
    now = 1_800_000_000.0
    shown = now + clock if isinstance(clock, float) else clock
    found = clock_finding("studio", {"clock": shown, "received": now})
    assert bool(found) == bool(words)
    if found:
        assert words in found[0].message
        blueprint = compile_text(DEMO).blueprint
        assert blueprint is not None
        assert diagnostics_of(found, blueprint)[0].severity is Severity.WARNING


@pytest.mark.parametrize("told", [None, 5, "x", [5, None, {"code": 5}], [{"code": "x"}], {"a": 1}])
def test_answers_that_make_no_sense_are_no_findings(told: object) -> None:
    assert findings_in("studio", {"findings": told}) == ()


def test_words_of_a_host_are_shown_and_bearable() -> None:
    (found,) = findings_in("studio", {"findings": [{"code": "disk-full", "message": "\x1b[31m" + "x" * 9999}]})
    assert "\x1b" not in found.message and len(found.message) <= 300
