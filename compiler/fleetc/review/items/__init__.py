"""Both blueprints taken apart into items, the items that differ, and the edits of the spec that made them so."""
