"""Loopback addresses that mean another program on each host."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, flagged, host, orchestrator, renting, runner, silent

CODE = "runner-url-of-several-hosts"


def both(url: str) -> str:
    second = orchestrator(
        "orch-b",
        host='"other"',
        mode='"ai"',
        price=None,
        secret=SECRET,
        http='"127.0.0.1:8936"',
        http_tls="false",
        runners='["echo"]',
        ticket_ev='"20 gwei"',
    )
    tables = host("other", public='"other.example.net"') + second
    return renting(runner(url=f'"{url}"', host=None, image=None, port=None), tables=(tables,))


def test_runner_on_the_loopback_of_two_hosts(snapshot: SnapshotAssertion) -> None:
    assert flagged(both("http://127.0.0.1:8000"), CODE, Severity.WARNING) == snapshot


def test_runner_at_an_address_is_one() -> None:
    assert CODE not in flagged(both("http://192.0.2.7:8000"), "runner-server-shared", Severity.WARNING)


def test_runner_on_the_loopback_of_one_host() -> None:
    silent(renting(runner(url='"http://127.0.0.1:8000"', host=None, image=None, port=None)))
