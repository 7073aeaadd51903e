"""The file of a journal: one rollout at a time, and every kind of bad file is a message."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fleetc.disk.manifest import FilesError
from fleetc.rollout.hosts.journal import opened, path_of, to_read


def write(directory: Path, run: str = "1") -> None:
    with opened(directory, "demo", run) as journal:
        journal.write("begin", kind="deploy", who="ci on here", manifest="m", hosts=[], shard="")
        journal.write("end", exit_code=0)


def test_lines_are_added_and_read_back(tmp_path: Path) -> None:
    write(tmp_path, "1")
    write(tmp_path, "2")
    history = to_read(tmp_path, "demo").history
    assert [(run.id, run.exit_code) for run in history.runs] == [("1", 0), ("2", 0)]
    assert path_of(tmp_path, "demo").stat().st_mode & 0o777 == 0o600


def test_no_journal_is_an_empty_one_and_reading_makes_none(tmp_path: Path) -> None:
    assert to_read(tmp_path / "none", "demo").history.runs == []
    assert not (tmp_path / "none").exists()


def test_second_rollout_is_refused_by_the_name_of_the_first(tmp_path: Path) -> None:
    with opened(tmp_path, "demo", "1") as journal:
        journal.write("begin", kind="deploy", who="ci on here", manifest="m", hosts=[], shard="")
        with pytest.raises(FilesError, match="that of ci on here since 20") as failure, opened(tmp_path, "demo", "2"):
            pass
        assert failure.value.code == "journal-busy"
        with opened(tmp_path, "other", "3"):
            pass  # another fleet
    with opened(tmp_path, "demo", "2") as journal:
        assert journal.history.broken_off is not None


def test_torn_last_line_is_dropped_and_overwritten(tmp_path: Path) -> None:
    write(tmp_path)
    path = path_of(tmp_path, "demo")
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with opened(tmp_path, "demo", "2") as journal:
        assert journal.dropped and journal.history.broken_off is not None
        journal.write("begin", kind="deploy", who="x", manifest="m", hosts=[], shard="")
    assert [run.id for run in to_read(tmp_path, "demo").history.runs] == ["1", "2"]


def _edited(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"ci on here", b"ci on nowh"))


def _of_another_fleet(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"demo"', b'"demi"'))


def _binary(path: Path) -> None:
    path.write_bytes(os.urandom(1000) + b"\n")


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_edited, "journal-damaged"),
        (_of_another_fleet, "journal-other-fleet"),
        (_binary, "journal-damaged"),
        (_link, "journal-unreadable"),
        (_directory, "journal-unreadable"),
        (_pipe, "journal-unreadable"),
    ],
)
def test_bad_journal_is_a_message(spoil: object, code: str, tmp_path: Path) -> None:
    write(tmp_path)
    assert callable(spoil)
    spoil(path_of(tmp_path, "demo"))
    with pytest.raises(FilesError) as failure, opened(tmp_path, "demo", "2"):
        pass
    assert failure.value.code == code
    assert failure.value.help


def test_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FilesError) as failure, opened(tmp_path / "file" / "journal", "demo", "1"):
        pass
    assert failure.value.code == "journal-unreadable"


def test_journal_that_takes_no_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    real = os.open

    def read_only(path: Path, flags: int, *mode: int, **more: int) -> int:
        if flags & os.O_RDWR:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return real(path, flags, *mode, **more)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(FilesError, match="Read-only file system") as failure, opened(tmp_path, "demo", "2"):
        pass
    assert failure.value.code == "journal-unreadable" and "--journal DIR" in (failure.value.help or "")
    assert len(to_read(tmp_path, "demo").history.runs) == 1


def test_full_disk_is_told_before_anything_changes(tmp_path: Path) -> None:
    with opened(tmp_path, "demo", "1") as journal:
        journal._descriptor = os.open("/dev/full", os.O_WRONLY)
        with pytest.raises(FilesError, match="No space left on device") as failure:
            journal.write("begin")
        assert failure.value.code == "journal-not-written"
        os.close(journal._descriptor)


def test_line_that_does_not_fit_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a rollout is written all the same, once there is room."""
    with opened(tmp_path, "demo", "1") as journal:
        journal.write("begin", kind="deploy", who="ci on here", manifest="m", hosts=[], shard="")
        real, left = os.write, [20]

        def full(descriptor: int, data: bytes) -> int:
            if not left[0]:
                raise OSError(errno.ENOSPC, "full")
            written = real(descriptor, data[: left[0]])
            left[0] = 0
            return written

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(FilesError) as failure:
            journal.write("end", exit_code=0)
        assert failure.value.code == "journal-not-written"
        monkeypatch.setattr(os, "write", real)
        journal.write("end", exit_code=5)
    assert [run.exit_code for run in to_read(tmp_path, "demo").history.runs] == [5]
