"""`ROLLOUT.md`: its commands name this fleet's hosts, and nothing of the spec is markup or reaches a shell."""

from __future__ import annotations

import re
from dataclasses import replace

from markdown_it import MarkdownIt

from fleetc.blueprint.blueprint import SecretVariable
from tests.emit import support
from tests.text.test_encoding import PageReader


def page_of(*secrets: SecretVariable, count: int = 2, **changes: object) -> str:
    hosts = [support.host(f"edge-{n}", support.service(f"gw-{n}", secrets=secrets)) for n in range(1, count + 1)]
    plan = replace(support.plan(*hosts), batches=tuple((host.name,) for host in hosts), **changes)  # type: ignore[arg-type]
    return support.text(support.emitted(plan), "ROLLOUT.md")


def commands(page: str) -> str:
    return "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))


def test_secrets_are_data_and_in_no_command() -> None:
    odd = [SecretVariable(f"S{n}", "env", value, support.HERE) for n, value in enumerate(support.ODD_VALUES) if value]
    page = page_of(*odd)
    assert commands(page) == commands(page_of(SecretVariable("S", "env", "PLAIN", support.HERE)))
    shown = PageReader(MarkdownIt("commonmark").enable("table").render(page))
    assert {tag for tag, _ in shown.tags} <= {
        "h1",
        "h2",
        "p",
        "code",
        "pre",
        "a",
        "ul",
        "li",
        "wbr",
    }


def test_file_with_secrets_is_named_only_where_there_are_some() -> None:
    assert "$SECRETS" not in page_of() and "vault.yml" not in page_of()
    with_variable = page_of(SecretVariable("S", "env", "PLAIN", support.HERE))
    assert "-e '@$SECRETS'" in commands(with_variable) and "vault.yml" not in with_variable
    assert "-e @vault.yml --ask-vault-pass" in commands(page_of(SecretVariable("S", "vault", "key", support.HERE)))


def test_parts_are_listed_while_people_can_read_them() -> None:
    assert "- 1/2: `edge-1`\n" in page_of()
    assert "- 1/2:" not in page_of(count=41) and "--shard 2/2" in page_of(count=41)
    tied = page_of(pairs=(("edge-1", "edge-2"),))
    assert "--shard" not in tied and "This fleet has no parts" in tied


def test_canary_is_named() -> None:
    assert "The canary: `edge-1`." in page_of(canary=1)
    assert "canary" not in page_of(canary=0)


def test_fleet_without_hosts_has_no_page() -> None:
    tree = support.emitted(replace(support.plan(), hosts=(), batches=()))
    assert "ROLLOUT.md" not in tree.as_mapping()
