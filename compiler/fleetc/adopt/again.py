"""Adopts sources again, whose earlier spec people have answered and maybe written anew.

In: that spec, and a way to adopt the sources. Out: `Adopted`. A node of which the earlier spec says the same as the
sources keeps its table as it is, whatever its words; only where they say something else, the sources are read anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fleetc import lower
from fleetc.adopt.adoption import Adopted
from fleetc.adopt.against import against
from fleetc.adopt.earlier import Earlier
from fleetc.adopt.questions import Kind, questions_in
from fleetc.pipeline import check_spec


def adopt_again(earlier: Earlier, adopt: Callable[[Earlier | None], Adopted]) -> Adopted:
    """Adopt with the answers of an earlier spec; one that does not compile gives those that it has."""
    first, checked = adopt(None), check_spec([earlier.source])
    balances = any(one.kind is Kind.BALANCE for one in questions_in(first.text))
    earlier = replace(earlier, asked=first.asked, asks_balances=balances)
    if not first.text or checked.fleet is None:
        return adopt(earlier)
    found = against(first, lower.lower(checked.fleet))
    differ = {one.node for one in found.differences if not one.reason}
    differ |= {one.node for one in found.beside if not one.reason}
    names = {(pair.today.table, pair.today.name): pair.node.service.name for pair in found.pairs}
    same = frozenset(names.values()) - differ
    return adopt(replace(earlier, compared=True, same=same, differ=frozenset(differ), names=names))
