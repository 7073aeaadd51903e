"""`fleetc explain`: what a word leads to, what it says about a word that leads nowhere, and how its pages look."""

from __future__ import annotations

import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from typing import Any

import pytest

from fleetc.language.rows import UNREACHED, fields_that_set
from fleetc.lower import models, prices
from fleetc.messages.entries import map_page, table_page
from fleetc.messages.explain import pages
from fleetc.messages.finding import NotFoundError, answer
from fleetc.messages.related import codes_by_field
from fleetc.messages.search import LIMIT, search
from fleetc.messages.sheet import Sheet
from fleetc.messages.tables import find, names, table_called, tables
from fleetc.messages.topics import code_topics
from fleetc.upstream import FLAGS
from fleetc.upstream.avatar import settings
from fleetc.upstream.stream_api import SERVER_OWNED
from tests import forked
from tests.support import INVENTORIES, fleetc, for_each

WIDE = Sheet()


def said(word: str) -> str:
    return "\n".join(answer(word, WIDE))


def missed(word: str) -> str:
    with pytest.raises(NotFoundError) as found:
        answer(word, WIDE)
    return str(found.value)


# ------------------------------------------------------------------------------------------------------ the way in


@pytest.mark.parametrize(
    ("word", "title"),
    [
        ("-pricePerUnit", "orchestrators.<name>.price"),
        ("pricePerUnit", "orchestrators.<name>.price"),
        ("--pricePerUnit", "orchestrators.<name>.price"),
        ("-pricePerUnit=1200", "orchestrators.<name>.price"),
        ("LP_PRICEPERUNIT", "orchestrators.<name>.price"),
        ("LP_ETHURL", "fleet.rpc"),
        ("ethKeystorePath", "wallets.<name>.keystore"),
        ("-reward", "wallets.<name>.reward_by"),
        ("aiModels.json:warm", "orchestrators.<name>.models.warm"),
        ("hosts/gpu-1/orch-a/aiModels.json:optimization_flags", "models.<name>.optimization"),
        ("prices.json:priceperunit", "orchestrators.<name>.gateway_prices"),
        ("transcoding.json:gop", "ladders.<name>.profiles.gop"),
        ("cluster.json:avatar_id", "avatars.<name>.slots.avatar"),
        ("launch.flags:maxPricePerUnit", "gateways.<name>.max_price"),
        ("node.env:LP_ETHURL", "fleet.rpc"),
        ("AVATAR_CLI_NO_AUTO_UPDATE", "avatars.<name>.cli_auto_update"),
        ("EMBODY_CLI_NO_AUTO_UPDATE", "avatars.<name>.cli_auto_update"),
        ("max_price", "gateways.<name>.max_price"),
        ("gateways.gw-eu.max_price", "gateways.<name>.max_price"),
        ("gateways", "[gateways.<name>]"),
        ("gateways.tickets", "[gateways.<name>.tickets]"),
        ("hosts.gpus", "[[hosts.<name>.gpus]]"),
        ("unknown-key", "unknown-key"),
        ("codes.money", "codes.money"),
        ("money", "codes.money"),
    ],
)
def test_word_leads_to_its_page(word: str, title: str) -> None:
    assert title in answer(word, WIDE)


@for_each("flag", FLAGS)
def test_every_flag_and_its_variable_lead_to_fields_or_say_why_not(flag: str) -> None:
    for word in (f"-{flag}", f"LP_{flag.upper()}"):
        if word == "LP_DATADIR":
            continue  # datadir is a second name of dataDir
        text = " ".join(said(word).split())
        fields = fields_that_set(flag)
        if flag in UNREACHED:
            assert UNREACHED[flag] in text and "fleetc explain gateways.extra_flags" in text
            assert fields == ()
            continue
        assert fields and all(find(field) for field in fields)
        if "." not in fields[0]:
            assert text.startswith(f"fleetc itself sets -{flag} of the node")
            assert "extra_flags does not take it" in text


@for_each("name", settings())
def test_every_variable_of_the_avatar_stack_leads_somewhere(name: str) -> None:
    text = " ".join(said(settings()[name].variable("AVATAR")).split())
    assert f"set by avatars.{settings()[name].field}." in text or f": {settings()[name].decided}" in text


