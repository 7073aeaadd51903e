"""Offers that lead to one server."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, flagged, orchestrator, renting, runner, silent, wallet

CODE = "runner-server-shared"


OUTSIDE = {"host": None, "image": None, "port": None}


def test_two_runners_on_one_server(snapshot: SnapshotAssertion) -> None:
    flux = runner("flux", url='"http://edge.example.net:8989/flux"', capacity="3", **OUTSIDE)
    text = renting(runner(path='"/echo"'), flux, runners='["echo", "flux"]')
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_one_runner_at_two_orchestrators(snapshot: SnapshotAssertion) -> None:
    second = orchestrator(
        "other",
        mode='"ai"',
        price=None,
        secret=SECRET,
        runners='["echo"]',
        wallet='"third"',
        service='"orch.example.net:8945"',
        http='"127.0.0.1:8945"',
        cli='"127.0.0.1:7945"',
        http_tls="false",
        ticket_ev='"20 gwei"',
    )
    text = renting(tables=(wallet(), second, runner()), rates=True)
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_a_loopback_address_is_that_of_the_orchestrator() -> None:
    first = runner("one", url='"http://127.0.0.1:8989/a"', health='"/up"', **OUTSIDE)
    second = runner("two", url='"http://localhost:8989/b"', health='"/up"', **OUTSIDE)
    assert "2 offers" in flagged(renting(first, second, runners='["one", "two"]'), CODE, Severity.WARNING)


def test_two_ports_are_two_servers() -> None:
    silent(renting(runner(), runner("tiles", port="8990"), runners='["echo", "tiles"]'))
