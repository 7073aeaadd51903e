"""Finds the node processes of a host that fleetc may not have started, and changes nothing.

In: a request with what the node's flags are, and which of them name files to read. Out: processes with arguments,
variables, units or containers, and the texts of those files, all without secrets. What a flag for a secret names is
never opened, and nothing of a keystore is told.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import re
import shlex
from collections.abc import Iterator

from .hiding import Hider, lines_of
from .places import MARKERS, RUN, UNITS, Json
from .processes import is_same_file, process_of
from .releases import unit_of
from .system import Ids, names_in, read, run

MOST_PROCESSES = 200
MOST_FILES = 400
FILE_BYTES = 1024 * 1024
ALL_BYTES = 8 * 1024 * 1024
MOST_WORDS = 2000
VARIABLES = re.compile(
    "LP_[A-Z0-9_]+|HOME|(?:CUDA|NVIDIA|AWS|GOOGLE|GO)[A-Z0-9_]*|(?:https?|no)_proxy|(?:HTTPS?|NO)_PROXY"
)
"""Variables that the node, or a library in it, reads. Of others only the names are told."""
STARTERS = frozenset(
    {
        "sh", "bash", "dash", "zsh", "env", "sudo", "su", "docker", "podman", "containerd-shim-runc-v2", "runc",
        "tini", "docker-init", "dumb-init", "nohup", "timeout", "systemd-run", "ssh", "screen", "tmux", "SCREEN",
        "livepeer_cli", "livepeer_bench", "livepeer_router",
    }
)  # fmt: skip
"""Programs that have the arguments of a node without being one."""
UNIT_KEYS = frozenset(
    {
        "Type", "User", "Group", "WorkingDirectory", "Restart", "RestartSec", "EnvironmentFile", "LimitNOFILE",
        "SupplementaryGroups", "KillSignal", "TimeoutStopSec", "DynamicUser", "RootDirectory",
        "NetworkNamespacePath", "LoadCredential",
    }
)  # fmt: skip
"""Settings of a unit whose value is told; of others only the names."""
LIMITS = re.compile(
    "(?:Limit|Memory|CPU|IO|Tasks|OOM|StartLimit|Numa|Timeout|RuntimeMax|Restart)[A-Za-z]*|AllowedCPUs|Nice|Slice|UMask"
    "|(?:Private|Protect|Restrict|Lock)[A-Za-z]+|NoNewPrivileges|AmbientCapabilities|CapabilityBoundingSet|Delegate"
)
"""Those that bound a process: told where the value is one of `BOUND`."""
ORDERS = re.compile(
    "After|Before|Wants|Requires|Requisite|BindsTo|PartOf|Upholds|Conflicts|OnFailure|OnSuccess|JoinsNamespaceOf|Also"
    "|(?:Requires|Wants)MountsFor|(?:Wanted|Required|Upheld)By|Alias|(?:Stop|Reload)PropagatedFrom"
    "|Propagates(?:Stop|Reload)To"
)
"""Those with names of other units, or with paths: told where the value is `NAMES`."""
NAMES = re.compile(r"[A-Za-z0-9/@%.:_\\-]{1,120}(?: +[A-Za-z0-9/@%.:_\\-]{1,120}){0,30}")
BOUND = re.compile(r"[A-Za-z0-9%.:,_~+-]{1,40}(?: [A-Za-z0-9%.:,_~+-]{1,40}){0,7}")
TOLD = ((LIMITS, BOUND), (ORDERS, NAMES))
ACCOUNT = re.compile(r"(?:--?ethAcctAddr[=\s\0]\s*|LP_ETHACCTADDR=)[\"']?(?:0x)?([0-9a-fA-F]{40})\b")
REWARD = re.compile(r"(?:--?reward|LP_REWARD)(?:=[\"']?(?:true|1|t)\b|(?=[\s\0]))", re.IGNORECASE)


def do_find(request: Json) -> Json:
    """The node processes of this host. Changes nothing."""
    hider = Hider(request["types"], request["secret"])
    finder = Finder(hider, request["files"], request["roles"])
    processes = [finder.process(*one) for one in finder.running()]
    return {
        "changed": False,
        "processes": processes[:MOST_PROCESSES],
        "files": finder.files,
        "more": max(0, len(processes) - MOST_PROCESSES),
        "managed": names_in(MARKERS),
    }


class Finder:
    """One look at a host. `named` are flags that name files to read, `roles` those that say what a node is."""

    def __init__(self, hider: Hider, named: list[str], roles: list[str]) -> None:
        self.hider, self.named, self.roles = hider, named, roles
        self.files: list[Json] = []
        self._units: dict[str, Json] = {}
        self._left = ALL_BYTES

    def running(self) -> Iterator[tuple[int, str, list[str]]]:
        """Pid, program and words of each process that is a node."""
        for name in sorted(os.listdir("/proc"), key=lambda text: (len(text), text)):
            if not name.isdigit():
                continue
            words = text_of(read("/proc/%s/cmdline" % name) or b"").split("\0")[:-1]
            try:
                program = os.readlink("/proc/%s/exe" % name)
            except PermissionError:  # one of somebody else
                program = words[0] if words else ""
            except OSError:  # one of the kernel, or one that ended
                continue
            if words and self.is_node(program, words):
                yield int(name), program, words

    def is_node(self, program: str, words: list[str]) -> bool:
        """Whether a process is a node: by the name of its program, or by flags that only a node has."""
        names = {os.path.basename(text.partition(" (deleted)")[0]) for text in (program, words[0])}
        if names & STARTERS:
            return False
        flags = [word.lstrip("-").partition("=")[0] for word in words[1:] if word.startswith("-")]
        known = [flag for flag in flags if flag in self.hider.types]
        by_flags = len(known) > 1 and flags[0] in self.hider.types and any(flag in self.roles for flag in known)
        return "livepeer" in names or by_flags

    def process(self, pid: int, program: str, words: list[str]) -> Json:
        """What is told of one process."""
        place = "/proc/%d" % pid
        environment = environment_of(place)
        variables = dict(entry.partition("=")[::2] for entry in text_of(environment or b"").split("\0") if "=" in entry)
        unit, container = where_in((read(place + "/cgroup") or b"").decode(errors="replace"))
        facts = container_facts(container) if container else {}
        try:
            directory = os.readlink(place + "/cwd")
        except OSError:
            directory = ""
        view = View(pid, directory, bool(container))
        secret = self._paths(words, variables, self.hider.secret)
        for path in self._paths(words, variables, frozenset(self.named)):
            if path not in secret:
                self._read(view, path)
        config = self._paths(words, variables, frozenset(["config"]))
        for path in config:
            for inner in self._paths_in_config(view, path):
                if inner not in secret:
                    self._read(view, inner)
        own = {name: value for name, value in variables.items() if VARIABLES.fullmatch(name)}
        return {
            "pid": pid,
            "process": process_of(pid),
            "program": program,
            "arguments": self.hider.arguments(words[1 : MOST_WORDS + 1], view.is_file),
            "more_arguments": max(0, len(words) - 1 - MOST_WORDS),
            "environment": {
                name: self.hider.variable(name, value, view.is_file(value)) for name, value in sorted(own.items())
            },
            "environment_read": environment is not None,
            "other_variables": sorted(name for name in variables if name not in own)[:MOST_WORDS],
            "directory": directory,
            "user": user_of(view.ids.user),
            "unit": self._unit(unit) if unit and not container else None,
            "container": facts or ({"id": container} if container else None),
        }

    def _paths(self, words: list[str], variables: dict[str, str], flags: frozenset[str]) -> list[str]:
        """What flags are given, as words or as variables."""
        found = []
        for place, word in enumerate(words):
            name, equals, value = word.lstrip("-").partition("=")
            if word.startswith("-") and name in flags:
                found += [value] if equals else words[place + 1 : place + 2]
        found += [value for name, value in variables.items() if self.hider.of_variable.get(name) in flags]
        return [path for path in dict.fromkeys(found) if path]

    def _paths_in_config(self, view: View, path: str) -> list[str]:
        """Files that a config file names."""
        lines = [
            (self.hider.of_variable.get(key, key), value) for key, value in lines_of(view.content(path) or "") if value
        ]
        secret = {value for key, value in lines if key in self.hider.secret}
        return [value for key, value in lines if key in self.named and value not in secret]

    def _read(self, view: View, path: str) -> None:
        """Take the text of a file, if it is one that a node reads: JSON, or lines of settings."""
        name = path if path.startswith("/") else os.path.join(view.directory or "/", path)
        if not view.is_file(path) or len(self.files) >= MOST_FILES:
            return
        if any((file["pid"], file["path"]) == (view.pid, name) for file in self.files):
            return
        text = view.content(path)
        if text is not None and '"ciphertext"' in text:
            return  # a keystore, whatever flag names it
        shown = "" if text is None else self.hider.document(text) or self._lines(text, view)
        why = "it is too large, or no text" if text is None else "" if shown else "it is neither JSON nor a config file"
        if len(shown) > self._left:
            shown, why = "", "there is too much to read on this host"
        self._left -= len(shown)
        self.files.append({"pid": view.pid, "path": name, "text": shown, "why": why})

    def _lines(self, text: str, view: View) -> str:
        """A config file; "" for a text of which less than half are lines with a flag of the node."""
        lines = [key for key, _ in lines_of(text)]
        known = [key for key in lines if key in self.hider.types or key in self.hider.of_variable]
        return self.hider.config(text, view.is_file) if len(known) * 2 > len(lines) else ""

    def _unit(self, name: str) -> Json:
        """A unit with its drop-ins: how it starts its process, and settings whose value is no secret."""
        if name not in self._units:
            asked = "--property=FragmentPath,DropInPaths,UnitFileState,NeedDaemonReload"
            done = run("systemctl", "show", asked, name, seconds=20)
            facts = dict(line.split("=", 1) for line in done.out.splitlines() if "=" in line)
            paths = [path for path in (facts.get("FragmentPath", ""), *facts.get("DropInPaths", "").split()) if path]
            settings = [one for path in paths[:50] for one in self._settings(path)]
            self._units[name] = {
                "name": name,
                "paths": paths[:50],
                "enabled": facts.get("UnitFileState", ""),
                "stale": facts.get("NeedDaemonReload") == "yes",
                "settings": settings[:MOST_WORDS],
            }
        return self._units[name]

    def _settings(self, path: str) -> Iterator[list[str]]:
        """Key and value of each setting of a unit that may be told; the value is "" where it may not."""
        text = re.sub(r"\\\n", " ", text_of((read(path) or b"")[:FILE_BYTES]))
        for line in text.splitlines():
            key, equals, value = line.partition("=")
            key, value = key.strip(), value.strip()
            if not equals or not re.fullmatch("[A-Za-z0-9]{1,60}", key):
                continue
            if key == "ExecStart" and value:
                yield [key, self._command(value)]
            elif key in UNIT_KEYS or any(keys.fullmatch(key) and told.fullmatch(value) for keys, told in TOLD):
                yield [key, value]
            elif key.startswith("Exec"):
                program = re.match(r"[@:+!-]*(/[A-Za-z0-9/._-]{1,100})( |$)", value)
                yield [key, program[1] + (" ..." if program[2] else "") if program else ""]
            else:
                yield [key, ""]

    def _command(self, value: str) -> str:
        """The command line of a unit without its secrets; "" for one that no node is in, or that systemd fills in."""
        try:
            words = shlex.split(value)
        except ValueError:
            return ""
        program = words[0].lstrip("@-:+!") if words else ""
        if not program or "$" in value or "%" in value or not self.is_node(program, [program, *words[1:]]):
            return ""
        return " ".join([program, *map(shlex.quote, self.hider.arguments(words[1:], os.path.isfile))])


class View:
    """The files of a host as a process sees them: opened with its rights, or in a container on a way without links."""

    def __init__(self, pid: int, directory: str, contained: bool) -> None:
        self.pid, self.directory, self.contained = pid, directory, contained
        status = (read("/proc/%d/status" % pid) or b"").decode(errors="replace")
        numbers = re.findall(r"(?m)^[UG]id:\s+\d+\s+(\d+)", status)
        self.ids = Ids(int(numbers[0]), int(numbers[1])) if len(numbers) == 2 else Ids(65534, 65534)

    def is_file(self, path: str) -> bool:
        """Whether a path is that of a plain file."""
        return 0 < len(path) < 1000 and "\n" not in path and "\0" not in path and os.path.isfile(self._outside(path))

    def _outside(self, path: str) -> str:
        path = os.path.join(self.directory or "/", path)
        return os.path.normpath("/proc/%d/root/%s" % (self.pid, path)) if self.contained else path

    def content(self, path: str) -> str | None:
        """The text of a file; None for one that the process cannot read, that is too large or no text."""
        whole = os.path.join(self.directory or "/", path)
        if self.contained:
            content = without_links("/proc/%d/root" % self.pid, whole)
        else:
            own = self.ids if os.geteuid() == 0 else None
            done = run("head", "--bytes=%d" % (FILE_BYTES + 1), "--", whole, seconds=20, ids=own)
            content = None if done.status else done.out.encode()
        if content is None or len(content) > FILE_BYTES or b"\0" in content:
            return None
        with contextlib.suppress(UnicodeDecodeError):
            return content.decode()
        return None


def without_links(root: str, path: str) -> bytes | None:
    """A file below a directory, on a way without links: a link in a container leads to a file of the host."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    opened: list[int] = []
    if ".." in parts:
        return None
    try:
        opened.append(os.open(root, os.O_RDONLY | os.O_DIRECTORY))
        for part in parts[:-1]:
            opened.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[-1]))
        opened.append(os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened[-1]))
        return os.read(opened[-1], FILE_BYTES + 1)
    except (OSError, IndexError):
        return None
    finally:
        for descriptor in opened:
            os.close(descriptor)


