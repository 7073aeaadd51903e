"""Secrets are recognised wherever a spec can hold one, harmless texts are not, and no excerpt shows either."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from fleetc import upstream
from fleetc.fixes import repair
from fleetc.messages.forms import Format, written
from fleetc.messages.locate import locate
from fleetc.pipeline import check_spec
from fleetc.review.items import edits
from fleetc.text import leaks
from fleetc.text.leaks import randomness
from fleetc.toml.document import Source
from fleetc.upstream.secret_forms import forms, recovery_words
from tests.rules.support import free_gateway, free_orchestrator, gateway, offchain, onchain, printed
from tests.support import Test, fleetc, for_each
from tests.text.leak_texts import phrase, texts, words

CODE = "inline-secret"
SEEDS = range(25)
ENV, RPC, HARMLESS = texts("env"), texts("rpc"), texts("harmless")
SECRETS = {**ENV, **{f"rpc: {name}": text for name, text in RPC.items()}}


def _each(group: dict[str, str]) -> Callable[[Test], Test]:
    return for_each("text", group.values())


def _variable(text: str, name: str = "SETTING") -> str:
    return offchain(free_orchestrator(), free_gateway(environment=f"{{ {name} = {_quoted(text)} }}"))


def _quoted(text: str) -> str:
    return json.dumps(text).replace("\x7f", "\\u007f")


def _comment(text: str) -> str:
    lines = "".join(f"# {line}\n" for line in text.splitlines())
    return offchain(free_orchestrator(), free_gateway()).replace("[gateways.gate]", lines + "[gateways.gate]")


# ------------------------------------------------------------------------------------------------ what is recognised


@_each(SECRETS)
def test_secret_is_recognised(text: str) -> None:
    assert leaks.find(text) is not None


def test_other_secrets_of_the_same_forms_are_recognised_too() -> None:
    missed = [
        (group, name)
        for group in ("env", "rpc")
        for seed in SEEDS
        for name, text in texts(group, seed).items()
        if leaks.find(text) is None
    ]
    total = len(SEEDS) * (len(ENV) + len(RPC))
    assert len(missed) * 500 < total, missed


def test_no_harmless_text_of_the_same_forms_is_one() -> None:
    assert [(n, t) for seed in SEEDS for n, t in texts("harmless", seed).items() if leaks.find(t) is not None] == []


@pytest.mark.parametrize(
    "name",
    [
        "GitHub personal",
        "AWS access key",
        "PEM",
        "key file",
        "phrase of 12",
        "Telegram bot",
        "rpc: Alchemy letters",
        "rpc: dRPC short",
    ],
)
def test_form_that_nothing_else_has_is_certain(name: str) -> None:
    found = leaks.find(SECRETS[name])
    assert found is not None
    assert found.certain


def test_phrase_is_certain_by_its_checksum_alone() -> None:
    right = ENV["phrase of 12"].split()
    last = next(word for word in words() if leaks.phrases.find(" ".join([*right[:-1], word])) == (True, False))
    assert leaks.find(" ".join(right)) == leaks.Leak("a recovery phrase", True)
    assert leaks.find(" ".join([*right[:-1], last])) == leaks.Leak("a recovery phrase", False)


def test_list_of_words_is_the_whole_one_in_order() -> None:
    found = list(recovery_words())
    assert len(found) == 2048
    assert found == sorted(found)
    assert len({word[:4] for word in found}) == 2048


@pytest.mark.parametrize("name", ["LIVEPEER_API_KEY", "STUDIO_AUTH", "Authorization", "x-auth", "ACCESS"])
def test_uuid_counts_where_the_name_is_about_access(name: str) -> None:
    assert leaks.find(HARMLESS["UUID"], name) is not None
    assert leaks.find(HARMLESS["UUID"], "SCENE_ID") is None


def test_every_table_names_its_source() -> None:
    path = Path(upstream.__file__).parent / "secret_forms.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    for row in (*data["tokens"], *data["providers"]):
        assert row["source"], row
    for row in data["providers"]:
        assert row["key"] in ("path", "label")
    assert set(forms().providers) == {host for row in data["providers"] for host in row["hosts"]}


def test_time_grows_with_the_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: how many characters are weighed for a text ten times as long."""
    weighed = 0
    real = randomness._bits

    def counting(text: str) -> object:
        nonlocal weighed
        weighed += len(text)
        return real(text)

    monkeypatch.setattr(randomness, "_bits", counting)
    counts = []
    for size in (2_000, 20_000):
        weighed = 0
        for piece in ("ab1-", "a.b/c9", "x=1&y", "://", "aaaa,"):
            leaks.masked(piece * size)
            leaks.find(piece * size)
        counts.append(weighed)
    assert counts[1] <= 11 * counts[0]


