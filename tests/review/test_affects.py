"""Why, of a place in the spec: the lines it names are those that really change, for edits that it knows nothing of."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from decimal import Decimal

import pytest

from fleetc import lower
from fleetc.emit import formats
from fleetc.emit.tree import Artifact, Tree
from fleetc.fixes import apply
from fleetc.pipeline import Compiled, check_spec
from fleetc.places.diagnostic import fix_set
from fleetc.review.affects import Affected, Trials, as_json, as_text, places
from fleetc.review.data import Line
from fleetc.review.lines import changed_tree_lines
from fleetc.review.why import UnknownPlaceError
from fleetc.toml.document import Source, value_at
from fleetc.toml.edits import toml_value
from tests.mutating import Mutation, mutations
from tests.support import EXAMPLES, ROOT, compiled_example, example_sources, exploring, fleetc, shipped

SHIPPED = shipped()


def loaded(name: str) -> tuple[list[Source], Compiled]:
    return example_sources(name), compiled_example(name)


def same_kind(before: object, after: object) -> bool:
    """Whether both are values of one form: "1200 wei / pixel" and "0.5 wei / pixel", two plain words, two numbers."""
    if isinstance(before, str) and isinstance(after, str):
        return re.sub("[0-9][0-9.]*", "0", before) == re.sub("[0-9][0-9.]*", "0", after) or (
            before.isalpha() and after.isalpha()
        )
    return type(before) is type(after)


def same_number(before: object, after: object) -> bool:
    """Whether two texts spell one number in two ways, as "2" and "2.0": nothing depends on that."""
    texts = (before, after)
    numbers = [Decimal(text) for text in texts if isinstance(text, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?", text)]
    return len(numbers) == 2 and numbers[0] == numbers[1]


def edits(compiled: Compiled, count: int, seed: int) -> list[Mutation]:
    """Seeded changes of single values into others of their kind, from the JSON Schema and its odd values."""
    document = compiled.checked.document
    assert document is not None
    found = [m for m in mutations(document.raw, document.raw) if m.kind == "change"]
    plain = [
        m
        for m in found
        if isinstance(m.value, str | int | Decimal)
        and m.value != value_at(document.raw, m.path)
        and same_kind(value_at(document.raw, m.path), m.value)
        and not same_number(value_at(document.raw, m.path), m.value)
    ]
    random.Random(seed).shuffle(plain)
    return plain[: count * 4]


def there(lines: tuple[Line, ...] | list[Line]) -> set[tuple[str, int]]:
    """The lines of the tree as it is that change or go."""
    return {(line.artifact, line.old_line) for line in lines if line.old_line}


def nearest(tried: Sequence[Affected], value: object) -> Affected:
    """What people would look at for a value: the answer that tried it, else the nearest number, else the first."""
    same = [one for one in tried if one.tried == toml_value(value)]  # type: ignore[arg-type]
    numbers = [one for one in tried if one.tried.isdigit()] if isinstance(value, int) else []
    return min(same or numbers or tried[:1], key=lambda one: abs(int(one.tried) - int(str(value))) if numbers else 0)


def measure(count: int, shared: bool = False) -> tuple[int, int, int]:
    """Lines named rightly, named wrongly and missed, over `count` sound edits of the example fleets.

    `shared` takes only edits of values that tables take from classes, defaults and tables for many.
    """
    right = wrong = missed = done = 0
    names = [name for name in EXAMPLES if not shared or loaded(name)[1].checked.document.layers]  # type: ignore[union-attr]
    for name in names:
        sources, compiled = loaded(name)
        document, tree = compiled.checked.document, compiled.tree
        assert document is not None and tree is not None
        trials, made = Trials(compiled, sources, SHIPPED), 0
        for edit in edits(compiled, count, seed=11):
            if made == -(-count // len(names)):
                break
            if shared and document.said_at(edit.path)[:2] == edit.path[:2]:
                continue
            changed = apply(sources, document, [fix_set(edit.path, edit.value)])
            fleet = check_spec(changed.sources).fleet if changed.changes else None
            if fleet is None:
                continue
            other = formats.emit(lower.lower(fleet), *shipped(), changed.sources)
            real = there(list(changed_tree_lines(tree, other)))
            tried = trials.affected(edit.path)
            named = there(nearest(tried, edit.value).lines)
            right, wrong, missed = right + len(real & named), wrong + len(named - real), missed + len(real - named)
            made += 1
        done += made
    assert done >= min(30 if shared else count, count * 3 // 4), f"only {done} edits were sound"
    return right, wrong, missed


@pytest.mark.parametrize("shared", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["all", "shared"])
def test_named_lines_are_those_that_change(shared: bool) -> None:
    right, wrong, missed = measure(300 if exploring() else 30, shared)
    precision, recall = right / (right + wrong), right / (right + missed)
    least = 0.99 if exploring() or not shared else 0.98  # of few edits one weighs much
    assert precision >= least and recall >= least, f"precision {precision:.4f}, recall {recall:.4f}"


def test_choice_is_tried_with_each_other_word() -> None:
    sources, compiled = loaded("dual-onchain")
    found = Trials(compiled, sources, SHIPPED).affected(("hosts", "gpu", "runtime"))
    assert [one.tried for one in found] == ['"docker"']
    releases = Trials(compiled, sources, SHIPPED).affected(("fleet", "node_release"))
    assert len({one.tried for one in releases}) == len(releases) > 2


@pytest.mark.parametrize(("path", "near"), [("rollout.canary", 2), ("rollout.batch", "26%")])
def test_number_is_tried_where_it_reaches_most(path: str, near: int | str) -> None:
    """The nearest canary takes one host more, and the nearest share the same number of hosts."""
    sources, compiled = loaded("two-regions")
    document, tree = compiled.checked.document, compiled.tree
    assert document is not None and tree is not None
    (place,) = places(document, path)
    first, widest = Trials(compiled, sources, SHIPPED).affected(place)
    near_sources = apply(sources, document, [fix_set(place, near)]).sources
    fleet = check_spec(near_sources).fleet
    assert fleet is not None
    near_tree = formats.emit(lower.lower(fleet), *shipped(), near_sources)
    assert there(first.lines) == there(list(changed_tree_lines(tree, near_tree)))
    assert len(there(widest.lines)) > len(there(first.lines))


def test_value_without_a_sound_alternative_is_answered_by_origin() -> None:
    sources, compiled = loaded("demo")
    (found,) = Trials(compiled, sources, SHIPPED).affected(("spec",))
    assert found.tried == ""
    assert "by origin" in as_text([found])


def test_choice_in_a_table_is_tried_with_one_other_word() -> None:
    text = fleetc("why", "orchestrators", "--spec", ROOT / "inventories" / "two-regions", "--format", "json")
    tried: dict[str, int] = {}
    for one in json.loads(text.stdout)["values"]:
        tried[one["path"]] = tried.get(one["path"], 0) + (not one["tried"].strip('"').isdigit())
    assert len(tried) > 10
    assert max(tried.values()) == 1


def test_item_of_a_list_is_answered_with_the_lines_of_the_list() -> None:
    sources, compiled = loaded("dual-onchain")
    (found,) = Trials(compiled, sources, SHIPPED).affected(("orchestrators", "orch", "gpus", 0))
    assert found.tried == ""
    assert "-nvidia=0,1" in {line.old for line in found.lines}


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("orchestrators.orch.pricee", "orchestrators.orch.price"),
        ("orchestrators.orch.models[1].use", "orchestrators.orch.models.1.use"),
    ],
)
def test_misspelt_place_is_answered_with_the_nearest(asked: str, meant: str) -> None:
    _, compiled = loaded("dual-onchain")
    assert compiled.checked.document is not None
    with pytest.raises(UnknownPlaceError) as problem:
        places(compiled.checked.document, asked)
    assert f'did you mean "{meant}"' in problem.value.help


def test_line_of_the_spec_names_its_values() -> None:
    _, compiled = loaded("dual-onchain")
    document = compiled.checked.document
    assert document is not None
    line = next(n for n, text in enumerate(document.sources[0].text.splitlines(), 1) if text.startswith("max_price"))
    assert places(document, f"fleet.toml:{line}") == (("gateways", "gate", "max_price"),)
    header = next(n for n, text in enumerate(document.sources[0].text.splitlines(), 1) if text == "[hosts.edge]")
    assert set(places(document, f"fleet.toml:{header}")) == set(places(document, "hosts.edge"))


@pytest.mark.parametrize("place", ["gateways.gate.maxprice", "fleet.toml:9999", "hosts.gpu.gpus.7", "", "..", "a b"])
def test_unknown_place_is_refused(place: str) -> None:
    _, compiled = loaded("dual-onchain")
    assert compiled.checked.document is not None
    with pytest.raises(UnknownPlaceError):
        places(compiled.checked.document, place)


def test_command_prints_lines_and_json() -> None:
    asked = ("why", "orchestrators.orch.max_sessions", "--spec", ROOT / "inventories" / "dual-onchain")
    text = fleetc(*asked)
    assert text.returncode == 0
    assert "hosts/gpu/orch/launch.flags:" in text.stdout
    assert not any(noise in text.stdout for noise in ("manifest.json", "host_vars", "not shown", "#44;", "spec/"))
    assert re.match(r"\d+ lines in \d+ files: orchestrators\.orch\.max_sessions = 12 \(tried 13\)\n", text.stdout)
    assert re.search(r"\n  \d+ more lines with digests, or in the copy of the spec\n$", text.stdout)
    (value,) = json.loads(fleetc(*asked, "--format", "json").stdout)["values"]
    assert {line["artifact"] for line in value["lines"]} >= {"hosts/gpu/orch/launch.flags", "manifest.json"}


@pytest.mark.parametrize("place", ["gateways", "gateways.gate.max_price", "fleet.node_release", "hosts.gpu.runtime"])
def test_first_screen_is_short_and_all_has_every_line(place: str) -> None:
    asked = ("why", place, "--spec", ROOT / "inventories" / "dual-onchain")
    text, everything, data = (fleetc(*asked, *more).stdout for more in ((), ("--all",), ("--format", "json")))
    assert len(text.splitlines()) <= 25 and max(map(len, text.splitlines())) <= 80
    for value in json.loads(data)["values"]:
        named = [line for line in value["lines"] if line["artifact"].startswith("hosts/")]
        assert all(f"{line['artifact']}:{line['old_line'] or 'behind'}" in everything for line in named)
    assert "--all" in text and "--all" not in everything


@pytest.mark.parametrize(
    ("place", "advice"),
    [("gate", "gateways.gate"), ("orch", "orchestrators.orch"), ("a word", "a key path of the spec"),
     ("x.toml:3", "x.toml"), ("hosts/x", "hosts"), ("orchestrators.nobody", "orchestrators.orch"),
     ("fleet.toml:9999", "a key or a table")],
)  # fmt: skip
def test_what_is_no_place_is_refused_with_what_to_write(place: str, advice: str) -> None:
    done = fleetc("why", place, "--spec", ROOT / "inventories" / "dual-onchain")
    assert (done.returncode, done.stdout) == (2, "")
    assert advice in done.stderr


def test_json_is_a_list_of_values() -> None:
    sources, compiled = loaded("demo")
    found = Trials(compiled, sources, SHIPPED).affected(("fleet", "name"))
    assert json.loads(as_json(found))["values"][0]["path"] == "fleet.name"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"a\nb\nc\n", b"a\nX\nc\n", [(2, 2, "b", "X")]),
        (b"a\nb\n", b"a\nx\nb\n", [(0, 2, None, "x")]),
        (b"a\nx\nb\n", b"a\nb\n", [(2, 0, "x", None)]),
        (None, b"a\n", [(0, 1, None, "a")]),
        (b"a\n", None, [(1, 0, "a", None)]),
        (b"a\nb\n", b"c\n", [(1, 1, "a", "c"), (2, 0, "b", None)]),
        (b"a\n", b"a\n", []),
    ],
)
def test_changed_lines_are_paired(old: bytes | None, new: bytes | None, expected: list[tuple[object, ...]]) -> None:
    trees = [Tree(() if content is None else (Artifact("x", content),)) for content in (old, new)]
    found = [(line.old_line, line.new_line, line.old, line.new) for line in changed_tree_lines(*trees)]
    assert found == expected
