"""Paths in one volume of a node, of which no source says where it is: its data directory says where the others are.

In: the questions about such paths, and what an earlier spec answers. Out: values for those that follow from an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fleetc.adopt.host_paths import mount_of, normal, plain_path
from fleetc.adopt.reading import Running
from fleetc.adopt.session import InVolume, Table

DATA = "data_dir"


def in_volume(running: Running, path: str, table: Table, place: tuple[str, str, str]) -> Iterator[InVolume]:
    """A path of a container as one in a volume; nothing for another path."""
    mount = mount_of(running.process, normal(path)) if path.startswith("/") else None
    if mount is not None and not mount.outside:
        yield InVolume(running.name, mount.inside, normal(path)[len(mount.inside.rstrip("/")) :], table, place)


def follow(asked: Sequence[InVolume]) -> list[tuple[str, str, str]]:
    """Fill in what follows from where data directories are, and leave out the questions about it; the places of that
    come back. An answer about a key or a password says nothing of others: people keep copies of these.
    """
    filled = []
    for one in asked:
        key = one.place[2]
        path = _beside_data(one, asked)
        if path is None or key == DATA or key in one.table.values:
            continue
        value: Any = {"host_file": path} if key == "password" else path
        one.table.values[key] = value
        one.table.questions = [line for line in one.table.questions if not line.startswith(f"TODO {key} = ")]
        filled.append(one.place)
    return filled


def data_beside(one: InVolume, asked: Sequence[InVolume]) -> InVolume | None:
    """The data directory of the same node in the same volume, if the spec asks for it."""
    return next((other for other in asked if other.place[2] == DATA and other[:2] == one[:2]), None)


def _beside_data(one: InVolume, asked: Sequence[InVolume]) -> str | None:
    data = data_beside(one, asked)
    said = data.table.values.get(DATA) if data is not None else None
    if data is None or not isinstance(said, str):
        return None
    if one.rest.startswith(f"{data.rest}/"):
        return plain_path(said + one.rest[len(data.rest) :])
    return plain_path(said.removesuffix(data.rest) + one.rest) if said.endswith(data.rest) else None
