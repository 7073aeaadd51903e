"""Where the files of a process are: on its host, and which of the sources each is.

In: a process with a path as it sees it, what people say of homes and folders, and the sources. Out: its path on the
host, or `whereabouts` in words where no source says all of it; and the source of a file. No path opens a file here.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pydantic_core import PydanticCustomError

from fleetc.adopt.found.library import Library, Said
from fleetc.adopt.found.process import Mount, Process, Word
from fleetc.language.fields import check_path
from fleetc.text import leaks
from fleetc.toml.document import Source

IMAGE_HOME = "/root"
"""The home of the user that containers of the node run as, unless a source says another one."""
EXAMPLE_PATH = "/..."
"""What questions have in place of a path that no source says."""
_VOLUMES = "/var/lib/docker/volumes"
"""Where Docker keeps volumes, unless its settings say otherwise."""
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")
_HOLES = ("$", "<", "{", "`")
_HERE = re.compile(r"(?:\$PWD|\$\{PWD\}|\$\(\s*pwd\s*\)|`\s*pwd\s*`|\.)(?=/|$)")


def located(process: Process, host: str, said: Said) -> Process:
    """A process with what people say of its host, by the name that the spec or a source has for it."""
    names = [name for name in (host, process.host) if name]
    home = _first(said.homes, names)
    directory = _first(said.directories, [*filter(None, [posixpath.dirname(process.span.source)]), *names])
    own = process.directory
    if own and not own.startswith("/") and not _HOME.match(own):
        own = posixpath.normpath(posixpath.join(directory, own)) if directory else own
    if any(f"{text}/".startswith(f"{IMAGE_HOME}/") for text in (process.program, own)):
        home = IMAGE_HOME  # nobody else can start something there
    home = process.caller_home or home
    if process.runtime != "docker" and not process.user:
        above, user = posixpath.split(home)
        user = "root" if home == IMAGE_HOME else user if above == "/home" else ""
        process = replace(process, user=user, home=process.home or home)
    elif process.runtime != "docker" and process.user != "root":
        process = replace(process, home=process.home or home)
    return replace(process, caller_home=home, directory=own or directory)


def _first(named: Mapping[str, str], names: Sequence[str]) -> str:
    return next((named[name] for name in (*names, "") if name in named), "")


def default_data_dir(home: str, network: str) -> str:
    """Where a node without -dataDir keeps its data."""
    return f"{home.rstrip('/')}/.lpData/{network}"


def home_of(process: Process) -> str:
    """The home of the user that a process runs as; "" where no source says it."""
    variable = process.variables.get("HOME")
    if variable is not None and variable.text.startswith("/") and not variable.holes:
        return variable.text.rstrip("/") or "/"
    if process.home or process.user == "root":
        return process.home or IMAGE_HOME
    if process.runtime == "docker":  # an image knows no user of a number
        return "" if not process.user else "/" if process.user[0].isdigit() else f"/home/{process.user}"
    return "" if process.user else process.caller_home


def plain_path(path: str) -> str | None:
    """An absolute path in the form of a spec; None for one that no spec can have. Two dots may go through a link."""
    try:
        return check_path(_normal(path)) if path.startswith("/") else None
    except PydanticCustomError:
        return None


def _normal(path: str) -> str:
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))


def callers_place(process: Process, path: str) -> str | None:
    """The path on the host of one that whoever starts a process names; None where no source says all of it."""
    home = _HOME.match(path)
    if home is not None:
        base = process.caller_home if process.runtime == "docker" else home_of(process)
        path = f"{base}{path[home.end() :]}" if base else ""
    elif not path.startswith("/"):
        here = _HERE.match(path)
        if here is None and path.startswith(_HOLES):
            return None
        rest = path[here.end() :] if here is not None else f"/{path}"
        if _HOME.match(process.directory):  # Compose and shells both cut out two dots
            below = posixpath.normpath(f"{process.directory}{rest}")
            return callers_place(replace(process, directory=""), below) if _HOME.match(below) else None
        path = posixpath.normpath(f"{process.directory}{rest}") if process.directory.startswith("/") else ""
    return plain_path(path)


def on_host(process: Process, path: str) -> str | None:
    """The path on the host of a path that a process sees; None where no source says all of it."""
    if process.runtime != "docker":
        return callers_place(process, path)
    inside, mount = _mounted(process, path)
    if mount is None:
        return None
    rest = inside[len(mount.inside.rstrip("/")) :]
    if mount.outside:
        return callers_place(process, mount.outside + rest)
    name = f"{_project(process)}_{mount.name}" if mount.of_project else mount.name
    return plain_path(f"{_VOLUMES}/{name}/_data{rest}") if mount.name and not name.startswith("_") else None


def _mounted(process: Process, path: str) -> tuple[str, Mount | None]:
    """A path of a container in full, and the innermost mount that it is in."""
    inside = _normal(f"{home_of(process)}{path[1:]}" if path.startswith("~/") and home_of(process) else path)
    fitting = [one for one in process.mounts if f"{inside}/".startswith(f"{one.inside.rstrip('/')}/")]
    known = path.startswith(("/", "~/"))
    return inside, max(fitting, key=lambda one: len(one.inside), default=None) if known else None


def _project(process: Process) -> str:
    """The name of a Compose project, which is that of its folder if no source says it."""
    folder = posixpath.basename(process.directory.rstrip("/")).lower()
    return process.project or re.sub(r"^[^a-z0-9]+|[^a-z0-9_-]", "", folder)


def whereabouts(process: Process, path: str, of_caller: bool = False) -> str:
    """Where a path is today that `on_host` does not know, or `callers_place` for one `of_caller`, in words."""
    if process.runtime == "docker" and not of_caller:
        inside, mount = _mounted(process, path)
        if mount is None:
            return f"today {leaks.shown(path)} inside the container alone"
        if not mount.outside:
            project = "; --directory says of which Compose project it is"
            return f"today in the volume {mount.name}{project}" if mount.name else f"today in {mount.volume}"
        path = mount.outside + inside[len(mount.inside.rstrip("/")) :]
    of_home = _HOME.match(path) or (not path.startswith("/") and _HOME.match(process.directory))
    known = path.startswith(("/", *_HOLES)) and not _HERE.match(path)
    says = "; --home says whose home that is" if of_home else "" if known else "; --directory says from which folder"
    return f"today {leaks.shown(path)}{says}"


# -------------------------------------------------------------------------------------------------- sources


class OwnFile(NamedTuple):
    """A source that a process reads; `guess` says in words where the file really is, if only its name fits."""

    source: Source | None
    guess: str = ""


def own_file(library: Library, process: Process, path: str) -> OwnFile:
    """The source that a path means to a process: through the mounts of its container, else by its name."""
    beside = process.span.source
    if process.runtime != "docker" or not path.startswith("/"):
        return OwnFile(library.find(path, beside))
    inside, mount = _mounted(process, path)
    if mount is not None and mount.outside:
        outside = mount.outside + inside[len(mount.inside.rstrip("/")) :]
        known = process.directory.rstrip("/")
        near = f".{outside[len(known) :]}" if known.startswith("/") and outside.startswith(f"{known}/") else outside
        name = posixpath.normpath(posixpath.join(posixpath.dirname(beside), near)) if near.startswith(".") else ""
        return OwnFile(library.named(name) or library.find(outside, beside))
    source = library.find(path, beside)
    by_name = source is not None and source.name in library.sources
    return OwnFile(source, whereabouts(process, path) if by_name else "")


def looks_like_path(text: str) -> bool:
    """Whether a text that may be a secret or a path is a path."""
    return text.startswith(("/", "./", "../", "~/", "${HOME}/")) and "\n" not in text and len(text) < 1000


def names_document(text: str) -> bool:
    """Whether a text that may be a document or the path of one is a path, also one in the directory of the node."""
    return looks_like_path(text) or (text.endswith(".json") and not text.lstrip().startswith(("{", "[")))


def secret_file(word: Word, library: Library, beside: str) -> str:
    """The path that a text is that may be a secret or the path of one: a whole path, one in a folder that no source
    says, or the name of a source, as the node reads a file where it starts. "" where it may be the secret.
    """
    folder = "|".join(map(re.escape, word.holes))
    if looks_like_path(word.text) or re.fullmatch(rf"(?:{folder})(?:/[A-Za-z0-9._${{}}-]+)+", word.text):
        return word.text
    return f"./{word.text}" if not word.holes and library.find(word.text, beside) is not None else ""
