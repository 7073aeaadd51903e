"""The disk door on real file systems: what it reads, what it refuses, and that a target changes all at once.

Deaths and failing system calls are in test_files_crash.py.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.disk import reading
from fleetc.disk.files import (
    FilesError,
    check_relative,
    find_spec,
    read_playbooks,
    read_source,
    read_templates,
    read_tree,
    stale,
    write_tree,
)
from fleetc.emit.tree import MANIFEST, Artifact, Tree, tree_of
from fleetc.toml.document import Source

FLAGS = "hosts/edge-1/gw/launch.flags"
Snapshot = dict[str, tuple[int, bytes]]


def fleet_tree(files: dict[str, str], modes: dict[str, int] | None = None) -> Tree:
    """A tree of text files with the manifest that belongs to them."""
    artifacts = [Artifact(path, text.encode(), (modes or {}).get(path, 0o644)) for path, text in files.items()]
    listed = [{"path": a.path, "mode": f"{a.mode:04o}", "sha256": a.sha256} for a in artifacts]
    return tree_of([*artifacts, Artifact(MANIFEST, json.dumps({"files": listed}).encode())])


def snapshot(root: Path) -> Snapshot:
    """Every entry below a directory: mode with type, and content, link target or nothing."""
    found: Snapshot = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        content = b""
        if stat.S_ISREG(mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(mode):
            content = os.fsencode(path.readlink())
        found[str(path.relative_to(root))] = (mode, content)
    return found


def names(directory: Path) -> list[str]:
    """What a directory holds, sorted."""
    return sorted(entry.name for entry in directory.iterdir())


def contents(root: Path) -> dict[str, bytes]:
    """Content of the regular files below a directory."""
    return {path: content for path, (mode, content) in snapshot(root).items() if stat.S_ISREG(mode)}


def wanted_contents(tree: Tree) -> dict[str, bytes]:
    return {a.path: a.content for a in tree.artifacts}


def refusal(act: Callable[..., object], *arguments: object, **more: object) -> FilesError:
    """The error with which something is refused."""
    with pytest.raises(FilesError) as caught:
        act(*arguments, **more)
    return caught.value


@contextmanager
def umask(value: int) -> Iterator[None]:
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def mounted(where: Path, *arguments: str) -> Iterator[Path]:
    """A real mount, or a loud skip where mounting is not permitted."""
    where.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *arguments, str(where)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)


# Reading specs

BAD_BYTES = [
    ("77u/YT0x", "spec-bom", "byte offset 0, line 1"),
    ("//5hAD0AMQA=", "spec-utf-16", "byte offset 0, line 1"),
    ("//4AAGEAAAA=", "spec-utf-32", "byte offset 0, line 1"),
    ("YT0i6SI=", "spec-not-utf8", "Latin-1"),
    ("YT0iACI=", "spec-nul", "byte offset 3, line 1"),
    ("YQA9ADEA", "spec-nul", "UTF-16"),
    ("YT0i7aCAIg==", "spec-not-utf8", "surrogate"),
    ("YT0iwK8i", "spec-not-utf8", "overlong"),
    ("YT0xDWI9Mg==", "spec-line-ends", "byte offset 3, line 1"),
    ("YSA9IDENCmIgPSAyCmMgPSAn/ycK", "spec-not-utf8", "byte offset 18, line 3"),
]


@pytest.mark.parametrize(("encoded", "code", "said"), BAD_BYTES)
def test_wrong_bytes_are_named_with_their_place(tmp_path: Path, encoded: str, code: str, said: str) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_bytes(base64.b64decode(encoded))
    error = refusal(read_source, spec, "fleet.toml")
    assert error.code == code
    assert said in error.message
    assert "byte offset" in error.message and "line" in error.message
    assert error.exit_code == 1 and error.help


def test_crlf_reads_like_lf(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_bytes(b'a=1\r\nb="""x\r\ny"""\r\n')
    assert read_source(spec, "f") == Source("f", 'a=1\nb="""x\ny"""\n')


@given(st.binary(max_size=40))
def test_any_bytes_give_a_text_or_a_message(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    spec = tmp_path_factory.getbasetemp() / "any.toml"
    spec.write_bytes(data)
    try:
        source = read_source(spec, "any.toml")
    except FilesError as error:
        assert error.path == "any.toml"
    else:
        assert source.text == data.decode().replace("\r\n", "\n")


def test_spec_over_the_limit_is_refused_and_one_at_the_limit_is_read(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_bytes(b"#" * 100)
    assert len(read_source(spec, "f", limit_bytes=100).text) == 100
    with pytest.raises(FilesError, match="larger than 99 bytes"):
        read_source(spec, "f", limit_bytes=99)


@pytest.mark.parametrize("kind", ["fifo", "directory", "device", "socket", "missing", "loop", "nul"])
def test_what_is_not_a_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    spec = tmp_path / "fleet.toml"
    if kind == "fifo":
        os.mkfifo(spec)
    elif kind == "directory":
        spec.mkdir()
    elif kind == "device":
        spec = Path("/dev/zero")
    elif kind == "socket":
        with chdir(tmp_path):
            socket.socket(socket.AF_UNIX).bind(spec.name)
    elif kind == "loop":
        spec.symlink_to(spec)
    elif kind == "nul":
        spec = tmp_path / "a\0b"
    error = refusal(read_source, spec, "fleet.toml")
    assert "fleet.toml" in error.message
    if kind not in ("loop", "nul"):
        assert error.code == ("spec-missing" if kind == "missing" else "spec-not-a-file")


def test_linked_spec_is_read(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("a = 1\n")
    (tmp_path / "fleet.toml").symlink_to("real")
    assert read_source(tmp_path / "fleet.toml", "f").text == "a = 1\n"


def test_directory_stands_for_its_spec(tmp_path: Path) -> None:
    assert find_spec(tmp_path) == tmp_path / "fleet.toml"
    assert find_spec(tmp_path / "other.toml") == tmp_path / "other.toml"


# What ships


def test_checkout_ships_templates_and_playbooks() -> None:
    templates, playbooks = read_templates(), read_playbooks()
    assert any(path.endswith(".j2") for path in templates)
    assert any(path.endswith(".yml") for path in playbooks)
    assert not [path for path in [*templates, *playbooks] if path.endswith("README.md") or "/." in path]
    assert not [path for path in templates if path.startswith("starter/")], "these are copied, and none is rendered"


def test_shipped_files_come_from_inside_the_package_first(tmp_path: Path) -> None:
    package = tmp_path / "site" / "fleetc"
    (tmp_path / "site" / "templates").mkdir(parents=True)
    (tmp_path / "site" / "templates" / "stranger.j2").write_text("no")
    (package / "_templates" / "env").mkdir(parents=True)
    (package / "_templates" / "env" / "env.j2").write_text("yes")
    for noise in ("README.md", ".hidden", "env/README.md"):
        (package / "_templates" / noise).write_text("noise")
    assert reading._shipped("templates", package) == {"env/env.j2": b"yes"}


def test_directory_beside_an_installed_package_is_not_taken_for_ours(tmp_path: Path) -> None:
    (tmp_path / "lib" / "fleetc").mkdir(parents=True)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "stranger.j2").write_text("no")
    error = refusal(reading._shipped, "templates", tmp_path / "lib" / "fleetc")
    assert (error.code, error.exit_code) == ("installation-broken", 3)


# Paths of artifacts

REFUSED = [
    "../x",
    "/etc/passwd",
    "a/../../x",
    "a//b",
    "./a",
    "a/./b",
    "a\\b",
    "a\0b",
    "con",
    "x" * 300,
    ".git/config",
    "a\nb",
    "",
    "a/",
    "hosts/.GIT",
    "hosts/lpt1.txt",
    "a.",
    "a ",
    "a/\udcff",
    "é" * 128,
    "/".join(["ab"] * 400),
]


@pytest.mark.parametrize("path", REFUSED)
def test_path_that_leaves_the_tree_or_cannot_be_stored_is_refused(path: str) -> None:
    error = refusal(check_relative, path)
    assert error.code == "path-refused"
    assert len(error.message) < 250


@pytest.mark.parametrize("path", [FLAGS, "FLEET.md", "ansible/.ansible-lint", "a/con-1/x", "é/b c"])
def test_plain_path_is_accepted(path: str) -> None:
    check_relative(path)


@given(st.text(st.sampled_from("./a\\é\n"), max_size=12))
def test_accepted_path_stays_below_its_root(path: str) -> None:
    try:
        check_relative(path)
    except FilesError:
        return
    assert os.path.normpath(f"/root/{path}") == f"/root/{path}"


def test_tree_with_a_refused_path_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(FilesError, match="output path"):
        write_tree(fleet_tree({"a": "1", "../b": "2"}), tmp_path / "out")


# Writing

OLD = fleet_tree({FLAGS: "-a=1\n", "hosts/edge-1/gw/node.env": "X=1\n", "streams/s.json": "{}", "FLEET.md": "old\n"})
NEW = fleet_tree(
    {
        FLAGS: "-a=2\n",
        "hosts/edge-1/gw/node.env": "X=1\n",
        "hosts/gpu-1/o/launch.flags": "",
        "FLEET.md": "old\n",
    }
)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A target that holds the old tree."""
    write_tree(OLD, tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("empty", [False, True])
def test_first_write_makes_exactly_the_tree(tmp_path: Path, empty: bool) -> None:
    if empty:
        (tmp_path / "out").mkdir()
    report = write_tree(OLD, tmp_path / "out")
    assert contents(tmp_path / "out") == wanted_contents(OLD)
    assert report.written == tuple(a.path for a in OLD.artifacts)
    assert (report.removed, report.unchanged, report.foreign) == ((), 0, ())
    assert names(tmp_path) == ["out"]


def test_change_replaces_adds_and_removes_and_leaves_no_litter(out: Path) -> None:
    report = write_tree(NEW, out)
    assert contents(out) == wanted_contents(NEW)
    assert report.written == (FLAGS, "hosts/gpu-1/o/launch.flags", MANIFEST)
    assert report.removed == ("streams/s.json",)
    assert report.unchanged == 2
    assert not (out / "streams").exists()
    assert names(out.parent) == ["out"]


def test_file_may_become_a_directory_and_back(out: Path) -> None:
    deeper = fleet_tree({"FLEET.md/part.md": "x", "hosts": "flat"})
    write_tree(deeper, out)
    assert contents(out) == wanted_contents(deeper)
    write_tree(OLD, out)
    assert contents(out) == wanted_contents(OLD)


def test_nothing_is_written_when_nothing_changed(out: Path) -> None:
    def identity() -> dict[str, tuple[int, int, int]]:
        paths = [out.parent, out, *out.rglob("*")]
        return {str(p): (p.stat().st_ino, p.stat().st_mtime_ns, p.stat().st_ctime_ns) for p in paths}

    before = identity()
    report = write_tree(OLD, out)
    assert identity() == before
    assert (report.written, report.removed, report.unchanged) == ((), (), len(OLD.artifacts))


def test_unchanged_file_keeps_inode_and_time_and_changed_one_gets_a_new_inode(out: Path) -> None:
    kept, changed = (out / "FLEET.md").stat(), (out / FLAGS).stat()
    hold = os.open(out / FLAGS, os.O_RDONLY)  # else the file system may give the number again
    write_tree(NEW, out)
    os.close(hold)
    assert ((out / "FLEET.md").stat().st_ino, (out / "FLEET.md").stat().st_mtime_ns) == (
        kept.st_ino,
        kept.st_mtime_ns,
    )
    assert (out / "FLEET.md").stat().st_nlink == 1
    assert (out / FLAGS).stat().st_ino != changed.st_ino


def test_file_that_turns_private_gets_a_new_inode(out: Path) -> None:
    hold = os.open(out / "FLEET.md", os.O_RDONLY)
    files = {a.path: a.content.decode() for a in OLD.artifacts if a.path != MANIFEST}
    write_tree(fleet_tree(files, {"FLEET.md": 0o600}), out)
    assert stat.S_IMODE((out / "FLEET.md").stat().st_mode) == 0o600
    assert os.fstat(hold).st_ino != (out / "FLEET.md").stat().st_ino
    assert stat.S_IMODE(os.fstat(hold).st_mode) == 0o644
    os.close(hold)


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o277, 0o777])
def test_modes_do_not_depend_on_the_umask(tmp_path: Path, mask: int) -> None:
    tree = fleet_tree({"a/secret": "s", "b/plain": "p", "b/run": "r"}, {"a/secret": 0o600, "b/run": 0o755})
    with umask(mask):
        write_tree(tree, tmp_path / "out")
    modes = {path: stat.S_IMODE(mode) for path, (mode, _) in snapshot(tmp_path).items()}
    assert modes == {
        "out": 0o755,
        "out/a": 0o700,
        "out/a/secret": 0o600,
        "out/b": 0o755,
        "out/b/plain": 0o644,
        "out/b/run": 0o755,
        "out/manifest.json": 0o644,
    }


