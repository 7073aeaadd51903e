"""What a revision means and holds: names that several commits have, histories that were rewritten beside the commits,
and contents that are not there. With real git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fleetc.disk import git
from fleetc.disk.manifest import FilesError
from tests.review.git_support import NEW, OLD, before, commit, git_in, new_repository, refusal

pytestmark = [pytest.mark.usefixtures("nobodys_settings"), pytest.mark.usefixtures("processes")]


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["main", "main~0", "main^{commit}", "main@{0}"])
def test_tag_with_the_name_of_a_branch_does_not_stand_in_for_it(top: Path, spec: Path, name: str) -> None:
    assert before(spec, name) == OLD
    git_in(top, "tag", "main", "main")
    assert before(spec, name) == OLD  # the same commit
    git_in(top, "tag", "--force", "main", "change")
    assert refusal(spec, name) == "baseline-ambiguous"
    assert before(spec, "refs/heads/main") == OLD
    assert before(spec, "refs/tags/main") == NEW


def test_tag_with_the_name_of_a_branch_of_the_other_side_does_not_stand_in_for_it(top: Path, tmp_path: Path) -> None:
    git_in(top, "branch", "release/1", "main")
    clone = tmp_path / "clone"
    git_in(tmp_path, "clone", "--quiet", "--branch", "change", str(top), str(clone))
    spec = clone / "fleets" / "demo" / "fleet.toml"
    assert before(spec, "origin/main") == OLD
    for tag, name in (("origin/main", "origin/main"), ("release/1", "release/1"), ("main", "main")):
        git_in(clone, "tag", tag, "change")
        assert refusal(spec, name) == "baseline-ambiguous"
        git_in(clone, "tag", "--delete", tag)
    git_in(clone, "branch", "origin/main", "change")
    assert refusal(spec, "origin/main") == "baseline-ambiguous"
    git_in(clone, "tag", "refs/heads/release/1", "change")
    assert before(spec, "refs/heads/release/1") is None
    git_in(clone, "tag", "v1", "change")
    assert before(spec, "v1") == NEW


def test_short_id_that_is_a_name_too_is_refused(top: Path, spec: Path) -> None:
    whole = git_in(top, "rev-parse", "main")
    for short in (whole[:7], whole[:7].upper(), f"v1-3-g{whole[:9]}"):
        assert before(spec, short) == OLD
        git_in(top, "tag", short, "change")
        assert refusal(spec, short) == "baseline-ambiguous"
        git_in(top, "tag", "--delete", short)
    git_in(top, "tag", whole, "change")
    assert before(spec, whole) == OLD
    git_in(top, "branch", "dead", "main")  # the beginning of no commit's id, as far as anybody can choose
    assert before(spec, "dead") == OLD


def test_message_says_which_commits_a_name_stands_for(top: Path, spec: Path) -> None:
    git_in(top, "tag", "main", "change")
    with pytest.raises(FilesError) as refused:
        before(spec)
    assert "main matches several git commits: refs/heads/main and refs/tags/main" in refused.value.message
    assert "refs/heads/NAME" in refused.value.help


def test_symbolic_refs_and_worktree_refs_are_what_they_lead_to(top: Path, spec: Path) -> None:
    git_in(top, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    assert before(spec, "alias") == OLD
    for name in ("HEAD", "@"):
        for ref in ("refs/heads/HEAD", "refs/tags/HEAD"):  # whoever says HEAD means what is checked out
            git_in(top, "update-ref", ref, "main")
        assert before(spec, name) == NEW


# --- histories ------------------------------------------------------------------------------------


def test_history_that_is_rewritten_beside_the_commits_is_not_read(
    top: Path, spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = git_in(top, "rev-parse", "main"), git_in(top, "rev-parse", "change")
    spec.write_text("newer = 1\n", encoding="utf-8")
    commit(top, "another change")
    newer = git_in(top, "rev-parse", "HEAD")
    git_in(top, "replace", old, newer)
    assert git_in(top, "show", "main:fleets/demo/fleet.toml") == "newer = 1"  # git itself goes along
    assert before(spec, "main") == OLD
    git_in(top, "replace", "--delete", old)
    grafts = top / ".git" / "info" / "grafts"
    grafts.write_text(f"{new} {newer}\n", encoding="utf-8")
    assert git_in(top, "show", "HEAD~1^:fleets/demo/fleet.toml") == "newer = 1"
    assert before(spec, "HEAD~1^") == OLD
    grafts.unlink()
    (top / "grafts").write_text(f"{new} {newer}\n", encoding="utf-8")
    (top / "shallow").write_text(f"{new}\n", encoding="utf-8")
    for variable, value in {
        "GIT_GRAFT_FILE": "grafts",
        "GIT_SHALLOW_FILE": "shallow",
        "GIT_REPLACE_REF_BASE": "refs/heads/",
        "GIT_NAMESPACE": "other",
        "GIT_DIR": "/nonexistent",
        "GIT_COMMON_DIR": "/nonexistent",
        "GIT_WORK_TREE": "/nonexistent",
        "GIT_INDEX_FILE": "/nonexistent",
        "GIT_OBJECT_DIRECTORY": "/nonexistent",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nonexistent",
        "GIT_IMPLICIT_WORK_TREE": "0",
        "GIT_EXEC_PATH": "/nonexistent",
        "GIT_TRACE": "1",
        "GIT_LITERAL_PATHSPECS": "0",
        "GIT_CEILING_DIRECTORIES": str(top.parent),
        "GIT_PREFIX": "elsewhere/",
        "GIT_DEFAULT_HASH": "sha256",
    }.items():
        monkeypatch.setenv(variable, value)
    for name in ("main", "HEAD~1^"):
        assert before(spec, name) == OLD


def test_shallow_clone_and_borrowed_objects_are_read(top: Path, tmp_path: Path) -> None:
    git_in(top, "checkout", "--quiet", "-b", "merged", "main")
    git_in(top, "merge", "--quiet", "--no-ff", "-m", "merge", "change")
    git_in(tmp_path, "clone", "--quiet", "--depth", "2", f"file://{top}", "shallow")
    git_in(tmp_path, "clone", "--quiet", "--shared", str(top), "shared")
    for clone in ("shallow", "shared"):
        spec = tmp_path / clone / "fleets" / "demo" / "fleet.toml"
        assert (before(spec, "HEAD"), before(spec, "HEAD^1")) == (NEW, OLD)
    assert before(tmp_path / "shallow" / "fleets" / "demo" / "fleet.toml", "HEAD~3") is None


# --- configuration that a change may edit, because the user included a committed file -------------


def test_included_configuration_of_the_checkout_leads_nowhere(top: Path, spec: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n", encoding="utf-8")
    trap.chmod(0o755)
    other = tmp_path / "other"
    other.mkdir()
    new_repository(other, NEW)
    committed = top / "gitconfig"
    for key, value in {
        "core.worktree": str(other),
        "core.bare": "true",
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(tmp_path),
        "core.attributesFile": str(top / "attributes"),
        "core.alternateRefsCommand": str(trap),
        "core.gitProxy": str(trap),
        "core.useReplaceRefs": "true",
        "filter.trap.smudge": str(trap),
        "filter.trap.process": str(trap),
        "diff.trap.textconv": str(trap),
        "safe.bareRepository": "all",
        "safe.directory": "*",
        "alias.cat-file": f"!{trap}",
        "alias.rev-parse": f"!{trap}",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{trap}",
        "protocol.ext.allow": "always",
        "trace2.eventTarget": str(tmp_path / "sprung"),
        "rev.abbrev": "4",
    }.items():
        git_in(top, "config", "--file", str(committed), key, value)
    (top / "attributes").write_text("* filter=trap diff=trap\n", encoding="utf-8")
    git_in(top, "config", "include.path", "../gitconfig")
    git_in(top, "config", f"includeIf.gitdir:{top}/.path", "../gitconfig")
    assert before(spec) == OLD
    assert before(spec, "no-such-name") is None
    assert not (tmp_path / "sprung").exists()


# --- contents that are not there ------------------------------------------------------------------


@pytest.fixture
def partial(top: Path, tmp_path: Path) -> Path:
    """The spec of a clone without old contents, whose configuration runs a trap where git wants to fetch them."""
    tree = top / "fleets" / "demo" / "rendered"
    tree.mkdir()
    (tree / "manifest.json").write_text("{}", encoding="utf-8")
    (tree.parent / "staging.toml").write_text(OLD, encoding="utf-8")
    commit(top, "a tree")
    git_in(top, "branch", "--force", "main")
    for path in (tree / "manifest.json", tree.parent / "staging.toml", tree.parent / "fleet.toml"):
        path.write_text("newest = 1\n", encoding="utf-8")
    commit(top, "a change of all")
    git_in(top, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    git_in(tmp_path, "clone", "--quiet", "--filter=blob:none", "--branch", "change", f"file://{top}", str(clone))
    (tmp_path / "trap.sh").write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    (tmp_path / "trap.sh").chmod(0o755)
    git_in(clone, "config", "remote.origin.url", f"ext::{tmp_path}/trap.sh")
    git_in(clone, "config", "protocol.ext.allow", "always")
    return clone / "fleets" / "demo" / "fleet.toml"


def test_content_that_the_clone_was_made_without_is_told(partial: Path, tmp_path: Path) -> None:
    revision = git.find_revision("origin/main", partial)
    assert revision is not None
    for name in ("fleet.toml", "staging.toml"):
        with pytest.raises(FilesError, match="this clone lacks the content of") as lacking:
            git.read_at(revision, partial.parent / name)
        assert lacking.value.code == "git-content-missing"
    with pytest.raises(FilesError, match="this clone lacks the content of fleets/demo/rendered"):
        git.files_below(revision, partial.parent / "rendered")
    assert git.read_at(revision, partial.parent / "none.toml") is None
    assert git.files_below(revision, partial.parent / "none") == {}
    assert before(partial, "HEAD") == "newest = 1\n"
    assert not (tmp_path / "sprung").exists()


def test_older_git_fetches_nothing_either(partial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git before 2.39.4 does not know GIT_NO_LAZY_FETCH: this stand-in for one hides it from the real git."""
    real = shutil.which("git")
    (tmp_path / "bin").mkdir()
    older = tmp_path / "bin" / "git"
    older.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {real} "$@"\n', encoding="utf-8")
    older.chmod(0o755)
    monkeypatch.delenv("GIT_NO_LAZY_FETCH", raising=False)
    with pytest.raises(subprocess.CalledProcessError):
        git_in(partial.parent, "show", "origin/main:./fleet.toml")
    assert (tmp_path / "sprung").exists()  # what that git does when it is asked directly
    (tmp_path / "sprung").unlink()
    monkeypatch.setenv("PATH", f"{older.parent}{os.pathsep}{os.environ['PATH']}")
    assert refusal(partial, "origin/main") == "git-content-missing"
    assert not (tmp_path / "sprung").exists()


def test_what_was_a_submodule_is_no_missing_overlay(top: Path, spec: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    new_repository(inner, OLD)
    git_in(top, "checkout", "--quiet", "main")
    git_in(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    commit(top, "a submodule")
    git_in(top, "checkout", "--quiet", "change")
    shutil.rmtree(top / "sub", ignore_errors=True)
    (top / "sub").mkdir()
    overlay = top / "sub" / "staging.toml"
    overlay.write_text(NEW, encoding="utf-8")
    commit(top, "a directory in its place")
    revision = git.find_revision("main", spec)
    assert revision is not None
    for path in (overlay, top / "sub"):
        with pytest.raises(FilesError, match="is not a file at main"):
            git.read_at(revision, path)
    assert git.files_below(revision, top / "sub") == {}
