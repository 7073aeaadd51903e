"""The command as a user runs it: exit codes, streams, and what every kind of bad input gets."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleetc.cli.commands import COMMANDS, ELSEWHERE, Listed
from fleetc.version import __version__
from tests.support import ROOT, fleetc, fleetc_process

DEMO = ROOT / "inventories" / "demo"
VALID = (DEMO / "fleet.toml").read_text(encoding="utf-8")


def refused(done: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """Check that a run failed as it should: the exit code, no traceback, a place or a name."""
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert "internal error" not in done.stderr
    assert (done.stdout + done.stderr).strip()
    return done.stdout + done.stderr


def written(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def snapshot_of(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(p.relative_to(directory)): (p.read_bytes(), p.stat().st_mtime_ns)
        for p in sorted(directory.rglob("*"))
        if p.is_file()
    }


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A compiled demo tree."""
    done = fleetc("compile", DEMO, "-o", tmp_path / "tree")
    assert done.returncode == 0, done.stderr
    return tmp_path / "tree"


@pytest.mark.usefixtures("processes")
def test_version() -> None:
    assert fleetc_process("--version").stdout == f"fleetc {__version__}\n"


def test_check_of_a_sound_spec_says_so() -> None:
    done = fleetc("check", DEMO)
    assert (done.returncode, done.stdout, done.stderr) == (0, "no problems\n", "")


def test_compile_writes_once_and_then_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = fleetc("compile", DEMO, "-o", out)
    assert first.returncode == 0, first.stderr
    before = snapshot_of(out)
    second = fleetc("compile", DEMO, "-o", out)
    assert " 0 files written, 0 removed" in second.stderr
    assert snapshot_of(out) == before


def test_compile_check_names_stale_files(tree: Path, tmp_path: Path) -> None:
    spec = written(tmp_path / "fleet.toml", VALID.replace("max_sessions = 4", "max_sessions = 5"))
    done = fleetc("compile", spec, "-o", tree, "--check")
    assert done.returncode == 1
    assert "changed hosts/studio/orch/launch.flags" in done.stdout.splitlines()
    assert not any("gate" in line for line in done.stdout.splitlines() if line.startswith("changed hosts"))
    assert fleetc("compile", DEMO, "-o", tree, "--check").returncode == 0