def test_lost_file_is_written_again_and_the_mode_of_the_target_is_kept(out: Path) -> None:
    out.chmod(0o2750)
    (out / FLAGS).unlink()
    assert write_tree(OLD, out).written == (FLAGS,)
    assert contents(out) == wanted_contents(OLD)
    assert stat.S_IMODE(out.stat().st_mode) == 0o2750


def test_missing_parents_are_made_and_a_file_among_them_is_named(tmp_path: Path) -> None:
    write_tree(OLD, tmp_path / "no" / "such" / "out")
    assert contents(tmp_path / "no" / "such" / "out") == wanted_contents(OLD)
    (tmp_path / "file").touch()
    assert refusal(write_tree, OLD, tmp_path / "file" / "out").code == "no-such-directory"


def test_tree_without_manifest_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no manifest"):
        write_tree(tree_of([Artifact("a", b"")]), tmp_path / "out")
    with pytest.raises(ValueError, match="a file and a directory"):
        write_tree(fleet_tree({"a": "1", "a/b": "2"}), tmp_path / "out")


# Edited files


@pytest.mark.parametrize("path", [FLAGS, "FLEET.md", "streams/s.json"])
def test_edited_file_is_refused_by_name_unless_told_otherwise(out: Path, path: str) -> None:
    (out / path).write_text("edited by hand\n")
    before = snapshot(out)
    error = refusal(write_tree, NEW, out)
    assert error.code == "artifact-edited"
    assert path in error.message
    assert snapshot(out) == before
    write_tree(NEW, out, overwrite_edited=True)
    assert contents(out) == wanted_contents(NEW)


