"""Checks that every name in the spec is defined and that no two names can collide in the output.

In: a fleet whose values are sound. Out: diagnostics. Called by `spec.read_fleet`, so that rules and lowering may look
up any name without asking whether it exists.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from fleetc.language.answers import once_for_all
from fleetc.language.fleet import Fleet, Node, PlacedRunner, Stack
from fleetc.language.gateway import Buyer, Gateway
from fleetc.language.node import ChainSettings, GpuSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import EthAddress, QuantityError, parse_eth_address, parse_listener, parse_url
from fleetc.language.runner_references import check_runners
from fleetc.language.signer import Signer
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.places.diagnostic import Diagnostic, Fix, Label, Path, error, fix_rename
from fleetc.text.suggestions import asked, one_of, same_but_for_spelling
from fleetc.upstream import NETWORKS, PIPELINES
from fleetc.upstream.avatar import HIGHEST_SLOT
from fleetc.upstream.avatar import NEWEST_RELEASE as NEWEST_AVATAR_RELEASE


def too_many_nodes(raw: dict[str, Any], tables: tuple[str, ...], limit: int) -> list[Diagnostic]:
    """Refuse a spec with more nodes and avatar slots than the limit, before any work is done on them."""
    count = sum(len(raw[table]) for table in tables if isinstance(raw.get(table), dict | list))
    slots = _count_slots(raw.get("avatars"))
    if count + slots <= limit:
        return []
    return [
        error(
            "too-many-nodes",
            f"the spec has {count} nodes{f' and {slots} avatar slots' if slots else ''}, more than {limit}",
            Label(()),
            help="split the fleet",
        )
    ]


def _count_slots(tables: Any) -> int:
    """The slots of raw avatar tables; an invalid number is left to the language."""
    stacks = tables.values() if isinstance(tables, dict) else ()
    written = [table.get("slots") for table in stacks if isinstance(table, dict)]
    lists = sum(len(slots) for slots in written if isinstance(slots, list))
    return lists + sum(slots for slots in written if type(slots) is int and 0 < slots <= HIGHEST_SLOT + 1)


def check_references(fleet: Fleet) -> list[Diagnostic]:
    """All faults of names and references, in no particular order."""
    fleet.suggestions.restart()
    found = [*_names(fleet), *_fleet(fleet), *_nodes(fleet), *_runners(fleet), *_wallets(fleet), *_streams(fleet)]
    return [*found, *_stacks(fleet), *_monitoring(fleet)]


def _unknown(
    fleet: Fleet,
    what: str,
    name: str,
    path: Path,
    known: Collection[str],
    otherwise: str = "",
    fix: Fix | None = None,
    on_key: bool = False,
) -> Diagnostic:
    if "{" in name:
        message, advice = f'there is no {what} "{name}"', "a list takes one counter in a name, such as name-{1..4}"
        return error("unknown-reference", message, Label(path), help=advice, fix=fix)
    lone = _only_unused(fleet).get(what, "")
    near = fleet.suggestions.near(name, known)
    if lone in near:
        help_line = asked([lone])
    elif lone:
        others = one_of(near) if near else ""
        help_line = f'did you mean "{lone}", the only unused {what}{f", or {others}" if others else ""}?'
    else:
        help_line = asked(near) or otherwise or fleet.suggestions.listed(known) or f"define {what} {name}"
    return error(
        "unknown-reference", f'there is no {what} "{name}"', Label(path, on_key=on_key), help=help_line, fix=fix
    )


@once_for_all
def _only_unused(fleet: Fleet) -> dict[str, str]:
    """The only unused entry of each table that has just one, which may have been renamed."""
    left = {what: set(getattr(fleet, table)).difference(uses(fleet)) for what, (table, uses) in _USES.items()}
    return {what: names.pop() for what, names in left.items() if len(names) == 1}


def _hosts_in_use(fleet: Fleet) -> Iterator[str | None]:
    yield from (node.settings.host for node in fleet.nodes)
    yield from (stack.settings.host for stack in fleet.stacks)
    yield from (runner.host for runner in fleet.runners.values())
    yield fleet.monitoring.host if fleet.monitoring else None


def _models_in_use(fleet: Fleet) -> Iterator[str]:
    for node in fleet.nodes:
        if isinstance(node.settings, Orchestrator | AiWorker):
            yield from (use.use for use in node.settings.models)
        if isinstance(node.settings, Buyer):
            yield from node.settings.max_model_prices
        if isinstance(node.settings, Gateway):
            yield from node.settings.min_runner_versions


def _ladders_in_use(fleet: Fleet) -> Iterator[str | None]:
    yield from (gateway.ladder for gateway in fleet.gateways.values())
    yield from (stream.ladder for stream in fleet.streams.values())


def _runners_in_use(fleet: Fleet) -> Iterator[str]:
    yield from (name for orchestrator in fleet.orchestrators.values() for name in orchestrator.runners)
    yield from (name for signer in fleet.remote_signers.values() for name in signer.buys_runners)


_USES: dict[str, tuple[str, Callable[[Fleet], Iterable[str | None]]]] = {
    "host": ("hosts", _hosts_in_use),
    "wallet": ("wallets", lambda fleet: fleet.nodes_by_wallet),
    "model": ("models", _models_in_use),
    "ladder": ("ladders", _ladders_in_use),
    "runner": ("runners", _runners_in_use),
}
"""Tables whose entries exist to be named, and what names them."""


def _names(fleet: Fleet) -> Iterator[Diagnostic]:
    seen: dict[str, Path] = {name: ("hosts", name) for name in fleet.hosts}
    named: tuple[Node | Stack | PlacedRunner, ...] = (*fleet.nodes, *fleet.stacks, *fleet.placed_runners)
    for node in named:
        before = seen.setdefault(node.name, node.path)
        if before != node.path:
            yield error(
                "name-used-twice",
                f'the name "{node.name}" is used twice',
                Label(node.path, "here again"),
                [Label(before, "first here")],
                "hosts, nodes, runners and avatar stacks share directories, units and one Ansible inventory: "
                "rename one of them",
            )


def _fleet(fleet: Fleet) -> Iterator[Diagnostic]:
    settings = fleet.fleet
    if settings.network not in NETWORKS and settings.controller is None:
        yield error(
            "unknown-network",
            f'the node has no contracts for the network "{settings.network}"',
            Label(("fleet", "network")),
            help=fleet.suggestions.did_you_mean(
                settings.network,
                NETWORKS,
                f"known networks: {', '.join(sorted(NETWORKS))}; any other needs its contract: controller = ...",
            ),
        )


def _monitoring(fleet: Fleet) -> Iterator[Diagnostic]:
    host = fleet.monitoring.host if fleet.monitoring else None
    if host is not None and host not in fleet.hosts:
        otherwise = "for a Prometheus outside this fleet, write its receiver"
        yield _unknown(fleet, "host", host, ("monitoring", "host"), fleet.hosts, otherwise)


def _nodes(fleet: Fleet) -> Iterator[Diagnostic]:
    for node in fleet.nodes:
        settings = node.settings
        if settings.host not in fleet.hosts:
            yield _unknown(fleet, "host", settings.host, (*node.path, "host"), fleet.hosts)
        if isinstance(settings, GpuSettings | AiWorker) and isinstance(settings.gpus, tuple):
            for index, gpu in enumerate(settings.gpus):
                yield from _gpu(fleet, settings.host, gpu, (*node.path, "gpus", index))
        if isinstance(settings, ChainSettings) and settings.wallet is not None and settings.wallet not in fleet.wallets:
            yield _unknown(fleet, "wallet", settings.wallet, (*node.path, "wallet"), fleet.wallets)
        if isinstance(settings, Buyer):
            yield from _buyer(fleet, node, settings)
        if isinstance(settings, Gateway):
            yield from _gateway(fleet, node, settings)
        if isinstance(settings, Orchestrator):
            yield from _gateway_prices(fleet, settings.gateway_prices, (*node.path, "gateway_prices"))
            yield from _redeemer(fleet, node, settings)
        if isinstance(settings, Orchestrator | Signer):
            field = "runners" if isinstance(settings, Orchestrator) else "buys_runners"
            for index, name in enumerate(getattr(settings, field)):
                if name not in fleet.runners:
                    yield _unknown(fleet, "runner", name, (*node.path, field, index), fleet.runners)
        if isinstance(settings, Transcoder | AiWorker) and settings.orchestrator not in fleet.orchestrators:
            yield from _outside(fleet, settings.orchestrator, (*node.path, "orchestrator"))
        if isinstance(settings, Orchestrator | AiWorker):
            for index, use in enumerate(settings.models):
                path = (*node.path, "models", index)
                if use.use not in fleet.models:
                    yield _unknown(fleet, "model", use.use, (*path, "use"), fleet.models)
                yield from _gateway_prices(fleet, use.gateway_prices, (*path, "gateway_prices"))


def _runners(fleet: Fleet) -> Iterator[Diagnostic]:
    for placed in fleet.placed_runners:
        if placed.host not in fleet.hosts:
            yield _unknown(fleet, "host", placed.host, (*placed.path, "host"), fleet.hosts)
        for index, gpu in enumerate(placed.runner.gpus if isinstance(placed.runner.gpus, tuple) else ()):
            yield from _gpu(fleet, placed.host, gpu, (*placed.path, "gpus", index))
    yield from check_runners(fleet)


def _gpu(fleet: Fleet, host: str, gpu: int | str | None, path: Path) -> Iterator[Diagnostic]:
    """A GPU that is named by UUID must be in the host's list with that UUID."""
    if not isinstance(gpu, str) or gpu == "all" or host not in fleet.hosts:
        return
    listed = {own.uuid for own in fleet.hosts[host].gpus if own.uuid is not None}
    if gpu not in listed:
        otherwise = f'write uuid = "{gpu}" for the GPU in hosts.{host}.gpus, or use its position there'
        yield _unknown(fleet, f"GPU of host {host} with the UUID", gpu, path, listed, otherwise)