@pytest.mark.parametrize("table", [models.KEYS, prices.KEYS], ids=["aiModels.json", "prices.json"])
def test_every_key_of_a_file_leads_to_fields_that_exist(table: dict[str, tuple[str, ...]]) -> None:
    for key, fields in table.items():
        assert fields and all(find(field) for field in fields), key


@pytest.mark.parametrize("file", ["aiModels.json", "prices.json", "transcoding.json", "cluster.json"])
def test_every_key_that_the_example_fleets_have_in_a_file_leads_to_a_field(file: str) -> None:
    written = set()
    for path in sorted(INVENTORIES.rglob(file)):
        written |= _keys(json.loads(path.read_text("utf-8")))
    assert written
    for key in sorted(written):
        assert f"{key} in {file} comes from " in said(f"{file}:{key}")


def _keys(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(_keys, node))
    if not isinstance(node, dict):
        return set()
    free = {"optimization_flags"}  # its keys are the user's
    return set(node).union(*(_keys(value) for key, value in node.items() if key not in free))


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("gateways.max_prise", 'gateways has no field "max_prise"; did you mean "gateways.max_price"?'),
        ("gateways.gw-eu.max_prise", 'gateways has no field "max_prise"; did you mean "gateways.max_price"?'),
        ("gateways.price", 'gateways has no field "price"; did you mean "gateways.max_price"?'),
        ("hosts.a.gpus.0.mode", 'did you mean "hosts.gpus.model"?'),
        ("gateways.gw-eu", "fleetc explain gateways lists them; leave out names of your own"),
        ("gateways.max_prise.x", 'gateways has no field "max_prise"; did you mean "gateways.max_price"?'),
        ("fleet.name.x", 'fleet.name is no table, so it has no "x"; fleetc explain fleet.name shows what it is'),
        ("hosts.a.gpus.x.model", 'hosts.gpus has no field "x"; fleetc explain hosts.gpus lists them'),
        ("rendered/hosts/a/b/launch.flags:11", "launch.flags:11 is a line: fleetc why FILE:LINE says"),
        ("unknwon-key", 'did you mean "unknown-key"?'),
        ("gatewys", 'did you mean "gateways"?'),
        ("codes.mony", 'did you mean "codes.money"?'),
        ("nodess", '"nodess"; did you mean "nodes"?'),
        ("GPU", 'did you mean "gpu"?'),
        ("LP_XYZZY", 'fleetc knows no flag "LP_XYZZY"; flags of a newer release'),
        ("-pricePerUnits", 'did you mean "pricePerUnit"?'),
        ("-pricePerUnits", "fleetc explain gateways.extra_flags"),
        ("LP_ETHURLS", 'did you mean "ethUrl"?'),
        ("aiModels.json:wram", 'aiModels.json has no key "wram"; did you mean "warm"?'),
        ("aiModel.json:warm", 'did you mean "aiModels.json"?'),
        ("", "fleetc explain lists the tables"),
        ("qqqqq", "fleetc explain lists the tables"),
    ],
)
def test_unknown_word_is_an_error_with_what_is_near(word: str, advice: str) -> None:
    assert advice in missed(word)
    done = fleetc("explain", "--", word)
    assert (done.returncode, done.stdout) == (2, "")
    assert advice in done.stderr


@pytest.mark.parametrize("key", SERVER_OWNED)
def test_field_of_a_stream_that_the_service_sets(key: str) -> None:
    text = said(f"streams.{key}")
    assert text == said(f"streams.stage-main.{key}")
    assert f"Set by the service; where a spec has it, {SERVER_OWNED[key]}." in " ".join(text.split())
    assert "Default" not in text


def test_fields_of_the_service_stand_in_streams_alone() -> None:
    missed("streams.a.b.ingestRate")
    missed("gateways.ingestRate")


def test_last_name_of_a_field_leads_to_each_table_that_has_it() -> None:
    text = said("gateway")
    assert text.startswith("gateway is a field of streams. The table is gateways.\n\nstreams.<name>.gateway\n")
    text = said("timeout")
    assert text.startswith("timeout is a field of gateways.selection, gateways.metadata_queue and ")
    assert text.endswith("\nAlso: gateways.metadata_queue.timeout, remote_signers.selection.timeout")


