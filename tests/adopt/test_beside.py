"""What adopting says of a process beside the settings of its node: who runs it, its limits, its network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.said import Said
from fleetc.adopt.read import bounds
from fleetc.adopt.report import glance
from fleetc.adopt.report.report import reported
from fleetc.messages.forms import AdoptionFormat
from fleetc.toml.document import Source
from tests.support import ROOT, fleetc

WORKER = "-transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -dataDir /srv/lp"
UNIT = f"""\
[Unit]
Description=A worker
After=network-online.target
[Service]
Type=simple
User=livepeer
SETTINGS
ExecStart=/usr/local/bin/livepeer {WORKER}
[Install]
WantedBy=multi-user.target
"""
COMPOSE = f"""\
services:
  worker:
    image: livepeer/go-livepeer:v0.9.1
    network_mode: host
    volumes: ["/srv/lp:/srv/lp", "/etc/lp/secret:/etc/lp/secret"]
    command: {WORKER}
    restart: always
SETTINGS"""


def of_unit(*settings: str, words: str = "") -> list[str]:
    """What changes beside the settings of a unit with these lines more."""
    text = UNIT.replace("SETTINGS", "\n".join(settings))
    return _without_new(_said(adopt([Source("lp.service", text.replace(WORKER, f"{WORKER} {words}"))])))


def of_compose(*lines: str, words: str = "") -> list[str]:
    """What changes beside the settings of a container with these lines more."""
    text = COMPOSE.replace("SETTINGS", "".join(f"    {one}\n" for one in lines))
    return _without_new(_said(adopt([Source("compose.yaml", text.replace(WORKER, f"{WORKER} {words}"))])))


def _without_new(said: list[str]) -> list[str]:
    """What differs of that which the source sets."""
    return [words for words in said if not words.startswith("its new ")]


def _said(found: Adopted) -> list[str]:
    return [one.words for one in found.beside]


SCRIPT = f"""\
nvidia-smi -pm 1
nvidia-smi -i 1 -pl 220 && nvidia-smi
nvidia-smi --query-gpu=name --format=csv
ulimit -n 65535
ulimit -a
sysctl net.core.rmem_max; sysctl -w net.core.rmem_max=26214400
tune() {{ sudo modprobe -r nvidia_uvm; }}
tune
taskset -c 0-7 sudo -u lp nice -n -5 ./livepeer {WORKER}
"""
CONTAINER_LINE = f"docker run --network host -v /srv/lp:/srv/lp livepeer/go-livepeer:v0.9.1 {WORKER}"


def of_script(text: str) -> list[str]:
    """What a script says of commands around its node."""
    return [one for one in _said(adopt([Source("start.sh", text)])) if one.startswith("its script")]


def test_what_a_script_prepares_is_said() -> None:
    others = ["`nvidia-smi -pm 1`", "`nvidia-smi -i 1 -pl 220`", "`sysctl -w net.core.rmem_max=26214400`",
              "`modprobe -r nvidia_uvm`"]  # fmt: skip
    assert of_script(SCRIPT) == [
        "its script starts it with `taskset -c 0-7 nice -n -5`, and fleetc does not",
        f"its script also runs {', '.join(others)}, and fleetc does not",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"ulimit -n 500000; exec livepeer {WORKER}", "`ulimit -n 500000`"),
        (f"ulimit -n 500000; {CONTAINER_LINE}", ""),  # a container has the limits of Docker
        (f"nvidia-smi -pl 220; {CONTAINER_LINE}", "`nvidia-smi -pl 220`"),
        (f"nvidia-smi -pl 220; ssh root@192.0.2.7 'livepeer {WORKER}'", ""),
        (f"ssh root@192.0.2.7 'nvidia-smi -pl 220; livepeer {WORKER}'", "`nvidia-smi -pl 220`"),
        (f"nvidia-smi -pl 220; bash -c 'livepeer {WORKER}'", "`nvidia-smi -pl 220`"),
        (f"echo performance > /sys/class/x/governor; livepeer {WORKER}", "`echo performance > /sys/class/x/governor`"),
        (f"echo 7 | sudo tee /proc/sys/vm/x; livepeer {WORKER}", "`tee /proc/sys/vm/x`"),
        (f"echo started > /var/log/x; livepeer {WORKER}", ""),
        (f"if false; then nvidia-smi -pl 220; fi; livepeer {WORKER}", "`nvidia-smi -pl 220`"),
        (f"mount -o password=Xq7hunter2 //nas/models /models; livepeer {WORKER}", "`mount -o ... ... /models`"),
    ],
)
def test_preparation_belongs_to_what_its_host_starts(text: str, said: str) -> None:
    assert of_script(text) == ([f"its script also runs {said}, and fleetc does not"] if said else [])


PAGE = """\
nvidia-smi -pm 1 is for both.

    nvidia-smi -pm 1

