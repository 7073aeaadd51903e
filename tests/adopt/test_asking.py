"""`fleetc adopt` asks at a terminal what the sources leave open, and takes the same answers with `--set`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import terminals
from tests.support import fleetc
from tests.terminals import Seen

pytestmark = pytest.mark.usefixtures("processes")

ORCH = """\
livepeer -orchestrator -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword ~/pw \\
  -ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr orch.example.net:8935 -pricePerUnit "$PRICE" \\
  -orchSecret /etc/livepeer/secret -cliAddr 0.0.0.0:7935
"""
NOTES = """\
# Gateway
```
docker run -d --name gw --network host -v /srv/gw:/root/.lpData livepeer/go-livepeer:v0.9.1 -gateway \\
  -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /root/.lpData/pw \\
  -httpAddr 0.0.0.0:8935 -orchWebhookUrl https://lists.example.net/o.json -maxPricePerUnit 1000
```
# Box
```
docker run -d --name orch --network host -v /srv/orch:/root/.lpData livepeer/go-livepeer:v0.9.1 -orchestrator \\
  -transcoder -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /root/.lpData/pw \\
  -ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr orch.example.net:8935 -pricePerUnit 900
```
"""


def typed(folder: Path, *keys: str, arguments: Sequence[str], **more: Any) -> Seen:
    """What the terminal shows where somebody types lines; keys are as they are."""
    pressed = [key.encode() if key.startswith(("\x03", "\x04")) else f"{key}\n".encode() for key in keys]
    command = ("adopt", *arguments, "-o", "fleet.toml")
    return terminals.on_terminal(*command, keys=pressed, waits=_asks, cwd=folder, **more)


def _asks(_: bytes, new: bytes) -> bool:
    return new.endswith((b": ", b"] "))


def spec(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "fleet.toml").read_text())


@pytest.fixture
def script(tmp_path: Path) -> tuple[str, ...]:
    """A script with five questions, as the arguments that name it."""
    (tmp_path / "start.sh").write_text(ORCH)
    return ("main@192.0.2.1=start.sh",)


def test_answers_at_the_terminal_make_a_spec_that_compiles(tmp_path: Path, script: tuple[str, ...]) -> None:
    keys = ("home", "/home/lp", "?", "0.8.9", "", "", "850", "850 wei / pixel")
    seen = typed(tmp_path, *keys, arguments=script)
    assert seen.code == 0, seen.text
    assert "write an absolute path on the host" in seen.text
    assert "v0.9.1 is the newest that fleetc knows)" in seen.text
    assert '"850" is not a price; write it like' in seen.text
    found = spec(tmp_path)
    assert found["fleet"]["node_release"] == "v0.8.9"
    assert found["wallets"]["earner"]["password"] == {"host_file": "/home/lp/pw"}
    assert found["orchestrators"]["orchestrator"]["price"] == "850 wei / pixel"
    assert found["orchestrators"]["orchestrator"]["cli"] == "127.0.0.1:7935"
    assert "# TODO" not in (tmp_path / "fleet.toml").read_text()
    assert seen.text.count("wrote fleet.toml: ") == 1
    assert "-pricePerUnit: ${PRICE} -> 850 wei / pixel: as you answered" in seen.text
    assert "adopt-value-unknown" not in seen.text and "adopt-listener-exposed" not in seen.text
    assert "next: fleetc adopt main@192.0.2.1=start.sh --home /home/lp --compare fleet.toml\n" in seen.text
    assert fleetc("check", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("end", ["\x03", "\x04"])
def test_ending_keeps_what_was_answered(tmp_path: Path, script: tuple[str, ...], end: str) -> None:
    seen = typed(tmp_path, "/home/lp", "v0.8.9", end, arguments=script)
    assert seen.code == 0, seen.text
    assert "\nstopped: your answers are kept, and the rest stays TODO\n" in seen.text
    text = (tmp_path / "fleet.toml").read_text()
    assert 'node_release = "v0.8.9"' in text and "TODO node_release" not in text
    assert "# TODO price" in text and "# TODO cli" in text
    again = typed(
        tmp_path, "", "", "850 wei / pixel", arguments=(*script, "--home", "/home/lp", "--answers", "fleet.toml")
    )
    assert again.code == 0 and "questions: Enter leaves" in again.text
    assert fleetc("check", cwd=tmp_path).returncode == 0


def test_host_is_asked_before_a_port_that_two_nodes_of_one_host_would_share(tmp_path: Path) -> None:
    (tmp_path / "NOTES.md").write_text(NOTES)
    account = "0x2222222222222222222222222222222222222222"
    keys = ("gw-1", "gw-1@198.51.100.7", "rack@a b", "rack@198.51.100.8", account, "80000000000000000",
            "80000000000000000 wei", "0.02 ETH", "", "")  # fmt: skip
    seen = typed(tmp_path, *keys, arguments=("NOTES.md",))
    assert seen.code == 0, seen.text
    assert "which host runs gw and orch?" in seen.text
    assert "  write NAME@ADDRESS\n" in seen.text and '"a b" is not a host' in seen.text
    assert "both use port" not in seen.text
    assert seen.text.count("curl -s http://") == 1 and " in wei\n  such as 500000000000000000 wei: " in seen.text
    assert "reserve: the same command shows it, as FundsRemaining\n  such as 500000000000000000 wei: " in seen.text
    shown = re.search(r"payer.deposit: (.*\n.*wei: )(?:.*\n)*wallets.payer.reserve: (.*\n.*wei: )", seen.text)
    assert shown is not None and len(" ".join(shown.groups()).split()) <= 26
    found = spec(tmp_path)
    assert found["hosts"]["rack"]["address"] == "198.51.100.8"
    assert found["gateways"]["gw"]["host"] == "gw-1" and found["orchestrators"]["orch"]["host"] == "rack"
    assert found["wallets"]["payer"]["address"] == account
    assert found["wallets"]["payer"]["deposit"] == "80000000000000000 wei"
    hosts = "--host gw-1@198.51.100.7=gw --host rack@198.51.100.8=orch"
    assert f"next: fleetc adopt NOTES.md {hosts} --compare fleet.toml\n" in seen.text


def test_no_port_is_asked_while_the_hosts_are_open(tmp_path: Path) -> None:
    (tmp_path / "NOTES.md").write_text(NOTES)
    seen = typed(tmp_path, "", "\x03", arguments=("NOTES.md",))
    assert " both use port " not in seen.text.partition("stopped: ")[0]
    assert "# TODO host" in (tmp_path / "fleet.toml").read_text()


def test_units_that_use_one_port_may_be_of_two_hosts(tmp_path: Path) -> None:
    chain = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /pw -ethAcctAddr"
    for name, words in (
        ("orch", f"-orchestrator -transcoder {chain} 0x{'1' * 40} -serviceAddr o.example.net:8935 -pricePerUnit 9 "
         "-redeemerAddr 10.8.0.2:8935 -dataDir /srv/orch"),
        ("redeemer", f"-redeemer {chain} 0x{'2' * 40} -ethOrchAddr 0x{'1' * 40} -httpAddr 10.8.0.2:8935 "
         "-cliAddr 127.0.0.1:7937 -dataDir /srv/red"),
    ):  # fmt: skip
        (tmp_path / f"{name}.service").write_text(f"[Service]\nExecStart=/usr/bin/livepeer {words}\n")
    keys = ("back@203.0.113.45", "front@203.0.113.44", "v0.9.1", "")
    seen = typed(tmp_path, *keys, arguments=("orch.service", "redeemer.service"))
    assert "use port 8935 of host host-1; are they on different hosts?\n" in seen.text
    found = spec(tmp_path)
    assert found["redeemers"]["redeemer"]["host"] == "back" and found["orchestrators"]["orch"]["host"] == "front"
    assert found["redeemers"]["redeemer"]["http"] == "10.8.0.2:8935" and found["hosts"].keys() == {"back", "front"}


def test_host_that_nobody_named_is_named_with_its_address(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(
        ORCH.replace('"$PRICE"', "9").replace("~/", "/").replace("0.0.0.0:7935", "127.0.0.1:7935")
    )
    seen = typed(tmp_path, "?", "rack@a b", "rack@198.51.100.8", "/home/lp", "v0.9.1", "", arguments=("start.sh",))
    assert "hosts.host-1.address: what is the host of orchestrator called, and where do you log in?\n" in seen.text
    assert "  yes for host-1@orch.example.net, NAME@ADDRESS, such as gpu-1@203.0.113.20: " in seen.text
    assert "  address: Address that Ansible connects to.\n  no source names the host of orchestrator, so" in seen.text
    assert "  Enter leaves it open, as a TODO in the spec\n" in seen.text and '"a b" is not a host' in seen.text
    found = spec(tmp_path)
    assert found["hosts"].keys() == {"rack"} and found["hosts"]["rack"]["address"] == "198.51.100.8"
    assert "# TODO" not in (tmp_path / "fleet.toml").read_text()


def test_host_that_nobody_named_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(
        ORCH.replace('"$PRICE"', "9").replace("~/", "/").replace("0.0.0.0:7935", "127.0.0.1:7935")
    )
    left = typed(tmp_path, "", "/home/lp", "v0.9.1", "", arguments=("start.sh",))
    assert left.text.count("where do you log in?") == 1
    assert (tmp_path / "fleet.toml").read_text().count("# TODO") == 1
    (tmp_path / "fleet.toml").unlink()
    done = typed(tmp_path, "yes", "/home/lp", "v0.9.1", "", arguments=("start.sh",))
    assert (
        "next: fleetc adopt start.sh --home /home/lp --host host-1@orch.example.net --compare fleet.toml\n" in done.text
    )
    assert spec(tmp_path)["hosts"]["host-1"]["address"] == "orch.example.net"
    assert "# TODO" not in (tmp_path / "fleet.toml").read_text()


def test_units_of_two_folders_are_asked_by_folder_whose_names_are_offered(tmp_path: Path) -> None:
    units = {
        "gpu-1/orch": "-orchestrator -transcoder -serviceAddr o.example.net:8935 -pricePerUnit 5 -orchSecret /s",
        "gpu-1/worker": "-transcoder -orchAddr o.example.net:8935 -orchSecret /s -cliAddr 127.0.0.1:7936",
        "edge/gate": "-gateway -orchAddr https://o.example.net:8935 -httpAddr 127.0.0.1:9935",
    }
    for name, flags in units.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        unit = f"[Service]\nExecStart=/usr/bin/livepeer {flags} -dataDir /d\n"
        (tmp_path / f"{name}.service").write_text(unit)
    seen = typed(tmp_path, "edge@192.0.2.2", "yes", "\x04", arguments=("gpu-1", "edge"))
    assert seen.code == 0, seen.text
    assert "  gate: NAME@ADDRESS, such as edge@203.0.113.20: " in seen.text
    assert '  orch and worker: yes for gpu-1@o.example.net, NAME@ADDRESS, or edge, or "each": ' in seen.text
    found = spec(tmp_path)
    assert found["hosts"]["gpu-1"]["address"] == "o.example.net" and found["gateways"]["gate"]["host"] == "edge"
    assert found["orchestrators"]["orch"]["host"] == found["transcoders"]["worker"]["host"] == "gpu-1"


def test_host_of_an_inventory_is_offered_where_somebody_types_its_address(tmp_path: Path) -> None:
    (tmp_path / "hosts.ini").write_text("".join(f"[g]\nber-{n} ansible_host=192.0.2.{n}\n" for n in (1, 2, 3)))
    for name in ("a", "b", "c"):
        unit = f"[Service]\nExecStart=/usr/bin/livepeer -transcoder -orchAddr o.example.net:8935 -dataDir /d/{name}"
        (tmp_path / f"{name}.service").write_text(f"{unit} -orchSecret /s -cliAddr 127.0.0.1:7935 -nvidia 0\n")
    keys = ("ber-1", "ber-2", "ber-9@192.0.2.3", "ber-3", "v0.9.1")
    seen = typed(tmp_path, *keys, arguments=("a.service", "b.service", "c.service", "hosts.ini"))
    assert "  192.0.2.3 is the address of ber-3: write ber-3 if that is the host\n" in seen.text
    assert "are the same machine" not in seen.text
    assert {one["host"] for one in spec(tmp_path)["transcoders"].values()} == {"ber-1", "ber-2", "ber-3"}
    assert fleetc("check", cwd=tmp_path).returncode == 0


def test_address_of_another_host_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        worker = "livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret /s -nvidia 0\n"
        (tmp_path / f"{name}.sh").write_text(worker)
    seen = typed(tmp_path, "v0.9.1", "192.0.2.1", "192.0.2.2", arguments=("a@192.0.2.1=a.sh", "b=b.sh"))
    assert "  192.0.2.1 is the address of a; two hosts are not one machine\n" in seen.text
    assert spec(tmp_path)["hosts"]["b"]["address"] == "192.0.2.2"


def test_hosts_that_were_named_stay_when_somebody_ends(tmp_path: Path) -> None:
    (tmp_path / "NOTES.md").write_text(NOTES)
    typed(tmp_path, "gw-1@198.51.100.7", "\x03", arguments=("NOTES.md",))
    assert spec(tmp_path)["gateways"]["gw"]["host"] == "gw-1"


def test_answer_for_one_of_two_tables_stays_when_somebody_ends(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.sh").write_text(ORCH.replace("orch.example", f"{name}.example").replace('"$PRICE"', "9"))
    keys = ("/home/lp", "y", "v0.9.1", "each", "yes", "\x03")
    seen = typed(tmp_path, *keys, arguments=("a=a.sh", "b=b.sh"))
    asked = "hosts.a.address, hosts.b.address: is this also where you log in?\n"
    assert f'{asked}  a.example.net and b.example.net? yes, or "each": ' in seen.text
    text = (tmp_path / "fleet.toml").read_text()
    assert text.count("# TODO address") == 1 and text.count("/home/lp/pw") >= 1


def test_nobody_is_asked_with_no_input(tmp_path: Path, script: tuple[str, ...]) -> None:
    seen = typed(tmp_path, arguments=(*script, "--no-input"))
    assert seen.code == 0 and "Ctrl-C ends" not in seen.text and "next: answer the TODO lines" in seen.text
    in_ci = typed(tmp_path, arguments=script, environment={"CI": "true"})
    assert in_ci.code == 0 and "Ctrl-C ends" not in in_ci.text


def test_file_in_the_way_is_said_before_anything_is_asked(tmp_path: Path, script: tuple[str, ...]) -> None:
    (tmp_path / "fleet.toml").write_text("# mine\n")
    seen = typed(tmp_path, arguments=script)
    assert seen.code == 1 and "error[adopt-output-exists]" in seen.text and "Ctrl-C ends" not in seen.text


def test_one_answer_is_for_all_that_ask_the_same(tmp_path: Path) -> None:
    worker = "livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret /s -nvidia {} -cliAddr 0.0.0.0:7936\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.sh").write_text(worker.format(0))
    sources = ("a@192.0.2.1=a.sh", "b@192.0.2.2=b.sh")
    seen = typed(tmp_path, "v0.9.1", "", arguments=sources)
    assert seen.code == 0, seen.text
    keep = "to keep it open behind a firewall (cli_exposed): "
    assert f'  Enter for 127.0.0.1:7936, or 0.0.0.0:7936 {keep[:-2]}, for all; or "each": ' in seen.text
    assert [one.get("cli") for one in spec(tmp_path)["transcoders"].values()] == ["127.0.0.1:7936"] * 2
    (tmp_path / "fleet.toml").unlink()
    typed(tmp_path, "v0.9.1", "each", "127.0.0.1:7001", "127.0.0.1:7002", arguments=sources)
    assert {one["cli"] for one in spec(tmp_path)["transcoders"].values()} == {"127.0.0.1:7001", "127.0.0.1:7002"}
    (tmp_path / "fleet.toml").unlink()
    (tmp_path / "b.sh").write_text(worker.format(0).replace("0.0.0.0", "10.8.0.2"))
    seen = typed(tmp_path, "v0.9.1", "each", "", "10.8.0.2:7936", "y", arguments=sources)
    assert f'  Enter for 127.0.0.1:7936, or "each" {keep}' in seen.text
    assert f"  Enter for 127.0.0.1:7936, or 10.8.0.2:7936 {keep}" in seen.text
    assert [one.get("cli_exposed") for one in spec(tmp_path)["transcoders"].values()] == [None, True]
    reason = "a firewall keeps all others away from 10.8.0.2:7936"
    silence = {"code": "cli-exposed", "at": "transcoders.transcoder-b.cli", "reason": reason}
    assert spec(tmp_path)["silences"] == {"firewall": silence} and "\ncheck: clean\n" in seen.text


def test_one_answer_is_for_all_tables_of_a_counter(tmp_path: Path) -> None:
    worker = "livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret /s -nvidia 0 -cliAddr 0.0.0.0:7936 -v $V\n"
    sources = [f"gpu-{number}@192.0.2.{number}=g{number}.sh" for number in range(1, 5)]
    for number in range(1, 5):
        (tmp_path / f"g{number}.sh").write_text(worker)
    seen = typed(tmp_path, "v0.9.1", "", "loud", "1", arguments=sources)
    assert "  verbosity must be a whole number" in seen.text
    assert "g1, g2, g3, g4 -v: ${V} -> 1: as you answered\n" in seen.text
    assert spec(tmp_path)["transcoders"]["g{1..4}"]["verbosity"] == 1


def test_listener_for_others_needs_a_firewall_and_control_characters_are_refused(
    tmp_path: Path, script: tuple[str, ...]
) -> None:
    keys = ("/home/lp", "v0.9.\x1b1", "v0.9.1", "", "10.8.0.1:7935", "n", "10.8.0.1:7935", "y", "\x03")
    seen = typed(tmp_path, *keys, arguments=script)
    assert "  it has a control character" in seen.text
    node = spec(tmp_path)["orchestrators"]["orchestrator"]
    assert node["cli"] == "10.8.0.1:7935" and node["cli_exposed"] is True


def given(folder: Path, *answers: str, code: int = 0) -> str:
    more = [word for answer in answers for word in ("--set", answer)]
    done = fleetc("adopt", "main@192.0.2.1=start.sh", "--home", "/home/lp", "-o", "fleet.toml", *more, cwd=folder)
    assert done.returncode == code, done.stderr
    assert (folder / "fleet.toml").exists() is (code == 0)
    return done.stderr


def test_answers_on_the_command_line(tmp_path: Path, script: tuple[str, ...]) -> None:
    said = given(
        tmp_path, "fleet.node_release=v0.8.9", "orchestrators.orchestrator.price=850 wei / pixel",
        "orchestrators.orchestrator.cli=10.8.0.1:7935", "orchestrators.orchestrator.cli_exposed=true",
        "hosts.main.address=192.0.2.1", "orchestrators.orchestrator.secret=env ORCH_SECRET",
    )  # fmt: skip
    found = spec(tmp_path)["orchestrators"]["orchestrator"]
    assert found["price"] == "850 wei / pixel" and found["cli_exposed"] is True
    assert "the spec compiles" in said and "as you answered" in said
    assert fleetc("check", cwd=tmp_path).returncode == 0


def test_sources_win_over_an_answer_that_they_contradict(tmp_path: Path, script: tuple[str, ...]) -> None:
    said = given(tmp_path, "orchestrators.orchestrator.service=other.example.net:8935")
    assert "the sources say something other than your answers, and theirs is taken:\n" in said
    assert '  [orchestrators.orchestrator] service: "orch.example.net:8935", and no longer "other' in said
    assert spec(tmp_path)["orchestrators"]["orchestrator"]["service"] == "orch.example.net:8935"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("orchestrators.orchestrator.pric=1 wei / pixel", "to set; did you mean"),
        ("orchestrators.nosuch.price=1 wei / pixel", "to set; did you mean"),
        ("orchestrators.orchestrator.price=850", '"850" is not a price'),
        ("fleet.node_release", "takes TABLE.KEY=VALUE"),
        ("hosts.main.address=a\x1b[1m", "control character"),
        ("hosts.main.address=a\nb", "control character"),
        ("fleet.rpc=https://arb-mainnet.g.alchemy.com/v2/AbCdEfGhIjKlMnOpQrStUv12345678xy", "seems to be a secret"),
        ("wallets.earner.password=hunter2-of-ours", "secrets do not belong in the spec"),
        ("orchestrators.orchestrator.max_sessions=99999999999999999999", "whole number"),
    ],
)
def test_answer_that_cannot_be_is_refused_and_not_repeated(
    tmp_path: Path, script: tuple[str, ...], answer: str, why: str
) -> None:
    said = given(tmp_path, answer, code=2)
    assert said.startswith("error: --set ") and why in said
    assert "AbCdEf" not in said and "hunter2" not in said and "\x1b" not in said


def test_what_an_option_answers_names_the_option(tmp_path: Path, script: tuple[str, ...]) -> None:
    done = fleetc("adopt", *script, "--set", "hosts.main.~=/home/lp", cwd=tmp_path)
    assert done.returncode == 2 and "hosts.main.~ is answered by --home " in done.stderr


WATCHED = """\
livepeer -gateway -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /etc/lp/pw \\
  -ethAcctAddr 0x2222222222222222222222222222222222222222 -orchAddr orch.example.net:8935 -maxPricePerUnit 1000 \\
  -httpAddr 0.0.0.0:8935 -monitor -dataDir /srv/gw
