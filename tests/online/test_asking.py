"""What the stream API can answer, over real sockets: every kind, every fault, and the bounds that hold all the same."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fleetc.online.asking import ask as ask_one
from fleetc.online.http import Failure, Limits, Service, connected
from fleetc.stream_api.data import Report
from fleetc.stream_api.ids import Known
from fleetc.stream_api.report import all_as_text
from fleetc.text.masking import Mask
from tests.language.stream_fields import ANSWERED, ROWS
from tests.language.test_stream_fields import _with
from tests.online.certificates import certificates
from tests.online.ill_servers import ILLNESSES, Speaks, ill, silent
from tests.online.support import TOKEN, Api, asked, running
from tests.standin.stream_api import FAULTS
from tests.stream_api.support import planned

QUICK = Limits(tries=1, answer_seconds=2.0, total_seconds=20.0)
PLAN = planned({})


def ask(api: Api, stream_id: str, limits: Limits = QUICK, token: str = TOKEN) -> Report:
    """The report about the stream `main`, known by an id."""
    (report,) = asyncio.run(asked(api.base_url, [PLAN], {"main": Known(stream_id)}, limits, token=token))
    return report


KINDS = {
    "fault-html": ("invalid_response", "a page for people"),
    "fault-empty": ("invalid_response", "it is empty"),
    "fault-error-inside": ("invalid_response", "status 200, although it is an error"),
    "fault-numbers-as-text": ("invalid_response", "createdAt: should be a number"),
    "fault-list": ("invalid_response", "it is a list"),
    "fault-other-id": ("invalid_response", "another id"),
    "fault-session": ("not_a_stream", "parentId"),
    "fault-not-utf8": ("invalid_response", "not UTF-8, from byte 10 on"),
    "fault-deep": ("invalid_response", "nested more deeply"),
    "fault-gzip": ("unreachable", "compressed"),
    "fault-2-gb": ("unreachable", "larger than 1048576 bytes"),
    "fault-drip": ("unreachable", "no whole answer within 2 s"),
    "fault-silent": ("unreachable", "no whole answer within 2 s"),
    "fault-cut": ("unreachable", "broke off"),
    "fault-not-http": ("unreachable", "not HTTP"),
    "fault-redirect": ("unreachable", "status 302: it redirects"),
    "fault-400": ("unreachable", "status 400: id was not provided"),
    "fault-401": ("unreachable", "status 401: the service refuses the credential"),
    "fault-403": ("unreachable", "status 403: this key must not"),
    "fault-404": ("missing", "status 404: not found"),
    "fault-422": ("unreachable", "status 422: "),
    "fault-423": ("unreachable", "status 423: locked"),
    "fault-429": ("unreachable", "status 429: too many requests"),
    "fault-500": ("unreachable", "status 500: server error"),
    "fault-502": ("unreachable", "status 502: unparseable error body"),
    "fault-503": ("unreachable", "status 503: unparseable error body"),
    "fault-echo-200": ("invalid_response", "kind: input should be a valid string"),
    "fault-echo-500": ("unreachable", "status 500: "),
    "fault-errors-empty": ("unreachable", "status 400: unparseable error body"),
    "fault-errors-absent": ("unreachable", "status 400: unparseable error body"),
}


def test_every_fault_is_tried() -> None:
    assert KINDS.keys() == FAULTS.keys() - {"fault-busy-twice", "fault-slow"}


@pytest.mark.parametrize("fault", KINDS)
def test_every_fault_has_a_reason_without_the_token(api: Api, fault: str) -> None:
    began = time.monotonic()
    report = ask(api, fault)
    kind, reason = KINDS[fault]
    assert (report.kind, report.drifts, report.steps) == (kind, (), ())
    assert reason in " ".join(report.reasons), report.reasons
    assert time.monotonic() - began < 15, "it ends by itself"
    printed = Mask([TOKEN]).masked(all_as_text([report], None))
    for start in range(len(TOKEN) - 7):
        assert TOKEN[start : start + 8] not in printed


def test_refused_token_is_not_repeated(api: Api) -> None:
    report = ask(api, "any", token="wrong-0123456789abcdef")
    assert report.kind == "unreachable"
    assert report.reasons == ("status 401: the service refuses the credential",)


def test_redirect_is_not_followed(api: Api) -> None:
    before = len(api.log())
    ask(api, "fault-redirect")
    assert [seen["path"] for seen in api.log()[before:]] == ["/api/stream/fault-redirect"]


def test_two_gigabytes_stay_outside(api: Api) -> None:
    ask(api, "any")  # what is imported at first is not counted
    tracemalloc.start()
    ask(api, "fault-2-gb")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000


@pytest.mark.parametrize(
    ("stream_id", "path"),
    [
        ("a/b", "/api/stream/a%2Fb"),
        ("../user", "/api/stream/..%2Fuser"),
        ("a?b#c", "/api/stream/a%3Fb%23c"),
        ("ü b", "/api/stream/%C3%BC%20b"),
        ("%2e%2e", "/api/stream/%252e%252e"),
        ("a;b&c=d", "/api/stream/a%3Bb%26c%3Dd"),
    ],
)
def test_id_is_one_part_of_the_path(api: Api, stream_id: str, path: str) -> None:
    assert ask(api, stream_id).kind == "missing"
    assert api.log()[-1]["path"] == path
    assert api.log()[-1]["token"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("fault", ["fault-500", "fault-502", "fault-503", "fault-cut", "fault-not-http"])
def test_question_is_repeated_after_a_passing_failure(api: Api, fault: str) -> None:
    before = len(api.log())
    ask(api, fault, Limits(tries=3, answer_seconds=2.0, total_seconds=20.0))
    times = [seen["at"] for seen in api.log()[before:]]
    assert len(times) == 3
    assert times[1] - times[0] >= 0.25 and times[2] - times[1] >= 0.5, "and each time later"


@pytest.mark.parametrize("fault", ["fault-400", "fault-401", "fault-403", "fault-404", "fault-422", "fault-redirect"])
def test_question_is_not_repeated_after_a_refusal(api: Api, fault: str) -> None:
    before = len(api.log())
    ask(api, fault, Limits(tries=4))
    assert len(api.log()) == before + 1


def test_retry_after_is_respected(api: Api) -> None:
    before = len(api.log())
    report = ask(api, "fault-busy-twice", Limits(tries=4, total_seconds=30.0))
    times = [seen["at"] for seen in api.log()[before:]]
    assert report.kind == "in_sync", report
    assert len(times) == 3
    assert all(after - there >= 1 for there, after in pairwise(times))


def test_long_retry_after_is_not_waited_for(api: Api) -> None:
    before = len(api.log())
    assert ask(api, "fault-429", Limits(tries=4)).kind == "unreachable"
    assert len(api.log()) == before + 1


def test_one_limit_holds_for_everything(api: Api) -> None:
    began = time.monotonic()
    limits = Limits(at_once=4, tries=4, answer_seconds=2.0, total_seconds=3.0)
    reports = asyncio.run(asked(api.base_url, [PLAN] * 40, {"main": Known("fault-silent")}, limits))
    assert time.monotonic() - began < 8
    assert {report.kind for report in reports} == {"unreachable"}
    assert any("time limit of 3 s" in report.reasons[0] for report in reports)


def test_requests_at_once_are_bounded(api: Api) -> None:
    before = len(api.log())
    reports = asyncio.run(asked(api.base_url, [PLAN] * 30, {"main": Known("fault-slow")}, Limits(at_once=3)))
    assert {report.kind for report in reports} == {"in_sync"}
    seen = api.log()[before:]
    assert (len(seen), max(row.get("active", 0) for row in seen)) == (30, 3)


def test_nobody_listens() -> None:
    limits = Limits(tries=2, total_seconds=10.0)
    (report,) = asyncio.run(asked("http://127.0.0.1:9/api", [PLAN], {"main": Known("a")}, limits))
    assert report.kind == "unreachable"
    assert "no connection" in report.reasons[0]


def test_unknown_streams_are_not_asked_about(api: Api) -> None:
    before = len(api.log())
    (absent,) = asyncio.run(asked(api.base_url, [PLAN], {}, QUICK))
    assert (absent.kind, [step.method for step in absent.steps]) == ("missing", ["POST"])
    (lost,) = asyncio.run(asked(api.base_url, [PLAN], {"main": Known(None)}, QUICK))
    assert (lost.kind, lost.steps) == ("unknown", ())
    assert len(api.log()) == before


@pytest.mark.usefixtures("processes")
def test_certificate_must_be_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, server, alone = certificates(tmp_path)
    with running("--certificate", str(server)) as api:
        assert api.base_url.startswith("https://")
        refused = ask(api, "fault-404", Limits(tries=3))
        assert refused.kind == "unreachable"
        assert refused.reasons[0].startswith("its certificate is not trusted: ")
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        assert ask(api, "fault-404").kind == "missing"
    with running("--certificate", str(alone)) as api:
        assert "its certificate is not trusted: self" in ask(api, "fault-404").reasons[0]


@pytest.mark.usefixtures("processes")
def test_proxy_of_the_environment_gets_no_plain_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with running() as api:
        assert ask(api, "fault-404").kind == "missing"
    assert os.environ["HTTP_PROXY"]


def _rows() -> list[tuple[str, Any, bool]]:
    """A value of every field that an answer can have, and one that it cannot: the stream resource and its limits."""
    return [
        (row.path, value, good)
        for row in ROWS
        for values, good in ((row.good, True), (row.bad, False))
        for value in values
        if row.path not in ("id", "parentId") and _is_json(value)
    ]


def _is_json(value: Any) -> bool:
    return not re.search("Decimal", repr(value))


def test_every_field_of_the_resource_over_a_real_connection(api: Api) -> None:
    cases = _rows()
    assert len(cases) > 400
    streams = [{**_with(ANSWERED, path, value), "id": f"row-{n}"} for n, (path, value, _) in enumerate(cases)]
    for start in range(0, len(streams), 200):
        api.put(*streams[start : start + 200])

    async def kinds_of_all() -> list[str]:
        async with connected(Service(api.base_url, TOKEN), Limits()) as client:
            return [(await ask_one(client, PLAN, Known(f"row-{n}"), {})).kind for n in range(len(cases))]

    kinds = asyncio.run(kinds_of_all())
    wrong = [
        (path, value, kind)
        for (path, value, good), kind in zip(cases, kinds, strict=True)
        if (kind == "invalid_response") == good
    ]
    assert wrong == []


def sent_once(base_url: str) -> Any:
    """What became of one request that changes something."""

    async def send() -> Any:
        async with connected(Service(base_url, TOKEN), Limits(answer_seconds=0.5)) as client:
            return await client.send("POST", "/stream", b"{}")

    return asyncio.run(send())


def takes_and(speak: Speaks) -> Speaks:
    """Takes the whole request, then speaks, and leaves it to the other side to end."""

    def taken(peer: socket.socket) -> None:
        speak(peer)
        silent(peer)

    return taken


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("illness", ILLNESSES)
def test_request_that_was_taken_is_never_called_unsent(
    illness: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who believes that nothing was sent sends it again, and has two streams."""
    authority, server, _ = certificates(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    for certificate in (None, server):
        with ill(takes_and(ILLNESSES[illness]), certificate) as one:
            found = sent_once(one.address)
            assert one.asked == 1
        assert not isinstance(found, Failure) or found.sent, found


def test_request_that_reaches_nobody_is_called_unsent() -> None:
    found = sent_once("http://127.0.0.1:9")
    assert isinstance(found, Failure) and not found.sent
    with ill(ILLNESSES["no HTTP"], greets=False) as server:
        found = sent_once(f"https://{server.place}")
    assert isinstance(found, Failure) and not found.sent


def test_cookies_are_not_kept() -> None:
    said: list[bytes] = []

    def listen(peer: socket.socket) -> None:
        said.append(peer.recv(10_000))
        peer.sendall(b"HTTP/1.1 404 Not Found\r\nSet-Cookie: id=1; Path=/\r\nConnection: close\r\n\r\n")

    async def ask_twice(base_url: str) -> None:
        async with connected(Service(base_url, TOKEN), QUICK) as client:
            await client.get("/stream/a")
            await client.get("/stream/b")

    with ill(listen, greets=False) as server:
        asyncio.run(ask_twice(server.address))
    assert [b"cookie" in one.lower() for one in said] == [False, False]
