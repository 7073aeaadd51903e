"""All checks of the preflight, by name, and how they are carried out.

In: a request with needs. Out: findings, all at once.
"""

from __future__ import annotations

import pwd
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from ..claims import need_own_release
from ..places import Json, RefusedError
from ..programs import runner_of
from ..rpc import Rpcs
from .asked import AFTER_ROLLOUTS, WARNINGS, Asked, Check, Finding
from .chain import check_price_feed, check_rpc, check_wallet
from .disk import check_disk
from .files import check_data_directory, check_file, check_live_runner_config, check_models_directory, owner_of
from .keystores import check_keystore, check_password_file
from .ports import check_port
from .programs import (
    check_compose,
    check_docker,
    check_gpus,
    check_image,
    check_own_image,
    check_program,
    check_stack,
    check_systemd,
    check_toolkit,
)
from .reach import check_reach, check_secret, check_service_address


def do_preflight(request: Json) -> Json:
    """All that would keep a release from running here, not the first alone. Changes nothing.

    In: wanted, needs, and values of secrets as for a rollout. Out: findings, each with code, message, node, severity,
    and the kind and subject of its need; node is "" where a finding is of the host or of several nodes. Warnings keep
    no release from running: what only programs of the fleet's monitoring need is one.
    """
    wanted = request["wanted"]
    reader = None if wanted["runtime"] == "docker" else runner_of(wanted["owner"])
    asked = Asked(wanted, request.get("values", {}), reader, bool(request.get("renamed")), Rpcs())
    of_host: list[tuple[Json, Check]] = [({"nodes": []}, check_host), ({"nodes": []}, check_disk)]
    images: dict[str, list[str]] = {}
    for service in wanted["services"]:
        if service.get("image"):
            images.setdefault(service["image"], []).append(service["name"])
    of_host += [({"nodes": nodes, "subject": image}, check_own_image) for image, nodes in images.items()]
    needs = [need for need in request["needs"] if need["need"] not in AFTER_ROLLOUTS]
    found = carried_out([*of_host, *((need, CHECKS[need["need"]]) for need in needs)], asked)
    if any(one["code"] in OF_FILES and one["need"] in OWNED and one["severity"] == "error" for one in found):
        found = carried_out([({"nodes": []}, check_user)], asked) + found
    return {"findings": found, "changed": False, "clock": time.time()}


def findings_of(needs: list[Json], asked: Asked) -> list[Json]:
    """What the checks of some needs find."""
    return carried_out([(need, CHECKS[need["need"]]) for need in needs], asked)


def carried_out(checks: list[tuple[Json, Check]], asked: Asked) -> list[Json]:
    """What checks find, all at once, each thing one time."""
    with ThreadPoolExecutor(max_workers=16) as pool:
        jobs = [(need, pool.submit(found_by, check, need, asked)) for need, check in checks]
    findings: dict[tuple[str, str, str, str], Json] = {}
    for need, job in jobs:
        node = need["nodes"][0] if len(need["nodes"]) == 1 else ""
        for code, message in job.result():
            severity = "warning" if code in WARNINGS or "monitoring" in need else "error"
            one = {"code": code, "message": message, "node": node, "severity": severity}
            about = {"need": need.get("need", ""), "subject": need.get("subject", "")}
            findings.setdefault((code, message, node, severity), {**one, **about})
    return list(findings.values())


def need_nothing(request: Json) -> list[Json]:
    """Refuse a rollout to a host that lacks something, with all that it lacks; what a person skips is left out.

    Out: the warnings, where nothing else is found.
    """
    found = [one for one in do_preflight(request)["findings"] if one["code"] not in request.get("skip", [])]
    errors = [one for one in found if one["severity"] == "error"]
    if errors:
        more = " (and %d more)" % (len(errors) - 1) if len(errors) > 1 else ""
        raise RefusedError("preflight", errors[0]["message"] + more, findings=found)
    return found


def found_by(check: Check, need: Json, asked: Asked) -> list[Finding]:
    """What a check finds; what it cannot do is a finding too."""
    found: list[Finding] = []
    try:
        found.extend(check(need, asked))
    except RefusedError as refusal:
        found.append((refusal.code, str(refusal)))
    except OSError as failure:
        message = "%s cannot be looked at: %s" % (failure.filename or need.get("subject", "the host"), failure.strerror)
        found.append(("check-failed", message))
    return found


OWNED = ("keystore", "password-file", "file", "models-directory")
"""Needs that belong to the user of nodes. A rollout makes that user, but too late for these."""

OF_FILES = (
    *("file-missing", "file-unreadable", "keystore-holds-account"),
    *("models-dir-writable", "password-file-not-empty"),
)
"""Codes of findings that nobody can mend before that user exists."""


def check_user(_need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether there is the user of nodes, to whom files can belong."""
    owner = owner_of(asked)
    try:
        if asked.reader is not None:
            pwd.getpwnam(owner)
    except KeyError:
        yield "node-user-missing", "user %s does not exist, and what nodes read here must belong to it" % owner


def check_host(_need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the release is for this machine."""
    need_own_release(asked.wanted, {"renamed": asked.renamed})
    yield from ()


CHECKS: dict[str, Check] = {
    "systemd": check_systemd,
    "docker": check_docker,
    "compose": check_compose,
    "gpus": check_gpus,
    "toolkit": check_toolkit,
    "image": check_image,
    "program": check_program,
    "reach": check_reach,
    "rpc": check_rpc,
    "wallet": check_wallet,
    "price-feed": check_price_feed,
    "keystore": check_keystore,
    "password-file": check_password_file,
    "file": check_file,
    "rule-file": check_file,
    "secret": check_secret,
    "service-address": check_service_address,
    "live-runner-config": check_live_runner_config,
    "models-directory": check_models_directory,
    "data-directory": check_data_directory,
    "stack": check_stack,
    "port": check_port,
}
