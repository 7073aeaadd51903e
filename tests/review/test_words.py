"""The words that all reports share."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from fleetc.review.data import IMPACTS, Change, Effect, FileChange, Line, NodeRef
from fleetc.review.reports import paired, wording
from fleetc.text.counting import first_of
from fleetc.text.leaks import HIDDEN
from tests.review.samples import EMPTY, mixed, price_on

A, B, C, D, E = "abcde"


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        ((), "in the whole fleet"),
        (((""), ("")), "in the whole fleet"),
        (((A, ""),), "on a"),
        (((A, B),), "on a, node b"),
        (((A, B), (A, C)), "on a, same on 2 nodes: b, c"),
        (((A, B), (B, C)), "same on 2 hosts: a, b"),
        (((A, B), (A, C), (D, E)), "same on 2 hosts (3 nodes): a, d"),
        (tuple((host, host) for host in "abcde"), "same on 5 hosts: a, b, c and 2 more"),
    ],
)
def test_where(targets: tuple[tuple[str, str], ...], said: str) -> None:
    places = tuple(NodeRef(*target) for target in targets if target)
    assert wording.where(Change("argument", "-x", None, None, places, (), (), ())) == said


def test_one_more_name_is_named() -> None:
    assert first_of("abcd", 3) == "a, b, c, d"
    assert first_of("abcde", 3) == "a, b, c and 2 more"


def test_cut_values_show_where_they_differ() -> None:
    base = "x" * 50_000
    old, new = paired.clip_pair(base + "1" + base, base + "2" + base, 90)
    assert old is not None and new is not None
    assert old != new
    assert old.startswith("...") and "1" in old and "2" in new
    assert len(old) < 200
    assert paired.clip_pair("a", "b", 90) == ("a", "b")
    assert paired.clip_pair(None, "b" * 300, 90) == (None, "b" * 90 + "... (210 more characters)")


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("-price=1200", "-price=1300", ("-price=", "1200", ""), ("-price=", "1300", "")),
        ("a b c", "a c", ("a ", "b ", "c"), ("a ", "", "c")),
        ("same", "same", ("same", "", ""), ("same", "", "")),
        ("", "x", ("", "", ""), ("", "x", "")),
        ("x x", "x x x", ("x x", "", ""), ("x x", " x", "")),
    ],
)
def test_what_differs(old: str, new: str, before: tuple[str, str, str], after: tuple[str, str, str]) -> None:
    assert paired.differing(old, new) == (before, after)


def test_restarts_and_sessions() -> None:
    one, two, gone = NodeRef("a", "n"), NodeRef("b", "n"), NodeRef("c", "n")
    for restarts, said in (
        ((), "no process restarts"),
        (((one, 1),), "1 process restarts, at most 1 live session drops"),
        (((one, 8), (two, 16)), "2 processes restart, at most 24 live sessions drop"),
        (((one, None),), "1 process restarts; it is unknown how many live sessions drop"),
        (
            ((one, 8), (two, None)),
            "2 processes restart, at most 8 live sessions drop; it is unknown how many more on 1 process",
        ),
    ):
        assert wording.restarts(replace(EMPTY, restarts=restarts)) == said
    for restarts, said in (
        (((gone, 1),), "1 process stops, at most 1 live session drops"),
        (((one, 1), (gone, 8)), "1 process restarts and 1 stops, at most 9 live sessions drop"),
    ):
        assert wording.restarts(replace(EMPTY, restarts=restarts, stops=(gone,))) == said


def test_files() -> None:
    states = ("changed", "added", "added", "removed")
    files = tuple(FileChange(f"f{index}", state, ()) for index, state in enumerate(states))
    assert wording.files(replace(EMPTY, files=files)) == "1 file changes, 2 are added, 1 is removed"
    assert wording.files(replace(EMPTY, files=files[1:3])) == "2 files are added"
    assert wording.files(EMPTY) == "no file changes"
    assert wording.verdict(replace(EMPTY, files=files[:1])) == "No setting changes, but 1 file changes"


def test_files_with_equal_lines_are_one_group() -> None:
    page, flags = wording.alike(price_on(500).files)
    assert page.paths == ("FLEET.md",)
    assert len(flags.paths) == 500
    line = Line("x", 0, 0, None, None)
    assert len(wording.alike([FileChange("a/x", "changed", (line,)), FileChange("b/x", "added", (line,))])) == 2
    assert len(wording.alike([FileChange("a/x", "changed", (line,)), FileChange("b/y", "changed", (line,))])) == 2
    units = [FileChange(f"hosts/h{n}/n{n}/livepeer-n{n}.service", "changed", (line,)) for n in "12"]
    assert len(wording.alike(units)) == 1, "the name of the node in that of the file makes no difference"


def test_files_that_only_name_their_own_host_and_node_differently_are_one_group() -> None:
    def unit(number: int, of: int) -> FileChange:
        path = f"hosts/gpu-{number}/orch-{number}/livepeer-orch-{number}.service"
        line = Line(
            path, 3, 3, f"Description=Livepeer orch-{of}, release v1", f"Description=orchestrator orch-{of} on gpu-{of}"
        )
        return FileChange(path, "changed", (line,))

    (same,) = wording.alike([unit(1, 1), unit(2, 2), unit(3, 3)])
    assert same.same == "same but for names in 3 files"
    assert len(wording.alike([unit(1, 1), unit(2, 1)])) == 2, "this one names the node of another file"
    assert len(wording.alike([unit(1, 1), unit(2, 3)])) == 2
    (exact,) = wording.alike([FileChange(f"hosts/h{n}/n{n}/a", "changed", (Line("", 1, 1, "x", "y"),)) for n in "12"])
    assert exact.same == "same in 2 files"
    hidden = (Line("", 1, 1, HIDDEN, HIDDEN),)
    (one,) = wording.alike([FileChange(f"ansible/host_vars/h{n}.json", "changed", hidden) for n in "12"])
    assert one.same == "same as far as shown in 2 files"


def test_files_without_lines_are_grouped_by_directory() -> None:
    assert len(wording.alike([FileChange("a/x", "changed", ()), FileChange("b/x", "changed", ())])) == 2
    assert len(wording.alike([FileChange("a/x", "changed", ()), FileChange("a/y", "changed", ())])) == 1


def test_a_line_finds_its_change_by_itself_or_by_the_lines_of_the_change() -> None:
    review = mixed()
    known = wording.explained(review)
    line = review.changes[0].lines[0]
    assert wording.change_of(replace(line, change=None), known) == 0
    assert wording.change_of(replace(line, change=4), known) == 4
    assert wording.change_of(Line("elsewhere", 1, 1, "a", "b"), known) is None


def test_verdict_counts_each_class() -> None:
    assert wording.verdict(mixed()) == (
        "7 changes on 7 hosts: exposure (1), funds (1), price (1), chain (1), capacity (1), cold-start (1), "
        "restart (4), none (1)"
    )
    only_order = replace(mixed(), changes=mixed().changes[-1:])
    assert wording.verdict(only_order) == "1 change of the fleet as a whole, none with an effect on what runs"
    assert set(wording.MEANINGS) == set(IMPACTS)


def test_last_effect_is_never_counted_alone_and_nothing_as_grave_as_a_restart_at_all() -> None:
    def change(*impacts: str) -> Change:
        found = tuple(Effect(impact, str(place), Decimal(1)) for place, impact in enumerate(impacts))
        return Change("port", "p", "a", "b", (), (), found, ())

    assert wording.effects(change(*["price"] * 5), 4)[1] == 0
    assert wording.effects(change(*["price"] * 6), 4) == (list(change(*["price"] * 4).effects), 2)
    told, rest = wording.effects(change(*["price"] * 6, "restart", "live", "live"), 4)
    assert ([effect.impact for effect in told], rest) == (["price"] * 6 + ["restart"], 2)
    assert wording.effects(change(*["price"] * 5, "restart"), 4)[1] == 0
    assert "comments or order only" not in wording.MEANINGS["none"]
