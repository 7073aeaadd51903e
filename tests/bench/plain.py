"""Makes what people write without fleetc: a play with one template task for each file, and a handler for each node.

In: the compiled tree of a fleet whose hosts are alike. Out: an Ansible project that writes the same bytes below a
directory of each host, with the secrets of each node, and starts nodes whose files changed. The templates are the
files of one host with the words that differ as variables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_CONFIGURATION = """[defaults]
forks = 25
interpreter_python = auto_silent
[ssh_connection]
pipelining = true
"""


def plain_project(tree: Path, directory: Path, top: str = "/opt/plain") -> None:
    """Write the project, whose play writes below `top` on each host."""
    hosts = sorted((tree / "hosts").iterdir())
    (directory / "host_vars").mkdir(parents=True)
    (directory / "templates").mkdir()
    (directory / "ansible.cfg").write_text(_CONFIGURATION)
    names: dict[str, dict[str, str]] = {host.name: {} for host in hosts}
    (directory / "inventory.json").write_text(json.dumps({"all": {"hosts": names}}))
    for host in hosts:
        given = json.loads((tree / f"ansible/host_vars/{host.name}.json").read_text())
        variables = {key: value for key, value in given.items() if key.startswith("ansible_")}
        variables["ports"] = [service["health"]["ports"] for service in given["fleet_host_services"]]
        (directory / f"host_vars/{host.name}.json").write_text(json.dumps(variables))
    first = hosts[0]
    told = json.loads((directory / f"host_vars/{first.name}.json").read_text())
    words = {
        str(port): f"{{{{ ports[{node}][{place}] }}}}"
        for node, ports in enumerate(told["ports"])
        for place, port in enumerate(ports)
    }
    words[first.name] = "{{ inventory_hostname }}"
    tasks: list[dict[str, Any]] = []
    handlers: list[dict[str, Any]] = []
    for number, node in enumerate(sorted(path.name for path in first.iterdir() if path.is_dir())):
        own, common = _templated(node, words), {"mode": "0644"}
        place = f"{top}/{own}"
        tasks.append({"name": f"Directory of {own}", "file": {"path": place, "state": "directory", "mode": "0755"}})
        files = sorted(path for path in (first / node).rglob("*") if path.is_file())
        for file in files:
            name = f"{node}-{file.name}.j2"
            (directory / "templates" / name).write_text(_templated(file.read_text(), words))
            task = {"name": f"{file.name} of {own}", "notify": f"Start {number}"}
            tasks.append(task | {"template": {"src": name, "dest": f"{place}/{file.name}", **common}})
        secret = "templates/secrets.env.j2"
        (directory / secret).write_text("LP_ETHURL=\"{{ lookup('env', 'BENCH_RPC_URL') }}\"\n")
        written = {"src": "secrets.env.j2", "dest": f"{place}/secrets.env", "mode": "0600"}
        tasks.append({"name": f"Secrets of {own}", "template": written, "no_log": True, "notify": f"Start {number}"})
        up = ["docker", "compose", "--project-name", own, "--file", f"{place}/compose.yaml", "up", "--detach"]
        handlers.append({"name": f"Start {number}", "command": {"argv": up}})
    play = {"hosts": "all", "gather_facts": False, "tasks": tasks, "handlers": handlers}
    (directory / "site.json").write_text(json.dumps([play], indent=1))


def _templated(text: str, words: dict[str, str]) -> str:
    for word, variable in words.items():
        text = text.replace(word, variable)
    return text
