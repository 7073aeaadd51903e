"""Reads the arguments of `docker run`: the container of a node, or of a program that may be a live runner.

In: the words behind `run`. Out: a `Process`, an `Other` where the image is no node's, or None where nothing is started
that can be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from fleetc.adopt.found.words import Fate, Ledger, Mount, Other, Process, Published, Word
from fleetc.adopt.node.flags import TYPES
from fleetc.adopt.read.bounds import OF_RUNS, of_options
from fleetc.adopt.read.env_files import of_files
from fleetc.adopt.read.library import Library
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible

_SWITCHES = frozenset(
    {
        "detach", "interactive", "tty", "rm", "privileged", "init", "read-only", "publish-all", "no-healthcheck",
        "oom-kill-disable", "quiet", "disable-content-trust", "sig-proxy", "help",
    }
)  # fmt: skip
STARTS_NONE = frozenset({
    "build", "cp", "diff", "events", "exec", "history", "images", "info", "inspect", "kill", "load", "login", "logs",
    "network", "pause", "port", "ps", "pull", "push", "rename", "rm", "rmi", "save", "search", "stats", "stop",
    "system", "tag", "top", "version", "volume", "wait",
})  # fmt: skip
"""What Docker is told that starts no container."""
_SHORT_SWITCHES = frozenset("ditPq")
_IMAGE = re.compile(r"(?:^|/)(?:go-)?livepeer(?:[:@]|$)")


def names_node(image: str) -> bool:
    """Whether an image is one of the node by its name."""
    return bool(_IMAGE.search(image))


def docker_process(
    words: list[Word], span: Span, variables: dict[str, Word], ledger: Ledger, library: Library | None = None
) -> Process | None:
    """What a container runs; `library` has the files with variables that it names."""
    options, place = _options(words)
    if place >= len(words):
        return None
    image, arguments = words[place], words[place + 1 :]
    entry = next((word.text for name, word in options if name == "entrypoint"), "")
    first = arguments[0].text.lstrip("-").partition("=")[0] if arguments else ""
    other = not names_node(image.text) and not (first in TYPES and arguments[0].text.startswith("-"))
    if not other and entry and not entry.endswith("livepeer"):
        return None
    account = Ledger() if other else ledger
    for name, word in options:
        _account(name, word, account, _RUNNER_WHY if other else _WHY)
    account.note(image.span, image.text, Fate.UNDERSTOOD,
                 "image of the runner" if other else "image of the node, and its release")  # fmt: skip
    values: dict[str, list[Word]] = {}
    for name, word in options:
        values.setdefault(name, []).append(word)
    network = values["network"][-1].text if "network" in values else "bridge"
    user = values["user"][-1].text if "user" in values else "root"
    name = values["name"][-1].text if "name" in values else ""
    files = of_files([(word, False) for word in values.get("env-file", [])], library, account)
    found = Process(
        name=name,
        container=name,
        span=span,
        words=tuple(arguments),
        variables=files.variables | _environment(values.get("env", []), variables),
        unread=tuple(files.unread),
        runtime="docker",
        image=image,
        user=user,
        home="/root" if user in ("root", "0", "0:0") else "",
        network="host" if network == "host" else "bridge",
        mounts=tuple(_mounts(values)),
        bounds=of_options((name, word.text) for name, word in options),
        published=tuple(published(word.text) for word in values.get("publish", []) if _PORT.fullmatch(word.text)),
        peers=tuple(dict.fromkeys(filter(None, (name, *(w.text for w in values.get("hostname", [])))))),
    )
    asked = _asked_gpus(values["gpus"][-1].text) if "gpus" in values else None
    found = replace(found, sees=seen_gpus(*asked) if asked else visible_gpus(found.variables))
    if not other:
        return found
    seen = gpus_of(*asked) if asked else ()
    ipc = any(word.text == "host" for word in values.get("ipc", []))
    return _other(found, seen, entry, ipc, account)


def _other(found: Process, seen: tuple[int, ...] | str, entry: str, ipc: bool, account: Ledger) -> Other:
    """The container of an image that is no node's."""
    lost = ("the source starts its image by another entrypoint, and a spec by the image's own",) if entry else ()
    return Other(
        **{key: getattr(found, key) for key in Process.__dataclass_fields__}, account=account,
        why="no node: the image is not one of the node", gpus=seen,
        host_ipc=ipc, lost=lost,
    )  # fmt: skip


def _options(words: list[Word]) -> tuple[list[tuple[str, Word]], int]:
    """The options with their values, and where the image stands."""
    short = {"e": "env", "v": "volume", "p": "publish", "u": "user", "w": "workdir", "h": "hostname", "l": "label",
             "m": "memory", "c": "cpu-shares", "a": "attach"}  # fmt: skip
    found: list[tuple[str, Word]] = []
    place = 0
    while place < len(words) and words[place].text.startswith("-"):
        word = words[place]
        place += 1
        if word.text.startswith("--"):
            name, equals, _ = word.text[2:].partition("=")
            name = {"net": "network"}.get(name, name)
            if equals:
                found.append((name, word.part(len(word.text[2:].partition("=")[0]) + 3)))
            elif name in _SWITCHES:
                found.append((name, Word("", word.span)))
            elif place < len(words):
                found.append((name, words[place]))
                place += 1
            continue
        letters = word.text[1:]
        while letters and letters[0] in _SHORT_SWITCHES:
            found.append((letters[0], Word("", word.span)))
            letters = letters[1:]
        if letters:
            name = short.get(letters[0], letters[0])
            if len(letters) > 1:
                value = word.part(word.text.index(letters) + 1)
                found.append((name, Word(value.text.removeprefix("="), value.span, value.holes)))
            elif place < len(words):
                found.append((name, words[place]))
                place += 1
    return found, place


