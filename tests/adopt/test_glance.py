"""What people see first of an adoption: what was made, what is open with the words that answer it, and what changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fleetc.adopt import glance
from fleetc.adopt.adoption import adopt
from fleetc.adopt.compare import Difference
from fleetc.adopt.words import Same
from fleetc.toml.document import Source
from tests.support import fleetc

COMPOSE = """services:
  orch:
    image: livepeer/go-livepeer:v0.9.1
    container_name: orch
    ports: ["8935:8935"]
    volumes: [./data:/root/.lpData]
    command: -orchestrator -network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethPassword hunter2hunter2
      -ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr o.example.net:8935 -pricePerUnit 900
      -orchSecret abcdefghijkl -reward=false
  worker:
    image: livepeer/go-livepeer:v0.9.1
    command: -transcoder -nvidia 0 -orchAddr orch:8935 -orchSecret abcdefghijkl
"""


def test_the_summary_says_what_was_made_what_is_open_and_what_changes(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    done = fleetc("adopt", "compose.yaml", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "fleet.toml").read_text().split("\n")
    number = next(at for at, line in enumerate(text, 1) if "TODO folder" in line)
    assert f"\n  {number} [hosts.host-1] folder: where on this host is compose.yaml?\n" in done.stderr
    assert "\n  host-1: orch, worker\n" in done.stderr
    assert "worker -orchAddr: https://orch:8935 -> https://o.example.net:8935: the same orchestrator" in done.stderr
    command = "fleetc adopt compose.yaml --answers fleet.toml -o fleet.toml --directory /opt/livepeer"
    assert f"\nwith your values: {command}\n" in done.stderr
    assert " | " not in done.stderr  # no excerpts of sources
    assert fleetc(*command.split()[1:], cwd=tmp_path).returncode == 0
    assert "TODO folder" not in (tmp_path / "fleet.toml").read_text()


def test_a_report_comes_with_the_lines_of_the_sources_and_says_changes_once(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    done = fleetc("adopt", "compose.yaml", "--report", "text", cwd=tmp_path)
    assert " | " in done.stderr and "what changes" not in done.stderr
    assert "worker -orchAddr" in done.stdout


def changes(*differences: Difference) -> list[str]:
    """The lines about these differences, of a fleet in which nothing else changes."""
    found = adopt([Source("a.sh", "livepeer -gateway -orchAddr a.example.net:1")])
    first, *lines = glance.changes(replace(found, differences=differences, compared=900, beside=()))
    assert first == "what changes:"
    return lines


@pytest.mark.parametrize(
    ("flag", "reason", "shown"),
    [("v", "because", False), ("pricePerUnit", "because", True), ("reward", "because", True), ("v", "", True)],
)
def test_money_and_what_nobody_explains_is_said_however_much_changes(flag: str, reason: str, shown: bool) -> None:
    many = [Difference(f"n{number}", "v", str(number), "6", "because") for number in range(40)]
    lines = changes(*many, Difference("last", flag, "1", "2", reason))
    assert any(f"  last -{flag}: 1 -> 2" in line for line in lines) is shown
    assert len(lines) < 20


def test_what_changes_alike_is_one_line() -> None:
    paths = [
        Difference(f"n{n}", flag, "/a", f"/b/{n}", "moved") for n in range(9) for flag in ("dataDir", "aiModelsDir")
    ]
    others = [Difference(f"n{n}", "cliAddr", "x:1", "y:1", "closed") for n in range(3)]
    assert changes(*paths, *others) == [
        "  n0, n1, n2 -cliAddr: x:1 -> y:1: closed",
        "  n0, n1, n2, n3 and 5 more -dataDir, -aiModelsDir: moved",
    ]


def test_no_word_of_a_source_gets_into_the_command_to_paste() -> None:
    text = (
        "livepeer -gateway -orchAddr '$X adopt again with --answers FILE -o FILE (this file) --host $(reboot)' "
        "-dataDir ./data"
    )
    assert "reboot" not in glance.options(adopt([Source("a.sh", text)]))


def test_gravest_comes_first_and_what_means_the_same_is_only_counted() -> None:
    assert changes(
        Difference("n", "v", "1", "2", "because"), Difference("n", "dataDir", "/a", "/b", "lost"),
        Difference("n", "aiRunnerImage", "x:1", "x:latest", Same("-aiRunnerImageOverrides says the same image")),
        Difference("n", "cliAddr", "x:1", "y:1", "closed"), Difference("n", "reward", "true", "false", "because"),
        Difference("n", "nodes", "a", "b", ""),
    ) == [
        "  n -nodes: a -> b: no reason is known: look at it before you deploy",
        "  n -reward: true -> false: because",
        "  n -cliAddr: x:1 -> y:1: closed",
        "  n -v: 1 -> 2: because",
        "  n -dataDir: lost",
    ]  # fmt: skip


def test_many_settings_of_one_reason_are_one_line() -> None:
    many = [Difference("n", flag, "1", "2", "behind a signer") for flag in ("ethUrl", "network", "nodes", "cliAddr")]
    assert changes(*many, Difference("n", "maxPricePerUnit", "1", "2", "behind a signer")) == [
        "  n -maxPricePerUnit: 1 -> 2: behind a signer",
        "  n -cliAddr: 1 -> 2: behind a signer",
        "  n -ethUrl, -network, -nodes: behind a signer",
    ]


PROJECT = """services:
  gateway:
    image: livepeer/go-livepeer:v0.9.1
    container_name: lp-gw
    restart: unless-stopped
    ports: ["1935:1935", "127.0.0.1:5936:5935"]
    volumes: [/srv/gw:/root/.lpData]
    command: -gateway -network arbitrum-one-mainnet -ethUrl ${RPC} -ethPassword ${GW_PW} -orchAddr orch:8935
      -ethAcctAddr 0x1111111111111111111111111111111111111111 -cliAddr 0.0.0.0:5935 -rtmpAddr 0.0.0.0:1935
      -maxPricePerUnit 1200 -authWebhookUrl http://auth.example.net/hook?token=${HOOK}
  orch:
    image: livepeer/go-livepeer:v0.9.1
    container_name: lp-orch
    restart: unless-stopped
    mem_limit: 8g
    ports: ["8935:8935"]
    volumes: [/srv/orch:/root/.lpData]
    command: -orchestrator -network arbitrum-one-mainnet -ethUrl ${RPC} -ethPassword ${ORCH_PW} -pricePerUnit 0.9e-12USD
      -ethAcctAddr 0x2222222222222222222222222222222222222222 -serviceAddr o.example.net:8935 -orchSecret ${WORD}
  worker:
    image: livepeer/go-livepeer:v0.9.1
    restart: unless-stopped
    command: -transcoder -nvidia 0 -orchAddr orch:8935 -orchSecret ${WORD}
  prometheus:
    image: prom/prometheus
    volumes: ["./prometheus.yml:/etc/prometheus/prometheus.yml"]
