"""The ready rules, their examples, and the command that tries and copies them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetc.policy.source import page_of
from fleetc.policy.views import FIELDS
from tests.policy.support import judged, write
from tests.support import ROOT, check_text, fleetc

pytestmark = pytest.mark.usefixtures("processes")

READY = ROOT / "templates" / "starter" / "policy"
NAMES = sorted(path.stem for path in READY.glob("*.star"))


def test_there_are_twelve_with_a_page_and_two_examples() -> None:
    assert len(NAMES) == 12
    for name in NAMES:
        text = (READY / f"{name}.star").read_text()
        page = page_of(text)
        assert "\nWhy: " in page, name
        assert "\nInstead: " in page, name
        needed = {"ok.toml", "bad.toml"} | ({"base.toml"} if "def change(" in text else set())
        assert {path.name for path in (READY / "examples" / name).iterdir()} == needed


@pytest.mark.parametrize(
    "path", sorted(READY.glob("examples/*/*.toml")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_example_is_a_spec_without_errors(path: Path) -> None:
    text = path.read_text()
    judged(text)
    assert "error[" not in check_text(text)


def test_all_are_copied_and_pass_their_examples(tmp_path: Path) -> None:
    here = write(tmp_path, {})
    done = fleetc("policy", "add", *NAMES, "--spec", here)
    assert done.returncode == 0, done.stderr
    done = fleetc("policy", "test", "--spec", here)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("\nok ") + 1 == 24
    assert "24 examples tried, 0 failed" in done.stderr
    assert fleetc("policy", "add", "budget", "--spec", here).returncode == 0, "it is there as it is written"
    with (here / "policy" / "budget.star").open("a", encoding="utf-8") as rule:
        rule.write("# ours\n")
    again = fleetc("policy", "add", "budget", "--spec", here)
    assert again.returncode != 0
    assert "already exists" in again.stderr


def test_rule_of_the_guide_works(tmp_path: Path) -> None:
    page = (ROOT / "compiler/docs/policy.md").read_text(encoding="utf-8")
    (rule,) = [block for block in page.split("```") if block.startswith('text\n"""No gateway')]
    here = write(tmp_path, {"no-any-cap": rule.removeprefix("text\n")})
    spec = here / "fleet.toml"
    assert fleetc("check", here).returncode == 0
    spec.write_text(spec.read_text().replace('max_price = "1500 wei / pixel"', 'max_price = "any"'))
    assert "error[policy/no-any-cap]: gate pays any price" in fleetc("check", here).stdout


def test_every_view_and_its_fields_are_in_the_guide() -> None:
    page = (ROOT / "compiler/docs/policy.md").read_text(encoding="utf-8")
    for name, fields in FIELDS.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `fleet.{name}` |")]
        assert [field for field in fields if f"`{field}`" not in row] == [], name


def test_list_says_what_is_there(tmp_path: Path) -> None:
    here = write(tmp_path, {"budget": "def check(fleet): return []\n", "own": "def check(fleet): return []\n"})
    done = fleetc("policy", "list", "--spec", here)
    assert len(done.stdout.splitlines()) == 12
    assert "budget             here  What gateways may spend" in done.stdout
    assert "also here: own" in done.stderr


RULE = 'def check(fleet):\n    return [finding(p.path, "dear") for p in fleet.prices if p.pays and p.any]\n'


@pytest.mark.parametrize(
    ("file", "change", "wrong"),
    [
        ("bad.toml", ("any", "any"), ""),
        ("bad.toml", ("1500 wei / pixel", "1400 wei / pixel"), "finds nothing, but this is an example of a fault"),
        ("ok.toml", ("any", "any"), "finds what is no fault: dear"),
        ("bad-2.toml", ('max_price = "any"  # finding', 'max_price = "any"'), ""),
        ("bad.toml", ("[gateways.gate]", "[gateways.gate]  # finding"), "finds nothing here"),
        ("worse.toml", ("any", "any"), "begins with ok or bad"),
        ("bad.toml", ("spec = 1", "spec = "), "is no spec"),
    ],
)
def test_example_that_is_not_as_it_says_is_told(tmp_path: Path, file: str, change: tuple[str, str], wrong: str) -> None:
    here = write(tmp_path, {"dear": RULE})
    text = (here / "fleet.toml").read_text().replace('max_price = "1500 wei / pixel"', 'max_price = "any"  # finding')
    if "1400" in change[1]:
        text = text.replace('max_price = "any"  # finding', 'max_price = "1400 wei / pixel"')
    examples = here / "policy/examples/dear"
    examples.mkdir(parents=True)
    (examples / file).write_text(text.replace(*change))
    done = fleetc("policy", "test", "--spec", here)
    assert done.returncode == (1 if wrong else 0), done.stdout + done.stderr
    assert wrong in done.stdout


def test_rule_without_examples_and_unknown_names_are_told(tmp_path: Path) -> None:
    here = write(tmp_path, {"dear": RULE})
    assert "note: dear has no examples" in fleetc("policy", "test", "--spec", here).stderr
    assert 'did you mean "dear"?' in fleetc("policy", "test", "deer", "--spec", here).stderr
    assert "there are no rules" in fleetc("policy", "test", "--spec", ROOT / "inventories/demo").stderr
    assert fleetc("policy", "add", "--spec", here).returncode == 2
    assert 'did you mean "budget"?' in fleetc("policy", "add", "bugdet", "--spec", here).stderr


def test_rule_about_changes_needs_a_base(tmp_path: Path) -> None:
    here = write(tmp_path, {"steady": "def change(base, head):\n    return []\n"})
    examples = here / "policy/examples/steady"
    examples.mkdir(parents=True)
    (examples / "ok.toml").write_text((here / "fleet.toml").read_text())
    assert "needs policy/examples/steady/base.toml" in fleetc("policy", "test", "--spec", here).stdout
