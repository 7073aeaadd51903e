"""Defaults, classes and tables for many: what they write out, where each value is said, and what is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import assume, given
from hypothesis import strategies as st

from fleetc.fixes import repair
from fleetc.language.counters import MEMBERS_LIMIT, CounterError, counted
from fleetc.language.sharing import resolve
from fleetc.language.spec import read_spec
from fleetc.messages.json import as_data
from fleetc.messages.locate import locate
from fleetc.messages.sharing import EXAMPLE
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source, read_document
from tests.support import check_text, compile_text, example_sources, fleetc, sources_of

HEAD = """\
spec = 1
[fleet]
name = "many"
network = "offchain"
node_release = "v0.9.1"
"""
CLASSES = """\
[defaults.orchestrators]
mode = "video"

[classes.box.hosts]
runtime = "systemd"
gpus = [{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }]

[classes.box.orchestrators]
max_sessions = 8
gpus = [0]
secret = { env = "SECRET" }

[hosts."gpu-{01..03}"]
like = "box"
address = "203.0.113.{10..12}"
public = "gpu-{}.example.net"

[hosts.gpu-02]
region = "us"

[orchestrators."orch-{}"]
on = "gpu-*"
like = "box"

[orchestrators.orch-03]
max_sessions = 4
"""
WRITTEN_OUT = "".join(
    f"""
[hosts.gpu-0{number}]
address = "203.0.113.{9 + number}"
public = "gpu-0{number}.example.net"
runtime = "systemd"
gpus = [{{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }}]
{'region = "us"' if number == 2 else ""}

[orchestrators.orch-0{number}]
host = "gpu-0{number}"
mode = "video"
max_sessions = {4 if number == 3 else 8}
gpus = [0]
secret = {{ env = "SECRET" }}
"""
    for number in (1, 2, 3)
)


def raw(text: str, *overlays: str) -> dict[str, Any]:
    """A spec with all that it says once written out."""
    sources = [Source(f"{place}.toml", one) for place, one in enumerate((text, *overlays))]
    document, found = read_spec(sources)
    assert document is not None
    assert found == []
    return document.raw


def test_classes_and_counters_write_out_what_a_person_would() -> None:
    assert raw(HEAD + CLASSES) == tomllib.loads(HEAD + WRITTEN_OUT)


def test_trees_of_hosts_are_those_of_the_written_out_spec() -> None:
    shared, plain = (compile_text(HEAD + text).tree for text in (CLASSES, WRITTEN_OUT))
    assert shared is not None and plain is not None
    trees = [
        {path: file for path, file in tree.as_mapping().items() if path.startswith("hosts/")}
        for tree in (shared, plain)
    ]
    assert trees[0] == trees[1]
    assert len(trees[0]) == 12


WRITTEN_OUT_EXAMPLES = sorted(Path(__file__).parents[1].glob("data/written_out/*.toml"))


@pytest.mark.parametrize("written_out", WRITTEN_OUT_EXAMPLES, ids=lambda path: path.stem)
def test_an_example_with_classes_is_the_written_out_one(written_out: Path) -> None:
    (shared, found), (plain, _) = (
        read_spec(sources) for sources in (example_sources(written_out.stem), sources_of(written_out))
    )
    assert found == []
    assert shared is not None and plain is not None
    assert shared.raw == plain.raw
    assert shared.layers and not plain.layers


def test_the_example_of_the_page_is_sound() -> None:
    (document, found) = read_spec([Source("fleet.toml", HEAD + EXAMPLE)])
    assert document is not None and found == []
    assert document.raw["orchestrators"]["orch-07"]["host"] == "gpu-07"
    assert check_text(HEAD + EXAMPLE) == "no problems\n"


def test_the_order_of_strength() -> None:
    """A member's own table, the table for many, classes from the last to the first, what those are like, defaults."""
    names = ("own", "many", "late", "late-parent", "early", "default")
    keys = [f"key-{place}" for place in range(len(names))]
    says = {name: "\n".join(f'{key} = "{name}"' for key in keys[: place + 1]) for place, name in enumerate(names)}
    text = (
        f"[defaults.models]\n{says['default']}\n[classes.early.models]\n{says['early']}\n"
        f'[classes.late.models]\nlike = "parent"\n{says["late"]}\n[classes.parent.models]\n{says["late-parent"]}\n'
        f'[models."m-{{1,2}}"]\nlike = ["early", "late"]\n{says["many"]}\n[models.m-2]\n{says["own"]}\n'
    )
    models = raw(text)["models"]
    assert models["m-2"] == dict(zip(keys, names, strict=True))
    assert models["m-1"] == dict(zip(keys, names, strict=True)) | {"key-0": "many"}


