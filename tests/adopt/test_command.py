"""`fleetc adopt` as people type it: what it writes, what it never writes over, and secrets that appear nowhere."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from tests.support import fleetc

PASSWORD = "hunter2-of-the-gateway"
KEY = "AbCdEfGhIjKlMnOpQrStUv12345678xy"
SCRIPT = f"""\
#!/bin/sh
SECRET_WORD={PASSWORD}
docker run -d --name livepeer-orch --network host -v /srv/lp:/root/.lpData livepeer/go-livepeer:v0.9.1 \\
  -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://arb-mainnet.g.alchemy.com/v2/{KEY} \\
  -ethAcctAddr 0x2222222222222222222222222222222222222222 -ethPassword "$SECRET_WORD" \\
  -serviceAddr orch.example.net:8935 -pricePerUnit 900 -reward false -monitor
"""


def test_script_becomes_a_spec_that_compiles(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(SCRIPT)
    funds = ("--set", "wallets.earner.keystore=/srv/keys")
    done = fleetc("adopt", "gpu-1@192.0.2.5=start.sh", "-o", "fleet.toml", *funds, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "start.sh:6" in done.stderr  # where -reward takes no word
    assert fleetc("check", cwd=tmp_path).returncode == 0
    assert fleetc("fmt", "--check", cwd=tmp_path).returncode == 0
    assert 'address = "192.0.2.5"' in (tmp_path / "fleet.toml").read_text()


def test_a_dash_is_standard_output(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("livepeer -gateway -orchAddr a.example.net:1\n")
    done = fleetc("adopt", "start.sh", "-o", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tomllib.loads(done.stdout)["gateways"]) == ["gateway"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["start.sh"]


def test_report_accounts_for_each_word_behind_the_program(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(SCRIPT)
    report = json.loads(fleetc("adopt", "start.sh", "--report", "json", cwd=tmp_path).stdout)
    shown = " ".join(row["word"] for row in report["words"])
    for flag in ("orchestrator", "transcoder", "network", "ethUrl", "ethAcctAddr", "ethPassword", "serviceAddr",
                 "pricePerUnit", "reward", "monitor"):  # fmt: skip
        assert f"-{flag}" in shown
    ignored = [row["word"] for row in report["words"] if row.get("code") == "adopt-words-ignored"]
    assert ignored == ["false", "-monitor"]
    assert all(row["reason"] for row in report["differences"])
    assert report["compared"] > 40


def test_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("livepeer -gateway -orchAddr a.example.net:1\n")
    assert fleetc("adopt", "start.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    before = (tmp_path / "fleet.toml").read_text()
    assert fleetc("adopt", "start.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0  # it says the same
    (tmp_path / "fleet.toml").write_text(before + "# answered\n")
    done = fleetc("adopt", "start.sh", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert "error[adopt-output-exists]" in done.stderr
    assert (tmp_path / "fleet.toml").read_text().endswith("# answered\n")


@pytest.mark.parametrize("kind", ["fifo", "binary", "missing", "nul"])
def test_what_is_no_text_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "source"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind != "missing":
        path.write_bytes(b"\xff\xfe\x00\x01" if kind == "binary" else b"livepeer\0 -gateway")
    done = fleetc("adopt", "source", cwd=tmp_path)
    assert done.returncode == 1
    assert "error[adopt-source-unreadable]" in done.stderr
    assert "Traceback" not in done.stderr


def test_tree_that_came_of_the_sources_is_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("livepeer -gateway -orchAddr orch.example.net:8935\n")
    sources = "edge@192.0.2.10=."
    answers = ("--set", "fleet.node_release=v0.9.1", "--home", "/home/ann", "--set", "hosts.edge.node_user=ann")
    assert fleetc("adopt", sources, "-o", "fleet.toml", *answers, cwd=tmp_path).returncode == 0
    done = fleetc("compile", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = fleetc("adopt", sources, cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "passed over rendered: fleetc compiled it from a spec" in again.stderr
    (tmp_path / "start.sh").unlink()
    refused = fleetc("adopt", sources, cwd=tmp_path)
    assert "has no file that could start a node; rendered: fleetc compiled it from a spec" in refused.stderr
    named = fleetc("adopt", "rendered", cwd=tmp_path)
    assert named.returncode == 0 and "[gateways.gate" in named.stdout


def test_only_says_which_names_there_are(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(
        "services:\n"
        + "".join(
            f"  {name}:\n    image: livepeer/go-livepeer\n    command: -gateway -orchAddr o.example.net:8935\n"
            for name in ("gate-eu", "gate-us")
        )
    )
    done = fleetc("adopt", "compose.yaml", "--only", "nosuch", cwd=tmp_path)
    assert done.returncode == 1
    assert "no source starts a node of the names that --only gives" in done.stderr
    assert "the sources start gate-eu, gate-us" in done.stderr


@pytest.mark.parametrize("option", ["--home", "--directory"])
def test_a_folder_of_a_host_that_no_source_has_is_refused(option: str, tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("livepeer -gateway -network offchain -orchAddr 192.0.2.1:8935\n")
    done = fleetc("adopt", "fra-1=start.sh", option, "fra-9=/opt/x", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 2 and not (tmp_path / "fleet.toml").exists()
    assert done.stderr.endswith("no node of the sources is on fra-9; for --home and --directory, their host is fra-1\n")
    assert fleetc("adopt", "fra-1=start.sh", option, "fra-1=/opt/x", cwd=tmp_path).returncode == 0


def test_file_that_is_named_for_two_hosts_is_refused() -> None:
    """The last one would win, and nodes of the other host would move there."""
    done = fleetc("adopt", "fra-1=README.md", "fra-2=README.md")
    assert done.returncode == 2
    assert "README.md is named for fra-1 and for fra-2: it is of one host" in done.stderr


GATE = "livepeer -gateway -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -dataDir /srv/lp\n"


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("wallets.payer.deposit=0.5 ETH", 'deposit = "0.5 ETH"'),
        ("wallets.payer.password=host_file /etc/lp/pw", 'password = { host_file = "/etc/lp/pw" }'),
        ('wallets.payer.password={ vault = "pw" }', 'password = { vault = "pw" }'),
        ("gateways.gateway.verbosity=7", "verbosity = 7"),
        ("fleet.node_release=v0.9.1", 'node_release = "v0.9.1"'),
        ("fleet.name=kyoto", 'name = "kyoto"'),
    ],
)
def test_an_answer_stands_in_the_spec_and_its_question_is_gone(answer: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(GATE)
    done = fleetc("adopt", "start.sh", "--set", answer, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert line in done.stdout.split("\n")
    key = answer.partition("=")[0].rpartition(".")[2]
    assert f"# TODO {key}" not in done.stdout


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("deposit", "'deposit' is no TABLE.KEY=VALUE"),
        ("wallet.payer.deposit=1 ETH", 'did you mean "wallets"'),
        ("wallets.payr.deposit=1 ETH", 'did you mean "payer"'),
        ("wallets.payer=1 ETH", "wallets.payer is a table"),
        ("wallets.payer.deposit=much", "wallets.payer.deposit: "),
        ("wallets.payer.depositt=1 ETH", "wallets.payer.depositt: "),
    ],
)
def test_an_answer_that_cannot_be_taken_is_wrong_usage(answer: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(GATE)
    done = fleetc("adopt", "start.sh", "--set", answer, "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "--set: " in done.stderr and words in done.stderr
    assert not (tmp_path / "fleet.toml").exists()


def test_first_screen_of_one_node_has_at_most_25_lines_and_money_comes_first(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(
        "services:\n  orch:\n    image: livepeer/go-livepeer:v0.9.1\n    environment: { A: b, C: d }\n"
        "    command: -orchestrator -transcoder -network arbitrum-one-mainnet -serviceAddr 0.0.0.0:8935 -orchSecret s"
        " -pricePerUnit 1,5 -cliAddr 0.0.0.0:7935 -reward false -v 6\n"
    )
    done = fleetc("adopt", "compose.yaml", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("wrote fleet.toml: 1 node, ")
    assert len(lines) <= 25, done.stderr
    assert lines[-2].startswith("next: answer the TODO lines")


def test_report_says_only_what_was_compared(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(
        "livepeer -transcoder -orchAddr orch.example.net:8935 -dataDir /srv/lp -nvidia 0\n"
    )
    report = json.loads(fleetc("adopt", "start.sh", "--report", "json", cwd=tmp_path).stdout)
    assert {"node": "transcoder", "flag": "orchSecret"} in report["waiting"]
    (question,) = (one for one in report["questions"] if one["place"][-1] == "secret")
    assert question["place"] == ["transcoders", "transcoder", "secret"] and question["kind"] and question["text"]
    assert report["differences"] == [one for one in report["differences"] if one["reason"]]


def test_no_host_is_read_without_a_yes(tmp_path: Path) -> None:
    done = fleetc("adopt", "--from", "gpu-1=127.0.0.1:1", "-o", "other.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "add --yes" in done.stderr and "could not be reached" not in done.stderr
    assert not (tmp_path / "other.toml").exists()


@pytest.mark.usefixtures("processes")
def test_host_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    done = fleetc("adopt", "--from", "gpu-1=nobody@127.0.0.1:1", "--yes", cwd=tmp_path)
    assert done.returncode == 3
    assert "error[adopt-host-unread]: host gpu-1" in done.stderr
