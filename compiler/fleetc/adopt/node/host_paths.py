"""Where the files of a process are on its host, as far as sources say it.

In: a process and a path as it sees it. Out: a `Place`: the path on the host, and what no source says of it. A path that
begins in somebody's home or in the folder of a Compose file is a whole one where people have said which that is.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_core import PydanticCustomError

from fleetc.adopt.found.process import Mount, Process
from fleetc.adopt.found.words import Word
from fleetc.language.fields import check_path
from fleetc.text import leaks

IMAGE_HOME = "/root"
"""The home of the user that containers of the node run as, unless a source says another one."""

HOME, FOLDER, PROJECT = "~", "./", "<PROJECT>"
"""How paths begin, or what they contain, where no source says whose home, which folder or which Compose project."""
EXAMPLE_PATH = "/path/on/the/host"
"""What questions have in place of a path that no source says."""

_VOLUMES = "/var/lib/docker/volumes"
"""Where Docker keeps volumes, unless its settings say otherwise."""
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")
_HERE = re.compile(r"(?:\$PWD|\$\{PWD\}|\$\(\s*pwd\s*\)|`\s*pwd\s*`|\.)(?=/|$)")


@dataclass(frozen=True)
class Place:
    """A path on a host. `open` is what no source says of it, one of HOME, FOLDER and PROJECT, or "" for a known one.

    `volume` is the volume of Docker that it is in.
    """

    path: str
    open: str = ""
    volume: str = ""


@dataclass(frozen=True)
class Folders:
    """What people say of hosts: in whose home `~` is, and where the folder of the sources is; by host, or "" for all.

    A folder may also be that of one source only, by the folder of that source. `nodes` are those of which no file
    says the host, by name, with their hosts; "" is for all that nobody names.
    """

    homes: Mapping[str, str] = field(default_factory=dict)
    directories: Mapping[str, str] = field(default_factory=dict)
    nodes: Mapping[str, str] = field(default_factory=dict)

    def placed(self, process: Process, host: str) -> Process:
        """A process with what is said of its host, by the name that the spec or a source has for it."""
        names = [name for name in (host, process.host) if name]
        home = _first(self.homes, names)
        directory = _first(self.directories, [*filter(None, [posixpath.dirname(process.span.source)]), *names])
        if process.directory and not process.directory.startswith(("/", HOME)):
            directory = posixpath.normpath(posixpath.join(directory, process.directory)) if directory else ""
        if process.runtime != "docker" and process.user not in ("", "root"):
            process = replace(process, home=process.home or home)
        home = process.caller_home or _home_of_root(process) or home
        if process.runtime != "docker" and not process.user:
            process = replace(process, user=_user_of(home), home=process.home or home)
        own = process.directory if process.directory.startswith(("/", HOME)) else ""
        return replace(process, caller_home=home, directory=own or directory or process.directory)


def _home_of_root(process: Process) -> str:
    """The home of root, if a process begins in it: nobody else can."""
    begins = (process.program, process.directory)
    return IMAGE_HOME if any(f"{text}/".startswith(f"{IMAGE_HOME}/") for text in begins) else ""


def _user_of(home: str) -> str:
    """Whose home a directory is; "" where its name does not say it."""
    if home == IMAGE_HOME:
        return "root"
    above, user = posixpath.split(home)
    return user if above == "/home" else ""


def _first(said: Mapping[str, str], names: Sequence[str]) -> str:
    return next((said[name] for name in (*names, "") if name in said), "")


def default_data_dir(home: str, network: str) -> str:
    """Where a node without -dataDir keeps its data."""
    return f"{home.rstrip('/')}/.lpData/{network}"


def home_of(process: Process) -> str:
    """The home of the user that a process runs as; "" where no source says it."""
    said = process.variables.get("HOME")
    if said is not None and said.text.startswith("/") and not said.holes:
        return said.text.rstrip("/") or "/"
    if process.home:
        return process.home
    if process.user == "root":
        return IMAGE_HOME
    if process.runtime == "docker":  # an image knows no user of a number
        return "" if not process.user else "/" if process.user[0].isdigit() else f"/home/{process.user}"
    return "" if process.user else process.caller_home


def opens_home_or_folder(word: Word) -> bool:
    """Whether all that no source says of a path is whose home it begins in, or which folder."""
    found = _HOME.match(word.text) or _HERE.match(word.text)
    return found is not None and all(hole == found[0] for hole in word.holes)


def normal(path: str) -> str:
    """An absolute path without empty and single-dot parts; two dots stay, because they may go through a link."""
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))


def plain_path(path: str) -> str | None:
    """An absolute path in the form of a spec; None for one that no spec can have."""
    if not path.startswith("/"):
        return None
    text = normal(path)
    try:
        return check_path(text)
    except PydanticCustomError:
        return None


def callers_place(process: Process, path: str) -> Place | None:
    """The place of a path that whoever starts a process names; None for one that no spec can have."""
    home = _HOME.match(path)
    if home is not None:
        known = process.caller_home if process.runtime == "docker" else home_of(process)
        return _whole(known, path[home.end() :], HOME)
    if path.startswith("/"):
        text = plain_path(path)
        return Place(text) if text is not None else None
    here = _HERE.match(path)
    rest = path[here.end() :] if here is not None else f"/{path}"
    if process.directory.startswith(HOME):
        whole = posixpath.normpath(f"{process.directory}{rest}")
        return callers_place(replace(process, directory=""), whole) if whole.startswith(HOME) else None
    if process.directory and not process.directory.startswith("/"):  # from the folder of its source
        return _whole("", f"/{posixpath.normpath(process.directory + rest)}", FOLDER)
    if process.directory.startswith("/"):  # Compose and shells both cut out two dots
        text = plain_path(posixpath.normpath(f"{process.directory}{rest}"))
        return Place(text) if text is not None else None
    return _whole("", rest, FOLDER)


def _whole(base: str, rest: str, begin: str) -> Place | None:
    """The place below a base; where no source says the base, one that is open and begins as people wrote it."""
    if base:
        text = plain_path(f"{base}{rest}")
        return Place(text) if text is not None else None
    text = "/" if not rest.strip("/") else plain_path(rest.replace("/../", "/"))
    if text is None:
        return None
    return Place(f"{begin.rstrip('/')}{normal(rest)}".rstrip("/"), begin)


def on_host(process: Process, path: str) -> Place | None:
    """The place on the host of a path that a process sees; None where it is inside its container alone."""
    if process.runtime != "docker":
        return callers_place(process, path)
    if path.startswith("~/"):
        home = home_of(process)
        if not home:
            return None
        path = f"{home}/{path[2:]}"
    if not path.startswith("/"):
        return None
    inside = normal(path)
    best = mount_of(process, inside)
    if best is None:
        return None
    rest = inside[len(best.inside.rstrip("/")) :]
    if best.outside:
        return callers_place(process, best.outside + rest)
    return _in_volume(process, best, rest)


def mount_of(process: Process, inside: str) -> Mount | None:
    """The innermost mount that a path of a container is in."""
    fitting = [one for one in process.mounts if inside == one.inside or inside.startswith(f"{one.inside.rstrip('/')}/")]
    return max(fitting, key=lambda one: len(one.inside), default=None)


def _in_volume(process: Process, mount: Mount, rest: str) -> Place | None:
    if not mount.name:
        return None
    project = ""
    if mount.of_project:
        project = process.project or project_of(process.directory) or PROJECT
    name = f"{project}_{mount.name}" if project else mount.name
    known = plain_path(f"{_VOLUMES}/{name.replace(PROJECT, 'x')}/_data{rest}")
    if known is None:
        return None
    return Place(normal(f"{_VOLUMES}/{name}/_data{rest}"), PROJECT if project == PROJECT else "", name)


def project_of(directory: str) -> str:
    """The name that Compose gives a project after its folder."""
    return re.sub(r"^[^a-z0-9]+|[^a-z0-9_-]", "", posixpath.basename(directory.rstrip("/")).lower())


def plain_container(name: str) -> bool:
    """Whether a container can be named in a command that people paste."""
    return bool(re.fullmatch(r"[A-Za-z0-9_.-]+|\$\(docker compose ps -q [A-Za-z0-9_.-]+\)", name))


def known_host_path(process: Process, path: str) -> str | None:
    """The path on the host of a path that a process sees; None where no source says all of it."""
    place = on_host(process, path)
    return place.path if place is not None and not place.open else None


def whereabouts(process: Process, path: str) -> str:
    """Where a path of a process is that is none of the host, in words."""
    mount = mount_of(process, normal(path)) if process.runtime == "docker" and path.startswith("/") else None
    if mount is None:
        return f"the source says {leaks.shown(path)}"
    return f"{IN_VOLUME}{leaks.shown(mount.volume)}"


IN_VOLUME = "today it is in "
"""How the words begin about a path in a volume: all paths there are asked for alike."""


# ------------------------------------------------------------------------------------------------ questions


def with_folders(value: Any) -> Any:
    """A value of a spec with an example for each home, folder and project that its paths leave open."""
    if isinstance(value, Mapping):
        return {key: with_folders(item) for key, item in value.items()}
    if not isinstance(value, str):
        return value
    if value.startswith((f"{HOME}/", FOLDER)):
        value = posixpath.normpath(f"{_EXAMPLE}/{value.partition('/')[2]}")
    return value.replace(f"{_VOLUMES}/{PROJECT}_", _EXAMPLE_VOLUME)


_EXAMPLE, _EXAMPLE_VOLUME = "/folders/folder", f"{_VOLUMES}/project_"


def fits_example(example: object, answer: object) -> bool:
    """Whether an answer has what sources say of a path whose home, folder or project is an example: its end."""
    if not isinstance(example, str) or not isinstance(answer, str):
        return True
    for begin in (_EXAMPLE, posixpath.dirname(_EXAMPLE)):
        if f"{example}/".startswith(f"{begin}/"):
            return answer.endswith(example.removeprefix(begin))
    return not example.startswith(_EXAMPLE_VOLUME) or answer.endswith(example.removeprefix(_EXAMPLE_VOLUME[:-1]))


def is_open(value: Any) -> bool:
    """Whether a path of a value leaves its home, folder or project open."""
    return bool(with_folders(value) != value)


ANSWERS = "--answers FILE -o FILE (this file)"
"""How people adopt again, and keep what they have answered."""
_MOST_SOURCES = 3
"""Sources that one question names."""
FOLDER_KEYS = ("~", "folder")
"""With what questions about homes and folders begin."""


@dataclass
class Opened:
    """Places that are not whole in a spec: what is open, of which source, on which host, and the nodes with them."""

    found: dict[tuple[str, str, str], list[Process]] = field(default_factory=dict)

    def add(self, host: str, process: Process, place: Place) -> None:
        """Remember a place that goes into the spec."""
        if place.open:
            known = self.found.setdefault((host, process.span.source, place.open), [])
            if process not in known:
                known.append(process)

    def questions(self, alone: bool) -> list[tuple[str, str]]:
        """A line for each thing to find out, with its host, which may be `alone` in the fleet: a home of each user that
        a host has, and a folder for each that its sources are in.
        """
        homes: dict[tuple[str, str], dict[str, list[Process]]] = {}
        folders: dict[tuple[str, str], dict[str, list[Process]]] = {}
        kinds: dict[tuple[str, str], set[str]] = {}
        for (host, source, what), nodes in self.found.items():
            for one in nodes:
                home = what == HOME
                key = host, _named_user(one) if home else posixpath.dirname(source)
                (homes if home else folders).setdefault(key, {}).setdefault(source, []).append(one)
                if not home:
                    kinds.setdefault(key, set()).add(what)
        found = [(host, _home_question(host, user, sources, alone)) for (host, user), sources in homes.items()]
        return found + [(key[0], _folder_question(key[0], of, kinds[key], alone)) for key, of in folders.items()]


def _named_user(process: Process) -> str:
    """The user of a process of a host whose name its source says."""
    named = process.runtime != "docker" and re.fullmatch("[a-z_][a-z0-9_-]*", process.user)
    return process.user if named else ""


def _sources(sources: Mapping[str, object]) -> str:
    """The names of sources, all of which are in one folder or on one host."""
    *others, last = map(leaks.shown, sources)
    if len(others) >= _MOST_SOURCES:
        others, last = others[: _MOST_SOURCES - 1], f"{len(others) + 2 - _MOST_SOURCES} more"
    return f"{', '.join(others)} and {last}" if others else last


def _home_question(host: str, user: str, sources: Mapping[str, Sequence[Process]], alone: bool) -> str:
    nodes = [one for of in sources.values() for one in of]
    likely = _likely_home(nodes) or f"/home/{user or 'NAME'}"
    more = "" if any(one.runtime == "docker" for one in nodes) else f', and node_user = "{_user_of(likely)}" here'
    asked = f"in whose home? No source says who starts {_sources(sources)}"
    if user:
        asked, more = f"where is the home of {user}? On its host, getent passwd {user} shows it", ""
    return (
        f"TODO ~: {asked}: write it for each ~ below, such as {likely}{more}, or adopt again with {ANSWERS} --home "
        f"{'' if alone else f'{host}='}{likely}"
    )


def _likely_home(nodes: Sequence[Process]) -> str:
    """The home that other paths of the processes are in."""
    texts = (text for one in nodes for text in (one.program, one.directory, *(word.text for word in one.words)))
    return next((found[0] for text in texts if (found := re.search(r"/home/[a-z][a-z0-9_-]*(?=/)", text))), "")


def _folder_question(host: str, sources: Mapping[str, Sequence[Process]], kinds: set[str], alone: bool) -> str:
    nodes, source = [one for of in sources.values() for one in of], min(sources)
    asked = f"where on this host {'are' if len(sources) > 1 else 'is'} {_sources(sources)}?"
    project, folder = PROJECT in kinds, FOLDER in kinds
    name = posixpath.basename(posixpath.dirname(source)) or "livepeer"
    likely = f"/opt/{name}" if plain_path(f"/opt/{name}") else "/opt/livepeer"
    wanted = "write it for each ./ below" if folder else ""
    if project:
        wanted += f"{', and ' if folder else 'write '}the last part of it for each {PROJECT}"
    shows = next(
        (
            f"; docker inspect -f '{{{{json .Mounts}}}}' {one.container} shows both sides of each volume"
            for one in nodes
            if one.runtime == "docker" and plain_container(one.container)
        ),
        "",
    )
    return (
        f"TODO folder: {asked} {wanted[:1].upper()}{wanted[1:]}, or adopt again "
        f"with {ANSWERS} --directory {'' if alone else f'{host}='}{likely}{shows}"
    )
