#!/usr/bin/env python3
"""A stand-in for docker: a container is a process of the stand-in node, with what its Compose file says.

In: the words that fleetc gives docker, and the node in the variable STANDIN_NODE. Out: what docker would print. It is
a program of hosts, so it only uses the standard library; what it does not know ends with a message.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

STATES = Path("/var/lib/containers")
ENGINE = {
    ("version",): "28.5.1",
    ("compose", "version"): "2.40.0",
    ("info",): "/var/lib",
    ("image", "inspect"): "sha256:1",
    ("image", "tag"): "",
}
"""What is always answered, by the first words."""


def main(words: "list[str]") -> None:
    """Do what docker would."""
    said = [text for known, text in ENGINE.items() if tuple(words[: len(known)]) == known]
    if said:
        print(said[0])
    elif words[:2] == ["container", "ls"]:
        STATES.mkdir(exist_ok=True)
        print("\n".join(path.stem for path in sorted(STATES.glob("*.json")) if process(path.stem)))
    elif words[:2] == ["container", "inspect"]:
        print(json.dumps([seen(name) for name in words[2:]]))
    elif words[:2] == ["container", "logs"]:
        log = STATES / f"{words[-1]}.log"  # whoever uses the host puts it there: the node's own words are not kept
        print(log.read_text() if log.exists() else "", end="")
    elif words[:2] in (["container", "stop"], ["container", "rm"]):
        end(words[-1])
    elif words[0] == "compose" and "up" in words:
        start(Path(words[words.index("--file") + 1]).read_text())
    else:
        sys.exit(f"the stand-in knows no {words}")


def process(name: str) -> int:
    """The process of a container; 0 where it does not run."""
    state = STATES / f"{name}.json"
    pid = json.loads(state.read_text())["pid"] if state.exists() else 0
    return pid if Path(f"/proc/{pid}").exists() else 0


def seen(name: str) -> "dict[str, object]":
    """What inspecting a container says."""
    state = {"Status": "running", "Pid": process(name)}
    return {"Name": f"/{name}", "State": state, "Image": "sha256:1", "RestartCount": 0}


def end(name: str) -> None:
    """Kill a container and forget it."""
    pid = process(name)
    if pid:
        os.kill(pid, signal.SIGKILL)
    (STATES / f"{name}.json").unlink(missing_ok=True)


def start(compose: str) -> None:
    """Start the container of a Compose file as fleetc writes them, in place of the one before."""
    (name,) = re.findall(r'^    container_name: "(.*)"$', compose, re.M)
    end(name)
    arguments = [json.loads(text) for text in re.findall(r'^      - ("-.*")$', compose, re.M)]
    variables = {}
    for path in re.findall(r'^      - path: "(.*)"$', compose, re.M):
        for variable, value in re.findall(r'^(\w+)="(.*)"$', Path(path).read_text(), re.M):
            variables[variable] = re.sub(r"\\(.)", r"\1", value)
    with Path(os.devnull).open("r+b") as nothing:
        started = subprocess.Popen(
            [os.environ["STANDIN_NODE"], *arguments],
            env=variables,
            start_new_session=True,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
        )
    STATES.mkdir(exist_ok=True)
    (STATES / f"{name}.json").write_text(json.dumps({"pid": started.pid}))


if __name__ == "__main__":
    main(sys.argv[1:])
