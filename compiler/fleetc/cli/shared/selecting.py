"""Which hosts --limit and --without choose: by name or pattern, or by what hosts have in common.

In: a compile, and what the options say. Out: hosts in rollout order, () for the whole fleet. A wrong word exits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import filter as matching
from typing import TYPE_CHECKING

from fleetc.cli.shared.output import plain, wrong_usage

if TYPE_CHECKING:
    from fleetc.pipeline import Compiled


def chosen(compiled: Compiled, limit: Sequence[str] | None, without: Sequence[str] | None) -> tuple[str, ...]:
    """The hosts of `limit`, by default all, but those of `without`; () where neither says anything."""
    from fleetc.language.sharing import CLASSES

    document, _, blueprint, _ = compiled.sound
    every = tuple(host.name for host in blueprint.in_order)
    known: dict[str, dict[str, list[str]]] = {"": {}, "region": {}, "class": {}, "node": {}}
    for host in blueprint.in_order:
        layers = document.layers.get(("hosts", host.name), ())
        words = [("", host.name), ("region", host.region), *(("node", service.name) for service in host.services)]
        words += [("class", str(layer[1])) for layer in layers if layer[0] == CLASSES]
        for kind, name in words:
            known[kind].setdefault(name, []).append(host.name)
    left = (_named(limit, "--limit", known) if limit else {*every}) - _named(without or (), "--without", known)
    if not left:
        wrong_usage("--without leaves no host")
    if limit and left == {*every} and not left.issuperset(limit):
        wrong_usage("--limit chooses every host: leave it out, so that hosts that left the spec are retired too")
    return tuple(name for name in every if name in left) if limit or without else ()


def _named(texts: Iterable[str], option: str, known: Mapping[str, Mapping[str, list[str]]]) -> set[str]:
    """The hosts that the words of an option choose."""
    from fleetc.text.suggestions import did_you_mean

    found: set[str] = set()
    for text in texts:
        kind, _, name = text.rpartition("=")
        if kind not in known:
            wrong_usage(f'{option} takes HOST, "eu-*", region=, class= or node=, but not {plain(text)}')
        hosts = {host for one in matching(known[kind], name) for host in known[kind][one]}
        if not hosts:
            wrong_usage(f'there is no {kind or "host"} "{plain(name)}"; {did_you_mean(name, known[kind])}')
        found |= hosts
    return found
