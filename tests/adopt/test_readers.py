"""What the readers make of sources: shell scripts, docker run, Compose files, units, and inventories."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.said import Said
from fleetc.adopt.read.sources import kind_of
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity, Span
from fleetc.toml.document import Source
from tests.adopt.support import answered, meanings
from tests.support import fleetc


def adopted(**texts: str) -> Adopted:
    """Adopt texts by file name, with __ for a dot and ___ for a slash."""
    return adopt([Source(name.replace("___", "/").replace("__", "."), text) for name, text in texts.items()])


def codes(found: Adopted) -> list[str]:
    """The codes of all messages."""
    return [d.code for d in found.diagnostics]


@pytest.mark.parametrize(
    ("texts", "gpus"),
    [
        ({"a.sh": "docker run --gpus device=3 livepeer/go-livepeer:v0.9.1 WORDS 0"}, [3]),
        ({"a.sh": "docker run --gpus '\"device=1,3\"' livepeer/go-livepeer:v0.9.1 WORDS 1,0"}, [3, 1]),
        ({"a.sh": "docker run --gpus all livepeer/go-livepeer:v0.9.1 WORDS 2"}, [2]),
        ({"a.sh": "docker run --gpus all livepeer/go-livepeer:v0.9.1 WORDS all"}, "all"),
        ({"a.sh": "docker run --gpus '\"device=2,3\"' livepeer/go-livepeer:v0.9.1 WORDS all"}, [2, 3]),
        ({"a.sh": "docker run --gpus 'device=2,capabilities=utility' livepeer/go-livepeer:v0.9.1 WORDS all"}, [2]),
        ({"a.sh": "docker run --gpus 1 livepeer/go-livepeer:v0.9.1 WORDS all"}, [0]),
        ({"a.sh": "docker run --runtime nvidia -e NVIDIA_VISIBLE_DEVICES=2,3 livepeer/go-livepeer:v0.9.1 WORDS all"},
         [2, 3]),
        ({"compose.yaml": "services:\n  t:\n    image: livepeer/go-livepeer:v0.9.1\n    command: WORDS 0\n    deploy: "
          "{resources: {reservations: {devices: [{driver: nvidia, device_ids: ['2'], capabilities: [gpu]}]}}}\n"}, [2]),
    ],
)  # fmt: skip
def test_gpus_of_a_container_are_those_of_its_host(texts: dict[str, str], gpus: list[int]) -> None:
    words = "-transcoder -orchAddr a.example.net:1 -orchSecret /s -nvidia"
    found = adopt([Source(name, text.replace("WORDS", words)) for name, text in texts.items()])
    (worker,) = tomllib.loads(found.text)["transcoders"].values()
    assert worker["gpus"] == gpus


@pytest.mark.parametrize(("said", "gpus"), [("2", [2]), ("0", [0]), ("all", "all")])
def test_worker_that_only_runs_models_names_gpus_of_its_host_whatever_its_container_sees(
    said: str, gpus: list[int] | str
) -> None:
    """It gives the numbers to Docker."""
    words = f"-aiWorker -orchAddr a.example.net:1 -orchSecret /s -aiModels /m.json -aiModelsDir /models -nvidia {said}"
    found = adopted(a__sh=f"docker run --gpus device=2 livepeer/go-livepeer:v0.9.1 {words}\n")
    assert tomllib.loads(found.text)["ai_workers"].popitem()[1]["gpus"] == gpus
    assert not [one for one in found.diagnostics if one.code == "adopt-value-invalid"]


@pytest.mark.parametrize(
    "text",
    [
        "docker run --gpus device=GPU-3a23c669 livepeer/go-livepeer:v0.9.1 WORDS all",
        "docker run -e NVIDIA_VISIBLE_DEVICES=GPU-3a23c669 livepeer/go-livepeer:v0.9.1 WORDS 0",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: t}\nspec:\n  containers:\n    - image: "
        "livepeer/go-livepeer:v0.9.1\n      command: [sh, -c, livepeer WORDS all]\n"
        "      resources: {limits: {nvidia.com/gpu: 1}}\n",
    ],
)
def test_gpus_without_a_number_are_asked_for(text: str) -> None:
    words = "-transcoder -orchAddr a.example.net:1 -orchSecret /s -nvidia"
    name = "pod.yaml" if text.startswith("apiVersion") else "a.sh"
    found = adopt([Source(name, text.replace("WORDS", words))])
    (worker,) = tomllib.loads(found.text)["transcoders"].values()
    assert "gpus" not in worker
    assert "# TODO gpus = [0]  # the " in found.text and "nvidia-smi -L" in found.text
    assert ("t" if name == "pod.yaml" else found.nodes[0].name, "nvidia") in found.waiting


def test_a_number_that_a_container_does_not_have_is_a_mistake_today() -> None:
    text = (
        "docker run --gpus device=1 livepeer/go-livepeer:v0.9.1 -transcoder -orchAddr a.example.net:1 -orchSecret /s "
        "-nvidia 1"
    )
    found = adopted(start__sh=text)
    (said,) = [one.message for one in found.diagnostics if one.code == "adopt-value-invalid"]
    assert "sees 1 of the GPUs and counts them from 0: it has no number 1" in said


def test_words_behind_a_bare_word_are_reported_as_ignored() -> None:
    found = adopted(start__sh="livepeer -gateway -reward false -monitor -orchAddr a:1")
    (ignored,) = [d for d in found.diagnostics if d.code == "adopt-words-ignored"]
    assert ignored.message.startswith("-reward takes no word behind it, so it is on")
    assert "monitor" not in found.text


@pytest.mark.parametrize(
    ("before", "program", "line"),
    [
        ("cd /opt/lp/", "./livepeer", 'binary = "/opt/lp/livepeer"'),
        ("cd /opt; cd lp && (cd /tmp; ls);", "bin/../livepeer", 'binary = "/opt/lp/livepeer"'),
        ("D=/opt/lp; cd $D || exit 1;", "./livepeer", 'binary = "/opt/lp/livepeer"'),
        ("", "./livepeer", '# TODO binary = "/path/on/the/host"  # the source starts ./livepeer: where is it on the '
         "host?"),
        ("cd /a; cd $HERE;", "./livepeer", '# TODO binary = "/path/on/the/host"  # the source starts ./livepeer: '
         "where is it on the host?"),
        ("cd /a; if [ -d /b ]; then cd /b; fi;", "./livepeer", '# TODO binary = "/path/on/the/host"  # the source '
         "starts ./livepeer: where is it on the host?"),
        ("/one/livepeer -transcoder -orchAddr a:1 -orchSecret /s;", "/two/livepeer",
         "# TODO binary: some of its nodes run /two/livepeer; a spec has one program for each host"),
    ],
)  # fmt: skip
def test_program_stands_where_the_script_has_gone(before: str, program: str, line: str) -> None:
    found = adopted(a__sh=f"{before}\n{program} -gateway -orchAddr a.example.net:1 -dataDir data")
    assert line in found.text.split("\n")
    assert ('data_dir = "/opt/lp/data"' in found.text) == ("/opt/lp" in line)


@pytest.mark.parametrize(
    "texts",
    [
        {"a.sh": "export LP_EXTRA='-v 6'\nlivepeer -gateway -orchAddr a.example.net:1 $LP_EXTRA"},
        {"a.service": "[Service]\nEnvironment=LP_EXTRA=6\nExecStart=livepeer -gateway -orchAddr a:1 -v ${LP_EXTRA}"},
        {"compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer:${LP_EXTRA:-v0.9.1}\n    env_file: .env\n"
         "    command: -gateway -orchAddr a.example.net:1\n", ".env": "LP_EXTRA=v0.9.0\n"},
        {"compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer\n    env_file: .env\n"
         "    command: -gateway -orchAddr a.example.net:1\nsecrets:\n  s:\n    environment: LP_EXTRA\n",
         ".env": "LP_EXTRA=one\n"},
    ],
)  # fmt: skip
def test_variable_that_the_source_itself_uses_is_no_mistake(texts: dict[str, str]) -> None:
    found = adopt([Source(name, text) for name, text in texts.items()])
    assert found.nodes
    assert "adopt-flag-unknown" not in codes(found)


def test_variable_that_nobody_reads_is_a_mistake() -> None:
    found = adopted(a__sh="export LP_EXTRA=6\nlivepeer -gateway -orchAddr a.example.net:1 -v $LP_EXTRAS")
    assert "adopt-flag-unknown" in codes(found)


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
    assert "${PUBLIC}" in found.text.split("[orchestrators.orch]")[1]
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
        Said(addresses={"gpu-1": "192.0.2.7"}),
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


SECRET = "0123456789abcdefghijklmnopqrstuv"


@pytest.mark.parametrize(
    ("texts", "place"),
    [
        ({"a.service": "[Service]\nEnvironmentFile=/e/a.env\nExecStart=/bin/livepeer -transcoder -orchAddr a.b:1 "
          "-orchSecret ${SECRET}\n", "a.env": f"V=6\nSECRET={SECRET}\n"}, ("a.env", 2)),
        ({"a.sh": f"SECRET={SECRET}\nlivepeer -transcoder -orchAddr a.b:1 -orchSecret $SECRET\n"}, ("a.sh", 1)),
        ({"compose.yaml": "services:\n  t:\n    image: livepeer/go-livepeer\n    command: -transcoder -orchAddr a.b:1 "
          "-orchSecret=${SECRET}\n", ".env": f"SECRET={SECRET}\n"}, (".env", 1)),
    ],
)  # fmt: skip
def test_secret_is_told_where_its_value_stands(texts: dict[str, str], place: tuple[str, int]) -> None:
    found = adopt([Source(name, text) for name, text in texts.items()])
    (told,) = [one for one in located(found) if one.diagnostic.code == "adopt-secret-inline"]
    assert (told.primary.file, told.primary.line, told.primary.hidden) == (*place, True)
    assert "as SECRET" in told.diagnostic.message


@pytest.mark.parametrize(
    ("flag", "text", "line"),
    [
        ("aiModels", '[{"pipeline": "llm", "model_id": "a"},\n{"pipeline": "llm", "price_per_unit": "5"}]', 2),
        ("aiModels", '[{"pipeline": "llm",\n\n}]', 3),
        ("pricePerGateway", '{"gateways": [{"ethaddress": "0x1", "priceperunit": 1, "pixelsperunit": 1},\n\n{}]}', 3),
    ],
)  # fmt: skip
def test_file_that_the_node_refuses_is_told_at_its_own_line(flag: str, text: str, line: int) -> None:
    command = (
        "livepeer -orchestrator -aiWorker -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        f"-serviceAddr o.example.net:8935 -pricePerUnit 1 -{flag} /etc/lp/list.json"
    )
    found = adopted(start__sh=command, list__json=text)
    (told,) = [one for one in located(found) if one.diagnostic.code == "adopt-document-unread"]
    assert (told.primary.file, told.primary.line) == ("list.json", line)


def test_account_with_a_wrong_checksum_is_asked_and_not_written() -> None:
    wrong = "0x9C10672CEE058Fd658103d90872fE431bb6C0AFA"
    found = adopted(
        start__sh="livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        f"-serviceAddr o.example.net:8935 -pricePerUnit 1 -ethAcctAddr {wrong} -ethOrchAddr {wrong} -dataDir /d"
    )
    messages = [d.message for d in found.diagnostics if d.code == "adopt-value-invalid"]
    assert len([text for text in messages if f"the checksum of {wrong} is wrong" in text]) == 2
    assert f'# TODO address = "0x..."  # the account; the checksum of {wrong} is wrong' in found.text
    assert f'# TODO orchestrator_address = "..."  # the checksum of {wrong} is wrong' in found.text


def test_programs_of_supervisord_become_nodes() -> None:
    text = (
        "[supervisord]\nnodaemon=true\n[program:orch]\ncommand=/opt/lp/livepeer -transcoder -nvidia 0 ; a comment\n"
        "  -orchAddr a.example.net:1 -orchSecret '/etc/$s' -region %(ENV_R)s\nuser=lp\ndirectory=/opt/lp\n"
        'environment=LP_V="7",CUDA_VISIBLE_DEVICES="1",A=b\n; no=thing\nstdout_logfile=/var/log/x.log\n'
        "[program:gw]\ncommand=bash -c 'exec livepeer -gateway -orchAddr a.example.net:1'\n[program:x]\ncommand=cat\n"
    )
    found = adopted(lp__conf=text)
    worker, gateway = found.processes
    assert (worker.name, worker.user, worker.directory, worker.program) == ("orch", "lp", "/opt/lp", "/opt/lp/livepeer")
    assert [word.text for word in worker.words][:7] == [
        "-transcoder", "-nvidia", "0", "-orchAddr", "a.example.net:1", "-orchSecret", "/etc/$s",
    ]  # fmt: skip
    assert worker.words[-1].holes == ("%(ENV_R)s",)
    assert text[worker.words[4].span.start :].startswith("a.example.net:1")
    assert {name: word.text for name, word in worker.variables.items()} == {
        "LP_V": "7", "CUDA_VISIBLE_DEVICES": "1", "A": "b",
    }  # fmt: skip
    assert (gateway.name, gateway.words[0].text) == ("gw", "-gateway")
    assert 'node_user = "lp"' in found.text


def test_files_of_a_compose_secret_are_on_the_host() -> None:
    text = (
        "services:\n  t:\n    image: livepeer/go-livepeer:v0.9.1\n    command: -transcoder -orchAddr a.example.net:1 "
        "-orchSecret /run/secrets/word\n    secrets: [word]\nsecrets:\n  word: {{file: {}}}\n"
    )
    assert 'secret = { host_file = "/srv/word" }' in adopted(compose__yaml=text.format("/srv/word")).text
    found = adopted(compose__yaml=text.format("./word")).text
    assert 'secret = { host_file = "./word" }' in found
    assert "# TODO folder: where on this host is compose.yaml? Write it for each ./ below, or adopt again" in found


def test_sources_beside_those_of_a_named_host_are_elsewhere() -> None:
    command = "livepeer -gateway -orchAddr a.example.net:{0} -dataDir /d/{0}"
    sources = [Source("a.sh", command.format(1)), Source("b.sh", command.format(2))]
    found = adopt(sources, Said(hosts={"a.sh": "edge"}, addresses={"edge": "192.0.2.7"}))
    assert [(node.name, node.host) for node in found.nodes] == [("a", "edge"), ("b", "host-1")]


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
        Said(hosts={"a.sh": "a", "b.sh": "b"}),
    )  # fmt: skip
    assert found.text.count("[wallets.") == found.text.count("[models.") == 1
    assert found.text.count('price = "5 wei / pixel"') == 1  # of the model, since all ask the same
    assert 'reward_by = "orchestrator-a"' in found.text
    assert "adopt-reward-unsaid" in codes(found)
    assert "# TODO reward_by: orchestrator-a and orchestrator-b have this wallet and do not say who" in found.text


@pytest.mark.parametrize(("first", "second", "caller"), [
    ("-reward=false", "", "orchestrator-b"), ("", "-reward=false", "orchestrator-a"),
    ("", "-reward", "orchestrator-b"), ("-reward=false", "-reward=false", "none"),
])  # fmt: skip
def test_node_that_says_that_it_calls_no_reward_is_not_chosen_for_it(first: str, second: str, caller: str) -> None:
    command = (
        "livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword /etc/lp/pw -ethKeystorePath /etc/lp/keys "
        "-serviceAddr orch-{0}.example.net:8935 -pricePerUnit 900 -dataDir /d/{0} {1}\n"
    )
    sources = [Source("a.sh", command.format(1, first)), Source("b.sh", command.format(2, second))]
    found = adopt(sources, Said(hosts={"a.sh": "a", "b.sh": "b"}))
    assert f'reward_by = "{caller}"' in found.text
    assert "adopt-reward-unsaid" not in codes(found) and "TODO reward_by" not in found.text


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


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
    - name: n
      image: livepeer/go-livepeer:v0.9.1
      env: [{{name: {variable}, valueFrom: {{secretKeyRef: {{name: {secret}, key: rpc}}}}}}]
      args: [{role}, -network=arbitrum-one-mainnet, -ethAcctAddr=0x{account}{address}]
"""


