"""Asks the four questions of `fleetc init` on a terminal.

In: answers that options have given already. Out: all `Answers`. Each question has a default: Enter takes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

import typer

from fleetc.cli.first.spec import MEANINGS, Answers, HostAnswer, Network, Where, read_hosts

_WHERE = {
    Where.docker: "Docker Compose; a change of prices restarts the node",
    Where.systemd: "systemd units; video prices change while the node runs",
}
_NETWORK = {
    Network.offchain: "no payments: to try it, or for your own use",
    Network.onchain: "payments on Arbitrum",
}
_HOSTS = (
    "Which hosts? NAME=ADDRESS, and /PUBLIC where others reach it at another name; spaces between hosts. "
    "The first one has the gateway, if orchestrators run too"
)

Choice = TypeVar("Choice", bound=StrEnum)


def ask() -> Answers:
    """Ask everything."""
    default = Answers()
    kind = _choice("What do you run?", MEANINGS, default.kind)
    where = _choice("What starts the nodes?", _WHERE, default.where)
    network = _choice("Which network?", _NETWORK, default.network)
    return Answers(kind, where, network, _hosts(default.hosts))


def _choice(question: str, meanings: Mapping[Choice, str], default: Choice) -> Choice:
    typer.echo(question)
    for number, (choice, meaning) in enumerate(meanings.items(), 1):
        typer.echo(f"  {number}  {choice}: {meaning}")
    choices = list(meanings)
    while True:
        answer = str(typer.prompt("Number or name", default=str(default))).strip()
        if answer in choices:
            return type(default)(answer)
        if answer.isascii() and answer.isdecimal() and 1 <= int(answer) <= len(choices):
            return choices[int(answer) - 1]
        typer.echo(f"write a number from 1 to {len(choices)}, or one of the names")


def _hosts(default: tuple[HostAnswer, ...]) -> tuple[HostAnswer, ...]:
    example = " ".join(f"{host.name}={host.address}/{host.public}" for host in default)
    typer.echo(_HOSTS)
    while True:
        try:
            return read_hosts(str(typer.prompt("Hosts", default=example)).split()) or default
        except ValueError:
            typer.echo("write for example edge=203.0.113.10/gate.example.net gpu-1=203.0.113.20, each name once")
