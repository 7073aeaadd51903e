"""Stacks of avatars from the files that people write: what becomes of them, and what of each variable."""

from __future__ import annotations

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.questions import Ask
from fleetc.adopt.report.report import reported
from fleetc.language.spec import read_fleet, read_spec
from fleetc.lower.avatar import lower_avatar
from fleetc.messages.forms import ReportFormat
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


def slots(adopted: Adopted) -> object:
    document, _ = read_spec([Source("fleet.toml", adopted.text)])
    assert document is not None
    return document.raw["avatars"]["stage"].get("slots")


def test_a_stack_written_by_hand_keeps_its_settings() -> None:
    found = adopted(env=ENV, turn=TURN, cluster=CLUSTER)
    values = compiled(found)
    given = dict(line.split("=", 1) for line in (ENV + TURN).splitlines() if "=" in line)
    for name in ("ORCHESTRATOR_ID", "PAYMENTS_API_URL", "PUBLIC_IP", "EMBODY_SERVICE_IMAGE_TAG", "TURN_PORT"):
        assert values[name] == given[name]
    assert values["EXPERIMENTAL_REMOTE_OPS"] == "0"
    assert "203.0.113.0/29" in values["EDGE_FIREWALL_EXTRA_CIDRS"]
    assert "STAGE_TURN_USER" in found.text and "STAGE_TURN_PASS" in found.text
    assert "remote_cluster_control" not in found.text  # blank is the default
    assert 'brand = "embody"' in found.text


def test_slots_have_the_numbers_and_cards_that_the_command_line_gives_them() -> None:
    assert slots(adopted(env=ENV, cluster=CLUSTER)) == [
        {"avatar": "mira", "slot": 0, "gpu": 0},
        {"avatar": "Noor", "slot": 1, "gpu": 1},
        {"avatar": "luna", "slot": 3, "gpu": 0},
    ]


def test_each_variable_is_accounted_for_and_each_difference_has_a_reason() -> None:
    found = adopted(env=ENV, turn=TURN, cluster=CLUSTER)
    spans = {(entry.span.source, entry.span.start) for entry in found.entries}
    for name, text in ((".env", ENV), (".env.turn", TURN)):
        for line in text.splitlines():
            if "=" in line and not line.endswith("="):
                assert (name, text.index(line) + line.index("=") + 1) in spans, line
    (mistake,) = [entry for entry in found.entries if entry.fate is Fate.MISTAKE]
    assert (mistake.shown, mistake.code) == ("VTUBER_TYPO_DIR", "adopt-variable-unread")
    assert all(one.reason for one in found.differences) and found.variables > 15
    assert {"VTUBER_ALLOWED_ADDRESSES", "POWER_ALLOWED_IPS"} <= {one.flag for one in found.differences}


def test_what_no_source_says_is_asked() -> None:
    found = adopted(env=ENV + "OPS_HMAC_REQUIRED=1\nEDGE_CONFIG_URL=https://edge.example.net\n")
    asked = {".".join(one.place[2:]): one.kind for one in found.questions if one.place[0] == "avatars"}
    assert asked == {
        "slots": Ask.NO_SOURCE, "allow": Ask.RUNNERS_ONLY, "payments.addresses": Ask.PAYMENTS,
        "ops.secret": Ask.PART_OF_SECRET, "edge.token": Ask.PART_OF_SECRET,
    }  # fmt: skip
    assert slots(found) is None
    assert found.checked is not None and found.checked.fleet is None


def test_slot_that_no_spec_takes_is_asked_for_and_the_others_stay() -> None:
    found = adopted(env=ENV, cluster='{"avatars": [\n"mira",\n"Otto v2",\n{"id": "luna", "gpu": "1"}]}')
    assert slots(found) == [{"avatar": "mira", "slot": 0}, {"avatar": "luna", "slot": 2, "gpu": 1}]
    (question,) = [one for one in found.questions if one.kind is Ask.AVATAR_REFUSED]
    assert dict(question.facts)["avatar"] == "Otto v2"


SECRETS = {
    "a setting that is one": "RUNNER_API_TOKEN=hunter2",
    "a variable that nobody knows": "VTUBER_AUTH=hunter2",
    "the user of an address": "PAYMENTS_API_URL=https://u:hunter2@pay.example.net",
    "the query of an address": "EDGE_CONFIG_URL=https://edge.example.net/?t=hunter2",
    "the port of an address": "PAYMENTS_API_URL=http://pay.example.net:hunter2/",
    "an argument of games": "EMBODY_EXTRA_ARGS=-ResX=1920 -Key=hunter2",
    "an argument of signaling servers": "SIGNALING_EXTRA_ARGS=--auth hunter2",
}


@pytest.mark.parametrize("case", SECRETS)
def test_of_a_secret_only_the_name_is_repeated(case: str) -> None:
    env = "".join(line for line in ENV.splitlines(keepends=True) if not line.startswith("PAYMENTS_API_URL"))
    found = adopted(env=f"{env}{SECRETS[case]}\n", turn=TURN, cluster=CLUSTER)
    made = [found.text, *(reported(found, form, located(found)) for form in ReportFormat)]
    made += [f"{one.today} {one.compiled} {one.reason}" for one in found.differences]
    assert [text for text in made if "hunter2" in text] == []
    assert SECRETS[case].partition("=")[0] in {entry.shown for entry in found.entries}


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


@pytest.mark.parametrize(
    "value", ["", "x", "1", "-1", "99999999999", "NaN", "a,b", "http://[", "{x}", "sha256:" + "1" * 64]
)
def test_no_value_of_a_variable_stops_the_adoption(value: str) -> None:
    for setting in settings().values():
        env = "VTUBER_SESSION_DIR=/s\nVTUBER_RECORDINGS_DIR=/r\nEDGE_UPDATE_TURN=0\n"
        found = adopted(env=f"{env}{setting.variable('AVATAR')}={value}\n", cluster=CLUSTER)
        document, problems = read_spec([Source("fleet.toml", answered(found.text))])
        assert document is not None and not problems, setting.name
        refused = any(one.kind is Ask.REFUSED for one in found.questions)
        assert refused or read_fleet(document)[0] is not None, (setting.name, found.text)


def test_variables_of_a_node_make_no_stack() -> None:
    found = adopt([
        Source("compose.yaml", "services:\n  g:\n    image: livepeer/go-livepeer\n"
               "    command: -gateway -orchAddr ${ORCHESTRATOR_ADDRESS}\n"),
        Source(".env", "ORCHESTRATOR_ADDRESS=orch.example.net:8935\nORCHESTRATOR_ID=a\n"),
    ])  # fmt: skip
    assert found.stacks == 0
    assert "orch.example.net:8935" in found.text
