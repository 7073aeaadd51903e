"""`fleetc diff` as a user runs it: against trees, specs and real git revisions, with its exit codes and messages."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
import tomli_w

from fleetc.cli.shared.baseline import unchecked
from fleetc.disk import git
from fleetc.disk.manifest import FilesError
from fleetc.pipeline import compile_spec
from fleetc.review.compare import compare
from fleetc.toml.document import Source
from tests.mutating import mutations, spread
from tests.review.git_support import git_in
from tests.review.support import example, side
from tests.support import few, fleetc, shipped

pytestmark = pytest.mark.usefixtures("processes")

DEMO = example("demo")
EDITED = DEMO.replace("max_sessions = 4", "max_sessions = 3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository in which the demo fleet and its tree are committed below a directory, and edited since."""
    git_in(tmp_path, "init", "--quiet", "--initial-branch=main")
    inner = tmp_path / "fleets" / "demo"
    inner.mkdir(parents=True)
    (inner / "fleet.toml").write_text(DEMO, encoding="utf-8")
    assert fleetc("compile", inner).returncode == 0
    git_in(tmp_path, "add", ".")
    git_in(tmp_path, "commit", "--quiet", "--message", "one")
    git_in(tmp_path, "tag", "v1")
    (inner / "fleet.toml").write_text(EDITED, encoding="utf-8")
    return inner


def refused(done: subprocess.CompletedProcess[str], code: str, exit_code: int = 1) -> str:
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr
    assert code in done.stderr
    assert done.stdout == ""
    return done.stderr


def test_rendered_tree_is_what_a_spec_is_compared_with(folder: Path) -> None:
    done = fleetc("diff", folder)
    assert done.returncode == 0, done.stderr
    assert "argument -maxSessions: 4 -> 3" in done.stdout
    assert f"{folder}/fleet.toml:29:16" in done.stdout
    assert fleetc("diff", folder, "--exit-code").returncode == 1
    (folder / "fleet.toml").write_text(DEMO, encoding="utf-8")
    same = fleetc("diff", folder, "--exit-code")
    assert (same.returncode, same.stderr) == (0, "")


@pytest.mark.parametrize("against", ["HEAD", "v1", "main", "refs/tags/v1", "HEAD~0", "main@{0}"])
def test_revision_of_git_is_compiled_from_its_spec(folder: Path, against: str) -> None:
    done = fleetc("diff", folder, "--against", against)
    assert "argument -maxSessions: 4 -> 3" in done.stdout, done.stderr
    assert f"against {against}" in done.stdout


def test_revision_is_found_from_inside_the_directory_and_through_a_link(folder: Path, tmp_path: Path) -> None:
    assert "-maxSessions: 4 -> 3" in fleetc("diff", "--against", "HEAD", cwd=folder).stdout
    (tmp_path / "link.toml").symlink_to(folder / "fleet.toml")
    assert "-maxSessions: 4 -> 3" in fleetc("diff", tmp_path / "link.toml", "--against", "HEAD").stdout


def test_overlay_is_read_at_the_revision_too(folder: Path) -> None:
    overlay = folder / "small.toml"
    overlay.write_text("[orchestrators.orch]\nmax_sessions = 2\n", encoding="utf-8")
    added = fleetc("diff", folder, "--overlay", overlay, "--against", "HEAD")
    assert (added.returncode, added.stderr) == (0, "")
    assert "-maxSessions: 4 -> 2" in added.stdout
    assert "small.toml, so that overlay is not applied there" in added.stdout
    git_in(folder, "add", ".")
    git_in(folder, "commit", "--quiet", "--message", "two")
    overlay.write_text("[orchestrators.orch]\nmax_sessions = 1\n", encoding="utf-8")
    assert "-maxSessions: 2 -> 1" in fleetc("diff", folder, "--overlay", overlay, "--against", "HEAD").stdout