def test_lists_are_replaced_tables_merge_and_a_reference_replaces_a_reference() -> None:
    text = """\
[classes.a.gateways]
orchestrators = ["x", "y"]
max_model_prices = { one = "1", two = "2" }
secret = { env = "A" }
[gateways.g]
like = "a"
orchestrators = ["z"]
max_model_prices = { two = "3" }
secret = { host_file = "/b" }
"""
    assert raw(text)["gateways"]["g"] == {
        "orchestrators": ["z"],
        "max_model_prices": {"one": "1", "two": "3"},
        "secret": {"host_file": "/b"},
    }


def test_one_member_more_or_less_leaves_the_others_as_they_are() -> None:
    def hosts(names: str, addresses: str) -> dict[str, Any]:
        return raw(f'[hosts."gpu-{{{names}}}"]\naddress = "203.0.113.{{{addresses}}}"\n')["hosts"]  # type: ignore[no-any-return]

    three, four, without = hosts("01..03", "10..12"), hosts("01..04", "10..13"), hosts("01,03", "10,12")
    assert {name: four[name] for name in three} == three
    assert {name: three[name] for name in without} == without
    assert [*without] == ["gpu-01", "gpu-03"]


def test_overlays_reach_classes_and_members() -> None:
    overlay = """\
remove = ["hosts.gpu-03", "orchestrators.orch-03"]
[classes.box.hosts]
runtime = "docker"
[hosts.gpu-01]
region = "eu"
"""
    hosts = raw(HEAD + CLASSES, overlay)["hosts"]
    assert [*hosts] == ["gpu-01", "gpu-02"]
    assert {host["runtime"] for host in hosts.values()} == {"docker"}
    assert hosts["gpu-01"]["region"] == "eu"


def test_every_value_knows_where_it_is_said() -> None:
    document, _ = read_spec([Source("fleet.toml", HEAD + CLASSES)])
    assert document is not None
    said = {
        ("hosts", "gpu-01", "runtime"): ("classes", "box", "hosts", "runtime"),
        ("hosts", "gpu-01", "gpus", 0, "memory"): ("classes", "box", "hosts", "gpus", 0, "memory"),
        ("hosts", "gpu-01", "address"): ("hosts", "gpu-{01..03}", "address"),
        ("hosts", "gpu-02", "region"): ("hosts", "gpu-02", "region"),
        ("orchestrators", "orch-03", "host"): ("orchestrators", "orch-{}", "on"),
        ("orchestrators", "orch-03", "max_sessions"): ("orchestrators", "orch-03", "max_sessions"),
        ("orchestrators", "orch-01", "mode"): ("defaults", "orchestrators", "mode"),
        ("fleet", "name"): ("fleet", "name"),
    }
    assert {path: document.said_at(path) for path in said} == said
    for path in said:
        assert document.span(path) is not None


