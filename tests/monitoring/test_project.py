"""The monitoring project: its files as Compose, Alertmanager and Grafana read them, and its programs at work.

The programs are those of Debian's packages, with the arguments of the Compose files. Grafana has none there: its files
are compared with what its documentation says of them.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import yaml

from fleetc.blueprint.monitoring import PROJECT_DIRECTORY
from fleetc.upstream.monitoring_images import monitoring_images
from tests.emit import programs
from tests.monitoring.support import SPEC, files, lay_out, program, running, watched, whole
from tests.monitoring.test_running import free_port, loop, serving, waited
from tests.support import compile_text

pytestmark = pytest.mark.usefixtures("processes")

DEBIAN = {
    "prometheus": "prometheus",
    "alertmanager": "prometheus-alertmanager",
    "blackbox-exporter": "prometheus-blackbox-exporter",
    "node-exporter": "prometheus-node-exporter",
}
"""The program of each service, in Debian."""
PASSWORD = 'grafana_password = { host_file = "/etc/fleetc-monitoring/grafana" }\n'

PROJECT = """
[monitoring.project]
prometheus = "127.0.0.1:{prometheus}"
alertmanager_port = {alertmanager}
node_exporter_port = {measured}
webhook = {{ host_file = "{webhook}" }}
heartbeat = {{ host_file = "/etc/heartbeat" }}
"""


def project(text: str, name: str = "compose.yaml") -> dict[str, Any]:
    """The services of a Compose file, as YAML has them."""
    found: dict[str, Any] = yaml.safe_load(files(compile_text(text))[name])["services"]
    return found


# --- the files --------------------------------------------------------------------------------------


def test_compose_reads_every_project(tmp_path: Path) -> None:
    compose = programs.program("docker-compose")
    folder = lay_out(compile_text(SPEC + PASSWORD), tmp_path)
    for name in ("compose.yaml", "agents/gpu.compose.yaml", "agents/second.compose.yaml"):
        done = programs.run(compose, "--file", name, "config", "--format", "json", cwd=folder, home=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), name
        parsed = json.loads(done.stdout)
        assert parsed["name"] == "fleetc-monitoring"
        for service, container in parsed["services"].items():
            assert container["image"] == monitoring_images()[service].image
            assert (container["network_mode"], container["restart"]) == ("host", "always")
            assert container["cap_drop"] == ["ALL"] and "privileged" not in container
            assert container["user"] == monitoring_images()[service].user
            for volume in container.get("volumes", ()):
                assert volume["type"] == "volume" or volume["read_only"], "nothing of the host is written to"
            kept = [volume["source"] for volume in container.get("volumes", ()) if volume["type"] == "volume"]
            assert set(kept) <= set(parsed["volumes"])


def test_each_host_runs_what_it_needs() -> None:
    found = {one.host: [container.name for container in one.containers] for one in (watched().programs or ([],))[0]}
    assert found == {
        "front": ["prometheus", "alertmanager", "grafana", "node-exporter"],
        "gpu": ["prometheus", "blackbox-exporter", "node-exporter"],
        "second": ["prometheus", "node-exporter"],
    }


def test_images_have_an_exact_version_and_a_digest() -> None:
    for name, image in monitoring_images().items():
        repository, _, rest = image.image.partition(":")
        version, _, digest = rest.partition("@sha256:")
        assert repository.count("/") == 1 and version.count(".") == 2, name
        assert len(digest) == 64 and set(digest) <= set("0123456789abcdef"), name


@pytest.mark.parametrize(
    ("file", "program"),
    [("alertmanager.yml", "alertmanager"), ("prometheus.yml", "prometheus"), ("agents/gpu.yml", "prometheus")],
)
def test_files_name_the_version_that_they_need_and_the_project_has_it(file: str, program: str) -> None:
    (oldest,) = re.findall(r"(\d+\.\d+) or newer", files(whole())[file])
    version = monitoring_images()[program].image.partition(":v")[2].partition("@")[0]
    assert [int(part) for part in version.split(".")] >= [int(part) for part in oldest.split(".")]


def test_everything_listens_on_loopback_unless_the_spec_opens_it() -> None:
    one = SPEC[: SPEC.index("[hosts.gpu]")] + '[orchestrators.orch]\nhost = "front"\nmode = "video"\nmonitor = true\n'
    one = one.replace('"arbitrum-one-mainnet"\nrpc = { env = "RPC_URL" }', '"offchain"')
    services = project(one + '[monitoring.project]\nslack = { host_file = "/etc/slack" }\n')
    words = [word for service in services.values() for word in service.get("command", ())]
    listen = {word.partition("=")[2] for word in words if word.startswith("--web.listen-address=")}
    assert listen == {"127.0.0.1:9090", "127.0.0.1:9093", "127.0.0.1:9100"}
    assert services["grafana"]["environment"]["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    assert "--web.enable-remote-write-receiver" not in words, "no agent writes"


def test_files_of_the_host_have_one_path_inside_and_outside() -> None:
    more = 'receiver_token = { host_file = "/etc/token" }\nrule_files = ["/etc/rules/own.yml"]\n[monitoring.project]'
    text = SPEC.replace("[monitoring.project]", more) + PASSWORD
    found = {name: binds(service) for name, service in project(text).items()}
    assert found == {
        "prometheus": ["/etc/rules/own.yml"],
        "alertmanager": [f"/etc/fleetc-monitoring/{kind}" for kind in ("webhook", "slack", "heartbeat")],
        "grafana": ["/etc/fleetc-monitoring/grafana"],
        "node-exporter": [],
    }
    assert binds(project(text, "agents/gpu.compose.yaml")["prometheus"]) == ["/etc/token"]


def binds(service: dict[str, Any]) -> list[str]:
    """The files of the host that a service sees under their own path."""
    mounts = [volume for volume in service.get("volumes", ()) if volume["type"] == "bind"]
    assert all(not volume["bind"]["create_host_path"] for volume in mounts if volume["source"] == volume["target"])
    return [volume["source"] for volume in mounts if volume["source"] == volume["target"]]


def test_grafana_has_a_user_only_with_a_password() -> None:
    without, given = (project(text)["grafana"]["environment"] for text in (SPEC, SPEC + PASSWORD))
    anonymous = {name: text for name, text in without.items() if name not in given}
    assert anonymous == {
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_BASIC_ENABLED": "false",
        "GF_AUTH_DISABLE_LOGIN_FORM": "true",
        "GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true",
    }
    assert given["GF_SECURITY_ADMIN_PASSWORD__FILE"] == "/etc/fleetc-monitoring/grafana"


def test_grafana_finds_the_sources_and_the_dashboard() -> None:
    found = files(whole())
    services = yaml.safe_load(found["compose.yaml"])["services"]
    provisioning = Path(services["grafana"]["environment"]["GF_PATHS_PROVISIONING"]).relative_to(PROJECT_DIRECTORY)
    sources = yaml.safe_load(found[f"{provisioning}/datasources/fleetc.yml"])
    assert sources["apiVersion"] == 1
    known = {"name", "uid", "type", "access", "url", "isDefault", "editable", "jsonData"}
    assert all(source.keys() <= known for source in sources["datasources"])
    assert [(one["type"], one["url"], one.get("isDefault", False)) for one in sources["datasources"]] == [
        ("prometheus", "http://203.0.113.10:9190", True),
        ("alertmanager", "http://127.0.0.1:9093", False),
    ]
    (provider,) = yaml.safe_load(found[f"{provisioning}/dashboards/fleetc.yml"])["providers"]
    assert provider.keys() <= {"name", "type", "allowUiUpdates", "disableDeletion", "options"}
    assert (provider["type"], provider["options"]) == ("file", {"path": PROJECT_DIRECTORY})
    mounts = [volume["target"] for volume in services["grafana"]["volumes"] if volume["source"] == "."]
    assert mounts == [PROJECT_DIRECTORY]
    home = services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home == f"{PROJECT_DIRECTORY}/dashboard.json" and "dashboard.json" in found
    assert [name for name in found if name.endswith(".json")] == ["dashboard.json"], "Grafana reads every one"


@pytest.mark.parametrize("kinds", [("webhook", "slack", "heartbeat"), ("webhook",), ("slack",), ("heartbeat",), ()])
def test_alertmanager_accepts_its_configuration(kinds: tuple[str, ...], tmp_path: Path) -> None:
    amtool = programs.program("amtool")
    text = "\n".join(
        line for line in SPEC.splitlines() if line.partition(" ")[0] not in {"webhook", "slack", "heartbeat"} - {*kinds}
    )
    config = files(compile_text(text))["alertmanager.yml"]
    parsed = yaml.safe_load(config)
    people, *others = parsed["receivers"]
    assert set(people) == {"name", *(f"{kind}_configs" for kind in kinds if kind != "heartbeat")}
    assert [other["name"] for other in others] == [kind for kind in kinds if kind == "heartbeat"]
    urls = dict.fromkeys(("webhook", "heartbeat"), "http://127.0.0.1/")
    (tmp_path / "alertmanager.yml").write_text(of_debian(config, urls), encoding="utf-8")
    done = programs.run(amtool, "check-config", tmp_path / "alertmanager.yml", cwd=tmp_path, home=tmp_path)
    assert done.returncode == 0, done.stderr
    words = ("config", "routes", "test", f"--config.file={tmp_path / 'alertmanager.yml'}")
    listener = "heartbeat" if "heartbeat" in kinds else "people"
    for label, receiver in (("severity=warning", "people"), ("alertname=Heartbeat", listener)):
        assert programs.run(amtool, *words, label, cwd=tmp_path, home=tmp_path).stdout == f"{receiver}\n"


def of_debian(config: str, urls: dict[str, str]) -> str:
    """A configuration for Debian's Alertmanager, 0.25: it reads a webhook's URL from the configuration alone."""
    lines = (
        f'      - url: "{urls["heartbeat" if "heartbeat" in line else "webhook"]}"'
        if line.startswith("      - url_file:")
        else line
        for line in config.splitlines()
    )
    return "\n".join((*lines, ""))


# --- the programs -----------------------------------------------------------------------------------


class Hook(BaseHTTPRequestHandler):
    """Keeps what Alertmanager sends."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.extend(body["alerts"])  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def hooked() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The URL of a webhook, and the alerts that arrive there."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    told: list[dict[str, Any]] = []
    server.told = told  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def command(service: str, written: list[str], folder: Path, data: Path, *, agent: bool) -> list[str]:
    """The words of a service for Debian's program: the paths of the container are those of the test.

    Prometheus 2.42 calls the agent a feature. All run on one machine here, so an agent gets a port of its own.
    """
    replaced = {
        PROJECT_DIRECTORY: str(folder),
        "/prometheus": str(data),
        "/alertmanager": str(data),
        "/etc/blackbox_exporter/config.yml": "/etc/prometheus/blackbox.yml",
    }
    words = [program(DEBIAN[service])]
    for word in written:
        flag, equals, value = word.partition("=")
        for path, ours in replaced.items():
            if value == path or value.startswith(f"{path}/"):
                value = ours + value.removeprefix(path)
                break
        words.append(flag + equals + value)
    if agent:
        words = ["--enable-feature=agent" if word == "--agent" else word for word in words]
        words = [word for word in words if not word.startswith("--web.listen")]
        words.append(f"--web.listen-address=127.0.0.1:{free_port()}")
    return words


