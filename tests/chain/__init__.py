"""A chain of the tests: anvil, which is a real JSON-RPC node, with the contracts of `protocol.sol`.

In: an id. Out: `Chain`, which is asked like any other chain, and set as a test needs it.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from fleetc.text.keccak import keccak256
from tests.farm.sshd_host import free_ports
from tests.outside_tools import node_package

HERE = Path(__file__).parent
CONTRACTS: dict[str, str] = json.loads((HERE / "protocol.json").read_text())["contracts"]
ARBITRUM = 42161
Argument = int | str | bytes
"""A number, an address, or 32 bytes."""


class Chain:
    """A running chain, and the addresses of its contracts."""

    def __init__(self, port: int, number: int) -> None:
        self.url, self.id = f"http://127.0.0.1:{port}", number
        self.funder = ""
        self.controller = self.broker = self.feed = self.manager = self.registry = ""

    def ask(self, method: str, *params: object) -> Any:
        """The result of a call."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            said = json.load(answer)
        assert "error" not in said, said
        return said["result"]

    def send(self, data: bytes, to: str | None = None) -> Any:
        """Carry out a transaction; its receipt."""
        sent = {"from": self.funder, "data": f"0x{data.hex()}", "gas": hex(5_000_000)} | ({"to": to} if to else {})
        number, end = self.ask("eth_sendTransaction", sent), time.monotonic() + 10
        while (receipt := self.ask("eth_getTransactionReceipt", number)) is None:
            assert time.monotonic() < end, "the chain makes no block"
            time.sleep(0.01)
        assert receipt["status"] == "0x1", receipt
        return receipt

    def deploy(self) -> None:
        """Put the contracts there, and tell the controller of those that it knows."""
        self.funder = self.ask("eth_accounts")[0]
        made = {name: self.send(bytes.fromhex(code))["contractAddress"] for name, code in CONTRACTS.items()}
        self.controller, self.broker, self.feed = made["Controller"], made["TicketBroker"], made["PriceFeed"]
        self.manager, self.registry = made["BondingManager"], made["ServiceRegistry"]
        for name in ("TicketBroker", "BondingManager", "ServiceRegistry"):
            self.set_contract(name, made[name])

    def set_contract(self, name: str, address: str) -> None:
        """Which contract the controller knows by a name."""
        self.send(call("setContract(bytes32,address)", keccak256(name.encode()), address), self.controller)

    def set_balance(self, account: str, wei: int) -> None:
        """Give an account exactly this much."""
        self.ask("anvil_setBalance", account, hex(wei))

    def set_sender(self, account: str, deposit: int, reserve: int, withdraw_round: int = 0) -> None:
        """What the account of a gateway has in the broker, in wei."""
        self.send(
            call("setSender(address,uint256,uint256,uint256)", account, deposit, withdraw_round, reserve), self.broker
        )

    def set_registration(self, account: str, active: bool, address: str) -> None:
        """Whether the account of an orchestrator is in the active set, and its service address; "" for none."""
        self.send(call("setActive(address,bool)", account, int(active)), self.manager)
        self.set_address(self.registry, account, address)

    def set_address(self, registry: str, account: str, address: str) -> None:
        """The service address of an account, in one of the registries."""
        self.send(call("setServiceURI(address,string)", account, 64) + _text(address), registry)

    def set_feed(self, pair: str, price: int) -> None:
        """What the price feed says: a pair such as "ETH / USD", and a price."""
        self.send(call("set(string,int256)", 64, price % 2**256) + _text(pair), self.feed)


class SoundChain(ThreadingHTTPServer):
    """A stand-in for an RPC server of Arbitrum One on which everything is as it should be; it answers until `close`.

    Every account is active; `registered` are the service addresses by account in lower case, as they are at the time
    when it is asked.
    """

    def __init__(self, registered: Mapping[str, str], place: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        super().__init__(place, _Sound)
        self.registered = registered
        self.url = f"http://{place[0]}:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """End it."""
        self.shutdown()
        self.server_close()


class _Sound(BaseHTTPRequestHandler):
    server: SoundChain

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = {
            "eth_chainId": hex(ARBITRUM),
            "eth_gasPrice": hex(10**8),
            "eth_getBlockByNumber": {"timestamp": hex(int(time.time()))},
            "eth_getBalance": hex(10**21),
            "eth_call": self._returned(*asked["params"]),
        }[asked["method"]]
        content = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _returned(self, asked: object = None, *_: object) -> str:
        """What a contract returns to a call: a service address, yes, a rate, a contract, or what a sender has."""
        data = str(asked["data"]) if isinstance(asked, dict) else ""
        if data.startswith("0x" + call("getServiceURI(address)").hex()):
            found = _word(32) + _text(self.server.registered.get("0x" + data[-40:], ""))
        elif data.startswith("0x" + call("isActiveTranscoder(address)").hex()):
            found = _word(1)
        elif data == "0x" + call("description()").hex():
            found = _word(32) + _text("ETH / USD")
        elif data == "0x" + call("latestRoundData()").hex():
            found = _word(2500 * 10**8) * 5
        else:
            found = _word(10**21) + _word(0) + _word(10**21) * 2
        return "0x" + found.hex()

    def log_message(self, *_: object) -> None:
        pass


def call(signature: str, *arguments: Argument) -> bytes:
    """The data of a call of a contract."""
    return keccak256(signature.encode())[:4] + b"".join(map(_word, arguments))


def _word(argument: Argument) -> bytes:
    if isinstance(argument, int):
        return argument.to_bytes(32, "big")
    return (bytes.fromhex(argument[2:]) if isinstance(argument, str) else argument).rjust(32, b"\0")


def _text(text: str) -> bytes:
    """A text at the end of the data of a call, or of an answer."""
    content = text.encode()
    return len(content).to_bytes(32, "big") + content + b"\0" * (-len(content) % 32)


def anvil(address: str, port: int, number: int) -> list[str]:
    """The words that start a chain; the test is skipped where anvil is not installed."""
    (program,) = node_package("@foundry-rs/anvil").parent.glob("anvil-*/bin/anvil")
    return [str(program), "--silent", "--host", address, "--port", str(port), "--chain-id", str(number)]


@contextmanager
def running(number: int = ARBITRUM, *options: str) -> Iterator[Chain]:
    """A chain without contracts."""
    (port,) = free_ports(1)
    process = subprocess.Popen([*anvil("127.0.0.1", port, number), *options], stdin=subprocess.DEVNULL)
    try:
        made = Chain(port, number)
        _wait(made, process)
        yield made
    finally:
        process.kill()
        process.wait()


def _wait(chain: Chain, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 20
    while True:
        try:
            assert chain.ask("eth_chainId") == hex(chain.id)
            return
        except OSError:
            assert process.poll() is None and time.monotonic() < end, "anvil does not start"
            time.sleep(0.05)