def test_overlay_of_another_place_is_of_no_revision(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    overlay = tmp_path_factory.mktemp("elsewhere") / "small.toml"
    overlay.write_text("[orchestrators.orch]\nmax_sessions = 2\n", encoding="utf-8")
    refused(fleetc("diff", folder, "--overlay", overlay, "--against", "HEAD"), "git-file-missing")


@pytest.mark.parametrize("name", ["fix#12,a=b", "größe", "feature/x+y", "release-1.0", "a;b&c|d$(x)`y`"])
def test_branch_may_have_any_name_that_git_allows(folder: Path, name: str) -> None:
    git_in(folder, "branch", name)
    done = fleetc("diff", "--against", name, cwd=folder)
    assert "argument -maxSessions: 4 -> 3" in done.stdout, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["fleet.toml", "rendered"]


def test_directory_of_the_same_name_hides_no_revision(folder: Path, tmp_path: Path) -> None:
    (folder / "main").mkdir()
    (folder / "other").mkdir()
    assert "-maxSessions: 4 -> 3" in fleetc("diff", "--against", "main", cwd=folder).stdout
    text = refused(fleetc("diff", "--against", "other", cwd=folder), "baseline-unknown")
    assert "the directory other has no manifest.json and no fleet.toml, and git has no revision" in text
    bare = tmp_path.parent / f"{tmp_path.name}-bare"
    (bare / "other").mkdir(parents=True)
    (bare / "fleet.toml").write_text(DEMO, encoding="utf-8")
    no_git = fleetc("diff", "--against", "other", cwd=bare, GIT_CEILING_DIRECTORIES=str(bare.parent))
    assert "the directory other has no manifest.json" in refused(no_git, "baseline-unknown")


@pytest.mark.parametrize("name", ["HEAD", "main", "HEAD^0"])
def test_file_with_the_name_of_a_revision_does_not_stand_in_for_it(folder: Path, name: str) -> None:
    forged = folder / name
    forged.write_text((folder / "fleet.toml").read_text(encoding="utf-8"), encoding="utf-8")
    assert "a spec here and a git revision" in refused(
        fleetc("diff", "--against", name, cwd=folder), "baseline-ambiguous"
    )
    assert fleetc("diff", "--against", f"./{name}", cwd=folder).returncode == 0
    forged.unlink()
    forged.mkdir()
    (forged / "fleet.toml").write_text((folder / "fleet.toml").read_text(encoding="utf-8"), encoding="utf-8")
    refused(fleetc("diff", "--against", name, cwd=folder), "baseline-ambiguous")


def test_link_is_followed_as_it_was(folder: Path) -> None:
    for name, sessions in (("prod.toml", 4), ("stg.toml", 2)):
        text = DEMO.replace("max_sessions = 4", f"max_sessions = {sessions}")
        (folder / name).write_text(text, encoding="utf-8")
        (folder / f"{name}.d").mkdir()
        (folder / f"{name}.d" / "fleet.toml").write_text(text, encoding="utf-8")
    spec, way = folder / "fleet.toml", folder / "way"
    spec.unlink()
    for link, before, now in ((spec, "prod.toml", "stg.toml"), (way, "prod.toml.d", "stg.toml.d")):
        link.symlink_to(before)
        git_in(folder, "add", ".")
        git_in(folder, "commit", "--quiet", "--message", "a link")
        link.unlink()
        link.symlink_to(now)
    git_in(folder, "checkout", "--quiet", "HEAD", "--", "fleet.toml")
    spec.unlink()
    spec.symlink_to("stg.toml")
    for place in (folder, way):
        done = fleetc("diff", place, "--against", "HEAD~1" if place is folder else "HEAD")
        assert "argument -maxSessions: 4 -> 2" in done.stdout, done.stderr
    git_in(folder, "commit", "--quiet", "--all", "--message", "other links")
    assert "Nothing changes" in fleetc("diff", folder, "--against", "HEAD").stdout


def test_link_that_led_nowhere_in_the_repository_is_no_file(folder: Path) -> None:
    spec = folder / "fleet.toml"
    for target in ("/etc/hostname", "gone.toml", "fleet.toml", "../../../../fleet.toml", "rendered"):
        spec.unlink()
        spec.symlink_to(target)
        git_in(folder, "commit", "--quiet", "--all", "--message", "a link")
        spec.unlink()
        spec.write_text(DEMO, encoding="utf-8")
        refused(fleetc("diff", folder, "--against", "HEAD"), "git-file-missing")


# --- a base that does not pass the checks of today -----------------------------------------------

UNREADABLE = DEMO.replace("max_sessions = 4", "sessions_of_old = 4")


def commit_base(folder: Path, text: str, keep_tree: bool) -> None:
    """A base with this spec, and the tree of the fleet beside it or none at all; the spec of today fixes it."""
    (folder / "fleet.toml").write_text(text, encoding="utf-8")
    if not keep_tree:
        git_in(folder, "rm", "-r", "--quiet", "--cached", "rendered")
    git_in(folder, "add", "fleet.toml")
    git_in(folder, "commit", "--quiet", "--message", "flawed")
    (folder / "fleet.toml").write_text(EDITED, encoding="utf-8")


def test_base_that_a_rule_refuses_is_compared_with_a_note(folder: Path) -> None:
    commit_base(folder, DEMO.replace("max_sessions = 4", "max_sessions = 4\ngpus = [0, 0]"), keep_tree=False)
    done = fleetc("diff", folder, "--against", "HEAD")
    assert done.returncode == 0, done.stderr
    assert "argument -maxSessions: 4 -> 3" in done.stdout
    assert "argument -nvidia" in done.stdout
    assert "does not compile" in done.stdout and "HEAD is compared as if it had no errors" in done.stdout
    assert fleetc("diff", folder, "--against", "HEAD", "--max-impact", "capacity=none").returncode == 1


def test_base_that_cannot_be_read_is_compared_by_its_tree(folder: Path) -> None:
    commit_base(folder, UNREADABLE, keep_tree=True)
    done = fleetc("diff", folder, "--against", "HEAD")
    assert done.returncode == 0, done.stderr
    assert "with those of the tree committed at HEAD" in done.stdout
    assert "-maxSessions=4 -> -maxSessions=3" in done.stdout
    assert "1 process restarts" in done.stdout
    limited = fleetc("diff", folder, "--against", "HEAD", "--max-impact", "restart=9")
    assert "the limits cannot be checked" in limited.stderr


def test_base_that_cannot_be_read_and_has_no_tree_is_compared_by_its_text(folder: Path) -> None:
    commit_base(folder, UNREADABLE, keep_tree=False)
    for form in ("text", "markdown", "html", "json"):
        done = fleetc("diff", folder, "--against", "HEAD", "--format", form)
        assert done.returncode == 0, done.stderr
        assert "only the texts of the spec are compared" in done.stdout
        assert "sessions_of_old = 4" in done.stdout
        assert "launch.flags" not in done.stdout
        assert "none with an effect" not in done.stdout and "no process restarts" not in done.stdout.lower()
    limited = fleetc("diff", folder, "--against", "HEAD", "--max-impact", "restart=9")
    assert "the limits cannot be checked" in limited.stderr


@pytest.mark.parametrize("listed", ["", "{}", '{"path": "manifest.json", "sha256": "x", "mode": "0644"}'])
def test_odd_tree_of_a_base_is_no_crash(folder: Path, listed: str) -> None:
    (folder / "rendered" / "manifest.json").write_text(f'{{"files": [{listed}]}}', encoding="utf-8")
    git_in(folder, "add", "rendered")
    commit_base(folder, UNREADABLE, keep_tree=True)
    done = fleetc("diff", folder, "--against", "HEAD")
    assert done.returncode == ("manifest.json" in listed), done.stderr  # the manifest belies itself
    assert "does not compile" in done.stdout


@pytest.mark.parametrize("name", ["ai-split", "avatar-stage", "two-regions"])
def test_seeded_bases_with_errors_are_reviewed(name: str) -> None:
    """Lowering and review meet what rules would have kept from them."""
    raw = tomllib.loads(example(name))
    new, reviewed = side(example(name)), 0
    for mutation in spread(mutations(raw, raw), few(160), f"with errors {name}"):
        old = Source("HEAD:./fleet.toml", tomli_w.dumps(mutation.apply(raw)))
        if compile_spec([old], *shipped()).tree is None:
            found = unchecked("HEAD", [old], FilesError("baseline-unsound", "", path="", advice=""))
            reviewed += found is not None
            assert found is None or compare(found, new).notes
    assert reviewed > 1


def test_range_or_option_is_no_revision(folder: Path) -> None:
    for against in ("main..HEAD", "main...HEAD", "^HEAD", "HEAD^!", "HEAD^@", ":/one", "main\nHEAD", "x" * 300):
        refused(fleetc("diff", folder, f"--against={against}"), "baseline-unknown")


def test_spec_and_directory_are_compared_with_as_they_are(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "fleet.toml").write_text(DEMO.replace("max_sessions = 4", "max_sessions = 9"), encoding="utf-8")
    for against in (other, other / "fleet.toml"):
        assert "-maxSessions: 9 -> 3" in fleetc("diff", folder, "--against", against).stdout


def test_baseline_that_is_none_says_what_to_name(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "flawed.toml").write_text(DEMO.replace('host = "studio"', 'host = "stduio"'), encoding="utf-8")
    for against in (
        "no-such-branch",
        "HEAD:fleet.toml",
        "-",
        "--output=x",
        "--upload-pack=touch",
        "",
        "a b",
        "\x1b[31m",
    ):
        text = refused(fleetc("diff", folder, f"--against={against}"), "baseline-unknown")
        assert "a git revision" in text
        assert "\x1b" not in text
    refused(fleetc("diff", folder, "--against", tmp_path / "empty"), "baseline-unknown")
    unsound = refused(fleetc("diff", folder, "--against", tmp_path / "flawed.toml"), "baseline-unsound")
    assert 'flawed.toml:16: there is no host "stduio"' in unsound
    refused(fleetc("diff", folder, "--against", folder / "fleet.toml" / "x"), "baseline-unknown")


def test_empty_name_is_not_the_directory_that_one_stands_in(folder: Path) -> None:
    refused(fleetc("diff", "--against", "", cwd=folder), "baseline-unknown")


def test_revision_with_the_same_spec_is_no_change_when_the_spec_is_named_alone(folder: Path) -> None:
    (folder / "fleet.toml").write_text(DEMO, encoding="utf-8")
    for spec in ((), ("fleet.toml",), ("./fleet.toml",)):
        done = fleetc("diff", *spec, "--against", "HEAD", "--exit-code", cwd=folder)
        assert done.returncode == 0, done.stdout
        assert "Nothing changes" in done.stdout
    assert git_in(folder, "show", "HEAD:./fleet.toml") == DEMO.strip()  # how places of the old side are spelt


def test_limits_are_broken_where_nothing_can_be_judged(folder: Path) -> None:
    copy = folder / "rendered" / "spec" / "base.toml"
    copy.write_text(DEMO.replace("max_sessions = 4", "max_sessions = 5"), encoding="utf-8")
    done = fleetc("diff", folder, "--max-impact", "price=5%")
    assert done.returncode == 1
    assert "every limit is broken" in done.stderr
    assert "only files are compared" in done.stdout
    assert "instead of none" not in done.stdout
    assert fleetc("diff", folder).returncode == 1, "a tree that is not what its own spec says is an error"


def test_tree_edited_by_hand_ends_with_1_and_names_the_file(folder: Path) -> None:
    assert fleetc("diff", folder).returncode == 0
    (flags,) = (folder / "rendered/hosts").glob("*/gate/launch.flags")
    flags.write_text(flags.read_text(encoding="utf-8") + "-maxPricePerUnit=1\n", encoding="utf-8")
    for arguments in ((), ("--against", folder / "rendered")):
        done = fleetc("diff", folder, *arguments)
        assert done.returncode == 1 and "gate/launch.flags" in done.stderr, done.stdout
        assert "text that no setting decides" not in done.stdout


def test_missing_and_mangled_trees_are_diagnostics(folder: Path) -> None:
    (folder / "rendered" / "manifest.json").write_text("{", encoding="utf-8")
    refused(fleetc("diff", folder), "manifest-unreadable")
    (folder / "rendered" / "manifest.json").write_text('{"files": []}', encoding="utf-8")
    assert fleetc("diff", folder).returncode == 0
    (folder / "rendered").rename(folder / "gone")
    refused(fleetc("diff", folder), "tree-missing")


@pytest.mark.parametrize(
    "manifest",
    [
        '{"files": [], "tool": 5}',
        '{"files": [{"path": "FLEET.md", "sha256": "x", "mode": "0644"}], "tool": {"version": 7}}',
        '{"files": [{"path": "spec/base.toml", "sha256": "x", "mode": "0644"}]}',
        '{"files": [{"path": "hosts/a", "sha256": "x", "mode": "0644"}]}',
    ],
)
def test_odd_manifest_is_no_crash(folder: Path, manifest: str) -> None:
    (folder / "rendered" / "manifest.json").write_text(manifest, encoding="utf-8")
    done = fleetc("diff", folder)
    assert done.returncode in (0, 1) and "internal" not in done.stderr, done.stderr
    assert "file" in done.stdout


def test_outside_of_a_repository_is_a_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text(DEMO, encoding="utf-8")
    done = fleetc("diff", tmp_path, "--against", "HEAD", GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    refused(done, "git-unavailable")
    none = fleetc("diff", tmp_path, "--against", "HEAD", PATH="/nonexistent")
    assert "cannot run git" in refused(none, "git-unavailable")


def test_limits_fail_and_name_the_change_with_its_line(folder: Path) -> None:
    done = fleetc("diff", folder, "--max-impact", "restart=0,capacity=none,price=5%")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: the limit restart=0 is broken (it comes to 1)",
        f"  argument -maxSessions on studio orch ({folder}/fleet.toml:29:16)",
        "error: the limit capacity=none is broken",
        f"  argument -maxSessions on studio orch ({folder}/fleet.toml:29:16)",
    ]
    assert fleetc("diff", folder, "--max-impact", "restart=1").returncode == 0
    wrong = fleetc("diff", folder, "--max-impact", "restart=many")
    assert wrong.returncode == 2
    assert "write for example price=5%" in wrong.stderr


def test_report_goes_into_a_file_in_the_form_asked_for(folder: Path, tmp_path: Path) -> None:
    for form in ("text", "markdown", "html", "json"):
        file = tmp_path / f"review.{form}"
        done = fleetc("diff", folder, "--format", form, "-o", file)
        assert (done.returncode, done.stdout) == (0, "")
        assert "maxSessions" in file.read_text(encoding="utf-8")
    assert json.loads((tmp_path / "review.json").read_text(encoding="utf-8"))["changes"][0]["what"] == "-maxSessions"
    refused(fleetc("diff", folder, "-o", tmp_path / "none" / "x"), "cannot write", exit_code=3)


# --- what a repository could do to its reader -----------------------------------------------------


def test_configuration_of_the_repository_runs_nothing(folder: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n", encoding="utf-8")
    trap.chmod(0o755)
    for key in (
        *("core.pager", "core.fsmonitor", "core.sshCommand", "core.askPass", "core.editor", "diff.external"),
        *("diff.trap.textconv", "diff.trap.command", "filter.trap.smudge", "filter.trap.clean", "pager.show"),
        *("gpg.program", "credential.helper", "alias.show", "alias.cat-file", "core.alternateRefsCommand"),
    ):
        git_in(folder, "config", key, f"!{trap}" if key.startswith("alias") else str(trap))
    git_in(folder, "config", "core.hooksPath", str(tmp_path))
    git_in(folder, "config", "log.showSignature", "true")
    (folder / ".gitattributes").write_text("*.toml diff=trap filter=trap\n", encoding="utf-8")
    done = fleetc("diff", folder, "--against", "HEAD", GIT_PAGER=str(trap), GIT_EXTERNAL_DIFF=str(trap), GIT_TRACE="1")
    assert "-maxSessions: 4 -> 3" in done.stdout, done.stderr
    assert not (tmp_path / "sprung").exists()
    assert "trace" not in done.stderr


def test_variables_of_a_hook_do_not_lead_elsewhere(folder: Path, tmp_path: Path) -> None:
    done = fleetc(
        "diff", folder, "--against", "HEAD", GIT_DIR=str(tmp_path / "none"), GIT_INDEX_FILE="x", GIT_PREFIX="y/"
    )
    assert "-maxSessions: 4 -> 3" in done.stdout, done.stderr


def test_what_is_no_file_at_a_revision_is_told(folder: Path) -> None:
    revision = git.find_revision("HEAD", folder)
    assert revision is not None
    with pytest.raises(FilesError, match="is not a file at HEAD"):
        git.read_at(revision, folder / "rendered")
    with pytest.raises(FilesError, match="is not a file at HEAD"):
        git.read_at(revision, Path("/etc/passwd"))
    with pytest.raises(FilesError, match="larger than 10 bytes"):
        git.read_at(revision, folder / "fleet.toml", limit_bytes=10)
    assert git.read_at(revision, folder / "none.toml") is None
    assert git.find_revision("-x", folder) is None
    assert git.find_revision("^HEAD", folder) is None
    assert git.find_revision("HEAD^{tree}", folder) is None


def test_copy_of_the_spec_is_tried_against_a_branch(folder: Path) -> None:
    """The branch has no such file, so the spec with the usual name is what the copy is a copy of."""
    (folder / "try.toml").write_text(EDITED.replace("max_sessions = 3", "max_sessions = 2"), encoding="utf-8")
    done = fleetc("diff", "try.toml", "--against", "main", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "argument -maxSessions: 4 -> 2" in done.stdout and "--> try.toml:29:16" in done.stdout
    assert "note: main has no try.toml, so fleet.toml there is compared with" in done.stdout
    git_in(folder, "rm", "--quiet", "--cached", "fleet.toml")
    git_in(folder, "commit", "--quiet", "--message", "gone")
    assert "try.toml is not a file at HEAD" in refused(
        fleetc("diff", "try.toml", "--against", "HEAD", cwd=folder), "git-file-missing"
    )


def test_warnings_of_both_sides_are_counted_and_not_repeated(folder: Path) -> None:
    old = DEMO.replace('orchestrators = ["orch"]', 'orchestrators = ["orch"]  # TODO: all of them')
    (folder / "fleet.toml").write_text(old, encoding="utf-8")
    git_in(folder, "commit", "--quiet", "--all", "--message", "two")
    new = old.replace("max_sessions = 4", "max_sessions = 3")
    (folder / "fleet.toml").write_text(new, encoding="utf-8")
    done = fleetc("diff", folder, "--against", "HEAD")
    assert "-maxSessions: 4 -> 3" in done.stdout
    assert done.stderr == "note: 1 warning is as before this change; fleetc check shows all warnings\n"
    (folder / "fleet.toml").write_text(new.replace("[fleet]", "[fleet]  # TODO"), encoding="utf-8")
    more = fleetc("diff", folder, "--against", "HEAD")
    assert more.stderr.startswith("warning[todo-left]: 2 values are still marked TODO") and "note:" not in more.stderr
    assert "1 warning" in fleetc("diff", folder, "--against", folder / "fleet.toml").stderr
    assert fleetc("diff", folder, "--against", "gone").stderr.startswith("warning[todo-left]")
