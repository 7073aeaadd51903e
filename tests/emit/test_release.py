"""Digests of releases change with the files they stand for and with nothing else."""

from __future__ import annotations

from fleetc.blueprint.blueprint import Argument, Blueprint, Variable
from fleetc.emit.artifacts import Releases
from fleetc.emit.release import releases
from fleetc.emit.tree import Artifact
from tests.emit import support


def digests(plan: Blueprint) -> Releases:
    tree = support.emitted(plan)
    return releases((h.name for h in plan.hosts), [a for a in tree.artifacts if a.path.startswith("hosts/")])


def test_digest_changes_for_the_changed_service_and_its_host_only() -> None:
    def plan_with(value: str) -> Blueprint:
        changed = support.service("gw-b", variables=(Variable("A", value, support.HERE),))
        return support.plan(
            support.host("edge-1", support.service("gw-a"), changed), support.host("edge-2", support.service("gw-c"))
        )

    before, after = digests(plan_with("1")), digests(plan_with("2"))
    assert before == digests(plan_with("1"))
    assert [name for name in before.services if before.services[name] != after.services[name]] == ["gw-b"]
    assert [name for name in before.hosts if before.hosts[name] != after.hosts[name]] == ["edge-1"]


def test_digest_depends_on_name_mode_and_content_of_each_file() -> None:
    base = Artifact("hosts/h/s/a", b"1")
    variants = [
        [base],
        [Artifact("hosts/h/s/b", b"1")],
        [Artifact("hosts/h/s/a", b"2")],
        [Artifact("hosts/h/s/a", b"1", mode=0o755)],
        [base, Artifact("hosts/h/s/b", b"")],
    ]
    found = {releases(["h"], files).services["s"] for files in variants}
    assert len(found) == len(variants)
    assert releases(["h"], variants[4]) == releases(["h"], variants[4][::-1])


def test_host_without_services_has_a_release_too() -> None:
    assert set(digests(support.plan()).hosts) == {"edge-1", "gpu-1", "spare-1"}


def test_avatar_stack_counts_for_its_host_and_is_no_service() -> None:
    def found(content: bytes) -> Releases:
        files = [Artifact("hosts/h/avatar/slots/slot-03.env", content), Artifact("hosts/h/gw/a", b"1")]
        return releases(["h"], files)

    before, after = found(b"A=1\n"), found(b"A=2\n")
    assert set(before.services) == {"gw"}
    assert before.services == after.services
    assert before.hosts != after.hosts
    changed = [path for path in before.files if before.files[path] != after.files[path]]
    assert changed == ["hosts/h/avatar/slots/slot-03.env"]


def test_place_of_a_service_does_not_change_its_digest() -> None:
    service = support.service("gw-a", arguments=(Argument("a", "b", support.HERE),))
    here = digests(support.plan(support.host("edge-1", service)))
    there = digests(support.plan(support.host("edge-2", service)))
    assert here.services == there.services
