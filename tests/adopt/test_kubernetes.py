"""What manifests say of hosts, volumes and open ports is not asked of people."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from fleetc.adopt import glance
from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.earlier import read_earlier
from fleetc.toml.document import Source

CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: orch-data}
spec: {volumeName: disk-7, accessModes: [ReadWriteOnce]}
"""
VOLUME = """\
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk-7}
spec:
  local: {path: /mnt/nvme/orch}
  nodeAffinity:
    required:
      nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [gpu-7]}]}]
"""
POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: orch}
spec:
  template:
    metadata: {labels: {app: orch}}
    spec:
      containers:
        - image: livepeer/go-livepeer:v0.9.1
          args: [-orchestrator, -transcoder, -network=arbitrum-one-mainnet, "-serviceAddr=o.example.net:8935",
                 -pricePerUnit=900, -ethAcctAddr=0x2222222222222222222222222222222222222222, "-cliAddr=0.0.0.0:7935"]
          env:
            - {name: LP_ETHURL, valueFrom: {secretKeyRef: {name: lp, key: rpc}}}
            - {name: LP_ETHPASSWORD, valueFrom: {secretKeyRef: {name: lp, key: password}}}
          volumeMounts: [{name: data, mountPath: /root/.lpData}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: orch-data}}]
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: orch}
spec:
  type: TYPE
  selector: {app: orch}
  ports: [{port: 443, targetPort: PORT}]
"""


def adopted(*documents: str) -> Adopted:
    """Adopt the documents of one manifest."""
    return adopt([Source("orch.yaml", "---\n".join(documents))])


def asked(found: Adopted) -> list[str]:
    """What the questions are about."""
    return [line.split()[2].rstrip(":") for line in found.text.splitlines() if line.startswith("# TODO ")]


def spec(found: Adopted) -> Any:
    """The adopted spec."""
    return tomllib.loads(found.text)


def test_directory_and_host_of_a_volume_are_read() -> None:
    found = adopted(CLAIM, VOLUME, POD)
    assert asked(found) == ["address", "minimum_balance"]
    (host,) = spec(found)["hosts"]
    assert host == "gpu-7"
    assert spec(found)["orchestrators"]["orch"]["data_dir"] == "/mnt/nvme/orch/arbitrum-one-mainnet"
    assert spec(found)["wallets"]["earner"]["keystore"] == "/mnt/nvme/orch/arbitrum-one-mainnet/keystore"
    by_claim = VOLUME.replace("spec:\n", "spec:\n  claimRef: {name: orch-data}\n", 1)
    assert asked(adopted(CLAIM.replace("volumeName: disk-7, ", ""), by_claim, POD)) == [
        "address", "minimum_balance",
    ]  # fmt: skip
    free = adopted(CLAIM, POD)
    assert asked(free) == ["address", "keystore", "minimum_balance", "data_dir"]
    assert "log in? it runs once, on a host that the cluster chooses; kubectl get pods -o wide shows where" in free.text


@pytest.mark.parametrize(
    "where",
    [
        "nodeName: gpu-8",
        "nodeSelector: {kubernetes.io/hostname: gpu-8}",
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [gpu-8]}]}]}}}",
    ],
)
def test_host_of_a_pod_is_read(where: str) -> None:
    pod = POD.replace("      containers:", f"      {where}\n      containers:")
    assert list(spec(adopted(CLAIM, VOLUME, pod))["hosts"]) == ["gpu-8"]
    if "[gpu-8]" in where:
        free = adopted(CLAIM, pod.replace("[gpu-8]", "[gpu-8, gpu-9]"))
        assert list(spec(free)["hosts"]) == ["host-1"]


@pytest.mark.parametrize(
    ("kind", "port", "open_"),
    [("ClusterIP", "7935", False), ("LoadBalancer", "8935", False), ("NodePort", "7935", True),
     ("LoadBalancer", "admin", True)],
)  # fmt: skip
def test_administration_of_a_pod_is_asked_about_where_others_than_pods_reach_it(
    kind: str, port: str, open_: bool
) -> None:
    found = adopted(CLAIM, VOLUME, POD, SERVICE.replace("TYPE", kind).replace("PORT", port))
    assert ("cli" in asked(found)) is open_
    assert "cli" not in spec(found)["orchestrators"]["orch"]
    if not open_:
        (change,) = [one for one in found.differences if one.flag == "cliAddr"]
        assert change.compiled == "127.0.0.1:7935" and "pods of its cluster" in change.reason


def test_a_pod_in_the_network_of_its_host_listens_there() -> None:
    pod = POD.replace("      containers:", "      hostNetwork: true\n      containers:")
    assert "cli" in asked(adopted(CLAIM, VOLUME, pod))
    network = "its own network becomes that of the host"
    assert network not in {one.words for one in adopted(CLAIM, VOLUME, pod).beside}
    assert network in {one.words for one in adopted(CLAIM, VOLUME, POD).beside}
    port = POD.replace("          env:", "          ports: [{containerPort: 7935, hostPort: 7935}]\n          env:", 1)
    assert "cli" in asked(adopted(CLAIM, VOLUME, port))


CLAIMS = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  nodeName: gpu-1
  containers:
    - image: livepeer/go-livepeer:v0.9.1
      args: [-orchestrator, -transcoder, -network, arbitrum-one-mainnet, -ethUrl, "https://arb1.arbitrum.io/rpc",
        -serviceAddr, "NAME.example.net:8935", -pricePerUnit, "900", -ethAcctAddr, "0xACCOUNT",
        -ethPassword, /root/.lpData/pw, -nvidia, all]
      resources: {limits: {nvidia.com/gpu: COUNT}}
      volumeMounts: [{name: data, mountPath: /root/.lpData}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: NAME-data}}]
"""