def test_resolved_says_where_each_setting_comes_from(tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text(HEAD + CLASSES, encoding="utf-8")
    shown = fleetc("check", "orchestrators.orch-03", "--resolved", cwd=tmp_path).stdout
    lines = (HEAD + CLASSES).splitlines()

    def at(text: str) -> int:
        return lines.index(text) + 1

    on, mode = at('on = "gpu-*"'), at('mode = "video"')
    assert f'host = "gpu-03"  # fleet.toml:{on}, orchestrators.orch-{{}}' in shown
    assert f"max_sessions = 4  # fleet.toml:{at('max_sessions = 4')}\n" in shown
    assert f"gpus = [  # fleet.toml:{at('gpus = [0]')}, classes.box.orchestrators\n" in shown
    assert f'mode = "video"  # fleet.toml:{mode}, defaults.orchestrators' in shown
    assert 'data_dir = "/var/lib/livepeer/orch-03"  # default: its own directory' in shown
    assert tomllib.loads(shown).keys() == {"orchestrators"}
    whole = fleetc("check", "--resolved", cwd=tmp_path).stdout
    settings_without = [line for line in whole.splitlines() if " = " in line and "  # " not in line]
    assert [line for line in settings_without if not line.startswith(" ")] == []
    unknown = fleetc("check", "--resolved", "hosts.gpu-3", cwd=tmp_path)
    assert unknown.returncode == 2
    assert 'did you mean "hosts.gpu-03"' in unknown.stderr


def test_a_fault_in_a_class_is_told_once_with_its_members() -> None:
    text = HEAD + CLASSES.replace('runtime = "systemd"', 'runtime = "podman"')
    shown = check_text(text)
    assert shown.count("error[unknown-value]") == 1
    assert 'runtime = "podman"' in shown
    assert "in 3 members: gpu-01, gpu-02, gpu-03" in shown
    checked = check_spec([Source("fleet.toml", text)])
    (found,) = as_data(locate(checked.diagnostics, checked.sources, checked.document))
    assert found["members"] == ["hosts.gpu-01", "hosts.gpu-02", "hosts.gpu-03"]


def test_a_certain_fix_edits_the_class() -> None:
    wrong = HEAD + CLASSES.replace('memory = "24 GiB"', 'memory = "24GiB"')
    repaired = repair([Source("fleet.toml", wrong)])
    assert repaired.sources[0].text == HEAD + CLASSES
    assert len(repaired.repairs) == 1


def test_a_counter_that_was_filled_in_is_not_fixed_for_all() -> None:
    wrong = HEAD + CLASSES.replace('runtime = "systemd"', 'runtime = "systemd"\nssh_port = "22{10..12}"')
    repaired = repair([Source("fleet.toml", wrong)])
    assert repaired.sources[0].text == wrong


FAULTS = {
    "class-unknown": ('like = "box"\naddress', 'like = "boxes"\naddress'),
    "class-cycle": ("[classes.box.hosts]\n", '[classes.box.hosts]\nlike = "box"\n'),
    "counter-invalid": ("gpu-{}.example.net", "gpu-{x}.example.net"),
    "counter-lengths-differ": ("203.0.113.{10..12}", "203.0.113.{10..13}"),
    "member-twice": (
        "[orchestrators.orch-03]",
        '[hosts."gpu-{03,04}"]\naddress = "203.0.113.{12,13}"\n[orchestrators.orch-03]',
    ),
    "on-invalid": ('on = "gpu-*"', 'on = "gpu"'),
    "on-matches-nothing": ('on = "gpu-*"', 'on = "cpu-*"'),
    "overlay-remove": ("", ""),
}


@pytest.mark.parametrize("code", [code for code, fault in FAULTS.items() if fault[0]])
def test_what_cannot_be_written_out_is_an_error_at_its_line(code: str) -> None:
    before, after = FAULTS[code]
    assert before in CLASSES
    shown = check_text(HEAD + CLASSES.replace(before, after, 1))
    assert f"error[{code}]" in shown
    assert "  --> fleet.toml:" in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[classes]\nbox = 1\n[hosts.a]\nlike = "box"\n', "box must be a table"),
        ("[defaults]\nhosts = 1\n", "hosts must be a table"),
        ("defaults = 1\n", "defaults must be a table"),
        ("classes = 1\n", "classes must be a table"),
        ("[defaults.host]\na = 1\n", 'a spec has no tables called "host"'),
        ("[hosts.a]\nlike = 1\n", "like takes the name of a class"),
        ("[hosts.a]\nlike = []\n", "like takes the name of a class"),
        ('[classes.c.hosts]\non = "x-*"\n[hosts.a]\nlike = "c"\n', "on belongs in the table of nodes itself"),
        ('[classes.c.wallets]\na = 1\n[hosts.a]\nlike = "c"\n', "class c says nothing about hosts: it has wallets"),
        ('[classes.c.hosts]\na = "{}"\n[hosts.a]\nlike = "c"\n', "hosts.a has no counter to fill in here"),
        ('[hosts."a-{1..2}-{1..2}"]\n', "needs exactly one counter"),
        ('[hosts."a-{}"]\n', "needs exactly one counter"),
        ('[hosts."a-{2..1}"]\n', "this range counts down"),
        ('[hosts."a-{01..200}"]\n', "equally wide"),
        ('[hosts."a-{1..1000000}"]\n', f"at most {MEMBERS_LIMIT} values"),
        ('[hosts."a-{1,,2}"]\n', "is empty"),
        ('[hosts."a-{"]\n', "a brace here has no partner"),
        ('[hosts."a-{1,1}"]\n', "hosts.a-1 comes out of this name twice"),
        ('[hosts."a-{1..2}"]\nx = { "k{1,2}" = 1, "k{}" = 2 }\n', '"k{}" becomes "k1" in hosts.a-1'),
        ('[hosts.a]\n[gateways."g-{}"]\non = "a*"\nhost = "a"\n', "host has no place here"),
        ('[hosts.a-1]\n[gateways."g-{}"]\non = "a-*"\nx = "{1..2}"\n', "only {} has a place in a table with on"),
        ('[hosts.a-1]\n[gateways.g]\non = "a-*"\n', "needs {} and no other counter"),
    ],
)
def test_bad_input_gets_one_message(text: str, message: str) -> None:
    shown = check_text("spec = 1\n" + text)
    assert message in shown
    document, found = read_spec([Source("fleet.toml", "spec = 1\n" + text)])
    assert found and document is not None


