"""promtool accepts what is emitted, and the rules fire as their unit tests say; a spoiled rule is noticed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from fleetc.text.encoders import go_template_text, promql_string
from tests.monitoring.support import (
    HOURS_TEST,
    INCOME_TEST,
    RULES_TEST,
    SPEC,
    files,
    lay_out,
    promtool,
    watched,
    whole,
)
from tests.support import EXAMPLES, compile_text, compiled_example

RULE_TESTS = (RULES_TEST, INCOME_TEST, HOURS_TEST)

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return lay_out(whole(), tmp_path)


def test_configurations_pass(folder: Path) -> None:
    assert "1 rule files found" in promtool("check", "config", folder / "prometheus.yml")
    agents = sorted((folder / "agents").glob("*.yml"))
    assert [path.name for path in agents] == ["gpu.yml", "second.yml"]
    for path in agents:
        promtool("check", "config", "--agent", path)


def test_rules_pass_the_linter(folder: Path) -> None:
    count = len(watched().alerts)
    assert f"{count} rules found" in promtool("check", "rules", "--lint=all", "--lint-fatal", folder / "alerts.yml")


def test_rules_fire_as_their_unit_tests_say(folder: Path) -> None:
    for tests in RULE_TESTS:
        shutil.copy(tests, folder)
        assert "SUCCESS" in promtool("test", "rules", folder / tests.name)


def test_every_alert_has_a_unit_test() -> None:
    text = "".join(tests.read_text(encoding="utf-8") for tests in RULE_TESTS)
    patterns = re.findall(r'alertname=~?"([^"]+)"', text)
    for alert in watched().alerts:
        assert any(re.fullmatch(pattern, alert.name) for pattern in patterns), alert.name


@pytest.mark.parametrize(
    ("change", "other", "tests"),
    [
        ('deposit = "0.5 ETH"', 'deposit = "0.500000004 ETH"', RULES_TEST),
        ('reserve = "0.3 ETH"', 'reserve = "0.300000002 ETH"', RULES_TEST),
        ("[monitoring]", '[monitoring]\nsessions_high = "80%"', RULES_TEST),
        ("[monitoring]", '[monitoring]\ngpu_memory_high = "84%"', RULES_TEST),
        ("[monitoring]", '[monitoring]\ndisk_high = "91%"', RULES_TEST),
        ("[monitoring]", "[monitoring]\nrestarts_high = 2", RULES_TEST),
        ("[monitoring]", '[monitoring]\nreward_round = "30h"', HOURS_TEST),
        ('name = "stage"', 'name = "other"', RULES_TEST),
        ("[monitoring]", '[monitoring]\nrunway_low = "23h"', INCOME_TEST),
        ("[monitoring]", '[monitoring]\ndeclined_high = "9%"', INCOME_TEST),
        ('verify_every = "15m"', 'verify_every = "16m"', INCOME_TEST),
        ('max_price = "2500 wei / pixel"', 'max_price = "2500.1 wei / pixel"', INCOME_TEST),
    ],
)
def test_another_threshold_is_noticed_by_the_unit_tests(change: str, other: str, tests: Path, tmp_path: Path) -> None:
    assert change in SPEC
    folder = lay_out(compile_text(SPEC.replace(change, other, 1)), tmp_path)
    shutil.copy(tests, folder)
    promtool("test", "rules", folder / tests.name, fine=False)


def test_number_of_slots_stands_not_in_the_rules() -> None:
    fewer = files(compile_text(SPEC.replace("slots = 2", "slots = 1\nhealth_port = 9191", 1)))
    assert fewer["alerts.yml"] == files(whole())["alerts.yml"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_pass(name: str, tmp_path: Path) -> None:
    folder = lay_out(compiled_example(name), tmp_path)
    promtool("check", "config", folder / "prometheus.yml")
    promtool("check", "rules", "--lint=all", "--lint-fatal", folder / "alerts.yml")
    for path in (folder / "agents").glob("*.yml"):
        promtool("check", "config", "--agent", path)


def test_example_with_avatars_watches_all_that_no_message_tells() -> None:
    rules = files(compiled_example("avatar-stage"))["alerts.yml"]
    assert set(re.findall(r"alert: (\w+)", rules)) >= {
        *("DepositLow", "ReserveLow", "PaymentErrors", "SessionsNearLimit", "NoOrchestrator", "GpuMemoryHigh"),
        *("RewardNotCalled", "AvatarSignalingSilent", "NodeRestarting"),
    }


def test_own_rule_files_and_a_token_pass(tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    own.write_text("groups: []\n", encoding="utf-8")
    more = f'[monitoring]\nrule_files = ["{own}"]\nreceiver = "https://p.example.net/write"\nscrape_interval = "15s"\n'
    text = SPEC.replace("[monitoring]\n", more + f'receiver_token = {{ host_file = "{own}" }}\n')
    folder = lay_out(compile_text(text), tmp_path / "tree")
    assert "2 rule files found" in promtool("check", "config", folder / "prometheus.yml")
    promtool("check", "config", "--agent", folder / "agents/gpu.yml")
    agent = (folder / "agents/gpu.yml").read_text(encoding="utf-8")
    assert f'credentials_file: "{own}"' in agent and "scrape_interval: 15s" in agent


def test_fleet_of_which_nothing_is_read_has_valid_files(tmp_path: Path) -> None:
    text = SPEC.replace("monitor = true\n", "").replace("blackbox_port = 9115\n", "")
    text = text[: text.index("[monitoring.project]")]
    text = "\n".join(line for line in text.splitlines() if not line.startswith("gpu_exporter"))
    folder = lay_out(compile_text(text), tmp_path)
    assert {path.name for path in folder.iterdir()} == {"prometheus.yml", "alerts.yml", "dashboard.json"}
    promtool("check", "config", folder / "prometheus.yml")


ODD = (
    "plain",
    "it's",
    'a "b"',
    "back\\slash \\n",
    "line\nbreak\ttab",
    "{{ .Value }}",
    "{{{",
    "}}",
    "$HOME ${x}",
    "é 漢 🙂",
    "%s",
)


def test_odd_text_comes_out_of_expressions_and_annotations_as_it_went_in(tmp_path: Path) -> None:
    rules = [
        {
            "alert": f"Odd{index}",
            "expr": f"absent(nothing{{a={promql_string(value)}}})",
            "annotations": {"text": go_template_text(value)},
        }
        for index, value in enumerate(ODD)
    ]
    expected = [
        {
            "eval_time": "1m",
            "alertname": f"Odd{index}",
            "exp_alerts": [{"exp_labels": {"a": value}, "exp_annotations": {"text": value}}],
        }
        for index, value in enumerate(ODD)
    ]
    (tmp_path / "odd.yml").write_text(
        json.dumps({"groups": [{"name": "odd", "rules": rules}]}, ensure_ascii=False), encoding="utf-8"
    )
    test = {"rule_files": ["odd.yml"], "tests": [{"interval": "1m", "alert_rule_test": expected}]}
    (tmp_path / "test.yml").write_text(json.dumps(test, ensure_ascii=False), encoding="utf-8")
    promtool("check", "rules", tmp_path / "odd.yml")
    promtool("test", "rules", tmp_path / "test.yml")