@pytest.mark.parametrize(("secret", "differs"), [("chain", False), ("other", True)])
def test_one_key_of_a_secret_is_one_reference_whatever_its_variable(secret: str, differs: bool) -> None:
    seller, buyer = "-orchestrator, -serviceAddr=o.example.net:8935, -pricePerUnit=1", "-gateway, -maxPricePerUnit=5"
    orch = POD.format(name="o", variable="LP_ETHURL", secret="chain", role=seller, account="1" * 40, address="")
    gate = POD.format(
        name="g", variable="RPC_URL", secret=secret, role=buyer, account="2" * 40, address=', "-ethUrl=$(RPC_URL)"'
    )
    found = adopted(pods__yaml=f"{orch}---\n{gate}")
    assert 'rpc = { env = "RPC_URL" }' in found.text
    assert ("a host has one RPC address" in found.text) is differs


PODS = """\
apiVersion: v1
kind: Secret
metadata: {name: keys}
data: {eth-password: c2VjcmV0LW9mLXRoZS1nYXRl}
---
apiVersion: v1
kind: Service
metadata: {name: sells, namespace: video}
spec: {selector: {app: orch}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: orch}
spec:
  template:
    metadata: {labels: {app: orch, tier: one}}
    spec:
      containers:
        - image: livepeer/go-livepeer:v0.9.1
          args: ["-orchestrator", "-transcoder", "-serviceAddr=o.example.net:8935", "-region=$(POD)", "-dataDir=/d"]
          env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
          volumeMounts: [{name: data, mountPath: /d}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: disk}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: gate}
spec:
  template:
    spec:
      containers:
        - image: livepeer/go-livepeer:v0.9.1
          args: ["-gateway", "-orchAddr=https://sells.video.svc.cluster.local:8935", "-httpAddr=0.0.0.0:8935",
                 "-dataDir=/d", "-authWebhookUrl=$(HOOK)"]
          env: [{name: HOOK, value: "http://auth.example.net"}]
          volumeMounts: [{name: data, mountPath: /d}]
  volumeClaimTemplates: [{metadata: {name: data}}]
"""