_WHY = {
    "env": "a variable of the process", "volume": "where paths of the container are on the host",
    "mount": "where paths of the container are on the host", "publish": "which ports the host publishes",
    "network": "whether the container has a network of its own", "name": "name of the node",
    "hostname": "a name that other containers use", "gpus": "whether the container sees GPUs",
    "entrypoint": "the program",
}  # fmt: skip


_RUNNER_WHY = {
    **{key: why for key, why in _WHY.items() if key != "entrypoint"}, "name": "name of the runner",
    "publish": "where it is reached; a spec has its own port", "gpus": "GPUs of the runner",
    "ipc": "memory segments of the host",
}  # fmt: skip


def _account(name: str, word: Word, ledger: Ledger, understood: Mapping[str, str]) -> None:
    shown = f"--{name}" if len(name) > 1 else f"-{name}"
    if name in understood:
        ledger.note(word.span, shown, Fate.UNDERSTOOD, understood[name])
    elif name == "env-file":
        ledger.note(word.span, shown, Fate.UNDERSTOOD, "a file with variables of the process")
    else:
        compared = "; what differs is said" if name in OF_RUNS else ""
        ledger.note(word.span, shown, Fate.DROPPED, f"fleetc decides how containers of nodes run{compared}")


def _environment(words: Iterable[Word], variables: dict[str, Word]) -> dict[str, Word]:
    found: dict[str, Word] = {}
    for word in words:
        name, equals, _ = word.text.partition("=")
        if equals:
            found[name] = word.part(len(name) + 1)
        elif name in variables:
            found[name] = variables[name]
        else:
            found[name] = Word("${" + name + "}", word.span, ("${" + name + "}",))
    return found


_PORT = re.compile(r"(?:(?P<address>\[[0-9a-fA-F:]+\]|[0-9.]+):)?(?P<port>[0-9]{1,5}):(?P<inside>[0-9]{1,5})(?:/tcp)?")


def published(text: str) -> Published:
    """A published port, of a text that `_PORT` matches."""
    found = _PORT.fullmatch(text)
    assert found is not None  # noqa: S101  # callers ask first
    address = found["address"] or ""
    return Published("" if address in ("0.0.0.0", "[::]") else address, int(found["port"]), int(found["inside"]))  # noqa: S104  # a source says it


def is_published(text: str) -> bool:
    """Whether a text is a published port in the short form."""
    return _PORT.fullmatch(text) is not None


def _mounts(values: dict[str, list[Word]]) -> Iterable[Mount]:
    for word in values.get("volume", []):
        found = mount(word.text)
        if found is not None:
            yield found
    for word in values.get("mount", []):
        pairs = dict(item.partition("=")[::2] for item in word.text.split(","))
        inside = pairs.get("target") or pairs.get("destination") or pairs.get("dst") or ""
        outside = pairs.get("source") or pairs.get("src") or ""
        if inside:
            yield _mount(inside, outside)


def mount(text: str) -> Mount | None:
    """A volume in the short form: outside:inside:options. A name instead of a path is a volume that Docker keeps."""
    outside, colon, rest = text.partition(":")
    inside = rest.partition(":")[0]
    if not colon:
        return Mount(outside.rstrip("/"), "") if outside.startswith("/") else None
    return _mount(inside, outside)


def _mount(inside: str, outside: str) -> Mount:
    inside = inside.rstrip("/") or "/"
    if outside[:1] in ("/", ".", "~", "$", "`"):
        return Mount(inside, outside.rstrip("/") or "/")
    named = bool(_VOLUME_NAME.fullmatch(outside))
    return Mount(inside, "", name=outside) if named else Mount(inside, "")


_VOLUME_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _asked_gpus(text: str) -> tuple[str, bool]:
    """What `--gpus` asks for, and whether these are ids: `all`, a count, or `device=` with ids, beside other words."""
    ids: list[str] = []
    count, key = "", ""
    for part in re.sub("[\"']", "", text).split(","):
        named, equals, value = part.partition("=")
        key = named if equals else key
        if key == "device":
            ids.append(value if equals else part)
        elif key == "count" or not key:
            count = value or part
    return (",".join(ids), True) if ids else (count or "all", False)


def visible_gpus(variables: Mapping[str, Word]) -> tuple[int, ...] | str:
    """What a container sees that asks for no GPU itself: what its variable says to the runtime of NVIDIA."""
    word = variables.get(VISIBLE)
    if word is None:
        return ()
    return f"its container sees those of {VISIBLE}" if word.holes else seen_gpus(word.text, listed=True)


def seen_gpus(text: str, listed: bool) -> tuple[int, ...] | str:
    """What `gpus_of` says, for the node of a container: () for all, and words for GPUs that have no number here."""
    seen = gpus_of(text, listed)
    if isinstance(seen, tuple):
        return seen
    if text in ("", "all", "-1"):
        return ()
    shown = leaks.shown(visible(text))[:60]
    return f"its container sees {shown}; nvidia-smi -L on the host shows which number that is"


VISIBLE = "NVIDIA_VISIBLE_DEVICES"
"""The variable with the GPUs that the runtime of NVIDIA shows to a container."""


def gpus_of(text: str, listed: bool = False) -> tuple[int, ...] | str:
    """The GPUs that a count, "all" or a list of ids means; a list of UUIDs is all that are seen.

    `listed` says that a number alone is an id and no count.
    """
    ids = text.split(",")
    if not all(item.isascii() and item.isdigit() and int(item[:3]) < 64 for item in ids):
        return () if text in ("", "none", "void") else "all"
    if len(ids) == 1 and not listed:
        return tuple(range(int(text)))
    return tuple(int(item) for item in ids)
