"""What a rule may take: steps, memory, time, depth; and what its process can do besides running it: nothing."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

from fleetc.policy.sandbox import run as sandbox
from tests.policy.support import FLEET, judged, policies, shown, write
from tests.support import ROOT, fleetc

pytestmark = pytest.mark.usefixtures("processes")

DEMO = str(ROOT / "inventories/demo")

GREEDY = {
    "loops": ("def check(fleet):\n    for i in range(2000000000):\n        fleet.counts\n    return []\n", 2, "steps"),
    "recurses": ("def f(x):\n    return f(x + 1)\n\ndef check(fleet):\n    return f(1)\n", 2, "nested too deeply"),
    "grows": ("def check(fleet):\n    x = []\n    for i in range(10000000): x.append([i])\n", 3, "256 MiB"),
    "text-of-a-gigabyte": (
        'def check(fleet):\n    x = "a" * 1000\n    y = x * 1000000\n    return [y]\n',
        3,
        "256 MiB",
    ),
    "list-of-a-gigabyte": ("def check(fleet):\n    x = [0] * 200000000\n    return [x]\n", 2, "256 MiB"),
    "top-level": ('x = "a" * 1000000000\ndef check(fleet):\n    return []\n', 2, "256 MiB"),
}


def test_greedy_rule_is_an_error_at_its_line_and_others_run_on() -> None:
    good = 'def check(fleet):\n    return [finding("fleet.name", "still here", severity = "warning")]\n'
    said = shown({**{name: text for name, (text, _, _) in GREEDY.items()}, "zz-last": good}).split("\n\n")
    assert any("still here" in each for each in said)
    for name, (_, line, words) in GREEDY.items():
        (block,) = [each for each in said if f"policy/{name}.star:" in each]
        assert block.startswith(f"error[policy-limit]: the rule {name} "), block
        assert words in block.splitlines()[0], block
        assert f"policy/{name}.star:{line}:" in block, block


def test_same_rule_ends_at_the_same_step_each_time() -> None:
    rule = "def check(fleet):\n    n = 0\n    for i in range(2000000000):\n        n = i % 7\n    return []\n"
    said = shown({"loops": rule})
    assert "takes more than 100 million steps" in said
    assert said == shown({"loops": rule})


def test_one_step_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_SECONDS", 1)
    monkeypatch.setattr(sandbox, "_TRACE_SECONDS", 1)
    rule = "def check(fleet):\n    x = 3\n    for i in range(28):\n        x = x * x\n    return [x % 7]\n"
    said = shown({"slow": rule})
    assert "error[policy-limit]: the rule slow takes" in said
    assert "policy/slow.star:" in said


def test_all_rules_together_have_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_ALL_SECONDS", 0)
    said = shown({"first": "def check(fleet):\n    return []\n"})
    assert "could not run: the rules before it took all the time there is" in said


def test_rule_changes_nothing_that_the_next_one_sees() -> None:
    first = "def check(fleet):\n    fleet.counts = {}\n"
    second = 'def check(fleet):\n    fleet.gateways["gate"]["host"] = "x"\n'
    third = 'def check(fleet):\n    fleet.spec["hosts"].clear()\n'
    last = (
        'def check(fleet):\n    return [finding("fleet.name", fleet.gateways["gate"]["host"], severity = "warning")]\n'
    )
    said = shown({"a-first": first, "b-second": second, "c-third": third, "d-last": last})
    assert said.count("fails: Immutable") == 2
    assert "warning[policy/d-last]: edge" in said


def test_process_has_no_environment_no_files_and_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probe = (
        "import json, os\n"
        "links = [f'/proc/self/fd/{fd}' for fd in os.listdir('/proc/self/fd') if int(fd) > 2]\n"
        "print(json.dumps([sorted(os.environ), os.getcwd(), [os.readlink(e) for e in links if os.path.lexists(e)]]))\n"
    )
    (tmp_path / "worker.py").write_text(probe)
    monkeypatch.setattr(sandbox, "__file__", str(tmp_path / "run.py"))
    monkeypatch.setenv("FLEETC_COMMENT_TOKEN", "very-secret")
    with (tmp_path / "open.txt").open("w") as held:
        held.flush()
        output, status, late = sandbox._process(b"{}\n", [], 20)
    assert (status, late) == (0, False)
    environment, place, files = json.loads(output)
    assert environment in ([], ["LC_CTYPE"])  # Python sets that one itself
    assert (place, files) == ("/", [])


def test_process_can_open_nothing_once_rules_run() -> None:
    """Not the language, but the kernel keeps a rule that broke out of the interpreter from files and the network."""
    (packages,) = site.getsitepackages()
    worker = Path(sandbox.__file__).with_name("worker.py")
    attempts = {
        "read": "open('/etc/passwd')",
        "write": "open('/tmp/escaped', 'w')",
        "socket": "socket.socket()",
        "list": "os.listdir('/')",
        "pipe": "os.pipe()",
        "program": "subprocess.run(['/bin/true'], check=True)",
        "more memory": "bytearray(2 ** 31)",
    }
    code = (
        "import os, runpy, socket, subprocess, sys\n"
        "sys.argv = ['worker', '']\n"
        f"sys.path.append({json.dumps(packages)})\n"
        f"worker = runpy.run_path({json.dumps(str(worker))})\n"
        "memory = os.open('/proc/self/statm', os.O_RDONLY)\n"
        "worker['_give_up']({'memory': 2 ** 28}, memory)\n"
        "for attempt in sys.stdin.read().splitlines():\n"
        "    try:\n"
        "        exec(attempt)\n"
        "        print('DONE', attempt)\n"
        "    except (OSError, MemoryError) as refused:\n"
        "        print('refused', type(refused).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="\n".join(attempts.values()), capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["refused OSError"] * 6 + ["refused MemoryError"], done.stderr


def test_process_that_dies_without_a_word_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "worker.py").write_text("raise SystemExit(1)\n")
    monkeypatch.setattr(sandbox, "__file__", str(tmp_path / "run.py"))
    assert "the rule any ended the interpreter" in shown({"any": "def check(fleet):\n    return []\n"})


def test_without_the_interpreter_rules_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "find_spec", lambda name: None)
    assert "the interpreter of rules is not installed" in shown({"any": "def check(fleet):\n    return []\n"})


@pytest.mark.parametrize("words", [["check"], ["diff", "--against", DEMO], ["compile", "-o", "tree"]], ids=str)
def test_fleet_without_rules_imports_neither_starlark_nor_ansible(words: list[str], tmp_path: Path) -> None:
    code = f"import sys; from fleetc.__main__ import main; sys.argv = {['fleetc', words[0], DEMO, *words[1:]]}\n"
    code += "try:\n    main()\nfinally:\n"
    code += "    unwanted = ('starlark', 'fleetc.policy.sandbox', 'ansible')\n"
    code += "    print([name for name in sys.modules if name.startswith(unwanted)])\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr


@pytest.mark.parametrize("kind", ["link", "pipe", "directory", "large", "many", "folder-link"])
def test_only_regular_files_beside_the_spec_are_read(tmp_path: Path, kind: str) -> None:
    (outside := tmp_path / "outside").mkdir()
    (outside / "secret.star").write_text("TOKEN = very-secret\n")
    here = write(tmp_path / "here", {})
    folder = here / "policy"
    if kind == "link":
        (folder / "a.star").symlink_to(outside / "secret.star")
    elif kind == "pipe":
        os.mkfifo(folder / "a.star")
    elif kind == "directory":
        (folder / "a.star").mkdir()
    elif kind == "large":
        (folder / "a.star").write_text("#" * 70_000)
    elif kind == "many":
        for number in range(101):
            (folder / f"r{number}.star").write_text("def check(fleet): return []\n")
    else:
        folder.rmdir()
        folder.symlink_to(outside)
    done = fleetc("check", here)
    assert done.returncode == 1
    assert "error[policy-unreadable]" in done.stderr
    assert "very-secret" not in done.stderr


def test_policies_are_not_asked_by_what_only_looks(tmp_path: Path) -> None:
    here = write(tmp_path, {"no": 'def check(fleet):\n    return [finding("fleet.name", "never")]\n'})
    assert fleetc("todo", here).returncode == 0
    assert fleetc("check", here).returncode == 1


def test_large_view_gets_more_memory() -> None:
    hosts = "".join(f'\n[hosts.h{n}]\naddress = "192.0.2.1"\nruntime = "docker"\n' for n in range(2000))
    assert (
        policies({"a": "def check(fleet):\n    return [] if fleet.hosts else [1]\n"}).check(judged(FLEET + hosts)) == []
    )
