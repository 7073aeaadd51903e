"""Draw the pictures of the guide from what fleetc really prints.

`python compiler/docs/pictures.py` draws terminals. `--browser` also takes pictures of pages with Chromium, whose bytes
depend on the fonts of the machine.
"""

import io
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
COLUMNS = 90

SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; font-variant-east-asian: full-width }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""The form of a picture. Unlike the one of rich, it asks no server for a font."""


def spec_of(page: str) -> str:
    """The first whole spec on a page of the guide."""
    return (HERE / page).read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]


def on_a_terminal(*words: str, directory: Path) -> str:
    """What a command prints on a terminal of COLUMNS columns, with its colours."""
    here, there = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "PAGER": "cat"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(words, cwd=directory, env=environment, stdin=there, stdout=there, stderr=there)
    os.close(there)
    written = b""
    while True:
        try:
            written += os.read(here, 65536)
        except OSError:  # Linux ends a terminal without programs with an error
            break
    process.wait()
    os.close(here)
    return written.decode().replace("\r\n", "\n")


def picture(text: str, title: str, name: str) -> str:
    """A terminal with a text, as SVG."""
    console = Console(record=True, file=io.StringIO(), width=COLUMNS, force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(text), soft_wrap=False)
    return console.export_svg(title=title, code_format=SVG, unique_id=name, font_aspect_ratio=0.61)


def review(directory: Path) -> str:
    """The review of a price that rises and of a gateway that anybody may now use."""
    fleetc = str(Path(sys.executable).with_name("fleetc"))
    before = spec_of("fleet.md")
    after = before.replace('price = "1200 wei', 'price = "1400 wei').replace('"127.0.0.1:8935"', '"0.0.0.0:8935"')
    (directory / "fleet.toml").write_text(before, encoding="utf-8")
    subprocess.run([fleetc, "compile"], cwd=directory, check=True, capture_output=True)
    (directory / "fleet.toml").write_text(after, encoding="utf-8")
    return on_a_terminal(fleetc, "diff", directory=directory).partition("1 warning\n")[2]


def page(directory: Path, target: Path) -> None:
    """Write a picture of the same review as a page."""
    fleetc = str(Path(sys.executable).with_name("fleetc"))
    subprocess.run([fleetc, "diff", "--format", "html", "-o", "review.html"], cwd=directory, check=True)
    shot = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,1100"]
    subprocess.run([*shot, f"--screenshot={target}", (directory / "review.html").as_uri()], check=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        drawn = picture(review(Path(folder)), "fleetc diff", "review")
        (HERE / "static" / "review.svg").write_text(drawn, encoding="utf-8")
        if "--browser" in sys.argv:
            page(Path(folder), HERE / "static" / "review.png")
