"""fleetc lsp over the real protocol: it shows what check says of the same texts, in whatever order they change."""

from __future__ import annotations

import asyncio
import inspect
import json
import random
import shutil
from pathlib import Path

import pytest
from lsprotocol import types

from tests.assist.editing import Editor
from tests.assist.test_sessions import SESSIONS
from tests.support import INVENTORIES, fleetc

pytestmark = [pytest.mark.usefixtures("processes"), pytest.mark.asyncio]

EDITS = [
    (step["edit"]["find"], step["edit"]["put"])
    for session in SESSIONS.values()
    if session["fleet"] == "two-regions"
    for step in session["step"]
    if "edit" in step
]
"""What people write in the sessions; here it comes in any order, and comes and goes."""

NOISE = (
    '"',
    "[",
    "]",
    "{",
    "=",
    "\n",
    "#",
    "x",
    "é",
    "🜂",
    "[hosts.",
    '"""',
    'mode = "ai"\n',
    "price = 1\n",
    "\t",
    "\u2028",
    "\x0c",
)


def _typed(editor: Editor, chance: random.Random) -> None:
    """One more change somewhere, right or wrong, or one taken back."""
    text = editor.texts["fleet.toml"]
    fitting = [pair for pair in EDITS if text.count(pair[0]) == 1] + [
        (put, find) for find, put in EDITS if text.count(put) == 1
    ]
    kind = chance.random()
    if kind < 0.5 and fitting:
        editor.edit("fleet.toml", *chance.choice(fitting))
        return
    at = chance.randrange(len(text))
    if kind < 0.75:
        editor.replace("fleet.toml", at, at, chance.choice(NOISE))
    else:
        lines = text.split("\n")
        first = chance.randrange(len(lines))
        start = sum(len(line) + 1 for line in lines[:first])
        editor.replace("fleet.toml", start, min(len(text), start + len(lines[first]) + 1), "")


@pytest.mark.parametrize("seed", range(3))
async def test_at_every_rest_it_shows_what_check_says(seed: int, editor: Editor, root: Path, tmp_path: Path) -> None:
    chance = random.Random(seed)
    whole = (INVENTORIES / "two-regions" / "fleet.toml").read_text(encoding="utf-8")
    (root / "fleet.toml").write_text(whole, encoding="utf-8")
    editor.open("fleet.toml")
    for _ in range(8):
        for _ in range(chance.randrange(1, 5)):
            _typed(editor, chance)
        if chance.random() < 0.3:
            editor.replace("fleet.toml", 0, len(editor.texts["fleet.toml"]), whole)
            _typed(editor, chance)
        await editor.rest()
        assert editor.agrees(editor.checked(tmp_path / "twin"))


async def test_what_is_shown_of_a_version_is_true_of_that_version(editor: Editor, root: Path, tmp_path: Path) -> None:
    """Somebody types on and on, and a check that is overtaken never speaks."""
    shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", root)
    editor.open("fleet.toml")
    texts = {1: editor.texts["fleet.toml"]}
    chance = random.Random(7)
    for number in range(60):
        _typed(editor, chance)
        texts[editor.versions["fleet.toml"]] = editor.texts["fleet.toml"]
        if number % 20 == 19:
            await editor.rest()
        else:
            await asyncio.sleep(chance.choice((0, 0.01, 0.1, 0.3)))
    shown = [(version, items) for name, version, items in editor.order if name == "fleet.toml"]
    assert [version for version, _ in shown] == sorted({version for version, _ in shown if version})
    assert len(shown) > 2
    for version, items in shown:
        assert version is not None
        editor.texts["fleet.toml"] = texts[version]
        editor.shown["fleet.toml"] = (version, items)
        assert editor.agrees(editor.checked(tmp_path / "twin"))


async def test_characters_of_two_units_do_not_move_places(editor: Editor, root: Path, tmp_path: Path) -> None:
    shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", root)
    editor.open("fleet.toml")
    editor.edit("fleet.toml", 'name = "two-regions"', 'name = "two-regions" # 🜂🜂 and é')
    editor.edit("fleet.toml", "gpus = [0, 1]", 'gpus = [0, "🜂🜂", 9, 1] # 🜂')
    await editor.rest()
    assert editor.agrees(editor.checked(tmp_path / "twin"))
    assert any('"🜂🜂"' in editor.words("fleet.toml", one.range) for one in editor.shown["fleet.toml"][1])


