"""Checks spec texts the way `fleetc check` does, and writes the tables that most tests about rules need.

In: spec texts, or settings as raw TOML. Out: the printed diagnostics (`flagged`), or the assurance that there are none
(`silent`). Builders give a sound table; a keyword replaces or adds a setting, None removes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from fleetc.messages.locate import Located, locate
from fleetc.messages.repairs import Repair, repairs
from fleetc.messages.text import as_text
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Severity, Span
from fleetc.toml.document import Source, value_at
from fleetc.toml.edits import written

_HOSTS = """
[hosts.edge]
address = "203.0.113.10"
public = "edge.example.net"
runtime = "docker"

[hosts.gpu]
address = "203.0.113.20"
public = "orch.example.net"
runtime = "systemd"
gpus = [
  { model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 },
  { model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 },
]
"""

_WALLETS = """
[wallets.payer]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = { host_file = "/etc/livepeer/payer-password" }
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"

[wallets.earner]
address = "0x2222222222222222222222222222222222222222"
keystore = "/var/lib/livepeer/keystore"
password = { host_file = "/etc/livepeer/earner-password" }
minimum_balance = "0.05 ETH"
"""

SECRET = '{ host_file = "/etc/livepeer/orchestrator-secret" }'


def offchain(*tables: str, **fleet: str | None) -> str:
    """A fleet without a chain: two hosts, edge and gpu, and the given tables. Keywords go into [fleet]."""
    settings = {"name": '"test"', "network": '"offchain"', "node_release": '"v0.9.1"', **fleet}
    return "\n".join(["spec = 1\n", _table("fleet", settings), _HOSTS, *tables])


def onchain(*tables: str, **fleet: str | None) -> str:
    """A fleet on Arbitrum: two hosts, edge and gpu, two wallets, payer and earner, and the given tables."""
    settings = {"network": '"arbitrum-one-mainnet"', "rpc": '{ env = "RPC_URL" }', **fleet}
    return offchain(_WALLETS, *tables, **settings)


def gateway(name: str = "gate", /, **settings: str | None) -> str:
    """A gateway for video on a chain, on host edge."""
    base = {"host": '"edge"', "mode": '"video"', "wallet": '"payer"', "max_price": '"any"'}
    return _table(f"gateways.{name}", {**base, **settings})


def orchestrator(name: str = "orch", /, **settings: str | None) -> str:
    """An orchestrator for video on a chain, on host gpu, that transcodes on the CPU."""
    base = {"host": '"gpu"', "mode": '"video"', "wallet": '"earner"', "price": '"1200 wei / pixel"'}
    return _table(f"orchestrators.{name}", {**base, **settings})


def free_gateway(name: str = "gate", /, **settings: str | None) -> str:
    """A gateway for video off-chain, on host edge, with the list orch."""
    return gateway(name, **{"wallet": None, "max_price": None, "orchestrators": '["orch"]', **settings})


def free_orchestrator(name: str = "orch", /, **settings: str | None) -> str:
    """An orchestrator for video off-chain, on host gpu."""
    return orchestrator(name, **{"wallet": None, "price": None, **settings})


def dispatcher(**settings: str | None) -> str:
    """An orchestrator off-chain on host edge, which gives its work to workers."""
    return free_orchestrator(**{"host": '"edge"', "secret": SECRET, **settings})


def ai_dispatcher(**settings: str | None) -> str:
    """A dispatcher for video and for the model realvis."""
    return dispatcher(**{"mode": '"dual"', "models": '[{ use = "realvis" }]', **settings})


def transcoder(name: str = "worker", /, **settings: str | None) -> str:
    """A transcoder of orch, on host gpu."""
    return _table(f"transcoders.{name}", {"host": '"gpu"', "orchestrator": '"orch"', **settings})


def ai_worker(name: str = "worker", /, **settings: str | None) -> str:
    """An AI worker of orch, on host gpu, with GPU 0 and the model realvis warm."""
    models = '[{ use = "realvis", warm = true }]'
    base = {"host": '"gpu"', "orchestrator": '"orch"', "gpus": "[0]", "models": models}
    return _table(f"ai_workers.{name}", {**base, **settings})


def signer(name: str = "signer", /, **settings: str | None) -> str:
    """A remote signer on a chain, on host edge."""
    base = {"host": '"edge"', "wallet": '"payer"', "max_price": '"any"'}
    return _table(f"remote_signers.{name}", {**base, **settings})


def redeemer(name: str = "redeemer", /, **settings: str | None) -> str:
    """A redeemer on a chain, on host edge."""
    return _table(f"redeemers.{name}", {"host": '"edge"', "wallet": '"earner"', **settings})


def reward_caller(name: str = "caller", /, **settings: str | None) -> str:
    """A reward caller on a chain, on host edge."""
    return _table(f"reward_callers.{name}", {"host": '"edge"', "wallet": '"earner"', **settings})


def model(name: str = "realvis", /, **settings: str | None) -> str:
    """An image model with a price and the memory it needs."""
    base = {
        "pipeline": '"text-to-image"',
        "id": '"SG161222/RealVisXL_V4.0_Lightning"',
        "memory": '"4 GiB"',
        "price": '"4000 wei / pixel"',
    }
    return _table(f"models.{name}", {**base, **settings})


def wallet(name: str = "third", /, **settings: str | None) -> str:
    """One more wallet."""
    address = '"0x3333333333333333333333333333333333333333"'
    base = {"address": address, "keystore": '"/var/lib/livepeer/keystore"', "password": '{ env = "PASSWORD" }'}
    base |= {"minimum_balance": '"0.05 ETH"', "deposit": '"0.5 ETH"', "reserve": '"0.3 ETH"'}
    return _table(f"wallets.{name}", {**base, **settings})


def avatars(name: str = "stage", /, **settings: str | None) -> str:
    """An avatar stack with two slots, on GPU 1 of host gpu, that the payments service may call."""
    base = {"host": '"gpu"', "gpu": "1", "slots": '[{ avatar = "mira" }, { avatar = "noor" }]'}
    base |= {"allow": '["payments"]', "payments": '{ addresses = ["203.0.113.90"], url = "http://203.0.113.90:8081" }'}
    base["game_command"] = "true"
    return _table(f"avatars.{name}", {**base, **settings})


def staged(*tables: str, **fleet: str | None) -> str:
    """A fleet without a chain that runs avatar stacks of v1.3.6, and the given tables."""
    return offchain(*tables, **{"avatar_release": '"v1.3.6"', **fleet})


def host(name: str, /, **settings: str | None) -> str:
    """One more host, with docker."""
    return _table(f"hosts.{name}", {"address": '"203.0.113.30"', "runtime": '"docker"', **settings})


def runner(name: str = "echo", /, **settings: str | None) -> str:
    """A live runner in a container on host edge, which the orchestrator asks whether it is well."""
    image = f'"registry.example.net/{name}@sha256:{"a" * 64}"'
    base = {"app": f'"example/{name}"', "host": '"edge"', "image": image, "port": "8989", "health": '"/health"'}
    return _table(f"runners.{name}", {**base, "price": '"0.10 USD / hour"', **settings})


def renting(*runners: str, rates: bool = True, tables: tuple[str, ...] = (), **settings: str | None) -> str:
    """A fleet on a chain with an orchestrator orch that offers live runners alone, by default echo."""
    base = {"mode": '"ai"', "price": None, "secret": SECRET, "http": '"127.0.0.1:8935"', "http_tls": "false"}
    base |= {"runners": '["echo"]', "ticket_ev": '"20 gwei"'}
    worth = '[rates]\nUSD = "0.0004 ETH"\n' if rates else ""
    offered = runners or (() if any("[runners." in one for one in tables) else (runner(),))
    return onchain(worth, orchestrator(**{**base, **settings}), *offered, *tables)


def stream(name: str = "main", /, **settings: str | None) -> str:
    """A stream of the stream API that somebody sends to it."""
    return _table(f"streams.{name}", settings)


def rung(name: str = "720p", /, **settings: str | None) -> str:
    """One rendition as an inline table, sound for the stream API and for a node."""
    base = {"name": f'"{name}"', "width": "1280", "height": "720", "bitrate": "3000000", "fps": "30", **settings}
    return f"{{ {', '.join(f'{key} = {value}' for key, value in base.items() if value is not None)} }}"


def small(name: str = "360p", /, **settings: str | None) -> str:
    """A smaller rendition."""
    return rung(name, **{"width": "640", "height": "360", "bitrate": "800000", **settings})


def ladder(*rungs: str, name: str = "live") -> str:
    """A ladder of renditions."""
    return _table(f"ladders.{name}", {"profiles": listed(*rungs)})


def listed(*items: str) -> str:
    """An array with one item on each line."""
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"


def broadcast(*tables: str, **gate: str | None) -> str:
    """A fleet off-chain with a gateway gate, an orchestrator, and the given tables; keywords go to the gateway."""
    return offchain(free_orchestrator(), free_gateway(**gate), *tables)


def _table(header: str, settings: dict[str, str | None]) -> str:
    lines = [f"{key} = {value}" for key, value in settings.items() if value is not None]
    return "\n".join([f"[{header}]", *lines, ""])


def checked(text: str) -> Checked:
    """What the stages before lowering find. Each name that a help line asks about is an edit that ends the problem."""
    found = check_spec([Source("fleet.toml", text)])
    for item, edits in asked(found):
        place = item.diagnostic.primary.place
        assert found.document is not None and not isinstance(place, Span)
        names = re.findall(r'"([^"]+)"', item.diagnostic.help.partition("did you mean ")[2].partition("?")[0])
        if item.diagnostic.primary.on_key:  # what the table has already is no name for another key
            names = [name for name in names if value_at(found.document.raw, (*place[:-1], name)) is None]
        assert [edit.fix.edits[0].value for edit in edits][: len(names)] == names, item.diagnostic
        assert all(item.diagnostic not in made(found, [edit]).diagnostics for edit in edits), item.diagnostic
    return found


def asked(found: Checked) -> list[tuple[Located, tuple[Repair, ...]]]:
    """The problems whose help asks what was meant, each with its edits."""
    located = locate(found.diagnostics, found.sources, found.document)
    every = zip(located, repairs(located, found.sources, found.document), strict=True)
    open_to_edits = [(item, edits) for item, edits in every if not item.primary.hidden and item.primary.path]
    return [(item, edits) for item, edits in open_to_edits if "did you mean" in item.diagnostic.help]


def made(found: Checked, edits: Sequence[Repair]) -> Checked:
    """The spec once these edits are made."""
    pieces = [piece for edit in edits for piece in edit.pieces]
    return check_spec([Source(one.name, written(one.text, at, pieces)) for at, one in enumerate(found.sources)])


def printed(text: str, code: str = "") -> str:
    """The printed diagnostics of a spec, or those of one code."""
    found = checked(text)
    wanted = [d for d in found.diagnostics if code in ("", d.code)]
    return as_text(locate(wanted, [Source("fleet.toml", text)], found.document))


def flagged(text: str, code: str, severity: Severity = Severity.ERROR) -> str:
    """What is printed about a spec under one code. Fails when nothing is, or when the severity is another one."""
    found = [d for d in checked(text).diagnostics if d.code == code]
    assert found, f"{code} is not reported; this is:\n{printed(text)}"
    assert {d.severity for d in found} == {severity}, f"{code} has another severity:\n{printed(text, code)}"
    return printed(text, code)


class OneRule(NamedTuple):
    """The rule that a test is named after, `test_<code>`: what it reports of a spec text."""

    code: str

    def errs(self, text: str, *words: str) -> str:
        """What is printed about a spec with errors of this code, which has these words."""
        return self._with(words, flagged(text, self.code))

    def warns(self, text: str, *words: str) -> str:
        """What is printed about a spec with warnings of this code, which has these words."""
        return self._with(words, flagged(text, self.code, Severity.WARNING))

    def printed(self, text: str) -> str:
        """What is printed under this code."""
        return printed(text, self.code)

    def quiet(self, text: str) -> None:
        """Fail when the rule reports anything; others may."""
        assert self.printed(text) == "no problems\n"

    @staticmethod
    def _with(words: tuple[str, ...], shown: str) -> str:
        for word in words:
            assert word in shown
        return shown


def silent(text: str) -> None:
    """Fail when anything at all is said about a spec."""
    found = checked(text).diagnostics
    assert not found, f"a sound spec is not silent:\n{printed(text)}"


def program(release: str, digit: str, more: str = "") -> str:
    """A table of programs whose digests are all one digit."""
    url = f'url = "https://downloads.example.net/{release}/livepeer"'
    return f'[programs."{release}"]\n{url}\nsha256 = "{digit * 64}"\n{more}'