def test_pods_reach_each_other_by_services_and_listen_as_their_commands_say() -> None:
    found = adopted(pods__yaml=PODS)
    spec = tomllib.loads(found.text)
    assert spec["gateways"]["gate"]["orchestrators"] == ["orch"]
    assert spec["gateways"]["gate"]["http"] == "0.0.0.0:8935"
    assert "environment" not in found.text
    assert "today it is in the volume claim disk" in found.text
    assert "today it is in the volume claim data of a pod" in found.text
    assert [d.message for d in found.diagnostics if d.code == "adopt-secret-inline"] == [
        "the Secret keys stands in this file in clear; base64 hides nothing"
    ]
    assert "c2VjcmV0" not in repr((found.text, [e.shown for e in found.entries]))
    assert all(one.primary.hidden for one in located(found) if one.diagnostic.code == "adopt-secret-inline")


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
    found = adopt([Source("start.sh", text)], Said(addresses={"gpu-1": "192.0.2.7"}))
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


def test_password_file_that_no_source_places_is_asked_for_at_the_wallet() -> None:
    text = (
        'docker run -v "$HOME/.lpData":/root/.lpData livepeer/go-livepeer:v0.9.1 -gateway '
        "-network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethPassword /root/.lpData/pw -ethAcctAddr 0x"
        + "1"
        * 40
    )
    spec = adopted(start__sh=text.replace('-v "$HOME/.lpData":/root/.lpData ', "")).text
    assert spec.count("TODO password") == 1
    assert spec.index("[wallets.payer]") < spec.index("TODO password") < spec.index("[gateways.")


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


