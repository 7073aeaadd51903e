"""Hosts that `fleetc adopt` asks what runs there: what is read is shown first, and somebody says yes.

In: hosts as people name them. Out: what each says. A host that no spec has yet is reached by a spec of only that host,
so its address, its user and its port have the rules of every other.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fleetc.cli.options import HERE, PROBLEMS, USAGE
from fleetc.cli.output import files_failure, message, plain, wrong_usage
from fleetc.cli.paging import put
from fleetc.cli.working import compile_or_exit, load_settings, quietly
from fleetc.disk.manifest import FilesError
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.adopt.on_host import OnHost
    from fleetc.emit.tree import Tree
    from fleetc.pipeline import Compiled
    from fleetc.settings import Settings

_HOST = re.compile(r"([^=@:]+)=(?:([^@=]+)@)?(\[[0-9A-Fa-f:.]+\]|[^@\[\]:]+)(?::([0-9]{1,5}))?")


def read_hosts(given: list[str], yes: bool) -> dict[str, OnHost]:
    """What hosts say, by name; exits where one is named wrongly, is not to be read, or does not answer."""
    from fleetc.adopt.on_host import OnHost

    tables = dict(_table(text) for text in given)
    if len(tables) < len(given):
        wrong_usage("--from names a host twice")
    if not tables:
        return {}
    settings = load_settings(HERE)
    trees = {name: _tree(name, table) for name, table in tables.items()}
    allow(list(tables), yes)
    return {name: OnHost(answer_of(trees[name], name, settings), table) for name, table in tables.items()}


def plan_takeover(host: str, spec: Path, yes: bool, keep: bool) -> None:
    """Print what the first rollout of a spec does to what a host of it runs; exits where nobody can say.

    With `keep`, the host is told before which processes are to go on.
    """
    from fleetc.adopt.on_host import SenselessAnswerError
    from fleetc.adopt.takeover import as_text, take_over
    from fleetc.text.suggestions import did_you_mean

    settings = load_settings(spec)
    compiled, _ = compile_or_exit(spec, settings, Format.text)
    if compiled.tree is None or compiled.blueprint is None:
        raise typer.Exit(PROBLEMS)
    names = [one.name for one in compiled.blueprint.hosts]
    if host not in names:
        wrong_usage(f'the spec has no host "{plain(host)}"; {did_you_mean(host, names)}')
    allow([host], yes, keep)
    answer = answer_of(compiled.tree, host, settings)
    try:
        plan = take_over(host, answer, compiled.blueprint)
    except SenselessAnswerError:
        files_failure(senseless(host), Format.text)
    going_on = {node.node: node.facts.process for node in plan.nodes if node.goes_on and node.facts is not None}
    if keep and going_on:
        _keep(compiled.tree, host, going_on, settings)
    put(as_text(plan, keep))


def _keep(tree: Tree, host: str, processes: Mapping[str, str], settings: Settings) -> None:
    """Have a host know which processes a rollout keeps; exits where it refuses that."""
    from fleetc.rollout.hosts.finding import take
    from fleetc.rollout.hosts.progress import progress

    try:
        with progress(sys.stderr) as show:
            take(tree, host, processes, settings, show)
    except FilesError as problem:
        files_failure(problem, Format.text)


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


def allow(hosts: list[str], yes: bool, keep: bool = False) -> None:
    """Say what will be read, and what is written with `keep`, and ask; exits where nobody says yes."""
    from fleetc.rollout.hosts.finding import READS

    rest = "touches no process" if keep else "changes nothing"
    message(f"fleetc reads on {', '.join(map(plain, hosts))}, and {rest} there:")
    for line in READS:
        message(f"  {line}")
    if keep:
        message("it writes there which processes the first rollout of the spec keeps running (/var/lib/fleetc/taken)")
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message(f"error: nobody can be asked here; add --yes if that may be {'done' if keep else 'read'}")
        raise typer.Exit(USAGE)
    if not typer.confirm("Do it?" if keep else "Read it?", err=True):
        raise typer.Exit(USAGE)


def answer_of(tree: Tree, host: str, settings: Settings) -> Mapping[str, Any]:
    """What a host says; exits where it does not."""
    from fleetc.rollout.hosts.finding import find
    from fleetc.rollout.hosts.progress import progress

    try:
        with progress(sys.stderr) as show:
            return find(tree, host, settings, show)
    except FilesError as problem:
        files_failure(problem, Format.text)


def senseless(host: str) -> FilesError:
    """The failure of a host whose answer no program of fleetc gives."""
    return FilesError(
        "adopt-host-unread", f"host {host} answers what makes no sense", path=host,
        advice="look at who answers there; adopt its units or commands as files", exit_code=3,
    )  # fmt: skip
