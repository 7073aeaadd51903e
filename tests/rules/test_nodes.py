"""Borders of the rules about settings of nodes: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    OneRule,
    ai_dispatcher,
    ai_worker,
    dispatcher,
    free_gateway,
    free_orchestrator,
    gateway,
    host,
    model,
    offchain,
    onchain,
    renting,
    signer,
    silent,
    transcoder,
)


def test_data_dir_used_twice(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(offchain(free_gateway(http='"127.0.0.1:9935"'), free_orchestrator(host='"edge"')))
    # Directory with the same beginning is another one.
    second = free_gateway(data_dir='"/var/lib/livepeer/orch-2"', http='"127.0.0.1:9935"')
    silent(offchain(second, free_orchestrator(host='"edge"')))
    # Same directory on two hosts is fine.
    silent(offchain(free_gateway(data_dir='"/srv/node"'), free_orchestrator(data_dir='"/srv/node"')))
    # Directory inside another.
    inner = free_gateway(data_dir='"/var/lib/livepeer/orch/gate"')
    assert rule.errs(offchain(inner, free_orchestrator(host='"edge"'))) == snapshot
    # Each directory inside is reported.
    outer = free_gateway(data_dir='"/srv"', host='"other"')
    nodes = [
        transcoder(
            "a", host='"other"', data_dir='"/srv/a"', orchestrator='"x.example.net:8935"', secret='{ env = "S" }'
        ),
        transcoder(
            "b", host='"other"', data_dir='"/srv/b"', orchestrator='"x.example.net:8935"', secret='{ env = "S" }'
        ),
    ]
    rule.errs(
        offchain(host("other"), free_orchestrator(), outer, *nodes),
        "the data directory of a",
        "the data directory of b",
    )


KAFKA = 'broker = "kafka.example.net:9092", topic = "events"'


def test_kafka_settings_unused(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Half a login.
    user = f'{{ {KAFKA}, user = "fleet" }}'
    password = f'{{ {KAFKA}, password = {{ env = "KAFKA_PASSWORD" }} }}'
    nodes = gateway(kafka=user, monitor="true"), signer(kafka=password, monitor="true", http='"127.0.0.1:9000"')
    assert rule.warns(onchain(*nodes)) == snapshot
    # Whole login beside metrics.
    kafka = f'{{ {KAFKA}, user = "fleet", password = {{ env = "KAFKA_PASSWORD" }} }}'
    rule.quiet(onchain(gateway(kafka=kafka, monitor="true")))


SELLER = ai_dispatcher()


def test_listed_twice(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(offchain(dispatcher(), transcoder(gpus="[1, 0]")))
    silent(renting())
    models = '[{ use = "realvis", warm = true }, { use = "realvis", warm = true }]'
    silent(offchain(model(), SELLER, ai_worker(models=models, gpus="[0, 1]")))
    # Two pipelines of one model are two.
    models = '[{ use = "realvis", warm = true }, { use = "other" }]'
    other = model("other", pipeline='"image-to-image"')
    silent(offchain(model(), other, SELLER, ai_worker(models=models)))
    # The node refuses one label twice.
    assert rule.errs(renting(runners='["echo", "echo"]')) == snapshot
    # Both.
    models = '[{ use = "realvis", warm = true }, { use = "realvis" }]'
    assert rule.errs(offchain(model(), SELLER, ai_worker(models=models))) == snapshot
    # Two names of one model are one.
    models = '[{ use = "realvis", warm = true }, { use = "alias" }]'
    rule.errs(offchain(model(), model("alias"), SELLER, ai_worker(models=models)))


def _with(variables: str) -> str:
    return offchain(free_gateway(environment=variables), free_orchestrator())


def test_media_variable_invalid(rule: OneRule) -> None:
    rule.errs(
        _with('{ LIVE_AI_WHIP_ADDR = "0.0.0.0" }'), 'write LIVE_AI_WHIP_ADDR = ":7280", or an address with its port'
    )
    # Limit that is no positive number.
    for text in ["0", "-1", "five", "1.5", " 5"]:
        rule.errs(_with(f'{{ LIVE_AI_WHEP_MAX_SESSIONS = "{text}" }}'), "unlimited")
    # What the node takes is fine.
    for variables in [
        '{ LIVE_AI_WHIP_ADDR = ":7280", LIVE_AI_WHEP_ADDR = "203.0.113.10:7281" }',
        '{ LIVE_AI_WHEP_MAX_SESSIONS = "unlimited" }',
        '{ LIVE_AI_WHEP_MAX_SESSIONS = "12" }',
        '{ LIVE_AI_WHIP_ADDR = "[::1]:7280" }',
    ]:
        silent(_with(variables))
    # What is no listener.
    for text in ["7280", ":0", ":70000", "host:", "http://host:7280"]:
        rule.errs(_with(f'{{ LIVE_AI_WHEP_ADDR = "{text}" }}'))


FEED = 'performance_url = "https://scores.example.net/stats"'


def _fleet(*settings: str) -> str:
    return offchain(free_orchestrator(), free_gateway(selection=f"{{ {', '.join(settings)} }}"))


def test_performance_score_unused(rule: OneRule) -> None:
    # A feed without a region.
    rule.warns(_fleet('min_performance = "0.8"', FEED), "performance_region is missing")
    silent(_fleet('min_performance = "0.8"', FEED, 'performance_region = "FRA"'))


def _weights(text: str) -> str:
    return onchain(gateway(selection=f"{{ {text} }}"))


def test_selection_weights(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(_weights('price = "0.5", random = "0.2", stake = "0.3"'))
    silent(_weights('random = "0.2", stake = "0.8"'))
    silent(_weights('price = "0.00005"'))
    silent(_weights('timeout = "2s"'))
    # Off chain weights have no meaning.
    silent(offchain(free_orchestrator(), free_gateway(selection='{ price = "0.5" }')))
    # All three given and wrong.
    rule.errs(
        _weights('price = "0.5", random = "0.3", stake = "0.3"'),
        "add up to 1.1, not to 1: random 0.3 + stake 0.3 + price 0.5",
        "so that they add up to 1",
    )
    # Proposed weight repairs it.
    rule.errs(_weights('random = "0.5"'), 'write stake = "0.5"')
    silent(_weights('random = "0.5", stake = "0.5"'))
    # Exponent of zero.
    assert rule.errs(_weights('price_exponent = "0"')) == snapshot
    silent(_weights('price_exponent = "0.5"'))


VERIFIER = {"verifier_url": '"https://verifier.example.net"'}
ALL = {**VERIFIER, "verifier_path": '"/var/lib/verifier"', "object_store": '{ env = "STORE" }'}


def test_verifier_incomplete(rule: OneRule) -> None:
    # Store alone is not enough.
    half = {**ALL, "verifier_path": None}
    rule.errs(offchain(free_orchestrator(), free_gateway("gate", **half)), "lacks verifier_path\n")