def test_what_a_spec_is_refused_for_once_its_questions_are_answered_is_a_question() -> None:
    command = (
        "livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl http://203.0.113.5:8547 "
        "-pricePerUnit 5 -ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword ~/pw "
        "-dataDir /d -serviceAddr {}:8935"
    )
    found = adopted(start__sh=command.format("o.example.net"))
    (asked,) = [line for line in found.text.splitlines() if line.startswith("# TODO rpc: ")]
    assert asked.startswith("# TODO rpc: the RPC address is http://")
    assert 'password = { host_file = "~/pw" }' in found.text
    for own in ("127.0.0.1", "10.0.0.5"):
        fine = adopted(start__sh=command.format("o.example.net").replace("203.0.113.5", own))
        assert "TODO rpc" not in fine.text


def test_flag_with_a_long_name_is_told_though_its_line_has_a_secret() -> None:
    found = adopted(start__sh=f"livepeer -gateway -orchAddr a.b:1 -objectStore=s3://AKIA2E0A8F3B244C9986:{SECRET}@eu/x")
    (told,) = [one for one in located(found) if one.diagnostic.code == "adopt-secret-inline"]
    assert told.diagnostic.message.startswith("the value of -objectStore stands in this file in clear; the spec names ")
    assert SECRET not in repr(told.diagnostic)


