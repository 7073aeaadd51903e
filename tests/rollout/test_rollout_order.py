"""In which order hosts and their nodes are rolled out: what others use comes first, gateways come last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleetc.blueprint.blueprint import Blueprint
from fleetc.lower import lower
from fleetc.review.compare import compare
from fleetc.rollout.plan.make import Inputs
from fleetc.toml.document import Source
from tests.review.support import compiled_or_none, example, side
from tests.support import shipped

TWO = example("two-regions")
SPLIT = example("ai-split")
ORDER_OF_TWO = (
    *("eu-ai", "eu-gpu-1", "eu-gpu-2", "us-ai", "us-gpu-1", "us-gpu-2"),
    *("eu-edge-1", "eu-edge-2", "us-edge"),
)
SIGNER = """[remote_signers.paying]
host = "us-gpu-2"
wallet = "payer"
http = "198.51.100.13:9988"
secret = { host_file = "/etc/livepeer/signer-secret" }

"""


def plan_of(text: str) -> Blueprint:
    compiled = compiled_or_none(text)
    assert compiled is not None and compiled.blueprint is not None
    return compiled.blueprint


def order_of(text: str) -> tuple[str, ...]:
    return tuple(host.name for host in plan_of(text).in_order)


def test_gateways_are_last() -> None:
    assert order_of(TWO) == ORDER_OF_TWO


def test_a_worker_follows_its_orchestrator_and_helpers_go_first() -> None:
    """The front has the gateway too, yet all workers need its orchestrator."""
    order = order_of(SPLIT)
    assert order == ("front", "encoder-1", "encoder-2", "inference-1", "inference-2")


@pytest.mark.parametrize("supplier", ["studio", "a-gpu"])
def test_a_supplier_goes_first_where_its_own_host_has_a_gateway_too(supplier: str) -> None:
    """Both hosts have a gateway; that of the second buys from the first, whatever their names are."""
    text = example("demo").replace("hosts.studio", f"hosts.{supplier}").replace('"studio"', f'"{supplier}"')
    host = '[hosts.c-edge]\naddress = "192.0.2.20"\nruntime = "docker"\n\n'
    gateway = (
        text[text.index("[gateways.gate]") : text.index("[orchestrators.orch]")]
        .replace(".gate]", ".b-gate]")
        .replace(f'"{supplier}"', '"c-edge"')
    )
    text = text.replace("[orchestrators.orch]", host + "[orchestrators.orch]") + "\n" + gateway
    assert order_of(text) == (supplier, "c-edge")


def test_hosts_that_use_one_another_go_by_their_names() -> None:
    text = example("demo").replace("studio", "b-host")
    other = example("demo").replace("192.0.2.10", "192.0.2.20").replace("studio", "a-host")
    other = other.replace("gate]", "gate-2]").replace("orch]", "orch-2]")
    tables = other[other.index("[hosts.") :]
    text = text.replace('["orch"]', '["orch-2"]') + "\n" + tables
    assert order_of(text) == ("a-host", "b-host")


def test_a_host_that_runs_nothing_is_last() -> None:
    host = '[hosts.a-spare]\naddress = "192.0.2.20"\nruntime = "docker"\n\n'
    assert order_of(TWO.replace("[wallets.payer]", host + "[wallets.payer]", 1)) == (*ORDER_OF_TWO, "a-spare")


@pytest.mark.usefixtures("processes")
def test_ansible_takes_the_hosts_in_this_order_and_a_plan_states_it(tmp_path: Path) -> None:
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader

    compiled = compiled_or_none(TWO)
    assert compiled is not None and compiled.blueprint is not None and compiled.tree is not None
    file = tmp_path / "inventory.json"
    file.write_bytes(compiled.tree.as_mapping()["ansible/inventory.json"].content)
    inventory = InventoryManager(loader=DataLoader(), sources=[str(file)])
    assert [host.name for host in inventory.get_hosts("fleet_hosts")] == list(ORDER_OF_TWO)
    inventory.subset("us-edge,us-ai,eu-edge-1")
    assert [host.name for host in inventory.get_hosts("fleet_hosts")] == ["us-ai", "eu-edge-1", "us-edge"]
    batches = json.loads(compiled.tree.as_mapping()["ansible/rollout.json"].content)["fleet_batches"]
    assert [name for batch in batches for name in batch] == list(ORDER_OF_TWO)
    inputs = Inputs([Source("fleet.toml", TWO)], *shipped(), compiled.blueprint, compiled.tree)
    assert batches == [list(batch) for batch in inputs.blueprint.batches]


@pytest.mark.parametrize(
    ("settings", "batches"),
    [
        ("", "eu-ai|eu-gpu-1 eu-gpu-2|us-ai us-gpu-1|us-gpu-2 eu-edge-1|eu-edge-2 us-edge"),
        ("canary = 0\nbatch = 4", "eu-ai eu-gpu-1 eu-gpu-2 us-gpu-2|us-ai us-gpu-1 eu-edge-1 eu-edge-2|us-edge"),
        ("canary = 2\nbatch = '1%'", "eu-ai eu-gpu-1|eu-gpu-2|us-ai|us-gpu-1|us-gpu-2|eu-edge-1|eu-edge-2|us-edge"),
        ("batch = 3\nby = 'region'", "eu-ai|eu-gpu-1 eu-gpu-2 eu-edge-1|eu-edge-2|us-ai us-gpu-1 us-gpu-2|us-edge"),
        ("canary = 0\nbatch = '100%'", "eu-ai eu-gpu-1 eu-gpu-2 us-gpu-2 eu-edge-1 eu-edge-2|us-ai us-gpu-1 us-edge"),
    ],
)
def test_batches_leave_somebody_who_sells_and_somebody_who_buys(settings: str, batches: str) -> None:
    """us-gpu-1 is the last orchestrator of both video gateways, us-ai the last that sells models."""
    found = plan_of(f"{TWO[: TWO.index('[rollout]')]}[rollout]\n{settings}\n").batches
    assert "|".join(" ".join(batch) for batch in found) == batches


def test_a_host_is_told_its_nodes_in_this_order() -> None:
    variables = json.loads(side(SPLIT).files["ansible/host_vars/front.json"])
    assert [s["name"]["__ansible_unsafe"] for s in variables["fleet_host_services"]] == ["orch", "gate"]


def test_another_order_of_hosts_belongs_to_the_edit_that_makes_it() -> None:
    """The second encoder gets a gateway, so it goes last; the review has no line without a reason."""
    gateway = '[gateways.b]\nhost = "encoder-1"\nmode = "video"\nhttp = "0.0.0.0:9935"\nhttp_ingest = true\n'
    gateway += 'rtmp = "127.0.0.1:1936"\norchestrators = ["orch"]\nrenditions = ["P240p30fps16x9"]\nmonitor = true\n\n'
    found = compare(side(SPLIT), side(SPLIT.replace("[transcoders.t-1]", gateway + "[transcoders.t-1]", 1)))
    assert [(change.kind, change.what) for change in found.changes] == [("service", "b")]


def test_a_part_of_the_fleet_has_the_order_of_the_whole() -> None:
    compiled = compiled_or_none(TWO)
    assert compiled is not None and compiled.checked.fleet is not None
    part = lower(compiled.checked.fleet, ["eu-edge-1", "us-ai"])
    assert [host.name for host in part.in_order] == ["us-ai", "eu-edge-1"]
