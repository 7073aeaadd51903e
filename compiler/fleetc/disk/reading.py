"""Reads what the user wrote and what fleetc ships.

In: a path, or nothing. Out: a `Source`; template texts and playbook bytes by path. Called through `files.py`.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import BinaryIO

from fleetc.disk.manifest import LIMIT_BYTES, FilesError, failure, read_opened, read_path, shown
from fleetc.emit.tree import MANIFEST, PARTS_FOLDER, Shipped
from fleetc.toml.document import Source
from fleetc.toml.including import fault

STARTER = "starter"
"""The folder among the templates with what is copied and never rendered."""

SPEC_NAME = "fleet.toml"
"""The spec that a directory implies."""

STORY_NAME = "README.md"
"""The page beside the spec of an example fleet."""

_OTHER_ENCODINGS = [  # the longer mark first: UTF-32's begins with UTF-16's
    (b"\xff\xfe\x00\x00", "UTF-32", "spec-utf-32"),
    (b"\x00\x00\xfe\xff", "UTF-32", "spec-utf-32"),
    (b"\xff\xfe", "UTF-16", "spec-utf-16"),
    (b"\xfe\xff", "UTF-16", "spec-utf-16"),
]


def find_spec(argument: Path) -> Path:
    """The spec file for an argument: for a directory, its fleet.toml."""
    try:
        return argument / SPEC_NAME if argument.is_dir() else argument
    except (OSError, ValueError):  # a name too long, a NUL: reading it tells what is wrong
        return argument


def read_source(path: Path, display_name: str, limit_bytes: int = LIMIT_BYTES) -> Source:
    """Read a spec: a regular file (or a link to one) of strict UTF-8. CRLF becomes LF.

    Raises `FilesError`, which names the byte and line where the encoding is wrong.
    """
    return decode_source(_read_bounded(path, display_name, limit_bytes), display_name)


def read_policies(spec: Path, folder: str, suffix: str, most: int, limit_bytes: int) -> list[Source]:
    """The rules in a folder beside a spec, sorted by name; none where there is no such folder.

    Only regular files count, and no link leads anywhere: a checkout may be hostile. Raises `FilesError`.
    """
    directory = spec.parent / folder
    try:
        if not directory.is_dir():
            return []
        if directory.is_symlink():
            raise _no_policy(directory, "is a link")
        with os.scandir(directory) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith(suffix))
    except ValueError:  # a NUL in the path; reading the spec says so
        return []
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ENOTDIR):
            return []
        raise failure(error, str(directory), "read") from error
    if len(names) > most:
        raise _no_policy(directory, f"has more than {most} rules")
    return [_policy(directory / name, limit_bytes) for name in names]


def read_policy_examples(folder: Path, limit_bytes: int) -> dict[str, Source]:
    """The examples of rules, by NAME/FILE; none where there is no such folder. Raises `FilesError`."""
    try:
        paths = sorted(folder.glob("*/*.toml")) if folder.is_dir() and not folder.is_symlink() else []
    except OSError as error:
        raise failure(error, str(folder), "read") from error
    return {f"{path.parent.name}/{path.name}": _policy(path, limit_bytes) for path in paths}


def _policy(path: Path, limit_bytes: int) -> Source:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW)
        try:
            data = read_opened(descriptor, limit_bytes)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EINVAL, errno.ENXIO, errno.EISDIR):
            raise _no_policy(path, "is not a regular file") from error
        if error.errno == errno.EFBIG:
            raise _no_policy(path, f"is larger than {limit_bytes} bytes") from error
        raise failure(error, str(path), "read") from error
    return decode_source(data, str(path))


def _no_policy(path: Path, what: str) -> FilesError:
    advice = "a rule is a regular file beside the spec, such as policy/no-any-caps.star"
    return FilesError("policy-unreadable", f"{shown(str(path))} {what}", path=str(path), advice=advice)


def read_stream(stream: BinaryIO, display_name: str, limit_bytes: int = LIMIT_BYTES) -> Source:
    """A spec from a stream, with the same strictness as `read_source`. Raises `FilesError`."""
    try:
        data = stream.read(limit_bytes + 1)
    except OSError as error:
        raise failure(error, display_name, "read") from error
    if len(data) > limit_bytes:
        raise _too_large(display_name, limit_bytes)
    return decode_source(data, display_name)


def spec_above(directory: Path) -> Path | None:
    """The nearest directory with a fleet.toml, from this one up to the top of its git checkout, as a relative path.

    Outside a checkout only the directory itself counts: its parents may be another user's.
    """
    within = [directory, *directory.parents]
    top = next((place for place, parent in enumerate(within) if _exists(parent / ".git")), 0)
    depth = next((place for place, parent in enumerate(within[: top + 1]) if _exists(parent / SPEC_NAME)), None)
    return None if depth is None else Path(*[".."] * depth)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # access is denied
        return False


def decode_source(data: bytes, display_name: str) -> Source:
    """A spec from its bytes, with the same strictness as `read_source`."""
    text = _decode(data, display_name)
    lone = re.search(rb"\r(?!\n)", data)
    if lone:
        raise _badly_encoded(
            "spec-line-ends",
            "a line ends with only CR",
            data,
            lone.start(),
            display_name,
            "save the file with LF or CRLF line endings",
        )
    return Source(display_name, text.replace("\r\n", "\n"))


def recorded_sources(root: Path, limit_bytes: int = LIMIT_BYTES) -> list[Source]:
    """The sources of a tree, from its own copies; none without copies.

    A source has the name of its file beside the tree, if that is still equal. Raises FilesError.
    """
    from fleetc.emit.source_copy import copies  # only here: most commands need nothing that emits

    where = str(root / MANIFEST)
    try:
        names = [str(item["name"]) for item in json.loads(_read_bounded(root / MANIFEST, where, limit_bytes))["spec"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        advice = f"restore {MANIFEST}, or compile again"
        raise FilesError(
            "manifest-unreadable", f"{shown(where)} is not a fleetc manifest", path=where, advice=advice
        ) from error
    included = {name for name in names[1:] if not fault(name) and (root / PARTS_FOLDER / name).is_file()}
    recorded = [Source(name, "", name if name in included else "") for name in names]
    sources = []
    for (name, _, part, _), copied in zip(map(astuple, recorded), copies(recorded), strict=True):
        copy = root / copied
        if not copy.is_file():
            return []
        source = read_source(copy, str(copy), limit_bytes)
        beside = root.parent / (part or Path(name).name)
        same = beside.is_file() and _read_bounded(beside, name, limit_bytes) == source.text.encode()
        sources.append(replace(source, name=str(beside) if same else source.name, part=part))
    return sources


def tree_around(path: Path) -> Path | None:
    """The root of the tree that a file belongs to: the nearest directory above it with a manifest."""
    return next((parent for parent in path.parents if (parent / MANIFEST).is_file()), None)


def answer_name(path: Path) -> str:
    """What messages call the file of an answer."""
    return "standard input" if str(path) == "-" else str(path)


def read_answer(path: Path, limit_bytes: int) -> str:
    """Read what a service answered: a regular file of UTF-8, or standard input for "-". Raises `FilesError`."""
    return read_text(
        path, limit_bytes, "answer-unreadable", "name a file with the JSON of GET /stream/{id}, or - for standard input"
    )


def read_text(path: Path, limit_bytes: int, code: str, advice: str, exit_code: int = 1) -> str:
    """Read a regular file of UTF-8, or standard input for "-". Raises `FilesError` as given here."""
    name = answer_name(path)
    try:
        data = sys.stdin.buffer.read(limit_bytes + 1) if str(path) == "-" else _read_bounded(path, name, limit_bytes)
    except FilesError as error:
        if not error.code.startswith("spec-"):
            raise
        raise FilesError(code, error.message, path=name, advice=advice, exit_code=exit_code) from error
    if len(data) > limit_bytes:
        raise FilesError(
            code, f"{name} is larger than {limit_bytes} bytes", path=name, advice=advice, exit_code=exit_code
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{shown(name)} is not UTF-8, from byte {error.start} on"
        raise FilesError(code, message, path=name, advice=advice, exit_code=exit_code) from error


def _read_bounded(path: Path, name: str, limit_bytes: int) -> bytes:
    """Bytes of a regular file, never waiting for a FIFO or a device."""
    try:
        return read_path(path, limit_bytes)
    except ValueError as error:  # a NUL in the path
        raise failure(OSError(errno.EINVAL, str(error)), name, "read") from error
    except OSError as error:
        advice = "name a TOML file, or a directory that holds a fleet.toml"
        if error.errno == errno.ENOENT and path.name == SPEC_NAME:
            advice += "; fleetc init writes a first one"
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            raise FilesError("spec-missing", f"{shown(name)} does not exist", path=name, advice=advice) from error
        if error.errno in (errno.EINVAL, errno.ENXIO):
            message = f"{shown(name)} is not a regular file"
            raise FilesError("spec-not-a-file", message, path=name, advice=advice) from error
        if error.errno == errno.EFBIG:
            raise _too_large(name, limit_bytes) from error
        raise failure(error, name, "read") from error


def _too_large(name: str, limit_bytes: int) -> FilesError:
    message = f"{shown(name)} is larger than {limit_bytes} bytes"
    return FilesError("spec-too-large", message, path=name, advice="split the fleet, or raise the limit")


def _decode(data: bytes, name: str) -> str:
    """Strict UTF-8 without byte order mark and NUL, or a `FilesError` with the reason."""
    advice = "save the file as UTF-8 without a byte order mark"
    for mark, encoding, code in _OTHER_ENCODINGS:
        if data.startswith(mark):
            raise _badly_encoded(code, f"the file is {encoding}", data, 0, name, advice)
    if data.startswith(b"\xef\xbb\xbf"):
        raise _badly_encoded("spec-bom", "the file starts with a byte order mark", data, 0, name, advice)
    try:
        text, wrong = data.decode("utf-8"), len(data)
    except UnicodeDecodeError as error:
        text, wrong = "", error.start
    nul = data.find(b"\0", 0, wrong)
    if nul >= 0:
        what = "there is a NUL byte (the file may be UTF-16 or binary)"
        raise _badly_encoded("spec-nul", what, data, nul, name, advice)
    if wrong < len(data):
        what = f"byte 0x{data[wrong]:02X} {_why_not_utf8(data[wrong : wrong + 2])}"
        raise _badly_encoded("spec-not-utf8", what, data, wrong, name, advice)
    return text


def _why_not_utf8(pair: bytes) -> str:
    """What a byte that no UTF-8 decoder accepts comes from, judged by it and its successor (RFC 3629, section
    4)."""
    first, second = pair[0], pair[1] if len(pair) > 1 else 0
    if first in (0xC0, 0xC1) or (first, second >> 5) == (0xE0, 0b100) or (first, second >> 4) == (0xF0, 0b1000):
        return "starts an overlong form, which is not UTF-8"
    if first == 0xED and second >= 0xA0:
        return "starts half of a surrogate pair, which is not UTF-8"
    return "is not UTF-8 (the file may be Latin-1 or Windows-1252)"


def _badly_encoded(code: str, what: str, data: bytes, offset: int, name: str, advice: str) -> FilesError:
    """An encoding problem at a byte offset, counted from 0, and a line, counted from 1."""
    line = data.count(b"\n", 0, offset) + 1
    message = f"{shown(name)}: {what}, at byte offset {offset}, line {line}"
    return FilesError(code, message, path=name, advice=advice)


def read_templates() -> dict[str, str]:
    """The shipped templates, text by relative POSIX path."""
    templates = _shipped("templates", resources.files("fleetc"), _templates_below)
    try:
        return {path: content.decode("utf-8") for path, content in templates.items()}
    except UnicodeDecodeError as error:
        raise _broken("templates") from error


def read_playbooks() -> dict[str, bytes]:
    """The shipped playbooks and Ansible roles, content by relative POSIX path."""
    return _shipped("playbooks", resources.files("fleetc"))


@cache
def read_shipped() -> Shipped:
    """The shipped templates and playbooks."""
    return Shipped(read_templates(), read_playbooks())


def read_starter() -> dict[str, str]:
    """The shipped texts that `fleetc init` starts a fleet with, by relative POSIX path."""
    found = _shipped(f"templates/{STARTER}", resources.files("fleetc"))
    return {path: content.decode("utf-8") for path, content in found.items()}


def read_examples() -> dict[str, str]:
    """The specs, overlays and stories of the shipped fleets, by EXAMPLE/FILE, without what they compile to."""
    examples = _shipped("inventories", resources.files("fleetc"), _example_files)
    return {path: text.decode("utf-8") for path, text in examples.items()}


def _shipped(
    kind: str, package: Traversable, below: Callable[[Traversable, str], Iterator[tuple[str, bytes]]] | None = None
) -> dict[str, bytes]:
    """Files of `_KIND` inside the package or, in a checkout, of `KIND` beside its source root."""
    root = package / f"_{kind}"
    if not root.is_dir() and isinstance(package, Path) and (package.parent.parent / "pyproject.toml").is_file():
        root = package.parent.parent / kind
    try:
        contents = dict(sorted((below or _files_below)(root, "")))
    except OSError as error:
        raise _broken(kind) from error
    if not contents:
        raise _broken(kind)
    return contents


def _files_below(directory: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Path and content of what is shipped below a directory."""
    for entry in directory.iterdir():
        if entry.name.startswith(".") or entry.name in ("README.md", "__pycache__"):
            continue
        if entry.is_dir():
            yield from _files_below(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry.read_bytes()


def _templates_below(directory: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Path and content of each template. All are in folders: those choose the encoder."""
    for entry in directory.iterdir():
        if entry.is_dir() and entry.name != STARTER:
            yield from _files_below(entry, f"{prefix}{entry.name}/")


def _example_files(directory: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Path and content of what people write for each example fleet: its specs and its story."""
    for example in directory.iterdir():
        for entry in example.iterdir() if example.is_dir() else ():
            if entry.name.endswith(".toml") or entry.name == STORY_NAME:
                yield f"{prefix}{example.name}/{entry.name}", entry.read_bytes()


def _broken(kind: str) -> FilesError:
    """A file of the installation is missing."""
    message = f"this installation of fleetc is broken: its {kind} are missing or damaged"
    return FilesError("installation-broken", message, path=kind, advice="install fleetc again", exit_code=3)


def has_line(path: Path, number: int, text: str) -> bool:
    """Whether a line of a file, counted from 1, is this text. Raises FilesError."""
    lines = _read_bounded(path, str(path), LIMIT_BYTES).decode(errors="replace").split("\n")
    return number <= len(lines) and lines[number - 1] == text
