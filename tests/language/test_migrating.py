"""Specs of version 1: what fleetc makes of them as they are, and what `fleetc migrate` makes of their texts."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from fleetc.emit.tree import SPEC_FOLDER
from fleetc.language.spec import read_spec
from fleetc.language.versions import CHANGES, READ_UNTIL, silence_names
from fleetc.migrating import Migrated, migrate
from fleetc.pipeline import check_spec, compile_spec
from fleetc.places.diagnostic import Severity
from fleetc.review.affects import places
from fleetc.toml.comments import comments_of
from fleetc.toml.document import Source
from tests.rules.support import free_gateway, free_orchestrator, offchain
from tests.support import ROOT, check_text, fleetc, printed, shipped, sources_of

OLD = ROOT / "tests" / "data" / "version_1"
EXAMPLES = sorted(path for path in OLD.glob("*.toml") if "-staging" not in path.stem)


def comments(sources: Sequence[Source]) -> Counter[str]:
    return Counter(line.strip() for source in sources for one in comments_of(source.text) for line in one.split("\n"))


def files(sources: Sequence[Source]) -> dict[str, bytes]:
    """The tree of a spec by name, without the copy of the spec and without the digests of that in the manifest."""
    compiled = compile_spec(sources, *shipped())
    assert compiled.tree is not None, printed(compiled.checked, [*sources])
    tree = {name: file.content for name, file in compiled.tree.as_mapping().items() if not name.startswith(SPEC_FOLDER)}
    return {name: re.sub(rb'"spec/[^\n]*', b"", content) for name, content in tree.items()}


def migrated(sources: Sequence[Source]) -> Migrated:
    """The migration of a sound spec, with all that holds of each."""
    done = migrate(sources)
    assert done.diagnostics == ()
    assert done.steps
    assert comments(done.sources) == comments(sources)
    again = migrate(done.sources)
    assert (again.sources, again.steps) == (done.sources, ())
    return done


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_of_version_1_compiles_and_migrates_to_the_same_tree(path: Path) -> None:
    overlay = OLD / f"{path.stem}-staging.toml"
    sources = sources_of(path, *([overlay] if overlay.is_file() else []))
    found = check_spec(sources).diagnostics
    assert [each.code for each in found] == ["spec-version-old"]
    done = migrated(sources)
    assert check_spec(done.sources).diagnostics == ()
    assert files(done.sources) == files(sources)


# --------------------------------------------------------------------------------------------- generated specs


SHARED = (OLD / "every-table.toml").read_text(encoding="utf-8").replace("closes this port", "closes it")
SILENT = 'code = "rtmp-on-ai-gateway"\nat = "gateways.gw-live"\nreason = "the firewall of the data centre closes it"\n'


def put(text: str, *pairs: tuple[str, str]) -> str:
    for before, after in pairs:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def generated(chance: random.Random) -> list[Source]:
    """A sound spec of version 1 that uses what version 2 changed, in places and forms that chance decides."""
    text, overlay, parts = SHARED, "", []

    def one_of(*choices: str) -> str:
        return chance.choice(choices)

    text = put(text, ("spec = 1", one_of("spec = 1", "spec=1 # the version", '"spec" = 1', "spec = 0x1")))
    renditions = one_of("transcoding = ['P240p30fps16x9'] # small", '"transcoding" = [\n  "P240p30fps16x9", # small\n]')
    if chance.random() < 0.6:
        classes = f"[classes.live.gateways]\n# what it makes\n{renditions}\n\n"
        if chance.random() < 0.5:
            text = put(text, ('ladder = "default"\nauth_webhook', f"{renditions}\nauth_webhook"))
        else:
            head = "[gateways.gw-eu]\n"
            text = put(
                text, (head, classes + head + 'like = "live"\n'), ('ladder = "default"\nauth_webhook', "auth_webhook")
            )
    label = one_of('service = "a label" # of runners', "service = 'a.label'", "service='x'")
    if chance.random() < 0.6:
        worker = text[text.index("[ai_workers.w-1]") : text.index("[remote_signers.signer]\n")]
        text = text.replace(worker, "")
        parts.append(
            Source("parts/worker.toml", "# a file of its own\n" + worker.rstrip() + f"\n{label}\n", "parts/worker.toml")
        )
        text = put(text, ("\n[fleet]\n", '\ninclude = ["parts/*.toml"]\n\n[fleet]\n'))
    elif chance.random() < 0.5:
        text = put(text, ("[ai_workers.w-1]\n", f"[ai_workers.w-1]\n{label}\n"))
    if chance.random() < 0.6:
        hook = one_of('webhook = "https://hook.example.net/sign"', "'webhook' = { env = 'HOOK' }")
        more = one_of("", 'webhook_headers = { env = "HEADERS" }\n')
        if chance.random() < 0.5:
            text = put(text, ("remote_discovery = true\n", f"remote_discovery = true\n{hook} # admits\n{more}"))
        else:
            overlay += f"[remote_signers.signer]\n{hook}\n{more}\n"
    if chance.random() < 0.6:
        token = one_of('receiver_token_file = "/etc/token"', "receiver_token_file='/etc/token' # theirs")
        text = put(text, ('[monitoring]\nhost = "edge-1"\n', f'[monitoring]\nhost = "edge-1"\n{token}\n'))
        if chance.random() < 0.4:
            overlay = 'remove = ["monitoring.receiver_token_file"] # here nobody asks\n\n' + overlay
    if chance.random() < 0.6:
        uptime = one_of("min_service_uptime = 95", "min_service_uptime = 0", "min_service_uptime = 100 # %")
        text = put(text, ('id = "stage-1"\n', f'id = "stage-1"\n{uptime}\n'))
    default = one_of(
        "", "", "[defaults.avatars]\ngame_command = false\n\n", '[defaults.avatars]\nslot_memory = "8 GiB"\n\n'
    )
    text = put(text, ("[rates]\n", default + "[rates]\n"))
    if chance.random() < 0.3:
        text = put(text, ("[avatars.stage]\n", f"[avatars.stage]\ngame_command = {one_of('true', 'false')}\n"))
    text = silenced(text, chance)
    if chance.random() < 0.3:
        overlay += "# only here\n[[silence]]\n" + SILENT + one_of("", 'owner = "edge team"\n')
    return [Source("fleet.toml", text), *parts, *([Source("staging.toml", overlay)] if overlay else [])]


def silenced(text: str, chance: random.Random) -> str:
    """The list of silences as a header, with comments, or in brackets."""
    form = chance.choice(("header", "comment", "brackets", "lines"))
    if form == "header":
        return text
    if form == "comment":
        return put(text, ("[[silence]]\n", "# agreed in May\n[[ silence ]] # until it closes\n"))
    entry = "{ " + ", ".join(SILENT.strip().split("\n")) + " }"
    brackets = (
        f"silence = [{entry}] # one" if form == "brackets" else f"silence = [\n  # why\n  {entry}, # one\n  # end\n]"
    )
    text = put(text, ("[[silence]]\n" + SILENT, ""))
    return put(text, ("\n[fleet]\n", f"\n{brackets}\n\n[fleet]\n"))


@pytest.mark.parametrize("block", [0, 1, *(pytest.param(block, marks=pytest.mark.slow) for block in range(2, 8))])
def test_a_generated_spec_migrates_to_the_same_fleet(block: int) -> None:
    """200 of them."""
    for seed in range(25 * block, 25 * (block + 1)):
        sources = generated(random.Random(seed))
        before, found = read_spec(sources)
        assert found == [], sources
        done = migrated(sources)
        after, found = read_spec(done.sources)
        assert found == []
        assert before is not None and after is not None and after.raw == before.raw
        assert not after.is_older


@pytest.mark.parametrize(
    "seeds", [range(0, 200, 20), pytest.param(range(200), marks=pytest.mark.slow)], ids=["10", "200"]
)
def test_a_generated_spec_migrates_to_the_same_tree(seeds: range) -> None:
    for seed in seeds:
        sources = generated(random.Random(seed))
        assert files(migrate(sources).sources) == files(sources)


# ------------------------------------------------------------------------------------------------ in every place


BROKEN = offchain(free_orchestrator(), free_gateway(http_ingest='"yes"')).replace("spec = 2", "spec = 1")


def test_an_old_spec_is_a_warning_that_says_until_when() -> None:
    old = offchain(free_orchestrator(), free_gateway()).replace("spec = 2", "spec = 1")
    found = check_text(old)
    assert "warning[spec-version-old]" in found
    assert f"fleetc reads that until {READ_UNTIL}" in found
    assert "help: fleetc migrate writes it in version 2" in found
    silence = '\n[[silence]]\ncode = "spec-version-old"\nreason = "we migrate in May"\n'
    assert check_text(old + silence) == "no problems\n"


def test_a_newer_spec_asks_for_a_newer_fleetc(tmp_path: Path) -> None:
    newer = offchain(free_orchestrator(), free_gateway()).replace("spec = 2", "spec = 3\nsomething = 'new'")
    found = check_text(newer)
    assert "error[spec-version-new]" in found
    assert "upgrade fleetc" in found
    assert "something" not in found
    (tmp_path / "fleet.toml").write_text(newer, encoding="utf-8")
    done = fleetc("migrate", tmp_path)
    assert done.returncode == 1
    assert "error[spec-version-new]" in done.stderr
    assert (tmp_path / "fleet.toml").read_text(encoding="utf-8") == newer


def test_messages_lead_to_the_keys_of_an_old_text() -> None:
    old = offchain(free_orchestrator(), free_gateway(transcoding='["P1p"]', orchestrators='["orch"]'))
    found = check_text(old.replace("spec = 2", "spec = 1"))
    line = next(number for number, one in enumerate(old.split("\n"), 1) if one.startswith("transcoding"))
    assert f"--> fleet.toml:{line}:" in found
    assert 'transcoding = ["P1p"]' in found


@pytest.mark.parametrize("change", [each for each in CHANGES if not each.form], ids=lambda each: ".".join(each.path))
def test_an_old_key_in_a_new_spec_is_renamed_by_the_fix(change: object) -> None:
    path, name = change.path, change.name  # type: ignore[attr-defined]
    text = f"spec = 2\n[{path[0]}.a]\n{path[1]} = 1\n"
    document, _ = read_spec([Source("fleet.toml", text)])
    assert document is not None
    found = check_text(text)
    assert f"since version 2 it is {name}" in found
    assert f"fleetc check --fix writes {name} for {path[-1]}" in found


def test_an_old_list_of_silences_in_a_new_spec_says_what_to_write() -> None:
    found = check_text(offchain(free_orchestrator(), '[[silence]]\ncode = "zero-price"\nreason = "x"\n'))
    assert "write [silences.<name>] instead of [[silence]]" in found


def test_both_names_of_a_key_are_an_error() -> None:
    both = offchain(free_orchestrator(), free_gateway(transcoding="[]", renditions="[]")).replace(
        "spec = 2", "spec = 1"
    )
    assert 'there is no key "transcoding" here' in check_text(both)


def test_silences_of_one_code_are_named_by_their_place() -> None:
    listed = [{"code": "a-b", "at": "gateways.gw-1"}, {"code": "a-b", "at": "gateways.gw-2"}, {"code": "policy/c"}]
    assert silence_names(listed) == ["a-b-gw-1", "a-b-gw-2", "policy-c"]
    assert silence_names([{"code": "a"}, {"code": "a"}, {"code": 5}, "no table"]) == [
        "a",
        "a-2",
        "silence-5",
        "silence",
    ]


def test_an_old_spec_that_was_compiled_before_is_compared_with_its_migration(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text((OLD / "keyless-gateways.toml").read_text(encoding="utf-8"), encoding="utf-8")
    assert fleetc("compile", spec).returncode == 0
    before = tmp_path / "before"
    (tmp_path / "rendered").rename(before)
    done = fleetc("migrate", spec)
    assert done.returncode == 0
    assert "webhook -> auth_webhook" in done.stdout
    assert f"migrated {spec}" in done.stderr
    assert fleetc("migrate", "--check", spec).returncode == 0
    found = fleetc("diff", spec, "--against", before)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "Nothing that runs changes." in found.stdout, found.stdout


def test_check_writes_nothing_and_ends_with_1(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    text = (OLD / "demo.toml").read_text(encoding="utf-8")
    spec.write_text(text, encoding="utf-8")
    done = fleetc("migrate", "--check", spec)
    assert done.returncode == 1
    assert f"{spec}:3: 1 -> 2" in done.stdout
    assert spec.read_text(encoding="utf-8") == text


def test_what_cannot_be_read_is_not_touched(tmp_path: Path) -> None:
    spec, overlay = tmp_path / "fleet.toml", tmp_path / "prod.toml"
    spec.write_text("spec = 1\n", encoding="utf-8")
    overlay.write_text("[gateways.a\n", encoding="utf-8")
    done = fleetc("migrate", spec, "--overlay", overlay)
    assert done.returncode == 1
    assert "error[syntax]" in done.stderr or "prod.toml:1" in done.stderr
    assert spec.read_text(encoding="utf-8") == "spec = 1\n"


def test_two_overlays_that_replace_the_same_list_need_a_person() -> None:
    listed = '[[silence]]\ncode = "zero-price"\nreason = "{}"\n'
    sources = [Source("fleet.toml", "spec = 1\n" + listed.format("base"))]
    sources += [Source(f"{name}.toml", listed.format(name) + 'at = "gateways"\n' * (name == "b")) for name in "ab"]
    done = migrate([sources[0], sources[2], sources[1]])
    assert [each.code for each in done.diagnostics] == ["migration-uncertain"]
    assert done.sources == (sources[0], sources[2], sources[1])
    alone = migrate(sources[:2])
    assert alone.diagnostics == ()
    assert "migrate with one of them, and then with the other" in str(done.diagnostics[0].help)
    then = migrate([alone.sources[0], sources[2]])
    assert then.diagnostics == ()
    assert then.sources[1].text == sources[2].text.replace("[[silence]]", "[silences.zero-price]")


def test_an_overlay_that_was_forgotten_migrates_when_its_spec_has() -> None:
    base = "spec = 2\n[silences.old]\ncode = 'zero-price'\nreason = 'x'\n"
    overlay = f"# here\n{LISTED}\n[monitoring]\nreceiver_token_file = '/t' # theirs\n"
    done = migrate([Source("fleet.toml", base), Source("prod.toml", overlay)])
    assert done.diagnostics == ()
    assert done.sources[0].text == base
    document, found = read_spec(done.sources)
    assert document is not None and not found
    assert document.raw["silences"] == {"zero-price": {"code": "zero-price", "reason": "agreed"}}
    assert document.raw["monitoring"] == {"receiver_token": {"host_file": "/t"}}
    assert "# theirs" in done.sources[1].text


def test_a_file_that_is_named_twice_is_not_written(tmp_path: Path) -> None:
    spec, overlay = tmp_path / "fleet.toml", tmp_path / "prod.toml"
    spec.write_text("spec = 1\n", encoding="utf-8")
    overlay.write_text("[gateways.a]\ntranscoding = []\n", encoding="utf-8")
    done = fleetc("migrate", spec, "--overlay", overlay, "--overlay", overlay)
    assert "error[spec-named-twice]" in done.stderr
    assert (done.stdout, spec.read_text(encoding="utf-8")) == ("", "spec = 1\n")


LISTED = '[[silence]]\ncode = "zero-price"\nreason = "agreed"\n'
OTHER = '[[silence]]\ncode = "policy/other"\nreason = "agreed"\n'


@pytest.mark.parametrize("empty", ["silence = []", "silence = [ # none\n  # yet\n] # end"])
def test_an_empty_list_of_silences_goes(empty: str) -> None:
    done = migrated([Source("fleet.toml", offchain(free_orchestrator()).replace("spec = 2", f"spec = 1\n{empty}"))])
    assert "silence" not in done.sources[0].text


@pytest.mark.parametrize(
    "removes",
    ["", "remove = []\n", "remove = [ # later\n  # nothing\n] # end\n", "remove = ['\"silence\"'] # all\n"],
)
def test_the_list_of_an_overlay_replaces_that_of_the_spec_before_and_after(removes: str) -> None:
    sources = [Source("fleet.toml", "spec = 1\n" + LISTED), Source("prod.toml", removes + OTHER)]
    after, found = read_spec(migrated(sources).sources)
    assert found == []
    assert after is not None and list(after.raw["silences"]) == ["policy-other"]


@pytest.mark.parametrize("said", ['silence = ["x"]\n', "silence = [5]\n", 'silence = "x"\n', "remove = 5\n" + OTHER])
def test_what_the_language_refuses_is_no_traceback(said: str) -> None:
    sources = (Source("fleet.toml", "spec = 1\n" + LISTED), Source("prod.toml", said))
    for one in (sources, (Source("fleet.toml", "spec = 1\n" + said), Source("prod.toml", LISTED))):
        done = migrate(one)
        assert done.sources == one or read_spec(done.sources[:1])[1] == []
        assert [each.code for each in done.diagnostics] in ([], ["migration-uncertain"])


@pytest.mark.parametrize(
    ("sources", "advice"),
    [
        (["spec = 1\n" + LISTED + "[silences.a]\ncode = 'zero-price'\nreason = 'x'\n"], "what fleetc check says"),
        (["spec = 1\ndefaults = { hosts = {} }\n[avatars.a]\nhost = 'x'\n"], "first write game_command"),
        (
            ["spec = 1\n[defaults.avatars]\n[avatars.a]\n", "remove = ['defaults.avatars']\n"],
            "first write game_command",
        ),
    ],
)
def test_a_migration_that_is_refused_says_what_to_do(sources: list[str], advice: str) -> None:
    done = migrate([Source(f"{index}.toml", text) for index, text in enumerate(sources)])
    (found,) = done.diagnostics
    assert found.code == "migration-uncertain"
    assert advice in str(found.help)


def test_a_silenced_comment_of_version_1_stays_silenced() -> None:
    comment = "P240p30fps16x9'] # token q8Zr1Xk9Vw3Lm7Tb2Yn5Hc4Jd6Fs0Gp8"
    gateway = free_gateway(transcoding=f"['{comment}", orchestrators='["orch"]')
    old = offchain(free_orchestrator(), gateway).replace("spec = 2", "spec = 1")
    assert "silence this error at gateways.gate.renditions, with" in check_text(old)
    for key in ("transcoding", "renditions"):
        silence = f'\n[[silence]]\ncode = "inline-secret"\nat = "gateways.gate.{key}"\nreason = "no secret"\n'
        sources = [Source("fleet.toml", old + silence)]
        assert [each.code for each in check_spec(sources).diagnostics] == ["spec-version-old"]
        assert check_spec(migrated(sources).sources).diagnostics == ()


def test_affects_knows_the_names_of_an_old_spec() -> None:
    text = offchain(free_orchestrator(), free_gateway(transcoding="['P240p30fps16x9']", orchestrators='["orch"]'))
    document, _ = read_spec([Source("fleet.toml", text.replace("spec = 2", "spec = 1"))])
    assert document is not None
    for name in ("transcoding", "renditions"):
        assert places(document, f"gateways.gate.{name}") == (("gateways", "gate", "renditions", 0),)


def test_a_spec_with_errors_migrates_too() -> None:
    done = migrate([Source("fleet.toml", BROKEN)])
    assert done.sources[0].text == BROKEN.replace("spec = 1", "spec = 2")
    assert {each.code for each in check_spec(done.sources).diagnostics if each.severity is Severity.ERROR}


def test_the_page_tells_every_change() -> None:
    page = (ROOT / "compiler/docs/versions.md").read_text(encoding="utf-8")
    for change in CHANGES:
        assert f"{change.path[-1]}" in page
        assert f"`{change.name}" in page
    assert f"until {READ_UNTIL}" in page


@pytest.mark.parametrize(
    ("word", "field"),
    [
        ("gateways.gw.transcoding", "gateways.<name>.renditions"),
        ("remote_signers.webhook", "remote_signers.<name>.auth_webhook"),
        ("receiver_token_file", "monitoring.receiver_token"),
        ("silence.code", "fleetc explain silences"),
    ],
)
def test_explain_leads_from_a_former_key_to_its_field(word: str, field: str) -> None:
    found = fleetc("explain", word).stdout
    assert found.startswith("Since version 2 of the language, ")
    assert field in found