GOES_ON = '[fleet]\nname = "f"\nnetwork = "offchain"\nnode_release = "v0.9.1"\n[hosts."gpu-{1..2}"]\n'
GOES_ON += 'address = "198.51.100.{1..2}"\nruntime = "docker"\n[classes.box.orchestrators]\nmode = "video"\n'
GOES_ON += 'price = "1 wei / pixel"\nmax_sessions = 2\nservice = "x.example.net:8935"\n'

SOUND = '[gateways.h]\nhost = "gpu-2"\nmode = "video"\nhttp = "127.0.0.1:8935"\n'
SOUND += 'orchestrators = ["orch-1"]\nladder = "x"'
"""A sound table that names a table of a sound kind that there is not."""


@pytest.mark.parametrize(
    ("orchestrators", "gateway", "codes"),
    [
        ('on = "gpu-{1..2}"', '["orch-1"]', {"on-invalid"}),
        ('on = "cpu-*"', '["orch-1"]', {"on-matches-nothing"}),
        ('on = "gpu-*"\nlike = "bx"', '["orch-1"]', {"class-unknown"}),
        ('on = "gpu-*"\nmax_sessions = "x"', '["orch-2"]', {"invalid-value"}),
        ('on = "gpu-*"\nmax_sessions = "x"', f'["orch-1"]\n{SOUND}', {"invalid-value", "unknown-reference"}),
    ],
)
def test_check_goes_on_after_an_error_and_drops_what_follows_from_it(
    orchestrators: str, gateway: str, codes: set[str]
) -> None:
    """Other tables have their own errors told beside; a name that the faulty table may have is not unknown."""
    like = "" if "like" in orchestrators else 'like = "box"\n'
    text = f'spec = 1\n{GOES_ON}[orchestrators."orch-{{}}"]\n{orchestrators}\n{like}[gateways.g]\nhost = "gpu-1"\n'
    text += f'mode = "video"\nhttp = ":8935"\norchestrators = {gateway}\n'
    found = check_spec([Source("fleet.toml", text)]).diagnostics
    told = {diagnostic.code for diagnostic in found if diagnostic.severity is Severity.ERROR}
    assert "invalid-value" in told, "that of the gateway"
    assert told == codes | {"invalid-value"}
    assert "class-unused" not in {diagnostic.code for diagnostic in found}


