"""Whether a node runs as its release wants it: the one judge for rollouts, health checks, plans and reports.

In: a node of a release, its process, how settings are asked for. Out: a verdict, as data. Changes nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import re

from .asking import ask
from .links import unlinked
from .live import has_value, other_words, status_of, value_said
from .places import CURRENT, RELEASES, UNITS, Json
from .processes import is_same_file, set_since
from .programs import is_installed, is_version, program_path
from .releases import changed_files, digest_of_files, release_at, unit_of
from .secret_files import secrets_digest, variables_in
from .steps import named
from .system import hexdigest, read, read_json

LISTEN = "0A"


def judged(service: Json, runtime: str, pid: int, directory: str, setters: Json) -> Json:
    """How a running node differs from its release, by its process and by its own answers, in words.

    `drift` is what only a restart undoes, `was_set` the settings that it was given while it ran, `ill` what keeps it
    from its work, `unanswered` what it does not say, so that nobody knows. `live` are the settings that it has.
    """
    node, health = Answers(), service.get("health") or {}
    closed = ["it does not listen on port %d" % port for port in missing_ports(health, pid)]
    problems = [asks(health, node) for asks in (ill_by_healthz, ill_by_status, ill_by_answer)]
    live, was_set = settings_said(service, setters, node)
    return {
        "drift": drift_of_process(pid, service, directory, runtime),
        "was_set": was_set,
        "ill": closed + [problem for problem in problems if problem],
        "unanswered": list(node.unanswered.values()),
        "live": live,
    }


class Answers:
    """What one node answers. Each path is asked once, and a listener without an answer is not asked again.

    `unanswered` is what it does not say, in words: one thing for each path, or for a listener without an answer.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], tuple[int, bytes]] = {}
        self.silent: set[str] = set()
        self.unanswered: dict[str, str] = {}

    def __call__(self, where: str, path: str) -> tuple[int, bytes]:
        """Status and body; (0, b"") without an answer."""
        if where in self.silent:
            return 0, b""
        if (where, path) not in self.known:
            self.known[where, path] = ask(where, path)
        if not self.known[where, path][0]:
            self.silent.add(where)
        return self.known[where, path]

    def lacks(self, where: str, path: str, words: str) -> str:
        """Note that an answer does not say something. It is nothing that is wrong: ""."""
        self.unanswered.setdefault(where if where in self.silent else path, words)
        return ""


def settings_said(service: Json, setters: Json, node: Answers) -> tuple[list[str], list[str]]:
    """The settings that a node has, and those of them that are not of its release, in words."""
    live, was_set = [], []
    for setting in service.get("live", ()):
        name, value = named(setting)
        read = setters.get(name.partition(" ")[0], {}).get("read")
        said, problem = value_said(service, name, setters, node) if read else (None, "")
        if problem:
            node.lacks(status_of(service), read[0], problem)
        if said is None or has_value(said, value):
            live.append(setting)
        else:
            live.append("%s=%s" % (name, said))
            was_set.append(other_words(name, said, value))
    return live, was_set


def missing_ports(health: Json, pid: int) -> list[int]:
    """The TCP ports on which a process should listen and does not."""
    wanted = health.get("ports", [])
    listening = listening_ports(pid) if wanted else []
    return [port for port in wanted if port not in listening]


def ill_by_healthz(health: Json, node: Answers) -> str:
    """What /healthz says; nothing of nodes that have none."""
    where = health.get("healthz", "")
    status = node(where, "/healthz")[0] if where else 200
    if status == 200:
        return ""
    words = "it answers %s to /healthz" % (status or "nothing")
    return words if status else node.lacks(where, "/healthz", words)


def ill_by_answer(health: Json, node: Answers) -> str:
    """What a live runner says where its orchestrator asks it."""
    wanted = health.get("answers")
    status = node(wanted["where"], wanted["path"])[0] if wanted else 0
    if not wanted or status == wanted["status"]:
        return ""
    words = "it answers %s to %s instead of %d, so its orchestrator hides it"
    return words % (status or "nothing", wanted["path"], wanted["status"])


def ill_by_status(health: Json, node: Answers) -> str:
    """The release that /status names."""
    where = health.get("status")
    if not where:
        return ""
    status, body = node(where, "/status")
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):  # nested without end
        answer = None
    if status != 200 or not isinstance(answer, dict):
        what = "nonsense" if status == 200 else status or "nothing"
        return node.lacks(where, "/status", "it answers %s to /status" % what)
    wanted, version = health.get("version", ""), answer.get("Version")
    if wanted and version is None:
        return node.lacks(where, "/status", "it answers no release to /status")
    if wanted and not is_version(str(version), wanted):
        return "it runs release %s instead of %s" % (str(version)[:80] or "unknown", wanted)
    return ""


def listening_ports(pid: int) -> list[int]:
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


