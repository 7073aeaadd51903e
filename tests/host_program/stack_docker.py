"""A stand-in for docker on the host of `avatar_world.py`. Compose reads its files with the real program.

In: a directory, the path of docker-compose, and the words that docker gets. Out: what docker says. Containers are lines
of docker.json in that directory, compose.release has the release of Compose, and docker.log gets what is asked for.
`fails` says in which state the containers of a project are after its next start; where that is created, it fails. A
state may have the code of an end: "exited 1".
`made` says from what each container is. An image is what `images` says of its name, and those in `pruned` are gone.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path

TYPE_CHECKING = False  # it is started so often that what it imports is what it costs
if TYPE_CHECKING:
    from typing import Any

LABEL = "com.docker.compose."


def main() -> None:
    directory, compose, *words = sys.argv[1:]
    file = Path(directory) / "docker.json"
    state = json.loads(file.read_text()) if file.exists() else {"projects": {}, "networks": [], "fails": {}}
    try:
        if words[0] == "compose":
            composed(Path(directory), state, compose, words[1:])
        else:
            said(Path(directory), state, words)
    finally:
        file.write_text(json.dumps(state))


def said(directory: Path, state: dict[str, Any], words: list[str]) -> None:
    """What docker itself answers."""
    if words == ["version", "--format", "{{ .Server.Version }}"]:
        if not (directory / "compose.release").exists():
            sys.exit("Cannot connect to the Docker daemon")
        print("29.0.0")
    elif words[:5] == ["container", "ls", "--all", "--quiet", "--filter"]:
        chosen = words[5].removeprefix(f"label={LABEL}project").removeprefix("=")
        projects = {name: found for name, found in state["projects"].items() if chosen in ("", name)}
        print(*[f"{name}/{service}" for name, found in projects.items() for service in found], sep="\n")
    elif words[:2] == ["container", "inspect"]:
        print(json.dumps([inspected(state, *name.split("/")) for name in words[2:]]))
    elif words[:2] == ["image", "tag"]:
        if words[2] in state.get("pruned", ()):
            sys.exit("No such image")
        state.setdefault("images", {})[words[3]] = words[2]
    elif words[:2] == ["network", "ls"]:
        print("".join(name for name in state["networks"] if f"^{name}$" in words[-1]))
    elif words[:2] == ["network", "create"]:
        state["networks"].append(words[2])
    else:
        sys.exit(f"the stand-in knows no {words}")


def inspected(state: dict[str, Any], project: str, service: str) -> dict[str, Any]:
    """What docker says of one container."""
    status, _, code = state["projects"][project][service].partition(" ")
    made = state["made"][project][service]
    runs = status == "running"
    facts = {
        "Status": status,
        "ExitCode": 0 if runs else int(code or 137),
        "Pid": zlib.crc32(service.encode()) if runs else 0,
    }
    labels = {f"{LABEL}project": project, f"{LABEL}service": service, f"{LABEL}oneoff": "False"}
    labels[f"{LABEL}config-hash"] = made["config"]
    bound = {"80/tcp": [{"HostIp": "", "HostPort": port} for port in made["ports"]], "81/tcp": None}
    config = {"Labels": labels, "Image": made["image"]}
    found = {"Name": f"/{project}-{service}", "RestartCount": 0, "State": facts, "Config": config}
    return {**found, "Image": made["id"], "HostConfig": {"PortBindings": bound}}


def composed(directory: Path, state: dict[str, Any], compose: str, words: list[str]) -> None:
    """What Compose does with one project."""
    if words == ["version", "--short"]:
        print((directory / "compose.release").read_text())
        return
    place = next(place for place, word in enumerate(words) if word in ("up", "down", "rm", "stop"))
    flags, command, options = words[:place], words[place], words[place + 1 :]
    project = flags[flags.index("--project-name") + 1]
    done: dict[str, Any] = {"command": command, "project": project}
    if command == "down":
        state["projects"].pop(project, None)
    elif command == "stop":
        here = state["projects"][project]
        here |= {service: "exited" for service, status in here.items() if status == "running"}
    elif command == "rm":
        assert options[:2] == ["--stop", "--force"], options
        done["services"] = options[2:]
        for service in options[2:]:
            state["projects"][project].pop(service)
    else:
        done |= {"flags": flags, "options": options, **upped(state, compose, flags, options)}
    with (directory / "docker.log").open("a") as file:
        file.write(json.dumps(done) + "\n")
    if done.get("failed"):
        sys.exit("a port is already allocated, and the token is edge-token-1")


def upped(state: dict[str, Any], compose: str, flags: list[str], options: list[str]) -> dict[str, Any]:
    """Make containers as Compose would; a container that is there is not stopped by --no-start."""
    import subprocess

    read = subprocess.run([compose, *flags, "config", "--format", "json"], capture_output=True, text=True, check=False)
    if read.returncode or "level=warning" in read.stderr:
        sys.exit(read.stderr or "compose refuses")
    model = json.loads(read.stdout)
    services = [word for word in options if not word.startswith("-")] or sorted(model["services"])
    project = flags[flags.index("--project-name") + 1]
    containers = state["projects"].setdefault(project, {})
    status = state["fails"].pop(project, "running")
    for service in services:
        assert service in model["services"], service
        if "--detach" in options:
            containers[service] = status
        containers.setdefault(service, "created")
        wanted = model["services"][service]
        image, ports = wanted["image"], [one["published"] for one in wanted.get("ports", ())]
        made = {"config": str(zlib.crc32(json.dumps(wanted).encode())), "image": image, "ports": ports}
        made["id"] = state.get("images", {}).get(image, f"sha256:{image}")
        state.setdefault("made", {}).setdefault(project, {})[service] = made
    return {"services": services, "model": model, "failed": status == "created"}


if __name__ == "__main__":
    main()
