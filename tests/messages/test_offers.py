"""What a help line asks or offers is an edit: of each misspelled field of the examples, and of each kind of help line.

`checked` of the tests of rules holds every spec to this law.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from fleetc.assist.page import Page
from fleetc.fixes import repair
from fleetc.messages.forms import Format, written
from fleetc.messages.locate import locate
from fleetc.messages.repairs import Repair, repairs
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.rules.support import (
    asked,
    broadcast,
    free_gateway,
    free_orchestrator,
    gateway,
    listed,
    made,
    offchain,
    onchain,
    orchestrator,
    rung,
    stream,
    transcoder,
)
from tests.support import ROOT

AT_ONCE = 8
"""Misspelled fields of one text: fleetc asks about 20 names in a run."""


def misspelled(text: str, on_key: bool) -> Iterator[str]:
    """The text with some keys, or some texts, that have one letter twice; each kind of field once."""
    page, known, edits = Page(text), set[tuple[str, ...]](), list[int]()
    for path, block, mark in page.leaves():
        kind = (str(path[0]), *(part for part in path[2:] if isinstance(part, str)))
        start, end = (mark.key_start, mark.key_end) if on_key else (mark.start, mark.end)
        word = text[block.body + start : block.body + end]
        if kind not in known and len(word) > 5 and (word.isidentifier() if on_key else word[-2:-1].isalpha()):
            known.add(kind)
            edits.append(block.body + end - (not on_key))
    for first in range(0, len(edits), AT_ONCE):
        some, parts = [0, *sorted(edits[first : first + AT_ONCE])], []
        for start, end in zip(some, [*some[1:], len(text)], strict=True):
            parts.append(text[start:end] + text[end - 1 : end])
        yield "".join(parts)[:-1]


@pytest.mark.parametrize("on_key", [True, False])
def test_each_misspelled_field_has_an_edit_that_ends_the_problem(on_key: bool) -> None:
    counted = 0
    for spec in sorted((ROOT / "inventories").glob("*/fleet.toml")):
        for text in misspelled(spec.read_text(), on_key):
            found = check_spec([Source("fleet.toml", text)])
            problems = asked(found)
            assert all(edits for _, edits in problems), [item.diagnostic for item, edits in problems if not edits]
            after = made(found, [edits[0] for _, edits in problems]).diagnostics
            assert not {item.diagnostic for item, _ in problems}.intersection(after)
            counted += len(problems)
    assert counted > 50


def edits(found: Checked, code: str) -> list[Repair]:
    """The edits of the diagnostics with a code."""
    located = locate([one for one in found.diagnostics if one.code == code], found.sources, found.document)
    return [edit for some in repairs(located, found.sources, found.document) for edit in some]


PAID = onchain(orchestrator(), gateway())
BESIDE = '[monitoring.project]\nwebhook = { host_file = "/etc/hook" }\n'


@pytest.mark.parametrize(
    ("text", "code", "deeds"),
    [
        (
            PAID.replace('"docker"', '"podman"'),
            "unknown-value",
            ['writes runtime = "docker"', 'writes runtime = "systemd"'],
        ),
        (onchain(orchestrator(gpus="[0, 0]")), "listed-twice", ["writes gpus = [0]"]),
        (
            onchain(orchestrator(cli='"0.0.0.0:7935"')),
            "cli-exposed",
            ['writes cli = "127.0.0.1:7935"', "writes cli_exposed = true"],
        ),
        (
            onchain(orchestrator(), gateway(max_price='"1 wei / pixel"')),
            "gateway-price-admits-nobody",
            ['writes max_price = "1224 wei / pixel"', 'writes max_price = "any"'],
        ),
        (
            offchain(free_orchestrator(secret=None), transcoder()),
            "shared-secret-missing",
            ['writes secret = { host_file = "/etc/livepeer/orchestrator-secret" }'],
        ),
        (
            offchain(free_gateway(monitor="true"), free_orchestrator(), BESIDE),
            "monitoring-project-without-host",
            ['writes host = "edge"', 'writes host = "gpu"'],
        ),
        (
            broadcast(stream(profiles=listed(rung(fps="12.5")))),
            "invalid-value",
            ["writes fps = 25, writes fpsDen = 2"],
        ),
        (onchain(orchestrator(service='"0.0.0.0:8936"'), gateway()), "service-address-unreachable", []),  # an example
    ],
)
def test_each_value_that_a_help_offers_is_an_edit_that_ends_the_problem(text: str, code: str, deeds: list[str]) -> None:
    found = check_spec([Source("fleet.toml", text)])
    offered = edits(found, code)
    assert [(edit.deed, edit.certain) for edit in offered] == [(deed, False) for deed in deeds]
    for edit in offered:
        assert (code, Severity.ERROR) not in {(d.code, d.severity) for d in made(found, [edit]).diagnostics}


def test_misspelled_key_is_not_missing_as_well() -> None:
    text = PAID.replace("[hosts.", "[host.").replace('host = "edge"', 'hst = "edge"')
    found = check_spec([Source("fleet.toml", text)])
    assert {(d.code, d.help) for d in found.diagnostics} == {
        ("unknown-key", 'did you mean "hosts"?'),
        ("unknown-key", 'did you mean "host"?'),
    }


def test_table_of_an_overlay_becomes_the_one_of_the_spec_that_was_meant() -> None:
    found = check_spec([Source("fleet.toml", PAID), Source("over.toml", '[hosts.edgee]\nruntime = "systemd"\n')])
    (edit,) = edits(found, "missing-key")
    assert edit.deed == "writes edge for edgee" and not made(found, [edit]).diagnostics


def test_json_and_sarif_carry_the_edits_and_only_certain_ones_are_made() -> None:
    sources = [Source("fleet.toml", PAID.replace('"docker"', '"podman"').replace('"systemd"', '"Systemd"'))]
    found = check_spec(sources)
    located = locate(found.diagnostics, sources, found.document)
    plain = json.loads(written(Format.json, located, sources, found.document))["diagnostics"]
    pieces = [
        (edit["certain"], piece["file"], piece["text"])
        for one in plain
        for edit in one["edits"]
        for piece in edit["pieces"]
    ]
    assert pieces == [
        (False, "fleet.toml", '"docker"'),
        (False, "fleet.toml", '"systemd"'),
        (True, "fleet.toml", '"systemd"'),
    ]
    place = plain[0]["edits"][0]["pieces"][0]
    assert {
        key: plain[0]["primary"][key] for key in ("line", "column", "end_line", "end_column")
    }.items() <= place.items()
    (run,) = json.loads(written(Format.sarif, located, sources, found.document))["runs"]
    assert [fix["properties"]["certain"] for one in run["results"] for fix in one["fixes"]] == [False, False, True]
    assert repair(sources).sources[0].text == sources[0].text.replace('"Systemd"', '"systemd"')
