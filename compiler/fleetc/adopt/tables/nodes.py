"""Fills the table of a node from the settings that its process has today.

In: a `Filling`. Out: its table, complete but for questions. What every node has is here; `buying.py` has gateways and
signers, `selling.py` orchestrators and workers. What nothing decides about goes by the rows of `language/rows.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.words import Brief, Same, Unknown
from fleetc.adopt.node.flags import boolean
from fleetc.adopt.node.host_paths import (
    HOME,
    IMAGE_HOME,
    IN_VOLUME,
    PROJECT,
    Place,
    default_data_dir,
    home_of,
    on_host,
    opens_home_or_folder,
    whereabouts,
)
from fleetc.adopt.node.meaning import PRICED_FLAGS
from fleetc.adopt.node.reading import Running
from fleetc.adopt.node.values import extra_value, model_of, rows_of, spec_value, takes_secret, why_refused
from fleetc.adopt.tables import asking_words, buying, selling
from fleetc.adopt.tables.filling import ONE_KEYSTORE, ONE_PASSWORD, UNPLACED_PASSWORD, Filling
from fleetc.adopt.tables.listening import ask_node, cli, helper_http
from fleetc.adopt.tables.runner_host import STATE_DIR
from fleetc.adopt.tables.session import Table
from fleetc.adopt.tables.variables import environment
from fleetc.language.quantities import QuantityError, parse_eth_address
from fleetc.language.rows import READERS, UNREACHED
from fleetc.text import leaks
from fleetc.upstream import FLAGS

_WORKERS = ("transcoders", "ai_workers")
_OWN_MEANING = frozenset({"reward", "pricePerUnit", "httpIngest", "localVerify", "hevcDecoding", "minGasPrice"})
"""Flags for which it counts that somebody set them, even to their default."""
_HOST_PATHS = frozenset({"liveRunnerConfig", "verifierPath"})
_CHAIN_FLAGS = ("ethUrl", "ethController", "ethAcctAddr", "ethKeystorePath", "ethPassword", "reward")


def fill(work: Filling) -> None:
    """Fill the whole table."""
    running = work.running
    work.say("host", running.host)
    for flag in ("orchestrator", "transcoder", "aiWorker", "gateway", "broadcaster", "remoteSigner", "redeemer"):
        work.done.add(flag)  # the account of roles is kept where they are read
    behind_signer = running.role == "gateway" and "remoteSignerUrl" in running.settings
    _network(work, behind_signer)
    cli(work)
    _data_dir(work)
    if running.table not in _WORKERS:
        _chain(work, behind_signer)
    if running.table in ("gateways", "remote_signers"):
        buying.fill(work, behind_signer)
    elif running.table in ("orchestrators", *_WORKERS):
        selling.fill(work)
    elif running.table == "redeemers":
        helper_http(work)
    _rows(work)
    _rest(work)
    _complete(work)
    environment(work)


def _network(work: Filling, behind_signer: bool) -> None:
    running = work.running
    if running.table in _WORKERS:
        if running.on_chain:
            work.drop("network", "a remote worker never talks to the chain, and fleetc says so")
            for flag in ("ethController", "ethKeystorePath", "reward"):
                running.reasons.setdefault(flag, Same("a remote worker never talks to the chain"))
        else:
            work.take("network", "a remote worker is always off-chain")
        for flag in _CHAIN_FLAGS:
            if work.has(flag):
                work.drop(flag, Same("a remote worker never talks to the chain"))
    elif behind_signer and running.on_chain:
        work.drop("network", "behind a signer a gateway runs off-chain")
        for flag in ("ethController", "ethKeystorePath", "reward", "localVerify"):
            running.reasons.setdefault(flag, "behind a signer a gateway runs off-chain")
        for flag in PRICED_FLAGS - running.settings.keys():
            running.reasons.setdefault(flag, Same("behind a signer a gateway runs off-chain, where this does nothing"))
    else:
        work.take("network", "network of the fleet")


def _data_dir(work: Filling) -> None:
    running, process = work.running, work.process
    flag = "dataDir"
    if work.has(flag) and work.unknown(flag, "data_dir"):
        return
    place = on_host(process, _data_dir_inside(running))
    if place is not None and not _needs_data(work) and _nobody_says(running):
        work.drop(
            flag,
            Brief(
                "the node keeps nothing there that it needs again, so its data directory is a new one",
                "a new one; the old one is not needed",
            ),
        )
        return
    if place is None:
        inside = running.text(flag) or default_data_dir(IMAGE_HOME, running.network)
        if process.runtime == "docker" and not any(inside.startswith(mount.inside) for mount in process.mounts):
            lost = "today it is inside the container, and gone with it"
            work.drop(flag, lost if _needs_data(work) else f"{lost}; the node needs nothing of it again")
            _below(running, running.reasons["dataDir"])
            return
        said = whereabouts(process, inside)
        work.ask("data_dir", f"{said}; without it the node begins with an empty one", flag, '"/path/on/the/host"')
        running.reasons["dataDir"] = "the source does not say where it is on the host"
        _below(running, "it follows the data directory, which no source says")
        return
    work.take(flag, "data_dir")
    path = work.placed(place)
    below = work.session.hosts[running.host].values.get("state_dir", STATE_DIR)
    if path != f"{below}/{running.name}":
        work.say("data_dir", path, _volume_note(place))
    if place.open or path != _data_dir_inside(running):
        running.reasons["dataDir"] = (
            Same("a path has the same name inside and outside; this is the one on the host")
            if process.runtime == "docker"
            else Same("it is the same directory, by its whole path")
        )
        _below(running, running.reasons["dataDir"])


def _nobody_says(running: Running) -> bool:
    """Whether no command chooses the data directory, and the sources leave it open. What people say of homes and
    folders does not count: it makes the same spec on the command line as in the spec.
    """
    first = replace(running, process=running.unplaced or running.process)
    place = on_host(first.process, _data_dir_inside(first))
    chosen = bool(running.text("dataDir")) and place is not None and place.open != PROJECT
    return place is not None and bool(place.open) and not chosen


def _below(running: Running, why: str) -> None:
    """Why paths differ that the node makes of its data directory; those of sources have their own reasons."""
    for flag in ("ethKeystorePath", "aiModelsDir"):
        if not running.text(flag):
            running.reasons.setdefault(flag, why)


def _needs_data(work: Filling) -> bool:
    """Whether a data directory holds what a node cannot do without: keys and tickets, or models."""
    running = work.running
    models = running.on("aiWorker") and not running.text("aiModelsDir")
    return models or (work.facts.on_chain and running.on_chain and running.table not in _WORKERS)


def _data_dir_inside(running: Running) -> str:
    """The data directory as the node sees it: without -dataDir, it has the name of the network in the home."""
    home = home_of(running.process) or (IMAGE_HOME if running.process.runtime == "docker" else HOME)
    return running.text("dataDir") or default_data_dir(home, running.network)


def _volume_note(place: Place) -> str:
    """What to know of a path in a volume."""
    if not place.volume or place.open:
        return ""
    return f"docker volume inspect {place.volume} shows whether Docker keeps it there"


def _chain(work: Filling, behind_signer: bool) -> None:
    running, facts = work.running, work.facts
    if not facts.on_chain or behind_signer or not running.on_chain:
        why = "behind a signer a gateway runs off-chain, and has no account" if behind_signer else ""
        why = why or "off-chain it does nothing"
        for flag in _CHAIN_FLAGS:
            if not work.has(flag):
                continue
            if why.startswith("off") and flag != "reward":
                work.mistake(
                    "adopt-setting-unread", flag, f"-{flag} does nothing off-chain", "remove it, or set -network"
                )
            else:
                work.drop(flag, why)
        return
    work.take("ethUrl", "rpc of the fleet or of its host")
    work.take("ethController", "controller of the fleet, or the node's own")
    _wallet(work)


def _wallet_hint(work: Filling, account: str) -> str:
    """What an account is called by what it does: a redeemer has one of its own, unless an orchestrator has it too."""
    if work.running.role == "redeemer":
        others = (one.text("ethAcctAddr").lower() for one in work.facts.processes.values() if one.role != "redeemer")
        return "earner" if account in others else "redeemer"
    return "payer" if work.running.table in ("gateways", "remote_signers") else "earner"


def _wallet(work: Filling) -> None:
    running, session, process = work.running, work.session, work.process
    account = running.text("ethAcctAddr").lower()
    holes = running.word("ethAcctAddr").holes if account else ()
    keystore = running.text("ethKeystorePath")
    data_dir = _data_dir_inside(running)
    place = None
    flag = "ethKeystorePath" if keystore else "dataDir"
    if not running.text(flag) or not running.word(flag).holes or opens_home_or_folder(running.word(flag)):
        place = on_host(process, keystore or f"{data_dir}/keystore")
    path = work.placed(place) if place is not None else None
    key = account if account and not holes else f"{running.host} {path or process.span}"
    name, wallet = session.wallet(key, _wallet_hint(work, account))
    work.say("wallet", name)
    why = _no_account(running.text("ethAcctAddr")) if account and not holes else ""
    if why:
        words = f"the account; {why}"
        wallet.ask(f'TODO address = "0x...": {words}')
        work.leave_open("ethAcctAddr", f"wallets.{name}.address", words, "adopt-value-invalid")
        session.ledger.warn(
            "adopt-value-invalid", running.word("ethAcctAddr").span, f"the spec does not take this account: {why}",
            "today the node takes it as it stands; compare it with the wallet, and write the address of that",
            elsewhere=True,
        )  # fmt: skip
    elif account and not holes:
        wallet.values.setdefault("address", running.text("ethAcctAddr"))
        work.take("ethAcctAddr", f"wallets.{name}.address")
    else:
        no_source = "which account? No source names it; today the node takes any key it finds"
        words = "which account? The source leaves it open" if account else no_source
        wallet.ask(f'TODO address = "0x...": {words}')
        work.leave_open("ethAcctAddr", f"wallets.{name}.address", words)
    if path is None and "keystore" not in wallet.values:
        said = whereabouts(process, keystore or f"{data_dir}/keystore")
        more = ""
        what = "" if said.startswith(IN_VOLUME) else "the directory with the key file; "
        wallet.ask(f'TODO keystore = "/path/on/the/host/keystore": {what}{said}{more}')
        work.leave_open("ethKeystorePath", f"wallets.{name}.keystore", "where the key file is on the host")
    elif path is not None:
        known = wallet.values.setdefault("keystore", path)
        if known != path:
            work.yields("ethKeystorePath", path, ONE_KEYSTORE)
        elif path != keystore:
            running.reasons.setdefault("ethKeystorePath", Same("this is its path on the host"))
    if work.has("ethKeystorePath"):
        work.take("ethKeystorePath", f"wallets.{name}.keystore")
    _password(work, name, wallet)
    if running.table in ("gateways", "remote_signers"):
        _ask_deposit(running, wallet)
    work.done.add("reward")
    if "reward" in running.settings:
        work.take("reward", f"wallets.{name}.reward_by")


def _ask_deposit(running: Running, wallet: Table) -> None:
    """Ask for what backs the tickets of a wallet, once: no source says it, and the node does."""
    if any(question.startswith("TODO deposit") for question in wallet.questions):
        return
    shows = ask_node(running, "senderInfo")
    wallet.ask(f'TODO deposit = "... ETH": {asking_words.funds("what is set aside for tickets", shows)}')
    wallet.ask(f'TODO reserve = "... ETH": {asking_words.funds("what backs them", shows, ", as FundsRemaining")}')


def _no_account(text: str) -> str:
    """Why a text is no account; "" for one that is."""
    try:
        parse_eth_address(text)
    except QuantityError as problem:
        return problem.message
    return ""


def _password(work: Filling, name: str, wallet: Table) -> None:
    flag, values = "ethPassword", wallet.values
    if work.has(flag) and work.running.text(flag):
        work.running.reasons.setdefault(flag, Same("a reference in the spec has the same password"))
        reference = work.hidden(flag, "")
        if reference is not None:
            work.take(flag, f"wallets.{name}.password")
            if values.setdefault("password", reference) != reference:
                work.yields(flag, work.way(flag, reference), ONE_PASSWORD)
            return
    elif flag not in work.running.settings:
        work.running.reasons.setdefault(flag, Unknown("no source says it; it gets that of the wallet"))
    if "password" not in values:
        work.leave_open(flag, f"wallets.{name}.password", "where the password of the key file is")
        file = work.secret_file(flag) if flag in work.running.settings else ""
        said = whereabouts(work.process, file) if file else ""
        what = "" if said.startswith(IN_VOLUME) else f"where the password of the key file is{'; ' if said else ''}"
        more = ""
        wallet.ask(f'TODO password = {{ host_file = "/etc/livepeer/password" }}: {what}{said}{more}')
    elif work.has(flag) and not work.running.text(flag):
        work.take(flag, "empty, which the node takes for no password")
    elif work.has(flag):
        work.drop(flag, "one wallet has one password, and another node of it says where it is")
        work.yields(flag, work.secret_file(flag), UNPLACED_PASSWORD)


def _rows(work: Filling) -> None:
    """Plain settings."""
    running = work.running
    for flag, row in rows_of(running.table).items():
        if not work.has(flag):
            continue
        word, field = running.word(flag), row.field
        text = word.text
        if takes_secret(row):
            _secret_row(work, flag, field)
            continue
        if work.unknown(flag, field):
            continue
        if flag not in _OWN_MEANING and not work.process.ours and _is_default(flag, text):
            work.take(flag, "the node's own default, so the spec leaves it out")
            continue
        if not text:
            work.drop(flag, "an empty text is the node's word for unset", reason=False)
            continue
        if flag in _HOST_PATHS:
            path = work.host_path(text)
            if path is None:
                work.ask(field, "its path on the host", flag, '"/path/on/the/host"')
                continue
            if path != text:
                running.reasons[flag] = Same("this is its path on the host")
            text = path
        value = spec_value(row, text)
        if value is None:
            work.refused(flag, field, why_refused(row, text))
            continue
        work.say(field, value)
        work.take(flag, field)


def _secret_row(work: Filling, flag: str, field: str) -> None:
    row = rows_of(work.running.table)[flag]
    word = work.running.word(flag)
    if not word.text:
        work.drop(flag, "an empty text is the node's word for unset", reason=False)
        return
    if not word.holes and flag not in work.process.secrets:
        plain = spec_value(row, word.text)
        if plain is not None and leaks.find(word.text, flag) is None and FLAGS[flag].env not in work.process.secrets:
            work.say(field, plain)
            work.take(flag, field)
            return
    reference = work.hidden(flag, field)
    if reference is None:
        work.leave_open(flag, field, "where this secret is on the host")
        return
    work.running.reasons.setdefault(flag, Same("a reference in the spec has the same value"))
    work.say(field, reference)
    work.take(flag, field)


def _is_default(flag: str, text: str) -> bool:
    default = FLAGS[flag].default
    if isinstance(default, bool):
        return boolean(text) is default
    return text == str(default)


def _rest(work: Filling) -> None:
    """What no field has: settings that the role does not read, and flags for extra_flags."""
    running = work.running
    readers = READERS[running.table]
    for flag in sorted(running.settings):
        if not work.has(flag):
            continue
        known, word = FLAGS[flag], running.word(flag)
        if flag in UNREACHED:
            work.drop(flag, UNREACHED[flag], reason=False)
        elif word.text == str(known.default).lower() or (not word.text and known.default == ""):
            work.drop(flag, "the node's own default", reason=False)
        elif not work.process.ours and (not readers & known.roles or flag not in rows_of(running.table)):
            readers_ = " or ".join(sorted(known.roles))
            work.mistake(
                "adopt-setting-unread", flag, f"{_article(running.role)} does not read -{flag}",
                f"remove it; only {_article(readers_)} reads it" if known.roles else "remove it",
            )  # fmt: skip
        elif word.holes:
            work.ask(f"extra_flags.{flag}", f"the source says {leaks.shown(word.text)[:60]}", flag)
        else:
            work.table.values.setdefault("extra_flags", {})[flag] = extra_value(flag, word.text)
            work.done.add(flag)
            work.session.ledger.note(word.span, f"-{flag}", Fate.KEPT, "no field sets it")


def _article(role: str) -> str:
    return f"{'an' if role[:1] in 'aeo' else 'a'} {role.replace('-', ' ').replace('ai ', 'AI ')}"


def _complete(work: Filling) -> None:
    """Leave out tables within that lack a key which they need, such as a broker without a topic."""
    model = model_of(work.running.table)
    for key, value in list(work.table.values.items()):
        if not isinstance(value, dict) or key not in model.model_fields:
            continue
        inner = _inner_model(model, key)
        if inner is None:
            continue
        lacking = [name for name, field in inner.model_fields.items() if field.is_required() and name not in value]
        if lacking:
            del work.table.values[key]
            for flag, row in rows_of(work.running.table).items():
                if row.parts[0] == key and flag in work.running.settings:
                    work.running.reasons[flag] = f"it does nothing without {' and '.join(lacking)}"
                    word = work.running.word(flag)
                    work.session.ledger.mistake(
                        "adopt-setting-unread", word.span, f"-{flag}",
                        f"-{flag} does nothing without {' and '.join(lacking)}", "set those too, or remove it",
                    )  # fmt: skip


def _inner_model(model: Any, key: str) -> Any:
    from typing import get_args, get_origin

    from pydantic import BaseModel

    annotation = model.model_fields[key].annotation
    if get_origin(annotation) is dict:
        return None  # tables by name, of which each is complete
    kinds = (annotation, *get_args(annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
