"""Asks hosts what they run and their nodes what they run with, and changes nothing there.

In: a compiled fleet, names of hosts, the tool's settings. Out: a `HostAnswer` for each. It reads no secret: a host asks
the chain with the secrets of its nodes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.tree import Tree
from fleetc.language.fleet import Fleet
from fleetc.rollout.hosts.begun import findings_in, steps_in
from fleetc.rollout.hosts.events import RunResult
from fleetc.rollout.hosts.gate import as_list, as_mapping, as_text, reason_of
from fleetc.rollout.hosts.observe import MEANINGLESS, said
from fleetc.rollout.hosts.rolling import Watch
from fleetc.rollout.hosts.runner import ask_playbook, private_project, reaching
from fleetc.rollout.verify.data import (
    Alert,
    HostAnswer,
    Inquiry,
    OtherSetting,
    Registered,
    Reply,
    Stranger,
)
from fleetc.rollout.verify.questions import questions_of
from fleetc.settings import Settings

VERIFY_PLAYBOOK = "verify.yml"
TASK = "Ask the host and its nodes what they run with"
_FORMAT = 1
_BODY_LIMIT = 256 * 1024
_ADDRESS_LIMIT = 500


def ask_hosts(
    tree: Tree, fleet: Fleet, blueprint: Blueprint, settings: Settings, hosts: Sequence[str], on_event: Watch
) -> dict[str, HostAnswer]:
    """The answer of each of `hosts`, or the reason for none."""
    questions = {host: own for host, own in questions_of(fleet, blueprint).items() if host in hosts}
    sent = {host: json.dumps([_told(question) for question in own]) for host, own in questions.items()}
    variables = {"fleet_host_questions": sent}  # as text, because Ansible copies each value of a variable several times
    options = replace(reaching(settings, hosts), variables=variables)
    with private_project(tree) as project:
        run = ask_playbook(project, VERIFY_PLAYBOOK, options, on_event, TASK)
    return {host: _answer(host, run, [question.id for question in questions.get(host, ())]) for host in hosts}


def _told(question: Inquiry) -> dict[str, Any]:
    return {"id": question.id, "where": question.where, "path": question.path, "metrics": list(question.metrics)}


def _answer(host: str, run: RunResult, ids: Collection[str]) -> HostAnswer:
    answer = as_mapping(run.answers.get(host, {}).get(TASK))
    if answer.get("format") != _FORMAT or answer.get("ok") is not True:
        return HostAnswer(host, unknown=reason_of(host, run) or "Ansible did not ask it")
    state, replies = as_mapping(answer.get("state")), _replies(answer.get("answers"))
    try:
        processes = said(host, state).processes
    except MEANINGLESS:
        return HostAnswer(host, unknown="its answer makes no sense")
    return HostAnswer(
        host,
        known_as=(as_text(state.get("fleet")), as_text(state.get("host"))),
        release=as_text(state.get("release")),
        switch=bool(state.get("switch")),
        quarantine=as_text(state.get("quarantine")),
        processes=processes,
        steps=steps_in(host, answer),
        settings=tuple(_setting(as_mapping(entry)) for entry in as_list(answer.get("settings"))),
        strangers=tuple(_stranger(as_mapping(entry)) for entry in as_list(answer.get("strangers"))),
        alerts=tuple(Alert(lack.code, lack.message, lack.node, lack.severity) for lack in findings_in(host, answer)),
        replies={name: _reply(as_mapping(replies.get(name))) for name in ids},
        registrations=_registrations(answer),
    )


def _setting(entry: Mapping[str, Any]) -> OtherSetting:
    return OtherSetting(as_text(entry.get("node")), as_text(entry.get("variable")), entry.get("overridden") is True)


def _stranger(entry: Mapping[str, Any]) -> Stranger:
    return Stranger(as_text(entry.get("what")), as_text(entry.get("account")), entry.get("reward") is True)


def _registrations(answer: Mapping[str, Any]) -> dict[str, Registered]:
    """How the chain has orchestrators, by the name of each."""
    entries = map(as_mapping, as_list(answer.get("registrations")))
    return {as_text(node): _registered(entry) for entry in entries for node in as_list(entry.get("nodes"))}


def _registered(entry: Mapping[str, Any]) -> Registered:
    active, address = entry.get("active"), entry.get("address")
    if isinstance(active, bool) and isinstance(address, str):
        return Registered(active, address[:_ADDRESS_LIMIT])
    return Registered(reason=as_text(entry.get("reason")) or "the answer of its host about the chain is invalid")


def _replies(text: object) -> Mapping[str, Any]:
    """The answers of a host's nodes, by question; empty if invalid."""
    try:
        return as_mapping(json.loads(text)) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}


def _reply(entry: Mapping[str, Any]) -> Reply:
    status, body = entry.get("status"), entry.get("body")
    if isinstance(status, bool) or not isinstance(status, int) or not 100 <= status <= 999:
        return Reply(0, reason=as_text(entry.get("reason")) or "no answer")
    return Reply(status, body[:_BODY_LIMIT] if isinstance(body, str) else "")
