"""What anybody can ask of public addresses, whatever answers there: it ends in time and in little memory."""

from __future__ import annotations

import gzip
import socket
import time
import tracemalloc
from pathlib import Path

import pytest

from fleetc.online import public
from fleetc.online.public import UrlAnswer, ask_public
from tests.online.certificates import certificates
from tests.online.ill_servers import ILLNESSES, NEVER_ENDS, dripping, ill, says, silent

pytestmark = pytest.mark.usefixtures("processes")

LIMIT, SHORT = 1.0, 0.4
"""Seconds for one answer, here; and where no more than that is waited for."""

NEVER_SAYS = set(NEVER_ENDS) - {"a body a byte at a time"}
"""Those that never come to the end of their headers."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that nobody else signed."""
    return certificates(tmp_path_factory.mktemp("certificate"))[2]


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public, "_ANSWER_SECONDS", LIMIT)
    monkeypatch.setattr(public, "_CONNECT_SECONDS", LIMIT)


def asked(url: str) -> UrlAnswer:
    begun = time.monotonic()
    (answer,) = ask_public([url]).values()
    assert time.monotonic() - begun < LIMIT + 5, "it ends in time"
    return answer


@pytest.mark.parametrize("tls", [False, True], ids=["", "TLS"])
@pytest.mark.parametrize("illness", ILLNESSES)
def test_every_illness_ends_as_an_answer_or_as_a_reason(
    illness: str, tls: bool, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate that nobody signed is what orchestrators have."""
    if illness in NEVER_ENDS:
        monkeypatch.setattr(public, "_ANSWER_SECONDS", SHORT)
    ask_public([])  # what is imported at first is not counted
    tracemalloc.start()
    with ill(ILLNESSES[illness], certificate if tls else None) as server:
        answer = asked(f"{server.address}/healthz")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000
    assert answer.connected
    if illness in NEVER_SAYS:
        assert (answer.status, answer.refused) == (0, False)
        assert answer.reason == f"no answer within {SHORT:.0f} seconds"
    elif not answer.status:
        assert answer.reason in {"its answer is not HTTP", "the connection broke off", "no answer within 1 seconds"}


@pytest.mark.parametrize(
    ("illness", "expected"),
    [
        ("an empty body", UrlAnswer(200, connected=True)),
        ("a refusal", UrlAnswer(500, connected=True)),
        ("2 GB", UrlAnswer(200, connected=True)),
        ("2 GB in chunks", UrlAnswer(200, connected=True)),
        ("a body a byte at a time", UrlAnswer(200, connected=True)),
        ("no HTTP", UrlAnswer(0, "its answer is not HTTP", refused=True, connected=True)),
        ("nothing", UrlAnswer(0, "its answer is not HTTP", refused=True, connected=True)),
        ("silence", UrlAnswer(0, "no answer within 1 seconds", connected=True)),
    ],
)
def test_reasons(illness: str, expected: UrlAnswer) -> None:
    with ill(ILLNESSES[illness]) as server:
        assert asked(server.address) == expected


def test_address_where_nobody_listens_says_why() -> None:
    with ill(silent) as server:
        place = server.place
    refused = UrlAnswer(0, "it refuses the connection", refused=True)
    assert ask_public([f"http://{place}/", f"https://{place}/"]) == {
        f"http://{place}/": refused,
        f"https://{place}/": refused,
    }
    for nowhere in ("https://nowhere.invalid/", "http://0.0.0.0.0/", "http://[::1]:1/"):
        answer = asked(nowhere)
        assert (answer.status, answer.connected, bool(answer.reason)) == (0, False, True)
    for wrong in ("http://[::1/", "ftp://127.0.0.1/"):
        assert asked(wrong) == UrlAnswer(0, "it is not an address that can be asked")


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
        refused = UrlAnswer(0, "it does not speak TLS as it should", refused=True, connected=True)
        assert asked(f"https://{server.place}/") == refused


def test_many_that_are_silent_end_together() -> None:
    with ill(silent) as server:
        begun = time.monotonic()
        answers = ask_public([f"{server.address}/{number}" for number in range(200)], 2.5)
    assert time.monotonic() - begun < 10
    reasons = {answer.reason for answer in answers.values()}
    assert len(answers) == 200 and {answer.status for answer in answers.values()} == {0}
    assert {
        "it had not answered when the 2 seconds for all addresses were over",
        "the 2 seconds for all addresses were over before its turn came",
    } <= reasons


def test_proxies_and_accounts_of_whoever_asks_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said: list[bytes] = []

    def listen(peer: socket.socket) -> None:
        said.append(peer.recv(10_000))
        peer.sendall(b"HTTP/1.1 204 No Content\r\nSet-Cookie: id=1\r\nConnection: close\r\n\r\n")

    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password CANARY\n")
    with ill(silent) as proxy, ill(listen, greets=False) as server:
        for name, value in (
            ("HTTP_PROXY", proxy.address),
            ("ALL_PROXY", proxy.address),
            ("NETRC", f"{tmp_path}/netrc"),
        ):
            monkeypatch.setenv(name, value)
        answers = ask_public([f"{server.address}/{number}" for number in range(40)])
        assert {answer.status for answer in answers.values()} == {204}
        assert proxy.asked == 0
    assert len(said) == 40
    assert not any(word in one.lower() for one in said for word in (b"authorization", b"cookie"))
