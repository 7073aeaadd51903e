"""`fleetc diagnose` from logs to what is printed: findings, combinations, and the lines of a spec that may change."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fleetc.language.fleet import Fleet
from fleetc.observe import proofs
from fleetc.observe.findings import findings
from fleetc.observe.proofs import NUMBERS, PROOFS, Case
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.bench.diagnose import ORDINARY, write_log
from tests.observe.support import CAPPED, SPEC, diagnose, glog, tally_of

NOBODY = glog("manifestID=5c1a9e No sessions available for segment")
ABOVE = glog("Orchestrator 0x1111111111111111111111111111111111111111 is above max price 1000.000, price=1212.500")
IN_DOLLARS = '"0.03 USD / 1000000 pixels"'
UNPAID = glog('Could not create payment bytes=120 err="no sender deposit"', level="E")


def log(place: Path, *lines: str, name: str = "node.log") -> str:
    (place / name).write_text("\n".join(lines) + "\n")
    return name


def as_json(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(diagnose(*arguments, "--format", "json").stdout)
    return found


def help_of(place: Path, code: str, *lines: str, node: str = "", spec: tuple[str, str] = ("", "")) -> tuple[str, str]:
    """The help of a finding against the spec with one text replaced, and its line in the spec."""
    assert spec[0] in SPEC
    (place / "fleet.toml").write_text(SPEC.replace(*spec) if spec[0] else SPEC)
    named = ("--node", node) if node else ()
    found = as_json(log(place, *lines), "--spec", ".", *named)["diagnostics"]
    (one,) = (item for item in found if item["code"] == code)
    line = (place / "fleet.toml").read_text().splitlines()[one["primary"]["line"] - 1]
    assert one["primary"]["file"] == "fleet.toml"
    assert one["related"][-1]["file"] == "node.log"
    return one["help"], line


def test_text_without_a_spec(place: Path, snapshot: object) -> None:
    lines = [glog("OrchestratorCapped", f"05:{minute:02}:00", "E") for minute in range(10)]
    lines += [glog(f"LB: Transcode loop timed out for key={n}", "05:59:59") for n in range(3)]
    lines += [glog(f"Processing segment bytes={n}") for n in range(500)] + [glog("odd thing 7", level="E")] * 2
    run = diagnose(log(place, *lines))
    assert run.stdout == snapshot
    assert (run.returncode, run.stderr) == (1, "")


def test_text_with_a_spec(place: Path, snapshot: object) -> None:
    run = diagnose(log(place, *[CAPPED] * 3, NOBODY, UNPAID), "--spec", ".", "--node", "gate")
    assert run.stdout == snapshot
    assert run.returncode == 1


# --- values that are proved -------------------------------------------------------------------------------------------


def test_sessions_that_the_gpus_have_room_for(place: Path) -> None:
    help_, line = help_of(place, "orchestrator-capped", CAPPED, node="gate")
    assert "Write max_sessions = 16 for orch: its GPUs certainly have room for that, and not for more" in help_
    assert line == "max_sessions = 12"


def test_no_more_sessions_where_the_gpus_are_full(place: Path) -> None:
    help_, _ = help_of(place, "orchestrator-capped", CAPPED, spec=("max_sessions = 12", "max_sessions = 16"))
    assert "certainly have room for 16 sessions, and it has 16: add GPUs or nodes" in help_


def test_only_what_is_certain_is_proved(place: Path) -> None:
    """A GPU of that model allows three sessions at least; of a host without a list nothing is known."""
    help_, _ = help_of(place, "orchestrator-capped", CAPPED, spec=(", encode_sessions = 8 }", " }"))
    assert "The GPUs of orch certainly have room for 6 sessions, and it has 12" in help_
    help_, _ = help_of(place, "orchestrator-capped", CAPPED, spec=("gpus = [0, 1]", 'gpus = "all"'))
    assert "Write max_sessions = 16 for orch" in help_
    listed = SPEC[SPEC.index("gpus = [\n") : SPEC.index("\n]\n") + 3]
    help_, _ = help_of(place, "orchestrator-capped", CAPPED, spec=(listed, ""))
    assert "has too little to prove a number for orch" in help_


def test_fewer_sessions_where_there_are_too_many(place: Path) -> None:
    line = glog("maximum number of simultaneous NVENC video encoding sessions is restricted by driver", level="E")
    help_, _ = help_of(place, "encoder-out-of-sessions", line, spec=("max_sessions = 12", "max_sessions = 40"))
    assert "Write max_sessions = 16 for orch, which is what its GPUs certainly have room for" in help_
    assert "The spec has a reason, encode-sessions-exceeded: " in help_


def test_nodes_without_a_number_take_no_place_and_no_more_are_computed_than_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fleet = _fleet()
    node = fleet.nodes_by_name["orch"]
    numbers = iter(range(100))
    monkeypatch.setattr(proofs, "_fewer", lambda _fleet, _node: f"{n}" if (n := next(numbers)) >= 5 else "")
    assert PROOFS["encoder-out-of-sessions"](Case(fleet, [node] * 50, None, (), {})) == "5; 6; 7"
    assert next(numbers) == 8


def test_memory_of_the_gpus(place: Path) -> None:
    line = "2026-11-23 05:12:13,123 - app - ERROR - CUDA out of memory. Tried to allocate 2.00 GiB"
    help_, _ = help_of(place, "cuda-out-of-memory", line, node="orch")
    assert "GPU 0 of host gpu is 37 % full by the spec" in help_


def test_price_that_would_do(place: Path) -> None:
    help_, line = help_of(
        place, "gateway-cap-below-every-price", NOBODY, ABOVE, node="gate",
        spec=('max_price = "1500 wei / pixel"', 'max_price = "1200 wei / pixel"'),
    )  # fmt: skip
    assert "The spec has a reason, gateway-price-admits-nobody: " in help_
    assert 'raise max_price to "1224 wei / pixel" or more' in help_
    assert 'the cheapest offer in the log needs max_price = "1212.5 wei / pixel", which was 1000 then' in help_.lower()
    assert line.startswith("max_price")


def test_price_of_the_spec_that_does_not_run(place: Path) -> None:
    """The spec would buy, so the process ran with another cap than the spec has, and a higher one would not help."""
    for code in ("price-above-cap", "gateway-cap-below-every-price"):
        help_, _ = help_of(place, code, NOBODY, ABOVE, node="gate", spec=(IN_DOLLARS, '"90000000 wei / pixel"'))
        assert "By the spec, gate buys video from 1 of 1 offer of this fleet" in help_
        assert "above 1000 wei / pixel, which is not its cap in the spec (1500 wei / pixel and 5000000 wei" in help_
        assert "fleetc verify tells which. The cheapest offer in the log, 1212.5 wei / pixel, is within" in help_
        assert "Raise max_price" not in help_ and "needs max_price" not in help_
    help_, _ = help_of(place, "price-above-cap", NOBODY, ABOVE, node="gate")
    assert "Raise max_price" in help_, "nobody knows what a cap in dollars was then"


@pytest.mark.parametrize("gone", ['deposit = "0.5 ETH"\n', 'reserve = "0.3 ETH"\n'])
def test_gateway_without_funds(gone: str, place: Path) -> None:
    help_, line = help_of(place, "gateway-has-no-funds", NOBODY, UNPAID, node="gate", spec=(gone, ""))
    assert "The spec has a reason, gateway-funds-missing: " in help_
    assert line == "[wallets.payer]"


def test_funds_that_the_spec_has_are_told_with_how_long_they_last(place: Path) -> None:
    help_, line = help_of(place, "deposit-missing", UNPAID, node="gate")
    assert "The spec plans 0.5 ETH, which last gate 925 hours at its expected load" in help_
    assert line.startswith("deposit")


def face_value(amount: int) -> str:
    return glog(f"ticket faceValue {amount} > max faceValue 500000000000000000", level="E")


def test_deposit_that_a_face_value_demands(place: Path) -> None:
    said = "The largest face value in the log is 0.6 ETH, which takes a deposit of "
    line = face_value(600000000000000000)
    help_, _ = help_of(place, "face-value-above-deposit", line, node="gate")
    assert f"{said}0.6 ETH, as deposit_multiplier is 1" in help_
    given = ("[gateways.gate]", "[gateways.gate]\ntickets.deposit_multiplier = 1000")
    for node in ("gate", ""):
        help_, _ = help_of(place, "face-value-above-deposit", line, node=node, spec=given)
        assert f"{said}600 ETH, as deposit_multiplier is 1000" in help_


def test_deposit_where_nobody_knows_whose_it_is(place: Path) -> None:
    gate = SPEC[SPEC.index("[gateways.gate]") : SPEC.index("[orchestrators.orch]")]
    spec = f"{SPEC}\n{gate.replace('gateways.gate', 'gateways.other')}\ntickets.deposit_multiplier = 1000\n"
    (place / "fleet.toml").write_text(spec)
    report = as_json(log(place, face_value(600000000000000000)), "--spec", ".")
    (one,) = (item for item in report["diagnostics"] if item["code"] == "face-value-above-deposit")
    assert "which takes a deposit of deposit_multiplier times that" in one["help"]


def test_limits_of_tickets_are_told_and_not_proposed(place: Path) -> None:
    """Whoever asks too much must not be able to have the protection against it lifted."""
    one = glog("ticket EV 8000000000001.50000 > max ticket EV 3000000000000.00000", level="E")
    many = glog("total ticket EV 21000000000000.00000 for 9 tickets > max total ticket EV 2.00000", level="E")
    for code, line, said in (
        ("ticket-value-high", one, "ticket in the log was worth about 8000 gwei, and the limit was 3000 gwei"),
        ("payment-value-high", many, "payment in the log was worth 21000 gwei, and the limit was 2 wei"),
    ):
        help_, _ = help_of(place, code, line, node="gate")
        assert said in help_
        assert "only if you want to pay so much" in help_
        assert "Write" not in help_


def test_worth_of_a_ticket_that_makes_a_batch_small_enough_is_computed(place: Path) -> None:
    batches = [glog(f"numTickets {count} exceeds maximum of 100", level="E") for count in (101, 487, 200)]
    help_, _ = help_of(place, "signer-batch-large", *batches, node="orch")
    assert 'largest batch in the log was 487 tickets, which takes ticket_ev = "49 gwei" if it was for orch' in help_
    given = ('ticket_ev = "10 gwei"', 'ticket_ev = "20 gwei"')
    help_, _ = help_of(place, "signer-batch-large", *batches, node="orch", spec=given)
    assert 'ticket_ev = "98 gwei"' in help_
    help_, _ = help_of(
        place, "signer-batch-large", glog("numTickets 2700000000 exceeds maximum of 100", level="E"), node="orch"
    )
    assert "ticket_ev =" not in help_ and "a lower price, or one in another unit" in help_


def test_extremes_of_a_log_with_more_values_than_are_kept(place: Path) -> None:
    tickets = [glog(f"ticket EV {1000 + n}.5 > max ticket EV 1000.0", level="E") for n in [*range(50), 8999]]
    help_, _ = help_of(place, "ticket-value-high", *tickets, node="gate")
    assert "was worth about 10000 wei" in help_
    prices = [*range(1300, 1350), 1100]
    offers = [glog(f"Orchestrator 0x11 is above max price 1000.000, price={price}.500") for price in prices]
    help_, _ = help_of(place, "price-above-cap", *offers, node="gate")
    assert 'the cheapest offer in the log needs max_price = "1100.5 wei / pixel", which was 1000 then' in help_.lower()
    faces = [face_value(10**18 + n) for n in [*range(50), 10**18]]
    help_, _ = help_of(place, "face-value-above-deposit", *faces, node="gate")
    assert "largest face value in the log is 2 ETH" in help_


def test_offers_above_the_ceiling_of_a_signer() -> None:
    offers = [f"orchestrator price {price}.000 exceeds config ceiling 1000.000" for price in [*range(1300, 1350), 1100]]
    ranges = tally_of(*offers).seen["price-above-ceiling"].ranges
    case = Case(_fleet(), [], None, (), ranges)
    said = "the refused offers in the log ask 1100 to 1349 wei / pixel, and the ceiling was 1000"
    assert NUMBERS["price-above-ceiling"](case) == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "numTickets 2721947758 exceeds maximum of 100",
            "worth about 21.8 ETH, and a payer allows 20000 gwei: another",
        ),
        ("numTickets 240 exceeds maximum of 100", "a signer signs 100: a ticket_ev 2.4 times as high would do"),
        (
            "Tried to allocate 7.03 GiB. GPU 0 has a total capacty of 23.69 GiB of which 3.38 GiB is free.",
            "asked for 7.03 GiB, and GPU 0 had 3.38 GiB of 23.69 GiB left, so 3.65 GiB too little",
        ),
        (
            "Tried to allocate 20.00 MiB. GPU 1 has a total capacity of 8 GiB of which 1.5 GiB is free.",
            "left, but in pieces that are too small",
        ),
        (
            "CUDA out of memory. Tried to allocate x. GPU 0 has a total capacity of y of which z is free",
            "normal load needs nodes of its own.",
        ),
        (ABOVE, "the offers in the log ask 1212.5 wei / pixel, and the cap was 1000"),
    ],
)
def test_numbers_are_used_without_a_spec(line: str, said: str, place: Path) -> None:
    (one,) = as_json(log(place, line))["diagnostics"]
    assert said.lower() in one["help"].lower()


def test_problem_is_no_success_even_if_it_is_a_warning(place: Path) -> None:
    assert diagnose(log(place, ABOVE)).returncode == 1
    assert diagnose(log(place, glog("LB: Transcode loop timed out for key=7"))).returncode == 0


def test_ordinary_log_is_fine(place: Path) -> None:
    write_log(place / "node.log", 40, texts=ORDINARY)
    report = as_json("node.log")
    assert report["read"]["lines"] > 200_000
    assert {one["benign"] for one in report["findings"]} == {True}
    assert not any(shape["level"] == "error" for shape in report["unknown"])
    assert diagnose("node.log").returncode == 0


def _fleet() -> Fleet:
    fleet = check_spec([Source("fleet.toml", SPEC)]).fleet
    assert fleet is not None
    return fleet


def test_address_of_the_chain_is_that_of_the_host_of_who_wrote(place: Path) -> None:
    own = ("[hosts.gpu]\n", '[hosts.gpu]\nrpc = "http://127.0.0.1:8547"\n')
    lost = glog("Failed to connect to Ethereum client: dial tcp: connection refused", level="E")
    for node, line in (("orch", 'rpc = "http://127.0.0.1:8547"'), ("gate", 'rpc = { env = "ARBITRUM_RPC_URL" }')):
        assert line in help_of(place, "rpc-unreachable", lost, node=node, spec=own)[1]


def test_gas_price(place: Path) -> None:
    lines = [
        glog(f"current gas price exceeds maximum gas price max=1 GWei current={gwei} GWei", level="E")
        for gwei in [*range(2, 40), 52.5]
    ]
    assert 'With max_gas_price = "52.5 gwei", all' in help_of(place, "gas-price-above-limit", *lines, node="orch")[0]


MISMATCH = "Service address https://203.0.113.7:8935 did not match discovered address {}; x"


def test_service_address(place: Path) -> None:
    line = glog(MISMATCH.format("https://203.0.113.8:8935"))
    assert 'Write service = "203.0.113.8:8935"' in help_of(place, "service-address-differs", line, node="orch")[0]
    same, given = glog(MISMATCH.format("https://orch.example.net:8935")), 'price = "1200 wei / pixel"\n'
    spec = (given, f'{given}service = "orch.example.net:8935"\n')
    help_, _ = help_of(place, "service-address-differs", same, node="orch", spec=spec)
    assert "The spec already has orch.example.net:8935: register it on the chain" in help_


@pytest.mark.parametrize(
    "address", ["https://me:a8Kd02mPqz81@203.0.113.8:8935", "a8Kd02mPqz81 is the key", "x://203.0.113.8", ""]
)
def test_address_that_is_none_is_not_repeated(address: str, place: Path) -> None:
    help_, _ = help_of(place, "service-address-differs", glog(MISMATCH.format(address)), node="orch")
    assert "rite service =" not in help_ and "a8Kd02mPqz81" not in help_


def test_port(place: Path) -> None:
    taken = "listen tcp 0.0.0.0:{}: bind: address already in use"
    help_, _ = help_of(place, "port-in-use", taken.format(1935), node="gate")
    assert "By the spec port 1935 belongs to gate (" in help_
    help_, _ = help_of(place, "port-in-use", taken.format(9999), node="gate")
    assert "By the spec no node has port 9999: another program on the host does" in help_
    for odd in ("lookup some words secret=a8Kd02mPqz81", "0.0.0.0:a8Kd02mPqz81", "0.0.0.0:123456", "[::]:http"):
        help_, _ = help_of(place, "port-in-use", f"listen tcp {odd}: bind: address already in use", node="gate")
        assert "By the spec" not in help_ and "a8Kd02mPqz81" not in help_


def test_odd_numbers_prove_nothing(place: Path) -> None:
    for face in ("NaN", "1e999999", "1e-999999", "-5", "9" * 200, "x"):
        line = glog(f"ticket faceValue {face} > max faceValue 5", level="E")
        assert "largest face value" not in help_of(place, "face-value-above-deposit", line, node="gate")[0]


# --- combinations -----------------------------------------------------------------------------------------------------


def expired(minutes: int, each: int = 2) -> list[str]:
    return [glog("TicketParams expired", f"05:{m:02}:{s:02}", "E") for m in range(minutes) for s in range(each)]


def codes(*lines: str) -> dict[str, Severity]:
    return {one.code: one.severity for one in findings(tally_of(*lines))}


def test_ticket_parameters_that_expire_all_the_time() -> None:
    quiet = [glog("hello", f"05:{m:02}:30") for m in range(60)]
    assert codes(*expired(20)) == {"ticket-params-always-expired": Severity.ERROR}
    assert codes(*expired(5), *quiet) == {"ticket-params-expired": Severity.NOTE}
    assert codes(*expired(20), *(glog("hello", f"{6 + m // 60:02}:{m % 60:02}:30") for m in range(120))) == {
        "ticket-params-expired": Severity.NOTE
    }
    assert codes(*["TicketParams expired"] * 1000) == {"ticket-params-expired": Severity.NOTE}


def test_silence_and_payments_that_fail_are_one_cause() -> None:
    assert "gateway-has-no-funds" in codes(NOBODY, UNPAID)
    assert "gateway-has-no-funds" not in codes(NOBODY)
    assert "gateway-has-no-funds" not in codes(UNPAID)
    later = glog('Could not create payment bytes=120 err="no sender deposit"', "09:00:00", "E")
    assert "gateway-has-no-funds" not in codes(NOBODY, later)


@pytest.mark.parametrize(
    "failed",
    [
        'Could not create payment err="context canceled"',
        'invalid ticket params orch=https://orch.example.net:8935 err="ticket params are odd"',
    ],
)
def test_payment_that_failed_for_another_reason_is_no_lack_of_funds(failed: str) -> None:
    assert "gateway-has-no-funds" not in codes(NOBODY, glog(failed, level="E"))


def test_silence_and_prices_above_the_cap_are_one_cause() -> None:
    assert "gateway-cap-below-every-price" in codes(NOBODY, ABOVE)
    assert "gateway-cap-below-every-price" not in codes(ABOVE)


def test_worst_come_first() -> None:
    found = codes(*[glog("Segment loop timed out; closing ")] * 9, CAPPED, UNPAID)
    assert list(found) == ["deposit-missing", "orchestrator-capped", "session-timed-out"]


# --- the command ------------------------------------------------------------------------------------------------------


def test_many_logs_are_one_report(place: Path) -> None:
    (place / "old.gz").write_bytes(gzip.compress((CAPPED + "\n").encode()))
    report = as_json(log(place, CAPPED, "hello"), "old.gz")
    assert report["findings"][0] | {"first": "", "last": ""} == {
        "code": "orchestrator-capped", "benign": False, "lines": 2, "first": "", "last": "", "minutes": 2,
        "lines_per_minute": 1.0, "log": "node.log", "line": 1,
    }  # fmt: skip
    assert report["read"]["lines"] == 3
    assert [shape["shape"] for shape in report["unknown"]] == ["hello"]
    assert report["dropped"] == {"lines": 0, "shapes": 0}


@pytest.mark.parametrize("form", ["sarif", "github", "junit"])
def test_forms_of_check(form: str, place: Path) -> None:
    run = diagnose(log(place, CAPPED, UNPAID), "--spec", ".", "--format", form)
    assert run.returncode == 1
    assert "deposit-missing" in run.stdout and "orchestrator-capped" in run.stdout


def test_nothing_found_is_said(place: Path) -> None:
    run = diagnose(log(place, "hello"))
    assert run.returncode == 0
    assert run.stdout.startswith(
        "no problems\n\nproblems: 0, harmless: 0, kinds of errors that are not understood: 0\n1 line"
    )


def test_empty_log(place: Path) -> None:
    (place / "node.log").write_bytes(b"")
    assert diagnose("node.log").stdout.startswith(
        "no problems\n\nproblems: 0, harmless: 0, kinds of errors that are not understood: 0\n0 lines, 0 bytes"
    )


def test_log_that_cannot_be_read_is_an_error_and_the_others_are_read(place: Path) -> None:
    (place / "folder").mkdir()
    run = diagnose(log(place, CAPPED), "folder", "missing.log")
    assert run.returncode == 1
    assert "error[log-not-a-file]: folder is a directory" in run.stdout
    assert "error[log-not-a-file]: cannot read missing.log: there is no such file" in run.stdout
    assert "name a file with a log, - for standard input, or HOST/NODE for the log of a node of the spec" in run.stdout
    assert "orchestrator-capped" in run.stdout


@pytest.mark.parametrize(("times", "said"), [(1, "times went back once in"), (2, "times went back 2 times in")])
def test_times_that_go_back_are_told(times: int, said: str, place: Path) -> None:
    clocks = ["06:00:00", "05:00:00"] * times
    assert said in diagnose(log(place, *(glog("hello", clock) for clock in clocks))).stdout


def test_log_that_is_cut_off_is_a_warning(place: Path) -> None:
    (place / "a.gz").write_bytes(gzip.compress((CAPPED + "\n").encode() * 50000)[:400])
    run = diagnose("a.gz")
    assert "warning[log-cut-off]: a.gz ends too early" in run.stdout
    assert "orchestrator-capped" in run.stdout


def test_usage(place: Path) -> None:
    name = log(place, CAPPED)
    alone = diagnose(name, "--node", "gate")
    assert alone.returncode == 2 and "name the spec with --spec" in alone.stderr
    unknown = diagnose(name, "--spec", ".", "--node", "gat")
    assert unknown.returncode == 2 and 'did you mean "gate"' in unknown.stderr
    (place / "fleet.toml").write_text("not toml")
    assert diagnose(name, "--spec", ".").returncode == 1


def test_nothing_of_a_log_is_printed_raw_and_no_secret_is(place: Path) -> None:
    key = "v2/a8Kd02mPqz81LwXb47TnRc55YvEe90Hs"
    hostile = "\x1b]0;title\x07\x1b[2J\u202eOrchestratorCapped\u2066 ::error::x"
    ether = f"Failed to connect to Ethereum client: https://arb.example.net/{key}: refused"
    name = log(
        place, hostile, glog(ether, level="E"), glog(f"ethUrl https://arb.example.net/{key}"), "\x1b[31mred\x9b2J"
    )
    for extra in ((), ("--spec", "."), ("--format", "json"), ("--format", "github"), ("--format", "junit")):
        run = diagnose(name, *extra)
        text = run.stdout + run.stderr
        assert "a8Kd02mPqz81LwXb47TnRc55YvEe90Hs" not in text
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u2066"} & set(text)
        assert "orchestrator-capped" in text and "rpc-unreachable" in text
