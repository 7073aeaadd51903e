"""Checks of files and directories.

In: a need, and what is asked. Out: findings.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import urllib.parse
from collections.abc import Iterator

from ..places import Json
from ..system import Ids, read, run
from .asked import Asked, Finding, has_scheme

CHAIN_DATABASE = "lpdb.sqlite3"


def can(reader: Ids | None, right: str, path: str) -> bool:
    """Whether a user has a right on a path: r, w or x. The kernel is asked, so that access lists count."""
    return run("test", "-" + right, path, ids=reader).status == 0


def owner_of(asked: Asked) -> str:
    """The name of the user that nodes run as."""
    return str(asked.wanted["owner"])


def check_file(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a file is there for the node, or for a program of the monitoring."""
    path = need["subject"]
    if "monitoring" in need:
        yield from check_mounted(path, need["monitoring"], need["user"])
    elif not os.path.exists(path):
        yield "file-missing", "there is no %s" % path
    elif not can(asked.reader, "r", path):
        yield "file-unreadable", "%s cannot be read by %s, as which nodes run here" % (path, owner_of(asked))


def open_to_all(path: str) -> Iterator[Finding]:
    """Whether every user of the host reads a file with a secret: it and all directories above it let others in."""
    real = os.path.realpath(path)
    above = [real[: at or 1] for at, letter in enumerate(real) if letter == "/"]
    closed = not all(os.stat(directory).st_mode & stat.S_IXOTH for directory in above)
    if os.path.isfile(real) and os.stat(real).st_mode & stat.S_IROTH and not closed:
        yield "file-open-to-all", "every user of the host can read %s" % path


def check_mounted(path: str, program: str, user: str) -> Iterator[Finding]:
    """Whether a container that gets nothing but this file can read it: directories above it do not matter then.

    `user` is "uid:gid", "" where people start the program themselves.
    """
    if not os.path.isfile(path):
        yield "file-missing", "there is no file %s, which %s reads" % (path, program)
        return
    if not user:
        return
    found, (uid, gid) = os.stat(path), map(int, user.split(":"))
    right = stat.S_IRUSR if found.st_uid == uid else stat.S_IRGRP if found.st_gid == gid else stat.S_IROTH
    if not found.st_mode & right:
        yield "file-unreadable", "%s cannot be read by user %d, as which %s runs" % (path, uid, program)


def check_models_directory(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the node and its containers can put models there. One below a data directory, the node makes itself."""
    path = need["subject"]
    own = any(path.startswith(service["data_dir"] + "/") for service in asked.wanted["services"])
    if not os.path.isdir(path):
        if os.path.lexists(path) or not own:
            yield "models-dir-writable", "there is no directory %s" % path
    elif not can(asked.reader, "w", path) or is_read_only(path):
        yield "models-dir-writable", "%s cannot be written to by %s, as which nodes run here" % (path, owner_of(asked))


def check_data_directory(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a data directory can be made or used, and its database belongs to the chain of the spec."""
    path = need["subject"]
    there = nearest(path)
    if not os.path.isdir(there) or is_read_only(there):
        what = "is on a file system that is read-only" if os.path.isdir(there) else "is not a directory"
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
            yield code, "%s: runner_url of %s is not an http or https address" % (path, label)
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
