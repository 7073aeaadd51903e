"""Hosts where one link served all nodes: taken over without a restart, and never taken for empty ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.host_program.test_broken_off import NODES, Killed, Machine, request

OLD = "a" * 64


def old_machine(root: Path) -> Machine:
    """A host with the link of before, secrets beside it, and units that are files."""
    machine = Machine(root)
    program = machine.program
    for node in NODES:
        files = Path(program["RELEASES"], OLD, node)
        files.mkdir(parents=True)
        unit = f"livepeer-{node}.service"
        for name in (unit, "node.env"):
            (files / name).write_text(f"# {name} of release 0 \n")
        secrets = Path(program["SECRETS"], node)
        secrets.mkdir(parents=True)
        (secrets / "secrets.env").write_text('LP_ETHURL="https://rpc/0"\n')
        for place in (program["UNITS"], program["MARKERS"]):
            Path(place).mkdir(parents=True, exist_ok=True)
        Path(program["UNITS"], unit).write_bytes((files / unit).read_bytes())
        digests = (program["digest_of_files"](str(files)), program["secrets_digest"](str(files)))
        Path(program["MARKERS"], node).write_text(" ".join(digests))
        machine.running[node] = b"# release 0 "
    Path(program["CURRENT"]).symlink_to("releases/" + OLD)
    return machine


@pytest.mark.parametrize("before", ["unlink", "rename", "link_secrets"])
def test_kill_while_a_host_is_taken_over_leaves_a_way_back(tmp_path: Path, before: str) -> None:
    """An ill release goes back to what the host ran, whatever step the one before was killed at."""
    machine = old_machine(tmp_path)
    current = machine.program["CURRENT"]

    def killing(*words: str) -> None:
        if before == "link_secrets" or current in words:
            raise Killed
        getattr(os, before)(*words)

    with pytest.MonkeyPatch.context() as patch:
        if before == "link_secrets":
            machine.program[before] = killing
        else:
            real = getattr(os, before)
            patch.setattr(os, before, lambda *words: killing(*words) if current in words else real(*words))
        with pytest.raises(Killed):
            machine.ask("stage", **request(1, machine.program))
    machine.reborn()
    assert sorted(machine.running) == sorted(NODES)
    machine.ill.add(b"release 1 ")
    assert machine.forward(1) == "reverted"
    assert machine.release() == 0