def test_edit_that_is_what_is_wanted_now_is_accepted(out: Path) -> None:
    (out / FLAGS).write_text("-a=2\n")
    write_tree(NEW, out)
    assert contents(out) == wanted_contents(NEW)


def test_many_edited_files_are_named_up_to_ten(tmp_path: Path) -> None:
    tree = fleet_tree({f"f{n:02}": "x" for n in range(15)})
    write_tree(tree, tmp_path / "out")
    for n in range(13):
        (tmp_path / "out" / f"f{n:02}").write_text("y")
    with pytest.raises(FilesError, match="f09 and 3 more was") as caught:
        write_tree(tree, tmp_path / "out")
    assert "f10" not in caught.value.message


# Other people's entries


def make(path: Path, kind: str, outside: Path) -> None:
    """Put something of a kind at a path, in place of what is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        for inner in sorted(path.rglob("*"), reverse=True):
            inner.rmdir() if inner.is_dir() else inner.unlink()
        path.rmdir()
    path.unlink(missing_ok=True)
    if kind == "symlink":
        path.symlink_to(outside)
    elif kind == "hardlink":
        os.link(outside / "f", path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with chdir(path.parent):  # the path of a socket has at most 107 bytes
            socket.socket(socket.AF_UNIX).bind(path.name)
    elif kind == "dir":
        path.mkdir()
    else:
        path.write_text("theirs\n")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that must never change, with a file in it that is found at the same place in the tree."""
    directory = tmp_path / "outside"
    (directory / "gw").mkdir(parents=True)
    for name in ("f", "launch.flags", "gw/launch.flags"):
        (directory / name).write_text("precious\n")
    return directory