async def test_a_hostile_checkout_leads_nowhere_and_says_nothing_as_markup(editor: Editor, root: Path) -> None:
    """Settings that a checkout may not make, a link as an included file, and markup in texts of the spec."""
    secret = root.parent / "secret.toml"
    secret.write_text('[hosts.secret]\naddress = "not for you"\n', encoding="utf-8")
    (root / "parts").mkdir()
    (root / "parts" / "a.toml").symlink_to(secret)
    text = (INVENTORIES / "two-regions" / "fleet.toml").read_text(encoding="utf-8")
    text = text.replace("spec = 1\n", 'spec = 1\ninclude = ["parts/*.toml", "../*.toml", "/etc/*.toml"]\n')
    bad = "[click](command:evil) <img src=x onerror=1> `x` ![](https://evil.example/x)"
    text = text.replace('region = "eu"', f'region = "{bad}"', 1)
    (root / "fleet.toml").write_text(text, encoding="utf-8")
    editor.open("fleet.toml")
    await editor.rest()
    codes = sorted(str(one.code) for one in editor.shown["fleet.toml"][1])
    assert codes == ["include-invalid", "include-invalid", "include-refused"]
    assert "not for you" not in str(editor.shown)
    editor.edit("fleet.toml", 'include = ["parts/*.toml", "../*.toml", "/etc/*.toml"]\n', "")
    await editor.rest()
    place = editor.cursor("fleet.toml", f'region = "|{bad}"')
    found = await editor.client.text_document_hover_async(types.HoverParams(editor.document("fleet.toml"), place))
    assert found is not None and isinstance(found.contents, types.MarkupContent)
    (line,) = [line for line in found.contents.value.split("\n") if bad in line]
    assert f'`` "{bad}" ``' in line
    (root / "fleetc.toml").write_text('worker = "touch /tmp/owned"\n', encoding="utf-8")
    editor.edit("fleet.toml", "spec = 1\n", "spec = 1 \n")
    await editor.rest()
    assert [one.code for one in editor.shown["fleetc.toml"][1]] == ["setting-not-for-checkout"]


