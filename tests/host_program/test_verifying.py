"""What the program on hosts asks nodes for `fleetc verify`, whatever answers: it ends in time, in little memory."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.chain import ARBITRUM, running
from tests.host_program.program import Program, loaded
from tests.online.certificates import certificates
from tests.online.ill_servers import ENDLESS, ILLNESSES, NEVER_ENDS, dripping, ill, says, silent

pytestmark = pytest.mark.usefixtures("processes")

LIMIT, SHORT = 1.0, 0.4
"""Seconds for one answer, here; and where no more than that is waited for."""

LATE = "no whole answer within {:.0f} seconds"
TOO_LONG, NO_HTTP = "its answer is longer than 1024 kB", "its answer is not HTTP"
REASONS = {"2 GB": TOO_LONG, "2 GB in chunks": TOO_LONG}
REASONS |= dict.fromkeys(("no HTTP", "headers without end", "chunks that are none"), NO_HTTP)


@pytest.fixture(scope="module")
def one_program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return loaded(tmp_path_factory.mktemp("host"))


@pytest.fixture
def program(one_program: Program) -> Program:
    one_program |= {"SECONDS": LIMIT, "ALL_SECONDS": 40, "ALL_LIMIT": 8_000_000}
    return one_program


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that nobody else signed."""
    return certificates(tmp_path_factory.mktemp("certificate"))[2]


def asked(program: Program, where: str, path: str = "/status") -> dict[str, Any]:
    """What comes of a question, which ends in time."""
    begun = time.monotonic()
    found = program["answer_to"](where, path, begun + 60)
    assert time.monotonic() - begun < LIMIT + 5, "it ends in time"
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("tls", [False, True], ids=["", "TLS"])
@pytest.mark.parametrize("illness", ILLNESSES)
def test_every_illness_ends_as_an_answer_or_as_a_reason(
    illness: str, tls: bool, program: Program, certificate: Path
) -> None:
    if illness in NEVER_ENDS:
        program["SECONDS"] = SHORT
    tracemalloc.start()
    with ill(ILLNESSES[illness], certificate if tls else None) as server:
        found = asked(program, server.address)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000
    if illness in NEVER_ENDS:
        assert found == {"status": 0, "reason": LATE.format(SHORT)}
    elif illness in REASONS and not tls:
        assert found == {"status": 0, "reason": REASONS[illness]}
    elif found["status"]:
        assert isinstance(found["body"], str) and len(found["body"]) <= 1024 * 1024
    else:
        known = {"its answer is not HTTP", "its answer is longer than 1024 kB", "Connection reset by peer"}
        known |= {"it does not speak TLS as it should"} if tls else set()
        known |= {LATE.format(LIMIT)} if illness in ENDLESS else set()  # on a slow machine
        assert found["reason"] in known


def test_refusal_and_odd_places(program: Program) -> None:
    with ill(silent) as server:
        place = server.address
    assert asked(program, place) == {"status": 0, "reason": "Connection refused"}
    for odd in ("http://127.0.0.1:0x50", "http://127.0.0.1", "nonsense", "http://127.0.0.1:99999", "http://[::1"):
        assert asked(program, odd)["status"] == 0


def test_redirects_are_answers_and_nobody_follows_them(program: Program) -> None:
    with ill(says(b"secret")) as other, ill(says(b"", "302 Found", f"Location: {other.address}/status")) as server:
        assert asked(program, server.address) == {"status": 302, "body": ""}
        assert (server.asked, other.asked) == (1, 0)


@pytest.mark.parametrize("first", [b"", b"\x16\x03\x03\x40\x00"], ids=["nothing", "a record that never comes"])
def test_tls_has_to_be_within_the_time_too(first: bytes, program: Program) -> None:
    with ill(dripping(first), greets=False) as server:
        found = asked(program, server.address.replace("http:", "https:"))
    assert found == {"status": 0, "reason": LATE.format(LIMIT) if first else "it does not speak TLS as it should"}
    with ill(silent, greets=False) as server:
        found = asked(program, server.address.replace("http:", "https:"))
    assert found == {"status": 0, "reason": LATE.format(LIMIT)}


def test_who_is_told_something_hears_of_the_end_of_the_time(program: Program) -> None:
    """None is "it may still do it": a byte at a time must not look like a refusal."""
    with ill(ILLNESSES["headers a byte at a time"]) as server:
        assert program["tell"](server.address, "/power", {"action": "sleep"}, 0.5) is None
    with ill(ILLNESSES["no HTTP"]) as server:
        assert program["tell"](server.address, "/power", {}, 5) == 0


def wanted(*services: dict[str, Any]) -> dict[str, Any]:
    return {"digest": "a" * 64, "runtime": "systemd", "services": list(services), "host": "h", "fleet": "f"}


