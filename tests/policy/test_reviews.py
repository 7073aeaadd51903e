"""Rules in a review: those of the base judge the head too, and what a change does to rules stands at the top."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_init import git
from tests.policy.support import FLEET, write
from tests.support import fleetc

pytestmark = pytest.mark.usefixtures("processes")

CAP = """def check(fleet):
    return [
        finding(p.path, "%s pays more than 1000 wei" % p.node, severity = "warning")
        for p in fleet.prices
        if p.pays and not p.work and compare(p, price("1000 wei / pixel")) > 0
    ]
"""
STEADY = """def change(base, head):
    before = {p.path: p for p in base.prices}
    return [
        finding(p.path, "%s changes by more than a tenth" % p.path)
        for p in head.prices
        if p.path in before and compare(p, scaled(before[p.path], 110)) > 0
    ]
"""
DEAR = FLEET.replace('max_price = "1500 wei', 'max_price = "2500 wei')
SILENCE = '\n[silences.accepted]\ncode = "policy/cap"\nreason = "agreed with the bank"\n'


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A repository whose base has two rules."""
    place = write(tmp_path / "fleet", {"cap": CAP, "steady": STEADY})
    git(place, "init", "--quiet", "--initial-branch=main")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message=base")
    return place


def notes(here: Path, *options: object) -> list[tuple[str, str, str]]:
    """Kind, code and text of what a review says of rules."""
    done = fleetc("diff", here, "--against", "main", "--format", "json", *options, cwd=here)
    assert done.stdout, done.stderr
    return [(note["kind"], note["code"], note["text"]) for note in json.loads(done.stdout)["rules"]]


def test_unchanged_rules_say_nothing(here: Path) -> None:
    assert notes(here) == []
    assert not fleetc("diff", here, "--against", "main", cwd=here).stdout.startswith("Rules:")


def test_error_of_a_rule_about_changes_ends_with_1_and_has_its_place(here: Path) -> None:
    (here / "fleet.toml").write_text(DEAR)
    done = fleetc("diff", here, "--against", "main", cwd=here)
    assert done.returncode == 1
    assert done.stdout.startswith("Rules: 1 finding of rules\nfinding  policy/steady: gateways.gate.max_price changes")
    assert "fleet.toml:63:13" in done.stdout
    assert "error: the limit policy/steady=none is broken" in done.stderr


def test_removed_rule_judges_the_head_as_it_was(here: Path) -> None:
    (here / "policy/cap.star").unlink()
    (here / "policy/steady.star").unlink()
    (here / "policy").rmdir()
    (here / "fleet.toml").write_text(DEAR)
    assert notes(here) == [
        ("removed", "policy/cap", "the rule policy/cap was removed; as it was, it finds 1 place here"),
        ("removed", "policy/steady", "the rule policy/steady was removed; as it was, it finds nothing here"),
        ("finding", "policy/steady", "gateways.gate.max_price changes by more than a tenth"),
        ("finding", "policy/cap", "as the base has the rule: gate pays more than 1000 wei"),
    ]


def test_loosened_rule_is_found_by_what_it_passes_over(here: Path) -> None:
    write(here, {"cap": CAP.replace("1000 wei", "9000 wei")})
    assert [kind for kind, _, _ in notes(here)] == ["loosened", "finding"]
    write(here, {"cap": CAP + "# as agreed\n"})
    assert [kind for kind, _, _ in notes(here)] == ["changed"]
    write(here, {"cap": "def check(fleet):\n    return []\n\ndef change(base, head):\n    return []\n"})
    assert [kind for kind, _, _ in notes(here)] == ["loosened", "finding"]
    write(here, {"cap": CAP, "steady": "def check(fleet):\n    return []\n"})
    assert notes(here) == [("loosened", "policy/steady", "the rule policy/steady no longer judges changes")]


def test_loosened_rule_is_found_by_its_example_in_the_base(here: Path) -> None:
    cheap = FLEET.replace('max_price = "1500 wei', 'max_price = "900 wei')
    examples = here / "policy/examples/cap"
    examples.mkdir(parents=True)
    (examples / "bad.toml").write_text(FLEET)
    (examples / "ok.toml").write_text(cheap)
    (here / "fleet.toml").write_text(cheap)
    git(here, "add", "--all")
    git(here, "commit", "--quiet", "--message=cheap")
    write(here, {"cap": CAP.replace("1000 wei", "9000 wei")}, cheap)
    (examples / "bad.toml").write_text(cheap)
    assert notes(here) == [
        (
            "loosened",
            "policy/cap",
            "the rule policy/cap was loosened: it no longer finds the fault in its example bad.toml",
        )
    ]


