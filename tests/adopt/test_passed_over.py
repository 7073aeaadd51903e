"""Sources without a trace in the spec: one short line for each kind."""

from __future__ import annotations

import posixpath
from pathlib import Path

import pytest

from fleetc.adopt.adoption import adopt
from fleetc.adopt.found.said import Said
from fleetc.adopt.report import glance
from fleetc.adopt.tables.unread import doubts
from fleetc.toml.document import Source
from tests.support import fleetc

NODE = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /srv/s -dataDir /srv/w\n"
STARTS = {"w.sh": NODE}
LIMITS = "[Service]\nLimitNOFILE=7\nExecStartPre=/usr/bin/nvidia-smi -pm 1\n"


def lines(sources: dict[str, str]) -> list[str]:
    found = adopt([Source(name, text) for name, text in sources.items()])
    assert found.nodes
    return [*glance.passed_over(found)]


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ({"prod.env": "LP_V=6\n"}, ["prod.env: no node reads it"]),
        ({"b.json": '{"a": 1}', "prod.env": "LP_V=6\n"}, ["prod.env, b.json: no node reads them"]),
        ({f"{i}.env": "LP_V=6\n" for i in range(7)}, ["0.env, 1.env, 2.env, 3.env and 3 more: no node reads them"]),
        ({"x.service.d/a.conf": "[Service]\nEnvironment=LP_V=6\n"},
         ["x.service.d/a.conf: drop-in of a unit that is none of the sources"]),
        ({"multi-user.target.wants/x.service": ""},
         ["multi-user.target.wants/x.service: link to a unit that is none of the sources"]),
        ({"w.service": f"[Service]\nExecStart=/bin/{NODE.replace('/srv/w', '$DIR')}", "w.env": "DIR=/srv/w\n"},
         ["w.env: no node reads it"]),  # only scripts get the variables of a .env
        ({"backup.sh": "#!/bin/sh\necho hello\n"}, ["backup.sh: nothing in it starts a node"]),
        ({"profile.sh": "export LP_V=6\n"}, ["profile.sh: nothing in it starts a node"]),
        ({"other.service": "[Service]\nExecStart=/bin/prometheus\n"}, ["other.service: nothing in it starts a node"]),
        ({"other.service": "[Service]\nExecStart=/bin/prometheus\n", "other.service.d/l.conf": LIMITS},
         ["other.service, other.service.d/l.conf: nothing in them starts a node"]),
    ],
)  # fmt: skip
def test_source_that_nothing_reads_is_named(sources: dict[str, str], said: list[str]) -> None:
    assert lines({**STARTS, **sources}) == [f"passed over {line}" for line in said]


@pytest.mark.parametrize(
    "sources",
    [
        {},
        {"w.sh": f"set -a\n. ./w.env\n{NODE}", "w.env": "LP_V=6\n"},
        {"w.sh": NODE.replace("-transcoder", "-transcoder -v $LEVEL"), "w.env": "LEVEL=6\n"},  # beside the script
        {"s": "x\n"},  # the file of the secret
        {"group_vars/all.yml": "lp_price: 7\nlp_version: v0.8.6\n"},  # its release is offered
        {"w.service": "[Service]\nExecStart=/opt/w.sh\n"},
        {"lp@.service": f"[Service]\nExecStart=/bin/{NODE}", "up.sh": "systemctl enable --now lp@eu\n"},
        {
            "etc/w.service": f"[Service]\nExecStart=/bin/{NODE}[Install]\nWantedBy=multi-user.target\n",
            "etc/multi-user.target.wants/w.service": "",
        },
        {"hosts.ini": "[gpus]\nh ansible_host=203.0.113.9\n"},
        {"w.service": f"[Service]\nExecStart=/bin/{NODE}", "w.service.d/l.conf": LIMITS},
        {
            "w.service": "[Service]\nUser=lp\n",
            "w.service.d/a.conf": f"[Service]\nExecStart=/bin/{NODE}",
            "w.service.d/l.conf": LIMITS,
        },
        {
            "w@.service": f"[Service]\nExecStart=/bin/{NODE}",
            "w@eu.service.d/l.conf": LIMITS,
            "w@.service.d/m.conf": LIMITS,
        },
    ],
)
def test_source_that_something_reads_is_not(sources: dict[str, str]) -> None:
    assert lines({**STARTS, **sources}) == []


