"""The flag table is refreshed from Go text: an excerpt of our own in the shape of the node's source."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc import upstream
from fleetc.upstream import RELEASES, Release, format_release, node_source, parse_release
from fleetc.upstream.go_text import arguments, evaluate, go_duration, string_literal, without_comments
from fleetc.upstream.refresh import (
    Difference,
    FlagRegistration,
    compare,
    registrations,
    report,
    rewritten,
    with_release,
)
from tests.node import values
from tests.support import ROOT

TABLE = Path(upstream.__file__).with_name("node_flags.toml")
TEXT = TABLE.read_text(encoding="utf-8")

FLAGS_GO = """
package starter

func NewConfig(fs *flag.FlagSet) Config {
	cfg := DefaultConfig()

	// Where it listens: fs.String("notThis", "", "a comment, with \\"quotes\\" and ) too")
	cfg.Network = fs.String("network", *cfg.Network, "Which network, or \\"offchain\\" (the default)")
	cfg.Attempts = fs.Int("maxAttempts", *cfg.Attempts, "How often; see http://example.net, then stop")
	cfg.Wait = fs.Duration("discoveryTimeout", *cfg.Wait, "How long")
	cfg.Weight = fs.Float64("selectRandFreq", *cfg.Weight, `raw text with "quotes", commas, and ) parentheses`)
	cfg.Lowest = fs.Int64("minGasPrice", 0, "Lowest price in wei")
	cfg.Sessions = fs.String("maxSessions", *cfg.Sessions, "How many")
	/* fs.Bool("norThis", true, "gone") */
	cfg.Reward = fs.Bool("reward", false, fmt.Sprintf("Call %s (once a round)", "reward"))
	fs.StringVar(cfg.Dir, "dataDir", *cfg.Dir, "Where data lies")
	cfg.Fresh = fs.Bool("brandNew", true, "Nobody has seen this yet")
	cfg.Odd = fs.String("region", "127.0.0.1:"+DefaultPort, "An expression")
	slog.Info("not a flag", slog.String("network", "other"))
	return cfg
}
"""

STARTER_GO = """
package starter

