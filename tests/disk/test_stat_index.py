"""The stat index: a compile that changes nothing is known at once, and the tree is right whatever becomes of the index.

Files, their times and the index are real. What a person, another program or a broken disk may do to them is drawn with
a fixed seed, many times.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tomli_w

from fleetc.disk.files import write_tree
from fleetc.disk.manifest import TICK_NS
from fleetc.disk.stat_index import Note, digest_of, index_file, unchanged
from fleetc.emit.tree import MANIFEST, Tree
from tests.disk.test_files import contents, fleet_tree, wanted_contents
from tests.mutating import mutations, spread
from tests.support import compile_text, example_text, few, fleetc

ROUNDS = 500


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache directory, outside of the directories with trees."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


FILES = {"a": "one line\n", "b/c": "another\n", "b/d/e": "third\n", "f": ""}


class World:
    """Two specs, a directory and its index, as `fleetc compile` uses them."""

    def __init__(self, place: Path) -> None:
        self.target = place / "work" / "rendered"
        self.target.parent.mkdir()
        found = index_file(self.target, [])
        assert found is not None
        self.file = found
        self.trees = {"one": fleet_tree(FILES, {"b/c": 0o600}), "two": fleet_tree({**FILES, "a": "two", "g": "g"})}
        self.other = place / "work" / "other"
        self.hits = 0

    def compile(self, name: str) -> None:
        """What the command does: nothing if the index says so, else all of it."""
        if unchanged(self.target, self.file, digest_of([name])) is not None:
            self.hits += 1
            return
        self.write(name)

    def write(self, name: str) -> None:
        """All of the work."""
        note = Note(self.file, digest_of([name]), {})
        write_tree(self.trees[name], self.target, overwrite_edited=True, note=note)

    def is_right(self, name: str) -> bool:
        """Whether each file of the tree is there with its bytes and its mode."""
        return all(
            (self.target / artifact.path).read_bytes() == artifact.content
            and (self.target / artifact.path).stat().st_mode & 0o7777 == artifact.mode
            for artifact in self.trees[name].artifacts
        )

    def path(self, chance: random.Random) -> Path:
        """A file that both trees have, and not the manifest: a directory without a sound one is refused."""
        return self.target / chance.choice(sorted(FILES))


def other_byte(world: World, chance: random.Random) -> None:
    path = world.path(chance)
    content = bytearray(path.read_bytes() or b"x")
    content[chance.randrange(len(content))] ^= 1
    path.write_bytes(content)


def other_byte_at_the_old_time(world: World, chance: random.Random) -> None:
    path = world.path(chance)
    before = path.stat()
    content = bytearray(path.read_bytes() or b"x")
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def another_file_of_that_name(world: World, chance: random.Random) -> None:
    path = world.path(chance)
    before = path.stat()
    new = path.with_name("new")
    new.write_bytes(bytes(before.st_size))
    new.chmod(before.st_mode)
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.replace(path)


def other_mode(world: World, chance: random.Random) -> None:
    world.path(chance).chmod(chance.choice((0o600, 0o640, 0o755)))


def gone(world: World, chance: random.Random) -> None:
    world.path(chance).unlink()


def copied(world: World, chance: random.Random) -> None:
    shutil.copytree(world.target, world.other)
    shutil.rmtree(world.target)
    world.other.rename(world.target)


def index_cut(world: World, chance: random.Random) -> None:
    content = world.file.read_bytes()
    world.file.write_bytes(content[: chance.randrange(len(content))])


def index_other_bit(world: World, chance: random.Random) -> None:
    content = bytearray(world.file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    world.file.write_bytes(content)


def index_forged(world: World, chance: random.Random) -> None:
    """An index that is whole, but says something else: of other inputs, or of files as they never were."""
    index = json.loads(world.file.read_bytes().partition(b"\n")[2])
    if chance.random() < 0.5:
        other_byte(world, chance)
        index["inputs"] = digest_of([chance.choice(("one", "two"))])
    else:
        path = chance.choice(sorted(index["files"]))
        index["files"][path][chance.randrange(5)] += chance.choice((-1, 1))
    body = json.dumps(index).encode()
    world.file.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def index_aged(world: World, chance: random.Random) -> None:
    """The index of an earlier tree comes back, as from a backup."""
    before = world.file.read_bytes()
    write_tree(world.trees["two"], world.target, overwrite_edited=True)
    world.file.write_bytes(before)


def index_of_another_directory(world: World, chance: random.Random) -> None:
    elsewhere = index_file(world.other, [])
    assert elsewhere is not None
    note = Note(elsewhere, digest_of(["one"]), {})
    write_tree(world.trees["one"], world.other, note=note)
    elsewhere.replace(world.file)
    other_byte(world, chance)
    shutil.rmtree(world.other)


def index_gone(world: World, chance: random.Random) -> None:
    world.file.unlink(missing_ok=True)


def nothing(world: World, chance: random.Random) -> None:
    pass


DEEDS: tuple[Callable[[World, random.Random], None], ...] = (
    other_byte, other_byte_at_the_old_time, another_file_of_that_name, other_mode, gone, copied, index_cut,
    index_other_bit, index_forged, index_aged, index_of_another_directory, index_gone, nothing,
)  # fmt: skip


def test_tree_is_right_whatever_becomes_of_files_and_index(tmp_path: Path) -> None:
    world, chance = World(tmp_path), random.Random(17)
    world.compile("one")
    done = dict.fromkeys(DEEDS, 0)
    for _ in range(few(ROUNDS * 3)):
        deed = chance.choice(DEEDS)
        if world.file.exists() or not deed.__name__.startswith("index"):
            deed(world, chance)
            done[deed] += 1
        name = chance.choice(("one", "one", "two"))
        world.compile(name)
        assert world.is_right(name), deed.__name__
    assert min(done.values()) > 5, done
    assert world.hits > 5


def test_two_writers_leave_one_whole_tree_and_no_index_of_the_other(tmp_path: Path) -> None:
    world = World(tmp_path)
    for _ in range(10):
        with ThreadPoolExecutor() as pool:
            list(pool.map(world.write, ("one", "two", "one")))
        inputs = {name: digest_of([name]) for name in world.trees}
        known = [name for name in inputs if unchanged(world.target, world.file, inputs[name]) is not None]
        assert [name for name in world.trees if world.is_right(name)] == known, "the index is that of the last writer"
        assert len(known) == 1


def test_nothing_changed_is_known_without_reading_a_file(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.compile("one")
    before = {path: path.stat().st_atime_ns for path in world.target.rglob("*") if path.is_file()}
    assert unchanged(world.target, world.file, digest_of(["one"])) == (len(world.trees["one"].artifacts), {})
    assert unchanged(world.target, world.file, digest_of(["two"])) is None
    assert {path: path.stat().st_atime_ns for path in before} == before
    (world.target / "mine.txt").write_text("mine")
    assert unchanged(world.target, world.file, digest_of(["one"])) is None


def test_file_that_is_younger_than_a_tick_is_not_remembered(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.compile("one")
    later = time.time_ns() + 10 * TICK_NS
    os.utime(world.target / MANIFEST, ns=(later, later))
    world.compile("one")
    assert not world.file.exists()


def test_no_index_lies_in_a_checkout_or_in_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert index_file(tmp_path / "rendered", [tmp_path / "elsewhere"]) is not None
    assert index_file(tmp_path / "rendered", [tmp_path]) is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "rendered" / "cache"))
    assert index_file(tmp_path / "rendered", []) is None


def test_index_of_somebody_else_counts_as_none(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.compile("one")
    assert unchanged(world.target, world.file, digest_of(["one"])) is not None
    world.file.chmod(0o666)
    assert unchanged(world.target, world.file, digest_of(["one"])) is None
    world.file.chmod(0o600)
    moved = world.file.with_name("moved")
    world.file.rename(moved)
    world.file.symlink_to(moved)
    assert unchanged(world.target, world.file, digest_of(["one"])) is None


def test_tree_is_that_of_a_fresh_compile_after_each_of_many_edits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People edit a spec, undo that, break it and fix it; the index only answers for the last compile."""
    monkeypatch.setenv("HOME", str(tmp_path))
    text, chance = example_text("home-gpu"), random.Random(23)
    raw = tomllib.loads(text)
    edits = [tomli_w.dumps(edit.apply(raw)) for edit in spread(mutations(raw, raw), few(ROUNDS), "edits")]
    file = tmp_path / "fleet" / "fleet.toml"
    file.parent.mkdir()
    said: Counter[str] = Counter()
    last: Tree | None = None
    for edit in edits:
        file.write_text(chance.choice((edit, edit, file.read_text() if file.exists() else text, text)))
        tree = compile_text(file.read_text()).tree
        done = fleetc("compile", file)
        assert (done.returncode == 0) == (tree is not None), done.stderr
        last = tree or last
        assert last is None or contents(file.parent / "rendered") == wanted_contents(last)
        said["refused" if tree is None else "same" if " 0 files written, 0 removed" in done.stderr else "new"] += 1
    assert min(said.values()) > len(edits) // 20, said


@pytest.mark.usefixtures("processes")
def test_command_says_the_same_with_and_without_the_index(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spec with warnings: they are told each time, and a change of a file is never overlooked."""
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "fleet" / "fleet.toml"
    file.parent.mkdir()
    text = example_text("two-regions")
    file.write_text(f'{text}\n[silences.idle]\ncode = "rate-missing"\nreason = "there is none"\n')
    first = fleetc("compile", str(file))
    assert first.returncode == 0, first.stderr
    assert "warning[" in first.stderr
    assert len(list(cache.rglob("*.json"))) == 1
    again, slowly = fleetc("compile", str(file)), fleetc("compile", "--no-cache", str(file))
    assert again.stderr == slowly.stderr
    assert " 0 files written, 0 removed" in again.stderr
    assert fleetc("compile", "--check", str(file)).stderr.endswith("is up to date\n")
    flags = next((file.parent / "rendered").rglob("launch.flags"))
    flags.write_text(flags.read_text().replace("1", "2", 1))
    for words in (("compile",), ("compile", "--check"), ("compile", "--no-cache")):
        assert fleetc(*words, str(file)).returncode != 0
