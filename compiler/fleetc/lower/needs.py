"""Lowers what must be on a host before its first rollout, and what has to hold there for its nodes to start.

In: a fleet, and a host of it with its lowered services and avatar stack. Out: `Need` values, each once. Pages list
those that people provide; the preflight checks all, so both agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from fleetc.blueprint.blueprint import (
    AVATAR_DIRECTORY,
    DOCKER_SOCKET,
    Argument,
    HostBlueprint,
    SecretVariable,
    Service,
)
from fleetc.blueprint.listeners import MONITORING, Listening
from fleetc.blueprint.rollout import Need, Program
from fleetc.blueprint.tasks import VERIFIER
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.lower.chain_needs import chain_needs
from fleetc.lower.mapping import SECRET_PATH_VARIABLES
from fleetc.lower.monitoring_needs import COMPOSE, monitoring_needs
from fleetc.lower.runner import ROLE
from fleetc.places.origin import Origin, given
from fleetc.upstream import FLAGS, NETWORKS

_WEB = "http https"
_STORES = "s3 s3+http s3+https gs ipfs file w3s"
_QUEUES = "amqp amqps"
_SCHEMES = {
    "ethUrl": f"{_WEB} ws wss",
    "orchWebhookUrl": _WEB,
    "authWebhookUrl": _WEB,
    "liveAIAuthWebhookUrl": _WEB,
    "remoteSignerWebhookUrl": _WEB,
    "objectStore": _STORES,
    "recordStore": _STORES,
    "metadataQueueUri": _QUEUES,
}
"""The schemes that an address may have which a secret holds, by the flag that it sets."""

_ANSWERS = {
    "objectStore": "object-store-answers",
    "recordStore": "object-store-answers",
    "metadataQueueUri": "queue-answers",
    "kafkaBootstrapServers": "kafka-answers",
    "redeemerAddr": "redeemer-answers",
    "remoteSignerUrl": "remote-signer-answers",
}
"""The check of an address that the node needs when it starts, by the flag that names it."""

_FLAG_OF = {flag.env: flag.name for flag in FLAGS.values()}
_PASSWORD = FLAGS["ethPassword"].env

SYSTEMD = "240"
WITH_CREDENTIALS = "247"
"""The oldest releases of systemd that read what fleetc writes: without and with secrets in files."""


def needs_of(fleet: Fleet, host: HostBlueprint) -> tuple[Need, ...]:
    """The needs of a host, each once with its nodes, in the order of the work."""
    found: dict[tuple[str, str, tuple[tuple[str, str], ...]], Need] = {}
    of_nodes = list(_all(fleet, host))
    engines = {need.kind for need in of_nodes} & {"docker", "compose"}  # what nodes need as well is theirs
    watching = (need for need in monitoring_needs(fleet).get(host.name, ()) if need.kind not in engines)
    for need in (*of_nodes, *watching):
        key = (need.kind, need.subject, need.facts)
        known = found.get(key)
        if known is not None:
            need = known._replace(nodes=tuple(dict.fromkeys((*known.nodes, *need.nodes))))
        found[key] = need
    return tuple(found.values())


def _all(fleet: Fleet, host: HostBlueprint) -> Iterator[Need]:
    table = given("hosts", host.name, "runtime")
    stack = host.avatar
    if host.runtime == "systemd" and host.services:
        oldest = WITH_CREDENTIALS if any(service.credentials for service in host.services) else SYSTEMD
        yield Need("systemd", "", table, f"systemd {oldest} or newer", facts=(("version", oldest),))
    in_containers = host.runtime == "docker" and bool(host.services)
    engines = [service.name for service in host.services if in_containers or service.manages_containers]
    if engines or stack is not None:
        users = (*engines, AVATAR_DIRECTORY) if stack is not None else tuple(engines)
        yield Need("docker", "", table, "Docker Engine, running", users)
    if in_containers or stack is not None:
        yield Need("compose", "", table, f"Compose plugin of Docker, {COMPOSE} or newer", facts=(("version", COMPOSE),))
    yield from _gpus(fleet, host)
    for service in host.services:
        yield from _of_service(fleet, host, service)
    yield from chain_needs(fleet, host.name)
    if stack is not None:
        origin = given("avatars", stack.name)
        yield Need("stack", stack.checkout, origin, "checkout of the avatar stack, and nftables", (AVATAR_DIRECTORY,))
        for secret in stack.secrets:
            yield from _secret(secret, (AVATAR_DIRECTORY,))
    for one in host.listeners:
        yield from _port(host, one)


def _port(host: HostBlueprint, one: Listening) -> Iterator[Need]:
    """A port that a rollout takes. A node looks itself after those of its runner containers, and a stack after health's
    and TURN's.
    """
    of_slot = " of slot " in one.purpose
    if one.owner in (MONITORING, ("hosts", host.name)) or one.purpose.endswith(" runner"):
        return
    if one.owner[0] == "avatars" and not of_slot:
        return
    facts = (("address", str(one.address)), ("port", str(one.port)), ("protocol", one.protocol))
    name, user = (one.purpose, AVATAR_DIRECTORY) if of_slot else (f"{one.purpose} of {one.name}", one.name)
    yield Need("port", name, one.origin, "", (user,), facts)


def _gpus(fleet: Fleet, host: HostBlueprint) -> Iterator[Need]:
    """The driver, and what gives GPUs to containers."""
    for service in host.services:
        if service.gpus is None:
            continue
        origin = given(service.table, service.name, "gpus")
        ids = range(len(fleet.hosts[host.name].gpus)) if isinstance(service.gpus, str) else service.gpus
        yield _driver(fleet, host, service.name, origin, ids)
        if host.runtime == "docker" or service.manages_containers:
            yield Need("toolkit", "", origin, "NVIDIA Container Toolkit", (service.name,))
    slots = host.avatar.slots if host.avatar is not None else ()
    for slot in slots:
        ids = range(len(fleet.hosts[host.name].gpus)) if slot.gpu == "all" else (int(slot.gpu),)
        yield _driver(fleet, host, AVATAR_DIRECTORY, slot.origin, ids)
        yield Need("toolkit", "", slot.origin, "NVIDIA Container Toolkit", (AVATAR_DIRECTORY,))


def _driver(fleet: Fleet, host: HostBlueprint, node: str, origin: Origin, ids: Sequence[int]) -> Need:
    """Ids, UUIDs and models are in the same order."""
    gpus, numbers = fleet.hosts[host.name].gpus, [str(number) for number in ids]
    listed = [gpus[number] for number in ids if number < len(gpus)]
    models = " ".join((re.findall("[0-9]+", gpu.model) or ["-"])[0] for gpu in listed)
    facts = (("gpus", " ".join(numbers)), ("uuids", " ".join(gpu.uuid or "-" for gpu in listed)), ("models", models))
    shown = f"GPU {', '.join(numbers)}" if numbers else "its GPUs"
    return Need("gpus", "", origin, f"driver that shows {shown} to nvidia-smi", (node,), facts)


def _of_service(fleet: Fleet, host: HostBlueprint, service: Service) -> Iterator[Need]:
    own, table = (service.name,), given(service.table, service.name)
    if service.role == ROLE:
        yield from _of_runner(service, own)
        return
    if service.program is not None:
        yield from _program(service.program, own)
    yield from _keystore(service, own)
    for variable in service.variables:
        if variable.name == _PASSWORD:
            yield Need("password-file", variable.value, variable.origin, "file with the password of the account", own)
        elif variable.name in SECRET_PATH_VARIABLES:
            yield Need("file", variable.value, variable.origin, f"file with the secret for {variable.name}", own)
    for secret in service.secrets:
        yield from _secret(secret, own)
    for argument in service.arguments:
        if argument.flag == "liveRunnerConfig" and not argument.value.startswith(f"{service.directory}/"):
            yield Need("live-runner-config", argument.value, argument.origin, "file of live runners", own)
        elif argument.flag in ("aiRunnerImage", "aiRunnerImageOverrides"):
            for image in _images(argument):
                yield Need("image", image, argument.origin, "", own)
        elif argument.flag == "verifierPath":
            yield Need("file", argument.value, argument.origin, VERIFIER, own)
        elif argument.flag == "aiModelsDir":
            below = argument.value.startswith(f"{service.data_dir}/")
            words = "" if below else f"directory of models that {host.node_user} may write to"
            yield Need("models-directory", argument.value, argument.origin, words, own)
    chain = NETWORKS.get(next((a.value for a in service.arguments if a.flag == "network"), ""))
    chain_id = "" if chain is None else str(chain.chain_id or 0)
    yield Need("data-directory", service.data_dir, table, "", own, (("chain_id", chain_id),))
    yield from _reached(service, own)
    yield from _service_address(fleet, service, own)


def _of_runner(service: Service, own: tuple[str, ...]) -> Iterator[Need]:
    """What a live runner needs: its program or its image, its directories and its secrets."""
    table = given(service.table, service.name)
    if service.program is not None:
        yield Need("program", service.program.path, service.program.origin, "program of the runner", own)
    for secret in service.secrets:
        yield from _secret(secret, own)
    yield Need("data-directory", service.data_dir, table, "", own, (("chain_id", ""),))
    for mount in service.mounts:
        if mount.path == DOCKER_SOCKET:
            yield Need("docker", "", mount.origin, "Docker Engine, running", own)
        elif mount.path != service.data_dir:
            yield Need("models-directory", mount.path, mount.origin, "directory that the runner reads and writes", own)


def _images(argument: Argument) -> tuple[str, ...]:
    """The runner images that the spec names; the node chooses the others."""
    if argument.flag == "aiRunnerImage":
        return (argument.value,)
    named = json.loads(argument.value)
    images = {*named.get("batch", {}).values(), *named.get("live", {}).values(), named.get("default", "")}
    return tuple(sorted(images - {""}))


def _service_address(fleet: Fleet, service: Service, own: tuple[str, ...]) -> Iterator[Need]:
    """Where an orchestrator calls itself at its start, unless that is off."""
    orchestrator = fleet.orchestrators.get(service.name)
    if orchestrator is None or orchestrator.availability_check is False:
        return
    node = Node("orchestrators", service.name, orchestrator)
    address = effective.service_address(fleet, node)
    if address is not None:
        port = effective.orchestrator_http(fleet, node).value.port
        yield Need("service-address", address.value.authority, address.origin, "", own, (("port", str(port)),))


def _program(program: Program, own: tuple[str, ...]) -> Iterator[Need]:
    if not program.sha256:
        words = f"the node's program of release v{program.version}"
        yield Need("program", program.path, program.origin, words, own, (("version", program.version),))
    elif program.url:
        facts = (("check", "program-source-answers"), ("installed", program.path))
        words = f"a way to the program of release v{program.version}, which fleetc installs from there"
        yield Need("reach", program.url, program.origin, words, own, facts)


def _keystore(service: Service, own: tuple[str, ...]) -> Iterator[Need]:
    """A keystore belongs to an account, and to the password that opens its key."""
    found = {argument.flag: argument for argument in service.arguments}
    keystore, account = found.get("ethKeystorePath"), found.get("ethAcctAddr")
    if keystore is None or account is None:
        return
    facts = [("account", account.value)]
    passwords = [(one.value, "host_file") for one in service.variables if one.name == _PASSWORD]
    passwords += [(one.reference, one.kind) for one in service.secrets if one.name == _PASSWORD]
    for place, kind in passwords:
        facts += [("password", place), ("password_kind", kind)]
    words = f"directory with the key file of {account.value}"
    yield Need("keystore", keystore.value, keystore.origin, words, own, tuple(facts))


def _secret(secret: SecretVariable, own: tuple[str, ...]) -> Iterator[Need]:
    """A secret on the host, or of a known form; a rollout itself finds errors of others."""
    flag = _FLAG_OF.get(secret.name, "")
    schemes, check = _SCHEMES.get(flag, ""), _ANSWERS.get(flag, "")
    on_host = secret.kind == "host_file"
    if on_host or schemes:
        facts = (("check", check), ("kind", secret.kind), ("schemes", schemes), ("variable", secret.name))
        words = f"file with the value of {secret.name}" if on_host else ""
        yield Need("secret", secret.reference, secret.origin, words, own, facts)


def _reached(service: Service, own: tuple[str, ...]) -> Iterator[Need]:
    """Addresses outside the fleet that the node needs at its start: the fleet's own may not run yet."""
    named = [(argument.flag, argument.value, argument.origin) for argument in service.arguments]
    named += [(_FLAG_OF.get(v.name, ""), v.value, v.origin) for v in service.variables]
    for flag, value, origin in named:
        if flag in _ANSWERS and origin.kind == "given":
            yield Need("reach", value, origin, "", own, (("check", _ANSWERS[flag]), ("installed", "")))