"""
OF_TWO = ("edge@192.0.2.7=gate.sh", "main@192.0.2.1=start.sh")
FIRST = ("/root", "v0.9.1", "livepeer", "0.5 ETH", "0.3 ETH", "")
"""Answers for two hosts, as far as the balance of both wallets."""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A gateway and an orchestrator with metrics, whose other questions are few."""
    (tmp_path / "gate.sh").write_text(WATCHED)
    orch = ORCH.replace('"$PRICE"', "9").replace("-cliAddr 0.0.0.0:7935", "-monitor -dataDir /srv/orch")
    (tmp_path / "start.sh").write_text(orch)
    return tmp_path


def test_balance_is_asked_once_for_all_wallets_and_enter_takes_what_is_recommended(two: Path) -> None:
    seen = typed(two, *FIRST[:5], "?", "", "nobody", arguments=OF_TWO)
    assert "a rollout warns of less, and stops where an account that sends transactions is empty\n" in seen.text
    assert (
        "wallets.payer.minimum_balance, wallets.earner.minimum_balance: what to keep for gas; a rollout warns of less\n"
        in seen.text
    )
    assert '  Enter for 0.05 ETH, or another, for all; or "each": ' in seen.text
    assert {wallet["minimum_balance"] for wallet in spec(two)["wallets"].values()} == {"0.05 ETH"}


