"""Brings a release and its secrets to the disk, whole. What runs is not touched.

In: what a release wants, its archive and its secrets. Out: the name of the release on the disk.
"""

from __future__ import annotations

import base64
import os
import pwd
import time

from .looking import look, wanted_state, with_other_secrets
from .places import (
    CURRENT,
    MARKERS,
    PROGRAMS,
    QUARANTINE,
    RECORD,
    RELEASES,
    SECRETS,
    SWITCH,
    Json,
    RefusedError,
)
from .programs import need_program, programs_in, runner_of
from .releases import (
    digest_in,
    digest_of_release,
    files_of,
    finish_release,
    kept_releases,
    release_at,
    service_in,
    unpack,
    wanted_of,
)
from .secret_files import secrets_at
from .steps import settings_of, steps
from .switch import back, told_of
from .switch_file import HEALTHY, QUARANTINED, enter
from .system import boot_id, hexdigest, must, names_in, read_json, read_state, remove, run, write, write_json


def learn_settings(wanted: Json) -> None:
    """Keep with the release that runs which of its settings can be changed live, where another fleetc staged it.

    Its files are the same, so that is what its nodes were started with.
    """
    places = {release_at("%s/%s" % (CURRENT, service["name"])) for service in wanted["services"]}
    for release in places:
        before = read_json("%s/%s/.wanted.json" % (RELEASES, release)) or {}
        services = {service["name"]: service for service in wanted["services"]}
        told = [{**one, **settings_of(services.get(one["name"]))} for one in before.get("services", [])]
        same = digest_in(release) == wanted["digest"]
        facts = {**before, "services": told, **{key: wanted.get(key) for key in ("live", "setters")}}
        if same and facts != before:
            write_json("%s/%s/.wanted.json" % (RELEASES, release), facts)


def end_before(switch: Json, request: Json) -> None:
    """End a switch that broke off before a new one begins; one that is still on its way is somebody else's.

    `clear` gives up a way back that the host cannot go now.
    """
    owner = switch.get("owner", {})
    waits = switch["phase"] == HEALTHY and switch.get("boot") == boot_id() and time.monotonic() < switch.get("until", 0)
    if waits and owner.get("id") not in (request.get("owner", {}).get("id"), *request.get("dead", [])):
        raise RefusedError(
            "switch-open", "a release of %s waits for its confirmation here" % (owner.get("who") or "somebody else")
        )
    switch["boot"] = boot_id()
    try:
        back(switch, ["the next rollout found it unfinished"])
    except (RefusedError, OSError) as failure:
        if not request.get("clear"):
            message = "the host cannot go back to its release before now: %s; end that, or deploy with --clear %s"
            raise RefusedError("not-now", message % (told_of(failure), request["wanted"]["host"])) from None
        enter(switch, QUARANTINED, reasons=[*switch["reasons"], told_of(failure)])  # no timer takes this one back
        return
    if (read_state(SWITCH) or {}).get("phase") == QUARANTINED:
        raise RefusedError("host-quarantined", (read_json(QUARANTINE) or {}).get("why", ""))


def make_places(wanted: Json) -> None:
    """Make the user and the directories that nodes need. What is there is left as it is."""
    owner = wanted["owner"]
    try:
        user = pwd.getpwnam(owner)
    except KeyError:
        must(run("useradd", "--system", "--no-create-home", owner), "the user %s cannot be made" % owner)
        user = pwd.getpwnam(owner)
    for path, mode in ((RELEASES, 0o755), (SECRETS, 0o700), (MARKERS, 0o755)):
        os.makedirs(path, exist_ok=True)
        os.chmod(path, mode)
    if not os.path.lexists(CURRENT):
        os.mkdir(CURRENT)
    for service in wanted["services"]:
        path = service["data_dir"]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.isdir(path):
            os.mkdir(path)
        os.chmod(path, 0o700)
        os.chown(path, user.pw_uid, user.pw_gid)


def need_programs(wanted: Json) -> None:
    """Refuse a host that lacks what its nodes are started with. Images that are missing are pulled."""
    if wanted["runtime"] == "systemd":
        for program in programs_in(wanted):
            need_program(program, runner_of(wanted["owner"]))
        return
    for service in wanted["services"]:
        asked = ("docker", "image", "inspect", "--format", "{{.Id}}", service["image"])
        found = run(*asked)
        if found.status and "No such image" in found.err:
            must(run("docker", "image", "pull", "--quiet", service["image"], seconds=1800), service["image"])
            found = run(*asked)
        service["image_id"] = must(found, "Docker does not have the image %s" % service["image"]).out.strip()


