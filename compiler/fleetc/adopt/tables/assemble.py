"""Makes one fleet of all processes: names, hosts, network, wallets, and the tables of the nodes.

In: processes, hosts that inventories name, and what people say. Out: `Assembled`: tables by name, and each process with
its node; or nothing, where the processes do not fit into one spec.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fleetc.adopt.found.process import Process
from fleetc.adopt.found.said import Said
from fleetc.adopt.node import documents
from fleetc.adopt.node.documents import DocumentError
from fleetc.adopt.node.listeners import http_listener, orchestrator_url, service_url, written
from fleetc.adopt.node.own_files import note_mounted
from fleetc.adopt.node.reading import OFFCHAIN, Running, running
from fleetc.adopt.node.releases import likely_release, note_release, release_of_path, release_said
from fleetc.adopt.read.sources import Found
from fleetc.adopt.read.stack_files import StackFiles
from fleetc.adopt.report.compare import Difference
from fleetc.adopt.tables import asking_words
from fleetc.adopt.tables.asking_chain import asks_chain, fill_rpc, rpc_value
from fleetc.adopt.tables.assembled import FLEET_NAME, Assembled, Prometheus
from fleetc.adopt.tables.filling import Facts, Filling
from fleetc.adopt.tables.free_ports import free_ports
from fleetc.adopt.tables.links import at_private_addresses, on_loopback
from fleetc.adopt.tables.machines import add_hosts, add_idle_hosts, ask_address, ask_users
from fleetc.adopt.tables.naming import LONE_HOST, choices, name_all, place_all, put_on_hosts
from fleetc.adopt.tables.nodes import fill
from fleetc.adopt.tables.registering import fill_others, registers_elsewhere
from fleetc.adopt.tables.runner_host import Machines, complete_gpus
from fleetc.adopt.tables.session import Session, Table, price_text
from fleetc.adopt.tables.stacks import stack_table
from fleetc.adopt.tables.writing import toml
from fleetc.lower.common import DEFAULT_IMAGE
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.upstream import NEWEST_RELEASE, format_release


def assemble(
    processes: Sequence[Process], sources: Found, inventory: Mapping[str, Table], session: Session, said: Said
) -> Assembled | None:
    """Make one fleet, or refuse; `inventory` has the hosts that sources and people say."""
    processes = place_all(processes, inventory, session.ledger)
    sources.others = place_all(sources.others, inventory, session.ledger)
    note_mounted(session.library, processes)
    found = [
        one
        for process in processes
        if (one := running(process, session.library, session.ledger, said.role)) is not None
    ]
    if len(found) < len(processes):
        return None
    if not found and not sources.stacks and not any(map(registers_elsewhere, sources.others)):
        return _only_models(sources, session, said.fleet_name)
    network = _network(found, session)
    if network is None:
        return None
    put_on_hosts(found, said.folders.nodes, session, inventory, sources.claimed)
    names, lone = name_all(found, session, inventory, sources.claimed)
    for one in found:
        one.unplaced, one.process = one.process, said.folders.placed(one.process, one.host)
    fleet = Table({"name": said.fleet_name, "network": network}, path=("fleet",))
    fleet.guessed |= {"name"} if said.fleet_name == FLEET_NAME else set()
    fleet.guessed |= {"network"} if network == OFFCHAIN and not any(map(_on_a_network, found)) else set()
    add_hosts(found, session, inventory)
    machines = Machines(session, sources.others, found, names, inventory, lone)
    machines.learn_state_dirs()
    facts = _facts(found, network, machines)
    tables = _node_tables(found, fleet, facts, session)
    differences, compared = _stacks(sources, inventory, tables, fleet, session)
    add_idle_hosts(found, session, inventory)
    return Assembled(
        fleet, _in_order(found, tables, session), found, differences, compared, prometheus=_prometheus(machines)
    )


def _prometheus(machines: Machines) -> Prometheus | None:
    """The first Prometheus on a host of nodes."""
    for one in machines.others:
        program = one.program if one.image is None else one.image.text.partition("@")[0]
        host = machines.known_host(one)
        if host and program.rpartition("/")[2].partition(":")[0] == "prometheus":
            return Prometheus(host, one.runtime == "docker" and one.network != "host")
    return None


def _node_tables(found: list[Running], fleet: Table, facts: Facts, session: Session) -> dict[str, dict[str, Table]]:
    """The tables of the nodes, and what all of them say together of their fleet, wallets and models."""
    tables: dict[str, dict[str, Table]] = {}
    for one in found:
        if asks_chain(one) and one.text("ethUrl"):
            rpc_value(one, session)  # its variable is named for the fleet, before that of a node has the same address
    for one in found:
        called = f"; there it is called {leaks.shown(visible(one.called))}, as a host is here" if one.called else ""
        table = Table(origin=f"{_origin(one.process)}{called}", path=(one.table, one.name))
        fill(Filling(session, one, facts, table))
        table.guessed |= set() if one.process.host else {"host"}
        tables.setdefault(one.table, {})[one.name] = table
    fill_others(session, facts, tables.get("orchestrators", {}))
    free_ports(found, tables, session.runners.values(), session.ledger)
    _modes(tables)
    fill_rpc(found, fleet, session)
    if found:
        _releases(found, fleet, tables, session)
    else:
        fleet.values["node_release"] = format_release(NEWEST_RELEASE)
    _rewards(found, tables, session)
    _model_prices(tables, session)
    _ask_models(tables)
    return tables


def _in_order(
    found: list[Running], tables: dict[str, dict[str, Table]], session: Session
) -> dict[str, dict[str, Table]]:
    """All tables by kind, with what is only known once all are there: questions about folders, and GPUs."""
    for host, question in session.opened.questions(alone=len(session.hosts) == 1):
        session.hosts[host].ask(question)
    ask_users(found, tables, session)
    complete_gpus(session.hosts, (one for kind in (*tables.values(), session.runners) for one in kind.values()))
    ordered = {
        "hosts": session.hosts,
        "wallets": session.wallets,
        "models": session.models,
        **tables,
        "runners": session.runners,
        "ladders": session.ladders,
    }
    for kind in ordered.values():
        for table in kind.values():
            _without_hidden(table)
    return ordered


def _stacks(
    sources: Found, inventory: Mapping[str, Table], tables: dict[str, dict[str, Table]], fleet: Table, session: Session
) -> tuple[list[Difference], int]:
    """Tables of the avatar stacks, and of hosts that run nothing else; a release that all have is that of the fleet."""
    differences: list[Difference] = []
    compared = 0
    found: dict[str, Table] = {}
    for files in sources.stacks:
        host = _host_of_stack(files, sources, inventory, session)
        lone = len(sources.stacks) == 1 and host != "stage"
        called = files.counted or ("stage" if lone else f"{host}-avatars")
        name = session.name_for(
            called,
            "avatars",
            {*session.hosts, *session.runners, *found, *(name for t in tables.values() for name in t)},
        )
        public = session.hosts[host].values.get("public", "")
        found[name], changed, count = stack_table(files, session, name, host, public)
        differences += changed
        compared += count
    if found:
        tables["avatars"] = found
        first, *others = (table.values.get("avatar_release") for table in found.values())
        if first is not None and all(other == first for other in others):
            fleet.values["avatar_release"] = first
            for table in found.values():
                del table.values["avatar_release"]
    return differences, compared


def _host_of_stack(files: StackFiles, sources: Found, inventory: Mapping[str, Table], session: Session) -> str:
    """The host of a stack: as the user or the tree says, else the only one there is, else its folder."""
    said = files.host
    if not said and len(sources.stacks) > 1:
        said = posixpath.basename(posixpath.dirname(files.span.source))
    if not said:
        said = next(iter([*session.hosts, *inventory, LONE_HOST]))
    if said not in session.hosts:
        known = inventory.get(said)
        said = session.name_for(said, "host", set(session.hosts)) if known is None else said
        table = session.hosts[said] = Table(dict(known.values) if known else {}, origin=known.origin if known else "")
        table.values["runtime"] = "docker"
        public = files.public
        if public:
            table.values.setdefault("public", public)
        ask_address(table, public)
    return said


def _without_hidden(table: Table) -> None:
    """Leave out values with hidden characters, which no spec may have, and ask for them."""
    for key in [key for key, value in table.values.items() if _hidden(value)]:
        del table.values[key]
        table.ask(f"TODO {visible(key)}: the source has a hidden character there, which no spec may have")


def _hidden(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_hidden(key) or _hidden(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(map(_hidden, value))
    return isinstance(value, str) and visible(value) != value


def _only_models(sources: Found, session: Session, fleet_name: str) -> Assembled:
    """Lists of models that no node names: their tables, and the rest is left to write."""
    fleet = Table({"name": fleet_name, "network": OFFCHAIN, "node_release": format_release(NEWEST_RELEASE)})
    fleet.ask("TODO network: the sources are lists of models, and name no node and no network")
    for source in sources.models:
        try:
            entries = documents.models(source.text)
        except DocumentError as problem:
            session.ledger.refuse("adopt-document-unread", problem.span(source),
                                  f"the node does not read this list of models: {problem}", "repair it")  # fmt: skip
            continue
        for entry in entries:
            name = session.model(entry)
            session.models[name].origin = f"from {leaks.shown(source.name)}"
            price = price_text(entry.price) if entry.price is not None else None
            if price is not None:
                session.models[name].values["price"] = price
    for table in session.models.values():
        _without_hidden(table)
    host = Table({"runtime": "docker"})
    ask_address(host)
    return Assembled(fleet, {"hosts": {LONE_HOST: host}, "models": session.models})


def _origin(process: Process) -> str:
    return f"from {leaks.shown(process.span.source)}"


def _on_a_network(one: Running) -> bool:
    """Whether a node has a network of its own to be on; workers and gateways with a remote signer have none."""
    behind_signer = one.role == "gateway" and bool(one.text("remoteSignerUrl"))
    return one.role not in ("transcoder", "ai-worker") and not behind_signer


def _network(found: list[Running], session: Session) -> str | None:
    """The one network of the fleet."""
    first: dict[str, Running] = {}
    of_network: dict[str, list[Process]] = {}
    for one in found:
        if not _on_a_network(one):
            continue
        word = one.settings.get("network")
        if word is not None and word.word.holes:
            session.ledger.refuse(
                "adopt-value-unknown", word.word.span, "no source says which network this node is on",
                "write the name of the network in its place, such as arbitrum-one-mainnet, and adopt again",
            )  # fmt: skip
            return None
        first.setdefault(one.network, one)
        of_network.setdefault(one.network, []).append(one.process)
    if len(first) > 1:
        names = " and ".join(sorted(first)[:3])
        other = first[sorted(first)[-1]]
        session.ledger.refuse(
            "adopt-networks-differ", other.process.span, f"these nodes are on {names}, and a fleet is on one network",
            f"adopt the nodes of each network into a spec of their own: {choices(of_network, session)}",
        )  # fmt: skip
        return None
    behind = [one.network for one in found if one.on_chain and one.role == "gateway"]
    return next(iter(first), behind[0] if behind else OFFCHAIN)


def _facts(found: list[Running], network: str, machines: Machines) -> Facts:
    services: dict[str, str] = {}
    signers: dict[str, str] = {}
    redeemers = at_private_addresses(found)
    peers: dict[tuple[str, str], Running] = {}
    for one in found:
        for called in one.process.peers:
            peers[one.process.span.source, called] = one
        if one.role == "orchestrator" and one.text("serviceAddr") not in ("", "none"):
            services.setdefault(orchestrator_url(service_url(one.text("serviceAddr"))), one.name)
        elif one.role in ("remote-signer", "redeemer"):
            _, listener = http_listener(one.role, one.text("httpAddr"), "")
            if listener is not None:
                where = written(("127.0.0.1" if listener[0] == "*" else listener[0], listener[1]))
                if one.role == "redeemer":
                    redeemers[f"{one.host} {where}"] = one.name
                else:
                    signers[f"{one.host} http://{where}"] = one.name
    processes = {one.name: one for one in found}
    facts = Facts(network, services, on_loopback(found), signers, redeemers, peers, processes, {}, machines)
    workers: dict[str, set[str]] = {}
    for one in found:
        if one.role in ("transcoder", "ai-worker") and one.text("orchAddr"):
            url = orchestrator_url(one.text("orchAddr").split(",")[0])
            workers.setdefault(facts.orchestrator_at(one, url), set()).add(one.role)
    return replace(facts, workers={name: frozenset(roles) for name, roles in workers.items()})


# ------------------------------------------------------------------------------------------------ whole fleet


def _modes(tables: dict[str, dict[str, Table]]) -> None:
    """A gateway that only uses orchestrators of this fleet serves what one of them does."""
    sold = {name: str(table.values["mode"]) for name, table in tables.get("orchestrators", {}).items()}
    for table in tables.get("gateways", {}).values():
        table.guessed.add("mode")
        named = table.values.get("orchestrators", [])
        if not named or any(name not in sold for name in named):
            continue
        works = {work for name in named for work in _WORKS[sold[name]]}
        wanted = _WORKS[str(table.values["mode"])]
        if not wanted <= works:
            table.values["mode"] = "dual" if len(works) > 1 else next(iter(works))
            if "video" in wanted - works and any(key in table.values for key in _OF_VIDEO):
                table.notes["mode"] = "it takes video too, which none of its orchestrators does"


_OF_VIDEO = ("rtmp", "renditions", "ladder", "max_sessions")
"""Keys of a gateway that show that somebody meant it for video."""
_WORKS = {"video": {"video"}, "ai": {"ai"}, "dual": {"video", "ai"}}


def _releases(found: list[Running], fleet: Table, tables: dict[str, dict[str, Table]], session: Session) -> None:
    """The release of the fleet, and of nodes that run another one."""
    releases = {one.name: release_said(one) for one in found}
    common = Counter(filter(None, releases.values())).most_common(1)
    if common:
        fleet.values["node_release"] = common[0][0]
    else:
        release, where = likely_release(found, session.library.sources)
        fleet.values["node_release"] = release
        note_release(release, session.library.sources, session.ledger)
        fleet.ask(f"TODO node_release: {asking_words.RELEASE}{asking_words.SHOWS_RELEASE} ({release} is {where})")
    for one in found:
        table = tables[one.table][one.name]
        own = releases[one.name]
        in_path = release_of_path(one) if not own else ""
        if (own or in_path) not in ("", fleet.values["node_release"]):
            table.values["node_release"] = own or in_path
            table.notes |= {"node_release": "in the path of its program"} if in_path else {}
        image = one.process.image
        if image is None:
            if common and not own and not in_path:
                table.ask(
                    f'TODO node_release = "{common[0][0]}": {asking_words.RELEASE_HERE}{asking_words.SHOWS_RELEASE}; '
                    "no source does, and without an answer it is that of the fleet"
                )
            continue
        plain = f"{DEFAULT_IMAGE}:{own}" if own else ""
        if image.holes or "<" in image.text:
            table.ask(f"TODO image: the source says {leaks.shown(image.text)}")
            one.reasons["image"] = "its tag is not in the source"
        elif image.text != plain:
            table.values["image"] = image.text.removeprefix("docker.io/")


def _rewards(found: list[Running], tables: dict[str, dict[str, Table]], session: Session) -> None:
    """Which process of each wallet calls reward."""
    holders_of: dict[object, list[Running]] = {}
    for one in found:
        holders_of.setdefault(tables[one.table][one.name].values.get("wallet"), []).append(one)
    for name, wallet in session.wallets.items():
        holders = holders_of.get(name, [])
        on = [one for one in holders if one.on("reward") and "reward" in one.settings]
        callers = [one for one in holders if one.table == "reward_callers"]
        off = [one for one in holders if "reward" in one.settings and one not in on]
        if on:
            wallet.values["reward_by"] = on[0].name
        elif callers and len(holders) == 1:
            continue
        elif off and len(off) == len(holders):
            wallet.values["reward_by"] = "none"
        elif len(holders) > 1:
            _ask_rewards([one for one in holders if one not in off], wallet, session)
        elif off:
            wallet.values["reward_by"] = "none"
        for one in holders:
            if "reward_by" in wallet.values:
                one.reasons.setdefault(
                    "reward", "one process of a wallet calls reward, and the others say that they do not"
                )


def _ask_rewards(silent: Sequence[Running], wallet: Table, session: Session) -> None:
    """Who calls reward, of those nodes of a wallet that do not say: today each of them does, if it is registered."""
    named = [one.name for one in silent]
    chosen = next((one.name for one in silent if one.role == "orchestrator"), "none")
    wallet.values["reward_by"] = chosen
    wallet.guessed.add("reward_by")
    if len(silent) > 1:
        words = f"{', '.join(named[:-1])} and {named[-1]} have this wallet and do not say who calls reward"
        told = session.ledger.warn(
            "adopt-reward-unsaid", silent[1].process.span, f"{words}: each does, if it is registered",
            f'the spec says reward_by = "{chosen}"; change it if another one should', elsewhere=True,
        )  # fmt: skip
        wallet.ask(f"TODO reward_by: {words}; today each does, if it is registered", told)


def _model_prices(tables: dict[str, dict[str, Table]], session: Session) -> None:
    """A price that all nodes ask for a model is a price of the model."""
    uses: dict[str, list[dict[str, object]]] = {}
    for table in tables.get("orchestrators", {}).values():
        for use in table.values.get("models", []):
            uses.setdefault(use["use"], []).append(use)
    for name, found in uses.items():
        prices = {use.get("price") for use in found}
        if len(prices) == 1 and None not in prices:
            session.models[name].values["price"] = found[0]["price"]
            for use in found:
                del use["price"]
    if any(table.values["mode"] != "video" for table in tables.get("orchestrators", {}).values()):
        _ask_unread_prices(uses, session)


def _ask_models(tables: dict[str, dict[str, Table]]) -> None:
    """Offer the models of its AI workers to an orchestrator whose own list no source has."""
    for name, table in tables.get("orchestrators", {}).items():
        if table.values["mode"] == "video" or "models" in table.values:
            continue
        workers = (one.values for one in tables.get("ai_workers", {}).values())
        uses = [use for one in workers if one.get("orchestrator") == name for use in one.get("models", [])]
        offers = {use["use"]: {key: use[key] for key in ("use", "warm") if key in use} for use in uses}
        if offers and not any(question.startswith("TODO models") for question in table.questions):
            listed = ", ".join(map(toml, offers.values()))
            table.ask(f"TODO models = [{listed}]: what it sells; these are the models of its AI workers")


def _ask_unread_prices(uses: Mapping[str, list[dict[str, object]]], session: Session) -> None:
    """Offer prices that AI workers have in vain for models that nothing else has a price for."""
    for name, prices in session.unread_prices.items():
        table, sold = session.models[name], uses.get(name, [])
        if "price" in table.values or (sold and all("price" in use for use in sold)):
            continue
        offers: dict[str, str] = {}
        for price, worker, place in prices:
            offers.setdefault(price, worker)
            session.ledger.elsewhere.add(("adopt-setting-unread", place))
        for price, worker in offers.items():
            table.ask(
                f'TODO price = "{price}": the list of {worker}{asking_words.UNREAD}; without a price it is sold at the '
                "base price of its orchestrator"
            )
