"""How the fleet is watched, and whom alerts reach."""