@pytest.mark.parametrize("names", ['["orch-*"]', '["orch-{1..2}"]', '["orch-1", "orch-*"]'])
def test_a_list_of_names_takes_patterns_and_counters(names: str) -> None:
    text = f'spec = 1\n{GOES_ON}[orchestrators."orch-{{}}"]\non = "gpu-*"\nlike = "box"\n[gateways.g]\nhost = "gpu-1"\n'
    text += f'mode = "video"\nhttp = "127.0.0.1:8935"\norchestrators = {names}\n'
    document, found = read_spec([Source("fleet.toml", text)])
    assert document is not None and not found
    assert document.raw["gateways"]["g"]["orchestrators"] == ["orch-1", "orch-2"]
    last = document.span(("gateways", "g", "orchestrators", 1))
    assert last is not None and text[last.start : last.end] == names.strip("[]").split(", ")[-1]
    grown, _ = read_spec([Source("fleet.toml", text.replace("{1..2}", "{1..3}"))])
    assert grown is not None and len(grown.raw["gateways"]["g"]["orchestrators"]) == 3, "nobody edits the list"
    runners = text.replace(
        "[gateways.g]",
        '[runners."r-{1..2}"]\nurl = "http://x"\n[remote_signers.s]\nbuys_runners = ["r-*"]\n[gateways.g]',
    )
    other, _ = read_spec([Source("fleet.toml", runners)])
    assert other is not None and other.raw["remote_signers"]["s"]["buys_runners"] == ["r-1", "r-2"]


@pytest.mark.parametrize("names", ['["zorch-*"]', '["orch-*-*"]', '["*"]', '["orch-{1..9}"]', '["orch-{"]'])
def test_pattern_that_names_nothing_is_an_unknown_name(names: str) -> None:
    text = f'spec = 1\n{GOES_ON}[orchestrators."orch-{{}}"]\non = "gpu-*"\nlike = "box"\n[gateways.g]\nhost = "gpu-1"\n'
    text += f'mode = "video"\nhttp = "127.0.0.1:8935"\norchestrators = {names}\n'
    told = check_text(text)
    assert ("error[unknown-reference]: there is no orchestrator" in told) == (names != '["*"]'), told


def test_many_tables_for_many_members_are_bounded() -> None:
    text = "spec = 1\n" + "".join(f'[hosts."h{number}-{{1..10000}}"]\n' for number in range(11))
    assert "error[too-many-members]" in check_text(text)


@pytest.mark.parametrize("values", ['address = "LONG"', 'extra = ["LONG", "LONG"]', 'environment = { A = "LONG" }'])
def test_text_that_counters_make_is_bounded(values: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fleetc.language.sharing._MOST_TEXT", 1_000_000)
    shown = check_text('spec = 1\n[hosts."h-{1..999}"]\n' + values.replace("LONG", "{}" * 2000) + "\n")
    assert shown.count("error[counter-invalid]: counters make more than 1 million characters") == 1


def test_plain_tables_keep_their_braces() -> None:
    text = '[gateways.g]\nenvironment = { A = "{}", B = "{\\"a\\": 1}" }\n'
    assert raw(text)["gateways"]["g"]["environment"] == {"A": "{}", "B": '{"a": 1}'}
    doubled = '[models."m-{1,2}"]\nid = "{{}}-{}"\n'
    assert raw(doubled)["models"]["m-2"]["id"] == "{}-2"


def test_a_class_that_nothing_is_like_is_a_warning() -> None:
    assert "warning[class-unused]" in check_text(HEAD + CLASSES + "[classes.spare.hosts]\nruntime = 'docker'\n")


# --------------------------------------------------------------------------------------------------- the law

words = st.text(st.sampled_from("ab{}"), max_size=6)
leaf = st.one_of(words, st.integers(0, 9), st.booleans())
table = st.dictionaries(st.sampled_from("wxyz"), st.one_of(leaf, st.lists(leaf, max_size=2)), max_size=3)
nested = st.dictionaries(st.sampled_from("wxyz"), st.one_of(leaf, table), max_size=4)


def _doubled(value: Any) -> Any:
    """A value as a class writes it: braces twice."""
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, dict):
        return {key: _doubled(inner) for key, inner in value.items()}
    return [_doubled(inner) for inner in value] if isinstance(value, list) else value


