"""Specs of several files: what is included, from where, and what is refused at the line that includes it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fleetc.toml.including import fault, matches
from tests.support import example_text, fleetc

pytestmark = pytest.mark.usefixtures("processes")

INCLUDE = 'include = ["regions/*.toml"]\n'


@pytest.fixture
def split(tmp_path: Path) -> Path:
    """The example two-regions with its American tables in a file of their own."""
    blocks = example_text("two-regions").split("\n[")
    mine = [block for block in blocks if not block.startswith(("hosts.us-", "gateways.us-", "orchestrators.us-"))]
    others = [block for block in blocks if block not in mine]
    text = "\n[".join(mine).replace("spec = 1\n", f"spec = 1\n{INCLUDE}", 1)
    (tmp_path / "regions").mkdir()
    (tmp_path / "fleet.toml").write_text(text, encoding="utf-8")
    (tmp_path / "regions/us.toml").write_text("".join(f"[{block}\n" for block in others), encoding="utf-8")
    return tmp_path


def check(directory: Path) -> str:
    return fleetc("check", cwd=directory).stdout


def test_a_split_spec_compiles_to_the_same_hosts(split: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    whole = tmp_path_factory.mktemp("whole")
    (whole / "fleet.toml").write_text(example_text("two-regions"), encoding="utf-8")
    for place in (split, whole):
        assert fleetc("compile", cwd=place).returncode == 0
    subprocess.run(["diff", "-r", split / "rendered/hosts", whole / "rendered/hosts"], check=True)
    copy = split / "rendered/spec/parts/regions/us.toml"
    assert copy.read_bytes() == (split / "regions/us.toml").read_bytes()
    assert fleetc("compile", "--check", cwd=split).returncode == 0


def test_lines_of_an_included_file_answer_why_and_check(split: Path) -> None:
    part = split / "regions/us.toml"
    line = part.read_text().splitlines().index('price = "1300 wei / pixel"') + 1
    fleetc("compile", cwd=split)
    assert f"regions/us.toml:{line}:9" in fleetc("why", "us-video-1", "-pricePerUnit", cwd=split).stdout
    assert "orchestrators.us-video-1.price" in fleetc("why", f"regions/us.toml:{line}", cwd=split).stdout
    before = part.read_text()
    part.write_text(before.replace('"16 GiB"', '"16GiB"', 1))
    fixed = fleetc("check", "--fix", cwd=split)
    assert "regions/us.toml" in fixed.stderr
    assert part.read_text() == before


def test_reviews_read_included_files_of_a_revision_and_of_a_tree(split: Path) -> None:
    person = {f"GIT_{who}_{what}": "a@example.net" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    fleetc("compile", cwd=split)
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=split, env={**os.environ, **person}, check=True)
    part = split / "regions/us.toml"
    part.write_text(part.read_text().replace("1300 wei", "1350 wei"))
    for against in ([], ["--against", "main"]):
        shown = fleetc("diff", *against, cwd=split).stdout
        assert "asks 1350 wei / pixel instead of 1300 wei / pixel" in shown
        assert "--> regions/us.toml:" in shown


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (lambda place: (place / "regions/x.toml").symlink_to("/etc/passwd"), "regions/x.toml is a link"),
    "a directory that is a link": (lambda place: (place / "regions").rename(place / "real"), "no file is named"),
    "a pipe": (lambda place: os.mkfifo(place / "regions/x.toml"), "regions/x.toml is not a regular file"),
    "nothing": (lambda place: (place / "regions/us.toml").unlink(), "no file is named regions/*.toml"),
    "spec once more": (
        lambda place: (place / "regions/x.toml").write_text("spec = 1\n"),
        "only the spec itself may have spec",
    ),
    "include inside": (
        lambda place: (place / "regions/x.toml").write_text(INCLUDE),
        "only the spec itself may have include",
    ),
    "a table twice": (
        lambda place: (place / "regions/x.toml").write_text("[hosts.us-edge]\n"),
        "hosts.us-edge is in two files of this spec",
    ),
    "a whole table twice": (
        lambda place: (place / "regions/x.toml").write_text('[fleet]\nname = "x"\n'),
        "fleet is in two files of this spec",
    ),
    "no TOML": (lambda place: (place / "regions/x.toml").write_text("[hosts\n"), "regions/x.toml:1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_included_is_an_error(split: Path, name: str) -> None:
    spoil, message = REFUSED[name]
    spoil(split)
    if name == "a directory that is a link":
        (split / "regions").symlink_to("real")
        message = "regions is a link"
    shown = check(split)
    assert message in shown
    assert "error[" in shown
    assert fleetc("compile", cwd=split).returncode == 1
    assert not (split / "rendered").exists()


@pytest.mark.parametrize(
    "pattern",
    ["/etc/x.toml", "../x.toml", "a/../../x.toml", "**/x.toml", "x.txt", "a b.toml", ".hidden.toml", "a//b.toml", 1],
)
def test_patterns_stay_below_the_spec(split: Path, pattern: str | int) -> None:
    assert fault(pattern)
    text = (split / "fleet.toml").read_text()
    (split / "fleet.toml").write_text(text.replace(INCLUDE, f"include = [{pattern!r}]\n"))
    shown = check(split)
    assert "error[include-invalid]" in shown
    assert "  --> fleet.toml:4:12" in shown or " --> fleet.toml:4:12" in shown


def test_a_spec_does_not_include_itself(split: Path) -> None:
    text = (split / "fleet.toml").read_text()
    (split / "fleet.toml").write_text(text.replace(INCLUDE, 'include = ["*.toml", "regions/*.toml"]\n'))
    assert "fleet.toml is the spec itself" in check(split)


def test_a_star_stays_within_one_name() -> None:
    assert matches("regions/*.toml", "regions/eu.toml")
    assert not matches("regions/*.toml", "regions/a/eu.toml")
    assert not matches("*/x.toml", ".git/x.toml")
    assert not matches("*.toml", "regions/eu.toml")
