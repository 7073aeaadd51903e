"""A model's id is that of a known model, or of another model of the spec, in different case.

Why: model ids are case-sensitive. A gateway never finds an orchestrator that offers the id in different case. The
download of the weights fails or goes to a separate directory.

Fix: `fleetc check --fix` writes the known spelling.

Example:

    [models.realvis]
    id = "sg161222/realvisxl_v4.0_lightning"

Instead:

    [models.realvis]
    id = "SG161222/RealVisXL_V4.0_Lightning"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, fix_set, warning
from fleetc.upstream import KNOWN_MODEL_IDS, LIVE_MODEL_IDS

_CATALOGUE = {known.lower(): known for known in sorted(KNOWN_MODEL_IDS | LIVE_MODEL_IDS)}


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare each id with the known ones and those before it, ignoring case."""
    seen: dict[str, str] = {}
    for name, model in sorted(fleet.models.items()):
        listed = _CATALOGUE.get(model.id.lower())
        known = listed or seen.setdefault(model.id.lower(), model.id)
        if known != model.id:
            path = ("models", name, "id")
            yield warning(
                "model-id-miscased",
                f'"{model.id}" is "{known}" in different case, but ids are case-sensitive',
                Label(path),
                help=f'write id = "{known}"',
                fix=fix_set(path, known) if listed else None,
            )
