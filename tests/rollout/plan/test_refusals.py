"""Every reason to refuse a plan, as it is printed; and the same plan accepted once the reason is gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.planner.data import OBSERVED, RECORDED, UNKNOWN, HostState, ProcessState
from fleetc.rollout.hosts import plans
from fleetc.rollout.plan import judge
from fleetc.rollout.plan.data import FORMAT, Baseline
from fleetc.rollout.plan.document import encode
from tests.rollout.plan.support import DAY, NOW, Answer, Workplace, make_key

pytestmark = pytest.mark.usefixtures("processes")

A, B, C = "a" * 64, "b" * 64, "c" * 64


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text, path
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def resealed(place: Workplace, **changes: object) -> None:
    """A plan that somebody changed and sealed anew."""
    place.plan.write_bytes(encode(replace(place.read(), **changes)))  # type: ignore[arg-type]


def other_version(place: Workplace) -> None:
    resealed(place, tool=replace(place.read().tool, version="0.0.9"))


def other_templates(place: Workplace) -> None:
    resealed(place, tool=replace(place.read().tool, shipped=A))


def other_files(place: Workplace) -> None:
    first, *others = place.read().artifacts
    resealed(place, artifacts=(replace(first, sha256=A), *others))


def without_a_host(place: Workplace) -> None:
    """The last host is left out of what people read, while the plan still claims the whole fleet."""
    plan = place.read()
    resealed(place, batches=(*plan.batches[:-1], plan.batches[-1][:-1]), steps=plan.steps[:-1])


def without_its_baseline(place: Workplace) -> None:
    plan = place.read()
    resealed(place, baseline=replace(plan.baseline, hosts=plan.baseline.hosts[1:]))


def with_a_harmless_step(place: Workplace) -> None:
    """A restart that people should take for nothing."""
    plan = place.read()
    step = plan.steps[0]
    actions = tuple(replace(action, do="keep", reason="") for action in step.actions)
    state = replace(plan.baseline.hosts[0], release=A)
    baseline = replace(plan.baseline, hosts=(state, *plan.baseline.hosts[1:]))
    resealed(place, steps=(replace(step, actions=actions), *plan.steps[1:]), baseline=baseline)


def three_at_once(place: Workplace) -> None:
    edit(place.tree / "FLEET.md", "#", "# ")
    edit(place.tree / "ansible" / "site.yml", "serial", "serials")
    edit(place.tree / "ansible" / "host_vars" / "eu-ai.json", "22", "23")


BROKEN: dict[str, Callable[[Workplace], object]] = {
    "plan-unreadable, missing": lambda place: place.plan.unlink(),
    "plan-unreadable, another file": lambda place: place.plan.write_text('{"plan": {}}\n'),
    "plan-unreadable, odd time": lambda place: resealed(place, expires="never"),
    "plan-unreadable, cut": lambda place: place.plan.write_bytes(place.plan.read_bytes()[:-100]),
    "plan-seal-broken": lambda place: edit(place.plan, '"whole": true', '"whole": false'),
    "plan-other-tool, version": other_version,
    "plan-other-tool, templates": other_templates,
    "plan-other-tool, form": lambda place: resealed(place, format=FORMAT + 1),
    "plan-other-tool, files": other_files,
    "plan-spec-stale, spec": lambda place: edit(place.spec, "spec = 1", "spec = 1 "),
    "plan-spec-stale, overlay": lambda place: edit(place.overlay, "canary = 2", "canary = 3"),
    "plan-spec-stale and not even a spec": lambda place: place.spec.write_text("spec = \n"),
    "plan-tree-edited": lambda place: edit(place.tree / "FLEET.md", "#", "# "),
    "plan-tree-edited, gone": lambda place: shutil.rmtree(place.tree / "hosts"),
    "plan-tree-edited, manifest": lambda place: (place.tree / "manifest.json").write_text("{"),
    "plan-playbook-edited": lambda place: edit(place.tree / "ansible" / "site.yml", "gather_facts: false", ""),
    "plan-inventory-edited": lambda place: edit(place.tree / "ansible" / "inventory.json", "eu-ai", "us-ai"),
    "plan-tree-foreign": lambda place: (place.tree / "ansible" / "group_vars").mkdir(),
    "three at once": three_at_once,
    "plan-contents-wrong, a host less": without_a_host,
    "plan-contents-wrong, baseline": without_its_baseline,
    "plan-contents-wrong, a harmless step": with_a_harmless_step,
}


def refused(answer: Answer) -> str:
    assert answer.code in (1, 3), answer
    assert answer.out == ""
    assert answer.err.startswith("error[")
    return answer.err


@pytest.mark.parametrize("name", BROKEN)
def test_refusal_and_repair(name: str, place: Workplace, snapshot: SnapshotAssertion) -> None:
    place.store(place.made())
    sound = place.directory.with_name("sound")
    shutil.copytree(place.directory, sound)
    assert place.run("plan", "--verify", "plan.json").code == 0
    BROKEN[name](place)
    message = refused(place.run("plan", "--verify", "plan.json"))
    assert message == snapshot
    assert refused(place.run("deploy", "--plan", "plan.json")) == message
    for entry in place.directory.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(sound, place.directory, dirs_exist_ok=True)
    assert place.run("plan", "--verify", "plan.json").code == 0


def test_missing_overlay(place: Workplace, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    place.store(place.made())
    place.overlay.rename("other.toml")
    place.overlay.symlink_to("other.toml")  # the name counts, whatever it leads to
    assert place.run("plan", "--verify", "plan.json").code == 0
    from typer.testing import CliRunner

    from fleetc.cli.app import app

    done = CliRunner().invoke(app, ["plan", "fleet.toml", "--verify", "plan.json"])
    assert done.exit_code == 1
    assert done.stderr == snapshot


@pytest.mark.parametrize(
    ("late", "stands"),
    [(DAY - timedelta(seconds=1), True), (DAY, False), (-timedelta(minutes=5), True), (-timedelta(minutes=6), False)],
)
def test_age(
    late: timedelta,
    stands: bool,
    place: Workplace,
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place.store(place.made())
    monkeypatch.setattr(plans, "clock", lambda: NOW + late)
    done = place.run("plan", "--verify", "plan.json")
    assert (done.code == 0) == stands
    if not stands:
        assert refused(done) == snapshot


def test_other_hosts(place: Workplace, snapshot: SnapshotAssertion) -> None:
    place.store(place.made())
    assert refused(place.run("deploy", "--plan", "plan.json", "--limit", "eu-ai")) == snapshot
    made = place.run("plan", "-o", "plan.json", "--limit", "eu-ai", "--limit", "us-ai")
    assert made.code == 0, made.err
    assert place.read().batches == (("eu-ai",), ("us-ai",))
    for limit, code in (
        ((), 0),
        (("--limit", "us-ai", "--limit", "eu-ai"), 0),
        (("--limit", "eu-ai"), 1),
        (("--limit", "eu-ai", "--limit", "us-ai", "--limit", "us-edge"), 1),
    ):
        assert place.run("plan", "--verify", "plan.json", *limit).code == code, limit


def test_a_plan_for_a_host_that_is_not_there(place: Workplace) -> None:
    done = place.run("plan", "--limit", "eu-ia")
    assert done.code == 2
    assert 'did you mean "eu-ai"?' in done.err


def test_damaged_record(place: Workplace, snapshot: SnapshotAssertion) -> None:
    shutil.copytree(place.tree, "before")
    assert place.run("plan", "--against", "before").code == 0
    edit(Path("before/ansible/host_vars/eu-ai.json"), "eu-images-1", "eu-images-2")
    assert refused(place.run("plan", "--against", "before")) == snapshot
    assert "error[git-unavailable]" in refused(place.run("plan", "--against", "nowhere"))


def test_a_stale_tree_gets_no_plan(place: Workplace) -> None:
    edit(place.overlay, "canary = 2", "canary = 3")
    done = place.run("plan", "-o", "plan.json")
    assert done.code == 1
    assert "changed ansible/rollout.json" in done.out
    assert "recompile: run fleetc compile" in done.err
    assert not place.plan.exists()


FIRST = ProcessState("first", A, "systemd", True)
MORE = ProcessState("third", B, "docker", True)
THEN = HostState("edge", OBSERVED, A, (FIRST, ProcessState("second", B, "systemd", True)))
WANTED = HostState("edge", RECORDED, C, (replace(FIRST, running=None), ProcessState("second", C, "systemd", None)))
HOSTS_NOW: dict[str, tuple[HostState, HostState, bool]] = {
    "nothing moved": (THEN, THEN, True),
    "all is done": (
        THEN,
        replace(WANTED, known=OBSERVED, processes=(FIRST, replace(FIRST, node="second", digest=C))),
        True,
    ),
    "cut short": (THEN, replace(THEN, release=C), False),
    "another release": (THEN, replace(THEN, release=B), False),
    "no release any more": (THEN, HostState("edge", OBSERVED), False),
    "a process more": (THEN, replace(THEN, processes=(*THEN.processes, MORE)), False),
    "other files": (THEN, replace(THEN, processes=(replace(FIRST, digest=B), THEN.processes[1])), False),
    "another runtime": (THEN, replace(THEN, processes=(replace(FIRST, runtime="docker"), THEN.processes[1])), False),
    "a process ended": (THEN, replace(THEN, processes=(replace(FIRST, running=False), THEN.processes[1])), False),
    "it does not answer": (THEN, HostState("edge", UNKNOWN, note="could not be reached"), False),
    "a record does not say what runs": (
        HostState("edge", RECORDED, A, tuple(replace(p, running=None) for p in THEN.processes)),
        replace(THEN, processes=(replace(FIRST, running=False), THEN.processes[1])),
        True,
    ),
}


@pytest.mark.parametrize("name", HOSTS_NOW)
def test_hosts_that_move(name: str, place: Workplace, snapshot: SnapshotAssertion) -> None:
    then, now, stands = HOSTS_NOW[name]
    plan = replace(place.made(), baseline=Baseline("", (then,)))
    verdict = judge.of_baseline(plan, {"edge": WANTED}, {"edge": now})
    assert (verdict.refusals == ()) == stands
    assert verdict.reached == (("edge",) if name == "all is done" else ())
    assert verdict.refusals == snapshot


def test_an_unknown_host_is_not_compared(place: Workplace) -> None:
    plan = replace(place.made(), baseline=Baseline("", (HostState("edge", UNKNOWN, note="nobody looked"),)))
    assert judge.of_baseline(plan, {"edge": WANTED}, {"edge": THEN}) == ((), (), ("edge",))
    silent = HostState("edge", UNKNOWN, note="could not be reached")
    (refusal,) = judge.of_baseline(plan, {"edge": WANTED}, {"edge": silent}).refusals
    assert refusal.code == "plan-host-unreachable"
    away = judge.of_baseline(plan, {"edge": WANTED}, {"edge": silent}, away=["edge"])
    assert (away.refusals, away.reached) == ((), ("edge",)), "it is out of service"


# --- signatures -------------------------------------------------------------------------------------------------------


def verified(place: Workplace, signer: str = "") -> Answer:
    who = {"FLEETC_SIGNER": signer} if signer else {}
    return place.run("plan", "--verify", "plan.json", FLEETC_ALLOWED_SIGNERS="signers", **who)


def test_a_signed_plan_stands_and_names_who_signed(place: Workplace) -> None:
    place.store(place.made(), sign=True)
    done = verified(place)
    assert done.code == 0, done.err
    assert "signed by release@example.net" in done.out
    assert verified(place, "release@example.net").code == 0


def test_an_unsigned_plan_is_refused_once_signers_are_known(
    place: Workplace, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.key.exists()
    place.store(place.made())
    assert place.run("plan", "--verify", "plan.json").code == 0
    assert refused(verified(place)) == snapshot
    monkeypatch.setenv("FLEETC_ALLOWED_SIGNERS", "signers")
    assert "error[plan-not-signed]" in refused(place.run("deploy", "--plan", "plan.json"))


def test_a_signer_without_a_file_of_keys_is_refused(
    place: Workplace, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature could not be looked at, so that anybody's plan would pass for one of that person."""
    place.store(place.made(), sign=True)
    done = place.run("plan", "--verify", "plan.json", FLEETC_SIGNER="bob\x1b[31m")
    assert refused(done) == snapshot
    assert "error[plan-signers-missing]" in refused(place.run("deploy", "--plan", "plan.json", FLEETC_SIGNER="bob"))
    monkeypatch.setenv("FLEETC_SIGNER", "release@example.net")
    assert "error[plan-signers-missing]" in refused(place.run("plan", "--verify", "plan.json"))
    assert verified(place).code == 0


