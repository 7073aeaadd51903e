"""Silences with a last day: what they hide until then, what follows, and what never depends on the day."""

from __future__ import annotations

import json
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from fleetc.fixes import repair
from fleetc.pipeline import check_spec, judge
from fleetc.toml.document import Source
from tests.rules.support import free_gateway, free_orchestrator, model, offchain
from tests.support import compile_text, fleetc, printed

END = date(2027, 1, 31)
ORCH = free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]', gpus="[0]", max_sessions="4")


def fleet(rtmp: str, **gateway: str) -> str:
    settings = {"mode": '"ai"', "http": '"127.0.0.1:8935"', "rtmp": f'"{rtmp}"', **gateway}
    return offchain(model(), ORCH, free_gateway("gw", **settings))


FAULTY = fleet("0.0.0.0:1936")
SOUND = fleet("127.0.0.1:1936")
CODE = "rtmp-on-ai-gateway"


def silenced(spec: str = FAULTY, *lines: str, until: str = "2027-01-31") -> str:
    given = [f"until = {until}", 'owner = "edge team"', *lines] if until else list(lines)
    return "\n".join([spec, "[silences.accepted]", f'code = "{CODE}"', 'reason = "the firewall closes it"', *given, ""])


def told(spec: str, today: date | None) -> str:
    sources = [Source("fleet.toml", spec)]
    return printed(check_spec(sources, today=today), sources)


def test_holds_until_its_last_day_and_is_an_error_from_the_next() -> None:
    assert told(FAULTY, END).startswith(f"warning[{CODE}]")
    assert f"[{CODE}]" not in told(silenced(), today=END)
    after = told(silenced(), END + timedelta(days=1))
    assert f"warning[{CODE}]" in after
    assert f'error[silence-expired]: the silence of "{CODE}" held until 2027-01-31, and today is 2027-02-01' in after
    assert "edge team answers for it" in after


def test_without_a_day_it_holds_for_ever() -> None:
    assert told(silenced(until="2001-01-01"), None) == "no problems\n"


def test_without_an_end_it_holds_for_ever() -> None:
    assert told(silenced(until=""), date.max) == "no problems\n"


@pytest.mark.parametrize(
    ("days", "words"), [(0, "which is today"), (1, "1 day from today (2027-01-30)"), (14, "14 days from today")]
)
def test_its_end_is_announced(days: int, words: str) -> None:
    found = told(silenced(), END - timedelta(days=days))
    assert "note[silence-ends-soon]" in found
    assert words in found
    assert found.endswith("no problems\n")


def test_its_end_is_not_announced_long_before() -> None:
    assert told(silenced(), END - timedelta(days=15)) == "no problems\n"


def test_end_needs_an_owner_and_an_owner_needs_no_end() -> None:
    nobodys = silenced().replace('owner = "edge team"\n', "")
    assert "a silence that ends needs an owner" in told(nobodys, None)
    assert told(silenced(FAULTY, 'owner = "edge team"', until=""), None) == "no problems\n"


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("2027-01-31T10:00:00", "write it like 2027-01-31"),
        ("2027-01-31T10:00:00Z", "write it like 2027-01-31"),
        ("10:00:00", "write it like 2027-01-31"),
        ('"31.1.2027"', "write it without quotes, like until = 2027-01-31"),
        ('"2027-02-30"', "write it without quotes, like until = 2027-01-31"),
        ("20270131", "write it without quotes, like until = 2027-01-31"),
        ("true", "write it without quotes, like until = 2027-01-31"),
    ],
)
def test_end_is_a_day(written: str, advice: str) -> None:
    found = told(silenced(until=written), None)
    assert found.count("error[") == 1
    assert advice in found


def test_end_in_quotes_is_repaired() -> None:
    repaired = repair([Source("fleet.toml", silenced(until='"2027-01-31"'))], today=END)
    assert repaired.sources[0].text == silenced()


def test_no_other_setting_takes_a_day() -> None:
    assert "this setting takes no date and no time" in told(SOUND.replace('"v0.9.1"', "2027-01-31"), None)
    elsewhere = SOUND.replace('name = "test"', 'name = "test"\nuntil = 2027-01-31')
    assert 'there is no key "until" here' in told(elsewhere, None)
    variable = SOUND.replace('rtmp = "127.0.0.1:1936"', 'rtmp = "127.0.0.1:1936"\nenvironment = { until = 2027-01-31 }')
    assert "must be text in quotes" in told(variable, None)


def test_ended_silence_of_nothing_is_removed_by_the_fix() -> None:
    ended = silenced(SOUND)
    assert "error[silence-expired]" in told(ended, END + timedelta(days=1))
    assert "unused-silence" not in told(ended, END + timedelta(days=1))
    assert repair([Source("fleet.toml", ended)], today=END + timedelta(days=1)).sources[0].text.strip() == SOUND.strip()
    kept = repair([Source("fleet.toml", silenced())], today=END + timedelta(days=1))
    assert kept.sources[0].text == silenced(), "a fix never takes away what still hides a warning"


def test_false_alarm_is_an_alarm_again() -> None:
    setting = '"' + "b7Qx" + "2mVd9Kp4Tz8Lw3Rn6Hs1" + "Yc5Jf0Ag" + '"'
    spec = fleet("127.0.0.1:1936", environment=f"{{ SETTING = {setting} }}")
    at = 'at = "gateways.gw.environment.SETTING"'
    accepted = silenced(spec, at).replace(CODE, "inline-secret")
    assert "error[inline-secret]" in told(spec, None)
    assert "inline-secret]" not in told(accepted, END - timedelta(days=20))
    assert "error[inline-secret]" in told(accepted, END + timedelta(days=1))


