"""What the nodes of this host say of themselves, beside what the host itself finds.

In: a request with questions. Out: a state as for a rollout, answers as they came, how the chain has orchestrators, and
settings that processes have from elsewhere. Whoever asks judges the answers by the spec. Changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from .asking import BODY_LIMIT, FAILURES, exchange
from .finding import container_facts, strangers
from .looking import WORDS_LIMIT, add_source_drift, look, wanted_state
from .places import CURRENT, MARKERS, TAKEN, Json, RefusedError
from .preflight.asked import AFTER_ROLLOUTS, Asked
from .preflight.chain import registration, rpc_of
from .preflight.checks import findings_of
from .processes import facts_of, set_since
from .releases import unit_of
from .rpc import Rpcs
from .secret_files import secrets_of, variables_in
from .stack.made import other_slots
from .stack.parts import containers_of, steering
from .steps import steps
from .system import names_in, read, run

SECONDS = 8
"""What one answer may take, from the first packet to its last byte."""

ALL_SECONDS = 40
"""What all answers of one host may take."""

SAID_LIMIT = 1024 * 1024
"""Bytes of one answer that are handed on; a gateway lists all orchestrators of the chain."""

ALL_LIMIT = 8 * 1024 * 1024
"""Bytes of all answers of one host."""

STILL_NEEDED = ("rpc", "wallet", "price-feed", "service-address", "password-file", "keystore")
"""Needs of a rollout that still have to hold while nodes run."""

READ_BY_NODES = re.compile(r"LP_[A-Z0-9_]{1,60}|(?:HTTPS?|NO)_PROXY|(?:https?|no)_proxy")
"""Settings of the node, and the proxies of the library through which it asks everybody."""

RESTART = re.compile(r"(?m)^(?:Restart=|    restart: )\"?([a-z-]+)")


def do_verify(request: Json) -> Json:
    """State, answers to questions, other settings of processes, and what the chain says, by the secrets that are here.

    A question has an id, an address ("" for the service of the avatar stack), a path, and names of metrics. An answer
    has a status and a body, or a reason where there is none. Registrations name the nodes that they are of.
    """
    wanted = request["wanted"]
    how = Asked(wanted, secrets_here(wanted), None, False, Rpcs())
    now = look()
    add_source_drift(now, wanted.get("stack"))
    settings = {one["name"]: list(other_settings(one, wanted["runtime"])) for one in wanted["services"]}
    pids = {str(one["pid"]) for one in facts_of(wanted["services"], wanted["runtime"]).values()}
    policies = slots_besides(wanted.get("stack"))
    for process in (process for process in now["processes"] if process["node"] in settings):
        policies += other_restart_policy(process)
        tell_once(process, settings[process["node"]])
    end = time.monotonic() + ALL_SECONDS
    with ThreadPoolExecutor(max_workers=16) as pool:
        asked = [
            (one["id"], pool.submit(answer_to, one["where"] or steering(), one["path"], end, one["metrics"]))
            for one in request["questions"]
        ]
        needs = [need for need in request["needs"] if need["need"] in STILL_NEEDED]
        orchestrators = [
            pool.submit(registration, need, how) for need in request["needs"] if need["need"] in AFTER_ROLLOUTS
        ]
        found = findings_of(needs, how) + list(not_asked(needs, how))
        answers, room = {}, ALL_LIMIT
        for name, job in asked:
            answers[name] = job.result()
            room -= len(answers[name].get("body", ""))
            if room < 0:
                answers[name] = {"status": 0, "reason": "the nodes of this host say more than fits into one answer"}
        registrations = [job.result() for job in orchestrators]
    return {
        "state": now,
        "steps": steps(now, wanted_state(wanted)),
        "answers": answers,
        "registrations": [one for one in registrations if one is not None],
        "settings": [one for own in settings.values() for one in own],
        "strangers": strangers({*settings, *names_in(MARKERS), *names_in(TAKEN)}, pids),
        "findings": found + policies,
        "changed": False,
        "clock": time.time(),
    }


def slots_besides(stack: Json | None) -> list[Json]:
    """Findings of slots that run beside those of the spec."""
    with contextlib.suppress(RefusedError):  # the state says that Docker does not answer
        return list(other_slots(stack, containers_of())) if stack else []
    return []


def answer_to(where: str, path: str, end: float, metrics: Sequence[str] = ()) -> Json:
    """What is answered to a GET, whatever it is. Nothing is asked after `end`, a time of the monotonic clock.

    Of an answer with metrics, only the lines of those that are named in `metrics`, if any are.
    """
    seconds = min(SECONDS, end - time.monotonic())
    if seconds <= 0:
        return {"status": 0, "reason": "others took all the %d seconds of this host" % ALL_SECONDS}
    try:
        status, content = exchange(where, "GET", path, None, {}, seconds)
    except socket.timeout:
        return {"status": 0, "reason": "no whole answer within %d seconds" % SECONDS}
    except ssl.SSLError:
        return {"status": 0, "reason": "it does not speak TLS as it should"}
    except FAILURES as failure:
        reason = failure.strerror if isinstance(failure, OSError) and failure.strerror else "its answer is not HTTP"
        return {"status": 0, "reason": reason}
    if metrics and len(content) < BODY_LIMIT:
        names = tuple(name.encode() for name in metrics)
        content = b"\n".join(line for line in content.splitlines() if line.startswith(names))
    if len(content) > SAID_LIMIT:
        return {"status": 0, "reason": "its answer is longer than %d kB" % (SAID_LIMIT // 1024)}
    return {"status": status, "body": content.decode(errors="replace")}


def not_asked(needs: list[Json], asked: Asked) -> Iterator[Json]:
    """What nobody asks the chain, because no release here has the address: it is unknown, and not fine."""
    for need in needs:
        if need["need"] == "rpc" and rpc_of(need, asked) is None:
            message = "the chain was not asked: no node here runs with an address in %s, from %s %s"
            told = {"code": "rpc-answers", "message": message % (need["variable"], need["kind"], need["rpc"])}
            yield {**told, "node": need["nodes"][0] if len(need["nodes"]) == 1 else "", "severity": "error"}


def other_settings(service: Json, runtime: str) -> Iterator[Json]:
    """Variables that the process of a node reads, and that neither its release nor its secrets have.

    The node takes them where no argument sets the same. Values may be secret, so only names are said.
    """
    node = service["name"]
    pid = facts_of([service], runtime).get(node, {}).get("pid", 0)
    environment = read("/proc/%d/environ" % pid) if pid else None
    if not environment or set_since(node, pid).get("taken"):
        return
    directory = os.path.realpath("%s/%s" % (CURRENT, node))
    own: dict[str, str] = {}
    for name in ("node.env", "secrets/secrets.env"):
        own.update(variables_in(read("%s/%s" % (directory, name)) or b"", runtime))
    words = (read("/proc/%d/cmdline" % pid) or b"").split(b"\0")
    given = {word.lstrip(b"-").partition(b"=")[0].decode(errors="replace").lower() for word in words}
    for entry in environment.split(b"\0"):
        name = entry.partition(b"=")[0].decode(errors="replace")
        if READ_BY_NODES.fullmatch(name) and name not in own:
            overridden = name[len("LP_") :].lower().replace("_", "") in given
            yield {"node": node, "variable": name, "overridden": overridden}


def tell_once(process: Json, settings: list[Json]) -> None:
    """Tell one change by hand as one thing: what became of files, with what its process has otherwise therefore.

    Where files of the release were changed, an environment that differs from them is only that of before.
    """
    causes = [text for text in process["drift"] if not text.startswith(("its process ", "systemd has not "))]
    effects = [text for text in process["drift"] if text not in causes]
    if any(text.startswith(("files of its release", "its secrets were")) for text in causes):
        effects = [text for text in effects if not text.startswith("its process has another ")]
    if causes and settings:
        read_too = [one["variable"] for one in settings if not one["overridden"]]
        effects += ["its process also reads %s" % ", ".join(read_too)] if read_too else []
        settings.clear()
    if causes and effects:
        causes[0] = ", and ".join([causes[0], *effects])[:WORDS_LIMIT]
    process["drift"] = causes or effects
    given, was_set = " ".join(effects), process.get("was_set", [])
    process["was_set"] = [text for text in was_set if "-%s " % text.split()[3] not in given]


def other_restart_policy(process: Json) -> Iterator[Json]:
    """That systemd or Docker starts a node again by another policy than its release has, and no file says so."""
    node, unit = process["node"], unit_of(process["node"])
    name, who = (unit + ".service", "systemd") if process["runtime"] == "systemd" else ("compose.yaml", "Docker")
    wanted = RESTART.search((read("%s/%s/%s" % (CURRENT, node, name)) or b"").decode(errors="replace"))
    if wanted is None or not process["running"] or process["drift"] or process.get("unlinked"):
        return
    asked = run("systemctl", "show", "--property=Restart", "--value", name).out.strip() if who == "systemd" else ""
    has = asked or container_facts(unit).get("restart", "")
    if has and has != wanted[1]:
        message = "%s: %s restarts it by the policy %s instead of %s" % (node, who, has, wanted[1])
        yield {"code": "other-restart-policy", "message": message, "node": node, "severity": "error"}


def secrets_here(wanted: Json) -> Json:
    """The values of secrets with which nodes of this host run, by kind and reference, whatever their files are now."""
    values: Json = {}
    facts = facts_of(wanted["services"], wanted["runtime"])
    for service in wanted["services"]:
        here = secrets_of("%s/%s" % (CURRENT, service["name"]), wanted["runtime"])
        environment = read("/proc/%d/environ" % facts.get(service["name"], {}).get("pid", 0)) or b""
        has = dict(entry.decode(errors="surrogateescape").partition("=")[::2] for entry in environment.split(b"\0"))
        here.update((name, has[name]) for name in here.keys() & has.keys() if not has[name].startswith("/"))
        for secret in service["secrets"]:
            if secret["variable"] in here:
                values.setdefault(secret["kind"], {})[secret["reference"]] = here[secret["variable"]]
    return values