def request(program: Program, questions: list[dict[str, Any]], needs: tuple[dict[str, Any], ...] = ()) -> Any:
    given = {"format": 1, "do": "verify", "wanted": wanted(), "needs": list(needs), "questions": questions}
    return program["answer"](given)


def questions_to(where: str, count: int) -> list[dict[str, Any]]:
    return [{"id": str(number), "where": where, "path": "/status", "metrics": []} for number in range(count)]


def test_one_host_has_one_limit_of_time(program: Program) -> None:
    program["ALL_SECONDS"] = 1.5
    with ill(silent) as server:
        begun = time.monotonic()
        found = request(program, questions_to(server.address, 200))
    assert time.monotonic() - begun < 10
    reasons = {one["reason"] for one in found["answers"].values()}
    assert found["ok"] and len(found["answers"]) == 200
    assert reasons == {LATE.format(LIMIT), "others took all the 1 seconds of this host"}


def test_all_answers_together_have_a_limit_of_size(program: Program) -> None:
    program["ALL_LIMIT"] = 1_000_000
    with ill(says(b"x" * 200_000)) as server:
        found = request(program, questions_to(server.address, 30))
    bodies = sum(len(one.get("body", "")) for one in found["answers"].values())
    assert found["ok"] and 0 < bodies <= 1_000_000
    assert {one["status"] for one in found["answers"].values()} == {0, 200}


def test_of_metrics_only_those_that_are_named_are_handed_on(program: Program) -> None:
    text = "# HELP a_b x\n# TYPE a_b gauge\n" + 'a_b{x="1"} 7\n' + "other 1\n" * 200_000 + "a_b_c 3"
    with ill(says(text.encode())) as server:
        found = program["answer_to"](server.address, "/metrics", time.monotonic() + 60, ["a_b"])
        assert found == {"status": 200, "body": 'a_b{x="1"} 7\na_b_c 3'}
        assert asked(program, server.address)["reason"] == "its answer is longer than 1024 kB"
    with ill(says(b"x" * 5_000_000)) as server:
        found = program["answer_to"](server.address, "/metrics", time.monotonic() + 60, ["a_b"])
        assert found["status"] == 0, "it was not read to the end"


# The chain.

PAYER = "0x" + "Ab" * 20


def node_with_secret(program: Program, kind: str, address: str) -> dict[str, Any]:
    """A node whose release, which is here, has an address of the chain among its secrets; as a release wants it."""
    place = Path(program["CURRENT"], "gate/secrets")
    place.mkdir(parents=True)
    (place / "secrets.env").write_text(f'LP_ETHURL="{address}"\nOTHER="x"\n')
    secret = {"variable": "LP_ETHURL", "kind": kind, "reference": "RPC"}
    return {"name": "gate", "digest": "b" * 64, "secrets": [secret], "exclusive": []}


