"""`fleetc plan` as people use it: what it prints, what it stores, and what never gets into either."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.disk import files
from fleetc.emit.release import releases_in
from fleetc.review.data import Effect
from fleetc.rollout.hosts import plans
from fleetc.rollout.plan import summary
from fleetc.rollout.plan.document import decode, encode
from fleetc.rollout.plan.make import Meaning, meaning_in
from fleetc.version import __version__
from tests.rollout.plan.support import DAY, NOW, Workplace
from tests.rollout.plan.test_refusals import edit, refused

pytestmark = pytest.mark.usefixtures("processes")


def without_digests(text: str) -> str:
    """The text with every digest taken out, so that another template is no other snapshot."""
    return re.sub(r"\b[0-9a-f]{12,64}\b", "<digest>", text).replace(__version__, "<version>")


@pytest.fixture
def changed(place: Workplace) -> Workplace:
    """A fleet with another price and without one host, and `before`, the tree that was rolled out last."""
    shutil.copytree(place.tree, "before")
    edit(place.spec, 'price = "1200 wei / pixel"', 'price = "1250 wei / pixel"')
    text = place.overlay.read_text(encoding="utf-8")
    edit(place.spec, '"us-video-1", "us-video-2", ', '"us-video-1", ')
    removed = 'remove = ["orchestrators.us-video-2", "hosts.us-gpu-2"]\n'
    place.overlay.write_text(removed + text, encoding="utf-8")
    place.compile()
    return place


def test_what_people_read(changed: Workplace, snapshot: SnapshotAssertion) -> None:
    done = changed.run("plan", "--against", "before", "-o", "plan.json")
    assert done.code == 0, done.err
    assert without_digests(done.out) == snapshot
    again = changed.run("plan", "--verify", "plan.json")
    assert again.out.replace("signature not checked: allowed_signers is not set", "not signed") == done.out
    assert "the hosts were not asked" in again.err


def test_what_people_read_when_nothing_is_known(changed: Workplace, snapshot: SnapshotAssertion) -> None:
    done = changed.run("plan", "--limit", "eu-gpu-1", "--limit", "eu-ai")
    assert done.code == 0, done.err
    assert without_digests(done.out) == snapshot
    assert "nothing written" in done.err
    assert not changed.plan.exists()


def test_effects_stand_where_they_take_place(changed: Workplace) -> None:
    inputs = changed.inputs()
    baseline, left = plans.recorded_baseline(inputs, files.read_tree(Path("before")), "before")
    effects = {
        ("", ""): (Effect("price", "the dearest offer is 8.3 % higher", Decimal("8.3"), ("eu-live",)),),
        ("eu-gpu-1", ""): (Effect("exposure", "port 8935 opens to everybody", Decimal(1)),),
        ("eu-gpu-1", "eu-video-1"): (Effect("restart", "8 live sessions can drop", Decimal("1.50")),),
    }
    made = plans.make_plan(inputs, baseline, left, NOW, DAY, Meaning(effects))
    assert {key: tuple(value) for key, value in meaning_in(made).effects.items() if value} == effects
    assert decode(encode(made)) == made
    shown = "\n".join(summary.lines(made, "<seal>", "not signed"))
    assert "  eu-gpu-1\n    exposure: port 8935 opens to everybody\n    copy release " in shown
    assert " it takes pricePerUnit=1250 while it runs\n      restart: 8 live sessions can drop\n" in shown
    assert "\nthe fleet: price: the dearest offer is 8.3 % higher (concerns eu-live)\n" in shown
    changed.store(made)
    assert changed.codes() == []


def git_in(*arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.net", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def test_each_host_has_its_own_effects_and_not_those_of_the_fleet(place: Workplace) -> None:
    """One release for all, one deposit for three gateways, and a gateway that moves: each host is told its part."""
    shutil.copytree(place.tree, "before")
    edit(place.spec, 'node_release = "v0.9.1"', 'node_release = "v0.9.0"')
    edit(place.spec, 'deposit = "1 ETH"', 'deposit = "0.9 ETH"')
    edit(
        place.spec, '[gateways.us-live]\nhost = "us-edge"', '[gateways.us-live]\nhost = "us-ai"\nhttp = "0.0.0.0:9935"'
    )
    text = place.spec.read_text(encoding="utf-8")
    start = text.index('host = "us-ai"\nhttp = "0.0.0.0:9935"')
    place.spec.write_text(text[:start] + text[start:].replace('http = "127.0.0.1:8935"\n', "", 1), encoding="utf-8")
    place.compile()
    done = place.run("plan", "--against", "before", "-o", "plan.json")
    assert done.code == 0, done.err
    told = {step.host: [e.text for a in step.actions for e in a.effects] for step in place.read().steps}
    nodes = {step.host: {a.node for a in step.actions if a.node} for step in place.read().steps}
    assert all(nodes.values())
    for host, texts in told.items():
        others = set().union(*nodes.values()) - nodes[host]
        assert texts
        assert not [text for text in texts for word in re.findall(r"[\w-]+", text) if word in others], host
    assert "restart: eu-images-1 restarts: at most 2 live sessions drop" in done.out
    assert "cold-start: pix2pix on us-images-1: a cold start of 30 to 120 s" in done.out
    moves = "us-live stops on us-edge and starts on us-ai: at most 200 live sessions drop"
    assert [host for host, texts in told.items() if moves in texts] == ["us-edge"]


def test_a_revision_that_was_rolled_out_is_its_committed_tree(place: Workplace) -> None:
    """Another version of fleetc compiles the same spec to other digests, which no host has been given."""
    before = releases_in(files.read_tree(place.tree))["eu-ai"]
    recorded(place, "hosts/eu-ai/eu-images-1/node.env", "#", "# another\n#")
    other = releases_in(files.read_tree(place.tree))["eu-ai"]
    node = "eu-images-1"
    recorded(place, "ansible/host_vars/eu-ai.json", before.directories[node], other.directories[node])
    git_in("init", "--quiet")
    git_in("add", ".")
    git_in("commit", "--quiet", "-m", "as another version wrote it")
    place.compile()
    assert place.run("plan", "--against", "HEAD", "-o", "plan.json").code == 0
    states = {state.host: state.release for state in place.read().baseline.hosts}
    assert states["eu-ai"] == other.host
    git_in("rm", "--quiet", "--cached", "trial.toml")
    git_in("commit", "--quiet", "-m", "no overlay")
    done = place.run("plan", "--against", "HEAD", "-o", "plan.json")
    assert done.code == 0 and "note: HEAD has no trial.toml" in done.err
    git_in("add", "trial.toml")
    edit(place.spec, "1200 wei / pixel", "1250 wei / pixel")
    git_in("commit", "--quiet", "-m", "a spec that its tree does not follow", "fleet.toml", "trial.toml")
    place.compile()
    assert place.run("plan", "--against", "HEAD", "-o", "plan.json").code == 0
    assert place.read().baseline.hosts[0].release != other.host


def recorded(place: Workplace, path: str, old: str, new: str) -> None:
    """Change a file of the tree, and its digest in the manifest."""
    before = _sha256(place.tree / path)
    edit(place.tree / path, old, new)
    edit(place.tree / "manifest.json", before, _sha256(place.tree / path))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


PLACE = 'address = "198.51.100.13"'


@pytest.mark.parametrize("now", ['address = "198.51.100.113"', f"{PLACE}\nssh_port = 2222"])
def test_nothing_is_known_of_a_host_that_may_be_another_machine(place: Workplace, now: str) -> None:
    shutil.copytree(place.tree, "before")
    edit(place.spec, PLACE, now)
    place.compile()
    done = place.run("plan", "--against", "before", "-o", "plan.json")
    assert done.code == 0, done.err
    assert "unknown for us-gpu-2: it was at 198.51.100.13 port 22; if that is another machine" in done.out
    assert "make sure that us-video-2 runs" in done.out
    assert "keep us-video-2" not in done.out
    assert place.codes() == []


def test_a_machine_under_another_name_is_no_bare_one(place: Workplace) -> None:
    shutil.copytree(place.tree, "before")
    text = place.spec.read_text(encoding="utf-8")
    place.spec.write_text(text.replace("hosts.us-gpu-2", "hosts.us-gpu-9").replace('"us-gpu-2"', '"us-gpu-9"'))
    place.compile()
    done = place.run("plan", "--against", "before")
    assert done.code == 0, done.err
    assert "unknown for us-gpu-9: its machine was the host us-gpu-2" in done.out
    assert "left alone" not in done.out
    assert "it is new here" not in done.out


def test_a_plan_of_many_hosts_stays_readable(changed: Workplace) -> None:
    made = changed.made()
    step = replace(made.steps[0], actions=tuple(replace(a, do="ensure") for a in made.steps[0].actions))
    names = tuple(f"host-{number:03}" for number in range(500))
    steps = tuple(replace(step, host=name) for name in names)
    many = replace(made, batches=(names[:100], names[100:]), steps=steps)
    lines = summary.lines(many, "", "")
    assert len(lines) < 200
    assert "something changes on 460 more hosts: the plan file lists all of them" in lines


def test_text_of_a_host_is_shown_and_never_obeyed(place: Workplace) -> None:
    made = place.made()
    state = replace(made.baseline.hosts[0], known="unknown", note="\x1b[31m::error::x\n##[group]")
    hostile = replace(made, baseline=replace(made.baseline, hosts=(state, *made.baseline.hosts[1:])))
    shown = "\n".join(summary.lines(decode(encode(hostile)), "", ""))
    assert "\x1b" not in shown
    assert "##[" not in shown


def test_one_plan_has_one_spelling(place: Workplace) -> None:
    made = place.made()
    content = encode(made)
    assert encode(decode(content)) == content
    document = json.loads(content)
    assert list(document) == ["plan", "seal"]
    assert content.decode() == json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_plan_lists_every_file_once(place: Workplace) -> None:
    made = place.made()
    listed = [file.path for file in (*made.artifacts, *made.playbooks)]
    on_disk = [str(p.relative_to(place.tree)) for p in place.tree.rglob("*") if p.is_file()]
    assert sorted(listed) == sorted(on_disk)
    assert {file.path for file in made.playbooks} >= {"ansible/site.yml", "ansible/observe.yml", "ansible/ansible.cfg"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--expires", "soon"), '"soon" is not a duration'),
        (("--expires", "2d"), "48 h"),
        (("--expires", "0s"), "at most 31 days"),
        (("--expires", "1000h"), "at most 31 days"),
        (("--expires", "90min"), '"25 min" or "1m30s"'),
        (("--verify", "plan.json", "-o", "x"), "remove -o"),
        (("--verify", "plan.json", "--expires", "3h"), "--expires, --shard and --without"),
        (("--verify", "plan.json", "--expires", "24h"), "--expires, --shard and --without"),
        (("--sign", "key"), "name that file with -o"),
    ],
)
def test_wrong_usage(place: Workplace, options: tuple[str, ...], words: str) -> None:
    done = place.run("plan", *options)
    assert done.code == 2
    assert words in done.err


def test_the_help_names_a_lifetime_that_is_taken(place: Workplace) -> None:
    words = " ".join(re.findall(r"[\w;-]+", place.run("plan", "--help").out))  # without frames and line ends
    shown = re.search(r"such as (\w+) or (\w+); by default (\w+)", words)
    assert shown is not None
    for words in shown.groups():
        done = place.run("plan", "--limit", "eu-ai", "--expires", words)
        assert done.code == 0, done.err


def test_a_device_is_no_plan(place: Workplace) -> None:
    assert "error[plan-unreadable]" in refused(place.run("plan", "--verify", "/dev/zero"))
    assert "error[plan-unreadable]" in refused(place.run("plan", "--verify", "rendered"))


def test_plan_takes_the_place_of_files_alone(place: Workplace) -> None:
    os.mkfifo("pipe")
    Path("link.json").symlink_to("elsewhere.json")
    for name in (".", "/", "", "rendered", "pipe", "link.json"):
        done = place.run("plan", "-o", name)
        assert done.code == 1, name
        assert "error[plan-not-a-file]" in done.err, name
    assert Path("pipe").is_fifo() and Path("link.json").is_symlink()
