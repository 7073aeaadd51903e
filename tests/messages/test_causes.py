"""Messages that name the cause: what somebody did, and not only where the text stopped making sense."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from fleetc.fixes import repair
from fleetc.language import spec
from fleetc.language.fleet import NODE_TABLES
from fleetc.language.rows import DECIDED, ROWS, UNREACHED, field_of, flag_called, in_the_spec
from fleetc.pipeline import check_spec
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.observe import _seen
from fleetc.toml.document import Source
from fleetc.upstream import FLAGS
from tests.support import ROOT, check_text, fleetc, for_each, printed
from tests.test_fixes import BASE, OVERLAY

SPEC = BASE + OVERLAY


def with_overlay(text: str) -> str:
    """What `fleetc check` prints for the spec with an overlay."""
    sources = [Source("fleet.toml", SPEC), Source("prod.toml", text)]
    return printed(check_spec(sources), sources)


# ---- the text


@pytest.mark.parametrize("base", ["", "||||||| base\nbatch = 1\n"], ids=["two", "three"])
def test_an_unresolved_merge_is_called_one_at_all_its_places(base: str) -> None:
    conflict = f"<<<<<<< HEAD\nbatch = 2\n{base}=======\nbatch = 3\n>>>>>>> topic\n"
    shown = check_text(SPEC.replace("batch = 2\n", conflict))
    assert shown.startswith("error[merge-unresolved]: this is an unresolved merge")
    middle = 15 + base.count("\n")
    assert [f"fleet.toml:{line}:1" in shown for line in (13, middle, middle + 2)] == [True] * 3


def test_every_conflict_is_shown_and_the_many_ones_are_bounded() -> None:
    conflict = "<<<<<<< a\nx = 1\n=======\nx = 2\n>>>>>>> b\n"
    assert check_text(f"spec = 1\n{conflict}{conflict}").endswith("2 errors\n")
    assert check_text(f"spec = 1\n{conflict * 500}").endswith("20 errors\n")


def test_the_marks_may_stand_in_a_text_and_halves_of_them_are_no_merge() -> None:
    kept = SPEC.replace('TZ = "1"', 'TZ = """\n<<<<<<< a\n=======\n>>>>>>> b\n"""')
    assert "merge" not in check_text(kept)
    assert "merge" not in check_text(SPEC.replace("batch = 2\n", "batch = 2\n=======\n"))


@pytest.mark.parametrize(
    ("before", "after", "advice"),
    [
        ('"aurora"', "\u201caurora\u201d", 'write it with plain quotes and spaces: "aurora"'),
        ('"aurora"', "\u00ab\u00a0aurora\u00a0\u00bb", 'write it with plain quotes and spaces: "aurora"'),
        ('"aurora"', "\u2018aurora\u2019", 'write it with plain quotes and spaces: "aurora"'),
        ("batch = 2", "batch\u00a0= 2", "write a plain space"),
        ("batch = 2", "batch =\u00a02", "write a plain space"),
        ('"1500 wei / pixel"', '"1500\u00a0wei / pixel"', '"1500 wei / pixel"'),
        ('"1500 wei / pixel"', '"\u201c1500 wei / pixel\u201d"', '"1500 wei / pixel"'),
        ('"v0.9.1"', '"\u201cv0.9.1\u201d"', 'write it with plain quotes and spaces: "v0.9.1"'),
        ('host = "edge"', 'host = "\u201cedge\u201d"', 'write it with plain quotes and spaces: "edge"'),
    ],
)
def test_typographic_quotes_and_spaces_are_not_repeated_in_what_to_write(before: str, after: str, advice: str) -> None:
    assert before in SPEC
    (help_line,) = [line for line in check_text(SPEC.replace(before, after)).splitlines() if "= help:" in line]
    assert advice in help_line
    assert help_line.isascii()


def test_a_quantity_with_typographic_quotes_is_repaired() -> None:
    pasted = SPEC.replace('"1500 wei / pixel"', '"\u201c1500\u00a0wei / pixel\u201d"')
    assert repair([Source("fleet.toml", pasted)]).sources[0].text == SPEC


@pytest.mark.parametrize("version", ["2", "10"])
def test_a_newer_language_asks_for_a_newer_fleetc_and_nothing_else(version: str) -> None:
    shown = check_text(SPEC.replace("spec = 1", f"spec = {version}").replace("[rollout]", "[rollouts]"))
    assert f"error[spec-version-new]: this spec is of version {version} of the language" in shown
    assert "help: upgrade fleetc" in shown
    assert "--fix" not in shown
    assert shown.endswith("\n1 error\n")


@pytest.mark.parametrize(
    ("needed", "own", "said"),
    [
        (">=0.1", "0.1.0", ""),
        (">=0.1", "1.0.0", ""),
        (">=0.9", "0.10.0", ""),
        ("==0.1", "0.1.0", ""),
        (">=0.1.1", "0.1.0", "needs fleetc 0.1.1 or newer, and this is fleetc 0.1.0"),
        (">=1.0", "0.10.0", "needs fleetc 1.0 or newer, and this is fleetc 0.10.0"),
        ("==0.1", "0.1.1", "needs fleetc 0.1, and this is fleetc 0.1.1"),
    ],
)
def test_tool_that_a_spec_does_not_fit_says_which_one_it_needs_and_nothing_else(
    needed: str, own: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spec, "__version__", own)
    named = SPEC.replace("[fleet]", f'[fleet]\nfleetc = "{needed}"')
    shown = check_text(named.replace("[rollout]", "[rollouts]"))
    if not said:
        assert 'there is no key "rollouts"' in shown
        return
    assert said in shown and f'fleetc = "{needed}"' in shown
    assert "help: install it: pipx install --force git+https://HOST/PATH@v" in shown
    assert shown.endswith("\n1 error\n")


@pytest.mark.parametrize("needed", ['"0.1"', '">0.1"', '"~=0.1"', '">=0.1, <1"', '">= latest"', '""', "0.1", "[]"])
def test_version_of_the_tool_that_cannot_be_read_is_an_error_at_its_place(needed: str) -> None:
    shown = check_text(SPEC.replace("[fleet]", f"[fleet]\nfleetc = {needed}"))
    assert re.match(r"error\[(invalid-value|wrong-type)\].*\n --> fleet.toml:\d+:10\n", shown)
    assert '">=0.1"' in shown


@pytest.mark.parametrize(
    ("written", "message", "repaired"),
    [
        ("0", "there is no version 0 of the spec language", True),
        ("-1", "there is no version -1 of the spec language", True),
        ('"1"', "spec must be a whole number", True),
        ('"one"', "spec must be a whole number", False),
        ("true", "spec must be a whole number", False),
        ("[1]", "spec must be a whole number", False),
    ],
)
def test_a_version_that_never_was_says_which_to_write(written: str, message: str, repaired: bool) -> None:
    shown = check_text(SPEC.replace("spec = 1", f"spec = {written}"))
    assert message in shown
    assert re.search("help: .*write (spec = )?1", shown)
    assert ("fleetc check --fix writes spec = 1" in shown) == repaired


# ---- names


def test_a_renamed_host_is_known_by_being_the_only_one_that_nothing_uses() -> None:
    shown = check_text(SPEC.replace("[hosts.edge]", "[hosts.frontdoor]"))
    assert 'did you mean "frontdoor", the only unused host?' in shown
    for table, old, new in (("models", "realvis", "portraits"), ("wallets", "earner", "till")):
        shown = check_text(SPEC.replace(f"[{table}.{old}]", f"[{table}.{new}]"))
        assert f'"{new}", the only unused {table[:-1]}' in shown


def test_two_unused_hosts_say_nothing_about_a_name() -> None:
    spare = '\n[hosts.spare]\naddress = "203.0.113.77"\nruntime = "docker"\n'
    assert "nothing uses" not in check_text(SPEC.replace("[hosts.edge]", "[hosts.frontdoor]") + spare)


def test_a_slip_and_an_unused_host_are_both_asked_about() -> None:
    spare = '\n[hosts.spare]\naddress = "203.0.113.77"\nruntime = "docker"\n'
    shown = check_text(SPEC.replace('host = "gpu"', 'host = "gppu"', 1) + spare)
    assert 'did you mean "spare", the only unused host, or "gpu"?' in shown


def test_names_that_are_equally_near_are_all_named() -> None:
    text = SPEC.replace('wallet = "payer"', 'wallet = "purse-x"').replace("[wallets.earner]", "[wallets.purse-b]")
    text = text.replace("payer.", "purse-a.").replace('wallet = "earner"', 'wallet = "purse-b"')
    text = text.replace('mode = "video"\nwallet = "purse-b"', 'mode = "video"\nwallet = "purse-a"')
    assert 'did you mean "purse-a" or "purse-b"?' in check_text(text)


# ---- flags of the node


@for_each("name", sorted(FLAGS))
def test_every_flag_of_the_node_leads_to_its_field(name: str) -> None:
    """As the node spells it, with dashes, in snake case, and as its variable; in a table that has the field or not."""
    flag = flag_called(name)
    assert flag == name or (name, flag) == ("datadir", "dataDir")
    for spelled in (f"-{name}", f"--{name}", FLAGS[name].env):
        assert flag_called(spelled) == flag
    rows = [row for row in ROWS if row.flag == flag]
    for table in NODE_TABLES:
        told = in_the_spec(flag, table)
        wanted = field_of(flag, table) or UNREACHED[flag]
        assert f"the node's -{flag}" in told and wanted in told
        fields = {row.field for row in rows if row.table == table}
        assert not fields or field_of(flag, table) in fields
    assert rows or flag in DECIDED or flag in UNREACHED


@pytest.mark.parametrize(
    ("line", "help_line"),
    [
        ('pricePerUnit = "1"', "the node's -pricePerUnit is set by price"),
        ('-pricePerUnit = "1"', "the node's -pricePerUnit is set by price"),
        ('--price-per-unit = "1"', "the node's -pricePerUnit is set by price"),
        ('LP_PRICEPERUNIT = "1"', "the node's -pricePerUnit is set by price"),
        ("v = 6", "the node's -v is set by verbosity"),
        ('config = "x"', "no key sets the node's -config: settings travel as flags and variables"),
        ('environment = { LP_MAXSESSIONS = "1" }', "the node's -maxSessions is set by max_sessions"),
    ],
)
def test_a_flag_as_a_key_is_answered_with_the_key(line: str, help_line: str) -> None:
    assert help_line in check_text(SPEC.replace("containers_per_gpu = 1", line))


def test_a_word_of_another_table_is_no_flag() -> None:
    assert "-region" not in check_text(SPEC + '\n[ladders.a]\nregion = "x"\n')


# ---- overlays


def test_an_overlay_for_a_table_that_nobody_has_names_the_near_one() -> None:
    shown = with_overlay('[gateways.gat]\nmax_price = "1600 wei / pixel"\n')
    assert 'no earlier source has gateways.gat: did you mean "gate"?' in shown
    shown = with_overlay('[gateways.west]\nmax_price = "1600 wei / pixel"\n')
    assert "has gateways.west: if it is new, add host" in shown
    assert "no source before" not in with_overlay('[gateways.gate]\nmode = "vido"\n')


# ---- commands


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A directory with a sound spec and nothing compiled."""
    text = (ROOT / "inventories" / "demo" / "fleet.toml").read_text(encoding="utf-8")
    (tmp_path / "fleet.toml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("words", [["plan"], ["deploy"], ["deploy", "--check"], ["why", "rendered/FLEET.md:3"]])
def test_what_needs_a_tree_says_compile_first(demo: Path, words: list[str]) -> None:
    done = fleetc(*words, cwd=demo)
    assert done.returncode in (1, 2)
    assert "run fleetc compile first" in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) <= 3


