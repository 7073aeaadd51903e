"""The stories of the example fleets: what they show of a spec is in it, and their commands print what they say.

In: each `inventories/NAME/README.md`. Out: nothing, or what differs. The snapshot of a story is the page itself:
`pytest --snapshot-update` writes into it what its commands print now. What the blocks of a story mean:

    ```toml          a part of the spec
    ```toml edit     a change of the spec, which the commands below it see
    ```sh            commands in the directory of the spec, which is compiled
    ```text          what the commands before it print
    ```sh start      commands in an empty directory
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests import forked
from tests.docs.test_pages import FENCE, blocks
from tests.support import EXAMPLES, INVENTORIES
from tests.test_golden import Committed

pytestmark = pytest.mark.usefixtures("processes")

TABLE = re.compile(r"^(?=\[)", re.MULTILINE)
SETTING = re.compile(r"^([\w-]+) = .*\n(?:[ \]}].*\n)*", re.MULTILINE)
"""A key with its value, in the form that `fleetc fmt` gives it: other lines of the value are indented or close it."""


class CommittedStory(Committed):
    """The page of a fleet."""

    entry = "README.md"


def story(name: str) -> str:
    return (INVENTORIES / name / CommittedStory.entry).read_text(encoding="utf-8")


def spec(name: str) -> str:
    return (INVENTORIES / name / "fleet.toml").read_text(encoding="utf-8")


def printed(script: str, place: Path) -> str:
    """What the commands of a block print in a directory, in the order of a terminal. None of them may fail."""
    said = []
    for line in script.splitlines():
        program, *words = shlex.split(line, comments=True)
        assert program == "fleetc", f"{line}: a story only runs fleetc"
        done = subprocess.run(
            [forked.program(), *words],
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, f"{line}: {done.stdout}"
        said.append(done.stdout)
    return "".join(said)


def edited(text: str, change: str) -> str:
    """A spec after a change: settings replace those of the same key, others and new tables come last."""
    parts = TABLE.split(text)
    for table in TABLE.split(change)[1:]:
        header = table.partition("\n")[0]
        here = [number for number, part in enumerate(parts) if part.startswith(f"{header}\n")]
        if not here:
            parts += ["\n", f"{table.rstrip()}\n"]
            continue
        for setting in SETTING.finditer(table):
            parts[here[0]] = with_setting(parts[here[0]], setting[1], setting[0])
    return "".join(parts)


def with_setting(table: str, key: str, setting: str) -> str:
    """A table of a spec with a setting in the place of that of the same key, or else behind its last one."""
    there = {found[1]: found.span() for found in SETTING.finditer(table)}
    end = max(span[1] for span in there.values())
    start, stop = there.get(key, (end, end))
    return table[:start] + setting + table[stop:]


def told(name: str, place: Path) -> str:
    """The story of a fleet with what its commands print today. Its own directory is copied as its readers would."""
    page, fleet, empty = story(name), place / "fleet", place / "empty"
    fleet.mkdir()
    empty.mkdir()
    printed(f"fleetc init --example {name}\nfleetc compile", fleet)
    assert (fleet / "README.md").read_text(encoding="utf-8") == page
    pieces, end, output = [], 0, ""
    for block in FENCE.finditer(page):
        match f"{block[1]}{block[2]}":
            case "toml edit":
                path = fleet / "fleet.toml"
                path.write_text(edited(path.read_text(encoding="utf-8"), block[3]), encoding="utf-8")
            case "sh":
                output = printed(block[3], fleet)
            case "sh start":
                output = printed(block[3], empty)
            case "text":
                pieces += [page[end : block.start(3)], output]
                end = block.end(3)
    return "".join([*pieces, page[end:]])


def is_part(part: Any, whole: Any) -> bool:
    """Whether every setting of a piece of TOML is in another one, with the same value."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in part.items())
    return bool(part == whole)


@pytest.mark.parametrize("name", EXAMPLES)
def test_story_prints_what_its_commands_print(name: str, snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    assert told(name, tmp_path) == snapshot.use_extension(CommittedStory)(name=name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_a_story_shows_of_a_spec_is_in_it(name: str) -> None:
    shown = [content for words, content in blocks(story(name), "toml") if not words]
    assert shown
    for content in shown:
        assert is_part(tomllib.loads(content), tomllib.loads(spec(name))), content
        assert {*content.splitlines()} <= {*spec(name).splitlines(), ""}, content


@pytest.mark.parametrize("name", EXAMPLES)
def test_story_has_one_page_a_review_and_a_beginning(name: str) -> None:
    page = story(name)
    assert 40 <= len(page.splitlines()) <= 105
    assert {words for _, words, _ in FENCE.findall(page)} <= {"", " edit", " start"}
    (change,) = (content for words, content in blocks(page, "toml") if words == "edit")
    assert not is_part(tomllib.loads(change), tomllib.loads(spec(name)))
    assert "fleetc diff" in page.split(change)[1]
    (start,) = (content for words, content in blocks(page, "sh") if words == "start")
    assert f"fleetc init --example {name}\n" in start
