"""A gateway has no way to find orchestrators.

Why: off-chain there is no registry. The gateway starts, accepts streams and transcodes nothing. A gateway behind a
remote signer runs off-chain on any network. It asks the signer, which only finds orchestrators for its gateways if you
turn that on.

An AI gateway on a chain searches the registry of video orchestrators by default. AI orchestrators are registered
elsewhere, so requests find none, without an error.

Example:

    [gateways.gate]
    mode = "video"

Instead:

    [gateways.gate]
    mode = "video"
    orchestrators = ["orch"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.gateway import Gateway, Webhook
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning

_SHOWN = 6
_OUTSIDE = 'the addresses that it may use, such as orchestrators = ["orch.example.net:8935"]'


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at gateways that list none. A signer elsewhere may find some; a dual one may want the video registry."""
    for name, gateway in sorted(fleet.gateways.items()):
        signed = gateway.remote_signer is not None
        if gateway.orchestrators or isinstance(gateway.discovery, Webhook):
            continue
        if fleet.on_chain and not signed:
            if gateway.mode != "video" and gateway.discovery is None:
                report = error if gateway.mode == "ai" else warning
                yield report(
                    "gateway-without-orchestrators",
                    f"gateway {name} serves AI, but would look for orchestrators in the video registry",
                    Label(("gateways", name, "mode"), "serves AI"),
                    help='write discovery = "ai-registry", or list them: orchestrators = ["orch.example.net:8935"]',
                )
            continue
        if gateway.discovery is not None:
            yield _registry(fleet, name, signed)
        elif not signed:
            message = f"gateway {name} has no orchestrators, and an off-chain fleet has no registry"
            yield _nobody(message, ("gateways", name), [_no_chain()], f"write {_listed(fleet)}")
        else:
            yield from _idle_signer(fleet, name, gateway)


def _registry(fleet: Fleet, name: str, signed: bool) -> Diagnostic:
    path: Path = ("gateways", name)
    if signed:
        message = f"gateway {name} looks for orchestrators in a registry, but behind a signer it has no chain"
        related, advice = (
            [Label((*path, "remote_signer"), "the signer")],
            "remove it, so that the gateway asks the signer, or ",
        )
        return _nobody(message, (*path, "discovery"), related, f"{advice}write {_listed(fleet)} instead")
    message = f"gateway {name} looks for orchestrators in a registry, but an off-chain fleet has none"
    return _nobody(message, (*path, "discovery"), [_no_chain()], f"write {_listed(fleet)}")


def _idle_signer(fleet: Fleet, name: str, gateway: Gateway) -> Iterator[Diagnostic]:
    """A signer of the fleet that finds no orchestrators for its gateway."""
    signer = gateway.remote_signer.signer if gateway.remote_signer is not None else None
    if signer is not None and not fleet.remote_signers[signer].remote_discovery:
        yield _nobody(
            f"gateway {name} has no orchestrators, and its signer {signer} finds none for it",
            ("gateways", name),
            [Label(("remote_signers", signer), "the signer")],
            f"write remote_discovery = true in remote_signers.{signer}, or {_listed(fleet)} here",
        )


def _nobody(message: str, place: Path, related: list[Label], advice: str) -> Diagnostic:
    return error("gateway-without-orchestrators", message, Label(place), related, advice)


def _no_chain() -> Label:
    return Label(("fleet", "network"), "no chain")


def _listed(fleet: Fleet) -> str:
    names = sorted(fleet.orchestrators)
    listed = ", ".join(f'"{name}"' for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f"orchestrators = [{listed}]" if names else _OUTSIDE
