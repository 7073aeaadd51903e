"""`fleetc adopt`: a spec of what already runs.

In: commands, scripts, units, Compose files and the files that nodes read, by name; hosts to be asked. Out: a spec on
standard output or in a file, and a short account on standard error. Sources are read, never run; hosts are not changed.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared.asked_hosts import read_hosts, senseless
from fleetc.cli.shared.host_folders import Directories, Homes, NodeHosts, folders_of, refuse_unknown
from fleetc.cli.shared.output import PROBLEMS, coloured, message, print_located, wrong_usage
from fleetc.cli.shared.paging import put, tell
from fleetc.messages.forms import ReportFormat

if TYPE_CHECKING:
    from fleetc.adopt import Said
    from fleetc.toml.document import Source

_ROLES = ("gateway", "orchestrator", "transcoder", "ai-worker", "remote-signer", "redeemer")

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SOURCE",
        help="Files with commands, units, Compose files and what they name; directories of such; - for standard input. "
        "HOST=FILE or HOST@ADDRESS=FILE names the host of a file.",
        show_default=False,
    ),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="NAME=[USER@]ADDRESS[:PORT]",
        help="Read the nodes that run on this host, over ssh; NAME is the host in the spec; repeatable.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="File to write the spec to; it must not exist yet."),
]
Report = Annotated[
    ReportFormat | None,
    typer.Option("--report", help="Print what became of every word, and what the spec changes, instead of the spec."),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="NAME", help="Adopt only this service, unit, container or node; repeatable."),
]
Answers = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="TABLE.KEY=VALUE",
        help="Give a missing value, such as wallets.payer.deposit='0.1 ETH'; a secret as env NAME or host_file /path; "
        "repeatable.",
    ),
]


def adopt(
    sources: Sources = None,
    hosts: Hosts = None,
    output: Output = None,
    answers: Answers = None,
    report: Report = None,
    homes: Homes = None,
    directories: Directories = None,
    node_hosts: NodeHosts = None,
    only: Only = None,
    role: Annotated[
        str,
        typer.Option("--role", metavar="ROLE", help="Role of nodes whose command has none, such as gateway."),
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Read hosts without asking first.")] = False,
) -> None:
    """Write a spec of nodes that already run, from the commands, units or Compose files that start them.

    Comments say where each table comes from. What the sources leave open is a TODO line with the choice to make: --set
    or an editor answers it. Secrets become references. With --from, fleetc shows what it will read, then asks the host;
    secrets stay there. Exits 1 if no spec can be written.
    """
    from fleetc.adopt import SenselessAnswerError, UnknownNodeError, WrongAnswerError, located, reported, screen
    from fleetc.adopt import adopt as adopt_sources
    from fleetc.disk.adopting import write_spec

    if not sources and not hosts:
        wrong_usage("name what starts your nodes: files, directories, - or a host with --from")
    if role and role not in _ROLES:
        wrong_usage(f"--role takes one of {', '.join(_ROLES)}")
    output = None if output == Path("-") else output
    folders = folders_of(homes, directories, node_hosts)
    texts, said = _read(sources or [])
    on_hosts = read_hosts(hosts or [], yes)
    said = replace(
        folders, hosts=said.hosts, listed=said.listed, addresses={**said.addresses, **folders.addresses},
        only=only or [], role=role, answers=answers or [],
    )  # fmt: skip
    try:
        adopted = adopt_sources(texts, said, on_hosts)
    except SenselessAnswerError as problem:
        raise senseless(str(problem)) from None
    except UnknownNodeError as problem:
        wrong_usage(f"--host: {problem}")
    except WrongAnswerError as problem:
        wrong_usage(f"--set: {problem}")
    refuse_unknown(said, adopted)
    messages = located(adopted)
    if report is not None or not adopted.text:
        print_located(messages, coloured(None, sys.stderr))
    if report is not None:
        tell(reported(adopted, report, messages))
    if not adopted.text:
        raise typer.Exit(PROBLEMS)
    if output is not None:
        write_spec(output, adopted.text)
    elif report is None:
        put(adopted.text)
    if report is None:
        for line in screen(adopted, messages, str(output) if output is not None else ""):
            message(line)


def _read(names: list[str]) -> tuple[list[Source], Said]:
    """All sources that people name, and which host each is from. Raises FilesError where one cannot be read."""
    from fleetc.adopt import Said
    from fleetc.disk.adopting import read_source_files
    from fleetc.disk.manifest import shown

    texts: dict[str, Source] = {}
    hosts: dict[str, str] = {}
    addresses: dict[str, str] = {}
    named: set[str] = set()
    for given in names:
        host, equals, path = given.partition("=")
        if not equals or Path(given).exists():
            host, path = "", given
        host, _, address = host.partition("@")
        files = read_source_files(path)
        for left, why in files.passed:
            message(f"passed over {shown(left)}: {why}")
        named |= {source.name for source in files.sources} - files.listed
        for source in files.sources:
            texts.setdefault(source.name, source)
            if host and hosts.setdefault(source.name, host) != host:
                wrong_usage(f"{source.name} is named for {hosts[source.name]} and for {host}: it is of one host")
        if address:
            addresses[host] = address
    return list(texts.values()), Said(hosts=hosts, addresses=addresses, listed=texts.keys() - named)
