"""Specs with very many entries of one kind, right ones and wrong ones, for tests of how the work grows.

In: a kind of table, a fault (or none) and a number. Out: TOML text. Every entry has the fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cache

from fleetc.language.quantities import parse_eth_address

HEAD = """\
spec = 1
[fleet]
name = "large"
network = "arbitrum-one-mainnet"
rpc = { env = "RPC" }
node_release = "v0.9.1"
avatar_release = "v1.3.6"
"""
ONE_OF_EACH = """\
[hosts.base]
address = "203.0.113.9"
public = "base.example.net"
runtime = "docker"
gpus = [{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }]
[wallets.money]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = { env = "MONEY" }
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"
reward_by = "none"
[models.picture]
pipeline = "text-to-image"
id = "SG161222/RealVisXL_V4.0_Lightning"
memory = "4 GiB"
price = "4000000 wei / pixel"
[gateways.gate]
host = "base"
mode = "dual"
wallet = "money"
http = "0.0.0.0:9935"
http_ingest = true
max_price = "1500 wei / pixel"
max_model_prices = { picture = "5000000 wei / pixel" }
orchestrators = ["orch"]
[orchestrators.orch]
host = "base"
mode = "dual"
wallet = "money"
service = "base.example.net:8935"
price = "1200 wei / pixel"
secret = { env = "ORCH" }
gpus = [0]
max_sessions = 2
models = [{ use = "picture" }]
[ladders.steps]
profiles = [{ name = "720p0", width = 1280, height = 720, bitrate = 3000000, fps = 30 }]
[rates]
USD = "0.0004 ETH"
"""


@cache
def _account(number: int) -> str:
    return str(parse_eth_address("0x" + hashlib.sha256(str(number).encode()).hexdigest()[:40]))


def _host(number: int) -> str:
    return (
        f'[hosts.h{number}]\naddress = "10.{number >> 16}.{number >> 8 & 255}.{number & 255}"\n'
        f'public = "h{number}.example.net"\nruntime = "docker"\n'
        'gpus = [{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }]\n'
    )


def _wallet(number: int) -> str:
    return (
        f'[wallets.w{number}]\naddress = "{_account(number)}"\nkeystore = "/var/lib/livepeer/keystore"\n'
        f'password = {{ env = "MONEY" }}\nminimum_balance = "0.05 ETH"\nreward_by = "none"\n'
    )


def _model(number: int) -> str:
    return (
        f'[models.m{number}]\npipeline = "text-to-image"\nid = "maker/model-{number}"\n'
        'memory = "4 GiB"\nprice = "4000000 wei / pixel"\n'
    )


def _on_host(number: int, body: str) -> str:
    return f"{_host(number)}{body}"


def _gateway(number: int) -> str:
    return _on_host(
        number,
        f'[gateways.n{number}]\nhost = "h{number}"\nmode = "video"\nwallet = "money"\nhttp = "0.0.0.0:8935"\n'
        'http_ingest = true\nmax_price = "1500 wei / pixel"\norchestrators = ["orch"]\n',
    )


def _orchestrator(number: int) -> str:
    return _on_host(
        number,
        f'[orchestrators.n{number}]\nhost = "h{number}"\nmode = "dual"\nwallet = "money"\n'
        f'service = "h{number}.example.net:8935"\nprice = "1200 wei / pixel"\ngpus = [0]\nmax_sessions = 2\n'
        'models = [{ use = "picture", warm = true }]\ngateway_prices = { gate = "1100 wei / pixel" }\n',
    )


def _transcoder(number: int) -> str:
    return _on_host(
        number, f'[transcoders.n{number}]\nhost = "h{number}"\norchestrator = "orch"\ngpus = [0]\nmax_sessions = 2\n'
    )


def _ai_worker(number: int) -> str:
    return _on_host(
        number,
        f'[ai_workers.n{number}]\nhost = "h{number}"\norchestrator = "orch"\ngpus = [0]\n'
        'models = [{ use = "picture", warm = true }]\n',
    )


def _signer(number: int) -> str:
    return _on_host(
        number, f'[remote_signers.n{number}]\nhost = "h{number}"\nwallet = "money"\nmax_price = "1500 wei / pixel"\n'
    )


def _redeemer(number: int) -> str:
    return _on_host(number, f'[redeemers.n{number}]\nhost = "h{number}"\nwallet = "money"\n')


def _reward_caller(number: int) -> str:
    return _on_host(
        number, f'[reward_callers.n{number}]\nhost = "h{number}"\nwallet = "money"\ninitialize_round = true\n'
    )


def _stack(number: int) -> str:
    return _on_host(
        number,
        f'[avatars.n{number}]\nhost = "h{number}"\nslots = [{{ avatar = "mira{number}", gpu = 0 }}]\n'
        'allow = ["10.0.0.1"]\n',
    )


def _ladder(number: int) -> str:
    return (
        f"[ladders.l{number}]\nprofiles = [\n"
        '  { name = "360p0", width = 640, height = 360, bitrate = 800000, fps = 30 },\n'
        '  { name = "720p0", width = 1280, height = 720, bitrate = 3000000, fps = 30 },\n]\n'
    )


def _stream(number: int) -> str:
    return f'[streams.s{number}]\ngateway = "gate"\nladder = "steps"\nrecord = true\n'


def _silence(number: int) -> str:
    """A warning, and the entry that silences it: a ladder whose bit rates look like kilobits."""
    return (
        f"{_ladder(number).replace('800000', '8000')}[silences.s{number}]\n"
        f'code = "bitrate-looks-like-kilobits"\nreason = "known"\nat = "ladders.l{number}"\n'
    )


def _rate(number: int) -> str:
    letters = "".join(chr(65 + number // 26**place % 26) for place in range(4))
    return f'X{letters} = "0.0004 ETH"\n'


def _market(number: int) -> str:
    """A gateway that looks for orchestrators in the registry, and an orchestrator to be found, all prices different."""
    return _on_host(
        number,
        f'[gateways.g{number}]\nhost = "h{number}"\nmode = "dual"\nwallet = "money"\nhttp = "0.0.0.0:8936"\n'
        f'http_ingest = true\nmax_price = "{1200 + number} wei / pixel"\ndiscovery = "registry"\nmonitor = true\n'
        f'max_model_prices = {{ picture = "{5000000 + number} wei / pixel" }}\n'
        f'[wallets.w{number}]\naddress = "{_account(number)}"\nkeystore = "/var/lib/livepeer/keystore"\n'
        'password = { env = "MONEY" }\nminimum_balance = "0.05 ETH"\n'
        f'[orchestrators.n{number}]\nhost = "h{number}"\nmode = "dual"\nwallet = "w{number}"\nmonitor = true\n'
        f'service = "h{number}.example.net:8935"\nprice = "{1100 + number} wei / pixel"\ngpus = [0]\nmax_sessions = 2\n'
        'models = [{ use = "picture", warm = true }]\ngateway_prices = { gate = "1100 wei / pixel" }\n',
    )


def _runner(number: int) -> str:
    """A live runner, and the orchestrator that offers it."""
    image = f"registry.example.net/echo@sha256:{'a' * 64}"
    return _on_host(
        number,
        f'[runners.r{number}]\napp = "example/echo{number}"\nhost = "h{number}"\nimage = "{image}"\nport = 8989\n'
        f'health = "/health"\nprice = "0.10 USD / hour"\n[orchestrators.n{number}]\nhost = "h{number}"\nmode = "ai"\n'
        f'wallet = "money"\nservice = "h{number}.example.net:8935"\nrunners = ["r{number}"]\nticket_ev = "20 gwei"\n'
        'http_tls = false\nsecret = { env = "ORCH" }\n',
    )


def _classed(number: int) -> str:
    """A gateway, and the class that it is like."""
    return _gateway(number).replace('mode = "video"', f'like = "c{number}"') + (
        f'[classes.c{number}.gateways]\nmode = "video"\n'
    )


def _remote_work(number: int) -> str:
    """An orchestrator with workers of both kinds on other hosts."""
    return _on_host(
        number,
        f'[orchestrators.n{number}]\nhost = "base"\nmode = "dual"\nwallet = "money"\nsecret = {{ env = "ORCH" }}\n'
        f'service = "base.example.net:{10000 + number}"\nprice = "1200 wei / pixel"\nmax_sessions = "auto"\n'
        f'cli = "127.0.0.1:{35000 + number}"\nmodels = [{{ use = "picture" }}]\n'
        f'[transcoders.t{number}]\nhost = "h{number}"\norchestrator = "n{number}"\ngpus = [0]\nmax_sessions = 2\n'
        f'[ai_workers.a{number}]\nhost = "h{number}"\norchestrator = "n{number}"\ngpus = [0]\n'
        'models = [{ use = "picture" }]\n',
    )


ENTRIES: dict[str, Callable[[int], str]] = {
    "hosts": _host,
    "wallets": _wallet,
    "models": _model,
    "gateways": _gateway,
    "orchestrators": _orchestrator,
    "transcoders": _transcoder,
    "ai_workers": _ai_worker,
    "remote_signers": _signer,
    "redeemers": _redeemer,
    "reward_callers": _reward_caller,
    "avatars": _stack,
    "ladders": _ladder,
    "streams": _stream,
    "silences": _silence,
    "rates": _rate,
    "market": _market,
    "remote_work": _remote_work,
    "runners": _runner,
    "classes": _classed,
}

LONG: dict[str, tuple[str, Callable[[int], str], str]] = {
    "orchestrators of a gateway": (
        '[gateways.long]\nhost = "base"\nmode = "video"\nwallet = "money"\nhttp = "0.0.0.0:8945"\nhttp_ingest = true\n'
        'max_price = "1500 wei / pixel"\norchestrators = [\n',
        lambda number: f'"h{number}.example.net:8935",\n',
        "]\n",
    ),
    "model prices of a gateway": (
        "[gateways.gate.max_model_prices]\n",
        lambda number: f'nothing{number} = "1 wei / pixel"\n',
        "",
    ),
    "prices for gateways": (
        "[orchestrators.orch.gateway_prices]\n",
        lambda number: f'{_account(number)} = "1100 wei / pixel"\n',
        "",
    ),
    "prices for unknown gateways": (
        "[orchestrators.orch.gateway_prices]\n",
        lambda number: f'nobody{number} = "1100 wei / pixel"\n',
        "",
    ),
    "environment": (
        "[orchestrators.orch.environment]\n",
        lambda number: f'NAME_{number} = "{number}"\n',
        "",
    ),
    "extra flags": (
        "[orchestrators.orch.extra_flags]\n",
        lambda number: f"maxAttemts{number} = 1\n",
        "",
    ),
    "models of an orchestrator": (
        '[ai_workers.long]\nhost = "base"\norchestrator = "orch"\ngpus = [0]\nmodels = [\n',
        lambda number: f'{{ use = "picture", url = "http://10.1.2.3:{20000 + number}" }},\n',
        "]\n",
    ),
    "gpus of a host": (
        '[hosts.long]\naddress = "203.0.113.99"\nruntime = "docker"\ngpus = [\n',
        lambda number: '{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 },\n',
        "]\n",
    ),
    "networks of an allowlist": (
        '[avatars.long]\nhost = "base"\nslots = 1\ngpu = 0\nallow = [\n',
        lambda number: f'"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",\n',
        "]\n",
    ),
    "arguments of a game": (
        '[avatars.long]\nhost = "base"\nslots = 1\ngpu = 0\ngame_args = [\n',
        lambda number: f'"-Arg{number}",\n',
        "]\n",
    ),
    "profiles of a stream": (
        "[streams.long]\nprofiles = [\n",
        lambda number: f'{{ name = "p{number}", width = 640, height = 360, bitrate = {800000 + number}, fps = 30 }},\n',
        "]\n",
    ),
}
"""Lists and tables of one entry that may be long: what stands before, one item, and what stands behind."""

_REFERENCES = {  # an entry's reference that each kind has, as written by the functions above
    "wallets": ('reward_by = "none"', 'reward_by = "node{}"'),
    "gateways": ('orchestrators = ["orch"]', 'orchestrators = ["orck{}"]'),
    "orchestrators": ('use = "picture"', 'use = "pictura{}"'),
    "transcoders": ('orchestrator = "orch"', 'orchestrator = "orck{}"'),
    "ai_workers": ('use = "picture"', 'use = "pictura{}"'),
    "remote_signers": ('wallet = "money"', 'wallet = "monei{}"'),
    "redeemers": ('wallet = "money"', 'wallet = "monei{}"'),
    "reward_callers": ('wallet = "money"', 'wallet = "monei{}"'),
    "avatars": ('host = "h', 'host = "g'),
    "streams": ('ladder = "steps"', 'ladder = "stepps{}"'),
    "silences": ('code = "bitrate-looks', 'code = "bitrate-lokks{}'),
}


def _unknown_key(kind: str, number: int, text: str) -> str:
    return "" if kind == "rates" else text + f'hosst{number} = "x"\n'


def _unknown_reference(kind: str, number: int, text: str) -> str:
    if kind not in _REFERENCES:
        return ""
    before, after = _REFERENCES[kind]
    return text.replace(before, after.format(number))


def _unknown_host(kind: str, number: int, text: str) -> str:
    return text.replace(f'host = "h{number}"', f'host = "hh{number}"') if f'host = "h{number}"' in text else ""


def _wrong_type(kind: str, number: int, text: str) -> str:
    last, _, _ = text.rstrip("\n").rpartition("\n")
    key, _, _ = text.rstrip("\n").rpartition("\n")[2].partition(" = ")
    if kind == "rates":
        return f"{text.partition(' = ')[0]} = true\n"
    if kind == "ladders":
        return f"[ladders.l{number}]\nprofiles = 5\n"
    return f"{last}\n{key} = {{ a = 1 }}\n"


def _same_name(kind: str, number: int, text: str) -> str:
    """Every node is called like a host."""
    return text.replace(f".n{number}]", f".h{number}]") if f".n{number}]" in text else ""


def _bad_name(kind: str, number: int, text: str) -> str:
    """The name of the entry itself, not that of its host."""
    at = text.rfind(f"[{kind}.")
    return text[:at] + text[at:].replace(f"{number}]", f"_{number}]", 1) if at >= 0 else ""


def _all_alike(kind: str, number: int, text: str) -> str:
    """Everything that ought to be unique is the same: addresses, accounts, ids, ports, places of silences."""
    alike = text.replace(_account(number), _account(0)).replace(f"10.{number >> 16}.", "10.0.")
    alike = alike.replace(f".{number >> 8 & 255}.{number & 255}", ".0.7").replace(f"h{number}.example.net", "h.net")
    return alike.replace(f"model-{number}", "model").replace(f"mira{number}", "mira").replace(f"orch{number}", "orch")


def _one_host(kind: str, number: int, text: str) -> str:
    """Every node runs on one host."""
    found = text.rpartition("\n[")[2]
    return "[" + found.replace(f'host = "h{number}"', 'host = "base"') if f'host = "h{number}"' in found else ""


FAULTS: dict[str, Callable[[str, int, str], str]] = {
    "right": lambda kind, number, text: text,
    "unknown-key": _unknown_key,
    "unknown-reference": _unknown_reference,
    "unknown-host": _unknown_host,
    "wrong-type": _wrong_type,
    "same-name": _same_name,
    "bad-name": _bad_name,
    "all-alike": _all_alike,
    "one-host": _one_host,
}


def cases() -> Iterator[tuple[str, str]]:
    """Every kind with every fault that it can have."""
    for kind, entry in ENTRIES.items():
        for fault, change in FAULTS.items():
            if change(kind, 1, entry(1)) and (fault == "right" or change(kind, 1, entry(1)) != entry(1)):
                yield kind, fault


FIRST = 1001
"""Numbers of entries begin here, so that all names are equally long: the work depends on the length of a name."""


def long_spec(name: str, count: int) -> str:
    """A spec in which one list or table has `count` items."""
    before, item, behind = LONG[name]
    items = "".join(map(item, range(FIRST, FIRST + count)))
    base = ONE_OF_EACH
    if "max_model_prices]" in before:
        base = base.replace('max_model_prices = { picture = "5000000 wei / pixel" }\n', "")
    return f"{HEAD}{base}{before}{items}{behind}"


def large_spec(kind: str, fault: str, count: int) -> str:
    """A spec with `count` entries of a kind, each with the fault."""
    entries = "".join(FAULTS[fault](kind, number, ENTRIES[kind](number)) for number in range(FIRST, FIRST + count))
    return HEAD + ONE_OF_EACH + entries


BIG: dict[str, Callable[[int], str]] = {
    "comments": lambda size: HEAD + ONE_OF_EACH + "# a comment about nothing at all\n" * (size // 33),
    "a field of many lines": lambda size: HEAD.replace("large", '""' + "abc def\n" * (size // 8) + '""') + ONE_OF_EACH,
    "a field": lambda size: HEAD.replace('"large"', f'"{"x" * size}"') + ONE_OF_EACH,
    "a price": lambda size: HEAD + ONE_OF_EACH.replace('"1200 wei', f'"{"1" * size} wei'),
    "a reference": lambda size: HEAD + ONE_OF_EACH.replace('"money"', f'"{"m" * min(size, 60_000)}"'),
    "an unknown key": lambda size: (
        HEAD + ONE_OF_EACH.replace("service = ", f"{'k' * min(size, 60_000)} = 1\nservice = ")
    ),
    "a line": lambda size: f"{HEAD}{ONE_OF_EACH}x = [{'1, ' * (size // 3)}]\n",
    "a line without an end": lambda size: "a" * size,
    "a string without an end": lambda size: 'a = """' + "bcd\n" * (size // 4),
    "an array without an end": lambda size: f"{HEAD}a = [\n" + "1,\n" * (size // 10),
    "hidden characters": lambda size: HEAD + ONE_OF_EACH + "# \u200b\n" * (size // 4),
    "line ends of another system": lambda size: HEAD + ONE_OF_EACH + "# x\r\n" * (size // 5),
}
"""Texts of about `size` characters, most of them in one place."""


def big_text(name: str, size: int) -> str:
    """One of the `BIG` texts."""
    return BIG[name](size)