def test_address_of_the_chain_is_named_for_the_fleet_although_a_node_has_its_variable() -> None:
    compose = (
        "services:\n  orch:\n    image: livepeer/go-livepeer:v0.9.1\n    env_file: .env\n    command: -orchestrator "
        "-network arbitrum-one-mainnet -ethUrl ${ARB_RPC} -serviceAddr orch.example.net:8935 -pricePerUnit 9\n"
    )
    key = "9f2d4c1b8a7e6d5f4c3b2a1908f7e6d5"
    found = adopt([Source("compose.yml", compose), Source(".env", f"ARB_RPC=https://arb.infura.io/v3/{key}\n")])
    assert tomllib.loads(found.text)["fleet"]["rpc"] == {"env": "ARB_RPC"}
    assert key not in found.text


def test_variables_that_only_compose_fills_in_are_none_of_the_node() -> None:
    compose = (
        "services:\n  g:\n    image: livepeer/go-livepeer:${TAG}\n    env_file: .env\n"
        "    command: -gateway -orchAddr ${ORCH}:8935\n    environment: ['LIVE_AI_NAT_IP=${NAT}']\n"
    )
    env = "TAG=v0.9.1\nORCH=o.example.net\nNAT=192.0.2.1\nCOMPOSE_PROJECT_NAME=farm\nTZ=Europe/Berlin\nOWN=1\n"
    found = adopt([Source("compose.yaml", compose), Source(".env", env)])
    (gateway,) = tomllib.loads(found.text)["gateways"].values()
    assert gateway["environment"] == {"LIVE_AI_NAT_IP": "192.0.2.1", "TZ": "Europe/Berlin", "OWN": "1"}
    assert "secret_environment" not in gateway
    dropped = {entry.shown for entry in found.entries if "sources use it themselves" in entry.words}
    assert dropped == {"TAG", "ORCH", "NAT", "COMPOSE_PROJECT_NAME"}
    assert {difference.reason for difference in found.differences if difference.flag.startswith("env ")} <= {
        "only what starts the node reads it"
    }