def test_output_goes_where_it_was_asked_for_and_directories_are_made(demo: Path) -> None:
    assert fleetc("compile", "-o", "a/b/c", cwd=demo).returncode == 0
    assert (demo / "a" / "b" / "c" / "manifest.json").is_file()
    done = fleetc("plan", "--output", "a/b/c", "-o", "x/y/plan.json", cwd=demo)
    assert done.returncode == 0, done.stderr
    assert (demo / "x" / "y" / "plan.json").is_file()
    assert "run fleetc compile first" in fleetc("plan", "--verify", "x/y/plan.json", cwd=demo).stderr
    assert fleetc("compile", "--check", "-o", "no/where", cwd=demo).returncode == 1
    assert not (demo / "no").exists(), "a question makes no directories"
    (demo / "file").touch()
    assert "no-such-directory" in fleetc("compile", "-o", "file/x/y", cwd=demo).stderr


@pytest.mark.parametrize(
    ("old", "new", "way_out", "code"),
    [
        ("warm = true, ", 'token = { env = "T" }, ', 'url = "http://127.0.0.1:8100", ', "unknown-key"),
        ('"gpu.example.net:8935"', '"none"', '"orch.example.net:8935"', "invalid-value"),
    ],
    ids=["a token in the list of models", "no address"],
)
def test_what_the_node_takes_and_fleetc_does_not_comes_with_a_way_out(
    old: str, new: str, way_out: str, code: str
) -> None:
    """The node reads `token` and starts with `-serviceAddr none` where `-nodes` names others."""
    assert old in SPEC
    shown = check_text(SPEC.replace(old, new))
    assert f"error[{code}]" in shown and f"write {way_out.rstrip(', ')}" in shown
    assert f"error[{code}]" not in check_text(SPEC.replace(old, way_out))


