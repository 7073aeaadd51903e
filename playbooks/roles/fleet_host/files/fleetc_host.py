"""Brings one host from one release to another, and back: the only program of fleetc that runs on a host.

In: one request, as JSON. Out: one answer, as JSON. It needs Python 3.9 or newer and nothing else. Ansible carries it
here with each request; a copy stays in /opt/fleetc/host for the timer and for the unit that runs at boot.

What lies where:

    /opt/fleetc/releases/<digest>.<n>/<node>/   the files of a node, its secrets in a directory for root
    /opt/fleetc/current/<node>                  the link to the release that the node runs, which carries unit, files,
                                                environment and secrets; it only moves while the node is stopped, or
                                                once the node has taken all that changes while it runs
    /etc/fleetc/<node>                          a link to the secrets behind that link
    /opt/fleetc/programs/<digest>/livepeer      the node's programs that the spec names, by the digest it gives
    /var/lib/fleetc/                            what runs, what is being switched, and the journal

A switch writes to /var/lib/fleetc/switch.json what it is about to do before it does it. Whoever finds such a file whose
switch died finishes it: the timer, the next boot, or the next request.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import http.client
import io
import ipaddress
import json
import lzma
import os
import pwd
import re
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tarfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

FORMAT = 1
"""Version of requests and answers."""

ROOT = "/opt/fleetc"
RELEASES = ROOT + "/releases"
CURRENT = ROOT + "/current"
PROGRAM = ROOT + "/host/fleetc_host.py"
PROGRAMS = ROOT + "/programs"
INCOMING = PROGRAMS + "/.incoming"
SECRETS = "/etc/fleetc"
UNITS = "/etc/systemd/system"
STATE = "/var/lib/fleetc"
MARKERS = STATE + "/running"
LIVE = STATE + "/live"
SWITCH = STATE + "/switch.json"
JOURNAL = STATE + "/journal.jsonl"
RECORD = STATE + "/state.json"
QUARANTINE = STATE + "/quarantine.json"
CLAIM = STATE + "/claim.json"
NEWEST_PLAN = STATE + "/newest-plan"

STACK = "avatar"
"""The directory of the avatar stack, beside those of nodes."""

BOOT_UNIT = "fleetc-host.service"
TIMER = "fleetc-revert"
WORKER = "fleetc-switch"

Json = Dict[str, Any]


class RefusedError(Exception):
    """A request that is not carried out. `code` is stable; the message says what to do; `facts` are for the asker."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code, self.facts = code, facts


# --- the system -------------------------------------------------------------------------------------


class Done(NamedTuple):
    """What a program said."""

    status: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Its last line, for a message."""
        lines = [line for line in (self.err + "\n" + self.out).splitlines() if line.strip()]
        return lines[-1].strip()[:300] if lines else "exit code %d" % self.status


class Ids(NamedTuple):
    """Who a program runs as."""

    user: int
    group: int


def run(*argv: str, seconds: float = 120, environment: Optional[Json] = None, ids: Optional[Ids] = None) -> Done:
    """Run a program to its end, without a shell. One that is missing or too slow is a failure like any other.

    With `ids`, it runs as that user, in that group and no other.
    """
    try:
        done = subprocess.run(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=seconds,
            env=None if environment is None else {**os.environ, **environment},
            check=False,
            user=ids.user if ids else None,
            group=ids.group if ids else None,
            extra_groups=[] if ids else None,
            cwd="/" if ids else None,
        )
    except OSError as failure:
        return Done(127, "", "%s: %s" % (argv[0], failure.strerror))
    except subprocess.TimeoutExpired:
        return Done(124, "", "%s did not end within %d seconds" % (argv[0], seconds))
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def must(done: Done, what: str) -> Done:
    """Go on only where a program succeeded."""
    if done.status:
        raise RefusedError("step-failed", "%s: %s" % (what, done.words))
    return done


def read(path: str) -> Optional[bytes]:
    """A file; None where there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def read_json(path: str) -> Optional[Json]:
    """A file of this program's own; None where there is none. One that was damaged counts as none."""
    try:
        found = json.loads(read(path) or b"null")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def write(path: str, content: bytes, mode: int = 0o644) -> None:
    """Put a file in place whole, and on the disk."""
    directory = os.path.dirname(path)
    os.makedirs(directory, exist_ok=True)
    new = "%s/.new-%s" % (directory, os.path.basename(path))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    os.rename(new, path)
    sync_directory(directory)


def write_json(path: str, value: Json) -> None:
    """Put a file of this program's own in place, for root alone."""
    write(path, json.dumps(value, sort_keys=True).encode() + b"\n", 0o600)


