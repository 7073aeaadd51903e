"""Environment files of avatar stacks: every reader takes them for the same, and what some would misread is refused."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleetc.emit.tree import Artifact
from fleetc.pipeline import compile_spec
from fleetc.text import encoders
from fleetc.text.encoders import EncodingError
from tests.emit.programs import program
from tests.support import EXAMPLES, ROOT, check_text, compile_text, shipped, sources_of
from tests.support_values import nasty_values, unescape_c
from tests.text.test_encoding_programs import ENVIRONMENT_GENERATOR, recording_engine

SPEC = (ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")
ODD = (
    "",
    "a=b",
    "=",
    "x,y",
    "[::1]:80",
    "?",
    "100%",
    "%n",
    "@/bin/x",
    "-x=y",
    "--",
    "1e3",
    "null",
    "no",
    "010",
    "a:b:c",
)
"""Values that look like something else and are none of it to any reader."""

Reader = Callable[[Path], dict[str, str]]


def own(pairs: Mapping[str, str]) -> dict[str, str]:
    """Without what a reader's own environment brings along."""
    return {name: value for name, value in pairs.items() if name not in ("PATH", "PWD", "OLDPWD", "SHLVL", "_", "HOME")}


def docker(path: Path) -> dict[str, str]:
    socket = path.parent / "docker.sock"
    socket.unlink(missing_ok=True)
    with recording_engine(socket) as created:
        command = [program("docker"), "-H", f"unix://{socket}", "create", "--env-file", str(path), "image"]
        subprocess.run(command, env={"HOME": str(path.parent)}, capture_output=True, timeout=60, check=True)
        return dict(entry.partition("=")[::2] for entry in created[0].get("Env") or [])


def compose(path: Path) -> dict[str, str]:
    """As Compose reads a service's `env_file`."""
    (path.parent / "compose.yaml").write_text(f"services:\n  one:\n    image: x\n    env_file: [{path.name}]\n")
    command = [program("docker-compose"), "-f", "compose.yaml", "config", "--format", "json"]
    done = subprocess.run(command, cwd=path.parent, env={"HOME": "/h"}, capture_output=True, timeout=60, check=True)
    found = json.loads(done.stdout)["services"]["one"].get("environment", {})
    return {name: value.replace("$$", "$") for name, value in found.items()}


def compose_interpolation(path: Path) -> dict[str, str]:
    """As Compose reads `--env-file`, from which it takes what a file asks for by name."""
    names = [line.partition("=")[0] for line in path.read_text().splitlines()]
    lines = "".join(f'      {name}: "${{{name}}}"\n' for name in names)
    (path.parent / "compose.yaml").write_text(
        f"services:\n  one:\n    image: x\n    environment:\n{lines or '      {}'}"
    )
    command = [program("docker-compose"), "--env-file", path.name, "-f", "compose.yaml", "config", "--format", "json"]
    done = subprocess.run(command, cwd=path.parent, env={"HOME": "/h"}, capture_output=True, timeout=60, check=True)
    found = json.loads(done.stdout)["services"]["one"].get("environment", {})
    return {name: value.replace("$$", "$") for name, value in found.items()}


def shell(name: str) -> Reader:
    def read(path: Path) -> dict[str, str]:
        script = f"set -a; . ./{path.name}; exec env -0"
        command = [program(name), "-c", script]
        done = subprocess.run(
            command, cwd=path.parent, env={"PATH": "/usr/bin:/bin"}, capture_output=True, timeout=60, check=True
        )
        assert done.stderr == b"", done.stderr.decode()
        return own(dict(entry.partition("=")[::2] for entry in done.stdout.decode().split("\0")[:-1]))

    return read


def systemd(path: Path) -> dict[str, str]:
    """systemd's own parser of such files. This door of it refuses empty values, which EnvironmentFile= sets."""
    if not ENVIRONMENT_GENERATOR.exists():
        pytest.skip("systemd's environment.d generator is not installed")
    directory = path.parent / "environment.d"
    directory.mkdir(exist_ok=True)
    lines = path.read_text().splitlines()
    empty = [line[:-1] for line in lines if re.fullmatch("[^=]+=", line)]
    (directory / "read.conf").write_text("".join(f"{line}\n" for line in lines if line[:-1] not in empty))
    done = subprocess.run(
        [ENVIRONMENT_GENERATOR], env={"XDG_CONFIG_HOME": str(path.parent)}, capture_output=True, timeout=60, check=True
    )
    assert done.stderr == b"", done.stderr.decode()
    names = {line.partition("=")[0] for line in lines}
    pairs = (line.partition("=")[::2] for line in done.stdout.decode().splitlines())
    found = {name: unescape_c(v[1:-1]) if v.startswith('"') else v for name, v in pairs if name in names}
    return found | dict.fromkeys(empty, "")


