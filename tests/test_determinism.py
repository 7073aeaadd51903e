"""Same input, same bytes: whatever the hash seed, locale, time zone, directory, order of tables or line ends."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
from pathlib import Path

import pytest

from fleetc.pipeline import compile_spec
from tests.support import ROOT, compile_text, fleetc_process, shipped, sources_of

pytestmark = pytest.mark.usefixtures("processes")

SPEC = ROOT / "inventories" / "two-regions"

ENVIRONMENTS = [
    {"PYTHONHASHSEED": "1"},
    {"PYTHONHASHSEED": "2", "TZ": "Pacific/Kiritimati"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "America/St_Johns"},
    {"COLUMNS": "20", "TERM": "dumb", "HOME": "/nonexistent", "USER": "somebody"},
]


def digest(directory: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            total.update(f"{path.relative_to(directory)} {path.stat().st_mode:o}\n".encode() + path.read_bytes())
    return total.hexdigest()


def compile_in(directory: Path, **environment: str) -> str:
    directory.mkdir(parents=True)
    shutil.copy(SPEC / "fleet.toml", directory)
    kept = {k: v for k, v in os.environ.items() if k in ("PATH",)}
    # Not isolated mode: it would make Python ignore the hash seed.
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "fleetc", "compile", str(directory), "-o", str(directory / "out")],
        cwd=ROOT, env=kept | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return digest(directory / "out")


def test_trees_are_equal_under_every_environment(tmp_path: Path) -> None:
    digests = {
        compile_in(tmp_path / f"place-{index}" / ("deep/" * index), **environment)
        for index, environment in enumerate(ENVIRONMENTS)
    }
    assert len(digests) == 1


def test_order_of_tables_does_not_matter() -> None:
    text = (SPEC / "fleet.toml").read_text(encoding="utf-8")
    head, *tables = re.split(r"(?m)^(?=\[)", text)
    shuffled = tables[:]
    random.Random(7).shuffle(shuffled)
    assert shuffled != tables
    first, second = compile_text(text), compile_text(head + "\n" + "\n".join(shuffled))
    assert first.tree is not None and second.tree is not None
    different = [
        a.path for a, b in zip(first.tree.artifacts, second.tree.artifacts, strict=True) if a.content != b.content
    ]
    assert different == ["spec/base.toml"], "only the spec itself may differ"


def test_crlf_spec_compiles_to_the_same_tree(tmp_path: Path) -> None:
    text = (SPEC / "fleet.toml").read_bytes()
    (tmp_path / "fleet.toml").write_bytes(text.replace(b"\n", b"\r\n"))
    windows = compile_spec(sources_of(tmp_path / "fleet.toml"), *shipped())
    plain = compile_spec(sources_of(SPEC / "fleet.toml"), *shipped())
    assert windows.tree == plain.tree


@pytest.mark.parametrize("command", ["check", "explain"])
def test_output_of_commands_does_not_depend_on_the_locale(command: str) -> None:
    arguments = [command, SPEC] if command == "check" else [command, "--schema", "spec"]
    runs = {
        (r.returncode, r.stdout, r.stderr)
        for r in (fleetc_process(*arguments, LC_ALL="C"), fleetc_process(*arguments, LC_ALL="C.UTF-8"))
    }
    assert len(runs) == 1


TRACED = """
import sys
from fleetc.emit import formats
from fleetc.toml.document import Source
from tests.support import compile_text, shipped

text = sys.stdin.read()
compiled = compile_text(text)
assert compiled.blueprint is not None, compiled.checked.diagnostics
page = formats.Drafts(compiled.blueprint, *shipped(), [Source("fleet.toml", text)]).find("FLEET.md")
for line in page.lines():
    print(line.text, line.origins, line.presence)
"""


def test_reasons_do_not_depend_on_the_hash_seed() -> None:
    """Workers of an orchestrator outside the fleet: several reasons for one node of the picture."""
    import subprocess
    import sys

    text = (ROOT / "inventories" / "ai-split" / "fleet.toml").read_text(encoding="utf-8")
    outside = 'orchestrator = "orch.example.org:8935"\nsecret = { host_file = "/etc/livepeer/secret" }'
    text = text.replace('orchestrator = "orch"', outside).replace('max_sessions = "auto"', "max_sessions = 8")
    runs = {
        subprocess.run(
            [sys.executable, "-c", TRACED],
            cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}, input=text, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(runs) == 1
    (line,) = [line for line in runs.pop().splitlines() if '(["orch' in line]
    assert all(f"'{worker}'" in line for worker in ("t-1", "t-2", "w-1", "w-2")), line
