"""`node.env`: the form of its reader, and secrets by reference only. Real programs read it in the tests beside this."""

from __future__ import annotations

from fleetc.blueprint.blueprint import SecretVariable, Variable
from tests.emit import support


def env_of(runtime: str, **changes: object) -> str:
    host = support.host("edge-1", support.service("gw-eu", **changes), runtime=runtime)
    return support.text(support.emitted(support.plan(host)), "hosts/edge-1/gw-eu/node.env")


def test_form_follows_the_reader() -> None:
    variables = (Variable("A", "`b`\n$c", support.HERE),)
    assert env_of("docker", variables=variables, secrets=()) == 'A="`b`\\n\\$c"\n'
    assert env_of("systemd", variables=variables, secrets=()) == 'A="\\`b\\`\n\\$c"\n'


def test_secrets_are_comments_that_end_in_our_own_words() -> None:
    secrets = (SecretVariable("LP_ETHURL", "host_file", "/etc/a\nB=1\\", support.HERE),)
    assert env_of("systemd", variables=(), secrets=secrets) == (
        "# LP_ETHURL: from host_file /etc/a\\x0aB=1\\, filled in by a rollout\n"
    )


def test_variables_are_sorted_and_an_empty_file_is_still_there() -> None:
    variables = (Variable("B", "2", support.HERE), Variable("A", "1", support.HERE))
    assert env_of("docker", variables=variables, secrets=()) == 'A="1"\nB="2"\n'
    assert env_of("docker", variables=(), secrets=()) == ""
