"""What a review says of live runners: what one earns, takes and opens, what restarts, and what a node is only sent."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fleetc.review.data import Review
from tests.review.support import review
from tests.rules.support import host, renting, runner, signer, wallet

BOX = host(
    "box",
    public='"box.example.net"',
    runtime='"docker"',
    gpus='[{ model = "RTX 4090", memory = "24 GiB" }, { model = "RTX 4090", memory = "24 GiB" }]',
)
ECHO = {"host": '"box"', "gpus": "[0]", "memory": '"8 GiB"', "capacity": "4"}


def fleet(*more: str, listed: str = '["echo"]', **echo: str) -> str:
    """A fleet whose orchestrator on a host with systemd sells echo on box, with changes of echo."""
    return renting(BOX + runner(**{**ECHO, **echo}), *more, wallet(), runners=listed)


def told(found: Review) -> dict[str, set[tuple[str, Decimal]]]:
    """All effects of a review: their texts and amounts by class."""
    by_class: dict[str, set[tuple[str, Decimal]]] = {}
    for change in found.changes:
        for effect in change.effects:
            by_class.setdefault(effect.impact, set()).add((effect.text, effect.amount))
    return by_class


SENT = "no restart: sent to the running node orch"


def test_an_added_runner_says_what_it_earns_takes_and_opens() -> None:
    flux = runner("flux", host='"box"', port="8990", gpus="[1]", memory='"12 GiB"', ready_within='"2m"')
    found = review(fleet(), fleet(flux, listed='["echo", "flux"]'))
    assert told(found) == {
        "price": {("flux asks 0.1 USD / hour, which earns at most 0.1 USD an hour with 1 session", Decimal(100))},
        "capacity": {
            ("flux takes 1 session at once instead of none", Decimal(0)),
            ("it takes 12 GiB of GPU 1 of box, of which 12 GiB of 24 GiB are taken then", Decimal(0)),
        },
        "exposure": {
            (
                "live runner API (tcp): port 8990 of box, open to everyone who can reach the host; before: none",
                Decimal(1),
            )
        },
        "cold-start": {("a cold start: flux serves nothing for up to 2m0s", Decimal(1))},
        "live": {(SENT, Decimal(1))},
    }
    assert found.restarts == ()


def test_a_removed_runner_is_a_restart_of_its_orchestrator_with_all_its_sessions() -> None:
    flux = runner("flux", host='"box"', port="8990")
    found = told(review(fleet(flux, listed='["echo", "flux"]'), fleet()))
    assert found["restart"] == {
        ("flux stops: at most 1 live session drops", Decimal(1)),
        ("orch restarts: at most 5 live sessions drop", Decimal(1)),
    }
    gone = "flux is no longer sold; it asked 0.1 USD / hour, which earns at most 0.1 USD an hour with 1 session"
    assert found["price"] == {(gone, Decimal(100))}
    assert ("flux takes no sessions at once instead of 1", Decimal(1)) in found["capacity"]
    assert "live" not in found


@pytest.mark.parametrize(
    "change",
    [
        {"image": f'"registry.example.net/echo@sha256:{"b" * 64}"'},
        {"arguments": '["--model", "small"]'},
        {"environment": '{ MODEL = "small" }'},
    ],
)
def test_another_program_is_a_cold_start_and_drops_the_sessions_of_the_runner(change: dict[str, str]) -> None:
    found = review(fleet(), fleet(**change))
    assert told(found) == {
        "restart": {("echo restarts: at most 4 live sessions drop", Decimal(1))},
        "cold-start": {("a cold start: nobody states how long echo serves nothing (ready_within)", Decimal(1))},
    }
    assert [(target.node, count) for target, count in found.restarts] == [("echo", 4)]


LIVE = {
    "version": ({"version": '"2"'}, ""),
    "metadata": ({"metadata": '"a = b"'}, ""),
    "price": ({"price": '"0.15 USD / hour"'}, ""),
    "capacity": ({"capacity": "8"}, ""),
    "health": ({"health": '"/up"'}, "; up to 4 sessions of echo drop if the first check of its health there fails"),
    "status": (
        {"health_status": "204"},
        "; up to 4 sessions of echo drop if the first check of its health there fails",
    ),
}


@pytest.mark.parametrize("name", LIVE)
def test_what_an_orchestrator_takes_while_it_runs(name: str) -> None:
    change, drops = LIVE[name]
    found = review(fleet(), fleet(**change))
    assert told(found)["live"] == {(SENT + drops, Decimal(1))}
    assert (found.restarts, [target.node for target in found.live]) == ((), ["orch"])


RESTARTS = {
    "routing": {"routing": '"runner-id"'},
    "mode": {"mode": '"single-shot"'},
    "proxy": {"proxy": "true"},
}


@pytest.mark.parametrize("name", RESTARTS)
def test_what_clients_reach_a_runner_by_restarts_the_orchestrator(name: str) -> None:
    found = told(review(fleet(), fleet(**RESTARTS[name])))
    assert ("orch restarts: at most 4 live sessions drop", Decimal(1)) in found["restart"]
    assert "live" not in found


def test_a_container_and_a_fleet_that_says_never_take_no_list_while_they_run() -> None:
    contained = fleet().replace('runtime = "systemd"', 'runtime = "docker"')
    for text in (contained, fleet() + '\n[rollout]\nlive = "never"\n'):
        found = told(review(text, text.replace("0.10 USD", "0.20 USD")))
        assert "live" not in found and found["restart"]


def test_a_price_that_rises_is_told_in_percent_and_one_in_another_unit_has_no_bound() -> None:
    rises = told(review(fleet(), fleet(price='"0.15 USD / hour"')))["price"]
    text = (
        "echo asks 0.15 USD / hour, which earns at most 0.6 USD an hour with 4 sessions; "
        "before: 0.1 USD / hour, which earns at most 0.4 USD an hour with 4 sessions"
    )
    assert rises == {(text, Decimal(50))}
    by_request = told(review(fleet(), fleet(price='"0.001 USD / request"')))["price"]
    assert [amount for _, amount in by_request] == [Decimal(100)]
    assert "asks 0.001 USD / request, which earns by the number of requests; before" in next(iter(by_request))[0]


def test_who_can_no_longer_buy_is_told_with_the_signer() -> None:
    cap = '"12000000000 wei / pixel"'
    buying = signer(wallet='"third"', remote_discovery="true", http='"127.0.0.1:9000"', max_price=cap)
    before, after = fleet(buying), fleet(buying, price='"0.15 USD / hour"')
    assert ("echo can no longer be bought through signer", Decimal(0)) in told(review(before, after))["price"]
    assert ("echo can newly be bought through signer", Decimal(0)) in told(review(after, before))["price"]


def test_another_port_restarts_the_runner_whatever_its_arguments_say() -> None:
    found = review(fleet(), fleet(port="8990"))
    assert {node.node for node, _ in found.restarts} == {"echo"}
    assert ("echo restarts: at most 4 live sessions drop", Decimal(1)) in told(found)["restart"]
    assert (SENT, Decimal(1)) in {(text.partition(";")[0], amount) for text, amount in told(found)["live"]}
