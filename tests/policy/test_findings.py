"""What rules see and say: places, codes, silences, forms, and what is wrong with a rule, at its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleetc.policy.source import page_of
from tests.policy.support import FLEET, shown, write
from tests.support import ROOT, fleetc

pytestmark = pytest.mark.usefixtures("processes")

CAP = '''"""A cap is low.

Why: money.
"""

def check(fleet):
    return [
        finding(p.path, "%s pays %s" % (p.node, p.text), "write less", severity = "warning")
        for p in fleet.prices
        if p.pays and not p.work
    ]
'''
SILENCE = '\n[silences.accepted]\ncode = "policy/cap"\nreason = "agreed"\n'


def test_finding_has_its_place_in_the_spec_and_the_code_of_its_file() -> None:
    assert shown({"cap": CAP}) == (
        "warning[policy/cap]: gate pays 1500 wei / pixel\n"
        "  --> fleet.toml:63:13\n"
        "   |\n"
        '63 | max_price = "1500 wei / pixel"\n'
        "   |             ^^^^^^^^^^^^^^^^^^\n"
        "   = help: write less\n"
        "\n1 warning\n"
    )


def test_warning_is_silenced_by_code_and_an_unused_silence_is_told() -> None:
    assert shown({"cap": CAP}, FLEET + SILENCE) == "no problems\n"
    assert "unused-silence" in shown({"cap": CAP.replace("p.pays", "not p.pays and p.any")}, FLEET + SILENCE)
    assert "unknown-silence" in shown({"other": CAP}, FLEET + SILENCE)
    assert "silenced-error" in shown({"cap": CAP.replace('"warning"', '"error"')}, FLEET + SILENCE)
    only_changes = "def change(base, head):\n    return []\n"
    assert shown({"cap": only_changes}, FLEET + SILENCE) == "no problems\n"


def test_commands_that_ask_no_rule_know_its_silence(tmp_path: Path) -> None:
    here = write(tmp_path, {"cap": CAP}, FLEET + SILENCE)
    assert fleetc("todo", here).returncode == 0


def test_error_stops_a_compile_and_nothing_is_written(tmp_path: Path) -> None:
    here = write(tmp_path, {"cap": CAP.replace('"warning"', '"error"')})
    done = fleetc("compile", here)
    assert done.returncode == 1
    assert "error[policy/cap]: gate pays 1500 wei / pixel" in done.stderr
    assert not (here / "rendered").exists()


def test_rules_change_no_byte_of_the_tree(tmp_path: Path) -> None:
    trees = []
    for name, rules in (("bare", {}), ("ruled", {"cap": CAP})):
        here = write(tmp_path / name / "fleet", rules)
        assert fleetc("compile", "fleet.toml", cwd=here).returncode == 0
        top = here / "rendered"
        trees.append({path.relative_to(top): path.read_bytes() for path in top.rglob("*") if path.is_file()})
    assert trees[0] == trees[1]


@pytest.mark.parametrize("form", ["json", "sarif", "github", "junit"])
def test_every_form_has_findings_of_rules(tmp_path: Path, form: str) -> None:
    done = fleetc("check", write(tmp_path, {"cap": CAP}), "--format", form)
    assert "gate pays 1500 wei / pixel" in done.stdout
    assert "policy/cap" in done.stdout
    if form == "sarif":
        (rule,) = json.loads(done.stdout)["runs"][0]["tool"]["driver"]["rules"]
        assert rule["id"] == "policy/cap"
        assert rule["help"]["text"] == page_of(CAP)


SEEN = """
def check(fleet):
    said = [
        fleet.fleet["network"],
        fleet.gateways["gate"]["max_price"],
        fleet.wallets["payer"]["password"],
        fleet.in_force["gate"]["cli"],
        fleet.counts,
        [n.wallet for n in fleet.nodes],
        [(f.deposit, f.reserve, f.cost_per_hour, f.runway_hours) for f in fleet.funds],
        [(m.kind, m.offers, m.within) for m in fleet.market],
        [s.regions for s in fleet.suppliers],
        [p.port for p in fleet.ports if p.public],
        sorted(fleet.spec)[:2],
        today.weekday, today.text,
        wei("0.05 ETH"), compare(price("1 gwei / megapixel"), price("1000 wei / pixel")),
        compare(scaled(price("1200 wei / pixel"), 110), price("1320 wei / pixel")),
    ]
    return [finding("fleet.name", repr(said), severity = "warning")]
