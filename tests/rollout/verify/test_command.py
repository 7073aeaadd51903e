"""`fleetc verify` as people type it: each form, files written whole, and only changes while it watches.

Hosts do not answer here: what they would have said is given, and everything after that is the command's own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fleetc.disk import files
from fleetc.disk.reading import read_source
from fleetc.rollout.verify.data import Finding
from fleetc.toml.document import Source
from tests import outside_tools
from tests.rollout.verify.given import GivenHosts
from tests.rollout.verify.looks import CUT, DEPOSIT, EVERY_DAY, PRICE, SILENT, found
from tests.support import INVENTORIES, fleetc

Run = Callable[..., subprocess.CompletedProcess[str]]
SUMMARY = "9 hosts with 9 nodes asked: 2 differences from what was reviewed, 2 unknown, 1 warning"
SEEN = """\
us-video-1: release: 0.9.1, asks: 900 wei a pixel
eu-live: release: 0.9.1, pays at most: 1500 wei a pixel, deposit: 0.02 ETH, reserve: 0.4 ETH, deposit lasts: 3.1 h
"""
WELL = "9 hosts with 9 nodes asked: all of it is as reviewed"


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> GivenHosts:
    return GivenHosts(monkeypatch)


def compiled(name: str, place: Path) -> Path:
    """An example fleet with its whole tree: git has none of the playbooks in it."""
    shutil.copy(INVENTORIES / name / "fleet.toml", place)
    assert fleetc("compile", place).returncode == 0
    return place


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("two-regions", tmp_path_factory.mktemp("two-regions"))


@pytest.fixture
def run(fleet: GivenHosts, regions: Path) -> Iterator[Run]:
    def verify(*options: object) -> subprocess.CompletedProcess[str]:
        return fleetc("verify", regions, "--no-public", *options)

    yield verify


# --- forms ----------------------------------------------------------------------------------------


def test_text_has_findings_at_their_lines_and_a_summary(run: Run) -> None:
    done = run()
    assert done.returncode == 1
    assert done.stdout == f"{SEEN}{SUMMARY}\n"
    assert "error[set-at-run-time]: us-gpu-1: us-video-1: it says that pricePerUnit is 900" in done.stderr
    assert re.search(r"fleet\.toml:\d+:\d+", done.stderr)
    assert "warning[host-unreachable]" in done.stderr


def test_the_spec_is_read_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spec that changes between two readings would be shown beside findings about another one."""
    read: list[object] = []

    def counted(path: Path, name: str, limit: int) -> Source:
        read.append(path)
        return read_source(path, name, limit)

    monkeypatch.setattr(files, "read_source", counted)
    assert "fleet.toml:" in run().stderr
    assert len(read) == 1


@pytest.mark.parametrize(
    ("findings", "code"),
    [((), 0), ((DEPOSIT,), 0), ((CUT,), 4), ((CUT, DEPOSIT), 4), ((PRICE,), 1), ((PRICE, CUT), 1)],
)
def test_exit_code_says_whether_all_is_as_reviewed(
    run: Run, fleet: GivenHosts, findings: tuple[Finding, ...], code: int
) -> None:
    fleet.looks = [findings]
    for form in ("text", "json", "junit", "prometheus", "html"):
        fleet.number = -1
        assert run("--format", form).returncode == code, form


def test_nothing_against_nodes_is_what_they_report_and_one_line(run: Run, fleet: GivenHosts) -> None:
    fleet.looks = [()]
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{SEEN}{WELL}\n", "")


