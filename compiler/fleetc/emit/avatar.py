"""Emits what the avatar stack of a host reads: environment files, allowlists, and arguments of each slot.

In: a host. Out: `hosts/<host>/avatar/host.env`, `turn.env`, `slots/slot-NN.env` and `slots/slot-NN.compose.yaml`,
`host.compose.yaml` where TURN is pinned, `allow/*`, and for people who run the stack's command line `cluster.json` with
the slots and `profile.sh` for their shells. Environment files are in the form
that all their readers share: Compose, Docker, systemd, shells, and services of the stack that search for lines. Secrets
stand in none of them; a rollout adds them on the host.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleetc.blueprint.blueprint import (
    GAME_SERVICE,
    HOST_COMPOSE,
    SIGNALING_SERVICE,
    TURN_SERVICE,
    AvatarSlot,
    HostBlueprint,
    StackBlueprint,
    Variable,
)
from fleetc.emit.artifacts import avatar_file, json_document
from fleetc.emit.templates import Encoded, Templates, Word
from fleetc.emit.tracing import Marks, TracedLine, file_lines, trace_template, traced
from fleetc.emit.tree import Artifact
from fleetc.places.origin import Origin, given
from fleetc.text.encoders import compose_string, env_shared

HOST_FILE = "host.env"
TURN_FILE = "turn.env"
PROFILE = "profile.sh"
_HOST = "compose/avatar_host.yaml.j2"
_SLOT = "compose/slot.yaml.j2"
_PROFILE = "env/profile.sh.j2"


def emit(host: HostBlueprint, templates: Templates) -> Iterator[Artifact]:
    """The files of the host's stack; nothing for a host without one."""
    avatar = host.avatar
    if avatar is None:
        return
    for name, variables in ((HOST_FILE, avatar.host_variables), (TURN_FILE, avatar.turn_variables)):
        yield avatar_file(host, avatar, name, _text(variables), _origins(variables))
    profile = templates.render(_PROFILE, _profile(avatar))
    yield avatar_file(host, avatar, PROFILE, profile, _origins(avatar.shell_variables))
    cluster = avatar.cluster
    yield avatar_file(host, avatar, cluster.name, json_document(cluster.content), [cluster.origin])
    turn = avatar.pinned(TURN_SERVICE)
    if turn:
        yield avatar_file(host, avatar, HOST_COMPOSE, templates.render(_HOST, {"turn": turn}), _image_origins(avatar))
    for slot in avatar.slots:
        yield avatar_file(host, avatar, f"slots/{slot.name}.env", _text(slot.variables), _origins(slot.variables))
        text = templates.render(_SLOT, _view(avatar, slot))
        origins = [slot.origin, *_image_origins(avatar)]
        yield avatar_file(host, avatar, f"slots/{slot.name}.compose.yaml", text, origins)
    for allowlist in avatar.allowlists:
        lines = "".join(f"{text}\n" for text in allowlist.texts)
        yield avatar_file(host, avatar, f"allow/{allowlist.file}", lines, [e.origin for e in allowlist.entries])


def _text(variables: Iterable[Variable]) -> str:
    return env_shared((variable.name, variable.value) for variable in variables)


def _origins(variables: Iterable[Variable]) -> list[Origin]:
    return [variable.origin for variable in variables]


def _image_origins(avatar: StackBlueprint) -> list[Origin]:
    return [image.origin for image in avatar.images]


def _profile(avatar: StackBlueprint) -> dict[str, object]:
    return {"variables": [(Word(variable.name), variable.value) for variable in avatar.shell_variables]}


def _view(avatar: StackBlueprint, slot: AvatarSlot) -> dict[str, object]:
    return {
        # Inside the quotes of the template, behind variables that Compose puts in.
        "signaling": Encoded(compose_string(slot.arguments)[1:-1]),
        "signaling_image": avatar.pinned(SIGNALING_SERVICE),
        "game_image": avatar.pinned(GAME_SERVICE),
        "game": avatar.game_arguments,
        "game_variable": Word(f"{avatar.prefix}_EXTRA_ARGS"),
        "hidden": "game" not in dict(slot.ports),
        "unnumbered": not slot.network,
    }


def trace(avatar: StackBlueprint, name: str, templates: Templates) -> list[TracedLine] | None:
    """The lines of one file of the stack with their origins; None when it has no such file."""
    environments = {HOST_FILE: avatar.host_variables, TURN_FILE: avatar.turn_variables}
    environments |= {f"slots/{slot.name}.env": slot.variables for slot in avatar.slots}
    if name in environments:
        return [traced(f"{variable.name}={variable.value}", [variable.origin]) for variable in environments[name]]
    if name == PROFILE:
        marks: dict[str, Marks] = {"variables": _origins(avatar.shell_variables)}
        return trace_template(templates, _PROFILE, _profile(avatar), marks)
    images = {image.service: image.origin for image in avatar.images}
    if name == avatar.cluster.name:
        return file_lines(avatar.cluster)
    if name == HOST_COMPOSE and avatar.pinned(TURN_SERVICE):
        return trace_template(templates, _HOST, {"turn": avatar.pinned(TURN_SERVICE)}, {"turn": images[TURN_SERVICE]})
    for listed in avatar.allowlists:
        if name == f"allow/{listed.file}":
            return [traced(entry.text, [entry.origin]) for entry in listed.entries]
    for slot in avatar.slots:
        if name == f"slots/{slot.name}.compose.yaml":
            view = _view(avatar, slot)
            marks = dict.fromkeys(view, slot.origin)
            marks |= {"signaling_image": images[SIGNALING_SERVICE], "game_image": images[GAME_SERVICE]}
            marks["game"] = marks["game_variable"] = given("avatars", avatar.name, "game_args")
            return trace_template(templates, _SLOT, view, marks)
    return None
