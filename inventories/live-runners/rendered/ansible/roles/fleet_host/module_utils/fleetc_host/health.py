"""Whether all that a release wants is well, and what it said where it is not.

In: what a release wants, and times. Out: what is wrong, in words; nothing where all of it is well.
"""

from __future__ import annotations

import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor

from .asking import get, same_number
from .looking import drift_of_process
from .places import CURRENT, Json
from .processes import facts_of
from .programs import is_version
from .releases import unit_of
from .secret_files import known_secrets, masked
from .stack.health import watch_stack
from .system import read, run

LISTEN = "0A"
ENDS = 3
"""How often a node may be started again by itself before nobody waits for it any longer."""


def healthy(wanted: Json, deadline: float, stable: float) -> list[str]:
    """Wait until a release is well for `stable` seconds on end; what is wrong after `deadline` seconds.

    All nodes are asked at once. A node or a container that ends again and again is not waited for.
    """
    services, stack, runtime = wanted["services"], wanted.get("stack"), wanted["runtime"]
    if not services and not stack:
        return []
    end, well_since = time.monotonic() + deadline, None
    before = {**facts_of(services, runtime), **watch_stack(stack)[1]}
    pids: dict[str, int] = {}
    with ThreadPoolExecutor(max_workers=min(16, len(services) + 1)) as pool:
        while True:
            asked = time.monotonic()
            trouble, of_stack = watch_stack(stack)
            facts = {**facts_of(services, runtime), **of_stack}
            now = {node: fact["pid"] for node, fact in facts.items() if fact["running"]}
            asks = [pool.submit(ill, one, runtime, now.get(one["name"], 0)) for one in services]
            problems = [problem for problem in (*(ask.result() for ask in asks), trouble) if problem]
            well_since = None if problems or now != pids or well_since is None else well_since
            if not problems and well_since is None:
                well_since = asked
            if well_since is not None and time.monotonic() - well_since >= stable:
                return []
            tried = {node: fact["restarts"] - before.get(node, fact)["restarts"] for node, fact in facts.items()}
            ended = [node for node, times in tried.items() if times >= ENDS]
            if ended or time.monotonic() >= end + (0 if problems else stable):
                again = ["%s ended %d times" % (node, tried[node]) for node in ended]
                return problems + again or ["its processes are not the same for %d seconds on end" % stable]
            pids = now
            time.sleep(min(1.0, max(0.1, stable / 4)))


def ill(service: Json, runtime: str, pid: int) -> str:
    """What is wrong with a node, in words; "" where it is well."""
    node = service["name"]
    if not pid:
        return "%s does not run" % node
    directory = os.path.realpath("%s/%s" % (CURRENT, node))
    drift = drift_of_process(pid, service, directory, runtime)
    if drift:
        return "%s: %s" % (node, drift[0])
    health = service.get("health") or {}
    listening = listening_ports(pid)
    for port in health.get("ports", []):
        if port not in listening:
            return "%s does not listen on port %d" % (node, port)
    for ask in (ill_by_healthz, ill_by_status, ill_by_caps, ill_by_answer):
        problem = ask(health)
        if problem:
            return "%s %s" % (node, problem)
    return ""


def listening_ports(pid: int) -> list[int]:
    """The TCP ports on which a process itself listens."""
    sockets = set()
    try:
        for name in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(OSError):
                sockets.add(os.readlink("/proc/%d/fd/%s" % (pid, name)))
    except OSError:
        return []
    found = set()
    for table in ("tcp", "tcp6"):
        for line in (read("/proc/%d/net/%s" % (pid, table)) or b"").decode().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTEN and "socket:[%s]" % words[9] in sockets:
                found.add(int(words[1].rpartition(":")[2], 16))
    return sorted(found)


def ill_by_healthz(health: Json) -> str:
    """What /healthz says; nothing of nodes that have none."""
    where = health.get("healthz")
    if not where:
        return ""
    status, _ = get(where, "/healthz")
    return "" if status == 200 else "answers %s to /healthz" % (status or "nothing")


def ill_by_answer(health: Json) -> str:
    """What a live runner says where its orchestrator asks it."""
    wanted = health.get("answers")
    if not wanted:
        return ""
    status, _ = get(wanted["where"], wanted["path"])
    if status == wanted["status"]:
        return ""
    return "answers %s to %s instead of %d" % (status or "nothing", wanted["path"], wanted["status"])


def ill_by_status(health: Json) -> str:
    """What /status says: the release, and the prices that an orchestrator asks."""
    where = health.get("status")
    if not where:
        return ""
    status, body = get(where, "/status")
    if status != 200 or not isinstance(body, dict):
        return "answers %s to /status" % (status or "nothing")
    wanted, version = health.get("version", ""), str(body.get("Version", ""))[:80]
    if wanted and not is_version(version, wanted):
        return "is of release %s instead of %s" % (version or "unknown", wanted)
    prices = body.get("BroadcasterPrices")
    for who, price in health.get("prices", {}).items():
        asked = prices.get(who) if isinstance(prices, dict) else None
        if not same_number(asked, price):
            return "asks %s wei a pixel of %s instead of %s" % (str(asked)[:40], who, price)
    return ""


def ill_by_caps(health: Json) -> str:
    """What a gateway says that it pays at most."""
    if not health.get("max_price"):
        return ""
    status, body = get(health["status"], "/getBroadcastConfig")
    if status != 200 or not isinstance(body, dict):
        return "answers %s to /getBroadcastConfig" % (status or "nothing")
    cap = body.get("MaxPrice")
    return (
        ""
        if same_number(cap, health["max_price"])
        else "pays at most %s wei a pixel instead of %s"
        % (
            str(cap)[:40],
            health["max_price"],
        )
    )


LOG_LINES = 30


def last_words(wanted: Json, since: float) -> list[str]:
    """The last log lines of the nodes that were just started, with known secrets and all addresses masked."""
    begun = "%d" % since
    found = []
    for service in wanted["services"]:
        node = service["name"]
        if wanted["runtime"] == "docker":
            done = run("docker", "container", "logs", "--since", begun, "--tail", str(LOG_LINES), unit_of(node))
        else:
            words = ("--no-pager", "--output=cat", "--since=@" + begun, "--lines=%d" % LOG_LINES)
            done = run("journalctl", *words, "--unit=%s.service" % unit_of(node))
        text = masked(done.out + done.err, known_secrets(node, wanted["runtime"]))
        found += ["%s: %s" % (node, line) for line in text.splitlines()[-LOG_LINES:] if line.strip()]
    return found[-4 * LOG_LINES :]
