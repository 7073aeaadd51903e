"""Keeps this program on the host: for the timer of a switch, for the boot, and for what outlives its session.

In: nothing. Out: nothing; the archive and the unit for the boot are in their places then.
"""

from __future__ import annotations

import io
import sys
import zipfile
from typing import Any

from .places import BOOT_UNIT, PROGRAM, SWITCH, UNITS
from .system import link, read, run, write

ENTRY = "from fleetc_host.switch import main\n\nmain()\n"
"""What Python runs of the archive."""

BOOT_UNIT_TEXT = """# Written by fleetc.
[Unit]
Description=Finish or take back a release that a reboot broke off
ConditionPathExists=%s
After=local-fs.target docker.service

[Service]
ExecStart=%s %s resume --boot
Restart=on-abnormal
RestartSec=5

[Install]
WantedBy=multi-user.target
""" % (SWITCH, sys.executable or "/usr/bin/env python3", PROGRAM)
"""At boot, it is run by the Python that runs it now: another one may be missing or too old."""


def install_program() -> None:
    """Keep this program on the host, with the unit that ends at boot what a reboot broke off."""
    program = packed({"__main__.py": ENTRY, **own_modules()})
    if read(PROGRAM) != program:
        write(PROGRAM, program, 0o755)
    unit = "%s/%s" % (UNITS, BOOT_UNIT)
    if read(unit) != BOOT_UNIT_TEXT.encode():
        write(unit, BOOT_UNIT_TEXT.encode())
        run("systemctl", "daemon-reload")
    link("../" + BOOT_UNIT, "%s/multi-user.target.wants/%s" % (UNITS, BOOT_UNIT))  # also where somebody disabled it


def own_modules() -> dict[str, str]:
    """The text of each module of this program by its path, wherever Python has it from: whoever asks has loaded all."""
    top = __name__.rpartition(".")[0]
    texts = {}
    for name in sorted(sys.modules):
        if name == top or name.startswith(top + "."):
            spec: Any = sys.modules[name].__spec__
            suffix = ".py" if spec.submodule_search_locations is None else "/__init__.py"
            texts["fleetc_host" + name[len(top) :].replace(".", "/") + suffix] = spec.loader.get_source(name)
    return texts


def packed(texts: dict[str, str]) -> bytes:
    """One archive that Python runs: it is replaced in one step, and the same texts are the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path, text in texts.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return content.getvalue()