def test_a_service_that_is_an_orchestrator_is_reached_at_its_service_address() -> None:
    image = "livepeer/go-livepeer:v0.9.1"
    text = (
        f"services:\n  o:\n    image: {image}\n"
        "    command: -orchestrator -orchSecret ab -serviceAddr o.example.net:8935\n"
        f"  t:\n    image: {image}\n    command: -transcoder -orchSecret ab -orchAddr HOST:8935\n"
    )
    found = adopted(compose__yaml=text.replace("HOST", "https://o"))
    (told,) = [d for d in found.diagnostics if d.code == "adopt-name-unreached"]
    assert told.severity is Severity.NOTE
    assert "no other is called o: t reaches o at o.example.net:8935" in told.message
    assert tomllib.loads(found.text)["transcoders"]["t"]["orchestrator"] == "o"
    assert "adopt-name-unreached" not in codes(adopted(compose__yaml=text.replace("HOST", "o.example.net")))


def test_copies_of_a_service_are_said() -> None:
    text = (
        "services:\n  t:\n    image: livepeer/go-livepeer:v0.9.1\n    command: "
        "-transcoder -orchAddr o.example.net:8935 -orchSecret /s\n    MORE\n"
    )
    for more, count in (("scale: 3", 1), ("deploy: {replicas: 2}", 1), ("deploy: {replicas: 1}", 0)):
        found = adopted(compose__yaml=text.replace("MORE", more))
        told = [d.message for d in found.diagnostics if d.code == "adopt-cannot-say"]
        assert len(told) == count
        assert all("times today, and the spec has it once" in message for message in told)


