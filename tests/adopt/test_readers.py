"""What the readers make of sources: shell scripts, docker run, Compose files, units, and inventories."""

from __future__ import annotations

import tomllib

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.sources import kind_of
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.adopt.support import answered, meanings


def adopted(**texts: str) -> Adopted:
    """Adopt texts by file name, with __ for a dot and ___ for a slash."""
    return adopt([Source(name.replace("___", "/").replace("__", "."), text) for name, text in texts.items()])


def codes(found: Adopted) -> list[str]:
    """The codes of all messages."""
    return [d.code for d in found.diagnostics]


def words(text: str) -> list[str]:
    """The words of the one node of a script."""
    (process,) = adopted(start__sh=text).processes
    return [word.text for word in process.words]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("livepeer -gateway \\\n  -v 6", ["-gateway", "-v", "6"]),
        ("sudo -u lp nohup /usr/bin/livepeer -gateway -v '6' > log 2>&1 &", ["-gateway", "-v", "6"]),
        ('V=6\nlivepeer -gateway -v "$V"', ["-gateway", "-v", "6"]),
        ("livepeer -gateway -v ${V:-6} -region '${R}'", ["-gateway", "-v", "6", "-region", "${R}"]),
        ("ARGS=(-gateway -v 6)\nARGS+=(-monitor)\nlivepeer \"${ARGS[@]}\"", ["-gateway", "-v", "6", "-monitor"]),
        ('A="-gateway"\nA="$A -v 6"\nlivepeer $A', ["-gateway", "-v", "6"]),
        ("sh -c 'cd /x && exec livepeer -gateway -v 6'", ["-gateway", "-v", "6"]),
        ("if [ \"$1\" = x ]; then echo; fi\nlivepeer -gateway", ["-gateway"]),
        ("D=no\nif [ $D = no ]; then livepeer -gateway; else livepeer -redeemer; fi", ["-gateway"]),
        ("start() {\n  livepeer -gateway\n}\nstart", ["-gateway"]),
        ("screen -dmS gw /usr/bin/livepeer -gateway -v 6", ["-gateway", "-v", "6"]),
        ('screen -S gw -dm bash -c "livepeer -gateway -v 6"', ["-gateway", "-v", "6"]),
        ('tmux new-session -d -s gw "livepeer \\\n -gateway -v 6 2>&1 | tee log"', ["-gateway", "-v", "6"]),
        ("tmux send-keys -t gw 'livepeer -gateway -v 6' C-m", ["-gateway", "-v", "6"]),
        ("tmux ls; tmux; screen -r\nlivepeer -gateway", ["-gateway"]),
        ("./renamed-node -gateway -orchAddr a:1 -v 6", ["-gateway", "-orchAddr", "a:1", "-v", "6"]),
    ],
)  # fmt: skip
def test_shell_words_are_those_of_a_shell(text: str, wanted: list[str]) -> None:
    assert words(text) == wanted


def test_nothing_of_a_script_is_run(tmp_path: object) -> None:
    found = adopted(start__sh=f"livepeer -gateway -region $(touch {tmp_path}/x) -orchAddr `touch {tmp_path}/y`:1")
    assert list(tmp_path.iterdir()) == []  # type: ignore[attr-defined]  # the fixture is a path
    assert codes(found).count("adopt-value-unknown") == 2


def test_words_behind_a_bare_word_are_reported_as_ignored() -> None:
    found = adopted(start__sh="livepeer -gateway -reward false -monitor -orchAddr a:1")
    (ignored,) = [d for d in found.diagnostics if d.code == "adopt-words-ignored"]
    assert ignored.message.startswith("-reward takes no word behind it, so it is on")
    assert "monitor" not in found.text


def test_word_that_may_be_the_rest_of_a_password_is_not_shown() -> None:
    found = adopted(start__sh="livepeer -orchestrator -ethPassword correct horse-battery -v 6")
    assert "horse" not in repr([d.message for d in found.diagnostics]) + repr([e.shown for e in found.entries])


COMPOSE = """\
x-common: &common
  image: livepeer/go-livepeer:v0.9.1
  volumes: ["/srv/lp:/root/.lpData"]
services:
  orch:
    <<: *common
    command: >
      -orchestrator -transcoder -network ${NETWORK:-offchain}
      -serviceAddr ${PUBLIC}:8935 -nvidia 0
    env_file: node.env
    ports: ["8935:8935", "127.0.0.1:7000:7935"]
  gate:
    <<: *common
    command: ["-gateway", "-orchAddr=https://orch:8935", "-httpAddr=0.0.0.0:8935", "-cliAddr", "gate:5935"]
    profiles: [edge]
    ports: ["9935:8935"]
  redis:
    image: redis
"""


