"""The memory of a compile, so that the next one sees at once that nothing changed.

In: the inputs of a compile and its directory. Out: whether the stat index has this result, with its messages; or a new
entry of the index.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from fleetc.cli.shared.output import coloured, message
from fleetc.cli.shared.working import Inputs, day_used
from fleetc.messages.forms import Format, written

if TYPE_CHECKING:
    from fleetc.disk.stat_index import Note
    from fleetc.pipeline import Checked
    from fleetc.policy.judging import Policies
    from fleetc.settings import Settings


class Remembered:
    """One compile of a spec into a directory. `files` counts those of an unchanged tree."""

    def __init__(self, spec: Path, target: Path, inputs: Inputs, policies: Policies | None, today: date | None) -> None:
        from fleetc import version
        from fleetc.disk import files
        from fleetc.disk.stat_index import digest_of, index_file, program_digest

        self.target, self.today, self.files = target, today, 0
        tops = (files.repository_top(place) for place in (Path.cwd(), files.find_spec(spec).parent))
        self.file = index_file(target, [top for top in tops if (top / ".git").exists()])
        rules = policies.sources if policies is not None else ()
        self.inputs = digest_of(
            [version.__version__, sys.version, program_digest(Path(version.__file__).parent)],
            [policies.today if policies is not None else "", today.isoformat() if today is not None else ""],
            [text for source in (*inputs.sources, *rules) for text in (source.name, source.text)],
            [str(len(inputs.sources))],
            [text for pair in sorted(inputs.templates.items()) for text in pair],
            [text for pair in sorted(inputs.playbooks.items()) for text in pair],
        )

    def is_unchanged(self, settings: Settings) -> bool:
        """Whether the directory is what these inputs compile to. If so, it prints the same messages again."""
        from fleetc.disk.stat_index import unchanged

        known = unchanged(self.target, self.file, self.inputs) if self.file is not None else None
        if known is None:
            return False
        self.files, messages = known
        sys.stderr.write(messages.get("coloured" if coloured(settings, sys.stderr) else "plain", ""))
        if "day" in messages:
            message(messages["day"])
        return True

    def note(self, checked: Checked) -> Note | None:
        """What the index keeps of a compile without errors."""
        from fleetc.disk.stat_index import Note

        return Note(self.file, self.inputs, self._told(checked)) if self.file is not None else None

    def _told(self, checked: Checked) -> Mapping[str, str]:
        from fleetc.messages.locate import locate

        messages = {}
        for day in day_used(checked, self.today).values():
            messages["day"] = f"note: last days are judged as of {day}"
        if checked.diagnostics:
            located = locate(checked.diagnostics, checked.texts, checked.document)
            messages |= {"plain": written(Format.text, located), "coloured": written(Format.text, located, colour=True)}
        return messages