def answers(url: str) -> None:
    """Wait until a program says that it works, as its health check asks it."""
    end = time.monotonic() + 30
    while True:
        try:
            with urlopen(url, timeout=5) as answer:
                assert answer.status == 200
                return
        except (URLError, ConnectionError):
            assert time.monotonic() < end, url
            time.sleep(0.2)


def test_targets_are_up_and_an_alert_arrives(tmp_path: Path) -> None:
    for name in DEBIAN.values():
        program(name)
    with ExitStack() as stack:
        served = {name: stack.enter_context(serving()) for name in ("gate", "orch", "verified")}
        own = {name: free_port() for name in ("prometheus", "alertmanager", "blackbox", "measured")}
        url, told = stack.enter_context(hooked())
        heard, beats = stack.enter_context(hooked())
        more = PROJECT.format(**own, webhook=tmp_path / "url")
        compiled = compile_text(loop("front", more=more, slots=1, **served, **own))
        assert compiled.checked.diagnostics == ()
        folder = lay_out(compiled, tmp_path / "project")
        config = folder / "alertmanager.yml"
        text = of_debian(config.read_text(encoding="utf-8"), {"webhook": url, "heartbeat": heard})
        config.write_text(
            text.replace("  receiver: people\n", "  receiver: people\n  group_wait: 1s\n"), encoding="utf-8"
        )
        log = tmp_path / "prometheus.log"
        for file, agent in (("compose.yaml", False), ("agents/gpu.compose.yaml", True)):
            services = yaml.safe_load((folder / file).read_text(encoding="utf-8"))["services"]
            for name, service in services.items():
                if name not in DEBIAN or (agent and name == "node-exporter"):
                    continue
                data = tmp_path / f"{name}-{agent}"
                words = command(name, service["command"], (folder / file).parent, data, agent=agent)
                words = [word.replace("--path.rootfs=/host", "--path.rootfs=/") for word in words]
                if name == "prometheus" and not agent:  # the heartbeat is raised before Alertmanager listens
                    words.append("--rules.alert.resend-delay=1s")
                stack.enter_context(running(tmp_path / f"{name}{'-agent' * agent}.log", *words))
                if not agent:
                    answers(service["healthcheck"]["test"][-1])
        up = {
            one["metric"]["instance"]: one["value"][1] for one in waited(own["prometheus"], 'up{fleet="loop"}', 6, log)
        }
        assert up == dict.fromkeys(
            ("gate", "orch", "front-node", "gpu-node", "vtuber-stage-0", "front-orchestrator-health"), "1"
        )
        waited(own["prometheus"], 'probe_success{fleet="loop"}', 2, log)
        full = waited(own["prometheus"], 'max by (host) (node_filesystem_size_bytes{fleet="loop", job="node"})', 2, log)
        assert {one["metric"]["host"] for one in full} == {"front", "gpu"}
        end = time.monotonic() + 60
        while not (beats and any(alert["labels"]["alertname"] == "VerifyDrift" for alert in told)):
            assert time.monotonic() < end, (beats, told)
            time.sleep(0.2)
        drift = next(alert for alert in told if alert["labels"]["alertname"] == "VerifyDrift")
        assert (drift["status"], drift["labels"]["host"], drift["labels"]["node"]) == ("firing", "front", "gate")
        assert drift["annotations"]["summary"] == "What runs on host front is not what the spec says"
        assert {alert["labels"]["alertname"] for alert in beats} == {"Heartbeat"}
        assert "Heartbeat" not in {alert["labels"]["alertname"] for alert in told}
