"""The other side of the benchmark: a plain script that renders the same files with Jinja2, one render for each file.

In: SPEC (TOML) and OUT (a directory), as arguments of a process of its own. Out: the same bytes as `fleetc compile`,
but no manifest and no ROLLOUT.md. It is what most people write: it trusts its input, checks nothing, quotes nothing
beyond quotation marks, and knows just the part of the language that `fleetgen.py` uses. It imports nothing of the
compiler, and costs no more than it must: each template is loaded once, and values that several files need are worked
out once.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tomllib
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, Template

HERE = Path(__file__).parent
PLAYBOOKS = HERE.parent.parent / "playbooks"
CURRENT = "/opt/fleetc/current"
DRAWN = 120
"""Up to so many nodes fleetc draws each of them; this loop cannot, and takes larger fleets only."""
COST = 1_200_000 * 50_000_000
ROLES = {"gateways": "gateway", "orchestrators": "orchestrator", "transcoders": "transcoder"}
CLI_PORTS = {"gateways": 5935, "orchestrators": 7935, "transcoders": 6935}
RUNNER_PORTS = {"text-to-image": 8000, "image-to-image": 8100, "audio-to-text": 8400, "upscale": 8300}

Table = dict[str, Any]


def main() -> None:
    """Render a whole fleet."""
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    spec = tomllib.loads(text)
    out = Path(sys.argv[2])
    environment = Environment(
        loader=FileSystemLoader(HERE / "peer_templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # no HTML
    )
    release = spec["fleet"]["node_release"]
    environment.globals |= {
        "release": release,
        "image": f"livepeer/go-livepeer:{release}",
        "ssh_port": 22,
        "fleet": spec["fleet"]["name"],
        "registry": "outside_" + hashlib.sha256(b"registry").hexdigest()[:12],
    }
    templates = {name: environment.get_template(name) for name in environment.list_templates()}
    shutil.copytree(PLAYBOOKS, out / "ansible", ignore=shutil.ignore_patterns("README.md", ".*", "__pycache__"))
    (out / "ansible/host_vars").mkdir()
    nodes = {name: node_of(spec, table, name) for table in ROLES for name in spec.get(table, {})}
    hosts = [host_of(name, host) for name, host in sorted(spec["hosts"].items())]
    by_host: dict[str, list[Table]] = {host["name"]: [] for host in hosts}
    for name in sorted(nodes):
        by_host[nodes[name]["host"]].append(nodes[name])
    for host in hosts:
        host["nodes"] = by_host[host["name"]]
        host["ports"] = sorted(port for node in host["nodes"] for port in node["ports"])
        host["needs"] = needs_of(spec, host)
        write_host(host, templates, out)
    fleet: Table = {"spec": spec, "hosts": hosts, "groups": groups_of(hosts)}
    write(out / "ansible/inventory.json", templates["inventory.json.j2"], fleet)
    batches = batches_of(spec, next(names for group, names in fleet["groups"] if group == "fleet_hosts"))
    lines = ",\n".join(f"    [{', '.join(map(quoted, batch))}]" for batch in batches)
    (out / "ansible/rollout.json").write_text(f'{{\n  "fleet_batches": [\n{lines}\n  ]\n}}\n', encoding="utf-8")
    edges = edges_of(spec, nodes)
    if len(nodes) <= DRAWN:
        sys.exit(f"the plain loop takes more than {DRAWN} nodes")
    give_uses(nodes, edges)
    tasks = give_tasks(tasks_of(spec, hosts), hosts)
    values = {**fleet, **regions_of(hosts, nodes, edges), "wallets": wallets_of(spec, hosts), "tasks": tasks}
    write(out / "FLEET.md", templates["FLEET.md.j2"], values)
    for host in hosts:
        write(out / "hosts" / host["name"] / "README.md", templates["host.md.j2"], {"host": host, "powers": POWERS})
    (out / "spec").mkdir()
    (out / "spec/base.toml").write_text(text, encoding="utf-8")


def write(path: Path, template: Template, values: Table) -> bytes:
    """Render one file; returns its content."""
    content = template.render(values).encode()
    path.write_bytes(content)
    return content


def host_of(name: str, host: Table) -> Table:
    """What the templates show of a host."""
    return {"name": name, "user": "livepeer" if host["runtime"] == "systemd" else "root", **host}


def write_host(host: Table, templates: dict[str, Template], out: Path) -> None:
    """The files of each node of a host, then the variables of the host with the digests of its nodes."""
    for node in host["nodes"]:
        values = {"host": host, "node": node}
        directory = out / "hosts" / host["name"] / node["name"]
        directory.mkdir(parents=True)
        names = ["launch.flags", "node.env"]
        if node.get("models"):
            names.append("aiModels.json")
        if node.get("prices"):
            names.append("prices.json")
        files = {name: write(directory / name, templates[f"{name}.j2"], values) for name in names}
        if host["runtime"] == "docker":
            files["compose.yaml"] = write(directory / "compose.yaml", templates["compose.yaml.j2"], values)
        else:
            name = f"livepeer-{node['name']}.service"
            files[name] = write(directory / name, templates["node.service.j2"], values)
        lines = [f"{name} 0644 {hashlib.sha256(content).hexdigest()}\n" for name, content in sorted(files.items())]
        node["digest"] = hashlib.sha256("".join(lines).encode()).hexdigest()
        node["rest"] = rest_of(node, files)
    write(out / f"ansible/host_vars/{host['name']}.json", templates["host_vars.json.j2"], {"host": host})


def price_of(text: str) -> Table:
    """ "0.02 USD / 1000000 pixels" in parts."""
    amount, currency, _, *pixels = text.split()
    return {"text": text, "amount": amount, "currency": currency, "pixels": pixels[0] if len(pixels) > 1 else "1"}


def node_of(spec: Table, table: str, name: str) -> Table:
    """Everything that the templates show of a node."""
    settings = spec[table][name]
    host = spec["hosts"][settings["host"]]
    node = {
        **settings,
        "table": table,
        "name": name,
        "role": ROLES[table],
        "mode": settings.get("mode", ""),
        "data_dir": f"/var/lib/livepeer/{name}",
        "cli": settings.get("cli", f"127.0.0.1:{CLI_PORTS[table]}"),
        "gpus": settings.get("gpus", []),
        "secrets": [],
        "models": models_of(spec, settings),
        "prices": prices_of(spec, table, settings),
    }
    mounts = {node["data_dir"]: False}
    variables = dict(settings.get("environment", {}))
    flags = {"cliAddr": node["cli"], "dataDir": node["data_dir"], node["role"]: "true"}
    flags["network"] = "offchain" if table == "transcoders" else spec["fleet"]["network"]
    if "wallet" in settings:
        wallet = spec["wallets"][settings["wallet"]]
        variables["LP_ETHPASSWORD"] = wallet["password"]["host_file"]
        mounts |= {wallet["keystore"]: True, wallet["password"]["host_file"]: True}
        node["account"] = wallet["address"]
        node["secrets"].append(secret_of("LP_ETHURL", "env", spec["fleet"]["rpc"]["env"]))
        flags["ethAcctAddr"], flags["ethKeystorePath"] = wallet["address"], wallet["keystore"]
        flags["reward"] = "true" if wallet["reward_by"] == name else "false"
        if wallet["reward_by"] == name:
            node["exclusive"] = f"calls reward for {wallet['address']}"
    if node["gpus"]:
        variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        flags["nvidia"] = ",".join(map(str, node["gpus"]))
    for key, flag in (("max_sessions", "maxSessions"), ("verbosity", "v")):
        if key in settings:
            flags[flag] = str(settings[key])
    if table == "gateways":
        gateway_flags(spec, node, flags)
    elif table == "orchestrators":
        orchestrator_flags(spec, host, node, flags)
    else:
        flags["orchAddr"] = address_of(spec, settings["orchestrator"])
        shared = spec["orchestrators"][settings["orchestrator"]]["secret"]["vault"]
        node["secrets"].append(secret_of("LP_ORCHSECRET", "vault", shared))
    for secret in node["secrets"]:
        secret["file"] = host["runtime"] == "systemd" and secret["variable"] == "LP_ORCHSECRET"
    node["in_files"] = [secret["variable"] for secret in node["secrets"] if secret["file"]]
    if node["models"]:
        mounts |= {f"{CURRENT}/{name}/aiModels.json": True, "/var/run/docker.sock": False}
    if node["prices"]:
        mounts[f"{CURRENT}/{name}/prices.json"] = True
    node["mounts"], node["variables"] = sorted(mounts.items()), sorted(variables.items())
    node["flags"] = sorted(f"-{flag}={value}" for flag, value in flags.items())
    node["ports"] = ports_of(node)
    words = "".join(f"{flag}\0" for flag in node["flags"])
    node["arguments"] = hashlib.sha256(words.encode()).hexdigest()
    node["health"] = health_of(spec, node)
    node["live"], node["silent"] = live_of(node, flags)
    return node


FLAGS_OF_PRICES = {
    "gateways": ("maxPricePerUnit", "pixelsPerUnit", "maxPricePerCapability"),
    "orchestrators": ("pricePerUnit", "pixelsPerUnit", "pricePerGateway"),
}


def live_of(node: Table, flags: dict[str, str]) -> tuple[str, str]:
    """The settings that a node takes while it runs, as elements of two lists: what it says back, and the others."""
    live = {"v": flags.get("v", "3")}
    silent: dict[str, str] = {}
    if node["table"] != "transcoders":
        live["minGasPrice"], live["maxGasPrice"] = "0", ""
    if node["table"] == "orchestrators":
        silent["maxFaceValue"] = "0"
    if flags.get("maxSessions") != "auto" and node["table"] != "transcoders":
        silent["maxSessions"] = flags.get("maxSessions", "10")
    key = "max_price" if node["table"] == "gateways" else "price"
    if key in node:
        base = None if node[key] == "any" else price_of(node[key])
        listed = live if base is None or base["currency"] == "wei" else silent
        listed[FLAGS_OF_PRICES[node["table"]][0]] = "" if base is None else worth(base)
    for price in node["prices"]:
        if node["table"] == "gateways":
            silent[f"maxPricePerCapability {price['pipeline']} {price['id']}"] = worth(price)
        else:
            listed = live if price["currency"] == "wei" else silent
            listed[f"pricePerGateway {price['account'].lower()}"] = worth(price)
    return elements(live), elements(silent)


def elements(settings: dict[str, str]) -> str:
    """Settings as JSON strings; those with text of the spec in their names are never evaluated."""
    texts = [f"{name}={value}" for name, value in sorted(settings.items())]
    return ", ".join(unsafe(text) if " " in text.partition("=")[0] else quoted(text) for text in texts)


def worth(price: Table) -> str:
    """A price as a node says it, or as people write it where that depends on a rate."""
    return fraction_of(price) if price["currency"] == "wei" else price["text"]


def rest_of(node: Table, files: dict[str, bytes]) -> str:
    """The digest of a node's files without what it takes while it runs."""
    left_out = {"v", *FLAGS_OF_PRICES.get(node["table"], ())}
    if node["table"] != "transcoders":
        left_out |= {"minGasPrice", "maxGasPrice"}
        if "-maxSessions=auto" not in node["flags"]:
            left_out.add("maxSessions")
    if node["table"] == "orchestrators":
        left_out.add("maxFaceValue")
    lines = []
    for name, content in files.items():
        if name in ("launch.flags", "prices.json"):
            continue
        if name.endswith((".service", ".yaml")):
            text = content.decode().replace(" \\\n", "\n")
            kept = [line for line in text.split("\n") if line.lstrip(' -"').partition("=")[0] not in left_out]
            content = "\n".join(kept).encode()
        lines.append(f"{name} 0644 {hashlib.sha256(content).hexdigest()}\n")
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def quoted(text: str) -> str:
    """A name in quotation marks."""
    return f'"{text}"'