def claims(*counts: int) -> Source:
    pods = (
        CLAIMS.replace("NAME", f"o{at}").replace("ACCOUNT", f"{at}" * 40).replace("COUNT", f"{count}")
        for at, count in enumerate(counts, 1)
    )
    return Source("pods.yaml", "---\n".join(pods))


def answered_data_dir(path: str, key: str = "data_dir") -> tuple[Any, Any, str]:
    """The wallet and the node of a pod, and the text, once somebody has said where something is."""
    first = adopt([claims(1)]).text
    text = re.sub(rf"# TODO {key} = .*", f"{key} = {path}", first)
    assert text != first
    earlier, _ = read_earlier(Source("fleet.toml", text))
    assert earlier is not None
    found = adopt([claims(1)], earlier=earlier)
    spec = tomllib.loads(found.text)
    (waiting,) = [{flag for _, flag in found.waiting}]
    assert ("ethKeystorePath" in waiting) == ("keystore" not in spec["wallets"]["earner"])
    return spec["wallets"]["earner"], spec["orchestrators"]["o1"], found.text


def test_gpus_of_a_cluster_are_asked_for_in_one_line_and_no_two_examples_share_one() -> None:
    found = adopt([claims(1, 2, 1)])
    assert re.findall(r"# TODO gpus = (\[.*\])  #", found.text) == ["[0]", "[1, 2]", "[3]"]
    (line,) = [line for line in glance.questions(found, "fleet.toml") if " gpus" in line]
    assert line.endswith(
        "[orchestrators.o1], [orchestrators.o2], [orchestrators.o3] gpus: the cluster chooses its GPUs"
    )


def test_paths_in_one_claim_are_one_line() -> None:
    (line,) = [line for line in glance.questions(adopt([claims(1)]), "fleet.toml") if "volume claim" in line]
    assert line.endswith(
        "[wallets.earner], [orchestrators.o1] keystore, password, data_dir: today it is in the volume claim o1-data"
    )


def test_what_is_in_the_claim_of_a_data_directory_follows_from_that() -> None:
    wallet, node, text = answered_data_dir('"/pv/arbitrum-one-mainnet"')
    assert node["data_dir"] == "/pv/arbitrum-one-mainnet"
    assert wallet["keystore"] == "/pv/arbitrum-one-mainnet/keystore"
    assert wallet["password"] == {"host_file": "/pv/pw"}
    assert "volume claim" not in text


def test_what_follows_from_no_answer_stays_asked() -> None:
    """A data directory of another name says where the keystore in it is, and not what was beside it."""
    wallet, node, text = answered_data_dir('"/srv/lp"')
    assert (node["data_dir"], wallet["keystore"], "password" in wallet) == ("/srv/lp", "/srv/lp/keystore", False)
    assert "# TODO password = " in text
    wallet, node, text = answered_data_dir('{ host_file = "/etc/pw" }', "password")  # a copy of it, maybe
    assert "data_dir" not in node and "keystore" not in wallet and "# TODO data_dir = " in text