def test_compose_services_become_nodes_on_the_network_of_their_host() -> None:
    found = adopted(compose__yaml=COMPOSE, node__env="LP_MAXSESSIONS=7\n", __env="PUBLIC=orch.example.net\n")
    assert [(node.name, node.role) for node in found.nodes] == [("orch", "orchestrator"), ("gate", "gateway")]
    assert 'service = "orch.example.net:8935"' in found.text
    assert "max_sessions = 7" in found.text
    assert 'orchestrators = ["orch"]' in found.text  # by the name of the container
    assert 'http = "0.0.0.0:9935"' in found.text  # where the host publishes it
    assert 'data_dir = "/srv/lp/offchain"' in found.text
    assert found.checked is not None
    assert found.checked.fleet is None  # two nodes want one data directory, which is a mistake today as well
    assert {d.code for d in found.checked.diagnostics if d.severity is Severity.ERROR} == {"data-dir-used-twice"}


def test_unknown_variable_of_compose_is_asked_about_and_not_guessed() -> None:
    found = adopted(compose__yaml=COMPOSE, node__env="")
    assert "TODO service" in found.text
    assert "${PUBLIC}" in found.text.split("[orchestrators.orch]")[0]
    assert "adopt-value-unknown" in codes(found)


UNIT = """\
[Unit]
Description=my node
[Service]
User=lp
Environment="LP_V=6" HOME=/home/lp
EnvironmentFile=-/etc/livepeer/node.env
ExecStart=/opt/livepeer/livepeer -transcoder \\
  # a comment between
  -orchAddr=${ORCH} -nvidia "0,1" \\
  -orchSecret /etc/livepeer/secret
[Install]
WantedBy=multi-user.target
"""


def test_unit_with_drop_in_and_environment_file() -> None:
    found = adopt(
        [
            Source("etc/livepeer.service", UNIT),
            Source("etc/livepeer.service.d/more.conf", "[Service]\nEnvironment=ORCH=old.example.net:8935\n"),
            Source("etc/livepeer/node.env", "ORCH=orch.example.net:8935\n"),
        ],
        addresses={"gpu-1": "192.0.2.7"},
    )
    assert found.checked is not None
    assert found.checked.fleet is not None, found.text
    assert found.differences == ()
    worker = found.checked.fleet.transcoders["transcoder"]
    assert (worker.orchestrator, worker.verbosity, worker.data_dir) == (
        "orch.example.net:8935", 6, "/home/lp/.lpData/offchain",
    )  # fmt: skip
    host = found.checked.fleet.hosts["gpu-1"]
    assert (host.node_user, host.binary, str(host.address)) == ("lp", "/opt/livepeer/livepeer", "192.0.2.7")


def test_same_wallet_and_model_met_twice_are_one_table() -> None:
    command = (
        "livepeer -orchestrator -aiWorker -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword /etc/lp/pw -ethKeystorePath /etc/lp/keys "
        "-serviceAddr orch-{0}.example.net:8935 -pricePerUnit 900 -aiModels models-{0}.json -dataDir /d/{0}\n"
    )
    models = '[{"pipeline": "text-to-image", "model_id": "stabilityai/sd-turbo", "price_per_unit": %d, "warm": true}]'
    found = adopt(
        [
            Source("a.sh", command.format(1)), Source("b.sh", command.format(2)),
            Source("models-1.json", models % 5), Source("models-2.json", models % 5),
        ],
        hosts={"a.sh": "a", "b.sh": "b"},
    )  # fmt: skip
    assert found.text.count("[wallets.") == found.text.count("[models.") == 1
    assert found.text.count('price = "5 wei / pixel"') == 1  # of the model, since all ask the same
    assert 'reward_by = "a"' in found.text
    assert "adopt-reward-unsaid" in codes(found)


def test_inventory_says_where_hosts_are() -> None:
    ini = "[nodes]\ngpu-1 ansible_host=192.0.2.9 ansible_user=deploy ansible_port=2222\n[nodes:vars]\nx=1\n"
    found = adopt(
        [Source("inventory.ini", ini), Source("hosts/gpu-1/x/run.sh", "livepeer -gateway -orchAddr a.example.net:1")]
    )
    assert found.checked is not None
    assert found.checked.fleet is not None, found.text
    host = found.checked.fleet.hosts["gpu-1"]
    assert (str(host.address), host.ssh_user, host.ssh_port) == ("192.0.2.9", "deploy", 2222)


MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: orch}
data:
  LP_MAXSESSIONS: "9"
  aiModels.json: |
    [{"pipeline": "text-to-image", "model_id": "stabilityai/sd-turbo", "warm": true}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: orch}
spec:
  template:
    spec:
      hostNetwork: true
      nodeSelector: {kubernetes.io/hostname: gpu-7}
      volumes:
        - {name: data, hostPath: {path: /srv/orch}}
        - {name: config, configMap: {name: orch}}
      containers:
        - name: node
          image: livepeer/go-livepeer:v0.9.1
          args: ["-orchestrator", "-aiWorker", "-transcoder", "-serviceAddr=$(PUBLIC):8935", "-orchSecret=$(SECRET)",
                 "-aiModels=/config/aiModels.json", "-dataDir=/data"]
          envFrom: [{configMapRef: {name: orch}}]
          env:
            - {name: PUBLIC, value: orch.example.net}
            - name: SECRET
              valueFrom: {secretKeyRef: {name: orch, key: secret}}
          volumeMounts:
            - {name: data, mountPath: /data}
            - {name: config, mountPath: /config}
        - {name: exporter, image: prom/node-exporter}
---
apiVersion: v1
kind: Service
metadata: {name: orch}
"""


def test_manifest_with_a_config_map_and_a_secret() -> None:
    found = adopted(orch__yaml=MANIFEST)
    (node,) = found.nodes
    assert (node.name, node.host, node.text("maxSessions")) == ("orch", "gpu-7", "9")
    assert 'data_dir = "/srv/orch"' in found.text
    assert 'service = "orch.example.net:8935"' in found.text
    assert 'secret = { env = "SECRET" }' in found.text
    assert 'models = [{ use = "sd-turbo", warm = true }]' in found.text


RUNNERS = """\
services:
  orchestrator:
    image: livepeer/go-livepeer:v0.9.1
    command:
      - -orchestrator
      - -useLiveRunners
      - -serviceAddr=127.0.0.1:8935
      - -httpAddr=0.0.0.0:8935
      - -liveRunnerAddr=https://orchestrator:8935
      - -orchSecret=${ORCH_SECRET:-word}
      - -monitor=false
MORE
    volumes: ["/srv/runners.json:/config/runners.json:ro", "/srv/orch:/root/.lpData"]
  echo:
    image: registry.example.net/runner-example-echo
    environment: {ORCHESTRATOR: "https://orchestrator:8935"}
