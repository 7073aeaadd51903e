"""The checkout of the avatar stack, where it is one of git and the spec names a release; a copy without .git stays.

In: what a release wants of the stack. Out: commits, files of the checkout, or RefusedError.

The stack can be asked to do the same by itself (/ops/upgrade), but that also writes the image tag into .env, which
belongs to a rollout, and it takes a service that does not run before the first one. So git is asked, as the owner of
the checkout, whose hooks are not run.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Callable

from ..places import RECORD, RELEASES, Json, RefusedError
from ..secret_files import masked
from ..steps import HOST
from ..system import Done, Ids, must, read, read_json, run, write_json

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


def content_in_checkout(stack: Json, name: str) -> bytes | None:
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


def fetch_source(stack: Json | None, host: str) -> None:
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