def health_of(spec: Table, node: Table) -> str:
    """What a rollout asks of a node, as JSON."""
    ports = sorted(port for port, _, _, purpose in node["ports"] if not purpose.endswith(" runner"))
    release = spec["fleet"]["node_release"].removeprefix("v")
    parts = [f'"ports": [{", ".join(map(str, ports))}]']
    listener = node.get("http", "0.0.0.0:8935").replace("0.0.0.0", "127.0.0.1")
    if node["table"] != "transcoders":
        scheme = "https" if node["table"] == "orchestrators" else "http"
        parts.append(f'"healthz": {unsafe(scheme + "://" + listener)}')
    status = unsafe("http://" + node["cli"])
    parts += [f'"status": {status}', f'"version": {unsafe(release)}']
    parts += ['"drains": true'] if node["table"] == "orchestrators" else []
    return f"{{{', '.join(parts)}}}"


def unsafe(text: str) -> str:
    """Text that Ansible never evaluates."""
    return f'{{"__ansible_unsafe": "{text}"}}'


def fraction_of(price: Table) -> str:
    """Wei per pixel in lowest terms."""
    return str(Fraction(price["amount"]) / int(price["pixels"]))


def batches_of(spec: Table, order: list[str]) -> list[list[str]]:
    """The hosts in batches, none of which has all gateways or all orchestrators that a gateway uses."""
    gateways, sellers = spec["gateways"].values(), spec["orchestrators"]
    groups = {frozenset(gateway["host"] for gateway in gateways)}
    for gateway in gateways:
        names = gateway.get("orchestrators", list(sellers))
        for mode in ("video", "ai"):
            if gateway["mode"] in (mode, "dual"):
                groups.add(frozenset(sellers[n]["host"] for n in names if sellers[n]["mode"] in (mode, "dual")))
    of_host: dict[str, list[frozenset[str]]] = {}
    for group in groups:
        for name in group if len(group) > 1 else ():
            of_host.setdefault(name, []).append(group)
    size = len(order) * int(spec["rollout"]["batch"].rstrip("%")) // 100 or 1
    batches: list[list[str]] = []
    while order:
        batch: dict[str, None] = {}
        limit = size if batches else spec["rollout"]["canary"] or size
        for name in order:
            if not any(all(o in batch or o == name for o in group) for group in of_host.get(name, [])):
                batch[name] = None
            if len(batch) == limit:
                break
        batches.append(list(batch))
        order = [name for name in order if name not in batch]
    return batches