def test_json_has_kinds_states_facts_and_funds(run: Run) -> None:
    said = json.loads(run("--format", "json").stdout)
    assert {one["code"] for one in said["diagnostics"]} == {one.code for one in EVERY_DAY}
    verify = said["verify"]
    assert [(one["kind"], one["code"], one["host"], one["node"]) for one in verify["findings"]] == [
        ("drift", "set-at-run-time", "us-gpu-1", "us-video-1"),
        ("drift", "node-not-in-spec", "us-edge", "old-gate"),
        ("unknown", "not-answered", "eu-gpu-1", "eu-video-1"),
        ("unknown", "host-unreachable", "us-ai", ""),
        ("warning", "deposit-low", "eu-edge-1", "eu-live"),
    ]
    nodes = {node["node"]: node for node in verify["nodes"]}
    assert nodes["eu-live"] == {
        "host": "eu-edge-1",
        "node": "eu-live",
        "role": "gateway",
        "state": "warning",
        "facts": {
            "release": "0.9.1",
            "pays at most": "1500 wei a pixel",
            "deposit": "0.02 ETH",
            "reserve": "0.4 ETH",
            "deposit lasts": "3.1 h",
        },
    }
    assert (nodes["us-images-1"]["state"], nodes["us-video-2"]["state"]) == ("unknown", "fine")
    assert {payer["node"]: payer["deposit"] for payer in verify["funds"]}["eu-live"] == "0.02 ETH"
    assert (verify["fleet"], verify["exit_code"]) == ("two-regions", 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", verify["time"])


def test_metrics_count_findings_and_pass_promtool(run: Run, fleet: GivenHosts, processes: None) -> None:
    odd = found("drift", "node-not-in-spec", "us-edge", 'a"b\\c\nd', "us-edge: an odd one runs")
    fleet.looks = [(*EVERY_DAY, odd)]
    text = run("--format", "prometheus").stdout
    for line in (
        'fleetc_verify_time_seconds{fleet="two-regions"} 1795415400',
        'fleetc_verify_findings{fleet="two-regions",host="us-gpu-1",node="us-video-1",kind="drift"} 1',
        'fleetc_verify_findings{fleet="two-regions",host="us-ai",node="",kind="unknown"} 1',
        'fleetc_verify_findings{fleet="two-regions",host="us-gpu-2",node="us-video-2",kind="drift"} 0',
    ):
        assert line in text.splitlines()
    assert len(text.splitlines()) == len(set(text.splitlines()))
    promtool = outside_tools.program("promtool")
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit", "prometheus", "html"])
def test_report_is_written_whole_and_its_summary_printed(
    run: Run, fleet: GivenHosts, form: str, tmp_path: Path
) -> None:
    target = tmp_path / "reports" / "look.out"
    done = run("--format", form, "-o", target)
    assert (done.returncode, done.stdout, done.stderr) == (1, f"{SUMMARY}\n", "")
    assert [path.name for path in target.parent.iterdir()] == ["look.out"], "nothing stays beside it"
    assert target.stat().st_mode & 0o777 == 0o644, "the collector is another user"
    written = target.read_text(encoding="utf-8")
    if form != "text":
        fleet.number = -1
        assert run("--format", form).stdout == written
    else:
        assert written.endswith(f"2 errors, 3 warnings\n\n{SEEN}{SUMMARY}\n")


def test_readers_see_the_old_report_or_the_new(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "fleet.prom"
    target.write_text("old\n")
    with target.open() as reader:
        assert run("--format", "prometheus", "-o", target).returncode == 1
        assert reader.read() == "old\n", "who has opened it goes on reading what was there"
    assert target.read_text().startswith("# HELP")


def test_a_report_replaces_no_directory_link_or_device(run: Run, fleet: GivenHosts, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("mine\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "link", tmp_path / "pipe"):
        done = run("-o", place)
        assert "error[report-not-a-file]" in done.stderr, done.stderr
        assert done.returncode == 1
    assert fleet.number == -1, "no host was asked"
    assert (tmp_path / "real").read_text() == "mine\n"
    assert (tmp_path / "link").is_symlink()


def test_a_terminal_gets_no_page(processes: None) -> None:
    ours, theirs = os.openpty()
    try:
        command = [sys.executable, "-I", "-m", "fleetc", "verify", str(INVENTORIES / "demo"), "--format", "html"]
        done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        os.set_blocking(ours, False)
        with pytest.raises(BlockingIOError):
            os.read(ours, 1)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert done.stderr == "error: the page is for a browser; name its file with -o\n"


# --- watching -------------------------------------------------------------------------------------


def test_watching_tells_only_what_changed_with_the_time(run: Run, fleet: GivenHosts) -> None:
    poorer = DEPOSIT._replace(message=DEPOSIT.message.replace("0.02 ETH", "0.01 ETH"))
    dearer = PRICE._replace(message=PRICE.message.replace("900", "950"))
    fleet.looks = [(DEPOSIT,), (poorer,), (poorer, PRICE), (dearer,), (dearer,), (SILENT,)]
    fleet.tells = True
    done = run("--watch", 30)
    assert done.returncode == 4, "that of the last look"
    assert done.stderr.count("us-ai: could not be reached") == 1, "hosts are heard at the first look alone"
    blocks = re.split(r"(?m)^(?=\d{4}-\d\d-\d\dT)", done.stdout)
    assert blocks[0] == f"{SEEN}{WELL}; 1 warning\n"
    assert [block.split(": ")[0] for block in blocks[1:]] == [
        "2026-11-23T06:32:00Z",
        "2026-11-23T06:33:00Z",
        "2026-11-23T06:35:00Z",
    ], "nothing is said where nothing changed, or where only the numbers of a warning moved"
    assert "error[set-at-run-time]" in blocks[1] and "gone" not in blocks[1] and "deposit-low" not in blocks[1]
    assert "pricePerUnit is 950" in blocks[2]
    assert "gone: error[set-at-run-time]: us-gpu-1: us-video-1: it says that pricePerUnit is 900" in blocks[2]
    assert "gone: warning[deposit-low]" in blocks[2]
    assert "warning[not-answered]" in blocks[3]
    assert "warning[deposit-low]" in done.stderr, "the first look is told whole"


def test_watching_writes_its_file_again_after_each_look(run: Run, fleet: GivenHosts, tmp_path: Path) -> None:
    target = tmp_path / "fleet.prom"
    fleet.looks = [EVERY_DAY, ()]
    done = run("--watch", 30, "--format", "prometheus", "-o", target)
    assert done.returncode == 0
    assert done.stdout.startswith(f"{SUMMARY}\n2026-11-23T")
    assert done.stdout.count("gone: ") == len(EVERY_DAY)
    assert f'fleetc_verify_time_seconds{{fleet="two-regions"}} {1_795_415_460}' in target.read_text()


def test_interrupt_before_the_first_look_ends_the_command_as_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fleetc.rollout.hosts.verify.ask_hosts", interrupted)
    done = run("--watch", 30)
    assert (done.returncode, done.stdout) == (130, "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--watch", 1), "--watch takes at least 5 seconds"),
        (("--watch", 60, "--format", "json"), "the json report is written again after each look; name its file"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    run: Run, fleet: GivenHosts, options: tuple[object, ...], said: str
) -> None:
    done = run(*options)
    assert done.returncode == 2
    assert said in done.stderr
    assert fleet.number == -1


def test_a_tree_that_is_not_what_the_spec_compiles_to_is_refused(fleet: GivenHosts, tmp_path: Path) -> None:
    flags = compiled("demo", tmp_path) / "rendered/hosts/studio/gate/launch.flags"
    flags.write_text(flags.read_text() + "-v=6\n")
    done = fleetc("verify", tmp_path, "--no-public")
    assert done.returncode == 1
    assert "recompile" in done.stderr
    assert fleet.number == -1
