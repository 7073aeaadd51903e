"""`make demo-live`: it shows what it should, and ends all that it started, also when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.demo_live import __main__ as demo
from tests.farm.sshd_host import needed
from tests.support import ROOT, killed_on_error

pytestmark = pytest.mark.usefixtures("processes")

VERIFY = "fleetc verify --no-public"
WELL = "2 hosts with 2 nodes asked: all of it is as reviewed"
SHOWN = [
    ("fleetc compile", ["rendered: "]),
    ("git init --quiet", []),
    ("git add .", []),
    ("git commit --quiet --message 'The first release'", []),
    ("fleetc deploy", ["2 hosts: 2 deployed"]),
    (VERIFY, [WELL]),
    (demo.RAISE, []),
    ("fleetc compile", ["rendered: "]),
    ("git commit --quiet --all --message 'A higher price'", []),
    (
        "fleetc plan --observe",
        [
            "effects  compared with rendered/ of commit ",
            "price: asks 1400 wei / pixel instead of 1200 wei / pixel (+16.7 percent)",
            "restart: orch restarts: at most 4 live sessions drop",
        ],
    ),
    ("fleetc deploy", ["2 hosts: 1 deployed, 1 unchanged"]),
    (
        "fleetc rollback",
        [
            "worker goes back to the release ",
            "price: asks 1200 wei / pixel instead of 1400 wei / pixel (-14.3 percent)",
            "1 host: 1 rolled back",
        ],
    ),
    (
        VERIFY,
        [
            "error[other-release]: worker: rolled back to ",
            "so orch runs with other files than the spec; deploy would restart it: its files change (pricePerUnit=1400",
            "2 hosts with 2 nodes asked: 1 difference from what was reviewed",
            "help: revert the spec to what was rolled back to, or deploy the tree to bring its release back",
            "(exit code 1)",
        ],
    ),
    ("git revert --no-edit HEAD", []),
    (VERIFY, [WELL]),
    (VERIFY, ["gate: it says that maxPricePerUnit is 1000 instead of 1500", "fleet.toml:48:13", "(exit code 1)"]),
    (f"{VERIFY} --format html -o fleet.html", ["2 hosts with 2 nodes asked", "(exit code 1)"]),
    ("fleetc streams", ["1 stream: 1 missing", "(exit code 1)"]),
    ("fleetc streams --apply", ["evening: created (the service accepted 1 request)"]),
    ("fleetc streams", ["1 stream: 1 in_sync"]),
    (
        "fleetc diagnose edge/gate",
        [
            "error[gateway-cap-below-every-price]",
            "The node dropped offers above 1000 wei / pixel, which is not its cap in the spec (1500 wei / pixel)",
            "fleetc verify tells which. The cheapest offer in the log, 1224 wei / pixel, is within the spec's",
        ],
    ),
]
"""Commands in their order, with some of what each says."""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Where the demo keeps what is not for people; all that it starts is named by this directory."""
    if missing := needed():
        pytest.skip(f"make demo-live cannot run here: {missing}")
    made = tmp_path / "work"
    made.mkdir()
    return made


def started(directory: Path, work: Path, *options: str) -> subprocess.Popen[str]:
    """The command of the target, with the signals of a terminal of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.demo_live", str(directory), *options],
        cwd=ROOT, env={**os.environ, "TMPDIR": str(work)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip


def left(work: Path) -> Iterator[str]:
    """Every process of the machine that has to do with the directory, and every file in there."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # one that ended meanwhile
            known = [(process / name).read_bytes() for name in ("cmdline", "environ")]
            known += [bytes((process / name).readlink()) for name in ("cwd", "exe")]
            if int(process.name) != os.getpid() and any(bytes(work) in content for content in known):
                yield known[0].decode()
    yield from map(str, work.iterdir())


@pytest.mark.outer
def test_demo_shows_the_commands_and_leaves_nothing_but_the_fleet(tmp_path: Path, work: Path) -> None:
    with killed_on_error(started(tmp_path / "fleet", work)) as demo_live:
        said, _ = demo_live.communicate(timeout=600)
    assert demo_live.returncode == 0, said
    shown = [part.partition("\n")[::2] for part in said.split("\n$ ")[1:]]
    assert [command for command, _ in shown] == [command for command, _ in SHOWN]
    for (command, text), (_, expected) in zip(shown, SHOWN, strict=True):
        assert [words for words in expected if words not in text] == [], f"{command} says {text}"
    assert "Traceback" not in said
    assert "maxPricePerUnit" in (tmp_path / "fleet/fleet.html").read_text(encoding="utf-8")
    assert list(left(work)) == []


@pytest.mark.slow
def test_kept_hosts_are_there_for_another_shell_and_end_with_ctrl_c(tmp_path: Path, work: Path) -> None:
    with killed_on_error(started(tmp_path / "fleet", work, "--keep")) as demo_live:
        assert demo_live.stdout is not None
        lines = iter(demo_live.stdout)
        assert any("All of it stays until you press Ctrl-C here" in line for line in lines)
        cd, source = [line.strip() for line in (next(lines), next(lines), next(lines)) if line.strip()]
        script = f"{cd} && {source} && {demo.RAISE} && fleetc compile && fleetc plan --observe && fleetc deploy"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "(+16.7 percent)" in done.stdout and "2 hosts: 1 deployed, 1 unchanged" in done.stdout
        os.killpg(demo_live.pid, signal.SIGINT)
        said = "".join(lines)
    assert demo_live.wait() == 0, said
    assert "All that was started has ended." in said
    assert list(left(work)) == []


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_a_rollout_ends_all_of_it(tmp_path: Path, work: Path) -> None:
    with killed_on_error(started(tmp_path / "fleet", work)) as demo_live:
        assert demo_live.stdout is not None
        assert any("has the release" in line for line in demo_live.stdout)
        os.killpg(demo_live.pid, signal.SIGINT)
        said, _ = demo_live.communicate(timeout=120)
    assert demo_live.returncode == 130, said
    assert said.endswith("\ndemo-live: interrupted; all that was started has ended\n")
    assert "Traceback" not in said
    assert list(left(work)) == []


def test_machine_without_the_parts_is_told_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "needed", lambda: "not installed: sshd")
    assert demo.main([str(tmp_path / "fleet")]) == 2
    said = capsys.readouterr().err
    assert "cannot start hosts here: not installed: sshd\nmake demo-live needs root, sshd, unshare, gcc" in said
    assert not (tmp_path / "fleet").exists()


def test_directory_with_something_in_it_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").touch()
    assert demo.main([str(tmp_path)]) == 2
    assert "is not empty: remove it, or name another directory" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