# -------------------------------------------------------------------------------------------------------- the pages


def test_map_is_one_screen_with_every_table_and_topic() -> None:
    lines = list(map_page(WIDE))
    assert len(lines) <= 40 and all(len(line) <= 100 for line in lines)
    text = "\n".join(lines)
    for field in tables()[0].fields:
        assert re.search(rf"^  {field.name} +\S.*\.$", text, re.MULTILINE), field.name
    for name, topic in code_topics().items():
        assert f"{name} ({len(topic.codes)})" in text
    assert fleetc("explain").stdout == text + "\n"


def test_every_code_has_one_topic() -> None:
    codes = [code for topic in code_topics().values() for code in topic.codes]
    assert sorted(codes) == sorted(pages())
    assert fleetc("explain", "codes").stdout.count("\n  ") >= len(codes)


def test_page_of_a_table_has_every_field_and_its_facts() -> None:
    table = table_called("gateways.<name>")
    assert table is not None
    text = "\n".join(table_page(table, WIDE))
    for field in table.fields:
        assert f"\n  {field.example}" in text
        assert " ".join(field.sentence.split()) in " ".join(text.split())
    assert text.index("\nRequired\n") < text.index('\n  mode = "dual"') < text.index("\nPrices and payments\n")
    assert "in wei, gwei, ETH or a currency such as USD / pixel" in text
    assert "\n    [gateways.gw-eu]\n    host = " in text
    assert "\nIt is part of a spec that checks clean: " in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_pages_keep_to_the_width(width: int) -> None:
    """Only examples are longer: they are to be copied as they are."""
    examples = {f"  {field.example}" for table in tables() for field in table.fields}
    for word in ("gateways", "avatars", "streams.pull", "rollout.live", "-v", "codes.money", "spec-missing"):
        for line in answer(word, Sheet(width)):
            if not line.startswith(("    [", "  Example:")) and line not in examples and " = " not in line:
                assert len(line) <= min(width, 100), line


def test_page_of_a_field_says_what_it_sets_and_which_codes_are_about_it() -> None:
    text = said("gateways.max_price")
    assert '\n  Type:      text such as "1500 wei / pixel" or "any"\n' in text
    assert '\n  Example:   max_price = "1500 wei / pixel"\n' in text
    assert "\n  Sets:      -maxPricePerUnit, -pixelsPerUnit of the node\n" in text
    assert "gateway-price-admits-nobody" in text
    assert '\n  Unit:      h, min, s, ms or us\n  Default:   "30s"\n' in said("rollout.stable")


def test_codes_of_a_field_are_those_whose_examples_change_it() -> None:
    found = codes_by_field()
    assert set(found) <= set(names())
    assert "rpc-not-https" in found["fleet.rpc"]
    assert "media-server-ended" in found["gateways.http"], "a signature of logs names it"


def test_page_of_a_code_keeps_its_examples_and_names_its_fields() -> None:
    lines = answer("gateway-price-unset", Sheet(60))
    assert all(f"    {line}".rstrip() in "\n".join(lines) for line in ("[gateways.gate]",))
    assert "  Topic:     codes.money" in lines and any("gateways.max_price" in line for line in lines)
    (rule,) = (page for code, page in pages().items() if code == "gateway-price-unset")
    assert " ".join(rule.split()) in " ".join(" ".join(lines).split())


# ----------------------------------------------------------------------------------------------------------- search


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("max price", "gateways.max_price"),
        ("maxPricePerUnit", "gateways.max_price"),
        ("deposit low", "deposit-low"),
        ("gpu memory full", "gpu-memory-full"),
        ("prices of single gateways", "orchestrators.gateway_prices"),
        ("Canary", "rollout.canary"),
        ("unknown key", "unknown-key"),
        ("stun server", "avatars.stun"),
        ("add ai model", "models"),
        ("ai model", "models"),
        ("add a host", "hosts"),
    ],
)
def test_search_finds_the_best_first(text: str, first: str) -> None:
    hits, complete = search(text)
    assert complete and first in [hit.name for hit in hits[:3]], [hit.name for hit in hits[:5]]