def test_a_release_that_never_was_is_answered_with_those_there_are(demo: Path) -> None:
    for asked, told in {
        "v0.8.99": 'did you mean "v0.8.',
        "oops": "v0.7.6 to",
    }.items():
        done = fleetc("diff", "--release", asked, cwd=demo)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_an_unreachable_host_is_answered_with_the_words_of_ssh(demo: Path) -> None:
    """A real ssh against a port on which nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, and nobody listens
        text = (demo / "fleet.toml").read_text(encoding="utf-8")
        at = text.index("[hosts.")
        body = text[at:].replace("address = ", f"ssh_port = {held.getsockname()[1]}\naddress = ", 1)
        lines = ['address = "127.0.0.1"' if line.startswith("address = ") else line for line in body.splitlines()]
        (demo / "fleet.toml").write_text(f"{text[:at]}{chr(10).join(lines)}\n", encoding="utf-8")
        assert fleetc("compile", cwd=demo).returncode == 0
        assert fleetc("plan", "--against", "rendered", "-o", "plan.json", cwd=demo).returncode == 0
        done = fleetc("deploy", "--plan", "plan.json", cwd=demo)
    assert done.returncode == 1
    assert "plan-host-unreachable" in done.stderr
    assert "could not be reached: ssh says connect to host 127.0.0.1 port" in done.stderr
    assert "Connection refused" in done.stderr


def test_what_ssh_says_is_data() -> None:
    said = "Task failed: Failed to connect to the host via ssh: hello\nssh: \x1b[31mNo route\x1b[0m " + "x" * 5000
    failure = Event("unreachable", "edge", "Look up the current release", said)
    state = _seen("edge", RunResult("failed", 4, None, (failure,))).state
    assert state.note.startswith("could not be reached: ssh says \\x1b[31mNo route")
    assert len(state.note) <= 200
