"""Lowers plain settings by the rows of `model/rows.py`, and names the settings and flags that have no row.

In: a node's settings. Out: arguments, variables and secret variables with their origins (`apply`). Settings that need a
decision (prices, listeners, rewards, workers) are lowered by code in the file of their role; `DECIDED` names them and
`UNREACHED` names the flags that no field reaches, each with its reason. A test holds all three lists against the model
and against the flags of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from compiler.model.fields import SecretRef
from compiler.model.fleet import Node
from compiler.model.rows import ROWS, Row, as_text, settings_given
from compiler.origin import Origin, given
from compiler.plan import Argument, SecretVariable, Variable
from compiler.upstream import FLAGS

Planned = Argument | Variable | SecretVariable


DECIDED: dict[str, str] = {
    "network": "lower/common.py: the fleet's network, offchain for remote workers",
    "cliAddr": "lower/common.py: always explicit",
    "dataDir": "lower/common.py: always explicit, in this one spelling",
    "ethUrl": "lower/common.py: the fleet's rpc, never on a command line",
    "ethController": "lower/common.py: the fleet's controller",
    "ethAcctAddr": "lower/common.py: the wallet's address",
    "ethKeystorePath": "lower/common.py: the wallet's keystore",
    "ethPassword": "lower/common.py: the wallet's password, never on a command line",
    "reward": "lower/common.py: only when the wallet names its reward caller",
    "pixelsPerUnit": "lower/gateway.py and lower/orchestrator.py: follows from the price",
    "gateway": "lower/gateway.py: the role",
    "httpAddr": "lower/gateway.py and lower/orchestrator.py: always explicit",
    "rtmpAddr": "lower/gateway.py: always explicit",
    "orchAddr": "lower/gateway.py and lower/worker.py: names become addresses",
    "orchWebhookUrl": "lower/gateway.py: discovery by webhook",
    "aiServiceRegistry": "lower/gateway.py and lower/orchestrator.py: discovery by the AI registry",
    "maxPricePerUnit": "lower/gateway.py: the cap, with its own zero",
    "maxPricePerCapability": "lower/gateway.py: a file of caps",
    "orchestrator": "lower/orchestrator.py: the role",
    "serviceAddr": "lower/orchestrator.py and lower/worker.py: always with a port",
    "pricePerUnit": "lower/orchestrator.py: the price",
    "pricePerGateway": "lower/orchestrator.py: a file of prices",
    "transcoder": "lower/orchestrator.py and lower/worker.py: the role",
    "aiWorker": "lower/orchestrator.py and lower/worker.py: the role",
    "nvidia": "lower/common.py: the GPU ids",
    "aiModels": "lower/models.py: a file of models",
    "aiModelsDir": "lower/models.py: always explicit, the same path on the host",
    "aiRunnerImageOverrides": "lower/models.py: one object of images",
    "aiRunnerImage": "lower/models.py: the one image of releases before -aiRunnerImageOverrides",
}

UNREACHED: dict[str, str] = {
    "broadcaster": "deprecated name of -gateway",
    "datadir": "second name of -dataDir; mixing the two breaks the order of sources",
    "pricePerBroadcaster": "deprecated name of -pricePerGateway",
    "liveAICapRefreshModels": "has no effect in any release since v0.8.10",
    "config": "settings travel as flags and variables, one source for each",
    "j": "prints and exits",
    "version": "prints and exits",
    "aiMinRunnerVersion": "no field yet",
    "redeemer": "a role without a table in the spec",
    "remoteSigner": "a role without a table in the spec",
    "remoteDiscovery": "belongs to the remote signer, a role without a table in the spec",
    "remoteSignerAllowNoAuth": "belongs to the remote signer, a role without a table in the spec",
    "remoteSignerWebhookUrl": "belongs to the remote signer, a role without a table in the spec",
    "remoteSignerWebhookHeaders": "belongs to the remote signer, a role without a table in the spec",
}

NOT_FLAGS: dict[str, str] = {
    "host": "where the process runs",
    "node_release": "chooses the flag table, the image and the manifest entry",
    "image": "the container image",
    "cli_exposed": "an acknowledgement for a rule",
    "environment": "variables of the process",
    "secret_environment": "secret variables of the process",
    "mode": "decides the role flags",
    "wallet": "names the account",
    "http_tls": "part of -httpAddr",
    "cli": "-cliAddr", "data_dir": "-dataDir", "http": "-httpAddr", "rtmp": "-rtmpAddr",
    "max_price": "-maxPricePerUnit", "max_model_prices": "-maxPricePerCapability",
    "orchestrators": "-orchAddr", "orchestrator": "-orchAddr", "discovery": "-aiServiceRegistry or -orchWebhookUrl",
    "service": "-serviceAddr", "price": "-pricePerUnit", "gateway_prices": "-pricePerGateway",
    "transcoding": "decides -transcoder of an orchestrator", "ai_work": "decides -aiWorker", "ai_registry":
    "-aiServiceRegistry", "gpus": "-nvidia", "models": "-aiModels", "models_dir": "-aiModelsDir", "runner_image":
    "-aiRunnerImageOverrides, or -aiRunnerImage before that",
}  # fmt: skip


def apply(node: Node) -> Iterator[Planned]:
    """Lower every plain setting of a node that the spec gives."""
    for row, parts, value in settings_given(node):
        yield planned(row.flag, value, given(node.table, node.name, *parts), row.write)


def planned(flag: str, value: Any, origin: Origin, write: Callable[[Any], str] = as_text) -> Planned:
    """One setting as the process gets it: a flag, or a variable when the node treats the value as sensitive."""
    if isinstance(value, SecretRef):
        return secret(flag, value, origin)
    known = FLAGS[flag]
    if known.secret:
        return Variable(known.env, write(value), origin)
    return Argument(flag, write(value), origin)


_READ_AS_PATH = ("orchSecret", "ethPassword", "FVfailGskey")
SECRET_PATH_VARIABLES = frozenset(FLAGS[flag].env for flag in _READ_AS_PATH)
"""Variables in which the node takes a path in place of the secret. Only a path ever stands in a `Variable`."""


def secret(flag: str, reference: SecretRef, origin: Origin) -> Planned:
    """A secret setting: a host file's path where the node reads paths, else a variable filled at rollout."""
    env = FLAGS[flag].env
    if reference.kind == "host_file" and flag in _READ_AS_PATH:
        return Variable(env, reference.name, origin)
    return SecretVariable(env, reference.kind, reference.name, origin)


__all__ = [
    "DECIDED",
    "NOT_FLAGS",
    "ROWS",
    "SECRET_PATH_VARIABLES",
    "UNREACHED",
    "Planned",
    "Row",
    "apply",
    "planned",
    "secret",
]