@pytest.mark.parametrize("kind", ["file", "symlink", "hardlink", "fifo", "socket", "dir"])
@pytest.mark.parametrize("place", ["note", "hosts/note", "streams/note", "extra/deep/note"])
def test_foreign_entry_is_kept_and_reported(out: Path, outside: Path, kind: str, place: str) -> None:
    make(out / place, kind, outside)
    status, precious = (out / place).lstat(), snapshot(outside)
    report = write_tree(NEW, out)
    after = (out / place).lstat()
    assert (after.st_mode, after.st_mtime_ns) == (status.st_mode, status.st_mtime_ns)
    assert kind == "dir" or after.st_ino == status.st_ino
    assert report.foreign == ("extra/" if place.startswith("extra") else place + "/" * (kind == "dir"),)
    assert snapshot(outside) == precious
    assert {p: c for p, c in contents(out).items() if p != place} == wanted_contents(NEW)
    assert names(out.parent) == ["out", "outside"]


HOSTILE = [
    ("hosts/edge-1", "symlink"),
    ("hosts", "symlink"),
    (FLAGS, "symlink"),
    (FLAGS, "hardlink"),
    (FLAGS, "fifo"),
    (FLAGS, "socket"),
    (FLAGS, "dir"),
    ("hosts", "fifo"),
    ("hosts/edge-1", "file"),
]


