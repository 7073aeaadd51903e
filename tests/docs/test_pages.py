"""The pages say what is true: their specs compile, their commands and settings exist, their links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

from docs import pictures
from docs.pages import marked, slug
from fleetc.cli.commands import COMMANDS
from fleetc.language.spec import read_spec
from fleetc.messages.explain import pages
from fleetc.settings import WHERE, Settings
from tests import forked
from tests.support import EXAMPLES, ROOT, check_text, example_sources, fleetc

pytestmark = pytest.mark.usefixtures("processes")

GUIDE = {file.stem: file.read_text(encoding="utf-8") for file in sorted(ROOT.glob("compiler/docs/*.md"))}
"""The pages of the guide by name."""
TEXTS = [(ROOT / "README.md").read_text(encoding="utf-8"), *GUIDE.values()]
PAGES = [
    page
    for glob in ("*.md", "*/README.md", "compiler/docs/*.md", "inventories/*/README.md")
    for page in sorted(ROOT.glob(glob))
]
WORDS = {
    "gateways": "gateway",
    "orchestrators": "orchestrator",
    "transcoders": "transcoder",
    "ai_workers": "AI worker",
    "remote_signers": "remote signer",
    "redeemers": "redeemer",
    "reward_callers": "reward caller",
    "runners": "live runner",
    "avatars": "avatar slot",
    "streams": "stream",
}
"""What runs in a fleet, by the tables of its spec, in the order and the words of the list of examples."""
FENCE = re.compile(r"^```(\w+)?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text: str, language: str) -> list[tuple[str, str]]:
    """(words behind the language, content) of each fenced block."""
    return [(m[2].strip(), m[3]) for m in FENCE.finditer(text) if m[1] == language]


((_, FLEET),) = blocks(GUIDE["fleet"], "toml")
"""The spec that all pages of the guide are about."""

TESTED = {"add", "after", "before", "edit", "fragment", "helix", "hour", "prints", "review", "rollout", "start"} | {
    *("streams", "verify")
}
"""Words of blocks that tests of their own run or compare: here, in `test_stories.py`, tests/hosts, tests/online and
tests/rollout."""
BLOCKS = [
    pytest.param(block[1] or "", block[2].strip(), block[3], id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, block in enumerate(FENCE.finditer(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize(("language", "words", "content"), BLOCKS)
def test_every_block_says_what_is_true(language: str, words: str, content: str) -> None:
    """Fields are of the language, codes have pages, programs and options exist, shell is shell."""
    assert language in {"toml", "console", "text", "sh", "log", "python", "json", "lua"}
    assert not words or words in TESTED
    if language == "toml":
        wrong = re.findall(r"^error\[((?:unknown|syntax|duplicate)[a-z-]*)\]", check_text(content), re.MULTILINE)
        assert wrong == []
    if language in {"console", "text"}:
        codes = re.findall(r"^(?:error|warning|note)\[([a-z-]+)\]", content, re.MULTILINE)
        assert set(codes) <= {*pages()}
    if language == "sh":
        assert subprocess.run(["bash", "-n"], input=content, text=True, check=False, timeout=60).returncode == 0
        for command, rest in re.findall(r"\bfleetc ([a-z-]+) ([^|&#;\n]*)", content):
            known = fleetc(command, "--help").stdout
            assert all(option in known for option in re.findall(r"(?<!\S)--[a-z-]+", rest)), command


def test_every_editor_of_the_guide_starts_the_language_server() -> None:
    page = GUIDE["editor"]
    code, zed = (json.loads(content) for _, content in blocks(page, "json"))
    ((_, neovim),) = blocks(page, "lua")
    (helix,) = [tomllib.loads(content) for words, content in blocks(page, "text") if words == "helix"]
    command = re.findall(r'cmd = \{ "([a-z]+)", "([a-z]+)" \}', neovim)
    assert command == [("fleetc", "lsp")]
    assert [code["glspc.server.command"], *code["glspc.server.commandArguments"]] == ["fleetc", "lsp"]
    (server,) = zed["languages"]["TOML"]["language_servers"]
    assert zed["lsp"][server]["binary"] == {"path": "fleetc", "arguments": ["lsp"]}
    assert zed["inlay_hints"] == {"enabled": True}
    for shown in ("inlay_hint.enable", "virtual_text = true", "completion.enable", "codelens.refresh"):
        assert shown in neovim  # else Neovim has the answers and shows none of them
    (name,) = helix["language"][0]["language-servers"]
    assert helix["language-server"][name] == {"command": "fleetc", "args": ["lsp"]}


def test_every_whole_spec_is_silent() -> None:
    specs = [content for text in TEXTS for words, content in blocks(text, "toml") if not words]
    assert len(specs) == 2
    for spec in specs:
        assert check_text(spec) == "no problems\n"


def test_every_fragment_of_the_guide_is_understood() -> None:
    """A fragment goes with the spec of the page about a fleet; it may be superfluous there, but never wrong."""
    fragments = [content for text in TEXTS for words, content in blocks(text, "toml") if words == "fragment"]
    assert fragments
    for fragment in fragments:
        shown = check_text(FLEET + fragment)
        assert "error[" not in shown, shown


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (TEXTS[0], "max_sessions = 8", "max_sessions = 12"),
        (GUIDE["fleet"], '"1500 wei / pixel"', '"1000 wei / pixel"'),
    ],
    ids=["readme", "guide"],
)
def test_the_message_of_a_page_is_what_the_change_gives(text: str, old: str, new: str) -> None:
    ((_, spec),), ((_, message),) = blocks(text, "toml"), blocks(text, "console")
    assert message.strip() in check_text(spec.replace(old, new))


def test_the_spec_of_the_readme_compiles(tmp_path: Path) -> None:
    ((_, spec),) = blocks(TEXTS[0], "toml")
    (tmp_path / "fleet.toml").write_text(spec, encoding="utf-8")
    assert fleetc("compile", cwd=tmp_path).returncode == 0


BESIDE = {
    "adopt": ("start.sh", "sh"),
    "logs": ("gate.log", "log"),
    "policy": ("policy/no-any-cap.star", "text"),
}
"""The first block of a page that its commands read: the name of its file, its language."""
EDITS = {"classes": ('"1300 wei', '"1600 wei'), "policy": ('"1500 wei / pixel"', '"any"')}
"""What somebody changes in the spec of a page before its command: old, new."""


@pytest.mark.parametrize("name", ["adopt", "classes", "find", "logs", "policy"])
def test_the_command_of_a_page_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    """The spec is that of the page about a fleet and the fragments of this page; the tree is of before the edit."""
    page = GUIDE[name]
    ((command, expected),) = re.findall(r"`(fleetc [^`]+)` prints:\n\n```text prints\n(.*?)^```$", page, re.M | re.S)
    spec = "\n".join([FLEET, *(content for words, content in blocks(page, "toml") if words == "fragment")])
    (tmp_path / "fleet.toml").write_text(spec, encoding="utf-8")
    if name in BESIDE:
        file, language = BESIDE[name]
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(blocks(page, language)[0][1], encoding="utf-8")
    if name in EDITS:
        assert fleetc("compile", cwd=tmp_path).returncode == 0
        (tmp_path / "fleet.toml").write_text(spec.replace(*EDITS[name]), encoding="utf-8")
    done = fleetc(*shlex.split(command)[1:], cwd=tmp_path)
    assert done.stdout + done.stderr == expected


def test_every_explain_command_in_the_guide_finds_something() -> None:
    commands = [
        line for _, content in blocks(GUIDE["find"], "sh") for line in content.splitlines() if "fleetc explain" in line
    ]
    assert len(commands) == 8
    for command in commands:
        assert fleetc(*shlex.split(command, comments=True)[1:]).returncode == 0, command


def typed(script: str, place: Path) -> subprocess.CompletedProcess[str]:
    """What somebody types in a shell, one command after the other, none of which may fail."""
    person = {
        f"GIT_{who}_{what}": f"{who}@example.net" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    programs = f"{forked.program().parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": programs, "HOME": str(place), "GIT_CONFIG_NOSYSTEM": "1", **person}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done


def changed(spec: str, before: str, after: str) -> str:
    """A spec in which lines below one header are others."""
    header, old = before.split("\n", 1)
    head, table, rest = spec.partition(f"\n{header}")
    assert table and after.startswith(header) and rest.partition("\n[")[0].count(old) == 1, header
    return head + table + rest.replace(old, after.split("\n", 1)[1], 1)


def test_the_first_hour_goes_as_its_page_says(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    before, output, messages = "", "", ""
    for _, language, words, content in (match.group(0, 1, 2, 3) for match in FENCE.finditer(GUIDE["first-hour"])):
        kind = f"{language} {words.strip()}"
        spec = (fleet / "fleet.toml").read_text(encoding="utf-8") if fleet.exists() else ""
        if kind == "sh hour":
            done = typed(content, fleet if fleet.exists() else tmp_path)
            output, messages = output + done.stdout, messages + done.stderr
        elif kind == "text hour":
            assert content in output
        elif kind == "toml add":
            (fleet / "fleet.toml").write_text(f"{spec}\n{content}", encoding="utf-8")
        elif kind == "toml before":
            before = content
        elif kind == "toml after":
            (fleet / "fleet.toml").write_text(changed(spec, before, content), encoding="utf-8")
    assert "orch-2" in (fleet / "review.html").read_text(encoding="utf-8")
    assert messages.endswith("rendered is up to date\n")
    assert set(re.findall(r"warning\[(.+)\]", output + messages)) == {"todo-left"}


def test_the_review_of_the_guide_is_reached_with_its_own_commands(tmp_path: Path) -> None:
    (script,) = [content for words, content in blocks(GUIDE["review"], "sh") if words == "review"]
    (tmp_path / "fleet.toml").write_text(FLEET, encoding="utf-8")
    done = typed(script, tmp_path)
    assert "asks 1400 wei / pixel instead of 1200 wei / pixel" in done.stdout
    for name in ("review.md", "review.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "1400" in text and "orch-a" in text, name
    assert "orchestrators.orch-a.price" in done.stdout
    assert json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))


def test_the_picture_of_a_review_shows_what_diff_prints(tmp_path: Path) -> None:
    drawn = pictures.picture(pictures.review(tmp_path), "fleetc diff", "review")
    committed = (ROOT / "compiler/docs/static/review.svg").read_text(encoding="utf-8")
    assert drawn == committed, "run python compiler/docs/pictures.py"


def test_the_table_of_commands_is_their_list() -> None:
    table = re.findall(r"^\| [^|]*\| `fleetc ([a-z-]+)` \| ([^|]*) \|$", GUIDE["commands"], re.MULTILINE)
    assert [(name, text.replace("`", "")) for name, text in table] == [
        (each.name, each.summary) for each in COMMANDS
    ], "write a row for each command, with its summary, into the table of compiler/docs/commands.md"
    scripts = " ".join(content for text in TEXTS for _, content in blocks(text, "sh"))
    assert {*re.findall(r"\bfleetc ([a-z][a-z-]*)\b(?! (?:one|first|and))", scripts)} <= {name for name, _ in table}


def test_settings_table_is_the_settings() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| `(FLEETC_\w+)` \| (?:`(--[a-z-]+)`)? ?\| ([^|]*) \| ([^|]*) \| (yes|no): ([^|]*) \|$",
        GUIDE["settings"],
        re.MULTILINE,
    )
    table = {name: (variable, meaning, word == "yes", reason) for name, variable, _, _, meaning, word, reason in rows}
    expected = {
        name: (f"FLEETC_{name.upper()}", field.description or "", *WHERE[name])
        for name, field in Settings.model_fields.items()
    }
    assert table == expected


def test_make_targets_of_the_guide_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z-]+)", "\n".join(TEXTS), re.MULTILINE)) <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https://)([^)#]*)#?([^)]*)\)", page.read_text(encoding="utf-8")):
        file = page.parent / target if target else page
        assert file.exists(), target
        lines = marked(file.read_text(encoding="utf-8")) if anchor else ()
        headings = {slug(line.lstrip("# ")) for line, code in lines if line.startswith("#") and not code}
        assert not anchor or anchor in headings, f"{target}#{anchor}"


def test_every_example_has_a_row_that_says_what_it_is() -> None:
    page = (ROOT / "inventories/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[([a-z-]+)\]\(\1/README\.md\) \| [^|]+ \| (.+) \| (.+) \| (.+) \|$", page, re.MULTILINE)
    assert sorted(name for name, *_ in rows) == sorted(EXAMPLES)
    for name, network, hosts, runs in rows:
        document, _ = read_spec(example_sources(name))
        assert document is not None
        spec = document.raw
        counts = {table: len(spec.get(table, {})) for table in WORDS}
        counts["avatars"] = sum(len(stack["slots"]) for stack in spec.get("avatars", {}).values())
        told = [f"{n} {WORDS[table]}{'s' * (n > 1)}" for table, n in counts.items() if n]
        assert (network, hosts, runs) == (spec["fleet"]["network"], str(len(spec["hosts"])), ", ".join(told)), name


def test_lock_file_pins_with_hashes_and_names_no_place_to_download_from() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    pinned = re.findall(r"^([a-z0-9._-]+)==", lock, re.MULTILINE)
    assert len(pinned) > 40
    assert lock.count("--hash=sha256:") >= len(pinned)