# vega

```
livepeer ORCH
```

## deneb

```sh
# power first
sudo nvidia-smi -pl 180
bash -c 'modprobe nvidia; livepeer WORKER'
```

another one:

```
livepeer -transcoder -orchAddr o.example.net:1 -orchSecret /s -nvidia 1 -dataDir /e
```

other box
---

```
sysctl -w vm.swappiness=1
```
and then
```
livepeer -transcoder -orchAddr o.example.net:1 -orchSecret /s -nvidia 2 -dataDir /f
```
"""


def test_command_of_a_page_is_for_the_nodes_of_its_block_or_section() -> None:
    """A page has the commands of several machines; one that stands near no node may be for all of them."""
    chain = "-orchestrator -dataDir /o -serviceAddr o.example.net:1 -orchSecret /s"
    found = adopt([Source("NOTES.md", PAGE.replace("WORKER", WORKER).replace("ORCH", chain))])
    assert {one.name: [text for _, text in one.process.commands] for one in found.nodes} == {
        "orchestrator": ["nvidia-smi -pm 1"],
        "transcoder": ["modprobe nvidia", "nvidia-smi -pm 1", "nvidia-smi -pl 180"],
        "transcoder-2": ["nvidia-smi -pm 1"],
        "transcoder-3": ["nvidia-smi -pm 1", "sysctl -w vm.swappiness=1"],
    }


def test_shell_of_a_container_prepares_its_node() -> None:
    text = f"ulimit -n 500000; nvidia-smi -pm 1; exec livepeer {WORKER}"
    compose = COMPOSE.replace(f"command: {WORKER}", f"command: [sh, -c, '{text}']").replace("SETTINGS", "")
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: w}\nspec:\n  containers:\n"
        f"  - {{image: livepeer/go-livepeer:v0.9.1, command: [sh, -c, '{text}']}}\n"
    )
    for name, source in (("compose.yaml", compose), ("pod.yaml", pod)):
        said = _said(adopt([Source(name, source)]))
        assert "its script also runs `ulimit -n 500000`, `nvidia-smi -pm 1`, and fleetc does not" in said


def test_what_a_unit_tells_docker_of_its_own_container_is_nothing_that_is_lost() -> None:
    start = (
        f"ExecStartPre=-/usr/bin/docker rm -f w\nExecStop=/usr/bin/docker stop w\nExecStart=/usr/bin/{CONTAINER_LINE}"
    )
    text = UNIT.replace("SETTINGS\n", "")
    found = adopt([Source("w.service", text.replace(f"ExecStart=/usr/local/bin/livepeer {WORKER}", start))])
    assert not [words for words in _said(found) if "also runs" in words]


def test_script_of_a_unit_prepares_its_node() -> None:
    unit = UNIT.replace("SETTINGS", "").replace(f"/usr/local/bin/livepeer {WORKER}", "/opt/start.sh")
    script = f"#!/bin/sh\nnvidia-smi -pl 220\nexec /usr/local/bin/livepeer {WORKER}\n"
    found = adopt([Source("lp.service", unit), Source("start.sh", script)])
    assert "its script also runs `nvidia-smi -pl 220`, and fleetc does not" in _said(found)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("MemoryMax=8G", "gone from its unit: MemoryMax=8G"),
        ("Nice=-5\nGroup=video", "gone from its unit: Group=video, Nice=-5"),
        ("LimitNOFILE=1048576", "in its unit, LimitNOFILE=1048576 becomes 65536"),
        ("TimeoutStopSec=2min", "in its unit, TimeoutStopSec=2min becomes 60s"),
        ("Restart=no", "in its unit, Restart=no becomes always"),
        ("RestartSec=1min", "in its unit, RestartSec=1min becomes 5s"),
        ("[Unit]\nStartLimitIntervalSec=1h\n[Service]", "in its unit, StartLimitIntervalSec=1h becomes 0"),
        ("WorkingDirectory=/var/lib/lp", "in its unit, WorkingDirectory=/var/lib/lp becomes /srv/lp"),
        ("ExecStartPre=-/bin/mount /models\nExecStartPre=/bin/login s3same",
         "its unit also runs `/bin/mount /models`, `/bin/login ...` (ExecStartPre), and fleetc does not"),
        ("StandardOutput=append:/var/log/lp.log", "gone from its unit: StandardOutput=append:/var/log/lp.log"),
    ],
)  # fmt: skip
def test_limit_of_a_unit_that_its_new_one_lacks_is_said(setting: str, words: str) -> None:
    assert of_unit(setting) == [words]


@pytest.mark.parametrize(
    "setting",
    ["", "Restart=always\nRestartSec=5", "WorkingDirectory=/srv/lp", "StartLimitIntervalSec=0",
     "LimitNOFILE=65536:65536", "TimeoutStopSec=1min", "UMask=077", "NoNewPrivileges=yes",
     "StandardOutput=journal", "MemoryMax=8G\nMemoryMax="],
)  # fmt: skip
def test_unit_that_does_the_same_is_not_said_to_change(setting: str) -> None:
    assert of_unit(setting) == []


SANDBOX = "UMask=0077, PrivateTmp, ProtectSystem=full, ProtectHome=read-only, ProtectControlGroups"


def test_what_the_new_unit_or_container_has_more_is_one_line() -> None:
    """A sandbox, restarts and limits of logs are changes too."""
    unit = UNIT.replace("SETTINGS", "Restart=on-failure\nRestartSec=5\nStartLimitInterval=0\nEnvironment=HOME=/home/lp")
    said = _said(adopt([Source("lp.service", unit.replace(WORKER, f"{WORKER} -nvidia 0"))]))
    assert said == [
        "in its unit, Restart=on-failure becomes always",
        f"its new unit also has TimeoutStopSec=60s, LimitNOFILE=65536, {SANDBOX}, its data directory as HOME",
    ]
    assert _said(adopt([Source("start.sh", f"livepeer {WORKER} -nvidia 0")]))[-1] == (
        "its new unit has Restart=always, RestartSec=5s, StartLimitIntervalSec=0, TimeoutStopSec=60s, "
        f"LimitNOFILE=65536, {SANDBOX}, its data directory as HOME"
    )
    options = "-d --network host --restart=unless-stopped --log-opt max-file=9"
    run = Source("start.sh", f"docker run {options} livepeer/go-livepeer:v0.9.1 {WORKER}")
    assert _said(adopt([run])) == [
        "in its container, logging.max-file=9 becomes 3, restart=unless-stopped becomes always",
        "its new container also has stop_grace_period=60s, logging.max-size=50m",
    ]


def test_settings_of_the_new_unit_depend_on_its_node() -> None:
    """A node with GPUs may gain privileges."""
    assert of_unit("NoNewPrivileges=true", words="-nvidia 0") == ["gone from its unit: NoNewPrivileges=true"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mem_limit: 8g", "gone from its container: mem_limit=8g"),
        ("ulimits: {nofile: {soft: 1024, hard: 4096}}",
         "gone from its container: ulimits.nofile.hard=4096, ulimits.nofile.soft=1024"),
        ("deploy: {resources: {limits: {memory: 4G}}}",
         "gone from its container: deploy.resources.limits.memory=4G"),
        ("restart: unless-stopped", "in its container, restart=unless-stopped becomes always"),
        ("logging: {options: {max-file: '5', max-size: 50m}}", "in its container, logging.max-file=5 becomes 3"),
        ("logging: {driver: local, options: {tag: lp}}",
         "gone from its container: logging.tag=lp, logging.driver=local"),
        ("stop_grace_period: 2m", "in its container, stop_grace_period=2m becomes 60s"),
        ("labels: {traefik.enable: 'true'}", "gone from its container: labels"),
        ("user: '1000'",
         "its user in its container is 1000, and will be that of its image, which is root in the usual ones"),
    ],
)  # fmt: skip
def test_limit_of_a_container_that_its_new_one_lacks_is_said(line: str, words: str) -> None:
    assert of_compose(line) == [words]
    assert of_compose("stop_grace_period: 60s", "logging: {driver: json-file}") == []


def test_other_way_to_give_a_container_its_gpus_changes_only_which_it_sees() -> None:
    gpus = "runtime: nvidia", "environment: {NVIDIA_VISIBLE_DEVICES: '0'}"
    assert of_compose(*gpus, words="-nvidia 0") == ["its container sees GPU 0 alone, and then all of its host"]
    assert of_compose(*gpus) == ["gone from its container: runtime=nvidia"]


def test_example_of_a_question_is_no_program_of_the_future() -> None:
    """One node says where its program is, and the other one does not: the spec asks."""
    script = f"./livepeer {WORKER} -dataDir /srv/a\n/opt/lp/livepeer {WORKER} -dataDir /srv/b -cliAddr 127.0.0.1:7999\n"
    found = adopt([Source("start.sh", script)])
    assert "# TODO binary" in found.text
    assert [one for one in _said(found) if "its program" in one or "/path/" in one] == []


def test_limits_of_docker_run_and_of_a_pod_are_said() -> None:
    run = f"docker run --network host -m 8g --ulimit nofile=1024 --stop-timeout 60 livepeer/go-livepeer:v0.9.1 {WORKER}"
    assert _without_new(_said(adopt([Source("start.sh", run)]))) == [
        "gone from its container: memory=8g, ulimit=nofile=1024"
    ]
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: w}\nspec:\n  securityContext: {runAsUser: 1000, fsGroup: 7}\n"
        "  containers:\n"
        "  - image: livepeer/go-livepeer:v0.9.1\n    resources: {limits: {memory: 8Gi, nvidia.com/gpu: 1}}\n"
        f"    args: [{', '.join(WORKER.split())}]\n"
    )
    assert _without_new(_said(adopt([Source("pod.yaml", pod)]))) == [
        "its own network becomes that of the host",
        "its user in its container is 1000, and will be that of its image, which is root in the usual ones",
        "gone from its container: limits.memory=8Gi, fsGroup=7",
    ]


def test_what_fleetc_says_of_its_own_units_and_containers_is_what_they_have() -> None:
    unit = (ROOT / "templates" / "systemd" / "service.j2").read_text()
    plain, guarded = unit.split("{% if not gpus %}")
    lines = [re.findall(r"(?m)^([A-Za-z]+)=([^{\n]+)$", text) for text in (plain, guarded.split("{% endif %}")[0])]
    beside = {"WorkingDirectory", "User", "Type", "Wants", "After"}
    assert {key: value for key, value in lines[0] if key not in beside} == {
        **bounds.OF_UNITS, "SupplementaryGroups": "docker"
    }  # fmt: skip
    assert dict(lines[1]) == bounds.WITHOUT_GPUS
    compose = (ROOT / "templates" / "compose" / "compose.yaml.j2").read_text()
    for key in ("restart", "stop_grace_period"):
        assert f"\n    {key}: {bounds.OF_CONTAINERS[key]}\n" in compose
    options = re.findall(r'(?m)^        (max-[a-z]+): "?([^"\n]+)"?$', compose.partition("driver: json-file")[2])
    others = {f"logging.{key}": value for key, value in options}
    kept = {key: bounds.OF_CONTAINERS[key] for key in ("restart", "stop_grace_period")}
    assert kept | others == bounds.OF_CONTAINERS


def test_first_run_says_it_in_each_form(tmp_path: Path) -> None:
    """What is only told on request is told too late."""
    (tmp_path / "compose.yaml").write_text(
        COMPOSE.replace("SETTINGS", "    mem_limit: 8g\n").replace("    network_mode: host\n", "")
    )
    done = fleetc("adopt", "compose.yaml", "-o", "fleet.toml", cwd=tmp_path)
    for line in ("worker: gets the network of the host", "worker: loses mem_limit=8g"):
        assert f"  {line}\n" in done.stderr
    found = adopt([Source("compose.yaml", (tmp_path / "compose.yaml").read_text())])
    for form in AdoptionFormat:
        report = reported(found, form, located(found)).replace("\\", "")
        assert "its own network becomes that of the host" in report
        assert "gone from its container: mem_limit=8g" in report


@pytest.mark.parametrize("name", ["demo", "home-gpu"])
def test_tree_of_fleetc_changes_nothing_beside_its_settings(name: str) -> None:
    tree = ROOT / "inventories" / name / "rendered" / "hosts"
    texts = [Source(str(one), one.read_text()) for one in sorted(tree.rglob("*")) if one.is_file()]
    found = adopt([one for one in texts if one.name.endswith((".service", "compose.yaml", ".env", ".json"))])
    assert found.nodes and found.beside == ()


PROJECT = """\
services:
  gateway:
    image: livepeer/go-livepeer:v0.9.1
    container_name: lp-gw
    ports: ["8935:8935"]
    command: -gateway -orchAddr o.example.net:8935 -httpAddr 0.0.0.0:8935 -cliAddr 0.0.0.0:5935 -monitor
  idle:
    image: livepeer/go-livepeer:v0.9.1
    command: -gateway -orchAddr o.example.net:8935
  OTHER
