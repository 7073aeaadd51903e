"""What is out of service in the blueprint and the tree: its files stay, and nobody starts, reads or waits for it."""

from __future__ import annotations

import json
from typing import Any

from fleetc.blueprint.out import out_of, running
from fleetc.emit.tree import Tree, is_released
from fleetc.planner.fates import fates
from fleetc.planner.states import recorded_states, release_in
from tests.rules.support import avatars, free_gateway, free_orchestrator, host, offchain, runner, staged
from tests.support import compile_text

OUT = '{ until = 2027-01-31, reason = "new power supply" }'
WORDS = "until 2027-01-31: new power supply"


def fleet(out: str | None = None, **node: str) -> str:
    """Two orchestrators on hosts of their own, one of them out of service, and a gateway that lists both."""
    settings = {"monitor": "true", "max_sessions": "4"}
    return offchain(
        free_orchestrator("away", host='"third"', **settings, **node),
        free_orchestrator("here", host='"gpu"', **settings),
        free_gateway(orchestrators='["away", "here"]', monitor="true"),
        host("third", public='"third.example.net"', out=out),
        '[monitoring]\nhost = "edge"\n',
    )


def tree(text: str) -> Tree:
    compiled = compile_text(text)
    assert compiled.tree is not None, compiled.checked.diagnostics
    return compiled.tree


def variables(of: Tree, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(of.as_mapping()[f"ansible/host_vars/{name}.json"].content)
    return found


def outs(own: dict[str, Any]) -> dict[str, str]:
    return {one["name"]["__ansible_unsafe"]: one["why"]["__ansible_unsafe"] for one in own["fleet_host_out"]}


def contents(of: Tree) -> dict[str, bytes]:
    return {path: artifact.content for path, artifact in of.as_mapping().items()}


def test_files_stay_and_one_says_why() -> None:
    whole, without = contents(tree(fleet())), contents(tree(fleet(out=OUT)))
    mine = {path for path in whole if is_released(path)}
    assert {path for path in without if is_released(path)} - mine == {"hosts/third/away/out-of-service.txt"}
    assert all(without[path] == whole[path] for path in mine), "no list of a buyer changes"
    assert without["hosts/third/away/out-of-service.txt"].decode() == f"{WORDS}\n"


def test_host_wants_nothing_of_it_and_has_a_release_of_its_own() -> None:
    whole, host_out = (variables(tree(text), "third") for text in (fleet(), fleet(OUT)))
    assert host_out["fleet_host_services"] == [] and outs(host_out) == {"away": WORDS}
    assert not any("away" in json.dumps(need) for need in host_out["fleet_host_needs"])
    releases = [release_in(tree(text), "third") for text in (fleet(OUT), fleet(), fleet(out=None))]
    assert releases[0] != releases[1] == releases[2] and "fleet_host_out" not in whole
    assert recorded_states(tree(fleet(OUT)))["third"].release == releases[0], "the record names the files"
    own = compile_text(fleet().replace("[orchestrators.away]\n", f"[orchestrators.away]\nout = {OUT}\n"))
    assert own.tree is not None and variables(own.tree, "third") == host_out, "the same at the node"


def test_planner_says_why_it_stops_and_starts_it_again() -> None:
    there, gone = contents(tree(fleet())), contents(tree(fleet(out=OUT)))
    (copy, stop) = fates(there, gone).steps["third"]
    assert (copy.do, stop.do, stop.node) == ("copy", "retire", "away")
    assert stop.reason == f"it is out of service {WORDS}"
    assert set(fates(there, gone).steps) == {"third"}, "nothing else restarts"
    assert [(step.do, step.node) for step in fates(gone, there).steps["third"]] == [("copy", ""), ("start", "away")]


def test_it_is_in_no_canary_batch_and_keeps_nobody_waiting() -> None:
    batches = json.loads(contents(tree(fleet(out=OUT)))["ansible/rollout.json"])["fleet_batches"]
    assert [name for batch in batches for name in batch] == ["gpu", "edge", "third"]
    assert json.loads(contents(tree(fleet()))["ansible/rollout.json"])["fleet_batches"][-1] == ["edge"]


def test_nobody_reads_it_and_the_page_says_so() -> None:
    found = compile_text(fleet(out=OUT)).blueprint
    assert found is not None and found.monitoring is not None
    targets = [*found.monitoring.targets, *(target for agent in found.monitoring.agents for target in agent.targets)]
    labels = {(label.name, label.value) for target in targets for label in target.labels}
    assert ("node", "here") in labels and ("node", "away") not in labels and ("host", "third") not in labels
    assert not any("third" in alert.expr or "away" in alert.expr for alert in found.monitoring.alerts)
    (told,) = [one.why for one in found.monitoring.unwatched if one.what == "node away"]
    assert told == f"it is out of service {WORDS}"


def test_running_fleet_has_neither_it_nor_its_edges() -> None:
    found = compile_text(fleet(out=OUT)).blueprint
    assert found is not None
    assert {(edge.source, edge.target) for edge in running(found).edges} == {("gate", "here")}
    assert out_of(found) == {"third": WORDS}
    assert [service.name for one in running(found).hosts for service in one.services] == ["gate", "here"]
    whole = compile_text(fleet()).blueprint
    assert whole is not None and running(whole) is whole


def test_stack_and_live_runners_of_a_host_go_with_it() -> None:
    text = staged(avatars(host='"gpu"')).replace("[hosts.gpu]\n", f"[hosts.gpu]\nout = {OUT}\n")
    own = variables(tree(text), "gpu")
    assert "fleet_host_stack_slots" not in own and outs(own) == {"avatar": WORDS}
    steps = fates(contents(tree(staged(avatars(host='"gpu"')))), contents(tree(text))).steps["gpu"]
    reasons = {(step.do, step.reason) for step in steps if step.node}
    assert reasons == {("retire", f"it is out of service {WORDS}")}
    running = offchain(runner(host='"edge"'))
    alone = variables(tree(running.replace("[hosts.edge]\n", f"[hosts.edge]\nout = {OUT}\n")), "edge")
    assert alone["fleet_host_services"] == [] and outs(alone) == {"echo": WORDS}
