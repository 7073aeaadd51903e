"""The monitoring project on a real host: the playbook brings it, Docker runs it, targets are up and an alert arrives.

The images are made of Debian's programs, under the names of the Compose file without their digests. Grafana is a
stand-in that says that it is well; Alertmanager 0.25 reads a webhook's URL from its configuration alone.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from fleetc.upstream.monitoring_images import monitoring_images
from tests.farm import Farm, Host
from tests.monitoring.test_project import DEBIAN, of_debian
from tests.support import fleetc

pytestmark = pytest.mark.usefixtures("processes")

SPEC = """
spec = 1

[fleet]
name = "seen"
network = "offchain"
node_release = "v0.9.1"

[hosts.watch]
address = "{address}"
ssh_port = {port}
public = "watch.example.net"
runtime = "docker"
blackbox_port = 9115

[gateways.gate]
host = "watch"
mode = "video"
orchestrators = ["orch.example.net:8935"]
monitor = true

[monitoring]
scrape_interval = "1s"
rule_files = ["/etc/fleetc-monitoring/own.yml"]

[monitoring.project]
webhook = {{ host_file = "/etc/fleetc-monitoring/webhook" }}
"""
RULES = """
groups:
  - name: own
    rules:
      - alert: HostIsMeasured
        expr: count by (host) (node_memory_MemTotal_bytes{job="node"}) > 0
"""
HOOK = """
import http.server
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        with open("/root/told", "ab") as told:
            told.write(self.rfile.read(int(self.headers["Content-Length"])) + b"\\n")
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", 9999), Hook).serve_forever()
"""
"""Keeps what Alertmanager sends."""
LIBRARIES = ("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2")
FOLDERS = {"prometheus": 65534, "alertmanager": 65534, "var/lib/grafana": 472, "tmp": 0}
"""The directories of the images that volumes lie over, and whose they are."""
ENTRIES = {
    "grafana": ["/bin/busybox", "httpd", "-f", "-p", "127.0.0.1:3000", "-h", "/www"],
    **{service: [f"/bin/{name}"] for service, name in DEBIAN.items()},
}


def root(busybox: bytes) -> bytes:
    """A root with all programs, as a tar."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:

        def add(name: str, content: bytes, mode: int) -> None:
            one = tarfile.TarInfo(name)
            one.size, one.mode = len(content), mode
            tar.addfile(one, io.BytesIO(content))

        for folder, owner in FOLDERS.items():
            one = tarfile.TarInfo(folder)
            one.type, one.mode, one.uid = tarfile.DIRTYPE, 0o755, owner
            tar.addfile(one)
        for path in (*LIBRARIES, *(str(shutil.which(name)) for name in DEBIAN.values())):
            name = path[1:] if path in LIBRARIES else f"bin/{Path(path).name}"
            add(name, Path(path).read_bytes(), 0o755)
        add("bin/busybox", busybox, 0o755)
        add("bin/wget", b'#!/bin/busybox sh\nexec /bin/busybox wget "$@"\n', 0o755)
        for path in map(str, sorted(Path("/usr/share/prometheus/alertmanager").glob("*.tmpl"))):
            add(path[1:], Path(path).read_bytes(), 0o644)
        add("etc/blackbox_exporter/config.yml", Path("/etc/prometheus/blackbox.yml").read_bytes(), 0o644)
        add("www/api/health", b"{}", 0o644)
    return made.getvalue()


