"""One row for each plain setting: the spec field, the flag it becomes, and how its value is written.

In: a node's settings. Out: arguments, variables and secret variables with their origins (`apply`). Settings that need a
decision (prices, listeners, rewards, workers) are lowered by code in the file of their role; `DECIDED` names them and
`UNREACHED` names the flags that no field reaches, each with its reason. A test holds all three lists against the model
and against the flags of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from compiler.model.fields import SecretRef
from compiler.model.fleet import Node
from compiler.origin import Origin, given
from compiler.plan import Argument, SecretVariable, Variable
from compiler.quantities import Duration, Listener, Wei
from compiler.upstream import FLAGS

Planned = Argument | Variable | SecretVariable


def _text(value: object) -> str:
    return str(value)


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _wei(value: Wei) -> str:
    return str(value.wei)


def _seconds(value: Duration) -> str:
    return str(value.whole_seconds)


def _listener(value: Listener) -> str:
    return str(value)


def _comma_list(values: tuple[object, ...]) -> str:
    return ",".join(map(str, values))


class Row(NamedTuple):
    """`field` is dotted below the node's table; `tables` are the node tables that have it."""

    tables: tuple[str, ...]
    field: str
    flag: str
    write: Callable[[Any], str] = _text


_ALL = ("gateways", "orchestrators", "transcoders", "ai_workers")
_CHAIN = ("gateways", "orchestrators")
_GATEWAY = ("gateways",)
_ORCHESTRATOR = ("orchestrators",)
_VIDEO_WORK = ("orchestrators", "transcoders")
_AI_WORK = ("orchestrators", "ai_workers")

