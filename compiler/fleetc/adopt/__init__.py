"""Adopting: from what already runs to a spec that says the same. Pure; `cli/adopt.py` reads files and asks hosts.

In: the texts of commands, units, Compose files and the files that nodes read; what hosts say. Out: a spec, and an
account of every word of the sources. This is the only door: `found/` has the values, `node/` the node's own rules,
`read/` one file for each kind of source, `tables/` makes tables of processes, `report/` tells people.
"""

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.library import Said
from fleetc.adopt.node.paths import plain_path
from fleetc.adopt.read.on_host import OnHost, SenselessAnswerError
from fleetc.adopt.read.pasted import instead_of_toml
from fleetc.adopt.report.report import reported, screen
from fleetc.adopt.report.takeover import Takeover, as_text, take_over
from fleetc.adopt.tables.answers import WrongAnswerError
from fleetc.adopt.tables.assemble import UnknownNodeError

__all__ = [
    "Adopted", "OnHost", "Said", "SenselessAnswerError", "Takeover", "UnknownNodeError", "WrongAnswerError",
    "adopt", "as_text", "instead_of_toml", "located", "plain_path", "reported", "screen", "take_over",
]  # fmt: skip
