"""Programs of the node in the spec: what is refused, which one a node runs, and what its unit and its host are told."""

from __future__ import annotations

import json

import pytest

from fleetc.blueprint.blueprint import Service
from fleetc.blueprint.rollout import Need
from fleetc.fixes import repair
from fleetc.toml.document import Source
from tests.rules.support import (
    checked,
    free_gateway,
    free_orchestrator,
    offchain,
    onchain,
    orchestrator,
    printed,
    program,
)
from tests.support import compile_text, files_of

DIGEST = "ab" * 32
URL = "https://downloads.example.net/livepeer"


def table(**settings: str) -> str:
    values = {"url": f'"{URL}"', "sha256": f'"{DIGEST}"', **settings}
    lines = [f"{key} = {value}" for key, value in values.items() if value]
    return "\n".join(['[programs."v0.9.1"]', *lines])


REFUSED = {
    "no digest": (table(sha256='"abc"'), "this is not a SHA-256 digest"),
    "no https": (table(url='"http://downloads.example.net/livepeer"'), "only fetch programs over https"),
    "no address": (table(url='"livepeer"'), "this is not a URL with http or https"),
    "a password": (table(url='"https://me:CANARY@downloads.example.net/x"'), "contains a user name or password"),
    "a signature": (table(url='"https://downloads.example.net/x?sig=CANARY"'), "has a query or a fragment"),
    "both": (table(file='"/srv/livepeer"'), "needs either url or file"),
    "neither": (table(url=""), "needs either url or file"),
    "a relative file": (table(url="", file='"livepeer"'), "not an absolute path"),
    "an archive": (table(url='"https://downloads.example.net/x.tar.gz"'), "no field names the program in it"),
    "a member above": (table(member='"../livepeer"'), "not the path of a file in an archive"),
    "no release": (table().replace("v0.9.1", "0.9.1"), "this is not a known node release"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_program_that_nothing_can_be_installed_from(case: str) -> None:
    text, words = REFUSED[case]
    shown = printed(offchain(free_orchestrator(), text))
    assert words in shown and "CANARY" not in shown, shown


@pytest.mark.parametrize(
    "text",
    [
        table(),
        table(url='"http://127.0.0.1:8099/livepeer"'),
        table(url="", file='"/srv/livepeer"'),
        table(url='"https://downloads.example.net/x.tar.gz"', member='"livepeer-linux-amd64/livepeer"'),
    ],
)
def test_program_that_can_be_installed(text: str) -> None:
    assert checked(offchain(free_orchestrator(), text)).fleet is not None


def test_digest_as_other_programs_write_it_is_repaired() -> None:
    text = offchain(free_orchestrator(), table(sha256=f'"sha256:{DIGEST.upper()}"'))
    (source,) = repair([Source("fleet.toml", text)]).sources
    assert f'sha256 = "{DIGEST}"' in source.text


def test_host_with_a_program_of_its_own_has_no_build() -> None:
    text = offchain(free_orchestrator()).replace(
        'runtime = "systemd"', 'runtime = "systemd"\nbinary = "/opt/own"\nbuild = "gpu"'
    )
    assert "a host with its own program runs no build of programs" in printed(text)


def services(text: str) -> dict[str, Service]:
    plan = compile_text(text).blueprint
    assert plan is not None
    return {service.name: service for host in plan.hosts for service in host.services}


def path_of(text: str, node: str = "orch") -> str:
    found = services(text)[node].program
    assert found is not None
    return found.path


def test_program_is_that_of_the_release_the_build_and_the_host() -> None:
    build = f'[programs."v0.9.1".builds.gpu]\nurl = "{URL}-gpu"\nsha256 = "{"3" * 64}"'
    tables = [program("v0.9.1", "1", build), program("v0.9.0", "2")]
    fleet = offchain(free_orchestrator(), *tables)
    systemd = 'runtime = "systemd"'
    assert path_of(offchain(free_orchestrator())) == "/usr/local/bin/livepeer"
    assert path_of(fleet) == f"/opt/fleetc/programs/{'1' * 64}/livepeer"
    assert path_of(fleet.replace(systemd, f'{systemd}\nbuild = "gpu"')) == f"/opt/fleetc/programs/{'3' * 64}/livepeer"
    assert path_of(fleet.replace(systemd, f'{systemd}\nbinary = "/opt/own"')) == "/opt/own"
    older = offchain(free_orchestrator(node_release='"v0.9.0"'), *tables)
    assert path_of(older) == f"/opt/fleetc/programs/{'2' * 64}/livepeer"


def test_container_has_its_program_in_the_image() -> None:
    text = offchain(free_orchestrator(), free_gateway(), program("v0.9.1", "1"))
    assert services(text)["gate"].program is None


def test_unit_names_the_program_by_digest_and_the_host_is_told_where_it_comes_from() -> None:
    files = files_of(offchain(free_orchestrator(), program("v0.9.1", "1")))
    unit = files["hosts/gpu/orch/livepeer-orch.service"]
    assert f'ExecStart="/opt/fleetc/programs/{"1" * 64}/livepeer" \\' in unit
    (service,) = json.loads(files["ansible/host_vars/gpu.json"])["fleet_host_services"]
    told = {name: value["__ansible_unsafe"] for name, value in service["program"].items()}
    url = "https://downloads.example.net/v0.9.1/livepeer"
    assert told == {
        "path": f"/opt/fleetc/programs/{'1' * 64}/livepeer", "version": "0.9.1", "sha256": "1" * 64, "url": url
    }  # fmt: skip


def test_other_release_is_another_version_on_every_host() -> None:
    """What a host compares with the answer of the program: changing node_release alone is enough."""
    before = services(offchain(free_orchestrator(), node_release='"v0.9.0"'))["orch"].program
    after = services(offchain(free_orchestrator()))["orch"].program
    assert before is not None and after is not None
    assert (before.version, after.version) == ("0.9.0", "0.9.1")


# What hosts need.


def needs(text: str, host: str = "gpu") -> dict[str, Need]:
    plan = compile_text(text).blueprint
    assert plan is not None
    (found,) = [one for one in plan.hosts if one.name == host]
    return {f"{need.kind} {need.subject}".strip(): need for need in found.needs}


def test_needs_of_a_node_on_a_chain() -> None:
    found = needs(onchain(orchestrator(gpus="[0]", secret='{ host_file = "/etc/livepeer/secret" }')))
    account = "0x" + "2" * 40
    keystore = dict(found["keystore /var/lib/livepeer/keystore"].facts)
    assert keystore == {
        "account": account, "password": "/etc/livepeer/earner-password", "password_kind": "host_file"
    }  # fmt: skip
    assert "password-file /etc/livepeer/earner-password" in found
    assert "file /etc/livepeer/secret" in found
    assert dict(found["secret RPC_URL"].facts)["schemes"] == "http https ws wss"
    assert dict(found["data-directory /var/lib/livepeer/orch"].facts) == {"chain_id": "42161"}
    assert dict(found["gpus"].facts)["gpus"] == "0"
    assert "program /usr/local/bin/livepeer" in found
    assert dict(found["port service of orch"].facts)["port"] == "8935"
    assert "docker" not in found and "toolkit" not in found


def test_program_that_fleetc_installs_needs_no_more_than_its_address() -> None:
    found = needs(offchain(free_orchestrator(), program("v0.9.1", "1")))
    assert not any(key.startswith("program ") for key in found)
    assert "reach https://downloads.example.net/v0.9.1/livepeer" in found
    file = f'[programs."v0.9.1"]\nfile = "/srv/livepeer"\nsha256 = "{DIGEST}"'
    assert not any(key.startswith(("program ", "reach ")) for key in needs(offchain(free_orchestrator(), file)))


def test_container_host_needs_docker_and_what_gives_gpus() -> None:
    found = needs(offchain(free_orchestrator(gpus="[0]")).replace('runtime = "systemd"', 'runtime = "docker"'))
    assert {"docker", "compose", "toolkit", "gpus"} <= set(found)
    assert "systemd" not in found


def test_two_nodes_that_need_one_thing_are_named_together() -> None:
    other = orchestrator("other", http='"0.0.0.0:8936"', cli='"127.0.0.1:7936"', service='"orch.example.net:8936"')
    found = needs(onchain(orchestrator(), other).replace("[wallets.earner]", '[wallets.earner]\nreward_by = "orch"'))
    assert found["password-file /etc/livepeer/earner-password"].nodes == ("orch", "other")


def test_helpers_of_the_fleet_may_not_run_yet_and_others_must_answer() -> None:
    kafka = 'kafka = { broker = "queue.example.net:9092", topic = "events" }'
    found = needs(onchain(orchestrator(redeemer='"redeem.example.net:8935"')))
    assert dict(found["reach redeem.example.net:8935"].facts)["check"] == "redeemer-answers"
    gateway = free_gateway(monitor="true") + "\n" + kafka
    assert "reach queue.example.net:9092" in needs(offchain(free_orchestrator(), gateway), "edge")


def test_page_lists_what_people_provide_and_nothing_else() -> None:
    files = files_of(onchain(orchestrator(), program("v0.9.1", "1")))
    pages = (files[path] for path in ("hosts/gpu/README.md", "FLEET.md"))
    chapter = "".join(page.partition("## Before the first rollout")[2].partition("\n## ")[0] for page in pages)
    assert "directory with the key file of 0x2222222222222222222222222222222222222222" in chapter
    assert "which fleetc installs from there" in chapter
    assert chapter.count("8935") == 3, "the address to register, and the port to open, with its command"