@pytest.mark.parametrize(
    ("answers", "monitoring", "silenced"),
    [
        (("nobody",), None, {"metrics-out-of-reach"}),
        (("edg", "edge", "nobody"), {"host": "edge"}, {"alerts-reach-nobody"}),
        (
            ("https://p.example.net/api/v1/write", "p.example.net", "p.example.net:9093"),
            {"receiver": "https://p.example.net/api/v1/write", "alertmanagers": ["p.example.net:9093"]}, set(),
        ),
    ],
)  # fmt: skip
def test_answered_spec_of_two_hosts_checks_clean(
    two: Path, answers: tuple[str, ...], monitoring: dict[str, Any] | None, silenced: set[str]
) -> None:
    seen = typed(two, *FIRST, *answers, arguments=OF_TWO)
    assert seen.code == 0, seen.text
    assert "monitoring.host: who reads the metrics: the host that Prometheus runs on; compile makes files" in seen.text
    assert "\n  edge or main, https://... of a receiver, or nobody: " in seen.text
    found = spec(two)
    assert found.get("monitoring") == monitoring
    assert {one["code"] for one in found.get("silences", {}).values()} == silenced
    assert found["gateways"]["gate"]["http_ingest"] is False
    checked = fleetc("check", cwd=two)
    assert checked.returncode == 0 and "warning" not in checked.stdout + checked.stderr
    compared = fleetc("adopt", *OF_TWO, "--home", "/root", "--compare", "fleet.toml", cwd=two).stdout
    assert "no question is left\n" in compared and compared.endswith("check: clean\n")
    assert "\ncheck: clean\nnext: " in seen.text
    settings = re.search(r"[0-9]+ settings compared, (.*)", seen.text)
    assert settings is not None and f" {settings[0].split(' compared')[0]}, " in compared


