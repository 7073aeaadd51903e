"""The target release decides: the facts agree with one another, and what is emitted fits the release it is for."""

from __future__ import annotations

import datetime
import tomllib
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import tomli_w

from fleetc.blueprint.blueprint import Service
from fleetc.language.rows import UNREACHED, field_of
from fleetc.lower import lower
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Path
from fleetc.toml.document import Source
from fleetc.upstream import (
    ABILITIES,
    FLAGS,
    NEWEST_RELEASE,
    OLDEST_RELEASE,
    RELEASES,
    Release,
    format_release,
    parse_release,
)
from fleetc.upstream.releases import releases
from tests import node
from tests.rules.support import (
    SECRET,
    ai_worker,
    flagged,
    free_gateway,
    free_orchestrator,
    model,
    offchain,
    onchain,
    orchestrator,
    printed,
    silent,
)

RICH = """
spec = 1

[fleet]
name = "rich"
network = "arbitrum-one-mainnet"
node_release = "v0.9.1"
rpc = { env = "RPC_URL" }

[hosts.edge]
address = "203.0.113.10"
public = "edge.example.net"
runtime = "docker"

[hosts.gpu]
address = "203.0.113.20"
public = "orch.example.net"
runtime = "docker"
gpus = [{ model = "RTX 4090" }, { model = "RTX 4090" }]

[hosts.far]
address = "203.0.113.30"
public = "far.example.net"
runtime = "systemd"
gpus = [{ model = "RTX 4090" }]

[wallets.payer]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = { host_file = "/etc/livepeer/payer" }
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"
reward_by = "none"

[wallets.earner]
address = "0x2222222222222222222222222222222222222222"
keystore = "/var/lib/livepeer/keystore"
password = { host_file = "/etc/livepeer/earner" }
reward_by = "plain"

[models.image]
pipeline = "text-to-image"
id = "SG161222/RealVisXL_V4.0_Lightning"
price = "4000 wei / pixel"
image = "example/runner:v1.0.0"

[models.free]
pipeline = "llm"
id = "meta-llama/Meta-Llama-3.1-8B-Instruct"
price = "0 wei / pixel"

[models.scope]
pipeline = "live-video-to-video"
id = "scope"

[gateways.gate]
host = "edge"
mode = "dual"
wallet = "payer"
http = "0.0.0.0:8935"
http_ingest = true
public = "edge.example.net:8935"
discovery = "ai-registry"
max_price = "9000 wei / pixel"
max_model_prices = { image = "9000 wei / pixel" }
ai_retry_timeout = "5s"
min_runner_versions = { scope = "0.14.1" }
live_payment_interval = "5s"
selection = { extra_nodes = 2, timeout = "700ms", min_release = "0.7.6" }
kafka = { broker = "kafka.example.net:9092", topic = "events", user = "u", password = { env = "KAFKA" } }
environment = { LIVE_AI_WHEP_ADDR = ":8890" }

[gateways.gate.live]
auth_webhook = "https://hook.example.net/live"
auth_key = { env = "KEY" }
heartbeat_url = "https://hook.example.net/beat"
heartbeat_headers = { env = "HEADERS" }
heartbeat_interval = "7s"
mediamtx_password = { env = "MEDIAMTX" }
out_segment_timeout = "20s"
save_segments = 3
report_interval = "10m"

[gateways.signed]
host = "edge"
mode = "ai"
http = "127.0.0.1:9936"
rtmp = "127.0.0.1:1936"
cli = "127.0.0.1:5936"
remote_signer = { url = "https://signer.example.net", headers = { env = "SIGNER" } }

[orchestrators.orch]
host = "gpu"
mode = "dual"
wallet = "earner"
price = "1200 wei / pixel"
transcoding = "local"
gpus = [0, 1]
http_tls = false
instances = ["https://second.example.net:8935"]
availability_check = false
ai_registry = true
models = [{ use = "image", warm = true, capacity = 4 }, { use = "free" }]
containers_per_gpu = 2
runner_image = "example/base:v1.0.0"
runner_logs = true
trickle_host = "10.0.0.1:8935"
live_payment_interval = "5s"
live_runners = true
live_runner_address = "https://orch.example.net:9000"
live_runner_config = "/etc/livepeer/runners.json"
live_runner_proxy = "https://{proxy}.example.net"
secret = { host_file = "/etc/livepeer/secret" }

[orchestrators.brain]
host = "edge"
service = "edge.example.net:8945"
mode = "ai"
wallet = "earner"
price = "1200 wei / pixel"
ai_work = "remote"
models = [{ use = "scope" }]
secret = { host_file = "/etc/livepeer/secret" }

[ai_workers.bridge]
host = "far"
orchestrator = "brain.example.net:8935"
secret = { host_file = "/etc/livepeer/secret" }
serverless = true
models = [{ use = "scope", url = "wss://provider.example.net/ws", capacity = 4 }]

[orchestrators.plain]
host = "far"
mode = "video"
wallet = "earner"
price = "1200 wei / pixel"
gateway_prices = { front = "1000 wei / pixel" }
gpus = [0]
hevc_decoding = true

[remote_signers.sign]
host = "edge"
wallet = "payer"
http = "0.0.0.0:8936"
auth_webhook = "https://hook.example.net/sign"
auth_webhook_headers = { env = "SIGN_HEADERS" }
allow_no_auth = true
remote_discovery = true
max_price = "9000 wei / pixel"

[gateways.front]
host = "far"
mode = "video"
wallet = "payer"
http = "127.0.0.1:9935"
max_price = "9000 wei / pixel"
ignore_max_price_if_needed = true
orchestrators = ["plain"]
"""