def test_what_else_a_file_with_the_release_has_is_said_to_be_unread() -> None:
    texts = {**STARTS, "group_vars/all.yml": "lp_price: 7\nlp_version: v0.8.6\n"}
    found = adopt([Source(name, text) for name, text in texts.items()])
    assert [(one.shown, one.words) for one in found.entries if one.span.source == "group_vars/all.yml"] == [
        ("lp_version", "offered as node_release"),
        ("the file", "but for its release, no node reads it"),
    ]


def test_first_lines_name_them_once(tmp_path: Path) -> None:
    for name, text in {**STARTS, "prod.env": "LP_V=6\n", "NOTES.md": f"```\n{NODE}```\n"}.items():
        (tmp_path / name).write_text(text)
    done = fleetc("adopt", ".", "-o", "fleet.toml", cwd=tmp_path)
    assert done.stderr.count("prod.env") == 1 and "\npassed over prod.env: no node reads it\n" in done.stderr
    assert done.stderr.count("NOTES.md") == 1


FOLDER = {
    "gpu/w.service": "[Service]\nEnvironmentFile=-/etc/default/worker\nExecStart=/bin/" + NODE,
    "gpu/worker.default": "LEVEL=6\n",
    "gpu/log.1": "hello\n",
    "gpu/readme.md": "# hello\n",  # a page without commands is no source that is missing
    "gpu/x.png": "\0",
    "gpu/fleet.toml": "spec = 2\n",
    "gpu/.w.swp": "x",
}


def test_files_of_a_folder_that_are_no_sources_are_named(tmp_path: Path) -> None:
    (tmp_path / "gpu").mkdir()
    for name, text in FOLDER.items():
        (tmp_path / name).write_text(text)
    done = fleetc("adopt", "gpu", "-o", "fleet.toml", cwd=tmp_path)
    assert [line for line in done.stderr.split("\n") if line.startswith("passed over")] == [
        "passed over gpu/log.1, gpu/worker.default: no node reads them",
        "passed over 1 more file: no text, or a long one",
    ]
    likely = "gpu/worker.default may be it: call it worker to have it read"
    (line,) = (line for line in done.stderr.split("\n") if "may be it" in line)
    assert line.startswith("  w: /etc/default/worker, if there is one, may set ") and line.endswith(f"; {likely}")
    report = fleetc("adopt", "gpu", "--report", "text", cwd=tmp_path).stdout
    assert "gpu/log.1:1: the file: dropped: its name is that of no source, so it was not read" in report
    (tmp_path / "gpu/worker.default").rename(tmp_path / "gpu/worker")
    done = fleetc("adopt", "gpu", "--no-input", cwd=tmp_path)
    assert "may be it" not in done.stderr and "gpu/worker" not in done.stderr


@pytest.mark.parametrize(
    ("path", "name", "text", "may"),
    [
        ("/etc/default/livepeer", "livepeer.default", "A=1", True),
        ("/etc/default/livepeer", "default-livepeer", "A=1", True),
        ("/etc/default/livepeer", "etc_default_livepeer", "# copy\nexport A=1", True),
        ("/etc/livepeer/livepeer.env", "livepeer.default", "A=1", True),
        ("/etc/livepeer/orch.env", "livepeer-orch.env", "A=1", True),
        ("/etc/livepeer/orch.env", "livepeer.env", "A=1", False),
        ("/etc/default/livepeer", "livepeer.old", "A=1", False),
        ("/etc/default/livepeer", "livepeer.default", "hello", False),
        ("/etc/default/livepeer", "livepeer.default", "", False),
        ("/etc/default/livepeer", "../other/livepeer.default", "A=1", False),
    ],
)
def test_file_of_variables_with_a_name_like_the_missing_one_may_be_it(
    path: str, name: str, text: str, may: bool
) -> None:
    unit = f"[Service]\nEnvironmentFile={path}\nExecStart=/bin/{NODE}"
    left = [Source(posixpath.normpath(f"gpu/{name}"), text)]
    (one,) = doubts(adopt([Source("gpu/w.service", unit)], Said(left=left)).nodes)
    assert (f"; {left[0].name} may be it: call it {path.rpartition('/')[2]} to have it read" in one.words) is may


def test_both_files_that_may_be_the_missing_one_are_named() -> None:
    unit = f"[Service]\nEnvironmentFile=/etc/default/livepeer\nExecStart=/bin/{NODE}"
    sources = [Source("w.service", unit), Source("livepeer.env", "A=1\n")]
    (one,) = doubts(adopt(sources, Said(left=[Source("livepeer.default", "A=2\n")])).nodes)
    assert "; livepeer.env or livepeer.default may be it: " in one.words
