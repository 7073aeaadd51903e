"""Fills the table of a node from the settings that its process has today.

In: a `Filling`. Out: its table, complete but for questions. What every node has is here; `buying.py` has gateways and
signers, `selling.py` orchestrators and workers. What nothing decides about goes by the rows of `language/rows.py`.
"""

from __future__ import annotations

import re

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.questions import Ask, Why
from fleetc.adopt.node.flags import ROLES
from fleetc.adopt.node.listeners import LOOPBACK, cli_listener, http_listener, is_loopback
from fleetc.adopt.node.paths import IMAGE_HOME, default_data_dir, home_of, on_host
from fleetc.adopt.node.settings import PRICED_FLAGS, Running
from fleetc.adopt.node.values import extra_value, rows_of, spec_value, takes_secret, why_refused
from fleetc.adopt.tables import buying, selling
from fleetc.adopt.tables.filling import SECRET_ON_HOST, Filling, variable
from fleetc.adopt.tables.machines import STATE_DIR
from fleetc.adopt.tables.session import Table
from fleetc.language.effective import CLI_LISTENERS, HELPER_HTTP
from fleetc.language.rows import UNREACHED, Row
from fleetc.text import leaks
from fleetc.upstream import FLAGS

_WORKERS = ("transcoders", "ai_workers")
_BUYERS = ("gateways", "remote_signers")
_OWN_MEANING = frozenset({"reward", "pricePerUnit", "httpIngest", "localVerify", "hevcDecoding", "minGasPrice"})
"""Flags for which it counts that somebody set them, even to their default."""
_HOST_PATHS = frozenset({"liveRunnerConfig", "verifierPath"})
_ACCOUNT = ("ethUrl", "ethController", "ethAcctAddr", "ethKeystorePath", "ethPassword", "reward")
_PAID = (*sorted(PRICED_FLAGS), "pixelsPerUnit", "pricePerBroadcaster", "redeemerAddr", "ethOrchAddr",
         "blockPollingInterval")  # fmt: skip
_SELECTION = ("selectPriceExpFactor", "minPerfScore", "orchPerfStatsUrl", "region", "ignoreMaxPriceIfNeeded")


def fill(work: Filling) -> None:
    """Fill the whole table."""
    running = work.running
    work.table.say("host", running.host)
    work.done.update(ROLES)  # the account of roles is kept where they are read
    behind_signer = running.role == "gateway" and "remoteSignerUrl" in running.settings
    _network(work, behind_signer)
    if not running.text("cliAddr") and running.table in ("redeemers", "reward_callers"):
        work.because("cliAddr", Why.PORT_80)
    else:
        cli = cli_listener(running.role, running.text("cliAddr"))
        a_host = cli is not None and cli[0].isdecimal()  # a lone number is no port to the node
        work.listens("cliAddr", "cli", None if a_host else cli, str(CLI_LISTENERS[running.table]))
    _data_dir(work)
    if work.facts.on_chain and running.on_chain and not behind_signer and running.table not in _WORKERS:
        work.take("ethUrl", "rpc of the fleet or of its host")
        work.take("ethController", "controller of the fleet, or the node's own")
        _wallet(work)
    if running.table in _BUYERS:
        buying.fill(work, behind_signer)
    elif running.table in ("orchestrators", *_WORKERS):
        selling.fill(work)
    if running.table in ("remote_signers", "redeemers"):
        _, listener = http_listener(running.role, running.text("httpAddr"), "")
        work.listens("httpAddr", "http", listener, str(HELPER_HTTP))
    rows = rows_of(running.table)
    for flag in filter(work.has, (*rows, *sorted(running.settings))):
        _setting(work, flag, rows.get(flag))
    _environment(work)


