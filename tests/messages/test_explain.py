"""Every code that can be printed has a page, and pages of rules show specs that are what they say."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from fleetc.disk import manifest
from fleetc.messages.explain import pages
from fleetc.messages.pages import PAGES
from fleetc.review.reports import findings
from fleetc.rules import Rule, rules
from tests.support import ROOT, for_each

_CORE = Path(__file__).parents[2] / "compiler" / "fleetc"
_REPORTS = {"error", "warning", "report", "FilesError", "_badly_encoded", "outside", "Refusal"}
HOST_PROGRAM = sorted((ROOT / "playbooks/roles/fleet_host/module_utils/fleetc_host").rglob("*.py"))
_CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")


def _codes(tree: ast.AST) -> set[str]:
    """The codes in a module: the first argument of every call that makes a message."""
    found = set()
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
            name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
            conditional = isinstance(call.func, ast.IfExp)
            code = call.args[0].value
            if (name in _REPORTS or conditional) and isinstance(code, str) and _CODE.fullmatch(code):
                found.add(code)
    return found


def _modules() -> list[Path]:
    return sorted(_CORE.rglob("*.py"))


def test_every_code_that_is_reported_has_a_page() -> None:
    reported = set().union(*(_codes(ast.parse(path.read_text("utf-8"))) for path in _modules()))
    reported |= {code for code, _ in manifest._CAUSES.values()} | {"system-refused"} | {*findings.CODES.values()}
    assert len(reported) > 80
    assert reported - set(pages()) == set(), "give these codes pages in compiler/fleetc/messages/pages/"


def test_every_page_belongs_to_a_code_that_is_reported() -> None:
    texts = [
        path.read_text("utf-8") for path in _modules() if path.name != "explain.py" and path.parent.name != "pages"
    ]
    texts += [path.read_text("utf-8") for path in HOST_PROGRAM]
    unused = {code for code in PAGES if not any(f'"{code}"' in text for text in texts)}
    assert unused - {*findings.CODES.values()} == set()


def test_pages_are_sorted_and_no_code_has_two() -> None:
    assert list(pages()) == sorted(pages())
    assert not {rule.code for rule in rules()} & set(PAGES)


@for_each("code", list(PAGES))
def test_page_of_a_message_has_its_parts(code: str) -> None:
    first, why, *fix, instead, text = pages()[code].strip().split("\n\n")
    assert first.endswith(".")
    assert all(part.startswith("Fix: `fleetc check --fix` fixes it ") for part in fix)
    assert why.startswith("Why: ")
    assert instead == "Instead:"
    assert text.startswith("    ")


@for_each("rule", rules())
def test_rule_reports_only_its_own_code_and_its_page_has_its_parts(rule: Rule) -> None:
    (module,) = (_CORE / "rules").glob(f"*/{rule.code.replace('-', '_')}.py")
    codes = _codes(ast.parse(module.read_text("utf-8")))
    assert codes <= {rule.code}, f"{module.name} reports only {rule.code}: another code is a rule of its own"
    parts = re.fullmatch(
        r"(?P<what>[^\n]+\.)\n\nWhy: (?P<why>.+?)\n\nExample:\n\n(?P<bad>.+?)\n\nInstead:\n\n(?P<good>.+)\n",
        pages()[rule.code],
        re.DOTALL,
    )
    assert parts is not None, f"{module.name}: its docstring is one sentence, then Why:, Example: and Instead:"
    assert parts["bad"] != parts["good"]
    for example in (parts["bad"], parts["good"]):
        assert all(not line or line.startswith("    ") for line in example.splitlines())
        assert tomllib.loads(example)
