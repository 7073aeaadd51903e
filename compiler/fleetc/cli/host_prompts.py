"""Prompts that ask on which hosts nodes run.

In: nodes, and the hosts that a spec has. Out: the options that say it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fleetc.adopt.questions import Kind, Question
from fleetc.cli.output import message
from fleetc.cli.prompts import is_yes, listed, name_of, typed_for

if TYPE_CHECKING:
    from fleetc.adopt.adoption import Adopted
    from fleetc.adopt.reading import Running

MOST_HOSTS = 4
_EACH = "each"
"""What people type who have nodes on several hosts that their sources have on one."""
WITHOUT = "--without"
"""Stands for an option: the sources are adopted again without that node."""
Options = list[tuple[str, str]]
"""Options of the command, each with its value."""


def known_hosts(found: Adopted, but: str) -> dict[str, str]:
    """The hosts of the spec whose address is known, `but` one."""
    import tomli

    from fleetc.adopt.answering import addresses_in

    return {name: address for name, address in addresses_in(tomli.loads(found.text)).items() if name != but}


def usual(known: Mapping[str, str]) -> str:
    """What somebody may type for a host."""
    return f"or {' or '.join([*known][-MOST_HOSTS:])}" if known else "such as gpu-1@203.0.113.20"


def ask_hosts(nodes: Sequence[str], one: Question, found: Adopted, options: Options) -> None:
    """Ask for the host of each of some nodes, which may be one of those that the spec has already; once for nodes that
    their sources have on one, unless it is asked because they use one port.
    """
    known = known_hosts(found, name_of(one))
    alone = [([node], ("", "")) for node in nodes]
    lines = lines_of_pages(found) if one.kind is Kind.HOSTS else {}
    for names, likely in _together(nodes, found) if one.kind is Kind.HOSTS else alone:
        typed = _ask_host(names, likely, one, known, options, lines)
        if typed.strip('"') == _EACH:
            for name in names:
                _ask_host([name], likely, one, known, options, lines)
        elif not typed and not options:
            return  # nothing is known of the others either
        if left := [option for option in options if option[0] == WITHOUT]:
            options[:] = left  # without it, others may have other names
            return


def lines_of_pages(found: Adopted) -> dict[str, int]:
    """The line of each node that stands in a page of notes, which may have commands that do not run."""
    from fleetc.adopt.markdown import NAMES
    from fleetc.toml.document import LineMap

    texts = {source.name: LineMap(source.text) for source in found.sources if source.name.lower().endswith(NAMES)}
    places = {node.name: node.process.span for node in found.nodes}
    return {name: texts[span.source].position(span.start)[0] for name, span in places.items() if span.source in texts}


def _ask_host(
    names: Sequence[str], likely: tuple[str, str], one: Question, known: dict[str, str], options: Options,
    lines: Mapping[str, int],
) -> str:  # fmt: skip
    """Ask for the host of nodes, whose name and address may be `likely`, and put them there; what was typed last.
    `lines` are those of nodes in pages, which may not run.
    """
    name, address = likely
    offered = f"{name}@{address}" if name and address and name not in known else ""
    looks = [f"yes for {offered}" if offered else "", "NAME@ADDRESS"]
    looks += [f"such as {name}@203.0.113.20"] if name and name not in known and not offered else []
    looks += [usual(known)] if known or (len(looks) < 3 and not offered) else []
    looks += [f'or "{_EACH}"'] if len(names) > 1 else []
    called = [f"{name} (line {lines[name]})" if name in lines else name for name in names]
    while typed := typed_for(f"{listed(called)}: {', '.join(filter(None, looks))}", one):
        if len(names) > 1 and typed.strip('"') == _EACH:
            break
        if typed.lower() == "no" and len(names) == 1:
            options.append((WITHOUT, names[0]))
            break
        name, _, address = (offered if offered and is_yes(typed) else typed).partition("@")
        problem = problem_of(name, address, known)
        if not problem:
            host = f"{name}@{known.setdefault(name, address)}"
            for node in names:
                _put(node, host, options)
            break
        message(f"  {problem}")
    return typed


def _together(nodes: Sequence[str], found: Adopted) -> list[tuple[list[str], tuple[str, str]]]:
    """The nodes in groups that are of one host, each with a likely name and address of that: by the headings of notes,
    and by folders. Where all sources are in one folder, that says nothing of hosts.
    """
    from fleetc.adopt.asking_hosts import group_of, host_by_heading, likely_host

    by_name = {node.name: node for node in found.nodes}
    headings = {name: host_by_heading(by_name[name], found.sources) for name in nodes}
    folders = {group[0] for name in nodes if not (group := group_of(by_name[name]))[1]}
    groups: dict[tuple[str, int] | str, list[Running]] = {}
    for name in nodes:
        node, alone = by_name[name], by_name[name].process.placed or len(folders) < 2
        called = f"{node.process.span.source} {headings[name][0]}" if headings[name][0] else ""
        groups.setdefault(called or (f" {name}" if alone else group_of(node)), []).append(node)
    together = []
    for some in groups.values():
        (name, address), (folder, reached) = headings[some[0].name], likely_host(some)
        likely = (name or folder, address or reached) if name or len(folders) > 1 else ("", "")
        together.append(([node.name for node in some], likely))
    return together


def _put(node: str, host: str, options: Options) -> None:
    """Put a node on a host, in one option with the others of that host."""
    of_host = [(option, value) for option, value in options if value.partition("=")[0] == host]
    options[:] = [one for one in options if one not in of_host]
    options.append(("--host", ",".join([*(value for _, value in of_host), node] if of_host else [f"{host}={node}"])))


def problem_of(name: str, address: str, known: Mapping[str, str]) -> str:
    """Why somebody cannot have typed a host, which may be known already; "" where they can."""
    from fleetc.adopt.answering import host_problem

    if not address:
        return "" if name in known else "write NAME@ADDRESS"
    if known.get(name, address) != address:
        return f"{name} is at {known[name]} already"
    same = next((other for other, at in known.items() if at == address and other != name), "")
    if same:
        return f"{address} is the address of {same}: write {same} if that is the host"
    return host_problem(name, address)
