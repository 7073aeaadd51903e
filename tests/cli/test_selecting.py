"""--limit and --without: one meaning for every command that takes names of hosts."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
import typer

from fleetc.cli.shared.selecting import chosen
from tests.support import compile_text, example_text, fleetc

TEXT = example_text("two-regions").replace(
    "[hosts.us-ai]\n", '[classes.gpu-box.hosts]\nbecome = false\n\n[hosts.us-ai]\nlike = "gpu-box"\n'
)
COMPILED = compile_text(TEXT)
assert COMPILED.blueprint is not None, COMPILED.checked.diagnostics
EVERY = [host.name for host in COMPILED.blueprint.in_order]
US = ["us-ai", "us-edge", "us-gpu-1", "us-gpu-2"]


def selected(limit: list[str] | None = None, without: list[str] | None = None) -> list[str]:
    found = chosen(COMPILED, limit, without)
    assert [host for host in EVERY if host in found] == list(found), "in the order of the rollout"
    return sorted(found)


@pytest.mark.parametrize(
    ("limit", "without", "hosts"),
    [
        (None, None, []),
        (["us-ai"], None, ["us-ai"]),
        (["us-*"], None, US),
        (["region=us"], None, US),
        (["region=u?"], ["us-gpu-*"], ["us-ai", "us-edge"]),
        (["class=gpu-box"], None, ["us-ai"]),
        (["node=us-video-1"], None, ["us-gpu-1"]),
        (["us-ai", "node=us-video-*"], None, ["us-ai", "us-gpu-1", "us-gpu-2"]),
        (None, ["region=eu"], US),
        (None, ["us-ai"], sorted({*EVERY} - {"us-ai"})),
    ],
)
def test_hosts_by_what_they_have_in_common(
    limit: list[str] | None, without: list[str] | None, hosts: list[str]
) -> None:
    assert selected(limit, without) == hosts


@pytest.mark.parametrize(
    ("limit", "without", "words"),
    [
        (["us-gpu-3"], None, 'there is no host "us-gpu-3"; did you mean "us-gpu-'),
        (["as-*"], None, 'there is no host "as-*"'),
        (["region=uss"], None, 'there is no region "uss"; did you mean "us"?'),
        (["class=gpu-boxes"], None, 'there is no class "gpu-boxes"; did you mean "gpu-box"?'),
        (["node=us-video-11"], None, 'there is no node "us-video-11"; did you mean "us-video-1"?'),
        (["role=gateway"], None, '--limit takes HOST, "eu-*", region=, class= or node=, but not role=gateway'),
        (None, ["rack=1"], "--without takes HOST"),
        (None, ["us-gpu-3"], 'there is no host "us-gpu-3"'),
        (["us-*"], ["region=us"], "--without leaves no host"),
        (["*"], None, "--limit chooses every host: leave it out"),
    ],
)
def test_what_chooses_nothing_or_everything(
    limit: list[str] | None, without: list[str] | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises((typer.Exit, click.UsageError)) as refused:
        selected(limit, without)
    assert words in capsys.readouterr().err + str(refused.value)


@pytest.mark.usefixtures("processes")
def test_every_command_with_hosts_takes_both(tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text(TEXT, encoding="utf-8")
    assert fleetc("compile", tmp_path).returncode == 0
    for command in (("todo",), ("plan",), ("deploy", "--check"), ("verify",), ("rollback",)):
        done = fleetc(command[0], tmp_path, *command[1:], "--limit", "us-*", "--without", "us-gpu-9")
        assert (done.returncode, 'there is no host "us-gpu-9"' in done.stderr) == (2, True), done.stderr
    planned = fleetc("plan", tmp_path, "--limit", "region=us", "--without", "node=us-video-*")
    assert planned.returncode == 0 and "us-ai" in planned.stdout and "us-gpu-1" not in planned.stdout
    refused = fleetc("deploy", tmp_path, "--plan", "plan.json", "--without", "us-ai")
    assert refused.returncode == 2 and "a plan has its hosts, so it takes no --without" in refused.stderr
