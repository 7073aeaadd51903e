"""Borders of the rules about releases, programs, images and rollouts: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from fleetc.rules.release.extra_flag_refused import _of_type
from fleetc.upstream import FLAGS
from tests.rules.support import (
    SECRET,
    OneRule,
    ai_dispatcher,
    ai_worker,
    avatars,
    dispatcher,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    model,
    offchain,
    onchain,
    orchestrator,
    program,
    signer,
    silent,
    staged,
    transcoder,
)

PAIR = "[rollout]\ncanary = 2\n"


def test_confirm_too_short(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Confirmation of a second.
    assert rule.warns(offchain(free_orchestrator(), f'{PAIR}confirm = "1s"')) == snapshot
    # Batches of one host wait for nobody.
    silent(offchain(free_orchestrator(), '[rollout]\ndeadline = "10m"'))
    # Usual times.
    silent(offchain(free_orchestrator(), PAIR))


DRAIN = '[rollout]\ndrain = "10m"'


def test_drain_without_sessions(rule: OneRule) -> None:
    # Many orchestrators are one warning.
    text = offchain(free_orchestrator(), DRAIN)
    start = text.index("[orchestrators.orch]")
    table = text[start:].split("\n[", 1)[0]
    more = (table.replace("orchestrators.orch", f"orchestrators.o{number}") for number in range(7))
    rule.warns(
        "\n\n".join((text, *more)),
        "8 orchestrators do not say how many sessions they have, so each of their restarts waits for 10m",
        "orchestrators.o4 and 3 more",
    )
    # Orchestrator with metrics.
    silent(
        offchain(
            free_orchestrator(monitor="true"),
            DRAIN,
            '[monitoring]\nhost = "gpu"\nalertmanagers = ["203.0.113.10:9093"]',
        )
    )
    # Rollout that waits for nothing.
    silent(offchain(free_orchestrator()))


ORCH = free_orchestrator(secret='{ env = "S" }', transcoding='"remote"')


def _with(flags: str, **fleet: str | None) -> str:
    return offchain(free_gateway(extra_flags=flags), free_orchestrator(), **fleet)


def test_extra_flag_refused(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Misspelt flag.
    assert rule.errs(_with('{ liveAICapRefreshModel = "noop" }')) == snapshot
    # Flags for which there is something better.
    for flags, message in [
        ('{ network = "offchain" }', "write network of the fleet instead"),
        ("{ broadcaster = true }", "write a table under gateways instead"),
        ('{ datadir = "/d" }', "write data_dir instead"),
        ('{ config = "/etc/livepeer.conf" }', "bypasses the checks"),
        ("{ j = true }", "ends the node"),
        ('{ ethPassword = "x" }', "write password of the wallet instead"),
        ('{ ticketEV = "1" }', "write ticket_ev of orchestrators instead"),
        ('{ liveAICapRefreshModels = "noop" }', "write live.report_interval instead"),
    ]:
        rule.errs(_with(flags), message)
    # Flag that has no field in an older release is fine.
    silent(_with('{ liveAICapRefreshModels = "noop" }', node_release='"v0.8.9"'))
    # Flag that the release lacks.
    text = _with('{ liveAICapRefreshModels = "noop" }', node_release='"v0.8.5"')
    rule.errs(text, "the node of v0.8.5 has no flag")
    # Flag that the role does not read.
    worker = transcoder(extra_flags='{ liveAICapRefreshModels = "noop" }')
    rule.errs(offchain(ORCH, worker, node_release='"v0.8.9"'), "only has an effect on gateway")
    # Value of another kind.
    text = _with("{ liveAICapRefreshModels = 3 }", node_release='"v0.8.9"')
    rule.errs(text, "takes text")
    # Values are of the type of the flag.
    values: list[tuple[str, bool | int | str, bool | int | str]] = [
        ("monitor", True, "true"),
        ("maxAttempts", 3, True),
        ("gasLimit", 3, "3"),
        ("discoveryTimeout", "5s", "5"),
        ("minPerfScore", "0.5", "half"),
        ("region", "NYC", 1),
    ]
    for flag, good, bad in values:
        assert _of_type(FLAGS[flag], good) == ("", "")
        assert all(_of_type(FLAGS[flag], bad))


def test_flag_unknown_to_release(rule: OneRule) -> None:
    # Release that has it is fine.
    silent(offchain(free_orchestrator(), free_gateway(ai_retry_timeout='"5s"'), node_release='"v0.8.4"'))
    # Release of the node counts.
    node = free_gateway(ai_retry_timeout='"5s"', node_release='"v0.8.3"')
    assert "gateways.gate" not in rule.errs(offchain(free_orchestrator(), node))
    newer = free_gateway(ai_retry_timeout='"5s"', node_release='"v0.9.1"')
    silent(offchain(free_orchestrator(), newer, node_release='"v0.8.3"'))
    # Setting in a table below the node.
    node = free_gateway(live='{ heartbeat_url = "https://beat.example.net" }')
    rule.errs(offchain(free_orchestrator(), node, node_release='"v0.8.6"'), "-liveAIHeartbeatURL")
    # AI workers came with AI.
    orch = ai_dispatcher()
    text = offchain(model(), orch, ai_worker(node_release='"v0.7.8"'))
    rule.errs(text, "AI workers")
    # Image of a model needs overrides.
    orch = free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    text = offchain(model(image='"x/y:v1.0.0"'), orch, node_release='"v0.8.2"')
    rule.errs(text, "-aiRunnerImageOverrides")
    # Decisions need releases too.
    for settings, release, what in [
        ({"mode": '"dual"', "models": '[{ use = "realvis" }]'}, "v0.7.8", "AI"),
        ({"mode": '"ai"', "models": '[{ use = "realvis" }]', "secret": SECRET}, "v0.8.1", "AI-only"),
        ({"http_tls": "false"}, "v0.8.11", "without TLS"),
        ({"ai_registry": "true"}, "v0.7.8", "-aiServiceRegistry"),
    ]:
        text = offchain(model(), free_orchestrator(**settings), node_release=f'"{release}"')
        rule.errs(text, what)
        silent(offchain(model(), free_orchestrator(**settings)))
    # Caps of models and the AI registry came with AI.
    node = gateway(discovery='"ai-registry"', max_model_prices='{ llm = "1 wei / pixel" }')
    rule.errs(onchain(node, node_release='"v0.7.8"'), "-maxPricePerCapability", "-aiServiceRegistry")
    # Signers and lowest runner versions came later.
    rule.errs(onchain(signer(), node_release='"v0.8.9"'), "remote signers")
    gate = gateway(wallet=None, http='"127.0.0.1:9935"', remote_signer='{ signer = "signer" }')
    rule.errs(onchain(signer(), gate, node_release='"v0.8.9"'), "-remoteSignerUrl")
    gate = gateway(min_runner_versions='{ realvis = "0.14.1" }')
    rule.errs(onchain(model(), gate, node_release='"v0.8.5"'), "-aiMinRunnerVersion")


OLD = '"livepeer/go-livepeer:v0.8.10"'


def test_image_differs_from_release(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Same release in either spelling is fine.
    silent(offchain(free_orchestrator(), free_gateway(), image='"livepeer/go-livepeer:v0.9.1"'))
    silent(offchain(free_orchestrator(), free_gateway(), image='"livepeer/go-livepeer:0.9.1"'))
    # Systemd hosts use no image.
    silent(offchain(free_orchestrator(image=OLD), free_gateway()))
    silent(staged(avatars(image_tag='"v1.3.6"')))
    # Release of the node counts.
    silent(offchain(free_orchestrator(), free_gateway(image=OLD, node_release='"v0.8.10"')))
    text = offchain(free_orchestrator(), free_gateway(image=OLD, node_release='"v0.8.11"'))
    rule.warns(text, 'node_release = "v0.8.10"')
    # Tag that names no release.
    text = offchain(free_orchestrator(), free_gateway(image='"livepeer/go-livepeer:sha-0123abc"'))
    rule.warns(text, "remove the tag\n")
    # Images of another release.
    rule.warns(staged(avatars(image_tag='"v1.3.5"')), "v1.3.5")
    # Rolling images.
    assert rule.warns(staged(avatars(image_tag='"latest"'))) == snapshot


DIGEST = "sha256:" + "ab" * 32


def test_image_not_pinned(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Image without a tag gets the release.
    silent(offchain(free_orchestrator(), image='"livepeer/go-livepeer"'))
    # Digest is fixed whatever the tag.
    silent(offchain(free_orchestrator(), free_gateway(image=f'"registry:5000/go-livepeer:latest@{DIGEST}"')))
    # Tags that move.
    for tag in ["master", "main", "v0.9", "0.9", "v1"]:
        text = offchain(free_orchestrator(), free_gateway(image=f'"livepeer/go-livepeer:{tag}"'))
        rule.warns(text, "fleetc then uses the node release, or add @sha256:")
    # Runner image is taken as it is.
    runner = ai_worker(runner_image='"livepeer/ai-runner"')
    assert rule.warns(offchain(model(), ai_dispatcher(), runner)) == snapshot
    # Image of a model.
    text = offchain(model(image='"livepeer/ai-runner:latest"'), ai_dispatcher(), ai_worker())
    rule.warns(text)
    silent(offchain(model(image='"livepeer/ai-runner:v0.14.1"'), ai_dispatcher(), ai_worker()))


def spec(settings: str) -> str:
    return offchain(free_orchestrator(), f"[rollout]\n{settings}\n")


def test_may_miss_too_many(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # More than a batch that is a share.
    assert rule.errs(spec('may_miss = "100%"')) == snapshot
    # More than the fleet.
    assert rule.errs(spec("batch = 9\nmay_miss = 3")) == snapshot
    # Nonsense.
    for value in ["-1", '"some"', '"0%"', '"101%"', "true", "1.5"]:
        assert flagged(spec(f"may_miss = {value}"), "invalid-value", Severity.ERROR) == snapshot
    silent(spec("may_miss = 1"))
    silent(spec('batch = 2\nmay_miss = "100%"'))
    silent(spec('may_miss = "5%"'))  # none of two hosts


def _fleet(wanted: str, *releases: str, **settings: str | None) -> str:
    sellers = [
        free_orchestrator(
            f"o-{place}",
            node_release=f'"{release}"',
            cli=f'"127.0.0.1:{7935 + place}"',
            service=f'"orch.example.net:{8935 + place}"',
            max_sessions="1",
        )
        for place, release in enumerate(releases)
    ]
    listed = ", ".join(f'"o-{place}"' for place in range(len(releases)))
    gate = {"orchestrators": f"[{listed}]", "selection": f'{{ min_release = "{wanted}" }}', **settings}
    return offchain(free_gateway(**gate), *sellers)


def test_orchestrators_below_min_release(rule: OneRule) -> None:
    # None is new enough.
    rule.errs(_fleet("v0.9.1", "v0.8.5", "v0.9.0"))
    silent(_fleet("v0.8.5", "v0.8.5", "v0.9.0"))
    # Some are left out.
    rule.warns(
        _fleet("0.9.0", "v0.8.5", "v0.9.0"), "1 of the 2 orchestrators that it finds in this fleet run older releases"
    )
    # Who lists others too may find somebody.
    rule.warns(_fleet("v0.9.1", "v0.9.0", orchestrators='["o-0", "https://203.0.113.9:8935"]'))
    # Who searches may find somebody.
    gate = gateway(discovery='"registry"', selection='{ min_release = "v0.9.1" }')
    rule.warns(onchain(gate, orchestrator(node_release='"v0.9.0"')))
    # What is no version admits everybody.
    rule.warns(_fleet("newest", "v0.9.1"), "accepts every release")


BUILD = f'[programs."v0.9.1".builds.gpu]\nfile = "/srv/livepeer"\nsha256 = "{"3" * 64}"'


def built(build: str, *tables: str) -> str:
    text = offchain(free_orchestrator(), *tables)
    return text.replace('runtime = "systemd"', f'runtime = "systemd"\nbuild = "{build}"')


def test_program_not_listed(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Both releases have one.
    other = free_orchestrator("other", node_release='"v0.9.0"', http='"0.0.0.0:8936"', cli='"127.0.0.1:7936"')
    silent(offchain(free_orchestrator(), other, program("v0.9.1", "1"), program("v0.9.0", "2")))
    # Fleet whose programs people install.
    silent(offchain(free_orchestrator()))
    # Build of the release.
    silent(built("gpu", program("v0.9.1", "1", BUILD)))
    # Build that is misspelled.
    assert rule.errs(built("gpus", program("v0.9.1", "1", BUILD))) == snapshot
    # Release without any program.
    assert rule.errs(built("gpu")) == snapshot


def test_program_unused(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Program of the release is used.
    silent(offchain(free_orchestrator(), program("v0.9.1", "2")))
    # Build that no host runs.
    build = f'[programs."v0.9.1".builds.gpu]\nfile = "/srv/livepeer"\nsha256 = "{"3" * 64}"'
    text = offchain(free_orchestrator(), program("v0.9.1", "2", build))
    assert rule.warns(text) == snapshot
    # Containers need none.
    text = offchain(free_orchestrator(host='"edge"'), program("v0.9.1", "2"))
    rule.warns(text)


def _release(text: str) -> str:
    return staged(avatars(remote_cluster_control="true"), avatar_release=f'"{text}"')


def test_release_unknown(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Release of one node beside that of the fleet.
    text = offchain(free_gateway(node_release='"v1.2.3"'), free_orchestrator(), node_release='"v0.10.0"')
    assert rule.warns(text) == snapshot
    # Rolling tag.
    assert rule.warns(_release("latest")) == snapshot
    for tag in ("staging", "sha-", "sha-branch", "main"):
        rule.warns(_release(tag), "rolling tag")
    # Tag of a commit.
    rule.warns(_release("sha-abc1234"), "sha-abc1234 is a tag of a commit")
    # Release between known ones.
    rule.warns(_release("v1.3.2"), "it assumes that it works like v1.3.1")
    rule.warns(_release("v1.10.0"), "works like v1.3.6")
    # Release older than all.
    rule.warns(_release("v0.9.0"), "older than all")
    # One place is reported once.
    text = staged(
        avatars(remote_cluster_control="true"),
        avatars("studio", host='"edge"', slots='[{ avatar = "ada" }]', remote_cluster_control="true"),
        avatar_release='"latest"',
    )
    assert rule.warns(text).count("warning[") == 1
    # Newer release.
    assert rule.warns(_release("v2026.10.2-alpha.12")) == snapshot
    # Date before the first release of that form.
    rule.warns(_release("v2025.11.2-alpha.1"), "the first release in date form is of March 2026, v2026.2.28-alpha.1")
    # Known releases are fine.
    for release in ("v1.3.5", "v1.3.6", "v2026.2.28-alpha.1", "v2026.3.1-alpha.1"):
        silent(_release(release))


def _orchestrator(**settings: str | None) -> str:
    return free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]', **settings)


def test_worker_older_than_orchestrator(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Orchestrator that runs ahead of the fleet.
    text = offchain(model(), _orchestrator(node_release='"v0.9.1"'), ai_worker(), node_release='"v0.9.0"')
    assert rule.errs(text) == snapshot
    silent(offchain(model(), _orchestrator(), ai_worker()))
    silent(offchain(model(), _orchestrator(node_release='"v0.9.0"'), ai_worker()))
    # Transcoders may be older.
    silent(offchain(dispatcher(), transcoder(node_release='"v0.8.0"')))
    # Worker of an orchestrator elsewhere is not compared.
    silent(offchain(model(), ai_worker(orchestrator='"orch.example.org:8935"', secret=SECRET, node_release='"v0.8.0"')))
