"""Small plans for the tests of formats, made by hand: lowering has no part in what is tested there.

In: nothing, or the parts of a plan that a test cares for. Out: `Service`, `HostBlueprint`, `Blueprint` and the tree
emitted from them. Used by `tests/emit` and `tests/playbooks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from fleetc.blueprint.blueprint import (
    Argument,
    Blueprint,
    BlueprintFile,
    Connection,
    HostBlueprint,
    Mount,
    SecretVariable,
    Service,
    Silenced,
    Variable,
)
from fleetc.blueprint.listeners import EVERYONE, SPEND, Listening
from fleetc.blueprint.market import MarketTables
from fleetc.blueprint.rollout import Program
from fleetc.disk.reading import read_playbooks, read_templates
from fleetc.emit import formats
from fleetc.emit.draft import Draft, Verbatim
from fleetc.emit.release import Release, release_of
from fleetc.emit.tree import Tree, is_released
from fleetc.places.origin import given
from fleetc.toml.document import Source

ODD_VALUES = (
    *("two words", " edges ", "", "it's", 'a "quoted" word', "$HOME", "${HOME}", "$$", "100%", "%n", "%%", "`id`"),
    *("back\\slash", "trail\\", "\\n", "#no comment", "a #b", "line\nbreak", "tab\t", "; true", ";", "é 日本 😀"),
    *("{{ lookup('pipe','touch injected') }}", "{% raw %}", "{#", "-", "--", "a=b", "~", "no", "1e3", "null", "*"),
    *("<b>|</b>", "```", "[1, 2]", '{"a": 1,  "b":2}', "$ANSIBLE_VAULT;1.1;AES256"),
)
"""Values that some target would gladly read as its own."""

HERE = given("gateways", "gw-eu")
PROGRAM = Program("/usr/local/bin/livepeer", "0.9.1", HERE)
"""What nodes of systemd hosts run here."""


def service(name: str = "gw-eu", **changes: Any) -> Service:
    """A gateway on the chain, with a secret, a file of prices and a keystore."""
    directory = f"/var/lib/livepeer/{name}"
    origin = given("gateways", name)
    base = Service(
        name=name,
        table="gateways",
        role="gateway",
        mode="dual",
        release=(0, 9, 1),
        image="livepeer/go-livepeer:v0.9.1",
        data_dir=directory,
        arguments=(
            Argument("dataDir", directory, origin),
            Argument("gateway", "true", origin),
            Argument("maxPricePerCapability", f"/opt/fleetc/current/{name}/prices.json", origin),
            Argument("maxPricePerUnit", "1500", origin),
            Argument("pixelsPerUnit", "1", origin),
        ),
        variables=(Variable("LP_ETHPASSWORD", "/etc/livepeer/password", given("wallets", "main", "password")),),
        secrets=(SecretVariable("LP_ETHURL", "env", "ARBITRUM_RPC_URL", given("fleet", "rpc")),),
        files=(BlueprintFile("prices.json", {"capabilities_prices": [price_entry("0.5", currency="USD")]}, origin),),
        mounts=(
            Mount("/etc/livepeer/password", True, origin),
            Mount(f"/opt/fleetc/current/{name}/prices.json", True, origin),
            Mount(directory, False, origin),
        ),
        gpus=None,
        manages_containers=False,
        monitored=True,
    )
    return replace(base, **changes)


def listening(
    address: str, port: int, purpose: str, owner: tuple[str, ...] = ("gateways", "gw-eu"), **changes: Any
) -> Listening:
    """A port that is meant for everyone and asks nobody anything."""
    one = Listening(port, port, "tcp", address, owner, purpose, EVERYONE, SPEND, HERE)
    return one._replace(**changes)


def price_entry(amount: str, **changes: object) -> dict[str, object]:
    """One price of a model, as lowering plans it."""
    entry: dict[str, object] = {"pipeline": "text-to-image", "model_id": "Org/Model", "price_per_unit": Decimal(amount)}
    return entry | {"pixels_per_unit": 1, "currency": "wei"} | changes


def host(name: str = "edge-1", *services: Service, **changes: Any) -> HostBlueprint:
    """A docker host in a region."""
    base = HostBlueprint(
        name=name,
        address="203.0.113.10",
        public=f"{name}.example.net",
        runtime="docker",
        region="eu-west",
        ssh_user="root",
        ssh_port=22,
        become=False,
        node_user="livepeer",
        services=services,
    )
    made = replace(base, **changes)
    if made.runtime != "systemd":
        return made
    return replace(made, services=tuple(replace(service, program=PROGRAM) for service in made.services))


def odd_service(name: str) -> Service:
    """A service with every odd value as an argument, as a variable and inside a file."""
    return service(
        name,
        arguments=tuple(Argument(f"odd{i:02}", value, HERE) for i, value in enumerate(ODD_VALUES)),
        variables=tuple(Variable(f"ODD_{i:02}", value, HERE) for i, value in enumerate(ODD_VALUES)),
        files=(BlueprintFile("prices.json", {"odd": list(ODD_VALUES)}, HERE),),
    )


def plan(*hosts: HostBlueprint, **changes: Any) -> Blueprint:
    """A fleet; without hosts one of two runtimes, an orchestrator with GPUs, and a host that runs nothing."""
    orchestrator = service(
        "orch-a",
        table="orchestrators",
        role="orchestrator",
        arguments=(Argument("orchestrator", "true", HERE), Argument("pricePerUnit", "0.5USD", HERE)),
        secrets=(),
        files=(BlueprintFile("aiModels.json", [price_entry("4768371", warm=True, capacity=1)], HERE),),
        gpus=(0, 1),
        manages_containers=True,
    )
    base = Blueprint(
        fleet="aurora",
        network="arbitrum-one-mainnet",
        release=(0, 9, 1),
        hosts=hosts
        or (
            host("edge-1", service("gw-eu")),
            host("gpu-1", orchestrator, service("gw-us"), runtime="systemd", address="2001:db8::1", become=True),
            host("spare-1", region=""),
        ),
        edges=(
            Connection("gw-eu", "orch-a", "pays"),
            Connection("gw-us", "registry", "finds"),
            Connection("https://o.example.net:8935", "gw-eu", "outside"),
        ),
        canary=1,
        batch="25%",
        silenced=(
            Silenced(
                "cli", "cli-port-exposed", "gateways.gw-eu", "behind | a *firewall*", "2027-01-31", "edge | *team*"
            ),
        ),
        market=MarketTables(),
    )
    return replace(base, **changes)


def emitted(plan: Blueprint, sources: Sequence[Source] = ()) -> Tree:
    """The tree of a plan, with the templates and playbooks that ship."""
    return formats.emit(plan, read_templates(), read_playbooks(), sources)


def written(tree: Tree, directory: Path) -> Path:
    """Write a tree into a directory and return that."""
    for artifact in tree.artifacts:
        path = directory / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(artifact.content)
    return directory


def text(tree: Tree, path: str) -> str:
    """The text of one artifact."""
    return tree.as_mapping()[path].content.decode()


def release_in(tree: Tree, host: str) -> Release:
    """The release that the files of a host make."""
    files = {a.path: a.content.decode() for a in tree.artifacts if is_released(a.path) and a.path.split("/")[1] == host}
    return release_with(files)


def release_with(files: Mapping[str, str]) -> Release:
    """The release that files with these texts make, by their paths in the tree."""
    return release_of(Draft(path, Verbatim(text)) for path, text in files.items())
