"""What each change means: its classes of impact, from rows of data and from comparisons of both fleets.

In: deltas, both fleets, and which processes move. Out: the `Effect`s of a group of equal deltas. Called by
`review/compare.py`. A row has the classes of a flag or a kind of item. Each fact of a comparison goes once to the
change that causes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

from fleetc.language.fleet import Fleet
from fleetc.language.orchestrator import Orchestrator
from fleetc.review.data import IMPACTS, WEIGHTS, Effect, NodeRef
from fleetc.review.gravity import gravity
from fleetc.review.impact.avatars import stacks
from fleetc.review.impact.facts import (
    COLD_START,
    Fact,
    capacity,
    cooled,
    exposure,
    live_sessions,
    node_of,
    root_of_host,
    warm_models,
)
from fleetc.review.impact.homes import Homes
from fleetc.review.impact.meanings import flag_of, meaning, opens, which_way
from fleetc.review.impact.money import UNBOUNDED, trade
from fleetc.review.impact.restarts import Moved
from fleetc.review.impact.runners import loading, selling, taken_live
from fleetc.review.impact.streams import streams
from fleetc.review.items.deltas import Delta
from fleetc.review.items.item import OUT, Item, Key
from fleetc.review.items.of_stacks import HOST_UNIT, TURN_UNIT
from fleetc.text import leaks
from fleetc.text.counting import counted, first_of
from fleetc.upstream.impacts import passing

_ON_CHAIN_ONLY = ("price", "funds", "chain")
_NAMED = 6
"""Names, and different sentences of one class, that one effect or change tells; the rest is counted."""


@dataclass
class Impact:
    """Both fleets, what moves, and the facts, each with the change that brings it.

    `_arrivals` has the hosts that nodes start on.
    """

    old: Fleet | None
    new: Fleet | None
    moved: Moved
    before: Mapping[Key, Item]
    after: Mapping[Key, Item]
    _facts: dict[int, list[Fact]] = field(default_factory=dict)
    _roles: dict[str, str] = field(default_factory=dict)
    _arrivals: dict[str, str] = field(default_factory=dict)
    _flags: tuple[dict[str, list[Item]], ...] = ({}, {})

    def find(self, deltas: Sequence[Delta]) -> None:
        """Work out the facts and give each to a delta."""
        for items in (self.before, self.after):
            self._roles |= {i.node: i.value for i in items.values() if (i.kind, i.what) == ("service", "role")}
        names = sorted({item.node for items in (self.before, self.after) for item in items.values() if item.node})
        self._arrivals = {target.node: target.host for target in self.moved.started}
        self._flags = (_by_node(self.before), _by_node(self.after))
        before = _under(self.moved.renamed, self.before)
        rates = any(delta.item.kind == "rate" for delta in deltas)
        homes = Homes(deltas)
        for fact in (
            *exposure(before, self.after),
            *root_of_host(before, self.after),
            *stacks(before, self.after),
            *streams(before, self.after),
            *capacity(self.old, self.new, names),
            *cooled(self.old, self.new, names),
            *selling(self.old, self.new),
            *trade(self.old, self.new, names, rates, {target.node for target in self.moved.unknown}),
        ):
            home = homes.of(fact)
            if home is not None:
                self._facts.setdefault(id(home), []).append(fact)

    def restarts(self) -> tuple[tuple[NodeRef, int | None], ...]:
        """The processes that restart or stop, and how many live sessions each can drop at most."""
        ended = sorted(self.moved.restarted | self.moved.stopped)
        return tuple((target, live_sessions(self.old, target.node)) for target in ended)

    def cold_starts(self) -> tuple[tuple[NodeRef, str], ...]:
        """The models that load before their process answers, by process."""
        begun = sorted(self.moved.restarted | self.moved.started)
        return tuple((target, model) for target in begun for model in warm_models(self.new, target.node))

    def effects(self, group: Sequence[Delta]) -> tuple[Effect, ...]:
        """What equal deltas mean together, the gravest class first; a single effect "none" where it is nothing."""
        effects = [*self._of_rows(group), *self._of_passing(group), *self._of_facts(group)]
        if all(delta.new is None and self._unknown(delta) for delta in group):
            effects = [replace(effect, text=f"once stopped: {effect.text}", headline="") for effect in effects]
        effects += [*self._of_unknown(group), *self._of_processes(group)]
        if not effects:
            reasons = dict.fromkeys(self._nothing(delta) for delta in group)
            effects = [Effect("none", "; ".join(reasons), Decimal(0))]
        return tuple(sorted(effects, key=gravity))

    def parts(self, group: Sequence[Delta]) -> tuple[tuple[NodeRef, tuple[Effect, ...]], ...]:
        """What equal deltas mean at each place by itself; nothing where they have one place, which has all of it.

        A process that moves drops its sessions on the host that it leaves.
        """
        places: dict[NodeRef, list[Delta]] = {}
        left: dict[NodeRef, NodeRef] = {}
        for delta in group:
            place = NodeRef(delta.item.host, delta.item.node)
            places.setdefault(place, []).append(delta)
            if delta.old is not None and NodeRef(delta.old.host, delta.old.node) in self.moved.stopped - {place}:
                left[place] = NodeRef(delta.old.host, delta.old.node)
        if len(places) == 1 and not left:
            return ()
        by_place: dict[NodeRef, list[Effect]] = {}
        for place, deltas in places.items():
            for effect in self.effects(deltas):
                at = left.get(place, place) if effect.impact == "restart" else place
                by_place.setdefault(at, []).append(effect)
        return tuple((target, tuple(effects)) for target, effects in by_place.items())

    def _nothing(self, delta: Delta) -> str:
        """Why a delta means nothing."""
        if (delta.item.kind == "host" and delta.item.presence) or _is_host_of_node(delta):
            names = {item.host for item in (delta.old, delta.new) if item is not None}
            for old, new in self.moved.renamed.items():
                if names <= {old, new}:
                    return f"{old} and {new} are the same machine with a different name"
        if delta.item.kind == "host" and delta.item.presence:
            knows = self.moved.left.get(delta.item.host)
            return _RETIRED[knows] if delta.new is None else "rollouts reach the host from now on"
        if delta.item.kind == "stream" and delta.new is None and not delta.item.presence:
            kept = delta.item.key[-1] == "creatorId"
            return "the service never takes it away" if kept else "--apply brings back the service's default"
        return meaning(delta.item, self._role(delta)).none or "nothing that runs changes"

    def _role(self, delta: Delta) -> str:
        return self._roles.get(delta.item.node, "")

    def _of_rows(self, group: Sequence[Delta]) -> Iterator[Effect]:
        """The classes that always come with the flag or kind; on a chain only what counts there."""
        sentences: dict[str, str] = {}
        opened = 0
        for delta in (part for whole in group for part in whole.all()):
            row = meaning(delta.item, self._role(delta))
            for impact, text in row.always.items():
                gone = impact == "chain" and delta.item.kind == "funds" and delta.new is None
                if not gone and self._counts(impact):
                    sentences.setdefault(impact, which_way(delta, row) or text if impact == "exposure" else text)
            opened += opens(delta, row)
        known = self._known(group)
        counted = {
            "exposure": Decimal(opened),
            "price": UNBOUNDED,
            "capacity": Decimal(0),
            "cold-start": Decimal(0),  # what loads again is counted by model
        }
        for impact, text in sentences.items():
            if impact in known and impact != "price" and not (impact == "exposure" and opened):
                continue  # a fact says it better; a price that loses its bound still counts fully
            weight = "worse" if impact == "exposure" and opened else ""
            yield Effect(impact, text, counted.get(impact, Decimal(1)), weight=weight)

    def _counts(self, impact: str) -> bool:
        """Whether a class counts here: prices, funds and transactions do on a chain only."""
        on_chain = any(fleet is not None and fleet.on_chain for fleet in (self.old, self.new))
        return on_chain or impact not in _ON_CHAIN_ONLY

    def _known(self, group: Sequence[Delta]) -> set[str]:
        """The classes that facts speak of."""
        return {fact.impact for delta in group for fact in self._facts.get(id(delta), ())}

    def _of_passing(self, group: Sequence[Delta]) -> Iterator[Effect]:
        """What flags mean that come, go or move with their process and have no change of their own."""
        sentences: dict[str, dict[str, None]] = {}
        known = self._known(group) - {"exposure"}
        for delta in group:
            for way in self._ways(delta):
                for impact, text in self._passing(delta, way):
                    if self._counts(impact) and not (way == "comes" and impact in known):
                        sentences.setdefault(impact, {})[text] = None
        for impact, texts in sentences.items():
            yield Effect(impact, first_of([*texts], _NAMED, "; "), Decimal(1))

    def _ways(self, delta: Delta) -> Iterator[str]:
        """The fate of a node's process with this delta: comes, goes or moves."""
        item, old, new = delta.item, delta.old, delta.new
        if item.kind == "service" and item.presence:
            yield "comes" if old is None else "goes"
        elif _is_host_of_node(delta) and old and new and self.moved.renamed.get(old.host) != new.host:
            yield "moves"

    def _passing(self, delta: Delta, way: str) -> Iterator[tuple[str, str]]:
        """Classes and sentences of all flags of a node. A flag with another value than before is told on its own."""
        node = delta.item.node
        before, after = (flags.get(node, ()) for flags in self._flags)
        kept = {(item.key, item.value) for item in after}
        for item in after if way == "comes" else before:
            flag = flag_of(item)
            if item.value == "false" or (way == "moves" and (item.key, item.value) not in kept):
                continue
            if flag == "dataDir" and way == "goes" and self._takes_over(item):
                continue
            for impact, text in passing(way, flag, self._roles.get(node, "")).items():
                yield impact, text.replace("{}", leaks.shown(item.value))

    def _takes_over(self, directory: Item) -> bool:
        """Whether a node of the new fleet has this data directory, on the same machine."""
        host = self.moved.renamed.get(directory.host, directory.host)
        alike = (item for items in self._flags[1].values() for item in items if item.what == directory.what)
        return any((item.host, item.value) == (host, directory.value) for item in alike)

    def _unknown(self, delta: Delta) -> list[NodeRef]:
        """The processes of what comes, goes or moves of which nobody can tell whether they stop."""
        if not (delta.item.presence and delta.item.kind in ("service", "host")) and not _is_host_of_node(delta):
            return []
        hosts = {item.host for item in (delta.old, delta.new) if item is not None}
        of_hosts = [t for t in sorted(self.moved.unknown, key=lambda t: t.node) if t.host in hosts]
        return [t for t in of_hosts if (t.node == delta.item.node if delta.item.node else "/" in t.node)]

    def _of_unknown(self, group: Sequence[Delta]) -> Iterator[Effect]:
        """Processes on hosts that left the spec, which only those stop who know that they run."""
        for targets in filter(None, map(self._unknown, group)):
            host, arrival = targets[0].host, self._arrivals.get(targets[0].node)
            knows = self.moved.left.get(host)
            own = "the journal here does not know the host, so no rollout from here stops" if knows is False else ""
            stops = own or "if the journal of rollouts knows the host, a rollout of all hosts stops"
            it = "it" if len(targets) == 1 else "them"
            sentence = f"{_names(t.node for t in targets)} on {host}, which leaves the spec: {stops} {it}"
            sentence += f"; on {arrival} it starts" if arrival else "" if own else "; else it is unknown who does"
            yield Effect("exposure", sentence, Decimal(0), headline=sentence)

    def _of_facts(self, group: Sequence[Delta]) -> Iterator[Effect]:
        """Equal facts of many nodes as one; of many different ones the first, and the number of the rest."""
        same: dict[tuple[str, str], list[Fact]] = {}
        for fact in self._once_for_each_wallet(fact for delta in group for fact in self._facts.get(id(delta), ())):
            same.setdefault((fact.impact, fact.text), []).append(fact)
        own = {name for delta in group for name in (delta.item.node, delta.item.host)}
        alone = len({delta.item.node or delta.item.host for delta in group}) == 1
        for impact in IMPACTS:
            several = [(text, facts) for (kind, text), facts in same.items() if kind == impact]
            several.sort(key=lambda pair: (_weight(pair[1]), -max(fact.amount for fact in pair[1])))
            for text, facts in several[:_NAMED]:
                named = dict.fromkeys(f.node for f in facts if f.node not in own or not alone)
                head = f"{_names(named)}: " if named else ""
                yield _effect(impact, head + text, facts)
            rest = [fact for _, facts in several[_NAMED:] for fact in facts]
            if rest:
                yield _effect(impact, f"and {len(rest)} more", rest)

    def _once_for_each_wallet(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """The facts; those of funds count for the first node alone of all that one wallet pays for."""
        seen: set[str] = set()
        for fact in facts:
            wallet = self._wallet(fact) if fact.impact == "funds" else ""
            yield fact._replace(amount=Decimal(0)) if wallet in seen else fact
            seen |= {wallet} - {""}

    def _wallet(self, fact: Fact) -> str:
        """The wallet that pays for a node; the node itself where it has none."""
        nodes = (node_of(fleet, fact.node) for fleet in (self.new, self.old))
        wallets = (getattr(node.settings, "wallet", None) for node in nodes if node is not None)
        return next((wallet for wallet in wallets if wallet), fact.node)

    def _of_processes(self, group: Sequence[Delta]) -> Iterator[Effect]:
        """Restarts, and what has to load again."""
        concerned = self._concerned(group)
        moving = (self.moved.restarted, self.moved.stopped, self.moved.started)
        targets = [target for target in concerned if any(target in ways for ways in moving)]
        ended = [target for target in targets if target not in self.moved.started]
        if ended:
            out = group[0].item.what == OUT
            more = "; data stays, and all that name what stops go on without it" if out else ""
            yield Effect("restart", self._restart(ended) + more, Decimal(len(ended)))
        elif targets and group[0].item.what == OUT:
            back = f"{self._those(targets)} start{'s' if len(targets) == 1 else ''} again"
            yield Effect("capacity", back, Decimal(0), weight="better")
        for target in concerned:
            if target in self.moved.halted:
                text = f"a rollout refuses to change {target.node}: {self.moved.halted[target]}"
                yield Effect("restart", text, Decimal(1))
        live = [target for target in concerned if target in self.moved.live]
        if live:
            items = [item for delta in group for item in _items(delta)]
            yield Effect("live", taken_live(self.old, items, self._those(live), len(live)), Decimal(len(live)))
        begun = [target.node for target in targets if target not in self.moved.stopped]
        loads = {node: models for node in begun if (models := warm_models(self.new, node))}
        if loads:
            count = sum(map(len, loads.values()))
            names = _names(dict.fromkeys(model for models in loads.values() for model in models))
            text = f"{names} on {_names(loads)}: a cold start of {COLD_START}{' each' if count > 1 else ''}"
            yield Effect("cold-start", text, Decimal(count))
        text = loading(self.new, begun)
        if text:
            yield Effect("cold-start", text, Decimal(len(begun)))

    def _concerned(self, group: Sequence[Delta]) -> list[NodeRef]:
        """The processes that something happens to and that these deltas concern."""
        targets: dict[NodeRef, None] = {}
        for delta in group:
            for host in sorted({item.host for item in (delta.old, delta.new) if item is not None}):
                for target in self._by_host.get(host, ()):
                    if any(self._touches(item, target) for item in _items(delta)):
                        targets[target] = None
        return list(targets)

    @cached_property
    def _by_host(self) -> dict[str, list[NodeRef]]:
        """Every process that something happens to, by host, sorted."""
        by_host: dict[str, list[NodeRef]] = {}
        for target in sorted({*self.moved.all, *self.moved.halted}):
            by_host.setdefault(target.host, []).append(target)
        return by_host

    def _touches(self, item: Item, target: NodeRef) -> bool:
        """Whether an item is of a process; items of a stack have its unit in their key."""
        if item.node or item.kind == "text":
            return item.node == target.node and item.kind != "funds"
        stack, _, unit = target.node.partition("/")
        if unit and item.key[2:3] == (stack,):
            of_all = item.kind == "avatar" and item.key[3:4] == (HOST_UNIT,)  # such as the arguments of its games
            shared = of_all or item.key[3:4] == (TURN_UNIT,) or item.kind == "secret"
            return len(item.key) == 3 or item.key[3] == unit or (shared and unit.startswith("slot-"))
        return item.kind == "host" and (item.presence or item.what in ("runtime", "node_user", OUT))

    def _restart(self, targets: Sequence[NodeRef]) -> str:
        alone = len(targets) == 1
        stops = [target for target in targets if target in self.moved.stopped]
        s = "s" if alone else ""
        verb = f"stop{s}" if len(stops) == len(targets) else "restart or stop" if stops else f"restart{s}"
        if self.moved.maybe.issuperset(targets):
            verb = "may restart"
        if stops and len(stops) == len(targets) and all(target.node in self._arrivals for target in targets):
            ways = dict.fromkeys(f"on {t.host} and start{s} on {self._arrivals[t.node]}" for t in targets)
            verb += f" {next(iter(ways))}" if len(ways) == 1 else " and start on other hosts"
        elif stops and self.moved.left.keys() >= {target.host for target in targets}:
            verb += f" as a rollout of all hosts retires {_names(dict.fromkeys(t.host for t in targets))}"
        counts = {target: live_sessions(self.old, target.node) for target in targets}
        known, unknown = sum(count or 0 for count in counts.values()), [t.node for t, c in counts.items() if c is None]
        drops = f"at most {counted(known, 'live session')} drop{'s' if known == 1 else ''}"
        if len(unknown) == len(counts):
            drops = "it is unknown how many live sessions drop"
        elif unknown:
            drops += f"; it is unknown how many more on {_names(dict.fromkeys(unknown))}"
        return f"{self._those(targets)} {verb}: {drops}{self._drained(targets)}"

    def _drained(self, targets: Sequence[NodeRef]) -> str:
        """The orchestrators that a rollout drains, and for how long; empty without draining."""
        patience = None if self.new is None else self.new.rollout.drain
        nodes = [node_of(self.old, target.node) for target in targets]
        waits = patience is not None and any(node and isinstance(node.settings, Orchestrator) for node in nodes)
        return f", after those of orchestrators had {patience} to end" if waits else ""

    def _those(self, targets: Sequence[NodeRef]) -> str:
        """Processes by name; every stack calls its own the same."""
        nodes = dict.fromkeys(target.node for target in targets)
        if len(nodes) == len(targets):
            return _names(nodes)
        return f"{len(targets)} processes on {len({target.host for target in targets})} hosts ({_names(nodes)})"


_RETIRED = {
    True: "a rollout of all hosts retires the host",
    False: "the journal here does not know the host, so no rollout from here retires it",
    None: "a rollout of all hosts retires the host if its journal knows it",
}
"""What becomes of a host that leaves the spec, by whether the journal knows it."""


def _items(delta: Delta) -> Iterator[Item]:
    """The items of a delta and of what follows from it, before and after: they may be of different slots."""
    yield from (item for part in delta.all() for item in (part.new, part.old) if item is not None)


def _is_host_of_node(delta: Delta) -> bool:
    """Whether a delta is the host that a node is on."""
    return delta.item.kind == "service" and delta.item.key[2:] == ("service", "host")


def _by_node(items: Mapping[Key, Item]) -> dict[str, list[Item]]:
    """What sets a flag, by node."""
    by_node: dict[str, list[Item]] = {}
    for item in items.values():
        if item.node and flag_of(item):
            by_node.setdefault(item.node, []).append(item)
    return by_node


def _under(names: Mapping[str, str], items: Mapping[Key, Item]) -> Mapping[Key, Item]:
    """The items with hosts under their new names."""
    if not names:
        return items
    renamed_items = {}
    for key, item in items.items():
        other = names.get(item.host)
        if other is not None:
            key = ("host", other, *key[2:]) if key[0] == "host" else key
            item = item._replace(key=key, host=other)
        renamed_items[key] = item
    return renamed_items


def _effect(impact: str, text: str, facts: Sequence[Fact]) -> Effect:
    amounts = [fact.amount for fact in facts]
    amount = max(amounts) if impact == "price" else sum(amounts, Decimal(0))
    who = tuple(dict.fromkeys(name for fact in facts for name in fact.who if name not in text))
    headline = facts[0].headline or (f"{facts[0].node}: {facts[0].text}" if facts[0].node else "")
    if headline and len(facts) > 1:
        headline += f", and {len(facts) - 1} more like it"
    return Effect(impact, text, amount, who, WEIGHTS[_weight(facts)], headline)


def _weight(facts: Sequence[Fact]) -> int:
    """The place in WEIGHTS of the gravest of some facts."""
    return min(WEIGHTS.index(fact.weight) for fact in facts)


def _names(names: Iterable[str]) -> str:
    """Some names, and the number of the rest."""
    listed = list(names)
    if 1 < len(listed) <= _NAMED:
        return f"{', '.join(listed[:-1])} and {listed[-1]}"
    return first_of(listed, _NAMED)