@pytest.mark.parametrize(("path", "kind"), HOSTILE)
@pytest.mark.parametrize("overwrite", [False, True])
def test_nothing_is_written_through_or_over_what_took_our_place(
    out: Path, outside: Path, path: str, kind: str, overwrite: bool
) -> None:
    make(out / path, kind, outside)
    before, precious = snapshot(out), snapshot(outside)
    if kind == "hardlink" and overwrite:  # a regular file at our path: an edit, replaced by a new inode
        write_tree(NEW, out, overwrite_edited=True)
        assert contents(out) == wanted_contents(NEW)
    else:
        assert path in refusal(write_tree, NEW, out, overwrite_edited=overwrite).message
        assert snapshot(out) == before
    assert snapshot(outside) == precious
    assert names(out.parent) == ["out", "outside"]


@pytest.mark.parametrize("kind", ["file", "symlink", "fifo", "dir"])
def test_foreign_entry_where_a_new_file_goes_is_refused(out: Path, outside: Path, kind: str) -> None:
    make(out / "hosts/gpu-1/o/launch.flags", kind, outside)
    before = snapshot(out)
    error = refusal(write_tree, NEW, out, overwrite_edited=True)
    assert error.code == "path-occupied"
    assert "hosts/gpu-1/o/launch.flags" in error.message
    assert snapshot(out) == before


@pytest.mark.parametrize("kind", ["symlink", "fifo", "dir"])
def test_former_file_that_became_something_else_is_kept_when_no_longer_wanted(
    out: Path, outside: Path, kind: str
) -> None:
    make(out / "streams/s.json", kind, outside)
    report = write_tree(NEW, out)
    assert report.foreign == ("streams/s.json" + "/" * (kind == "dir"),)
    assert (out / "streams/s.json").lstat()


def test_foreign_name_that_is_no_text_is_kept_and_shown_escaped(out: Path) -> None:
    odd = os.fsencode(out) + b"/\xff\n\x1b[31m"
    Path(os.fsdecode(odd)).write_text("theirs")
    report = write_tree(NEW, out)
    assert report.foreign == ("\\udcff\\n\\x1b[31m",)
    assert Path(os.fsdecode(odd)).read_text() == "theirs"


def test_deep_foreign_directory_is_kept_although_it_cannot_be_carried(out: Path) -> None:
    deep = out.joinpath(*["d"] * 60)
    deep.mkdir(parents=True)
    (deep / "note").write_text("theirs")
    inode = deep.stat().st_ino
    write_tree(NEW, out)
    assert (deep.stat().st_ino, (deep / "note").read_text()) == (inode, "theirs")
    assert write_tree(NEW, out).written == ()
    assert names(out.parent) == ["out"]


@pytest.mark.usefixtures("processes")
def test_foreign_mount_inside_the_target_is_kept(out: Path) -> None:
    with mounted(out / "data", "-t", "tmpfs", "tmpfs") as data:
        (data / "note").write_text("theirs")
        assert write_tree(NEW, out).foreign == ("data/",)
        assert (data / "note").read_text() == "theirs"
        assert stale(NEW, out) == ()
    assert names(out.parent) == ["out"]


def as_nobody(act: Callable[[], object]) -> int:
    """Exit status of a child that did this without root's rights; 0 is fine."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            act()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A directory that a user without rights can reach and write; needs root, to become that user."""
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.mark.parametrize("mask", [0o077, 0o277, 0o777])
def test_user_without_rights_writes_and_changes_under_any_umask(open_place: Path, mask: int) -> None:
    out = open_place / "out"
    with umask(mask):
        assert as_nobody(lambda: write_tree(OLD, out)) == 0
        assert as_nobody(lambda: write_tree(NEW, out)) == 0
    assert contents(out) == wanted_contents(NEW)
    assert names(open_place) == ["out"]


def test_file_of_another_user_is_kept_although_it_may_not_be_linked(open_place: Path) -> None:
    out = open_place / "out"
    assert as_nobody(lambda: write_tree(OLD, out)) == 0
    (out / "hosts" / "note").write_text("theirs")
    (out / "hosts" / "note").chmod(0o600)
    inode = (out / "hosts" / "note").stat().st_ino
    assert as_nobody(lambda: write_tree(NEW, out)) == 0
    assert (out / "hosts" / "note").stat().st_ino == inode
    assert {path: text for path, text in contents(out).items() if path != "hosts/note"} == wanted_contents(NEW)
    assert names(open_place) == ["out"]