def secret_of(variable: str, kind: str, reference: str) -> Table:
    """A variable that a rollout fills in."""
    return {"variable": variable, "kind": kind, "reference": reference}


def address_of(spec: Table, name: str) -> str:
    """Where an orchestrator is reached."""
    return f"https://{spec['hosts'][spec['orchestrators'][name]['host']]['public']}:8935"


def gateway_flags(spec: Table, node: Table, flags: dict[str, str]) -> None:
    """Flags of a gateway."""
    flags["httpAddr"], flags["rtmpAddr"], flags["httpIngest"] = node["http"], node["rtmp"], "true"
    flags["blockPollingInterval"] = node["block_polling_interval"].removesuffix("s")
    if "renditions" in node:
        flags["transcodingOptions"] = ",".join(node["renditions"])
    if node["max_price"] == "any":
        flags["maxPricePerUnit"] = "0"
        node["base_price"] = ("pays", "any price")
    else:
        price = price_of(node["max_price"])
        flags["maxPricePerUnit"], flags["pixelsPerUnit"] = price["amount"], price["pixels"]
        node["base_price"] = ("pays", node["max_price"])
    if node["prices"]:
        flags["maxPricePerCapability"] = f"{CURRENT}/{node['name']}/prices.json"
    if "orchestrators" in node:
        flags["orchAddr"] = ",".join(address_of(spec, name) for name in node["orchestrators"])
    else:
        flags["aiServiceRegistry"] = "true"


