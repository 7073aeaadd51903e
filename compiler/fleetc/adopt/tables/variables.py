"""Fills the environment of a process: variables that are no settings of the node, and references to secrets.

In: a `Filling`. Out: `environment` and `secret_environment` of its table.
"""

from __future__ import annotations

from functools import cache

from pydantic_core import PydanticCustomError

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.words import Same, Word
from fleetc.adopt.read.docker_run import VISIBLE
from fleetc.adopt.read.showing import harmless
from fleetc.adopt.tables.filling import Filling, hole_variable
from fleetc.language.fields import check_variable_name
from fleetc.text import leaks
from fleetc.upstream import FLAGS

_READ_BY_NODES = (
    "LIVE_AI_", "FAL_", "W3_", "DOCKER_", "AWS_", "GOOGLE_", "NVIDIA_", "CUDA_", "GO", "SSL_", "HTTP_PROXY",
    "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "HF_", "HUGGINGFACE_", "LD_", "TZ", "TMPDIR", "XDG_",
)  # fmt: skip
"""How the names of variables begin that the node, its libraries or its runners may read."""
_NOT_OURS = frozenset({"HOME", "PATH", "USER", "LOGNAME", "SHELL", "PWD", "LANG", "TERM", "HOSTNAME", "SHLVL"})


def environment(work: Filling) -> None:
    """Variables that are no settings of the node."""
    ledger = work.session.ledger
    for name, word in sorted(work.process.variables.items()):
        if name.startswith("LP_"):
            if any(flag.env == name for flag in FLAGS.values()):
                continue
            if name in work.session.library.variables:
                ledger.note(word.span, name, Fate.DROPPED, "the node does not read it; the sources use it themselves")
            else:
                ledger.mistake("adopt-flag-unknown", word.span, leaks.shown(name),
                               f"the node reads no variable {leaks.shown(name)}", "remove it")  # fmt: skip
            continue
        variable(work, name, word)


def _of_sources(work: Filling, name: str) -> bool:
    """Whether a variable is one that Compose or a script fills in, such as the tag of an image, and no node reads."""
    return name.startswith("COMPOSE_") or (
        name in work.session.library.variables and not name.startswith(_READ_BY_NODES) and not name.endswith("_proxy")
    )


@cache
def _is_name(name: str) -> bool:
    try:
        check_variable_name(name)
    except PydanticCustomError:
        return False
    return True


_names_secret = cache(leaks.names_secret)
"""Fleets have the same few variables in thousands of nodes."""


def _may_be_key(work: Filling, name: str, text: str) -> bool:
    """Whether a variable is an RPC address that may hold a key: the node's own, or one by its name."""
    if work.process.ours or "://" not in text or not leaks.may_need_key(text):
        return False
    return text == work.running.text("ethUrl") or leaks.names_node(name)


def variable(work: Filling, name: str, word: Word) -> None:
    """One variable, as plain text or as a reference to a secret."""
    ledger = work.session.ledger
    if not harmless(word):
        ledger.secrets.append(word.span)
    if (name in _NOT_OURS or name.startswith("LC_")) and not work.process.ours:
        ledger.note(word.span, name, Fate.DROPPED, "the service manager sets it")
        work.running.reasons[f"env {name}"] = Same("whoever starts a process sets it")
        return
    if not work.process.ours and _of_sources(work, name):
        ledger.note(word.span, name, Fate.DROPPED, "the node does not read it; the sources use it themselves")
        work.running.reasons[f"env {name}"] = Same("only what starts the node reads it")
        return
    if name == VISIBLE and not work.process.ours and work.process.sees and "gpus" in work.table.values:
        ledger.note(word.span, name, Fate.UNDERSTOOD, "gpus")
        work.running.reasons[f"env {name}"] = Same("gpus of the spec says it; containers of fleetc see all GPUs")
        return
    if not _is_name(name):
        ledger.note(word.span, "a variable", Fate.DROPPED, "its name is none that an environment can have")
        return
    known = work.process.secrets.get(name)
    holed = hole_variable(word)
    if known is not None:
        work.table.values.setdefault("secret_environment", {})[name] = {known[0]: known[1]}
    elif holed:
        work.table.values.setdefault("secret_environment", {})[name] = {"env": holed}
        work.running.reasons[f"env {name}"] = "its value is not in the sources"
    elif word.holes:
        work.ask(f"environment.{name}", "its value is not in the sources")
        work.running.reasons[f"env {name}"] = "its value is not in the sources"
    elif not word.text:
        ledger.note(word.span, name, Fate.DROPPED, "it is empty")
        work.running.reasons[f"env {name}"] = Same("an empty variable says nothing")
        return
    elif _names_secret(name) or leaks.find(word.text, name) or _may_be_key(work, name, word.text):
        ledger.secrets.append(word.span)
        variable = f"{work.running.name}_{name}".upper().replace("-", "_")
        reference = work.session.secret(word, variable, f"the value of {name}")
        work.table.values.setdefault("secret_environment", {})[name] = reference
        work.running.reasons[f"env {name}"] = Same("a reference in the spec has the same value")
    else:
        work.table.values.setdefault("environment", {})[name] = word.text
    ledger.note(word.span, name, Fate.UNDERSTOOD, "environment")
