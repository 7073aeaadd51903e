"""A real Prometheus and a real agent with the emitted configurations, before stand-ins that serve metrics over HTTP."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import urlopen

import pytest

from tests.monitoring.support import lay_out, program, running
from tests.support import compile_text

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

SPEC = """
spec = 1

[fleet]
name = "loop"
network = "offchain"
node_release = "v0.9.1"
avatar_release = "v1.3.6"

[hosts.front]
address = "127.0.0.1"
public = "front.example.net"
runtime = "docker"
region = "eu"

[hosts.gpu]
address = "127.0.0.2"
public = "gpu.example.net"
runtime = "docker"

[gateways.gate]
host = "front"
mode = "video"
orchestrators = ["orch"]
cli = "127.0.0.1:{gate}"
monitor = true

[orchestrators.orch]
host = "gpu"
mode = "video"
cli = "127.0.0.1:{orch}"
monitor = true

[avatars.stage]
host = "{stage}"
allow = ["payments"]
payments = {{ addresses = ["203.0.113.90"] }}
slots = {slots}

[monitoring]
host = "front"
receiver = "http://127.0.0.1:{prometheus}/api/v1/write"
scrape_interval = "1s"
verify_every = "15m"
verify_exporter = "127.0.0.1:{verified}"
"""
SILENT = """
labels = { team = "ops {{ .Value }} $HOME" }

[silences.accepted]
code = "alerts-reach-nobody"
reason = "the test reads the alerts of Prometheus itself"
"""


def loop(stage: str, blackbox: int, more: str, **numbers: object) -> str:
    """A fleet on loopback addresses, with an avatar stack and a blackbox exporter on one of its hosts."""
    text = SPEC.format(stage=stage, **numbers)
    return text.replace(f"[hosts.{stage}]", f"[hosts.{stage}]\nblackbox_port = {blackbox}") + more


class Node(BaseHTTPRequestHandler):
    """Serves what a node serves, or a textfile, and answers probes as a blackbox exporter does: slot 1 is down."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/metrics" and parse_qs(address.query) == {"collect[]": ["textfile"]}:
            text = (
                'fleetc_verify_time_seconds{fleet="loop"} 1.7e+09\n'
                'fleetc_verify_findings{fleet="loop",host="front",node="gate",kind="drift"} 2\n'
                'fleetc_verify_findings{fleet="loop",host="gpu",node="",kind="drift"} 0\n'
            )
        elif address.path == "/metrics":
            text = (
                'livepeer_current_sessions_total{node_id="n",node_type="bctr"} 9\n'
                'livepeer_max_sessions_total{node_id="n",node_type="bctr"} 10\nprocess_start_time_seconds 1.7e+09\n'
            )
        elif address.path == "/probe" and parse_qs(address.query)["module"] == ["http_2xx"]:
            (target,) = parse_qs(address.query)["target"]
            text = f"probe_success {0 if target == 'http://127.0.0.1:8081/healthz' else 1}\n"
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Node)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def asked(port: int, query: str) -> list[dict[str, Any]]:
    try:
        with urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={quote(query)}", timeout=5) as answer:
            found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
            return found
    except (URLError, ConnectionError, TimeoutError):
        return []


def waited(port: int, query: str, count: int, log: Path) -> list[dict[str, Any]]:
    """The series of a query, once there are as many as expected."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = asked(port, query)
        if len(found) == count:
            return found
        time.sleep(0.5)
    raise AssertionError(f"{query}: {asked(port, query)}\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}")


def test_targets_are_up_with_their_labels_and_alerts_are_judged(tmp_path: Path) -> None:
    program("prometheus")
    with ExitStack() as stack:
        ports = {name: stack.enter_context(serving()) for name in ("gate", "orch", "blackbox", "verified")}
        central, agent = free_port(), free_port()
        compiled = compile_text(loop("gpu", more=SILENT, slots=2, prometheus=central, **ports))
        folder = lay_out(compiled, tmp_path / "monitoring")
        assert compiled.checked.diagnostics == ()
        log = tmp_path / "central.log"
        common = ("--log.level=warn",)
        stack.enter_context(
            running(
                log,
                program("prometheus"),
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={tmp_path / 'central'}",
                f"--web.listen-address=127.0.0.1:{central}",
                "--web.enable-remote-write-receiver",
                *common,
            )
        )
        stack.enter_context(
            running(
                tmp_path / "agent.log",
                program("prometheus"),
                "--enable-feature=agent",
                f"--config.file={folder / 'agents' / 'gpu.yml'}",
                f"--storage.agent.path={tmp_path / 'agent'}",
                f"--web.listen-address=127.0.0.1:{agent}",
                *common,
            )
        )
        up = {one["metric"]["instance"]: one for one in waited(central, 'up{fleet="loop"}', 5, log)}
        assert {name: one["value"][1] for name, one in up.items()} == dict.fromkeys(up, "1")
        assert up["gate"]["metric"] == {
            **{
                "__name__": "up",
                "job": "livepeer",
                "instance": "gate",
                "fleet": "loop",
                "host": "front",
                "node": "gate",
            },
            **{"role": "gateway", "region": "eu", "mode": "video", "team": "ops {{ .Value }} $HOME"},
        }
        assert up["orch"]["metric"]["host"] == "gpu" and "region" not in up["orch"]["metric"]
        slots = {one["metric"].get("slot"): one["value"][1] for one in waited(central, "probe_success", 3, log)}
        assert slots == {"0": "1", "1": "0", None: "1"}
        (pending,) = waited(central, 'ALERTS{alertname="AvatarSignalingSilent"}', 1, log)
        assert pending["metric"]["alertstate"] == "pending" and pending["metric"]["slot"] == "1"
        near = waited(central, 'ALERTS{alertname="SessionsNearLimit"}', 2, log)
        assert {one["metric"]["node"] for one in near} == {"gate", "orch"}
        (drift,) = waited(central, 'ALERTS{alertname="VerifyDrift", alertstate="firing"}', 1, log)
        assert (drift["metric"]["host"], drift["metric"]["node"]) == ("front", "gate")
        waited(central, 'ALERTS{alertname="VerifyStale"}', 1, log)
