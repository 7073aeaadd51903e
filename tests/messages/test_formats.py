"""Diagnostics in the forms of other programs: valid, placed exactly, escaped for their readers, and without secrets."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.fixes import replacements
from fleetc.messages.explain import pages
from fleetc.messages.forms import Format, written
from fleetc.messages.github import as_github
from fleetc.messages.junit import as_junit
from fleetc.messages.locate import Located, locate
from fleetc.messages.sarif import as_sarif
from fleetc.messages.text import block
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Diagnostic, Label, Span, error, fix_rename, fix_set, has_errors, warning
from fleetc.text import encoders
from fleetc.toml.document import Source
from fleetc.version import __version__
from tests.cli.test_cli import NOT_SPECS
from tests.language.test_language_codes import CASES
from tests.outside_tools import node_package
from tests.support import ROOT, fleetc, for_each
from tests.support_values import nasty_values

DEMO = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8")
SPEC = (ROOT / "inventories/dual-onchain/fleet.toml").read_text(encoding="utf-8")
SCHEMA = ROOT / "tests/data/sarif-2.1.0.schema.json"
MACHINES = (Format.json, Format.sarif, Format.github, Format.junit)
CANARY = "CANARY7f3a9c2e5b8d1f60"

FLAWED = (
    SPEC.replace('runtime = "docker"', 'runtime = "Docker"')
    .replace("max_sessions = 12", 'max_sessions = "12"')
    .replace('host = "edge"', 'host = "egde"')
    .replace("block_polling_interval", "block-polling-interval")
)
"""Errors, three of them with a certain repair."""

RULED = (
    SPEC.replace('max_price = "1500 wei / pixel"', 'max_price = "1000 wei / pixel"')
    .replace('discovery = "ai-registry"', 'orchestrators = ["orch"]')
    .replace("ai_registry = true\n", "")
) + '\n[silences.accepted]\ncode = "capacity-unknown"\nreason = "x"\n'
"""Sound values, an error of a rule with a related place, and a warning."""

TEXTS = {
    "silent": DEMO,
    "flawed": FLAWED,
    "ruled": RULED,
    "syntax": DEMO.replace("[gateways.gate]", "[gateways.gate"),
    "astral": 'spec = 1\n[hosts]\nstudio = { "\U0001f4f9" = 1, runtime = "Docker", address = "192.0.2.1" }\n',
    "several-lines": DEMO.replace('orchestrators = ["orch"]', 'orchestrators = [\n  "orch",\n  "orhc",\n]'),
    **{f"code-{code}": flawed for code, (flawed, _) in CASES.items()},
    **{
        f"bytes-{name}": data.decode()
        for name, data in NOT_SPECS.items()
        if name in ("brackets", "nan", "bidi", "date")
    },
}


@cache
def checked(name: str) -> tuple[Checked, tuple[Source, ...], tuple[Located, ...]]:
    sources = (Source("fleet.toml", TEXTS[name]),)
    result = check_spec(sources)
    return result, sources, tuple(locate(result.diagnostics, sources, result.document))


def log_of(name: str) -> dict[str, Any]:
    result, sources, located = checked(name)
    log: dict[str, Any] = json.loads(as_sarif(located, sources, result.document, {}))
    return log


def results_of(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = log_of(name)["runs"][0]["results"]
    return found


def cut(text: str, region: dict[str, int]) -> str:
    """The text of a region, whose columns count characters and whose end is exclusive."""
    lines = text.split("\n")[region["startLine"] - 1 : region["endLine"]]
    lines[-1] = lines[-1][: region["endColumn"] - 1]
    lines[0] = lines[0][region["startColumn"] - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize("form", ["sarif", "github", "junit"])
def test_forms_as_they_are_printed(form: str, snapshot: SnapshotAssertion) -> None:
    result, sources, located = checked("ruled")
    assert written(Format(form), located, sources, result.document).replace(__version__, "VERSION") == snapshot


# ------------------------------------------------------------------------------------------------------ SARIF


@pytest.mark.usefixtures("processes")
def test_every_log_is_valid_by_the_published_schema(tmp_path: Path) -> None:
    for name in TEXTS:
        (tmp_path / f"{name}.sarif").write_text(json.dumps(log_of(name)), encoding="utf-8")
    wrong = log_of("flawed")
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    (tmp_path / "wrong.json").write_text(json.dumps(wrong), encoding="utf-8")
    program: list[str | Path] = [Path(sys.executable).parent / "check-jsonschema", "--schemafile", SCHEMA]
    logs = sorted(tmp_path.glob("*.sarif"))
    good = subprocess.run([*program, *logs], capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout + good.stderr
    bad = subprocess.run([*program, tmp_path / "wrong.json"], capture_output=True, text=True, check=False)
    assert bad.returncode != 0, "the schema accepts anything"


@pytest.mark.outer
@pytest.mark.usefixtures("processes")
def test_validator_of_the_format_finds_nothing_but_a_missing_home_page(tmp_path: Path) -> None:
    tool = str(node_package("@microsoft/sarif-multitool-linux") / "Sarif.Multitool")
    for name in TEXTS:
        (tmp_path / f"{name}.sarif").write_text(json.dumps(log_of(name)), encoding="utf-8")
    command = [tool, "validate", *map(str, sorted(tmp_path.glob("*.sarif")))]
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert f"{len(TEXTS)} files scanned" in done.stdout
    findings = re.findall(r": (?:error|warning|note) (\w+)", done.stdout)
    assert set(findings) <= {"SARIF2005"}, done.stdout


@pytest.mark.parametrize("name", TEXTS)
def test_log_says_what_the_terminal_says(name: str) -> None:
    _, _, located = checked(name)
    run = log_of(name)["runs"][0]
    assert run["columnKind"] == "unicodeCodePoints"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == sorted({item.diagnostic.code for item in located})
    for item, result in zip(located, run["results"], strict=True):
        assert (result["ruleId"], rules[result["ruleIndex"]]) == (item.diagnostic.code, item.diagnostic.code)
        assert result["level"] == {0: "error", 1: "warning", 2: "note"}[item.diagnostic.severity]
        message = item.diagnostic.message + (f"\nhelp: {item.diagnostic.help}" if item.diagnostic.help else "")
        shown = "\n".join(map(encoders.visible, message.split("\n")))
        assert result["message"]["text"].replace("{{", "{").replace("}}", "}").replace("\\", "") == shown.replace(
            "\\", ""
        )
        assert len(result.get("relatedLocations", ())) == len(item.related)
    if name == "silent":
        assert run["results"] == []


def test_regions_hold_exactly_what_is_meant() -> None:
    flawed = {r["ruleId"]: cut(FLAWED, r["locations"][0]["physicalLocation"]["region"]) for r in results_of("flawed")}
    assert flawed == {
        "unknown-value": '"Docker"',
        "invalid-value": '"12"',
        "unknown-key": "block-polling-interval",
    }
    astral = [cut(TEXTS["astral"], r["locations"][0]["physicalLocation"]["region"]) for r in results_of("astral")]
    assert '"\U0001f4f9"' in astral and '"Docker"' in astral
    ruled = results_of("ruled")[0]
    assert cut(RULED, ruled["locations"][0]["physicalLocation"]["region"]) == '"1000 wei / pixel"'
    assert cut(RULED, ruled["relatedLocations"][0]["physicalLocation"]["region"]) == '"1200 wei / pixel"'


def test_place_over_several_lines_ends_where_it_ends() -> None:
    text = 'spec = 1\n[fleet]\nname = [\n  "a",\n]\n'
    source = (Source("fleet.toml", text),)
    found = check_spec(source)
    log = json.loads(as_sarif(locate(found.diagnostics, source, found.document), source, found.document, {}))
    regions = [r["locations"][0]["physicalLocation"]["region"] for r in log["runs"][0]["results"]]
    assert '[\n  "a",\n]' in [cut(text, region) for region in regions]
    printed = as_github(locate(found.diagnostics, source, found.document))
    assert "line=3,endLine=5,title=" in printed, "columns of several lines are refused by the service"


def replaced(text: str, fix: dict[str, Any]) -> str:
    """The text with the replacements of a SARIF fix, made from the last one on."""
    (change,) = fix["artifactChanges"]
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    pieces = []
    for replacement in change["replacements"]:
        region = replacement["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        pieces.append((start, end, replacement.get("insertedContent", {"text": ""})["text"]))
    for start, end, new in sorted(pieces, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def test_fixes_as_replacements_repair_exactly_their_problem() -> None:
    before = {(r["ruleId"], r["message"]["text"]) for r in results_of("flawed")}
    fixed = [r for r in results_of("flawed") if "fixes" in r]
    assert [r["ruleId"] for r in fixed] == ["unknown-value", "unknown-key", "invalid-value"]
    for result in fixed:
        after = replaced(FLAWED, result["fixes"][0])
        assert after != FLAWED
        sources = (Source("fleet.toml", after),)
        found = check_spec(sources)
        left = json.loads(as_sarif(locate(found.diagnostics, sources, found.document), sources, found.document, {}))
        codes = {(r["ruleId"], r["message"]["text"]) for r in left["runs"][0]["results"]}
        new = {code for code, _ in codes - before}
        assert codes & before == before - {(result["ruleId"], result["message"]["text"])}
        assert new <= {"unknown-reference"}, "the table is sound now, so that its references can be checked"


def test_fix_in_an_overlay_names_the_overlay() -> None:
    sources = (Source("fleet.toml", DEMO), Source("over lay.toml", '[hosts.studio]\nruntime = "Systemd"\n'))
    found = check_spec(sources)
    log = json.loads(as_sarif(locate(found.diagnostics, sources, found.document), sources, found.document, {}))
    (result,) = log["runs"][0]["results"]
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]]
    uris += [change["artifactLocation"]["uri"] for change in result["fixes"][0]["artifactChanges"]]
    assert uris == ["over%20lay.toml"] * 2


def test_fix_that_would_do_something_else_has_no_replacement() -> None:
    sources = (Source("fleet.toml", DEMO),)
    document = check_spec(sources).document
    assert document is not None
    good = fix_set(("orchestrators", "orch", "max_sessions"), 5)
    wrong = [fix_rename(("gateways", "gate", "http"), "rtmp"), fix_set(("gateways", "none"), 1), fix_set(("spec",), 1)]
    assert set(replacements(sources, document, [*wrong, good])) == {good}
    twice = fix_set(("orchestrators", "orch", "max_sessions"), 6)
    assert set(replacements(sources, document, [good, twice])) == {good, twice}, "each is made alone"


def test_fingerprints_stay_while_lines_move_and_differ_from_one_another() -> None:
    def prints(text: str) -> list[str]:
        sources = (Source("fleet.toml", text),)
        found = check_spec(sources)
        log = json.loads(as_sarif(locate(found.diagnostics, sources, found.document), sources, found.document, {}))
        return [r["partialFingerprints"]["fleetc/v1"] for r in log["runs"][0]["results"]]

    before = prints(FLAWED)
    assert len(set(before)) == len(before) > 2
    assert prints("# one\n\n# two\n" + FLAWED.replace("\n[", "\n\n# more\n[")) == before
    assert set(prints(FLAWED.replace('"Docker"', '"docker"'))) >= set(before) - {before[0]}
    unread = prints(TEXTS["syntax"])
    assert prints("# moved\n" + TEXTS["syntax"]) == unread


def test_rules_carry_their_pages() -> None:
    for name in ("flawed", "ruled"):
        for rule in log_of(name)["runs"][0]["tool"]["driver"]["rules"]:
            assert rule["help"]["text"] == rule["help"]["markdown"] == pages()[rule["id"]]
            assert rule["help"]["text"].startswith(rule["shortDescription"]["text"])


PATHS = [
    "a b/fleet.toml",
    "50%#?.toml",
    "a:b.toml",
    "füße.toml",
    "[x](y).toml",
    "\udcff.toml",
    "'\"<&>.toml",
    "-x.toml",
]


@pytest.mark.parametrize("name", PATHS, ids=ascii)
def test_names_of_files_come_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_text("spec = 1\n")
    except OSError:
        pytest.skip("the file system takes no such name")
    done = fleetc("check", "--format", "sarif", "--", name, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)["runs"][0]["results"][0]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9/._~%-]+", uri)
    assert urllib.parse.unquote_to_bytes(uri) == os.fsencode(name)
    assert urllib.parse.urlsplit(uri).path == uri


def test_absolute_path_is_a_file_address(tmp_path: Path) -> None:
    done = fleetc("check", tmp_path / "no thing.toml", "--format", "sarif")
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (tmp_path / "no thing.toml").as_uri()


@for_each("value", nasty_values())
def test_no_text_of_a_spec_is_a_link_or_a_placeholder_of_a_message(value: str) -> None:
    text = encoders.sarif_text(value)
    bare = text.replace("{{", "").replace("}}", "")
    assert "{" not in bare and "}" not in bare
    assert not re.search(r"(?<!\\)\[[^\]]*(?<!\\)\]\(", text)
    if "](" not in value:
        assert text.replace("{{", "{").replace("}}", "}") == encoders.visible(value)


def test_link_in_a_message_is_text() -> None:
    assert encoders.sarif_text("see [here](https://x) {0}") == r"see \[here\](https://x) {{0}}"


# --------------------------------------------------------------------------------------------------- annotations


def commands(output: str) -> list[tuple[str, dict[str, str], str]]:
    """What a runner reads from a log: name, properties and message of every command in it."""
    found: list[tuple[str, dict[str, str], str]] = []
    for line in re.split(r"\r\n|\r|\n", output):
        if not line.lstrip().startswith("::"):  # in such a line the runner looks for nothing else
            found += [("##", {}, line)] if "##[" in line else []
            continue
        head, _, message = line.lstrip()[2:].partition("::")
        name, _, properties = head.partition(" ")
        pairs = dict(pair.split("=", 1) for pair in properties.split(",") if pair)
        found.append((name, {key: _unescape(value) for key, value in pairs.items()}, _unescape(message)))
    return found


def _unescape(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


@pytest.mark.parametrize("name", TEXTS)
def test_runner_reads_one_annotation_for_each_diagnostic(name: str) -> None:
    _, _, located = checked(name)
    found = commands(as_github(located))
    assert len(found) == len(located)
    by_severity = sorted(located, key=lambda item: item.diagnostic.severity)
    for item, (command, properties, message) in zip(by_severity, found, strict=True):
        assert command == {0: "error", 1: "warning", 2: "notice"}[item.diagnostic.severity]
        assert (
            properties["title"]
            == f"{ {0: 'error', 1: 'warning', 2: 'note'}[item.diagnostic.severity] }[{item.diagnostic.code}]"
        )
        assert properties.get("line", "0") == str(item.primary.line)
        assert message.split("\n")[0] == encoders.visible(item.diagnostic.message)[:4000]


@for_each("value", nasty_values())
def test_no_text_becomes_a_command_or_a_property(value: str) -> None:
    for diagnostic in (nasty(value), nasty(value, file=value)):
        (item,) = locate([diagnostic], [Source(diagnostic.primary.place.source, "x = 1\n")], None)  # type: ignore[union-attr]
        found = commands(as_github([item]))
        assert [command for command, _, _ in found] == ["error"]
        assert set(found[0][1]) <= {"file", "line", "endLine", "col", "endColumn", "title"}
        if not item.withheld:
            assert found[0][2].startswith(encoders.visible(value)[:1000])  # longer words are cut


def nasty(value: str, file: str = "fleet.toml") -> Diagnostic:
    return error("unknown-key", value, Label(Span(file, 0, 1), value), help=value)


def test_runner_is_told_when_it_will_not_show_all() -> None:
    many = [warning("unknown-key", f"problem {n}", Label(Span("fleet.toml", 0, 1))) for n in range(300)]
    many += [error("unknown-key", f"error {n}", Label(Span("fleet.toml", 0, 1))) for n in range(3)]
    output = as_github(locate(many, [Source("fleet.toml", "x = 1\n")], None))
    found = commands(output)
    assert [name for name, _, _ in found[:4]] == ["error"] * 3 + ["warning"]
    assert len(found) == 201
    assert found[-1][0] == "notice" and "3 errors, 300 warnings" in found[-1][2]
    assert output.endswith("\n3 errors, 300 warnings\n")


# ------------------------------------------------------------------------------------------------------- JUnit


@pytest.mark.parametrize("name", TEXTS)
def test_report_has_a_case_for_each_diagnostic_and_its_counts_are_true(name: str) -> None:
    result, sources, located = checked(name)
    suites = ET.fromstring(as_junit(located, sources))
    (suite,) = suites
    cases = list(suite)
    failures = [case for case in cases if case.find("failure") is not None]
    for element in (suites, suite):
        assert (element.get("tests"), element.get("failures")) == (str(len(cases)), str(len(failures)))
        assert (element.get("errors"), element.get("skipped")) == ("0", "0")
    assert len(cases) == max(1, len(located))
    assert bool(failures) == has_errors(result.diagnostics)
    names = [(case.get("classname"), case.get("name")) for case in cases]
    assert len(set(names)) == len(names), "GitLab keeps the first of two cases with one name"
    if not located:
        assert names == [("fleet.toml", "no problems")]
    for item, case in zip(located, cases, strict=False):
        output = case.find("failure") if item.diagnostic.severity == 0 else case.find("system-out")
        assert output is not None and output.text == "\n".join(block(item))


@for_each("value", [*nasty_values(), "]]>", "<!--", "&#0;", "\ufffe\uffff\x0b\x00\ud800"])
def test_xml_holds_every_text(value: str) -> None:
    located = locate([nasty(value), nasty(value, file=value)], [Source("fleet.toml", "x = 1\n")], None)
    for case, item in zip(ET.fromstring(as_junit(located, ()))[0], located, strict=True):
        failure = case.find("failure")
        assert failure is not None
        assert failure.get("message") == encoders.visible(item.diagnostic.message)
        assert failure.text == "\n".join(block(item))


# ------------------------------------------------------------------------------------------------ the command


def problems(form: Format, output: str) -> int:
    """How many problems an output tells, read by its own reader."""
    if form is Format.json:
        return len(json.loads(output)["diagnostics"])
    if form is Format.sarif:
        return len(json.loads(output)["runs"][0]["results"])
    if form is Format.github:
        return sum(name != "notice" for name, _, _ in commands(output))
    suite = ET.fromstring(output)[0]
    return sum(len(case) for case in suite)


WORLDS: dict[str, bytes | None] = {
    "silent": DEMO.encode(),
    "warned": (DEMO + '[silences.accepted]\ncode = "capacity-unknown"\nreason = "x"\n').encode(),
    "flawed": FLAWED.encode(),
    "missing": None,
    **{name: NOT_SPECS[name] for name in ("utf-16", "nul", "duplicate-key", "empty")},
}


BOTH = [(world, "check") for world in WORLDS] + [
    (world, "compile") for world in ("silent", "warned", "flawed", "missing")
]


@pytest.mark.parametrize(("world", "command"), BOTH)
def test_every_form_tells_the_same_and_exits_alike(world: str, command: str, tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    content = WORLDS[world]
    if content is not None:
        spec.write_bytes(content)
    code = fleetc(command, spec, "-o", tmp_path / "text") if command == "compile" else fleetc(command, spec)
    counts = set()
    for form in MACHINES:
        output = ["-o", tmp_path / form] if command == "compile" else []
        done = fleetc(command, spec, "--format", form, *output)
        assert done.returncode == code.returncode, done.stderr
        assert "error[" not in done.stderr and "warning[" not in done.stderr and "Traceback" not in done.stderr
        counts.add(problems(form, done.stdout))
    assert len(counts) == 1
    assert (counts == {0}) == (world == "silent")


@pytest.mark.parametrize("form", ["sarif", "github", "junit"])
def test_stale_tree_is_an_error_of_its_own(form: str, tmp_path: Path) -> None:
    for name, text in (("old", DEMO), ("fleet", DEMO.replace("max_sessions = 4", "max_sessions = 5"))):
        (tmp_path / f"{name}.toml").write_text(text)
    assert fleetc("compile", "old.toml", cwd=tmp_path).returncode == 0
    done = fleetc("compile", "fleet.toml", "--check", "--format", form, cwd=tmp_path)
    assert done.returncode == 1
    assert problems(Format(form), done.stdout) == 1
    assert "tree-stale" in done.stdout and "changed hosts/studio/orch/launch.flags" in done.stdout
    fresh = fleetc("compile", "old.toml", "--check", "--format", form, cwd=tmp_path)
    assert (fresh.returncode, problems(Format(form), fresh.stdout)) == (0, 0)


@pytest.mark.parametrize("form", ["sarif", "github", "junit"])
def test_tree_that_cannot_be_written_is_told_behind_the_warnings(form: str, tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_bytes(WORLDS["warned"] or b"")
    (tmp_path / "out").write_text("mine")
    done = fleetc("compile", "fleet.toml", "-o", "out", "--format", form, cwd=tmp_path)
    assert done.returncode == 1
    assert problems(Format(form), done.stdout) == 2
    assert "target-not-directory" in done.stdout


@pytest.mark.parametrize("form", MACHINES)
@pytest.mark.parametrize(
    "line",
    [
        f'rpc = "https://arb1.example.net/v2/{CANARY}"',
        f'rpc = "https://user:{CANARY}@arb1.example.net"',
        f'[[[ rpc = "https://user:{CANARY}@arb1.example.net"',
        f'rpc = {{ env = "RPC", password = "{CANARY}" }}',
    ],
)
def test_no_form_repeats_a_secret(line: str, form: Format, tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text(SPEC.replace('rpc = { env = "ARBITRUM_RPC_URL" }', line))
    done = fleetc("check", spec, "--format", form)
    assert done.returncode == 1
    assert problems(form, done.stdout) > 0
    assert CANARY not in done.stdout + done.stderr
