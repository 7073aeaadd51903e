"""Asks hosts what runs there, for `fleetc adopt`: first it shows what it will read, and you confirm.

In: hosts as people name them. Out: the answer of each. It reaches a host without a spec through a spec of only that
host, so its address, user and port follow the usual rules.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from fleetc.cli.shared.options import HERE
from fleetc.cli.shared.output import USAGE, message, plain, wrong_usage
from fleetc.cli.shared.working import load_settings, quietly
from fleetc.disk.manifest import FilesError

if TYPE_CHECKING:
    from fleetc.adopt import OnHost
    from fleetc.emit.tree import Tree
    from fleetc.pipeline import Compiled
    from fleetc.settings import Settings

_HOST = re.compile(r"([^=@:]+)=(?:([^@=]+)@)?(\[[0-9A-Fa-f:.]+\]|[^@\[\]:]+)(?::([0-9]{1,5}))?")


def read_hosts(given: list[str], yes: bool) -> dict[str, OnHost]:
    """Answers of hosts by name; exits if a name is wrong, reading is refused, or a host does not answer."""
    from fleetc.adopt import OnHost

    tables = dict(_table(text) for text in given)
    if len(tables) < len(given):
        wrong_usage("--from names a host twice")
    if not tables:
        return {}
    settings = load_settings(HERE)
    trees = {name: _tree(name, table) for name, table in tables.items()}
    _allow(list(tables), yes)
    return {name: OnHost(_answer_of(trees[name], name, settings), table) for name, table in tables.items()}


def _table(text: str) -> tuple[str, dict[str, Any]]:
    """The name of a host, and its table in a spec."""
    match = _HOST.fullmatch(text)
    if match is None:
        wrong_usage(f"--from takes NAME=ADDRESS or NAME=USER@ADDRESS:PORT, and not {plain(text)}")
    name, user, address, port = match.groups()
    table: dict[str, Any] = {"address": address.strip("[]")}
    if user is not None and user != "root":
        table["ssh_user"] = user
    if port is not None and int(port) != 22:
        table["ssh_port"] = int(port)
    return name, table


def _tree(name: str, table: Mapping[str, Any]) -> Tree:
    """An Ansible project with this one host."""
    import tomli_w

    from fleetc.disk import files
    from fleetc.pipeline import compile_spec
    from fleetc.places.diagnostic import Severity
    from fleetc.toml.document import Source
    from fleetc.upstream import NEWEST_RELEASE, format_release

    spec = {
        "spec": 1,
        "fleet": {"name": "asked", "network": "offchain", "node_release": format_release(NEWEST_RELEASE)},
        "hosts": {name: {"runtime": "systemd", **table}},
    }
    compiled: Compiled = quietly(compile_spec, [Source("--from", tomli_w.dumps(spec))], *files.read_shipped())
    if compiled.tree is None:
        wrong = next(diagnostic for diagnostic in compiled.checked.diagnostics if diagnostic.severity is Severity.ERROR)
        wrong_usage(f"--from {plain(name)}: {plain(wrong.message)}")
    return compiled.tree


def _allow(hosts: list[str], yes: bool) -> None:
    """Show what will be read, and ask; exits without a yes."""
    from fleetc.rollout.hosts.finding import READS

    message(f"fleetc reads on {', '.join(map(plain, hosts))}, and changes nothing there:")
    for line in READS:
        message(f"  {line}")
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message("error: no terminal to ask at; add --yes to allow reading")
        raise typer.Exit(USAGE)
    if not typer.confirm("Read it?", err=True):
        raise typer.Exit(USAGE)


def _answer_of(tree: Tree, host: str, settings: Settings) -> Mapping[str, Any]:
    """The answer of a host. Raises FilesError where there is none."""
    from fleetc.rollout.hosts.finding import find
    from fleetc.rollout.hosts.progress import progress

    with progress(sys.stderr) as show:
        return find(tree, (host,), settings, show)[host]


def senseless(host: str) -> FilesError:
    """Error: this is not an answer of fleetc's host program."""
    return FilesError(
        "adopt-host-unread", f"host {host} answers what makes no sense", path=host,
        advice="look at who answers there; adopt its units or commands as files", exit_code=3,
    )  # fmt: skip
