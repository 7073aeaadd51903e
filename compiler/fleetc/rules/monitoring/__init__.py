"""How the fleet is monitored, and who gets alerts."""
