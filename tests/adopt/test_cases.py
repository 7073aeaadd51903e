"""Small inputs for each class of mistake that adopting made once: what starts, what is secret, and what ends."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import pytest

from tests.support import fleetc

IMAGE = "image: livepeer/go-livepeer:v0.9.1"
BASE = f"services:\n  gate:\n    {IMAGE}\n    command: -gateway -network offchain -orchAddr o.example.net:8935\n"
CHAIN = f"-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethAcctAddr 0x{'2' * 40} -maxTicketEV 9"
LAYER = f"services:\n  gate:\n    command: -gateway {CHAIN} -orchAddr o.example.net:8935\n"
VERBOSE = "services:\n  gate:\n    command: -gateway -network offchain -orchAddr p.example.net:8935 -v 7\n"


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("files", "network", "orchestrator", "unused"),
    [
        # what `docker compose up` takes in a folder: its one file, with its one override file
        ({"compose.yml": BASE, "compose.onchain.yml": LAYER}, "offchain", "o", {"compose.onchain.yml"}),
        ({"docker-compose.yml": BASE, "docker-compose.prod.yml": LAYER, "docker-compose.dev.yaml": VERBOSE},
         "offchain", "o", {"docker-compose.prod.yml", "docker-compose.dev.yaml"}),
        ({"compose.yaml": BASE, "docker-compose.yml": VERBOSE}, "offchain", "o", {"docker-compose.yml"}),
        ({"compose.yaml": BASE, "compose.override.yaml": VERBOSE, "compose.chain.yaml": LAYER},
         "offchain", "p", {"compose.chain.yaml"}),
        # the files that COMPOSE_FILE names, in their order
        ({"compose.yml": BASE, "a.yml": LAYER, "b.yml": VERBOSE, ".env": "COMPOSE_FILE=compose.yml:a.yml\n"},
         "arbitrum-one-mainnet", "o", {"b.yml"}),
        ({"compose.yml": LAYER, "a.yml": BASE, "b.yml": VERBOSE, ".env": "COMPOSE_FILE='a.yml:b.yml'\n"},
         "offchain", "p", {"compose.yml"}),
        ({"compose.yml": LAYER, "a.yml": BASE, ".env": "COMPOSE_PATH_SEPARATOR=,\nCOMPOSE_FILE=a.yml\n"},
         "offchain", "o", {"compose.yml"}),
    ],
)  # fmt: skip
def test_a_folder_of_compose_files_is_what_the_tool_starts_there(
    files: dict[str, str], network: str, orchestrator: str, unused: set[str], tmp_path: Path
) -> None:
    put(tmp_path / "box", files)
    done = fleetc("adopt", "box", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    spec = tomllib.loads(done.stdout)
    assert spec["fleet"]["network"] == network
    assert [node["orchestrators"] for node in spec["gateways"].values()] == [[f"{orchestrator}.example.net:8935"]]
    assert ("wallets" in spec) == (network != "offchain")
    report = fleetc("adopt", "box", "--report", "text", "-o", "spec.toml", cwd=tmp_path)
    told = report.stdout + report.stderr
    assert all(name in told.replace("\\", "") for name in unused), told


WORD = "oak9mint"
NODE = "ExecStart=/usr/bin/livepeer -gateway -orchAddr o.example.net:8935"
HEAD = f"services:\n  g:\n    {IMAGE}\n"
RUNS = "livepeer/go-livepeer:v0.9.1 -gateway -orchAddr o.example.net:1\n"
OWN = "    command: -gateway -orchAddr o.example.net:8935\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.service", f"[Service]\nSetCredential=pw:{WORD}\n{NODE} -ethPassword %d/pw\n"),
        ("a.service", f"[Service]\nSetCredentialEncrypted=pw:{WORD}\n{NODE} -ethPassword %d/pw\n"),
        ("a.service", f"[Service]\nStandardInput=data\nStandardInputText={WORD}\n{NODE} -ethPassword /dev/stdin\n"),
        ("a.service", f"[Service]\nStandardInput=data\nStandardInputData={WORD}\n{NODE} -ethPassword /dev/stdin\n"),
        ("a.service", f"[Service]\nEnvironment=AUTH={WORD}\n{NODE}\n"),
        ("a.service", f'[Service]\nEnvironment="P1={WORD}" B={WORD}\n{NODE}\n'),
        ("a.service", f"[Service]\nMountImages=/a.raw:/b:password={WORD}\n{NODE}\n"),
        ("compose.yml", f"{HEAD}{OWN}    logging:\n      driver: splunk\n      options: {{splunk-token: {WORD}}}\n"),
        ("compose.yml", f"{HEAD}{OWN}    logging: {{driver: gelf, options: {{labels: {WORD}}}}}\n"),
        ("compose.yml", f"{HEAD}{OWN}    labels: {{basicauth: 'admin:{WORD}'}}\n"),
        ("compose.yml", f"{HEAD}{OWN}    environment: {{AUTH: {WORD}, N: {WORD}}}\n"),
        ("run.sh", f"docker run --log-opt splunk-token={WORD} {RUNS}"),
        ("run.sh", f"docker run -e PASS1={WORD} {RUNS}"),
        ("run.sh", f"AUTH={WORD} livepeer -gateway -orchAddr 'https://o.example.net:1/?t={WORD}'\n"),
    ],
)  # fmt: skip
def test_a_secret_is_neither_shown_nor_written(name: str, text: str, tmp_path: Path) -> None:
    put(tmp_path, {name: text})
    for more in ((), ("--report", "text"), ("--report", "json"), ("-o", "fleet.toml")):
        done = fleetc("adopt", name, *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert WORD not in done.stdout + done.stderr
    spec = (tmp_path / "fleet.toml").read_text()
    assert WORD not in spec and len(tomllib.loads(spec)["gateways"]) == 1


RUN = "livepeer -gateway -httpAddr :8935 -orchAddr o.example.net:8935\n"


@pytest.mark.parametrize(
    "files",
    [
        {"me.sh": f". ./me.sh\n. ./me.sh\n{RUN}"},
        {"me.sh": f"source me.sh; source ./me.sh\nbash me.sh\n{RUN}"},
        {"left.sh": ". ./right.sh\n. ./right.sh\n", "right.sh": f". ./left.sh\n{RUN}"},
        {"left.sh": ". ./right.sh\n", "right.sh": ". ./third.sh\n. ./third.sh\n", "third.sh": f". ./left.sh\n{RUN}"},
    ],
)
def test_scripts_that_read_each_other_end_and_are_named(files: dict[str, str], tmp_path: Path) -> None:
    put(tmp_path, files)
    begun = time.monotonic()
    done = fleetc("adopt", *files, cwd=tmp_path)
    assert time.monotonic() - begun < 20
    assert done.returncode == 0, done.stderr
    nodes = tomllib.loads(done.stdout)["gateways"].values()
    assert {tuple(node["orchestrators"]) for node in nodes} == {("o.example.net:8935",)}
    assert "adopt-branch-not-followed" in done.stderr