"""
ALONE = PROJECT.replace("  OTHER\n", "")


def unreached(project: str, **files: str) -> list[str]:
    """The places that call a node where it does not listen any more, as a line and a message."""
    sources = [Source("compose.yaml", project), *(Source(name.replace("_", "."), text) for name, text in files.items())]
    found = adopt(sources, Said(hosts={"compose.yaml": "edge"}, addresses={"edge": "203.0.113.7"}))
    return [
        f"{one.primary.file}:{one.primary.line}: {one.diagnostic.message}"
        for one in located(found)
        if one.diagnostic.code == "adopt-name-unreached"
    ]


def test_targets_that_move_are_said_at_their_lines() -> None:
    config = "scrape_configs:\n- static_configs:\n  - targets: ['gateway:5935', 'idle:5935', 'gateway:9090']\n"
    lost = "leads to lp-gw today, and to nothing after the first rollout: lp-gw then listens on"
    proxy = "upstream lp { server lp-gw:8935; }\n"
    assert unreached(ALONE, prometheus_yml=config, nginx_conf=proxy) == [
        f"prometheus.yml:3: gateway:5935 {lost} 127.0.0.1:5935",
        f"nginx.conf:1: lp-gw:8935 {lost} 0.0.0.0:8935",
    ]
    other = "proxy:\n    image: caddy\n    environment: {UPSTREAM: 'http://gateway:8935'}"
    told = unreached(PROJECT.replace("OTHER", other))
    assert f"compose.yaml:12: gateway:8935 {lost} 0.0.0.0:8935" in told
    assert told[0].startswith("compose.yaml:10: proxy keeps the network that lp-gw and idle leave for that of the host")
    in_host_network = PROJECT.replace("    image: livepeer", "    network_mode: host\n    image: livepeer")
    assert unreached(in_host_network.replace("OTHER", other), prometheus_yml=config) == []


def test_scraped_address_is_lost_where_the_listener_moves_to_loopback() -> None:
    config = "scrape_configs:\n- static_configs:\n  - targets: ['203.0.113.7:5935', '203.0.113.9:5935']\n"
    (told,) = unreached(
        PROJECT.replace("  OTHER\n", "").replace('["8935', '["5935:5935", "8935'), prometheus_yml=config
    )
    assert told.startswith("prometheus.yml:3: 203.0.113.7:5935 leads to lp-gw today, and to nothing")
    assert unreached(ALONE, prometheus_yml=config) == []


@pytest.mark.parametrize(
    ("start", "asked", "said"),
    [
        ("cd /home/piet/lp\n./livepeer", 'node_user = "piet"  # who starts transcoder today?', False),
        ("cd /home/piet/lp\nsudo -u piet ./livepeer", "", False),
        ("/opt/lp/livepeer", "", True),
    ],
)
def test_user_that_no_source_says_is_asked_in_a_home_and_said_elsewhere(start: str, asked: str, said: bool) -> None:
    text = f"{start} -transcoder -orchAddr o.example.net:8935 -orchSecret /etc/lp/secret -dataDir /srv/lp\n"
    found = adopt([Source("start.sh", text)])
    assert (f"# TODO {asked}" in found.text) if asked else ("TODO node_user" not in found.text)
    words = "its user is not known, and will be livepeer, who must be able to read its files"
    assert (words in [one.words for one in found.beside]) is said


@pytest.mark.parametrize(
    ("lines", "whole", "brief"),
    [
        (["depends_on: [redis, orch]"], "it waits for redis, orch today (depends_on), and not then",
         "worker: no longer waits for redis, orch"),
        (["depends_on: {orch: {condition: service_healthy}}"], "it waits for orch today (depends_on), and not then",
         "worker: no longer waits for orch"),
        (["profiles: [gpu]"], "it starts only with the profile gpu today, and always then",
         "worker: starts always, no longer only with profile gpu"),
    ],
)  # fmt: skip
def test_when_a_service_starts_is_told_at_once(lines: list[str], whole: str, brief: str) -> None:
    assert whole in of_compose(*lines)
    text = COMPOSE.replace("SETTINGS", "".join(f"    {one}\n" for one in lines))
    assert f"  {brief}" in glance.changes(adopt([Source("compose.yaml", text)]))


@pytest.mark.parametrize(
    ("option", "seen"),
    [
        ("--gpus device=1", "GPU 1"),
        ("--gpus '\"device=0,2,3\"'", "GPUs 0, 2 and 3"),
        ("--runtime nvidia -e NVIDIA_VISIBLE_DEVICES=0", "GPU 0"),
        ("--gpus device=GPU-3f21a9", "GPU-3f21a9"),
        ("--gpus all", ""),
        ("", ""),
    ],
)
def test_gpus_that_a_container_sees_from_now_on_are_said(option: str, seen: str) -> None:
    """All GPUs of its host are there for it, so that -nvidia can name them by the numbers that they have there."""
    text = CONTAINER_LINE.replace("run ", f"run --name w {option} ")
    found = adopt([Source("start.sh", f"{text} -nvidia 0\n")])
    said = [words for words in _said(found) if "all of its host" in words]
    assert said == ([f"its container sees {seen} alone, and then all of its host"] if seen else [])
    brief = f"  w: GPUs that it sees {re.sub('^GPUs? ', '', seen)} -> all"
    assert (brief in glance.changes(found)) is bool(seen)


def test_node_without_gpus_gets_none_from_now_on() -> None:
    found = adopt([Source("start.sh", CONTAINER_LINE.replace("run ", "run --gpus device=1 "))])
    assert found.nodes and not [words for words in _said(found) if "all of its host" in words]


@pytest.mark.parametrize(
    ("env", "always"),
    [
        ("COMPOSE_PROFILES=ai,mon\n", True),
        ("COMPOSE_PROFILES='*'\n", True),
        ("COMPOSE_PROFILES=ai-2, mon\n", False),
        ("COMPOSE_PROFILES=$SOME\n", False),
        ("", False),
    ],
)
def test_profile_that_every_start_has_is_not_said_to_change(env: str, always: bool) -> None:
    text = COMPOSE.replace("SETTINGS", "    profiles: [gpu, ai]\n")
    found = adopt([Source("compose.yaml", text), Source(".env", env)])
    assert any("starts only with" in words for words in _said(found)) is not always


@pytest.mark.parametrize(
    ("text", "log", "then"),
    [
        (f"livepeer {WORKER} >> /var/log/lp.log 2>&1 &\n", "/var/log/lp.log", "the journal"),
        (f"{CONTAINER_LINE} > /var/log/lp.log\n", "/var/log/lp.log", "docker logs"),
        (CONTAINER_LINE.replace("run ", "run -d --name w ") + "\ndocker logs -f w >> /var/log/lp.log 2>&1 &\n",
         "/var/log/lp.log", "docker logs"),
        (CONTAINER_LINE.replace("run ", "run -d --name w ") + "\ndocker logs -f other >> /var/log/lp.log\n", "", ""),
        (f"livepeer {WORKER} > /dev/null 2>&1 &\n", "", ""),
        (f"livepeer {WORKER} 2>&1 | tee -a /var/log/lp.log\n", "/var/log/lp.log", "the journal"),
        (f"{CONTAINER_LINE} |& ts | sudo tee /var/log/lp.log >/dev/null\n", "/var/log/lp.log", "docker logs"),
        (f"livepeer {WORKER} | grep -v x\n echo done | tee /var/log/done\n", "", ""),
        (f"livepeer {WORKER}\n tee /var/log/done\n", "", ""),
        (f"livepeer {WORKER} || echo gone | tee /var/log/done\n", "", ""),
        (f"livepeer {WORKER} 2>&1\necho done > /var/log/done\n", "", ""),
        (f"livepeer {WORKER} > '/srv/x sk-proj-abcdefghijklmnopqrstuvwx'\n", "a file", "the journal"),
    ],
)  # fmt: skip
def test_log_that_a_script_keeps_in_a_file_is_told_at_once(text: str, log: str, then: str) -> None:
    found = adopt([Source("start.sh", text)])
    told = [line.partition(": ")[2] for line in glance.changes(found) if " instead of " in line]
    assert told == ([f"logs to {then} instead of {log}"] if log else [])
    assert (f"its script writes its log to {log}, and then it is in {then}" in _said(found)) is bool(log)
