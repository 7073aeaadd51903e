"""Programs of the node that fleetc installs, by digest.

In: what a release wants. Out: its programs by path, or RefusedError.

The program of a node has path and version, that of a live runner its path alone. One that this program installs also
has sha256, the digest of what it comes from, and url or file, and member where that is an archive. Its directory has
that digest as its name, and a file with the digest of the program itself.
"""

from __future__ import annotations

import contextlib
import http.client
import lzma
import os
import pwd
import re
import shutil
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from typing import Any

from .places import INCOMING, PROGRAMS, Json, RefusedError
from .secret_files import masked
from .system import Ids, digest_of_file, note, read, remove, run, sync_directory, write

PROGRAM_LIMIT = 2 * 1024**3
"""The most bytes of an archive or of a program."""

FETCH_SECONDS = 1800
"""What fetching a program may take; one that says nothing for a minute is given up before."""


def programs_in(wanted: Json) -> list[Json]:
    """The programs of the services of a release, each once, in their order."""
    found = {service["program"]["path"]: service["program"] for service in wanted["services"] if "program" in service}
    return list(found.values())


def program_path(program: Json) -> str:
    """Where a program is on this host."""
    digest = program.get("sha256")
    return "%s/%s/livepeer" % (PROGRAMS, digest) if digest else str(program["path"])


def is_installed(program: Json) -> bool:
    """Whether the program that belongs to a digest is here, as it was when it came."""
    path = program_path(program)
    recorded = (read(os.path.dirname(path) + "/sha256") or b"").decode(errors="replace").strip()
    return bool(recorded) and os.access(path, os.X_OK) and digest_of_program(path) == recorded


_digests: dict[tuple[str, int, int, int], str] = {}


def digest_of_program(path: str) -> str:
    """The digest of a program. All nodes of a host have one large file: it is read once while nobody touches it."""
    facts = os.stat(path)
    key = (path, facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns)
    if key not in _digests:
        _digests[key] = digest_of_file(path)
    return _digests[key]


def programs_to_carry(wanted: Json) -> list[str]:
    """The digests of programs that must be copied here from the machine that deploys."""
    return [one["sha256"] for one in programs_in(wanted) if one.get("file") and not is_installed(one)]


def install_programs(wanted: Json) -> None:
    """Install the programs of a release that are not here, or were changed here. May be repeated."""
    for program in programs_in(wanted):
        if program.get("sha256") and not is_installed(program):
            note("install", program=program["sha256"], source=program.get("url") or program["file"])
            install(program)
    remove(INCOMING)


def install(program: Json) -> None:
    """Fetch a program, or take the one that was copied here; it is whole and of its digest before it gets its name."""
    digest, source = program["sha256"], program.get("url") or program["file"]
    path, came = program_path(program), "%s/%s" % (INCOMING, digest)
    make_incoming()
    try:
        if program.get("url"):
            fetch(source, came)
        if not os.path.exists(came):
            raise RefusedError("program-missing", "%s was not copied to this host; deploy again" % source)
        found = digest_of_file(came)
        if found != digest:
            message = "%s has the SHA-256 %s, and programs of the spec says %s: correct the one that is wrong"
            raise RefusedError("program-other-digest", message % (source, found, digest))
        new = came + ".program"
        take_out(came, program.get("member", ""), new, source)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(os.path.dirname(path) + "/sha256", digest_of_file(new).encode() + b"\n")
        os.rename(new, path)
        sync_directory(os.path.dirname(path))
    finally:
        remove(came)
        remove(came + ".program")


def make_incoming() -> None:
    """Make the directory in which programs arrive; only root reads and writes it."""
    os.makedirs(PROGRAMS, mode=0o755, exist_ok=True)
    os.makedirs(INCOMING, mode=0o700, exist_ok=True)
    os.chmod(INCOMING, 0o700)


def take_out(came: str, member: str, new: str, source: str) -> None:
    """Make an executable file of what arrived, on the disk: of the whole, or of one file of an archive."""
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        if member:
            try:
                copy_member(came, member, target, source)
            except (tarfile.TarError, EOFError, ValueError, zlib.error, lzma.LZMAError) as failure:
                raise RefusedError("program-unreadable", "%s is not an archive: %s" % (source, failure)) from None
        else:
            with open(came, "rb") as whole:
                shutil.copyfileobj(whole, target, 1024 * 1024)
        target.flush()
        os.fchmod(descriptor, 0o755)
        os.fsync(descriptor)