def _network(work: Filling, behind_signer: bool) -> None:
    """The network, and settings that do nothing because nobody is paid."""
    running, worker = work.running, work.running.table in _WORKERS
    why = Why.WORKER if worker else Why.BEHIND_SIGNER if behind_signer else Why.OFFCHAIN
    if running.on_chain and (worker or behind_signer):
        work.drop("network", Why.ON_NO_NETWORK)
        work.because("localVerify", Why.ON_NO_NETWORK)
    work.take("network", "network of the fleet")
    if running.on_chain and not worker and not behind_signer:
        return
    idle = () if work.process.ours and not behind_signer else _PAID if not worker else ()
    for flag in (*_ACCOUNT, *idle, *(_SELECTION if behind_signer else ())):
        work.drop(flag, Why.SIGNER_COMPARES if behind_signer and flag.startswith("maxPrice") else why)
    for flag in ("ethController", "ethKeystorePath", "reward", *PRICED_FLAGS):
        work.because(flag, why)


def _data_dir(work: Filling) -> None:
    """The data directory; where sources leave it open, a node that needs nothing of it again gets a new one."""
    running, flag, inside = work.running, "dataDir", _data_dir_inside(work)
    path = on_host(work.process, inside)
    models = running.on("aiWorker") and not running.text("aiModelsDir")
    needed = models or (work.facts.on_chain and running.on_chain and running.table not in _WORKERS)
    own = f"{work.session.hosts[running.host].values.get('state_dir', STATE_DIR)}/{running.name}"
    if path is not None:
        why = Why.SAME_PATH
        work.take(flag, "data_dir")
        if path != own:
            work.table.say("data_dir", path)
        if path.startswith("/var/lib/docker/volumes/"):
            work.table.notes["data_dir"] = "docker volume inspect shows whether Docker keeps it there"
    elif not needed:
        why = Why.NEW_DATA_DIR
    else:
        why = Why.BELOW_DATA_DIR
        work.asks_path("data_dir", flag, inside)
    if flag not in work.done:
        work.drop(flag, why)
    work.because(flag, why)
    for below in {"ethKeystorePath", "aiModelsDir"} - running.settings.keys():
        work.because(below, why)


def _data_dir_inside(work: Filling) -> str:
    """The data directory as the node sees it: without -dataDir, it has the name of the network in the home."""
    process = work.process
    home = home_of(process) or (IMAGE_HOME if process.runtime == "docker" else "~")
    return work.running.text("dataDir") or default_data_dir(home, work.running.network)


def _wallet(work: Filling) -> None:
    """The wallet of a node: one table for each account, or for each keystore where no source names the account."""
    running, account = work.running, work.running.text("ethAcctAddr")
    known = bool(account) and not running.word("ethAcctAddr").holes
    inside = running.text("ethKeystorePath") or f"{_data_dir_inside(work)}/keystore"
    path = on_host(work.process, inside)
    hint = "payer" if running.table in _BUYERS else "earner"
    others = (node for node in work.facts.processes.values() if node.role != "redeemer")
    if running.role == "redeemer" and account not in {node.text("ethAcctAddr") for node in others}:
        hint = "redeemer"
    key = account.lower() if known else f"{running.host} {path or work.process.span}"
    name, wallet = work.session.wallet(key, hint)
    work.table.say("wallet", name)
    if not account:
        work.asks(Ask.ACCOUNT, "address", "ethAcctAddr", '"0x..."', wallet)
    elif not work.unknown("ethAcctAddr", "address", '"0x..."', wallet):
        wallet.values.setdefault("address", account)
        work.take("ethAcctAddr", f"wallets.{name}.address")
    if path is None and "keystore" not in wallet.values:
        work.asks_path("keystore", "ethKeystorePath", inside, wallet)
    elif path is not None and wallet.values.setdefault("keystore", path) != path:
        work.asks(Ask.ONE_KEYSTORE, "keystore", "ethKeystorePath", "", wallet, node=running.name, path=path)
    else:
        work.take("ethKeystorePath", f"wallets.{name}.keystore")
        work.because("ethKeystorePath", Why.SAME_PATH)
    _password(work, name, wallet)
    if running.table in _BUYERS and not wallet.asks("deposit"):
        command = _asks_node(running)
        wallet.put(Ask.DEPOSIT, "deposit", '"... ETH"', command=command)
        wallet.put(Ask.RESERVE, "reserve", '"... ETH"', command=command)
    work.take("reward", f"wallets.{name}.reward_by")