func DefaultConfig() Config {
	defaultNetwork := "offchain"
	defaultAttempts := 3 // enough
	defaultWait := 500 * time.Millisecond
	defaultWeight := 0.3
	defaultSessions := strconv.Itoa(10)
	defaultDir := ""

	return Config{
		Network:  &defaultNetwork,
		Attempts: &defaultAttempts,
		Wait:     &defaultWait,
		Weight:   &defaultWeight,
		Sessions: &defaultSessions,
		Dir:      &defaultDir,
	}
}
"""

MAIN_GO = """
func main() {
	verbosity := flag.String("v", "3", "How much is logged")
	_ = flag.String("config", "", "File of settings")
}
"""


def found() -> dict[str, FlagRegistration]:
    return registrations([FLAGS_GO, STARTER_GO, MAIN_GO])


def small_table(*names: str) -> str:
    """The real table with only these rows."""
    head, *rows = TEXT.split("\n[flags.")
    return head + "".join(f"\n[flags.{row}" for row in rows if row.partition("]")[0] in names)


def test_flags_are_found_with_their_types_and_defaults() -> None:
    assert found() == {
        "brandNew": FlagRegistration("bool", True),
        "config": FlagRegistration("string", ""),
        "dataDir": FlagRegistration("string", ""),
        "discoveryTimeout": FlagRegistration("duration", "500ms"),
        "maxAttempts": FlagRegistration("int", 3),
        "maxSessions": FlagRegistration("string", "10"),
        "minGasPrice": FlagRegistration("int64", 0),
        "network": FlagRegistration("string", "offchain"),
        "region": FlagRegistration("string", None),
        "reward": FlagRegistration("bool", False),
        "selectRandFreq": FlagRegistration("float", "0.3"),
        "v": FlagRegistration("string", "3"),
    }


def test_equal_source_gives_no_differences() -> None:
    known = {name: now for name, now in found().items() if name not in ("brandNew", "region")}
    assert compare(known, small_table(*known), (0, 9, 1)) == []
    assert report([], (0, 9, 1)) == "no differences\n"


def test_new_vanished_and_changed_flags_are_told() -> None:
    names = ("network", "maxAttempts", "discoveryTimeout", "minGasPrice", "gasLimit", "region", "nodes")
    table = small_table(*names)
    table = table.replace("default = 3", "default = 4").replace('type = "int64"', 'type = "int"')
    assert compare({n: f for n, f in found().items() if n in (*names, "brandNew")}, table, (0, 8, 7)) == [
        Difference("appeared", "brandNew", None, True),
        Difference("default", "maxAttempts", 4, 3),
        Difference("type", "minGasPrice", "int", "int64"),
        Difference("unread", "region", "", None),
        Difference("vanished", "gasLimit", 0, None),
    ]


def test_flag_that_is_younger_than_the_source_is_not_missed_but_noticed() -> None:
    assert not compare({}, small_table("nodes"), (0, 8, 7))
    early = {"nodes": FlagRegistration("string", "")}
    assert compare(early, small_table("nodes"), (0, 8, 7)) == [Difference("older", "nodes", "v0.8.8", "v0.8.7")]


def test_flag_that_was_removed_is_not_missed() -> None:
    table = small_table("region") + 'removed = "v0.9.1"\n'
    assert compare({}, table, (0, 9, 1)) == []
    assert [d.kind for d in compare({}, table, (0, 9, 0))] == ["vanished"]


def test_zero_and_false_are_different_defaults() -> None:
    table = small_table("gasLimit")
    assert [d.kind for d in compare({"gasLimit": FlagRegistration("int", False)}, table, (0, 9, 1))] == ["default"]


def test_table_is_written_as_it_stands() -> None:
    assert rewritten(TEXT, {}, (0, 9, 1)) == TEXT


def test_new_rows_wait_for_a_person_and_known_ones_keep_their_columns() -> None:
    changed = found() | {"kafkaPassword": FlagRegistration("string", "secret?")}
    rows = tomllib.loads(rewritten(TEXT, changed, (0, 9, 2)))["flags"]
    old = tomllib.loads(TEXT)["flags"]
    assert rows["brandNew"] == {
        "type": "bool",
        "default": True,
        "roles": [],
        "group": "unsorted",
        "since": "v0.9.2",
    }
    assert rows["kafkaPassword"] == old["kafkaPassword"] | {"default": "secret?"}
    assert {n: r for n, r in rows.items() if n not in ("brandNew", "kafkaPassword")} == {
        n: r for n, r in old.items() if n != "kafkaPassword"
    }
    assert "gasLimit" in rows  # the source does not have it: a person decides


def test_report_says_what_is_left_for_a_person() -> None:
    told = report(compare(found(), small_table(*found()), (0, 9, 2)), (0, 9, 2))
    assert "-brandNew: appeared, default true" in told
    assert "--write adds v0.9.2 to both tables of releases. You fill in its date" in told


# The tables of releases


def test_release_comes_into_the_list_of_releases_once() -> None:
    once = rewritten(TEXT, {}, (0, 9, 2))
    assert tomllib.loads(once)["releases"] == [*map(format_release, RELEASES), "v0.9.2"]
    assert rewritten(once, {}, (0, 9, 2)) == once
    assert rewritten(TEXT, {}, RELEASES[-1]) == TEXT


def test_release_gets_a_section_and_keeps_what_was_public_of_it() -> None:
    text = TABLE.with_name("releases.toml").read_text(encoding="utf-8")
    before, known = tomllib.loads(text), tomllib.loads(with_release(text, (0, 9, 2)))
    assert known["releases"]["v0.9.2"].pop("date") == ""
    assert before["releases"]["v0.9.2"].pop("partial") is True
    assert known == before
    later = tomllib.loads(with_release(text, (0, 9, 3)))
    assert list(later["releases"])[-1] == "v0.9.3" and later["releases"]["v0.9.3"] == {"date": ""}
    assert later["unplaced"] == before["unplaced"]
    assert with_release(text, (0, 9, 1)) == text


# The flags of every release that is known, as its source registers them


def source_of(release: Release) -> str:
    """Go text that registers the flags of a release in this tool's words; half of them have defaults of their own."""
    lines, defaults = [], []
    for at, (name, row) in enumerate(_rows(release).items()):
        kind, default = row["type"], _literal(row["type"], row["default"])
        if at % 2:
            defaults.append(f"default{at} := {default}\n\tF{at}: &default{at},")
            default = f"*cfg.F{at}"
        word = {"float": "Float64", "int64": "Int64", "uint64": "Uint64"}.get(kind, kind.capitalize())
        lines.append(f'cfg.F{at} = fs.{word}("{name}", {default}, "what -{name} does, if anything")')
    return "\n".join((*defaults, *lines))


