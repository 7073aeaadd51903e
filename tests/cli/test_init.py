"""`fleetc init`: from an empty repository to a compiled fleet, and never over what is there."""

from __future__ import annotations

import itertools
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from fleetc.cli.first.spec import Answers, Kind, Network, Where, first_spec, read_host
from fleetc.formatting import formatted
from fleetc.language.editor import editor_schema
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source
from fleetc.version import __version__
from tests.emit.programs import run
from tests.outside_tools import program
from tests.support import ROOT, fleetc

pytestmark = pytest.mark.usefixtures("processes")

FIRST = ["fleet.toml", "spec.schema.json", ".gitattributes", ".gitignore", "ansible.cfg"]
WORKFLOWS = {
    "github": [
        ".github/workflows/fleet-review.yml",
        ".github/workflows/fleet-comment.yml",
        ".github/workflows/fleet-deploy.yml",
        ".github/workflows/fleet-verify.yml",
        ".github/fleetc/requirements.txt",
        ".github/fleetc/fleetc.txt",
        ".github/fleetc/limits.toml",
    ],
    "gitlab": [
        ".gitlab-ci.yml",
        ".gitlab/fleetc/fleet.yml",
        ".gitlab/fleetc/requirements.txt",
        ".gitlab/fleetc/fleetc.txt",
        ".gitlab/fleetc/limits.toml",
    ],
}
COMMIT = "git+https://git.example.net/tools/fleetc@" + "0123456789" * 4


def named(path: str, folder: str) -> str:
    """The path of a workflow for the fleet in a folder."""
    slug = folder.strip(".").replace("/", "-").replace(" ", "-")
    kinds = "fleet|limits|fleet-(?:review|comment|deploy|verify)"
    return re.sub(rf"/({kinds})\.(yml|toml)$", rf"/\1-{slug}.\2", path) if slug else path


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
    assert wrote == expected + [named(path, where) for path in (WORKFLOWS[service] if service else [])]
    assert sorted(files_of(repository)) == sorted(wrote)
    lines = done.stdout.partition("next:\n")[2].splitlines()
    check, compile_, todo, add = (shlex.split(line, comments=True) for line in lines)
    assert [line[:2] for line in (check, compile_, todo)] == [["fleetc", name] for name in ("check", "compile", "todo")]
    assert add[:2] == ["git", "add"]
    checked = fleetc(*check[1:], cwd=repository)
    assert (checked.returncode, checked.stdout) == (0, "no problems\n")
    assert fleetc(*compile_[1:], cwd=repository).returncode == 0
    assert "Who runs the hosts" in fleetc(*todo[1:], cwd=repository).stdout
    git(repository, *add[1:])
    git(repository, "commit", "--quiet", "-m", "first")
    assert git(repository, "status", "--porcelain") == ""
    assert fleetc(*compile_[1:], "--check", cwd=repository).returncode == 0
    spec = (repository / where / "fleet.toml").read_text()
    assert spec.startswith("#:schema ./spec.schema.json\n")
    schema = json.loads((repository / where / "spec.schema.json").read_text())
    assert schema == json.loads(json.dumps(editor_schema()))
    generated = git(repository, "check-attr", "linguist-generated", "text", "--", f"{where}/rendered/FLEET.md")
    assert "linguist-generated: set" in generated and "text: unset" in generated


@pytest.mark.parametrize("where", [".", "my fleet"])
def test_commands_that_are_printed_begin_a_repository_where_there_is_none(where: str, tmp_path: Path) -> None:
    done = fleetc("init", where, cwd=tmp_path)
    begin, add = (shlex.split(line) for line in done.stdout.splitlines()[-2:])
    git(tmp_path, *begin[1:])
    git(tmp_path, *add[1:])
    assert "A  fleet.toml" in git(tmp_path / where, "status", "--porcelain")


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
        assert not re.search("@[A-Z]+@", text)
        if path.endswith(".yml") and path != ".gitlab-ci.yml":
            found = yaml.safe_load(text)
            assert (found.get("env") or found[".fleetc"]["variables"])["SPEC"] == "fleet.toml"


def test_workflow_of_a_fleet_in_a_folder_lies_at_the_top_and_names_it(repository: Path) -> None:
    folder = repository / "fleets" / "it's: #1"
    folder.mkdir(parents=True)
    assert fleetc("init", *ci("github"), cwd=folder).returncode == 0
    workflow = yaml.safe_load((repository / ".github/workflows/fleet-review-fleets-it-s-1.yml").read_text())
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
    (ci("gitlab"), ".gitlab/fleetc/fleet.yml"),
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