def _gateway(fleet: Fleet, node: Node, settings: Gateway) -> Iterator[Diagnostic]:
    signer = settings.remote_signer.signer if settings.remote_signer else None
    if signer is not None and signer not in fleet.remote_signers:
        path = (*node.path, "remote_signer", "signer")
        yield _unknown(
            fleet, "remote signer", signer, path, fleet.remote_signers, "for one outside this fleet, write its url"
        )
    if settings.ladder is not None and settings.ladder not in fleet.ladders:
        yield _unknown(fleet, "ladder", settings.ladder, (*node.path, "ladder"), fleet.ladders)
    if settings.ladder is not None and settings.renditions:
        yield error(
            "two-lists-of-renditions",
            f"gateway {node.name} has a ladder and a list of built-in renditions",
            Label((*node.path, "renditions")),
            [Label((*node.path, "ladder"), "the ladder")],
            "the node uses only one of them: keep one",
        )
    for name in settings.min_runner_versions:
        if name not in fleet.models:
            yield _unknown(fleet, "model", name, (*node.path, "min_runner_versions", name), fleet.models, on_key=True)


def _streams(fleet: Fleet) -> Iterator[Diagnostic]:
    for name, stream in sorted(fleet.streams.items()):
        path = ("streams", name)
        if stream.gateway is not None and stream.gateway not in fleet.gateways:
            yield _unknown(fleet, "gateway", stream.gateway, (*path, "gateway"), fleet.gateways)
        if stream.ladder is not None and stream.ladder not in fleet.ladders:
            yield _unknown(fleet, "ladder", stream.ladder, (*path, "ladder"), fleet.ladders)
        if stream.ladder is not None and stream.profiles is not None:
            yield error(
                "two-lists-of-renditions",
                f"stream {name} has a ladder and a list of profiles",
                Label((*path, "profiles")),
                [Label((*path, "ladder"), "the ladder")],
                "they are two ways to write the same thing: keep one",
            )


