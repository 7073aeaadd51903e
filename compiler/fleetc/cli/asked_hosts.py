"""Hosts that `fleetc adopt` asks what runs there: what is read is shown first, and somebody says yes.

In: hosts as people name them. Out: what each says. A host that no spec has yet is reached by a spec of only that host,
so its address, its user and its port have the rules of every other.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from fleetc.cli.options import HERE, USAGE
from fleetc.cli.output import files_failure, message, plain, wrong_usage
from fleetc.cli.working import load_settings, quietly
from fleetc.disk.manifest import FilesError
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.adopt import OnHost
    from fleetc.emit.tree import Tree
    from fleetc.pipeline import Compiled
    from fleetc.settings import Settings

_HOST = re.compile(r"([^=@:]+)=(?:([^@=]+)@)?(\[[0-9A-Fa-f:.]+\]|[^@\[\]:]+)(?::([0-9]{1,5}))?")


def read_hosts(given: list[str], yes: bool) -> dict[str, OnHost]:
    """What hosts say, by name; exits where one is named wrongly, is not to be read, or does not answer."""
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
    found = _HOST.fullmatch(text)
    if found is None:
        wrong_usage(f"--from takes NAME=ADDRESS or NAME=USER@ADDRESS:PORT, and not {plain(text)}")
    name, user, address, port = found.groups()
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
    try:
        templates, playbooks = files.read_templates(), files.read_playbooks()
    except FilesError as problem:
        files_failure(problem, Format.text)
    compiled: Compiled = quietly(compile_spec, [Source("--from", tomli_w.dumps(spec))], templates, playbooks)
    if compiled.tree is None:
        wrong = next(one for one in compiled.checked.diagnostics if one.severity is Severity.ERROR)
        wrong_usage(f"--from {plain(name)}: {plain(wrong.message)}")
    return compiled.tree


def _allow(hosts: list[str], yes: bool) -> None:
    """Say what will be read, and ask; exits where nobody says yes."""
    from fleetc.rollout.hosts.finding import READS

    message(f"fleetc reads on {', '.join(map(plain, hosts))}, and changes nothing there:")
    for line in READS:
        message(f"  {line}")
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message("error: nobody can be asked here; add --yes if that may be read")
        raise typer.Exit(USAGE)
    if not typer.confirm("Read it?", err=True):
        raise typer.Exit(USAGE)


def _answer_of(tree: Tree, host: str, settings: Settings) -> Mapping[str, Any]:
    """What a host says; exits where it does not."""
    from fleetc.rollout.hosts.finding import find
    from fleetc.rollout.hosts.progress import progress

    try:
        with progress(sys.stderr) as show:
            return find(tree, (host,), settings, show)[host]
    except FilesError as problem:
        files_failure(problem, Format.text)


def senseless(host: str) -> FilesError:
    """The failure of a host whose answer no program of fleetc gives."""
    return FilesError(
        "adopt-host-unread", f"host {host} answers what makes no sense", path=host,
        advice="look at who answers there; adopt its units or commands as files", exit_code=3,
    )  # fmt: skip
