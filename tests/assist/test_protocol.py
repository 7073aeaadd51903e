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
    (action,) = (one for one in actions if isinstance(one, types.CodeAction) and one.title.startswith("Answer"))
    assert action.title == 'Answer: deposit = "0.5 ETH"' and action.edit is not None
    editor.apply(action.edit)
    assert editor.texts["fleet.toml"].endswith(f'{blank}\ndeposit = "0.5 ETH"\n')


async def test_other_toml_files_are_let_alone(editor: Editor, root: Path) -> None:
    shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", root)
    (root / "limits.toml").write_text('max_impact = "price=5%"\n[owners]\nprice = ["ann"]\n', encoding="utf-8")
    (root / "pyproject.toml").write_text("[fleet]\n", encoding="utf-8")
    for name in ("fleet.toml", "limits.toml", "pyproject.toml"):
        editor.open(name)
    editor.versions = {"fleet.toml": 1}
    await editor.rest()
    assert [name for name, (_, items) in editor.shown.items() if items] == []


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
