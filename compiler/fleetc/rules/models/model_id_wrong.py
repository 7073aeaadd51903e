"""A model's id is no complete id, or that of another model in different case.

Why: the network names models by their HuggingFace ids and compares them exactly, with the organisation and in their
case. Requests for another id find no orchestrator. Its weights cannot be downloaded, or go to a separate directory. A
tag of a local runtime such as llama3.1:8b is no such id. The ids of live models are names of applications.

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
from fleetc.places.diagnostic import Diagnostic, Label, error, fix_set, warning
from fleetc.upstream import KNOWN_MODEL_IDS, LIVE_MODEL_IDS

_CODE = "model-id-wrong"
_CATALOGUE = {known.lower(): known for known in sorted(KNOWN_MODEL_IDS | LIVE_MODEL_IDS)}


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare each id with the form of an id, and with the known ones and those before it, ignoring case."""
    seen: dict[str, str] = {}
    for name, model in sorted(fleet.models.items()):
        path = ("models", name, "id")
        listed = _CATALOGUE.get(model.id.lower())
        known = listed or seen.setdefault(model.id.lower(), model.id)
        if known != model.id:
            message = f'"{model.id}" is "{known}" in different case, but ids are case-sensitive'
            fix = fix_set(path, known) if listed else None
            yield warning(_CODE, message, Label(path), help=f'write id = "{known}"', fix=fix)
        organisation, slash, rest = model.id.partition("/")
        if ":" in model.id:
            message = f'"{model.id}" is a tag of a local runtime, not a model id'
            form = '"meta-llama/Meta-Llama-3.1-8B-Instruct"'
            advice = f"write the HuggingFace id with its organisation, such as {form}"
            yield error(_CODE, message, Label(path), help=advice)
        elif model.pipeline != "live-video-to-video" and not (organisation and slash and rest):
            message = f'"{model.id}" is not a complete model id: the organisation is missing'
            form = f'"organisation/{rest or organisation or "model"}"'
            yield error(_CODE, message, Label(path), help=f"write it with the organisation, as on HuggingFace: {form}")