"""


def test_rule_sees_the_spec_its_settings_in_force_the_market_and_the_day() -> None:
    assert shown({"seen": SEEN}).splitlines()[0] == (
        'warning[policy/seen]: ["arbitrum-one-mainnet", "1500 wei / pixel", '
        '{"host_file": "/etc/livepeer/payer-password"}, "127.0.0.1:5935", {"hosts": 2, "nodes": 2}, '
        '["payer", "earner"], [(500000000000000000, 300000000000000000, 540000000000000, 925)], '
        '[("video", 1, 1), ("models", 2, 2)], [[]], [8935], ["ai_workers", "avatars"], '
        '"wednesday", "2026-11-25", 50000000000000000, 0, 0]'
    )


RUNNERS = """
def check(fleet):
    found = []
    for one in fleet.runner_offers:
        if one.orchestrator == "orch" and (one.nano_usd == None or one.nano_usd < 20000000):
            found.append(finding(one.path, "%s for %s USD / %s" % (one.app, one.text, one.unit), severity = "warning"))
    said = [(o.runner, o.host, o.image[:4], o.program, o.url, o.gpus, o.capacity, o.registers, o.wei, o.per)
            for o in fleet.runner_offers if o.orchestrator == "orch"]
    ports = [(p.node, p.port) for p in fleet.ports if p.purpose == "live runner API"]
    return found + [finding("fleet.name", repr((said, ports)), severity = "warning")]
