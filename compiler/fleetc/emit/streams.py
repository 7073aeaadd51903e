"""Emits `streams/`: the request that creates each stream, the secrets it lacks, and what a webhook answers about it.

In: the blueprint. Out: `streams/<name>.create.json`, `<name>.secrets.json` (only for a request with secrets) and
`<name>.auth-webhook.json` (only for a stream with a gateway). A secret in a request is a table `{"$secret": {kind:
name}}` where the API wants text; `secrets.json` lists their places, and the form that a value must have.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import Blueprint, BlueprintFile, RequestSecret, StreamBlueprint
from fleetc.emit.draft import Draft, JsonFile
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, given

FOLDER = "streams"


def emit(blueprint: Blueprint) -> Iterator[Draft]:
    """The files of every stream."""
    for stream in blueprint.streams:
        there = given("streams", stream.name)
        for file in _files(stream):
            path = f"{FOLDER}/{stream.name}.{file.name}"
            yield Draft(path, JsonFile(file), [there, file.origin, *file.places.values()], presence=there)


def _files(stream: StreamBlueprint) -> Iterator[BlueprintFile]:
    """The files of a stream: its request, the webhook's answer, and the secrets that the request lacks."""
    yield stream.request
    if stream.answer is not None:
        yield stream.answer
    if stream.secrets:
        content = [_secret(secret) for secret in stream.secrets]
        places: dict[Path, Origin] = {(index,): secret.origin for index, secret in enumerate(stream.secrets)}
        yield BlueprintFile("secrets.json", content, stream.request.origin, places)


def _secret(secret: RequestSecret) -> dict[str, object]:
    form = {"must_match": secret.form} if secret.form else {}
    return {"place": list(secret.place), secret.kind: secret.reference, **form}
