"""Says in the spec where a node listens: administration, HTTP of helpers, and listeners of containers on their host.

In: a `Filling`. Out: its fields for listeners, and what is exposed today.
"""

from __future__ import annotations

from fleetc.adopt.found.words import Brief, Same
from fleetc.adopt.node.host_paths import plain_container
from fleetc.adopt.node.listeners import LOOPBACK, Listener, cli_listener, http_listener, is_loopback, written
from fleetc.adopt.node.reading import Running
from fleetc.adopt.report.compare import QUESTION
from fleetc.adopt.tables import asking_words
from fleetc.adopt.tables.filling import Filling
from fleetc.language.effective import CLI_LISTENERS, HELPER_HTTP
from fleetc.text import leaks


def open_listener(work: Filling, flag: str, listener: Listener | None, what: str) -> Listener | None:
    """Where a listener of a container is on the host: fleetc gives containers the network of the host."""
    process = work.process
    if listener is None or process.network == "host":
        return listener
    host, port = listener
    published = next((p for p in process.published if p.inside == port), None)
    own = host in process.peers
    if is_loopback(host) or published is None:
        work.running.unreached.add(flag)
    if is_loopback(host):
        work.running.reasons.setdefault(flag, f"nobody outside the container reaches its loopback {what} today")
        return LOOPBACK, port
    reason = "containers get the network of the host"
    if published is None:
        work.running.reasons.setdefault(
            flag, Brief(f"{reason}, which does not publish this port: it is on loopback", "")
        )
        return LOOPBACK, port
    address = published.address or "*"
    if own or (address, published.port) != listener:
        work.running.reasons.setdefault(flag, Same(f"{reason}, which publishes this port there"))
    return address, published.port


def cli(work: Filling) -> None:
    """The administration listener."""
    running = work.running
    text = running.text("cliAddr")
    if work.has("cliAddr") and work.unknown("cliAddr", "cli"):
        return
    listener = open_listener(work, "cliAddr", cli_listener(running.role, text), "administration listener")
    if listener is None or listener[0].isdecimal():  # a lone number is no port to the node: it is a host
        work.mistake("adopt-value-invalid", "cliAddr", "the node cannot listen there", 'write "127.0.0.1:7935"')
        return
    default = CLI_LISTENERS[running.table]
    if not text and running.role in ("redeemer", "reward"):
        running.reasons["cliAddr"] = "the node would listen on port 80 of all interfaces; fleetc keeps it on loopback"
        return
    exposed = not is_loopback(listener[0])
    work.done.add("cliAddr")
    if not exposed or work.process.ours:
        say_listener(work, "cliAddr", "cli", listener, str(default))
    if exposed and work.process.ours:
        work.say("cli_exposed", True)
    elif exposed:
        funds = running.on_chain and running.role not in ("transcoder", "ai-worker") and not _has_signer(running)
        power = "move funds" if funds else "change its settings and read its state"
        words = f"who reaches {written(listener)} can {power}"
        keep = asking_words.keep_listener(written(listener))
        told = None
        running.reasons["cliAddr"] = f"{QUESTION}: {words}"
        word = running.word("cliAddr") if text else None
        if word is not None:
            told = work.session.ledger.mistake(
                "adopt-listener-exposed", word.span, f"-cliAddr={leaks.shown(word.text)}",
                "others than the host itself reach the administration listener, and it asks nobody for a password",
                f'write cli = "127.0.0.1:{listener[1]}" in the spec, and use an SSH tunnel', elsewhere=True,
            )  # fmt: skip
        work.table.ask(f'TODO cli = "127.0.0.1:{listener[1]}": {words}; {keep}', told)


def _has_signer(running: Running) -> bool:
    """Whether another process holds the account of a node."""
    return bool(running.text("remoteSignerUrl"))


def ask_node(running: Running, path: str) -> str:
    """The command that asks the administration listener of a node as it runs today, and where to type it."""
    process = running.process
    host, port = cli_listener(running.role, running.text("cliAddr")) or ("*", CLI_LISTENERS[running.table].port)
    inside = LOOPBACK if host == "*" or is_loopback(host) or host in process.peers else host
    curl = f"curl -s http://{inside}:{port}/{path}"
    if process.network == "host":
        return f"{curl} on its host"
    published = next((one for one in process.published if one.inside == port and not is_loopback(host)), None)
    if published is not None:
        return f"curl -s http://{published.address or LOOPBACK}:{published.port}/{path} on its host"
    name = process.container if plain_container(process.container) else "CONTAINER"
    return f"sudo nsenter -n -t $(docker inspect -f '{{{{.State.Pid}}}}' {name}) {curl} on its host"


def helper_http(work: Filling) -> None:
    """The listener of a signer or a redeemer."""
    running = work.running
    if work.has("httpAddr") and work.unknown("httpAddr", "http"):
        return
    _, listener = http_listener(running.role, running.text("httpAddr"), "")
    listener = open_listener(work, "httpAddr", listener, "listener")
    if listener is None:
        work.ask("http", "the node cannot listen where the source says", "httpAddr", '"127.0.0.1:8935"')
        return
    say_listener(work, "httpAddr", "http", listener, str(HELPER_HTTP))


def say_listener(work: Filling, flag: str, key: str, listener: Listener, default: str) -> None:
    """Write down where a node listens; the spec leaves out the default of its role, and the account says so."""
    if written(listener) == default:
        work.take(flag, f"{default}, the default of its role, which the spec leaves out")
        return
    work.say(key, written(listener))
    work.take(flag, key)