# ------------------------------------------------------------------------------------------------ in a spec


@_each(SECRETS)
def test_secret_in_a_variable_or_a_comment_is_an_error_that_shows_nothing(text: str) -> None:
    for spec in (_variable(text), _comment(text)):
        told = printed(spec)
        assert f"error[{CODE}]" in told
        _shows_nothing_of(text, told)


def _shows_nothing_of(text: str, told: str) -> None:
    secret = text.rstrip("/=").split("/")[-1] if "://" in text else text
    if "@" in text:
        secret = text.split("@")[0].split(":")[-1]
    assert secret.removeprefix("//")[-12:] not in told


@_each(HARMLESS)
def test_harmless_text_is_silent_in_a_variable_and_a_comment(text: str) -> None:
    for spec in (_variable(text), _comment(text)):
        assert CODE not in printed(spec)


def test_comment_is_shown_by_its_place(snapshot: object) -> None:
    assert printed(_comment("old key: " + ENV["GitHub personal"])) == snapshot


def test_phrase_over_two_lines_of_comment_is_found() -> None:
    first, second = " ".join(ENV["phrase of 12"].split()[:7]), " ".join(ENV["phrase of 12"].split()[7:])
    told = printed(_comment(f"{first}\n{second}"))
    assert "a comment seems to contain a recovery phrase" in told
    assert first not in told
    assert second not in told


def test_text_that_looks_like_a_comment_is_none() -> None:
    assert CODE not in printed(_variable("# plain words and no key"))


@pytest.mark.parametrize("text", ["0x{}", "{}"])
def test_private_key_in_the_place_of_an_address_is_called_one(text: str) -> None:
    key = text.format(ENV["key without prefix"])
    told = printed(onchain(gateway()).replace('address = "0x', f'address = "{key}" # "0x', 1))
    assert "this is a private key, but an address belongs here" in told
    assert "move its funds" in told
    _shows_nothing_of(key, told)


# ------------------------------------------------------------------------------------------------ false alarms


def _silenced(spec: str, at: str, reason: str = "an id of ours, public") -> str:
    return f'{spec}\n[silences.accepted]\ncode = "{CODE}"\nat = "{at}"\nreason = "{reason}"\n'


PLACE = "gateways.gate.environment.SETTING"


def test_false_alarm_is_silenced_at_its_place() -> None:
    spec = _variable(ENV["Datadog"])
    assert "if it is not a secret, silence this error at this place, with a reason" in printed(spec)
    assert printed(_silenced(spec, PLACE)) == "no problems\n"


@pytest.mark.parametrize("at", ["gateways.gate", "gateways", "gateways.gate.environment"])
def test_false_alarm_is_silenced_nowhere_but_there(at: str) -> None:
    told = printed(_silenced(_variable(ENV["Datadog"]), at))
    assert f"error[{CODE}]" in told
    assert "error[silenced-error]" in told
    assert "at the one place that it names" in told


@pytest.mark.parametrize("name", ["GitHub personal", "phrase of 12", "PEM", "rpc: Infura"])
def test_certain_secret_is_silenced_by_nothing(name: str) -> None:
    told = printed(_silenced(_variable(SECRETS[name]), PLACE))
    assert f"error[{CODE}]" in told
    assert "error[silenced-error]" in told
    assert "silence this error" not in told


def test_false_alarm_in_a_comment_is_silenced_beside_it() -> None:
    spec = _comment("build " + ENV["Datadog"])
    assert "silence this error at gateways.gate" in printed(spec)
    assert printed(_silenced(spec, "gateways.gate")) == "no problems\n"


def test_false_alarm_behind_a_value_is_silenced_at_its_key() -> None:
    spec = offchain(free_orchestrator(), free_gateway(environment='{ SETTING = "x" }')).replace(
        '{ SETTING = "x" }', f'{{ SETTING = "x" }} # build {ENV["Datadog"]}'
    )
    assert "silence this error at gateways.gate.environment, " in printed(spec)
    assert printed(_silenced(spec, "gateways.gate.environment")) == "no problems\n"


# ------------------------------------------------------------------------------------------------ what excerpts show

