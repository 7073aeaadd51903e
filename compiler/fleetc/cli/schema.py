"""`fleetc schema`: the JSON Schemas that editors and other programs use.

In: the name of a document. Out: its schema.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared.paging import put

if TYPE_CHECKING:
    pass


class SchemaOf(StrEnum):
    """What a schema describes."""

    spec = "spec"
    stream = "stream"
    stream_error = "stream-error"
    review = "review"


def schema(
    of: Annotated[
        SchemaOf, typer.Option("--of", help="A spec, a stream or an error as the stream API returns it, or a review.")
    ] = SchemaOf.spec,
) -> None:
    """Print a JSON Schema, for example for completion in editors."""
    if of is SchemaOf.stream:
        from fleetc.stream_api.resource import json_schema as found
    elif of is SchemaOf.stream_error:
        from fleetc.stream_api.resource import error_schema as found
    elif of is SchemaOf.review:
        from fleetc.review.reports.json import schema as found
    else:
        from fleetc.language.editor import editor_schema as found

    put(json.dumps(found(), indent=2) + "\n")
