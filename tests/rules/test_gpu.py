"""Borders of the rules about GPUs, their memory and encode sessions: one test for each rule, named as its code."""

from __future__ import annotations

import re

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    OneRule,
    ai_dispatcher,
    ai_worker,
    avatars,
    dispatcher,
    free_gateway,
    free_orchestrator,
    host,
    model,
    offchain,
    renting,
    runner,
    silent,
    staged,
    transcoder,
)

REMOTE = ai_dispatcher(transcoding='"remote"')


def _on_box(gpu: str, *nodes: str) -> str:
    return offchain(host("box", gpus=f"[{{ {gpu} }}]"), model(memory='"9 GiB"'), REMOTE, *nodes)


WORKER = ai_worker("w", host='"box"')
STREAMS = transcoder("t", host='"box"', gpus="[0]", max_sessions="6")


def test_capacity_unknown(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(_on_box('model = "A100", memory = "40 GiB"', WORKER))
    # A GPU that nothing uses may be unknown.
    silent(_on_box('model = "Unheard 1"'))
    # A GPU that is not known here is named once for each number.
    assert rule.warns(_on_box('model = "Unheard 1"', WORKER, STREAMS)) == snapshot
    silent(_on_box('model = "Unheard 1", memory = "24 GiB", encode_sessions = 6', WORKER, STREAMS))
    # The driver decides about the streams of a consumer GPU.
    assert rule.warns(_on_box('model = "RTX 4090"', STREAMS)) == snapshot
    silent(_on_box('model = "RTX 4090"', STREAMS.replace("6", "3")))
    # A model without size.
    text = _on_box('model = "RTX 4090"', WORKER)
    assert rule.warns(text.replace('memory = "9 GiB"', "")) == snapshot
    silent(text)
    # Slots on a GPU with unknown numbers.
    box = host("box", gpus='[{ model = "RTX 4090", memory = "48 GiB" }]').replace("48", "24")
    four = staged(avatars(host='"box"', gpu="0", slots="4", slot_memory='"2 GiB"'), box)
    assert rule.warns(four) == snapshot
    silent(four.replace("slots = 4", "slots = 3"))
    # Slots that see every GPU of which one is unknown.
    gpus = '[{ model = "RTX 4090", encode_sessions = 8 }, { model = "Unheard 1", encode_sessions = 8 }]'
    settings = {"host": '"box"', "gpu": '"all"', "slot_memory": '"2 GiB"'}
    rule.warns(
        staged(avatars(**settings, slots="4"), host("box", gpus=gpus)), 'memory: "Unheard 1" is not a known model'
    )
    limited = host("box", gpus='[{ model = "RTX 4090" }, { model = "RTX 4090" }]')
    found = rule.warns(staged(avatars(**settings, slots="7"), limited))
    assert found.count("encode_sessions: its driver decides, and only 3 are certain") == 2
    silent(staged(avatars(**settings, slots="6"), limited))


def _transcoders(gpu: str, *workers: str) -> str:
    return offchain(host("box", gpus=f"[{{ {gpu} }}, {{ {gpu} }}]"), dispatcher(), *workers)


def _streaming(name: str = "t", **settings: str | None) -> str:
    return transcoder(name, **{"host": '"box"', "gpus": "[0]", **settings})


GPU = 'model = "RTX 4090", encode_sessions = 8'


def _slots(sessions: int, *tables: str, **settings: str | None) -> str:
    box = host("box", gpus=f'[{{ model = "RTX 4090", encode_sessions = {sessions} }}]')
    slots = '[{ avatar = "mira" }, { avatar = "noor" }]'
    return staged(avatars(host='"box"', gpu="0", slots=slots, **settings), box, *tables)


def test_encode_sessions_exceeded(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # As many streams as sessions are fine.
    silent(_transcoders(GPU, _streaming(max_sessions="8")))
    silent(_transcoders(GPU, _streaming(max_sessions="16", gpus="[0, 1]")))
    # Professional GPUs have no limit.
    silent(_transcoders('model = "RTX A4000"', _streaming(max_sessions="50")))
    # Ten streams when nothing is written.
    assert rule.warns(_transcoders(GPU, _streaming())) == snapshot
    # What is written is an error beside what is not.
    beside = _streaming("u", max_sessions="9", cli='"127.0.0.1:6936"')
    rule.errs(_transcoders(GPU, _streaming(), beside))
    # Without an encoder the default is an error too.
    rule.errs(_transcoders('model = "A100", memory = "80 GiB"', _streaming()))
    # Nodes share the sessions of a GPU.
    second = _streaming("u", max_sessions="5", cli='"127.0.0.1:6936"')
    assert rule.errs(_transcoders(GPU, _streaming(max_sessions="6"), second)) == snapshot
    # A GPU without a video encoder.
    assert rule.errs(_transcoders('model = "A100", memory = "80 GiB"', _streaming(max_sessions="2"))) == snapshot
    # Slots share the sessions with streams.
    assert rule.errs(_slots(5, dispatcher(), _streaming(max_sessions="4"))) == snapshot
    silent(_slots(6, dispatcher(), _streaming(max_sessions="4")))
    # Slots that take more than one session.
    rule.errs(_slots(5, slot_encode_sessions="3"), "streams and avatar slots may need 6")
    silent(_slots(6, slot_encode_sessions="3"))
    # Slots that see every GPU share the sessions of all.
    two = '[{ model = "RTX 4090", encode_sessions = 2 }, { model = "RTX 4090", encode_sessions = 2 }]'
    settings = {"host": '"box"', "gpu": '"all"', "slot_memory": '"2 GiB"'}
    rule.errs(
        staged(avatars(**settings, slots="5"), host("box", gpus=two)),
        "need 5 encode sessions, but the GPUs have 4 encode sessions left for them",
        "there is room for 4 of these 5 slots",
    )
    silent(staged(avatars(**settings, slots="4"), host("box", gpus=two)))
    alone = host("box", gpus='[{ model = "RTX 4090", encode_sessions = 2 }]')
    rule.errs(staged(avatars(**settings, slots="3"), alone), "GPU 0 of host box allows 2")


def test_gpu_id_too_high() -> None:
    # Runner on the last one digit GPU is fine.
    silent(offchain(host("bare"), model(), ai_dispatcher(), ai_worker(host='"bare"', gpus="[9]")))
    # Transcoders may use any GPU.
    silent(offchain(host("bare"), model(), ai_dispatcher(), ai_worker(), transcoder("t", host='"bare"', gpus="[12]")))


def _box(gpu: str) -> str:
    return offchain(host("box", gpus=f"[{{ {gpu} }}]"), free_orchestrator(), free_gateway())


def test_gpu_implausible(rule: OneRule) -> None:
    # What the model is sold with is fine.
    silent(_box('model = "RTX 4090", memory = "24 GiB"'))
    silent(_box('model = "NVIDIA A100", memory = "80 GiB"'))
    silent(_box('model = "RTX 4090", memory = "24 GB"'))
    # Unknown models may have any memory.
    silent(_box('model = "Unheard 1", memory = "1 TiB"'))
    # More sessions than any driver allows.
    most = "GPU 0 of host box has 9 encode sessions in the spec, but the RTX 4090 has 8"
    rule.warns(_box('model = "RTX 4090", encode_sessions = 9'), most)
    rule.warns(_box('model = "A100", encode_sessions = 1'), "remove encode_sessions")
    silent(_box('model = "RTX 4090", encode_sessions = 8'))
    silent(_box('model = "L4", encode_sessions = 100'))


TWO_MODELS = ai_dispatcher(transcoding='"local"', models='[{ use = "realvis" }, { use = "big" }]')
MODELS = '[{ use = "big", warm = true }, { use = "realvis", warm = true }]'


def _loaded(big: str = "20 GiB", **settings: str | None) -> str:
    models = [model(memory='"9 GiB"'), model("big", id='"org/big"', memory=f'"{big}"')]
    return offchain(*models, TWO_MODELS, ai_worker(**{"models": MODELS, "containers_per_gpu": "2", **settings}))


def _slots_of(count: int, *tables: str, **settings: str | None) -> str:
    slots = ", ".join(f'{{ avatar = "a{number}" }}' for number in range(count))
    return staged(avatars(**{"slots": f"[{slots}]", "slot_memory": '"9 GiB"', **settings}), *tables)


ONE_GPU = '[{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }]'


def test_gpu_memory_exceeded(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(_loaded(gpus="[0, 1]"))
    silent(_loaded(models=MODELS.replace('"big", warm = true', '"big", warm = false')))
    # A container for each request at once.
    many = '[{ use = "realvis", warm = true, capacity = 6 }]'
    assert rule.errs(_loaded(models=many, gpus="[0, 1]", containers_per_gpu="3")) == snapshot
    # A model larger than any GPU.
    assert rule.errs(_loaded("80 GiB", models='[{ use = "big", warm = true }]')) == snapshot
    # Slots on one GPU.
    assert rule.errs(_slots_of(3)) == snapshot
    silent(_slots_of(2))
    # Suggested GPU of a slot repairs the spec.
    rule.errs(_slots_of(3), "write gpu = 0 in avatars.stage.slots.0")
    moved = '[{ avatar = "a0", gpu = 0 }, { avatar = "a1" }, { avatar = "a2" }]'
    silent(_slots_of(3, slots=moved))
    # Slots beside warm models.
    worker = ai_worker(gpus="[1]", models='[{ use = "big", warm = true }]')
    text = _slots_of(1, model(), model("big", id='"org/big"', memory='"20 GiB"'), TWO_MODELS, worker)
    assert rule.errs(text) == snapshot
    rule.errs(text, "gpus = [0] in ai_workers.worker")
    # Counted slots have one place.
    assert rule.errs(staged(avatars(slots="4"))) == snapshot
    rule.errs(staged(avatars(slots="10")), "slots = 2 in avatars.stage")
    rule.errs(staged(avatars(slots="10")), "take 10 times 8 GiB")
    silent(staged(avatars(slots="2")))
    # Slots that see the only GPU stand on it.
    on_one = {"host": '"box"', "gpu": '"all"'}
    text = staged(avatars(**on_one, slots="9"), host("box", gpus=ONE_GPU))
    rule.errs(text, "GPU 0 of host box has 24 GiB of memory, but its work needs 72 GiB")
    rule.errs(text, "slots = 2 in avatars.stage")
    silent(staged(avatars(**on_one, slots="2"), host("box", gpus=ONE_GPU)))
    # Slots that see several GPUs are compared with all of them.
    assert rule.errs(_slots_of(6, gpu='"all"')) == snapshot
    silent(_slots_of(4, gpu='"all"'))
    rule.errs(
        staged(avatars(slots="9", gpu='"all"')),
        "need 72 GiB of memory, but the GPUs have 48 GiB left for them",
        "there is room for 6 of these 9 slots",
    )
    # Slots that see several GPUs stand beside slots of one.
    mixed = '[{ avatar = "a", gpu = 0 }, { avatar = "b" }, { avatar = "c" }, { avatar = "d" }, { avatar = "e" }]'
    rule.errs(_slots_of(0, slots=mixed.replace("]", ', { avatar = "f" }]'), gpu='"all"'), "have 39 GiB left for them")
    silent(_slots_of(0, slots=mixed.replace(', { avatar = "e" }', ""), gpu='"all"'))
    # Slots are not compared with GPUs of unknown memory.
    gpus = '[{ model = "RTX 4090", encode_sessions = 8 }, { model = "Unheard 1", encode_sessions = 8 }]'
    text = staged(avatars(host='"box"', gpu='"all"', slots="9"), host("box", gpus=gpus))
    rule.quiet(text)


def test_gpu_memory_tight(rule: OneRule) -> None:
    # 85 percent is fine.
    silent(_loaded("11673 MiB"))
    rule.warns(_loaded("11674 MiB"))
    rule.warns(
        _loaded("12 GiB"), "gpus = [0, 1] in ai_workers.worker, or warm = false in ai_workers.worker.models.0 (big)"
    )
    # Slots leave less than the guidance.
    rule.warns(staged(avatars(slots="3")), "slots of stage take 3 times 8 GiB")
    silent(staged(avatars(slots="2")))
    # Slots that see every GPU and leave little.
    rule.warns(
        staged(avatars(gpu='"all"', slots="6", slot_memory='"7 GiB"')),
        "have about 40.8 GiB left for them, at 85 % of all their memory",
    )
    silent(staged(avatars(gpu='"all"', slots="5", slot_memory='"8 GiB"')))


def test_gpu_not_on_host(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    rule.errs(offchain(dispatcher(), transcoder(gpus="[0, 2]")), "host gpu has only GPUs 0 to 1")
    silent(offchain(dispatcher(), transcoder(gpus="[0, 1]")))
    # Host without a list says nothing.
    silent(offchain(host("bare"), dispatcher(), transcoder(host='"bare"', gpus="[7]")))
    # Runner on a host that alone lists no GPUs.
    text = renting(host("bare") + runner(host='"bare"', gpus='"all"'))
    assert rule.warns(text) == snapshot
    silent(re.sub(r"^gpus = \[\n.*?^\]\n", "", text, flags=re.MULTILINE | re.DOTALL))
    silent(renting(host("bare") + runner(host='"bare"')))
    # Slot with a GPU beyond the list.
    slots = '[{ avatar = "mira", gpu = 2 }, { avatar = "noor", gpu = 1 }]'
    assert rule.errs(staged(avatars(slots=slots))) == snapshot
    assert rule.errs(staged(avatars(gpu="7", slots="3"))).count("error[") == 1
    silent(staged(avatars(host='"edge"', gpu="7")))


def _two(first: str, second: str) -> str:
    return offchain(
        model(),
        ai_dispatcher(transcoding='"local"'),
        ai_worker("a", gpus=first),
        ai_worker("b", gpus=second, cli='"127.0.0.1:4936"'),
    )


def test_gpu_used_twice(rule: OneRule) -> None:
    silent(_two("[0]", "[1]"))
    # Transcoding and AI may share a GPU.
    orch = ai_dispatcher(transcoding='"local"').replace('transcoding = "local"', 'transcoding = "remote"')
    silent(offchain(model(), orch, ai_worker("a"), transcoder("t", gpus="[0]", max_sessions="8")))
    # All GPUs include each.
    rule.errs(_two('"all"', "[0]"), "GPU 0")
    # All GPUs of an unlisted host meet everything.
    hidden = host("bare")
    pair = [ai_worker("a", host='"bare"', gpus="[3]"), ai_worker("b", host='"bare"', gpus='"all"', cli='"127.0.0.1:1"')]
    rule.errs(offchain(hidden, model(), ai_dispatcher(transcoding='"local"'), *pair), "its GPUs")


ONE, OTHER = "GPU-8a56a4bc-e184-4b6e-bb5e-c4d1b6b1b5f4", "GPU-1f0c7d52-93a8-4c1e-8a4e-2f6f0b7d9c31"


def _fleet(first: str, second: str) -> str:
    gpus = ", ".join(f'{{ model = "RTX 4090", uuid = "{uuid}" }}' for uuid in (first, second))
    return offchain(free_orchestrator(), host("box", gpus=f"[{gpus}]"))


def test_gpu_uuid_used_twice(rule: OneRule) -> None:
    # A copied entry.
    rule.errs(_fleet(ONE, ONE))
    silent(_fleet(ONE, OTHER))


def test_gpus_unused(rule: OneRule) -> None:
    # Workers that name it do the work.
    orch = dispatcher(gpus='"all"')
    rule.warns(offchain(orch, transcoder()), "are idle")
    # GPUs that transcode are used.
    for own in ['"local"', None]:
        silent(offchain(free_orchestrator(host='"edge"', gpus="[0]", transcoding=own)))
    # GPUs of models are used although others transcode.
    orch = free_orchestrator(
        host='"edge"', mode='"dual"', secret=SECRET, gpus="[0]", transcoding='"remote"', models='[{ use = "m" }]'
    )
    silent(offchain(orch, transcoder(), model("m")))


AUTO = '"auto"'


def test_max_sessions_auto_with_local_transcoding(rule: OneRule) -> None:
    # Local transcoding.
    rule.errs(offchain(free_orchestrator(max_sessions=AUTO)))
    rule.errs(offchain(free_orchestrator(max_sessions=AUTO, transcoding='"local"')))
    silent(offchain(free_orchestrator(max_sessions="12")))
    # Remote transcoders are counted.
    silent(offchain(free_orchestrator(max_sessions=AUTO, secret=SECRET, host='"edge"'), transcoder()))
    # AI alone transcodes nothing.
    uses = '[{ use = "realvis" }]'
    silent(offchain(model(), free_orchestrator(mode='"ai"', max_sessions=AUTO, secret=SECRET, models=uses)))


def _worker(memory: str | None = '"32 GiB"', models: str = '[{ use = "big" }]', **settings: str | None) -> str:
    offered = '[{ use = "big" }]'
    orch = free_orchestrator(mode='"dual"', transcoding='"local"', host='"edge"', secret=SECRET, models=offered)
    return offchain(model("big", id='"org/big"', memory=memory), orch, ai_worker(models=models, **settings))


def test_model_larger_than_gpu(rule: OneRule) -> None:
    # What fits is unknown or told elsewhere is fine.
    for memory, models in [
        ('"24 GiB"', '[{ use = "big" }]'),
        (None, '[{ use = "big" }]'),
        ('"32 GiB"', '[{ use = "big", warm = true }]'),
        ('"32 GiB"', '[{ use = "big", url = "http://203.0.113.50:8000" }]'),
    ]:
        rule.quiet(_worker(memory, models))


TWO = '[{ use = "realvis", warm = true }, { use = "other", warm = true }]'


def _warm(**settings: str | None) -> str:
    return offchain(host("bare"), model(), model("other", id='"org/other"'), ai_dispatcher(), ai_worker(**settings))


def test_too_many_warm_containers(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Two models on two GPUs are fine.
    silent(_warm(models=TWO, gpus="[0, 1]"))
    silent(_warm(models=TWO, gpus='"all"'))
    silent(_warm(models=TWO, containers_per_gpu="2"))
    # Capacity is no container in older releases.
    many = '[{ use = "realvis", warm = true, capacity = 3 }]'
    silent(_warm(models=many).replace('node_release = "v0.9.1"', 'node_release = "v0.8.5"'))
    # Cold models and containers managed elsewhere take no slot.
    models = '[{ use = "realvis", warm = true }, { use = "other" }]'
    silent(_warm(models=models))
    silent(_warm(models=models.replace('"other"', '"other", warm = true, url = "http://10.0.0.1:8000"')))
    # Unknown number of GPUs says nothing.
    silent(_warm(models=TWO, host='"bare"', gpus='"all"'))
    # Capacity is a container each.
    many = '[{ use = "realvis", warm = true, capacity = 3 }]'
    rule.errs(_warm(models=many, gpus="[0, 1]"), "keeps 3 containers warm")
    # CPU has one slot.
    silent(_warm(gpus=None))
    assert rule.errs(_warm(models=TWO, gpus=None)) == snapshot