LONG = {
    name: ENV[name]
    for name in ("Datadog", "Cloudflare token", "letters only", "32 bytes as base64", "20 bytes as base32")
}
UNKNOWN = {**LONG, "UUID": HARMLESS["UUID"], "commit": HARMLESS["commit"]}
WHERE: dict[str, Callable[[str], str]] = {
    "unknown key": lambda text: offchain(free_orchestrator(), free_gateway(bogus=_quoted(text))),
    "name of a host": lambda text: offchain(free_orchestrator(), free_gateway(host=_quoted(text))),
    "price": lambda text: onchain(gateway(max_price=_quoted(text))),
    "listener": lambda text: offchain(free_orchestrator(), free_gateway(rtmp=_quoted(text))),
    "port": lambda text: offchain(free_orchestrator(), free_gateway(rtmp=_quoted(f"127.0.0.1:{text}"))),
    "service": lambda text: offchain(free_orchestrator(service=_quoted(text))),
    "address": lambda text: onchain(gateway()) + f"[wallets.w]\naddress = {_quoted(text)}\n",
    "key of a table": lambda text: offchain(free_orchestrator()) + f"[{_quoted(text)}]\na = 1\n",
    "syntax": lambda text: offchain(free_orchestrator()) + f"[x]\na = {_quoted(text)} {_quoted(text)}\n",
    "twice": lambda text: offchain(free_orchestrator()) + f"[x]\n{_quoted(text)} = 1\n{_quoted(text)} = 2\n",
}


@for_each("where", WHERE)
@_each(UNKNOWN)
def test_no_form_shows_what_is_long_and_random(text: str, where: str) -> None:
    if where == "address" and text == HARMLESS["commit"]:
        return  # forty digits are an address that lacks its 0x, which the message writes out
    sources = [Source("fleet.toml", WHERE[where](text))]
    found = check_spec(sources)
    assert found.diagnostics
    located = locate(found.diagnostics, sources, found.document)
    for form in Format:
        told = written(form, located, sources, found.document)
        for start in range(len(text) - 11):
            assert text[start : start + 12] not in told, form


def test_masked_text_keeps_its_length_and_its_beginning() -> None:
    text = f'image = "example/runner:{HARMLESS["commit"]}" # {HARMLESS["UUID"]}'
    shown = leaks.masked(text)
    assert len(shown) == len(text)
    assert shown.startswith(text[:28])
    assert HARMLESS["commit"][:4] + "*" * 36 in shown


@pytest.mark.parametrize(
    "name", ["wallet with checksum", "image by digest", "GPU", "model address", "sentence", "zero hash"]
)
def test_public_and_plain_text_is_shown(name: str) -> None:
    assert leaks.masked(HARMLESS[name]) == HARMLESS[name]
    assert leaks.may_show(HARMLESS[name])


def test_repairs_show_no_line_with_a_secret() -> None:
    spec = _variable(ENV["Datadog"]).replace("environment =", "Environment =")
    changes = [str(change) for _, change in repair([Source("fleet.toml", spec)]).repairs]
    assert all(ENV["Datadog"][4:16] not in change for change in changes)


def test_reviews_show_no_random_value() -> None:
    assert edits.text_of(ENV["Datadog"]) == leaks.HIDDEN
    assert edits.text_of(f"v1-{HARMLESS['commit']}")[:9] == f"v1-{HARMLESS['commit'][:4]}**"


@pytest.mark.parametrize("form", ["text", "json"])
def test_why_shows_no_secret_of_the_spec(form: str, tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text(_variable(ENV["GitHub personal"]), encoding="utf-8")
    done = fleetc("why", "gate", "SETTING", "--spec", spec, "--format", form)
    assert done.returncode == 0, done.stderr
    _shows_nothing_of(ENV["GitHub personal"], done.stdout + done.stderr)


@pytest.mark.parametrize("form", ["text", "json"])
def test_why_shows_no_random_value(form: str, tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    at = "gateways.gate.environment.SETTING"
    spec.write_text(_silenced(_variable(ENV["Datadog"]), at), encoding="utf-8")
    done = fleetc("why", at, "--spec", spec, "--format", form)
    assert done.returncode == 0, done.stderr
    assert "node.env" in done.stdout
    assert ENV["Datadog"][4:16] not in done.stdout + done.stderr


def test_phrases_of_every_length_are_made_right() -> None:
    import random

    for size in (12, 15, 18, 21, 24):
        assert leaks.phrases.find(" ".join(phrase(size, random.Random(size)))) == (True, True)
