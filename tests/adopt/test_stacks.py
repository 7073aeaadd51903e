"""Stacks of avatars from the files that people write: what becomes of them, and what of each variable."""

from __future__ import annotations

import json

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.ledger import Fate
from fleetc.language.spec import read_fleet, read_spec
from fleetc.lower.avatar import lower_avatar
from fleetc.toml.document import Source
from fleetc.upstream.avatar import settings
from tests.adopt.support import answered

ENV = """# one host
ORCHESTRATOR_ID=stage-host-1
ORCHESTRATOR_ADDRESS=0x1111111111111111111111111111111111111111
PAYMENTS_API_URL=http://198.51.100.90:8081
PUBLIC_IP=203.0.113.40
EMBODY_SERVICE_IMAGE_TAG=v1.3.6
EXPERIMENTAL_REMOTE_OPS=off
EXPERIMENTAL_REMOTE_CLUSTER_CONTROL=
VTUBER_ALLOWED_ADDRESSES=127.0.0.1,::1,172.17.0.1,172.18.0.1,198.51.100.90,203.0.113.77
POWER_ALLOWED_IPS=198.51.100.90/32,203.0.113.0/29
VTUBER_TYPO_DIR=/x
"""
TURN = "TURN_USER=viewer\nTURN_PASS=8f3a9c77aa81\nTURN_PORT=3479\nTURN_EXTERNAL_IP=203.0.113.40\n"
CLUSTER = '{"slotCount": 4, "gpu": "0", "avatars": ["mira", {"id": "Noor", "gpuId": "1"}, {"id": "luna", "slot": 3}]}'


def adopted(**files: str) -> Adopted:
    named = {"env": ".env", "turn": ".env.turn", "cluster": "cluster.json"}
    return adopt([Source(named[name], text) for name, text in files.items()])


def compiled(found: Adopted) -> dict[str, str]:
    """The variables of the host that the spec compiles to."""
    document, problems = read_spec([Source("fleet.toml", answered(found.text))])
    assert document is not None, problems
    fleet, problems = read_fleet(document)
    assert fleet is not None, (problems, found.text)
    made = lower_avatar(fleet, fleet.stacks[0])
    return {v.name: v.value for v in (*made.host_variables, *made.turn_variables)}


def test_a_stack_written_by_hand_keeps_its_settings() -> None:
    found = adopted(env=ENV, turn=TURN, cluster=CLUSTER)
    values = compiled(found)
    given = dict(line.split("=", 1) for line in (ENV + TURN).splitlines() if "=" in line)
    for name in ("ORCHESTRATOR_ID", "PAYMENTS_API_URL", "PUBLIC_IP", "EMBODY_SERVICE_IMAGE_TAG", "TURN_PORT"):
        assert values[name] == given[name]
    assert values["EXPERIMENTAL_REMOTE_OPS"] == "0"
    assert "203.0.113.0/29" in values["EDGE_FIREWALL_EXTRA_CIDRS"]
    assert 'user = { env = "STAGE_TURN_USER" }, password = { env = "STAGE_TURN_PASS" }' in found.text
    assert "remote_cluster_control" not in found.text  # blank is the default
    assert "registration.address" not in found.text
    assert 'brand = "embody"' in found.text


def test_slots_have_the_numbers_and_cards_that_the_command_line_gives_them() -> None:
    found = adopted(env=ENV, cluster=CLUSTER)
    document, _ = read_spec([Source("fleet.toml", found.text)])
    assert document is not None
    assert document.raw["avatars"]["stage"]["slots"] == [
        {"avatar": "mira", "slot": 0, "gpu": 0},
        {"avatar": "Noor", "slot": 1, "gpu": 1},
        {"avatar": "luna", "slot": 3, "gpu": 0},
    ]


