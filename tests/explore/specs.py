"""Fleets that are explored, as texts: what each scenario changes in the one of the beginning."""

from __future__ import annotations

HEAD = """
spec = 1

[fleet]
name = "aurora"
network = "arbitrum-one-mainnet"
rpc = { env = "RPC_URL" }
node_release = "v0.9.1"

[wallets.payer]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = { host_file = "/etc/livepeer/password" }
reward_by = "orch-one"
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"

[rollout]
stable = "1s"
deadline = "20s"
confirm = "60s"
batch = BATCH
"""

HOST = """
[hosts.NAME]
address = "203.0.113.1NUMBER"
public = "NAME.example.net"
runtime = "systemd"
"""

ORCHESTRATOR = """
[orchestrators.orch-NAME]
host = "NAME"
mode = "video"
wallet = "payer"
price = "1200 wei / pixel"
service = "NAME.example.net:893NUMBER"
cli = "127.0.0.1:793NUMBER"
"""

GATEWAY = """
[gateways.gate-NAME]
host = "NAME"
mode = "video"
wallet = "payer"
cli = "127.0.0.1:794NUMBER"
http = "127.0.0.1:894NUMBER"
rtmp = "127.0.0.1:194NUMBER"
http_ingest = false
discovery = "registry"
max_price = "1500 wei / pixel"
"""


def spec(hosts: int, nodes: int, *changes: tuple[str, str], batch: int = 1) -> str:
    """A fleet with so many hosts and nodes on each; `changes` replace text."""
    text = HEAD.replace("BATCH", str(batch))
    for number, name in enumerate(("one", "two")[:hosts], 1):
        for part in (HOST, ORCHESTRATOR, GATEWAY)[: nodes + 1]:
            text += part.replace("NAME", name).replace("NUMBER", str(number))
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


PRICE = ("1200 wei", "1300 wei")
SESSIONS = ("price = \"1200", "max_sessions = 12\nprice = \"1200")
ILL = ("price = \"1200", "max_sessions = 13\nprice = \"1200")
