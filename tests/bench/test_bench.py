"""The benchmark compares like with like: the plain loop writes the same bytes, for a spec without any fault."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleetc.language.spec import read_spec
from fleetc.pipeline import check_spec
from fleetc.rollout.hosts.gate import ACTIVATE, BEGIN, END, STAGE
from fleetc.toml.document import Source
from tests.bench import diagnose, editor, fleetgen, measure, observe, review, verify
from tests.bench.counted import Waits
from tests.bench.deploy import TASKS
from tests.bench.hosts import SKIP, Hosts, compiled, spec_text
from tests.bench.plain import plain_project
from tests.farm.sshd_host import needed

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(params=[130, 250])
def spec(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A generated spec; the plain loop takes fleets that are drawn as regions."""
    path = tmp_path / "fleet.toml"
    path.write_text(fleetgen.spec_text(request.param), encoding="utf-8")
    return path


@pytest.mark.outer
def test_plain_loop_writes_the_same_bytes(spec: Path, tmp_path: Path) -> None:
    tree, other = tmp_path / "tree", tmp_path / "other"
    subprocess.run(measure.fleetc("compile", str(spec), "-o", str(tree)), check=True, capture_output=True)
    subprocess.run(measure.peer(spec, other), check=True, capture_output=True)
    assert sum(1 for _ in measure.files_below(other)) > 200
    assert list(measure.differences(tree, other)) == []


@pytest.mark.parametrize("nodes", [10, 130, 2000])
def test_the_fleet_in_classes_and_counters_is_the_written_out_one(nodes: int) -> None:
    """Equal values: so everything made of them is equal, the trees of all hosts among it."""
    text = fleetgen.shared_text(nodes)
    (shared, found), (plain, _) = (read_spec([Source("a", one)]) for one in (text, fleetgen.spec_text(nodes)))
    assert found == []
    assert shared is not None and plain is not None
    assert shared.raw == plain.raw
    assert text.count("\n") <= 400


def test_generated_spec_gives_no_diagnostic_but_what_its_shared_accounts_and_dollars_bring(spec: Path) -> None:
    found = check_spec([Source("fleet.toml", spec.read_text(encoding="utf-8"))])
    assert {d.code for d in found.diagnostics} == {"rate-missing", "service-address-not-registered"}
    assert found.fleet is not None


@pytest.mark.outer
def test_report_of_a_small_run_has_ratios_first_and_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SMALL", 130)
    monkeypatch.setattr(measure, "QUICK_ROUNDS", 1)
    report = measure.compile_report(150, 1)
    assert report.lines[0].name == "fleetc compile / plain Jinja2 loop"
    assert all(cost.processor_s < 60 and cost.peak_bytes > 1_000_000 for cost in report.costs.values())
    table = report.as_table()
    assert table.startswith("| Measure | Result | Aim |\n|---|---|---|\n")
    assert table.index("plain Jinja2 loop |") < table.index("| Process |")


def test_check_is_measured_alone() -> None:
    report = measure.check_report(20, 1)
    shared = "fleetc check, 20 nodes in classes and counters / written out"
    assert [line.name for line in report.lines] == ["fleetc check, 20 nodes", shared]
    assert 0 < report.lines[0].value < 60


def test_answers_of_an_editor_are_measured_beside_a_check() -> None:
    report = editor.editor_report(20, 1)
    names = [line.name for line in report.lines]
    assert names[:2] == ["completion, best", "completion, the first time"] and names[-4::2] == [
        "check, best",
        "lens, best",
    ]
    assert all(0 < line.value < 60 for line in report.lines)


def test_review_is_measured_beside_a_compile() -> None:
    report = review.review_report(20, 1)
    assert [line.name for line in report.lines] == [
        "fleetc diff of one line / fleetc compile",
        "Markdown of a price change on 2 hosts",
    ]
    assert 5 < report.lines[1].value < 2 * review.MARKDOWN_LINES  # of a small review more is shown