def test_pipelines_of_others_stay_and_the_lines_are_told(repository: Path) -> None:
    (repository / ".gitlab-ci.yml").write_text("build: {script: [make]}\n")
    done = fleetc("init", *ci("gitlab"), cwd=repository)
    assert done.returncode == 0 and "      - local: /.gitlab/fleetc/*.yml\n" in done.stdout
    assert (repository / ".gitlab-ci.yml").read_text() == "build: {script: [make]}\n"


def test_workflows_that_are_there_already_are_not_written_again(repository: Path) -> None:
    (repository / "fleet.toml").write_text((ROOT / "inventories/demo/fleet.toml").read_text())
    assert fleetc("init", *ci("github"), cwd=repository).returncode == 0
    (repository / ".github/workflows/fleet-verify.yml").unlink()
    done = fleetc("init", *ci("github"), cwd=repository)
    assert done.stdout.startswith("wrote .github/workflows/fleet-verify.yml\nnext:\n")


def test_message_about_a_file_that_exists(repository: Path) -> None:
    (repository / "fleet.toml").write_text("mine")
    done = fleetc("init", cwd=repository)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error[file-exists]: fleet.toml already exists and was not changed\n --> fleet.toml\n"
        " = help: move it away, or name another directory; beside an existing spec, --ci writes only workflows\n"
    )
    assert fleetc("explain", "file-exists").returncode == 0


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (".gitattributes", "rendered/** linguist-generated -text merge=fleetc"),
        (".gitignore", "plan.json"),
        ("ansible.cfg", "inventory = rendered/ansible/inventory.json"),
    ],
)
def test_files_of_other_programs_that_are_there_stay_and_the_lines_are_told(
    name: str, line: str, repository: Path
) -> None:
    (repository / name).write_text("*.png binary\n")
    done = fleetc("init", cwd=repository)
    assert done.returncode == 0, done.stderr
    assert (repository / name).read_text() == "*.png binary\n"
    assert f"    {line}\n" in done.stdout
    assert (repository / "fleet.toml").is_file()


HOSTS = ["edge=203.0.113.10/gate.example.net", "gpu-1=203.0.113.20", "gpu-2=203.0.113.21"]
ANSWERS = list(itertools.product(Kind, Where, Network, (1, 3)))


@pytest.mark.parametrize(("kind", "where", "network", "count"), ANSWERS)
def test_answers_give_a_short_spec_without_problems(kind: Kind, where: Where, network: Network, count: int) -> None:
    text = first_spec(Answers(kind, where, network, tuple(map(read_host, HOSTS[:count]))))
    checked = check_spec([Source("fleet.toml", text)])
    assert checked.fleet is not None and {found.code for found in checked.diagnostics} <= {"todo-left"}
    assert bool(checked.diagnostics) == ("# TODO" in text)
    assert len(text.splitlines()) < 85
    assert set(checked.fleet.hosts) == {host.partition("=")[0] for host in HOSTS[:count]}
    assert {host.runtime for host in checked.fleet.hosts.values()} == {str(where)}
    assert checked.fleet.fleet.network == str(network)
    nodes = (*checked.fleet.gateways.values(), *checked.fleet.orchestrators.values())
    assert {node.host for node in nodes} == {*checked.fleet.hosts}
    assert bool(checked.fleet.gateways) == (kind is not Kind.orchestrator)
    assert len(checked.fleet.orchestrators) == (
        0 if kind is Kind.gateway else count - (count > 1 and kind != "orchestrator")
    )
    assert formatted(Source("fleet.toml", text))[0] == text


def test_nodes_have_other_names_than_their_hosts() -> None:
    names = ["gate", "gate-node", "orch", "orch-orch"]
    hosts = tuple(read_host(f"{name}=203.0.113.{number}") for number, name in enumerate(names))
    checked = check_spec([Source("fleet.toml", first_spec(Answers(Kind.video, Where.docker, Network.onchain, hosts)))])
    assert checked.fleet is not None
    assert [*checked.fleet.gateways] == ["gate-node-node"]
    assert {*checked.fleet.orchestrators} == {"orch-gate-node", "orch-orch-node", "orch-orch-orch"}


def test_without_a_terminal_or_answers_it_says_what_it_took(tmp_path: Path) -> None:
    assert "no terminal to ask" in fleetc("init", cwd=tmp_path).stderr
    assert fleetc("init", "other", "--network", "arbitrum-one-mainnet", cwd=tmp_path).stderr == ""


