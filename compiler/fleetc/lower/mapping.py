"""Lowers plain settings by the rows of `language/rows.py`.

In: a node's settings. Out: arguments, variables and secret variables with their origins (`apply`). Settings that need a
decision (prices, listeners, rewards, workers) are lowered by code in the file of their role. Sensitive values become
variables, because every user of a host can read a command line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fleetc.blueprint.blueprint import Argument, SecretVariable, Variable
from fleetc.language.fleet import Node
from fleetc.language.rows import settings_given, written
from fleetc.language.secret_fields import SecretRef
from fleetc.places.origin import Origin, given
from fleetc.upstream import FLAGS

Planned = Argument | Variable | SecretVariable


def apply(node: Node) -> Iterator[Planned]:
    """Lower every plain setting that the spec gives for a node."""
    for row, value in settings_given(node):
        yield planned(row.flag, value, given(node.table, node.name, *row.parts))


def planned(flag: str, value: Any, origin: Origin) -> Planned:
    """One setting as passed to the process: a flag, or a variable if the node treats the value as sensitive."""
    if isinstance(value, SecretRef):
        return secret(flag, value, origin)
    known = FLAGS[flag]
    if known.secret:
        return Variable(known.env, written(flag, value), origin)
    return Argument(flag, written(flag, value), origin)


_READ_AS_PATH = ("orchSecret", "ethPassword", "FVfailGskey")
SECRET_PATH_VARIABLES = frozenset(FLAGS[flag].env for flag in _READ_AS_PATH)
"""Variables that may hold a path instead of the secret. A `Variable` only ever contains a path."""


def secret(flag: str, reference: SecretRef, origin: Origin) -> Planned:
    """A secret setting: the path of a host file if the node reads paths, else a variable filled at rollout."""
    env = FLAGS[flag].env
    if reference.kind == "host_file" and flag in _READ_AS_PATH:
        return Variable(env, reference.name, origin)
    return SecretVariable(env, reference.kind, reference.name, origin)
