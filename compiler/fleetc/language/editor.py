"""The JSON Schema of a spec as people write it, for editors: with defaults, classes and counters.

In: the schema of the language, which describes a spec with all that written out. Out: `editor_schema()`. A key may come
from a class or from defaults, so no key of a named table is required here; `fleetc check` reports what is missing.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from fleetc.language.sharing import CLASSES, DEFAULTS, LIKE, ON, tables
from fleetc.language.spec import json_schema
from fleetc.toml.including import INCLUDE

WORDS = {
    INCLUDE: 'Further files of the spec, in its directory and below, such as ["regions/*.toml"], so that teams own '
    "files. No table is in two of them.",
    DEFAULTS: "Values for all tables of one kind, such as [defaults.orchestrators]; a table of that kind, and each of "
    "its classes, is stronger.",
    CLASSES: "Named sets of values for tables of each kind, such as [classes.gpu-box.hosts]; a table takes them with "
    'like = "gpu-box".',
    LIKE: "Class, or classes, that the table takes its values from: a later one wins, and the table's own values win "
    "over all. Tables merge, and all else is replaced.",
    ON: 'Pattern of host names with one star, such as "gpu-*": one node for each matching host. In the name of the '
    'table, {} is the text that the star matches: [orchestrators."orch-{}"].',
}
"""What each key means that is written out before the language reads a spec."""

_COUNTED = {"type": "string", "pattern": "[{]"}


@cache
def editor_schema() -> dict[str, Any]:
    """The JSON Schema of a spec file. It is built once and never changed."""
    schema = copy.deepcopy(json_schema())
    properties, definitions = schema["properties"], schema["$defs"]
    shared = {}
    for table in tables():
        named = properties[table]
        pattern, plain = next(iter(named.get("patternProperties", {}).items()), ("", named.get("additionalProperties")))
        name = plain["$ref"].rpartition("/")[2]
        definitions[name] = _member(definitions[name])
        definitions[f"{name}Class"] = _class(definitions[name], name)
        shared[table] = {"$ref": f"#/$defs/{name}Class"}
        named["patternProperties"] = ({pattern: plain} if pattern else {}) | {"[{]": shared[table]}
        named.pop("propertyNames", None)
    kinds = {"type": "object", "properties": shared, "additionalProperties": False}
    first = {
        INCLUDE: {"description": WORDS[INCLUDE], "type": "array", "items": {"type": "string"}},
        DEFAULTS: {"description": WORDS[DEFAULTS], **kinds},
        CLASSES: {"description": WORDS[CLASSES], "type": "object", "additionalProperties": kinds},
    }
    return schema | {"properties": {**properties, **first}}


def _member(table: dict[str, Any]) -> dict[str, Any]:
    """A table that may take values from elsewhere."""
    like = {"description": WORDS[LIKE], "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    added: dict[str, Any] = {LIKE: like}
    if "host" in table["properties"]:
        added[ON] = {"description": WORDS[ON], "type": "string"}
    kept = {key: value for key, value in table.items() if key != "required"}
    return kept | {"properties": {**added, **table["properties"]}}


def _class(member: dict[str, Any], name: str) -> dict[str, Any]:
    """The same table where its texts may have counters."""
    properties = {  # no reference leads to another one: not every editor follows two
        key: {"anyOf": [value if "$ref" in value else {"$ref": f"#/$defs/{name}/properties/{key}"}, _COUNTED]}
        for key, value in member["properties"].items()
    }
    return member | {"properties": properties}
