"""A model's id is a tag of a local LLM runtime.

Why: the network names models by their HuggingFace ids. A tag such as llama3.1:8b matches no request and no download.

Example:

    [models.llama]
    pipeline = "llm"
    id = "llama3.1:8b"

Instead:

    [models.llama]
    pipeline = "llm"
    id = "meta-llama/Meta-Llama-3.1-8B-Instruct"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look for a colon, which no HuggingFace id has."""
    for name, model in sorted(fleet.models.items()):
        if ":" in model.id:
            yield error(
                "model-id-is-a-local-tag",
                f'"{model.id}" is a tag of a local runtime, not a model id',
                Label(("models", name, "id")),
                help='write the HuggingFace id with its organisation, such as "meta-llama/Meta-Llama-3.1-8B-Instruct"',
            )