def test_where_a_deposit_can_be_read_is_said_with_the_port_of_the_node() -> None:
    chain = "-network arbitrum-one-mainnet -ethUrl https://rpc.example.net"
    for cli, port in (("", 5935), (" -cliAddr 127.0.0.1:7000", 7000)):
        text = adopted(start__sh=f"livepeer -gateway {chain} -ethAcctAddr 0x{'1' * 40}{cli}").text
        assert text.count(f"curl -s http://127.0.0.1:{port}/senderInfo") == 2


PAYER = "-gateway -network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethAcctAddr 0x" + "1" * 40
PROJECT = """\
services:
  pay:
    image: livepeer/go-livepeer:v0.9.1
    command: WORDS
    MORE
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: pay}
spec: {template: {spec: {containers: [{image: "livepeer/go-livepeer:v0.9.1", args: [WORDS]}]}}}
"""


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("compose__yaml", PROJECT.replace("MORE", "network_mode: host"), "curl -s http://127.0.0.1:5935/senderInfo on"),
        ("compose__yaml", PROJECT.replace("WORDS", "WORDS -cliAddr :5935").replace("MORE", 'ports: ["6000:5935"]'),
         "{{.State.Pid}}' $(docker compose ps -q pay)) curl -s http://127.0.0.1:5935/senderInfo on"),
        ("compose__yaml", PROJECT.replace("WORDS", "WORDS -cliAddr 0.0.0.0").replace("MORE", 'ports: ["6000:5935"]'),
         "; curl -s http://127.0.0.1:6000/senderInfo on its host"),
        ("compose__yaml", PROJECT.replace("MORE", "container_name: lp"),
         "sudo nsenter -n -t $(docker inspect -f '{{.State.Pid}}' lp) curl -s http://127.0.0.1:5935/senderInfo on"),
        ("run__sh", "docker run --name lp livepeer/go-livepeer WORDS", "'{{.State.Pid}}' lp) curl -s"),
        ("run__sh", "docker run livepeer/go-livepeer WORDS", "'{{.State.Pid}}' CONTAINER) curl -s"),
        ("run__sh", "livepeer WORDS -cliAddr 10.0.0.5:5935", "; curl -s http://10.0.0.5:5935/senderInfo on its host"),
        ("pod__yaml", DEPLOYMENT.replace("WORDS", ", ".join(PAYER.split())),
         "kubectl port-forward deployment/pay 5935, with curl -s http://127.0.0.1:5935/senderInfo beside it, shows"),
    ],
)  # fmt: skip
def test_command_that_shows_a_deposit_reaches_the_node(name: str, text: str, command: str) -> None:
    """A node in a container listens on the loopback of that, unless its port is published."""
    assert adopted(**{name: text.replace("WORDS", PAYER)}).text.count(command) == 2