def orchestrator_flags(spec: Table, host: Table, node: Table, flags: dict[str, str]) -> None:
    """Flags of an orchestrator."""
    flags["httpAddr"], flags["serviceAddr"] = "0.0.0.0:8935", f"{host['public']}:8935"
    if "price" in node:
        price = price_of(node["price"])
        flags["pricePerUnit"], flags["pixelsPerUnit"] = price["amount"], price["pixels"]
        node["base_price"] = ("asks", node["price"])
    if node["prices"]:
        flags["pricePerGateway"] = f"{CURRENT}/{node['name']}/prices.json"
    if node["mode"] == "ai":
        flags["aiWorker"] = flags["aiServiceRegistry"] = "true"
        flags["aiModels"] = f"{CURRENT}/{node['name']}/aiModels.json"
        flags["aiModelsDir"] = f"{node['data_dir']}/models"
    elif node["max_sessions"] != "auto":
        flags["transcoder"] = "true"
    if "secret" in node:
        node["secrets"].append(secret_of("LP_ORCHSECRET", "vault", node["secret"]["vault"]))


def models_of(spec: Table, settings: Table) -> list[Table]:
    """The models that an orchestrator offers."""
    return [{**spec["models"][use["use"]], **price_of(spec["models"][use["use"]]["price"]), **use}
            for use in settings.get("models", [])]  # fmt: skip