def test_names_in_a_mangled_manifest_reach_no_terminal(tree: Path) -> None:
    name = "evil\u009b31m\u202e"
    manifest = json.loads((tree / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"].append({"path": name, "sha256": "0" * 64, "mode": "0644", "origins": []})
    (tree / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (tree / name).touch()
    for command in (("compile", "--check"), ("deploy",)):
        done = fleetc(*command, DEMO, "-o", tree)
        assert done.returncode == 1
        assert "superfluous evil\\x9b31m\\u202e" in done.stdout


def test_flawed_spec_leaves_the_previous_tree_untouched(tree: Path, tmp_path: Path) -> None:
    before = snapshot_of(tree)
    spec = written(tmp_path / "fleet.toml", VALID.replace('host = "studio"', 'host = "stduio"'))
    message = refused(fleetc("compile", spec, "-o", tree))
    assert 'did you mean "studio"?' in message
    assert snapshot_of(tree) == before


def test_json_diagnostics_have_places(tmp_path: Path) -> None:
    spec = written(tmp_path / "fleet.toml", VALID + "\n[gateways.gate.typo]\n")
    done = fleetc("check", spec, "--format", "json")
    assert done.returncode == 1
    (found,) = json.loads(done.stdout)["diagnostics"]
    assert found["code"] == "unknown-key"
    assert found["primary"]["path"] == "gateways.gate.typo"
    assert found["primary"]["line"] == VALID.count("\n") + 2


def test_missing_file_that_is_no_spec_gives_json_too(tmp_path: Path) -> None:
    done = fleetc("check", tmp_path / "nothing.toml", "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["diagnostics"][0]["code"] == "spec-missing"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["bogus"], 2), (["check", "--bogus"], 2), (["explain", "no-such-code"], 2), (["check", "a", "b"], 2)],
)
def test_wrong_usage_exits_2(arguments: list[str], code: int) -> None:
    refused(fleetc(*arguments), code)


def test_unknown_code_gets_a_suggestion() -> None:
    assert '"unknown-key"' in refused(fleetc("explain", "unknwon-key"), 2)


NOT_SPECS: dict[str, bytes] = {
    "binary": bytes(range(256)),
    "bom": b"\xef\xbb\xbf" + VALID.encode(),
    "utf-16": VALID.encode("utf-16"),
    "latin-1": b'a = "\xe9"\n',
    "nul": VALID.encode() + b'x = "\x00"\n',
    "empty": b"",
    "brackets": b"a = " + b"[" * 500_000 + b"]" * 500_000,
    "open-brackets": b"[" * 1_000_000,
    "long-key": b"a." * 20_000 + b"a = 1\n",
    "many-digits": b"a = " + b"9" * 5000 + b"\n",
    "overflow": VALID.encode() + b"x = 9223372036854775808\n",
    "nan": VALID.encode() + b"x = nan\n",
    "infinity": VALID.encode() + b"x = -inf\n",
    "duplicate-key": VALID.encode() + b'[fleet]\nname = "x"\n',
    "date": VALID.replace('name = "demo"', "name = 2026-11-20").encode(),
    "float-port": VALID.encode() + b"[hosts.x]\nssh_port = 22.0\n",
    "escape": VALID.replace('"demo"', '"de\\u001b[31mmo"').encode(),
    "raw-escape": VALID.replace('"demo"', '"de\x1b[31mmo"').encode(),
    "bidi": VALID.replace('"demo"', '"de\u202emo"').encode(),
}


@pytest.mark.parametrize("name", NOT_SPECS)
def test_bad_bytes_get_a_diagnostic(name: str, tmp_path: Path) -> None:
    message = refused(fleetc("check", written(tmp_path / "fleet.toml", NOT_SPECS[name])))
    assert "fleet.toml" in message
    assert "\x1b" not in message and "\u202e" not in message
    assert len(message) < 20_000


BAD_NAMES = ["../x", "-oProxyCommand=x", "a b", "con", "A", "é", "all", "x" * 41, "a.b", "", "{{ x }}", "h[1:3]", "a_b"]


@pytest.mark.parametrize("table", ["hosts", "gateways", "models"])
@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_are_refused(table: str, name: str, tmp_path: Path) -> None:
    spec = written(tmp_path / "fleet.toml", f"{VALID}\n[{table}.{json.dumps(name, ensure_ascii=False)}]\n")
    assert "name" in refused(fleetc("check", spec)) or name == ""


def test_names_that_differ_only_in_case_cannot_be_written(tmp_path: Path) -> None:
    table = '[hosts.{}]\naddress = "192.0.2.9"\nruntime = "docker"\n'
    spec = written(tmp_path / "fleet.toml", VALID + table.format("edge") + table.format("EDGE"))
    assert "EDGE" in refused(fleetc("check", spec))


def test_spec_that_is_a_device_or_a_directory_without_one(tmp_path: Path) -> None:
    refused(fleetc("check", tmp_path))
    refused(fleetc("check", "/dev/zero"))
    os.mkfifo(tmp_path / "fifo")
    refused(fleetc("check", tmp_path / "fifo"))


def test_output_that_is_a_file(tmp_path: Path) -> None:
    target = written(tmp_path / "out", "mine")
    refused(fleetc("compile", DEMO, "-o", target))
    assert target.read_text() == "mine"


def test_output_with_foreign_files_only(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    written(target / "thesis.txt", "mine")
    refused(fleetc("compile", DEMO, "-o", target))
    assert [p.name for p in target.iterdir()] == ["thesis.txt"]


def test_foreign_file_in_a_tree_survives_and_is_named(tree: Path, tmp_path: Path) -> None:
    written(tree / "notes.txt", "mine")
    spec = written(tmp_path / "fleet.toml", VALID.replace("max_sessions = 4", "max_sessions = 5"))
    done = fleetc("compile", spec, "-o", tree)
    assert done.returncode == 0, done.stderr
    assert "notes.txt" in done.stderr
    assert (tree / "notes.txt").read_text() == "mine"


def test_edited_artifact_is_not_overwritten_unasked(tree: Path) -> None:
    edited = written(tree / "hosts/studio/gate/node.env", "mine")
    assert "node.env" in refused(fleetc("compile", DEMO, "-o", tree))
    assert edited.read_text() == "mine"
    assert fleetc("compile", DEMO, "-o", tree, "--overwrite-edited").returncode == 0
    assert edited.read_text() != "mine"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.usefixtures("processes")
def test_full_disk(small_disk: Path) -> None:
    assert "No space left" in refused(fleetc("compile", DEMO, "-o", small_disk / "out"), 3)
    assert list(small_disk.iterdir()) == []


@pytest.mark.usefixtures("processes")
def test_read_only_output(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    refused(fleetc("compile", DEMO, "-o", small_disk / "out"), 3)


def test_settings_come_from_file_environment_and_option_in_that_order(tmp_path: Path) -> None:
    spec = written(tmp_path / "fleet.toml", VALID)
    written(tmp_path / "fleetc.toml", 'output = "from-file"\n')
    for environment, options, expected in (
        ({}, [], "from-file"),
        ({"FLEETC_OUTPUT": "from-env"}, [], "from-env"),
        ({"FLEETC_OUTPUT": "from-env"}, ["-o", "from-option"], "from-option"),
    ):
        done = fleetc("compile", spec, *options, cwd=tmp_path, **environment)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / expected / "manifest.json").is_file()


def test_pyproject_table_holds_settings_too(tmp_path: Path) -> None:
    spec = written(tmp_path / "fleet.toml", VALID)
    written(tmp_path / "pyproject.toml", '[tool.fleetc]\noutput = "from-pyproject"\n')
    assert fleetc("compile", spec, cwd=tmp_path).returncode == 0
    assert (tmp_path / "from-pyproject" / "manifest.json").is_file()


@pytest.mark.parametrize("how", ["variable", "text", "list"])
@pytest.mark.parametrize("names", [["one.toml"], ["one.toml", "two words.toml"]])
def test_overlays_come_from_the_environment_and_the_file(how: str, names: list[str], tmp_path: Path) -> None:
    spec = written(tmp_path / "fleet.toml", VALID)
    for number, name in enumerate(names):
        written(tmp_path / name, f"[fleet]\nbogus{number} = 1\n")
    joined = os.pathsep.join(names)
    if how != "variable":
        written(tmp_path / "fleetc.toml", f"overlay = {json.dumps(joined if how == 'text' else names)}\n")
    environment = {"FLEETC_OVERLAY": joined} if how == "variable" else {}
    message = refused(fleetc("check", spec, cwd=tmp_path, **environment))
    assert [f'"bogus{number}"' in message for number in range(2)] == [True, len(names) == 2]


def only_json(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """The one JSON document of stdout."""
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_compile_as_json_prints_one_document(tmp_path: Path) -> None:
    warned = written(tmp_path / "fleet.toml", VALID + '[silences.accepted]\ncode = "capacity-unknown"\nreason = "x"\n')
    for spec in (DEMO, warned):
        out = tmp_path / f"out-{spec.name}"
        stale = fleetc("compile", spec, "-o", out, "--check", "--format", "json")
        first = fleetc("compile", spec, "-o", out, "--format", "json")
        second = fleetc("compile", spec, "-o", out, "--format", "json")
        fresh = fleetc("compile", spec, "-o", out, "--check", "--format", "json")
        assert [done.returncode for done in (stale, first, second, fresh)] == [1, 0, 0, 0], first.stderr
        assert "missing FLEET.md" in only_json(stale)["stale"]  # type: ignore[operator]
        assert "FLEET.md" in only_json(first)["written"]  # type: ignore[operator]
        assert (only_json(second)["written"], only_json(second)["removed"]) == ([], [])
        assert only_json(fresh)["stale"] == []
        for done in (stale, first, second, fresh):
            assert bool(only_json(done)["diagnostics"]) == (spec == warned)


def test_compile_as_json_into_a_file_prints_one_document(tmp_path: Path) -> None:
    done = fleetc("compile", DEMO, "-o", written(tmp_path / "out", "mine"), "--format", "json")
    assert done.returncode == 1
    assert len(only_json(done)["diagnostics"]) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a" * 300, "a" * 300 + "/fleet.toml", "a/" * 3000])
@pytest.mark.parametrize("command", ["check", "compile"])
def test_name_that_is_too_long_is_a_missing_spec(name: str, command: str) -> None:
    assert "error[spec-missing]" in refused(fleetc(command, name))


@pytest.mark.parametrize("text", ["forks = 0\n", "frobs = 1\n", "forks = \n", "\x00"])
def test_bad_settings_are_wrong_usage(text: str, tmp_path: Path) -> None:
    written(tmp_path / "fleetc.toml", text)
    refused(fleetc("check", DEMO, cwd=tmp_path), 2)


def test_code_in_the_working_directory_is_not_run(tmp_path: Path) -> None:
    written(tmp_path / "tomli.py", "raise SystemExit('ran')")
    written(tmp_path / "fleet.toml", VALID)
    assert fleetc("check", cwd=tmp_path).stdout == "no problems\n"


def test_colour_only_when_asked(tmp_path: Path) -> None:
    spec = written(tmp_path / "fleet.toml", "spec = 1\n")
    assert "\x1b[" not in fleetc("check", spec).stdout
    assert "\x1b[" in fleetc("check", spec, FLEETC_COLOR="always").stdout


@pytest.mark.parametrize("listed", COMMANDS, ids=lambda listed: listed.name)
def test_summary_in_the_list_is_that_of_the_command(listed: Listed) -> None:
    command = listed.load()
    assert " ".join(command.help.partition("\n\n")[0].split()) == listed.summary
    assert command.name == listed.name


@pytest.mark.parametrize("listed", [each for each in COMMANDS if each.examples], ids=lambda listed: listed.name)
def test_examples_of_a_command_are_understood_by_it(listed: Listed) -> None:
    shown = fleetc(listed.name, "--help").stdout.partition("\nExamples:\n")[2]
    for example, what in listed.examples:
        assert f"  {example}\n      {what}\n" in shown
        program, name, *words = shlex.split(example.partition(" > ")[0])
        command = next(each for each in COMMANDS if each.name == name).load()
        assert program == "fleetc" and (name == listed.name or listed.name == "plan")
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known
        assert not [word for word in words if word.startswith("-") and not listed.takes_flags and word not in known]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("chek", 'did you mean "check"?'),
        ("apply", 'fleetc calls it "deploy"'),
        ("frobnicate", "fleetc -h lists them"),
        ("\x1b[31m", "\\x1b[31m"),
    ],
)
def test_unknown_command_is_told_with_what_was_meant(word: str, said: str) -> None:
    text = refused(fleetc(word), 2)
    assert text.startswith("error: there is no command ") and said in text and text.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("adopt", "[SOURCE]..."),
        ("comment", "FILE"),
        ("diagnose", "LOG..."),
        ("merge-file", "base ours theirs path"),
        ("policy", "ACTION [NAME]..."),
        ("why", "PLACE [FLAG]"),
    ],
)
def test_usage_is_written_as_people_know_it(name: str, usage: str) -> None:
    assert fleetc(name, "--help").stdout.startswith(f"Usage: fleetc {name} [OPTIONS] {usage}\n")


def test_words_of_other_tools_are_no_commands_and_lead_to_some() -> None:
    names = {listed.name for listed in COMMANDS}
    assert {meant.split()[0] for meant in ELSEWHERE.values()} <= names and not names & set(ELSEWHERE)


def test_wrong_value_of_an_option_is_told_without_words_of_a_library() -> None:
    assert "Invalid value for '--format': 'xml' is not one of 'text'" in refused(fleetc("check", "--format", "xml"), 2)


def test_table_that_no_spec_has_is_no_missing_file() -> None:
    text = refused(fleetc("check", "--resolved", "gateway.gate", cwd=DEMO.parent), 2)
    assert text == 'error: there is no file gateway.gate, and a spec has no table "gateway"; did you mean "gateways"?\n'
    assert "error[spec-missing]" in refused(fleetc("check", "--resolved", "other.toml"))


def options_of(name: str) -> list[str]:
    """The options that the help of a command lists."""
    section = fleetc(name, "--help").stdout.partition("Options:")[2].partition("Examples:")[0]
    return [word for word in re.findall(r"^  (?:-\w, )?(--[a-z-]+)", section, re.MULTILINE) if word != "--help"]


def test_command_line_stays_small_enough_to_be_known() -> None:
    """At most 20 commands and 120 options; what only a message can explain is no part of the help."""
    listed = re.findall(r"^  ([a-z][a-z-]+)  ", fleetc("--help").stdout, re.MULTILINE)
    assert listed == [one.name for one in COMMANDS] and len(listed) <= 20
    of_all = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", fleetc("--help").stdout, re.MULTILINE)
    options = [*of_all, *(option for name in listed for option in options_of(name))]
    assert len(options) - of_all.count("--help") <= 120
    for command, option in (("deploy", "take-over"), ("deploy", "renamed"), ("deploy", "clear"), ("rollback", "clear")):
        assert f"--{option}" not in options
        assert f"--{option}' requires an argument" in fleetc(command, f"--{option}").stderr


HIDDEN = {"--clear", "--keep-running", "--renamed", "--take-over", "--without"}
"""Options that a message, or the help of another option, names for the case in which they help."""


def test_guide_names_the_commands_of_the_help() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "compiler/docs").glob("*.md"))]
    names = {listed.name for listed in COMMANDS}
    named = [found for page in pages for found in re.findall(r"`(fleetc [^`\n]+)`", page.read_text(encoding="utf-8"))]
    words = {text.split()[1] for text in named} - {"approve"}  # what people write into a comment
    assert {word for word in words if re.match("[a-z]", word)} <= names
    for name in names & words:
        options = {word for text in named if text.split()[1] == name for word in re.findall(r"(?<= )--[a-z-]+", text)}
        helped = fleetc(name, "--help").stdout if options else ""
        assert not [option for option in options - HIDDEN if option not in helped], name


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("deploy", "--dry-run"), "write --check"),
        (("check", "--json"), "write --format json"),
        (("check", "-q"), "write 2>/dev/null behind it"),
        (("todo", "--dry-run"), "No such option: --dry-run\n"),
    ],
)
def test_options_of_other_tools_lead_to_ours(words: tuple[str, ...], advice: str) -> None:
    done = fleetc(*words)
    assert done.returncode == 2 and advice in done.stderr