def test_metrics_are_asked_where_check_warns_and_can_be_set(two: Path) -> None:
    one = fleetc("adopt", "gate.sh", "start.sh", "--host", "edge@192.0.2.7", "--home", "/root", cwd=two).stdout
    assert "[monitoring]" not in one
    balances = [f"wallets.{name}.minimum_balance=0.1 ETH" for name in ("payer", "earner")]
    words = [word for given in ("monitoring.host=main", *balances) for word in ("--set", given)]
    found = tomllib.loads(fleetc("adopt", *OF_TWO, "--home", "/root", *words, cwd=two).stdout)
    assert found["monitoring"] == {"host": "main"} and found["wallets"]["payer"]["minimum_balance"] == "0.1 ETH"


def test_question_about_alerts_that_is_left_is_asked_once_when_sources_are_adopted_again(two: Path) -> None:
    written = ("--home", "/root", "-o", "fleet.toml")
    assert fleetc("adopt", *OF_TWO, *written, "--set", "monitoring.host=main", cwd=two).returncode == 0
    for _ in range(2):
        done = fleetc("adopt", *OF_TWO, *written, "--answers", "fleet.toml", cwd=two)
        text = (two / "fleet.toml").read_text()
        assert text.count("# TODO alertmanagers = ") == text.count("TODO alertmanagers") == 1
        assert "comments of fleet.toml that are not kept" not in done.stderr
    (two / "fleet.toml").write_text(
        text.replace('# TODO alertmanagers = ["..."]', 'alertmanagers = ["p.example.net:9093"]')
    )
    done = fleetc("adopt", *OF_TWO, *written, "--answers", "fleet.toml", cwd=two)
    assert "TODO alertmanagers" not in (two / "fleet.toml").read_text(), done.stderr


