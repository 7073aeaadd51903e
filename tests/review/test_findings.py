"""A review as messages at lines of the spec, in the forms that forges and CI servers read."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from fleetc.messages.explain import pages
from fleetc.messages.forms import Format, written
from fleetc.messages.locate import Located
from fleetc.places.diagnostic import Severity
from fleetc.review.data import IMPACTS, Review
from fleetc.review.limits import breaches, parse_limits
from fleetc.review.reports.findings import CODES, LIMIT, located
from tests.review.support import example, review
from tests.support import ROOT, fleetc

SCHEMA = ROOT / "tests/data/sarif-2.1.0.schema.json"
DUAL = example("dual-onchain")
PRICIER = DUAL.replace('"1200 wei', '"1260 wei')
LINE = PRICIER[: PRICIER.index('"1260 wei')].count("\n") + 1


def found(old: str, new: str, limits: str = "") -> list[Located]:
    compared: Review = review(old, new)
    broken = tuple(breaches(compared, parse_limits(limits))) if limits else ()
    return located(compared, broken, (), "fleet.toml")


def test_each_class_has_a_code_with_a_page() -> None:
    assert tuple(CODES) == IMPACTS
    assert set(CODES.values()) <= set(pages())


def test_a_change_stands_at_the_line_that_causes_it_and_a_broken_limit_is_an_error_there() -> None:
    limit, price = found(DUAL, PRICIER, "price=4%")
    assert (limit.diagnostic.code, limit.diagnostic.severity) == (LIMIT, Severity.ERROR)
    assert (price.diagnostic.code, price.diagnostic.severity) == ("change-price", Severity.WARNING)
    assert (limit.primary.line, price.primary.line) == (LINE, LINE)
    assert "it comes to 5%" in limit.diagnostic.message
    assert "1260" in price.primary.text and price.diagnostic.help.startswith("price: ")
    assert [item.diagnostic.code for item in found(DUAL, PRICIER, "price=5%")] == ["change-price"]


def test_what_is_critical_begins_with_what_it_does() -> None:
    gate = "[gateways.gate]\n"
    assert gate in DUAL
    (item,) = found(DUAL, DUAL.replace(gate, gate + 'cli = "0.0.0.0:5935"\ncli_exposed = true\n'))
    assert item.diagnostic.message.startswith(
        "Opens the administration port (5935) of gate to everyone who can reach edge: they can move funds"
    )


def test_what_only_the_old_spec_explains_points_at_the_spec_as_a_whole() -> None:
    gone = DUAL.replace("max_sessions = 12\n", "")
    assert gone != DUAL
    items = found(DUAL, gone)
    assert items
    texts = gone.splitlines()
    for item in items:
        assert item.primary.file
        assert item.primary.line == 0 or item.primary.text == texts[item.primary.line - 1]


def test_sarif_of_a_review_fits_its_schema() -> None:
    log = json.loads(written(Format.sarif, found(DUAL, PRICIER, "price=4%")))
    jsonschema.validate(log, json.loads(SCHEMA.read_text(encoding="utf-8")))
    results = log["runs"][0]["results"]
    assert [(result["ruleId"], result["level"]) for result in results] == [
        ("limit-broken", "error"),
        ("change-price", "warning"),
    ]
    assert results[1]["locations"][0]["physicalLocation"]["region"]["startLine"] == LINE


@pytest.mark.usefixtures("processes")
def test_diff_prints_these_forms_alone_on_stdout(tmp_path: Path) -> None:
    (tmp_path / "old.toml").write_text(DUAL, encoding="utf-8")
    (tmp_path / "fleet.toml").write_text(PRICIER, encoding="utf-8")
    options = ("--against", "./old.toml", "--max-impact", "price=4%", "--format")
    done = fleetc("diff", *options, "github", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f"::error file=fleet.toml,line={LINE},")
    assert f"::warning file=fleet.toml,line={LINE}," in done.stdout
    assert "limit price=4% is broken" in done.stderr
    assert 'failures="1"' in fleetc("diff", *options, "junit", cwd=tmp_path).stdout
    assert json.loads(fleetc("diff", *options, "sarif", cwd=tmp_path).stdout)["runs"][0]["results"]
    told = json.loads(fleetc("diff", *options, "json", cwd=tmp_path).stdout)["broken"]
    assert [(limit["impact"], limit["limit"], limit["amount"]) for limit in told] == [("price", "price=4%", "5")]
    (tmp_path / "limits.toml").write_text('max_impact = "price=4%"\n', encoding="utf-8")
    assert fleetc("diff", "--against", "./old.toml", "--limits", "limits.toml", cwd=tmp_path).returncode == 1
    both = fleetc("diff", *options, "text", "--limits", "limits.toml", cwd=tmp_path)
    assert both.returncode == 2 and "use one of them" in both.stderr
    (tmp_path / "fleet.toml").write_text("spec = 1\n", encoding="utf-8")
    flawed = fleetc("diff", *options, "github", cwd=tmp_path)
    assert flawed.returncode == 1 and flawed.stdout.startswith("::error file=fleet.toml")