def test_directory_that_may_not_be_written_is_named_and_unchanged(open_place: Path) -> None:
    out = open_place / "out"
    assert as_nobody(lambda: write_tree(OLD, out)) == 0
    open_place.chmod(0o755)

    def act() -> None:
        with pytest.raises(FilesError, match="Permission denied") as caught:
            write_tree(NEW, out)
        assert caught.value.code == "permission-denied"

    assert as_nobody(act) == 0
    assert contents(out) == wanted_contents(OLD)
    assert names(open_place) == ["out"]


# Refused targets


def test_root_and_home_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for precious in (Path("/"), tmp_path, tmp_path / "x" / ".."):
        (tmp_path / "x").mkdir(exist_ok=True)
        assert refusal(write_tree, OLD, precious).code == "target-refused"


@pytest.mark.parametrize("kind", ["dir", "file"])
def test_top_of_a_repository_is_refused(out: Path, outside: Path, kind: str) -> None:
    make(out / ".git", kind, outside)
    before = snapshot(out)
    with pytest.raises(FilesError, match="git repository"):
        write_tree(NEW, out)
    assert snapshot(out) == before


@pytest.mark.parametrize("kind", ["file", "symlink", "fifo", "socket"])
def test_target_that_is_no_directory_is_refused(tmp_path: Path, outside: Path, kind: str) -> None:
    make(tmp_path / "out", kind, outside)
    before = snapshot(tmp_path)
    for act in (write_tree, stale):
        assert refusal(act, OLD, tmp_path / "out").code == "target-not-directory"
    assert snapshot(tmp_path) == before


def test_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("ten years")
    with pytest.raises(FilesError, match=r"thesis\.txt") as caught:
        write_tree(OLD, tmp_path / "out")
    assert caught.value.code == "foreign-directory"
    assert contents(tmp_path / "out") == {"thesis.txt": b"ten years"}


MANGLED = [
    b"",
    b"\xff",
    b"<<<<<<< ours",
    b"[]",
    b"{}",
    b'{"files": 3}',
    b'{"files": [3]}',
    b'{"files": [{"path": "../x", "mode": "0644", "sha256": ""}]}',
    b'{"files": [{"path": "x", "mode": "rw", "sha256": ""}]}',
    b'{"files": [{"path": "x", "mode": 420, "sha256": ""}]}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("manifest", MANGLED)
def test_mangled_manifest_is_refused(out: Path, manifest: bytes) -> None:
    (out / MANIFEST).write_bytes(manifest)
    before = snapshot(out)
    for act in (lambda: write_tree(NEW, out), lambda: stale(NEW, out), lambda: read_tree(out)):
        assert refusal(act).code == "manifest-unreadable"
    assert snapshot(out) == before


@pytest.mark.parametrize("kind", ["fifo", "symlink", "dir"])
def test_manifest_that_is_no_file_is_refused_without_waiting(out: Path, outside: Path, kind: str) -> None:
    make(out / MANIFEST, kind, outside)
    before = snapshot(out)
    with pytest.raises(FilesError, match=r"manifest\.json"):
        write_tree(NEW, out)
    assert snapshot(out) == before


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("bind", [False, True])
def test_mount_point_is_refused(tmp_path: Path, bind: bool) -> None:
    (tmp_path / "real").mkdir()
    how = ["--bind", str(tmp_path / "real")] if bind else ["-t", "tmpfs", "tmpfs"]
    with mounted(tmp_path / "out", *how) as out:
        assert refusal(write_tree, OLD, out).code == "target-is-mount"
        write_tree(OLD, out / "rendered")
        assert contents(out / "rendered") == wanted_contents(OLD)


# Full, read-only and layered file systems


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    ("limit", "big"),
    [
        ("size=64k", fleet_tree({"big.txt": "x" * 100_000, FLAGS: "-a=2\n"})),
        ("nr_inodes=20", fleet_tree({f"big.txt/{n}/f": "x" for n in range(20)})),
    ],
)
def test_full_disk_leaves_the_old_tree(tmp_path: Path, limit: str, big: Tree) -> None:
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", limit, "tmpfs") as small:
        write_tree(OLD, small / "out")
        before = snapshot(small)
        error = refusal(write_tree, big, small / "out")
        assert (error.code, error.exit_code) == ("disk-full", 3)
        assert "big.txt" in error.message and "No space left" in error.message
        assert snapshot(small) == before


