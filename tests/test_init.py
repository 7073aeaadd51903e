"""`fleetc init`: from an empty repository to a compiled fleet, and never over what is there."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from fleetc.language.spec import json_schema
from fleetc.version import __version__
from tests.outside_tools import program
from tests.support import ROOT, fleetc

pytestmark = pytest.mark.usefixtures("processes")

FIRST = ["fleet.toml", "spec.schema.json", ".gitattributes"]
WORKFLOWS = {
    "github": [
        ".github/workflows/fleet-review.yml",
        ".github/workflows/fleet-deploy.yml",
        ".github/fleetc/requirements.txt",
        ".github/fleetc/fleetc.txt",
    ],
    "gitlab": [".gitlab-ci.yml", ".gitlab/fleetc/requirements.txt", ".gitlab/fleetc/fleetc.txt"],
}
COMMIT = "git+https://git.example.net/tools/fleetc@" + "0123456789" * 4


def ci(service: str) -> list[str]:
    """The options that write the workflows of a service."""
    return ["--ci", service, "--install-from", COMMIT]


def git(place: Path, *arguments: str) -> str:
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.net", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *who, *arguments], cwd=place, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    return tmp_path


def files_of(place: Path) -> dict[str, bytes]:
    paths = (p for p in sorted(place.rglob("*")) if p.is_file() and ".git" not in p.relative_to(place).parts)
    return {p.relative_to(place).as_posix(): p.read_bytes() for p in paths}


@pytest.mark.parametrize("service", [None, "github", "gitlab"])
@pytest.mark.parametrize("where", [".", "fleets/my fleet"])
def test_new_fleet_checks_and_compiles_by_the_commands_that_are_printed(
    where: str, service: str | None, repository: Path
) -> None:
    done = fleetc("init", where, *(ci(service) if service else []), cwd=repository)
    assert done.returncode == 0, done.stderr
    wrote = [line.removeprefix("wrote ") for line in done.stdout.splitlines() if line.startswith("wrote ")]
    expected = [(Path(where) / name).as_posix() for name in FIRST]
    assert wrote == expected + (WORKFLOWS[service] if service else [])
    assert sorted(files_of(repository)) == sorted(wrote)
    check, compile_, add = map(shlex.split, done.stdout.partition("next:\n")[2].splitlines())
    assert (check[:2], compile_[:2], add[:2]) == (["fleetc", "check"], ["fleetc", "compile"], ["git", "add"])
    checked = fleetc(*check[1:], cwd=repository)
    assert (checked.returncode, checked.stderr) == (0, "no problems\n")
    assert fleetc(*compile_[1:], cwd=repository).returncode == 0
    git(repository, *add[1:])
    git(repository, "commit", "--quiet", "-m", "first")
    assert git(repository, "status", "--porcelain") == ""
    assert fleetc(*compile_[1:], "--check", cwd=repository).returncode == 0
    spec = (repository / where / "fleet.toml").read_text()
    assert spec.startswith("#:schema ./spec.schema.json\n")
    schema = json.loads((repository / where / "spec.schema.json").read_text())
    assert schema == json.loads(json.dumps(json_schema()))
    generated = git(repository, "check-attr", "linguist-generated", "text", "--", f"{where}/rendered/FLEET.md")
    assert "linguist-generated: set" in generated and "text: unset" in generated


def test_first_spec_is_good_by_its_schema_for_editors(repository: Path) -> None:
    fleetc("init", cwd=repository)
    for command in (["check-jsonschema", "--schemafile", "spec.schema.json"], ["tombi", "lint", "--offline"]):
        done = subprocess.run(
            [program(command[0]), *command[1:], "fleet.toml"],
            cwd=repository,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Warning" not in done.stdout + done.stderr


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_beside_a_spec_only_workflows_are_written(service: str, repository: Path) -> None:
    (repository / "fleet.toml").write_text((ROOT / "inventories/demo/fleet.toml").read_text())
    done = fleetc("init", *ci(service), cwd=repository)
    assert done.returncode == 0, done.stderr
    assert sorted(files_of(repository)) == sorted(["fleet.toml", *WORKFLOWS[service]])
    for path in WORKFLOWS[service]:
        text = (repository / path).read_text()
        assert "@SPEC@" not in text and "@SECRETS@" not in text
        if not path.endswith(".yml"):
            continue
        found = yaml.safe_load(text)
        assert (found.get("variables") or found.get("env"))["SPEC"] == "fleet.toml"


def test_workflow_of_a_fleet_in_a_folder_lies_at_the_top_and_names_it(repository: Path) -> None:
    folder = repository / "fleets" / "it's: #1"
    folder.mkdir(parents=True)
    assert fleetc("init", *ci("github"), cwd=folder).returncode == 0
    workflow = yaml.safe_load((repository / ".github/workflows/fleet-review.yml").read_text())
    assert workflow["env"]["SPEC"] == "fleets/it's: #1/fleet.toml"


def test_workflows_install_a_fixed_fleetc_or_are_not_written(repository: Path) -> None:
    (repository / "fleet.toml").write_text((ROOT / "inventories/demo/fleet.toml").read_text())
    refused = [
        None,
        "",
        "fleetc",
        f"fleetc=={__version__}",
        "git+https://git.example.net/tools/fleetc",
        "git+https://git.example.net/tools/fleetc@main",
        "git+https://git.example.net/tools/fleetc@0123456",
        "git+http://git.example.net/tools/fleetc@" + "0" * 40,
        "git+https://user:word@git.example.net/tools/fleetc@" + "0" * 40,
        COMMIT + "\n--index-url https://other.example.net",
        COMMIT + " --config-settings x=y",
        "sha256:" + "0" * 63,
        "sha256:" + "0" * 64 + "\nother",
    ]
    for source in refused:
        done = fleetc(
            "init", "--ci", "github", *(["--install-from", source] if source is not None else []), cwd=repository
        )
        assert done.returncode == 2, (source, done.stdout)
        assert "--install-from" in done.stderr and "COMMIT" in done.stderr
        assert sorted(files_of(repository)) == ["fleet.toml"], source
    alone = fleetc("init", "--install-from", COMMIT, cwd=repository)
    assert alone.returncode == 2 and "--ci" in alone.stderr

    def own(path: str) -> str:
        (line,) = [line for line in (repository / path).read_text().splitlines() if not line.startswith("#")]
        return line

    assert fleetc("init", *ci("github"), cwd=repository).returncode == 0
    assert own(".github/fleetc/fleetc.txt") == f"{COMMIT}#egg=fleetc"
    digest = "sha256:" + "ab" * 32
    assert fleetc("init", "--ci", "gitlab", "--install-from", digest, cwd=repository).returncode == 0
    assert own(".gitlab/fleetc/fleetc.txt") == f"fleetc=={__version__} --hash={digest}"


EXISTING = [
    ([], "fleet.toml"),
    ([], "spec.schema.json"),
    (ci("github"), ".github/workflows/fleet-deploy.yml"),
    (ci("github"), ".github/fleetc/requirements.txt"),
    (ci("gitlab"), ".gitlab-ci.yml"),
    (["new"], "new"),
]


@pytest.mark.parametrize(("options", "name"), EXISTING)
@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_nothing_is_written_over_anything(options: list[str], name: str, kind: str, repository: Path) -> None:
    path = repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        path.write_text("mine")
    else:
        path.symlink_to("nowhere")
    before = files_of(repository)
    done = fleetc("init", *options, cwd=repository)
    assert done.returncode in (1, 3)
    assert name in done.stderr and "error[" in done.stderr
    assert files_of(repository) == before
    assert not (repository / "nowhere").exists()
    assert done.stdout == "" and "Traceback" not in done.stderr and "internal error" not in done.stderr


def test_message_about_a_file_that_exists(repository: Path) -> None:
    (repository / "fleet.toml").write_text("mine")
    done = fleetc("init", cwd=repository)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error[file-exists]: fleet.toml already exists and was not changed\n --> fleet.toml\n"
        " = help: move it away, or name another directory; beside an existing spec, --ci writes only workflows\n"
    )
    assert fleetc("explain", "file-exists").returncode == 0


def test_attributes_that_are_there_stay_and_the_lines_are_told(repository: Path) -> None:
    (repository / ".gitattributes").write_text("*.png binary\n")
    done = fleetc("init", cwd=repository)
    assert done.returncode == 0, done.stderr
    assert (repository / ".gitattributes").read_text() == "*.png binary\n"
    assert "    rendered/** linguist-generated -text merge=fleetc\n" in done.stdout
    assert (repository / "fleet.toml").is_file()


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "::set-output name=x::y", "-x", "a" * 300])
def test_hostile_names_of_directories_are_shown_harmlessly(name: str, repository: Path) -> None:
    done = fleetc("init", "--", name, cwd=repository)
    assert done.returncode == (3 if len(name) > 255 else 0), done.stderr
    assert "\x1b" not in done.stdout + done.stderr and "Traceback" not in done.stderr
    assert not any(line.startswith("::") for line in (done.stdout + done.stderr).splitlines())


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_odd_places_are_no_options_and_nothing_that_a_service_fills_in(tmp_path: Path, service: str) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    assert fleetc("init", *ci(service), "./-x", cwd=tmp_path).returncode == 0
    found = [path for path in tmp_path.rglob("*.yml") if "./-x/fleet.toml" in path.read_text(encoding="utf-8")]
    assert found
    refused = fleetc("init", *ci(service), "a$b", cwd=tmp_path)
    assert refused.returncode == 2 and "contains a $" in refused.stderr
    assert not (tmp_path / "a$b").exists()
