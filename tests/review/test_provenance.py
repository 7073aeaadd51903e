"""Why: every line of every artifact is traced, its text is the artifact's own, and the reasons are the right ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc import lower
from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit import formats
from fleetc.emit.templates import Templates, Word
from fleetc.emit.traced import Traced, TracedLine
from fleetc.emit.tree import Tree
from fleetc.pipeline import Compiled
from fleetc.places.origin import given
from fleetc.review.why import (
    Derivation,
    Explained,
    UnknownPlaceError,
    as_json,
    as_text,
    explain_line,
    find_flag,
)
from fleetc.toml.document import Source
from tests.support import EXAMPLES, ROOT, compiled_example, example_sources, fleetc, shipped


def example(name: str) -> tuple[list[Source], Compiled]:
    return example_sources(name), compiled_example(name)


def plan_and_tree(name: str) -> tuple[Blueprint, Tree]:
    compiled = example(name)[1]
    assert compiled.blueprint is not None and compiled.tree is not None
    return compiled.blueprint, compiled.tree


def traced(name: str, artifact: str) -> list[TracedLine]:
    draft = formats.Drafts(plan_and_tree(name)[0], *shipped(), example(name)[0]).find(artifact)
    assert draft is not None, artifact
    return draft.lines()


def question(name: str) -> Derivation:
    sources, compiled = example(name)
    fleet, document = compiled.checked.fleet, compiled.checked.document
    assert fleet is not None and document is not None
    return Derivation(fleet, lower.lower(fleet), document, sources, shipped())


def explained(name: str, artifact: str, starts: str) -> Explained:
    """The answer about the first line that begins so, blanks and quotes left out."""
    lines = traced(name, artifact)
    number = next(n for n, line in enumerate(lines, 1) if line.text.strip(' -"').startswith(starts))
    return explain_line(question(name), artifact, number)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_line_of_every_artifact_is_traced_and_has_a_reason(name: str) -> None:
    for artifact in plan_and_tree(name)[1].artifacts:
        lines = traced(name, artifact.path)
        assert "".join(f"{line.text}\n" for line in lines).encode() == artifact.content, artifact.path
        silent = [line.text for line in lines if not (line.origins or line.presence or line.template)]
        assert silent == [], artifact.path


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_reason_of_a_line_leads_to_a_place_or_says_constant(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = question(name)
    for artifact in ("FLEET.md", "ansible/inventory.json", "ansible/rollout.json"):
        lines = traced(name, artifact)
        monkeypatch.setattr(Derivation, "trace", lambda *_, lines=lines: lines)  # once, not again for each line
        for number in range(1, len(lines) + 1):
            found = explain_line(asked, artifact, number)
            assert found.reasons, (artifact, number)
            assert all(reason.places or reason.kind == "constant" for reason in found.reasons), (artifact, number)


def test_given_value_leads_to_its_line(snapshot: SnapshotAssertion) -> None:
    found = explained("dual-onchain", "hosts/edge/gate/launch.flags", "maxPricePerUnit")
    assert as_text(found) == snapshot
    (reason,) = found.reasons
    assert (reason.kind, reason.places[0].path) == ("given", "gateways.gate.max_price")


def test_default_is_named_with_its_reason(snapshot: SnapshotAssertion) -> None:
    assert as_text(explained("dual-onchain", "hosts/edge/gate/launch.flags", "cliAddr")) == snapshot


def test_default_of_a_field_that_is_not_written_shows_its_value() -> None:
    text = as_text(explained("dual-onchain", "hosts/gpu/orch/livepeer-orch.service", "User="))
    assert "hosts.gpu.node_user is not written, so its default is in force: livepeer" in text


def test_derivation_names_its_inputs(snapshot: SnapshotAssertion) -> None:
    assert as_text(explained("dual-onchain", "hosts/gpu/orch/launch.flags", "httpAddr")) == snapshot


def test_line_of_a_template_is_traced_to_the_value_on_it() -> None:
    found = explained("dual-onchain", "hosts/gpu/orch/livepeer-orch.service", "maxSessions")
    assert [place.path for reason in found.reasons for place in reason.places] == ["orchestrators.orch.max_sessions"]


def test_constant_line_names_its_template_and_why_the_file_is_there(snapshot: SnapshotAssertion) -> None:
    assert as_text(explained("dual-onchain", "hosts/gpu/orch/livepeer-orch.service", "Restart=always")) == snapshot


def test_part_of_a_data_file_leads_to_its_own_field() -> None:
    found = explained("dual-onchain", "hosts/gpu/orch/aiModels.json", "price_per_unit")
    assert [place.path for reason in found.reasons for place in reason.places] == ["models.realvis.price"]


def test_digest_leads_to_all_that_it_stands_for() -> None:
    found = explained("dual-onchain", "ansible/host_vars/edge.json", "digest")
    paths = {place.path for reason in found.reasons for place in reason.places}
    assert {"gateways.gate.max_price", "wallets.payer.address", "fleet.network"} <= paths


def test_flag_of_a_node_is_found_with_and_without_its_dash() -> None:
    asked = question("dual-onchain")
    artifact, line = find_flag(asked, "gate", "-maxPricePerUnit")
    assert find_flag(asked, "gate", "maxPricePerUnit") == (artifact, line)
    assert traced("dual-onchain", artifact)[line - 1].text == "-maxPricePerUnit=1500"
    assert find_flag(asked, "gate", "LP_ETHURL")[0] == "hosts/edge/gate/node.env"


def test_flag_that_travels_as_a_variable_is_found_by_its_own_name() -> None:
    asked = question("dual-onchain")
    for flag, variable in (("-ethUrl", "LP_ETHURL"), ("ethPassword", "LP_ETHPASSWORD")):
        assert find_flag(asked, "gate", flag) == find_flag(asked, "gate", variable)


@pytest.mark.parametrize(
    ("artifact", "line", "message"),
    [
        ("hosts/edge/gate/lunch.flags", 1, 'did you mean "hosts/edge/gate/launch.flags"'),
        ("hosts/edge/gate/launch.flags", 99, "it has lines 1 to"),
        ("hosts/edge/gate/launch.flags", 0, "it has lines 1 to"),
        ("../../etc/passwd", 1, "the tree has no file"),
    ],
)
def test_unknown_place_is_answered_with_what_there_is(artifact: str, line: int, message: str) -> None:
    with pytest.raises(UnknownPlaceError) as problem:
        explain_line(question("dual-onchain"), artifact, line)
    assert message in f"{problem.value}; {problem.value.help}"


@pytest.mark.parametrize(
    ("node", "flag", "message"),
    [
        ("cellar", "-nvidia", 'there is no node "cellar"; known: gate, orch'),
        ("gate", "-zzz", 'gate gets no flag or variable "zzz"; known: LP_ETHPASSWORD, '),
        ("gate", "-maxPrice", 'did you mean "maxPricePerUnit"?'),
    ],
)
def test_unknown_node_or_flag_is_answered_with_what_there_is(node: str, flag: str, message: str) -> None:
    with pytest.raises(UnknownPlaceError) as problem:
        find_flag(question("dual-onchain"), node, flag)
    assert message in f"{problem.value}; {problem.value.help}"


def test_json_has_places_from_one_and_no_source_lines() -> None:
    data = json.loads(as_json(explained("dual-onchain", "hosts/edge/gate/launch.flags", "maxPricePerUnit")))
    place = data["reasons"][0]["places"][0]
    assert place["file"] == "fleet.toml" and place["line"] > 1
    assert "text" not in place


def test_command_asks_the_tree_for_its_own_sources(tmp_path: Path) -> None:
    spec = ROOT / "inventories" / "two-regions"
    made = fleetc("compile", spec, "--overlay", spec / "staging.toml", "--output", tmp_path / "tree")
    assert made.returncode == 0, made.stderr
    answer = fleetc("why", "hosts/eu-gpu-1/eu-video-1/launch.flags:3", cwd=tmp_path / "tree")
    assert answer.returncode == 0, answer.stderr
    assert "spec/base.toml:" in answer.stdout or "spec/overlay-1.toml:" in answer.stdout


def test_command_says_when_the_line_was_edited(tmp_path: Path) -> None:
    assert fleetc("compile", ROOT / "inventories" / "demo", "--output", tmp_path / "tree").returncode == 0
    edited = tmp_path / "tree" / "hosts" / "studio" / "gate" / "launch.flags"
    edited.write_text(edited.read_text().replace("-v=", "-vv="))
    number = next(n for n, line in enumerate(edited.read_text().splitlines(), 1) if "-gateway=" in line)
    assert "was edited" not in fleetc("why", f"{edited}:{number}").stderr
    edited.write_text(edited.read_text().replace("-gateway=true", "-gateway=false"))
    assert "was edited" in fleetc("why", f"{edited}:{number}").stderr


@pytest.mark.parametrize("arguments", [["hosts/x"], ["hosts/x:"], [":3"], ["gate", "-nope"], ["nobody", "v"]])
def test_command_refuses_what_is_no_question(arguments: list[str]) -> None:
    answer = fleetc("why", *arguments, "--spec", ROOT / "inventories" / "demo")
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: ")


RECORDED = """\
always
{% for name, size in rows %}
{% if size == "big" %}
{{ name }} is {% if last.of == name %}the last{% else %}{{ size }}{% endif %}

{% elif not hidden %}
{{ name }} is small
{% endif %}
{% endfor %}
"""
"""a template with all that templates may hold."""


def test_line_of_a_template_knows_what_is_on_it_and_what_decides_that_it_is_there() -> None:
    templates = Templates({"docs/x.j2": RECORDED})
    a, b, c, big = map(Word, ("a", "b", "c", "big"))
    one, two, rest, hidden = given("one"), given("two"), given("rest"), given("hidden")
    view = {
        "rows": [Traced((a, big), one), (Traced(b, two), Traced(Word("low"), rest)), Traced((c, big), two)],
        "last": {"of": Traced(c, rest)},
        "hidden": Traced("", hidden),
    }
    lines = templates.lines("docs/x.j2", view)
    assert [line.text for line in lines] == ["always", "a is big", "b is small", "c is the last"]
    assert [line.origins for line in lines] == [(), (one,), (two,), (two,)]
    assert [line.presence for line in lines] == [(), (one, rest), (two, rest, hidden), (two, rest)]
    assert [(line.template, line.template_line) for line in lines] == [("docs/x.j2", number) for number in (1, 4, 7, 4)]
