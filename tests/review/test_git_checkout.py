"""Which repository a review believes: ways in which files of a change could bring another history, with real git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fleetc.disk import git
from fleetc.disk.manifest import FilesError
from tests.review.git_support import NEW, OLD, before, change, commit, git_in, new_repository, refusal
from tests.review.support import example
from tests.support import fleetc

pytestmark = [pytest.mark.usefixtures("nobodys_settings"), pytest.mark.usefixtures("processes")]


def forge(spec: Path, place: Path, ways: str = "") -> None:
    """Write files that git takes for a repository whose every branch has the spec of now; `ways` are links instead of
    directories, or another place for them."""
    other = spec.parents[3] / "forgery"
    shutil.copytree(spec.parent, other / spec.parent.relative_to(place), dirs_exist_ok=True)
    git_in(other, "init", "--quiet", "--initial-branch=main")
    for _ in range(2):
        commit(other, "what the change wants to have been there")
    git_in(other, "gc", "--quiet")
    shutil.copy(other / ".git" / "HEAD", place / "HEAD")
    held = place
    if ways:
        held = place.parent / "attic"
        held.mkdir()
    for name in ("objects", "refs", "packed-refs"):
        copy = shutil.copytree if (other / ".git" / name).is_dir() else shutil.copy
        copy(other / ".git" / name, held / name)
        if ways == "links":
            (place / name).symlink_to(Path("..") / "attic" / name)
    (held / "refs" / "heads" / "kept").write_text("0" * 40, encoding="utf-8")  # git keeps no empty directory
    if ways == "commondir":
        (place / "commondir").write_text("../attic\n", encoding="utf-8")
    for folder in {place, held}:
        text = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"
        (folder / "config").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("ways", ["", "links", "commondir"])
def test_committed_repository_is_not_believed(top: Path, spec: Path, ways: str) -> None:
    forge(spec, spec.parent, ways)
    commit(top, "a repository beside the spec")
    git_in(top, "checkout", "--quiet", "main")
    git_in(top, "checkout", "--quiet", "change")
    if ways != "commondir":  # one that names the place of its files in yet another one
        assert git_in(spec.parent, "show", "main:./fleet.toml") == NEW.strip()  # git itself falls for it
    for name in ("main", "HEAD", "HEAD^1", git_in(top, "rev-parse", "main")):
        assert refusal(spec, name) == "git-directory-in-checkout"


def test_committed_repository_is_refused_wherever_something_is_read(top: Path, spec: Path) -> None:
    overlay, tree = top / "overlays" / "production.toml", spec.parent / "rendered"
    for place, beside in ((spec.parents[1], spec), (overlay.parent, overlay), (tree, tree)):
        place.mkdir(exist_ok=True)
        for name in ("HEAD", "objects", "refs"):
            (place / name).mkdir()
        assert refusal(spec, beside=[beside]) == "git-directory-in-checkout"
        for name in ("HEAD", "objects", "refs"):
            (place / name).rmdir()
    (top / "other" / "objects").mkdir(parents=True)
    (top / "other" / "refs").mkdir()
    (top / "other" / "HEAD").touch()
    for name in ("HEAD", "config", "refs"):  # files that only have such names are no repository
        (top / name).touch()
        (spec.parent / name).touch()
    assert before(spec, beside=[overlay, tree]) == OLD


def test_commands_refuse_a_committed_repository_and_say_why(tmp_path: Path) -> None:
    old = example("demo")
    new = old.replace("max_sessions = 4", "max_sessions = 3")
    spec = new_repository(tmp_path, old)
    assert fleetc("compile", spec).returncode == 0
    commit(tmp_path, "its tree")
    change(tmp_path, spec, new)
    assert fleetc("compile", spec).returncode == 0
    forge(spec, spec.parent)
    shutil.rmtree(tmp_path.parent / "forgery", ignore_errors=True)
    commit(tmp_path, "a repository beside the spec")
    for command in (
        ("diff", spec.parent, "--against", "main"),
        ("diff", spec, "--against", "HEAD^1", "--max-impact", "restart=0"),
        ("plan", spec.parent, "--against", "main"),
    ):
        done = fleetc(*command, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, ""), done.stdout
        assert "error[git-directory-in-checkout]: fleets/demo looks like a git repository" in done.stderr
        assert "find out who added these files and remove them" in done.stderr
    (spec.parent / "HEAD").unlink()
    assert "-maxSessions: 4 -> 3" in fleetc("diff", spec, "--against", "main", "--max-impact", "restart=0").stdout


def test_path_with_the_name_of_a_revision_does_not_stand_in_when_git_refuses(top: Path, spec: Path) -> None:
    """What makes git refuse must not turn the name of a revision into that of a file."""
    spec.write_text(example("demo"), encoding="utf-8")
    (spec.parent / "main").write_text(example("demo"), encoding="utf-8")
    for name in ("HEAD", "objects", "refs"):
        (spec.parent / name).mkdir()
    done = fleetc("diff", ".", "--against", "main", cwd=spec.parent)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[baseline-ambiguous]: main is a spec here, and may also be a git revision: " in done.stderr
    assert "write ./main for the path; for the revision, find out who added these files" in done.stderr
    assert "Review of demo against ./main" in fleetc("diff", ".", "--against", "./main", cwd=spec.parent).stdout


# --- checkouts in checkouts -----------------------------------------------------------------------


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Another repository, whose main has the spec of the change."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "fleet.toml").write_text(NEW, encoding="utf-8")
    git_in(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "what the change wants to have been there")
    return folder


def add_submodule(top: Path, foreign: Path, place: str) -> None:
    git_in(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--force", str(foreign), place)


def test_submodule_is_refused(top: Path, spec: Path, foreign: Path) -> None:
    git_in(top, "rm", "-r", "--quiet", "fleets/demo")
    add_submodule(top, foreign, "fleets/demo")
    commit(top, "a submodule for the directory of the spec")
    for name in ("main", "HEAD"):
        assert refusal(spec, name) == "git-checkout-nested"
    git_in(top, "rm", "-r", "--quiet", "--cached", "fleets/demo")
    git_in(top, "commit", "--quiet", "--all", "--message", "which stays behind on the disk of a runner")
    assert refusal(spec) == "git-checkout-nested"


def test_submodule_of_which_nothing_is_committed_any_more_is_refused(top: Path, foreign: Path) -> None:
    add_submodule(top, foreign, "new")
    git_in(top, "reset", "--quiet", "--hard")
    assert (top / "new" / "fleet.toml").exists()
    assert refusal(top / "new" / "fleet.toml") == "git-checkout-nested"


def test_link_into_a_submodule_is_compared_with_what_stood_at_its_place(top: Path, spec: Path, foreign: Path) -> None:
    git_in(top, "rm", "-r", "--quiet", "fleets/demo")
    add_submodule(top, foreign, "vendor")
    spec.parent.parent.mkdir(exist_ok=True)
    spec.parent.symlink_to("../vendor")
    commit(top, "a link for the directory of the spec")
    assert spec.read_text(encoding="utf-8") == NEW
    assert before(spec) == OLD
    overlay = top / "vendor" / "production.toml"
    revision = git.find_revision("main", spec)
    assert revision is not None
    with pytest.raises(FilesError, match="is a separate repository inside the checkout"):
        git.belongs(revision, overlay)


def test_clone_below_a_checkout_that_knows_nothing_of_it_counts(tmp_path: Path) -> None:
    """As below a home directory that somebody keeps in git."""
    (tmp_path / ".bashrc").touch()
    git_in(tmp_path, "init", "--quiet", "--initial-branch=main")
    git_in(tmp_path, "add", ".bashrc")
    git_in(tmp_path, "commit", "--quiet", "--message", "home")
    inner = tmp_path / "src" / "fleet"
    inner.mkdir(parents=True)
    spec = new_repository(inner, OLD)
    change(inner, spec, NEW)
    assert before(spec) == OLD
    git_in(tmp_path, "checkout", "--quiet", "-b", "other")
    blob = git_in(tmp_path, "hash-object", "-w", ".bashrc")
    for place in ("src/fleet/README", "src/fleet", "SRC/Fleet/x"):
        git_in(tmp_path, "update-index", "--add", "--cacheinfo", f"100644,{blob},{place}")
        assert refusal(spec) == "git-checkout-nested"  # its index
        git_in(tmp_path, "commit", "--quiet", "--message", "something there")
        git_in(tmp_path, "rm", "--quiet", "--cached", place)
        assert refusal(spec) == "git-checkout-nested"  # its HEAD
        git_in(tmp_path, "commit", "--quiet", "--message", "nothing there")
        assert before(spec) == OLD
        assert refusal(spec, "HEAD~1") == "git-checkout-nested"  # the revision itself
    git_in(tmp_path, "reset", "--quiet", "--hard", "main")
    assert before(spec) == OLD


def test_ceiling_says_which_checkouts_do_not_count(
    tmp_path: Path, top: Path, foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_submodule(top, foreign, "sub")
    commit(top, "a submodule")
    inner = top / "sub" / "fleet.toml"
    assert refusal(inner) == "git-checkout-nested"
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", f"relative:{tmp_path}::{top}")
    assert before(inner) == NEW
    (top / "plain").mkdir()
    (top / "plain" / "fleet.toml").touch()
    assert refusal(top / "plain" / "fleet.toml") == "git-unavailable"


def test_linked_worktree_counts_also_inside_of_its_checkout(top: Path, tmp_path: Path) -> None:
    git_in(top, "config", "extensions.worktreeConfig", "true")
    for place in (tmp_path / "beside", top / ".worktrees" / "inside"):
        git_in(top, "worktree", "add", "--quiet", "--detach", str(place), "change")
        git_in(place, "sparse-checkout", "set", "--no-cone", "/fleets/demo/*")
        inner = place / "fleets" / "demo" / "fleet.toml"
        assert before(inner) == OLD
        inner.write_text("newer = 1\n", encoding="utf-8")
        commit(place, "on no branch")
        assert before(inner, "HEAD") == "newer = 1\n"
    git_in(top, "clone", "--quiet", "--bare", ".", str(tmp_path / "project" / ".git"))
    git_in(tmp_path / "project", "worktree", "add", "--quiet", "--detach", "main", "main")
    assert before(tmp_path / "project" / "main" / "fleets" / "demo" / "fleet.toml") == OLD


# --- where the repository is ----------------------------------------------------------------------


def test_git_file_of_the_user_leads_to_the_repository(top: Path, spec: Path, tmp_path: Path) -> None:
    git_in(top, "init", "--quiet", "--separate-git-dir", str(tmp_path / "store"))
    assert (top / ".git").is_file()
    assert before(spec) == OLD
    (top / ".git").unlink()
    (top / ".git").symlink_to(tmp_path / "store")
    assert before(spec) == OLD
    (top / ".git").unlink()
    (top / ".git").write_text("gitdir: ../gone\n", encoding="utf-8")
    assert refusal(spec) == "git-unavailable"


def test_repository_with_its_files_elsewhere_is_none_of_this_place(top: Path, spec: Path, tmp_path: Path) -> None:
    for elsewhere in (tmp_path / "elsewhere", tmp_path):
        elsewhere.mkdir(exist_ok=True)
        git_in(top, "config", "core.worktree", str(elsewhere))
        assert refusal(spec) == "git-unavailable"
    git_in(top, "config", "core.worktree", str(top))
    assert before(spec) == OLD


@pytest.mark.parametrize("name", [".GIT", ".g\u200cit", "git~1", ".git ", ".git"])
def test_other_spellings_of_git_are_not_believed(top: Path, spec: Path, foreign: Path, name: str) -> None:
    if name == ".git":  # which is there and empty, as sandboxes make it
        (spec.parent / name).mkdir()
    else:
        shutil.copytree(foreign / ".git", spec.parent / name)
    assert before(spec) == OLD


def test_git_checks_out_no_repository_that_a_commit_brings(top: Path, spec: Path) -> None:
    """What `compiler/fleetc/disk/checkout.py` trusts in: real git makes no `.git` from what a commit holds."""
    blob = git_in(top, "hash-object", "-w", str(spec))
    for name in (".git", ".GIT", ".Git"):
        made = git_in(top, "mktree", typed=f"100644 blob {blob}\tplanted\n")
        tree = git_in(top, "mktree", typed=f"040000 tree {made}\t{name}\n")
        hostile = git_in(top, "commit-tree", tree, "-m", "hostile")
        with pytest.raises(subprocess.CalledProcessError):
            git_in(top, "checkout", "--quiet", hostile)
        assert not (top / name / "planted").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to somebody else")
def test_repository_of_somebody_else_is_not_read(top: Path, spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (top, top / ".git"):
        os.chown(place, 12345, 12345)
    with pytest.raises(FilesError, match="detected dubious ownership") as refused:
        before(spec)
    assert refused.value.code == "git-unavailable"
    for number, (key, value) in enumerate((("safe.directory", str(top)),)):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    assert before(spec) == OLD


def test_git_of_the_checkout_is_not_run(top: Path, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "bin").mkdir()
    for trap in (top / "git", top / "bin" / "git", spec.parent / "git"):
        trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
        trap.chmod(0o755)
    monkeypatch.chdir(top)
    rest = os.environ["PATH"]
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "bin", str(top / "bin"), rest]))
    assert before(spec) == OLD
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "bin", str(top / "bin")]))
    assert refusal(spec) == "git-unavailable"
    assert not (tmp_path / "sprung").exists()


# --- links ----------------------------------------------------------------------------------------


def test_link_by_hand_leads_to_the_checkout_and_keeps_the_name_that_is_committed(top: Path, tmp_path: Path) -> None:
    """A change makes the directory that the user's link names a link itself, to a fleet that did not change."""
    prod, stg = top / "fleets" / "demo", top / "fleets" / "stg"
    (tmp_path / "mine").symlink_to(prod)
    git_in(top, "checkout", "--quiet", "main")
    stg.mkdir()
    (stg / "fleet.toml").write_text("staging = 1\n", encoding="utf-8")
    commit(top, "another fleet")
    git_in(top, "checkout", "--quiet", "-B", "change")
    shutil.rmtree(prod)
    prod.symlink_to("stg")
    commit(top, "a link")
    for way in (tmp_path / "mine" / "fleet.toml", prod / "fleet.toml", stg / ".." / "demo" / "fleet.toml"):
        assert before(way) == OLD
    assert before(stg / "fleet.toml") == "staging = 1\n"


def test_new_link_has_no_former_state(top: Path, spec: Path) -> None:
    (top / "fleets" / "new").symlink_to("demo")
    new = top / "fleets" / "new" / "fleet.toml"
    assert before(new) == OLD  # made by hand
    commit(top, "a new fleet")
    assert before(new) is None


def test_link_by_hand_out_of_a_checkout_leads_to_the_other_one(top: Path, spec: Path, foreign: Path) -> None:
    (foreign / "way").symlink_to(top / "fleets")
    assert before(foreign / "way" / "demo" / "fleet.toml") == OLD
    git_in(foreign, "add", "way")  # from now on it is the change's
    with pytest.raises(FilesError, match="is not a file at main"):
        revision = git.find_revision("main", foreign / "way" / "demo" / "fleet.toml")
        assert revision is not None
        raise git.missing_at(revision, foreign / "way" / "demo" / "fleet.toml")


def test_links_in_a_circle_end(top: Path, spec: Path) -> None:
    (spec.parent / "rendered").symlink_to("rendered")
    assert before(spec, beside=[spec.parent / "rendered"]) == OLD
