"""Every field of the spec reaches a flag or has a written reason, and every flag of the node likewise."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from fleetc.language.fleet import NODE_TABLES
from fleetc.language.gateway import Gateway
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Wei, parse_duration
from fleetc.language.rows import DECIDED, DECISIONS, NO_FLAG, ROWS, UNREACHED, written
from fleetc.language.signer import Redeemer, RewardCaller, Signer
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.upstream import FLAGS

TABLES: dict[str, type[BaseModel]] = {
    "gateways": Gateway,
    "orchestrators": Orchestrator,
    "transcoders": Transcoder,
    "ai_workers": AiWorker,
    "remote_signers": Signer,
    "redeemers": Redeemer,
    "reward_callers": RewardCaller,
}

DECIDING = {field for decision in DECISIONS for field in decision.fields}


def _fields(model: type[BaseModel], prefix: str = "") -> list[str]:
    found = []
    for name, field in model.model_fields.items():
        annotations = [field.annotation, *getattr(field.annotation, "__args__", ())]
        nested = [a for a in annotations if isinstance(a, type) and issubclass(a, BaseModel)]
        if nested and nested[0].__name__ not in ("SecretRef", "Webhook", "ModelUse"):
            found += _fields(nested[0], f"{prefix}{name}.")
        else:
            found.append(prefix + name)
    return found


def test_every_table_of_nodes_is_looked_at() -> None:
    assert tuple(TABLES) == NODE_TABLES


def test_unreached_flags_are_replaced_or_not_for_services() -> None:
    """Anything else would be a setting that a fleet cannot have."""
    for name, reason in UNREACHED.items():
        assert FLAGS[name].replaced_by or "exits" in reason or name == "config", name


def test_every_field_has_a_row_or_a_reason() -> None:
    for table, model in TABLES.items():
        mapped = {row.field for row in ROWS if row.table == table}
        for field in _fields(model):
            known = field in mapped or field in DECIDING or field in NO_FLAG
            assert known, f"{table}.{field} sets nothing: write sets(...) for Field(...) in compiler/fleetc/language/"


def test_every_reason_and_decision_belongs_to_a_field() -> None:
    fields = {field for model in TABLES.values() for field in _fields(model)}
    assert DECIDING | set(NO_FLAG) <= fields, sorted((DECIDING | set(NO_FLAG)) - fields)
    assert not DECIDING & set(NO_FLAG)


def test_every_flag_is_mapped_decided_or_unreached_and_only_one_of_them() -> None:
    mapped = {row.flag for row in ROWS}
    for flag in FLAGS:
        places = [
            name for name, known in (("row", mapped), ("decided", DECIDED), ("unreached", UNREACHED)) if flag in known
        ]
        missing = "give it a field with sets(...) in compiler/fleetc/language/, or a reason in UNREACHED of rows.py"
        assert len(places) == 1, f"-{flag}: {places or missing}"
    assert mapped | {decision.flag for decision in DECISIONS} | set(UNREACHED) <= set(FLAGS)


def test_rows_respect_the_roles_that_read_a_flag() -> None:
    roles = {
        "gateways": "gateway",
        "orchestrators": "orchestrator",
        "transcoders": "transcoder",
        "ai_workers": "ai-worker",
        "remote_signers": "remote-signer",
        "redeemers": "redeemer",
        "reward_callers": "reward",
    }
    local_work = {"orchestrators": {"transcoder", "ai-worker"}}
    for row in ROWS:
        readers = FLAGS[row.flag].roles
        allowed = {"any", roles[row.table]} | local_work.get(row.table, set())
        assert readers & allowed, f"{row.table}.{row.field}: -{row.flag} is read by {sorted(readers)}"


def test_every_field_of_the_language_has_one_sentence_of_documentation() -> None:
    from fleetc.language.fleet import Fleet

    seen: set[type[BaseModel]] = set()

    def walk(model: type[BaseModel]) -> None:
        if model in seen:
            return
        seen.add(model)
        for name, field in model.model_fields.items():
            text = field.description or ""
            assert text.endswith((".", "?")) and len(text) > 15, f"{model.__name__}.{name}: {text!r}"
            stack = [field.annotation]
            while stack:
                annotation = stack.pop()
                if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                    walk(annotation)
                stack += getattr(annotation, "__args__", ())

    walk(Fleet)
    assert len(seen) > 15


@pytest.mark.parametrize(
    ("flag", "value", "text"),
    [
        ("monitor", False, "false"),
        ("v", 6, "6"),
        ("maxTicketEV", Wei(3 * 10**12), "3000000000000"),
        ("blockPollingInterval", parse_duration("5 s"), "5"),  # the node reads a bare number of seconds
        ("transactionTimeout", parse_duration("90 s"), "1m30s"),
        ("orchBlocklist", ("0xa", "0xb"), "0xa,0xb"),
        ("authWebhookUrl", "https://auth.example.net", "https://auth.example.net"),
    ],
)
def test_value_is_written_as_the_node_reads_its_flag(flag: str, value: object, text: str) -> None:
    assert written(flag, value) == text