@pytest.fixture(scope="module")
def host(farm: Farm) -> Iterator[Host]:
    """A host with Docker, the images, what people provide, and somebody who takes alerts."""
    missing = [name for name in DEBIAN.values() if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    host = farm.hosts["h3"]
    host.write("/root/root.tar", root(host.read("/bin/busybox")))
    commands = [
        "docker import /root/root.tar localhost/programs:1",
        "docker create --name made localhost/programs:1 /x",
    ]
    references = {service: image.image.partition("@")[0] for service, image in monitoring_images().items()}
    for service, words in ENTRIES.items():
        commands.append(f"docker commit --change 'ENTRYPOINT {json.dumps(words)}' made {references[service]}")
    done = host.run("sh", "-ec", "\n".join((*commands, "docker rm made")), timeout=300)
    assert done.returncode == 0, done.stderr
    host.write("/root/hook.py", HOOK.encode())
    host.run("systemd-run", "--unit=hook", "python3", "/root/hook.py")
    host.run("install", "-d", "-m", "0755", "/etc/fleetc-monitoring")
    host.write("/etc/fleetc-monitoring/own.yml", RULES.encode())
    host.write("/etc/fleetc-monitoring/webhook", b"http://127.0.0.1:9999/\n", 0o400)
    host.run("chown", "65534", "/etc/fleetc-monitoring/webhook")
    yield host
    host.run("sh", "-c", "docker ps -aq | xargs -r docker rm -f; docker volume prune -f; systemctl stop hook")
    host.run("docker", "image", "rm", "--force", "localhost/programs:1", *references.values())  # the node's own stays
    host.run("rm", "-rf", "/etc/fleetc-monitoring", "/opt/fleetc-monitoring", "/root/root.tar")


@pytest.fixture(scope="module")
def tree(farm: Farm, host: Host, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled tree, for the images of the test."""
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "fleet.toml").write_text(SPEC.format(address=host.address, port=farm.ssh_port), encoding="utf-8")
    done = fleetc("compile", folder)
    assert done.returncode == 0, done.stderr
    for name, change in (("compose.yaml", _without_digests), ("alertmanager.yml", _with_url)):
        file = folder / "rendered/monitoring" / name
        file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
    return folder / "rendered"


def _without_digests(text: str) -> str:
    for image in monitoring_images().values():
        text = text.replace(image.image, image.image.partition("@")[0])
    return text


def _with_url(text: str) -> str:
    changed = of_debian(text, {"webhook": "http://127.0.0.1:9999/"})
    return changed.replace("  receiver: people\n", "  receiver: people\n  group_wait: 1s\n")


def started(farm: Farm, tree: Path) -> str:
    """Run the playbook as the guide says; what Ansible printed last."""
    ssh = f"-o UserKnownHostsFile={farm.known_hosts} -o GlobalKnownHostsFile=/dev/null"
    given = {"ANSIBLE_SSH_EXTRA_ARGS": ssh, "ANSIBLE_PRIVATE_KEY_FILE": str(farm.ssh_private_key)}
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "monitoring.yml"]
    environment = {**os.environ, **given, "ANSIBLE_NOCOLOR": "1"}
    done = farm.controller(command, env=environment, cwd=tree / "ansible", timeout=400)
    logs = "docker ps -a; for one in $(docker ps -aq); do docker logs --tail 5 $one; done 2>&1"
    assert done.returncode == 0, done.stdout + done.stderr + farm.hosts["h3"].run("sh", "-c", logs).stdout
    return str(done.stdout)


def until(found: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 90
    while not found():
        assert time.monotonic() < end, what
        time.sleep(1)


def asked(host: Host, query: str) -> dict[str, str]:
    """The value of each series of a query, by its instance."""
    url = f"http://127.0.0.1:9090/api/v1/query?query={query}"
    done = host.run("python3", "-c", f"import urllib.request as r; print(r.urlopen({url!r}).read().decode())")
    series = json.loads(done.stdout)["data"]["result"]
    return {one["metric"]["instance"]: one["value"][1] for one in series}


@pytest.mark.slow
def test_playbook_starts_all_of_it_and_an_alert_arrives(farm: Farm, host: Host, tree: Path) -> None:
    assert "changed=3" in started(farm, tree)
    names = host.run("docker", "ps", "--format", "{{.Names}} {{.Status}}").stdout.splitlines()
    assert len(names) == 5 and all("(healthy)" in name for name in names), names
    until(lambda: len(asked(host, "up")) == 2, "both targets")
    assert asked(host, "up") == {"gate": "0", "watch-node": "1"}, "no node runs here"
    until(lambda: host.run("test", "-s", "/root/told").returncode == 0, "the webhook")
    alerts = json.loads(host.read("/root/told").splitlines()[0])["alerts"]
    assert [(one["labels"]["alertname"], one["labels"]["host"]) for one in alerts] == [("HostIsMeasured", "watch")]

    assert "changed=0" in started(farm, tree)
    rules = tree / "monitoring/alerts.yml"
    rules.write_text(rules.read_text(encoding="utf-8").replace("NodeDown", "NodeAway"), encoding="utf-8")
    assert "changed=2" in started(farm, tree)
    url = "http://127.0.0.1:9090/api/v1/rules"
    found = host.run("python3", "-c", f"import urllib.request as r; print(r.urlopen({url!r}).read().decode())")
    assert "NodeAway" in found.stdout and "NodeDown" not in found.stdout


def test_compose_files_name_what_is_started(tree: Path) -> None:
    services = yaml.safe_load((tree / "monitoring/compose.yaml").read_text(encoding="utf-8"))["services"]
    assert set(services) == set(ENTRIES)