def test_options_answer_and_workflows_know_the_secrets_of_the_answers(repository: Path) -> None:
    options = ["--run", "gateway", "--network", "arbitrum-one-mainnet", "--where", "systemd", "--host", HOSTS[0]]
    done = fleetc("init", *options, *ci("github"), cwd=repository)
    assert done.returncode == 0, done.stderr
    deploy = (repository / ".github/workflows/fleet-deploy.yml").read_text()
    assert "ARBITRUM_RPC_URL: ${{ secrets.ARBITRUM_RPC_URL }}" in deploy
    assert '[hosts.edge]\naddress = "203.0.113.10"' in (repository / "fleet.toml").read_text()


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        (["--host", "edge"], "--host takes NAME=ADDRESS", 2),
        (["--host", "edge=1.2.3.4/"], "--host takes NAME=ADDRESS", 2),
        (["--host", "UP=203.0.113.1"], "nothing was written", 1),
        (["--host", 'e="; x = 1'], "nothing was written", 1),
        (["--example", "demmo"], 'did you mean "demo"?', 2),
        (["--example", "../demo"], "there is no example", 2),
        (["--example", "demo", "--run", "video"], "remove --run", 2),
        (["--run", "everything"], "is not one of", 2),
    ],
)
def test_answers_that_make_no_spec_write_nothing(options: list[str], words: str, code: int, repository: Path) -> None:
    done = fleetc("init", *options, cwd=repository)
    assert (done.returncode, files_of(repository)) == (code, {})
    assert words in done.stderr


def test_answers_beside_a_spec_are_refused(repository: Path) -> None:
    (repository / "fleet.toml").write_text((ROOT / "inventories/demo/fleet.toml").read_text())
    done = fleetc("init", *ci("github"), "--run", "video", cwd=repository)
    assert done.returncode == 2 and "fleet.toml exists" in done.stderr
    assert list(files_of(repository)) == ["fleet.toml"]


@pytest.mark.parametrize("name", sorted({path.parent.name for path in ROOT.glob("inventories/*/fleet.toml")}))
def test_example_is_copied_with_its_overlays_and_compiles(name: str, repository: Path) -> None:
    assert fleetc("init", "--example", name, cwd=repository).returncode == 0
    own = {path.name: path.read_text() for path in ROOT.glob(f"inventories/{name}/*.toml")}
    for file, text in own.items():
        assert (repository / file).read_text() == text.replace("#:schema ../", "#:schema ./")
    story = (ROOT / "inventories" / name / "README.md").read_text()
    assert (repository / "README.md").read_text() == story
    assert {*files_of(repository)} == {*own, *FIRST, "README.md"}
    assert fleetc("compile", cwd=repository).returncode == 0


def test_page_of_an_example_leaves_a_page_that_is_there(repository: Path) -> None:
    (repository / "README.md").write_text("mine\n")
    done = fleetc("init", "--example", "demo", cwd=repository)
    assert done.returncode == 0, done.stderr
    assert (repository / "README.md").read_text() == "mine\n"
    assert "README.md exists and was not changed; the page of the example was not written\n" in done.stdout
    assert "## The spec" not in done.stdout and "wrote README.md" not in done.stdout


@pytest.mark.outer
def test_ansible_knows_the_hosts_of_a_new_fleet_and_takes_no_folder_for_an_inventory(repository: Path) -> None:
    def listed(*words: str) -> subprocess.CompletedProcess[str]:
        return run(program("ansible-inventory"), *words, "--list", cwd=repository, home=repository)

    fleetc("init", "--example", "dual-onchain", cwd=repository)
    fleetc("compile", cwd=repository)
    plain = listed()
    assert (plain.returncode, plain.stderr) == (0, "")
    assert plain.stdout == listed("-i", "rendered/ansible/inventory.json").stdout
    assert set(json.loads(plain.stdout)["_meta"]["hostvars"]) == {"edge", "gpu"}
    for folder in (".", "rendered"):
        refused = listed("-i", folder)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert f"Completely failed to parse inventory source {(repository / folder).resolve()}" in refused.stderr


def test_terminal_is_asked_and_asked_again(repository: Path) -> None:
    leader, follower = pty.openpty()
    words = [sys.executable, "-I", "-m", "fleetc", "init"]
    with subprocess.Popen(words, cwd=repository, stdin=follower, stdout=follower, stderr=follower) as asked:
        os.close(follower)
        os.write(leader, b"9\norchestrator\n2\n\nnonsense\ngpu-1=203.0.113.20 gpu-2=203.0.113.21/two.example.net\n")
        said = b""
        with suppress(OSError):  # the terminal ends with the process
            while piece := os.read(leader, 1000):
                said += piece
        assert asked.wait(60) == 0, said
    os.close(leader)
    assert b"write a number from 1 to 4" in said and b"write for example edge=" in said
    spec = tomllib.loads((repository / "fleet.toml").read_text())
    assert set(spec["orchestrators"]) == {"orch-gpu-1", "orch-gpu-2"} and "gateways" not in spec
    assert {host["runtime"] for host in spec["hosts"].values()} == {"systemd"}
    assert spec["fleet"]["network"] == "offchain"


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