def test_each_variable_is_accounted_for() -> None:
    found = adopted(env=ENV, turn=TURN, cluster=CLUSTER)
    spans = {(entry.span.source, entry.span.start) for entry in found.entries}
    for name, text in ((".env", ENV), (".env.turn", TURN)):
        for line in text.splitlines():
            if "=" in line and not line.endswith("="):
                assert (name, text.index(line) + line.index("=") + 1) in spans, line
    (mistake,) = [entry for entry in found.entries if entry.fate is Fate.MISTAKE]
    assert (mistake.shown, mistake.code) == ("VTUBER_TYPO_DIR", "adopt-variable-unread")
    assert all(one.reason for one in found.differences)
    assert {"VTUBER_ALLOWED_ADDRESSES", "POWER_ALLOWED_IPS"} <= {one.flag for one in found.differences}


def test_who_only_calls_runners_is_asked_about() -> None:
    assert "TODO allow: 203.0.113.77 may only call runners today" in adopted(env=ENV, cluster=CLUSTER).text
    steered = ENV + "EDGE_CONFIG_URL=https://edge.example.net\nEDGE_CONFIG_TOKEN=abc\n"
    text = adopted(env=steered, cluster=CLUSTER).text
    assert 'addresses = ["203.0.113.77"]' in text
    assert "TODO allow" not in text


def test_without_a_list_of_slots_they_are_asked_for() -> None:
    found = adopted(env=ENV)
    assert "# TODO slots = " in found.text
    assert found.checked is not None and found.checked.fleet is None


def test_slot_that_no_spec_takes_is_asked_for_at_its_place_and_the_others_stay() -> None:
    found = adopted(env=ENV, cluster='{"avatars": [\n"mira",\n"Otto v2",\n{"id": "luna", "gpu": "1"}]}')
    document, _ = read_spec([Source("fleet.toml", found.text)])
    assert document is not None
    assert document.raw["avatars"]["stage"]["slots"] == [
        {"avatar": "mira", "slot": 0}, {"avatar": "luna", "slot": 2, "gpu": 1},
    ]  # fmt: skip
    assert '# TODO slots: the avatar "Otto v2" in slot 1: ' in found.text
    (told,) = [one for one in located(found) if one.diagnostic.code == "adopt-value-invalid"]
    assert (told.primary.file, told.primary.line) == ("cluster.json", 3)


def test_counted_avatars_stay_a_count() -> None:
    text = adopted(env=ENV, cluster=json.dumps({"instances": ["show-0", "show-1"], "gpu": "all"})).text
    assert "[avatars.show]" in text
    assert "slots = 2" in text


@pytest.mark.parametrize(
    "text",
    [
        '{"instances": [{"slot": 1}]}',
        '{"instances": [{"id": "a", "slot": 1}, {"id": "b", "slot": 1}]}',
        '{"instances": [{"id": "a", "slot": true}]}',
        '{"instances": [{"id": "a", "slot": [1]}]}',
        '{"instances": [{"id": {}}]}',
    ],
)
def test_slots_that_the_stack_refuses_are_refused(text: str) -> None:
    found = adopted(env=ENV, cluster=text)
    assert [d.code for d in found.diagnostics if d.code == "adopt-slots-unread"]
    assert not found.text


@pytest.mark.parametrize("name", sorted(settings()))
@pytest.mark.parametrize(
    "value", ["", "x", "1", "-1", "99999999999", "NaN", "a,b", "http://[", "{x}", "sha256:" + "1" * 64]
)
def test_no_value_of_a_variable_stops_the_adoption(name: str, value: str) -> None:
    line = f"{settings()[name].variable('AVATAR')}={value}\n"
    found = adopted(env="VTUBER_SESSION_DIR=/s\nVTUBER_RECORDINGS_DIR=/r\nEDGE_UPDATE_TURN=0\n" + line, cluster=CLUSTER)
    assert found.text
    document, problems = read_spec([Source("fleet.toml", found.text)])
    assert document is not None and not problems


def test_variables_of_a_node_make_no_stack() -> None:
    found = adopt([
        Source("compose.yaml", "services:\n  g:\n    image: livepeer/go-livepeer\n"
               "    command: -gateway -orchAddr ${ORCHESTRATOR_ADDRESS}\n"),
        Source(".env", "ORCHESTRATOR_ADDRESS=orch.example.net:8935\nORCHESTRATOR_ID=a\n"),
    ])  # fmt: skip
    assert found.stacks == 0
    assert "orch.example.net:8935" in found.text
