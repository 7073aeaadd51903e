"""Emits what the avatar stack of a host reads: environment files, allowlists, and the arguments of each slot.

In: a host. Out: `hosts/<host>/avatar/host.env`, `turn.env`, `slots/slot-NN.env` and `slots/slot-NN.compose.yaml`,
`host.compose.yaml` if TURN is pinned, `allow/*`, and for the stack's command line `cluster.json` and `profile.sh`.
Environment files use the syntax that all their readers share: Compose, Docker, systemd, shells, and services of the
stack that search for lines. None of them contains secrets; a rollout adds those on the host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

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
from fleetc.emit.draft import Draft, JsonFile, Lines, avatar_file
from fleetc.emit.templates import Encoded, Rendered, Templates, View, Word
from fleetc.emit.traced import Line, Mark
from fleetc.places.origin import given
from fleetc.text.encoders import compose_string, env_shared

HOST_FILE = "host.env"
TURN_FILE = "turn.env"
PROFILE = "profile.sh"
_HOST = "compose/avatar_host.yaml.j2"
_SLOT = "compose/slot.yaml.j2"
_PROFILE = "env/profile.sh.j2"


def emit(host: HostBlueprint, templates: Templates) -> Iterator[Draft]:
    """The files of the host's stack; none if the host has no stack."""
    avatar = host.avatar
    if avatar is None:
        return
    yield _environment_file(host, avatar, HOST_FILE, avatar.host_variables)
    yield _environment_file(host, avatar, TURN_FILE, avatar.turn_variables)
    shell = avatar.shell_variables
    profile = Rendered(templates, _PROFILE, partial(_profile, shell))
    yield avatar_file(host, avatar, PROFILE, profile, [variable.origin for variable in shell])
    yield avatar_file(host, avatar, avatar.cluster.name, JsonFile(avatar.cluster), [avatar.cluster.origin])
    images = [image.origin for image in avatar.images]
    if avatar.pinned(TURN_SERVICE):
        turn = Rendered(templates, _HOST, partial(_host_view, avatar))
        yield avatar_file(host, avatar, HOST_COMPOSE, turn, images)
    for slot in avatar.slots:
        yield _environment_file(host, avatar, f"slots/{slot.name}.env", slot.variables)
        arguments = Rendered(templates, _SLOT, partial(_view, avatar, slot))
        yield avatar_file(host, avatar, f"slots/{slot.name}.compose.yaml", arguments, [slot.origin, *images])
    for allowlist in avatar.allowlists:
        allowed = [(entry.text, (entry.origin,)) for entry in allowlist.entries]
        body = Lines(partial(iter, allowed))
        yield avatar_file(host, avatar, f"allow/{allowlist.file}", body, [e.origin for e in allowlist.entries])


def _environment_file(host: HostBlueprint, avatar: StackBlueprint, name: str, variables: Sequence[Variable]) -> Draft:
    body = Lines(partial(_environment, variables))
    return avatar_file(host, avatar, name, body, [variable.origin for variable in variables])


def _environment(variables: Sequence[Variable]) -> Iterator[Line]:
    lines = env_shared((variable.name, variable.value) for variable in variables)
    for line, variable in zip(lines, variables, strict=True):
        yield line, (variable.origin,)


def _profile(variables: Sequence[Variable], mark: Mark) -> View:
    return {"variables": [mark((Word(variable.name), variable.value), variable.origin) for variable in variables]}


def _host_view(avatar: StackBlueprint, mark: Mark) -> View:
    return {"turn": _image(avatar, TURN_SERVICE, mark)}


def _image(avatar: StackBlueprint, service: str, mark: Mark) -> object:
    """The image that a service is pinned to, or ""."""
    return mark(avatar.pinned(service), *(image.origin for image in avatar.images if image.service == service))


def _view(avatar: StackBlueprint, slot: AvatarSlot, mark: Mark) -> View:
    game = given("avatars", avatar.name, "game_args")
    return {
        # Inside the quotes of the template, after variables that Compose fills in.
        "signaling": mark(Encoded(compose_string(slot.arguments)[1:-1]), slot.origin),
        "signaling_image": _image(avatar, SIGNALING_SERVICE, mark),
        "game_image": _image(avatar, GAME_SERVICE, mark),
        "game": mark(avatar.game_arguments, game),
        "game_variable": mark(Word(f"{avatar.prefix}_EXTRA_ARGS"), game),
        "hidden": mark("game" not in dict(slot.ports), slot.origin),
        "unnumbered": mark(not slot.network, slot.origin),
        "asleep": mark(slot.asleep is not None, slot.asleep or slot.origin),
    }