def prices_of(spec: Table, table: str, settings: Table) -> list[Table]:
    """The caps of a gateway by model, or the prices of an orchestrator by gateway."""
    if table == "gateways":
        caps = settings.get("max_model_prices", {})
        return [{**spec["models"][name], **price_of(caps[name])} for name in sorted(caps)]
    prices = settings.get("gateway_prices", {})
    accounts = [(spec["wallets"][spec["gateways"][name]["wallet"]]["address"], prices[name]) for name in sorted(prices)]
    return [{"account": account, **price_of(text)} for account, text in accounts]


def ports_of(node: Table) -> list[tuple[int, str, str, str]]:
    """Listeners of a node: port, address, node and purpose."""
    listeners = [(node["cli"], "administration")]
    if node["table"] == "gateways":
        listeners += [(node["http"], "HTTP"), (node["rtmp"], "RTMP")]
    elif node["table"] == "orchestrators":
        listeners.append(("0.0.0.0:8935", "service"))
    for model in node["models"]:
        first = RUNNER_PORTS[model["pipeline"]]
        listeners += [(f"127.0.0.1:{first + gpu}", f"{model['pipeline']} runner") for gpu in node["gpus"]]
    found = []
    for listener, purpose in listeners:
        address, _, port = listener.rpartition(":")
        found.append((int(port), address, node["name"], purpose))
    return found


def needs_of(spec: Table, host: Table) -> list[Table]:
    """What must be on a host: each need once, with its nodes and, for what people provide, its words."""
    found: dict[tuple[str, ...], Table] = {}

    def need(name: str, subject: str, words: str, nodes: list[str], **facts: str) -> None:
        key = (name, subject, *facts.values())
        row = found.setdefault(key, {"need": name, "subject": subject, "words": words, "nodes": [], "facts": facts})
        row["nodes"] += [node for node in nodes if node not in row["nodes"]]

    docker = host["runtime"] == "docker"
    if not docker:
        oldest = "247" if any(node["in_files"] for node in host["nodes"]) else "240"
        need("systemd", "", f"systemd {oldest} or newer", [], version=oldest)
    engines = [node["name"] for node in host["nodes"] if docker or node["models"]]
    if engines:
        need("docker", "", "Docker Engine, running", engines)
    if docker:
        need("compose", "", "Compose plugin of Docker, 2.24.0 or newer", [], version="2.24.0")
    for node in host["nodes"]:
        if node["gpus"]:
            ids = [str(gpu) for gpu in node["gpus"]]
            words = f"driver that shows GPU {', '.join(ids)} to nvidia-smi"
            models = " ".join(
                re.findall("[0-9]+", spec["hosts"][node["host"]]["gpus"][int(gpu)]["model"])[0] for gpu in ids
            )
            need("gpus", "", words, [node["name"]], gpus=" ".join(ids), uuids=" ".join("-" for _ in ids), models=models)
            if docker or node["models"]:
                need("toolkit", "", "NVIDIA Container Toolkit", [node["name"]])
    for node in host["nodes"]:
        needs_of_node(spec, node, docker, partial(need, nodes=[node["name"]]))
    needs_of_chain(spec, sorted((node for node in host["nodes"] if "wallet" in node), key=itemgetter("name")), need)
    for port, address, name, purpose in host["ports"]:
        if not purpose.endswith(" runner"):
            need("port", f"{purpose} of {name}", "", [name], address=address, port=str(port), protocol="tcp")
    return list(found.values())


