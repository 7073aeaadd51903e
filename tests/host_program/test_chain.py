"""What a host asks the chain, before a rollout and after it.

The chain is anvil, a real JSON-RPC node; ill servers are stand-ins.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.chain import ARBITRUM, CONTRACTS, Chain, call, running
from tests.host_program.test_preflight import Host, Json

pytestmark = pytest.mark.usefixtures("processes")

KEY = "CANARY0key0of0the0provider"
ETH = 10**18
ACCOUNT = "0x" + "Ab" * 20


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    with running() as made:
        made.deploy()
        yield made


def rpc(controller: str = "", chain_id: int = ARBITRUM) -> Json:
    """The need of an RPC address behind a secret, as lowering writes it."""
    return {
        "need": "rpc", "chain_id": str(chain_id), "kind": "env", "rpc": "RPC", "variable": "LP_ETHURL",
        "controller": controller,
    }  # fmt: skip


def values(address: str) -> Json:
    return {"env": {"RPC": address}}


def wallet(controller: str = "", **more: str) -> Json:
    facts = dict.fromkeys(("minimum", "sends", "pays", "deposit", "deposit_low", "reserve", "reserve_low"), "")
    return {**rpc(controller), **facts, "need": "wallet", "subject": ACCOUNT, **more}


def test_chain_as_it_should_be(host: Host, chain: Chain) -> None:
    chain.set_balance(ACCOUNT, ETH)
    chain.set_sender(ACCOUNT, ETH, ETH)
    asked = wallet(
        chain.controller, minimum=str(ETH // 20), sends="yes", pays="yes", deposit=str(ETH), reserve=str(ETH)
    )
    needs = (rpc(chain.controller), asked, feed(chain, "USD"))
    assert host.asks(*needs, values=values(chain.url)) == []
    plain = [need | {"kind": "", "rpc": chain.url} for need in needs]
    assert host.asks(*plain) == []


def test_nothing_is_asked_where_nobody_gave_the_address(host: Host) -> None:
    needs = (rpc("0x" + "12" * 20), wallet(minimum="1"), {**rpc(), "need": "price-feed", "currencies": "USD"})
    assert host.asks(*needs) == []
    missing = [need | {"kind": "host_file", "rpc": "/nowhere"} for need in needs]
    assert host.asks(*missing) == [], "the secret has a check of its own"


# The address.


def test_address_of_another_chain(host: Host) -> None:
    with running(1) as other:
        found = host.asks(rpc("0x" + "12" * 20), wallet(minimum="1"), values=values(other.url))
    assert [one["code"] for one in found] == ["rpc-of-this-chain"]
    assert "LP_ETHURL, from env RPC, serves chain 1, and network of the spec is chain 42161" in found[0]["message"]


def test_network_that_nobody_knows_has_no_id_to_compare(host: Host, chain: Chain) -> None:
    assert host.asks(rpc() | {"chain_id": ""}, values=values(chain.url)) == []


@pytest.mark.parametrize("other", ["an account", "another contract"])
def test_controller_that_is_none(other: str, host: Host, chain: Chain) -> None:
    place = ACCOUNT if other == "an account" else chain.feed
    (found,) = host.asks(rpc(place), wallet(place, pays="yes"), values=values(chain.url))
    assert found["code"] == "rpc-of-this-chain"
    assert f"the controller {place} has no TicketBroker on chain 42161" in found["message"]


def test_chain_of_yesterday(host: Host) -> None:
    with running(ARBITRUM, "--timestamp", str(int(time.time()) - 5 * 3600)) as old:
        (found,) = host.asks(rpc(), values=values(old.url))
    assert found["code"] == "rpc-behind" and "is 5.0 hours old" in found["message"]


# Wallets.

BALANCES = {
    "enough": (ETH // 20, "yes", "", ""),
    "too little": (ETH // 20 - 1, "yes", "wallet-balance-low", "has 0.049999999999999999 ETH, less than"),
    "little": (5 * 10**12, "yes", "wallet-balance-low", "has 5000 gwei, less than its minimum_balance of 0.05 ETH"),
    "nothing": (0, "yes", "wallet-empty", "has no ether, so it cannot pay for any transaction"),
    "nothing, but it only pays tickets": (0, "", "wallet-balance-low", "has 0 wei"),
}


@pytest.mark.parametrize("case", BALANCES)
def test_balance(case: str, host: Host, chain: Chain) -> None:
    balance, sends, code, words = BALANCES[case]
    chain.set_balance(ACCOUNT, balance)
    found = host.asks(wallet(minimum=str(ETH // 20), sends=sends), values=values(chain.url))
    assert [one["code"] for one in found] == ([code] if code else [])
    assert all(words in one["message"] and ACCOUNT in one["message"] for one in found)
    assert host.asks(wallet(sends=sends), values=values(chain.url)) == [], "the spec says nothing"


SENDERS = {
    "funded": (ETH, ETH, 0, {}),
    "used a little": (3 * ETH // 10, 6 * ETH // 10, 0, {}),
    "low": (
        ETH // 10,
        ETH // 10,
        0,
        {"deposit-low": "0.1 ETH of the deposit of 1 ETH", "reserve-low": "of the reserve"},
    ),
    "new": (0, 0, 0, {"deposit-low": "has no deposit", "reserve-low": "has no reserve"}),
    "leaving": (ETH, ETH, 4321, {"deposit-unlocking": "from round 4321 on"}),
}


@pytest.mark.parametrize("case", SENDERS)
def test_deposit_and_reserve_are_warnings(case: str, host: Host, chain: Chain) -> None:
    deposit, reserve, round_number, codes = SENDERS[case]
    chain.set_sender(ACCOUNT, deposit, reserve, round_number)
    planned = {"deposit": str(ETH), "deposit_low": str(ETH // 4), "reserve": str(ETH), "reserve_low": str(ETH // 2)}
    found = host.asks(wallet(chain.controller, pays="yes", **planned), values=values(chain.url))
    assert {one["code"]: one["severity"] for one in found} == dict.fromkeys(codes, "warning")
    assert all(codes[one["code"]] in one["message"] for one in found)
    assert host.asks(wallet(chain.controller, **planned), values=values(chain.url)) == [], "nobody pays from it"


def test_warning_stops_no_rollout_and_an_error_does(host: Host, chain: Chain) -> None:
    chain.set_balance(ACCOUNT, 0)
    need_nothing, refused = host.program["need_nothing"], host.program["RefusedError"]
    need = wallet(minimum="1") | {"nodes": ["gate"]}
    wanted = {"fleet": "aurora", "host": "edge", "runtime": "systemd", "owner": "livepeer", "services": []}
    request = {"wanted": wanted, "values": values(chain.url), "needs": [need]}
    assert [one["code"] for one in need_nothing(request)] == ["wallet-balance-low"]
    with pytest.raises(refused) as refusal:
        need_nothing(request | {"needs": [need, need | {"sends": "yes"}]})
    assert str(refusal.value).startswith(f"{ACCOUNT} has no ether")
    assert len(refusal.value.facts["findings"]) == 2
    assert len(need_nothing(request | {"needs": [need | {"sends": "yes"}], "skip": ["wallet-empty"]})) == 0


# Price feeds.


def feed(chain: Chain, currencies: str) -> Json:
    return {**rpc(), "need": "price-feed", "subject": chain.feed, "currencies": currencies}


FEEDS = {
    "dollars": ("ETH / USD", 3000, "USD", ""),
    "the other way round, in small letters": ("usd/eth", 3000, "USD", ""),
    "another currency": ("ETH / USD", 3000, "EUR", "converts ETH / USD, and not EUR"),
    "no ether": ("BTC / USD", 3000, "USD", "does not convert ETH"),
    "no pair": ("ether", 3000, "USD", "does not convert ETH"),
    "no price": ("ETH / USD", 0, "USD", "no price above zero"),
    "less than no price": ("ETH / USD", -1, "USD", "no price above zero"),
    "control characters": ("ETH / \x1b[2J", 3000, "USD", "converts ETH / ?[2J, and not USD"),
}


@pytest.mark.parametrize("case", FEEDS)
def test_price_feed(case: str, host: Host, chain: Chain) -> None:
    pair, price, currency, words = FEEDS[case]
    chain.set_feed(pair, price)
    found = host.asks(feed(chain, currency), values=values(chain.url))
    assert [one["code"] for one in found] == (["price-feed-answers"] if words else [])
    assert all(words in one["message"] for one in found)


def test_price_feed_that_is_none(host: Host, chain: Chain) -> None:
    for place in (ACCOUNT, chain.controller):
        (found,) = host.asks(feed(chain, "USD") | {"subject": place}, values=values(chain.url))
        assert found["code"] == "price-feed-answers" and "no contract there answers description" in found["message"]


# Ill servers.

Answer = Callable[[BaseHTTPRequestHandler, Any], None]


@contextmanager
def standin(answer: Answer) -> Iterator[str]:
    """The address of a stand-in for an RPC server, which answers every call in its own way."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer(self, asked)

        def do_GET(self) -> None:
            answer(self, None)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v2/{KEY}"
        server.shutdown()