@pytest.mark.parametrize("kind", ["env", "vault"])
def test_the_chain_is_asked_with_the_secrets_that_lie_here(kind: str, tmp_path: Path) -> None:
    program = loaded(tmp_path)
    with running() as chain:
        chain.deploy()
        chain.set_balance(PAYER, 10**16)
        chain.set_sender(PAYER, 10**17, 0)
        chain.set_registration(PAYER, True, "https://orch.example.net:8935")
        service = node_with_secret(program, kind, chain.url)
        common = {"nodes": ["gate"], "chain_id": str(ARBITRUM), "kind": kind, "rpc": "RPC", "variable": "LP_ETHURL"}
        common |= {"controller": chain.controller}
        needs = (
            {**common, "need": "rpc", "subject": ""},
            {
                **common, "need": "wallet", "subject": PAYER, "minimum": str(10**17), "sends": "", "pays": "yes",
                "deposit": str(10**18), "deposit_low": str(10**18 // 4), "reserve": "", "reserve_low": "",
            },
            {**common, "need": "registration", "nodes": ["orch", "gate"], "subject": PAYER, "registry": ""},
            {"need": "docker", "nodes": ["gate"], "subject": "nobody asks this while nodes run"},
        )  # fmt: skip
        asked = {
            "format": 1, "do": "verify", "needs": list(needs), "questions": [],
            "wanted": {**wanted(service), "services": [service]},
        }  # fmt: skip
        found = program["answer"](asked)
        assert found["ok"], found
        assert {one["code"]: one["severity"] for one in found["findings"]} == {
            "wallet-balance-low": "warning", "deposit-low": "warning", "reserve-low": "warning",
        }  # fmt: skip
        told = {"nodes": ["orch", "gate"], "active": True, "address": "https://orch.example.net:8935"}
        assert found["registrations"] == [told]
        chain.set_balance(PAYER, 10**18)
        chain.set_sender(PAYER, 10**18, 10**18)
        assert program["answer"](asked)["findings"] == []
        assert chain.url not in str(found)
    silent = program["answer"](asked)
    (unanswered,) = silent["findings"]
    assert unanswered["code"] == "rpc-answers" and "does not answer" in unanswered["message"]
    assert silent["registrations"] == []


def test_a_chain_that_nobody_can_ask_is_unknown(program: Program) -> None:
    need = {"need": "rpc", "nodes": ["gate"], "subject": "", "chain_id": "1", "kind": "env", "rpc": "RPC"}
    need |= {"variable": "LP_ETHURL", "controller": ""}
    (found,) = request(program, [], (need,))["findings"]
    assert (found["code"], found["node"]) == ("rpc-answers", "gate")
    assert "no node here runs with an address in LP_ETHURL, from env RPC" in found["message"]


# One change by hand is one thing.

FILES, SECRETS_CHANGED = "files of its release were changed: node.env", "its secrets were changed on the host"
UNIT, NOT_READ = "its unit has additions: /etc/x.conf", "systemd has not read its unit again"
ARGUMENTS = "its process has other arguments: -maxSessions is 3 instead of 10"
ENVIRONMENT = "its process has another LP_ETHURL in its environment"
SESSIONS, PRICE = "it says that maxSessions is 3 instead of 10", "it says that pricePerUnit is 1 instead of 2"
READ_TOO = [{"node": "a", "variable": "LP_X", "overridden": False}, {"node": "a", "variable": "Y", "overridden": True}]


@pytest.mark.parametrize(
    ("drift", "settings", "told", "left"),
    [
        ([], [], [], 0),
        ([], READ_TOO, [], 2),
        ([SECRETS_CHANGED, ENVIRONMENT], [], [SECRETS_CHANGED], 0),
        ([FILES, ENVIRONMENT], [], [FILES], 0),
        ([ENVIRONMENT], [], [ENVIRONMENT], 0),
        ([NOT_READ], [], [NOT_READ], 0),
        ([UNIT, ENVIRONMENT], [], [f"{UNIT}, and {ENVIRONMENT}"], 0),
        ([UNIT, NOT_READ], READ_TOO, [f"{UNIT}, and {NOT_READ}, and its process also reads LP_X"], 0),
        ([FILES, SECRETS_CHANGED], [], [FILES, SECRETS_CHANGED], 0),
    ],
)
def test_what_a_change_leads_to_is_told_with_it(
    program: Program, drift: list[str], settings: list[dict[str, Any]], told: list[str], left: int
) -> None:
    process, settings = {"drift": list(drift), "was_set": [SESSIONS]}, list(settings)
    program["tell_once"](process, settings)
    assert (process["drift"], len(settings), process["was_set"]) == (told, left, [SESSIONS])


def test_an_argument_is_not_told_again_as_a_setting(program: Program) -> None:
    process = {"drift": [ARGUMENTS], "was_set": [SESSIONS, PRICE]}
    program["tell_once"](process, [])
    assert process == {"drift": [ARGUMENTS], "was_set": [PRICE]}


@pytest.mark.parametrize(
    ("words", "reward"),
    [
        (("-ethAcctAddr", PAYER, "-reward=true"), True),
        ((f"--ethAcctAddr={PAYER[2:]}", "-reward"), True),
        ((f"-ethAcctAddr={PAYER.lower()}", "-reward=false"), False),
    ],
)
def test_a_second_process_with_an_account_is_told(program: Program, words: tuple[str, ...], reward: bool) -> None:
    command = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)", *words, "-end"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None and other.stdout.readline()
            assert PAYER.lower() not in str(program["strangers"](set(), {str(other.pid)}))
            strangers = [one for one in program["strangers"](set(), set()) if one["account"] == PAYER.lower()]
        finally:
            other.kill()
    ((what, told),) = [(one["what"], one["reward"]) for one in strangers]
    assert what.startswith(f"the process {Path(sys.executable).name} {other.pid}") and told is reward


def test_a_unit_that_starts_at_boot_is_told_and_those_of_the_fleet_are_not(
    tmp_path: Path,
) -> None:
    program = loaded(tmp_path)
    units = Path(program["UNITS"])
    units.mkdir(parents=True)
    for name in ("livepeer-gate", "other", "asleep"):
        (units / f"{name}.service").write_text(f"[Service]\nExecStart=/x -ethAcctAddr {PAYER} \\\n  -reward\n")
    asked: list[str] = []

    def enabled(*words: str, **_: object) -> object:
        asked.append(words[-1])
        return program["Done"](0, "static" if "asleep" in words[-1] else "enabled", "")

    program["run"] = enabled
    found = [one for one in program["strangers"]({"gate"}, set()) if one["account"] == PAYER.lower()]
    assert found == [
        {"what": "the unit other.service, which starts at the next boot,", "account": PAYER.lower(), "reward": True}
    ]
    assert {"asleep.service", "other.service"} <= {*asked}
