"""What each change means: its classes of impact, from rows of data and from comparisons of both fleets.

In: deltas, both fleets, and which processes move. Out: the `Effect`s of a group of equal deltas. Called by
`compare.py`. A row says which classes always come with a flag or a kind of item; facts that a comparison finds are
given to the change that brings them, each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from compiler.model.fleet import Fleet
from compiler.plan import AVATAR_DIRECTORY
from compiler.review.data import IMPACTS, Effect, Target
from compiler.review.deltas import Delta
from compiler.review.facts import COLD_START, Fact, capacity, exposure, live_sessions, node_of, warm_models
from compiler.review.item import Item, Key
from compiler.review.items_stacks import TURN_UNIT
from compiler.review.moved import Moved
from compiler.review.stacks import stacks
from compiler.review.trade import UNBOUNDED, trade
from compiler.upstream import FLAGS
from compiler.upstream.impacts import Meaning, meaning_of, stack_meaning, stream_meaning

_FLAG_OF_VARIABLE = {flag.env: flag.name for flag in FLAGS.values()}
_ON_CHAIN_ONLY = ("price", "funds", "chain")
_NAMED = 6
"""Names, and different sentences of one class, that one effect or change tells; the rest is counted."""

KINDS: dict[str, Meaning] = {
    "file": Meaning(computed=("capacity", "price", "cold-start"), none="what the process reads"),
    "order": Meaning(none="the order of the entries"),
    "mount": Meaning(none="what a container sees of its host"),
    "image": Meaning(none="the program comes from another image"),
    "port": Meaning(computed=("exposure",), none="only the host itself reaches the port"),
    "gpus": Meaning(computed=("capacity",), none="which GPUs the process is given"),
    "edge": Meaning(computed=("price",), none="who is connected to whom"),
    "service": Meaning(computed=("exposure", "price", "funds", "capacity"), none="how the process is run"),
    "host": Meaning(computed=("exposure", "price", "funds", "capacity"), none="a host that nothing runs on"),
    "silence": Meaning(none="warnings that are not shown"),
    "rollout": Meaning(none="in which steps hosts follow; nothing that runs is changed"),
    "rate": Meaning({"price": "what prices in this currency come to, as far as the review reckons"}),
    "avatar": Meaning(computed=("exposure", "capacity"), none="how the stack is run"),
    "slot": Meaning(computed=("exposure", "capacity"), none="how the slot is run"),
    "allow": Meaning({"exposure": "who may call the stack"}),
    "reach": Meaning(computed=("exposure",), none="which ports the stack has"),
    "stream": Meaning({"exposure": "a stream that can be watched comes or goes"}),
    "monitoring": Meaning(none="how the fleet is watched"),
    "text": Meaning(none="text that no setting decides, such as a comment"),
    "fleet": Meaning(none="a name in headings and in the inventory"),
}
"""What a change of each kind of item means, but for those that flags, variables, hosts and the spec decide."""

HOST: dict[str, Meaning] = {
    "address": Meaning({"identity": "a rollout reaches another machine by this name"}),
    "public": Meaning({"identity": "the network reaches the host under another name"}),
    "runtime": Meaning(none="processes run in another way"),
    "region": Meaning(none="a label"),
    "ssh_user": Meaning(none="how a rollout logs in"),
    "ssh_port": Meaning(none="how a rollout logs in; it opens no port"),
    "become": Meaning(none="how a rollout becomes root"),
    "node_user": Meaning(none="the user that processes run as"),
    "binary": Meaning(none="where the program lies on the host"),
}
"""What a change of each property of a host means."""

_ON_DEPOSIT = "the deposit and reserve of the account are funded by a transaction"
FUNDS: dict[str, Meaning] = {
    "deposit": Meaning({"funds": "what tickets are paid from", "chain": _ON_DEPOSIT}),
    "reserve": Meaning({"funds": "what backs tickets", "chain": _ON_DEPOSIT}),
    "wallet": Meaning({"funds": "another wallet pays"}),
    "expected load": Meaning({"funds": "what the node expects to buy"}),
    "minimum_balance": Meaning({"funds": "the balance below which the account is topped up"}),
}
"""What a change of each kind of funds means, also where only the spec shows it."""

_SPEC_GPUS = Meaning({"capacity": "what is known of the GPUs of the host"})
_SPEC_NOTHING = Meaning(none="no node, stack or stream is given anything else")


def meaning(item: Item, role: str) -> Meaning:
    """The row of an item."""
    if item.kind == "argument":
        return meaning_of(item.what.removeprefix("-"), role)
    if item.key[2:3] == (AVATAR_DIRECTORY,):
        return _of_stack(item)
    if item.kind == "stream" and not item.presence:
        return stream_meaning(item.key[-1])
    if item.kind in ("variable", "secret"):
        flag = _FLAG_OF_VARIABLE.get(item.what)
        listens = item.what.startswith("LIVE_AI_WH")
        return meaning_of(flag, role) if flag else _LISTENER if listens else _VARIABLE
    if item.kind == "host" and not item.presence:
        return HOST.get(item.what, KINDS["service"])
    if item.kind == "funds":
        return FUNDS.get(item.what, FUNDS["wallet"])
    if item.kind == "spec":
        path = item.what.split(".")
        if path[0] == "hosts" and "gpus" in path:
            return _SPEC_GPUS
        return FUNDS.get(path[-1], _SPEC_NOTHING) if path[0] == "wallets" else _SPEC_NOTHING
    return KINDS.get(item.kind, KINDS["service"])


def _of_stack(item: Item) -> Meaning:
    """The row of an item of an avatar stack."""
    if item.presence or item.kind in ("allow", "reach"):
        return KINDS[item.kind]
    return stack_meaning(item.key[-1])


_LISTENER = Meaning(computed=("exposure",), none="a setting of live media")
_VARIABLE = Meaning(none="a variable that fleetc knows nothing of")


@dataclass
class Impact:
    """Both fleets, what moves, and the facts, each with the change that brings it."""

    old: Fleet | None
    new: Fleet | None
    moved: Moved
    before: Mapping[Key, Item]
    after: Mapping[Key, Item]
    _facts: dict[int, list[Fact]] = field(default_factory=dict)
    _roles: dict[str, str] = field(default_factory=dict)

    def find(self, deltas: Sequence[Delta]) -> None:
        """Work out the facts and give each to a delta."""
        for items in (self.before, self.after):
            self._roles |= {i.node: i.value for i in items.values() if (i.kind, i.what) == ("service", "role")}
        names = sorted({item.node for items in (self.before, self.after) for item in items.values() if item.node})
        rates = any(delta.item.kind == "rate" for delta in deltas)
        homes = _Homes(deltas)
        for fact in (
            *exposure(self.before, self.after),
            *stacks(self.before, self.after),
            *capacity(self.old, self.new, names),
            *trade(self.old, self.new, names, rates),
        ):
            home = homes.of(fact)
            if home is not None:
                self._facts.setdefault(id(home), []).append(fact)

    def restarts(self) -> tuple[tuple[Target, int | None], ...]:
        """The processes that restart or stop, and how many live sessions each can drop at most."""
        ended = sorted(self.moved.restarted | self.moved.stopped, key=lambda target: (target.host, target.node))
        return tuple((target, live_sessions(self.old, target.node)) for target in ended)

    def effects(self, group: Sequence[Delta]) -> tuple[Effect, ...]:
        """What equal deltas mean together, the gravest class first; a single effect "none" where it is nothing."""
        found = [*self._of_rows(group), *self._of_facts(group), *self._of_processes(group)]
        if not found:
            reasons = dict.fromkeys(meaning(d.item, self._role(d)).none or "nothing that runs changes" for d in group)
            found = [Effect("none", "; ".join(reasons), Decimal(0))]
        return tuple(sorted(found, key=lambda effect: IMPACTS.index(effect.impact)))

    def _role(self, delta: Delta) -> str:
        return self._roles.get(delta.item.node, "")

    def _of_rows(self, group: Sequence[Delta]) -> Iterator[Effect]:
        """The classes that always come with the flag or kind; on a chain only what counts there."""
        on_chain = any(fleet is not None and fleet.on_chain for fleet in (self.old, self.new))
        told: dict[str, str] = {}
        opened = 0
        for delta in (part for whole in group for part in whole.all()):
            row = meaning(delta.item, self._role(delta))
            for impact, text in row.always.items():
                gone = impact == "chain" and delta.item.kind == "funds" and delta.new is None
                if not gone and (on_chain or impact not in _ON_CHAIN_ONLY):
                    told.setdefault(impact, text)
            opened += _opens(delta, row)
        known = {fact.impact for delta in group for fact in self._facts.get(id(delta), ())}
        counted = {"exposure": Decimal(opened), "price": UNBOUNDED, "capacity": Decimal(0)}
        for impact, text in told.items():
            if impact in known and impact != "price" and not (impact == "exposure" and opened):
                continue  # a fact says it better; a price that loses its bound counts whole all the same
            yield Effect(impact, text, counted.get(impact, Decimal(1)))

    def _of_facts(self, group: Sequence[Delta]) -> Iterator[Effect]:
        """Equal facts of many nodes as one; of many different ones the first, and the number of the rest."""
        same: dict[tuple[str, str], list[Fact]] = {}
        for fact in self._once_for_each_wallet(fact for delta in group for fact in self._facts.get(id(delta), ())):
            same.setdefault((fact.impact, fact.text), []).append(fact)
        own = {name for delta in group for name in (delta.item.node, delta.item.host)}
        for impact in IMPACTS:
            several = [(text, facts) for (kind, text), facts in same.items() if kind == impact]
            for text, facts in several[:_NAMED]:
                others = dict.fromkeys(f.node for f in facts if f.node not in own)
                times = len({self._wallet(fact) for fact in facts}) if impact == "funds" else len(facts)
                head = f"{_names(others)}: " if others else f"{times} times: " if times > 1 else ""
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
        targets = list(dict.fromkeys(target for delta in group for target in self._processes(delta)))
        ended = [target for target in targets if target not in self.moved.started]
        if ended:
            yield Effect("restart", self._restart(ended), Decimal(len(ended)))
        loads: dict[str, tuple[str, ...]] = {}
        for target in targets:
            models = dict.fromkeys((*warm_models(self.old, target.node), *warm_models(self.new, target.node)))
            if models and target not in self.moved.stopped:
                loads[target.node] = tuple(models)
        if loads:
            count = sum(map(len, loads.values()))
            names = _names(dict.fromkeys(model for models in loads.values() for model in models))
            text = f"{names} on {_names(loads)}: a cold start of {COLD_START} each"
            yield Effect("cold-start", text, Decimal(count))

    def _processes(self, delta: Delta) -> Iterator[Target]:
        """The processes that this delta restarts, stops or starts."""
        hosts = {item.host for item in (delta.old, delta.new) if item is not None}
        for target in self._all_moved():
            if target.host in hosts and any(self._touches(item, target) for item in _items(delta)):
                yield target

    def _touches(self, item: Item, target: Target) -> bool:
        """Whether an item is of a process; items of a stack have its unit in their key."""
        if item.node or item.kind == "text":
            return item.node == target.node and item.kind != "funds"
        stack, _, unit = target.node.partition("/")
        if unit and item.key[2:3] == (stack,):
            shared = item.key[3:4] == (TURN_UNIT,) or item.kind == "secret"
            return len(item.key) == 3 or item.key[3] == unit or (shared and unit.startswith("slot-"))
        return item.kind == "host" and (item.presence or item.what in ("runtime", "node_user", "binary"))

    def _all_moved(self) -> Iterable[Target]:
        return sorted(self.moved.restarted | self.moved.stopped | self.moved.started, key=lambda t: (t.host, t.node))

    def _restart(self, targets: Sequence[Target]) -> str:
        one = len(targets) == 1
        stops = sum(target in self.moved.stopped for target in targets)
        verb = "stop" if stops == len(targets) else "restart or stop" if stops else "restart"
        counts = [live_sessions(self.old, target.node) for target in targets]
        known, unknown = sum(count or 0 for count in counts), counts.count(None)
        drops = [f"at most {known} live sessions drop"] if known or not unknown else []
        if unknown:
            drops.append("how many live sessions drop is not known" if one else f"of {unknown} it is not known")
        nodes = dict.fromkeys(target.node for target in targets)  # every stack calls its processes the same
        names = _names(nodes)
        if len(nodes) < len(targets):
            names = f"{len(targets)} processes of {len({target.host for target in targets})} hosts ({names})"
        return f"{names} {verb}{'s' if one else ''}: {', '.join(drops)}"


class _Homes:
    """Finds the change that brings a fact."""

    def __init__(self, deltas: Sequence[Delta]) -> None:
        self._all = list(deltas)
        self._of_node: dict[str, list[Delta]] = {}
        for delta in self._all:
            self._of_node.setdefault(delta.item.node or delta.item.host, []).append(delta)

    def of(self, fact: Fact) -> Delta | None:
        """What the fact hints at on its node or of who else is concerned, or what comes and goes; else anywhere."""
        own = self._of_node.get(fact.node, [])
        others = [delta for name in fact.who for delta in self._of_node.get(name, ())]
        likely = [d for d in own if fact.impact in meaning(d.item, "").computed or d.item.presence]
        near = _hinted(own, fact.hints) or _hinted(others, fact.hints) or next(iter(likely), None)
        return near or _hinted(self._all, fact.hints) or next(iter((*own, *self._all)), None)


def _items(delta: Delta) -> Iterator[Item]:
    """The items of a delta and of what follows from it, before and after: they may be of different slots."""
    yield from (item for part in delta.all() for item in (part.new, part.old) if item is not None)


def _hinted(deltas: Sequence[Delta], hints: Sequence[str]) -> Delta | None:
    """The change with the likeliest name: what comes or goes as a whole, then any, then one that others follow from."""
    named = [delta for hint in hints for delta in deltas if delta.item.what.startswith(hint)]
    whole = [delta for delta in named if delta.item.presence]
    followed = (d for hint in hints for d in deltas if any(part.item.what.startswith(hint) for part in d.follows))
    return next(iter(whole or named or followed), None)


def _opens(delta: Delta, row: Meaning) -> int:
    """Whether a change lets somebody in."""
    if "exposure" not in row.always:
        return 0
    removed, changed = delta.new is None, delta.old is not None and delta.new is not None
    return int(
        ("true" in row.opens and delta.after == "true")
        or ("one" in row.opens and delta.after == "1")
        or ("zero" in row.opens and delta.after != "1")
        or ("added" in row.opens and delta.old is None)
        or ("removed" in row.opens and removed)
        or ("changed" in row.opens and changed)
    )


def _effect(impact: str, text: str, facts: Sequence[Fact]) -> Effect:
    amounts = [fact.amount for fact in facts]
    amount = max(amounts) if impact == "price" else sum(amounts, Decimal(0))
    who = tuple(dict.fromkeys(name for fact in facts for name in fact.who if name not in text))
    return Effect(impact, text, amount, who)


def _names(names: Iterable[str]) -> str:
    """Some names, and the number of the rest."""
    found = list(names)
    if len(found) <= _NAMED:
        return " and ".join(found) if len(found) < 3 else f"{', '.join(found[:-1])} and {found[-1]}"
    return f"{', '.join(found[:_NAMED])} and {len(found) - _NAMED} more"