def test_tree_tells_until_when_and_never_today() -> None:
    tree = compile_text(silenced()).tree
    assert tree is not None
    page = tree.as_mapping()["FLEET.md"].content.decode()
    assert f"| `{CODE}` | the whole spec | `the firewall closes it` | `2027-01-31` | `edge team` |" in page


# ---------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.toml"
    path.write_text(silenced(), encoding="utf-8")
    return path


def digest(tree: Path) -> str:
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    return sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()


def test_equal_spec_gives_equal_bytes_on_any_day(spec: Path) -> None:
    tree = spec.parent / "rendered"
    assert fleetc("compile", spec, "--today", "2026-01-01").returncode == 0
    before = digest(tree)
    assert fleetc("compile", spec, "--today", "2027-01-31").returncode == 0
    assert digest(tree) == before
    refused = fleetc("compile", spec, "--today", "2027-02-01")
    assert refused.returncode == 1
    assert "silence-expired" in refused.stderr
    assert digest(tree) == before
    assert fleetc("compile", spec, "--check", "--today", "2027-01-31").returncode == 0
    assert fleetc("compile", spec, "--check", "--today", "2027-02-01").returncode == 1


@pytest.mark.parametrize("command", ["check", "compile", "diff", "plan", "deploy"])
def test_command_that_brings_something_new_judges_by_the_day_and_says_it(spec: Path, command: str) -> None:
    done = fleetc(command, spec, "--today", "2027-02-01")
    assert done.returncode == 1
    assert "error[silence-expired]" in (done.stdout if command == "check" else done.stderr)
    assert "note: last days are judged as of 2027-02-01\n" in done.stderr


@pytest.mark.parametrize("command", [("todo",), ("why", "gateways.gw.rtmp")], ids=lambda words: words[0])
def test_command_that_only_looks_goes_on(spec: Path, command: tuple[str, ...]) -> None:
    spec.write_text(silenced(until="2001-01-01"), encoding="utf-8")
    done = fleetc(*command, cwd=spec.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_day_is_that_of_the_machine_unless_given(spec: Path) -> None:
    yesterday = date.today() - timedelta(days=1)  # noqa: DTZ011  # as people read their clock
    spec.write_text(silenced(until=str(yesterday)), encoding="utf-8")
    assert fleetc("check", spec).returncode == 1
    assert fleetc("check", spec, "--today", yesterday).returncode == 0


def test_day_is_in_the_json_where_it_matters(spec: Path) -> None:
    day = "2026-01-01"
    assert json.loads(fleetc("check", spec, "--today", day, "--format", "json").stdout)["today"] == day
    assert json.loads(fleetc("compile", spec, "--today", day, "--format", "json").stdout)["today"] == day
    checked = fleetc("compile", spec, "--check", "--today", day, "--format", "json")
    assert json.loads(checked.stdout)["today"] == day
    spec.write_text(silenced(until=""), encoding="utf-8")
    plain = fleetc("check", spec, "--today", day, "--format", "json")
    assert "today" not in json.loads(plain.stdout)
    assert "judged" not in plain.stderr


@pytest.mark.parametrize("written", ["tomorrow", "31.1.2027", "2027-1", "20270131", "2027-02-30", ""])
def test_day_must_be_one(spec: Path, written: str) -> None:
    done = fleetc("check", spec, "--today", written)
    assert done.returncode == 2
    assert "write it like 2027-01-31" in done.stderr


def test_sealed_plan_stays_valid_when_a_silence_ends(spec: Path) -> None:
    spec.write_text(silenced(until="2001-01-31"), encoding="utf-8")
    assert fleetc("compile", spec, "--today", "2001-01-01").returncode == 0
    plan = spec.parent / "plan.json"
    assert fleetc("plan", spec, "-o", plan).returncode == 1
    assert fleetc("plan", spec, "-o", plan, "--today", "2001-01-31").returncode == 0
    verified = fleetc("plan", spec, "--verify", plan)
    assert (verified.returncode, verified.stderr) == (0, "the plan is valid; the hosts were not asked\n")


def test_review_shows_another_end(spec: Path, tmp_path: Path) -> None:
    assert fleetc("compile", spec, "--today", "2026-01-01").returncode == 0
    spec.write_text(silenced(until="2027-06-30"), encoding="utf-8")
    review = fleetc("diff", spec, "--today", "2026-01-01").stdout
    assert "until 2027-01-31" in review
    assert "until 2027-06-30" in review


@pytest.mark.parametrize("day", [END - timedelta(days=1), END + timedelta(days=1)])
@pytest.mark.parametrize("text", [FAULTY, silenced(), silenced(SOUND), silenced(SOUND, until="")])
def test_asking_for_some_codes_finds_all_that_have_them(text: str, day: date) -> None:
    checked = check_spec([Source("fleet.toml", text + "# TODO: later\n")])
    assert checked.document is not None
    assert checked.typed is not None
    whole = judge(checked.document, checked.typed, day)
    assert len({one.code for one in whole}) > 1
    for code in {one.code for one in whole}:
        some = judge(checked.document, checked.typed, day, codes={code})
        assert [one for one in some if one.code == code] == [one for one in whole if one.code == code]
