"""The bytecode of the tests' contracts is that of their source."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.chain import HERE
from tests.outside_tools import node_package, program


@pytest.mark.outer
@pytest.mark.usefixtures("processes")
def test_bytecode_is_what_the_compiler_makes_of_the_source() -> None:
    solc, recorded = node_package("solc"), json.loads((HERE / "protocol.json").read_text())
    installed = json.loads((solc / "package.json").read_text())["version"]
    if installed != recorded["solc"]:
        pytest.skip(f"solc {installed} is installed, and protocol.json is by {recorded['solc']}")
    words = [program("node"), str(HERE / "compile.js"), str(solc), str(HERE / "protocol.sol")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == recorded
