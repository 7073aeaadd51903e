"""The topics that fields and codes are sorted by, for pages that would be long lists without them.

In: the groups of the node's flags, the folders of rules, and the tables below. Out: the topic of each field of a table
(`field_topics`), and the codes of each topic (`code_topics`). Called by the pages of `fleetc explain` and of the
reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fleetc.language.fleet import NODE_TABLES
from fleetc.language.rows import DECISIONS, ROWS
from fleetc.messages.pages import TOPICS
from fleetc.rules import rules, subjects
from fleetc.upstream import FLAGS
from fleetc.upstream.signatures import signatures

_OF_FLAGS = {
    "network": "Addresses and listeners",
    "payment": "Prices and payments",
    "selection": "Choice of orchestrators",
    "transcoding": "Video and GPUs",
    "ai": "AI models",
    "live-ai": "Live AI video",
    "onchain": "The chain",
    "auth": "Who is admitted",
    "storage": "Storage",
    "metrics": "Metrics and events",
    "logging": "Logs",
}
"""The title of each group of flags, in the order of the pages."""

_PROCESS = "The process"

_OTHERWISE = {"cli_exposed": "network", "expected_load": "payment", "data_dir": ""}
"""Groups of fields without a flag, or with a flag in an unexpected group; "" is the process."""

_OF_TABLE: dict[str, dict[str, tuple[str, ...]]] = {
    "hosts.<name>": {
        "Where it is": ("address", "public", "region"),
        "How nodes run": ("runtime", "node_user", "binary", "build", "state_dir"),
        "GPUs and what reads them": ("gpus", "gpu_exporter", "blackbox_port"),
        "How Ansible logs in": ("ssh_user", "ssh_port", "become"),
    },
    "runners.<name>": {
        "What clients buy": ("app", "mode", "price", "capacity", "version", "metadata"),
        "Where it is": ("url", "host", "image", "program", "arguments", "port", "path"),
        "How its orchestrator knows it": ("health", "health_status", "register_by", "routing", "proxy"),
        "What it uses of its host": (
            *("gpus", "memory", "encode_sessions", "directories", "host_ipc", "environment", "secret_environment"),
        ),
    },
    "avatars.<name>": {
        "The stack": ("host", "avatar_release", "image_tag", "images", "brand", "beside"),
        "Slots and their games": (
            *("slots", "gpu", "slot_memory", "slot_encode_sessions", "slot_networks", "game_command", "game_args"),
            *("game_files", "game_open_files", "signaling_args", "signaling_rest_api", "recorder_signaling"),
        ),
        "Who may reach it": (
            *("allow", "edge", "turn", "stun", "public", "docker_gateways", "runner_token", "recordings_token"),
        ),
        "Payments and health": (
            *("payments", "registration", "health_port", "monitored_services", "keep_running"),
            *("power_project_prefixes", "gpu_statistics_age"),
        ),
        "Updates and remote control": (
            *("remote_ops", "remote_cluster_control", "ops", "cli_auto_update", "auto_upgrade_when_sleeping"),
            *("updater_interval", "docker_api_version"),
        ),
        "Directories": ("project_dir", "session_dir", "recordings_dir"),
    },
    "monitoring": {
        "Where metrics go": (
            *("host", "receiver", "receiver_token", "scrape_interval", "labels", "alertmanagers", "rule_files"),
            *("runbook", "verify_every", "verify_exporter"),
        ),
        "Programs that watch the fleet": ("project",),
        "When to raise an alert": (
            *("deposit_low", "reserve_low", "runway_low", "declined_high", "sessions_high", "gpu_memory_high"),
            *("disk_high", "restarts_high", "reward_round"),
        ),
    },
}


def field_topics(table: str) -> Mapping[str, tuple[str, ...]]:
    """Fields by topic for a table with many fields, in the order of its page; nothing for any other table.

    `table` is its dotted name, such as "gateways.<name>".
    """
    kind = table.removesuffix(".<name>")
    if kind in NODE_TABLES and table != kind:
        return _of_nodes(kind)
    return _OF_TABLE.get(table, {})


def _of_nodes(kind: str) -> dict[str, tuple[str, ...]]:
    groups = {row.parts[0]: FLAGS[row.flag].group for row in reversed(ROWS) if row.table == kind}
    for decision in DECISIONS:
        for field in decision.fields:
            groups.setdefault(field.partition(".")[0], FLAGS[decision.flag].group)
    groups |= _OTHERWISE
    groups_of_table = {
        title: tuple(name for name, group in groups.items() if group == known) for known, title in _OF_FLAGS.items()
    }
    return {title: names for title, names in groups_of_table.items() if names}


def grouped(table: str, names: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """The fields of a table by topic, each in the order of `names`; what no topic has comes last."""
    topics = field_topics(table)
    sections = [(title, tuple(name for name in names if name in own)) for title, own in topics.items()]
    listed = {name for _, own in sections for name in own}
    rest = tuple(name for name in names if name not in listed)
    return [group for group in [*sections, (_PROCESS if topics else "Optional", rest)] if group[1]]


class Codes(NamedTuple):
    """The diagnostic codes of one topic, sorted, and a sentence about them."""

    sentence: str
    codes: tuple[str, ...]


def code_topics() -> dict[str, Codes]:
    """Every code, by topic. Rules have the topic of their folder."""
    codes: dict[str, list[str]] = {}
    for rule in rules():
        codes.setdefault(rule.subject, []).append(rule.code)
    for name, topic in TOPICS.items():
        codes.setdefault(name, []).extend(topic.pages)
    codes.setdefault("logs", []).extend(signatures())
    sentences = {name: topic.sentence for name, topic in TOPICS.items()} | subjects()
    return {name: Codes(sentences[name], tuple(sorted(codes[name]))) for name in sorted(codes)}