@pytest.mark.outer
def test_observation_is_measured_in_one_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnose, "SMALL_MB", 1)
    report = observe.observe_report(("streams", "diagnose"), 1, megabytes=2, hosts=0, streams=20)
    assert [line.name for line in report.lines] == [
        "diagnose, 2 MB of glog",
        "diagnose, 1 MB of json-file",
        "peak memory, large log / small log",
        "peak memory of the large log",
        "fleetc streams / bare httpx loop, time of all answers",
        "the same, processor time",
        "answers a second",
    ]
    assert 0.5 < report.lines[2].value < 2
    assert all(line.value > 0 for line in report.lines)
    assert report.files == 3 and "nodes" not in report.as_table()


@pytest.mark.outer
def test_verify_is_measured_on_hosts_that_run_as_reviewed(tmp_path: Path) -> None:
    if missing := needed():
        pytest.skip(missing)
    report = measure.new_report(0, 1, tmp_path)
    (line,) = verify.verify_lines(report, tmp_path, 1, 2)
    assert line.name == "fleetc verify, 2 nodes on 1 host"
    assert 0 < line.value < 60


PORTS = {"h00": (22, [[7935, 8935, 1935], [7936, 8936, 1936]]), "h01": (23, [[7937, 8937, 1937], [7938, 8938, 1938]])}


@pytest.mark.outer
def test_plain_play_writes_the_same_bytes(tmp_path: Path) -> None:
    """For the host that its templates were not made from."""
    tree, top = compiled(spec_text(PORTS, "a"), tmp_path / "fleet"), tmp_path / "host"
    plain_project(tree, tmp_path / "plain", str(top))
    play = [str(Path(sys.executable).with_name("ansible-playbook")), "-c", "local", "-i", "inventory.json", "site.json"]
    play += ["-e", f"ansible_python_interpreter={sys.executable}"]
    docker = tmp_path / "bin/docker"
    docker.parent.mkdir()
    docker.write_text(f"#!/bin/sh\necho $* >> {tmp_path}/started\n")
    docker.chmod(0o755)
    environment = {**os.environ, "PATH": f"{docker.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [*play, "--limit", "h01"],
        cwd=tmp_path / "plain",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    unlike = sorted(measure.differences(tree / "hosts/h01", top))
    assert unlike == ["README.md", *(f"gate-{node}-h01/secrets.env" for node in (0, 1))]  # pages stay in the tree
    assert (tmp_path / "started").read_text().count("compose --project-name gate-") == 2


@pytest.fixture
def host(disk: Path) -> Iterator[Hosts]:
    """One host that nothing was rolled out to."""
    if missing := needed():
        pytest.skip(missing)
    hosts = Hosts(disk / "hosts", 1, 1)
    yield hosts
    hosts.close()


@pytest.mark.outer
def test_unchanged_host_has_one_task_and_a_changed_one_at_most_eight(host: Hosts, tmp_path: Path) -> None:
    tree = compiled(host.spec_text(1, 1, "a"), tmp_path / "fleet")
    answer = tmp_path / "counts"
    command = [sys.executable, "-m", "tests.bench.counted", str(answer), "deploy", *SKIP]
    found = []
    for _ in range(2):
        done = subprocess.run(
            command, cwd=tree.parent, env=host.environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        found.append(json.loads(answer.read_text()))
    changed, unchanged = found
    assert changed["tasks"]["h00"] <= TASKS
    assert changed["waits"] == [1]
    own = {"Go on only if every host of the batch has its release", "See whether every host of the batch is healthy"}
    assert changed["events"]["site.yml"].keys() == {STAGE, ACTIVATE, END, *own}, "no task is there in vain"
    assert unchanged["tasks"] == {"h00": 1}


def _waited(*order: str) -> int:
    """How often a batch waited, by the order in which hosts began (+) and ended (-) to wait."""
    waits = Waits()
    for word in order:
        kind = "runner_on_start" if word[0] == "+" else "runner_on_ok"
        waits.take({"event": kind, "event_data": {"task": ACTIVATE, "host": word[1:]}})
        waits.take({"event": kind, "event_data": {"task": BEGIN, "host": word[1:]}})
    return waits.count


def test_hosts_that_wait_at_the_same_time_are_one_wait() -> None:
    assert _waited("+a", "+b", "+c", "-b", "-a", "-c") == 1
    assert _waited("+a", "-a", "+b", "-b", "+c", "-c") == 3
    assert _waited("+a", "+b", "-a", "+c", "-b", "+d", "-c", "-d") == 2