def tasks_of(spec: Table, hosts: list[Table]) -> list[tuple[str, list[Table]]]:
    """What people provide before the first rollout, by who does it."""
    people = "Who runs the hosts", "Who keeps the keys", "Who manages names", "Who funds accounts", "Whoever rolls out"
    found: dict[str, dict[tuple[str, ...], Table]] = {who: {} for who in people}

    def task(who: str, host: str, words: str, subject: str, command: str, nodes: list[str]) -> None:
        row = found[who].setdefault(
            (host, words, subject),
            {"host": host, "words": words, "subject": subject, "command": command, "nodes": {}},
        )
        row["nodes"] |= dict.fromkeys(nodes)

    secret = spec["fleet"]["rpc"]["env"]
    for host in hosts:
        name, ports = host["name"], {node: port for port, _, node, what in host["ports"] if what == "administration"}
        words = "a login over ssh, and Python 3.9 or newer there"
        task(people[4], name, words, "", f"`ssh -p 22 -l root {host['address']} python3 --version`", [])
        lead = "a record that leads to the host"  # all its addresses are private
        task(people[2], name, lead, host["public"], f"`getent ahosts {host['public']}`", [])
        if host["runtime"] == "systemd" and any(need["need"] == "keystore" for need in host["needs"]):
            line = "`getent passwd livepeer || sudo useradd --system --no-create-home livepeer`"
            task(people[0], name, "the user that nodes run as", "livepeer", line, [])
        for need in host["needs"]:
            inside = (
                f"docker exec -it livepeer-{need['nodes'][0]} " if need["nodes"] and host["runtime"] == "docker" else ""
            )
            line = f"`{inside}livepeer_cli -http {ports[need['nodes'][0]]}`" if need["nodes"] else ""
            if need["need"] == "registration":
                where = "in the AI registry" if need["facts"]["registry"] else "as its service address"
                what = "one of the addresses of its orchestrators"  # more than three, which would be named
                words = f"enough stake for the active set, and {what} registered {where}"
                task(people[3], "", words, need["subject"], line, need["nodes"])
            elif need["need"] == "wallet":
                line = line if need["facts"]["pays"] else ""
                task(people[3], "", need["words"], need["subject"], line, need["nodes"])
            elif need["words"]:
                who = people[1] if need["need"] in ("keystore", "password-file") else people[0]
                owner = "" if host["runtime"] == "docker" else " -o livepeer"
                key = need["facts"].get("account", "").removeprefix("0x").lower()
                command = TYPED.get(need["need"], "").format(need["subject"], owner=owner, key=key)
                task(who, name, need["words"], need["subject"], command and f"`{command}`", need["nodes"])
        for port, address, node, _ in host["ports"]:
            if address == "0.0.0.0":
                command = f"`nc -vz {host['public']} {port}`"
                task(people[0], name, "ports to open to everyone", f"{port}/tcp", command, [node])
        command = f"`read -rs {secret} && export {secret}`"
        for node in host["nodes"]:
            for one in node["secrets"]:
                if one["kind"] == "env":
                    task(people[4], "", "a variable with a secret", secret, command, [node["name"]])
                else:
                    words = "a key of fleet_vault in your Ansible Vault file"
                    task(people[4], "", words, one["reference"], "", [node["name"]])
    return [(who, sorted(rows.values(), key=itemgetter("host"))) for who, rows in found.items()]


TYPED = {
    "systemd": "systemctl --version",
    "docker": "docker info",
    "compose": "docker compose version",
    "gpus": "nvidia-smi --list-gpus",
    "toolkit": "nvidia-ctk --version",
    "program": "{} -version",
    "keystore": "sudo install -d{owner} -m 700 {0} && sudo install{owner} -m 600 UTC--*--{key} {0}",
    "password-file": 'read -rs SECRET && printf %s "$SECRET" | sudo install -D{owner} -m 600 /dev/stdin {0}',
    "rpc": "read -rs RPC && curl -sSm 9 -H content-type:application/json -d "
    """'{{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}}' "$RPC\"""",
}

CONTROLLER = "0xD8E8328501E9645d16Cf49539efC04f734606ee4"
AI_REGISTRY = "0x04C0b249740175999E5BF5c9ac1dA92431EF34C5"
PRICE_FEED = "0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612"