"""


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("      - -network=offchain\n", {}),
        ("      - -network=offchain\n      - -liveRunnerConfig=/config/runners.json\n", {
            "live_runner_config": "/srv/runners.json"
        }),
        (
            "      - -network=arbitrum-one-mainnet\n      - -ethUrl=https://rpc.example.net\n"
            "      - -ethAcctAddr=0x1111111111111111111111111111111111111111\n      - -ethPassword=/root/.lpData/word\n"
            "      - -pricePerUnit=0\n      - -ticketEV=1000000000\n      - -maxFaceValue=4000000000000000\n",
            {"wallet": "earner"},
        ),
    ],
    ids=["dynamic", "static", "on a chain"],
)  # fmt: skip
def test_orchestrators_of_live_runners_compile_to_what_they_are(more: str, wanted: dict[str, str]) -> None:
    found = adopted(compose__yaml=RUNNERS.replace("MORE\n", more))
    assert [(node.name, node.role) for node in found.nodes] == [("orchestrator", "orchestrator")]
    text = answered(found.text)
    checked = check_spec([Source("fleet.toml", text)])
    assert checked.fleet is not None, (checked.diagnostics, text)
    spec = checked.fleet.orchestrators["orchestrator"]
    assert (spec.mode, spec.live_runners) == ("ai", True)
    assert {key: getattr(spec, key) for key in wanted} == wanted
    before, after = meanings(found, text, {"/root/.lpData/word": "word"})["orchestrator"]
    reasons = found.nodes[0].reasons
    assert {flag for flag in before.differences(after) if not reasons.get(flag)} == set()


def test_what_many_nodes_have_in_common_is_said_once() -> None:
    text = "".join(
        f"livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -nvidia {i} -maxSessions 9 "
        f"-cliAddr 127.0.0.1:{7000 + i} -dataDir /d/{i}\n"
        for i in range(3)
    )
    found = adopt([Source("start.sh", text)], addresses={"gpu-1": "192.0.2.7"})
    assert found.text.count("max_sessions") == 1
    assert "[defaults.transcoders]" in found.text
    assert found.checked is not None
    assert found.checked.fleet is not None, found.checked.diagnostics
    assert {t.max_sessions for t in found.checked.fleet.transcoders.values()} == {9}


def test_override_file_lies_over_the_compose_file_beside_it() -> None:
    base = "services:\n  g:\n    image: livepeer/go-livepeer:v0.9.1\n    command: -gateway -orchAddr a.example.net:1\n"
    over = "services:\n  g:\n    environment: {LP_V: '7'}\n    network_mode: host\n    ports: ['1:2']\n"
    found = adopt([Source("x/compose.yaml", base), Source("x/compose.override.yaml", over)])
    (node,) = found.nodes
    assert (node.text("v"), node.process.network) == ("7", "host")
    assert node.word("v").span.source == "x/compose.override.yaml"


@pytest.mark.parametrize(
    "text",
    [
        "set -a\n. ./node.env\nset +a\nlivepeer -gateway -orchAddr $ORCH",
        "source /etc/livepeer/node.env\nlivepeer -gateway -orchAddr ${ORCH}",
        "docker run --network host --env-file node.env livepeer/go-livepeer:v0.9.1 -gateway -orchAddr a.example.net:1",
    ],
)
def test_scripts_read_the_environment_files_that_are_sources(text: str) -> None:
    found = adopt([Source("start.sh", text), Source("node.env", "ORCH=a.example.net:1\nLP_V=7\n")])
    (node,) = found.nodes
    assert (node.text("v"), node.text("orchAddr")) == ("7", "a.example.net:1")


def test_command_over_ssh_is_on_that_host() -> None:
    text = (
        'ssh -p 2222 root@worker1 "docker run --net=host livepeer/go-livepeer:v0.9.1 -transcoder -orchAddr a.example:1"'
    )
    (node,) = adopted(start__sh=text).nodes
    assert (node.host, node.role, node.process.network) == ("worker1", "transcoder", "host")


def test_password_file_that_no_source_places_is_asked_for_at_the_wallet() -> None:
    text = (
        'docker run -v "$HOME/.lpData":/root/.lpData livepeer/go-livepeer:v0.9.1 -gateway '
        "-network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethPassword /root/.lpData/pw -ethAcctAddr 0x"
        + "1"
        * 40
    )
    spec = adopted(start__sh=text).text
    assert spec.count("TODO password") == 1
    assert spec.index("TODO password") < spec.index("[wallets.payer]") < spec.index("[gateways.")


def test_a_command_behind_assignments_is_no_file_of_variables() -> None:
    script = Source("run", "LP_ETHPASSWORD=/root/pw livepeer -gateway -dataDir /data extra -monitor\n")
    assert kind_of(script) == "shell"
    assert kind_of(Source("node.env", "LP_ETHPASSWORD=/root/pw\nNAME=a livepeer\n")) == "environment"


def test_nodes_without_an_account_share_a_wallet_only_with_their_keys() -> None:
    text = (
        "services:\n"
        "  one:\n    image: livepeer/go-livepeer:v0.9.1\n    volumes: [/srv/one:/data]\n"
        "    command: -gateway -network=arbitrum-one-mainnet -dataDir=/data -ethPassword=/etc/one\n"
        "  two:\n    image: livepeer/go-livepeer:v0.9.1\n    volumes: [/srv/two:/data]\n"
        "    command: -gateway -network=arbitrum-one-mainnet -dataDir=/data -ethPassword=/etc/two\n"
    )
    spec = tomllib.loads(adopt([Source("compose.yaml", text)]).text)
    assert len(spec["wallets"]) == 2
    assert {wallet["keystore"] for wallet in spec["wallets"].values()} == {"/srv/one/keystore", "/srv/two/keystore"}


def test_ssh_says_where_people_log_in() -> None:
    node = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/secret"
    found = adopted(start__sh=f"ssh -p 2222 ops@gpu1.example.net '{node}'\nssh -i key gpu2 '{node}'\n")
    hosts = tomllib.loads(found.text)["hosts"]
    assert hosts["gpu1-example-net"]["address"] == "gpu1.example.net"
    assert (hosts["gpu1-example-net"]["ssh_user"], hosts["gpu1-example-net"]["ssh_port"]) == ("ops", 2222)
    assert "address" not in hosts["gpu2"]
    assert "where you log in; a script calls it gpu2" in found.text
