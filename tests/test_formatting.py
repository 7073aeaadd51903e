"""`fleetc fmt`: one form for each spec, with every value and every comment of it."""

from __future__ import annotations

import random
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc import formatting
from fleetc.formatting import FormattingError, formatted
from fleetc.toml.document import Source
from fleetc.toml.reader import read
from tests.support import ROOT, fleetc
from tests.toml.toml_texts import EVERY_FORM

SPECS = sorted(ROOT.glob("inventories/*/*.toml"))


def form(text: str) -> str:
    """The text in its one form. `formatted` itself compares values and comments, and formats twice."""
    found, problems = formatted(Source("fleet.toml", text))
    assert found is not None, problems
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("\n\n# only\n", "# only\n"),
        ("a=1", "a = 1\n"),
        ("a . 'b' . \"c d\"  =   1   #why\n", 'a.b."c d" = 1  #why\n'),
        ("[ a . 'b' ] # c\nx=1", "[a.b]  # c\nx = 1\n"),
        ("[a]\n\n\nx = 1\n\n\n\ny = 2\n[b]\n", "[a]\nx = 1\n\ny = 2\n\n[b]\n"),
        ("a = [ 1,2 , 3, ]\nb = [ ]\nc = {x=1,y = { } }\n", "a = [1, 2, 3]\nb = []\nc = { x = 1, y = {} }\n"),
        ("a = [1,\n2]\n", "a = [\n  1,\n  2,\n]\n"),
        ("a = [\n# first\n1, # one\n\n 2 # two\n, # more\n# last\n]", None),
        ("a = [[1,\n2],\n[3]]", "a = [\n  [\n    1,\n    2,\n  ],\n  [3],\n]\n"),
        ("a = 1 # x\nlong = 2 # y\nb = 3\n", "a = 1     # x\nlong = 2  # y\nb = 3\n"),
        (f"a = 1 # x\nb = '{'z' * 60}' # y\n", f"a = 1  # x\nb = '{'z' * 60}'  # y\n"),
        ('a = """\n  x \n\n# no comment\n""" # y\n', 'a = """\n  x \n\n# no comment\n"""  # y\n'),
        ("a = 'C:\\x'\nb = 1_000\nc = 0x1F\nd = 1e3\n", "a = 'C:\\x'\nb = 1_000\nc = 0x1F\nd = 1e3\n"),
        ("a = [\n]\n", "a = []\n"),
    ],
)
def test_spacing(before: str, after: str | None) -> None:
    expected = after if after is not None else "a = [\n  # first\n  1,  # one\n  2,  # two\n  # more\n  # last\n]\n"
    assert form(before) == expected


def test_tables_come_in_the_order_of_the_reference() -> None:
    before = """\
# a fleet
[orchestrators.b]
[gateways.a]
[gateways.a.kafka]
[orchestrators.a]
[gateways.b]
[unknown]
[orchestrators.b.x]
[hosts.z]
[fleet]
"""
    after = (
        "[fleet] [hosts.z] [gateways.a] [gateways.a.kafka] [gateways.b] # a fleet [orchestrators.b] [orchestrators.b.x]"
    )
    assert form(before).split("\n\n")[0] == "[fleet]"
    assert " ".join(form(before).split("\n")).split() == f"{after} [orchestrators.a] [unknown]".split()


def test_order_is_within_what_a_blank_line_or_a_comment_has_not_separated() -> None:
    before = "[orchestrators.b]\n[hosts.b]\n\n[orchestrators.a]\n[hosts.a]\n# the edge\n[gateways.c]\n[hosts.c]\n"
    after = "[hosts.b] [orchestrators.b] [hosts.a] [orchestrators.a] [hosts.c] # the edge [gateways.c]"
    assert " ".join(form(before).split()) == after