def _redeemer(fleet: Fleet, node: Node, settings: Orchestrator) -> Iterator[Diagnostic]:
    name, path = settings.redeemer, (*node.path, "redeemer")
    if name is None or name in fleet.redeemers:
        return
    if ":" not in name:
        yield _unknown(fleet, "redeemer", name, path, fleet.redeemers, "for one outside this fleet, write host:port")
        return
    try:
        parse_listener(name)
    except QuantityError as problem:
        yield error("invalid-value", problem.message, Label(path), help=problem.help)


def _buyer(fleet: Fleet, node: Node, settings: Buyer) -> Iterator[Diagnostic]:
    for index, name in enumerate(settings.orchestrators):
        if name not in fleet.orchestrators:
            yield from _outside(fleet, name, (*node.path, "orchestrators", index))
    if settings.orchestrators and settings.discovery is not None:
        yield error(
            "two-ways-of-discovery",
            f"{node.name} has a fixed list of orchestrators and another way to find them",
            Label((*node.path, "discovery")),
            [Label((*node.path, "orchestrators"), "the fixed list")],
            "the node would ignore one of them: keep one",
        )
    priced = _priced(fleet)
    for name in settings.max_model_prices:
        if name not in fleet.models and name not in PIPELINES:
            path = (*node.path, "max_model_prices", name)
            meant = same_but_for_spelling(name, PIPELINES)
            certain = meant and meant not in settings.max_model_prices and meant not in fleet.models
            fix = fix_rename(path, meant) if certain else None
            yield _unknown(fleet, "model or pipeline", name, path, priced, fix=fix, on_key=True)