def _rows(release: Release) -> dict[str, dict[str, Any]]:
    rows = tomllib.loads(TEXT)["flags"].items()
    return {
        name: row
        for name, row in rows
        if parse_release(row["since"]) <= release and ("removed" not in row or parse_release(row["removed"]) > release)
    }


def _literal(kind: str, default: object) -> str:
    if kind == "string":
        return f"`{default}`"
    if kind == "duration":
        return f"{values.duration(str(default))} * time.Nanosecond"
    return str(default).lower()


@pytest.mark.parametrize("release", RELEASES, ids=format_release)
def test_flags_of_each_release_are_read_without_a_difference(release: Release) -> None:
    flags = registrations([source_of(release)])
    assert set(flags) == set(_rows(release))
    assert compare(flags, TEXT, release) == []


@pytest.mark.parametrize(("old", "new"), list(pairwise(RELEASES)), ids=format_release)
def test_table_of_each_release_becomes_that_of_the_next_but_for_what_people_decide(old: Release, new: Release) -> None:
    table, flags = small_table(*_rows(old)), registrations([source_of(new)])
    table = re.sub(r"^releases = .*?^\]", f'releases = [\n  "{format_release(old)}",\n]', table, flags=re.M | re.S)
    differences = compare(flags, table, new)
    appeared = {one.flag for one in differences if one.kind == "appeared"}
    assert appeared == set(_rows(new)) - set(_rows(old))
    assert {one.flag for one in differences if one.kind == "vanished"} == set(_rows(old)) - set(_rows(new))
    assert {one.kind for one in differences} <= {"appeared", "vanished"}
    after = tomllib.loads(rewritten(table, flags, new))
    assert after["releases"] == [format_release(old), format_release(new)]
    assert all(after["flags"][name]["type"] == row["type"] for name, row in _rows(new).items())
    assert all(after["flags"][name]["default"] == row["default"] for name, row in _rows(new).items())
    assert {name for name, row in after["flags"].items() if row["group"] == "unsorted"} == appeared
    assert compare(flags, rewritten(table, flags, new), new) == [d for d in differences if d.kind == "vanished"]


# What else the source says


def tree(**changed: str) -> dict[str, str]:
    """A small source that has what the tables of this package want of one, with some of its files changed."""
    metrics = tomllib.loads(TABLE.with_name("metrics.toml").read_text(encoding="utf-8"))["metrics"]
    live = tomllib.loads(TABLE.with_name("live_settings.toml").read_text(encoding="utf-8"))["settings"].values()
    paths = {path for row in live for path in (row["set"], *row.get("read", ())[:1])}
    views = "\n".join(f'{{ Name: "{name.removeprefix("livepeer_")}", }},' for name in metrics)
    routes = "\n".join(f'mux.Handle("{path}", handler())' for path in sorted(paths))
    texts = {
        "monitor/census.go": views,
        "server/webserver.go": routes,
        "cmd/livepeer/starter/starter.go": FLAGS_GO + 'glog.Exit("no such network") // glog.Exit("a comment")\n',
        "ai/runner/live_runner.go": 'fmt.Errorf("live runner deregistered by %v", it)',
    }
    return texts | {path.replace("__", "/") + ".go": text for path, text in changed.items()}


