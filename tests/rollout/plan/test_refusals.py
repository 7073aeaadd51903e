"""Every reason to refuse a plan, as it is printed; and the same plan accepted once the reason is gone."""

from __future__ import annotations

import re
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
    "plan-seal-broken": lambda place: edit(place.plan, '"whole": true', '"whole": false'),
    "plan-other-tool, version": other_version,
    "plan-other-tool, templates": other_templates,
    "plan-other-tool, form": lambda place: resealed(place, format=FORMAT + 1),
    "plan-other-tool, files": other_files,
    "plan-spec-stale": lambda place: edit(place.spec, "spec = 1", "spec = 1 "),
    "plan-tree-edited, gone": lambda place: shutil.rmtree(place.tree / "hosts"),
    "plan-tree-edited, manifest": lambda place: (place.tree / "manifest.json").write_text("{"),
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


def message(answer: Answer) -> str:
    """A refusal without its place, which is the same in each: the plan."""
    return refused(answer).replace("\n --> plan.json\n", "\n").replace("\n = help:", "\n  help:").rstrip()


def test_refusal_and_repair(place: Workplace, snapshot: SnapshotAssertion) -> None:
    place.store(place.made())
    sound = place.directory.with_name("sound")
    shutil.copytree(place.directory, sound)
    found = []
    for name, break_it in BROKEN.items():
        assert place.run("plan", "--verify", "plan.json").code == 0, name
        break_it(place)
        done = place.run("plan", "--verify", "plan.json")
        assert refused(place.run("deploy", "--plan", "plan.json")) == refused(done), name
        found.append(f"{name}\n{message(done)}")
        for entry in place.directory.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.copytree(sound, place.directory, dirs_exist_ok=True)
    assert "\n\n".join(found) == snapshot


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
    ("late", "words"),
    [
        (DAY - timedelta(seconds=1), ""),
        (
            DAY,
            "expired at 2026-03-02T12:00:00Z; it is now 2026-03-02T12:00:00Z\n.*make a new plan and have it approved",
        ),
        (-timedelta(minutes=5), ""),
        (-timedelta(minutes=6), "clock says 2026-03-01T11:54:00Z: its age is unknown\n.*correct the clocks of both"),
    ],
)
def test_age(late: timedelta, words: str, place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    place.store(place.made())
    monkeypatch.setattr(plans, "clock", lambda: NOW + late)
    done = place.run("plan", "--verify", "plan.json")
    assert (done.code == 0) == (not words) and re.search(words, done.err, re.DOTALL)


def test_other_hosts(place: Workplace, snapshot: SnapshotAssertion) -> None:
    place.store(place.made())
    assert message(place.run("deploy", "--plan", "plan.json", "--limit", "eu-ai")) == snapshot
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
    assert message(place.run("plan", "--against", "before")) == snapshot
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
WAS = "its current release was aaaaaaaaaaaa and is now"
HOSTS_NOW: dict[str, tuple[HostState, HostState, str]] = {
    "nothing moved": (THEN, THEN, ""),
    "all is done": (
        THEN,
        replace(WANTED, known=OBSERVED, processes=(FIRST, replace(FIRST, node="second", digest=C))),
        "",
    ),
    "cut short": (THEN, replace(THEN, release=C), f"{WAS} cccccccccccc"),
    "no release any more": (
        THEN,
        HostState("edge", OBSERVED),
        f"{WAS} nothing; first (systemd) is gone; second (systemd) is gone",
    ),
    "a process more": (THEN, replace(THEN, processes=(*THEN.processes, MORE)), "third (docker) is new"),
    "other files": (
        THEN,
        replace(THEN, processes=(replace(FIRST, digest=B), THEN.processes[1])),
        "first (systemd) was started from aaaaaaaaaaaa, now from bbbbbbbbbbbb",
    ),
    "another runtime": (
        THEN,
        replace(THEN, processes=(replace(FIRST, runtime="docker"), THEN.processes[1])),
        "first (docker) is new; first (systemd) is gone",
    ),
    "a process ended": (
        THEN,
        replace(THEN, processes=(replace(FIRST, running=False), THEN.processes[1])),
        "first no longer runs",
    ),
    "a record does not say what runs": (
        HostState("edge", RECORDED, A, tuple(replace(p, running=None) for p in THEN.processes)),
        replace(THEN, processes=(replace(FIRST, running=False), THEN.processes[1])),
        "",
    ),
}


@pytest.mark.parametrize("name", HOSTS_NOW)
def test_hosts_that_move(name: str, place: Workplace) -> None:
    then, now, words = HOSTS_NOW[name]
    plan = replace(place.made(), baseline=Baseline("", (then,)))
    verdict = judge.of_baseline(plan, {"edge": WANTED}, {"edge": now})
    moved = [f"edge is not in the state that the plan starts from: {words}"] if words else []
    assert [refusal.message for refusal in verdict.refusals] == moved
    assert all(refusal.help.startswith("find out who changed the host or whether") for refusal in verdict.refusals)
    assert verdict.reached == (("edge",) if name == "all is done" else ())


def test_an_unknown_host_is_not_compared(place: Workplace) -> None:
    plan = replace(place.made(), baseline=Baseline("", (HostState("edge", UNKNOWN, note="nobody looked"),)))
    assert judge.of_baseline(plan, {"edge": WANTED}, {"edge": THEN}) == ((), (), ("edge",))
    silent = HostState("edge", UNKNOWN, note="could not be reached")
    (refusal,) = judge.of_baseline(plan, {"edge": WANTED}, {"edge": silent}).refusals
    words = ("plan-host-unreachable", "fleetc cannot tell what edge runs: could not be reached")
    assert (refusal.code, refusal.message) == words and refusal.help.endswith("make a plan with --without edge")
    away = judge.of_baseline(plan, {"edge": WANTED}, {"edge": silent}, away=["edge"])
    assert (away.refusals, away.reached) == ((), ("edge",)), "it is out of service"


# --- signatures -------------------------------------------------------------------------------------------------------


def verified(place: Workplace, signer: str = "") -> Answer:
    who = {"FLEETC_SIGNER": signer} if signer else {}
    return place.run("plan", "--verify", "plan.json", FLEETC_ALLOWED_SIGNERS="signers", **who)


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
    "a blank more": lambda place: place.signature.write_bytes(place.signature.read_bytes() + b"\n"),
    "nobody": lambda place: place.signature.unlink(),
    "a file of keys that is not there": lambda place: place.signers.rename("elsewhere"),
    "a directory": lambda place: [place.signature.unlink(), place.signature.mkdir()],  # type: ignore[func-returns-value]
}


