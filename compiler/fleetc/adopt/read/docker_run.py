"""Reads the arguments of `docker run`, and the forms that Compose shares with it: mounts, ports, GPUs.

In: the words behind `run`. Out: a `Process`, an `Other` where the image is no node's, or None where nothing is started
that can be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Mount, Process, Published, Word, in_container, unknown
from fleetc.adopt.node.flags import TYPES
from fleetc.adopt.read.env_files import of_files
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible

UNDERSTOOD = frozenset({
    "image", "command", "entrypoint", "environment", "env_file", "volumes", "secrets", "configs", "ports",
    "network_mode", "container_name", "hostname", "extends", "user", "deploy", "gpus", "runtime", "profiles", "scale",
})  # fmt: skip
"""What a spec has of a container, by the key of a Compose file."""
OF_RUNNERS = UNDERSTOOD - {"entrypoint", "ports", "user"} | {"ipc"}
"""The same of a live runner."""
LEFT = "fleetc decides how containers run"
OTHER_ENTRYPOINT = "the source starts its image by another entrypoint, and a spec by the image's own"
_KEYS = {
    "env": "environment", "env-file": "env_file", "volume": "volumes", "mount": "volumes", "publish": "ports",
    "network": "network_mode", "name": "container_name",
}  # fmt: skip
"""Options by the keys that Compose has for the same."""
_SWITCHES = frozenset({
    "detach", "interactive", "tty", "rm", "privileged", "init", "read-only", "publish-all", "no-healthcheck",
    "oom-kill-disable", "quiet", "disable-content-trust", "sig-proxy", "help",
})  # fmt: skip
_SHORT = {"e": "env", "v": "volume", "p": "publish", "u": "user", "w": "workdir", "h": "hostname", "l": "label",
          "m": "memory", "c": "cpu-shares", "a": "attach"}  # fmt: skip
_SHORT_SWITCHES = frozenset("ditPq")
_IMAGE = re.compile(r"(?:^|/)(?:go-)?livepeer(?:[:@]|$)")
_PORT = re.compile(r"(?:(?P<address>\[[0-9a-fA-F:]+\]|[0-9.]+):)?(?P<port>[0-9]{1,5}):(?P<inside>[0-9]{1,5})(?:/tcp)?")
_VOLUME_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
VISIBLE = "NVIDIA_VISIBLE_DEVICES"
"""The variable with the GPUs that the runtime of NVIDIA shows to a container."""
ALL = "all"
"""What a spec and Docker call all GPUs."""


def names_node(image: str) -> bool:
    """Whether an image is one of the node by its name."""
    return bool(_IMAGE.search(image))


def docker_process(
    words: list[Word], span: Span, variables: dict[str, Word], ledger: Ledger, library: Library
) -> Process | None:
    """What a container runs; `library` has the files with variables that it names."""
    options, place = _options(words)
    if place >= len(words):
        return None
    image, arguments = words[place], tuple(words[place + 1 :])
    values: dict[str, list[Word]] = {}
    for name, word in options:
        values.setdefault(name, []).append(word)
    last = {name: given[-1].text for name, given in values.items()}
    first = arguments[0].text if arguments else ""
    node = names_node(image.text) or (first.startswith("-") and first.lstrip("-").partition("=")[0] in TYPES)
    entry = last.get("entrypoint", "")
    if node and entry and not entry.endswith("livepeer"):
        return None
    account = ledger if node else Ledger()
    understood = UNDERSTOOD if node else OF_RUNNERS
    for name, word in options:
        note_part(word.span, f"--{name}" if len(name) > 1 else f"-{name}", _KEYS.get(name, name) in understood, account)
    note_part(image.span, image.text, True, account)
    files = of_files([(word, False) for word in values.get("env-file", [])], library, account)
    own = files.variables | _environment(values.get("env", []), variables)
    asked = asked_gpus(last["gpus"]) if "gpus" in last else None
    name = last.get("name", "")
    process = Process(
        name, span, arguments, own, mounts=tuple(_mounts(values)), unread=tuple(files.unread),
        published=tuple(port for word in values.get("publish", []) for port in published(word.text)),
        gpus=seen_gpus(asked, own, last.get("runtime", "")), host_ipc=last.get("ipc") == "host",
    )  # fmt: skip
    names = (name, last.get("hostname", ""))
    process = in_container(process, image, last.get("network", ""), last.get("user", ""), names, name)
    lost = (OTHER_ENTRYPOINT,) if entry else ()
    return process if node else process.other(account, "no node: the image is not one of the node", lost)


def note_part(span: Span, shown: str, understood: bool, ledger: Ledger) -> None:
    """Account for an option of a container, or a key of a Compose file."""
    ledger.note(span, shown, Fate.UNDERSTOOD if understood else Fate.DROPPED, "how it starts" if understood else LEFT)


def _options(words: list[Word]) -> tuple[list[tuple[str, Word]], int]:
    """The options with their values, and where the image stands."""
    options: list[tuple[str, Word]] = []
    place = 0
    while place < len(words) and words[place].text.startswith("-"):
        word = words[place]
        place += 1
        if word.text.startswith("--"):
            name, equals, _ = word.text[2:].partition("=")
            value = word.part(len(name) + 3) if equals else None
            switch = name in _SWITCHES
            name = {"net": "network"}.get(name, name)
        else:
            letters = word.text[1:]
            while letters and letters[0] in _SHORT_SWITCHES:
                options.append((letters[0], Word("", word.span)))
                letters = letters[1:]
            if not letters:
                continue
            start = len(word.text) - len(letters) + 1
            value = word.part(start + (word.text[start : start + 1] == "=")) if len(letters) > 1 else None
            name, switch = _SHORT.get(letters[0], letters[0]), False
        if value is None and not switch and place < len(words):
            value, place = words[place], place + 1
        options.append((name, value or Word("", word.span)))
    return options, place


def _environment(words: Iterable[Word], variables: Mapping[str, Word]) -> dict[str, Word]:
    own: dict[str, Word] = {}
    for word in words:
        name, equals, _ = word.text.partition("=")
        own[name] = word.part(len(name) + 1) if equals else variables.get(name) or unknown(name, word)
    return own


def published(text: str) -> Iterator[Published]:
    """The published port that a text in the short form is; none for other texts."""
    port = _PORT.fullmatch(text)
    if port is not None:
        address = port["address"] or ""
        yield Published("" if address in ("0.0.0.0", "[::]") else address, int(port["port"]), int(port["inside"]))  # noqa: S104  # a source says it


def _mounts(values: Mapping[str, list[Word]]) -> Iterator[Mount]:
    for word in values.get("volume", []):
        yield from mount(word.text)
    for word in values.get("mount", []):
        pairs = dict(item.partition("=")[::2] for item in word.text.split(","))
        inside = pairs.get("target") or pairs.get("destination") or pairs.get("dst") or ""
        if inside:
            yield _mount(inside, pairs.get("source") or pairs.get("src") or "")


def mount(text: str) -> Iterator[Mount]:
    """A volume in the short form: outside:inside:options. A name instead of a path is a volume that Docker keeps."""
    outside, colon, rest = text.partition(":")
    if colon:
        yield _mount(rest.partition(":")[0], outside)
    elif outside.startswith("/"):
        yield Mount(outside.rstrip("/"), "")


def _mount(inside: str, outside: str) -> Mount:
    inside = inside.rstrip("/") or "/"
    if outside[:1] in ("/", ".", "~", "$", "`"):
        return Mount(inside, outside.rstrip("/") or "/")
    return Mount(inside, "", name=outside if _VOLUME_NAME.fullmatch(outside) else "")


def gpu_numbers(text: str) -> tuple[int, ...] | None:
    """The GPUs of a list of numbers; None for any other text."""
    ids = text.split(",")
    plain = all(re.fullmatch("[0-9]|[1-5][0-9]|6[0-3]", one) for one in ids)
    return tuple(map(int, ids)) if plain else None


def asked_gpus(text: str) -> tuple[str, bool]:
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
    return (",".join(ids), True) if ids else (count or ALL, False)


def seen_gpus(asked: tuple[str, bool] | None, variables: Mapping[str, Word], runtime: str) -> tuple[int, ...] | str:
    """The GPUs of its host that a container sees: those that it asks for, as a count or as ids, else those that its
    variable says to the runtime of NVIDIA. ALL, numbers, () for none, and words where no source says the numbers.
    """
    word = variables.get(VISIBLE)
    if asked is None and word is not None and word.holes:
        return f"its container sees those of {VISIBLE}"
    text, ids = asked or ((word.text, True) if word is not None else (ALL if runtime == "nvidia" else "none", True))
    if text in (ALL, "-1", "", "none", "void"):
        return ALL if text in (ALL, "-1") else ()
    items = gpu_numbers(text)
    if items is None:
        return f"its container sees {leaks.shown(visible(text))[:60]}; nvidia-smi -L on the host shows its number"
    return items if ids or len(items) > 1 else tuple(range(items[0]))