def judged_here(node: str, runtime: str, marker: list[str], facts: Json) -> Json:
    """The verdict on a running node of this host, against the release that its link leads to, with its files."""
    release = release_at("%s/%s" % (CURRENT, node))
    if not release:
        return {"drift": ["its link to a release is gone"]}
    directory = "%s/%s/%s" % (RELEASES, release, node)
    if not os.path.isdir(directory):
        return {"drift": ["its release was removed"]}
    wanted = read_json("%s/%s/.wanted.json" % (RELEASES, release)) or {}
    service = next((service for service in wanted.get("services", []) if service["name"] == node), None)
    gone = unlinked(node) if runtime == "systemd" else []
    changed = drift_of_files(node, runtime, marker, release, service, facts)
    if service is None:
        return {"drift": changed, "unlinked": gone}
    verdict = judged(service, runtime, facts["pid"], directory, wanted.get("setters") or {})
    return {**verdict, "drift": changed + verdict["drift"], "unlinked": gone}


def drift_of_files(
    node: str, runtime: str, marker: list[str], release: str, service: Json | None, facts: Json
) -> list[str]:
    """How what a node was started from was changed on the host since, in words."""
    directory = "%s/%s/%s" % (RELEASES, release, node)
    found = []
    if digest_of_files(directory) != marker[0]:
        found.append("files of its release were changed: %s" % (", ".join(changed_files(release, node)) or "a mode"))
    if secrets_digest(directory) != marker[1]:
        found.append("its secrets were changed on the host")
    if runtime == "systemd":
        name = unit_of(node) + ".service"
        unit = "%s/%s" % (UNITS, name)
        if os.path.lexists(unit) and read(unit) != read("%s/%s" % (directory, name)):
            found.append("its unit was changed")
        if facts.get("dropins"):
            found.append("its unit has additions: %s" % ", ".join(facts["dropins"]))
        if facts.get("stale"):
            found.append("systemd has not read its unit again")
    elif service is not None and service.get("image_id") and facts.get("image") != service["image_id"]:
        found.append("its container was made from another image")
    program = (service or {}).get("program") or {}
    if program.get("sha256") and not is_installed(program):
        found.append("its program was changed or removed on the host")
    return found


def drift_of_process(pid: int, service: Json, directory: str, runtime: str) -> list[str]:
    """How the arguments and the environment of a process differ from those of its release."""
    arguments, environment = read("/proc/%d/cmdline" % pid), read("/proc/%d/environ" % pid)
    if not arguments or environment is None:
        return []  # it ended meanwhile: whether it runs is asked elsewhere
    found = []
    program = service.get("program") or {}
    if program.get("sha256") and not is_same_file("/proc/%d/exe" % pid, program_path(program)):
        found.append("its process runs another program")
    has_arguments = hexdigest(arguments.partition(b"\0")[2])
    since = set_since(service["name"], pid)
    if service.get("arguments") and service["arguments"] not in (has_arguments, since.get("arguments")):
        found.append("its process has other arguments%s" % other_arguments(arguments, directory))
    if since.get("taken"):
        return found  # its settings are those of its release, wherever the process has them from
    has = dict(entry.partition(b"=")[::2] for entry in environment.split(b"\0") if entry)
    wanted: dict[str, str] = {}
    for name in ("node.env", "secrets/secrets.env"):
        wanted.update(variables_in(read("%s/%s" % (directory, name)) or b"", runtime))
    other = sorted(name for name, value in wanted.items() if has.get(name.encode()) != value.encode())
    if other:
        found.append("its process has another %s in its environment" % ", ".join(other))
    return found


NAMED = 5
PLAIN = re.compile(r"[0-9./]{1,30}|true|false")
"""Values of arguments that are shown: numbers and switches, which are never a secret that somebody wrote there."""


def other_arguments(has: bytes, directory: str) -> str:
    """Which arguments of a process differ from those of its release, as the end of a sentence; "" where none does."""
    were = arguments_in((read(directory + "/launch.flags") or b"").decode(errors="replace").splitlines())
    are = arguments_in(has.decode(errors="replace").split("\0")[1:])
    other = sorted(name for name in {*were, *are} if were.get(name) != are.get(name))
    told = ["-%s%s" % (name, in_words(are.get(name), were.get(name))) for name in other[:NAMED]]
    more = " and %d more" % (len(other) - NAMED) if len(other) > NAMED else ""
    return ": %s%s" % (", ".join(told), more) if told else ""


def arguments_in(words: list[str]) -> dict[str, str]:
    """Arguments by the name of their flag. One without a value has "" here, whatever word follows."""
    pairs = (word.lstrip("-").partition("=") for word in words if word.startswith("-"))
    return {name[:60]: value for name, _, value in pairs}


def in_words(now: str | None, before: str | None) -> str:
    """How one argument differs."""
    if now is None:
        return " is missing"
    if before is None:
        return " is new"
    return " is %s instead of %s" % (now, before) if PLAIN.fullmatch(now) and PLAIN.fullmatch(before) else " differs"