def test_keys_that_a_table_needs_come_first_and_others_stay() -> None:
    before = "[orchestrators.a]\nprice = '1 wei / pixel'\nmax_sessions = 1\nmode = 'video'\nhost = 'h'\n"
    after = "[orchestrators.a]\nhost = 'h'\nmode = 'video'\nprice = '1 wei / pixel'\nmax_sessions = 1\n"
    assert form(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "[orchestrators.a]\nprice = '1 wei / pixel'\n\nhost = 'h'\n",
        "[orchestrators.a]\n# what it asks\nprice = '1 wei / pixel'\nhost = 'h'\n",
        "[orchestrators.a]\nprice = '1 wei / pixel'\n# where it is\nhost = 'h'\n",
        "[gateways.a]\nx = 1\n# the end of a\n\n# -- selling --\n\n[orchestrators.a]\n\n# -- all --\n\n[fleet]\n",
        "# a header\n\n# another one\n\n[hosts.a]\n\n# about the fleet\n\n[fleet]\n# at the end\n",
        "spec = 1\n\n# alone\n\n[fleet]\n# alone\n\nname = 'x'\n",
        "[[hosts]]\n\n[hosts.b]\n\n[[hosts]]\n\n[hosts.a]\n\n[[hosts.a.c]]\n\n[hosts.a.c.d]\n\n[[hosts.a.c]]\n",
        "[[silence]]\ncode = 'b'\n\n[[silence]]\ncode = 'a'\n",
        "[hosts.gpu-1]\n\n[orchestrators.gpu-1]\n\n[hosts.gpu-2]\n\n[orchestrators.gpu-2]\n",
        "# what sells\n[orchestrators.gpu-1]\n\n# where it runs\n[hosts.gpu-1]\n",
    ],
)
def test_what_people_grouped_stays_together(text: str) -> None:
    assert form(text) == text


def test_long_list_has_one_item_on_a_line() -> None:
    items = [f'"hosts.number-{number}"' for number in range(10)]
    assert form(f"remove = [{','.join(items)}]\n") == "".join(["remove = [\n", *(f"  {i},\n" for i in items), "]\n"])
    short = f"remove = [{', '.join(items[:4])}]\n"
    assert form(short) == short


@pytest.mark.parametrize("path", SPECS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_shipped_specs_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert form(text) == text


@given(st.sampled_from([EVERY_FORM, *(path.read_text(encoding="utf-8") for path in SPECS)]), st.integers(0, 2**32))
def test_any_layout_keeps_its_values_and_comments(text: str, seed: int) -> None:
    """Lines get space, comments and blank lines wherever the text still says the same with them."""
    chance = random.Random(seed)
    lines = text.split("\n")
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(lines))
        line = lines[at]
        changed = chance.choice(
            [
                [line, ""],
                [line, "# new"],
                ["  # new", line],
                [line + "  "],
                [line + " # new"],
                [f"\t{line}"],
                ["", line],
            ]
        )
        tried = [*lines[:at], *changed, *lines[at + 1 :]]
        if read("x", "\n".join(tried))[0] == read("x", text)[0] and not read("x", "\n".join(tried))[1]:
            lines = tried
    form("\n".join(lines))


_NAMES = st.sampled_from(["a", "b", "host", "mode", "fleet", "hosts", "gateways", '"c d"', "'é'"])
_VALUES = st.recursive(
    st.sampled_from(["1", "true", '"x # y"', "'it'", '"""\na\n\nb"""', "1.50"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: "[\n# c\n" + " ,\n\n".join(items) + " # d\n]"),
        st.lists(inner, max_size=3).map(lambda items: "{" + ",".join(f"k{n}={i}" for n, i in enumerate(items)) + "}"),
    ),
    max_leaves=8,
)
_LINES = st.one_of(
    st.tuples(st.lists(_NAMES, min_size=1, max_size=3), _VALUES, st.sampled_from(["", " # why", "#"])).map(
        lambda one: f"{' . '.join(one[0])} ={one[1]}{one[2]}"
    ),
    st.lists(_NAMES, min_size=1, max_size=3).map(lambda parts: f"[{'.'.join(parts)}]"),
    st.lists(_NAMES, min_size=1, max_size=2).map(lambda parts: f"[[ {'.'.join(parts)} ]] # many"),
    st.sampled_from(["", "", "# alone", "  #: directive"]),
)


@given(st.lists(_LINES, max_size=25))
def test_any_text_keeps_its_values_and_comments(lines: list[str]) -> None:
    text = ""
    for line in lines:  # those that TOML refuses together with the ones before are left out
        try:
            tomllib.loads(longer := f"{text}{line}\n")
        except tomllib.TOMLDecodeError:
            continue
        text = longer
    form(text)


