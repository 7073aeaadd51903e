"""Lists of live runners that an orchestrator takes while it runs, and those for which it has to be restarted.

The program, its files and the stand-in node are those of `test_live.py`; the runners are a stand-in of this file, which
the stand-in node really asks for their health.
"""

from __future__ import annotations

import json
import ssl
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.test_live import Machine, Make
from tests.host_program.test_live import binary as binary
from tests.host_program.test_live import make as make
from tests.host_program.test_live import place as place
from tests.host_program.test_live import pytestmark as pytestmark

RUNNER = """
[runners.{name}]
url = "http://127.0.0.1:{port}"
app = "example/{name}"
price = "0.10 USD / hour"
health = "/health"
"""


class StandInRunner(BaseHTTPRequestHandler):
    """Answers 200 at /health, 204 at /up and 404 elsewhere."""

    def do_GET(self) -> None:
        self.send_response({"/health": 200, "/up": 204}.get(self.path, 404))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), StandInRunner) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


class Renting:
    """A host whose orchestrator lists the runner echo, and what it offers to clients."""

    def __init__(self, machine: Machine, port: int, live: str = "try") -> None:
        self.machine, self.port = machine, port
        tables = '\n[rates]\nUSD = "0.0004 ETH"\n' + RUNNER.format(name="echo", port=port)
        listed = 'runners = ["echo"]\nsecret = { env = "JOIN" }\nticket_ev = "20 gwei"\nprice = "1200 wei'
        self.spec = machine.spec.replace('price = "1200 wei', listed, 1).replace('live = "try"', f'live = "{live}"')
        self.spec += tables
        switch = machine.roll_out(self.spec)
        assert switch["phase"] == "healthy", switch["reasons"]
        self.starts = dict(machine.starts)

    def edited(self, old: str, new: str) -> str:
        assert self.spec.count(old) == 1, old
        return self.spec.replace(old, new)

    def added(self) -> str:
        """The spec with a second runner."""
        more = RUNNER.format(name="flux", port=self.port)
        return self.edited('["echo"]', '["echo", "flux"]') + more

    def offered(self) -> dict[str, Any]:
        """What clients find, by app."""
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        where = f"https://127.0.0.1:{self.machine.ports['orch_http']}/discovery"
        with urllib.request.urlopen(where, timeout=5, context=trusting) as answer:
            return {one["app"]: one for told in json.load(answer) for one in told.get("runners", ())}


@pytest.fixture
def renting(make: Make, port: int) -> Renting:
    return Renting(make(), port)


def wei_of(usd: str) -> dict[str, Any]:
    """What the stand-in says of a price by the hour: wei by the second, at 2,000 USD an ether."""
    return {"price": int(Fraction(usd) / 3600 / 2000 * 10**18), "currency": "wei", "unit": "seconds"}


