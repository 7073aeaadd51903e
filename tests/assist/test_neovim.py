"""A person edits two-regions in Neovim, set up as the guide has it: every step is keys that are pressed.

`.ci/run` installs a Neovim that is new enough.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.assist.editing import HANGS
from tests.outside_tools import program
from tests.support import ROOT, killed_on_error

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

NEEDED = (0, 11)
LINE, TEXT = "vim.api.nvim_get_current_line()", 'table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")'
MODE = "vim.api.nvim_get_mode().mode"
PROBLEMS = "vim.tbl_map(function(one) return one.lnum + 1 .. ': ' .. one.message end, vim.diagnostic.get(0))"
OFFERED = "vim.tbl_map(function(one) return one.word end, vim.fn.complete_info({ 'items' }).items)"
FLOATING = """(function()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\\n")
    end
  end
  return ""
end)()"""


class Editor:
    """A Neovim that runs: keys go in, and Lua values come out."""

    def __init__(self, nvim: str, socket: Path) -> None:
        self._at = [nvim, "--headless", "--server", str(socket)]

    def press(self, keys: str) -> None:
        """Press keys, as Neovim writes them: <CR>, <Esc>."""
        self._run("--remote-send", keys)

    def ask(self, lua: str) -> Any:
        """The value of a Lua expression."""
        return json.loads(self._run("--remote-expr", f"json_encode(luaeval({json.dumps(lua)}))"))

    def wait(self, lua: str, good: Callable[[Any], object]) -> Any:
        """The value of an expression once it is as it should be."""
        deadline = time.monotonic() + HANGS
        while not good(found := self.ask(lua)):
            assert time.monotonic() < deadline, (lua, found, self.ask("vim.fn.execute('messages')"))
            time.sleep(0.05)
        return found

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._at, *arguments], capture_output=True, text=True, timeout=HANGS, check=True)
        return done.stdout or done.stderr


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("neovim") / "fleet"
    shutil.copytree(ROOT / "inventories/two-regions", folder)
    return folder


@pytest.fixture(scope="module")
def session(fleet: Path) -> Iterator[dict[str, Any]]:
    """What the editor showed, by step."""
    nvim, home, socket = program("nvim"), fleet.parent, fleet.parent / "socket"
    version = re.search(r"v(\d+)\.(\d+)", subprocess.check_output([nvim, "--version"], text=True))
    if version is None or (int(version[1]), int(version[2])) < NEEDED:
        pytest.skip(f"the setup of the guide needs Neovim 0.11, and {nvim} is {version and version[0]}")
    (home / ".config/nvim").mkdir(parents=True)
    guide = (ROOT / "compiler/docs/editor.md").read_text()
    (home / ".config/nvim/init.lua").write_text(guide.partition("```lua\n")[2].partition("```")[0])
    server = home / "fleetc"
    server.write_text(f'#!/bin/sh\nexec {sys.executable} -m fleetc "$@"\n')
    server.chmod(0o755)
    known = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NVIM"))}
    environment = {**known, "HOME": str(home), "PATH": f"{home}:{os.environ['PATH']}"}
    with killed_on_error(
        subprocess.Popen(
            [nvim, "--headless", "--listen", str(socket), "fleet.toml"],
            cwd=fleet,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    ) as process:
        deadline = time.monotonic() + HANGS
        while not socket.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        yield ten_things(Editor(nvim, socket))
        process.kill()


def ten_things(editor: Editor) -> dict[str, Any]:
    """What a person does, and what the editor shows then."""
    shown: dict[str, Any] = {}
    editor.wait("#vim.lsp.get_clients({ name = 'fleetc' })", lambda count: count == 1)

    editor.press('/"24 GiB"<CR>f xhh')  # a mistake, what it says, and its repair by an action
    shown["mistake"] = editor.wait(PROBLEMS, len)
    editor.press("gra")
    editor.wait(MODE, lambda mode: mode != "n")  # it asks which one
    editor.press("1<CR>")
    editor.wait(PROBLEMS, lambda problems: not problems)
    shown["repaired"] = editor.ask(LINE)

    editor.press('gg/price = "1200<CR>K')  # a price
    shown["hover"] = editor.wait(FLOATING, bool)
    editor.press("<Esc>")

    editor.press('gg/wallet = "ai-earner"<CR>f"l<C-]>')  # a wallet
    shown["wallet"] = editor.wait(LINE, lambda line: line.startswith("["))

    editor.press("gg/gateways.us-live<CR>opri")  # keys, by letters alone
    shown["keys"] = editor.wait(OFFERED, len)
    editor.press('<Esc>cchost = "')  # a name
    shown["names"] = editor.wait(OFFERED, lambda words: "us-edge" in words)
    editor.press("us-e")
    editor.wait(OFFERED, lambda words: words == ["us-edge"])
    editor.press("<C-n><C-y>")
    shown["completed"] = editor.wait(LINE, lambda line: "edge" in line)
    editor.press("<Esc>dd")

    editor.press('gg/host = "eu-gpu-1"<CR>f"lgrn')  # another name, in each file
    editor.wait(MODE, lambda mode: mode == "c")
    editor.press("<C-u>eu-render<CR>")
    editor.wait(LINE, lambda line: "eu-render" in line)
    editor.press(":wall<CR>")
    editor.wait("vim.bo.modified", lambda modified: not modified)
    shown["renamed"] = editor.ask(TEXT)

    editor.press('gg/host = "eu-render"<CR>f=i    <Esc>:lua vim.lsp.buf.format()<CR>')  # one form, and back
    shown["formatted"] = editor.wait(LINE, lambda line: line == 'host = "eu-render"')
    editor.press("u")
    shown["undone"] = editor.wait(LINE, lambda line: line != shown["formatted"])
    editor.press("u:w<CR>")

    editor.press(":lua vim.lsp.stop_client(vim.lsp.get_clients())<CR>")  # a server anew
    editor.wait("#vim.lsp.get_clients()", lambda count: count == 0)
    editor.press(':edit<CR>gg/"24 GiB"<CR>f x')
    shown["again"] = editor.wait(PROBLEMS, len)
    return shown


def test_mistake_is_shown_at_its_line_and_an_action_repairs_it(session: dict[str, Any]) -> None:
    (mistake,) = session["mistake"]
    assert mistake.startswith('55: "24GiB" is not a size')
    assert 'memory = "24 GiB"' in session["repaired"]
    assert session["again"] == session["mistake"], "a new server shows the same"


def test_price_says_what_it_means_and_who_buys(session: dict[str, Any]) -> None:
    assert 'In force: `"1200 wei / pixel"` (said here, `fleet.toml`:166)' in session["hover"]
    assert "- `us-live` from `eu-video-1`, `video`: buys while gas is below" in session["hover"]


def test_letters_offer_keys_and_a_quote_offers_names_of_the_fleet(session: dict[str, Any]) -> None:
    assert any(word.startswith("price_") for word in session["keys"])
    assert {"eu-gpu-1", "us-edge"} <= set(session["names"])
    assert session["completed"] == 'host = "us-edge"'


def test_wallet_is_found(session: dict[str, Any]) -> None:
    assert session["wallet"] == "[wallets.ai-earner]"


def test_new_name_is_in_each_file_and_nothing_else_is_changed(session: dict[str, Any], fleet: Path) -> None:
    before = (ROOT / "inventories/two-regions/fleet.toml").read_text()
    expected = before.replace("[hosts.eu-gpu-1]", "[hosts.eu-render]").replace(
        'host = "eu-gpu-1"', 'host = "eu-render"'
    )
    assert session["renamed"] + "\n" == expected
    overlay = (fleet / "staging.toml").read_text()
    assert "[hosts.eu-render]" in overlay and "[hosts.eu-gpu-1]" not in overlay


def test_format_restores_one_form_and_undo_takes_it_back(session: dict[str, Any]) -> None:
    assert (session["formatted"], session["undone"]) == ('host = "eu-render"', 'host     = "eu-render"')
