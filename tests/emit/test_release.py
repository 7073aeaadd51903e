"""Digests of releases change with the files they stand for and with nothing else."""

from __future__ import annotations

from fleetc.blueprint.blueprint import Argument, Blueprint, Variable
from fleetc.emit.release import Release
from tests.emit import support


def releases(plan: Blueprint) -> dict[str, Release]:
    tree = support.emitted(plan)
    return {host.name: support.release_in(tree, host.name) for host in plan.hosts}


def test_digest_changes_for_the_changed_service_and_its_host_only() -> None:
    def plan_with(value: str) -> Blueprint:
        changed = support.service("gw-b", variables=(Variable("A", value, support.HERE),))
        return support.plan(
            support.host("edge-1", support.service("gw-a"), changed), support.host("edge-2", support.service("gw-c"))
        )

    before, after = releases(plan_with("1")), releases(plan_with("2"))
    assert before == releases(plan_with("1"))
    assert before["edge-2"] == after["edge-2"]
    assert before["edge-1"].host != after["edge-1"].host
    assert before["edge-1"].directories["gw-a"] == after["edge-1"].directories["gw-a"]
    assert before["edge-1"].directories["gw-b"] != after["edge-1"].directories["gw-b"]


def test_digest_depends_on_name_and_content_of_each_file() -> None:
    variants = [
        {"hosts/h/s/a": "1"},
        {"hosts/h/s/b": "1"},
        {"hosts/h/s/a": "2"},
        {"hosts/h/s/a": "1", "hosts/h/s/b": ""},
    ]
    found = {support.release_with(files).directories["s"] for files in variants}
    assert len(found) == len(variants)
    backwards = dict(reversed(variants[3].items()))
    assert support.release_with(variants[3]).host == support.release_with(backwards).host


def test_host_without_services_has_a_release_too() -> None:
    assert all(len(made.host) == 64 for made in releases(support.plan()).values())
    assert releases(support.plan())["spare-1"].directories == {}


def test_avatar_stack_counts_for_its_host_and_is_no_service() -> None:
    def found(text: str) -> Release:
        return support.release_with({"hosts/h/avatar/slots/slot-03.env": text, "hosts/h/gw/a": "1"})

    before, after = found("A=1\n"), found("A=2\n")
    assert set(before.directories) == {"avatar", "gw"}
    assert before.directories["gw"] == after.directories["gw"]
    assert before.host != after.host
    changed = [path for path in before.files if before.files[path] != after.files[path]]
    assert changed == ["avatar/slots/slot-03.env"]


def test_place_of_a_service_does_not_change_its_digest() -> None:
    service = support.service("gw-a", arguments=(Argument("a", "b", support.HERE),))
    here = releases(support.plan(support.host("edge-1", service)))["edge-1"]
    there = releases(support.plan(support.host("edge-2", service)))["edge-2"]
    assert here.directories == there.directories