def test_prometheus_of_a_source_is_what_enter_takes(tmp_path: Path) -> None:
    gate = "command: -gateway -orchAddr o.example.net:8935 -httpAddr 127.0.0.1:8935 -monitor"
    image = "{image: livepeer/go-livepeer:v0.9.1, network_mode: host, "
    watch = "  watch: {image: 'prom/prometheus:v2.53.0'}\n"
    for name, more in (("a", watch), ("b", "")):
        (tmp_path / f"{name}.yaml").write_text(f"services:\n  gate-{name}: {image}{gate}}}\n{more}")
    seen = typed(tmp_path, "", "nobody", arguments=("a@192.0.2.1=a.yaml", "b@192.0.2.2=b.yaml"))
    assert "runs on (a runs one, but reads nothing before its container has the network of the host); com" in seen.text
    assert "  Enter for a, or b, https://... of a receiver, or nobody: " in seen.text
    assert spec(tmp_path)["monitoring"] == {"host": "a"}


def test_list_that_nobody_types_is_not_asked_and_its_fault_is_said_once_before_the_questions(tmp_path: Path) -> None:
    listed = '[{"pipeline": "text-to-image", "model_id": "a/b", "warm": true, "capacity": 2, "price_per_unit": "5"}]'
    (tmp_path / "m.json").write_text(listed)
    (tmp_path / "start.sh").write_text(
        "livepeer -aiWorker -orchAddr o.example.net:8935 -orchSecret /etc/lp/s -nvidia 0 -aiModels m.json "
        "-aiModelsDir /models\n"
    )
    arguments = ("main@192.0.2.1=start.sh", "m.json")
    seen = typed(tmp_path, "v0.9.1", arguments=arguments)
    assert seen.code == 0 and seen.text.index("m.json:1: the node stops") < seen.text.index("questions: Enter")
    assert seen.text.count("price_per_unit is not a number") == 1 and seen.text.count("repair the list") == 2
    assert ".models: " not in seen.text
    (tmp_path / "m.json").write_text(listed.replace('"5"', "5"))
    again = (*arguments, "--answers", "fleet.toml")
    seen = typed(tmp_path, "", arguments=again)
    crowded = "ai-worker.models: ai-worker keeps 2 containers warm but has 1 slot on 1 GPU\n"
    assert f"{crowded}  yes for containers_per_gpu = 2 if there is enough memory: " in seen.text, seen.text
    assert "# TODO models: " in (tmp_path / "fleet.toml").read_text() and "yes if it is right" not in seen.text
    seen = typed(tmp_path, "2", "yes", arguments=again)
    assert "  write yes, or leave it with Enter: nobody types the list here\n" in seen.text
    assert spec(tmp_path)["ai_workers"]["ai-worker"]["containers_per_gpu"] == 2
    assert "# TODO" not in (tmp_path / "fleet.toml").read_text()
    assert "-aiRunnerContainersPerGPU: 1 -> 2: as you answered\n" in seen.text
    compared = fleetc("adopt", *arguments, "--compare", "fleet.toml", cwd=tmp_path)
    assert "none without a reason" in compared.stdout and compared.returncode == 0