def test_search_puts_the_table_first() -> None:
    assert [search(text)[0][0].name for text in ("add ai model", "new host")] == ["models", "hosts"]


def test_search_finds_commands() -> None:
    done = fleetc("explain", "--search", "rollback list of releases")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "fleetc rollback")


def test_search_is_bounded_and_says_how_many_more() -> None:
    done = fleetc("explain", "--search", "price")
    heads = [line for line in done.stdout.splitlines() if line and not line.startswith((" ", "..."))]
    assert done.returncode == 0 and len(heads) == LIMIT
    assert re.search(r"^\.\.\. and \d+ more; another word makes them fewer$", done.stdout, re.MULTILINE)


def test_search_joins_a_field_that_many_tables_have() -> None:
    (hit,) = [hit for hit in search("log verbosity")[0] if hit.name == "gateways.verbosity"]
    assert hit.also[0] == "orchestrators" and len(hit.also) == 6


def test_search_with_words_that_nothing_has_together_shows_the_nearest() -> None:
    done = fleetc("explain", "--search", "canary xyzzy")
    assert done.returncode == 0
    assert done.stdout.startswith("Nothing has all of these words. Nearest:\n\nrollout.canary\n")


def test_search_that_finds_nothing_says_so() -> None:
    done = fleetc("explain", "--search", "xyzzy")
    assert (done.returncode, done.stdout) == (1, "") and 'nothing has a word of "xyzzy"' in done.stderr


def test_only_one_question_at_a_time() -> None:
    done = fleetc("explain", "gateways", "--search", "price")
    assert done.returncode == 2 and "only one of NAME, --search, --example, --all and --schema" in done.stderr


# ------------------------------------------------------------------------------------------------ pipe and terminal


def test_flags_need_no_dashes_before_them_and_h_is_help() -> None:
    assert fleetc("explain", "-httpAddr").stdout == fleetc("explain", "--", "-httpAddr").stdout
    assert "-httpAddr of the node" in fleetc("explain", "-httpAddr").stdout
    for words in (("explain", "-h"), ("why", "-h"), ("check", "-h"), ("-h",)):
        done = fleetc(*words)
        assert done.returncode == 0 and done.stdout.startswith("Usage: fleetc"), words
    assert fleetc("explain", "--", "-h").returncode == 2


def test_page_in_a_pipe_is_plain() -> None:
    assert "\x1b" not in fleetc("explain", "gateways", COLUMNS="40").stdout
    assert fleetc("explain", "gateways", COLUMNS="40").stdout == fleetc("explain", "gateways").stdout


def shown_on_a_terminal(columns: int, *words: str, **environment: str) -> str:
    """What the command writes on a terminal with so many columns."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    own = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    command = [str(forked.program()), *words]
    with subprocess.Popen(command, stdout=follower, env={**own, "TERM": "xterm", **environment}) as process:
        os.close(follower)
        pieces = []
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
        assert process.wait(60) == 0
    os.close(leader)
    return b"".join(pieces).decode().replace("\r\n", "\n")


@pytest.mark.usefixtures("processes")
def test_page_on_a_terminal_has_its_width_and_light_styles() -> None:
    text = shown_on_a_terminal(60, "explain", "rollout.live")
    assert text == "\n".join(answer("rollout.live", Sheet(60, colour=True))) + "\n"
    assert text.startswith("\x1b[1mrollout.live\x1b[0m\n")
    assert "\x1b" not in shown_on_a_terminal(60, "explain", "rollout.live", NO_COLOR="1")


@pytest.mark.usefixtures("processes")
def test_reader_that_leaves_early_gets_no_message() -> None:
    script = f"{sys.executable} -I -m fleetc explain --all | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("# Reference of the spec language\n", "")


def test_short_name_of_version() -> None:
    assert fleetc("-V").stdout == fleetc("--version").stdout


def test_no_summary_of_a_command_is_cut() -> None:
    text = fleetc("--help", COLUMNS="80", TERMINAL_WIDTH="80").stdout
    assert "..." not in text.partition("Commands:")[2] and all(len(line) <= 80 for line in text.splitlines())