"""


def test_rule_sees_live_runners_with_their_prices_hosts_and_ports() -> None:
    fleet = (ROOT / "tests/data/runner_fleet.toml").read_text(encoding="utf-8")
    printed = shown({"runners": RUNNERS}, fleet)
    lines = [line for line in printed.splitlines() if line.startswith("warning[policy/runners]")]
    assert lines[0] == (
        'warning[policy/runners]: ([("llm", "box", "vllm", "", "", [1], 8, False, 1111111111, "second"), '
        '("faces", "farm", "regi", "", "", ["all"], 1, False, 2411, "pixel"), '
        '("voices", "bare", "", "/opt/voices/bin/serve", "", [0], 1, False, 55555555555, "second"), '
        '("proxy", "", "", "", "https://proxy.example.net/sd3", [], 1, False, 40000000000, "request"), '
        '("echo", "farm", "regi", "", "", [], 1, True, 11111111111, "second")], '
        '[("voices", 9100), ("llm", 8000), ("echo", 8989), ("faces", 9000)])'
    )
    assert [line.partition(": ")[2] for line in lines[1:]] == [
        "vllm/qwen2.5-0.5b-instruct for 0.01 USD / hour USD / hour",
        "example/sd3 for 0.0001 USD / request USD / fixed",
    ]


def test_what_a_price_is_in_wei_is_unknown_to_rules_without_a_rate() -> None:
    fleet = (ROOT / "tests/data/runner_fleet.toml").read_text(encoding="utf-8")
    fleet = fleet.replace('USD = "0.0004 ETH"', "").replace("0.0002 ETH / hour", "0.5 USD / hour")
    rule = (
        'def check(fleet):\n    return [finding(o.path, repr((o.nano_usd, o.wei)), severity = "warning")'
        ' for o in fleet.runner_offers if o.runner == "voices" and o.orchestrator == "other"]\n'
    )
    assert "warning[policy/rate]: (500000000, None)" in shown({"rate": rule}, fleet)


def test_amounts_beyond_64_bits_stay_exact() -> None:
    rich = FLEET.replace('deposit = "0.5 ETH"', 'deposit = "123456789.000000000000000001 ETH"')
    rule = (
        'def check(fleet):\n    return [finding("fleet.name", str(fleet.funds[0].deposit + 1), severity = "warning")]\n'
    )
    assert "warning[policy/rich]: 123456789000000000000000002\n" in shown({"rich": rule}, rich)


FAULTS = {
    "syntax": ("def check(fleet):\n    return [1 2]\n", 2, "unexpected integer literal"),
    "unfinished": ("def check(fleet):\n    return [\n", 2, "unexpected new line"),
    "raises": ('def check(fleet):\n    fail("no " + fleet.fleet["name"])\n', 2, "fails: no dual-onchain"),
    "in-helper": ('def check(fleet):\n\n    return [wei("1 apple")]\n', 3, "is not an amount"),
    "missing-key": ('def check(fleet):\n    return [fleet.gateways["nope"]]\n', 2, "was not found"),
    "no-list": ("def check(fleet):\n    return 7\n", 1, "its answer is not a list of findings"),
    "no-finding": ("def check(fleet):\n    return [7]\n", 1, "its answer is not a list of findings"),
    "no-place": (
        'def check(fleet):\n    return [finding("gateways.x.y.z", "a")]\n',
        2,
        '"gateways.x.y.z", which is not',
    ),
    "no-table": ('def check(fleet):\n    return [finding("gatways", "a")]\n', 2, '"gatways", which is not in the spec'),
    "no-message": ('def check(fleet):\n    return [finding("fleet.name", 7)]\n', 2, "a finding without a message"),
    "no-severity": ('def check(fleet):\n    return [finding("fleet", "a", "", "bad")]\n', 2, "a finding without"),
    "parameters": ("# a\ndef check(a, b):\n    return []\n", 2, "Missing parameter"),
}


def test_fault_of_a_rule_is_an_error_at_its_line() -> None:
    said = shown({name: text for name, (text, _, _) in FAULTS.items()}).split("\n\n")
    for name, (_, line, words) in FAULTS.items():
        (block,) = [each for each in said if f"policy/{name}.star:" in each]
        assert block.startswith(f"error[policy-failed]: the rule {name} "), block
        assert words in block.splitlines()[0], block
        assert f"policy/{name}.star:{line}:" in block, block


def test_place_may_be_a_key_that_a_table_lacks() -> None:
    rule = 'def check(fleet):\n    return [finding(at, at, severity = "warning") for at in {}]\n'
    places = ["gateways.gate.image", "rollout.canary", "orchestrators.orch.models.1.price", 'hosts."edge".region']
    assert shown({"there": rule.format(json.dumps(places))}).endswith("\n4 warnings\n")


def test_name_of_a_file_and_its_functions_are_checked() -> None:
    said = shown({"Bad_Name": CAP, "empty": "x = 1\n"})
    assert '"Bad_Name" cannot be the name of a rule' in said
    assert "the rule empty has no function check or change" in said


def test_more_findings_than_a_list_holds_are_counted() -> None:
    rule = 'def check(fleet):\n    return [finding("fleet.name", str(i), severity = "warning") for i in range(5000)]\n'
    assert "(and 3999 more like this)" in "".join(
        each["message"] for each in json.loads(_json(rule))["diagnostics"] if "more" in each["message"]
    )


def _json(rule: str) -> str:
    from fleetc.messages.json import as_json
    from fleetc.messages.locate import locate
    from fleetc.pipeline import check_spec
    from fleetc.toml.document import Source
    from tests.policy.support import policies

    checked = check_spec([Source("fleet.toml", FLEET)], policies({"many": rule}))
    return as_json(locate(checked.diagnostics, checked.texts, checked.document))


def test_explain_prints_the_docstring(tmp_path: Path) -> None:
    here = write(tmp_path, {"cap": CAP})
    assert "Why: money." in fleetc("explain", "policy/cap", cwd=here).stdout
    assert "fleetc policy add budget copies it" in fleetc("explain", "policy/budget", cwd=here).stdout
    unknown = fleetc("explain", "policy/bugdet", cwd=here)
    assert unknown.returncode == 2
    assert 'did you mean "policy/budget"?' in unknown.stderr


def test_day_is_handed_in_and_shown(tmp_path: Path) -> None:
    rule = 'def check(fleet):\n    return [finding("fleet.name", today.weekday, severity = "warning")]\n'
    here = write(tmp_path, {"day": rule})
    done = fleetc("check", here, "--today", "2026-11-27")
    assert "warning[policy/day]: friday" in done.stdout
    assert "use 2026-11-27 as today" in done.stderr
    assert fleetc("check", here, "--today", "yesterday").returncode == 2
