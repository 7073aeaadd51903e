"""Emits `ROLLOUT.md`: the commands that roll this fleet out, with fleetc and without it.

In: the blueprint. Out: `ROLLOUT.md`. Its commands hold names of hosts only, which have the alphabet of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from fleetc.blueprint.blueprint import Blueprint, SecretVariable
from fleetc.blueprint.shards import canary_hosts, shards_of
from fleetc.emit.draft import Draft
from fleetc.emit.pages.cells import cell, word
from fleetc.emit.templates import Encoded, Rendered, Templates, View
from fleetc.emit.traced import Mark
from fleetc.places.origin import Origin, derived, given

FILE = "ROLLOUT.md"
_TEMPLATE = "docs/rollout.md.j2"

_LISTED = 40
"""The most hosts of a fleet with listed parts."""


def emit(blueprint: Blueprint, templates: Templates) -> Iterator[Draft]:
    """The document; a fleet without hosts has none."""
    if blueprint.hosts:
        yield Draft(FILE, Rendered(templates, _TEMPLATE, partial(_view, blueprint)), tables=("fleet",))


def _view(blueprint: Blueprint, mark: Mark) -> View:
    batches = derived(
        "batches follow from the settings of the rollout and from who uses whom", ("rollout",), ("hosts",)
    )
    canary = given("rollout", "canary")
    parts = shards_of(blueprint, 2)
    listed = enumerate(parts, 1) if all(parts) and len(blueprint.hosts) <= _LISTED else ()
    secrets = [secret for host in blueprint.hosts for _, found in host.secrets() for secret in found]
    variables, commands = (sorted(_names(secrets, kind).items()) for kind in ("env", "command"))
    vaults = [secret for secret in secrets if secret.kind == "vault"]
    printed = [secret for secret in secrets if secret.kind == "command"]
    from_vault, from_file_here, from_secrets = (_lies(found) for found in (vaults, [*vaults, *printed], secrets))
    # Words of fleetc's own, which a command takes literally.
    with_vault = Encoded(" -e @vault.yml --ask-vault-pass" if vaults or commands else "")
    from_file = Encoded(" -e '@$SECRETS'" if vaults or variables or commands else "")
    from_own_file = Encoded(' -e "@$SECRETS"' if vaults or variables or commands else "")
    one = blueprint.in_order[0].name
    return {
        "fleet": mark(cell(blueprint.fleet), given("fleet", "name")),
        "canary": [mark(cell(name), canary, given("hosts", name)) for name in canary_hosts(blueprint)],
        "variables": [mark(cell(name), *origins) for name, origins in variables],
        "commands": [mark(cell(name), *origins) for name, origins in commands],
        "vault": mark(bool(vaults), from_vault),
        "with_vault": mark(with_vault, from_file_here),
        "from_file": mark(from_file, from_secrets),
        "from_own_file": mark(from_own_file, from_secrets),
        "divisible": mark(all(parts), batches),
        "parts": [
            mark((word(f"{number}/{len(parts)}"), Encoded(f"`{','.join(names)}`")), batches) for number, names in listed
        ],
        "one": mark(word(one), given("hosts", one)),
        "one_cell": mark(cell(one), given("hosts", one)),
    }


def _names(secrets: Iterable[SecretVariable], kind: str) -> dict[str, list[Origin]]:
    """The variables, or the commands, that secrets are read from, each with the origins of those secrets."""
    found: dict[str, list[Origin]] = {}
    for secret in secrets:
        if secret.kind == kind and secret.origin not in found.setdefault(secret.reference, []):
            found[secret.reference].append(secret.origin)
    return found


def _lies(secrets: Iterable[SecretVariable]) -> Origin:
    """That commands name a file for these secrets, or no file where there are none."""
    return derived(
        "where secrets lie", ("hosts",), *dict.fromkeys(path for one in secrets for path in one.origin.paths)
    )
