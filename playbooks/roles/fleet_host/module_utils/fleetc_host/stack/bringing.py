"""Brings an avatar stack to a release, or takes it down.

In: a release and what it wants of the stack. Out: nothing, or RefusedError.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable

from ..places import FIREWALL_UNIT, NFT, POWER, PROFILE, STACK_FILES, STACK_MARKERS, SYSCTL, UNITS, Json, RefusedError
from ..secret_files import masked
from ..steps import FIREWALL, HOST, STACK, TURN
from ..system import link, must, names_in, read, remove, run, sync_directory, write
from .checkout import bring_source
from .firewall import TABLE, bring_firewall, reserve
from .made import drift_of_slot, has_other_image, made_of
from .parts import (
    AWAKE,
    HOST_FILE,
    HOST_PROJECT,
    HOST_SERVICES,
    NETWORK,
    READS_TURN,
    SLEEPING,
    SLOT_FILE,
    STARTING,
    TURN_SERVICE,
    containers_of,
    digests_in,
    has_turn,
    host_sleeps,
    is_asleep,
    made_at,
    mark,
    marker_of,
    markers_of,
    settings_in,
)
from .power import put_to_sleep, wake

PULLING_SECONDS = 3600
"""What starting a project may take: images of the game are large."""


def bring_stack(release: str, stack: Json | None, told: Callable[[str, str], None], gently: bool) -> None:
    """Bring the avatar stack to a release on the disk, or take it down where there shall be none. May be repeated.

    Slots that are gone or moved stop first, so that their ports are free. Compose is asked only for what changed. What
    sleeps goes on sleeping, but a slot that slept because of the spec wakes with it. The link to the files moves once
    these slots are gone, or goes with the last of the stack.
    `gently` means that slots are put to sleep before they change, and wake after it.
    """
    kept = ["%s.%s" % (slot["name"], slot["project"]) for slot in (stack or {"slots": []})["slots"]]
    for name in names_in(STACK_MARKERS):
        if name.startswith("slot-") and name not in kept:
            retire_slot(name, told)
    if not stack:
        take_down_stack(told)
        remove(STACK_FILES)
        return
    link("../releases/%s/%s" % (release, STACK), STACK_FILES)
    if stack["reserved_ports"] or "reserved" in names_in(STACK_MARKERS):
        reserve(stack["reserved_ports"])
    # The command line of the stack reads its switches from its caller's environment: lines of .env do not reach it.
    profile = read(STACK_FILES + "/profile.sh") or b""
    if read(PROFILE) != profile:
        write(PROFILE, profile)
    wanted = markers_of(stack, secret_lines("host"), secret_lines("turn"))
    bring_firewall(wanted["firewall"], told)
    moved = bring_source(stack, told)
    bring_host(stack, wanted["host"], told, moved)
    for slot in stack["slots"]:
        bring_slot(stack, slot, wanted["%s.%s" % (slot["name"], slot["project"])], told, moved, gently)


def retire_slot(name: str, told: Callable[[str, str], None]) -> None:
    """Remove the project of a slot that is gone or moved. A marker has the name of the slot and that of its project."""
    slot, _, project = name.partition(".")
    told("retire", "%s/%s" % (STACK, slot))
    down(project)
    remove("%s/%s" % (STACK_MARKERS, name))


def down(project: str) -> None:
    """Remove the containers and the network of a project; Compose finds them by their labels."""
    words = ("docker", "compose", "--project-name", project, "down", "--remove-orphans")
    must(run(*words, seconds=600), "the project %s does not stop" % project)


def take_down_stack(told: Callable[[str, str], None]) -> None:
    """Remove what is left of a stack once its slots are gone. The checkout stays as it is."""
    found = names_in(STACK_MARKERS)
    if "host" in found:
        for node in (TURN, HOST) if has_turn(digests_in("host", 4)[2]) else (HOST,):
            told("retire", node)
        down(HOST_PROJECT)
    if "firewall" in found:
        told("retire", FIREWALL)
        run("systemctl", "stop", FIREWALL_UNIT)
        run(NFT, "delete", "table", "inet", TABLE)  # somebody may have flushed it
        remove("%s/multi-user.target.wants/%s" % (UNITS, FIREWALL_UNIT))
        remove("%s/%s" % (UNITS, FIREWALL_UNIT))
        run("systemctl", "daemon-reload")
    if "reserved" in found:
        reserve("")
    if os.path.isdir(STACK_MARKERS):
        for path in (SYSCTL, PROFILE, STACK_MARKERS):
            remove(path)


def bring_host(stack: Json, wanted: str, told: Callable[[str, str], None], moved: bool) -> None:
    """Bring the environment files of the checkout and the host's own services to the release.

    `wanted` is the marker that they get then; `moved` says that the Compose files of the checkout may be others.
    """
    before = marker_of("host")
    there = [one["service"] for one in containers_of(HOST_PROJECT)]
    due = before != wanted or not there or moved
    if due:  # before the first file changes: whoever goes back must see that these are not the old ones
        mark("host", STARTING)
    gone = [name for name in HOST_SERVICES if name in there and name not in stack["services"]]
    if gone:
        if TURN_SERVICE in gone:
            told("retire", TURN)
        words = ("docker", "compose", "--project-name", HOST_PROJECT, "rm", "--stop", "--force", *gone)
        must(run(*words, seconds=600), "%s cannot be removed" % ", ".join(gone))
    # Services of the stack rewrite lines of these files, so what counts is what was written and not what stands there.
    for name, file in ((".env", "host"), (".env.turn", "turn")):
        if before != wanted or not os.path.lexists("%s/%s" % (stack["checkout"], name)):
            write_environment(stack, name, file)
    if not stack["steered"]:  # where the checkout's file names it whatever .env says, it would win over the spec's list
        remove(POWER + "/power_allowed_ips.txt")
    if not due:
        return
    was, will = before.split(), wanted.split()
    if not there or was[:2] != will[:2] or moved:
        told("start", HOST)
    if has_turn(will[2]) and (not there or was[2:] != will[2:]):
        told("start", TURN)
    start_host(stack)
    mark("host", wanted)


def write_environment(stack: Json, name: str, file: str) -> None:
    """Write an environment file of the checkout, settings and secrets, for the owner of the checkout alone.

    A line that the control plane wrote into it stays.
    """
    checkout = stack["checkout"]
    path, there = "%s/%s" % (checkout, name), os.stat("%s/%s" % (checkout, HOST_FILE))
    parts = [read("%s/%s.env" % (STACK_FILES, file)) or b"", secret_lines(file)]
    present = read(path)
    if stack["steered"] and file == "host":
        parts += re.findall(b"(?m)^SIGNALING_EXTRA_ARGS=.*$", present or b"")
    content = b"".join(part.strip() + b"\n" for part in parts if part.strip()) or b"\n"
    owner = (there.st_uid, there.st_gid)
    if present == content:
        facts = os.lstat(path)  # a file that is as it should be stays, because it may be mounted into containers
        if (facts.st_mode, facts.st_uid, facts.st_gid) == (stat.S_IFREG | 0o600, *owner):
            return
    new = checkout + "/.fleetc-new"  # the directory of a checkout is not root's: others must not see what is not whole
    remove(new)
    os.mkdir(new, 0o700)
    write(new + "/env", content, 0o600)
    os.chown(new + "/env", *owner, follow_symlinks=False)
    os.rename(new + "/env", path)
    sync_directory(checkout)
    os.rmdir(new)


def secret_lines(file: str) -> bytes:
    """The secret lines of host.env or turn.env, from the release that the link leads to; empty without any."""
    return read("%s/secrets/%s.env" % (STACK_FILES, file)) or b""


def start_host(stack: Json) -> None:
    """Start the host's own services. A host that sleeps goes on sleeping: only what wakes it is started."""
    listed = run("docker", "network", "ls", "--quiet", "--filter", "name=^%s$" % NETWORK)
    if not must(listed, "Docker does not say which networks there are").out.strip():
        must(run("docker", "network", "create", NETWORK), "the network %s cannot be made" % NETWORK)
    others = [name for name in stack["services"] if name not in AWAKE]
    awake = [name for name in stack["services"] if name in AWAKE]
    for how, services in (("--no-start" if host_sleeps() else "--detach", others), ("--detach", awake)):
        if services:  # without a name, Compose would start all that the file of the checkout has
            up(stack, HOST_PROJECT, HOST_FILE, stack["host_compose"], "host.env", how, "--no-deps", *services)