def _over(*layers: dict[str, Any]) -> dict[str, Any]:
    """The weakest first; written for this test, from the sentence in the page."""
    result: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            merges = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = _over(result[key], value) if merges else value
    return result


@given(nested, nested, nested, nested, nested, st.integers(1, 4), st.booleans())
def test_a_spec_with_classes_means_the_spec_that_is_written_out(
    default: dict[str, Any],
    first: dict[str, Any],
    second: dict[str, Any],
    many: dict[str, Any],
    own: dict[str, Any],
    size: int,
    twice: bool,
) -> None:
    like = ["one", "two"] if twice else ["two", "one"]
    spec = {
        "defaults": {"models": _doubled(default)},
        "classes": {"one": {"models": _doubled(first)}, "two": {"models": _doubled(second)}},
        "models": {f"m-{{1..{size}}}": {"like": like, "n": "{}", **_doubled(many)}, "m-1": own},
    }
    document, found = read_document([Source("fleet.toml", tomli_w.dumps(spec))])
    assert document is not None and found == []
    resolved, found = resolve(document)
    assert found == []
    order = (first, second) if twice else (second, first)
    expected = {f"m-{n}": _over(default, *order, {"n": str(n), **many}) for n in range(1, size + 1)}
    expected["m-1"] = _over(expected["m-1"], own)
    assert resolved.raw == {"models": expected}


@given(st.text(st.sampled_from("a1{}.,0 "), max_size=12))
def test_counters_never_raise_anything_else(text: str) -> None:
    try:
        found = counted(text)
    except CounterError as problem:
        assert str(problem) and problem.help
    else:
        assert found is None or all(found.at(0, "c") is not None for _ in found.counters[:1])


@given(nested, nested, nested, nested, nested, st.integers(1, 3), st.booleans())
def test_so_does_one_of_several_files_with_an_overlay(
    shared: dict[str, Any],
    many: dict[str, Any],
    own: dict[str, Any],
    over_class: dict[str, Any],
    over_own: dict[str, Any],
    size: int,
    apart: bool,
) -> None:
    """The class in a file of its own, or the models; the overlay changes the class, and one member."""
    classes = {"classes": {"one": {"models": _doubled(shared)}}}
    models = {"models": {f"m-{{1..{size}}}": {"like": "one", **_doubled(many)}, "m-1": own}}
    first, second = (classes, models) if apart else (models, classes)
    overlay = {"classes": {"one": {"models": _doubled(over_class)}}, "models": {"m-1": over_own}}
    sources = [
        Source("fleet.toml", tomli_w.dumps({"include": ["part.toml"], **first})),
        Source("part.toml", tomli_w.dumps(second), part="part.toml"),
        Source("overlay.toml", tomli_w.dumps(overlay)),
    ]
    document, found = read_spec(sources)
    assume(not any(one.code == "overlay-conflict" for one in found))  # a table against a value: refused, as ever
    assert found == []
    assert document is not None
    of_all = _over(shared, over_class)
    expected = {f"m-{n}": _over(of_all, many) for n in range(1, size + 1)}
    expected["m-1"] = _over(expected["m-1"], _over(own, over_own))
    assert document.raw == {"models": expected}