@pytest.mark.usefixtures("processes")
def test_read_only_file_system_is_named(tmp_path: Path) -> None:
    with mounted(tmp_path / "ro", "-t", "tmpfs", "tmpfs") as ro:
        write_tree(OLD, ro / "out")
        before = snapshot(ro)
        subprocess.run(["mount", "-o", "remount,ro", str(ro)], check=True)
        for target in (ro / "out", ro / "fresh"):
            with pytest.raises(FilesError, match="Read-only file system") as caught:
                write_tree(NEW, target)
            assert (caught.value.code, caught.value.path) == ("read-only", str(target))
        assert write_tree(OLD, ro / "out").written == ()
        assert stale(NEW, ro / "out") != ()
        assert read_tree(ro / "out") == OLD
        assert snapshot(ro) == before


@pytest.mark.usefixtures("processes")
def test_directory_from_a_lower_layer_is_changed_file_by_file(tmp_path: Path) -> None:
    with mounted(tmp_path / "layers", "-t", "tmpfs", "tmpfs") as layers:
        for name in ("lower", "upper", "work"):
            (layers / name).mkdir()
        write_tree(OLD, layers / "lower" / "out")
        (layers / "lower" / "out" / "note").write_text("theirs")
        before = snapshot(layers / "lower")
        options = f"lowerdir={layers}/lower,upperdir={layers}/upper,workdir={layers}/work"
        with mounted(tmp_path / "merged", "-t", "overlay", "-o", options, "overlay") as merged:
            report = write_tree(NEW, merged / "out")
            assert report.foreign == ("note",)
            assert contents(merged / "out") == {**wanted_contents(NEW), "note": b"theirs"}
            assert names(merged) == ["out"]
            assert write_tree(NEW, merged / "out").written == ()
            write_tree(OLD, merged / "out")
            assert contents(merged / "out") == {**wanted_contents(OLD), "note": b"theirs"}
        assert snapshot(layers / "lower") == before


# Two at once

WRITER = """
import sys
from pathlib import Path
from fleetc.disk.files import write_tree
from tests.disk.test_files import fleet_tree
for turn in range(15):
    tree = fleet_tree({f"f{n}": f"{sys.argv[2]} {turn}" for n in range(20)})
    write_tree(tree, Path(sys.argv[1]), wait_seconds=60)
"""


@pytest.mark.usefixtures("processes")
def test_two_writers_and_a_reader_never_see_a_mixed_tree(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_tree(fleet_tree({f"f{n}": "start" for n in range(20)}), out)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(out), name]) for name in "ab"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        tree = read_tree(out, wait_seconds=60)
        texts = {a.content for a in tree.artifacts if a.path != MANIFEST}
        assert len(tree.artifacts) == 21 and len(texts) == 1
        seen |= texts
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(seen) > 1
    assert names(tmp_path) == ["out"]