def needs_of_chain(spec: Table, nodes: list[Table], need: Any) -> None:
    """What the chain has to say for the nodes of a host that talk to it."""
    facts = {"chain_id": "42161", "kind": "env", "rpc": spec["fleet"]["rpc"]["env"], "variable": "LP_ETHURL"}
    others = {node["name"]: {price["currency"] for price in node["models"]} - {"wei"} for node in nodes}
    converted = [name for name, currencies in others.items() if currencies]
    feed = {**facts, "currencies": " ".join(sorted(set().union(*others.values())))}
    facts["controller"] = CONTROLLER
    if nodes:
        need("rpc", "", "access to the RPC service of the chain", [node["name"] for node in nodes], **facts)
    for name in sorted({node["wallet"] for node in nodes}):
        wallet, users = spec["wallets"][name], [node for node in nodes if node["wallet"] == name]
        pays = any(node["table"] == "gateways" for node in users)
        own = {"minimum": wei_of(wallet["minimum_balance"])}
        own["sends"] = "yes" if any(node["table"] == "orchestrators" for node in users) else ""
        own["pays"] = "yes" if pays else ""
        words = f"account with at least {wallet['minimum_balance']}"
        for what, share in (("deposit", 25), ("reserve", 50)):
            amount = wei_of(wallet[what]) if what in wallet else ""
            own |= {what: amount, f"{what}_low": str(int(amount) * share // 100) if amount else ""}
            words += f", a {what} of {wallet[what]}" if pays and amount else ""
        need("wallet", wallet["address"], words, [node["name"] for node in users], **facts, **own)
    if converted:
        need("price-feed", PRICE_FEED, "", converted, **feed)
    for node in nodes:
        if node["table"] == "orchestrators":
            registry = AI_REGISTRY if node["mode"] == "ai" else ""
            account = spec["wallets"][node["wallet"]]["address"]
            need("registration", account, "", [node["name"]], **facts, registry=registry)


def wei_of(text: str) -> str:
    """An amount such as "0.05 ETH" in wei."""
    return str(int(Decimal(text.removesuffix(" ETH")) * 10**18))


def needs_of_node(spec: Table, node: Table, docker: bool, need: Any) -> None:
    """What one node needs."""
    release = spec["fleet"]["node_release"]
    if not docker:
        words = f"the node's program of release {release}"
        need("program", "/usr/local/bin/livepeer", words, version=release.removeprefix("v"))
    if "wallet" in node:
        wallet = spec["wallets"][node["wallet"]]
        place, words = wallet["password"]["host_file"], f"directory with the key file of {wallet['address']}"
        facts = {"account": wallet["address"], "password": place, "password_kind": "host_file"}
        need("keystore", wallet["keystore"], words, **facts)
        need("password-file", place, "file with the password of the account")
        schemes = "http https ws wss"
        facts = {"check": "", "kind": "env", "schemes": schemes, "variable": "LP_ETHURL"}
        need("secret", spec["fleet"]["rpc"]["env"], "", **facts)
    if node["models"]:
        need("models-directory", f"{node['data_dir']}/models", "")
    need("data-directory", node["data_dir"], "", chain_id="0" if node["table"] == "transcoders" else "42161")
    if node["table"] == "orchestrators":
        place = f"{spec['hosts'][node['host']]['public']}:8935"
        need("service-address", place, "", port="8935")


POWERS = {"administration": "move funds", "service": "have work done", "HTTP": "spend", "RTMP": "spend"}
"""What a stranger can do at a port of a node on the chain."""
_STAGES = {"orchestrators": 1, "transcoders": 2, "ai_workers": 2, "gateways": 3}


def groups_of(hosts: list[Table]) -> list[tuple[str, list[str]]]:
    """The groups of the inventory with their hosts: orchestrators, workers and gateways in turn."""
    groups: dict[str, list[str]] = {}
    for host in sorted(hosts, key=lambda host: (max(_STAGES[node["table"]] for node in host["nodes"]), host["name"])):
        region = host["region"].replace("-", "_")
        for group in ("fleet_hosts", f"runtime_{host['runtime']}", f"region_{region}"):
            groups.setdefault(group, []).append(host["name"])
    return sorted(groups.items())


def edges_of(spec: Table, nodes: dict[str, Table]) -> list[Table]:
    """The arrows of the picture."""
    edges = []
    for name, node in nodes.items():
        if node["table"] == "gateways":
            edges += [(name, target, "pays", True) for target in node.get("orchestrators", [])]
            edges += [(name, node["discovery"], "finds", False)] if "discovery" in node else []
        elif node["table"] == "transcoders":
            edges.append((node["orchestrator"], name, "serves", True))
    return [{"source": s, "target": t, "kind": kind, "inside": inside} for s, t, kind, inside in sorted(edges)]


def give_uses(nodes: dict[str, Table], edges: list[Table]) -> None:
    """Put into each node how it uses others and is used, with links to the pages of their hosts."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in nodes}
    for edge in edges:
        out, back = WAYS[edge["kind"]]
        found[edge["source"]].setdefault(out, []).append(edge["target"])
        if edge["inside"]:
            found[edge["target"]].setdefault(back, []).append(edge["source"])
    for name, uses in found.items():
        nodes[name]["uses"] = {way: named([linked(nodes, other) for other in others]) for way, others in uses.items()}


WAYS = {
    "pays": ("Pays", "Is paid by"),
    "finds": ("Asks", "Is asked by"),
    "serves": ("Hands work to", "Gets work from"),
}
"""How a node uses another one, and how that one is used."""


def linked(nodes: dict[str, Table], name: str) -> str:
    """The name of a node with a link, or of something else."""
    return f"[`{name}`](../{nodes[name]['host']}/README.md)" if name in nodes else f"`{name}`"


def named(texts: list[str]) -> str:
    """The first six."""
    return ", ".join(texts[:6]) + (" and others" if len(texts) > 6 else "")


def give_tasks(tasks: list[tuple[str, list[Table]]], hosts: list[Table]) -> list[tuple[str, list[Table]]]:
    """Put into each host its own tasks and those that others share; returns the shared ones and those of no host."""
    common: dict[tuple[str, ...], list[Table]] = {}
    for who, rows in tasks:
        for row in rows:
            if row["host"]:
                common.setdefault((who, row["words"], row["subject"], row["command"]), []).append(row)
    shared = {id(row): rows for rows in common.values() if len(rows) > 1 for row in rows}
    of_hosts = [(who, {name: [*own] for name, own in groupby(rows, itemgetter("host"))}) for who, rows in tasks]
    for host in hosts:
        mine = [(who, rows.get(host["name"], [])) for who, rows in of_hosts]
        own = [(who, [row for row in rows if id(row) not in shared]) for who, rows in mine]
        host["tasks"] = [(who, rows) for who, rows in own if rows]
        host["shared"] = [row for _, rows in mine for row in rows if id(row) in shared]
    found = []
    for who, rows in tasks:
        once = [
            {**of_all[0], "hosts": named([f"`{row['host']}`" for row in of_all])}
            for (by, *_), of_all in common.items()
            if by == who and len(of_all) > 1
        ]
        free = [{**row, "nodes": named([f"`{name}`" for name in row["nodes"]])} for row in rows if not row["host"]]
        found.append((who, [*once, *free]))
    return [(who, rows) for who, rows in found if rows]


def wallets_of(spec: Table, hosts: list[Table]) -> list[tuple[str, Table, str]]:
    """Each wallet that nodes use, and those nodes."""
    users: dict[str, list[Table]] = {}
    for host in hosts:
        for node in host["nodes"]:
            if "wallet" in node:
                users.setdefault(node["wallet"], []).append(node)
    return [
        (
            name,
            {**spec["wallets"][name], "pays": any(node["table"] == "gateways" for node in nodes)},
            named([f"`{node['name']}`" for node in nodes]),
        )
        for name, nodes in sorted(users.items())
    ]


def regions_of(hosts: list[Table], nodes: dict[str, Table], edges: list[Table]) -> Table:
    """The smaller picture: each region with what runs there, and the arrows between regions."""
    region = {node["name"]: host["region"] for host in hosts for node in host["nodes"]}
    roles: dict[str, set[str]] = {host["region"]: set() for host in hosts}
    for name, node in nodes.items():
        roles[region[name]].add(f"{node['role']}s")
    links = {(region[e["source"]], region[e["target"]]) for e in edges if e["inside"]}
    return {"regions": [(name, sorted(found)) for name, found in sorted(roles.items())], "links": sorted(links)}


if __name__ == "__main__":
    main()
