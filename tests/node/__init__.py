"""How the node reads its settings, written down a second time and independently of the compiler.

In: a command line, environment variables and files, as a process would get them. Out: what they mean to the node
(`meaning`), or `StartupError` with the ids of the node's start-up rules that they break. Tests compare compiled output
with published commands through this package, and look for rules that a mutated spec breaks. Nothing here imports
the compiler: the two must be able to disagree.
"""

from tests.node.meaning import Meaning, meaning, understand
from tests.node.parsing import Settings, StartupError, read
from tests.node.rules import broken_rules, notes

__all__ = ["Meaning", "Settings", "StartupError", "broken_rules", "meaning", "notes", "read", "understand"]