def test_signature_that_does_not_count(
    place: Workplace, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.store(place.made(), sign=True)
    allowed = place.signers.read_text()
    answers = {"somebody else than was asked for": verified(place, "boss@example.net")}
    answers["no file of keys"] = place.run("plan", "--verify", "plan.json", FLEETC_SIGNER="bob\x1b[31m")
    for name, spoil in SIGNATURES.items():
        place.store(place.made(), sign=True)
        spoil(place)
        answers[name] = verified(place)
        place.signers.write_text(allowed)
    place.signature.rmdir()
    place.store(place.made(), sign=True)
    monkeypatch.setenv("PATH", str(place.directory / "empty"))
    answers["no ssh-keygen"] = verified(place)
    assert answers["no ssh-keygen"].code == 3
    assert "\n\n".join(f"{name}\n{message(answer)}" for name, answer in answers.items()) == snapshot


def test_ssh_keygen_reads_a_signature_that_nobody_wrote() -> None:
    """Why the spelling is checked here: a version of 0 in place of 1 is no difference to ssh-keygen."""
    import base64

    from fleetc.rollout.hosts.signatures import is_canonical

    def armoured(blob: bytes) -> bytes:
        text = base64.b64encode(blob).decode()
        return f"-----BEGIN SSH SIGNATURE-----\n{text}\n-----END SSH SIGNATURE-----\n".encode()

    assert is_canonical(armoured(b"SSHSIG\x00\x00\x00\x01rest"))
    assert not is_canonical(armoured(b"SSHSIG\x00\x00\x00\x00rest"))


def test_key_that_cannot_sign_writes_nothing(place: Workplace, snapshot: SnapshotAssertion) -> None:
    assert place.key.exists()
    assert message(place.run("plan", "-o", "plan.json", "--sign", "no-such-key")) == snapshot
    assert not place.plan.exists()