def strangers(nodes: set[str], pids: set[str]) -> list[Json]:
    """What has an account, which is no secret, and is none of these nodes: processes, and units of the next boot.

    Those of machines within this one are not of this host.
    """
    own = {*pids, *(unit_of(node) for node in nodes)}
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for name in filter(str.isdigit, names_in("/proc")):
        words = text_of(read("/proc/%s/cmdline" % name) or b"")
        program = os.path.basename(words.partition("\0")[0])
        words += text_of(environment_of("/proc/" + name) or b"") if program == "livepeer" else ""
        account = ACCOUNT.search(words)
        if account is None or program in STARTERS:
            continue
        unit, container = where_in(text_of(read("/proc/%s/cgroup" % name) or b""))
        container = container_facts(container).get("name", "") if container else ""
        spaces = () if container else ("pid",) if unit else ("pid", "mnt")
        here = all(is_same_file("/proc/%s/ns/%s" % (name, space), "/proc/self/ns/" + space) for space in spaces)
        if here and own.isdisjoint((name, container, unit.partition(".")[0])):
            process = "the process %s %s%s" % (program[:60], name, " of %s" % unit if unit else "")
            what = "the container %s" % container if container else process
            found.setdefault((container or unit or name, account[1].lower()), (what, words))
    for place in (UNITS, RUN + "/systemd/system"):
        for name in names_in(place):
            text = text_of(read("%s/%s" % (place, name)) or b"") if name.endswith(".service") else ""
            account = ACCOUNT.search(text)
            enabled = account and run("systemctl", "is-enabled", name).out.startswith("enabled")
            if account and enabled and name.partition(".")[0] not in own:
                what = "the unit %s, which starts at the next boot," % name
                found.setdefault((name, account[1].lower()), (what, text))
    told = ((what, key[1], REWARD.search(text) is not None) for key, (what, text) in found.items())
    return [{"what": what, "account": "0x" + account, "reward": reward} for what, account, reward in told]


