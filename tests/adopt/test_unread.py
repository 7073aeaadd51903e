"""Files that nodes read their settings from and that are none of the sources: what they may set is not known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleetc.adopt.adoption import adopt
from fleetc.adopt.report import glance
from fleetc.adopt.report.takeover import as_text
from fleetc.adopt.tables.unread import doubts
from fleetc.toml.document import Source
from tests.adopt.test_on_host import ORCHESTRATOR, SPEC, plan
from tests.support import fleetc

FLAGS = "-transcoder -orchAddr orch.example.net:8935 -orchSecret /srv/s -dataDir /srv/w"
IMAGE = "livepeer/go-livepeer:v0.9.1"
UNIT = "[Service]\nUser=lp\nEnvironmentFile={}/etc/lp/w.env\nExecStart={}\n"
POD = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: w}}
spec:
  containers:
    - name: w
      image: {IMAGE}
      args: [{", ".join(FLAGS.split())}]
      envFrom: [{{KIND: {{name: lp-env}}}}]
"""
COMPOSE = f"services:\n  w:\n    image: {IMAGE}\n    network_mode: host\n    command: {FLAGS}\n    env_file:"
SOURCES = {
    "unit": ("w.service", UNIT.format("", f"/bin/livepeer {FLAGS}"), "/etc/lp/w.env"),
    "optional": ("w.service", UNIT.format("-", f"/bin/livepeer {FLAGS}"), "/etc/lp/w.env"),
    "docker in a unit": (
        "w.service", f"[Service]\nExecStart=/usr/bin/docker run --env-file /etc/lp/w.env {IMAGE} {FLAGS}\n",
        "/etc/lp/w.env",
    ),
    "docker": ("w.sh", f"docker run --net host --env-file /etc/lp/w.env {IMAGE} {FLAGS}\n", "/etc/lp/w.env"),
    "script": ("w.sh", f"set -a\n. /etc/lp/w.env\nlivepeer {FLAGS}\n", "/etc/lp/w.env"),
    "shell in a script": ("w.sh", f"set -a\n. /etc/lp/w.env\nsh -c 'livepeer {FLAGS}'\n", "/etc/lp/w.env"),
    "supervisor": (
        "w.conf", f"[program:w]\ncommand=/bin/sh -c \"set -a; . /etc/lp/w.env; livepeer {FLAGS}\"\n", "/etc/lp/w.env",
    ),
    "compose": ("compose.yaml", f"{COMPOSE} ./w.env\n", "./w.env"),
    "optional in compose": ("compose.yaml", f"{COMPOSE}\n      - path: ./w.env\n        required: false\n", "./w.env"),
    "config file": ("w.sh", f"livepeer {FLAGS} -config /etc/lp/w.env\n", "/etc/lp/w.env"),
    "config map": ("w.yaml", POD.replace("KIND", "configMapRef"), "ConfigMap lp-env"),
    "secret": ("w.yaml", POD.replace("KIND", "secretRef"), "Secret lp-env"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
def test_what_a_missing_file_may_set_is_unknown_and_said_once(kind: str) -> None:
    name, text, file = SOURCES[kind]
    found = adopt([Source(name, text)])
    (doubt,) = doubts(found.nodes)
    assert (doubt.file, len(doubt.nodes), doubt.optional) == (file, 1, "optional" in kind)
    assert {"v", "maxSessions", "cliAddr"} <= {*doubt.settings} and not {"orchAddr", "dataDir"} & {*doubt.settings}
    assert found.unknown > 5
    (head, line) = glance.unknown(found)
    there = ", if there is one," if "optional" in kind else ""
    assert head.startswith("not known without these files") and f"{file}{there} may set listeners, " in line
    assert "adopt-file-missing" in {one.code for one in found.diagnostics}
    assert ("adopt-file-missing", found.nodes[0].unread[0].span) in found.elsewhere
    given = {"config map": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lp-env}\ndata: {LP_V: '5'}\n"}
    whole = adopt([Source(name, text), Source("w.env" if "/" in file else "m.yaml", given.get(kind, ""))])
    assert whole.nodes
    assert (whole.unknown == 0 and [*doubts(whole.nodes)] == []) is (kind != "secret")


def test_what_other_files_set_for_sure_is_known() -> None:
    """In Compose and docker run, variables of the command come last; in a unit, a file that comes later."""
    docker = f"docker run --net host --env-file /etc/lp/w.env -e LP_V=5 {IMAGE} {FLAGS}\n"
    unit = UNIT.format("", f"/bin/livepeer {FLAGS}").replace("ExecStart", "EnvironmentFile=/etc/lp/z.env\nExecStart")
    for sources in ([Source("w.sh", docker)], [Source("w.service", unit), Source("z.env", "LP_V=5\n")]):
        (doubt,) = doubts(adopt(sources).nodes)
        assert "v" not in doubt.settings and "maxSessions" in doubt.settings


def test_several_nodes_of_one_file_are_one_line() -> None:
    text = "".join(f"docker run --net host --name w{i} --env-file a.env {IMAGE} {FLAGS}{i}\n" for i in range(9))
    (_, line) = glance.unknown(adopt([Source("w.sh", text)]))
    assert line.startswith("  w0, w1, w2, w3, w4 and 4 more: a.env may set listeners, ")


def test_comparison_is_not_settled_while_a_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "w.service").write_text(SOURCES["unit"][1])
    done = fleetc("adopt", "h@203.0.113.9=w.service", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0 and "/etc/lp/w.env" in done.stderr and "adopt-file-missing" not in done.stderr
    assert ", 11 are unknown\n" in done.stderr
    spec = (tmp_path / "fleet.toml").read_text().replace("[transcoders.w]\n", "[transcoders.w]\nverbosity = 5\n")
    (tmp_path / "fleet.toml").write_text("".join(line for line in spec.splitlines(True) if "# TODO" not in line))
    words = ("adopt", "h@203.0.113.9=w.service", "--compare", "fleet.toml")
    done = fleetc(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(
        "1 node compared with fleet.toml: 5 settings, 1 differs, none without a reason; "
        "what 1 file may set is not known\n"
        "  w -v: (unknown) -> 5: /etc/lp/w.env may set it, and no source has it\n"
        "not known: w: /etc/lp/w.env may set listeners, GPUs, 9 more settings, and variables, "
        "and no source has it\n"
    ), done.stdout
    assert done.stdout.count("w.env") == 2
    for form in ("text", "markdown", "json"):
        said = fleetc(*words, "--report", form, cwd=tmp_path).stdout
        assert "w.env" in said and (form == "json" or "Not known" in said)
        if form == "json":
            (one,) = json.loads(said)["unknown"]
            assert (one["file"], one["nodes"], "maxSessions" in one["may_set"]) == ("/etc/lp/w.env", ["w"], True)
    (tmp_path / "w.env").write_text("LP_V=5\n")
    done = fleetc(words[0], words[1], "w.env", *words[2:], cwd=tmp_path)
    assert done.returncode == 0 and "15 settings, nothing differs\n" in done.stdout


def test_plan_for_a_host_claims_nothing_of_a_file_that_was_not_read() -> None:
    unit = {**ORCHESTRATOR["unit"], "name": "livepeer-orch.service"}
    config = {**ORCHESTRATOR, "unit": unit, "process": "boot 71 5",
              "arguments": [*ORCHESTRATOR["arguments"], "-config=/etc/lp.conf"]}  # fmt: skip
    unread = {"files": [{"pid": 71, "path": "/etc/lp.conf", "text": "", "why": "it is too large, or no text"}]}
    read = {"files": [{"pid": 71, "path": "/etc/lp.conf", "text": "v 3\n", "why": ""}]}
    assert [node.goes_on for node in plan(SPEC, config, **read).nodes] == [True]
    found = plan(SPEC, config, **unread)
    assert [node.goes_on for node in found.nodes] == [False]
    said = as_text(found)
    assert "  not known: /etc/lp.conf may set prices, " in said and ", and was not read\n" in said
    assert "nothing that fleetc compares would change" not in said
    assert "but nobody knows whether its settings stay" in said


def test_flags_in_a_variable_that_no_source_has_are_unknown(tmp_path: Path) -> None:
    """They win over the flags before them, and lose against those behind."""
    early, late = FLAGS.split(" -orchSecret")
    (tmp_path / "w.sh").write_text(f"livepeer {early} -v 5 $OPTS -orchSecret{late}\n")
    words = ("adopt", "h@203.0.113.9=w.sh")
    done = fleetc(*words, "-o", "fleet.toml", cwd=tmp_path)
    assert done.stderr.count("OPTS") == 1 and "not known of" not in done.stderr and " unknown\n" in done.stderr
    spec = (tmp_path / "fleet.toml").read_text()
    (tmp_path / "fleet.toml").write_text("".join(line for line in spec.splitlines(True) if "# TODO" not in line))
    done = fleetc(*words, "--compare", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 1 and "; what 1 variable may set is not known\n" in done.stdout
    assert "not known: w: ${OPTS} may set listeners, GPUs, " in done.stdout
    found = adopt([Source("w.sh", (tmp_path / "w.sh").read_text())])
    (doubt,) = doubts(found.nodes)
    assert {"v", "orchAddr", "maxSessions"} <= {*doubt.settings} and not {"orchSecret", "dataDir"} & {*doubt.settings}


def test_what_does_nothing_off_chain_is_not_among_it() -> None:
    """Where the command itself says that the node is off-chain: else the file may say that it is not."""
    (off, unsaid) = (
        next(
            doubts(
                adopt([Source("g.sh", f"docker run --env-file a.env {IMAGE} -gateway {network}-orchAddr o:1\n")]).nodes
            )
        )
        for network in ("-network offchain ", "")
    )
    assert {"ethUrl", "reward", "maxPricePerUnit"}.isdisjoint(off.settings) and "v" in off.settings
    assert {"ethUrl", "maxPricePerUnit", "network"} <= {*unsaid.settings}
