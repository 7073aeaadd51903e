"""One row for each plain setting: the spec field, the flag it becomes, and how its value is written.

In: a node. Out: the rows of its table whose settings the spec gives (`settings_given`). Lowering writes flags from
them, and a rule asks which of them a release lacks. Settings that need a decision (prices, listeners, rewards, workers)
have no row: `DECISIONS` has their flags and fields, `UNREACHED` the flags that no field reaches and `NO_FLAG` the
fields that set no flag, each with its reason. A test holds these lists against the language and the flags of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fleetc.language.fleet import Node
from fleetc.language.quantities import Duration, Listener, Wei
from fleetc.text.suggestions import folded
from fleetc.upstream import FLAGS


def as_text(value: object) -> str:
    """The value as it prints."""
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
    write: Callable[[Any], str] = as_text


_CHAIN = ("gateways", "orchestrators", "remote_signers", "redeemers", "reward_callers")
_ALL = (*_CHAIN, "transcoders", "ai_workers")
_SESSIONS = ("gateways", "orchestrators")
_GATEWAY = ("gateways",)
_SIGNER = ("remote_signers",)
_BUYERS = (*_GATEWAY, *_SIGNER)
_ORCHESTRATOR = ("orchestrators",)
_VIDEO_WORK = ("orchestrators", "transcoders")
_AI_WORK = ("orchestrators", "ai_workers")

ROWS: tuple[Row, ...] = (
    Row(_ALL, "verbosity", "v"),
    Row(_ALL, "monitor", "monitor", _boolean),
    Row(_ALL, "metrics_per_stream", "metricsPerStream", _boolean),
    Row(_ALL, "metrics_client_ip", "metricsClientIP", _boolean),
    Row(_CHAIN, "cli_transactions", "enableCliTxRoutes", _boolean),
    Row(_CHAIN, "block_polling_interval", "blockPollingInterval", _seconds),
    Row(_CHAIN, "transaction_timeout", "transactionTimeout"),
    Row(_CHAIN, "max_transaction_replacements", "maxTransactionReplacements"),
    Row(_CHAIN, "gas_limit", "gasLimit"),
    Row(_CHAIN, "min_gas_price", "minGasPrice", _wei),
    Row(_CHAIN, "max_gas_price", "maxGasPrice", _wei),
    Row(_CHAIN, "initialize_round", "initializeRound", _boolean),
    Row(_CHAIN, "initialize_round_max_delay", "initializeRoundMaxDelay"),
    Row((*_SESSIONS, *_SIGNER), "price_feed", "priceFeedAddr"),
    Row(_SESSIONS, "auth_webhook", "authWebhookUrl"),
    Row(_SESSIONS, "object_store", "objectStore"),
    Row(_SESSIONS, "live_payment_interval", "livePaymentInterval"),
    Row((*_SESSIONS, "transcoders"), "max_sessions", "maxSessions"),
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
    Row(_BUYERS, "selection.blocked", "orchBlocklist", _comma_list),
    Row(_GATEWAY, "selection.min_release", "orchMinLivepeerVersion"),
    Row(_BUYERS, "selection.extra_nodes", "extraNodes"),
    Row(_BUYERS, "selection.timeout", "discoveryTimeout"),
    Row(_BUYERS, "tickets.max_ev", "maxTicketEV", _wei),
    Row(_BUYERS, "tickets.max_total_ev", "maxTotalEV", _wei),
    Row(_BUYERS, "tickets.deposit_multiplier", "depositMultiplier"),
    Row(_GATEWAY, "live.auth_webhook", "liveAIAuthWebhookUrl"),
    Row(_GATEWAY, "live.auth_key", "liveAIAuthApiKey"),
    Row(_GATEWAY, "live.heartbeat_url", "liveAIHeartbeatURL"),
    Row(_GATEWAY, "live.heartbeat_headers", "liveAIHeartbeatHeaders"),
    Row(_GATEWAY, "live.heartbeat_interval", "liveAIHeartbeatInterval"),
    Row(_GATEWAY, "live.mediamtx_password", "mediaMTXApiPassword"),
    Row(_GATEWAY, "live.out_segment_timeout", "liveOutSegmentTimeout"),
    Row(_GATEWAY, "live.save_segments", "liveAISaveNSegments"),
    Row(_GATEWAY, "live.report_interval", "liveAICapReportInterval"),
    Row(_BUYERS, "kafka.broker", "kafkaBootstrapServers"),
    Row(_BUYERS, "kafka.topic", "kafkaGatewayTopic"),
    Row(_BUYERS, "kafka.user", "kafkaUser"),
    Row(_BUYERS, "kafka.password", "kafkaPassword"),
    Row(_GATEWAY, "metadata_queue.uri", "metadataQueueUri"),
    Row(_GATEWAY, "metadata_queue.exchange", "metadataAmqpExchange"),
    Row(_GATEWAY, "metadata_queue.timeout", "metadataPublishTimeout"),
    Row(_GATEWAY, "remote_signer.url", "remoteSignerUrl"),
    Row(_GATEWAY, "remote_signer.headers", "remoteSignerHeaders"),
    Row(_SIGNER, "webhook", "remoteSignerWebhookUrl"),
    Row(_SIGNER, "webhook_headers", "remoteSignerWebhookHeaders"),
    Row(_SIGNER, "allow_no_auth", "remoteSignerAllowNoAuth", _boolean),
    Row(_SIGNER, "remote_discovery", "remoteDiscovery", _boolean),
    Row(_SIGNER, "report_interval", "liveAICapReportInterval"),
    Row(_ORCHESTRATOR, "instances", "nodes", _comma_list),
    Row(_ORCHESTRATOR, "availability_check", "startupAvailabilityCheck", _boolean),
    Row((*_ORCHESTRATOR, "redeemers"), "orchestrator_address", "ethOrchAddr"),
    Row(_ORCHESTRATOR, "auto_adjust_price", "autoAdjustPrice", _boolean),
    Row(_ORCHESTRATOR, "ticket_ev", "ticketEV", _wei),
    Row(_ORCHESTRATOR, "max_face_value", "maxFaceValue", _wei),
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


class Decision(NamedTuple):
    """A flag that code in `lower/` decides about, the fields of node tables that it goes by, and what else it goes
    by."""

    flag: str
    fields: tuple[str, ...] = ()
    words: str = ""


DECISIONS = (
    Decision("network", words="network of the fleet"),
    Decision("cliAddr", ("cli",)),
    Decision("dataDir", ("data_dir",)),
    Decision("ethUrl", words="rpc of the fleet"),
    Decision("ethController", words="controller of the fleet"),
    Decision("ethAcctAddr", ("wallet",), "address of the wallet"),
    Decision("ethKeystorePath", ("wallet",), "keystore of the wallet"),
    Decision("ethPassword", ("wallet",), "password of the wallet"),
    Decision("reward", ("wallet",), "reward_by of the wallet"),
    Decision("pixelsPerUnit", words="the pixels of a price"),
    Decision("gateway", words="a table under gateways"),
    Decision("httpAddr", ("http", "http_tls"), "http"),
    Decision("rtmpAddr", ("rtmp",)),
    Decision("orchAddr", ("orchestrators", "orchestrator"), "orchestrators, or orchestrator of a worker"),
    Decision("orchWebhookUrl", ("discovery",)),
    Decision("aiServiceRegistry", ("discovery", "ai_registry"), "discovery, or ai_registry of an orchestrator"),
    Decision("maxPricePerUnit", ("max_price",)),
    Decision("maxPricePerCapability", ("max_model_prices",)),
    Decision("aiMinRunnerVersion", ("min_runner_versions",)),
    Decision("transcodingOptions", ("ladder",)),
    Decision("orchestrator", ("mode",), "a table under orchestrators"),
    Decision("serviceAddr", ("service",)),
    Decision("pricePerUnit", ("price",)),
    Decision("pricePerGateway", ("gateway_prices",)),
    Decision("redeemerAddr", ("redeemer",)),
    Decision("transcoder", ("transcoding",), "transcoding of an orchestrator, or a table under transcoders"),
    Decision("aiWorker", ("ai_work",), "ai_work of an orchestrator, or a table under ai_workers"),
    Decision("nvidia", ("gpus",)),
    Decision("aiModels", ("models",)),
    Decision("aiModelsDir", ("models_dir",)),
    Decision("aiRunnerImageOverrides", ("runner_image",), "runner_image, or image of a model"),
    Decision("aiRunnerImage", ("runner_image",)),
    Decision("remoteSigner", words="a table under remote_signers"),
    Decision("remoteSignerUrl", ("remote_signer.signer",)),
    Decision("redeemer", words="a table under redeemers"),
)

DECIDED = {
    decision.flag: decision.words or decision.fields[0]
    for decision in DECISIONS
    if decision.flag not in {row.flag for row in ROWS}
}
"""Where the spec says what of each flag that only code decides about."""

NO_FLAG: dict[str, str] = {
    "host": "where the process runs",
    "node_release": "chooses the flag table, the image and the manifest entry",
    "image": "the container image",
    "extra_flags": "any flag that no field reaches",
    "cli_exposed": "an acknowledgement for a rule",
    "environment": "variables of the process",
    "secret_environment": "secret variables of the process",
    "expected_load": "what reports compute costs with; the node has no such setting",
}
"""Fields of node tables that set no flag, and why."""

UNREACHED: dict[str, str] = {
    "broadcaster": "deprecated name of -gateway",
    "datadir": "second name of -dataDir; mixing the two breaks the order of sources",
    "pricePerBroadcaster": "deprecated name of -pricePerGateway",
    "liveAICapRefreshModels": "has no effect in any release since v0.8.10; extra_flags reaches it in older ones",
    "config": "settings travel as flags and variables, one source for each, so that nothing gets past the checks",
    "j": "prints the flags and exits",
    "version": "prints the version and exits",
}
"""Flags that no field reaches, and why."""

_ROWS_BY_TABLE = {
    table: tuple((row, tuple(row.field.split("."))) for row in ROWS if table in row.tables) for table in _ALL
}


def field_of(flag: str, table: str) -> str:
    """What sets a flag: the field of a node table that has it, else of another one, else the words of `DECIDED`."""
    rows = [row for row in ROWS if row.flag == flag]
    own = next((row.field for row in rows if table in row.tables), None)
    if own is not None:
        return own
    return f"{rows[0].field} of {rows[0].tables[0]}" if rows else DECIDED.get(flag, "")


def flag_called(word: str) -> str:
    """The flag that a word names as people write it: with dashes in front, in any case, or as its variable; else ""."""
    return _CALLED.get(folded(word)) or _CALLED.get(folded(word[3:] if word[:3].upper() == "LP_" else ""), "")


_CALLED = {folded(name): name for name in sorted(FLAGS, reverse=True)}
"""Flags by their folded name. Two differ in case alone: datadir is a second name of dataDir."""


def in_the_spec(flag: str, table: str) -> str:
    """A sentence about how the spec sets a flag of the node."""
    field = field_of(flag, table)
    return f"the node's -{flag} is set by {field}" if field else f"no key sets the node's -{flag}: {UNREACHED[flag]}"


def settings_given(node: Node) -> Iterator[tuple[Row, tuple[str, ...], Any]]:
    """Each plain setting of a node that the spec gives: its row, its path below the node, and its value."""
    given = node.settings.model_fields_set
    for row, parts in _ROWS_BY_TABLE[node.table]:
        if parts[0] not in given:
            continue
        value: Any = node.settings
        for part in parts:
            value = getattr(value, part)
            if value is None:
                break
        if value is not None and value != ():
            yield row, parts, value