def line_search(path: Path) -> dict[str, str]:
    """As services of the stack search for a line: the first with the name, cut at `#`, without space at the ends."""
    script = """!($1 in seen) {
      key = $1; seen[key]; sub(/^[^=]*=/, ""); sub(/#.*/, ""); gsub(/^ +| +$/, ""); print key "=" $0
    }"""
    command = [program("awk"), "-F=", script, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return dict(line.partition("=")[::2] for line in done.stdout.splitlines())


READERS: dict[str, Reader] = {
    "docker": docker, "compose": compose, "compose-interpolation": compose_interpolation, "systemd": systemd,
    "dash": shell("dash"), "bash": shell("bash"), "line-search": line_search,
}  # fmt: skip
readers = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


@cache
def files() -> dict[str, Artifact]:
    """Every environment file of every avatar stack: of the spec for these tests, and of the examples."""
    found: dict[str, Artifact] = {}
    trees = {"stage": compile_text(SPEC).tree}
    for name in EXAMPLES:
        spec = sources_of(ROOT / "inventories" / name / "fleet.toml")
        if any("avatars" in source.text for source in spec):
            trees[name] = compile_spec(spec, *shipped()).tree
    for name, tree in trees.items():
        assert tree is not None
        for artifact in tree.artifacts:
            if re.fullmatch(r"hosts/[^/]+/avatar/(slots/)?[^/]+\.env", artifact.path):
                found[f"{name}/{artifact.path}"] = artifact
    return found


@pytest.mark.usefixtures("processes")
@readers
def test_every_reader_takes_every_file_for_the_same(reader: Reader, tmp_path: Path) -> None:
    assert len(files()) >= 9
    for name, artifact in files().items():
        path = tmp_path / "read.env"
        path.write_bytes(artifact.content)
        lines = artifact.content.decode().splitlines()
        written = dict(line.partition("=")[::2] for line in lines)
        assert len(written) == len(lines)
        assert reader(path) == written, name


@pytest.mark.usefixtures("processes")
@readers
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.from_regex(r"[A-Za-z0-9_./:@%+=,?\[\]-]{0,40}", fullmatch=True), min_size=150, max_size=300))
def test_every_reader_gives_any_accepted_value_back(reader: Reader, tmp_path: Path, values: list[str]) -> None:
    wanted = {f"V{index}": value for index, value in enumerate((*ODD, *values))}
    path = tmp_path / "read.env"
    path.write_text("".join(f"{line}\n" for line in encoders.env_shared(wanted.items())))
    assert reader(path) == wanted


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", ["dash", "bash"])
@pytest.mark.parametrize(("host", "prefix"), [("gpu-1", "AVATAR"), ("gpu-2", "EMBODY")])
def test_shell_of_a_person_exports_the_switches_of_the_command_line(
    host: str, prefix: str, name: str, tmp_path: Path
) -> None:
    tree = compile_text(SPEC).tree
    assert tree is not None
    found = {file: tree.as_mapping()[f"hosts/{host}/avatar/{file}"].content for file in ("profile.sh", "host.env")}
    (tmp_path / "profile.sh").write_bytes(found["profile.sh"])
    command = [program(name), "-c", ". ./profile.sh; exec env -0"]
    done = subprocess.run(command, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=True)
    exported = own(dict(entry.partition("=")[::2] for entry in done.stdout.decode().split("\0")[:-1]))
    names = ["CLI_AUTO_UPGRADE_WHEN_SLEEPING", "CLI_NO_AUTO_UPDATE", "CLUSTER_FILE"]
    assert sorted(exported) == [f"{prefix}_{name}" for name in names]
    lines = found["host.env"].decode().splitlines()
    assert [f"{key}={value}" for key, value in exported.items() if f"{key}={value}" not in lines] == []


def test_what_some_reader_would_misread_is_refused_with_its_name() -> None:
    accepted = [value for value in nasty_values() if re.fullmatch(r"[A-Za-z0-9_./:@%+=,?\[\]-]*", value)]
    assert {"plain", "", "a=b"} <= set(accepted)
    for value in nasty_values():
        if value not in accepted:
            with pytest.raises(EncodingError):
                encoders.env_shared([("NAME", value)])
    with pytest.raises(EncodingError, match="NAME: it contains more than letters"):
        encoders.env_shared([("NAME", "two words")])
    with pytest.raises(EncodingError, match="NAME: the name is there twice"):
        encoders.env_shared([("NAME", "1"), ("OTHER", "1"), ("NAME", "1")])


@pytest.mark.usefixtures("processes")
def test_each_kind_of_refused_value_is_really_misread(tmp_path: Path) -> None:
    """The refusals are no caution: for each there is a reader that sees something else."""
    path = tmp_path / "read.env"
    for value, reader in (
        *(("a b", READERS["dash"]), ("it's", READERS["dash"]), ('"quoted"', READERS["dash"]), ("$HOME", compose)),
        *(("a #c", line_search), ("a\\b", READERS["bash"]), ("~", READERS["bash"]), ("a;b", READERS["dash"])),
    ):
        path.write_text(f"NAME={value}\n")
        try:
            assert reader(path) != {"NAME": value}, value
        except (subprocess.CalledProcessError, AssertionError) as failure:
            assert not isinstance(failure, AssertionError) or "not found" in str(failure)


def test_value_that_fits_no_file_is_refused_where_it_is_written() -> None:
    flawed = SPEC.replace('"http://198.51.100.90:8081"', '"http://198.51.100.90:8081/a&b"')
    found = check_text(flawed)
    assert 'disagree about "&"' in found
    assert "PAYMENTS_API_URL" not in found


def test_line_that_is_too_long_for_its_readers_is_a_diagnostic_that_names_the_setting() -> None:
    many = ", ".join(f'"198.51.{third}.0/24"' for third in range(30))  # written one by one for runners
    (problem,) = compile_text(SPEC.replace('allow = ["payments"', f'allow = ["payments", {many}')).checked.diagnostics
    assert problem.code == "value-unfit"
    assert problem.message.startswith("something on host gpu-1 cannot be written exactly: ")
    assert problem.message.endswith(": it is longer than the target accepts")
    place = problem.primary.place
    assert isinstance(place, tuple)
    assert place[0] == "avatars"
