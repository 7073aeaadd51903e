"""Borders of the rules about live runners: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    SECRET,
    OneRule,
    flagged,
    free_orchestrator,
    host,
    model,
    offchain,
    orchestrator,
    printed,
    renting,
    runner,
    signer,
    silent,
    wallet,
)


def test_live_ai_beside_runners(rule: OneRule) -> None:
    # Other models are fine.
    rule.quiet(renting(models='[{ use = "realvis" }]', tables=(model(),)))


ITSELF = runner(register_by='"runner"', health=None)


def test_runner_cannot_register(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Without a secret.
    text = renting(ITSELF, mode='"dual"', price='"1200 wei / pixel"', secret=None)
    assert rule.errs(text) == snapshot
    # With a secret.
    silent(renting(ITSELF))
    silent(renting(ITSELF, live_runners="true"))


def buying(cap: str, **price: str) -> str:
    buyer = signer(buys_runners='["echo"]', max_price=cap, allow_no_auth="true")
    return renting(runner(**price), tables=(buyer,))


def test_runner_cap_refuses(rule: OneRule) -> None:
    # The number that it names is the lowest that does.
    text = buying('"1500 wei / pixel"')
    rule.errs(text, '"11111111111 wei / pixel"')
    silent(buying('"11111111111 wei / pixel"'))
    rule.errs(buying('"11111111110 wei / pixel"'))
    silent(buying('"any"'))
    # Cap in USD is compared at the rate.
    rule.errs(buying('"0.00001 USD / pixel"'))
    silent(buying('"0.00003 USD / pixel"'))
    # A signer that names no runner is not asked.
    rule.quiet(renting(tables=(signer(max_price='"1500 wei / pixel"'),)))


TILES = runner("tiles", port="8990", price='"0.0001 USD / request"')


def buying_both(cap: str, names: str = '["echo", "tiles"]') -> str:
    return renting(runner(), TILES, runners='["echo", "tiles"]', tables=(signer(buys_runners=names, max_price=cap),))


def test_runner_caps_of_two_units() -> None:
    # Without a cap there is nothing to protect.
    silent(buying_both('"any"'))


def test_runner_certificate_unverified() -> None:
    # Behind a proxy or without a chain it is fine.
    silent(renting())
    silent(offchain(free_orchestrator(mode='"ai"', secret=SECRET, runners='["echo"]'), runner()))


def test_runner_health_never_true(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Status that no answer ends with.
    assert rule.errs(renting(runner(health_status="100"))) == snapshot
    # Host of the runner or one outside is fine.
    silent(renting(runner(health='"http://edge.example.net:8989/health"', health_status="204")))
    silent(renting(runner(health='"https://status.example.net/echo"')))
    # Host that has another runner.
    rule.errs(renting(runner(health='"http://203.0.113.20:8989/health"')), "asks host gpu")


def expecting(load: str, capacity: str | None) -> str:
    pays = signer(
        buys_runners='["echo"]', runner_load=f'{{ echo = "{load}" }}', max_price='"any"', allow_no_auth="true"
    )
    return renting(runner(capacity=capacity), tables=(pays,))


def test_runner_load_above_capacity(rule: OneRule) -> None:
    # More sessions than the capacity.
    rule.warns(expecting("4.5 sessions", "4"))
    silent(expecting("4 sessions", "4"))
    # One session by default.
    rule.warns(expecting("1.1 sessions", None), "its capacity is 1 by default")
    silent(expecting("1 session", None))


def expecting_in(load: str, price: str) -> str:
    pays = signer(
        buys_runners='["echo"]', runner_load=f'{{ echo = "{load}" }}', max_price='"any"', allow_no_auth="true"
    )
    return renting(runner(price=f'"{price}"', capacity="9"), tables=(pays,))


def test_runner_load_in_other_unit(rule: OneRule) -> None:
    # Requests of what is sold by time.
    for price in ["0.1 USD / hour", "0.001 USD / minute", "0.01 USD / 720p hour"]:
        rule.errs(expecting_in("200 requests / hour", price), '"2.5 sessions"')
        silent(expecting_in("2.5 sessions", price))
    # Requests of what is sold by request.
    silent(expecting_in("200 requests / hour", "0.0001 USD / request"))


MORE_TILES = runner("tiles", port="8990")


def test_runner_nobody_buys() -> None:
    # Named or no signer names any.
    silent(renting(runner(), MORE_TILES, runners='["echo", "tiles"]'))
    both = signer(buys_runners='["echo", "tiles"]')
    silent(renting(runner(), MORE_TILES, runners='["echo", "tiles"]', tables=(both,)))


def test_runner_nobody_sells(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # The list of the signer leaves its seller out.
    buyer = signer(buys_runners='["echo"]', remote_discovery="true", orchestrators='["https://o.example.net:8935"]')
    assert rule.errs(renting(tables=(buyer,))) == snapshot
    # One seller is enough.
    silent(renting(tables=(signer(buys_runners='["echo"]'),)))


def selling(price: str, buys: str | None = '["echo"]', **buyer: str) -> str:
    pays = signer(buys_runners=buys, max_price='"any"', allow_no_auth="true", **buyer)
    return renting(runner(price=f'"{price} USD / request"'), ticket_ev='"1000 gwei"', tables=(pays,))


def test_runner_payment_above_total(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # A dear request and what it says to write.
    found = rule.errs(selling("0.10"))
    assert found == snapshot
    assert 'max_total_ev = "40001 gwei"' in found
    silent(selling("0.10", tickets='{ max_total_ev = "40001 gwei" }'))
    rule.errs(selling("0.10", tickets='{ max_total_ev = "40000 gwei" }'))
    # As much as the limit is too much because the node rounds tickets up.
    silent(selling("0.0475"))
    rule.errs(selling("0.05"), "20000 gwei and what the node rounds up")
    # Signer that may find it without naming it is warned.
    found = printed(selling("0.10", buys=None, remote_discovery="true"))
    assert f"warning[{rule.code}]" in found
    # A signer with default settings stands where nobody buys.
    alone = renting(runner(price='"0.10 USD / request"'), ticket_ev='"1000 gwei"')
    rule.warns(
        alone,
        "clients of a signer with default settings cannot pay for runner echo",
        'write price = "0.0475 USD / request" or less',
    )
    silent(alone.replace("0.10 USD / request", "0.0475 USD / request"))


def test_runner_price_not_convertible(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # More than the node can count.
    assert rule.errs(renting(runner(price='"25000 USD / request"'))) == snapshot
    # One wei is enough.
    silent(renting(runner(price='"0.000249 USD / 720p hour"'), ticket_ev='"1 gwei"'))
    # The price that it names would do.
    for asked, enough in [
        ("0.0001 USD / 720p hour", "0.000248832 USD / 720p hour"),
        ("0.000001 USD / 720p minute", "0.0000041472 USD / 720p minute"),
        ("0.0000000001 ETH / 720p hour", "0.0000000995328 ETH / 720p hour"),
    ]:
        rule.errs(renting(runner(price=f'"{asked}"')), f'price = "{enough}" or more')
        rule.quiet(renting(runner(price=f'"{enough}"')))  # its tickets are worth much more


def test_runner_price_unpayable(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Price of pictures with tickets of its own.
    assert rule.errs(renting(runner(price='"0.01 USD / 720p minute"'), ticket_ev='"8 gwei"')) == snapshot
    # Ceiling at 2500 USD for an ETH.
    for price, fits, tickets in [
        ("0.72 USD / hour", True, None),
        ("0.7201 USD / hour", False, None),
        ("0.012 USD / minute", True, None),
        ("0.1199370 USD / 720p hour", True, None),
        ("0.1202 USD / 720p hour", False, None),
        ("0.002 USD / request", True, None),
        ("0.0021 USD / request", False, None),
        ("3.50 USD / hour", True, "39 gwei"),
        ("3.50 USD / hour", False, "38 gwei"),
        ("0.000288 ETH / hour", True, None),
        ("0.0003 ETH / hour", False, None),
    ]:
        text = renting(runner(price=f'"{price}"'), ticket_ev=f'"{tickets}"' if tickets else None)
        if fits:
            silent(text)
        else:
            rule.errs(text)
    # What it says to write is enough.
    text = renting(runner(price='"3.50 USD / hour"'), ticket_ev=None)
    rule.errs(text, '"39 gwei"')
    silent(renting(runner(price='"3.50 USD / hour"'), ticket_ev='"39 gwei"'))
    rule.errs(text, 'price = "0.72 USD / hour"')
    minutes = renting(runner(price='"1 USD / minute"'), ticket_ev=None)
    rule.errs(minutes, 'price = "0.012 USD / minute"')
    ether = renting(runner(price='"0.0003 ETH / hour"'), ticket_ev=None)
    rule.errs(ether, 'price = "0.000288 ETH / hour"')

    # Above 18 USD an hour so many wei are paid in advance that the signer's own limits refuse them as well.
    def selling(ticket_ev: str | None, tickets: str | None = None) -> str:
        pays = signer(buys_runners='["echo"]', allow_no_auth="true", tickets=tickets)
        return renting(runner(price='"400 USD / hour"'), ticket_ev=ticket_ev, tables=(pays,))

    limits = '{ max_ev = "4446 gwei", max_total_ev = "444501 gwei" }'
    rule.errs(
        selling(None), f'ticket_ev = "4445 gwei" or more in orchestrators.orch and tickets = {limits} in remote_signers'
    )
    silent(selling('"4445 gwei"', limits))
    # No help proposes tickets that a signer with default settings refuses.
    rule.errs(
        renting(runner(price='"400 USD / hour"'), ticket_ev=None), 'help: write price = "0.72 USD / hour" or less'
    )
    silent(renting(runner(price='"0.72 USD / hour"'), ticket_ev=None))


OUTSIDE = {"host": None, "image": None, "port": None}


def test_runner_server_shared(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    flux = runner("flux", url='"http://edge.example.net:8989/flux"', capacity="3", **OUTSIDE)
    rule.warns(renting(runner(path='"/echo"'), flux, runners='["echo", "flux"]'), "may get 4 sessions at once")
    # One runner at two orchestrators.
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
    assert rule.warns(text) == snapshot
    # A loopback address is that of the orchestrator.
    first = runner("one", url='"http://127.0.0.1:8989/a"', health='"/up"', **OUTSIDE)
    second = runner("two", url='"http://localhost:8989/b"', health='"/up"', **OUTSIDE)
    rule.warns(renting(first, second, runners='["one", "two"]'), "2 offers")
    # Two ports are two servers.
    silent(renting(runner(), runner("tiles", port="8990"), runners='["echo", "tiles"]'))


def loading(time: str, deadline: str = "") -> str:
    rollout = f'\n[rollout]\ndeadline = "{deadline}"\n' if deadline else ""
    return renting(runner(ready_within=f'"{time}"')) + rollout


def test_runner_slower_than_deadline(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Deadline of the spec and by default.
    assert rule.errs(loading("10m", "5m")) == snapshot
    rule.errs(loading("10m"), 'write deadline = "11m"')
    silent(loading("10m", "11m"))
    # As long as the deadline is enough.
    silent(loading("3m"))
    rule.errs(loading("181s"))
    # A runner whose health no rollout asks only has to run.
    silent(renting(runner(ready_within='"10m"', health='"http://edge.example.net:8989/up"')))


def test_runner_sold_by_time_on_old_release(rule: OneRule) -> None:
    # By request or on the next release.
    rule.quiet(renting(runner(price='"0.0001 USD / request"'), node_release='"v0.9.0"'))
    silent(renting())


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


def test_runner_url_of_several_hosts(rule: OneRule) -> None:
    # Runner at an address is one.
    assert rule.code not in flagged(both("http://192.0.2.7:8000"), "runner-server-shared", Severity.WARNING)
    # Runner on the loopback of one host.
    silent(renting(runner(url='"http://127.0.0.1:8000"', host=None, image=None, port=None)))


ELSEWHERE: dict[str, str | None] = {"host": None, "image": None, "port": None}


def test_runner_url_with_query(rule: OneRule) -> None:
    # Path of health behind a query.
    text = renting(runner(url='"http://192.0.2.7:8000/sd3?model=turbo"', **ELSEWHERE))
    rule.errs(text)
    silent(renting(runner(url='"http://192.0.2.7:8000/sd3"', **ELSEWHERE)))
    # Health at a URL of its own is asked there.
    other = {**ELSEWHERE, "health": '"http://192.0.2.7:8000/health"'}
    silent(renting(runner(url='"http://192.0.2.7:8000/sd3?model=turbo"', **other)))