def rich_for(release: Release) -> tuple[Checked, int]:
    """The rich spec without what a release does not have, and how many settings had to go."""
    raw = tomllib.loads(RICH)
    raw["fleet"]["node_release"] = format_release(release)
    checked = _check(raw)
    unknown = [d for d in checked.diagnostics if d.code == "flag-unknown-to-release"]
    paths = {d.primary.place for d in unknown if isinstance(d.primary.place, tuple)}
    for path in sorted(paths, key=str):
        _take_away(raw, path)
    return (_check(raw) if paths else checked), len(paths)


def _check(raw: dict[str, Any]) -> Checked:
    return check_spec([Source("fleet.toml", tomli_w.dumps(raw))])


def _take_away(raw: dict[str, Any], path: Path) -> None:
    """Remove a setting, and what cannot be without it: a node without what makes it one, a table without keys."""
    if path[-1] in ("mode", "serverless") or len(path) == 2 or "remote_signer" in path:
        raw[str(path[0])].pop(path[1], None)
        return
    tables: list[Any] = [raw]
    for part in path[:-1]:
        if isinstance(tables[-1], dict) and part not in tables[-1]:
            return
        tables.append(tables[-1][part])
    if path[-1] == "use":
        raw["models"][tables[-1]["use"]].pop("image", None)
        return
    tables[-1].pop(path[-1], None)
    if not tables[-1]:
        del tables[-2][path[-2]]


@cache
def services(release: Release) -> tuple[Service, ...]:
    """The services of the rich spec for a release."""
    checked, _ = rich_for(release)
    assert checked.fleet is not None, [d.message for d in checked.diagnostics]
    return tuple(service for host in lower(checked.fleet).hosts for service in host.services)


def flags_of(service: Service) -> set[str]:
    variables = {v.name for v in service.variables} | {s.name for s in service.secrets}
    return {a.flag for a in service.arguments} | {
        flag.name for flag in FLAGS.values() if flag.env in variables and flag.name != "datadir"
    }


by_release = pytest.mark.parametrize("release", RELEASES, ids=format_release)


@by_release
def test_nothing_is_emitted_that_the_release_does_not_have(release: Release) -> None:
    assert services(release)
    for service in services(release):
        unknown = sorted(name for name in flags_of(service) if not FLAGS[name].acts_in(release))
        assert not unknown, f"{service.name} on {format_release(release)}"


@by_release
def test_node_understands_every_launch_line(release: Release) -> None:
    """By the second, independent account of the node's parser, with only the flags that the release has."""
    rows = {name: row for name, row in node.parsing.node_flags().items() if FLAGS[name].known_to(release)}
    for service in services(release):
        variables = {v.name: v.value for v in service.variables}
        read = node.parsing.read([a.text for a in service.arguments], variables, flags=rows)
        assert read.rest == ()
        assert {a.flag for a in service.arguments} <= read.given


def test_rich_spec_uses_every_flag_that_came_since_the_oldest_release() -> None:
    used = {name for service in services(NEWEST_RELEASE) for name in flags_of(service)}
    since = {flag.name: flag.since for flag in FLAGS.values() if flag.name not in UNREACHED}
    young = {name for name, release in since.items() if OLDEST_RELEASE < release <= NEWEST_RELEASE}
    missing = sorted(young - used - {"aiRunnerImage"})
    lines = [f"{field_of(flag, 'gateways') or flag} (-{flag})" for flag in missing]
    assert missing == [], f"give RICH in tests/upstream/test_releases.py a value for {', '.join(lines)}"


def test_every_release_after_the_first_that_brings_a_setting_changes_what_fits() -> None:
    for older, newer in pairwise(RELEASES):
        brings = {flag.name for flag in FLAGS.values() if older < flag.since <= newer} - set(UNREACHED)
        if brings - {"aiRunnerImageOverrides"}:
            advice = f"give RICH in tests/upstream/test_releases.py a value for one of {sorted(brings)}"
            assert rich_for(older)[1] > rich_for(newer)[1], advice


# The facts


def test_releases_are_listed_once_and_in_order() -> None:
    whole = [facts for facts in releases() if not facts.partial]
    assert [facts.release for facts in whole] == list(RELEASES)
    days = [datetime.date.fromisoformat(facts.day) for facts in whole]
    assert days == sorted(days)


def test_flag_that_is_removed_is_unknown_from_then_on() -> None:
    gone = replace(FLAGS["hevcDecoding"], no_effect_since=(0, 8, 0), removed=(0, 9, 0))
    assert not gone.known_to((0, 7, 6))
    assert gone.acts_in((0, 7, 8))
    assert gone.known_to((0, 8, 11)) and not gone.acts_in((0, 8, 11))
    assert not gone.known_to((0, 9, 0))