def where_in(groups: str) -> tuple[str, str]:
    """The unit and the container that a process is in, by its control groups; "" without one."""
    container = re.search(r"(?:docker[-/]|libpod-|/)([0-9a-f]{64})(?:\.scope|/|$)", groups, re.M)
    units = re.findall(r"/([A-Za-z0-9:_.\\@-]+\.service)(?=/|$)", groups, re.M)
    return (units[-1] if units else ""), (container[1] if container else "")


def container_facts(identity: str) -> Json:
    """What Docker says of a container that is no secret; {} where it does not know it."""
    done = run("docker", "container", "inspect", identity, seconds=20)
    try:
        (told,) = json.loads(done.out)
        labels = told["Config"].get("Labels") or {}
        return {
            "id": identity,
            "name": told["Name"].lstrip("/"),
            "image": told["Config"]["Image"],
            "network": told["HostConfig"]["NetworkMode"],
            "restart": (told["HostConfig"].get("RestartPolicy") or {}).get("Name", ""),
            "user": told["Config"].get("User", ""),
            "mounts": [
                {"inside": one["Destination"], "outside": one.get("Source", "") if one["Type"] == "bind" else ""}
                for one in told.get("Mounts") or []
            ],
            "ports": [
                {"inside": inside, "address": one.get("HostIp", ""), "port": one.get("HostPort", "")}
                for inside, ends in (told["HostConfig"].get("PortBindings") or {}).items()
                for one in ends or []
            ],
            "project": labels.get("com.docker.compose.project", ""),
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def environment_of(place: str) -> bytes | None:
    """The variables of a process; None for those that this user may not read, or of a process that has ended."""
    try:
        return read(place + "/environ")
    except PermissionError:
        return None


def text_of(content: bytes) -> str:
    """Text of a process, which may have any bytes."""
    return content.decode(errors="replace")


def user_of(number: int) -> str:
    """The name of a user; its number where it has none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
