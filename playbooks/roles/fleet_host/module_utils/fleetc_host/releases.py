"""Releases on the disk: their digests, what they want, and which one a node is linked to.

In: a path, a digest or a node. Out: names, digests and what they want.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator

from .places import MARKERS, RECORD, RELEASES, UNITS, Json, RefusedError
from .system import hexdigest, must, names_in, read, read_json, read_state, remove, run, sync_directory


def digest_of_files(directory: str) -> str:
    """The digest of a node's files, as the compiler computes it: names, modes and contents, without the secrets."""
    lines = ["%s %04o %s\n" % (name, mode, hexdigest(content)) for name, mode, content in files_of(directory)]
    return hexdigest("".join(sorted(lines)).encode())


def files_of(directory: str) -> Iterator[tuple[str, int, bytes]]:
    """Name, mode and content of each file of a node or of the stack; those of secrets are not among them."""
    for place, folders, names in os.walk(directory):
        if place == directory and "secrets" in folders:
            folders.remove("secrets")
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                yield os.path.relpath(path, directory), mode, file.read()


def digest_of_release(directory: str) -> str:
    """The digest of all files of a host, which is the name of its release."""
    lines = ["%s %s\n" % (name, digest_of_files(os.path.join(directory, name))) for name in names_in(directory)]
    return hexdigest("".join(sorted(lines)).encode())


def release_at(path: str) -> str:
    """The release that a link below current leads to, such as <digest>.<n>; "" without one."""
    try:
        target = os.readlink(path)
    except OSError:
        return ""
    return target.split("/")[2] if target.startswith("../releases/") and target.count("/") == 3 else ""


def digest_in(release: str) -> str:
    """The digest in the name of a release."""
    return release.partition(".")[0]


def kept_releases() -> list[str]:
    """The releases on the disk, the newest last."""
    names = [name for name in names_in(RELEASES) if os.path.isfile("%s/%s/.wanted.json" % (RELEASES, name))]
    return sorted(names, key=lambda name: os.stat("%s/%s/.wanted.json" % (RELEASES, name)).st_mtime_ns)


def wanted_of(release: str) -> Json:
    """What a release wants of the host; of none, that nothing runs."""
    if not release:
        return {"services": [], "stack": None, "runtime": "systemd", "digest": ""}
    found = read_json("%s/%s/.wanted.json" % (RELEASES, release))
    if found is None:
        raise RefusedError("release-missing", "the release %s is no longer on this host; deploy again" % release[:12])
    return found


def wanted_here(release: str) -> Json:
    """What a release wants of the host, without the nodes that moved away since: they may run elsewhere now."""
    wanted = wanted_of(release)
    left = (read_state(RECORD) or {}).get("left", [])
    return {**wanted, "services": [service for service in wanted["services"] if service["name"] not in left]}


def kept_release(digest: str) -> str:
    """The newest release on the disk with a digest."""
    kept = [release for release in kept_releases() if digest_in(release) == digest]
    if not kept:
        there = ", ".join(sorted({digest_in(release)[:12] for release in kept_releases()})) or "none"
        message = "this host does not keep the release %s; it has %s" % (digest[:12], there)
        raise RefusedError("release-not-kept", message)
    return kept[-1]


def unpack(archive: bytes, directory: str) -> None:
    """Put the files of an archive into a new directory. Only plain files below it are taken."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:*") as tar:
        for member in tar:
            parts = member.name.split("/")
            if member.isdir():
                continue
            if not member.isfile() or member.name.startswith("/") or ".." in parts or any(part == "" for part in parts):
                raise RefusedError(
                    "release-damaged", "the archive of the release holds %r, which is not a plain file" % member.name
                )
            source = tar.extractfile(member)
            assert source is not None
            path = os.path.join(directory, *parts)
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
            with open(path, "wb") as file:
                shutil.copyfileobj(source, file)
            os.chmod(path, 0o644)


def unit_of(node: str) -> str:
    """The name of a node's unit, Compose project and container."""
    return "livepeer-" + node


def service_in(release: str, node: str) -> Json | None:
    """What a release on the disk wants of a node; None where it knows nothing of it."""
    wanted = (read_json("%s/%s/.wanted.json" % (RELEASES, release)) if release else None) or {}
    return next((service for service in wanted.get("services", []) if service["name"] == node), None)


def changed_files(release: str, node: str) -> list[str]:
    """Names of a node's files that are not as they were when the release came here."""
    recorded = (read_json("%s/%s/.wanted.json" % (RELEASES, release)) or {}).get("files", {})
    there = {name: hexdigest(content) for name, _, content in files_of("%s/%s/%s" % (RELEASES, release, node))}
    before = {path[len(node) + 1 :]: digest for path, digest in recorded.items() if path.startswith(node + "/")}
    return sorted(name for name in {*there, *before} if there.get(name) != before.get(name))


def finish_release(new: str, release: str) -> None:
    """Bring a complete release to the disk and give it its name."""
    os.chmod(new, 0o755)
    must(run("sync", "--file-system", new), "the release cannot be brought to the disk")
    remove("%s/%s" % (RELEASES, release))
    os.rename(new, "%s/%s" % (RELEASES, release))
    sync_directory(RELEASES)


def runtime_here(node: str) -> str:
    """How a node runs here now, by its record; one that fleetc has not started yet, by whether it has a unit."""
    recorded = started_from(node)[-1:]
    if recorded in (["systemd"], ["docker"]):
        return recorded[0]
    return "systemd" if os.path.lexists("%s/%s.service" % (UNITS, unit_of(node))) else "docker"


def started_from(node: str) -> list[str]:
    """The record of how a node was started: digests of files and secrets, or "starting", then how it runs."""
    return (read("%s/%s" % (MARKERS, node)) or b"").decode(errors="replace").split()


def whole(release: str) -> str:
    """A kept release, if it still is what its name says."""
    if digest_of_release("%s/%s" % (RELEASES, release)) != digest_in(release):
        message = "files of the release %s were changed on this host; deploy it again instead" % release[:12]
        raise RefusedError("release-damaged", message)
    return release