def test_a_new_plan_takes_the_signature_of_the_old_one_away(place: Workplace) -> None:
    assert place.run("plan", "-o", "plan.json", "--sign", place.key).code == 0
    assert place.signature.exists()
    done = place.run("plan", "-o", "plan.json")
    assert "the signature of the earlier plan in plan.json was removed" in done.err
    assert not place.signature.exists()


def signed_by_a_stranger(place: Workplace) -> None:
    plans.store(place.plan.read_bytes(), place.plan, make_key(Path("stranger")))


def signed_for_another_purpose(place: Workplace) -> None:
    import subprocess

    command = ["ssh-keygen", "-Y", "sign", "-q", "-f", str(place.key), "-n", "git"]
    done = subprocess.run(command, input=place.plan.read_bytes(), capture_output=True, check=True)
    place.signature.write_bytes(done.stdout)


def signature_of_another_plan(place: Workplace) -> None:
    signature = place.signature.read_bytes()
    assert place.run("plan", "-o", "plan.json", "--expires", "2h").code == 0
    place.signature.write_bytes(signature)


SIGNATURES: dict[str, Callable[[Workplace], object]] = {
    "a stranger": signed_by_a_stranger,
    "another purpose": signed_for_another_purpose,
    "another plan": signature_of_another_plan,
    "no signature at all": lambda place: place.signature.write_text("yes"),
    "a blank more": lambda place: place.signature.write_bytes(place.signature.read_bytes() + b"\n"),
    "a directory": lambda place: [place.signature.unlink(), place.signature.mkdir()],  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature_that_does_not_count(name: str, place: Workplace, snapshot: SnapshotAssertion) -> None:
    place.store(place.made(), sign=True)
    SIGNATURES[name](place)
    assert refused(verified(place)) == snapshot


def test_signed_by_somebody_else_than_was_asked_for(place: Workplace, snapshot: SnapshotAssertion) -> None:
    place.store(place.made(), sign=True)
    assert refused(verified(place, "boss@example.net")) == snapshot


def test_ssh_keygen_reads_a_signature_that_nobody_wrote() -> None:
    """Why the spelling is checked here: a version of 0 in place of 1 is no difference to ssh-keygen."""
    import base64

    from fleetc.rollout.hosts.signatures import is_canonical

    def armoured(blob: bytes) -> bytes:
        text = base64.b64encode(blob).decode()
        return f"-----BEGIN SSH SIGNATURE-----\n{text}\n-----END SSH SIGNATURE-----\n".encode()

    assert is_canonical(armoured(b"SSHSIG\x00\x00\x00\x01rest"))
    assert not is_canonical(armoured(b"SSHSIG\x00\x00\x00\x00rest"))


def test_missing_signers(place: Workplace, snapshot: SnapshotAssertion) -> None:
    place.store(place.made(), sign=True)
    place.signers.unlink()
    assert refused(verified(place)) == snapshot


def test_key_that_cannot_sign_writes_nothing(place: Workplace, snapshot: SnapshotAssertion) -> None:
    assert place.key.exists()
    assert refused(place.run("plan", "-o", "plan.json", "--sign", "no-such-key")) == snapshot
    assert not place.plan.exists()


def test_missing_ssh_keygen(place: Workplace, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    place.store(place.made(), sign=True)
    monkeypatch.setenv("PATH", str(place.directory / "empty"))
    done = verified(place)
    assert done.code == 3
    assert refused(done) == snapshot