def test_paths_that_a_script_says_and_an_unread_file_may_change_are_one_question(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text(
        "DATADIR=${DATADIR:-/opt/lp/ai}\n. /opt/lp/common.env\n"
        "livepeer -orchestrator -aiWorker -nvidia 0 -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword $DATADIR/pw -dataDir $DATADIR "
        "-serviceAddr o.example.net:8935 -pricePerUnit 5 -aiModels $DATADIR/m.json "
        "-aiModelsDir ${MODELS:-/opt/lp/models}\n"
    )
    seen = typed(tmp_path, "v0.9.1", "", "", "/srv/models", arguments=("main@192.0.2.1=start.sh",))
    assert seen.code == 0, seen.text
    assert "DATADIR is /opt/lp/ai unless /opt/lp/common.env sets it\n" in seen.text
    assert '  Enter for /opt/lp/ai/keystore, host_file /opt/lp/ai/pw and /opt/lp/ai, or "each": ' in seen.text
    assert "MODELS is /opt/lp/models unless /opt/lp/common.env sets it" in seen.text
    assert "orchestrator] models: /opt/lp/ai/m.json has it: copy it from the host and name it too" in seen.text
    assert "orchestrators.orchestrator.models: " not in seen.text
    found = spec(tmp_path)
    assert found["wallets"]["earner"]["keystore"] == "/opt/lp/ai/keystore"
    assert found["wallets"]["earner"]["password"] == {"host_file": "/opt/lp/ai/pw"}
    node = found["orchestrators"]["orchestrator"]
    assert (node["data_dir"], node["models_dir"]) == ("/opt/lp/ai", "/srv/models")
    said = "-dataDir, -ethKeystorePath: DATADIR is /opt/lp/ai unless /opt/lp/common.env sets it\n"
    assert said in seen.text and "as you answered" not in seen.text
    (tmp_path / "m.json").write_text('[{"pipeline": "llm", "model_id": "a/b", "price_per_unit": 5}]')
    (tmp_path / "start.sh").write_text((tmp_path / "start.sh").read_text().replace("$DATADIR/m.json", "m.json"))
    (tmp_path / "fleet.toml").unlink()
    arguments = ("main@192.0.2.1=start.sh", "m.json")
    seen = typed(tmp_path, "v0.9.1", "", "", "/srv/models", "", arguments=arguments)
    assert "-aiModelsDir: as you answered\n" in seen.text and said in seen.text
    compared = fleetc("adopt", *arguments, "--compare", "fleet.toml", "--report", "text", cwd=tmp_path).stdout
    assert "DATADIR is /opt/lp/ai unless /opt/lp/common.env sets it" in compared


def test_cap_that_admits_nobody_is_asked_with_the_amount_that_does(two: Path) -> None:
    gate = WATCHED.replace("-orchAddr orch.example.net:8935", "-orchAddr https://orch.example.net:8935")
    (two / "gate.sh").write_text(gate.replace("-maxPricePerUnit 1000", "-maxPricePerUnit 5"))
    seen = typed(two, *FIRST, "yes", "9.5 wei / pixel", "nobody", arguments=OF_TWO)
    assert seen.code == 0, seen.text
    assert "gateways.gate.max_price: gateway gate pays at most 5 wei / pixel, but no orchestrator sells" in seen.text
    assert "\n  it is 5 wei / pixel; write 9.18 wei / pixel or more: " in seen.text
    assert "\n  it is refused as it stands: write 9.18 wei / pixel or more\n" in seen.text
    assert spec(two)["gateways"]["gate"]["max_price"] == "9.5 wei / pixel"


def test_price_that_a_list_says_in_vain_is_taken_with_yes_and_asked_once(tmp_path: Path) -> None:
    chain = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /pw"
    account = f"-ethAcctAddr 0x{'1' * 40} -serviceAddr o.example.net:8935 -pricePerUnit 9 -dataDir /d"
    commands = [f"livepeer -orchestrator -aiServiceRegistry {chain} {account} -orchSecret /s\n"]
    for number, price in ((1, 77), (2, 88)):
        entry = f'[{{"pipeline": "llm", "model_id": "a/b", "price_per_unit": {price}}}]'
        (tmp_path / f"m{number}.json").write_text(entry)
        flags = f"-nvidia {number} -aiModels m{number}.json -aiModelsDir /models -cliAddr 127.0.0.1:{4935 + number}"
        commands.append(f"livepeer -aiWorker -orchAddr o.example.net:8935 -orchSecret /s {flags}\n")
    (tmp_path / "start.sh").write_text("".join(commands))
    arguments = ("main@192.0.2.1=start.sh", "m1.json", "m2.json", "--set", "fleet.node_release=v0.9.1")
    seen = typed(tmp_path, "lp", "", "", "\x04", arguments=arguments)
    assert seen.text.partition("stopped: ")[0].count("says so, where the node does not read it\n") == 2, seen.text
    (tmp_path / "fleet.toml").unlink()
    seen = typed(tmp_path, "lp", "", "yes", "\x04", arguments=arguments)
    assert "\n  77 wei / pixel? yes, or another: yes\n" in seen.text and "88 wei" not in seen.text, seen.text
    assert spec(tmp_path)["models"]["b"]["price"] == "77 wei / pixel"


def test_rpc_address_of_nodes_that_ask_several_is_one_that_all_of_them_get(two: Path) -> None:
    gate = WATCHED.replace("https://arb1.arbitrum.io/rpc", "http://127.0.0.1:8547").replace("0.0.0.0:8935", ":9935")
    (two / "gate.sh").write_text(gate)
    here = tuple(one.replace("edge@192.0.2.7", "main@192.0.2.1") for one in OF_TWO)
    seen = typed(two, FIRST[0], FIRST[1], "\x04", arguments=here)
    hint = "an address that all these nodes reach, or env NAME for a variable, such as https://arb1.arbitrum.io/rpc: "
    assert f"orchestrator asks arb1.arbitrum.io\n  {hint}" in seen.text, seen.text


def test_yes_to_a_runner_without_its_token_says_what_it_means(tmp_path: Path) -> None:
    entry = '{"pipeline": "llm", "model_id": "a/b", "url": "http://10.0.0.9:8000", "token": "x7Qk29fLm3PzR8vT"}'
    (tmp_path / "m.json").write_text(f"[{entry}]")
    words = "-orchAddr o.example.net:8935 -orchSecret /etc/lp/s -nvidia 0 -aiModels m.json -aiModelsDir /models"
    (tmp_path / "start.sh").write_text(f"livepeer -aiWorker {words}\n")
    seen = typed(tmp_path, "v0.9.1", "yes", "", arguments=("main@192.0.2.1=start.sh", "m.json"))
    assert (
        "ai_workers.ai-worker.models: the runner of a/b gets no token any more, as a spec has none\n"
        "  yes if it will answer this host without a token: yes\n"
    ) in seen.text, seen.text
    assert "# TODO" not in (tmp_path / "fleet.toml").read_text()


def test_hosts_are_called_as_the_headings_of_notes_call_them(tmp_path: Path) -> None:
    worker = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /s -nvidia 0 -dataDir /d"
    garage = f"## garage (192.168.1.40)\n```\n{worker}\n```\n### Transcoder\n```\n{worker} -v 5\n```\n"
    orch = ORCH.replace('"$PRICE"', "9").replace("~/", "/").replace("0.0.0.0:7935", "127.0.0.1:7935")
    (tmp_path / "NOTES.md").write_text(f"Frankfurt\n=========\n```\n{orch}```\n{garage}")
    seen = typed(tmp_path, "yes", "yes", "\x04", arguments=("NOTES.md",))
    assert "  orchestrator (line 4): yes for frankfurt@orch.example.net, NAME@ADDRESS: yes\n" in seen.text, seen.text
    nodes, offered = "transcoder (line 10) and transcoder-2 (line 14)", "yes for garage@192.168.1.40"
    both = f'  {nodes}: {offered}, NAME@ADDRESS, or frankfurt, or "each": yes\n'
    assert both in seen.text, seen.text
    assert {name: host["address"] for name, host in spec(tmp_path)["hosts"].items()} == {
        "frankfurt": "orch.example.net", "garage": "192.168.1.40",
    }  # fmt: skip
    (tmp_path / "NOTES.md").write_text(f"# Orchestrator\n## gpu-7 - ssh gpu7\n```\n{worker}\n```\n")
    (tmp_path / "fleet.toml").unlink()
    seen = typed(tmp_path, "\x04", arguments=("NOTES.md",))
    assert "notes called, and where do you log in?\n  NAME@ADDRESS, such as gpu-7@203.0.113.20: " in seen.text
    (tmp_path / "NOTES.md").write_text(f"# Orchestrator\n```\n{worker}\n```\n")
    (tmp_path / "fleet.toml").unlink()
    assert "such as gpu-1@203.0.113.20: " in typed(tmp_path, "\x04", arguments=("NOTES.md",)).text


@pytest.mark.parametrize("rpc", ["https://arb1.arbitrum.io/rpc", "env RPC"])
def test_rpc_address_is_asked_again_for_a_node_that_an_earlier_spec_does_not_have(two: Path, rpc: str) -> None:
    (two / "gate.sh").write_text(WATCHED.replace("0.0.0.0:8935", "127.0.0.1:9935"))
    given = ("fleet.node_release=v0.9.1", "hosts.edge.node_user=lp", "wallets.payer.deposit=1 ETH")
    words = [word for one in (*given, "wallets.payer.reserve=1 ETH") for word in ("--set", one)]
    assert fleetc("adopt", OF_TWO[0], *words, "-o", "fleet.toml", cwd=two).returncode == 0
    if rpc == "env RPC":
        text = (two / "fleet.toml").read_text().replace('"https://arb1.arbitrum.io/rpc"', '{ env = "RPC" }')
        (two / "fleet.toml").write_text(text)
    orch = (two / "start.sh").read_text().replace("~/", "/")
    (two / "start.sh").write_text(orch.replace("https://arb1.arbitrum.io/rpc", "http://10.0.0.5"))
    again = (OF_TWO[0], OF_TWO[1].replace("main@192.0.2.1", "edge@192.0.2.7"), "--answers", "fleet.toml")
    hint = f"  {rpc}? yes, or an address that all these nodes reach, or env NAME for a variable: "
    for keys in (("",), ("", "lp"), ("yes",)):
        seen = typed(two, *keys, "\x04", arguments=again)
        assert hint in seen.text, seen.text
        assert ("# TODO rpc: a host has one" in (two / "fleet.toml").read_text()) is (keys[0] == "")
    assert "\nfleet.rpc: " not in typed(two, "\x04", arguments=again).text


def test_missing_file_is_told_before_the_questions_that_it_may_answer(tmp_path: Path) -> None:
    unit = "[Service]\nUser=lp\nEnvironmentFile=/etc/default/livepeer\n"
    start = "ExecStart=/usr/local/bin/livepeer -gateway -orchAddr o.example.net:8935 -httpAddr ${ADDR} $EXTRA\n"
    (tmp_path / "gate.service").write_text(unit + start)
    seen = typed(tmp_path, "\x04", arguments=("a@192.0.2.1=gate.service",))
    told = "not known without these files (name them too):\n"
    assert seen.text.index(told) < seen.text.index("questions: Enter leaves") and seen.text.count(told) == 1, seen.text
    assert fleetc("adopt", "gate.service", "--no-input", cwd=tmp_path).stderr.count(told) == 1


def test_question_about_remote_work_says_what_that_ends(tmp_path: Path) -> None:
    chain = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc"
    (tmp_path / "start.sh").write_text(
        f"livepeer -orchestrator -transcoder -nvidia 0 {chain} -ethPassword /etc/lp/pw -dataDir /srv/o -pricePerUnit 5 "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr o.example.net:8935 -orchSecret /s\n"
    )
    (tmp_path / "work.sh").write_text("livepeer -transcoder -nvidia 0 -orchAddr o.example.net:8935 -orchSecret /s\n")
    arguments = ("a@192.0.2.1=start.sh", "b@192.0.2.2=work.sh", "--home", "/root")
    seen = typed(tmp_path, "v0.9.1", "lp", "lp", "", "remote", "", arguments=arguments)
    assert seen.code == 0, seen.text
    assert "  such as remote, which ends the work of its own GPUs: remote\n" in seen.text
    assert "orchestrators.orchestrator: check warns [gpus-unused]: the GPUs of orchestrator are idle" in seen.text


def test_no_leaves_a_node_of_a_page_out_and_the_others_are_asked_again(tmp_path: Path) -> None:
    """A page has commands that do not run any more, and nothing may say so."""
    dead = (
        NOTES.replace("orch.example.net", "dead.example.net")
        .replace("--name orch", "--name then")
        .partition("# Box")[2]
    )
    (tmp_path / "NOTES.md").write_text(f"{NOTES}# Attic\n{dead}")
    keys = ("gw-1@198.51.100.7", "rack@198.51.100.8", "no", "gw-1@198.51.100.7", "rack@198.51.100.8", "\x04")
    seen = typed(tmp_path, *keys, arguments=("NOTES.md",))
    assert seen.code == 0, seen.text
    assert "which host runs gw, orch and then? " in seen.text and "which host runs gw and orch? " in seen.text
    assert "; no leaves one out that does not run\n" in seen.text
    assert re.search(r"\n  then \(line 16\): .*: no\n", seen.text), seen.text
    found = spec(tmp_path)
    assert [*found["orchestrators"]] == ["orch"] and found["orchestrators"]["orch"]["host"] == "rack"
    hosts = "--host gw-1@198.51.100.7=gw --host rack@198.51.100.8=orch"
    assert f"fleetc adopt NOTES.md --only gw --only orch {hosts} --compare fleet.toml\n" in seen.text