@once_for_all
def _priced(fleet: Fleet) -> Collection[str]:
    """What a gateway can set a price for: one collection for all of them."""
    return (*fleet.models, *PIPELINES)


def _gateway_prices(fleet: Fleet, prices: Mapping[str, object], table: Path) -> Iterator[Diagnostic]:
    for name in prices:
        path = (*table, name)
        if name.startswith("0x"):
            try:
                parse_eth_address(name)
            except QuantityError as problem:
                place = Label(path, on_key=True, secret=problem.secret)
                yield error("invalid-value", problem.message, place, help=problem.help)
        elif name not in fleet.gateways:
            yield _unknown(
                fleet,
                "gateway",
                name,
                path,
                fleet.gateways,
                "write the name of a gateway here, or an account address",
                on_key=True,
            )
        elif not _has_account(fleet, name):
            signed = fleet.gateways[name].remote_signer is not None
            yield error(
                "gateway-without-account",
                f"gateway {name} has no wallet{' here' if signed else ''}, so it cannot have its own price",
                Label(path, on_key=True),
                help="write the account address of its signer"
                if signed
                else "give the gateway a wallet, or write an account address",
            )


def _has_account(fleet: Fleet, name: str) -> bool:
    """Whether it is known which account pays for a gateway. Its references are checked where they are written."""
    gateway = fleet.gateways[name]
    if gateway.remote_signer is None:
        return gateway.wallet is not None
    signer = fleet.remote_signers.get(gateway.remote_signer.signer or "")
    return signer is not None and signer.wallet is not None


