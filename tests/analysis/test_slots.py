"""Where ports of avatar slots meet: the tables of facts for slots 0 to 2000, and every row checked by brute force."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.analysis.slots import PortClash, claims, meetings
from fleetc.upstream.avatar import FIXED_PORTS, SLOT_PORTS

LAST = 2000
SLOTS = range(LAST + 1)
ALL = dict.fromkeys(SLOT_PORTS, SLOTS)
TAKEN = claims(SLOT_PORTS, ALL)
THREE = {service: base for service, base in SLOT_PORTS.items() if service != "game"}

PAIRS = [
    # lower base, higher base, difference, count, first, last, first and last port
    ("signaling", "recorder", 809, 1192, (809, 0), (2000, 1191), 8889, 10080),
    ("recorder", "runner", 988, 1013, (988, 0), (2000, 1012), 9877, 10889),
    ("signaling", "runner", 1797, 204, (1797, 0), (2000, 203), 9877, 10080),
    ("game", "signaling", 303, 1698, (303, 0), (2000, 1697), 8080, 9777),
    ("game", "recorder", 1112, 889, (1112, 0), (2000, 888), 8889, 9777),
]

FIXED: dict[int, dict[str, int]] = {
    8935: {"signaling": 855, "recorder": 46, "game": 1158},
    7935: {"game": 158},
    1935: {},
    5935: {},
    6935: {},
    4935: {},
    3935: {},
    9935: {"signaling": 1855, "recorder": 1046, "runner": 58},
    9090: {"signaling": 1010, "recorder": 201, "game": 1313},
    8081: {"signaling": 1, "game": 304},
    8888: {"signaling": 808, "game": 1111},
    8889: {"signaling": 809, "recorder": 0, "game": 1112},
    8890: {"signaling": 810, "recorder": 1, "game": 1113},
    9000: {"signaling": 920, "recorder": 111, "game": 1223},
    9001: {"signaling": 921, "recorder": 112, "game": 1224},
    9100: {"signaling": 1020, "recorder": 211, "game": 1323},
    9996: {"signaling": 1916, "recorder": 1107, "runner": 119},
    9997: {"signaling": 1917, "recorder": 1108, "runner": 120},
    9998: {"signaling": 1918, "recorder": 1109, "runner": 121},
    8554: {"signaling": 474, "game": 777},
    8322: {"signaling": 242, "game": 545},
    8808: {"signaling": 728, "game": 1031},
    11434: {"runner": 1557},
    8936: {"signaling": 856, "recorder": 47, "game": 1159},
    7936: {"game": 159},
    3478: {},
}
SINGLE_STACK = {8080: ("signaling", 0), 7777: ("game", 0), 9877: ("runner", 0)}


def brute_force(lower: str, higher: str) -> list[tuple[int, int, int]]:
    """(port, slot of lower, slot of higher) for all pairs of different slots that take one port, by port."""
    ports = {SLOT_PORTS[higher] + slot: slot for slot in SLOTS}
    found = [(SLOT_PORTS[lower] + slot, slot) for slot in SLOTS]
    return [(port, slot, ports[port]) for port, slot in found if port in ports]


@pytest.mark.parametrize("row", PAIRS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_pair_of_services_meets_as_the_table_says(
    row: tuple[str, str, int, int, tuple[int, int], tuple[int, int]],
) -> None:
    assert PortClash(*row) in meetings(SLOT_PORTS, ALL)  # type: ignore[call-arg]


def test_there_is_no_other_pair() -> None:
    found = meetings(SLOT_PORTS, ALL)
    assert {(m.lower, m.higher) for m in found} == {(row[0], row[1]) for row in PAIRS}
    assert brute_force("game", "runner") == []


@pytest.mark.parametrize("meeting", meetings(SLOT_PORTS, ALL), ids=lambda m: f"{m.lower}-{m.higher}")
def test_every_meeting_is_what_brute_force_finds(meeting: PortClash) -> None:
    found = brute_force(meeting.lower, meeting.higher)
    assert len(found) == meeting.pairs
    assert found[0] == (meeting.first_port, *meeting.first)
    assert found[-1] == (meeting.last_port, *meeting.last)
    assert all(low != high for _, low, high in found)
    assert all(low - high == meeting.difference for _, low, high in found)


def test_three_services_are_free_up_to_slot_808_and_four_up_to_slot_302() -> None:
    assert meetings(THREE, dict.fromkeys(THREE, range(809))) == []
    assert [(m.first, m.pairs) for m in meetings(THREE, dict.fromkeys(THREE, range(810)))] == [((809, 0), 1)]
    assert meetings(SLOT_PORTS, dict.fromkeys(SLOT_PORTS, range(303))) == []
    assert [(m.first, m.pairs) for m in meetings(SLOT_PORTS, dict.fromkeys(SLOT_PORTS, range(304)))] == [((303, 0), 1)]


def test_ports_with_more_than_one_claimant() -> None:
    taken = claims(THREE, ALL)
    assert sum(len(who) > 1 for who in taken.values()) == 2001
    assert sum(len(who) == 3 for who in taken.values()) == 204
    assert taken[9877] == [("signaling", 1797), ("runner", 0), ("recorder", 988)]


@pytest.mark.parametrize("port", sorted(FIXED))
def test_fixed_port_is_taken_by_the_slots_of_the_table(port: int) -> None:
    assert port in {row.port for row in FIXED_PORTS}
    assert dict(TAKEN.get(port, [])) == FIXED[port]
    forced = {service: slot for service, slot in product(SLOT_PORTS, SLOTS) if SLOT_PORTS[service] + slot == port}
    assert forced == FIXED[port]


def test_every_fixed_port_has_a_row() -> None:
    rows = {row.port for row in FIXED_PORTS}
    assert rows == set(FIXED) | set(SINGLE_STACK)
    for port, (service, slot) in SINGLE_STACK.items():
        assert (service, slot) in TAKEN[port]


@pytest.mark.parametrize(
    ("port", "service", "slot"),
    [
        (8100, "signaling", 20),
        (8200, "signaling", 120),
        (8900, "signaling", 820),
        (8900, "recorder", 11),
        (8000, "game", 223),
        (8100, "game", 323),
        (8900, "game", 1123),
    ],
)
def test_runner_containers_of_gpu_0_stand_on_ports_of_slots(port: int, service: str, slot: int) -> None:
    assert (service, slot) in TAKEN[port]


def test_relay_ports_are_far_from_slots() -> None:
    assert all(SLOT_PORTS[service] + LAST < 49160 for service in SLOT_PORTS)


def test_services_with_one_base_are_refused() -> None:
    with pytest.raises(ValueError, match="one base"):
        meetings({"a": 1, "b": 1}, {"a": [0], "b": [0]})


_SOME = st.sets(st.integers(0, 60), max_size=25)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=4, unique=True), st.lists(_SOME, min_size=4, max_size=4))
def test_any_slots_meet_where_comparing_all_pairs_says(bases: list[int], chosen: list[set[int]]) -> None:
    named = {f"s{index}": base for index, base in enumerate(bases)}
    slots = dict(zip(named, chosen, strict=False))
    expected: dict[frozenset[str], list[int]] = {}
    for (one, base), (other, second) in product(named.items(), named.items()):
        for low, high in product(slots[one], slots[other]):
            if one < other and base + low == second + high:
                expected.setdefault(frozenset((one, other)), []).append(base + low)
    found = {frozenset((m.lower, m.higher)): m for m in meetings(named, slots)}
    assert set(found) == set(expected)
    for pair, ports in expected.items():
        meeting = found[pair]
        assert (meeting.pairs, meeting.first_port, meeting.last_port) == (len(ports), min(ports), max(ports))
        assert named[meeting.lower] + meeting.first[0] == meeting.first_port