def copy_member(came: str, member: str, target: Any, source: str) -> None:
    """Copy one plain file out of an archive."""
    with tarfile.open(came, mode="r:*") as tar:
        names = (member, "./" + member)
        found = next((one for one in tar if one.name in names), None)
        content = tar.extractfile(found) if found is not None and found.isfile() else None
        if found is None or content is None:
            message = "%s holds no file %s: correct member in programs of the spec"
            raise RefusedError("program-unreadable", message % (source, member))
        if found.size > PROGRAM_LIMIT:
            raise RefusedError("program-too-large", "%s in %s has %d bytes" % (member, source, found.size))
        shutil.copyfileobj(content, target, 1024 * 1024)


def may_fetch(address: str) -> bool:
    """Whether a program may come from an address: nobody on the way must be able to read or to change it."""
    parts = urllib.parse.urlsplit(address)
    here = parts.hostname in ("localhost", "::1") or re.fullmatch(r"127(\.[0-9]{1,3}){3}", parts.hostname or "")
    return parts.scheme == "https" or (parts.scheme == "http" and bool(here))


class GuardedRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirection only to where a program may come from."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """The request to follow."""
        if not may_fetch(newurl):
            raise urllib.error.URLError("it leads to an address that is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch(address: str, path: str) -> None:
    """Put what an address answers into a file."""
    end = time.monotonic() + FETCH_SECONDS
    try:
        if not may_fetch(address):
            raise urllib.error.URLError("it is not https")
        opener = urllib.request.build_opener(GuardedRedirects())
        with opener.open(address, timeout=60) as answer, open(path, "wb") as file:
            size = 0
            for part in iter(lambda: answer.read(1024 * 1024), b""):
                size += len(part)
                if size > PROGRAM_LIMIT or time.monotonic() > end:
                    raise urllib.error.URLError("it is too large" if size > PROGRAM_LIMIT else "it takes too long")
                file.write(part)
    except urllib.error.HTTPError as failure:
        message = "%s cannot be fetched: the answer is %d" % (address, failure.code)
        raise RefusedError("program-not-fetched", message) from None
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError, ValueError) as failure:
        reason = getattr(failure, "reason", failure)
        raise RefusedError("program-not-fetched", "%s cannot be fetched: %s" % (address, reason)) from None


def need_program(program: Json, runner: Ids | None) -> None:
    """Refuse a program that is not here, does not run here, or is of another release than its nodes shall be.

    One without a version is that of a live runner, which nobody knows how to ask.
    """
    path, version = program_path(program), program.get("version")
    if version is None:
        if not os.access(path, os.X_OK):
            message = "there is no program at %s: install the runner's there, or name it as program of its table"
            raise RefusedError("program-missing", message % path)
        return
    if not os.access(path, os.X_OK):
        message = "there is no program at %s: install release v%s of the node there, or name it in programs of the spec"
        raise RefusedError("program-missing", message % (path, version))
    said = run(path, "-version", seconds=20, ids=runner)
    found = re.search(r"(?m)^Livepeer Node Version: (\S{1,80})$", said.out)
    if found is None:
        message = "%s does not say its release: %s"
        raise RefusedError("program-unusable", message % (path, masked(said.words, ())))
    if not is_version(found[1], version):
        if program.get("sha256"):
            advice = "correct the table of v%s in programs of the spec: %s is another release" % (
                version,
                program.get("url") or program["file"],
            )
        else:
            advice = "install v%s there before this release, or name it in programs of the spec" % version
        message = "%s is release %s instead of %s: %s" % (path, found[1], version, advice)
        raise RefusedError("program-other-release", message)


def is_version(said: str, wanted: str) -> bool:
    """Whether a node says that it is of a release, built from its tag or from another commit."""
    return said == wanted or said.startswith(wanted + "-")


def runner_of(owner: str) -> Ids | None:
    """Who runs a program to ask it something: the user of nodes, or nobody where that one is not there yet."""
    for name in (owner, "nobody"):
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return Ids(found.pw_uid, found.pw_gid)
    return Ids(65534, 65534)
