"""Attempts to get out: each rule here tries to read, write, call, keep or say what no rule may.

None may succeed. The token that they look for is in the environment, in a file and in the working directory. A rule
that succeeds says ESCAPED, or repeats the token, or leaves a file.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.policy.support import write
from tests.support import fleetc

pytestmark = pytest.mark.usefixtures("processes")

TOKEN = "canary-7f3a1c"
_SAY = 'def check(fleet):\n    return [finding("fleet.name", "ESCAPED " + str({}), severity = "warning")]\n'
_TOP = "{}\ndef check(fleet):\n    return [finding('fleet.name', 'ESCAPED', severity = 'warning')]\n"

SAYING = {
    "open-file": "open('token.txt').read()",
    "read-etc": "open('/etc/passwd')",
    "file-type": "file('/etc/passwd')",
    "import-call": "__import__('os').environ",
    "importlib": "importlib.import_module('os')",
    "eval": "eval('1')",
    "exec": "exec('import os')",
    "compile": "compile('1', 'a', 'eval')",
    "builtins": "__builtins__",
    "class-of-text": "''.__class__.__mro__",
    "class-of-list": "[].__class__",
    "getattr-class": "getattr([], '__class__')",
    "subclasses": "type('').__subclasses__()",
    "globals-of-function": "check.__globals__",
    "globals": "globals()",
    "locals": "locals()",
    "vars": "vars()",
    "format-attribute": "'{0.__class__}'.format(1)",
    "format-index": "'{0[__class__]}'.format(fleet)",
    "environment": "os.environ['FLEETC_COMMENT_TOKEN']",
    "getenv": "getenv('FLEETC_COMMENT_TOKEN')",
    "native-glob": "glob(['**'])",
    "read-file-of-build-tools": "read_file('token.txt')",
    "json-of-prelude": "json.decode('1')",
    "stack-of-prelude": "call_stack()",
    "breakpoint": "breakpoint()",
    "print": "print('x')",
    "pprint": "pprint('x')",
    "debug": "debug(fleet)",
    "clock": "time.now()",
    "random": "random.random()",
    "input": "input()",
    "hidden-side": "side_0",
    "hidden-text": "_text",
    "hidden-trace": "_trace(1)",
    "attribute-of-prelude": "finding.__self__",
    "secret-file-of-reference": "open(fleet.wallets['payer']['password']['host_file'])",
}
"""Expressions that a rule says the value of."""

TOP = {
    "import-statement": "import os",
    "from-statement": "from os import environ",
    "load-prelude": 'load("fleetc", "finding")',
    "load-file": 'load("/etc/passwd", "x")',
    "load-url": 'load("@http://example.net/x.star", "x")',
    "load-neighbour": 'load("other.star", "x")',
    "with-statement": "with open('x') as f: pass",
    "class-statement": "class A: pass",
    "try-statement": "try:\n    pass\nexcept: pass",
    "while-statement": "while True: pass",
    "async-statement": "async def f(): pass",
    "deep-lists": "x = " + "[" * 20_000 + "]" * 20_000,
    "deep-operators": "x = " + "-" * 30_000 + "1",
}
"""Statements at the top of a rule."""


def attempts() -> dict[str, str]:
    saying = {name: _SAY.format(expression) for name, expression in SAYING.items()}
    return saying | {name: _TOP.format(statement) for name, statement in TOP.items()}


def test_at_least_thirty_attempts_to_escape_and_none_succeeds(tmp_path: Path) -> None:
    tried = attempts()
    assert len(tried) >= 30
    here = write(tmp_path, tried)
    (here / "token.txt").write_text(TOKEN)
    before = set(tmp_path.rglob("*"))
    done = fleetc("check", here, "--format", "json", cwd=here, FLEETC_COMMENT_TOKEN=TOKEN)
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert TOKEN not in said
    assert set(tmp_path.rglob("*")) == before
    found = json.loads(done.stdout)["diagnostics"]
    failed = {each["message"].split(" ")[2] for each in found if each["code"] in ("policy-failed", "policy-limit")}
    succeeded = {each["code"] for each in found if each["code"].startswith("policy/") and "ESCAPED" in each["message"]}
    assert succeeded == set()
    assert failed == tried.keys()


def test_words_of_a_rule_are_text_in_every_form(tmp_path: Path) -> None:
    """A message is no escape sequence of a terminal, no command of a CI runner, no markup and no second line."""
    nasty = "\\u001b[2J\\n::set-output name=a::b\\n<script>alert(1)</script> \\u202e @alice [x](http://e.net) ##[error]"
    rule = f'def check(fleet):\n    return [finding("fleet.name", "{nasty}", "{nasty}", "warning")]\n'
    here = write(tmp_path, {"nasty": rule})
    for form in ("text", "json", "sarif", "github", "junit"):
        done = fleetc("check", here, "--format", form)
        said = done.stdout + done.stderr
        assert "\x1b" not in said
        assert "\u202e" not in said
        assert not any(line.startswith("::set-output") for line in said.splitlines())
        assert "##[error]" not in done.stdout or form in ("github", "text", "junit")


def test_secret_in_the_spec_is_not_repeated_by_a_rule(tmp_path: Path) -> None:
    key = "0x" + "4f3edf983ac636a65a842ce7c78d9aa706d3b113bce9c46f30d7d21715b23b1d"
    text = (write(tmp_path, {}) / "fleet.toml").read_text().replace('network = "arb', f'# {key}\nnetwork = "arb')
    rule = f'def check(fleet):\n    return [finding("fleet.name", "the key is {key}", severity = "warning")]\n'
    said = fleetc("check", write(tmp_path, {"leak": rule}, text))
    assert key not in said.stdout + said.stderr


@pytest.mark.parametrize("name", ["..", "a b", "a;rm", "-rf", "a\nb", "A", "ä", "a" * 61])
def test_name_of_a_rule_is_restricted(tmp_path: Path, name: str) -> None:
    here = write(tmp_path, {name: "def check(fleet): return []\n"})
    done = fleetc("check", here)
    assert done.returncode == 1
    assert "policy-invalid" in done.stdout


def test_place_of_a_finding_is_no_path_of_a_file(tmp_path: Path) -> None:
    rule = 'def check(fleet):\n    return [finding("../../../etc/passwd", "x"), finding(["/etc/passwd"], "x")]\n'
    done = fleetc("check", write(tmp_path, {"path": rule}))
    assert done.returncode == 1
    assert done.stdout.count("which is not in the spec") == 2
    assert "root:" not in done.stdout