def bring_slot(
    stack: Json, slot: Json, wanted: str, told: Callable[[str, str], None], moved: bool, gently: bool
) -> None:
    """Bring a slot to the release; `wanted` is the marker that it gets then, `moved` as for the host's services.

    The first words there are its own files and the tokens that it shares; the others are TURN's, which only two of its
    services read.
    """
    name, project = slot["name"], slot["project"]
    marker, own = "%s.%s" % (name, project), " ".join(wanted.split()[:3])
    before, made, there = marker_of(marker), made_at(marker), containers_of(project)
    drifted = bool(drift_of_slot(made, there))
    if before == wanted and there and not moved and not drifted:
        return
    asleep, rests = slot.get("asleep", False), before.endswith(SLEEPING) and STARTING not in before
    whole = not there or moved or drifted or not before.startswith(own) or asleep != rests
    # A start that failed may leave containers none of which runs. That is no sleep: it would be taken for one for ever.
    sleeps = asleep or (is_asleep(there) and not rests and not before.endswith(STARTING))
    told("start", "%s/%s" % (STACK, name))
    for directory in slot["directories"]:
        make_directory(directory, os.stat("%s/%s" % (stack["checkout"], HOST_FILE)))
    begun = ([] if whole else [own]) + [STARTING] + ([SLEEPING] if sleeps else [])
    mark(marker, " ".join(begun))
    slept = put_to_sleep(project) if gently and not sleeps and any(one["running"] for one in there) else False
    words = ["--no-start" if sleeps or slept else "--detach"]
    if drifted:
        if not all(put_image_back(made[one["service"]], one) for one in there if one["service"] in made):
            words.append("--pull=always")
        down(project)  # Compose would keep what names its own digest, whatever else it is
    if not whole:
        words += ["--no-deps", *READS_TURN]
    up(stack, project, SLOT_FILE, "slots/%s.compose.yaml" % name, "slots/%s.env" % name, *words)
    if asleep:
        stop = ("docker", "compose", "--project-name", project, "stop")
        must(run(*stop, seconds=600), "the project %s does not stop" % project)
    if slept is not False and not wake(project):
        raise RefusedError("step-failed", "%s does not wake" % project)
    mark(marker, wanted, made_of(containers_of(project)))