def _asks_node(running: Running) -> str:
    """The command that shows what a node has set aside, as it runs today."""
    process = running.process
    host, port = cli_listener(running.role, running.text("cliAddr")) or ("*", CLI_LISTENERS[running.table].port)
    inside = LOOPBACK if host == "*" or is_loopback(host) or host in process.peers else host
    plain = re.fullmatch(r"[A-Za-z0-9_.-]+|\$\(docker compose ps -q [A-Za-z0-9_.-]+\)", process.container)
    name = process.container if plain else "CONTAINER"
    enter = f"sudo nsenter -n -t $(docker inspect -f '{{{{.State.Pid}}}}' {name}) "
    return f"{'' if process.network == 'host' else enter}curl -s http://{inside}:{port}/senderInfo on its host"


def _password(work: Filling, name: str, wallet: Table) -> None:
    """The password of a wallet; two nodes of it may not have two."""
    flag, key = "ethPassword", "password"
    text = work.running.text(flag)
    reference = work.secret(flag, key, wallet) if text else None
    if reference is not None and wallet.values.setdefault(key, reference) != reference:
        work.asks(Ask.ONE_PASSWORD, key, flag, "", wallet, node=work.running.name)
    elif reference is not None:
        work.because(flag, Why.REFERENCE)
        work.take(flag, f"wallets.{name}.password")
    elif not text and key in wallet.values:
        work.because(flag, Why.OF_WALLET)
    elif not text:
        work.asks(Ask.NO_SOURCE, key, flag, SECRET_ON_HOST, wallet)


def _setting(work: Filling, flag: str, row: Row | None) -> None:
    """A setting about which nothing decides: a plain one, one for extra_flags, or one that the role does not read."""
    text, table, value = work.running.text(flag), work.running.table, None
    key = row.field if row is not None else f"extra_flags.{flag}"
    default = text.lower() == str(FLAGS[flag].default).lower() and (row is None or flag not in _OWN_MEANING)
    if flag in UNREACHED:
        work.drop(flag, Why.NO_FIELD, reason=UNREACHED[flag])
    elif not text or (default and not work.process.ours):
        work.take(flag, "the node's own default, so the spec leaves it out")
    elif row is None and not work.process.ours:
        work.mistake("adopt-setting-unread", flag, Why.NOT_READ, "remove it", table=table, setting=flag)
    elif row is not None and takes_secret(row):
        value = (spec_value(row, text) if work.in_clear(flag) else None) or work.secret(flag, key)
        work.because(flag, Why.REFERENCE)
    elif work.unknown(flag, key):
        pass
    elif row is None:
        work.table.say(key, extra_value(flag, text))
        work.session.ledger.note(work.running.word(flag).span, f"-{flag}", Fate.KEPT, "no field sets it")
    elif flag in _HOST_PATHS:
        value = on_host(work.process, text)
        work.because(flag, Why.SAME_PATH)
        if value is None:
            work.asks_path(key, flag, text)
    else:
        value = spec_value(row, text)
        if value is None:
            work.asks(Ask.NOT_IN_SPEC, key, flag, "", text=work.shown(flag), why=why_refused(row, text))
    if value is not None:
        work.give(flag, key, value)


def _environment(work: Filling) -> None:
    """Fill the variables of a node that are none of its settings."""
    ledger, used = work.session.ledger, work.session.library.variables
    settings = {flag.env for flag in FLAGS.values()}
    for name, word in sorted(work.process.variables.items()):
        if not name.startswith("LP_"):
            variable(work, name, word)
        elif name not in settings and name not in used:
            shown = leaks.shown(name)
            message = f"the node reads no variable {shown}"
            ledger.mistake("adopt-flag-unknown", word.span, shown, message, "remove it")
        elif name not in settings:
            ledger.note(word.span, name, Fate.DROPPED, "the node does not read it; the sources use it themselves")
