"""What manifests say of hosts, volumes and open ports is not asked of people."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from fleetc.adopt.adoption import Adopted, adopt
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