def test_every_flag_has_been_looked_at_by_a_person() -> None:
    """A refresh writes new flags without roles, in the group unsorted."""
    for flag in FLAGS.values():
        assert flag.roles, f"{flag.name}: which roles read it?"
        assert flag.group != "unsorted", f"{flag.name}: which group?"


def test_changes_have_names_of_their_own_and_speak_of_things_that_exist() -> None:
    changes = [change for facts in releases() for change in facts.changes]
    names = [change.name for change in changes]
    assert len(names) == len(set(names))
    for change in changes:
        for name in (*change.flags, *change.without, *filter(None, [change.unset])):
            assert name in FLAGS, f"{change.name}: {name}"
        assert set(change.roles) <= {"gateway", "orchestrator", "transcoder", "ai-worker"}
        assert change.now != change.before


def test_abilities_are_changes_of_the_same_release() -> None:
    known = {change.name: change.release for facts in releases() for change in facts.changes}
    assert {name: known.get(name) for name in ABILITIES} == ABILITIES


# What differs between releases

OFFER = '[{ use = "realvis" }]'
DUAL = free_orchestrator(mode='"dual"', models=OFFER, runner_image='"x/y:v1.0.0"')


def _services(text: str) -> dict[str, Service]:
    checked = check_spec([Source("fleet.toml", text)])
    assert checked.fleet is not None, printed(text)
    return {service.name: service for host in lower(checked.fleet).hosts for service in host.services}


def _flag(text: str, flag: str, name: str = "orch") -> str | None:
    return next((a.value for a in _services(text)[name].arguments if a.flag == flag), None)


@pytest.mark.parametrize(
    ("release", "old", "new"),
    [
        ("v0.8.0", "x/y:v1.0.0", None),
        ("v0.8.2", "x/y:v1.0.0", None),
        ("v0.8.3", None, '{"default":"x/y:v1.0.0"}'),
        ("v0.9.1", None, '{"default":"x/y:v1.0.0"}'),
    ],
)
def test_runner_image_goes_by_the_name_that_the_release_knows(release: str, old: str | None, new: str | None) -> None:
    text = offchain(model(), DUAL, node_release=f'"{release}"')
    assert _flag(text, "aiRunnerImage") == old
    assert _flag(text, "aiRunnerImageOverrides") == new


def test_capacity_of_warm_models_takes_slots_only_where_it_starts_containers() -> None:
    many = '[{ use = "realvis", warm = true, capacity = 3 }]'
    orch = free_orchestrator(mode='"dual"', models=many, gpus="[0]", max_sessions="2")
    silent(offchain(model(), orch, node_release='"v0.8.5"'))
    assert "keeps 3" in flagged(offchain(model(), orch, node_release='"v0.8.6"'), "too-many-warm-containers")


@pytest.mark.parametrize(("release", "address"), [("v0.8.5", "0.0.0.0"), ("v0.8.6", "127.0.0.1")])
def test_runner_ports_are_on_loopback_since_they_are(release: str, address: str) -> None:
    fleet = check_spec([Source("fleet.toml", offchain(model(), DUAL, node_release=f'"{release}"'))]).fleet
    assert fleet is not None
    ports = [one for host in lower(fleet).hosts for one in host.listeners]
    assert [p.address for p in ports if "runner" in p.purpose] == [address]


def test_model_for_nothing_needs_a_release_that_takes_zero() -> None:
    free = model(price='"0 wei / pixel"')
    orch = orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    assert "v0.8.7" in flagged(onchain(free, orch, node_release='"v0.8.6"'), "flag-unknown-to-release")
    assert "flag-unknown" not in printed(onchain(free, orch, node_release='"v0.8.7"'))


def test_whep_needs_a_release_that_serves_it() -> None:
    gate = free_gateway(mode='"dual"', environment='{ LIVE_AI_WHEP_ADDR = ":8890" }')
    orch = free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    assert "has no WHEP" in flagged(offchain(model(), orch, gate, node_release='"v0.8.8"'), "flag-unknown-to-release")
    silent(offchain(model(), orch, gate, node_release='"v0.8.9"'))


def test_release_of_a_node_decides_for_that_node_alone() -> None:
    brain = free_orchestrator(mode='"dual"', host='"edge"', node_release='"v0.8.2"', secret=SECRET, models=OFFER)
    worker = ai_worker(runner_image='"x/y:v1.0.0"', cli='"127.0.0.1:4940"')
    second = ai_worker("old", runner_image='"x/y:v1.0.0"', node_release='"v0.8.2"', gpus="[1]")
    text = offchain(model(), brain, worker, second)
    assert _flag(text, "aiRunnerImageOverrides", "worker") == '{"default":"x/y:v1.0.0"}'
    assert _flag(text, "aiRunnerImage", "old") == "x/y:v1.0.0"


def test_releases_read_as_they_are_written() -> None:
    assert [parse_release(format_release(release)) for release in RELEASES] == list(RELEASES)