def keep_images(wanted: Json, files: dict[str, bytes]) -> None:
    """Have nodes that go on running mean the image that they run, although its tag may have moved to another one.

    Their release would else want an image that they do not have, and the next rollout would restart them for it.
    """
    if wanted["runtime"] != "docker":
        return
    found = steps(with_other_secrets(look(), files), wanted_state(wanted))
    kept = [one["node"] for one in found if one["do"] in ("keep", "ensure")]
    for service in wanted["services"]:
        name = service["name"]
        before = service_in(release_at("%s/%s" % (CURRENT, name)), name) or {}
        if name in kept and before.get("image_id"):
            service["image_id"] = before["image_id"]


def staged(wanted: Json, files: dict[str, bytes]) -> str:
    """A release on the disk with exactly these files and secrets; "" where there is none."""
    for release in kept_releases():
        directory = "%s/%s" % (RELEASES, release)
        if digest_in(release) != wanted["digest"]:
            continue
        before = wanted_of(release)
        images = [service.get("image_id") for service in before["services"]]
        if images != [service.get("image_id") for service in wanted["services"]]:
            continue  # a tag moved: the old release goes on meaning the old image
        if digest_of_release(directory) == wanted["digest"] and secrets_at(directory) == files:
            write_json(directory + "/.wanted.json", {**wanted, "files": before.get("files", {})})
            return release
    return ""


def stage(wanted: Json, secrets: dict[str, bytes], request: Json) -> str:
    """A new release on the disk, from the archive of a request. Raises where its digest is another one."""
    new = RELEASES + "/.new"
    remove(new)
    os.makedirs(new)
    unpack(base64.b64decode(request["archive"]), new)
    if digest_of_release(new) != wanted["digest"]:
        raise RefusedError("release-damaged", "the files that arrived are not those that were compiled; try again")
    files = {}
    for name in names_in(new):
        files.update(
            {"%s/%s" % (name, path): hexdigest(content) for path, _, content in files_of("%s/%s" % (new, name))}
        )
    for path, content in secrets.items():
        directory = "%s/%s" % (new, os.path.dirname(path))
        os.makedirs(directory, mode=0o700, exist_ok=True)
        os.chmod(directory, 0o700)
        write("%s/%s" % (new, path), content, 0o600)
    write_json(new + "/.wanted.json", {**wanted, "files": files})
    release = new_name(wanted["digest"])
    finish_release(new, release)
    return release


def new_name(digest: str) -> str:
    """The name of a new release. One that was removed while nodes run it comes back under its own name."""
    linked = [release_at("%s/%s" % (CURRENT, name)) for name in names_in(CURRENT)]
    for release in linked:
        if digest_in(release) == digest and not os.path.lexists("%s/%s" % (RELEASES, release)):
            return release
    numbers = [int(name.partition(".")[2] or 0) for name in names_in(RELEASES) if digest_in(name) == digest]
    return "%s.%d" % (digest, max([0, *numbers]) + 1)


def ran_until(release: str, record: Json) -> list[str]:
    """The releases on the disk that were confirmed here, the oldest first. The last is the one confirmed now."""
    names = kept_releases()
    return [*(name for name in record.get("ran", []) if name in names and name != release), release]


def prune(keep: int) -> None:
    """Remove old releases; `keep` of them stay, all that are in use, and the programs that these name.

    Releases that were confirmed here stay before those that never were, whatever their age: only they are worth going
    back to, and some attempts that fail must not use up the way back.
    """
    used = {release_at("%s/%s" % (CURRENT, name)) for name in names_in(CURRENT)}
    record = read_state(RECORD) or {}
    used |= {str(record.get("release", "")), str(record.get("confirmed", ""))}
    names = kept_releases()
    ran = [name for name in record.get("ran", []) if name in names]
    kept = {*[*(name for name in names if name not in ran), *ran][-max(keep, 1) :], *used}
    for name in os.listdir(RELEASES) if os.path.isdir(RELEASES) else ():
        if name not in kept:
            remove("%s/%s" % (RELEASES, name))
    recorded = [read_json("%s/%s/.wanted.json" % (RELEASES, name)) for name in kept_releases()]
    programs = {one.get("sha256") for wanted in recorded if wanted for one in programs_in(wanted)}
    for name in os.listdir(PROGRAMS) if os.path.isdir(PROGRAMS) else ():
        if name not in programs:
            remove("%s/%s" % (PROGRAMS, name))
