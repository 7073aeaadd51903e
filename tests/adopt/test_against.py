"""`fleetc adopt --compare`: what runs today against a spec that people have answered, renamed and changed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support import fleetc

COMPOSE = """\
services:
  gateway:
    image: livepeer/go-livepeer:v0.9.1
    container_name: lp-gateway
    network_mode: host
    volumes: ["gwdata:/root/.lpData", "/srv/gw/password:/run/secrets/pw:ro"]
    command: >-
      -gateway -network=arbitrum-one-mainnet -ethUrl=https://arb1.arbitrum.io/rpc -ethPassword=/run/secrets/pw
      -ethAcctAddr=0x2222222222222222222222222222222222222222 -httpAddr=0.0.0.0:8935 -httpIngest=true
      -maxPricePerUnit=1200 -v=5 -orchAddr=https://orch-a.example.net:8935
volumes: {gwdata: {}}
"""
SCRIPT = """\
livepeer -orchestrator -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc \\
  -ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword /srv/lp/password -dataDir /srv/lp/main \\
  -serviceAddr orch.example.net:8935 -orchSecret /srv/lp/secret -pricePerUnit 900 -maxSessions 20
"""
WORKER = """\
livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /srv/lp/secret -nvidia 0,1 -dataDir /srv/lp/worker
"""
DATA = "/var/lib/docker/volumes/gw_gwdata/_data/arbitrum-one-mainnet"
UNKNOWN = "/var/lib/docker/volumes/<PROJECT>_gwdata/_data/arbitrum-one-mainnet"
"""What adopting writes where no source says of which project the volume is."""
ANSWERS = {"wallets.payer": 'deposit = "0.5 ETH"\nreserve = "0.36 ETH"'}
SOURCES = ("edge@203.0.113.7=compose.yaml", "main@203.0.113.8=orch.sh", "gpu@203.0.113.9=worker.sh")


def answer(path: Path, answers: dict[str, str] = ANSWERS) -> str:
    """Answer the questions of an adopted spec, as people do."""
    text = re.sub(r"# TODO .*\n", "", path.read_text()).replace(UNKNOWN, DATA)
    for table, lines in answers.items():
        assert f"[{table}]\n" in text
        text = text.replace(f"[{table}]\n", f"[{table}]\n{lines}\n")
    path.write_text(text)
    return text


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A folder with sources, and the answered spec of them."""
    for name, text in (("compose.yaml", COMPOSE), ("orch.sh", SCRIPT), ("worker.sh", WORKER)):
        (tmp_path / name).write_text(text)
    assert fleetc("adopt", *SOURCES, "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    answer(tmp_path / "fleet.toml")
    return tmp_path


def compare(folder: Path, spec: str = "fleet.toml", code: int = 0, sources: tuple[str, ...] = SOURCES) -> Any:
    """The comparison as values."""
    done = fleetc("adopt", *sources, "--compare", spec, "--report", "json", cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def changed(folder: Path, before: str, after: str) -> None:
    text = (folder / "fleet.toml").read_text()
    assert before in text
    (folder / "fleet.toml").write_text(text.replace(before, after))


def test_answered_spec_is_what_runs_but_for_its_answers(fleet: Path) -> None:
    found = compare(fleet)
    assert found["settled"] and found["compared"] > 100
    assert [pair["node"] for pair in found["pairs"]] == ["lp-gateway", "orch", "worker"]
    answers = {(one["node"], one["flag"]) for one in found["differences"]}
    assert answers == {("lp-gateway", "dataDir"), ("lp-gateway", "ethKeystorePath")}
    assert {one["reason"] for one in found["differences"]} == {"the spec answers what adopting asks"}
    assert "the values of secrets" in found["not_compared"]


def test_what_somebody_changed_since_has_no_reason(fleet: Path) -> None:
    changed(fleet, "verbosity = 5", "verbosity = 6")
    changed(fleet, 'price = "900 wei / pixel"', 'price = "901 wei / pixel"')
    found = compare(fleet, code=1)
    unknown = [(one["node"], one["flag"], one["today"], one["compiled"])
               for one in found["differences"] if not one["reason"]]  # fmt: skip
    assert unknown == [("lp-gateway", "v", "5", "6"), ("orch", "pricePerUnit", "900 wei / pixel", "901 wei / pixel")]


def test_reason_of_adopting_is_none_for_another_value(fleet: Path) -> None:
    """A container's path is explained as that of the host, but not as any other."""
    (fleet / "compose.yaml").write_text(COMPOSE.replace("gwdata:/root", "/srv/gw/data:/root"))
    (fleet / "fleet.toml").unlink()
    assert fleetc("adopt", *SOURCES, "-o", "fleet.toml", cwd=fleet).returncode == 0
    answer(fleet / "fleet.toml", {"wallets.payer": 'deposit = "0.5 ETH"\nreserve = "0.36 ETH"'})
    reasons = {one["flag"]: one["reason"] for one in compare(fleet)["differences"]}
    assert "path" in reasons["dataDir"]
    changed(fleet, 'data_dir = "/srv/gw/data/arbitrum-one-mainnet"', 'data_dir = "/srv/other"')
    assert {one["flag"]: one["reason"] for one in compare(fleet, code=1)["differences"]}["dataDir"] == ""


def test_renamed_nodes_and_hosts_are_found_by_what_is_theirs_alone(fleet: Path) -> None:
    text = (fleet / "fleet.toml").read_text()
    for before, after in (("lp-gateway", "paris"), ("orchestrators.orch]", "orchestrators.tokyo]"),
                          ('orchestrator = "orch"', 'orchestrator = "tokyo"'), ("transcoders.worker", "transcoders.w1"),
                          ("hosts.gpu", "hosts.rack"), ('host = "gpu"', 'host = "rack"')):  # fmt: skip
        assert before in text
        text = text.replace(before, after)
    (fleet / "fleet.toml").write_text(text)
    found = compare(fleet)
    assert [(pair["process"], pair["node"], pair["host"], pair["by"]) for pair in found["pairs"]] == [
        ("lp-gateway", "paris", "edge", "the same account"),
        ("orch", "tokyo", "main", "the same account"),
        ("worker", "w1", "rack", "the only one of its kind that is left"),
    ]


def test_node_of_one_side_only_is_named(fleet: Path) -> None:
    found = compare(fleet, code=1, sources=SOURCES[1:])
    assert found["only_in_spec"] == [{"node": "lp-gateway", "host": "edge"}]
    (fleet / "second.sh").write_text(WORKER.replace("/srv/lp/worker", "/srv/lp/second"))
    found = compare(fleet, code=1, sources=(*SOURCES, "gpu=second.sh"))
    assert [one["source"] for one in found["only_in_sources"]] == ["second.sh"]
    done = fleetc("adopt", *SOURCES, "gpu=second.sh", "--compare", "fleet.toml", cwd=fleet)
    assert "second on gpu (second.sh): it runs today, and no node of the spec is it" in done.stdout


def test_image_and_runtime_are_compared_beside_the_settings(fleet: Path) -> None:
    changed(fleet, 'node_release = "v0.9.1"', 'node_release = "v0.9.0"')
    beside = [one for one in compare(fleet, code=1)["beside"] if not one["reason"]]
    assert [one["what"] for one in beside] == [
        "its image is livepeer/go-livepeer:v0.9.1, and will be livepeer/go-livepeer:v0.9.0"
    ]


def test_node_of_another_host_is_not_where_it_was(fleet: Path) -> None:
    changed(fleet, 'address = "203.0.113.9"', 'address = "203.0.113.10"')
    beside = [one["what"] for one in compare(fleet, code=1)["beside"] if not one["reason"]]
    assert beside == ["it runs on gpu (203.0.113.9), and will on gpu (203.0.113.10)"]
    compare(fleet, sources=(*SOURCES[:2], "worker.sh"))  # which does not say where it runs


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_table_is_for_people_and_nothing_is_written(fleet: Path, form: str) -> None:
    before = {path: path.read_bytes() for path in fleet.iterdir()}
    done = fleetc("adopt", *SOURCES, "--compare", "fleet.toml", "--report", form, cwd=fleet)
    assert "3 nodes compared with fleet.toml" in done.stdout.replace("\\", "")
    assert "2 differ, 1 other change, none without a reason" in done.stdout
    assert {path: path.read_bytes() for path in fleet.iterdir()} == before


def test_spec_with_open_questions_is_not_compared(fleet: Path) -> None:
    changed(fleet, f'keystore = "{DATA}/keystore"\n', "")
    done = fleetc("adopt", *SOURCES, "--compare", "fleet.toml", cwd=fleet)
    assert done.returncode == 1
    assert "error[missing-key]" in done.stderr
    assert "nothing was compared" in done.stderr
    assert done.stdout == ""


def test_refused_source_compares_nothing(fleet: Path) -> None:
    (fleet / "worker.sh").write_text('livepeer -transcoder "\n')
    done = fleetc("adopt", *SOURCES, "--compare", "fleet.toml", cwd=fleet)
    assert done.returncode == 1 and "error[adopt-source-unreadable]" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("option", [("-o", "other.toml"), ("--answers", "fleet.toml")])
def test_compare_writes_no_spec(fleet: Path, option: tuple[str, str]) -> None:
    done = fleetc("adopt", *SOURCES, "--compare", "fleet.toml", *option, cwd=fleet)
    assert done.returncode == 2 and "--compare writes no spec" in done.stderr


def test_adopting_compares_before_anybody_has_answered(fleet: Path) -> None:
    """A gateway on a chain has questions that no source answers; the rest of it is compared all the same."""
    done = fleetc("adopt", *SOURCES, "--report", "json", cwd=fleet)
    report = json.loads(done.stdout)
    waiting = {(one["node"], one["flag"]) for one in report["waiting"]}
    assert waiting == {("lp-gateway", "dataDir"), ("lp-gateway", "ethKeystorePath")}
    assert report["compared"] == compare(fleet)["compared"] - len(waiting)
    assert report["differences"] == []
    assert ", 2 open" in done.stderr


def test_last_lines_say_what_is_next(fleet: Path) -> None:
    (fleet / "fleet.toml").unlink()
    done = fleetc("adopt", *SOURCES, "-o", "my fleet.toml", cwd=fleet)
    assert done.stderr.splitlines()[-2:] == [
        f"next: answer the TODO lines, then: fleetc adopt {' '.join(SOURCES)} --compare 'my fleet.toml'",
        "then: fleetc compile 'my fleet.toml'; before the first deploy of a host: fleetc adopt --in-place HOST "
        "'my fleet.toml'",
    ]


def test_comparison_is_short_and_says_what_check_says(fleet: Path) -> None:
    """What adopting has explained is counted; a price, an answer and what nobody explains is not."""

    def said(code: int = 0) -> list[str]:
        done = fleetc("adopt", *SOURCES, "--compare", "fleet.toml", cwd=fleet)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout.splitlines()

    lines = said()
    assert len(" ".join(lines).split()) < 90
    assert "no question is left" in lines
    answered = lines[lines.index("  the spec answers what adopting asks:") + 1 :]
    assert any(line.startswith("    lp-gateway -dataDir: ") for line in answered)
    assert lines[-1] == "check: 2 warnings (minimum-balance-low): fleetc check fleet.toml"
    changed(fleet, 'price = "900 wei / pixel"', '# TODO price\nprice = "901 wei / pixel"')
    lines = said(1)
    number = (fleet / "fleet.toml").read_text().split("\n").index("# TODO price") + 1
    assert f"TODO lines are left: fleet.toml:{number}" in lines
    assert "  orch -pricePerUnit: 900 wei / pixel -> 901 wei / pixel: the sources say otherwise" in lines
    assert "todo-left" in lines[-1]


@pytest.mark.usefixtures("processes")
def test_check_in_a_comparison_asks_the_rules_beside_the_spec(fleet: Path) -> None:
    (fleet / "policy").mkdir()
    page = '"""No fleet is right.\n\nWhy: a test.\n\nInstead: write no fleet.\n"""\n'
    rule = 'def check(fleet):\n    return [finding(("fleet",), "nothing is right", "write none")]\n'
    (fleet / "policy" / "never.star").write_text(f"{page}\n{rule}")
    done = fleetc("adopt", *SOURCES, "--compare", "fleet.toml", cwd=fleet)
    assert (
        "check: 1 error (policy/never), 2 warnings (minimum-balance-low): fleetc check fleet.toml\n" in done.stdout
    ), done.stdout + done.stderr


WORKERS = """\
services:
  first: &worker
    image: livepeer/go-livepeer:v0.9.1
    command: -transcoder -orchAddr orch.example.net:8935 -orchSecret /run/secret -nvidia 0
    volumes: ["/srv/secret:/run/secret"]
  second: {<<: *worker, command: -transcoder -orchAddr orch.example.net:8935 -orchSecret /run/secret -nvidia 1}
  gate:
    image: livepeer/go-livepeer:v0.9.1
    command: -gateway -orchAddr orch.example.net:8935 -cliAddr 0.0.0.0:6936
    ports: ["127.0.0.1:6936:6936"]
"""


def test_containers_get_ports_of_their_own_where_they_shared_no_network(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(WORKERS)
    sources = ("edge@203.0.113.7=compose.yaml",)
    assert fleetc("adopt", *sources, "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    text = (tmp_path / "fleet.toml").read_text()
    assert 'cli = "127.0.0.1:6937"  # first has port 6935' in text  # 6936 is that of the gateway, and published
    assert fleetc("check", cwd=tmp_path).returncode == 0
    reason = "today each container has a network of its own; on the host, first has port 6935"
    reasons = {(one["node"], one["flag"]): one["reason"] for one in compare(tmp_path, sources=sources)["differences"]}
    assert reasons["second", "cliAddr"] == reason
    changed(tmp_path, "127.0.0.1:6937", "127.0.0.1:7000")  # adopting only chose it, so people may choose another one
    again = fleetc("adopt", *sources, "--answers", "fleet.toml", "-o", "fleet.toml", cwd=tmp_path)
    assert "sources say something else" not in again.stderr
    assert "127.0.0.1:7000" in (tmp_path / "fleet.toml").read_text()


@pytest.mark.parametrize(
    ("answer_", "differences"),
    [('cli = "127.0.0.1:6936"', {"cliAddr"}), ('cli = "0.0.0.0:6936"\ncli_exposed = true', set())],
)
def test_an_exposed_listener_is_asked_for_and_either_answer_is_explained(
    tmp_path: Path, answer_: str, differences: set[str]
) -> None:
    (tmp_path / "gate.sh").write_text("livepeer -gateway -orchAddr orch.example.net:8935 -cliAddr 0.0.0.0:6936\n")
    sources = ("edge@203.0.113.7=gate.sh",)
    assert fleetc("adopt", *sources, "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    text = (tmp_path / "fleet.toml").read_text()
    asked = '# TODO cli = "127.0.0.1:6936"  # who reaches 0.0.0.0:6936 can change its settings and read its state; use '
    keep = 'an SSH tunnel, or keep it with cli = "0.0.0.0:6936", cli_exposed = true and a firewall\n'
    assert asked + keep in text
    assert "\ncli_exposed" not in text and "\ncli = " not in text
    (tmp_path / "fleet.toml").write_text(re.sub("# TODO cli = .*", answer_, text))
    assert fleetc("check", cwd=tmp_path).returncode == 0
    found = compare(tmp_path, sources=sources)["differences"]
    assert {one["flag"] for one in found} - {"dataDir"} == differences
    (tmp_path / "fleet.toml").write_text(re.sub("# TODO .*\n", "", (tmp_path / "fleet.toml").read_text()))
    again = fleetc("adopt", *sources, "--answers", "fleet.toml", "-o", "fleet.toml", cwd=tmp_path).stderr
    answered = "-cliAddr: 0.0.0.0:6936 -> 127.0.0.1:6936: as you answered"
    assert "a question is left" not in again and (answered in again) is bool(differences)


GATEWAY = """\
livepeer -gateway -orchAddr https://orch.example.net:8935 -cliAddr 127.0.0.1:6936 -dataDir /srv/gate \\
  -transcodingOptions "${CONF}/profiles.json"
"""
PROFILES = """\
[{"name": "480p", "width": 854, "height": 480, "bitrate": 1600000, "fps": 30, "fpsDen": 1, "gop": "2",
  "profile": "h264constrainedhigh"}]
"""
LADDER = """
[[ladders.app.profiles]]
name = "480p"
width = 854
height = 480
bitrate = 1600000
fps = 30
fpsDen = 1
gop = "2"
profile = "H264ConstrainedHigh"
"""


def unasked(path: Path) -> str:
    """A spec whose questions somebody took away, without an answer to any."""
    text = re.sub(r"# TODO .*\n", "", path.read_text())
    path.write_text(text)
    return text


@pytest.mark.parametrize("asked", [True, False])
def test_setting_that_nobody_wrote_is_no_answer(tmp_path: Path, asked: bool) -> None:
    """The line that asks does not count: only a value does."""
    (tmp_path / "worker.sh").write_text(WORKER.replace("0,1", "$GPU"))
    sources = ("gpu@203.0.113.9=worker.sh",)
    assert fleetc("adopt", *sources, "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    if not asked:
        unasked(tmp_path / "fleet.toml")
    for command in ("check", "compile"):
        done = fleetc(command, cwd=tmp_path)
        assert done.returncode == 0 and ("warning[todo-left]" in done.stdout + done.stderr) is asked
    (one,) = compare(tmp_path, code=1, sources=sources)["differences"]
    assert (one["flag"], one["today"], one["compiled"]) == ("nvidia", "${GPU}", "(unset)")
    assert one["reason"] == "a question is left: adopting asks, and the spec does not answer"
    done = fleetc("adopt", *sources, "--compare", "fleet.toml", cwd=tmp_path)
    assert "1 differs, 1 other change, 1 without a reason" in done.stdout
    changed(tmp_path, 'host = "gpu"', 'host = "gpu"\ngpus = [2]')
    (one,) = compare(tmp_path, sources=sources)["differences"]
    assert (one["compiled"], one["reason"]) == ("2", "the spec answers what adopting asks")


def test_default_is_no_answer_but_may_be_written_as_one(tmp_path: Path) -> None:
    (tmp_path / "gate.sh").write_text(GATEWAY.split(" \\\n")[0].replace("127.0.0.1:6936", "$CLI"))
    assert fleetc("adopt", "edge@203.0.113.7=gate.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    unasked(tmp_path / "fleet.toml")
    sources = ("edge@203.0.113.7=gate.sh",)
    reasons = [one["reason"] for one in compare(tmp_path, code=1, sources=sources)["differences"]]
    assert reasons == ["a question is left: adopting asks, and the spec does not answer"]
    changed(tmp_path, 'host = "edge"', 'host = "edge"\ncli = "127.0.0.1:5935"')
    compare(tmp_path, sources=sources)


def test_other_content_than_that_of_a_source_has_no_reason(tmp_path: Path) -> None:
    """The path has a hole, so adopting asks; but the file is among the sources, and says what the node does today."""
    (tmp_path / "gate.sh").write_text(GATEWAY)
    (tmp_path / "profiles.json").write_text(PROFILES)
    sources = ("edge@203.0.113.7=gate.sh", "profiles.json")
    assert fleetc("adopt", *sources, "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    text = unasked(tmp_path / "fleet.toml")
    if "[ladders." not in text:
        (tmp_path / "fleet.toml").write_text(text.replace('host = "edge"', 'host = "edge"\nladder = "app"') + LADDER)
    assert compare(tmp_path, sources=sources)["differences"] == []
    changed(tmp_path, "height = 480", "height = 144")
    (one,) = compare(tmp_path, code=1, sources=sources)["differences"]
    assert (one["flag"], one["reason"]) == ("transcodingOptions 480p", "")
    assert (one["today"], one["compiled"]) == ("height: 480", "height: 144")


def test_release_that_no_source_says_is_not_compared(fleet: Path) -> None:
    """An image says the release of its node; what a script runs, nobody says."""
    assert (
        "the release of orch, worker, which no image and no unit among the sources says"
        in compare(fleet)["not_compared"]
    )
    found = compare(fleet, code=1, sources=SOURCES[:1])
    assert not any("release" in words for words in found["not_compared"])


@pytest.mark.parametrize(("program", "more", "likely"), [
    ("/opt/livepeer/v0.8.8/livepeer", "", "v0.8.8 is in paths of programs"),
    ("livepeer", "livepeer_version: v0.8.8\n", "v0.8.8 is livepeer_version at vars.yml:1"), ("livepeer", "", ""),
])  # fmt: skip
def test_release_that_only_a_path_or_a_variable_says_is_named(
    program: str, more: str, likely: str, tmp_path: Path
) -> None:
    (tmp_path / "orch.sh").write_text(f"{program}{SCRIPT.removeprefix('livepeer')}")
    (tmp_path / "worker.sh").write_text(f"{program}{WORKER.removeprefix('livepeer')}")
    (tmp_path / "vars.yml").write_text(more or "other: 1\n")
    sources = (*SOURCES[1:], "vars.yml")
    fleetc("adopt", *sources, "-o", "fleet.toml", cwd=tmp_path)
    text = (tmp_path / "fleet.toml").read_text().replace('node_release = "v0.9.1"', 'node_release = "v0.8.8"')
    for release, but in (("v0.8.8", ""), ("v0.9.0", ", and the spec has v0.9.0")):
        (tmp_path / "other.toml").write_text(text.replace('"v0.8.8"', f'"{release}"'))
        done = fleetc("adopt", *sources, "--compare", "other.toml", cwd=tmp_path)
        said = f"the releases ({likely}{but})" if likely else "the releases, which no source says"
        assert f"; {said}; deposits" in done.stdout, done.stdout + done.stderr
    found = compare(tmp_path, "other.toml", sources=sources)
    assert any(words.startswith("the release of orch, worker") and likely in words for words in found["not_compared"])


WORKLOAD = """\
apiVersion: apps/v1
kind: KIND
metadata: {name: transcoder}
spec:
  REPLICAS
  template:
    spec:
      nodeSelector: {gpu: "true"}
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers:
        - name: t
          image: livepeer/go-livepeer:v0.9.1
          args: [-transcoder, -orchAddr, "orch.example.net:8935", -orchSecret, $(SECRET), -nvidia, all]
          env: [{name: SECRET, valueFrom: {secretKeyRef: {name: s, key: s}}}]
          resources: {limits: {nvidia.com/gpu: 1}}
"""


@pytest.mark.parametrize(
    ("kind", "replicas", "question", "several"),
    [
        ("DaemonSet", "", "a DaemonSet runs it on every host with gpu=true; kubectl get nodes -l gpu=true lists them",
         True),
        ("Deployment", "replicas: 2", "it runs 2 times, on hosts with gpu=true that the cluster chooses; ", True),
        ("Deployment", "replicas: 1", "it runs once, on a host with gpu=true that the cluster chooses; ", False),
    ],
)  # fmt: skip
def test_hosts_that_a_cluster_chooses_are_asked_for(
    tmp_path: Path, kind: str, replicas: str, question: str, several: bool
) -> None:
    (tmp_path / "all.yaml").write_text(WORKLOAD.replace("KIND", kind).replace("REPLICAS", replicas))
    done = fleetc("adopt", "all.yaml", "-o", "fleet.toml", "--report", "markdown", cwd=tmp_path)
    assert done.returncode == 0
    assert ("is several nodes, and the spec has one" in done.stderr) is several
    assert f"{kind} transcoder" in done.stdout and "tolerations" in done.stdout
    text = (tmp_path / "fleet.toml").read_text()
    about = "host:" if several else 'address = "203.0.113.10"  # where you log in; no source says it;'
    assert f"# TODO {about} {question}" in text
    assert ("; this table stands for one of them\n" in text) is several


def test_address_that_adopting_guesses_is_an_answer_where_people_have_another_one(tmp_path: Path) -> None:
    (tmp_path / "orch.sh").write_text(SCRIPT)
    assert fleetc("adopt", "orch.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    assert "# TODO address: is this also where you log in?" in (tmp_path / "fleet.toml").read_text()
    changed(tmp_path, 'address = "orch.example.net"', 'address = "203.0.113.8"')
    assert compare(tmp_path, sources=("orch.sh",))["beside"] == []


def test_each_node_of_a_process_that_runs_several_times_is_compared(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(WORKLOAD.replace("KIND", "DaemonSet").replace("  REPLICAS\n", ""))
    (tmp_path / "fleet.toml").write_text(
        'spec = 1\n[fleet]\nname = "adopted"\nnetwork = "offchain"\nnode_release = "v0.9.1"\n'
        '[hosts."gpu-{1..2}"]\naddress = "203.0.113.2{1..2}"\nruntime = "docker"\n'
        '[transcoders."t-{1..2}"]\nhost = "gpu-{1..2}"\norchestrator = "orch.example.net:8935"\ngpus = [0]\n'
        'secret = { env = "SECRET" }\n'
    )
    found = compare(tmp_path, sources=("all.yaml",))
    assert [(pair["node"], pair["host"], pair["by"]) for pair in found["pairs"]] == [
        ("t-1", "gpu-1", "one of several that run of it"), ("t-2", "gpu-2", "one of several that run of it"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "told"),
    [("/home/lp/models", "the spec answers what adopting asks"), ("/mnt/other", ""), ("/home/lp/model", "")],
)
def test_answer_that_leaves_out_what_a_source_says_is_a_difference(tmp_path: Path, answer: str, told: str) -> None:
    """Of ~/models only the home is open."""
    worker = "livepeer -aiWorker -orchAddr o.example.net:1 -orchSecret /s -nvidia 0 -aiModels m.json -dataDir /d"
    (tmp_path / "start.sh").write_text(f"{worker} -aiModelsDir ~/models\n")
    (tmp_path / "m.json").write_text('[{"pipeline": "text-to-image", "model_id": "a/b"}]')
    sources = ("gpu@192.0.2.1=start.sh", "m.json")
    assert fleetc("adopt", *sources, "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    changed(tmp_path, '"~/models"', f'"{answer}"')
    found = compare(tmp_path, sources=sources, code=0 if told else 1)
    reasons = {one["flag"]: one["reason"] for one in found["differences"]}
    assert reasons["aiModelsDir"] == told


def test_answer_for_a_volume_is_another_project_and_nothing_else(fleet: Path) -> None:
    changed(fleet, f'"{DATA}"', f'"{DATA.replace("/volumes/gw_", "/volumes/other_")}"')
    assert compare(fleet)["settled"]
    changed(fleet, 'other_gwdata/_data/arbitrum-one-mainnet"', 'other_gwdata/_data/elsewhere"')
    reasons = {one["flag"]: one["reason"] for one in compare(fleet, code=1)["differences"]}
    assert reasons["dataDir"] == "" and reasons["ethKeystorePath"]


def test_file_that_is_none_of_the_sources_is_named_as_not_compared(tmp_path: Path) -> None:
    worker = (
        "livepeer -aiWorker -orchAddr o.example.net:1 -orchSecret /s -nvidia 0 -aiModels /etc/lp/m.json -dataDir /d"
    )
    (tmp_path / "start.sh").write_text(f"{worker}\n")
    assert fleetc("adopt", "gpu@192.0.2.1=start.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    text = re.sub(r"# TODO models = .*", 'models = [{ use = "b" }]', (tmp_path / "fleet.toml").read_text())
    (tmp_path / "fleet.toml").write_text(f'{text}\n[models.b]\npipeline = "text-to-image"\nid = "a/b"\n')
    told = "what /etc/lp/m.json says, which is none of the sources"
    assert told in compare(tmp_path, sources=("gpu@192.0.2.1=start.sh",))["not_compared"]
    (tmp_path / "m.json").write_text('[{"pipeline": "text-to-image", "model_id": "a/b"}]')
    found = compare(tmp_path, sources=("gpu@192.0.2.1=start.sh", "m.json"))
    assert told not in found["not_compared"] and "aiModels" not in {one["flag"] for one in found["differences"]}


@pytest.mark.parametrize(
    ("password", "said", "reason"),
    [
        ('{ host_file = "/srv/lp/password" }', None, ""),
        ('{ host_file = "/srv/lp/other" }', "/srv/lp/other", ""),
        ('{ env = "PASSWORD" }', "env PASSWORD", "it is given in another way, and nobody has compared the values"),
    ],
)
def test_file_of_a_password_is_compared_and_another_way_to_give_it_is_said(
    fleet: Path, password: str, said: str | None, reason: str
) -> None:
    changed(fleet, '{ host_file = "/srv/lp/password" }', password)
    found = compare(fleet, code=1 if said and not reason else 0)
    differs = [(one["node"], one["today"], one["compiled"], one["reason"])
               for one in found["differences"] if one["flag"] == "ethPassword"]  # fmt: skip
    assert differs == ([("orch", "/srv/lp/password", said, reason)] if said else [])
    done = fleetc("adopt", *SOURCES, "--compare", "fleet.toml", cwd=fleet)
    assert ("  orch -ethPassword: /srv/lp/password -> " in done.stdout) is bool(said)


def test_secret_in_clear_that_another_variable_has_is_said_without_its_value(fleet: Path) -> None:
    for name, text in (("orch.sh", SCRIPT), ("worker.sh", WORKER)):
        (fleet / name).write_text(text.replace("/srv/lp/secret", "wombat7719spruce"))
    (fleet / "fleet.toml").unlink()
    assert fleetc("adopt", *SOURCES, "-o", "fleet.toml", cwd=fleet).returncode == 0
    answer(fleet / "fleet.toml")
    assert "orchSecret" not in {one["flag"] for one in compare(fleet)["differences"]}
    changed(fleet, '{ env = "ORCH_SECRET" }', '{ env = "OTHER" }')
    found = [one for one in compare(fleet)["differences"] if one["flag"] == "orchSecret"]
    assert {(one["node"], one["today"], one["compiled"]) for one in found} == {
        ("orch", "set", "env OTHER"), ("worker", "set", "env OTHER"),
    }  # fmt: skip
    assert "wombat" not in json.dumps(found)


def test_answer_to_where_a_password_is_stands_beside_what_the_source_says(fleet: Path) -> None:
    (fleet / "orch.sh").write_text(SCRIPT.replace("/srv/lp/password", "$KEYS/.pass"))
    (fleet / "fleet.toml").unlink()
    assert fleetc("adopt", *SOURCES, "-o", "fleet.toml", cwd=fleet).returncode == 0
    answer(fleet / "fleet.toml", {**ANSWERS, "wallets.earner": 'password = { host_file = "/srv/keys/.pass" }'})
    (one,) = (one for one in compare(fleet)["differences"] if one["flag"] == "ethPassword")
    assert (one["today"], one["compiled"]) == ("${KEYS}/.pass", "/srv/keys/.pass")
    assert one["reason"] == "the spec answers what adopting asks"


SHARED = """\
docker run -d --name lp-{0} --network host --gpus all -v /opt/{0}:/root/.lpData livepeer/go-livepeer:v0.8.8 \\
  -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc \\
  -ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword {2} -dataDir /root/.lpData \\
  -serviceAddr o.example.net:893{1} -cliAddr 127.0.0.1:793{1} -pricePerUnit 900 -reward=false
"""
KEYSTORES = (
    "lp-b -ethKeystorePath: /opt/b/keystore -> /opt/a/keystore: one wallet has one keystore directory on all hosts"
)
PASSWORDS = "one wallet has one password, and another node of it names another one"


@pytest.mark.parametrize(
    ("password", "today", "reason"),
    [
        ("/root/.lpData/pw.txt", "/opt/b/pw.txt", PASSWORDS), ("opensesame77", "set", PASSWORDS),
        ("$PW", "env PW", PASSWORDS),
        ("/run/pw", "/run/pw", "one wallet has one password, and no source says whether its file is this one"),
    ],
)  # fmt: skip
def test_what_two_nodes_of_a_wallet_have_in_two_places_is_said_with_both(
    password: str, today: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "a.sh").write_text(SHARED.format("a", 5, "/root/.lpData/pw.txt"))
    (tmp_path / "b.sh").write_text(SHARED.format("b", 6, password))
    done = fleetc("adopt", "a.sh", "b.sh", "--host", "h@o.example.net", "-o", "fleet.toml", cwd=tmp_path)
    line = f"lp-b -ethPassword: {today} -> /opt/a/pw.txt: {reason}"
    assert f"  {line}\n" in done.stderr and f"  {KEYSTORES}\n" in done.stderr, done.stderr
    text = (tmp_path / "fleet.toml").read_text()
    compared = ("adopt", "a.sh", "b.sh", "--host", "h@o.example.net", "--compare", "fleet.toml")
    done = fleetc(*compared, cwd=tmp_path)
    assert f"  {line}\n" in done.stdout and f"  {KEYSTORES}\n" in done.stdout and done.returncode == 0, done.stdout
    assert "opensesame" not in done.stdout
    (tmp_path / "fleet.toml").write_text(text.replace("/opt/a/pw.txt", "/opt/b/pw.txt"))
    done = fleetc(*compared, cwd=tmp_path)
    (told,) = (line for line in done.stdout.splitlines() if "-ethPassword: " in line)
    assert "lp-a" in told and told.endswith("-> /opt/b/pw.txt: the sources say otherwise"), told
    assert ("lp-b" in told) is (today != "/opt/b/pw.txt") and done.returncode == 1, told


def test_two_nodes_of_a_wallet_with_the_same_places_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(SHARED.format("a", 5, "/root/.lpData/pw.txt"))
    (tmp_path / "b.sh").write_text(SHARED.format("b", 6, "/root/.lpData/pw.txt").replace("/opt/b:", "/opt/a:"))
    done = fleetc("adopt", "a.sh", "b.sh", "--host", "h@o.example.net", cwd=tmp_path)
    assert "-ethPassword" not in done.stderr and "-ethKeystorePath" not in done.stderr