def test_source_that_has_all_of_it_gives_no_notice() -> None:
    assert list(node_source.gone(tree())) == []
    assert list(node_source.new(tree(), tree())) == []
    assert node_source.report([], []) == ""


def test_what_the_tables_have_and_the_source_has_not() -> None:
    texts = tree()
    texts["monitor/census.go"] = texts["monitor/census.go"].replace('"gateway_ticket_face_value"', '"another"')
    texts["server/webserver.go"] = texts["server/webserver.go"].replace('"/setMaxSessions"', '"/setSessions"')
    assert [(one.what, one.text, one.decided_in) for one in node_source.gone(texts)] == [
        ("a metric", "livepeer_gateway_ticket_face_value", "metrics.toml"),
        ("a path of a listener", "/setMaxSessions", "live_settings.toml"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "what", "told"),
    [
        ("cmd/livepeer/starter/starter", 'glog.Exitf("no %v", x)', "a stop at the start", "no %v"),
        ("media/whip", 'x := os.Getenv("LIVE_AI_NEW")', "a variable", "LIVE_AI_NEW"),
        ("server/more", 'mux.HandleFunc("POST /newRoute", h)', "a path of a listener", "POST /newRoute"),
        ("ai/runner/more", 'errors.New("too many of them")', "a refusal of live runners", "too many of them"),
        ("ai/runner/types", 'Colour string `json:"colour,omitempty"`', "a key of a document or an answer", "colour"),
        ("core/capabilities", 'Capability_Dance: "Dance",', "a capability", "Dance"),
        ("ai/worker/docker", 'm["x"] = "livepeer/ai-runner:dance"', "an image of runners", "livepeer/ai-runner:dance"),
    ],
)
def test_what_is_new_is_for_a_person_to_decide(path: str, text: str, what: str, told: str) -> None:
    texts = tree()
    texts[f"{path}.go"] = f"{texts.get(f'{path}.go', '')}\n{text}\n// {text.replace(told, 'comment')}\n"
    (found,) = node_source.new(texts, tree())
    assert (found.what, found.text) == (what, told)
    assert f"{what}: {told}  ({found.decided_in})" in node_source.report([], [found])


# The little of Go that is read


def test_comments_go_and_strings_stay() -> None:
    assert without_comments('a("http://x") // b\nc /* d\n */ e("/* f */")') == 'a("http://x")  \nc  \n e("/* f */")'


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('"a", b(1, 2), "c)")', ['"a"', "b(1, 2)", '"c)"']),
        ('"a\\"),", `b),`, []string{"x", "y"})', ['"a\\"),"', "`b),`", '[]string{"x", "y"}']),
        ("'),', 1)", ["'),'", "1"]),
        ('"a",\n\t"b",\n)', ['"a"', '"b"']),
        ('"a", "b"', []),
        (")", []),
    ],
)
def test_arguments_of_a_call(call: str, expected: list[str]) -> None:
    assert arguments(call, 0) == expected


@pytest.mark.parametrize(
    ("kind", "expression", "value"),
    [
        ("bool", "true", True),
        ("bool", "enabled", None),
        ("int", "1_000", 1000),
        ("int", "-1", -1),
        ("int", "0x10", None),
        ("int", "1.5", None),
        ("float", "100.0", "100.0"),
        ("float", "0", "0.0"),
        ("string", '"a\\tb"', "a\tb"),
        ("string", "strconv.Itoa(10)", "10"),
        ("string", "Default", None),
        ("duration", "5 * time.Minute", "5m0s"),
        ("duration", "time.Second", "1s"),
        ("duration", "25 * time.Minute", "25m0s"),
        ("duration", "2 * time.Hour", "2h0m0s"),
        ("duration", "0", "0s"),
        ("duration", "time.Duration(3) * time.Second", "3s"),
        ("duration", "1500 * time.Millisecond", "1.5s"),
        ("duration", "wait", None),
    ],
)
def test_constants(kind: str, expression: str, value: object) -> None:
    assert evaluate(kind, expression) == value


