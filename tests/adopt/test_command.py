"""`fleetc adopt` as people type it: what it writes, what it never writes over, and secrets that appear nowhere."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from tests.support import ROOT, fleetc

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
    done = fleetc("adopt", "gpu-1@192.0.2.5=start.sh", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the spec compiles" in done.stderr
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


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_secrets_appear_nowhere(tmp_path: Path, form: str) -> None:
    (tmp_path / "start.sh").write_text(SCRIPT)
    done = fleetc("adopt", "start.sh", "-o", "fleet.toml", "--report", form, cwd=tmp_path)
    written = (tmp_path / "fleet.toml").read_text()
    for secret in (PASSWORD, KEY):
        assert secret not in done.stdout + done.stderr + written
    assert 'password = { env = "SECRET_WORD" }' in written


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


def test_nothing_is_written_where_a_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text('livepeer -gateway "\n')
    done = fleetc("adopt", "start.sh", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert "error[adopt-source-unreadable]" in done.stderr
    assert not (tmp_path / "fleet.toml").exists()


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


def test_directory_is_read_whole_and_its_odd_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(
        "services:\n  g:\n    image: livepeer/go-livepeer:v0.9.1\n    env_file: g.env\n    network_mode: host\n"
        "    command: -gateway -orchAddr ${O}\n"
    )
    (tmp_path / "g.env").write_text("LP_V=7\n")
    (tmp_path / ".env").write_text("O=orch.example.net:8935\n")
    (tmp_path / "picture.sh").write_bytes(b"\xff\x00")
    done = fleetc("adopt", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'orchestrators = ["orch.example.net:8935"]' in done.stdout
    assert "verbosity = 7" in done.stdout


def test_page_that_shows_nodes_is_passed_over_unless_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "NOTES.md").write_text("# Box\n\n```bash\nlivepeer -gateway -orchAddr o.example.net:8935\n```\n")
    alone = fleetc("adopt", ".", cwd=tmp_path)
    assert alone.returncode == 1
    assert "besides NOTES.md, which is read only where it is named itself" in alone.stderr
    (tmp_path / "README.md").write_text("# livepeer\n")
    (tmp_path / "start.sh").write_text("livepeer -transcoder -orchAddr o.example.net:8935\n")
    said = "passed over NOTES.md: it shows commands of nodes; name it as a source to adopt them"
    done = fleetc("adopt", ".", "--report", "text", cwd=tmp_path)
    assert said in done.stderr and "README.md" not in done.stderr
    assert "NOTES.md:4: the file: dropped: it shows commands of nodes, and nobody named it" in done.stdout
    named = fleetc("adopt", ".", "NOTES.md", cwd=tmp_path)
    assert "passed over" not in named.stderr
    assert "[gateways.notes]" in named.stdout and "[transcoders.transcoder]" in named.stdout


@pytest.mark.parametrize(
    "text",
    ["It's one box.\nlivepeer -gateway\n", "  501  livepeer -transcoder -orchAddr o.example.net:8935\n"],
)
def test_loose_text_that_is_no_script_is_passed_over_unless_it_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.txt").write_text(text)
    (tmp_path / "start.sh").write_text("livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret /s -nvidia 0\n")
    done = fleetc("adopt", ".", "--report", "text", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "passed over notes.txt: " in done.stderr and "name it as a source" in done.stderr
    assert f"notes.txt:{text.count('box') + 1}: the file: dropped: " in done.stdout
    assert fleetc("adopt", "start.sh", "notes.txt", cwd=tmp_path).returncode == 1
    (tmp_path / "notes.txt").rename(tmp_path / "other.sh")
    assert fleetc("adopt", ".", cwd=tmp_path).returncode == 1


def test_tree_that_came_of_the_sources_is_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("livepeer -gateway -orchAddr orch.example.net:8935\n")
    sources = "edge@192.0.2.10=."
    assert fleetc("adopt", sources, "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    done = fleetc("compile", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = fleetc("adopt", sources, "--compare", "fleet.toml", cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "passed over rendered: fleetc compiled it from a spec" in again.stderr
    (tmp_path / "start.sh").unlink()
    refused = fleetc("adopt", sources, cwd=tmp_path)
    assert "has no file that could start a node besides rendered, which fleetc compiled" in refused.stderr
    named = fleetc("adopt", "rendered", cwd=tmp_path)
    assert named.returncode == 0 and "[gateways.gateway]" in named.stdout


def test_a_whole_tree_of_ours_is_a_source_and_its_pages_are_none(tmp_path: Path) -> None:
    tree = ROOT / "inventories" / "demo" / "rendered"
    assert (tree / "FLEET.md").is_file()
    done = fleetc("adopt", tree, "-o", tmp_path / "fleet.toml")
    assert done.returncode == 0, done.stderr
    nodes = tomllib.loads((tmp_path / "fleet.toml").read_text(encoding="utf-8"))
    assert nodes["gateways"].keys() == {"gate"} and nodes["orchestrators"].keys() == {"orch"}


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


def test_runner_flags_of_a_model_that_is_not_warm_are_accounted_for(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(
        "livepeer -aiWorker -orchAddr o.example.net:8935 -orchSecret /run/s -nvidia 0 -aiModels m.json\n"
    )
    (tmp_path / "m.json").write_text(
        '[{"pipeline": "text-to-image", "model_id": "a/b", "optimization_flags": {"SFAST": true}}]'
    )
    done = fleetc("adopt", "start.sh", "m.json", "--report", "text", cwd=tmp_path)
    told = "optimization_flags of a/b: dropped: only models that are kept warm have flags of their runner"
    assert told in done.stdout


def test_name_of_a_fleet_is_none_of_in_place() -> None:
    done = fleetc("adopt", "--in-place", "gpu-1", "fleet.toml", "--name", "kyoto")
    assert done.returncode == 2 and "--in-place takes a host and its spec" in done.stderr


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
    assert "README.md is named for fra-1 and for fra-2: part it, or name it without a host" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "asks"),
    [
        ("all.yml", 'lp_version: "0.8.9"\n', False),
        ("inventory.ini", "[orchestrators]\no-1 ansible_host=192.0.2.10 ansible_user=deploy ansible_port=2022\n", True),
    ],
)
def test_sources_that_start_nothing_are_named_without_a_line(name: str, text: str, asks: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    done = fleetc("adopt", name, cwd=tmp_path)
    assert done.returncode == 1
    assert f"--> {name}\n" in done.stderr and "not shown" not in done.stderr
    assert ("or ask the host: fleetc adopt --from o-1=deploy@192.0.2.10:2022" in done.stderr) is asks
