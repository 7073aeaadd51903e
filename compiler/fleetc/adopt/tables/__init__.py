"""From processes to the tables of a spec."""