def put_image_back(was: Json, now: Json) -> bool:
    """Have a name mean the image that a rollout started, where it means another one now; False if that is gone."""
    return not has_other_image(was, now) or run("docker", "image", "tag", was["id"], was["image"]).status == 0


def make_directory(path: str, owner: os.stat_result) -> None:
    """Make a directory of a slot for the owner of the checkout, with those above it; what is above and there stays."""
    above = os.path.dirname(path)
    if not os.path.isdir(above):
        make_directory(above, owner)
    if not os.path.isdir(path):
        os.mkdir(path)
    os.chmod(path, 0o755)
    os.chown(path, owner.st_uid, owner.st_gid)


def up(stack: Json, project: str, file: str, over: str, settings: str, *words: str) -> None:
    """Have Compose start a project, or create it asleep. It replaces the containers that changed and no others.

    `file` is of the checkout; `over` lies over it and is of the release, as are the settings; "" for none.
    """
    checkout = stack["checkout"]
    own = ("--file", "%s/%s" % (STACK_FILES, over)) if over else ()
    place = ("--project-directory", checkout, "--env-file", checkout + "/.env", "--file", "%s/%s" % (checkout, file))
    done = run(
        *("docker", "compose", "--project-name", project, *place, *own, "up", *words[:1], "--quiet-pull", *words[1:]),
        seconds=PULLING_SECONDS,
        environment=settings_in("%s/%s" % (STACK_FILES, settings)),
    )
    if done.status:
        secrets = (secret_lines("host") + secret_lines("turn")).decode().splitlines()
        said = masked(done.words, (line.partition("=")[2] for line in secrets))
        raise RefusedError("step-failed", "%s does not start: %s" % (project, said))
