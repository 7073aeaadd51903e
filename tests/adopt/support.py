"""What the tests of adopting share: answers to the questions that an adopted spec leaves, and comparisons.

In: adopted specs. Out: specs without questions, and what the independent model of the node makes of both sides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fleetc import lower
from fleetc.adopt.adoption import Adopted
from fleetc.adopt.node.paths import home_of
from fleetc.adopt.node.settings import Running
from fleetc.emit.artifacts import json_document
from fleetc.language.spec import read_fleet, read_spec
from fleetc.toml.document import Source
from tests.node import Meaning, Settings, read, understand

ACCOUNT = '"0x11111111111111111111111111111111111111##"'
ANSWERS = {
    "address": {"hosts": '"192.0.2.1##"', "wallets": ACCOUNT},
    "keystore": {"wallets": '"/etc/livepeer/keystore"'},
    "password": {"wallets": '{ env = "PASSWORD" }'},
    "rpc": {"fleet": '{ env = "RPC_URL" }'},
    "controller": {"fleet": '"0x3333333333333333333333333333333333333333"'},
    "service": {"orchestrators": '"orch.example.net:8935"'},
    "price": {"orchestrators": '"900 wei / pixel"', "runners": '"0.1 USD / hour"'},
    "app": {"runners": '"answered/app"'},
    "port": {"runners": "200##"},
    "image": {"runners": '"registry.example.net/answered:1.0"'},
    "orchestrator": {"transcoders": '"orch.example.net:8935"'},
    "deposit": {"wallets": '"1 ETH"'},
    "reserve": {"wallets": '"1 ETH"'},
    "minimum_balance": {"wallets": '"0.05 ETH"'},
    "secret": {"transcoders": '{ env = "SECRET" }', "orchestrators": '{ env = "SECRET" }'},
    "orchestrators": {"gateways": '["https://orch.example.net:8935"]'},
    "models": {"orchestrators": '[{ use = "answered" }]'},
    "remote_signer.url": {"gateways": '"http://signer.example.net:8935"'},
    "node_release": {"fleet": '"v0.9.1"'},
    "network": {"fleet": '"offchain"'},
    "runtime": {"hosts": '"docker"'},
}
"""What a person would write for each question, by key and table; ## is another number each time."""

_QUESTION = re.compile(r"# TODO ([A-Za-z_.]+)(?: =|:) .*")
_HEADER = re.compile(r"\[([a-z_]+)(?:\.[^\]]+)?\]")


def _answer(question: re.Match[str], table: str, number: int) -> str:
    """The line that answers a question; the question itself where nothing needs to."""
    if question[1] == "cli" and " = " in question[0]:
        return question[0].removeprefix("# TODO ")
    answer = ANSWERS.get(question[1], {}).get(table)
    return question[0] if answer is None else f"{question[1]} = {answer.replace('##', f'{number % 100:02d}')}"


def answered(text: str) -> str:
    """A spec with answers to its questions; those that need none stay. Each account and port is another one."""
    for begin, folder in (('"~/', '"/root/'), ('"./', '"/opt/answered/'), ("<PROJECT>", "answered")):
        text = text.replace(begin, folder)
    lines: list[str] = []
    table, waiting = "", []  # the questions above a header, which are about what its table has already
    for line in text.split("\n"):
        lines.append(line)
        header = _HEADER.fullmatch(line)
        table = header[1] if header is not None else table if line else ""
        question = _QUESTION.match(line)
        waiting += [question] if question is not None else []
        if table:
            lines += [_answer(one, table, len(lines)) for one in waiting]
            waiting = []
    models = any(line == f"models = {ANSWERS['models']['orchestrators']}" for line in lines)
    if models:
        lines += ["[models.answered]", 'pipeline = "text-to-image"', 'id = "stabilityai/sd-turbo"']
        if 'network = "offchain"' not in text:
            lines.append('price = "1 wei / pixel"')
    return "\n".join(lines)


def meanings(adopted: Adopted, text: str, files: Mapping[str, str]) -> dict[str, tuple[Meaning, Meaning]]:
    """What each process means to the node, as its source starts it and as the spec compiles it."""
    document, problems = read_spec([Source("fleet.toml", text)])
    assert document is not None, problems
    fleet, problems = read_fleet(document)
    assert fleet is not None, (problems, text)
    services = {s.name: s for host in lower.lower(fleet).hosts for s in host.services}
    found = {}
    for node in adopted.nodes:
        start = understand(before(node, files))
        service = services[node.name]
        env = {variable.name: variable.value for variable in service.variables}
        given = {"LP_" + flag.upper(): setting.text for flag, setting in node.settings.items()}
        env |= {s.name: given.get(s.name, "answered") for s in service.secrets}
        own = {f"{service.directory}/{file.name}": json_document(file.content) for file in service.files}
        own |= {path: "answered" for path in env.values() if path.startswith("/")} | dict(files)
        after = understand(read([argument.text for argument in service.arguments], {"HOME": "/root"} | env, own))
        found[node.name] = (start, after)
    return found


def before(node: Running, files: Mapping[str, str]) -> Settings:
    """The settings of a process as its source starts it."""
    words = [f"-{flag}={setting.text}" for flag, setting in node.settings.items()]
    roles = {"gateway", "orchestrator", "transcoder", "aiWorker", "remoteSigner", "redeemer", "broadcaster", "reward"}
    if not roles & set(node.settings):  # the role was said beside the command
        words.append(f"-{node.role}")
    env = {name: word.text for name, word in node.process.variables.items() if not name.startswith("LP_")}
    return read(words, {"HOME": home_of(node.process) or "/root"} | env, files)
