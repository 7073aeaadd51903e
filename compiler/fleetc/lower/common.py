"""What lowering does for every node: network, listeners, directories, wallet, rewards, GPUs, order.

In: a fleet and a node. Out: the parts that `gateway.py`, `orchestrator.py` and `worker.py` combine into a `Service`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from operator import itemgetter

from fleetc.analysis.prices import NodePrice
from fleetc.blueprint.blueprint import (
    DOCKER_SOCKET,
    RELEASE_ROOT,
    Argument,
    BlueprintFile,
    Mount,
    PriceLine,
    SecretVariable,
    Service,
    Variable,
)
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.node import ChainSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Listener, parse_duration
from fleetc.language.signer import Redeemer, Signer
from fleetc.language.signing import account_of, has_signer, talks_to_chain
from fleetc.lower.mapping import SECRET_PATH_VARIABLES, Planned, apply, planned, secret
from fleetc.places.origin import Chosen, derived, given
from fleetc.upstream import FLAGS, format_release

_first = itemgetter(0)  # the flag or the name; origins have no order

GPU_ORDER, BY_PLACE, VISIBLE_GPUS = "CUDA_DEVICE_ORDER", "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES"
DEFAULT_IMAGE = "livepeer/go-livepeer"
_NETWORK, _CONTROLLER = given("fleet", "network"), given("fleet", "controller")


def role_flag(flag: str, node: Node, reason: str, field: str = "") -> Argument:
    """A flag that chooses the role of the process."""
    return Argument(flag, "true", derived(reason, (*node.path, field) if field else node.path))


def settings_of_every_node(fleet: Fleet, node: Node) -> Iterator[Planned]:
    """Network, administration listener, data directory, plain settings and other variables."""
    if has_signer(node):
        reason = "its signer talks to the chain in its place"
        yield Argument("network", "offchain", derived(reason, (*node.path, "remote_signer")))
    elif isinstance(node.settings, ChainSettings):
        yield Argument("network", fleet.fleet.network, _NETWORK)
    else:
        yield Argument("network", "offchain", derived("a remote worker never talks to the chain", node.path))
    cli = effective.cli_listener(node)
    yield Argument("cliAddr", str(cli.value), cli.origin)
    directory = effective.data_dir(fleet, node)
    yield Argument("dataDir", directory.value, directory.origin)
    yield from apply(node)
    for flag, extra in node.settings.extra_flags.items():
        known = FLAGS.get(flag)
        yield Argument(flag, extra_text(known.type if known else "", extra), given(*node.path, "extra_flags", flag))
    for name, value in node.settings.environment.items():
        yield Variable(name, value, given(*node.path, "environment", name))
    for name, reference in node.settings.secret_environment.items():
        origin = given(*node.path, "secret_environment", name)
        yield SecretVariable(name, reference.kind, reference.name, origin)


def extra_text(kind: str, value: bool | int | str) -> str:
    """The value of an extra flag in the node's form; a rule has already checked its type if the flag is known."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(parse_duration(value)) if kind == "duration" else str(value)


def chain(fleet: Fleet, node: Node, settings: ChainSettings) -> Iterator[Planned]:
    """RPC, account and reward caller of a node with a wallet; empty for an off-chain process."""
    if not talks_to_chain(fleet, node):
        return
    rpc = effective.rpc(fleet, node.settings.host)
    if rpc is not None:
        yield planned("ethUrl", rpc.value, rpc.origin)
    if fleet.fleet.controller is not None:
        yield planned("ethController", fleet.fleet.controller, _CONTROLLER)
    if settings.wallet is None:
        return
    wallet, path = fleet.wallets[settings.wallet], ("wallets", settings.wallet)
    yield Argument("ethAcctAddr", str(wallet.address), given(*path, "address"))
    yield Argument("ethKeystorePath", wallet.keystore, given(*path, "keystore"))
    yield secret("ethPassword", wallet.password, given(*path, "password"))
    caller = effective.calls_reward(fleet, node, settings)
    if caller is not None:
        yield Argument("reward", "true" if caller.value else "false", caller.origin)


def gpus(fleet: Fleet, node: Node) -> Iterator[Planned]:
    """The GPU ids, if the node uses any, and that they count as nvidia-smi does: CUDA counts the fastest first."""
    ids = effective.gpu_ids(fleet, node)
    if ids:
        text = ids if isinstance(ids, str) else ",".join(map(str, ids))
        yield Argument("nvidia", text, given(*node.path, "gpus"))
        if GPU_ORDER not in node.settings.environment:
            yield Variable(GPU_ORDER, BY_PLACE, derived("-nvidia has the numbers of nvidia-smi", (*node.path, "gpus")))


def own_file(node: Node, name: str) -> str:
    """Path of one of the service's files on the host."""
    return f"{RELEASE_ROOT}/current/{node.name}/{name}"


