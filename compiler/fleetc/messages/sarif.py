"""Diagnostics as a SARIF 2.1.0 log, for code scanning services and editors.

In: located diagnostics, the sources and, when it was read, the document. Out: JSON text. Columns count characters,
which the log declares; the rules carry the pages of `fleetc explain`, and repairs are replacements of text.
Called by `forms.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fleetc.messages.explain import pages
from fleetc.messages.locate import NAMES, Located, Place
from fleetc.messages.repairs import Repair, repairs
from fleetc.text.encoders import sarif_text, uri_path
from fleetc.toml.document import Document, LineMap, Source
from fleetc.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "fleetc/v1"


def as_sarif(
    located: Sequence[Located],
    sources: Sequence[Source],
    document: Document | None,
    more: Mapping[str, str] | None = None,
) -> str:
    """The log of one run; every diagnostic is a result. `more` are the pages of codes that are not fleetc's own."""
    codes = sorted({item.diagnostic.code for item in located})
    driver = {
        "name": "fleetc",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": _rules(codes, located, more or {}),
    }
    results: list[dict[str, Any]] = []
    seen: Counter[str] = Counter()
    maps = [LineMap(source.text) for source in sources]
    for item, some in zip(located, repairs(located, sources, document), strict=True):
        identity, edits = _identity(item), [_fix(repair, sources, maps) for repair in some]
        results.append(_result(item, sources, codes, edits, _fingerprint(identity, seen[identity])))
        seen[identity] += 1
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rules(codes: Sequence[str], located: Sequence[Located], more: Mapping[str, str]) -> list[dict[str, Any]]:
    """A rule for each code. Its help is a document and is shown as written, so that it is not a message to encode."""
    known = {**pages(), **more}
    levels = {item.diagnostic.code: NAMES[item.diagnostic.severity] for item in located}
    return [
        {
            "id": code,
            "shortDescription": {"text": known[code].splitlines()[0]},
            "help": {"text": known[code], "markdown": known[code]},
            "defaultConfiguration": {"level": levels[code]},
        }
        for code in codes
    ]


def _result(
    item: Located, sources: Sequence[Source], codes: Sequence[str], edits: list[dict[str, Any]], fingerprint: str
) -> dict[str, Any]:
    diagnostic = item.diagnostic
    words = [diagnostic.message, f"help: {diagnostic.help}"] if diagnostic.help else [diagnostic.message]
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": NAMES[diagnostic.severity],
        "message": {"text": "\n".join(map(sarif_text, words))},
        "locations": [_location(item.primary, sources)],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
    }
    if item.related:
        result["relatedLocations"] = [
            {"id": number, **_location(place, sources), "message": {"text": sarif_text(place.note or "see also")}}
            for number, place in enumerate(item.related)
        ]
    return {**result, "fixes": edits} if edits else result


def _location(place: Place, sources: Sequence[Source]) -> dict[str, Any]:
    """A place; one without a file gets the first source, because every result needs a file."""
    file = place.file or (sources[0].name if sources else "")
    region = {"startLine": 1}
    if place.line:
        region = {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        }
    return {"physicalLocation": {"artifactLocation": {"uri": uri_path(file)}, "region": region}}


def _identity(item: Located) -> str:
    """The identity of a diagnostic while lines move: its code, and its key path or else its message."""
    return "\0".join((item.diagnostic.code, item.primary.path or item.diagnostic.message))


def _fingerprint(identity: str, repeated: int) -> str:
    data = f"{identity}\0{repeated}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:32]


def _fix(repair: Repair, sources: Sequence[Source], maps: Sequence[LineMap]) -> dict[str, Any]:
    changes: dict[int, list[dict[str, Any]]] = {}
    for piece in repair.pieces:
        line, column = maps[piece.source].position(piece.start)
        end_line, end_column = maps[piece.source].position(piece.end)
        region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
        replacement: dict[str, Any] = {"deletedRegion": region}
        if piece.text:
            replacement["insertedContent"] = {"text": piece.text}
        changes.setdefault(piece.source, []).append(replacement)
    return {
        "description": {"text": sarif_text(f"{'fleetc check --fix' if repair.certain else 'this edit'} {repair.deed}")},
        "properties": {"certain": repair.certain},
        "artifactChanges": [
            {"artifactLocation": {"uri": uri_path(sources[number].name)}, "replacements": replacements}
            for number, replacements in sorted(changes.items())
        ],
    }
