"""Writes a fleet as one spec: after overlays, with its defaults filled in, in one order and one spelling.

In: the document of a sound spec, and the fleet read from it. Out: TOML text (`as_toml`), which is a spec itself and
compiles to the same files for every host. Called by `cli/check.py`. Comments are lost; secrets stay references.

Defaults come from the model, for nodes from `language/effective.py`. Streams, ladders and avatar stacks stay as
declared: the service and the stack's release decide what they leave out.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import tomli_w

from fleetc.language import effective
from fleetc.language.fields import Base
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Bytes, Duration, EthAddress, Listener, PortRange, Price, Throughput, Url, Wei
from fleetc.text.suggestions import did_you_mean
from fleetc.toml.scan import parse_key

_QUANTITIES = Bytes | Duration | EthAddress | Listener | PortRange | Price | Throughput | Url | Wei
_AS_DECLARED = ("avatars", "ladders", "streams")


def as_toml(raw: Mapping[str, Any], fleet: Fleet, name: str = "") -> str:
    """The spec as TOML, with what it leaves out: fields in the order of the reference, names sorted.

    Of a table that `name` names, that table alone. Raises LookupError, in words for people.
    """
    spec = _table(fleet, raw, True)
    for node in fleet.nodes:
        table = spec[node.table][node.name]
        table |= {key: _plain(chosen.value) for key, chosen in effective.in_force(fleet, node).items()}
        spec[node.table][node.name] = {key: table[key] for key in type(node.settings).model_fields if key in table}
    return tomli_w.dumps(_part_of(spec, name) if name else spec)


def _part_of(spec: Mapping[str, Any], name: str) -> dict[str, Any]:
    """One table of a spec, with those around it."""
    path = parse_key(name) or ()
    here: Any = spec
    for depth, part in enumerate(path):
        if not isinstance(here, dict) or part not in here:
            known = [".".join([*map(str, path[:depth]), key]) for key in here] if isinstance(here, dict) else []
            raise LookupError(f'the spec has no "{name}"; {did_you_mean(name, known, "name a table of it")}')
        here = here[part]
    for part in reversed(path):
        here = {part: here}
    return dict(here)


def _table(value: Base, raw: Mapping[str, Any], defaults: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in type(value).model_fields:
        item = getattr(value, key)
        if key in raw:
            found[key] = _written(item, raw[key], defaults and not (isinstance(value, Fleet) and key in _AS_DECLARED))
        elif defaults and (default := _default(item)) is not None:
            found[key] = default
    return found


def _written(value: Any, raw: Any, defaults: bool) -> Any:
    """The values of the spec, with quantities in canonical spelling."""
    if isinstance(value, Base) and isinstance(raw, dict):
        return _table(value, raw, defaults)
    if isinstance(value, dict) and isinstance(raw, dict) and value.keys() == raw.keys():
        # Named tables are sorted; the keys of other tables may be sent as they are.
        named = all(isinstance(item, Base) for item in value.values())
        return {key: _written(value[key], raw[key], defaults) for key in (sorted(raw) if named else raw)}
    if isinstance(value, tuple) and isinstance(raw, list) and len(value) == len(raw):
        return [_written(item, part, defaults) for item, part in zip(value, raw, strict=True)]
    return _plain(value) if isinstance(value, _QUANTITIES) else raw


def _default(value: Any) -> Any:
    """A default as the spec would have it; None where there is nothing to write."""
    if isinstance(value, Base):
        return _table(value, {}, True) or None
    return None if value is None or value in ((), {}) else _plain(value)


def _plain(value: Any) -> Any:
    """A value of the model as TOML has it."""
    if isinstance(value, Url):
        return value.text
    if isinstance(value, Decimal | _QUANTITIES):
        return str(value)
    return list(map(_plain, value)) if isinstance(value, tuple) else value