def test_newly_silenced_rule_is_told_with_its_reason_and_what_it_hides(here: Path) -> None:
    (here / "fleet.toml").write_text(FLEET + SILENCE)
    assert notes(here) == [
        ("silenced", "policy/cap", "policy/cap is newly silenced (agreed with the bank); this hides 1 place"),
        ("finding", "policy/cap", "newly silenced: gate pays more than 1000 wei"),
    ]
    git(here, "commit", "--quiet", "--all", "--message=silenced")
    assert notes(here) == []


def test_rule_that_fails_on_the_head_is_an_error_of_that_rule(here: Path) -> None:
    write(here, {"cap": 'def check(fleet):\n    return [fleet.models["whisper"]][:0]\n'})
    git(here, "commit", "--quiet", "--all", "--message=fragile")
    (here / "policy/cap.star").unlink()
    text = FLEET.replace("[models.whisper]", "[models.other]").replace('use = "whisper"', 'use = "other"')
    (here / "fleet.toml").write_text(text)
    told = notes(here)
    assert told[0][:2] == ("removed", "policy/cap")
    assert told[1][0] == "finding"
    assert told[1][2].startswith("as the base has the rule: the rule cap fails: Key")


def test_new_rule_is_told_and_judges_from_then_on(here: Path) -> None:
    write(here, {"named": 'def check(fleet):\n    return [finding("fleet.name", "dull", severity = "warning")]\n'})
    assert notes(here) == [("added", "policy/named", "the rule policy/named is new")]
    git(here, "add", "--all")
    git(here, "commit", "--quiet", "--message=named")
    write(here, {"named": "def check(fleet):\n    return []\n"})
    assert [kind for kind, _, _ in notes(here)] == ["loosened", "finding"]


def test_warning_that_the_change_brings_is_told_and_an_old_one_is_not(here: Path) -> None:
    assert notes(here) == []  # the base has the same warning
    text = FLEET.replace('max_price = "1500 wei', 'max_price = "900 wei')
    (here / "fleet.toml").write_text(text)
    git(here, "commit", "--quiet", "--all", "--message=cheap")
    (here / "fleet.toml").write_text(text.replace('"900 wei', '"1001 wei'))
    assert ("finding", "policy/cap", "gate pays more than 1000 wei") in notes(here)


LIMITS = '[owners]\n"policy/cap" = ["alice"]\npolicy = ["carol"]\n'


def test_rule_with_owners_has_a_limit_that_one_of_them_may_lift(here: Path, tmp_path: Path) -> None:
    from fleetc.review.approvals import PullComment, judge, read_rules
    from fleetc.review.reports.json import breaches_in

    (tmp_path / "limits.toml").write_text(LIMITS)
    write(here, {"cap": CAP.replace("1000 wei", "9000 wei")}, DEAR)
    done = fleetc("diff", here, "--against", "main", "--limits", tmp_path / "limits.toml", "--format", "json", cwd=here)
    assert done.returncode == 1
    broken = breaches_in(json.loads(done.stdout))
    assert [(str(each.limit), int(each.amount)) for each in broken] == [
        ("policy/cap=none", 2),
        ("policy/steady=none", 1),
    ]
    commit = "a" * 40
    said = [PullComment("Alice", f"fleetc approve policy/cap {commit}", False)]
    said += [PullComment("carol", f"fleetc approve policy/cap policy/steady {commit}", False)]
    verdicts = judge(read_rules(LIMITS), broken, said, commit)
    assert [(each.owners, each.approved_by) for each in verdicts] == [(("alice",), "alice"), (("carol",), "carol")]


def test_limit_of_a_rule_counts_what_is_new(here: Path) -> None:
    write(here, {"cap": CAP.replace("1000 wei", "9000 wei")})
    against = ("diff", here, "--against", "main", "--max-impact")
    assert fleetc(*against, "policy/cap=2", cwd=here).returncode == 0
    done = fleetc(*against, "policy/cap=1", cwd=here)
    assert done.returncode == 1
    assert "error: the limit policy/cap=1 is broken (it comes to 2)" in done.stderr
    assert fleetc(*against, "policy/Cap=1", cwd=here).returncode == 2


@pytest.mark.parametrize("form", ["text", "markdown", "html", "sarif", "github", "junit"])
def test_every_form_has_rules_before_all_else(here: Path, form: str) -> None:
    write(here, {"cap": CAP.replace("1000 wei", "9000 wei")}, DEAR)
    said = fleetc("diff", here, "--against", "main", "--format", form, cwd=here).stdout
    assert "no longer finds 1 place" in said
    if form in ("text", "markdown", "html"):
        assert said.index("no longer finds") < said.index("maxPricePerUnit")


def test_spec_may_be_compared_with_another_that_has_rules(tmp_path: Path) -> None:
    base, head = write(tmp_path / "base", {"cap": CAP}), write(tmp_path / "head", {})
    done = fleetc("diff", head, "--against", base / "fleet.toml", "--format", "json")
    assert [note["kind"] for note in json.loads(done.stdout)["rules"]] == ["removed", "finding"]
