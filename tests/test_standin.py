"""The stand-in for the node refuses what the real node refuses, as the independent model of the node has it.

The stand-in is built with gcc from the table of flags. Both read the same words and variables: those of every process
of the example fleets, and hundreds of damaged ones.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fleetc import lower
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source
from tests.node import StartupError, broken_rules, read
from tests.node.parsing import node_flags, variable_of
from tests.standin import gcc_words, header

pytestmark = pytest.mark.usefixtures("processes")

INVENTORIES = Path(__file__).parent.parent / "inventories"
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

STATUS = {
    **{"P1": 2, "P2": 2, "P3": 1, "exit-0": 0},
    **{"R01": 1, "R02": 1, "R03": 1, "R09": 2, "R11": 2, "R23": 1, "R41": 2, "R76": 1, "R92": 1},
}
"""The rules of the model that the stand-in knows, and how the node ends by them; a panic ends with 2."""
MUTATIONS = 400
LITERALS = ("", "x", "1", "-1", "0x10", "010", "09", "1e3", "3.0", "true", "T", "5s", "1m30s", "5", "auto")


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("standin")
    done = subprocess.run(gcc_words(place, place / "livepeer"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place / "livepeer"


def ends(program: Path, words: Sequence[str], env: Mapping[str, str]) -> tuple[int, str]:
    """Exit status and the first line, of a run that ends where it would listen."""
    env = {"HOME": "/root", **env, "STANDIN_CHECK_ONLY": "1"}
    done = subprocess.run([program, *words], env=env, capture_output=True, text=True, timeout=20, check=False)
    return done.returncode, (done.stdout or done.stderr).partition("\n")[0]


def expected(words: Sequence[str], env: Mapping[str, str]) -> set[int]:
    """The exit statuses that the model allows; 0 for a process that starts."""
    try:
        broken = broken_rules(read(words, {"HOME": "/root", **env}))
    except StartupError as refused:
        return {STATUS[rule] for rule in refused.rules}
    return {STATUS[rule] for rule in broken if rule in STATUS} or {0}


def processes() -> list[tuple[str, list[str], dict[str, str]]]:
    """Every process of the example fleets: its name, words and variables; secrets are a word."""
    found = []
    for spec in sorted(INVENTORIES.glob("*/fleet.toml")):
        fleet = check_spec([Source(str(spec), spec.read_text(encoding="utf-8"))]).fleet
        assert fleet is not None
        for host in lower.lower(fleet).hosts:
            for service in host.services:
                env = {v.name: v.value for v in service.variables} | {s.name: "secret" for s in service.secrets}
                words = [argument.text for argument in service.arguments]
                found.append((f"{spec.parent.name}/{service.name}", words, env))
    return found


PROCESSES = processes()


@needs_gcc
@pytest.mark.parametrize(("name", "words", "env"), PROCESSES, ids=[name for name, _, _ in PROCESSES])
def test_every_process_of_the_example_fleets_starts(
    name: str, words: list[str], env: dict[str, str], standin: Path
) -> None:
    assert ends(standin, words, env) == (0, "")


@needs_gcc
@pytest.mark.parametrize(
    ("words", "env", "status", "line"),
    [
        (["-nope=1"], {}, 2, "flag provided but not defined: -nope"),
        (["-maxsessions=1"], {}, 2, "flag provided but not defined: -maxsessions"),
        (["---gateway"], {}, 2, "bad flag syntax: ---gateway"),
        (["-gateway=yes"], {}, 2, 'invalid value "yes" for flag -gateway: parse error'),
        (["-gateway", "-maxAttempts=3.0"], {}, 2, 'invalid value "3.0" for flag -maxAttempts: parse error'),
        (["-gateway", "-selectRandFreq=much"], {}, 2, 'invalid value "much" for flag -selectRandFreq: parse error'),
        (["-gateway", "-discoveryTimeout=500"], {}, 2, 'invalid value "500" for flag -discoveryTimeout: parse error'),
        (["-gateway", "-network"], {}, 2, "flag needs an argument: -network"),
        (["-gateway"], {"LP_MONITOR": "yes"}, 1, 'Error parsing config: error setting flag "monitor"'),
        (["-network=arbitrum-one-mainnet", "-gateway"], {}, 1, "Need to specify an Ethereum node JSON-RPC URL"),
        ([], {}, 2, "No services enabled"),
        (["-orchestrator"], {}, 1, "Running an orchestrator requires an -orchSecret"),
        (["-remoteSigner"], {}, 2, "Remote signer mode requires on-chain network"),
        (["-gateway", "-maxSessions=auto"], {}, 1, "-maxSessions must be a positive number or auto"),
        (["-gateway", "stop", "-nope"], {}, 0, ""),
        (["-reward", "false", "-nope"], {}, 0, ""),
        (["-gateway=false", "--gateway=true"], {}, 0, ""),
        (["-orchestrator"], {"LP_ORCHSECRET": "secret"}, 0, ""),
        (["-help"], {}, 0, ""),
    ],
)
def test_what_the_node_refuses_ends_as_there(
    words: list[str], env: dict[str, str], status: int, line: str, standin: Path
) -> None:
    found, said = ends(standin, words, env)
    assert found == status
    assert said.startswith(line) and (line or not said)
    assert expected(words, env) == {status}


def damaged(words: Sequence[str], env: dict[str, str], chance: random.Random) -> tuple[list[str], dict[str, str]]:
    """The same process with one to three faults, or none that counts."""
    broken, variables = list(words), dict(env)
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(broken)) if broken else 0
        flag = chance.choice(sorted(set(node_flags()) - {"config", "datadir"}))
        literal = chance.choice(
            ["", "x", "1", "-1", "0x10", "010", "09", "1e3", "3.0", "true", "T", "5s", "1m30s", "5", "auto"]
        )
        match chance.randrange(7):
            case 0 if broken:
                del broken[place]
            case 1:
                broken.insert(place, chance.choice(["stop", "-", "--", "-nope", "--nope=1", "-=1"]))
            case 2 if broken:
                broken[place] = broken[place].swapcase()
            case 3 if broken:
                name, _, value = broken[place].partition("=")
                broken[place : place + 1] = [name, value]
            case 4:
                broken.insert(place, f"-{flag}={literal}")
            case 5:
                variables[variable_of(flag)] = literal
            case _ if variables:
                variables.pop(chance.choice(sorted(variables)))
    return broken, variables


@needs_gcc
def test_damaged_processes_end_as_the_model_says(standin: Path) -> None:
    chance, outcomes = random.Random(9), set[int]()
    for _ in range(MUTATIONS):
        name, words, env = chance.choice(PROCESSES)
        broken, variables = damaged(words, env, chance)
        status, line = ends(standin, broken, variables)
        assert status in expected(broken, variables), (name, broken, variables, line)
        outcomes.add(status)
    assert outcomes == {0, 1, 2}


def test_the_table_has_every_flag_with_its_type() -> None:
    text = header()
    assert "#define FLAG_COUNT 124\n" in text
    assert '    {"maxSessions", "LP_MAXSESSIONS", \'s\'},\n' in text
    assert '    {"discoveryTimeout", "LP_DISCOVERYTIMEOUT", \'d\'},\n' in text
