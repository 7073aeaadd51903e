"""The law of adopting: what fleetc emitted adopts into a spec that compiles to the same files.

Everything below hosts/ of a tree is compared, byte by byte, except stacks of avatars. What no file of a host has is
answered: the funds of wallets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tomli_w
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fleetc.adopt.adoption import adopt
from fleetc.emit.tree import Tree
from fleetc.language.fleet import NODE_TABLES
from fleetc.pipeline import compile_spec
from fleetc.toml.document import Source
from tests.adopt.support import answered
from tests.mutating import Mutation
from tests.support import shipped
from tests.test_mutations import CASES, EVERY_FLEET, Case

GIVEN = ("hosts/", "ansible/inventory", "ansible/host_vars")
CHANGES = [(case, name, change) for case in CASES for name, found in case.changes().items() for change in found]


def files_of_nodes(tree: Tree) -> dict[str, bytes]:
    """The files of nodes of a tree."""
    return {a.path: a.content for a in tree.artifacts if a.path.startswith("hosts/") and "/avatar/" not in a.path}


def difference(sources: Sequence[Source]) -> dict[str, tuple[bytes | None, bytes | None]] | None:
    """What is not the same after adopting what a spec compiles to; None for a spec that does not compile."""
    compiled = compile_spec(sources, *shipped())
    if compiled.tree is None or compiled.checked.fleet is None:
        return None
    if any(d.code == "image-differs-from-release" for d in compiled.checked.diagnostics):
        return None  # the file of a container names the image, which is another release than the spec says
    given = [
        Source(a.path, a.content.decode())
        for a in compiled.tree.artifacts
        if a.path.startswith(GIVEN) and "/avatar/" not in a.path
    ]
    wanted = files_of_nodes(compiled.tree)
    if not wanted:
        return None
    found = adopt(given, fleet_name=compiled.checked.fleet.fleet.name)
    assert found.text, found.diagnostics
    again = compile_spec([Source("fleet.toml", answered(found.text))], *shipped())
    assert again.tree is not None, (again.checked.diagnostics, found.text)
    after = files_of_nodes(again.tree)
    return {
        path: (wanted.get(path), after.get(path))
        for path in sorted({*wanted, *after})
        if wanted.get(path) != after.get(path)
    }


@EVERY_FLEET
def test_example_fleet_adopts_into_itself(case: Case) -> None:
    assert difference([Source(name, text) for name, text in case.texts]) == {}


def _nodes(raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for table in NODE_TABLES:
        yield from (node for node in raw.get(table, {}).values() if isinstance(node, dict))


def _twice(node: dict[str, Any]) -> bool:
    """Whether a variable has a plain and a secret value: only the secret one reaches the process."""
    return not {*node.get("environment", {})}.isdisjoint(node.get("secret_environment", {}))


@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.sampled_from(CHANGES))
def test_every_changed_fleet_adopts_into_itself(found: tuple[Case, str, Mutation]) -> None:
    case, name, change = found
    raw = case.raw
    raw = {**raw, name: change.apply(raw[name])}
    assume(not any(_twice(node) for table in raw.values() for node in _nodes(table)))
    result = difference([Source(file, tomli_w.dumps(table)) for file, table in raw.items()])
    assume(result is not None)
    assert result == {}
