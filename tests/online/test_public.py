"""What anybody can ask of public addresses, whatever answers there: it ends in time and in little memory."""

from __future__ import annotations

import gzip
import socket
import time
import tracemalloc
from pathlib import Path

import pytest

from fleetc.online import public
from fleetc.online.public import Answer, ask_public
from tests.ill_servers import ENDLESS, ILLNESSES, NEVER_ENDS, dripping, ill, own_certificate, says, silent

pytestmark = pytest.mark.usefixtures("processes")

LIMIT = 1.0
"""Seconds for one answer, here."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public, "_ANSWER_SECONDS", LIMIT)
    monkeypatch.setattr(public, "_CONNECT_SECONDS", LIMIT)


def asked(url: str) -> Answer:
    begun = time.monotonic()
    (answer,) = ask_public([url]).values()
    assert time.monotonic() - begun < LIMIT + 5, "it ends in time"
    return answer


@pytest.mark.parametrize("tls", [False, True], ids=["", "TLS"])
@pytest.mark.parametrize("illness", ILLNESSES)
def test_every_illness_ends_as_an_answer_or_as_a_reason(illness: str, tls: bool, certificate: Path) -> None:
    """A certificate that nobody signed is what orchestrators have."""
    ask_public([])  # what is imported at first is not counted
    tracemalloc.start()
    with ill(ILLNESSES[illness], certificate if tls else None) as server:
        answer = asked(f"{server.address}/healthz")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000
    if illness in NEVER_ENDS:
        assert (answer.status, answer.refused) == (0, False)
        assert "within 1 seconds" in answer.reason
    elif answer.status:
        assert len(answer.body) <= 64 * 1024
    else:
        known = {"its answer is longer than 64 kB", "its answer is no HTTP"}
        known |= {"no whole answer within 1 seconds"} if illness in ENDLESS else set()  # on a slow machine
        assert answer.reason in known


@pytest.mark.parametrize(
    ("illness", "expected"),
    [
        ("an empty body", Answer(200)),
        ("a refusal", Answer(500, "no")),
        ("2 GB", Answer(0, reason="its answer is longer than 64 kB")),
        ("2 GB in chunks", Answer(0, reason="its answer is longer than 64 kB")),
        ("no HTTP", Answer(0, reason="its answer is no HTTP", refused=True)),
        ("nothing", Answer(0, reason="its answer is no HTTP", refused=True)),
    ],
)
def test_reasons(illness: str, expected: Answer) -> None:
    with ill(ILLNESSES[illness]) as server:
        assert asked(server.address) == expected


def test_who_is_not_there() -> None:
    with ill(silent) as server:
        place = server.place
    refused = Answer(0, reason="it refuses the connection", refused=True)
    assert ask_public([f"http://{place}/", f"https://{place}/"]) == {
        f"http://{place}/": refused,
        f"https://{place}/": refused,
    }
    for nowhere in ("https://nowhere.invalid/", "http://0.0.0.0.0/", "http://[::1]:1/"):
        answer = asked(nowhere)
        assert (answer.status, bool(answer.reason)) == (0, True)


def test_redirects_are_answers_and_nobody_follows_them() -> None:
    with ill(says(b"")) as other, ill(says(b"", "302 Found", f"Location: {other.address}/")) as server:
        assert asked(server.address).status == 302
        assert (server.asked, other.asked) == (1, 0)


def test_compressed_answers_are_not_unpacked() -> None:
    bomb = gzip.compress(b"x" * 30_000_000)
    with ill(says(bomb[:60_000], "200 OK", "Content-Encoding: gzip")) as server:
        tracemalloc.start()
        assert asked(server.address).status == 200
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 20_000_000


def test_tls_has_to_be_within_the_time_too() -> None:
    with ill(dripping(b"\x16\x03\x03\x40\x00"), greets=False) as server:
        answer = asked(f"https://{server.place}/")
    assert (answer.status, answer.refused) == (0, False)
    with ill(ILLNESSES["no HTTP"], greets=False) as server:
        assert asked(f"https://{server.place}/") == Answer(0, reason="it does not speak TLS as it should", refused=True)


def test_many_that_are_silent_end_together() -> None:
    with ill(silent) as server:
        begun = time.monotonic()
        answers = ask_public([f"{server.address}/{number}" for number in range(200)], 2.5)
    assert time.monotonic() - begun < 10
    reasons = {answer.reason for answer in answers.values()}
    assert len(answers) == 200 and {answer.status for answer in answers.values()} == {0}
    assert "nobody came to ask it within 2 seconds" in reasons


def test_proxies_and_accounts_of_whoever_asks_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said: list[bytes] = []

    def listen(peer: socket.socket) -> None:
        said.append(peer.recv(10_000))
        peer.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password CANARY\n")
    with ill(silent) as proxy, ill(listen, greets=False) as server:
        for name, value in (
            ("HTTP_PROXY", proxy.address),
            ("ALL_PROXY", proxy.address),
            ("NETRC", f"{tmp_path}/netrc"),
        ):
            monkeypatch.setenv(name, value)
        assert asked(server.address).status == 204
        assert proxy.asked == 0
    assert b"authorization" not in said[0].lower() and b"cookie" not in said[0].lower()
