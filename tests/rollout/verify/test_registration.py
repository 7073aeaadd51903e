"""Which account and which registry count for an orchestrator, and what of the chain's words people are shown."""

from __future__ import annotations

from fleetc.rollout.verify.checks.registration import place_in
from tests.rollout.verify.healthy import Json, World
from tests.support import INVENTORIES, compile_text, compiled_example

OTHER_ACCOUNT = "0x" + "55" * 20


def world_with(added: str) -> World:
    """The example whose orchestrator has another line."""
    text = (INVENTORIES / "dual-onchain/fleet.toml").read_text(encoding="utf-8")
    assert text.count("\n[orchestrators.orch]\n") == 1
    return World(compile_text(text.replace("\n[orchestrators.orch]\n", f"\n[orchestrators.orch]\n{added}\n")))


def chain_word(world: World) -> Json:
    """What the chain says of the orchestrator, to be changed."""
    (found,) = world.hosts["gpu"]["registrations"]
    assert isinstance(found, dict)
    return found


def test_node_is_not_believed_about_the_account_of_another_orchestrator() -> None:
    """It only knows of its own account, which nobody has registered."""
    nobody = {"ServiceURI": "", "Active": False}
    world = world_with(f'orchestrator_address = "{OTHER_ACCOUNT}"')
    world.change("orch", "/orchestratorInfo", Transcoder=nobody)
    assert world.found() == []
    chain_word(world)["active"] = False
    assert world.found() == [("warning", "orchestrator-inactive", "orchestrators.orch")]


def test_node_is_believed_where_it_names_its_own_account_in_other_letters() -> None:
    wallet = str(World(compiled_example("dual-onchain")).fleet.wallets["earner"].address)
    world = world_with(f'orchestrator_address = "{wallet}"')
    world.change("orch", "/orchestratorInfo", Transcoder={"ServiceURI": "", "Active": False})
    assert world.found() == [("warning", "orchestrator-inactive", "orchestrators.orch")]


SECOND = """
[orchestrators.second]
host = "edge"
mode = "video"
wallet = "earner"
price = "1200 wei / pixel"
max_sessions = 4
service = "second.example.net:9035"
http = "0.0.0.0:9035"
cli = "127.0.0.1:7936"
"""


def second_is_registered(of_second: str) -> World:
    """The account of orch is registered with the address of another orchestrator."""
    text = (INVENTORIES / "dual-onchain/fleet.toml").read_text(encoding="utf-8")
    world = World(compile_text(text + SECOND + of_second))
    chain_word(world)["address"] = "https://second.example.net:9035"
    return world


def test_one_address_of_an_account_leaves_the_others_out() -> None:
    """Both share a registry: the address is one of the spec, and still nobody finds orch."""
    (found,) = second_is_registered("ai_registry = true\n").judged().findings
    assert (found.kind, found.node, found.code) == ("warning", "orch", "other-service-address")
    assert found.message == (
        "orch: the chain has its account at the address of second, and no gateway of this fleet lists it: gateways "
        "that search the chain do not find it"
    )


def test_one_that_another_orchestrator_names_is_found() -> None:
    named = 'ai_registry = true\ninstances = ["https://orch.example.net:8935"]\n'
    assert second_is_registered(named).found() == []


def test_each_registry_has_its_own_address_of_one_account() -> None:
    assert second_is_registered("").found() == [("drift", "other-service-address", "hosts.gpu.public")]


def test_words_of_the_chain_are_cut_and_escaped() -> None:
    world = World(compiled_example("dual-onchain"))
    chain_word(world)["address"] = "https://\x1b[2J\u202e" + "x" * 10_000
    (found,) = world.judged().findings
    assert found.code == "other-service-address" and found.message.isprintable() and len(found.message) < 200
    assert "instead of https://orch.example.net:8935" in found.message


def test_message_names_the_account_without_an_address() -> None:
    world = World(compiled_example("dual-onchain"))
    chain_word(world)["address"] = ""
    (found,) = world.judged().findings
    assert found.message == "orch: the chain has no address of it, instead of https://orch.example.net:8935"
    assert found.help.startswith("register the address of the spec")


def test_places_of_urls() -> None:
    assert place_in("https://Orch.example.net") == "orch.example.net:443"
    assert place_in("http://[2001:db8::1]:80/x") == "[2001:db8::1]:80"
    assert place_in("://\x1b") == "\x1b:443"