EDITS = {
    "price": ('"0.10 USD / hour"', '"0.20 USD / hour"', ("price_info", wei_of("0.2"))),
    "capacity": ('"0.10 USD / hour"', '"0.10 USD / hour"\ncapacity = 4', ("capacity", 4)),
    "version": ('"0.10 USD / hour"', '"0.10 USD / hour"\nversion = "2.0"', ("version", "2.0")),
    "metadata": ('"0.10 USD / hour"', '"0.10 USD / hour"\nmetadata = "a=b"', ("metadata", "a=b")),
    "health": ('"/health"', '"/up"\nhealth_status = 204', ("app", "example/echo")),
    "url": ('"\napp = "example/echo"', '/v1"\napp = "example/echo"\n', None),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_entry_changes_without_a_restart_and_stays_so_after_one(renting: Renting, name: str) -> None:
    old, new, told = EDITS[name]
    text = renting.edited(old, new)
    step = renting.machine.steps(text)["orch"]
    assert step.startswith("live: it takes liveRunnerConfig echo label persistent=") and step.endswith(" while it runs")
    switch = renting.machine.roll_out(text)
    assert (switch["phase"], switch["restarted"], switch["live"]) == ("healthy", [], ["orch"]), switch
    assert renting.machine.starts == renting.starts
    offered = renting.offered()
    renting.machine.is_whole(text)
    renting.machine.restart("orch")
    assert renting.offered() == offered
    if told is None:
        assert offered == {}, "at its new URL it does not answer, so it is hidden"
    else:
        assert offered["example/echo"][told[0]] == told[1]
    renting.machine.is_whole(text)


def test_a_new_entry_is_offered_without_a_restart_and_its_removal_is_one(renting: Renting) -> None:
    text = renting.added()
    switch = renting.machine.roll_out(text)
    assert (switch["restarted"], switch["live"]) == ([], ["orch"])
    assert set(renting.offered()) == {"example/echo", "example/flux"}
    renting.machine.is_whole(text)
    assert renting.machine.steps(renting.spec)["orch"] == "restart: its files change"
    assert renting.machine.roll_out(renting.spec)["restarted"] == ["orch"]
    assert set(renting.offered()) == {"example/echo"}
    renting.machine.is_whole(renting.spec)


RESTARTS = {
    "label": ("runners.echo]", "runners.ekko]"),
    "routing": ('health = "/health"', 'health = "/health"\nrouting = "runner-id"'),
    "mode": ('health = "/health"', 'health = "/health"\nmode = "single-shot"'),
    "proxy": ('health = "/health"', 'health = "/health"\nproxy = true'),
    "another flag as well": ('ticket_ev = "20 gwei"', 'ticket_ev = "21 gwei"'),
}


@pytest.mark.parametrize("name", RESTARTS)
def test_what_clients_reach_a_runner_by_changes_with_a_restart(renting: Renting, name: str) -> None:
    old, new = RESTARTS[name]
    text = renting.edited(old, new).replace('"0.10 USD', '"0.30 USD')
    text = text.replace('["echo"]', '["ekko"]') if name == "label" else text
    assert renting.machine.steps(text)["orch"] == "restart: its files change"
    assert renting.machine.roll_out(text)["restarted"] == ["orch"]
    assert renting.offered()["example/echo"]["price_info"] == wei_of("0.3")
    renting.machine.is_whole(text)


def test_the_first_runner_of_an_orchestrator_is_a_restart(make: Make, port: int) -> None:
    machine = make()
    assert Renting(machine, port).starts == {"orch": 2, "gate": 1}


def spoiled(renting: Renting, answer: tuple[int, bytes]) -> None:
    """The node takes the list, and something else comes back."""
    send = renting.machine.program["send"]

    def sent(*words: Any) -> tuple[int, bytes]:
        send(*words)
        return answer

    renting.machine.program["send"] = sent


OUTCOMES = {
    "refused": (None, "it answers 500 to /registerLiveRunners"),
    "no answer": ((0, b""), "it answers nothing to /registerLiveRunners"),
    "nonsense": ((200, b"[[]]"), "it answers nonsense to /registerLiveRunners"),
    "without it": ((200, b'{"runners": []}'), "it answers /registerLiveRunners without the app of live runner echo"),
    "elsewhere": (
        (200, b'{"runners": [{"label": "echo", "app": "example/echo", "runner_url": "http://192.0.2.1"}]}'),
        "it answers /registerLiveRunners without the runner_url of live runner echo",
    ),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("live", ["try", "only"])
def test_an_orchestrator_that_does_not_take_its_list_is_restarted_or_goes_back(
    make: Make, port: int, outcome: str, live: str
) -> None:
    renting = Renting(make(), port, live)
    text = renting.edited('"0.10 USD', '"0.20 USD')
    answer, why = OUTCOMES[outcome]
    send = renting.machine.program["send"]
    if answer is None:
        renting.machine.ill("orch", "refuse")
    else:
        spoiled(renting, answer)
    switch = renting.machine.roll_out(text)
    lines = [json.loads(line) for line in Path(renting.machine.program["JOURNAL"]).read_text().splitlines()]
    assert [line["why"] for line in lines if line["what"] == "not-live"][:1] == [why]
    with suppress(FileNotFoundError):
        renting.machine.well("orch")
    renting.machine.program["send"] = send
    asks = renting.offered()["example/echo"]["price_info"]
    assert (switch["phase"], asks) == (("healthy", wei_of("0.2")) if live == "try" else ("reverted", wei_of("0.1")))
    renting.machine.is_whole(text if live == "try" else renting.spec)


def test_of_two_runners_one_that_is_unwell_stays_hidden_and_stops_nothing(renting: Renting) -> None:
    text = renting.added().removesuffix(RUNNER.format(name="flux", port=renting.port))
    text += RUNNER.format(name="flux", port=1)
    assert renting.machine.roll_out(text)["restarted"] == []
    assert set(renting.offered()) == {"example/echo"}
    renting.machine.is_whole(text)