ROWS: tuple[Row, ...] = (
    Row(_ALL, "verbosity", "v"),
    Row(_ALL, "monitor", "monitor", _boolean),
    Row(_ALL, "metrics_per_stream", "metricsPerStream", _boolean),
    Row(_ALL, "metrics_client_ip", "metricsClientIP", _boolean),
    Row(_CHAIN, "block_polling_interval", "blockPollingInterval", _seconds),
    Row(_CHAIN, "transaction_timeout", "transactionTimeout"),
    Row(_CHAIN, "max_transaction_replacements", "maxTransactionReplacements"),
    Row(_CHAIN, "gas_limit", "gasLimit"),
    Row(_CHAIN, "min_gas_price", "minGasPrice", _wei),
    Row(_CHAIN, "max_gas_price", "maxGasPrice", _wei),
    Row(_CHAIN, "initialize_round", "initializeRound", _boolean),
    Row(_CHAIN, "initialize_round_max_delay", "initializeRoundMaxDelay"),
    Row(_CHAIN, "price_feed", "priceFeedAddr"),
    Row(_CHAIN, "auth_webhook", "authWebhookUrl"),
    Row(_CHAIN, "object_store", "objectStore"),
    Row(_CHAIN, "live_payment_interval", "livePaymentInterval"),
    Row((*_CHAIN, "transcoders"), "max_sessions", "maxSessions"),
    Row(_GATEWAY, "http_ingest", "httpIngest", _boolean),
    Row(_GATEWAY, "public", "gatewayHost"),
    Row(_GATEWAY, "ignore_max_price_if_needed", "ignoreMaxPriceIfNeeded", _boolean),
    Row(_GATEWAY, "max_attempts", "maxAttempts"),
    Row(_GATEWAY, "transcoding", "transcodingOptions", _comma_list),
    Row(_GATEWAY, "local_verify", "localVerify", _boolean),
    Row(_GATEWAY, "verifier_url", "verifierUrl"),
    Row(_GATEWAY, "verifier_path", "verifierPath"),
    Row(_GATEWAY, "current_manifest", "currentManifest", _boolean),
    Row(_GATEWAY, "record_store", "recordStore"),
    Row(_GATEWAY, "failed_verification_bucket", "FVfailGsbucket"),
    Row(_GATEWAY, "failed_verification_key", "FVfailGskey"),
    Row(_GATEWAY, "ai_retry_timeout", "aiProcessingRetryTimeout"),
    Row(_GATEWAY, "selection.random", "selectRandFreq"),
    Row(_GATEWAY, "selection.stake", "selectStakeWeight"),
    Row(_GATEWAY, "selection.price", "selectPriceWeight"),
    Row(_GATEWAY, "selection.price_exponent", "selectPriceExpFactor"),
    Row(_GATEWAY, "selection.min_performance", "minPerfScore"),
    Row(_GATEWAY, "selection.performance_url", "orchPerfStatsUrl"),
    Row(_GATEWAY, "selection.performance_region", "region"),
    Row(_GATEWAY, "selection.blocked", "orchBlocklist", _comma_list),
    Row(_GATEWAY, "selection.min_release", "orchMinLivepeerVersion"),
    Row(_GATEWAY, "selection.extra_nodes", "extraNodes"),
    Row(_GATEWAY, "selection.timeout", "discoveryTimeout"),
    Row(_GATEWAY, "tickets.max_ev", "maxTicketEV", _wei),
    Row(_GATEWAY, "tickets.max_total_ev", "maxTotalEV", _wei),
    Row(_GATEWAY, "tickets.deposit_multiplier", "depositMultiplier"),
    Row(_GATEWAY, "live.auth_webhook", "liveAIAuthWebhookUrl"),
    Row(_GATEWAY, "live.auth_key", "liveAIAuthApiKey"),
    Row(_GATEWAY, "live.heartbeat_url", "liveAIHeartbeatURL"),
    Row(_GATEWAY, "live.heartbeat_headers", "liveAIHeartbeatHeaders"),
    Row(_GATEWAY, "live.heartbeat_interval", "liveAIHeartbeatInterval"),
    Row(_GATEWAY, "live.mediamtx_password", "mediaMTXApiPassword"),
    Row(_GATEWAY, "live.out_segment_timeout", "liveOutSegmentTimeout"),
    Row(_GATEWAY, "live.save_segments", "liveAISaveNSegments"),
    Row(_GATEWAY, "live.report_interval", "liveAICapReportInterval"),
    Row(_GATEWAY, "kafka.broker", "kafkaBootstrapServers"),
    Row(_GATEWAY, "kafka.topic", "kafkaGatewayTopic"),
    Row(_GATEWAY, "kafka.user", "kafkaUser"),
    Row(_GATEWAY, "kafka.password", "kafkaPassword"),
    Row(_GATEWAY, "metadata_queue.uri", "metadataQueueUri"),
    Row(_GATEWAY, "metadata_queue.exchange", "metadataAmqpExchange"),
    Row(_GATEWAY, "metadata_queue.timeout", "metadataPublishTimeout"),
    Row(_GATEWAY, "remote_signer.url", "remoteSignerUrl"),
    Row(_GATEWAY, "remote_signer.headers", "remoteSignerHeaders"),
    Row(_ORCHESTRATOR, "instances", "nodes", _comma_list),
    Row(_ORCHESTRATOR, "availability_check", "startupAvailabilityCheck", _boolean),
    Row(_ORCHESTRATOR, "orchestrator_address", "ethOrchAddr"),
    Row(_ORCHESTRATOR, "auto_adjust_price", "autoAdjustPrice", _boolean),
    Row(_ORCHESTRATOR, "ticket_ev", "ticketEV", _wei),
    Row(_ORCHESTRATOR, "max_face_value", "maxFaceValue", _wei),
    Row(_ORCHESTRATOR, "redeemer", "redeemerAddr", _listener),
    Row(_ORCHESTRATOR, "trickle_host", "liveAITrickleHostForRunner", _listener),
    Row(_ORCHESTRATOR, "live_runners", "useLiveRunners", _boolean),
    Row(_ORCHESTRATOR, "live_runner_address", "liveRunnerAddr"),
    Row(_ORCHESTRATOR, "live_runner_config", "liveRunnerConfig"),
    Row(_ORCHESTRATOR, "live_runner_proxy", "liveRunnerProxyUrl"),
    Row((*_ORCHESTRATOR, "transcoders", "ai_workers"), "secret", "orchSecret"),
    Row(_VIDEO_WORK, "netint", "netint", _comma_list),
    Row(_VIDEO_WORK, "test_gpu", "testTranscoder", _boolean),
    Row(_VIDEO_WORK, "hevc_decoding", "hevcDecoding", _boolean),
    Row(_AI_WORK, "containers_per_gpu", "aiRunnerContainersPerGPU"),
    Row(_AI_WORK, "runner_logs", "aiVerboseLogs", _boolean),
    Row(("ai_workers",), "serverless", "aiServerless", _boolean),
)

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
}

UNREACHED: dict[str, str] = {
    "broadcaster": "deprecated name of -gateway",
    "datadir": "second name of -dataDir; mixing the two breaks the order of sources",
    "pricePerBroadcaster": "deprecated name of -pricePerGateway",
    "aiRunnerImage": "deprecated: -aiRunnerImageOverrides says the same",
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
    "-aiRunnerImageOverrides",
}  # fmt: skip

_ROWS_BY_TABLE = {
    table: tuple((row, tuple(row.field.split("."))) for row in ROWS if table in row.tables) for table in _ALL
}


def apply(node: Node) -> Iterator[Planned]:
    """Lower every plain setting of a node that the spec gives."""
    for row, parts in _ROWS_BY_TABLE[node.table]:
        value: Any = node.settings
        for part in parts:
            value = getattr(value, part)
            if value is None:
                break
        if value is None or value == ():
            continue
        yield planned(row.flag, value, given(node.table, node.name, *parts), row.write)


def planned(flag: str, value: Any, origin: Origin, write: Callable[[Any], str] = _text) -> Planned:
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