def body(content: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, _asked: Any) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def result(value: object) -> Answer:
    return body(json.dumps({"jsonrpc": "2.0", "id": 1, "result": value}).encode())


def error(message: object) -> Answer:
    return body(json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": message}}).encode())


def dripping(handler: BaseHTTPRequestHandler, _asked: Any) -> None:
    """An answer that never ends, a byte at a time."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass


def silent(_handler: BaseHTTPRequestHandler, _asked: Any) -> None:
    time.sleep(3)


def rude(handler: BaseHTTPRequestHandler, _asked: Any) -> None:
    handler.wfile.write(b"\x00\xff" * 100 + b"\r\n\r\n")


ILL: dict[str, tuple[Answer, str]] = {
    "10 MB": (body(b" " * 10_000_000), "longer than 1 MB"),
    "a web page": (body(b"<!doctype html><title>Sign in</title>"), "is not JSON"),
    "binary": (body(b"\x00\xff\xfe\x80"), "is not JSON"),
    "deep JSON": (body(b"[" * 500_000), "is not JSON"),
    "a list": (body(b"[1, 2]"), "has no result"),
    "no result": (body(b"{}"), "has no result"),
    "null": (result(None), "has no result"),
    "a number of the wrong type": (result(42161), "is not a number"),
    "a number that is none": (result("0xZZ"), "is not a number"),
    "a very long number": (result("0x" + "f" * 100_000), "is not a number"),
    "an error object": (
        error(f"project of {KEY}\x1b[2J is suspended"),
        "it says to eth_chainId: project of *** [2J is",
    ),
    "an error of the wrong type": (error({"a": 1}), "it says to eth_chainId"),
    "an error with the whole address": (error(f"see http://127.0.0.1/v2/{KEY}"), "see http://***"),
    "no key": (body(b"", 401), "refuses the key (HTTP 401)"),
    "too many": (body(b"", 429), "too often"),
    "down": (body(b"", 503), "HTTP 503"),
    "elsewhere": (body(b"", 302, Location="http://127.0.0.1:1/"), "leads elsewhere (HTTP 302)"),
    "no HTTP": (rude, "makes no sense"),
    "silent": (silent, "no whole answer within"),
    "dripping": (dripping, "no whole answer within"),
}


@pytest.mark.parametrize("case", ILL)
def test_ill_server_is_one_finding_with_a_reason(case: str, host: Host) -> None:
    answer, words = ILL[case]
    host.program["ASK_SECONDS"] = 1
    begun = time.monotonic()
    with standin(answer) as address:
        found = host.asks(rpc("0x" + "12" * 20), wallet(minimum="1"), values=values(address))
    assert [one["code"] for one in found] == ["rpc-answers"]
    assert words in found[0]["message"], found
    assert KEY not in found[0]["message"] and found[0]["message"].isprintable() and len(found[0]["message"]) < 300
    assert time.monotonic() - begun < 4


def only(chain: Chain, **instead: Answer) -> Answer:
    """What the chain answers, but for some methods."""

    def answer(handler: BaseHTTPRequestHandler, asked: Any) -> None:
        other = instead.get(asked["method"])
        (other or result(chain.ask(asked["method"], *asked["params"])))(handler, asked)

    return answer


LATER: dict[str, tuple[str, Answer, list[str]]] = {
    "no gas price": ("eth_gasPrice", error("no such method"), ["rpc-answers"]),
    "no block": ("eth_getBlockByNumber", result(["0x1"]), ["rpc-answers"]),
    "a block without a time": ("eth_getBlockByNumber", result({"timestamp": 1}), ["rpc-answers"]),
    "no balance": ("eth_getBalance", error("archive nodes only"), ["rpc-answers"]),
    "no calls": ("eth_call", error("not in your plan"), ["rpc-answers", "rpc-answers"]),
    "calls with a wrong type": ("eth_call", result({"a": 1}), ["rpc-answers", "rpc-answers"]),
}


@pytest.mark.parametrize("case", LATER)
def test_what_is_unknown_is_said(case: str, host: Host, chain: Chain) -> None:
    method, answer, codes = LATER[case]
    chain.set_balance(ACCOUNT, ETH)
    chain.set_sender(ACCOUNT, ETH, ETH)
    asked = wallet(chain.controller, minimum="1", pays="yes")
    with standin(only(chain, **{method: answer})) as address:
        found = host.asks(rpc(chain.controller), asked, values=values(address))
    assert [one["code"] for one in found] == codes
    if case == "no balance":
        assert found[0]["message"].startswith(f"nobody knows what {ACCOUNT} has: it says to eth_getBalance: archive")


def test_chain_is_asked_for_its_id_once_a_host(host: Host, chain: Chain) -> None:
    calls: list[str] = []

    def counted(handler: BaseHTTPRequestHandler, asked: Any) -> None:
        calls.append(asked["method"])
        only(chain)(handler, asked)

    with standin(counted) as address:
        host.asks(
            rpc(), *(wallet(minimum="1") | {"subject": "0x" + f"{n:02}" * 20} for n in range(5)), values=values(address)
        )
    assert calls.count("eth_chainId") == 1
    assert calls.count("eth_getBalance") == 5


# How orchestrators are registered.

PLACE = "https://orch.example.net:8935"


def registration(controller: str, registry: str = "") -> Json:
    return {**rpc(controller), "need": "registration", "subject": ACCOUNT, "nodes": ["orch"], "registry": registry}


def registered(host: Host, need: Json, address: str) -> Json:
    """How the chain has an orchestrator, as its host hands it on."""
    found = host.program["registration"](need, known(host, address))
    assert isinstance(found, dict), "the RPC address is fine"
    return found


def known(host: Host, address: str) -> Any:
    return host.program["Asked"]({}, values(address), None, False, host.program["Rpcs"]())


REGISTRATIONS = {
    "active": (True, PLACE),
    "not active": (False, PLACE),
    "no address": (True, ""),
    "another address": (True, "http://203.0.113.7"),
    "terminal escapes": (False, "\x1b[2J\x1b]0;owned\x07 \u202e\0"),
}


@pytest.mark.parametrize("case", REGISTRATIONS)
def test_registration_is_handed_on_as_it_is(case: str, host: Host, chain: Chain) -> None:
    active, address = REGISTRATIONS[case]
    chain.set_registration(ACCOUNT, active, address)
    found = registered(host, registration(chain.controller), chain.url)
    assert found == {"nodes": ["orch"], "active": active, "address": address}


def test_long_address_is_cut(host: Host, chain: Chain) -> None:
    chain.set_registration(ACCOUNT, True, PLACE + "/" + "x" * 3000)
    found = registered(host, registration(chain.controller), chain.url)
    assert found["address"] == (PLACE + "/" + "x" * 3000)[:500]


def test_nobody_is_registered(host: Host, chain: Chain) -> None:
    found = registered(host, registration(chain.controller) | {"subject": "0x" + "77" * 20}, chain.url)
    assert found == {"nodes": ["orch"], "active": False, "address": ""}


def test_registry_of_ai_is_asked_in_place_of_that_of_the_controller(host: Host, chain: Chain) -> None:
    other = chain.send(bytes.fromhex(CONTRACTS["ServiceRegistry"]))["contractAddress"]
    chain.set_registration(ACCOUNT, True, PLACE)
    chain.set_address(other, ACCOUNT, "https://ai.example.net:8935")
    found = registered(host, registration(chain.controller, other), chain.url)
    assert (found["active"], found["address"]) == (True, "https://ai.example.net:8935")


@pytest.mark.parametrize("name", ["BondingManager", "ServiceRegistry"])
@pytest.mark.parametrize("other", ["none", "an account", "another contract"])
def test_contract_that_is_missing_is_a_reason(name: str, other: str, host: Host, chain: Chain) -> None:
    chain.set_registration(ACCOUNT, True, PLACE)
    right = {"BondingManager": chain.manager, "ServiceRegistry": chain.registry}[name]
    chain.set_contract(name, {"none": "0x" + "00" * 20, "an account": ACCOUNT}.get(other, chain.feed))
    found = registered(host, registration(chain.controller), chain.url)
    chain.set_contract(name, right)
    function = {"BondingManager": "isActiveTranscoder", "ServiceRegistry": "getServiceURI"}[name]
    words = f"the controller {chain.controller} has no {name}"
    assert set(found) == {"nodes", "reason"}
    assert (words if other == "none" else f"no contract there answers {function}") in found["reason"]
    assert found["reason"].startswith(f"the RPC address in LP_ETHURL, from env RPC, does not say how {ACCOUNT} is")


def test_network_without_a_controller_is_a_reason(host: Host, chain: Chain) -> None:
    assert "has no BondingManager" in registered(host, registration(""), chain.url)["reason"]


def by_function(chain: Chain, function: str, other: Answer) -> Answer:
    """What the chain answers, but for one function of a contract."""

    def answer(handler: BaseHTTPRequestHandler, asked: Any) -> None:
        called = asked["method"] == "eth_call" and asked["params"][0]["data"].startswith("0x" + call(function).hex())
        (other if called else only(chain))(handler, asked)

    return answer


def abi(*words: int, tail: bytes = b"") -> Answer:
    """Words that a contract returns, and bytes after them."""
    return result("0x" + (b"".join(word.to_bytes(32, "big") for word in words) + tail).hex())


ACTIVE, ADDRESS = "isActiveTranscoder(address)", "getServiceURI(address)"
UNREGISTERED: dict[str, tuple[str, Answer, str]] = {
    "refused": (ACTIVE, error(f"project of {KEY} is suspended"), "it says to eth_call: project of *** is suspended"),
    "a web page": (ADDRESS, body(b"<!doctype html><title>Sign in</title>"), "its answer to eth_call is not JSON"),
    "reverted": (ADDRESS, error("execution reverted"), "no contract there answers getServiceURI"),
    "neither yes nor no": (ACTIVE, abi(2), "is neither yes nor no"),
    "a huge yes": (ACTIVE, abi(2**256 - 1), "is neither yes nor no"),
    "half a word": (ACTIVE, result("0x01"), "no contract there answers isActiveTranscoder"),
    "an absurd length": (ADDRESS, abi(32, 2**255, tail=b"https://"), "its answer to getServiceURI is not text"),
    "longer than it is": (ADDRESS, abi(32, 33, tail=b"x" * 32), "its answer to getServiceURI is not text"),
    "text elsewhere": (ADDRESS, abi(2**200, 8, tail=b"https://"), "its answer to getServiceURI is not text"),
    "a number": (ADDRESS, abi(32), "no contract there answers getServiceURI"),
    "2 MB of text": (ADDRESS, body(b" " * 2_000_000), "longer than 1 MB"),
}


@pytest.mark.parametrize("case", UNREGISTERED)
def test_registration_that_makes_no_sense_is_a_reason(case: str, host: Host, chain: Chain) -> None:
    function, answer, words = UNREGISTERED[case]
    chain.set_registration(ACCOUNT, True, PLACE)
    with standin(by_function(chain, function, answer)) as address:
        found = registered(host, registration(chain.controller), address)
    assert set(found) == {"nodes", "reason"} and words in found["reason"], found
    assert KEY not in found["reason"] and found["reason"].isprintable()


def test_text_that_is_not_utf_8_is_an_address_all_the_same(host: Host, chain: Chain) -> None:
    with standin(by_function(chain, ADDRESS, abi(32, 3, tail=b"\xff\xfea"))) as address:
        assert registered(host, registration(chain.controller), address)["address"] == "\ufffd\ufffda"


def test_registration_is_silent_where_the_rpc_address_is_bad(host: Host) -> None:
    need = registration("0x" + "12" * 20)
    with running(1) as other, standin(error("no")) as refusing:
        for address in (other.url, refusing, "file:///etc/passwd"):
            assert host.program["registration"](need, known(host, address)) is None


def test_no_preflight_asks_for_a_registration(host: Host, chain: Chain) -> None:
    """A new orchestrator is rolled out before it is registered."""
    chain.set_registration(ACCOUNT, False, "")
    asked: list[str] = []

    def noting(handler: BaseHTTPRequestHandler, question: Any) -> None:
        asked.append(question["method"])
        only(chain)(handler, question)

    with standin(noting) as address:
        assert host.asks(registration(chain.controller), values=values(address)) == []
    assert asked == []


ADDRESSES = {
    "closed": ("http://127.0.0.1:1/", "refused"),
    "no name": ("http://rpc.invalid./", "its name has no address"),
    "a space": ("http://127.0.0 .1/", "it is not an address"),
    "no port": ("http://127.0.0.1:99999/", "it is not an address"),
}


@pytest.mark.parametrize("case", ADDRESSES)
def test_address_at_which_nobody_is(case: str, host: Host) -> None:
    address, words = ADDRESSES[case]
    (found,) = host.asks(rpc(), values=values(address))
    assert found["code"] == "rpc-answers" and words in found["message"].lower()


def test_user_and_password_in_the_address_are_used(host: Host, chain: Chain) -> None:
    seen = []

    def noting(handler: BaseHTTPRequestHandler, asked: Any) -> None:
        seen.append(handler.headers["Authorization"])
        only(chain)(handler, asked)

    with standin(noting) as address:
        assert host.asks(rpc(), values=values(address.replace("http://", "http://me:a%20b@"))) == []
    assert set(seen) == {"Basic bWU6YSBi"}


def test_chain_over_a_websocket(host: Host, chain: Chain) -> None:
    chain.set_balance(ACCOUNT, 0)
    address = chain.url.replace("http:", "ws:")
    asked = wallet(chain.controller, minimum=str(ETH), pays="yes", sends="yes")
    assert "wallet-empty" in host.codes(rpc(chain.controller), asked, values=values(address))
    with running(1) as other:
        assert host.codes(rpc(), values=values(other.url.replace("http:", "ws:"))) == ["rpc-of-this-chain"]


def framed(content: bytes) -> bytes:
    """A text message as a server sends it, after a ping and in two frames."""
    size = len(content) - 1
    head = (
        bytes([size])
        if size < 126
        else b"\x7e" + size.to_bytes(2, "big")
        if size < 2**16
        else b"\x7f" + size.to_bytes(8, "big")
    )
    return b"\x89\x02hi" + b"\x01" + head + content[:-1] + b"\x80\x01" + content[-1:]


SOCKETS: dict[str, tuple[bytes, str]] = {
    "an answer": (framed(b'{"result": "0xa4b1"}'), ""),
    "an error": (framed(b'{"error": {"message": "no"}}'), "it says to eth_chainId: no"),
    "10 MB": (framed(b" " * 10_000_000), "longer than 1 MB"),
    "a lie about its length": (b"\x81\x7f" + b"\xff" * 8, "makes no sense"),
    "goodbye": (b"\x88\x02\x03\xe8", "makes no sense"),
    "nothing": (b"", "makes no sense"),
}


@pytest.mark.parametrize("case", SOCKETS)
def test_ill_websocket(case: str, host: Host) -> None:
    content, words = SOCKETS[case]

    def answer(handler: BaseHTTPRequestHandler, _asked: Any) -> None:
        handler.send_response(101)
        handler.end_headers()
        handler.wfile.write(content)

    rpcs, unanswered = host.program["Rpcs"], host.program["UnansweredError"]
    with standin(answer) as address:
        asked = rpcs().at(address.replace("http:", "ws:"), "the RPC address")
        if words:
            with pytest.raises(unanswered, match=words):
                asked.chain_id()
        else:
            assert asked.chain_id() == ARBITRUM


def test_server_without_websockets(host: Host) -> None:
    for status, words in ((200, "it does not speak WebSocket"), (403, "it refuses the key"), (301, "leads elsewhere")):
        with standin(body(b"", status)) as address:
            (found,) = host.asks(rpc(), values=values(address.replace("http:", "ws:")))
        assert found["code"] == "rpc-answers" and words in found["message"]


def test_certificate_that_nobody_trusts(host: Host, tmp_path: Path) -> None:
    with standin(result("0xa4b1")) as address:
        (found,) = host.asks(rpc(), values=values(address.replace("http:", "https:")))
    assert found["code"] == "rpc-answers" and "does not speak TLS" in found["message"]
    assert ssl.create_default_context().verify_mode is ssl.CERT_REQUIRED