def test_text_that_would_mean_something_else_is_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("a = 2  # x\n", "a = 1\n", "a = \n", "a = 1 # x\n"):
        monkeypatch.setattr(formatting, "canonical", lambda text, rank, wrong=wrong: wrong if text != wrong else "")
        with pytest.raises(FormattingError):
            formatted(Source("fleet.toml", "a = 1  # x\n"))


# ---------------------------------------------------------------------------------------------------------- the command


def test_files_are_written_only_where_they_change(tmp_path: Path) -> None:
    spec, overlay = tmp_path / "fleet.toml", tmp_path / "staging.toml"
    spec.write_bytes(b"spec=1\r\n[fleet]\r\n")
    overlay.write_text("remove = []\n")
    spec.chmod(0o640)
    before = overlay.stat()
    done = fleetc("fmt", spec, "--overlay", overlay)
    assert (done.returncode, done.stderr) == (0, f"formatted {spec}\n")
    assert spec.read_bytes() == b"spec = 1\r\n\r\n[fleet]\r\n", "its line ends stay"
    assert spec.stat().st_mode & 0o777 == 0o640
    assert overlay.stat().st_mtime_ns == before.st_mtime_ns
    assert fleetc("fmt", spec).stderr == ""


def test_file_that_is_named_twice_is_not_written(tmp_path: Path) -> None:
    spec, overlay = tmp_path / "fleet.toml", tmp_path / "staging.toml"
    spec.write_text("spec = 1\n")
    overlay.write_text("remove=[]\n")
    done = fleetc("fmt", spec, "--overlay", overlay, "--overlay", overlay)
    assert done.returncode and "error[spec-named-twice]" in done.stderr
    assert overlay.read_text() == "remove=[]\n"


def test_check_shows_the_difference_and_writes_nothing(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text('spec=1\nkey="0x' + "4c" * 32 + '"\n')
    done = fleetc("fmt", tmp_path, "--check")
    assert done.returncode == 1
    assert "-spec=1\n" in done.stdout and "+spec = 1\n" in done.stdout
    assert "4c4c" not in done.stdout and "not shown" in done.stdout
    assert done.stderr == f"{spec} is not formatted; run fleetc fmt {spec}\n"
    assert spec.read_text().startswith("spec=1\n")
    spec.write_text("spec = 1\n")
    done = fleetc("fmt", tmp_path, "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_check_of_a_text_that_changes_everywhere_says_where_and_not_how(tmp_path: Path) -> None:
    """The time of a comparison line by line grows with the square of what changes."""
    labels = "".join(f"l{number} =  'x'\n" for number in range(2100))
    (tmp_path / "fleet.toml").write_text(f"spec = 1\n[fleet.labels]\n{labels}", encoding="utf-8")
    done = fleetc("fmt", tmp_path, "--check")
    assert done.returncode == 1
    assert done.stdout == f"{tmp_path}/fleet.toml: too much changes to show it, from line 2 to line 2102\n"


def test_spec_that_cannot_be_read_stays(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text("a = [1,\n")
    done = fleetc("fmt", spec)
    assert done.returncode == 1
    assert "error[toml-syntax]" in done.stderr and f"{spec}:2:1" in done.stderr
    assert spec.read_text() == "a = [1,\n"


def test_spec_with_errors_is_formatted_all_the_same(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text("spec=1\nnonsense=2\n")
    assert fleetc("fmt", spec).returncode == 0
    assert spec.read_text() == "spec = 1\nnonsense = 2\n"


@pytest.mark.usefixtures("processes")
def test_editors_send_a_spec_and_get_it_back(tmp_path: Path) -> None:
    words = [sys.executable, "-I", "-m", "fleetc", "fmt", "-"]
    for sent, code, got in (("spec=1\r\n", 0, "spec = 1\n"), ("a = [", 1, "")):
        done = subprocess.run(words, input=sent.encode(), capture_output=True, cwd=tmp_path, timeout=60, check=False)
        assert (done.returncode, done.stdout.decode()) == (code, got)
        assert (b"stdin:1:6" in done.stderr) == bool(code)