"""
ENVIRONMENT = "RPC=https://arb.example.net/v2/AbCdEfGhIjKlMnOp0123\nGW_PW=hunter2hunter2\nORCH_PW=swordfish11\nWORD=abc12defgh\nHOOK=hk9f2a77\n"
SCRAPES = "scrape_configs:\n- static_configs:\n  - targets: ['gateway:5935']\n"


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What adopting a Compose project says, in which much is to be said."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in (("compose.yaml", PROJECT), (".env", ENVIRONMENT), ("prometheus.yml", SCRAPES)):
        (folder / name).write_text(text)
    done = fleetc("adopt", "edge@203.0.113.7=.", "-o", "fleet.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_first_screen_is_short_and_says_each_fact_once(screen: str) -> None:
    assert len(screen.split()) < 200
    assert len(screen.splitlines()) < 25
    assert "..." not in screen
    for once in ("GW_PW", "AUTH_WEBHOOK:", "prometheus.yml:3", "0.9e-12USD", "senderInfo", "restart ", "mem_limit=8g",
                 "o.example.net:8935", "change them", "--compare", "--in-place"):  # fmt: skip
        assert screen.count(once) == 1, (once, screen)


def test_secrets_in_clear_are_one_line_with_what_is_special(screen: str) -> None:
    names = "RPC, GW_PW, ORCH_PW, WORD, LP_GW_AUTH_WEBHOOK (.env:1,2,3,4,5)"
    assert f"secrets in clear: set {names} where you deploy, then change them\n" in screen
    assert "\n  LP_GW_AUTH_WEBHOOK: set it to the whole value, as the command has it\n" in screen
    assert "adopt-secret-inline" not in screen


@pytest.mark.parametrize(("text", "said"), [("orch-secret", True), ("nova-7-not-so-secret", False), ("Xy12ab", False)])
def test_a_secret_that_may_be_the_name_of_a_file_is_said_to_be(text: str, said: bool) -> None:
    command = f"livepeer -transcoder -nvidia 0 -orchAddr o.example.net:8935 -orchSecret {text}"
    hint = "  TRANSCODER_SECRET: if it is the name of a file, name its path as host_file"
    assert (hint in glance.secrets(adopt([Source("start.sh", command)]))) is said


def test_what_a_question_asks_is_no_warning_too(screen: str) -> None:
    assert "price: the node refuses 0.9e-12USD as a price, so it would not start\n" in screen
    assert "adopt-value" not in screen and "is not in the sources" not in screen
    assert "[wallets.payer] deposit, reserve: curl -s http://127.0.0.1:5936/senderInfo on its host\n" in screen


def test_a_moved_listener_and_who_calls_it_are_one_line(screen: str) -> None:
    (line,) = (line for line in screen.splitlines() if "prometheus.yml:3" in line)
    assert line.startswith("  lp-gw -cliAddr: 0.0.0.0:5935 -> 127.0.0.1:5936: ")
    assert line.endswith("prometheus.yml:3 (gateway:5935) leads nowhere then")
    assert "adopt-name-unreached" not in screen


def test_what_every_new_container_has_is_one_line(screen: str) -> None:
    assert "\n  containers get fleetc's restart, stop time and log limits\n" not in screen  # it is said of each node
    assert "\n  every node: restart unless-stopped -> always\n" in screen
    assert "stop_grace_period" not in screen
    assert "\n  lp-orch: loses mem_limit=8g\n" in screen


def test_variables_that_only_fill_commands_are_no_change_of_a_unit(tmp_path: Path) -> None:
    """Two units read one file, of which each uses a part in its command."""
    (tmp_path / "lp.env").write_text("EXTRA=-v 6\nCARDS=0\nKEPT=1\n")
    for name, words in (("a", "-gateway -orchAddr o.example.net:1 $EXTRA"), ("b", "-transcoder -orchSecret /s "
                        "-orchAddr o.example.net:1 -nvidia $CARDS")):  # fmt: skip
        unit = f"[Service]\nEnvironmentFile=/etc/lp.env\nExecStart=/usr/bin/livepeer {words}\n"
        (tmp_path / f"{name}.service").write_text(unit)
    said = fleetc("adopt", "a.service", "b.service", "lp.env", cwd=tmp_path).stderr
    assert "in its environment" not in said


def test_advice_that_is_the_same_for_several_messages_is_said_once(tmp_path: Path) -> None:
    orch = "livepeer -orchestrator -network offchain -serviceAddr 192.0.2.1:8935 -orchSecret first-secret-word"
    worker = "livepeer -transcoder -nvidia 0 -orchAddr 192.0.2.9:8935 -orchSecret second-secret-word"
    (tmp_path / "start.sh").write_text(f"{orch}\n{worker}\n")
    said = fleetc("adopt", "start.sh", cwd=tmp_path).stderr
    assert said.count("start.sh:1,2)") == 1
    assert said.count("then change them") == 1


def test_only_what_is_proved_to_be_the_same_is_counted(tmp_path: Path) -> None:
    """A worker gets another data directory, and a node whose environment file is missing the address of others."""
    run = "docker run --net host --name {} {} livepeer/go-livepeer:v0.9.1 {}\n"
    sells = f"-orchestrator -network arbitrum-one-mainnet -ethAcctAddr 0x{'1' * 40} -ethPassword /root/.lpData/pw"
    sells += " -transcoder -pricePerUnit 900 -reward=false -serviceAddr {0}.example.net:{1} -cliAddr 127.0.0.1:1{1}"
    worker = "-orchAddr o.example.net:8935 -orchSecret /root/.lpData/s"
    (tmp_path / "sell.sh").write_text(
        run.format("o", "-v /data/o:/root/.lpData", f"{sells.format('o', 8935)} -ethUrl https://rpc.example.net")
        + run.format("p", "-v /data/p:/root/.lpData --env-file /root/p.env", sells.format("p", 8936))
    )
    (tmp_path / "work.sh").write_text(
        "".join(run.format(name, "", f"-transcoder {worker}") for name in "tu")
        + "".join(run.format(name, "", f"-aiWorker {worker} -aiModels m.json") for name in "wx")
    )
    (tmp_path / "m.json").write_text('[{"pipeline": "llm", "model_id": "a/b"}]')
    done = fleetc("adopt", "h@203.0.113.7=sell.sh", "work.sh", "m.json", cwd=tmp_path)
    unknown = "  p -ethUrl: (unknown) -> set: no source says it; it gets that of the spec"
    for line in (
        unknown,
        "  t, u -dataDir: today it is inside the container, and gone with it; the node needs nothing of it again",
        "  w, x -serviceAddr: (unset) -> its own name: keeps workers off each other's containers",
    ):
        assert f"\n{line}" in done.stderr
    assert fleetc("adopt", "h@203.0.113.7=sell.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    again = fleetc("adopt", "h@203.0.113.7=sell.sh", "--compare", "fleet.toml", cwd=tmp_path)
    assert f"{unknown}\n" in again.stdout + again.stderr


def test_no_variable_is_to_be_set_that_the_spec_does_not_name(tmp_path: Path) -> None:
    """A fleet has one RPC address; once people choose another one, the key in the first stays a secret in clear."""
    chain = "-network arbitrum-one-mainnet -ethPassword /srv/pw -dataDir /srv/d"
    (tmp_path / "b.sh").write_text(
        f"livepeer -gateway {chain} -ethUrl https://arb-mainnet.g.alchemy.com/v2/Qm77xAlchKeyFRAx -maxPricePerUnit 5 "
        "-ethAcctAddr 0x2222222222222222222222222222222222222222 -orchAddr o.example.net:8935\n"
    )
    (tmp_path / "a.sh").write_text(
        f"livepeer -orchestrator {chain} -ethUrl http://127.0.0.1:8547 -orchSecret wombat7719spruce -pricePerUnit 5 "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr o.example.net:8935\n"
    )
    asked = fleetc("adopt", "a.sh", "b.sh", "-o", "fleet.toml", cwd=tmp_path).stderr
    assert "secrets in clear: set A_SECRET, RPC_URL (a.sh:1, b.sh:1) where you deploy, then change them\n" in asked
    answer = ("--set", 'fleet.rpc="http://127.0.0.1:8547"', "--answers", "fleet.toml")
    told = fleetc("adopt", "a.sh", "b.sh", *answer, "-o", "fleet.toml", cwd=tmp_path).stderr
    assert "secrets in clear: set A_SECRET (a.sh:1) where you deploy, then change it\n" in told
    assert "secrets in clear without a variable in the spec: RPC_URL (b.sh:1): change it\n" in told
    assert '"RPC_URL"' not in (tmp_path / "fleet.toml").read_text()
    whole = fleetc("adopt", "a.sh", "b.sh", *answer, "--report", "text", cwd=tmp_path)
    assert "RPC_URL" not in whole.stderr + whole.stdout and "the spec names the variable A_SECRET" in whole.stderr
    assert "the RPC address with its key stands in this file in clear; the spec has no variable for it" in whole.stderr


def asked_in_brief(**texts: str) -> str:
    """What the first screen asks and tells of units by name, each with lines of its own."""
    unit = "[Unit]\n{}[Service]\nUser=lp\n{}ExecStart=/usr/local/bin/livepeer -transcoder -orchAddr o.example.net:1 "
    unit += "-orchSecret /srv/s -dataDir /srv/{}\n"
    sources = []
    for name, text in texts.items():
        head, _, rest = text.partition("|")
        sources.append(Source(f"{name}.service", unit.format(head, rest, name)))
    return "\n".join(glance.changes(adopt(sources)))


def test_settings_that_change_alike_are_one_line() -> None:
    said = asked_in_brief(
        a="After=x.service\n|LimitNOFILE=1048576\nMemoryMax=24G\n",
        b="After=y.service\nRequires=y.service\n|LimitNOFILE=524288\nExecStartPre=/usr/bin/nvidia-smi -pm 1\n",
        c="|LimitNOFILE=524288\nRestart=on-failure\nExecStartPre=/usr/bin/nvidia-smi -pl 180\n",
    )
    assert said == (
        "what changes:\n"
        "  a: loses MemoryMax=24G\n"
        "  a: no longer waits for x.service; b: y.service\n"
        "  b: no longer runs `/usr/bin/nvidia-smi -pm 1`; c: `/usr/bin/nvidia-smi -pl 180`\n"
        "  c: Restart on-failure -> always\n"
        "  LimitNOFILE: a 1048576, b and c 524288 -> 65536\n"
        "  units get fleetc's restart, sandbox and HOME"
    )


def test_what_all_nodes_have_alike_is_said_of_every_node() -> None:
    said = asked_in_brief(a="|LimitNOFILE=9\n", b="|LimitNOFILE=9\n", c="|LimitNOFILE=9\n")
    assert "\n  every node: LimitNOFILE 9 -> 65536\n" in said


def test_orchestrators_that_stay_are_not_said_again() -> None:
    assert changes(Difference("n", "orchAddr", "https://a:1, https://b:1", "https://c:1, https://b:1", "moved")) == [
        "  n -orchAddr: https://a:1 -> https://c:1: moved"
    ]
    cut = "https://a:1, https://b..."  # what differs may be behind it
    assert changes(Difference("n", "orchAddr", cut, cut, "moved")) == [f"  n -orchAddr: {cut} -> {cut}: moved"]


def test_new_runtime_is_told_once() -> None:
    worker = "-transcoder -orchAddr o.example.net:1 -orchSecret /srv/s -dataDir /srv/"
    container = f"docker run --name c -v /srv/c:/srv/c --network host livepeer/go-livepeer:v0.9.1 {worker}c"
    found = adopt([Source("c.sh", f"{container}\n"), Source("p.sh", f"livepeer {worker}p\n")])
    assert "adopt-runtimes-differ" in {one.code for one in found.diagnostics}
    assert any("it runs in a process of the host" in one.words for one in found.beside)
    assert not any("runs in" in line for line in glance.changes(found))
    without = replace(found, diagnostics=())
    assert "  p: runs in a process of the host -> a container" in glance.changes(without)


def test_a_price_that_is_asked_keeps_its_values_and_says_its_reason_once() -> None:
    reason = "a question is left: the node refuses 0.4e-12USD"
    assert changes(Difference("n", "pricePerUnit", "0.4e-12USD", "(unset)", reason)) == [
        "  n -pricePerUnit: 0.4e-12USD -> (unset): asked above"
    ]


def test_a_path_whose_variable_is_asked_is_one_line(tmp_path: Path) -> None:
    script = (
        "source /opt/lp/common.env\nlivepeer -orchestrator -network arbitrum-one-mainnet -ethUrl https://r.example.net "
    )
    script += "-ethAcctAddr 0x1111111111111111111111111111111111111111 -dataDir ${D:-/srv/lp} -pricePerUnit 5 "
    script += "-ethKeystorePath ${D:-/srv/lp}/keystore -ethPassword /srv/pw -serviceAddr o.example.net:8935\n"
    (tmp_path / "start.sh").write_text(script)
    said = fleetc("adopt", "start.sh", "-o", "fleet.toml", "--no-input", cwd=tmp_path).stderr
    assert said.count("unless /opt/lp/common.env sets it") == 1
    assert "keystore, data_dir: D is /srv/lp unless" in said
