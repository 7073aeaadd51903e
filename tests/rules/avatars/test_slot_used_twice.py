"""Slots with one id or one number."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, checked, flagged, host, silent, staged

CODE = "slot-used-twice"


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


def test_every_stack_behind_one_edge_is_compared() -> None:
    a, b = ('{ addresses = ["203.0.113.5"] }', '{ addresses = ["203.0.113.6"] }')
    third = host("third", public='"third.example.net"')
    stacks = (
        avatars("a0", edge=a),
        avatars("b", edge=b, **OTHER),
        avatars("c", edge=b, **{**OTHER, "host": '"third"'}),
    )
    assert "b and c both have the avatar id" in flagged(staged(third, *stacks), CODE)
    silent(staged(third, *stacks[:2], stacks[2].replace("203.0.113.6", "203.0.113.7")))


def test_another_spelling_hides_no_clash() -> None:
    edge = '{ addresses = ["203.0.113.5"] }'
    stacks = (avatars("a0", edge=edge, slots='[{ avatar = "Mira" }]'), avatars("b", edge=edge, **OTHER))
    third = avatars("c", edge=edge, **{**OTHER, "host": '"third"'})
    assert 'b and c both have the avatar id "mira"' in flagged(staged(host("third"), *stacks, third), CODE)


def test_stack_that_names_no_edge_is_compared_with_the_others() -> None:
    one, other = ('{ addresses = ["203.0.113.5"] }', '{ addresses = ["203.0.113.6"] }')
    stacks = (avatars("a0", edge=one), avatars("b", **OTHER), avatars("c", edge=other, **{**OTHER, "host": '"third"'}))
    found = [d.message for d in checked(staged(host("third"), *stacks)).diagnostics if d.code == CODE]
    assert [message.split(",")[0] for message in found] == [
        'a0 and b both have the avatar id "mira"',
        'b and c both have the avatar id "mira"',
    ]


def test_ids_of_counted_slots_are_named_after_their_table() -> None:
    silent(staged(avatars(slots="2"), avatars("studio", host='"edge"', slots="2")))
    listed = avatars("studio", host='"edge"', slots='[{ avatar = "stage-1" }]')
    assert checked(staged(avatars(slots="2"), listed)).diagnostics[0].code == CODE


def test_two_slots_with_one_number(snapshot: SnapshotAssertion) -> None:
    slots = '[{ avatar = "mira", slot = 1 }, { avatar = "ada" }, { avatar = "noor", slot = 1 }]'
    assert flagged(staged(avatars(slots=slots, gpu='"all"')), CODE) == snapshot


def test_number_that_is_left_out_avoids_one_written_later() -> None:
    silent(staged(avatars(slots='[{ avatar = "ada" }, { avatar = "mira", slot = 0 }]')))