def helper_address(fleet: Fleet, helper: Node, settings: Signer | Redeemer, from_host: str) -> Listener:
    """Where a node on a host can reach a signer or redeemer of this fleet."""
    listener = effective.reached_at(fleet, helper, settings, from_host)
    if listener is None:
        raise ValueError(f"{helper.name} listens where {from_host} cannot reach it, which a rule refuses")
    return listener


def account(fleet: Fleet, name: str) -> str:
    """The gateway account that a price is for: that of its wallet or its signer's, or the address as written."""
    found = account_of(fleet, name) if name in fleet.gateways else None
    return name if found is None else str(found)


def goods(fleet: Fleet, price: NodePrice) -> tuple[str, str]:
    """Pipeline and model id; a cap for a whole pipeline has the node's word for all its models."""
    model = fleet.models.get(price.work)
    return (model.pipeline, model.id) if model else (price.work, "default")


def json_number(value: Decimal) -> int | Decimal:
    """An integer if the amount is whole, else the exact decimal."""
    whole = int(value)
    return whole if whole == value else value


def service(
    fleet: Fleet,
    node: Node,
    role: str,
    items: Iterable[Planned],
    files: tuple[BlueprintFile, ...] = (),
    containers: bool = False,
    prices: tuple[PriceLine, ...] = (),
) -> Service:
    """Build a service: everything is sorted, so that equal specs give equal bytes."""
    arguments: list[Argument] = []
    variables: list[Variable] = []
    secrets: list[SecretVariable] = []
    for item in items:
        if isinstance(item, Argument):
            arguments.append(item)
        elif isinstance(item, Variable):
            variables.append(item)
        else:
            secrets.append(item)
    release = effective.release_of(fleet, node)
    settings = node.settings
    gpus = effective.gpu_ids(fleet, node) or None
    directory = effective.data_dir(fleet, node)
    return Service(
        name=node.name,
        table=node.table,
        role=role,
        mode=settings.mode if isinstance(settings, Gateway | Orchestrator) else "",
        release=release.value,
        image=_image(fleet, node, format_release(release.value)),
        data_dir=directory.value,
        arguments=tuple(sorted(arguments, key=_first)),
        variables=tuple(sorted(variables, key=_first)),
        secrets=tuple(sorted(secrets, key=_first)),
        files=tuple(sorted(files, key=_first)),
        mounts=_mounts(_wanted_mounts(fleet, node, directory, arguments, variables, files, containers)),
        gpus=gpus,
        manages_containers=containers,
        monitored=settings.monitor is True,
        prices=prices,
        # The driver of GPUs loads modules through a setuid program, and who starts containers is root all the same.
        hardened=settings.hardened and gpus is None and not containers,
    )


def _image(fleet: Fleet, node: Node, release: str) -> str:
    image = node.settings.image or fleet.fleet.image or DEFAULT_IMAGE
    last = image.rsplit("/", 1)[-1]
    return image if ":" in last or "@" in last else f"{image}:{release}"


_MOUNTED_FLAGS = {"aiModelsDir": False, "liveRunnerConfig": True, "verifierPath": False}
"""Flags whose value is a path on the host, and whether the node only reads it."""


def _mounts(wanted: Iterable[Mount]) -> tuple[Mount, ...]:
    """Each path once: read-write takes precedence, and a path below another read-write mount is left out."""
    mounts: dict[str, Mount] = {}
    for mount in wanted:
        before = mounts.get(mount.path)
        if before is None or (before.read_only and not mount.read_only):
            mounts[mount.path] = mount
    outer = tuple(f"{mount.path}/" for mount in mounts.values() if not mount.read_only)
    return tuple(mounts[path] for path in sorted(mounts) if not path.startswith(outer))


def _wanted_mounts(
    fleet: Fleet,
    node: Node,
    directory: Chosen[str],
    arguments: list[Argument],
    variables: list[Variable],
    files: tuple[BlueprintFile, ...],
    containers: bool,
) -> Iterator[Mount]:
    yield Mount(directory.value, False, directory.origin)
    for file in files:
        yield Mount(own_file(node, file.name), True, file.origin)
    settings = node.settings
    if isinstance(settings, ChainSettings) and settings.wallet is not None and talks_to_chain(fleet, node):
        yield Mount(fleet.wallets[settings.wallet].keystore, True, given("wallets", settings.wallet, "keystore"))
    for argument in arguments:
        if argument.flag in _MOUNTED_FLAGS:
            yield Mount(argument.value, _MOUNTED_FLAGS[argument.flag], argument.origin)
    for variable in variables:
        if variable.name in SECRET_PATH_VARIABLES:
            yield Mount(variable.value, True, variable.origin)
    if containers:
        yield Mount(DOCKER_SOCKET, False, derived("AI runner containers are started through it", node.path))