@given(st.integers(0, 10**15))
def test_durations_are_printed_as_the_node_reads_them(nanoseconds: int) -> None:
    """The independent account of the node's parser reads back what is printed."""
    assert values.duration(go_duration(nanoseconds)) == nanoseconds


@given(st.text())
def test_any_text_is_a_literal_or_not(text: str) -> None:
    quoted = f"`{text}`"
    assert string_literal(quoted) == (text if "`" not in text else None)


@given(st.text(alphabet='ab"`\\/*(){},\n.:=&%', max_size=200))
def test_no_text_is_too_much_for_the_reader(text: str) -> None:
    assert registrations([text + 'fs.String("x", "y", "z")' + text]) is not None


# The command


def _put(folder: Path, texts: dict[str, str]) -> Path:
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def _run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-m", "fleetc.upstream", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.usefixtures("processes")
def test_command_compares_and_writes(tmp_path: Path) -> None:
    table, source = tmp_path / "table.toml", tmp_path / "flags.go"
    table.write_text(small_table("network"), encoding="utf-8")
    source.write_text('fs.String("network", "offchain", "")\nfs.Bool("brandNew", false, "")\n', encoding="utf-8")
    told = _run(source, "--release", "v0.9.2", "--table", table)
    assert (told.returncode, told.stderr) == (1, "")
    assert "-brandNew: appeared, default false" in told.stdout
    assert "brandNew" not in table.read_text(encoding="utf-8")
    assert _run(source, "--release", "v0.9.2", "--table", table, "--write").returncode == 1
    assert '[flags.brandNew]\ntype = "bool"\n' in table.read_text(encoding="utf-8")
    done = _run(source, "--release", "v0.9.2", "--table", table)
    assert (done.returncode, done.stdout) == (0, "no differences\n")


@pytest.mark.usefixtures("processes")
def test_command_refreshes_all_of_a_source_at_once(tmp_path: Path) -> None:
    for name in ("node_flags.toml", "releases.toml"):
        (tmp_path / name).write_text(TABLE.with_name(name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "node_flags.toml").write_text(small_table(*found()), encoding="utf-8")
    old = _put(tmp_path / "old", tree())
    texts = tree(media__whip='os.Getenv("LIVE_AI_NEW")', server__a_test='mux.Handle("/onlyTested", h)')
    new = _put(tmp_path / "new", texts)
    words = (new, "--before", old, "--release", "v0.9.2", "--table", tmp_path / "node_flags.toml", "--write")
    told = _run(*words)
    assert (told.returncode, told.stderr) == (1, "")
    assert "-brandNew: appeared" in told.stdout and "a variable: LIVE_AI_NEW  (" in told.stdout
    assert "onlyTested" not in told.stdout
    assert "[flags.brandNew]" in (tmp_path / "node_flags.toml").read_text(encoding="utf-8")
    assert '"v0.9.2",\n]' in (tmp_path / "node_flags.toml").read_text(encoding="utf-8")
    assert '[releases."v0.9.2"]\ndate = ""\n' in (tmp_path / "releases.toml").read_text(encoding="utf-8")


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nowhere.go", "--release", "v0.9.1"), "cannot be read"),
        (("README.md", "--release", "v0.9.1"), "register no flags"),
        (("README.md", "--release", "latest"), "write it like v0.9.2"),
        (("README.md", "--release", "v0.8.0", "--write"), "only be compared"),
        (("README.md",), "--release"),
        (("templates", "--release", "v0.9.1"), "templates has no Go files"),
    ],
)
def test_command_refuses_wrong_usage(words: tuple[str, ...], told: str) -> None:
    done = _run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