@pytest.mark.parametrize(("rtmp", "noted"), [("-rtmpAddr 0.0.0.0:1935", True), ("", False)])
def test_a_gateway_of_video_whose_orchestrators_sell_ai_says_so_at_its_mode(rtmp: str, noted: bool) -> None:
    sells = (
        "livepeer -orchestrator -aiWorker -serviceAddr o.example.net:8935 -aiModels text-to-image:stabilityai/sd:true"
    )
    found = adopted(start__sh=f"{sells}\nlivepeer -gateway -orchAddr o.example.net:8935 {rtmp}\n")
    assert ('mode = "ai"  # it takes video too, which none of its orchestrators does' in found.text) is noted
    assert tomllib.loads(found.text)["gateways"]["gateway"]["mode"] == "ai"


def test_value_of_a_unit_loses_to_its_environment_file() -> None:
    command = "/bin/livepeer -gateway -orchAddr a.example.net:1"
    found = adopt([
        Source("g.service", f"[Service]\nEnvironmentFile=/etc/g.env\nExecStart={command}\n"),
        Source("g.service.d/more.conf", "[Service]\nEnvironment=LP_V=7 LP_MAXSESSIONS=3\n"),
        Source("g.env", "LP_V=5\nLP_MAXSESSIONS=3\n"),
    ])  # fmt: skip
    (lost,) = [one for one in found.diagnostics if one.code == "adopt-setting-overridden"]
    assert lost.message == "systemd does not use this value of LP_V: an environment file comes after it"
    assert lost.primary.place == Span("g.service.d/more.conf", 22, 28)
    assert "verbosity = 5" in found.text


def test_keys_of_a_secret_that_pods_read_as_files_are_references() -> None:
    pod = """apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  nodeSelector: {kubernetes.io/hostname: ber-1}
  containers:
    - name: node
      image: livepeer/go-livepeer:v0.8.8
      args: [ARGS, -orchSecret=/keys/orch-secret]
      volumeMounts: [{name: keys, mountPath: /keys}]
  volumes: [{name: keys, secret: {secretName: lp}}]
"""
    sells = "-orchestrator, -network=offchain, -serviceAddr=o.example.net:8935"
    works = "-transcoder, -orchAddr=o.example.net:8935, -nvidia=0"
    both = "---\n".join(
        pod.replace("ARGS", args).replace("NAME", name) for name, args in (("orch", sells), ("worker", works))
    )
    found = adopted(all__yaml=both)
    assert tomllib.loads(found.text)["orchestrators"]["orch"]["secret"] == {"env": "LP_ORCH_SECRET"}
    assert "TODO secret" not in found.text
    assert "adopt-secrets-differ" not in codes(found)
    chosen = both.replace("secretName: lp}", "secretName: lp, items: [{key: a, path: orch-secret}]}")
    assert "# TODO secret" in adopted(all__yaml=chosen).text


TEMPLATE = "[Service]\nExecStart={{ lp_bin }} -orchestrator -network {{ lp_network }} -serviceAddr {{ lp_service }}\n"


@pytest.mark.parametrize("name", ["roles/lp/templates/orch.service.j2", "orch.service"])
def test_template_of_a_unit_is_said_to_be_one(name: str, tmp_path: Path) -> None:
    place = tmp_path / "play" / name
    place.parent.mkdir(parents=True)
    place.write_text(TEMPLATE)
    variables = tmp_path / "play/group_vars/all.yml"
    variables.parent.mkdir()
    variables.write_text('lp_version: "0.8.9"\n')
    for source in ("play", f"play/{name}"):
        done = fleetc("adopt", source, cwd=tmp_path)
        assert done.returncode == 1
        assert f"play/{name} is a template with commands of nodes, and fleetc does not render templates" in done.stderr
        assert "ssh HOST systemctl cat UNIT" in done.stderr
        assert "adopt-nothing-found" not in done.stderr
        assert "is lost" not in done.stderr


def test_template_beside_the_units_that_came_of_it_is_no_source() -> None:
    unit = "[Service]\nExecStart=/usr/bin/livepeer -orchestrator -network offchain -serviceAddr 192.0.2.1:8935\n"
    found = adopt([Source("orch.service", unit), Source("orch.service.j2", TEMPLATE)])
    assert [node.role for node in found.nodes] == ["orchestrator"]
    assert "adopt-template-unread" in {one.code for one in found.diagnostics}
