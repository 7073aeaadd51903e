"""Writes the first spec of a fleet from four answers: role, runtime, network and hosts.

In: `Answers`. Out: the text of a short spec that checks clean but for `todo-left`: behind each value that it guesses
stands a TODO. Pure; `questions.py` asks, `cli/init.py` writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from fleetc.formatting import formatted
from fleetc.toml.document import Source
from fleetc.toml.edits import toml_key, toml_value

OFFCHAIN, ONCHAIN = "offchain", "arbitrum-one-mainnet"
_GPU = '{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }'


class Kind(StrEnum):
    """What runs."""

    video = "video"
    gateway = "gateway"
    orchestrator = "orchestrator"
    ai = "ai"


MEANINGS = {
    Kind.video: "a gateway for video, and orchestrators that transcode for it",
    Kind.gateway: "gateways for video that buy from orchestrators of others",
    Kind.orchestrator: "orchestrators that transcode video for gateways of others",
    Kind.ai: "a gateway for AI, and orchestrators that generate images for it",
}


class Where(StrEnum):
    """What starts the nodes."""

    docker = "docker"
    systemd = "systemd"


class Network(StrEnum):
    """Whether payments are made."""

    offchain = OFFCHAIN
    onchain = ONCHAIN


class HostAnswer(NamedTuple):
    """A machine: its name in the spec, where Ansible connects to, and the name that others reach it at."""

    name: str
    address: str
    public: str


class Answers(NamedTuple):
    """All answers."""

    kind: Kind = Kind.video
    where: Where = Where.docker
    network: Network = Network.offchain
    hosts: tuple[HostAnswer, ...] = (HostAnswer("studio", "192.0.2.10", "studio.example.net"),)


def read_host(text: str) -> HostAnswer:
    """NAME=ADDRESS, or NAME=ADDRESS/PUBLIC where others reach it at another name. Raises ValueError."""
    name, equals, rest = text.strip().partition("=")
    address, slash, public = rest.partition("/")
    if not (name and equals and address) or (slash and not public):
        raise ValueError
    return HostAnswer(name, address, public or address)


def read_hosts(texts: Iterable[str]) -> tuple[HostAnswer, ...]:
    """Several of these. Raises ValueError, also where two have one name."""
    hosts = tuple(map(read_host, texts))
    if len({host.name for host in hosts}) < len(hosts):
        raise ValueError
    return hosts


def first_spec(answers: Answers) -> str:
    """The text of the spec, formatted."""
    text, _ = formatted(Source("fleet.toml", "\n".join(_lines(answers)) + "\n"))
    assert text is not None  # noqa: S101  # its values are written as TOML
    return text


def _lines(answers: Answers) -> Iterator[str]:
    kind, onchain = answers.kind, answers.network is Network.onchain
    buyers, sellers = _buyers(answers), _sellers(answers)
    yield "#:schema ./spec.schema.json"
    yield f"# A first fleet: {MEANINGS[kind]}."
    yield "# fleetc explain hosts.address explains a field, fleetc explain CODE a message."
    yield "spec = 1"
    yield from ("", "[fleet]", 'name = "first-fleet"', f'network = "{answers.network}"', 'node_release = "v0.9.1"')
    if onchain:
        yield 'rpc = { env = "ARBITRUM_RPC_URL" }  # the address of your RPC service, a secret, is in this variable'
    for host in answers.hosts:
        yield from _host(host, answers, host in sellers)
    if onchain:
        yield from _wallets(bool(buyers), [_seller_name(host, answers) for host in sellers])
    if kind is Kind.ai:
        yield from _MODEL
    for host in buyers:
        yield from _gateway(host, answers, sellers)
    for host in sellers:
        yield from _orchestrator(host, answers, sellers)


def _buyers(answers: Answers) -> Sequence[HostAnswer]:
    """The hosts of gateways: all where nothing else runs, else the first."""
    if answers.kind is Kind.orchestrator:
        return ()
    return answers.hosts if answers.kind is Kind.gateway else answers.hosts[:1]


def _sellers(answers: Answers) -> Sequence[HostAnswer]:
    """The hosts of orchestrators: all but the one of the gateway, if there are others."""
    if answers.kind is Kind.gateway:
        return ()
    if answers.kind is Kind.orchestrator:
        return answers.hosts
    return answers.hosts[1:] or answers.hosts


def _seller_name(host: HostAnswer, answers: Answers) -> str:
    return _free("orch" if len(_sellers(answers)) == 1 else f"orch-{host.name}", answers)


def _free(name: str, answers: Answers) -> str:
    """The name of a node, longer where a host has it: they share units and an inventory."""
    while any(host.name == name for host in answers.hosts):
        name += "-node"
    return name


def _host(host: HostAnswer, answers: Answers, sells: bool) -> Iterator[str]:
    yield from ("", f"[hosts.{toml_key(host.name)}]")
    yield f"address = {toml_value(host.address)}  # where Ansible connects to"
    yield f'runtime = "{answers.where}"'
    yield f"public = {toml_value(host.public)}  # the name that others reach it at"
    if sells and _has_gpus(answers):
        yield f"gpus = [{_GPU}]  # TODO: your GPUs; fleetc checks what fits"


def _has_gpus(answers: Answers) -> bool:
    """Off-chain video is transcoded on the CPU, so that a first try needs nothing."""
    return answers.kind is Kind.ai or answers.network is Network.onchain


def _wallets(gateway: bool, sellers: Sequence[str]) -> Iterator[str]:
    if gateway:
        yield from ("", "[wallets.payer]", *_account("1", "payer"))
        yield from ('deposit = "0.5 ETH"', 'reserve = "0.3 ETH"', 'reward_by = "none"')
    if sellers:
        yield from ("", "[wallets.earner]", *_account("2", "earner"))
        yield f"reward_by = {toml_value(sellers[0])}"


def _account(digit: str, name: str) -> Iterator[str]:
    yield f'address = "0x{digit * 40}"  # TODO: the account of {name}'
    yield 'keystore = "/var/lib/livepeer/keystore"'
    yield f'password = {{ host_file = "/etc/livepeer/{name}-password" }}'
    yield 'minimum_balance = "0.05 ETH"'


_MODEL = (
    "",
    "[models.realvis]  # its images (ai-runner) are deprecated since August 2026: for something new, see [runners]",
    'pipeline = "text-to-image"',
    'id = "SG161222/RealVisXL_V4.0_Lightning"',
    'memory = "9 GiB"',
    'price = "4768371 wei / pixel"',
)


def _gateway(host: HostAnswer, answers: Answers, sellers: Sequence[HostAnswer]) -> Iterator[str]:
    onchain, ai = answers.network is Network.onchain, answers.kind is Kind.ai
    name = "gate" if len(_buyers(answers)) == 1 else f"gate-{host.name}"
    port = 9935 if host in sellers else 8935  # an orchestrator has the usual one
    yield from (
        "",
        f"[gateways.{toml_key(_free(name, answers))}]",
        f"host = {toml_value(host.name)}",
        f'mode = "{"ai" if ai else "video"}"',
    )
    if onchain:
        yield 'wallet = "payer"'
    address = "127.0.0.1" if onchain else "0.0.0.0"  # noqa: S104  # it pays for whoever reaches it
    proxied = ", from a proxy that asks who calls" if onchain else ""
    yield f'http = "{address}:{port}"  # {"requests" if ai else "playback, and streams over HTTP"}{proxied}'
    yield "http_ingest = true"
    if not ai:
        yield f'rtmp = "{address}:1935"  # streams over RTMP{proxied}'
    if sellers:
        names = ", ".join(toml_value(_seller_name(seller, answers)) for seller in sellers)
        yield f"orchestrators = [{names}]"
    elif onchain:
        yield 'discovery = "registry"  # orchestrators of the network'
    else:
        yield 'orchestrators = ["https://orchestrator.example.net:8935"]  # TODO: whom you buy from'
    if onchain and ai:
        yield from ('max_price = "any"', 'max_model_prices = { realvis = "5000000 wei / pixel" }')
    elif onchain:
        yield 'max_price = "1500 wei / pixel"'
    if not ai:
        yield 'renditions = ["P240p30fps16x9", "P360p30fps16x9"]'
    if onchain:
        yield 'block_polling_interval = "20s"'


def _orchestrator(host: HostAnswer, answers: Answers, sellers: Sequence[HostAnswer]) -> Iterator[str]:
    onchain, ai = answers.network is Network.onchain, answers.kind is Kind.ai
    name = _seller_name(host, answers)
    yield from ("", f"[orchestrators.{toml_key(name)}]", f"host = {toml_value(host.name)}")
    yield f'mode = "{"ai" if ai else "video"}"'
    if onchain:
        yield 'wallet = "earner"'
    yield f"service = {toml_value(f'{host.public}:8935')}  # the address that gateways get"
    if onchain and host == sellers[0] and len(sellers) > 1:
        others = ", ".join(toml_value(f"https://{other.public}:8935") for other in sellers[1:])
        yield f"instances = [{others}]  # one account has one registered address; this one names the others"
    if onchain and ai:
        yield 'ticket_ev = "10 gwei"  # one payment then holds an image of 1024 x 1024 pixels'
    elif onchain:
        yield 'price = "1200 wei / pixel"'
    if ai:
        yield 'secret = { host_file = "/etc/livepeer/orchestrator-secret" }'
        yield 'models = [{ use = "realvis", warm = true }]'
    else:
        yield f"max_sessions = {8 if _has_gpus(answers) else 4}  # streams at the same time"
    if _has_gpus(answers):
        yield "gpus = [0]"
