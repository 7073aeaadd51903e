"""What is out of service: its last day, what a spec must not leave out, and what has no substitute."""

from __future__ import annotations

from datetime import date

import pytest

from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.rules.support import (
    checked,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    host,
    model,
    offchain,
    onchain,
    orchestrator,
    printed,
    redeemer,
    reward_caller,
    signer,
    wallet,
)
from tests.support import compile_text

OUT = '{ until = 2027-01-31, reason = "new power supply" }'
NEEDED = "needed-node-out"
TWO = free_orchestrator("other", host='"edge"', max_sessions="4")


def bought(*tables: str, **gate: str | None) -> str:
    """A gateway that buys from orch, which is out of service, and from what else it names."""
    return offchain(free_orchestrator(out=OUT, max_sessions="4"), free_gateway(**gate), *tables)


SOUND = bought(TWO, orchestrators='["orch", "other"]', http='"127.0.0.1:9000"')


@pytest.mark.parametrize(
    ("day", "code"),
    [
        (None, ""),
        (date(2027, 1, 16), ""),
        (date(2027, 1, 17), "note[out-of-service-ends-soon]"),
        (date(2027, 1, 31), "note[out-of-service-ends-soon]"),
        (date(2027, 2, 1), "error[out-of-service-expired]"),
    ],
)
def test_last_day_is_judged_like_that_of_a_silence(day: date | None, code: str) -> None:
    found = check_spec([Source("fleet.toml", SOUND)], today=day)
    told = [f"{one.severity.name.lower()}[{one.code}]" for one in found.diagnostics]
    assert told == [code][: bool(code)]
    assert (found.fleet is None) == code.startswith("error")


def test_nothing_depends_on_the_day_but_the_check() -> None:
    assert compile_text(SOUND).tree is not None, "a rollback, verify and --resume have no day"


@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("{ until = 2027-01-31 }", "reason"),
        ('{ reason = "new power supply" }', "until"),
        ('{ until = "2027-01-31", reason = "x" }', "without quotes"),
        ('{ until = 2027-01-31, reason = "" }', "reason"),
        ('{ until = 2027-01-31, reason = "x", owner = 1 }', "owner"),
        ('{ until = 2027-01-31, reason = "x", untli = 1 }', "write out = { until = "),
        ("true", "write out = { until = "),
    ],
)
def test_bad_input_has_its_line(out: str, told: str) -> None:
    text = SOUND.replace(OUT, out)
    said = printed(text)
    line = next(number for number, line in enumerate(text.splitlines(), 1) if line.startswith("out = "))
    assert said.startswith("error[") and f"fleet.toml:{line}:" in said and told in said, said


def test_last_seller_of_a_gateway() -> None:
    said = flagged(bought(), NEEDED)
    assert "gateway gate buys video from orch alone, out of service" in said
    assert "add another orchestrator to gate, or take gate out of service too" in said
    assert printed(SOUND) == "no problems\n"
    assert printed(bought(out=OUT)) == "no problems\n", "who does not run needs nobody"
    elsewhere = bought(orchestrators='["orch", "https://elsewhere.example.net:8935"]')
    assert printed(elsewhere, NEEDED) == "no problems\n"
    ai = bought(model(), free_orchestrator("other", mode='"ai"', models='[{ use = "realvis" }]', gpus="[0]"))
    assert NEEDED in flagged(ai.replace('["orch"]', '["orch", "other"]'), NEEDED), "another one sells no video"


def test_signer_redeemer_and_the_host_of_prometheus() -> None:
    signed = gateway(wallet=None, remote_signer='{ signer = "signer" }', orchestrators='["https://a.example.net:8935"]')
    said = flagged(onchain(signer(out=OUT), signed), NEEDED)
    assert "signer is out of service, and gate cannot start without it" in said
    redeemed = onchain(redeemer(out=OUT), orchestrator(host='"edge"', redeemer='"redeemer"'))
    assert "redeemer is out of service, and orch cannot start without it" in flagged(redeemed, NEEDED)
    watched = SOUND + '\n[monitoring]\nhost = "gpu"\n'
    moved = watched.replace("[hosts.gpu]", f"[hosts.gpu]\nout = {OUT}")
    assert "Prometheus runs there, so no alert comes from any host" in flagged(moved, NEEDED)
    assert printed(watched.replace('"gpu"\n', '"edge"\n', 1), NEEDED) == "no problems\n"


def test_reward_is_called_elsewhere() -> None:
    alone = onchain(orchestrator(out=OUT))
    said = flagged(alone, NEEDED, Severity.WARNING)
    assert "orch is out of service, so nobody calls reward for wallet earner" in said and "add a reward caller" in said
    both = onchain(orchestrator(out=OUT), reward_caller())
    both = both.replace("[wallets.earner]", "[wallets.earner]\nreward_by = WHO")
    assert 'write reward_by = "caller"' in flagged(both.replace("WHO", '"orch"'), NEEDED, Severity.WARNING)
    assert printed(both.replace("WHO", '"caller"'), NEEDED) == "no problems\n"
    assert printed(both.replace("WHO", '"none"'), NEEDED) == "no problems\n"
    assert printed(SOUND, NEEDED) == "no problems\n", "off-chain nobody calls reward"


def test_registered_address_is_elsewhere() -> None:
    other = orchestrator("other", host='"edge"')
    text = onchain(orchestrator(out=OUT), other).replace("[wallets.earner]", '[wallets.earner]\nreward_by = "other"')
    said = flagged(text, NEEDED, Severity.WARNING)
    assert "the registry may have its address, not that of other" in said and 'register the address of "other"' in said
    apart = wallet(address='"0x4444444444444444444444444444444444444444"')
    own = onchain(orchestrator(out=OUT), orchestrator("other", host='"edge"', wallet='"third"'), apart)
    assert "registry" not in printed(own, NEEDED), "another account has an address of its own"


def test_host_takes_its_nodes_with_it() -> None:
    text = offchain(free_orchestrator(host='"third"'), free_gateway(), host("third", out=OUT, public='"c.example.net"'))
    said = flagged(text, NEEDED)
    (place,) = [one for one in checked(text).diagnostics if one.code == NEEDED]
    assert place.primary.place == ("hosts", "third", "out") and "buys from nobody else" in said