async def test_secrets_are_in_no_answer(editor: Editor, root: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = (INVENTORIES / "two-regions" / "fleet.toml").read_text(encoding="utf-8")
    (root / "fleet.toml").write_text(text.replace("timbrooks/instruct-pix2pix", token), encoding="utf-8")
    editor.open("fleet.toml")
    await editor.rest()
    document = editor.document("fleet.toml")
    place = editor.cursor("fleet.toml", f'id = "|{token}"')
    client = editor.client
    whole = editor.range("fleet.toml", 0, len(editor.texts["fleet.toml"]))
    context = types.CodeActionContext(editor.shown["fleet.toml"][1])
    answers = [
        editor.shown,
        await client.text_document_hover_async(types.HoverParams(document, place)),
        await client.text_document_completion_async(types.CompletionParams(document, place)),
        await client.text_document_inlay_hint_async(types.InlayHintParams(document, whole)),
        await client.text_document_code_action_async(types.CodeActionParams(document, whole, context)),
    ]
    assert "inline-secret" in str(answers[0])
    assert token not in str(answers)


async def test_all_certain_repairs_are_one_action_that_writes_what_check_fix_writes(editor: Editor, root: Path) -> None:
    text = (INVENTORIES / "two-regions" / "fleet.toml").read_text(encoding="utf-8")
    broken = text.replace('memory = "24 GiB"', 'memory = "24GiB"').replace('"1200 wei / pixel"', '"1200 WEI / pixel"')
    (root / "fleet.toml").write_text(broken, encoding="utf-8")
    editor.open("fleet.toml")
    await editor.rest()
    start = editor.range("fleet.toml", 0, 0)
    asked = types.CodeActionParams(
        editor.document("fleet.toml"), start, types.CodeActionContext([], [types.CodeActionKind.SourceFixAll])
    )
    (action,) = await editor.client.text_document_code_action_async(asked) or ()
    assert isinstance(action, types.CodeAction) and action.edit is not None
    editor.apply(action.edit)
    assert editor.texts["fleet.toml"] == text
    assert fleetc("check", "--fix", str(root / "fleet.toml")).returncode == 0
    assert (root / "fleet.toml").read_text(encoding="utf-8") == text


async def test_a_question_of_an_adopted_spec_is_answered_by_an_action(editor: Editor, root: Path) -> None:
    text = (INVENTORIES / "two-regions" / "fleet.toml").read_text(encoding="utf-8")
    offer = '# TODO deposit = "0.5 ETH"  # what is set aside; in ETH'
    blank = '# TODO reserve = "... ETH"  # what backs it'
    (root / "fleet.toml").write_text(f"{text}\n[wallets.later]\n{blank}\n{offer}\n", encoding="utf-8")
    editor.open("fleet.toml")
    await editor.rest()
    ends = len(editor.texts["fleet.toml"])
    asked = types.CodeActionParams(
        editor.document("fleet.toml"), editor.range("fleet.toml", ends - len(offer) - len(blank) - 2, ends),
        types.CodeActionContext([], [types.CodeActionKind.QuickFix]),
    )  # fmt: skip
    actions = await editor.client.text_document_code_action_async(asked) or ()
    (action,) = (one for one in actions if isinstance(one, types.CodeAction) and one.title.startswith("Writes"))
    assert action.title == 'Writes deposit = "0.5 ETH"' and action.edit is not None
    editor.apply(action.edit)
    assert editor.texts["fleet.toml"].endswith(f'{blank}\ndeposit = "0.5 ETH"\n')


async def test_other_toml_files_are_let_alone(editor: Editor, root: Path) -> None:
    shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", root)
    (root / "limits.toml").write_text('max_impact = "price=5%"\n[owners]\nprice = ["ann"]\n', encoding="utf-8")
    (root / "pyproject.toml").write_text("[fleet]\n", encoding="utf-8")
    (root / "pod.toml").write_text("spec = 'pod'\n[pod]\nspec = 1\nkind = [\n", encoding="utf-8")
    for name in ("fleet.toml", "limits.toml", "pyproject.toml", "pod.toml"):
        editor.open(name)
    editor.versions = {"fleet.toml": 1}
    await editor.rest()
    assert [name for name, (_, items) in editor.shown.items() if items] == []


async def test_a_new_file_beside_a_spec_becomes_an_overlay_as_it_is_typed(editor: Editor, root: Path) -> None:
    shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", root)
    (root / "new.toml").write_text("", encoding="utf-8")
    editor.open("new.toml")
    editor.replace("new.toml", 0, 0, "[hosts.us")
    asked = types.CompletionParams(editor.document("new.toml"), editor.cursor("new.toml", "[hosts.us|"))
    await editor.rest()
    found = await editor.client.text_document_completion_async(asked)
    assert isinstance(found, types.CompletionList) and "us-ai" in [item.label for item in found.items]
    editor.replace("new.toml", 0, 9, "[packages]\nname = 1\n")
    await asyncio.sleep(0)
    assert await editor.client.text_document_completion_async(asked) is None
    assert not editor.shown["new.toml"][1]


async def test_a_new_part_is_checked_before_it_is_saved(editor: Editor, root: Path) -> None:
    text = (INVENTORIES / "two-regions" / "fleet.toml").read_text(encoding="utf-8")
    head, gateway, rest = text.partition("[gateways.us-live]")
    body, header, rest = rest.partition("\n[")
    (root / "fleet.toml").write_text(
        head.replace("spec = 1\n", 'spec = 1\ninclude = ["part*.toml"]\n') + header[1:] + rest, encoding="utf-8"
    )
    (root / "part.toml").write_text(gateway + body, encoding="utf-8")
    editor.open("part.toml")
    (root / "part.toml").unlink()
    await editor.rest()
    assert editor.shown["part.toml"][1] == []
    editor.edit("part.toml", "host =", "hots =")
    await editor.rest()
    assert "unknown-key" in [one.code for one in editor.shown["part.toml"][1]]


async def test_a_message_that_is_none_shows_no_traceback(editor: Editor, root: Path) -> None:
    shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", root)
    editor.open("fleet.toml")
    nonsense = {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"uri": 3, "text": "s3cret-value"}}
    body = json.dumps(nonsense).encode()
    assert editor.client.protocol.writer is not None
    sent = editor.client.protocol.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    if inspect.isawaitable(sent):
        await sent
    editor.edit("fleet.toml", '"1500 wei / pixel"', '"1000 wei / pixel"')
    await editor.rest()
    assert len(editor.shown["fleet.toml"][1]) == 1
    said = [one.message for one in editor.client.messages]
    assert said, "it is told"
    assert [words for words in said if "Traceback" in words or "s3cret-value" in words] == []