def _outside(fleet: Fleet, text: str, path: Path) -> Iterator[Diagnostic]:
    """An orchestrator outside this fleet: host:port or an https address with a port."""
    try:
        if "://" in text:
            outside = parse_url(text, ("https", "http"))
            if outside.port is None:
                raise QuantityError(
                    "the address needs a port: without one the node uses 443, not 8935",
                    f'write the port too, such as "{outside.scheme}://{outside.host}:8935"',
                )
        elif ":" in text:
            parse_listener(text)
        else:
            yield _unknown(
                fleet, "orchestrator", text, path, fleet.orchestrators, "outside this fleet, write host:port"
            )
    except QuantityError as problem:
        yield error("invalid-value", problem.message, Label(path), help=problem.help)


def _stacks(fleet: Fleet) -> Iterator[Diagnostic]:
    for stack in fleet.stacks:
        settings = stack.settings
        if settings.host not in fleet.hosts:
            yield _unknown(fleet, "host", settings.host, (*stack.path, "host"), fleet.hosts)
        yield from _gpu(fleet, settings.host, settings.gpu, (*stack.path, "gpu"))
        if not isinstance(settings.slots, int):
            for index, slot in enumerate(settings.slots):
                yield from _gpu(fleet, settings.host, slot.gpu, (*stack.path, "slots", index, "gpu"))
        if settings.avatar_release is None and fleet.fleet.avatar_release is None:
            yield error(
                "avatar-release-missing",
                f"the avatar stack {stack.name} has no release",
                Label(stack.path, "this stack", on_key=True),
                help=f'write avatar_release = "{NEWEST_AVATAR_RELEASE}" in [fleet], or another release here',
            )
        registration = settings.registration
        if registration is None or registration.orchestrator is None:
            continue
        path = (*stack.path, "registration", "orchestrator")
        known = fleet.orchestrators.get(registration.orchestrator)
        if known is None:
            otherwise = "for one outside this fleet, write its address"
            yield _unknown(fleet, "orchestrator", registration.orchestrator, path, fleet.orchestrators, otherwise)
        elif known.wallet is None:
            yield error(
                "orchestrator-without-account",
                f"orchestrator {registration.orchestrator} has no wallet, so there is no account to pay",
                Label(path),
                help="give the orchestrator a wallet, or write an account address here",
            )


def _wallets(fleet: Fleet) -> Iterator[Diagnostic]:
    seen: dict[EthAddress, str] = {}
    for name, wallet in sorted(fleet.wallets.items()):
        before = seen.setdefault(wallet.address, name)
        if before != name:
            yield error(
                "account-used-twice",
                f"wallets {before} and {name} are the same account",
                Label(("wallets", name, "address"), "here again"),
                [Label(("wallets", before, "address"), "first here")],
                "use one wallet for both, so that fleetc can check its reward caller",
            )
        if wallet.reward_by is None or wallet.reward_by == "none":
            continue
        holders = {node.name for node in fleet.nodes_by_wallet.get(name, ())}
        caller = fleet.nodes_by_name.get(wallet.reward_by)
        if caller is not None and caller.name not in holders:
            yield from _other_wallet(fleet, name, caller)
        elif wallet.reward_by not in holders:
            yield _unknown(
                fleet,
                "node with this wallet",
                wallet.reward_by,
                ("wallets", name, "reward_by"),
                holders,
                'or write "none"',
            )


def _other_wallet(fleet: Fleet, name: str, caller: Node) -> Iterator[Diagnostic]:
    """The reward caller of a wallet uses another wallet. If that one does not exist, another check reports it."""
    held = getattr(caller.settings, "wallet", None)
    if held is not None and held not in fleet.wallets:
        return
    yield error(
        "reward-caller-without-wallet",
        f"{caller.name} should call reward for wallet {name}, but it uses {f'wallet {held}' if held else 'no wallet'}",
        Label(("wallets", name, "reward_by"), "the reward caller"),
        [Label((*caller.path, "wallet") if held else caller.path, "the wallet it uses" if held else "no wallet here")],
        f'write wallet = "{name}" for {caller.name}, or name a node that has it, or "none"',
    )