def test_second_writer_fails_naming_the_holder_and_later_succeeds(out: Path) -> None:
    holder = os.open(out.parent, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    for act in (lambda: write_tree(NEW, out, wait_seconds=0), lambda: read_tree(out, wait_seconds=0)):
        error = refusal(act)
        assert (error.code, error.exit_code) == ("output-locked", 3)
        assert f"process {os.getpid()} " in error.message
    release = threading.Timer(0.1, os.close, (holder,))
    release.start()
    write_tree(NEW, out, wait_seconds=60)
    release.join()
    assert contents(out) == wanted_contents(NEW)


def test_readers_do_not_keep_each_other_out(out: Path) -> None:
    holder = os.open(out.parent, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_SH)
    assert read_tree(out, wait_seconds=0) == OLD
    os.close(holder)


# Leftovers of killed runs


@pytest.mark.parametrize("manifest", [None, b'{"files": [{"pa'])
def test_unfinished_staging_directory_is_cleared(out: Path, manifest: bytes | None) -> None:
    staged = out.parent / ".fleetc-out.stage"
    (staged / "hosts").mkdir(parents=True)
    (staged / "hosts" / "half").write_text("ha")
    if manifest is not None:
        (staged / MANIFEST).write_bytes(manifest)
    write_tree(OLD, out)
    assert names(out.parent) == ["out"]
    assert contents(out) == wanted_contents(OLD)


def test_file_that_reached_the_old_tree_late_is_rescued(out: Path) -> None:
    staged = out.parent / ".fleetc-out.stage"
    write_tree(NEW, staged)
    (staged / "hosts" / "late").write_text("theirs")
    assert write_tree(OLD, out).foreign == ("hosts/late",)
    assert (out / "hosts" / "late").read_text() == "theirs"
    assert names(out.parent) == ["out"]


def test_late_file_with_a_taken_name_is_left_and_named(out: Path) -> None:
    staged = out.parent / ".fleetc-out.stage"
    write_tree(NEW, staged)
    (staged / "note").write_text("theirs")
    (out / "note").write_text("another")
    for _ in range(2):
        error = refusal(write_tree, OLD, out)
        assert (error.code, error.path) == ("leftover-not-ours", str(staged))
    assert ((staged / "note").read_text(), (out / "note").read_text()) == ("theirs", "another")


@pytest.mark.parametrize("name", [".fleetc-out.stage", ".fleetc-out.apply"])
@pytest.mark.parametrize("kind", ["file", "symlink", "fifo", "stranger"])
def test_thing_under_a_leftovers_name_is_not_trusted(out: Path, outside: Path, name: str, kind: str) -> None:
    if kind == "stranger":
        if os.geteuid() != 0:
            pytest.skip("giving a directory to another user needs root")
        write_tree(NEW, out.parent / name)
        os.chown(out.parent / name, 12345, 12345)
    else:
        make(out.parent / name, kind, outside)
    before = snapshot(out.parent)
    assert refusal(write_tree, NEW, out).code == "leftover-not-ours"
    assert snapshot(out.parent) == before


# Comparing and reading back


def test_stale_names_each_difference_and_writes_nothing(out: Path) -> None:
    (out / "FLEET.md").write_text("edited")
    before = snapshot(out.parent)
    assert stale(NEW, out) == (
        "changed FLEET.md",
        f"changed {FLAGS}",
        "missing hosts/gpu-1/o/launch.flags",
        "changed manifest.json",
        "superfluous streams/s.json",
    )
    assert snapshot(out.parent) == before
    write_tree(NEW, out, overwrite_edited=True)
    assert stale(NEW, out) == ()


def test_stale_of_a_missing_target_misses_everything(tmp_path: Path) -> None:
    assert stale(OLD, tmp_path / "out") == tuple(f"missing {a.path}" for a in OLD.artifacts)


def test_stale_overlooks_what_a_checkout_makes_of_modes_but_not_a_lost_execute_bit(tmp_path: Path) -> None:
    tree = fleet_tree({"run": "r", "plain": "p"}, {"run": 0o755})
    write_tree(tree, tmp_path / "out")
    (tmp_path / "out" / "plain").chmod(0o664)
    (tmp_path / "out" / "run").chmod(0o700)
    assert stale(tree, tmp_path / "out") == ()
    (tmp_path / "out" / "run").chmod(0o644)
    assert stale(tree, tmp_path / "out") == ("changed run",)


@pytest.mark.parametrize(("path", "kind"), HOSTILE)
def test_stale_reports_what_took_our_place(out: Path, outside: Path, path: str, kind: str) -> None:
    make(out / path, kind, outside)
    assert any(line.endswith(f" {path}") for line in stale(OLD, out))


def test_written_tree_reads_back_with_modes_and_origins(tmp_path: Path) -> None:
    listed = {"path": "a/x", "mode": "0600", "sha256": Artifact("", b"1").sha256, "origins": ["gateways.gw"]}
    manifest = Artifact(MANIFEST, json.dumps({"files": [listed]}).encode())
    tree = tree_of([Artifact("a/x", b"1", 0o600, ("gateways.gw",)), manifest])
    write_tree(tree, tmp_path / "out")
    (tmp_path / "out" / "a" / "x").chmod(0o644)
    assert read_tree(tmp_path / "out") == tree


def test_reading_back_leaves_out_what_is_gone(out: Path) -> None:
    (out / FLAGS).unlink()
    (out / "streams" / "s.json").unlink()
    (out / "streams").rmdir()
    assert {a.path for a in read_tree(out).artifacts} == {"FLEET.md", "hosts/edge-1/gw/node.env", MANIFEST}


@pytest.mark.parametrize(("path", "kind"), [item for item in HOSTILE if item[1] != "hardlink"])
def test_reading_back_follows_no_link_and_waits_for_nothing(out: Path, outside: Path, path: str, kind: str) -> None:
    make(out / path, kind, outside)
    assert refusal(read_tree, out).code == "artifact-not-a-file"


def test_reading_back_what_was_never_written_says_so(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "out"):
        assert refusal(read_tree, target).code == "tree-missing"