async def test_two_fleets_in_one_folder_do_not_disturb_each_other(editor: Editor, root: Path) -> None:
    for name in ("one", "two"):
        (root / name).mkdir()
        shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", root / name)
        editor.open(f"{name}/fleet.toml")
    await editor.rest()
    editor.order.clear()
    editor.edit("one/fleet.toml", '"1500 wei / pixel"', '"1000 wei / pixel"')
    await editor.rest()
    assert [(name, len(items)) for name, _, items in editor.order] == [("one/fleet.toml", 1)]


FLEET = {
    "fleet.toml": """spec = 1
include = ["parts/*.toml"]

[fleet]
name = "law"
network = "offchain"
node_release = "v0.9.1"

[hosts.one]
address = "203.0.113.11"
runtime = "docker"
public = "one.example.net"

[hosts.two]
address = "203.0.113.12"
runtime = "docker"

[orchestrators.orch]
host = "one"
mode = "video"
max_sessions = 4
secret = { env = "ORCH" }
""",
    "parts/gates.toml": """[gateways.gate]
host = "two"
mode = "video"
orchestrators = ["orch"]
""",
    "staging.toml": """remove = []

[orchestrators.orch]
max_sessions = 3
""",
    "policy/few.star": '"""Few sessions.\n\nWhy: an example.\n\nInstead: fewer.\n"""\n\n\ndef check(fleet):\n'
    '    return [finding(["orchestrators", name, "max_sessions"], "too many", "write 5", "error")\n'
    '            for name in fleet.spec["orchestrators"] if fleet.spec["orchestrators"][name]["max_sessions"] > 5]\n',
}
CHANGES = (
    ("staging.toml", "remove = []", 'remove = ["hosts.one"]'),
    ("staging.toml", "remove = []", 'remove = ["gateways.gate", "orchestrators.none"]'),
    ("staging.toml", "remove = []", 'remove = ["orchestrators.orch.max_sessions"]'),
    ("staging.toml", "max_sessions = 3", "max_sessions = 7"),
    ("staging.toml", "max_sessions = 3", "max_sessions = 3\nmode = "),
    ("staging.toml", "[orchestrators.orch]", "[orchestrators.orhc]"),
    ("staging.toml", "[orchestrators.orch]", "[orchestratorz.orch]"),
    ("parts/gates.toml", '["orch"]', '["other"]'),
    ("parts/gates.toml", "[gateways.gate]", "[gateways.gate"),
    ("fleet.toml", "max_sessions = 4", "max_sessions = 9"),
    ("fleet.toml", "[orchestrators.orch]", "[orchestrators.other]"),
    ("fleet.toml", 'public = "one', 'publik = "one'),
    ("policy/few.star", "> 5", "> 2"),
    ("policy/few.star", "> 5", "> fleet.none"),
)
OPENED = (("staging.toml",), ("fleet.toml", "staging.toml"), ("parts/gates.toml", "staging.toml"), ("fleet.toml",))


@pytest.mark.parametrize("opened", OPENED, ids=",".join)
async def test_an_empty_editor_is_a_clean_check(opened: tuple[str, ...], editor: Editor, root: Path) -> None:
    """Random edits of spec, part, overlay and rule: an error is shown if and only if `check` exits 1."""
    chance = random.Random(len(",".join(opened)))
    for name, text in FLEET.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for name in opened:
        editor.open(name)
    clean = 0
    for number in range(8):
        texts = dict(FLEET) if chance.random() < 0.3 else {name: editor.text_of(name) for name in FLEET}
        for name, find, put in chance.sample(CHANGES, min(number, chance.randrange(3))):
            find, put = (put, find) if put in texts[name] else (find, put)
            texts[name] = texts[name].replace(find, put, 1)
        for name, text in texts.items():
            if name not in editor.texts:
                (root / name).write_text(text, encoding="utf-8")
            elif text != editor.texts[name]:
                editor.replace(name, 0, len(editor.texts[name]), text)
        for name in opened:
            editor.save(name)
        await editor.rest()
        ran = [fleetc("check", cwd=root).returncode] if opened != ("staging.toml",) else []
        ran += [fleetc("check", "--overlay", "staging.toml", cwd=root).returncode] if "staging.toml" in opened else []
        shown = {name for name, (_, items) in editor.shown.items() if any(one.severity == 1 for one in items)}
        assert bool(shown) == any(ran), "\n".join(map(editor.text_of, FLEET))
        assert opened != ("staging.toml",) or shown <= {"staging.toml"}
        clean += not shown
    assert 0 < clean < 8