def sync_directory(path: str) -> None:
    """Bring the names in a directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def link(target: str, path: str) -> bool:
    """Make a link lead to a target, in one step for whoever reads it; whether it led elsewhere."""
    if os.path.islink(path) and os.readlink(path) == target:
        return False
    directory = os.path.dirname(path)
    os.makedirs(directory, exist_ok=True)
    new = "%s/.new-%s" % (directory, os.path.basename(path))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    os.symlink(target, new)
    os.rename(new, path)
    sync_directory(directory)
    return True


def remove(path: str) -> None:
    """Remove a file, a link or a whole directory, if it is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
        return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def names_in(path: str) -> List[str]:
    """The names in a directory, sorted, without those that are being written."""
    try:
        return sorted(name for name in os.listdir(path) if not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []


def digest_of_file(path: str) -> str:
    """SHA-256 in hex of a file of any size; "" where there is none."""
    found = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            for part in iter(lambda: file.read(1024 * 1024), b""):
                found.update(part)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    return found.hexdigest()


def hexdigest(content: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


def note(what: str, **facts: object) -> None:
    """Add a line to the journal of the host. It holds no secret."""
    os.makedirs(STATE, mode=0o755, exist_ok=True)
    line = json.dumps({"at": round(time.time(), 3), "what": what, **facts}, sort_keys=True) + "\n"
    descriptor = os.open(JOURNAL, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(seconds: float) -> Iterator[None]:
    """Hold the lock of the host: one process changes it at a time. The kernel drops it when its holder dies."""
    os.makedirs(STATE, mode=0o755, exist_ok=True)
    descriptor = os.open(STATE + "/lock", os.O_RDWR | os.O_CREAT, 0o600)
    end = time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    who = ((read_json(SWITCH) or {}).get("owner") or {}).get("who") or "somebody else"
                    raise RefusedError("host-busy", "%s is changing this host; try again later" % who) from None
                time.sleep(0.2)
        yield
    finally:
        os.close(descriptor)


# --- releases ---------------------------------------------------------------------------------------


def digest_of_files(directory: str) -> str:
    """The digest of a node's files, as the compiler computes it: names, modes and contents, without the secrets."""
    lines = ["%s %04o %s\n" % (name, mode, hexdigest(content)) for name, mode, content in files_of(directory)]
    return hexdigest("".join(sorted(lines)).encode())


def files_of(directory: str) -> Iterator[Tuple[str, int, bytes]]:
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


def kept_releases() -> List[str]:
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
    left = (read_json(RECORD) or {}).get("left", [])
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
                    "release-damaged", "the archive of the release holds %r, which is no plain file" % member.name
                )
            source = tar.extractfile(member)
            assert source is not None
            path = os.path.join(directory, *parts)
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
            with open(path, "wb") as file:
                shutil.copyfileobj(source, file)
            os.chmod(path, 0o644)


# --- programs of the node ---------------------------------------------------------------------------
# The program of a service has path and version. One that this program installs also has sha256, the digest of what it
# comes from, and url or file, and member where that is an archive. Its directory has that digest as its name, and a
# file with the digest of the program itself.

PROGRAM_LIMIT = 2 * 1024**3
"""The most bytes of an archive or of a program."""

FETCH_SECONDS = 1800
"""What fetching a program may take; one that says nothing for a minute is given up before."""


def programs_in(wanted: Json) -> List[Json]:
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


_digests: Dict[Tuple[str, int, int, int], str] = {}


def digest_of_program(path: str) -> str:
    """The digest of a program. All nodes of a host have one large file: it is read once while nobody touches it."""
    facts = os.stat(path)
    key = (path, facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns)
    if key not in _digests:
        _digests[key] = digest_of_file(path)
    return _digests[key]


def programs_to_carry(wanted: Json) -> List[str]:
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
                raise RefusedError("program-unreadable", "%s is no archive: %s" % (source, failure)) from None
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


def need_program(program: Json, runner: Optional[Ids]) -> None:
    """Refuse a program that is not here, does not run here, or is of another release than its nodes shall be."""
    path, version = program_path(program), program["version"]
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


def runner_of(owner: str) -> Optional[Ids]:
    """Who runs a program to ask it something: the user of nodes, or nobody where that one is not there yet."""
    for name in (owner, "nobody"):
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return Ids(found.pw_uid, found.pw_gid)
    return Ids(65534, 65534)


# --- secrets ----------------------------------------------------------------------------------------

REFUSED_IN_SECRETS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
PLAIN = re.compile(r"[A-Za-z0-9_./:@%+=,?\[\]-]+")
"""What all readers of an environment file of the stack take for the same text."""


def secret_value(secret: Json, values: Json, whose: str) -> str:
    """The value of a secret: from the request, or from a file on this host. Its message never holds the value."""
    kind, reference = secret["kind"], secret["reference"]
    if kind == "host_file":
        content = read(reference)
        value = "" if content is None else content.decode(errors="surrogateescape")
        value = value[:-1] if value.endswith("\n") else value
    else:
        value = str(values.get(kind, {}).get(reference, ""))
    what = "%s needs %s from %s %s, which " % (whose, secret["variable"], kind, reference)
    if not value:
        raise RefusedError("secret-missing", what + "is missing or empty")
    if REFUSED_IN_SECRETS.search(value):
        raise RefusedError("secret-unusable", what + "holds a line break or another control character")
    return value


def secret_files(wanted: Json, values: Json) -> Dict[str, bytes]:
    """The content of each secret file of a release, by its path in it. Empty files are left out."""
    special = r'(["\\$])' if wanted["runtime"] == "docker" else r'(["\\$`])'
    files = {}
    for service in wanted["services"]:
        lines = []
        for secret in service["secrets"]:
            value = secret_value(secret, values, service["name"])
            lines.append('%s="%s"\n' % (secret["variable"], re.sub(special, r"\\\1", value)))
        if lines:
            files["%s/secrets/secrets.env" % service["name"]] = "".join(lines).encode()
    for name in ("host", "turn"):
        lines = []
        for secret in (wanted.get("stack") or {}).get("secrets", []):
            if secret["file"] != name:
                continue
            value = secret_value(secret, values, "the avatar stack")
            if not PLAIN.fullmatch(value):
                raise RefusedError(
                    "secret-unusable",
                    "the avatar stack needs %s from %s %s, which holds more than letters, digits and "
                    "_ . / : @ %% + = , ? [ ] -, which programs of the stack would misread"
                    % (secret["variable"], secret["kind"], secret["reference"]),
                )
            lines.append("%s=%s\n" % (secret["variable"], value))
        if lines:
            files["%s/secrets/%s.env" % (STACK, name)] = "".join(lines).encode()
    return files


def secrets_at(directory: str) -> Dict[str, bytes]:
    """The secret files of a release on the disk, by their path in it."""
    found = {}
    for node in names_in(directory):
        for name in names_in("%s/%s/secrets" % (directory, node)):
            path = "%s/secrets/%s" % (node, name)
            found[path] = read("%s/%s" % (directory, path)) or b""
    return found


def secrets_digest(directory: str) -> str:
    """The digest of a node's secrets, "-" without any. It never leaves the host."""
    content = read(directory + "/secrets/secrets.env")
    return "-" if content is None else hexdigest(content)


def variables_in(content: bytes, runtime: str) -> Dict[str, str]:
    """The variables of an environment file that fleetc wrote."""
    found = {}
    short = {"n": "\n", "r": "\r"} if runtime == "docker" else {}
    for match in re.finditer(r'^([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"$', content.decode(), re.M | re.S):
        found[match[1]] = re.sub(r"\\(.)", lambda found: short.get(found[1], found[1]), match[2], flags=re.S)
    return found


# --- what there is ----------------------------------------------------------------------------------


def is_old_layout() -> bool:
    """Whether the host was last changed by a fleetc whose link to the current release served all nodes at once."""
    return os.path.islink(CURRENT)


def unit_of(node: str) -> str:
    """The name of a node's unit, Compose project and container."""
    return "livepeer-" + node


def processes_of_units(nodes: Iterable[str]) -> Dict[str, Json]:
    """What systemd says of the units of nodes, by node: state, pid, and whether its own copy of the unit is stale."""
    nodes = list(nodes)
    if not nodes:
        return {}
    wanted = "--property=Id,ActiveState,MainPID,NRestarts,NeedDaemonReload,DropInPaths"
    done = run("systemctl", "show", wanted, *(unit_of(node) + ".service" for node in nodes))
    found = {}
    for block in done.out.split("\n\n"):
        facts = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        node = facts.get("Id", "")[len("livepeer-") : -len(".service")]
        if node:
            pid = int(facts.get("MainPID") or 0)
            stale = facts.get("NeedDaemonReload") == "yes"
            found[node] = {
                "running": facts.get("ActiveState") == "active" and pid > 0,
                "pid": pid,
                "restarts": int(facts.get("NRestarts") or 0),
                "stale": stale,
                "dropins": [path for path in facts.get("DropInPaths", "").split() if "/livepeer-" in path],
            }
    return found


def processes_of_containers(nodes: Iterable[str]) -> Optional[Dict[str, Json]]:
    """What Docker says of the containers of nodes, by node; None where it does not answer."""
    nodes = set(nodes)
    if not nodes:
        return {}
    listed = run("docker", "container", "ls", "--all", "--format", "{{.Names}}", "--filter", "name=^/?livepeer-")
    if listed.status:
        return None
    there = [name for name in listed.out.split() if name[len("livepeer-") :] in nodes]
    if not there:
        return {}
    done = run("docker", "container", "inspect", *there)
    found = {}
    try:
        for container in json.loads(done.out):
            state = container["State"]
            found[container["Name"].lstrip("/")[len("livepeer-") :]] = {
                "running": state["Status"] == "running" and state["Pid"] > 0,
                "pid": state["Pid"],
                "restarts": container["RestartCount"],
                "image": container["Image"],
            }
    except (ValueError, KeyError, TypeError):
        return None
    return found


def look() -> Json:
    """What the host runs: its release, and each node with what differs from what it was started from."""
    nodes = names_in(MARKERS)
    in_units = [node for node in nodes if runtime_here(node) == "systemd"]
    units = processes_of_units(in_units)
    containers = processes_of_containers(node for node in nodes if node not in in_units)
    processes = []
    for node in nodes:
        runtime = "systemd" if node in in_units else "docker"
        marker = (read("%s/%s" % (MARKERS, node)) or b"").decode(errors="replace").split()
        digest = marker[0] if len(marker) == 2 and re.fullmatch("[0-9a-f]{64}", marker[0]) else ""
        asked = units if runtime == "systemd" else containers
        facts = {} if asked is None else asked.get(node, {})
        running = None if asked is None else bool(facts.get("running"))
        drift = drift_of(node, runtime, marker, facts) if digest and running else []
        own = settings_of(service_in(release_at("%s/%s" % (CURRENT, node)), node)) if digest else {}
        process = {"node": node, "digest": digest, "runtime": runtime, "running": running, "drift": drift}
        processes.append({**process, **own, "exclusive": exclusive_of(node)})
    processes += look_at_stack()
    record = read_json(RECORD) or {}
    release = digest_in(str(record.get("release", "")))
    if is_old_layout():
        target = os.readlink(CURRENT)
        release = target[len("releases/") :] if target.startswith("releases/") else "not a link"
    return {
        "fleet": record.get("fleet", ""),
        "host": record.get("host", ""),
        "release": release,
        "processes": processes,
        "newest": (read(NEWEST_PLAN) or b"").decode(errors="replace").strip(),
        "switch": switch_for_people(),
        "quarantine": (read_json(QUARANTINE) or {}).get("why", ""),
    }


def exclusive_of(node: str) -> List[str]:
    """What a node does that only one process of the fleet may do, such as calling rewards for a wallet."""
    release = "" if is_old_layout() else release_at("%s/%s" % (CURRENT, node))
    return list((service_in(release, node) or {}).get("exclusive", []))


def drift_of(node: str, runtime: str, marker: List[str], facts: Json) -> List[str]:
    """How a running node differs from what it was started from, in words; nothing is unknown here but is left out."""
    if is_old_layout():
        return []
    release = release_at("%s/%s" % (CURRENT, node))
    if not release:
        return ["its link to a release is gone"]
    directory = "%s/%s/%s" % (RELEASES, release, node)
    if not os.path.isdir(directory):
        return ["its release was removed"]
    found = []
    if digest_of_files(directory) != marker[0]:
        found.append("files of its release were changed: %s" % (", ".join(changed_files(release, node)) or "a mode"))
    if secrets_digest(directory) != marker[1]:
        found.append("its secrets were changed on the host")
    service = service_in(release, node)
    if runtime == "systemd":
        name = unit_of(node) + ".service"
        if read("%s/%s" % (UNITS, name)) != read("%s/%s" % (directory, name)):
            found.append("its unit was changed")
        if facts.get("dropins"):
            found.append("its unit has additions: %s" % ", ".join(facts["dropins"]))
        if facts.get("stale"):
            found.append("systemd has not read its unit again")
    elif service is not None and service.get("image_id") and facts.get("image") != service["image_id"]:
        found.append("its container was made from another image")
    if service is not None:
        program = service.get("program") or {}
        if program.get("sha256") and not is_installed(program):
            found.append("its program was changed or removed on the host")
        found += drift_of_process(facts["pid"], service, directory, runtime)
    return found


def service_in(release: str, node: str) -> Optional[Json]:
    """What a release on the disk wants of a node; None where it knows nothing of it."""
    wanted = (read_json("%s/%s/.wanted.json" % (RELEASES, release)) if release else None) or {}
    return next((service for service in wanted.get("services", []) if service["name"] == node), None)


def changed_files(release: str, node: str) -> List[str]:
    """Names of a node's files that are not as they were when the release came here."""
    recorded = (read_json("%s/%s/.wanted.json" % (RELEASES, release)) or {}).get("files", {})
    there = {name: hexdigest(content) for name, _, content in files_of("%s/%s/%s" % (RELEASES, release, node))}
    before = {path[len(node) + 1 :]: digest for path, digest in recorded.items() if path.startswith(node + "/")}
    return sorted(name for name in {*there, *before} if there.get(name) != before.get(name))


def drift_of_process(pid: int, service: Json, directory: str, runtime: str) -> List[str]:
    """How the arguments and the environment of a process differ from those of its release."""
    arguments, environment = read("/proc/%d/cmdline" % pid), read("/proc/%d/environ" % pid)
    if not arguments or environment is None:
        return []  # it ended meanwhile: whether it runs is asked elsewhere
    found = []
    program = service.get("program") or {}
    if program.get("sha256") and not is_same_file("/proc/%d/exe" % pid, program_path(program)):
        found.append("its process runs another program")
    has_arguments = hexdigest(arguments.partition(b"\0")[2])
    if service.get("arguments") and service["arguments"] not in (has_arguments, set_since(service["name"], pid)):
        found.append("its process has other arguments")
    has = dict(entry.partition(b"=")[::2] for entry in environment.split(b"\0") if entry)
    wanted: Dict[str, str] = {}
    for name in ("node.env", "secrets/secrets.env"):
        wanted.update(variables_in(read("%s/%s" % (directory, name)) or b"", runtime))
    other = sorted(name for name, value in wanted.items() if has.get(name.encode()) != value.encode())
    if other:
        found.append("its process has another %s in its environment" % ", ".join(other))
    return found


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one file."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


# --- the steps from one state to another ------------------------------------------------------------
# fleetc calls this function too, to say in a plan what a rollout will do: it reads nothing but its arguments.


def steps(now: Optional[Json], wanted: Json) -> List[Json]:
    """What a rollout does on a host, in order: each step has do, node, digest and reason.

    `now` is what the host runs, None where nobody knows; `wanted` what it shall run, nodes in the order in which they
    start. Both have the digest of a release and processes: node, digest, runtime, and what is known of running,
    project, turn, secrets, drift, and of settings that can be changed live: rest, live and silent. `wanted` also says
    how such a change is made. `do` is copy, keep, ensure, retire, start, restart, live, or halt: nothing may be done.
    """
    units = [process for process in wanted["processes"] if is_of_stack(process)]
    nodes = [process for process in wanted["processes"] if not is_of_stack(process)]
    if now is None:
        return [
            step("ensure", "", wanted["release"]),
            *(step("ensure", p["node"], p["digest"]) for p in (*nodes, *units)),
        ]
    found = [step("keep" if now["release"] == wanted["release"] else "copy", "", wanted["release"])]
    there = [process for process in now["processes"] if not is_of_stack(process)]
    found += steps_to_retire(there, nodes)
    for process in nodes:
        same = (p for p in there if (p["node"], p["runtime"]) == (process["node"], process["runtime"]))
        found.append(step_to_start(process, next(same, None), wanted.get("live", "never")))
    return found + steps_of_stack([process for process in now["processes"] if is_of_stack(process)], units)


def step(do: str, node: str, digest: str, reason: str = "") -> Json:
    """One step."""
    return {"do": do, "node": node, "digest": digest, "reason": reason}


def steps_to_retire(there: List[Json], wanted: List[Json]) -> List[Json]:
    """Units first, then containers, each by name. What changes its runtime stops as the one and starts as the other."""
    runtimes = {process["node"]: process["runtime"] for process in wanted}
    found = []
    for runtime in ("systemd", "docker"):
        for process in there:
            name, kept = process["node"], runtimes.get(process["node"])
            if process["runtime"] == runtime and kept != runtime:
                reason = "moves from %s to %s" % (runtime, kept) if kept else "has no place here any more"
                found.append(step("retire", name, "", reason))
    return found


def step_to_start(wanted: Json, there: Optional[Json], live: str = "never") -> Json:
    """What it takes to run `wanted` where `there` is what the host has of it; `live` is try, only or never."""
    node, digest = wanted["node"], wanted["digest"]
    if there is None:
        return step("start", node, digest, "is new here")
    if there["running"] is False:
        return step("start", node, digest, "does not run")
    if not there["digest"]:
        return step("restart", node, digest, "its last start was not completed")
    if there["digest"] != digest:
        changed = None if live == "never" else changed_settings(wanted, there)
        if changed is None:
            return step("restart", node, digest, "its files change")
        hindrance = why_not_live(wanted, changed)
        if not hindrance:
            return step("live", node, digest, "takes %s while it runs" % (", ".join(changed) or "its new files"))
        if live == "only":
            return step("halt", node, "", "%s, and rollout.live is only" % hindrance)
        return step("restart", node, digest, "its files change, and %s" % hindrance)
    if there.get("drift"):
        return step("restart", node, digest, there["drift"][0])
    if there.get("other_secrets"):
        return step("restart", node, digest, "its secrets change")
    was, will = there.get("secrets"), wanted.get("secrets")
    if was is not None and will is not None and was != will:
        return step("ensure", node, digest, "its secrets are read elsewhere")
    return step("keep", node, digest)


def changed_settings(wanted: Json, there: Json) -> Optional[List[str]]:
    """The settings that a node takes while it runs, such as maxSessions=8, if nothing else changes; None otherwise.

    A setting that is there and not wanted any more cannot be taken back from a node that runs.
    """
    same = there.get("rest") and there["rest"] == wanted.get("rest")
    was, will = there.get("secrets"), wanted.get("secrets")
    elsewhere = was is not None and will is not None and was != will
    if not same or there.get("drift") or there.get("other_secrets") or elsewhere:
        return None
    had = dict(named(setting) for setting in (*there.get("live", ()), *there.get("silent", ())))
    gets = dict(named(setting) for setting in (*wanted.get("live", ()), *wanted.get("silent", ())))
    if not had.keys() <= gets.keys():
        return None
    return ["%s=%s" % (name, value) for name, value in gets.items() if had.get(name) != value]


def why_not_live(wanted: Json, changed: List[str]) -> str:
    """Why settings have to wait for a restart all the same; "" where they do not."""
    silent = [named(setting)[0] for setting in changed if setting in wanted.get("silent", ())]
    if silent:
        return "it does not say which %s it has" % " and ".join(silent)
    if wanted["runtime"] == "docker":
        return "Docker would start it again with the old values"
    return ""


def named(setting: str) -> Tuple[str, str]:
    """Name and value of a setting such as maxSessions=8; no value has such a sign in it."""
    name, _, value = setting.rpartition("=")
    return name, value


def settings_of(service: Optional[Json]) -> Json:
    """The settings of a node that can be changed live, and the digest of all that cannot, as far as they are known."""
    return {key: (service or {})[key] for key in ("rest", "live", "silent") if key in (service or {})}


FIREWALL, HOST, TURN, SLOT = (STACK + "/" + name for name in ("firewall", "host", "turn", "slot-"))


def is_of_stack(process: Json) -> bool:
    """Whether a process is a unit of an avatar stack."""
    return bool(process["node"].startswith(STACK + "/"))


def steps_of_stack(there: List[Json], wanted: List[Json]) -> List[Json]:
    """The steps for an avatar stack.

    Slots that are gone or moved stop first, so that their ports are free; then come the packet filter, the services of
    the host, and each slot by its number. A stack without slots is taken down whole.
    """
    has = {(process["node"], process.get("project", "")): process for process in there}
    kept = {(unit["node"], unit.get("project", "")) for unit in wanted}
    gone = [process for key, process in sorted(has.items()) if key not in kept]
    found = [
        step("retire", process["node"], "", why_slot_is_gone(process, wanted))
        for process in gone
        if process["node"].startswith(SLOT)
    ]
    firewall = [unit for unit in wanted if unit["node"] == FIREWALL]
    found += [step_of_unit(unit, has) for unit in firewall]
    for node in (TURN, HOST, FIREWALL):
        if any(process["node"] == node for process in gone):
            found.append(step("retire", node, "", "has no place here any more"))
    rest = [unit for unit in wanted if unit not in firewall]
    rest.sort(key=lambda unit: (unit["node"].startswith(SLOT), unit["node"]))
    return found + [step_of_unit(unit, has) for unit in rest]


def why_slot_is_gone(process: Json, wanted: List[Json]) -> str:
    """Where the project of a slot goes, or who gets its ports."""
    project = process.get("project", "")
    moved = [unit["node"] for unit in wanted if unit.get("project") == project]
    taken = [unit.get("project", "") for unit in wanted if unit["node"] == process["node"]]
    if moved:
        return "%s moves to %s" % (project, moved[0])
    return "%s gives way to %s" % (project, taken[0]) if taken else "%s has no place here any more" % project


def step_of_unit(unit: Json, has: Dict[Tuple[str, str], Json]) -> Json:
    """One unit, where `has` is what the host has. One that sleeps counts as running: it is left asleep."""
    there, host = has.get((unit["node"], unit.get("project", ""))), has.get((HOST, ""))
    if unit["node"] == TURN and there is None and host is not None and not host["digest"]:
        return step("restart", TURN, unit["digest"], "its last start was not completed")
    found = step_to_start(unit, there)
    if found["do"] in ("keep", "ensure") and there is not None and there.get("turn", "") != unit.get("turn", ""):
        reason = "the settings of TURN change, which signaling and recorder read"
        return step("restart", unit["node"], unit["digest"], reason)
    return found


# --- taking over hosts of the old layout ------------------------------------------------------------


def take_over_old_layout(owner: str) -> None:
    """Give each node a link of its own, and put what it runs from behind it. No process is touched; may be repeated."""
    if not is_old_layout():
        return
    old = os.readlink(CURRENT)[len("releases/") :]
    source, release = "%s/%s" % (RELEASES, old), old.partition(".")[0] + ".0"
    nodes = [name for name in names_in(source) if name != STACK]
    note("take-over", release=release)
    new = RELEASES + "/.new"
    remove(new)
    shutil.copytree(source, new)
    for node in nodes:
        content = read("%s/%s/secrets.env" % (SECRETS, node))
        if content is not None:
            os.mkdir("%s/%s/secrets" % (new, node), 0o700)
            write("%s/%s/secrets/secrets.env" % (new, node), content, 0o600)
    services = [
        {"name": node, "unit": unit_of(node), "digest": digest_of_files("%s/%s" % (new, node)), "secrets": []}
        for node in nodes
    ]
    runtime = "docker" if any(os.path.exists("%s/%s/compose.yaml" % (new, node)) for node in nodes) else "systemd"
    stack = take_over_stack("%s/%s" % (new, STACK))
    before = {"services": services, "stack": stack, "leaves_stack": stack is None and bool(names_in(STACK_MARKERS))}
    write_json(new + "/.wanted.json", {**before, "runtime": runtime, "digest": old})
    finish_release(new, release)
    remove(CURRENT + ".new")
    os.makedirs(CURRENT + ".new")
    for node in names_in("%s/%s" % (RELEASES, release)):
        os.symlink("../releases/%s/%s" % (release, node), "%s.new/%s" % (CURRENT, node))
    os.unlink(CURRENT)
    os.rename(CURRENT + ".new", CURRENT)
    sync_directory(ROOT)
    for node in nodes:
        link_secrets(node)
        if runtime == "systemd" and os.path.exists("%s/%s.service" % (UNITS, unit_of(node))):
            link_unit(node)
    run("systemctl", "daemon-reload")
    record = read_json(RECORD) or {}
    write_json(RECORD, {**record, "release": release, "confirmed": release})


def finish_release(new: str, release: str) -> None:
    """Bring a complete release to the disk and give it its name."""
    os.chmod(new, 0o755)
    must(run("sync", "--file-system", new), "the release cannot be brought to the disk")
    remove("%s/%s" % (RELEASES, release))
    os.rename(new, "%s/%s" % (RELEASES, release))
    sync_directory(RELEASES)


def link_secrets(node: str) -> None:
    """Make the place where a node reads its secrets lead through its link; nothing is there for one without any."""
    path = "%s/%s" % (SECRETS, node)
    if os.path.isdir(path) and not os.path.islink(path):
        os.rename(path, "%s/.old-%s" % (SECRETS, node))
    if os.path.isdir("%s/%s/secrets" % (CURRENT, node)):
        os.makedirs(SECRETS, mode=0o700, exist_ok=True)
        link("%s/%s/secrets" % (CURRENT, node), path)
    else:
        remove(path)
    remove("%s/.old-%s" % (SECRETS, node))


def link_unit(node: str) -> None:
    """Make systemd read a node's unit through its link, now and at boot, and put additions to it aside."""
    name = unit_of(node) + ".service"
    for place in (UNITS, "/run/systemd/system"):
        additions = "%s/%s.d" % (place, name)
        if os.path.lexists(additions):
            aside = "%s/set-aside/%s.d-%d" % (STATE, name, time.time_ns())
            os.makedirs(os.path.dirname(aside), mode=0o700, exist_ok=True)
            shutil.move(additions, aside)
            note("set-aside", path=additions, to=aside)
    link("%s/%s/%s" % (CURRENT, node, name), "%s/%s" % (UNITS, name))
    link("../" + name, "%s/multi-user.target.wants/%s" % (UNITS, name))


# --- bringing nodes to a release --------------------------------------------------------------------


def stop(node: str, runtime: str) -> None:
    """Stop a node, so that nobody starts it again before its link has moved: no unit runs, no container is left."""
    if runtime == "systemd":
        done = run("systemctl", "stop", unit_of(node) + ".service", seconds=150)
        if done.status and "not loaded" not in done.err:
            raise RefusedError("step-failed", "%s does not stop: %s" % (node, done.words))
        return
    for words in (("stop", "--time", "60", unit_of(node)), ("rm", "--force", unit_of(node))):
        done = run("docker", "container", *words, seconds=150)
        if done.status and "No such" not in done.err:
            raise RefusedError("step-failed", "%s does not stop: %s" % (node, done.words))


def retire(node: str, runtime: str) -> None:
    """Stop a node and remove what would start it. Its data stays."""
    stop(node, runtime)
    if runtime == "systemd":
        name = unit_of(node) + ".service"
        remove("%s/multi-user.target.wants/%s" % (UNITS, name))
        remove("%s/%s" % (UNITS, name))
        run("systemctl", "daemon-reload")
        run("systemctl", "reset-failed", name)
    for place in (MARKERS, LIVE, CURRENT, SECRETS):
        remove("%s/%s" % (place, node))
    for place in (UNITS, UNITS + "/multi-user.target.wants", MARKERS, CURRENT):  # it must not come back by a power cut
        if os.path.isdir(place):
            sync_directory(place)


def start(service: Json, runtime: str) -> None:
    """Start a node from the release that its link leads to."""
    node = service["name"]
    if runtime == "systemd":
        done = run("systemctl", "start", unit_of(node) + ".service", seconds=150)
    else:
        if service.get("image_id"):  # a tag may have moved since this release ran
            run("docker", "image", "tag", service["image_id"], service["image"])
        compose = "%s/%s/compose.yaml" % (CURRENT, node)
        words = ("up", "--detach", "--force-recreate", "--remove-orphans", "--quiet-pull")
        done = run("docker", "compose", "--project-name", unit_of(node), "--file", compose, *words, seconds=600)
    if done.status:
        raise RefusedError("step-failed", "%s does not start: %s" % (node, done.words))


def bring(release: str, wanted: Json, told: Callable[[str, str], None]) -> None:
    """Bring all nodes and the avatar stack of the host to a release on the disk. `told` hears of each step before it.

    Only what differs is stopped and started; all links lead to the release afterwards. May be repeated. What nodes can
    take while they run is set before anything stops: a node that refuses it may end the switch. Until its link has
    moved, its marker says that it is being started, so whoever finds a switch that broke off restarts it.
    """
    runtime = wanted["runtime"]
    if runtime == "systemd":  # a unit that only has to be read again is no reason to restart its node
        run("systemctl", "daemon-reload")
    services = {service["name"]: service for service in wanted["services"]}
    plan = [one for one in steps(look_with_secrets(release), wanted_state(wanted)) if not is_of_stack(one)]
    for one in plan:
        if one["do"] == "halt":
            raise RefusedError("live-impossible", "%s: %s" % (one["node"], one["reason"]))
    alive = set_live([services[one["node"]] for one in plan if one["do"] == "live"], wanted, told)
    begun = [one["node"] for one in plan if one["do"] in ("start", "restart", "live") and one["node"] not in alive]
    for one in plan:
        if one["do"] == "retire":
            told("retire", one["node"])
            retire(one["node"], runtime_here(one["node"]))
    for node in begun:
        told("stop", node)
        begin_start(node, runtime)
        stop(node, runtime)
    told("move", "")
    for name in names_in(CURRENT):
        if name not in services and name != STACK:  # the stack moves its own link, once it has left what is gone
            remove("%s/%s" % (CURRENT, name))
    for node in services:
        link("../releases/%s/%s" % (release, node), "%s/%s" % (CURRENT, node))
        link_secrets(node)
        if runtime == "systemd":
            link_unit(node)
    if runtime == "systemd" and services:
        must(run("systemctl", "daemon-reload"), "systemd does not read its units")
    write_json(RECORD, {**(read_json(RECORD) or {}), "release": release})
    begun += keep_live([services[node] for node in services if node in alive], alive, wanted, told)
    for node in begun:
        told("start", node)
        start(services[node], runtime)
    for node in {**dict.fromkeys(begun), **alive}:
        marker = "%s %s" % (services[node]["digest"], secrets_digest("%s/%s" % (CURRENT, node)))
        write("%s/%s" % (MARKERS, node), marker.encode(), 0o600)
    if not wanted.get("leaves_stack"):
        bring_stack(release, wanted.get("stack"), told)
    elif os.path.isdir("%s/%s/%s" % (RELEASES, release, STACK)):
        link("../releases/%s/%s" % (release, STACK), STACK_FILES)


def begin_start(node: str, runtime: str) -> None:
    """Write down that a node is being started: until that is over, nobody knows what it was started from."""
    os.makedirs(MARKERS, exist_ok=True)
    write("%s/%s" % (MARKERS, node), b"starting " + runtime.encode(), 0o600)


def look_with_secrets(release: str) -> Json:
    """What the host runs, and which of it was started with other secrets than a release on the disk holds."""
    return with_other_secrets(look(), secrets_at("%s/%s" % (RELEASES, release)) if release else {})


def with_other_secrets(now: Json, files: Dict[str, bytes]) -> Json:
    """A state in which each process says whether these secrets, by their path in a release, are not those it has."""
    for process in now["processes"]:
        node = process["node"]
        if is_of_stack(process):
            there = {name: hexdigest(files.get("%s/secrets/%s.env" % (STACK, name), b"")) for name in ("host", "turn")}
            process["other_secrets"] = any(there[name] != had for name, had in secrets_it_had(process).items())
            continue
        marker = (read("%s/%s" % (MARKERS, node)) or b"").decode(errors="replace").split()
        content = files.get("%s/secrets/secrets.env" % node)
        will = "-" if content is None else hexdigest(content)
        process["other_secrets"] = bool(process["digest"]) and marker[1:] != [will]
    return now


def runtime_here(node: str) -> str:
    """How a node runs here now: whatever has a unit, or was about to get one, has no container."""
    begun = (read("%s/%s" % (MARKERS, node)) or b"").decode(errors="replace").split()
    has_unit = os.path.lexists("%s/%s.service" % (UNITS, unit_of(node)))
    return "systemd" if has_unit or begun == ["starting", "systemd"] else "docker"


def wanted_state(wanted: Json) -> Json:
    """What a release wants, in the form in which a state of a host is told."""
    processes = [
        {"node": service["name"], "digest": service["digest"], "runtime": wanted["runtime"], **settings_of(service)}
        for service in wanted["services"]
    ]
    live = wanted.get("live", "never")
    return {"release": wanted["digest"], "live": live, "processes": processes + units_of(wanted.get("stack"))}


# --- settings that nodes take while they run --------------------------------------------------------
# A node is asked to take them, and asked what it has then. They are in the files of the new release too, so a restart
# changes nothing. Until then the arguments of its process are those of an older release. A record says of which process
# that is true, and which arguments it is as good as. Any other process is judged by its own.


ASKED = 5
"""How often a node is asked again for a setting that it was just given."""


def set_live(services: List[Json], wanted: Json, told: Callable[[str, str], None]) -> Dict[str, str]:
    """Set what nodes can take while they run; the process of each that took all of it, by node.

    Raises where a node does not take it and must not be restarted: all keep what they had then, if they can.
    """
    taken: Dict[str, str] = {}
    before = {service["name"]: before_live(service["name"]) for service in services}
    for service in services:
        node = service["name"]
        told("live", node)
        process = before[node]["process"]
        begin_start(node, wanted["runtime"])
        gets = [setting for setting in service["live"] if setting not in before[node]["live"]]
        refusal = take(service, gets, wanted["setters"])
        refusal = refusal or ("" if process_now(node) == process else "it was restarted meanwhile")
        if process and not refusal:
            taken[node] = process
            continue
        note("not-live", node=node, why=refusal)
        if wanted["live"] == "only":
            for other in services[: services.index(service) + 1]:
                give_back(other, before[other["name"]], wanted["setters"])
            raise RefusedError("live-refused", "%s: %s" % (node, refusal))
    return taken


def before_live(node: str) -> Json:
    """What is known of a node before it takes settings: its process, its marker, and the settings of its release."""
    release = release_at("%s/%s" % (CURRENT, node))
    marker = (read("%s/%s" % (MARKERS, node)) or b"").decode(errors="replace")
    return {"process": process_now(node), "marker": marker, "live": (service_in(release, node) or {}).get("live", [])}


def give_back(service: Json, before: Json, setters: Json) -> None:
    """Have a node take back what it had before it took settings. One that does not is restarted on the way back."""
    names = [named(setting)[0] for setting in service["live"] if setting not in before["live"]]
    had = [setting for setting in before["live"] if named(setting)[0] in names]
    if len(had) < len(names) or process_now(service["name"]) != before["process"]:
        return
    if all(not other_value(service, one, setters) or not take(service, [one], setters) for one in had):
        write("%s/%s" % (MARKERS, service["name"]), before["marker"].encode(), 0o600)


def keep_live(services: List[Json], alive: Dict[str, str], wanted: Json, told: Callable[[str, str], None]) -> List[str]:
    """Write down of which processes the arguments are as good as those of their release, now that their links moved.

    What was restarted before its link moved, or ended meanwhile, is stopped: those nodes are to be started.
    """
    again = []
    for service in services:
        node = service["name"]
        process = process_now(node)
        if process == alive[node]:
            write_json("%s/%s" % (LIVE, node), {"process": process, "arguments": service["arguments"]})
            continue
        if process and arguments_now(process) == service["arguments"]:
            continue  # its unit was started anew, from the release that its link leads to now
        if wanted["live"] == "only":
            raise RefusedError("live-refused", "%s: it was restarted meanwhile" % node)
        told("stop", node)
        stop(node, wanted["runtime"])
        again.append(node)
    for node in again:
        del alive[node]
    return again


def process_now(node: str) -> str:
    """The process of a node's unit: boot, pid and when it began, so that no other process is ever the same; or ""."""
    pid = processes_of_units([node]).get(node, {}).get("pid", 0)
    return process_of(pid) if pid else ""


def process_of(pid: int) -> str:
    """Boot, pid and the kernel's time at which a process began; "" where there is none."""
    facts = (read("/proc/%d/stat" % pid) or b"").decode(errors="replace").rpartition(")")[2].split()
    return "%s %d %s" % (boot_id(), pid, facts[19]) if len(facts) > 19 else ""


def arguments_now(process: str) -> str:
    """The digest of the arguments of a process."""
    words = read("/proc/%s/cmdline" % process.split()[1]) or b""
    return hexdigest(words.partition(b"\0")[2])


def set_since(node: str, pid: int) -> str:
    """The digest of the arguments that a process is as good as since it took settings live; "" where it took none."""
    record = read_json("%s/%s" % (LIVE, node)) or {}
    return str(record.get("arguments", "")) if record and record.get("process") == process_of(pid) else ""


def take(service: Json, settings: List[str], setters: Json) -> str:
    """Have a node take settings, and ask it for each; "" once it says all of them, else why it does not have them."""
    for setting in settings:
        name, value = named(setting)
        flag, _, who = name.partition(" ")
        if flag not in setters:
            return "nobody knows how it takes %s" % flag
        setter = setters[flag]
        fields = {key: text.replace("{}", who) for key, text in setter["fixed"].items()}
        status, _ = ask(status_of(service), setter["set"], {setter["parameter"]: value or "0", **fields})
        if status != 200:
            return "it answers %s to %s" % (status or "nothing", setter["set"])
        problem = other_value(service, setting, setters)
        for _ in range(ASKED):
            if not problem:
                break
            time.sleep(0.2)  # a node counts its metrics in the background
            problem = other_value(service, setting, setters)
        if problem:
            return problem
    return ""


def other_value(service: Json, setting: str, setters: Json) -> str:
    """What a node says instead of a setting; "" where it says exactly that."""
    name, value = named(setting)
    flag, _, who = name.partition(" ")
    path, *keys = [text.replace("{}", who) for text in setters[flag]["read"]]
    status, body = ask(status_of(service), path)
    if status != 200:
        return "it answers %s to %s" % (status or "nothing", path)
    said = said_in(body.decode(errors="replace"), path, keys)
    if said == value or same_number(said, value):
        return ""
    return "it says that %s is %s instead of %s" % (name, said[:40] or "nothing", value or "nothing")


def status_of(service: Json) -> str:
    """Where a node takes settings and says what it has, such as http://127.0.0.1:7935."""
    return str((service.get("health") or {}).get("status", ""))


def said_in(text: str, path: str, keys: List[str]) -> str:
    """The value that an answer has below some keys, "" for none: plain text, a metric, or a value of JSON."""
    if not keys:
        return text.strip()
    if path == "/metrics":
        found = re.search(r"(?m)^%s(?:\{.*\})? (\S+)$" % re.escape(keys[0]), text)
        return found[1] if found else "no metric"
    try:
        value = json.loads(text)
        for key in keys:
            value = value[key]
    except (ValueError, KeyError, TypeError):
        return "no answer"
    return "" if value is None else str(value)


# --- the avatar stack -------------------------------------------------------------------------------
# A stack is a packet filter, the Compose project of the host's own services, and one Compose project for each slot. A
# marker says what each was started from, in digests:
#
#     firewall          the rules
#     host              host.env, its secrets, turn.env, its secrets
#     slot-NN.PROJECT   the slot's environment, its Compose file, the secrets of host.env, turn.env, its secrets
#
# While something is being started, its marker says so instead. A digest of secrets never leaves the host. One more
# marker, reserved, has the ports that are kept free for TURN.

STACK_MARKERS = STATE + "/" + STACK
STACK_FILES = CURRENT + "/" + STACK
NFT = "/usr/sbin/nft"
TABLE = "fleetc_avatar"
FIREWALL_UNIT = "fleetc-avatar-firewall.service"
PROFILE = "/etc/profile.d/fleetc-avatar.sh"
SYSCTL = "/etc/sysctl.d/60-fleetc-avatar.conf"
RESERVED = "/proc/sys/net/ipv4/ip_local_reserved_ports"
POWER = "/var/lib/vtuber/power-state"

HOST_PROJECT = "vtuber-host"
"""The Compose project of the host's own services, TURN among them."""

HOST_FILE = "docker-compose.unreal.yml"
SLOT_FILE = "docker-compose.unreal.instance.yml"
HOST_COMPOSE = "host.compose.yaml"
NETWORK = "vtuber_network"
TURN_SERVICE = "turn-server"
ROTATOR = "orchestrator-edge-rotator"

HOST_SERVICES = (TURN_SERVICE, "orchestrator-health", ROTATOR, "vtuber-auto-updater", "orchestrator-registration")
"""Every service that a stack may have once on a host: those of them that it does not have are removed."""

AWAKE = ("orchestrator-health", ROTATOR)
"""Those that run while the host sleeps: they wake it."""

READS_TURN = ("unreal-signaling", "recorder-control")
"""The services of a slot that read the settings of TURN."""

COMPOSE_WITH_TAGS = (2, 24, 4)
"""The first release of Compose that reads !override and !reset."""

STARTING, SLEEPING = "starting", "asleep"
"""What a marker says while a part is being started, and that its project slept when that began."""

PULLING_SECONDS = 3600
"""What starting a project may take: images of the game are large."""

FIREWALL_UNIT_TEXT = (
    """# Written by fleetc: change the spec, not this file.
[Unit]
Description=Who reaches the ports of the avatar slots of this host
DefaultDependencies=no
Wants=network-pre.target
After=local-fs.target
Before=network-pre.target docker.service shutdown.target
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=%s --file /opt/fleetc/current/avatar/nftables.conf

[Install]
WantedBy=multi-user.target
"""
    % NFT
)


# What there is, and what is wanted.


def marker_of(name: str) -> str:
    """What a part of the stack was started from; "" where nobody knows."""
    return (read("%s/%s" % (STACK_MARKERS, name)) or b"").decode(errors="replace")


def mark(name: str, text: str) -> None:
    """Write down what a part of the stack was started from, or that it is being started."""
    write("%s/%s" % (STACK_MARKERS, name), text.encode())


def digests_in(name: str, count: int) -> List[str]:
    """The digests of a marker whose start was completed; else as many empty ones."""
    words = marker_of(name).split()
    whole = len(words) == count and all(re.fullmatch("[0-9a-f]{64}", word) for word in words)
    return words if whole else [""] * count


def markers_of(stack: Json, host_secrets: bytes, turn_secrets: bytes) -> Dict[str, str]:
    """The markers of a stack that was started whole with these secret lines, by name."""
    digests = stack["digests"]
    of_host, turn = hexdigest(host_secrets), "%s %s" % (digests["turn"], hexdigest(turn_secrets))
    found = {"firewall": digests["firewall"], "host": "%s %s %s" % (digests["host"], of_host, turn)}
    for slot in stack["slots"]:
        own = (slot["environment"], slot["arguments"], of_host, turn)
        found["%s.%s" % (slot["name"], slot["project"])] = " ".join(own)
    return found


def unit_of_stack(node: str, digest: str, project: str = "", turn: str = "") -> Json:
    """One unit of a stack, as a process of a state."""
    runtime = "systemd" if node == FIREWALL else "docker"
    return {"node": node, "digest": digest, "runtime": runtime, "project": project, "turn": turn}


def units_of_host(host: str, turn: str) -> List[Json]:
    """The services of the host, and TURN where there is one. A start that was not completed is of the host alone."""
    found = [unit_of_stack(HOST, host)]
    return [*found, unit_of_stack(TURN, turn)] if has_turn(turn) else found


def has_turn(digest: str) -> bool:
    """Whether there is a TURN server, by the digest of turn.env: without one, that file is empty."""
    return digest not in ("", hexdigest(b""))


def unit_of_slot(name: str, project: str, own: Iterable[str], turn: str) -> Json:
    """A slot, such as slot-00; `own` are the digests of its environment and its Compose file."""
    digests = list(own)
    digest = hexdigest(" ".join(digests).encode()) if all(digests) else ""
    return unit_of_stack("%s/%s" % (STACK, name), digest, project, turn)


def units_of(stack: Optional[Json]) -> List[Json]:
    """The units that a stack wants; none without a stack."""
    if not stack:
        return []
    digests = stack["digests"]
    found = [unit_of_stack(FIREWALL, digests["firewall"]), *units_of_host(digests["host"], digests["turn"])]
    for slot in stack["slots"]:
        own = (slot["environment"], slot["arguments"])
        found.append(unit_of_slot(slot["name"], slot["project"], own, digests["turn"]))
    return found


def look_at_stack() -> List[Json]:
    """The units that this host has, by their markers, and whether each runs; None of `running` means nobody knows.

    One that sleeps counts as running: it has containers.
    """
    names = names_in(STACK_MARKERS)
    if not names:
        return []  # asking for tables would load the packet filter into a kernel that has none yet
    projects: Optional[List[str]] = None
    with contextlib.suppress(RefusedError):
        projects = [one["project"] for one in containers_of()]
    tables = run(NFT, "list", "tables")
    found: List[Json] = []
    for name in names:
        if name == "firewall":
            runs = "table inet " + TABLE in tables.out.splitlines() if tables.status == 0 else None
            found.append({**unit_of_stack(FIREWALL, digests_in(name, 1)[0]), "running": runs})
        elif name == "host":
            host, _, turn, _ = digests_in(name, 4)
            runs = None if projects is None else HOST_PROJECT in projects
            found += [{**unit, "running": runs} for unit in units_of_host(host, turn)]
        elif name.startswith("slot-"):
            slot, _, project = name.partition(".")
            environment, arguments, _, turn, _ = digests_in(name, 5)
            runs = None if projects is None else project in projects
            found.append({**unit_of_slot(slot, project, (environment, arguments), turn), "running": runs})
    drift = drift_of_stack()
    return [{**unit, "drift": drift.get(unit["node"], []) if unit["digest"] else []} for unit in found]


def drift_of_stack() -> Dict[str, List[str]]:
    """How a host differs from what its stack was brought to, in words by unit. Another bring puts it right."""
    release = "" if is_old_layout() else release_at(STACK_FILES)
    wanted = (read_json("%s/%s/.wanted.json" % (RELEASES, release)) if release else None) or {}
    stack = wanted.get("stack")
    if not stack:
        return {}
    of_host = []
    changed = changed_files(release, STACK) if wanted.get("files") else []
    if changed:
        of_host.append("files of its release were changed: %s" % ", ".join(changed))
    for name in (".env", ".env.turn"):
        if not os.path.lexists("%s/%s" % (stack["checkout"], name)):
            of_host.append("%s of the checkout is gone" % name)
    if stack.get("commit") and is_managed(stack) and commit_of(stack, "HEAD") != stack["commit"]:
        of_host.append("its checkout is not at %s" % (stack.get("ref") or stack["commit"][:12]))
    if read(PROFILE) != read(STACK_FILES + "/profile.sh"):
        of_host.append("%s was changed" % PROFILE)
    return {HOST: of_host, FIREWALL: [] if firewall_stays() else ["its unit was changed"]}


def containers_of(project: str = "") -> List[Json]:
    """The containers that Compose made for all projects, or for one: name, project, service, state, and so on.

    Those of a command that somebody ran once are left out. Raises where Docker does not answer.
    """
    chosen = "label=com.docker.compose.project" + ("=" + project if project else "")
    what = "Docker does not say which containers there are"
    listed = must(run("docker", "container", "ls", "--all", "--quiet", "--filter", chosen), what).out.split()
    if not listed:
        return []
    done = run("docker", "container", "inspect", *listed)  # one that went away meanwhile is no failure
    found = []
    try:
        for one in json.loads(done.out):
            labels, state = one["Config"]["Labels"], one["State"]
            if labels.get("com.docker.compose.oneoff") == "True":
                continue
            facts = {"project": labels["com.docker.compose.project"], "service": labels["com.docker.compose.service"]}
            facts.update(name=one["Name"].lstrip("/"), state=state["Status"], code=state["ExitCode"], pid=state["Pid"])
            found.append({**facts, "running": state["Status"] == "running", "restarts": one["RestartCount"]})
    except (ValueError, KeyError, TypeError):
        raise RefusedError("step-failed", "%s: %s" % (what, done.words)) from None
    return found


def is_asleep(containers: List[Json]) -> bool:
    """Whether a project was put to sleep: it has containers, and none of them runs."""
    return bool(containers) and not any(one["state"] in ("running", "restarting") for one in containers)


def host_sleeps() -> bool:
    """Whether the host was put to sleep, as the service says that does it."""
    return bool((read_json(POWER + "/power_state.json") or {}).get("state") == "sleeping")


def secrets_it_had(process: Json) -> Dict[str, str]:
    """The digests of secret files that a unit was started with, by the name of the file; none if that is not known."""
    node = process["node"]
    if not process["digest"] or node == FIREWALL:
        return {}
    if node.startswith(SLOT):
        _, _, host, _, turn = digests_in("%s.%s" % (node[len(STACK) + 1 :], process["project"]), 5)
        return {"host": host, "turn": turn}
    _, host, _, turn = digests_in("host", 4)
    return {"host": host} if node == HOST else {"turn": turn}


# What a host needs before anything changes.


def need_stack(wanted: Json, directory: str = "") -> None:
    """Refuse a host that lacks what its avatar stack needs. Changes nothing.

    `directory` has the files of the stack once they are on the disk: only they say which Compose can read them.
    """
    stack = wanted.get("stack")
    if not stack:
        return
    need_checkout(stack, wanted["host"])
    need_nftables(wanted["host"])
    need_docker(stack, wanted["host"], directory)
    for name in (HOST_FILE, SLOT_FILE):
        need_brand(stack, wanted["host"], name)


def need_nftables(host: str) -> None:
    """Refuse a host without the program that loads the rules of the packet filter."""
    if not os.path.exists(NFT):
        message = "%s has no %s, which guards the ports of the slots: install nftables" % (host, NFT)
        raise RefusedError("stack-nftables-missing", message)


def need_checkout(stack: Json, host: str) -> None:
    """Refuse a host without the checkout of the stack, or without the settings files of the game in it."""
    checkout = stack["checkout"]
    need_source(stack, host)
    missing = [name for name in (HOST_FILE, SLOT_FILE) if not in_checkout(stack, name)]
    if missing:
        message = (
            "%s has no checkout of the avatar stack at %s: %s %s not there. "
            "Clone it there, or name its directory as project_dir in the spec"
        )
        are = "is" if len(missing) == 1 else "are"
        raise RefusedError("stack-checkout-missing", message % (host, checkout, " and ".join(missing), are))
    # Docker makes a directory of a file that is to be mounted and does not exist; the game starts without its settings.
    missing = ["%s/%s" % (checkout, name) for name in stack["checkout_files"] if not in_checkout(stack, name)]
    if missing:
        message = (
            "%s has no %s, which game_files of the spec names: take a file that the checkout has, or leave the key out"
        )
        raise RefusedError("stack-game-files-missing", message % (host, " and no ".join(missing)))


def need_docker(stack: Json, host: str, directory: str) -> None:
    """Refuse a host without an engine that answers, without Compose, or with one too old for the files of slots."""
    engine = run("docker", "version", "--format", "{{ .Server.Version }}")
    if engine.status:
        message = (
            "%s has no Docker engine that answers, and the avatar stack runs in its containers: "
            "install Docker Engine with its Compose plugin and start it. docker said: %s"
        )
        raise RefusedError("stack-docker-missing", message % (host, engine.err.strip() or "nothing"))
    compose = run("docker", "compose", "version", "--short")
    if compose.status:
        message = (
            "%s has Docker without its Compose plugin, which starts the avatar stack: "
            "install the package docker-compose-plugin"
        )
        raise RefusedError("stack-compose-missing", message % host)
    # Such tags stand only in the files of slots without command port and of those beyond the public design. A Compose
    # that somebody built himself has no number.
    number = re.search(r"[0-9]+([.][0-9]+)*", compose.out)
    if number is None or not directory or tuple(map(int, number[0].split("."))) >= COMPOSE_WITH_TAGS:
        return
    names = [slot["name"] for slot in stack["slots"]]
    texts = [(name, read("%s/slots/%s.compose.yaml" % (directory, name)) or b"") for name in names]
    tagged = [name for name, text in texts if re.search(b": !(override|reset)", text)]
    if tagged:
        message = (
            "%s has Docker Compose %s, and %s %s 2.24.4 or newer to change what the checkout publishes: "
            "update the package docker-compose-plugin"
        )
        need = "needs" if len(tagged) == 1 else "need"
        raise RefusedError("stack-compose-old", message % (host, number[0], ", ".join(tagged), need))


def need_brand(stack: Json, host: str, name: str) -> None:
    """Refuse a checkout of another brand: a name that no file reads is no error to Compose."""
    tag, path = stack["prefix"] + "_SERVICE_IMAGE_TAG", "%s/%s" % (stack["checkout"], name)
    text = content_in_checkout(stack, name)
    names = re.findall("[A-Z]+_SERVICE_IMAGE_TAG", (text or b"").decode(errors="replace"))
    if tag in names or text is None:  # a release that is still to be fetched is looked at then
        return
    advice = "Set brand to that of this checkout in the spec"
    if names:
        advice = "It reads %s: set brand to %s in the spec" % (names[0], names[0].split("_")[0].lower())
    message = "%s on %s does not read %s, so its services would run latest whatever the spec says. %s"
    raise RefusedError("stack-brand-differs", message % (path, host, tag, advice))


# Its checkout, where that is one of git and the spec names a release: a copy without .git is left as it is.
#
# The stack can be asked to do the same by itself (/ops/upgrade), but that also writes the image tag into .env, which
# belongs to a rollout, and it takes a service that does not run before the first one. So git is asked, as the owner of
# the checkout, whose hooks are not run.

FETCH_SOURCE_SECONDS = 600


def is_managed(stack: Json) -> bool:
    """Whether a rollout brings the checkout to a release."""
    return bool(stack.get("ref") or stack.get("commit")) and os.path.lexists(stack["checkout"] + "/.git")


def git(stack: Json, *words: str, seconds: float = 60) -> Done:
    """Run git in the checkout as its owner, asking nobody for a password."""
    facts = os.stat(stack["checkout"])
    try:
        home = pwd.getpwuid(facts.st_uid).pw_dir
    except KeyError:
        home = "/nonexistent"
    settings = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false")
    environment = {"HOME": home, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    ids = Ids(facts.st_uid, facts.st_gid)
    return run("git", "-C", stack["checkout"], *settings, *words, seconds=seconds, environment=environment, ids=ids)


def commit_of(stack: Json, name: str) -> str:
    """The commit that a name means in the checkout; "" where it means none there."""
    done = git(stack, "rev-parse", "--verify", "--quiet", name + "^{commit}")
    return done.out.strip() if done.status == 0 else ""


def commit_wanted(stack: Json) -> str:
    """The commit of the release that a stack wants; "" where the checkout does not have it yet."""
    if stack.get("commit"):
        return str(stack["commit"])
    ref = stack["ref"]
    tagged = commit_of(stack, "refs/tags/" + ref)
    return tagged or (commit_of(stack, ref) if re.fullmatch("[0-9a-f]{7,40}", ref) else "")


def in_checkout(stack: Json, name: str) -> bool:
    """Whether a file is in the checkout, once that is at its release; of one that is not here yet, nobody knows."""
    path = "%s/%s" % (stack["checkout"], name)
    commit = commit_wanted(stack) if is_managed(stack) else ""
    if commit:
        return os.path.isfile(path) or git(stack, "cat-file", "-e", "%s:%s" % (commit, name)).status == 0
    return is_managed(stack) or os.path.isfile(path)


def content_in_checkout(stack: Json, name: str) -> Optional[bytes]:
    """A file of the checkout, once that is at its release; None where that is not here yet."""
    if not is_managed(stack):
        return read("%s/%s" % (stack["checkout"], name)) or b""
    commit = commit_wanted(stack)
    return git(stack, "show", "%s:%s" % (commit, name)).out.encode() if commit else None


def need_source(stack: Json, host: str) -> None:
    """Refuse a checkout that cannot be moved to the release. Changes nothing."""
    if not is_managed(stack):
        return
    checkout, head = stack["checkout"], git(stack, "rev-parse", "--verify", "HEAD")
    if head.status:
        message = "git does not read the checkout %s on %s, which avatar_release brings to %s: %s"
        raise RefusedError("stack-checkout-unreadable", message % (checkout, host, stack["ref"], head.words))
    if head.out.strip() == commit_wanted(stack):
        return
    changed = git(stack, "status", "--porcelain", "--untracked-files=no").out.splitlines()
    if changed:
        names = ", ".join(sorted(line[3:] for line in changed)[:5])
        message = "the checkout %s on %s has changes of its own (%s), and would be brought to %s: undo them there"
        raise RefusedError("stack-checkout-changed", message % (checkout, host, names, stack["ref"]))


def fetch_source(stack: Optional[Json], host: str) -> None:
    """Have the commits of the release in the checkout, and write down which one it is. No file of it changes."""
    if not stack or not is_managed(stack):
        return
    need_source(stack, host)
    if not commit_wanted(stack):
        done = git(stack, "fetch", "--quiet", "--tags", "origin", seconds=FETCH_SOURCE_SECONDS)
        if not commit_wanted(stack):
            reason = masked(done.words, ()) if done.status else "it has no such tag"
            message = "the checkout %s on %s cannot be brought to %s from its remote origin: %s"
            raise RefusedError("stack-release-unknown", message % (stack["checkout"], host, stack["ref"], reason))
    stack["commit"] = commit_wanted(stack)
    remember_source(stack)


def remember_source(stack: Json) -> None:
    """Have the release that runs name the commit of its checkout if it does not: the way back leads there."""
    path = "%s/%s/.wanted.json" % (RELEASES, (read_json(RECORD) or {}).get("release", ""))
    before = read_json(path) or {}
    had = before.get("stack")
    if had and not had.get("commit") and had["checkout"] == stack["checkout"]:
        had["commit"] = commit_of(stack, "HEAD")
        write_json(path, before)


def add_source_drift(now: Json, stack: Optional[Json]) -> None:
    """Say of the host's own services if the checkout is not at the release that is wanted: it moves with them."""
    if not stack or not is_managed(stack) or not os.path.isdir(stack["checkout"]):
        return
    head = commit_of(stack, "HEAD")
    for process in now["processes"]:
        if process["node"] == HOST and not process["drift"] and head and head != commit_wanted(stack):
            process["drift"] = ["its checkout is not at %s" % stack["ref"]]


def bring_source(stack: Json, told: Callable[[str, str], None]) -> bool:
    """Bring the checkout to the commit of its release; whether it moved."""
    commit = stack.get("commit")
    if not commit or not is_managed(stack) or commit_of(stack, "HEAD") == commit:
        return False
    told("check out", HOST)
    must(git(stack, "checkout", "--quiet", "--detach", commit), "the checkout does not move to %s" % commit[:12])
    if commit_of(stack, "HEAD") != commit:
        raise RefusedError("step-failed", "the checkout is not at %s, though git says so" % commit[:12])
    return True


# Bringing it to a release.


def bring_stack(release: str, stack: Optional[Json], told: Callable[[str, str], None]) -> None:
    """Bring the avatar stack to a release on the disk, or take it down where there shall be none. May be repeated.

    Slots that are gone or moved stop first, so that their ports are free. Compose is asked only for what changed. What
    sleeps goes on sleeping. The link to the files moves once these slots are gone, or goes with the last of the stack.
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
        bring_slot(stack, slot, wanted["%s.%s" % (slot["name"], slot["project"])], told, moved)


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


def reserve(ports: str) -> None:
    """Have the kernel give these ports to nobody but TURN: they lie among those that it hands out by itself.

    The setting is one list: what others put there stays, and of ours only the range is taken out that is written down
    as reserved by an earlier release. `ports` is such as 49160-49200, or "" for none.
    """
    now = [one for one in (read(RESERVED) or b"").decode().strip().split(",") if one]
    before = marker_of("reserved")
    wanted = [one for one in now if one != before and one != ports] + ([ports] if ports else [])
    text = ",".join(wanted)
    if ports and (set(wanted) != set(now) or not os.path.exists(SYSCTL)):
        write(SYSCTL, ("net.ipv4.ip_local_reserved_ports=%s\n" % text).encode())
    if set(wanted) != set(now):
        with open(RESERVED, "w") as file:
            file.write(text + "\n")
    if not ports:  # the file would hold ports of others only, and bring them back at boot after they gave them up
        remove(SYSCTL)
    if before != ports or not os.path.exists(STACK_MARKERS + "/reserved"):
        mark("reserved", ports)


def bring_firewall(digest: str, told: Callable[[str, str], None]) -> None:
    """Have the packet filter guard the ports of slots, now and at boot."""
    loaded = run(NFT, "list", "table", "inet", TABLE).status == 0  # somebody may have flushed it
    if loaded and firewall_stays() and marker_of("firewall") == digest:
        return
    told("start", FIREWALL)
    rules = STACK_FILES + "/nftables.conf"
    must(run(NFT, "--check", "--file", rules), "the rules of the packet filter do not parse")
    mark("firewall", STARTING)
    write("%s/%s" % (UNITS, FIREWALL_UNIT), FIREWALL_UNIT_TEXT.encode())
    link("../" + FIREWALL_UNIT, "%s/multi-user.target.wants/%s" % (UNITS, FIREWALL_UNIT))
    must(run("systemctl", "daemon-reload"), "systemd does not read its units")
    must(run("systemctl", "restart", FIREWALL_UNIT), "the rules of the packet filter are not loaded")
    mark("firewall", digest)


def firewall_stays() -> bool:
    """Whether the unit is there that loads the rules at boot."""
    wants = "%s/multi-user.target.wants/%s" % (UNITS, FIREWALL_UNIT)
    return read("%s/%s" % (UNITS, FIREWALL_UNIT)) == FIREWALL_UNIT_TEXT.encode() and os.path.lexists(wants)


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


def bring_slot(stack: Json, slot: Json, wanted: str, told: Callable[[str, str], None], moved: bool) -> None:
    """Bring a slot to the release; `wanted` is the marker that it gets then, `moved` as for the host's services.

    The first words there are its own files and the tokens that it shares; the others are TURN's, which only two of its
    services read.
    """
    name, project = slot["name"], slot["project"]
    marker, own = "%s.%s" % (name, project), " ".join(wanted.split()[:3])
    before, there = marker_of(marker), containers_of(project)
    if before == wanted and there and not moved:
        return
    whole = not there or moved or not before.startswith(own)
    # A start that failed may leave containers none of which runs. That is no sleep: it would be taken for one for ever.
    sleeps = is_asleep(there) and not before.endswith(STARTING)
    told("start", "%s/%s" % (STACK, name))
    for directory in slot["directories"]:
        make_directory(directory, os.stat("%s/%s" % (stack["checkout"], HOST_FILE)))
    begun = ([] if whole else [own]) + [STARTING] + ([SLEEPING] if sleeps else [])
    mark(marker, " ".join(begun))
    words = ["--no-start" if sleeps else "--detach"]
    if not whole:
        words += ["--no-deps", *READS_TURN]
    up(stack, project, SLOT_FILE, "slots/%s.compose.yaml" % name, "slots/%s.env" % name, *words)
    mark(marker, wanted)


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


# Health, and hosts that the role of an older fleetc set up.


def watch_stack(stack: Optional[Json]) -> Tuple[str, Dict[str, Json]]:
    """What is wrong with a stack, in words, and what Docker says of each of its containers, by name."""
    if not stack:
        return "", {}
    try:
        there = [one for one in containers_of() if one["project"] in projects_of(stack)]
    except RefusedError as failure:
        return str(failure), {}
    return ill_of_stack(stack, there), {one["name"]: one for one in there}


def ill_of_stack(stack: Json, containers: List[Json]) -> str:
    """What is wrong with a stack that has these containers; "" where those of projects that do not sleep run.

    One that ended by itself without a fault is well.
    """
    there = {project: [one for one in containers if one["project"] == project] for project in projects_of(stack)}
    wanted = [name for name in stack["services"] if name in AWAKE or not host_sleeps()]
    states = {one["service"]: one for one in there[HOST_PROJECT]}
    for service in wanted:
        if service not in states:
            return "%s has no container" % service
    for project, found in there.items():
        if not found:
            return "%s has no containers" % project
        if project != HOST_PROJECT and is_asleep(found):
            continue
        for one in found:
            ended = one["state"] == "exited" and one["code"] == 0
            if one["state"] != "running" and not ended and (project != HOST_PROJECT or one["service"] in wanted):
                return "%s of %s is %s" % (one["service"], project, one["state"])
    return ""


def projects_of(stack: Json) -> List[str]:
    """The Compose projects of a stack: that of the host, and those of its slots."""
    return [HOST_PROJECT, *(slot["project"] for slot in stack["slots"])]


def take_over_stack(directory: str) -> Optional[Json]:
    """The stack that the role of an older fleetc started from the files in a directory.

    The way back needs it, and the role left nothing but files and markers. The secrets are put beside the files. None
    where there is no stack, and where what it was started from is not exactly what is found, such as after a start that
    broke off: it is left as it is then.
    """
    markers = {name: marker_of(name) for name in names_in(STACK_MARKERS)}
    slots = sorted(name for name in markers if name.startswith("slot-"))
    first = settings_in("%s/slots/%s.env" % (directory, slots[0].partition(".")[0])) if slots else {}
    checkout = os.path.dirname(first.get("COMPOSE_FILE", "").partition(":")[0])
    try:
        there = [one["service"] for one in containers_of(HOST_PROJECT)] if slots else []
    except RefusedError:
        return None
    secrets = {file: secrets_in_checkout(directory, checkout, file) for file in ("host", "turn")}
    stack = {
        "checkout": checkout,
        "steered": "EDGE_CONFIG_URL" in settings_in(directory + "/host.env"),
        "services": [name for name in HOST_SERVICES if name in there],
        "host_compose": HOST_COMPOSE if os.path.exists("%s/%s" % (directory, HOST_COMPOSE)) else "",
        "digests": digests_of_stack(directory),
        "reserved_ports": markers.pop("reserved", ""),
        "slots": [slot_at(directory, name) for name in slots],
    }
    known = len(slots) == len([name for name in names_in(directory + "/slots") if name.endswith(".env")])
    if not slots or not known or markers_of(stack, secrets["host"], secrets["turn"]) != markers:
        return None
    for file, lines in secrets.items():
        if lines:
            os.makedirs(directory + "/secrets", mode=0o700, exist_ok=True)
            write("%s/secrets/%s.env" % (directory, file), lines, 0o600)
    return stack


def slot_at(directory: str, marker: str) -> Json:
    """A slot of the role as its files say; its directories are there since it was started."""
    name, _, project = marker.partition(".")
    files = {"environment": "env", "arguments": "compose.yaml"}
    found = {part: hexdigest(read("%s/slots/%s.%s" % (directory, name, end)) or b"") for part, end in files.items()}
    return {"name": name, "project": project, "directories": [], **found}


def digests_of_stack(directory: str) -> Dict[str, str]:
    """The digests of the parts of a stack that change independently, as the compiler computes them from its files."""
    files = {"host": "host.env", "turn": "turn.env", "firewall": "nftables.conf"}
    found = {part: hexdigest(read("%s/%s" % (directory, name)) or b"") for part, name in files.items()}
    own = read("%s/%s" % (directory, HOST_COMPOSE))
    if own is not None:
        found["host"] = hexdigest(("%s %s" % (found["host"], hexdigest(own))).encode())
    return found


def secrets_in_checkout(directory: str, checkout: str, file: str) -> bytes:
    """The secret lines of an environment file of the checkout: those that no file of a release has."""
    name = {"host": ".env", "turn": ".env.turn"}[file]
    others = {"SIGNALING_EXTRA_ARGS", *settings_in("%s/%s.env" % (directory, file))}
    lines = (read("%s/%s" % (checkout, name)) or b"").splitlines(True)
    return b"".join(
        line for line in lines if b"=" in line and line.split(b"=")[0].decode(errors="replace") not in others
    )


def settings_in(path: str) -> Dict[str, str]:
    """The variables of an environment file of the stack; their values stand there as they are."""
    lines = (read(path) or b"").decode(errors="replace").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


# --- health -----------------------------------------------------------------------------------------

LISTEN = "0A"
BODY_LIMIT = 4 * 1024 * 1024
ENDS = 3
"""How often a node may be started again by itself before nobody waits for it any longer."""


def healthy(wanted: Json, deadline: float, stable: float) -> List[str]:
    """Wait until a release is well for `stable` seconds on end; what is wrong after `deadline` seconds.

    All nodes are asked at once. A node or a container that ends again and again is not waited for.
    """
    services, stack, runtime = wanted["services"], wanted.get("stack"), wanted["runtime"]
    if not services and not stack:
        return []
    end, well_since = time.monotonic() + deadline, None
    before = {**facts_of(services, runtime), **watch_stack(stack)[1]}
    pids: Dict[str, int] = {}
    with ThreadPoolExecutor(max_workers=min(16, len(services) + 1)) as pool:
        while True:
            asked = time.monotonic()
            trouble, of_stack = watch_stack(stack)
            facts = {**facts_of(services, runtime), **of_stack}
            now = {node: fact["pid"] for node, fact in facts.items() if fact["running"]}
            asks = [pool.submit(ill, one, runtime, now.get(one["name"], 0)) for one in services]
            problems = [problem for problem in (*(ask.result() for ask in asks), trouble) if problem]
            well_since = None if problems or now != pids or well_since is None else well_since
            if not problems and well_since is None:
                well_since = asked
            if well_since is not None and time.monotonic() - well_since >= stable:
                return []
            tried = {node: fact["restarts"] - before.get(node, fact)["restarts"] for node, fact in facts.items()}
            ended = [node for node, times in tried.items() if times >= ENDS]
            if ended or time.monotonic() >= end + (0 if problems else stable):
                again = ["%s ended %d times" % (node, tried[node]) for node in ended]
                return problems + again or ["its processes are not the same for %d seconds on end" % stable]
            pids = now
            time.sleep(min(1.0, max(0.1, stable / 4)))


def facts_of(services: List[Json], runtime: str) -> Dict[str, Json]:
    """What systemd or Docker says of the nodes that it knows."""
    nodes = [service["name"] for service in services]
    return (processes_of_units(nodes) if runtime == "systemd" else processes_of_containers(nodes)) or {}


def ill(service: Json, runtime: str, pid: int) -> str:
    """What is wrong with a node, in words; "" where it is well."""
    node = service["name"]
    if not pid:
        return "%s does not run" % node
    directory = os.path.realpath("%s/%s" % (CURRENT, node))
    drift = drift_of_process(pid, service, directory, runtime)
    if drift:
        return "%s: %s" % (node, drift[0])
    health = service.get("health") or {}
    listening = listening_ports(pid)
    for port in health.get("ports", []):
        if port not in listening:
            return "%s does not listen on port %d" % (node, port)
    for ask in (ill_by_healthz, ill_by_status, ill_by_caps):
        problem = ask(health)
        if problem:
            return "%s %s" % (node, problem)
    return ""


def listening_ports(pid: int) -> List[int]:
    """The TCP ports on which a process itself listens."""
    sockets = set()
    try:
        for name in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(OSError):
                sockets.add(os.readlink("/proc/%d/fd/%s" % (pid, name)))
    except OSError:
        return []
    found = set()
    for table in ("tcp", "tcp6"):
        for line in (read("/proc/%d/net/%s" % (pid, table)) or b"").decode().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTEN and "socket:[%s]" % words[9] in sockets:
                found.add(int(words[1].rpartition(":")[2], 16))
    return sorted(found)


def ill_by_healthz(health: Json) -> str:
    """What /healthz says; nothing of nodes that have none."""
    where = health.get("healthz")
    if not where:
        return ""
    status, _ = get(where, "/healthz")
    return "" if status == 200 else "answers %s to /healthz" % (status or "nothing")


def ill_by_status(health: Json) -> str:
    """What /status says: the release, and the prices that an orchestrator asks."""
    where = health.get("status")
    if not where:
        return ""
    status, body = get(where, "/status")
    if status != 200 or not isinstance(body, dict):
        return "answers %s to /status" % (status or "nothing")
    wanted, version = health.get("version", ""), str(body.get("Version", ""))[:80]
    if wanted and not is_version(version, wanted):
        return "is of release %s instead of %s" % (version or "unknown", wanted)
    prices = body.get("BroadcasterPrices")
    for who, price in health.get("prices", {}).items():
        asked = prices.get(who) if isinstance(prices, dict) else None
        if not same_number(asked, price):
            return "asks %s wei a pixel of %s instead of %s" % (str(asked)[:40], who, price)
    return ""


def ill_by_caps(health: Json) -> str:
    """What a gateway says that it pays at most."""
    if not health.get("max_price"):
        return ""
    status, body = get(health["status"], "/getBroadcastConfig")
    if status != 200 or not isinstance(body, dict):
        return "answers %s to /getBroadcastConfig" % (status or "nothing")
    cap = body.get("MaxPrice")
    return (
        ""
        if same_number(cap, health["max_price"])
        else "pays at most %s wei a pixel instead of %s"
        % (
            str(cap)[:40],
            health["max_price"],
        )
    )


def same_number(said: object, wanted: str) -> bool:
    """Whether a node's rational, such as 3/2, is the one that is wanted."""
    try:
        return Fraction(str(said)) == Fraction(wanted)
    except (ValueError, ZeroDivisionError):
        return False


def get(where: str, path: str) -> Tuple[int, Any]:
    """Status and body of a GET to a node of this host, parsed where it is JSON; (0, None) without an answer."""
    status, body = ask(where, path)
    try:
        return status, json.loads(body)
    except ValueError:
        return status, None


def ask(where: str, path: str, form: Optional[Dict[str, str]] = None, seconds: float = 5) -> Tuple[int, bytes]:
    """Status and body of a GET to a node of this host, or of a POST of a form; (0, b"") without an answer.

    `where` is http://address:port or https://address:port. Certificates of nodes are self-signed, and nothing secret is
    sent.
    """
    scheme, _, address = where.partition("://")
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, int(port), timeout=seconds, context=context
        )
    else:
        connection = http.client.HTTPConnection(host, int(port), timeout=seconds)
    headers = {"Connection": "close"}
    try:
        if form is None:
            connection.request("GET", path, headers=headers)
        else:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            connection.request("POST", path, urllib.parse.urlencode(form), headers)
        answer = connection.getresponse()
        return answer.status, answer.read(BODY_LIMIT)
    except (OSError, http.client.HTTPException, ValueError):
        return 0, b""
    finally:
        connection.close()


LOG_LINES = 30


def last_words(wanted: Json, since: float) -> List[str]:
    """The last log lines of the nodes that were just started, with known secrets and all addresses masked."""
    begun = "%d" % since
    found = []
    for service in wanted["services"]:
        node = service["name"]
        if wanted["runtime"] == "docker":
            done = run("docker", "container", "logs", "--since", begun, "--tail", str(LOG_LINES), unit_of(node))
        else:
            words = ("--no-pager", "--output=cat", "--since=@" + begun, "--lines=%d" % LOG_LINES)
            done = run("journalctl", *words, "--unit=%s.service" % unit_of(node))
        content = read("%s/%s/secrets/secrets.env" % (CURRENT, node)) or b""
        text = masked(done.out + done.err, variables_in(content, wanted["runtime"]).values())
        found += ["%s: %s" % (node, line) for line in text.splitlines()[-LOG_LINES:] if line.strip()]
    return found[-4 * LOG_LINES :]


def masked(text: str, secrets: Iterable[str]) -> str:
    """Text of a node without secrets, and without addresses but for their scheme: they may have keys in them."""
    for value in sorted((value for value in secrets if len(value) > 3), key=len, reverse=True):
        text = text.replace(value, "***")
    return re.sub(r'([A-Za-z][A-Za-z0-9+.-]*://)[^\s"]+', r"\1***", text)


# --- one switch, from its intention to its end ------------------------------------------------------

ARMED, SWITCHING, WATCHING, HEALTHY, REVERTING, REVERTED, QUARANTINED = (
    "armed",
    "switching",
    "watching",
    "healthy",
    "reverting",
    "reverted",
    "quarantined",
)
OPEN = (ARMED, SWITCHING, WATCHING, HEALTHY, REVERTING)
"""Phases that somebody has to end. A switch that is confirmed has no file any more."""

STARTING_SECONDS = 15
"""How long the process that carries out a switch may take to begin."""

STOPPING_SECONDS = 90
"""What stopping may take before the deadline of the start begins to count."""


def boot_id() -> str:
    """Which boot of the host this is."""
    return (read("/proc/sys/kernel/random/boot_id") or b"").decode().strip()


def open_switch() -> Optional[Json]:
    """The switch that has not ended, if there is one."""
    switch = read_json(SWITCH)
    return switch if switch is not None and switch.get("phase") in OPEN else None


def switch_for_people() -> Optional[Json]:
    """What is said of the switch that has not ended."""
    switch = open_switch()
    if switch is None:
        return None
    return {key: switch.get(key) for key in ("id", "phase", "from", "to", "owner", "begun")}


def enter(switch: Json, phase: str, **facts: Any) -> None:
    """Write down which phase begins, before it begins."""
    switch.update(facts, phase=phase)
    write_json(SWITCH, switch)
    note(phase, switch=switch["id"], source=switch["from"], target=switch["to"])


def arm(switch: Json, seconds: float) -> None:
    """Have the host revert by itself after so many seconds. They are counted by the kernel, whatever the clock says."""
    disarm(switch)
    switch["armed"] = switch.get("armed", 0) + 1
    switch["until"] = time.monotonic() + seconds
    write_json(SWITCH, switch)
    unit = "%s-%s-%d" % (TIMER, switch["id"], switch["armed"])
    options = ("--on-active=%d" % max(1, round(seconds)), "--timer-property=AccuracySec=100ms")
    start_apart(unit, options, "resume", "--after", str(seconds))


def disarm(switch: Json) -> None:
    """Stop the timer of a switch; one that is missed finds out by itself that it is out of date."""
    if switch.get("armed"):
        run("systemctl", "stop", "%s-%s-%d.timer" % (TIMER, switch["id"], switch["armed"]))


def start_apart(unit: str, options: Tuple[str, ...], *words: str) -> None:
    """Run this program apart from the session that asked for it: by systemd, or without it in a session of its own."""
    command = [sys.executable or "python3", PROGRAM]
    on_time = any(option.startswith("--on-active") for option in options)
    own = list(words[:1] if on_time else words)
    if run("systemd-run", "--quiet", "--collect", "--unit=" + unit, *options, *command, *own).status == 0:
        return
    with open(os.devnull, "r+b") as nowhere:
        subprocess.Popen([*command, *words], stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


def begin_switch(target: str, request: Json) -> Json:
    """Write down a switch to a release on the disk, arm the way back, and start who carries it out."""
    record = read_json(RECORD) or {}
    wanted = wanted_of(target)
    switch: Json = {
        "id": os.urandom(4).hex(),
        "from": record.get("release", ""),
        "left": record.get("left", []),
        "to": target,
        "owner": request.get("owner", {}),
        "begun": time.time(),
        "boot": boot_id(),
        "seconds": wanted.get("seconds") or {"stable": 30, "deadline": 180, "confirm": 300},
        "restarted": [],
        "live": [],
        "reasons": [],
        "words": [],
    }
    enter(switch, ARMED)
    arrived = [service["name"] for service in wanted["services"]]
    keep_away([node for node in switch["left"] if node not in arrived])
    seconds = switch["seconds"]
    arm(switch, STOPPING_SECONDS + seconds["deadline"] + seconds["stable"] + seconds["confirm"])
    start_apart("%s-%s" % (WORKER, switch["id"]), (), "carry-out")
    return switch


def keep_away(nodes: List[str]) -> None:
    """Write down which nodes moved away: no way back, no boot and no timer starts them here again."""
    record = read_json(RECORD) or {}
    if record.get("left", []) != nodes:
        write_json(RECORD, {**record, "left": nodes})


def carry_out(switch: Json) -> None:
    """Bring the host forward; back where that fails. The caller holds the lock."""
    seconds = switch["seconds"]
    enter(switch, SWITCHING)
    try:
        wanted = wanted_here(switch["to"])
        bring(switch["to"], wanted, telling(switch))
        enter(switch, WATCHING)
        problems = healthy(wanted, seconds["deadline"], seconds["stable"])
    except (RefusedError, OSError) as failure:
        problems = [str(failure)]
    if problems:
        back(switch, problems, words_of(switch))
        return
    enter(switch, HEALTHY)
    arm(switch, seconds["confirm"])


def words_of(switch: Json) -> List[str]:
    """The last log lines of the nodes that a switch started; none where its release is gone."""
    try:
        wanted = wanted_of(switch["to"])
    except RefusedError:
        return []
    begun = [service for service in wanted["services"] if service["name"] in switch["restarted"]]
    return last_words({**wanted, "services": begun}, switch["begun"])


def telling(switch: Json) -> Callable[[str, str], None]:
    """Writes each step of a switch down before it is taken."""

    def told(do: str, node: str) -> None:
        if do == "start" and node not in switch["restarted"]:
            switch["restarted"].append(node)
            switch["live"] = [other for other in switch["live"] if other != node]
        if do == "live" and node not in switch["live"]:
            switch["live"].append(node)
        switch["step"] = [do, node]
        write_json(SWITCH, switch)
        note("step", switch=switch["id"], do=do, node=node)

    return told


def back(switch: Json, reasons: List[str], words: Iterable[str] = ()) -> None:
    """Bring the host back to where a switch began, and ask the same health. The caller holds the lock."""
    seconds = switch["seconds"]
    enter(switch, REVERTING, reasons=[*switch["reasons"], *reasons][:20], words=[*switch["words"], *words])
    arm(switch, STOPPING_SECONDS + seconds["deadline"] + seconds["stable"])
    keep_away(switch.get("left", []))
    try:
        wanted = wanted_here(switch["from"])
        if wanted.get("live") == "only":  # a node that does not take its old settings back has to be restarted for them
            wanted["live"] = "try"
        bring(switch["from"], wanted, telling(switch))
        problems = healthy(wanted, seconds["deadline"], seconds["stable"])
    except (RefusedError, OSError) as failure:
        problems = [str(failure)]
    disarm(switch)
    if problems:
        why = "it could not go back to %s: %s" % (switch["from"][:12] or "nothing", "; ".join(problems)[:500])
        write_json(QUARANTINE, {"why": why, "switch": switch["id"], "at": time.time()})
        enter(switch, QUARANTINED, reasons=[*switch["reasons"], why])
        return
    enter(switch, REVERTED)


def resume(at_boot: bool) -> None:
    """End a switch that nobody else ends any more: its process died, the host was switched off, nobody confirmed it."""
    with locked(3600):
        switch = open_switch()
        if switch is None:
            return
        here = switch.get("boot") == boot_id()
        if not at_boot and here and time.monotonic() < switch.get("until", 0):
            return  # a later timer of the same switch is armed
        died = "nobody confirmed the release in time" if here else "the host was switched off in the middle"
        if switch["phase"] != HEALTHY and here:
            died = "the switch broke off in the phase %s" % switch["phase"]
        switch["boot"] = boot_id()
        back(switch, [] if switch["phase"] == REVERTING else [died])


def wait_for_end(identity: str) -> Json:
    """Wait until a switch is healthy, reverted or in quarantine; go back where the process that carries it out died."""
    begun = time.monotonic()
    while True:
        switch = read_json(SWITCH)
        if switch is None or switch["id"] != identity:
            raise RefusedError("switch-gone", "the switch %s was ended by somebody else" % identity)
        if switch["phase"] in (HEALTHY, REVERTED, QUARANTINED):
            return switch
        if switch["phase"] != ARMED or time.monotonic() - begun > STARTING_SECONDS:
            with contextlib.suppress(RefusedError), locked(0):
                switch = read_json(SWITCH) or {}
                if switch.get("id") == identity and switch["phase"] in OPEN and switch["phase"] != HEALTHY:
                    back(switch, ["the switch broke off in the phase %s" % switch["phase"]])
        time.sleep(0.2)


# --- what must hold before a rollout ----------------------------------------------------------------
# A need has the name of its check (need), its subject (a path, an address or a name), the nodes that need it, and what
# else the check reads. Each check yields all that is wrong, as codes and messages. Nothing here changes the host, waits
# for a lock, or shows a secret.

Finding = Tuple[str, str]

MEGABYTE = 1024**2
SPACE_FOR_RELEASES = 20 * MEGABYTE
SPACE_FOR_A_PROGRAM = 600 * MEGABYTE
SPACE_FOR_AN_IMAGE = 6 * 1024 * MEGABYTE
"""What has to be free: for two releases and the journal, for a program that comes, for an image that is pulled."""

REACH_SECONDS = 5
USUAL_PORTS = {"http": 80, "https": 443, "amqp": 5672, "amqps": 5671, "s3+http": 80, "s3+https": 443}
CHAIN_DATABASE = "lpdb.sqlite3"
_one_key_at_a_time = threading.Lock()


class Asked(NamedTuple):
    """What checks know besides their need: the release, values of secrets, and as whom nodes run, None for root.

    `renamed` says that this machine may have had another name.
    """

    wanted: Json
    values: Json
    reader: Optional[Ids]
    renamed: bool


Check = Callable[[Json, Asked], Iterable[Finding]]


def do_preflight(request: Json) -> Json:
    """All that would keep a release from running here, not the first alone. Changes nothing.

    In: wanted, needs, and values of secrets as for a rollout. Out: findings, each with code, message and node; node is
    "" where a finding is of the host or of several nodes.
    """
    wanted = request["wanted"]
    reader = None if wanted["runtime"] == "docker" else runner_of(wanted["owner"])
    asked = Asked(wanted, request.get("values", {}), reader, bool(request.get("renamed")))
    checks: List[Tuple[Json, Check]] = [({"nodes": []}, check_host), ({"nodes": []}, check_disk)]
    checks += [(need, CHECKS[need["need"]]) for need in request["needs"]]
    with ThreadPoolExecutor(max_workers=16) as pool:
        jobs = [(need, pool.submit(found_by, check, need, asked)) for need, check in checks]
    findings: List[Json] = []
    for need, job in jobs:
        node = need["nodes"][0] if len(need["nodes"]) == 1 else ""
        findings += [{"code": code, "message": message, "node": node} for code, message in job.result()]
    found = [one for at, one in enumerate(findings) if one not in findings[:at]]
    return {"findings": found, "changed": False, "clock": time.time()}


def need_nothing(request: Json) -> None:
    """Refuse a rollout to a host that lacks something, with all that it lacks; what a person skips is left out."""
    found = [one for one in do_preflight(request)["findings"] if one["code"] not in request.get("skip", [])]
    if found:
        more = " (and %d more)" % (len(found) - 1) if len(found) > 1 else ""
        raise RefusedError("preflight", found[0]["message"] + more, findings=found)


def found_by(check: Check, need: Json, asked: Asked) -> List[Finding]:
    """What a check finds; what it cannot do is a finding too."""
    found: List[Finding] = []
    try:
        found.extend(check(need, asked))
    except RefusedError as refusal:
        found.append((refusal.code, str(refusal)))
    except OSError as failure:
        message = "%s cannot be looked at: %s" % (failure.filename or need.get("subject", "the host"), failure.strerror)
        found.append(("check-failed", message))
    return found


def check_host(_need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the release is for this machine."""
    need_own_release(asked.wanted, {"renamed": asked.renamed})
    yield from ()


# Programs that nodes need.


def check_program(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a program that people install is there, and of the release."""
    need_program({"path": need["subject"], "version": need["version"]}, asked.reader)
    yield from ()


def check_systemd(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether systemd reads the units."""
    done = run("systemctl", "--version")
    found = re.match("systemd ([0-9]+)", done.out)
    if done.status or found is None:
        yield "systemd-missing", "systemd does not answer, and nodes run as its units here: %s" % done.words
    elif int(found[1]) < int(need["version"]):
        yield "systemd-old", "systemd %s is too old: %s or newer reads the units" % (found[1], need["version"])


def check_docker(_need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether Docker answers."""
    done = run("docker", "version", "--format", "{{ .Server.Version }}", seconds=30)
    if done.status:
        yield "docker-answers", "Docker does not answer: install Docker Engine and start it. It said: %s" % done.words


def check_compose(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether Compose reads the files."""
    done = run("docker", "compose", "version", "--short", seconds=30)
    found = re.search("[0-9]+([.][0-9]+)*", done.out)
    if done.status:
        yield "compose-missing", "Docker has no Compose plugin: install the package docker-compose-plugin"
    elif found is not None and numbers_in(found[0]) < numbers_in(need["version"]):
        message = "Docker Compose %s is too old: update docker-compose-plugin to %s or newer"
        yield "compose-old", message % (found[0], need["version"])


def numbers_in(version: str) -> Tuple[int, ...]:
    """A version such as 2.24.4 as numbers that compare."""
    return tuple(int(part) for part in version.split("."))


def check_gpus(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether the driver shows the GPUs that nodes use."""
    done = run("nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader", seconds=60)
    if done.status:
        yield "gpus-visible", "the driver does not answer, and GPUs are used here: %s" % done.words
        return
    shown = dict(line.replace(" ", "").split(",", 1) for line in done.out.splitlines() if "," in line)
    missing = [number for number in need["gpus"].split() if number not in shown]
    if missing:
        has = ", ".join(sorted(shown)) or "none"
        yield "gpus-visible", "nvidia-smi does not show GPU %s; it shows %s" % (", ".join(missing), has)
    for uuid in need["uuids"].split():
        if uuid not in shown.values():
            yield "gpus-visible", "nvidia-smi shows no GPU %s: correct the uuid in the spec" % uuid


def check_toolkit(_need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether containers get GPUs."""
    programs = ("nvidia-ctk", "nvidia-container-runtime-hook", "nvidia-container-cli")
    done = run("docker", "info", "--format", "{{ json .Runtimes }}", seconds=30)
    if '"nvidia"' not in done.out and not any(shutil.which(name) for name in programs):
        yield "toolkit-missing", "containers get no GPU here: install the NVIDIA Container Toolkit"


def check_stack(_need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the avatar stack has what it needs; its files are not here yet."""
    stack, host = asked.wanted.get("stack"), asked.wanted["host"]
    if stack:
        need_checkout(stack, host)
        need_nftables(host)
        for name in (HOST_FILE, SLOT_FILE):
            need_brand(stack, host, name)
    yield from ()


# Files and directories.


def can(reader: Optional[Ids], right: str, path: str) -> bool:
    """Whether a user has a right on a path: r, w or x. The kernel is asked, so that access lists count."""
    return run("test", "-" + right, path, ids=reader).status == 0


def owner_of(asked: Asked) -> str:
    """The name of the user that nodes run as."""
    return str(asked.wanted["owner"])


def check_file(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a file is there for the node."""
    path = need["subject"]
    if not os.path.exists(path):
        yield "file-missing", "there is no %s" % path
    elif not can(asked.reader, "r", path):
        yield "file-unreadable", "%s cannot be read by %s, as which nodes run here" % (path, owner_of(asked))


def check_password_file(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a file holds a password: of an empty or a missing one, the node takes the path for the password."""
    path = need["subject"]
    if not os.path.isfile(path):
        yield "password-file-not-empty", "there is no file %s, which must hold the password of the account" % path
        return
    if not (read(path) or b"").strip():
        yield "password-file-not-empty", "%s is empty: the node would take the path itself for the password" % path
    yield from check_file(need, asked)


def check_keystore(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a keystore has the key of the account, for the node, and the password opens it."""
    path, account = need["subject"], need["account"].lower()[2:]
    if not os.path.isdir(path):
        is_file = os.path.exists(path)
        code = "keystore-is-a-directory" if is_file else "keystore-holds-account"
        yield (
            code,
            "%s %s; it must be a directory with the key file of 0x%s"
            % (
                path,
                "is a file" if is_file else "is not there",
                account,
            ),
        )
        return
    keys = {name: key_in("%s/%s" % (path, name)) for name in names_in(path)}
    mine = sorted(name for name, key in keys.items() if key.get("address") == account)
    if not mine:
        others = ", ".join(sorted("0x" + key["address"] for key in keys.values() if key.get("address"))) or "no account"
        message = "%s has no key file of 0x%s, but of %s: the node would make a new account"
        yield "keystore-holds-account", message % (path, account, others)
        return
    file = "%s/%s" % (path, mine[0])
    if not can(asked.reader, "r", file):
        yield "file-unreadable", "%s cannot be read by %s, as which nodes run here" % (file, owner_of(asked))
    password = password_of(need, asked)
    if password and opens(keys[mine[0]], password) is False:
        yield "password-opens-key", "the password from %s does not open %s" % (need["password"], file)


def key_in(path: str) -> Json:
    """A key file with its address in lower case, without 0x; {} for any other file."""
    found = read_json(path) if os.path.isfile(path) and os.path.getsize(path) < MEGABYTE else None
    address = (found or {}).get("address")
    if found is None or not isinstance(address, str):
        return {}
    address = address.lower()
    return {**found, "address": address[2:] if address.startswith("0x") else address}


def password_of(need: Json, asked: Asked) -> bytes:
    """The password of an account as the node reads it; b"" where it is not known here."""
    kind = str(need.get("password_kind", ""))
    if kind == "host_file":
        return (read(need["password"]) or b"").strip()
    return str(asked.values.get(kind, {}).get(need.get("password"), "")).encode()


def opens(key: Json, password: bytes) -> Optional[bool]:
    """Whether a password opens a key file; None where that cannot be told, such as for an unknown form of file."""
    try:
        crypto = key.get("crypto") or key["Crypto"]
        given, salt = crypto["kdfparams"], bytes.fromhex(crypto["kdfparams"]["salt"])
        with _one_key_at_a_time:  # one takes 256 MB
            if crypto["kdf"] == "scrypt":
                cost, size = int(given["n"]), int(given["r"])
                if cost > 2**20 or size > 32:
                    return None
                room = 128 * cost * size + 64 * MEGABYTE
                made = hashlib.scrypt(
                    password, salt=salt, n=cost, r=size, p=int(given["p"]), dklen=int(given["dklen"]), maxmem=room
                )
            elif crypto["kdf"] == "pbkdf2" and given["prf"] == "hmac-sha256" and int(given["c"]) <= 2**22:
                made = hashlib.pbkdf2_hmac("sha256", password, salt, int(given["c"]), int(given["dklen"]))
            else:
                return None
        return keccak256(made[16:32] + bytes.fromhex(crypto["ciphertext"])).hex() == str(crypto["mac"]).lower()
    except (KeyError, TypeError, ValueError, AttributeError, MemoryError):
        return None


def keccak256(data: bytes) -> bytes:
    """The digest that key files are checked with; hashlib has only its later form, with other padding."""
    mask, rate = (1 << 64) - 1, 136
    padded = bytearray(data) + bytes(rate - len(data) % rate)
    padded[len(data)] ^= 0x01
    padded[-1] ^= 0x80
    lanes = [0] * 25
    for block in range(0, len(padded), rate):
        for at in range(rate // 8):
            lanes[at] ^= int.from_bytes(padded[block + 8 * at : block + 8 * at + 8], "little")
        register = 1
        for _ in range(24):
            columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
            turned = [(one << 1 & mask) | one >> 63 for one in columns]
            lanes = [lane ^ columns[(at + 4) % 5] ^ turned[(at + 1) % 5] for at, lane in enumerate(lanes)]
            moved, x, y, lane = lanes[:1] + [0] * 24, 1, 0, lanes[1]
            for step_number in range(24):
                turn = (step_number + 1) * (step_number + 2) // 2 % 64
                x, y = y, (2 * x + 3 * y) % 5
                moved[x + 5 * y], lane = ((lane << turn) | lane >> (64 - turn)) & mask, lanes[x + 5 * y]
            lanes = [
                moved[at] ^ (~moved[at - at % 5 + (at + 1) % 5] & moved[at - at % 5 + (at + 2) % 5]) for at in range(25)
            ]
            for power in range(7):
                if register & 1:
                    lanes[0] ^= 1 << ((1 << power) - 1)
                register = (register << 1) ^ (0x171 if register & 0x80 else 0)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def check_models_directory(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the node and its containers can put models there. One below a data directory, the node makes itself."""
    path = need["subject"]
    own = any(path.startswith(service["data_dir"] + "/") for service in asked.wanted["services"])
    if not os.path.isdir(path):
        if os.path.lexists(path) or not own:
            yield "models-dir-writable", "there is no directory %s for models" % path
    elif not can(asked.reader, "w", path) or is_read_only(path):
        yield "models-dir-writable", "%s cannot be written to by %s, as which nodes run here" % (path, owner_of(asked))


def check_data_directory(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a data directory can be made or used, and its database belongs to the chain of the spec."""
    path = need["subject"]
    there = nearest(path)
    if not os.path.isdir(there) or is_read_only(there):
        what = "is on a file system that is read-only" if os.path.isdir(there) else "is no directory"
        yield "data-dir-writable", "%s %s, and %s must be writable" % (there, what, path)
    database = "%s/%s" % (path, CHAIN_DATABASE)
    if not os.path.exists(database):
        return
    if not can(asked.reader, "w", database):
        yield (
            "data-dir-writable",
            "%s cannot be written to by %s, as which nodes run here" % (database, owner_of(asked)),
        )
    chain = chain_of(database)
    if chain and need["chain_id"] and chain != need["chain_id"]:
        message = "%s belongs to chain %s, and the spec is for chain %s: name another data_dir"
        yield "data-dir-of-this-chain", message % (database, chain, need["chain_id"])


def chain_of(database: str) -> str:
    """The id of the chain that the database of a node remembers, 0 for none; "" where it does not say."""
    try:
        import sqlite3  # some hosts have a Python without it
    except ImportError:
        return ""
    try:
        place = "file:%s?mode=ro&immutable=1" % urllib.parse.quote(database)
        with contextlib.closing(sqlite3.connect(place, uri=True)) as opened:
            row = opened.execute("SELECT value FROM kv WHERE key = 'chainID'").fetchone()
    except sqlite3.Error:
        return ""
    return str(row[0]) if row and re.fullmatch("[0-9]+", str(row[0])) else ""


def check_live_runner_config(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the node reads the file of live runners."""
    path, code = need["subject"], "live-runner-config-valid"
    content = read(path)
    if content is None:
        yield "file-missing", "there is no %s" % path
        return
    yield from check_file(need, asked)
    try:
        runners = json.loads(content)["runners"]
        labels = [str(runner["label"]).strip() for runner in runners]
        addresses = [(str(runner["label"]), str(runner["runner_url"]), str(runner["health_url"])) for runner in runners]
        apps = [str(runner["app"]).strip() for runner in runners]
    except (ValueError, KeyError, TypeError) as failure:
        detail = "no %s" % failure if isinstance(failure, KeyError) else "no list of runners in JSON"
        yield code, "%s has %s; each runner needs label, runner_url, health_url and app" % (path, detail)
        return
    for label in sorted({label for label in labels if labels.count(label) > 1 or not label}):
        yield code, '%s has the label "%s" more than once, or empty' % (path, label)
    if not all(apps):
        yield code, "%s has a runner without an app" % path
    for label, runner_url, health_url in addresses:
        if not has_scheme(runner_url, "http https"):
            yield code, "%s: runner_url of %s is no http or https address" % (path, label)
        if not health_url.startswith("/") and not has_scheme(health_url, "http https"):
            yield code, "%s: health_url of %s is neither a path nor an http or https address" % (path, label)


def is_read_only(path: str) -> bool:
    """Whether the file system of a path takes no writes."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def nearest(path: str) -> str:
    """A path itself, or what is nearest above it."""
    while not os.path.lexists(path) and path != "/":
        path = os.path.dirname(path)
    return path


def check_disk(_need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the places that a rollout writes to take it."""
    wanted, needed = asked.wanted, dict.fromkeys((RELEASES, SECRETS, UNITS, STATE), SPACE_FOR_RELEASES)
    missing = [one for one in programs_in(wanted) if one.get("sha256") and not os.path.exists(program_path(one))]
    needed[RELEASES] += SPACE_FOR_A_PROGRAM * len(missing)
    if wanted["runtime"] == "docker":
        images = {service["image"] for service in wanted["services"]}
        lacking = [image for image in images if run("docker", "image", "inspect", image).status]
        root = run("docker", "info", "--format", "{{ .DockerRootDir }}", seconds=30).out.strip()
        if lacking and root.startswith("/"):
            needed[root] = SPACE_FOR_AN_IMAGE * len(lacking)
    by_device: Dict[int, List[str]] = {}
    for path in needed:
        by_device.setdefault(os.stat(nearest(path)).st_dev, []).append(path)
    for paths in by_device.values():
        there = nearest(paths[0])
        facts, least = os.statvfs(there), sum(needed[path] for path in paths)
        if facts.f_flag & os.ST_RDONLY:
            yield "disk-read-only", "%s takes no writes: its file system is mounted read-only" % there
        elif facts.f_bavail * facts.f_frsize < least or (facts.f_files and facts.f_favail < 1000):
            message = "%s has %d MB and %d files free, and a rollout needs %d MB and 1000 files there"
            free = facts.f_bavail * facts.f_frsize // MEGABYTE
            yield "disk-space", message % (there, free, facts.f_favail, least // MEGABYTE)


# Secrets, and what answers.


def has_scheme(address: str, schemes: str) -> bool:
    """Whether an address is absolute, with one of some schemes."""
    scheme, separator, rest = address.partition("://")
    return bool(separator) and scheme in schemes.split() and bool(rest.strip("/") or scheme == "file")


def check_secret(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a secret is there, and an address where it must be one. Its value is in no message."""
    kind, reference = need["kind"], need["subject"]
    if kind != "host_file" and reference not in asked.values.get(kind, {}):
        return  # nobody has given it to a preflight
    whose = ", ".join(need["nodes"]) or "the host"
    value = secret_value({"kind": kind, "reference": reference, "variable": need["variable"]}, asked.values, whose)
    if need["schemes"] and not has_scheme(value, need["schemes"]):
        message = "%s of %s, from %s %s, is no address with %s"
        kinds = " or ".join(need["schemes"].split())
        yield "secret-addresses-well-formed", message % (need["variable"], whose, kind, reference, kinds)
    elif need["check"]:
        failure = not_reached(value)
        if failure:
            message = "the address in %s of %s does not answer: %s"
            yield need["check"], message % (need["variable"], whose, failure)


def check_reach(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether somebody listens at an address that is needed at the start; not for a program that is here already."""
    if need["installed"] and os.path.exists(need["installed"]):
        return
    failure = not_reached(need["subject"])
    if failure:
        yield need["check"], "%s does not answer: %s" % (masked(need["subject"], ()), failure)


def not_reached(address: str) -> str:
    """Why nobody can be reached at host:port or at a URL; "" if somebody can, or where it has no such place."""
    scheme, separator, _ = address.partition("://")
    try:
        parts = urllib.parse.urlsplit(address if separator else "//" + address)
        host, port = parts.hostname, parts.port or USUAL_PORTS.get(scheme)
        if not host or not port:
            return ""
        with socket.create_connection((host, port), timeout=REACH_SECONDS):
            return ""
    except socket.timeout:
        return "nothing within %d seconds" % REACH_SECONDS
    except OSError as failure:
        return failure.strerror or "its name has no address"
    except ValueError:
        return "it is no address"


def check_port(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a port is free, or held by a node of fleetc."""
    number, protocol = int(need["port"]), need["protocol"]
    holders = [one for one in listeners(protocol) if one[1] == number and meet(one[0], need["address"])]
    if not holders:
        return
    own = own_pids()
    for address, _, inode in holders:
        pid, name = holder_of(inode)
        if pid in own or (name == "docker-proxy" and names_in(STACK_MARKERS)):
            continue
        who = "%s (process %d)" % (name, pid) if pid else "a process that cannot be seen"
        message = "port %d (%s) at %s, for the %s, is held by %s, which is no node of fleetc"
        yield "ports-free", message % (number, protocol, address, need["subject"], who)


def own_pids() -> List[int]:
    """The processes of nodes that fleetc started here."""
    nodes = names_in(MARKERS)
    in_units = [node for node in nodes if runtime_here(node) == "systemd"]
    asked = {**processes_of_units(in_units), **(processes_of_containers(set(nodes) - set(in_units)) or {})}
    return [facts["pid"] for facts in asked.values() if facts["pid"]]


def listeners(protocol: str) -> List[Tuple[str, int, str]]:
    """Address, port and socket of all who wait for tcp connections or udp packets on this host."""
    found, state = [], LISTEN if protocol == "tcp" else "07"
    for table in (protocol, protocol + "6"):
        for line in (read("/proc/net/" + table) or b"").decode().splitlines()[1:]:
            words = line.split()
            if len(words) > 9 and words[3] == state:
                address, _, port = words[1].partition(":")
                found.append((address_in(address), int(port, 16), words[9]))
    return found


def address_in(text: str) -> str:
    """An address as the kernel's tables have it, in words of 32 bits in the order of this machine."""
    raw = bytes.fromhex(text)
    turned = b"".join(
        raw[at : at + 4][::-1] if sys.byteorder == "little" else raw[at : at + 4] for at in range(0, len(raw), 4)
    )
    found = ipaddress.ip_address(turned)
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)


def meet(one: str, other: str) -> bool:
    """Whether two listeners at these addresses cannot have one port."""
    try:
        both = [ipaddress.ip_address(text) for text in (one, other)]
    except ValueError:
        return True  # a name: nobody knows which address it has when the node starts
    return both[0] == both[1] or any(address.is_unspecified for address in both)


def holder_of(inode: str) -> Tuple[int, str]:
    """Process and program of a socket; (0, "") where nobody has it."""
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        with contextlib.suppress(OSError):
            for name in os.listdir("/proc/%s/fd" % pid):
                with contextlib.suppress(OSError):
                    if os.readlink("/proc/%s/fd/%s" % (pid, name)) == "socket:[%s]" % inode:
                        comm = (read("/proc/%s/comm" % pid) or b"").decode(errors="replace").strip()
                        return int(pid), re.sub(r"[^A-Za-z0-9._:/@+-]", "?", comm)
    return 0, ""


CHECKS: Dict[str, Check] = {
    "systemd": check_systemd,
    "docker": check_docker,
    "compose": check_compose,
    "gpus": check_gpus,
    "toolkit": check_toolkit,
    "program": check_program,
    "reach": check_reach,
    "keystore": check_keystore,
    "password-file": check_password_file,
    "file": check_file,
    "secret": check_secret,
    "live-runner-config": check_live_runner_config,
    "models-directory": check_models_directory,
    "data-directory": check_data_directory,
    "stack": check_stack,
    "port": check_port,
}


# --- requests ---------------------------------------------------------------------------------------


def asked_for(request: Json) -> Tuple[Json, Dict[str, bytes]]:
    """What a request wants of the host, and the secrets with it: its own release, or one that the host keeps."""
    if request.get("back_to"):
        release = kept_release(request["back_to"])
        return wanted_of(release), secrets_at("%s/%s" % (RELEASES, release))
    return request["wanted"], secret_files(request["wanted"], request.get("values", {}))


def do_observe(request: Json) -> Json:
    """What the host runs, and with `wanted` the steps to it and what will run then. Changes nothing."""
    now = look()
    answer: Json = {"state": now, "changed": False, "clock": time.time()}
    if "wanted" in request:
        wanted, files = asked_for(request)
        add_source_drift(now, wanted.get("stack"))
        answer["steps"] = steps(with_other_secrets(now, files), wanted_state(wanted))
        answer["wants"] = [
            {"node": service["name"], "exclusive": service.get("exclusive", [])} for service in wanted["services"]
        ]
    return answer


# A rollout claims each host that it is going to change, until it ends: two never mix. Whether the owner of a claim
# still lives only the machine can tell on which it rolls out, so a claim has no end of its own; whoever knows that its
# owner is dead names it in `dead`.


def need_claim(request: Json) -> None:
    """Refuse a request of a rollout while another one has claimed this host, and one that was pushed aside."""
    found, own = read_json(CLAIM), request.get("owner", {}).get("id", "")
    holder = (found or {}).get("owner", {})
    if found is not None and holder.get("id", "") not in (own, *request.get("dead", [])):
        minutes = max(0, round((time.time() - found["at"]) / 60))
        message = "the rollout %s of %s has claimed this host since %d min; wait for its end" % (
            holder.get("id"),
            holder.get("who"),
            minutes,
        )
        raise RefusedError("host-claimed", message, owner=holder)
    if request.get("claimed") and (found is None or holder.get("id", "") != own):
        raise RefusedError("claim-lost", "another rollout has taken this host over meanwhile")


def claim(request: Json) -> None:
    """Keep other rollouts away from this host. Stock ansible-playbook has no id, so it claims nothing."""
    if not request.get("owner", {}).get("id"):
        return
    with locked(30):
        need_claim(request)
        found, own = read_json(CLAIM), request.get("owner", {})
        if found is None or found["owner"] != own:
            write_json(CLAIM, {"owner": own, "seal": request["plan"]["seal"], "at": time.time()})
            note("claimed", owner=own.get("id", ""), who=own.get("who", ""))


def do_end(request: Json) -> Json:
    """Let other rollouts at this host: this one has ended."""
    with locked(30):
        found = read_json(CLAIM)
        if found is not None and found["owner"].get("id", "") == request.get("owner", {}).get("id", ""):
            remove(CLAIM)
            note("released", owner=found["owner"].get("id", ""))
            prune(request["keep"])
    return {"changed": False}


def do_retire(request: Json) -> Json:
    """Stop nodes that move to another host, for good: whatever happens, they do not start here again by themselves."""
    need_own_release(request, request)
    with locked(30):
        need_claim(request)
        if open_switch() is not None:
            raise RefusedError("switch-open", "a switch of this host has not ended, so no node can leave it yet")
        left = (read_json(RECORD) or {}).get("left", [])
        keep_away(sorted({*left, *request["nodes"]}))
        for node in request["nodes"]:
            note("step", do="retire", node=node)
            retire(node, runtime_here(node))
        still = [one["node"] for one in look()["processes"] if one["node"] in request["nodes"]]
        if still:
            raise RefusedError("step-failed", "%s does not leave this host" % ", ".join(still))
    return {"changed": True, "stopped": request["nodes"]}


def do_begin(request: Json) -> Json:
    """What there is to do on the host in a rollout. It keeps the plan as the newest one, and refuses an older one."""
    if not request.get("check"):
        need_claim(request)
    do_record(request)
    wanted = request["wanted"]
    found = read_json(QUARANTINE)
    if found is not None and not request.get("clear"):
        raise RefusedError(
            "host-quarantined", "%s; look at it, then deploy with --clear %s" % (found["why"], wanted["host"])
        )
    if found is not None and not request.get("check"):
        remove(QUARANTINE)
        note("cleared", why=found["why"])
    answer = do_observe(request)
    wanted = asked_for(request)[0]
    need_stack(wanted)
    for one in answer["steps"]:
        if one["do"] == "halt":
            raise RefusedError("live-impossible", "%s: %s" % (one["node"], one["reason"]))
    begun = answer["state"]["switch"] is not None or is_old_layout()
    answer["needed"] = begun or any(one["do"] != "keep" for one in answer["steps"])
    if answer["needed"]:
        for program in programs_in(wanted):
            if not program.get("sha256"):  # the others come with the release, and are asked then
                need_program(program, runner_of(wanted["owner"]))
        if "needs" in request and not request.get("claimed") and not request.get("back_to"):  # that one ran here before
            need_nothing(request)
        answer["carry"] = programs_to_carry(wanted)
        if not request.get("check"):
            claim(request)
            if answer["carry"]:
                make_incoming()
    elif not request.get("check"):
        with locked(30):
            learn_name(request["wanted"])
            learn_settings(wanted)
    return answer


def learn_settings(wanted: Json) -> None:
    """Keep with the release that runs which of its settings can be changed live, where another fleetc staged it.

    Its files are the same, so that is what its nodes were started with.
    """
    places = {release_at("%s/%s" % (CURRENT, service["name"])) for service in wanted["services"]}
    for release in places:
        before = read_json("%s/%s/.wanted.json" % (RELEASES, release)) or {}
        services = {service["name"]: service for service in wanted["services"]}
        told = [{**one, **settings_of(services.get(one["name"]))} for one in before.get("services", [])]
        same = digest_in(release) == wanted["digest"] and not release.endswith(".0")  # that one has no more than files
        facts = {**before, "services": told, **{key: wanted.get(key) for key in ("live", "setters")}}
        if same and facts != before:
            write_json("%s/%s/.wanted.json" % (RELEASES, release), facts)


def do_record(request: Json) -> Json:
    """Keep the plan of a rollout as the newest one that this host was given; refuse an older one."""
    plan = request["plan"]
    need_own_release(request["wanted"], request)
    given = (read(NEWEST_PLAN) or b"").decode(errors="replace")
    match = re.fullmatch(r"([0-9TZ:-]{20}) ([0-9a-f]{64}|-)\n?", given)
    newest = match[1] if match else ""
    if plan["seal"] != "-" and given and not match:
        raise RefusedError("plan-record-damaged", "%s makes no sense; look at it, then remove it" % NEWEST_PLAN)
    own = given.strip() == "%s %s" % (plan["created"], plan["seal"])
    if plan["seal"] != "-" and not own and newest >= plan["created"]:
        message = "a newer plan was rolled out here, made at %s; make a new plan and have it approved" % newest
        raise RefusedError("plan-superseded", message)
    if not request.get("check"):
        line = "%s %s\n" % (max(plan["created"], newest), plan["seal"])
        if given != line:
            write(NEWEST_PLAN, line.encode())
    return {"changed": False, "needed": False}


def learn_name(wanted: Json) -> None:
    """Write down which host of which fleet this machine is. The caller holds the lock."""
    record, name = read_json(RECORD) or {}, {key: wanted[key] for key in ("fleet", "host")}
    if not record.items() >= name.items():
        write_json(RECORD, {**record, **name})


def need_own_release(wanted: Json, request: Json) -> None:
    """Refuse a release for another host: a wrong address, or the wrong name in a pull."""
    record = read_json(RECORD) or {}
    before = (record.get("fleet") or wanted["fleet"], record.get("host") or wanted["host"])
    if before != (wanted["fleet"], wanted["host"]) and not request.get("renamed"):
        message = (
            "this machine is the host %s of the fleet %s, and the release is for %s of %s: correct the address"
            % (
                before[1],
                before[0],
                wanted["host"],
                wanted["fleet"],
            )
        )
        raise RefusedError("other-host", message)


def do_stage(request: Json) -> Json:
    """Bring a release and its secrets to the disk, whole. What runs is not touched, but for what broke off before."""
    wanted = request["wanted"]
    need_own_release(wanted, request)
    with locked(30):
        need_claim(request)
        switch = open_switch()
        if switch is not None:
            end_before(switch, request)
        install_program(request["program"])
        learn_name(wanted)
        if request.get("back_to"):
            return {"release": whole(kept_release(request["back_to"])), "changed": True}
        make_places(wanted)
        take_over_old_layout(wanted["owner"])
        files = secret_files(wanted, request.get("values", {}))
        install_programs(wanted)
        need_programs(wanted)
        fetch_source(wanted.get("stack"), wanted["host"])
        release = staged(wanted, files) or stage(wanted, files, request)
        need_stack(wanted, "%s/%s/%s" % (RELEASES, release, STACK))
        note("staged", release=release)
        return {"release": release, "changed": True}


def whole(release: str) -> str:
    """A kept release, if it still is what its name says."""
    if not release.endswith(".0") and digest_of_release("%s/%s" % (RELEASES, release)) != digest_in(release):
        message = "files of the release %s were changed on this host; deploy it again instead" % release[:12]
        raise RefusedError("release-damaged", message)
    return release


def end_before(switch: Json, request: Json) -> None:
    """End a switch that broke off before a new one begins; one that is still on its way is somebody else's."""
    owner = switch.get("owner", {})
    waits = switch["phase"] == HEALTHY and switch.get("boot") == boot_id() and time.monotonic() < switch.get("until", 0)
    if waits and owner.get("id") not in (request.get("owner", {}).get("id"), *request.get("dead", [])):
        raise RefusedError(
            "switch-open", "a release of %s waits for its confirmation here" % (owner.get("who") or "somebody else")
        )
    switch["boot"] = boot_id()
    back(switch, ["the next rollout found it unfinished"])
    if (read_json(SWITCH) or {}).get("phase") == QUARANTINED:
        raise RefusedError("host-quarantined", (read_json(QUARANTINE) or {}).get("why", ""))


def install_program(program: str) -> None:
    """Keep this program on the host, with the unit that ends at boot what a reboot broke off."""
    if read(PROGRAM) != program.encode():
        write(PROGRAM, program.encode(), 0o755)
    unit = "%s/%s" % (UNITS, BOOT_UNIT)
    if read(unit) != BOOT_UNIT_TEXT.encode():
        write(unit, BOOT_UNIT_TEXT.encode())
        link("../" + BOOT_UNIT, "%s/multi-user.target.wants/%s" % (UNITS, BOOT_UNIT))
        run("systemctl", "daemon-reload")


BOOT_UNIT_TEXT = """# Written by fleetc.
[Unit]
Description=Finish or take back a release that a reboot broke off
ConditionPathExists=%s
After=local-fs.target docker.service

[Service]
Type=oneshot
ExecStart=/usr/bin/env python3 %s resume --boot
TimeoutStartSec=infinity

[Install]
WantedBy=multi-user.target
""" % (SWITCH, PROGRAM)


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


def staged(wanted: Json, files: Dict[str, bytes]) -> str:
    """A release on the disk with exactly these files and secrets; "" where there is none."""
    for release in kept_releases():
        directory = "%s/%s" % (RELEASES, release)
        if digest_in(release) != wanted["digest"] or release.endswith(".0"):
            continue
        before = wanted_of(release)
        images = [service.get("image_id") for service in before["services"]]
        if images != [service.get("image_id") for service in wanted["services"]]:
            continue  # a tag moved: the old release goes on meaning the old image
        if digest_of_release(directory) == wanted["digest"] and secrets_at(directory) == files:
            write_json(directory + "/.wanted.json", {**wanted, "files": before.get("files", {})})
            return release
    return ""


def stage(wanted: Json, secrets: Dict[str, bytes], request: Json) -> str:
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


def do_activate(request: Json) -> Json:
    """Switch to a release on the disk and wait until it is healthy; the host goes back by itself where it is not."""
    with locked(30):
        need_claim(request)
        if open_switch() is not None:
            raise RefusedError("switch-open", "another switch has not ended; ask for it again")
        if read_json(QUARANTINE) is not None:
            raise RefusedError("host-quarantined", (read_json(QUARANTINE) or {}).get("why", ""))
        switch = begin_switch(request["release"], request)
    return ended(wait_for_end(switch["id"]))


def ended(switch: Json) -> Json:
    """What is said of a switch that has come to its end, or to its confirmation."""
    facts = {key: switch[key] for key in ("id", "phase", "from", "to", "reasons", "words", "restarted", "live")}
    return {"changed": True, "switch": facts, "seconds": round(time.time() - switch["begun"], 1)}


def do_confirm(request: Json) -> Json:
    """End a healthy switch for good, and forget the releases that nobody keeps."""
    with locked(30):
        need_claim(request)
        switch = read_json(SWITCH)
        record = read_json(RECORD) or {}
        if record.get("confirmed_switch") == request["id"]:
            return {"changed": False}
        if switch is None or switch["id"] != request["id"] or switch["phase"] != HEALTHY:
            phase = "gone" if switch is None or switch["id"] != request["id"] else switch["phase"]
            raise RefusedError("not-confirmed", "the release cannot be confirmed: its switch is %s" % phase)
        record = {**record, "confirmed": switch["to"], "confirmed_switch": switch["id"]}
        write_json(RECORD, record)
        remove(SWITCH)
        disarm(switch)
        note("confirmed", switch=switch["id"], release=switch["to"])
        remove(CLAIM)  # nothing more is changed here by this rollout
        prune(int(wanted_of(switch["to"]).get("keep", 3)))
    return {"changed": True}


def do_revert(request: Json) -> Json:
    """Take back a switch that is not confirmed, and wait for the end."""
    with locked(600):
        switch = read_json(SWITCH)
        if switch is None or switch["id"] != request["id"]:
            raise RefusedError("switch-gone", "the switch %s has ended" % request["id"])
        if switch["phase"] in OPEN:
            enter(
                switch, REVERTING, reasons=[*switch["reasons"], request.get("why", "another host of its batch failed")]
            )
            arm(switch, STOPPING_SECONDS + switch["seconds"]["deadline"] + switch["seconds"]["stable"])
            start_apart("%s-%s-back" % (WORKER, switch["id"]), (), "carry-out")
    return ended(wait_for_end(request["id"]))


def prune(keep: int) -> None:
    """Remove old releases; those in use, and the newest `keep` ones, stay, and so do the programs that these name."""
    used = {release_at("%s/%s" % (CURRENT, name)) for name in names_in(CURRENT)}
    record = read_json(RECORD) or {}
    used |= {str(record.get("release", "")), str(record.get("confirmed", ""))}
    kept = set(kept_releases()[-max(keep, 1) :]) | used
    for name in os.listdir(RELEASES) if os.path.isdir(RELEASES) else ():
        if name not in kept:
            remove("%s/%s" % (RELEASES, name))
    recorded = [read_json("%s/%s/.wanted.json" % (RELEASES, name)) for name in kept_releases()]
    programs = {one.get("sha256") for wanted in recorded if wanted for one in programs_in(wanted)}
    for name in os.listdir(PROGRAMS) if os.path.isdir(PROGRAMS) else ():
        if name not in programs:
            remove("%s/%s" % (PROGRAMS, name))


REQUESTS = {
    "observe": do_observe,
    "record": do_record,
    "begin": do_begin,
    "stage": do_stage,
    "activate": do_activate,
    "confirm": do_confirm,
    "revert": do_revert,
    "retire": do_retire,
    "end": do_end,
    "preflight": do_preflight,
}


def answer(request: Json) -> Json:
    """Carry out one request. What goes wrong is an answer too: a code, and a message for people."""
    os.umask(0o022)
    try:
        if request.get("format") != FORMAT:
            raise RefusedError(
                "other-format", "the request has format %r, and this program reads %d" % (request.get("format"), FORMAT)
            )
        return {"format": FORMAT, "ok": True, **REQUESTS[request["do"]](request)}
    except RefusedError as refusal:
        told = {"code": refusal.code, "message": str(refusal), **refusal.facts}
        return {"format": FORMAT, "ok": False, "changed": False, **told}
    except OSError as failure:
        message = "%s: %s" % (failure.filename or "the host", failure.strerror)
        return {"format": FORMAT, "ok": False, "code": "host-failed", "message": message, "changed": False}


def main() -> None:
    """Called with a word by a timer, by systemd at boot, or by the request that began a switch."""
    words = sys.argv[1:]
    os.umask(0o022)
    if words[:1] == ["resume"]:
        if "--after" in words:
            time.sleep(float(words[words.index("--after") + 1]))
        resume("--boot" in words)
    elif words == ["carry-out"]:
        with locked(60):
            switch = open_switch()
            if switch is not None and switch["phase"] == REVERTING:
                back(switch, [])
            elif switch is not None and switch["phase"] == ARMED:
                carry_out(switch)
    else:
        sys.exit("fleetc_host.py resume [--boot] | carry-out")


if __name__ == "__main__":
    main()
