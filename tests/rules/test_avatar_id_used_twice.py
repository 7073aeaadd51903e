"""Avatar ids that come twice."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from compiler.diagnostics import Severity
from tests.rules.support import avatars, checked, flagged, silent, staged

CODE = "avatar-id-used-twice"

OTHER = {"host": '"edge"', "slots": '[{ avatar = "mira" }]'}


def test_one_id_on_one_host(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(slots='[{ avatar = "mira" }, { avatar = "mira" }]')), CODE) == snapshot


def test_ids_that_differ_in_case_only(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(slots='[{ avatar = "mira" }, { avatar = "Mira" }]')), CODE) == snapshot


def test_one_id_on_two_hosts(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(), avatars("studio", **OTHER)), CODE, Severity.WARNING) == snapshot


def test_one_id_behind_one_edge(snapshot: SnapshotAssertion) -> None:
    edge = '{ addresses = ["203.0.113.5", "203.0.113.6"] }'
    same = '{ addresses = ["203.0.113.6"] }'
    assert flagged(staged(avatars(edge=edge), avatars("studio", edge=same, **OTHER)), CODE) == snapshot
    url = '{ url = "https://edge.example.net", token = { env = "EDGE_TOKEN" } }'
    assert flagged(staged(avatars(edge=url), avatars("studio", edge=url, **OTHER)), CODE)


def test_one_id_behind_two_edges_is_fine() -> None:
    one, other = ('{ addresses = ["203.0.113.5"] }', '{ addresses = ["203.0.113.6"] }')
    silent(staged(avatars(edge=one), avatars("studio", edge=other, **OTHER)))


def test_ids_of_counted_slots_are_named_after_their_table() -> None:
    silent(staged(avatars(slots="2"), avatars("studio", host='"edge"', slots="2")))
    listed = avatars("studio", host='"edge"', slots='[{ avatar = "stage-1" }]')
    assert checked(staged(avatars(slots="2"), listed)).diagnostics[0].code == CODE
