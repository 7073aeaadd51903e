"""Fills the environment of a process: variables that are no settings of the node, and references to secrets.

In: a `Filling`. Out: `environment` and `secret_environment` of its table. A value is repeated only where the name of
its variable says that it is harmless.
"""

from __future__ import annotations

import re

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.questions import Ask
from fleetc.adopt.found.words import Word
from fleetc.adopt.node.gpus import VISIBLE
from fleetc.adopt.node.secrets import may_repeat
from fleetc.adopt.tables.filling import Filling, hole_variable
from fleetc.lower.common import GPU_ORDER
from fleetc.text import leaks
from fleetc.upstream import FLAGS

_READ_BY_NODES = (
    "LIVE_AI_", "FAL_", "W3_", "DOCKER_", "AWS_", "GOOGLE_", "NVIDIA_", "CUDA_", "GO", "SSL_", "HTTP_PROXY",
    "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "HF_", "HUGGINGFACE_", "LD_", "TZ", "TMPDIR", "XDG_",
)  # fmt: skip
"""How the names of variables begin that the node, its libraries or its runners may read."""
_OF_STARTER = re.compile("HOME|PATH|USER|LOGNAME|SHELL|PWD|LANG|TERM|HOSTNAME|SHLVL|LC_.*")


def environment(work: Filling) -> None:
    """Fill the variables of a node that are none of its settings."""
    ledger, used = work.session.ledger, work.session.library.variables
    settings = {flag.env for flag in FLAGS.values()}
    for name, word in sorted(work.process.variables.items()):
        if not name.startswith("LP_"):
            variable(work, name, word)
        elif name not in settings and name not in used:
            shown = leaks.shown(name)
            message = f"the node reads no variable {shown}"
            ledger.mistake("adopt-flag-unknown", word.span, shown, message, "remove it")
        elif name not in settings:
            ledger.note(word.span, name, Fate.DROPPED, "the node does not read it; the sources use it themselves")


def variable(work: Filling, name: str, word: Word) -> None:
    """Fill one variable, as plain text or as a reference to a secret."""
    ledger, ours = work.session.ledger, work.process.ours
    plain = ours or may_repeat(name, word.text)
    if dropped := _dropped(work, name, word):
        ledger.note(word.span, name, Fate.DROPPED, dropped)
        return
    known, hole = work.process.secrets.get(name), hole_variable(word)
    if known is not None or hole:
        kind, place = known or ("env", hole)
        work.say(f"secret_environment.{name}", {kind: place})
    elif word.holes:
        work.asks(Ask.NO_SOURCE, f"environment.{name}")
    elif plain:
        work.say(f"environment.{name}", word.text)
    else:
        own = re.sub("^RUNNER_", "APP_", f"{work.running.name}_{name}".upper().replace("-", "_"))  # of deployments
        reference = work.session.secret(word, own, f"the value of {name}, which may be a secret,")
        work.say(f"secret_environment.{name}", reference)
    ledger.note(word.span, name, Fate.UNDERSTOOD, "environment")


def _dropped(work: Filling, name: str, word: Word) -> str:
    """Why the spec does without a variable; "" for one that it has."""
    if (name, word.text) == (GPU_ORDER, "PCI_BUS_ID") and "gpus" in work.table.values:
        return "fleetc sets it wherever a node has GPUs"
    if work.process.ours:
        return ""
    if _OF_STARTER.fullmatch(name):
        return "whoever starts a process sets it"
    read = name.startswith(_READ_BY_NODES) or name.endswith("_proxy")
    if name.startswith("COMPOSE_") or (name in work.session.library.variables and not read):
        return "the node does not read it; the sources use it themselves"
    if name == VISIBLE and work.process.sees and "gpus" in work.table.values:
        return "gpus of the spec says it; containers of fleetc see all GPUs"
    return "" if word.text else "it is empty"
